//! Local proofs of temporal properties with decision diagrams: the drawing backend of `compose::fair`.
//!
//! In: a temporal property. Out: a fair run that violates it, or that there is none. Local states by store are the split
//! invariants of `split.rs`; the turns of each process as changes of the store are made of them once for all foci
//! (`store_turns.rs`); what predicates may hold for a focus is in `predicates.rs`. Fair runs of an abstract process are
//! looked for as in the whole product (`fair.rs`).

mod backend;
mod predicates;
mod store_turns;

use std::sync::Arc;

use base::StopReason;
use compose::fair::conditions::{Conditions, follows};
use compose::fair::locals::Locals;
use compose::fair::{self, Decided, Variant, Way};
use engine::{Halt, Observer, PropertyId, Statistics, Task};
use model::Model;
use model::fairness::EdgePredicate;
use model::property::PropertyKind;

use crate::attended::Gauge;
use crate::local::LocalSets;
use backend::Drawn;

/// Which method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Everybody's abstract process, with no fairness but that of scheduling (CAV 2008).
    Ll,
    /// Everybody's abstract process (CAV 2010).
    FllA,
    /// Somebody's abstract process (CAV 2010).
    FllB,
}

impl Rule {
    /// The method's name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Rule::Ll => "ll",
            Rule::FllA => "fll-a",
            Rule::FllB => "fll-b",
        }
    }

    /// Whether the rule is for a property.
    ///
    /// # Errors
    /// Why not, and what is.
    pub fn supports(self, model: &Model, property: PropertyId) -> Result<(), StopReason> {
        let refuse = |why: &str| Err(StopReason::NotSupported(why.to_owned()));
        let asked = &model.properties[property];
        if !matches!(asked.kind, PropertyKind::Temporal(_)) {
            return refuse("this method answers temporal properties, not safety; `completion` and `tmmc` do");
        }
        let is_scheduling = |pair: &model::fairness::FairnessPair| {
            pair.always.is_none() && pair.often.iter().all(|often| matches!(often, EdgePredicate::Scheduled(_)))
        };
        let mut pairs = asked.under.any_of.iter().flatten();
        if self == Rule::Ll && !pairs.all(|&id| is_scheduling(&model.fairness[id])) {
            return refuse("`ll` knows no fairness but `every`; `fll-a` and `fll-b` know all of it");
        }
        follows(model)
    }
}

/// Decides a property with local sets in which nothing is exposed; and what it took.
pub(crate) fn decide<'m>(
    rule: Rule,
    sets: LocalSets<'m>,
    (task, property): (&Task<'m>, PropertyId),
    (observer, gauge): (&dyn Observer, &Arc<Gauge>),
) -> Result<(Result<Decided, Halt>, Statistics), Halt> {
    let conditions = Conditions::new(task.model, property, &task.budget)?;
    let locals = Locals::new(task.model)?;
    let mut drawn = Drawn::new(sets, (&conditions, &locals), (&task.budget, gauge));
    let variant = if rule == Rule::FllB { Variant::One } else { Variant::Every };
    let way = Way { variant, budget: &task.budget, observer };
    let decided = fair::decide(&mut drawn, (&conditions, &locals), &way);
    Ok((decided, compose::fair::backend::FairBackend::statistics(&drawn)))
}
