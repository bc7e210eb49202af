//! Slices as bitcode: removes instructions from the original module, so that the result can be executed.
//!
//! An edge of the program implements instructions. The instructions of the edges in the slice are kept. A branch that
//! is not in the slice becomes an unconditional jump: to the successor with the shortest distance to kept instructions,
//! or else to a return. The slice must be closed under control dependence, so that all successors lead to the same kept
//! instructions. Library models are removed.

use crate::error::Error;
use crate::ir::{Body, ConstantKind, GlobalRef, Module, Operand, op};
use crate::llvm::LlvmModule;
use crate::lower::Layout;
use cfa::{EdgeId, FuncId, HaltKind, Id, LocId, Op, Out, PlaceId, Program};
use rustc_hash::FxHashSet;
use std::collections::VecDeque;
use std::ops::Range;

/// The part of a program to keep.
pub struct KeptPart<'a> {
    /// The program.
    pub program: &'a Program,
    /// For each edge, whether its operation is kept.
    pub kept: &'a [bool],
    /// For each edge, whether control must reach it. This always holds for kept edges.
    pub observed: &'a [bool],
    /// For each location, whether an execution can reach it and continue. At other locations, the output program ends.
    pub alive: &'a [bool],
    /// The operands of a kept call, return or exit that need not be computed.
    pub unused: &'a dyn Fn(EdgeId) -> Unused,
}

/// The operands of an edge that need not be computed.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Unused {
    /// The positions of arguments, ascending. Variadic arguments follow the parameters. For the value of a return or an
    /// exit: 0.
    pub arguments: Vec<u32>,
    /// All variadic arguments.
    pub variadic: bool,
}

/// A module that can be reduced to a part of its program.
pub struct Cut {
    llvm: LlvmModule,
    ir: Module,
    layout: Layout,
    entry: String,
}

/// The size of a module without models.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Size {
    /// The number of functions with bodies.
    pub functions: usize,
    /// The number of instructions.
    pub instructions: usize,
}

// These constants must agree with shim/cut.cpp.
const STUB: u32 = 0;
const CUT: u32 = 1;
const EXIT_STUB: u32 = 2;
const KEEP_END: u32 = 0;
const EXIT_AT_START: u32 = 1;
const EXIT_AT_END: u32 = 3;
const FIRST_SUCCESSOR: u32 = 4;
const KEPT: u32 = 1;
const STOP_AFTER: u32 = 2;
const UNSEEN: u32 = 4;
const DROPPED_SHIFT: u32 = 8;

impl Cut {
    pub(crate) fn new(llvm: LlvmModule, ir: Module, layout: Layout, entry: String) -> Self {
        Self { llvm, ir, layout, entry }
    }

    /// The number of the user's functions and instructions.
    pub fn size(&self) -> Size {
        let own = self.ir.functions.iter().filter(|f| !f.model);
        own.filter_map(|f| f.body.as_ref()).fold(Size::default(), |size, body| Size {
            functions: size.functions + 1,
            instructions: size.instructions + body.instructions.len(),
        })
    }

    /// The source position of an instruction. `None` for instructions that the compiler generated.
    pub fn place(&self, instruction: u32) -> Option<PlaceId> {
        let (first, body) = self.body_of(instruction)?;
        let row = body.instructions.get((instruction - first) as usize)?.place;
        if row == NONE { None } else { self.layout.places[row as usize] }
    }

    /// The last instruction of the block of an instruction.
    pub fn end_of_block(&self, instruction: u32) -> Option<u32> {
        let (first, body) = self.body_of(instruction)?;
        let n = body.blocks.partition_point(|block| block.start <= instruction - first).checked_sub(1)?;
        Some(first + body.blocks[n].end - 1)
    }

    /// The jumps that the compiler added before labels: each is a block alone, leads to the next block, and has the place
    /// of an earlier instruction of its function, which is that of the code that was compiled last.
    pub fn jumps_before_labels(&self) -> FxHashSet<u32> {
        let mut found = FxHashSet::default();
        for function in &self.ir.functions {
            let Some(body) = &function.body else { continue };
            let mut seen: FxHashSet<PlaceId> = FxHashSet::default();
            for (n, block) in body.blocks.iter().enumerate() {
                for at in block.clone() {
                    let instruction = &body.instructions[at as usize];
                    let place = self.layout.places.get(instruction.place as usize).copied().flatten();
                    let is_repeated = place.is_some_and(|place| !seen.insert(place));
                    let next = [Operand::Block(n as u32 + 1)];
                    if is_repeated && *block == (at..at + 1) && self.ir.operands(instruction).eq(next) {
                        found.insert(function.first_instruction + at);
                    }
                }
            }
        }
        found
    }

    /// The body that contains an instruction, with the number of its first instruction.
    fn body_of(&self, instruction: u32) -> Option<(u32, &Body)> {
        let n = self.ir.functions.partition_point(|f| f.first_instruction <= instruction).checked_sub(1)?;
        // Functions without a body share their first instruction number with the next function that has one.
        let function = self.ir.functions[..=n].iter().rev().find(|f| f.body.is_some())?;
        Some((function.first_instruction, function.body.as_ref()?))
    }

    /// The instructions that come from inlined bodies of a function.
    pub fn inlined_from(&self, name: &str) -> Vec<u32> {
        // The row of a call precedes the rows of the code inlined there.
        let mut within = Vec::with_capacity(self.ir.places.len());
        for place in &self.ir.places {
            within.push(place.is_inlined_from(name) || place.inlined_at != NONE && within[place.inlined_at as usize]);
        }
        let mut found = Vec::new();
        for function in self.ir.functions.iter().filter(|f| !f.model) {
            let Some(body) = &function.body else { continue };
            let inlined = |place: u32| place != NONE && within[place as usize];
            let numbers = (function.first_instruction..).zip(&body.instructions);
            found.extend(numbers.filter(|(_, i)| inlined(i.place)).map(|(n, _)| n));
        }
        found
    }

    /// The instructions in the user's functions that directly call a function with this name.
    pub fn calls_of(&self, name: &str) -> Vec<u32> {
        let mut calls = Vec::new();
        for function in self.ir.functions.iter().filter(|f| !f.model) {
            let Some(body) = &function.body else { continue };
            for (i, instruction) in body.instructions.iter().enumerate() {
                if !matches!(instruction.opcode, op::CALL | op::INVOKE | op::CALL_BR) {
                    continue;
                }
                let callee = self.ir.operand(instruction, self.ir.extra(instruction)[1] as usize);
                if let Operand::Constant(c) = callee
                    && let ConstantKind::Global(number) = self.ir.constants[c as usize].kind
                    && let GlobalRef::Function(f) = self.ir.global(number)
                    && self.ir.functions[f].is_named(name)
                {
                    calls.push(function.first_instruction + i as u32);
                }
            }
        }
        calls
    }

    /// The names of the functions that the user's program defines or declares, without intrinsics.
    pub fn function_names(&self) -> impl Iterator<Item = &str> {
        self.ir.functions.iter().filter(|f| !f.name.starts_with("llvm.")).map(|f| f.name.as_str())
    }

    /// Removes all instructions outside the part. Returns the module, as bitcode or as text, and its size.
    pub fn write(mut self, part: &KeptPart, text: bool) -> Result<(Vec<u8>, Size), Error> {
        let orders = Orders::new(&self.ir, &self.layout, part).write();
        // SAFETY: the orders are for every block and instruction of `ir`, which is this module.
        unsafe { self.llvm.cut(&orders, &self.entry)? };
        let after = Module::decode(self.llvm.export());
        let size = Self { ir: after, ..self };
        Ok((size.llvm.print(text), size.size()))
    }
}

const NONE: u32 = u32::MAX;

/// The orders for `proviso_cut`, under construction: the blocks and instructions that remain.
struct Orders<'a> {
    ir: &'a Module,
    layout: &'a Layout,
    part: &'a KeptPart<'a>,
    /// For each location, the block of its function that contains it.
    block_of: Vec<u32>,
    /// For each instruction of the module: `KEPT` and `UNSEEN`.
    flags: Vec<u32>,
    /// For each function of the program, its edges.
    edges: Vec<Vec<EdgeId>>,
    words: Vec<u32>,
}

/// A block as a node of the kept control flow.
#[derive(Clone, Default)]
struct Node {
    /// The blocks that may follow.
    successors: Vec<u32>,
    /// True if the block has a kept or observed operation.
    content: bool,
    /// The last executed instruction, if execution ends inside the block.
    stops_after: Option<u32>,
    alive: bool,
}

impl<'a> Orders<'a> {
    fn new(ir: &'a Module, layout: &'a Layout, part: &'a KeptPart<'a>) -> Self {
        let program = part.program;
        let count: u32 = ir
            .functions
            .iter()
            .filter_map(|f| Some(f.first_instruction + f.body.as_ref()?.instructions.len() as u32))
            .max()
            .unwrap_or(0);
        let mut flags = vec![UNSEEN; count as usize];
        let mut edges = vec![Vec::new(); program.funcs.len()];
        for (id, edge) in program.edges.iter() {
            edges[program.locs[edge.source].func.index()].push(id);
            for &i in &edge.origin {
                flags[i as usize] &= !UNSEEN;
                if part.kept[id.index()] {
                    flags[i as usize] |= KEPT;
                }
            }
        }
        let mut starts = vec![false; program.locs.len()];
        layout.blocks.iter().flat_map(|(_, blocks)| blocks).flatten().for_each(|loc| starts[loc.index()] = true);
        let mut block_of = vec![NONE; program.locs.len()];
        for (_, blocks) in &layout.blocks {
            for (n, loc) in blocks.iter().enumerate() {
                if let Some(loc) = loc {
                    flood(program, *loc, n as u32, &starts, &mut block_of);
                }
            }
        }
        Self { ir, layout, part, block_of, flags, edges, words: Vec::new() }
    }

    fn write(mut self) -> Vec<u32> {
        for (n, function) in self.ir.functions.iter().enumerate() {
            if function.body.is_none() || function.model {
                continue;
            }
            match self.layout.blocks[n].0 {
                // A function without kept operations may still return or end the program.
                Some(func) if self.part.alive[self.part.program.funcs[func].entry.index()] => {
                    self.words.push(CUT);
                    self.function(n, func);
                }
                Some(_) => self.words.push(EXIT_STUB),
                None => self.words.push(STUB),
            }
        }
        self.words
    }

    fn function(&mut self, n: usize, func: FuncId) {
        let function = &self.ir.functions[n];
        let body = function.body.as_ref().expect("a function that is lowered");
        let nodes = self.nodes(n, func);
        let content: Vec<u32> = (0..nodes.len() as u32).filter(|&b| nodes[b as usize].content).collect();
        let returns: Vec<u32> =
            (0..nodes.len() as u32).filter(|&b| nodes[b as usize].alive && self.last(n, b).1 == op::RET).collect();
        let (to_content, to_return) = (distances(&nodes, &content), distances(&nodes, &returns));
        let decided = self.decided(n, func);
        for (b, node) in nodes.iter().enumerate() {
            let (last, opcode) = self.last(n, b as u32);
            let ends: Vec<u32> = self
                .ir
                .operands(&body.instructions[last as usize])
                .filter_map(|o| if let Operand::Block(target) = o { Some(target) } else { None })
                .collect();
            let is_call = matches!(opcode, op::INVOKE | op::CALL_BR);
            let kept = match is_call {
                true => self.flags[(function.first_instruction + last) as usize] & KEPT != 0,
                false => decided[b],
            };
            let action = if !node.alive {
                EXIT_AT_START
            } else if node.stops_after.is_some() || ends.len() < 2 || kept {
                KEEP_END
            } else {
                let near = |s: &&u32| (to_content[**s as usize], to_return[**s as usize], **s);
                let chosen = node.successors.iter().min_by_key(near);
                match chosen {
                    Some(&s) if to_content[s as usize] != NONE || to_return[s as usize] != NONE => {
                        // The order of LLVM's successors is the order of the block operands.
                        FIRST_SUCCESSOR + ends.iter().position(|&t| t == s).unwrap_or(0) as u32
                    }
                    _ => EXIT_AT_END,
                }
            };
            self.words.push(action);
        }
        let unused = self.unused(n, func);
        for i in 0..body.instructions.len() as u32 {
            let stops = nodes[self.block_at(n, i) as usize].stops_after == Some(i);
            let flags = self.flags[(function.first_instruction + i) as usize] | if stops { STOP_AFTER } else { 0 };
            let dropped: &[u32] = match unused.binary_search_by_key(&i, |u| u.0) {
                Ok(found) => &unused[found].1,
                Err(_) => &[],
            };
            self.words.push(flags | (dropped.len() as u32) << DROPPED_SHIFT);
            self.words.extend(dropped);
        }
    }

    fn blocks(&self, n: usize) -> &'a [Range<u32>] {
        &self.ir.functions[n].body.as_ref().expect("a function that is lowered").blocks
    }
    fn block_at(&self, n: usize, i: u32) -> u32 {
        self.blocks(n).partition_point(|range| range.end <= i) as u32
    }
    /// The last instruction of a block, and its opcode.
    fn last(&self, n: usize, block: u32) -> (u32, u8) {
        let last = self.blocks(n)[block as usize].end - 1;
        let body = self.ir.functions[n].body.as_ref().expect("a function that is lowered");
        (last, body.instructions[last as usize].opcode)
    }
    /// The instruction (by number in its function) for which an edge of a block was created. Instructions that were
    /// folded into the edge precede it. The assignments of phis belong to later blocks.
    fn anchor(&self, n: usize, edge: EdgeId) -> Option<u32> {
        let block = self.block_of[self.part.program.edges[edge].source.index()];
        let first = self.ir.functions[n].first_instruction;
        let range = self.blocks(n).get(block as usize)?;
        let edge = &self.part.program.edges[edge];
        edge.origin.iter().filter_map(|i| i.checked_sub(first)).filter(|i| range.contains(i)).max()
    }

    fn nodes(&self, n: usize, func: FuncId) -> Vec<Node> {
        let (program, starts) = (self.part.program, &self.layout.blocks[n].1);
        let alive = |loc: LocId| self.part.alive[loc.index()];
        let mut nodes: Vec<Node> =
            starts.iter().map(|loc| Node { alive: loc.is_some_and(alive), ..Node::default() }).collect();
        let mut leaves = vec![false; nodes.len()];
        let mut last = vec![None; nodes.len()];
        for &id in &self.edges[func.index()] {
            let edge = &program.edges[id];
            let b = self.block_of[edge.source.index()];
            if b == NONE || !alive(edge.source) {
                continue;
            }
            let node = &mut nodes[b as usize];
            node.content |= self.part.kept[id.index()] || self.part.observed[id.index()];
            last[b as usize] = last[b as usize].max(self.anchor(n, id));
            let ends = matches!(edge.op, Op::Return { .. } | Op::Halt(_) | Op::Error(_));
            let target = self.block_of[edge.target.index()];
            if !ends && target != NONE && starts[target as usize] == Some(edge.target) {
                leaves[b as usize] = true;
                if alive(edge.target) && !node.successors.contains(&target) {
                    node.successors.push(target);
                }
            }
        }
        for (b, node) in nodes.iter_mut().enumerate() {
            node.successors.sort_unstable();
            let end = self.last(n, b as u32).0;
            node.stops_after = last[b].filter(|&i| node.alive && !leaves[b] && i != end);
        }
        nodes
    }

    /// For each block, whether its final branch is kept.
    fn decided(&self, n: usize, func: FuncId) -> Vec<bool> {
        let program = self.part.program;
        let mut decided = vec![false; self.blocks(n).len()];
        for &id in &self.edges[func.index()] {
            let edge = &program.edges[id];
            let b = self.block_of[edge.source.index()];
            if b != NONE
                && self.part.kept[id.index()]
                && matches!(edge.op, Op::Assume { .. })
                && self.anchor(n, id) == Some(self.last(n, b).0)
            {
                decided[b as usize] = true;
            }
        }
        decided
    }

    /// For each instruction, ascending, the arguments and returned values that need not be computed.
    fn unused(&self, n: usize, func: FuncId) -> Vec<(u32, Vec<u32>)> {
        let program = self.part.program;
        let mut unused = Vec::new();
        for &id in &self.edges[func.index()] {
            let is_call = match program.edges[id].op {
                Op::Call { .. } => true,
                Op::Return { .. } | Op::Halt(HaltKind::Exit(_) | HaltKind::ExitNow(_)) => false,
                _ => continue,
            };
            if !self.part.kept[id.index()] {
                continue;
            }
            let Some(i) = self.anchor(n, id) else { continue };
            let found = (self.part.unused)(id);
            let mut dropped = found.arguments;
            if found.variadic && is_call {
                let body = self.ir.functions[n].body.as_ref().expect("a function that is lowered");
                let instruction = &body.instructions[i as usize];
                let Op::Call { args, .. } = &program.edges[id].op else { continue };
                if matches!(instruction.opcode, op::CALL | op::INVOKE | op::CALL_BR) {
                    dropped.extend(args.len() as u32..self.ir.extra(instruction)[1]);
                }
            }
            if !dropped.is_empty() {
                unused.push((i, dropped));
            }
        }
        unused.sort();
        unused
    }
}

/// Assigns to the block all locations that are reachable from its first location without entering another block.
fn flood(program: &Program, start: LocId, block: u32, starts: &[bool], block_of: &mut [u32]) {
    let mut work = vec![start];
    while let Some(loc) = work.pop() {
        let known = &mut block_of[loc.index()];
        if *known != NONE {
            continue;
        }
        *known = block;
        if program.locs[loc].out == Out::Sink {
            continue;
        }
        for id in program.out_edges(loc) {
            let target = program.edges[id].target;
            if block_of[target.index()] == NONE && !starts[target.index()] {
                work.push(target);
            }
        }
    }
}

/// For each block, the distance in blocks to the nearest of `targets`.
fn distances(nodes: &[Node], targets: &[u32]) -> Vec<u32> {
    let mut predecessors = vec![Vec::new(); nodes.len()];
    for (b, node) in nodes.iter().enumerate() {
        node.successors.iter().for_each(|&s| predecessors[s as usize].push(b as u32));
    }
    let mut distance = vec![NONE; nodes.len()];
    let mut work: VecDeque<u32> = targets.iter().copied().collect();
    targets.iter().for_each(|&t| distance[t as usize] = 0);
    while let Some(b) = work.pop_front() {
        for &p in &predecessors[b as usize] {
            if distance[p as usize] == NONE {
                distance[p as usize] = distance[b as usize] + 1;
                work.push_back(p);
            }
        }
    }
    distance
}
