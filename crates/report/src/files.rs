//! The files that a call wrote beside its results.

use std::collections::BTreeMap;

use engine::PropertyId;

/// The evidence that was written, by property.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Files {
    /// Traces.
    pub traces: BTreeMap<PropertyId, String>,
    /// Proofs.
    pub proofs: BTreeMap<PropertyId, String>,
}
