//! The mock-ups of the design, and hard cases: wide characters, tabs, long lines, many labels.

use base::{Diagnostic, SourceFile, Span};

use super::*;

fn at(text: &str, part: &str) -> Span {
    let start = text.find(part).unwrap();
    Span::new(start, start + part.len())
}

fn drawn(text: &str, diagnostics: &[Diagnostic]) -> String {
    let style = Style { width: 90, ..Style::default() };
    draw_with_summary(&SourceFile::new("mux.pw", text), diagnostics, "nothing was checked", &style)
}

#[test]
fn syntax_errors_show_the_line_the_help_and_the_count() {
    let text = "program mux(N: 2..) {\n  process P[i in 0..N] {\n      trying:  await x = 1;\n  }\n}\n";
    let equals = Span::new(at(text, "x = 1").start as usize + 2, at(text, "x = 1").start as usize + 3);
    let one = Diagnostic::error("E0103", equals, "expected `==` in a condition, found `=`")
        .at("this assigns; a condition compares")
        .fix("write `==`", equals, "==");
    let two = Diagnostic::error("E0111", at(text, "0..N"), "a range must say whether it includes its end")
        .suggest("the usual one for process ids, 0 … N-1:", at(text, "..N"), "..<N")
        .suggest("0 … N:", at(text, "..N"), "..=N");
    crate::testing::assert_shown(
        "diagnostics__syntax_errors_show_the_line_the_help_and_the_count",
        &drawn(text, &[one, two]),
    );
}

#[test]
fn several_labels_on_several_lines() {
    let text = "  shared turn: pid;\n\n        turn = level[i];\n";
    let assigned = Span::new(text.rfind("turn").unwrap(), text.rfind("turn").unwrap() + 4);
    let error =
        Diagnostic::error("E0204", at(text, "level[i]"), "`turn` is a process id, but a number 0..=7 is assigned")
            .at("this is 0..=7 (declared line 5)")
            .note(at(text, "pid"), "declared here: 0 … N-1")
            .note(assigned, "assigned here")
            .help("if every value is a valid id, say so: `turn = level[i] as pid;`");
    let warning = Diagnostic::warning("W0301", at(text, "turn"), "`turn` is never read");
    crate::testing::assert_shown("diagnostics__several_labels_on_several_lines", &drawn(text, &[error, warning]));
}

#[test]
fn wide_characters_and_tabs_keep_the_marks_in_place() {
    let text = "\tname 中文 = \u{202E}x;\n";
    let error = Diagnostic::error("E0101", at(text, "x"), "odd").at("here").note(at(text, "中文"), "two wide ones");
    crate::testing::assert_shown(
        "diagnostics__wide_characters_and_tabs_keep_the_marks_in_place",
        &drawn(text, &[error]),
    );
}

#[test]
fn a_long_line_is_cut_around_the_mark() {
    let text = format!("a = {} bad {};", "1 + ".repeat(300), "+ 2".repeat(300));
    let error = Diagnostic::error("E0101", at(&text, "bad"), "no such name").at("not declared").help("x ".repeat(80));
    crate::testing::assert_shown("diagnostics__a_long_line_is_cut_around_the_mark", &drawn(&text, &[error]));
    let style = Style { width: 60, ..Style::default() };
    let error = Diagnostic::error("E0101", Span::new(0, text.len()), "m".repeat(300)).at("word ".repeat(30));
    let out = draw(&SourceFile::new("f", text), &[error], &style);
    assert!(out.lines().all(|line| width(line) <= 60), "{out}");
}

#[test]
fn ascii_and_spans_outside_the_text() {
    let style = Style { ascii: true, ..Style::default() };
    let source = SourceFile::new("f", "ab");
    let far = Diagnostic::error("E0001", Span::new(70, 90), "past the end").fix("insert", Span::new(80, 80), "x");
    let end = Diagnostic::error("E0002", Span::new(2, 2), "at the end").at("expected `}`").fix(
        "close it",
        Span::new(2, 2),
        "}",
    );
    crate::testing::assert_shown("diagnostics__ascii_and_spans_outside_the_text", &draw(&source, &[far, end], &style));
}

#[test]
fn many_diagnostics_are_counted() {
    let all = vec![Diagnostic::error("E0001", Span::new(0, 1), "bad"); 50];
    let out = drawn("x", &all);
    assert_eq!(out.matches("error[E0001]").count(), MOST_SHOWN);
    assert!(out.contains("… and 10 more messages") && out.contains("50 errors; nothing was checked"), "{out}");
}

#[test]
fn colour_only_repeats() {
    let error = Diagnostic::error("E0001", Span::new(0, 1), "bad").at("here").fix("write y", Span::new(0, 1), "y");
    let source = SourceFile::new("f", "x");
    let plain = draw(&source, std::slice::from_ref(&error), &Style::default());
    let mut coloured = draw(&source, &[error], &Style { color: true, ..Style::default() });
    assert!(coloured.contains("\x1b[1;31m"));
    for code in ["0", "1", "2", "36", "1;31", "1;32", "1;33"] {
        coloured = coloured.replace(&format!("\x1b[{code}m"), "");
    }
    assert_eq!(coloured, plain);
}

#[test]
fn any_width_will_do() {
    let text = "program p {\n  shared x: 0..=3;\n}\n";
    let error = Diagnostic::error("E0001", at(text, "shared x"), "a long message about it")
        .at("here, in many words")
        .note(at(text, "0..=3"), "and there")
        .fix("write this", at(text, "0..=3"), "0..=4");
    for columns in 0..30 {
        let style = Style { width: columns, ..Style::default() };
        assert!(draw(&SourceFile::new("f", text), std::slice::from_ref(&error), &style).contains("E0001"));
    }
}
