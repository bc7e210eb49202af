// run: --property valid-free -DWHAT=1 => FALSE(valid-free)
// run: --property valid-free -DWHAT=2 => FALSE(valid-free)
// run: --property valid-free -DWHAT=3 => FALSE(valid-free)
// run: --property valid-free -DWHAT=4 => FALSE(valid-free)
// run: --property valid-free -DWHAT=5 => FALSE(valid-free)
// run: --check address -DWHAT=1 => FALSE(address)
// run: --check address -DWHAT=2 => FALSE(address)
// run: --check address -DWHAT=6 => FALSE(address)
// run: --property valid-free -DWHAT=0 => TRUE
// run: --check address -DWHAT=0 => TRUE
// Memory that the library keeps, or allocates by functions other than malloc, must not be passed to free, realloc and malloc_usable_size.
#define _GNU_SOURCE
#include <malloc.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

int main(void) {
    char *home = getenv("HOME");
    void *page = mmap(NULL, 100, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED || !home)
        return 1;
    char *copy = strdup(home);
    if (WHAT == 1)
        free(home); // wrong
    if (WHAT == 2)
        free(page); // wrong
    if (WHAT == 3)
        return realloc(home, 10) != NULL; // wrong
    if (WHAT == 4)
        return reallocarray(page, 5, 2) != NULL; // wrong
    if (WHAT == 5 && hcreate(2)) {
        ENTRY item = {"key", "value"};
        free(hsearch(item, ENTER)); // wrong
    }
    if (WHAT == 6)
        return malloc_usable_size(page) > 100; // wrong
    munmap(page, 100);
    free(copy);
    return 0;
}
