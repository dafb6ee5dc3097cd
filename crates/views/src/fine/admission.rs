//! What flows admit: whether a part of a state can be made whole so that sums are what they are in every reachable state.
//!
//! In: flows, and a view's processes and cells or a part of a state. Out: whether the processes and cells that are not shown can add what is missing. Those
//! may be anything that is listed, so what is refused is no part of a reachable state.

use std::collections::BTreeSet;

use evidence::fine::FineContent;

use super::bits::Bits;
use super::closure::Shape;
use super::flows::{Flow, WeighedCell};
use super::kernel::reduced;
use super::skeleton::Skeleton;

/// Of more different sums nothing is said.
const MOST_SUMS: usize = 2_048;

/// Sums that there may be; `None` for any.
type Sums = Option<BTreeSet<i64>>;

/// Sums with one more summand, which is one of these.
fn plus(sums: &Sums, summands: &BTreeSet<i64>, modulus: i64) -> Sums {
    let sums = sums.as_ref()?;
    let mut found = BTreeSet::new();
    for sum in sums {
        found.extend(summands.iter().map(|summand| reduced(sum + summand, modulus)));
        if found.len() > MOST_SUMS {
            return None;
        }
    }
    Some(found)
}

/// What a view shows of flows.
pub(super) struct ViewFilter {
    flows: Vec<ViewFlow>,
}

struct ViewFlow {
    modulus: i64,
    /// The weights of the view's cells.
    cells: Vec<Option<WeighedCell>>,
    /// For each block what a process in it may add.
    blocks: Vec<BTreeSet<i64>>,
    /// What all else may add, by how many processes are shown.
    rest: Vec<Sums>,
}

impl ViewFilter {
    /// For a view, and for one process more than it shows.
    pub fn new(skeleton: &Skeleton, shape: &Shape, flows: &[Flow]) -> ViewFilter {
        let view_flow = |flow: &Flow| {
            let modulus = flow.modulus;
            let at = |column: &usize| flow.cells.iter().find(|cell| cell.column == *column).cloned();
            let mut blocks = vec![BTreeSet::new(); shape.n_blocks];
            for (&block, &weight) in shape.blocks.iter().zip(&flow.states) {
                blocks[block as usize].insert(weight);
            }
            let mut rest: Sums = Some(BTreeSet::from([0]));
            for cell in flow.cells.iter().filter(|cell| !shape.cells.contains(&cell.column)) {
                rest = plus(&rest, &cell.all().into_iter().collect(), modulus);
            }
            let any: BTreeSet<i64> = flow.states.iter().copied().collect();
            let n_shown = shape.k + 1;
            for _ in n_shown..skeleton.n_processes {
                rest = plus(&rest, &any, modulus);
            }
            let mut rests = vec![rest];
            for n in (0..n_shown).rev() {
                let before = &rests[rests.len() - 1];
                let more = if n < skeleton.n_processes { plus(before, &any, modulus) } else { before.clone() };
                rests.push(more);
            }
            rests.reverse();
            ViewFlow { modulus, cells: shape.cells.iter().map(at).collect(), blocks, rest: rests }
        };
        ViewFilter { flows: flows.iter().map(view_flow).collect() }
    }

    /// Whether a state may have these cells and processes in these blocks.
    pub fn admits(&self, cells: &[FineContent], blocks: &[u32]) -> bool {
        self.flows.iter().all(|flow| {
            let shown: i64 = { flow.cells.iter().zip(cells) }
                .filter_map(|(weights, &content)| Some(weights.as_ref()?.weight(content)))
                .sum();
            flow.can_be(shown, blocks, blocks.len())
        })
    }
}

impl ViewFlow {
    /// Whether what is shown, processes in these blocks and all else may come to 0.
    fn can_be(&self, shown: i64, blocks: &[u32], n: usize) -> bool {
        match blocks {
            [] => self.rest[n].as_ref().is_none_or(|rest| rest.contains(&reduced(-shown, self.modulus))),
            [block, others @ ..] => {
                self.blocks[*block as usize].iter().any(|weight| self.can_be(shown + weight, others, n))
            }
        }
    }
}

/// Whether all processes, of some of which it is known where they may be and of all others that they are in the last set, and all cells, of some of which it is known
/// what they hold, may come to 0.
pub(super) fn admits_state(
    skeleton: &Skeleton,
    flow: &Flow,
    (processes, everyone): (&[Bits], &Bits),
    held: impl Fn(usize) -> Option<FineContent>,
) -> bool {
    let weights = |set: &Bits| -> BTreeSet<i64> {
        flow.states.iter().enumerate().filter(|(state, _)| set.contains(*state)).map(|(_, &weight)| weight).collect()
    };
    let mut sums: Sums = Some(BTreeSet::from([0]));
    for cell in &flow.cells {
        let summands = match held(cell.column) {
            Some(content) => BTreeSet::from([cell.weight(content)]),
            None => cell.all().into_iter().collect(),
        };
        sums = plus(&sums, &summands, flow.modulus);
    }
    for process in processes {
        sums = plus(&sums, &weights(process), flow.modulus);
    }
    let others = weights(everyone);
    for _ in processes.len()..skeleton.n_processes {
        sums = plus(&sums, &others, flow.modulus);
    }
    sums.is_none_or(|sums| sums.contains(&0))
}
