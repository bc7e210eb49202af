//! The constraints of the program's operations.

use super::super::graph::NodeId;
use super::super::instances::{Called, InstanceId};
use super::super::memory::{LocationId, ObjectId};
use super::super::terms::{Base, LeafTransform, Shift, Term};
use super::super::{Extent, Undefined, may_be_address};
use super::{Solver, Use};
use cfa::{AllocKind, BinOp, Callee, EdgeId, Expr, ExprId, Family, FuncId, FunctionOrigin, Id, Op, VarId, VarKind};
use rustc_hash::FxHashSet;

impl Solver<'_> {
    fn location_of(&mut self, term: Term) -> Option<LocationId> {
        let object = match term.base {
            Base::Global(g) => self.memory.global(g),
            Base::Func(f) => self.memory.func(f),
            Base::Var(_) => unreachable!("a variable has no address"),
        };
        let start = self.memory.location(object, Shift::ZERO);
        self.memory.moved(start, term.way)
    }
    fn var(&self, instance: InstanceId, v: VarId) -> NodeId {
        self.instances.var(self.program, instance, v)
    }
    /// Adds the constraint that the value of an expression flows into a node.
    fn assign(&mut self, instance: InstanceId, e: ExprId, to: NodeId) {
        for term in self.terms.terms(e).to_vec() {
            match term.base {
                Base::Var(v) => self.graph.add_shifted(self.var(instance, v), to, term.way),
                _ => {
                    if let Some(location) = self.location_of(term) {
                        self.graph.add_location(to, location);
                    }
                }
            }
        }
    }
    /// A node for the value of an expression; `None` if it holds no pointers.
    fn value(&mut self, instance: InstanceId, e: ExprId) -> Option<NodeId> {
        match *self.terms.terms(e) {
            [] => None,
            [Term { base: Base::Var(v), way: LeafTransform::SAME }] => Some(self.var(instance, v)),
            _ => {
                let node = self.graph.fresh_node();
                self.assign(instance, e, node);
                Some(node)
            }
        }
    }
    /// Adds the constraint that an operation accesses the locations of an address expression.
    fn use_address(&mut self, instance: InstanceId, address: ExprId, what: impl Fn(Shift) -> Use) {
        for term in self.terms.terms(address).to_vec() {
            match (term.base, term.way) {
                (Base::Var(v), LeafTransform::Moved(shift)) => self.graph.add_use(self.var(instance, v), what(shift)),
                // Uses with the same shift are shared, so other ways get a node of their own.
                (Base::Var(v), way) => {
                    let node = self.graph.fresh_node();
                    self.graph.add_shifted(self.var(instance, v), node, way);
                    self.graph.add_use(node, what(Shift::ZERO));
                }
                _ => {
                    if let Some(location) = self.location_of(term) {
                        self.apply_to(what(Shift::ZERO), location);
                    }
                }
            }
        }
    }

    /// Adds the constraints of the initial values of global variables and objects.
    pub(super) fn globals(&mut self) {
        let program = self.program;
        for (g, global) in program.globals.iter() {
            let object = self.memory.global(g);
            for &(off, value) in global.init.iter().flat_map(|init| &init.pointers) {
                let width = program.exprs.width(value).div_ceil(8);
                let at = Shift::new(i64::try_from(off).unwrap_or(i64::MAX), 0);
                if let Some(nodes) = self.slot(object, at, width) {
                    self.assign(InstanceId::BASE, value, nodes.written);
                }
            }
        }
        for (v, var) in program.vars.iter() {
            if let VarKind::Global { init: Some(init), .. } = var.kind {
                let to = self.written(InstanceId::BASE, v);
                self.assign(InstanceId::BASE, init, to);
            }
        }
    }

    /// The node of a variable that an operation writes. If the variable is no pointer, it exposes the addresses that it
    /// holds. Models do not expose addresses that they convert, but those that they read in parts.
    fn written(&mut self, instance: InstanceId, v: VarId) -> NodeId {
        let node = self.var(instance, v);
        let var = &self.program.vars[v];
        // The hidden states of the library have no names and no functions. Their values are zero.
        let is_hidden = var.name.is_none() && var.func().is_none();
        let is_part = var.width < self.program.layout.pointer_width;
        if let Some(exposed) = self.exposed
            && !self.terms.is_pointer(v)
            && !is_hidden
            && (is_part || !self.terms.is_of_model(v))
        {
            self.graph.add_shifted(node, exposed, LeafTransform::Exposure);
        }
        node
    }

    /// Marks the function as called without a context and queues its body.
    pub(super) fn reach(&mut self, f: FuncId) {
        self.reached[f.index()] = true;
        if !std::mem::replace(&mut self.queued[f.index()], true) {
            self.to_reach.push(f);
        }
    }

    /// Adds the constraints of a function's operations.
    pub(super) fn body(&mut self, f: FuncId, instance: InstanceId) {
        let body = std::mem::take(&mut self.bodies[f.index()]);
        for &edge in &body {
            self.operation(edge, instance);
        }
        self.bodies[f.index()] = body;
        if self.program.funcs[f].origin == FunctionOrigin::Undefined && self.undefined != Undefined::default() {
            self.undefined_body(f);
        }
    }

    /// Adds the constraints of the comparisons and differences of addresses in an expression.
    fn compare(&mut self, instance: InstanceId, root: ExprId) {
        let program = self.program;
        let (mut todo, mut seen) = (vec![root], FxHashSet::from_iter([root]));
        while let Some(e) = todo.pop() {
            let node = program.exprs.get(e);
            todo.extend(node.children().filter(|&child| seen.insert(child)));
            let (a, b) = match *node {
                Expr::Binary(BinOp::Sub | BinOp::Eq | BinOp::Ult | BinOp::Ule | BinOp::Slt | BinOp::Sle, a, b) => {
                    (a, b)
                }
                _ => continue,
            };
            if let (Some(one), Some(other)) = (self.value(instance, a), self.value(instance, b)) {
                self.graph.add_use(one, Use::Compare { with: other });
                self.graph.add_use(other, Use::Compare { with: one });
            }
        }
    }

    fn operation(&mut self, id: EdgeId, instance: InstanceId) {
        let program = self.program;
        // Models compare and subtract only addresses that belong together.
        let origin = program.funcs[program.func_of(id)].origin;
        let is_of_model = origin == FunctionOrigin::Model;
        let is_undefined = origin == FunctionOrigin::Undefined && self.undefined != Undefined::default();
        if self.exposed.is_some() && !is_of_model {
            program.edges[id].op.for_each_expr(|e| self.compare(instance, e));
        }
        let width_of = |bits: u32| bits.div_ceil(8);
        match &program.edges[id].op {
            Op::Assign { var, value } => {
                let to = self.written(instance, *var);
                self.assign(instance, *value, to);
            }
            Op::Load { var, addr } => {
                let (to, width) = (self.written(instance, *var), width_of(program.vars[*var].width));
                let is_number = !self.terms.is_pointer(*var) && self.terms.is_of_model(*var);
                self.use_address(instance, *addr, |shift| Use::Load { shift, width, is_number, to });
            }
            Op::Store { addr, value } => {
                let width = width_of(program.exprs.width(*value));
                if let Some(from) = self.value(instance, *value) {
                    self.use_address(instance, *addr, |shift| Use::Store { shift, width, from });
                }
            }
            Op::Alloc { var, kind, .. } => {
                let object = self.object_of(id, *kind);
                let location = self.memory.location(object, Shift::ZERO);
                self.graph.add_location(self.var(instance, *var), location);
            }
            // The result of an undefined function.
            Op::Havoc { var, .. } if self.exposed.is_some() && is_undefined => {
                let (to, external) = (self.var(instance, *var), self.external());
                self.graph.add_edge(external, to);
            }
            Op::Havoc { var, input }
                if let Some(exposed) = self.exposed
                    && program.inputs[*input].kind.is_from_outside() =>
            {
                let (to, mark) = (self.var(instance, *var), self.memory.mark());
                self.graph.add_location(to, mark);
                self.graph.add_edge(exposed, to);
            }
            // Models copy to their temporary objects what leaves the program.
            Op::Free { ptr, family: Family::Internal } => {
                if let Some(exposed) = self.exposed {
                    let content = self.graph.fresh_node();
                    self.use_address(instance, *ptr, |_| Use::Load {
                        shift: Shift::ANY,
                        width: 1,
                        is_number: false,
                        to: content,
                    });
                    self.graph.add_shifted(content, exposed, LeafTransform::Exposure);
                }
            }
            Op::Havoc { var, input } if may_be_address(&program.inputs[*input]) => {
                let unknown = self.memory.location(self.memory.unknown, Shift::ANY);
                self.graph.add_location(self.var(instance, *var), unknown);
            }
            Op::Copy { dst, src, len } => {
                let len = match program.exprs.as_const(*len) {
                    Some(len) => len.to_u64().and_then(|l| u32::try_from(l).ok()),
                    None => None,
                };
                let buffer = self.memory.buffer(id);
                self.use_address(instance, *src, |shift| Use::CopyFrom { shift, len, buffer });
                self.use_address(instance, *dst, |shift| Use::CopyTo { shift, len, buffer });
            }
            Op::Call { callee: Callee::Direct(f), .. } => self.call(id, instance, *f),
            Op::Call { callee: Callee::Indirect(e), .. } => {
                self.use_address(instance, *e, |_| Use::Call { edge: id, instance });
            }
            Op::Return { value: Some(value) } => {
                let to = self.instances.result(program, instance, program.func_of(id));
                self.assign(instance, *value, to);
            }
            _ => {}
        }
    }

    /// The object of an allocation. Heap allocations get a new object for each instance.
    fn object_of(&mut self, edge: EdgeId, kind: AllocKind) -> ObjectId {
        if let (AllocKind::Stack, Some(objects)) = (kind, self.memory.alloc_objects.get(&edge)) {
            return objects[0];
        }
        let object = self.memory.allocate(self.program, edge);
        self.link_to_universe(object);
        object
    }

    /// Adds the constraints of an indirect call that may call `f`.
    pub(super) fn call_indirect(&mut self, edge: EdgeId, instance: InstanceId, f: FuncId) {
        if self.known_calls.insert((edge, instance, f)) {
            self.call(edge, instance, f);
        }
    }

    fn call(&mut self, id: EdgeId, caller: InstanceId, f: FuncId) {
        let program = self.program;
        let Op::Call { args, varargs, result, .. } = &program.edges[id].op else { unreachable!("a call edge") };
        let function = &program.funcs[f];
        let callee = self.instance_of(f, id, caller);
        for (&arg, &param) in args.iter().zip(&function.params) {
            let param = self.written(callee, param);
            self.assign(caller, arg, param);
        }
        if let (Some(block), Some(var)) = (varargs, function.varargs) {
            self.assign(caller, *block, self.var(callee, var));
        }
        if let Some(result) = result {
            let result = self.written(caller, *result);
            self.graph.add_edge(self.instances.result(program, callee, f), result);
        }
        if function.origin == FunctionOrigin::Undefined && self.undefined != Undefined::default() {
            let received = self.received();
            for &arg in args.iter().chain(varargs) {
                self.assign(caller, arg, received);
            }
        }
        if callee == InstanceId::BASE {
            self.reach(f);
        }
    }

    /// The instance of `f` that a call in the instance `caller` calls.
    fn instance_of(&mut self, f: FuncId, call: EdgeId, caller: InstanceId) -> InstanceId {
        let calls = match self.instances.called(f, call, caller) {
            Called::Known(known) => return known,
            Called::New(calls) => calls,
        };
        // A body is empty while its constraints are being added, so a recursive function gets no new instance.
        let size = self.bodies[f.index()].len();
        let Some(id) = self.instances.add(f, calls, size, self.graph.len() as u32) else {
            self.reach(f);
            return InstanceId::BASE;
        };
        for _ in 0..self.instances.node_count(f) {
            self.graph.fresh_node();
        }
        self.reached[f.index()] = true;
        self.body(f, id);
        id
    }

    // Undefined functions.

    /// The node of the pointers that undefined functions have: to any offset in the objects of their arguments, and of
    /// what they can read through these.
    fn external(&mut self) -> NodeId {
        if let Some((_, known)) = self.external {
            return known;
        }
        let [received, node] = [(); 2].map(|()| self.graph.fresh_node());
        self.external = Some((received, node));
        self.graph.add_shifted(received, node, LeafTransform::Moved(Shift::ANY));
        // They know what the environment knows, and tell it all that they know.
        if let Some(exposed) = self.exposed {
            self.graph.add_shifted(node, exposed, LeafTransform::Exposure);
            self.graph.add_edge(exposed, node);
            let mark = self.memory.mark();
            self.graph.add_location(node, mark);
        }
        let everything = self.undefined.reads == Extent::Everything || self.undefined.writes == Extent::Everything;
        if everything {
            let unknown = self.memory.location(self.memory.unknown, Shift::ANY);
            self.graph.add_location(node, unknown);
        }
        let (program, undefined) = (self.program, self.undefined);
        for (g, _) in program.globals.iter().filter(|(_, g)| undefined.knows(g)) {
            let location = self.memory.location(self.memory.global(g), Shift::ANY);
            self.graph.add_location(node, location);
        }
        for (var, _) in program.vars.iter().filter(|(_, var)| undefined.knows_var(var)) {
            self.graph.add_edge(var.0, received);
            self.graph.add_edge(node, var.0);
        }
        self.graph.add_use(node, Use::Load { shift: Shift::ANY, width: 1, is_number: false, to: received });
        if self.undefined.writes != Extent::Nothing {
            self.graph.add_use(node, Use::Store { shift: Shift::ANY, width: 1, from: node });
        }
        self.graph.add_use(node, Use::CallBack);
        node
    }
    /// The node of the pointers that undefined functions are given.
    fn received(&mut self) -> NodeId {
        self.external();
        self.external.expect("just made").0
    }
    fn undefined_body(&mut self, f: FuncId) {
        let external = self.external();
        self.graph.add_edge(external, self.instances.result(self.program, InstanceId::BASE, f));
    }
    /// Adds the constraints of a call of `f` by an undefined function.
    pub(super) fn call_back(&mut self, f: FuncId) {
        let external = self.external();
        for &param in &self.program.funcs[f].params {
            self.graph.add_edge(external, param.0);
        }
        let received = self.received();
        self.graph.add_edge(self.instances.result(self.program, InstanceId::BASE, f), received);
        self.reach(f);
    }
}
