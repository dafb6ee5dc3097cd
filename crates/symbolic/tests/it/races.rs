//! Races: what each process of a step touches, in a rendezvous the sender and the receiver apart, beside brute force.

use std::cell::Cell;

use base::{Budget, SourceFile, Span};
use engine::{Engine, Silent, Task, Verdict};
use model::Model;
use model::eval;
use model::fairness::Assumptions;
use model::property::{Expected, Property, PropertyKind};
use model::variable::{Storage, VarId};
use symbolic::engines::Symbolic;
use symbolic::reach::SearchDirection;
use testkit::{Beyond, Product, RandomFeatures, for_each_program};

const METHODS: [Symbolic; 4] = [
    Symbolic::Reach(SearchDirection::Forward),
    Symbolic::Reach(SearchDirection::Backward),
    Symbolic::KIndex(1),
    Symbolic::Completion,
];

const WITH_RENDEZVOUS: RandomFeatures = RandomFeatures {
    procedures: false,
    rendezvous: true,
    any_initial: true,
    faults: true,
    n_statements: 3,
    beyond: Beyond::NOTHING,
};

/// The program with a question for each shared variable.
fn asked(bare: &Model) -> Model {
    let mut model = bare.clone();
    let shared: Vec<VarId> =
        model.vars.ids().filter(|&var| matches!(model.vars[var].storage, Storage::Shared)).collect();
    for var in shared {
        let (kind, under) = (PropertyKind::RaceFree(var), Assumptions::none());
        let (text, doc, span) = (String::new(), String::new(), Span::default());
        let name = format!("race_free {}", model.vars[var].name);
        model.properties.push(Property { name, kind, under, expected: Expected::Holds, text, doc, span });
    }
    model
}

/// How many questions hold and how many are violated by some method.
#[derive(Default)]
struct Decided {
    n_hold: Cell<usize>,
    n_violated: Cell<usize>,
}

impl Decided {
    /// Compares the answers with brute force.
    fn compare(&self, model: &Model, product: &Product) -> Result<(), String> {
        for method in METHODS {
            let is_race = |kind: &PropertyKind| matches!(kind, PropertyKind::RaceFree(_));
            let properties = model.properties.ids().filter(|&id| is_race(&model.properties[id].kind)).collect();
            let task = Task { model, properties, budget: Budget::unlimited(), n_threads: 1 };
            for answer in method.run(&task, &Silent).map_err(|error| error.to_string())? {
                let property = &model.properties[answer.property];
                let PropertyKind::RaceFree(var) = property.kind else { continue };
                let races = product.states.iter().any(|state| eval::race(model, state, var).is_some());
                let (count, is_right) = match answer.verdict {
                    Verdict::Holds(_) => (&self.n_hold, !races),
                    Verdict::Violated(_) => (&self.n_violated, races),
                    Verdict::Unknown(_) => continue,
                };
                count.set(count.get() + 1);
                if !is_right {
                    return Err(format!("{:?} on {}: {races}", method.method(), property.name));
                }
            }
        }
        Ok(())
    }
}

#[test]
fn receivers_race_as_brute_force_says() {
    let decided = Decided::default();
    for_each_program(80, WITH_RENDEZVOUS, |_, bare| {
        let Some(product) = Product::explore(bare, 400) else { return Ok(()) };
        decided.compare(&asked(bare), &product)
    });
    assert!(decided.n_hold.get() > 50, "only {} hold", decided.n_hold.get());
    assert!(decided.n_violated.get() > 50, "only {} are violated", decided.n_violated.get());
}

/// Two receivers of one sender, and a receiver beside another step of its sender, race; one receiver of two senders does not.
#[test]
fn receivers_of_one_sender_race() {
    for (processes, races) in [
        ("process P[i in 0..<2] { p: receive c(b); } process R { r: send c(true); }", true),
        ("process P { p: receive c(b); } process R { r: either { send c(true); } or { b = false; } }", true),
        ("process P { p: receive c(b); } process R[i in 0..<2] { r: send c(true); }", false),
        ("process P { p: receive c(b); } process R { r: send c(!b); }", false),
        ("process P { p: receive c(b); } process R { r: send c(true); } process Q { q: b = false; }", true),
    ] {
        let text = format!("program g {{ chan c: [0] of (bool); shared b: bool; {processes} allow deadlock; }}");
        let model = lang::load(&SourceFile::new("g.pw", &*text), &[]).expect("the program is right").model;
        let model = asked(&model);
        let product = Product::explore(&model, 400).expect("it is small");
        let decided = Decided::default();
        decided.compare(&model, &product).unwrap_or_else(|wrong| panic!("{processes}: {wrong}"));
        let (holds, violated) = (decided.n_hold.get(), decided.n_violated.get());
        assert!(
            if races { holds == 0 && violated >= 2 } else { holds == 4 && violated == 0 },
            "{processes}: {holds}, {violated}"
        );
    }
}
