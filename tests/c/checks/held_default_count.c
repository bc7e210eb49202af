// run: --check address => TRUE
/* An array with at least one element, whose number of elements is not known, as in wc of GNU coreutils. */
#include <stdlib.h>
#include <sys/stat.h>

struct status {
    int failed;
    struct stat st;
};

static void *allocate(size_t count, size_t size) {
    void *p = reallocarray(NULL, count, size);
    if (!p)
        exit(1);
    return p;
}

static struct status *read_all(size_t count) {
    struct status *all = allocate(count ? count : 1, sizeof *all);
    for (size_t i = 0; i < count; i++)
        all[i].failed = fstat(0, &all[i].st);
    return all;
}

int main(int argc, char **argv) {
    size_t count = argc - 1;
    struct status *all = read_all(count);
    int result = 0;
    for (size_t i = 0; i < count; i++)
        if (!all[i].failed)
            result |= all[i].st.st_nlink != 1;
    free(all);
    return result;
}
