//! What tests are built on: models made by hand or at random, and what brute force says about them.
//!
//! [`draft`]: a program under construction; [`text`]: its statements; [`expr`]: its expressions. [`mod@write`] shows a draft in
//! the language, [`show`] states and steps on one line. [`oracle`]: the whole product by brute force;
//! [`permutation`]: states with processes permuted.
//! [`local`]: the smallest local proofs, and their rule word by word; [`runs`]: those of temporal properties.
//! [`program`]: random programs as texts, by profiles; [`sized`]: those of any size, as proofs for every size are about; [`changes`]: texts with a word changed. [`random`]: random drafts out of [`choices`]; [`for_each_program`] runs a check on many and makes a failing one small.
//! [`beyond`]: marks that texts cannot say. [`blessed`]: texts that were read once and are compared for ever.
//! [`promela`]: random programs for SPIN. [`samples`]: programs made by hand; [`systems`]: random systems as DVE texts; [`questions`] and [`conditions`]: what is asked about random programs.

pub mod beyond;
pub mod blessed;
mod campaign;
pub mod changes;
pub mod choices;
pub mod conditions;
pub mod draft;
pub mod expr;
pub mod local;
mod lower;
pub mod oracle;
pub mod permutation;
pub mod program;
pub mod promela;
pub mod questions;
pub mod random;
mod resolve;
pub mod runs;
pub mod samples;
pub mod show;
pub mod sized;
pub mod skip;
pub mod systems;
pub mod temporal;
pub mod text;
pub mod write;

pub use beyond::Beyond;
pub use campaign::for_each_program;
pub use draft::Draft;
pub use oracle::Product;
pub use random::RandomFeatures;
