// Defines: fopen fopen64 fdopen freopen tmpfile popen fclose pclose fflush fileno setvbuf setbuf
// Defines: fgetc getc _IO_getc getchar getc_unlocked getchar_unlocked fgetc_unlocked ungetc
// Defines: fgets gets getline getdelim __getdelim fread
// Defines: fputc putc _IO_putc putchar putc_unlocked putchar_unlocked fputc_unlocked fputs puts fputs_unlocked fwrite
// Defines: __fgets_chk __fread_chk
// Defines: feof ferror clearerr fseek fseeko fseeko64 ftell ftello ftello64 rewind remove rename tmpnam perror
#pragma once
#include "stream.c"

// Opening and closing.

static struct proviso_stream *proviso_open(void) {
    if (__proviso_env_bool()) {
        SET_ERRNO(proviso_env_between(1, 133));
        return NULL;
    }
    struct proviso_stream *stream = __proviso_alloc(sizeof *stream);
    *stream = (struct proviso_stream){.pushed = EOF};
    return stream;
}

static struct proviso_stream *proviso_open_named(const char *name, const char *mode) {
    proviso_strlen(name);
    proviso_strlen(mode);
    return proviso_open();
}

struct proviso_stream *fopen(const char *path, const char *mode) { return proviso_open_named(path, mode); }

struct proviso_stream *fopen64(const char *path, const char *mode) { return proviso_open_named(path, mode); }

struct proviso_stream *popen(const char *command, const char *mode) { return proviso_open_named(command, mode); }

struct proviso_stream *fdopen(int file, const char *mode) { return proviso_open_named(mode, mode); }

struct proviso_stream *tmpfile(void) { return proviso_open(); }

static void proviso_close(struct proviso_stream *stream) {
    stream->error = 0;
    if (!stream->standard)
        __proviso_free(stream);
}

struct proviso_stream *freopen(const char *path, const char *mode, struct proviso_stream *stream) {
    if (path)
        proviso_strlen(path);
    proviso_strlen(mode);
    if (__proviso_env_bool()) {
        SET_ERRNO(proviso_env_between(1, 133));
        proviso_close(stream);
        return NULL;
    }
    stream->at_end = stream->error = 0;
    stream->pushed = EOF;
    return stream;
}

int fclose(struct proviso_stream *stream) {
    proviso_close(stream);
    return proviso_env_between(EOF, 0);
}

int pclose(struct proviso_stream *stream) {
    proviso_close(stream);
    return proviso_env_between(-1, 0xffff);
}

int fileno(struct proviso_stream *stream) {
    if (stream == &proviso_stdin)
        return 0;
    if (stream == &proviso_stdout)
        return 1;
    if (stream == &proviso_stderr)
        return 2;
    proviso_use(stream);
    return proviso_env_between(3, INT_MAX);
}

// Output does not fail.
int fflush(struct proviso_stream *stream) {
    if (stream)
        proviso_use(stream);
    return 0;
}

static int proviso_set_buffer(struct proviso_stream *stream, char *buffer) {
    proviso_use(stream);
    if (buffer)
        __proviso_unmodelled("a buffer given to a stream is not modelled");
    return 0;
}

int setvbuf(struct proviso_stream *stream, char *buffer, int mode, size_t size) {
    return proviso_set_buffer(stream, buffer);
}

void setbuf(struct proviso_stream *stream, char *buffer) { proviso_set_buffer(stream, buffer); }

// Input.

static int proviso_get(struct proviso_stream *stream) {
    if (stream->pushed != EOF) {
        int c = stream->pushed;
        stream->pushed = EOF;
        return c;
    }
    if (stream->at_end)
        return EOF;
    int c = proviso_env_between(EOF, 255);
    if (c == EOF) {
        _Bool error = __proviso_env_bool();
        stream->error |= error;
        stream->at_end = !error;
    }
    return c;
}

int fgetc(struct proviso_stream *stream) { return proviso_get(stream); }
int getc(struct proviso_stream *stream) { return proviso_get(stream); }
int _IO_getc(struct proviso_stream *stream) { return proviso_get(stream); }
int getc_unlocked(struct proviso_stream *stream) { return proviso_get(stream); }
int fgetc_unlocked(struct proviso_stream *stream) { return proviso_get(stream); }
int getchar(void) { return proviso_get(stdin); }
int getchar_unlocked(void) { return proviso_get(stdin); }

int ungetc(int c, struct proviso_stream *stream) {
    if (c == EOF || stream->pushed != EOF)
        return EOF;
    stream->pushed = (unsigned char)c;
    stream->at_end = 0;
    return stream->pushed;
}

// A line of at most `size` bytes with the final null.
static char *proviso_get_line(char *buffer, size_t size, struct proviso_stream *stream, _Bool keep_newline) {
    size_t n = 0;
    while (n + 1 < size) {
        int c = proviso_get(stream);
        if (c == EOF) {
            if (n == 0 || stream->error)
                return NULL;
            break;
        }
        if (c == '\n' && !keep_newline)
            break;
        buffer[n] = c;
        n++;
        if (c == '\n')
            break;
    }
    buffer[n] = 0;
    return buffer;
}

char *fgets(char *buffer, int size, struct proviso_stream *stream) {
    return size <= 0 ? NULL : proviso_get_line(buffer, size, stream, 1);
}

char *__fgets_chk(char *buffer, size_t object_size, int size, struct proviso_stream *stream) {
    if (size > 0 && (size_t)size > object_size)
        __proviso_abort();
    return size <= 0 ? NULL : proviso_get_line(buffer, size, stream, 1);
}

char *gets(char *buffer) { return proviso_get_line(buffer, SIZE_MAX, stdin, 0); }

static ssize_t proviso_getdelim(char **line, size_t *size, int delimiter, struct proviso_stream *stream) {
    size_t n = 0;
    for (;;) {
        int c = proviso_get(stream);
        if (c == EOF && (n == 0 || stream->error))
            return -1;
        if (!*line || n + 2 > *size) {
            size_t grown = n ? 2 * *size : 120;
            char *new = malloc(grown);
            if (!new)
                return -1;
            if (n)
                __builtin_memcpy(new, *line, n);
            free(*line);
            *line = new;
            *size = grown;
        }
        if (c != EOF) {
            (*line)[n] = c;
            n++;
        }
        (*line)[n] = 0;
        if (c == EOF || c == delimiter)
            return n;
    }
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
    size_t total = size * count;
    if (total == 0 || (stream->at_end && stream->pushed == EOF))
        return 0;
    size_t n = __proviso_env_size();
    __proviso_assume(n <= total);
    __proviso_env_memory(buffer, n);
    if (n > 0)
        stream->pushed = EOF;
    _Bool error = __proviso_env_bool();
    stream->error |= (n < total) & error;
    stream->at_end |= (n < total) & !error;
    return n / size;
}

size_t fread(void *buffer, size_t size, size_t count, struct proviso_stream *stream) {
    return proviso_fread(buffer, size, count, stream);
}

size_t __fread_chk(void *buffer, size_t object_size, size_t size, size_t count, struct proviso_stream *stream) {
    if (size * count > object_size)
        __proviso_abort();
    return proviso_fread(buffer, size, count, stream);
}

// Output, which goes nowhere.

static int proviso_put_to(int c, struct proviso_stream *stream) {
    proviso_use(stream);
    return (unsigned char)c;
}

int fputc(int c, struct proviso_stream *stream) { return proviso_put_to(c, stream); }
int putc(int c, struct proviso_stream *stream) { return proviso_put_to(c, stream); }
int _IO_putc(int c, struct proviso_stream *stream) { return proviso_put_to(c, stream); }
int putc_unlocked(int c, struct proviso_stream *stream) { return proviso_put_to(c, stream); }
int fputc_unlocked(int c, struct proviso_stream *stream) { return proviso_put_to(c, stream); }
int putchar(int c) { return (unsigned char)c; }
int putchar_unlocked(int c) { return (unsigned char)c; }

int puts(const char *s) { return proviso_strlen(s) + 1; }

static int proviso_fputs(const char *s, struct proviso_stream *stream) {
    proviso_strlen(s);
    proviso_use(stream);
    return 1;
}

int fputs(const char *s, struct proviso_stream *stream) { return proviso_fputs(s, stream); }
int fputs_unlocked(const char *s, struct proviso_stream *stream) { return proviso_fputs(s, stream); }

size_t fwrite(const void *data, size_t size, size_t count, struct proviso_stream *stream) {
    proviso_read(data, size * count);
    proviso_use(stream);
    return size ? count : 0;
}

void perror(const char *s) {
    if (s)
        proviso_strlen(s);
}

// State and position.

int feof(struct proviso_stream *stream) { return stream->at_end; }

int ferror(struct proviso_stream *stream) { return stream->error; }

void clearerr(struct proviso_stream *stream) { stream->at_end = stream->error = 0; }

static int proviso_seek(struct proviso_stream *stream) {
    int result = proviso_env_between(-1, 0);
    if (result == 0) {
        stream->at_end = 0;
        stream->pushed = EOF;
    }
    return result;
}

int fseek(struct proviso_stream *stream, long offset, int whence) { return proviso_seek(stream); }

int fseeko(struct proviso_stream *stream, long offset, int whence) { return proviso_seek(stream); }

int fseeko64(struct proviso_stream *stream, long long offset, int whence) { return proviso_seek(stream); }

static long proviso_tell(struct proviso_stream *stream) {
    proviso_use(stream);
    long position = __proviso_env_long();
    __proviso_assume(position >= -1);
    return position;
}

long ftell(struct proviso_stream *stream) { return proviso_tell(stream); }

long ftello(struct proviso_stream *stream) { return proviso_tell(stream); }

long long ftello64(struct proviso_stream *stream) { return proviso_tell(stream); }

void rewind(struct proviso_stream *stream) {
    proviso_seek(stream);
    stream->error = 0;
}

// Files.

int remove(const char *path) {
    proviso_strlen(path);
    return proviso_env_between(-1, 0);
}

int rename(const char *from, const char *to) {
    proviso_strlen(from);
    proviso_strlen(to);
    return proviso_env_between(-1, 0);
}

char *tmpnam(char *buffer) {
    static char name[20];
    char *result = buffer ? buffer : name;
    if (__proviso_env_bool())
        return NULL;
    __proviso_env_memory(result, sizeof name - 1);
    result[sizeof name - 1] = 0;
    return result;
}
