//! What people write who think of another language (Promela, PlusCal, UPPAAL, C), and how it is said here.
//!
//! Nothing of this is accepted. Where it is plain what was meant, the message says so, with the text to write.

use super::{Failed, Parser, TokenKind, words};
use crate::codes::syntax as code;
use base::{Diagnostic, Span};

/// Types of other languages, and what is written for them.
const TYPES: [(&str, &str); 8] = [
    ("bit", "bool"),
    ("bool", "bool"),
    ("boolean", "bool"),
    ("byte", "0..=255"),
    ("char", "0..=255"),
    ("int", "0..=255"),
    ("short", "0..=255"),
    ("unsigned", "0..=255"),
];

/// Words that begin a statement of another language, and how it is said here.
const STATEMENTS: [(&str, &str); 15] = [
    ("switch", "write `if x == a { … } else if x == b { … }`"),
    ("case", "write `if x == a { … } else if x == b { … }`"),
    ("match", "write `if x == a { … } else if x == b { … }`"),
    ("with", "write `some k in R where e { … }`"),
    ("select", "write `x = any 0..=3;`"),
    ("choose", "write `x = any 0..=3;`, `some k in R where e { … }` or `either { … } or { … }`"),
    ("any", "write `some k in R where e { … }`"),
    ("repeat", "write `loop { … if e { break; } }`"),
    ("until", "write `loop { … if e { break; } }`"),
    ("run", "processes are there from the start; let one begin with `await …;`"),
    ("d_step", "write `atomic { … }`"),
    ("print", "nothing is printed; `piecewise sim` shows what happens"),
    ("printf", "nothing is printed; `piecewise sim` shows what happens"),
    ("od", "a block ends with `}`"),
    ("fi", "a block ends with `}`"),
];

impl Parser<'_> {
    /// What to write for what stands here, where something else is expected.
    pub(super) fn said_here(&self) -> Option<String> {
        let before = self.previous_word();
        let text = match self.peek() {
            TokenKind::Question => "a choice between two values is written `if c then a else b`".to_owned(),
            TokenKind::Word if self.at_word("mod") => "the remainder is written `%`".to_owned(),
            TokenKind::Word if self.at_word("div") => "division is written `/`".to_owned(),
            TokenKind::Greater if self.follows("==") => "`implies` is written `=>`".to_owned(),
            TokenKind::Greater if self.follows(">") => "there are no shifts; write `/ 2`".to_owned(),
            TokenKind::Less if self.follows("<") => "there are no shifts; write `* 2`".to_owned(),
            TokenKind::Or if self.follows("}") => "the branches of `either` are joined by `or`".to_owned(),
            TokenKind::Or => "how many elements a set has is written `size(s)`".to_owned(),
            TokenKind::LeftBrace if self.follows("+") || self.follows("-") => {
                "sets change one element at a time: `insert s(k);`, `remove s(k);`".to_owned()
            }
            TokenKind::Star => "any value is written `x = any;`, or `x = any 0..=3;`".to_owned(),
            TokenKind::Assign if self.word_at_back(2) == "for" => format!("write `for {before} in 0..<3 {{ … }}`"),
            TokenKind::Number if self.follows(".") => "numbers are whole".to_owned(),
            TokenKind::LeftParen if matches!(before, "forall" | "exists") => {
                format!("write `{before} i: …`, without parentheses around the name")
            }
            TokenKind::Less | TokenKind::Greater if matches!(self.word_at_back(2), "forall" | "exists") => {
                "write `forall i != j: i < j => …`, or `exists i != j: i < j && …`".to_owned()
            }
            TokenKind::LeftParen if matches!(before, "empty" | "full" | "len" | "size") => {
                let owner = self.word_at_back(3);
                format!("write `{before}({})`", if owner.is_empty() { "c" } else { owner })
            }
            TokenKind::Word if matches!(before, "receive" | "recv" | "get") => {
                format!("a message is received by a statement: `receive {}(x);`", self.word_at(0))
            }
            TokenKind::Word if matches!(self.word_at(0), "contains" | "has" | "includes") => {
                format!("write `k in {before}`")
            }
            TokenKind::Word if matches!(self.word_at(0), "union" | "cup") => {
                "write `atomic { for k in t { insert s(k); } }`".to_owned()
            }
            TokenKind::Word if matches!(self.word_at(0), "minus" | "except" | "without" | "setminus") => {
                "write `atomic { for k in t { remove s(k); } }`".to_owned()
            }
            TokenKind::Word if matches!(self.word_at(0), "subset" | "subseteq") => {
                "write `forall k in s: k in t`".to_owned()
            }
            TokenKind::Word if matches!(before, "all" | "each" | "every") => {
                format!("write `forall {}: …`", self.word_at(0))
            }
            TokenKind::LeftParen if matches!(before, "insert" | "add" | "push") => "write `insert s(k);`".to_owned(),
            TokenKind::LeftParen if matches!(before, "remove" | "erase" | "delete") => {
                "write `remove s(k);`".to_owned()
            }
            TokenKind::LeftParen if matches!(before, "send" | "put") => "write `send c(e);`".to_owned(),
            TokenKind::LeftParen if matches!(before, "receive" | "recv" | "get") => "write `receive c(x);`".to_owned(),
            TokenKind::Colon if self.peek_at(1) == TokenKind::Colon => {
                "a choice is written `either { … } or { … }`, a loop around it `loop { … }`".to_owned()
            }
            TokenKind::Word if self.misspelt_operator().is_some() => {
                format!("did you mean `{}`?", self.misspelt_operator().unwrap_or_default())
            }
            TokenKind::At => "say whose place is meant, and of how many: `count(i: P[i]@crit)`".to_owned(),
            _ => return None,
        };
        Some(text)
    }

    /// The operator that the word before was meant to be, where one is near.
    fn misspelt_operator(&self) -> Option<&'static str> {
        const OPERATORS: [&str; 5] = ["always", "eventually", "next", "forall", "exists"];
        let before = self.previous_word();
        let is_long = before.len() > 3 && !self.declared.contains(before) && !OPERATORS.contains(&before);
        base::diagnostic::nearest_name(before, OPERATORS).filter(|_| is_long)
    }

    /// The word that stands so many tokens before the one at hand; empty if no word stands there.
    fn word_at_back(&self, back: usize) -> &str {
        match self.position.checked_sub(back).map(|at| &self.tokens[at]) {
            Some(token) if token.kind == TokenKind::Word => self.slice(token.span),
            _ => "",
        }
    }

    /// Whether the token before the one at hand is written like this.
    fn follows(&self, text: &str) -> bool {
        self.slice(Span { start: 0, end: self.previous_end().end }).ends_with(text)
    }

    /// Reports a statement of another language, if one begins here.
    pub(super) fn foreign_statement(&mut self) -> Option<Failed> {
        let (word, span) = (self.word_at(0), self.span());
        if self.peek_at(1) == TokenKind::Word
            && let Some((_, ty)) = TYPES.iter().find(|(known, _)| *known == word)
        {
            let (name, whole) = (self.word_at(1), span.to(self.span_at(1)));
            let diagnostic = Diagnostic::error(code::UNKNOWN_STATEMENT, span, format!("`{word}` begins no statement"));
            let declared = format!("local {name}: {ty}");
            return Some(self.fail(diagnostic.suggest(format!("write `{declared}`"), whole, declared)));
        }
        if word == "end" && matches!(self.word_at(1), "if" | "while" | "either" | "with" | "process" | "algorithm") {
            let message = format!("`end {}` is not written: a block ends with `}}`", self.word_at(1));
            let whole = span.to(self.span_at(1));
            self.bump();
            return Some(self.fail(Diagnostic::error(code::UNKNOWN_STATEMENT, whole, message)));
        }
        if word == "do" && self.peek_at(1) == TokenKind::Colon {
            let diagnostic = Diagnostic::error(code::UNKNOWN_STATEMENT, span, "`do` of Promela is written with blocks");
            let help = "write `loop { either { await e; … } or { … } }`; `break` leaves it";
            return Some(self.fail(diagnostic.help(help)));
        }
        if self.peek_at(1) == TokenKind::Arrow && self.peek_at(2) == TokenKind::Word {
            let sign = self.span_at(1);
            self.bump();
            let diagnostic = Diagnostic::error(code::UNKNOWN_STATEMENT, sign, "fields are named with a dot");
            return Some(self.fail(diagnostic.suggest("write `.`", sign, ".")));
        }
        self.foreign_message().or_else(|| {
            let (_, help) = STATEMENTS.iter().find(|(known, _)| *known == word)?;
            if self.declared.contains(word) {
                return None;
            }
            let diagnostic = Diagnostic::error(code::UNKNOWN_STATEMENT, span, format!("`{word}` begins no statement"));
            Some(self.fail(diagnostic.help(*help)))
        })
    }

    /// `c!e` and `c?x`.
    fn foreign_message(&mut self) -> Option<Failed> {
        let (word, span) = (self.word_at(0).to_owned(), self.span());
        let verb = match self.peek_at(1) {
            TokenKind::Not => "send",
            TokenKind::Question => "receive",
            _ => return None,
        };
        self.bump();
        let sign = self.bump();
        let diagnostic = Diagnostic::error(code::UNKNOWN_STATEMENT, span.to(sign), "messages are sent by words");
        let start = self.span();
        let mut end = start;
        while !matches!(self.peek(), TokenKind::Semicolon | TokenKind::RightBrace | TokenKind::End)
            && !self.on_new_line()
        {
            end = self.bump();
        }
        let parts = self.slice(start.to(end)).replace("eval(", "= (");
        let parts = parts.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')).unwrap_or(&parts).to_owned();
        let written = format!("{verb} {word}({parts})");
        Some(self.fail(diagnostic.suggest(format!("write `{written}`"), span.to(end), written)))
    }

    /// Reports a variable or field that is declared with its type first, as in C: the name is the token at hand.
    pub(super) fn type_first(&mut self) -> Option<Failed> {
        let before = self.previous_word();
        let (_, ty) = TYPES.iter().find(|(known, _)| *known == before)?;
        let name = self.word_at(0);
        if name.is_empty() || words::is_reserved(name) {
            return None;
        }
        let whole = Span { start: self.previous_end().end - before.len() as u32, end: self.span().end };
        let declared = format!("{name}: {ty}");
        let diagnostic = Diagnostic::error(code::UNEXPECTED, self.span(), "the name comes first, then its type");
        Some(self.fail(diagnostic.suggest(format!("write `{declared}`"), whole, declared)))
    }

    /// Reports the length of an array behind the name of a variable, as in C.
    pub(super) fn length_behind_name(&mut self) -> Option<Failed> {
        if !self.at(TokenKind::LeftBracket) {
            return None;
        }
        let name = self.previous_word();
        let message = "the length of an array belongs to its type";
        let help = format!("write `{name}: [T; N]` for N elements of type T");
        Some(self.fail(Diagnostic::error(code::UNEXPECTED, self.span(), message).help(help)))
    }

    /// Reports a declaration of another language, if one begins here.
    pub(super) fn foreign_declaration(&mut self) -> Option<Failed> {
        let (word, span) = (self.word_at(0), self.span());
        let help = match word {
            "active" => "write `process P[i in 0..<2] { … }`, or `process P { … }` for a single one",
            "ltl" => "write `property p: always …;`, or `invariant p: …;`",
            "init" => "variables start with `= e`; what happens first stands in a process",
            "never" => "write `invariant p: !(…);` for what never happens",
            "fair" => "write `process P`, and `under weak P[*]` in the property that needs it",
            _ => {
                let (_, ty) = TYPES.iter().find(|(known, _)| *known == word)?;
                let name = self.word_at(1);
                let declared = format!("shared {name}: {ty}");
                let whole = span.to(self.span_at(1));
                let diagnostic = Diagnostic::error(code::UNKNOWN_ITEM, span, format!("`{word}` begins no declaration"));
                return Some(self.fail(diagnostic.suggest(format!("write `{declared}`"), whole, declared)));
            }
        };
        let diagnostic = Diagnostic::error(code::UNKNOWN_ITEM, span, format!("`{word}` begins no declaration"));
        Some(self.fail(diagnostic.help(help)))
    }
}
