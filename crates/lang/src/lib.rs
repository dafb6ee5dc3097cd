//! Front-ends: text in, Model or diagnostics out. One folder per language.
//!
//! [`load()`]: a file of any language to its Model. [`pw`]: the Piecewise language. [`codes`]: the table of all codes
//! that diagnostics carry.

pub mod codes;
mod load;
pub mod pw;

pub use load::{Loaded, ParameterRange, load, parameters};
