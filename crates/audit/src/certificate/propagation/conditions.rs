//! What a violation demands of the edges of a view: fairness, and the automaton in the view of the property.
//!
//! A predicate that a view does not show may hold there. It has to have a value in every state: it is evaluated in some view that
//! shows it, or its text tells.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use evidence::plain::{ReferenceAutomaton, ReferenceViolation};
use model::control::ActionId;
use model::eval::{State, Turn, Viewpoint};
use model::expr::Expr;
use model::fairness::{EdgePredicate, FairnessPair, StatePredicate};
use model::process::ProcessId;
use model::value::Value;

use super::edges::{Condition, Edge, shows_all};
use super::views::{Item, View, Views};
use crate::certificate::clause::Splitter;
use crate::certificate::{CertificateError, Outcome};

/// What an expression reads; `None` where the checker does not follow it.
pub(super) fn looked_at(splitter: &Splitter<'_>, expr: &Expr, bound: &[Value]) -> Option<BTreeSet<Item>> {
    let mentions = splitter.mentions_within(expr, bound).ok()?;
    let controls = mentions.controls.iter().map(|&process| Item::Control(process));
    Some(mentions.cells.iter().map(|&cell| Item::Cell(cell)).chain(controls).collect())
}

/// Judges predicates in views.
pub(super) struct Judge<'j, 'a> {
    pub views: &'j Views<'a>,
    pub splitter: &'j Splitter<'a>,
}

impl Judge<'_, '_> {
    /// Each predicate of the fairness assumptions has a value in every state.
    pub fn check_values(&self, violation: &ReferenceViolation, property: &View) -> Outcome<()> {
        for &pair in &violation.fairness {
            for expr in expressions(&self.views.model.fairness[pair]) {
                if self.splitter.has_value(expr, &[]) {
                    continue;
                }
                let shown =
                    self.views.list.iter().map(Rc::as_ref).chain([property]).map(|view| self.truths(view, expr, &[]));
                if !shown.flatten().any(|truths| truths.iter().all(Option::is_some)) {
                    let name = &self.views.model.fairness[pair].name;
                    return Err(CertificateError::NotSupported(format!("`{name}` may have no value")));
                }
            }
        }
        Ok(())
    }

    /// The truth of an expression at each row, `None` where it has no value; nothing where the view does not show it.
    pub fn truths(&self, view: &View, expr: &Expr, bound: &[Value]) -> Option<Vec<Option<bool>>> {
        let items = looked_at(self.splitter, expr, bound)?;
        if !shows_all(view, &items) {
            return None;
        }
        let truth = |row: &Vec<u32>| {
            let truth = |state: &State| Viewpoint::of_instance(self.views.model, state, bound).truth(expr).ok();
            self.views.at_state(&view.items, row, truth).ok()?
        };
        Some(view.rows.iter().map(truth).collect())
    }

    /// At which rows a predicate may hold.
    pub fn may_hold(&self, view: &View, predicate: &StatePredicate) -> Vec<bool> {
        let is_able = |row: usize, process: ProcessId, labels: Option<&[String]>| {
            view.options[row].enabled[&process].iter().any(|&action| self.carries(action, labels))
        };
        let rows = 0..view.rows.len();
        let expected = |expr: &Expr, wanted: bool| {
            self.values(view, expr, &[]).into_iter().map(|value| value != Some(!wanted)).collect()
        };
        match predicate {
            StatePredicate::Holds(expr) => expected(expr, true),
            StatePredicate::Fails(expr) => expected(expr, false),
            StatePredicate::Unable(process, labels) => {
                rows.map(|row| !view.members.contains(process) || !is_able(row, *process, labels.as_deref())).collect()
            }
            StatePredicate::NobodyAble => {
                rows.map(|row| !view.members.iter().any(|&member| is_able(row, member, None))).collect()
            }
        }
    }

    pub fn carries(&self, action: ActionId, labels: Option<&[String]>) -> bool {
        let carried = &self.views.model.actions[action].labels;
        labels.is_none_or(|labels| carried.iter().any(|label| labels.contains(label)))
    }

    /// Whether an edge may be what has to happen again and again, whatever the state before.
    fn may_be_met(&self, view: &View, turn: Option<&Turn>, predicate: &EdgePredicate) -> bool {
        match (predicate, turn) {
            (EdgePredicate::Before(_), _) => false,
            (EdgePredicate::Scheduled(process), Some(turn)) => turn.processes().contains(process),
            (EdgePredicate::Moves(process, labels), Some(turn)) => {
                turn.actions_of(*process).any(|action| self.carries(action, labels.as_deref()))
            }
            (EdgePredicate::SomebodyMoves, Some(turn)) => turn.step().is_some(),
            (EdgePredicate::Scheduled(process) | EdgePredicate::Moves(process, _), None) => {
                !view.touching.contains(process)
            }
            (EdgePredicate::SomebodyMoves, None) => true,
        }
    }

    /// Whether an assumption excludes nothing in a view: what it says of a process is not shown there, and may be so all the time.
    fn may_always_be_met(view: &View, pair: &FairnessPair) -> bool {
        let is_hidden = |predicate: &StatePredicate| matches!(predicate, StatePredicate::Unable(one, _) if !view.members.contains(one));
        let before = |often: &EdgePredicate| matches!(often, EdgePredicate::Before(predicate) if is_hidden(predicate));
        pair.always.as_ref().is_some_and(is_hidden) || pair.often.iter().any(before)
    }

    /// What follows, in a view that shows it, from that no fair run violates a property by waiting in vain: that the automaton's first state waits for
    /// whatever it likes, and leads by some literals to a state in which it stays by others and accepts. A run that is again and again at rows
    /// where the automaton may have got to that state, and stays there from some point on, is one that it accepts.
    pub fn lemma(&self, view: &View, edges: &[Edge], automaton: &ReferenceAutomaton) -> Option<Condition> {
        let (first, rest) = automaton.states.split_first()?;
        let waits = first.iter().any(|edge| edge.target == 0 && edge.literals.is_empty());
        let mut marks: Vec<usize> = Vec::new();
        let (asked, unanswered) = { first.iter() }.filter(|edge| waits && edge.target > 0).find_map(|edge| {
            let stays = rest[edge.target - 1].iter().find(|one| {
                marks.clone_from(&one.marks);
                marks.sort_unstable();
                marks.dedup();
                one.target == edge.target && marks.len() == automaton.n_marks
            })?;
            Some((&edge.literals, &stays.literals))
        })?;
        let mut truths: Vec<Vec<bool>> = Vec::new();
        for atom in &automaton.atoms {
            truths.push(self.truths(view, &atom.expr, &atom.bound)?.into_iter().collect::<Option<Vec<bool>>>()?);
        }
        let is_so = |literals: &[(usize, bool)], row: usize| literals.iter().all(|&(atom, is)| truths[atom][row] == is);
        let asks: Vec<bool> = (0..view.rows.len()).map(|row| is_so(asked, row)).collect();
        let goes_on: Vec<bool> = (0..view.rows.len()).map(|row| is_so(unanswered, row)).collect();
        // Rows that a path may reach along which the automaton cannot have got to that state, or had to leave it.
        let mut idle: BTreeSet<usize> = view.initial.clone();
        loop {
            let n_before = idle.len();
            for edge in edges.iter().filter(|edge| !asks[edge.from]) {
                if idle.contains(&edge.from) || !goes_on[edge.from] {
                    idle.insert(edge.to);
                }
            }
            if idle.len() == n_before {
                break;
            }
        }
        Some(Condition {
            stays: Some((0..view.rows.len()).map(|row| !asks[row] && idle.contains(&row)).collect()),
            often: edges.iter().map(|edge| !goes_on[edge.from]).collect(),
        })
    }

    /// What the fairness assumptions of a violation demand of a view; those that exclude nothing are left out.
    pub fn fairness(&self, violation: &ReferenceViolation, view: &View, edges: &[Edge]) -> Vec<Condition> {
        let condition = |pair: &FairnessPair| {
            let mut often = vec![false; edges.len()];
            for predicate in &pair.often {
                let before = match predicate {
                    EdgePredicate::Before(predicate) => Some(self.may_hold(view, predicate)),
                    _ => None,
                };
                for (edge, often) in edges.iter().zip(&mut often) {
                    *often |= before.as_ref().is_some_and(|before| before[edge.from])
                        || self.may_be_met(view, edge.turn.as_ref(), predicate);
                }
            }
            Condition { stays: pair.always.as_ref().map(|always| self.may_hold(view, always)), often }
        };
        // Who has turns elsewhere does so like everybody else who sees nothing of the view.
        let mut is_elsewhere = false;
        let mut repeats = |pair: &FairnessPair| match (&pair.always, &pair.often[..]) {
            (None, [EdgePredicate::Scheduled(process)]) if !view.touching.contains(process) => {
                std::mem::replace(&mut is_elsewhere, true)
            }
            _ => false,
        };
        let pairs = violation.fairness.iter().map(|&pair| &self.views.model.fairness[pair]);
        let pairs = pairs.filter(|pair| !Self::may_always_be_met(view, pair) && !repeats(pair));
        pairs.map(condition).collect()
    }

    /// The truth of what an automaton reads, at each row of the property's view.
    pub fn atoms(&self, automaton: &ReferenceAutomaton, view: &View) -> Outcome<Vec<Vec<bool>>> {
        let mut atoms = Vec::new();
        for atom in &automaton.atoms {
            let Some(truths) = self.truths(view, &atom.expr, &atom.bound) else {
                return Err(CertificateError::Malformed(
                    "the view of the property does not show what it speaks of".to_owned(),
                ));
            };
            let Some(truths) = truths.into_iter().collect::<Option<Vec<bool>>>() else {
                return Err(CertificateError::NotSupported("the property may have no value".to_owned()));
            };
            atoms.push(truths);
        }
        Ok(atoms)
    }

    /// The value of what an automaton reads, at each row of the property's view. What the view does not show has a value in every state.
    fn known_atoms(&self, automaton: &ReferenceAutomaton, view: &View) -> Outcome<Vec<Vec<Option<bool>>>> {
        let mut atoms = Vec::new();
        for atom in &automaton.atoms {
            let values = match self.truths(view, &atom.expr, &atom.bound) {
                Some(truths) if truths.contains(&None) => None,
                Some(truths) => Some(truths),
                None => {
                    let has_value = self.splitter.has_value(&atom.expr, &atom.bound);
                    has_value.then(|| self.values(view, &atom.expr, &atom.bound))
                }
            };
            let no_value = || CertificateError::NotSupported("the property may have no value".to_owned());
            atoms.push(values.ok_or_else(no_value)?);
        }
        Ok(atoms)
    }

    /// The product of the property's view with the automaton, where what the view does not show may be anything.
    pub fn product(
        &self,
        automaton: &ReferenceAutomaton,
        (view, edges): (&View, &[Edge]),
        fairness: &[Condition],
    ) -> Outcome<Product> {
        let atoms = self.known_atoms(automaton, view)?;
        let mut leaving: HashMap<usize, Vec<usize>> = HashMap::new();
        edges.iter().enumerate().for_each(|(number, edge)| leaving.entry(edge.from).or_default().push(number));
        let mut nodes: Vec<(usize, usize)> = view.initial.iter().map(|&row| (row, 0)).collect();
        let mut numbers: HashMap<(usize, usize), usize> = nodes.iter().copied().zip(0..).collect();
        let (mut ends, mut base, mut marks) = (Vec::new(), Vec::new(), Vec::new());
        let mut at = 0;
        while at < nodes.len() {
            let (row, state) = nodes[at];
            for reading in &automaton.states[state] {
                if !reading.literals.iter().all(|&(atom, wanted)| atoms[atom][row] != Some(!wanted)) {
                    continue;
                }
                for &edge in leaving.get(&row).into_iter().flatten() {
                    let target = (edges[edge].to, reading.target);
                    let to = *numbers.entry(target).or_insert_with(|| {
                        nodes.push(target);
                        nodes.len() - 1
                    });
                    ends.push((at, to));
                    base.push(edge);
                    marks.push(reading.marks.clone());
                }
            }
            at += 1;
        }
        let lifted = |condition: &Condition| Condition {
            stays: condition.stays.as_ref().map(|stays| nodes.iter().map(|&(row, _)| stays[row]).collect()),
            often: base.iter().map(|&edge| condition.often[edge]).collect(),
        };
        let marked =
            |mark: usize| Condition { stays: None, often: marks.iter().map(|marks| marks.contains(&mark)).collect() };
        let conditions = fairness.iter().map(lifted).chain((0..automaton.n_marks).map(marked)).collect();
        Ok(Product { numbers, ends, base, conditions })
    }
}

/// The expressions in a fairness assumption.
pub(in crate::certificate) fn expressions(pair: &FairnessPair) -> Vec<&Expr> {
    let before =
        pair.often.iter().filter_map(|often| if let EdgePredicate::Before(one) = often { Some(one) } else { None });
    let predicates = pair.always.iter().chain(before);
    let expr = |predicate| match predicate {
        &StatePredicate::Holds(ref expr) | &StatePredicate::Fails(ref expr) => Some(expr),
        _ => None,
    };
    predicates.filter_map(expr).collect()
}

/// The product of a view with an automaton.
pub(super) struct Product {
    /// The node of a row and a state.
    numbers: HashMap<(usize, usize), usize>,
    pub ends: Vec<(usize, usize)>,
    /// The edge of the view behind each edge.
    pub base: Vec<usize>,
    pub conditions: Vec<Condition>,
}

impl Product {
    /// The node of a row and a state of the automaton.
    pub fn number(&self, row: usize, state: usize) -> Option<usize> {
        self.numbers.get(&(row, state)).copied()
    }
}
