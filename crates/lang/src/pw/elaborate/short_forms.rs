//! Short forms of steps: `cas`, `either … else`, `some k in R where e { … }`.

use base::{Diagnostic, Span};

use super::{Elaborator, exits, names};
use crate::codes::check as code;
use crate::pw::ast::{
    Assigned, BinaryOp, Binders, Block, Domain, Expr, ExprKind, Ident, Quantifier, Range, Statement, StatementKind,
    Type, TypeKind, UnaryOp,
};

/// `cas(x, a, b)`: if `x` is `a`, it becomes `b`.
struct Cas {
    is_equal: Expr,
    store: Statement,
}

/// A `cas` where a test stands.
struct CasTest {
    cas: Cas,
    /// Whether `!` stands before it.
    is_negated: bool,
}

impl Elaborator<'_> {
    fn cas(&mut self, name: &Ident, arguments: &[Expr], span: Span) -> Option<Cas> {
        let [cell, old, new] = arguments else { return None };
        if name.name != "cas" || self.defines.contains(&"cas") {
            return None;
        }
        let equal = names::binary(BinaryOp::Equal, cell.clone(), old.clone(), span);
        let targets = std::slice::from_ref(cell);
        let store = self.assignment(targets, &[Assigned::Value(new.clone())], span);
        Some(Cas { is_equal: self.expr(&equal), store: names::statement(store, span) })
    }

    /// `cas(x, a, b)` or `!cas(x, a, b)`
    fn cas_test(&mut self, condition: &Expr) -> Option<CasTest> {
        match &condition.kind {
            ExprKind::Apply { name, arguments } => {
                Some(CasTest { cas: self.cas(name, arguments, condition.span)?, is_negated: false })
            }
            ExprKind::Unary { op: UnaryOp::Not, operand, .. } => {
                let CasTest { cas, is_negated } = self.cas_test(operand)?;
                Some(CasTest { cas, is_negated: !is_negated })
            }
            _ => None,
        }
    }

    /// `await`, with or without `cas`: waits until it succeeds.
    pub(super) fn wait(&mut self, condition: &Expr) -> StatementKind {
        match self.cas_test(condition) {
            Some(CasTest { cas: Cas { is_equal, store }, is_negated: false }) => {
                taken(&is_equal, store, condition.span).kind
            }
            _ => StatementKind::Await(self.expr(condition)),
        }
    }

    /// `done = cas(x, a, b);`
    pub(super) fn cas_assigned(
        &mut self,
        target: &Expr,
        name: &Ident,
        arguments: &[Expr],
        span: Span,
    ) -> Option<StatementKind> {
        let Cas { is_equal, store } = self.cas(name, arguments, span)?;
        let target = self.expr(target);
        let outcome = |truth| names::assign(target.clone(), names::truth(truth, span), span);
        let then = names::block(vec![store, outcome(true)], span);
        let otherwise = Some(names::block(vec![outcome(false)], span));
        let test = StatementKind::If { condition: is_equal, then, otherwise };
        Some(StatementKind::Atomic(names::block(vec![names::statement(test, span)], span)))
    }

    /// `if`, with or without `cas`.
    pub(super) fn test(
        &mut self,
        condition: &Expr,
        then: &Block,
        otherwise: Option<&Block>,
        in_step: bool,
    ) -> StatementKind {
        let Some(CasTest { cas: Cas { is_equal, store }, is_negated }) = self.cas_test(condition) else {
            return StatementKind::If {
                condition: self.expr(condition),
                then: self.block(then, in_step),
                otherwise: otherwise.map(|otherwise| self.block(otherwise, in_step)),
            };
        };
        let then = self.block(then, in_step);
        let otherwise = otherwise.map(|otherwise| self.block(otherwise, in_step));
        let otherwise = otherwise.unwrap_or_else(|| names::block(Vec::new(), condition.span));
        let (mut succeeds, mut fails) = if is_negated { (otherwise, then) } else { (then, otherwise) };
        if in_step {
            succeeds.statements.insert(0, store);
            return StatementKind::If { condition: is_equal, then: succeeds, otherwise: Some(fails) };
        }
        succeeds.statements.insert(0, taken(&is_equal, store, condition.span));
        fails.statements.insert(0, refused(is_equal, condition.span));
        StatementKind::Either { branches: vec![succeeds, fails] }
    }

    /// `while`, with or without `cas`.
    pub(super) fn repeated(&mut self, condition: &Expr, body: &Block, in_step: bool) -> StatementKind {
        let Some(CasTest { cas: Cas { is_equal, store }, is_negated }) = self.cas_test(condition) else {
            return StatementKind::While { condition: self.expr(condition), body: self.block(body, in_step) };
        };
        let span = condition.span;
        let mut body = self.block(body, in_step);
        let (succeeds, fails) = (taken(&is_equal, store, span), refused(is_equal, span));
        let (goes_on, ends) = if is_negated { (fails, succeeds) } else { (succeeds, fails) };
        body.statements.insert(0, goes_on);
        let end = names::block(vec![ends, names::statement(StatementKind::Break, span)], span);
        let choice = names::statement(StatementKind::Either { branches: vec![body, end] }, span);
        StatementKind::Loop(names::block(vec![choice], span))
    }

    /// `either … else { … }`: `else` is a step of its own, for where no other branch can begin.
    pub(super) fn guarded(
        &mut self,
        (branches, otherwise): (&[Block], &Block),
        word: Span,
        in_step: bool,
    ) -> StatementKind {
        let chosen: Vec<Option<Expr>> = branches.iter().map(|branch| self.begins_choice(branch)).collect();
        let mut branches: Vec<Block> = branches.iter().map(|branch| self.block(branch, in_step)).collect();
        let mut otherwise = self.block(otherwise, in_step);
        let mut beginnings = Vec::new();
        for (branch, chosen) in branches.iter().zip(chosen) {
            let Some(begins) = chosen.or_else(|| self.begins(branch.statements.first(), 0)) else {
                let at = branch.statements.first().map_or(branch.span, |first| first.span);
                let message = "when this can begin is not known before the program runs, so `else` cannot stand here";
                let diagnostic = Diagnostic::error(code::BAD_ELSE, at, message).note(word, "the `else`");
                self.diagnostics
                    .push(diagnostic.help("begin the branch with `await`, `some`, `acquire`, `send` or `receive`"));
                return StatementKind::Either { branches };
            };
            beginnings.push(begins);
        }
        if beginnings.iter().any(|begins| matches!(begins.kind, ExprKind::Bool(true))) {
            let message = "another branch can always begin, so this `else` never happens";
            self.diagnostics.push(Diagnostic::error(code::BAD_ELSE, word, message));
        }
        let none = names::not(names::combined(BinaryOp::Or, beginnings, word));
        otherwise.statements.insert(0, names::statement(StatementKind::Await(none), word));
        branches.push(otherwise);
        StatementKind::Either { branches }
    }

    /// Where a branch that begins with `some k in R where e { … }` can begin: where `exists k in R: e`, unless what it does may wait as well.
    fn begins_choice(&mut self, branch: &Block) -> Option<Expr> {
        let first = branch.statements.first()?;
        let StatementKind::Choose { variable, domain, condition, body } = &first.kind else { return None };
        if body.statements.iter().any(may_wait) {
            return None;
        }
        let domain = match self.values_of(domain) {
            Domain::Range(range) => match self.range_or_pid(&range) {
                TypeKind::Pid { family: Some(family), .. } => Domain::Family(family),
                _ => Domain::Range(range),
            },
            domain => domain,
        };
        let binders = Binders {
            names: vec![variable.clone()],
            distinct: false,
            other_than: Vec::new(),
            domain: Some(domain),
            span: variable.span,
        };
        let body = Box::new(condition.clone().unwrap_or_else(|| names::truth(true, first.span)));
        let kind = ExprKind::Quantified { quantifier: Quantifier::Exists, binders: Box::new(binders), body };
        Some(self.expr(&Expr { kind, span: first.span }))
    }

    /// Where a statement can begin; `None` if that is not an expression about the state.
    fn begins(&mut self, first: Option<&Statement>, depth: usize) -> Option<Expr> {
        let Some(first) = first else { return Some(names::truth(true, Span { start: 0, end: 0 })) };
        let always = || Some(names::truth(true, first.span));
        match &first.kind {
            StatementKind::Await(test) => Some(test.clone()),
            StatementKind::Acquire(target) => {
                let ty = self.place(target).map(|placed| placed.ty.kind)?;
                match ty {
                    TypeKind::Sem { .. } => {
                        Some(names::binary(BinaryOp::Greater, target.clone(), names::number(0, first.span), first.span))
                    }
                    TypeKind::Lock => {
                        let field = Ident { name: "owner".to_owned(), span: first.span };
                        let owner = ExprKind::Field { base: Box::new(target.clone()), field };
                        let owner = Expr { kind: owner, span: first.span };
                        let nobody = Expr { kind: ExprKind::None, span: first.span };
                        Some(names::binary(BinaryOp::Equal, owner, nobody, first.span))
                    }
                    _ => None,
                }
            }
            StatementKind::Atomic(block) if depth < 8 => {
                let (head, rest) = block.statements.split_first()?;
                // A later statement that may wait would have to be looked at after what stands before it.
                if rest.iter().any(may_wait) {
                    return None;
                }
                self.begins(Some(head), depth + 1)
            }
            StatementKind::Either { branches } if depth < 8 => {
                let parts: Option<Vec<Expr>> =
                    branches.iter().map(|branch| self.begins(branch.statements.first(), depth + 1)).collect();
                Some(names::combined(BinaryOp::Or, parts?, first.span))
            }
            StatementKind::Loop(body) if depth < 8 => self.begins(body.statements.first(), depth + 1),
            StatementKind::If { then, otherwise, .. } => {
                let inner = then.statements.iter().chain(otherwise.iter().flat_map(|block| &block.statements));
                // Outside `atomic` the test is a step; inside, what it leads to belongs to the step.
                (depth == 0 || !inner.into_iter().any(may_wait)).then(always)?
            }
            StatementKind::Send { .. } | StatementKind::Receive { .. } | StatementKind::For { .. } => None,
            StatementKind::Atomic(_) | StatementKind::Either { .. } | StatementKind::Loop(_) => None,
            StatementKind::Idle => None,
            _ => always(),
        }
    }

    /// `some k in R where e { … }`: one step.
    pub(super) fn choose(
        &mut self,
        (variable, domain): (&Ident, &Domain),
        (condition, body): (Option<&Expr>, &Block),
        span: Span,
        in_step: bool,
    ) -> StatementKind {
        let domain = self.values_of(domain);
        let (ty, set) = match &domain {
            Domain::Family(name) => match self.set(&names::name(name.name.clone(), name.span)) {
                Some(set) => (self.element_type(&set.ty), Some(set)),
                None if self.enums.iter().any(|known| known.name.name == name.name) => {
                    (TypeKind::Named(name.clone()), None)
                }
                None => (pid_of(name.clone()), None),
            },
            Domain::Set(expr) => match self.set(expr) {
                Some(set) => (self.element_type(&set.ty), Some(set)),
                None => {
                    let message = "a value is chosen from a family, a range or a set";
                    self.diagnostics.push(Diagnostic::error(code::BAD_SET, expr.span, message));
                    return StatementKind::Skip;
                }
            },
            Domain::Range(range) => (self.range_or_pid(range), None),
        };
        let name = format!("{}@{}", variable.name, span.start);
        self.hide(Ident { name: name.clone(), span: variable.span }, Type { kind: ty.clone(), span: variable.span });
        let chosen = names::name(name, variable.span);
        self.refuse_capture(std::slice::from_ref(variable));
        self.lets.push((variable.name.clone(), chosen.clone()));
        let n_bound = self.bound.len();
        self.bound.retain(|bound| *bound != variable.name);
        let mut conditions = Vec::new();
        if matches!(ty, TypeKind::Pid { .. }) {
            let nobody = Expr { kind: ExprKind::None, span };
            conditions.push(names::binary(BinaryOp::Unequal, chosen.clone(), nobody, span));
        }
        conditions.extend(set.map(|set| self.member(&set, chosen.clone())));
        conditions.extend(condition.map(|condition| self.expr(condition)));
        let any = Assigned::Any { range: None, span };
        let pick = StatementKind::Assign { targets: vec![chosen.clone()], values: vec![any] };
        let mut statements = vec![names::statement(pick, span)];
        if !conditions.is_empty() {
            let fits = names::combined(BinaryOp::And, conditions, span);
            statements.push(names::statement(StatementKind::Await(fits), span));
        }
        let forget = StatementKind::Assign { targets: vec![chosen], values: vec![Assigned::First(span)] };
        let forget = names::statement(forget, span);
        let mut body = self.block(body, true);
        exits::before_exits(&mut body, &forget);
        statements.extend(body.statements);
        statements.push(forget);
        self.lets.pop();
        if self.bound.len() < n_bound {
            self.bound.push(variable.name.clone());
        }
        let block = names::block(statements, span);
        if in_step { StatementKind::Atomic(block) } else { self.one_step(block, span) }
    }

    fn element_type(&self, ty: &Type) -> TypeKind {
        match &ty.kind {
            TypeKind::Set(element) => match &element.kind {
                TypeKind::Pid { family, .. } => TypeKind::Pid { family: family.clone(), optional: true },
                kind => kind.clone(),
            },
            kind => kind.clone(),
        }
    }

    /// A range that is written like that of a family means its processes.
    fn range_or_pid(&mut self, range: &Range) -> TypeKind {
        let written = crate::pw::printer::range_to_string(range);
        let is_same = |(_, index): &&(&str, &crate::pw::ast::ProcessIndex)| {
            crate::pw::printer::range_to_string(&index.range) == written
        };
        let mut families = self.indices.iter().filter(is_same);
        match (families.next(), families.next()) {
            (Some((name, _)), None) => pid_of(Ident { name: (*name).to_owned(), span: range.span }),
            _ => TypeKind::Range(Box::new(self.range(range))),
        }
    }
}

fn pid_of(family: Ident) -> TypeKind {
    TypeKind::Pid { family: Some(family), optional: true }
}

/// The step of a `cas` that finds what it looks for.
fn taken(is_equal: &Expr, store: Statement, span: Span) -> Statement {
    let wait = names::statement(StatementKind::Await(is_equal.clone()), span);
    names::statement(StatementKind::Atomic(names::block(vec![wait, store], span)), span)
}

/// The step of a `cas` that does not.
fn refused(is_equal: Expr, span: Span) -> Statement {
    names::statement(StatementKind::Await(names::not(is_equal)), span)
}

fn may_wait(statement: &Statement) -> bool {
    let waits = |block: &Block| block.statements.iter().any(may_wait);
    match &statement.kind {
        StatementKind::Await(_) | StatementKind::Acquire(_) => true,
        StatementKind::Send { .. } | StatementKind::Receive { .. } => true,
        StatementKind::If { then, otherwise, .. } => waits(then) || otherwise.iter().any(waits),
        StatementKind::Either { branches } => branches.iter().any(waits),
        StatementKind::Guarded { branches, otherwise, .. } => branches.iter().chain([otherwise]).any(waits),
        StatementKind::For { body, .. } | StatementKind::ForEach { body, .. } | StatementKind::Atomic(body) => {
            waits(body)
        }
        StatementKind::Choose { .. } => true,
        _ => false,
    }
}
