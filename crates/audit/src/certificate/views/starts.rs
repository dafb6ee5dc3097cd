//! How any few processes of an initial state look.
//!
//! In: a program that starts alike for all sizes. Out: all configurations of `k` processes, in normal form. Cells that start anywhere have each
//! value of their type; a cell that starts with a process of the family has any.

use std::collections::BTreeSet;

use base::Span;
use evidence::views::{Item, LocalColumn, SharedColumn};
use model::control::Scope;
use model::eval::{State, free_cells, initial_states};
use model::value::Value;
use model::variable::CellId;

use super::look::{Decisions, End, Look, Looker};
use super::present;
use super::scene::{Scene, Slot};
use super::text::Text;

/// All configurations of `k` processes in which the program may start.
pub(super) fn starts(text: &Text<'_>, k: usize) -> Result<BTreeSet<Scene>, End> {
    let first = initial_states(text.model).next().ok_or(End::Uneven(Span::default()))?;
    let free: BTreeSet<CellId> = free_cells(text.model).into_iter().collect();
    alike(text, &first, &free)?;
    let mut found = BTreeSet::new();
    let mut next = Some(Decisions::default());
    while let Some(mut way) = next {
        let ranks = (0..k).map(|rank| if text.is_ordered { rank } else { 0 }).collect();
        let mut look = Look {
            text,
            scene: Scene { shared: Vec::new(), slots: vec![Some(Vec::new()); k], ranks },
            looker: Looker::Nobody,
            bound: Vec::new(),
            way: &mut way,
            guess_contents: true,
            guess_witnesses: true,
            has_most_witnesses: true,
            n_decided: 0,
            is_open: false,
            named: BTreeSet::new(),
            depth: 0,
            wrote_unseen: false,
        };
        match start(&mut look, &first, &free, k) {
            Ok(()) => drop(found.insert(look.scene.veiled(text).normal(text.is_ordered))),
            Err(End::No) => {}
            Err(end) => return Err(end),
        }
        next = way.following();
    }
    Ok(found)
}

/// Every process of the instance starts like the others, but for the processes that its cells name.
fn alike(text: &Text<'_>, first: &State, free: &BTreeSet<CellId>) -> Result<(), End> {
    for &column in &text.local {
        let mut values = text.model.families[text.family].processes().map(|process| {
            let cell = text.cell_of(process, column)?;
            let value = Some(first.cells[cell.index()]).filter(|value| !names_member(text, *value));
            Some((value, free.contains(&cell)))
        });
        let one = values.next();
        if values.any(|other| Some(other) != one) {
            return Err(End::Uneven(Span::default()));
        }
    }
    Ok(())
}

fn names_member(text: &Text<'_>, value: Value) -> bool {
    matches!(value, Value::Process(id) if text.is_member(id))
}

fn start<'m>(look: &mut Look<'_, 'm>, first: &State, free: &BTreeSet<CellId>, k: usize) -> Result<(), End> {
    let text = look.text;
    let content = |look: &mut Look<'_, 'm>, cell: CellId| match first.cells[cell.index()] {
        _ if free.contains(&cell) => look.anything(text.model.cells[cell].ty),
        value if names_member(text, value) => {
            let number = look.way.decide(look.scene.slots.len() + 1);
            look.member(number).map(Item::Slot)
        }
        value => Ok(Item::Value(value)),
    };
    for &column in &text.shared {
        let item = match column {
            SharedColumn::Cell(cell) => content(look, cell)?,
            SharedColumn::Control(process) => Item::Place(first.place(process)),
            SharedColumn::Taken(..) => Item::Taken(0),
        };
        look.scene.shared.push(item);
    }
    let process = text.model.families[text.family].first;
    for slot in 0..k {
        for &column in &text.local {
            let item = match (column, text.cell_of(process, column)) {
                (LocalColumn::Control, _) => Item::Place(first.place(process)),
                (_, Some(cell)) => content(look, cell)?,
                (_, None) => Item::Taken(0),
            };
            look.scene.slots[slot].iter_mut().for_each(|local| local.push(item));
        }
    }
    let others = text.model.processes.ids().filter(|&process| !text.is_member(process)).map(Looker::Other);
    for looker in (0..k as Slot).map(Looker::Slot).chain(others) {
        look.looker = looker;
        let family = match looker {
            Looker::Other(process) => text.model.processes[process].family,
            Looker::Slot(_) | Looker::Nobody => text.family,
        };
        for (id, counted) in text.model.loops.entries() {
            if counted.scope == Scope::Family(family) && text.is_all(&counted.domain) {
                look.clear(id)?;
            }
        }
        look.go(&text.written.families[family].entry)?;
    }
    for (presence, shown) in text.present.iter().enumerate() {
        let anywhere = text.cell_of(process, text.local[shown.column]).is_none_or(|cell| free.contains(&cell));
        let said = present::at_start(text, &look.scene, presence, anywhere);
        let said = said.unwrap_or_else(|| look.way.decide(2) == 1);
        look.scene.shared.push(Item::Value(Value::Bool(said)));
    }
    Ok(())
}
