//! Instruments a program with an automaton.
//!
//! For each event of the automaton, the program calls a *monitor* function before or after the observed call. The
//! monitor finds the instance of the key, takes the first matching transition, and reaches an error if the transition
//! leads to one. Global variables, the *slots*, store the instances that are not in their initial configuration. Two
//! states of the program are therefore equal if the states of the automaton are equal. If there are more instances than
//! slots, a taint records that the result is unknown.
//!
//! A monitor observes calls by the program and callbacks from the library. It does not observe calls inside the
//! library.

mod body;

use super::{Automaton, Event, Named, Pattern, Transition};
use body::Body;
use cfa::{
    CType, CallGraph, Callee, EdgeId, Expr, ExprId, FuncId, FunctionOrigin, HaltKind, LocId, Op, PlaceId, Program,
    Taint, TypeId, Var, VarId, VarKind,
};
use std::fmt;

/// The width of an automaton's variables in bits.
const WIDTH: u32 = 64;
/// The width of a state in bits.
const STATE: u32 = 8;

/// A pattern of the automaton that does not match the program's function, as a message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WeaveError(pub String);

impl fmt::Display for WeaveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for WeaveError {}

/// The global variables that store one instance.
struct Slot {
    /// One bit: the slot stores an instance. The used slots precede the unused ones.
    used: VarId,
    key: VarId,
    state: VarId,
    variables: Vec<VarId>,
}

/// The value of an event that is the key of the instance.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Position {
    /// The argument with this index.
    Argument(usize),
    /// The pointer in memory that an argument points to.
    Pointee(usize),
    /// The result.
    Result,
    /// The automaton has one instance, or the event concerns all instances.
    None,
}

/// The time of a monitor, relative to the call that it observes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Moment {
    Before,
    Behind,
}

/// The instrumentation of a program with an automaton.
struct Weaver<'a> {
    automaton: &'a Automaton,
    program: &'a mut Program,
    within: Option<&'a str>,
    slots: Vec<Slot>,
    /// Types of which only the width is known.
    byte: TypeId,
    word: TypeId,
    pointer: TypeId,
}

/// A monitor: a function that observes an event of another function.
struct Monitor {
    func: FuncId,
    /// The values that its parameters take, in order.
    takes: Vec<Position>,
}

impl Automaton {
    /// Instruments a program, so that violations of the automaton are errors. Events of functions that the program does
    /// not have never occur. If execution starts at the function `within` instead of `main`, the prior configuration of
    /// the instances is unknown. Fails if a pattern does not match the program's function.
    pub fn weave(&self, program: &mut Program, within: Option<&str>) -> Result<(), WeaveError> {
        let [byte, word] = [STATE, WIDTH].map(|width| program.types.push(CType::Unknown { width }));
        let pointer = program.types.push(CType::Unknown { width: program.layout.pointer_width });
        let mut weaver = Weaver { automaton: self, program, within, slots: Vec::new(), byte, word, pointer };
        weaver.take_as_harmless();
        weaver.make_slots();
        let watched: Vec<FuncId> = weaver.program.funcs.ids().collect();
        let mut monitors = Vec::new();
        for func in watched {
            for moment in [Moment::Before, Moment::Behind] {
                if let Some(monitor) = weaver.monitor(func, moment)? {
                    monitors.push((func, moment, monitor));
                }
            }
        }
        weaver.watch_calls(&monitors);
        weaver.watch_the_start();
        weaver.watch_the_end();
        Ok(())
    }
}

impl Weaver<'_> {
    // Variables and states.

    fn var(&mut self, name: Option<&str>, ty: TypeId, width: u32, kind: VarKind) -> VarId {
        self.program.vars.push(Var { name: name.map(str::to_owned), ty, width, kind, place: None })
    }

    /// The initial state of instances.
    fn first(&self) -> usize {
        if self.within.is_some() { self.automaton.given } else { 0 }
    }

    fn take_as_harmless(&mut self) {
        for id in self.program.edges.ids() {
            let function = &self.program.funcs[self.program.func_of(id)];
            if function.origin == FunctionOrigin::Undefined
                && self.automaton.harmless.iter().any(|name| function.is_named(name))
                && matches!(self.program.edges[id].op, Op::Approx { .. })
            {
                self.program.edges[id].op = Op::Skip;
            }
        }
    }

    fn make_slots(&mut self) {
        let Automaton { name, key, instances, variables, states, .. } = self.automaton;
        let values = states.iter().zip(0..).map(|(state, n)| (state.clone(), n)).collect();
        let states = CType::Enum { name: format!("{} {name}", cfa::AUTOMATON), width: STATE, signed: false, values };
        let states = self.program.types.push(states);
        let pointer = self.program.layout.pointer_width;
        let void = self.program.types.push(CType::Void);
        let key_type = self.program.types.push(if key.is_some() {
            CType::Pointer(void)
        } else {
            CType::Unknown { width: pointer }
        });
        let flag = self.program.types.push(CType::Unknown { width: 1 });
        let first = self.first() as i64;
        let word = self.word;
        for _ in 0..if key.is_some() { *instances } else { 1 } {
            let mut global = |ty, width, name: Option<&str>, value: i64| {
                let init = Some(self.program.exprs.int(width, value as u64));
                self.var(name, ty, width, VarKind::Global { init, is_static: true })
            };
            let used = global(flag, 1, None, 0);
            // Counterexample traces expect these two variables next to each other.
            let (slot_key, state) = (global(key_type, pointer, None, 0), global(states, STATE, Some(name), first));
            let variables = variables.iter().map(|&(_, value)| global(word, WIDTH, None, value)).collect();
            self.slots.push(Slot { used, key: slot_key, state, variables });
        }
    }

    // Monitors.

    /// Creates the monitor for calls of a function or for returns from it. Returns `None` if the automaton has no such
    /// event.
    fn monitor(&mut self, func: FuncId, moment: Moment) -> Result<Option<Monitor>, WeaveError> {
        let function = &self.program.funcs[func];
        let rows: Vec<Row<'_>> =
            self.automaton.transitions.iter().filter_map(|t| Row::new(t, moment, function)).collect();
        if rows.is_empty() {
            return Ok(None);
        }
        let name = cfa::documented_name(&function.name).to_owned();
        for row in &rows {
            self.fits(func, &name, row)?;
        }
        let has_result = self.program.funcs[func].return_width.is_some();
        let mut takes: Vec<Position> = rows.iter().flat_map(Row::bound).map(|(_, position)| position).collect();
        takes.retain(|position| has_result || *position != Position::Result);
        takes.sort_unstable();
        takes.dedup();
        let verb = if moment == Moment::Before { "call" } else { "return" };
        let own = self.add_monitor(&format!("{verb}_{name}"));
        let mut body = Body { w: self, func: own, given: Vec::new(), end: None };
        for &position in &takes {
            let (ty, width) = body.w.typed(func, position);
            let var = body.w.var(None, ty, width, VarKind::Param(own));
            body.w.program.funcs[own].params.push(var);
            body.given.push((position, var));
        }
        let mut at = body.w.program.funcs[own].entry;
        let (known, lost): (Vec<Row<'_>>, Vec<Row<'_>>) =
            rows.into_iter().partition(|row| has_result || !row.bound().any(|(_, p)| p == Position::Result));
        if !lost.is_empty() {
            at = body.give_up(at, format!("automaton {}: the result of '{name}' is not known", body.w.automaton.name));
        }
        let key = body.w.automaton.key.as_deref();
        let position = |row: &Row<'_>| row.bound().find(|(name, _)| Some(*name) == key).map_or(Position::None, |b| b.1);
        let mut positions: Vec<Position> = known.iter().map(position).collect();
        positions.sort_unstable();
        positions.dedup();
        for wanted in positions {
            let rows: Vec<&Row<'_>> = known.iter().filter(|row| position(row) == wanted).collect();
            at = body.step(at, wanted, &rows);
        }
        body.finish(at);
        Ok(Some(Monitor { func: own, takes }))
    }

    /// Adds a monitor function without parameters.
    fn add_monitor(&mut self, event: &str) -> FuncId {
        let void = self.program.types.push(CType::Void);
        let func = self.program.add_function(&format!("{}{}_{event}", cfa::MONITOR, self.automaton.name), void, None);
        self.program.funcs[func].origin = FunctionOrigin::Model;
        func
    }

    /// Checks that the function has the arguments and the result of a pattern.
    fn fits(&self, func: FuncId, name: &str, row: &Row<'_>) -> Result<(), WeaveError> {
        let function = &self.program.funcs[func];
        let (has, wants) = (function.params.len(), row.pattern.args.len());
        let said = if wants == 1 { "1 argument".to_owned() } else { format!("{wants} arguments") };
        if wants > has || (wants < has && !row.pattern.open) {
            let text = format!("automaton {}: a pattern has {said} for {name}, which takes {has}", self.automaton.name);
            return Err(WeaveError(text));
        }
        let is_void = function.return_width.is_none() && function.origin == FunctionOrigin::Source;
        if row.result.is_some() && is_void {
            return Err(WeaveError(format!("automaton {}: {name} returns nothing", self.automaton.name)));
        }
        let pointer = self.program.layout.pointer_width;
        let is_none =
            |position| matches!(position, Position::Pointee(n) if self.typed(func, Position::Argument(n)).1 != pointer);
        if let Some((pointee, _)) = row.bound().find(|(_, position)| is_none(*position)) {
            return Err(WeaveError(format!("automaton {}: `*{pointee}` of {name} is no pointer", self.automaton.name)));
        }
        let is_wide = |position| position != Position::None && self.typed(func, position).1 > WIDTH;
        if row.bound().any(|(_, position)| is_wide(position)) {
            let text =
                format!("automaton {}: an argument or result of {name} has more than 64 bits", self.automaton.name);
            return Err(WeaveError(text));
        }
        Ok(())
    }

    /// The type and the width of an argument or result of a function.
    fn typed(&self, func: FuncId, position: Position) -> (TypeId, u32) {
        let function = &self.program.funcs[func];
        match position {
            Position::Argument(n) => {
                let var = &self.program.vars[function.params[n]];
                (var.ty, var.width)
            }
            Position::Pointee(_) => (self.pointer, self.program.layout.pointer_width),
            Position::Result => (function.return_type, function.return_width.unwrap_or(1)),
            Position::None => (self.byte, STATE),
        }
    }

    fn is_signed(&self, ty: TypeId) -> bool {
        match *self.program.plain_type(ty) {
            CType::Int { signed, .. } | CType::Enum { signed, .. } => signed,
            CType::Unknown { width } => width < self.program.layout.pointer_width,
            _ => false,
        }
    }

    // Calls of monitors.

    fn watch_calls(&mut self, monitors: &[(FuncId, Moment, Monitor)]) {
        let taken: Vec<FuncId> = CallGraph::new(self.program).address_taken().to_vec();
        let calls: Vec<EdgeId> = self.program.edges.ids().collect();
        for edge in calls {
            let Op::Call { callee, .. } = self.program.edges[edge].op else { continue };
            let by_library = self.program.funcs[self.program.func_of(edge)].origin == FunctionOrigin::Model;
            let counts = |p: &Program, f: FuncId| !by_library || p.funcs[f].origin == FunctionOrigin::Source;
            let direct = match callee {
                Callee::Direct(func) => Some(func),
                Callee::Indirect(e) => match *self.program.exprs.get(e) {
                    Expr::FuncAddr(func) => Some(func),
                    _ => None,
                },
            };
            let may_be = |f: FuncId| direct.map_or_else(|| taken.contains(&f), |direct| direct == f);
            for (func, moment, monitor) in monitors.iter().filter(|(f, ..)| may_be(*f)) {
                if counts(self.program, *func) {
                    self.watch(edge, *func, direct.is_some(), *moment, monitor);
                }
            }
        }
    }

    /// Adds a call of a monitor to a call. If `is_direct`, the call always calls `func`.
    fn watch(&mut self, edge: EdgeId, func: FuncId, is_direct: bool, moment: Moment, monitor: &Monitor) {
        let caller = self.program.func_of(edge);
        let place = self.program.edges[edge].place;
        let Op::Call { callee, args, result, .. } = self.program.edges[edge].op.clone() else { return };
        let mut before = Before { source: self.program.detach(edge), place };
        let is_called = match callee {
            Callee::Indirect(pointer) if !is_direct => {
                let address = self.program.exprs.func_addr(func, self.program.layout.pointer_width);
                Some(self.program.exprs.eq(pointer, address))
            }
            _ => None,
        };
        let mut unknown = false;
        let mut given = Vec::new();
        let mut reads = Vec::new();
        for &position in &monitor.takes {
            let (_, width) = self.typed(func, position);
            let value = match (position, result) {
                (Position::Argument(n) | Position::Pointee(n), _) => match args.get(n) {
                    Some(&arg) => {
                        let value = self.saved(&mut before, caller, arg, moment);
                        match position {
                            Position::Pointee(_) => {
                                let var = self.var(None, self.pointer, width, VarKind::Temp(caller));
                                reads.push(Op::Load { var, addr: self.program.exprs.resize(width, value) });
                                self.program.var_expr(var)
                            }
                            _ => value,
                        }
                    }
                    None => {
                        unknown = true;
                        self.program.exprs.int(width, 0)
                    }
                },
                (_, Some(result)) => self.program.var_expr(result),
                (_, None) if is_direct => {
                    let var = self.var(None, self.byte, width, VarKind::Temp(caller));
                    if let Op::Call { result, .. } = &mut self.program.edges[edge].op {
                        *result = Some(var);
                    }
                    self.program.var_expr(var)
                }
                (_, None) => {
                    unknown = true;
                    self.program.exprs.int(width, 0)
                }
            };
            given.push(self.program.exprs.resize(width, value));
        }
        let is_called = is_called.map(|is_called| self.saved(&mut before, caller, is_called, moment));
        let (mut at, after) = match moment {
            Moment::Before => (before.source, None),
            Moment::Behind => {
                self.program.attach(edge, before.source);
                let behind = self.program.add_location(caller);
                (behind, Some(std::mem::replace(&mut self.program.edges[edge].target, behind)))
            }
        };
        let end = after.unwrap_or_else(|| self.program.add_location(caller));
        if let Some(is_called) = is_called {
            let watched = self.program.add_location(caller);
            self.program.add_branch(at, is_called, watched, end, None);
            at = watched;
        }
        if unknown {
            let reason =
                format!("automaton {}: a call whose arguments or result do not fit the function", self.automaton.name);
            at = self.approximate(at, reason, place);
        }
        for read in reads {
            let next = self.program.add_location(caller);
            self.program.add_edge(at, read, next, place);
            at = next;
        }
        let op = Op::Call { callee: Callee::Direct(monitor.func), args: given.into(), varargs: None, result: None };
        self.program.add_edge(at, op, end, place);
        if after.is_none() {
            self.program.attach(edge, end);
        }
    }

    /// Returns a value as it is before a call. If the monitor runs after the call, the value is saved in a temporary,
    /// because the call may change its variables.
    fn saved(&mut self, before: &mut Before, caller: FuncId, value: ExprId, moment: Moment) -> ExprId {
        if moment == Moment::Before || self.program.exprs.as_const(value).is_some() {
            return value;
        }
        let width = self.program.exprs.width(value);
        let var = self.var(None, self.byte, width, VarKind::Temp(caller));
        let next = self.program.add_location(caller);
        self.program.add_edge(before.source, Op::Assign { var, value }, next, before.place);
        before.source = next;
        self.program.var_expr(var)
    }

    /// Adds a taint: from here on the instances are unknown.
    fn approximate(&mut self, at: LocId, reason: String, place: Option<PlaceId>) -> LocId {
        self.taint(at, Taint { reason, place, over: true, under: true })
    }

    fn taint(&mut self, at: LocId, taint: Taint) -> LocId {
        let place = taint.place;
        let taint = self.program.taints.push(taint);
        let next = self.program.add_location(self.program.locs[at].func);
        self.program.add_edge(at, Op::Approx { taint }, next, place);
        next
    }

    /// Calls monitors at the start of `main` (or of the function at which execution starts) with the values of the
    /// global variables of `start` events.
    fn watch_the_start(&mut self) {
        let automaton = self.automaton;
        let mut names: Vec<&str> = automaton.transitions.iter().filter_map(Row::starts).flatten().collect();
        names.sort_unstable();
        names.dedup();
        let entry = self.start();
        for name in names {
            let width = self.program.layout.pointer_width;
            let Some(read) = self.read_global(name, entry) else { continue };
            let func = self.add_monitor(&format!("start_{name}"));
            let param = self.var(None, self.pointer, width, VarKind::Param(func));
            self.program.funcs[func].params.push(param);
            let rows: Vec<Row<'_>> = automaton.transitions.iter().filter_map(|t| Row::at_start(t, name)).collect();
            let mut body = Body { w: self, func, given: vec![(Position::Result, param)], end: None };
            let at = body.w.program.funcs[func].entry;
            let key = if automaton.key.is_some() { Position::Result } else { Position::None };
            let at = body.step(at, key, &rows.iter().collect::<Vec<_>>());
            body.finish(at);
            let (mut at, next) = (self.program.add_location(entry), self.program.funcs[entry].entry);
            self.program.funcs[entry].entry = at;
            let (op, value) = read;
            if let Some(op) = op {
                let behind = self.program.add_location(entry);
                self.program.add_edge(at, op, behind, None);
                at = behind;
            }
            let op = Op::Call { callee: Callee::Direct(func), args: [value].into(), varargs: None, result: None };
            self.program.add_edge(at, op, next, None);
        }
    }

    /// The function whose entry is the start of the program: `main`, or the function at which execution starts. If
    /// constructors run before it, the program's entry function.
    fn start(&self) -> FuncId {
        let entry = self.program.entry;
        let Some(first) = self.program.func_by_name(self.within.unwrap_or("main")) else { return entry };
        let is_other = |op: &Op| matches!(*op, Op::Call { callee: Callee::Direct(f), .. } if f != first && self.program.funcs[f].origin == FunctionOrigin::Source);
        let has_others = self.program.edges.iter().any(|(id, e)| self.program.func_of(id) == entry && is_other(&e.op));
        if has_others { entry } else { first }
    }

    /// The pointer in a global variable, and the operation that loads it in `func`, if it needs one. `None` if the
    /// program has no such pointer variable.
    fn read_global(&mut self, name: &str, func: FuncId) -> Option<(Option<Op>, ExprId)> {
        let width = self.program.layout.pointer_width;
        let is_it = |var: &Var| matches!(var.kind, VarKind::Global { .. }) && var.name.as_deref() == Some(name);
        let var = self.program.vars.iter().find(|(_, var)| is_it(var)).map(|(id, _)| id);
        if let Some(var) = var {
            return (self.program.vars[var].width == width).then(|| (None, self.program.var_expr(var)));
        }
        let (global, _) =
            self.program.globals.iter().find(|(_, g)| g.name == name && g.size == u64::from(width / 8))?;
        let addr = self.program.exprs.global_addr(global, width);
        let var = self.var(None, self.pointer, width, VarKind::Temp(func));
        Some((Some(Op::Load { var, addr }), self.program.var_expr(var)))
    }

    fn watch_the_end(&mut self) {
        let automaton = self.automaton;
        let rows: Vec<Row<'_>> = automaton.transitions.iter().filter_map(Row::at_end).collect();
        if rows.is_empty() {
            return;
        }
        let main = self.program.func_by_name("main");
        let is_last = |&(id, edge): &(EdgeId, &cfa::Edge)| {
            matches!(edge.op, Op::Return { .. }) && edge.place.is_some() && Some(self.program.func_of(id)) == main
        };
        let place = self.program.edges.iter().rfind(is_last).and_then(|(_, edge)| edge.place);
        let func = self.add_monitor("end");
        let mut body = Body { w: self, func, given: Vec::new(), end: Some(place) };
        let mut at = body.w.program.funcs[func].entry;
        let none = body.w.program.add_location(func);
        for n in 0..body.w.slots.len() {
            at = body.end_of(at, n, &rows, none);
        }
        body.w.program.add_edge(at, Op::Skip, none, None);
        body.finish(none);
        let is_end = |op: &Op| matches!(op, Op::Halt(HaltKind::Exit(_) | HaltKind::ExitNow(_)));
        let ends = self.program.edges.iter().filter(|(_, edge)| is_end(&edge.op));
        let ends: Vec<EdgeId> = ends.map(|(id, _)| id).collect();
        for edge in ends {
            let place = self.program.edges[edge].place;
            let (source, next) = (self.program.detach(edge), self.program.add_location(self.program.func_of(edge)));
            let op = Op::Call { callee: Callee::Direct(func), args: Box::default(), varargs: None, result: None };
            self.program.add_edge(source, op, next, place);
            self.program.attach(edge, next);
        }
    }
}

/// The position before an edge where new edges are inserted.
struct Before {
    source: LocId,
    place: Option<PlaceId>,
}

/// A transition of an event, with its pattern.
struct Row<'a> {
    transition: &'a Transition,
    pattern: &'a Pattern,
    result: Option<&'a str>,
}

/// The pattern of events that are no calls.
static NO_PATTERN: Pattern = Pattern { functions: Vec::new(), args: Vec::new(), open: true };

impl<'a> Row<'a> {
    fn new(transition: &'a Transition, moment: Moment, function: &cfa::Function) -> Option<Self> {
        let (pattern, result) = match (&transition.event, moment) {
            (Event::Call(pattern), Moment::Before) => (pattern, None),
            (Event::Return(pattern, result), Moment::Behind) => (pattern, result.as_deref()),
            _ => return None,
        };
        pattern.functions.iter().any(|name| function.is_named(name)).then_some(Self { transition, pattern, result })
    }

    /// The global variables of a `start` transition.
    fn starts(transition: &'a Transition) -> Option<impl Iterator<Item = &'a str>> {
        let Event::Start(globals, _) = &transition.event else { return None };
        Some(globals.iter().map(String::as_str))
    }

    fn at_start(transition: &'a Transition, global: &str) -> Option<Self> {
        let Event::Start(globals, name) = &transition.event else { return None };
        globals.iter().any(|g| g == global).then_some(Self { transition, pattern: &NO_PATTERN, result: Some(name) })
    }

    fn at_end(transition: &'a Transition) -> Option<Self> {
        (transition.event == Event::End).then_some(Self { transition, pattern: &NO_PATTERN, result: None })
    }

    /// The names that the event binds, with the positions of their values.
    fn bound(&self) -> impl Iterator<Item = (&'a str, Position)> + use<'a> {
        let args = self.pattern.args.iter().enumerate();
        let args = args.filter_map(|(n, arg)| {
            let Named { name, is_pointee } = arg.as_ref()?;
            Some((name.as_str(), if *is_pointee { Position::Pointee(n) } else { Position::Argument(n) }))
        });
        args.chain(self.result.map(|name| (name, Position::Result)))
    }
}

#[cfg(test)]
mod tests;
