// Conditions that are always true, with code and jumps below that depend on other conditions.
extern void criterion(int place, long value);

static int left[8];

static int next(int n) { return left[n & 7]--; }

static int first_statement(int n) {
    while (1) {
        if (next(n) < 0)
            break;
        criterion(0, n);
    }
    criterion(1, n);
    return n;
}

static int endless(int n) {
    for (;;) {
        if (n-- < 0)
            return 1;
        criterion(2, n);
    }
}

static int below(int a, int b) {
    int sum = 0;
    if ((b & 3) < 4) {
        switch (a & 3) {
        case 0:
            sum = b;
            break;
        case 1:
            sum = 2;
            break;
        case 2:
            sum = 3;
        default:
            criterion(3, sum);
        }
    }
    criterion(4, a);
    return sum;
}

static int loop(int n) {
    int sum = 0;
    if (n == n) {
        for (int i = 0; i < n; i++) {
            if (i == 2)
                continue;
            if (i == 5)
                return sum;
            criterion(5, i);
            sum += i;
        }
    }
    criterion(6, n);
    return sum;
}

int main(void) {
    for (int n = 0; n < 8; n++) {
        left[n] = n;
        first_statement(n);
        endless(n);
        below(n, n * 3);
        loop(n);
    }
    criterion(7, 0);
    return 0;
}
