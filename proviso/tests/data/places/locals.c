// Local variables whose addresses escape, and others.
#include <stdio.h>
#include <string.h>

extern void fill(char *text, int size);
extern char *name_of(int number);

static int digits(const char *text) {
    int n = 0;
    for (const char *p = text; *p; p++)
        n += *p >= '0' && *p <= '9';
    return n;
}

static int table[10] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};

int main(int argc, char **argv) {
    char text[16] = "abc", other[8] = "1234";
    int own[8] = {0}, sum = 0;
    for (int i = 0; i < 8; i++)
        own[i] = i;
    fill(text, 15);
    for (int i = 0; i < 10; i++)
        sum += table[i];
    sum += own[7] + digits(other);
    sum += digits(text);  // the text may have no null byte
    char *name = name_of(argc);
    sum += name[0];       // the target of `name` is unknown
    sum += own[sum & 7];
    printf("%d %s\n", sum, other);
    return argv[0][0] == 'x';
}
