//! What has to be checked, said once for both means: initiality, step and non-interference, implication.
//!
//! In: a split invariant of the right shape and the property that it is to imply. Each obligation is put to a [`Discharge`],
//! which holds the sets and can take steps.

use base::Budget;
use evidence::certificate::{self, Column};
use model::Model;
use model::process::ProcessId;
use model::property::{Property, PropertyKind};
use model::variable::{CellId, VarId};

use super::Outcome;
use super::claimed::{Claimed, names, subsets};
use super::clause::{Clause, Mentions, Splitter, Wanted};
use super::movers::{Movers, union};
use super::symmetry::{Permutation, Symmetry};
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
    discharged: certificate::DischargedObligations,
}

impl<'a> Obligations<'a> {
    /// The obligations of the invariant.
    pub fn new(claimed: &'a Claimed<'a>, budget: &'a Budget) -> Self {
        Obligations { claimed, budget, discharged: certificate::DischargedObligations::default() }
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
            for &movers in movers.iter().filter(|movers| self.claimed.is_representative(&movers.sequence(), member)) {
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

    fn implication(&mut self, sets: &mut dyn Discharge, kind: &PropertyKind, movers: &[Movers]) -> Outcome<()> {
        match kind {
            PropertyKind::Invariant(expr) => self.clauses(sets, expr, Wanted::True),
            PropertyKind::Reachable(expr) => self.clauses(sets, expr, Wanted::False),
            PropertyKind::NoErrors => {
                for &movers in movers.iter().filter(|movers| self.claimed.is_representative(&movers.sequence(), &[])) {
                    self.count(|counts| &mut counts.implication)?;
                    sets.no_fault(movers, &self.concerned(movers.processes(), []))?;
                }
                Ok(())
            }
            PropertyKind::RaceFree(var) => {
                for (at, &one) in movers.iter().enumerate() {
                    for &other in &movers[at..] {
                        let orders = [[one.sequence(), other.sequence()], [other.sequence(), one.sequence()]];
                        let stands = orders.iter().any(|order| self.claimed.is_representative(&order.concat(), &[]));
                        if stands && (one != other || one.processes().len() > 1) {
                            self.count(|counts| &mut counts.implication)?;
                            let concerned = self.concerned(union(&one.processes(), &other.processes()), []);
                            sets.no_race(*var, [one, other], &concerned)?;
                        }
                    }
                }
                Ok(())
            }
            PropertyKind::DeadlockFree => {
                self.count(|counts| &mut counts.implication)?;
                sets.no_deadlock(movers)
            }
            PropertyKind::Temporal(_) => unreachable!("temporal properties are refused before"),
        }
    }

    fn clauses(&mut self, sets: &mut dyn Discharge, expr: &model::expr::Expr, demand: Wanted) -> Outcome<()> {
        let claimed = self.claimed;
        let chosen = |sequence: &[ProcessId]| claimed.is_representative(sequence, &[]);
        let alike = self.claimed.symmetry.as_ref().is_some_and(Symmetry::property_alike);
        let splitter = Splitter::new(claimed.model());
        let splitter = if alike { splitter.choosing(&chosen) } else { splitter };
        splitter.clauses(expr, demand, &mut |clause| {
            // Where the property treats all processes alike, instances that are images of each other say the same.
            if alike && !self.claimed.is_representative(&clause.processes(), &[]) {
                return Ok(());
            }
            self.count(|counts| &mut counts.implication)?;
            let mentions = splitter.mentions(&clause)?;
            let concerned =
                self.concerned(mentions.processes.iter().copied().collect(), mentions.cells.iter().copied());
            sets.clause(&clause, &mentions, &concerned)
        })
    }

    /// The processes given and further ones: so many that there are `k`, and such that see the cells.
    fn concerned(&self, processes: Vec<ProcessId>, cells: impl IntoIterator<Item = CellId>) -> Vec<ProcessId> {
        let k = self.claimed.k;
        let everybody = || self.claimed.model().processes.ids();
        let missing = k.saturating_sub(processes.len());
        let others: Vec<ProcessId> = everybody().filter(|one| !processes.contains(one)).take(missing).collect();
        let mut concerned = union(&processes, &others);
        let sees = |set: &[ProcessId], cell: CellId| self.claimed.member(set).columns.contains(&Column::Cell(cell));
        for cell in cells {
            if subsets(&concerned, k).any(|set| sees(&set, cell)) {
                continue;
            }
            // The first with whom somebody sees it; a cell that nobody sees may have any value.
            let watches = |one: &ProcessId| {
                let together = union(&concerned, &[*one]);
                subsets(&together, k).any(|set| set.contains(one) && sees(&set, cell))
            };
            let watcher = everybody().filter(|one| !concerned.contains(one)).find(watches);
            concerned = union(&concerned, watcher.as_slice());
        }
        concerned
    }

    fn count(&mut self, kind: impl FnOnce(&mut certificate::DischargedObligations) -> &mut usize) -> Outcome<()> {
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
