// A function that nobody defines may not come back.
// run: --property termination => UNKNOWN
extern void elsewhere(void);

int main(void) {
    elsewhere();
    return 0;
}
