// change PRICE PAID: coins to give back
#include <stdio.h>
#include <stdlib.h>
#include <math.h>

int main(int argc, char **argv) {
  static const int coins[] = {200, 100, 50, 20, 10, 5, 2, 1};
  if (argc != 3) {
    printf("change PRICE PAID\n");
    return 1;
  }
  double price = atof(argv[1]);
  double paid = atof(argv[2]);
  if (price <= 0.0 || price > 10000.0) {
    printf("no price\n");
    return 1;
  }
  if (paid < price) {
    printf("%.2f missing\n", price - paid);
    return 1;
  }
  long cents = lround((paid - price) * 100);
  if (cents == 0) {
    printf("exact\n");
    return 0;
  }
  if (cents > 5000) {
    printf("no change for that\n");
    return 1;
  }
  int pieces = 0;
  for (int i = 0; i < 8; i++) {
    int n = cents / coins[i];
    if (n > 0) {
      printf("%d x %d\n", n, coins[i]);
      pieces += n;
      cents %= coins[i];
    }
  }
  if (pieces == 1)
    printf("one coin\n");
  else if (pieces > 30)
    printf("a heap of coins\n");
  return 0;
}
