//! Control dependence in a graph: which branches decide whether a node is executed.
//!
//! Nodes without successors end the program. There are three notions:
//!
//! - *Standard* (Ferrante, Ottenstein, Warren 1987) assumes that loops terminate.
//! - *Non-termination sensitive* (NTSCD; Ranganath, Amtoft, Banerjee, Hatcliff, Dwyer: *A new foundation for control
//!   dependence and slicing for modern program structures*, TOPLAS 2007): the nodes after a loop depend on the branches
//!   that leave the loop.
//! - *Decisive order dependence* (DOD, same paper): the branch decides which of two nodes comes first, where both are
//!   executed infinitely often. Only an irreducible endless loop has such branches.
//!
//! The algorithms for the last two are those of Chalupa, Klaška, Strejček, Tomovič: *Fast computation of strong control
//! dependencies*, CAV 2021. Earlier published algorithms are wrong or take cubic time.

use cfa::dominators::Dominators;
use cfa::graph::{Digraph, Lists, NONE};
use cfa::loops::LoopForest;

/// The notion of control dependence of a slice.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Control {
    /// Standard control dependence: assumes that loops terminate.
    #[default]
    Standard,
    /// NTSCD: the operations after a loop depend on its termination.
    NonTermination,
    /// NTSCD and DOD: preserves also the order of operations that are executed infinitely often. The slice then behaves
    /// like the original even in an irreducible endless loop.
    DecisiveOrder,
}

/// For each node, the branches that it depends on, ascending. Node 0 is the entry and reaches all other nodes. `end` is
/// the exit, without successors. `ends` marks the nodes from which an edge other than a criterion ends the program.
pub fn controls(kind: Control, graph: &Digraph, end: u32, ends: &[bool]) -> Lists<u32> {
    let mut found = match kind {
        Control::Standard => standard(graph, end, ends),
        Control::NonTermination | Control::DecisiveOrder => nontermination_sensitive(graph),
    };
    if kind == Control::DecisiveOrder {
        found.extend(decisive_order(graph));
    }
    found.sort_unstable();
    found.dedup();
    Lists::of_pairs(graph.len(), &found)
}

/// Pairs (node, branch) such that the node post-dominates a successor of the branch but not the branch itself. These
/// are the nodes from each successor up to the branch's immediate post-dominator.
///
/// Every node needs a post-dominator, so an endless loop gets an edge from each of its entries to `end`. If a loop has
/// several entries, the branch that chooses between them controls the whole loop. Loops that only a criterion leaves
/// get such edges as well. Otherwise a criterion in an endless loop, the usual form of a reactive program, would count
/// as inevitable.
fn standard(graph: &Digraph, end: u32, ends: &[bool]) -> Vec<(u32, u32)> {
    let endless = endless_loops(graph, ends).into_iter().map(|n| (n, end));
    let graph = Digraph::new(graph.len(), &graph.edges().chain(endless).collect::<Vec<_>>());
    let post = Dominators::new(&graph.reversed(), end);
    let mut found = Vec::new();
    for b in 0..graph.len() as u32 {
        let successors = graph.successors(b);
        if successors.len() < 2 {
            continue;
        }
        for &s in successors {
            let mut runner = s;
            while Some(runner) != post.idom(b) {
                found.push((runner, b));
                let Some(next) = post.idom(runner) else { break };
                runner = next;
            }
        }
    }
    found
}

/// The entries of the loops from which none of `ends` is reachable.
fn endless_loops(graph: &Digraph, ends: &[bool]) -> Vec<u32> {
    let mut leaves = ends.to_vec();
    let mut work: Vec<u32> = (0..graph.len() as u32).filter(|&n| leaves[n as usize]).collect();
    while let Some(n) = work.pop() {
        for &p in graph.predecessors(n) {
            if !std::mem::replace(&mut leaves[p as usize], true) {
                work.push(p);
            }
        }
    }
    if leaves.iter().all(|l| *l) {
        return Vec::new();
    }
    let components = graph.components();
    let same = |a: u32, b: u32| components.component(a) == components.component(b);
    let on_cycle = |n: u32| graph.successors(n).iter().any(|&to| same(n, to));
    let entered = |n: u32| n == 0 || graph.predecessors(n).iter().any(|&p| !same(p, n));
    (0..graph.len() as u32).filter(|&n| !leaves[n as usize] && on_cycle(n) && entered(n)).collect()
}

/// Finds the nodes from which a node is inevitable: it lies on every maximal path, including infinite paths.
struct Inevitable<'a> {
    graph: &'a Digraph,
    /// The number of successors of a node that are not found yet. Valid if `round` equals `present`.
    left: Vec<u32>,
    round: Vec<u32>,
    /// The nodes found in this search. `is_found` has, for each node, the last search that found it.
    found: Vec<u32>,
    is_found: Vec<u32>,
    present: u32,
}

impl<'a> Inevitable<'a> {
    fn new(graph: &'a Digraph) -> Self {
        let n = graph.len();
        Self { graph, left: vec![0; n], round: vec![0; n], found: Vec::new(), is_found: vec![0; n], present: 0 }
    }
    fn is_found(&self, node: u32) -> bool {
        self.is_found[node as usize] == self.present
    }
    /// Computes `found`, the nodes from which `node` is inevitable; `node` comes first. Calls `visit` at least once for
    /// each node with a successor in `found`.
    fn search(&mut self, node: u32, mut visit: impl FnMut(u32)) {
        self.present += 1;
        self.found.clear();
        self.found.push(node);
        self.is_found[node as usize] = self.present;
        let mut next = 0;
        while let Some(&n) = self.found.get(next) {
            next += 1;
            for &p in self.graph.predecessors(n) {
                let i = p as usize;
                if self.round[i] != self.present {
                    self.round[i] = self.present;
                    self.left[i] = self.graph.successors(p).len() as u32;
                    visit(p);
                }
                self.left[i] -= 1;
                if self.left[i] == 0 && self.is_found[i] != self.present {
                    self.is_found[i] = self.present;
                    self.found.push(p);
                }
            }
        }
    }
}

/// Pairs (node, branch) such that the node is inevitable from one successor of the branch and not from another. Each
/// search takes linear time, so the worst case is quadratic. A search visits only nodes near those from which the node
/// is inevitable.
fn nontermination_sensitive(graph: &Digraph) -> Vec<(u32, u32)> {
    let mut search = Inevitable::new(graph);
    let mut pairs = Vec::new();
    let mut touched = Vec::new();
    for n in 0..graph.len() as u32 {
        touched.clear();
        search.search(n, |p| touched.push(p));
        pairs.extend(touched.iter().filter(|&&p| !search.is_found(p)).map(|&p| (n, p)));
    }
    pairs
}

/// Pairs (node, branch) such that the branch decides whether the node comes before some other node, where both are
/// executed infinitely often.
///
/// In the paper a dependence relates two nodes to a branch. Here each of the two depends on the branch separately.
///
/// Two such nodes lie on a cycle that no path leaves. All paths from the branch enter this cycle, and the nodes that
/// are inevitable from the branch have a fixed order on it. So only the points at which the two successors enter the
/// cycle matter (theorem 4 of the paper).
fn decisive_order(graph: &Digraph) -> Vec<(u32, u32)> {
    let n = graph.len() as u32;
    let forest = LoopForest::new(graph, 0);
    if !forest.loops().iter().any(|l| l.irreducible) {
        return Vec::new();
    }
    let components = graph.components();
    let component = |n: u32| components.component(n);
    let mut left = vec![false; components.len()];
    for (a, _) in graph.edges().filter(|&(a, b)| component(a) != component(b)) {
        left[component(a) as usize] = true;
    }
    // For each branch, the inevitable nodes that lie on endless cycles.
    let mut search = Inevitable::new(graph);
    let mut inevitable: Vec<(u32, u32)> = Vec::new();
    for node in (0..n).filter(|&n| !left[component(n) as usize] && components.members(component(n)).len() > 1) {
        search.search(node, |_| ());
        inevitable.extend(search.found[1..].iter().filter(|&&p| graph.successors(p).len() > 1).map(|&p| (p, node)));
    }
    let inevitable = Lists::of_pairs(graph.len(), &inevitable);
    let mut order = Order { graph, inside: vec![NONE; graph.len()], seen: vec![NONE; graph.len()], round: 0 };
    let mut pairs = Vec::new();
    for p in 0..n {
        if let ([a, b], nodes @ [_, _, ..]) = (graph.successors(p), inevitable.get(p)) {
            pairs.extend(order.decided(p, [*a, *b], nodes).into_iter().map(|n| (n, p)));
        }
    }
    pairs
}

/// The computation of decisive order dependences.
struct Order<'a> {
    graph: &'a Digraph,
    /// For each node, the last branch from which the node was marked as inevitable.
    inside: Vec<u32>,
    seen: Vec<u32>,
    round: u32,
}

impl Order<'_> {
    /// The nodes whose order the two successors of the branch `p` decide. All `nodes` are inevitable from `p`.
    fn decided(&mut self, p: u32, sides: [u32; 2], nodes: &[u32]) -> Vec<u32> {
        for &n in nodes {
            self.inside[n as usize] = p;
        }
        let [first, second] = sides.map(|s| self.first_met(p, &[s]));
        // The nodes in the order of their cycle.
        let mut cycle = vec![first[0]];
        loop {
            let successors = self.graph.successors(*cycle.last().expect("not empty"));
            match self.first_met(p, successors)[..] {
                [next] if next == cycle[0] => break,
                [next] if cycle.len() < nodes.len() => cycle.push(next),
                _ => return Vec::new(),
            }
        }
        // The points at which the two sides enter the cycle. The branch decides an order only if the sides enter in
        // disjoint arcs.
        let len = cycle.len();
        let side = |n: &u32| (u8::from(first.contains(n))) | (u8::from(second.contains(n)) << 1);
        let entries: Vec<(usize, u8)> =
            cycle.iter().enumerate().map(|(i, n)| (i, side(n))).filter(|(_, s)| *s != 0).collect();
        let changes: Vec<usize> =
            (0..entries.len()).filter(|&k| entries[k].1 != entries[(k + 1) % entries.len()].1).collect();
        if changes.len() != 2 || entries.iter().any(|e| e.1 == 3) || cycle.len() != nodes.len() {
            return Vec::new();
        }
        // For each side, the nodes from the other side's last entry up to, but without, the first entry of this side.
        // The loop visits both arcs.
        let mut decided = Vec::new();
        for k in changes {
            let (from, to) = (entries[k].0, entries[(k + 1) % entries.len()].0);
            let mut i = from;
            while i != to {
                decided.push(cycle[i]);
                i = (i + 1) % len;
            }
        }
        decided
    }
    /// The first inevitable nodes on the paths from `starts`.
    fn first_met(&mut self, p: u32, starts: &[u32]) -> Vec<u32> {
        self.round += 1;
        let mut met = Vec::new();
        let mut stack = starts.to_vec();
        while let Some(n) = stack.pop() {
            if std::mem::replace(&mut self.seen[n as usize], self.round) == self.round {
                continue;
            }
            if self.inside[n as usize] == p {
                met.push(n);
            } else {
                stack.extend(self.graph.successors(n));
            }
        }
        met
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a random graph. Node 0 reaches all nodes, each node has at most two successors, and the last node is the
    /// end.
    fn random_graph(seed: &mut u64, nodes: u32) -> Digraph {
        let mut random = |bound: u32| {
            *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (*seed >> 33) as u32 % bound
        };
        // Few graphs have ends, so that many have endless loops.
        let ending = random(3) == 0;
        let mut edges = Vec::new();
        for n in 0..nodes - 1 {
            let targets = if ending { nodes } else { nodes - 1 };
            for _ in 0..1 + random(2) {
                edges.push((n, random(targets)));
            }
            if ending && n == nodes - 2 {
                edges.push((n, nodes - 1));
            }
        }
        let reached = Digraph::new(nodes as usize, &edges).reachable([0]);
        edges.retain(|(a, _)| reached[*a as usize]);
        Digraph::new(nodes as usize, &edges)
    }

    fn reachable(graph: &Digraph, from: u32, without: u32) -> Vec<u32> {
        let mut seen = vec![false; graph.len()];
        let mut stack = vec![from];
        while let Some(n) = stack.pop() {
            if n != without && !std::mem::replace(&mut seen[n as usize], true) {
                stack.extend(graph.successors(n));
            }
        }
        (0..graph.len() as u32).filter(|&n| seen[n as usize]).collect()
    }
    /// True if all maximal paths from `from` contain `node`: no path ends without it or cycles forever without it.
    fn is_inevitable(graph: &Digraph, from: u32, node: u32) -> bool {
        reachable(graph, from, node).iter().all(|&n| {
            !graph.successors(n).is_empty()
                && graph.successors(n).iter().all(|&next| next == node || !reachable(graph, next, node).contains(&n))
        })
    }
    fn pairs(rows: &Lists<u32>) -> Vec<(u32, u32)> {
        (0..rows.len() as u32).flat_map(|n| rows.get(n).iter().map(move |&p| (n, p))).collect()
    }

    /// NTSCD by its definition over maximal paths.
    fn ntscd(graph: &Digraph) -> Vec<(u32, u32)> {
        let nodes = graph.len() as u32;
        let all = (0..nodes).flat_map(|n| (0..nodes).map(move |p| (n, p)));
        all.filter(|&(n, p)| {
            let inevitable = |s: &&u32| is_inevitable(graph, **s, n);
            let count = graph.successors(p).iter().filter(inevitable).count();
            n != p && 0 < count && count < graph.successors(p).len()
        })
        .collect()
    }

    /// DOD by its definition: all maximal paths from `p` contain `a` and `b`. From one successor `a` comes before `b`,
    /// from another successor `b` comes before `a`.
    fn dod(graph: &Digraph) -> Vec<(u32, u32)> {
        let nodes = graph.len() as u32;
        let before = |s: u32, a: u32, b: u32| is_inevitable(graph, s, a) && !reachable(graph, s, a).contains(&b);
        let mut found = Vec::new();
        for p in 0..nodes {
            for a in (0..nodes).filter(|&a| a != p && is_inevitable(graph, p, a)) {
                for b in (0..nodes).filter(|&b| b != p && b != a && is_inevitable(graph, p, b)) {
                    let first = graph.successors(p).iter().any(|&s| before(s, a, b));
                    let second = graph.successors(p).iter().any(|&s| before(s, b, a));
                    if first && second {
                        found.extend([(a, p), (b, p)]);
                    }
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    #[test]
    fn nontermination_sensitive_dependences_are_what_they_are() {
        let mut seed = 11;
        for round in 0..1500u32 {
            let graph = random_graph(&mut seed, 3 + round % 9);
            let found = controls(Control::NonTermination, &graph, graph.len() as u32 - 1, &[]);
            assert_eq!(pairs(&found), ntscd(&graph), "{graph:?}");
        }
    }

    #[test]
    fn decisive_order_dependences_are_what_they_are() {
        let mut seed = 5;
        let mut nonempty = 0;
        for round in 0..4000u32 {
            let graph = random_graph(&mut seed, 3 + round % 7);
            let mut found = decisive_order(&graph);
            found.sort_unstable();
            let expected = dod(&graph);
            nonempty += usize::from(!expected.is_empty());
            assert_eq!(found, expected, "{graph:?}");
        }
        assert!(nonempty > 20, "{nonempty}");
    }

    /// The property that slicing needs. Let a set be closed under the dependences. From a node outside, paths meet at
    /// most one node of the set first. With the sensitive kinds, every path meets that node if some path does.
    #[test]
    fn closed_sets_are_control_closed() {
        let mut seed = 77;
        for round in 0..3000u32 {
            let graph = random_graph(&mut seed, 3 + round % 9);
            let nodes = graph.len() as u32;
            // In some graphs, only a criterion ends some nodes' paths.
            let ends: Vec<bool> = (0..nodes).map(|n| n == nodes - 1 && round % 3 != 0).collect();
            for kind in [Control::Standard, Control::DecisiveOrder] {
                let on = controls(kind, &graph, nodes - 1, &ends);
                let mut inside = vec![false; graph.len()];
                let mut work = vec![(seed >> 40) as u32 % nodes, (seed >> 50) as u32 % nodes];
                while let Some(n) = work.pop() {
                    if !std::mem::replace(&mut inside[n as usize], true) {
                        work.extend(on.get(n));
                    }
                }
                for n in (0..nodes).filter(|&n| !inside[n as usize] && graph.successors(n).len() > 1) {
                    let mut met = Vec::new();
                    let mut seen = vec![false; graph.len()];
                    let mut stack = vec![n];
                    while let Some(n) = stack.pop() {
                        if inside[n as usize] {
                            met.push(n);
                        } else if !std::mem::replace(&mut seen[n as usize], true) {
                            stack.extend(graph.successors(n));
                        }
                    }
                    met.sort_unstable();
                    met.dedup();
                    assert!(met.len() <= 1, "{kind:?} {n} {met:?} {inside:?} {graph:?}");
                    if let (Control::DecisiveOrder, [v]) = (kind, &met[..]) {
                        assert!(is_inevitable(&graph, n, *v), "{n} {v} {inside:?} {graph:?}");
                    }
                }
            }
        }
    }
}
