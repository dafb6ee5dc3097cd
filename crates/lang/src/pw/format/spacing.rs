//! Whether a blank stands between two neighbours on a line.

use super::{Piece, Role, TokenKind};

/// Whether a blank stands between them.
pub(super) fn has_blank(before: &Piece<'_>, after: &Piece<'_>) -> bool {
    use TokenKind::*;
    if before.is_comment() || after.is_comment() {
        return true;
    }
    // `N: 2.. = 3`: `..=` would be one token.
    if is_range_dots(before.kind) && after.kind == Assign {
        return true;
    }
    let clings_to_left = after.role == Role::Tight
        || matches!(after.kind, Semicolon | Comma | Colon | Question | Dot | RightParen | RightBracket)
        || is_range_dots(after.kind)
        || (after.kind == RightBrace && after.role == Role::Plain);
    let clings_to_right = matches!(before.kind, LeftParen | LeftBracket | Dot | At)
        || is_range_dots(before.kind)
        || (before.kind == LeftBrace && before.role == Role::Plain);
    let is_empty_block = before.kind == LeftBrace && after.kind == RightBrace;
    !(clings_to_left || clings_to_right || is_empty_block || is_sign_of(before, after))
}

fn is_range_dots(kind: TokenKind) -> bool {
    matches!(kind, TokenKind::DotDot | TokenKind::DotDotLess | TokenKind::DotDotEqual)
}

/// `!` and `-` stand at their operand, but `- -x` keeps its blank: `--` would be one token.
fn is_sign_of(before: &Piece<'_>, after: &Piece<'_>) -> bool {
    let is_sign = before.role == Role::Prefix && matches!(before.kind, TokenKind::Not | TokenKind::Minus);
    is_sign && !(before.kind == TokenKind::Minus && after.kind == TokenKind::Minus)
}
