/* Sums one column of comma-separated values with quoted fields. */
#include <stdio.h>
#include <stdlib.h>

enum state { START, PLAIN, QUOTED, QUOTE };

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: csv FILE COLUMN\n");
        return 2;
    }
    int wanted = atoi(argv[2]);
    if (wanted < 1) {
        fprintf(stderr, "csv: columns count from 1\n");
        return 2;
    }
    FILE *f = fopen(argv[1], "r");
    if (!f) {
        perror("csv");
        return 1;
    }
    enum state state = START;
    char field[16];
    size_t length = 0;
    int column = 1, c;
    long sum = 0;
    while ((c = getc(f)) != EOF) {
        int ends = 0;
        switch (state) {
        case START:
        case PLAIN:
            if (c == ',' || c == '\n')
                ends = 1;
            else if (c == '"' && state == START)
                state = QUOTED;
            else {
                state = PLAIN;
                if (length < sizeof field - 1)
                    field[length++] = (char)c;
            }
            break;
        case QUOTED:
            if (c == '"')
                state = QUOTE;
            else if (length < sizeof field - 1)
                field[length++] = (char)c;
            break;
        case QUOTE:
            if (c == '"')
                state = QUOTED;
            else if (c == ',' || c == '\n')
                ends = 1;
            else {
                fprintf(stderr, "csv: text after a quote\n");
                fclose(f);
                return 1;
            }
            break;
        }
        if (ends) {
            field[length] = '\0';
            if (column == wanted)
                sum += atol(field);
            length = 0;
            column = c == '\n' ? 1 : column + 1;
            state = START;
        }
    }
    fclose(f);
    if (state == QUOTED) {
        fprintf(stderr, "csv: open quote\n");
        return 1;
    }
    printf("%ld\n", sum);
    return 0;
}
