//! The laws of the domain, against the interpreter on random programs.
//!
//! Runs of the interpreter are followed through the domain. A state *represents* a concrete one if there are values of its
//! symbols under which its path condition holds and every live variable and every byte of memory is the concrete one.
//!
//! - *transfer*: after each operation, a successor represents what the interpreter made of each concrete state;
//! - *prec*: what is left after forgetting, for any precision, represents what the state did;
//! - *merge*: two states made one represent what either did;
//! - *order*: a state covers itself, and one that covers another represents what that does;
//! - *evidence*: inputs from a model of a state that was not abstracted lead the interpreter to where the state stands.
//!
//! The values of the symbols are known where a run is followed: the trail says what each stands for. Only where a state
//! of one path is to represent what came another way, a solver looks for them.
//!
//! `PROVISO_PROGRAMS=N cargo test -p engine --lib laws` tries more; `PROVISO_SEED=N` starts elsewhere.

#[path = "../../../slicer/tests/generator/mod.rs"]
mod generator;

mod execution;

use super::symbolic::SymbolicExecution;
use super::tracking::{Options, Place, Sharing, State, Tracking};
use super::{Abstraction, At, Cpa, Pair, Sides, Stop, Successors, Target};
use crate::algorithm::Exploration;
use crate::algorithm::cpa::{CpaAlgorithm, Merge, Parameters};
use crate::budget::Budget;
use crate::control::Control;
use crate::execution::{Event, ObjId, Object, Origin, Part, Piece, Slots, Val};
use crate::reached::Forgotten;
use crate::verdict::Taints;
use crate::waitlist::Search;
use cfa::interp::{Interpreter, Limits, Observer, Outcome};
use cfa::{
    ArrayValue, Bv, EdgeId, ErrorId, Evaluator, Expr, ExprId, GlobalId, Id, LocId, Op, Program, Sort, SymId, Value,
    VarKind,
};
use execution::{Concrete, Content, Execution, execution};
use generator::{Random, Shape};
use rustc_hash::FxHashMap;
use smt::{Answer, Choice, Feasibility, PathSolver};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

/// Runs of one program that are followed together.
const RUNS: u64 = 5;
/// Earlier states that a state is compared with.
const EARLIER: usize = 6;
/// Elements of a block that was moved as a whole that are looked at after each step.
const LAMBDA_ELEMENTS: usize = 60;

/// A run that a state stands for, at this point of it.
struct Follower {
    run: Rc<Execution>,
    /// Steps executed.
    at: usize,
    /// What the symbols stand for.
    symbols: FxHashMap<SymId, Value>,
    /// Events of the state's trail that are in `symbols`.
    events: usize,
    inputs: usize,
    /// Values of terms.
    memo: FxHashMap<ExprId, Value>,
}

/// A state and the runs that it has to represent.
struct Followed {
    st: State,
    /// Where it was abstracted last.
    since: Rc<State>,
    followers: Vec<Follower>,
}

/// How the domain is used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Way {
    Paths,
    Merging,
    /// With random precisions.
    Constraints,
    Predicates,
    Values,
}

impl Way {
    fn is_abstract(self) -> bool {
        !matches!(self, Way::Paths | Way::Merging)
    }
}

/// How often a law was put to the test.
#[derive(Default, Debug)]
struct Tally {
    transfers: u64,
    splits: u64,
    arrays: u64,
    lambdas: u64,
    abstractions: u64,
    merges: u64,
    covers: u64,
    evidence: u64,
    lost_to_problems: u64,
}

/// The domain under watch.
struct Watched<'p> {
    inner: Tracking<'p>,
    program: &'p Program,
    way: Way,
    random: Random,
    runs: Vec<Rc<Execution>>,
    earlier: FxHashMap<Control, Vec<State>>,
    tally: Tally,
    /// For messages.
    seed: u64,
}

type Check = Result<(), String>;

impl Watched<'_> {
    fn fail(&self, law: &str, what: &str) -> ! {
        if std::env::var_os("PROVISO_PRINT").is_some() {
            eprintln!("{}", cfa::text::print(self.program));
        }
        panic!("PROVISO_SEED={} PROVISO_PROGRAMS=1 {:?}: {law}: {what}", self.seed, self.way);
    }

    /// The value of a term in a run. An error if a symbol of it stands for nothing known, unless it may come from a path
    /// that was merged: then any value will do.
    fn value(&self, f: &mut Follower, e: ExprId) -> Result<Value, String> {
        let mut missing = None;
        let leaf = |_, leaf: &Expr| match *leaf {
            Expr::Sym(s) => {
                let base = self.inner.symbolic.execution.terms.bases.object(s).and_then(|o| f.run.bases.get(&o));
                match (base, f.symbols.get(&s)) {
                    (Some(&base), _) => Value::Bv(Bv::new(self.program.layout.pointer_width, base)),
                    (None, Some(value)) => value.clone(),
                    (None, None) => {
                        missing = Some(s);
                        zero(self.inner.symbolic.execution.terms.symbol_sort(s))
                    }
                }
            }
            ref other => panic!("a term with {other:?}"),
        };
        let mut evaluator =
            Evaluator::with_memo(&self.inner.symbolic.execution.terms, leaf, std::mem::take(&mut f.memo));
        let value = evaluator.value(e);
        f.memo = evaluator.into_memo();
        match missing {
            None => Ok(value),
            Some(_) if self.way == Way::Merging => Ok(value),
            Some(s) => {
                f.memo.clear();
                Err(format!("{s} stands for nothing"))
            }
        }
    }

    /// A value in a run; `None` for any value.
    fn bits(&self, f: &mut Follower, value: Val, width: u32) -> Result<Option<Bv>, String> {
        Ok(Some(match value {
            Val::Int(v) => Bv::new(width, v),
            Val::Ptr(object, offset) => match f.run.bases.get(&object) {
                Some(base) => Bv::new(width, base.wrapping_add(offset)),
                None => return Err(format!("a pointer into {object}, which is not there")),
            },
            Val::Expr(e) => self.value(f, e)?.bv().clone(),
            Val::Unset | Val::Unknown => return Ok(None),
        }))
    }

    fn expect(&self, f: &mut Follower, value: Val, concrete: &Bv, what: impl Fn() -> String) -> Check {
        match self.bits(f, value, concrete.width())? {
            Some(v) if v != *concrete => Err(format!("{} is {v} in the state, {concrete} in the run", what())),
            _ => Ok(()),
        }
    }

    /// Takes the new events of a trail into what the symbols of `f` stand for: memory is as it was `before`.
    fn take_events(&self, f: &mut Follower, st: &State, before: &Concrete) -> Check {
        let mut problem = None;
        let mut choices = FxHashMap::default();
        // Which trail was followed must be known before its newest events are.
        let events = st.trail.events(|cond| {
            *choices.entry(cond).or_insert_with(|| match self.value(f, cond) {
                Ok(value) => value.bv().is_true(),
                Err(why) => {
                    problem = Some(why);
                    false
                }
            })
        });
        if let Some(why) = problem {
            return Err(format!("the trail: {why}"));
        }
        for &event in events.get(f.events..).unwrap_or_default() {
            match event {
                Event::Input(symbol) => {
                    let Some(value) = f.run.inputs.get(f.inputs) else { return Err("too many inputs".into()) };
                    f.symbols.insert(symbol, Value::Bv(value.clone()));
                    f.inputs += 1;
                }
                Event::Unknown { object, offset, len, symbol } => {
                    let Some(content) = before.memory.get(&object) else { return Err(format!("{object} is dead")) };
                    let bytes = &content.bytes[offset as usize..][..len as usize];
                    f.symbols.insert(symbol, Value::Bv(Bv::from_le_bytes(bytes)));
                }
                Event::UnknownArray { object, array } => {
                    let Some(content) = before.memory.get(&object) else { return Err(format!("{object} is dead")) };
                    let Expr::Sym(symbol) = *self.inner.symbolic.execution.terms.get(array) else {
                        return Err("no symbol".into());
                    };
                    let Sort::Array { elem, .. } = self.inner.symbolic.execution.terms.sort(array) else {
                        return Err("no array".into());
                    };
                    let elements = content.bytes.chunks(elem as usize / 8);
                    let entries = elements.enumerate().map(|(i, b)| (i as u128, Bv::from_le_bytes(b).resize(elem)));
                    let value = ArrayValue { default: Bv::zero(elem), entries: entries.collect() };
                    f.symbols.insert(symbol, Value::Array(Rc::new(value)));
                }
                Event::Global { var, symbol } => {
                    let slot = self.inner.symbolic.execution.slots.of_var[var.index()].global().expect("a global");
                    f.symbols.insert(symbol, Value::Bv(f.run.start.globals[slot].clone()));
                }
                Event::Decision(_) => {}
            }
        }
        f.events = events.len();
        Ok(())
    }

    fn holds(&self, f: &mut Follower, st: &State) -> Check {
        for conjunct in st.pc.iter() {
            if !self.value(f, conjunct)?.bv().is_true() {
                let text = cfa::text::expression(self.program, &self.inner.symbolic.execution.terms, conjunct);
                return Err(format!("the path condition does not hold: {text}"));
            }
        }
        if st.pc.is_contradiction() { Err("the path condition is a contradiction".into()) } else { Ok(()) }
    }

    /// The live variables in the frames of `st`, which stands before `loc`: the depth and slot of each, with its value.
    fn live_values(&mut self, st: &State, loc: LocId) -> Vec<(usize, usize, Val)> {
        let (mut frame, mut loc) = (Rc::clone(&st.frame), loc);
        let mut values = Vec::new();
        loop {
            let live = self.inner.symbolic.execution.live(frame.func);
            for &slot in live.at(loc) {
                values.push((frame.depth as usize, slot as usize, frame.vars[slot as usize]));
            }
            match (&frame.caller, frame.call) {
                (Some(caller), Some(call)) => {
                    loc = self.program.edges[call].target;
                    frame = Rc::clone(caller);
                }
                _ => return values,
            }
        }
    }

    /// Whether `st`, which stands before `loc`, represents where `f` is. Memory that it shares with `known` is not looked at
    /// where the run has not changed it since `then`.
    fn represents(
        &mut self,
        f: &mut Follower,
        st: &State,
        concrete: &Concrete,
        loc: LocId,
        known: Option<(&State, &Concrete)>,
    ) -> Check {
        self.holds(f, st)?;
        for (slot, value) in concrete.globals.iter().enumerate() {
            let var = self.inner.symbolic.execution.slots.globals[slot];
            self.expect(f, st.globals[slot], value, || format!("{var}"))?;
        }
        if st.frame.depth as usize + 1 != concrete.frames.len() {
            return Err("the frames are others".into());
        }
        for (depth, slot, value) in self.live_values(st, loc) {
            self.expect(f, value, &concrete.frames[depth][slot], || format!("local {slot} of frame {depth}"))?;
        }
        let (ours, theirs): (Vec<_>, Vec<_>) =
            (st.memory.iter().map(|(id, _)| id).collect(), concrete.memory.keys().copied().collect());
        if ours != theirs {
            return Err(format!("the objects alive are {ours:?} in the state, {theirs:?} in the run"));
        }
        for (&id, content) in concrete.memory.iter() {
            let same = |(old, then): (&State, &Concrete)| {
                old.memory.shares(&st.memory, id)
                    && then.memory.get(&id).is_some_and(|c| Rc::ptr_eq(&c.bytes, &content.bytes))
            };
            if !known.is_some_and(same) {
                let object = st.memory.get(id).expect("alive");
                self.same_content(f, object, content).map_err(|why| format!("{id}: {why}"))?;
            }
        }
        Ok(())
    }

    fn same_content(&mut self, f: &mut Follower, object: &Object, content: &Content) -> Check {
        let size = Bv::new(64, content.bytes.len() as u64);
        self.expect(f, object.size, &size, || "the size".into())?;
        if let Some(array) = object.array.filter(|&a| self.inner.symbolic.execution.terms.has_lambda(a)) {
            let unit = self.inner.symbolic.execution.terms.unit(array) as usize;
            // Each element is a term of its own, so that of large objects not all can be looked at.
            let step = (content.bytes.len() / unit).div_ceil(LAMBDA_ELEMENTS).max(1);
            for (i, bytes) in content.bytes.chunks(unit).enumerate().step_by(step) {
                let index = self.inner.symbolic.execution.terms.int(self.program.layout.pointer_width, i as u64);
                let element = self.inner.symbolic.execution.terms.select(array, index);
                let element = self.value(f, element)?.bv().clone();
                if element.to_le_bytes()[..bytes.len()] != *bytes {
                    return Err(format!("element {i} of {unit} bytes is {element}, not {bytes:?}"));
                }
            }
            return Ok(());
        }
        if let Some(array) = object.array {
            let Value::Array(value) = self.value(f, array)? else { return Err("no array".into()) };
            let unit = value.default.width() as usize / 8;
            for (i, bytes) in content.bytes.chunks(unit).enumerate() {
                let element = value.entries.get(&(i as u128)).unwrap_or(&value.default);
                if element.to_le_bytes()[..bytes.len()] != *bytes {
                    return Err(format!("element {i} of {unit} bytes is {element}, not {bytes:?}"));
                }
            }
            return Ok(());
        }
        let mut at = 0;
        while at < content.bytes.len() {
            match object.piece(at as u64) {
                Piece::Default => at += 1,
                Piece::Byte(byte) if byte == content.bytes[at] => at += 1,
                Piece::Byte(byte) => return Err(format!("byte {at} is {byte}, not {}", content.bytes[at])),
                Piece::Cell { value, len, index } => {
                    let (len, index) = (usize::from(len), usize::from(index));
                    if let Some(bits) = self.bits(f, value, 8 * len as u32)? {
                        let bytes = bits.to_le_bytes();
                        if content.bytes.get(at..at + len - index) != Some(&bytes[index..len]) {
                            return Err(format!("the cell of {len} bytes at {at} is {bits}"));
                        }
                    }
                    at += len - index;
                }
            }
        }
        Ok(())
    }

    /// Whether there are values of its symbols under which `st` is `concrete`; a solver's answer.
    fn admits(&mut self, st: &State, concrete: &Concrete, run: &Execution, loc: LocId) -> Answer {
        let width = self.program.layout.pointer_width;
        let mut facts: Vec<ExprId> = st.pc.conjuncts();
        let mut equations: Vec<(Val, Bv)> = Vec::new();
        for (&id, &base) in &run.bases {
            equations.push((Val::Ptr(id, 0), Bv::new(width, base)));
        }
        for slot in self.inner.symbolic.execution.read_globals().to_vec() {
            let slot = slot as usize;
            equations.push((st.globals[slot], concrete.globals[slot].clone()));
        }
        if st.frame.depth as usize + 1 != concrete.frames.len() {
            return Answer::Unsat;
        }
        for (depth, slot, value) in self.live_values(st, loc) {
            equations.push((value, concrete.frames[depth][slot].clone()));
        }
        if !st.memory.iter().map(|(id, _)| id).eq(concrete.memory.keys().copied()) {
            return Answer::Unsat;
        }
        for (&id, content) in concrete.memory.iter() {
            let object = st.memory.get(id).expect("alive");
            equations.push((object.size, Bv::new(64, content.bytes.len() as u64)));
            if let Some(array) = object.array {
                let Sort::Array { elem, .. } = self.inner.symbolic.execution.terms.sort(array) else {
                    panic!("an array")
                };
                let elements = content.bytes.chunks(elem as usize / 8).enumerate();
                // Equations on all elements of a large object are a solver's work for seconds.
                for (i, bytes) in elements.filter(|(i, _)| i % 16 < 3) {
                    let index = self.inner.symbolic.execution.terms.int(width, i as u64);
                    let element = self.inner.symbolic.execution.terms.select(array, index);
                    equations.push((Val::Expr(element), Bv::from_le_bytes(bytes).resize(elem)));
                }
                continue;
            }
            for (at, &byte) in content.bytes.iter().enumerate() {
                match object.piece(at as u64) {
                    Piece::Default => {}
                    Piece::Byte(b) if b == byte => {}
                    Piece::Byte(_) => return Answer::Unsat,
                    Piece::Cell { value, len, index } => {
                        let (width, lo) = (8 * u32::from(len), 8 * u32::from(index));
                        let part = self.inner.symbolic.execution.terms.part(value, width, lo + 7, lo);
                        equations.push((part, Bv::new(8, byte.into())));
                    }
                }
            }
        }
        for (value, concrete) in equations {
            if matches!(value, Val::Unset | Val::Unknown) {
                continue;
            }
            let term = self.inner.symbolic.execution.terms.term(value, concrete.width());
            let constant = self.inner.symbolic.execution.terms.constant(concrete);
            let fact = self.inner.symbolic.execution.terms.eq(term, constant);
            facts.push(fact);
        }
        facts.retain(|&fact| !self.inner.symbolic.execution.terms.is_true(fact));
        let mut solver = self.inner.symbolic.solvers.open();
        solver.check(&self.inner.symbolic.execution.terms, &facts, &Budget::lasting(Duration::from_secs(5)))
    }

    /// Gives the symbols that an abstraction made for variables the values that these have in the run.
    fn name_forgotten(&mut self, f: &mut Follower, st: &State, concrete: &Concrete, loc: LocId) {
        let mut values: Vec<(Val, Bv)> = st.globals.iter().copied().zip(concrete.globals.iter().cloned()).collect();
        for (depth, slot, value) in self.live_values(st, loc) {
            values.push((value, concrete.frames[depth][slot].clone()));
        }
        for (value, concrete) in values {
            if let Val::Expr(e) = value
                && let Expr::Sym(symbol) = *self.inner.symbolic.execution.terms.get(e)
                && self.inner.symbolic.execution.terms.bases.object(symbol).is_none()
            {
                f.symbols.entry(symbol).or_insert(Value::Bv(concrete));
            }
        }
    }

    /// Gives the symbol that a read of anything made the value that was read.
    fn name_loaded(&self, f: &mut Follower, st: &State, edge: EdgeId, concrete: &Concrete) {
        let Op::Load { var, .. } = self.program.edges[edge].op else { return };
        if !self.way.is_abstract() && st.past.is_none() {
            return;
        }
        let slot = self.inner.symbolic.execution.slots.of_var[var.index()];
        let read = match slot.global() {
            Some(i) => &concrete.globals[i],
            None => &concrete.frames.last().expect("a frame")[slot.local()],
        };
        if let Val::Expr(e) = self.inner.symbolic.execution.read_var(st, var)
            && let Expr::Sym(symbol) = *self.inner.symbolic.execution.terms.get(e)
            && self.inner.symbolic.execution.terms.bases.object(symbol).is_none()
        {
            f.symbols.entry(symbol).or_insert(Value::Bv(read.clone()));
        }
    }

    /// The step of `run` after which the call at `at` is over.
    fn after_call(run: &Execution, at: usize) -> Option<usize> {
        let depth = run.at(at).frames.len();
        (at + 1..run.steps.len()).find(|&i| run.steps[i].after.frames.len() == depth).map(|i| i + 1)
    }

    /// Puts each follower to the successor that represents what it does next.
    fn distribute(
        &mut self,
        before: &State,
        followers: Vec<Follower>,
        at: LocId,
        edge: EdgeId,
        successors: &[(State, At)],
    ) -> Vec<Vec<Follower>> {
        let problems = self.inner.problems();
        let mut groups: Vec<Vec<Follower>> = successors.iter().map(|_| Vec::new()).collect();
        self.tally.splits += u64::from(successors.len() > 1);
        'followers: for mut f in followers {
            let run = Rc::clone(&f.run);
            let Some(step) = run.steps.get(f.at) else { continue };
            assert_eq!(step.edge, edge, "a run is where its state is");
            self.tally.transfers += 1;
            let mut reasons = Vec::new();
            let (events, inputs) = (f.events, f.inputs);
            for (i, (st, to)) in successors.iter().enumerate() {
                let is_call = matches!(self.program.edges[edge].op, Op::Call { .. });
                let (next, loc) = match *to {
                    At::Source => (f.at, at),
                    At::Callee(func) => (f.at + 1, self.program.funcs[func].entry),
                    At::Target if is_call => match Self::after_call(&run, f.at) {
                        Some(next) => (next, self.program.edges[edge].target),
                        None => continue 'followers,
                    },
                    At::Target => (f.at + 1, self.program.edges[edge].target),
                };
                if matches!(to, At::Callee(func) if *func != step.func) {
                    continue;
                }
                (f.events, f.inputs) = (events, inputs);
                let (then, concrete) = (run.at(f.at), run.at(next));
                let taken = self.take_events(&mut f, st, then);
                self.name_loaded(&mut f, st, edge, concrete);
                let known = Some((before, then));
                match taken.and_then(|()| self.represents(&mut f, st, concrete, loc, known)) {
                    Ok(()) => {
                        f.at = next;
                        groups[i].push(f);
                        continue 'followers;
                    }
                    Err(why) => reasons.push(why),
                }
            }
            // A read goes on once its problem is known; other operations are recorded as dropping runs.
            if problems.contains(&edge) || self.inner.symbolic.is_settled(edge) && !self.inner.symbolic.is_read(edge) {
                self.tally.lost_to_problems += 1;
                continue;
            }
            let op = cfa::text::operation(self.program, &self.program.edges[edge].op);
            self.fail("transfer", &format!("step {} over {edge} ({op}): {reasons:?}", f.at));
        }
        for edge in problems {
            self.inner.symbolic.problems.as_mut().expect("looked into").settle(edge);
        }
        groups
    }

    /// A run takes one side of a branch.
    fn side(
        &mut self,
        before: &State,
        f: Vec<Follower>,
        edge: EdgeId,
        st: Option<State>,
        since: &Rc<State>,
    ) -> Option<Followed> {
        if f.is_empty() {
            return None;
        }
        let Some(st) = st else {
            self.fail("branch", &format!("a run goes over {edge}, and no state does"));
        };
        let source = self.program.edges[edge].source;
        let side = [(st, At::Target)];
        let followers = self.distribute(before, f, source, edge, &side).pop().expect("one group");
        let [(st, _)] = side;
        (!followers.is_empty()).then(|| Followed { st, since: Rc::clone(since), followers })
    }

    /// Adds some of what could be forgotten of a state to the precision.
    fn track_some(&mut self, st: &State, at: Control) {
        if self.random.below(3) > 0 {
            return;
        }
        let items = self.inner.items(st, at);
        for item in items {
            if self.random.below(6) == 0 {
                self.inner.precision.add(at.loc, item);
            }
        }
    }

    /// What holds of `st`, which has followers and has come to `at`, and of states that came there earlier.
    fn compare(&mut self, st: &State, followers: &[Follower], at: Control) {
        if !self.inner.covers(st, st, at) {
            self.fail("order", &format!("a state at {} does not cover itself", at.loc));
        }
        let mut earlier = self.earlier.remove(&at).unwrap_or_default();
        for old in &earlier {
            self.covered(old, st, followers, at);
        }
        earlier.push(st.clone());
        if earlier.len() > EARLIER {
            earlier.remove(0);
        }
        self.earlier.insert(at, earlier);
    }

    /// If `old` covers `new`, it represents what `new` does.
    fn covered(&mut self, old: &State, new: &State, followers: &[Follower], at: Control) -> bool {
        if !self.inner.covers(old, new, at) {
            return false;
        }
        self.tally.covers += 1;
        // One is as good as another, nearly, and a solver takes its time.
        for f in followers.iter().take(2) {
            let run = Rc::clone(&f.run);
            if self.admits(old, run.at(f.at), &run, at.loc) == Answer::Unsat {
                self.fail("order", &format!("a state at {} covers one whose run it does not represent", at.loc));
            }
        }
        true
    }
}

fn zero(sort: Sort) -> Value {
    match sort {
        Sort::Bv(width) => Value::Bv(Bv::zero(width)),
        Sort::Array { elem, .. } => {
            Value::Array(Rc::new(ArrayValue { default: Bv::zero(elem), entries: BTreeMap::new() }))
        }
    }
}

impl Cpa for Watched<'_> {
    type State = Followed;
    type Evidence = ();

    fn initial(&mut self) -> Followed {
        let st = self.inner.initial();
        let loc = self.program.funcs[self.program.entry].entry;
        let mut followers = Vec::new();
        for run in self.runs.clone() {
            let (symbols, memo) = (FxHashMap::default(), FxHashMap::default());
            let mut f = Follower { run: Rc::clone(&run), at: 0, symbols, events: 0, inputs: 0, memo };
            let taken = self.take_events(&mut f, &st, &run.start);
            if let Err(why) = taken.and_then(|()| self.represents(&mut f, &st, &run.start, loc, None)) {
                self.fail("initial", &why);
            }
            followers.push(f);
        }
        Followed { since: Rc::new(st.clone()), st, followers }
    }

    fn transfer(
        &mut self,
        state: Followed,
        at: Control,
        edge: EdgeId,
        out: &mut Successors<Followed>,
    ) -> Result<(), Stop> {
        let Followed { st, since, followers } = state;
        let before = st.clone();
        let mut successors = Vec::new();
        self.inner.transfer(st, at, edge, &mut successors)?;
        let groups = self.distribute(&before, followers, at.loc, edge, &successors);
        for ((st, to), followers) in successors.into_iter().zip(groups) {
            let arrays: Vec<ExprId> = st.memory.iter().filter_map(|(_, o)| o.array).collect();
            self.tally.arrays += u64::from(!arrays.is_empty());
            self.tally.lambdas += u64::from(arrays.iter().any(|&a| self.inner.symbolic.execution.terms.has_lambda(a)));
            if !followers.is_empty() {
                out.push((Followed { st, since: Rc::clone(&since), followers }, to));
            }
        }
        Ok(())
    }

    fn branch(&mut self, state: Followed, then_edge: EdgeId, else_edge: EdgeId) -> Result<Sides<Followed>, Stop> {
        let Followed { st, since, followers } = state;
        let before = st.clone();
        let (then_st, else_st) = self.inner.branch(st, then_edge, else_edge)?;
        let (mut yes, mut no) = (Vec::new(), Vec::new());
        for f in followers {
            match f.run.steps.get(f.at).map(|step| step.edge) {
                Some(edge) if edge == then_edge => yes.push(f),
                Some(_) => no.push(f),
                None => {}
            }
        }
        let yes = self.side(&before, yes, then_edge, then_st, &since);
        let no = self.side(&before, no, else_edge, else_st, &since);
        Ok((yes, no))
    }

    fn leave(&mut self, state: Followed, return_edge: EdgeId, call_edge: EdgeId) -> Result<Followed, Stop> {
        let Followed { st, since, followers } = state;
        let st = self.inner.leave(st, return_edge, call_edge)?;
        let loc = self.program.edges[call_edge].target;
        let mut left = Vec::new();
        for mut f in followers {
            let run = Rc::clone(&f.run);
            if run.steps.get(f.at).is_none() {
                continue;
            }
            let (then, concrete) = (run.at(f.at), run.at(f.at + 1));
            let taken = self.take_events(&mut f, &st, then);
            if let Err(why) = taken.and_then(|()| self.represents(&mut f, &st, concrete, loc, None)) {
                self.fail("return", &format!("step {} over {return_edge}: {why}", f.at));
            }
            f.at += 1;
            left.push(f);
        }
        Ok(Followed { st, since, followers: left })
    }

    fn target(&mut self, _state: &mut Followed, _edge: EdgeId, _error: ErrorId) -> Result<Target<()>, Stop> {
        Ok(Target::Infeasible)
    }

    fn adjust(&mut self, state: Followed, _edge: EdgeId, at: Control) -> Result<Option<Followed>, Stop> {
        let Followed { mut st, mut since, mut followers } = state;
        if followers.is_empty() {
            return Ok(None);
        }
        if !self.inner.symbolic.execution.is_feasible(&mut st) {
            self.fail("arrive", "a state with runs is thought to be infeasible");
        }
        if self.way.is_abstract() {
            self.track_some(&st, at);
            self.tally.abstractions += 1;
            match self.inner.abstract_state(st, at, &since)? {
                Some(adjusted) => st = adjusted,
                None => self.fail("prec", "a state with runs is thought to be infeasible"),
            }
            since = Rc::new(st.clone());
            for f in &mut followers {
                let run = Rc::clone(&f.run);
                let concrete = run.at(f.at);
                f.events = 0;
                self.name_forgotten(f, &st, concrete, at.loc);
                let taken = self.take_events(f, &st, concrete);
                if let Err(why) = taken.and_then(|()| self.represents(f, &st, concrete, at.loc, None)) {
                    self.fail("prec", &format!("step {} at {}: {why}", f.at, at.loc));
                }
            }
        }
        self.compare(&st, &followers, at);
        Ok(Some(Followed { st, since, followers }))
    }

    fn merge(&mut self, a: Followed, b: Followed, at: Control) -> Result<Followed, Pair<Followed>> {
        let (ours, theirs) = (a.st.clone(), b.st.clone());
        let symbols = self.inner.symbolic.execution.terms.symbol_count();
        let mut merged = match self.inner.merge(a.st, b.st, at) {
            Ok(st) => Followed { st, since: a.since, followers: Vec::new() },
            Err(pair) => {
                let (x, y) = *pair;
                let a = Followed { st: x, since: a.since, followers: a.followers };
                let b = Followed { st: y, since: b.since, followers: b.followers };
                return Err(Box::new((a, b)));
            }
        };
        self.tally.merges += 1;
        let sides = [(true, &theirs, a.followers), (false, &ours, b.followers)];
        for (is_first, other, followers) in sides {
            let mut group = Vec::new();
            for mut f in followers {
                let run = Rc::clone(&f.run);
                let concrete = run.at(f.at);
                // If nothing else tells the two apart, a symbol does.
                for index in symbols..self.inner.symbolic.execution.terms.symbol_count() {
                    let symbol = SymId(index as u32);
                    if self.inner.symbolic.execution.terms.symbol_sort(symbol) == Sort::Bv(1) {
                        f.symbols.insert(symbol, Value::Bv(Bv::bool(is_first)));
                    }
                }
                let events = f.events;
                let taken = self.take_events(&mut f, &merged.st, concrete);
                if let Err(why) = taken.and_then(|()| self.represents(&mut f, &merged.st, concrete, at.loc, None)) {
                    self.fail("merge", &format!("first: {is_first}, step {} at {}: {why}", f.at, at.loc));
                }
                if f.events < events {
                    self.fail("merge", "events are lost");
                }
                group.push(f);
            }
            // Should one of the two cover the other's part as well, it represents that.
            self.covered(other, &merged.st, &group, at);
            merged.followers.extend(group);
        }
        self.covered(&merged.st, &ours, &merged.followers, at);
        self.covered(&merged.st, &theirs, &merged.followers, at);
        Ok(merged)
    }

    fn ended(&mut self, state: Followed, edge: EdgeId) {
        let Followed { st, .. } = state;
        if self.way.is_abstract() || st.past.is_some() {
            return;
        }
        let Feasibility::Feasible(model) =
            self.inner.symbolic.execution.solver.model(&mut self.inner.symbolic.execution.terms, &st.pc)
        else {
            return;
        };
        let inputs = self.inner.symbolic.execution.inputs(&st, &model);
        let mut last = Last(None);
        let limits = Limits { steps: 100_000, ..Limits::default() };
        let run = Interpreter::new(self.program).run(&mut inputs.source(), limits, &mut last);
        // An object that the path did not look at may be in the way of one that it did.
        if matches!(run.outcome, Outcome::Unplaced(_)) {
            return;
        }
        self.tally.evidence += 1;
        if last.0 != Some(edge) {
            self.fail("evidence", &format!("the inputs lead to {:?} after {:?}, not to {edge}", run.outcome, last.0));
        }
    }
}

/// The last edge of a run.
struct Last(Option<EdgeId>);

impl Observer for Last {
    fn executed(&mut self, edge: EdgeId, _state: &cfa::interp::State) {
        self.0 = Some(edge);
    }
}

/// Conditions of the program as predicates, some of them, and some about memory.
fn add_predicates(cpa: &mut Tracking, program: &Program, random: &mut Random) {
    for edge in program.edges.values() {
        let Op::Assume { cond, branch: true, .. } = edge.op else { continue };
        if random.below(2) == 0 {
            let vars = program.exprs.vars(cond);
            let is_local = vars.iter().any(|&v| !matches!(program.vars[v].kind, VarKind::Global { .. }));
            let func = is_local.then_some(program.locs[edge.source].func);
            if !vars.is_empty() {
                cpa.predicates.add(func, None, cond);
            }
        }
    }
    for (global, object) in program.globals.iter() {
        let len = [1, 2, 4, 8][random.below(4)];
        if object.size < len || object.size > 64 {
            continue;
        }
        let offset = random.below((object.size / len) as usize) as u64 * len;
        let place = Place { origin: Origin::Global(global), offset, len: len as u32 };
        let content = cpa.place_symbol(place);
        let bound = cpa.symbolic.execution.terms.int(8 * place.len, [0, 1, 7, 100][random.below(4)]);
        let predicate = cpa.symbolic.execution.terms.ule(content, bound);
        cpa.predicates.add(None, None, predicate);
    }
}

/// Follows runs of the program of this seed.
fn follow(seed: u64, way: Way, tally: &mut Tally) {
    let program = generator::generate_shaped(seed, Shape { pieces: true, ..Shape::default() }).program;
    let slots = Slots::new(&program);
    let mut random = Random::new(seed ^ 0x5eed);
    let runs: Vec<_> = (0..RUNS).map(|i| Rc::new(execution(&program, &slots, seed * RUNS + i))).collect();
    let solvers = Choice::default();
    let solver = PathSolver::new(solvers.open(), Budget::unlimited());
    let mut symbolic = SymbolicExecution::new(&program, solver, solvers);
    // There are no errors to hope for.
    symbolic.leads_to_target.fill(true);
    let full = Options {
        values_only: false,
        full: true,
        sharing: Sharing::Scope,
        threshold: 0,
        values: true,
        predicates: false,
        boolean: false,
    };
    let mut inner = if way.is_abstract() {
        let sharing = [Sharing::Location, Sharing::Scope][random.below(2)];
        Tracking::new(
            symbolic,
            Options {
                values_only: way == Way::Values,
                full: random.below(8) == 0,
                sharing,
                threshold: [0, 2][random.below(2)],
                values: way != Way::Predicates,
                predicates: way == Way::Predicates,
                boolean: random.below(2) == 0,
            },
        )
    } else {
        // Symbolic execution as it is.
        let mode = symbolic.execution.mode;
        let mut inner = Tracking::new(symbolic, full);
        inner.symbolic.execution.mode = mode;
        inner.symbolic.problems = None;
        inner
    };
    if way == Way::Predicates {
        add_predicates(&mut inner, &program, &mut random);
    }
    let heads = inner.symbolic.heads();
    let merge = if way == Way::Merging { Merge::AtHeads } else { Merge::Never };
    let parameters = Parameters { heads, merge, search: Search::DepthFirst, seed, max_call_depth: 10_000 };
    let cpa = Watched {
        inner,
        program: &program,
        way,
        random,
        runs,
        earlier: FxHashMap::default(),
        tally: std::mem::take(tally),
        seed,
    };
    let mut explorer = CpaAlgorithm::new(&program, cpa, Forgotten, parameters);
    let mut taints = Taints::default();
    match explorer.run(&Budget::unlimited(), &mut taints, &mut |_, _| {}) {
        Ok(Exploration::Complete) => {}
        Ok(Exploration::Target { .. }) => unreachable!("no program has errors"),
        Err(stop) => panic!("seed {seed}, {way:?}: {stop:?}"),
    }
    *tally = explorer.cpa.tally;
}

/// Follows runs of random programs: `programs` of them, if no other number is asked for. Tells how often each law was tested,
/// and whether that is to be looked at.
fn follow_all(way: Way, programs: u64) -> (Tally, bool) {
    let number = |name: &str| std::env::var(name).ok().map(|n| n.parse::<u64>().unwrap());
    let (first, asked) = (number("PROVISO_SEED").unwrap_or(1), number("PROVISO_PROGRAMS"));
    let mut tally = Tally::default();
    for seed in first..first + asked.unwrap_or(programs) {
        follow(seed, way, &mut tally);
    }
    println!("{way:?}: {tally:?}");
    assert!(tally.transfers > 0);
    (tally, asked.is_none())
}

#[test]
fn hold_path_by_path() {
    let (tally, usual) = follow_all(Way::Paths, 40);
    assert!(!usual || tally.arrays > 50 && tally.lambdas > 20 && tally.evidence > 10 && tally.splits > 0, "{tally:?}");
}

#[test]
fn hold_where_states_are_merged() {
    let (tally, usual) = follow_all(Way::Merging, 24);
    assert!(!usual || tally.merges > 3 && tally.evidence > 10, "{tally:?}");
}

#[test]
fn hold_where_constraints_are_forgotten() {
    let (tally, usual) = follow_all(Way::Constraints, 30);
    assert!(!usual || tally.abstractions > 50 && tally.covers > 5, "{tally:?}");
}

#[test]
fn hold_where_predicates_are_kept() {
    let (tally, usual) = follow_all(Way::Predicates, 20);
    assert!(!usual || tally.abstractions > 50, "{tally:?}");
}

#[test]
fn hold_for_values() {
    let (tally, usual) = follow_all(Way::Values, 30);
    assert!(!usual || tally.abstractions > 15 && tally.covers > 2, "{tally:?}");
}

#[test]
fn what_is_from_before_an_array_goes_with_it() {
    let mut object = Object::new(Val::Int(2560), 8, Origin::Global(GlobalId(0)), true);
    object.write_bytes(0, &[7]);
    object.write_cell(8, 8, Val::Ptr(ObjId(1), 0));
    object.set_array(ExprId(0));
    object.forget_numbers(|part| part != Part::WHOLE);
    assert!(object.array.is_none() && object.known_parts().is_empty());
    assert!([0, 1, 8].into_iter().all(|offset| object.piece(offset) == Piece::Default));
}
