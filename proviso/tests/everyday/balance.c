/* Checks the brackets of C source on standard input, outside strings and comments. */
#include <stdio.h>

#define DEPTH 32

int main(void)
{
    char stack[DEPTH];
    int top = 0, line = 1, c, before = 0, in_string = 0, in_comment = 0;
    while ((c = getchar()) != EOF) {
        if (c == '\n')
            line++;
        if (in_comment) {
            if (before == '*' && c == '/')
                in_comment = 0;
        } else if (in_string) {
            if (c == '\\')
                c = getchar();
            else if (c == in_string)
                in_string = 0;
        } else if (c == '"' || c == '\'') {
            in_string = c;
        } else if (before == '/' && c == '*') {
            in_comment = 1;
            c = 0;
        } else if (c == '(' || c == '[' || c == '{') {
            if (top == DEPTH) {
                printf("%d: too deep\n", line);
                return 2;
            }
            stack[top++] = (char)c;
        } else if (c == ')' || c == ']' || c == '}') {
            char open = c == ')' ? '(' : c == ']' ? '[' : '{';
            if (top == 0 || stack[--top] != open) {
                printf("%d: unmatched %c\n", line, c);
                return 1;
            }
        }
        before = c;
    }
    if (in_comment || in_string)
        return puts("unterminated"), 1;
    if (top > 0)
        return printf("%c is open\n", stack[top - 1]), 1;
    return 0;
}
