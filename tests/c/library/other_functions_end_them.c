// run: --property valid-free -DWHAT=1 => FALSE(valid-free)
// run: --property valid-free -DWHAT=2 => FALSE(valid-free)
// run: --property valid-free -DWHAT=3 => FALSE(valid-free)
// run: --property valid-free -DWHAT=4 => FALSE(valid-free)
// run: --property valid-free -DWHAT=5 => FALSE(valid-free)
// run: --property valid-free -DWHAT=6 => FALSE(valid-free)
// run: --property valid-free -DWHAT=0 => TRUE
// native: unseen
// If the library itself allocates with malloc, no sanitizer detects that `free` is the wrong function for the object. It is still an error:
// the right function of the library does more than free the memory.
#include <dirent.h>
#include <netdb.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>

static int order(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

int main(void) {
    int one = 1;
    void *tree = NULL;
    FILE *file = fopen("a file", "r");
    DIR *folder = opendir(".");
#if WHAT == 3
    struct addrinfo *hosts = NULL;
    if (getaddrinfo("localhost", NULL, NULL, &hosts) != 0)
        hosts = NULL;
    free(hosts); // wrong
#endif
    void *node = tsearch(&one, &tree, order);
    char *own = malloc(1000);
    if (!own)
        return 1;
    if (WHAT == 1)
        free(file); // wrong
    if (WHAT == 2)
        free(folder); // wrong
    if (WHAT == 4)
        free(node); // wrong
    if (WHAT == 5)
        fclose((FILE *)own); // wrong
    if (WHAT == 6)
        closedir((DIR *)own); // wrong
    if (file)
        fclose(file);
    if (folder)
        closedir(folder);
    tdelete(&one, &tree, order);
    free(own);
    return 0;
}
