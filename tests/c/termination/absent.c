// The ranked value is in memory. For one value, the pointer to it becomes null, and from then on nothing decreases.
// run: --property termination => TRUE
// run: --property termination -DBUG --timeout 5 => UNKNOWN
extern int __VERIFIER_nondet_int(void);

int main(void) {
    int x = __VERIFIER_nondet_int();
    int *p = &x;
    for (;;) { // wrong
        if (p == 0)
            p = &x;
        if (*p <= 0)
            break;
#ifdef BUG
        // x is 0x3ffffff1.
        if ((unsigned)*p * 2654435761u == 4206878369u)
            p = 0;
        else
#endif
            *p -= 1;
    }
    return 0;
}
