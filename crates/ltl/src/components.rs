//! Strongly connected components (Tarjan 1972), without recursion.
//!
//! In: a graph as successor lists. Out: the component of each node; components are numbered in the order in which they are left, so
//! that an edge never leads to a larger number.

/// Which nodes can reach each other.
#[derive(Clone, Debug)]
pub struct Components {
    /// The component of each node; edges never lead to a larger one.
    pub of: Vec<usize>,
    /// How many there are.
    pub count: usize,
}

/// A node on Tarjan's path.
struct Frame {
    node: usize,
    /// The next successor to visit.
    at: usize,
}

impl Components {
    /// The components of the nodes `0..n`, with `successor(node, k)` the k-th successor of a node.
    pub fn new(n: usize, successor: impl Fn(usize, usize) -> Option<usize>) -> Self {
        const NEW: usize = usize::MAX;
        let mut search = Tarjan { order: vec![NEW; n], low: vec![0; n], of: vec![NEW; n], stack: Vec::new(), count: 0 };
        let mut next_order = 0;
        for root in 0..n {
            if search.order[root] != NEW {
                continue;
            }
            let mut path = vec![Frame { node: root, at: 0 }];
            while let Some(frame) = path.last_mut() {
                let node = frame.node;
                if frame.at == 0 && search.order[node] == NEW {
                    search.order[node] = next_order;
                    search.low[node] = next_order;
                    next_order += 1;
                    search.stack.push(node);
                }
                match successor(node, frame.at) {
                    Some(target) => {
                        frame.at += 1;
                        if search.order[target] == NEW {
                            path.push(Frame { node: target, at: 0 });
                        } else if search.of[target] == NEW {
                            search.low[node] = search.low[node].min(search.order[target]);
                        }
                    }
                    None => {
                        path.pop();
                        search.leave(node);
                        if let Some(parent) = path.last() {
                            search.low[parent.node] = search.low[parent.node].min(search.low[node]);
                        }
                    }
                }
            }
        }
        Components { of: search.of, count: search.count }
    }
}

struct Tarjan {
    /// When each node was visited.
    order: Vec<usize>,
    /// The earliest node on the stack that each node is known to reach.
    low: Vec<usize>,
    /// The component, for nodes that are done.
    of: Vec<usize>,
    /// Nodes that are visited and not done.
    stack: Vec<usize>,
    count: usize,
}

impl Tarjan {
    fn leave(&mut self, node: usize) {
        if self.low[node] != self.order[node] {
            return;
        }
        while let Some(member) = self.stack.pop() {
            self.of[member] = self.count;
            if member == node {
                break;
            }
        }
        self.count += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_come_after_what_they_reach() {
        let edges = [vec![1], vec![2], vec![1, 3], vec![], vec![0, 4]];
        let components = Components::new(5, |node, k| edges[node].get(k).copied());
        assert_eq!(components.of, [2, 1, 1, 0, 3]);
        assert_eq!(components.count, 4);
    }
}
