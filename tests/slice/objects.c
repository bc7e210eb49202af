// Structs by value and by pointer, unions, bit fields, arrays of arrays, static locals, floats.
#include <string.h>

extern void criterion(int place, long value);

struct point { int x, y; };
struct shape {
    struct point corner[4];
    unsigned filled : 1, layer : 5;
    signed depth : 7;
    double scale;
};
union word { unsigned u; unsigned char bytes[4]; float f; };

static struct shape shapes[3];
static int grid[4][5];

static struct point move(struct point p, int dx, int dy) {
    p.x += dx;
    p.y -= dy;
    return p;
}

static int next(void) {
    static int state = 7;
    state = state * 13 % 101;
    return state;
}

static void scale(struct shape *s, double by) {
    s->scale *= by;
    s->depth++;
}

static void swap(int *a, int *b) {
    int t = *a;
    *a = *b;
    *b = t;
}

static long area(const struct shape *s) {
    long twice = 0;
    for (int i = 0; i < 4; i++) {
        const struct point *p = &s->corner[i], *q = &s->corner[(i + 1) % 4];
        twice += (long)p->x * q->y - (long)q->x * p->y;
    }
    return twice < 0 ? -twice : twice;
}

int main(void) {
    for (int i = 0; i < 3; i++) {
        shapes[i].scale = 1.5;
        shapes[i].layer = i + 3;
        for (int k = 0; k < 4; k++) {
            struct point p = {k / 2 * 4, (k == 1 || k == 2) * 3};
            shapes[i].corner[k] = move(p, i, next() % 2);
        }
    }
    criterion(1, area(&shapes[1]));
    scale(&shapes[2], 2.0);
    shapes[0].filled = 1;
    criterion(2, shapes[2].depth * 10 + shapes[0].filled);
    criterion(3, (long)(shapes[2].scale * 100));
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 5; k++)
            grid[i][k] = next() - k;
    swap(&grid[1][2], &grid[3][4]);
    criterion(4, grid[1][2] * 1000 + grid[3][4]);
    union word w;
    w.f = 1.0f;
    criterion(5, w.bytes[3]);
    struct shape copy;
    memcpy(&copy, &shapes[1], sizeof copy);
    copy.corner[0].x = 99;
    criterion(6, copy.corner[0].x + shapes[1].corner[0].x + copy.layer);
    int n = 3, size = 0;
    for (; n < 6; n++) {
        int room[n];
        for (int i = 0; i < n; i++)
            room[i] = i * n;
        size += room[n - 1];
    }
    criterion(7, size);
    criterion(8, next());
    int *at = &grid[0][0], unused = 0;
    while (at < &grid[3][4]) {
        unused += *at++;
        at++;
    }
    criterion(9, at - &grid[0][0]);
    return unused > 0;
}
