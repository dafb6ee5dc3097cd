//! A program with one word of one line changed, or without the line: most often nearly the same program.
//!
//! In: a text with one statement a line, and [`Choices`]. Out: another text, which may be refused by the front-end; `None` where nothing can be
//! changed.

use crate::choices::Choices;

/// Words, and their replacements in a changed program.
const EXCHANGES: [(&str, &str); 40] = [
    (" == ", " != "),
    (" != ", " == "),
    (" < ", " >= "),
    (" >= ", " < "),
    (" && ", " || "),
    (" || ", " && "),
    ("true", "false"),
    ("false", "true"),
    ("[i]", "[0]"),
    ("[i]", "[1]"),
    ("[0]", "[i]"),
    ("[0]", "[1]"),
    ("[1]", "[0]"),
    (" = 0;", " = 1;"),
    (" = 1;", " = 0;"),
    ("forall", "exists"),
    ("exists", "forall"),
    (" > ", " <= "),
    (" * ", " / "),
    (" + ", " / "),
    ("red", "green"),
    ("none", "0"),
    ("[i]", "[(i + 1) % N]"),
    ("(i + 1) % N", "(i + N - 1) % N"),
    ("(i + 1) % N", "(i + 2) % N"),
    ("(i + N - 1) % N", "(i + 1) % N"),
    ("(i + 1) % N", "i"),
    ("i == 0", "i == N - 1"),
    ("i == N - 1", "i == 0"),
    ("i == 0", "i % 2 == 0"),
    ("k < i", "k > i"),
    ("k < i", "k != i"),
    ("k > i", "k < i"),
    ("i != j", "i < j"),
    ("weak", "strong"),
    ("weak", "every"),
    ("strong", "weak"),
    (" + 1", " + 2"),
    ("N - 1", "N - 2"),
    ("= i;", "= none;"),
];

/// The program with one line changed, or without it.
pub fn program(text: &str, choices: &mut Choices) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    let mut ways: Vec<(usize, String)> = Vec::new();
    for (at, line) in lines.iter().enumerate().skip(1) {
        for (word, other) in EXCHANGES {
            if line.contains(word) {
                ways.push((at, line.replacen(word, other, 1)));
            }
        }
        let is_step = line.ends_with(';') && !line.contains("invariant") && !line.contains("property");
        if is_step && line.contains('=') && !line.contains("shared") {
            ways.push((at, String::new()));
        }
        if let Some((before, waiting)) = line.split_once("await ")
            && let Some((_, after)) = waiting.split_once(';')
        {
            let instead = if before.contains("atomic {") { "" } else { "skip;" };
            ways.push((at, format!("{before}{instead}{after}")));
        }
    }
    if ways.is_empty() {
        return None;
    }
    let (at, new) = choices.pick(&ways).clone();
    let changed = lines.iter().enumerate().map(|(line_at, line)| if line_at == at { new.as_str() } else { line });
    Some(changed.collect::<Vec<_>>().join("\n"))
}
