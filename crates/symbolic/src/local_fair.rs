//! Local proofs of temporal properties with decision diagrams: the drawing backend of `compose::fair`.
//!
//! In: a temporal property. Out: a fair run that violates it, or that there is none. Local states by store are the split
//! invariants of `split.rs`; the turns of each process as changes of the store are made of them once for all foci
//! (`store_turns.rs`); what predicates may hold for a focus is in `predicates.rs`. Fair runs of an abstract process are
//! searched as in the whole product (`fair.rs`).

mod backend;
mod predicates;
mod store_turns;

use std::sync::Arc;

pub use compose::fair::LivenessRule;
use compose::fair::conditions::Conditions;
use compose::fair::locals::Locals;
use compose::fair::{self, Decided, FairOptions};
use engine::{Halt, Observer, PropertyId, Statistics, Task};

use crate::local::LocalSets;
use crate::watchdog::Gauge;
use backend::SymbolicProcesses;

/// Decides a property with local sets in which nothing is exposed; and what it took.
pub(crate) fn decide<'m>(
    rule: LivenessRule,
    sets: LocalSets<'m>,
    (task, property): (&Task<'m>, PropertyId),
    (observer, gauge): (&dyn Observer, &Arc<Gauge>),
) -> Result<(Result<Decided, Halt>, Statistics), Halt> {
    let conditions = Conditions::new(task.model, property, &task.budget)?;
    let locals = Locals::new(task.model)?;
    let mut symbolic = SymbolicProcesses::new(sets, (&conditions, &locals), (&task.budget, gauge));
    let options = FairOptions { variant: rule.variant(), budget: &task.budget, observer, sums: None, shown: &[] };
    let decided = fair::decide(&mut symbolic, (&conditions, &locals), &options);
    Ok((decided, compose::fair::backend::FairBackend::statistics(&symbolic)))
}
