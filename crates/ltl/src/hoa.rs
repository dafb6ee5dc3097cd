//! Automata as text, in the Hanoi Omega-Automata format, version 1 (Babiak et al. 2015).
//!
//! [`write()`] writes any automaton of ours. [`read`] reads what Spot and others write: labels on edges or states, implicit labels, aliases,
//! marks on edges or states, generalised Büchi conditions. Whatever else the format knows (alternation, `Fin`, parity) is refused
//! with its place.

mod body;
mod expression;
mod header;
mod lexer;
mod reader;
mod writer;

pub use reader::{HoaDocument, read};
pub use writer::write;
