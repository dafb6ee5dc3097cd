//! A lasso that refutes a temporal property: the run is fair, and the formula is false on it.
//!
//! In: a property and a trace whose last state is an earlier one again; that it is a run is checked before (`replay.rs`). Out:
//! `Ok`, or what disagrees. The formula is evaluated on the word of states by the definition of its operators, without an
//! automaton; each fairness assumption is looked up on the turns and states of the loop. An expression without a value in some
//! state of the run may be true or false there: the formula must be false either way.

use std::cell::RefCell;

use evidence::Trace;
use model::Model;
use model::eval::{State, StepFault, Viewpoint, holds, is_true_of};
use model::expr::{Binding, Expr, Quantifier};
use model::fairness::FairnessPair;
use model::property::{Automaton, BinaryTemporal, BooleanOp, Formula, Property, UnaryTemporal};
use model::value::Value;

/// Checks that the loop is fair and that the formula is false on the run.
pub fn check(model: &Model, property: &Property, formula: &Formula, trace: &Trace) -> Result<(), (String, String)> {
    let Some(from) = trace.loop_from else {
        return Err(("the run goes round for ever".to_owned(), "it does not say where its loop starts".to_owned()));
    };
    let turning = Loop { model, trace, from };
    let claim = format!("the run is a fair one on which `{}` is false", property.name);
    let no_value = |fault: StepFault| (claim.clone(), format!("an expression has no value: {}", fault.fault));
    turning.check_fairness(property).map_err(|unfair| (claim.clone(), unfair))?;
    let word = Word { model, states: &trace.states[..trace.states.len() - 1], from, fault: RefCell::default() };
    let truth = word.truth(formula, &[]).map_err(no_value)?;
    match (truth.may[0], truth.must[0], word.fault.take()) {
        (false, ..) => Ok(()),
        (true, false, Some(fault)) => Err(no_value(fault)),
        (true, ..) => Err((claim, "the formula is true on it".to_owned())),
    }
}

/// Whether the loop of a run satisfies a fairness assumption; a run without a loop satisfies any.
///
/// # Errors
/// Where an expression has no value.
pub fn satisfies(model: &Model, trace: &Trace, pair: &FairnessPair) -> Result<bool, StepFault> {
    trace.loop_from.map_or(Ok(true), |from| Loop { model, trace, from }.satisfies(pair))
}

/// The part of a run that is repeated for ever.
struct Loop<'a> {
    model: &'a Model,
    trace: &'a Trace,
    from: usize,
}

impl Loop<'_> {
    /// Whether one of the sets of assumptions is satisfied; otherwise which are not. One without a value is not satisfied.
    fn check_fairness(&self, property: &Property) -> Result<(), String> {
        let mut violated = Vec::new();
        for set in &property.under.any_of {
            let mut unsatisfied = None;
            for &pair in set {
                let pair = &self.model.fairness[pair];
                match self.satisfies(pair) {
                    Ok(true) => {}
                    Ok(false) => unsatisfied = Some(format!("`{}`", pair.name)),
                    Err(fault) => unsatisfied = Some(format!("`{}`, which has no value: {}", pair.name, fault.fault)),
                }
                if unsatisfied.is_some() {
                    break;
                }
            }
            match unsatisfied {
                None => return Ok(()),
                Some(what) => violated.push(what),
            }
        }
        Err(format!("its loop does not satisfy {}", violated.join(", nor ")))
    }

    fn satisfies(&self, pair: &FairnessPair) -> Result<bool, StepFault> {
        let last = self.trace.states.len() - 1;
        let states = &self.trace.states[self.from..last];
        if let Some(always) = &pair.always {
            let mut all = true;
            for state in states {
                all = all && holds(self.model, state, always)?;
            }
            if all {
                return Ok(true);
            }
        }
        for (state, turn) in states.iter().zip(&self.trace.turns[self.from..last]) {
            for often in &pair.often {
                if is_true_of(self.model, state, turn, often)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}

/// The states of a run, each once; after the last comes the one at `from`.
struct Word<'a> {
    model: &'a Model,
    states: &'a [State],
    from: usize,
    /// The first fault that was met.
    fault: RefCell<Option<StepFault>>,
}

/// At which positions a formula is true: for some values of what has none, and for all. It must be true where it may be only if
/// everything has a value there.
struct Truth {
    may: Vec<bool>,
    must: Vec<bool>,
}

impl Truth {
    /// The same at each position.
    fn constant(is: bool, n_positions: usize) -> Truth {
        Truth { may: vec![is; n_positions], must: vec![is; n_positions] }
    }

    fn not(&self) -> Truth {
        Truth { may: negated(&self.must), must: negated(&self.may) }
    }

    fn and(&self, other: &Truth) -> Truth {
        self.both(other, |left, right| zipped(left, right, |left, right| left && right))
    }

    fn or(&self, other: &Truth) -> Truth {
        self.both(other, |left, right| zipped(left, right, |left, right| left || right))
    }

    /// An operator that grows with both its sides.
    fn both(&self, other: &Truth, grows: impl Fn(&[bool], &[bool]) -> Vec<bool>) -> Truth {
        Truth { may: grows(&self.may, &other.may), must: grows(&self.must, &other.must) }
    }
}

impl Word<'_> {
    /// At which positions a formula is true, with values for the bound variables around it. An error where the range of a
    /// quantifier has no value.
    fn truth(&self, formula: &Formula, bound: &[Value]) -> Result<Truth, StepFault> {
        Ok(match formula {
            Formula::Now(expr) => self.now(expr, bound),
            Formula::Not(inner) => self.truth(inner, bound)?.not(),
            Formula::Boolean(op, left, right) => {
                let (left, right) = (self.truth(left, bound)?, self.truth(right, bound)?);
                match op {
                    BooleanOp::And => left.and(&right),
                    BooleanOp::Or => left.or(&right),
                    BooleanOp::Implies => left.not().or(&right),
                    BooleanOp::Iff => left.and(&right).or(&left.not().and(&right.not())),
                }
            }
            Formula::Unary(op, inner) => {
                let inner = self.truth(inner, bound)?;
                let always = self.constant(true);
                match op {
                    UnaryTemporal::Next => {
                        let after = |truth: &[bool]| (0..truth.len()).map(|at| truth[self.after(at)]).collect();
                        Truth { may: after(&inner.may), must: after(&inner.must) }
                    }
                    UnaryTemporal::Eventually => self.until(&always, &inner),
                    UnaryTemporal::Always => self.until(&always, &inner.not()).not(),
                }
            }
            Formula::Binary(op, left, right) => {
                let (left, right) = (self.truth(left, bound)?, self.truth(right, bound)?);
                self.binary(*op, left, right)
            }
            Formula::NeverAccepts(automaton) => self.accepted(automaton, bound).not(),
            Formula::Quantified { quantifier, bindings, filter, body } => {
                let instance = Instance { quantifier: *quantifier, filter: filter.as_ref(), body };
                self.quantified(&instance, bindings, bound)?
            }
        })
    }

    fn constant(&self, is: bool) -> Truth {
        Truth::constant(is, self.states.len())
    }

    /// From which positions an automaton accepts what follows.
    fn accepted(&self, automaton: &Automaton, bound: &[Value]) -> Truth {
        let guards = automaton.edges.iter().map(|edge| match &edge.guard {
            Some(guard) => self.now(guard, bound),
            None => self.constant(true),
        });
        let guards: Vec<Truth> = guards.collect();
        Truth {
            may: self.accepted_where(automaton, guards.iter().map(|guard| &guard.may[..])),
            must: self.accepted_where(automaton, guards.iter().map(|guard| &guard.must[..])),
        }
    }

    /// From which positions an automaton accepts what follows, where its edges are open at these positions.
    fn accepted_where<'w>(&self, automaton: &Automaton, open: impl Iterator<Item = &'w [bool]>) -> Vec<bool> {
        let n_locations = automaton.locations.len();
        let mut followers = vec![Vec::new(); self.states.len() * n_locations];
        for (edge, open) in automaton.edges.iter().zip(open) {
            for position in (0..open.len()).filter(|&position| open[position]) {
                let target = self.after(position) * n_locations + edge.target;
                followers[position * n_locations + edge.source].push(target);
            }
        }
        let is_accepting = |node: usize| automaton.locations[node % n_locations].accepting;
        // An accepting node that comes back to itself is seen again and again.
        let mut accepts = vec![false; followers.len()];
        for node in (0..followers.len()).filter(|&node| is_accepting(node)) {
            accepts[node] = followers[node].iter().any(|&next| reachable(&followers, next)[node]);
        }
        let can_accept = |position: usize| {
            let seen = reachable(&followers, position * n_locations + automaton.initial);
            seen.iter().zip(&accepts).any(|(seen, accepts)| *seen && *accepts)
        };
        (0..self.states.len()).map(can_accept).collect()
    }

    fn now(&self, expr: &Expr, bound: &[Value]) -> Truth {
        let mut found = self.constant(false);
        for (at, state) in self.states.iter().enumerate() {
            (found.may[at], found.must[at]) = match Viewpoint::of_instance(self.model, state, bound).truth(expr) {
                Ok(truth) => (truth, truth),
                Err(fault) => {
                    self.fault.borrow_mut().get_or_insert(fault);
                    (true, false)
                }
            };
        }
        found
    }

    fn binary(&self, op: BinaryTemporal, left: Truth, right: Truth) -> Truth {
        let always = self.constant(true);
        match op {
            BinaryTemporal::Until => self.until(&left, &right),
            // Not: the left one fails, before which the right one never came.
            BinaryTemporal::WeakUntil => {
                let neither = left.or(&right).not();
                self.until(&right.not(), &neither).not()
            }
            BinaryTemporal::Releases => self.until(&left.not(), &right.not()).not(),
            BinaryTemporal::StrongReleases => self.until(&right, &left.and(&right)),
            BinaryTemporal::LeadsTo => {
                let comes = self.until(&always, &right);
                let unanswered = left.and(&comes.not());
                self.until(&always, &unanswered).not()
            }
        }
    }

    /// The instances of a quantifier, one bound variable after the other.
    fn quantified(&self, over: &Instance<'_>, rest: &[Binding], bound: &[Value]) -> Result<Truth, StepFault> {
        let is_forall = over.quantifier == Quantifier::Forall;
        let Some((binding, inner)) = rest.split_first() else {
            let body = self.truth(over.body, bound)?;
            let Some(filter) = over.filter else { return Ok(body) };
            let meant = self.now(filter, bound);
            // An instance that is not meant counts as true among all, and as false among some.
            return Ok(if is_forall { meant.not().or(&body) } else { meant.and(&body) });
        };
        let mut all = self.constant(is_forall);
        let mut viewpoint = Viewpoint::of_instance(self.model, &self.states[0], bound);
        for value in viewpoint.domain(&binding.domain)? {
            let mut bound = bound[..binding.var.0 as usize].to_vec();
            bound.push(value);
            let one = self.quantified(over, inner, &bound)?;
            all = if is_forall { all.and(&one) } else { all.or(&one) };
        }
        Ok(all)
    }

    fn after(&self, position: usize) -> usize {
        if position + 1 < self.states.len() { position + 1 } else { self.from }
    }

    /// Where the right one comes and the left one holds until then: the least solution of `right || left && next`, which is
    /// reached after going twice round the loop.
    fn until(&self, left: &Truth, right: &Truth) -> Truth {
        left.both(right, |left, right| {
            let mut truth = right.to_vec();
            for _ in 0..2 {
                for at in (0..truth.len()).rev() {
                    truth[at] = right[at] || left[at] && truth[self.after(at)];
                }
            }
            truth
        })
    }
}

/// What a quantifier says of each instance.
struct Instance<'a> {
    quantifier: Quantifier,
    filter: Option<&'a Expr>,
    body: &'a Formula,
}

/// The nodes of a graph that can be reached from one, itself included.
fn reachable(followers: &[Vec<usize>], from: usize) -> Vec<bool> {
    let mut seen = vec![false; followers.len()];
    let mut open = vec![from];
    while let Some(node) = open.pop() {
        if !std::mem::replace(&mut seen[node], true) {
            open.extend(&followers[node]);
        }
    }
    seen
}

fn negated(truth: &[bool]) -> Vec<bool> {
    truth.iter().map(|one| !one).collect()
}

fn zipped(left: &[bool], right: &[bool], op: impl Fn(bool, bool) -> bool) -> Vec<bool> {
    left.iter().zip(right).map(|(&left, &right)| op(left, right)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use evidence::plain::{self, ReferenceViolation};
    use model::property::PropertyKind;
    use testkit::choices::Choices;
    use testkit::{Product, RandomFeatures, for_each_program};

    /// Whether the automaton of a violation accepts a word.
    fn accepts(model: &Model, violation: &ReferenceViolation, word: &Word<'_>) -> bool {
        let automaton = &violation.automaton;
        let n_states = automaton.states.len();
        let mut followers = vec![Vec::new(); word.states.len() * n_states];
        let mut marked = vec![Vec::new(); followers.len()];
        for (position, state) in word.states.iter().enumerate() {
            let truths: Vec<bool> = automaton.atoms.iter().map(|atom| atom.truth(model, state).unwrap()).collect();
            for (from, edges) in automaton.states.iter().enumerate() {
                for edge in edges.iter().filter(|edge| edge.literals.iter().all(|&(atom, is)| truths[atom] == is)) {
                    let target = word.after(position) * n_states + edge.target;
                    followers[position * n_states + from].push(target);
                    marked[position * n_states + from].push((edge.marks.clone(), target));
                }
            }
        }
        // A node that comes back to itself, with an edge of each mark among those that it reaches and that reach it.
        let reached: Vec<Vec<bool>> = (0..followers.len()).map(|node| reachable(&followers, node)).collect();
        let is_fair = |node: usize| {
            let edges = (0..followers.len()).filter(|&other| reached[node][other]).flat_map(|other| &marked[other]);
            let around: Vec<&Vec<usize>> = edges.filter(|(_, to)| reached[*to][node]).map(|(marks, _)| marks).collect();
            !around.is_empty() && (0..automaton.n_marks).all(|mark| around.iter().any(|marks| marks.contains(&mark)))
        };
        (0..followers.len()).any(|node| reached[0][node] && is_fair(node))
    }

    /// The automata of a formula and of its negation accept the words on which these are false, and every word is one or the other.
    #[test]
    fn plain_automata_accept_what_violates_the_formula() {
        let n_accepted = std::cell::Cell::new([0, 0]);
        for_each_program(200, RandomFeatures { n_statements: 2, ..RandomFeatures::everything() }, |_, model| {
            let Some(product) = Product::explore(model, 60) else { return Ok(()) };
            let seed = product.states.len() as u64 * 7 + model.places.len() as u64;
            let (model, mut choices) =
                (testkit::temporal::with_temporal(model, seed, 3), Choices::from_seed(seed ^ 0x5eed));
            for property in &model.properties {
                let PropertyKind::Temporal(formula) = &property.kind else { continue };
                let negation = Formula::Not(Box::new(formula.clone()));
                for formula in [formula, &negation] {
                    let Ok(violations) = plain::violations(&model, property, formula) else { continue };
                    for _ in 0..4 {
                        let n_states = 1 + choices.below(6);
                        let pick = |_| product.states[choices.below(product.states.len())].clone();
                        let states: Vec<State> = (0..n_states).map(pick).collect();
                        let word = Word {
                            model: &model,
                            states: &states,
                            from: choices.below(n_states),
                            fault: RefCell::default(),
                        };
                        let Ok(truth) = word.truth(formula, &[]) else { continue };
                        if word.fault.borrow().is_some() {
                            continue;
                        }
                        assert_eq!(truth.may, truth.must, "everything has a value");
                        let truth = truth.may;
                        let accepted = violations.iter().any(|violation| accepts(&model, violation, &word));
                        if accepted == truth[0] {
                            let text = model::print::formula(&model, formula);
                            return Err(format!("{text} is {} and accepted: {accepted}", truth[0]));
                        }
                        let mut counts = n_accepted.get();
                        counts[usize::from(accepted)] += 1;
                        n_accepted.set(counts);
                    }
                }
            }
            Ok(())
        });
        assert!(n_accepted.get().iter().all(|&count| count > 500), "{n_accepted:?}");
    }
}
