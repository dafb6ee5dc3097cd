//! Views of any `k` processes as a scene.

use evidence::views::{Item, LocalColumn, SharedColumn, View, ViewsProof};
use model::Model;

use super::terms::Terms;
use super::{Entry, Only, Scene, Shown};
use crate::proof::formula::{Letter, Who};

/// More views than this, each counted once for each order of its processes, are not put into words.
const MOST_ROWS: usize = 60_000;

/// A column of a scene, by where it stands in a view.
enum Source {
    Shared(usize),
    /// The position of the process among the seen ones, and of the column.
    Local(usize, usize),
}

/// The views, with a letter for each process; each view in every order of its processes. `None` where they are too many.
pub(super) fn scene(model: &Model, proof: &ViewsProof) -> Option<Scene> {
    let mut scene = in_order(model, proof)?;
    scene.rows.sort_unstable();
    scene.rows.dedup();
    Some(scene)
}

/// The same, with the rows of each view one after the other, in the order of the views.
pub(in super::super) fn in_order(model: &Model, proof: &ViewsProof) -> Option<Scene> {
    let terms = Terms { model, family: proof.family };
    let who = |at: usize| Who::Letter(Letter { at, family: proof.family });
    let mut found: Vec<(Source, Shown)> = Vec::new();
    let mut is_cut = false;
    let mut add = |source: Source, shown: Option<Shown>| match shown {
        Some(shown) => found.push((source, shown)),
        None => is_cut = true,
    };
    for slot in 0..proof.k {
        for (at, column) in proof.local.iter().enumerate() {
            let shown = match *column {
                LocalColumn::Control => Some(Shown::Place(who(slot))),
                LocalColumn::Own(cell) => terms.own(cell, who(slot)),
                LocalColumn::Element(row, element) => terms.element(row.var, row.owner, element, who(slot)),
                LocalColumn::Taken(_) => None,
            };
            add(Source::Local(slot, at), shown);
        }
    }
    for (at, column) in proof.shared.iter().enumerate() {
        let shown = match *column {
            SharedColumn::Cell(cell) => terms.cell(cell),
            SharedColumn::Control(process) => Some(Shown::Place(Who::Process(process))),
            SharedColumn::Taken(..) => None,
        };
        add(Source::Shared(at), shown);
    }
    let orders = orders(proof.k);
    if proof.views.len().checked_mul(orders.len())? > MOST_ROWS {
        return None;
    }
    let mut rows: Vec<Vec<Entry>> = Vec::new();
    for view in &proof.views {
        for order in &orders {
            let row = found.iter().map(|(source, _)| entry(view, source, order, &who));
            rows.push(row.collect::<Option<Vec<Entry>>>()?);
        }
    }
    Some(Scene {
        family: proof.family,
        n_letters: proof.k,
        only: Only::All,
        beside: None,
        columns: found.into_iter().map(|(_, shown)| shown).collect(),
        rows,
        // What views say of all processes is no column.
        is_cut: is_cut || !proof.present.is_empty(),
    })
}

/// What a view shows in a column, where the letters stand for its processes in this order.
fn entry(view: &View, source: &Source, order: &[usize], who: &dyn Fn(usize) -> Who) -> Option<Entry> {
    let seen: Vec<usize> = (0..view.slots.len()).filter(|&slot| view.slots[slot].is_some()).collect();
    let item = match *source {
        Source::Shared(at) => *view.shared.get(at)?,
        Source::Local(letter, at) => *view.slots[*seen.get(*order.get(letter)?)?].as_ref()?.get(at)?,
    };
    Some(match item {
        Item::Value(value) => Entry::Value(value),
        Item::Place(place) => Entry::Place(place),
        Item::Hidden => Entry::Hidden,
        Item::Taken(_) => return None,
        Item::Slot(slot) => {
            let letter = order.iter().position(|&at| seen.get(at) == Some(&usize::from(slot)));
            letter.map_or(Entry::Another, |at| Entry::Process(who(at)))
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
