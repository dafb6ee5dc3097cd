//! Values, expressions, formulas and places in the user's names.
//!
//! In: parts of a Model. Out: text that reads as the user wrote it and, where the language can say it, means the same when
//! it is read back: conversions that lowering made explicit disappear again, operators get the parentheses that they need.

mod formula;

mod sets;

pub use sets::SetTerm;

use crate::Model;
use crate::control::TextOwner;
use crate::eval::State;
use crate::expr::{Access, BinaryOp, Binding, Domain, Expr, ExprKind, Quantified, Quantifier, Whose};
use crate::machine::MachineOp;
use crate::process::{FamilyId, ProcessId};
use crate::property::Formula;
use crate::types::{ScalarType, Type};
use crate::value::Value;
use crate::variable::{CellId, VarId, element_name};

/// A value as the user writes it: `true`, `3`, an enumeration's word, `none`. A process of the program's only indexed
/// family is shown by its index, any other by its name.
pub fn value(model: &Model, value: Value) -> String {
    match value {
        Value::Bool(truth) => truth.to_string(),
        Value::Int(number) => number.to_string(),
        Value::Enum(id, at) => model.enums[id].values[at as usize].clone(),
        Value::None => "none".to_string(),
        Value::Process(id) => {
            let process = &model.processes[id];
            match only_family(model) {
                Some(family) if family == process.family => process.index.to_string(),
                _ => process.name.clone(),
            }
        }
    }
}

/// The content of a variable as the user writes it: its names for numbers, where it has some.
pub fn content(model: &Model, var: VarId, value: Value) -> String {
    match value {
        Value::Int(number) => model.vars[var].shown.get(&number).cloned().unwrap_or_else(|| number.to_string()),
        other => self::value(model, other),
    }
}

/// The value whose position among those of its enumeration an expression finds, as indices of sets of them do; any other expression as it is.
fn chosen(position: &Expr) -> &Expr {
    match &position.kind {
        ExprKind::If(test, at, _) if matches!(at.kind, ExprKind::Const(Value::Int(_))) => match &test.kind {
            ExprKind::Binary(BinaryOp::Equal, value, constant)
                if matches!(constant.kind, ExprKind::Const(Value::Enum(..))) =>
            {
                value
            }
            _ => position,
        },
        _ => position,
    }
}

/// The content of a cell, likewise.
pub fn cell_content(model: &Model, cell: CellId, value: Value) -> String {
    content(model, model.cells[cell].var, value)
}

/// An expression without free bound variables.
pub fn expr(model: &Model, expr: &Expr) -> String {
    Printer::new(model).expr(expr)
}

/// A temporal formula without free bound variables.
pub fn formula(model: &Model, formula: &Formula) -> String {
    Printer::new(model).formula(formula)
}

/// The control location of a process: `P[0]@crit`, or `P[0]@14:5` at a place without a label.
pub fn standing(model: &Model, state: &State, process: ProcessId) -> String {
    format!("{}@{}", model.processes[process].name, model.places[state.place(process)].name)
}

/// A type as the user writes it.
pub fn ty(model: &Model, ty: &Type) -> String {
    match ty {
        Type::Scalar(scalar) => scalar_type(model, *scalar),
        Type::Array { element, len } => format!("[{}; {len}]", self::ty(model, element)),
    }
}

fn scalar_type(model: &Model, ty: ScalarType) -> String {
    let pid = |family| match only_family(model) {
        Some(only) if only == family => "pid".to_string(),
        _ => format!("pid({})", model.families[family].name),
    };
    match ty {
        ScalarType::Bool => "bool".to_string(),
        ScalarType::Range { lo, hi } => format!("{lo}..={hi}"),
        ScalarType::Enum(id) => model.enums[id].name.clone(),
        ScalarType::Pid(family) => pid(family),
        ScalarType::PidOrNone(family) => pid(family) + "?",
        ScalarType::Semaphore { max: 1 } => "sem".to_string(),
        ScalarType::Semaphore { max } => format!("sem({max})"),
        ScalarType::Lock => "lock".to_string(),
    }
}

/// The one family with an index, which names without `in` mean; `None` where there are several or none.
fn only_family(model: &Model) -> Option<FamilyId> {
    let mut indexed = model.families.entries().filter(|(_, family)| family.index.is_some());
    indexed.next().filter(|_| indexed.next().is_none()).map(|(id, _)| id)
}

/// How tightly the parts of the text bind, loosest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum BindingLevel {
    /// A quantifier or `if then else`, which reach as far right as they can.
    Open,
    /// `~>`, `until` and the like, `=>`, `<=>`: these neither mix nor chain.
    Arrow,
    Or,
    And,
    Comparison,
    Sum,
    Product,
    Unary,
    Atom,
}

/// Prints expressions with given texts for the variables that are free in them.
///
/// With values as texts it shows one instance of a quantifier: `P[0]@crit && P[1]@crit`.
#[derive(Clone, Debug)]
pub struct Printer<'m> {
    model: &'m Model,
    /// What to show for the process that evaluates; `None` is its index variable, and `@crit` for its places.
    me: Option<ProcessId>,
    /// What to show for the bound variables, outermost first.
    bound: Vec<BoundName>,
}

/// What is shown for a bound variable.
#[derive(Clone, Debug)]
enum BoundName {
    /// Its name, and the family that it ranges over, if it does.
    Name(String, Option<FamilyId>),
    /// Its value in one instance.
    Value(Value),
}

impl<'m> Printer<'m> {
    /// Prints for no process in particular, with no variable bound.
    pub fn new(model: &'m Model) -> Self {
        Printer { model, me: None, bound: Vec::new() }
    }

    /// Shows this process where the expression speaks of the one that evaluates it.
    pub fn as_process(mut self, me: ProcessId) -> Self {
        self.me = Some(me);
        self
    }

    /// Binds one more variable, by its name.
    pub fn bind_name(mut self, binding: &Binding) -> Self {
        self.bind(binding);
        self
    }

    /// Binds one more variable, to a value.
    pub fn bind_value(mut self, value: Value) -> Self {
        self.bound.push(BoundName::Value(value));
        self
    }

    /// The expression as text.
    pub fn expr(&mut self, expr: &Expr) -> String {
        self.at_level(expr).1
    }

    /// An access as text: `level[i]`, `P[k].x`; of a lock, the lock itself.
    pub fn access(&mut self, access: &Access) -> String {
        let owner = match &access.whose {
            Whose::Of(who) => self.process(who) + ".",
            Whose::Shared | Whose::Mine | Whose::Frame => String::new(),
        };
        let indices: Vec<String> = access.indices.iter().map(|index| self.expr(index)).collect();
        format!("{owner}{}", self.model.vars[access.var].element(&indices))
    }

    /// `k in seen`, of an element of the array that a set is.
    fn membership(&mut self, access: &Access) -> (BindingLevel, String) {
        let Some(element) = access.indices.last() else { return (BindingLevel::Atom, self.access(access)) };
        let names = self.model.vars[access.var].look.elements().unwrap_or_default();
        let element = match &element.kind {
            ExprKind::Const(Value::Int(at)) if !names.is_empty() => element_name(names, *at as usize),
            _ if !names.is_empty() => self.tighter(chosen(element), BindingLevel::Sum),
            _ => self.tighter(element, BindingLevel::Sum),
        };
        (BindingLevel::Comparison, format!("{element} in {}", self.set(access)))
    }

    fn bind(&mut self, binding: &Binding) {
        let family = match binding.domain {
            Domain::Family(family) => Some(family),
            _ => None,
        };
        self.bound.truncate(binding.var.0 as usize);
        self.bound.push(BoundName::Name(binding.name.clone(), family));
    }

    fn at_level(&mut self, expr: &Expr) -> (BindingLevel, String) {
        match &expr.kind {
            ExprKind::Const(Value::Int(number)) if *number < 0 => (BindingLevel::Unary, number.to_string()),
            ExprKind::Const(constant) => (BindingLevel::Atom, value(self.model, *constant)),
            ExprKind::Parameter(id) => (BindingLevel::Atom, self.model.parameters[*id].name.clone()),
            ExprKind::Myself => (BindingLevel::Atom, self.myself()),
            ExprKind::Bound(var) => match self.bound.get(var.0 as usize) {
                Some(BoundName::Name(name, _)) => (BindingLevel::Atom, name.clone()),
                Some(BoundName::Value(Value::Int(number))) if *number < 0 => (BindingLevel::Unary, number.to_string()),
                Some(BoundName::Value(known)) => (BindingLevel::Atom, value(self.model, *known)),
                None => (BindingLevel::Atom, format!("_{}", var.0)),
            },
            ExprKind::Read(access) if self.model.vars[access.var].look.elements().is_some() => self.membership(access),
            ExprKind::Read(access) => {
                let is_lock = self.model.vars[access.var].ty.scalar() == ScalarType::Lock;
                (BindingLevel::Atom, self.access(access) + if is_lock { ".owner" } else { "" })
            }
            ExprKind::At { who, labels, .. } => (BindingLevel::Atom, self.standing_at(who, labels, expr)),
            ExprKind::Not(inner) => (BindingLevel::Unary, format!("!{}", self.tighter(inner, BindingLevel::Unary))),
            ExprKind::Negate(inner) => (BindingLevel::Unary, format!("-{}", self.tighter(inner, BindingLevel::Atom))),
            ExprKind::Binary(op @ (BinaryOp::Min | BinaryOp::Max), left, right) => {
                (BindingLevel::Atom, format!("{}({}, {})", symbol(*op), self.expr(left), self.expr(right)))
            }
            // Languages disagree on how tightly these bind.
            ExprKind::Binary(BinaryOp::Machine(op), left, right)
                if level(BinaryOp::Machine(*op)) == BindingLevel::Atom =>
            {
                let (left, right) = (self.tighter(left, BindingLevel::Atom), self.tighter(right, BindingLevel::Atom));
                (BindingLevel::Atom, format!("({left} {} {right})", op.symbol()))
            }
            ExprKind::Binary(op, left, right) => {
                let level = level(*op);
                if level == BindingLevel::Comparison
                    && let Some(text) = self.compared_by_name(*op, left, right)
                {
                    return (level, text);
                }
                // Arrows and comparisons do not chain; the others associate to the left.
                let chains = !matches!(level, BindingLevel::Arrow | BindingLevel::Comparison);
                let left = if chains { self.tighter(left, level) } else { self.tighter(left, above(level)) };
                (level, format!("{left} {} {}", symbol(*op), self.tighter(right, above(level))))
            }
            ExprKind::If(test, yes, no) => {
                let (test, yes) = (self.tighter(test, BindingLevel::Arrow), self.tighter(yes, BindingLevel::Arrow));
                (BindingLevel::Open, format!("if {test} then {yes} else {}", self.expr(no)))
            }
            ExprKind::Quantified(quantified) => self.quantified(quantified),
            ExprKind::IndexOf(inner) => match self.known_process(inner) {
                Some(id) => (BindingLevel::Atom, self.model.processes[id].index.to_string()),
                None => self.at_level(inner),
            },
            ExprKind::ToProcess(_, inner) => self.at_level(inner),
        }
    }

    /// A variable compared with one of the numbers that it has a name for.
    fn compared_by_name(&mut self, op: BinaryOp, left: &Expr, right: &Expr) -> Option<String> {
        let name = |read: &Expr, constant: &Expr| match (&read.kind, &constant.kind) {
            (ExprKind::Read(access), ExprKind::Const(Value::Int(number))) => {
                self.model.vars[access.var].shown.get(number).cloned()
            }
            _ => None,
        };
        let (left_name, right_name) = (name(right, left), name(left, right));
        let (left, right) = match (left_name, right_name) {
            (None, None) => return None,
            (Some(name), _) => (name, self.expr(right)),
            (None, Some(name)) => (self.expr(left), name),
        };
        Some(format!("{left} {} {right}", symbol(op)))
    }

    /// The text, in parentheses if it binds less tightly than `least`.
    fn tighter(&mut self, expr: &Expr, least: BindingLevel) -> String {
        parenthesised(self.at_level(expr), least)
    }

    /// A set without the element that an access ends in.
    fn set(&mut self, access: &Access) -> String {
        let outer = access.indices.split_last().map_or(&[][..], |(_, outer)| outer);
        self.access(&Access { indices: outer.to_vec(), ..access.clone() })
    }

    fn set_term(&mut self, term: &SetTerm<'_>) -> (BindingLevel, String) {
        match term {
            SetTerm::Size(set) => (BindingLevel::Atom, format!("size({})", self.set(set))),
            SetTerm::Empty(set) => (BindingLevel::Atom, format!("empty({})", self.set(set))),
            SetTerm::Same(one, other) => {
                (BindingLevel::Comparison, format!("{} == {}", self.set(one), self.set(other)))
            }
            SetTerm::Is(set, elements) => {
                let elements: Vec<String> = elements.iter().map(|element| self.expr(element)).collect();
                (BindingLevel::Comparison, format!("{} == {{{}}}", self.set(set), elements.join(", ")))
            }
        }
    }

    fn quantified(&mut self, quantified: &Quantified) -> (BindingLevel, String) {
        if let Some(term) = SetTerm::of(self.model, quantified) {
            return self.set_term(&term);
        }
        let outer = self.bound.clone();
        let binders = self.binders(&quantified.bindings, quantified.filter.as_ref());
        let body = match &quantified.filter {
            Some(filter) if !says_distinct(filter) => {
                let arrow = if quantified.quantifier == Quantifier::Forall { "=>" } else { "&&" };
                format!("({}) {arrow} ({})", self.expr(filter), self.expr(&quantified.body))
            }
            _ => self.expr(&quantified.body),
        };
        self.bound = outer;
        match quantified.quantifier {
            Quantifier::Forall => (BindingLevel::Open, format!("forall {binders}: {body}")),
            Quantifier::Exists => (BindingLevel::Open, format!("exists {binders}: {body}")),
            Quantifier::Count => (BindingLevel::Atom, format!("count({binders}: {body})")),
        }
    }

    /// Binds the variables and gives the text between the quantifier and the colon.
    fn binders(&mut self, bindings: &[Binding], filter: Option<&Expr>) -> String {
        let mut domains = Vec::new();
        for binding in bindings {
            domains.push(self.domain(&binding.domain));
            self.bind(binding);
        }
        let distinct = filter.filter(|filter| says_distinct(filter));
        if let (Some(distinct), Some(domain)) = (distinct, domains.first()) {
            return self.expr(distinct) + domain;
        }
        let named: Vec<String> =
            bindings.iter().zip(domains).map(|(binding, domain)| binding.name.clone() + &domain).collect();
        named.join(", ")
    }

    /// ` in …`, or nothing where the program's one family is meant.
    fn domain(&mut self, domain: &Domain) -> String {
        match domain {
            Domain::Family(family) if only_family(self.model) == Some(*family) => String::new(),
            Domain::Family(family) => format!(" in {}", self.model.families[*family].name),
            Domain::Range(lo, hi) => {
                format!(" in {}..={}", self.tighter(lo, BindingLevel::Sum), self.tighter(hi, BindingLevel::Sum))
            }
            Domain::Enum(id) => format!(" in {}", self.model.enums[*id].name),
        }
    }

    /// The process that evaluates, or its index variable; `self` where families call theirs differently.
    fn myself(&self) -> String {
        if let Some(me) = self.me {
            return value(self.model, Value::Process(me));
        }
        let mut names = self.model.families.iter().filter_map(|family| Some(&family.index.as_ref()?.name));
        match names.next() {
            Some(name) if names.all(|other| other == name) => name.clone(),
            _ => "self".to_string(),
        }
    }

    fn standing_at(&mut self, who: &Expr, labels: &[String], at: &Expr) -> String {
        let labels = match labels {
            [one] => one.clone(),
            several => format!("{{{}}}", several.join(", ")),
        };
        match (&who.kind, self.me) {
            (ExprKind::Myself, None) => format!("@{labels}"),
            _ => {
                let family = self.family(who).or_else(|| self.family_of_places(at));
                format!("{}@{labels}", self.process_of(who, family))
            }
        }
    }

    fn process(&mut self, who: &Expr) -> String {
        let family = self.family(who);
        self.process_of(who, family)
    }

    /// A process as the owner of something: `P[i]`, `Monitor`.
    fn process_of(&mut self, who: &Expr, family: Option<FamilyId>) -> String {
        if let Some(id) = self.known_process(who) {
            return self.model.processes[id].name.clone();
        }
        match family.or_else(|| only_family(self.model)).map(|family| &self.model.families[family]) {
            Some(family) if family.index.is_none() => family.name.clone(),
            Some(family) => format!("{}[{}]", family.name, self.expr(who)),
            None => self.expr(who),
        }
    }

    /// The process that the expression names, where that does not depend on the state.
    fn known_process(&self, who: &Expr) -> Option<ProcessId> {
        match &who.kind {
            ExprKind::Const(Value::Process(id)) => Some(*id),
            ExprKind::Myself => self.me,
            ExprKind::Bound(var) => match self.bound.get(var.0 as usize) {
                Some(BoundName::Value(Value::Process(id))) => Some(*id),
                _ => None,
            },
            ExprKind::ToProcess(family, inner) => match &inner.kind {
                ExprKind::Const(Value::Int(index)) => self.model.families[*family].process_at(*index),
                _ => self.known_process(inner),
            },
            _ => None,
        }
    }

    /// The family of which the expression names a process, if that can be seen.
    fn family(&self, who: &Expr) -> Option<FamilyId> {
        match &who.kind {
            ExprKind::Bound(var) => match self.bound.get(var.0 as usize) {
                Some(BoundName::Name(_, family)) => *family,
                _ => None,
            },
            ExprKind::ToProcess(family, _) => Some(*family),
            ExprKind::Read(access) => match self.model.vars[access.var].ty.scalar() {
                ScalarType::Pid(family) | ScalarType::PidOrNone(family) => Some(family),
                _ => None,
            },
            _ => None,
        }
    }

    fn family_of_places(&self, at: &Expr) -> Option<FamilyId> {
        let ExprKind::At { places, .. } = &at.kind else { return None };
        places.iter().find_map(|&place| match self.model.places[place].scope {
            TextOwner::Family(family) => Some(family),
            TextOwner::Procedure(_) => None,
        })
    }
}

fn parenthesised((level, text): (BindingLevel, String), least: BindingLevel) -> String {
    if level < least { format!("({text})") } else { text }
}

/// Whether a filter is `i != j`, which the language writes before the colon.
fn says_distinct(filter: &Expr) -> bool {
    let is_bound = |side: &Expr| matches!(side.kind, ExprKind::Bound(_) | ExprKind::Myself);
    match &filter.kind {
        ExprKind::Binary(BinaryOp::NotEqual, left, right) => is_bound(left) && is_bound(right),
        _ => false,
    }
}

fn level(op: BinaryOp) -> BindingLevel {
    match op {
        BinaryOp::Implies | BinaryOp::Iff => BindingLevel::Arrow,
        BinaryOp::Or => BindingLevel::Or,
        BinaryOp::And => BindingLevel::And,
        BinaryOp::Equal | BinaryOp::NotEqual => BindingLevel::Comparison,
        BinaryOp::Less | BinaryOp::LessEqual | BinaryOp::Greater | BinaryOp::GreaterEqual => BindingLevel::Comparison,
        BinaryOp::Add | BinaryOp::Subtract => BindingLevel::Sum,
        BinaryOp::Multiply | BinaryOp::Divide | BinaryOp::Remainder => BindingLevel::Product,
        BinaryOp::Machine(MachineOp::Quotient | MachineOp::Rest) => BindingLevel::Product,
        BinaryOp::Min | BinaryOp::Max | BinaryOp::Machine(_) => BindingLevel::Atom,
    }
}

/// The next tighter level.
fn above(level: BindingLevel) -> BindingLevel {
    match level {
        BindingLevel::Open => BindingLevel::Arrow,
        BindingLevel::Arrow => BindingLevel::Or,
        BindingLevel::Or => BindingLevel::And,
        BindingLevel::And => BindingLevel::Comparison,
        BindingLevel::Comparison => BindingLevel::Sum,
        BindingLevel::Sum => BindingLevel::Product,
        BindingLevel::Product => BindingLevel::Unary,
        BindingLevel::Unary | BindingLevel::Atom => BindingLevel::Atom,
    }
}

/// The operator in the text.
pub fn symbol(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::And => "&&",
        BinaryOp::Or => "||",
        BinaryOp::Implies => "=>",
        BinaryOp::Iff => "<=>",
        BinaryOp::Equal => "==",
        BinaryOp::NotEqual => "!=",
        BinaryOp::Less => "<",
        BinaryOp::LessEqual => "<=",
        BinaryOp::Greater => ">",
        BinaryOp::GreaterEqual => ">=",
        BinaryOp::Add => "+",
        BinaryOp::Subtract => "-",
        BinaryOp::Multiply => "*",
        BinaryOp::Divide => "/",
        BinaryOp::Remainder => "%",
        BinaryOp::Min => "min",
        BinaryOp::Max => "max",
        BinaryOp::Machine(op) => op.symbol(),
    }
}
