//! Front-ends: text in, Model or diagnostics out. One folder per language.
//!
//! [`load()`]: a file of any language to its Model. [`pw`]: the Piecewise language. [`dve`]: DIVINE's. [`pds`]: pushdown systems. [`promela`]: SPIN's. [`codes`]: the
//! table of all codes that diagnostics carry.

pub mod codes;
pub mod dve;
mod load;
mod log;
pub mod pds;
pub mod promela;
pub mod pw;

pub use load::{Loaded, PROMELA_SUFFIXES, ParameterRange, ProgramText, is_promela, load, load_with_goals, parameters};
