#include <stdio.h>
#include <math.h>

int main()
{
    double a, b, c;
    printf("a b c? ");
    if (scanf("%lf %lf %lf", &a, &b, &c) != 3) {
        printf("three numbers, please\n");
        return 1;
    }
    if (a == 0) {
        if (b == 0) {
            if (c == 0)
                printf("every x\n");
            else
                printf("no x\n");
        } else
            printf("x = %g\n", -c / b);
        return 0;
    }
    double d = b * b - 4 * a * c;
    if (d < 0) {
        printf("x = %g +- %gi\n", -b / (2 * a), sqrt(-d) / (2 * a));
    } else if (d == 0) {
        printf("x = %g twice\n", -b / (2 * a));
    } else {
        double r = sqrt(d);
        printf("x = %g or %g\n", (-b + r) / (2 * a), (-b - r) / (2 * a));
        if (r == floor(r) && a == 1)
            printf("nice roots\n");
    }
    return 0;
}
