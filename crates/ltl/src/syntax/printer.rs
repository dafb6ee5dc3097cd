//! Formulas to text.
//!
//! In: a formula. Out: its text in one of several spellings, with parentheses wherever two tools could read it differently. Names that a tool
//! could take for something else are in quotes. The text of an atom that is a name is read back as the same atom.

use super::lexer::{is_name_part, is_name_start};
use super::operators;
use crate::formula::{Atoms, Binary, Formula, FormulaId, Formulas, Unary};

/// Whose spelling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// `always (p => eventually q)`, as in programs.
    Keywords,
    /// `G(p -> F q)`, with `W`, `R`, `M`; every atom in quotes where it is no plain name.
    Spot,
    /// `[](p -> <>q)`, with `U` and `V` only, atoms as names that SPIN accepts.
    Spin,
}

/// The text of a formula.
pub fn print(formulas: &Formulas, atoms: &Atoms, root: FormulaId, style: Style) -> String {
    let mut text = String::new();
    // Work to do, last first: formulas to write, and text between them.
    let mut open = vec![Piece::Formula(root, false)];
    while let Some(piece) = open.pop() {
        match piece {
            Piece::Text(words) => text += &words,
            Piece::Formula(id, is_operand) => {
                let pieces = pieces(formulas, atoms, (id, style));
                if is_operand && has_infix(formulas.get(id), style) {
                    text.push('(');
                    open.push(Piece::Text(")".to_owned()));
                }
                open.extend(pieces.into_iter().rev());
            }
        }
    }
    text
}

/// A part of the text.
enum Piece {
    Text(String),
    /// A formula; in parentheses if it is the operand of something and has operands itself.
    Formula(FormulaId, bool),
}

fn pieces(formulas: &Formulas, atoms: &Atoms, (id, style): (FormulaId, Style)) -> Vec<Piece> {
    let text = |words: &str| Piece::Text(words.to_owned());
    match formulas.get(id) {
        Formula::True => vec![text("true")],
        Formula::False => vec![text("false")],
        Formula::Atom(atom) => vec![Piece::Text(quoted(&atoms.name(*atom), style))],
        Formula::Unary(operator, part) => vec![text(prefix(*operator, style)), Piece::Formula(*part, true)],
        Formula::And(parts) => joined(parts, if style == Style::Spot { " & " } else { " && " }),
        Formula::Or(parts) => joined(parts, if style == Style::Spot { " | " } else { " || " }),
        Formula::Binary(operator, left, right) => binary(*operator, (*left, *right), style),
    }
}

/// Whether the text has an operator between operands that is not in parentheses.
fn has_infix(formula: &Formula, style: Style) -> bool {
    match formula {
        Formula::And(_) | Formula::Or(_) => true,
        Formula::Binary(Binary::LeadsTo, ..) => style == Style::Keywords,
        Formula::Binary(Binary::Xor, ..) => style != Style::Spin,
        Formula::Binary(..) => true,
        Formula::True | Formula::False | Formula::Atom(_) | Formula::Unary(..) => false,
    }
}

fn joined(parts: &[FormulaId], between: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for &part in parts {
        if !pieces.is_empty() {
            pieces.push(Piece::Text(between.to_owned()));
        }
        pieces.push(Piece::Formula(part, true));
    }
    pieces
}

fn prefix(operator: Unary, style: Style) -> &'static str {
    match (operator, style) {
        (Unary::Not, _) => "!",
        (Unary::Next, Style::Keywords) => "next ",
        (Unary::Next, _) => "X ",
        (Unary::Always, Style::Keywords) => "always ",
        (Unary::Always, Style::Spot) => "G ",
        (Unary::Always, Style::Spin) => "[] ",
        (Unary::Eventually, Style::Keywords) => "eventually ",
        (Unary::Eventually, Style::Spot) => "F ",
        (Unary::Eventually, Style::Spin) => "<> ",
    }
}

fn binary(operator: Binary, (left, right): (FormulaId, FormulaId), style: Style) -> Vec<Piece> {
    let text = |words: &str| Piece::Text(words.to_owned());
    let of = |id| Piece::Formula(id, true);
    let word = match (operator, style) {
        (Binary::Implies, Style::Keywords) => " => ",
        (Binary::Implies, _) => " -> ",
        (Binary::Iff, Style::Keywords) => " <=> ",
        (Binary::Iff, _) => " <-> ",
        (Binary::Xor, Style::Keywords | Style::Spot) => " xor ",
        // SPIN has no word for it.
        (Binary::Xor, Style::Spin) => return vec![text("!("), of(left), text(" <-> "), of(right), text(")")],
        (Binary::Until, Style::Keywords) => " until ",
        (Binary::Until, _) => " U ",
        (Binary::WeakUntil, Style::Keywords) => " weakuntil ",
        (Binary::WeakUntil, Style::Spot) => " W ",
        // f W g is g V (f || g).
        (Binary::WeakUntil, Style::Spin) => {
            return vec![of(right), text(" V ("), of(left), text(" || "), of(right), text(")")];
        }
        (Binary::Releases, Style::Keywords) => " releases ",
        (Binary::Releases, Style::Spot) => " R ",
        (Binary::Releases, Style::Spin) => " V ",
        (Binary::StrongReleases, Style::Keywords | Style::Spot) => " M ",
        // f M g is g U (f && g).
        (Binary::StrongReleases, Style::Spin) => {
            return vec![of(right), text(" U ("), of(left), text(" && "), of(right), text(")")];
        }
        (Binary::LeadsTo, Style::Keywords) => " ~> ",
        (Binary::LeadsTo, Style::Spot) => return vec![text("G ("), of(left), text(" -> F "), of(right), text(")")],
        (Binary::LeadsTo, Style::Spin) => return vec![text("[] ("), of(left), text(" -> <> "), of(right), text(")")],
    };
    vec![of(left), text(word), of(right)]
}

/// An atom as the style's readers read it back.
fn quoted(name: &str, style: Style) -> String {
    match style {
        Style::Keywords | Style::Spot if is_plain(name, style) => name.to_owned(),
        Style::Keywords | Style::Spot => format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\"")),
        Style::Spin => spin_name(name),
    }
}

/// Whether a name is read back as one atom without quotes.
fn is_plain(name: &str, style: Style) -> bool {
    let is_name = name.starts_with(is_name_start) && name.chars().all(is_name_part);
    let is_taken = operators::prefix(name).is_some()
        || operators::infix(name).is_some()
        || operators::constant(name).is_some()
        || operators::glued(name).is_some();
    // Spot reads any name that begins with one of its operators as that operator.
    let is_spots =
        style == Style::Spot && (!name.is_ascii() || name.starts_with(['F', 'G', 'X', 'U', 'R', 'W', 'M', 'V']));
    is_name && !is_taken && !is_spots && !name.contains('\'')
}

/// SPIN's propositions are lower-case names; what it could not read becomes `_`.
fn spin_name(name: &str) -> String {
    let mut plain: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if !plain.starts_with(|c: char| c.is_ascii_lowercase())
        || operators::infix(&plain).is_some()
        || operators::prefix(&plain).is_some()
    {
        plain.insert_str(0, "p_");
    }
    plain
}
