//! Refutation in trees: what is in no finite tree is excluded.
//!
//! In: the nodes of a refutation, each a window of a process of a tree with a fair component of its edges. Out: which of them are excluded. In a run of a tree every process has such
//! a node, and those of parent and child go together. So a node of a process with children has a child that goes together with it for each of
//! them, each of which has the same, down to processes without children: the least such set, since trees are finite. And a node of
//! a process with a parent has one that goes together with it, whose other child is in that set, and so on up to the root.

use base::StopReason;

use super::Refuter;
use crate::heap::is_root;
use crate::runs::Side;

/// The nodes beside one: below it, by child, and above it.
#[derive(Default)]
struct Context {
    below: Vec<(i64, Vec<usize>)>,
    above: Option<(i64, Vec<usize>)>,
}

impl Refuter<'_, '_, '_> {
    /// Excludes nodes that are in no finite tree; whether there were any.
    pub(super) fn prune(&mut self) -> Result<bool, StopReason> {
        let mut around: Vec<Context> = Vec::new();
        while around.len() < self.nodes.len() {
            self.budget.check(0)?;
            if self.nodes.len() > self.config().window_components {
                return Ok(false);
            }
            if self.is_within_dead(around.len()) {
                let at = around.len();
                self.nodes[at].is_dead = true;
            }
            around.push(self.around(around.len()));
        }
        let is_open: Vec<bool> = self.nodes.iter().map(|node| !node.is_dead && node.parts.is_none()).collect();
        let down = least(is_open.len(), |node, down| {
            let has_one = |(_, nodes): &(i64, Vec<usize>)| nodes.iter().any(|&below| down[below]);
            is_open[node] && around[node].below.iter().all(has_one)
        });
        let up = least(is_open.len(), |node, up| {
            let Some((side, above)) = &around[node].above else { return is_open[node] };
            let has_sibling = |&above: &usize| {
                let mut others = around[above].below.iter().filter(|(other, _)| other != side);
                others.all(|(_, nodes)| nodes.iter().any(|&sibling| down[sibling]))
            };
            is_open[node] && above.iter().any(|above| up[*above] && has_sibling(above))
        });
        let mut is_new = false;
        for (at, node) in self.nodes.iter_mut().enumerate() {
            if is_open[at] && !(up[at] && down[at]) {
                node.is_dead = true;
                is_new = true;
            }
        }
        Ok(is_new)
    }

    fn around(&mut self, node: usize) -> Context {
        let mut around = Context::default();
        if self.nodes[node].is_dead || self.nodes[node].parts.is_some() {
            return around;
        }
        for (number, side) in self.sides(self.nodes[node].shape).into_iter().enumerate() {
            let nodes = self.beside(node, number);
            match side {
                Side::Right(by) => around.below.push((by, nodes)),
                Side::Left(by) => around.above = Some((by, nodes)),
            }
        }
        around
    }

    /// The sides on which processes of a window of a tree have others.
    pub(super) fn branches(&self, shape: usize) -> Vec<Side> {
        let of = self.runs.windows.shapes[shape].word[0];
        let below = (1..=of.right as i64).map(Side::Right);
        // Those with odd indices are left children.
        let above = (!is_root(of)).then_some(Side::Left(if of.residue == 1 { 1 } else { 2 }));
        below.chain(above).collect()
    }
}

/// The least set with a property that only grows with the set.
fn least(n: usize, belongs: impl Fn(usize, &[bool]) -> bool) -> Vec<bool> {
    let mut set = vec![false; n];
    loop {
        let mut has_grown = false;
        for at in 0..n {
            if !set[at] && belongs(at, &set) {
                set[at] = true;
                has_grown = true;
            }
        }
        if !has_grown {
            return set;
        }
    }
}
