//! The spellings of operators, once.
//!
//! In: the text of a token. Out: the operator that it is where an operand, or where an operator is expected.

use crate::formula::{Binary, Unary};

/// An operator between operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Infix {
    /// All.
    And,
    /// Some.
    Or,
    /// Not the same: `xor`.
    Xor,
    /// The same: `xnor`, which binds like `xor`.
    Xnor,
    /// Another operator.
    Other(Binary),
}

/// How tightly operators bind, the loosest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// `=> <=> ~>`; these neither mix nor chain.
    Implication,
    /// `xor`
    Xor,
    /// `||`
    Or,
    /// `&&`
    And,
    /// `until` and its kin; these neither mix nor chain.
    Until,
}

impl Infix {
    /// How tightly it binds.
    pub fn level(self) -> Level {
        match self {
            Infix::And => Level::And,
            Infix::Or => Level::Or,
            Infix::Xor | Infix::Xnor => Level::Xor,
            Infix::Other(Binary::Implies | Binary::Iff | Binary::LeadsTo | Binary::Xor) => Level::Implication,
            Infix::Other(_) => Level::Until,
        }
    }
}

/// The operator before an operand that is spelt so.
pub fn prefix(text: &str) -> Option<Unary> {
    Some(match text {
        "always" | "globally" | "G" | "[]" | "□" | "⬜" | "◻" => Unary::Always,
        "eventually" | "finally" | "F" | "<>" | "◇" | "⋄" | "♢" => Unary::Eventually,
        "next" | "X" | "()" | "○" | "◯" => Unary::Next,
        "not" | "!" | "~" | "¬" => Unary::Not,
        _ => return None,
    })
}

/// The operator between operands that is spelt so.
pub fn infix(text: &str) -> Option<Infix> {
    let binary = match text {
        "and" | "&&" | "&" | "/\\" | "*" | "∧" => return Some(Infix::And),
        "or" | "||" | "|" | "\\/" | "+" | "∨" => return Some(Infix::Or),
        "xor" | "^" | "⊕" => return Some(Infix::Xor),
        "xnor" => return Some(Infix::Xnor),
        "implies" | "=>" | "->" | "→" | "⇒" => Binary::Implies,
        "iff" | "equivalent" | "<=>" | "<->" | "<-->" | "↔" | "⇔" => Binary::Iff,
        "leadsto" | "~>" => Binary::LeadsTo,
        "until" | "stronguntil" | "U" => Binary::Until,
        "weakuntil" | "W" => Binary::WeakUntil,
        "releases" | "release" | "R" | "V" => Binary::Releases,
        "strongreleases" | "strongrelease" | "M" => Binary::StrongReleases,
        _ => return None,
    };
    Some(Infix::Other(binary))
}

/// A comparison; between a name and a name or a number it is part of an atom.
pub fn is_comparison(text: &str) -> bool {
    ["==", "=", "!=", "≠", "<", "<=", "≤", ">", ">="].contains(&text)
}

/// The constant that is spelt so.
pub fn constant(text: &str) -> Option<bool> {
    match text {
        "1" => Some(true),
        "0" => Some(false),
        _ if text.eq_ignore_ascii_case("true") => Some(true),
        _ if text.eq_ignore_ascii_case("false") => Some(false),
        _ => None,
    }
}

/// `GFp` as `G F p`: the operators that a word begins with, and the rest, if it is read so.
pub fn glued(word: &str) -> Option<(&str, &str)> {
    let rest = word.trim_start_matches(['F', 'G', 'X']);
    let letters = &word[..word.len() - rest.len()];
    let is_rest = rest.is_empty() || rest.starts_with(|c: char| c.is_ascii_lowercase());
    (!letters.is_empty() && is_rest).then_some((letters, rest))
}

/// The operators that are written as these letters, in their order.
pub fn letters(letters: &str) -> Vec<Unary> {
    let operator = |letter| match letter {
        'G' => Unary::Always,
        'F' => Unary::Eventually,
        _ => Unary::Next,
    };
    letters.chars().map(operator).collect()
}
