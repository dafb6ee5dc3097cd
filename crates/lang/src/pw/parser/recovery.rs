//! Where parsing goes on after an error.
//!
//! Statements and declarations end with `;` or a block, and usually begin a line with a keyword or a label. Skipping
//! stops at whichever of these comes first, so one slip costs one statement.

use super::{Parser, TokenKind, words};

impl Parser<'_> {
    /// Skips to where the next statement may begin, or to the end of the block.
    pub(super) fn skip_statement(&mut self) {
        self.skip_until(Self::begins_something);
    }

    /// Skips to where the next declaration of the program may begin.
    pub(super) fn skip_item(&mut self) {
        self.skip_until(Self::begins_item);
    }

    /// Skips past a `;` or a block, or to a line that begins something new.
    fn skip_until(&mut self, begins: impl Fn(&Self) -> bool) {
        loop {
            match self.peek() {
                TokenKind::Semicolon => {
                    self.bump();
                    // Whatever begins, begins with a word: this may have been the `;` of an array's type.
                    if matches!(self.peek(), TokenKind::Word | TokenKind::RightBrace) {
                        return;
                    }
                }
                TokenKind::RightBrace | TokenKind::End => return,
                TokenKind::LeftBrace => {
                    let holds_places = self.previous_kind() == Some(TokenKind::At);
                    self.skip_braces();
                    if !holds_places && !matches!(self.word_at(0), "else" | "or") {
                        return;
                    }
                }
                TokenKind::Word if self.on_new_line() && begins(self) => return,
                _ => {
                    self.bump();
                }
            }
        }
    }

    /// Skips to the block of a compound statement whose head could not be parsed; true if there is one.
    pub(super) fn skip_to_block(&mut self) -> bool {
        loop {
            match self.peek() {
                TokenKind::LeftBrace => return true,
                TokenKind::Semicolon | TokenKind::RightBrace | TokenKind::End => return false,
                TokenKind::Word if self.on_new_line() && self.begins_something() => return false,
                _ => {
                    self.bump();
                }
            }
        }
    }

    /// Skips what is wrong in `@{ … }`, its closing brace included.
    pub(super) fn skip_places(&mut self) {
        while !matches!(self.peek(), TokenKind::RightBrace | TokenKind::Semicolon | TokenKind::End) {
            self.bump();
        }
        self.eat(TokenKind::RightBrace);
    }

    fn previous_kind(&self) -> Option<TokenKind> {
        self.position.checked_sub(1).map(|before| self.tokens[before].kind)
    }

    /// Skips `{ … }` with what is nested in it.
    pub(super) fn skip_braces(&mut self) {
        let mut depth = 0usize;
        loop {
            match self.peek() {
                TokenKind::LeftBrace => depth += 1,
                TokenKind::RightBrace => depth -= 1,
                TokenKind::End => return,
                _ => {}
            }
            self.bump();
            if depth == 0 {
                return;
            }
        }
    }

    /// Whether the word here begins a declaration of the program.
    pub(super) fn begins_item(&self) -> bool {
        let word = self.word_at(0);
        let ends_soon = matches!(self.peek_at(1), TokenKind::Word | TokenKind::Semicolon);
        words::ITEMS.contains(&word) && (words::is_reserved(word) || ends_soon)
    }

    /// Whether the word here begins a statement or declaration, or is a label.
    pub(super) fn begins_something(&self) -> bool {
        let is_label = self.peek_at(1) == TokenKind::Colon;
        is_label || words::STATEMENTS.contains(&self.word_at(0)) || self.begins_item()
    }
}
