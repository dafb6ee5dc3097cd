//! What must be true of any bytes as a program, a formula, an automaton, a trace or a proof: an answer in words, never a panic.
//!
//! Shared by the fuzz targets (`fuzz/`) and by the small deterministic fuzzing of the ordinary tests.

use std::sync::OnceLock;
use std::time::Duration;

use base::{Budget, CancelToken, SourceFile};
use driver::check::Program;
use driver::load::Loaded;
use driver::{proof, replay, simulation};
use evidence::proof_file::ProofFile;
use lang::dve::Goal;
use lang::pw;
use ltl::syntax;
use ltl::{Atoms, Formulas, Translation, hoa};
use model::Model;
use report::{Page, Style, diagnostics};

/// How many random steps a program that loads takes.
const N_STEPS: usize = 20;

/// Any bytes as a source file: decoded, parsed, checked, formatted, drawn; and where they are a program, simulated.
pub fn program(bytes: &[u8]) {
    let style = Style::default();
    let source = match pw::decode("fuzz.pw", bytes.to_vec()) {
        Ok(source) => source,
        Err(undecodable) => {
            diagnostics::draw(&undecodable.file, &[undecodable.diagnostic], &style);
            return;
        }
    };
    formatted(&source);
    match driver::load::instance(&source, &[]) {
        Loaded::Refused(refusal) => {
            assert!(refusal.diagnostics.iter().any(base::Diagnostic::is_error), "refused without an error");
            diagnostics::draw_with_summary(&source, &refusal.diagnostics, "nothing was checked", &style);
        }
        Loaded::Program(program) => simulated(&program),
    }
}

/// Formatting a formatted text changes nothing, and a text is formatted if and only if it parses.
fn formatted(source: &SourceFile) {
    let parses = !pw::parse(source).has_errors();
    match pw::format(source) {
        Err(errors) => assert!(!parses && errors.iter().any(base::Diagnostic::is_error), "a program is not formatted"),
        Ok(text) => {
            assert!(parses, "a text with errors is formatted");
            let again = pw::format(&SourceFile::new("fuzz.pw", text.as_str()));
            assert_eq!(again.as_ref(), Ok(&text), "formatting twice differs from formatting once");
        }
    }
}

fn simulated(program: &Program) {
    let watched = simulation::watched_by_default(&program.model);
    let (trace, ending) = simulation::random_run(&program.model, &watched, 1, N_STEPS);
    let page = Page { model: &program.model, source: &program.source, style: &Style::default() };
    report::replay::text(page, &trace);
    if let simulation::Ending::Decided(property) = ending {
        simulation::answer(&program.model, property, trace).expect("a simulated run is a run");
    }
}

/// Any bytes as a trace of a program: refused in words, or a run of the program.
pub fn trace(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    evidence::itf::parameters(&text).ok();
    replay::replay(&text, lock(), None).ok();
    replay::replay(&text, lock(), Some("mutex")).ok();
}

/// The program that traces are read against.
pub const LOCK: &str = include_str!("../support/lock.pw");

fn lock() -> &'static Model {
    static MODEL: OnceLock<Model> = OnceLock::new();
    MODEL.get_or_init(|| loaded(LOCK))
}

fn loaded(text: &str) -> Model {
    match driver::load::instance(&SourceFile::new("fixed.pw", text), &[]) {
        Loaded::Program(program) => program.model,
        Loaded::Refused(refusal) => panic!("{:?}", refusal.diagnostics),
    }
}

/// The texts of a pushdown system stand behind each other: rules, where it starts, what is bad.
pub const BETWEEN: &str = "\n====\n";

/// Any bytes as a program in DVE: refused with an error, or a program that takes steps.
pub fn dve(bytes: &[u8]) {
    other_program(&SourceFile::new("fuzz.dve", String::from_utf8_lossy(bytes)), &[]);
}

/// Any bytes as a program in Promela: refused with an error, or a program that takes steps.
pub fn promela(bytes: &[u8]) {
    other_program(&SourceFile::new("fuzz.pml", String::from_utf8_lossy(bytes)), &[]);
}

/// Any bytes as a pushdown system with the texts beside it.
pub fn pds(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let mut parts = text.split(BETWEEN);
    let source = SourceFile::new("fuzz.pds", parts.next().unwrap_or_default());
    let beside = |(name, text): (&str, &str)| {
        let source = SourceFile::new(format!("fuzz.{name}"), text);
        Goal { name: name.to_owned(), source }
    };
    let beside: Vec<Goal> = [lang::pds::INIT, lang::pds::SPEC].into_iter().zip(parts).map(beside).collect();
    other_program(&source, &beside);
}

fn other_program(source: &SourceFile, beside: &[Goal]) {
    match lang::load_with_goals(source, &[], beside) {
        Err(refused) => {
            let all = refused.iter().flat_map(|one| &one.diagnostics);
            assert!(all.clone().any(base::Diagnostic::is_error), "refused without an error");
            for one in &refused {
                diagnostics::draw(&one.source, &one.diagnostics, &Style::default());
            }
        }
        Ok(program) => {
            let watched = simulation::watched_by_default(&program.model);
            simulation::random_run(&program.model, &watched, 1, N_STEPS);
        }
    }
}

/// Any bytes as a linear-time formula: refused with an error, or printed, read back and translated within limits.
pub fn formula(bytes: &[u8]) {
    let source = SourceFile::new("fuzz.ltl", String::from_utf8_lossy(bytes));
    let (mut formulas, mut atoms) = (Formulas::new(), Atoms::new());
    let root = match syntax::parse(&source, &mut formulas, &mut atoms) {
        Ok(root) => root,
        Err(errors) => {
            assert!(errors.iter().any(base::Diagnostic::is_error), "refused without an error");
            diagnostics::draw(&source, &errors, &Style::default());
            return;
        }
    };
    let text = syntax::print(&formulas, &atoms, root, syntax::Style::Keywords);
    let again = syntax::parse(&SourceFile::new("again.ltl", text.as_str()), &mut formulas, &mut atoms);
    assert_eq!(again.as_ref().ok(), Some(&root), "`{text}` is another formula");
    let limits = Translation { max_states: 60, max_nodes: 5_000, ..Translation::default() };
    if let Ok(translated) = ltl::translate(&mut formulas, root, &limits, &moment()) {
        let text = hoa::write(&translated, &atoms, "fuzz");
        hoa::read(&SourceFile::new("fuzz.hoa", text)).expect("what is written is read");
    }
}

/// Any bytes as an automaton: refused with an error, or written and read back, and reduced within limits.
pub fn automaton(bytes: &[u8]) {
    let source = SourceFile::new("fuzz.hoa", String::from_utf8_lossy(bytes));
    match hoa::read(&source) {
        Err(errors) => {
            assert!(errors.iter().any(base::Diagnostic::is_error), "refused without an error");
            diagnostics::draw(&source, &errors, &Style::default());
        }
        Ok(read) => {
            let text = hoa::write(&read.automaton, &read.atoms, &read.name);
            let again = hoa::read(&SourceFile::new("again.hoa", text)).expect("what is written is read").automaton;
            let sizes = |automaton: &ltl::Automaton| (automaton.states.len(), automaton.n_marks);
            assert_eq!(sizes(&again), sizes(&read.automaton), "another automaton is read back");
            ltl::reduce_automaton(&read.automaton, &Translation::default(), &moment()).ok();
        }
    }
}

/// Any bytes as a proof: refused in words, or a proof of something that holds.
pub fn proof_file(bytes: &[u8]) {
    static MODEL: OnceLock<Model> = OnceLock::new();
    let model = MODEL.get_or_init(|| loaded(SEMAPHORE));
    let Ok(file) = ProofFile::parse(bytes) else { return };
    match proof::check(file, model, &moment()) {
        Ok((property, _)) => {
            let name = &model.properties[property].name;
            assert_ne!(name, "never", "a proof of what is false is accepted");
        }
        Err(rejection) => assert!(!rejection.to_string().is_empty(), "refused without a word"),
    }
}

/// The program that proofs are read against; all of it holds but `never`.
pub const SEMAPHORE: &str = include_str!("../support/semaphore.pw");

/// Long enough for whatever a small input needs.
fn moment() -> Budget {
    Budget::new(Some(Duration::from_secs(2)), Some(1 << 30), CancelToken::default())
}
