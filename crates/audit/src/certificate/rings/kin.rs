//! Who is who in a binary tree in rows, seen from one of its processes.
//!
//! In: indices; the children of `i` are `2 i + 1` and `2 i + 2`. Out: names as in `evidence::rings::tree`, by the way from one process up to the nearest
//! common ancestor and down to the other.

use evidence::rings::tree::{FAR, GRANDCHILDREN, GRANDPARENT, LEFT, PARENT, RIGHT, SIBLING};

/// All names of others.
pub(super) const NAMES: [i64; 9] =
    [PARENT, GRANDPARENT, LEFT, RIGHT, GRANDCHILDREN[0], GRANDCHILDREN[1], GRANDCHILDREN[2], GRANDCHILDREN[3], SIBLING];

/// A process with room above it, at which ways may turn: where they do does not matter to names.
const SOMEWHERE: usize = 9;

/// The ways from the nearest common ancestor down to both; `false` is to the left.
fn ways(mut one: usize, mut other: usize) -> (Vec<bool>, Vec<bool>) {
    let (mut to_one, mut to_other) = (Vec::new(), Vec::new());
    while one != other {
        // An ancestor has a smaller index.
        let (index, way) = if one > other { (&mut one, &mut to_one) } else { (&mut other, &mut to_other) };
        way.insert(0, *index % 2 == 0);
        *index = (*index - 1) / 2;
    }
    (to_one, to_other)
}

fn down(from: usize, way: &[bool]) -> usize {
    way.iter().fold(from, |index, &to_right| 2 * index + 1 + usize::from(to_right))
}

/// What one process calls another.
pub(super) fn name(from: usize, to: usize) -> i64 {
    let (up, down) = ways(from, to);
    match (up.len(), &down[..]) {
        (0, []) => 0,
        (0, [false]) => LEFT,
        (0, [true]) => RIGHT,
        (0, [first, second]) => GRANDCHILDREN[2 * usize::from(*first) + usize::from(*second)],
        (1, []) => PARENT,
        (2, []) => GRANDPARENT,
        (1, [_]) => SIBLING,
        _ => FAR,
    }
}

/// Whom a process means by a name: those who may have it are few.
pub(super) fn meant(from: usize, wanted: i64) -> Option<usize> {
    let above = from.saturating_sub(1) / 2;
    let beside = 2 * above + 1..2 * above + 3;
    let below = (2 * from + 1..2 * from + 3).chain(4 * from + 3..4 * from + 7);
    let all = [from, above, above.saturating_sub(1) / 2].into_iter().chain(beside).chain(below);
    all.into_iter().find(|&other| name(from, other) == wanted)
}

/// The same two, somewhere else.
pub(super) fn elsewhere(one: usize, other: usize) -> (usize, usize) {
    let (to_one, to_other) = ways(one, other);
    (down(SOMEWHERE, &to_one), down(SOMEWHERE, &to_other))
}
