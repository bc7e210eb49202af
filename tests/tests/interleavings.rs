//! Compares the exploration of programs with threads, which uses partial-order reduction, with all interleavings of
//! random programs. Also compares random runs of their sequentialisation with these.
//!
//! The interpreter runs all interleavings one by one, without reduction and without detection of equal states. Any
//! thread may continue after each access to memory and each operation on a lock.
//!
//! Environment variables: `INTERLEAVED_PROGRAMS` is the number of programs, by default 25. `INTERLEAVED_SEED` is the
//! seed of the first one, by default 1; the others have the following seeds. A program with more than
//! `INTERLEAVED_STEPS` steps in all interleavings, by default 100,000, is skipped.

use cfa::interp::{Flaw, InputSource, Interpreter, Limits, Machine, Sharing, Unknown};
use cfa::{Bv, Check, Program};
use engine::Verdict;
use engine::budget::Budget;
use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        let mut random = Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        (0..4).for_each(|_| {
            random.below(2);
        });
        random
    }
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % bound
    }
    fn choose(&mut self, list: &[&'static str]) -> &'static str {
        list[self.below(list.len())]
    }
}

/// A generator of programs with two or three threads, including the one of `main`.
struct Generator {
    random: Random,
    text: String,
    /// The two non-atomic variables of this program. There are only two, so that threads often access the same one.
    plain: [&'static str; 2],
    /// True if all accesses to non-atomic variables hold a lock. It is mostly, but not always, the same lock.
    is_locked: bool,
    /// The number of statements that may still be added to the current thread.
    left: usize,
    depth: usize,
}

/// Non-atomic memory: global variables, elements of an array, and members of structs on the heap and on the stack of
/// the first thread.
const PLAIN: [&str; 6] = ["x", "y", "list[0]", "list[1]", "heap->value", "stack->value"];
const ATOMIC: [&str; 2] = ["p", "q"];
const LOCKS: [&str; 2] = ["m", "n"];

impl Generator {
    fn line(&mut self, text: &str) {
        let indent = "    ".repeat(self.depth);
        let _ = writeln!(self.text, "{indent}{text}");
    }

    fn block(&mut self, head: &str, statements: usize) {
        self.line(&format!("{head} {{"));
        self.depth += 1;
        for _ in 0..statements {
            self.statement();
        }
        self.depth -= 1;
        self.line("}");
    }

    fn condition(&mut self) -> String {
        let value = self.random.below(3);
        let left = match self.random.below(4) {
            0 => "r".to_owned(),
            1 => format!("atomic_load(&{})", self.random.choose(&ATOMIC)),
            _ => self.random.choose(&self.plain).to_owned(),
        };
        format!("{left} {} {value}", self.random.choose(&["==", "==", "!=", ">"]))
    }

    fn statement(&mut self) {
        if self.left == 0 {
            return;
        }
        self.left -= 1;
        let (to, from) = (self.random.choose(&self.plain), self.random.choose(&self.plain));
        if self.is_locked {
            let lock = LOCKS[usize::from(self.random.below(3) == 0)];
            let access = [format!("{to}++;"), format!("r = {to};"), format!("if ({to} == 1 && r == 0) reach_error();")];
            let access = &access[self.random.below(3)];
            return self.line(&format!("pthread_mutex_lock(&{lock}); {access} pthread_mutex_unlock(&{lock});"));
        }
        let (atomic, lock) = (self.random.choose(&ATOMIC), self.random.choose(&LOCKS));
        let value = self.random.below(3);
        let deep = self.depth > 2;
        match self.random.below(18) {
            0 | 1 => self.line(&format!("{to} = {value};")),
            2 => self.line(&format!("{to}++;")),
            3 => self.line(&format!("r = {from};")),
            4 => self.line(&format!("{to} = r + {value};")),
            5 => self.line(&format!("{to} = {from} + 1;")),
            6 => self.line(&format!("atomic_store(&{atomic}, {value});")),
            7 => self.line(&format!("r = atomic_fetch_add(&{atomic}, 1);")),
            8 => self.line(&format!("r = atomic_load(&{atomic});")),
            9 => self.line(&format!("r = __sync_bool_compare_and_swap((int *)&{atomic}, r, {value});")),
            10..=12 if !deep => {
                self.line(&format!("pthread_mutex_lock(&{lock});"));
                self.statement();
                self.statement();
                self.line(&format!("pthread_mutex_unlock(&{lock});"));
            }
            13 if !deep => {
                let count = 1 + self.random.below(2);
                self.block(&format!("if (pthread_mutex_trylock(&{lock}) == 0)"), count);
                let end = self.text.trim_end().len() - 1;
                self.text.truncate(end);
                let _ = writeln!(self.text, "    pthread_mutex_unlock(&{lock});\n{}}}", "    ".repeat(self.depth));
            }
            14 if !deep => {
                let condition = self.condition();
                self.block(&format!("if ({condition})"), 1);
            }
            15 if !deep => {
                self.line("__VERIFIER_atomic_begin();");
                self.line(&format!("{to} = {from} + 1;"));
                self.line("__VERIFIER_atomic_end();");
            }
            16 => self.line("sem_post(&s);"),
            17 if self.random.below(3) == 0 => self.line("sem_wait(&s);"),
            _ => {
                let (one, other) = (self.condition(), self.condition());
                self.line(&format!("if ({one} && {other}) reach_error();"));
            }
        }
    }

    /// The program with this seed.
    fn program(seed: u64) -> String {
        let mut random = Random::new(seed);
        let plain = [random.choose(&PLAIN), random.choose(&PLAIN)];
        let is_locked = random.below(3) == 0;
        let mut this = Self { random, text: String::new(), plain, is_locked, left: 0, depth: 0 };
        this.text += "#include <pthread.h>\n#include <semaphore.h>\n#include <stdatomic.h>\n#include <stdlib.h>\n\
                      void reach_error(void);\nvoid __VERIFIER_atomic_begin(void);\nvoid __VERIFIER_atomic_end(void);\n\
                      struct cell {\n    int value;\n};\nint x, y, list[2];\natomic_int p, q;\nstruct cell *heap, *stack;\n\
                      pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;\nsem_t s;\n";
        let threads = 1 + this.random.below(2);
        let size = 4 - threads + usize::from(this.is_locked);
        for thread in 0..threads {
            this.line(&format!("void *thread{thread}(void *unused) {{"));
            this.depth = 1;
            this.left = size;
            this.line("int r = 0;");
            while this.left > 0 {
                this.statement();
            }
            this.line("return NULL;");
            this.depth = 0;
            this.line("}");
        }
        this.text += "int main(void) {\n    pthread_t ids[2];\n    struct cell own = {0};\n    int r = 0;\n    stack = &own;\n    \
                      heap = calloc(1, sizeof *heap);\n    sem_init(&s, 0, 0);\n";
        this.depth = 1;
        // The threads may have one start function, and loops may start and join them.
        let is_same = threads == 2 && this.random.below(2) == 0;
        let has_loops = is_same && this.random.below(2) == 0;
        let joins_in_loop = has_loops && this.random.below(2) == 0;
        let join = match this.random.below(3) {
            0 => String::new(),
            _ => format!("pthread_join(ids[0], NULL); {}++;", this.random.choose(&this.plain.clone())),
        };
        match has_loops {
            true if joins_in_loop => this.line(&format!(
                "for (int i = 0; i < 2; i++) {{\n        pthread_create(&ids[0], NULL, thread0, NULL); {join}\n    }}"
            )),
            true => this.line("for (int i = 0; i < 2; i++)\n        pthread_create(&ids[i], NULL, thread0, NULL);"),
            false => (0..threads).for_each(|thread| {
                let start = if is_same { 0 } else { thread };
                this.line(&format!("pthread_create(&ids[{thread}], NULL, thread{start}, NULL);"));
            }),
        }
        this.left = this.random.below(size);
        while this.left > 0 {
            this.statement();
        }
        match has_loops {
            true if joins_in_loop => {}
            true => {
                let bound = ["2", "2", "2", "1"][this.random.below(4)];
                this.line(&format!("for (int i = 0; i < {bound}; i++)\n        pthread_join(ids[i], NULL);"));
            }
            false => (0..threads).for_each(|thread| {
                if this.random.below(8) > 0 {
                    this.line(&format!("pthread_join(ids[{thread}], NULL);"));
                }
            }),
        }
        if this.is_locked && this.random.below(2) == 0 {
            let to = this.random.choose(&this.plain.clone());
            this.line(&format!("{to}++;"));
        }
        if !this.is_locked {
            let (one, other) = (this.condition(), this.condition());
            this.line(&format!("if ({one} && {other}) reach_error();"));
        }
        this.text += "    return 0;\n}\n";
        this.text
    }
}

/// The checks. Each program is verified for one of them.
const QUESTIONS: [Check; 3] = [Check::Call, Check::DataRace, Check::Deadlock];

fn load(folder: &Path, seed: u64, question: Check) -> Program {
    let source = folder.join(format!("{seed}.c"));
    std::fs::write(&source, Generator::program(seed)).expect("a file");
    let options =
        frontend_llvm::Options { inputs: vec![source.into()], threads: true, ..frontend_llvm::Options::default() };
    let mut program = frontend_llvm::load(&options).and_then(|module| module.lower()).expect("clang compiles it");
    match question {
        Check::Call => drop(instrument::unreach_call(&mut program, &["reach_error".to_owned()])),
        check => instrument::threads(&mut program, check, "violated"),
    }
    program
}

struct Zeros;

impl InputSource for Zeros {
    fn unknown(&mut self, _: Unknown, width: u32) -> Bv {
        Bv::zero(width)
    }
}

/// Adds a copy of the machine for each thread that can continue, with the thread that continues next.
fn successors<'r>(machine: &Machine<'r>, todo: &mut Vec<(Machine<'r>, u32)>) {
    todo.extend(machine.enabled().into_iter().map(|thread| (machine.clone(), thread)));
}

/// Runs all interleavings. Returns true if one ends in an error. `None` if they have more than `most` steps together.
fn is_violated(program: &Program, most: u64) -> Option<bool> {
    let interpreter = Interpreter::new(program);
    let machine = Machine::new(&interpreter, Limits::default(), None, &mut Zeros).expect("a program that starts");
    let mut todo: Vec<(Machine<'_>, u32)> = Vec::new();
    successors(&machine, &mut todo);
    let mut steps = 0;
    while let Some((mut machine, thread)) = todo.pop() {
        steps += 1;
        if steps > most {
            return None;
        }
        let mut end = machine.step(thread, &mut Zeros).err();
        if end.is_none() && machine.enabled().is_empty() {
            end = Some(machine.blocked());
        }
        match end {
            Some(end) if end.error(program).is_some() => return Some(true),
            Some(_) => {}
            None => successors(&machine, &mut todo),
        }
    }
    Some(false)
}

/// Returns the verdict of the exploration: true if an error is reachable. `Err` with the reason if it is unknown.
fn explored(program: &Program, sharing: Sharing) -> Result<bool, String> {
    match engine::threads::explore(program, &Budget::unlimited(), Duration::from_secs(20), sharing).verdict {
        Verdict::True => Ok(false),
        Verdict::False(_) => Ok(true),
        Verdict::Unknown(reason) => Err(reason.text),
    }
}

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).map_or(otherwise, |value| value.parse().expect("a number"))
}

#[test]
fn random_programs_get_the_verdicts_of_all_interleavings() {
    let folder = tempfile::tempdir().unwrap();
    let (first, count) = (number("INTERLEAVED_SEED", 1), number("INTERLEAVED_PROGRAMS", 25));
    let most = number("INTERLEAVED_STEPS", 100_000);
    let (mut violated, mut safe, mut too_many, mut open, mut proved) = (0, 0, 0, 0, 0);
    for seed in first..first + count {
        let question = QUESTIONS[seed as usize % QUESTIONS.len()];
        let program = load(folder.path(), seed, question);
        let Some(truth) = is_violated(&program, most) else {
            too_many += 1;
            continue;
        };
        if question == Check::DataRace && engine::threads::are_race_free(&program) {
            assert!(!truth, "seed {seed}, locksets:\n{}", Generator::program(seed));
            proved += 1;
        }
        match explored(&program, Sharing::default()) {
            Ok(verdict) => assert_eq!(verdict, truth, "seed {seed}, {question}:\n{}", Generator::program(seed)),
            Err(reason) => {
                open += 1;
                println!("seed {seed}, {question}: {reason}");
            }
        }
        *if truth { &mut violated } else { &mut safe } += 1;
    }
    println!(
        "seeds from {first}: {violated} violated, {safe} safe, {open} of them open, {too_many} with too many interleavings; \
         {proved} proved by locksets"
    );
    assert!(violated * 8 > count && safe * 8 > count && open * 10 <= count, "the programs say little");
}

#[test]
fn random_programs_find_what_does_not_commute() {
    let folder = tempfile::tempdir().unwrap();
    for flaw in [Flaw::ReadersCommute, Flaw::LocksAreOne] {
        let is_wrong = |seed: u64| {
            let program = load(folder.path(), seed, [Check::Call, Check::DataRace][seed as usize % 2]);
            explored(&program, Sharing::with_flaw(flaw)) == Ok(false) && is_violated(&program, 20_000) == Some(true)
        };
        let found = (1..number("INTERLEAVED_TRIES", 100)).find(|&seed| is_wrong(seed));
        println!("{flaw:?}: found by seed {found:?}");
        assert!(found.is_some(), "{flaw:?} is not found");
    }
}

/// Random bits. All other values are 0.
struct Bits(Random);

impl InputSource for Bits {
    fn unknown(&mut self, _: Unknown, width: u32) -> Bv {
        match width {
            1 => Bv::new(1, u64::from(self.0.below(3) == 0)),
            _ => Bv::zero(width),
        }
    }
}

#[test]
fn sequential_programs_have_the_violations_of_the_threads() {
    let folder = tempfile::tempdir().unwrap();
    let (first, count) = (number("INTERLEAVED_SEED", 1), number("INTERLEAVED_PROGRAMS", 25));
    let most = number("INTERLEAVED_STEPS", 100_000);
    let limits = Limits { steps: 20_000, ..Limits::default() };
    let (mut violated, mut found, mut refused) = (0, 0, 0);
    for seed in first..first + count {
        let program = load(folder.path(), seed, Check::Call);
        let Some(truth) = is_violated(&program, most) else { continue };
        let mut sequential = program.clone();
        match instrument::sequentialise(&mut sequential, 4) {
            Ok(bounds) => assert!(bounds.is_some_and(|bounds| !bounds.threads.is_empty())),
            Err(construct) => {
                println!("seed {seed}: {}", construct.construct);
                refused += 1;
                continue;
            }
        }
        assert!(!sequential.starts_threads());
        cfa::validate::validate(&sequential).unwrap_or_else(|violations| panic!("seed {seed}: {}", violations[0]));
        let interpreter = Interpreter::new(&sequential);
        let fails = |run: u64| {
            let run = interpreter.run(&mut Bits(Random::new(run)), limits, &mut ());
            run.outcome.error(&sequential).is_some()
        };
        let is_found = (0..number("INTERLEAVED_RUNS", 600)).any(fails);
        assert!(truth || !is_found, "seed {seed}:\n{}", Generator::program(seed));
        violated += u64::from(truth);
        found += u64::from(is_found);
    }
    println!("seeds from {first}: {violated} violated, {found} of them found by random runs, {refused} refused");
    assert!(found * 10 >= violated * 7 && refused * 10 <= count, "the sequential programs have too few executions");
}
