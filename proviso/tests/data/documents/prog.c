// The program of the commands on `prog.c`.
extern void check(int value);

int main(int argc, char **argv) {
    int noise = argc * 3;
    check(argc);
    return noise;
}
