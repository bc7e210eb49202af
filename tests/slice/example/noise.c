// The value that `check` receives does not depend on the noise.
extern void check(int value);

static int total, noise;

static int square(int x) {
    noise += x;
    return x * x;
}

int main(void) {
    for (int i = 0; i < 3; i++)
        noise = noise * 2 + i;
    for (int i = 0; i < 4; i++)
        total += square(i);
    if (total > 7)
        check(total);
    return noise;
}
