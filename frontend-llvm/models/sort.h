// Sorting. stdlib.c includes it for comparison functions with and without an extra argument.

// The C library's merge sort: it compares the same elements in the same order. Sorts the `count` elements in the bytes
// of `array` from `start` to before `end`: it sorts their halves, and merges them into the same place of `merged`. Of
// equal elements, that of the first half comes first. All assumptions hold; they bound offsets for the analyses.
static void PROVISO_SORTING(proviso_sort_part)(char *array, char *merged, size_t start, size_t end, size_t count,
                                               size_t size, PROVISO_COMPARING) {
    if (count < 2)
        return;
    size_t from_left = count / 2, from_right = count - from_left, middle = start + from_left * size;
    __proviso_assume(start <= middle);
    __proviso_assume(middle <= end);
    PROVISO_SORTING(proviso_sort_part)(array, merged, start, middle, from_left, size, PROVISO_COMPARED);
    PROVISO_SORTING(proviso_sort_part)(array, merged, middle, end, from_right, size, PROVISO_COMPARED);
    size_t left = start, right = middle, out = start;
    while (from_left && from_right) {
        __proviso_assume(left + size <= middle);
        __proviso_assume(right + size <= end);
        __proviso_assume(out + size <= end);
        if (PROVISO_ORDER(array + left, array + right) <= 0) {
            __builtin_memcpy(merged + out, array + left, size);
            left += size;
            from_left--;
        } else {
            __builtin_memcpy(merged + out, array + right, size);
            right += size;
            from_right--;
        }
        out += size;
    }
    for (; from_left; from_left--) {
        __proviso_assume(left + size <= middle);
        __proviso_assume(out + size <= end);
        __builtin_memcpy(merged + out, array + left, size);
        left += size;
        out += size;
    }
    for (left = start; left < out; left += size) {
        __proviso_assume(left + size <= end);
        __builtin_memcpy(array + left, merged + left, size);
    }
}

static void PROVISO_SORTING(proviso_sort)(void *base, size_t count, size_t size, PROVISO_COMPARING) {
    if (count < 2)
        return;
    size_t all;
    // No object is so large: the library accesses bytes after its end.
    if (__builtin_mul_overflow(count, size, &all))
        (void)*((const volatile char *)base + PTRDIFF_MAX);
    char *merged = __proviso_scratch(count * size);
    PROVISO_SORTING(proviso_sort_part)(base, merged, 0, count * size, count, size, PROVISO_COMPARED);
    __proviso_drop(merged);
}
