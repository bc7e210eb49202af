#include "../verify.h"

static const char maze[7][12] = {"+-+-------+", "| |     | |", "| | --+ | |", "| |   | | |",
                                 "| +-- | |  ", "|     |   |", "+-----+---+"};

int main(void) {
    int x = 1, y = 1;
    for (int i = 0; i < 12; i++) {
        int ox = x, oy = y;
        switch (__VERIFIER_nondet_char()) {
        case 'w': y--; break;
        case 's': y++; break;
        case 'a': x--; break;
        case 'd': x++; break;
        default: return 1;
        }
        if (maze[y][x] != ' ') {
            x = ox;
            y = oy;
            return 1;
        }
        check(x > 0 && y > 0 && y < 6);
        wrong(x != 5 || y != 5);
    }
    return 0;
}
