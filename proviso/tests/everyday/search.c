/* Reads sorted numbers from a file and looks up numbers from the command line. */
#include <stdio.h>
#include <stdlib.h>

static int find(const int *v, int n, int key)
{
    int low = 0, high = n - 1;
    while (low <= high) {
        int middle = low + (high - low) / 2;
        if (v[middle] < key)
            low = middle + 1;
        else if (v[middle] > key)
            high = middle - 1;
        else
            return middle;
    }
    return -1;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: search FILE NUMBER...\n");
        return 2;
    }
    FILE *f = fopen(argv[1], "r");
    if (!f) {
        fprintf(stderr, "search: cannot open %s\n", argv[1]);
        return 2;
    }
    int n;
    if (fscanf(f, "%d", &n) != 1 || n <= 0 || n > 1000) {
        fprintf(stderr, "search: bad count\n");
        fclose(f);
        return 2;
    }
    int *v = malloc(n * sizeof *v);
    if (!v)
        return 2;
    for (int i = 0; i < n; i++) {
        if (fscanf(f, "%d", &v[i]) != 1) {
            fprintf(stderr, "search: only %d numbers\n", i);
            n = i;
            break;
        }
        if (i > 0 && v[i] < v[i - 1]) {
            fprintf(stderr, "search: not sorted\n");
            fclose(f);
            free(v);
            return 2;
        }
    }
    fclose(f);
    int missing = 0;
    for (int i = 2; i < argc; i++) {
        int at = find(v, n, atoi(argv[i]));
        if (at < 0) {
            printf("%s: not found\n", argv[i]);
            missing++;
        } else
            printf("%s: at %d\n", argv[i], at);
    }
    free(v);
    return missing > 0;
}
