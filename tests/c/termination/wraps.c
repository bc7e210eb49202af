// `<=` the greatest value is always true; with one less, the loop ends.
// run: --property termination => FALSE(termination)
// run: --property termination -DLAST=254 => TRUE
extern unsigned char __VERIFIER_nondet_uchar(void);
#ifndef LAST
#define LAST 255
#endif

int main(void) {
    unsigned char c = __VERIFIER_nondet_uchar();
    while (c <= LAST) // wrong
        c++;
    return 0;
}
