//! The printer of the text form; see [`text`](super).

mod show;

use super::{BINARY, FLOAT_BINARY, FLOAT_COMPARE, FLOAT_UNARY, ORIGINS, UNARY, name_of};
use crate::bv::Bv;
use crate::expr::{Expr, ExprId, ExprPool, Sort};
use crate::float::Rounding;
use crate::graph::CfaGraphs;
use crate::index::{Id, Table};
use crate::program::*;
use crate::source::PlaceId;
use rustc_hash::FxHashMap;
use show::*;
use std::fmt::{self, Display, Write};

/// Prints the whole program.
pub fn program(p: &Program) -> String {
    let mut printer = Printer { p, graphs: CfaGraphs::new(p), out: String::new() };
    // Writing to a string does not fail.
    printer.program().expect("a string takes all text");
    printer.out
}

/// Prints one function, as it occurs in the text of the program.
pub fn function(p: &Program, func: FuncId) -> String {
    let mut printer = Printer { p, graphs: CfaGraphs::new(p), out: String::new() };
    let mut locs = vec![Vec::new(); p.funcs.len()];
    locs[func.index()] = p.locs.iter().filter(|(_, l)| l.func == func).map(|(id, _)| id).collect();
    let vars: Vec<_> = p.vars.iter().filter(|(_, v)| v.func() == Some(func)).map(|(id, _)| id).collect();
    printer.function(func, &locs[func.index()], &vars).expect("a string takes all text");
    printer.out
}

/// Prints an operation, as it occurs on an edge, without the target and the position.
pub fn operation(p: &Program, op: &Op) -> String {
    let mut out = String::new();
    let mut roots = Vec::new();
    op.for_each_expr(|e| roots.push(e));
    let lets = Lets::new(&p.exprs, &roots);
    lets.print(p, &mut out, "; ").and_then(|()| print_op(p, op, &lets, &mut out)).expect("a string takes all text");
    out
}

/// Prints an expression of `pool` with the names of `p`. `pool` may differ from the pool of `p`.
pub fn expression(p: &Program, pool: &ExprPool, e: ExprId) -> String {
    let mut out = String::new();
    let lets = Lets::new(pool, &[e]);
    lets.print(p, &mut out, "; ").and_then(|()| lets.expr(p, e, &mut out)).expect("a string takes all text");
    out
}

struct Printer<'p> {
    p: &'p Program,
    graphs: CfaGraphs,
    out: String,
}

impl Printer<'_> {
    fn program(&mut self) -> fmt::Result {
        let p = self.p;
        writeln!(self.out, "program {} entry {}", p.layout.pointer_width, p.entry)?;
        for model in &p.models {
            writeln!(self.out, "model {}", Quoted(model.as_bytes()))?;
        }
        for (id, file) in p.files.iter() {
            writeln!(self.out, "file {id} {}", Quoted(file.path.as_bytes()))?;
        }
        for (id, place) in p.places.iter() {
            write!(self.out, "place {id} {}:{}:{}", place.file, place.line, place.column)?;
            if let Some(outer) = place.inlined_at {
                write!(self.out, " inlined {outer}")?;
            }
            self.out.push('\n');
        }
        for (id, ty) in p.types.iter() {
            writeln!(self.out, "type {id} {}", TypeText(ty))?;
        }
        for (id, input) in p.inputs.iter() {
            let (kind, name) = match &input.kind {
                InputKind::Nondet(name) => ("nondet", Some(name.clone())),
                InputKind::Uninit(name) => ("uninit", name.clone()),
                InputKind::Environment(name) => ("environment", Some(name.clone())),
                InputKind::Argument(name) => ("argument", Some(name.clone())),
                InputKind::Global(name) => ("global", Some(name.clone())),
                InputKind::Unmodelled(name) => ("unmodelled", Some(name.clone())),
            };
            let name = OptionalName(&name);
            writeln!(self.out, "input {id} {kind}{name} {} {}{}", input.ty, input.width, At(input.place))?;
        }
        for (id, taint) in p.taints.iter() {
            let (over, under) = (if taint.over { " over" } else { "" }, if taint.under { " under" } else { "" });
            writeln!(self.out, "taint {id}{over}{under} {}{}", Quoted(taint.reason.as_bytes()), At(taint.place))?;
        }
        for (id, error) in p.errors.iter() {
            let message = Quoted(error.message.as_bytes());
            writeln!(self.out, "error {id} \"{}\" {message}{}", error.check, At(error.place))?;
        }
        for (id, var) in p.vars.iter() {
            if let VarKind::Global { init, is_static } = &var.kind {
                write!(self.out, "var {id}{} {} {}", OptionalName(&var.name), var.ty, var.width)?;
                write!(self.out, "{}", if *is_static { " static" } else { "" })?;
                if let Some(init) = init {
                    write!(self.out, " = ")?;
                    self.expr(*init)?;
                }
                writeln!(self.out, "{}", At(var.place))?;
            }
        }
        for (id, global) in p.globals.iter() {
            self.global(id, global)?;
        }
        let mut locs = Table::filled(Vec::new(), p.funcs.len());
        for (id, loc) in p.locs.iter() {
            locs[loc.func].push(id);
        }
        let mut vars = Table::filled(Vec::new(), p.funcs.len());
        for (id, var) in p.vars.iter() {
            if let Some(func) = var.func() {
                vars[func].push(id);
            }
        }
        for id in p.funcs.ids() {
            self.function(id, &locs[id], &vars[id])?;
        }
        Ok(())
    }

    fn global(&mut self, id: GlobalId, global: &Global) -> fmt::Result {
        let p = self.p;
        write!(self.out, "global {} {} {} align {}", id, Quoted(global.name.as_bytes()), global.ty, global.align)?;
        let (of_reads, of_names) =
            (if global.read_only { " readonly" } else { "" }, if global.is_static { " static" } else { "" });
        write!(self.out, " size {}{of_reads}{of_names}", global.size)?;
        match &global.init {
            None => write!(self.out, " unknown")?,
            Some(init) => {
                if !init.bytes.is_empty() {
                    write!(self.out, " bytes {}", Quoted(&init.bytes))?;
                }
                if !init.pointers.is_empty() {
                    write!(self.out, " {{ ")?;
                    for (i, (offset, value)) in init.pointers.iter().enumerate() {
                        write!(self.out, "{}{offset}: ", if i == 0 { "" } else { ", " })?;
                        self.expr(*value)?;
                    }
                    write!(self.out, " }}")?;
                }
            }
        }
        writeln!(self.out, "{}{}", At(global.place), Comment(p, global.place))
    }

    /// Prints an expression outside a function. Such expressions contain few addresses and constants.
    fn expr(&mut self, e: ExprId) -> fmt::Result {
        let lets = Lets::new(&self.p.exprs, &[e]);
        lets.print(self.p, &mut self.out, " ")?;
        lets.expr(self.p, e, &mut self.out)
    }

    fn function(&mut self, id: FuncId, locs: &[LocId], vars: &[VarId]) -> fmt::Result {
        let p = self.p;
        let f = &p.funcs[id];
        write!(self.out, "\nfunc {id} {}", Quoted(f.name.as_bytes()))?;
        if let Some(symbol) = &f.symbol {
            write!(self.out, " symbol {}", Quoted(symbol.as_bytes()))?;
        }
        write!(self.out, " {}", name_of(&ORIGINS, f.origin))?;
        self.out.write_str(match f.variables {
            Variables::Kept => "",
            Variables::Promoted => " promoted",
            Variables::PromotedWithResult => " promoted result",
        })?;
        write!(self.out, " {}", f.return_type)?;
        if let Some(width) = f.return_width {
            write!(self.out, " {width}")?;
        }
        write!(self.out, " (")?;
        for (i, param) in f.params.iter().enumerate() {
            write!(self.out, "{}{param}", if i == 0 { "" } else { ", " })?;
        }
        write!(self.out, ")")?;
        if let Some(varargs) = f.varargs {
            write!(self.out, " varargs {varargs}")?;
        }
        writeln!(self.out, " entry {}{} {{{}", f.entry, At(f.place), Comment(p, f.place))?;
        for &v in vars {
            let var = &p.vars[v];
            let kind = match var.kind {
                VarKind::Param(_) => "param",
                VarKind::Temp(_) => "temp",
                _ => "local",
            };
            write!(self.out, "  {kind} {v}{} {} {}{}", OptionalName(&var.name), var.ty, var.width, At(var.place))?;
            writeln!(self.out, " // {}", p.type_name(var.ty).replace('\n', " "))?;
        }
        // The locations that the entry reaches, in reverse postorder, then the others.
        let rest = locs.iter().filter(|&&l| self.graphs.node(l).is_none());
        let order: Vec<_> = self.graphs.funcs[id].locs.iter().chain(rest).copied().collect();
        for loc in order {
            writeln!(self.out, "  {loc}:")?;
            for edge in p.out_edges(loc) {
                self.edge(edge)?;
            }
        }
        writeln!(self.out, "}}")
    }

    fn edge(&mut self, id: EdgeId) -> fmt::Result {
        let p = self.p;
        let edge = &p.edges[id];
        write!(self.out, "    {id}: ")?;
        let mut roots = Vec::new();
        edge.op.for_each_expr(|e| roots.push(e));
        let lets = Lets::new(&p.exprs, &roots);
        lets.print(p, &mut self.out, "\n        ")?;
        print_op(p, &edge.op, &lets, &mut self.out)?;
        write!(self.out, " -> {}", edge.target)?;
        if let Some(error) = edge.fault {
            write!(self.out, " fault {error}")?;
        }
        write!(self.out, "{}", At(edge.place))?;
        if !edge.origin.is_empty() {
            write!(self.out, " #[")?;
            let mut numbers = edge.origin.iter().copied().peekable();
            let mut first = true;
            while let Some(start) = numbers.next() {
                let mut end = start;
                while let Some(next) = numbers.next_if(|&n| Some(n) == end.checked_add(1)) {
                    end = next;
                }
                write!(self.out, "{}{start}", if std::mem::take(&mut first) { "" } else { ", " })?;
                if end > start {
                    write!(self.out, "..{end}")?;
                }
            }
            write!(self.out, "]")?;
        }
        writeln!(self.out, "{}", Comment(p, edge.place))
    }
}

/// The suffix of an operation's name for a rounding mode other than to nearest.
fn suffix(rounding: Option<Rounding>) -> &'static str {
    match rounding {
        None | Some(Rounding::Nearest) => "",
        Some(Rounding::Down) => ".down",
        Some(Rounding::Up) => ".up",
        Some(Rounding::Zero) => ".zero",
    }
}

fn print_op(p: &Program, op: &Op, lets: &Lets, out: &mut String) -> fmt::Result {
    // Prints pieces of text and expressions alternately.
    macro_rules! emit {
        ($($piece:expr),*) => {{ $( $piece.emit(p, lets, out)?; )* }};
    }
    match op {
        Op::Skip => emit!("skip"),
        Op::Assign { var, value } => emit!(VarName(p, *var), " := ", E(*value)),
        Op::Assume { cond, branch, means, optional } => {
            let meaning = means.map_or(String::new(), |truth| format!(" means {truth}"));
            let optional = if *optional { " optional" } else { "" };
            emit!(if *branch { "if " } else { "else " }, E(*cond), meaning, optional);
        }
        Op::Load { var, addr } => emit!(VarName(p, *var), " := load ", E(*addr)),
        Op::Store { addr, value } => emit!("store ", E(*addr), ", ", E(*value)),
        Op::Alloc { var, size, align, kind, zeroed } => {
            let kind = match kind {
                AllocKind::Stack => "stack".to_owned(),
                AllocKind::Heap(family) => format!("heap {}", family.name()),
                AllocKind::Library(family) => format!("library {}", family.name()),
                AllocKind::Given => "given".to_owned(),
                AllocKind::Placeholder => "standin".to_owned(),
            };
            let zeroed = if *zeroed { "zeroed " } else { "" };
            emit!(VarName(p, *var), format!(" := alloc {kind} {zeroed}"), E(*size), format!(" align {align}"));
        }
        Op::Free { ptr, family } => emit!(format!("free {} ", family.name()), E(*ptr)),
        Op::Leak(Leak::Lost) => emit!("leak lost"),
        Op::Leak(Leak::Alive) => emit!("leak alive"),
        Op::ObjectOffset { var, ptr, writable } => {
            let writable = if *writable { "writable " } else { "" };
            emit!(VarName(p, *var), format!(" := objectoffset {writable}"), E(*ptr));
        }
        Op::ObjectSize { var, ptr, family } => {
            let family = family.map_or(String::new(), |family| format!("{} ", family.name()));
            emit!(VarName(p, *var), format!(" := objectsize {family}"), E(*ptr));
        }
        Op::Havoc { var, input } => emit!(VarName(p, *var), format!(" := havoc {input}")),
        Op::Copy { dst, src, len } => emit!("copy ", E(*dst), ", ", E(*src), ", ", E(*len)),
        Op::Fill { dst, byte, len } => emit!("fill ", E(*dst), ", ", E(*byte), ", ", E(*len)),
        Op::Shadow(op) => {
            emit!("shadow ");
            print_op(p, op, lets, out)?;
        }
        Op::Call { callee, args, varargs, result } => {
            if let Some(result) = result {
                emit!(VarName(p, *result), " := ");
            }
            match callee {
                Callee::Direct(func) => emit!("call ", FuncName(p, *func)),
                Callee::Indirect(e) => emit!("call *", E(*e)),
            }
            emit!(" (");
            for (i, arg) in args.iter().enumerate() {
                emit!(if i == 0 { "" } else { ", " }, E(*arg));
            }
            emit!(")");
            if let Some(varargs) = varargs {
                emit!(" varargs ", E(*varargs));
            }
        }
        Op::Return { value: None } => emit!("return"),
        Op::Return { value: Some(value) } => emit!("return ", E(*value)),
        Op::Halt(HaltKind::Exit(code)) => emit!("halt exit ", E(*code)),
        Op::Halt(HaltKind::ExitNow(code)) => emit!("halt exit_now ", E(*code)),
        Op::Halt(HaltKind::Abort) => emit!("halt abort"),
        Op::Halt(HaltKind::Assumed) => emit!("halt assumed"),
        Op::Halt(HaltKind::Unreachable) => emit!("halt unreachable"),
        Op::Error(error) => emit!(format!("error {error}")),
        Op::Approx { taint } => emit!(format!("approx {taint}")),
    }
    Ok(())
}

/// A piece of the text of an operation.
trait Emit {
    fn emit(&self, p: &Program, lets: &Lets, out: &mut String) -> fmt::Result;
}

/// An expression as a piece of text. (The `Display` of an id prints its number.)
struct E(ExprId);

impl Emit for E {
    fn emit(&self, p: &Program, lets: &Lets, out: &mut String) -> fmt::Result {
        lets.expr(p, self.0, out)
    }
}

impl<T: Display> Emit for T {
    fn emit(&self, _: &Program, _: &Lets, out: &mut String) -> fmt::Result {
        write!(out, "{self}")
    }
}

/// The subexpressions that get a `let` name: those that occur more than once and are long, and those that would be
/// nested too deeply.
struct Lets<'e> {
    pool: &'e ExprPool,
    /// The named subexpressions in order of definition.
    named: Vec<ExprId>,
    numbers: FxHashMap<ExprId, usize>,
}

/// The maximal size of an expression, counted as a tree, that is printed in place.
const MAX_TREE: u64 = 12;
/// The maximal nesting depth of a printed expression.
const MAX_DEPTH: u32 = 40;

impl<'e> Lets<'e> {
    fn new(pool: &'e ExprPool, roots: &[ExprId]) -> Self {
        let mut lets = Self { pool, named: Vec::new(), numbers: FxHashMap::default() };
        // For each node: the number of uses, the size as a tree, and the printed depth.
        let mut facts: FxHashMap<ExprId, (u32, u64, u32)> = FxHashMap::default();
        let mut seen = Default::default();
        let mut order = Vec::new();
        for &root in roots {
            pool.visit(root, &mut seen, |e, node| {
                order.push(e);
                for child in node.children() {
                    facts.get_mut(&child).expect("children come first").0 += 1;
                }
                facts.insert(e, (0, 0, 0));
            });
        }
        for &root in roots {
            facts.get_mut(&root).expect("visited").0 += 1;
        }
        let total: u64 = {
            let mut sizes: FxHashMap<ExprId, u64> = FxHashMap::default();
            for &e in &order {
                let size = pool.get(e).children().fold(1u64, |sum, c| sum.saturating_add(sizes[&c]));
                sizes.insert(e, size);
            }
            roots.iter().fold(0, |sum, r| sum.saturating_add(sizes[r]))
        };
        for &e in &order {
            let (mut size, mut depth) = (1u64, 0);
            for child in pool.get(e).children() {
                let (_, child_size, child_depth) = facts[&child];
                size = size.saturating_add(child_size);
                depth = depth.max(child_depth + 1);
            }
            let fact = facts.get_mut(&e).expect("visited");
            let shared = fact.0 > 1 && size > 1 && total > MAX_TREE;
            (fact.1, fact.2) = (size, depth);
            if shared || depth >= MAX_DEPTH {
                lets.numbers.insert(e, lets.named.len());
                lets.named.push(e);
                (fact.1, fact.2) = (1, 0);
            }
        }
        lets
    }

    /// Prints the definitions. `separator` follows each.
    fn print(&self, p: &Program, out: &mut String, separator: &str) -> fmt::Result {
        for (i, &e) in self.named.iter().enumerate() {
            write!(out, "let e{i} = ")?;
            self.node(p, e, out)?;
            out.push_str(separator);
        }
        Ok(())
    }

    fn expr(&self, p: &Program, e: ExprId, out: &mut String) -> fmt::Result {
        match self.numbers.get(&e) {
            Some(i) => write!(out, "e{i}"),
            None => self.node(p, e, out),
        }
    }

    /// Prints one node. The recursion is bounded, because the printed depth is.
    fn node(&self, p: &Program, e: ExprId, out: &mut String) -> fmt::Result {
        let call = |name: fmt::Arguments, children: &[ExprId], out: &mut String| {
            out.write_fmt(name)?;
            for (i, &child) in children.iter().enumerate() {
                out.push_str(if i == 0 { "(" } else { ", " });
                self.expr(p, child, out)?;
            }
            out.push(')');
            Ok(())
        };
        match *self.pool.get(e) {
            Expr::Const(ref c) => write!(out, "{}", ConstText(c)),
            Expr::Var(v) => write!(out, "{}", VarName(p, v)),
            Expr::Sym(s) => match self.pool.sort(e) {
                Sort::Bv(width) => write!(out, "{s}:{width}"),
                Sort::Array { .. } => write!(out, "{s}"),
            },
            Expr::GlobalAddr(g) => write!(out, "&{}{g}", Hint(p.globals.get(g).map(|g| &*g.name))),
            Expr::FuncAddr(f) => write!(out, "&{}", FuncName(p, f)),
            Expr::Content { of, offset, width } => {
                write!(out, "mem.{width}({}{of}, {offset})", Hint(p.globals.get(of).map(|g| &*g.name)))
            }
            Expr::Unary(op, a) => {
                out.push_str(name_of(&UNARY, op));
                // `-5:8` is a constant, so the operand needs parentheses.
                if matches!(self.pool.get(a), Expr::Const(_)) {
                    out.push('(');
                    self.expr(p, a, out)?;
                    out.push(')');
                    return Ok(());
                }
                self.expr(p, a, out)
            }
            Expr::Binary(op, a, b) => {
                out.push('(');
                self.expr(p, a, out)?;
                write!(out, " {} ", name_of(&BINARY, op))?;
                self.expr(p, b, out)?;
                out.push(')');
                Ok(())
            }
            Expr::Ite(c, t, f) => {
                out.push('(');
                self.expr(p, c, out)?;
                out.push_str(" ? ");
                self.expr(p, t, out)?;
                out.push_str(" : ");
                self.expr(p, f, out)?;
                out.push(')');
                Ok(())
            }
            Expr::Extract { hi, lo, arg } => {
                // A unary operator binds less tightly than brackets.
                let bare =
                    matches!(self.pool.get(arg), Expr::Unary(..) | Expr::Const(_)) && !self.numbers.contains_key(&arg);
                out.push_str(if bare { "(" } else { "" });
                self.expr(p, arg, out)?;
                write!(out, "{}[{hi}:{lo}]", if bare { ")" } else { "" })
            }
            Expr::Zext { width, arg } => call(format_args!("zext.{width}"), &[arg], out),
            Expr::Sext { width, arg } => call(format_args!("sext.{width}"), &[arg], out),
            Expr::FUnary(op, f, a) => {
                let (name, rounding) = (name_of(&FLOAT_UNARY, op.with_rounding(Rounding::Nearest)), op.rounding());
                call(format_args!("{name}.{}{}", f.name(), suffix(rounding)), &[a], out)
            }
            Expr::FBinary(op, f, a, b) => {
                let (name, rounding) = (name_of(&FLOAT_BINARY, op.with_rounding(Rounding::Nearest)), op.rounding());
                call(format_args!("{name}.{}{}", f.name(), suffix(rounding)), &[a, b], out)
            }
            Expr::Fma(rounding, f, a, b, c) => {
                call(format_args!("fma.{}{}", f.name(), suffix(Some(rounding))), &[a, b, c], out)
            }
            Expr::FCompare(op, f, a, b) => {
                call(format_args!("{}.{}", name_of(&FLOAT_COMPARE, op), f.name()), &[a, b], out)
            }
            Expr::FIsNan(f, a) => call(format_args!("fisnan.{}", f.name()), &[a], out),
            Expr::FConvert { rounding, from, to, arg } => {
                let rounding = suffix(Some(rounding));
                call(format_args!("fconvert.{}.{}{rounding}", from.name(), to.name()), &[arg], out)
            }
            Expr::IntToF { rounding, to, signed, arg } => {
                let (sign, rounding) = (if signed { 's' } else { 'u' }, suffix(Some(rounding)));
                call(format_args!("{sign}tof.{}{rounding}", to.name()), &[arg], out)
            }
            Expr::FToInt { from, signed, width, arg } => {
                call(format_args!("fto{}.{}.{width}", if signed { 's' } else { 'u' }, from.name()), &[arg], out)
            }
            Expr::Select { array, index } => call(format_args!("select"), &[array, index], out),
            Expr::Store { array, index, value } => call(format_args!("store"), &[array, index, value], out),
            Expr::ConstArray { index, value } => call(format_args!("array.{index}"), &[value], out),
            Expr::Lambda { index, body } => call(format_args!("lambda.{index}"), &[body], out),
            Expr::Index(width) => write!(out, "index:{width}"),
        }
    }
}
