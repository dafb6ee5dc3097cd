//! What flows admit: whether a part of a state can be made whole so that sums are what they are in every reachable state.
//!
//! In: flows, and a view's processes and cells or a part of a state. Out: whether the processes and cells that are not shown can add what is missing. Those
//! may be anything that is listed, so what is refused is no part of a reachable state. Each flow is asked by itself, and where they have few sums all
//! are together: what is missing in each may be there, and not in all of them at once.

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

/// Of more different sums of all flows together nothing is said.
const MOST_JOINT_SUMS: usize = 512;

/// What something adds to each of several flows.
type Joint = Vec<i64>;

/// Sums of several flows that there may be together; `None` for any.
type JointSums = Option<BTreeSet<Joint>>;

/// What something adds to several flows, in one way for the same.
fn joint(flows: &[Flow], added: impl Fn(&Flow) -> i64) -> Joint {
    flows.iter().map(|flow| reduced(added(flow), flow.modulus)).collect()
}

fn plus_joint(flows: &[Flow], sums: &JointSums, summands: &BTreeSet<Joint>) -> JointSums {
    let mut found = BTreeSet::new();
    for sum in sums.as_ref()? {
        for summand in summands {
            let both = sum.iter().zip(summand).zip(flows);
            found.insert(both.map(|((one, other), flow)| reduced(one + other, flow.modulus)).collect());
        }
        if found.len() > MOST_JOINT_SUMS {
            return None;
        }
    }
    Some(found)
}

/// What a column may add to several flows: what any content adds that some of them weighs, or nothing.
fn any_content(flows: &[Flow], column: usize) -> BTreeSet<Joint> {
    let weighed = |flow: &Flow| flow.cells.iter().find(|cell| cell.column == column).cloned();
    let contents = flows.iter().filter_map(weighed).flat_map(|cell| cell.weights.into_keys().collect::<Vec<_>>());
    let contents: BTreeSet<FineContent> = contents.collect();
    let mut found: BTreeSet<Joint> = contents.into_iter().map(|content| held_adds(flows, column, content)).collect();
    found.insert(vec![0; flows.len()]);
    found
}

/// What a column with a content adds to several flows.
fn held_adds(flows: &[Flow], column: usize, content: FineContent) -> Joint {
    joint(flows, |flow| flow.cells.iter().find(|cell| cell.column == column).map_or(0, |cell| cell.weight(content)))
}

/// What a process in one of some local states may add to several flows.
fn processes_add(flows: &[Flow], states: impl Iterator<Item = usize>) -> BTreeSet<Joint> {
    states.map(|state| joint(flows, |flow| flow.states[state])).collect()
}

/// The columns that some flow weighs.
fn weighed_columns(flows: &[Flow]) -> BTreeSet<usize> {
    flows.iter().flat_map(|flow| &flow.cells).map(|cell| cell.column).collect()
}

/// What a view shows of flows.
pub(super) struct ViewFilter {
    flows: Vec<ViewFlow>,
    joint: Option<JointFilter>,
}

/// What a view shows of all flows together.
struct JointFilter {
    flows: Vec<Flow>,
    columns: Vec<usize>,
    /// For each block what a process in it may add.
    blocks: Vec<BTreeSet<Joint>>,
    /// What all else may add, by how many processes are shown.
    rest: Vec<JointSums>,
}

impl JointFilter {
    /// `None` where there is one flow, or where all else may add very much.
    fn new(skeleton: &Skeleton, shape: &Shape, flows: &[Flow]) -> Option<JointFilter> {
        if flows.len() < 2 {
            return None;
        }
        let mut sums: JointSums = Some(BTreeSet::from([vec![0; flows.len()]]));
        for column in weighed_columns(flows).into_iter().filter(|column| !shape.cells.contains(column)) {
            sums = plus_joint(flows, &sums, &any_content(flows, column));
        }
        let any = processes_add(flows, 0..skeleton.states.len());
        // Beside k processes, and one more.
        let n_shown = (shape.k + 1).min(skeleton.n_processes);
        for _ in n_shown..skeleton.n_processes {
            sums = plus_joint(flows, &sums, &any);
        }
        let mut rest = vec![sums];
        for _ in 0..n_shown {
            rest.push(plus_joint(flows, rest.last()?, &any));
        }
        rest.reverse();
        let mut blocks = vec![BTreeSet::new(); shape.n_blocks];
        for (state, &block) in shape.blocks.iter().enumerate() {
            blocks[block as usize].extend(processes_add(flows, [state].into_iter()));
        }
        let says_something = rest.get(shape.k).is_some_and(Option::is_some);
        says_something.then(|| JointFilter { flows: flows.to_vec(), columns: shape.cells.clone(), blocks, rest })
    }

    fn admits(&self, cells: &[FineContent], blocks: &[u32]) -> bool {
        let Some(Some(rest)) = self.rest.get(blocks.len()) else { return true };
        let mut shown: JointSums = Some(BTreeSet::from([vec![0; self.flows.len()]]));
        for (&column, &content) in self.columns.iter().zip(cells) {
            shown = plus_joint(&self.flows, &shown, &BTreeSet::from([held_adds(&self.flows, column, content)]));
        }
        for &block in blocks {
            shown = plus_joint(&self.flows, &shown, &self.blocks[block as usize]);
        }
        let completes = |sum: &Joint| {
            let missing = sum.iter().zip(&self.flows).map(|(sum, flow)| reduced(-sum, flow.modulus));
            rest.contains(&missing.collect::<Joint>())
        };
        shown.is_none_or(|shown| shown.iter().any(completes))
    }
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
        ViewFilter { flows: flows.iter().map(view_flow).collect(), joint: JointFilter::new(skeleton, shape, flows) }
    }

    /// Whether a state may have these cells and processes in these blocks.
    pub fn admits(&self, cells: &[FineContent], blocks: &[u32]) -> bool {
        let each = self.flows.iter().all(|flow| {
            let shown: i64 = { flow.cells.iter().zip(cells) }
                .filter_map(|(weights, &content)| Some(weights.as_ref()?.weight(content)))
                .sum();
            flow.can_be(shown, blocks, blocks.len())
        });
        each && self.joint.as_ref().is_none_or(|joint| joint.admits(cells, blocks))
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

/// The same of all flows together.
pub(super) fn admits_together(
    skeleton: &Skeleton,
    flows: &[Flow],
    (processes, everyone): (&[Bits], &Bits),
    held: impl Fn(usize) -> Option<FineContent>,
) -> bool {
    if flows.len() < 2 {
        return true;
    }
    let members = |set: &Bits| (0..skeleton.states.len()).filter(|&state| set.contains(state)).collect::<Vec<usize>>();
    let mut sums: JointSums = Some(BTreeSet::from([vec![0; flows.len()]]));
    for column in weighed_columns(flows) {
        let summands = match held(column) {
            Some(content) => BTreeSet::from([held_adds(flows, column, content)]),
            None => any_content(flows, column),
        };
        sums = plus_joint(flows, &sums, &summands);
    }
    for process in processes {
        sums = plus_joint(flows, &sums, &processes_add(flows, members(process).into_iter()));
    }
    let others = processes_add(flows, members(everyone).into_iter());
    for _ in processes.len()..skeleton.n_processes {
        sums = plus_joint(flows, &sums, &others);
    }
    sums.is_none_or(|sums| sums.contains(&vec![0; flows.len()]))
}
