//! What stands at the top level: processes, variables, types, messages, claims.

use base::Diagnostic;

use super::super::ast::{
    Basic, Declaration, Expr, ExprKind, File, Init, Ltl, MtypeKind, Name, Proctype, Stmt, Type, Unit,
};
use super::super::lexer::{Kind, Token};
use super::{Inline, KEYWORDS, NOT_READ, Parse, Parser, Shared};
use crate::codes::promela as code;

impl Parser<'_> {
    /// A whole program.
    pub(super) fn file(&mut self) -> File {
        let mut file = File::default();
        while !self.at_end() {
            if self.eat(";") {
                continue;
            }
            let start = self.at;
            if self.unit(&mut file).is_err() {
                self.recover();
                self.eat("}");
            }
            if self.at == start {
                self.advance();
            }
        }
        file
    }

    fn unit(&mut self, file: &mut File) -> Parse<()> {
        let Some(word) = self.token().name().map(str::to_owned) else {
            return Err(self.unexpected("a declaration, a proctype or a claim"));
        };
        match &*word {
            "active" | "proctype" | "D_proctype" | "init" => file.units.push(Unit::Proctype(self.proctype()?)),
            "mtype" if self.is_mtype_list() => file.units.push(self.mtype()?),
            "typedef" => file.units.push(self.typedef()?),
            "inline" => self.inline(file)?,
            "ltl" => file.units.push(Unit::Ltl(self.ltl()?)),
            "never" => file.units.push(self.never()?),
            "trace" | "notrace" => file.units.push(self.trace()?),
            _ if self.is_embedded() => self.embedded(),
            _ if NOT_READ.contains(&&*word) => {
                let broken = self.not_read(word);
                self.skip_block();
                return Err(broken);
            }
            _ if self.is_declaration() => {
                file.units.extend(self.declaration()?.into_iter().map(Unit::Global));
            }
            _ => {
                let near = base::diagnostic::nearest_name(&word, KEYWORDS.into_iter().chain(["ltl"]));
                let message = format!("a declaration, a proctype or a claim is expected here, not `{word}`");
                let mut diagnostic = Diagnostic::error(code::UNEXPECTED, self.span(), message);
                if let Some(near) = near {
                    diagnostic = diagnostic.suggest(format!("did you mean `{near}`?"), self.span(), near);
                }
                return Err(self.error(diagnostic));
            }
        }
        Ok(())
    }

    /// Skips a block in braces that is not read.
    fn skip_block(&mut self) {
        while !self.at_end() && !self.is("{") && !self.is(";") {
            self.advance();
        }
        if self.is("{") {
            self.braced();
        }
    }

    /// The tokens of a block in braces, with these.
    fn braced(&mut self) -> Option<Vec<Token>> {
        let start = self.at;
        let mut depth = 0usize;
        while !self.at_end() {
            match self.token().kind {
                Kind::Sign("{") => depth += 1,
                Kind::Sign("}") => depth -= 1,
                _ => {}
            }
            self.advance();
            if depth == 0 {
                return Some(self.tokens[start..self.at].to_vec());
            }
        }
        None
    }

    fn is_mtype_list(&self) -> bool {
        let after = if self.ahead(1).is(":") { 3 } else { 1 };
        let next = self.ahead(after);
        next.is("{") || next.is("=")
    }

    fn mtype(&mut self) -> Parse<Unit> {
        self.advance();
        let kind = self.message_kind()?;
        self.eat("=");
        let opened = self.span();
        self.expect("{")?;
        let mut names = Vec::new();
        while !self.is("}") && !self.at_end() {
            names.push(self.name("a name")?);
            self.eat(",");
        }
        self.close("}", opened)?;
        Ok(Unit::Mtype { kind, names })
    }

    /// The `:kind` behind `mtype`, if there is one, as a number.
    fn message_kind(&mut self) -> Parse<MtypeKind> {
        if !self.eat(":") {
            return Ok(0);
        }
        let name = self.name("a kind of message")?;
        let kinds = &mut self.shared.message_kinds;
        let at = kinds.iter().position(|known| *known == name.text).unwrap_or_else(|| {
            kinds.push(name.text);
            kinds.len() - 1
        });
        match MtypeKind::try_from(at + 1) {
            Ok(kind) => Ok(kind),
            Err(_) => Err(self.unexpected("fewer kinds of messages")),
        }
    }

    fn typedef(&mut self) -> Parse<Unit> {
        self.advance();
        let name = self.name("the name of a type")?;
        let opened = self.span();
        self.expect("{")?;
        let mut fields = Vec::new();
        while !self.is("}") && !self.at_end() {
            fields.extend(self.declaration()?);
            while self.eat(";") {}
        }
        self.close("}", opened)?;
        Ok(Unit::Typedef { name, fields })
    }

    /// Whether declarations begin here.
    pub(super) fn is_declaration(&self) -> bool {
        let Some(word) = self.token().name() else { return false };
        let basic =
            ["bit", "bool", "byte", "pid", "short", "int", "mtype", "chan", "unsigned", "hidden", "show", "local"];
        basic.contains(&word)
            // `T x`: a type by its name.
            || !KEYWORDS.contains(&word)
                && self.ahead(1).name().is_some_and(|next| !KEYWORDS.contains(&next))
                && !(self.ahead(1).starts_line && self.parens == 0)
    }

    /// `byte x = 1, a[3]`.
    pub(super) fn declaration(&mut self) -> Parse<Vec<Declaration>> {
        let mut is_hidden = false;
        while let Some("hidden" | "show" | "local") = self.token().name() {
            is_hidden |= self.is_word("hidden");
            self.advance();
        }
        let is_unsigned = self.is_word("unsigned");
        let ty = self.ty()?;
        let mut declared = Vec::new();
        loop {
            let name = self.name("a variable")?;
            let mut ty = ty.clone();
            if is_unsigned {
                self.expect(":")?;
                ty = Type::Basic(Basic::Unsigned(self.width()?));
            } else if self.is(":") {
                return Err(self.not_read("a field width of a type other than unsigned"));
            }
            let opened = self.span();
            let mut len = None;
            if self.eat("[") {
                len = Some(self.expression()?);
                self.close("]", opened)?;
            }
            let init = if self.eat("=") { Some(self.init()?) } else { None };
            declared.push(Declaration { ty, name, len, init, is_hidden });
            if !self.eat(",") {
                return Ok(declared);
            }
        }
    }

    fn width(&mut self) -> Parse<u8> {
        match self.token().kind {
            Kind::Number(width @ 1..=31) => {
                self.advance();
                Ok(width as u8)
            }
            _ => Err(self.unexpected("a number of bits from 1 to 31")),
        }
    }

    fn ty(&mut self) -> Parse<Type> {
        let basic = match self.token().name() {
            Some("bit") => Basic::Bit,
            Some("bool") => Basic::Bool,
            Some("byte") => Basic::Byte,
            Some("pid") => Basic::Pid,
            Some("short") => Basic::Short,
            Some("int") => Basic::Int,
            Some("mtype") => {
                self.advance();
                return Ok(Type::Basic(Basic::Mtype(self.message_kind()?)));
            }
            Some("chan") => Basic::Chan,
            Some("unsigned") => Basic::Unsigned(1),
            _ => return Ok(Type::Named(self.name("a type")?)),
        };
        self.advance();
        Ok(Type::Basic(basic))
    }

    fn init(&mut self) -> Parse<Init> {
        let start = self.at;
        let opened = self.span();
        if self.eat("[") {
            let capacity = self.expression()?;
            self.close("]", opened)?;
            if !self.eat_word("of") {
                return Err(self.unexpected("`of`"));
            }
            let opened = self.span();
            self.expect("{")?;
            let mut fields = Vec::new();
            while !self.is("}") && !self.at_end() {
                fields.push(self.ty()?);
                if !self.eat(",") {
                    break;
                }
            }
            self.close("}", opened)?;
            return Ok(Init::Channel { capacity, fields, span: self.since(start) });
        }
        if self.eat("{") {
            let mut values = Vec::new();
            while !self.is("}") && !self.at_end() {
                values.push(self.expression()?);
                if !self.eat(",") {
                    break;
                }
            }
            self.close("}", opened)?;
            return Ok(Init::List(values));
        }
        Ok(Init::Value(self.expression()?))
    }

    fn proctype(&mut self) -> Parse<Proctype> {
        let mut active = None;
        if self.eat_word("active") {
            let opened = self.span();
            active = Some(None);
            if self.eat("[") {
                active = Some(Some(self.expression()?));
                self.close("]", opened)?;
            }
        }
        let is_init = self.is_word("init");
        let is_deterministic = self.is_word("D_proctype");
        let name = if is_init {
            let name = Name { text: "init".into(), span: self.span() };
            self.advance();
            name
        } else if self.eat_word("proctype") || self.eat_word("D_proctype") {
            self.name("the name of a proctype")?
        } else {
            let word = self.token().text();
            return Err(if NOT_READ.contains(&&*word) { self.not_read(word) } else { self.unexpected("`proctype`") });
        };
        self.shared.begun.insert(name.text.clone());
        let parameters = if is_init { Vec::new() } else { self.parameters()? };
        let priority = self.priority()?;
        let provided = if self.eat_word("provided") { Some(self.expression()?) } else { None };
        let global_names = self.shared.global_names.clone();
        let body = self.body()?;
        Ok(Proctype { name, active, is_init, is_deterministic, parameters, priority, provided, global_names, body })
    }

    /// The body of a proctype or a claim.
    fn body(&mut self) -> Parse<Vec<Stmt>> {
        let mut body = self.block()?;
        let Shared { labels, log, .. } = &mut *self.shared;
        labels.settle(&mut body, log);
        Ok(body)
    }

    fn parameters(&mut self) -> Parse<Vec<Declaration>> {
        let opened = self.span();
        self.expect("(")?;
        let mut parameters = Vec::new();
        while !self.is(")") && !self.at_end() {
            parameters.extend(self.declaration()?);
            while self.eat(";") || self.eat(",") {}
        }
        self.close(")", opened)?;
        Ok(parameters)
    }

    fn inline(&mut self, file: &File) -> Parse<()> {
        self.advance();
        let name = self.name("the name of an inline")?;
        let opened = self.span();
        self.expect("(")?;
        let mut parameters = Vec::new();
        while !self.is(")") && !self.at_end() {
            parameters.push(self.name("a parameter")?.text);
            if !self.eat(",") {
                break;
            }
        }
        self.close(")", opened)?;
        let globals = file.units.iter().filter_map(|unit| match unit {
            Unit::Global(declared) => Some(&declared.name.text),
            _ => None,
        });
        self.shared.global_names.extend(globals.filter(|name| parameters.contains(name)).cloned());
        let opened = self.span();
        if !self.is("{") {
            return Err(self.unexpected("`{`"));
        }
        let Some(body) = self.braced() else {
            return Err(self.error(Diagnostic::error(code::UNCLOSED, opened, "this has no closing `}`")));
        };
        let inline = Inline { parameters, body: body.into(), span: name.span };
        if let Some(known) = self.shared.inlines.insert(name.text.clone(), inline) {
            let message = format!("`{}` is an inline already", name.text);
            let diagnostic = Diagnostic::error(code::DECLARED_TWICE, name.span, message);
            return Err(self.error(diagnostic.note(known.span, "declared here")));
        }
        Ok(())
    }

    fn ltl(&mut self) -> Parse<Ltl> {
        let start = self.at;
        self.advance();
        let name = if self.is("{") { None } else { Some(self.name("the name of the formula")?) };
        let opened = self.span();
        self.expect("{")?;
        let formula = self.formula()?;
        while self.eat(";") {}
        self.close("}", opened)?;
        Ok(Ltl { name, formula, span: self.since(start) })
    }

    fn trace(&mut self) -> Parse<Unit> {
        let start = self.at;
        let is_negated = self.is_word("notrace");
        self.advance();
        let body = self.body()?;
        Ok(Unit::Trace { body, is_negated, span: self.since(start) })
    }

    fn never(&mut self) -> Parse<Unit> {
        let start = self.at;
        self.advance();
        let name = if self.is("{") { None } else { Some(self.name("the name of the claim")?) };
        let body = self.body()?;
        Ok(Unit::Never { body, name, span: self.since(start) })
    }
}

/// A number where no text stands.
pub(super) fn number(value: i64, span: base::Span) -> Expr {
    Expr { kind: ExprKind::Number(value), span }
}
