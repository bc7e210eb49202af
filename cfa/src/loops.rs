//! The loop nesting forest of a graph.
//!
//! Havlak, *Nesting of reducible and irreducible loops*, 1997. A loop is a strongly connected region. Its head is the
//! node that a depth-first search from the root found first. The inner loops are the loops of the region without the
//! head. Every cycle contains the head of some loop. A loop with an entry other than its head is irreducible. The head
//! of an irreducible loop depends on the order of the search.

use crate::graph::{Digraph, Lists, NONE};

/// A loop. Loops are numbered by the discovery of their heads, so outer loops precede inner ones.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Loop {
    /// The head.
    pub head: u32,
    /// The loop that immediately contains this one.
    pub parent: Option<u32>,
    /// The nesting depth; 1 for an outermost loop.
    pub depth: u32,
    /// True if control may enter the loop other than at its head.
    pub irreducible: bool,
}

/// The loop nesting forest of a graph.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LoopForest {
    loops: Vec<Loop>,
    /// The innermost loop of each node, or [`NONE`].
    innermost: Vec<u32>,
    /// The nodes of each loop that are in no inner loop.
    own: Lists<u32>,
    children: Lists<u32>,
}

impl LoopForest {
    /// Computes the loops of the nodes that `root` reaches. Almost linear for graphs of structured programs.
    pub fn new(graph: &Digraph, root: u32) -> Self {
        let search = graph.depth_first([root]);
        let vertex = &search.preorder;
        let n = vertex.len();
        // Everything below uses depth-first numbers: the descendants of a node in the search tree are an interval.
        let number = search.numbers(graph.len());
        let mut last: Vec<u32> = (0..n as u32).collect();
        for &v in vertex.iter().rev() {
            let parent = search.parent[v as usize];
            if parent != NONE {
                let (p, v) = (number[parent as usize] as usize, number[v as usize] as usize);
                last[p] = last[p].max(last[v]);
            }
        }
        let is_descendant = |a: u32, of: u32| of <= a && a <= last[of as usize];

        let mut union = UnionFind { parent: (0..n as u32).collect() };
        let mut head_of = vec![NONE; n];
        let mut is_head = vec![false; n];
        let mut irreducible = vec![false; n];
        // Edges into an irreducible loop that bypass its head. They are found with the loop and count for the enclosing
        // loops.
        let mut side_entries: Vec<Vec<u32>> = vec![Vec::new(); n];
        let mut in_body = vec![NONE; n];
        let mut body = Vec::new();
        for head in (0..n as u32).rev() {
            body.clear();
            for p in graph.predecessors(vertex[head as usize]).iter().map(|&p| number[p as usize]) {
                if p == NONE || !is_descendant(p, head) {
                    continue;
                }
                is_head[head as usize] = true;
                let p = union.find(p);
                if p != head && std::mem::replace(&mut in_body[p as usize], head) != head {
                    body.push(p);
                }
            }
            let mut done = 0;
            while let Some(&node) = body.get(done) {
                done += 1;
                let entering = graph.predecessors(vertex[node as usize]).iter().map(|&p| number[p as usize]);
                let mut sources: Vec<u32> = entering.filter(|&p| p != NONE && !is_descendant(p, node)).collect();
                sources.append(&mut side_entries[node as usize]);
                for p in sources {
                    let p = union.find(p);
                    if !is_descendant(p, head) {
                        irreducible[head as usize] = true;
                        side_entries[head as usize].push(p);
                    } else if p != head && std::mem::replace(&mut in_body[p as usize], head) != head {
                        body.push(p);
                    }
                }
            }
            side_entries[head as usize].sort_unstable();
            side_entries[head as usize].dedup();
            for &node in &body {
                head_of[node as usize] = head;
                union.parent[node as usize] = head;
            }
        }

        let mut loops: Vec<Loop> = Vec::new();
        let mut loop_of_head = vec![NONE; n];
        let mut innermost = vec![NONE; graph.len()];
        for v in 0..n {
            let around = if head_of[v] == NONE { NONE } else { loop_of_head[head_of[v] as usize] };
            innermost[vertex[v] as usize] = around;
            if is_head[v] {
                let parent = Some(around).filter(|&l| l != NONE);
                let depth = parent.map_or(0, |l| loops[l as usize].depth) + 1;
                loop_of_head[v] = loops.len() as u32;
                innermost[vertex[v] as usize] = loop_of_head[v];
                loops.push(Loop { head: vertex[v], parent, depth, irreducible: irreducible[v] });
            }
        }
        let own = || innermost.iter().zip(0u32..).filter(|(l, _)| **l != NONE).map(|(&l, node)| (l, node));
        let own = Lists::group(loops.len(), own);
        let children = || loops.iter().zip(0u32..).filter_map(|(l, i)| Some((l.parent?, i)));
        let children = Lists::group(loops.len(), children);
        Self { loops, innermost, own, children }
    }

    /// The loops, outer before inner ones.
    pub fn loops(&self) -> &[Loop] {
        &self.loops
    }
    /// The loop with this number.
    pub fn get(&self, number: u32) -> &Loop {
        &self.loops[number as usize]
    }
    /// The innermost loop that contains a node. A head is in its own loop.
    pub fn innermost(&self, node: u32) -> Option<u32> {
        Some(self.innermost[node as usize]).filter(|&l| l != NONE)
    }
    /// The number of loops that contain a node.
    pub fn depth(&self, node: u32) -> u32 {
        self.innermost(node).map_or(0, |l| self.get(l).depth)
    }
    /// True if the node is the head of a loop.
    pub fn is_head(&self, node: u32) -> bool {
        self.innermost(node).is_some_and(|l| self.get(l).head == node)
    }
    /// The loops immediately inside a loop, ascending.
    pub fn children(&self, number: u32) -> &[u32] {
        self.children.get(number)
    }
    /// True if the loop or one of its inner loops contains the node.
    pub fn contains(&self, number: u32, node: u32) -> bool {
        let mut at = self.innermost(node);
        while let Some(l) = at {
            if l == number {
                return true;
            }
            at = self.get(l).parent;
        }
        false
    }
    /// The nodes of a loop and of its inner loops, ascending.
    pub fn body(&self, number: u32) -> Vec<u32> {
        let mut nodes = Vec::new();
        let mut stack = vec![number];
        while let Some(l) = stack.pop() {
            nodes.extend_from_slice(self.own.get(l));
            stack.extend_from_slice(self.children(l));
        }
        nodes.sort_unstable();
        nodes
    }
    /// The nodes that the root reaches, in a weak topological order (Bourdoncle, *Efficient chaotic iteration
    /// strategies with widenings*, 1993): each node precedes its successors, except along back edges, and the nodes of
    /// a loop are contiguous.
    pub fn order(&self, graph: &Digraph, root: u32) -> Vec<u32> {
        // For each loop, its nodes outside inner loops and the heads of the inner loops, in reverse postorder. The last
        // list has the nodes outside all loops. Control enters a reducible loop at its head, so the whole loop may take
        // the position of its head.
        let outside = self.loops.len() as u32;
        let mut parts = vec![Vec::new(); self.loops.len() + 1];
        for node in graph.reverse_postorder(root) {
            let part = self.innermost(node).unwrap_or(outside);
            parts[part as usize].push(node);
            if self.is_head(node) {
                parts[self.get(part).parent.unwrap_or(outside) as usize].push(node);
            }
        }
        let mut order = Vec::new();
        let mut stack = vec![(outside, 0)];
        while let Some((part, next)) = stack.last_mut() {
            let Some(&node) = parts[*part as usize].get(*next) else {
                stack.pop();
                continue;
            };
            *next += 1;
            match self.innermost(node).unwrap_or(outside) {
                inner if inner != *part => stack.push((inner, 0)),
                _ => order.push(node),
            }
        }
        order
    }
}

/// Disjoint sets of nodes.
struct UnionFind {
    parent: Vec<u32>,
}

impl UnionFind {
    /// The representative. The search halves the path.
    fn find(&mut self, mut node: u32) -> u32 {
        while self.parent[node as usize] != node {
            let above = self.parent[self.parent[node as usize] as usize];
            self.parent[node as usize] = above;
            node = above;
        }
        node
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dominators::Dominators;
    use crate::graph::tests::graphs;
    use proptest::prelude::*;

    /// The definition: strongly connected regions, then those of each region without its head.
    fn by_definition(graph: &Digraph) -> Vec<(u32, Vec<u32>, u32)> {
        let order = graph.depth_first([0]).preorder;
        let mut result = Vec::new();
        let mut work = vec![(order.clone(), 1)];
        while let Some((nodes, depth)) = work.pop() {
            let edges: Vec<_> = graph.edges().filter(|(a, b)| nodes.contains(a) && nodes.contains(b)).collect();
            let part = Digraph::new(graph.len(), &edges);
            let components = part.components();
            for c in 0..components.len() as u32 {
                let members = components.members(c);
                if !components.on_cycle(&part, members[0]) {
                    continue;
                }
                let head = *order.iter().find(|n| members.contains(n)).unwrap();
                result.push((head, members.to_vec(), depth));
                work.push((members.iter().copied().filter(|&n| n != head).collect(), depth + 1));
            }
        }
        result.sort();
        result
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn loops_are_nested_components(graph in graphs(14)) {
            let forest = LoopForest::new(&graph, 0);
            let mut found: Vec<_> =
                (0..forest.loops().len() as u32).map(|l| (forest.get(l).head, forest.body(l), forest.get(l).depth)).collect();
            found.sort();
            prop_assert_eq!(&found, &by_definition(&graph));
            let reachable = graph.reachable([0]);
            let tree = Dominators::new(&graph, 0);
            for (i, l) in forest.loops().iter().enumerate() {
                prop_assert!(forest.is_head(l.head));
                let body = forest.body(i as u32);
                prop_assert!(body.iter().all(|&n| forest.contains(i as u32, n) && forest.depth(n) >= l.depth));
                let side_entry = graph.edges().any(|(a, b)| reachable[a as usize] && b != l.head && body.contains(&b) && !body.contains(&a));
                prop_assert_eq!(l.irreducible, side_entry);
                // In a reducible loop the head dominates the body.
                prop_assert!(l.irreducible || body.iter().all(|&n| tree.dominates(l.head, n)));
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn no_loop_is_interrupted(graph in graphs(14)) {
            let forest = LoopForest::new(&graph, 0);
            let order = forest.order(&graph, 0);
            let reachable = graph.reachable([0]);
            prop_assert_eq!(order.len(), reachable.iter().filter(|r| **r).count());
            let place = |node: u32| order.iter().position(|&n| n == node);
            for (i, l) in (0..).zip(forest.loops()) {
                let mut places: Vec<_> = forest.body(i).into_iter().map(|n| place(n).unwrap()).collect();
                places.sort();
                prop_assert_eq!(places.last().unwrap() - places[0] + 1, places.len());
                prop_assert!(l.irreducible || place(l.head) == Some(places[0]));
            }
            let is_reducible = forest.loops().iter().all(|l| !l.irreducible);
            for (a, b) in graph.edges().filter(|(a, _)| is_reducible && reachable[*a as usize]) {
                let goes_back = (0..).zip(forest.loops()).any(|(i, l)| l.head == b && forest.contains(i, a));
                prop_assert!(goes_back || place(a) < place(b));
            }
        }
    }

    #[test]
    fn nested_and_irreducible() {
        // 0 -> 1 -> 2 -> 3; 3 -> 2, 1; and a loop of 4 and 5 with entries from 3 to both.
        let graph = Digraph::new(6, &[(0, 1), (1, 2), (2, 3), (3, 2), (3, 1), (3, 4), (3, 5), (4, 5), (5, 4)]);
        let forest = LoopForest::new(&graph, 0);
        let heads: Vec<_> = forest.loops().iter().map(|l| (l.head, l.parent, l.depth, l.irreducible)).collect();
        assert_eq!(heads, [(1, None, 1, false), (2, Some(0), 2, false), (4, None, 1, true)]);
        assert_eq!(forest.body(0), [1, 2, 3]);
        assert_eq!((forest.innermost(0), forest.depth(3)), (None, 2));
        // 0 -> 1; then 1 -> 2, which ends, before 3 -> 1.
        let graph = Digraph::new(4, &[(0, 1), (1, 3), (1, 2), (3, 1)]);
        assert_eq!(graph.reverse_postorder(0), [0, 1, 2, 3]);
        assert_eq!(LoopForest::new(&graph, 0).order(&graph, 0), [0, 1, 3, 2]);
    }

    #[test]
    fn deep_nests() {
        let n = 100_000u32;
        // Each node i is the head of a loop closed by node 2n - i - 1.
        let edges: Vec<_> = (1..2 * n).map(|i| (i - 1, i)).chain((0..n).map(|i| (2 * n - i - 1, i))).collect();
        let forest = LoopForest::new(&Digraph::new(2 * n as usize, &edges), 0);
        assert_eq!(forest.loops().len(), n as usize);
        assert_eq!(forest.depth(n), n);
    }
}
