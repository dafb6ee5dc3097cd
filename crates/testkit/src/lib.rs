//! What tests stand on: models made by hand or at random, and what brute force says about them.
//!
//! [`draft`]: a program under construction; [`text`]: its statements; [`expr`]: its expressions. [`write`] shows a draft in
//! the language, [`show`] states and steps on one line. [`oracle`]: the whole product by brute force.

pub mod draft;
pub mod expr;
mod lower;
pub mod oracle;
pub mod show;
pub mod text;
pub mod write;

pub use draft::Draft;
pub use oracle::Product;
