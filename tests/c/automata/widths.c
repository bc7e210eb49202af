// run: --automaton widths.spc => FALSE(gate)
// run: --automaton widths.spc -DOTHER => TRUE
// native: unseen
static int gates;

static void shut(int gate) {
    gates -= gate;
}
static void pass(long gate) {
    gates += (int)gate;
}

int main(void) {
    shut(-1);
#ifdef OTHER
    pass(4294967295L);
#else
    pass(-1); // wrong
#endif
    return gates;
}
