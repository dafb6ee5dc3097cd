//! Where a process is enabled, and where it may stutter.
//!
//! In: the steps that commands offer. Out: the states in which a process has a part in one, a faulty one included; it may
//! stutter where it has none, or at `idle`.

use model::Model;
use model::control::{ActionId, ActionKind};
use model::process::ProcessId;

use crate::bdd::{Bdd, OutOfNodes};
use crate::encoding::FieldContent;
use crate::system::SymbolicSystem;

impl SymbolicSystem<'_> {
    /// Where a process may stutter.
    pub fn stutter_states(&self, process: ProcessId) -> Result<Bdd, OutOfNodes> {
        let space = &self.encoding.space;
        let moving = self.offered(process, |_| true)?;
        let points = self.points.of(process);
        let is_idle = |&number: &usize| {
            let actions = &self.model.places[points.point(number).place].actions;
            actions.iter().any(|&action| is_idle(self.model, action))
        };
        let idle = self
            .encoding
            .one_of(FieldContent::Control(process), (0..points.len()).filter(is_idle).map(|at| at as u64))?;
        space.or(&space.not(&moving)?, &idle)
    }

    /// Where a process has no step other than leaving `idle` (with labels: none that carries one of them).
    pub fn unable(&self, process: ProcessId, labels: Option<&[String]>) -> Result<Bdd, OutOfNodes> {
        let carries = |action: ActionId| {
            let carried = &self.model.actions[action].labels;
            labels.is_none_or(|labels| carried.iter().any(|label| labels.contains(label)))
        };
        let able = self.offered(process, |action| !is_idle(self.model, action) && carries(action))?;
        self.encoding.space.not(&able)
    }

    /// Where a process has a part in a step, by an action that counts.
    fn offered(&self, process: ProcessId, counts: impl Fn(ActionId) -> bool) -> Result<Bdd, OutOfNodes> {
        let mut offered = self.encoding.space.empty();
        for (by, states) in self.processes.iter().flat_map(|commands| &commands.offers) {
            let mine = match by.partner {
                _ if by.process == process => Some(by.action),
                Some((partner, action)) if partner == process => Some(action),
                _ => None,
            };
            if mine.is_some_and(&counts) {
                offered = self.encoding.space.or(&offered, states)?;
            }
        }
        Ok(offered)
    }
}

fn is_idle(model: &Model, action: ActionId) -> bool {
    matches!(model.actions[action].kind, ActionKind::Idle)
}
