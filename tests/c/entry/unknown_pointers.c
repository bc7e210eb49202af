// run: --entry calls --property valid-deref --timeout 5 => UNKNOWN
// run: --entry calls --property valid-deref --undefined-functions any-value => TRUE
// run: --entry reads --property valid-deref => UNKNOWN
// run: --entry ignores --property valid-deref => TRUE
// Targets of function pointers are undefined, and pointers in unions have no objects: there is no verdict if they matter.
struct hooks {
    int value;
    int (*allocate)(int);
};
struct variant {
    int kind;
    union {
        int number;
        int *pointer;
    } content;
};

int calls(struct hooks *hooks) { return hooks->allocate(hooks->value); }

int reads(struct variant *v) { return v->kind == 1 ? *v->content.pointer : v->content.number; }

int ignores(struct hooks *hooks) { return hooks->value; }

int main(void) { return 0; }
