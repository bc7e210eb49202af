/* Takes URLs apart. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct url {
    char scheme[8];
    char host[32];
    int port;
    char path[64];
};

/* Returns an error message, or NULL. */
static const char *parse(const char *text, struct url *u)
{
    const char *colon = strstr(text, "://");
    if (!colon)
        return "no scheme";
    size_t n = colon - text;
    if (n == 0 || n >= sizeof u->scheme)
        return "bad scheme";
    for (size_t i = 0; i < n; i++) {
        if (!isalpha((unsigned char)text[i]))
            return "bad scheme";
        u->scheme[i] = tolower((unsigned char)text[i]);
    }
    u->scheme[n] = '\0';
    const char *host = colon + 3;
    n = strcspn(host, ":/");
    if (n == 0)
        return "no host";
    if (n >= sizeof u->host)
        return "host too long";
    memcpy(u->host, host, n);
    u->host[n] = 0;
    const char *p = host + n;
    u->port = strcmp(u->scheme, "https") == 0 ? 443 : 80;
    if (*p == ':') {
        char *end;
        long port = strtol(p + 1, &end, 10);
        if (end == p + 1 || port < 1 || port > 65535)
            return "bad port";
        u->port = port;
        p = end;
    }
    if (*p == '\0') {
        strcpy(u->path, "/");
        return NULL;
    }
    if (*p != '/')
        return "junk after port";
    if (strlen(p) >= sizeof u->path)
        return "path too long";
    strcpy(u->path, p);
    return NULL;
}

int main(int argc, char **argv)
{
    int bad = 0;
    for (int i = 1; i < argc; i++) {
        struct url u;
        const char *error = parse(argv[i], &u);
        if (error) {
            fprintf(stderr, "%s: %s\n", argv[i], error);
            bad = 1;
            continue;
        }
        printf("scheme %s host %s port %d path %s\n", u.scheme, u.host, u.port, u.path);
        char *query = strchr(u.path, '?');
        if (query)
            for (char *item = strtok(query + 1, "&"); item; item = strtok(NULL, "&")) {
                char *equals = strchr(item, '=');
                if (equals)
                    printf("  %.*s is %s\n", (int)(equals - item), item, equals + 1);
                else
                    printf("  %s\n", item);
            }
    }
    return bad;
}
