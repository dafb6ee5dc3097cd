//! The invariants of `k` processes on plain sets: they are the least ones, groups that stand for others have their sets, and what follows
//! from them is true.

use std::cell::Cell;

use base::Budget;
use compose::k_index::{Fixpoint, InvariantDecision, KIndexPlan, decide};
use compose::question::{questions, questions_up_to};
use compose::symmetry::Symmetry;
use model::Model;
use testkit::choices::Choices;
use testkit::local::{DefinedSets, LocalDefinition};
use testkit::questions::{happens, with_questions};
use testkit::{Beyond, Product, RandomFeatures, for_each_program};

use crate::plain_sets::PlainSets;

const NO_STACKS: RandomFeatures = RandomFeatures {
    procedures: false,
    rendezvous: true,
    any_initial: true,
    faults: true,
    n_statements: 4,
    beyond: Beyond::NOTHING,
};

/// The least sets by brute force; `None` where they are large.
fn oracle(model: &Model, k: usize) -> Option<DefinedSets> {
    let mut local = LocalDefinition::new(model, k);
    local.limit = 200;
    local.invariant()
}

fn sizes(model: &Model) -> impl Iterator<Item = usize> {
    1..=model.processes.len().min(3)
}

#[test]
fn the_sets_are_the_least_ones_whatever_the_order_of_rules() {
    for_each_program(60, NO_STACKS, |_, model| {
        for k in sizes(model) {
            let Some(expected) = oracle(model, k) else { continue };
            for at_once in [true, false] {
                let mut sets = PlainSets::new(model);
                let mut fixpoint = Fixpoint::new(&mut sets, k).expect("there are no limits");
                while fixpoint.stage(&mut sets, &Budget::unlimited(), at_once).expect("there are no limits") {}
                let invariants = fixpoint.invariants;
                let found: DefinedSets = invariants.groups.into_iter().zip(invariants.sets).collect();
                if found != expected {
                    return Err(format!("k = {k}, at once: {at_once}: other sets than by brute force"));
                }
            }
        }
        Ok(())
    });
}

#[test]
fn groups_that_stand_for_others_have_their_sets() {
    let n_symmetric = Cell::new(0);
    for_each_program(300, NO_STACKS, |_, model| {
        let Some(symmetry) = Symmetry::of(model) else { return Ok(()) };
        n_symmetric.set(n_symmetric.get() + 1);
        for k in sizes(model) {
            let Some(all) = oracle(model, k) else { continue };
            let mut sets = PlainSets::new(model);
            let budget = Budget::unlimited();
            let plan = KIndexPlan::of_first(&sets, k, symmetry.clone(), &budget).expect("there are no limits");
            let mut fixpoint = Fixpoint::of_plan(&mut sets, plan, &budget).expect("there are no limits");
            fixpoint.close(&mut sets, &budget).expect("there are no limits");
            for (group, set) in fixpoint.invariants.groups.iter().zip(&fixpoint.invariants.sets) {
                if all[group] != *set {
                    return Err(format!("k = {k}: {group:?} has another set than without symmetry"));
                }
            }
        }
        Ok(())
    });
    if std::env::var("PIECEWISE_CASES").is_err() {
        assert!(n_symmetric.get() > 10, "only {} symmetric programs", n_symmetric.get());
    }
}

#[test]
fn what_is_proved_is_true_and_with_all_processes_together_nothing_is_lost() {
    let n_proved = Cell::new(0);
    for_each_program(150, NO_STACKS, |_, model| {
        let Some(product) = Product::explore(model, 300) else { return Ok(()) };
        let model = with_questions(model, &mut Choices::from_seed(model.actions.len() as u64));
        let symmetry = Symmetry::of(&model);
        for k in sizes(&model) {
            if oracle(&model, k).is_none() {
                continue;
            }
            let mut sets = PlainSets::new(&model);
            let mut fixpoint = Fixpoint::new(&mut sets, k).expect("there are no limits");
            fixpoint.close(&mut sets, &Budget::unlimited()).expect("there are no limits");
            for property in &model.properties {
                let all = questions(&model, &property.kind).expect("none is temporal");
                let some = questions_up_to(&model, &property.kind, symmetry.as_ref()).expect("none is temporal");
                let is_true = !happens(&model, &product, &property.kind);
                for asked in [all, some] {
                    let with = (symmetry.as_ref(), &Budget::unlimited());
                    let decided = decide(&mut sets, &fixpoint.invariants, &asked, with).expect("there are no limits");
                    let is_proved = matches!(decided, InvariantDecision::Proved);
                    n_proved.set(n_proved.get() + usize::from(is_proved));
                    if is_proved && !is_true {
                        return Err(format!("k = {k}: {} is proved, and wrong", property.name));
                    }
                    if k == model.processes.len() && is_true && matches!(decided, InvariantDecision::Open(_)) {
                        return Err(format!("k = {k}, all processes: {} is true, and not proved", property.name));
                    }
                }
            }
        }
        Ok(())
    });
    if std::env::var("PIECEWISE_CASES").is_err() {
        assert!(n_proved.get() > 100, "only {} properties were proved", n_proved.get());
    }
}
