//! What an instance keeps of its parameters: their bounds, the sizes of families, and where its numbers come from.

use base::SourceFile;
use model::Model;
use model::control::StmtKind;
use model::eval::{State, initial_states, steps};
use model::print;
use model::property::PropertyKind;
use model::size::{Linear, Size};
use model::symmetry::asymmetries;
use model::variable::Init;

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

/// At another size the assumption is about another process: no proof for every size may take it for one about this process.
#[test]
fn an_assumption_belongs_to_a_process_only_if_it_does_at_every_size() {
    let owned = |under: &str| {
        let text = format!(
            "program p(N: 2.., K: 0..) {{ const last = N - 1; const all = count(i in P: true); process P[i in 0..<N] {{ loop {{ a: skip; }} }} \
             process Q[j in 0..<2] {{ loop {{ b: skip; }} }} process R {{ loop {{ c: skip; }} }} \
             property l: always eventually P[0]@a under {under}; }}"
        );
        let model = load(&text, 2);
        let written = model.template().fairness.iter().map(|pair| (pair.name.clone(), pair.owner.is_some()));
        written.collect::<Vec<_>>()
    };
    let named = |pairs: &[(&str, bool)]| pairs.iter().map(|&(name, is)| (name.to_owned(), is)).collect::<Vec<_>>();
    assert_eq!(owned("weak P[0], every R"), named(&[("weak P[0]", true), ("every R", true)]));
    assert_eq!(owned("weak P[N - 2], strong Q[1]"), named(&[("weak P[0]", false), ("strong Q[1]", true)]));
    assert_eq!(owned("weak P[last], weak Q[K]"), named(&[("weak P[1]", false), ("weak Q[0]", false)]));
    assert_eq!(owned("strong Q[all - 1]@b"), named(&[("strong Q[1]@b", false)]));
    // Written in both ways, it is one assumption.
    assert_eq!(owned("weak P[0] or weak P[N - 2]"), named(&[("weak P[0]", false)]));
    assert_eq!(owned("weak P[N - 2] or weak P[*]"), named(&[("weak P[0]", false), ("weak P[1]", true)]));
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

/// What is kept of a program for every size, in words: all but numbers of which the forms say how they are computed, and lists of initial values.
fn kept(model: &Model) -> Vec<String> {
    let written = model.template();
    let forms = &written.forms;
    let mut found: Vec<String> = Vec::new();
    found.extend(written.actions.iter().map(|action| format!("{action:?}")));
    found.extend(written.places.iter().map(|place| format!("{place:?}")));
    found.extend(written.loops.iter().map(|counted| format!("{:?} {:?}", counted.domain, counted.body)));
    found.extend(written.properties.iter().map(|property| format!("{:?}", property.kind)));
    found
        .extend(written.families.iter().map(|family| format!("{:?} {:?} {:?}", family.size, family.entry, family.end)));
    found.push(format!("{:?} {:?} {:?}", forms.lengths, forms.bounds, forms.first_indices));
    for (id, var) in written.vars.entries() {
        let is_counter = written.loops.iter().any(|counted| counted.counter == id);
        let lengths = var.ty.dimensions().into_iter().enumerate();
        let lengths: Vec<_> = lengths.filter(|&(at, _)| !forms.lengths.contains_key(&(id, at))).collect();
        let values = (!is_counter && !forms.bounds.contains_key(&id)).then(|| var.ty.scalar());
        let init = (!matches!(var.init, Init::Elements(_))).then_some(&var.init);
        found.push(format!("{} {lengths:?} {values:?} {init:?}", var.name));
    }
    // Processes of other families have other numbers where there are more of the first ones.
    let named = |text: String| {
        let numbered = written.processes.entries();
        numbered.fold(text, |text, (id, process)| text.replace(&format!("Process({id:?})"), &process.name))
    };
    found.into_iter().map(named).collect()
}

fn assert_kept_alike(name: &str, text: &str, sizes: &[i64]) {
    let source = SourceFile::new("test.pw", text);
    let at = |size: i64| {
        let loaded = lang::load(&source, &[("N".to_owned(), size)]);
        kept(&loaded.unwrap_or_else(|wrong| panic!("{name}: {wrong:?}\n{text}")).model)
    };
    let first = at(sizes[0]);
    for &size in &sizes[1..] {
        let other = at(size);
        let differs = first.iter().zip(&other).find(|(one, other)| one != other);
        assert!(differs.is_none() && first.len() == other.len(), "{name}, N = {} and {size}: {differs:?}", sizes[0]);
    }
}

/// Proofs for every size are made of the template, so it must not depend on the size that the program was read at.
#[test]
fn the_template_of_every_example_is_the_same_whichever_size_it_is_read_at() {
    let mut n_read = 0;
    for entry in std::fs::read_dir("../../examples").expect("the examples are there") {
        let path = entry.unwrap().path();
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        if path.extension().is_none_or(|suffix| suffix != "pw") || !text.contains("(N: ") {
            continue;
        }
        n_read += 1;
        assert_kept_alike(&path.display().to_string(), &text, &[4, 5, 7]);
    }
    assert!(n_read > 60, "{n_read} examples have a size");
}

#[test]
fn the_template_is_the_same_whichever_size_it_is_read_at_however_the_size_gets_into_it() {
    let declarations = "const K = N - 1; enum E { u, v } type T = 0..<min(N, 3); struct R { n: 0..=N, b: bool, g: [0..=1; 2] } \
        define d(q) = q + N; shared x: 0..=9; shared h: pid(P)?; shared f: [bool; N]; shared s: set of 0..<N; shared y: [E; N]; \
        shared r: R; shared m: [[bool; 2]; N]; shared w: [[bool; N]; 2]; shared t: T; chan c: [N] of (bool); chan l[N]: [1] of (0..<N);";
    let tests = "N > 3; N % 2 == 0; (if N > 2 then x == 0 else x == 1); min(N, 3) == x; x in 0..<N; x in {1, N}; P[N - 1].o; P[N / 2].o; \
        P[min(N, 2) - 1].o; f[N - 1]; f[N - N]; f[1]; i == N / 2; i == N - 1; i == 1; i == 2; i < 2; i >= 2; i != N; h == N - 1; h == 1; h == 2; \
        h < i; f[h]; P[h].o; (i + 1) % N == h; (forall k in 1..<N: f[k]); (forall k in 0..<N: f[k]); (forall k in 0..=1: f[k]); (exists k in 0..<2: f[k]); \
        (exists k in 0..<3: x == k); count(k in 0..<N: k > 0) == x; count(k in 0..<3: f[k]) == 1; count(k in P: f[k]) > 1; (exists k in P: k == 2 && f[k]); \
        (exists k in P: k > 1); K == x; d(N) > 3; x < t; N == 3; x * N > 3; x / N == 0; -N < x; size(s) == N; N - 1 in s; i in s; 1 in s; s == {0, 1}; \
        y[i] == u; P[2].o; r.n == N; m[i][0]; m[0][1]; w[1][i]; len(c) == N; full(c); len(l[i]) == 1";
    let steps = "x = N; x = min(N, 3); x = any 0..<N; x = any; h = N - 1; h = 1; h = 2; h = (i + 1) % N; h = any; h = any 0..=1; \
        f[N - 1] = true; f[2] = true; x = if i == 0 then N else 1; x = i; insert s(N - 1); insert s(i); s = {0, 1}; s = {}; r.n = N; \
        r.g[1] = 1; y[i] = u; y[0], y[1] = y[1], y[0]; m[i][0] = true; w[0][i] = true; x = count(k in P: f[k]); assert x < N; \
        send c(true); receive c(_); send l[i](0); receive l[N - 1](= 1)";
    let blocks = [
        "for k in 0..<N { f[k] = true; }",
        "for k in P { f[k] = true; }",
        "for k in 0..<3 { f[k] = true; }",
        "for k in 0..<N - 1 { f[k] = true; }",
        "for k in s { remove s(k); }",
        "atomic { for k in 0..<N { f[k] = true; } }",
        "atomic { for k in P { f[k] = k == 0; } }",
        "atomic { for k in 0..<3 { f[k] = true; } }",
        "atomic { for k in 1..<N { f[k] = true; } }",
        "atomic { for k in s { remove s(k); } }",
        "some k in 0..<N where f[k] { f[k] = false; }",
        "some k in P where f[k] { h = k; }",
        "some k in 0..<2 where f[k] { x = k; }",
        "some k in s { remove s(k); }",
        "if cas(h, i, N - 1) { skip; }",
        "if cas(x, N, 0) { skip; }",
        "atomic { let a = N - 1; x = a; }",
        "while x < N { x = x + 1; }",
        "either { await x > N; } or { await f[N - 1]; } else { x = 0; }",
        "if N > 3 { x = 1; } else { x = 2; }",
        "while N > 3 { x = 1; }",
        "either { for k in 0..<N { f[k] = true; } } or { skip; }",
    ];
    let tests =
        tests.split("; ").flat_map(|test| [format!("await {test};"), format!("atomic {{ if {test} {{ x = 1; }} }}")]);
    let steps = steps.split("; ").map(|step| format!("{step};"));
    for statement in tests.chain(steps).chain(blocks.map(str::to_owned)) {
        let text = format!(
            "program p(N: 3..) {{ {declarations} process P[i in 0..<N] {{ public o: bool; a: {statement} }} process Q[q in 0..<2] {{ skip; }} }}"
        );
        assert_kept_alike(&statement, &text, &[3, 4, 6]);
    }
}
