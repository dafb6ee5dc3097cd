//! Which cases are images of each other under permutations of processes within their families.
//!
//! In: a case, as a sequence of processes, and what a permutation has to keep: some processes where they are, and a set together. Out: the
//! orbit of the case. Cases of one orbit are images of each other: whoever stands at a position of the one goes to whoever stands there in
//! the other. That is one-to-one, since a process stands again at the same positions in both; and it extends to all others, of whom
//! both have left over as many of each family, inside the set and outside of it.

use model::Model;
use model::process::{FamilyId, ProcessId};

/// What a case has in common with its images, and with nothing else.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::certificate) struct Orbit(Vec<Standing>);

/// Who stands at a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Standing {
    /// A process that is not moved.
    Itself(ProcessId),
    /// Whoever stands at that earlier position.
    AsAt(usize),
    /// Another process of the family, inside of the set or outside.
    Another { of: FamilyId, inside: bool },
}

/// What permutations have to keep.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::certificate) struct Kept<'a> {
    /// Who is not moved.
    pub fixed: &'a [ProcessId],
    /// Whose members stay among themselves.
    pub set: &'a [ProcessId],
}

impl Orbit {
    /// The orbit of a case.
    pub fn of(model: &Model, case: &[ProcessId], kept: Kept<'_>) -> Orbit {
        let standing = |(at, process): (usize, &ProcessId)| {
            if kept.fixed.contains(process) {
                return Standing::Itself(*process);
            }
            match case[..at].iter().position(|earlier| earlier == process) {
                Some(earlier) => Standing::AsAt(earlier),
                None => Standing::Another { of: model.processes[*process].family, inside: kept.set.contains(process) },
            }
        };
        Orbit(case.iter().enumerate().map(standing).collect())
    }
}
