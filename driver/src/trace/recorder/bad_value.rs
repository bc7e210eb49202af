//! The sources of bad values. The recorder propagates null pointers and uninitialised values from their source to their
//! use.

use super::{NULL_PAGE, Recorder};
use crate::trace::{Origin, OriginKind};
use cfa::interp::State;
use cfa::{Bv, CType, Check, EdgeId, ExprId, FunctionOrigin, InputKind, Op, VarId};
use rustc_hash::FxHashMap;

/// The edge in the user's code that created a bad value.
#[derive(Clone, Copy)]
pub(super) struct FaultSource {
    kind: OriginKind,
    edge: EdgeId,
    /// True if the edge is a call of a library function that returned the value.
    is_result: bool,
}

impl FaultSource {
    /// Returns true if the bad value explains a violation of this check. A null pointer explains only violations of
    /// checks of pointers: a number that is 0, such as a divisor, is no null pointer.
    pub(super) fn explains(self, check: Check) -> bool {
        let is_of_pointers = matches!(
            check,
            Check::Null
                | Check::NonnullAttribute
                | Check::ReturnsNonnullAttribute
                | Check::PointerOverflow
                | Check::PointerCompare
                | Check::PointerSubtract
                | Check::Alignment
                | Check::Argument
                | Check::Deref
                | Check::Free
        );
        self.kind == OriginKind::Unset || is_of_pointers
    }
}

/// The sources of the bad values in variables and memory.
#[derive(Default)]
pub(super) struct BadValues {
    /// The sources by variable.
    vars: FxHashMap<VarId, FaultSource>,
    /// The sources by the address of the first byte of the value.
    bytes: FxHashMap<u64, FaultSource>,
    /// True if the present allocation fails.
    fails: bool,
}

impl Recorder<'_> {
    /// Propagates null pointers and uninitialised values over an edge. The state is that after the edge. The recorder's
    /// frames are those before it.
    pub(super) fn follow(&mut self, edge: EdgeId, state: &State) {
        let program = self.program;
        let pointer = program.layout.pointer_width;
        let number = |e: ExprId| state.eval(e).to_u64().unwrap_or(0);
        match program.edges[edge].op {
            Op::Havoc { var, input } => {
                let info = &program.inputs[input];
                if info.kind == InputKind::allocation() {
                    self.bad_values.fails = state.var(var).is_some_and(|fails| !fails.is_zero());
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
                    |source: &&mut FaultSource| source.kind == OriginKind::Null && source.edge == self.user_edge(edge);
                if self.bad_values.fails
                    && let Some(source) = source.as_mut().filter(is_null)
                {
                    source.kind = OriginKind::FailedAllocation;
                    self.bad_values.fails = false;
                }
                self.set_source(var, source);
            }
            Op::Load { var, addr } => {
                // If the address depends on the loaded variable, the load has overwritten it.
                let at = (!self.vars(addr).contains(&var)).then(|| number(addr));
                let kept = at.and_then(|at| self.bad_values.bytes.get(&at)).copied();
                let is_null = program.vars[var].width == pointer && state.var(var).is_some_and(|value| value.is_zero());
                let source = kept.or_else(|| is_null.then(|| self.source(OriginKind::Null, edge)));
                self.set_source(var, source);
            }
            Op::Store { addr, value } => {
                let source = self.source_of(edge, value, &state.eval(value));
                let at = number(addr);
                match source {
                    Some(source) => drop(self.bad_values.bytes.insert(at, source)),
                    None => drop(self.bad_values.bytes.remove(&at)),
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
                let returns = &program.types[program.funcs[program.func_of(edge)].return_type];
                let is_number = matches!(returns, CType::Int { .. } | CType::Enum { .. } | CType::Bool);
                let source = match is_model(edge) && !is_model(call) {
                    true if returned.width() == pointer && returned.is_zero() && !is_number => {
                        Some(FaultSource { kind: OriginKind::Null, edge: call, is_result: true })
                    }
                    true => None,
                    false => self.source_of(edge, value, &returned),
                };
                self.set_source(result, source);
            }
            _ => {}
        }
    }

    /// Returns a source of this kind at the edge of the user's code that is active while `edge` executes.
    fn source(&self, kind: OriginKind, edge: EdgeId) -> FaultSource {
        FaultSource { kind, edge: self.user_edge(edge), is_result: false }
    }

    /// Returns the innermost edge of the user's code that is active while `edge` executes. Returns `edge` if there is
    /// none.
    fn user_edge(&self, edge: EdgeId) -> EdgeId {
        self.in_user_code(edge).unwrap_or(edge)
    }

    /// Records the source of a variable's value. `None` if the value is not bad.
    fn set_source(&mut self, var: VarId, source: Option<FaultSource>) {
        match source {
            Some(source) => drop(self.bad_values.vars.insert(var, source)),
            None => drop(self.bad_values.vars.remove(&var)),
        }
    }

    /// Returns the source of an expression's value. `None` unless the value is not initialised, or is null or an offset
    /// from a null pointer.
    fn source_of(&self, edge: EdgeId, e: ExprId, value: &Bv) -> Option<FaultSource> {
        let of_vars = self.bad_address(e, value);
        of_vars.or_else(|| (self.is_near_null(value) && value.is_zero()).then(|| self.source(OriginKind::Null, edge)))
    }

    /// Returns the source of a bad value in an expression with this value. A number that is 0, such as an index, is no
    /// null pointer: the value has to be null or an offset from a null pointer.
    pub(super) fn bad_address(&self, e: ExprId, value: &Bv) -> Option<FaultSource> {
        self.bad_source(e).filter(|source| source.kind == OriginKind::Unset || self.is_near_null(value))
    }

    fn is_near_null(&self, value: &Bv) -> bool {
        value.width() == self.program.layout.pointer_width && value.to_u64().is_some_and(|v| v < NULL_PAGE)
    }

    /// Returns the source of a bad value in an expression. An uninitialised value takes precedence over a null pointer.
    pub(super) fn bad_source(&self, e: ExprId) -> Option<FaultSource> {
        if self.bad_values.vars.is_empty() {
            return None;
        }
        let vars = self.vars(e);
        let found = || vars.iter().filter_map(|v| self.bad_values.vars.get(v));
        found().find(|source| source.kind == OriginKind::Unset).or_else(|| found().next()).copied()
    }

    /// Returns a source in terms of the C program. `None` if its edge has no source position.
    pub(super) fn origin_at(&self, source: FaultSource) -> Option<Origin> {
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
