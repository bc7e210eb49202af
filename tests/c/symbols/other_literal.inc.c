// For literals.c: a literal of another file.
const char *other_literal(void) { return "abc"; }
