//! What an instance keeps of its parameters: their bounds, the sizes of families, and where its numbers come from.

use base::SourceFile;
use model::Model;
use model::control::StmtKind;
use model::eval::{State, initial_states, steps};
use model::print;
use model::property::PropertyKind;
use model::size::{Linear, Size};
use model::symmetry::asymmetries;

fn load(text: &str, n: i64) -> Model {
    let source = SourceFile::new("test.pw", text);
    lang::load(&source, &[("N".to_string(), n)]).unwrap_or_else(|wrong| panic!("{wrong:?}")).model
}

/// The guards and values that the actions have, as text; those of the template as they were written.
fn texts(model: &Model) -> Vec<String> {
    let mut found = Vec::new();
    for action in &model.actions {
        found.extend(action.guard.iter().map(|guard| print::expr(model, guard)));
        for statement in &action.body {
            if let StmtKind::Assign(stores) = &statement.kind {
                found.extend(stores.iter().map(|(_, value)| print::expr(model, value)));
            }
        }
    }
    found
}

#[test]
fn parameters_keep_the_values_that_they_may_have() {
    let text = "program p(N: 2..=9, K: N..) { shared x: 0..<N; process A { x = K - N; } }";
    let model = load(text, 4);
    let shown: Vec<String> = model
        .parameters
        .iter()
        .map(|one| format!("{} = {} of {}..={:?} {}", one.name, one.value, one.least, one.greatest, one.given))
        .collect();
    assert_eq!(shown, ["N = 4 of 2..=Some(9) true", "K = 4 of 4..=None false"]);
}

#[test]
fn families_keep_how_their_size_was_written() {
    let text = "program p(N: 2.., K: 2..) { const M = 2 * N; process One { skip; } process Two[i in 0..<2] { skip; } \
        process Some[i in 0..<N] { skip; } process Late[i in 1..=N] { skip; } process More[i in 0..<M + 1] { skip; } \
        process Odd[i in 0..<N * K] { skip; } }";
    let model = load(text, 2);
    let sizes: Vec<String> = model.families.iter().map(|family| format!("{:?}", family.size)).collect();
    assert_eq!(sizes[..4], ["One", "Fixed(2)", "Parameter(#0)", "Parameter(#0)"]);
    assert_eq!(sizes[4], "Linear(Linear { constant: 1, multiples: {#0: 2} })");
    assert!(
        matches!(&model.families.as_slice()[5].size, Size::Computed(count) if print::expr(&model, count) == "N * K - 1 - 0 + 1")
    );
    assert!(model.forms.first_indices.is_empty());
}

#[test]
fn expressions_stay_as_written_in_the_template_and_are_computed_in_the_instance() {
    let text = "program p(N: 2..) { const last = N - 1; shared x: 0..<N + 5; shared a: [bool; N]; \
        process P[i in 0..<N] { await i == last; await i < 2; x = (i + 1) % N; x = 2 * N + 1; x = 1 + 2; a[(i + 1) % N] = true; } }";
    let model = load(text, 3);
    assert_eq!(texts(&model), ["i == 2", "i < 2", "(i + 1) % 3", "7", "3", "true"]);
    assert_eq!(texts(model.template()), ["i == N - 1", "i < 2", "(i + 1) % N", "2 * N + 1", "3", "true"]);
    let (_, bounds) = model.forms.bounds.iter().next().unwrap();
    assert_eq!(print::expr(&model, &bounds.greatest), "N + 5 - 1");
    let (&(var, dimension), _) = model.forms.lengths.iter().next().unwrap();
    assert_eq!(model.length_form(var, dimension), model.families.as_slice()[0].size.linear());
    assert!(model.template().template.is_none());
}

#[test]
fn a_constant_that_counts_processes_or_is_long_still_depends_on_its_parameter() {
    let sum = vec!["N"; 200].join(" + ");
    let text = format!(
        "program p(N: 2..) {{ const all = count(i: true); const long = {sum}; const few = 3; \
         shared x: 0..=9999; process P[i in 0..<N] {{ x = all; x = long; x = few; }} }}"
    );
    let model = load(&text, 3);
    assert_eq!(texts(&model), ["3", "600", "3"]);
    assert_eq!(texts(model.template()), ["if N == 3 then 3 else 3", "if N == 3 then 600 else 600", "3"]);
    assert_eq!(opaque(&model), ["N"]);
}

/// The parameters of which it is not kept what constants are computed from them.
fn opaque(model: &Model) -> Vec<&str> {
    model.forms.opaque.iter().map(|&id| model.parameters[id].name.as_str()).collect()
}

#[test]
fn a_constant_depends_on_all_that_it_is_computed_from_and_on_nothing_else() {
    let program = |constant: &str| {
        let text = format!(
            "program p(N: 2.., M: 2..) {{ const K = {constant}; shared x: 0..=9; \
             process P[i in 0..<N] {{ x = K; }} process Q[j in 0..<M] {{ skip; }} }}"
        );
        load(&text, 3)
    };
    assert!(opaque(&program("N + M")).is_empty());
    assert!(opaque(&program("count(k in 0..<4: k > 1)")).is_empty());
    assert_eq!(opaque(&program("count(j in Q: j > 0)")), ["M"]);
    assert_eq!(opaque(&program("count(j in Q: j < N)")), ["N", "M"]);
    let model = program("count(i in P: true) + count(j in Q: true)");
    assert_eq!(opaque(&model), ["N", "M"]);
    assert_eq!(texts(model.template())[0], "if M == 2 then (if N == 3 then 5 else 5) else 5");
}

/// How many processes a family has is known before any process is; a range of numbers that happens to be that of a family is none yet.
#[test]
fn the_size_of_a_family_does_not_go_through_processes() {
    let program = |count: &str| {
        format!(
            "program p(N: 2..) {{ const K = {count}; process Q[j in 0..<K] {{ skip; }} process P[i in 0..<N] {{ skip; }} }}"
        )
    };
    let model = load(&program("count(k in 0..<N: k > 0)"), 4);
    assert_eq!(model.families.iter().map(|family| family.count()).collect::<Vec<_>>(), [3, 4]);
    let source = SourceFile::new("sizes.pw", program("count(i in P: i > 0)"));
    let wrong = lang::load(&source, &[]).unwrap_err();
    assert!(wrong.iter().any(|one| one.message.contains("cannot depend on the processes")), "{wrong:?}");
}

#[test]
fn questions_and_fairness_keep_their_parameters() {
    let text = "program p(N: 2..) { process P[i in 0..<N] { loop { a: skip; } } invariant k: count(i: P[i]@a) <= N; \
        property l: always eventually P[N - 1]@a under weak P[*], strong P[0]@a; }";
    let model = load(text, 2);
    let PropertyKind::Invariant(of) = &model.template().properties.iter().find(|one| one.name == "k").unwrap().kind
    else {
        panic!("it is an invariant")
    };
    assert_eq!(print::expr(model.template(), of), "count(i: P[i]@a) <= N");
    let for_each: Vec<bool> = model.fairness.ids().map(|id| model.forms.for_each.contains(&id)).collect();
    assert_eq!(for_each, [true, true, false]);
}

#[test]
fn an_array_is_for_the_family_only_if_it_is_so_at_every_size() {
    let program = |length: &str, size: &str| {
        format!(
            "program p(N: 2..) {{ shared a: [bool; {length}]; process P[i in 0..<{size}] {{ a[i] = true; }} \
             process Other[j in 0..<N] {{ skip; }} }}"
        )
    };
    for (length, size, alike) in [
        ("N", "N", true),
        ("2", "2", true),
        ("N", "2", false),
        ("2", "N", false),
        ("2 * N - 2", "N", false),
        ("N + N", "2 * N", true),
    ] {
        let model = load(&program(length, size), 2);
        let family = model.families.ids().next().unwrap();
        assert_eq!(asymmetries(&model, family).is_empty(), alike, "[bool; {length}] and 0..<{size}");
    }
}

#[test]
fn numbers_are_sums_of_parameters_or_not() {
    let text =
        "program p(N: 2.., K: 1..) { shared a: [bool; 3 - (K - 2 * N)]; shared b: [bool; N * N]; process P { skip; } }";
    let model = load(text, 3);
    let forms: Vec<Option<Linear>> = model.forms.lengths.values().map(Linear::of).collect();
    let (Some(sum), None) = (&forms[0], &forms[1]) else { panic!("{forms:?}") };
    assert_eq!(format!("{sum:?}"), "Linear { constant: 3, multiples: {#0: 2, #1: -1} }");
    assert_eq!(sum.value(&model.parameters), Some(8));
}

/// Every state that is reached within so many, with its successors.
fn states(model: &Model, most: usize) -> Vec<(State, Vec<Option<State>>)> {
    let mut open: Vec<State> = initial_states(model).take(3).collect();
    let mut found: Vec<(State, Vec<Option<State>>)> = Vec::new();
    while let Some(state) = open.pop() {
        if found.len() == most || found.iter().any(|(known, _)| *known == state) {
            continue;
        }
        let next: Vec<Option<State>> = steps(model, &state).into_iter().map(|step| step.result.ok()).collect();
        open.extend(next.iter().flatten().cloned());
        found.push((state, next));
    }
    found
}

#[test]
fn the_template_of_every_example_means_the_same_at_its_size() {
    let mut n_templates = 0;
    for entry in std::fs::read_dir("../../examples").expect("the examples are there") {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|suffix| suffix != "pw") {
            continue;
        }
        let source = SourceFile::new(path.display().to_string(), std::fs::read_to_string(&path).unwrap());
        let model = lang::load(&source, &[]).unwrap().model;
        n_templates += usize::from(model.template.is_some());
        assert_eq!(states(&model, 60), states(model.template(), 60), "{}", path.display());
    }
    assert!(n_templates > 40, "{n_templates} examples have parameters");
}
