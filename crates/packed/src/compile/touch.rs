//! What a step may touch of a variable: a superset, known without a state.
//!
//! Every access in the text of an action counts, whether or not evaluation gets there. An index that is constant for the
//! process, loop copy and instance of a quantifier leads to one cell; any other to all cells that it might mean.

use model::control::{ActionId, ActionKind, ReceivePattern, Stmt, StmtKind, SyncSide, TextOwner};
use model::expr::{Access, Binding, Domain, Expr, ExprKind, Whose};
use model::process::ProcessId;
use model::variable::{CellId, VarId};

use super::expression::AccessLocation;
use super::statement::n_between;
use super::{Bound, CompileContext, Compiler};
use crate::race::{MayTouch, RaceWatch};

impl<'m> Compiler<'_, 'm> {
    /// What each step may touch of a variable.
    pub fn race_watch(&mut self, var: VarId) -> RaceWatch {
        let mut watch = RaceWatch { touches: vec![Vec::new(); self.steps.len()], concerned: Vec::new() };
        for process in self.model.processes.ids() {
            let points = &self.codec.plan.points[process.index()];
            let mut concerned = Vec::new();
            for (number, point) in points.iter().enumerate() {
                let mut any = false;
                let at = self.points[process.index()][number];
                for step in at.first as usize..at.end as usize {
                    let context = CompileContext::of_process(process, point.counters.clone());
                    let mut toucher = Toucher { compiler: self, context, var, found: Vec::new() };
                    toucher.action(toucher.compiler.steps[step].action);
                    let mut found = toucher.found;
                    found.sort();
                    found.dedup();
                    any |= !found.is_empty();
                    watch.touches[step] = found;
                }
                concerned.push(any);
            }
            watch.concerned.push(concerned);
        }
        watch
    }
}

struct Toucher<'t, 'c, 'm> {
    compiler: &'t mut Compiler<'c, 'm>,
    context: CompileContext,
    var: VarId,
    found: Vec<MayTouch>,
}

impl Toucher<'_, '_, '_> {
    fn action(&mut self, id: ActionId) {
        let action = &self.compiler.model.actions[id];
        self.compiler.n_unrolled = 0;
        if let Some(guard) = &action.guard {
            self.expression(guard);
        }
        match action.sync.as_ref().map(|sync| &sync.side) {
            Some(SyncSide::Send(values)) => values.iter().for_each(|value| self.expression(value)),
            Some(SyncSide::Receive(patterns)) => patterns.iter().for_each(|pattern| match pattern {
                ReceivePattern::Into(access) => self.write(access),
                ReceivePattern::Equal(value) => self.expression(value),
                ReceivePattern::Ignored => {}
            }),
            None => {}
        }
        self.body(&action.body);
        match &action.kind {
            ActionKind::Plain | ActionKind::Idle => {}
            ActionKind::Call { arguments, .. } => arguments.iter().for_each(|argument| self.expression(argument)),
            ActionKind::Return { value } => {
                value.iter().for_each(|value| self.expression(value));
                self.results(action.scope);
            }
        }
    }

    /// The return step writes what some caller of the procedure wants it to.
    fn results(&mut self, scope: TextOwner) {
        let model = self.compiler.model;
        let me = self.context.me;
        let sites = self.compiler.codec.layout.sites.clone();
        for site in sites.iter().filter(|site| Some(site.process) == me) {
            if let ActionKind::Call { procedure, result: Some(access), .. } = &model.actions[site.action].kind
                && scope == TextOwner::Procedure(*procedure)
            {
                let point = self.compiler.codec.plan.points[site.process.index()].point(site.point);
                let context = CompileContext::of_process(site.process, point.counters.clone());
                let inside = std::mem::replace(&mut self.context, context);
                self.write(access);
                self.context = inside;
            }
        }
    }

    fn body(&mut self, body: &[Stmt]) {
        for stmt in body {
            match &stmt.kind {
                StmtKind::Assign(pairs) => {
                    for (access, value) in pairs {
                        self.expression(value);
                        self.write(access);
                    }
                }
                StmtKind::AssignAny(access, range) => {
                    if let Some((lo, hi)) = range {
                        self.expression(lo);
                        self.expression(hi);
                    }
                    self.write(access);
                }
                StmtKind::Await(test) | StmtKind::Assert(test) => self.expression(test),
                StmtKind::Acquire(access) | StmtKind::Release(access) => {
                    self.touch(access, false);
                    self.write(access);
                }
                StmtKind::If(test, yes, no) => {
                    self.expression(test);
                    self.body(yes);
                    self.body(no);
                }
                StmtKind::Either(blocks) => blocks.iter().for_each(|block| self.body(block)),
                StmtKind::For(binding, block) => self.each_value(binding, &mut |toucher| toucher.body(block)),
            }
        }
    }

    fn expression(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Const(_) | ExprKind::Parameter(_) | ExprKind::Myself | ExprKind::Bound(_) => {}
            ExprKind::Read(access) => {
                self.access_parts(access);
                self.touch(access, false);
            }
            ExprKind::At { who: inner, .. }
            | ExprKind::Not(inner)
            | ExprKind::Negate(inner)
            | ExprKind::IndexOf(inner)
            | ExprKind::ToProcess(_, inner) => self.expression(inner),
            ExprKind::Binary(_, left, right) => {
                self.expression(left);
                self.expression(right);
            }
            ExprKind::If(test, yes, no) => [test, yes, no].into_iter().for_each(|part| self.expression(part)),
            ExprKind::Quantified(quantified) => self.instances(&quantified.bindings, &mut |toucher| {
                quantified.filter.iter().for_each(|filter| toucher.expression(filter));
                toucher.expression(&quantified.body);
            }),
        }
    }

    fn instances(&mut self, bindings: &[Binding], visit: &mut dyn FnMut(&mut Self)) {
        match bindings.split_first() {
            None => visit(self),
            Some((binding, inner)) => self.each_value(binding, &mut |toucher| toucher.instances(inner, visit)),
        }
    }

    /// Visits with each value bound, or once with none known where there are too many.
    fn each_value(&mut self, binding: &Binding, visit: &mut dyn FnMut(&mut Self)) {
        if let Domain::Range(lo, hi) = &binding.domain {
            self.expression(lo);
            self.expression(hi);
        }
        let depth = self.context.bound.len();
        let (first, last, kind) = self.compiler.domain_ends(&binding.domain, &mut self.context);
        let terms = &self.compiler.terms;
        let values = match (terms.as_constant(first), terms.as_constant(last)) {
            (Some(first), Some(last)) if self.compiler.may_unroll(n_between(first, last)) => Some(first..=last),
            _ => None,
        };
        let terms = &mut self.compiler.terms;
        let terms: Vec<_> = match values {
            Some(values) => values.map(|number| terms.constant(number)).collect(),
            None => vec![terms.register(self.context.next_register)],
        };
        self.compiler.n_unrolled += terms.len();
        for term in terms {
            self.context.bound.truncate(binding.var.0 as usize);
            self.context.bound.push(Bound { term, kind });
            visit(self);
        }
        self.context.bound.truncate(depth);
    }

    fn write(&mut self, access: &Access) {
        self.access_parts(access);
        self.touch(access, true);
    }

    fn access_parts(&mut self, access: &Access) {
        if let Whose::Of(who) = &access.whose {
            self.expression(who);
        }
        access.indices.iter().for_each(|index| self.expression(index));
    }

    fn touch(&mut self, access: &Access, writes: bool) {
        if access.var != self.var {
            return;
        }
        match self.compiler.locate(access, &mut self.context) {
            AccessLocation::Fixed(location) => {
                self.found.push(MayTouch { cell: CellId::new(location as usize), writes })
            }
            AccessLocation::Fault => {}
            AccessLocation::Computed(_) => {
                let may_be = |owner: Option<ProcessId>| match access.whose {
                    Whose::Of(_) => true,
                    _ => owner.is_none() || owner == self.context.me,
                };
                let cells = self.compiler.model.cells.entries();
                let meant = cells.filter(|(_, cell)| cell.var == self.var && may_be(cell.owner));
                self.found.extend(meant.map(|(cell, _)| MayTouch { cell, writes }));
            }
        }
    }
}
