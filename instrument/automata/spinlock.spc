// Spin locks of Linux, by the names of the functions in preprocessed drivers.
// A call is checked before it, and takes effect when it returns, because kernel functions call each other for the same lock.
automaton spinlock for each l {
    harmless spin_lock, spin_unlock, spin_trylock, spin_lock_init, spin_lock_irq, spin_unlock_irq, spin_lock_irqsave,
        spin_unlock_irqrestore, spin_lock_bh, spin_unlock_bh,
        _spin_lock, _spin_unlock, _spin_trylock, _spin_lock_irq, _spin_unlock_irq, _spin_lock_irqsave, _spin_unlock_irqrestore,
        _raw_spin_lock, _raw_spin_unlock, _raw_spin_trylock, _raw_spin_lock_irq, _raw_spin_unlock_irq,
        _raw_spin_lock_irqsave, _raw_spin_unlock_irqrestore, _raw_spin_lock_bh, _raw_spin_unlock_bh, _raw_spin_trylock_bh;

    state unlocked {
        return spin_lock|_spin_lock|_raw_spin_lock|spin_lock_bh|_raw_spin_lock_bh(l) -> locked;
        return spin_trylock|_spin_trylock|_raw_spin_trylock|_raw_spin_trylock_bh(l) = r if r != 0 -> locked;
        return spin_lock_irq|_spin_lock_irq|_raw_spin_lock_irq(l) -> locked_irq;
        return spin_lock_irqsave|_spin_lock_irqsave|_raw_spin_lock_irqsave(l, ...) -> locked_irqsave;
        call spin_unlock|_spin_unlock|_raw_spin_unlock|spin_unlock_bh|_raw_spin_unlock_bh(l) -> error "a spin lock is released that is not held";
        call spin_unlock_irq|_spin_unlock_irq|_raw_spin_unlock_irq(l) -> error "a spin lock is released that is not held";
        call spin_unlock_irqrestore|_spin_unlock_irqrestore|_raw_spin_unlock_irqrestore(l, ...)
            -> error "a spin lock is released that is not held";
    }
    state locked, locked_irq, locked_irqsave {
        call spin_lock|_spin_lock|_raw_spin_lock|spin_lock_bh|_raw_spin_lock_bh(l) -> error "deadlock: a spin lock is taken that is held already";
        call spin_lock_irq|_spin_lock_irq|_raw_spin_lock_irq(l) -> error "deadlock: a spin lock is taken that is held already";
        call spin_lock_irqsave|_spin_lock_irqsave|_raw_spin_lock_irqsave(l, ...)
            -> error "deadlock: a spin lock is taken that is held already";
        call spin_lock_init(l) -> error "a spin lock is initialised that is held";
        end -> error "a spin lock is still held at the end";
    }
    state locked {
        return spin_unlock|_spin_unlock|_raw_spin_unlock|spin_unlock_bh|_raw_spin_unlock_bh(l) -> unlocked;
        call spin_unlock_irq|_spin_unlock_irq|_raw_spin_unlock_irq(l) -> error "interrupts are enabled by a lock that did not disable them";
        call spin_unlock_irqrestore|_spin_unlock_irqrestore|_raw_spin_unlock_irqrestore(l, ...)
            -> error "flags are restored that were not saved";
    }
    state locked_irq {
        return spin_unlock_irq|_spin_unlock_irq|_raw_spin_unlock_irq(l) -> unlocked;
        call spin_unlock|_spin_unlock|_raw_spin_unlock|spin_unlock_bh|_raw_spin_unlock_bh(l) -> error "interrupts stay disabled";
        call spin_unlock_irqrestore|_spin_unlock_irqrestore|_raw_spin_unlock_irqrestore(l, ...)
            -> error "flags are restored that were not saved";
    }
    state locked_irqsave {
        return spin_unlock_irqrestore|_spin_unlock_irqrestore|_raw_spin_unlock_irqrestore(l, ...) -> unlocked;
        call spin_unlock|_spin_unlock|_raw_spin_unlock|spin_unlock_bh|_raw_spin_unlock_bh(l) -> error "the flags that were saved are not restored";
        call spin_unlock_irq|_spin_unlock_irq|_raw_spin_unlock_irq(l) -> error "the flags that were saved are not restored";
    }
}
