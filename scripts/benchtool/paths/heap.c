/* A binary heap into which N numbers are put, and from which they are taken in their order. */
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
#ifndef N
#define N 5
#endif

static int heap[N], size;

static void put(int x) {
    int at = size++;
    for (; at > 0 && heap[(at - 1) / 2] > x; at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = x;
}

static int take(void) {
    int least = heap[0], x = heap[--size], at = 0;
    for (;;) {
        int child = 2 * at + 1;
        if (child >= size)
            break;
        if (child + 1 < size && heap[child + 1] < heap[child])
            child++;
        if (x <= heap[child])
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = x;
    return least;
}

int main(void) {
    for (int i = 0; i < N; i++)
        put(__VERIFIER_nondet_int());
    int last = take();
    while (size > 0) {
        int next = take();
        if (next < last)
            reach_error();
        last = next;
    }
    return 0;
}
