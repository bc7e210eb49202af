// Uninitialised memory may be anything, for example zero.
// run: --property termination => FALSE(termination)
int main(void) {
    int a[8];
    while (a[3] < 5) { // wrong
        a[3] -= a[3];
    }
    return 0;
}
