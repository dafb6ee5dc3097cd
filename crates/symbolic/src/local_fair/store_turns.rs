//! The turns of all processes as changes of the store, and the abstract process of a focus made of them.
//!
//! In: split invariants. Out: for each process its turns without its local state: the stores at which some local state
//! allows one, those at which every local state does (it is a *must* transition there), the updates that all processes see, and the
//! fairness assumptions that it satisfies. Turns that differ in what they satisfy are kept apart.

use std::collections::BTreeMap;

use compose::backend::Movers;
use compose::fair::backend::Transitions;
use compose::fair::conditions::Conditions;
use model::eval::Turn;
use model::process::ProcessId;

use crate::bdd::{Bdd, OutOfNodes};
use crate::change::{DiagramUpdate, Updates};
use crate::fair::EdgeRelation;
use crate::local::LocalSets;

/// A turn of a process as a change of the store.
pub struct StoreTurn {
    /// What it is.
    pub kind: AbstractTurnKind,
    /// What all processes see of it.
    update: Option<DiagramUpdate>,
    /// Where some local state of the mover allows it, projected to the store.
    guard_seen: Bdd,
}

/// What an edge of an abstract process is.
#[derive(Clone)]
pub struct AbstractTurnKind {
    /// The process that has the turn.
    pub mover: ProcessId,
    /// The positions of the fairness assumptions that it satisfies by itself, ascending.
    pub satisfied: Vec<usize>,
    /// Where every local state of the mover allows it, with the values that it carries; `None` for the focus's own turns, of
    /// which it is known.
    pub must: Option<Bdd>,
}

/// The edges of an abstract process.
pub struct FocusTurns {
    /// The edges; those that change nothing first.
    pub edges: Vec<EdgeRelation>,
    /// What each of them is.
    pub kinds: Vec<AbstractTurnKind>,
}

impl FocusTurns {
    /// The edges of this kind, by number.
    pub fn which(&self, wanted: impl Fn(&AbstractTurnKind) -> bool) -> Vec<usize> {
        (0..self.kinds.len()).filter(|&nth| wanted(&self.kinds[nth])).collect()
    }
}

/// The turns of one process, with its local set.
pub fn store_turns(
    sets: &LocalSets<'_>,
    conditions: &Conditions<'_>,
    (process, theta): (ProcessId, &Bdd),
) -> Result<Vec<StoreTurn>, OutOfNodes> {
    let encoding = &sets.system().encoding;
    let space = &encoding.space;
    let mut guards: BTreeMap<(Updates, Vec<usize>), Bdd> = BTreeMap::new();
    let own_next = encoding.next_bits(sets.local_parts(process))?;
    for (updates, satisfied, guard) in turns_of(sets, conditions, process)? {
        // No other process sees what its own wide cells become.
        let guard = space.exists(&guard, &own_next)?;
        let visible = updates.into_iter().filter(|&(part, _)| sets.sees(&[], part)).collect();
        let union = guards.entry((visible, satisfied)).or_insert_with(|| space.empty());
        *union = space.or(union, &guard)?;
    }
    let hidden = encoding.bits(sets.local_parts(process))?;
    let mut turns = Vec::new();
    for ((visible, satisfied), guard) in guards {
        let guard_seen = space.and_exists(theta, &guard, &hidden)?;
        if guard_seen.is_empty() {
            continue;
        }
        let refusing = space.exists(&space.minus(theta, &guard)?, &hidden)?;
        let must = Some(space.minus(&guard_seen, &refusing)?);
        let update = (!visible.is_empty()).then(|| DiagramUpdate::new(encoding, &visible)).transpose()?;
        turns.push(StoreTurn { kind: AbstractTurnKind { mover: process, satisfied, must }, update, guard_seen });
    }
    Ok(turns)
}

/// All turns of a process: what they update, what they satisfy, where they can be taken.
fn turns_of(
    sets: &LocalSets<'_>,
    conditions: &Conditions<'_>,
    process: ProcessId,
) -> Result<Vec<(Updates, Vec<usize>, Bdd)>, OutOfNodes> {
    let still = sets.system().stutter_states(process)?;
    let mut turns = vec![(Updates::new(), conditions.satisfied_by(&Turn::StandStill(process)), still)];
    for command in sets.commands.get(&Movers { process, partner: None }).into_iter().flatten() {
        let by = command.by.expect("local sets know no steps that are under way");
        let satisfied = conditions.satisfied_by(&Turn::Step(by.into()));
        turns.push((command.updates.clone(), satisfied, command.guard.clone()));
    }
    Ok(turns)
}

/// The edges of the abstract process of a focus.
pub fn focus_turns(
    sets: &LocalSets<'_>,
    conditions: &Conditions<'_>,
    (focus, others): (ProcessId, &[StoreTurn]),
    allowed: Transitions,
) -> Result<FocusTurns, OutOfNodes> {
    let encoding = &sets.system().encoding;
    let mut found: Vec<(EdgeRelation, AbstractTurnKind)> = Vec::new();
    for turn in others.iter().filter(|turn| turn.kind.mover != focus) {
        let guard = match (&turn.kind.must, allowed) {
            (Some(must), Transitions::Must) => must.clone(),
            _ => turn.guard_seen.clone(),
        };
        if !guard.is_empty() {
            let mover = turn.update.is_some().then_some(turn.kind.mover);
            found.push((EdgeRelation { guard, update: turn.update.clone(), mover }, turn.kind.clone()));
        }
    }
    for (updates, satisfied, guard) in turns_of(sets, conditions, focus)? {
        let update = (!updates.is_empty()).then(|| DiagramUpdate::new(encoding, &updates)).transpose()?;
        let mover = update.is_some().then_some(focus);
        found.push((EdgeRelation { guard, update, mover }, AbstractTurnKind { mover: focus, satisfied, must: None }));
    }
    found.sort_by_key(|(edge, _)| edge.update.is_some());
    let (edges, kinds) = found.into_iter().unzip();
    Ok(FocusTurns { edges, kinds })
}
