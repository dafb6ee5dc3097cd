//! The turns of all processes as changes of the store, and the abstract process of a focus made of them.
//!
//! In: split invariants. Out: for each process its turns without its local state: the stores at which some local state
//! allows one, those at which every local state does (it is *sure* there), the updates that everybody sees, and the
//! fairness assumptions that it meets. Turns that differ in what they meet are kept apart.

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
    /// What everybody sees of it.
    update: Option<DiagramUpdate>,
    /// Where some local state allows it.
    looks: Bdd,
}

/// What an edge of an abstract process is.
#[derive(Clone)]
pub struct AbstractTurnKind {
    /// Whose turn it is.
    pub mover: ProcessId,
    /// The positions of the fairness assumptions that it meets by itself, ascending.
    pub met: Vec<usize>,
    /// Where every local state of the mover allows it, with the values that it carries; `None` for the focus's own turns, of
    /// which it is known.
    pub sure: Option<Bdd>,
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
    for (updates, met, guard) in turns_of(sets, conditions, process)? {
        // What its own wide cells become is nobody else's concern.
        let guard = space.exists(&guard, &own_next)?;
        let visible = updates.into_iter().filter(|&(part, _)| sets.sees(&[], part)).collect();
        let union = guards.entry((visible, met)).or_insert_with(|| space.empty());
        *union = space.or(union, &guard)?;
    }
    let hidden = encoding.bits(sets.local_parts(process))?;
    let mut turns = Vec::new();
    for ((visible, met), guard) in guards {
        let looks = space.and_exists(theta, &guard, &hidden)?;
        if looks.is_empty() {
            continue;
        }
        let refusing = space.exists(&space.minus(theta, &guard)?, &hidden)?;
        let sure = Some(space.minus(&looks, &refusing)?);
        let update = (!visible.is_empty()).then(|| DiagramUpdate::new(encoding, &visible)).transpose()?;
        turns.push(StoreTurn { kind: AbstractTurnKind { mover: process, met, sure }, update, looks });
    }
    Ok(turns)
}

/// All turns of a process: what they update, what they meet, where they can be taken.
fn turns_of(
    sets: &LocalSets<'_>,
    conditions: &Conditions<'_>,
    process: ProcessId,
) -> Result<Vec<(Updates, Vec<usize>, Bdd)>, OutOfNodes> {
    let still = sets.system().standing_still(process)?;
    let mut turns = vec![(Updates::new(), conditions.met_by(&Turn::StandStill(process)), still)];
    for command in sets.commands.get(&Movers { process, partner: None }).into_iter().flatten() {
        let by = command.by.expect("local sets know no steps that are under way");
        let met = conditions.met_by(&Turn::Step(by.into()));
        turns.push((command.updates.clone(), met, command.guard.clone()));
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
        let guard = match (&turn.kind.sure, allowed) {
            (Some(sure), Transitions::Must) => sure.clone(),
            _ => turn.looks.clone(),
        };
        if !guard.is_empty() {
            let mover = turn.update.is_some().then_some(turn.kind.mover);
            found.push((EdgeRelation { guard, update: turn.update.clone(), mover }, turn.kind.clone()));
        }
    }
    for (updates, met, guard) in turns_of(sets, conditions, focus)? {
        let update = (!updates.is_empty()).then(|| DiagramUpdate::new(encoding, &updates)).transpose()?;
        let mover = update.is_some().then_some(focus);
        found.push((EdgeRelation { guard, update, mover }, AbstractTurnKind { mover: focus, met, sure: None }));
    }
    found.sort_by_key(|(edge, _)| edge.update.is_some());
    let (edges, kinds) = found.into_iter().unzip();
    Ok(FocusTurns { edges, kinds })
}
