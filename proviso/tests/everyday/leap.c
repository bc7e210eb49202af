#include <stdio.h>
#include <stdlib.h>

static int is_leap(int y) {
  if (y % 400 == 0) return 1;
  if (y % 100 == 0) return 0;
  return y % 4 == 0;
}

int main(int argc, char *argv[]) {
  if (argc != 2 && argc != 3) {
    fprintf(stderr, "usage: %s YEAR [LAST]\n", argv[0]);
    return 2;
  }
  int from = atoi(argv[1]);
  int to = argc == 3 ? atoi(argv[2]) : from;
  if (from < 1583 || to > 9999 || from > to) {
    fputs("years must be between 1583 and 9999\n", stderr);
    return 1;
  }
  int count = 0;
  for (int y = from; y <= to; y++)
    if (is_leap(y)) {
      printf("%d\n", y);
      count++;
    }
  if (count == 0)
    printf("no leap year\n");
  else if (count > 10)
    printf("%d leap years\n", count);
  return 0;
}
