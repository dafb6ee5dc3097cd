//! One slip, one message: each example is parsed with one of its words or signs left out, and few errors come of it.

use base::SourceFile;
use lang::pw;
use std::path::Path;

/// Only every so many words and signs are left out, to keep the test short.
const EVERY: usize = 7;

#[test]
fn a_missing_word_or_sign_draws_few_errors() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let entries = std::fs::read_dir(&folder).expect("there are examples");
    let (mut n_slips, mut n_with_one_error) = (0, 0);
    for path in entries.filter_map(Result::ok).map(|entry| entry.path()) {
        if path.extension().is_none_or(|extension| extension != "pw") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("an example can be read");
        for (start, end) in words_and_signs(&text).into_iter().step_by(EVERY) {
            let slip = format!("{}{}", &text[..start], &text[end..]);
            let diagnostics = pw::parse(&SourceFile::new("t", slip)).diagnostics;
            let n_errors = diagnostics.iter().filter(|diagnostic| diagnostic.is_error()).count();
            let place = &text[start..end];
            assert!(n_errors <= 4, "{n_errors} errors without `{place}` in {}: {diagnostics:?}", path.display());
            n_slips += 1;
            n_with_one_error += usize::from(n_errors <= 1);
        }
    }
    assert!(n_with_one_error * 100 >= n_slips * 90, "only {n_with_one_error} of {n_slips} draw one error at most");
}

/// The places of all words, and of all other characters that are no blanks, outside comments.
fn words_and_signs(text: &str) -> Vec<(usize, usize)> {
    let mut places = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let length = match rest.chars().next() {
            _ if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            Some(c) if is_word(c) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            first => first.map_or(1, char::len_utf8),
        };
        if !rest.starts_with("//") && !rest.starts_with(char::is_whitespace) {
            places.push((at, at + length));
        }
        at += length;
    }
    places
}

/// Where indentation says nothing, a declaration inside of a process shows which brace lacks its partner.
#[test]
fn a_missing_brace_on_one_line_is_found_before_the_next_declaration() {
    for (text, blamed) in [
        ("program a { process P { loop { skip; } invariant i: true; }", "{ loop"),
        ("program a { shared x: bool; process P { loop { if x { skip; } } process Q { skip; } }", "{ loop"),
        ("program a { process P { loop { skip; reachable r: P@end; } }", "{ skip"),
        ("program a { process P { skip; } invariant i: true;", "{ process"),
        ("program a { shared process_x: bool; process P { invariant = true; ", "{ invariant"),
    ] {
        let found = pw::parse(&SourceFile::new("t", text)).diagnostics;
        let first = found.iter().find(|one| one.message.contains("never closed")).expect("it is said");
        let rest = &text[first.primary.span.start as usize..];
        assert!(rest.starts_with(blamed), "`{rest}` in `{text}`");
    }
}
