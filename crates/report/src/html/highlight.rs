//! Source text with modest colour: comments, words of the language, labels, numbers.
//!
//! In: lines of any of the languages. Out: HTML of the same characters. It knows no grammar: a word is one of the
//! language's by being in a list, so a text that is wrong is coloured, too. Nothing is dropped: without its tags each
//! line is the line.

use maud::{Markup, html};

use crate::text::clean;

/// The words of the languages, in the order of the alphabet.
const WORDS: [&str; 110] = [
    "accept",
    "acquire",
    "allow",
    "always",
    "and",
    "as",
    "assert",
    "async",
    "atomic",
    "await",
    "bool",
    "break",
    "buchi",
    "byte",
    "call",
    "cas",
    "chan",
    "channel",
    "check",
    "commit",
    "const",
    "continue",
    "count",
    "deadlock_free",
    "define",
    "effect",
    "either",
    "else",
    "end",
    "enum",
    "eventually",
    "every",
    "exists",
    "expect",
    "expose",
    "fairness",
    "false",
    "for",
    "forall",
    "genbuchi",
    "goto",
    "guard",
    "hint",
    "holds",
    "idle",
    "if",
    "iff",
    "implies",
    "imply",
    "in",
    "init",
    "insert",
    "int",
    "invariant",
    "leadsto",
    "let",
    "local",
    "lock",
    "loop",
    "lossy",
    "max",
    "min",
    "muller",
    "next",
    "no_errors",
    "none",
    "not",
    "of",
    "or",
    "peek",
    "pid",
    "proc",
    "process",
    "program",
    "progress",
    "property",
    "public",
    "rabin",
    "race_free",
    "reachable",
    "receive",
    "release",
    "releases",
    "remove",
    "return",
    "sem",
    "send",
    "set",
    "shared",
    "skip",
    "some",
    "state",
    "streett",
    "strong",
    "struct",
    "sum",
    "sync",
    "system",
    "trans",
    "true",
    "type",
    "under",
    "unordered",
    "until",
    "violated",
    "weak",
    "weakuntil",
    "where",
    "while",
    "xor",
];

/// Colours lines one after another; a block comment goes on from line to line.
#[derive(Clone, Copy, Debug, Default)]
pub struct Highlighter {
    in_comment: bool,
}

impl Highlighter {
    /// The next line.
    pub fn line(&mut self, line: &str) -> Markup {
        let text: Vec<char> = clean(line).chars().collect();
        let mut tokens: Vec<(&'static str, String)> = Vec::new();
        let mut at = 0;
        while at < text.len() {
            let (class, end) = self.token(&text, at);
            tokens.push((class, text[at..end].iter().collect()));
            at = end;
        }
        html! {
            @for (class, token) in &tokens {
                @if class.is_empty() { (token) } @else { span class=(class) { (token) } }
            }
        }
    }

    /// The class of the token that starts here, and where it ends.
    fn token(&mut self, text: &[char], at: usize) -> (&'static str, usize) {
        let two = |at: usize, pair: [char; 2]| text.get(at..at + 2) == Some(&pair[..]);
        if self.in_comment || two(at, ['/', '*']) {
            let from = if self.in_comment { at } else { at + 2 };
            let close = (from..text.len()).find(|&at| two(at, ['*', '/']));
            self.in_comment = close.is_none();
            return ("comment", close.map_or(text.len(), |close| close + 2));
        }
        if two(at, ['/', '/']) {
            return ("comment", text.len());
        }
        let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
        let end_of =
            |from: usize, is: &dyn Fn(char) -> bool| (from..text.len()).find(|&at| !is(text[at])).unwrap_or(text.len());
        match text[at] {
            digit if digit.is_ascii_digit() => ("number", end_of(at, &is_word)),
            letter if is_word(letter) => {
                let end = end_of(at, &is_word);
                let word: String = text[at..end].iter().collect();
                let starts_line = text[..at].iter().all(|before| before.is_whitespace());
                let is_label = starts_line && text.get(end) == Some(&':') && text.get(end + 1) != Some(&':');
                match (WORDS.binary_search(&word.as_str()).is_ok(), is_label) {
                    (_, true) => ("label", end),
                    (true, false) => ("word", end),
                    (false, false) => ("", end),
                }
            }
            _ => ("", end_of(at + 1, &|other| !is_word(other) && other != '/')),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text of HTML without its tags.
    fn plain(html: &str) -> String {
        let mut out = String::new();
        let mut inside = false;
        for letter in html.chars() {
            match letter {
                '<' => inside = true,
                '>' => inside = false,
                other if !inside => out.push(other),
                _ => {}
            }
        }
        out.replace("&lt;", "<")
            .replace("&gt;", ">")
            .replace("&quot;", "\"")
            .replace("&#39;", "'")
            .replace("&amp;", "&")
    }

    #[test]
    fn the_words_are_sorted_and_nothing_is_lost() {
        assert!(WORDS.is_sorted());
        let mut all = Highlighter::default();
        for line in [
            "  trying: acquire x; // <b>",
            "a /* b </span>",
            "still */ while 10 <= x && y:: 'q'",
            "\tcafé: ∀ x / y /",
            "",
            "/",
        ] {
            assert_eq!(plain(&all.line(line).0), clean(line));
        }
    }

    #[test]
    fn words_labels_numbers_and_comments_have_their_class() {
        let mut all = Highlighter::default();
        let html = all.line("      trying:  acquire x == 1; // why").0;
        for part in [
            "<span class=\"label\">trying</span>",
            "<span class=\"word\">acquire</span> x",
            "<span class=\"number\">1</span>",
            "<span class=\"comment\">// why</span>",
        ] {
            assert!(html.contains(part), "{html}");
        }
        assert_eq!(all.line("/* a").0, "<span class=\"comment\">/* a</span>");
        assert_eq!(all.line("b */ c").0, "<span class=\"comment\">b */</span> c");
    }
}
