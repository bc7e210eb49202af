//! Law: the results of abstract interpretation with memory hold in runs of the interpreter on random programs. At every
//! location that a run reaches, each variable and each cell has one of its abstract values, each address points to one
//! of its targets, objects have the sizes, lifetimes and counts that their allocation sites state, and operations that
//! are proved valid do not fault.
//!
//! Each run is mapped to the program with context-sensitive copies of small functions.
//!
//! `PROVISO_PROGRAMS=N cargo test -p engine --lib invariant::laws` tests more programs. `PROVISO_SEED=N` starts at
//! another seed.

use super::fixpoint::{Analysis, Strength};
use super::value::Value;
use crate::invariant::fixpoint::contexts::Contexts;
use crate::invariant::memory::cells::{Cell, Count};
use crate::invariant::memory::domain::MemoryDomain;
use crate::invariant::memory::environment::Environment;
use crate::invariant::value::address::NULL;
use crate::invariant::value::limits::{Limit, Reach};
use crate::laws::generator::{self, Random, Shape};
use crate::semantics::range as addresses;
use cfa::interp::{InputSource, Interpreter, Limits, ObjectSeq, Observer, Outcome, State, Unknown};
use cfa::{Bv, Callee, EdgeId, Id, LocId, Op, Program, VarId};
use slicer::pointer::{self, PointsTo};
use smt::bounds::Bounds;
use smt::budget::Budget;

/// Inputs of all sizes, mostly small.
struct Inputs {
    random: Random,
    /// True if addresses have 32 bits.
    narrow: bool,
    objects: u64,
}

/// Distance between objects. An offset that leaves an object is in no other object.
const APART: u64 = 1 << 16;

impl InputSource for Inputs {
    fn unknown(&mut self, _what: Unknown, width: u32) -> Bv {
        let value = match self.random.below(3) {
            0 => self.random.below(8) as i64,
            1 => self.random.below(300) as i64 - 150,
            _ => (self.random.below(1 << 31) as i64) << 30 ^ self.random.below(1 << 31) as i64,
        };
        Bv::from_i64(64, value).resize(width)
    }
    fn bytes(&mut self, _object: ObjectSeq, _offset: u64, bytes: &mut [u8]) {
        bytes.iter_mut().for_each(|byte| *byte = self.random.below(256) as u8);
    }
    fn base(&mut self, _object: ObjectSeq, size: u64, align: u32) -> Option<u64> {
        if !self.narrow {
            return None;
        }
        // Place objects at both ends of the address space, since offsets are signed and addresses wrap around.
        self.objects += 1;
        let (low, high) = addresses(32);
        let base = match self.objects % 2 {
            0 => low + APART * self.objects,
            _ => high - size - APART * self.objects,
        };
        Some(base / u64::from(align) * u64::from(align))
    }
}

/// An object that a run has allocated.
struct Made {
    /// Its number in the analysis.
    object: u32,
    base: u64,
    size: u64,
    is_live: bool,
    /// True if the analysis no longer states anything about it.
    is_forgotten: bool,
}

/// A run, and its position in the program with copies.
struct Follower<'a> {
    contexts: &'a Contexts,
    analysis: &'a Analysis<'a>,
    domain: &'a MemoryDomain<'a>,
    at: LocId,
    /// The return locations of active calls.
    waiting: Vec<LocId>,
    /// The allocated objects, in order of allocation.
    made: Vec<Made>,
    looked_at: usize,
    known: usize,
    limits: usize,
    /// Differences of counters, and of objects that share a number the bounds within them.
    others: [std::cell::Cell<usize>; 3],
    name: String,
}

impl Follower<'_> {
    /// The edges at the current location that represent an edge of the original. A call through a pointer has several,
    /// after comparisons.
    fn edges(&self, edge: EdgeId) -> Vec<EdgeId> {
        let stands_for_it = |e: &EdgeId| self.contexts.origin[e.index()] == edge;
        let (mut found, mut todo) = (Vec::new(), vec![self.at]);
        while let Some(at) = todo.pop() {
            for e in self.contexts.program.out_edges(at).filter(stands_for_it) {
                let target = self.contexts.program.edges[e].target;
                match self.contexts.program.out_edges(target).any(|next| stands_for_it(&next)) {
                    true => todo.push(target),
                    false => found.push(e),
                }
            }
        }
        found
    }

    /// The edge that the run has taken.
    fn edge(&self, edge: EdgeId, state: &State) -> EdgeId {
        let program = &self.contexts.program;
        let calls_it = |e: &EdgeId| match program.edges[*e].op {
            Op::Call { callee: Callee::Direct(callee), .. } => {
                let entry = state.program().funcs[state.func()].entry;
                self.contexts.locations[program.funcs[callee].entry.index()] == entry
            }
            // A call that was proved unreachable.
            Op::Skip => matches!(state.program().edges[edge].op, Op::Skip),
            _ => true,
        };
        self.edges(edge).into_iter().find(calls_it).expect("the run takes an edge from where it is")
    }

    fn distance(&self, value: u64, base: u64) -> u64 {
        value.wrapping_sub(base) & Bounds::full(self.contexts.program.layout.pointer_width).high
    }

    /// True if a value is in its abstract value, as a number and as an address.
    fn is_among(&self, env: &Environment, state: &State, known: &Value, value: u64) -> bool {
        let Some(targets) = known.targets.as_ref() else { return known.contains(value) };
        let functions = self.contexts.program.globals.len() as u32;
        let leads_to = |&(object, ref by): &(u32, Value)| {
            if object == NULL {
                return by.contains(value);
            }
            if object < functions {
                return by.contains(self.distance(value, state.global_address(cfa::GlobalId(object))));
            }
            if object < self.domain.first_site {
                return by.contains(self.distance(value, state.func_address(cfa::FuncId(object - functions))));
            }
            let is_alive = env.memory.status(object).is_some_and(|s| !s.may_be_dead);
            let is_it = |made: &&Made| made.object == object && !made.is_forgotten && (made.is_live || !is_alive);
            let of_site = self.made.iter().filter(is_it);
            of_site.into_iter().any(|made| by.contains(self.distance(value, made.base)))
        };
        known.contains(value) && targets.iter().any(leads_to)
    }

    /// The existing objects with this number about which facts may be stated: their addresses and sizes.
    fn existing(&self, object: u32, state: &State) -> Vec<(u64, u64)> {
        if let Some((id, global)) = self.contexts.program.globals.iter().nth(object as usize) {
            return vec![(state.global_address(id), global.size)];
        }
        let is_it = |made: &&Made| made.object == object && made.is_live && !made.is_forgotten;
        self.made.iter().filter(is_it).map(|made| (made.base, made.size)).collect()
    }

    /// Collects the offset bounds of an abstract value, each with the concrete value or offset that it bounds.
    fn claims(&self, env: &Environment, state: &State, known: &Value, value: u64, claims: &mut Vec<(Limit, u64)>) {
        claims.extend(known.limits.iter().map(|limit| (limit, value)));
        for (object, by) in known.targets.iter().flat_map(|targets| targets.iter()).filter(|_| value != 0) {
            let objects = self.existing(*object, state);
            for &(base, size) in &objects {
                let distance = self.distance(value, base);
                if distance > size {
                    continue;
                }
                let (own, others): (Vec<Limit>, Vec<Limit>) = by.limits.iter().partition(|l| l.object == *object);
                claims.extend(others.into_iter().map(|limit| (limit, distance)));
                if objects.len() == 1 {
                    claims.extend(own.into_iter().map(|limit| (limit, distance)));
                } else {
                    own.into_iter().for_each(|limit| self.look_at_own(env, state, limit, distance, (base, size)));
                }
            }
        }
    }

    /// Checks an offset bound within one of the objects that a number represents.
    fn look_at_own(&self, env: &Environment, state: &State, limit: Limit, offset: u64, (base, size): (u64, u64)) {
        self.others[1].update(|count| count + 1);
        let reach = i128::from(limit.times) * i128::from(offset) + i128::from(limit.more);
        let has_it = env.memory.status(limit.object).is_some_and(|status| status.has(limit.reach));
        let is_null = |at: u64| state.bytes(base + at, 1).is_some_and(|byte| byte[..] == [0]);
        let holds = match limit.reach {
            Reach::Size => reach <= i128::from(size) && (!limit.is_exact || reach == i128::from(size)),
            Reach::Null | Reach::Seen => !has_it || (0..size).any(|at| i128::from(at) >= reach && is_null(at)),
        };
        assert!(holds, "{}: {offset} has not {limit:?} of {size} at {}", self.name, self.at);
    }

    /// Checks that objects have null bytes and sizes as the facts state.
    fn look_at_reaches(&self, env: &Environment, state: &State, claims: &[(Limit, u64)]) {
        let covered = self.covered(env, state);
        for object in 0..self.domain.objects() as u32 {
            let Some(status) = env.memory.status(object) else { continue };
            let mut of_it = claims.iter().filter(|(limit, _)| limit.object == object).peekable();
            if of_it.peek().is_none() && status.null.is_none() && status.seen.is_none() && status.covers.is_empty() {
                continue;
            }
            let objects = self.existing(object, state);
            let [(base, size)] = objects[..] else { continue };
            let most_of = |reach| {
                let of_it = covered.iter().filter(move |(limit, _)| (limit.object, limit.reach) == (object, reach));
                of_it.map(|(limit, most)| (limit, *most)).min_by_key(|(_, most)| *most)
            };
            if let Some((cover, most)) = most_of(Reach::Size) {
                assert!(i128::from(size) <= most, "{}: {cover:?} does not cover {size} at {}", self.name, self.at);
            }
            let mut nulls =
                [(status.null, None), (status.seen.map(|(least, _)| least), status.seen.map(|(_, most)| most))]
                    .map(|(least, most)| (least.map(i128::from), most.map(i128::from), None));
            for (limit, value) in of_it {
                let reach = i128::from(limit.times) * i128::from(*value) + i128::from(limit.more);
                match limit.reach {
                    Reach::Size => {
                        let size = i128::from(size);
                        let holds = reach <= size && (!limit.is_exact || reach == size);
                        assert!(holds, "{}: {value} has not {limit:?} of {size} at {}", self.name, self.at);
                    }
                    Reach::Null | Reach::Seen => {
                        assert!(
                            status.has(limit.reach),
                            "{}: no null for {limit:?} at {}: {status:?} {:?}",
                            self.name,
                            self.at,
                            env.memory.lost
                        );
                        let (least, _, exact) = &mut nulls[usize::from(limit.reach == Reach::Seen)];
                        *least = (*least).max(Some(reach));
                        *exact = exact.or(limit.is_exact.then_some(reach));
                    }
                }
            }
            for ((least, most, exact), reach) in nulls.into_iter().zip([Reach::Null, Reach::Seen]) {
                let Some(least) = least else { continue };
                let most = most_of(reach).map_or(most, |(_, cover)| Some(most.map_or(cover, |most| most.min(cover))));
                let is_null = |at: u64| state.bytes(base + at, 1).is_some_and(|byte| byte[..] == [0]);
                let is_between = |at: i128| at >= least && most.is_none_or(|most| at <= most);
                let fits = |at: i128| is_between(at) && exact.is_none_or(|exact| at == exact);
                let has_null = (0..size).any(|at| fits(at.into()) && is_null(at));
                assert!(
                    has_null,
                    "{}: {status:?} of {object} has no null byte from {least} on at {}",
                    self.name, self.at
                );
            }
        }
    }

    /// The sizes of objects that bound a length of another object.
    fn covered(&self, env: &Environment, state: &State) -> Vec<(Limit, i128)> {
        let mut found = Vec::new();
        for object in 0..self.domain.objects() as u32 {
            let covers = env.memory.status(object).into_iter().flat_map(|status| status.covers.iter());
            let [(_, size)] = self.existing(object, state)[..] else { continue };
            found.extend(covers.map(|cover| (*cover, i128::from(size) - i128::from(cover.more))));
        }
        found
    }

    fn look_at_objects(&self, env: &Environment) {
        for object in self.domain.first_site..self.domain.objects() as u32 {
            let Some(status) = env.memory.status(object) else { continue };
            let made: Vec<&Made> = self.made.iter().filter(|made| made.object == object).collect();
            // An object is forgotten if no known address points to it.
            let counted = made.iter().filter(|made| made.is_live && !made.is_forgotten).count();
            let most = match status.count {
                Count::None => 0,
                Count::One => 1,
                Count::Many => usize::MAX,
            };
            assert!(counted <= most, "{}: {counted} of {status:?} at {}", self.name, self.at);
            let is_there = counted > 0 || !status.exists || status.may_be_dead;
            assert!(is_there, "{}: {object} of {status:?} is not there at {}", self.name, self.at);
            for made in made.into_iter().filter(|made| made.is_live && !made.is_forgotten) {
                let fits = (status.size..=status.most).contains(&made.size);
                assert!(fits, "{}: {} bytes of {status:?} at {}", self.name, made.size, self.at);
            }
        }
    }

    fn look_at_cells(&self, env: &Environment, state: &State, claims: &mut Vec<(Limit, u64)>) -> usize {
        let program = &self.contexts.program;
        let globals = program.globals.iter().map(|(id, g)| (id.0, state.global_address(id), g.size));
        let sites = self.made.iter().filter(|made| made.is_live && !made.is_forgotten);
        let sites = sites.map(|made| (made.object, made.base, made.size));
        let mut found = 0;
        for (object, base, size) in globals.chain(sites) {
            let known_cells = self.domain.cells.iter().copied().filter(|cell| cell.object == object);
            let others = (0..size.min(40)).flat_map(|at| [1, 4, 8].map(|bytes| Cell { object, at, bytes }));
            let is_within =
                |cell: &Cell| cell.bytes <= 8 && cell.at.checked_add(cell.bytes).is_some_and(|end| end <= size);
            let elements = |cell: Cell| {
                let (first, end) = if cell.is_elements() { (0, size) } else { (cell.at, cell.at + 1) };
                (first..end).step_by(cell.bytes as usize).map(move |at| (cell, Cell { at, ..cell }))
            };
            for (from, cell) in known_cells.chain(others).flat_map(elements).filter(|(_, cell)| is_within(cell)) {
                let Some(known) = self.domain.held(&env.memory, from) else { continue };
                let Some(bytes) = state.bytes(base + cell.at, cell.bytes as usize) else { continue };
                let value = bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte));
                found += 1;
                let holds = self.is_among(env, state, &known, value);
                assert!(holds, "{}: {cell:?} holds {value:#x} at {}, not {known:?}", self.name, self.at);
                self.claims(env, state, &known, value, claims);
            }
        }
        found
    }

    /// Checks the must-relations between variables and memory.
    fn look_at_variables(&self, env: &Environment, state: &State) {
        let value = |var: VarId| state.var(var).and_then(|value| value.to_u64());
        // Values that do not fit into 64 bits are not checked.
        let full = |width: u32| Bounds::full(width.min(64)).high;
        for (sum, of, by) in env.recent.sums() {
            let (Some(sum_is), Some(of_is)) = (value(sum), value(of)) else { continue };
            let full = full(self.contexts.program.vars[sum].width);
            assert_eq!(sum_is, of_is.wrapping_add(by) & full, "{}: {sum} of {of} at {}", self.name, self.at);
        }
        for (var, e) in env.recent.definitions() {
            let Some(is) = state.var(var) else { continue };
            assert_eq!(is, state.eval(e), "{}: {var} at {}", self.name, self.at);
        }
        // The variable may hold the byte itself, or the byte extended to a wider integer.
        for (read, address) in env.recent.reads() {
            let Some(is) = value(read.var) else { continue };
            let at = state.eval(address).to_u64().expect("an address");
            let is_live = state.object_at(at).is_some_and(|object| object.live);
            let Some(bytes) = state.bytes(at, 1).filter(|_| is_live) else { continue };
            assert_eq!(is as u8, bytes[0], "{}: read {} at {}", self.name, read.var, self.at);
            assert_eq!(is == 0, bytes[0] == 0, "{}: read {} at {}", self.name, read.var, self.at);
        }
        for (held, address) in env.recent.contents().filter(|(held, _)| held.width <= 64) {
            let Some(is) = value(held.var) else { continue };
            let at = state.eval(address).to_u64().expect("an address");
            let is_live = state.object_at(at).is_some_and(|object| object.live);
            let Some(bytes) = state.bytes(at, held.width.div_ceil(8) as usize).filter(|_| is_live) else { continue };
            let holds = bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte));
            assert_eq!(is, holds & full(held.width), "{}: {} at {}", self.name, held.var, self.at);
        }
        for gap in env.recent.gaps() {
            let number = |var: VarId| {
                let bounds = Bounds::constant(self.contexts.program.vars[var].width, value(var)?);
                Some(if gap.is_signed { i128::from(bounds.min) } else { i128::from(bounds.low) })
            };
            let (Some(a), Some(b)) = (number(gap.a), number(gap.b)) else { continue };
            self.others[0].update(|count| count + 1);
            assert!(a <= b + i128::from(gap.more), "{}: {gap:?} of {a} and {b} at {}", self.name, self.at);
        }
        for (var, address) in env.recent.offsets() {
            let Some(is) = value(var) else { continue };
            let at = state.eval(address).to_u64().expect("an address");
            let mut ends = state.object_at(at).into_iter().filter(|object| object.live);
            let starts = |object: &cfa::interp::Object| object.base == at.wrapping_sub(is) & full(64);
            assert!(ends.all(starts), "{}: {var} at {}", self.name, self.at);
        }
        for (var, address) in env.recent.sizes() {
            let Some(is) = value(var) else { continue };
            let at = state.eval(address).to_u64().expect("an address");
            let mut there = state.object_at(at).into_iter().filter(|object| object.live && object.base == at);
            assert!(there.all(|object| is <= object.size), "{}: {var} is {is} at {}", self.name, self.at);
            self.others[2].update(|count| count + 1);
        }
        for (var, by, id) in env.recent.copies() {
            let (Some(is), cell) = (value(var), self.domain.cells[id as usize]) else { continue };
            let bases: Vec<(u64, u64)> = self.existing(cell.object, state);
            let [(base, _)] = bases[..] else { continue };
            let Some(bytes) = state.bytes(base + cell.at, cell.bytes as usize) else { continue };
            let holds = bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte));
            let is = is.wrapping_add(by) & (u64::MAX >> (64 - 8 * cell.bytes));
            assert_eq!(is, holds, "{}: {var} + {by} in {cell:?} at {}", self.name, self.at);
        }
    }

    /// Checks all facts at the current location against the state of the run.
    fn look(&mut self, state: &State) {
        assert!(self.analysis.is_reachable(self.at), "{}: {} was reached", self.name, self.at);
        let Some(env) = &self.analysis.at[self.at.index()] else { return };
        for made in &mut self.made {
            let status = env.memory.status(made.object);
            made.is_forgotten |= status.is_some_and(|s| s.count == Count::None);
        }
        let mut claims = Vec::new();
        for (id, _) in self.contexts.program.vars.iter().filter(|(_, var)| var.width <= 64) {
            let Some(value) = state.var(id) else { continue };
            self.looked_at += 1;
            let Some(known) = &env.bounded(&self.analysis.rows, id) else { continue };
            self.known += 1;
            let value = value.to_u64().expect("narrow");
            let holds = self.is_among(env, state, known, value);
            assert!(holds, "{}: {id} = {value:#x} at {}, not {known:?}", self.name, self.at);
            self.claims(env, state, known, value, &mut claims);
        }
        self.look_at_objects(env);
        self.look_at_variables(env, state);
        self.known += self.look_at_cells(env, state, &mut claims);
        self.limits += claims.len();
        self.look_at_reaches(env, state, &claims);
    }
}

impl Observer for Follower<'_> {
    fn executed(&mut self, edge: EdgeId, state: &State) {
        let program = &self.contexts.program;
        let edge = self.edge(edge, state);
        let target = program.edges[edge].target;
        self.at = match program.edges[edge].op {
            Op::Return { .. } => match self.waiting.pop() {
                Some(to) => return self.at = to,
                None => return,
            },
            Op::Halt(_) | Op::Error(_) => return,
            Op::Call { callee, .. } => {
                self.waiting.push(target);
                let callee = match callee {
                    Callee::Direct(callee) => callee,
                    Callee::Indirect(_) => state.func(),
                };
                program.funcs[callee].entry
            }
            Op::Alloc { var, .. } => {
                let base = state.var(var).expect("of this frame").to_u64().expect("an address");
                let object = state.object_at(base).expect("just made");
                let site = self.domain.site(edge);
                if let Some(older) = self.domain.older(site) {
                    self.made.iter_mut().filter(|made| made.object == site).for_each(|made| made.object = older);
                }
                self.made.push(Made { object: site, base, size: object.size, is_live: true, is_forgotten: false });
                target
            }
            _ => target,
        };
        for made in &mut self.made {
            made.is_live = made.is_live && state.object_at(made.base).is_some_and(|o| o.base == made.base && o.live);
        }
        self.look(state);
    }
}

/// The shape of the program for a seed.
fn shape(seed: u64) -> Shape {
    Shape { pieces: seed.is_multiple_of(4), objects: seed % 4 != 1, narrow: seed % 3 == 2, ..Shape::default() }
}

/// Follows runs of a program. Adds to `counts` the number of variables checked, facts checked, faults, offset bounds
/// bounds checked.
fn follow(seed: u64, program: &Program, counts: &mut [usize; 7]) {
    let options = pointer::Options { exposure: true, ..pointer::Options::default() };
    let points_to = PointsTo::compute(program, &options).expect("in time");
    let strength = match seed % 5 {
        2 => Strength::FULL.hurried(),
        3 => Strength::QUICK,
        _ => Strength::FULL,
    };
    let mut contexts = Contexts::new(program, Some(&points_to), strength.copied);
    if seed % 2 == 1 {
        // As for a large program: the analysis of what an earlier one left.
        let mut first = Analysis::following(&contexts, points_to.clone(), true, strength);
        first.iterate(&Budget::unlimited()).expect("in time");
        contexts = contexts.reduced(|loc| first.is_reachable(loc)).copied(strength.copied);
    }
    let mut analysis = Analysis::following(&contexts, points_to, true, strength);
    analysis.iterate(&Budget::unlimited()).expect("in time");
    for (loc, env) in contexts.program.locs.ids().zip(&analysis.at) {
        let undefined = env.as_ref().and_then(Environment::undefined_bound);
        assert!(undefined.is_none(), "seed {seed}: {undefined:?} at {loc} refers to no length");
    }
    let following = analysis.following.as_ref().expect("it follows memory");
    let interpreter = Interpreter::new(program);
    for run in 0..4 {
        let mut follower = Follower {
            contexts: &contexts,
            analysis: &analysis,
            domain: &following.domain,
            at: program.funcs[program.entry].entry,
            waiting: Vec::new(),
            made: Vec::new(),
            looked_at: 0,
            known: 0,
            limits: 0,
            others: Default::default(),
            name: format!("seed {seed}, run {run}"),
        };
        let limits = Limits { steps: 2_000, ..Limits::default() };
        let random = Random::new(seed * 8 + run);
        let mut inputs = Inputs { random, narrow: program.layout.pointer_width == 32, objects: 0 };
        if let Outcome::Invalid { edge, fault, .. } = interpreter.run(&mut inputs, limits, &mut follower).outcome {
            counts[2] += 1;
            let here = follower.edges(edge);
            let op = &program.edges[edge].op;
            // A shadow operation is valid if its operation is.
            let is_claimed = op.may_fault() && !here.iter().any(|edge| following.invalid.contains(edge));
            assert!(!is_claimed, "{}: {fault:?} of {op:?} at {edge}", follower.name);
        }
        counts[0] += follower.looked_at;
        counts[1] += follower.known;
        counts[3] += follower.limits;
        counts[4] += follower.others[0].get();
        counts[5] += follower.others[1].get();
        counts[6] += follower.others[2].get();
    }
}

#[test]
fn what_is_known_of_memory_holds_in_executions() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let (first, programs) = (number("PROVISO_SEED").unwrap_or(0), number("PROVISO_PROGRAMS").unwrap_or(600));
    let mut counts = [0; 7];
    for seed in first..first + programs {
        let program = generator::generate_shaped(seed, shape(seed)).program;
        follow(seed, &program, &mut counts);
    }
    let [looked_at, known, faults, limits, gaps, own, sizes] = counts;
    assert!(known * 4 > looked_at && faults as u64 > programs / 10 && limits as u64 > programs, "{counts:?}");
    assert!(gaps > 0 && own > 0 && sizes > 0, "{counts:?}");
}
