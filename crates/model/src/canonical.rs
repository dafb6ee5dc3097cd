//! The canonical text of a Model: everything that `eval` reads, and nothing else.
//!
//! In: a Model, and the name of one of its properties. Out: a text of nested lists, each headed by a word of this file. Source
//! spans, comments, statement texts and other properties are left out, and every word is written here by hand, so that the text of
//! a program does not change when a type of this crate is renamed. Stored proofs name their program by a hash of it
//! (`piecewise-model/1`): a change of a word, or of what is written, starts a new version.

use std::fmt::{Display, Write};

use crate::Model;
use crate::control::{Action, ActionKind, Loop, Next, Procedure, ReceivePattern, Stmt, StmtKind, SyncSide, TextOwner};
use crate::expr::{Access, BinaryOp, Binding, Domain, Expr, ExprKind, Quantifier, Whose};
use crate::fairness::{EdgePredicate, StatePredicate};
use crate::machine::MachineOp;
use crate::process::Family;
use crate::property::{Automaton, BinaryTemporal, BooleanOp, Formula, Property, PropertyKind, UnaryTemporal};
use crate::types::{ScalarType, Type};
use crate::value::Value;
use crate::variable::{Init, Role, Storage, Var};

/// The name and version of the form.
pub const FORM: &str = "piecewise-model/1";

/// The canonical text of a program together with one of its properties.
pub fn text(model: &Model, property: &str) -> String {
    let mut out = CanonicalWriter { out: FORM.to_owned(), model };
    model.enums.iter().for_each(|one| out.list("enum", |out| one.values.iter().for_each(|name| out.name(name))));
    model.vars.iter().for_each(|var| out.var(var));
    model.families.iter().for_each(|family| out.family(family));
    model.procedures.iter().for_each(|procedure| out.procedure(procedure));
    for place in &model.places {
        out.list("place", |out| {
            out.scope(place.scope);
            place.labels.iter().for_each(|label| out.name(label));
            if place.may_end {
                out.word("may-end");
            }
            place.actions.iter().for_each(|action| out.word(action.index()));
        });
    }
    model.actions.iter().for_each(|action| out.action(action));
    model.loops.iter().for_each(|one| out.counted(one));
    model.channels.iter().for_each(|channel| out.list("channel", |out| out.name(&channel.name)));
    model.initially.iter().for_each(|one| out.list("initially", |out| out.expr(one)));
    model.properties.iter().filter(|one| one.name == property).for_each(|one| out.property(one));
    out.out
}

/// The canonical text of a cell's type.
pub fn scalar_type(ty: ScalarType) -> String {
    written(|out| out.scalar(ty))
}

/// The canonical text of a variable's type.
pub fn variable_type(ty: &Type) -> String {
    written(|out| out.ty(ty))
}

/// The canonical text of a scope.
pub fn scope(scope: TextOwner) -> String {
    written(|out| out.scope(scope))
}

/// The canonical text of an expression, with the values of the variables that are bound around it.
pub fn instance(model: &Model, expr: &Expr, bound: &[Value]) -> String {
    let mut out = CanonicalWriter { out: String::new(), model };
    out.expr(expr);
    bound.iter().for_each(|&value| out.value(value));
    out.out
}

fn written(what: impl FnOnce(&mut CanonicalWriter<'_>)) -> String {
    let mut out = CanonicalWriter { out: String::new(), model: &Model::default() };
    what(&mut out);
    out.out
}

/// The text so far.
struct CanonicalWriter<'m> {
    out: String,
    model: &'m Model,
}

impl CanonicalWriter<'_> {
    /// `(head …)`.
    fn list(&mut self, head: &str, inside: impl FnOnce(&mut Self)) {
        self.out.push('(');
        self.out.push_str(head);
        inside(self);
        self.out.push(')');
    }

    /// A word or number of the form.
    fn word(&mut self, word: impl Display) {
        write!(self.out, " {word}").expect("a string can be written to");
    }

    /// A name of the user's, after its length in bytes, so that no name can be mistaken for something else.
    fn name(&mut self, name: &str) {
        write!(self.out, " {}:{name}", name.len()).expect("a string can be written to");
    }

    fn var(&mut self, var: &Var) {
        self.list("var", |out| {
            out.name(&var.name);
            match var.storage {
                Storage::Shared => out.word("shared"),
                Storage::Public(family) => out.word(format_args!("public {}", family.index())),
                Storage::Local(family) => out.word(format_args!("local {}", family.index())),
                Storage::Frame(procedure) => out.word(format_args!("frame {}", procedure.index())),
            }
            match var.role {
                Role::Declared => {}
                Role::Parameter => out.word("parameter"),
                Role::Counter(of) => out.word(format_args!("counts {}", of.index())),
            }
            out.ty(&var.ty);
            out.init(&var.init);
            out.word(var.offset);
        });
    }

    fn ty(&mut self, ty: &Type) {
        match ty {
            Type::Scalar(scalar) => self.scalar(*scalar),
            Type::Array { element, len } => self.list("array", |out| {
                out.word(len);
                out.ty(element);
            }),
        }
    }

    fn scalar(&mut self, ty: ScalarType) {
        match ty {
            ScalarType::Bool => self.word("bool"),
            ScalarType::Range { lo, hi } => self.list("range", |out| out.word(format_args!("{lo} {hi}"))),
            ScalarType::Enum(id) => self.list("enum", |out| out.word(id.index())),
            ScalarType::Pid(family) => self.list("pid", |out| out.word(family.index())),
            ScalarType::PidOrNone(family) => self.list("pid?", |out| out.word(family.index())),
            ScalarType::Semaphore { max } => self.list("semaphore", |out| out.word(max)),
            ScalarType::Lock => self.word("lock"),
        }
    }

    fn init(&mut self, init: &Init) {
        match init {
            Init::First => self.word("first"),
            Init::Any => self.word("any"),
            Init::Fill(value) => self.list("fill", |out| out.expr(value)),
            Init::Elements(elements) => {
                self.list("elements", |out| elements.iter().for_each(|element| out.init(element)));
            }
        }
    }

    fn family(&mut self, family: &Family) {
        self.list("family", |out| {
            out.name(&family.name);
            if let Some(index) = &family.index {
                out.word(format_args!("{} {}", index.first, index.count));
            }
            family.vars.iter().for_each(|var| out.word(var.index()));
            out.next(&family.entry);
            out.word(family.end.index());
        });
    }

    fn procedure(&mut self, procedure: &Procedure) {
        self.list("procedure", |out| {
            out.name(&procedure.name);
            out.list("vars", |out| procedure.vars.iter().for_each(|var| out.word(var.index())));
            out.word(procedure.n_parameters);
            procedure.result.iter().for_each(|&result| out.scalar(result));
            out.next(&procedure.entry);
        });
    }

    fn scope(&mut self, scope: TextOwner) {
        match scope {
            TextOwner::Family(family) => self.word(format_args!("family {}", family.index())),
            TextOwner::Procedure(procedure) => self.word(format_args!("procedure {}", procedure.index())),
        }
    }

    fn counted(&mut self, counted: &Loop) {
        self.list("loop", |out| {
            out.scope(counted.scope);
            out.word(counted.counter.index());
            out.domain(&counted.domain);
            out.next(&counted.body);
        });
    }

    fn next(&mut self, next: &Next) {
        match next {
            Next::To(place) => self.list("to", |out| out.word(place.index())),
            Next::Enter { enter, skip } => self.list("enter", |out| {
                out.word(enter.index());
                out.next(skip);
            }),
            Next::Again { again, done } => self.list("again", |out| {
                out.word(again.index());
                out.next(done);
            }),
            Next::Leave { loops, then } => self.list("leave", |out| {
                loops.iter().for_each(|one| out.word(one.index()));
                out.next(then);
            }),
        }
    }

    fn action(&mut self, action: &Action) {
        self.list("action", |out| {
            out.scope(action.scope);
            out.word(action.source.index());
            action.labels.iter().for_each(|label| out.name(label));
            action.guard.iter().for_each(|guard| out.list("guard", |out| out.expr(guard)));
            if let Some(sync) = &action.sync {
                match &sync.side {
                    SyncSide::Send(values) => out.list("send", |out| {
                        out.word(sync.channel.index());
                        values.iter().for_each(|value| out.expr(value));
                    }),
                    SyncSide::Receive(patterns) => out.list("receive", |out| {
                        out.word(sync.channel.index());
                        patterns.iter().for_each(|pattern| out.pattern(pattern));
                    }),
                }
            }
            out.body(&action.body);
            out.kind(&action.kind);
            out.next(&action.next);
            // Written only where they are true, so that the texts of programs without them are what they were.
            if action.goes_on {
                out.word("goes-on");
            }
            if action.when_nobody {
                out.word("when-nobody");
            }
        });
    }

    fn pattern(&mut self, pattern: &ReceivePattern) {
        match pattern {
            ReceivePattern::Into(target) => self.access(target),
            ReceivePattern::Equal(value) => self.list("equal", |out| out.expr(value)),
            ReceivePattern::Ignored => self.word("ignored"),
        }
    }

    fn kind(&mut self, kind: &ActionKind) {
        match kind {
            ActionKind::Plain => {}
            ActionKind::Idle => self.word("idle"),
            ActionKind::Call { procedure, arguments, result, entry, site } => self.list("call", |out| {
                out.word(procedure.index());
                arguments.iter().for_each(|argument| out.expr(argument));
                result.iter().for_each(|target| out.list("result", |out| out.access(target)));
                entry.iter().for_each(|entry| out.list("entry", |out| out.next(entry)));
                site.iter().for_each(|site| out.list("site", |out| out.word(site.index())));
            }),
            ActionKind::Return { value } => {
                self.list("return", |out| value.iter().for_each(|value| out.expr(value)));
            }
        }
    }

    fn body(&mut self, body: &[Stmt]) {
        self.list("do", |out| body.iter().for_each(|stmt| out.stmt(stmt)));
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Assign(pairs) => self.list("assign", |out| {
                for (target, value) in pairs {
                    out.access(target);
                    out.expr(value);
                }
            }),
            StmtKind::AssignAny(target, range) => self.list("assign-any", |out| {
                out.access(target);
                if let Some((lo, hi)) = range {
                    out.expr(lo);
                    out.expr(hi);
                }
            }),
            StmtKind::Await(test) => self.list("await", |out| out.expr(test)),
            StmtKind::Assert(test) => self.list("assert", |out| out.expr(test)),
            StmtKind::Acquire(target) => self.list("acquire", |out| out.access(target)),
            StmtKind::Release(target) => self.list("release", |out| out.access(target)),
            StmtKind::If(test, yes, no) => self.list("if", |out| {
                out.expr(test);
                out.body(yes);
                out.body(no);
            }),
            StmtKind::Either(blocks) => {
                self.list("either", |out| blocks.iter().for_each(|block| out.body(block)));
            }
            StmtKind::For(binding, block) => self.list("for", |out| {
                out.binding(binding);
                out.body(block);
            }),
        }
    }

    fn binding(&mut self, binding: &Binding) {
        self.list("bind", |out| {
            out.word(binding.var.0);
            out.domain(&binding.domain);
        });
    }

    fn domain(&mut self, domain: &Domain) {
        match domain {
            Domain::Family(family) => self.list("family", |out| out.word(family.index())),
            Domain::Enum(id) => self.list("enum", |out| out.word(id.index())),
            Domain::Range(lo, hi) => self.list("range", |out| {
                out.expr(lo);
                out.expr(hi);
            }),
        }
    }

    fn access(&mut self, access: &Access) {
        self.list("cell", |out| {
            out.word(access.var.index());
            match &access.whose {
                Whose::Shared => out.word("shared"),
                Whose::Mine => out.word("mine"),
                Whose::Frame => out.word("frame"),
                Whose::Of(who) => out.list("of", |out| out.expr(who)),
            }
            access.indices.iter().for_each(|index| out.expr(index));
        });
    }

    fn value(&mut self, value: Value) {
        match value {
            Value::Bool(truth) => self.word(truth),
            Value::Int(number) => self.word(number),
            Value::Enum(id, at) => self.list("enum", |out| out.word(format_args!("{} {at}", id.index()))),
            Value::None => self.word("none"),
            Value::Process(process) => self.list("process", |out| out.word(process.index())),
        }
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Const(value) => self.value(*value),
            // Only in templates; an instance has the value.
            ExprKind::Parameter(id) => self.list("parameter", |out| out.word(id.index())),
            ExprKind::Myself => self.word("myself"),
            ExprKind::Bound(var) => self.list("bound", |out| out.word(var.0)),
            ExprKind::Read(access) => self.access(access),
            ExprKind::At { who, places, .. } => self.list("at", |out| {
                out.expr(who);
                places.iter().for_each(|place| out.word(place.index()));
            }),
            ExprKind::Not(inner) => self.list("not", |out| out.expr(inner)),
            ExprKind::Negate(inner) => self.list("negate", |out| out.expr(inner)),
            ExprKind::Binary(op, left, right) => self.list(operator(*op), |out| {
                out.expr(left);
                out.expr(right);
            }),
            ExprKind::If(test, yes, no) => self.list("if", |out| [test, yes, no].into_iter().for_each(|e| out.expr(e))),
            ExprKind::Quantified(inner) => self.list(quantifier(inner.quantifier), |out| {
                inner.bindings.iter().for_each(|binding| out.binding(binding));
                inner.filter.iter().for_each(|filter| out.list("where", |out| out.expr(filter)));
                out.expr(&inner.body);
            }),
            ExprKind::IndexOf(inner) => self.list("index", |out| out.expr(inner)),
            ExprKind::ToProcess(family, inner) => self.list("to-process", |out| {
                out.word(family.index());
                out.expr(inner);
            }),
        }
    }

    fn property(&mut self, property: &Property) {
        self.list("property", |out| {
            out.name(&property.name);
            match &property.kind {
                PropertyKind::Invariant(expr) => out.list("invariant", |out| out.expr(expr)),
                PropertyKind::Reachable(expr) => out.list("reachable", |out| out.expr(expr)),
                PropertyKind::RaceFree(var) => out.list("race-free", |out| out.word(var.index())),
                PropertyKind::NoErrors => out.word("no-errors"),
                PropertyKind::DeadlockFree => out.word("deadlock-free"),
                PropertyKind::Temporal(formula) => {
                    out.formula(formula);
                    out.assumptions(property);
                }
            }
        });
    }

    /// Only temporal properties are about fair runs.
    fn assumptions(&mut self, property: &Property) {
        for set in &property.under.any_of {
            self.list("fair", |out| {
                for pair in set.iter().map(|&pair| &out.model.fairness[pair]) {
                    out.list("pair", |out| {
                        pair.always.iter().for_each(|always| out.list("always", |out| out.state_predicate(always)));
                        pair.often.iter().for_each(|often| out.edge_predicate(often));
                    });
                }
            });
        }
    }

    fn state_predicate(&mut self, predicate: &StatePredicate) {
        match predicate {
            StatePredicate::Holds(expr) => self.list("holds", |out| out.expr(expr)),
            StatePredicate::Fails(expr) => self.list("fails", |out| out.expr(expr)),
            StatePredicate::Unable(process, labels) => self.list("unable", |out| {
                out.word(process.index());
                out.labels(labels.as_deref());
            }),
            StatePredicate::NobodyAble => self.word("nobody-able"),
        }
    }

    fn edge_predicate(&mut self, predicate: &EdgePredicate) {
        match predicate {
            EdgePredicate::Before(state) => self.list("before", |out| out.state_predicate(state)),
            EdgePredicate::Scheduled(process) => self.list("scheduled", |out| out.word(process.index())),
            EdgePredicate::Moves(process, labels) => self.list("moves", |out| {
                out.word(process.index());
                out.labels(labels.as_deref());
            }),
            EdgePredicate::SomebodyMoves => self.word("somebody-moves"),
        }
    }

    fn labels(&mut self, labels: Option<&[String]>) {
        if let Some(labels) = labels {
            self.list("labels", |out| labels.iter().for_each(|label| out.name(label)));
        }
    }

    fn formula(&mut self, formula: &Formula) {
        match formula {
            Formula::Now(expr) => self.list("now", |out| out.expr(expr)),
            Formula::Not(inner) => self.list("not", |out| out.formula(inner)),
            Formula::Boolean(op, left, right) => self.list(connective(*op), |out| {
                out.formula(left);
                out.formula(right);
            }),
            Formula::Unary(op, inner) => self.list(unary(*op), |out| out.formula(inner)),
            Formula::Binary(op, left, right) => self.list(binary(*op), |out| {
                out.formula(left);
                out.formula(right);
            }),
            Formula::Quantified { quantifier: asked, bindings, filter, body } => {
                self.list(quantifier(*asked), |out| {
                    bindings.iter().for_each(|binding| out.binding(binding));
                    filter.iter().for_each(|filter| out.list("where", |out| out.expr(filter)));
                    out.formula(body);
                });
            }
            Formula::NeverAccepts(automaton) => self.automaton(automaton),
        }
    }

    fn automaton(&mut self, automaton: &Automaton) {
        self.list("automaton", |out| {
            out.word(automaton.initial);
            automaton.locations.iter().for_each(|location| out.word(location.accepting));
            for edge in &automaton.edges {
                out.list("edge", |out| {
                    out.word(format_args!("{} {}", edge.source, edge.target));
                    edge.guard.iter().for_each(|guard| out.expr(guard));
                });
            }
        });
    }
}

fn quantifier(quantifier: Quantifier) -> &'static str {
    match quantifier {
        Quantifier::Forall => "forall",
        Quantifier::Exists => "exists",
        Quantifier::Count => "count",
    }
}

fn connective(op: BooleanOp) -> &'static str {
    match op {
        BooleanOp::And => "and",
        BooleanOp::Or => "or",
        BooleanOp::Implies => "implies",
        BooleanOp::Iff => "iff",
    }
}

fn unary(op: UnaryTemporal) -> &'static str {
    match op {
        UnaryTemporal::Next => "next",
        UnaryTemporal::Always => "always",
        UnaryTemporal::Eventually => "eventually",
    }
}

fn binary(op: BinaryTemporal) -> &'static str {
    match op {
        BinaryTemporal::Until => "until",
        BinaryTemporal::WeakUntil => "weak-until",
        BinaryTemporal::Releases => "releases",
        BinaryTemporal::StrongReleases => "strong-releases",
        BinaryTemporal::LeadsTo => "leads-to",
    }
}

fn operator(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::And => "and",
        BinaryOp::Or => "or",
        BinaryOp::Implies => "implies",
        BinaryOp::Iff => "iff",
        BinaryOp::Equal => "equal",
        BinaryOp::NotEqual => "not-equal",
        BinaryOp::Less => "less",
        BinaryOp::LessEqual => "less-equal",
        BinaryOp::Greater => "greater",
        BinaryOp::GreaterEqual => "greater-equal",
        BinaryOp::Add => "add",
        BinaryOp::Subtract => "subtract",
        BinaryOp::Multiply => "multiply",
        BinaryOp::Divide => "divide",
        BinaryOp::Remainder => "remainder",
        BinaryOp::Min => "min",
        BinaryOp::Max => "max",
        BinaryOp::Machine(op) => machine(op),
    }
}

fn machine(op: MachineOp) -> &'static str {
    match op {
        MachineOp::Quotient => "c-divide",
        MachineOp::Rest => "c-remainder",
        MachineOp::BitAnd => "bit-and",
        MachineOp::BitOr => "bit-or",
        MachineOp::BitXor => "bit-xor",
        MachineOp::ShiftLeft => "shift-left",
        MachineOp::ShiftRight => "shift-right",
    }
}
