// run: => TRUE
// The assembly of `cpuid.h` only computes values, and writes nothing. They decide which implementation runs.
#include "../verify.h"
#ifdef __x86_64__
#include <cpuid.h>
#endif

static int by_ones(const char *text, int size) {
    int lines = 0;
    for (int i = 0; i < size; i++)
        lines += text[i] == '\n';
    return lines;
}

static int by_fours(const char *text, int size) {
    int lines = 0, i = 0;
    for (; i + 4 <= size; i += 4)
        lines += (text[i] == '\n') + (text[i + 1] == '\n') + (text[i + 2] == '\n') + (text[i + 3] == '\n');
    for (; i < size; i++)
        lines += text[i] == '\n';
    return lines;
}

int main(void) {
    unsigned a = 0, b = 0, c = 0, d = 0;
    int (*count)(const char *, int) = by_ones;
#ifdef __x86_64__
    if (__get_cpuid(1, &a, &b, &c, &d) && (c & bit_OSXSAVE))
        count = by_fours;
#endif
    static const char text[] = "a\nb\n\nc\n";
    check(count(text, sizeof text - 1) == 4);
    return 0;
}
