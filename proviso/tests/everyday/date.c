/* Prints the day of the week of a date YYYY-MM-DD. */
#include <stdio.h>
#include <stdlib.h>

static int is_leap(int year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static int days_in(int month, int year)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if (month == 2 && is_leap(year))
        return 29;
    return days[month - 1];
}

int main(int argc, char **argv)
{
    static const char *names[] = {"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};
    int year, month, day;
    char rest;
    if (argc != 2) {
        fprintf(stderr, "usage: %s YYYY-MM-DD\n", argv[0]);
        return 2;
    }
    if (sscanf(argv[1], "%d-%d-%d%c", &year, &month, &day, &rest) != 3) {
        fprintf(stderr, "%s: not a date\n", argv[1]);
        return 1;
    }
    if (year < 1583 || year > 9999 || month < 1 || month > 12 || day < 1 || day > days_in(month, year)) {
        fprintf(stderr, "%s: no such day\n", argv[1]);
        return 1;
    }
    int y = month < 3 ? year - 1 : year;
    static const int shift[] = {0, 3, 2, 5, 0, 3, 5, 1, 4, 6, 2, 4};
    int weekday = (y + y / 4 - y / 100 + y / 400 + shift[month - 1] + day) % 7;
    if (weekday < 0 || weekday > 6)
        abort();
    printf("%s%s\n", names[weekday], weekday == 5 && day == 13 ? ", beware" : "");
    return 0;
}
