//! Finds the promoted variables that may be read before they are written.
//!
//! A variable is read before a write on some path if and only if it is live at the entry of the function. Liveness is
//! computed for one variable at a time, backwards from its reads. The cost is the size of the live ranges. Almost every
//! variable is written before it is read in the block that declares it.

/// The accesses to one variable, by block.
#[derive(Default, Clone)]
pub(super) struct Accesses {
    /// The blocks whose first access is a read.
    pub read_first: Vec<u32>,
    /// The blocks that write.
    pub writes: Vec<u32>,
}

/// The blocks of a function, and the control flow between them. Block 0 is the entry.
pub(super) struct FlowGraph {
    pub predecessors: Vec<Vec<u32>>,
}

impl FlowGraph {
    /// For each variable, whether it is live at the entry.
    pub fn live_at_entry(&self, variables: &[Accesses]) -> Vec<bool> {
        // Marks of earlier variables are ignored instead of erased.
        let mut written = vec![u32::MAX; self.predecessors.len()];
        let mut reached = vec![u32::MAX; self.predecessors.len()];
        let mut stack = Vec::new();
        let mut live = Vec::with_capacity(variables.len());
        for (n, accesses) in variables.iter().enumerate() {
            let n = n as u32;
            accesses.writes.iter().for_each(|&block| written[block as usize] = n);
            stack.clear();
            for &block in &accesses.read_first {
                reached[block as usize] = n;
                stack.push(block);
            }
            let mut at_entry = false;
            while let Some(block) = stack.pop() {
                at_entry |= block == 0;
                for &before in &self.predecessors[block as usize] {
                    let before_ = before as usize;
                    if reached[before_] != n && written[before_] != n {
                        reached[before_] = n;
                        stack.push(before);
                    }
                }
            }
            live.push(at_entry);
        }
        live
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diamond() {
        // 0 -> 1, 2 -> 3
        let graph = FlowGraph { predecessors: vec![vec![], vec![0], vec![0], vec![1, 2]] };
        let variable = |writes: &[u32]| Accesses { read_first: vec![3], writes: writes.to_vec() };
        let live = graph.live_at_entry(&[variable(&[1, 2]), variable(&[1]), variable(&[0]), variable(&[])]);
        assert_eq!(live, [false, true, false, true]);
    }
}
