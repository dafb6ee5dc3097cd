//! The tests of windows, as one program.

#![allow(clippy::unwrap_used)]

mod examples;
mod lasting;
mod naming;
mod random;
mod skeletons;

use base::Budget;

/// A limit on work, not on time: which programs are too large does not depend on the machine.
fn in_a_moment() -> Budget {
    Budget::unlimited().with_looks(5_000)
}
