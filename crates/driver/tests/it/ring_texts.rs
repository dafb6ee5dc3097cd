//! Proofs by windows shown for programs whose text windows do not follow, or with another shape or scope: the checker says why, in words of its own.
//!
//! No method makes such proofs, and most are refused for several reasons: so the words are compared. Without the check that they are of, the proof would be
//! accepted, or refused for something else.

use std::sync::Arc;

use base::{Budget, SourceFile};
use driver::checker::{Checker, Single};
use engine::{Silent, Task, Verdict};
use evidence::certificate::{Certificate, Claim};
use evidence::rings::{RingItem, RingValue, RingsProof};
use evidence::{Evidence, Scope};
use model::Model;
use model::value::Value;
use rings::ByRings;

/// A ring in which ends are not told apart.
const PLAIN: &str = "program r(N: 2..) { shared a: [bool; N]; shared g: bool;
    process P[i in 0..<N] { public x: 0..=1; loop { l: a[(i + 1) % N] = true; m: x = 0; } }
    invariant p: forall i: !a[i] || a[i]; }";

/// A ring in which a cell names a process.
const NAMING: &str = "program r(N: 2..) { shared a: [bool; N]; shared o: pid;
    process P[i in 0..<N] { loop { l: await o == P[i]; m: o = P[(i + 1) % N]; k: a[i] = true; } }
    invariant p: forall i: !a[i] || a[i]; }";

/// A chain in which the first process is told apart, and names the last one's element.
const FIRST: &str = "program r(N: 4..) { shared a: [bool; N];
    process P[i in 0..<N] { loop { l: a[if i == 0 then N - 1 else i - 1] = true; m: skip; } }
    invariant p: forall i: !a[i] || a[i]; }";

/// A tree.
const TREE: &str = "program r(N: 3..) { shared a: [bool; N];
    process P[i in 0..<N] { loop { l: if i > 0 { m: a[(i - 1) / 2] = true; } } }
    invariant p: forall i: !a[i] || a[i]; }";

/// A program with a proof, what of it is written otherwise, and what the checker says.
const TEXTS: [(&str, &str, &str, &str); 31] = [
    (PLAIN, "shared g: bool;", "shared g: bool; shared o: [pid; N];", "`o` holds processes"),
    (PLAIN, "shared g: bool;", "shared g: bool; shared o: pid = P[1];", "`o` holds processes"),
    (
        PLAIN,
        "shared g: bool;",
        "shared g: bool; shared b: [[bool; N]; N];",
        "`b` has elements that are not those of single processes",
    ),
    (
        PLAIN,
        "public x: 0..=1;",
        "public x: 0..=1; public b: [bool; N];",
        "`b` has elements that are not those of single processes",
    ),
    (
        PLAIN,
        "shared g: bool;",
        "shared g: bool; shared k: lock;",
        "`k` has elements that are not those of single processes",
    ),
    (PLAIN, "shared g: bool;", "shared g: bool; shared b: [bool; N + 1];", "the length of `b` depends on the size"),
    (PLAIN, "shared g: bool;", "shared g: bool; shared c: 0..=N;", "the values of `c` depend on the size"),
    (PLAIN, "shared g: bool;", "shared g: bool; shared c: 0..=99 = N;", "the size is a value"),
    (PLAIN, "m: x = 0", "m: x = if N > 3 then 0 else 0", "the size is a value"),
    (PLAIN, "m: x = 0", "m: x = i - i", "the index of a process is a value"),
    (PLAIN, "m: x = 0", "m: await forall j: P[j].x == 0", "all processes are looked at"),
    (PLAIN, "a[(i + 1) % N]", "a[(i + 1) % 2]", "an index is no distance"),
    (PLAIN, "a[(i + 1) % N]", "a[(i + 2) % N]", "an index is no distance"),
    (PLAIN, "a[(i + 1) % N]", "a[i + 1]", "the ends do not show in the types"),
    (
        PLAIN,
        "m: x = 0",
        "m: x = if i == 0 then 1 else 0",
        "a test of where a process stands does not show in the types",
    ),
    (PLAIN, "m: x = 0", "m: x = if i % 2 == 0 then 1 else 0", "a residue does not show in the types"),
    (PLAIN, "m: x = 0", "m: x = if a[0] then 1 else 0", "an index is no distance"),
    (PLAIN, "shared g: bool;", "shared g: bool; shared b: [bool; 2] = [true, false];", "`b` starts with a list"),
    (
        NAMING,
        "l: await o == P[i]",
        "l: o = P[i]",
        "whoever changes which process a cell names is near the one and the other",
    ),
    (NAMING, "o = P[(i + 1) % N]", "o = P[(i + 5) % N]", "set to, one that is not near"),
    (NAMING, "o = P[(i + 1) % N]", "o = P[(i + 1) % 2]", "set to, one that is not near"),
    (NAMING, "o = P[(i + 1) % N]", "o = P[i + 1]", "set to, one that is not near"),
    (
        PLAIN,
        "forall i: !a[i] || a[i]",
        "forall i in P, j in P: !a[i] || a[i] || a[j]",
        "a property looks at all processes from one",
    ),
    (
        PLAIN,
        "forall i: !a[i] || a[i]",
        "forall i != j: P[i].x == P[j].x || a[i] || !a[j]",
        "a part of it is about two processes",
    ),
    (PLAIN, "forall i: !a[i] || a[i]", "exists i: !a[i] || a[i]", "it is not about each process"),
    (
        PLAIN,
        "forall i: !a[i] || a[i]",
        "forall i: a[i] || exists j: a[j] || !a[j]",
        "a property looks at all processes from one",
    ),
    (PLAIN, "forall i: !a[i] || a[i]", "forall i: i >= 0 || a[i]", "does not show in the types"),
    (FIRST, "N - 1 else i - 1", "1 else i - 1", "an index that is named outright is no distance"),
    (FIRST, "N - 1 else i - 1", "N - 1 else 0", "an index is named by processes that are not told apart"),
    (TREE, "if i > 0", "if i > 0 && i < 7", "a test of where a process stands does not show in the types"),
    (TREE, "(i - 1) / 2", "(i - 1) / 3", "an index is that of no parent and no child"),
];

fn load(text: &str) -> Model {
    match lang::load(&SourceFile::new("ring_texts.pw", text), &[]) {
        Ok(loaded) => loaded.model,
        Err(diagnostics) => panic!("{diagnostics:?}\n{text}"),
    }
}

fn proof(model: &Model) -> Certificate {
    proof_of(model, "p")
}

fn proof_of(model: &Model, property: &str) -> Certificate {
    let properties = vec![driver::select::find(model, property).unwrap()];
    let task = Task { model, properties, budget: Budget::unlimited(), n_threads: 1 };
    match Single(Arc::new(ByRings::for_every_size())).check(&task, &Silent).unwrap().remove(0).verdict {
        Verdict::Holds(Evidence::Certificate(certificate)) => *certificate,
        other => panic!("{other:?}"),
    }
}

/// What the checker says of a proof; nothing where it accepts it.
fn said(model: &Model, certificate: &Certificate) -> String {
    let id = driver::select::find(model, "p").unwrap();
    let checked = audit::certificate::check(model, &model.properties[id], certificate, &Budget::unlimited());
    checked.err().map_or_else(String::new, |error| error.to_string())
}

#[test]
fn the_checker_says_what_windows_do_not_follow() {
    let mut wrong = Vec::new();
    for (program, word, other, words) in TEXTS {
        assert_eq!(program.matches(word).count(), 1, "{word}");
        let changed = load(&program.replace(word, other));
        let found = said(&changed, &proof(&load(program)));
        if words.is_empty() || !found.contains(words) {
            wrong.push(format!("{other}: `{found}`, and not `{words}`"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A change of the windows, and what the checker says.
struct Reshaped {
    edit: fn(&mut RingsProof),
    words: &'static str,
}

const SHAPE: &str = "a window has not the shape of a window";

const SHAPES: [Reshaped; 7] = [
    Reshaped { edit: |proof| proof.windows.push(proof.windows[0].clone()), words: "a word is listed twice" },
    Reshaped { edit: |proof| without(proof, |item| matches!(item, RingItem::Own(..))), words: SHAPE },
    Reshaped { edit: |proof| without(proof, |item| matches!(item, RingItem::Shared(..))), words: SHAPE },
    Reshaped { edit: |proof| without(proof, |item| matches!(item, RingItem::Control(0))), words: SHAPE },
    Reshaped { edit: |proof| proof.windows[0].states[0][0] = RingValue::Value(Value::Int(7)), words: SHAPE },
    Reshaped { edit: |proof| proof.windows[0].states[0].truncate(1), words: SHAPE },
    Reshaped { edit: |proof| proof.windows[0].items.reverse(), words: SHAPE },
];

fn without(proof: &mut RingsProof, is_left_out: fn(&RingItem) -> bool) {
    for window in &mut proof.windows {
        while let Some(at) = window.items.iter().position(is_left_out) {
            window.items.remove(at);
            for state in &mut window.states {
                state.remove(at);
            }
        }
    }
}

#[test]
fn windows_have_the_shape_of_windows() {
    let model = load(PLAIN);
    let certificate = proof(&model);
    assert_eq!(said(&model, &certificate), "");
    for (at, Reshaped { edit, words }) in SHAPES.into_iter().enumerate() {
        let mut changed = certificate.clone();
        let Some(Claim::Rings(windows)) = changed.facts.last_mut().map(|fact| &mut fact.claim) else {
            panic!("no windows")
        };
        edit(windows);
        let found = said(&model, &changed);
        assert!(found.contains(words), "{at}: `{found}`, and not `{words}`");
    }
}

/// Windows say nothing of sizes at which they would come round to themselves, nor of another parameter.
#[test]
fn windows_claim_the_sizes_that_they_are_about() {
    let model = load(&PLAIN.replace("N: 2..", "N: 2.., K: 1.."));
    let certificate = proof(&model);
    let scope = |parameter: &str, from| Scope::AllSizes { parameter: parameter.to_owned(), from, checked: Vec::new() };
    for wrong in [scope("N", 2), scope("K", 9), Scope::Instance] {
        let changed = Certificate { scope: wrong.clone(), ..certificate.clone() };
        let found = said(&model, &changed);
        assert!(found.contains("it claims"), "{wrong}: `{found}`");
    }
}

/// The first process writes what all share and what nobody else touches. In the windows of the others it never does.
#[test]
fn whoever_is_far_away_changes_what_all_share() {
    let model = load(
        "program far(N: 2..) { shared g: bool;
         process P[i in 0..<N] { loop { l: if i == 0 { s: g = true; } k: skip; } }
         invariant q: forall i: i == 0 || g || !g;
         invariant p: forall i: i == 0 || !g; }",
    );
    let mut certificate = proof_of(&model, "q");
    certificate.property = "p".to_owned();
    assert!(said(&model, &certificate).contains("no closed walk of windows violates the property"));
    let Some(Claim::Rings(windows)) = certificate.facts.last_mut().map(|fact| &mut fact.claim) else {
        panic!("no windows")
    };
    for window in windows.windows.iter_mut().filter(|window| window.word[0].left > 0) {
        let shared = window.items.iter().position(|item| matches!(item, RingItem::Shared(..)));
        let shared = shared.expect("a window shows what all share");
        window.states.retain(|state| state[shared] == RingValue::Value(Value::Bool(false)));
    }
    let found = said(&model, &certificate);
    assert!(found.contains("no step of another process leads out of a window"), "`{found}`");
}

/// One token goes round.
const TOKEN: &str = "program r(N: 3..) { shared t: [bool; N];
    process P[i in 0..<N] { start: if i == 0 { t[i] = true; }
      loop { go: atomic { await t[i]; t[i] = false; t[(i + 1) % N] = true; } } }
    invariant p: forall i != j: !(t[i] && t[j]); }";

/// A proof of [`TOKEN`] that does not go with the program, or says what is not so.
struct WrongSum {
    property: &'static str,
    /// What stands in the program, and what stands there instead.
    word: &'static str,
    other: &'static str,
    /// What is taken from each total.
    less: u64,
    /// What the checker says.
    words: &'static str,
}

const SUMS: [WrongSum; 3] = [
    WrongSum {
        property: "p",
        word: "t[i] = false; t",
        other: "t[i] = true; t",
        less: 0,
        words: "no step changes the sum of a flow",
    },
    WrongSum {
        property: "deadlock_free",
        word: "N] = true",
        other: "N] = false",
        less: 0,
        words: "no step changes the sum of a flow",
    },
    WrongSum { property: "p", word: "p:", other: "p:", less: 1, words: "a flow has its total in every initial state" },
];

#[test]
fn sums_are_kept_and_right_at_first() {
    for WrongSum { property, word, other, less, words } in SUMS {
        assert_eq!(TOKEN.matches(word).count(), 1, "{word}");
        let mut certificate = proof_of(&load(TOKEN), property);
        let Some(Claim::Rings(windows)) = certificate.facts.last_mut().map(|fact| &mut fact.claim) else {
            panic!("no windows")
        };
        assert!(!windows.flows.is_empty(), "{property}: no flow");
        windows.flows.iter_mut().for_each(|flow| flow.total -= less);
        let changed = load(&TOKEN.replace(word, other));
        let id = driver::select::find(&changed, property).unwrap();
        let checked = audit::certificate::check(&changed, &changed.properties[id], &certificate, &Budget::unlimited());
        let found = checked.err().map_or_else(String::new, |error| error.to_string());
        assert!(found.contains(words), "{property}, {other}: `{found}`");
    }
}
