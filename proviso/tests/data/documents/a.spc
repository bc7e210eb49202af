automaton a {
    state s {
        call f(p) -> t;
    }
}
