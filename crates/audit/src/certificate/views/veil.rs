//! What views do not show: the checker's reading of the rules that a proof brings along.
//!
//! In: rules, each of which hides one column, everywhere or where another has one of some values. Out: whether they are rules at all, scenes with what they hide
//! hidden. A hidden column is read as anything of its type, so nothing has to be known about why it is hidden. What a rule reads is never
//! hidden itself, and belongs to all or to the same process: so the rules say the same of a state and of every part of it.

use std::rc::Rc;

use evidence::views::{Hiding, Item, LocalColumn, SharedColumn, ViewColumn};
use model::value::Value;

use super::scene::{Local, Scene};
use super::text::Text;
use crate::certificate::{CertificateError, Outcome};

/// Whether the rules of a proof are rules.
pub(super) fn check(text: &Text<'_>) -> Outcome<()> {
    let refuse = |why: &str| Err(CertificateError::Malformed(why.to_owned()));
    let is_there = |column: ViewColumn| match column {
        ViewColumn::Shared(at) => at < text.shared.len(),
        ViewColumn::Local(at) => at < text.local.len(),
    };
    for rule in &text.hidden {
        if !is_there(rule.what) || !rule.when.is_none_or(is_there) {
            return refuse("a rule hides, or looks at, a column that there is not");
        }
        if rule.when.is_none() && !rule.is.is_empty() {
            return refuse("a rule has values, and no column to have them");
        }
        if text.hidden.iter().any(|other| Some(other.what) == rule.when) {
            return refuse("a rule looks at what may be hidden");
        }
        let is_cell = match rule.what {
            ViewColumn::Shared(at) => matches!(text.shared[at], SharedColumn::Cell(_)) && !counts(text, rule),
            ViewColumn::Local(at) => {
                matches!(text.local[at], LocalColumn::Own(_) | LocalColumn::Element(..)) && !counts(text, rule)
            }
        };
        if !is_cell {
            return refuse("control and loops are not hidden");
        }
        if matches!((rule.what, rule.when), (ViewColumn::Shared(_), Some(ViewColumn::Local(_)))) {
            return refuse("what is shared does not depend on who looks");
        }
        let is_plain = |item: &Item| match item {
            Item::Place(_) => true,
            Item::Value(Value::Process(id)) => id.index() < text.model.processes.len() && !text.is_member(*id),
            Item::Value(_) => true,
            Item::Slot(_) | Item::Taken(_) | Item::Hidden => false,
        };
        if !rule.is.iter().all(is_plain) {
            return refuse("a rule tells processes apart");
        }
    }
    Ok(())
}

/// Whether the hidden column is the counter of a loop.
fn counts(text: &Text<'_>, rule: &Hiding) -> bool {
    let first = text.model.families[text.family].first;
    let cell = match rule.what {
        ViewColumn::Shared(at) => match text.shared[at] {
            SharedColumn::Cell(cell) => Some(cell),
            SharedColumn::Control(_) | SharedColumn::Taken(..) => None,
        },
        ViewColumn::Local(at) => text.cell_of(first, text.local[at]),
    };
    cell.is_some_and(|cell| {
        let var = text.model.cells[cell].var;
        text.model.loops.iter().any(|counted| counted.counter == var)
    })
}

impl Scene {
    /// The scene as the rules show it.
    pub fn veiled(mut self, text: &Text<'_>) -> Scene {
        let applies = |rule: &Hiding, shared: &[Item], local: Option<&Local>| {
            let shown = match (rule.when, local) {
                (None, _) => return true,
                (Some(ViewColumn::Shared(at)), _) => Some(shared[at]),
                (Some(ViewColumn::Local(at)), Some(local)) => Some(local[at]),
                (Some(ViewColumn::Local(_)), None) => None,
            };
            shown.is_some_and(|shown| rule.is.contains(&shown))
        };
        for rule in &text.hidden {
            match rule.what {
                ViewColumn::Shared(at) if applies(rule, &self.shared, None) => self.shared[at] = Item::Hidden,
                ViewColumn::Shared(_) => {}
                ViewColumn::Local(at) => {
                    for slot in 0..self.slots.len() {
                        let is_hidden =
                            self.slots[slot].is_some() && applies(rule, &self.shared, self.slots[slot].as_ref());
                        if let Some(local) = self.slots[slot].as_mut().filter(|_| is_hidden) {
                            Rc::make_mut(local)[at] = Item::Hidden;
                        }
                    }
                }
            }
        }
        self
    }
}
