/* Counts the tokens of a small language: keywords, names, numbers, operators. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *keywords[] = {"else", "if", "let", "return", "while"};

static int by_name(const void *key, const void *element)
{
    return strcmp(key, *(const char *const *)element);
}

int main(void)
{
    int c = getchar(), names = 0, words = 0, numbers = 0, operators = 0;
    char text[32];
    while (c != EOF) {
        if (isspace(c)) {
            c = getchar();
        } else if (isalpha(c) || c == '_') {
            size_t n = 0;
            while (isalnum(c) || c == '_') {
                if (n < sizeof text - 1)
                    text[n++] = (char)c;
                c = getchar();
            }
            text[n] = '\0';
            if (bsearch(text, keywords, sizeof keywords / sizeof *keywords, sizeof *keywords, by_name))
                words++;
            else
                names++;
        } else if (isdigit(c)) {
            long value = 0;
            while (isdigit(c)) {
                value = value * 10 + (c - '0');
                if (value > 0xffff) {
                    fprintf(stderr, "number too large\n");
                    return 1;
                }
                c = getchar();
            }
            numbers++;
        } else if (c == '=' || c == '<' || c == '>') {
            c = getchar();
            if (c == '=')
                c = getchar();
            operators++;
        } else if (c == '#') {
            do
                c = getchar();
            while (c != '\n' && c != EOF);
        } else if (strchr("+-*/(){};", c)) {
            operators++;
            c = getchar();
        } else {
            fprintf(stderr, "unexpected '%c'\n", c);
            return 1;
        }
    }
    printf("%d keywords, %d names, %d numbers, %d operators\n", words, names, numbers, operators);
    return 0;
}
