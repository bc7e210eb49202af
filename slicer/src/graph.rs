//! Graph algorithms: strongly connected components and dominator trees. Iterative and linear, or nearly so.

/// The strongly connected components of a graph, in reverse topological order: a component comes after
/// every component that it reaches.
pub struct Components {
    /// The number of each node's component.
    pub component: Vec<u32>,
    starts: Vec<u32>,
    members: Vec<u32>,
}

impl Components {
    /// Tarjan's algorithm. `successor(n, k)` is the `k`-th successor of `n`.
    pub fn of(count: usize, successor: impl Fn(u32, usize) -> Option<u32>) -> Self {
        const NONE: u32 = u32::MAX;
        let mut index = vec![NONE; count];
        let mut low = vec![0u32; count];
        let mut component = vec![NONE; count];
        let mut starts = vec![0];
        let mut members = Vec::with_capacity(count);
        let mut next = 0;
        let mut open: Vec<u32> = Vec::new();
        let mut calls: Vec<(u32, usize)> = Vec::new();
        for root in 0..count as u32 {
            if index[root as usize] != NONE {
                continue;
            }
            calls.push((root, 0));
            while let Some(&mut (n, ref mut k)) = calls.last_mut() {
                let i = n as usize;
                if *k == 0 {
                    index[i] = next;
                    low[i] = next;
                    next += 1;
                    open.push(n);
                }
                if let Some(s) = successor(n, *k) {
                    *k += 1;
                    if index[s as usize] == NONE {
                        calls.push((s, 0));
                    } else if component[s as usize] == NONE {
                        low[i] = low[i].min(index[s as usize]);
                    }
                    continue;
                }
                calls.pop();
                if let Some(&(parent, _)) = calls.last() {
                    low[parent as usize] = low[parent as usize].min(low[i]);
                }
                if low[i] == index[i] {
                    let number = starts.len() as u32 - 1;
                    loop {
                        let member = open.pop().expect("the node itself is open");
                        component[member as usize] = number;
                        members.push(member);
                        if member == n {
                            break;
                        }
                    }
                    starts.push(members.len() as u32);
                }
            }
        }
        Self { component, starts, members }
    }
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }
    pub fn members(&self, component: usize) -> &[u32] {
        &self.members[self.starts[component] as usize..self.starts[component + 1] as usize]
    }
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &[u32]> {
        (0..self.len()).map(|c| self.members(c))
    }
}

/// The edges of a graph, by source: compressed rows.
#[derive(Clone, Default, Debug)]
pub struct Rows {
    starts: Vec<u32>,
    targets: Vec<u32>,
}

impl Rows {
    /// From (source, target) pairs; each row keeps the order of the pairs.
    pub fn new(count: usize, edges: &[(u32, u32)]) -> Self {
        let mut starts = vec![0u32; count + 1];
        for &(from, _) in edges {
            starts[from as usize + 1] += 1;
        }
        for i in 0..count {
            starts[i + 1] += starts[i];
        }
        let mut next = starts.clone();
        let mut targets = vec![0; edges.len()];
        for &(from, to) in edges {
            targets[next[from as usize] as usize] = to;
            next[from as usize] += 1;
        }
        Self { starts, targets }
    }
    /// The graph with every edge turned round.
    pub fn reversed(&self) -> Self {
        let count = self.starts.len() - 1;
        let mut edges = Vec::with_capacity(self.targets.len());
        for n in 0..count {
            edges.extend(self.row(n as u32).iter().map(|&to| (to, n as u32)));
        }
        Self::new(count, &edges)
    }
    pub fn row(&self, n: u32) -> &[u32] {
        &self.targets[self.starts[n as usize] as usize..self.starts[n as usize + 1] as usize]
    }
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }
    pub fn edge_count(&self) -> usize {
        self.targets.len()
    }
}

/// No node: the dominator of the root and of nodes that the root does not reach.
pub const NONE: u32 = u32::MAX;

/// The immediate dominator of every node, and the nodes in reverse postorder.
///
/// Cooper, Harvey, Kennedy: *A simple, fast dominance algorithm*: two or three passes over the edges on the
/// graphs of real functions.
pub fn dominators(root: u32, successors: &Rows, predecessors: &Rows) -> (Vec<u32>, Vec<u32>) {
    let order = reverse_postorder(root, successors);
    let mut position = vec![NONE; successors.len()];
    for (i, &n) in order.iter().enumerate() {
        position[n as usize] = i as u32;
    }
    // By position in the order.
    let mut idom = vec![NONE; order.len()];
    idom[0] = 0;
    let mut changed = true;
    while changed {
        changed = false;
        for i in 1..order.len() {
            let mut new = NONE;
            for &p in predecessors.row(order[i]) {
                let mut p = position[p as usize];
                if p == NONE || idom[p as usize] == NONE {
                    continue;
                }
                if new == NONE {
                    new = p;
                    continue;
                }
                while new != p {
                    while new > p {
                        new = idom[new as usize];
                    }
                    while p > new {
                        p = idom[p as usize];
                    }
                }
            }
            if idom[i] != new {
                idom[i] = new;
                changed = true;
            }
        }
    }
    let mut result = vec![NONE; successors.len()];
    for i in 1..order.len() {
        result[order[i] as usize] = order[idom[i] as usize];
    }
    (result, order)
}

/// The nodes that `root` reaches, in reverse postorder.
pub fn reverse_postorder(root: u32, successors: &Rows) -> Vec<u32> {
    let mut seen = vec![false; successors.len()];
    let mut order = Vec::new();
    let mut stack = vec![(root, 0)];
    seen[root as usize] = true;
    while let Some((n, k)) = stack.last_mut() {
        match successors.row(*n).get(*k) {
            Some(&s) => {
                *k += 1;
                if !std::mem::replace(&mut seen[s as usize], true) {
                    stack.push((s, 0));
                }
            }
            None => {
                order.push(*n);
                stack.pop();
            }
        }
    }
    order.reverse();
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random_graph(seed: &mut u64, nodes: u32, edges: u32) -> Rows {
        let mut random = |bound: u32| {
            *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (*seed >> 33) as u32 % bound
        };
        let edges: Vec<_> = (0..edges).map(|_| (random(nodes), random(nodes))).collect();
        Rows::new(nodes as usize, &edges)
    }

    fn reaches(graph: &Rows, from: u32, without: Option<u32>) -> Vec<bool> {
        let mut seen = vec![false; graph.len()];
        let mut stack = vec![from];
        while let Some(n) = stack.pop() {
            if Some(n) != without && !std::mem::replace(&mut seen[n as usize], true) {
                stack.extend(graph.row(n));
            }
        }
        seen
    }

    /// The set-based definition: `d` dominates `n` if `n` cannot be reached without `d`.
    #[test]
    fn dominators_are_dominators() {
        let mut seed = 3;
        for round in 0..200u32 {
            let nodes = 2 + round % 23;
            let graph = random_graph(&mut seed, nodes, nodes * 2);
            let (idom, order) = dominators(0, &graph, &graph.reversed());
            let reached = reaches(&graph, 0, None);
            assert_eq!(order.len(), reached.iter().filter(|r| **r).count());
            for n in 1..nodes {
                if !reached[n as usize] {
                    assert_eq!(idom[n as usize], NONE);
                    continue;
                }
                let dominators: Vec<u32> = (0..nodes)
                    .filter(|&d| d != n && !reaches(&graph, 0, Some(d))[n as usize] && reached[d as usize])
                    .collect();
                let mut chain = Vec::new();
                let mut at = n;
                while idom[at as usize] != NONE {
                    at = idom[at as usize];
                    chain.push(at);
                }
                chain.sort_unstable();
                assert_eq!(chain, dominators);
            }
        }
    }

    /// Algorithm 3 of the thesis that slicing here follows: all dominators of every node as sets, from all nodes down,
    /// in reverse postorder.
    fn sets_of_dominators(root: u32, successors: &Rows) -> Vec<Option<Vec<u32>>> {
        let order = reverse_postorder(root, successors);
        let mut dominators: Vec<Option<Vec<u32>>> = vec![None; successors.len()];
        dominators[root as usize] = Some(Vec::new());
        let mut changed = true;
        while changed {
            changed = false;
            for &n in &order {
                let Some(mut through) = dominators[n as usize].clone() else { continue };
                through.push(n);
                for &s in successors.row(n) {
                    let new = match &dominators[s as usize] {
                        None => through.clone(),
                        Some(old) => old.iter().copied().filter(|d| through.contains(d)).collect(),
                    };
                    if dominators[s as usize].as_ref() != Some(&new) {
                        dominators[s as usize] = Some(new);
                        changed = true;
                    }
                }
            }
        }
        dominators
    }

    #[test]
    fn dominator_trees_agree_with_sets() {
        let mut seed = 9;
        for round in 0..300u32 {
            let nodes = 2 + round % 40;
            let graph = random_graph(&mut seed, nodes, nodes + nodes / 2);
            let backwards = graph.reversed();
            // From the first node forwards, and, as post-dominators, from the last one backwards.
            for (root, graph, reversed) in [(0, &graph, &backwards), (nodes - 1, &backwards, &graph)] {
                let (idom, _) = dominators(root, graph, reversed);
                for (n, set) in (0..nodes).zip(sets_of_dominators(root, graph)) {
                    let mut chain = Vec::new();
                    let mut at = n;
                    while idom[at as usize] != NONE {
                        at = idom[at as usize];
                        chain.push(at);
                    }
                    chain.sort_unstable();
                    let mut set = set.unwrap_or_default();
                    set.sort_unstable();
                    assert_eq!(chain, set);
                }
            }
        }
    }

    #[test]
    fn components_are_mutually_reachable_and_ordered() {
        let mut seed = 5;
        for round in 0..100u32 {
            let nodes = 1 + round % 20;
            let graph = random_graph(&mut seed, nodes, nodes + nodes / 2);
            let components = Components::of(nodes as usize, |n, k| graph.row(n).get(k).copied());
            let reach: Vec<_> = (0..nodes).map(|n| reaches(&graph, n, None)).collect();
            for a in 0..nodes {
                for b in 0..nodes {
                    let (ca, cb) = (components.component[a as usize], components.component[b as usize]);
                    let mutual = reach[a as usize][b as usize] && reach[b as usize][a as usize];
                    assert_eq!(ca == cb, mutual);
                    if reach[a as usize][b as usize] {
                        assert!(cb <= ca);
                    }
                }
            }
        }
    }
}
