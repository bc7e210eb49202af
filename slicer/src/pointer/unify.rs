//! Unification-based solving (Steensgaard: *Points-to analysis in almost linear time*, POPL 1996), without fields.
//!
//! Every variable, result and object belongs to a class, and a class points to at most one class. An assignment makes
//! both sides point to the same class as soon as the right side points anywhere.

use super::memory::{Memory, ObjectId, ObjectKind};
use super::solve::{address_taken, bodies, facts_of_vars};
use super::terms::{Base, Shift, Terms};
use super::{Extent, Options, Solution, Undefined, VarSets, may_be_address};
use crate::sparse_set::SparseSet;
use cfa::{Callee, EdgeId, ExprId, FuncId, FunctionOrigin, Id, Op, Program, VarKind};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;
use std::time::Instant;

/// The number of a class of variables and objects.
type Class = u32;

/// The properties of a class.
#[derive(Default)]
struct Node {
    points: Option<Class>,
    /// Classes that will point to the same class as soon as this class points anywhere.
    followers: Vec<Class>,
    funcs: Vec<FuncId>,
    /// Calls of all functions that enter the class.
    calls: Vec<EdgeId>,
    /// True if undefined functions may call the functions of the class.
    called_back: bool,
}

/// The state of the unification-based solver.
pub struct Unifier<'p> {
    program: &'p Program,
    terms: Terms<'p>,
    memory: Memory,
    parent: Vec<Class>,
    nodes: Vec<Node>,
    /// By object, its class.
    objects: Vec<Class>,
    bodies: Vec<Vec<EdgeId>>,
    reached: Vec<bool>,
    to_reach: Vec<FuncId>,
    joins: Vec<(Class, Class)>,
    calls: Vec<(EdgeId, FuncId)>,
    called: FxHashSet<(EdgeId, FuncId)>,
    unknown: bool,
    undefined: Undefined,
    external: Option<Class>,
}

impl<'p> Unifier<'p> {
    /// A solver without constraints.
    pub fn new(program: &'p Program, options: &Options) -> Self {
        let memory = Memory::new(program, true);
        let mut unifier = Self {
            program,
            terms: Terms::new(&program.exprs, program.layout.pointer_width, facts_of_vars(program)),
            memory,
            parent: Vec::new(),
            nodes: Vec::new(),
            objects: Vec::new(),
            bodies: bodies(program),
            reached: vec![false; program.funcs.len()],
            to_reach: Vec::new(),
            joins: Vec::new(),
            calls: Vec::new(),
            called: FxHashSet::default(),
            unknown: false,
            undefined: options.undefined,
            external: None,
        };
        // Variables, results, objects.
        for _ in 0..program.vars.len() + program.funcs.len() {
            unifier.fresh();
        }
        unifier.classes_of_objects();
        unifier
    }

    /// Solves all constraints. Returns `None` if the deadline passed.
    pub fn solve(mut self, deadline: Option<Instant>) -> Option<Solution<'p>> {
        self.globals();
        self.reach(self.program.entry);
        while let Some(f) = self.to_reach.pop() {
            for edge in std::mem::take(&mut self.bodies[f.index()]) {
                self.operation(edge);
                self.process_pending();
            }
            if self.program.funcs[f].origin == FunctionOrigin::Undefined && self.undefined != Undefined::default() {
                let external = self.external();
                self.assign(self.result(f), external);
                self.process_pending();
            }
            if deadline.is_some_and(|d| Instant::now() > d) {
                return None;
            }
        }
        Some(self.solution())
    }

    fn fresh(&mut self) -> Class {
        let id = self.nodes.len() as u32;
        self.parent.push(id);
        self.nodes.push(Node::default());
        id
    }
    fn find(&mut self, mut c: Class) -> Class {
        while self.parent[c as usize] != c {
            self.parent[c as usize] = self.parent[self.parent[c as usize] as usize];
            c = self.parent[c as usize];
        }
        c
    }
    fn classes_of_objects(&mut self) {
        for i in self.objects.len()..self.memory.objects.len() {
            let class = self.fresh();
            self.objects.push(class);
            if let ObjectKind::Func(f) = self.memory.objects[ObjectId::from_index(i)].kind {
                self.nodes[class as usize].funcs.push(f);
            }
        }
    }
    fn result(&self, f: FuncId) -> Class {
        self.program.vars.len() as u32 + f.0
    }

    // Joins.

    fn join(&mut self, a: Class, b: Class) {
        self.joins.push((a, b));
    }
    /// Processes the pending joins and calls until none are left.
    fn process_pending(&mut self) {
        loop {
            if let Some((a, b)) = self.joins.pop() {
                self.join_now(a, b);
            } else if let Some((edge, f)) = self.calls.pop() {
                if self.called.insert((edge, f)) {
                    self.call(edge, f);
                }
            } else {
                return;
            }
        }
    }
    fn join_now(&mut self, a: Class, b: Class) {
        let (mut a, mut b) = (self.find(a), self.find(b));
        if a == b {
            return;
        }
        let weight = |n: &Node| n.followers.len() + n.calls.len() + n.funcs.len();
        if weight(&self.nodes[a as usize]) < weight(&self.nodes[b as usize]) {
            (a, b) = (b, a);
        }
        self.parent[b as usize] = a;
        let other = std::mem::take(&mut self.nodes[b as usize]);
        let node = &mut self.nodes[a as usize];
        for &f in &other.funcs {
            self.calls.extend(node.calls.iter().map(|&e| (e, f)));
        }
        for &e in &other.calls {
            self.calls.extend(node.funcs.iter().map(|&f| (e, f)));
        }
        let called_back = node.called_back || other.called_back;
        if called_back != node.called_back || called_back != other.called_back {
            let news = if node.called_back { other.funcs.clone() } else { node.funcs.clone() };
            node.called_back = true;
            node.funcs.extend(other.funcs);
            node.calls.extend(other.calls);
            news.into_iter().for_each(|f| self.call_back(f));
        } else {
            node.funcs.extend(other.funcs);
            node.calls.extend(other.calls);
        }
        let node = &mut self.nodes[a as usize];
        match (node.points, other.points) {
            (Some(p), Some(q)) => self.joins.push((p, q)),
            (Some(p), None) => {
                for f in other.followers {
                    self.point(f, p);
                }
            }
            (None, Some(q)) => {
                let followers = std::mem::take(&mut node.followers);
                node.points = Some(q);
                for f in followers {
                    self.point(f, q);
                }
            }
            (None, None) => node.followers.extend(other.followers),
        }
    }
    /// Makes the class point to `to`.
    fn point(&mut self, class: Class, to: Class) {
        let mut todo = vec![class];
        while let Some(c) = todo.pop() {
            let c = self.find(c) as usize;
            match self.nodes[c].points {
                Some(p) => self.joins.push((p, to)),
                None => {
                    self.nodes[c].points = Some(to);
                    todo.append(&mut self.nodes[c].followers);
                }
            }
        }
    }
    /// The class that `class` points to, created on demand.
    fn pointee(&mut self, class: Class) -> Class {
        let c = self.find(class);
        if let Some(p) = self.nodes[c as usize].points {
            return p;
        }
        let fresh = self.fresh();
        self.point(c, fresh);
        fresh
    }
    fn assign(&mut self, to: Class, from: Class) {
        let (to, from) = (self.find(to), self.find(from));
        if to == from {
            return;
        }
        match self.nodes[from as usize].points {
            Some(p) => self.point(to, p),
            None => self.nodes[from as usize].followers.push(to),
        }
    }

    // The program's constraints.

    fn assign_value(&mut self, e: ExprId, to: Class) {
        for term in self.terms.terms(e).to_vec() {
            match term.base {
                Base::Var(v) => self.assign(to, v.0),
                base => {
                    let object = self.object(base);
                    self.point(to, object);
                }
            }
        }
    }
    fn object(&self, base: Base) -> Class {
        match base {
            Base::Global(g) => self.objects[self.memory.global(g).index()],
            Base::Func(f) => self.objects[self.memory.func(f).index()],
            Base::Var(_) => unreachable!("a variable has no address"),
        }
    }
    /// The classes that an address expression points to.
    fn targets(&mut self, address: ExprId) -> Vec<Class> {
        let terms = self.terms.terms(address).to_vec();
        terms
            .into_iter()
            .map(|term| match term.base {
                Base::Var(v) => self.pointee(v.0),
                base => self.object(base),
            })
            .collect()
    }

    fn globals(&mut self) {
        let program = self.program;
        for (g, global) in program.globals.iter() {
            let class = self.objects[g.index()];
            for &(_, value) in global.init.iter().flat_map(|init| &init.pointers) {
                self.assign_value(value, class);
            }
        }
        for (v, var) in program.vars.iter() {
            if let VarKind::Global { init: Some(init), .. } = var.kind {
                self.assign_value(init, v.0);
            }
        }
        self.process_pending();
    }

    fn reach(&mut self, f: FuncId) {
        if !std::mem::replace(&mut self.reached[f.index()], true) {
            self.to_reach.push(f);
        }
    }

    fn operation(&mut self, id: EdgeId) {
        let program = self.program;
        match &program.edges[id].op {
            Op::Assign { var, value } => self.assign_value(*value, var.0),
            Op::Load { var, addr } => {
                for target in self.targets(*addr) {
                    self.assign(var.0, target);
                }
            }
            Op::Store { value, .. } if self.terms.terms(*value).is_empty() => {}
            Op::Store { addr, value } => {
                for target in self.targets(*addr) {
                    self.assign_value(*value, target);
                }
            }
            Op::Alloc { var, .. } => {
                let object = self.memory.allocate(program, id);
                self.classes_of_objects();
                let class = self.objects[object.index()];
                self.point(var.0, class);
                if self.unknown {
                    let unknown = self.objects[self.memory.unknown.index()];
                    self.join(class, unknown);
                }
            }
            Op::Havoc { var, input } if may_be_address(&program.inputs[*input]) => {
                let unknown = self.unknown();
                self.point(var.0, unknown);
            }
            Op::Copy { dst, src, .. } => {
                let (to, from) = (self.targets(*dst), self.targets(*src));
                for &t in &to {
                    from.iter().for_each(|&f| self.assign(t, f));
                }
            }
            Op::Call { callee: Callee::Direct(f), .. } => self.call(id, *f),
            Op::Call { callee: Callee::Indirect(e), .. } => {
                for target in self.targets(*e) {
                    let target = self.find(target) as usize;
                    self.nodes[target].calls.push(id);
                    self.calls.extend(self.nodes[target].funcs.iter().map(|&f| (id, f)));
                }
            }
            Op::Return { value: Some(value) } => {
                let to = self.result(program.func_of(id));
                self.assign_value(*value, to);
            }
            _ => {}
        }
    }

    fn call(&mut self, id: EdgeId, f: FuncId) {
        let program = self.program;
        let Op::Call { args, varargs, result, .. } = &program.edges[id].op else { unreachable!("a call edge") };
        let function = &program.funcs[f];
        for (&arg, &param) in args.iter().zip(&function.params) {
            self.assign_value(arg, param.0);
        }
        if let (Some(block), Some(var)) = (varargs, function.varargs) {
            self.assign_value(*block, var.0);
        }
        if let Some(result) = result {
            self.assign(result.0, self.result(f));
        }
        if function.origin == FunctionOrigin::Undefined && self.undefined != Undefined::default() {
            let external = self.external();
            for &arg in args.iter().chain(varargs) {
                self.assign_value(arg, external);
            }
        }
        self.reach(f);
    }

    /// The class of everything that the environment may point to: all objects.
    fn unknown(&mut self) -> Class {
        let unknown = self.objects[self.memory.unknown.index()];
        if !std::mem::replace(&mut self.unknown, true) {
            self.point(unknown, unknown);
            for i in 0..self.objects.len() {
                self.join(self.objects[i], unknown);
            }
        }
        unknown
    }
    /// The class of everything that undefined functions have. It points to itself, because memory may hold anything
    /// they have.
    fn external(&mut self) -> Class {
        if let Some(known) = self.external {
            return known;
        }
        let external = self.fresh();
        self.external = Some(external);
        self.point(external, external);
        if self.undefined.reads == Extent::Everything || self.undefined.writes == Extent::Everything {
            let unknown = self.unknown();
            self.join(external, unknown);
        }
        let (program, undefined) = (self.program, self.undefined);
        for (g, _) in program.globals.iter().filter(|(_, g)| undefined.knows(g)) {
            self.join(external, self.objects[g.index()]);
        }
        for (var, _) in program.vars.iter().filter(|(_, var)| undefined.knows_var(var)) {
            self.assign(var.0, external);
        }
        self.nodes[external as usize].called_back = true;
        external
    }
    fn call_back(&mut self, f: FuncId) {
        let external = self.external();
        for &param in &self.program.funcs[f].params {
            self.point(param.0, external);
        }
        self.assign(external, self.result(f));
        self.reach(f);
    }

    fn solution(mut self) -> Solution<'p> {
        let mut members: FxHashMap<Class, SparseSet> = FxHashMap::default();
        for i in 0..self.objects.len() {
            let class = self.find(self.objects[i]);
            let object = ObjectId::from_index(i);
            let is_func = matches!(self.memory.objects[object].kind, ObjectKind::Func(_));
            let location = self.memory.location(object, if is_func { Shift::ZERO } else { Shift::ANY });
            members.entry(class).or_default().insert(location.0);
        }
        let mut distinct = vec![Rc::new(SparseSet::new())];
        let mut of_class: FxHashMap<Class, u32> = FxHashMap::default();
        let mut set_of = |this: &mut Self, class: Class| -> u32 {
            let class = this.find(class);
            let Some(points) = this.nodes[class as usize].points else { return 0 };
            let points = this.find(points);
            *of_class.entry(points).or_insert_with(|| match members.get(&points) {
                None => 0,
                Some(set) => {
                    distinct.push(Rc::new(set.clone()));
                    distinct.len() as u32 - 1
                }
            })
        };
        let vars = self.program.vars.len() as u32;
        // Distances lead to the objects of the pointers that they were computed from.
        let sets =
            (0..vars).map(|v| set_of(&mut self, v)).map(|set| VarSets { points_to: set, leads_to: set }).collect();
        let external = self.external.map_or(0, |e| set_of(&mut self, e));
        Solution {
            sets,
            distinct,
            external,
            address_taken: address_taken(self.program),
            waves: 0,
            nodes: self.nodes.len(),
            memory: self.memory,
            terms: self.terms,
            reached: self.reached,
        }
    }
}
