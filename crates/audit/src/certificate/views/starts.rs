//! How any few processes of an initial state look.
//!
//! In: a program that starts alike for all sizes. Out: all configurations of `k` processes, in normal form. Cells that start anywhere have each
//! value of their type; a cell that starts with a process of the family has any.

use std::collections::BTreeSet;
use std::rc::Rc;

use base::{Budget, Span};
use evidence::views::{Item, LocalColumn, SharedColumn};
use model::control::TextOwner;
use model::eval::{State, free_cells, initial_states};
use model::expr::{Expr, ExprKind};
use model::value::Value;
use model::variable::{CellId, Init};

use super::look::{Decisions, End, Look, Looker};
use super::present;
use super::scene::{Scene, Slot};
use super::text::Text;
use crate::certificate::Outcome;

/// The limits are looked at after so many ways to start.
const PACE: usize = 256;

/// All configurations of `k` processes in which the program may start, or why there are none.
pub(super) fn starts(text: &Text<'_>, k: usize, budget: &Budget) -> Outcome<Result<BTreeSet<Scene>, End>> {
    let Some(first) = initial_states(text.model).next() else { return Ok(Err(End::Uneven(Span::default()))) };
    let free: BTreeSet<CellId> = free_cells(text.model).into_iter().collect();
    if let Err(end) = alike(text, &first, &free) {
        return Ok(Err(end));
    }
    let mut found = BTreeSet::new();
    let mut next = Some(Decisions::default());
    let mut n_ways = 0_usize;
    while let Some(mut way) = next {
        n_ways += 1;
        if n_ways.is_multiple_of(PACE) {
            budget.check(0)?;
        }
        let ranks = if text.is_ordered { (0..k).collect() } else { Vec::new() };
        let mut look = Look {
            text,
            scene: Scene {
                shared: vec![Item::Taken(0); text.said_at(text.present.len())],
                slots: vec![Some(Rc::from([])); k],
                ranks,
            },
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
            watched: None,
            read: 0,
        };
        match start(&mut look, &first, &free, k) {
            Ok(()) => drop(found.insert(look.scene.veiled(text).normal(text.is_ordered))),
            Err(End::No) => {}
            Err(end) => return Ok(Err(end)),
        }
        next = way.following();
    }
    Ok(Ok(found))
}

/// Every process of the instance starts like the others, but for the processes that its cells name.
fn alike(text: &Text<'_>, first: &State, free: &BTreeSet<CellId>) -> Result<(), End> {
    for &column in &text.local {
        let mut values = text.model.families[text.family].processes().map(|process| {
            let cell = text.cell_of(process, column)?;
            if computed(text, cell).is_some() {
                return None;
            }
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

/// What a cell starts with, where that is computed from whose it is.
fn computed<'m>(text: &Text<'m>, cell: CellId) -> Option<&'m Expr> {
    let var = text.model.cells[cell].var;
    match &text.written.vars[var].init {
        Init::Fill(start) if text.asks_who(var, start) => Some(start),
        _ => None,
    }
}

/// Whether a cell starts with a process that its declaration names by a number, or as one that is there at every size.
fn is_named(text: &Text<'_>, cell: CellId) -> bool {
    match &text.written.vars[text.model.cells[cell].var].init {
        Init::Fill(start) => match &start.kind {
            ExprKind::Const(_) => true,
            ExprKind::ToProcess(_, inner) => matches!(inner.kind, ExprKind::Const(_)),
            _ => false,
        },
        Init::First | Init::Any | Init::Elements(_) => false,
    }
}

/// Chooses the slots of the named processes: seen ones, or others.
fn name(look: &mut Look<'_, '_>) {
    let text = look.text;
    for index in 0..text.n_named {
        let mut free: Vec<Slot> = (0..look.scene.slots.len() as Slot).collect();
        if text.is_ordered {
            free.retain(|&slot| look.scene.ranks[slot as usize] == index);
        } else {
            let given = &look.scene.shared[text.shared.len()..text.shared.len() + index];
            free.retain(|&slot| !given.contains(&Item::Slot(slot)));
        }
        let slot = match free.get(look.way.decide(free.len() + 1)) {
            Some(&slot) => slot,
            None => look.scene.add(text.is_ordered.then_some(index)),
        };
        look.scene.shared[text.shared.len() + index] = Item::Slot(slot);
    }
}

fn names_member(text: &Text<'_>, value: Value) -> bool {
    matches!(value, Value::Process(id) if text.is_member(id))
}

/// What a cell starts with.
fn content(look: &mut Look<'_, '_>, first: &State, free: &BTreeSet<CellId>, cell: CellId) -> Result<Item, End> {
    let text = look.text;
    if free.contains(&cell) {
        return look.anything(text.model.cells[cell].ty);
    }
    if let Some(start) = computed(text, cell) {
        let value = look.value(start)?;
        let fits = match value {
            Item::Slot(_) => look.names_members(text.model.cells[cell].ty),
            Item::Value(value) => text.model.cells[cell].ty.contains(value, text.model.type_context()),
            Item::Place(_) | Item::Taken(_) | Item::Hidden => false,
        };
        return if fits { Ok(value) } else { Err(End::Uneven(start.span)) };
    }
    match first.cells[cell.index()] {
        Value::Process(id) if text.is_member(id) => {
            let column = text.named_at(text.model.processes[id].index).filter(|_| is_named(text, cell));
            match column {
                Some(column) => Ok(look.scene.shared[column]),
                None => {
                    let number = look.way.decide(look.scene.slots.len() + 1);
                    look.member(number).map(Item::Slot)
                }
            }
        }
        value => Ok(Item::Value(value)),
    }
}

fn start(look: &mut Look<'_, '_>, first: &State, free: &BTreeSet<CellId>, k: usize) -> Result<(), End> {
    let text = look.text;
    name(look);
    for (at, &column) in text.shared.iter().enumerate() {
        look.scene.shared[at] = match column {
            SharedColumn::Cell(cell) => content(look, first, free, cell)?,
            SharedColumn::Control(process) => Item::Place(first.place(process)),
            SharedColumn::Taken(..) => Item::Taken(0),
        };
    }
    let process = text.model.families[text.family].first;
    for slot in 0..k {
        look.looker = Looker::Slot(slot as Slot);
        let mut local = Vec::new();
        for &column in &text.local {
            let item = match (column, text.cell_of(process, column)) {
                (LocalColumn::Control, _) => Item::Place(first.place(process)),
                (_, Some(cell)) => content(look, first, free, cell)?,
                (_, None) => Item::Taken(0),
            };
            local.push(item);
        }
        look.scene.slots[slot] = Some(local.into());
    }
    let others = text.model.processes.ids().filter(|&process| !text.is_member(process)).map(Looker::Other);
    for looker in (0..k as Slot).map(Looker::Slot).chain(others) {
        look.looker = looker;
        let family = match looker {
            Looker::Other(process) => text.model.processes[process].family,
            Looker::Slot(_) | Looker::Nobody => text.family,
        };
        for (id, counted) in text.model.loops.entries() {
            if counted.scope == TextOwner::Family(family) && text.is_all(&counted.domain) {
                look.clear(id)?;
            }
        }
        look.go(&text.written.families[family].entry)?;
    }
    for (presence, shown) in text.present.iter().enumerate() {
        let anywhere = text
            .cell_of(process, text.local[shown.column])
            .is_none_or(|cell| free.contains(&cell) || computed(text, cell).is_some());
        let said = present::at_start(text, &look.scene, presence, anywhere);
        let said = said.unwrap_or_else(|| look.way.decide(2) == 1);
        look.scene.shared[text.said_at(presence)] = Item::Value(Value::Bool(said));
    }
    Ok(())
}
