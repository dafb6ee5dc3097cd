//! Promela, the language of SPIN, `.pml`.
//!
//! In: the text of a file, the files that it may include, and values for macros. Out: the Model with warnings, or everything that is wrong, each
//! with the text that it speaks of. `preprocessor.rs` makes tokens, `parser.rs` the syntax tree (`ast.rs`), `resolve.rs` looks names up
//! (`program.rs`), `graph.rs` makes places and steps, `elaborate.rs` the Model. `docs/promela.md` says what is read and what it means.

mod ast;
mod graph;
mod lexer;
mod parser;
mod preprocessor;
mod program;
mod resolve;
mod sources;
mod values;

use std::collections::BTreeMap;

/// The files that a program may include, by their path from the folder of the program.
pub type Includes = BTreeMap<String, String>;
