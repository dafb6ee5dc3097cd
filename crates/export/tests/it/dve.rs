//! Programs in DVE are read back with the same states and steps.

use std::collections::HashSet;

use crate::common::{Example, examples, load};
use export::{TargetLanguage, export};
use testkit::Product;

/// States, who leads from which to which, states without any step, and whether something fails. How many statements do the same is not
/// compared: a statement with choices inside is several transitions in DVE.
fn sizes(one: &Example) -> Option<(usize, usize, usize, bool)> {
    let product = Product::explore(&one.model, 20_000)?;
    let is_last = |at: &usize| product.edges[*at].is_empty() && product.faults[*at].is_empty();
    let n_last = (0..product.states.len()).filter(is_last).count();
    let n_moves = product
        .edges
        .iter()
        .map(|edges| edges.iter().map(|(by, to)| (by.process, to)).collect::<HashSet<_>>().len())
        .sum();
    Some((product.states.len(), n_moves, n_last, product.n_faults() > 0))
}

/// Compares a program with what comes back; `None` where it is refused or too large.
fn compare(one: &Example) -> Option<()> {
    let text = export(&one.model, &one.source, TargetLanguage::Dve).ok()?;
    let before = sizes(one)?;
    let back = load("back.dve", &text, &[]);
    assert_eq!(before, sizes(&back)?, "{}: states, transitions, ends, faults\n{text}", one.name);
    Some(())
}

#[test]
fn examples_come_back() {
    let compared = examples().iter().filter_map(compare).count();
    assert!(compared >= 40, "only {compared} examples were compared");
}

#[test]
fn dve_comes_back_through_rendezvous_and_committed_locations() {
    let text = "byte x = 3; byte a[2] = {1, 2}; int y; channel c, d; channel {byte} q[2];
process P { byte l; state s, t, u; init s; commit u;
  trans s -> t { guard x > 0; sync c!x + a[0]; effect x = x - 1, l = x; },
        t -> u { sync d?l; effect y = l * 2; }, u -> s { effect a[1] = x; }; }
process Q { byte m; state s, t; init s;
  trans s -> t { sync c?a[x % 2]; effect m = a[0], y = m - 7; }, t -> s { guard m < 9; sync d!m; effect m = m + 1; },
        t -> t { guard x == 1; sync q!x; }; }
process R { byte r; state s, t; init s; assert t: r > 0;
  trans s -> t { sync q?r; }, t -> s { guard P.s && not Q.s; }; }
system async;
";
    assert_eq!(compare(&load("all.dve", text, &[])), Some(()));
}

#[test]
fn an_automaton_goes_back_as_one() {
    let text = "byte x;
process P { state s; init s; trans s -> s { guard x < 3; effect x = x + 1; }; }
process never_two { state a, b; init a; accept b; trans a -> a {}, a -> b { guard x == 2; }, b -> b { guard P.s; }; }
system async property never_two;
";
    let one = load("one.dve", text, &[]);
    let back = export(&one.model, &one.source, TargetLanguage::Dve).unwrap();
    assert!(back.contains("accept b;") && back.contains("system async property never_two;"), "{back}");
    assert_eq!(load("back.dve", &back, &[]).model.properties.len(), one.model.properties.len());
}

#[test]
fn random_programs_come_back() {
    let n_compared = std::cell::Cell::new(0);
    let shape = testkit::RandomFeatures { any_initial: false, ..testkit::RandomFeatures::everything() };
    testkit::for_each_program(300, shape, |_, model| {
        let source = base::SourceFile::new("random.pw", "");
        let one = Example { name: "random".to_owned(), source, model: model.clone() };
        let Ok(text) = export(&one.model, &one.source, TargetLanguage::Dve) else { return Ok(()) };
        let Some(before) = sizes(&one) else { return Ok(()) };
        let after = sizes(&load("back.dve", &text, &[]));
        n_compared.set(n_compared.get() + 1);
        if after == Some(before) { Ok(()) } else { Err(format!("{before:?} became {after:?}\n{text}")) }
    });
    assert!(n_compared.get() > 100, "only {} programs were compared", n_compared.get());
}
