//! Method `propagate`: temporal properties under fairness, by refutation.
//!
//! [`items`] and [`stepper`]: what a process sees, and its turns. [`views`]: the view states of all processes. [`additive`]
//! finds sums that prune them, by guesses, [`alike`] those in which processes of one text weigh the same, [`balance`] all there are, by linear algebra ([`kernel`]); [`weights`] has them as tables. [`graph`]: view graphs, and which edges of two of them can be one turn. [`conditions`]: what fairness
//! and the automaton of a violation demand; [`lemmas`]: what follows from what was refuted; `partly`: what a view shows of conditions on others. [`refute`], `cases` and `groups`: the rules; `left`: what they leave, in words; `together`: which processes are looked at at once then. [`agenda`]: in which order. [`engine`]: the method; [`sums`]: what it finds for others.
//! [`mod@crowds`] and `singled`: processes of which one represents all; `crowded`: proofs with them.
//! [`every`]: the same for any number of interchangeable processes.

pub mod additive;
pub mod agenda;
pub mod alike;
pub mod balance;
mod cases;
pub mod conditions;
mod crowded;
pub mod crowds;
pub mod engine;
pub mod every;
pub mod graph;
mod groups;
pub mod items;
pub mod kernel;
mod left;
pub mod lemmas;
mod partly;
pub mod refute;
mod singled;
pub mod stepper;
pub mod sums;
mod together;
pub mod views;
pub mod weights;
pub mod workshop;

pub use engine::Propagate;
