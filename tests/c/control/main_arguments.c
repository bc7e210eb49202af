#include "../verify.h"

int main(int argc, char **argv) {
    if (argc < 1)
        return 0;
    check(argc > 0);
    (void)argv;
    wrong(argc != 3);
    return 0;
}
