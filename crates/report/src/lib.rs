//! Results as text: for people, for scripts, for a terminal.
//!
//! Everything here is a pure function from a result to a `String` or a JSON value; nothing prints. [`human`] shows runs to
//! people, [`json`] writes the result documents, [`html`] a page of everything, [`table`] shows many runs at once; [`explore`], [`graph`], [`proof_check`], [`replay`] and [`sim`] are for
//! the commands of those names; [`guarantees`] says what processes guarantee to each other;
//! [`diagnostics`] draws what the front-end says about the input.

pub mod diagnostics;
pub mod explore;
mod files;
pub mod graph;
pub mod guarantees;
pub mod html;
pub mod human;
pub mod json;
mod names;
pub mod numbers;
mod page;
pub mod proof;
pub mod proof_check;
pub mod replay;
pub mod sim;
pub mod style;
pub mod table;
pub mod text;
pub mod view;
pub mod waiting;
pub mod why;

#[cfg(test)]
mod testing;

pub use files::Files;
pub use human::{Context, Verbosity};
pub use page::Page;
pub use style::Style;
