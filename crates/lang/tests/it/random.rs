//! Random programs: what is printed parses to the same tree, formatting changes nothing but blanks, nothing panics.

use crate::support::{Choices, Generator, any_text, scatter};
use base::SourceFile;
use lang::pw::ast::{Item, PropertyKind};
use lang::pw::{self, printer};

/// The tree of a text without its spans; panics if the text does not parse.
fn tree(text: &str) -> String {
    let parsed = pw::parse(&SourceFile::new("t", text));
    assert!(!parsed.has_errors(), "{:?}\nin\n{text}", parsed.diagnostics);
    let tree = format!("{:?}", parsed.program.expect("no errors, so there is a program"));
    without_spans(&tree)
}

fn without_spans(tree: &str) -> String {
    let mut parts = tree.split("Span { start: ");
    let mut text = parts.next().unwrap_or_default().to_string();
    for part in parts {
        text.push_str(part.split_once('}').map_or("", |(_, rest)| rest));
    }
    text
}

fn format(text: &str) -> String {
    pw::format(&SourceFile::new("t", text)).unwrap_or_else(|errors| panic!("{errors:?}\nin\n{text}"))
}

fn check_format(text: &str) {
    let formatted = format(text);
    assert_eq!(tree(text), tree(&formatted), "formatting changed the meaning of\n{text}\ninto\n{formatted}");
    assert_eq!(format(&formatted), formatted, "formatting twice changes\n{formatted}\nfrom\n{text}");
    for kind in ["// line", "/* block", "// own", "/// doc", "/// more", "/* two"] {
        assert_eq!(text.matches(kind).count(), formatted.matches(kind).count(), "lost a comment of\n{text}");
    }
}

#[test]
fn formatting_changes_blanks_only() {
    for seed in 0..400 {
        let (tokens, mut choices) = Generator::program(seed);
        check_format(&tokens.join(" "));
        check_format(&scatter(&tokens, &mut choices));
    }
}

#[test]
fn printed_expressions_parse_to_themselves() {
    for seed in 0..400 {
        let text =
            format!("program t {{ shared idle, next: bool; invariant p: {}; }}", Generator::formula(seed).join(" "));
        let parsed = pw::parse(&SourceFile::new("t", text.as_str()));
        assert!(!parsed.has_errors(), "{:?}\nin {text}", parsed.diagnostics);
        let program = parsed.program.expect("no errors, so there is a program");
        let Some(Item::Property(property)) = program.items.last() else { panic!("no property") };
        let PropertyKind::Invariant(formula) = &property.kind else { panic!("no invariant") };
        let printed = printer::expr_to_string(formula);
        let again = format!("program t {{ shared idle, next: bool; invariant p: {printed}; }}");
        assert_eq!(tree(&text), tree(&again), "printed as {}", printed);
    }
}

#[test]
fn broken_programs_are_refused_in_words() {
    for seed in 0..400 {
        let (mut tokens, mut choices) = Generator::program(seed);
        for _ in 0..1 + choices.below(5) {
            break_tokens(&mut tokens, &mut choices);
        }
        let text = scatter(&tokens, &mut choices);
        let file = SourceFile::new("t", text.as_str());
        let parsed = pw::parse(&file);
        assert_eq!(pw::format(&file).is_ok(), !parsed.has_errors());
        assert!(parsed.has_errors() || parsed.program.is_some());
        for diagnostic in &parsed.diagnostics {
            assert!(lang::codes::find(diagnostic.code).is_some(), "{} is not in the table", diagnostic.code);
            let edits = diagnostic.helps.iter().flat_map(|help| &help.edits).map(|edit| edit.span);
            let notes = diagnostic.secondary.iter().map(|note| note.span);
            for span in edits.chain(notes).chain([diagnostic.primary.span]) {
                assert!(text.get(span.range()).is_some(), "{span:?} is not in the text");
            }
        }
    }
}

#[test]
fn any_text_is_answered() {
    for seed in 0..400 {
        let text = any_text(&mut Choices::from_seed(seed));
        pw::parse(&SourceFile::new("t", text));
    }
}

#[test]
fn any_tokens_are_answered() {
    for seed in 0..400 {
        let mut choices = Choices::from_seed(seed);
        let words = (0..choices.below(60)).map(|_| choices.below(WORDS.len())).collect::<Vec<_>>();
        let text: Vec<&str> = words.into_iter().map(|word| WORDS[word]).collect();
        let file = SourceFile::new("t", format!("program t {{ {}", text.join(" ")));
        assert_eq!(pw::format(&file).is_ok(), !pw::parse(&file).has_errors());
    }
}

const WORDS: [&str; 66] = [
    "process",
    "P",
    "[",
    "]",
    "{",
    "}",
    "(",
    ")",
    ";",
    ":",
    ",",
    ".",
    "..",
    "..<",
    "..=",
    "@",
    "?",
    "=",
    "==",
    "<",
    "<>",
    "+",
    "-",
    "*",
    "=>",
    "~>",
    "-->",
    ":=",
    "++",
    "if",
    "else",
    "then",
    "either",
    "or",
    "while",
    "loop",
    "for",
    "in",
    "atomic",
    "skip",
    "goto",
    "call",
    "return",
    "x",
    "any",
    "forall",
    "count",
    "always",
    "U",
    "G",
    "0",
    "shared",
    "local",
    "proc",
    "enum",
    "define",
    "invariant",
    "property",
    "under",
    "weak",
    "strong",
    "every",
    "expect",
    "fairness",
    "hint",
    "race_free",
];

fn break_tokens(tokens: &mut Vec<String>, choices: &mut Choices) {
    let at = choices.below(tokens.len());
    match choices.below(4) {
        0 => {
            tokens.remove(at);
        }
        1 => tokens.insert(at, tokens[choices.below(tokens.len())].clone()),
        2 => tokens.insert(at, WORDS[choices.below(WORDS.len())].to_string()),
        _ => {
            let other = choices.below(tokens.len());
            tokens.swap(at, other);
        }
    }
    if tokens.is_empty() {
        tokens.push("program".to_string());
    }
}

#[test]
fn all_examples_are_formatted_without_a_change_of_meaning() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let entries = std::fs::read_dir(&folder).expect("there are examples");
    let paths = entries.filter_map(Result::ok).map(|entry| entry.path());
    for path in paths.filter(|path| path.extension().is_some_and(|extension| extension == "pw")) {
        let text = std::fs::read_to_string(&path).expect("an example can be read");
        eprintln!("{}", path.display());
        check_format(&text);
    }
}
