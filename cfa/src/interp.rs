//! The concrete interpreter: the reference semantics of a [`Program`].
//!
//! [`Interpreter::run`] executes a program on given inputs, as the documentation of [`crate::Program`] defines, and
//! returns the outcome of the run. It replays every counterexample before it is reported. Tests compare it with
//! natively compiled programs.
//!
//! The interpreter first compiles a program to a compact register code (`code`). Values of up to 64 bits are machine
//! words (`word`). All others are evaluated as the expression language defines. The frames of the interpreted program
//! are data, so its recursion does not use the stack of the interpreter.

mod code;
mod endless;
mod inputs;
mod leak;
mod memory;
mod operate;
mod races;
mod robust;
mod run;
mod threads;
mod word;

#[cfg(test)]
mod tests;

pub use inputs::{InputSource, Inputs, InputsSource, ObjectSeq, Recording, Unknown};
pub use leak::UNDECIDED_LEAK;
pub use memory::{Fault, Object, ObjectKind, function_address, function_at};
pub use races::Access;
pub use run::{Endless, LimitKind, Limits, Neighbour, Observer, Outcome, Run};
pub use threads::{Cell, Flaw, Gap, Machine, Sharing};

use crate::bv::Bv;
use crate::expr::{Expr, ExprId};
use crate::index::Id;
use crate::program::*;
use code::{Code, Instr, Operand, Reg, is_wide};
use endless::CycleDetector;
use memory::{Memory, Stop};
use operate::Interrupt;
use std::time::Instant;
use threads::Threads;

/// A program compiled for execution.
pub struct Interpreter<'p> {
    program: &'p Program,
    code: Code,
}

impl<'p> Interpreter<'p> {
    /// Compiles a program in time linear in its size.
    pub fn new(program: &'p Program) -> Self {
        Self { program, code: Code::new(program) }
    }
    /// Runs the program from its entry until it ends or reaches a limit.
    pub fn run<O: Observer>(&self, inputs: &mut dyn InputSource, limits: Limits, observer: &mut O) -> Run {
        let mut state = State::new(self.program, &self.code, limits);
        let outcome = match state.start(inputs) {
            Ok(()) if state.threads.is_some() => state.run_threads(inputs, observer),
            Ok(()) => state.execute(inputs, observer),
            Err(outcome) => outcome,
        };
        if let Outcome::Invalid { edge, addr, .. } = outcome {
            observer.faulted(edge, addr, &state);
        }
        Run {
            outcome,
            steps: state.steps,
            allocs: state.allocs,
            accessed: state.accessed,
            object: match outcome {
                Outcome::Invalid { addr, .. } => state.memory.neighbour(addr),
                _ => None,
            },
            live_heap: state.memory.live_objects().filter(|o| o.kind.may_leak()).count() as u64,
            stack: state.call_stack().collect(),
            race: state.threads.as_ref().and_then(|threads| threads.race),
            taints: state.taints,
            has_undecided_leak: state.leaks.is_undecided(),
        }
    }
}

/// A caller's frame: the state to restore when the callee returns.
#[derive(Clone)]
struct Frame {
    func: FuncId,
    /// The index of the call in [`Code::calls`].
    call: u32,
    /// The index of the instruction after the call.
    pc: usize,
    words: usize,
    wides: usize,
    stack_objects: usize,
}

/// The state of a run.
#[derive(Clone)]
pub struct State<'r> {
    program: &'r Program,
    code: &'r Code,
    limits: Limits,
    /// The register files: static registers, then frames. See [`code`].
    words: Vec<u64>,
    wides: Vec<Bv>,
    /// The start of the current frame in each register file.
    words_base: usize,
    wides_base: usize,
    func: FuncId,
    frames: Vec<Frame>,
    /// The base addresses of the stack objects of all frames.
    stack_objects: Vec<u64>,
    memory: Memory,
    steps: u64,
    /// The number of steps at which the limits are checked next.
    check_at: u64,
    allocs: u64,
    inputs_taken: u64,
    taints: Vec<TaintId>,
    cycles: CycleDetector,
    leaks: leak::Roots,
    /// After a fault, the number of bytes that the access covered.
    accessed: u64,
    /// The state of all threads, if the program starts threads.
    threads: Option<Box<Threads>>,
}

/// The number of steps between two checks of the clock.
const CHECK_INTERVAL: u64 = 1 << 16;

// The observable state.
impl<'r> State<'r> {
    /// The program.
    pub fn program(&self) -> &'r Program {
        self.program
    }
    /// The function of the current frame.
    pub fn func(&self) -> FuncId {
        self.func
    }
    /// The number of frames below the current one.
    pub fn depth(&self) -> usize {
        self.frames.len()
    }
    /// The call edges of the frames below the current one, outermost first.
    pub fn call_stack(&self) -> impl Iterator<Item = EdgeId> {
        self.frames.iter().map(|frame| self.code.calls[frame.call as usize].edge)
    }
    /// The number of executed edges, including the one that is being observed.
    pub fn steps(&self) -> u64 {
        self.steps
    }
    /// The number of unknown values that the run has requested, without those of globals. After a `Havoc` edge, its
    /// value is element `inputs_taken() - 1` of [`Inputs::values`].
    pub fn inputs_taken(&self) -> u64 {
        self.inputs_taken
    }
    /// The value of a global variable or of a variable of the current frame. `None` for variables of other functions.
    pub fn var(&self, var: VarId) -> Option<Bv> {
        let owner = self.program.vars[var].func();
        (owner.is_none() || owner == Some(self.func)).then(|| self.value(self.code.vars[var]))
    }
    /// The value of a variable in the frame of the caller, or of a global variable. `None` for variables of other
    /// functions, and if there is no caller.
    pub fn caller_var(&self, var: VarId) -> Option<Bv> {
        let (owner, frame) = (self.program.vars[var].func(), self.frames.last()?);
        let is_there = owner.is_none() || owner == Some(frame.func);
        is_there.then(|| self.value_in(self.code.vars[var], frame.words, frame.wides))
    }
    /// The value of an expression over variables that [`var`](Self::var) accepts and over known contents of globals.
    /// Panics on other leaves.
    pub fn eval(&self, e: ExprId) -> Bv {
        self.program.exprs.eval_tree(e, &mut |leaf| match *leaf {
            Expr::Var(var) => self.var(var).expect("a variable of the present frame"),
            Expr::Content { of, offset, width } => {
                let bytes = self.bytes(self.global_address(of) + u64::from(offset), (width / 8) as usize);
                Bv::from_le_bytes(&bytes.expect("known content"))
            }
            _ => self.address(leaf),
        })
    }
    /// The `len >= 1` bytes at an address. `None` if they are not readable or the run has not touched them yet.
    pub fn bytes(&self, addr: u64, len: usize) -> Option<Vec<u8>> {
        self.memory.peek(addr, len)
    }
    /// Returns true if one of the `len` bytes at an address is unknown and unwritten, in an object whose reads the
    /// input source observes ([`InputSource::observes_reads`]).
    pub fn has_unwritten(&self, addr: u64, len: usize) -> bool {
        self.memory.has_unwritten(addr, len)
    }
    /// The shadow of the `len` bytes at an address; see [`bytes`](Self::bytes).
    pub fn shadow(&self, addr: u64, len: usize) -> Option<Vec<u8>> {
        self.memory.peek_shadow(addr, len)
    }
    /// The object, live or dead, that contains the address or ends at it.
    pub fn object_at(&self, addr: u64) -> Option<&Object> {
        self.memory.object_at(addr)
    }
    /// The object that contains the address. If the address is in the gap between objects, the nearest object.
    pub fn neighbour(&self, addr: u64) -> Option<Neighbour> {
        self.memory.neighbour(addr)
    }
    /// The live objects, by address.
    pub fn live_objects(&self) -> impl Iterator<Item = &Object> {
        self.memory.live_objects()
    }
    /// The address of a global object.
    pub fn global_address(&self, global: GlobalId) -> u64 {
        self.words[self.code.globals_at + global.index()]
    }
    /// The address of a function.
    pub fn func_address(&self, func: FuncId) -> u64 {
        function_address(func)
    }
    /// The function at an address.
    pub fn func_at(&self, addr: u64) -> Option<FuncId> {
        self.memory.function_at(addr)
    }

    fn address(&self, leaf: &Expr) -> Bv {
        let addr = match *leaf {
            Expr::GlobalAddr(global) => self.global_address(global),
            Expr::FuncAddr(func) => self.func_address(func),
            _ => panic!("a program has no {leaf:?}"),
        };
        Bv::new(self.program.layout.pointer_width, addr)
    }
}

// Registers.
impl State<'_> {
    #[inline]
    fn get(&self, reg: Reg) -> u64 {
        self.words[reg.at(self.words_base)]
    }
    #[inline]
    fn set(&mut self, reg: Reg, value: u64) {
        let at = reg.at(self.words_base);
        self.words[at] = value;
    }
    fn get_wide(&self, reg: Reg) -> &Bv {
        &self.wides[reg.at(self.wides_base)]
    }
    fn set_wide(&mut self, reg: Reg, value: Bv) {
        let at = reg.at(self.wides_base);
        self.wides[at] = value;
    }
    fn value(&self, operand: Operand) -> Bv {
        self.value_in(operand, self.words_base, self.wides_base)
    }
    /// The value of an operand in the frame with these bases.
    fn value_in(&self, operand: Operand, words: usize, wides: usize) -> Bv {
        if operand.is_wide() {
            let value = &self.wides[operand.reg.at(wides)];
            // A variable that was never written does not have a value of its width yet.
            if value.width() == operand.width { value.clone() } else { Bv::zero(operand.width) }
        } else {
            Bv::new(operand.width, self.words[operand.reg.at(words)])
        }
    }
    /// Writes a value, truncated or zero-extended to the width of the register.
    fn set_value(&mut self, to: Operand, value: &Bv) {
        if to.is_wide() {
            self.set_wide(to.reg, value.resize(to.width));
        } else {
            let word = if value.width() <= 64 { value.to_u64() } else { value.extract(63, 0).to_u64() };
            self.set(to.reg, word.expect("at most 64 bits") & word::mask(to.width));
        }
    }
}

// Execution.
impl<'r> State<'r> {
    fn new(program: &'r Program, code: &'r Code, limits: Limits) -> Self {
        Self {
            program,
            code,
            limits,
            words: Vec::new(),
            wides: Vec::new(),
            words_base: 0,
            wides_base: 0,
            func: program.entry,
            frames: Vec::new(),
            stack_objects: Vec::new(),
            memory: Memory::new(program.layout, program.funcs.len(), limits.memory),
            steps: 0,
            check_at: limits.steps.min(CHECK_INTERVAL),
            allocs: 0,
            inputs_taken: 0,
            taints: Vec::new(),
            cycles: CycleDetector::default(),
            leaks: leak::Roots::default(),
            accessed: 0,
            threads: Threads::new(code),
        }
    }

    /// Places and initialises the globals, and enters the entry function.
    fn start(&mut self, inputs: &mut dyn InputSource) -> Result<(), Outcome> {
        let (program, code) = (self.program, self.code);
        let unfaulty = |stop: Stop| match stop {
            Stop::Limit => Outcome::Limit(LimitKind::Memory),
            Stop::Fault(..) => panic!("initial content out of bounds"),
        };
        self.words.resize(code.constants_at, 0);
        self.words.extend(&code.constants);
        self.wides.resize(code.wide_constants_at, Bv::zero(1));
        self.wides.extend(code.wide_constants.iter().cloned());
        for (id, global) in program.globals.iter() {
            let kind = ObjectKind::Global { read_only: global.read_only };
            let (seq, align) = (ObjectSeq::Global(id), u64::from(global.align));
            let known = global.init.is_some();
            let base = self.memory.allocate(seq, global.size, align, kind, known, inputs).map_err(unfaulty)?;
            self.words[code.globals_at + id.index()] = base.ok_or(Outcome::Unplaced(seq))?;
        }
        for func in program.funcs.ids() {
            self.words[code.funcs_at + func.index()] = self.func_address(func);
        }
        for (id, global) in program.globals.iter() {
            let Some(init) = &global.init else { continue };
            let base = self.global_address(id);
            self.memory.initialise(base, 0, &init.bytes, inputs).map_err(unfaulty)?;
            for &(offset, value) in &init.pointers {
                let bytes = self.eval(value).to_le_bytes();
                self.memory.initialise(base, offset, &bytes, inputs).map_err(unfaulty)?;
            }
        }
        for (id, var) in program.vars.iter() {
            if let VarKind::Global { init, .. } = var.kind {
                let value = match init {
                    Some(init) => self.eval(init),
                    None => inputs.unknown(Unknown::Global(id), var.width),
                };
                self.set_value(code.vars[id], &value);
            }
        }
        self.words_base = self.words.len();
        self.wides_base = self.wides.len();
        self.push_registers(program.entry)
    }

    /// Allocates the registers of a frame of this function at the current bases.
    fn push_registers(&mut self, func: FuncId) -> Result<(), Outcome> {
        let entry = &self.code.entries[func];
        let words = self.words_base + entry.words as usize;
        let wides = self.wides_base + entry.wides as usize;
        let bytes = 8 * words + size_of::<Bv>() * wides;
        if bytes as u64 + self.memory.used() > self.limits.memory {
            return Err(Outcome::Limit(LimitKind::Memory));
        }
        self.words.resize(words, 0);
        self.wides.resize(wides, Bv::zero(1));
        Ok(())
    }

    fn execute<O: Observer>(&mut self, inputs: &mut dyn InputSource, observer: &mut O) -> Outcome {
        let code = self.code;
        let mut pc = code.entries[self.func].pc as usize;
        macro_rules! attempt {
            ($action:expr) => {
                match $action {
                    Ok(value) => value,
                    Err(stop) => return self.stopped(stop, pc),
                }
            };
        }
        loop {
            let instr = code.instrs[pc];
            pc += 1;
            match instr {
                Instr::Move { dst, src } => {
                    let value = self.get(src);
                    self.set(dst, value);
                }
                Instr::MoveWide { dst, src } => {
                    let value = self.get_wide(src).clone();
                    self.set_wide(dst, value);
                }
                Instr::Binary { op, width, dst, a, b } => {
                    let value = word::binary(op, u32::from(width), self.get(a), self.get(b));
                    self.set(dst, value);
                }
                Instr::Extract { width, lo, dst, src } => {
                    let value = self.get(src) >> lo & word::mask(u32::from(width));
                    self.set(dst, value);
                }
                Instr::Sext { from, to, dst, src } => {
                    let value = word::signed(self.get(src), u32::from(from)) as u64 & word::mask(u32::from(to));
                    self.set(dst, value);
                }
                Instr::Ite { dst, cond, then, other } => {
                    let value = self.get(if self.get(cond) != 0 { then } else { other });
                    self.set(dst, value);
                }
                Instr::Node(node) => self.node(node),
                Instr::Load { width, dst, addr } if !is_wide(width) => {
                    let value = attempt!(self.memory.load(self.get(addr), width.div_ceil(8), inputs));
                    self.set(dst, value & word::mask(width));
                }
                Instr::Store { width, addr, value } if !is_wide(width) => {
                    attempt!(self.memory.store(self.get(addr), width.div_ceil(8), self.get(value), inputs));
                }
                Instr::Call(call) => {
                    let target = match code.calls[call as usize].callee {
                        Ok(func) => func,
                        Err(reg) => {
                            let addr = self.get(reg);
                            let func = self.func_at(addr).ok_or(Stop::Fault(Fault::InvalidCall, addr, 0));
                            attempt!(func)
                        }
                    };
                    if let Err(outcome) = self.enter(target, call, pc, inputs) {
                        return outcome;
                    }
                    pc = code.entries[target].pc as usize;
                    if let Some(limit) = self.done(code.calls[call as usize].edge, observer) {
                        return Outcome::Limit(limit);
                    }
                }
                Instr::Return { width, value } => match self.leave(Operand { reg: value, width }, inputs) {
                    Ok(back) => pc = back,
                    Err(outcome) => return outcome,
                },
                Instr::Exit { code } => return Outcome::Exit(self.get(code) as i32),
                Instr::Halt(kind) => return halted(kind),
                Instr::Error(error) => return Outcome::Error(error, self.edge_at(pc - 2)),
                Instr::Approx(taint) => {
                    if !self.taints.contains(&taint) {
                        self.taints.push(taint);
                    }
                }
                Instr::Done(edge) => {
                    if let Some(limit) = self.done(edge, observer) {
                        return Outcome::Limit(limit);
                    }
                }
                Instr::Branch { cond, other } => {
                    if self.get(cond) == 0 {
                        pc = other as usize;
                    }
                }
                Instr::Jump(target) => pc = target as usize,
                Instr::Stuck(loc) => return Outcome::Stuck(loc),
                other => match self.operate(other, pc, inputs) {
                    Ok(()) => {}
                    Err(Interrupt::Stop(stop)) => return self.stopped(stop, pc),
                    Err(Interrupt::Outcome(outcome)) => return outcome,
                },
            }
        }
    }

    #[inline]
    fn done<O: Observer>(&mut self, edge: EdgeId, observer: &mut O) -> Option<LimitKind> {
        self.steps += 1;
        observer.executed(edge, self);
        if self.steps >= self.check_at { self.check(edge) } else { None }
    }

    #[cold]
    fn check(&mut self, edge: EdgeId) -> Option<LimitKind> {
        let mut cycles = std::mem::take(&mut self.cycles);
        let is_endless = self.limits.endless == Endless::Ends && cycles.observe(self, edge);
        self.cycles = cycles;
        if is_endless {
            return Some(LimitKind::Endless);
        }
        self.check_at =
            (self.steps + CHECK_INTERVAL).min(self.cycles.next_step().max(self.steps + 1)).min(self.limits.steps);
        if self.steps >= self.limits.steps {
            Some(LimitKind::Steps)
        } else if self.limits.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            Some(LimitKind::Time)
        } else {
            None
        }
    }

    /// The outcome of a run whose instruction before `pc` cannot be executed.
    #[cold]
    fn stopped(&mut self, stop: Stop, pc: usize) -> Outcome {
        match stop {
            Stop::Fault(fault, addr, len) => {
                self.accessed = len;
                Outcome::Invalid { edge: self.edge_at(pc - 1), fault, addr }
            }
            Stop::Limit => Outcome::Limit(LimitKind::Memory),
        }
    }

    /// The edge of the instruction at `pc`.
    fn edge_at(&self, pc: usize) -> EdgeId {
        let edge = self.code.instrs[pc..].iter().find_map(|instr| match *instr {
            Instr::Done(edge) => Some(edge),
            Instr::Call(call) => Some(self.code.calls[call as usize].edge),
            _ => None,
        });
        edge.expect("every instruction belongs to an edge")
    }

    fn unknown(&mut self, what: Unknown, width: u32, inputs: &mut dyn InputSource) -> Bv {
        self.inputs_taken += 1;
        inputs.unknown(what, width)
    }

    /// Executes a node of the general evaluator.
    fn node(&mut self, index: u32) {
        let node = &self.code.nodes[index as usize];
        if !node.dst.is_wide() && !node.args.iter().any(|a| a.is_wide()) {
            let mut args = [0; 3];
            for (arg, operand) in args.iter_mut().zip(&node.args) {
                *arg = self.get(operand.reg);
            }
            if let Some(value) = word::apply(&node.expr, node.args[0].width, args) {
                return self.set(node.dst.reg, value);
            }
        }
        let values: Vec<Bv> = node.args.iter().map(|&a| self.value(a)).collect();
        let value = match &values[..] {
            [a] => crate::expr::apply(&node.expr, &[a]),
            [a, b] => crate::expr::apply(&node.expr, &[a, b]),
            [a, b, c] => crate::expr::apply(&node.expr, &[a, b, c]),
            _ => None,
        };
        self.set_value(node.dst, &value.expect("edges hold operations on bit-vectors only"));
    }

    /// Enters a function. The call returns to `pc`.
    fn enter(&mut self, target: FuncId, call: u32, pc: usize, inputs: &mut dyn InputSource) -> Result<(), Outcome> {
        if self.frames.len() >= self.limits.call_depth {
            return Err(Outcome::Limit(LimitKind::CallDepth));
        }
        let (words, wides) = (self.words_base, self.wides_base);
        let stack_objects = self.stack_objects.len();
        self.frames.push(Frame { func: self.func, call, pc, words, wides, stack_objects });
        self.words_base = self.words.len();
        self.wides_base = self.wides.len();
        self.func = target;
        self.push_registers(target)?;

        let call = &self.code.calls[call as usize];
        let callee = &self.program.funcs[target];
        for (i, &param) in callee.params.iter().enumerate() {
            let to = self.code.vars[param];
            match call.args.get(i) {
                Some(&arg) if !arg.is_wide() && !to.is_wide() => {
                    let word = self.words[arg.reg.at(words)];
                    self.set(to.reg, word & word::mask(to.width));
                }
                Some(&arg) => {
                    let value = self.value_in(arg, words, wides);
                    self.set_value(to, &value);
                }
                None => {
                    let value = self.unknown(Unknown::Argument(param), to.width, inputs);
                    self.set_value(to, &value);
                }
            }
        }
        if let Some(varargs) = callee.varargs {
            let block = call.varargs.map_or(0, |reg| self.words[reg.at(words)]);
            self.set(self.code.vars[varargs].reg, block);
        }
        self.hold_parameters();
        Ok(())
    }

    /// Returns from the current frame with a value (of width 0 if there is none). Returns the instruction to continue
    /// at.
    fn leave(&mut self, value: Operand, inputs: &mut dyn InputSource) -> Result<usize, Outcome> {
        let Some(frame) = self.frames.pop() else {
            let status = if value.width == 0 { 0 } else { self.value(value).to_u64().unwrap_or(0) };
            return Err(Outcome::Exit(status as i32));
        };
        for base in self.stack_objects.drain(frame.stack_objects..) {
            self.memory.kill(base);
        }
        self.leave_holder(value, frame.func);
        let result = self.code.calls[frame.call as usize].result;
        let word = (value.width > 0 && !value.is_wide()).then(|| self.get(value.reg));
        let wide = (value.is_wide() && result.is_some()).then(|| self.value(value));
        self.words.truncate(self.words_base);
        self.wides.truncate(self.wides_base);
        (self.words_base, self.wides_base, self.func) = (frame.words, frame.wides, frame.func);
        match (result, word) {
            (Some((_, to)), Some(word)) if !to.is_wide() => self.set(to.reg, word & word::mask(to.width)),
            (Some((var, to)), word) => {
                let word = word.map(|word| Bv::new(value.width, word));
                let value = word.or(wide).unwrap_or_else(|| self.unknown(Unknown::Result(var), to.width, inputs));
                self.set_value(to, &value);
            }
            (None, _) => {}
        }
        Ok(frame.pc)
    }
}

/// The outcome of a halt.
fn halted(kind: HaltKind) -> Outcome {
    match kind {
        HaltKind::Abort => Outcome::Abort,
        HaltKind::Assumed => Outcome::Assumed,
        HaltKind::Unreachable => Outcome::Unreachable,
        HaltKind::Exit(_) | HaltKind::ExitNow(_) => unreachable!("has an instruction of its own"),
    }
}
