//! Results as text: for people, for scripts, for a terminal.
//!
//! Everything here is a pure function from a result to a `String` or a JSON value; nothing prints. [`human`] shows runs to
//! people, [`json`] fills in the result documents, whose shape is in [`document`], [`csv`] writes one row for each result, [`sarif`], [`junit`] and [`github`] say the same to other tools, [`html`] writes a page of everything, [`table`] shows many runs at once, [`sweep`] one program at many sizes; [`explore`], [`coverage`], [`graph`], [`proof_check`], [`replay`] and [`sim`] are for
//! the commands of those names; [`guarantees`] says what processes guarantee to each other;
//! [`diagnostics`] renders what the front-end says about the input.

pub mod coverage;
pub mod csv;
pub mod dealt;
pub mod diagnostics;
pub mod document;
pub mod explore;
mod files;
mod findings;
pub mod github;
pub mod graph;
pub mod guarantees;
pub mod html;
pub mod human;
mod item;
pub mod json;
pub mod junit;
pub mod numbers;
mod page;
pub mod proof_check;
pub mod replay;
pub mod sarif;
pub mod sim;
pub mod style;
pub mod sweep;
pub mod table;
pub mod text;
mod uri;

#[cfg(test)]
mod testing;

pub use files::Files;
pub use human::{Context, Verbosity};
pub use item::Item;
pub use page::Page;
pub use style::Style;
