//! What has to be checked, said once for both means: initiality, step and non-interference, implication.
//!
//! In: a split invariant of the right shape and the property that it is to imply. Each obligation is put to a [`Discharge`],
//! which holds the sets and can take steps.

use std::collections::HashSet;

use base::Budget;
use evidence::certificate;
use evidence::implied::Implied;
use model::Model;
use model::process::ProcessId;
use model::property::{Property, PropertyKind};
use model::variable::VarId;

use super::claimed::{Claimed, names};
use super::clause::{Clause, Mentions, Splitter, Wanted};
use super::coverage::ClauseCoverage;
use super::movers::{Movers, union};
use super::symmetry::{Orbit, Permutation, Symmetry};
use super::{CertificateError, Outcome, words};

/// Sets of view states that obligations can be put to. Processes are given in ascending order; those `concerned` are at least
/// `k`, and a combination of values for them is one of which every `k` processes are in their member.
pub(super) trait Discharge {
    /// The permutation of processes does not change the member, whose processes it keeps together.
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

    /// In no combination of values for all processes, of which these members have theirs, can none of the movers move, and somebody is
    /// stuck.
    fn no_deadlock(&mut self, movers: &[Movers], members: &[Vec<ProcessId>]) -> Outcome<()>;
}

/// The obligations of one split invariant.
pub(super) struct Obligations<'a> {
    claimed: &'a Claimed<'a>,
    /// What of the property follows from which processes, as the proof says.
    implies: &'a [Implied],
    budget: &'a Budget,
    /// What was discharged so far.
    discharged: certificate::DischargedObligations,
}

impl<'a> Obligations<'a> {
    /// The obligations of the invariant.
    pub fn new(claimed: &'a Claimed<'a>, implies: &'a [Implied], budget: &'a Budget) -> Self {
        Obligations { claimed, implies, budget, discharged: certificate::DischargedObligations::default() }
    }

    /// Puts all obligations, those of the implication if a property is given; how many there were.
    pub fn discharge(
        mut self,
        sets: &mut dyn Discharge,
        property: Option<&Property>,
    ) -> Outcome<certificate::DischargedObligations> {
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
            let mut covered: HashSet<Orbit> = HashSet::new();
            for &movers in &movers {
                // Of cases that are images of each other one is enough.
                if !covered.insert(self.claimed.orbit(&movers.sequence(), member)) {
                    continue;
                }
                let is_own = movers.processes().iter().any(|mover| member.contains(mover));
                self.count(|counts| if is_own { &mut counts.step } else { &mut counts.non_interference })?;
                sets.induction(member, movers)?;
            }
        }
        if let Some(property) = property {
            self.implication(sets, &property.kind, &movers)?;
        }
        Ok(self.discharged)
    }

    /// Each part of the property follows from the processes that the proof names.
    fn implication(&mut self, sets: &mut dyn Discharge, kind: &PropertyKind, movers: &[Movers]) -> Outcome<()> {
        match kind {
            PropertyKind::Invariant(expr) => self.clauses(sets, (expr, Wanted::True)),
            PropertyKind::Reachable(expr) => self.clauses(sets, (expr, Wanted::False)),
            PropertyKind::NoErrors => self.no_faults(sets, movers),
            PropertyKind::RaceFree(var) => self.no_races(sets, *var, movers),
            PropertyKind::DeadlockFree => {
                let [Implied::NoDeadlock { from }] = self.implies else {
                    return malformed("it does not say which invariants exclude a deadlock".to_owned());
                };
                for group in from {
                    self.members_exist(group)?;
                    if group.len() != self.claimed.k {
                        let names = names(self.claimed.model(), group);
                        return malformed(format!("it names {names} together, of whom there is no invariant"));
                    }
                }
                let unsaid = |process: &ProcessId| !from.iter().any(|group| group.contains(process));
                if let Some(process) = self.claimed.model().processes.ids().find(unsaid) {
                    let name = names(self.claimed.model(), &[process]);
                    return words::refused(
                        "the invariants of all processes have to exclude a deadlock",
                        format!("nothing is said about {name}"),
                    );
                }
                self.count(|counts| &mut counts.implication)?;
                sets.no_deadlock(movers, from)
            }
            PropertyKind::Temporal(_) => unreachable!("temporal properties are refused before"),
        }
    }

    fn clauses(&mut self, sets: &mut dyn Discharge, asked: (&model::expr::Expr, Wanted)) -> Outcome<()> {
        let claimed = self.claimed;
        let alike = claimed.symmetry.as_ref().is_some_and(Symmetry::property_alike);
        let splitter = Splitter::new(claimed.model());
        ClauseCoverage::new(&splitter, alike, self.budget).clauses(asked, self.implies, &mut |clause, from| {
            self.count(|counts| &mut counts.implication)?;
            let mentions = splitter.mentions(clause)?;
            let looked_at: Vec<ProcessId> = mentions.processes.iter().copied().collect();
            self.members_of(&looked_at, from)?;
            sets.clause(clause, &mentions, from)
        })
    }

    fn no_faults(&mut self, sets: &mut dyn Discharge, movers: &[Movers]) -> Outcome<()> {
        let mut covered: HashSet<Orbit> = HashSet::new();
        for part in self.implies {
            let Implied::NoFault { movers: named, from } = part else { return another_kind() };
            let movers = self.movers_named(movers, named)?;
            covered.insert(self.claimed.orbit(&movers.sequence(), &[]));
            self.members_of(&movers.processes(), from)?;
            self.count(|counts| &mut counts.implication)?;
            sets.no_fault(movers, from)?;
        }
        let missing = movers.iter().find(|movers| !covered.contains(&self.claimed.orbit(&movers.sequence(), &[])));
        missing.map_or(Ok(()), |movers| {
            let names = names(self.claimed.model(), &movers.processes());
            words::refused("no step may fail", format!("nothing is said about steps of {names}"))
        })
    }

    fn no_races(&mut self, sets: &mut dyn Discharge, var: VarId, movers: &[Movers]) -> Outcome<()> {
        let mut covered: HashSet<(usize, Orbit)> = HashSet::new();
        for part in self.implies {
            let Implied::NoRace { movers: [one, other], from } = part else { return another_kind() };
            let (one, other) = (self.movers_named(movers, one)?, self.movers_named(movers, other)?);
            // Who is named first does not matter.
            covered.extend([self.kind_of_pair(one, other), self.kind_of_pair(other, one)]);
            self.members_of(&union(&one.processes(), &other.processes()), from)?;
            self.count(|counts| &mut counts.implication)?;
            sets.no_race(var, [one, other], from)?;
        }
        for (at, &one) in movers.iter().enumerate() {
            for &other in movers[at..].iter().filter(|&&other| one != other || one.processes().len() > 1) {
                if !covered.contains(&self.kind_of_pair(one, other)) {
                    let names = names(self.claimed.model(), &union(&one.processes(), &other.processes()));
                    let finding = format!("nothing is said about steps of {names} at once");
                    return words::refused("no two steps may race", finding);
                }
            }
        }
        Ok(())
    }

    /// What two movers have in common with their images: how many move with the first one, and the orbit of both.
    fn kind_of_pair(&self, one: Movers, other: Movers) -> (usize, Orbit) {
        let both = [one.sequence(), other.sequence()].concat();
        (one.sequence().len(), self.claimed.orbit(&both, &[]))
    }

    /// The movers that the proof names.
    fn movers_named(&self, movers: &[Movers], named: &[ProcessId]) -> Outcome<Movers> {
        self.members_exist(named)?;
        let found = movers.iter().copied().find(|movers| movers.sequence() == named);
        let unknown = || format!("it names steps of {}, which there are not", names(self.claimed.model(), named));
        found.ok_or_else(|| CertificateError::Malformed(unknown()))
    }

    /// The processes that are to imply a part are ascending, at least as many as an invariant speaks of, and all that it reads.
    fn members_of(&self, looked_at: &[ProcessId], from: &[ProcessId]) -> Outcome<()> {
        let model = self.claimed.model();
        self.members_exist(from)?;
        let shown = || names(model, from);
        if !from.is_sorted_by(|one, other| one < other) || from.len() < self.claimed.k {
            let k = self.claimed.k;
            return malformed(format!("a part is said to follow from {}: {k} in ascending order are needed", shown()));
        }
        match looked_at.iter().find(|process| !from.contains(process)) {
            None => Ok(()),
            Some(&other) => {
                let other = names(model, &[other]);
                malformed(format!("a part is said to follow from {}, and is about {other}, too", shown()))
            }
        }
    }

    fn members_exist(&self, processes: &[ProcessId]) -> Outcome<()> {
        match processes.iter().find(|&&process| self.claimed.model().processes.get(process).is_none()) {
            None => Ok(()),
            Some(process) => malformed(format!("there is no process number {}", process.index())),
        }
    }

    fn count(&mut self, kind: impl FnOnce(&mut certificate::DischargedObligations) -> &mut usize) -> Outcome<()> {
        *kind(&mut self.discharged) += 1;
        Ok(self.budget.check(0)?)
    }
}

fn malformed<T>(what: String) -> Outcome<T> {
    Err(CertificateError::Malformed(what))
}

fn another_kind<T>() -> Outcome<T> {
    malformed("it names what follows for a property of another kind".to_owned())
}

/// The refusal of a member that a permutation of processes changes.
pub(super) fn not_invariant<T>(model: &Model, member: &[ProcessId]) -> Outcome<T> {
    let names = names(model, member);
    words::refused(
        format!("the invariant of {names} has to treat all other processes alike, and its own"),
        "it changes where processes are exchanged",
    )
}
