//! What must be true of any bytes as a program or as a trace: an answer in words, never a panic.
//!
//! Shared by the fuzz targets (`fuzz/`) and by the small deterministic fuzzing of the ordinary tests.

use std::sync::OnceLock;

use base::SourceFile;
use driver::check::Program;
use driver::load::Loaded;
use driver::{replay, simulation};
use lang::pw;
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
    MODEL.get_or_init(|| match driver::load::instance(&SourceFile::new("lock.pw", LOCK), &[]) {
        Loaded::Program(program) => program.model,
        Loaded::Refused(refusal) => panic!("{:?}", refusal.diagnostics),
    })
}
