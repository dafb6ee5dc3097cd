//! A backend of plain sets: a set of view states is a `BTreeSet` of rows of values, a step is one of `model::eval`.
//!
//! It is as slow as it is simple, and shares nothing with the real backends, so that what the tests find is about `compose` itself.
//! Every process sees the whole store.

use std::collections::{BTreeMap, BTreeSet};

use base::StopReason;
use compose::backend::{Answered, Backend, Join, Movers};
use compose::question::{Pattern, Question};
use compose::symmetry::{Permutation, Symmetry};
use evidence::certificate::{Column, ControlPoint, SplitInvariant};
use model::Model;
use model::eval::{self, State, Viewpoint};
use model::process::ProcessId;
use model::variable::CellId;
use testkit::local::{Combination, LocalDefinition, ViewPart, participants};

pub struct PlainSets<'m> {
    pub local: LocalDefinition<'m>,
}

impl<'m> PlainSets<'m> {
    pub fn new(model: &'m Model) -> Self {
        PlainSets { local: LocalDefinition::new(model, 1) }
    }

    /// Every way to combine rows of the sets that agree where several of them speak.
    fn combinations(&self, join: Join<'_, BTreeSet<Combination>>) -> Vec<Combination> {
        join.iter().fold(vec![Combination::new()], |found, (_, set)| joined(&found, set))
    }

    /// Whether the pattern is in a state of which the join's groups are known.
    fn matches(&self, pattern: &Pattern, state: &State) -> Result<bool, String> {
        let model = self.local.model;
        match pattern {
            Pattern::Truth { expr, bound, wanted } => {
                let mut view = Viewpoint::new(model, state, None);
                view.bound.clone_from(bound);
                view.truth(expr).map(|truth| truth == *wanted).map_err(|fault| fault.fault.to_string())
            }
            Pattern::Fault(process) => {
                let concerns = |step: &eval::Step| participants(&step.by).contains(process);
                Ok(eval::steps(model, state).iter().any(|step| concerns(step) && step.result.is_err()))
            }
            Pattern::Deadlock => Ok(eval::is_deadlock(model, state)),
            Pattern::Race(..) => Ok(true),
        }
    }
}

fn joined(ones: &[Combination], others: &BTreeSet<Combination>) -> Vec<Combination> {
    let (Some(one), Some(other)) = (ones.first(), others.first()) else { return Vec::new() };
    let common: Vec<Column> = one.keys().filter(|column| other.contains_key(column)).copied().collect();
    let key = |row: &Combination| -> Vec<ViewPart> { common.iter().map(|column| row[column].clone()).collect() };
    let mut by_key: BTreeMap<Vec<ViewPart>, Vec<&Combination>> = BTreeMap::new();
    others.iter().for_each(|other| by_key.entry(key(other)).or_default().push(other));
    let both = |one: &Combination, other: &Combination| one.clone().into_iter().chain(other.clone()).collect();
    let of = |one: &Combination| -> Vec<Combination> {
        by_key.get(&key(one)).into_iter().flatten().map(|other| both(one, other)).collect()
    };
    ones.iter().flat_map(of).collect()
}

impl Backend for PlainSets<'_> {
    type Set = BTreeSet<Combination>;

    fn model(&self) -> &Model {
        self.local.model
    }

    fn movers(&self) -> Vec<Movers> {
        let pairs = self.local.movers().into_iter().flat_map(|movers| match movers[..] {
            [a, b] => vec![(a, Some(b)), (b, Some(a))],
            _ => vec![(movers[0], None)],
        });
        pairs.map(|(process, partner)| Movers { process, partner }).collect()
    }

    fn interferes(&self, _: Movers, _: &[ProcessId]) -> bool {
        true
    }

    fn empty(&self) -> Self::Set {
        BTreeSet::new()
    }

    fn is_empty(&self, set: &Self::Set) -> bool {
        set.is_empty()
    }

    fn initial(&mut self, group: &[ProcessId]) -> Result<Self::Set, StopReason> {
        let columns = self.local.columns(group);
        Ok(eval::initial_states(self.model()).map(|state| self.local.project(&state, &columns)).collect())
    }

    fn post(&mut self, movers: Movers, join: Join<'_, Self::Set>, onto: &[ProcessId]) -> Result<Self::Set, StopReason> {
        let (mut moving, columns): (Vec<ProcessId>, _) = (movers.processes().collect(), self.local.columns(onto));
        moving.sort_unstable();
        let after = |from: &Combination| self.local.successors(from, &moving, &columns);
        Ok(self.combinations(join).iter().flat_map(after).collect())
    }

    fn union(&mut self, a: &Self::Set, b: &Self::Set) -> Result<Self::Set, StopReason> {
        Ok(a | b)
    }

    fn minus(&mut self, a: &Self::Set, b: &Self::Set) -> Result<Self::Set, StopReason> {
        Ok(a - b)
    }

    fn renames(&self, _: &Symmetry<'_>) -> bool {
        true
    }

    fn renamed(
        &mut self,
        set: &Self::Set,
        _: &[ProcessId],
        (symmetry, permutation): (&Symmetry<'_>, &Permutation),
    ) -> Result<Self::Set, StopReason> {
        let point = |at: &ControlPoint| {
            let counters = at.counters.iter();
            let counters = counters.map(|(cell, value)| (symmetry.cell(permutation, *cell), permutation.value(*value)));
            ControlPoint { place: at.place, counters: counters.collect() }
        };
        let entry = |(column, part): (&Column, &ViewPart)| match (column, part) {
            (Column::Cell(cell), ViewPart::Value(value)) => {
                (Column::Cell(symmetry.cell(permutation, *cell)), ViewPart::Value(permutation.value(*value)))
            }
            (Column::Control(process), ViewPart::Point(at)) => {
                (Column::Control(permutation.of(*process)), ViewPart::Point(point(at)))
            }
            _ => unreachable!("nothing is exposed here"),
        };
        Ok(set.iter().map(|row| row.iter().map(entry).collect()).collect())
    }

    fn sees(&self, group: &[ProcessId], cell: CellId) -> bool {
        let is_own = self.model().cells[cell].owner.is_some_and(|owner| group.contains(&owner));
        is_own || self.local.columns(group).contains(&Column::Cell(cell))
    }

    fn answers(&mut self, question: &Question, join: Join<'_, Self::Set>) -> Result<Answered, StopReason> {
        for row in self.combinations(join) {
            match self.matches(&question.pattern, &self.local.fill(&row)) {
                Ok(true) => return Ok(Answered::Maybe),
                Ok(false) => {}
                Err(words) => return Ok(Answered::Fault(words)),
            }
        }
        Ok(Answered::No)
    }

    fn certify(&mut self, _: usize, _: Join<'_, Self::Set>) -> Result<SplitInvariant, StopReason> {
        unreachable!("certificates are tested where they are written")
    }

    fn n_states(&self, _: &[ProcessId], set: &Self::Set) -> Option<u64> {
        Some(set.len() as u64)
    }

    fn memory_bytes(&self) -> u64 {
        0
    }
}
