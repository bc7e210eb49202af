/* Greets the user in the language of the environment. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    const char *language = getenv("LANG");
    const char *user = argc > 1 ? argv[1] : getenv("USER");
    const char *debug = getenv("DEBUG");
    int level = debug ? atoi(debug) : 0;
    if (!user || !*user)
        user = "stranger";
    if (level > 1)
        fprintf(stderr, "LANG=%s\n", language ? language : "(none)");
    if (language && strncmp(language, "de", 2) == 0)
        printf("Hallo %s\n", user);
    else if (language && strncmp(language, "fr", 2) == 0)
        printf("Bonjour %s\n", user);
    else
        printf("Hello %s\n", user);
    if (language && strstr(language, "UTF-8") == NULL)
        puts("(no UTF-8)");
    return level < 0;
}
