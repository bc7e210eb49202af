// Jumps of all kinds, switches, loops that are left in the middle, calls that do not return.
#include <stdlib.h>

extern void criterion(int place, long value);

static int steps;

static void give_up(int code) {
    criterion(1, code);
    exit(0);
}

static int classify(int n) {
    steps++;
    switch (n % 7) {
    case 0:
        return 1;
    case 1:
    case 2:
        n += 10;
        /* fall through */
    case 3:
        n *= 2;
        break;
    case 5: {
        int i = 0;
        do {
            n += i++;
            if (n > 60)
                goto out;
        } while (i < 9);
        break;
    }
    default:
        n = -n;
    }
    return n;
out:
    return n + 1000;
}

static int search(const int *values, int count, int wanted) {
    int at = -1;
    for (int i = 0; i < count; i++) {
        if (values[i] < 0)
            continue;
        if (values[i] == wanted) {
            at = i;
            break;
        }
        steps += 2;
    }
    return at;
}

static unsigned gcd(unsigned a, unsigned b) { return b ? gcd(b, a % b) : a; }

static int twisted(int n) {
    int x = 0;
    if (n & 1)
        goto second;
first:
    x += 3;
    if (x > 20)
        return x;
second:
    x += n & 3;
    if (x < 40)
        goto first;
    return -x;
}

int main(void) {
    int values[12], sum = 0;
    for (int i = 0; i < 12; i++)
        values[i] = classify(i * 5 + 1);
    for (int i = 0; i < 12; i++)
        sum += values[i];
    criterion(2, sum);
    criterion(3, search(values, 12, values[7]));
    criterion(4, gcd(1071, 462) + (sum > 0 ? 1 : 2));
    for (int i = 0; i < 4; i++)
        criterion(5, twisted(i));
    int unused = 0;
    while (unused < 1000)
        unused += steps & 3 ? 7 : 9;
    criterion(6, steps);
    int a = sum > 10 && values[2] > 0 || values[3] == 4;
    criterion(7, a);
    if (steps > 3)
        give_up(values[5]);
    criterion(8, unused);
    return 0;
}
