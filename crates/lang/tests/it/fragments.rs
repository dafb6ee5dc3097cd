//! The fragments of programs for which there can be proofs for every size: every example, and small programs for each rule.

use base::SourceFile;
use model::template::{self, FragmentReason};

const DOCUMENT: &str = "../../docs/fragments.md";

const HEAD: &str = "\
# Which examples can be proved for every size

Three fragments of the language are made for proofs for every N (`model::template`). In a *symmetric* program the processes of the one family
of size N are interchangeable and N is no number of the program; a loop over all of them is a scan; the first one or two may be *named*, as by `i == 0`, and are not like the others. In a program of *neighbours* each
process touches only what stands at fixed distances from it, as in a ring or a chain, or what belongs to itself, to its parent and to its children in a *tree*. The table says of each example whether its
text is in a fragment, and otherwise what stands in the way, line by line (the first three reasons). It is made by a test.

| example | symmetric | neighbours |
|---|---|---|
";

fn reasons(source: &SourceFile, reasons: &[FragmentReason]) -> String {
    let one = |reason: &FragmentReason| match reason.span.is_empty() {
        true => reason.text.clone(),
        false => format!("line {}: {}", source.line_col(reason.span.start).line, reason.text),
    };
    let mut all: Vec<String> = reasons.iter().map(one).collect();
    all.dedup();
    let rest = all.len().saturating_sub(3);
    all.truncate(3);
    let more = if rest > 0 { format!("; {rest} more") } else { String::new() };
    all.join("; ") + &more
}

/// What is in the two columns of a program.
fn columns(source: &SourceFile) -> (String, String) {
    let model = lang::load(source, &[]).unwrap_or_else(|wrong| panic!("{wrong:?}")).model;
    let beside = (1..=2).find_map(|n_named| Some((template::symmetric_beside(&model, n_named).ok()?, n_named)));
    let symmetric = match template::symmetric(&model).map(|found| (found, 0)).or_else(|why| beside.ok_or(why)) {
        Err(found) => reasons(source, &found),
        Ok((found, n_named)) => {
            let names = |ids: Vec<&str>| ids.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            let vars = |ids: &std::collections::BTreeSet<model::variable::VarId>| {
                names(ids.iter().map(|&id| model.vars[id].name.as_str()).collect())
            };
            let mut parts = vec!["**yes**".to_owned()];
            let family = &model.families[found.sized.family];
            let named: Vec<&str> =
                family.processes().take(n_named).map(|id| model.processes[id].name.as_str()).collect();
            parts.extend((n_named > 0).then(|| format!("named: {}", names(named))));
            parts.extend(found.is_ordered.then(|| "ordered".to_owned()));
            parts.extend((!found.scans.is_empty()).then(|| format!("scans: {}", found.scans.len())));
            parts.extend((!found.owned.is_empty()).then(|| format!("owned: {}", vars(&found.owned))));
            parts.extend(
                (!found.start_anywhere.is_empty()).then(|| format!("start anywhere: {}", vars(&found.start_anywhere))),
            );
            let data: Vec<&str> = found.data.iter().map(|&id| model.parameters[id].name.as_str()).collect();
            parts.extend((!data.is_empty()).then(|| format!("data: {}", names(data))));
            parts.join("; ")
        }
    };
    let neighbours = match template::neighbours(&model) {
        Err(_) if template::has_branches(&model) && template::tree(&model).is_ok() => "**yes**: tree".to_owned(),
        Err(found) => reasons(source, &found),
        Ok(found) => {
            let offsets: Vec<String> = found.offsets.iter().map(i64::to_string).collect();
            let seam = if found.has_seam { "ring" } else { "chain" };
            let tests: Vec<String> = found.tests.iter().map(|test| format!("{test:?}")).collect();
            let tests = if tests.is_empty() { String::new() } else { format!("; tests: {}", tests.join(", ")) };
            let naming: Vec<String> =
                found.naming.iter().map(|&id| format!("`{}`", model.template().vars[id].name)).collect();
            let naming =
                if naming.is_empty() { String::new() } else { format!("; names a process: {}", naming.join(", ")) };
            format!("**yes**: {seam}, offsets {}{tests}{naming}", offsets.join(", "))
        }
    };
    (symmetric, neighbours)
}

fn of(text: &str) -> (String, String) {
    columns(&SourceFile::new("t.pw", text))
}

#[test]
fn the_examples_are_in_the_fragments_that_the_document_says() {
    let mut paths: Vec<_> = std::fs::read_dir("../../examples")
        .expect("the examples are there")
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    let mut text = HEAD.to_owned();
    for path in paths.iter().filter(|path| path.extension().is_some_and(|suffix| suffix == "pw")) {
        let source = SourceFile::new(path.display().to_string(), std::fs::read_to_string(path).unwrap());
        let (symmetric, neighbours) = columns(&source);
        text += &format!("| {} | {symmetric} | {neighbours} |\n", path.file_stem().unwrap().to_string_lossy());
    }
    if testkit::blessed::is_on() {
        std::fs::write(DOCUMENT, &text).unwrap();
    }
    assert_eq!(std::fs::read_to_string(DOCUMENT).unwrap_or_default(), text, "run again with BLESS=1");
}

#[test]
fn interchangeable_processes_are_symmetric_and_what_tells_them_apart_is_named() {
    let check = |body: &str, expected: &str| {
        let program = format!(
            "program p(N: 3.., K: 1..) {{ shared turn: pid?; shared x: 0..=9; shared a: [bool; N]; shared two: [bool; 2]; \
             process P[i in 0..<N] {{ local j: pid; public n: 0..=K; {body} }} }}"
        );
        assert_eq!(of(&program).0, expected, "{body}");
    };
    check("turn = i; a[i] = true; await turn != i;", "**yes**; owned: `a`; start anywhere: `j`; data: `K`");
    check("await forall k: k == i || !a[k];", "**yes**; owned: `a`; start anywhere: `j`; data: `K`");
    check("for k in 0..<N { await !a[k]; }", "**yes**; scans: 1; owned: `a`; start anywhere: `j`; data: `K`");
    check("await forall k: k < i => !a[k];", "**yes**; ordered; owned: `a`; start anywhere: `j`; data: `K`");
    check("a[j] = true;", "**yes**; start anywhere: `j`; data: `K`");
    check("await i == 0;", "**yes**; named: `P[0]`; owned: `a`; start anywhere: `j`; data: `K`");
    check("await a[1] || a[i];", "**yes**; named: `P[0]`, `P[1]`; owned: `a`; start anywhere: `j`; data: `K`");
    check("await i < 2;", "**yes**; named: `P[0]`, `P[1]`; owned: `a`; start anywhere: `j`; data: `K`");
    check("await i == 2;", "line 1: `P[2]` is named: it is not like the others");
    check("await i < 3;", "line 1: the index of a process is used as a number: its neighbours are not like the others");
    check(
        "await i == N - 1;",
        "line 1: `P[N - 1]` is named: it is not like the others; line 1: `N` is used as a number",
    );
    check("x = N;", "line 1: `N` is used as a number");
    check(
        "two[i] = true;",
        "line 1: the index of a process is used as a number: its neighbours are not like the others",
    );
}

#[test]
fn what_counts_with_the_size_is_outside() {
    let program = |declared: &str| format!("program p(N: 2..) {{ {declared} process P[i in 0..<N] {{ skip; }} }}");
    let check = |declared: &str, expected: &str| assert_eq!(of(&program(declared)).0, expected, "{declared}");
    check("shared x: 0..=N;", "line 1: the values of `x` depend on `N`");
    check("shared s: sem(N);", "line 1: the values of `s` depend on `N`");
    check("shared a: [bool; N + 1];", "line 1: the length of `a` depends on `N`");
    check("process Q[j in 0..<N] { skip; }", "line 1: `P` is a second family whose size is a parameter");
    check(
        "process Q[j in 0..<N + 1] { skip; }",
        "line 1: the size of `Q` is computed from parameters, and is not a parameter itself",
    );
    assert_eq!(of("program p { process P[i in 0..<2] { skip; } }").0, "no family has a parameter for its size");
}

#[test]
fn rings_and_chains_are_programs_of_neighbours() {
    let check = |body: &str, expected: &str| {
        let program = format!(
            "program p(N: 3..) {{ shared x: bool; shared a: [bool; N]; \
             process P[i in 0..<N] {{ public n: bool; {body} }} process Q[k in 0..<2] {{ skip; }} }}"
        );
        assert_eq!(of(&program).1, expected, "{body}");
    };
    check("a[i] = x;", "**yes**: chain, offsets 0");
    check("a[(i + 1) % N] = true; await a[(i + N - 1) % N];", "**yes**: ring, offsets -1, 0, 1");
    check("if i < N - 1 { a[i + 1] = true; }", "**yes**: chain, offsets 0, 1; tests: FromRight(1)");
    check(
        "await P[(i + 2) % N].n; await i == 0 || i % 2 == 1;",
        "**yes**: ring, offsets 0, 2; tests: FromLeft(0), Residue(2)",
    );
    check("await i == N - 1; await N - 2 <= i;", "**yes**: chain, offsets 0; tests: FromRight(1), FromRight(2)");
    check("await i >= 2;", "**yes**: chain, offsets 0; tests: FromLeft(2)");
    check("a[0] = true;", "line 1: `a` is indexed by something else than `i` and a fixed distance");
    check("a[(2 * i) % N] = true;", "line 1: `a` is indexed by something else than `i` and a fixed distance");
    check(
        "await exists j in P: a[j];",
        "line 1: all processes of `P` are looked at, not only neighbours; line 1: `a` is indexed by something else than `i` and a fixed distance",
    );
    check("await count(q in Q: x) < N;", "line 1: `N` is used as a number");
    check("await i + i < N;", "line 1: the index of a process is a value here; line 1: `N` is used as a number");
}

#[test]
fn trees_name_parents_and_children() {
    let check = |body: &str, is_tree: bool| {
        let program =
            format!("program p(N: 3..) {{ shared a: [bool; N]; process P[i in 0..<N] {{ public n: bool; {body} }} }}");
        assert_eq!(of(&program).1 == "**yes**: tree", is_tree, "{body}: {}", of(&program).1);
    };
    check("if 2 * i + 1 < N { a[2 * i + 1] = true; } await i == 0 || a[(i - 1) / 2];", true);
    check("if 2 * i + 2 < N { await P[2 * i + 2].n; } else { await i % 2 == 1; }", true);
    check("await a[if i > 0 then (i - 1) / 2 else i] || N <= 2 * i + 1 || 2 * i + 2 == N;", true);
    check("await a[i / 2];", false);
    check("await a[(i - 1) / 2] || i == 1;", false);
    check("await a[(i - 1) / 2] || 2 * i < N;", false);
    check("await a[(i - 1) / 2] || 2 * i + 1 == N;", false);
    check("await a[(i - 1) / 2] || i % 3 == 1;", false);
    check("await a[(i - 1) / 2] || a[i + 1];", false);
    check("await a[2 * i + 3];", false);
    check("a[2 * i + 1] = i > 2;", false);
}
