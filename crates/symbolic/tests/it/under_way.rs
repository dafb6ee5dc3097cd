//! Steps over several actions, and actions that wait until nobody else can move: diagrams of the whole product follow them as the reference
//! semantics does.

use base::Budget;
use engine::{Engine, Silent, Task, Verdict};
use evidence::{Evidence, SymbolicSearch};
use symbolic::engines::Symbolic;
use symbolic::reach::SearchDirection;
use testkit::choices::Choices;
use testkit::{Beyond, Product, RandomFeatures, for_each_program};

use crate::engines::{configured, happens, has_two_choices, with_questions};
use crate::global::compare;

const SEARCHES: [Symbolic; 2] = [Symbolic::Reach(SearchDirection::Forward), Symbolic::Reach(SearchDirection::Backward)];

fn features(rendezvous: bool, beyond: Beyond) -> RandomFeatures {
    RandomFeatures { procedures: false, rendezvous, beyond, ..RandomFeatures::everything() }
}

/// Both searches decide whatever they support, as brute force does; says how many properties hold and are violated.
fn compare_searches(n_programs: u64, shape: RandomFeatures) -> [u32; 2] {
    let counts = std::cell::Cell::new([0, 0]);
    for_each_program(n_programs, shape, |_, bare| {
        let Some(product) = Product::explore(bare, 600) else { return Ok(()) };
        let model = with_questions(bare, &mut Choices::from_seed(product.states.len() as u64));
        for method in configured(&SEARCHES) {
            let properties = model.properties.ids().filter(|&id| method.supports(&model, id).is_ok()).collect();
            let task = Task { model: &model, properties, budget: Budget::unlimited(), n_threads: 1 };
            for answer in method.run(&task, &Silent).map_err(|error| error.to_string())? {
                let property = &model.properties[answer.property];
                let complaint = |what: &str| Err(format!("{} on {}: {what}", method.name(), property.name));
                let happens = happens(&model, &product, &property.kind);
                let mut now = counts.get();
                now[usize::from(happens)] += 1;
                counts.set(now);
                match answer.verdict {
                    Verdict::Unknown(stop) if has_two_choices(method, &stop) => {}
                    Verdict::Unknown(stop) => return complaint(&format!("undecided, {stop}")),
                    Verdict::Holds(Evidence::Trace(trace)) | Verdict::Violated(Evidence::Trace(trace)) if happens => {
                        if let Err(error) = audit::replay(&model, answer.property, &trace) {
                            return complaint(&error.to_string());
                        }
                    }
                    Verdict::Holds(Evidence::Symbolic(seen)) | Verdict::Violated(Evidence::Symbolic(seen))
                        if !happens =>
                    {
                        let SymbolicSearch::Whole { states } = seen else { return complaint("everything is searched") };
                        if states.is_some_and(|states| states != product.states.len() as u64) {
                            return complaint(&format!("{states:?} states, not {}", product.states.len()));
                        }
                    }
                    Verdict::Holds(Evidence::Certificate(_)) | Verdict::Violated(Evidence::Certificate(_))
                        if !happens => {}
                    _ => return complaint(&format!("it happens by brute force: {happens}")),
                }
            }
        }
        Ok(())
    });
    counts.get()
}

#[test]
fn searches_equal_brute_force() {
    for rendezvous in [false, true] {
        let [n_never, n_happens] = compare_searches(60, features(rendezvous, Beyond::everything()));
        assert!(n_never > 60 && n_happens > 60, "{n_never} never happen, {n_happens} do");
    }
}

#[test]
fn searches_equal_brute_force_where_only_the_mark_is_new() {
    let beyond = Beyond { when_nobody: true, ..Beyond::NOTHING };
    let [n_never, n_happens] = compare_searches(60, features(true, beyond));
    assert!(n_never > 60 && n_happens > 60, "{n_never} never happen, {n_happens} do");
}

#[test]
fn temporal_verdicts_equal_brute_force() {
    for rendezvous in [false, true] {
        let shape = RandomFeatures { n_statements: 3, ..features(rendezvous, Beyond::everything()) };
        let (n_holds, n_violated) = compare(120, shape);
        assert!(n_holds > 20 && n_violated > 20, "{n_holds} hold, {n_violated} are violated");
    }
}
