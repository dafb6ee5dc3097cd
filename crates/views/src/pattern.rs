//! Whether a state that violates a property can be made of views.
//!
//! In: the views, and what must never be so. Out: a configuration of which every `k` processes are views and which violates the property, or
//! none. A property that is violated in a state is violated in the part of it that has one process for each quantifier which holds or
//! fails because of one; so configurations of that many processes are looked at, and smaller ones, which are whole states.

use base::{Budget, StopReason};
use model::expr::Expr;

use crate::choices::Choices;
use crate::config::Config;
use crate::fixpoint::Closed;
use crate::packed::{Packed, Shape};
use crate::sight::{Ground, Guessing, Halt, Needs, Sight, Who};

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
    Candidate(Config),
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
        match look(ground, views, pattern, view) {
            Found::Nothing => {}
            found => return Ok(found),
        }
    }
    Ok(Found::Nothing)
}

fn look<'m>(ground: Ground<'m>, views: &Closed, pattern: Pattern<'m>, row: &Packed) -> Found {
    let config = views.shape.unpack(row);
    match violates(ground, pattern, &config) {
        Ok(true) => return Found::Candidate(config),
        Ok(false) => {}
        Err(span) => return Found::Outside(span),
    }
    if Shape::seen(row).count_ones() as usize >= pattern.witnesses {
        return Found::Nothing;
    }
    for one in views.ones(row) {
        let Some(all) = views.shape.join(row, one, None) else { return Found::Full };
        for joined in all {
            if views.missing(&joined.packed, joined.newest).is_some() {
                continue;
            }
            match look(ground, views, pattern, &joined.packed) {
                Found::Nothing => {}
                found => return found,
            }
        }
    }
    Found::Nothing
}

/// Whether the expression may have the value where these processes are seen.
fn violates<'m>(ground: Ground<'m>, pattern: Pattern<'m>, config: &Config) -> Result<bool, base::Span> {
    let mut choices = Choices::default();
    loop {
        let mut sight = Sight {
            ground,
            config: config.clone(),
            me: Who::Nobody,
            bound: Vec::new(),
            guessing: Guessing { contents: true, witnesses: false },
            choices: &mut choices,
            needs: Needs::default(),
        };
        match sight.truth(pattern.expr) {
            Ok(truth) if truth == pattern.value => return Ok(true),
            Ok(_) | Err(Halt::Blocked | Halt::Unseen) => {}
            // A property that has no value is not one that holds.
            Err(Halt::Fault(_)) => return Ok(true),
            Err(Halt::Outside(span)) => return Err(span),
        }
        if !choices.advance() {
            return Ok(false);
        }
    }
}
