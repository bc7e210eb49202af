// SQLite: the tokens of any eight bytes.
extern int sqlite3GetToken(const unsigned char *text, int *type);
extern unsigned char __VERIFIER_nondet_uchar(void);

int main(void) {
    unsigned char text[9];
    for (int i = 0; i < 8; i++)
        text[i] = __VERIFIER_nondet_uchar();
    text[8] = 0;
    const unsigned char *at = text;
    while (*at) {
        int type;
        at += sqlite3GetToken(at, &type);
    }
    return 0;
}
