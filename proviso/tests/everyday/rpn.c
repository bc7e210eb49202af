/* A reverse Polish calculator, after Kernighan and Ritchie. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#define DEPTH 20

static double stack[DEPTH];
static int top;

static void push(double value)
{
    if (top < DEPTH)
        stack[top++] = value;
    else
        fprintf(stderr, "stack full\n");
}

static double pop(void)
{
    if (top > 0)
        return stack[--top];
    fprintf(stderr, "stack empty\n");
    return 0.0;
}

int main(int argc, char *argv[])
{
    if (argc < 2) {
        fprintf(stderr, "usage: %s number|operator ...\n", argv[0]);
        return 2;
    }
    for (int i = 1; i < argc; i++) {
        const char *arg = argv[i];
        if (isdigit((unsigned char)arg[0]) || (arg[0] == '-' && arg[1] != '\0')) {
            char *end;
            double value = strtod(arg, &end);
            if (*end != '\0') {
                fprintf(stderr, "%s: not a number\n", arg);
                return 1;
            }
            push(value);
            continue;
        }
        double right;
        switch (arg[0]) {
        case '+':
            push(pop() + pop());
            break;
        case '*':
        case 'x':
            push(pop() * pop());
            break;
        case '-':
            right = pop();
            push(pop() - right);
            break;
        case '/':
            right = pop();
            if (right == 0.0) {
                fprintf(stderr, "division by zero\n");
                return 1;
            }
            push(pop() / right);
            break;
        default:
            fprintf(stderr, "%s: unknown\n", arg);
            return 1;
        }
    }
    printf("%g\n", pop());
    return top != 0;
}
