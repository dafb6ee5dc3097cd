//! What a violation of a property shows: processes in certain local states, and what shared columns hold.
//!
//! In: a property's expression and the value that it must not have. Out: patterns, one of which every violating state shows. Where a quantifier is
//! decided by some processes, these are in the pattern; of several such quantifiers the first one's.

use evidence::fine::FineContent;
use model::expr::Expr;
use model::value::Value;

use super::bits::Bits;
use super::datum::{Answers, Choice, Datum, QuantifierFact, Stop, Unknown};
use super::eval::{Eval, Mover};
use super::search::{Pattern, Required};
use super::skeleton::{Refusal, Skeleton};
use crate::sight::Ground;

/// More ways through a property are not followed.
const MOST_WAYS: usize = 100_000;

/// The patterns of states in which the expression has this value.
///
/// # Errors
/// Why the expression is not followed.
pub fn patterns(ground: Ground<'_>, skeleton: &Skeleton, (expr, bad): (&Expr, bool)) -> Result<Vec<Pattern>, Refusal> {
    let mut found: Vec<Pattern> = Vec::new();
    let mut open: Vec<(Answers, Vec<QuantifierFact>)> = vec![(Vec::new(), Vec::new())];
    let mut n_ways = 0;
    while let Some((answers, told)) = open.pop() {
        n_ways += 1;
        if n_ways > MOST_WAYS {
            return Err(Refusal::TooMany);
        }
        let mut eval = Eval::new(ground, Mover::Nobody, &[], answers);
        let value = eval.value(expr);
        if eval.may_fault {
            return Err(Refusal::Outside(expr.span));
        }
        match value {
            Ok(Datum::Value(Value::Bool(truth))) if truth == bad => {
                for pattern in shown(skeleton, &eval.answers, &told) {
                    if !found.contains(&pattern) {
                        found.push(pattern);
                    }
                }
            }
            Ok(Datum::Value(Value::Bool(_))) => {}
            Ok(_) | Err(Stop::Fault | Stop::Blocked) => return Err(Refusal::Outside(expr.span)),
            Err(Stop::Outside(span)) => return Err(Refusal::Outside(span)),
            Err(Stop::Need(need)) => {
                let answers = &eval.answers;
                open.extend(need.choices.into_iter().map(|Choice { datum, told: more }| {
                    ([&answers[..], &[(need.unknown, datum)]].concat(), told.iter().cloned().chain(more).collect())
                }));
            }
        }
    }
    Ok(found)
}

fn shown(skeleton: &Skeleton, answers: &Answers, told: &[QuantifierFact]) -> Vec<Pattern> {
    let mut everyone = Bits::full(skeleton.states.len());
    let mut first = None;
    for one in told {
        match one {
            QuantifierFact::All(lists) => everyone.keep(&skeleton.set(lists)),
            QuantifierFact::Some(shown) => first = first.or(Some(shown)),
        }
    }
    let held = |(unknown, datum): &(Unknown, Datum)| {
        let Unknown::Shared(column) = unknown else { return None };
        Some(match datum {
            Datum::Value(value) => (*column, Required::Holds(FineContent::Value(*value))),
            Datum::Place(place) => (*column, Required::Holds(FineContent::Place(*place))),
            _ => (*column, Required::NamesSomebody),
        })
    };
    let cells: Vec<(usize, Required)> = answers.iter().filter_map(held).collect();
    let Some(shown) = first else { return vec![Pattern { processes: Vec::new(), everyone, cells }] };
    let pattern = |shown: &super::datum::Witnesses| {
        let processes = shown.processes.iter().map(|list| skeleton.set(std::slice::from_ref(list))).collect();
        let mut cells = cells.clone();
        for &(column, name) in &shown.names {
            let required = name.map_or(Required::NamesAnother, Required::Names);
            cells.retain(|(other, _)| *other != column);
            cells.push((column, required));
        }
        Pattern { processes, everyone: everyone.clone(), cells }
    };
    shown.iter().map(pattern).collect()
}
