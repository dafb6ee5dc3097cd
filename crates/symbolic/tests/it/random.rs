//! Diagrams against brute force, on random programs.

use base::{Budget, StopReason};
use compose::backend::Backend;
use compose::completion::{Completed, CompletionOptions, Stages, complete};
use compose::k_index::{Fixpoint, KIndexPlan};
use compose::symmetry::Symmetry;
use model::Model;
use model::eval::{State, is_deadlock, steps};
use model::expr::{BinaryOp, Expr};
use model::process::ProcessId;
use model::property::PropertyKind;
use model::value::Value;
use symbolic::bdd::Bdd;
use symbolic::commands::StepTests;
use symbolic::local::{LocalSets, SharedView};
use symbolic::reach::{Reach, SearchDirection, search};
use symbolic::system::{SymbolicSystem, SystemPlan};
use symbolic::wide::MOST_ENUMERATED;
use testkit::choices::Choices;
use testkit::expr::{binary, constant, not, standing};
use testkit::{Beyond, Product, RandomFeatures, for_each_program};

const NO_STACKS: RandomFeatures = RandomFeatures {
    procedures: false,
    rendezvous: true,
    any_initial: true,
    faults: true,
    n_statements: 4,
    beyond: Beyond { patterns: true, ..Beyond::NOTHING },
};

/// Runs a check on random programs whose whole product is small.
fn for_small_products(n_programs: u64, check: impl Fn(&Model, &Product) -> Result<(), String>) {
    for_each_program(n_programs, NO_STACKS, |_, model| match Product::explore(model, 1500) {
        Some(product) => check(model, &product),
        None => Ok(()),
    });
}

/// All numbers listed, and all numbers as bits.
const WIDTHS: [u128; 2] = [MOST_ENUMERATED, 1];

/// The program as diagrams; `None` where a step chooses twice for one cell and both choices count, which bits do not follow.
fn system(model: &Model, most_enumerated: u128) -> Option<SymbolicSystem<'_>> {
    let n_blocks = vec![1 << 10; model.processes.len()];
    let plan = SystemPlan {
        n_blocks: &n_blocks,
        n_nodes: 1 << 17,
        tests: &StepTests::default(),
        most_enumerated,
        is_whole: false,
    };
    match SymbolicSystem::planned(model, &plan) {
        Err(StopReason::NotSupported(_)) if most_enumerated == 1 => None,
        found => Some(found.expect("small programs fit")),
    }
}

/// Runs a check with all numbers listed, and with all numbers as bits.
fn for_both_widths(check: impl Fn(u128) -> Result<(), String>) -> Result<(), String> {
    WIDTHS.into_iter().try_for_each(|width| check(width).map_err(|what| format!("listed up to {width}: {what}")))
}

fn find(system: &SymbolicSystem<'_>, bad: &Bdd, direction: SearchDirection) -> Reach {
    search(system, bad, direction, (&Budget::unlimited(), &|_, _| {})).expect("small programs fit")
}

fn expect(holds: bool, complaint: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(complaint.to_string()) }
}

/// Two processes at two places: reachable or not.
fn random_pattern(model: &Model, choices: &mut Choices) -> Expr {
    let at = |choices: &mut Choices| {
        let process = ProcessId::new(choices.below(model.processes.len()));
        let family = model.processes[process].family;
        let scope = model::control::TextOwner::Family(family);
        let places: Vec<_> = model.places.ids().filter(|&place| model.places[place].scope == scope).collect();
        standing(constant(Value::Process(process)), vec![*choices.pick(&places)], &["l"])
    };
    let (a, b) = (at(choices), at(choices));
    binary(BinaryOp::And, a, if choices.chance(30) { not(b) } else { b })
}

fn holds_in(model: &Model, expr: &Expr, state: &State) -> bool {
    model::eval::evaluate(model, state, expr, None).expect("patterns have no faults") == Value::Bool(true)
}

fn is_run(model: &Model, states: &[State]) -> bool {
    let steps_to = |pair: &[State]| steps(model, &pair[0]).iter().any(|step| step.result.as_ref() == Ok(&pair[1]));
    model::eval::is_initial(model, &states[0]) && states.windows(2).all(steps_to)
}

#[test]
fn reachable_states_faults_and_deadlocks_are_those_of_the_reference_semantics() {
    for_small_products(500, |model, product| {
        for_both_widths(|width| {
            let Some(system) = system(model, width) else { return Ok(()) };
            let Reach::Safe(reached) = find(&system, &system.encoding.space.empty(), SearchDirection::Forward) else {
                return Err("nothing is bad".into());
            };
            let bits: Vec<u32> = (system.encoding.parts().iter())
                .filter(|part| !matches!(part, symbolic::encoding::FieldContent::Exposed(_)))
                .flat_map(|&part| system.encoding.field(part).bits())
                .collect();
            expect(reached.count_over(&bits) == Some(product.states.len() as u64), "as many states")?;
            let deadlocks = system.deadlocks().expect("fits");
            for (at, state) in product.states.iter().enumerate() {
                let vector = system.vector(state);
                expect(reached.contains(&vector), "every reachable state")?;
                expect(system.decode(&vector) == *state, "vectors read back")?;
                expect(deadlocks.contains(&vector) == is_deadlock(model, state), "deadlocks")?;
                for process in model.processes.ids() {
                    let faulty = product.faults[at].iter().any(|(by, _)| by.process == process);
                    expect(system.processes[process.index()].fault.contains(&vector) == faulty, "faults")?;
                }
            }
            Ok(())
        })
    });
}

#[test]
fn both_directions_find_a_run_exactly_where_there_is_one() {
    for_small_products(200, |model, product| {
        for_both_widths(|width| {
            let mut choices = Choices::from_seed(product.states.len() as u64);
            let Some(system) = system(model, width) else { return Ok(()) };
            for _ in 0..3 {
                let pattern = random_pattern(model, &mut choices);
                let bad = system.truth(&pattern).expect("fits").yes;
                let reachable = product.states.iter().any(|state| holds_in(model, &pattern, state));
                for direction in [SearchDirection::Forward, SearchDirection::Backward] {
                    match find(&system, &bad, direction) {
                        Reach::Safe(_) => expect(!reachable, "a run was missed")?,
                        Reach::Run(states) => {
                            expect(is_run(model, &states), "the run is real")?;
                            expect(holds_in(model, &pattern, states.last().expect("not empty")), "it ends badly")?;
                        }
                    }
                }
            }
            Ok(())
        })
    });
}

#[test]
fn every_reachable_state_projects_into_the_k_index_invariants() {
    for_small_products(150, |model, product| {
        for_both_widths(|width| {
            for (k, views) in
                [(1, SharedView::Mentioned), (1, SharedView::Whole), (2, SharedView::Mentioned), (3, SharedView::Whole)]
            {
                if k > model.processes.len() {
                    continue;
                }
                let Some(system) = system(model, width) else { return Ok(()) };
                let mut sets = LocalSets::new(system, views).expect("fits");
                let mut fixpoint = Fixpoint::new(&mut sets, k).expect("fits");
                fixpoint.close(&mut sets, &Budget::unlimited()).expect("fits");
                for state in &product.states {
                    let vector = sets.system().vector(state);
                    for (group, set) in fixpoint.invariants.join() {
                        expect(set.contains(&vector), &format!("{k} {views:?}: {group:?} misses {state:?}"))?;
                    }
                }
                // With all processes together there is nothing to lose.
                if k == model.processes.len() && views == SharedView::Whole {
                    let (group, set) = fixpoint.invariants.join()[0];
                    expect(sets.n_states(group, set) == Some(product.states.len() as u64), "exact for k = N")?;
                }
            }
            Ok(())
        })
    });
}

#[test]
fn completion_decides_as_brute_force_does() {
    for_small_products(150, |model, product| {
        for_both_widths(|width| {
            let mut choices = Choices::from_seed(product.states.len() as u64);
            for _ in 0..2 {
                let pattern = random_pattern(model, &mut choices);
                let reachable = product.states.iter().any(|state| holds_in(model, &pattern, state));
                let asked = PropertyKind::Reachable(pattern.clone());
                let stages = if choices.chance(50) { Stages::Each } else { Stages::Last };
                let Some(system) = system(model, width) else { return Ok(()) };
                let mut sets = LocalSets::new(system, SharedView::Whole).expect("fits");
                let way = CompletionOptions { symmetry: None, stages, budget: &Budget::unlimited() };
                match complete(&mut sets, &asked, way, |_| {}) {
                    Ok(Completed::Proved { .. }) => expect(!reachable, "proved what is wrong")?,
                    Ok(Completed::Run { states, .. }) => {
                        expect(is_run(model, &states), "the run is real")?;
                        expect(holds_in(model, &pattern, states.last().expect("not empty")), "it ends badly")?;
                    }
                    Ok(Completed::Shortcut { trace, .. }) => {
                        expect(reachable && is_run(model, &trace.states), "the run is real")?
                    }
                    Ok(Completed::Stuck(obstacle)) => return Err(format!("completion is complete, but: {obstacle:?}")),
                    Err(stop) => return Err(format!("completion is complete, but: {stop}")),
                }
            }
            Ok(())
        })
    });
}

#[test]
fn no_errors_and_deadlocks_are_decided_by_completion() {
    for_small_products(120, |model, product| {
        for_both_widths(|width| {
            let faulty = product.faults.iter().any(|faults| !faults.is_empty());
            let deadlocked = !product.deadlocks.is_empty();
            for (kind, bad) in [(PropertyKind::NoErrors, faulty), (PropertyKind::DeadlockFree, deadlocked)] {
                let Some(system) = system(model, width) else { return Ok(()) };
                let mut sets = LocalSets::new(system, SharedView::Whole).expect("fits");
                let way = CompletionOptions { symmetry: None, stages: Stages::Last, budget: &Budget::unlimited() };
                match complete(&mut sets, &kind, way, |_| {}) {
                    Ok(Completed::Proved { .. }) => expect(!bad, "proved what is wrong")?,
                    Ok(Completed::Run { states, .. }) => expect(bad && is_run(model, &states), "the run is real")?,
                    Ok(Completed::Shortcut { trace, .. }) => {
                        expect(bad && is_run(model, &trace.states), "the run is real")?
                    }
                    Ok(Completed::Stuck(obstacle)) => return Err(format!("completion is complete, but: {obstacle:?}")),
                    Err(stop) => return Err(format!("completion is complete, but: {stop}")),
                }
            }
            Ok(())
        })
    });
}

#[test]
fn groups_that_stand_for_all_have_the_sets_that_they_have_among_all() {
    let n_compared = std::cell::Cell::new(0);
    for_small_products(700, |model, _| {
        for_both_widths(|width| {
            let Some(symmetry) = Symmetry::of(model) else { return Ok(()) };
            for k in [1, 2] {
                let Some(system) = system(model, width) else { return Ok(()) };
                let mut sets = LocalSets::new(system, SharedView::Mentioned).expect("fits");
                if k > model.processes.len() || !sets.renames(&symmetry) {
                    continue;
                }
                let mut all = Fixpoint::new(&mut sets, k).expect("fits");
                // Stage by stage, in the way of the definition.
                while all.stage(&mut sets, &Budget::unlimited(), true).expect("fits") {}
                let budget = Budget::unlimited();
                let plan = KIndexPlan::of_first(&sets, k, symmetry.clone(), &budget).expect("fits");
                let mut first = Fixpoint::of_plan(&mut sets, plan, &budget).expect("fits");
                first.close(&mut sets, &Budget::unlimited()).expect("fits");
                for (group, set) in first.invariants.groups.iter().zip(&first.invariants.sets) {
                    let at = all.invariants.groups.iter().position(|other| other == group).expect("all are there");
                    expect(*set == all.invariants.sets[at], &format!("k = {k}, {group:?}"))?;
                }
                n_compared.set(n_compared.get() + 1);
            }
            Ok(())
        })
    });
    assert!(n_compared.get() > 20, "only {} programs are symmetric", n_compared.get());
}

#[test]
fn the_own_way_to_split_invariants_leads_to_those_of_the_definition() {
    for_small_products(150, |model, _| {
        for_both_widths(|width| {
            for views in [SharedView::Mentioned, SharedView::Whole] {
                let Some(system) = system(model, width) else { return Ok(()) };
                let mut sets = LocalSets::new(system, views).expect("fits");
                let mut by_stages = Fixpoint::new(&mut sets, 1).expect("fits");
                while by_stages.stage(&mut sets, &Budget::unlimited(), false).expect("fits") {}
                let mut closed = Fixpoint::new(&mut sets, 1).expect("fits");
                closed.close(&mut sets, &Budget::unlimited()).expect("fits");
                expect(closed.invariants.sets == by_stages.invariants.sets, &format!("{views:?}"))?;
            }
            Ok(())
        })
    });
}
