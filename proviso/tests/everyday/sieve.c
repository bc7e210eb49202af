#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST = 1000 };

static long parse(const char *text)
{
  char *end;
  errno = 0;
  long n = strtol(text, &end, 10);
  if (end == text || *end != '\0') {
    fprintf(stderr, "not a number: %s\n", text);
    exit(EXIT_FAILURE);
  }
  if (errno == ERANGE) {
    fprintf(stderr, "%s is %s\n", text, n == LONG_MAX ? "too large" : "too small");
    exit(EXIT_FAILURE);
  }
  return n;
}

int main(int argc, char **argv)
{
  if (argc < 2) {
    fprintf(stderr, "usage: sieve [LOW] HIGH\n");
    return EXIT_FAILURE;
  }
  long low = argc > 2 ? parse(argv[1]) : 2;
  long high = parse(argv[argc - 1]);
  if (low < 2) low = 2;
  if (high > LARGEST) {
    fprintf(stderr, "at most %d\n", LARGEST);
    return EXIT_FAILURE;
  }
  char *composite = calloc(LARGEST + 1, 1);
  if (composite == NULL) abort();
  for (long i = 2; i * i <= high; i++) {
    if (composite[i]) continue;
    for (long j = i * i; j <= high; j += i) composite[j] = 1;
  }
  int column = 0;
  long last = 0;
  for (long i = low; i <= high; i++) {
    if (composite[i]) continue;
    printf("%5ld", i);
    if (last && i - last == 2) printf("*");
    last = i;
    if (++column == 10) {
      putchar('\n');
      column = 0;
    }
  }
  if (column != 0) putchar('\n');
  if (!last) puts("none");
  free(composite);
  return EXIT_SUCCESS;
}
