/* Converts temperatures: 20C, 68F, 293.15K. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: %s TEMPERATURE\n", argv[0]);
        return 2;
    }
    char *unit;
    double value = strtod(argv[1], &unit), kelvin;
    if (unit == argv[1]) {
        fprintf(stderr, "no number\n");
        return 1;
    }
    while (isspace((unsigned char)*unit))
        unit++;
    switch (toupper((unsigned char)*unit)) {
    case 'C': kelvin = value + 273.15; break;
    case 'F': kelvin = (value - 32) * 5 / 9 + 273.15; break;
    case 'K':
    case '\0': kelvin = value; break;
    default:
        fprintf(stderr, "unit '%c'?\n", *unit);
        return 1;
    }
    if (isnan(kelvin) || kelvin < 0) {
        fprintf(stderr, "below absolute zero\n");
        return 1;
    }
    printf("%.2f K\n", kelvin);
    if (kelvin < 273.15)
        puts("freezing");
    else if (kelvin > 373.15)
        puts("boiling");
    return 0;
}
