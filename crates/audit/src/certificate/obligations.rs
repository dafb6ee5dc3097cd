//! What has to be checked, said once for both means: initiality, step and non-interference, implication.
//!
//! In: a split invariant of the right shape and the property that it is to imply. Each obligation is put to a [`Discharge`],
//! which holds the sets and can take steps.

use base::Budget;
use evidence::certificate::Column;
use model::process::ProcessId;
use model::property::{Property, PropertyKind};
use model::variable::{CellId, VarId};

use super::Outcome;
use super::claimed::{Claimed, subsets};
use super::clause::{Clause, Demand, Mentions, Splitter};
use super::movers::{Movers, union};

/// Sets of view states that obligations can be put to. Processes are given in ascending order; those `concerned` are at least
/// `k`, and a combination of values for them is one of which every `k` processes are in their member.
pub(super) trait Discharge {
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
    n_discharged: usize,
}

impl<'a> Obligations<'a> {
    /// The obligations of the invariant.
    pub fn new(claimed: &'a Claimed<'a>, budget: &'a Budget) -> Self {
        Obligations { claimed, budget, n_discharged: 0 }
    }

    /// Puts all obligations, those of the implication if a property is given; how many there were.
    pub fn discharge(mut self, sets: &mut dyn Discharge, property: Option<&Property>) -> Outcome<usize> {
        let movers = Movers::all(self.claimed.model());
        for member in self.claimed.members.keys() {
            self.count()?;
            sets.initiality(member)?;
        }
        for member in self.claimed.members.keys() {
            for &movers in &movers {
                self.count()?;
                sets.induction(member, movers)?;
            }
        }
        if let Some(property) = property {
            self.implication(sets, &property.kind, &movers)?;
        }
        Ok(self.n_discharged)
    }

    fn implication(&mut self, sets: &mut dyn Discharge, kind: &PropertyKind, movers: &[Movers]) -> Outcome<()> {
        match kind {
            PropertyKind::Invariant(expr) => self.clauses(sets, expr, Demand::True),
            PropertyKind::Reachable(expr) => self.clauses(sets, expr, Demand::False),
            PropertyKind::NoErrors => movers.iter().try_for_each(|&movers| {
                self.count()?;
                sets.no_fault(movers, &self.concerned(movers.processes(), []))
            }),
            PropertyKind::RaceFree(var) => {
                for (at, &one) in movers.iter().enumerate() {
                    for &other in &movers[at..] {
                        if one != other || one.processes().len() > 1 {
                            self.count()?;
                            let concerned = self.concerned(union(&one.processes(), &other.processes()), []);
                            sets.no_race(*var, [one, other], &concerned)?;
                        }
                    }
                }
                Ok(())
            }
            PropertyKind::DeadlockFree => {
                self.count()?;
                sets.no_deadlock(movers)
            }
            PropertyKind::Temporal(_) => unreachable!("temporal properties are refused before"),
        }
    }

    fn clauses(&mut self, sets: &mut dyn Discharge, expr: &model::expr::Expr, demand: Demand) -> Outcome<()> {
        let splitter = Splitter::new(self.claimed.model());
        splitter.clauses(expr, demand, &mut |clause| {
            self.count()?;
            let mentions = splitter.mentions(&clause)?;
            let concerned =
                self.concerned(mentions.processes.iter().copied().collect(), mentions.cells.iter().copied());
            sets.clause(&clause, &mentions, &concerned)
        })
    }

    /// The processes given and further ones: such that see the cells, and so many that there are `k`.
    fn concerned(&self, processes: Vec<ProcessId>, cells: impl IntoIterator<Item = CellId>) -> Vec<ProcessId> {
        let Claimed { k, members, .. } = self.claimed;
        let mut concerned = processes;
        let sees = |set: &[ProcessId], cell: CellId| members[set].columns.contains(&Column::Cell(cell));
        for cell in cells {
            if !subsets(&concerned, *k).any(|set| sees(&set, cell)) {
                // The member that adds fewest processes; a cell that nobody sees may have any value.
                let added = |set: &&Vec<ProcessId>| set.iter().filter(|one| !concerned.contains(one)).count();
                let best = members.keys().filter(|set| sees(set, cell)).min_by_key(added);
                concerned = best.map_or(concerned.clone(), |set| union(&concerned, set));
            }
        }
        let others = self.claimed.model().processes.ids().filter(|one| !concerned.contains(one)).collect::<Vec<_>>();
        let missing = k.saturating_sub(concerned.len());
        union(&concerned, &others[..missing])
    }

    fn count(&mut self) -> Outcome<()> {
        self.n_discharged += 1;
        Ok(self.budget.check(0)?)
    }
}
