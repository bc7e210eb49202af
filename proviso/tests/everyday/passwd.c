/* Judges a password. */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const char *common[] = {"password", "123456", "qwerty", "letmein", NULL};

static bool has_run(const char *p)
{
    for (size_t i = 0; p[i] != '\0'; i++)
        if (p[i + 1] == p[i] && p[i + 1] != '\0' && p[i + 2] == p[i])
            return true;
    return false;
}

int main(int argc, char *argv[])
{
    char buffer[64];
    const char *password;
    int upper = 0, lower = 0, digits = 0, other = 0, score = 0;

    if (argc > 2) {
        fprintf(stderr, "too many arguments\n");
        return 2;
    }
    if (argc == 2) {
        password = argv[1];
    } else {
        printf("Password: ");
        fflush(stdout);
        if (!fgets(buffer, sizeof buffer, stdin))
            return 2;
        char *end = strchr(buffer, '\n');
        if (end)
            *end = '\0';
        password = buffer;
    }
    for (const char **c = common; *c; c++)
        if (strcmp(*c, password) == 0) {
            puts("common");
            return 1;
        }
    for (const char *p = password; *p; p++) {
        if (isupper((unsigned char)*p)) upper++;
        else if (islower((unsigned char)*p)) lower++;
        else if (isdigit((unsigned char)*p)) digits++;
        else other++;
    }
    if (strlen(password) >= 8) score++;
    if (strlen(password) >= 12) score++;
    if (upper > 0 && lower > 0) score++;
    if (digits >= 2) score++;
    if (other) score++;
    if (has_run(password)) score--;
    switch (score) {
    case -1:
    case 0:
    case 1: puts("weak"); break;
    case 2:
    case 3: puts("fair"); break;
    case 4: puts("good"); break;
    case 5: puts("strong"); break;
    default: puts("impossible");
    }
    return score < 2;
}
