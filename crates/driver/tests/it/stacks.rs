//! Proofs of programs with procedures, shown for what is false: for another property of the program, or for a program in which one word is another one.

use base::{Budget, SourceFile};
use driver::methods;
use engine::{Silent, Task, Verdict};
use evidence::Evidence;
use evidence::certificate::{Certificate, Claim};
use model::Model;

/// A program, and what is shown for a proof of a property that is false.
#[derive(Clone, Copy)]
struct Shown {
    /// What the checker would not see.
    leaves_out: &'static str,
    program: &'static str,
    /// A property that has a proof.
    proved: &'static str,
    /// A word of the program, and another one with which the property is false.
    word: &'static str,
    other: &'static str,
    /// The property that is false.
    property: &'static str,
}

const SHOWN: [Shown; 5] = [
    Shown {
        leaves_out: "faults",
        program: "program p { shared x: 0..=1; process P[i in 0..<2] { loop { a: x = 1; b: call f(); } }
            proc f() { l: assert x == 0; } invariant t: x <= 1; }",
        proved: "t",
        word: "",
        other: "",
        property: "no_errors",
    },
    Shown {
        leaves_out: "races",
        program: "program p { shared x: 0..=1; process P[i in 0..<2] { loop { a: call f(); } }
            proc f() { l: x = 1; } invariant t: x <= 1; race_free x; }",
        proved: "t",
        word: "",
        other: "",
        property: "race_free x",
    },
    Shown {
        leaves_out: "deadlocks",
        program: "program p { shared x: 0..=1; process P[i in 0..<2] { loop { a: call f(); } }
            proc f() { l: await x == 0; m: x = 1; } invariant t: x <= 1; }",
        proved: "t",
        word: "",
        other: "",
        property: "deadlock_free",
    },
    Shown {
        leaves_out: "that a step looks at what its process is not said to see",
        program: "program p { shared y: 0..=1; process A { s: y = 1; u: call f(); }
            process B { local q: 0..=1; w: await q == 1; v: call f(); bad: skip; }
            proc f() { l: skip; } invariant t: !B@bad; allow deadlock; }",
        proved: "t",
        word: "await q == 1",
        other: "await y == 1",
        property: "t",
    },
    Shown {
        leaves_out: "that a cell which nobody sees may hold anything",
        program: "program p { shared x: 0..=1; shared z: 0..=1 = any; process P[i in 0..<2] { loop { a: x = 1; b: call f(); } }
            proc f() { l: skip; } invariant t: x <= 1; }",
        proved: "t",
        word: "invariant t: x <= 1",
        other: "invariant t: z == 0",
        property: "t",
    },
];

fn load(text: &str) -> Model {
    match lang::load(&SourceFile::new("stacks.pw", text), &[]) {
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
    match ask("pushdown", model, property) {
        Verdict::Holds(Evidence::Certificate(certificate)) => *certificate,
        other => panic!("{property}: {other:?}"),
    }
}

#[test]
fn a_proof_with_stacks_is_none_of_what_is_false() {
    for Shown { leaves_out, program, proved, word, other, property } in SHOWN {
        let mut certificate = proof(&load(program), proved);
        let model = match word {
            "" => load(program),
            _ => {
                assert_eq!(program.matches(word).count(), 1, "{word}: {program}");
                load(&program.replace(word, other))
            }
        };
        let truth = ask("mono", &model, property);
        assert!(matches!(truth, Verdict::Violated(_)), "{leaves_out}: {truth:?}");
        if property != proved {
            certificate.property = property.to_owned();
            certificate.implies.clear();
        }
        let id = driver::select::find(&model, property).unwrap();
        let checked = audit::certificate::check(&model, &model.properties[id], &certificate, &Budget::unlimited());
        assert!(checked.is_err(), "the checker does not see {leaves_out}: {checked:?}");
    }
}

/// `B` is said to see `y`, and `A`, which writes it, to guarantee nothing about it.
#[test]
fn a_guarantee_speaks_of_all_that_others_see() {
    let Shown { program, word, other, .. } = SHOWN[3];
    let mut certificate = proof(&load(program), "t");
    let model = load(&program.replace(word, other));
    let y = model.cells.entries().find(|(_, cell)| cell.name == "y").unwrap().0;
    let Claim::Pushdown(proof) = &mut certificate.facts[0].claim else { panic!("no path edges") };
    assert!(!proof.threads[1].cells.contains(&y) && proof.threads[0].store.is_empty());
    let thread = &mut proof.threads[1];
    thread.cells.insert(0, y);
    assert!(thread.cells.is_sorted());
    thread.store = vec![y];
    thread.states.iter_mut().for_each(|row| row.cells.insert(0, 0));
    let id = driver::select::find(&model, "t").unwrap();
    let checked = audit::certificate::check(&model, &model.properties[id], &certificate, &Budget::unlimited());
    assert!(checked.is_err(), "{checked:?}");
}
