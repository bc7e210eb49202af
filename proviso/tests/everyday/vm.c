/* A machine with a stack that runs a program from a file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum op { PUSH, ADD, SUB, JNZ, DUP, PRINT, HALT };

struct instruction {
    enum op op;
    long value;
};

#define MOST 64

int main(int argc, char **argv)
{
    static const char *names[] = {"push", "add", "sub", "jnz", "dup", "print", "halt"};
    struct instruction code[MOST];
    long stack[MOST];
    int length = 0, top = 0, steps = 0;
    char word[16];
    if (argc != 2)
        return 64;
    FILE *f = fopen(argv[1], "r");
    if (!f) {
        perror(argv[1]);
        return 66;
    }
    while (fscanf(f, "%15s", word) == 1) {
        int op = 0;
        while (op <= HALT && strcmp(word, names[op]) != 0)
            op++;
        if (op > HALT || length == MOST) {
            fprintf(stderr, "bad instruction %s\n", word);
            fclose(f);
            return 65;
        }
        code[length].op = (enum op)op;
        code[length].value = 0;
        if ((op == PUSH || op == JNZ) && fscanf(f, "%ld", &code[length].value) != 1) {
            fprintf(stderr, "%s needs a number\n", word);
            fclose(f);
            return 65;
        }
        length++;
    }
    fclose(f);
    for (long pc = 0; pc < length; pc++) {
        if (++steps > 1000) {
            fprintf(stderr, "endless\n");
            return 1;
        }
        int needed = code[pc].op == ADD || code[pc].op == SUB ? 2 : code[pc].op == PUSH || code[pc].op == HALT ? 0 : 1;
        if (top < needed || (code[pc].op <= DUP && top == MOST)) {
            fprintf(stderr, "stack\n");
            return 1;
        }
        switch (code[pc].op) {
        case PUSH: stack[top++] = code[pc].value; break;
        case ADD: top--; stack[top - 1] = (int)stack[top - 1] + (int)stack[top]; break;
        case SUB: top--; stack[top - 1] = (int)stack[top - 1] - (int)stack[top]; break;
        case DUP: stack[top] = stack[top - 1]; top++; break;
        case PRINT: printf("%ld\n", stack[--top]); break;
        case HALT: return 0;
        case JNZ:
            if (stack[--top] != 0) {
                if (code[pc].value < 0 || code[pc].value >= length) {
                    fprintf(stderr, "jump\n");
                    return 1;
                }
                pc = code[pc].value - 1;
            }
            break;
        }
    }
    return 0;
}
