//! The Piecewise language, `.pw`.
//!
//! [`ast`]: the syntax tree.

pub mod ast;
