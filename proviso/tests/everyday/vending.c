/* A vending machine as a state machine over characters. */
#include <stdio.h>
#include <stdlib.h>

typedef enum { IDLE, PAYING, READY, SERVICE } State;

int main(int argc, char **argv)
{
    int price = 120;
    if (argc > 1) {
        price = atoi(argv[1]);
        if (price % 10 != 0 || price < 50 || price > 300) {
            fprintf(stderr, "bad price\n");
            return 1;
        }
    }
    State state = IDLE;
    int credit = 0, sold = 0, c;
    while ((c = getchar()) != EOF) {
        int coin = c == 't' ? 10 : c == 'f' ? 50 : c == 'e' ? 100 : 0;
        if (c == '\n')
            continue;
        switch (state) {
        case IDLE:
            if (c == '!') { state = SERVICE; break; }
            /* fall through */
        case PAYING:
            if (coin) {
                credit += coin;
                state = credit >= price ? READY : PAYING;
            } else if (c == 'r') {
                if (credit > 0) printf("return %d\n", credit);
                credit = 0;
                state = IDLE;
            } else
                printf("insert %d\n", price - credit);
            break;
        case READY:
            if (coin) {
                printf("too much\n");
            } else if (c == 'b') {
                sold++;
                credit -= price;
                if (credit) printf("change %d\n", credit);
                credit = 0;
                state = IDLE;
            } else if (c == 'r') {
                printf("return %d\n", credit);
                credit = 0;
                state = IDLE;
            }
            break;
        case SERVICE:
            if (c == 'q') state = IDLE;
            else if (c == 's') printf("sold %d\n", sold);
            else if (coin) printf("not in service\n");
            break;
        default:
            abort();
        }
    }
    if (state == PAYING || state == READY) printf("%d lost\n", credit);
    if (sold >= 3) printf("refill\n");
    return 0;
}
