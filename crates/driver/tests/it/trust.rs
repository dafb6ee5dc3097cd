//! Programs written for the weak spots of what methods leave out: no method gives a verdict that the whole product contradicts.
//!
//! Each row is a program with the truth about its properties, in their order: `+` holds, `-` is violated. Every method, with its
//! evidence audited, says so or does not know. The rows of issue 12 were proved by methods that hold the processes of a family
//! for interchangeable, and accepted by the checker.

use std::time::Duration;

use base::{CancelToken, SourceFile};
use driver::check::{Check, Limits};
use driver::methods;
use engine::{Silent, Verdict};
use model::Model;

/// Programs and the truth about their properties.
const PROGRAMS: [(&str, &str); 9] = [
    // The text indexes `a` by numbers, the property by processes.
    (
        "program issue_0012(N: 2..) { shared a: [bool; N];
         process P[i in 0..<N] { loop { s: a[1] = true; c: a[0] = false; } }
         invariant p: forall i: !(P[i]@c && a[i]); }",
        "-",
    ),
    // The same in the second dimension.
    (
        "program issue_0012_rows(N: 2..) { shared m: [[bool; N]; N];
         process P[i in 0..<N] { loop { s: m[i][1] = true; c: m[i][0] = false; } }
         invariant p: forall i: !(P[i]@c && m[i][i]); }",
        "-",
    ),
    // The same in a public array.
    (
        "program issue_0012_public(N: 2..) {
         process P[i in 0..<N] { public r: [bool; N]; loop { s: r[1] = true; c: r[0] = false; } }
         invariant p: forall i: !(P[i]@c && P[i].r[i]); }",
        "-",
    ),
    // The text never touches the array, whose elements start differently.
    (
        "program untouched(N: 2..) { shared a: [bool; 2] = [false, true];
         process P[i in 0..<N] { loop { s: skip; c: skip; } }
         invariant p: forall i: !(P[i]@c && a[i]); }",
        "-",
    ),
    // The reverse: the text indexes by processes, the property by a number.
    (
        "program reverse(N: 2..) { shared a: [bool; N];
         process P[i in 0..<N] { s: a[i] = true; c: skip; }
         invariant p: !a[1];
         invariant q: !(P[0]@c && !a[0]); }",
        "-+",
    ),
    // A constant that breaks the symmetry, in the property only and in the text only.
    (
        "program constants(N: 2..) { shared t: pid(P) = any;
         process P[i in 0..<N] { loop { s: t = i; c: skip; } }
         invariant p: !(P[1]@c && t == P[0]); }",
        "-",
    ),
    // Two families index one array.
    (
        "program families(N: 2..) { shared a: [bool; N];
         process P[i in 0..<N] { s: a[i] = true; c: skip; }
         process Q[i in 0..<N] { s: a[1] = false; d: skip; }
         invariant p: forall i in P: !(P[i]@c && !a[i]); }",
        "-",
    ),
    // An array as long as the family, by numbers in both.
    (
        "program numbers(N: 2..) { shared a: [bool; N]; shared k: 0..<2;
         process P[i in 0..<N] { loop { s: a[k] = true; k = 1 - k; c: a[k] = false; } }
         invariant p: forall i: !(P[i]@c && a[0]);
         invariant q: exists i: !a[i] || a[i]; }",
        "-+",
    ),
    // A temporal property that tells processes apart by a number.
    (
        "program runs(N: 2..) { shared a: [bool; N];
         process P[i in 0..<N] { loop { s: a[1] = true; c: a[0] = false; } }
         property p: forall i: always !(P[i]@c && a[i]);
         property q: forall i: eventually a[i] under every P[*]; }",
        "--",
    ),
];

fn load(text: &str) -> Model {
    match lang::load(&SourceFile::new("trust.pw", text), &[]) {
        Ok(loaded) => loaded.model,
        Err(diagnostics) => panic!("{diagnostics:?}\n{text}"),
    }
}

/// The audited verdicts of a method on the properties that the text states.
fn verdicts(model: &Model, method: &str) -> Result<String, String> {
    let limits = Limits {
        time: Some(Duration::from_secs(20)),
        memory_bytes: Some(1 << 30),
        n_threads: 1,
        cancel: CancelToken::default(),
    };
    let written = |&id: &_| !model.properties[id].text.is_empty();
    let questions: Vec<_> = model.properties.ids().filter(written).collect();
    let checker = methods::checker(methods::find(method).unwrap());
    let check = Check { model, questions: &questions, checker: &*checker, limits: &limits };
    let checked = check.run(&Silent).map_err(|failure| failure.to_string())?;
    let mark = |verdict: &Verdict| match verdict {
        Verdict::Holds(_) => '+',
        Verdict::Violated(_) => '-',
        Verdict::Unknown(_) => '?',
    };
    Ok(checked.results.iter().map(|result| mark(&result.verdict)).collect())
}

#[test]
fn no_method_contradicts_the_whole_product() {
    let mut wrong = Vec::new();
    for (text, expected) in PROGRAMS {
        let model = load(text);
        assert_eq!(verdicts(&model, "mono").as_deref(), Ok(expected), "{text}");
        for method in methods::available() {
            match verdicts(&model, method.name) {
                Ok(found) if found.chars().zip(expected.chars()).all(|(one, truth)| one == '?' || one == truth) => {}
                other => wrong.push(format!("{}: {other:?}, not {expected}: {}", method.name, model.name)),
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
