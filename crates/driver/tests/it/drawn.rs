//! Proofs about cells of 32 bits, which are checked with decision diagrams: shown for a program in which one word is another one,
//! so that the property is false. The checker refuses each.

use base::{Budget, SourceFile};
use driver::methods;
use engine::{Silent, Task, Verdict};
use evidence::Evidence;
use evidence::certificate::Certificate;
use model::Model;

/// A program with a wide cell and a proof, and a word of it: with another one the property is false.
struct WideRow {
    /// What the checker would not see.
    leaves_out: &'static str,
    /// What stands in the program beside `shared w: 0..=4294967295`.
    program: &'static str,
    proved: &'static str,
    word: &'static str,
    other: &'static str,
}

const WIDE_ROWS: [WideRow; 16] = [
    WideRow {
        leaves_out: "how the program starts",
        program: "shared x: 0..=4294967295 = 5; process P[i in 0..<2] { a: await x == 5 && w == 0; } invariant p: x == 5;",
        proved: "p",
        word: "4294967295 = 5;",
        other: "4294967295 = 6;",
    },
    WideRow {
        leaves_out: "that it may start anywhere",
        program: "shared x: 0..=4294967295 = 5; process P[i in 0..<2] { a: await x == 5 && w == 0; } invariant p: x == 5;",
        proved: "p",
        word: "4294967295 = 5;",
        other: "4294967295 = any;",
    },
    WideRow {
        leaves_out: "what steps write",
        program: "process P[i in 0..<2] { a: w = 5 * (i + 1); } invariant p: w in {0, 5, 10};",
        proved: "p",
        word: "5 *",
        other: "6 *",
    },
    WideRow {
        leaves_out: "what others write",
        program: "process A { a: await w == 5; c: skip; d: skip; } process B { s: w = 5; t: await w == 5; } invariant p: A@c => w == 5;",
        proved: "p",
        word: "t: await w == 5",
        other: "t: w = 70000",
    },
    WideRow {
        leaves_out: "what others write, where their own invariants allow it",
        program: "shared y: 0..=1 = 1;
            process A { either { a: atomic { await w == 5; y = 0; } c: skip; } or { e: await w == 70000; f: y = 0; } }
            process B { s: w = 5; t: atomic { await y == 1; w = 70000; } u: skip; }
            allow deadlock; invariant p: A@c => w == 5;",
        proved: "p",
        word: "y == 1;",
        other: "y <= 1;",
    },
    WideRow {
        leaves_out: "faults",
        program: "process P[i in 0..<2] { a: w = 70000; b: assert w <= 70000; }",
        proved: "no_errors",
        word: "w <= 70000",
        other: "w < 70000",
    },
    WideRow {
        leaves_out: "a choice of values",
        program: "process P[i in 0..<2] { a: w = any 3..=70000; } invariant p: w <= 70000;",
        proved: "p",
        word: "3..=70000;",
        other: "3..=70001;",
    },
    WideRow {
        leaves_out: "another branch of a choice",
        program: "process P[i in 0..<2] { a: atomic { either { w = 70000; } or { w = 70001; } } } invariant p: w <= 70001;",
        proved: "p",
        word: "w = 70001",
        other: "w = 70002",
    },
    WideRow {
        leaves_out: "what is done where a test is false",
        program: "process P[i in 0..<2] { a: atomic { if w == 0 { w = 70000; } else { w = 70001; } } } invariant p: w <= 70001;",
        proved: "p",
        word: "w = 70001",
        other: "w = 70002",
    },
    WideRow {
        leaves_out: "the last round of a loop",
        program: "process P[i in 0..<2] { a: atomic { for k in 0..=2 { w = 70000 + k; } } } invariant p: w <= 70002;",
        proved: "p",
        word: "0..=2",
        other: "0..=3",
    },
    WideRow {
        leaves_out: "what the property says",
        program: "process P[i in 0..<2] { a: w = 70000; } invariant p: w <= 70000;",
        proved: "p",
        word: "w <= 70000",
        other: "w < 70000",
    },
    WideRow {
        leaves_out: "that a step writes what its process is not said to see",
        program: "shared y: 0..=1; process A { local q: 0..=1 = 1; s: q = 1; u: w = 1; } process B { a: await y == 1; bad: await w == 0; }
            invariant p: !B@bad;",
        proved: "p",
        word: "s: q = 1",
        other: "s: y = 1",
    },
    WideRow {
        leaves_out: "that a test has no value",
        program: "shared x: 0..=7; process P[i in 0..<2] { a: w = 70000; b: await 6 / (x + 1) <= 6; c: x = 1; }",
        proved: "no_errors",
        word: "(x + 1)",
        other: "(x + 0)",
    },
    WideRow {
        leaves_out: "that what is stored has no value",
        program: "shared x: 0..=7; process P[i in 0..<2] { local q: 0..=7; a: w = 70000; b: q = 6 / (x + 1); c: await x == 0; }",
        proved: "no_errors",
        word: "(x + 1)",
        other: "(x + 0)",
    },
    WideRow {
        leaves_out: "races",
        program: "process A { a: w = 70000; } process B { local q: 0..=1; s: q = 0; t: await w == 70000; }",
        proved: "race_free w",
        word: "q = 0;",
        other: "q = if w == 1 then 1 else 0;",
    },
    WideRow {
        leaves_out: "deadlocks",
        program: "process P[i in 0..<2] { a: w = 70000; b: await w <= 70000; }",
        proved: "deadlock_free",
        word: "w <= 70000",
        other: "w < 70000",
    },
];

fn load(program: &str) -> Model {
    let text = format!("program wide {{ shared w: 0..=4294967295; {program} race_free w; }}");
    match lang::load(&SourceFile::new("wide.pw", &text), &[]) {
        Ok(loaded) => loaded.model,
        Err(diagnostics) => panic!("{diagnostics:?}\n{text}"),
    }
}

fn ask(method: &str, model: &Model, property: &str) -> Verdict {
    let properties = vec![driver::select::find(model, property).unwrap()];
    let task = Task { model, properties, budget: Budget::unlimited(), n_threads: 1 };
    methods::checker(methods::find(method).unwrap()).check(&task, &Silent).unwrap().remove(0).verdict
}

fn proof(model: &Model, property: &str) -> Certificate {
    match ask("split", model, property) {
        Verdict::Holds(Evidence::Certificate(certificate)) => *certificate,
        other => panic!("{property}: {other:?}"),
    }
}

fn check_refused(leaves_out: &str, model: &Model, property: &str, certificate: &Certificate) {
    let truth = ask("forward", model, property);
    assert!(matches!(truth, Verdict::Violated(_)), "{leaves_out}: {truth:?}");
    let id = driver::select::find(model, property).unwrap();
    let checked = audit::certificate::check(model, &model.properties[id], certificate, &Budget::unlimited());
    assert!(checked.is_err(), "the checker does not see {leaves_out}: {checked:?}");
}

#[test]
fn a_proof_about_wide_cells_is_none_of_another_program() {
    for WideRow { leaves_out, program, proved, word, other } in WIDE_ROWS {
        assert_eq!(program.matches(word).count(), 1, "{word}: {program}");
        let (model, certificate) = (load(program), proof(&load(program), proved));
        let id = driver::select::find(&model, proved).unwrap();
        let checked = audit::certificate::check(&model, &model.properties[id], &certificate, &Budget::unlimited());
        let means = checked.unwrap_or_else(|wrong| panic!("{leaves_out}: {wrong}")).means;
        assert_eq!(means, audit::certificate::Means::Diagrams, "{leaves_out}");
        check_refused(leaves_out, &load(&program.replace(word, other)), proved, &certificate);
    }
}
