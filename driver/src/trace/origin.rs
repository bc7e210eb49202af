//! Where bad values come from: null pointers, and values that were never set, followed to where they are used.

use super::recorder::Recorder;
use crate::source::Spot;
use cfa::interp::State;
use cfa::{Bv, EdgeId, ExprId, FunctionOrigin, InputKind, Op, VarId};
use rustc_hash::FxHashMap;

/// Addresses below are offsets from a null pointer.
const NULL_PAGE: u64 = 4096;

/// The operation that made a value with which an access is invalid.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Origin {
    pub kind: OriginKind,
    pub spot: Spot,
    /// The library function that returned the value.
    pub function: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OriginKind {
    Null,
    /// The null pointer of an allocation that fails.
    FailedAllocation,
    /// Read where nothing was written, or by an access that is invalid itself.
    Unset,
}

impl Origin {
    /// For a note with the place behind it.
    pub fn text(&self) -> String {
        match (self.kind, &self.function) {
            (OriginKind::FailedAllocation, _) => "the allocation here fails and gives a null pointer".to_owned(),
            (OriginKind::Null, Some(function)) => format!("`{function}` returns null here"),
            (OriginKind::Null, None) => "the null pointer comes from here".to_owned(),
            (OriginKind::Unset, _) => "the value is read here, where nothing was written".to_owned(),
        }
    }
}

/// The edge in the user's code that made a value.
#[derive(Clone, Copy)]
pub(super) struct Source {
    kind: OriginKind,
    edge: EdgeId,
    /// The value is the result of this call.
    is_result: bool,
}

/// By variable and address, where the bad value in it comes from.
#[derive(Default)]
pub(super) struct Sources {
    vars: FxHashMap<VarId, Source>,
    bytes: FxHashMap<u64, Source>,
    /// The allocation under way fails.
    fails: bool,
}

impl Recorder<'_> {
    /// Follows what an edge does with null pointers and with values that were never set. Frames are those of before the edge.
    pub(super) fn follow(&mut self, edge: EdgeId, state: &State) {
        let program = self.program;
        let pointer = program.layout.pointer_width;
        let number = |e: ExprId| state.eval(e).to_u64().unwrap_or(0);
        match program.edges[edge].op {
            Op::Havoc { var, input } => {
                let info = &program.inputs[input];
                if info.kind == InputKind::allocation() {
                    self.sources_of_values.fails = state.var(var).is_some_and(|fails| !fails.is_zero());
                }
                let is_null = || info.width == pointer && state.var(var).is_some_and(|value| value.is_zero());
                let source = match info.kind {
                    InputKind::Uninit(_) => Some(self.source(OriginKind::Unset, edge)),
                    InputKind::Environment(_) => None,
                    _ if is_null() => Some(self.source(OriginKind::Null, edge)),
                    _ => None,
                };
                self.set_source(var, source);
            }
            Op::Assign { var, value } => {
                let mut source = state.var(var).and_then(|now| self.source_of(edge, value, &now));
                let is_null =
                    |source: &&mut Source| source.kind == OriginKind::Null && source.edge == self.user_edge(edge);
                if self.sources_of_values.fails
                    && let Some(source) = source.as_mut().filter(is_null)
                {
                    source.kind = OriginKind::FailedAllocation;
                    self.sources_of_values.fails = false;
                }
                self.set_source(var, source);
            }
            Op::Load { var, addr } => {
                // Where the variable was part of its own address, that address is gone.
                let at = (!self.vars(addr).contains(&var)).then(|| number(addr));
                let kept = at.and_then(|at| self.sources_of_values.bytes.get(&at)).copied();
                let is_null = program.vars[var].width == pointer && state.var(var).is_some_and(|value| value.is_zero());
                let source = kept.or_else(|| is_null.then(|| self.source(OriginKind::Null, edge)));
                self.set_source(var, source);
            }
            Op::Store { addr, value } => {
                let source = self.source_of(edge, value, &state.eval(value));
                let at = number(addr);
                match source {
                    Some(source) => drop(self.sources_of_values.bytes.insert(at, source)),
                    None => drop(self.sources_of_values.bytes.remove(&at)),
                }
            }
            Op::Call { ref args, .. } => {
                for (&param, &arg) in program.funcs[state.func()].params.iter().zip(args) {
                    let source = state.var(param).and_then(|now| self.source_of(edge, arg, &now));
                    self.set_source(param, source);
                }
            }
            Op::Return { value: Some(value) } => {
                let frame = self.frames.last().expect("there is a frame");
                let Some(call) = frame.call else { return };
                let Op::Call { result: Some(result), .. } = program.edges[call].op else { return };
                let is_model = |edge: EdgeId| program.funcs[program.func_of(edge)].origin == FunctionOrigin::Model;
                let returned = state.eval(value);
                let source = match is_model(edge) && !is_model(call) {
                    true if returned.width() == pointer && returned.is_zero() => {
                        Some(Source { kind: OriginKind::Null, edge: call, is_result: true })
                    }
                    true => None,
                    false => self.source_of(edge, value, &returned),
                };
                self.set_source(result, source);
            }
            _ => {}
        }
    }

    fn source(&self, kind: OriginKind, edge: EdgeId) -> Source {
        Source { kind, edge: self.user_edge(edge), is_result: false }
    }

    fn user_edge(&self, edge: EdgeId) -> EdgeId {
        self.in_user_code(edge).unwrap_or(edge)
    }

    fn set_source(&mut self, var: VarId, source: Option<Source>) {
        match source {
            Some(source) => drop(self.sources_of_values.vars.insert(var, source)),
            None => drop(self.sources_of_values.vars.remove(&var)),
        }
    }

    /// Where the value of an expression comes from, if it was never set or is an offset from null.
    fn source_of(&self, edge: EdgeId, e: ExprId, value: &Bv) -> Option<Source> {
        let is_null =
            value.width() == self.program.layout.pointer_width && value.to_u64().is_some_and(|v| v < NULL_PAGE);
        let of_vars = self.bad_source(e).filter(|source| source.kind == OriginKind::Unset || is_null);
        of_vars.or_else(|| (is_null && value.is_zero()).then(|| self.source(OriginKind::Null, edge)))
    }

    /// Where what is bad in an expression comes from.
    pub(super) fn bad_source(&self, e: ExprId) -> Option<Source> {
        if self.sources_of_values.vars.is_empty() {
            return None;
        }
        let vars = self.vars(e);
        let found = || vars.iter().filter_map(|v| self.sources_of_values.vars.get(v));
        found().find(|source| source.kind == OriginKind::Unset).or_else(|| found().next()).copied()
    }

    /// In terms of the source.
    pub(super) fn origin_at(&self, source: Source) -> Option<Origin> {
        let spot = self.spot(self.program.edges[source.edge].place)?;
        let function = match self.program.edges[source.edge].op {
            Op::Call { callee: cfa::Callee::Direct(func), .. } if source.is_result => {
                Some(self.called_here(source.edge, &self.program.funcs[func]))
            }
            _ => None,
        };
        Some(Origin { kind: source.kind, spot, function })
    }
}
