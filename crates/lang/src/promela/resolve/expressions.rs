//! Expressions and variables with names looked up.

use base::diagnostic::nearest_name;
use base::{Diagnostic, Span};

use super::super::ast::{self, Argument, Name, Part, VarRef};
use super::super::program::{Expr, ExprKind, Pattern, ProctypeId, Ref};
use super::super::values;
use super::symbols::{Parts, Variable};
use super::{Resolver, RunWithin};
use crate::codes::promela as code;

/// What a variable of the text is.
pub(super) enum Found {
    /// One element.
    One(Ref),
    /// A structure: all its parts, in order.
    Many(Vec<Ref>),
    /// The name of a message.
    Message(i64),
}

impl Resolver<'_> {
    /// An expression; `None` where something is wrong, which has been reported.
    pub(super) fn expression(&mut self, expr: &ast::Expr) -> Option<Expr> {
        let span = expr.span;
        let kind = match &expr.kind {
            ast::ExprKind::Number(value) => self.number(*value, span)?,
            ast::ExprKind::Var(variable) => return self.value(variable),
            ast::ExprKind::Not(inner) => ExprKind::Not(Box::new(self.expression(inner)?)),
            ast::ExprKind::Negate(inner) => ExprKind::Negate(Box::new(self.expression(inner)?)),
            ast::ExprKind::Complement(inner) => ExprKind::Complement(Box::new(self.expression(inner)?)),
            ast::ExprKind::Binary(op, left, right) => {
                let (left, right) = (self.expression(left), self.expression(right));
                ExprKind::Binary(*op, Box::new(left?), Box::new(right?))
            }
            ast::ExprKind::If(test, yes, no) => {
                let (test, yes, no) = (self.expression(test), self.expression(yes), self.expression(no));
                ExprKind::If(Box::new(test?), Box::new(yes?), Box::new(no?))
            }
            ast::ExprKind::Run(..) if self.in_claim => {
                let message = "a claim starts no processes";
                self.report(Diagnostic::error(code::CLAIM, span, message));
                return None;
            }
            ast::ExprKind::Run(name, arguments, priority) => match std::mem::take(&mut self.run_within) {
                RunWithin::MayStand => {
                    self.run_within = RunWithin::Found(Box::new(self.run(name, (arguments, *priority), span)?));
                    ExprKind::Started
                }
                _ => {
                    self.not_read(span, "`run` here");
                    return None;
                }
            },
            ast::ExprKind::Query(query, channel) => ExprKind::Query(*query, self.channel(channel)?),
            ast::ExprKind::Poll { channel, is_random, arguments } => {
                let channel = self.channel(channel);
                let patterns = self.patterns(arguments)?;
                ExprKind::Poll { channel: channel?, is_random: *is_random, patterns }
            }
            ast::ExprKind::Timeout => ExprKind::Timeout,
            ast::ExprKind::NonProgress => ExprKind::NonProgress,
            ast::ExprKind::NrPr => ExprKind::NrPr,
            ast::ExprKind::Last => ExprKind::Last,
            ast::ExprKind::Pid => ExprKind::Pid,
            ast::ExprKind::Enabled(pid) => ExprKind::Enabled(Box::new(self.expression(pid)?)),
            ast::ExprKind::StateNumber(pid) => {
                self.program.asks_state_numbers.get_or_insert(span);
                ExprKind::StateNumber(Box::new(self.expression(pid)?))
            }
            ast::ExprKind::Priority(None) if self.in_claim => {
                self.report(Diagnostic::error(code::CLAIM, span, "`_priority` stands in a process only"));
                return None;
            }
            ast::ExprKind::Priority(pid) => match pid {
                Some(pid) => ExprKind::Priority(Some(Box::new(self.expression(pid)?))),
                None => ExprKind::Priority(None),
            },
            ast::ExprKind::At { process, pid, label } => self.at(process, pid.as_deref(), label)?,
            ast::ExprKind::Remote { process, pid, variable } => self.remote(process, pid.as_deref(), variable)?,
        };
        Some(Expr { kind, span })
    }

    fn number(&mut self, value: i64, span: Span) -> Option<ExprKind> {
        if i32::try_from(value).is_err() && u32::try_from(value).is_err() {
            let message = format!("{value} does not fit in 32 bits");
            self.report(Diagnostic::error(code::TOO_LARGE, span, message));
            return None;
        }
        Some(ExprKind::Const(values::wrap(value)))
    }

    /// A number that is known before the program runs.
    pub(super) fn constant_of(&mut self, expr: &ast::Expr) -> Option<i64> {
        let resolved = self.expression(expr)?;
        let value = constant(&resolved);
        if value.is_none() {
            let message = "this must be known before the program runs";
            let help = "numbers, names of messages and operators on them may stand here";
            self.report(Diagnostic::error(code::NOT_CONSTANT, expr.span, message).help(help));
        }
        value
    }

    fn value(&mut self, variable: &VarRef) -> Option<Expr> {
        let span = variable.span;
        match self.find(variable)? {
            Found::One(one) => Some(Expr { kind: ExprKind::Read(one), span }),
            Found::Message(value) => Some(Expr::number(value, span)),
            Found::Many(_) => {
                self.not_read(span, "a whole structure as a value");
                None
            }
        }
    }

    /// One element that is written.
    pub(super) fn target(&mut self, variable: &VarRef) -> Option<Ref> {
        if self.in_claim {
            self.report(Diagnostic::error(code::CLAIM, variable.span, "a claim changes nothing"));
            return None;
        }
        match self.find(variable)? {
            Found::One(one) => Some(one),
            Found::Message(_) => {
                let message = format!("`{}` is the name of a message", variable.parts[0].name.text);
                self.report(Diagnostic::error(code::UNKNOWN_NAME, variable.span, message));
                None
            }
            Found::Many(_) => {
                self.not_read(variable.span, "a whole structure here");
                None
            }
        }
    }

    /// A variable that holds a channel.
    pub(super) fn channel(&mut self, variable: &VarRef) -> Option<Ref> {
        let found = match self.find(variable)? {
            Found::One(one) if self.program.leaves[one.leaf].ty == ast::Basic::Chan => Some(one),
            // A number can hold a channel's number, but what it may be is not known then.
            _ => None,
        };
        if found.is_none() {
            let message = format!("`{}` is no channel", variable.parts[0].name.text);
            self.report(Diagnostic::error(code::NOT_A_CHANNEL, variable.span, message));
        }
        found
    }

    /// What a variable of the text is.
    pub(super) fn find(&mut self, variable: &VarRef) -> Option<Found> {
        let first = &variable.parts[0];
        if let Some(found) = self.look_up(&first.name.text).cloned() {
            return self.follow(&found, variable);
        }
        if let (Some(&value), [Part { index: None, .. }]) = (self.mtypes.get(&first.name.text), &variable.parts[..]) {
            return Some(Found::Message(value));
        }
        if first.name.text == "_" {
            self.not_read(first.name.span, "`_` as a variable");
            return None;
        }
        let known = self.scopes.iter().flat_map(super::Scope::names).chain(self.mtypes.keys().map(String::as_str));
        let near = nearest_name(&first.name.text, known).map(str::to_owned);
        self.unknown(&first.name, format!("there is no variable `{}`", first.name.text), near);
        None
    }

    /// Follows the parts of a variable down to its leaves.
    fn follow(&mut self, found: &Variable, variable: &VarRef) -> Option<Found> {
        let span = variable.span;
        let mut current = found;
        let mut indices = Vec::new();
        let mut parts = variable.parts.iter().peekable();
        while let Some(part) = parts.next() {
            match (current.len, &part.index) {
                (Some(_), Some(index)) => indices.push(self.expression(index)?),
                (None, None) => {}
                // SPIN takes `x[0]` for `x`.
                (None, Some(ast::Expr { kind: ast::ExprKind::Number(0), .. })) => {}
                (Some(len), None) => {
                    let message = format!("`{}` is an array of {len} elements; which one?", part.name.text);
                    self.report(Diagnostic::error(code::WRONG_NUMBER, part.name.span, message));
                    return None;
                }
                (None, Some(index)) => {
                    let message = format!("`{}` is no array", part.name.text);
                    self.report(Diagnostic::error(code::WRONG_NUMBER, index.span, message));
                    return None;
                }
            }
            let Some(next) = parts.peek() else { break };
            let Parts::Fields(fields) = &current.parts else {
                if !matches!(current.parts, Parts::Broken) {
                    let message = format!("`{}` has no parts", part.name.text);
                    self.report(Diagnostic::error(code::UNKNOWN_NAME, next.name.span, message));
                }
                return None;
            };
            let Some((_, field)) = fields.iter().find(|(name, _)| *name == next.name.text) else {
                let near = nearest_name(&next.name.text, fields.iter().map(|(name, _)| name.as_str()));
                let near = near.map(str::to_owned);
                self.unknown(&next.name, format!("`{}` has no part `{}`", part.name.text, next.name.text), near);
                return None;
            };
            current = field;
        }
        match &current.parts {
            Parts::Leaf(leaf) => Some(Found::One(Ref { leaf: *leaf, indices, span })),
            Parts::Broken => None,
            Parts::Fields(_) => self.whole(current, &indices, span),
        }
    }

    /// A structure as a row of its parts; arrays within it are written out.
    fn whole(&mut self, variable: &Variable, indices: &[Expr], span: Span) -> Option<Found> {
        let mut refs = Vec::new();
        for leaf in variable.leaves() {
            let dims = self.program.leaves[leaf].dims[indices.len()..].to_vec();
            for inner in positions(&dims) {
                let inner = inner.into_iter().map(|at| Expr::number(at as i64, span));
                refs.push(Ref { leaf, indices: indices.iter().cloned().chain(inner).collect(), span });
            }
        }
        Some(Found::Many(refs))
    }

    /// The arguments of a receive; a structure is as many as it has parts.
    pub(super) fn patterns(&mut self, arguments: &[Argument]) -> Option<Vec<Pattern>> {
        let mut patterns = Vec::new();
        let mut fine = true;
        for argument in arguments {
            match argument {
                Argument::Ignore => patterns.push(Pattern::Ignore),
                Argument::Match(expr) => match self.expression(expr) {
                    Some(expr) => patterns.push(Pattern::Match(expr)),
                    None => fine = false,
                },
                Argument::Store(variable) => match self.find(variable) {
                    Some(Found::One(one)) => patterns.push(Pattern::Store(one)),
                    Some(Found::Many(refs)) => patterns.extend(refs.into_iter().map(Pattern::Store)),
                    Some(Found::Message(value)) => patterns.push(Pattern::Match(Expr::number(value, variable.span))),
                    None => fine = false,
                },
            }
        }
        fine.then_some(patterns)
    }

    /// The values of a send; a structure is as many as it has parts.
    pub(super) fn values(&mut self, values: &[ast::Expr]) -> Option<Vec<Expr>> {
        let mut found = Vec::new();
        let mut fine = true;
        for value in values {
            if let ast::ExprKind::Var(variable) = &value.kind {
                match self.find(variable) {
                    Some(Found::Many(refs)) => {
                        found.extend(refs.into_iter().map(|one| Expr { kind: ExprKind::Read(one), span: value.span }));
                        continue;
                    }
                    Some(Found::One(one)) => found.push(Expr { kind: ExprKind::Read(one), span: value.span }),
                    Some(Found::Message(number)) => found.push(Expr::number(number, value.span)),
                    None => fine = false,
                }
                continue;
            }
            match self.expression(value) {
                Some(value) => found.push(value),
                None => fine = false,
            }
        }
        fine.then_some(found)
    }

    pub(super) fn proctype(&mut self, name: &Name) -> Option<ProctypeId> {
        if let Some(&id) = self.proctypes.get(&name.text) {
            return Some(id);
        }
        let near = nearest_name(&name.text, self.proctypes.keys().map(String::as_str)).map(str::to_owned);
        self.unknown(name, format!("there is no proctype `{}`", name.text), near);
        None
    }

    fn at(&mut self, process: &Name, pid: Option<&ast::Expr>, label: &Name) -> Option<ExprKind> {
        let proctype = self.proctype(process);
        let pid = match pid {
            Some(pid) => Some(Box::new(self.expression(pid)?)),
            None => None,
        };
        let proctype = proctype?;
        if !self.labels[proctype].contains(&label.text) {
            let near = nearest_name(&label.text, self.labels[proctype].iter().map(String::as_str)).map(str::to_owned);
            let message = format!("`{}` has no label `{}`", process.text, label.text);
            let mut diagnostic = Diagnostic::error(code::LABEL, label.span, message);
            if let Some(near) = near {
                diagnostic = diagnostic.suggest(format!("did you mean `{near}`?"), label.span, near);
            }
            self.report(diagnostic);
            return None;
        }
        self.named_labels.insert((proctype, label.text.clone()));
        Some(ExprKind::At { proctype, pid, label: label.text.clone() })
    }

    fn remote(&mut self, process: &Name, pid: Option<&ast::Expr>, variable: &VarRef) -> Option<ExprKind> {
        let proctype = self.proctype(process);
        let pid = match pid {
            Some(pid) => Some(Box::new(self.expression(pid)?)),
            None => None,
        };
        let proctype = proctype?;
        let first = &variable.parts[0].name;
        let Some(found) = self.locals.get(proctype).and_then(|scope| scope.get(&first.text)).cloned() else {
            self.unknown(first, format!("`{}` has no variable `{}` of its own", process.text, first.text), None);
            return None;
        };
        match self.follow(&found, variable)? {
            Found::One(variable) => Some(ExprKind::Remote { proctype, pid, variable }),
            _ => {
                self.not_read(variable.span, "a whole structure as a value");
                None
            }
        }
    }
}

/// The value of an expression without variables.
pub(in super::super) fn constant(expr: &Expr) -> Option<i64> {
    match &expr.kind {
        ExprKind::Const(value) => Some(*value),
        ExprKind::Not(inner) => Some(i64::from(constant(inner)? == 0)),
        ExprKind::Negate(inner) => Some(values::wrap(-constant(inner)?)),
        ExprKind::Complement(inner) => Some(!constant(inner)?),
        ExprKind::Binary(op, left, right) => values::apply(*op, constant(left)?, constant(right)?),
        ExprKind::If(test, yes, no) => {
            if constant(test)? != 0 {
                constant(yes)
            } else {
                constant(no)
            }
        }
        _ => None,
    }
}

/// All positions in an array of these lengths, in order.
pub(in super::super) fn positions(dims: &[usize]) -> Vec<Vec<usize>> {
    dims.iter().fold(vec![Vec::new()], |found, &len| {
        let longer = |start: Vec<usize>| (0..len).map(move |at| start.iter().copied().chain([at]).collect());
        found.into_iter().flat_map(longer).collect()
    })
}
