//! Formulas as text: many spellings in, several out.
//!
//! [`parse`] reads the keywords of the language and the spellings of SPIN, Spot, NuSMV and TLA+, all at once; [`Style`] says how
//! [`print`](crate::syntax::print()) writes. What tools read differently (`a U b U c`, `a -> b -> c`) is refused with both readings shown.

mod lexer;
mod operators;
mod parser;
mod printer;

pub use parser::parse;
pub use printer::{Style, print};
