// Defines: warn vwarn warnx vwarnx err verr errx verrx error error_at_line error_message_count error_one_per_line
// Defines: error_print_progname syslog vsyslog __syslog_chk __vsyslog_chk openlog closelog setlogmask
// Defines: gettext dgettext dcgettext ngettext dngettext dcngettext textdomain bindtextdomain bind_textdomain_codeset
#pragma once
#include "printf.c"

// err.h, error.h, syslog.h, libintl.h: messages. They have no effect and are not translated.

extern void exit(int status) __attribute__((noreturn));

static void proviso_report(const char *format, struct proviso_args *args) {
    if (format)
        proviso_print_nowhere(format, args);
}

#define MESSAGE(function, vfunction, before, behind)                                                                 \
    PRINT(void, function, vfunction, before, {                                                                       \
        proviso_report(format, &args);                                                                              \
        behind                                                                                                       \
    })

MESSAGE(warn, vwarn, (), )
MESSAGE(warnx, vwarnx, (), )
MESSAGE(err, verr, (int status,), exit(status);)
MESSAGE(errx, verrx, (int status,), exit(status);)
MESSAGE(syslog, vsyslog, (int priority,), )
MESSAGE(__syslog_chk, __vsyslog_chk, (int priority, int flag,), )

unsigned error_message_count;
int error_one_per_line;
void (*error_print_progname)(void);

static void proviso_report_error(const char *format, struct proviso_args *args) {
    if (error_print_progname)
        error_print_progname();
    proviso_report(format, args);
    error_message_count++;
}

void error(int status, int number, const char *format, ...) {
    struct proviso_args args;
    va_start(args.list, format);
    proviso_report_error(format, &args);
    if (status)
        exit(status);
}

void error_at_line(int status, int number, const char *file, unsigned line, const char *format, ...) {
    struct proviso_args args;
    va_start(args.list, format);
    if (error_one_per_line)
        __proviso_unmodelled("error_one_per_line is not modelled");
    if (file)
        proviso_strlen(file);
    proviso_report_error(format, &args);
    if (status)
        exit(status);
}

void openlog(const char *name, int options, int facility) {}

void closelog(void) {}

int setlogmask(int mask) {
    static int kept = 0xff;
    int before = kept;
    if (mask)
        kept = mask;
    return before;
}

// The locale is "C", so there are no translations.

char *gettext(const char *text) { return (char *)text; }

char *dgettext(const char *domain, const char *text) { return (char *)text; }

char *dcgettext(const char *domain, const char *text, int category) { return (char *)text; }

static char *proviso_plural(const char *one, const char *many, unsigned long n) { return (char *)(n == 1 ? one : many); }

char *ngettext(const char *one, const char *many, unsigned long n) { return proviso_plural(one, many, n); }

char *dngettext(const char *domain, const char *one, const char *many, unsigned long n) {
    return proviso_plural(one, many, n);
}

char *dcngettext(const char *domain, const char *one, const char *many, unsigned long n, int category) {
    return proviso_plural(one, many, n);
}

static char *proviso_text_copy(const char *s) {
    size_t size = proviso_strlen(s) + 1;
    char *copy = __proviso_alloc_internal(size);
    if (copy)
        __builtin_memcpy(copy, s, size);
    return copy;
}

static _Bool proviso_is_same(const char *a, const char *b) {
    for (; *a && *a == *b; a++)
        b++;
    return *a == *b;
}

// The previous string is freed, unless it is set again.
char *textdomain(const char *domain) {
    static char *kept = "messages", *copy;
    if (domain && !proviso_is_same(domain, kept)) {
        _Bool is_named = *domain && !proviso_is_same(domain, "messages");
        char *before = copy, *new = is_named ? proviso_text_copy(domain) : NULL;
        if (is_named && !new)
            return NULL;
        copy = new;
        kept = copy ? copy : "messages";
        __proviso_free_internal(before);
    }
    return kept;
}

// The directory of a domain's translations is not stored.
char *bindtextdomain(const char *domain, const char *folder) {
    if (!domain || !*domain)
        return NULL;
    if (folder)
        return proviso_text_copy(folder);
    __proviso_unmodelled("asking where translations are is not modelled");
    return NULL;
}

char *bind_textdomain_codeset(const char *domain, const char *codeset) {
    if (!domain || !*domain)
        return NULL;
    if (codeset)
        return proviso_text_copy(codeset);
    __proviso_unmodelled("asking for the encoding of translations is not modelled");
    return NULL;
}
