//! The checker refuses refutations of what is false: proofs of programs whose fairness was dropped, and steps at random.

use std::cell::Cell;

use audit::certificate::{self, Checked};
use audit::temporal::is_violated;
use base::Budget;
use engine::{Engine, PropertyId, Silent, Task, Verdict};
use evidence::certificate::{Claim, Fact};
use evidence::propagation::{Additive, EdgeOwner, GroupWeights, HolderCase, Refutation, RefutationStep};
use evidence::{Certificate, Evidence, Scope, plain};
use model::Model;
use model::process::ProcessId;
use model::property::{Property, PropertyKind};
use model::value::Value;
use propagate::Propagate;
use testkit::choices::Choices;
use testkit::temporal::with_temporal;
use testkit::{Product, RandomFeatures, for_each_program};

fn proof(model: &Model, property: PropertyId) -> Option<Certificate> {
    let engine = Propagate::default();
    engine.supports(model, property).ok()?;
    let task = Task { model, properties: vec![property], budget: Budget::unlimited(), n_threads: 1 };
    match engine.run(&task, &Silent).unwrap().remove(0).verdict {
        Verdict::Holds(Evidence::Certificate(proof)) => Some(*proof),
        _ => None,
    }
}

fn is_false(model: &Model, product: &Product, property: &Property) -> bool {
    let PropertyKind::Temporal(formula) = &property.kind else { return false };
    is_violated(model, &product.states, formula, &property.under) == Ok(Some(true))
}

fn checked(model: &Model, property: &Property, proof: &Certificate) -> Option<Checked> {
    certificate::check(model, property, proof, &Budget::unlimited()).ok()
}

fn temporal(model: &Model) -> Vec<PropertyId> {
    let entries = model.properties.entries().filter(|(_, one)| matches!(one.kind, PropertyKind::Temporal(_)));
    entries.map(|(id, _)| id).collect()
}

/// The property without its `at`-th assumption, and the proof as if it were about that.
fn without(property: &Property, proof: &Certificate, at: usize) -> (Property, Certificate) {
    let (mut property, mut proof) = (property.clone(), proof.clone());
    let dropped: Vec<_> = property.under.any_of.iter().filter_map(|pairs| pairs.get(at).copied()).collect();
    property.under.any_of.iter_mut().for_each(|pairs| pairs.retain(|pair| !dropped.contains(pair)));
    for fact in &mut proof.facts {
        match &mut fact.claim {
            Claim::Refutation(claim) => claim.violation.fairness.retain(|pair| !dropped.contains(pair)),
            Claim::Exchanged(claim) => claim.violation.fairness.retain(|pair| !dropped.contains(pair)),
            _ => {}
        }
    }
    (property, proof)
}

#[test]
fn proofs_are_refused_where_the_fairness_that_they_need_is_dropped() {
    let (n_refused, n_still_true) = (Cell::new(0), Cell::new(0));
    for_each_program(150, RandomFeatures { n_statements: 3, ..RandomFeatures::everything() }, |_, model| {
        let Some(product) = Product::explore(model, 200) else { return Ok(()) };
        let asked = with_temporal(model, product.states.len() as u64 * 11 + model.places.len() as u64, 4);
        for id in temporal(&asked) {
            let Some(proof) = proof(&asked, id) else { continue };
            for at in 0..3 {
                let (property, proof) = without(&asked.properties[id], &proof, at);
                if is_false(&asked, &product, &property) {
                    if checked(&asked, &property, &proof).is_some() {
                        return Err(format!("a proof of {} without fairness {at} is accepted", property.name));
                    }
                    n_refused.set(n_refused.get() + 1);
                } else {
                    n_still_true.set(n_still_true.get() + 1);
                }
            }
        }
        Ok(())
    });
    println!("{n_refused:?} refused, {n_still_true:?} still true");
    assert!(n_refused.get() > 5, "{n_refused:?} refused, {n_still_true:?} still true");
}

fn random_spot(model: &Model, choices: &mut Choices) -> EdgeOwner {
    if choices.chance(40) {
        EdgeOwner::Property
    } else {
        EdgeOwner::Process(ProcessId::new(choices.below(model.processes.len())))
    }
}

fn random_steps(model: &Model, choices: &mut Choices, depth: usize) -> Vec<RefutationStep> {
    let mut steps = Vec::new();
    for _ in 0..2 + choices.below(8) {
        steps.push(match choices.below(2) {
            0 => RefutationStep::Fair(random_spot(model, choices)),
            _ => RefutationStep::Compatible { from: random_spot(model, choices), to: random_spot(model, choices) },
        });
    }
    if depth == 0 {
        return steps;
    }
    let cases = |choices: &mut Choices| {
        let case = |process| HolderCase { process, steps: random_steps(model, choices, depth - 1) };
        model.processes.ids().map(case).collect::<Vec<_>>()
    };
    match choices.below(5) {
        // No fair component has a case.
        4 => steps.push(RefutationStep::Split { of: random_spot(model, choices), cases: Vec::new() }),
        0 => steps.push(RefutationStep::Scheduled(cases(choices))),
        1 => {
            let of = random_spot(model, choices);
            steps.push(RefutationStep::Holder { of, invariant: 0, cases: cases(choices) });
        }
        2 => steps.push(RefutationStep::Unequal(0)),
        _ => {}
    }
    steps
}

#[test]
fn no_steps_refute_a_run_that_there_is() {
    let n_refused = Cell::new(0);
    for_each_program(120, RandomFeatures { n_statements: 3, ..RandomFeatures::everything() }, |_, model| {
        let Some(product) = Product::explore(model, 200) else { return Ok(()) };
        let asked = with_temporal(model, product.states.len() as u64 * 13 + model.places.len() as u64, 4);
        let sights = temporal(&asked).into_iter().find_map(|id| Some(proof(&asked, id)?.facts.remove(0)));
        let Some(sights) = sights else { return Ok(()) };
        let mut choices = Choices::from_seed(product.states.len() as u64);
        for id in temporal(&asked) {
            let property = &asked.properties[id];
            let PropertyKind::Temporal(formula) = &property.kind else { continue };
            if !is_false(&asked, &product, property) {
                continue;
            }
            let Ok(violations) = plain::violations(&asked, property, formula) else { continue };
            for _ in 0..4 {
                let mut facts = vec![sights.clone()];
                for violation in &violations {
                    let claim = Claim::Refutation(Refutation {
                        violation: violation.name(&asked),
                        automaton: violation.automaton.names(&asked),
                        members: asked.processes.ids().collect(),
                        cells: Vec::new(),
                        controls: Vec::new(),
                        steps: random_steps(&asked, &mut choices, 2),
                    });
                    facts.push(Fact { claim, uses: vec![0] });
                }
                let proof =
                    Certificate { property: property.name.clone(), scope: Scope::Instance, facts, implies: Vec::new() };
                if checked(&asked, property, &proof).is_some() {
                    return Err(format!("{} is false, and a refutation is accepted", property.name));
                }
                n_refused.set(n_refused.get() + 1);
            }
        }
        Ok(())
    });
    assert!(n_refused.get() > 50, "{n_refused:?} refused");
}

/// What was shown of runs that are fair in one way is no lemma about runs that are fair in another one, nor a fact about itself.
#[test]
fn what_was_shown_of_other_fair_runs_is_no_lemma() {
    let text = "program p { process P[i in 0..<2] { loop { a: skip; b: skip; } }
        property fair: P[0]@a ~> P[0]@b under weak P[*];
        property one_way: P[0]@a ~> P[0]@b under weak P[*] or every P[1]; }";
    let model = lang::load(&base::SourceFile::new("p.pw", text), &[]).unwrap().model;
    let named = |name: &str| model.properties.entries().find(|(_, one)| one.name == name).unwrap().0;
    let property = &model.properties[named("one_way")];
    let PropertyKind::Temporal(formula) = &property.kind else { panic!("it is temporal") };
    let violations = plain::violations(&model, property, formula).unwrap();
    let mut proof = proof(&model, named("fair")).expect("weak fairness suffices");
    proof.property = property.name.clone();
    let Claim::Refutation(shown) = &proof.facts[1].claim else { panic!("it is refuted") };
    let open = violations.iter().map(|one| one.name(&model)).find(|name| *name != shown.violation).unwrap();
    let claim = Refutation { violation: open, ..shown.clone() };
    for (used, reason) in [(1, "other fair runs"), (2, "does not come before it")] {
        let mut changed = proof.clone();
        changed.facts.push(Fact { claim: Claim::Refutation(claim.clone()), uses: vec![0, used] });
        let refused = certificate::check(&model, property, &changed, &Budget::unlimited()).unwrap_err();
        assert!(refused.to_string().contains(reason), "{refused}");
    }
}

/// A sum of what two cells weigh together is not kept by a turn that changes one of them and does not see the other one.
#[test]
fn cells_that_are_weighed_together_are_seen_together() {
    let load = |assigned: &str| {
        let text = format!(
            "program p {{ shared x: 0..=1; shared y: 0..=1;
               process A {{ loop {{ a: x = {assigned}; }} }} process B {{ loop {{ b: y = 0; }} }}
               property p: always (x == 0 && y == 0); }}"
        );
        lang::load(&base::SourceFile::new("p.pw", text), &[]).unwrap().model
    };
    let (model, changed) = (load("0"), load("1 - x"));
    let id = temporal(&model)[0];
    let mut certificate = proof(&model, id).expect("x and y are always 0");
    let Claim::Sights(sights) = &mut certificate.facts[0].claim else { panic!("what processes see comes first") };
    let numbers = [(0, 0), (0, 1), (1, 0), (1, 1)];
    let weights = numbers.map(|(x, y)| (vec![Value::Int(x), Value::Int(y)], i64::from(x + y > 0)));
    let together = GroupWeights { cells: model.cells.ids().take(2).collect(), weights: weights.to_vec() };
    let (cells, processes) = Default::default();
    sights.additive.push(Additive { constant: 0, cells, groups: vec![together], processes });
    let product = Product::explore(&changed, 100).unwrap();
    assert!(is_false(&changed, &product, &changed.properties[id]));
    let refused =
        certificate::check(&changed, &changed.properties[id], &certificate, &Budget::unlimited()).unwrap_err();
    assert!(refused.to_string().contains("weighed with others that it does not see"), "{refused}");
}
