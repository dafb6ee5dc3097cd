//! Decision diagrams: sets of states far too large to be explicit.
//!
//! [`bdd`] wraps the library; [`points`] and [`encoding`] say where each part of a state is in a bit vector; [`evaluate`] turns
//! expressions and [`commands`] turns steps into diagrams; [`system`] is a whole program as diagrams. [`fair`] searches for fair
//! runs, in the whole product (`global`) and in what one process sees of it ([`local_fair`]).

pub mod bdd;
pub mod change;
pub mod commands;
pub mod encoding;
pub mod engines;
pub mod evaluate;
pub mod fair;
mod fewer_facts;
mod global;
pub mod local;
pub mod local_fair;
mod meter;
pub mod number;
mod offers;
pub mod points;
pub mod reach;
pub mod refine;
mod rename;
mod split;
pub mod system;
mod under_way;
mod watchdog;
pub mod wide;
