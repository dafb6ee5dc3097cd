//! What has to be checked, said once for both means: initiality, step and non-interference, implication.
//!
//! In: a split invariant of the right shape and the property that it is to imply. Each obligation is put to a [`Discharge`],
//! which holds the sets and can take steps.

use base::Budget;
use evidence::certificate;
use evidence::implication::Implied;
use model::Model;
use model::process::ProcessId;
use model::property::PropertyKind;
use model::variable::VarId;

use super::Outcome;
use super::claimed::{Claimed, names};
use super::clause::Clause;
use super::implication::{Demanded, Implication, Stated};
use super::movers::Movers;
use super::symmetry::Permutation;
use super::terms::{Mentions, Terms};
use super::words;

/// Sets of view states that obligations can be put to. Processes are given in ascending order; those `concerned` are at least
/// `k`, and a combination of values for them is one of which every `k` processes are in their member.
pub(super) trait Discharge {
    /// The exchange of processes does not change the member, whose processes it keeps together.
    fn invariance(&mut self, member: &[ProcessId], exchange: &Permutation) -> Outcome<()>;

    /// Every initial state, projected to the member, is in it.
    fn initiality(&mut self, member: &[ProcessId]) -> Outcome<()>;

    /// Each successor by these movers, from any combination of values for them and the member's processes, is in the member.
    fn induction(&mut self, member: &[ProcessId], movers: Movers) -> Outcome<()>;

    /// The clause holds in any combination of values for the processes concerned.
    fn clause(&mut self, clause: &Clause<'_>, mentions: &Mentions, concerned: &[ProcessId]) -> Outcome<()>;

    /// No step of the movers fails in any combination of values for the processes concerned.
    fn no_fault(&mut self, movers: Movers, concerned: &[ProcessId]) -> Outcome<()>;

    /// In no combination of values for the processes concerned can steps of both touch one cell of the variable, one of them
    /// writing it.
    fn no_race(&mut self, var: VarId, contenders: [Movers; 2], concerned: &[ProcessId]) -> Outcome<()>;

    /// In no combination of values for all processes can none of the movers move, and somebody is stuck.
    fn no_deadlock(&mut self, movers: &[Movers]) -> Outcome<()>;
}

/// The obligations of one split invariant.
pub(super) struct Obligations<'a> {
    claimed: &'a Claimed<'a>,
    budget: &'a Budget,
    /// What was discharged so far.
    discharged: certificate::Obligations,
}

impl<'a> Obligations<'a> {
    /// The obligations of the invariant.
    pub fn new(claimed: &'a Claimed<'a>, budget: &'a Budget) -> Self {
        Obligations { claimed, budget, discharged: certificate::Obligations::default() }
    }

    /// Puts all obligations, those of the implication if a property is given with its parts; how many there were.
    pub fn discharge(
        mut self,
        sets: &mut dyn Discharge,
        property: Option<(&PropertyKind, &[Implied])>,
    ) -> Outcome<certificate::Obligations> {
        let movers = Movers::all(self.claimed.model());
        for member in self.claimed.listed.keys() {
            for exchange in self.claimed.symmetry.iter().flat_map(|symmetry| symmetry.keeping(member)) {
                self.count(|counts| &mut counts.symmetry)?;
                sets.invariance(member, &exchange)?;
            }
            self.count(|counts| &mut counts.initiality)?;
            sets.initiality(member)?;
        }
        for member in self.claimed.listed.keys() {
            for &movers in movers.iter().filter(|movers| self.claimed.is_representative(&movers.sequence(), member)) {
                let is_own = movers.processes().iter().any(|mover| member.contains(mover));
                self.count(|counts| if is_own { &mut counts.step } else { &mut counts.non_interference })?;
                sets.induction(member, movers)?;
            }
        }
        if let Some(property) = property {
            self.implication(sets, property, &movers)?;
        }
        Ok(self.discharged)
    }

    /// Puts the parts of which the property is made, as the certificate states them.
    fn implication(
        &mut self,
        sets: &mut dyn Discharge,
        (kind, stated): (&PropertyKind, &[Implied]),
        movers: &[Movers],
    ) -> Outcome<()> {
        let terms = Terms::new(self.claimed.model());
        let (k, symmetry, budget) = (self.claimed.k, self.claimed.symmetry.as_ref(), self.budget);
        let parts = Implication { terms: &terms, property: kind, movers, k, symmetry, budget }.parts(stated)?;
        for Stated { demanded, from } in parts {
            self.count(|counts| &mut counts.implication)?;
            match (demanded, kind) {
                (Demanded::Clause(clause, mentions), _) => sets.clause(&clause, &mentions, from)?,
                (Demanded::NoFault(movers), _) => sets.no_fault(movers, from)?,
                (Demanded::NoRace(contenders), PropertyKind::RaceFree(var)) => sets.no_race(*var, contenders, from)?,
                (Demanded::NoRace(_), _) => unreachable!("races are parts of one kind of property"),
                (Demanded::NoDeadlock, _) => sets.no_deadlock(movers)?,
            }
        }
        Ok(())
    }

    fn count(&mut self, kind: impl FnOnce(&mut certificate::Obligations) -> &mut usize) -> Outcome<()> {
        *kind(&mut self.discharged) += 1;
        Ok(self.budget.check(0)?)
    }
}

/// The refusal of a member that an exchange of processes changes.
pub(super) fn not_invariant<T>(model: &Model, member: &[ProcessId]) -> Outcome<T> {
    let names = names(model, member);
    words::refused(
        format!("the invariant of {names} has to treat all other processes alike, and its own"),
        "it changes where processes are exchanged",
    )
}
