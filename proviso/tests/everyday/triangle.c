#include <stdio.h>
#include <stdlib.h>

typedef enum { NONE, EQUILATERAL, ISOSCELES, RIGHT, SCALENE } Kind;

Kind classify(int a, int b, int c) {
    if (a <= 0 || b <= 0 || c <= 0) return NONE;
    if (a > 1000 || b > 1000 || c > 1000) return NONE;
    if (a + b <= c || b + c <= a || a + c <= b) return NONE;
    if (a == b && b == c) return EQUILATERAL;
    if (a == b || b == c || a == c) return ISOSCELES;
    if (a * a + b * b == c * c || b * b + c * c == a * a || a * a + c * c == b * b) return RIGHT;
    return SCALENE;
}

int main(int argc, char **argv) {
    int sides[3];
    if (argc != 4) {
        fprintf(stderr, "usage: %s a b c\n", argv[0]);
        return 1;
    }
    for (int i = 0; i < 3; i++) {
        char *end;
        sides[i] = (int)strtol(argv[i + 1], &end, 10);
        if (*end) {
            fprintf(stderr, "side %d is not a number\n", i + 1);
            return 1;
        }
    }
    switch (classify(sides[0], sides[1], sides[2])) {
    case NONE: puts("not a triangle"); break;
    case EQUILATERAL: puts("equilateral"); break;
    case ISOSCELES: puts("isosceles"); break;
    case RIGHT: puts("right"); break;
    case SCALENE: puts("scalene"); break;
    }
    return 0;
}
