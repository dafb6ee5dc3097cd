//! Rank trees on disk: a list of trees, the first of which is the whole; a reason names the tree below it by its position.
//!
//! Trees may be nested as deeply as a property has fairness assumptions, JSON may not.

use serde::{Deserialize, Serialize};

use super::record::NamedId;
use crate::certificate::{Focus, RankReason, RankTree};

/// Deeper trees are refused: there are not so many assumptions.
const MOST_LEVELS: usize = 1_000;

/// An abstract process without a fair run.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FocusRecord {
    pub process: NamedId,
    pub nodes: Vec<(u32, u32)>,
    pub trees: Vec<TreeRecord>,
}

/// Ranks, and for each a reason.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TreeRecord {
    pub ranks: Vec<u32>,
    pub reasons: Vec<ReasonRecord>,
}

/// Why no fair run keeps to a rank.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ReasonRecord {
    Trivial,
    Missing(usize),
    Own,
    /// A pair, and the position of the tree of the nodes that are free of it.
    Pair(usize, usize),
}

/// What is written of an abstract process.
pub(super) fn focus_record(focus: &Focus, process: NamedId) -> FocusRecord {
    let mut trees = Vec::new();
    write(&focus.ranks, &mut trees);
    FocusRecord { process, nodes: focus.nodes.clone(), trees }
}

fn write(tree: &RankTree, trees: &mut Vec<TreeRecord>) {
    let at = trees.len();
    trees.push(TreeRecord { ranks: tree.ranks.clone(), reasons: Vec::new() });
    for reason in &tree.reasons {
        let reason = match reason {
            RankReason::Trivial => ReasonRecord::Trivial,
            RankReason::Missing(mark) => ReasonRecord::Missing(*mark),
            RankReason::Own => ReasonRecord::Own,
            RankReason::Pair(pair, below) => {
                let position = trees.len();
                write(below, trees);
                ReasonRecord::Pair(*pair, position)
            }
        };
        trees[at].reasons.push(reason);
    }
}

/// The tree that a list of trees encodes.
pub(super) fn rank_tree(records: Vec<TreeRecord>) -> Result<RankTree, String> {
    let n_trees = records.len();
    // From the last tree on, with the levels of each, so that what a reason names is there already.
    let mut built: Vec<Option<(RankTree, usize)>> = Vec::new();
    built.resize_with(n_trees, || None);
    for (at, record) in records.into_iter().enumerate().rev() {
        let mut n_levels = 1;
        let mut reasons = Vec::with_capacity(record.reasons.len());
        for reason in record.reasons {
            reasons.push(match reason {
                ReasonRecord::Trivial => RankReason::Trivial,
                ReasonRecord::Missing(mark) => RankReason::Missing(mark),
                ReasonRecord::Own => RankReason::Own,
                ReasonRecord::Pair(pair, position) => {
                    let below = built.get_mut(position).filter(|_| position > at).and_then(Option::take);
                    let (below, levels) = below.ok_or_else(|| {
                        format!("tree {at} of ranks names tree {position}, which is not below it alone")
                    })?;
                    n_levels = n_levels.max(levels + 1);
                    RankReason::Pair(pair, Box::new(below))
                }
            });
        }
        if n_levels > MOST_LEVELS {
            return Err(format!("its ranks are nested more than {MOST_LEVELS} levels deep"));
        }
        built[at] = Some((RankTree { ranks: record.ranks, reasons }, n_levels));
    }
    let mut rest = built.into_iter();
    let (whole, _) = rest.next().flatten().ok_or("a list of ranks is empty")?;
    match rest.flatten().next() {
        None => Ok(whole),
        Some(_) => Err("a tree of ranks belongs to no reason".to_owned()),
    }
}
