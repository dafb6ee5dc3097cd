//! Every code has a program that draws it.
//!
//! `tests/errors/CODE.pw` (or `.dve`, `.pml`, or `.pds` with `.init` and `.spec` beside it) draws CODE; `CODE.txt` beside it holds all diagnostics of that file as plain text;
//! `CODE.fixed.pw` draws no error, nor CODE if that is a warning. To write the `.txt` files anew: `BLESS=1 cargo test
//! -p piecewise-lang`.

use base::{Applicability, Diagnostic, Severity, SourceFile};
use lang::codes::{self, Code};
use lang::dve::Goal;
use lang::pw;
use std::path::{Path, PathBuf};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/errors").join(name)
}

fn read(name: &str) -> Vec<u8> {
    let path = fixture(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// All diagnostics that a file draws, from whichever stage, and the text that they speak of.
fn diagnose(name: &str, bytes: Vec<u8>) -> (SourceFile, Vec<Diagnostic>) {
    match pw::decode(name, bytes) {
        Err(undecodable) => (undecodable.file, vec![undecodable.diagnostic]),
        Ok(file) if name.ends_with(".pds") => match lang::load_with_goals(&file, &[], &beside(name)) {
            Ok(loaded) => (file, loaded.warnings),
            Err(mut refused) => {
                let first = refused.swap_remove(0);
                (first.source, first.diagnostics)
            }
        },
        Ok(file) => {
            let diagnostics = match lang::load(&file, &parameters(name)) {
                Ok(loaded) => loaded.warnings,
                Err(diagnostics) => diagnostics,
            };
            (file, diagnostics)
        }
    }
}

/// The texts beside a pushdown system.
fn beside(name: &str) -> Vec<Goal> {
    let stem = name.trim_end_matches(".pds");
    let text = |kind: &str| {
        let name = format!("{stem}.{kind}");
        let text = std::fs::read_to_string(fixture(&name)).ok()?;
        Some(Goal { name: kind.to_owned(), source: SourceFile::new(name, text) })
    };
    ["init", "spec"].into_iter().filter_map(text).collect()
}

/// The parameters that a file is checked with: none, but for the codes that are about them.
fn parameters(name: &str) -> Vec<(String, i64)> {
    let is_wrong = name.starts_with(codes::check::UNKNOWN_PARAMETER) && !name.contains("fixed");
    // A macro of the text that the call gives another value.
    let is_given = name.starts_with(codes::promela::GIVEN_MACRO);
    match (is_wrong, is_given) {
        (true, _) => vec![("M".to_string(), 2)],
        (_, true) => vec![("N".to_string(), 2)],
        _ => Vec::new(),
    }
}

fn diagnose_wrong(code: &Code) -> (SourceFile, Vec<Diagnostic>) {
    let name = format!("{}.{}", code.code, code.language);
    let mut bytes = read(&name);
    if code.code == codes::syntax::FILE_TOO_LONG {
        bytes = bytes.repeat(pw::MAX_FILE_LENGTH / bytes.len() + 1);
    }
    // What is wrong with this one is the suffix.
    let name = if code.code == codes::check::UNKNOWN_LANGUAGE { name.replace(".pw", ".spl") } else { name };
    diagnose(&name, bytes)
}

fn render(file: &SourceFile, diagnostics: &[Diagnostic]) -> String {
    let at = |offset| {
        let place = file.line_col(offset);
        format!("{}:{}", place.line, place.col)
    };
    let mut text = String::new();
    for diagnostic in diagnostics {
        let severity = if diagnostic.severity == Severity::Error { "error" } else { "warning" };
        let Diagnostic { code, message, primary, secondary, helps, .. } = diagnostic;
        text.push_str(&format!("{severity}[{code}] {}-{}: {message}\n", at(primary.span.start), at(primary.span.end)));
        if !primary.text.is_empty() {
            text.push_str(&format!("  here: {}\n", primary.text));
        }
        for note in secondary {
            text.push_str(&format!("  note {}-{}: {}\n", at(note.span.start), at(note.span.end), note.text));
        }
        for help in helps {
            text.push_str(&format!("  help: {}\n", help.text));
            for edit in &help.edits {
                let place = format!("{}-{}", at(edit.span.start), at(edit.span.end));
                text.push_str(&format!("    {place} becomes `{}`\n", edit.replacement));
            }
        }
    }
    text
}

#[test]
fn every_code_is_drawn_by_its_fixture_as_written_down() {
    for code in codes::all() {
        let (file, diagnostics) = diagnose_wrong(code);
        assert!(diagnostics.iter().any(|d| d.code == code.code), "{} is not drawn: {diagnostics:?}", code.code);
        let (rendered, name) = (render(&file, &diagnostics), format!("{}.txt", code.code));
        if testkit::blessed::is_on() {
            std::fs::write(fixture(&name), &rendered).expect("the fixtures can be written and read");
        }
        assert_eq!(rendered, String::from_utf8(read(&name)).expect("plain text"), "{name}");
    }
}

#[test]
fn every_corrected_example_is_correct() {
    for code in codes::all() {
        let name = format!("{}.fixed.{}", code.code, code.language);
        let (_, diagnostics) = diagnose(&name, code.right.as_bytes().to_vec());
        let is_clean = diagnostics.iter().all(|d| !d.is_error() && d.code != code.code);
        assert!(is_clean, "{}: {diagnostics:?}", code.code);
    }
}

#[test]
fn certain_fixes_do_fix() {
    // What is not used is said only once nothing is wrong.
    let others = |found: Vec<Diagnostic>| -> Vec<Diagnostic> {
        found.into_iter().filter(|one| one.code != codes::check::UNUSED).collect()
    };
    for code in codes::all() {
        let (file, diagnostics) = diagnose_wrong(code);
        let diagnostics = others(diagnostics);
        for diagnostic in &diagnostics {
            for help in diagnostic.helps.iter().filter(|help| help.applicability == Applicability::Certain) {
                let mut text = file.text().to_string();
                for edit in help.edits.iter().rev() {
                    text.replace_range(edit.span.range(), &edit.replacement);
                }
                let (_, after) = diagnose(&format!("fixed.{}", code.language), text.into_bytes());
                let after = others(after);
                assert!(after.len() < diagnostics.len(), "{}: `{}` does not help", code.code, help.text);
            }
        }
    }
}

#[test]
fn codes_are_in_order_and_unlike() {
    for stage in [codes::syntax::CODES, codes::check::CODES, codes::dve::CODES, codes::pds::CODES] {
        assert!(stage.windows(2).all(|pair| pair[0].code < pair[1].code));
    }
    assert_eq!(codes::find("e0103").map(|code| code.code), Some("E0103"));
    assert!(codes::find("E9999").is_none());
}

#[test]
fn every_fixture_has_a_code() {
    for entry in std::fs::read_dir(fixture("")).expect("the folder exists") {
        let name = entry.unwrap().file_name().into_string().expect("the fixtures can be written and read");
        let code = name.split('.').next().unwrap_or_default();
        assert!(codes::find(code).is_some(), "{name} belongs to no code");
    }
}
