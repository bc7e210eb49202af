// Common definitions of all programs in this folder. A program is verified twice: as it is, it must be TRUE; with -DBUG
// it must be FALSE, with the violation on a line that says `wrong`. Lines `// run: OPTIONS => VERDICT`
// at the top of a file replace these two runs. `check` holds for all inputs, `wrong` for some only.
#ifndef VERIFY_H
#define VERIFY_H

#ifdef __cplusplus
#define _Bool bool
extern "C" {
#endif

extern void reach_error(void);
extern void __VERIFIER_assume(int);
extern void abort(void) __attribute__((noreturn));

extern _Bool __VERIFIER_nondet_bool(void);
extern char __VERIFIER_nondet_char(void);
extern signed char __VERIFIER_nondet_schar(void);
extern unsigned char __VERIFIER_nondet_uchar(void);
extern short __VERIFIER_nondet_short(void);
extern unsigned short __VERIFIER_nondet_ushort(void);
extern int __VERIFIER_nondet_int(void);
extern unsigned int __VERIFIER_nondet_uint(void);
extern long __VERIFIER_nondet_long(void);
extern unsigned long __VERIFIER_nondet_ulong(void);
extern long long __VERIFIER_nondet_longlong(void);
extern unsigned long long __VERIFIER_nondet_ulonglong(void);
extern float __VERIFIER_nondet_float(void);
extern double __VERIFIER_nondet_double(void);
#ifdef __SIZEOF_INT128__
extern __int128 __VERIFIER_nondet_int128(void);
extern unsigned __int128 __VERIFIER_nondet_uint128(void);
#endif

#ifdef __cplusplus
}
#endif

#define check(c) ((c) ? (void)0 : reach_error())
#ifdef BUG
#define wrong(c) check(c)
#else
#define wrong(c) ((void)0)
#endif

#endif
