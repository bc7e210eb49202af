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
};

#define STANDARD(number) {.standard = 1, .seekable = -1, .file = number, .position = -1}
static struct proviso_stream proviso_stdin = STANDARD(0);
static struct proviso_stream proviso_stdout = STANDARD(1);
static struct proviso_stream proviso_stderr = STANDARD(2);
struct proviso_stream *stdin = &proviso_stdin;
struct proviso_stream *stdout = &proviso_stdout;
struct proviso_stream *stderr = &proviso_stderr;

// Whether the stream is one to write to. Output does not fail otherwise; where it ends is not followed.
static _Bool proviso_writes(struct proviso_stream *stream) {
    stream->position = -1;
    if (!stream->read_only)
        return 1;
    stream->error = 1;
    SET_ERRNO(EBADF);
    return 0;
}

// The environment gives no more, or fails.
static void proviso_end_of_input(struct proviso_stream *stream) {
    _Bool error = __proviso_env_bool();
    stream->error |= error;
    stream->at_end |= !error;
    SET_ERRNO_IF(error, proviso_env_error());
}
