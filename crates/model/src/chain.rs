//! Where steps go on: whether a chain may have a rendezvous in it, and whether it may hand control from process to process for ever.
//!
//! In: a Model. Out: whether chains of actions have a link before or after a rendezvous, and whether they may come round to a place after
//! one that handed control on. The search is on the text alone, data aside, so the answer may be yes where it never happens.

use std::collections::BTreeSet;

use crate::Model;
use crate::control::{Action, ActionKind, LoopId, Next, PlaceId, SyncSide};

/// Where a chain goes on from one place to another.
struct Passage {
    from: PlaceId,
    to: PlaceId,
    /// Whether a receiver goes on with the chain.
    hands_on: bool,
}

/// Whether a chain may hand control from process to process for ever.
pub fn may_hand_on_for_ever(model: &Model) -> bool {
    let passages = passages(model);
    let calls = |action: &Action| matches!(action.kind, ActionKind::Call { .. } | ActionKind::Return { .. });
    // Calls in chains are not followed.
    let looks_away = model.actions.iter().any(|action| action.goes_on && calls(action));
    let mut handing = passages.iter().filter(|passage| passage.hands_on);
    handing.any(|passage| looks_away || reaches(&passages, passage.to, passage.from))
}

/// Whether a chain of several links may have a rendezvous in it: where not, a step is a rendezvous of two processes and nothing else, or
/// all of it is up to one process.
pub fn may_rendezvous(model: &Model) -> bool {
    let sends = |action: &Action| action.sync.as_ref().is_some_and(|sync| matches!(sync.side, SyncSide::Send(_)));
    let comes_to_send = |action: &Action| {
        // Where a call or a return leads to does not follow from the action alone.
        let is_known = !matches!(action.kind, ActionKind::Call { .. } | ActionKind::Return { .. });
        let next = places(model, &action.next);
        !is_known || next.iter().any(|&place| model.places[place].actions.iter().any(|&id| sends(&model.actions[id])))
    };
    let going_on = |action: &&Action| action.goes_on;
    !model.channels.is_empty()
        && model.actions.iter().filter(going_on).any(|action| action.sync.is_some() || comes_to_send(action))
}

fn passages(model: &Model) -> Vec<Passage> {
    let mut found = Vec::new();
    for action in &model.actions {
        let from = action.source;
        match action.sync.as_ref().map(|sync| (sync.channel, &sync.side)) {
            None if action.goes_on => {
                found.extend(places(model, &action.next).into_iter().map(|to| Passage { from, to, hands_on: false }));
            }
            None | Some((_, SyncSide::Receive(_))) => {}
            Some((channel, SyncSide::Send(_))) => {
                let receives = |other: &&Action| {
                    let sync = other.sync.as_ref().filter(|sync| sync.channel == channel);
                    other.goes_on && sync.is_some_and(|sync| matches!(sync.side, SyncSide::Receive(_)))
                };
                let after = model.actions.iter().filter(receives).flat_map(|other| places(model, &other.next));
                // Where the receiver does not go on the sender may; that needs another process, too.
                let own = if action.goes_on { places(model, &action.next) } else { BTreeSet::new() };
                found.extend(after.chain(own).map(|to| Passage { from, to, hands_on: true }));
            }
        }
    }
    found
}

fn reaches(passages: &[Passage], from: PlaceId, to: PlaceId) -> bool {
    let (mut seen, mut open) = (BTreeSet::from([from]), vec![from]);
    while let Some(here) = open.pop() {
        let next = passages.iter().filter(|passage| passage.from == here).map(|passage| passage.to);
        open.extend(next.filter(|&place| seen.insert(place)));
    }
    seen.contains(&to)
}

/// The places that control may come to, whatever the bounds of loops.
fn places(model: &Model, next: &Next) -> BTreeSet<PlaceId> {
    let (mut found, mut entered) = (BTreeSet::new(), BTreeSet::new());
    collect(model, next, &mut found, &mut entered);
    found
}

fn collect(model: &Model, next: &Next, found: &mut BTreeSet<PlaceId>, entered: &mut BTreeSet<LoopId>) {
    match next {
        Next::To(place) => drop(found.insert(*place)),
        Next::Enter { enter: id, skip: then } | Next::Again { again: id, done: then } => {
            if entered.insert(*id) {
                collect(model, &model.loops[*id].body, found, entered);
            }
            collect(model, then, found, entered);
        }
        Next::Leave { then, .. } => collect(model, then, found, entered),
    }
}
