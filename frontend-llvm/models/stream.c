// Defines: stdin stdout stderr
#pragma once
#include "proviso.h"

// Streams. What is read is of the environment, whatever was written before.

struct proviso_stream {
    _Bool at_end, error, standard, read_only, write_only;
    // Whether it has positions; the position, not counting what was pushed back; the descriptor. -1 while that is
    // not known.
    int seekable, file;
    long long position;
    // Characters that were pushed back; the last is read first.
    int pushed_count;
    unsigned char pushed[8];
#ifdef PROVISO_WIDE
    // -1 for bytes, 1 for wide characters, 0 while it is open which.
    int orientation;
#endif
#ifdef PROVISO_ARGUMENTS
    // Itself, which tells it from other memory.
    struct proviso_stream *self;
#endif
};

#ifdef PROVISO_ARGUMENTS
#define ITSELF(stream) .self = stream,
#define USE(stream) __proviso_require(stream->self == stream, "what is given as a stream is none")
#else
#define ITSELF(stream)
#define USE(stream) ((void)0)
#endif

#define STANDARD(number, way, stream)                                                                                \
    {.standard = 1, .way = 1, .seekable = -1, .file = number, .position = -1, ITSELF(stream)}
static struct proviso_stream proviso_stdin = STANDARD(0, read_only, &proviso_stdin);
static struct proviso_stream proviso_stdout = STANDARD(1, write_only, &proviso_stdout);
static struct proviso_stream proviso_stderr = STANDARD(2, write_only, &proviso_stderr);
struct proviso_stream *stdin = &proviso_stdin;
struct proviso_stream *stdout = &proviso_stdout;
struct proviso_stream *stderr = &proviso_stderr;

// Bytes and wide characters on one stream are undefined. Where the program has functions for wide ones, streams know what they carry.
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

// Whether the stream is one to write to. Output does not fail otherwise; where it ends is not followed.
static _Bool proviso_is_output(struct proviso_stream *stream) {
    USE(stream);
    stream->position = -1;
    if (!stream->read_only)
        return 1;
    stream->error = 1;
    SET_ERRNO(EBADF);
    return 0;
}

static _Bool proviso_writes(struct proviso_stream *stream) {
    BYTES(stream);
    return proviso_is_output(stream);
}

// The environment gives no more, or fails.
static void proviso_end_of_input(struct proviso_stream *stream) {
    _Bool error = __proviso_env_bool();
    stream->error |= error;
    stream->at_end |= !error;
    SET_ERRNO_IF(error, proviso_env_error());
}
