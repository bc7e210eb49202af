// dirent.h, libgen.h, fnmatch.h, regex.h, sys/mman.h.
#include "harness.h"
#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <regex.h>
#include <sys/mman.h>
#include <unistd.h>

// Suggests the entry that the library returned.
static void suggest_file(const struct dirent *entry) {
    NATIVELY {
        suggest_nothing();
        if (entry) {
            char name[256] = "";
            strcpy(name, entry->d_name);
            suggest(entry->d_ino), suggest(entry->d_off), suggest(entry->d_reclen), suggest(entry->d_type);
            suggest_bytes(name, 256);
        }
    }
}
DRIVER(readdir) {
    asks_environment();
    DIR *folder = LIB(opendir)(ONE_OF("/dev/fd", "/", "/nowhere/at/all", "/dev/null"));
    see(folder != NULL);
    if (!folder)
        return;
    for (unsigned n = random_below(4); n > 0; n--) {
        struct dirent *entry = LIB(readdir)(folder);
        suggest_file(entry);
        see(entry != NULL);
        if (entry)
            see_text(entry->d_name);
    }
    LIB(rewinddir)(folder);
    see(LIB(dirfd)(folder));
    see(LIB(closedir)(folder));
}

static char *some_path(void) {
    char text[40] = "";
    for (unsigned n = random_below(6); n > 0; n--)
        strcat(text, ONE_OF("/", "//", "usr", "a", ".", "..", "/lib"));
    return text_in_room(text);
}
static void see_name(const char *name) {
    see_pointer(name);
    see_text(name);
}
DRIVER(dirname) {
    extern char *dirname(char *);
    char *name = LIB(dirname)(random_below(20) ? some_path() : NULL);
    see_text(name);
}
DRIVER(basename) { see_name(LIB(basename)(some_path())); }
DRIVER(xpg_basename) {
    extern char *__xpg_basename(char *);
    see_text(LIB(__xpg_basename)(random_below(20) ? some_path() : NULL));
}

DRIVER(fnmatch) {
    may_approximate();
    see(LIB(fnmatch)(random_string(4, "ab*?[]"), random_string(5, "ab"), 0));
}
// Suggests the values that the model of the compilation asks for.
static void suggest_compiled(const struct re_pattern_buffer *expression, int result, int asks_syntax) {
    NATIVELY {
        suggest_nothing();
        if (asks_syntax)
            suggest(expression->syntax);
        suggest(result);
        suggest(expression->re_nsub);
        if (expression->allocated)
            suggest(expression->allocated);
        else
            suggest(1);
        suggest(1);
    }
}
DRIVER(regex) {
    may_approximate();
    regex_t expression;
    int result = LIB(regcomp)(&expression, ONE_OF("a*b", "(a)(b*)", "[", "(a", "x|(ab)+"), random_below(2) ? REG_EXTENDED : 0);
    suggest_compiled(&expression, result, 1);
    see(result);
    if (result == 0) {
        see(expression.re_nsub);
        regmatch_t match[3];
        memset(match, 0, sizeof match);
        char *text = random_string(12, "ab");
        unsigned count = random_below(4);
        int found = LIB(regexec)(&expression, text, count, match, 0);
        NATIVELY {
            suggest_nothing();
            for (unsigned i = 0; i < count && found == 0; i++)
                suggest(match[i].rm_so), suggest(match[i].rm_eo);
        }
        see(found);
        for (unsigned i = 0; i < count && found == 0; i++) {
            see(match[i].rm_so);
            see(match[i].rm_eo);
        }
        LIB(regfree)(&expression);
    } else {
        unsigned size = random_below(9);
        see(LIB(regerror)(result, &expression, size ? room(40) : NULL, size ? 40 : 0));
    }
}

static int *allocated(size_t size) { return memset(LIB(malloc)(size), 0, size); }
static void see_registers(const struct re_registers *registers) {
    see(registers->num_regs);
    for (unsigned i = 0; i < registers->num_regs; i++)
        see(registers->start[i]), see(registers->end[i]);
}
DRIVER(gnu_regex) {
    may_approximate();
    struct re_pattern_buffer expression;
    memset(&expression, 0, sizeof expression);
    reg_syntax_t syntax = ONE_OF(RE_SYNTAX_POSIX_BASIC, RE_SYNTAX_POSIX_EXTENDED, RE_SYNTAX_EMACS | RE_NO_SUB);
    LIB(re_syntax_options) = 5;
    see(LIB(re_set_syntax)(syntax));
    see(LIB(re_set_syntax)(syntax) == syntax);
    const char *pattern = ONE_OF("a*b", "(a)(b*)", "[", "(a", "x|(ab)+", "");
    const char *error = LIB(re_compile_pattern)(pattern, strlen(pattern), &expression);
    suggest_compiled(&expression, error ? 2 : 0, 0);
    see(error != NULL);
    see(expression.allocated > 0);
    if (error)
        return;
    see(expression.re_nsub);
    see(expression.no_sub);
    struct re_registers registers;
    memset(&registers, 0, sizeof registers);
    struct re_registers *asked = random_below(3) ? &registers : NULL;
    if (random_below(3) == 0) {
        int size = random_below(5);
        LIB(re_set_registers)(&expression, &registers, size, allocated(4 * size), allocated(4 * size));
    }
    char *text = random_string(9, "ab"), *more = random_string(5, "ab");
    int length = strlen(text), more_length = strlen(more);
    for (int n = 0; n < 2; n++) {
        int start = (int)random_below(14) - 2, range = (int)random_below(24) - 10, stop = (int)random_below(20) - 1, result;
        unsigned kind = random_below(4);
        if (kind == 0)
            result = LIB(re_search)(&expression, text, length, start, range, asked);
        else if (kind == 1)
            result = LIB(re_match)(&expression, text, length, start, asked);
        else if (kind == 2)
            result = LIB(re_search_2)(&expression, text, length, more, more_length, start, range, asked, stop);
        else
            result = LIB(re_match_2)(&expression, text, length, more, more_length, start, asked, stop);
        _Bool stores = result >= 0 && asked && !expression.no_sub;
        NATIVELY {
            suggest_nothing();
            suggest(result < 0 ? result : 0);
            int from = kind % 2 ? start : result;
            suggest(from), suggest(kind % 2 ? start + result : stores ? registers.end[0] : from);
            for (unsigned i = 1; stores && i <= expression.re_nsub; i++)
                suggest(registers.start[i]), suggest(registers.end[i]);
        }
        see(result);
        if (stores)
            see_registers(&registers);
    }
    see(LIB_ERRNO);
    see(expression.fastmap == NULL);
    LIB(regfree)(&expression);
    see(expression.buffer == NULL);
}

DRIVER(mmap) {
    size_t size = random_below(3) ? random_below(9000) : ONE_OF(SIZE_MAX, SIZE_MAX / 2 + 1);
    char *p = LIB(mmap)(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    see(p == MAP_FAILED);
    see(LIB_ERRNO);
    if (p != MAP_FAILED) {
        see((uintptr_t)p % 4096);
        size_t whole = (size + 4095) / 4096 * 4096;
        see(p[0]);
        see(p[whole - 1]);
        p[whole / 2] = 1;
        see(LIB(munmap)(p + 1, size));
        see(LIB(munmap)(p, size));
    }
}
DRIVER(mmap_file) {
    asks_environment();
    static const char text[] = "what is in the file";
    int file = -1;
    NATIVELY {
        file = memfd_create("driver", 0);
        (void)!write(file, text, sizeof text);
    }
    file = RECALL(file);
    char *p = LIB(mmap)(NULL, sizeof text, PROT_READ | PROT_WRITE, MAP_PRIVATE, random_below(4) ? file : -1, 0);
    NATIVELY {
        if (p != MAP_FAILED) {
            suggest_nothing();
        }
    }
    see(p == MAP_FAILED);
    if (p != MAP_FAILED) {
        see_bytes(p, sizeof text);
        see(LIB(munmap)(p, sizeof text));
    }
    NATIVELY close(file);
}
