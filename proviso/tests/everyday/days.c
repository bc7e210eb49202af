/* days between two dates YYYY-MM-DD */
#include <stdio.h>
#include <stdlib.h>

struct date { int year, month, day; };

static const int length[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

static int leap(int y) { return (y % 4 == 0 && y % 100 != 0) || y % 400 == 0; }

static int read_date(const char *s, struct date *d)
{
    char rest;
    if (sscanf(s, "%4d-%2d-%2d%c", &d->year, &d->month, &d->day, &rest) != 3)
        return 0;
    if (d->year < 1900 || d->month < 1 || d->month > 12 || d->day < 1)
        return 0;
    int most = length[d->month - 1];
    if (d->month == 2 && leap(d->year))
        most = 29;
    return d->day <= most;
}

static long number(const struct date *d)
{
    long n = d->day;
    for (int y = 1900; y < d->year; y++)
        n += leap(y) ? 366 : 365;
    for (int m = 1; m < d->month; m++) {
        n += length[m - 1];
        if (m == 2 && leap(d->year))
            n++;
    }
    return n;
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};
    struct date a, b;
    if (argc != 3) {
        printf("usage: days DATE DATE\n");
        return 2;
    }
    if (!read_date(argv[1], &a)) {
        printf("bad date: %s\n", argv[1]);
        return 1;
    }
    if (!read_date(argv[2], &b)) {
        printf("bad date: %s\n", argv[2]);
        return 1;
    }
    long x = number(&a), y = number(&b), d = y - x;
    if (d < 0) {
        printf("%ld days ago\n", -d);
    } else if (d == 0)
        printf("the same day, a %s\n", names[x % 7]);
    else if (d % 7 == 0)
        printf("%ld weeks\n", d / 7);
    else
        printf("%ld days\n", d);
    if (y % 7 == 5 && b.day == 13)
        printf("beware\n");
    return 0;
}
