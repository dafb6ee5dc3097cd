//! What a refutation left, in words: the view states in which a violating run could stay for ever, as far as one view shows them.
//!
//! In: a view, and some of its rows. Out: the places of its processes, and what its cells contain where that is the same at all of them.

use std::collections::BTreeSet;

use model::process::ProcessId;

use crate::items::{Item, value};
use crate::views::{ViewIdx, Views};

/// More places, or cells, than these are not shown.
const MOST_PLACES: usize = 4;
const MOST_CELLS: usize = 3;

/// A sentence without its end.
pub(crate) fn in_words(views: &Views<'_>, of: ViewIdx, rows: &BTreeSet<u32>) -> String {
    let model = views.model;
    let view = &views.list[of];
    let numbers = |item: Item| -> BTreeSet<u32> {
        let Ok(place) = view.items.binary_search(&item) else { return BTreeSet::new() };
        rows.iter().map(|&row| view.rows[row as usize][place]).collect()
    };
    let stands = |process: &ProcessId| {
        let places = numbers(Item::Control(*process));
        let name = |&number: &u32| {
            let place = &model.places[model::control::PlaceId::new(number as usize)].name;
            place.rsplit('.').next().unwrap_or(place).to_owned()
        };
        let mut names: Vec<String> = places.iter().take(MOST_PLACES).map(name).collect();
        if places.len() > MOST_PLACES {
            names.push("…".to_owned());
        }
        let who = &model.processes[*process].name;
        match &names[..] {
            [one] => format!("{who} stays at {one}"),
            _ => format!("{who} stays within {{{}}}", names.join(", ")),
        }
    };
    let mut parts: Vec<String> = view.members.iter().map(stands).collect();
    let mut cells = Vec::new();
    for &item in &view.items {
        if let Item::Cell(cell) = item
            && let [number] = numbers(item).into_iter().collect::<Vec<u32>>()[..]
            && views.viewers(item).len() > 1
        {
            let content = value(model, model.cells[cell].ty, number);
            cells.push(format!("{} == {}", model.cells[cell].name, model::print::cell_content(model, cell, content)));
        }
    }
    if !cells.is_empty() {
        let more = if cells.len() > MOST_CELLS { ", …" } else { "" };
        cells.truncate(MOST_CELLS);
        parts.push(format!("with {}{more}", cells.join(", ")));
    }
    parts.join(" ")
}
