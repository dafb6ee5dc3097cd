//! What a program declares and does not use: variables, channels, constants, definitions, types, procedures, parameters.
//!
//! In: a parsed program. Out: a warning for each name that nothing uses, that is stored and never looked at, or that is looked at and never
//! stored. The method goes by names: whatever bears the name of a declaration, in the text where it can mean it, counts as a use of it. So a use may be
//! missed where two things have one name, and nothing that is used is said to be unused. A name that begins with `_` is left alone.

use std::collections::HashSet;

use base::Diagnostic;

use super::ast::{
    Assigned, Assumptions, Block, Domain, Expr, ExprKind, FairnessItem, FairnessKind, Ident, Item, Members, Pattern,
    PatternIndex, Program, PropertyKind, Range, Statement, StatementKind, Type, TypeKind, VariableDecl,
};
use crate::codes::check as code;

/// The warnings about a program, in no particular order.
pub(super) fn unused(program: &Program) -> Vec<Diagnostic> {
    let texts: Vec<Uses<'_>> = program.items.iter().map(uses_of).collect();
    let mut whole = Uses::default();
    texts.iter().for_each(|text| whole.add(text));
    for parameter in &program.parameters {
        whole.expr(&parameter.least);
        parameter.limit.iter().for_each(|limit| whole.expr(&limit.value));
        parameter.default.iter().for_each(|default| whole.expr(default));
    }
    let mut found = Vec::new();
    for parameter in &program.parameters {
        never_used(&parameter.name, "parameter", &whole, &mut found);
    }
    for (item, own) in program.items.iter().zip(&texts) {
        match item {
            Item::Const(declared) => never_used(&declared.name, "constant", &whole, &mut found),
            Item::Define(declared) => never_used(&declared.name, "definition", &whole, &mut found),
            Item::Struct(declared) => never_used(&declared.name, "struct", &whole, &mut found),
            Item::Alias(declared) => never_used(&declared.name, "type", &whole, &mut found),
            Item::Procedure(declared) => {
                never_used(&declared.name, "procedure", &whole, &mut found);
                for parameter in &declared.parameters {
                    never_used(&parameter.name, "parameter", own, &mut found);
                }
                declared.variables.iter().for_each(|var| variable(var, own, &mut found));
            }
            Item::Fairness(declared) if declared.name.name != "default" => {
                never_used(&declared.name, "fairness set", &whole, &mut found);
            }
            Item::Channel(declared) => channel(&declared.name, &whole, &mut found),
            Item::Variable(declared) => variable(declared, &whole, &mut found),
            Item::Process(declared) => {
                // Others, and properties, name its variables behind a dot.
                let mut uses = own.clone();
                uses.reads.extend(&whole.fields);
                declared.variables.iter().for_each(|var| variable(var, &uses, &mut found));
            }
            _ => {}
        }
    }
    found
}

fn never_used(name: &Ident, what: &str, uses: &Uses<'_>, found: &mut Vec<Diagnostic>) {
    if !is_left_alone(name) && !uses.reads.contains(&*name.name) && !uses.writes.contains(&*name.name) {
        let message = format!("the {what} `{}` is never used", name.name);
        found.push(Diagnostic::warning(code::UNUSED, name.span, message));
    }
}

fn channel(name: &Ident, uses: &Uses<'_>, found: &mut Vec<Diagnostic>) {
    let (is_read, is_written) = (uses.reads.contains(&*name.name), uses.writes.contains(&*name.name));
    let message = match (is_read, is_written) {
        _ if is_left_alone(name) => return,
        (true, true) => return,
        (false, false) => format!("the channel `{}` is never used", name.name),
        (false, true) => format!("nothing is received from `{}`", name.name),
        (true, false) => format!("nothing is sent to `{}`", name.name),
    };
    found.push(Diagnostic::warning(code::UNUSED, name.span, message));
}

fn variable(declared: &VariableDecl, uses: &Uses<'_>, found: &mut Vec<Diagnostic>) {
    let name = &declared.name;
    let (is_read, is_written) = (uses.reads.contains(&*name.name), uses.writes.contains(&*name.name));
    let report = |message: String| Diagnostic::warning(code::UNUSED, name.span, message);
    match (is_read, is_written) {
        _ if is_left_alone(name) => {}
        (false, false) => found.push(report(format!("`{}` is never used", name.name))),
        (false, true) => found.push(report(format!("`{}` is stored and never looked at", name.name)).help(
            "leave it out, since each of its values multiplies the states, or begin its name with `_` to keep it; what is received and not needed is written `_`",
        )),
        (true, false) if may_be_constant(declared) => {
            let diagnostic = report(format!("`{}` always has its first value: nothing changes it", name.name));
            found.push(
                diagnostic
                    .help("write `const` for a value that never changes (`define` where it depends on the process), or `= any` for one that starts anywhere"),
            );
        }
        (true, _) => {}
    }
}

/// Whether a variable that nothing changes should be something else: a table, whose elements differ, cannot be a constant.
fn may_be_constant(declared: &VariableDecl) -> bool {
    match &declared.initial {
        None => true,
        Some(Assigned::Value(value)) => !matches!(
            value.kind,
            ExprKind::Array(_)
                | ExprKind::ByIndex { .. }
                | ExprKind::Record { .. }
                | ExprKind::Apply { .. }
                | ExprKind::Set(_)
        ),
        Some(Assigned::First(_) | Assigned::Any { .. }) => false,
    }
}

fn is_left_alone(name: &Ident) -> bool {
    name.name.starts_with('_')
}

/// Everything that an item names.
fn uses_of(item: &Item) -> Uses<'_> {
    let mut uses = Uses::default();
    match item {
        Item::Const(declared) => {
            declared.ty.iter().for_each(|ty| uses.ty(ty));
            uses.expr(&declared.value);
        }
        Item::Struct(declared) => declared.fields.iter().for_each(|field| uses.ty(&field.ty)),
        Item::Alias(declared) => uses.ty(&declared.ty),
        Item::Channel(declared) => {
            declared.lengths.iter().for_each(|length| uses.expr(length));
            uses.expr(&declared.capacity);
            declared.parts.iter().for_each(|part| uses.ty(part));
        }
        Item::Define(declared) => uses.expr(&declared.body),
        Item::Variable(declared) => uses.declared(declared),
        Item::Process(declared) => {
            declared.index.iter().for_each(|index| uses.range(&index.range));
            declared.variables.iter().for_each(|var| uses.declared(var));
            uses.block(&declared.body);
        }
        Item::Procedure(declared) => {
            declared.parameters.iter().for_each(|parameter| uses.ty(&parameter.ty));
            declared.result.iter().for_each(|ty| uses.ty(ty));
            declared.variables.iter().for_each(|var| uses.declared(var));
            uses.block(&declared.body);
        }
        Item::Property(declared) => {
            match &declared.kind {
                PropertyKind::Invariant(expr)
                | PropertyKind::Temporal(expr)
                | PropertyKind::Reachable(expr)
                | PropertyKind::RaceFree(expr) => uses.expr(expr),
                PropertyKind::NoErrors | PropertyKind::DeadlockFree => {}
            }
            let assumed = declared.under.iter().filter_map(|under| under.assumptions.as_ref());
            assumed.for_each(|assumptions| uses.assumptions(assumptions));
        }
        Item::Fairness(declared) => declared.items.iter().for_each(|item| uses.fairness(item)),
        Item::Hint(declared) => declared.exposed.iter().for_each(|expr| uses.expr(expr)),
        Item::Sizes(declared) => uses.members(&declared.values),
        Item::Initially(condition) => uses.expr(condition),
        Item::Enum(_) | Item::AllowDeadlock(_) => {}
    }
    uses
}

/// Names that are looked at, and names of what is changed.
#[derive(Clone, Default)]
struct Uses<'a> {
    reads: HashSet<&'a str>,
    writes: HashSet<&'a str>,
    /// Names behind a dot that are looked at.
    fields: HashSet<&'a str>,
}

impl<'a> Uses<'a> {
    fn add(&mut self, other: &Uses<'a>) {
        self.reads.extend(&other.reads);
        self.writes.extend(&other.writes);
        self.fields.extend(&other.fields);
    }

    fn declared(&mut self, declared: &'a VariableDecl) {
        self.ty(&declared.ty);
        self.assigned(declared.initial.iter());
    }

    fn ty(&mut self, ty: &'a Type) {
        match &ty.kind {
            TypeKind::Bool | TypeKind::Lock => {}
            TypeKind::Range(range) => self.range(range),
            TypeKind::Named(name) => drop(self.reads.insert(&name.name)),
            TypeKind::Pid { family, .. } => self.reads.extend(family.iter().map(|family| &*family.name)),
            TypeKind::Sem { bound } => bound.iter().for_each(|bound| self.expr(bound)),
            TypeKind::Set(element) => self.ty(element),
            TypeKind::Array { element, length } => {
                self.ty(element);
                self.expr(length);
            }
        }
    }

    fn range(&mut self, range: &'a Range) {
        self.expr(&range.low);
        self.expr(&range.high);
    }

    fn members(&mut self, members: &'a Members) {
        match members {
            Members::Set(set) => self.expr(set),
            Members::Range(range) => self.range(range),
        }
    }

    fn expr(&mut self, expr: &'a Expr) {
        match &expr.kind {
            ExprKind::Name(name) => drop(self.reads.insert(&name.name)),
            // `P[i].x` is a look at the `x` of a process.
            ExprKind::Field { field, .. } => drop(self.fields.insert(&field.name)),
            ExprKind::Apply { name, arguments } => {
                self.reads.insert(&name.name);
                if name.name == "cas" {
                    arguments.first().into_iter().for_each(|target| self.target(target));
                }
            }
            ExprKind::Record { name, .. } => drop(self.reads.insert(&name.name)),
            ExprKind::AsPid { family, .. } => self.reads.extend(family.iter().map(|family| &*family.name)),
            ExprKind::Quantified { binders, .. } => {
                if let Some(Domain::Family(family)) = &binders.domain {
                    self.reads.insert(&family.name);
                }
            }
            _ => {}
        }
        expr.for_each_child(|child| self.expr(child));
    }

    /// What is changed: the variable, and what its indices look at.
    fn target(&mut self, target: &'a Expr) {
        match &target.kind {
            ExprKind::Name(name) => drop(self.writes.insert(&name.name)),
            ExprKind::Index { base, index } => {
                self.target(base);
                self.expr(index);
            }
            ExprKind::Field { base, field } => {
                self.writes.insert(&field.name);
                self.target(base);
            }
            _ => self.expr(target),
        }
    }

    fn assigned(&mut self, values: impl Iterator<Item = &'a Assigned>) {
        for value in values {
            match value {
                Assigned::Value(value) => self.expr(value),
                Assigned::First(_) | Assigned::Any { range: None, .. } => {}
                Assigned::Any { range: Some(range), .. } => self.range(range),
            }
        }
    }

    fn block(&mut self, block: &'a Block) {
        block.statements.iter().for_each(|statement| self.statement(statement));
    }

    fn statement(&mut self, statement: &'a Statement) {
        match &statement.kind {
            StatementKind::Skip
            | StatementKind::Idle
            | StatementKind::Goto(_)
            | StatementKind::Break
            | StatementKind::Continue => {}
            StatementKind::Assign { targets, values } => {
                targets.iter().for_each(|target| self.target(target));
                self.assigned(values.iter());
            }
            StatementKind::Await(expr) | StatementKind::Assert(expr) => self.expr(expr),
            // Who acquires waits for what others release.
            StatementKind::Acquire(expr) | StatementKind::Release(expr) => {
                self.target(expr);
                self.expr(expr);
            }
            StatementKind::Call { target, procedure, arguments } => {
                self.reads.insert(&procedure.name);
                target.iter().for_each(|target| self.target(target));
                arguments.iter().for_each(|argument| self.expr(argument));
            }
            StatementKind::Return(value) => value.iter().for_each(|value| self.expr(value)),
            StatementKind::If { condition, then, otherwise } => {
                self.expr(condition);
                self.block(then);
                otherwise.iter().for_each(|block| self.block(block));
            }
            StatementKind::Either { branches } => branches.iter().for_each(|block| self.block(block)),
            StatementKind::Guarded { branches, otherwise, .. } => {
                branches.iter().chain([otherwise]).for_each(|block| self.block(block));
            }
            StatementKind::While { condition, body } => {
                self.expr(condition);
                self.block(body);
            }
            StatementKind::Loop(body) | StatementKind::Atomic(body) => self.block(body),
            StatementKind::For { range, body, .. } => {
                self.range(range);
                self.block(body);
            }
            StatementKind::ForEach { domain, body, .. } => {
                self.domain(domain);
                self.block(body);
            }
            StatementKind::Choose { domain, condition, body, .. } => {
                self.domain(domain);
                condition.iter().for_each(|condition| self.expr(condition));
                self.block(body);
            }
            StatementKind::Let { value, .. } => self.expr(value),
            StatementKind::Send { channel, values } => {
                self.target(channel);
                values.iter().for_each(|value| self.expr(value));
            }
            StatementKind::Receive { channel, patterns, .. } => {
                self.expr(channel);
                patterns.iter().for_each(|pattern| self.pattern(pattern));
            }
            StatementKind::Change { set, element, .. } => {
                self.target(set);
                self.expr(element);
            }
        }
    }

    fn domain(&mut self, domain: &'a Domain) {
        match domain {
            Domain::Range(range) => self.range(range),
            Domain::Family(family) => drop(self.reads.insert(&family.name)),
            Domain::Set(set) => self.expr(set),
        }
    }

    fn pattern(&mut self, pattern: &'a Pattern) {
        match pattern {
            Pattern::Into(target) => self.target(target),
            Pattern::Struct { name, fields, .. } => {
                self.reads.insert(&name.name);
                fields.iter().for_each(|field| self.pattern(&field.pattern));
            }
            Pattern::Equal(value) => self.expr(value),
            Pattern::Ignored(_) => {}
        }
    }

    fn assumptions(&mut self, assumptions: &'a Assumptions) {
        match assumptions {
            Assumptions::One(item) => self.fairness(item),
            Assumptions::All(parts) | Assumptions::Either(parts) => {
                parts.iter().for_each(|part| self.assumptions(part));
            }
        }
    }

    fn fairness(&mut self, item: &'a FairnessItem) {
        match &item.kind {
            FairnessKind::Progress => {}
            FairnessKind::Set(name) => drop(self.reads.insert(&name.name)),
            FairnessKind::WeakPredicate(expr) => self.expr(expr),
            FairnessKind::StrongPredicates { condition, response } => {
                self.expr(condition);
                self.expr(response);
            }
            FairnessKind::Every(pattern)
            | FairnessKind::Weak { process: pattern, .. }
            | FairnessKind::Strong { process: pattern, .. } => {
                self.reads.insert(&pattern.name.name);
                if let Some(PatternIndex::One(index)) = &pattern.index {
                    self.expr(index);
                }
            }
        }
    }
}
