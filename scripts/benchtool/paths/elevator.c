/* An elevator of four floors: N steps, in each of which somebody may call it. */
extern unsigned char __VERIFIER_nondet_uchar(void);
extern void reach_error(void);
#ifndef N
#define N 8
#endif
#define FLOORS 4

int main(void) {
    int calls[FLOORS] = {0}, floor = 0, direction = 0, open = 0;
    for (int step = 0; step < N; step++) {
        unsigned char from = __VERIFIER_nondet_uchar();
        if (from < FLOORS && !calls[from])
            calls[from] = 1 + step;
        if (open) {
            open = 0;
        } else if (calls[floor]) {
            calls[floor] = 0;
            open = 1;
            direction = 0;
        } else {
            int next = -1;
            for (int i = 0; i < FLOORS; i++)
                if (calls[i] && (next < 0 || calls[i] < calls[next]))
                    next = i;
            direction = next < 0 ? 0 : next > floor ? 1 : -1;
            floor += direction;
        }
        if (floor < 0 || floor >= FLOORS || (open && direction != 0))
            reach_error();
    }
    return 0;
}
