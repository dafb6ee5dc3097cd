//! The formatter behind `piecewise fmt`.
//!
//! In: a source file. Out: the same tokens and comments in the same order, with other blanks and line ends between
//! them; or the errors of a file that does not parse, which is never touched. Since no token is changed, the text means
//! what it meant, and the user's spelling of operators and parentheses stays.
//!
//! Each declaration and statement begins a line, indented by two blanks per block. Within a statement the user's line
//! ends are kept, with four more blanks. A list or block that the user wrote on one line stays there if it is simple
//! ([`inline`]). One blank line between statements or declarations is kept. Labels, names of properties and variables,
//! and comments at the ends of lines are aligned with those of their neighbours ([`align`]).

mod align;
mod inline;
mod lines;
mod spacing;

use super::lexer::{self, TokenKind};
use super::parser::{self, Role};
use base::{Diagnostic, SourceFile};

/// A token or comment with what the layout needs to know about it.
struct Piece<'s> {
    kind: TokenKind,
    text: &'s str,
    role: Role,
    /// Line ends between this piece and the one before it.
    n_line_ends_before: usize,
    /// How many characters stand before it on its line.
    column: usize,
}

impl Piece<'_> {
    fn is_comment(&self) -> bool {
        matches!(self.kind, TokenKind::Comment | TokenKind::DocComment)
    }

    /// Whether nothing can follow it on its line.
    fn is_line_comment(&self) -> bool {
        self.is_comment() && self.text.starts_with("//")
    }
}

/// Formats a file; what is wrong with it if it does not parse.
pub fn format(file: &SourceFile) -> Result<String, Vec<Diagnostic>> {
    if let Some(diagnostic) = super::too_long(file) {
        return Err(vec![diagnostic]);
    }
    let parser::Outcome { diagnostics, roles, .. } = parser::parse(file);
    if diagnostics.iter().any(Diagnostic::is_error) {
        return Err(diagnostics);
    }
    let pieces = pieces(file.text(), &roles);
    let is_inline = inline::pieces_kept_on_one_line(&pieces);
    let mut lines = lines::lines(&pieces, &is_inline);
    align::align(&mut lines);
    let formatted = lines::to_text(&lines);
    // Blanks alone cannot change the tokens unless two of them were glued together. That would be a mistake in
    // `spacing`; then rather nothing is formatted than something damaged.
    let is_same = signature(&formatted) == signature(file.text());
    debug_assert!(is_same, "formatting changed the tokens of\n{}\ninto\n{formatted}", file.text());
    Ok(if is_same { formatted } else { file.text().to_string() })
}

fn pieces<'s>(text: &'s str, roles: &[Role]) -> Vec<Piece<'s>> {
    let mut roles = roles.iter();
    let (mut end_before, mut column_before) = (0, 0);
    let mut pieces = Vec::new();
    for token in lexer::tokens(text).0 {
        let range = token.span.range();
        let between = &text[end_before..range.start];
        let n_line_ends_before = between.matches('\n').count();
        let column = column_after(column_before, between);
        end_before = range.end;
        column_before = column_after(column, &text[range.clone()]);
        let is_comment = matches!(token.kind, TokenKind::Comment | TokenKind::DocComment);
        let role = if is_comment { Role::Plain } else { roles.next().copied().unwrap_or(Role::Plain) };
        if token.kind != TokenKind::End {
            pieces.push(Piece { kind: token.kind, text: text[range].trim_end(), role, n_line_ends_before, column });
        }
    }
    pieces
}

fn column_after(column: usize, text: &str) -> usize {
    match text.rsplit_once('\n') {
        Some((_, last_line)) => last_line.chars().count(),
        None => column + text.chars().count(),
    }
}

/// All that formatting must not change.
fn signature(text: &str) -> Vec<(TokenKind, String)> {
    let (tokens, _) = lexer::tokens(text);
    let shown = |token: &lexer::Token| text[token.span.range()].trim_end().replace('\r', "");
    tokens.iter().map(|token| (token.kind, shown(token))).collect()
}
