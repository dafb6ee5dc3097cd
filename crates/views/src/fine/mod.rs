//! Views finer than a process: proofs of one size, each view of a cell or few and two processes.
//!
//! In: a program of one size with a family of interchangeable processes, and questions about states. Out: proofs, with `evidence::fine` as
//! their rule. [`skeleton`] lists local states and steps; [`partition`] says which local states a view tells apart, [`closure`] computes its states,
//! [`semijoin`] those of several views together;
//! [`flows`] are sums that no step changes, found by linear algebra ([`kernel`]), and [`admission`] what they leave of these states;
//! [`pattern`] is what a violation shows, [`search`] looks for a state that shows it and that no view excludes; [`prove`] goes from coarse to fine.

pub mod admission;
pub mod bits;
pub mod closure;
pub mod datum;
pub mod eval;
pub mod flows;
pub mod kernel;
pub mod partition;
pub mod pattern;
pub mod project;
pub mod prove;
pub mod search;
pub mod semijoin;
pub mod skeleton;
pub mod step;
