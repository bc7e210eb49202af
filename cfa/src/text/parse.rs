//! The parser of the text form; see [`text`](super).
//!
//! For any text, the parser returns a program, or an error with its position. It never panics. In a parsed program, all
//! ids are valid and all expressions are well-sorted. [`validate`](crate::validate) checks the other rules of programs.

mod cursor;
mod expr;
mod lexer;
mod operation;
mod tables;

use super::{ORIGINS, QUALIFIERS, named};
use crate::check::Check;
use crate::expr::ExprId;
use crate::float::FloatFormat;
use crate::index::{Id, Table};
use crate::program::*;
use crate::source::{FileId, Place, PlaceId, SourceFile};
use crate::validate;
use cursor::{Cursor, id_in};
use lexer::Token;
use rustc_hash::FxHashMap;
use std::fmt;
use std::ops::{Deref, DerefMut};
use tables::{Collected, Error, Kind, Result_};

/// An error in a text: a syntax error, or a reference to a missing entity.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseError {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The message.
    pub message: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for ParseError {}

/// Parses a program.
pub fn program(text: &str) -> Result<Program, ParseError> {
    let mut parser = Parser::new(text);
    match parser.program() {
        Ok(()) => Ok(parser.p),
        Err(error) => Err(error.placed(text)),
    }
}

/// Parses an expression over the variables, functions and globals of a program.
pub fn expression(program: &mut Program, text: &str) -> Result<ExprId, ParseError> {
    let mut parser = Parser::new(text);
    parser.vars.items = program.vars.iter().map(|(id, var)| (id.0, var.clone())).collect();
    std::mem::swap(&mut parser.p, program);
    let read = parser.advance().and_then(|_| parser.single_expr()).and_then(|e| match parser.token {
        Token::End => parser.check_uses().map(|()| e),
        _ => Err(parser.expected("the end of the expression")),
    });
    std::mem::swap(&mut parser.p, program);
    read.map_err(|error| error.placed(text))
}

struct Parser<'t> {
    cursor: Cursor<'t>,
    p: Program,
    /// Entities that are declared inside functions, by id, with the position of their declaration.
    vars: Collected<VarId, Var>,
    locs: Collected<LocId, Location>,
    edges: Collected<EdgeId, Edge>,
    /// The `let` definitions of the current operation.
    lets: Vec<ExprId>,
    /// The ids that were used, with their positions. They are checked after all tables are complete.
    uses: Vec<(Kind, u32, usize)>,
    /// The nesting depth of the current expression.
    depth: u32,
}

impl<'t> Deref for Parser<'t> {
    type Target = Cursor<'t>;
    fn deref(&self) -> &Cursor<'t> {
        &self.cursor
    }
}

impl<'t> DerefMut for Parser<'t> {
    fn deref_mut(&mut self) -> &mut Cursor<'t> {
        &mut self.cursor
    }
}

impl<'t> Parser<'t> {
    fn new(text: &'t str) -> Self {
        let mut p = Program::new(DataLayout { pointer_width: 64 });
        (p.types, p.funcs, p.locs) = (Table::new(), Table::new(), Table::new());
        Self {
            cursor: Cursor::new(text),
            p,
            vars: Collected::new(),
            locs: Collected::new(),
            edges: Collected::new(),
            lets: Vec::new(),
            uses: Vec::new(),
            depth: 0,
        }
    }

    fn program(&mut self) -> Result_<()> {
        self.advance()?;
        self.keyword("program")?;
        self.p.layout.pointer_width = match self.number()? {
            width @ (32 | 64) => width,
            width => return Err(self.error(format!("unsupported pointer width {width}: it is 32 or 64"))),
        };
        self.keyword("entry")?;
        self.p.entry = FuncId(self.used(Kind::Func)?);
        while self.token != Token::End {
            let start = self.start;
            match self.word("a declaration")? {
                "model" => {
                    let model = self.string()?;
                    self.p.models.push(model);
                }
                "file" => {
                    self.cursor.declared("file", self.p.files.len())?;
                    let path = self.string()?;
                    self.p.files.push(SourceFile { path });
                }
                "place" => self.place_declaration()?,
                "type" => self.type_declaration()?,
                "input" => self.input()?,
                "taint" => self.taint()?,
                "error" => {
                    self.cursor.declared("err", self.p.errors.len())?;
                    let position = self.start;
                    let name = self.string()?;
                    let Some(check) = Check::from_name(&name) else {
                        return Err(Error { position, message: format!("unknown check '{name}'") });
                    };
                    let (message, place) = (self.string()?, self.place()?);
                    self.p.errors.push(ErrorInfo { check, message, place });
                }
                "var" => self.global_var()?,
                "global" => self.global()?,
                "func" => self.function()?,
                other => return Err(Error { position: start, message: format!("unknown declaration '{other}'") }),
            }
        }
        self.finish()
    }

    /// Completes the tables and checks the references between them.
    fn finish(&mut self) -> Result_<()> {
        let end = self.start;
        self.p.vars = std::mem::replace(&mut self.vars, Collected::new()).table("v", end)?;
        self.p.locs = std::mem::replace(&mut self.locs, Collected::new()).table("l", end)?;
        self.p.edges = std::mem::replace(&mut self.edges, Collected::new()).table("t", end)?;
        self.check_uses()?;
        match validate::endless_type(&self.p) {
            Some(ty) => Err(Error { position: end, message: format!("{ty} contains itself or is nested too deeply") }),
            None => Ok(()),
        }
    }

    /// Checks that every used id has a declaration.
    fn check_uses(&self) -> Result_<()> {
        for &(kind, id, position) in &self.uses {
            let len = match kind {
                Kind::File => self.p.files.len(),
                Kind::Type => self.p.types.len(),
                Kind::Input => self.p.inputs.len(),
                Kind::Taint => self.p.taints.len(),
                Kind::Error => self.p.errors.len(),
                Kind::Var => self.p.vars.len(),
                Kind::Global => self.p.globals.len(),
                Kind::Func => self.p.funcs.len(),
                Kind::Loc => self.p.locs.len(),
                Kind::Place => self.p.places.len(),
            };
            if id as usize >= len {
                return Err(Error { position, message: format!("there is no {}{id}", kind.prefix()) });
            }
        }
        Ok(())
    }

    /// Parses an id whose declaration may follow later.
    fn used(&mut self, kind: Kind) -> Result_<u32> {
        let start = self.start;
        let id = self.id(kind.prefix())?;
        self.uses.push((kind, id, start));
        Ok(id)
    }
    fn ty(&mut self) -> Result_<TypeId> {
        self.used(Kind::Type).map(TypeId)
    }
    fn place(&mut self) -> Result_<Option<PlaceId>> {
        if self.accept("@")? { self.used(Kind::Place).map(|id| Some(PlaceId(id))) } else { Ok(None) }
    }

    // Declarations.

    fn place_declaration(&mut self) -> Result_<()> {
        let start = self.start;
        let next = self.p.places.len();
        self.declared("p", next)?;
        let file = FileId(self.used(Kind::File)?);
        self.expect(":")?;
        let line = self.number()?;
        self.expect(":")?;
        let column = self.number()?;
        let mut inlined_at = None;
        if self.accept_word("inlined")? {
            let outer = self.id("p")?;
            if outer as usize >= next {
                return Err(Error { position: start, message: format!("p{next} is inlined at a later place") });
            }
            inlined_at = Some(PlaceId(outer));
        }
        let id = self.p.place(Place { file, line, column, inlined_at });
        if id.index() != next {
            return Err(Error { position: start, message: format!("p{next} is the same place as {id}") });
        }
        Ok(())
    }

    fn type_declaration(&mut self) -> Result_<()> {
        self.cursor.declared("ty", self.p.types.len())?;
        let start = self.start;
        let ty = match self.word("a type")? {
            "void" => CType::Void,
            "bool" => CType::Bool,
            "function" => CType::Function,
            "int" => CType::Int { name: self.string()?, width: self.width()?, signed: self.signed()? },
            "float" => {
                let name = self.string()?;
                let start = self.start;
                let format = FloatFormat::from_name(self.word("a float format")?);
                let message = "unknown float format".to_owned();
                CType::Float { name, format: format.ok_or(Error { position: start, message })? }
            }
            "pointer" => CType::Pointer(self.ty()?),
            "array" => {
                let of = self.ty()?;
                let counted = matches!(self.token, Token::Word(w) if w.starts_with(|c: char| c.is_ascii_digit()));
                CType::Array(of, if counted { Some(self.number()?) } else { None })
            }
            kind @ ("struct" | "union") => {
                let (name, size) = (self.string()?, self.number()?);
                let fields = self.list("{", "}", |this| {
                    let (name, ty) = (this.string()?, this.ty()?);
                    Ok(Field { name, ty, bit_offset: this.number()?, bit_width: this.number()? })
                })?;
                CType::Struct { union: kind == "union", name, size, fields }
            }
            "enum" => {
                let (name, width, signed) = (self.string()?, self.width()?, self.signed()?);
                let values = self.list("{", "}", |this| Ok((this.string()?, this.integer()?)))?;
                CType::Enum { name, width, signed, values }
            }
            "typedef" => CType::Typedef { name: self.string()?, ty: self.ty()? },
            "qualified" => {
                let start = self.start;
                let word = self.word("a qualifier")?;
                let name = QUALIFIERS.into_iter().find(|q| *q == word);
                let message = format!("unknown qualifier '{word}'");
                CType::Qualified { name: name.ok_or(Error { position: start, message })?, ty: self.ty()? }
            }
            "unknown" => CType::Unknown { width: self.width()? },
            other => return Err(Error { position: start, message: format!("unknown type '{other}'") }),
        };
        self.p.types.push(ty);
        Ok(())
    }

    /// Parses a comma-separated list between two signs.
    fn list<T>(&mut self, open: &str, close: &str, mut item: impl FnMut(&mut Self) -> Result_<T>) -> Result_<Vec<T>> {
        self.expect(open)?;
        let mut items = Vec::new();
        if self.accept(close)? {
            return Ok(items);
        }
        loop {
            items.push(item(self)?);
            if !self.accept(",")? {
                self.expect(close)?;
                return Ok(items);
            }
        }
    }

    fn input(&mut self) -> Result_<()> {
        self.cursor.declared("in", self.p.inputs.len())?;
        let start = self.start;
        let kind = match self.word("a kind of input")? {
            "nondet" => InputKind::Nondet(self.string()?),
            "uninit" => InputKind::Uninit(self.optional_string()?),
            "environment" => InputKind::Environment(self.string()?),
            "argument" => InputKind::Argument(self.string()?),
            "global" => InputKind::Global(self.string()?),
            "unmodelled" => InputKind::Unmodelled(self.string()?),
            other => return Err(Error { position: start, message: format!("unknown kind of input '{other}'") }),
        };
        let (ty, width, place) = (self.ty()?, self.width()?, self.place()?);
        self.p.inputs.push(Input { kind, ty, width, place });
        Ok(())
    }

    fn taint(&mut self) -> Result_<()> {
        self.cursor.declared("taint", self.p.taints.len())?;
        let (over, under) = (self.accept_word("over")?, self.accept_word("under")?);
        let (reason, place) = (self.string()?, self.place()?);
        self.p.taints.push(Taint { reason, place, over, under });
        Ok(())
    }

    /// Parses the rest of a variable after its kind, without the position.
    fn var(&mut self, kind: VarKind) -> Result_<(u32, usize, Var)> {
        let start = self.start;
        let id = self.id("v")?;
        let (name, ty, width) = (self.optional_string()?, self.ty()?, self.width()?);
        Ok((id, start, Var { name, ty, width, kind, place: None }))
    }

    fn global_var(&mut self) -> Result_<()> {
        let (id, start, mut var) = self.var(VarKind::Global { init: None, is_static: false })?;
        let is_static = self.accept_word("static")?;
        let init = if self.accept("=")? { Some(self.single_expr()?) } else { None };
        var.kind = VarKind::Global { init, is_static };
        var.place = self.place()?;
        self.vars.insert("v", id, var, start)
    }

    fn global(&mut self) -> Result_<()> {
        self.cursor.declared("g", self.p.globals.len())?;
        let (name, ty) = (self.string()?, self.ty()?);
        self.keyword("align")?;
        let align = self.number()?;
        self.keyword("size")?;
        let size = self.number()?;
        let (read_only, is_static) = (self.accept_word("readonly")?, self.accept_word("static")?);
        let init = if self.accept_word("unknown")? {
            None
        } else {
            let bytes = if self.accept_word("bytes")? { self.bytes()? } else { Vec::new() };
            let pointers = if self.is("{") {
                self.list("{", "}", |this| {
                    let offset = this.number()?;
                    this.expect(":")?;
                    Ok((offset, this.single_expr()?))
                })?
            } else {
                Vec::new()
            };
            Some(GlobalInit { bytes, pointers })
        };
        let place = self.place()?;
        self.p.globals.push(Global { name, ty, size, align, read_only, is_static, init, place });
        Ok(())
    }

    fn function(&mut self) -> Result_<()> {
        let func = self.p.funcs.next_id();
        self.declared("f", func.index())?;
        let name = self.string()?;
        let symbol = if self.accept_word("symbol")? { Some(self.string()?) } else { None };
        let start = self.start;
        let origin = named(&ORIGINS, self.word("an origin")?);
        let message = "expected 'source', 'model' or 'undefined'".to_owned();
        let origin = origin.ok_or(Error { position: start, message })?;
        let variables = match self.accept_word("promoted")? {
            false => Variables::Kept,
            true if self.accept_word("result")? => Variables::PromotedWithResult,
            true => Variables::Promoted,
        };
        let return_type = self.ty()?;
        let return_width = if self.is("(") { None } else { Some(self.width()?) };
        let params = self.list("(", ")", |this| this.used(Kind::Var).map(VarId))?;
        let varargs = if self.accept_word("varargs")? { Some(VarId(self.used(Kind::Var)?)) } else { None };
        self.keyword("entry")?;
        let entry = LocId(self.used(Kind::Loc)?);
        let place = self.place()?;
        let param_names = Vec::new();
        self.p.funcs.push(Function {
            name,
            symbol,
            params,
            param_names,
            varargs,
            return_width,
            return_type,
            entry,
            place,
            origin,
            variables,
        });
        self.expect("{")?;
        loop {
            let kind = match self.token {
                Token::Word("param") => VarKind::Param(func),
                Token::Word("local") => VarKind::Local(func),
                Token::Word("temp") => VarKind::Temp(func),
                _ => break,
            };
            self.advance()?;
            let (id, start, mut var) = self.var(kind)?;
            var.place = self.place()?;
            self.vars.insert("v", id, var, start)?;
        }
        while !self.accept("}")? {
            self.location(func)?;
        }
        Ok(())
    }

    /// Parses the truth value of C's condition on an assume edge.
    fn meaning(&mut self) -> Result_<Option<bool>> {
        if !self.accept_word("means")? {
            return Ok(None);
        }
        if self.accept_word("true")? {
            return Ok(Some(true));
        }
        self.keyword("false")?;
        Ok(Some(false))
    }

    /// Parses a location and its outgoing edges.
    fn location(&mut self, func: FuncId) -> Result_<()> {
        let start = self.start;
        let loc = LocId(self.id("l")?);
        self.expect(":")?;
        let mut out = Out::Sink;
        while let Token::Word(word) = self.token
            && id_in(word, "t").is_some()
        {
            let start = self.start;
            let edge = EdgeId(self.id("t")?);
            self.expect(":")?;
            let parsed = self.edge(loc)?;
            out = match (out, &parsed.op) {
                (Out::Sink, Op::Assume { branch: true, .. }) => Out::Branch { then_edge: edge, else_edge: edge },
                (Out::Branch { then_edge, else_edge }, Op::Assume { branch: false, .. }) if then_edge == else_edge => {
                    Out::Branch { then_edge, else_edge: edge }
                }
                (Out::Sink, op) if !matches!(op, Op::Assume { .. }) => Out::One(edge),
                _ => {
                    let message =
                        format!("{loc} has conflicting outgoing edges: one edge, or an 'if' and an 'else', is allowed");
                    return Err(Error { position: start, message });
                }
            };
            self.edges.insert("t", edge.0, parsed, start)?;
        }
        if matches!(out, Out::Branch { then_edge, else_edge } if then_edge == else_edge) {
            return Err(self.expected(&format!("the 'else' of {loc}")));
        }
        self.locs.insert("l", loc.0, Location { func, out }, start)
    }

    fn edge(&mut self, source: LocId) -> Result_<Edge> {
        let op = self.operation()?;
        self.expect("->")?;
        let target = LocId(self.used(Kind::Loc)?);
        let fault = if self.accept_word("fault")? { Some(ErrorId(self.used(Kind::Error)?)) } else { None };
        let place = self.place()?;
        let mut origin = Vec::new();
        if self.accept("#")? {
            let ranges = self.list("[", "]", |this| {
                let start = this.start;
                let word = this.word("an instruction's number")?;
                let (from, to) = word.split_once("..").unwrap_or((word, word));
                match (from.parse::<u32>(), to.parse::<u32>()) {
                    // A range must be small, so that a short text cannot request much memory.
                    (Ok(from), Ok(to)) if from <= to && to - from <= 1 << 20 => Ok(from..=to),
                    _ => Err(Error { position: start, message: format!("'{word}' is no range of instructions") }),
                }
            })?;
            origin.extend(ranges.into_iter().flatten());
        }
        Ok(Edge { source, op, target, place, fault, origin: origin.into() })
    }
}
