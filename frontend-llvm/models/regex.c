// Defines: regcomp regexec regerror regfree re_syntax_options re_set_syntax re_compile_pattern re_compile_fastmap
// Defines: re_search re_search_2 re_match re_match_2 re_set_registers
#pragma once
#include "unistd.c"

// regex.h: the functions of POSIX and of GNU. The models do not compute whether a pattern matches.

// The library allocates the buffer and its content. A second compilation reuses the buffer, and its old content is lost.
struct proviso_compiled {
    char *content;
};
struct proviso_regex {
    struct proviso_compiled *buffer;
    unsigned long allocated, used, syntax;
    char *fastmap;
    unsigned char *translate;
    size_t groups;
    unsigned can_be_null : 1;
    enum { PROVISO_UNALLOCATED, PROVISO_REALLOCATE, PROVISO_FIXED } registers : 2;
    unsigned fastmap_accurate : 1;
    unsigned no_sub : 1;
    unsigned not_bol : 1;
    unsigned not_eol : 1;
    unsigned newline_anchor : 1;
};
enum { REG_NEWLINE = 4, REG_NOSUB = 8, PROVISO_FASTMAP = 256 };
// The error numbers of `regcomp`.
enum { PROVISO_NO_MATCH = 1, PROVISO_BAD_PATTERN, PROVISO_NO_SPACE = 12, PROVISO_LAST_REGEX_ERROR = 16 };

static void proviso_use_regex(const struct proviso_regex *expression) { (void)*(volatile char *)expression->buffer->content; }

#define REGEX_IS_APPROXIMATED __proviso_overapproximated("regular expressions are not modelled exactly")

// Returns the error, or 0. If it fails, there is no buffer.
static int proviso_compile(struct proviso_regex *expression, const char *pattern, size_t length, unsigned long syntax) {
    REGEX_IS_APPROXIMATED;
    proviso_put_out(pattern, length);
    if (expression->translate)
        proviso_put_out(expression->translate, 256);
    int result = proviso_env_between(0, PROVISO_LAST_REGEX_ERROR);
    __proviso_assume(result != PROVISO_NO_MATCH);
    SET_ERRNO_IF(result == PROVISO_NO_SPACE && __proviso_env_bool(), ENOMEM);
    expression->fastmap_accurate = 0;
    expression->syntax = syntax;
    expression->not_bol = expression->not_eol = 0;
    expression->can_be_null = __proviso_env_bool();
    expression->registers = PROVISO_UNALLOCATED;
    expression->groups = __proviso_env_size();
    __proviso_assume(expression->groups <= length);
    if (expression->allocated == 0) {
        if (expression->buffer)
            __proviso_free_regex(expression->buffer);
        // Exhausted memory is one of the results.
        expression->buffer = __proviso_make_regex(sizeof *expression->buffer);
        expression->allocated = __proviso_env_size();
        __proviso_assume(expression->allocated > 0);
    }
    expression->used = __proviso_env_size();
    __proviso_assume(expression->used <= expression->allocated);
    if (result) {
        __proviso_free_regex(expression->buffer);
        expression->buffer = NULL;
        expression->allocated = 0;
    } else {
        // As above.
        expression->buffer->content = __proviso_make_regex(1);
    }
    return result;
}

static void proviso_compile_fastmap(struct proviso_regex *expression) {
    REGEX_IS_APPROXIMATED;
    __proviso_env_memory(expression->fastmap, PROVISO_FASTMAP);
    expression->can_be_null |= __proviso_env_bool();
    expression->fastmap_accurate = 1;
}

int regcomp(struct proviso_regex *expression, const char *pattern, int flags) {
    size_t length = proviso_strlen(pattern);
    expression->buffer = NULL;
    expression->allocated = 0;
    expression->fastmap = NULL;
    expression->translate = NULL;
    expression->no_sub = (flags & REG_NOSUB) != 0;
    expression->newline_anchor = (flags & REG_NEWLINE) != 0;
    int result = proviso_compile(expression, pattern, length, __proviso_env_size());
    if (result == 0) {
        // As above.
        expression->fastmap = __proviso_make_malloc(PROVISO_FASTMAP);
        proviso_compile_fastmap(expression);
    }
    return result;
}

struct proviso_match {
    int start, end;
};

// A part of the text between two positions, or none.
static struct proviso_match proviso_some_match(int from, int to, _Bool may_lack) {
    struct proviso_match match = {__proviso_env_int(), __proviso_env_int()};
    __proviso_assume((may_lack & (match.start == -1) & (match.end == -1)) |
                     ((match.start >= from) & (match.end >= match.start) & (match.end <= to)));
    return match;
}

// With REG_STARTEND, the first match gives the range to search.
int regexec(const struct proviso_regex *expression, const char *text, size_t count, struct proviso_match *matches, int flags) {
    proviso_use_regex(expression);
    int from = 0, to;
    if (flags & 4) {
        from = matches[0].start;
        to = matches[0].end;
    } else {
        to = proviso_strlen(text);
    }
    REGEX_IS_APPROXIMATED;
    if (!__proviso_env_bool())
        return proviso_env_between(PROVISO_NO_MATCH, PROVISO_LAST_REGEX_ERROR);
    if (expression->no_sub)
        return 0;
    for (size_t i = 0; i < count; i++)
        matches[i] = proviso_some_match(from, to, i > 0);
    return 0;
}

size_t regerror(int error, const struct proviso_regex *expression, char *buffer, size_t size) {
    REGEX_IS_APPROXIMATED;
    size_t needed = __proviso_env_size();
    __proviso_assume((needed > 1) & (needed <= 64));
    if (size > 0) {
        size_t length = needed < size ? needed - 1 : size - 1;
        proviso_env_text(buffer, length);
        buffer[length] = 0;
    }
    return needed;
}

void regfree(struct proviso_regex *expression) {
    if (expression->buffer) {
        __proviso_free_regex(expression->buffer->content);
        __proviso_free_regex(expression->buffer);
    }
    expression->buffer = NULL;
    expression->allocated = 0;
    free(expression->fastmap);
    expression->fastmap = NULL;
    free(expression->translate);
    expression->translate = NULL;
}

// The functions of GNU.

unsigned long re_syntax_options;

unsigned long re_set_syntax(unsigned long syntax) {
    unsigned long before = re_syntax_options;
    re_syntax_options = syntax;
    return before;
}

const char *re_compile_pattern(const char *pattern, size_t length, struct proviso_regex *expression) {
    enum { RE_NO_SUB = 1 << 25 };
    // The text of each error. It is constant, but differs between versions of the library.
    static char texts[PROVISO_LAST_REGEX_ERROR + 1][64];
    static _Bool known[PROVISO_LAST_REGEX_ERROR + 1];
    expression->no_sub = (re_syntax_options & RE_NO_SUB) != 0;
    expression->newline_anchor = 1;
    int error = proviso_compile(expression, pattern, length, re_syntax_options);
    if (error == 0)
        return NULL;
    if (!known[error])
        __proviso_env_memory(texts[error], sizeof texts[error] - 1);
    known[error] = 1;
    return texts[error];
}

int re_compile_fastmap(struct proviso_regex *expression) {
    proviso_use_regex(expression);
    proviso_compile_fastmap(expression);
    return 0;
}

// The parts of the text that match the expression and its groups.
struct proviso_registers {
    unsigned count;
    int *start, *end;
};

void re_set_registers(struct proviso_regex *expression, struct proviso_registers *registers, unsigned count, int *start,
                      int *end) {
    expression->registers = count ? PROVISO_REALLOCATE : PROVISO_UNALLOCATED;
    registers->count = count;
    registers->start = count ? start : NULL;
    registers->end = count ? end : NULL;
}

// Arrays for `count` parts, if the registers have fewer. Returns whether there is enough memory.
static _Bool proviso_allocate_registers(struct proviso_regex *expression, struct proviso_registers *registers,
                                        size_t count) {
    _Bool replaces = expression->registers == PROVISO_REALLOCATE;
    if (expression->registers == PROVISO_FIXED || (replaces && count <= registers->count))
        return 1;
    expression->registers = PROVISO_UNALLOCATED;
    int *start = malloc(count * sizeof *start);
    if (!start)
        return 0;
    if (replaces)
        free(registers->start);
    // If the next allocation fails, the library frees this one and leaves its address.
    registers->start = start;
    int *end = malloc(count * sizeof *end);
    if (!end) {
        free(start);
        return 0;
    }
    if (replaces)
        free(registers->end);
    registers->end = end;
    registers->count = count;
    expression->registers = PROVISO_REALLOCATE;
    return 1;
}

// Stores the match and its groups, all in a text of this length. The other registers have no part.
static _Bool proviso_store_registers(struct proviso_regex *expression, struct proviso_registers *registers,
                                     struct proviso_match match, int length) {
    size_t parts = expression->groups + 1;
    if (expression->registers == PROVISO_FIXED && registers->count < parts)
        parts = registers->count;
    if (parts == 0)
        return 1;
    // The library allocates one register more, which has no part.
    if (!proviso_allocate_registers(expression, registers, parts + 1))
        return 0;
    registers->start[0] = match.start;
    registers->end[0] = match.end;
    for (size_t i = 1; i < registers->count; i++) {
        struct proviso_match group = {-1, -1};
        if (i < parts)
            group = proviso_some_match(0, length, 1);
        registers->start[i] = group.start;
        registers->end[i] = group.end;
    }
    return 1;
}

// The text is a string and another one after it.
struct proviso_searched {
    const char *start[2];
    int length[2];
};

// Searches for a match that starts between `start` and `start + range`. The result is 0; -1 if there is none; or -2 for
// an error.
static int proviso_search(struct proviso_regex *expression, struct proviso_searched text, int start, int range,
                          struct proviso_registers *registers, struct proviso_match *match) {
    int length = text.length[0] + text.length[1];
    if ((start < 0) | (start > length))
        return -1;
    long long other = (long long)start + range;
    other = other < 0 ? 0 : other > length ? length : other;
    proviso_use_regex(expression);
    REGEX_IS_APPROXIMATED;
    for (int i = 0; i < 2; i++)
        proviso_put_out(text.start[i], text.length[i]);
    if (expression->translate)
        proviso_put_out(expression->translate, 256);
    if (start < other && expression->fastmap && !expression->fastmap_accurate)
        proviso_compile_fastmap(expression);
    else if (start != other && expression->fastmap && expression->fastmap_accurate && !expression->can_be_null)
        proviso_put_out(expression->fastmap, PROVISO_FASTMAP);
    int result = proviso_env_between(-2, 0);
    SET_ERRNO_IF(result == -2 && __proviso_env_bool(), ENOMEM);
    if (result < 0)
        return result;
    *match = proviso_some_match(range < 0 ? other : start, length, 0);
    __proviso_assume(match->start <= (range < 0 ? start : other));
    if (registers && !expression->no_sub && !proviso_store_registers(expression, registers, *match, length))
        return -2;
    return 0;
}

// The position of the match, or its length.

static int proviso_match_position(struct proviso_regex *expression, struct proviso_searched text, int start, int range,
                            struct proviso_registers *registers) {
    struct proviso_match match;
    int result = proviso_search(expression, text, start, range, registers, &match);
    return result < 0 ? result : match.start;
}

static int proviso_match_length(struct proviso_regex *expression, struct proviso_searched text, int start,
                          struct proviso_registers *registers) {
    struct proviso_match match;
    int result = proviso_search(expression, text, start, 0, registers, &match);
    return result < 0 ? result : match.end - match.start;
}

int re_search(struct proviso_regex *expression, const char *text, int length, int start, int range,
              struct proviso_registers *registers) {
    return proviso_match_position(expression, (struct proviso_searched){{text}, {length}}, start, range, registers);
}

int re_match(struct proviso_regex *expression, const char *text, int length, int start,
             struct proviso_registers *registers) {
    return proviso_match_length(expression, (struct proviso_searched){{text}, {length}}, start, registers);
}

// Whether the lengths and the last position to search are valid.
static _Bool proviso_is_text(int length, int more, int stop) {
    return (length >= 0) & (more >= 0) & (stop >= 0) & ((long long)length + more <= INT_MAX);
}

int re_search_2(struct proviso_regex *expression, const char *text, int length, const char *more, int more_length, int start,
                int range, struct proviso_registers *registers, int stop) {
    if (!proviso_is_text(length, more_length, stop))
        return -2;
    return proviso_match_position(expression, (struct proviso_searched){{text, more}, {length, more_length}}, start, range, registers);
}

int re_match_2(struct proviso_regex *expression, const char *text, int length, const char *more, int more_length, int start,
               struct proviso_registers *registers, int stop) {
    if (!proviso_is_text(length, more_length, stop))
        return -2;
    return proviso_match_length(expression, (struct proviso_searched){{text, more}, {length, more_length}}, start, registers);
}
