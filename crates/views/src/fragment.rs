//! Which programs and properties views can speak of, and which line puts one outside.
//!
//! In: a Model. Out: its layout, or the first reason why not, in the user's words. A program is inside if its processes are
//! interchangeable (`model::template::symmetric`), every array whose length is the number of processes has elements *for* processes, no
//! quantifier over the processes stands inside another one, and nothing counts them: then a step, and whatever a property says,
//! depends on a few processes only.

use model::Model;
use model::control::{Stmt, StmtKind};
use model::expr::{Access, Expr, ExprKind, Quantifier, Whose};
use model::process::FamilyId;
use model::property::PropertyKind;
use model::size::{ParameterId, parameters_of};
use model::symmetry::{expr_asymmetries_beside, process_dimensions};
use model::template::{FragmentReason, symmetric_beside};
use model::types::ScalarType;
use model::variable::{Init, Var, VarId};
use model::visit::{each_part, each_text};

use crate::few::without_counts;
use crate::layout::{Layout, is_over, is_own};
use crate::race;

/// A program that views can speak of.
#[derive(Debug)]
pub struct Fragment {
    /// What configurations consist of.
    pub layout: Layout,
    /// The parameter that is the family's size.
    pub parameter: ParameterId,
}

/// What the front-end calls the numbers that a `sum`, `min` or `max` counts through.
const LEVELS: &str = "#";

/// At most so many processes, the first ones, may be named.
pub const MOST_NAMED: usize = 2;

/// The program as views see it.
///
/// # Errors
/// The first reason why they cannot.
pub fn fragment(model: &Model) -> Result<Fragment, FragmentReason> {
    fragment_beside(model, 0)
}

/// The program as views see it where the text names so many processes, the first ones of the family: they are not like the others.
///
/// # Errors
/// The first reason why they cannot.
pub fn fragment_beside(model: &Model, n_named: usize) -> Result<Fragment, FragmentReason> {
    let first = |reasons: Vec<FragmentReason>| {
        let reason = reasons.into_iter().next().unwrap_or_else(|| plain("it is outside the fragment"));
        advice(model, &reason).unwrap_or(reason)
    };
    let symmetric = symmetric_beside(model, n_named).map_err(first)?;
    let family = symmetric.sized.family;
    if model.template.is_none() {
        return Err(plain("it is asked of one size alone"));
    }
    if model.families[family].count() < 2 {
        return Err(plain("with one process alone it does not show whether processes are alike"));
    }
    if model.families[family].count() < n_named {
        return Err(plain("it has fewer processes than are named"));
    }
    if let Some(channel) = model.channels.iter().next() {
        return Err(at(channel.span, format!("`{}` is a channel, on which two processes step together", channel.name)));
    }
    if model.goes_on() || model.has_when_nobody() {
        return Err(plain("a step may be a chain of several, or need that nobody else can move"));
    }
    arrays(model, family, symmetric.sized.parameter)?;
    quantifiers(model, family)?;
    let mut layout = Layout::new(model, family, symmetric.is_ordered);
    layout.named = model.families[family].processes().take(n_named).collect();
    Ok(Fragment { layout, parameter: symmetric.sized.parameter })
}

/// What to write instead, where a reason has something that is said in another way as well.
fn advice(model: &Model, reason: &FragmentReason) -> Option<FragmentReason> {
    number_of_a_process(model, reason)
        .or_else(|| total_of_one_size(model, reason))
        .or_else(|| listed_elements(model, reason))
}

/// A `sum`, `min` or `max` of several values is a count up to a number that was found out for one size.
fn total_of_one_size(model: &Model, reason: &FragmentReason) -> Option<FragmentReason> {
    let mut is_total = false;
    each_text(model.template(), &mut |expr| {
        each_part(expr, &mut |part| {
            if let ExprKind::Quantified(quantified) = &part.kind {
                is_total |= part.span == reason.span && quantified.bindings.iter().any(|one| one.name == LEVELS);
            }
        });
    });
    let text =
        "a `sum`, `min` or `max` of several values is made for one size: go through them with a loop in `atomic`";
    is_total.then(|| at(reason.span, text))
}

/// Elements that are listed are those of one size; a process of which its own element is told is there at every size.
fn listed_elements(model: &Model, reason: &FragmentReason) -> Option<FragmentReason> {
    let template = model.template();
    let is_it = |(id, var): &(VarId, &Var)| {
        let is_sized = template.forms.lengths.keys().any(|(of, _)| of == id);
        var.span == reason.span && is_sized && matches!(var.init, Init::Elements(_))
    };
    let (_, var) = template.vars.entries().find(is_it)?;
    let name = &var.name;
    Some(at(
        reason.span,
        format!("the elements of `{name}` are listed for each size anew: let each process set its own in a first step"),
    ))
}

/// What to write where a variable with numbers is used as a process: it may hold the process itself.
fn number_of_a_process(model: &Model, reason: &FragmentReason) -> Option<FragmentReason> {
    let template = model.template();
    let mut found = None;
    each_text(template, &mut |expr| {
        each_part(expr, &mut |part| {
            if part.span == reason.span
                && let ExprKind::ToProcess(family, inner) = &part.kind
                && let ExprKind::Read(access) = &inner.kind
            {
                found = Some((*family, access.var));
            }
        });
    });
    let (family, var) = found?;
    let declared = &template.vars[var];
    let ty = match template.families.len() {
        1 => "pid".to_owned(),
        _ => format!("pid({})", template.families[family].name),
    };
    let name = &declared.name;
    matches!(declared.ty.scalar(), ScalarType::Range { .. })
        .then(|| at(reason.span, format!("`{name}` is a number, and is used as a process: declare it as `{ty}`")))
}

/// What a property says about each reachable state, and how many processes it takes to violate it.
#[derive(Clone, Debug)]
pub enum Question {
    /// The expression is never this.
    Never {
        /// What is looked at.
        expr: Expr,
        /// The value that it must not have.
        value: bool,
        /// So many processes show it.
        witnesses: usize,
    },
    /// No step is a fault.
    NoFault,
    /// There is no state in which nobody has a step and somebody is stuck.
    NoDeadlock,
}

impl Question {
    /// The same without counts of processes of the family that are compared with small numbers.
    pub(crate) fn without_counts(self, family: FamilyId) -> Question {
        match self {
            Question::Never { expr, value, witnesses } => {
                Question::Never { expr: without_counts(&expr, family), value, witnesses }
            }
            other => other,
        }
    }
}

/// What a property asks of views.
///
/// # Errors
/// Why it is outside.
pub fn question(
    model: &Model,
    fragment: &Fragment,
    kind: &PropertyKind,
    template: &PropertyKind,
) -> Result<Question, FragmentReason> {
    let no_race = |model: &Model, var| {
        race::excluded(model, var).ok_or_else(|| plain("steps are more than one action of one process"))
    };
    let (expr, value) = match kind {
        PropertyKind::Invariant(expr) => (expr.clone(), false),
        PropertyKind::Reachable(expr) => (expr.clone(), true),
        PropertyKind::RaceFree(var) => (no_race(model, *var)?, false),
        PropertyKind::NoErrors => return Ok(Question::NoFault),
        PropertyKind::DeadlockFree => return Ok(Question::NoDeadlock),
        PropertyKind::Temporal(_) => return Err(plain("it is no question about states")),
    };
    let family = fragment.layout.family;
    let written = match template {
        PropertyKind::Invariant(written) | PropertyKind::Reachable(written) => Some(written.clone()),
        PropertyKind::RaceFree(var) => Some(no_race(model.template(), *var)?),
        _ => None,
    };
    let named = written.as_ref().map(parameters_of).unwrap_or_default();
    if let Some(written) = written.filter(|_| named.contains(&fragment.parameter)) {
        let name = &model.parameters[fragment.parameter].name;
        return Err(at(written.span, format!("the property uses `{name}` as a number")));
    }
    // A count is compared with a number that is written down, and not with what a parameter happens to be.
    let expr = if named.is_empty() { without_counts(&expr, family) } else { expr };
    if let Some(one) = expr_asymmetries_beside(model, family, fragment.layout.named.len(), &expr).first() {
        return Err(at(one.span, one.why.describe(model)));
    }
    look(model, family, &expr)?;
    let witnesses = n_witnesses(family, &expr);
    Ok(Question::Never { expr, value, witnesses })
}

/// How many processes it takes to show the values of all quantifiers over the family in an expression.
pub fn n_witnesses(family: FamilyId, expr: &Expr) -> usize {
    let mut n = 0;
    each_part(expr, &mut |part| {
        if let ExprKind::Quantified(quantified) = &part.kind {
            n += quantified.bindings.iter().filter(|binding| is_over(&binding.domain, family)).count();
        }
    });
    n
}

/// The same for the statements of a step, those of loops aside.
pub fn n_witnesses_of(family: FamilyId, body: &[Stmt]) -> usize {
    let of = |expr: &Expr| n_witnesses(family, expr);
    let named = |access: &Access| {
        let whose = if let Whose::Of(who) = &access.whose { of(who) } else { 0 };
        whose + access.indices.iter().map(of).sum::<usize>()
    };
    body.iter()
        .map(|statement| match &statement.kind {
            StmtKind::Assign(stores) => stores.iter().map(|(target, value)| named(target) + of(value)).sum(),
            StmtKind::AssignAny(target, range) => {
                named(target) + range.iter().map(|(lo, hi)| of(lo) + of(hi)).sum::<usize>()
            }
            StmtKind::Await(test) | StmtKind::Assert(test) => of(test),
            StmtKind::Acquire(target) | StmtKind::Release(target) => named(target),
            StmtKind::For(..) => 0,
            StmtKind::If(test, yes, no) => of(test) + n_witnesses_of(family, yes).max(n_witnesses_of(family, no)),
            StmtKind::Either(blocks) => blocks.iter().map(|block| n_witnesses_of(family, block)).max().unwrap_or(0),
        })
        .sum()
}

/// Every array with an element for each process is indexed by processes, in one dimension, and by no process of the family that keeps
/// it for itself.
fn arrays(model: &Model, family: FamilyId, parameter: ParameterId) -> Result<(), FragmentReason> {
    let dimensions = process_dimensions(model, family);
    let template = model.template();
    for &(var, dimension) in &dimensions {
        let declared = &model.vars[var];
        let name = &declared.name;
        if is_own(declared.storage, family) {
            return Err(at(declared.span, format!("with `{name}` each process keeps something about each other one")));
        }
        if dimensions.iter().filter(|(other, _)| *other == var).count() > 1
            || declared.ty.dimensions().len() <= dimension
        {
            return Err(at(declared.span, format!("`{name}` has an element for each two processes")));
        }
    }
    for (&(var, dimension), length) in &template.forms.lengths {
        if parameters_of(length).contains(&parameter) && !dimensions.contains(&(var, dimension)) {
            let declared = &model.vars[var];
            let name = &declared.name;
            return Err(at(
                declared.span,
                format!("the length of `{name}` depends on the number of processes, and no process indexes it"),
            ));
        }
    }
    Ok(())
}

fn quantifiers(model: &Model, family: FamilyId) -> Result<(), FragmentReason> {
    let mut found = Ok(());
    each_text(model, &mut |expr| {
        if found.is_ok() {
            found = look(model, family, expr);
        }
    });
    found
}

/// No counting, and no quantifier inside another one.
fn look(model: &Model, family: FamilyId, expr: &Expr) -> Result<(), FragmentReason> {
    let mut found = Ok(());
    each_part(expr, &mut |part| {
        let ExprKind::Quantified(quantified) = &part.kind else { return };
        let over = quantified.bindings.iter().any(|binding| is_over(&binding.domain, family));
        let inner = n_witnesses(family, &quantified.body)
            + quantified.filter.as_ref().map_or(0, |one| n_witnesses(family, one));
        if !over && inner == 0 || found.is_err() {
            return;
        }
        let name = &model.families[family].name;
        if quantified.quantifier == Quantifier::Count {
            found = Err(at(part.span, format!("the processes of `{name}` are counted")));
        }
        if inner > 0 {
            found = Err(at(part.span, format!("a quantifier over `{name}` stands inside another one")));
        }
        let mixed = quantified.bindings.iter().any(|binding| !is_over(&binding.domain, family));
        if mixed {
            found = Err(at(part.span, format!("a quantifier goes over `{name}` and something else")));
        }
    });
    found
}

fn plain(text: impl Into<String>) -> FragmentReason {
    FragmentReason { text: text.into(), span: base::Span::default() }
}

fn at(span: base::Span, text: impl Into<String>) -> FragmentReason {
    FragmentReason { text: text.into(), span }
}
