// Defines: stdin stdout stderr
#pragma once
#include "descriptors.c"

// Streams. The environment determines the input, whatever was written before.

#ifdef PROVISO_SCANS
// Bytes that cannot be next, because `scanf` would have read them with the previous input.
struct proviso_excluded {
    // `d` for decimal digits, `o` for octal ones, `x` for hexadecimal ones, `f` for decimal ones unless the previous
    // input is `inf` or `nan`, `s` for all except white space, 0 for none.
    char class;
    // The bytes of a `%[` in format notation, or a literal byte of a format that did not match. A set that does not fit is unknown.
    _Bool set_applies, complement, set_is_unknown;
    unsigned char set_size;
    char set[64];
};
#endif

struct proviso_stream {
    // A standard stream that is closed is `shut`, and both `read_only` and `write_only`.
    _Bool at_end, error, standard, read_only, write_only, shut;
#ifdef PROVISO_REPOSITIONS
    // The program has written to it.
    _Bool written;
#endif
#ifdef PROVISO_DESCRIPTORS
    // It may have read more than the program has requested.
    _Bool reads_ahead;
#endif
    // `seekable` is true if the stream has positions, `file` is the descriptor, and `position` the position without
    // pushed-back characters. -1 if unknown.
    int seekable, file;
    long long position;
    // The characters that were pushed back. The last one is read first.
    int pushed_count;
    unsigned char pushed[8];
#ifdef PROVISO_SCANS
    struct proviso_excluded excluded;
#endif
#ifdef PROVISO_WIDE
    // -1 for bytes, 1 for wide characters, 0 if undecided.
    int orientation;
#endif
#ifdef PROVISO_ARGUMENTS
    // A pointer to itself, which distinguishes it from other memory.
    struct proviso_stream *self;
#endif
#ifdef PROVISO_BUFFERS
    // Memory of the program that the stream uses, and the variable with the length of its text. The next stream with such memory.
    char *buffer, **text;
    size_t buffer_size, *length;
    struct proviso_stream *next;
#endif
};

// If the program changes a field of the library's stream, the front-end sets these to any values.
_Static_assert(__builtin_offsetof(struct proviso_stream, error) == 1, "at_end and error");
_Static_assert(__builtin_offsetof(struct proviso_stream, position) == 16, "from position");
_Static_assert(__builtin_offsetof(struct proviso_stream, pushed) == 28, "to the characters pushed back");

// The position of a stream, if the program can observe it.
#ifdef PROVISO_POSITIONS
#define SET_POSITION(stream, value) ((stream)->position = (value))
#else
#define SET_POSITION(stream, value) ((void)0)
#endif
// If the program can move the position back, a stream may read what it has written.
#ifdef PROVISO_REPOSITIONS
#define SET_WRITTEN(stream) ((stream)->written = 1)
#define READ_BACK(stream)                                                                                            \
    do {                                                                                                             \
        if ((stream)->written)                                                                                       \
            proviso_reads_own_output();                                                                              \
    } while (0)
#else
#define SET_WRITTEN(stream) ((void)0)
#define READ_BACK(stream) ((void)0)
#endif
// The number of characters that were pushed back, if a function of the program pushes any back.
#ifdef PROVISO_PUSHES
#define PUSHED(stream) ((stream)->pushed_count)
#define FORGET_PUSHED(stream) ((stream)->pushed_count = 0)
#else
#define PUSHED(stream) 0
#define FORGET_PUSHED(stream) ((void)0)
#endif

#ifdef PROVISO_ARGUMENTS
#define ITSELF(stream) .self = stream,
#define REQUIRE_STREAM(stream) __proviso_require(stream->self == stream, "the argument is not a stream")
#else
#define ITSELF(stream)
#define REQUIRE_STREAM(stream) ((void)0)
#endif

// If dependences are needed, every operation on a stream reads and writes its buffer.
#ifdef PROVISO_BUFFERS
static struct proviso_stream *proviso_buffered;
// The operations on all streams so far, modulo 256. The content of a buffer of the library depends on them.
static unsigned char proviso_operations;

static void proviso_use_buffer(struct proviso_stream *stream) {
    proviso_operations++;
    __builtin_memmove(stream->buffer, stream->buffer, stream->buffer_size);
    if (stream->text) {
        *stream->text = stream->buffer;
        *stream->length = stream->position;
    }
}

static void proviso_use_all_buffers(void) {
    proviso_operations++;
    for (struct proviso_stream *stream = proviso_buffered; stream; stream = stream->next)
        proviso_use_buffer(stream);
}

static void proviso_give_buffer(struct proviso_stream *stream, char *buffer, size_t size) {
    stream->buffer = buffer;
    stream->buffer_size = size;
    stream->next = proviso_buffered;
    proviso_buffered = stream;
    proviso_use_buffer(stream);
}

#define USE(stream)                                                                                                  \
    do {                                                                                                             \
        REQUIRE_STREAM(stream);                                                                                      \
        proviso_use_buffer(stream);                                                                                  \
    } while (0)
#define USE_ALL() proviso_use_all_buffers()
#define GIVE_BUFFER(stream, buffer, size) proviso_give_buffer(stream, buffer, size)
#define OPERATIONS proviso_operations
#else
#define USE(stream) REQUIRE_STREAM(stream)
#define USE_ALL() ((void)0)
#define GIVE_BUFFER(stream, buffer, size) ((void)0)
#define OPERATIONS 0
#endif

#define STANDARD(number, way, stream)                                                                                \
    {.standard = 1, .way = 1, .seekable = -1, .file = number, .position = -1, ITSELF(stream)}
static struct proviso_stream proviso_stdin = STANDARD(0, read_only, &proviso_stdin);
static struct proviso_stream proviso_stdout = STANDARD(1, write_only, &proviso_stdout);
static struct proviso_stream proviso_stderr = STANDARD(2, write_only, &proviso_stderr);
struct proviso_stream *stdin = &proviso_stdin;
struct proviso_stream *stdout = &proviso_stdout;
struct proviso_stream *stderr = &proviso_stderr;

// Bytes and wide characters on one stream are undefined. If the program uses wide functions, streams record their orientation.
#ifdef PROVISO_WIDE
static void proviso_orient(struct proviso_stream *stream, int orientation) {
    if (stream->orientation == -orientation)
        __proviso_unmodelled("bytes and wide characters on one stream are not modelled");
    stream->orientation = orientation;
}
#define BYTES(stream) proviso_orient(stream, -1)
#define WIDE(stream) proviso_orient(stream, 1)
#define UNORIENTED(stream) (stream->orientation = 0)
#else
#define BYTES(stream) ((void)0)
#define WIDE(stream) ((void)0)
#define UNORIENTED(stream) ((void)0)
#endif

#ifdef PROVISO_SCANS
static _Bool proviso_in_set(const char *set, const char *set_end, unsigned char c) {
    _Bool found = 0;
    for (const char *s = set; s < set_end; s++) {
        unsigned char low = *s, high = *s;
        if (s + 2 < set_end && s[1] == '-') {
            high = s[2];
            s += 2;
        }
        found |= (c >= low) & (c <= high);
    }
    return found;
}

// True if the next byte cannot be this one. Does not branch on the byte.
static _Bool proviso_is_excluded(struct proviso_stream *stream, unsigned char c) {
    struct proviso_excluded *excluded = &stream->excluded;
    _Bool is = 0;
    if (excluded->class == 's')
        is = !((c == ' ') | ((c >= '\t') & (c <= '\r')));
    else if (excluded->class && excluded->class != 'f')
        is = ((c >= '0') & (c <= (excluded->class == 'o' ? '7' : '9'))) |
             ((excluded->class == 'x') & ((c | 0x20) >= 'a') & ((c | 0x20) <= 'f'));
    else if (excluded->class && (c >= '0') & (c <= '9'))
        __proviso_overapproximated("a digit after a floating-point number that scanf reads is not modelled exactly");
    if (excluded->set_applies)
        is |= proviso_in_set(excluded->set, excluded->set + excluded->set_size, c) != excluded->complement;
    if (excluded->set_is_unknown)
        __proviso_overapproximated("the byte after the text that scanf reads by a long %[ is not modelled exactly");
    return is;
}

static void proviso_exclude_nothing(struct proviso_stream *stream) {
    stream->excluded.class = 0;
    stream->excluded.set_applies = stream->excluded.set_is_unknown = 0;
}

// Records that the stream returned this byte.
static void proviso_follows(struct proviso_stream *stream, unsigned char c) {
    __proviso_assume(!proviso_is_excluded(stream, c));
    proviso_exclude_nothing(stream);
}
#define FOLLOWS_IF(condition, stream, c)                                                                             \
    do {                                                                                                             \
        if (condition)                                                                                               \
            proviso_follows(stream, c);                                                                              \
    } while (0)
#define EXCLUDE_NOTHING(stream) proviso_exclude_nothing(stream)
#else
#define FOLLOWS_IF(condition, stream, c) ((void)0)
#define EXCLUDE_NOTHING(stream) ((void)0)
#endif

// True for a standard stream that is closed.
static _Bool proviso_is_shut(struct proviso_stream *stream) { return stream->shut; }

// Streams whose descriptor the program has closed. What is in their buffers is not modelled.
#ifdef PROVISO_DESCRIPTORS
static _Bool proviso_lost_descriptor(struct proviso_stream *stream, _Bool has_buffer) {
    _Bool closed = proviso_is_closed(stream->file);
    if ((!proviso_files.unknown || stream->standard) && (!closed || !has_buffer))
        return closed;
    __proviso_overapproximated("the buffer of a stream whose descriptor the program has closed is not modelled");
    return __proviso_env_bool();
}

static _Bool proviso_lost_input(struct proviso_stream *stream) {
    _Bool lost = proviso_lost_descriptor(stream, stream->reads_ahead);
    if (!lost)
        stream->reads_ahead = 1;
    return lost;
}

// True if output of some stream may be lost.
static _Bool proviso_lose_output(void) {
    _Bool lose = (proviso_is_closed(1) | proviso_is_closed(2)) && __proviso_env_bool();
    if (lose)
        __proviso_overapproximated("the buffer of a stream whose descriptor the program has closed is not modelled");
    return lose;
}
#define LOSE_OUTPUT proviso_lose_output()
#define LOST_OUTPUT(stream) proviso_lost_descriptor(stream, 1)
#define LOST_INPUT(stream) proviso_lost_input(stream)
#define HAS_LOST_DESCRIPTOR(stream) proviso_is_closed((stream)->file)
#else
#define LOSE_OUTPUT 0
#define LOST_OUTPUT(stream) 0
#define LOST_INPUT(stream) 0
#define HAS_LOST_DESCRIPTOR(stream) 0
#endif

// The position after operations whose number of bytes is not modelled.
#define PROVISO_SOMEWHERE (-2)

// True if the stream can be written to. Otherwise output does not fail. The destination is not modelled.
static _Bool proviso_is_output(struct proviso_stream *stream) {
    USE(stream);
    if (!stream->read_only) {
        SET_POSITION(stream, PROVISO_SOMEWHERE);
        SET_WRITTEN(stream);
        if (!LOST_OUTPUT(stream))
            return 1;
    }
    stream->error = 1;
    SET_ERRNO(EBADF);
    return 0;
}

static _Bool proviso_writes(struct proviso_stream *stream) {
    BYTES(stream);
    return proviso_is_output(stream);
}

// The environment returns no more data, or fails.
static void proviso_end_of_input(struct proviso_stream *stream) {
    _Bool error = __proviso_env_bool();
    stream->error |= error;
    stream->at_end |= !error;
    EXCLUDE_NOTHING(stream);
    SET_ERRNO_IF(error, proviso_env_error());
}
