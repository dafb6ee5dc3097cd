//! The top of a file: variables, channels, processes, the `system` line.

use base::Diagnostic;

use super::super::ast::{Channel, File, Init, System, Type, Variable};
use super::{Parse, Parser, TokenKind};
use crate::codes::dve as code;

/// The words that begin something at the top of a file.
const ITEMS: [&str; 6] = ["const", "byte", "int", "channel", "process", "system"];

impl Parser<'_> {
    /// A whole file.
    pub fn file(&mut self) -> File {
        let mut file = File::default();
        while !self.at(TokenKind::End) {
            let before = self.position;
            if self.item(&mut file).is_err() {
                if self.position == before {
                    self.bump();
                }
                self.skip_to(&[], &ITEMS);
            }
        }
        if file.system.is_none() && self.log.n_errors() == 0 {
            let message = "the `system` line is missing";
            let diagnostic = Diagnostic::error(code::NO_SYSTEM, self.span(), message);
            self.report(diagnostic.suggest("write it at the end", self.span(), "\nsystem async;\n"));
        }
        file
    }

    fn item(&mut self, file: &mut File) -> Parse<()> {
        match self.word() {
            "const" | "byte" | "int" => {
                let variables = self.variables()?;
                file.variables.extend(variables);
            }
            "channel" => {
                let channels = self.channels()?;
                file.channels.extend(channels);
            }
            "process" => {
                if let Some(process) = self.process()? {
                    file.processes.push(process);
                }
            }
            "system" => self.system(file)?,
            _ => return Err(self.unexpected("a variable, `channel`, `process` or `system`")),
        }
        Ok(())
    }

    /// Whether a declaration of variables begins here.
    pub fn at_variables(&self) -> bool {
        matches!(self.word(), "const" | "byte" | "int")
    }

    /// `const byte a[3] = {1, 2}, b;`
    pub fn variables(&mut self) -> Parse<Vec<Variable>> {
        let is_const = self.eat_word("const").is_some();
        let ty = self.ty()?;
        let mut variables = Vec::new();
        loop {
            let name = self.name("the name of a variable")?;
            let size = self.index()?;
            let init = if self.eat(TokenKind::Assign).is_some() { Some(self.init()?) } else { None };
            variables.push(Variable { is_const, ty, name, size, init });
            if self.eat(TokenKind::Comma).is_none() {
                break;
            }
        }
        self.semicolon()?;
        Ok(variables)
    }

    fn ty(&mut self) -> Parse<Type> {
        if self.eat_word("byte").is_some() {
            Ok(Type::Byte)
        } else if self.eat_word("int").is_some() {
            Ok(Type::Int)
        } else {
            Err(self.unexpected("`byte` or `int`"))
        }
    }

    fn init(&mut self) -> Parse<Init> {
        let Some(open) = self.eat(TokenKind::LeftBrace) else { return Ok(Init::Value(self.expression()?)) };
        let values = if self.at(TokenKind::RightBrace) { Vec::new() } else { self.expressions()? };
        let close = self.closing(TokenKind::RightBrace, (open, "{"), "`}`")?;
        Ok(Init::List(values, open.to(close)))
    }

    /// `channel a, b;` or `channel {byte} a[0], b[2];`
    fn channels(&mut self) -> Parse<Vec<Channel>> {
        self.bump();
        let mut types = None;
        if let Some(open) = self.eat(TokenKind::LeftBrace) {
            let mut all = vec![self.ty()?];
            while self.eat(TokenKind::Comma).is_some() {
                all.push(self.ty()?);
            }
            self.closing(TokenKind::RightBrace, (open, "{"), "`}`")?;
            types = Some(all);
        }
        let mut channels = Vec::new();
        loop {
            let name = self.name("the name of a channel")?;
            let typed = match &types {
                None => None,
                Some(types) => match self.index()? {
                    Some(size) => Some((types.clone(), size)),
                    None => return Err(self.unexpected("the length of the channel's buffer, as in `[2]` or `[0]`")),
                },
            };
            channels.push(Channel { name, typed });
            if self.eat(TokenKind::Comma).is_none() {
                break;
            }
        }
        self.semicolon()?;
        Ok(channels)
    }

    /// `system async property P;`
    fn system(&mut self, file: &mut File) -> Parse<()> {
        let start = self.bump();
        let is_async = if self.eat_word("async").is_some() {
            true
        } else if self.eat_word("sync").is_some() {
            false
        } else {
            return Err(self.unexpected("`async`"));
        };
        let property = match self.eat_word("property") {
            Some(_) => Some(self.name("the name of the property process")?),
            None => None,
        };
        let span = start.to(self.previous_span());
        self.semicolon()?;
        if let Some(first) = &file.system {
            let diagnostic = Diagnostic::error(code::NO_SYSTEM, span, "there are two `system` lines");
            let diagnostic = diagnostic.note(first.span, "the first one");
            self.report(diagnostic);
        } else {
            file.system = Some(System { is_async, property, span });
        }
        Ok(())
    }
}
