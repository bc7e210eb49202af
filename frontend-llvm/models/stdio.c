// Defines: fopen fopen64 fdopen freopen tmpfile popen fclose pclose fflush fflush_unlocked fileno fileno_unlocked
// Defines: setvbuf setbuf setbuffer setlinebuf flockfile funlockfile
// Defines: fgetc getc _IO_getc getchar getc_unlocked getchar_unlocked fgetc_unlocked ungetc
// Defines: fgets fgets_unlocked gets getline getdelim __getdelim fread fread_unlocked
// Defines: fputc putc _IO_putc putchar putc_unlocked putchar_unlocked fputc_unlocked fputs puts fputs_unlocked
// Defines: fwrite fwrite_unlocked __fgets_chk __fread_chk feof feof_unlocked ferror ferror_unlocked clearerr
// Defines: clearerr_unlocked fseek fseeko fseeko64 ftell ftello ftello64 rewind fgetpos fgetpos64 fsetpos fsetpos64 remove
// Defines: rename tmpnam perror tmpfile64 freopen64 getw putw fmemopen open_memstream open_wmemstream __fpending
// Defines: __freading __freadable __fwritable __fread_unlocked_chk __fgets_unlocked_chk
#pragma once
#include "descriptors.c"
#include "stream.c"

// Opening and closing.

// The descriptor of a new stream, if the program can observe it. `flags` as in `open`.
static int proviso_stream_descriptor(int flags, _Bool may_seek) {
#ifdef PROVISO_DESCRIPTORS
    int file = proviso_new_descriptor(flags, may_seek);
    __proviso_assume(file >= 0);
    return file;
#else
    return -1;
#endif
}

// The position of a new stream. Streams for output start at the end in this mode. Where those for input and output start
// depends on the C library: at the start in glibc.
static long long proviso_first_position(char how, _Bool both) {
    return how != 'a' ? 0 : both ? PROVISO_SOMEWHERE : -1;
}

static struct proviso_stream proviso_new_stream(struct proviso_stream *stream, char how, _Bool both, _Bool may_seek, int file) {
    return (struct proviso_stream){.read_only = how == 'r' && !both,
                                   .write_only = how != 'r' && !both,
                                   .seekable = may_seek ? -1 : 0,
                                   .file = file,
                                   .position = proviso_first_position(how, both),
                                   ITSELF(stream)};
}

// A new stream, unless there is no such file. If it appends, the initial position is unknown.
static struct proviso_stream *proviso_open(char how, _Bool both, _Bool may_seek) {
    if (__proviso_env_bool()) {
        SET_ERRNO(proviso_env_error());
        return NULL;
    }
    int file = proviso_stream_descriptor((both ? 2 : how != 'r') | (how == 'a' ? PROVISO_APPENDS : 0), may_seek);
    proviso_share_with_stream(file);
    // Exhausted memory is one of the errors above.
    struct proviso_stream *stream = __proviso_make_stream(sizeof *stream);
    *stream = proviso_new_stream(stream, how, both, may_seek, file);
    return stream;
}

// `r`, `w` or `a`, and whether a `+` is among the next six characters, before a comma. 0 for an invalid mode.
static char proviso_mode(const char *mode, _Bool *both) {
    *both = 0;
    _Bool counts = 1;
    for (size_t n = 0; mode[n]; n++) {
        counts &= (n < 7) & (mode[n] != ',');
        *both |= counts & (mode[n] == '+');
    }
    if (*mode == 'r' || *mode == 'w' || *mode == 'a')
        return *mode;
    SET_ERRNO(EINVAL);
    return 0;
}

static struct proviso_stream *proviso_open_named(const char *name, const char *mode) {
    _Bool both;
    char how = proviso_mode(mode, &both);
    proviso_strlen(name);
    struct proviso_stream *stream = how ? proviso_open(how, both, 1) : NULL;
    // An empty path names no file. A branch on the path would take more time.
    __proviso_assume_optionally(!stream | (*name != 0));
    return stream;
}

struct proviso_stream *fopen(const char *path, const char *mode) { return proviso_open_named(path, mode); }

struct proviso_stream *fopen64(const char *path, const char *mode) { return proviso_open_named(path, mode); }

struct proviso_stream *fdopen(int file, const char *mode) {
    _Bool both, closed = proviso_is_closed(file);
    char how = proviso_mode(mode, &both);
    if (!how)
        return NULL;
    _Bool reads = how == 'r' || both, writes = how != 'r' || both;
    _Bool contradicts = (writes & proviso_is_one_way(file, PROVISO_READS)) | (reads & proviso_is_one_way(file, PROVISO_WRITES));
    if (__proviso_env_bool()) {
        SET_ERRNO(contradicts ? EINVAL : proviso_descriptor_error(closed));
        return NULL;
    }
    __proviso_assume(!closed & !contradicts);
    proviso_share_with_stream(file);
    struct proviso_stream *stream = __proviso_make_stream(sizeof *stream);
    *stream = proviso_new_stream(stream, how, both, 1, file);
    SET_POSITION(stream, -1);
    return stream;
}

// `r` or `w`, optionally with `e`.
struct proviso_stream *popen(const char *command, const char *mode) {
    _Bool reads = 0, writes = 0, other = 0;
    for (; *mode; mode++) {
        reads |= *mode == 'r';
        writes |= *mode == 'w';
        other |= *mode != 'r' && *mode != 'w' && *mode != 'e';
    }
    proviso_strlen(command);
    if (other || reads == writes) {
        SET_ERRNO(EINVAL);
        return NULL;
    }
    return proviso_open(reads ? 'r' : 'w', 0, 0);
}

static struct proviso_stream *proviso_temporary(void) {
    struct proviso_stream *stream = proviso_open('w', 1, 1);
    if (stream)
        stream->seekable = 1;
    return stream;
}

struct proviso_stream *tmpfile(void) { return proviso_temporary(); }

struct proviso_stream *tmpfile64(void) { return proviso_temporary(); }

// Streams in memory. Only the memory that they access is modelled.

struct proviso_stream *fmemopen(void *buffer, size_t size, const char *mode) {
    struct proviso_stream *stream = proviso_open_named(mode, mode);
    __proviso_unmodelled("streams of memory are not modelled");
    if (stream && buffer)
        GIVE_BUFFER(stream, buffer, size);
    return stream;
}

static struct proviso_stream *proviso_open_text(char **text, size_t *length, size_t unit) {
    struct proviso_stream *stream = proviso_open('w', 0, 0);
    __proviso_unmodelled("streams of memory are not modelled");
    if (stream) {
        *text = malloc(unit);
        *length = 0;
#ifdef PROVISO_BUFFERS
        stream->text = text;
        stream->length = length;
#endif
        GIVE_BUFFER(stream, *text, unit);
    }
    return stream;
}

struct proviso_stream *open_memstream(char **text, size_t *length) { return proviso_open_text(text, length, 1); }

struct proviso_stream *open_wmemstream(wchar_t **text, size_t *length) {
    return proviso_open_text((char **)text, length, sizeof(wchar_t));
}

// Returns false if the descriptor is closed already. A standard stream remains, but can neither be read nor written.
static _Bool proviso_close(struct proviso_stream *stream) {
    USE(stream);
    _Bool open = !proviso_is_shut(stream) && !HAS_LOST_DESCRIPTOR(stream);
    SET_ERRNO_IF(!open && !proviso_is_shut(stream), EBADF);
    stream->error = 0;
#ifdef PROVISO_DESCRIPTORS
    if (open)
        proviso_closed(stream->file);
#endif
    if (stream->standard) {
        stream->read_only = stream->write_only = stream->shut = 1;
        stream->at_end = 0;
        FORGET_PUSHED(stream);
        stream->file = -1;
    } else {
        __proviso_free_stream(stream);
    }
    return open;
}

static struct proviso_stream *proviso_reopen(const char *path, const char *mode, struct proviso_stream *stream) {
    _Bool both;
    char how = proviso_mode(mode, &both);
    int error = path ? proviso_path_error(path) : HAS_LOST_DESCRIPTOR(stream) ? EBADF : 0;
    if (!how || __proviso_env_bool()) {
        SET_ERRNO_IF(how, error ? error : proviso_env_error());
        proviso_close(stream);
        return NULL;
    }
    __proviso_assume_optionally(!error);
    USE(stream);
    stream->read_only = how == 'r' && !both;
    stream->write_only = how != 'r' && !both;
    stream->shut = stream->at_end = stream->error = 0;
    FORGET_PUSHED(stream);
    stream->seekable = -1;
    UNORIENTED(stream);
    EXCLUDE_NOTHING(stream);
#ifdef PROVISO_DESCRIPTORS
    stream->reads_ahead = 0;
    // The descriptor keeps its number, even if the program has closed it. A standard stream that was closed has none.
    if (stream->file < 0)
        stream->file = proviso_stream_descriptor(both ? 2 : how != 'r', 1);
    else
        proviso_is_open_again(stream->file);
    proviso_unknow(stream->file);
    proviso_share_with_stream(stream->file);
#endif
    SET_POSITION(stream, path ? proviso_first_position(how, both) : -1);
    return stream;
}

struct proviso_stream *freopen(const char *path, const char *mode, struct proviso_stream *stream) {
    return proviso_reopen(path, mode, stream);
}

struct proviso_stream *freopen64(const char *path, const char *mode, struct proviso_stream *stream) {
    return proviso_reopen(path, mode, stream);
}

int fclose(struct proviso_stream *stream) {
    if (!proviso_close(stream))
        return EOF;
    int result = proviso_env_between(EOF, 0);
    SET_ERRNO_IF(result < 0, proviso_env_error());
    return result;
}

int pclose(struct proviso_stream *stream) {
    proviso_close(stream);
    int result = proviso_env_between(-1, 0xffff);
    SET_ERRNO_IF(result < 0, proviso_env_error());
    return result;
}

static int proviso_fileno(struct proviso_stream *stream) {
    USE(stream);
    SET_ERRNO_IF(stream->file < 0, EBADF);
    proviso_share_with_stream(stream->file);
    return proviso_env_between(stream->file, stream->file);
}

int fileno(struct proviso_stream *stream) { return proviso_fileno(stream); }
int fileno_unlocked(struct proviso_stream *stream) { return proviso_fileno(stream); }

// Output does not fail.
static int proviso_flush(struct proviso_stream *stream) {
    if (stream)
        USE(stream);
    else
        USE_ALL();
    if (stream && PUSHED(stream) > 0) {
        __proviso_unmodelled("fflush of a stream with characters pushed back is not modelled");
        FORGET_PUSHED(stream);
    }
    if (stream ? proviso_is_shut(stream) || !LOST_OUTPUT(stream) : !LOSE_OUTPUT)
        return 0;
    if (stream)
        stream->error = 1;
    SET_ERRNO(EBADF);
    return EOF;
}

int fflush(struct proviso_stream *stream) { return proviso_flush(stream); }
int fflush_unlocked(struct proviso_stream *stream) { return proviso_flush(stream); }

// The content of a buffer that a stream uses is undefined, so the program's own data in it may change.
static int proviso_set_buffer(struct proviso_stream *stream, char *buffer, size_t size) {
    _Bool at_end = stream->at_end;
    (void)at_end;
    USE(stream);
    if (buffer) {
        GIVE_BUFFER(stream, buffer, size);
        __proviso_expose(buffer);
        __proviso_env_memory(buffer, size);
        __proviso_underapproximated("later writes of a stream to the buffer of setvbuf are not modelled");
    }
    return 0;
}

int setvbuf(struct proviso_stream *stream, char *buffer, int mode, size_t size) {
    // Fully buffered, line buffered, unbuffered.
    if (mode < 0 || mode > 2)
        return EOF;
    return proviso_set_buffer(stream, mode == 2 ? NULL : buffer, size);
}

void setbuf(struct proviso_stream *stream, char *buffer) { proviso_set_buffer(stream, buffer, 8192); }
void setbuffer(struct proviso_stream *stream, char *buffer, size_t size) { proviso_set_buffer(stream, buffer, size); }
void setlinebuf(struct proviso_stream *stream) { proviso_set_buffer(stream, NULL, 0); }

void flockfile(struct proviso_stream *stream) { proviso_set_buffer(stream, NULL, 0); }
void funlockfile(struct proviso_stream *stream) { proviso_set_buffer(stream, NULL, 0); }

// Input.

// The largest position is the end of the largest file.
static void proviso_move(struct proviso_stream *stream, size_t bytes) {
#ifdef PROVISO_POSITIONS
    if (stream->position >= 0) {
        __proviso_assume(stream->position <= LLONG_MAX - (long long)bytes);
        stream->position += bytes;
    }
#endif
}

// If the program waits for input, buffered output may be written first.
static int proviso_next_byte(struct proviso_stream *stream) {
    USE(stream);
    USE_ALL();
    if (PUSHED(stream) > 0) {
        stream->pushed_count--;
        return stream->pushed[stream->pushed_count];
    }
    if (stream->at_end)
        return EOF;
    if (stream->write_only || LOST_INPUT(stream)) {
        stream->error = 1;
        SET_ERRNO(EBADF);
        return EOF;
    }
    READ_BACK(stream);
    int c = proviso_env_between(EOF, 255);
    if (c == EOF) {
        proviso_end_of_input(stream);
    } else {
        FOLLOWS_IF(1, stream, c);
        proviso_move(stream, 1);
    }
    return c;
}

static int proviso_get(struct proviso_stream *stream) {
    BYTES(stream);
    return proviso_next_byte(stream);
}

int fgetc(struct proviso_stream *stream) { return proviso_get(stream); }
int getc(struct proviso_stream *stream) { return proviso_get(stream); }
int _IO_getc(struct proviso_stream *stream) { return proviso_get(stream); }
int getc_unlocked(struct proviso_stream *stream) { return proviso_get(stream); }
int fgetc_unlocked(struct proviso_stream *stream) { return proviso_get(stream); }
int getchar(void) { return proviso_get(stdin); }
int getchar_unlocked(void) { return proviso_get(stdin); }

int ungetc(int c, struct proviso_stream *stream) {
    if (c == EOF)
        return EOF;
    USE(stream);
    stream->at_end = 0;
    if (stream->pushed_count == sizeof stream->pushed) {
        __proviso_unmodelled("ungetc pushes back more characters than are modelled");
        // From here on, any characters may be next.
        for (size_t n = 0; n < sizeof stream->pushed; n++)
            stream->pushed[n] = proviso_env_between(0, 255);
        EXCLUDE_NOTHING(stream);
        SET_POSITION(stream, -1);
        return __proviso_env_bool() ? (unsigned char)c : EOF;
    }
    stream->pushed[stream->pushed_count] = c;
    stream->pushed_count++;
    return (unsigned char)c;
}

// A line of at most `size` bytes including the final null. An earlier error does not matter.
static char *proviso_get_line(char *buffer, size_t size, struct proviso_stream *stream, _Bool keep_newline) {
    USE(stream);
    _Bool error_before = stream->error;
    stream->error = 0;
    size_t n = 0;
    int c = 0;
    while (size && n < size - 1 && c != '\n') {
        c = proviso_get(stream);
        if (c == EOF)
            break;
        if (c != '\n' || keep_newline) {
            buffer[n] = c;
            n++;
        }
    }
    _Bool none = c == EOF && (n == 0 || stream->error);
    stream->error |= error_before;
    if (none)
        return NULL;
    buffer[n] = 0;
    return buffer;
}

static char *proviso_fgets(char *buffer, int size, struct proviso_stream *stream) {
    return size <= 0 ? NULL : proviso_get_line(buffer, size, stream, 1);
}

char *fgets(char *buffer, int size, struct proviso_stream *stream) { return proviso_fgets(buffer, size, stream); }

char *fgets_unlocked(char *buffer, int size, struct proviso_stream *stream) {
    return proviso_fgets(buffer, size, stream);
}

char *__fgets_chk(char *buffer, size_t object_size, int size, struct proviso_stream *stream) {
    if (size > 0 && (size_t)size > object_size)
        __proviso_abort();
    return proviso_fgets(buffer, size, stream);
}

char *__fgets_unlocked_chk(char *buffer, size_t object_size, int size, struct proviso_stream *stream) {
    if (size > 0 && (size_t)size > object_size)
        __proviso_abort();
    return proviso_fgets(buffer, size, stream);
}

char *gets(char *buffer) { return proviso_get_line(buffer, SIZE_MAX, stdin, 0); }

// The library (glibc 2.36) allocates room for the data of a read from the stream, and then at least doubles it. The allocated size may
// therefore be the exact size of the line, or of a prefix, doubled several times. The size is chosen before the line is read (if it is at most
// the old size, the buffer does not grow), and assumed to be consistent with the line afterwards: no object is allocated and freed in a loop.
#define PROVISO_LINE 120

// Replaces `old`, or allocates the first buffer if it is null: at one place, so that the analyses relate its size to `*size`.
static _Bool proviso_grow(char **line, size_t *size, size_t room, char *old) {
    char *new = malloc(room);
    if (!new) {
        if (!old) {
            *size = PROVISO_LINE;
            *line = room == PROVISO_LINE ? NULL : malloc(PROVISO_LINE);
        }
        return 0;
    }
    free(old);
    *line = new;
    *size = room;
    return 1;
}

static _Bool proviso_may_grow(size_t before, size_t room, size_t length) {
    return room == length + 1 || (room % 2 == 0 && room / 2 <= length && (room / 2 == before || room / 4 >= before));
}

static ssize_t proviso_getdelim(char **line, size_t *size, int delimiter, struct proviso_stream *stream) {
    if (!line || !size) {
        SET_ERRNO(EINVAL);
        return -1;
    }
    USE(stream);
    _Bool error_before = stream->error;
    stream->error = 0;
    size_t n = 0, before = PROVISO_LINE, room = __proviso_env_size();
    char *old = NULL;
    int c;
    if (*line && *size) {
        before = *size;
        if (room <= before)
            goto reads;
        old = *line;
    }
    if (room > before)
        __proviso_assume(room / 2 >= before && room <= PTRDIFF_MAX);
    if (!proviso_grow(line, size, room > before ? room : before, old))
        return -1;
reads:
    do {
        c = proviso_get(stream);
        if (c == EOF)
            break;
        __proviso_assume(n + 2 <= *size);
        (*line)[n] = c;
        n++;
    } while (c != delimiter);
    if (room > before)
        __proviso_assume(proviso_may_grow(before, room, n));
    _Bool none = c == EOF && (n == 0 || stream->error);
    stream->error |= error_before;
    if (none)
        return -1;
    (*line)[n] = 0;
    // The line is not empty, and no object is larger. This is for the analyses.
    __proviso_assume(n > 0 && n < PTRDIFF_MAX);
    return n;
}

ssize_t getdelim(char **line, size_t *size, int delimiter, struct proviso_stream *stream) {
    return proviso_getdelim(line, size, delimiter, stream);
}

ssize_t __getdelim(char **line, size_t *size, int delimiter, struct proviso_stream *stream) {
    return proviso_getdelim(line, size, delimiter, stream);
}

ssize_t getline(char **line, size_t *size, struct proviso_stream *stream) {
    return proviso_getdelim(line, size, '\n', stream);
}

static size_t proviso_fread(void *buffer, size_t size, size_t count, struct proviso_stream *stream) {
    size_t total = size * count, n = 0;
    if (total == 0)
        return 0;
    USE(stream);
    USE_ALL();
    BYTES(stream);
    for (; n < total && PUSHED(stream) > 0; n++)
        ((unsigned char *)buffer)[n] = proviso_get(stream);
    if (n < total && !stream->at_end && (stream->write_only || LOST_INPUT(stream))) {
        stream->error = 1;
        SET_ERRNO(EBADF);
    } else if (n < total && !stream->at_end) {
        READ_BACK(stream);
        size_t more = __proviso_env_size();
        __proviso_assume(more <= total - n);
        __proviso_env_memory((char *)buffer + n, more);
        FOLLOWS_IF(more > 0, stream, ((char *)buffer)[n]);
        proviso_move(stream, more);
        n += more;
        if (n < total)
            proviso_end_of_input(stream);
    }
    return n == total ? count : n / size;
}

size_t fread(void *buffer, size_t size, size_t count, struct proviso_stream *stream) {
    return proviso_fread(buffer, size, count, stream);
}

size_t fread_unlocked(void *buffer, size_t size, size_t count, struct proviso_stream *stream) {
    return proviso_fread(buffer, size, count, stream);
}

size_t __fread_chk(void *buffer, size_t object_size, size_t size, size_t count, struct proviso_stream *stream) {
    if (size * count > object_size)
        __proviso_abort();
    return proviso_fread(buffer, size, count, stream);
}

size_t __fread_unlocked_chk(void *buffer, size_t object_size, size_t size, size_t count, struct proviso_stream *stream) {
    if (size * count > object_size)
        __proviso_abort();
    return proviso_fread(buffer, size, count, stream);
}

int getw(struct proviso_stream *stream) {
    int value;
    return proviso_fread(&value, sizeof value, 1, stream) ? value : EOF;
}

// Output, which has no effect.

static int proviso_put_to(int c, struct proviso_stream *stream) {
    return proviso_writes(stream) ? (unsigned char)c : EOF;
}

int fputc(int c, struct proviso_stream *stream) { return proviso_put_to(c, stream); }
int putc(int c, struct proviso_stream *stream) { return proviso_put_to(c, stream); }
int _IO_putc(int c, struct proviso_stream *stream) { return proviso_put_to(c, stream); }
int putc_unlocked(int c, struct proviso_stream *stream) { return proviso_put_to(c, stream); }
int fputc_unlocked(int c, struct proviso_stream *stream) { return proviso_put_to(c, stream); }
int putchar(int c) { return proviso_put_to(c, stdout); }
int putchar_unlocked(int c) { return proviso_put_to(c, stdout); }

static int proviso_fputs(const char *s, struct proviso_stream *stream) {
    size_t length = proviso_strlen(s);
    return proviso_writes(stream) || length == 0 ? 1 : EOF;
}

int fputs(const char *s, struct proviso_stream *stream) { return proviso_fputs(s, stream); }
int fputs_unlocked(const char *s, struct proviso_stream *stream) { return proviso_fputs(s, stream); }

int puts(const char *s) {
    size_t length = proviso_strlen(s);
    return proviso_writes(stdout) ? length + 1 : EOF;
}

static size_t proviso_fwrite(const void *data, size_t size, size_t count, struct proviso_stream *stream) {
    size_t total = size * count;
    proviso_put_out(data, total);
    return total > 0 && proviso_writes(stream) ? count : 0;
}

size_t fwrite(const void *data, size_t size, size_t count, struct proviso_stream *stream) {
    return proviso_fwrite(data, size, count, stream);
}

size_t fwrite_unlocked(const void *data, size_t size, size_t count, struct proviso_stream *stream) {
    return proviso_fwrite(data, size, count, stream);
}

int putw(int value, struct proviso_stream *stream) { return proviso_writes(stream) ? 0 : EOF; }

// It may open a stream of its own, which may fail.
void perror(const char *s) {
    if (s)
        proviso_strlen(s);
    SET_ERRNO_IF(__proviso_env_bool(), proviso_env_error());
}

// State and position.

static _Bool proviso_is_at_end(struct proviso_stream *stream) {
    USE(stream);
    return stream->at_end;
}

static _Bool proviso_has_failed(struct proviso_stream *stream) {
    USE(stream);
    return stream->error;
}

static void proviso_clear(struct proviso_stream *stream) {
    USE(stream);
    stream->at_end = stream->error = 0;
}

int feof(struct proviso_stream *stream) { return proviso_is_at_end(stream); }
int feof_unlocked(struct proviso_stream *stream) { return proviso_is_at_end(stream); }

int ferror(struct proviso_stream *stream) { return proviso_has_failed(stream); }
int ferror_unlocked(struct proviso_stream *stream) { return proviso_has_failed(stream); }

// stdio_ext.h. Streams have no buffers, so the results that depend on them are unknown.

static _Bool proviso_may_be(_Bool is_known, _Bool value) {
    if (is_known)
        return value;
    __proviso_overapproximated("the buffer of a stream is not modelled");
    return __proviso_env_bool() ^ (OPERATIONS & 1);
}

size_t __fpending(struct proviso_stream *stream) {
    USE(stream);
    size_t pending = 0;
    if (!stream->read_only) {
        __proviso_overapproximated("the buffer of a stream is not modelled");
        // Any number; it depends on all earlier operations.
        pending = __proviso_env_size();
        __proviso_assume(pending <= (size_t)PTRDIFF_MAX - OPERATIONS);
    }
    return pending;
}

int __freading(struct proviso_stream *stream) {
    USE(stream);
    return proviso_may_be(stream->read_only && !stream->write_only, 1);
}

int __freadable(struct proviso_stream *stream) {
    USE(stream);
    return proviso_may_be(!stream->read_only || !stream->write_only, !stream->write_only);
}

int __fwritable(struct proviso_stream *stream) {
    USE(stream);
    return proviso_may_be(!stream->read_only || !stream->write_only, !stream->read_only);
}

void clearerr(struct proviso_stream *stream) { proviso_clear(stream); }
void clearerr_unlocked(struct proviso_stream *stream) { proviso_clear(stream); }

// True if the stream has positions, as a file does and a pipe does not.
static _Bool proviso_seekable(struct proviso_stream *stream) {
    USE(stream);
    if (stream->seekable < 0)
        stream->seekable = __proviso_env_bool();
    if (proviso_is_shut(stream))
        stream->seekable = 0;
    SET_ERRNO_IF(!stream->seekable, proviso_is_shut(stream) ? EBADF : ESPIPE);
    return stream->seekable;
}

static long long proviso_position(struct proviso_stream *stream) {
    if (proviso_has_forked) {
        __proviso_overapproximated("the positions of streams after fork are not modelled");
        stream->position = -1;
    }
    if (stream->position < 0) {
        if (stream->position == PROVISO_SOMEWHERE)
            __proviso_overapproximated("the position of a stream after output or formatted input, or in mode a+, is not modelled exactly");
        stream->position = __proviso_env_longlong();
        __proviso_assume(stream->position >= 0);
    }
    return stream->position;
}

static long long proviso_tell(struct proviso_stream *stream, long long max) {
    if (!proviso_seekable(stream))
        return -1;
    long long position = proviso_position(stream);
    __proviso_assume(position <= max);
    if (position >= PUSHED(stream))
        return position - PUSHED(stream);
    __proviso_overapproximated("the position of characters pushed back at the start is not modelled exactly");
    if (__proviso_env_bool())
        return 0;
    SET_ERRNO_IF(__proviso_env_bool(), __proviso_env_bool() ? EINVAL : EIO);
    return -1;
}

// From the start, from the current position, from the end.
static int proviso_seek(struct proviso_stream *stream, long long offset, int whence) {
    if (whence < 0 || whence > 2) {
        SET_ERRNO(EINVAL);
        return -1;
    }
    if (!proviso_seekable(stream))
        return -1;
    _Bool impossible;
    long long target;
    if (whence < 2) {
        long long base = whence == 0 ? 0 : proviso_position(stream) - PUSHED(stream);
        impossible = __builtin_add_overflow(base, offset, &target) || target < 0;
    } else {
        target = __proviso_env_longlong();
        __proviso_assume(target >= offset && target >= 0);
        impossible = offset < 0 && __proviso_env_bool();
    }
    if (impossible) {
        SET_ERRNO(EINVAL);
        return -1;
    }
    SET_POSITION(stream, target);
    EXCLUDE_NOTHING(stream);
    stream->at_end = 0;
    FORGET_PUSHED(stream);
    return 0;
}

int fseek(struct proviso_stream *stream, long offset, int whence) { return proviso_seek(stream, offset, whence); }

int fseeko(struct proviso_stream *stream, long offset, int whence) { return proviso_seek(stream, offset, whence); }

int fseeko64(struct proviso_stream *stream, long long offset, int whence) {
    return proviso_seek(stream, offset, whence);
}

long ftell(struct proviso_stream *stream) { return proviso_tell(stream, LONG_MAX); }

long ftello(struct proviso_stream *stream) { return proviso_tell(stream, LONG_MAX); }

long long ftello64(struct proviso_stream *stream) { return proviso_tell(stream, LLONG_MAX); }

void rewind(struct proviso_stream *stream) {
    proviso_seek(stream, 0, 0);
    stream->at_end = stream->error = 0;
}

// A position. The conversion state after it is for wide characters of other locales, and is not changed.

int fgetpos(struct proviso_stream *stream, long *position) {
    long long at = proviso_tell(stream, LONG_MAX);
    if (at < 0)
        return -1;
    *position = at;
    return 0;
}

int fgetpos64(struct proviso_stream *stream, long long *position) {
    long long at = proviso_tell(stream, LLONG_MAX);
    if (at < 0)
        return -1;
    *position = at;
    return 0;
}

int fsetpos(struct proviso_stream *stream, const long *position) { return proviso_seek(stream, *position, 0); }

int fsetpos64(struct proviso_stream *stream, const long long *position) { return proviso_seek(stream, *position, 0); }

// Files.

static int proviso_file_outcome(int error) {
    int result = proviso_env_between(-1, 0);
    __proviso_assume_optionally((result < 0) | !error);
    SET_ERRNO_IF(result < 0, error ? error : proviso_env_error());
    return result;
}

int remove(const char *path) { return proviso_file_outcome(proviso_path_error(path)); }

int rename(const char *from, const char *to) {
    int error = proviso_path_error(from), other = proviso_path_error(to);
    return proviso_file_outcome(error ? error : other);
}

// Writes six letters and digits.
static void proviso_some_letters(char *text) {
    for (int i = 0; i < 6; i++) {
        char c = __proviso_env_char();
        __proviso_assume(((c >= 'a') & (c <= 'z')) | ((c >= 'A') & (c <= 'Z')) | ((c >= '0') & (c <= '9')));
        text[i] = c;
    }
}

// A different name for each call.
char *tmpnam(char *buffer) {
    enum { KEPT = 4 };
    static char name[20], kept[KEPT][6];
    static int count;
    char *result = buffer ? buffer : name;
    if (__proviso_env_bool())
        return NULL;
    __builtin_memcpy(result, "/tmp/file", 9);
    proviso_some_letters(result + 9);
    result[15] = 0;
    for (int i = 0; i < count; i++) {
        _Bool same = 1;
        for (int n = 0; n < 6; n++)
            same &= kept[i][n] == result[9 + n];
        __proviso_assume(!same);
    }
    if (count == KEPT) {
        __proviso_overapproximated("tmpnam creates more names than are modelled as different");
    } else {
        __builtin_memcpy(kept[count], result + 9, 6);
        count++;
    }
    return result;
}
