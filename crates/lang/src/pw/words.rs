//! Words with a meaning, and where they have it.
//!
//! Few words are reserved everywhere ([`is_reserved`]). All others are keywords only where their keyword can stand, so
//! a label may be called `release`, an enum value `idle`, and a variable `next`. Where both are possible, a word that
//! the program declares is that name.

use crate::pw::ast::{BinaryOp, UnaryOp};

/// Words that begin a simple or compound statement.
pub(crate) const STATEMENTS: [&str; 26] = [
    "acquire", "assert", "atomic", "await", "break", "call", "continue", "either", "for", "goto", "idle", "if", "loop",
    "release", "return", "skip", "while", "local", "public", "send", "receive", "peek", "insert", "remove", "some",
    "let",
];

/// Words that begin a declaration of the program.
pub(crate) const ITEMS: [&str; 19] = [
    "allow",
    "chan",
    "const",
    "deadlock_free",
    "define",
    "enum",
    "fairness",
    "hint",
    "initially",
    "invariant",
    "no_errors",
    "proc",
    "process",
    "property",
    "race_free",
    "reachable",
    "shared",
    "struct",
    "type",
];

/// What people write who think of another language, and what it is called here.
const FOREIGN_STATEMENTS: [(&str, &str); 21] = [
    ("wait", "await"),
    ("when", "await"),
    ("assume", "await"),
    ("require", "await"),
    ("block", "await"),
    ("lock", "acquire"),
    ("down", "acquire"),
    ("request", "acquire"),
    ("take", "acquire"),
    ("unlock", "release"),
    ("up", "release"),
    ("signal", "release"),
    ("forever", "loop"),
    ("do", "loop"),
    ("pass", "skip"),
    ("nop", "skip"),
    ("noop", "skip"),
    ("jump", "goto"),
    ("var", "local"),
    ("recv", "receive"),
    ("put", "send"),
];

/// Likewise for declarations.
const FOREIGN_ITEMS: [(&str, &str); 17] = [
    ("global", "shared"),
    ("var", "shared"),
    ("let", "shared"),
    ("procedure", "proc"),
    ("function", "proc"),
    ("fn", "proc"),
    ("inline", "define"),
    ("macro", "define"),
    ("thread", "process"),
    ("proctype", "process"),
    ("ltl", "property"),
    ("liveness", "property"),
    ("safety", "invariant"),
    ("mtype", "enum"),
    ("channel", "chan"),
    ("record", "struct"),
    ("typedef", "struct"),
];

/// Words that are never names.
const RESERVED: [&str; 25] = [
    "and", "as", "const", "define", "either", "else", "enum", "exists", "false", "for", "forall", "if", "in", "local",
    "loop", "not", "or", "proc", "process", "program", "public", "shared", "then", "true", "while",
];

/// Words that are no operands unless the program declares them.
const KEYWORDS: [&str; 40] = [
    "acquire",
    "allow",
    "always",
    "any",
    "assert",
    "atomic",
    "await",
    "break",
    "call",
    "continue",
    "deadlock_free",
    "equivalent",
    "eventually",
    "every",
    "expect",
    "fairness",
    "goto",
    "hint",
    "idle",
    "iff",
    "implies",
    "invariant",
    "leadsto",
    "next",
    "no_errors",
    "property",
    "race_free",
    "reachable",
    "release",
    "releases",
    "return",
    "skip",
    "strong",
    "stronguntil",
    "under",
    "until",
    "weak",
    "weakuntil",
    "xor",
    "progress",
];

/// Whether the word is a keyword wherever it stands (but for labels, which may be any word).
pub(crate) fn is_reserved(word: &str) -> bool {
    RESERVED.contains(&word)
}

/// Whether the word is no operand unless the program declares it.
pub(crate) fn is_keyword(word: &str) -> bool {
    KEYWORDS.contains(&word) || is_reserved(word)
}

/// The operator that the word is between two operands of a formula.
pub(crate) fn infix_word(word: &str) -> Option<BinaryOp> {
    Some(match word {
        "and" => BinaryOp::And,
        "or" => BinaryOp::Or,
        "xor" => BinaryOp::Xor,
        "implies" => BinaryOp::Implies,
        "iff" | "equivalent" => BinaryOp::Iff,
        "leadsto" => BinaryOp::LeadsTo,
        "until" | "stronguntil" | "U" => BinaryOp::Until,
        "weakuntil" | "W" => BinaryOp::WeakUntil,
        "releases" | "release" | "R" | "V" => BinaryOp::Releases,
        "M" => BinaryOp::StrongReleases,
        _ => return None,
    })
}

/// The operators that the word is before an operand, outermost first; `GF` is two.
pub(crate) fn prefix_word(word: &str) -> Option<Vec<UnaryOp>> {
    match word {
        "always" => Some(vec![UnaryOp::Always]),
        "eventually" => Some(vec![UnaryOp::Eventually]),
        "next" => Some(vec![UnaryOp::Next]),
        _ if (1..=4).contains(&word.len()) => word.chars().map(prefix_letter).collect(),
        _ => None,
    }
}

fn prefix_letter(letter: char) -> Option<UnaryOp> {
    match letter {
        'G' => Some(UnaryOp::Always),
        'F' => Some(UnaryOp::Eventually),
        'X' => Some(UnaryOp::Next),
        _ => None,
    }
}

/// The statement keyword that was meant by a word that is none.
pub(crate) fn meant_statement(word: &str) -> Option<&'static str> {
    meant(word, &FOREIGN_STATEMENTS, &STATEMENTS)
}

/// The declaration keyword that was meant by a word that is none.
pub(crate) fn meant_item(word: &str) -> Option<&'static str> {
    meant(word, &FOREIGN_ITEMS, &ITEMS)
}

fn meant(word: &str, foreign: &[(&str, &'static str)], own: &[&'static str]) -> Option<&'static str> {
    let same_meaning = foreign.iter().find(|(other, _)| *other == word).map(|&(_, keyword)| keyword);
    // Nearly every short word is one letter away from some keyword.
    let own: &[&str] = if word.len() < 3 { &[] } else { own };
    same_meaning.or_else(|| base::diagnostic::nearest_name(word, own.iter().copied()))
}
