// Linked with two_files.c.
int shared = 1;
static int local(int x) { return x + 2; }
int other(int x) {
    shared++;
    return local(x);
}
