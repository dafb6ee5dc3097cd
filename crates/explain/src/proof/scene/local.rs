//! Blocks of local states in words: the place of the process, and what its own cells have.

use std::collections::BTreeSet;

use super::super::formula::{CellTerm, IndexName, NamedProcess, SentenceFormula, ValueTerm};
use super::{SceneEntry, Shown, cell_says};

/// A partition of the local states of a process.
#[derive(Clone, Debug, PartialEq)]
pub(in super::super) struct Blocks {
    /// What local states consist of, with `own` for the process; `None` where sentences do not speak of it.
    pub columns: Vec<Option<Shown>>,
    /// The local states.
    pub states: Vec<Vec<SceneEntry>>,
    /// For each of them its block.
    pub block_of: Vec<u32>,
    /// What the process is called in the columns.
    pub own: NamedProcess,
}

impl Blocks {
    /// The numbers of the blocks.
    pub fn numbers(&self) -> impl Iterator<Item = u32> + use<> {
        self.block_of.iter().copied().collect::<BTreeSet<u32>>().into_iter()
    }

    /// The local states of a block.
    pub fn states_of(&self, block: u32) -> impl Iterator<Item = &Vec<SceneEntry>> {
        self.states.iter().zip(&self.block_of).filter(move |(_, of)| **of == block).map(|(state, _)| state)
    }

    /// That a process is in one of the blocks `inside`, and not in one `outside`, or that it is not in the others, whichever is shorter; `None` where there are
    /// no short words for it.
    pub fn says(&self, who: NamedProcess, inside: &[u32], outside: &[u32]) -> Option<SentenceFormula> {
        let yes = self.directly(who, inside, outside);
        let no = self.directly(who, outside, inside).map(SentenceFormula::negated);
        match (yes, no) {
            (Some(yes), Some(no)) => Some(if no.n_atoms() < yes.n_atoms() { no } else { yes }),
            (yes, no) => yes.or(no),
        }
    }

    fn directly(&self, who: NamedProcess, inside: &[u32], outside: &[u32]) -> Option<SentenceFormula> {
        let of = |blocks: &[u32]| {
            let chosen = self.states.iter().zip(&self.block_of).filter(|(_, of)| blocks.contains(of));
            chosen.map(|(state, _)| state).collect::<Vec<&Vec<SceneEntry>>>()
        };
        let (yes, no) = (of(inside), of(outside));
        if let Some((column, entries)) = self.distinguishing(&yes, &no) {
            return self.test(who, column, &entries);
        }
        let control = self.columns.iter().position(|shown| matches!(shown, Some(Shown::Place(_))))?;
        let places: BTreeSet<SceneEntry> = yes.iter().map(|state| state[control]).collect();
        type Group = (Option<(usize, [Vec<SceneEntry>; 2])>, Vec<SceneEntry>);
        let mut groups: Vec<Group> = Vec::new();
        for place in places {
            let here = |states: &[&'_ Vec<SceneEntry>]| -> Vec<Vec<SceneEntry>> {
                states.iter().filter(|state| state[control] == place).map(|state| (*state).clone()).collect()
            };
            let (here_yes, here_no) = (here(&yes), here(&no));
            let test = match here_no.is_empty() {
                true => None,
                false => Some(
                    self.distinguishing(&here_yes.iter().collect::<Vec<_>>(), &here_no.iter().collect::<Vec<_>>())?,
                ),
            };
            match groups.iter_mut().find(|(known, _)| *known == test) {
                Some((_, places)) => places.push(place),
                None => groups.push((test, vec![place])),
            }
        }
        let mut parts = Vec::new();
        for (test, places) in groups {
            let at = SentenceFormula::At(who, places.iter().filter_map(SceneEntry::spot).collect());
            parts.push(match test {
                Some((column, entries)) => SentenceFormula::All(vec![at, self.test(who, column, &entries)?]),
                None => at,
            });
        }
        Some(SentenceFormula::any(parts))
    }

    /// A column that distinguishes two sets of local states, with what it has in each.
    fn distinguishing(
        &self,
        yes: &[&Vec<SceneEntry>],
        no: &[&Vec<SceneEntry>],
    ) -> Option<(usize, [Vec<SceneEntry>; 2])> {
        let columns = (0..self.columns.len()).filter(|&column| self.columns[column].is_some());
        { columns }.find_map(|column| {
            let of = |states: &[&Vec<SceneEntry>]| {
                states.iter().map(|state| state[column]).collect::<BTreeSet<SceneEntry>>()
            };
            let (inside, outside) = (of(yes), of(no));
            inside
                .is_disjoint(&outside)
                .then(|| (column, [inside.into_iter().collect(), outside.into_iter().collect()]))
        })
    }

    fn test(
        &self,
        who: NamedProcess,
        column: usize,
        [inside, outside]: &[Vec<SceneEntry>; 2],
    ) -> Option<SentenceFormula> {
        let named = |entries: &[SceneEntry]| -> Vec<SceneEntry> {
            entries
                .iter()
                .map(|&entry| if entry == SceneEntry::Process(self.own) { SceneEntry::Process(who) } else { entry })
                .collect()
        };
        match self.columns[column].as_ref()? {
            Shown::Place(_) => {
                let spots = |entries: &[SceneEntry]| entries.iter().filter_map(SceneEntry::spot).collect::<Vec<_>>();
                Some(match inside.len() <= outside.len() {
                    true => SentenceFormula::At(who, spots(inside)),
                    false => SentenceFormula::Not(Box::new(SentenceFormula::At(who, spots(outside)))),
                })
            }
            Shown::Cell(term, ty) => cell_says(&renamed(term, self.own, who), *ty, &named(inside), &named(outside)),
            Shown::Block(..) | Shown::Somebody(_) => None,
        }
    }
}

/// The cell with another process in the place of one.
pub(super) fn renamed(term: &CellTerm, from: NamedProcess, to: NamedProcess) -> CellTerm {
    let who = |who: NamedProcess| if who == from { to } else { who };
    let index = |index: &IndexName| match *index {
        IndexName::Of(process) => IndexName::Of(who(process)),
        number @ IndexName::Number(_) => number,
    };
    CellTerm { var: term.var, owner: term.owner.map(who), indices: term.indices.iter().map(index).collect() }
}

/// The value with another process in the place of one.
pub(super) fn renamed_value(term: ValueTerm, from: NamedProcess, to: NamedProcess) -> ValueTerm {
    match term {
        ValueTerm::Process(who) if who == from => ValueTerm::Process(to),
        other => other,
    }
}
