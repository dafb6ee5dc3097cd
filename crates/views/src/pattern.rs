//! Whether a state that violates a property can be made of views.
//!
//! In: the views, and what must never be so. Out: a configuration of which every `k` processes are views and which violates the property, or
//! none. A property that is violated in a state is violated in the part of it that has one process for each quantifier which holds or
//! fails because of one; so configurations of that many processes are looked at, and smaller ones, which are whole states. Where the property
//! looks at a process that a cell or the text itself names, and that is not seen, every process that fits is looked at there.

use std::collections::BTreeSet;

use base::{Budget, StopReason};
use model::expr::Expr;

use crate::choices::Choices;
use crate::configuration::{Configuration, Slot};
use crate::fixpoint::Closed;
use crate::packed::{Packed, Shape};
use crate::sight::{Ground, Guessing, Halt, Needs, Sight, Who};

/// At most so many processes are seen because the property looks at them by name; what others hold may be anything.
const MOST_LOOKED_AT: usize = 3;

/// What must not be.
#[derive(Clone, Copy, Debug)]
pub struct Pattern<'m> {
    /// What is looked at.
    pub expr: &'m Expr,
    /// The value that it must not have.
    pub value: bool,
    /// So many processes show it.
    pub witnesses: usize,
}

/// What came of the search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// Nothing.
    Nothing,
    /// The views do not exclude this.
    Candidate(Packed),
    /// The expression is outside the fragment.
    Outside(base::Span),
    /// More processes would have to be named at once than configurations name.
    Full,
}

/// Looks for a violating configuration.
///
/// # Errors
/// A limit.
pub fn search<'m>(
    ground: Ground<'m>,
    views: &Closed,
    pattern: Pattern<'m>,
    budget: &Budget,
) -> Result<Found, StopReason> {
    for view in &views.theta {
        budget.check(0)?;
        match look(ground, views, pattern, (view, 0)) {
            Found::Nothing => {}
            found => return Ok(found),
        }
    }
    Ok(Found::Nothing)
}

/// A configuration, and how many of its processes are seen because the property looks at them by name.
fn look<'m>(ground: Ground<'m>, views: &Closed, pattern: Pattern<'m>, (row, n_looked_at): (&Packed, usize)) -> Found {
    let config = views.shape.unpack(row);
    let unseen = match violates(ground, pattern, &config, n_looked_at >= MOST_LOOKED_AT) {
        Violates::Yes => return Found::Candidate(row.clone()),
        Violates::Outside(span) => return Found::Outside(span),
        Violates::No { unseen } => unseen,
    };
    let n_slots = config.slots.len();
    // A slot that the expression itself made is any process that is not seen yet.
    let named = unseen.into_iter().map(|slot| (Some(slot).filter(|&slot| (slot as usize) < n_slots), n_looked_at + 1));
    let is_short = n_looked_at == 0 && (Shape::seen(row).count_ones() as usize) < pattern.witnesses;
    for (slot, n_looked_at) in named.chain(is_short.then_some((None, 0))) {
        for one in views.ones(row) {
            let Some(all) = views.shape.join(row, one, slot) else { return Found::Full };
            for joined in all {
                if views.missing(&joined.packed, joined.newest).is_some() {
                    continue;
                }
                match look(ground, views, pattern, (&joined.packed, n_looked_at)) {
                    Found::Nothing => {}
                    found => return found,
                }
            }
        }
    }
    Found::Nothing
}

/// Whether an expression may have a value.
enum Violates {
    Yes,
    /// Not without looking at the processes in these slots.
    No {
        unseen: BTreeSet<Slot>,
    },
    Outside(base::Span),
}

/// Whether the expression may have the value where these processes are seen.
fn violates<'m>(ground: Ground<'m>, pattern: Pattern<'m>, config: &Configuration, guess: bool) -> Violates {
    let mut choices = Choices::default();
    let mut unseen = BTreeSet::new();
    loop {
        let mut sight = Sight {
            ground,
            config: config.clone(),
            me: Who::Nobody,
            bound: Vec::new(),
            guessing: Guessing { contents: guess, witnesses: false },
            choices: &mut choices,
            needs: Needs::default(),
        };
        match sight.truth(pattern.expr) {
            Ok(truth) if truth == pattern.value => return Violates::Yes,
            Ok(_) | Err(Halt::Blocked) => {}
            Err(Halt::Unseen) => unseen.extend(sight.needs.slot),
            // A property that has no value is not one that holds.
            Err(Halt::Fault(_)) => return Violates::Yes,
            Err(Halt::Outside(span)) => return Violates::Outside(span),
        }
        if !choices.advance() {
            return Violates::No { unseen };
        }
    }
}
