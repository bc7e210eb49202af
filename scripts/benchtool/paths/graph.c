/* Reachability in a graph of N nodes whose edges lead to nodes with higher numbers: each graph is a separate path. */
extern _Bool __VERIFIER_nondet_bool(void);
extern void reach_error(void);
#ifndef N
#define N 5
#endif

int main(void) {
    int distance[N] = {0};
    for (int to = 1; to < N; to++) {
        distance[to] = N;
        for (int from = 0; from < to; from++)
            if (__VERIFIER_nondet_bool() && distance[from] + 1 < distance[to])
                distance[to] = distance[from] + 1;
    }
    for (int i = 1; i < N; i++)
        if (distance[i] > i && distance[i] < N)
            reach_error();
    return 0;
}
