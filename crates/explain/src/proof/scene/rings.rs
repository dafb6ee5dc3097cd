//! Windows of rings, chains and trees as scenes: one for each type of the window's first process.

use std::collections::BTreeMap;

use evidence::rings::{Network, ProcessType, RingItem, RingValue, RingsProof, WindowSet, tree};
use model::Model;
use model::value::Value;
use model::variable::VarId;

use super::terms::CellNames;
use super::{CertificateScene, Only, SceneEntry, Shown};
use crate::proof::formula::{Letter, NamedProcess, TreePosition};

/// The scenes; `None` where a window shows what there is not.
pub(super) fn scenes(model: &Model, proof: &RingsProof) -> Option<Vec<CertificateScene>> {
    let mut by_type: BTreeMap<ProcessType, Vec<&WindowSet>> = BTreeMap::new();
    for set in &proof.windows {
        by_type.entry(*set.word.first()?).or_default().push(set);
    }
    by_type.into_iter().map(|(of, sets)| scene(model, proof, of, &sets)).collect()
}

fn scene(model: &Model, proof: &RingsProof, of: ProcessType, sets: &[&WindowSet]) -> Option<CertificateScene> {
    let terms = CellNames { model, family: proof.family };
    let names = Neighbours { letter: Letter { at: 0, family: proof.family }, network: proof.network };
    let naming = |item: &RingItem| match item {
        RingItem::Element(var, ..) if model.vars[*var].ty.dimensions().is_empty() => Some(*var),
        _ => None,
    };
    let shown = |item: RingItem| match item {
        // Of which process the cell is: one column for what windows see of it.
        RingItem::Element(var, 0, _) if naming(&item).is_some() => terms.shared(var, 0),
        _ if naming(&item).is_some() => None,
        RingItem::Control(at) => Some(Shown::Place(names.who(at)?)),
        RingItem::Own(at, cell) => terms.own(cell, names.who(at)?),
        RingItem::Element(var, at, element) => terms.element(var, None, element, names.who(at)?),
        RingItem::Shared(var, cell) => terms.shared(var, cell),
    };
    // What all windows that begin with such a process show.
    let (first, others) = sets.split_first()?;
    let common = first.items.iter().filter(|item| others.iter().all(|set| set.items.contains(item)));
    let (items, columns): (Vec<RingItem>, Vec<Shown>) = common.filter_map(|&item| Some((item, shown(item)?))).unzip();
    let is_cut = sets.iter().any(|set| set.items.iter().any(|item| naming(item).is_none() && !items.contains(item)));
    let mut rows: Vec<Vec<SceneEntry>> = Vec::new();
    for set in sets {
        let at: Vec<usize> =
            items.iter().map(|item| set.items.iter().position(|known| known == item)).collect::<Option<_>>()?;
        let named = |state: &[RingValue], of: VarId| {
            let is_it = |(item, value): &(&RingItem, &RingValue)| {
                naming(item) == Some(of) && **value == RingValue::Value(Value::Bool(true))
            };
            let found = set.items.iter().zip(state).find(is_it);
            let who = found.and_then(|(item, _)| match item {
                RingItem::Element(_, at, _) => names.who(*at),
                _ => None,
            });
            who.map_or(SceneEntry::Another, SceneEntry::Process)
        };
        let entry = |state: &[RingValue], at: usize| match naming(&set.items[at]) {
            Some(of) => named(state, of),
            None => names.entry(state[at]),
        };
        rows.extend(set.states.iter().map(|state| at.iter().map(|&at| entry(state, at)).collect()));
    }
    rows.sort_unstable();
    rows.dedup();
    let only = Only::of_type(proof.network, proof.distances, of);
    let (family, beside, nameless) = (proof.family, None, Vec::new());
    Some(CertificateScene { family, n_letters: 1, only, beside, columns, rows, is_cut, nameless })
}

/// What neighbours are called.
struct Neighbours {
    letter: Letter,
    network: Network,
}

impl Neighbours {
    fn who(&self, at: i64) -> Option<NamedProcess> {
        let letter = self.letter;
        match (self.network, at) {
            (_, 0) => Some(NamedProcess::Letter(letter)),
            (Network::Line, distance) => Some(NamedProcess::After(letter, distance)),
            (Network::Tree, tree::PARENT) => Some(NamedProcess::TreePosition(letter, TreePosition::Parent)),
            (Network::Tree, tree::LEFT) => Some(NamedProcess::TreePosition(letter, TreePosition::Left)),
            (Network::Tree, tree::RIGHT) => Some(NamedProcess::TreePosition(letter, TreePosition::Right)),
            (Network::Tree, _) => None,
        }
    }

    fn entry(&self, value: RingValue) -> SceneEntry {
        match value {
            RingValue::Value(value) => SceneEntry::Value(value),
            RingValue::Place(place) => SceneEntry::Place(place),
            RingValue::Neighbour(at) => self.who(at).map_or(SceneEntry::Another, SceneEntry::Process),
        }
    }
}
