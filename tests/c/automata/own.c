// run: --automaton own.spc => TRUE
// run: --property own.spc => TRUE
// run: --automaton own.spc -DNOTHING => FALSE(device)
// run: --automaton own.spc -DOFTEN => FALSE(device)
// run: --automaton own.spc -DNEGATIVE => FALSE(device)
// run: --automaton own.spc -DDEEP => FALSE(order)
// run: --automaton own.spc -DIN => FALSE(order)
// run: --automaton own.spc -DMANY => UNKNOWN
// native: unseen
extern int __VERIFIER_nondet_int(void);

static int opened;
static int device_open(int sends) { return sends < 100 ? opened++ : -1; }
static void device_send(int device, signed char byte) { (void)device, (void)byte; }
static void device_close(int device) { (void)device; }
static void enter(void) {}
static void leave(void) {}

static void recurse(int n) {
    enter(); // with DEEP wrong
    if (n > 0)
        recurse(n - 1);
    leave();
}

int main(void) { // with IN wrong: the state at the end is reported here
    int n = __VERIFIER_nondet_int();
#ifndef NOTHING
    if (n < 1)
        return 0;
#endif
    int device = device_open(n); // with NOTHING wrong
    if (device < 0)
        return 0;
    for (int i = 0; i < 3; i++)
        if (i < n)
            device_send(device, i);
#ifdef OFTEN
    if (n == 3)
        device_send(device, 1); // wrong
#endif
#ifdef NEGATIVE
    device_send(device, __VERIFIER_nondet_int()); // wrong
#endif
    device_close(device);
#ifdef MANY
    int devices[9];
    for (int i = 0; i < 9; i++)
        devices[i] = device_open(1);
    for (int i = 0; i < 9; i++)
        device_close(devices[i]);
#endif
#ifdef DEEP
    recurse(3);
#else
    recurse(2);
#endif
#ifdef IN
    if (n == 7)
        enter();
#endif
    return 0;
}
