// run: --automaton spinlock => TRUE
// run: --automaton spinlock -DTWICE => FALSE(spinlock)
// run: --automaton spinlock -DLEFT => FALSE(spinlock)
// run: --automaton spinlock -DOTHER => FALSE(spinlock)
// native: unseen
// As in kernels: functions for a lock that call other functions for the same lock, and macros that do not.
struct raw_spinlock {
    unsigned slock;
};
typedef struct {
    struct raw_spinlock rlock;
} spinlock_t;

extern void _raw_spin_lock(struct raw_spinlock *);
extern void _raw_spin_unlock(struct raw_spinlock *);
extern unsigned long _raw_spin_lock_irqsave(struct raw_spinlock *);
extern void _raw_spin_unlock_irqrestore(struct raw_spinlock *, unsigned long);

static inline void spin_lock(spinlock_t *lock) { _raw_spin_lock(&lock->rlock); }
static inline void spin_unlock(spinlock_t *lock) { _raw_spin_unlock(&lock->rlock); }
#define spin_lock_irqsave(lock, flags) (flags = _raw_spin_lock_irqsave(&(lock)->rlock))
static inline void spin_unlock_irqrestore(spinlock_t *lock, unsigned long flags) {
    _raw_spin_unlock_irqrestore(&lock->rlock, flags);
}

static spinlock_t first, second;

int main(void) { // wrong
    unsigned long flags;
    spin_lock_irqsave(&first, flags);
    spin_lock(&second);
#ifdef TWICE
    spin_lock(&second); // wrong
#endif
#ifndef LEFT
    spin_unlock(&second);
#endif
#ifdef OTHER
    spin_unlock(&first); // wrong
#endif
    spin_unlock_irqrestore(&first, flags); // wrong
    return 0;
}
