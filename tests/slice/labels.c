// Addresses of labels: as targets, in tables, as distances, in functions that are removed except for their labels, and as values
// without jumps.
#include <stdlib.h>

extern void criterion(int place, long value);

static int jump(int n) {
    static void *const table[] = {&&one, &&two, &&three};
    int s = 0;
    goto *table[n % 3];
one:
    s += 10;
two:
    s += 1;
three:
    return s;
}

static int jump_by_distance(int n) {
    static const int distances[] = {&&zero - &&zero, &&ten - &&zero};
    goto *(&&zero + distances[n & 1]);
zero:
    return 0;
ten:
    return 10;
}

// The slice has no jump to this label.
static int compared(int n) {
    void *first = n > 1 ? &&here : &&there;
    void *second = n > 3 ? &&there : &&here;
    criterion(3, first == second);
    if (n > 100)
        goto *first;
here:
    n += 2;
there:
    return n;
}

static void *labels[2];

static int gives(int n) {
    if (!n) {
        labels[0] = &&low;
        labels[1] = &&high;
        return 0;
    }
    goto *labels[n & 1];
low:
    return 1;
high:
    return 2;
}

static int later(int n);
static void *const after[] = {0};

int main(void) {
    int n = atoi("4");
    criterion(1, jump(n));
    criterion(2, jump_by_distance(n + 1));
    compared(n);
    gives(0);
    criterion(4, gives(3));
    criterion(5, later(n));
    return 0;
}

static int later(int n) {
    static void *table[] = {&&even, &&odd};
    int result = after[0] != 0;
    goto *table[n & 1];
even:
    result += 20;
    return result;
odd:
    return 30;
}
