//! The register code that the interpreter executes.
//!
//! Every location and edge becomes a few three-address instructions over registers. There are two register files:
//! machine words for values of up to 64 bits, and [`Bv`]s for wider ones. In each file the first registers are
//! *static*: global variables, addresses and constants. They are set at the start of a run. The frames follow as a
//! stack. A frame has the function's variables and its intermediate results.

use super::threads::Functions;
use crate::bv::Bv;
use crate::expr::{BinOp, Expr, ExprId, UnOp};
use crate::index::{Id, Table};
use crate::program::*;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A register. The width of its value determines the file. The top bit distinguishes frame registers from static ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reg(u32);

const FRAME: u32 = 1 << 31;

impl Reg {
    /// The position in the register file, for a frame that starts at `base`.
    #[inline]
    pub fn at(self, base: usize) -> usize {
        // All ones for a frame register, else 0.
        let in_frame = (self.0 as i32 >> 31) as usize;
        (self.0 & !FRAME) as usize + (base & in_frame)
    }
}

/// A register with the width of its value. The width determines the file.
#[derive(Clone, Copy, Debug)]
pub struct Operand {
    pub reg: Reg,
    pub width: u32,
}

impl Operand {
    pub fn is_wide(self) -> bool {
        is_wide(self.width)
    }
}

#[inline]
pub fn is_wide(width: u32) -> bool {
    width > 64
}

/// An instruction. Instructions with side effects are followed by the [`Done`](Self::Done) of their edge.
#[derive(Clone, Copy, Debug)]
pub enum Instr {
    Move {
        dst: Reg,
        src: Reg,
    },
    MoveWide {
        dst: Reg,
        src: Reg,
    },
    /// For a concatenation, `width` is the width of the low operand; see [`word::binary`](super::word::binary).
    Binary {
        op: BinOp,
        width: u8,
        dst: Reg,
        a: Reg,
        b: Reg,
    },
    Extract {
        width: u8,
        lo: u8,
        dst: Reg,
        src: Reg,
    },
    Sext {
        from: u8,
        to: u8,
        dst: Reg,
        src: Reg,
    },
    Ite {
        dst: Reg,
        cond: Reg,
        then: Reg,
        other: Reg,
    },
    /// Any other operation, as an index into [`Code::nodes`].
    Node(u32),
    /// A load of `width` bits.
    Load {
        width: u32,
        dst: Reg,
        addr: Reg,
    },
    Store {
        width: u32,
        addr: Reg,
        value: Reg,
    },
    Alloc {
        dst: Reg,
        size: Reg,
        align: u32,
        kind: AllocKind,
        zeroed: bool,
    },
    Free {
        ptr: Reg,
        family: Family,
    },
    Leak(Leak),
    /// Records the heap objects to which a value points, for leak checks.
    Hold(Operand),
    ObjectSize {
        dst: Operand,
        ptr: Reg,
        family: Option<Family>,
    },
    ObjectOffset {
        dst: Operand,
        ptr: Reg,
        writable: bool,
    },
    Havoc {
        width: u32,
        dst: Reg,
        input: InputId,
    },
    Copy {
        dst: Reg,
        src: Reg,
        len: Reg,
    },
    Fill {
        dst: Reg,
        byte: Reg,
        len: Reg,
    },
    /// An operation on the shadow, as an index into [`Code::shadows`].
    Shadow(u32),
    /// A call, as an index into [`Code::calls`]. It has no `Done` instruction.
    Call(u32),
    /// A return. Width 0 means that there is no value.
    Return {
        width: u32,
        value: Reg,
    },
    Exit {
        code: Reg,
    },
    Halt(HaltKind),
    Error(ErrorId),
    Approx(TaintId),
    /// Marks the end of an edge.
    Done(EdgeId),
    /// Continues with the next instruction if `cond` is 1, else at `other`.
    Branch {
        cond: Reg,
        other: u32,
    },
    Jump(u32),
    /// The location has no outgoing edge.
    Stuck(LocId),
}

/// An operation for the general evaluator.
#[derive(Debug)]
pub struct Node {
    pub expr: Expr,
    pub dst: Operand,
    pub args: Vec<Operand>,
}

/// A compiled call.
#[derive(Debug)]
pub struct Call {
    pub edge: EdgeId,
    /// The callee, or the register with its address.
    pub callee: Result<FuncId, Reg>,
    pub args: Box<[Operand]>,
    pub varargs: Option<Reg>,
    pub result: Option<(VarId, Operand)>,
}

/// The entry point of a function.
#[derive(Debug, Default)]
pub struct Entry {
    pub pc: u32,
    /// The number of registers of a frame in each file.
    pub words: u32,
    pub wides: u32,
}

/// A compiled program.
pub struct Code {
    pub instrs: Vec<Instr>,
    pub nodes: Vec<Node>,
    pub calls: Vec<Call>,
    pub shadows: Vec<Instr>,
    pub entries: Table<FuncId, Entry>,
    /// The register of each variable, static or in the frames of its function.
    pub vars: Table<VarId, Operand>,
    /// The constants, in the static registers from `constants_at` on. The registers before them have the global
    /// variables, then the addresses of globals, then the addresses of functions.
    pub constants: Vec<u64>,
    pub constants_at: usize,
    pub wide_constants: Vec<Bv>,
    pub wide_constants_at: usize,
    /// The first registers with addresses of globals and of functions.
    pub globals_at: usize,
    pub funcs_at: usize,
    /// Facts about the functions, if the program starts threads.
    pub threads: Option<Arc<Functions>>,
    /// True if leak checks need the objects to which frames had pointers.
    pub holds: bool,
}

impl Code {
    pub fn new(program: &Program) -> Self {
        let mut compiler = Compiler::new(program);
        for f in program.funcs.ids() {
            compiler.function(f);
        }
        compiler.code
    }
}

/// The position of a location that is not compiled yet.
const LATER: u32 = u32::MAX;

/// The compilation of a program.
struct Compiler<'p> {
    program: &'p Program,
    code: Code,
    constants: FxHashMap<u64, Reg>,
    /// The position of each location's code.
    starts: Table<LocId, u32>,
    /// The number of frame registers of each function: first only those of variables, after its compilation all.
    words: Table<FuncId, u32>,
    wides: Table<FuncId, u32>,
    func: FuncId,
    next_word: u32,
    next_wide: u32,
    /// The registers of the subexpressions of the current edge.
    memo: FxHashMap<ExprId, Reg>,
}

impl<'p> Compiler<'p> {
    fn new(program: &'p Program) -> Self {
        let functions = program.funcs.len();
        let (mut words, mut wides) = (Table::filled(0, functions), Table::filled(0, functions));
        let (mut static_words, mut static_wides) = (0, 0);
        let vars: Table<VarId, Operand> = program
            .vars
            .values()
            .map(|var| {
                let next = match (var.func(), is_wide(var.width)) {
                    (Some(f), false) => &mut words[f],
                    (Some(f), true) => &mut wides[f],
                    (None, false) => &mut static_words,
                    (None, true) => &mut static_wides,
                };
                *next += 1;
                let in_frame = if var.func().is_some() { FRAME } else { 0 };
                Operand { reg: Reg(in_frame | (*next - 1)), width: var.width }
            })
            .collect();
        let globals_at = static_words as usize;
        let funcs_at = globals_at + program.globals.len();
        let code = Code {
            instrs: Vec::with_capacity(3 * program.edges.len()),
            nodes: Vec::new(),
            calls: Vec::new(),
            shadows: Vec::new(),
            entries: Table::new(),
            vars,
            constants: Vec::new(),
            constants_at: funcs_at + functions,
            wide_constants: Vec::new(),
            wide_constants_at: static_wides as usize,
            globals_at,
            funcs_at,
            threads: Functions::find(program),
            holds: program.edges.values().any(|e| e.op == Op::Leak(Leak::Lost) && e.fault.is_some())
                && program.funcs.values().any(|f| f.variables != Variables::Kept),
        };
        Self {
            program,
            code,
            constants: FxHashMap::default(),
            starts: Table::filled(LATER, program.locs.len()),
            words,
            wides,
            func: FuncId(0),
            next_word: 0,
            next_wide: 0,
            memo: FxHashMap::default(),
        }
    }

    fn here(&self) -> u32 {
        self.code.instrs.len() as u32
    }
    fn emit(&mut self, instr: Instr) {
        self.code.instrs.push(instr);
    }

    fn function(&mut self, func: FuncId) {
        self.func = func;
        let vars = (self.words[func], self.wides[func]);
        let mut size = vars;
        let entry = self.program.funcs[func].entry;
        // The else-edges whose code is missing, with the branch to patch.
        let mut pending: Vec<(usize, EdgeId)> = Vec::new();
        self.chain(entry, vars, &mut size, &mut pending);
        while let Some((branch, edge)) = pending.pop() {
            let here = self.here();
            let Instr::Branch { other, .. } = &mut self.code.instrs[branch] else { unreachable!() };
            *other = here;
            self.emit(Instr::Done(edge));
            self.chain(self.program.edges[edge].target, vars, &mut size, &mut pending);
        }
        let pc = self.starts[entry];
        self.code.entries.push(Entry { pc, words: size.0, wides: size.1 });
    }

    /// Compiles the locations from `loc` along then-edges, until one that already has code.
    fn chain(&mut self, mut loc: LocId, vars: (u32, u32), size: &mut (u32, u32), pending: &mut Vec<(usize, EdgeId)>) {
        let program = self.program;
        loop {
            if self.starts[loc] != LATER {
                let start = self.starts[loc];
                self.emit(Instr::Jump(start));
                return;
            }
            self.starts[loc] = self.here();
            (self.next_word, self.next_wide) = vars;
            self.memo.clear();
            let edge = match program.locs[loc].out {
                Out::Sink => {
                    self.emit(Instr::Stuck(loc));
                    return;
                }
                Out::One(edge) => {
                    self.edge(edge);
                    edge
                }
                Out::Branch { then_edge, else_edge } => {
                    let Op::Assume { cond, .. } = program.edges[then_edge].op else {
                        panic!("{loc} branches without an assume edge");
                    };
                    let cond = self.expr(cond);
                    pending.push((self.code.instrs.len(), else_edge));
                    self.emit(Instr::Branch { cond, other: LATER });
                    self.emit(Instr::Done(then_edge));
                    then_edge
                }
            };
            *size = (size.0.max(self.next_word), size.1.max(self.next_wide));
            if matches!(program.edges[edge].op, Op::Return { .. } | Op::Halt(_) | Op::Error(_)) {
                return;
            }
            loc = program.edges[edge].target;
        }
    }

    /// Compiles a load, store, copy or fill.
    fn on_memory(&mut self, op: &Op) -> Instr {
        match op {
            Op::Load { var, addr } => {
                let (Operand { reg, width }, addr) = (self.code.vars[*var], self.expr(*addr));
                Instr::Load { width, dst: reg, addr }
            }
            Op::Store { addr, value } => {
                let width = self.program.exprs.width(*value);
                let (addr, value) = (self.expr(*addr), self.expr(*value));
                Instr::Store { width, addr, value }
            }
            Op::Copy { dst, src, len } => {
                let (dst, src, len) = (self.expr(*dst), self.expr(*src), self.expr(*len));
                Instr::Copy { dst, src, len }
            }
            Op::Fill { dst, byte, len } => {
                let (dst, byte, len) = (self.expr(*dst), self.expr(*byte), self.expr(*len));
                Instr::Fill { dst, byte, len }
            }
            _ => unreachable!("not one that moves content"),
        }
    }

    fn edge(&mut self, edge: EdgeId) {
        let program = self.program;
        let last = match &program.edges[edge].op {
            Op::Skip => None,
            Op::Assign { var, value } => {
                let dst = self.code.vars[*var];
                self.expr_into(*value, Some(dst.reg));
                None
            }
            // A single assume edge: execution ends if the condition is false.
            Op::Assume { cond, .. } => {
                let cond = self.expr(*cond);
                let here = self.here();
                self.emit(Instr::Branch { cond, other: here + 2 });
                self.emit(Instr::Jump(here + 3));
                Some(Instr::Stuck(program.edges[edge].source))
            }
            Op::Load { .. } | Op::Store { .. } | Op::Copy { .. } | Op::Fill { .. } => {
                Some(self.on_memory(&program.edges[edge].op))
            }
            Op::Alloc { var, size, align, kind, zeroed } => {
                let (dst, size) = (self.code.vars[*var].reg, self.expr(*size));
                Some(Instr::Alloc { dst, size, align: *align, kind: *kind, zeroed: *zeroed })
            }
            Op::Free { ptr, family } => {
                let ptr = self.expr(*ptr);
                Some(Instr::Free { ptr, family: *family })
            }
            Op::Leak(leak) => program.edges[edge].fault.map(|_| Instr::Leak(*leak)),
            Op::ObjectSize { var, ptr, family } => {
                let (dst, ptr) = (self.code.vars[*var], self.expr(*ptr));
                Some(Instr::ObjectSize { dst, ptr, family: *family })
            }
            Op::ObjectOffset { var, ptr, writable } => {
                let (dst, ptr) = (self.code.vars[*var], self.expr(*ptr));
                Some(Instr::ObjectOffset { dst, ptr, writable: *writable })
            }
            Op::Havoc { var, input } => {
                let Operand { reg, width } = self.code.vars[*var];
                Some(Instr::Havoc { width, dst: reg, input: *input })
            }
            Op::Shadow(op) => {
                let instr = self.on_memory(op);
                self.code.shadows.push(instr);
                Some(Instr::Shadow(self.code.shadows.len() as u32 - 1))
            }
            Op::Call { callee, args, varargs, result } => {
                let callee = match *callee {
                    Callee::Direct(f) => Ok(f),
                    Callee::Indirect(e) => Err(self.expr(e)),
                };
                let args = args.iter().map(|&e| self.operand(e)).collect();
                let varargs = varargs.map(|e| self.expr(e));
                let result = result.map(|v| (v, self.code.vars[v]));
                let call = self.code.calls.len() as u32;
                self.code.calls.push(Call { edge, callee, args, varargs, result });
                self.emit(Instr::Call(call));
                return;
            }
            Op::Return { value } => {
                let value = value.map(|e| self.operand(e));
                self.emit(Instr::Done(edge));
                let (reg, width) = value.map_or((Reg(0), 0), |v| (v.reg, v.width));
                self.emit(Instr::Return { width, value: reg });
                return;
            }
            Op::Halt(kind) => {
                let halt = match kind {
                    HaltKind::Exit(code) | HaltKind::ExitNow(code) => Instr::Exit { code: self.expr(*code) },
                    kind => Instr::Halt(*kind),
                };
                self.emit(Instr::Done(edge));
                self.emit(halt);
                return;
            }
            Op::Error(error) => {
                self.emit(Instr::Done(edge));
                self.emit(Instr::Error(*error));
                return;
            }
            Op::Approx { taint } => Some(Instr::Approx(*taint)),
        };
        if let Some(instr) = last {
            self.emit(instr);
        }
        if self.code.holds
            && program.funcs[self.func].variables != Variables::Kept
            && let Some(var) = program.edges[edge].op.def()
            && program.vars[var].width >= program.layout.pointer_width
        {
            self.emit(Instr::Hold(self.code.vars[var]));
        }
        self.emit(Instr::Done(edge));
    }

    fn operand(&mut self, e: ExprId) -> Operand {
        Operand { reg: self.expr(e), width: self.program.exprs.width(e) }
    }

    /// Emits code for `e` and returns the register of its value.
    fn expr(&mut self, e: ExprId) -> Reg {
        self.expr_into(e, None)
    }

    /// Emits code that computes `root` in `dst`, or in any register. Iterative. Each subexpression is computed once.
    fn expr_into(&mut self, root: ExprId, dst: Option<Reg>) -> Reg {
        let program = self.program;
        let mut stack = vec![root];
        while let Some(&e) = stack.last() {
            if self.memo.contains_key(&e) {
                stack.pop();
                continue;
            }
            let pending = stack.len();
            let node = program.exprs.get(e);
            stack.extend(node.children().filter(|c| !self.memo.contains_key(c)));
            if stack.len() == pending {
                stack.pop();
                let reg = self.node(e, node, dst.filter(|_| e == root));
                self.memo.insert(e, reg);
            }
        }
        let reg = self.memo[&root];
        match dst {
            Some(dst) if dst != reg => {
                let wide = is_wide(program.exprs.width(root));
                self.emit(if wide { Instr::MoveWide { dst, src: reg } } else { Instr::Move { dst, src: reg } });
                dst
            }
            _ => reg,
        }
    }

    /// `dst`, or else a new register for an intermediate result.
    fn target(&mut self, width: u32, dst: Option<Reg>) -> Reg {
        dst.unwrap_or_else(|| {
            let next = if is_wide(width) { &mut self.next_wide } else { &mut self.next_word };
            *next += 1;
            Reg(FRAME | (*next - 1))
        })
    }

    fn word_constant(&mut self, value: u64) -> Reg {
        *self.constants.entry(value).or_insert_with(|| {
            self.code.constants.push(value);
            Reg((self.code.constants_at + self.code.constants.len() - 1) as u32)
        })
    }

    /// Emits code for one node whose children are already in registers.
    fn node(&mut self, e: ExprId, node: &Expr, dst: Option<Reg>) -> Reg {
        let exprs = &self.program.exprs;
        let width = exprs.width(e);
        match *node {
            Expr::Const(ref value) => {
                return match value.to_u64() {
                    Some(word) if !is_wide(width) => self.word_constant(word),
                    _ => {
                        self.code.wide_constants.push(value.clone());
                        Reg((self.code.wide_constants_at + self.code.wide_constants.len() - 1) as u32)
                    }
                };
            }
            Expr::Var(var) => return self.code.vars[var].reg,
            Expr::GlobalAddr(global) => return Reg((self.code.globals_at + global.index()) as u32),
            Expr::FuncAddr(func) => return Reg((self.code.funcs_at + func.index()) as u32),
            // The bits of a word above its width are already zero.
            Expr::Zext { arg, .. } if !is_wide(width) => return self.memo[&arg],
            _ => {}
        }
        let narrow = !is_wide(width) && node.children().all(|c| !is_wide(exprs.width(c)));
        let reg = |child: ExprId| self.memo[&child];
        let instr = match *node {
            Expr::Binary(op, a, b) if narrow => {
                let (width, a, b) = (exprs.width(b) as u8, reg(a), reg(b));
                let dst = self.target(u32::from(width), dst);
                Instr::Binary { op, width, dst, a, b }
            }
            Expr::Unary(UnOp::Not, a) if narrow => {
                let (a, b) = (reg(a), self.word_constant(super::word::mask(width)));
                Instr::Binary { op: BinOp::Xor, width: width as u8, dst: self.target(width, dst), a, b }
            }
            Expr::Unary(UnOp::Neg, a) if narrow => {
                let (a, b) = (self.word_constant(0), self.memo[&a]);
                Instr::Binary { op: BinOp::Sub, width: width as u8, dst: self.target(width, dst), a, b }
            }
            Expr::Ite(c, t, f) if narrow => {
                let (cond, then, other) = (reg(c), reg(t), reg(f));
                Instr::Ite { dst: self.target(width, dst), cond, then, other }
            }
            Expr::Extract { lo, arg, .. } if narrow => {
                let src = reg(arg);
                Instr::Extract { width: width as u8, lo: lo as u8, dst: self.target(width, dst), src }
            }
            Expr::Sext { arg, .. } if narrow => {
                let (from, src) = (exprs.width(arg) as u8, reg(arg));
                Instr::Sext { from, to: width as u8, dst: self.target(width, dst), src }
            }
            _ => {
                let args = node.children().map(|c| Operand { reg: reg(c), width: exprs.width(c) }).collect();
                let dst = Operand { reg: self.target(width, dst), width };
                self.code.nodes.push(Node { expr: node.clone(), dst, args });
                Instr::Node(self.code.nodes.len() as u32 - 1)
            }
        };
        self.emit(instr);
        match instr {
            Instr::Binary { dst, .. }
            | Instr::Extract { dst, .. }
            | Instr::Sext { dst, .. }
            | Instr::Ite { dst, .. } => dst,
            Instr::Node(n) => self.code.nodes[n as usize].dst.reg,
            _ => unreachable!("not an operation"),
        }
    }
}
