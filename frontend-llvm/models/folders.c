// Defines: opendir fdopendir closedir readdir readdir64 readdir_r rewinddir telldir seekdir dirfd alphasort fnmatch
// Defines: basename __xpg_basename dirname
#pragma once
#include "unistd.c"

// dirent.h, libgen.h, fnmatch.h.

// The environment determines the entries of a directory. Structures have the size of those on x86.

struct proviso_file_of {
    long number, at;
    unsigned short size;
    unsigned char kind;
    char name[256];
};
struct proviso_file_of64 {
    unsigned long long number;
    long long at;
    unsigned short size;
    unsigned char kind;
    char name[256];
};

struct proviso_folder {
    int file;
#ifdef PROVISO_ARGUMENTS
    // A pointer to itself, which distinguishes it from other memory.
    struct proviso_folder *self;
#endif
    // The position that `telldir` returned since the last entry was read.
    _Bool is_known;
    long at;
    struct proviso_file_of entry;
    struct proviso_file_of64 entry64;
};

#ifdef PROVISO_ARGUMENTS
#define USE_FOLDER(folder) __proviso_require(folder->self == folder, "the argument is not a directory stream")
#else
#define USE_FOLDER(folder) ((void)*(volatile int *)&folder->file)
#endif

static struct proviso_folder *proviso_open_folder(int file) {
    if (file < 0)
        return NULL;
    // Exhausted memory is one of the errors above.
    struct proviso_folder *folder = __proviso_make_directory(sizeof *folder);
    folder->file = file;
#ifdef PROVISO_ARGUMENTS
    folder->self = folder;
#endif
    folder->is_known = 0;
    return folder;
}

struct proviso_folder *opendir(const char *path) {
    return proviso_open_folder(proviso_open_path(path, PROVISO_CLOSES_ON_EXEC));
}

struct proviso_folder *fdopendir(int file) { return proviso_open_folder(proviso_outcome_of(file) < 0 ? -1 : file); }

int closedir(struct proviso_folder *folder) {
    USE_FOLDER(folder);
    int file = folder->file;
    __proviso_free_directory(folder);
    int result = proviso_outcome_of(file);
    if (!proviso_is_closed(file))
        proviso_closed(file);
    return result;
}

int dirfd(struct proviso_folder *folder) {
    USE_FOLDER(folder);
    proviso_share_with_stream(folder->file);
    return proviso_env_between(folder->file, folder->file);
}

// A name of at least one character without slashes.
static void proviso_file_name(char name[256]) {
    __proviso_env_memory(name, 256);
    _Bool possible = name[0] != 0;
    for (int i = 0; i < 255; i++)
        possible &= name[i] != '/';
    __proviso_assume(possible & (name[255] == 0));
}

// At the end, `errno` does not change.
static _Bool proviso_no_more_files(struct proviso_folder *folder) {
    USE_FOLDER(folder);
    folder->is_known = 0;
    if (__proviso_env_bool())
        return 0;
    SET_ERRNO_IF(__proviso_env_bool(), proviso_env_error());
    return 1;
}

// Unknown, or an existing type.
static unsigned char proviso_kind_of_file(void) {
    unsigned char kind = __proviso_env_uchar();
    __proviso_assume((kind <= 14) & ((kind == 1) | (kind % 2 == 0)));
    return kind;
}

static void proviso_next_file(struct proviso_file_of *entry) {
    entry->number = __proviso_env_long();
    entry->at = __proviso_env_long();
    entry->size = proviso_env_between(12, 280);
    entry->kind = proviso_kind_of_file();
    proviso_file_name(entry->name);
}

struct proviso_file_of *readdir(struct proviso_folder *folder) {
    if (proviso_no_more_files(folder))
        return NULL;
    proviso_next_file(&folder->entry);
    return &folder->entry;
}

struct proviso_file_of64 *readdir64(struct proviso_folder *folder) {
    if (proviso_no_more_files(folder))
        return NULL;
    struct proviso_file_of64 *entry = &folder->entry64;
    entry->number = __proviso_env_longlong();
    entry->at = __proviso_env_longlong();
    entry->size = proviso_env_between(12, 280);
    entry->kind = proviso_kind_of_file();
    proviso_file_name(entry->name);
    return entry;
}

int readdir_r(struct proviso_folder *folder, struct proviso_file_of *entry, struct proviso_file_of **result) {
    *result = NULL;
    if (proviso_no_more_files(folder))
        return proviso_env_between(0, 133);
    proviso_next_file(entry);
    *result = entry;
    return 0;
}

void rewinddir(struct proviso_folder *folder) {
    USE_FOLDER(folder);
    folder->is_known = 0;
}

// The position does not change until an entry is read or the program seeks.
long telldir(struct proviso_folder *folder) {
    USE_FOLDER(folder);
    long at = __proviso_env_long();
    __proviso_assume(!folder->is_known | (at == folder->at));
    folder->is_known = 1;
    folder->at = at;
    return at;
}

void seekdir(struct proviso_folder *folder, long at) {
    USE_FOLDER(folder);
    folder->is_known = 1;
    folder->at = at;
}

int alphasort(const struct proviso_file_of **a, const struct proviso_file_of **b) {
    const unsigned char *s = (const unsigned char *)(*a)->name, *t = (const unsigned char *)(*b)->name;
    while (*s && *s == *t) {
        s++;
        t++;
    }
    return *s - *t;
}

// Parts of paths. The functions write to their argument.

static char *proviso_behind_slash(char *path) {
    char *behind = path;
    for (char *s = path; *s; s++) {
        if (*s == '/')
            behind = s + 1;
    }
    return behind;
}

// The function of the GNU C library (string.h), which does not write.
char *basename(const char *path) { return proviso_behind_slash((char *)path); }

char *__xpg_basename(char *path) {
    if (!path || !*path)
        return ".";
    size_t length = proviso_strlen(path);
    _Bool slash = path[length - 1] == '/';
    while (length > 1 && path[length - 1] == '/')
        length--;
    if (length == 1 && *path == '/')
        return path + proviso_strlen(path) - 1;
    if (slash)
        path[length] = 0;
    while (length > 0 && path[length - 1] != '/')
        length--;
    return path + length;
}

char *dirname(char *path) {
    size_t length = path ? proviso_strlen(path) : 0, end = length;
    while (end > 0 && path[end - 1] == '/')
        end--;
    if (end > 0) {
        while (end > 0 && path[end - 1] != '/')
            end--;
    }
    if (end == 0 && (length == 0 || path[0] != '/'))
        return ".";
    while (end > 0 && path[end - 1] == '/')
        end--;
    // If the path has only slashes, two slashes at the start are kept.
    if (end == 0)
        end = length > 1 && path[1] == '/' && (length == 2 || path[2] != '/') ? 2 : 1;
    path[end] = 0;
    return path;
}

// Patterns. The models do not compute whether a pattern matches.

static _Bool proviso_may_match(const char *pattern, const char *text, const char *what) {
    proviso_strlen(pattern);
    proviso_strlen(text);
    __proviso_overapproximated(what);
    return __proviso_env_bool();
}

int fnmatch(const char *pattern, const char *text, int flags) { return !proviso_may_match(pattern, text, "fnmatch"); }
