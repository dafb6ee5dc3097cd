//! Views of few cells and two processes as scenes, one for each.

use evidence::fine::{FineContent, FineProof, FineView, LocalItem};
use evidence::views::{LocalColumn, SharedColumn};
use model::Model;

use super::local::Blocks;
use super::terms::CellNames;
use super::views::orders;
use super::{CertificateScene, Only, SceneEntry, Shown};
use crate::proof::formula::{Letter, NamedProcess};
use crate::text::clean;

/// The scenes; `None` where a view shows what there is not.
pub(super) fn scenes(model: &Model, proof: &FineProof) -> Option<Vec<CertificateScene>> {
    proof.views.iter().map(|view| scene(model, proof, view)).collect()
}

fn scene(model: &Model, proof: &FineProof, view: &FineView) -> Option<CertificateScene> {
    let terms = CellNames { model, family: proof.family };
    let who = |at: usize| NamedProcess::Letter(Letter { at, family: proof.family });
    let blocks = local_blocks(&terms, proof, view.blocks.clone(), who(0));
    let mut columns: Vec<Shown> = (0..view.k).map(|at| Shown::Block(who(at), blocks.clone())).collect();
    let mut shown_cells: Vec<usize> = Vec::new();
    let mut names: Vec<String> = Vec::new();
    for (at, column) in view.cells.iter().enumerate() {
        let (shown, name) = match *column {
            SharedColumn::Cell(cell) => (terms.cell(cell), Some(clean(&model.cells[cell].name))),
            SharedColumn::Control(process) => (Some(Shown::Place(NamedProcess::Process(process))), None),
            SharedColumn::Taken(..) => (None, None),
        };
        names.extend(name);
        if let Some(shown) = shown {
            columns.push(shown);
            shown_cells.push(at);
        }
    }
    let mut rows: Vec<Vec<SceneEntry>> = Vec::new();
    for state in &view.theta {
        for order in orders(view.k) {
            let content = |at: &usize| match state.cells[*at] {
                FineContent::Value(value) => SceneEntry::Value(value),
                FineContent::Place(place) => SceneEntry::Place(place),
                FineContent::Other => SceneEntry::Another,
                FineContent::Slot(slot) => {
                    let letter = order.iter().position(|&at| at == usize::from(slot));
                    letter.map_or(SceneEntry::Another, |at| SceneEntry::Process(who(at)))
                }
            };
            let blocks = order.iter().map(|&slot| SceneEntry::Block(state.blocks[slot]));
            rows.push(blocks.chain(shown_cells.iter().map(content)).collect());
        }
    }
    rows.sort_unstable();
    rows.dedup();
    let is_cut = shown_cells.len() < view.cells.len() || view.theta.iter().any(|state| state.taken.contains(&true));
    let beside = (!names.is_empty()).then(|| names.join(" and "));
    let (family, only, nameless) = (proof.family, Only::All, Vec::new());
    Some(CertificateScene { family, n_letters: view.k, only, beside, columns, rows, is_cut, nameless })
}

/// The local states of a proof, each in its block.
pub(in crate::proof) fn local_blocks(
    terms: &CellNames<'_>,
    proof: &FineProof,
    block_of: Vec<u32>,
    own: NamedProcess,
) -> Blocks {
    let column = |column: &LocalColumn| match *column {
        LocalColumn::Control => Some(Shown::Place(own)),
        LocalColumn::Own(cell) => terms.own(cell, own),
        LocalColumn::Element(row, element) => terms.element(row.var, row.owner, element, own),
        LocalColumn::Taken(_) => None,
    };
    let entry = |item: &LocalItem| match *item {
        LocalItem::Value(value) => SceneEntry::Value(value),
        LocalItem::Place(place) => SceneEntry::Place(place),
        LocalItem::Itself => SceneEntry::Process(own),
        LocalItem::Another => SceneEntry::Another,
    };
    Blocks {
        columns: proof.local.iter().map(column).collect(),
        states: proof.states.iter().map(|state| state.iter().map(entry).collect()).collect(),
        block_of,
        own,
    }
}
