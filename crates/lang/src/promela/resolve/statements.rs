//! Bodies with names looked up.

use base::{Diagnostic, Span};

use super::super::ast::{self, Init, VarRef};
use super::super::program::{self, Expr, ExprKind, Leaf, Op, Pattern, Ref, RunResult, Start, Stmt, StmtKind};
use super::expressions::Found;
use super::symbols::{Parts, Scope};
use super::{Resolver, RunWithin};
use crate::codes::promela as code;

impl<'f> Resolver<'f> {
    /// The body of a process: start values of leading declarations belong to the variables.
    pub(super) fn outermost(&mut self, body: &'f [ast::Stmt]) -> Vec<Stmt> {
        let is_declaration = |statement: &ast::Stmt| matches!(statement.kind, ast::StmtKind::Declare(_));
        let n_leading = body.iter().position(|statement| !is_declaration(statement)).unwrap_or(body.len());
        for statement in &body[..n_leading] {
            if let ast::StmtKind::Declare(declared) = &statement.kind {
                declared.iter().for_each(|one| self.variable(one));
            }
        }
        self.rest(&body[n_leading..])
    }

    /// A block with its own names.
    pub(super) fn statements(&mut self, body: &'f [ast::Stmt]) -> Vec<Stmt> {
        self.scopes.push(Scope::default());
        let resolved = self.rest(body);
        self.scopes.pop();
        resolved
    }

    fn rest(&mut self, body: &'f [ast::Stmt]) -> Vec<Stmt> {
        let mut resolved = Vec::new();
        // A label before a declaration belongs to the next statement.
        let mut waiting: Vec<String> = Vec::new();
        for statement in body {
            let first = resolved.len();
            self.statement(statement, &mut resolved);
            let labels = statement.labels.iter().map(|label| label.text.clone());
            waiting.extend(labels);
            if let Some(stmt) = resolved.get_mut(first) {
                stmt.labels.splice(0..0, std::mem::take(&mut waiting));
            }
        }
        resolved
    }

    fn statement(&mut self, statement: &'f ast::Stmt, resolved: &mut Vec<Stmt>) {
        let span = statement.span;
        let kind = match &statement.kind {
            ast::StmtKind::Declare(declared) => return self.late(declared, span, resolved),
            ast::StmtKind::ForIn { variable, container, body } => {
                return self.for_in(variable, container, (body, span), resolved);
            }
            ast::StmtKind::Else => Some(StmtKind::Else),
            ast::StmtKind::Goto(label) => self.goto(label),
            ast::StmtKind::Break => Some(StmtKind::Break),
            ast::StmtKind::If(options) => Some(StmtKind::If(self.options(options))),
            ast::StmtKind::Do(options) => Some(StmtKind::Do(self.options(options))),
            ast::StmtKind::Atomic(inner) => Some(StmtKind::Atomic(self.statements(inner))),
            ast::StmtKind::DStep(inner) => Some(StmtKind::DStep(self.statements(inner))),
            ast::StmtKind::Block(inner) => Some(StmtKind::Block(self.statements(inner))),
            ast::StmtKind::Unless(main, escape) => {
                Some(StmtKind::Unless(self.statements(main), self.statements(escape)))
            }
            _ => self.operation(statement).map(StmtKind::Op),
        };
        if let Some(kind) = kind {
            resolved.push(Stmt::new(kind, span, statement.text.clone()));
        }
    }

    fn options(&mut self, options: &'f [Vec<ast::Stmt>]) -> Vec<Vec<Stmt>> {
        // Braces make a scope, options do not.
        options.iter().map(|option| self.rest(option)).collect()
    }

    fn goto(&mut self, label: &ast::Name) -> Option<StmtKind> {
        let Some(owner) = self.owner else { return Some(StmtKind::Goto(label.text.clone())) };
        if !self.labels[owner].contains(&label.text) {
            let known = self.labels[owner].iter().map(String::as_str);
            let near = base::diagnostic::nearest_name(&label.text, known).map(str::to_owned);
            let message = format!("there is no label `{}` in this process", label.text);
            let mut diagnostic = Diagnostic::error(code::LABEL, label.span, message);
            if let Some(near) = near {
                diagnostic = diagnostic.suggest(format!("did you mean `{near}`?"), label.span, near);
            }
            self.report(diagnostic);
            return None;
        }
        Some(StmtKind::Goto(label.text.clone()))
    }

    /// A declaration behind the first statement is a step: it stores the start value, or 0, in the variable, of an array in its first element,
    /// and nothing in a structure.
    fn late(&mut self, declared: &'f [ast::Declaration], span: Span, resolved: &mut Vec<Stmt>) {
        for one in declared {
            self.variable(one);
            let Some(variable) = self.look_up(&one.name.text).cloned() else { continue };
            let text = format!("{} = …", one.name.text);
            let kind = match variable.parts {
                Parts::Broken => continue,
                _ if self.owner.is_none() => continue,
                Parts::Fields(_) => StmtKind::Op(Op::Skip),
                Parts::Leaf(leaf) if self.means_global(&one.name.text) => {
                    let value = match &one.init {
                        Some(Init::Value(value)) => self.expression(value),
                        _ => Some(Expr::number(0, span)),
                    };
                    let n_indices = self.program.leaves[leaf].dims.len();
                    let target = Ref { leaf, indices: vec![Expr::number(0, span); n_indices], span };
                    let Some(value) = value else { continue };
                    StmtKind::Op(Op::Assign(vec![(target, value)]))
                }
                Parts::Leaf(leaf) => {
                    let start = std::mem::replace(&mut self.program.leaves[leaf].init, Start::Zero);
                    let value = match (start, &one.init) {
                        (Start::Channel { .. }, Some(Init::Channel { span, .. })) => {
                            self.not_read(*span, "a channel that is made after the first statement of its process");
                            continue;
                        }
                        (Start::List(_), _) => {
                            self.not_read(one.name.span, "a list of start values after the first statement");
                            continue;
                        }
                        (Start::Value(value), _) => value,
                        _ => Expr::number(0, span),
                    };
                    let n_indices = self.program.leaves[leaf].dims.len();
                    let target = Ref { leaf, indices: vec![Expr::number(0, span); n_indices], span };
                    StmtKind::Op(Op::Assign(vec![(target, value)]))
                }
            };
            resolved.push(Stmt::new(kind, span, text));
        }
    }

    /// `for (i in a)` over an array: the variable is the index.
    fn for_in(
        &mut self,
        variable: &'f VarRef,
        container: &'f VarRef,
        (body, span): (&'f [ast::Stmt], Span),
        resolved: &mut Vec<Stmt>,
    ) {
        // SPIN looks at the first name only: `for (i in s[0].f)` counts the elements of `s`.
        let first = |variable: &VarRef| variable.parts.first().and_then(|part| self.look_up(&part.name.text)).cloned();
        let is_message = first(variable).is_some_and(|found| matches!(found.parts, Parts::Fields(_)));
        let len = match first(container).and_then(|found| found.len) {
            Some(len) if !is_message => len,
            _ => return self.for_messages(variable, container, (body, span), resolved),
        };
        let Some(counter) = self.target(variable) else { return };
        let inner = self.statements(body);
        let last = Expr::number(len as i64 - 1, span);
        resolved.extend(counted((counter, ast::BinaryOp::LessEqual, last), inner, span));
    }

    /// `for (m in q)` over a channel: each message in turn is taken and sent again.
    fn for_messages(
        &mut self,
        variable: &'f VarRef,
        container: &'f VarRef,
        (body, span): (&'f [ast::Stmt], Span),
        resolved: &mut Vec<Stmt>,
    ) {
        let channel = self.channel(container);
        let Some(found) = self.find(variable) else { return };
        let (Some(channel), Found::One(_) | Found::Many(_)) = (channel, &found) else { return };
        let parts = match found {
            Found::One(one) => vec![one],
            Found::Many(many) => many,
            Found::Message(_) => return,
        };
        let Some(counter) = self.counter(span) else { return };
        let inner = self.statements(body);
        let read = |one: &Ref| Expr { kind: ExprKind::Read(one.clone()), span };
        let take = Op::Receive {
            channel: channel.clone(),
            is_random: false,
            is_copy: false,
            patterns: parts.iter().cloned().map(Pattern::Store).collect(),
        };
        let back = Op::Send { channel: channel.clone(), is_sorted: false, values: parts.iter().map(read).collect() };
        let op = |op, text: &str| Stmt::new(StmtKind::Op(op), span, text);
        let mut round = vec![op(take, "next message"), op(back, "message sent again")];
        round.extend(inner);
        let length = Expr { kind: ExprKind::Query(ast::Query::Len, channel), span };
        resolved.extend(counted((counter, ast::BinaryOp::Less, length), round, span));
    }

    /// A variable of the process that counts, which the text does not name.
    fn counter(&mut self, span: Span) -> Option<Ref> {
        let owner = self.owner?;
        let leaf = self.program.leaves.len();
        self.program.leaves.push(Leaf {
            name: format!("for {leaf}"),
            ty: ast::Basic::Int,
            dims: Vec::new(),
            is_array: false,
            owner: Some(owner),
            init: Start::Zero,
            is_parameter: false,
            span,
        });
        self.own_leaves.push(leaf);
        Some(Ref { leaf, indices: Vec::new(), span })
    }

    /// A statement that is one step.
    fn operation(&mut self, statement: &ast::Stmt) -> Option<Op> {
        let claim_only = self.in_claim;
        match &statement.kind {
            ast::StmtKind::Send { channel, values, .. } if self.in_trace => {
                let channel = self.channel(channel);
                let patterns = values.iter().map(|value| self.of_event(value)).collect::<Option<Vec<_>>>()?;
                Some(Op::Event { is_send: true, channel: channel?, patterns })
            }
            ast::StmtKind::Receive { channel, arguments, .. } if self.in_trace => {
                let channel = self.channel(channel);
                let patterns = self.patterns(arguments)?;
                Some(Op::Event { is_send: false, channel: channel?, patterns })
            }
            _ if self.in_trace => {
                self.not_read(statement.span, "what is neither a send nor a receive in a trace");
                None
            }
            ast::StmtKind::Print => Some(Op::Print),
            ast::StmtKind::Assert(expr) => Some(Op::Assert(self.expression(expr)?)),
            ast::StmtKind::Expr(ast::Expr { kind: ast::ExprKind::Run(name, arguments, priority), span })
                if !claim_only =>
            {
                self.run(name, (arguments, *priority), *span)
            }
            ast::StmtKind::Expr(expr) => Some(Op::Guard(self.expression(expr)?)),
            ast::StmtKind::Assign(target, value) if !claim_only && starts_process(value) => self.started(target, value),
            ast::StmtKind::SetPriority(..) if claim_only => {
                self.report(Diagnostic::error(code::CLAIM, statement.span, "a claim changes nothing"));
                None
            }
            ast::StmtKind::SetPriority(pid, value) => {
                let pid = match pid {
                    Some(pid) => Some(Box::new(self.expression(pid)?)),
                    None => None,
                };
                Some(Op::SetPriority { pid, value: Box::new(self.expression(value)?) })
            }
            ast::StmtKind::Assign(target, value) => self.assign(target, value),
            ast::StmtKind::Send { .. } | ast::StmtKind::Receive { .. } if claim_only => {
                let message = "a claim neither sends nor receives";
                self.report(Diagnostic::error(code::CLAIM, statement.span, message));
                None
            }
            ast::StmtKind::Send { channel, is_sorted, values } => {
                let channel = self.channel(channel);
                let values = self.values(values)?;
                Some(Op::Send { channel: channel?, is_sorted: *is_sorted, values })
            }
            ast::StmtKind::Receive { channel, is_random, is_copy, arguments } => {
                let channel = self.channel(channel);
                let patterns = self.patterns(arguments)?;
                Some(Op::Receive { channel: channel?, is_random: *is_random, is_copy: *is_copy, patterns })
            }
            _ => None,
        }
    }

    /// A value of a send in a trace: only constants are compared.
    fn of_event(&mut self, value: &ast::Expr) -> Option<Pattern> {
        if matches!(&value.kind, ast::ExprKind::Var(one) if one.parts[0].name.text == "_") {
            return Some(Pattern::Ignore);
        }
        let value = self.expression(value)?;
        Some(match super::constant(&value) {
            Some(_) => Pattern::Match(value),
            None => Pattern::Ignore,
        })
    }

    fn assign(&mut self, target: &VarRef, value: &ast::Expr) -> Option<Op> {
        if target.parts[0].name.text == "_" {
            let value = self.expression(value)?;
            let mut may_fail = false;
            value.walk(&mut |part| {
                may_fail |= match &part.kind {
                    ExprKind::Read(one) => !one.indices.is_empty(),
                    ExprKind::Binary(op, ..) => matches!(op, ast::BinaryOp::Divide | ast::BinaryOp::Remainder),
                    ExprKind::Query(..) | ExprKind::Poll { .. } => true,
                    _ => false,
                };
            });
            // What is stored there is never read.
            if may_fail {
                self.not_read(value.span, "a value for `_` that may be an error");
            }
            return Some(Op::Skip);
        }
        if let (Some(Found::Many(targets)), ast::ExprKind::Var(source)) = (self.find_quietly(target), &value.kind) {
            let Some(Found::Many(sources)) = self.find(source) else {
                self.not_read(value.span, "a value for a whole structure");
                return None;
            };
            let same = targets.len() == sources.len();
            if !same || self.in_claim {
                self.not_read(value.span, "an assignment between different structures");
                return None;
            }
            let read = |one: Ref| Expr { span: one.span, kind: ExprKind::Read(one) };
            return Some(Op::Assign(targets.into_iter().zip(sources.into_iter().map(read)).collect()));
        }
        let target = self.target(target);
        let value = self.expression(value)?;
        Some(Op::Assign(vec![(target?, value)]))
    }

    /// What a variable is, if it is declared.
    fn find_quietly(&mut self, variable: &VarRef) -> Option<Found> {
        self.look_up(&variable.parts[0].name.text)?;
        let n_errors = self.log.n_errors();
        let found = self.find(variable);
        if self.log.n_errors() > n_errors { None } else { found }
    }

    /// `n = run P() + 1`: the only `run` of an expression whose value is stored.
    fn started(&mut self, target: &VarRef, value: &ast::Expr) -> Option<Op> {
        let target = self.target(target);
        self.run_within = RunWithin::MayStand;
        let value = self.expression(value);
        let RunWithin::Found(found) = std::mem::take(&mut self.run_within) else { return None };
        let Op::Run { proctype, arguments, priority, .. } = *found else { return None };
        let result = Some(Box::new(RunResult { target: target?, value: value? }));
        Some(Op::Run { proctype, arguments, result, priority })
    }

    /// A `run`, and nothing that is done with the pid.
    pub(super) fn run(
        &mut self,
        name: &ast::Name,
        (arguments, priority): (&[ast::Expr], Option<i64>),
        span: Span,
    ) -> Option<Op> {
        let proctype = self.proctype(name);
        let arguments = self.values(arguments)?;
        let proctype = proctype?;
        let declared = &self.program.proctypes[proctype];
        if declared.is_init {
            self.not_read(span, "`run init`");
            return None;
        }
        if declared.parameters.len() != arguments.len() {
            let message =
                format!("`{}` takes {} arguments, not {}", name.text, declared.parameters.len(), arguments.len());
            let diagnostic = Diagnostic::error(code::WRONG_NUMBER, span, message);
            let place = declared.span;
            self.report(diagnostic.note(place, "declared here"));
            return None;
        }
        let priority = priority.unwrap_or(program::DEFAULT_PRIORITY);
        Some(Op::Run { proctype, arguments, result: None, priority })
    }
}

/// Whether a `run` stands in an expression.
fn starts_process(expr: &ast::Expr) -> bool {
    match &expr.kind {
        ast::ExprKind::Run(..) => true,
        ast::ExprKind::Not(inner) | ast::ExprKind::Negate(inner) | ast::ExprKind::Complement(inner) => {
            starts_process(inner)
        }
        ast::ExprKind::Binary(_, left, right) => starts_process(left) || starts_process(right),
        ast::ExprKind::If(test, yes, no) => [test, yes, no].into_iter().any(|part| starts_process(part)),
        _ => false,
    }
}

/// `i = 0; do :: i <= n -> …; i++ :: else -> break od`, with this comparison.
fn counted((counter, comparison, bound): (Ref, ast::BinaryOp, Expr), inner: Vec<Stmt>, span: Span) -> Vec<Stmt> {
    let read = || Box::new(Expr { kind: ExprKind::Read(counter.clone()), span });
    let number = |value| Expr::number(value, span);
    let op = |op, text: &str| Stmt::new(StmtKind::Op(op), span, text);
    let stmt = |kind, text: &str| Stmt::new(kind, span, text);
    let test = Expr { kind: ExprKind::Binary(comparison, read(), Box::new(bound)), span };
    let more = Expr { kind: ExprKind::Binary(ast::BinaryOp::Add, read(), Box::new(number(1))), span };
    let mut round = vec![op(Op::Guard(test), "in range")];
    round.extend(inner);
    round.push(op(Op::Assign(vec![(counter.clone(), more)]), "next"));
    let leave = vec![stmt(StmtKind::Else, "else"), stmt(StmtKind::Break, "break")];
    vec![op(Op::Assign(vec![(counter.clone(), number(0))]), "first"), stmt(StmtKind::Do(vec![round, leave]), "for")]
}
