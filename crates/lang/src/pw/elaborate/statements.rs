//! Statements and blocks.

use base::{Diagnostic, Span};

use super::{Elaborator, exits, names};
use crate::codes::check as code;
use crate::pw::ast::{
    Assigned, BinaryOp, Block, Domain, EnumDecl, Expr, ExprKind, Ident, Quantifier, Statement, StatementKind, Type,
    TypeKind, UnaryOp,
};

/// A hidden variable that remembers a value to the end of a block.
struct Kept {
    variable: Expr,
    value: Expr,
}

/// A block whose rest uses a remembered value, which is forgotten at every end of it.
fn remembered((mut statements, kept, mut rest): (Vec<Statement>, Kept, Block), span: Span) -> Block {
    statements.push(names::assign(kept.variable.clone(), kept.value, span));
    let forget = StatementKind::Assign { targets: vec![kept.variable], values: vec![Assigned::First(span)] };
    let forget = names::statement(forget, span);
    exits::before_exits(&mut rest, &forget);
    statements.append(&mut rest.statements);
    statements.push(forget);
    Block { statements, span: rest.span }
}

/// Whether a variable of this type is one value that can be stored in another one.
fn is_single(ty: &Type) -> bool {
    matches!(ty.kind, TypeKind::Bool | TypeKind::Range(_) | TypeKind::Pid { .. } | TypeKind::Named(_))
}

/// Whether an expression is true or false, whatever its variables are, and stands in the present state.
fn is_truth(expr: &Expr) -> bool {
    use BinaryOp::{And, Equal, Greater, GreaterEqual, Iff, Implies, Less, LessEqual, Or, Unequal, Xor};
    match &expr.kind {
        ExprKind::Bool(_) | ExprKind::In { .. } => true,
        ExprKind::Unary { op, .. } => *op == UnaryOp::Not,
        ExprKind::Binary { op, .. } => {
            matches!(op, And | Or | Xor | Iff | Implies | Equal | Unequal | Less | LessEqual | Greater | GreaterEqual)
        }
        ExprKind::Quantified { quantifier, .. } => matches!(quantifier, Quantifier::ForAll | Quantifier::Exists),
        _ => false,
    }
}

impl Elaborator<'_> {
    /// A block; `in_step` inside `atomic`.
    pub(super) fn block(&mut self, block: &Block, in_step: bool) -> Block {
        let n_lets = self.lets.len();
        let mut statements = Vec::new();
        for (at, statement) in block.statements.iter().enumerate() {
            if let (StatementKind::Let { name, value }, true) = (&statement.kind, in_step) {
                let rest = &block.statements[at + 1..];
                let Some(kept) = self.bind(name, value, rest) else { continue };
                let rest = self.block(&Block { statements: rest.to_vec(), span: block.span }, true);
                self.lets.truncate(n_lets);
                return remembered((statements, kept, rest), name.span);
            }
            let kind = self.statement(statement, in_step);
            statements.push(Statement { kind, ..statement.clone() });
        }
        self.lets.truncate(n_lets);
        Block { statements, span: block.span }
    }

    /// `let x = e;`: the name stands for `e`. Where `e` is a variable, or a test, that changes before the end of the block, the name stands for a hidden
    /// variable that remembers its value; reports another `e` that does not stay what it is.
    fn bind(&mut self, name: &Ident, written: &Expr, rest: &[Statement]) -> Option<Kept> {
        let (mut read, mut changed) = (Vec::new(), Vec::new());
        let value = self.expr(written);
        names::mentioned(&value, &mut read);
        rest.iter().for_each(|statement| names::changed(statement, &mut changed));
        let roots: Vec<&str> = read.iter().map(|name| name.split('.').next().unwrap_or(name)).collect();
        if let Some(both) = changed.iter().find(|name| roots.contains(&name.as_str())) {
            let placed = self.place(written).map(|placed| placed.ty);
            let is_test = placed.is_none() && (is_truth(written) || is_truth(&value));
            let test = is_test.then_some(Type { kind: TypeKind::Bool, span: written.span });
            if let Some(ty) = placed.filter(is_single).or(test) {
                let hidden = format!("{}@{}", name.name, name.span.start);
                self.hide(Ident { name: hidden.clone(), span: name.span }, ty);
                let variable = names::name(hidden, name.span);
                self.lets.push((name.name.clone(), variable.clone()));
                return Some(Kept { variable, value });
            }
            let message =
                format!("`{}` stands for a value of `{both}`, which changes before the end of the block", name.name);
            let diagnostic = Diagnostic::error(code::BAD_LET, name.span, message);
            let named = names::name(both.clone(), name.span);
            let help = match self.place(&named).is_some_and(|placed| is_single(&placed.ty)) {
                true => format!("name `{both}` itself, as in `let old = {both};`, and compute with that"),
                false => {
                    let written = crate::pw::printer::expr_to_string(written);
                    format!(
                        "keep it in a variable of the process, as in `kept = {written};`, or name a test, as in `let was = {written} == 0;`"
                    )
                }
            };
            self.diagnostics.push(diagnostic.help(help));
        }
        self.lets.push((name.name.clone(), value));
        None
    }

    fn statement(&mut self, statement: &Statement, in_step: bool) -> StatementKind {
        let span = statement.span;
        match &statement.kind {
            StatementKind::Assign { targets, values } => self.assignment(targets, values, span),
            StatementKind::Await(expr) => self.wait(expr),
            StatementKind::Assert(expr) => StatementKind::Assert(self.expr(expr)),
            StatementKind::Acquire(target) => StatementKind::Acquire(self.expr(target)),
            StatementKind::Release(target) => StatementKind::Release(self.expr(target)),
            StatementKind::Call { target, procedure, arguments } => StatementKind::Call {
                target: target.as_ref().map(|target| self.expr(target)),
                procedure: procedure.clone(),
                arguments: self.passed(&procedure.name, arguments),
            },
            StatementKind::Return(value) => StatementKind::Return(value.as_ref().map(|value| self.expr(value))),
            StatementKind::If { condition, then, otherwise } => self.test(condition, then, otherwise.as_ref(), in_step),
            StatementKind::Either { branches } => {
                StatementKind::Either { branches: branches.iter().map(|branch| self.block(branch, in_step)).collect() }
            }
            StatementKind::While { condition, body } => self.repeated(condition, body, in_step),
            StatementKind::Loop(body) => StatementKind::Loop(self.block(body, in_step)),
            StatementKind::For { variable, range, body } => {
                let range = self.range(range);
                StatementKind::For { variable: variable.clone(), range, body: self.loop_body(variable, body, in_step) }
            }
            StatementKind::ForEach { variable, domain, body } => self.for_each(variable, domain, body, in_step),
            StatementKind::Atomic(body) => {
                let body = self.block(body, true);
                // Within a step the outermost `atomic` is the one that is left.
                if in_step { StatementKind::Atomic(body) } else { self.one_step(body, span) }
            }
            StatementKind::Guarded { branches, otherwise, word } => self.guarded((branches, otherwise), *word, in_step),
            StatementKind::Choose { variable, domain, condition, body } => {
                self.choose((variable, domain), (condition.as_ref(), body), span, in_step)
            }
            StatementKind::Send { channel, values } => self.send(channel, values, span),
            StatementKind::Receive { channel, patterns, keeps } => self.receive(channel, patterns, *keeps, span),
            StatementKind::Change { set, element, inserts } => self.change(set, element, *inserts, span),
            StatementKind::Skip
            | StatementKind::Idle
            | StatementKind::Goto(_)
            | StatementKind::Break
            | StatementKind::Continue
            | StatementKind::Let { .. } => statement.kind.clone(),
        }
    }

    /// A block with a constant that a loop counts with.
    fn loop_body(&mut self, variable: &Ident, body: &Block, in_step: bool) -> Block {
        self.refuse_capture(std::slice::from_ref(variable));
        self.bound.push(variable.name.clone());
        let body = self.block(body, in_step);
        self.bound.pop();
        body
    }

    /// The body of a loop that counts through the values of an enumeration: the name stands for the value at the counted position.
    fn valued_body(&mut self, variable: &Ident, values: &EnumDecl, body: &Block, in_step: bool) -> Block {
        self.refuse_capture(std::slice::from_ref(variable));
        let value = Self::value_at(values, &names::name(variable.name.clone(), variable.span));
        self.lets.push((variable.name.clone(), value));
        let body = self.block(body, in_step);
        self.lets.pop();
        body
    }

    /// `for k in P { … }`: for each index of the family; `for c in Color { … }`: for each value; `for k in s { … }`: for each possible element that is in the set when its turn comes.
    fn for_each(&mut self, variable: &Ident, domain: &Domain, body: &Block, in_step: bool) -> StatementKind {
        let domain = &self.values_of(domain);
        if let Domain::Range(range) = domain {
            let range = self.range(range);
            let body = self.loop_body(variable, body, in_step);
            return StatementKind::For { variable: variable.clone(), range, body };
        }
        let written = match domain {
            Domain::Family(name) => names::name(name.name.clone(), name.span),
            Domain::Set(set) => (**set).clone(),
            Domain::Range(range) => range.low.clone(),
        };
        if let Some(set) = self.set(&written) {
            let TypeKind::Set(element) = set.ty.kind.clone() else { return StatementKind::Skip };
            let Some(length) = self.n_elements(&element) else { return StatementKind::Skip };
            let span = variable.span;
            let range = names::range(names::number(0, span), self.expr(&length), span);
            // The test reads `k in s`, as the user wrote it.
            let condition = names::index(self.whole(&set), names::name(variable.name.clone(), span));
            let condition = Expr { span: span.to(written.span), ..condition };
            let then = match self.enum_of(&element) {
                Some(values) => self.valued_body(variable, values, body, in_step),
                None => self.loop_body(variable, body, in_step),
            };
            let test = StatementKind::If { condition, then, otherwise: None };
            let body = names::block(vec![names::statement(test, span)], body.span);
            return StatementKind::For { variable: variable.clone(), range, body };
        }
        if let Domain::Family(name) = domain
            && let Some(values) = self.enums.iter().find(|known| known.name.name == name.name).copied()
        {
            let span = variable.span;
            let range = names::range(names::number(0, span), names::number(values.values.len() as i64, span), span);
            let body = self.valued_body(variable, values, body, in_step);
            return StatementKind::For { variable: variable.clone(), range, body };
        }
        let family = match domain {
            Domain::Family(name) => self.indices.iter().find(|(known, _)| *known == name.name),
            _ => None,
        };
        let Some((_, index)) = family else {
            let message = "a loop goes through numbers, the processes of a family, the values of an enumeration, or the elements of a set";
            let diagnostic = Diagnostic::error(code::BAD_SET, written.span, message);
            let end = crate::pw::printer::expr_to_string(&written);
            self.diagnostics.push(diagnostic.help(format!("write `for {} in 0..<{end} {{ … }}`", variable.name)));
            return StatementKind::Skip;
        };
        let range = self.range(&index.range);
        StatementKind::For { variable: variable.clone(), range, body: self.loop_body(variable, body, in_step) }
    }

    /// What a call passes: a struct field by field.
    fn passed(&mut self, procedure: &str, arguments: &[Expr]) -> Vec<Expr> {
        let Some(types) = self.procedures.get(procedure).filter(|types| types.len() == arguments.len()).cloned() else {
            return self.exprs(arguments);
        };
        let mut passed = Vec::new();
        for (argument, ty) in arguments.iter().zip(&types) {
            match self.struct_of(ty) {
                Some(_) => passed.extend(self.split(argument, ty).unwrap_or_default()),
                None => passed.push(self.expr(argument)),
            }
        }
        passed
    }

    pub(super) fn assignment(&mut self, targets: &[Expr], values: &[Assigned], span: Span) -> StatementKind {
        if let ([target], [Assigned::Value(value)]) = (targets, values) {
            if let Some(kind) = self.set_assigned(target, value, span) {
                return kind;
            }
            if let ExprKind::Apply { name, arguments } = &value.kind
                && let Some(kind) = self.cas_assigned(target, name, arguments, span)
            {
                return kind;
            }
        }
        let (mut all_targets, mut all_values) = (Vec::new(), Vec::new());
        for (target, value) in targets.iter().zip(values) {
            let placed = self.place(target);
            let Some(placed) = placed.filter(|placed| self.struct_of(&placed.ty).is_some()) else {
                all_targets.push(self.expr(target));
                all_values.push(match value {
                    Assigned::Value(value) => Assigned::Value(self.expr(value)),
                    Assigned::Any { range, span } => {
                        Assigned::Any { range: range.as_ref().map(|range| self.range(range)), span: *span }
                    }
                    Assigned::First(span) => Assigned::First(*span),
                });
                continue;
            };
            let ty = placed.ty.clone();
            let leaves = self.leaves(&ty);
            if leaves.iter().any(|leaf| matches!(leaf.ty.kind, TypeKind::Array { .. })) {
                let message = "a struct with arrays or sets inside is not assigned as a whole";
                self.diagnostics.push(Diagnostic::error(code::BAD_STRUCT, target.span, message));
                continue;
            }
            let parts: Vec<Assigned> = match value {
                Assigned::Value(value) => {
                    self.split(value, &ty).unwrap_or_default().into_iter().map(Assigned::Value).collect()
                }
                other => vec![other.clone(); leaves.len()],
            };
            for (leaf, part) in leaves.iter().zip(parts) {
                all_targets.push(self.part(&placed, leaf));
                all_values.push(part);
            }
        }
        if all_targets.is_empty() {
            return StatementKind::Skip;
        }
        StatementKind::Assign { targets: all_targets, values: all_values }
    }

    /// `s = {};`, `s = {a, b};` and `s = t;` for sets.
    fn set_assigned(&mut self, target: &Expr, value: &Expr, span: Span) -> Option<StatementKind> {
        let set = self.set(target)?;
        let k = || names::name("k@", span);
        let (content, elements) = match (&value.kind, self.set(value)) {
            (ExprKind::Set(elements), _) => (names::truth(false, span), self.exprs(elements)),
            (_, Some(other)) if !self.differ(&set.ty, &other.ty) => (names::index(self.whole(&other), k()), Vec::new()),
            _ => {
                let message = "a set of the same type is needed here: another one, or `{…}`";
                let diagnostic = Diagnostic::error(code::BAD_SET, value.span, message);
                self.diagnostics.push(
                    diagnostic.help("one element is put in with `insert s(k);`, and taken out with `remove s(k);`"),
                );
                return Some(StatementKind::Skip);
            }
        };
        let TypeKind::Set(element) = &set.ty.kind else { return None };
        let length = self.n_elements(&element.clone())?;
        let variable = Ident { name: "k@".to_owned(), span };
        let whole = self.whole(&set);
        let body = names::block(vec![names::assign(names::index(whole.clone(), k()), content, span)], span);
        let range = names::range(names::number(0, span), length, span);
        let mut statements = vec![names::statement(StatementKind::For { variable, range, body }, span)];
        let elements = elements.into_iter().map(|element| self.position(&set.ty, element)).collect::<Vec<_>>();
        let insert = |at| names::assign(names::index(whole.clone(), at), names::truth(true, span), span);
        statements.extend(elements.into_iter().map(insert));
        Some(StatementKind::Atomic(names::block(statements, span)))
    }

    /// `insert s(k);` and `remove s(k);`
    fn change(&mut self, set: &Expr, element: &Expr, inserts: bool, span: Span) -> StatementKind {
        let Some(placed) = self.set(set) else {
            let diagnostic = Diagnostic::error(code::BAD_SET, set.span, "this is no set");
            self.diagnostics.push(diagnostic.help("a set is declared as `seen: set of pid`"));
            return StatementKind::Skip;
        };
        let element = self.expr(element);
        let target = self.member(&placed, element);
        let values = vec![Assigned::Value(names::truth(inserts, span))];
        StatementKind::Assign { targets: vec![target], values }
    }
}
