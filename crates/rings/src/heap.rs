//! Binary trees in rows: process 0 is the root, `2 i + 1` and `2 i + 2` are the children of `i`.
//!
//! In: indices. Out: how one process is named as another one sees it ([`evidence::rings::tree`]), which process a name means, and types.

use evidence::rings::ProcessType;
use evidence::rings::tree::{FAR, GRANDCHILDREN, GRANDPARENT, LEFT, PARENT, RIGHT, SIBLING};

/// Processes one edge away.
pub const ADJACENT: [i64; 3] = [PARENT, LEFT, RIGHT];

/// Processes two edges away.
pub const SECOND: [i64; 6] =
    [GRANDPARENT, SIBLING, GRANDCHILDREN[0], GRANDCHILDREN[1], GRANDCHILDREN[2], GRANDCHILDREN[3]];

fn parent(index: usize) -> Option<usize> {
    index.checked_sub(1).map(|before| before / 2)
}

/// The type of a process.
pub fn type_of(index: usize, size: usize) -> ProcessType {
    let children = (2 * index + 1..2 * index + 3).filter(|&child| child < size).count();
    ProcessType { left: index.min(1), right: children, residue: index % 2 }
}

/// Whether a process of this type is the root.
pub fn is_root(of: ProcessType) -> bool {
    of.left == 0
}

/// How many edges a process is away from the root.
pub fn depth(index: usize) -> u32 {
    (index + 1).ilog2()
}

/// How a process is named by another one.
pub fn name(from: usize, to: usize) -> i64 {
    let (up, of) = (parent(from), parent(to));
    let second = of.and_then(parent);
    if from == to {
        0
    } else if up == Some(to) {
        PARENT
    } else if of == Some(from) {
        if to % 2 == 1 { LEFT } else { RIGHT }
    } else if up.and_then(parent) == Some(to) {
        GRANDPARENT
    } else if second == Some(from) {
        GRANDCHILDREN[to - (4 * from + 3)]
    } else if up.is_some() && up == of {
        SIBLING
    } else {
        FAR
    }
}

/// The process that a name means, in a tree that is large enough.
pub fn named(from: usize, name: i64) -> Option<usize> {
    match name {
        0 => Some(from),
        PARENT => parent(from),
        GRANDPARENT => parent(from).and_then(parent),
        LEFT => Some(2 * from + 1),
        RIGHT => Some(2 * from + 2),
        SIBLING => parent(from).map(|_| if from % 2 == 1 { from + 1 } else { from - 1 }),
        _ => GRANDCHILDREN.iter().position(|&one| one == name).map(|at| 4 * from + 3 + at),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back() {
        for from in 0..40 {
            for by in [0].into_iter().chain(ADJACENT).chain(SECOND) {
                let Some(to) = named(from, by) else { continue };
                assert_eq!(name(from, to), by, "{from} {by}");
                assert_ne!(name(to, from), FAR, "{from} {by}");
            }
            let near = (0..200).filter(|&to| name(from, to) != FAR).count();
            let there = [0].into_iter().chain(ADJACENT).chain(SECOND).filter(|&by| named(from, by).is_some()).count();
            assert_eq!(near, there, "{from}");
        }
    }
}
