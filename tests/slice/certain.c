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

#define LEAVE return
#define LEAVE_IF(condition) if (condition) return

static void folded(int a, int b) {
    if (a) {
        if ((b & 3) < 4)
            return;
    }
    criterion(8, a);
}

static void partly_folded(int a, int b) {
    for (int i = 0; i < 4; i++) {
        if (i == a) {
            if (b > 5 || b == b)
                break;
            else
                continue;
        }
        criterion(9, i);
    }
    criterion(10, b);
}

static void otherwise(int a, int b) {
    if (a & 1) {
        if ((b & 3) > 3) {
            b++;
        } else {
            b--;
            goto out;
        }
    }
    criterion(11, a);
out:
    criterion(12, a);
}

// The loop is left only by the jump, on which no criterion depends.
static void left_by_jump(int a, int b) {
    for (int i = 0; i < 3; i++) {
        switch (i + a) {
        case 1:
            while (1) {
                if (b++ > 5)
                    goto next;
            }
        case 2:
            criterion(13, i);
        }
    next:
        criterion(14, i);
    }
}

static void chosen(int a, int b) {
    for (int i = 0; i < 3; i++) {
        if (i == a) {
            switch (b & 0) {
            case 0:
                b++;
                return;
            default:
                b--;
            }
        }
        criterion(15, i);
    }
}

static int into(int a, int b) {
    if (a > 3)
        goto inner;
    if ((b & 3) < 4) {
        b++;
    } else {
    inner:
        b--;
        return a;
    }
    criterion(16, a);
    return a + 1;
}

// Only the first part of the loop is in the slice.
static int initialised(int a, int b) {
    int i, k = 0;
    for (i = 0, k = a; i < b;) {
        i++;
        if (i > 100)
            return 5;
    }
    criterion(17, k);
    return i;
}

// The result does not depend on the number of iterations, which the slice does not compute.
static int counted(int a, int b) {
    int unused = b * 1000000;
    if (a & 1) {
        while (1) {
            if (unused++ > 4000000)
                return 4;
        }
    }
    return 5;
}

static int refused;
static void refuse(int a) { refused += a; }
#define REFUSE(a) do { refuse(a); return; } while (0)
#define RECORD(a) do { if (a) refuse(a); } while (0)

static void jumps_in_macros(int a, int b) {
    for (int i = 0; i < 2; i++) {
        if (i + 3 == a) {
            b = i;
            REFUSE(b);
        }
        if (i == a) {
            criterion(22, i);
            RECORD(b);
        }
        criterion(23, i);
    }
    for (int i = 0; i < 4; i++) {
        if (i == a)
            LEAVE;
        if (i == 2 && a > 4) {
            b++;
            LEAVE_IF((b & 3) < 4);
        }
        criterion(18, i);
    }
}

static void left_by_macro(int a, int b) {
    switch (a) {
    case 9:
        while (1) {
            if (b++ > 9)
                LEAVE;
        }
    default:
        criterion(19, a);
    }
}

// The compiler adds a jump between the labels, which has no place of its own.
static void two_labels(int a, int b) {
    if (a)
        goto out;
    else
        goto out;
    if (b)
        return;
out:
done:
    a++;
    criterion(24, b);
}

#define OUT break

// The compiler makes no code for the macro.
static void empty_case(int a) {
    int unused = a;
    switch (a & 3) {
    case 0:
        OUT;
    case 1:
        unused++;
        OUT;
    case 2:
    case 3:
        OUT;
    default:
        criterion(25, a);
    }
    switch (a & 1) {
    case 0:
        OUT;
    default:
        criterion(26, a);
    }
}

int main(void) {
    for (int n = 0; n < 8; n++) {
        left[n] = n;
        first_statement(n);
        endless(n);
        below(n, n * 3);
        loop(n);
        folded(n & 2, n);
        partly_folded(n & 3, n);
        otherwise(n, n * 5);
        left_by_jump(n & 1, n);
        chosen(n & 3, n);
        criterion(20, into(n, n));
        initialised(n, n);
        criterion(21, counted(n, n));
        jumps_in_macros(n, n);
        left_by_macro(n + 4, n);
        two_labels(n & 1, n);
        empty_case(n);
    }
    criterion(7, 0);
    return 0;
}
