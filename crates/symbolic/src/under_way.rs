//! Steps over several actions, and actions that wait until nobody else can move, as commands of the whole product.
//!
//! In: the commands of all processes, action by action. Out: the same commands restricted to where the program takes them. Whose turn it is
//! is a part of the vectors. At rest ([`AT_REST`]) everybody may begin a step, with the mark `when_nobody` only where nobody has an action
//! without it. Where a process has the turn it alone goes on, by actions without the mark; where it has none, the step is over, which is a
//! command of its own. The states of the program are the vectors at rest, and a step is a path from one to the next.

use model::Model;
use model::eval::Link;
use model::process::ProcessId;

use crate::bdd::{Bdd, OutOfNodes};
use crate::change::{After, DiagramUpdate};
use crate::commands::{CommandStop, GuardedCommand, ProcessCommands};
use crate::encoding::{Encoding, FieldContent};
use crate::system::SymbolicSystem;

/// No step is under way.
pub(crate) const AT_REST: u64 = 0;

/// A process has the turn.
pub(crate) fn turn_of(process: ProcessId) -> u64 {
    process.index() as u64 + 1
}

/// Adds the faults of actions with the mark to the others: the mark counts as true.
pub(crate) fn take_marks_as_true(encoding: &Encoding, processes: &mut [ProcessCommands]) -> Result<(), OutOfNodes> {
    for process in processes {
        process.fault = encoding.space.or(&process.fault, &process.marked_fault)?;
    }
    Ok(())
}

/// Restricts commands, faults and offers to where the program has them, and adds the ends of steps.
pub(crate) fn restrict(
    model: &Model,
    encoding: &Encoding,
    processes: &mut [ProcessCommands],
) -> Result<(), CommandStop> {
    let space = &encoding.space;
    let is_marked = |by: &Link| by.is_when_nobody(model);
    let at_rest = encoding.equals(FieldContent::Turn, AT_REST)?;
    let mut late = at_rest.clone();
    if model.has_when_nobody() {
        for (_, states) in processes.iter().flat_map(|one| &one.offers).filter(|(by, _)| !is_marked(by)) {
            late = space.minus(&late, states)?;
        }
    }
    for (nth, one) in processes.iter_mut().enumerate() {
        let process = ProcessId::new(nth);
        let own = encoding.equals(FieldContent::Turn, turn_of_if(encoding, process))?;
        let begins = space.or(&at_rest, &own)?;
        for command in &mut one.commands {
            let is_late = command.by.as_ref().is_some_and(is_marked);
            command.guard = space.and(&command.guard, if is_late { &late } else { &begins })?;
        }
        let faults = space.and(&one.fault, &begins)?;
        one.fault = space.or(&faults, &space.and(&one.marked_fault, &late)?)?;
        if encoding.has_turns() {
            let mut over = own;
            for (_, states) in one.offers.iter().filter(|(by, _)| !is_marked(by)) {
                over = space.minus(&over, states)?;
            }
            one.commands.push(end(encoding, process, over)?);
        }
        for (_, states) in one.offers.iter_mut().filter(|(by, _)| is_marked(by)) {
            *states = space.and(states, &late)?;
        }
    }
    Ok(())
}

/// The turn of a process; where there are no turns, that of nobody, whose field has no bits.
fn turn_of_if(encoding: &Encoding, process: ProcessId) -> u64 {
    if encoding.has_turns() { turn_of(process) } else { AT_REST }
}

/// The end of steps with which a process cannot go on.
fn end(encoding: &Encoding, process: ProcessId, guard: Bdd) -> Result<GuardedCommand, OutOfNodes> {
    let updates = vec![(FieldContent::Turn, After::Is(AT_REST))];
    let change = DiagramUpdate::new(encoding, &updates)?;
    Ok(GuardedCommand { process, partner: None, satisfied: Vec::new(), by: None, guard, updates, change })
}

impl SymbolicSystem<'_> {
    /// The vectors in which a step is under way that can go on for ever, which is an error.
    pub fn endless(&self) -> Result<Bdd, OutOfNodes> {
        let space = &self.encoding.space;
        let mut endless = space.minus(&self.valid, &self.at_rest)?;
        let inner: Vec<&GuardedCommand> = self.commands().filter(|command| command.by.is_some()).collect();
        while !endless.is_empty() {
            let ahead = inner.iter().map(|command| self.before(command, &endless)).collect::<Result<Vec<Bdd>, _>>()?;
            let kept = space.and(&endless, &space.any(&ahead)?)?;
            if kept == endless {
                break;
            }
            endless = kept;
        }
        Ok(endless)
    }

    /// The states of the program from which a step leads to another one without an error.
    pub fn moving(&self) -> Result<Bdd, OutOfNodes> {
        let space = &self.encoding.space;
        let into = |target: &Bdd| {
            let before =
                self.commands().map(|command| self.before(command, target)).collect::<Result<Vec<Bdd>, _>>()?;
            space.any(&before)
        };
        let mut ending = self.at_rest.clone();
        if self.encoding.has_turns() {
            // Steps that are under way and can end.
            loop {
                let more = space.or(&ending, &space.minus(&into(&ending)?, &self.at_rest)?)?;
                if more == ending {
                    break;
                }
                ending = more;
            }
        }
        space.and(&into(&ending)?, &self.at_rest)
    }
}
