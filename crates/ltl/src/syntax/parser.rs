//! Tokens to formulas.
//!
//! In: a text. Out: its formula, or everything that is wrong with it, each with its place. Operators bind as in SPIN, Spot and NuSMV: those before an
//! operand tightest, then the until family, `&&`, `||`, `xor`, and `=>`, `<=>`, `~>` loosest. Nesting is limited, so that no text overflows the stack.

use base::{Diagnostic, SourceFile, Span};

use super::lexer::{self, LtlToken, LtlTokenKind, UNCLOSED};
use super::operators::{self, Infix, Level};
use crate::formula::{AtomId, Atoms, Binary, FormulaId, Formulas, Unary};

/// How deep parentheses and operators before operands may be nested.
const MAX_DEPTH: usize = 200;
/// How many errors are worth reporting.
const MAX_ERRORS: usize = 20;

/// Something else was expected here; the table of codes has the same.
const UNEXPECTED: &str = "E0101";
const IMPLICATION_CHAIN: &str = "E0107";
const UNTIL_CHAIN: &str = "E0108";
const AMBIGUOUS_ARROW: &str = "E0117";
const TOO_DEEP: &str = "E0131";

/// Reads a formula. Names become atoms; a name that `atoms` knows is an atom even where it could be read as an operator.
///
/// # Errors
/// Everything that is wrong with the text, in its order.
pub fn parse(file: &SourceFile, formulas: &mut Formulas, atoms: &mut Atoms) -> Result<FormulaId, Vec<Diagnostic>> {
    let (tokens, diagnostics) = lexer::tokens(file.text());
    let mut parser = Parser { file, tokens, at: 0, depth: 0, gave_up: false, formulas, atoms, diagnostics };
    let formula = parser.whole();
    let mut diagnostics = parser.diagnostics;
    diagnostics.sort_by_key(|diagnostic| diagnostic.primary.span);
    diagnostics.truncate(MAX_ERRORS);
    match formula {
        Some(formula) if diagnostics.is_empty() => Ok(formula),
        _ => Err(diagnostics),
    }
}

struct Parser<'a> {
    file: &'a SourceFile,
    tokens: Vec<LtlToken>,
    /// The token that comes next.
    at: usize,
    /// How many parentheses and operators are open.
    depth: usize,
    /// The text is nested too deeply: nothing more is read or reported.
    gave_up: bool,
    formulas: &'a mut Formulas,
    atoms: &'a mut Atoms,
    diagnostics: Vec<Diagnostic>,
}

/// A formula and its span; `None` for one with an error in it, which has been reported.
type Parsed = (Option<FormulaId>, Span);

impl Parser<'_> {
    fn whole(&mut self) -> Option<FormulaId> {
        let (mut formula, _) = self.formula();
        while let Some(token) = self.peek() {
            self.at += 1;
            formula = None;
            if self.gave_up {
                break;
            }
            match token.kind {
                LtlTokenKind::Close => self.error(UNCLOSED, token.span, "this parenthesis closes nothing".to_owned()),
                _ => self.unexpected("an operator", Some(token)),
            }
            if self.peek().is_some_and(|token| token.kind != LtlTokenKind::Close) {
                self.skip_infix();
                self.formula();
            }
        }
        formula
    }

    fn formula(&mut self) -> Parsed {
        self.chain(Level::Implication)
    }

    /// Operands of a level, and the operators between them.
    fn chain(&mut self, level: Level) -> Parsed {
        let next = match level {
            Level::Implication => Some(Level::Xor),
            Level::Xor => Some(Level::Or),
            Level::Or => Some(Level::And),
            Level::And => Some(Level::Until),
            Level::Until => None,
        };
        let operand = |parser: &mut Self| match next {
            Some(next) => parser.chain(next),
            None => parser.operand(),
        };
        let mut operands = vec![operand(self)];
        let mut operators: Vec<(Infix, Span)> = Vec::new();
        while !self.gave_up
            && let Some((operator, span)) = self.infix_at(level)
        {
            self.at += 1;
            operators.push((operator, span));
            operands.push(operand(self));
        }
        let span = operands[0].1.to(operands[operands.len() - 1].1);
        if operators.len() > 1 && matches!(level, Level::Implication | Level::Until) {
            self.refuse_chain(level, &operands, &operators);
            return (None, span);
        }
        let parts: Option<Vec<FormulaId>> = operands.iter().map(|operand| operand.0).collect();
        (parts.map(|parts| self.join(level, &operators, parts)), span)
    }

    fn join(&mut self, level: Level, operators: &[(Infix, Span)], parts: Vec<FormulaId>) -> FormulaId {
        match level {
            _ if parts.len() == 1 => parts[0],
            Level::And => self.formulas.and(parts),
            Level::Or => self.formulas.or(parts),
            Level::Xor | Level::Implication | Level::Until => {
                let mut joined = parts[0];
                for (&(operator, _), &part) in operators.iter().zip(&parts[1..]) {
                    let binary = match operator {
                        Infix::Other(binary) => binary,
                        Infix::Xnor => Binary::Iff,
                        Infix::Xor | Infix::And | Infix::Or => Binary::Xor,
                    };
                    joined = self.formulas.binary(binary, joined, part);
                }
                joined
            }
        }
    }

    /// `a U b U c`: both readings are shown.
    fn refuse_chain(&mut self, level: Level, operands: &[Parsed], operators: &[(Infix, Span)]) {
        let (code, who) = match level {
            Level::Until => (UNTIL_CHAIN, "SPIN reads it from the left, Spot from the right"),
            _ => (IMPLICATION_CHAIN, "tools read it from the left or from the right"),
        };
        let [first, second, third] = [operands[0].1, operands[1].1, operands[2].1];
        let text = |span: Span| self.file.slice(span).to_owned();
        let (one, two) = (text(operators[0].1), text(operators[1].1));
        let from_left = format!("({})", text(first.to(second)));
        let from_right = format!("({})", text(second.to(third)));
        let message = format!("`a {one} b {two} c` can be read in two ways");
        let diagnostic = Diagnostic::error(code, operators[1].1, message)
            .at(who)
            .suggest("from the left: put parentheses around the first two", first.to(second), from_left)
            .suggest("from the right: put parentheses around the last two", second.to(third), from_right);
        self.diagnostics.push(diagnostic);
    }

    /// Operators before an operand, and the operand.
    fn operand(&mut self) -> Parsed {
        let mut prefixes: Vec<(Unary, Span)> = Vec::new();
        loop {
            if self.depth + prefixes.len() > MAX_DEPTH {
                self.give_up();
                return (None, self.here());
            }
            let Some(token) = self.peek() else { break };
            let operators = self.prefixes_at(token);
            if operators.is_empty() {
                break;
            }
            self.at += 1;
            prefixes.extend(operators.into_iter().map(|operator| (operator, token.span)));
        }
        self.depth += prefixes.len();
        let (formula, span) = self.primary();
        self.depth -= prefixes.len();
        let span = prefixes.first().map_or(span, |first| first.1.to(span));
        let apply = |formula: FormulaId| {
            prefixes.iter().rev().fold(formula, |part, &(operator, _)| self.formulas.unary(operator, part))
        };
        (formula.map(apply), span)
    }

    fn primary(&mut self) -> Parsed {
        let Some(token) = self.peek() else {
            self.unexpected("a formula", None);
            return (None, self.here());
        };
        match token.kind {
            LtlTokenKind::Open => {
                self.at += 1;
                self.parenthesised(token)
            }
            LtlTokenKind::Word | LtlTokenKind::Number | LtlTokenKind::Quoted => {
                self.at += 1;
                self.word(token)
            }
            LtlTokenKind::Close => {
                self.unexpected("a formula", Some(token));
                (None, token.span)
            }
            LtlTokenKind::Symbol => {
                self.unexpected("a formula", Some(token));
                // `a && && b`: go on after the second operator.
                if self.text(token) != "-->" && operators::infix(self.text(token)).is_some() {
                    return (None, token.span);
                }
                self.at += 1;
                (None, token.span)
            }
        }
    }

    fn parenthesised(&mut self, open: LtlToken) -> Parsed {
        self.depth += 1;
        let (formula, _) = if self.depth > MAX_DEPTH {
            self.give_up();
            (None, open.span)
        } else {
            self.formula()
        };
        self.depth -= 1;
        match self.peek() {
            Some(close) if close.kind == LtlTokenKind::Close => {
                self.at += 1;
                (formula, open.span.to(close.span))
            }
            _ if self.gave_up => (None, open.span),
            Some(token) => {
                self.unexpected("an operator or `)`", Some(token));
                self.skip_to_close();
                (None, open.span.to(self.here()))
            }
            None => {
                let diagnostic = Diagnostic::error(UNCLOSED, open.span, "this parenthesis is never closed").suggest(
                    "add `)`",
                    self.here(),
                    ")",
                );
                self.diagnostics.push(diagnostic);
                (None, open.span.to(self.here()))
            }
        }
    }

    /// After an error inside parentheses: goes on behind their end.
    fn skip_to_close(&mut self) {
        let mut depth = 0;
        while let Some(token) = self.peek() {
            self.at += 1;
            match token.kind {
                LtlTokenKind::Open => depth += 1,
                LtlTokenKind::Close if depth == 0 => return,
                LtlTokenKind::Close => depth -= 1,
                _ => {}
            }
        }
    }

    /// A constant, a name, or a comparison of names and numbers.
    fn word(&mut self, token: LtlToken) -> Parsed {
        if let Some(compared) = self.comparison(token) {
            return compared;
        }
        let text = self.text(token).to_owned();
        if token.kind == LtlTokenKind::Quoted {
            let atom = self.atoms.named(&unquoted(&text));
            return (Some(self.formulas.atom(atom)), token.span);
        }
        let is_declared = self.atoms.find(&text).is_some();
        if let Some(value) = operators::constant(&text).filter(|_| !is_declared) {
            return (Some(self.formulas.constant(value)), token.span);
        }
        if token.kind == LtlTokenKind::Number {
            let message = format!("`{text}` is neither true nor false");
            self.error(UNEXPECTED, token.span, message);
            return (None, token.span);
        }
        if let Some((letters, rest)) = operators::glued(&text).filter(|_| !is_declared)
            && !rest.is_empty()
        {
            return self.glued(letters, rest, token.span);
        }
        let atom = self.atoms.named(&text);
        (Some(self.formulas.atom(atom)), token.span)
    }

    /// `GFp`: operators right before a name, as Spot reads it.
    fn glued(&mut self, letters: &str, name: &str, span: Span) -> Parsed {
        let formula = match operators::constant(name) {
            Some(value) => self.formulas.constant(value),
            None => {
                let atom = self.atoms.named(name);
                self.formulas.atom(atom)
            }
        };
        self.under(letters, formula, span)
    }

    /// A formula under the operators that these letters are.
    fn under(&mut self, letters: &str, mut formula: FormulaId, span: Span) -> Parsed {
        if self.depth + letters.len() > MAX_DEPTH {
            self.give_up();
            return (None, span);
        }
        for &operator in operators::letters(letters).iter().rev() {
            formula = self.formulas.unary(operator, formula);
        }
        (Some(formula), span)
    }

    /// `p=1` and `p=0`: an atom and its negation, as Spot reads them; operators may be right before it (`GFp=0`).
    fn literal(&mut self, left: LtlToken, is_true: bool, span: Span) -> Parsed {
        let text = self.text(left).to_owned();
        if left.kind == LtlTokenKind::Quoted {
            let atom = self.atoms.named(&unquoted(&text));
            let formula = self.signed(atom, is_true);
            return (Some(formula), span);
        }
        let is_declared = self.atoms.find(&text).is_some();
        let glued = operators::glued(&text).filter(|(_, rest)| !rest.is_empty() && !is_declared);
        let (letters, name) = glued.unwrap_or(("", &text));
        let atom = self.atoms.named(name);
        let formula = self.signed(atom, is_true);
        self.under(letters, formula, span)
    }

    fn signed(&mut self, atom: AtomId, is_true: bool) -> FormulaId {
        let formula = self.formulas.atom(atom);
        if is_true { formula } else { self.formulas.unary(Unary::Not, formula) }
    }

    /// `x == 0` is an atom.
    fn comparison(&mut self, left: LtlToken) -> Option<Parsed> {
        let operator = self.peek().filter(|token| token.kind == LtlTokenKind::Symbol)?;
        let symbol = self.text(operator).to_owned();
        if !operators::is_comparison(&symbol) {
            return None;
        }
        self.at += 1;
        let right = self
            .peek()
            .filter(|token| matches!(token.kind, LtlTokenKind::Word | LtlTokenKind::Number | LtlTokenKind::Quoted));
        let Some(right) = right else {
            self.unexpected("a name or a number", self.peek());
            return Some((None, left.span.to(operator.span)));
        };
        self.at += 1;
        let is_name = matches!(left.kind, LtlTokenKind::Word | LtlTokenKind::Quoted);
        if is_name && symbol == "=" && matches!(self.text(right), "0" | "1") {
            let is_true = self.text(right) == "1";
            return Some(self.literal(left, is_true, left.span.to(right.span)));
        }
        let symbol = match symbol.as_str() {
            "=" => "==",
            "≠" => "!=",
            "≤" => "<=",
            other => other,
        };
        let name = format!("{} {symbol} {}", self.text(left), self.text(right));
        let atom = self.atoms.named(&name);
        Some((Some(self.formulas.atom(atom)), left.span.to(right.span)))
    }

    /// The operators before an operand that the token is: one, or several as in `GF`, or none.
    fn prefixes_at(&self, token: LtlToken) -> Vec<Unary> {
        if !matches!(token.kind, LtlTokenKind::Word | LtlTokenKind::Symbol) {
            return Vec::new();
        }
        let text = self.text(token);
        if token.kind == LtlTokenKind::Word {
            let after = self.tokens.get(self.at + 1);
            let is_compared = after.is_some_and(|next| operators::is_comparison(self.text(*next)));
            if self.atoms.find(text).is_some() || is_compared {
                return Vec::new();
            }
        }
        match (operators::prefix(text), operators::glued(text)) {
            (Some(operator), _) => vec![operator],
            (None, Some((letters, ""))) => operators::letters(letters),
            _ => Vec::new(),
        }
    }

    fn infix_at(&mut self, level: Level) -> Option<(Infix, Span)> {
        self.split_glued_infix();
        let token = self.peek().filter(|token| matches!(token.kind, LtlTokenKind::Word | LtlTokenKind::Symbol))?;
        if self.text(token) == "-->" && level == Level::Implication {
            let diagnostic =
                Diagnostic::error(AMBIGUOUS_ARROW, token.span, "`-->` means different things in different tools")
                    .suggest("implication, as in Spot", token.span, "=>")
                    .suggest("leads to, as in UPPAAL", token.span, "~>");
            self.diagnostics.push(diagnostic);
            return Some((Infix::Other(Binary::Implies), token.span));
        }
        let operator = operators::infix(self.text(token))?;
        (operator.level() == level).then_some((operator, token.span))
    }

    /// `p=1Uq=0` and `(a)Ub`: where an operator must be, a letter right before a name is one, as Spot reads it.
    fn split_glued_infix(&mut self) {
        let Some(token) = self.peek().filter(|token| token.kind == LtlTokenKind::Word) else { return };
        let text = self.text(token);
        let (letter, name) = text.split_at(text.chars().next().map_or(0, char::len_utf8));
        let is_operator = |text: &str| operators::infix(text).is_some();
        if is_operator(&text.to_lowercase()) || is_operator(text) || !is_operator(letter) {
            return;
        }
        let kind = match name.chars().next() {
            Some(first) if lexer::is_name_start(first) => LtlTokenKind::Word,
            Some('0'..='9') if name.chars().all(|digit| digit.is_ascii_digit()) => LtlTokenKind::Number,
            _ => return,
        };
        let (start, end) = (token.span.start as usize, token.span.end as usize);
        let middle = start + letter.len();
        self.tokens[self.at] = LtlToken { kind: LtlTokenKind::Word, span: Span::new(start, middle) };
        self.tokens.insert(self.at + 1, LtlToken { kind, span: Span::new(middle, end) });
    }

    /// Goes behind an operator where none can be.
    fn skip_infix(&mut self) {
        if let Some(token) = self.peek()
            && operators::infix(self.text(token)).is_some()
        {
            self.at += 1;
        }
    }

    fn give_up(&mut self) {
        if !self.gave_up {
            let message = format!("the formula is nested more than {MAX_DEPTH} deep");
            let diagnostic = Diagnostic::error(TOO_DEEP, self.here(), message).help("give parts a name of their own");
            self.diagnostics.push(diagnostic);
            self.gave_up = true;
        }
    }

    fn unexpected(&mut self, wanted: &str, found: Option<LtlToken>) {
        if self.gave_up {
            return;
        }
        let (span, found) = match found {
            Some(token) => (token.span, format!("`{}`", self.text(token))),
            None => (self.here(), "the end".to_owned()),
        };
        self.error(UNEXPECTED, span, format!("expected {wanted}, found {found}"));
    }

    fn error(&mut self, code: &'static str, span: Span, message: String) {
        self.diagnostics.push(Diagnostic::error(code, span, message));
    }

    fn peek(&self) -> Option<LtlToken> {
        self.tokens.get(self.at).copied()
    }

    fn text(&self, token: LtlToken) -> &str {
        self.file.slice(token.span)
    }

    /// The span of the next token; the end of the text after the last one.
    fn here(&self) -> Span {
        let end = self.file.text().trim_end().len();
        self.peek().map_or(Span::new(end, end), |token| token.span)
    }
}

/// The text between quotes, `\"` and `\\` taken for what they mean.
fn unquoted(text: &str) -> String {
    let inner = text.strip_prefix('"').unwrap_or(text);
    let inner = inner.strip_suffix('"').unwrap_or(inner);
    let mut plain = String::new();
    let mut is_escaped = false;
    for c in inner.chars() {
        if c == '\\' && !is_escaped {
            is_escaped = true;
        } else {
            plain.push(c);
            is_escaped = false;
        }
    }
    plain
}
