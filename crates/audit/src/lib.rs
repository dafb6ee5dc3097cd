//! The independent checker: every verdict's evidence passes here before a person sees it.
//!
//! It uses the Model and `model::eval`, and nothing that an engine built, so that a bug in an encoding, a packed
//! evaluator or an engine cannot hide itself. [`replay()`] checks a trace; [`guided`] finds what a trace from a file leaves
//! open; [`recount()`] searches a small product again.

pub mod certificate;
pub mod error;
pub mod guided;
mod lasso;
pub mod recount;
pub mod replay;
pub mod shape;
pub mod temporal;

pub use error::AuditError;
pub use guided::complete;
pub use lasso::satisfies;
pub use recount::{Recount, Recounted, SearchedAgain, recount};
pub use replay::replay;
