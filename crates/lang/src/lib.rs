//! Front-ends: text in, syntax tree and diagnostics out. One folder per language.
//!
//! [`pw`]: the Piecewise language. [`codes`]: the table of all codes that diagnostics carry.

pub mod codes;
pub mod pw;
