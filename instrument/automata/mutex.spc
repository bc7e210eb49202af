// pthread mutexes (of the default kind), each from its first use on.
automaton mutex for each m {
    // A wait may always wake up (POSIX). Other threads are not modelled.
    harmless pthread_cond_init, pthread_cond_destroy, pthread_cond_signal, pthread_cond_broadcast, pthread_cond_wait,
        pthread_cond_timedwait;

    state unlocked {
        return pthread_mutex_lock(m) = r if r == 0 -> locked;
        return pthread_mutex_trylock(m) = r if r == 0 -> locked;
        return pthread_mutex_timedlock(m, _) = r if r == 0 -> locked;
        call pthread_mutex_unlock(m) -> error "a mutex is unlocked that is not locked";
        call pthread_cond_wait(_, m) -> error "a condition is waited for with a mutex that is not locked";
        call pthread_cond_timedwait(_, m, _) -> error "a condition is waited for with a mutex that is not locked";
        call pthread_mutex_destroy(m) -> destroyed;
    }
    state locked {
        call pthread_mutex_lock(m) -> error "a mutex is locked that is locked already";
        call pthread_mutex_timedlock(m, _) -> error "a mutex is locked that is locked already";
        call pthread_mutex_unlock(m) -> unlocked;
        call pthread_mutex_destroy(m) -> error "a mutex is destroyed that is locked";
        call pthread_mutex_init(m, _) -> error "a mutex is initialised that is locked";
        end -> error "a mutex is still locked when the program ends";
    }
    state destroyed {
        call pthread_mutex_init(m, _) -> unlocked;
        call pthread_mutex_lock|pthread_mutex_trylock|pthread_mutex_unlock(m) -> error "a mutex is used that was destroyed";
        call pthread_mutex_timedlock(m, _) -> error "a mutex is used that was destroyed";
        call pthread_mutex_destroy(m) -> error "a mutex is destroyed twice";
    }
}
