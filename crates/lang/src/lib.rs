//! Front-ends: text in, syntax tree and diagnostics out. One folder per language.
//!
//! [`pw`]: the Piecewise language.

pub mod pw;
