// Defines: iconv_open iconv iconv_close
#pragma once
#include "proviso.h"

// iconv.h. The models do not convert text.

#define ICONV_IS_APPROXIMATED __proviso_overapproximated("conversions of text between encodings are not modelled exactly")
#define NO_CONVERSION ((char *)-1)

char *iconv_open(const char *to, const char *from) {
    proviso_strlen(to);
    proviso_strlen(from);
    ICONV_IS_APPROXIMATED;
    if (__proviso_env_bool()) {
        SET_ERRNO(proviso_env_error());
        return NO_CONVERSION;
    }
    // Exhausted memory is one of the errors above.
    return __proviso_make_internal(1);
}

int iconv_close(char *conversion) {
    if (conversion == NO_CONVERSION) {
        SET_ERRNO(EBADF);
        return -1;
    }
    __proviso_free_internal(conversion);
    return 0;
}

// Writes at most `*room` bytes.
static void proviso_convert_to(char **output, size_t *room) {
    size_t n = __proviso_env_size();
    __proviso_assume(n <= *room);
    if (n > 0)
        __proviso_env_memory(*output, n);
    *output += n;
    *room -= n;
}

// The number of characters that were not converted exactly, or -1. Without input, the initial state is restored.
size_t iconv(char *conversion, char **input, size_t *size, char **output, size_t *room) {
    if (conversion == NO_CONVERSION) {
        SET_ERRNO(EBADF);
        return -1;
    }
    (void)*(volatile char *)conversion;
    ICONV_IS_APPROXIMATED;
    size_t result = __proviso_env_size();
    if (!input || !*input) {
        if (output && *output)
            proviso_convert_to(output, room);
    } else {
        size_t n = __proviso_env_size();
        __proviso_assume((n <= *size) & ((result == (size_t)-1) | (n == *size)));
        proviso_read(*input, *size);
        proviso_put_out(*input, n);
        *input += n;
        *size -= n;
        proviso_convert_to(output, room);
    }
    if (result == (size_t)-1) {
        enum { E2BIG = 7 };
        int error = proviso_env_error();
        __proviso_assume((error == E2BIG) | (error == EINVAL) | (error == EILSEQ));
        SET_ERRNO(error);
    }
    return result;
}
