//! Which questions about steps that go on a local proof can answer at all.
//!
//! Local invariants are checked over chains that are cut at every rendezvous. Cut chains have the states of whole ones and more, so
//! invariants stand. But what whole chains touch, and whether they end, cut ones do not show.

use std::collections::BTreeSet;

use model::Model;
use model::control::{ActionKind, Next, PlaceId, SyncSide};
use model::property::PropertyKind;

/// Why a local proof cannot answer the question, if it cannot.
pub(super) fn objection(model: &Model, property: &PropertyKind) -> Option<&'static str> {
    if !model.goes_on() {
        return None;
    }
    match property {
        PropertyKind::RaceFree(_) => {
            Some("a step goes on over several actions, and only its first is looked at for races")
        }
        PropertyKind::NoErrors if comes_round(model) => {
            Some("a step may be handed from process to process for ever, which local proofs do not see")
        }
        _ => None,
    }
}

/// Whether a step of several actions may have a rendezvous among them: one goes on with it, or comes to a place from which a process sends.
pub(super) fn have_rendezvous(model: &Model) -> bool {
    let sends = |place: &PlaceId| {
        let sync = |&id: &model::control::ActionId| model.actions[id].sync.as_ref();
        let mut sides = model.places[*place].actions.iter().filter_map(sync).map(|sync| &sync.side);
        sides.any(|side| matches!(side, SyncSide::Send(_)))
    };
    model.actions.iter().filter(|action| action.goes_on).any(|action| {
        let mut next = BTreeSet::new();
        ends(model, &action.next, 0, &mut next);
        action.sync.is_some() || next.iter().any(sends)
    })
}

/// Whether places that chains pass may come round, with a rendezvous among the actions that go on. Simpler, and more often true, than
/// need be: a text that goes on at all may come to each of its places.
fn comes_round(model: &Model) -> bool {
    let receives = |side: &SyncSide| matches!(side, SyncSide::Receive(_));
    let hands_on = |action: &model::control::Action| {
        action.goes_on && action.sync.as_ref().is_some_and(|sync| receives(&sync.side))
    };
    if !model.actions.iter().any(|action| action.goes_on && action.sync.is_some()) {
        return false;
    }
    if model.actions.iter().any(|action| !matches!(action.kind, ActionKind::Plain | ActionKind::Idle)) {
        return true;
    }
    // From each place to all that some link from it may leave the turn at, until nothing is added.
    let mut reached: Vec<BTreeSet<PlaceId>> = vec![BTreeSet::new(); model.places.len()];
    for action in &model.actions {
        let from = &mut reached[action.source.index()];
        match action.sync.as_ref().map(|sync| (sync.channel, &sync.side)) {
            None if action.goes_on => ends(model, &action.next, 0, from),
            Some((channel, SyncSide::Send(_))) => {
                let others = model.actions.iter().filter(|other| hands_on(other));
                let meets = others.filter(|other| other.sync.as_ref().is_some_and(|sync| sync.channel == channel));
                meets.for_each(|other| ends(model, &other.next, 0, from));
                if action.goes_on {
                    ends(model, &action.next, 0, from);
                }
            }
            _ => {}
        }
    }
    for middle in model.places.ids() {
        let onward = reached[middle.index()].clone();
        for from in &mut reached {
            if from.contains(&middle) {
                from.extend(&onward);
            }
        }
    }
    let sends = |action: &model::control::Action| {
        action.sync.as_ref().is_some_and(|sync| matches!(sync.side, SyncSide::Send(_)))
    };
    model.actions.iter().any(|action| sends(action) && reached[action.source.index()].contains(&action.source))
}

/// The places that control may come to; loops within loops are entered as deep as there are loops.
fn ends(model: &Model, next: &Next, depth: usize, found: &mut BTreeSet<PlaceId>) {
    match next {
        Next::To(place) => drop(found.insert(*place)),
        Next::Enter { enter: id, skip: then } | Next::Again { again: id, done: then } => {
            if depth <= model.loops.len() {
                ends(model, &model.loops[*id].body, depth + 1, found);
            }
            ends(model, then, depth, found);
        }
        Next::Leave { then, .. } => ends(model, then, depth, found),
    }
}
