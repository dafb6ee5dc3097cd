//! Rows of scenes as states of the program at one size, so that the reference semantics can be asked about them.

use std::collections::BTreeSet;

use model::Model;
use model::eval::{Control, State, attempts_up_to, initial_states, is_idle, is_terminated};
use model::process::{FamilyId, ProcessId};
use model::value::Value;
use model::variable::CellId;

use super::super::formula::LetterMeaning;
use super::super::scene::{CertificateScene, SceneEntry, Shown};

/// More ways to take a step are not examined.
const MOST_WAYS: usize = 1_000;

/// The program at one size.
pub(super) struct Ground {
    /// The program.
    pub model: Model,
    /// A state to fill.
    base: State,
}

/// A state of which something is known.
pub(super) struct Filled {
    pub state: State,
    pub cells: BTreeSet<CellId>,
    pub places: BTreeSet<ProcessId>,
}

impl Ground {
    /// The program at a size; `None` where it has no initial state.
    pub fn new(model: Model) -> Option<Ground> {
        let base = initial_states(&model).next()?;
        Some(Ground { model, base })
    }

    /// The processes of a family.
    pub fn processes(&self, family: FamilyId) -> Vec<ProcessId> {
        self.model.families[family].processes().collect()
    }

    /// The state of a row, where letters denote these processes.
    pub fn filled(&self, scene: &CertificateScene, row: &[SceneEntry], own: &[ProcessId]) -> Option<Filled> {
        let meaning = LetterMeaning::new(&self.model, own);
        let mut found = Filled { state: self.base.clone(), cells: BTreeSet::new(), places: BTreeSet::new() };
        for (shown, entry) in scene.columns.iter().zip(row) {
            match (shown, *entry) {
                (Shown::Place(who), SceneEntry::Place(place)) => {
                    let process = meaning.process(*who)?;
                    found.state.stacks.get_mut(process.index())?.last_mut()?.control = Control::At(place);
                    found.places.insert(process);
                }
                (Shown::Cell(term, _), entry) => {
                    let cell = meaning.cell(term)?;
                    let value = match entry {
                        SceneEntry::Value(value) => value,
                        SceneEntry::Process(who) => Value::Process(meaning.process(who)?),
                        // A process that is none of those at this size.
                        SceneEntry::Another => {
                            let family = self.model.families[scene.family].processes();
                            Value::Process({ family }.filter(|process| !own.contains(process)).last()?)
                        }
                        SceneEntry::Hidden | SceneEntry::Place(_) | SceneEntry::Block(_) => continue,
                    };
                    *found.state.cells.get_mut(cell.index())? = value;
                    found.cells.insert(cell);
                }
                _ => return None,
            }
        }
        Some(found)
    }

    /// Whether a process is blocked before its end; `None` where that depends on what is not known.
    pub fn waits(&self, filled: &Filled, process: ProcessId) -> Option<bool> {
        if is_terminated(&self.model, &filled.state, process) || is_idle(&self.model, &filled.state, process) {
            return Some(false);
        }
        let (steps, asked) = attempts_up_to(&self.model, &filled.state, process, MOST_WAYS)?;
        let is_known = asked.cells.is_subset(&filled.cells) && asked.places.is_subset(&filled.places);
        is_known.then_some(steps.is_empty())
    }

    /// Whether no step of a process changes a cell; `None` where that depends on what is not known.
    pub fn keeps(&self, filled: &Filled, process: ProcessId, cell: CellId) -> Option<bool> {
        let (steps, asked) = attempts_up_to(&self.model, &filled.state, process, MOST_WAYS)?;
        let is_known = asked.cells.is_subset(&filled.cells) && asked.places.is_subset(&filled.places);
        let before = filled.state.cells[cell.index()];
        is_known.then(|| {
            let results = steps.iter().map(|(step, _)| &step.result);
            results.into_iter().all(|result| result.as_ref().map_or(true, |after| after.cells[cell.index()] == before))
        })
    }

    /// The cells on which it depends whether a process is enabled; `None` where there are too many ways.
    pub fn asked(&self, filled: &Filled, process: ProcessId) -> Option<BTreeSet<CellId>> {
        Some(attempts_up_to(&self.model, &filled.state, process, MOST_WAYS)?.1.cells)
    }

    /// What a row of the scene this state is, where letters denote these processes; `None` where a column shows what there is not.
    pub fn row(&self, scene: &CertificateScene, state: &State, own: &[ProcessId]) -> Option<Vec<SceneEntry>> {
        let meaning = LetterMeaning::new(&self.model, own);
        let letter = |process: ProcessId| {
            let named = own.iter().position(|one| *one == process);
            named.map(|at| SceneEntry::Process(scene.letter(at)))
        };
        let mut found = Vec::new();
        for (column, shown) in scene.columns.iter().enumerate() {
            found.push(match shown {
                Shown::Place(who) => SceneEntry::Place(state.place(meaning.process(*who)?)),
                Shown::Cell(term, _) => match *state.cells.get(meaning.cell(term)?.index())? {
                    Value::Process(id) if self.model.processes[id].family == scene.family => {
                        let by_place = || {
                            let entries = scene.rows.iter().map(|row| row[column]);
                            { entries }.find(
                                |entry| matches!(entry, SceneEntry::Process(who) if meaning.process(*who) == Some(id)),
                            )
                        };
                        letter(id).or_else(by_place).unwrap_or(SceneEntry::Another)
                    }
                    value => SceneEntry::Value(value),
                },
                Shown::Block(..) | Shown::Somebody(_) => return None,
            });
        }
        Some(found)
    }
}
