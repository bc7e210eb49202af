// Defines: setmntent getmntent getmntent_r endmntent addmntent hasmntopt
#pragma once
#include "stdio.c"

// mntent.h: file systems and where they are mounted.

struct proviso_mount {
    char *system, *folder, *type, *options;
    int frequency, pass;
};

struct proviso_stream *setmntent(const char *path, const char *mode) { return proviso_open_named(path, mode); }

int endmntent(struct proviso_stream *stream) {
    if (stream)
        proviso_close(stream);
    SET_ERRNO_IF(__proviso_env_bool(), proviso_env_error());
    return 1;
}

// Some string in the buffer, whose last byte is 0. Bytes before it may belong to other strings.
static char *proviso_string_in(char *buffer, int size) { return buffer + proviso_env_between(0, size - 1); }

// Skips lines without an entry. The strings of an entry are in its line.
static struct proviso_mount *proviso_next_mount(struct proviso_stream *stream, struct proviso_mount *mount, char *buffer,
                                                int size) {
    if (PUSHED(stream) > 0)
        __proviso_unmodelled("getmntent after ungetc is not modelled");
    _Bool none = proviso_get(stream) == EOF;
    __proviso_overapproximated("the entries of getmntent are not modelled exactly");
    FORGET_PUSHED(stream);
    SET_POSITION(stream, PROVISO_SOMEWHERE);
    EXCLUDE_NOTHING(stream);
    if (size > 0)
        __proviso_env_memory(buffer, size);
    if (!none && __proviso_env_bool()) {
        proviso_end_of_input(stream);
        none = 1;
    }
    if (none)
        return NULL;
    // The last line may lack a newline.
    stream->at_end |= __proviso_env_bool();
    buffer[size - 1] = 0;
    mount->system = proviso_string_in(buffer, size);
    // These may be missing in the line.
    mount->folder = __proviso_env_bool() ? proviso_string_in(buffer, size) : "";
    mount->type = __proviso_env_bool() ? proviso_string_in(buffer, size) : "";
    mount->options = __proviso_env_bool() ? proviso_string_in(buffer, size) : "";
    mount->frequency = __proviso_env_int();
    mount->pass = __proviso_env_int();
    return mount;
}

struct proviso_mount *getmntent(struct proviso_stream *stream) {
    static struct proviso_mount mount;
    static char line[4096];
    // Exhausted memory is like the end of the file.
    return proviso_next_mount(stream, &mount, line, sizeof line);
}

struct proviso_mount *getmntent_r(struct proviso_stream *stream, struct proviso_mount *mount, char *buffer, int size) {
    return proviso_next_mount(stream, mount, buffer, size);
}

// Appends an entry, if the stream has positions.
int addmntent(struct proviso_stream *stream, const struct proviso_mount *mount) {
    USE(stream);
    const char *texts[4] = {mount->system, mount->folder, mount->type, mount->options};
    for (int i = 0; i < 4; i++)
        proviso_strlen(texts[i]);
    _Bool fails = __proviso_env_bool();
    SET_ERRNO_IF(fails, proviso_env_error());
    FORGET_PUSHED(stream);
    if (!fails || __proviso_env_bool())
        stream->at_end = 0;
    return !proviso_writes(stream) | fails;
}

// The position of an option in the list of options, which commas separate. It may have a value after an equals sign.
char *hasmntopt(const struct proviso_mount *mount, const char *option) {
    char *start = mount->options;
    for (;;) {
        const char *wanted = option, *s = start;
        while (*wanted && *s == *wanted) {
            s++;
            wanted++;
        }
        if (!*wanted && (*s == 0 || *s == '=' || *s == ','))
            return start;
        while (*start && *start != ',')
            start++;
        if (!*start)
            return NULL;
        start++;
    }
}
