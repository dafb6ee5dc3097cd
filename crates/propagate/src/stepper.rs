//! Turns of one process from a view state, by `model::eval` itself.
//!
//! In: a view state that shows all that a process sees. Out: its turns, each with the view state after it, and its enabled actions. The
//! rest of the state is arbitrary: that nothing of it was read is checked for every step.

use engine::{Contradiction, Halt};
use model::Model;
use model::control::{ActionId, ActionKind};
use model::eval::{State, Turn, attempts_of, initial_states, is_idle, receptions_of};
use model::process::ProcessId;
use rustc_hash::FxHashMap;

use crate::items::{Item, content, fill};

/// Takes turns.
pub struct Stepper<'m> {
    model: &'m Model,
    /// Changed where a view shows it; what a view does not show stays whatever it was.
    state: State,
    /// What was asked before about rows of processes' own views.
    known: FxHashMap<(ProcessId, Box<[u32]>), Options>,
}

/// What a process can do at a view state.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Its turns, and the rows after them; rendezvous are turns of their senders.
    pub turns: Vec<(Turn, Box<[u32]>)>,
    /// Its enabled actions other than leaving `idle`, those that fail and those that receive among them.
    pub enabled: Vec<ActionId>,
}

impl<'m> Stepper<'m> {
    /// For a program without procedures.
    pub fn new(model: &'m Model) -> Self {
        let state = initial_states(model).next().expect("a program has an initial state");
        Stepper { model, state, known: FxHashMap::default() }
    }

    /// A state that shows this row.
    pub fn state(&mut self, items: &[Item], row: &[u32]) -> &State {
        for (&item, &number) in items.iter().zip(row) {
            fill(self.model, &mut self.state, item, number);
        }
        &self.state
    }

    /// What a process can do at a row of its own view, which always shows the same.
    ///
    /// # Errors
    /// As [`Stepper::options`].
    pub fn own_options(&mut self, process: ProcessId, items: &[Item], row: &[u32]) -> Result<Options, Halt> {
        let key = (process, Box::from(row));
        if let Some(known) = self.known.get(&key) {
            return Ok(known.clone());
        }
        let found = self.options(process, items, row)?;
        self.known.insert(key, found.clone());
        Ok(found)
    }

    /// What a process can do at a row.
    ///
    /// # Errors
    /// It depends on something that the row does not show.
    pub fn options(&mut self, process: ProcessId, items: &[Item], row: &[u32]) -> Result<Options, Halt> {
        self.state(items, row);
        let (steps, mut footprint) = attempts_of(self.model, &self.state, process);
        let mut received = Vec::new();
        if !self.model.channels.is_empty() {
            let (found, looked_at) = receptions_of(self.model, &self.state, process);
            received = found;
            footprint.cells.extend(looked_at.cells);
            footprint.places.extend(looked_at.places);
            footprint.partners.extend(looked_at.partners);
        }
        let shows = |item: Item| items.binary_search(&item).is_ok();
        let hidden = |what: String| {
            let name = &self.model.processes[process].name;
            Halt::from(Contradiction::new(
                format!("`{name}` depends on nothing but what it sees"),
                format!("its steps depend on {what}"),
            ))
        };
        if let Some(cell) = footprint.cells.iter().find(|&&cell| !shows(Item::Cell(cell))) {
            return Err(hidden(format!("`{}`", self.model.cells[*cell].name)));
        }
        let mut looked_at = footprint.places.iter().chain(&footprint.partners);
        if let Some(other) = looked_at.find(|&&other| !shows(Item::Control(other))) {
            return Err(hidden(format!("the control of `{}`", self.model.processes[*other].name)));
        }
        let stands = (steps.is_empty() && received.is_empty()) || is_idle(self.model, &self.state, process);
        let mut options = Options { enabled: received, ..Options::default() };
        for (step, _) in steps {
            if !matches!(self.model.actions[step.by.action].kind, ActionKind::Idle) {
                options.enabled.push(step.by.action);
            }
            let Ok(after) = step.result else { continue };
            let after: Option<Box<[u32]>> = items.iter().map(|&item| content(self.model, &after, item)).collect();
            let after = after.ok_or_else(|| hidden("a value without a number".to_owned()))?;
            options.turns.push((Turn::Step(step.by), after));
        }
        if stands {
            options.turns.push((Turn::StandStill(process), row.into()));
        }
        Ok(options)
    }
}
