// run: --property valid-memsafety => TRUE
// run: --property valid-memsafety -DWRONG => FALSE(valid-deref)
// Properties of characters as in libraries for Unicode: the index into a table is an element of another one.
extern int __VERIFIER_nondet_int(void);

static const unsigned short blocks[4352] = {
    [0] = 0,
    [1 ... 99] = 256,
    [100 ... 999] = 768,
    [1000 ... 4000] = 512,
#ifdef WRONG
    [4001 ... 4351] = 3840,
#else
    [4001 ... 4351] = 3584,
#endif
};
static const unsigned short kinds[3840] = {[0 ... 300] = 3, [301 ... 1500] = 7, [1501 ... 3839] = 11};
static const struct {
    short category;
    unsigned width : 2, lower : 1;
} properties[12] = {{1, 0, 0}, [3] = {2, 1, 1}, [7] = {5, 2, 0}, [11] = {9, 1, 0}};

static int category(int c) {
    return properties[kinds[blocks[c >> 8] + (c & 0xff)]].category; // wrong
}

/* Of 80 kB. */
static const unsigned short large[40000] = {[0 ... 19999] = 3, [20000 ... 39998] = 7, [39999] = 11};

int main(void) {
    int c = __VERIFIER_nondet_int();
    if (c < 0 || c >= 0x110000)
        return 0;
    return category(c) + properties[large[c % 40000]].width;
}
