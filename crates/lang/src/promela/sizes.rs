//! The number of processes as a name: which macro may have any value, so that a proof can be one for every value.
//!
//! In: the tokens of a program with its macros' values, and the same with one macro left as a name. Out: the proctype of which there are
//! that many (`active [N]`, or a loop of `init` that starts each of them) and the arrays with an element for each of them; or every use of the macro that is something else, with its place.
//! Nothing that depends on the number may be hidden: the macro stands in no `#if`, makes no words by `##`, and the pids of other processes,
//! which come after these, are not looked at. What is found is a claim about the text; `parametric.rs` compares Models of two sizes besides.

use base::Span;

use super::ast::{
    Argument, Basic, BinaryOp, Declaration, Expr, ExprKind, File, Formula, FormulaKind, Init, Proctype, Stmt, StmtKind,
    Type, Unit, VarRef,
};
use super::lexer::{Kind, Token};

/// Why a macro is no parameter of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Obstacle {
    pub text: String,
    pub span: Span,
    /// Whether no processes are counted by it at all.
    pub is_no_count: bool,
}

impl Obstacle {
    pub fn new(span: Span, text: impl Into<String>) -> Self {
        Obstacle { text: text.into(), span, is_no_count: false }
    }
}

/// What a parameter is used for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Uses {
    /// The proctype with so many processes at the start.
    pub proctype: String,
    /// The global arrays with an element for each of these processes.
    pub arrays: Vec<String>,
    /// Whether the processes look at their pids.
    pub uses_pid: bool,
    /// The position of the parameter that is 0, 1, 2, … in the processes, where they are started by a loop.
    pub index_parameter: Option<usize>,
    /// Whether they look at that parameter.
    pub uses_parameter: bool,
}

/// Whether two streams are the same but for a number that one of them has as a name.
pub(super) fn differ_in_name_only(numbers: &[Token], names: &[Token], (name, value): (&str, i64)) -> bool {
    let same = |(number, named): (&Token, &Token)| {
        let is_use = named.name() == Some(name) && number.kind == Kind::Number(value);
        is_use || (number.kind == named.kind && number.name() != Some(name))
    };
    numbers.len() == names.len() && numbers.iter().zip(names).all(same)
}

/// What a name that stands for the number is used for, in the syntax tree that has the name.
///
/// # Errors
/// Everything that stands in the way.
pub(super) fn uses(file: &File, name: &str) -> Result<Uses, Vec<Obstacle>> {
    let mut look = Look { name, ..Look::default() };
    look.families(file);
    for unit in &file.units {
        look.unit(unit);
    }
    if look.obstacles.is_empty() { Ok(look.uses) } else { Err(look.obstacles) }
}

#[derive(Default)]
struct Look<'n> {
    name: &'n str,
    uses: Uses,
    /// The proctype whose text is looked at.
    inside: Option<String>,
    /// The parameter of the processes that counts them.
    index: Option<String>,
    /// The loop that starts the processes, by its place.
    start: Option<Span>,
    /// The variable of that loop, which holds the number behind it.
    spent: Option<String>,
    obstacles: Vec<Obstacle>,
}

impl Look<'_> {
    fn refuse(&mut self, span: Span, text: impl Into<String>) {
        self.obstacles.push(Obstacle::new(span, text));
    }

    fn is_name(&self, expr: &Expr) -> bool {
        matches!(&expr.kind, ExprKind::Var(one) if self.is_it(one))
    }

    fn is_it(&self, one: &VarRef) -> bool {
        matches!(&one.parts[..], [part] if part.name.text == self.name && part.index.is_none())
    }

    /// The family and the arrays, which the rest is compared with.
    fn families(&mut self, file: &File) {
        let is_sized = |proctype: &Proctype| match &proctype.active {
            Some(Some(count)) => self.is_name(count),
            _ => false,
        };
        let sized: Vec<&Proctype> = file
            .units
            .iter()
            .filter_map(|unit| match unit {
                Unit::Proctype(proctype) if is_sized(proctype) => Some(proctype),
                _ => None,
            })
            .collect();
        let started = started(file, self.name);
        match sized[..] {
            [one] => self.uses.proctype = one.name.text.clone(),
            [] if started.is_some() => self.started(file, started),
            [] => {
                let text = format!("there is no `active [{}] proctype`", self.name);
                self.obstacles.push(Obstacle { is_no_count: true, ..Obstacle::new(Span::default(), text) });
            }
            [_, second, ..] => {
                let text = format!("there are `{}` processes of a second proctype, `{}`", self.name, second.name.text);
                self.refuse(second.name.span, text);
            }
        }
        for unit in &file.units {
            if let Unit::Global(declared) = unit
                && declared.len.as_ref().is_some_and(|len| self.is_name(len))
            {
                self.uses.arrays.push(declared.name.text.clone());
            }
        }
    }

    /// The processes are started by a loop of `init`.
    fn started(&mut self, file: &File, started: Option<Started<'_>>) {
        let Some(Started { place, variable, proctype, arguments }) = started else { return };
        self.uses.proctype = proctype.to_owned();
        self.start = Some(place);
        let of_proctype = |unit: &Unit| match unit {
            Unit::Proctype(declared) if declared.name.text == proctype => Some(declared.clone()),
            _ => None,
        };
        let Some(declared) = file.units.iter().find_map(of_proctype) else { return };
        if declared.active.is_some() {
            let text = format!("there are `{proctype}` at the start, and more are started");
            self.refuse(declared.name.span, text);
        }
        for (position, argument) in arguments.iter().enumerate() {
            match &argument.kind {
                ExprKind::Var(one) if is_plain(one, variable) => {
                    if self.uses.index_parameter.replace(position).is_some() {
                        self.refuse(argument.span, "two parameters count the processes");
                    }
                    self.index = declared.parameters.get(position).map(|parameter| parameter.name.text.clone());
                }
                _ if mentions(argument, variable) => {
                    self.refuse(argument.span, "the processes are given different numbers")
                }
                _ => {}
            }
        }
    }

    fn unit(&mut self, unit: &Unit) {
        match unit {
            Unit::Mtype { .. } => {}
            Unit::Typedef { fields, .. } => fields.iter().for_each(|field| self.declaration(field)),
            Unit::Global(declared) => {
                let is_sized = declared.len.as_ref().is_some_and(|len| self.is_name(len));
                let is_channel = declared.ty == Type::Basic(Basic::Chan);
                if is_sized && (is_channel || matches!(declared.init, Some(Init::List(_) | Init::Channel { .. }))) {
                    let text = format!("the elements of `{}` are given one by one", declared.name.text);
                    self.refuse(declared.name.span, text);
                }
                let declared = if is_sized { Declaration { len: None, ..declared.clone() } } else { declared.clone() };
                self.declaration(&declared);
            }
            Unit::Proctype(proctype) => self.proctype(proctype),
            Unit::Ltl(ltl) => self.formula(&ltl.formula),
            Unit::Never { body, .. } => self.body(body),
            Unit::Trace { span, .. } => self.refuse(*span, "a trace speaks of certain channels"),
        }
    }

    fn proctype(&mut self, proctype: &Proctype) {
        self.inside = Some(proctype.name.text.clone());
        if let Some(Some(count)) = &proctype.active
            && !self.is_name(count)
        {
            self.expr(count);
        }
        proctype.parameters.iter().for_each(|parameter| self.declaration(parameter));
        proctype.provided.iter().for_each(|condition| self.expr(condition));
        self.body(&proctype.body);
        self.inside = None;
    }

    fn is_sized(&self) -> bool {
        self.inside.as_deref() == Some(&self.uses.proctype)
    }

    fn declaration(&mut self, declared: &Declaration) {
        if self.is_sized() && declared.ty == Type::Basic(Basic::Chan) {
            let text = format!("each `{}` has a channel of its own, `{}`", self.uses.proctype, declared.name.text);
            self.refuse(declared.name.span, text);
        }
        declared.len.iter().for_each(|len| self.expr(len));
        match &declared.init {
            None => {}
            Some(Init::Value(value)) => self.expr(value),
            Some(Init::List(values)) => values.iter().for_each(|value| self.expr(value)),
            Some(Init::Channel { capacity, .. }) => self.expr(capacity),
        }
    }

    fn formula(&mut self, formula: &Formula) {
        match &formula.kind {
            FormulaKind::Now(expr) => self.expr(expr),
            FormulaKind::Not(inner)
            | FormulaKind::Next(inner)
            | FormulaKind::Always(inner)
            | FormulaKind::Eventually(inner) => self.formula(inner),
            FormulaKind::Binary(_, left, right) => {
                self.formula(left);
                self.formula(right);
            }
        }
    }

    fn body(&mut self, body: &[Stmt]) {
        body.iter().for_each(|statement| self.statement(statement));
    }

    fn statement(&mut self, statement: &Stmt) {
        let has_role = |label: &str| label.starts_with("accept") || label.starts_with("progress");
        if self.start == Some(statement.span) && matches!(statement.kind, StmtKind::Do(_)) {
            return self.loop_of_starts(statement);
        }
        if self.is_sized()
            && let Some(label) = statement.labels.iter().find(|label| has_role(&label.text))
        {
            self.refuse(label.span, format!("the label `{}` asks whether one of all processes is there", label.text));
        }
        match &statement.kind {
            StmtKind::Declare(declarations) => declarations.iter().for_each(|declared| self.declaration(declared)),
            StmtKind::Expr(expr) | StmtKind::Assert(expr) => self.expr(expr),
            StmtKind::Assign(target, value) => {
                let is_spent = self.inside.as_deref() == Some("init")
                    && self.spent.as_ref().is_some_and(|spent| is_plain(target, spent));
                if is_spent && matches!(value.kind, ExprKind::Number(_)) {
                    self.spent = None;
                }
                if self.is_sized() && self.index.as_ref().is_some_and(|index| is_plain(target, index)) {
                    self.refuse(target.span, "the parameter that counts the processes is changed");
                }
                self.variable(target);
                self.expr(value);
            }
            StmtKind::SetPriority(_, value) => self.refuse(value.span, "a priority is changed"),
            StmtKind::Else | StmtKind::Print | StmtKind::Goto(_) | StmtKind::Break => {}
            StmtKind::Send { channel, values, .. } => {
                self.variable(channel);
                values.iter().for_each(|value| self.expr(value));
            }
            StmtKind::Receive { channel, arguments, .. } => {
                self.variable(channel);
                arguments.iter().for_each(|argument| self.argument(argument));
            }
            StmtKind::If(options) | StmtKind::Do(options) => options.iter().for_each(|option| self.body(option)),
            StmtKind::Atomic(inner) | StmtKind::DStep(inner) | StmtKind::Block(inner) => self.body(inner),
            StmtKind::Unless(main, escape) => {
                self.body(main);
                self.body(escape);
            }
            StmtKind::ForIn { variable, container, body } => {
                self.variable(variable);
                self.variable(container);
                self.body(body);
            }
        }
    }

    /// The arguments of the loop that starts the processes; its variable holds their number afterwards.
    fn loop_of_starts(&mut self, statement: &Stmt) {
        let StmtKind::Do(options) = &statement.kind else { return };
        let Some(Round { variable, arguments, .. }) = round(options) else { return };
        for argument in arguments {
            if !matches!(&argument.kind, ExprKind::Var(one) if is_plain(one, variable)) {
                self.expr(argument);
            }
        }
        self.spent = Some(variable.to_owned());
    }

    fn argument(&mut self, argument: &Argument) {
        match argument {
            Argument::Store(target) => {
                if self.is_sized() && self.index.as_ref().is_some_and(|index| is_plain(target, index)) {
                    self.refuse(target.span, "the parameter that counts the processes is changed");
                }
                self.variable(target);
            }
            Argument::Match(expr) => self.expr(expr),
            Argument::Ignore => {}
        }
    }

    /// A variable: an array with an element for each process has the pid for its index.
    fn variable(&mut self, one: &VarRef) {
        if self.is_it(one) {
            return self.refuse(one.span, format!("`{}` is used as a number", self.name));
        }
        if self.inside.as_deref() == Some("init") && self.spent.as_ref().is_some_and(|spent| is_plain(one, spent)) {
            return self.refuse(one.span, format!("this is computed from `{}`", self.name));
        }
        if self.is_sized() && self.index.as_ref().is_some_and(|index| is_plain(one, index)) {
            return self.refuse(one.span, "the parameter that counts the processes is used as a number");
        }
        for (at, part) in one.parts.iter().enumerate() {
            let is_array = at == 0 && self.uses.arrays.contains(&part.name.text);
            match &part.index {
                Some(index) if is_array && self.is_sized() && matches!(index.kind, ExprKind::Pid) => {
                    self.uses.uses_pid = true;
                }
                Some(Expr { kind: ExprKind::Var(index), .. })
                    if is_array && self.is_sized() && self.index.as_ref().is_some_and(|name| is_plain(index, name)) =>
                {
                    self.uses.uses_parameter = true;
                }
                _ if is_array => {
                    let text = format!("`{}` is indexed by something else than the pid of its process", part.name.text);
                    self.refuse(one.span, text);
                }
                Some(index) => self.expr(index),
                None => {}
            }
        }
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Number(_) | ExprKind::Timeout => {}
            ExprKind::Var(one) => self.variable(one),
            ExprKind::Not(inner) | ExprKind::Negate(inner) | ExprKind::Complement(inner) => self.expr(inner),
            ExprKind::Binary(_, left, right) => {
                self.expr(left);
                self.expr(right);
            }
            ExprKind::If(test, yes, no) => [test, yes, no].into_iter().for_each(|part| self.expr(part)),
            ExprKind::Run(proctype, arguments, _) => {
                if proctype.text == self.uses.proctype || self.inside.as_deref() != Some("init") {
                    self.refuse(expr.span, format!("`run {}` starts processes besides these", proctype.text));
                }
                arguments.iter().for_each(|argument| self.expr(argument));
            }
            ExprKind::Query(_, channel) => self.variable(channel),
            ExprKind::Poll { channel, arguments, .. } => {
                self.variable(channel);
                arguments.iter().for_each(|argument| self.argument(argument));
            }
            ExprKind::NonProgress => self.refuse(expr.span, "`np_` looks at all processes"),
            ExprKind::NrPr => self.refuse(expr.span, "`_nr_pr` counts the processes"),
            ExprKind::Last => self.refuse(expr.span, "`_last` is a pid"),
            ExprKind::Enabled(_) => self.refuse(expr.span, "`enabled` asks about a pid"),
            ExprKind::StateNumber(_) => self.refuse(expr.span, "`pc_value` asks about a pid"),
            ExprKind::Priority(_) => self.refuse(expr.span, "a priority is asked for"),
            ExprKind::Pid => self.refuse(expr.span, "a pid is used as a number"),
            ExprKind::At { process, pid, .. } => self.remote(&process.text, pid.as_deref(), expr.span),
            ExprKind::Remote { process, pid, variable } => {
                self.remote(&process.text, pid.as_deref(), expr.span);
                variable.parts.iter().filter_map(|part| part.index.as_ref()).for_each(|index| self.expr(index));
            }
        }
    }

    /// `P[e]@l`, `P[e]:x`: of the other proctypes the only process, of the sized one none.
    fn remote(&mut self, process: &str, pid: Option<&Expr>, span: Span) {
        if process == self.uses.proctype || pid.is_some() {
            self.refuse(span, format!("a particular `{process}` is named"));
        }
    }
}

/// A loop of `init` that starts as many processes as a macro says.
struct Started<'f> {
    place: Span,
    variable: &'f str,
    proctype: &'f str,
    arguments: &'f [Expr],
}

/// One round of such a loop: `i < bound; run P(…); i = i + 1`.
struct Round<'f> {
    variable: &'f str,
    op: BinaryOp,
    bound: &'f Expr,
    proctype: &'f str,
    arguments: &'f [Expr],
}

/// The loop of `init` that starts as many processes as the name says; there are no other `run`s of the proctype.
fn started<'f>(file: &'f File, name: &str) -> Option<Started<'f>> {
    let init = file.units.iter().find_map(|unit| match unit {
        Unit::Proctype(proctype) if proctype.is_init => Some(proctype),
        _ => None,
    })?;
    loop_within(&init.body, name)
}

fn loop_within<'f>(body: &'f [Stmt], name: &str) -> Option<Started<'f>> {
    for (at, statement) in body.iter().enumerate() {
        let found = match &statement.kind {
            StmtKind::Atomic(inner) | StmtKind::Block(inner) => loop_within(inner, name),
            StmtKind::Do(options) => {
                let first = at.checked_sub(1).and_then(|before| first_value(&body[before]));
                round(options).filter(|round| first.is_some_and(|first| counts(round, first, name))).map(|round| {
                    let Round { variable, proctype, arguments, .. } = round;
                    Started { place: statement.span, variable, proctype, arguments }
                })
            }
            _ => None,
        };
        if found.is_some() {
            return found;
        }
    }
    None
}

/// The variable that a statement sets, and to what: an assignment of a number, or a declaration.
fn first_value(statement: &Stmt) -> Option<(&str, i64)> {
    match &statement.kind {
        StmtKind::Assign(target, Expr { kind: ExprKind::Number(value), .. }) => Some((plain_name(target)?, *value)),
        StmtKind::Declare(declared) => match &declared[..] {
            [
                Declaration {
                    name,
                    len: None,
                    init: Some(Init::Value(Expr { kind: ExprKind::Number(value), .. })),
                    ..
                },
            ] => Some((&name.text, *value)),
            _ => None,
        },
        _ => None,
    }
}

/// The round of a loop with two options, of which the other one leaves it where the first cannot be taken.
fn round(options: &[Vec<Stmt>]) -> Option<Round<'_>> {
    let [one, other] = options else { return None };
    let leaves =
        |option: &[Stmt]| matches!(option, [Stmt { kind: StmtKind::Else, .. }, Stmt { kind: StmtKind::Break, .. }]);
    if !leaves(other) {
        return None;
    }
    let statements: Vec<&Stmt> = one.iter().filter(|statement| !matches!(statement.kind, StmtKind::Print)).collect();
    let [test, run, next] = statements[..] else { return None };
    let StmtKind::Expr(Expr { kind: ExprKind::Binary(op, left, bound), .. }) = &test.kind else { return None };
    let ExprKind::Var(variable) = &left.kind else { return None };
    let variable = plain_name(variable)?;
    let StmtKind::Expr(Expr { kind: ExprKind::Run(proctype, arguments, None), .. }) = &run.kind else { return None };
    let StmtKind::Assign(target, Expr { kind: ExprKind::Binary(BinaryOp::Add, augend, one), .. }) = &next.kind else {
        return None;
    };
    let is_next = is_plain(target, variable)
        && matches!(&augend.kind, ExprKind::Var(augend) if is_plain(augend, variable))
        && matches!(one.kind, ExprKind::Number(1));
    let op = *op;
    is_next.then_some(Round { variable, op, bound, proctype: &proctype.text, arguments })
}

/// Whether a loop that begins with 0 has as many rounds as the name says.
fn counts(round: &Round<'_>, (variable, first): (&str, i64), name: &str) -> bool {
    let is_name = |expr: &Expr| matches!(&expr.kind, ExprKind::Var(one) if is_plain(one, name));
    let is_less = |expr: &Expr| match &expr.kind {
        ExprKind::Binary(BinaryOp::Subtract, left, right) => is_name(left) && matches!(right.kind, ExprKind::Number(1)),
        _ => false,
    };
    let is_all = match round.op {
        BinaryOp::Less => is_name(round.bound),
        BinaryOp::LessEqual => is_less(round.bound),
        _ => false,
    };
    round.variable == variable && first == 0 && is_all
}

fn plain_name(one: &VarRef) -> Option<&str> {
    match &one.parts[..] {
        [part] if part.index.is_none() => Some(&part.name.text),
        _ => None,
    }
}

fn is_plain(one: &VarRef, name: &str) -> bool {
    plain_name(one) == Some(name)
}

/// Whether a variable stands in an expression; calls and questions about channels count as if it did.
fn mentions(expr: &Expr, name: &str) -> bool {
    match &expr.kind {
        ExprKind::Number(_)
        | ExprKind::Pid
        | ExprKind::Timeout
        | ExprKind::NonProgress
        | ExprKind::NrPr
        | ExprKind::Last => false,
        ExprKind::Var(one) => {
            let mut indices = one.parts.iter().filter_map(|part| part.index.as_ref());
            is_plain(one, name) || indices.any(|index| mentions(index, name))
        }
        ExprKind::Not(inner) | ExprKind::Negate(inner) | ExprKind::Complement(inner) => mentions(inner, name),
        ExprKind::Binary(_, left, right) => mentions(left, name) || mentions(right, name),
        _ => true,
    }
}
