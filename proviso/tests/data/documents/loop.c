// The program of the commands on `loop.c`: a loop over an input.
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);

int main(void) {
    int n = __VERIFIER_nondet_int(), sum = 0;
    for (int i = 0; i < n && i < 5; i++)
        sum += i;
    if (sum > 10)
        reach_error();
    return 0;
}
