//! Expressions of the program to expressions of the Model.
//!
//! Promela has numbers only; the Model has numbers and truth values. An expression is lowered as what its place needs.

use std::collections::BTreeMap;

use base::{Diagnostic, Span};
use model::control::PlaceId;
use model::expr::{Access, BinaryOp as ModelOp, Expr as ModelExpr, ExprKind as ModelKind, Whose};
use model::machine::MachineOp;
use model::process::ProcessId;
use model::value::Value;

use super::super::ast::{BinaryOp, Query};
use super::super::program::{Expr, ExprKind, ProctypeId, Ref};
use super::super::resolve::constant;
use super::Elaboration;
use super::channels::Made;
use super::ranges;
use super::terms::{self, Term, all, any, choose, equal, not, number};
use crate::codes::promela as code;

/// Whose text an expression stands in: a family's, or nobody's.
pub(super) type View = Option<usize>;

impl Elaboration<'_> {
    /// An expression as a number.
    pub(super) fn number(&mut self, expr: &Expr, view: View) -> Term {
        let span = self.span(expr.span);
        let range = self.ranges.of_expr(expr, view, self.setting);
        let lowered = match &expr.kind {
            ExprKind::Const(value) => number(*value, span),
            ExprKind::Read(one) => self.read(one, view),
            ExprKind::Negate(inner) => {
                let Term { expr, range: (lo, hi) } = self.number(inner, view);
                let negated = terms::binary(ModelOp::Subtract, number(0, span), expr);
                return Term { expr: negated, range: (-hi, -lo) }.wrapped();
            }
            ExprKind::Complement(inner) => {
                let inner = self.number(inner, view).expr;
                terms::binary(ModelOp::Subtract, number(-1, span), inner)
            }
            ExprKind::Binary(op, left, right) if computes(*op) => return self.computed(*op, (left, right), view),
            ExprKind::If(test, yes, no) => {
                let test = self.truth(test, view);
                let (yes, no) = (self.number(yes, view).expr, self.number(no, view).expr);
                choose(test, yes, no)
            }
            ExprKind::Query(Query::Len, channel) => self.asked(Query::Len, channel, view),
            ExprKind::NrPr => match self.n_processes {
                Some(var) => terms::read(terms::shared(var, Vec::new(), span)),
                None => number(self.setting.world.instances.len() as i64, span),
            },
            ExprKind::Last => match self.last {
                Some(var) => terms::read(terms::shared(var, Vec::new(), span)),
                None => number(0, span),
            },
            ExprKind::Pid => self.pid(view, span),
            // Its `run` has put the pid there.
            ExprKind::Started => number(0, span),
            ExprKind::Priority(pid) => self.priority(pid.as_deref(), (view, span)),
            ExprKind::StateNumber(pid) => self.state_number(pid, view),
            ExprKind::Remote { proctype, pid, variable } => self.remote((*proctype, pid.as_deref()), variable, view),
            _ => {
                let test = self.truth(expr, view);
                choose(test, number(1, span), number(0, span))
            }
        };
        Term { expr: lowered, range }
    }

    fn computed(&mut self, op: BinaryOp, (left, right): (&Expr, &Expr), view: View) -> Term {
        let left = self.number(left, view);
        let right = self.number(right, view);
        let range = ranges::exact(op, left.range, right.range);
        let mask = |right: Term| {
            let span = right.expr.span;
            match right.range.0 >= 0 && right.range.1 < 32 {
                true => right.expr,
                false => terms::machine(MachineOp::BitAnd, right.expr, number(31, span)),
            }
        };
        let (left, right) = match op {
            BinaryOp::ShiftLeft | BinaryOp::ShiftRight => (left.expr, mask(right)),
            _ => (left.expr, right.expr),
        };
        let op = match op {
            BinaryOp::Add => ModelOp::Add,
            BinaryOp::Subtract => ModelOp::Subtract,
            BinaryOp::Multiply => ModelOp::Multiply,
            BinaryOp::Divide => ModelOp::Machine(MachineOp::Quotient),
            BinaryOp::Remainder => ModelOp::Machine(MachineOp::Rest),
            BinaryOp::BitAnd => ModelOp::Machine(MachineOp::BitAnd),
            BinaryOp::BitOr => ModelOp::Machine(MachineOp::BitOr),
            BinaryOp::BitXor => ModelOp::Machine(MachineOp::BitXor),
            BinaryOp::ShiftLeft => ModelOp::Machine(MachineOp::ShiftLeft),
            _ => ModelOp::Machine(MachineOp::ShiftRight),
        };
        Term { expr: terms::binary(op, left, right), range }.wrapped()
    }

    /// An expression as a truth value: whether it is not 0.
    pub(super) fn truth(&mut self, expr: &Expr, view: View) -> ModelExpr {
        let span = self.span(expr.span);
        match &expr.kind {
            ExprKind::Const(value) => terms::truth(*value != 0, span),
            ExprKind::Not(inner) => not(self.truth(inner, view)),
            ExprKind::Binary(BinaryOp::And, left, right) => {
                let (left, right) = (self.truth(left, view), self.truth(right, view));
                terms::and(left, right)
            }
            ExprKind::Binary(BinaryOp::Or, left, right) => {
                let (left, right) = (self.truth(left, view), self.truth(right, view));
                terms::or(left, right)
            }
            ExprKind::Binary(op, left, right) if !computes(*op) => {
                let (left, right) = (self.number(left, view).expr, self.number(right, view).expr);
                let op = match op {
                    BinaryOp::Equal => ModelOp::Equal,
                    BinaryOp::NotEqual => ModelOp::NotEqual,
                    BinaryOp::Less => ModelOp::Less,
                    BinaryOp::LessEqual => ModelOp::LessEqual,
                    BinaryOp::Greater => ModelOp::Greater,
                    _ => ModelOp::GreaterEqual,
                };
                terms::binary(op, left, right)
            }
            ExprKind::If(test, yes, no) => {
                let (test, yes, no) = (self.truth(test, view), self.truth(yes, view), self.truth(no, view));
                choose(test, yes, no)
            }
            ExprKind::Query(query, channel) if *query != Query::Len => self.asked(*query, channel, view),
            ExprKind::Poll { channel, is_random, patterns } => self.poll(channel, *is_random, (patterns, view)),
            ExprKind::At { proctype, pid, label } => self.at((*proctype, pid.as_deref()), label, (view, span)),
            ExprKind::Enabled(pid) => self.enabled(pid, (view, span)),
            ExprKind::Timeout => {
                self.not_read(expr.span, "`timeout` outside of conditions of processes");
                terms::truth(false, span)
            }
            ExprKind::NonProgress if view.is_none() => {
                let progressing = self.standing_at("progress");
                progressing.map_or_else(|| terms::truth(true, span), not)
            }
            ExprKind::NonProgress => {
                self.not_read(expr.span, "`np_` outside of claims");
                terms::truth(false, span)
            }
            _ => {
                let value = self.number(expr, view).expr;
                terms::binary(ModelOp::NotEqual, value, number(0, span))
            }
        }
    }

    /// The pid of the process whose text it is.
    pub(super) fn pid(&mut self, view: View, span: Span) -> ModelExpr {
        match view.map(|family| &self.setting.families[family]) {
            Some(family) if family.members.len() == 1 => number(family.first_pid, span),
            Some(_) => {
                ModelExpr { kind: ModelKind::IndexOf(Box::new(ModelExpr { kind: ModelKind::Myself, span })), span }
            }
            None => {
                self.log.add(Diagnostic::error(code::CLAIM, span, "`_pid` stands in a process only"));
                number(0, span)
            }
        }
    }

    /// The value of a variable.
    pub(super) fn read(&mut self, one: &Ref, view: View) -> ModelExpr {
        let span = self.span(one.span);
        if let Some(family) = view.map(|family| &self.setting.families[family])
            && let Some(&offset) = family.offsets.get(&one.leaf)
        {
            let pid = self.pid(view, span);
            return terms::binary(ModelOp::Add, pid, number(offset, span));
        }
        if let Some(row) = self.constant_row(one, view) {
            return self.chosen(one, &row, view);
        }
        match self.access(one, view) {
            Some(access) => terms::read(access),
            None => number(0, span),
        }
    }

    /// The elements of a variable that nothing changes and that is no variable of the Model.
    pub(super) fn constant_row(&self, one: &Ref, view: View) -> Option<Vec<i64>> {
        let declared = &self.setting.program.leaves[one.leaf];
        let is_channel = declared.ty == super::super::ast::Basic::Chan;
        match (declared.owner, view) {
            (Some(_), Some(family)) => {
                let row = self.setting.families[family].constants.get(&one.leaf)?;
                (is_channel || declared.dims.is_empty()).then(|| row.clone())
            }
            (None, _) if is_channel && !self.setting.changed.contains(&one.leaf) => {
                self.setting.world.globals.get(&one.leaf).cloned()
            }
            _ => None,
        }
    }

    /// An element of a constant row.
    fn chosen(&mut self, one: &Ref, row: &[i64], view: View) -> ModelExpr {
        let span = self.span(one.span);
        if let Some(value) = self.element(one, row) {
            return number(value, span);
        }
        let dims = self.setting.program.leaves[one.leaf].dims.clone();
        let indices: Vec<ModelExpr> = one.indices.iter().map(|index| self.number(index, view).expr).collect();
        let mut value = terms::fault(span);
        for (at, &element) in row.iter().enumerate().rev() {
            let mut rest = at;
            let mut conditions = Vec::new();
            for (index, &len) in indices.iter().zip(&dims).rev() {
                conditions.push(equal(index.clone(), number((rest % len) as i64, span)));
                rest /= len;
            }
            value = choose(all(conditions, span), number(element, span), value);
        }
        value
    }

    /// The element of a constant row, where the index is known.
    fn element(&self, one: &Ref, row: &[i64]) -> Option<i64> {
        let dims = &self.setting.program.leaves[one.leaf].dims;
        let at = one.indices.iter().zip(dims).try_fold(0usize, |at, (index, &len)| {
            let index = usize::try_from(constant(index)?).ok().filter(|&index| index < len)?;
            Some(at * len + index)
        })?;
        row.get(at).copied()
    }

    /// The cell of a variable.
    pub(super) fn access(&mut self, one: &Ref, view: View) -> Option<Access> {
        let span = self.span(one.span);
        let is_local = self.setting.program.leaves[one.leaf].owner.is_some();
        let (var, whose) = match (is_local, view) {
            (false, _) => (self.globals.get(&one.leaf).copied(), Whose::Shared),
            (true, Some(family)) => (self.locals.get(&(family, one.leaf)).copied(), Whose::Mine),
            (true, None) => (None, Whose::Shared),
        };
        let Some(var) = var else {
            self.not_read(one.span, "a variable of a process here");
            return None;
        };
        let indices = one.indices.iter().map(|index| self.number(index, view).expr).collect();
        Some(Access { var, whose, indices, span })
    }

    /// The processes of a proctype that `P[e]` may mean, each with the condition under which it does.
    fn meant(
        &mut self,
        (proctype, pid): (ProctypeId, Option<&Expr>),
        (view, span): (View, Span),
    ) -> Vec<(ModelExpr, usize, ProcessId)> {
        let world = self.setting.world;
        let members: Vec<usize> =
            (0..world.instances.len()).filter(|&at| world.instances[at].proctype == proctype).collect();
        match pid {
            None => {
                // Without a pid SPIN takes the first process of this proctype that exists.
                let mut members = members;
                members.sort_by_key(|&at| world.instances[at].pid);
                let mut earlier = Vec::new();
                let mut meant = Vec::new();
                for at in members {
                    let exists = self.exists(at, span);
                    let mut conditions = earlier.clone();
                    conditions.push(exists.clone());
                    let condition = all(conditions, span);
                    earlier.push(not(exists));
                    if !terms::is(&condition, false) {
                        meant.push((condition, at, self.processes[at]));
                    }
                }
                meant
            }
            Some(pid) => {
                let pid = self.number(pid, view).expr;
                let condition = |at: usize| equal(pid.clone(), number(world.instances[at].pid, span));
                let meant = members.iter().map(|&at| (condition(at), at, self.processes[at]));
                meant.filter(|(condition, ..)| !terms::is(condition, false)).collect()
            }
        }
    }

    /// Whether a process exists: it has been started and has not died.
    pub(super) fn exists(&mut self, at: usize, span: Span) -> ModelExpr {
        let Some(family) = self.setting.families.iter().position(|family| family.members.contains(&at)) else {
            return terms::truth(false, span);
        };
        let mut places = Vec::new();
        if self.options.deaths {
            places.push(self.model.families[self.family_ids[family]].end);
        }
        places.extend(self.unborn_of(family));
        if places.is_empty() {
            return terms::truth(true, span);
        }
        let who = Box::new(terms::constant(Value::Process(self.processes[at]), span));
        not(ModelExpr { kind: ModelKind::At { who, places, labels: vec!["dead".into()] }, span })
    }

    fn at(&mut self, who: (ProctypeId, Option<&Expr>), label: &str, (view, span): (View, Span)) -> ModelExpr {
        let mut found = Vec::new();
        for (condition, at, process) in self.meant(who, (view, span)) {
            let family = self.setting.families.iter().position(|family| family.members.contains(&at));
            let node = self.setting.graphs[who.0].labels.get(label);
            let (Some(family), Some(&node)) = (family, node) else { continue };
            let Some(&place) = self.places.get(&(family, node)) else { continue };
            let who = Box::new(terms::constant(Value::Process(process), span));
            let kind = ModelKind::At { who, places: vec![place], labels: vec![label.to_owned()] };
            found.push(terms::and(condition, ModelExpr { kind, span }));
        }
        any(found, span)
    }

    /// `pc_value(e)`: the number of the place where a process is, 0 where there is none.
    fn state_number(&mut self, pid: &Expr, view: View) -> ModelExpr {
        let span = self.span(pid.span);
        let asked = self.number(pid, view).expr;
        let mut value = number(0, span);
        for (position, family) in self.setting.families.iter().enumerate() {
            let nodes = self.setting.graphs[family.proctype].nodes.iter().enumerate();
            let mut places: BTreeMap<usize, Vec<PlaceId>> = BTreeMap::new();
            for (node, declared) in nodes {
                if let Some(&place) = self.places.get(&(position, node)) {
                    places.entry(declared.number).or_default().push(place);
                }
            }
            for &at in &family.members {
                let who = Box::new(terms::constant(Value::Process(self.processes[at]), span));
                let mut theirs = number(0, span);
                for (&place_number, places) in &places {
                    let (who, places) = (who.clone(), places.clone());
                    let kind = ModelKind::At { who, places, labels: vec![format!("{place_number}")] };
                    theirs = choose(ModelExpr { kind, span }, number(place_number as i64, span), theirs);
                }
                let is_it = equal(asked.clone(), number(self.setting.world.instances[at].pid, span));
                value = choose(is_it, theirs, value);
            }
        }
        value
    }

    fn remote(&mut self, who: (ProctypeId, Option<&Expr>), variable: &Ref, view: View) -> ModelExpr {
        let span = self.span(variable.span);
        let mut value = number(0, span);
        for (condition, at, process) in self.meant(who, (view, span)).into_iter().rev() {
            let Some(family) = self.setting.families.iter().position(|family| family.members.contains(&at)) else {
                continue;
            };
            let known = self.setting.families[family].constants.get(&variable.leaf);
            let theirs = match known.and_then(|row| self.element(variable, row)) {
                Some(value) => number(value, span),
                None if self.setting.families[family].offsets.contains_key(&variable.leaf) => {
                    let offset = self.setting.families[family].offsets[&variable.leaf];
                    number(self.setting.world.instances[at].pid + offset, span)
                }
                None => {
                    let Some(&var) = self.locals.get(&(family, variable.leaf)) else { continue };
                    let whose = Whose::Of(Box::new(terms::constant(Value::Process(process), span)));
                    let indices = variable.indices.iter().map(|index| self.number(index, view).expr).collect();
                    terms::read(Access { var, whose, indices, span })
                }
            };
            // Of a process that does not exist SPIN reads 0.
            let condition = terms::and(condition, self.exists(at, span));
            value = choose(condition, theirs, value);
        }
        value
    }

    /// The answer to `len(q)`, `full(q)` and their family.
    fn asked(&mut self, query: Query, channel: &Ref, view: View) -> ModelExpr {
        let span = self.span(channel.span);
        let options = self.channels_of(channel, view);
        let mut answer: Option<ModelExpr> = None;
        for option in options.into_iter().rev() {
            let value = match option.channel.map(|at| &self.made[at]) {
                Some(&Made::Buffer { length, capacity, .. }) => {
                    let length = terms::read(terms::shared(length, Vec::new(), span));
                    let capacity = number(capacity as i64, span);
                    match query {
                        Query::Len => length,
                        Query::Full => equal(length, capacity),
                        Query::Empty => equal(length, number(0, span)),
                        Query::NotFull => terms::binary(ModelOp::Less, length, capacity),
                        Query::NotEmpty => terms::binary(ModelOp::Greater, length, number(0, span)),
                    }
                }
                // Without a buffer a channel is empty, and never full.
                Some(Made::Meeting(_)) if query == Query::Len => number(0, span),
                Some(Made::Meeting(_)) => terms::truth(matches!(query, Query::NotFull | Query::Empty), span),
                None if query == Query::Len => terms::fault(span),
                None => equal(terms::fault(span), number(0, span)),
            };
            let is_about_room = matches!(query, Query::Full | Query::NotFull);
            let exists = option.channel.filter(|_| is_about_room).and_then(|at| self.has_owner(at, view, span));
            let value = match exists {
                Some(exists) => choose(exists, value, equal(terms::fault(span), number(0, span))),
                None => value,
            };
            let condition = all(option.conditions, span);
            answer = Some(match answer {
                None => value,
                Some(rest) => choose(condition, value, rest),
            });
        }
        answer.unwrap_or_else(|| number(0, span))
    }
}

/// Whether an operator computes a number, not a truth value.
fn computes(op: BinaryOp) -> bool {
    !matches!(
        op,
        BinaryOp::And
            | BinaryOp::Or
            | BinaryOp::Equal
            | BinaryOp::NotEqual
            | BinaryOp::Less
            | BinaryOp::LessEqual
            | BinaryOp::Greater
            | BinaryOp::GreaterEqual
    )
}
