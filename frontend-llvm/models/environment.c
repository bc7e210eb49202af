// Defines: getenv secure_getenv setenv unsetenv putenv clearenv
#pragma once
#include "proviso.h"

// Environment variables. Their initial values are arbitrary, and constant after the first query.

struct proviso_variable {
    struct proviso_variable *next;
    // Null if the variable does not exist. Unset until the first query.
    char *value;
    _Bool known;
    // The string that `putenv` made the variable, or null. Its name is that of the variable unless the program changes it.
    const char *entry;
    size_t length;
    char name[];
};

// The names that were queried or set, without duplicates.
static struct proviso_variable *proviso_variables;
static _Bool proviso_environment_cleared;
// True once the environment has contained a string of `putenv`.
static _Bool proviso_has_entries;

// Null, or a string with at most as many bytes as Linux permits.
static char *proviso_initial_value(void) {
    if (__proviso_env_bool())
        return NULL;
    size_t size = __proviso_env_size();
    __proviso_assume((size > 0) & (size <= 131072));
    // The string exists at the start of the program.
    char *value = __proviso_make_text(size);
    value[size - 1] = 0;
    return value;
}

static char *proviso_value(struct proviso_variable *variable) {
    if (!variable->known)
        variable->value = proviso_initial_value();
    variable->known = 1;
    return variable->value;
}

// True if the program has set a variable.
static _Bool proviso_sets_variables;

static void proviso_set_value(struct proviso_variable *variable, char *value) {
    proviso_sets_variables = 1;
    variable->value = value;
    variable->known = 1;
    variable->entry = NULL;
}

// True if the string of a variable still starts with its name and a `=`.
static _Bool proviso_keeps_name(const struct proviso_variable *variable) {
    for (size_t n = 0; n < variable->length; n++) {
        if (variable->entry[n] != variable->name[n])
            return 0;
    }
    return variable->entry[variable->length] == '=';
}

// The program has changed the name in a string of `putenv`. From then on, a name may be that of any entry: queries have any result
// that an entry permits, and each change adds an entry.
static _Bool proviso_changes_names;

static struct proviso_variable *proviso_variable(const char *name, size_t length) {
    for (struct proviso_variable *v = proviso_has_entries ? proviso_variables : NULL; v; v = v->next) {
        if (v->entry && !proviso_keeps_name(v)) {
            __proviso_unmodelled("changing the name in a string of `putenv` is not modelled");
            proviso_changes_names = 1;
        }
    }
    for (struct proviso_variable *v = proviso_changes_names ? NULL : proviso_variables; v; v = v->next) {
        size_t n = 0;
        while (v->length == length && n < length && v->name[n] == name[n])
            n++;
        if (v->length == length && n == length)
            return v;
    }
    // The real library has no such list.
    struct proviso_variable *new = __proviso_scratch(sizeof *new + length);
    new->next = proviso_variables;
    new->value = NULL;
    new->known = proviso_environment_cleared;
    new->entry = NULL;
    new->length = length;
    __builtin_memcpy(new->name, name, length);
    proviso_variables = new;
    return new;
}

// The length of a name, which ends at a `=` or at the end of the string.
static size_t proviso_name_length(const char *name) {
    size_t n = 0;
    while (name[n] && name[n] != '=')
        n++;
    return n;
}

// The end of any entry, or null.
static char *proviso_any_value(void) {
    for (struct proviso_variable *v = proviso_variables; v; v = v->next) {
        if (!__proviso_env_bool())
            continue;
        char *text = v->entry ? (char *)v->entry : proviso_value(v);
        size_t from = __proviso_env_size();
        __proviso_assume(text ? from <= proviso_strlen(text) : from == 0);
        return text ? text + from : NULL;
    }
    return proviso_initial_value();
}

static char *proviso_getenv(const char *name) {
    size_t length = 0;
    // For a constant name without '=', the unmodelled case is unreachable.
    for (; name[length]; length++) {
        if (name[length] == '=') {
            // The value of another variable may begin with the rest of the name. The model treats this as one more
            // variable, whose value the environment determines.
            if (proviso_sets_variables) {
                __proviso_unmodelled("asking for an environment variable with '=' in its name is not modelled");
                return proviso_any_value();
            }
            __proviso_overapproximated("an environment variable with '=' in its name is not modelled exactly");
        }
    }
    if (length == 0)
        return NULL;
    struct proviso_variable *variable = proviso_variable(name, length);
    return proviso_changes_names ? proviso_any_value() : proviso_value(variable);
}

char *getenv(const char *name) { return proviso_getenv(name); }

char *secure_getenv(const char *name) { return proviso_getenv(name); }

// True for a string that is no valid name.
static _Bool proviso_no_name(const char *name) {
    if (name && *name && !name[proviso_name_length(name)])
        return 0;
    SET_ERRNO(EINVAL);
    return 1;
}

int setenv(const char *name, const char *value, int overwrite) {
    if (proviso_no_name(name))
        return -1;
    struct proviso_variable *variable = proviso_variable(name, proviso_strlen(name));
    if (!overwrite && proviso_value(variable))
        return 0;
    size_t size = proviso_strlen(value) + 1;
    char *copy = __proviso_alloc_internal(size);
    if (!copy)
        return -1;
    __builtin_memcpy(copy, value, size);
    proviso_set_value(variable, copy);
    return 0;
}

int unsetenv(const char *name) {
    if (proviso_no_name(name))
        return -1;
    proviso_set_value(proviso_variable(name, proviso_strlen(name)), NULL);
    return 0;
}

// Makes the string a part of the environment.
int putenv(char *entry) {
    size_t length = proviso_name_length(entry);
    if (length == 0) {
        // No query finds a variable without a name, only `environ` shows it. The removal of one fails, without notice.
        if (!entry[0]) {
            SET_ERRNO(EINVAL);
        } else if (__proviso_allocation_fails()) {
            SET_ERRNO(ENOMEM);
            return -1;
        }
        return 0;
    }
    struct proviso_variable *variable = proviso_variable(entry, length);
    // Only a new variable needs a new element of the table.
    if (entry[length] && __proviso_allocation_fails()) {
        __proviso_assume(!proviso_value(variable));
        SET_ERRNO(ENOMEM);
        return -1;
    }
    proviso_set_value(variable, entry[length] ? entry + length + 1 : NULL);
    if (entry[length]) {
        variable->entry = entry;
        proviso_has_entries = 1;
    }
    return 0;
}

int clearenv(void) {
    for (struct proviso_variable *v = proviso_variables; v; v = v->next)
        proviso_set_value(v, NULL);
    proviso_environment_cleared = 1;
    return 0;
}
