//! What happened on the way to the error, in terms of the C program.
//!
//! The interpreter runs the counterexample's inputs and a [`Recorder`] watches. It keeps a shadow of the
//! state, whether each variable and byte depends on an input, so that the steps that matter can be told
//! from the rest: inputs, what is computed from them, branches that they decide, and the calls that lead
//! to the error.

use crate::access::access_path;
use crate::source::{Sources, Spot};
use cfa::interp::{Inputs, InputsSource, Interpreter, Limits, ObjectSeq, Observer, Outcome, State};
use cfa::{
    AllocKind, Bv, EdgeId, Expr, ExprId, FuncId, FunctionOrigin, InputId, InputKind, Op, PlaceId, Program, TypeId,
    VarId,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use std::rc::Rc;

/// Steps kept; beyond this the middle is left out.
const MAX_STEPS: usize = 20_000;

/// What a step did.
#[derive(Clone, PartialEq, Debug)]
pub enum Event {
    /// A value was taken from the environment, maybe into a variable.
    Input {
        index: usize,
        into: Option<String>,
    },
    Assign {
        target: String,
        value: String,
    },
    /// A condition was true or false; the variables in it, with their values.
    Branch {
        taken: bool,
        operands: Vec<(String, String)>,
    },
    Call {
        function: String,
        args: Vec<(String, String)>,
    },
    Return {
        function: String,
        value: Option<String>,
    },
    /// The variables in the check that failed, with their values.
    Error {
        message: String,
        operands: Vec<(String, String)>,
    },
}

#[derive(Clone, PartialEq, Debug)]
pub struct Step {
    pub event: Event,
    pub spot: Option<Spot>,
    /// The function it happened in.
    pub function: String,
    /// Whether it belongs in a short trace.
    pub matters: bool,
}

/// A value that the program took from its environment.
#[derive(Clone, PartialEq, Debug)]
pub struct InputValue {
    pub kind: InputKind,
    pub ty: String,
    /// The same without typedefs.
    pub c_type: String,
    /// As C writes it.
    pub shown: String,
    pub value: Bv,
    pub spot: Option<Spot>,
    /// The function that it was taken in.
    pub function: String,
}

impl InputValue {
    /// The value, for characters also as a character.
    pub fn with_character(&self) -> String {
        match self.c_type.contains("char") && self.value.width() == 8 {
            true => with_character(self.shown.clone(), &self.value),
            false => self.shown.clone(),
        }
    }

    /// Where it came from, for people.
    pub fn source(&self) -> String {
        match &self.kind {
            InputKind::Nondet(function) | InputKind::Environment(function) => format!("{function}()"),
            InputKind::Uninit(Some(name)) => format!("uninitialised {name}"),
            InputKind::Uninit(None) => "uninitialised memory".into(),
            InputKind::Argument(name) => format!("argument {name}"),
            InputKind::Unmodelled(what) => what.clone(),
        }
    }
}

/// `97 'a'`
fn with_character(shown: String, value: &Bv) -> String {
    match value.to_u64() {
        Some(code @ 0x20..=0x7e) => format!("{shown} '{}'", code as u8 as char),
        _ => shown,
    }
}

/// The violation, replayed.
#[derive(Clone, PartialEq, Debug)]
pub struct Trace {
    pub message: String,
    /// Where the user's code makes the error happen: the call of the error function.
    pub spot: Option<Spot>,
    /// The function that this is in.
    pub function: String,
    pub inputs: Vec<InputValue>,
    /// Bytes of memory that was read before it was written, which are not among `inputs`.
    pub unwritten_bytes: usize,
    pub steps: Vec<Step>,
    /// Steps that are not in `steps` because there were too many; they were before index `cut`.
    pub omitted: usize,
    pub cut: usize,
}

/// Runs the inputs and tells what happens, if it is a violation; else how the run ended.
pub fn record(program: &Program, inputs: &Inputs, sources: &Sources) -> Result<Trace, Outcome> {
    let mut recorder = Recorder::new(program, sources, inputs);
    let mut source: InputsSource<'_> = inputs.source();
    let run = Interpreter::new(program).run(&mut source, Limits::default(), &mut recorder);
    match run.outcome {
        Outcome::Error(error, edge) => Ok(recorder.finish(&program.errors[error], edge)),
        other => Err(other),
    }
}

struct Frame {
    /// The call that made it; `None` for the first.
    call: Option<EdgeId>,
    func: FuncId,
    /// Variables that depend on inputs.
    tainted: FxHashSet<VarId>,
    /// The step that says that it was called, if one does.
    step: Option<usize>,
    /// Temporaries that hold what was loaded, by the name that C has for it.
    loaded: FxHashMap<VarId, (String, TypeId)>,
}

/// A memory object that has a name in C.
struct Named {
    name: String,
    ty: TypeId,
}

struct Recorder<'p> {
    program: &'p Program,
    sources: &'p Sources,
    given: &'p Inputs,
    frames: Vec<Frame>,
    vars_of: RefCell<FxHashMap<ExprId, Rc<[VarId]>>>,
    tainted_globals: FxHashSet<VarId>,
    tainted_bytes: FxHashSet<u64>,
    /// Objects made by `Alloc` edges, by their number.
    allocs: Vec<Option<VarId>>,
    inputs: Vec<InputValue>,
    steps: Vec<Step>,
    omitted: usize,
    cut: usize,
    /// The variable that took the last input, whose next copy is where the input goes in C.
    fresh: Option<(VarId, usize)>,
    /// What a check looked at that failed.
    failed: Vec<(String, String)>,
}

impl<'p> Recorder<'p> {
    fn new(program: &'p Program, sources: &'p Sources, given: &'p Inputs) -> Self {
        let first = Frame {
            call: None,
            func: program.entry,
            tainted: FxHashSet::default(),
            step: None,
            loaded: FxHashMap::default(),
        };
        Self {
            program,
            sources,
            given,
            frames: vec![first],
            vars_of: RefCell::default(),
            tainted_globals: FxHashSet::default(),
            tainted_bytes: FxHashSet::default(),
            allocs: Vec::new(),
            inputs: Vec::new(),
            steps: Vec::new(),
            omitted: 0,
            cut: MAX_STEPS / 2,
            fresh: None,
            failed: Vec::new(),
        }
    }

    fn finish(mut self, error: &cfa::ErrorInfo, edge: EdgeId) -> Trace {
        // The error edge stands at the entry of the error function; the user looks at its call.
        let frame = self.frames.last().expect("there is a frame");
        let at_entry = self.program.funcs[frame.func].entry == self.program.edges[edge].source;
        let site = if at_entry { frame.call.unwrap_or(edge) } else { edge };
        let site = self.in_user_code(site).unwrap_or(site);
        let spot = self.spot(self.program.edges[site].place).or_else(|| error.place.and_then(|p| self.spot(Some(p))));
        let function = self.program.funcs[self.program.func_of(site)].name.clone();
        for step in self.frames.iter().filter_map(|f| f.step).collect::<Vec<_>>() {
            if let Some(step) = self.index(step) {
                self.steps[step].matters = true;
            }
        }
        // The call of the error function itself is the error.
        if let Some(Step { event: Event::Call { .. }, .. }) = self.steps.last().filter(|_| at_entry) {
            self.steps.pop();
        }
        if at_entry && let Some(last) = self.steps.iter_mut().rev().find(|s| matches!(s.event, Event::Branch { .. })) {
            last.matters = true;
        }
        let event = Event::Error { message: error.message.clone(), operands: std::mem::take(&mut self.failed) };
        self.steps.push(Step { event, spot: spot.clone(), function: function.clone(), matters: true });
        Trace {
            message: error.message.clone(),
            spot,
            function,
            inputs: self.inputs,
            unwritten_bytes: self.given.bytes.len(),
            steps: self.steps,
            omitted: self.omitted,
            cut: self.cut,
        }
    }

    /// The innermost edge that is in the user's code and executing when `edge` is: itself, or the call
    /// through which control went into a library model.
    fn in_user_code(&self, edge: EdgeId) -> Option<EdgeId> {
        let calls = self.frames.iter().rev().filter_map(|f| f.call);
        std::iter::once(edge).chain(calls).find(|&e| {
            let func = self.program.func_of(e);
            self.program.funcs[func].origin == FunctionOrigin::Source && self.program.edges[e].place.is_some()
        })
    }

    /// Whether an error comes next.
    fn leads_to_error(&self, edge: EdgeId) -> bool {
        let mut next = self.program.out_edges(self.program.edges[edge].target);
        next.any(|e| matches!(self.program.edges[e].op, Op::Error(_)))
    }
    /// Whether an error would have come next on the other side of the branch.
    fn avoids_error(&self, edge: EdgeId) -> bool {
        let mut sides = self.program.out_edges(self.program.edges[edge].source);
        sides.any(|e| e != edge && self.leads_to_error(e))
    }

    fn spot(&self, place: Option<PlaceId>) -> Option<Spot> {
        self.sources.spot(self.program, place?)
    }

    /// Whether steps of the present function are shown: not those of library models.
    fn shown(&self) -> bool {
        let frame = self.frames.last().expect("there is a frame");
        self.program.funcs[frame.func].origin != FunctionOrigin::Model
    }

    fn push(&mut self, event: Event, edge: EdgeId, matters: bool) {
        let spot = self.spot(self.program.edges[edge].place);
        let function = self.program.funcs[self.program.func_of(edge)].name.clone();
        if self.steps.len() >= MAX_STEPS {
            // Amortised: a quarter of the kept steps goes at once, from the middle.
            let gone = MAX_STEPS / 4;
            self.steps.drain(self.cut..self.cut + gone);
            self.omitted += gone;
        }
        self.steps.push(Step { event, spot, function, matters });
    }

    /// The number of the next step, counting those that were left out.
    fn next_step(&self) -> usize {
        self.steps.len() + self.omitted
    }
    fn index(&self, step: usize) -> Option<usize> {
        if step < self.cut { Some(step) } else { step.checked_sub(self.omitted).filter(|&i| i >= self.cut) }
    }

    // Dependence on inputs.

    /// The variables in an expression.
    fn vars(&self, e: ExprId) -> Rc<[VarId]> {
        let mut cache = self.vars_of.borrow_mut();
        cache.entry(e).or_insert_with(|| self.program.exprs.vars(e).into()).clone()
    }
    fn is_tainted(&self, e: ExprId) -> bool {
        let frame = self.frames.last().expect("there is a frame");
        self.vars(e).iter().any(|v| frame.tainted.contains(v) || self.tainted_globals.contains(v))
    }
    fn set_taint(&mut self, var: VarId, tainted: bool) {
        let set = match self.program.vars[var].func() {
            None => &mut self.tainted_globals,
            Some(_) => &mut self.frames.last_mut().expect("there is a frame").tainted,
        };
        if tainted {
            set.insert(var);
        } else {
            set.remove(&var);
        }
    }
    fn taint_bytes(&mut self, addr: u64, len: u64, tainted: bool) {
        // Fills of megabytes are no reason to be slow.
        for at in addr..addr.saturating_add(len.min(1 << 16)) {
            if tainted {
                self.tainted_bytes.insert(at);
            } else {
                self.tainted_bytes.remove(&at);
            }
        }
    }

    // Names and values.

    fn show(&self, var: VarId, value: &Bv) -> String {
        self.show_as(self.program.vars[var].ty, value)
    }
    fn show_as(&self, ty: TypeId, value: &Bv) -> String {
        let shown = self.program.show_value(ty, value);
        match self.program.plain_type(ty) {
            cfa::CType::Int { name, width: 8, .. } if name.contains("char") => with_character(shown, value),
            _ => shown,
        }
    }

    /// The name of a variable of the C program; the address of `x`, which the front-end names `&x`, is none.
    fn name(&self, var: VarId) -> Option<&'p str> {
        self.program.vars[var].name.as_deref().filter(|n| !n.starts_with('&'))
    }

    /// The named variables in an expression, with their values.
    fn operands(&self, e: ExprId, state: &State) -> Vec<(String, String)> {
        let mut operands = Vec::new();
        for &var in self.vars(e).iter() {
            let frame = self.frames.last().expect("there is a frame");
            let declared = self.name(var).map(|name| (name, self.program.vars[var].ty));
            let named = declared.or(frame.loaded.get(&var).map(|(name, ty)| (name.as_str(), *ty)));
            if let (Some((name, ty)), Some(value)) = (named, state.var(var)) {
                operands.push((name.to_owned(), self.show_as(ty, &value)));
            }
        }
        operands
    }

    /// How C names the bytes at an address: `a[3].x`.
    fn target(&self, addr: u64, len: u64, state: &State) -> Option<(String, Option<TypeId>)> {
        let object = state.object_at(addr)?;
        let named = match object.seq {
            ObjectSeq::Global(global) => {
                let global = &self.program.globals[global];
                Named { name: global.name.clone(), ty: global.ty }
            }
            ObjectSeq::Alloc(n) => {
                let var = &self.program.vars[(*self.allocs.get(n as usize)?)?];
                let ty = match self.program.plain_type(var.ty) {
                    cfa::CType::Pointer(to) => *to,
                    _ => var.ty,
                };
                Named { name: var.name.as_deref()?.trim_start_matches('&').to_owned(), ty }
            }
        };
        let (path, ty) = access_path(self.program, named.ty, addr - object.base, len);
        Some((named.name + &path, ty))
    }

    fn call(&mut self, edge: EdgeId, state: &State) {
        let callee = state.func();
        let caller_shown = self.shown();
        let Op::Call { args, .. } = &self.program.edges[edge].op else { return };
        let tainted: Vec<bool> = args.iter().map(|&a| self.is_tainted(a)).collect();
        let function = &self.program.funcs[callee];
        let mut step = None;
        // The calls of main and of constructors are not in the user's code.
        if caller_shown && self.frames.len() > 1 {
            let mut shown = Vec::new();
            for &param in &function.params {
                if let Some(value) = state.var(param) {
                    let name = self.program.vars[param].name.clone().unwrap_or_default();
                    shown.push((name, self.show(param, &value)));
                }
            }
            step = Some(self.next_step());
            self.push(Event::Call { function: function.name.clone(), args: shown }, edge, false);
        }
        let tainted = function.params.iter().zip(tainted).filter(|(_, t)| *t).map(|(p, _)| *p).collect();
        self.frames.push(Frame { call: Some(edge), func: callee, tainted, step, loaded: FxHashMap::default() });
    }

    fn ret(&mut self, edge: EdgeId, value: Option<ExprId>, state: &State) {
        let tainted = value.is_some_and(|v| self.is_tainted(v));
        let frame = self.frames.pop().expect("a return leaves a frame");
        let Some(call) = frame.call else { return };
        let function = &self.program.funcs[frame.func];
        if frame.step.is_some() && function.origin == FunctionOrigin::Source {
            let shown = value.map(|v| self.show_as(function.return_type, &state.eval(v)));
            self.push(Event::Return { function: function.name.clone(), value: shown }, edge, false);
        }
        if let Op::Call { result: Some(result), .. } = self.program.edges[call].op {
            self.set_taint(result, tainted);
        }
    }

    fn input(&mut self, edge: EdgeId, var: VarId, input: InputId, state: &State) {
        let Some(value) = state.var(var) else { return };
        let info = &self.program.inputs[input];
        let site = self.in_user_code(edge);
        let place = site.and_then(|e| self.program.edges[e].place).or(info.place);
        let function = self.program.funcs[self.program.func_of(site.unwrap_or(edge))].name.clone();
        let index = self.inputs.len();
        let spot = self.spot(place);
        self.inputs.push(InputValue {
            kind: info.kind.clone(),
            ty: self.program.type_name(info.ty),
            c_type: crate::harness::plain_name(self.program, info.ty),
            shown: self.program.show_value(info.ty, &value),
            value,
            spot: spot.clone(),
            function,
        });
        self.set_taint(var, true);
        let into = self.program.vars[var].name.clone();
        self.fresh = into.is_none().then_some((var, self.next_step()));
        self.push(Event::Input { index, into }, edge, true);
        self.steps.last_mut().expect("just pushed").spot = spot;
    }

    /// Whether assigning `value` to `target` only moves the last input to where C wants it; then that step
    /// says so.
    fn moves_input(&mut self, target: &str, expr: ExprId, shown: &str) -> bool {
        let Some((var, step)) = self.fresh else { return false };
        if *self.vars(expr) != [var] {
            return false;
        }
        let Some(i) = self.index(step) else { return false };
        let Event::Input { into, index } = &mut self.steps[i].event else { return false };
        if self.inputs[*index].with_character() != shown {
            return false;
        }
        *into = Some(target.to_owned());
        self.fresh = None;
        true
    }

    fn assigned(&mut self, edge: EdgeId, var: VarId, tainted: bool, state: &State) {
        self.set_taint(var, tainted);
        if let (true, Some(name), Some(value)) = (self.shown(), self.name(var), state.var(var)) {
            let value = self.show(var, &value);
            self.push(Event::Assign { target: name.to_owned(), value }, edge, tainted);
        }
    }
}

impl Observer for Recorder<'_> {
    fn executed(&mut self, edge: EdgeId, state: &State) {
        let program = self.program;
        match &program.edges[edge].op {
            Op::Skip | Op::Halt(_) | Op::Error(_) | Op::Approx { .. } | Op::Free { .. } => {}
            Op::ObjectSize { var, ptr } | Op::ObjectOffset { var, ptr } => {
                let tainted = self.is_tainted(*ptr);
                self.set_taint(*var, tainted);
            }
            Op::Assign { var, value } => {
                let tainted = self.is_tainted(*value);
                let name = self.name(*var);
                let shown = name.and(state.var(*var)).map_or_else(String::new, |v| self.show(*var, &v));
                if name.is_some_and(|name| self.moves_input(name, *value, &shown)) {
                    self.set_taint(*var, true);
                } else {
                    if let (None, Some((fresh, step))) = (name, self.fresh)
                        && *program.exprs.get(*value) == Expr::Var(fresh)
                    {
                        self.fresh = Some((*var, step));
                    }
                    self.assigned(edge, *var, tainted, state);
                }
            }
            // Checks are no branches of the C program.
            Op::Assume { cond, .. } if self.leads_to_error(edge) => self.failed = self.operands(*cond, state),
            Op::Assume { .. } if self.avoids_error(edge) => {}
            Op::Assume { cond, branch } => {
                if self.shown() && program.edges[edge].place.is_some() {
                    let operands = self.operands(*cond, state);
                    let matters = self.is_tainted(*cond);
                    self.push(Event::Branch { taken: *branch, operands }, edge, matters);
                }
            }
            Op::Load { var, addr } => {
                // Where the variable was part of its own address, that address is gone.
                let known = !self.vars(*addr).contains(var);
                let at = if known { state.eval(*addr).to_u64().unwrap_or(0) } else { 0 };
                let len = u64::from(program.vars[*var].width.div_ceil(8));
                let tainted = self.is_tainted(*addr)
                    || (known && (at..at.saturating_add(len)).any(|b| self.tainted_bytes.contains(&b)));
                let target = if known && self.name(*var).is_none() { self.target(at, len, state) } else { None };
                let loaded = &mut self.frames.last_mut().expect("there is a frame").loaded;
                match target {
                    Some((name, Some(ty))) => loaded.insert(*var, (name, ty)),
                    _ => loaded.remove(var),
                };
                self.assigned(edge, *var, tainted, state);
            }
            Op::Store { addr, value } => {
                let tainted = self.is_tainted(*value);
                let len = u64::from(program.exprs.width(*value).div_ceil(8));
                let at = state.eval(*addr).to_u64().unwrap_or(0);
                self.taint_bytes(at, len, tainted);
                if let Some((target, ty)) = self.target(at, len, state).filter(|_| self.shown()) {
                    let stored = state.eval(*value);
                    let shown = ty.map_or_else(|| stored.to_string(), |ty| self.show_as(ty, &stored));
                    if !self.moves_input(&target, *value, &shown) {
                        self.push(Event::Assign { target, value: shown }, edge, tainted);
                    }
                }
            }
            Op::Alloc { var, kind, .. } => {
                let named = *kind == AllocKind::Stack && program.vars[*var].name.is_some();
                let object = ObjectSeq::Alloc(self.allocs.len() as u64);
                self.allocs.push(named.then_some(*var));
                self.set_taint(*var, false);
                let base = state.var(*var).and_then(|v| v.to_u64()).unwrap_or(0);
                for &(_, offset) in self.given.bytes.range((object, 0)..=(object, u64::MAX)).map(|(key, _)| key) {
                    self.tainted_bytes.insert(base.wrapping_add(offset));
                }
            }
            Op::Havoc { var, input } => self.input(edge, *var, *input, state),
            Op::Copy { dst, src, len } => {
                let [dst, src, len] = [dst, src, len].map(|e| state.eval(*e).to_u64().unwrap_or(0));
                let tainted: Vec<bool> =
                    (0..len.min(1 << 16)).map(|i| self.tainted_bytes.contains(&src.wrapping_add(i))).collect();
                for (i, tainted) in tainted.into_iter().enumerate() {
                    self.taint_bytes(dst.wrapping_add(i as u64), 1, tainted);
                }
            }
            Op::Fill { dst, byte, len } => {
                let tainted = self.is_tainted(*byte);
                let [dst, len] = [dst, len].map(|e| state.eval(*e).to_u64().unwrap_or(0));
                self.taint_bytes(dst, len, tainted);
            }
            Op::Call { .. } => self.call(edge, state),
            Op::Return { value } => self.ret(edge, *value, state),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::{self, Detail};
    use crate::report::{Answer, Report, Violation};

    /// ```c
    /// 4  static int sum(const int *v, int n) {
    /// 5      int s = 0;
    /// 6      for (int i = 0; i < n; i++)
    /// 7          s = s + v[i];
    /// 8      return s; }
    /// 10 int main(void) {
    /// 11     int a[3] = {1, 2, 3};
    /// 12     struct point p = {0, 0};
    /// 13     a[1] = __VERIFIER_nondet_int();
    /// 14     p.y = __VERIFIER_nondet_short();
    /// 15     if (p.y > limit && sum(a, 3) == 42)
    /// 16         reach_error(); … }
    /// ```
    fn sum() -> Program {
        let mut program = cfa::text::parse(include_str!("../tests/data/sum.cfa")).unwrap();
        instrument::unreach_call(&mut program, &["reach_error".to_owned()]);
        program
    }

    fn inputs(a: u64, y: u64) -> Inputs {
        Inputs { values: vec![Bv::new(32, a), Bv::new(16, y)], ..Inputs::default() }
    }

    #[test]
    fn a_trace_speaks_of_c() {
        let trace = record(&sum(), &inputs(38, 11), &Sources::new()).unwrap();
        assert_eq!(trace.message, "reach_error is called");
        assert_eq!(trace.spot.as_ref().unwrap().to_string(), "gone/sum.c:16:9");
        assert_eq!(trace.function, "main");
        let shown: Vec<_> = trace.inputs.iter().map(|i| (i.source(), i.ty.clone(), i.shown.clone())).collect();
        let expected = [("__VERIFIER_nondet_int()", "int", "38"), ("__VERIFIER_nondet_short()", "short", "11")];
        assert_eq!(shown, expected.map(|(a, b, c)| (a.into(), b.into(), c.into())));
        let violation =
            Violation { property: "unreach-call".into(), message: trace.message.clone(), trace: Some(trace) };
        let report = Report {
            answer: Answer::False(Box::new(violation)),
            properties: Vec::new(),
            files: Vec::new(),
            data_model: "LP64",
            analysis: String::new(),
            decided_by: None,
            proof: None,
            lessons: Vec::new(),
            invariants: Vec::new(),
            notes: Vec::new(),
            models: Vec::new(),
            stats: Vec::new(),
        };
        let text = render::report(&report, &Sources::new(), Detail::Short, false);
        let squeezed: Vec<String> = text
            .lines()
            .map(|l| l.split_whitespace().collect::<Vec<_>>().join(" "))
            .filter(|l| !l.is_empty())
            .collect();
        assert_eq!(
            squeezed,
            [
                "error: reach_error is called (unreach-call is violated)",
                "--> gone/sum.c:16:9",
                "= note: in main",
                "how it comes about (7 of 19 steps; --trace full shows all):",
                "--> gone/sum.c",
                "13 | a[1] = 38 (input 1: int)",
                "14 | p.y = 11 (input 2: short)",
                "15 | true (limit = 10, p.y = 11)",
                "7 | s = 39",
                "| s = 42",
                "15 | true",
                "16 | reach_error is called",
            ]
        );
    }

    #[test]
    fn a_run_without_error_has_no_trace() {
        assert_eq!(record(&sum(), &inputs(0, 11), &Sources::new()).unwrap_err(), Outcome::Exit(0));
    }

    #[test]
    fn long_traces_lose_their_middle() {
        let (program, sources, inputs) = (sum(), Sources::new(), inputs(38, 11));
        let mut recorder = Recorder::new(&program, &sources, &inputs);
        let edge = program.edges.ids().next().unwrap();
        for i in 0..3 * MAX_STEPS {
            recorder.push(Event::Assign { target: "i".into(), value: i.to_string() }, edge, false);
        }
        assert!(recorder.steps.len() <= MAX_STEPS);
        assert_eq!(recorder.steps.len() + recorder.omitted, 3 * MAX_STEPS);
        let value = |step: &Step| match &step.event {
            Event::Assign { value, .. } => value.parse::<usize>().unwrap(),
            _ => unreachable!(),
        };
        for (number, kept) in [(0, true), (recorder.cut - 1, true), (recorder.cut, false), (3 * MAX_STEPS - 1, true)] {
            let found = recorder.index(number).filter(|&i| i < recorder.steps.len());
            assert_eq!(found.map(|i| value(&recorder.steps[i])), kept.then_some(number));
        }
    }
}
