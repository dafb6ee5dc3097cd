//! Guided replay: what a trace from a file leaves open is found on the reference semantics.
//!
//! In: states, and perhaps which process stepped between them and what the end shows. Out: a trace that [`replay`](crate::replay()) accepts.
//! Between two states the first step of `eval` that fits is taken; the end is what the property asks about.

use base::Id;
use evidence::itf::{ItfTrace, MoveHint};
use evidence::{Trace, TraceEnd};
use model::Model;
use model::eval::{State, Turn, likely_steps_of, likely_turns, race};
use model::property::{Property, PropertyKind};

use crate::AuditError;
use crate::shape::check_state;

/// Finds the moves and the end that the file leaves open; the result is not yet replayed.
pub fn complete(model: &Model, property: Id<Property>, read: &ItfTrace) -> Result<Trace, AuditError> {
    for (position, state) in read.states.iter().enumerate() {
        check_state(model, state).map_err(|what| AuditError::at(position, "this is a state of the program", what))?;
    }
    let Some(last) = read.states.last() else {
        return Err(AuditError::new("there is a run without states", "a run has a first state"));
    };
    let pairs = read.states.windows(2).zip(&read.moves).enumerate();
    let turns = pairs.map(|(position, (pair, hint))| find_turn(model, pair, hint.clone(), position));
    Ok(Trace {
        turns: turns.collect::<Result<Vec<Turn>, AuditError>>()?,
        end: read.end.clone().map_or_else(|| find_end(model, property, last), Ok)?,
        states: read.states.clone(),
        loop_from: read.loop_from,
    })
}

/// The turn from the first to the second state of a pair: a step, where there is one.
fn find_turn(model: &Model, pair: &[State], hint: MoveHint, position: usize) -> Result<Turn, AuditError> {
    let (before, after) = (&pair[0], &pair[1]);
    let (wanted, who) = match hint {
        MoveHint::Exactly(turn) => return Ok(turn),
        MoveHint::By(process) => (Some(process), model.processes[process].name.as_str()),
        MoveHint::Any => (None, "somebody"),
    };
    let fits = |(turn, next): &(Turn, State)| next == after && wanted.is_none_or(|process| turn.process() == process);
    likely_turns(model, before, Some(after)).into_iter().find(fits).map(|(turn, _)| turn).ok_or_else(|| {
        let claim = format!("a step of {who} leads to the next state");
        AuditError::at(position, claim, format!("no step of {who} does"))
    })
}

/// What the last state shows about the property.
fn find_end(model: &Model, property: Id<Property>, last: &State) -> Result<TraceEnd, AuditError> {
    let nothing = |claim: &str, finding: &str| AuditError::new(claim.to_owned(), finding.to_owned());
    let Some(property) = model.properties.get(property) else {
        return Err(nothing("a property of the program is decided", "the program has no such property"));
    };
    match property.kind {
        PropertyKind::Invariant(_) | PropertyKind::Reachable(_) => Ok(TraceEnd::State),
        PropertyKind::Temporal(_) => Ok(TraceEnd::Loop),
        PropertyKind::DeadlockFree => Ok(TraceEnd::Deadlock),
        PropertyKind::RaceFree(var) => {
            race(model, last, var).map(TraceEnd::Race).ok_or_else(|| nothing("the run ends in a race", "there is none"))
        }
        PropertyKind::NoErrors => {
            let faulty = |step: model::eval::Step| Some((step.by, step.result.err()?));
            let likely = model.processes.ids().flat_map(|process| likely_steps_of(model, last, process, None));
            let found = { likely }.find_map(faulty);
            let (by, fault) = found.ok_or_else(|| nothing("a step from the last state is an error", "none is"))?;
            Ok(TraceEnd::Fault { by, fault })
        }
    }
}
