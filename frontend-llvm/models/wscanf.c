// Defines: wscanf vwscanf fwscanf vfwscanf swscanf vswscanf
// Defines: __isoc99_wscanf __isoc99_vwscanf __isoc99_fwscanf __isoc99_vfwscanf __isoc99_swscanf __isoc99_vswscanf
// Defines: __isoc23_wscanf __isoc23_vwscanf __isoc23_fwscanf __isoc23_vfwscanf __isoc23_swscanf __isoc23_vswscanf
#pragma once
#include "scanf.c"

// Formatted input of wide characters. ASCII characters are parsed as bytes.

// A copy as bytes.
static char *proviso_narrowed(const wchar_t *s) {
    size_t n = 0;
    while (s[n])
        n++;
    char *copy = __proviso_scratch(n + 1);
    for (size_t i = 0; i <= n; i++) {
        if (s[i] < 0 || s[i] > 0x7f)
            __proviso_unmodelled("wide characters beyond ASCII in what scanf is given are not modelled");
        copy[i] = s[i];
    }
    return copy;
}

static int proviso_scan_wide_stream(struct proviso_stream *stream, const wchar_t *format, struct proviso_scan_args *args) {
    char *narrow = proviso_narrowed(format);
    int items = proviso_scan_stream(stream, narrow, args, 1);
    __proviso_drop(narrow);
    return items;
}

static int proviso_scan_wide_string(const wchar_t *s, const wchar_t *format, struct proviso_scan_args *args, _Bool binary) {
    char *text = proviso_narrowed(s), *narrow = proviso_narrowed(format);
    int items = proviso_scan_string(text, narrow, args, binary);
    __proviso_drop(narrow);
    __proviso_drop(text);
    return items;
}

#define SCAN_WIDE(scanf, vscanf, fscanf, vfscanf, sscanf, vsscanf, binary)                                           \
    SCAN(wchar_t, scanf, vscanf, (), return proviso_scan_wide_stream(stdin, format, &args);)                         \
    SCAN(wchar_t, fscanf, vfscanf, (struct proviso_stream * stream,),                                                \
         return proviso_scan_wide_stream(stream, format, &args);)                                                    \
    SCAN(wchar_t, sscanf, vsscanf, (const wchar_t *text,), return proviso_scan_wide_string(text, format, &args, binary);)

SCAN_WIDE(wscanf, vwscanf, fwscanf, vfwscanf, swscanf, vswscanf, 0)
SCAN_WIDE(__isoc99_wscanf, __isoc99_vwscanf, __isoc99_fwscanf, __isoc99_vfwscanf, __isoc99_swscanf, __isoc99_vswscanf, 0)
SCAN_WIDE(__isoc23_wscanf, __isoc23_vwscanf, __isoc23_fwscanf, __isoc23_vfwscanf, __isoc23_swscanf, __isoc23_vswscanf, 1)
