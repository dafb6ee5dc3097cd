//! Which methods `auto` tries on a Model, and which share of the work each has.
//!
//! In: a Model, the questions, and how many threads there are. Out: methods with their shares. What the Model shows makes its class: whether questions
//! are of safety or temporal, how many processes there are, and whether some can be permuted, or run one text with different indices, or all run texts of their own; `table.txt` has the shares of
//! each class. An invariant that asks for some process among many (`x == 0 => exists i: …`) is rarely shown by a few processes at a time, so diagrams have the largest share on it; so
//! they have where some of many interchangeable processes are enabled. Where a process sees much of the shared state, explicit methods have little but a quick attempt. Programs with procedures are put to `pushdown` as much as to all others together, since stacks may have no bound. Small programs are decided before
//! (`small.rs`). A method is asked what it supports, so the same list answers safety and temporal properties.

use std::sync::Arc;

use engine::PropertyId;
use local::fair::LivenessRule;
use local::{ExplicitKIndex, Ls3};
use model::expr::{BinaryOp, Domain, Expr, ExprKind, Quantified, Quantifier};
use model::footprint::outline_view;
use model::property::{Expected, Property, PropertyKind};
use model::variable::CellId;
use model::{Model, symmetry};
use product::{Mono, Schedules, Stubborn};
use pushdown::Pushdown;
use symbolic::engines::Symbolic;
use symbolic::reach::SearchDirection;

use super::Config;
use super::shares::Shares;
use crate::checker::SharedEngine;
use crate::explicit_then_symbolic::ExplicitThenSymbolic;
use crate::propagating::Propagating;
use crate::viewing::Viewing;
use crate::with_sums::ShownFacts;

/// The shares, by class.
const TABLE: &str = include_str!("table.txt");

/// How many processes are one, few, some or many; more are a crowd.
const COUNTS: [(usize, &str); 4] = [(1, "one"), (4, "few"), (12, "some"), (40, "many")];

/// Methods that list what one process sees, or two.
const EXPLICIT_METHODS: [&str; 5] = ["tmmc", "ls3", "ls3+", "pairwise", "stubborn"];

/// Methods that look for a proof.
const PROVING_METHODS: [&str; 9] =
    ["tmmc", "ls3", "ls3+", "pairwise", "triple", "views", "split", "completion", "propagate"];

/// Up to so many processes the product may be searched soon, whatever is asked.
const FEW_TO_SEARCH: usize = 12;

/// The share of methods of which little is hoped.
const LEAST: f64 = 0.3;

/// The share of the method of which most is hoped, beside the largest of the others. Views succeed soon or not at all, on such questions, too.
const MOST: f64 = 1.25;

/// A method in a race.
#[derive(Clone)]
pub struct RaceEntry {
    /// The method.
    pub engine: SharedEngine,
    /// How much of the work it has, beside the others' shares.
    pub shares: Shares,
    /// How many threads it may use.
    pub n_threads: usize,
    /// Whether questions are asked one by one, so that one which is hard does not keep the others waiting.
    pub one_by_one: bool,
}

/// The methods for questions about a Model, in the order of their shares.
pub fn steps(model: &Model, questions: &[PropertyId], n_threads: usize, config: &Config) -> Vec<RaceEntry> {
    let is_temporal = |&id: &PropertyId| matches!(model.properties[id].kind, PropertyKind::Temporal(_));
    let kinds = [("temporal", questions.iter().any(is_temporal)), ("safety", !questions.iter().all(is_temporal))];
    let mut shares: Vec<(&str, Shares)> = Vec::new();
    for (kind, _) in kinds.iter().filter(|(_, is_asked)| *is_asked) {
        for (name, share) in shares_of(&class(model, kind)) {
            match shares.iter_mut().find(|(known, _)| *known == name) {
                Some((_, most)) => *most = most.max(share),
                None => shares.push((name, share)),
            }
        }
    }
    if widest_view(model) > config.narrow_view as f64 {
        let is_explicit = |name: &str| EXPLICIT_METHODS.contains(&name);
        shares
            .iter_mut()
            .filter(|(name, _)| is_explicit(name))
            .for_each(|(_, share)| *share = share.later_at_most(LEAST));
    }
    let is_expected = |&id: &PropertyId| ends_in_a_run(&model.properties[id]);
    if questions.iter().all(is_expected) {
        expect_runs(&mut shares);
    }
    // Where no state at all has a step that is an error, looking back ends at once; among many processes the diagrams take longer than that.
    if questions.iter().all(|&id| matches!(model.properties[id].kind, PropertyKind::NoErrors)) {
        let share = if model.processes.len() <= FEW_TO_SEARCH { largest(&shares) } else { 0.0 };
        let backward = shares.iter_mut().filter(|(name, _)| *name == "backward");
        backward.for_each(|(_, before)| *before = Shares::same(before.first()).first_at_least(share));
    }
    let has_many_symmetric = model.processes.len() > FEW_TO_SEARCH && has_symmetric(model);
    let is_about_all = |&id: &PropertyId| match &model.properties[id].kind {
        PropertyKind::Invariant(expr) => asks_for_some_process(expr, true),
        PropertyKind::DeadlockFree => has_many_symmetric,
        _ => false,
    };
    if questions.iter().any(is_about_all) {
        give_most(&mut shares, "forward");
    }
    // The graph that temporal properties need is built and searched by one thread; beside the search of the product there is room for another method.
    let n_threads = if questions.iter().all(is_temporal) { 1 } else { n_threads.saturating_sub(1).max(1) };
    let plan = RacePlan { n_processes: model.processes.len(), n_threads, config, shown: Arc::default() };
    if !model.procedures.is_empty() {
        shares.retain(|(name, _)| *name != "pushdown" && plan.answers_some(name, (model, questions)));
        let others = shares.iter().map(|(_, share)| *share).reduce(Shares::plus);
        shares.push(("pushdown", others.unwrap_or(Shares::same(1.0))));
    }
    shares.sort_by(|one, other| other.1.first().total_cmp(&one.1.first()));
    shares.into_iter().filter_map(|(name, share)| plan.step(name, share)).collect()
}

/// The share that is larger than all.
fn largest(shares: &[(&str, Shares)]) -> f64 {
    MOST * shares.iter().map(|(_, share)| share.first()).fold(0.0, f64::max)
}

/// Gives a method the largest share.
fn give_most(shares: &mut [(&str, Shares)], method: &str) {
    let most = largest(shares);
    let named = shares.iter_mut().filter(|(name, _)| *name == method);
    named.for_each(|(_, share)| *share = Shares::same(most));
}

/// Whether the author expects a run for an answer: of what is reached, or of what is violated.
fn ends_in_a_run(property: &Property) -> bool {
    let is_reachable = matches!(property.kind, PropertyKind::Reachable(_));
    is_reachable == (property.expected == Expected::Holds)
}

/// The shares where a run is expected: the least for methods that show none, or only at the end of a proof, and the largest for the one that shows nothing else.
/// An expectation may be wrong, so all take part.
fn expect_runs(shares: &mut [(&str, Shares)]) {
    let most = largest(shares);
    for (name, share) in shares {
        if *name == "schedules" {
            *share = share.first_at_least(most).later_at_least(most / 2.0);
        } else if PROVING_METHODS.contains(name) {
            *share = Shares::same(LEAST);
        }
    }
}

/// How many bits of the shared state a process sees, the one that sees most. Processes of one family run one text, so that the first shows enough.
fn widest_view(model: &Model) -> f64 {
    let bits = |cell: CellId| (model.cells[cell].ty.n_values(model.type_context()).max(1) as f64).log2();
    let mut known = Vec::new();
    let first_of_family = model.processes.entries().filter(|(_, process)| {
        let is_new = !known.contains(&process.family);
        known.push(process.family);
        is_new
    });
    first_of_family.map(|(id, _)| outline_view(model, id).into_iter().map(bits).sum::<f64>()).fold(0.0, f64::max)
}

/// The class of a Model, as the table names it.
pub fn class(model: &Model, kind: &str) -> String {
    let n_processes = model.processes.len();
    let count = COUNTS.iter().find(|(most, _)| n_processes <= *most).map_or("crowd", |(_, name)| name);
    let symmetry_class = match model.families.iter().any(|family| family.count() > 1) {
        true if has_symmetric(model) => "alike",
        true => "indexed",
        false => "different",
    };
    format!("{kind} {count} {symmetry_class}")
}

/// The shares of a class, in the order of the table.
fn shares_of(class: &str) -> Vec<(&'static str, Shares)> {
    let line = TABLE.lines().find_map(|line| line.strip_prefix(class)?.strip_prefix(':'));
    let share = |word: &'static str| {
        let (name, share) = word.split_once('=')?;
        Some((name, Shares::parse(share)?))
    };
    line.unwrap_or_default().split_whitespace().filter_map(share).collect()
}

/// What the steps are made for.
struct RacePlan<'p> {
    n_processes: usize,
    /// How many threads the search of the whole product may use.
    n_threads: usize,
    config: &'p Config,
    /// What one method shows others.
    shown: Arc<ShownFacts>,
}

impl RacePlan<'_> {
    /// Whether a method answers some question.
    fn answers_some(&self, name: &str, (model, questions): (&Model, &[PropertyId])) -> bool {
        let step = self.step(name, Shares::same(1.0));
        step.is_some_and(|step| questions.iter().any(|&id| step.engine.supports(model, id).is_ok()))
    }

    /// The method of this name, with its share; `None` where there are too few or too many processes for it.
    fn step(&self, name: &str, shares: Shares) -> Option<RaceEntry> {
        let step = |engine: SharedEngine| RaceEntry { engine, shares, n_threads: 1, one_by_one: false };
        let graphs = |with_witness| Arc::new(Ls3 { with_witness, most_pairs: self.config.joint_states as u64 });
        let fair = |rule| {
            let engine = Arc::new(ExplicitThenSymbolic::fair(rule).knowing(&self.shown));
            RaceEntry { one_by_one: true, ..step(engine) }
        };
        // Among many processes there are too many pairs for a joint search of each.
        let is_crowded = self.n_processes > self.config.paired_processes;
        Some(match name {
            "mono" => RaceEntry { n_threads: self.n_threads, ..step(Arc::new(Mono)) },
            "stubborn" if !is_crowded => step(Arc::new(Stubborn)),
            "schedules" => step(Arc::new(Schedules::default())),
            "forward" => step(Arc::new(Symbolic::Reach(SearchDirection::Forward))),
            "backward" => step(Arc::new(Symbolic::Reach(SearchDirection::Backward))),
            "split" => step(Arc::new(Symbolic::KIndex(1))),
            "completion" => step(Arc::new(Symbolic::Completion)),
            "tmmc" => step(Arc::new(ExplicitKIndex { k: 1, cap_bytes: self.config.local_sets.0 })),
            "pairwise" if self.n_processes > 2 => step(Arc::new(ExplicitThenSymbolic::k_index(2))),
            "triple" if self.n_processes > 3 => step(Arc::new(ExplicitThenSymbolic::k_index(3))),
            "ls3" if !is_crowded => step(graphs(false)),
            "ls3+" if !is_crowded => step(graphs(true)),
            "views" => step(Arc::new(Viewing::default())),
            "pushdown" => step(Arc::new(Pushdown::default())),
            "global" => RaceEntry { one_by_one: true, ..step(Arc::new(Symbolic::Global)) },
            "propagate" => RaceEntry { one_by_one: true, ..step(Arc::new(Propagating::telling(&self.shown))) },
            "ll" => fair(LivenessRule::Ll),
            "fll-a" => fair(LivenessRule::FllA),
            "fll-b" => fair(LivenessRule::FllB),
            _ => return None,
        })
    }
}

/// Whether an expression says of some process among all that it does something, rather than of all that none does; where it is wanted or else excluded.
fn asks_for_some_process(expr: &Expr, is_wanted: bool) -> bool {
    let either = |expr: &Expr| asks_for_some_process(expr, true) || asks_for_some_process(expr, false);
    match &expr.kind {
        ExprKind::Not(inner) => asks_for_some_process(inner, !is_wanted),
        ExprKind::Binary(BinaryOp::And | BinaryOp::Or, left, right) => {
            asks_for_some_process(left, is_wanted) || asks_for_some_process(right, is_wanted)
        }
        ExprKind::Binary(BinaryOp::Implies, left, right) => {
            asks_for_some_process(left, !is_wanted) || asks_for_some_process(right, is_wanted)
        }
        ExprKind::Binary(BinaryOp::Iff | BinaryOp::Equal | BinaryOp::NotEqual, left, right) => {
            either(left) || either(right)
        }
        ExprKind::If(condition, yes, no) => {
            either(condition) || asks_for_some_process(yes, is_wanted) || asks_for_some_process(no, is_wanted)
        }
        ExprKind::Quantified(quantified) => {
            let Quantified { quantifier, bindings, body, .. } = &**quantified;
            let is_existential = match quantifier {
                Quantifier::Exists => is_wanted,
                Quantifier::Forall => !is_wanted,
                Quantifier::Count => false,
            };
            let ranges_over_processes = bindings.iter().any(|binding| matches!(binding.domain, Domain::Family(_)));
            is_existential && ranges_over_processes || asks_for_some_process(body, is_wanted)
        }
        _ => false,
    }
}

/// Whether some processes can be permuted.
fn has_symmetric(model: &Model) -> bool {
    model.families.entries().any(|(id, family)| family.count() > 1 && symmetry::asymmetries(model, id).is_empty())
}

#[cfg(test)]
mod tests {
    use base::SourceFile;

    use super::*;

    #[test]
    fn diagrams_are_first_where_somebody_is_asked_for_among_many() {
        let text = "program lock {
            shared x: sem = 1;
            process P[i in 0..<64] { loop { away: skip; enter: acquire x; crit: skip; leave: release x; } }
            invariant mutex: forall i != j: !(P[i]@crit && P[j]@crit);
            invariant taken: (exists i: P[i]@crit) => x == 0;
            invariant held:  x == 0 => exists i: P[i]@{crit, leave};
            invariant same:  x == 0 <=> !(forall i: !P[i]@{crit, leave});
        }";
        let model = lang::load(&SourceFile::new("lock.pw", text), &[]).unwrap().model;
        let first = |name: &str| {
            let asked = model.properties.entries().find(|(_, property)| property.name == name).unwrap().0;
            steps(&model, &[asked], 2, &Config::default())[0].engine.name()
        };
        assert_eq!(["mutex", "taken", "held", "same"].map(first), ["pairwise", "pairwise", "forward", "forward"]);
    }

    #[test]
    fn what_ends_in_a_run_is_put_to_schedules() {
        let text = "program lock {
            shared x: sem = 1;
            process P[i in 0..<20] { loop { away: skip; enter: acquire x; crit: skip; leave: release x; } }
            invariant mutex:  forall i != j: !(P[i]@crit && P[j]@crit);
            invariant away:   forall i: !P[i]@crit expect violated;
            reachable inside: exists i: P[i]@crit;
            reachable both:   exists i, j: i != j && P[i]@crit && P[j]@crit expect violated;
        }";
        let model = lang::load(&SourceFile::new("lock.pw", text), &[]).unwrap().model;
        let named = |name: &str| model.properties.entries().find(|(_, property)| property.name == name).unwrap().0;
        let first = |names: &[&str]| {
            let asked: Vec<PropertyId> = names.iter().copied().map(named).collect();
            steps(&model, &asked, 2, &Config::default())[0].engine.name()
        };
        assert_eq!(["mutex", "both"].map(|name| first(&[name])), ["views", "views"]);
        assert_eq!(["away", "inside"].map(|name| first(&[name])), ["schedules", "schedules"]);
        assert_eq!(first(&["away", "mutex"]), "views", "a proof is wanted, too");
        assert_eq!(first(&["no_errors"]), "views", "diagrams of many processes take longer");
    }

    #[test]
    fn errors_of_few_processes_are_looked_for_backward() {
        let text =
            "program p { shared x: 0..=3; process P[i in 0..<4] { loop { x = (x + 1) % 4; } } invariant low: x < 4; }";
        let model = lang::load(&SourceFile::new("p.pw", text), &[]).unwrap().model;
        let first = |name: &str| {
            let asked = model.properties.entries().find(|(_, property)| property.name == name).unwrap().0;
            steps(&model, &[asked], 2, &Config::default())[0].engine.name()
        };
        assert_eq!(["no_errors", "low"].map(first), ["backward", "mono"]);
    }

    #[test]
    fn every_class_has_shares_for_methods_that_there_are() {
        let config = Config::default();
        let plan = RacePlan { n_processes: 10, n_threads: 2, config: &config, shown: Arc::default() };
        for kind in ["safety", "temporal"] {
            for count in ["one", "few", "some", "many", "crowd"] {
                for symmetry_class in ["alike", "indexed", "different"] {
                    let class = format!("{kind} {count} {symmetry_class}");
                    let shares = shares_of(&class);
                    // A family of several has more than one process.
                    let is_impossible = count == "one" && symmetry_class != "different";
                    assert_eq!(shares.is_empty(), is_impossible, "{class}");
                    for (name, share) in shares {
                        let step = plan.step(name, share).unwrap_or_else(|| panic!("{class}: {name}"));
                        assert_eq!(step.engine.name(), name);
                        assert!(share.progress(config.quick * 2, config.quick).is_finite(), "{class}: {name}");
                    }
                }
            }
        }
    }
}
