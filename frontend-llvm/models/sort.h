// Sorting. stdlib.c includes it for comparison functions with and without an extra argument.

// Merges two adjacent sorted parts of an array. The first has `middle` elements. Of equal elements, that of the first
// part comes first.
static void PROVISO_SORTING(proviso_merge)(char *array, char *merged, size_t middle, size_t count, size_t size,
                                           PROVISO_COMPARING) {
    size_t left = 0, right = middle, out = 0;
    while (left < middle && right < count) {
        _Bool from_left = PROVISO_ORDER(array + left * size, array + right * size) <= 0;
        size_t next = from_left ? left++ : right++;
        __builtin_memcpy(merged + out * size, array + next * size, size);
        out++;
    }
    __builtin_memcpy(merged + out * size, array + left * size, (middle - left) * size);
    __builtin_memcpy(array, merged, right * size);
}

// The C library's merge sort: it compares the same elements in the same order. A part is sorted by sorting its halves
// and merging them. `stack` has the parts being sorted.
static void PROVISO_SORTING(proviso_sort)(void *base, size_t count, size_t size, PROVISO_COMPARING) {
    if (count < 2)
        return;
    char *merged = __proviso_scratch(count * size);
    struct {
        size_t start, count;
        unsigned sorted_halves;
    } stack[64] = {{0, count, 0}};
    unsigned depth = 1;
    while (depth > 0) {
        size_t start = stack[depth - 1].start, count = stack[depth - 1].count;
        unsigned sorted_halves = stack[depth - 1].sorted_halves++;
        if (sorted_halves == 2)
            PROVISO_SORTING(proviso_merge)
            ((char *)base + start * size, merged, count / 2, count, size, PROVISO_COMPARED);
        if (sorted_halves == 2 || count < 2) {
            depth--;
            continue;
        }
        stack[depth].start = sorted_halves == 0 ? start : start + count / 2;
        stack[depth].count = sorted_halves == 0 ? count / 2 : count - count / 2;
        stack[depth].sorted_halves = 0;
        depth++;
    }
    __proviso_drop(merged);
}
