//! Counting what has passed: numbers that grow with the number of processes are sums over processes.
//!
//! In: a program of families of any size, and single processes. Out: proofs (`evidence::counting`) for every size: views of one process each, in
//! which numbers such as `sum: 0..=N` are not shown, and for each of these numbers a weight of every local state, such that the number is
//! always the sum of the weights of all processes. Whether a test of such numbers, or a quantifier, can hold is asked of all processes at
//! once: of how many of them are in each local state. [`form`] are the numbers, [`solve`] decides systems of them, [`roster`] is what views
//! consist of, `ends` processes of families that are not like the others, [`look`] and [`step`] are values and steps, [`signs`] what tests of counted numbers leave behind, `walk` loops of a single process over a family, [`closure`] closes views under steps, [`weigh`] finds weights, [`prove`] asks, [`deadlock`] whether nobody may have a step.

pub mod closure;
pub mod deadlock;
mod ends;
pub mod form;
pub mod look;
pub mod prove;
pub mod roster;
pub mod signs;
pub mod solve;
pub mod step;
mod walk;
pub mod weigh;
