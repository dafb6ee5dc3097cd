//! Every sentence of every proof is true in every reachable state, and in the program's own words it is an invariant.
//!
//! Proofs of all methods that write them, on programs made for it, on random ones of every profile and on the examples. Each claim is evaluated
//! on the whole product, for all processes of which it is said; each sentence that has an expression is written into the program and evaluated
//! there by the reference semantics.

use std::time::Duration;

use base::{Budget, CancelToken, SourceFile};
use driver::check::{Check, CheckLimits};
use driver::methods;
use engine::{Silent, Verdict};
use evidence::{Certificate, Evidence};
use explain::proof::LocalProof;
use explain::proof::formula::{LetterMeaning, SentenceFormula};
use explain::proof::truth::{WholeState, truth};
use model::Model;
use model::eval::{State, evaluate};
use model::property::PropertyKind;
use model::value::Value;
use testkit::Product;
use testkit::choices::Choices;
use testkit::program::{self, PROFILES};

/// Methods whose proofs are put into sentences.
const METHODS: [&str; 8] = ["tmmc", "split", "completion", "pairwise", "triple", "ls3", "ls3+", "fll-a"];

/// What was looked at.
#[derive(Debug, Default)]
struct Counts {
    n_proofs: usize,
    n_claims: usize,
    n_read_back: usize,
    n_left_out: usize,
}

fn load(text: &str) -> Option<Model> {
    lang::load(&SourceFile::new("sentences.pw", text), &[]).ok().map(|loaded| loaded.model)
}

/// The proofs that a method finds.
fn proofs(model: &Model, method: &str) -> Result<Vec<Certificate>, String> {
    let limits = CheckLimits {
        time: Some(Duration::from_secs(20)),
        memory_bytes: Some(1 << 30),
        disk: None,
        n_threads: 1,
        cancel: CancelToken::default(),
    };
    let questions: Vec<_> = model.properties.ids().collect();
    let checker = methods::checker(methods::find(method).unwrap());
    let check = Check { model, questions: &questions, checker: &*checker, limits: &limits };
    let checked = check.run(&Silent).map_err(|failure| failure.to_string())?;
    let proof = |verdict| match verdict {
        Verdict::Holds(Evidence::Certificate(proof)) | Verdict::Violated(Evidence::Certificate(proof)) => Some(*proof),
        _ => None,
    };
    let mut found: Vec<Certificate> = checked.results.into_iter().filter_map(|result| proof(result.verdict)).collect();
    found.dedup_by(|one, other| one.facts == other.facts);
    Ok(found)
}

/// A claim that is false in a reachable state, for processes of which it is said.
fn false_claim(model: &Model, proof: &LocalProof, states: &[State]) -> Option<String> {
    for part in &proof.parts {
        for (claim, choice) in
            part.claims().iter().flat_map(|claim| part.choices(model).into_iter().map(move |choice| (claim, choice)))
        {
            let meaning = LetterMeaning::new(model, &choice);
            if let Some(state) = states.iter().find(|state| truth(&meaning, claim, &WholeState(state)) != Some(true)) {
                return Some(format!("{}, for {choice:?}: {claim:?} in {state:?}", part.whom));
            }
        }
    }
    None
}

/// Writes the sentences into the program as invariants: how many; or one that is refused, or false in a reachable state.
fn read_back(text: &str, proof: &LocalProof, states: &[State]) -> Result<usize, String> {
    let sentences = proof.parts.iter().flat_map(|part| part.sentences());
    let expressions: Vec<&String> = sentences.filter_map(|(_, one)| one.expression.as_ref()).collect();
    let body = text.trim_end().strip_suffix('}').ok_or("the text does not end")?;
    let invariants = (0..).zip(&expressions).map(|(nth, text)| format!("invariant said_{nth}: {text};\n"));
    let source = SourceFile::new("said.pw", format!("{body}{}}}", invariants.collect::<String>()));
    let loaded = lang::load(&source, &[]).map_err(|refused| format!("{:?}\n{}", refused[0], source.text()))?;
    for property in loaded.model.properties.iter().filter(|property| property.name.starts_with("said_")) {
        let PropertyKind::Invariant(expr) = &property.kind else { return Err("no invariant".to_owned()) };
        let is_true = |state: &&State| evaluate(&loaded.model, state, expr, None) == Ok(Value::Bool(true));
        if let Some(state) = states.iter().find(|state| !is_true(state)) {
            return Err(format!("`{}` is not true in {state:?}", property.text));
        }
    }
    Ok(expressions.len())
}

/// Looks at all proofs of a program, where its product is small.
fn look(text: &str, most_states: usize, counts: &mut Counts) -> Result<(), String> {
    let Some(model) = load(text) else { return Ok(()) };
    if model::eval::n_initial_states(&model) > 64 || !model::eval::initial_faults(&model).is_empty() {
        return Ok(());
    }
    let Some(product) = Product::explore(&model, most_states) else { return Ok(()) };
    let source = SourceFile::new("sentences.pw", text);
    let mut seen: Vec<Certificate> = Vec::new();
    for method in METHODS {
        for certificate in proofs(&model, method)? {
            if seen.iter().any(|known| known.facts == certificate.facts) {
                continue;
            }
            let Some(proof) = LocalProof::of(&model, &source, &certificate, &Budget::unlimited()) else { continue };
            if let Some(wrong) = false_claim(&model, &proof, &product.states) {
                return Err(format!("{method}: {wrong}\n{text}"));
            }
            counts.n_proofs += 1;
            counts.n_claims += proof.parts.iter().map(|part| part.claims().len()).sum::<usize>();
            counts.n_left_out += proof.parts.iter().map(|part| part.n_left_out).sum::<usize>();
            counts.n_read_back +=
                read_back(text, &proof, &product.states).map_err(|wrong| format!("{method}: {wrong}"))?;
            seen.push(certificate);
        }
    }
    Ok(())
}

/// Programs whose proofs name several processes at once.
const PROGRAMS: [&str; 3] = [
    // Two producers and two consumers: what a lock is not held by is said of whole families.
    "program issue_0012 { shared m: lock; shared items: 0..=1; shared notfull: bool = true;
     process Prod[i in 0..<2] { loop { enter: acquire m; test: await items == 0; put: items = 1; flag: notfull = false;
       leave: release m; wait: await notfull; } }
     process Cons[j in 0..<2] { loop { goods: await items == 1; enter: acquire m; get: items = 0; flag: notfull = true;
       leave: release m; } }
     invariant safe: forall i in Prod: Prod[i]@put => m.owner == Prod[i]; }",
    // Three processes and a pid that names one of the others.
    "program others { shared t: pid(P)?; shared b: bool;
     process P[i in 0..<3] { loop { take: await t == none; t = i; set: b = true; use: b = false; give: t = none; } }
     invariant p: forall i: P[i]@use => b; invariant q: forall i: P[i]@{set, use} => t != none; }",
    // A single process beside a family, and an array of locks.
    "program forks { shared f: [lock; 2]; shared n: 0..=2;
     process P[i in 0..<2] { loop { one: acquire f[i]; two: acquire f[1 - i]; eat: n = 1; off: release f[1 - i]; end: release f[i]; } }
     process W { loop { see: await n == 1; lie: n = 0; } }
     invariant p: forall i: P[i]@eat => f[0].owner == P[i]; }",
];

/// Tickets that count modulo the number of processes: nothing but how many have drawn one excludes that two have the same.
const TICKETS: &str = "program tick { shared next: 0..<4; shared now: 0..<4;
     process P[i in 0..<4] { local mine: 0..<4;
       loop { rest: skip; draw: mine, next = next, (next + 1) % 4; wait: await now == mine; crit: skip; leave: now = (now + 1) % 4; } }
     invariant mutex: forall i != j: !(P[i]@crit && P[j]@crit); }";

#[test]
fn a_sum_modulo_a_number_is_said_and_true() {
    let model = load(TICKETS).unwrap();
    let product = Product::explore(&model, 100_000).unwrap();
    let source = SourceFile::new("sentences.pw", TICKETS);
    let proofs = proofs(&model, "views").unwrap();
    let told = { proofs.iter() }
        .filter_map(|proof| LocalProof::of(&model, &source, proof, &Budget::unlimited()))
        .find(|proof| proof.parts[0].sentences().iter().any(|(_, one)| one.text.contains('%')))
        .expect("a proof by a sum");
    let said = told.parts[0].sentences();
    assert_eq!(said[0].1.text, "(next - now - count(k: !P[k]@{rest, draw})) % 4 == 0");
    assert_eq!(false_claim(&model, &told, &product.states), None);
    let is_claimed = |part: &explain::proof::MemberAssertion| {
        part.claims().iter().any(|claim| matches!(claim, SentenceFormula::Tally(_)))
    };
    assert!(told.parts.iter().any(is_claimed), "the sum is among what was compared");
}

#[test]
fn sentences_that_name_several_processes_are_true_of_all() {
    let mut counts = Counts::default();
    for text in PROGRAMS {
        look(text, 10_000, &mut counts).unwrap_or_else(|wrong| panic!("{wrong}"));
    }
    assert!(counts.n_proofs >= 12 && counts.n_read_back > 60, "{counts:?}");
    assert_eq!(counts.n_left_out, 0);
}

#[test]
fn sentences_of_random_programs_are_true_in_every_reachable_state() {
    let mut counts = Counts::default();
    // Methods with decision diagrams list the values of a cell, which no memory is enough for (docs/reliability.md).
    for profile in PROFILES.iter().filter(|profile| profile.name != "wide") {
        for seed in 0..6 {
            let text = program::text(&mut Choices::from_seed(seed), profile);
            look(&text, 400, &mut counts).unwrap_or_else(|wrong| panic!("{} {seed}: {wrong}\n{text}", profile.name));
        }
    }
    println!("{counts:?}");
    assert!(counts.n_proofs > 100 && counts.n_claims > 1000 && counts.n_read_back > 500, "{counts:?}");
}

#[test]
fn sentences_of_the_examples_are_true_in_every_reachable_state() {
    let mut counts = Counts::default();
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    let mut paths: Vec<_> = std::fs::read_dir(examples).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths.iter().filter(|path| path.extension().is_some_and(|suffix| suffix == "pw")) {
        let text = std::fs::read_to_string(path).unwrap();
        look(&text, 300, &mut counts).unwrap_or_else(|wrong| panic!("{}: {wrong}", path.display()));
    }
    println!("{counts:?}");
    assert!(counts.n_proofs > 200 && counts.n_read_back > 3000, "{counts:?}");
    assert_eq!(counts.n_left_out, 0);
}

/// The local states that a proof by path edges lists, process by process, contain every reachable state: how many were compared.
fn look_at_path_edges(text: &str, most_states: usize) -> Result<usize, String> {
    let Some(model) = load(text) else { return Ok(0) };
    if model::eval::n_initial_states(&model) > 64 || !model::eval::initial_faults(&model).is_empty() {
        return Ok(0);
    }
    let Some(product) = Product::explore(&model, most_states) else { return Ok(0) };
    let mut n_compared = 0;
    for certificate in proofs(&model, "pushdown")? {
        let Some(proof) = certificate.pushdown() else { continue };
        for process in model.processes.ids() {
            let told = explain::guarantees::tell(&model, proof, process);
            let is_told = |state: &&State| told.local_states.iter().any(|states| states.contain(state, process));
            if let Some(state) = product.states.iter().find(|state| !is_told(state)) {
                return Err(format!("{}: {:?} does not contain {state:?}", told.name, told.states));
            }
            n_compared += product.states.len();
        }
    }
    Ok(n_compared)
}

#[test]
fn local_states_of_proofs_by_path_edges_contain_every_reachable_state() {
    let profiles = PROFILES.iter().filter(|profile| profile.procedures > 0);
    let texts =
        profiles.flat_map(|profile| (0..20).map(move |seed| program::text(&mut Choices::from_seed(seed), profile)));
    let mut n_compared = 0;
    for text in texts {
        n_compared += look_at_path_edges(&text, 400).unwrap_or_else(|wrong| panic!("{wrong}\n{text}"));
    }
    assert!(n_compared > 2000, "{n_compared}");
}
