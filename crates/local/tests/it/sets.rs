//! Explicit local sets on random programs: equal to those of brute force and of decision diagrams, above the projections of
//! the whole product, and what is proved with them is true and passes the independent checker.

use std::collections::BTreeSet;

use ::local::ExplicitKIndex;
use ::local::sets::LocalSets;
use base::{Budget, Span};
use compose::backend::Backend;
use compose::k_index::{Fixpoint, Invariants, KIndexPlan};
use compose::symmetry::Symmetry;
use engine::{Engine, SharedView, Silent, Task, Verdict};
use evidence::Evidence;
use evidence::certificate::{ControlPoint, SplitInvariant};
use model::Model;
use model::expr::BinaryOp;
use model::fairness::Assumptions;
use model::footprint;
use model::process::ProcessId;
use model::property::{Expected, Property, PropertyKind};
use model::value::Value;
use model::variable::CellId;
use packed::codec::{Codec, UnrollLimits};
use packed::compile::Compiler;
use packed::machine::Machine;
use testkit::choices::Choices;
use testkit::expr::{binary, constant, not, standing};
use testkit::local::meaning::meaning;
use testkit::local::{self, DefinedSets, ViewPart};
use testkit::{Beyond, Product, RandomFeatures, for_each_program};

const NO_STACKS: RandomFeatures = RandomFeatures {
    procedures: false,
    rendezvous: true,
    any_initial: true,
    faults: true,
    n_statements: 4,
    beyond: Beyond::NOTHING,
};

/// How the fixpoint is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// Rule by rule.
    Rules,
    /// As the backend does it by itself.
    Close,
}

/// The sets of all groups, or of those that stand for all.
fn explicit_sets(
    model: &Model,
    k: usize,
    views: SharedView,
    way: Way,
    symmetry: Option<Symmetry<'_>>,
) -> SplitInvariant {
    let codec = Codec::new(model, UnrollLimits::default());
    let machine = Machine { codec: &codec, code: Compiler::new(&codec).finish() };
    let budget = Budget::unlimited();
    certified(LocalSets::<4>::new(&machine, views, (&budget, u64::MAX)), k, way, symmetry)
}

fn certified(mut sets: LocalSets<'_, 4>, k: usize, way: Way, symmetry: Option<Symmetry<'_>>) -> SplitInvariant {
    let budget = Budget::unlimited();
    let plan = match symmetry {
        Some(symmetry) if sets.renames(&symmetry) => {
            KIndexPlan::of_first(&sets, k, symmetry, &budget).expect("no limits")
        }
        _ => KIndexPlan::of_all(&sets, k, &budget).expect("no limits"),
    };
    let mut fixpoint = Fixpoint::of_plan(&mut sets, plan, &budget).expect("no limits");
    match way {
        Way::Rules => while fixpoint.stage(&mut sets, &budget, true).expect("no limits") {},
        Way::Close => fixpoint.close(&mut sets, &budget).expect("no limits"),
    }
    let Invariants { k, .. } = fixpoint.invariants;
    sets.certify(k, &fixpoint.invariants.join()).expect("no limits")
}

fn symbolic_sets(model: &Model, k: usize, views: SharedView) -> SplitInvariant {
    let system = symbolic::system::SymbolicSystem::new(model, &vec![1; model.processes.len()], 1 << 17).expect("fits");
    let mut sets = symbolic::local::LocalSets::new(system, views).expect("fits");
    let mut fixpoint = Fixpoint::new(&mut sets, k).expect("fits");
    fixpoint.close(&mut sets, &Budget::unlimited()).expect("fits");
    sets.certify(k, &fixpoint.invariants.join()).expect("fits")
}

/// Counters in order, so that sets compare.
fn sorted(sets: DefinedSets) -> DefinedSets {
    let part = |part: ViewPart| match part {
        ViewPart::Point(ControlPoint { place, mut counters }) => {
            counters.sort_unstable();
            ViewPart::Point(ControlPoint { place, counters })
        }
        other => other,
    };
    let state = |state: local::Combination| state.into_iter().map(|(column, value)| (column, part(value))).collect();
    sets.into_iter().map(|(group, set)| (group, set.into_iter().map(state).collect())).collect()
}

fn oracle(model: &Model, k: usize, views: SharedView) -> Option<DefinedSets> {
    let mut local = local::LocalDefinition::new(model, k);
    if views == SharedView::Mentioned {
        let seen = |process: ProcessId| -> BTreeSet<CellId> { footprint::view(model, process) };
        local.views = model.processes.ids().map(seen).collect();
    }
    local.limit = 400;
    local.invariant().map(sorted)
}

fn compare(what: &str, ours: &DefinedSets, theirs: &DefinedSets) -> Result<(), String> {
    if ours == theirs {
        return Ok(());
    }
    let different = ours.iter().find(|(group, set)| theirs.get(*group) != Some(set));
    let Some((group, set)) = different else { return Err(format!("{what}: other groups")) };
    let empty = BTreeSet::new();
    let their = theirs.get(group).unwrap_or(&empty);
    let only: Vec<_> = set.difference(their).take(2).collect();
    let missing: Vec<_> = their.difference(set).take(2).collect();
    Err(format!("{what}: {group:?} has {only:?} too many and lacks {missing:?}"))
}

const KINDS: [(usize, SharedView); 6] = [
    (1, SharedView::Mentioned),
    (1, SharedView::Whole),
    (2, SharedView::Mentioned),
    (2, SharedView::Whole),
    (3, SharedView::Mentioned),
    (3, SharedView::Whole),
];

/// The same with steps that go on, actions for where nobody can move, patterns and places to end at.
const BEYOND_TEXTS: RandomFeatures = RandomFeatures {
    beyond: Beyond { chains: true, when_nobody: true, patterns: true, end_places: true },
    ..NO_STACKS
};

#[test]
fn sets_are_those_of_brute_force() {
    compare_with_brute_force(60, NO_STACKS);
}

#[test]
fn sets_beyond_texts_are_those_of_brute_force() {
    compare_with_brute_force(100, BEYOND_TEXTS);
}

fn compare_with_brute_force(n_programs: u64, shape: RandomFeatures) {
    for_each_program(n_programs, shape, |_, model| {
        for (k, views) in KINDS.into_iter().filter(|&(k, _)| k <= model.processes.len()) {
            let Some(sets) = oracle(model, k, views) else { continue };
            for way in [Way::Rules, Way::Close] {
                let ours = sorted(meaning(model, &explicit_sets(model, k, views, way, None)));
                compare(&format!("k = {k}, {views:?}, {way:?}"), &ours, &sets)?;
            }
        }
        Ok(())
    });
}

#[test]
fn sets_are_those_of_decision_diagrams() {
    for_each_program(60, NO_STACKS, |_, model| {
        for (k, views) in KINDS.into_iter().filter(|&(k, _)| k <= model.processes.len()) {
            // Programs with very many view states take too long to be compared row by row.
            if oracle(model, k, views).is_none() {
                continue;
            }
            let ours = explicit_sets(model, k, views, Way::Close, None);
            let theirs = symbolic_sets(model, k, views);
            // Both find out for themselves what a process mentions, one of them more exactly.
            let same_views = ours.members.iter().zip(&theirs.members).all(|(our, their)| {
                our.columns.iter().collect::<BTreeSet<_>>() == their.columns.iter().collect::<BTreeSet<_>>()
            });
            if same_views {
                let (ours, theirs) = (meaning(model, &ours), meaning(model, &theirs));
                compare(&format!("k = {k}, {views:?}"), &sorted(ours), &sorted(theirs))?;
            } else if views == SharedView::Whole {
                return Err("the whole store is the whole store".into());
            }
        }
        Ok(())
    });
}

#[test]
fn projections_of_the_product_are_in_the_sets() {
    for_each_program(200, NO_STACKS, |_, model| {
        let Some(product) = Product::explore(model, 800) else { return Ok(()) };
        for (k, views) in KINDS.into_iter().filter(|&(k, _)| k <= model.processes.len()) {
            let mut local = local::LocalDefinition::new(model, k);
            if views == SharedView::Mentioned {
                local.views = model.processes.ids().map(|process| footprint::view(model, process)).collect();
            }
            let sets = meaning(model, &explicit_sets(model, k, views, Way::Close, None));
            let mut exact = 0;
            for (group, set) in &sets {
                let columns = local.columns(group);
                let projected: BTreeSet<_> =
                    product.states.iter().map(|state| local.project(state, &columns)).collect();
                let projected = sorted([(group.clone(), projected)].into()).remove(group).expect("it is there");
                if let Some(state) = projected.iter().find(|state| !set.contains(*state)) {
                    return Err(format!("k = {k}, {views:?}: {group:?} lacks {state:?}"));
                }
                exact += set.len();
            }
            if k == model.processes.len() && views == SharedView::Whole && exact != product.states.len() {
                return Err("with all processes together there is nothing to lose".into());
            }
        }
        Ok(())
    });
}

#[test]
fn groups_that_stand_for_all_have_the_sets_of_all() {
    let n_symmetric = std::cell::Cell::new(0);
    for_each_program(600, NO_STACKS, |_, model| {
        let Some(symmetry) = Symmetry::of(model) else { return Ok(()) };
        n_symmetric.set(n_symmetric.get() + 1);
        for (k, views) in KINDS.into_iter().filter(|&(k, _)| k <= model.processes.len()) {
            if oracle(model, k, views).is_none() {
                continue;
            }
            for way in [Way::Rules, Way::Close] {
                let some = sorted(meaning(model, &explicit_sets(model, k, views, way, Some(symmetry.clone()))));
                let all = sorted(meaning(model, &explicit_sets(model, k, views, way, None)));
                let listed: DefinedSets = all.into_iter().filter(|(group, _)| some.contains_key(group)).collect();
                compare(&format!("k = {k}, {views:?}, {way:?}"), &some, &listed)?;
            }
        }
        Ok(())
    });
    if std::env::var("PIECEWISE_CASES").is_err() {
        assert!(n_symmetric.get() > 30, "only {} symmetric programs", n_symmetric.get());
    }
}

fn add(model: &mut Model, name: &str, kind: PropertyKind) {
    let (under, expected) = (Assumptions::none(), Expected::Holds);
    let (text, doc, span) = (String::new(), String::new(), Span::default());
    model.properties.push(Property { name: name.to_string(), kind, under, expected, text, doc, span });
}

/// Two processes are never at two places at once, and the built-in properties.
fn with_questions(model: &Model, choices: &mut Choices) -> Model {
    let mut model = model.clone();
    let mut at = || {
        let process = ProcessId::new(choices.below(model.processes.len()));
        let scope = model::control::TextOwner::Family(model.processes[process].family);
        let places: Vec<_> = model.places.ids().filter(|&place| model.places[place].scope == scope).collect();
        standing(constant(Value::Process(process)), vec![*choices.pick(&places)], &["l"])
    };
    let both = binary(BinaryOp::And, at(), at());
    let shared = model.vars.ids().find(|&var| matches!(model.vars[var].storage, model::variable::Storage::Shared));
    add(&mut model, "apart", PropertyKind::Invariant(not(both.clone())));
    add(&mut model, "together", PropertyKind::Reachable(both));
    add(&mut model, "no_errors", PropertyKind::NoErrors);
    add(&mut model, "deadlock_free", PropertyKind::DeadlockFree);
    if let Some(var) = shared {
        add(&mut model, "race_free", PropertyKind::RaceFree(var));
    }
    model
}

/// Whether something reachable decides the property: violates it, or is the goal.
fn happens(model: &Model, product: &Product, kind: &PropertyKind) -> bool {
    let holds = |expr, state| model::eval::evaluate(model, state, expr, None) == Ok(Value::Bool(true));
    match kind {
        PropertyKind::Invariant(expr) => product.states.iter().any(|state| !holds(expr, state)),
        PropertyKind::Reachable(expr) => product.states.iter().any(|state| holds(expr, state)),
        PropertyKind::NoErrors => product.faults.iter().any(|faults| !faults.is_empty()),
        PropertyKind::DeadlockFree => !product.deadlocks.is_empty(),
        PropertyKind::RaceFree(var) => {
            product.states.iter().any(|state| model::eval::race(model, state, *var).is_some())
        }
        PropertyKind::Temporal(_) => unreachable!("not asked here"),
    }
}

#[test]
fn verdicts_are_right_and_proofs_pass_the_independent_checker() {
    check_verdicts(200, NO_STACKS);
}

#[test]
fn verdicts_beyond_texts_are_right_and_proofs_pass_the_independent_checker() {
    check_verdicts(400, BEYOND_TEXTS);
}

fn check_verdicts(n_programs: u64, shape: RandomFeatures) {
    let (n_proofs, n_runs) = (std::cell::Cell::new(0), std::cell::Cell::new(0));
    for_each_program(n_programs, shape, |_, bare| {
        let Some(product) = Product::explore(bare, 800) else { return Ok(()) };
        let model = with_questions(bare, &mut Choices::from_seed(product.states.len() as u64));
        for method in [ExplicitKIndex::new(1), ExplicitKIndex::new(2), ExplicitKIndex::new(3)] {
            let is_chained = |id: &engine::PropertyId| {
                (model.goes_on() || model.has_when_nobody())
                    && matches!(model.properties[*id].kind, PropertyKind::RaceFree(_) | PropertyKind::NoErrors)
            };
            let is_asked = |id: &engine::PropertyId| !is_chained(id) || method.supports(&model, *id).is_ok();
            let properties = model.properties.ids().filter(is_asked).collect();
            let task = Task { model: &model, properties, budget: Budget::unlimited(), n_threads: 1 };
            for answer in method.run(&task, &Silent).map_err(|error| error.to_string())? {
                let property = &model.properties[answer.property];
                let complaint = |what: &str| Err(format!("{} on {}: {what}", method.name(), property.name));
                let happens = happens(&model, &product, &property.kind);
                let evidence = match answer.verdict {
                    Verdict::Holds(evidence) | Verdict::Violated(evidence) => evidence,
                    Verdict::Unknown(_) => continue,
                };
                match evidence {
                    Evidence::Trace(trace) if happens => {
                        n_runs.set(n_runs.get() + 1);
                        if let Err(error) = audit::replay(&model, answer.property, &trace) {
                            return complaint(&error.to_string());
                        }
                    }
                    Evidence::Certificate(proof) if !happens => {
                        n_proofs.set(n_proofs.get() + 1);
                        let checked = audit::certificate::check(&model, property, &proof, &Budget::unlimited());
                        if let Err(error) = checked {
                            return complaint(&error.to_string());
                        }
                    }
                    _ => return complaint("a wrong verdict"),
                }
            }
        }
        Ok(())
    });
    if std::env::var("PIECEWISE_CASES").is_err() {
        assert!(n_proofs.get() > 100 && n_runs.get() > 100, "{} proofs, {} runs", n_proofs.get(), n_runs.get());
    }
}
