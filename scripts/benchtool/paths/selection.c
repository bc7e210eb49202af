/* Selection sort of N bytes, by the index of the smallest. */
extern unsigned char __VERIFIER_nondet_uchar(void);
extern void reach_error(void);
#ifndef N
#define N 6
#endif

int main(void) {
    unsigned char a[N];
    for (int i = 0; i < N; i++)
        a[i] = __VERIFIER_nondet_uchar();
    for (int i = 0; i < N; i++) {
        int least = i;
        for (int j = i + 1; j < N; j++)
            if (a[j] < a[least])
                least = j;
        unsigned char t = a[i];
        a[i] = a[least];
        a[least] = t;
    }
    for (int i = 1; i < N; i++)
        if (a[i - 1] > a[i])
            reach_error();
    return 0;
}
