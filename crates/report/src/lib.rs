//! Results as text: for people, for scripts, for a terminal.
//!
//! Everything here is a pure function from a result to a `String`; nothing prints. [`diagnostics`] draws what the front-end
//! says about the input.

pub mod diagnostics;
pub mod numbers;
pub mod style;
pub mod text;

pub use style::Style;
