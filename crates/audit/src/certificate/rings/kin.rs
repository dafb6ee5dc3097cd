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

#[cfg(test)]
mod tests {
    use super::*;

    /// How many edges are between two processes.
    fn distance(mut one: usize, mut other: usize) -> usize {
        let mut n_edges = 0;
        while one != other {
            let lower = if one > other { &mut one } else { &mut other };
            *lower = (*lower - 1) / 2;
            n_edges += 1;
        }
        n_edges
    }

    /// Who touches a process, or what it touches, is at most two edges away.
    #[test]
    fn whoever_is_two_edges_away_has_a_name_and_nobody_else() {
        for one in 0..64 {
            for other in 0..256 {
                let name = name(one, other);
                match distance(one, other) {
                    0 => assert_eq!(name, 0),
                    1 | 2 => assert!(NAMES.contains(&name), "{one} {other}: {name}"),
                    _ => assert_eq!(name, FAR, "{one} {other}"),
                }
            }
        }
    }

    #[test]
    fn names_are_of_one_process_each_wherever_two_stand_so() {
        for one in 0..64 {
            for other in (0..256).filter(|&other| name(one, other) != FAR) {
                assert_eq!(meant(one, name(one, other)), Some(other), "{one} {other}");
                let (here, there) = elsewhere(one, other);
                assert_eq!((name(here, there), name(there, here)), (name(one, other), name(other, one)));
            }
        }
        assert_eq!([PARENT, GRANDPARENT, SIBLING].map(|name| meant(0, name)), [None; 3]);
        assert_eq!(meant(1, GRANDPARENT), None);
    }
}
