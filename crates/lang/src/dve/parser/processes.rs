//! Processes: variables, locations, sections, asserts, transitions.

use base::Diagnostic;

use super::super::ast::{Assert, Assignment, Name, Process, Side, Sync, Target, Transition};
use super::{Failed, Parse, Parser, TokenKind};
use crate::codes::dve as code;

/// The words that begin something in a process.
const SECTIONS: [&str; 9] = ["const", "byte", "int", "state", "init", "commit", "accept", "assert", "trans"];

/// The words after which a process has surely ended, although its `}` is missing.
const NEXT_ITEMS: [&str; 2] = ["process", "system"];

impl Parser<'_> {
    /// A process. `None` where its name is missing and all has been said.
    pub fn process(&mut self) -> Parse<Option<Process>> {
        let start = self.bump();
        let name = self.name("the name of the process")?;
        let open = self.expect(TokenKind::LeftBrace, "`{`")?;
        let mut process = Process {
            span: start.to(name.span),
            name,
            variables: Vec::new(),
            locations: Vec::new(),
            initial: Vec::new(),
            committed: Vec::new(),
            accepting: Vec::new(),
            asserts: Vec::new(),
            transitions: Vec::new(),
        };
        while !self.at(TokenKind::RightBrace) {
            if self.at(TokenKind::End) || NEXT_ITEMS.contains(&self.word()) {
                self.closing(TokenKind::RightBrace, (open, "{"), "`}`").ok();
                return Ok(Some(process));
            }
            let before = self.position;
            if self.section(&mut process).is_err() {
                if self.position == before {
                    self.bump();
                }
                self.skip_to(&[TokenKind::RightBrace], &[&SECTIONS[..], &NEXT_ITEMS].concat());
            }
        }
        process.span = process.span.to(self.bump());
        Ok(Some(process))
    }

    fn section(&mut self, process: &mut Process) -> Parse<()> {
        if self.at_variables() {
            let variables = self.variables()?;
            process.variables.extend(variables);
            return Ok(());
        }
        match self.word() {
            "state" => {
                self.bump();
                process.locations.extend(self.names("the name of a location")?);
                self.semicolon()
            }
            "init" => {
                self.bump();
                process.initial.push(self.name("the initial location")?);
                self.semicolon()
            }
            "commit" => {
                self.bump();
                process.committed.extend(self.names("a location")?);
                self.semicolon()
            }
            "accept" => self.accept(process),
            "assert" => self.asserts(process),
            "trans" => {
                self.bump();
                self.transitions(process)
            }
            _ => Err(self.unexpected("a variable, `state`, `init`, `commit`, `accept`, `assert` or `trans`")),
        }
    }

    fn accept(&mut self, process: &mut Process) -> Parse<()> {
        self.bump();
        let word = self.word();
        if ["genbuchi", "streett", "rabin", "muller"].contains(&word) {
            let message = format!("acceptance by `{word}` is not read; only Büchi's is");
            self.report(Diagnostic::error(code::NOT_SUPPORTED, self.span(), message));
            self.skip_to(&[TokenKind::Semicolon, TokenKind::RightBrace], &SECTIONS);
            return self.semicolon();
        }
        self.eat_word("buchi");
        process.accepting.extend(self.names("a location")?);
        self.semicolon()
    }

    fn asserts(&mut self, process: &mut Process) -> Parse<()> {
        self.bump();
        loop {
            let location = self.name("a location")?;
            self.expect(TokenKind::Colon, "`:`")?;
            let condition = self.expression()?;
            let span = location.span.to(condition.span);
            process.asserts.push(Assert { location, condition, span });
            if self.eat(TokenKind::Comma).is_none() {
                return self.semicolon();
            }
        }
    }

    /// The transitions after `trans`. One that is wrong is skipped to its closing brace.
    fn transitions(&mut self, process: &mut Process) -> Parse<()> {
        let mut last_source: Option<Name> = process.transitions.last().map(|last| last.source.clone());
        loop {
            match self.transition(last_source.as_ref()) {
                Ok(transition) => {
                    last_source = Some(transition.source.clone());
                    process.transitions.push(transition);
                }
                Err(Failed) => self.skip_transition()?,
            }
            if self.eat(TokenKind::Comma).is_some() {
                continue;
            }
            // A forgotten comma is one error, not one for each transition that follows.
            let begins_another = matches!((self.peek(), self.peek_at(1)), (TokenKind::Word, TokenKind::Arrow));
            if begins_another && !self.at(TokenKind::Semicolon) {
                self.unexpected("`,` or `;`");
                continue;
            }
            return self.semicolon();
        }
    }

    /// Moves to the end of a transition that is wrong. Fails where there is no other one to go on with.
    fn skip_transition(&mut self) -> Parse<()> {
        let mut seen_brace = false;
        while !self.at(TokenKind::End) && !NEXT_ITEMS.contains(&self.word()) {
            match self.peek() {
                TokenKind::RightBrace => {
                    // The brace of the transition, or that of the process where the transition had none.
                    let ends_process =
                        !seen_brace && !matches!(self.peek_at(1), TokenKind::Comma | TokenKind::Semicolon);
                    if ends_process {
                        return Err(Failed);
                    }
                    self.bump();
                    return Ok(());
                }
                TokenKind::LeftBrace => seen_brace = true,
                _ => {}
            }
            self.bump();
        }
        Err(Failed)
    }

    /// `a -> b { guard e; sync c!e; effect x = e; }`
    fn transition(&mut self, last_source: Option<&Name>) -> Parse<Transition> {
        let start = self.span();
        let source = match (self.at(TokenKind::Arrow), last_source) {
            (true, Some(last)) => last.clone(),
            (true, None) => {
                let message = "the first transition has no source";
                let diagnostic = Diagnostic::error(code::NO_SOURCE, start, message);
                return Err(self.fail(diagnostic.help("later ones may leave it out and take that of the one before")));
            }
            (false, _) => self.name("a transition, as in `a -> b {}`")?,
        };
        self.expect(TokenKind::Arrow, "`->`")?;
        let target = self.name("a location")?;
        let open = self.expect(TokenKind::LeftBrace, "`{`")?;
        let mut transition =
            Transition { source, target, guards: Vec::new(), sync: None, effects: Vec::new(), span: start };
        if self.eat_word("guard").is_some() {
            transition.guards = self.expressions()?;
            self.semicolon()?;
        }
        if self.at_word("sync") {
            self.bump();
            transition.sync = Some(self.sync()?);
            self.semicolon()?;
        }
        if self.eat_word("effect").is_some() {
            transition.effects = self.effects()?;
            self.semicolon()?;
        }
        if ["guard", "sync", "effect"].contains(&self.word()) {
            let message = format!("`{}` stands too late", self.word());
            let diagnostic = Diagnostic::error(code::PART_ORDER, self.span(), message);
            let help = "a transition has at most one `guard`, then one `sync`, then one `effect`";
            return Err(self.fail(diagnostic.help(help)));
        }
        let close = self.closing(TokenKind::RightBrace, (open, "{"), "`}`")?;
        transition.span = start.to(close);
        Ok(transition)
    }

    fn sync(&mut self) -> Parse<Sync> {
        let channel = self.name("a channel")?;
        let side = match self.peek() {
            TokenKind::Bang => {
                self.bump();
                Side::Send(self.passed(Self::expression)?)
            }
            TokenKind::Question => {
                self.bump();
                Side::Receive(self.passed(Self::target)?)
            }
            _ => return Err(self.unexpected("`!` or `?`")),
        };
        let span = channel.span.to(self.previous_span());
        Ok(Sync { channel, side, span })
    }

    /// Nothing, one, or several in braces.
    fn passed<T>(&mut self, mut one: impl FnMut(&mut Self) -> Parse<T>) -> Parse<Vec<T>> {
        if matches!(self.peek(), TokenKind::Semicolon | TokenKind::RightBrace) {
            return Ok(Vec::new());
        }
        let Some(open) = self.eat(TokenKind::LeftBrace) else { return Ok(vec![one(self)?]) };
        let mut all = Vec::new();
        if !self.at(TokenKind::RightBrace) {
            all.push(one(self)?);
            while self.eat(TokenKind::Comma).is_some() {
                all.push(one(self)?);
            }
        }
        self.closing(TokenKind::RightBrace, (open, "{"), "`}`")?;
        Ok(all)
    }

    fn effects(&mut self) -> Parse<Vec<Assignment>> {
        let mut effects = Vec::new();
        loop {
            let target = self.target()?;
            self.expect(TokenKind::Assign, "`=`")?;
            let value = self.expression()?;
            let span = target.span.to(value.span);
            effects.push(Assignment { target, value, span });
            if self.eat(TokenKind::Comma).is_none() {
                return Ok(effects);
            }
        }
    }

    fn target(&mut self) -> Parse<Target> {
        let name = self.name("a variable")?;
        let index = self.index()?;
        let span = name.span.to(self.previous_span());
        Ok(Target { name, index, span })
    }
}
