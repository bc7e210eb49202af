/* A stack machine that runs programs of N instructions: push, add, swap, drop, jump if zero. */
extern unsigned char __VERIFIER_nondet_uchar(void);
extern void reach_error(void);
#ifndef N
#define N 6
#endif

int main(void) {
    unsigned char code[N];
    int stack[N + 1], top = 0, at = 0, steps = 0;
    for (int i = 0; i < N; i++)
        code[i] = __VERIFIER_nondet_uchar();
    while (at < N) {
        steps++;
        switch (code[at]) {
        case 0: stack[top++] = at; break;
        case 1:
            if (top < 2)
                return 1;
            top--;
            stack[top - 1] += stack[top];
            break;
        case 2:
            if (top < 2)
                return 1;
            int t = stack[top - 1];
            stack[top - 1] = stack[top - 2];
            stack[top - 2] = t;
            break;
        case 3:
            if (top < 1)
                return 1;
            top--;
            break;
        case 4:
            if (top < 1)
                return 1;
            if (stack[--top] == 0)
                at++;
            break;
        default: return 0;
        }
        at++;
    }
    if (steps > N || top > N)
        reach_error();
    return 0;
}
