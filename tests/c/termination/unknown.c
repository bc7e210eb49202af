// An undefined function may not return.
// run: --property termination => UNKNOWN
extern void elsewhere(void);

int main(void) {
    elsewhere();
    return 0;
}
