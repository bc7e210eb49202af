//! Mutation of the inputs of processes, guided by coverage (as in AFL++: Fioraldi et al., AFL++: Combining incremental
//! steps of fuzzing research, WOOT 2020). A process is kept if its run executes an edge a number of times in a class (1, 2,
//! 3, 4 to 7, 8 to 15, …) that no earlier run had, or if it comes nearer to an open goal. Words, numbers and characters
//! of the program are a dictionary. [`Schedule`] chooses between random mutations, mutations of the processes nearest to
//! open goals, and queued candidates, by their recent success. The options that a run passes to `getopt` are tried alone
//! and with arguments, and new arguments with texts that were successful with others.

use super::guide::{OptionForm, Pair};
use super::schedule::{Schedule, Source};
use cfa::{EdgeId, Expr, FunctionOrigin, Program};
use driver::environment::Process;
use driver::environment::replay::RequestedInputs;
use frontend_llvm::scan_format::{directives, is_space};
use rustc_hash::FxHashSet;
use std::collections::{BTreeMap, BTreeSet};

/// The maximal length of a word of the dictionary, in bytes.
const LONGEST_WORD: usize = 32;
/// The maximal number of words of the dictionary.
const MOST_WORDS: usize = 1000;
/// The maximal number of files, and of environment variables, that are created because the program looks for them.
const MOST_NAMES: usize = 100;
/// The maximal size of a process, in bytes.
const LARGEST: usize = 4096;
/// The maximal number of mutations of a process at once is 2 to the power of this number.
const STACKED: u64 = 3;

/// The maximal number of texts with which new arguments are tried.
const MOST_TEXTS: usize = 8;
/// The first of these texts: lines that are equal, empty or long, have several fields or numbers, or lack their end.
const TEXTS: [&[u8]; 5] = [
    b"a\na\nb\nb\nc\n",
    b"b a\n\nA b c",
    b"1\t-2\t03.5\n",
    b"a:b,c d\n",
    b"Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt\n",
];
/// The arguments with which a new option is tried.
const OPTION_ARGUMENTS: [&[u8]; 6] = [b"", b"1", b"2", b"-1", b"a", b"1-2,4"];

/// A generator of random numbers (Vigna: An experimental exploration of Marsaglia's xorshift generators, scrambled,
/// TOMS 2016).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
    /// Returns a number below `end`, which is not 0.
    fn below(&mut self, end: usize) -> usize {
        ((self.next() >> 33) as usize) % end
    }
    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
    fn choose<'t, T>(&mut self, list: &'t [T]) -> Option<&'t T> {
        if list.is_empty() { None } else { Some(&list[self.below(list.len())]) }
    }
}

/// The words, numbers and characters in the code of a program.
#[derive(Default)]
struct Dictionary {
    words: Vec<Vec<u8>>,
    characters: Vec<u8>,
}

impl Dictionary {
    fn new(program: &Program) -> Self {
        let mut globals = FxHashSet::default();
        let (mut numbers, mut characters) = (BTreeSet::new(), BTreeSet::new());
        let mut seen = FxHashSet::default();
        let mut stack = Vec::new();
        for (id, edge) in program.edges.iter() {
            if program.funcs[program.func_of(id)].origin != FunctionOrigin::Source {
                continue;
            }
            edge.op.for_each_expr(|e| {
                program.exprs.visit(e, &mut seen, |_, node| match node {
                    Expr::GlobalAddr(global) => stack.push(*global),
                    Expr::Const(constant) => {
                        if let Some(value) = constant.to_u64() {
                            let byte = u8::try_from(value).ok();
                            characters.extend(byte.filter(|b| b.is_ascii_graphic() || b.is_ascii_whitespace()));
                            let signed = match constant.width() {
                                1..=32 => i64::from(value as u32 as i32),
                                _ => value as i64,
                            };
                            numbers.insert(signed);
                        }
                    }
                    _ => {}
                });
            });
        }
        // Tables of strings lead to more strings.
        let mut words = BTreeSet::new();
        while let Some(global) = stack.pop() {
            let Some(init) = program.globals[global].init.as_ref().filter(|_| globals.insert(global)) else { continue };
            for (_, e) in &init.pointers {
                program.exprs.visit(*e, &mut FxHashSet::default(), |_, node| {
                    if let Expr::GlobalAddr(other) = node {
                        stack.push(*other);
                    }
                });
            }
            for word in init.bytes.split(|&b| b == 0) {
                let is_text = word.iter().all(|b| b.is_ascii_graphic() || b.is_ascii_whitespace());
                if is_text && (1..=LONGEST_WORD).contains(&word.len()) {
                    words.insert(word.to_vec());
                }
            }
        }
        // A string may be an option list of `getopt` or an option name of `getopt_long`. Its letters, or the whole
        // string, become options of the dictionary.
        let mut options = BTreeSet::new();
        for word in &words {
            let is_name = word.iter().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(b));
            let is_letters = word.iter().all(|b| b.is_ascii_alphanumeric() || b":+-?".contains(b));
            if is_name && word.len() > 1 && word[0] != b'-' {
                options.insert([b"--", word.as_slice()].concat());
            }
            if is_letters {
                options.extend(word.iter().filter(|b| b.is_ascii_alphanumeric()).map(|&b| vec![b'-', b]));
            }
        }
        words.extend(options);
        // The texts of special values are not in the program.
        const READS_REALS: [&str; 4] = ["strtod", "strtof", "strtold", "atof"];
        if program.funcs.values().any(|f| READS_REALS.contains(&f.name.as_str())) {
            words.extend(["nan", "inf", "-inf", "1e999", "1e-9"].map(|word| word.as_bytes().to_vec()));
        }
        let formats: Vec<Vec<u8>> = words.iter().filter(|word| word.contains(&b'%')).cloned().collect();
        words.extend(formats.iter().flat_map(|format| scanned(format)));
        words.extend(
            numbers.iter().flat_map(|n| [n.wrapping_sub(1), *n, n.wrapping_add(1)]).map(|n| n.to_string().into_bytes()),
        );
        Self { words: words.into_iter().take(MOST_WORDS).collect(), characters: characters.into_iter().collect() }
    }
}

/// Returns texts that `scanf` reads with this format: one for each number of conversions.
fn scanned(format: &[u8]) -> Vec<Vec<u8>> {
    let (mut out, mut text) = (Vec::new(), Vec::new());
    for directive in directives(format).0 {
        if directive.after_space && !text.is_empty() {
            text.push(b' ');
        }
        match directive.conversion {
            0 | b'%' => text.push(directive.literal),
            b's' | b'c' => text.push(b'a'),
            b'[' => {
                let set = &format[directive.set.clone()];
                let is_in = |b: &u8| set.contains(b) != directive.complement && !is_space(*b);
                text.extend((b'!'..=b'~').rev().find(is_in));
            }
            _ => text.push(b'1'),
        }
        if !directive.is_literal() {
            out.push(text.clone());
        }
    }
    out.retain(|text| text.len() <= LONGEST_WORD);
    out
}

/// A process that is mutated.
#[derive(Clone)]
struct Kept {
    process: Process,
    /// The paths of the files that its run read, or tried to open in vain.
    files: Vec<Vec<u8>>,
    /// The paths of the files that its run opened for writing.
    created: BTreeSet<Vec<u8>>,
    /// True if its run read standard input.
    reads_stdin: bool,
    /// The number of steps of its run.
    steps: u64,
    /// The number of edges that its run took before any other run.
    gain: usize,
    /// True if its path was followed.
    is_followed: bool,
}

/// The process whose run was nearest to an open goal.
struct Nearest {
    kept: Kept,
    distance: u64,
}

/// The novelty of a run, compared with all earlier ones.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Novelty {
    /// Its path is not new, and it is not nearer to an open goal.
    Nothing,
    /// Its path is new, it is nearer to an open goal, or it combines other processes.
    Path,
    /// It took an edge of the program that no earlier run took.
    Edge,
}

/// Creates new processes by mutation of those that were run.
pub struct Mutator {
    random: Random,
    dictionary: Dictionary,
    /// The processes whose runs took a new path.
    kept: Vec<Kept>,
    /// By open goal, the process whose run was nearest to it.
    nearest: BTreeMap<u32, Nearest>,
    /// The processes that wait, and the success of their sources.
    schedule: Schedule,
    /// By edge: true if it is in a function of the program, and not in a model of the library.
    is_own: Vec<bool>,
    /// The texts with which new arguments are tried.
    texts: Vec<Vec<u8>>,
    /// The options that runs passed to `getopt`.
    options: Vec<OptionForm>,
    /// The source and the number of known edges before the run of the process that was returned last.
    running: Option<(Source, usize)>,
    /// The number of edges that runs took.
    edges: usize,
    /// For each edge, a bit set: bit `n` is set if some run executed the edge a number of times in class `n`.
    seen: Vec<u8>,
    /// The number of runs with a new path, or with a lower distance to an open goal.
    progress: usize,
    /// True if a run used its arguments.
    takes_arguments: bool,
    /// True if a run read standard input.
    takes_stdin: bool,
    /// The paths of the missing files that runs tried to open.
    files: Vec<Vec<u8>>,
    /// The names of the environment variables that runs looked up.
    variables: Vec<Vec<u8>>,
}

impl Mutator {
    /// Returns a mutator for a program. It starts with an empty process and those of `start`. Equal seeds give equal
    /// processes.
    pub fn new(program: &Program, seed: u64, start: Vec<Process>) -> Self {
        let mut schedule = Schedule::new();
        std::iter::once(Process::default()).chain(start).for_each(|process| schedule.add(Source::Start, process));
        let is_own = |edge: EdgeId| program.funcs[program.func_of(edge)].origin == FunctionOrigin::Source;
        Self {
            random: Random(seed ^ 0x9e37_79b9_7f4a_7c15),
            dictionary: Dictionary::new(program),
            kept: Vec::new(),
            nearest: BTreeMap::new(),
            schedule,
            is_own: program.edges.ids().map(is_own).collect(),
            texts: TEXTS.iter().map(|text| text.to_vec()).collect(),
            options: Vec::new(),
            running: None,
            edges: 0,
            seen: vec![0; program.edges.len()],
            progress: 0,
            takes_arguments: false,
            takes_stdin: false,
            files: Vec::new(),
            variables: Vec::new(),
        }
    }

    /// Returns the number of runs so far with a new path, or with a lower distance to an open goal.
    pub fn progress(&self) -> usize {
        self.progress
    }

    /// Returns the edges of the program that a run with these numbers of executions takes, and no run before.
    pub fn new_edges(&self, counts: &[u32]) -> Vec<EdgeId> {
        let edges = self.seen.iter().zip(counts).zip(&self.is_own).enumerate();
        let is_new = |((&seen, &count), &is_own): ((&u8, &u32), &bool)| seen == 0 && count > 0 && is_own;
        edges.filter(|(_, edge)| is_new(*edge)).map(|(edge, _)| EdgeId(edge as u32)).collect()
    }

    /// Records a run of a process with the number of executions of each edge, and its distances to open goals. Keeps
    /// the process if its path is new or a distance is lower.
    pub fn learn(
        &mut self,
        process: &Process,
        counts: &[u32],
        wanted: &RequestedInputs,
        distances: impl IntoIterator<Item = (u32, u64)>,
    ) -> Novelty {
        let gain = self.new_edges(counts).len();
        let mut is_new = false;
        for (seen, &count) in self.seen.iter_mut().zip(counts) {
            let class = match count {
                0 => continue,
                1..=3 => count - 1,
                4..=7 => 3,
                8..=15 => 4,
                16..=31 => 5,
                32..=127 => 6,
                _ => 7,
            };
            is_new |= *seen & 1 << class == 0;
            *seen |= 1 << class;
        }
        self.edges += gain;
        let steps: u64 = counts.iter().map(|&count| u64::from(count)).sum();
        let kept = || {
            let opened = wanted.opened.iter().filter(|file| file.is_read).filter_map(|file| file.name.clone());
            let files: BTreeSet<Vec<u8>> = opened.chain(wanted.missing.iter().cloned()).collect();
            let files =
                files.into_iter().filter(|path| process.files.contains_key(path) || wanted.missing.contains(path));
            let (files, reads_stdin) = (files.collect(), wanted.stdin);
            let created = wanted.created.clone();
            Kept { process: process.clone(), files, created, reads_stdin, steps, gain, is_followed: false }
        };
        let before = self.progress;
        for (goal, distance) in distances {
            if self.nearest.get(&goal).is_none_or(|nearest| distance < nearest.distance) {
                self.progress += 1;
                self.nearest.insert(goal, Nearest { kept: kept(), distance });
            }
        }
        if is_new {
            self.progress += 1;
            let kept = kept();
            if gain > 0 {
                self.combine(&kept);
            }
            self.kept.push(kept);
        }
        self.want(process, wanted);
        let running = self.running.take();
        if let Some((source, known)) = running {
            self.schedule.record(source, self.edges - known, self.progress > before, steps);
        }
        // A combination takes known edges one after another. Their conditions may then depend on each other.
        let is_combined = running.is_some_and(|(source, _)| source == Source::Combined);
        match self.progress > before || is_combined {
            _ if gain > 0 => Novelty::Edge,
            true => Novelty::Path,
            false => Novelty::Nothing,
        }
    }

    /// Queues combinations of a process that took new edges: its arguments with other texts and with folders in place of
    /// its files, its text with other arguments, and its text before and after the texts of others that took new edges.
    fn combine(&mut self, kept: &Kept) {
        /// The number of other processes for each kind of combination.
        const OTHERS: usize = 8;
        let texts = |kept: &Kept, text: &[u8]| {
            let mut all = Vec::new();
            if kept.reads_stdin {
                all.push(Process { stdin: text.to_vec(), ..kept.process.clone() });
            }
            for path in &kept.files {
                let mut process = kept.process.clone();
                process.files.insert(path.clone(), text.to_vec());
                all.push(process);
            }
            all
        };
        let mut combined = Vec::new();
        for path in kept.files.iter().chain(&kept.created) {
            combined.extend(with_folder(&kept.process, path));
        }
        for text in &self.texts {
            combined.extend(texts(kept, text));
        }
        let own = [&kept.process.stdin].into_iter().chain(kept.process.files.values());
        for text in own.filter(|text| !text.is_empty()).cloned().collect::<Vec<_>>() {
            if self.texts.contains(&text) || self.kept.is_empty() {
                continue;
            }
            for _ in 0..OTHERS {
                let other = &self.kept[self.random.below(self.kept.len())];
                combined.extend(texts(other, &text));
            }
            let successful: Vec<&Kept> = self.kept.iter().filter(|other| other.gain > 0).collect();
            for _ in 0..OTHERS {
                let Some(Kept { process: other, .. }) = self.random.choose(&successful) else { break };
                for other in [&other.stdin].into_iter().chain(other.files.values()).filter(|other| !other.is_empty()) {
                    for (first, second) in [(other, &text), (&text, other)] {
                        let end: &[u8] = if first.ends_with(b"\n") { b"" } else { b"\n" };
                        combined.extend(texts(kept, &[first, end, second].concat()));
                    }
                }
            }
            if self.texts.len() == MOST_TEXTS {
                self.texts.remove(TEXTS.len());
            }
            self.texts.push(text);
        }
        combined.retain(|process| *process != kept.process && process.size() <= LARGEST);
        combined.into_iter().for_each(|process| self.schedule.add(Source::Combined, process));
    }

    /// Records the options of a program. Queues processes with each new option, alone and with arguments.
    pub fn learn_options(&mut self, process: &Process, options: BTreeSet<OptionForm>) {
        for option in options {
            if self.options.contains(&option) {
                continue;
            }
            let mut all = vec![vec![option.text.clone()]];
            if option.takes.0 {
                all.extend(OPTION_ARGUMENTS.iter().map(|argument| with_argument(&option, argument)));
            }
            for arguments in all {
                self.schedule.add(Source::Option, Process { arguments, ..process.clone() });
            }
            self.options.push(option);
        }
    }

    /// Returns a random option, with an argument if it takes one.
    fn option(&mut self) -> Vec<Vec<u8>> {
        let Some(option) = self.random.choose(&self.options).cloned() else { return vec![self.word()] };
        let (may_take, must_take) = option.takes;
        if !may_take || (!must_take && self.random.one_in(4)) {
            return vec![option.text];
        }
        let argument = match self.random.below(8) {
            0..4 => self.random.below(12).to_string().into_bytes(),
            4 => vec![self.character()],
            5 => self.random.choose(&OPTION_ARGUMENTS).map(|argument| argument.to_vec()).unwrap_or_default(),
            _ => self.word(),
        };
        with_argument(&option, &argument)
    }

    /// Returns the kept process whose path is to be followed next, each once: the one that took the most new edges, and
    /// of several the newest.
    pub fn next_to_follow(&mut self) -> Option<Process> {
        let open = self.kept.iter_mut().filter(|kept| !kept.is_followed);
        let next = open.max_by_key(|kept| kept.gain)?;
        next.is_followed = true;
        Some(next.process.clone())
    }

    /// Returns for each edge whether a run has taken it.
    pub fn reached(&self) -> Vec<bool> {
        self.seen.iter().map(|&seen| seen != 0).collect()
    }

    /// Queues children of generational search. They run in this order, and before earlier ones.
    pub fn put_first(&mut self, processes: Vec<Process>) {
        let small = processes.into_iter().rev().filter(|process| process.size() <= LARGEST);
        small.for_each(|process| self.schedule.add(Source::Child, process));
    }

    /// Forgets the processes that were nearest to goals that are decided.
    pub fn retain_goals(&mut self, is_open: impl Fn(u32) -> bool) {
        self.nearest.retain(|goal, _| is_open(*goal));
    }

    /// Queues variants of a process in which the first value of a pair is replaced by the second. An empty string may be
    /// anywhere, and is at the end of an input if numbers were compared. If a value occurs often, occurrences that are
    /// whole words are replaced. Variants of processes whose runs took new edges run first.
    pub fn replace(&mut self, process: &Process, novelty: Novelty, pairs: &BTreeSet<Pair>, source: Source) {
        /// The maximal number of occurrences of a value in an input that are replaced, each in a process of its own.
        const MOST: usize = 4;
        /// The maximal number of places in an input at which a value is inserted.
        const MOST_PLACES: usize = 32;
        for (from, to) in pairs {
            for n in 0..parts_of(process) {
                let places: Vec<usize> = {
                    let bytes = part_of(process, n);
                    let mut starts: Vec<usize> =
                        (0..=bytes.len()).filter(|&at| bytes[at..].starts_with(from)).collect();
                    starts.sort_by_key(|&at| cut_words(bytes, at, at + from.len()));
                    starts.truncate(if from.is_empty() { MOST_PLACES } else { MOST });
                    match (source, &from[..]) {
                        // A text ends where a zero was compared.
                        (Source::Number, []) => vec![bytes.len()],
                        _ => starts,
                    }
                };
                for at in places {
                    let mut changed = process.clone();
                    let is_text = change_part(&mut changed, n, |bytes| {
                        bytes.splice(at..at + from.len(), to.iter().copied());
                    });
                    if !is_text || changed.size() > LARGEST {
                        continue;
                    }
                    match novelty {
                        Novelty::Edge => self.schedule.add(source, changed),
                        Novelty::Path | Novelty::Nothing => self.schedule.add_later(source, changed),
                    }
                }
            }
        }
    }

    /// Records the inputs that the program requests. For each new kind of input, queues processes with each word of the
    /// dictionary as that input.
    fn want(&mut self, base: &Process, wanted: &RequestedInputs) {
        let words = self.dictionary.words.clone();
        let mut add = |process: Process| self.schedule.add(Source::Word, process);
        let line = |word: &[u8]| [word, b"\n"].concat();
        if wanted.arguments && !self.takes_arguments {
            self.takes_arguments = true;
            add(Process { arguments: vec![Vec::new()], ..Process::default() });
            for word in &words {
                add(Process { arguments: vec![word.clone()], ..Process::default() });
                add(Process { arguments: vec![word.clone(), b"1".to_vec()], ..Process::default() });
            }
        }
        if wanted.stdin && !self.takes_stdin {
            self.takes_stdin = true;
            add(Process { stdin: b"\n".to_vec(), ..Process::default() });
            for word in &words {
                add(Process { stdin: line(word), ..Process::default() });
            }
        }
        for path in &wanted.missing {
            if !self.files.contains(path) && self.files.len() < MOST_NAMES {
                self.files.push(path.clone());
                // An argument may be a file name, so there may be many names. Only the first two get all words.
                let count = if self.files.len() <= 2 { words.len() } else { 0 };
                for text in std::iter::once(&Vec::new()).chain(&self.texts) {
                    let mut process = base.clone();
                    process.files.insert(path.clone(), text.clone());
                    self.schedule.add(Source::Combined, process);
                }
                for content in words[..count].iter().map(|word| line(word)) {
                    let mut process = base.clone();
                    process.files.insert(path.clone(), content);
                    self.schedule.add(Source::Word, process);
                }
            }
        }
        for name in &wanted.variables {
            if !self.variables.contains(name) && self.variables.len() < MOST_NAMES && !name.is_empty() {
                self.variables.push(name.clone());
                for value in std::iter::once(Vec::new()).chain(words.iter().cloned()) {
                    let mut process = base.clone();
                    process.variables.insert(name.clone(), value);
                    self.schedule.add(Source::Word, process);
                }
            }
        }
    }

    /// Returns the next process to run.
    pub fn next_process(&mut self) -> Process {
        let is_ready = |source| match source {
            Source::Mutation => !self.kept.is_empty(),
            Source::Near => !self.nearest.is_empty(),
            _ => self.schedule.is_waiting(source),
        };
        let chance = (self.random.next() >> 40) as f64 / (1 << 24) as f64;
        let source = self.schedule.next_source(is_ready, chance).unwrap_or(Source::Mutation);
        self.running = Some((source, self.edges));
        match source {
            Source::Near => return self.approach(),
            Source::Mutation => {}
            _ => {
                let number = self.random.next() as usize;
                return self.schedule.take(source, number).unwrap_or_default();
            }
        }
        // Half of the time, prefer the newest quarter: these processes reached the deepest code.
        let count = self.kept.len();
        let recent = count.div_ceil(4).max(1);
        if count == 0 {
            return Process::default();
        }
        let mut pick = || match self.random.one_in(2) {
            true => self.random.below(count),
            false => count - 1 - self.random.below(recent),
        };
        // The search prefers the process with the shorter run.
        let (a, b) = (pick(), pick());
        let at = if self.kept[a].steps <= self.kept[b].steps { a } else { b };
        let Kept { mut process, files, .. } = self.kept[at].clone();
        if self.random.one_in(4) {
            self.cross(&mut process);
        }
        for _ in 0..1 << self.random.below(STACKED as usize + 1) {
            self.mutate(&mut process, &files);
        }
        if process.size() > LARGEST { Process::default() } else { process }
    }

    /// Returns a mutation of the process that was nearest to some open goal.
    fn approach(&mut self) -> Process {
        let index = self.random.below(self.nearest.len());
        let Some(Nearest { kept, distance }) = self.nearest.values().nth(index) else { return Process::default() };
        let (Kept { mut process, files, .. }, distance) = (kept.clone(), *distance);
        let repeats = distance > 1 && !with_lines(&process).is_empty();
        match self.random.below(if repeats { 7 } else { 6 }) {
            0 => self.number(&mut process, distance),
            // A condition may depend on several numbers.
            1 => (0..1 + self.random.below(3)).for_each(|_| self.number(&mut process, distance)),
            6 => self.repeat(&mut process, distance),
            2 | 3 if !self.kept.is_empty() => self.cross(&mut process),
            _ => (0..1 + self.random.below(2)).for_each(|_| self.mutate(&mut process, &files)),
        }
        if process.size() > LARGEST { Process::default() } else { process }
    }

    /// Changes a decimal number in one of the inputs.
    fn number(&mut self, process: &mut Process, distance: u64) {
        let mut numbers = Vec::new();
        for n in 0..parts_of(process) {
            let bytes = part_of(process, n);
            let mut at = 0;
            while at < bytes.len() {
                let length = bytes[at..].iter().take_while(|b| b.is_ascii_digit()).count();
                if length > 0 {
                    // In `2-1`, the character before the number is no sign.
                    let is_sign = |at: usize| bytes[at] == b'-' && (at == 0 || !bytes[at - 1].is_ascii_alphanumeric());
                    let is_negative = at > 0 && is_sign(at - 1);
                    numbers.push((n, at - usize::from(is_negative), at + length));
                }
                at += length.max(1);
            }
        }
        let Some(&(n, from, to)) = self.random.choose(&numbers) else { return };
        let text = String::from_utf8_lossy(&part_of(process, n)[from..to]).into_owned();
        let Ok(value) = text.parse::<i64>() else { return };
        let step = match self.random.below(4) {
            0 => 1,
            1 => (distance >> self.random.below(1 + distance.checked_ilog2().unwrap_or(0) as usize)) as i64,
            2 => self.random.below(10) as i64,
            _ => 1 << (self.random.next() % (1 + self.random.next() % 32)),
        };
        let value = match self.random.below(6) {
            0 => value.wrapping_neg(),
            1 => value.wrapping_mul(10).wrapping_add(step % 10),
            2 => value / 10,
            n => value.wrapping_add(if n == 3 { step.wrapping_neg() } else { step }),
        };
        change_part(process, n, |bytes| {
            bytes.splice(from..to, value.to_string().into_bytes());
        });
    }

    /// Repeats a line of standard input or a file. The distance may be the number of lines that are missing.
    fn repeat(&mut self, process: &mut Process, distance: u64) {
        let Some(&n) = self.random.choose(&with_lines(process)) else { return };
        let mut lines: Vec<Vec<u8>> =
            part_of(process, n).split_inclusive(|&b| b == b'\n').map(<[u8]>::to_vec).collect();
        if let Some(last) = lines.last_mut().filter(|last| !last.ends_with(b"\n")) {
            last.push(b'\n');
        }
        let times = distance.saturating_add(self.random.below(2) as u64);
        let at = self.random.below(lines.len());
        repeat_line(&mut lines, at, usize::try_from(times).unwrap_or(usize::MAX));
        change_part(process, n, |bytes| *bytes = lines.concat());
    }

    fn mutate(&mut self, process: &mut Process, files: &[Vec<u8>]) {
        let parts = [self.takes_arguments, self.takes_stdin, !files.is_empty(), !self.variables.is_empty()];
        let parts: Vec<usize> = (0..parts.len()).filter(|&n| parts[n]).collect();
        match self.random.choose(&parts) {
            Some(0) => self.arguments(&mut process.arguments),
            Some(1) => self.content(&mut process.stdin),
            Some(2) => {
                let path = files[self.random.below(files.len())].clone();
                if self.random.one_in(8) {
                    process.files.remove(&path);
                } else {
                    let mut content = process.files.remove(&path).unwrap_or_default();
                    self.content(&mut content);
                    let is_folder =
                        process.files.keys().any(|other| is_within(other, &path) || is_within(&path, other));
                    if !is_folder {
                        process.files.insert(path, content);
                    }
                }
            }
            Some(3) => {
                let index = self.random.below(self.variables.len());
                let name = self.variables[index].clone();
                if self.random.one_in(4) {
                    process.variables.remove(&name);
                } else {
                    let mut value = process.variables.get(&name).cloned().unwrap_or_default();
                    self.text(&mut value);
                    process.variables.insert(name, value);
                }
            }
            _ => {}
        }
    }

    /// Combines the process with a part of another kept process (crossover).
    fn cross(&mut self, process: &mut Process) {
        let other = self.kept[self.random.below(self.kept.len())].process.clone();
        let mut ways = Vec::new();
        if self.takes_arguments {
            ways.extend([0, 1, 1]);
        }
        if !other.variables.is_empty() {
            ways.push(2);
        }
        if self.takes_stdin {
            ways.extend([3, 4]);
        }
        if !process.files.is_empty() {
            ways.push(4);
        }
        match self.random.choose(&ways) {
            None => {}
            Some(0) => process.arguments = other.arguments,
            Some(1) => {
                let at = self.random.below(process.arguments.len() + 1);
                process.arguments.splice(at..at, other.arguments);
                process.arguments.truncate(Process::MOST_ARGUMENTS);
            }
            Some(2) => process.variables.extend(other.variables),
            Some(3) => {
                // The beginning of one standard input, followed by the end of the other.
                let (from, to) = (self.random.below(other.stdin.len() + 1), self.random.below(process.stdin.len() + 1));
                process.stdin.truncate(to);
                process.stdin.extend(&other.stdin[from..]);
            }
            _ => {
                // Lines of the other process, inserted before a line.
                let from = self.random.below(parts_of(&other));
                let from = part_of(&other, from).split_inclusive(|&b| b == b'\n').collect::<Vec<_>>();
                let start = self.random.below(from.len().max(1));
                let count = 1 + self.random.below(3);
                let mut lines = from[start.min(from.len())..].iter().take(count).copied().collect::<Vec<_>>().concat();
                if lines.last() != Some(&b'\n') {
                    lines.push(b'\n');
                }
                let texts = process.arguments.len() + process.variables.len();
                let n = texts + self.random.below(parts_of(process) - texts);
                let ends = part_of(process, n).iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(at, _)| at + 1);
                let starts: Vec<usize> = std::iter::once(0).chain(ends).collect();
                let at = starts[self.random.below(starts.len())];
                change_part(process, n, |bytes| drop(bytes.splice(at..at, lines)));
            }
        }
    }

    fn word(&mut self) -> Vec<u8> {
        self.random.choose(&self.dictionary.words).cloned().unwrap_or_default()
    }

    fn character(&mut self) -> u8 {
        match self.random.below(8) {
            0 => self.random.next() as u8,
            1 | 2 => b' ' + self.random.below(95) as u8,
            3 => b'0' + self.random.below(10) as u8,
            _ => self.random.choose(&self.dictionary.characters).copied().unwrap_or(b'a'),
        }
    }

    fn arguments(&mut self, list: &mut Vec<Vec<u8>>) {
        let at = self.random.below(list.len() + 1);
        match self.random.below(8) {
            0 | 1 if list.len() < Process::MOST_ARGUMENTS => {
                let words = if self.random.one_in(3) { vec![self.word()] } else { self.option() };
                list.splice(at..at, words);
            }
            2 if list.len() < Process::MOST_ARGUMENTS => {
                let mut text = Vec::new();
                self.text(&mut text);
                list.insert(at, text);
            }
            3 if at < list.len() => drop(list.remove(at)),
            4 if at < list.len() && list.len() < Process::MOST_ARGUMENTS => list.insert(at, list[at].clone()),
            5 if at < list.len() => list[at] = self.word(),
            6 if at < list.len() => {
                let other = self.random.below(list.len());
                if self.random.one_in(2) { list.swap(at, other) } else { list[at] = list[other].clone() }
            }
            _ if at < list.len() => self.text(&mut list[at]),
            _ => {}
        }
    }

    /// Mutates the content of standard input or a file.
    fn content(&mut self, content: &mut Vec<u8>) {
        if self.random.one_in(3) { self.lines(content) } else { self.bytes(content) }
    }

    /// Mutates a text without zeros. It rarely has control characters, which nobody types.
    fn text(&mut self, text: &mut Vec<u8>) {
        self.bytes(text);
        let least = if self.random.one_in(8) { 1 } else { b' ' };
        text.retain(|&b| b >= least);
    }

    /// Mutates the lines of a text: repeats, moves, removes, changes or prolongs one.
    fn lines(&mut self, bytes: &mut Vec<u8>) {
        let mut lines: Vec<Vec<u8>> = bytes.split_inclusive(|&b| b == b'\n').map(<[u8]>::to_vec).collect();
        if lines.is_empty() {
            *bytes = self.random.choose(&self.texts).cloned().unwrap_or_default();
            return;
        }
        let (from, to) = (self.random.below(lines.len()), self.random.below(lines.len() + 1));
        let mut line = lines[from].clone();
        match self.random.below(9) {
            0 | 1 => lines.insert(to, line),
            8 => {
                let times = 1 << self.random.below(8);
                repeat_line(&mut lines, from, times);
            }
            2 => {
                let last = line.len() - 1;
                let at = self.random.below(last.max(1));
                line[at] = self.character();
                lines.insert(from + 1, line);
            }
            3 => drop(lines.remove(from)),
            4 => {
                let at = self.random.below(line.len());
                line.splice(at..at, [b' ', b'a']);
                lines[from] = line;
            }
            5 => {
                let end = if line.ends_with(b"\n") { line.pop() } else { None };
                let mut long = line.repeat(1 << self.random.below(8));
                long.truncate(LARGEST / 4);
                long.extend(end);
                lines[from] = long;
            }
            6 => lines.insert(to, b"\n".to_vec()),
            _ if lines.last().is_some_and(|last| last.ends_with(b"\n")) => {
                lines.last_mut().map(Vec::pop);
            }
            _ => lines.push(b"\n".to_vec()),
        }
        *bytes = lines.concat();
    }

    fn bytes(&mut self, bytes: &mut Vec<u8>) {
        let at = self.random.below(bytes.len() + 1);
        let end = (at + 1 + self.random.below(8)).min(bytes.len());
        match self.random.below(10) {
            0 | 1 => {
                let c = self.character();
                bytes.insert(at, c);
            }
            2 | 3 if at < bytes.len() => {
                let is_digit = bytes[at].is_ascii_digit() && self.random.one_in(2);
                bytes[at] = if is_digit { b'0' + self.random.below(10) as u8 } else { self.character() };
            }
            4 | 5 => {
                let word = self.word();
                bytes.splice(at..at, word);
            }
            6 if at < end => drop(bytes.drain(at..end)),
            7 if at < end => {
                let part = bytes[at..end].to_vec();
                for _ in 0..1 << self.random.below(5) {
                    bytes.splice(at..at, part.iter().copied());
                }
            }
            8 if at < bytes.len() => bytes[at] ^= 1 << self.random.below(8),
            _ => {
                let mut word = self.word();
                word.push(if self.random.one_in(2) { b'\n' } else { b' ' });
                bytes.splice(at..at, word);
            }
        }
    }
}

/// Returns the arguments for an option with this argument, which is a part of the same word, as in `-n1` and `--lines=1`.
fn with_argument(option: &OptionForm, argument: &[u8]) -> Vec<Vec<u8>> {
    match (option.is_long(), argument) {
        (true, _) => vec![[&option.text, argument].join(&b"="[..])],
        // Without a character, the next word is the argument.
        (false, []) => vec![option.text.clone(), Vec::new()],
        (false, _) => vec![[&option.text, argument].concat()],
    }
}

/// Returns the indices of standard input and of the files, as in [`part_of`], that have lines.
fn with_lines(process: &Process) -> Vec<usize> {
    let texts = process.arguments.len() + process.variables.len();
    (texts..parts_of(process)).filter(|&n| part_of(process, n).contains(&b'\n')).collect()
}

/// Inserts copies of the line at `at` before it: so many, or as many as a process may have.
fn repeat_line(lines: &mut Vec<Vec<u8>>, at: usize, times: usize) {
    let line = lines[at].clone();
    let times = times.min(LARGEST / line.len());
    lines.splice(at..at, std::iter::repeat_n(line, times));
}

/// Returns the process with a folder at this path. A read of the folder fails, and it cannot be opened for writing.
/// `None` if another file or folder excludes it.
fn with_folder(process: &Process, path: &[u8]) -> Option<Process> {
    /// The name of the only file in the folder.
    const NAME: &[u8] = b"file";
    let mut process = process.clone();
    process.files.remove(path);
    let is_free = !process.has_folder(path) && !process.files.keys().any(|other| is_within(path, other));
    process.files.insert([path, NAME].join(&b'/'), Vec::new());
    is_free.then_some(process)
}

/// Returns the number of ends of the range, 0 to 2, that have a letter or digit directly outside of the range.
fn cut_words(bytes: &[u8], from: usize, to: usize) -> usize {
    let is_in_word = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_alphanumeric);
    usize::from(is_in_word(from.checked_sub(1))) + usize::from(is_in_word(Some(to)))
}

/// Returns the number of byte strings in a process that mutation changes: arguments, variables, files, standard input.
fn parts_of(process: &Process) -> usize {
    process.arguments.len() + process.variables.len() + process.files.len() + 1
}

/// Returns the byte string with this index, which is below [`parts_of`].
fn part_of(process: &Process, n: usize) -> &[u8] {
    let texts = process.arguments.iter().chain(process.variables.values()).chain(process.files.values());
    texts.chain([&process.stdin]).nth(n).map_or(&[], Vec::as_slice)
}

/// Changes the byte string with this index. Returns false if the result cannot be given to a process: arguments and
/// variables have no zero bytes.
fn change_part(process: &mut Process, n: usize, change: impl FnOnce(&mut Vec<u8>)) -> bool {
    let texts = process.arguments.len() + process.variables.len();
    let strings = process.arguments.iter_mut().chain(process.variables.values_mut());
    let Some(part) = strings.chain(process.files.values_mut()).chain([&mut process.stdin]).nth(n) else { return false };
    change(part);
    n >= texts || !part.contains(&0)
}

/// Returns smaller variants of a process: each lacks a file, a variable, or a part of one input. For each input, larger
/// parts are removed first.
pub fn smaller(process: &Process) -> Vec<Process> {
    let mut out = Vec::new();
    let mut add = |change: &dyn Fn(&mut Process)| {
        let mut less = process.clone();
        change(&mut less);
        if less != *process {
            out.push(less);
        }
    };
    for name in process.files.keys() {
        add(&|less| drop(less.files.remove(name)));
    }
    for name in process.variables.keys() {
        add(&|less| drop(less.variables.remove(name)));
    }
    for (from, to) in parts(process.arguments.len()) {
        add(&|less| drop(less.arguments.drain(from..to)));
    }
    for (from, to) in parts(process.stdin.len()) {
        add(&|less| drop(less.stdin.drain(from..to)));
    }
    for (n, argument) in process.arguments.iter().enumerate() {
        for (from, to) in parts(argument.len()) {
            add(&|less| drop(less.arguments[n].drain(from..to)));
        }
    }
    for maps in [true, false] {
        let map = if maps { &process.files } else { &process.variables };
        for (name, value) in map {
            for (from, to) in parts(value.len()) {
                add(&|less| {
                    let map = if maps { &mut less.files } else { &mut less.variables };
                    map.entry(name.clone()).and_modify(|value| drop(value.drain(from..to)));
                });
            }
        }
    }
    out
}

/// Returns ranges of a sequence of this length: the whole, halves, quarters, and so on (delta debugging: Zeller,
/// Hildebrandt, Simplifying and isolating failure-inducing input, TSE 2002).
fn parts(length: usize) -> Vec<(usize, usize)> {
    /// The maximal number of ranges.
    const MOST: usize = 64;
    let (mut out, mut size) = (Vec::new(), length);
    while size > 0 && out.len() < MOST {
        out.extend((0..length).step_by(size).map(|at| (at, (at + size).min(length))));
        size /= 2;
    }
    out
}

/// Returns true if `path` is below `folder`.
fn is_within(path: &[u8], folder: &[u8]) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.first() == Some(&b'/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROGRAM: &str = "program 64 entry f0
        type ty0 int \"int\" 32 signed
        func f0 \"main\" source ty0 32 () entry l0 {
          local v0 \"x\" ty0 32
          l0: t0: v0 := 1234:32 -> l1
          l1: t1: if (v0 == 65:32) -> l2
              t2: else ~(v0 == 65:32) -> l2
          l2: t3: halt exit 0:32 -> l3
          l3:
        }";

    #[test]
    fn smaller_processes_lack_parts() {
        let process = Process { arguments: vec![b"ab".to_vec()], stdin: b"xyz".to_vec(), ..Process::default() };
        let all = smaller(&process);
        assert!(all.iter().all(|less| less.size() < process.size()));
        let has = |arguments: &[&str], stdin: &str| {
            let arguments = arguments.iter().map(|a| a.as_bytes().to_vec()).collect();
            all.contains(&Process { arguments, stdin: stdin.into(), ..Process::default() })
        };
        assert!(has(&[], "xyz") && has(&["ab"], "") && has(&["b"], "xyz") && has(&["ab"], "xy"));
        assert!(smaller(&Process::default()).is_empty());
    }

    #[test]
    fn new_paths_are_kept_and_what_is_wanted_is_mutated() {
        let program = cfa::text::parse(PROGRAM).unwrap();
        let mut mutator = Mutator::new(&program, 1, Vec::new());
        assert!(mutator.dictionary.words.contains(&b"1234".to_vec()) && mutator.dictionary.characters == *b"A");
        let first = mutator.next_process();
        assert_eq!(first, Process::default());
        let wanted = RequestedInputs { stdin: true, ..RequestedInputs::default() };
        assert_eq!(mutator.learn(&first, &[1, 1, 0, 1], &wanted, []), Novelty::Edge);
        assert_eq!(mutator.learn(&first, &[1, 1, 0, 1], &wanted, []), Novelty::Nothing);
        assert_eq!(mutator.progress(), 1);
        assert_eq!(mutator.learn(&first, &[1, 0, 1, 1], &wanted, []), Novelty::Edge);
        assert_eq!(mutator.progress(), 2);
        assert_eq!(mutator.learn(&first, &[1, 1, 1, 2], &wanted, []), Novelty::Path);
        let made: Vec<Process> = (0..500).map(|_| mutator.next_process()).collect();
        assert!(made.iter().any(|p| p.stdin.contains(&b'A')) && made.iter().all(|p| p.arguments.is_empty()));
        assert!(made.iter().any(|p| p.stdin == b"1234\n"));
    }

    #[test]
    fn processes_near_open_goals_are_changed_where_values_are_compared() {
        let program = cfa::text::parse(PROGRAM).unwrap();
        let mut mutator = Mutator::new(&program, 1, Vec::new());
        let process = |text: &str| Process { arguments: vec![text.into()], ..Process::default() };
        let (far, near) = (process("-o=x7"), process("-o=x30"));
        mutator.schedule = Schedule::new();
        let wanted = RequestedInputs { arguments: true, ..RequestedInputs::default() };
        mutator.takes_arguments = true;
        mutator.learn(&near, &[1, 1, 0, 1], &wanted, [(0, 12)]);
        mutator.learn(&far, &[1, 1, 0, 1], &wanted, [(0, 35)]);
        let made: Vec<Process> = (0..2000).map(|_| mutator.next_process()).collect();
        let count = |text: &str| made.iter().filter(|made| **made == process(text)).count();
        assert!(count("-o=x42") > count("-o=x7"));
        mutator.replace(
            &near,
            Novelty::Edge,
            &BTreeSet::from([(b"x30".to_vec(), b"png".to_vec()), (b"3".to_vec(), vec![0])]),
            Source::Text,
        );
        assert_eq!(mutator.schedule.take(Source::Text, 0), Some(process("-o=png")));
        assert!(!mutator.schedule.is_waiting(Source::Text));
        // Whole words come first, and the last one that is added runs first.
        let words = process("7=77=7 a7 7a 7777");
        mutator.replace(&words, Novelty::Edge, &BTreeSet::from([(b"7".to_vec(), b"x".to_vec())]), Source::Text);
        let made: Vec<_> = std::iter::from_fn(|| mutator.schedule.take(Source::Text, 0)).collect();
        let expected = ["7=7x=7 a7 7a 7777", "7=x7=7 a7 7a 7777", "7=77=x a7 7a 7777", "x=77=7 a7 7a 7777"];
        assert_eq!(made, expected.map(process));
        mutator.retain_goals(|_| false);
        assert!(mutator.nearest.is_empty());
    }

    #[test]
    fn formats_are_examples_of_inputs() {
        let texts = |format: &str| {
            scanned(format.as_bytes()).into_iter().map(|t| String::from_utf8(t).unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(texts("%d-%d%c"), ["1", "1-1", "1-1a"]);
        assert_eq!(texts("set %15s %ld"), ["set a", "set a 1"]);
        assert_eq!(texts("%[0-9x]=%[^\n]"), ["x", "x=~"]);
    }
}
