//! Programs in Promela are read back with the same states.

use std::collections::HashSet;

use crate::common::{Example, examples, load};
use export::{TargetLanguage, export};
use model::Model;
use testkit::Product;

/// States, from which to which somebody leads, and how many states are initial; `None` where something fails: then the text has a state more.
fn sizes(model: &Model) -> Option<(usize, usize, usize)> {
    let product = Product::explore(model, 20_000).filter(|product| product.n_faults() == 0)?;
    let targets = product.edges.iter().map(|edges| edges.iter().map(|(_, to)| to).collect::<HashSet<_>>().len());
    Some((product.states.len(), targets.sum(), model::eval::initial_states(model).count()))
}

/// Compares a program with what comes back; `None` where it is refused or too large.
fn compare(one: &Example) -> Option<()> {
    let text = export(&one.model, &one.source, TargetLanguage::Promela).ok()?;
    let (n_states, n_moves, n_initial) = sizes(&one.model)?;
    // Where there are several, the text begins with a choice of one.
    let expected = if n_initial == 1 { (n_states, n_moves, 1) } else { (n_states + 1, n_moves + n_initial, 1) };
    let back = load("back.pml", &text, &[]);
    assert_eq!(sizes(&back.model), Some(expected), "{}: states, moves, initial states\n{text}", one.name);
    Some(())
}

#[test]
fn examples_come_back() {
    let compared = examples().iter().filter_map(compare).count();
    assert!(compared >= 60, "only {compared} examples were compared");
}

/// SPIN reads no empty loops, and such a process waits for ever.
#[test]
fn a_process_without_steps_comes_back() {
    let text = "byte x; proctype P() { x++ } init { atomic { run P(); run P() } }";
    let read = load("still.pml", text, &[]);
    let written = export(&read.model, &read.source, TargetLanguage::Promela).unwrap();
    assert!(written.contains(":: false"), "{written}");
    let back = load("back.pml", &written, &[]);
    assert_eq!(sizes(&back.model), sizes(&read.model), "{written}");
}

/// `pan -f` has room for six processes, with those that the exported text adds, unless it is told that there are more.
#[test]
fn many_processes_under_weak_fairness_say_how_pan_is_compiled() {
    let text = "program turns(N: 2..) { shared t: [bool; N];
        process P[i in 0..<N] { loop { a: t[i] = true; b: t[i] = false; } }
        property p: always eventually P[0]@b under weak P[*]; }";
    for (size, words) in [(4, "-DNOREDUCE -o"), (5, "-DNFAIR=3 -o"), (8, "-DNFAIR=3 -o"), (9, "-DNFAIR=4 -o")] {
        let read = load("turns.pw", text, &[("N".to_owned(), size)]);
        let written = export(&read.model, &read.source, TargetLanguage::Promela).unwrap();
        assert!(written.contains(words), "N = {size}: {written}");
    }
}
