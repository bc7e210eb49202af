// run: --property unreach-call => TRUE
// run: --property unreach-call -DINLINE => UNKNOWN
// run: --property unreach-call -DLOADED => UNKNOWN
// run: --error-function fail -DINLINE => UNKNOWN
// run: -DINLINE => UNKNOWN
// run: -DLOADED => UNKNOWN
// Only assembly calls the error function, so nothing of the C code reaches it.
extern void abort(void);
void reach_error(void) { abort(); }
void fail(void) { abort(); }

#ifdef LOADED
__asm__(".pushsection .init_array,\"aw\"\n.quad reach_error\n.popsection");
#endif

int main(void) {
#ifdef INLINE
    __asm__ volatile("call reach_error\n call fail" ::: "memory");
#endif
    return 0;
}
