// Defines: stdin stdout stderr
#pragma once
#include "proviso.h"

// Streams. What is read is of the environment, whatever was written before.

struct proviso_stream {
    _Bool at_end, error, standard;
    // A character that was pushed back, or EOF.
    int pushed;
};

static struct proviso_stream proviso_stdin = {.standard = 1, .pushed = EOF};
static struct proviso_stream proviso_stdout = {.standard = 1, .pushed = EOF};
static struct proviso_stream proviso_stderr = {.standard = 1, .pushed = EOF};
struct proviso_stream *stdin = &proviso_stdin;
struct proviso_stream *stdout = &proviso_stdout;
struct proviso_stream *stderr = &proviso_stderr;

// A stream that was closed is freed memory.
static void proviso_use(struct proviso_stream *stream) {
    _Bool at_end = stream->at_end;
    (void)at_end;
}
