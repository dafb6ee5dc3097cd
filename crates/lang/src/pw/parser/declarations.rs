//! The program and its declarations.

use super::super::ast::{
    AliasDecl, Assigned, Block, ChannelDecl, ChannelKind, ConstDecl, DefineDecl, Doc, EnumDecl, Expr, Ident, Item,
    Limit, Members, Parameter, ProcedureDecl, ProcedureParameter, ProcessDecl, ProcessIndex, Program, RangeEnd,
    SizesDecl, Statement, StorageClass, StructDecl, VariableDecl,
};
use super::super::delimiters::Unpaired;
use super::operators::Level;
use super::{Context, Failed, Parse, Parser, Role, TokenKind, words};
use crate::codes::syntax as code;
use base::{Diagnostic, Span};
use model::variable::VariableLook;

/// Where variables are declared.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    Program,
    Process,
    Procedure,
    /// Inside a statement, where nothing may be declared.
    Statement,
}

impl Parser<'_> {
    /// A whole file.
    pub(super) fn file(&mut self) -> Option<Program> {
        self.context.is_formula = true;
        let is_misspelt = base::diagnostic::nearest_name(self.word_at(0), ["program"]).is_some();
        if !self.at_word("program") && is_misspelt && self.peek_at(1) == TokenKind::Word {
            let message = format!("expected `program`, found {}", self.found());
            let diagnostic = Diagnostic::error(code::NOT_ONE_PROGRAM, self.span(), message);
            let diagnostic = diagnostic.fix("write `program`", self.span(), "program");
            self.report(diagnostic);
        } else if !self.at_word("program") {
            return self.file_without_program();
        }
        let program = self.program().ok();
        if matches!(self.unpaired, Some(Unpaired::Closing { .. })) {
            // The program may have been closed too early.
            while !self.at(TokenKind::End) {
                self.items();
                self.eat(TokenKind::RightBrace);
            }
        }
        if program.is_some() && !self.at(TokenKind::End) {
            let message = format!("expected the end of the file after the program, found {}", self.found());
            let diagnostic = Diagnostic::error(code::NOT_ONE_PROGRAM, self.span(), message)
                .help("a file holds one program; everything stands between its braces");
            self.report(diagnostic);
        }
        program
    }

    /// Reports what is missing, and then whatever is wrong with the declarations that stand there instead.
    fn file_without_program(&mut self) -> Option<Program> {
        let message = format!("expected `program`, found {}", self.found());
        let diagnostic = Diagnostic::error(code::NOT_ONE_PROGRAM, self.span(), message)
            .help("a file is one program: `program name(N: 2..) { … }`");
        self.report(diagnostic);
        if self.begins_item() {
            self.items();
        }
        None
    }

    fn program(&mut self) -> Parse<Program> {
        let doc = self.take_doc();
        let start = self.bump_as(Role::Start);
        let name = self.ident("the name of the program")?;
        let parameters = if self.at(TokenKind::LeftParen) { self.parameters()? } else { Vec::new() };
        self.open_brace(Role::BlockOpen, "")?;
        let items = self.items();
        self.mark(Role::BlockClose);
        self.expect(TokenKind::RightBrace, "a declaration or `}`")?;
        Ok(Program { doc, name, parameters, items, span: self.since(start) })
    }

    fn parameters(&mut self) -> Parse<Vec<Parameter>> {
        let opener = self.bump_as(Role::Tight);
        let mut parameters = Vec::new();
        while self.at(TokenKind::Word) {
            parameters.push(self.parameter()?);
            if self.eat(TokenKind::Comma).is_none() {
                break;
            }
        }
        self.close(opener, TokenKind::RightParen)?;
        Ok(parameters)
    }

    /// `N: 2..`, `N: 2..=8`, `N: 2..<9`
    fn parameter(&mut self) -> Parse<Parameter> {
        let name = self.ident("the name of a parameter")?;
        let start = name.span;
        if !self.at(TokenKind::Colon) {
            let message = format!("the parameter `{}` needs its least value", name.name);
            let end = self.previous_end();
            let diagnostic = Diagnostic::error(code::BAD_PARAMETER, start, message).suggest(
                "write `: 1..`, say: any number from 1 on",
                end,
                ": 1..",
            );
            return Err(self.fail(diagnostic));
        }
        self.bump();
        let least = self.expr_at(Level::Sum)?;
        if !self.at_range_dots() {
            let message = format!("expected a range for the parameter `{}`", name.name);
            let end = self.previous_end();
            let diagnostic = Diagnostic::error(code::BAD_PARAMETER, least.span, message)
                .suggest("write `..` after the least value", end, "..")
                .help("for a value that never changes write `const` in the program");
            return Err(self.fail(diagnostic));
        }
        let dots = self.peek();
        let dots_span = self.bump();
        let ends = matches!(self.peek(), TokenKind::Comma | TokenKind::RightParen | TokenKind::Assign);
        let limit = if dots == TokenKind::DotDot && ends { None } else { Some(self.limit(dots, dots_span)?) };
        let default = if self.eat(TokenKind::Assign).is_some() { Some(self.expr_at(Level::Sum)?) } else { None };
        Ok(Parameter { name, least, limit, default, span: self.since(start) })
    }

    fn limit(&mut self, dots: TokenKind, dots_span: Span) -> Parse<Limit> {
        let value = self.expr_at(Level::Sum)?;
        if dots == TokenKind::DotDot {
            let high = self.slice(value.span);
            let message = "a range must say whether it includes its end";
            let diagnostic = Diagnostic::error(code::BARE_RANGE, dots_span.to(value.span), message)
                .suggest(format!("`..<{high}` ends before {high}"), dots_span, "..<")
                .suggest(format!("`..={high}` includes {high}"), dots_span, "..=");
            self.log.add(diagnostic);
        }
        let end = if dots == TokenKind::DotDotEqual { RangeEnd::Included } else { RangeEnd::Excluded };
        Ok(Limit { end, value })
    }

    /// Declarations up to a closing brace.
    fn items(&mut self) -> Vec<Item> {
        let mut items = Vec::new();
        while !matches!(self.peek(), TokenKind::RightBrace | TokenKind::End) {
            let before = self.position;
            if self.eat(TokenKind::Semicolon).is_some() {
                // As after `enum E { a };`, which people write who know C.
                continue;
            }
            if self.item(&mut items).is_err() {
                self.skip_item();
            }
            if self.position == before {
                self.bump();
            }
        }
        items
    }

    /// One declaration; `shared a, b: bool;` adds several items.
    pub(super) fn item(&mut self, items: &mut Vec<Item>) -> Parse<()> {
        self.mark(Role::Start);
        let word = self.word_at(0);
        self.item_called(word, items)
    }

    fn item_called(&mut self, word: &str, items: &mut Vec<Item>) -> Parse<()> {
        let doc = self.take_doc();
        match word {
            "const" => items.push(Item::Const(self.const_decl(doc)?)),
            "enum" => items.push(Item::Enum(self.enum_decl(doc)?)),
            "struct" => items.push(Item::Struct(self.struct_decl(doc)?)),
            "type" => items.push(Item::Alias(self.alias_decl(doc)?)),
            "chan" => items.push(Item::Channel(self.channel_decl(doc)?)),
            "define" => items.push(Item::Define(self.define_decl(doc)?)),
            "shared" | "public" | "local" => {
                items.extend(self.variables(doc, Scope::Program)?.into_iter().map(Item::Variable));
            }
            "process" => items.push(Item::Process(self.process_decl(doc)?)),
            "proc" => items.push(Item::Procedure(self.procedure_decl(doc)?)),
            "invariant" | "property" | "reachable" | "race_free" | "no_errors" | "deadlock_free" => {
                items.extend(self.property_decls(word, doc)?.into_iter().map(Item::Property));
            }
            "fairness" => items.push(Item::Fairness(self.fairness_decl(doc)?)),
            "hint" => items.push(Item::Hint(self.hint_decl(doc)?)),
            "allow" => {
                let start = self.bump();
                self.expect_word("deadlock")?;
                self.semicolon()?;
                items.push(Item::AllowDeadlock(self.since(start)));
            }
            "initially" => {
                self.bump();
                let condition = self.expr()?;
                self.semicolon()?;
                items.push(Item::Initially(condition));
            }
            "check" if self.word_at(1) == "sizes" => items.push(Item::Sizes(self.sizes_decl()?)),
            _ => self.unknown_item(items)?,
        }
        Ok(())
    }

    /// `check sizes N in {2, 5};`, `check sizes N in 2..=5;`
    fn sizes_decl(&mut self) -> Parse<SizesDecl> {
        let start = self.bump();
        self.bump();
        let parameter = self.ident("the name of a parameter")?;
        self.expect_word("in")?;
        let values = match self.at(TokenKind::LeftBrace) {
            true => {
                let (opener, mut height) = (self.span(), 0);
                let kind = self.set_literal(&mut height)?;
                Members::Set(Box::new(Expr { kind, span: self.since(opener) }))
            }
            false => Members::Range(Box::new(self.range()?)),
        };
        self.semicolon()?;
        Ok(SizesDecl { parameter, values, span: self.since(start) })
    }

    fn unknown_item(&mut self, items: &mut Vec<Item>) -> Parse<()> {
        let word = self.word_at(0);
        if word.is_empty() {
            return Err(self.unexpected("a declaration"));
        }
        if let Some(failed) = self.foreign_declaration() {
            return Err(failed);
        }
        let message = format!("`{word}` begins no declaration");
        let diagnostic = Diagnostic::error(code::UNKNOWN_ITEM, self.span(), message);
        if words::STATEMENTS.contains(&word) || self.peek_at(1) == TokenKind::Assign {
            return Err(self.fail(diagnostic.help("statements stand in a process: `process P { … }`")));
        }
        match words::meant_item(word) {
            Some(meant) => {
                let diagnostic = diagnostic.suggest(format!("write `{meant}`"), self.span(), meant);
                self.report(diagnostic);
                self.item_called(meant, items)
            }
            None => Err(self.fail(diagnostic)),
        }
    }

    fn const_decl(&mut self, doc: Option<Doc>) -> Parse<ConstDecl> {
        let start = self.bump();
        let name = self.ident("the name of a constant")?;
        let ty = if self.eat(TokenKind::Colon).is_some() { Some(self.ty()?) } else { None };
        self.equals_sign()?;
        let value = self.expr()?;
        self.semicolon()?;
        Ok(ConstDecl { doc, name, ty, value, span: self.since(start) })
    }

    fn enum_decl(&mut self, doc: Option<Doc>) -> Parse<EnumDecl> {
        let start = self.bump();
        let name = self.ident("the name of an enum")?;
        if self.at(TokenKind::Assign) {
            let message = "expected `{`, found `=`";
            self.report(Diagnostic::error(code::UNEXPECTED, self.span(), message).fix("leave it out", self.span(), ""));
            self.bump();
        }
        self.open_brace(Role::ListOpen, "")?;
        let mut values = Vec::new();
        while !self.at_end_of_braces() {
            self.enum_value(&mut values);
        }
        self.close_brace(Role::ListClose, "`}`")?;
        Ok(EnumDecl { doc, name, values, span: self.since(start) })
    }

    /// One value and the comma after it. Whatever else stands there is reported and passed.
    fn enum_value(&mut self, values: &mut Vec<Ident>) {
        self.mark(Role::Start);
        match self.ident("a value of the enum") {
            Ok(value) => values.push(value),
            Err(Failed) => {
                self.bump();
            }
        }
        if self.eat(TokenKind::Comma).is_some() || self.at_end_of_braces() {
            return;
        }
        let end = self.previous_end();
        let message = format!("expected `,` or `}}`, found {}", self.found());
        let diagnostic = Diagnostic::error(code::UNEXPECTED, self.span(), message).suggest("add `,`", end, ",");
        self.report(diagnostic);
        self.eat(TokenKind::Semicolon);
    }

    fn struct_decl(&mut self, doc: Option<Doc>) -> Parse<StructDecl> {
        let start = self.bump();
        let name = self.ident("the name of a struct")?;
        self.open_brace(Role::ListOpen, "")?;
        let mut fields = Vec::new();
        while !self.at_end_of_braces() {
            self.mark(Role::Start);
            match self.struct_field() {
                Ok(field) => fields.push(field),
                Err(Failed) => {
                    while !self.at_end_of_braces() && !matches!(self.peek(), TokenKind::Comma | TokenKind::Semicolon) {
                        self.bump();
                    }
                }
            }
            if self.eat(TokenKind::Comma).is_none() && self.eat(TokenKind::Semicolon).is_none() {
                break;
            }
        }
        self.close_brace(Role::ListClose, "`,` or `}`")?;
        Ok(StructDecl { doc, name, fields, span: self.since(start) })
    }

    fn struct_field(&mut self) -> Parse<ProcedureParameter> {
        let name = self.ident("the name of a field")?;
        self.type_follows()?;
        Ok(ProcedureParameter { name, ty: self.ty()? })
    }

    fn alias_decl(&mut self, doc: Option<Doc>) -> Parse<AliasDecl> {
        let start = self.bump();
        let name = self.ident("the name of a type")?;
        self.equals_sign()?;
        let ty = self.ty()?;
        self.semicolon()?;
        Ok(AliasDecl { doc, name, ty, span: self.since(start) })
    }

    /// `chan c: [2] of (Kind, pid);`, `chan c[N]: lossy [1] of (bool);`
    fn channel_decl(&mut self, doc: Option<Doc>) -> Parse<ChannelDecl> {
        let start = self.bump();
        let name = self.ident("the name of a channel")?;
        let mut lengths = Vec::new();
        while self.at(TokenKind::LeftBracket) {
            let opener = self.bump_as(Role::Tight);
            lengths.push(self.enclosed(Self::expr)?);
            self.close(opener, TokenKind::RightBracket)?;
        }
        if self.at_word("of") {
            let shown = self.slice(self.since(name.span));
            let message = "expected `:`, found `of`: how many messages the channel holds stands behind a colon";
            let written = if shown.contains('[') { shown.replacen('[', ": [", 1) } else { format!("{shown}: [1]") };
            let diagnostic = Diagnostic::error(code::UNEXPECTED, self.span(), message);
            return Err(self.fail(diagnostic.help(format!("write `chan {written} of (…);`"))));
        }
        self.expect(TokenKind::Colon, "`:`")?;
        let kind = match self.word_at(0) {
            "lossy" => ChannelKind::Lossy,
            "unordered" => ChannelKind::Unordered,
            _ => ChannelKind::Ordered,
        };
        if kind != ChannelKind::Ordered {
            self.bump();
        }
        let opener = self.expect(TokenKind::LeftBracket, "`[` and how many messages the channel holds")?;
        let capacity = self.enclosed(Self::expr)?;
        if self.at(TokenKind::Semicolon) {
            let message = "expected `]`, found `;`: the length of an array of channels stands behind its name";
            let diagnostic = Diagnostic::error(code::UNEXPECTED, self.span(), message);
            return Err(self.fail(diagnostic.help(format!("write `chan {}[…]: [capacity] of (…);`", name.name))));
        }
        self.close(opener, TokenKind::RightBracket)?;
        if self.at(TokenKind::LeftBracket) {
            let message = "expected `of`, found `[`: the length of an array of channels stands behind its name";
            let diagnostic = Diagnostic::error(code::UNEXPECTED, self.span(), message);
            let length = self.slice(capacity.span).to_owned();
            return Err(self.fail(diagnostic.help(format!("write `chan {}[{length}]: [capacity] of (…);`", name.name))));
        }
        self.expect_word("of")?;
        if self.at(TokenKind::Word) {
            let first = self.span();
            let message = format!("expected `(` and the types of a message, found {}", self.found());
            self.ty()?;
            while self.eat(TokenKind::Comma).is_some() {
                self.ty()?;
            }
            let types = self.since(first);
            let written = format!("({})", self.slice(types));
            let diagnostic = Diagnostic::error(code::UNEXPECTED, first, message);
            return Err(self.fail(diagnostic.suggest(format!("write `{written}`"), types, written)));
        }
        let opener = self.expect(TokenKind::LeftParen, "`(` and the types of a message")?;
        let mut parts = Vec::new();
        while !self.at(TokenKind::RightParen) {
            parts.push(self.ty()?);
            if self.eat(TokenKind::Comma).is_none() {
                break;
            }
        }
        self.close(opener, TokenKind::RightParen)?;
        self.semicolon()?;
        Ok(ChannelDecl { doc, name, lengths, kind, capacity, parts, span: self.since(start) })
    }

    fn define_decl(&mut self, doc: Option<Doc>) -> Parse<DefineDecl> {
        let start = self.bump();
        let name = self.ident("the name of a definition")?;
        let mut parameters = Vec::new();
        if self.at(TokenKind::LeftParen) {
            let opener = self.bump_as(Role::Tight);
            while self.at(TokenKind::Word) {
                parameters.push(self.ident("the name of a parameter")?);
                if self.eat(TokenKind::Comma).is_none() {
                    break;
                }
            }
            self.close(opener, TokenKind::RightParen)?;
        }
        self.equals_sign()?;
        let body = self.expr()?;
        self.semicolon()?;
        Ok(DefineDecl { doc, name, parameters, body, span: self.since(start) })
    }

    /// The `=` of a declaration.
    fn equals_sign(&mut self) -> Parse<()> {
        if matches!(self.peek(), TokenKind::ForeignAssign | TokenKind::Equal) {
            let message = format!("expected `=`, found {}", self.found());
            let diagnostic = Diagnostic::error(code::FOREIGN_OPERATOR, self.span(), message);
            let diagnostic = diagnostic.fix("write `=`", self.span(), "=");
            self.report(diagnostic);
            self.bump();
            return Ok(());
        }
        self.expect(TokenKind::Assign, "`=`").map(|_| ())
    }

    /// `shared a, b: T = e;`: one declaration per name.
    pub(super) fn variables(&mut self, doc: Option<Doc>, scope: Scope) -> Parse<Vec<VariableDecl>> {
        let start = self.span();
        let class = self.storage_class(scope);
        self.bump();
        let mut names = vec![self.ident("the name of a variable")?];
        while self.eat(TokenKind::Comma).is_some() {
            names.push(self.ident("the name of a variable")?);
        }
        self.mark(Role::VariableColon);
        self.type_follows()?;
        let ty = self.ty()?;
        let has_initial = matches!(self.peek(), TokenKind::Assign | TokenKind::ForeignAssign | TokenKind::Equal);
        let initial = if has_initial { Some(self.initial()?) } else { None };
        self.semicolon()?;
        let span = self.since(start);
        let declare = |name: Ident| VariableDecl {
            doc: doc.clone(),
            class,
            name,
            ty: ty.clone(),
            initial: initial.clone(),
            look: VariableLook::Plain,
            indices_after: Vec::new(),
            span,
        };
        Ok(names.into_iter().map(declare).collect())
    }

    /// The `:` before a type.
    fn type_follows(&mut self) -> Parse<()> {
        if self.eat(TokenKind::Colon).is_some() {
            return Ok(());
        }
        if let Some(failed) = self.type_first().or_else(|| self.length_behind_name()) {
            return Err(failed);
        }
        let message = format!("expected `:` and a type, found {}", self.found());
        let diagnostic = Diagnostic::error(code::UNEXPECTED, self.span(), message)
            .help("the name comes first, then its type: `x: 0..=3`, `flag: [bool; N]`");
        Err(self.fail(diagnostic))
    }

    fn initial(&mut self) -> Parse<Assigned> {
        self.equals_sign()?;
        self.assigned()
    }

    /// The storage class written here; complains if it does not belong here, and takes the one that does.
    fn storage_class(&mut self, scope: Scope) -> StorageClass {
        let word = self.word_at(0);
        let (class, advice) = match (scope, word) {
            (Scope::Program, "public" | "local") => {
                (StorageClass::Shared, "in the program write `shared`, or move the declaration into a process")
            }
            (Scope::Process, "shared") => {
                (StorageClass::Local, "move the declaration into the program, or write `public` or `local`")
            }
            (Scope::Procedure, "shared" | "public") => {
                (StorageClass::Local, "a procedure has `local` variables; move others out of it")
            }
            (Scope::Statement, _) => {
                (StorageClass::Local, "declare variables among the outermost statements of the process or procedure")
            }
            (_, "shared") => return StorageClass::Shared,
            (_, "public") => return StorageClass::Public,
            _ => return StorageClass::Local,
        };
        let message = match scope {
            Scope::Program => format!("a `{word}` variable belongs to a process"),
            Scope::Process => "a `shared` variable belongs to the program".to_string(),
            Scope::Procedure => format!("a `{word}` variable does not belong to a procedure"),
            Scope::Statement => "a variable cannot be declared inside a statement".to_string(),
        };
        let diagnostic = Diagnostic::error(code::MISPLACED_DECLARATION, self.span(), message).help(advice);
        self.report(diagnostic);
        class
    }

    fn process_decl(&mut self, doc: Option<Doc>) -> Parse<ProcessDecl> {
        let start = self.bump();
        let name = self.ident("the name of a process")?;
        let index = if self.at(TokenKind::LeftBracket) { Some(self.process_index()?) } else { None };
        let (variables, body) = self.body(Scope::Process)?;
        Ok(ProcessDecl { doc, name, index, variables, body, span: self.since(start) })
    }

    fn process_index(&mut self) -> Parse<ProcessIndex> {
        let opener = self.bump_as(Role::Tight);
        if self.word_at(1) != "in" {
            let diagnostic =
                Diagnostic::error(code::UNEXPECTED, self.span(), "expected the index of the family and its range")
                    .help("write `process P[i in 0..<N]`, or `process P` for a single process");
            return Err(self.fail(diagnostic));
        }
        let name = self.ident("the name of the index")?;
        self.expect_word("in")?;
        let range = self.range()?;
        self.close(opener, TokenKind::RightBracket)?;
        Ok(ProcessIndex { name, range })
    }

    fn procedure_decl(&mut self, doc: Option<Doc>) -> Parse<ProcedureDecl> {
        let start = self.bump();
        let name = self.ident("the name of a procedure")?;
        self.mark(Role::Tight);
        let opener = self.expect(TokenKind::LeftParen, "`(`")?;
        let mut parameters = Vec::new();
        while self.at(TokenKind::Word) {
            let name = self.ident("the name of a parameter")?;
            self.type_follows()?;
            parameters.push(ProcedureParameter { name, ty: self.ty()? });
            if self.eat(TokenKind::Comma).is_none() {
                break;
            }
        }
        self.close(opener, TokenKind::RightParen)?;
        let result = if self.eat_result_arrow() { Some(self.ty()?) } else { None };
        let (variables, body) = self.body(Scope::Procedure)?;
        Ok(ProcedureDecl { doc, name, parameters, result, variables, body, span: self.since(start) })
    }

    /// The `->` before the type of a result, or what is written for it in other languages.
    fn eat_result_arrow(&mut self) -> bool {
        if !matches!(self.peek(), TokenKind::Colon | TokenKind::Implies) {
            return self.eat(TokenKind::Arrow).is_some();
        }
        let message = format!("expected `->` before the type of the result, found {}", self.found());
        let diagnostic = Diagnostic::error(code::UNEXPECTED, self.span(), message);
        let diagnostic = diagnostic.fix("write `->`", self.span(), " ->");
        self.report(diagnostic);
        self.bump();
        true
    }

    /// The block of a process or procedure, with the variables that are declared among its outermost statements.
    fn body(&mut self, scope: Scope) -> Parse<(Vec<VariableDecl>, Block)> {
        let is_family = scope == Scope::Process && self.at(TokenKind::LeftParen);
        let advice = if is_family { "the index of a family stands in brackets: `process P[i in 0..<N]`" } else { "" };
        let start = match self.open_brace(Role::BlockOpen, advice) {
            Ok(start) => start,
            Err(Failed) if self.skip_to_block() => self.bump_as(Role::BlockOpen),
            Err(Failed) => return Err(Failed),
        };
        let context = Context { is_formula: false, ..self.context };
        self.within(context, |parser| {
            let mut variables = Vec::new();
            let statements: Vec<Statement> = parser.statements(scope, &mut variables);
            parser.close_brace(Role::BlockClose, "a statement or `}`")?;
            Ok((variables, Block { statements, span: parser.since(start) }))
        })
    }
}
