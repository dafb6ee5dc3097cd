//! The whole product, explicit: breadth-first search of packed states, fair loops in its graph, and the search reduced by stubborn sets.
//!
//! In: a Model and its properties. Out: verdicts with evidence. `search.rs` goes through the states level by level (`expand.rs` takes
//! the steps of a state, `parallel.rs` divides the work), `waning.rs` guesses how much is left, `findings.rs` notes what decides a question, `path.rs` finds the run to it; `liveness.rs`
//! finds fair loops, and decides other questions on the way to its graph; [`Mono`] is the method. [`Stubborn`]: the product, reduced with the help of local state graphs. [`Schedules`]: some of its runs, where all are too many.

mod expand;
mod findings;
pub mod liveness;
mod mono;
mod parallel;
mod path;
mod patience;
mod run;
mod schedules;
mod search;
mod stubborn;
mod waning;

pub use mono::{Mono, explore};
pub use schedules::Schedules;
pub use stubborn::{Stubborn, StubbornBesidePlain, StubbornByText, reduced_size};
