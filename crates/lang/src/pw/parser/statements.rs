//! Statements and blocks.

use super::super::ast::{
    Assigned, BinaryOp, Block, Domain, Expr, ExprKind, FieldPattern, Ident, Pattern, Statement, StatementKind,
    VariableDecl,
};
use super::declarations::Scope;
use super::operators::Level;
use super::{Failed, Parse, Parser, Role, TokenKind, words};
use crate::codes::syntax as code;
use base::{Diagnostic, Span};

impl Parser<'_> {
    /// `{ … }`
    fn block(&mut self) -> Parse<Block> {
        self.nested(|parser| {
            let advice = "the parts of a statement stand in braces, even if there is only one statement in them";
            let start = parser.open_brace(Role::BlockOpen, advice)?;
            let statements = parser.statements(Scope::Statement, &mut Vec::new());
            parser.close_brace(Role::BlockClose, "a statement or `}`")?;
            Ok(Block { statements, span: parser.since(start) })
        })
    }

    /// The block of a statement whose head may have failed; then the head is skipped and the block parsed all the same.
    fn block_after<T>(&mut self, head: Parse<T>) -> Parse<(T, Block)> {
        if head.is_err() && !self.skip_to_block() {
            return Err(Failed);
        }
        if self.at_word("then") && self.peek_at(1) == TokenKind::LeftBrace {
            let diagnostic = Diagnostic::error(code::UNEXPECTED, self.span(), "expected `{`, found the keyword `then`");
            let diagnostic = diagnostic.fix("leave out `then`", self.span(), "");
            self.report(diagnostic);
            self.bump();
        }
        let block = self.block()?;
        Ok((head?, block))
    }

    /// Statements up to a closing brace; variables that are declared among them are added to `variables`.
    pub(super) fn statements(&mut self, scope: Scope, variables: &mut Vec<VariableDecl>) -> Vec<Statement> {
        let mut statements = Vec::new();
        while !self.at_end_of_braces() {
            let before = self.position;
            if self.eat(TokenKind::Semicolon).is_some() {
                // An empty statement does no harm.
                continue;
            }
            self.mark(Role::Start);
            if self.begins_variable() {
                let doc = self.take_doc();
                match self.variables(doc, scope) {
                    Ok(declared) => variables.extend(declared),
                    Err(Failed) => self.skip_statement(),
                }
            } else if self.begins_item() && self.peek_at(1) != TokenKind::Semicolon {
                self.misplaced_item();
            } else {
                match self.statement() {
                    Ok(statement) => statements.push(statement),
                    Err(Failed) => self.skip_statement(),
                }
            }
            if self.position == before {
                self.bump();
            }
        }
        statements
    }

    fn begins_variable(&self) -> bool {
        matches!(self.word_at(0), "local" | "public" | "shared")
    }

    fn misplaced_item(&mut self) {
        let message = format!("`{}` cannot stand in a process or procedure", self.word_at(0));
        let diagnostic = Diagnostic::error(code::MISPLACED_DECLARATION, self.span(), message)
            .help("move it out, or add the `}` that is missing before it");
        self.report(diagnostic);
        if self.nested(|parser| parser.item(&mut Vec::new())).is_err() {
            self.skip_item();
        }
    }

    fn statement(&mut self) -> Parse<Statement> {
        let mut labels: Vec<Ident> = Vec::new();
        let may_end = self.at_word("end") && self.peek_at(1) == TokenKind::Word && self.peek_at(2) == TokenKind::Colon;
        if may_end {
            self.bump();
        }
        let is_option = matches!(self.word_at(0), "do" | "if") && self.peek_at(2) == TokenKind::Colon;
        while self.at(TokenKind::Word) && self.peek_at(1) == TokenKind::Colon && !is_option {
            labels.push(self.any_word());
            self.bump_as(Role::LabelColon);
        }
        if let Some(label) = labels.last()
            && self.at(TokenKind::RightBrace)
        {
            let end = self.previous_end();
            let message = format!("the label `{}` names no statement", label.name);
            let diagnostic =
                Diagnostic::error(code::LABEL_WITHOUT_PLACE, label.span, message).suggest("add `skip;`", end, " skip;");
            return Err(self.fail(diagnostic));
        }
        let start = self.span();
        let word = self.word_at(0);
        let kind = if self.begins_assignment() { self.assignment()? } else { self.statement_called(word)? };
        let statement = Statement { labels, may_end, kind, span: self.since(start) };
        self.check_labels(&statement);
        Ok(statement)
    }

    /// Whether an assignment stands here: then its first word is a name, even if it is a keyword elsewhere.
    fn begins_assignment(&self) -> bool {
        let word = self.word_at(0);
        match self.peek_at(1) {
            _ if word.is_empty() || words::is_reserved(word) => false,
            TokenKind::Assign | TokenKind::Comma | TokenKind::Dot | TokenKind::ForeignAssign | TokenKind::Equal => true,
            TokenKind::LeftBracket => !words::is_keyword(word) || self.declared.contains(word),
            _ => false,
        }
    }

    fn statement_called(&mut self, word: &str) -> Parse<StatementKind> {
        match word {
            "if" => self.nested(Self::if_statement),
            "either" => self.either(),
            "while" => self.while_statement(),
            "loop" => self.loop_statement(),
            "for" => self.for_statement(),
            "atomic" => {
                self.bump();
                Ok(StatementKind::Atomic(self.block()?))
            }
            "some" => self.choose(),
            "skip" | "idle" | "break" | "continue" | "goto" | "await" | "assert" | "acquire" | "release" | "call"
            | "return" => {
                self.bump();
                let kind = self.simple_statement(word)?;
                self.semicolon()?;
                Ok(kind)
            }
            "send" | "receive" | "peek" | "insert" | "remove" | "let" => {
                self.bump();
                let kind = self.message_statement(word)?;
                self.semicolon()?;
                Ok(kind)
            }
            _ => self.unknown_statement(),
        }
    }

    /// What follows `send`, `receive`, `peek`, `insert`, `remove` or `let`.
    fn message_statement(&mut self, word: &str) -> Parse<StatementKind> {
        if word == "let" {
            let name = self.ident("a name")?;
            self.expect(TokenKind::Assign, "`=`")?;
            return Ok(StatementKind::Let { name, value: self.expr()? });
        }
        let channel = self.channel()?;
        if !self.at(TokenKind::LeftParen) {
            let message = format!("expected `(`, found {}", self.found());
            let shown = self.slice(channel.span);
            let diagnostic = Diagnostic::error(code::UNEXPECTED, self.span(), message);
            // `insert k into s`, `remove k from s`
            let is_turned = matches!(self.word_at(0), "into" | "from" | "to" | "in") && !self.word_at(1).is_empty();
            let written = match is_turned {
                true => format!("{word} {}({shown});", self.word_at(1)),
                false => format!("{word} {shown}(…);"),
            };
            return Err(self.fail(diagnostic.help(format!("write `{written}`"))));
        }
        Ok(match word {
            "send" => StatementKind::Send { channel, values: self.arguments(&mut 0)? },
            "receive" | "peek" => {
                let patterns = self.patterns()?;
                StatementKind::Receive { channel, patterns, keeps: word == "peek" }
            }
            _ => {
                let opener = self.span();
                let mut elements = self.arguments(&mut 0)?;
                let (Some(element), true) = (elements.pop(), elements.is_empty()) else {
                    let message = format!("`{word}` needs one element: `{word} s(k);`");
                    return Err(self.fail(Diagnostic::error(code::UNEXPECTED, opener, message)));
                };
                StatementKind::Change { set: channel, element, inserts: word == "insert" }
            }
        })
    }

    /// The name of a channel or set, with the fields and indices that belong to it.
    fn channel(&mut self) -> Parse<Expr> {
        let name = self.ident("the name of a channel or set")?;
        let start = name.span;
        let mut whole = Expr { span: name.span, kind: ExprKind::Name(name) };
        loop {
            let kind = match self.peek() {
                TokenKind::LeftBracket => {
                    let opener = self.bump_as(Role::Tight);
                    let index = Box::new(self.enclosed(Self::expr)?);
                    self.close(opener, TokenKind::RightBracket)?;
                    ExprKind::Index { base: Box::new(whole), index }
                }
                TokenKind::Dot => {
                    self.bump();
                    ExprKind::Field { base: Box::new(whole), field: self.ident("a name after `.`")? }
                }
                _ => return Ok(whole),
            };
            whole = Expr { kind, span: self.since(start) };
        }
    }

    /// `(x, = e, _)`
    fn patterns(&mut self) -> Parse<Vec<Pattern>> {
        self.mark(Role::Tight);
        let opener = self.expect(TokenKind::LeftParen, "`(`")?;
        let patterns = self.enclosed(|parser| {
            let mut patterns = Vec::new();
            while !parser.at(TokenKind::RightParen) {
                patterns.push(parser.pattern()?);
                if parser.eat(TokenKind::Comma).is_none() {
                    break;
                }
            }
            Ok(patterns)
        })?;
        self.close(opener, TokenKind::RightParen)?;
        Ok(patterns)
    }

    /// `x`, `= e`, `_` or `Msg(…)`
    fn pattern(&mut self) -> Parse<Pattern> {
        if self.eat(TokenKind::Assign).is_some() {
            return Ok(Pattern::Equal(self.expr()?));
        }
        if self.at_word("_") {
            return Ok(Pattern::Ignored(self.bump()));
        }
        if self.at(TokenKind::Word) && self.peek_at(1) == TokenKind::LeftParen {
            return self.nested(Self::struct_pattern);
        }
        let is_value = self.at(TokenKind::Number) || matches!(self.word_at(0), "true" | "false" | "none");
        if is_value {
            let before = Span { start: self.span().start, end: self.span().start };
            let value = self.expr()?;
            let message = "a part that has to be equal to something is written with `=` before it";
            let diagnostic = Diagnostic::error(code::BAD_ASSIGNMENT, value.span, message);
            self.report(diagnostic.fix("write `=` before it", before, "= "));
            return Ok(Pattern::Equal(value));
        }
        Ok(Pattern::Into(self.target()?))
    }

    /// `Msg(= ask, from)`, or by the names of the fields.
    fn struct_pattern(&mut self) -> Parse<Pattern> {
        let start = self.span();
        let name = self.ident("the name of a struct")?;
        self.mark(Role::Tight);
        let opener = self.expect(TokenKind::LeftParen, "`(`")?;
        let fields = self.enclosed(|parser| {
            let mut fields = Vec::new();
            while !parser.at(TokenKind::RightParen) {
                let is_named = parser.at(TokenKind::Word) && parser.peek_at(1) == TokenKind::Colon;
                let field = if is_named { Some(parser.any_word()) } else { None };
                if is_named {
                    parser.bump();
                }
                fields.push(FieldPattern { name: field, pattern: parser.pattern()? });
                if parser.eat(TokenKind::Comma).is_none() {
                    break;
                }
            }
            Ok(fields)
        })?;
        self.close(opener, TokenKind::RightParen)?;
        Ok(Pattern::Struct { name, fields, span: self.since(start) })
    }

    /// `some k in R where e { … }`
    fn choose(&mut self) -> Parse<StatementKind> {
        self.bump();
        let variable = self.ident("the name of the chosen value")?;
        self.expect_word("in")?;
        let domain = self.domain(&mut 0)?;
        let condition = match self.eat_word("where") {
            Some(_) => Some(self.expr()?),
            None => None,
        };
        let body = self.block()?;
        Ok(StatementKind::Choose { variable, domain, condition, body })
    }

    fn simple_statement(&mut self, word: &str) -> Parse<StatementKind> {
        Ok(match word {
            "skip" => StatementKind::Skip,
            "idle" => StatementKind::Idle,
            "break" => StatementKind::Break,
            "continue" => StatementKind::Continue,
            "goto" => StatementKind::Goto(self.label()?),
            "await" => StatementKind::Await(self.expr()?),
            "assert" => StatementKind::Assert(self.expr()?),
            "acquire" => StatementKind::Acquire(self.expr()?),
            "release" => StatementKind::Release(self.expr()?),
            "call" => self.call(None)?,
            _ if self.ends_statement() => StatementKind::Return(None),
            _ => StatementKind::Return(Some(self.expr()?)),
        })
    }

    /// Whether the statement is at its end: at its `;`, or on a new line with something that is no expression.
    fn ends_statement(&self) -> bool {
        let word = self.word_at(0);
        let is_keyword = words::STATEMENTS.contains(&word) && word != "if" && !self.declared.contains(word);
        let begins_next = is_keyword || matches!(self.peek_at(1), TokenKind::Assign | TokenKind::Colon);
        let is_new = self.on_new_line() && !word.is_empty() && begins_next;
        is_new || matches!(self.peek(), TokenKind::Semicolon | TokenKind::RightBrace | TokenKind::End)
    }

    /// The procedure and its arguments, after `call`.
    fn call(&mut self, target: Option<Expr>) -> Parse<StatementKind> {
        let procedure = self.ident("the name of a procedure")?;
        let arguments = self.arguments(&mut 0)?;
        Ok(StatementKind::Call { target, procedure, arguments })
    }

    fn if_statement(&mut self) -> Parse<StatementKind> {
        self.bump();
        if self.eat_free_condition() {
            let then = self.block()?;
            let otherwise = match self.else_branch()? {
                Some(block) => block,
                None => Block { statements: Vec::new(), span: self.previous_end() },
            };
            return Ok(StatementKind::Either { branches: vec![then, otherwise] });
        }
        let condition = self.expr();
        let (condition, then) = self.block_after(condition)?;
        let otherwise = self.else_branch()?;
        Ok(StatementKind::If { condition, then, otherwise })
    }

    /// `*` or `(*)` as a condition.
    fn eat_free_condition(&mut self) -> bool {
        let n_tokens = match (self.peek(), self.peek_at(1), self.peek_at(2)) {
            (TokenKind::Star, ..) => 1,
            (TokenKind::LeftParen, TokenKind::Star, TokenKind::RightParen) => 3,
            _ => return false,
        };
        (0..n_tokens).for_each(|_| {
            self.bump();
        });
        true
    }

    fn else_branch(&mut self) -> Parse<Option<Block>> {
        if matches!(self.word_at(0), "elif" | "elsif" | "elseif") {
            let message = format!("expected `else if`, found `{}`", self.word_at(0));
            let diagnostic = Diagnostic::error(code::UNKNOWN_STATEMENT, self.span(), message);
            let diagnostic = diagnostic.fix("write `else if`", self.span(), "else if");
            self.report(diagnostic);
        } else if self.eat_word("else").is_none() {
            return Ok(None);
        } else if !self.at_word("if") {
            return Ok(Some(self.block()?));
        }
        let start = self.span();
        let kind = self.nested(Self::if_statement)?;
        let span = self.since(start);
        Ok(Some(Block { statements: vec![Statement { labels: Vec::new(), may_end: false, kind, span }], span }))
    }

    fn either(&mut self) -> Parse<StatementKind> {
        let start = self.bump();
        let mut branches = vec![self.block()?];
        while self.eat_word("or").is_some() {
            branches.push(self.block()?);
        }
        if self.at_word("else") {
            let word = self.bump();
            let otherwise = self.block()?;
            return Ok(StatementKind::Guarded { branches, otherwise, word });
        }
        if branches.len() < 2 && self.at(TokenKind::Or) {
            return Err(self.unexpected("`or`"));
        }
        if branches.len() < 2 {
            let end = self.previous_end();
            let diagnostic = Diagnostic::error(code::UNEXPECTED, start, "`either` needs at least two branches")
                .suggest("add `or { … }`; an empty branch does nothing", end, " or {}");
            if self.unpaired.is_none() {
                self.report(diagnostic);
            }
            branches.push(Block { statements: Vec::new(), span: end });
        }
        Ok(StatementKind::Either { branches })
    }

    fn while_statement(&mut self) -> Parse<StatementKind> {
        self.bump();
        let star = self.span();
        if self.eat_free_condition() {
            let diagnostic = Diagnostic::error(code::FREE_CONDITION, star, "`while` needs a condition")
                .help("write `loop { either { … } or { break; } }` to leave a loop at any time");
            self.report(diagnostic);
            return Ok(StatementKind::Loop(self.block()?));
        }
        let condition = self.expr();
        let (condition, body) = self.block_after(condition)?;
        Ok(StatementKind::While { condition, body })
    }

    fn loop_statement(&mut self) -> Parse<StatementKind> {
        let start = self.bump();
        let n_errors = self.log.n_errors();
        let body = self.block()?;
        if body.statements.is_empty() && n_errors == self.log.n_errors() {
            let span = start.to(body.span);
            let diagnostic = Diagnostic::error(code::EMPTY_LOOP, span, "an empty loop has no step to take")
                .suggest("write `skip;` in it to go round for ever", body.span, "{ skip; }")
                .help("write `await false;` to stop for ever");
            self.log.add(diagnostic);
        }
        Ok(StatementKind::Loop(body))
    }

    fn for_statement(&mut self) -> Parse<StatementKind> {
        self.bump();
        let head = self.for_head();
        let ((variable, domain), body) = self.block_after(head)?;
        Ok(match domain {
            Domain::Range(range) => StatementKind::For { variable, range, body },
            domain => StatementKind::ForEach { variable, domain, body },
        })
    }

    fn for_head(&mut self) -> Parse<(Ident, Domain)> {
        if self.at(TokenKind::LeftParen) {
            let message = "a loop that counts names its constant and its range, without parentheses";
            let diagnostic = Diagnostic::error(code::UNEXPECTED, self.span(), message);
            let failed = self.fail(diagnostic.help("write `for k in 0..<3 { … }`"));
            while !matches!(self.peek(), TokenKind::LeftBrace | TokenKind::RightBrace | TokenKind::End) {
                self.bump();
            }
            return Err(failed);
        }
        let variable = self.ident("the name of the loop's constant")?;
        self.expect_word("in")?;
        Ok((variable, self.domain(&mut 0)?))
    }

    /// `x = e;`, `a, b = e1, e2;`, `x = any;`, `x = call f();`
    fn assignment(&mut self) -> Parse<StatementKind> {
        let start = self.span();
        let mut targets = vec![self.target()?];
        while self.eat(TokenKind::Comma).is_some() {
            targets.push(self.target()?);
        }
        if let Some(op) = self.compound_sign(&targets) {
            return self.compound(targets, op);
        }
        self.assignment_sign(&targets)?;
        if self.at_word("call") && !self.declared.contains("call") {
            self.bump();
            let kind = self.call(targets.pop())?;
            self.semicolon()?;
            if !targets.is_empty() {
                let span = self.since(start);
                self.log.add(Diagnostic::error(code::BAD_ASSIGNMENT, span, "a procedure has one result"));
            }
            return Ok(kind);
        }
        let mut values = vec![self.assigned()?];
        while self.eat(TokenKind::Comma).is_some() {
            values.push(self.assigned()?);
        }
        let span = self.since(start);
        self.semicolon()?;
        let n_pairs = targets.len().min(values.len());
        if targets.len() != values.len() {
            let message = format!("{} on the left, but {} on the right", targets.len(), values.len());
            let diagnostic = Diagnostic::error(code::BAD_ASSIGNMENT, span, message);
            let help = "a simultaneous assignment has as many values as variables: `a, b = 1, 2;`";
            self.log.add(diagnostic.help(help));
            targets.truncate(n_pairs);
            values.truncate(n_pairs);
        }
        Ok(StatementKind::Assign { targets, values })
    }

    /// The operator of `x += e;` and its kin.
    fn compound_sign(&self, targets: &[Expr]) -> Option<BinaryOp> {
        if !self.at(TokenKind::ForeignAssign) || targets.len() != 1 {
            return None;
        }
        match self.slice(self.span()) {
            "+=" => Some(BinaryOp::Add),
            "-=" => Some(BinaryOp::Subtract),
            "*=" => Some(BinaryOp::Multiply),
            "/=" => Some(BinaryOp::Divide),
            "%=" => Some(BinaryOp::Modulo),
            _ => None,
        }
    }

    /// `x += e;` is `x = x + (e);`
    fn compound(&mut self, targets: Vec<Expr>, op: BinaryOp) -> Parse<StatementKind> {
        let op_span = self.bump_as(Role::Infix);
        let value = self.expr()?;
        self.semicolon()?;
        let values = targets.iter().map(|target| {
            let span = target.span.to(value.span);
            let (left, right) = (Box::new(target.clone()), Box::new(value.clone()));
            Assigned::Value(Expr { kind: ExprKind::Binary { op, op_span, left, right }, span })
        });
        Ok(StatementKind::Assign { values: values.collect(), targets })
    }

    fn target(&mut self) -> Parse<Expr> {
        let target = self.expr_at(Level::Unary)?;
        if matches!(target.kind, ExprKind::Name(_) | ExprKind::Index { .. } | ExprKind::Field { .. }) {
            return Ok(target);
        }
        let diagnostic = Diagnostic::error(code::BAD_ASSIGNMENT, target.span, "only variables can be assigned");
        Err(self.fail(diagnostic))
    }

    /// The `=` of an assignment, or what people write for it who think of another language.
    fn assignment_sign(&mut self, targets: &[Expr]) -> Parse<()> {
        let (span, sign) = (self.span(), self.slice(self.span()));
        let target = targets.first().map_or("x", |target| self.slice(target.span));
        match self.peek() {
            TokenKind::Assign => {
                self.bump();
                return Ok(());
            }
            TokenKind::Equal => {
                let diagnostic = Diagnostic::error(code::FOREIGN_OPERATOR, span, "a comparison is no statement")
                    .suggest("write `=` to assign", span, "=")
                    .help(format!("write `await {target} == …;` to wait for it"));
                self.report(diagnostic);
                self.bump();
                return Ok(());
            }
            TokenKind::ForeignAssign => {}
            _ => return Err(self.unexpected("`=`")),
        }
        let diagnostic = Diagnostic::error(code::FOREIGN_OPERATOR, span, format!("`{sign}` is no operator here"));
        if sign == "++" || sign == "--" {
            let change = format!(" = {target} {} 1", &sign[..1]);
            return Err(self.fail(diagnostic.fix(format!("write `{target}{change}`"), span, change)));
        }
        let replacement = if sign == ":=" { "=".to_string() } else { format!("= {target} {}", &sign[..1]) };
        self.report(diagnostic.fix(format!("write `{target} {replacement} …`"), span, replacement));
        self.bump();
        Ok(())
    }

    /// What is assigned: an expression, `any`, or `any 0..=3`.
    pub(super) fn assigned(&mut self) -> Parse<Assigned> {
        if self.at(TokenKind::LeftBrace) {
            let start = self.span();
            let kind = self.set_literal(&mut 0)?;
            return Ok(Assigned::Value(Expr { kind, span: self.since(start) }));
        }
        if !self.at_word("any") || self.declared.contains("any") {
            return Ok(Assigned::Value(self.expr()?));
        }
        let start = self.bump();
        let is_alone = self.at(TokenKind::Comma) || self.ends_statement();
        let range = if is_alone { None } else { Some(self.range()?) };
        Ok(Assigned::Any { range, span: self.since(start) })
    }

    /// Braces alone make no statement.
    fn bare_block(&mut self) -> Failed {
        let span = self.span();
        let before = Span { start: span.start, end: span.start };
        let diagnostic = Diagnostic::error(code::UNEXPECTED, span, "expected a statement, found `{`");
        let diagnostic = diagnostic.suggest("if it is meant to be one step, write `atomic { … }`", before, "atomic ");
        self.fail(diagnostic.help("otherwise leave the braces out: statements stand one after the other"))
    }

    fn unknown_statement(&mut self) -> Parse<StatementKind> {
        let word = self.word_at(0);
        if matches!(word, "else" | "or") && self.unpaired.is_some() {
            return Err(Failed);
        }
        if self.at(TokenKind::LeftBrace) {
            return Err(self.bare_block());
        }
        if word.is_empty() || words::is_reserved(word) {
            return Err(self.unexpected("a statement"));
        }
        if word == "cas" && self.peek_at(1) == TokenKind::LeftParen && !self.declared.contains(word) {
            return self.swap();
        }
        if let Some(failed) = self.foreign_statement() {
            return Err(failed);
        }
        let span = self.span();
        if self.declared.contains(word) && self.peek_at(1) != TokenKind::LeftParen {
            return Err(self.expression_statement());
        }
        let meant = words::meant_statement(word);
        let is_call = self.peek_at(1) == TokenKind::LeftParen && (meant.is_none() || self.declared.contains(word));
        if is_call {
            let diagnostic = Diagnostic::error(code::UNKNOWN_STATEMENT, span, "a procedure is called with `call`");
            let before = Span { start: span.start, end: span.start };
            self.report(diagnostic.fix(format!("write `call {word}(…)`"), before, "call "));
            let kind = self.call(None)?;
            self.semicolon()?;
            return Ok(kind);
        }
        let diagnostic = Diagnostic::error(code::UNKNOWN_STATEMENT, span, format!("`{word}` begins no statement"));
        let Some(meant) = meant else {
            return Err(self.fail(diagnostic));
        };
        self.report(diagnostic.suggest(format!("write `{meant}`"), span, meant));
        if matches!(meant, "local" | "public") {
            return Err(Failed);
        }
        self.statement_called(meant)
    }

    /// `cas(x, a, b);`: an `if` in which both ways do nothing more.
    fn swap(&mut self) -> Parse<StatementKind> {
        let condition = self.expr()?;
        self.semicolon()?;
        let then = Block { statements: Vec::new(), span: condition.span };
        Ok(StatementKind::If { condition, then, otherwise: None })
    }

    /// Reports a value where a statement should stand, as in `x > 0;` or `x + 1 = y;`.
    fn expression_statement(&mut self) -> Failed {
        let Ok(value) = self.expr_at(Level::Sum) else { return Failed };
        let diagnostic = if self.at(TokenKind::Assign) {
            Diagnostic::error(code::BAD_ASSIGNMENT, value.span, "only variables can be assigned")
        } else {
            let before = Span { start: value.span.start, end: value.span.start };
            Diagnostic::error(code::UNKNOWN_STATEMENT, value.span, "a value by itself is no statement").suggest(
                "write `await` to wait until it is true",
                before,
                "await ",
            )
        };
        self.fail(diagnostic)
    }

    /// `goto`, `break` and `continue` are no places of their own.
    fn check_labels(&mut self, statement: &Statement) {
        let word = match statement.kind {
            StatementKind::Goto(_) => "goto",
            StatementKind::Break => "break",
            StatementKind::Continue => "continue",
            _ => return,
        };
        if let Some(label) = statement.labels.first() {
            let start = Span { start: statement.span.start, end: statement.span.start };
            let message = format!("`{word}` takes no step, so the label `{}` names no place", label.name);
            let diagnostic = Diagnostic::error(code::LABEL_WITHOUT_PLACE, label.span, message)
                .suggest("put a `skip;` between them", start, "skip; ")
                .suggest("remove the label", Span { start: label.span.start, end: statement.span.start }, "");
            self.log.add(diagnostic);
        }
    }
}
