//! What is said about proofs for every size is true: each sentence in every reachable state at small sizes, and as an invariant of the program; who waits, waits.
//!
//! Proofs of the examples and of random programs, at several sizes. Sentences are evaluated on the whole product at the size at which the
//! proof was found, of all processes of which they are said.

use std::path::Path;
use std::time::Duration;

use base::{Budget, CancelToken, SourceFile};
use driver::check::CheckLimits;
use driver::every_n::EverySizeAnswers;
use driver::load::Loaded;
use engine::{Engine, Silent, Task, Verdict};
use evidence::scope::Scope;
use evidence::{Certificate, Evidence};
use explain::proof::LocalProof;
use explain::proof::formula::LetterMeaning;
use explain::proof::story::StoryLine;
use explain::proof::truth::{WholeState, truth};
use model::Model;
use model::eval::{State, evaluate};
use model::property::PropertyKind;
use model::value::Value;
use testkit::Product;
use testkit::choices::Choices;
use testkit::sized::{self, SizedKind};

/// What was looked at.
#[derive(Debug, Default)]
struct Counts {
    n_proofs: usize,
    n_claims: usize,
    n_read_back: usize,
    n_left_out: usize,
}

fn limits() -> CheckLimits {
    CheckLimits {
        time: Some(Duration::from_secs(10)),
        memory_bytes: Some(1 << 30),
        disk: None,
        n_threads: 1,
        cancel: CancelToken::default(),
    }
}

/// The program at a size, and its proofs for every size.
fn proofs(source: &SourceFile, size: Option<i64>) -> Option<(Model, Vec<Certificate>)> {
    let given: Vec<(String, i64)> = size.map(|size| ("N".to_owned(), size)).into_iter().collect();
    let Loaded::Program(program) = driver::load::instance(source, &given) else { return None };
    let questions: Vec<_> = program.model.properties.ids().collect();
    let EverySizeAnswers { other, checked, .. } =
        driver::every_n::check(&program, &questions, &limits(), &Silent).ok()?;
    // What is violated at another size has no proof.
    if other.is_some() {
        return None;
    }
    let model = program.model;
    let certificates = checked.results.into_iter().filter_map(|result| match result.verdict {
        Verdict::Holds(Evidence::Certificate(proof)) | Verdict::Violated(Evidence::Certificate(proof)) => Some(*proof),
        _ => None,
    });
    let certificates = certificates.filter(|proof| matches!(proof.scope, Scope::AllSizes { .. })).collect();
    Some((model, certificates))
}

/// A claim that is false in a reachable state, for processes of which it is said.
fn false_claim(model: &Model, proof: &LocalProof, states: &[State]) -> Option<String> {
    for part in &proof.parts {
        for claim in part.claims() {
            for choice in part.choices(model) {
                let meaning = LetterMeaning::new(model, &choice);
                if let Some(state) =
                    states.iter().find(|state| truth(&meaning, &claim, &WholeState(state)) != Some(true))
                {
                    return Some(format!("{}, for {choice:?}: {claim:?} in {state:?}", part.whom));
                }
            }
        }
    }
    None
}

/// Writes the sentences into the program as invariants: how many; or one that is refused, or false in a reachable state.
fn read_back(text: &str, size: i64, proof: &LocalProof, states: &[State]) -> Result<usize, String> {
    let sentences = proof.parts.iter().flat_map(|part| part.sentences());
    let expressions: Vec<&String> = sentences.filter_map(|(_, one)| one.expression.as_ref()).collect();
    let body = text.trim_end().strip_suffix('}').ok_or("the text does not end")?;
    let invariants = (0..).zip(&expressions).map(|(nth, text)| format!("invariant said_{nth}: {text};\n"));
    let source = SourceFile::new("said.pw", format!("{body}{}}}", invariants.collect::<String>()));
    let loaded = lang::load(&source, &[("N".to_owned(), size)]);
    let loaded = loaded.map_err(|refused| format!("{:?}\n{}", refused[0], source.text()))?;
    for property in loaded.model.properties.iter().filter(|property| property.name.starts_with("said_")) {
        let PropertyKind::Invariant(expr) = &property.kind else { return Err("no invariant".to_owned()) };
        let is_true = |state: &&State| evaluate(&loaded.model, state, expr, None) == Ok(Value::Bool(true));
        if let Some(state) = states.iter().find(|state| !is_true(state)) {
            return Err(format!("`{}` is not true in {state:?}", property.text));
        }
    }
    Ok(expressions.len())
}

/// Looks at all proofs of a program at a size.
fn look(text: &str, size: i64, most_states: usize, counts: &mut Counts) -> Result<(), String> {
    let source = SourceFile::new("every.pw", text);
    let Some((model, certificates)) = proofs(&source, Some(size)) else { return Ok(()) };
    let Some(product) = Product::explore(&model, most_states) else { return Ok(()) };
    let mut seen: Vec<Certificate> = Vec::new();
    for certificate in certificates {
        let Scope::AllSizes { from, .. } = certificate.scope else { continue };
        if size < from || seen.iter().any(|known| known.facts == certificate.facts) {
            continue;
        }
        let Some(proof) = LocalProof::of(&model, &source, &certificate, &Budget::unlimited()) else { continue };
        if let Some(wrong) = false_claim(&model, &proof, &product.states) {
            return Err(format!("N = {size}, {}: {wrong}\n{text}", certificate.property));
        }
        counts.n_proofs += 1;
        counts.n_claims += proof.parts.iter().map(|part| part.claims().len()).sum::<usize>();
        counts.n_left_out += proof.parts.iter().map(|part| part.n_left_out).sum::<usize>();
        let n_read = read_back(text, size, &proof, &product.states);
        counts.n_read_back +=
            n_read.map_err(|wrong| format!("N = {size}, {}: {wrong}\n{text}", certificate.property))?;
        seen.push(certificate);
    }
    Ok(())
}

fn example(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(format!("{name}.pw"));
    std::fs::read_to_string(path).unwrap()
}

/// Examples whose proofs for every size are found in a moment.
const EXAMPLES: [&str; 16] = [
    "mux_sem",
    "owner_lock",
    "handover",
    "burns",
    "flag_readers",
    "mesi",
    "dijkstra",
    "ticket_bounded",
    "philosophers",
    "philosophers_line",
    "token_links",
    "milner",
    "pipeline",
    "traffic",
    "request_chain",
    "handshake",
];

#[test]
fn sentences_of_the_examples_are_true_at_small_sizes() {
    let mut counts = Counts::default();
    for name in EXAMPLES {
        for size in 2..=4 {
            look(&example(name), size, 6_000, &mut counts).unwrap_or_else(|wrong| panic!("{name}: {wrong}"));
        }
    }
    println!("{counts:?}");
    assert!(counts.n_proofs > 60 && counts.n_claims > 300 && counts.n_read_back > 250, "{counts:?}");
    assert_eq!(counts.n_left_out, 0);
}

#[test]
fn sentences_of_random_programs_of_any_size_are_true_at_small_sizes() {
    let mut counts = Counts::default();
    for kind in SizedKind::ALL {
        for seed in 0..6 {
            let text = sized::text(&mut Choices::from_seed(seed), kind);
            for size in [3, 4] {
                look(&text, size, 800, &mut counts).unwrap_or_else(|wrong| panic!("{} {seed}: {wrong}", kind.name()));
            }
        }
    }
    println!("{counts:?}");
    assert!(counts.n_proofs > 8 && counts.n_claims > 20, "{counts:?}");
}

/// What people read about some of the proofs.
#[test]
fn proofs_for_every_size_read_as_they_were_read_once() {
    let read = [
        ("mux_sem", "mutex"),
        ("mux_sem", "live"),
        ("owner_lock", "live"),
        ("handover", "live"),
        ("philosophers", "own_forks"),
        ("philosophers", "live"),
        ("token_links", "served"),
        ("token_ring", "visits"),
        ("tree_arbiter", "live"),
    ];
    for (name, property) in read {
        let source = SourceFile::new("every.pw", example(name));
        let Loaded::Program(program) = driver::load::instance(&source, &[]) else { panic!("{name}") };
        let id = driver::select::find(&program.model, property).unwrap();
        let EverySizeAnswers { checked, .. } = driver::every_n::check(&program, &[id], &limits(), &Silent).unwrap();
        let Verdict::Holds(Evidence::Certificate(certificate)) = &checked.results[0].verdict else { panic!("{name}") };
        let told = LocalProof::of(&program.model, &source, certificate, &Budget::unlimited()).unwrap();
        let mut text = String::new();
        for part in &told.parts {
            text += &format!("{}\n", part.whom);
            for (at, one) in part.sentences() {
                text += &format!("  {}{}\n", if at.is_empty() { at } else { format!("at {at}: ") }, one.text);
            }
        }
        if let Some(story) = &explain::proof::story::story(&program.model, certificate, &Budget::unlimited()) {
            for wait in &story.waits {
                text +=
                    &format!("{} waits at {} while {}: for {}\n", wait.who, wait.at, wait.holds, wait.whom.join("; "));
            }
            for line in &story.lines {
                text += &format!("{}- {}\n", "  ".repeat(line.depth), line.text);
            }
        }
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/it/every/{name}.{property}.txt"));
        testkit::blessed::assert_same(&path, &text);
    }
}

/// What people read about refutations at one size.
#[test]
fn refutations_at_one_size_read_as_they_were_read_once() {
    for (name, n) in [("philosophers", 4), ("ticket", 2)] {
        let source = SourceFile::new("one.pw", example(name));
        let Loaded::Program(program) = driver::load::instance(&source, &[("N".to_owned(), n)]) else {
            panic!("{name}")
        };
        let model = &program.model;
        let id = driver::select::find(model, "live").unwrap();
        let task = Task { model, properties: vec![id], budget: Budget::unlimited(), n_threads: 1 };
        let answers = propagate::Propagate::default().run(&task, &Silent).unwrap();
        let Verdict::Holds(Evidence::Certificate(certificate)) = &answers[0].verdict else { panic!("{name}") };
        let story = explain::proof::story::story(model, certificate, &Budget::unlimited()).unwrap();
        let line = |line: &StoryLine| format!("{}- {}\n", "  ".repeat(line.depth), line.text);
        let text: String = story.lines.iter().map(line).collect();
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/it/every/{name}.{n}.live.txt"));
        testkit::blessed::assert_same(&path, &text);
    }
}

/// One process does not show whether processes are alike: where no size was given, two are looked at.
#[test]
fn a_program_that_begins_with_one_process_is_asked_of_two() {
    let text = "program one(N: 1..) { shared l: lock; \
         process P[i in 0..<N] { loop { a: acquire l; c: skip; r: release l; } } \
         property live: forall i: P[i]@a ~> P[i]@c under strong P[*]; }";
    let source = SourceFile::new("one.pw", text);
    let sizes = |given: &[(String, i64)]| {
        let Loaded::Program(program) = driver::load::instance(&source, given) else { panic!("it is a program") };
        let id = driver::select::find(&program.model, "live").unwrap();
        let EverySizeAnswers { other, checked, .. } =
            driver::every_n::check(&program, &[id], &limits(), &Silent).unwrap();
        let is_proved = matches!(checked.results[0].verdict, Verdict::Holds(Evidence::Certificate(_)));
        (is_proved, other.map(|other| other.model.parameters.iter().next().unwrap().value))
    };
    assert_eq!(sizes(&[]), (true, Some(2)));
    assert_eq!(sizes(&[("N".to_owned(), 1)]), (false, None));
    assert_eq!(sizes(&[("N".to_owned(), 2)]), (true, None));
}
