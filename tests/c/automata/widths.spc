// Numbers of two types name one gate.
automaton gate for each d {
    state open {
        call shut(d) -> closed;
    }
    state closed {
        call pass(d) -> error "a gate is passed that is shut";
    }
}
