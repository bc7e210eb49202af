// run: --automaton spinlock => TRUE
// run: --automaton spinlock -DTWICE => FALSE(spinlock)
// run: --automaton spinlock -DIRQ => FALSE(spinlock)
// run: --automaton spinlock -DNOT_HELD => FALSE(spinlock)
// native: unseen
extern int __VERIFIER_nondet_int(void);

typedef struct {
    int raw;
} spinlock_t;

// These functions are undefined.
void spin_lock(spinlock_t *);
void spin_unlock(spinlock_t *);
int spin_trylock(spinlock_t *);
unsigned long _spin_lock_irqsave(spinlock_t *);
void spin_unlock_irqrestore(spinlock_t *, unsigned long);

struct device {
    spinlock_t lock;
    int requests;
} device;
static spinlock_t global;

static void submit(struct device *d) {
    unsigned long flags = _spin_lock_irqsave(&d->lock);
    if (spin_trylock(&global)) {
        d->requests++;
        spin_unlock(&global);
    }
#ifdef IRQ
    if (d->requests > 1)
        spin_unlock(&d->lock); // wrong
    else
#endif
        spin_unlock_irqrestore(&d->lock, flags);
}

int main(void) {
    for (;;) {
        int command = __VERIFIER_nondet_int();
        if (command == 0)
            break;
        spin_lock(&global);
#ifdef TWICE
        if (command == 5)
            spin_lock(&global); // wrong
#endif
        spin_unlock(&global);
        submit(&device);
    }
#ifdef NOT_HELD
    spin_unlock(&device.lock); // wrong
#endif
    return 0;
}
