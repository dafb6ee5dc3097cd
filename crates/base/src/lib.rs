//! What every crate depends on, and what knows nothing of model checking.
//!
//! [`id`]: typed ids and vectors indexed by them. [`source`]: files, spans, lines and columns. [`diagnostic`]: messages
//! about the user's input, with stable codes. [`budget`]: limits on time and memory, cancellation, and [`StopReason`].
//! [`gate`]: work in turns. [`memory`]: what the process takes, watched. [`unsupported`]: what methods do not follow, as data.

pub mod budget;
pub mod diagnostic;
pub mod gate;
pub mod id;
pub mod memory;
pub mod source;
pub mod unsupported;

pub use budget::{Budget, CancelToken, StopReason};
pub use diagnostic::{Applicability, Diagnostic, Edit, Help, Label, Severity};
pub use id::{Id, IdVec};
pub use source::{LineCol, SourceFile, Span};
pub use unsupported::{Coarse, Feature, Unsupported};
