//! Properties that have no value in some states: what each method says of them equals brute force.

use base::{Budget, SourceFile, StopReason};
use engine::{Engine, PropertyId, Silent, Task, Verdict};
use evidence::Evidence;
use model::Model;
use model::eval::evaluate;
use model::expr::Expr;
use model::fairness::{Assumptions, EdgePredicate, FairnessPair, StatePredicate};
use model::property::{BinaryTemporal, Formula, PropertyKind, UnaryTemporal};
use model::value::Value;
use symbolic::engines::{Symbolic, Tuned};
use symbolic::local_fair::LivenessRule;
use symbolic::reach::SearchDirection;
use testkit::choices::Choices;
use testkit::{Beyond, Product, RandomFeatures, for_each_program};

use crate::asked::{Asked, add_property, with_idle_cells};
use crate::engines::{configured, has_two_choices};

const SHAPE: RandomFeatures = RandomFeatures {
    procedures: false,
    rendezvous: true,
    any_initial: true,
    faults: true,
    n_statements: 3,
    beyond: Beyond::NOTHING,
};

pub const METHODS: [Symbolic; 5] = [
    Symbolic::Reach(SearchDirection::Forward),
    Symbolic::Reach(SearchDirection::Backward),
    Symbolic::KIndex(1),
    Symbolic::KIndex(2),
    Symbolic::Completion,
];

/// What the reachable states say about an expression.
#[derive(Clone, Copy, Debug)]
struct Said {
    holds_somewhere: bool,
    fails_somewhere: bool,
    has_no_value_somewhere: bool,
}

impl Said {
    fn of(model: &Model, product: &Product, expr: &Expr) -> Said {
        let values: Vec<_> = product.states.iter().map(|state| evaluate(model, state, expr, None)).collect();
        let is = |wanted: bool| values.contains(&Ok(Value::Bool(wanted)));
        let has_no_value_somewhere = values.iter().any(Result::is_err);
        Said { holds_somewhere: is(true), fails_somewhere: is(false), has_no_value_somewhere }
    }
}

pub fn verdict(method: &dyn Engine, model: &Model, id: PropertyId) -> Verdict {
    let task = Task { model, properties: vec![id], budget: Budget::unlimited(), n_threads: 1 };
    method.run(&task, &Silent).unwrap().remove(0).verdict
}

/// Whether a verdict is what brute force says; methods that prove with a few processes at a time may leave it open.
fn judge(model: &Model, id: PropertyId, method: Tuned, said: Said) -> Result<(), String> {
    let property = &model.properties[id];
    let is_goal = matches!(property.kind, PropertyKind::Reachable(_));
    let decided = if is_goal { said.holds_somewhere } else { said.fails_somewhere };
    let found = verdict(&method, model, id);
    let complaint = |what: &str| Err(format!("{} on {}: {what}; {said:?}", method.name(), property.name));
    match found {
        Verdict::Holds(Evidence::Trace(trace)) | Verdict::Violated(Evidence::Trace(trace)) => {
            match audit::replay(model, id, &trace) {
                Ok(()) if decided => Ok(()),
                Ok(()) => complaint("a run that brute force does not know"),
                Err(error) => complaint(&error.to_string()),
            }
        }
        Verdict::Holds(Evidence::Certificate(proof)) | Verdict::Violated(Evidence::Certificate(proof)) => {
            match audit::certificate::check(model, property, &proof, &Budget::unlimited()) {
                Ok(_) if !decided && !said.has_no_value_somewhere => Ok(()),
                Ok(_) => complaint("a wrong proof"),
                Err(error) => complaint(&error.to_string()),
            }
        }
        Verdict::Unknown(StopReason::PropertyError(_)) if said.has_no_value_somewhere && !decided => Ok(()),
        Verdict::Unknown(StopReason::TooCoarse(_)) if matches!(method.method, Symbolic::KIndex(_)) => Ok(()),
        Verdict::Unknown(stop) if has_two_choices(method, &stop) => Ok(()),
        Verdict::Unknown(stop) => complaint(&format!("undecided, {stop}")),
        other => complaint(&format!("{other:?}")),
    }
}

fn with_questions(model: &Model, seed: u64) -> Model {
    let mut asked = model.clone();
    let mut choices = Choices::from_seed(seed);
    for nth in 0..3 {
        let expr = Asked { model, choices: &mut choices }.truth(3, 0);
        let is_goal = nth == 2;
        let kind = if is_goal { PropertyKind::Reachable(expr) } else { PropertyKind::Invariant(expr) };
        add_property(&mut asked, &format!("q{nth}"), kind);
    }
    asked
}

#[test]
fn properties_without_a_value_are_judged_as_brute_force_does() {
    let counts = std::cell::Cell::new([0; 3]);
    for_each_program(120, SHAPE, |draft, bare| {
        let bare =
            &with_idle_cells(draft, &mut Choices::from_seed(bare.actions.len() as u64 * 13 + bare.cells.len() as u64));
        let Some(product) = Product::explore(bare, 300) else { return Ok(()) };
        let model = with_questions(bare, product.states.len() as u64 * 31 + bare.places.len() as u64);
        for id in model.properties.ids() {
            let (PropertyKind::Invariant(expr) | PropertyKind::Reachable(expr)) = &model.properties[id].kind else {
                continue;
            };
            let said = Said::of(&model, &product, expr);
            let mut so_far = counts.get();
            so_far[usize::from(said.has_no_value_somewhere) + usize::from(said.fails_somewhere)] += 1;
            counts.set(so_far);
            configured(&METHODS).into_iter().try_for_each(|method| judge(&model, id, method, said))?;
        }
        Ok(())
    });
    assert!(counts.get().iter().all(|&count| count > 20), "every kind occurs: {:?}", counts.get());
}

/// Propositions and predicates of fairness, each with a value or not.
fn temporal(model: &Model, seed: u64) -> (Model, Vec<Expr>) {
    let mut asked = model.clone();
    let mut choices = Choices::from_seed(seed);
    let mut one = || Asked { model, choices: &mut choices }.truth(1, 0);
    let (a, b, fair) = (one(), one(), one());
    let now = |expr: &Expr| Box::new(Formula::Now(expr.clone()));
    let formula = match choices.below(3) {
        0 => Formula::Unary(UnaryTemporal::Always, now(&a)),
        1 => Formula::Unary(UnaryTemporal::Eventually, now(&a)),
        _ => Formula::Binary(BinaryTemporal::LeadsTo, now(&a), now(&b)),
    };
    let mut exprs = if matches!(formula, Formula::Binary(..)) { vec![a, b] } else { vec![a] };
    add_property(&mut asked, "t", PropertyKind::Temporal(formula));
    if choices.chance(60) {
        let holds = StatePredicate::Holds(fair.clone());
        let always = choices.chance(30).then(|| StatePredicate::Fails(fair.clone()));
        let often = vec![EdgePredicate::Before(holds)];
        let pair = FairnessPair { owner: None, always, often, name: "fair".to_owned(), span: base::Span::default() };
        let pair = asked.fairness.push(pair);
        let id = asked.properties.ids().last().expect("just added");
        asked.properties[id].under = Assumptions { any_of: vec![vec![pair]] };
        exprs.push(fair);
    }
    (asked, exprs)
}

#[test]
fn temporal_properties_without_a_value_are_judged_as_brute_force_does() {
    let n_faulty = std::cell::Cell::new(0);
    for_each_program(300, SHAPE, |_, bare| {
        let Some(product) = Product::explore(bare, 60) else { return Ok(()) };
        let (model, exprs) = temporal(bare, product.states.len() as u64 * 17 + bare.actions.len() as u64);
        let id = model.properties.ids().last().expect("one was added");
        let has_fault = exprs.iter().any(|expr| Said::of(&model, &product, expr).has_no_value_somewhere);
        let PropertyKind::Temporal(formula) = &model.properties[id].kind else { return Ok(()) };
        n_faulty.set(n_faulty.get() + u32::from(has_fault));
        for method in
            configured(&[Symbolic::Global, Symbolic::Fair(LivenessRule::FllA), Symbolic::Fair(LivenessRule::FllB)])
        {
            if method.supports(&model, id).is_err() {
                continue;
            }
            let found = verdict(&method, &model, id);
            let wrong = |what: String| Err(format!("{}: {what}", method.name()));
            match &found {
                Verdict::Violated(Evidence::Trace(trace)) => {
                    audit::replay(&model, id, trace).map_err(|error| format!("{}: {error}", method.name()))?;
                }
                Verdict::Unknown(StopReason::PropertyError(_)) if has_fault => {}
                Verdict::Unknown(_) if method.method != Symbolic::Global => {}
                Verdict::Unknown(stop) if has_two_choices(method, stop) => {}
                Verdict::Holds(_) if has_fault => return wrong(format!("no value, but {found:?}")),
                Verdict::Holds(_) => {
                    let property = &model.properties[id];
                    let expected = audit::temporal::is_violated(&model, &product.states, formula, &property.under);
                    if expected == Ok(Some(true)) {
                        return wrong("holds, but brute force finds a violation".to_owned());
                    }
                }
                other => return wrong(format!("{other:?}")),
            }
        }
        Ok(())
    });
    assert!(n_faulty.get() > 30, "only {} have no value somewhere", n_faulty.get());
}

/// All answers to the one invariant of a program, as short words.
pub fn words(text: &str) -> Vec<&'static str> {
    let model = lang::load(&SourceFile::new("test.pw", text), &[]).expect("the program is right").model;
    let is_asked = |id: &PropertyId| matches!(model.properties[*id].kind, PropertyKind::Invariant(_));
    let id = model.properties.ids().find(is_asked).expect("there is one");
    let word = |method: Symbolic| match verdict(&method, &model, id) {
        Verdict::Holds(_) => "holds",
        Verdict::Violated(_) => "violated",
        Verdict::Unknown(StopReason::PropertyError(_)) => "no value",
        Verdict::Unknown(_) => "open",
    };
    METHODS.map(word).to_vec()
}

/// The first part has no value where the second is false.
#[test]
fn issue_0012_a_state_without_a_value_violates_nothing() {
    let text = "program s { shared a: 0..=3; process P { loop { s: a = 0; } } invariant q: 6 / a > 1 && false; }";
    assert_eq!(words(text), ["no value", "no value", "open", "open", "no value"]);
}

/// The instance that holds comes first: the one without a value is never looked at.
#[test]
fn an_instance_that_is_not_looked_at_needs_no_value() {
    let text = "program s { shared a: [0..=3; 2] = [3, 0]; shared b: bool = true;
                process P { loop { s: b = true; t: a[0] = 3; } }
                invariant q: (exists i in 0..=1: 6 / a[i] > 1) => b; }";
    assert_eq!(words(text), ["holds"; 5]);
}

/// The last state is false for `i = 0`; before it there are states without a value.
#[test]
fn a_violation_is_found_behind_states_without_a_value() {
    let text = "program s { shared a: [0..=3; 2] = [1, 1];
                process P { s: a[1] = 0; t: a[0] = 0; u: a[0] = 3; }
                invariant q: forall i in 0..=1: 6 / a[i] > 3; }";
    assert_eq!(words(text)[..2], ["violated", "violated"]);
    assert_eq!(words(text)[4], "violated");
}
