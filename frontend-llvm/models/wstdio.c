// Defines: wprintf vwprintf fwprintf vfwprintf swprintf vswprintf __wprintf_chk __vwprintf_chk __fwprintf_chk
// Defines: __vfwprintf_chk __swprintf_chk __vswprintf_chk wprintf.void vwprintf.void fwprintf.void vfwprintf.void
// Defines: __wprintf_chk.void __vwprintf_chk.void __fwprintf_chk.void __vfwprintf_chk.void
// Defines: fputwc putwc putwchar fputws fgetwc getwc getwchar fgetws ungetwc fwide
#pragma once
#include "printf.c"
#include "stdio.c"

// Streams of wide characters, and formatted output of wide characters.

#define WEOF ((wint_t)-1)

static _Bool proviso_writes_wide(struct proviso_stream *stream) {
    WIDE(stream);
    return proviso_is_output(stream);
}

// Formatted output: a specification is parsed as one of bytes.
static void proviso_print_wide(struct proviso_output *out, const wchar_t *format, struct proviso_args *args) {
    va_copy(args->first, args->list);
    while (*format && !out->failed) {
        if (*format != '%') {
            proviso_put(out, *format);
            format++;
            continue;
        }
        format++;
        char text[40];
        size_t n = 0;
        for (; n < sizeof text - 2 && format[n]; n++) {
            // The characters that may precede the conversion.
            const char *may = "-+ #0'I123456789*.hlLqjzZt";
            while (*may && *may != format[n])
                may++;
            if (!*may)
                break;
            text[n] = format[n];
        }
        text[n] = format[n] < 0x80 ? format[n] : 0x7f;
        text[n + 1] = 0;
        const char *end = text;
        struct proviso_spec spec = proviso_parse_spec(&end, args);
        format += end - text;
        if (!spec.conversion) {
            SET_ERRNO(EINVAL);
            out->failed = 1;
            return;
        }
        proviso_print_one(out, &spec, args);
        if (!spec.conversion)
            return;
    }
    proviso_limit_length(out);
}

static int proviso_print_wide_stream(const wchar_t *format, struct proviso_args *args) {
    struct proviso_output out = {.wide = 1};
    proviso_print_wide(&out, format, args);
    return proviso_length(&out);
}

static void proviso_print_wide_nowhere(const wchar_t *format, struct proviso_args *args) {
    struct proviso_output out = {.wide = 1};
    proviso_print_wide(&out, format, args);
}

// Text that does not fit is an error, and is not null-terminated. This error takes precedence.
static int proviso_print_wide_text(wchar_t *buffer, size_t size, const wchar_t *format, struct proviso_args *args) {
    if (!size)
        return -1;
    *buffer = 0;
    struct proviso_output out = {.text = 1, .wide = 1, .buffer = buffer, .room = size - 1};
    proviso_print_wide(&out, format, args);
    if (out.length >= size)
        return -1;
    buffer[out.length] = 0;
    return out.failed ? -1 : (int)out.length;
}

#define PRINT_WIDE(type, function, vfunction, before, body)                                                          \
    type vfunction(UNPACK before const wchar_t *format, va_list list) {                                              \
        struct proviso_args args;                                                                                    \
        va_copy(args.list, list);                                                                                    \
        body                                                                                                         \
    }                                                                                                                \
    type function(UNPACK before const wchar_t *format, ...) {                                                        \
        struct proviso_args args;                                                                                    \
        va_start(args.list, format);                                                                                 \
        body                                                                                                         \
    }
#define TO_WIDE(stream, result)                                                                                      \
    if (!proviso_writes_wide(stream))                                                                                \
        return result;

PRINT_WIDE(int, wprintf, vwprintf, (), { TO_WIDE(stdout, -1) return proviso_print_wide_stream(format, &args); })
PRINT_WIDE(int, fwprintf, vfwprintf, (struct proviso_stream * stream,), {
    TO_WIDE(stream, -1) return proviso_print_wide_stream(format, &args);
})
PRINT_WIDE(int, swprintf, vswprintf, (wchar_t *buffer, size_t size,), {
    return proviso_print_wide_text(buffer, size, format, &args);
})
PRINT_WIDE(int, __wprintf_chk, __vwprintf_chk, (int flag,), {
    TO_WIDE(stdout, -1) return proviso_print_wide_stream(format, &args);
})
PRINT_WIDE(int, __fwprintf_chk, __vfwprintf_chk, (struct proviso_stream * stream, int flag,), {
    TO_WIDE(stream, -1) return proviso_print_wide_stream(format, &args);
})
PRINT_WIDE(int, __swprintf_chk, __vswprintf_chk, (wchar_t *buffer, size_t size, int flag, size_t object_size,), {
    if (size > object_size)
        __proviso_abort();
    return proviso_print_wide_text(buffer, size, format, &args);
})

#define IGNORING_WIDE(function, label, vfunction, vlabel, before, body)                                              \
    extern void function(UNPACK before const wchar_t *format, ...) __asm__(label);                                   \
    extern void vfunction(UNPACK before const wchar_t *format, va_list list) __asm__(vlabel);                        \
    PRINT_WIDE(void, function, vfunction, before, body)
#define NOWHERE_WIDE proviso_print_wide_nowhere(format, &args);

IGNORING_WIDE(proviso_wprintf, "wprintf.void", proviso_vwprintf, "vwprintf.void", (), {
    TO_WIDE(stdout, ) NOWHERE_WIDE
})
IGNORING_WIDE(proviso_fwprintf, "fwprintf.void", proviso_vfwprintf, "vfwprintf.void",
              (struct proviso_stream * stream,), { TO_WIDE(stream, ) NOWHERE_WIDE })
IGNORING_WIDE(proviso_wprintf_chk, "__wprintf_chk.void", proviso_vwprintf_chk, "__vwprintf_chk.void", (int flag,), {
    TO_WIDE(stdout, ) NOWHERE_WIDE
})
IGNORING_WIDE(proviso_fwprintf_chk, "__fwprintf_chk.void", proviso_vfwprintf_chk, "__vfwprintf_chk.void",
              (struct proviso_stream * stream, int flag,), { TO_WIDE(stream, ) NOWHERE_WIDE })

// Characters and strings.

static wint_t proviso_put_wide(wchar_t c, struct proviso_stream *stream) {
    return proviso_writes_wide(stream) ? (wint_t)c : WEOF;
}

wint_t fputwc(wchar_t c, struct proviso_stream *stream) { return proviso_put_wide(c, stream); }
wint_t putwc(wchar_t c, struct proviso_stream *stream) { return proviso_put_wide(c, stream); }
wint_t putwchar(wchar_t c) { return proviso_put_wide(c, stdout); }

int fputws(const wchar_t *s, struct proviso_stream *stream) {
    const wchar_t *end = s;
    while (*end)
        end++;
    return proviso_writes_wide(stream) || end == s ? 1 : EOF;
}

// A non-ASCII byte is no character, and remains in the input.
static wint_t proviso_get_wide(struct proviso_stream *stream) {
    WIDE(stream);
    int c = proviso_next_byte(stream);
    if (c < 0x80)
        return c;
    stream->error = 1;
    SET_ERRNO(EILSEQ);
    stream->pushed[stream->pushed_count] = c;
    stream->pushed_count++;
    return WEOF;
}

wint_t fgetwc(struct proviso_stream *stream) { return proviso_get_wide(stream); }
wint_t getwc(struct proviso_stream *stream) { return proviso_get_wide(stream); }
wint_t getwchar(void) { return proviso_get_wide(stdin); }

wchar_t *fgetws(wchar_t *buffer, int size, struct proviso_stream *stream) {
    USE(stream);
    if (size <= 0)
        return NULL;
    if (size == 1) {
        *buffer = 0;
        return buffer;
    }
    _Bool error_before = stream->error;
    stream->error = 0;
    size_t n = 0;
    wint_t c = 0;
    while (n < (size_t)size - 1 && c != '\n') {
        c = proviso_get_wide(stream);
        if (c == WEOF)
            break;
        buffer[n] = c;
        n++;
    }
    _Bool none = c == WEOF && (n == 0 || stream->error);
    stream->error |= error_before;
    if (none)
        return NULL;
    buffer[n] = 0;
    return buffer;
}

wint_t ungetwc(wint_t c, struct proviso_stream *stream) {
    USE(stream);
    WIDE(stream);
    if (c == WEOF)
        return WEOF;
    stream->at_end = 0;
    if (c >= 0x80 || stream->pushed_count == sizeof stream->pushed) {
        __proviso_unmodelled("pushing back this character is not modelled");
        return WEOF;
    }
    stream->pushed[stream->pushed_count] = c;
    stream->pushed_count++;
    return c;
}

int fwide(struct proviso_stream *stream, int mode) {
    USE(stream);
    if (mode && !stream->orientation)
        stream->orientation = mode < 0 ? -1 : 1;
    return stream->orientation;
}
