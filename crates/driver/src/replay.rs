//! A trace from a file, checked against a program.
//!
//! In: the text of an ITF file, and the program that it is said to be a run of. Out: the trace, complete and replayed on
//! the reference semantics, with the property that it decides, if it is about one; or why not.

use std::fmt;

use audit::AuditError;
use engine::PropertyId;
use evidence::Trace;
use evidence::itf::{self, ItfError};
use model::Model;

use crate::select;
use crate::simulation::Simulation;

/// Why a file is not accepted as a trace of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReplayError {
    /// It is no trace, or none of this program.
    File(ItfError),
    /// It is not known which property it is about.
    Property(String),
    /// It is a trace, and no run of the program that decides the property.
    Refused(AuditError),
    /// It is a trace about no property, and no run of the program.
    NoRun(String),
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReplayError::File(error) => error.fmt(f),
            ReplayError::Property(message) | ReplayError::NoRun(message) => message.fmt(f),
            ReplayError::Refused(error) => error.fmt(f),
        }
    }
}

/// The trace, replayed, and the property that it decides: the named one, or else the one that the file names. A run that `sim` wrote names none,
/// and says who moves in each step.
///
/// # Errors
/// Why it is not accepted.
pub fn replay(text: &str, model: &Model, property: Option<&str>) -> Result<(Option<PropertyId>, Trace), ReplayError> {
    let read = itf::read(text, model).map_err(ReplayError::File)?;
    let named = read.property.as_deref().filter(|name| !name.is_empty());
    if property.or(named).is_none()
        && let Some(trace) = read.exact().filter(|trace| trace.loop_from.is_none())
    {
        Simulation::along(model, &trace).map_err(ReplayError::NoRun)?;
        return Ok((None, trace));
    }
    let name = property.or(named).ok_or_else(|| {
        let names: Vec<&str> = model.properties.iter().map(|property| property.name.as_str()).collect();
        let names = names.join(", ");
        ReplayError::Property(format!(
            "the trace says neither which property it is about nor who moves in each step; give --property, one of: {names}"
        ))
    })?;
    let property = select::find(model, name).map_err(ReplayError::Property)?;
    let trace = audit::complete(model, property, &read).map_err(ReplayError::Refused)?;
    audit::replay(model, property, &trace).map_err(ReplayError::Refused)?;
    Ok((Some(property), trace))
}
