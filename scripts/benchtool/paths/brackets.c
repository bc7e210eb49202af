/* Brackets of three kinds, checked with a stack. */
extern char __VERIFIER_nondet_char(void);
extern void reach_error(void);
#ifndef N
#define N 10
#endif

int main(void) {
    char stack[N];
    int depth = 0, most = 0;
    for (int i = 0; i < N; i++) {
        char c = __VERIFIER_nondet_char();
        if (c == '(' || c == '[' || c == '{')
            stack[depth++] = c;
        else if (c == ')' || c == ']' || c == '}') {
            if (depth == 0)
                return 1;
            char open = stack[--depth];
            if (open == '(' ? c != ')' : open == '[' ? c != ']' : c != '}')
                return 1;
        } else
            return 0;
        if (depth > most)
            most = depth;
    }
    if (depth == 0 && most > N / 2)
        reach_error();
    return 0;
}
