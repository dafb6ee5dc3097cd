//! Closed walks of windows that violate a property.
//!
//! In: checked windows. Out: whether a closed walk shows what a violating state shows. A walk is followed from each window at which it may begin,
//! as layers of all that can be reached; what is known of a walk is where it is, what it has shown, and its sums.

use std::collections::BTreeMap;

use base::Budget;
use evidence::rings::{Network, RingItem, RingValue};
use model::eval::{State, Viewpoint};
use model::expr::{Access, Expr, ExprKind, Whose};
use model::process::ProcessId;
use model::property::PropertyKind;
use model::value::Value;
use model::variable::CellId;
use model::visit::each_part;
use rustc_hash::{FxHashMap, FxHashSet};

use super::said::{ProcessPattern, Said};
use super::sizes::{Sized, Spot};
use super::{Beside, Checker, malformed};
use crate::certificate::{CertificateError, Outcome};

/// What is known of a window in one of its states.
pub(super) struct Stop {
    pub(super) may_pass: bool,
    pub(super) shows: Vec<bool>,
    weights: Vec<u128>,
    shared: Vec<u128>,
    /// Whether the window begins with the process that types tell apart from all others.
    is_mark: bool,
}

/// A window in one of its states.
type At = (usize, usize);

#[derive(Clone, PartialEq, Eq, Hash)]
struct Walker {
    at: At,
    shown: Vec<bool>,
    sums: Vec<u128>,
}

/// All walks.
pub(super) struct Round {
    pub(super) stops: Vec<Vec<Stop>>,
    right: Vec<Vec<Vec<At>>>,
    /// The totals of the flows, and whether sums may be more.
    totals: Vec<(u128, bool)>,
    pub(super) n_shown: usize,
    has_mark: bool,
}

impl Round {
    pub(super) fn new(checker: &Checker<'_>, property: &PropertyKind, said: &Said) -> Outcome<Round> {
        let is_deadlock = matches!(property, PropertyKind::DeadlockFree);
        let distances = checker.proof.distances;
        let shown = if is_deadlock { None } else { Some(shown(checker, said)?) };
        let mut stops = Vec::new();
        for (window, set) in checker.proof.windows.iter().enumerate() {
            let mut of_window = Vec::new();
            for (number, state) in set.states.iter().enumerate() {
                let deed = &checker.deeds[window][number][0];
                let mut weights = Vec::new();
                let mut shared = Vec::new();
                for flow in &checker.proof.flows {
                    let counted = checker.counted(flow, set, state)?;
                    weights.push(counted.0);
                    shared.push(counted.1);
                }
                let shows = match &shown {
                    None => vec![!deed.rests],
                    Some(shown) => shown.iter().map(|shown| shown[window][number]).collect(),
                };
                let first = set.word[0];
                let is_mark =
                    if distances.left > 0 { first.left == 0 } else { distances.right > 0 && first.right == 0 };
                of_window.push(Stop { may_pass: !is_deadlock || deed.is_stuck, shows, weights, shared, is_mark });
            }
            stops.push(of_window);
        }
        let n_shown = if is_deadlock { 1 } else { said.at.len() };
        let totals = checker.proof.flows.iter().map(|flow| (u128::from(flow.total), flow.at_least)).collect();
        let has_mark = distances.left > 0 || distances.right > 0;
        let right = if checker.proof.network == Network::Tree { Vec::new() } else { right(checker) };
        Ok(Round { stops, right, totals, n_shown, has_mark })
    }

    /// Whether there is a closed walk that shows everything, each at another window.
    pub(super) fn exists(&self, budget: &Budget) -> Outcome<bool> {
        for (window, states) in self.stops.iter().enumerate() {
            for (number, stop) in states.iter().enumerate() {
                let begins = if self.has_mark { stop.is_mark } else { stop.shows.first().copied().unwrap_or(true) };
                if stop.may_pass && begins && self.returns((window, number), budget)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    fn returns(&self, start: At, budget: &Budget) -> Outcome<bool> {
        let fresh = Walker { at: start, shown: vec![false; self.n_shown], sums: vec![0; self.totals.len()] };
        let mut layer: Vec<Walker> = self.stopped(fresh);
        let mut known: FxHashSet<Walker> = layer.iter().cloned().collect();
        while !layer.is_empty() {
            budget.check(0)?;
            let mut next = Vec::new();
            for walker in &layer {
                for &at in &self.right[walker.at.0][walker.at.1] {
                    let stop = &self.stops[at.0][at.1];
                    if at == start && self.is_done(walker, stop) {
                        return Ok(true);
                    }
                    if !stop.may_pass || self.has_mark && stop.is_mark {
                        continue;
                    }
                    for further in self.stopped(Walker { at, ..walker.clone() }) {
                        if known.insert(further.clone()) {
                            next.push(further);
                        }
                    }
                }
            }
            layer = next;
        }
        Ok(false)
    }

    fn is_done(&self, walker: &Walker, start: &Stop) -> bool {
        let sums = walker.sums.iter().zip(&start.shared).zip(&self.totals);
        let has = |((sum, shared), (total, at_least)): ((&u128, &u128), &(u128, bool))| match at_least {
            false => sum + shared == *total,
            true => sum + shared >= *total,
        };
        walker.shown.iter().all(|shown| *shown) && sums.into_iter().all(has)
    }

    /// Who stops at a window shows nothing there, or one more thing; nobody goes on whose sums are too great.
    fn stopped(&self, walker: Walker) -> Vec<Walker> {
        let stop = &self.stops[walker.at.0][walker.at.1];
        let mut sums: Vec<u128> = walker.sums.iter().zip(&stop.weights).map(|(sum, weight)| sum + weight).collect();
        for (sum, (total, at_least)) in sums.iter_mut().zip(&self.totals) {
            // What is more than enough need not be counted.
            if *at_least && *sum > *total {
                *sum = *total;
            }
        }
        if sums.iter().zip(&self.totals).any(|(sum, (total, _))| sum > total) {
            return Vec::new();
        }
        let mut found = vec![Walker { sums, ..walker }];
        for sign in (0..self.n_shown).filter(|&sign| stop.shows[sign] && !found[0].shown[sign]).collect::<Vec<_>>() {
            let mut shows = found[0].clone();
            shows.shown[sign] = true;
            found.push(shows);
        }
        found
    }
}

/// For each window in each state those one to the right that agree.
fn right(checker: &Checker<'_>) -> Vec<Vec<Vec<At>>> {
    let sets = &checker.proof.windows;
    let mut found: Vec<Vec<Vec<At>>> = sets.iter().map(|set| vec![Vec::new(); set.states.len()]).collect();
    for beside @ Beside { here, there, .. } in checker.beside(&[1]) {
        let common = checker.common(beside);
        let mut agreeing: FxHashMap<Vec<RingValue>, Vec<usize>> = FxHashMap::default();
        for (number, state) in sets[there].states.iter().enumerate() {
            agreeing.entry(common.iter().map(|&(_, at)| beside.value(state[at])).collect()).or_default().push(number);
        }
        for (number, state) in sets[here].states.iter().enumerate() {
            let seen: Vec<RingValue> = common.iter().map(|&(at, _)| state[at]).collect();
            found[here][number].extend(agreeing.get(&seen).into_iter().flatten().map(|&other| (there, other)));
        }
    }
    found
}

/// For each thing that is shown, each window and each of its states: whether the process at one place of the window, the same for all, shows it.
fn shown(checker: &Checker<'_>, said: &Said) -> Outcome<Vec<Vec<Vec<bool>>>> {
    for place in 0..checker.proof.width {
        if said.at.iter().all(|shown| is_seen(checker, shown, place)) {
            return said.at.iter().map(|shown| shown_at(checker, shown, place)).collect();
        }
    }
    malformed("windows are too narrow to see what the property speaks of")
}

fn is_seen(checker: &Checker<'_>, shown: &ProcessPattern, place: usize) -> bool {
    checker.proof.windows.iter().zip(&checker.stands).all(|(set, &(at_size, spot))| {
        let sized = &checker.sizes.all[at_size];
        let process = ProcessId::new((spot.at + place) % sized.count);
        shown.parts.iter().all(|(expr, _)| sees(sized, (&set.items, spot), expr, process))
    })
}

fn shown_at(checker: &Checker<'_>, shown: &ProcessPattern, place: usize) -> Outcome<Vec<Vec<bool>>> {
    let mut found = Vec::new();
    for (set, &(at_size, spot)) in checker.proof.windows.iter().zip(&checker.stands) {
        let sized = &checker.sizes.all[at_size];
        let process = Value::Process(ProcessId::new((spot.at + place) % sized.count));
        let mut of_window = Vec::new();
        for state in &set.states {
            let whole = sized.with(&set.items, state, spot);
            let mut shows = true;
            for (expr, value) in &shown.parts {
                match Viewpoint::of_instance(&sized.model, &whole, &[process, process]).truth(expr) {
                    Ok(truth) => shows &= truth == *value,
                    Err(_) if shown.is_whole => {}
                    Err(_) => {
                        return Err(CertificateError::NotSupported("a part of the property has no value".to_owned()));
                    }
                }
            }
            of_window.push(shows);
        }
        found.push(of_window);
    }
    Ok(found)
}

/// Whether all that an expression may look at stands in a window.
pub(super) fn sees(sized: &Sized, (items, spot): (&[RingItem], Spot), expr: &Expr, process: ProcessId) -> bool {
    let mut all = true;
    each_part(expr, &mut |part| match &part.kind {
        ExprKind::Binary(_, left, right) => {
            for (one, other) in [(left, right), (right, left)] {
                if naming(sized, one).is_some() {
                    all &= sees_named(sized, (items, spot), (one, other), process);
                }
            }
        }
        // What it is compared with was looked at with the comparison.
        ExprKind::Read(_) if naming(sized, part).is_some() => {}
        ExprKind::Read(access) => all &= sees_access(sized, (items, spot), access, process),
        ExprKind::At { who, .. } => {
            all &= match known(sized, who, process) {
                Some(Value::Process(id)) => items.iter().any(|item| match item {
                    RingItem::Control(at) => sized.position(spot, *at) == Some(id.index()),
                    _ => false,
                }),
                // A process that there is not is a fault, whatever the state.
                _ => !looks(who),
            }
        }
        _ => {}
    });
    all
}

/// The cell that an expression reads, if that names a process.
fn naming(sized: &Sized, expr: &Expr) -> Option<CellId> {
    let ExprKind::Read(access) = &expr.kind else { return None };
    sized.naming().iter().copied().find(|&cell| sized.model.cells[cell].var == access.var)
}

/// Whether a window shows that a cell names the process with which it is compared.
fn sees_named(
    sized: &Sized,
    (items, spot): (&[RingItem], Spot),
    (cell, other): (&Expr, &Expr),
    process: ProcessId,
) -> bool {
    let who = match known(sized, other, process) {
        Some(Value::Process(who)) => who,
        // A process that there is not is a fault, whatever the state.
        _ => return !looks(other),
    };
    let cell = naming(sized, cell);
    items.iter().any(|item| sized.named(*item, spot).is_some_and(|(of, named)| Some(of) == cell && named == who))
}

fn sees_access(sized: &Sized, (items, spot): (&[RingItem], Spot), access: &Access, process: ProcessId) -> bool {
    let owner = match &access.whose {
        Whose::Shared => None,
        Whose::Of(who) => match known(sized, who, process) {
            Some(Value::Process(id)) => Some(id),
            _ => return !looks(who),
        },
        Whose::Mine | Whose::Frame => return false,
    };
    let lengths = sized.model.vars[access.var].ty.dimensions();
    let places: Vec<Option<Value>> = access.indices.iter().map(|index| known(sized, index, process)).collect();
    let seen: FxHashSet<_> = items.iter().filter_map(|item| sized.cell(*item, spot)).collect();
    let strides: BTreeMap<usize, usize> =
        (0..lengths.len()).map(|at| (at, lengths[at + 1..].iter().product::<usize>())).collect();
    let is_meant = |number: usize| {
        places.iter().enumerate().all(|(at, place)| {
            let here = number / strides[&at] % lengths[at];
            match place {
                None => true,
                Some(Value::Int(index)) => *index == here as i64,
                Some(Value::Process(id)) => id.index() == here,
                Some(_) => true,
            }
        })
    };
    let mut cells = sized.model.cells_of(access.var, owner).enumerate();
    cells.all(|(number, cell)| !is_meant(number) || seen.contains(&cell))
}

fn looks(expr: &Expr) -> bool {
    let mut looks = false;
    each_part(expr, &mut |part| looks |= matches!(part.kind, ExprKind::Read(_) | ExprKind::At { .. }));
    looks
}

/// The value of an expression that looks at nothing.
fn known(sized: &Sized, expr: &Expr, process: ProcessId) -> Option<Value> {
    let nothing = State { cells: Vec::new(), stacks: Vec::new() };
    let me = Value::Process(process);
    (!looks(expr)).then(|| Viewpoint::of_instance(&sized.model, &nothing, &[me, me]).value(expr).ok()).flatten()
}
