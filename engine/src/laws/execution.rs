//! Records runs of the interpreter, state by state.

use super::generator::Random;
use crate::semantics::{ObjId, Slots};
use cfa::interp::{InputSource, Interpreter, Limits, ObjectSeq, Observer, Recording, Unknown};
use cfa::{AllocKind, Bv, EdgeId, FuncId, Id, Op, Program, VarId};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Largest number of edges of a run.
const STEPS: u64 = 250;

/// The content of a live object.
#[derive(Clone)]
pub(super) struct Content {
    pub(super) bytes: Rc<[u8]>,
}

/// A concrete state.
#[derive(Clone)]
pub(super) struct Concrete {
    /// The values of global variables, in the order of [`Slots`].
    pub(super) globals: Rc<Vec<Bv>>,
    /// The stack frames, outermost first.
    pub(super) frames: Vec<Rc<Vec<Bv>>>,
    pub(super) memory: Rc<BTreeMap<ObjId, Content>>,
}

/// An executed edge, with the concrete state after it.
pub(super) struct ExecutedEdge {
    pub(super) edge: EdgeId,
    /// The function of the observed state: after a call, the callee.
    pub(super) func: FuncId,
    pub(super) after: Concrete,
}

/// A recorded run of the interpreter.
pub(super) struct Execution {
    pub(super) steps: Vec<ExecutedEdge>,
    pub(super) start: Concrete,
    /// The inputs in order.
    pub(super) inputs: Vec<Bv>,
    /// The addresses of objects.
    pub(super) bases: FxHashMap<ObjId, u64>,
}

impl Execution {
    /// The state after `steps` steps.
    pub(super) fn at(&self, steps: usize) -> &Concrete {
        steps.checked_sub(1).map_or(&self.start, |last| &self.steps[last].after)
    }
}

/// Records a run.
struct Tracer<'p> {
    program: &'p Program,
    slots: &'p Slots,
    steps: Vec<ExecutedEdge>,
    bases: FxHashMap<ObjId, u64>,
    frames: Vec<Rc<Vec<Bv>>>,
    /// The stack objects of each frame.
    locals: Vec<Vec<ObjId>>,
    memory: Rc<BTreeMap<ObjId, Content>>,
    has_shadows: bool,
}

/// The domain's id of an object.
fn id_of(program: &Program, object: ObjectSeq) -> ObjId {
    match object {
        ObjectSeq::Global(g) => ObjId(g.0),
        ObjectSeq::Alloc(n) => ObjId(program.globals.len() as u32 + n as u32),
    }
}

impl Tracer<'_> {
    fn look(&mut self, state: &cfa::interp::State) {
        let mut memory = BTreeMap::new();
        for object in state.live_objects() {
            let id = id_of(self.program, object.seq);
            let bytes = match object.size as usize {
                0 => Vec::new(),
                size => state.bytes(object.base, size).expect("a live object"),
            };
            let bytes = match self.memory.get(&id) {
                Some(old) if *old.bytes == *bytes => Rc::clone(&old.bytes),
                _ => bytes.into(),
            };
            self.bases.insert(id, object.base);
            memory.insert(id, Content { bytes });
            if self.has_shadows {
                let bytes = match object.size as usize {
                    0 => Vec::new(),
                    size => state.shadow(object.base, size).expect("a live object"),
                };
                memory.insert(id.shadow(), Content { bytes: bytes.into() });
            }
        }
        self.memory = Rc::new(memory);
    }
}

impl Observer for Tracer<'_> {
    fn executed(&mut self, edge: EdgeId, state: &cfa::interp::State) {
        let op = &self.program.edges[edge].op;
        let row = |vars: &[VarId]| vars.iter().map(|&v| state.var(v).expect("it is here")).collect::<Vec<_>>();
        let mut globals = row(&self.slots.globals);
        let touches = matches!(
            op.unshadowed(),
            Op::Store { .. }
                | Op::Copy { .. }
                | Op::Fill { .. }
                | Op::Alloc { .. }
                | Op::Free { .. }
                | Op::Return { .. }
        );
        if touches || self.steps.is_empty() {
            self.look(state);
        }
        match op {
            Op::Halt(_) | Op::Error(_) => return,
            Op::Return { value } => {
                // The observer receives the state before the return.
                self.frames.pop();
                let Some(frame) = self.frames.last_mut() else { return };
                let call = state.call_stack().last().expect("a caller");
                let Op::Call { result, .. } = self.program.edges[call].op else { panic!("a call") };
                if let Some(var) = result {
                    let value = state.eval(value.expect("functions of random programs have results"));
                    let slot = self.slots.of_var[var.index()];
                    let place = match slot.global() {
                        Some(slot) => &mut globals[slot],
                        None => &mut Rc::make_mut(frame)[slot.local()],
                    };
                    *place = value.resize(self.program.vars[var].width);
                }
                let objects = self.locals.pop().expect("a frame");
                Rc::make_mut(&mut self.memory).retain(|id, _| !objects.contains(&ObjId(id.number() as u32)));
            }
            Op::Call { .. } => {
                self.frames.push(Rc::new(row(&self.slots.locals[state.func().index()])));
                self.locals.push(Vec::new());
            }
            _ => {
                if let Op::Alloc { kind: AllocKind::Stack, .. } = op {
                    let newest = self.memory.keys().rfind(|id| !id.is_shadow()).copied().expect("an object");
                    self.locals.last_mut().expect("a frame").push(newest);
                }
                *self.frames.last_mut().expect("a frame") = Rc::new(row(&self.slots.locals[state.func().index()]));
            }
        }
        let (globals, frames) = (Rc::new(globals), self.frames.clone());
        let after = Concrete { globals, frames, memory: Rc::clone(&self.memory) };
        self.steps.push(ExecutedEdge { edge, func: state.func(), after });
    }
}

/// Inputs of all sizes, mostly small.
struct Environment(Random);

impl InputSource for Environment {
    fn unknown(&mut self, _what: Unknown, width: u32) -> Bv {
        let value = match self.0.below(4) {
            0 | 1 => self.0.below(8) as i64,
            2 => self.0.below(300) as i64 - 150,
            _ => (self.0.below(1 << 31) as i64) << 30 ^ self.0.below(1 << 31) as i64,
        };
        Bv::from_i64(64, value).resize(width)
    }
    fn bytes(&mut self, _object: ObjectSeq, _offset: u64, bytes: &mut [u8]) {
        for byte in bytes {
            *byte = self.0.below(256) as u8;
        }
    }
}

/// Records a run on the inputs of this seed.
pub(super) fn execution(program: &Program, slots: &Slots, seed: u64) -> Execution {
    let entry = program.entry.index();
    let zeros = slots.locals[entry].iter().map(|&v| Bv::zero(program.vars[v].width)).collect();
    let mut tracer = Tracer {
        program,
        slots,
        steps: Vec::new(),
        bases: FxHashMap::default(),
        frames: vec![Rc::new(zeros)],
        locals: vec![Vec::new()],
        memory: Rc::default(),
        has_shadows: program.edges.values().any(|e| matches!(e.op, Op::Shadow(_))),
    };
    let mut source = Recording::new(Environment(Random::new(seed)));
    let limits = Limits { steps: STEPS, ..Limits::default() };
    let before = tracer.frames.clone();
    Interpreter::new(program).run(&mut source, limits, &mut tracer);
    // The first operations of the generated programs assign locals only.
    let mut start = tracer.steps[0].after.clone();
    assert!(matches!(program.edges[tracer.steps[0].edge].op, Op::Assign { .. }));
    start.frames = before;
    Execution { steps: tracer.steps, start, inputs: source.inputs.values, bases: tracer.bases }
}
