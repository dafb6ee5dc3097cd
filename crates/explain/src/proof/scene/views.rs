//! Views of any `k` processes as a scene; where the text names processes, as one for each of them, one for all others, and one in which
//! several processes are somewhere.

use evidence::rings::{Distances, ProcessType};
use evidence::views::{Item, LocalColumn, Presence, SharedColumn, View, ViewColumn, ViewsProof};
use model::Model;

use super::terms::CellNames;
use super::{CertificateScene, Only, SceneEntry, Shown};
use crate::proof::formula::{Letter, NamedProcess, QuantifiedSentence, Quantity, SentenceFormula, Test, ValueTerm};

/// More views than this, each counted once for each order of its processes, are not put into words.
const MOST_ROWS: usize = 60_000;

/// A column of a scene, by its position in a view.
enum ViewPosition {
    Shared(usize),
    /// The position of the process among the seen ones, and of the column.
    Local(usize, usize),
}

/// The views, with a letter for each process; each view in every order of its processes. `None` where they are too many.
pub(super) fn scenes(model: &Model, proof: &ViewsProof) -> Option<Vec<CertificateScene>> {
    let mut scene = in_order(model, proof)?;
    if proof.named.is_empty() {
        scene.rows.sort_unstable();
        scene.rows.dedup();
        return Some(vec![scene]);
    }
    let n_named = proof.named.len();
    let distances = Distances { left: n_named, right: 0, modulus: 1 };
    let types = first_types(proof, scene.n_letters);
    let mut found: Vec<CertificateScene> = Vec::new();
    for left in 0..=n_named {
        let only = Only::Line(distances, vec![ProcessType { left, right: 0, residue: 0 }]);
        let is_its = |column: usize| scene.letters_of(column) & !1 == 0;
        let rows = scene.rows.iter().zip(&types).filter(|(_, of)| **of == left).map(|(row, _)| row.clone());
        found.push(CertificateScene { only, n_letters: 1, rows: rows.collect(), ..scene.clone() }.with(is_its));
    }
    let stands = |column: usize| matches!(scene.columns[column], Shown::Place(_));
    let together = scene.clone().with(stands);
    if scene.n_letters > 1 {
        found.push(together);
    }
    Some(found)
}

/// For each row, in the order of the views and of the orders of their processes: which named process the first letter is; one more than those
/// where it is none.
fn first_types(proof: &ViewsProof, n_letters: usize) -> Vec<usize> {
    let orders = orders(n_letters);
    let of = |view: &View, order: &[usize]| {
        let seen: Vec<usize> = (0..view.slots.len()).filter(|&slot| view.slots[slot].is_some()).collect();
        let first = order.first().and_then(|&at| seen.get(at)).map(|&slot| Item::Slot(slot as u8));
        let named = view.shared.iter().skip(proof.shared.len()).take(proof.named.len());
        named.copied().position(|item| Some(item) == first).unwrap_or(proof.named.len())
    };
    proof.views.iter().flat_map(|view| orders.iter().map(move |order| of(view, order))).collect()
}

impl CertificateScene {
    /// The scene with some of its columns.
    pub fn with(self, is_kept: impl Fn(usize) -> bool) -> CertificateScene {
        let kept: Vec<usize> = (0..self.columns.len()).filter(|&column| is_kept(column)).collect();
        let mut rows: Vec<Vec<SceneEntry>> =
            { self.rows.iter() }.map(|row| kept.iter().map(|&column| row[column]).collect()).collect();
        rows.sort_unstable();
        rows.dedup();
        let columns = kept.iter().map(|&column| self.columns[column].clone()).collect();
        let is_cut = self.is_cut || kept.len() < self.columns.len();
        CertificateScene { columns, rows, is_cut, ..self }
    }
}

/// The views as one scene, with the rows of each view one after the other, in the order of the views.
pub(in super::super) fn in_order(model: &Model, proof: &ViewsProof) -> Option<CertificateScene> {
    let terms = CellNames { model, family: proof.family };
    let who = |at: usize| NamedProcess::Letter(Letter { at, family: proof.family });
    let mut found: Vec<(ViewPosition, Shown)> = Vec::new();
    let mut is_cut = false;
    let mut add = |source: ViewPosition, shown: Option<Shown>| match shown {
        Some(shown) => found.push((source, shown)),
        None => is_cut = true,
    };
    // Of what views never show there is nothing to be said.
    let is_shown = |column: ViewColumn| !proof.hidden.iter().any(|rule| rule.what == column && rule.when.is_none());
    for slot in 0..proof.k {
        for (at, column) in proof.local.iter().enumerate().filter(|(at, _)| is_shown(ViewColumn::Local(*at))) {
            let shown = match *column {
                LocalColumn::Control => Some(Shown::Place(who(slot))),
                LocalColumn::Own(cell) => terms.own(cell, who(slot)),
                LocalColumn::Element(row, element) => terms.element(row.var, row.owner, element, who(slot)),
                LocalColumn::Taken(_) => None,
            };
            add(ViewPosition::Local(slot, at), shown);
        }
    }
    for (at, column) in proof.shared.iter().enumerate().filter(|(at, _)| is_shown(ViewColumn::Shared(*at))) {
        let shown = match *column {
            SharedColumn::Cell(cell) => terms.cell(cell),
            SharedColumn::Control(process) => Some(Shown::Place(NamedProcess::Process(process))),
            SharedColumn::Taken(..) => None,
        };
        add(ViewPosition::Shared(at), shown);
    }
    for (at, presence) in proof.present.iter().enumerate() {
        let shown = somebody(&terms, proof, presence, who(proof.k));
        add(ViewPosition::Shared(proof.shared.len() + proof.named.len() + at), shown);
    }
    let orders = orders(proof.k);
    if proof.views.len().checked_mul(orders.len())? > MOST_ROWS {
        return None;
    }
    let mut rows: Vec<Vec<SceneEntry>> = Vec::new();
    for view in &proof.views {
        for order in &orders {
            let row = found.iter().map(|(source, _)| entry(view, source, order, &who));
            rows.push(row.collect::<Option<Vec<SceneEntry>>>()?);
        }
    }
    Some(CertificateScene {
        family: proof.family,
        n_letters: proof.k,
        only: Only::All,
        beside: None,
        columns: found.into_iter().map(|(_, shown)| shown).collect(),
        rows,
        is_cut,
        nameless: Vec::new(),
    })
}

/// That some process, called by this letter, has one of the values of a presence.
fn somebody(terms: &CellNames<'_>, proof: &ViewsProof, presence: &Presence, who: NamedProcess) -> Option<Shown> {
    let shown = match *proof.local.get(presence.column)? {
        LocalColumn::Own(cell) => terms.own(cell, who),
        LocalColumn::Element(row, element) => terms.element(row.var, row.owner, element, who),
        LocalColumn::Control | LocalColumn::Taken(_) => None,
    };
    let (Some(Shown::Cell(term, _)), NamedProcess::Letter(letter)) = (shown, who) else { return None };
    let value = |item: &Item| match item {
        Item::Value(value) => SceneEntry::Value(*value).value(),
        _ => None,
    };
    let values = presence.is.iter().map(value).collect::<Option<Vec<ValueTerm>>>()?;
    Some(Shown::Somebody(QuantifiedSentence {
        quantity: Quantity::Exists,
        letters: vec![letter.at],
        family: proof.family,
        except: Vec::new(),
        body: Box::new(SentenceFormula::Cell(term, Test::In(values))),
    }))
}

/// What a view shows in a column, where the letters denote its processes in this order.
fn entry(
    view: &View,
    source: &ViewPosition,
    order: &[usize],
    who: &dyn Fn(usize) -> NamedProcess,
) -> Option<SceneEntry> {
    let seen: Vec<usize> = (0..view.slots.len()).filter(|&slot| view.slots[slot].is_some()).collect();
    let item = match *source {
        ViewPosition::Shared(at) => *view.shared.get(at)?,
        ViewPosition::Local(letter, at) => *view.slots[*seen.get(*order.get(letter)?)?].as_ref()?.get(at)?,
    };
    Some(match item {
        Item::Value(value) => SceneEntry::Value(value),
        Item::Place(place) => SceneEntry::Place(place),
        Item::Hidden => SceneEntry::Hidden,
        Item::Taken(_) => return None,
        Item::Slot(slot) => {
            let letter = order.iter().position(|&at| seen.get(at) == Some(&usize::from(slot)));
            letter.map_or(SceneEntry::Another, |at| SceneEntry::Process(who(at)))
        }
    })
}

/// All orders of `k` things.
pub(in super::super) fn orders(k: usize) -> Vec<Vec<usize>> {
    let mut all: Vec<Vec<usize>> = vec![Vec::new()];
    for _ in 0..k {
        let longer = |order: &Vec<usize>| {
            let left = (0..k).filter(|at| !order.contains(at)).collect::<Vec<_>>();
            left.into_iter().map(|at| [&order[..], &[at]].concat()).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}
