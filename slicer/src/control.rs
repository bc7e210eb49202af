//! Control dependence in a graph: what decides whether a node is executed.
//!
//! Nodes without successors end the program. Three notions:
//!
//! - *Standard* (Ferrante, Ottenstein, Warren 1987): loops are taken to end.
//! - *Non-termination sensitive* (NTSCD; Ranganath, Amtoft, Banerjee, Hatcliff, Dwyer: *A new foundation for
//!   control dependence and slicing for modern program structures*, TOPLAS 2007): what comes after a loop depends on
//!   the decisions to leave the loop.
//! - *Decisive order dependence* (DOD, same paper): which of two nodes that are executed again and again for
//!   ever comes first. It takes an irreducible loop without end.
//!
//! The algorithms for the last two are those of Chalupa, Klaška, Strejček, Tomovič: *Fast computation of strong
//! control dependencies*, CAV 2021; the published ones before are wrong or cubic.

use cfa::dominators::Dominators;
use cfa::graph::{Digraph, Lists, NONE};
use cfa::loops::LoopForest;

/// Which decisions a node depends on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Control {
    /// Loops are taken to end.
    #[default]
    Standard,
    /// Whether loops end matters to what comes after them (NTSCD).
    NonTermination,
    /// Also the order of what is executed for ever (NTSCD and DOD): with it, the slice does what the original
    /// does even where an irreducible loop never ends.
    DecisiveOrder,
}

/// For each node the branches it depends on, ascending. Node 0 is where execution starts, and reaches all others;
/// `end` is where the program ends, without successors. `ends` are the nodes from which it gets there otherwise than
/// by a criterion.
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

/// (node, branch): the node post-dominates one of the successors of the branch but not the branch itself: the nodes
/// from each successor up to the branch's immediate post-dominator.
///
/// So that every node has a post-dominator, a loop that nothing leaves is joined to the end where it is entered. Where
/// that is at several nodes, what decides between them decides about all of the loop. Loops that only a criterion ends
/// are joined to the end as well: otherwise a criterion in an endless loop, the usual form of a reactive program, would
/// be taken to be inevitable.
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

/// The nodes at which loops are entered from which none of `ends` can be reached.
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
    let same = |a: u32, b: u32| components.of(a) == components.of(b);
    let on_cycle = |n: u32| graph.successors(n).iter().any(|&to| same(n, to));
    let entered = |n: u32| n == 0 || graph.predecessors(n).iter().any(|&p| !same(p, n));
    (0..graph.len() as u32).filter(|&n| !leaves[n as usize] && on_cycle(n) && entered(n)).collect()
}

/// Finds from where a node is inevitable: on every path that cannot be continued, endless ones included.
struct Inevitable<'a> {
    graph: &'a Digraph,
    /// How many successors of a node have not been found yet; valid if `round` is the present one.
    left: Vec<u32>,
    round: Vec<u32>,
    /// The nodes found, and whether a node is.
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
    /// Afterwards `found` are the nodes from which `node` is inevitable, itself first. `visit` gets those with a
    /// successor that is found, each at least once.
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

/// (node, branch): from one successor of the branch the node is inevitable, from another it is not. Linear for
/// each node, so quadratic at worst, but a search goes no further than the node is inevitable.
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

/// (node, branch): the branch decides whether the node comes before some other, both of which come for ever.
///
/// The dependence is one of two nodes on a branch and takes both; here each alone is said to depend on it.
///
/// Two such nodes lie on a cycle that nothing leaves. From the branch all paths lead into it, and the nodes inevitable
/// from there follow each other in a fixed order, so it only matters where the two sides enter (theorem 4 of
/// the paper).
fn decisive_order(graph: &Digraph) -> Vec<(u32, u32)> {
    let n = graph.len() as u32;
    let forest = LoopForest::new(graph, 0);
    if !forest.loops().iter().any(|l| l.irreducible) {
        return Vec::new();
    }
    let components = graph.components();
    let component = |n: u32| components.of(n);
    let mut left = vec![false; components.len()];
    for (a, _) in graph.edges().filter(|&(a, b)| component(a) != component(b)) {
        left[component(a) as usize] = true;
    }
    // For each branch the nodes on endless cycles that are inevitable from it.
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

struct Order<'a> {
    graph: &'a Digraph,
    /// The branch for which a node is among the inevitable ones.
    inside: Vec<u32>,
    seen: Vec<u32>,
    round: u32,
}

impl Order<'_> {
    /// The nodes, inevitable from the branch `p`, whose order its two sides decide.
    fn decided(&mut self, p: u32, sides: [u32; 2], nodes: &[u32]) -> Vec<u32> {
        for &n in nodes {
            self.inside[n as usize] = p;
        }
        let [first, second] = sides.map(|s| self.first_met(p, &[s]));
        // The nodes in the order of the cycle they are on.
        let mut cycle = vec![first[0]];
        loop {
            let successors = self.graph.successors(*cycle.last().expect("not empty"));
            match self.first_met(p, successors)[..] {
                [next] if next == cycle[0] => break,
                [next] if cycle.len() < nodes.len() => cycle.push(next),
                _ => return Vec::new(),
            }
        }
        // Where each side enters it: there is an order to decide only if the sides enter in separate arcs.
        let len = cycle.len();
        let side = |n: &u32| (u8::from(first.contains(n))) | (u8::from(second.contains(n)) << 1);
        let entries: Vec<(usize, u8)> =
            cycle.iter().enumerate().map(|(i, n)| (i, side(n))).filter(|(_, s)| *s != 0).collect();
        let changes: Vec<usize> =
            (0..entries.len()).filter(|&k| entries[k].1 != entries[(k + 1) % entries.len()].1).collect();
        if changes.len() != 2 || entries.iter().any(|e| e.1 == 3) || cycle.len() != nodes.len() {
            return Vec::new();
        }
        // From the last entry of one side to just before the first of the other, both ways: all from the first change
        // to before the entry after it, and so on.
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
    /// The first inevitable nodes on the ways from `starts`.
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

    /// A graph whose nodes have at most two successors and are reached from node 0; the last is the end.
    fn random_graph(seed: &mut u64, nodes: u32) -> Digraph {
        let mut random = |bound: u32| {
            *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (*seed >> 33) as u32 % bound
        };
        // Few ends, so that there are endless loops.
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
    /// Whether all maximal paths from `from` contain `node`: none ends without it, and none goes round for ever.
    fn is_inevitable(graph: &Digraph, from: u32, node: u32) -> bool {
        reachable(graph, from, node).iter().all(|&n| {
            !graph.successors(n).is_empty()
                && graph.successors(n).iter().all(|&next| next == node || !reachable(graph, next, node).contains(&n))
        })
    }
    fn pairs(rows: &Lists<u32>) -> Vec<(u32, u32)> {
        (0..rows.len() as u32).flat_map(|n| rows.get(n).iter().map(move |&p| (n, p))).collect()
    }

    /// By the definition over maximal paths.
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

    /// By the definition: all maximal paths from `p` contain `a` and `b`, those from one successor `a` before `b`, those
    /// from another `b` before `a`.
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

    /// What slicing needs: of a set closed under the dependences, from a node outside at most one is met first, and
    /// with the sensitive kinds, it is met on every path if on any.
    #[test]
    fn closed_sets_are_control_closed() {
        let mut seed = 77;
        for round in 0..3000u32 {
            let graph = random_graph(&mut seed, 3 + round % 9);
            let nodes = graph.len() as u32;
            // Some nodes are left only by a criterion.
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
