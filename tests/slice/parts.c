// Statements of which the criterion needs only a part. The other parts remain, so they need their values.
#include <stdlib.h>
extern void criterion(int place, long value);

static int one, two, three, four[4], *many[3] = {&one, &two, &three};

static int written_through(int n) {
    int *unused = &two;
    one = (*unused = n) + 1;
    criterion(1, one);
    return one;
}

static int in_declaration(int n) {
    int *unused = many[n % 3], **next = &unused;
    int value = n, other = **next / (n + 1);
    criterion(2, value);
    return other;
}

static int in_header(int n) {
    int *unused = malloc(sizeof *unused), sum = 0;
    int **place = &unused;
    for (int i = 0, first = (**place = n); i < n; i++, (**place)++)
        sum += i;
    criterion(3, sum);
    while (two = **place, sum-- > 0)
        criterion(4, sum);
    n = *unused;
    free(unused);
    return n;
}

// The divisor and the pointer are needed only after the statement that uses them is kept for its other part.
static int *chosen(int n, int divisor) { return &four[n / divisor]; }

static int in_rounds(int n) {
    int divisor = 3;
    int *place = chosen(n, divisor);
    int **indirect = &place;
    int left = (two = **indirect) + 1, right;
    right = (three = left, n + 2);
    criterion(5, right);
    return left;
}

static int doubled(const int *from, int n) { return 2 * n + (*from > 5); }

static long second(int value, long n) { return (three += value) ? n + 1 : n + 1; }

static int in_arguments(int n) {
    int *first = many[1];
    long result = second(*first, n);
    criterion(6, result);
    one += second(doubled(first, n), n) > 3 ? (*first = n, 5) : 5;
    criterion(7, one);
    return n;
}

struct large {
    long parts[5];
};
static struct large a_struct;

static long copied(struct large unused, long n) {
    three = unused.parts[1];
    return n + 1;
}

static long copies(int n) {
    struct large *from = &a_struct;
    long result = copied(*from, n);
    criterion(8, result);
    return result;
}

// The compiler replaces these constants by their values, so nothing depends on them.
static int constants(int n) {
    int *const place = &two;
    int *const *const indirect = &place;
    const int factor = 3;
    one = (*place = n * factor) + 1;
    criterion(9, one);
    one = **indirect + factor;
    criterion(10, one);
    return one;
}

static int returned(int n) {
    int *unused = many[2];
    if (n & 1)
        return *unused = n, n + 5;
    return (*unused)++ > 100 ? n : n;
}

int main(void) {
    for (int n = 0; n < 6; n++) {
        written_through(n);
        in_declaration(n);
        in_header(n);
        in_rounds(n);
        in_arguments(n);
        copies(n);
        constants(n);
        criterion(11, returned(n));
    }
    return 0;
}
