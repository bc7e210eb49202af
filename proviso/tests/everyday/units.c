/* units VALUE FROM TO */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { LENGTH, MASS, TIME };

struct unit {
  const char *name;
  enum kind kind;
  double factor;
};

static const struct unit units[] = {
  {"m", LENGTH, 1}, {"km", LENGTH, 1000}, {"ft", LENGTH, 0.3048}, {"kg", MASS, 1},
  {"lb", MASS, 0.45359237}, {"s", TIME, 1}, {"min", TIME, 60}, {"h", TIME, 3600},
};

static const struct unit *lookup(const char *name)
{
  for (unsigned i = 0; i < sizeof units / sizeof units[0]; ++i)
    if (strcmp(units[i].name, name) == 0)
      return units + i;
  return 0;
}

int main(int argc, char **argv)
{
  if (argc != 4) {
    fprintf(stderr, "usage: units VALUE FROM TO\n");
    exit(2);
  }
  char *rest;
  double value = strtod(argv[1], &rest);
  while (isspace((unsigned char)*rest)) rest++;
  if (rest == argv[1] || *rest) {
    fprintf(stderr, "%s is not a number\n", argv[1]);
    exit(1);
  }
  if (isnan(value) || isinf(value)) {
    fprintf(stderr, "not finite\n");
    exit(1);
  }
  const struct unit *from = lookup(argv[2]), *to = lookup(argv[3]);
  if (!from || !to) {
    fprintf(stderr, "unknown unit %s\n", from ? argv[3] : argv[2]);
    exit(1);
  }
  if (from->kind != to->kind) {
    fprintf(stderr, "cannot convert %s to %s\n", from->name, to->name);
    exit(1);
  }
  double result = value * from->factor / to->factor;
  if (result != 0 && (fabs(result) < 1e-3 || fabs(result) >= 1e6))
    printf("%e %s\n", result, to->name);
  else if (result == floor(result))
    printf("%.0f %s\n", result, to->name);
  else
    printf("%.3f %s\n", result, to->name);
  return 0;
}
