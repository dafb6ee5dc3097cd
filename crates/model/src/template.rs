//! The fragment test: which methods for every size a program's text allows, and what prevents them.
//!
//! In: a Model, of which the template is examined. Out: what a method for every size needs to know about the text, or the reasons
//! why the text is outside, each with its place and in the user's words. Three fragments: [`symmetric`], in which all processes of
//! the one family of size N are interchangeable (a loop over them in their order is a scan, which may be taken in any order: an
//! over-approximation), [`neighbours`], in which a process touches only what is at fixed distances from it, and [`tree`]. Only the program
//! is judged here; which properties a method can state is for the method.

mod branch;
mod index;
mod owner;
mod ring;

use std::collections::{BTreeMap, BTreeSet};

use base::Span;

use crate::Model;
use crate::control::LoopId;
use crate::expr::{BinaryOp, Domain, Expr, ExprKind};
use crate::print;
use crate::process::FamilyId;
use crate::size::{ParameterId, Size, depends_on_parameters, parameters_of};
use crate::symmetry::{AsymmetryKind, asymmetries_beside};
use crate::types::{ScalarType, Type};
use crate::value::Value;
use crate::variable::{Init, Role, VarId};
use crate::visit::{each_part, each_text};

pub use index::IndexTest;
pub use owner::owned_arrays;
pub use ring::{Neighbours, has_branches, neighbours, told_of_neighbours, told_of_tree, tree};

/// The one family whose size is the parameter, in a program that a method for every size can speak of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sized {
    /// The family.
    pub family: FamilyId,
    /// The parameter that is its size.
    pub parameter: ParameterId,
}

/// A program of interchangeable processes.
#[derive(Clone, Debug)]
pub struct Symmetric {
    /// The family, and what its size is.
    pub sized: Sized,
    /// Whether processes are compared by the order of their indices.
    pub is_ordered: bool,
    /// The loops that go through all processes of the family.
    pub scans: Vec<LoopId>,
    /// Variables that start with a particular process: a method lets them start with any.
    pub start_anywhere: BTreeSet<VarId>,
    /// Shared arrays that are parts of their owners' states.
    pub owned: BTreeSet<VarId>,
    /// The other parameters, which bound data.
    pub data: BTreeSet<ParameterId>,
}

/// Why a program is outside a fragment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FragmentReason {
    /// What prevents it, in the user's names.
    pub text: String,
    /// Its span in the text; empty where it is the program as a whole.
    pub span: Span,
}

impl FragmentReason {
    fn new(span: Span, text: impl Into<String>) -> Self {
        FragmentReason { text: text.into(), span }
    }
}

/// The one family whose size is a parameter, with an index that starts at 0.
///
/// # Errors
/// Why there is none, or why the program cannot be spoken of without its size.
pub fn sized_family(model: &Model) -> Result<Sized, Vec<FragmentReason>> {
    let model = model.template();
    let mut reasons = Vec::new();
    let mut found = None;
    for (id, family) in model.families.entries() {
        let name = &family.name;
        match &family.size {
            Size::One | Size::Fixed(_) => {}
            Size::Parameter(parameter) if found.is_none() => found = Some(Sized { family: id, parameter: *parameter }),
            Size::Parameter(_) => reasons.push(FragmentReason::new(
                family.span,
                format!("`{name}` is a second family whose size is a parameter"),
            )),
            Size::Linear(_) | Size::Computed(_) => {
                reasons.push(FragmentReason::new(
                    family.span,
                    format!("the size of `{name}` is computed from parameters, and is not a parameter itself"),
                ));
            }
        }
        let first = family.index.as_ref().map_or(0, |index| index.first);
        if model.forms.first_indices.contains_key(&id) || first != 0 && found.is_some_and(|sized| sized.family == id) {
            reasons.push(FragmentReason::new(family.span, format!("the indices of `{name}` do not start at 0")));
        }
    }
    if let Some(procedure) = model.procedures.iter().next() {
        reasons
            .push(FragmentReason::new(procedure.span, format!("there are procedures, such as `{}`", procedure.name)));
    }
    reasons.extend(not_spoken_of(model));
    reasons.extend(started_by_lists(model));
    reasons.extend(started_by_counting(model));
    if let Some(sized) = found.filter(|sized| model.forms.opaque.contains(&sized.parameter)) {
        let name = &model.parameters[sized.parameter].name;
        let text = format!("a constant is computed from `{name}` in a way that is not followed");
        reasons.push(FragmentReason::new(Span::default(), text));
    }
    match found {
        Some(sized) if reasons.is_empty() => Ok(sized),
        Some(_) => Err(reasons),
        None => {
            reasons.push(FragmentReason::new(Span::default(), "no family has a parameter for its size"));
            Err(reasons)
        }
    }
}

/// Arrays whose elements are listed for this size: what other sizes start with, the list does not say, be its elements equal or not.
fn started_by_lists(model: &Model) -> Vec<FragmentReason> {
    let is_listed = |id: &VarId| matches!(model.vars[*id].init, Init::Elements(_));
    let sized: BTreeSet<VarId> = model.forms.lengths.keys().map(|&(var, _)| var).collect();
    let named = |id: VarId| {
        let var = &model.vars[id];
        FragmentReason::new(var.span, format!("the elements of `{}` are listed for each size anew", var.name))
    };
    sized.into_iter().filter(is_listed).map(named).collect()
}

/// Variables that start with something that depends on how many processes there are, without naming it: a quantifier goes over a family of any size.
fn started_by_counting(model: &Model) -> Vec<FragmentReason> {
    fn is_sized(model: &Model, domain: &Domain) -> bool {
        matches!(domain, Domain::Family(family) if !model.families[*family].size.parameters().is_empty())
    }
    fn counts(model: &Model, init: &Init) -> bool {
        let mut found = false;
        match init {
            Init::First | Init::Any => {}
            Init::Elements(elements) => found = elements.iter().any(|element| counts(model, element)),
            Init::Fill(value) => each_part(value, &mut |part| {
                if let ExprKind::Quantified(quantified) = &part.kind {
                    found |= quantified.bindings.iter().any(|binding| is_sized(model, &binding.domain));
                }
            }),
        }
        found
    }
    let counted = model.vars.iter().filter(|var| counts(model, &var.init));
    counted
        .map(|var| FragmentReason::new(var.span, format!("what `{}` starts with counts processes", var.name)))
        .collect()
}

/// Actions that no method for every size follows.
fn not_spoken_of(model: &Model) -> Vec<FragmentReason> {
    let refused = model.actions.iter().filter_map(|action| {
        let why = match action {
            _ if action.goes_on => "this goes on with the next statement in the same step",
            _ if action.when_nobody => "this waits until nobody else can move",
            _ if action.has_patterns() => "this receives certain values only",
            _ => return None,
        };
        Some(FragmentReason::new(model.statements[action.statement].span, why))
    });
    refused.collect()
}

/// Whether all processes of the family of size N are interchangeable, and N is not used as a number.
///
/// # Errors
/// What distinguishes them, or what counts them.
pub fn symmetric(model: &Model) -> Result<Symmetric, Vec<FragmentReason>> {
    symmetric_beside(model, 0)
}

/// The same of all processes but the first so many, which the text may name.
///
/// # Errors
/// What distinguishes the others, or what counts them.
pub fn symmetric_beside(model: &Model, n_named: usize) -> Result<Symmetric, Vec<FragmentReason>> {
    let sized = sized_family(model)?;
    let model = model.template();
    let order = order_comparisons(model, sized.family);
    let mut start_anywhere = BTreeSet::new();
    let mut reasons = Vec::new();
    let found = asymmetries_beside(model, sized.family, n_named);
    for one in &found {
        match &one.why {
            AsymmetryKind::Order => {}
            AsymmetryKind::Number if order.contains(&one.span) => {}
            AsymmetryKind::Initial(var) if starts_with_a_process(model, sized.family, *var) => {
                start_anywhere.insert(*var);
            }
            // The initial value that names a process is reported once more as what it is.
            AsymmetryKind::Constant | AsymmetryKind::FromNumber if is_initial(model, one.span) => {}
            why => reasons.push(FragmentReason::new(one.span, words(model, why, one.span))),
        }
    }
    reasons.extend(size_as_number(model, sized.parameter));
    reasons.extend(bounded_by(model, sized.parameter));
    reasons.dedup();
    if !reasons.is_empty() {
        return Err(reasons);
    }
    Ok(Symmetric {
        sized,
        is_ordered: !order.is_empty(),
        scans: scans(model, sized.family),
        start_anywhere,
        owned: owned_arrays(model, sized.family),
        data: model.parameters.ids().filter(|&id| id != sized.parameter).collect(),
    })
}

/// The loops that go through all processes of a family.
pub fn scans(model: &Model, family: FamilyId) -> Vec<LoopId> {
    let is_scan = |domain: &Domain| matches!(domain, Domain::Family(of) if *of == family);
    model.loops.entries().filter(|(_, one)| is_scan(&one.domain)).map(|(id, _)| id).collect()
}

/// Where processes are compared by the order of their indices: the places of both operands, at which indices name nothing else than
/// elements of arrays. At one place of the text there may be several expressions, such as an argument of a definition.
fn order_comparisons(model: &Model, family: FamilyId) -> BTreeSet<Span> {
    let (mut all, mut harmless) = (BTreeMap::new(), BTreeMap::new());
    let mut compared = BTreeSet::new();
    let count = |found: &mut BTreeMap<Span, usize>, span: Span| *found.entry(span).or_insert(0) += 1;
    let mut note = |part: &Expr| match &part.kind {
        ExprKind::IndexOf(_) if is_index(model, family, part) => count(&mut all, part.span),
        ExprKind::Read(access) => {
            let indices = access.indices.iter().filter(|index| is_index(model, family, index));
            indices.for_each(|index| count(&mut harmless, index.span));
        }
        ExprKind::Binary(op, left, right) => {
            let is_order =
                matches!(op, BinaryOp::Less | BinaryOp::LessEqual | BinaryOp::Greater | BinaryOp::GreaterEqual);
            if is_order && is_index(model, family, left) && is_index(model, family, right) {
                for side in [left, right] {
                    count(&mut harmless, side.span);
                    compared.insert(side.span);
                }
            }
        }
        _ => {}
    };
    each_text(model, &mut |expr| each_part(expr, &mut note));
    compared.retain(|span| all.get(span) == harmless.get(span));
    compared
}

/// Whether an expression is the index of a process that the text has at hand: itself, or one that a loop or quantifier binds.
fn is_index(model: &Model, family: FamilyId, expr: &Expr) -> bool {
    let ExprKind::IndexOf(process) = &expr.kind else { return false };
    match &process.kind {
        ExprKind::Myself | ExprKind::Bound(_) => true,
        ExprKind::Read(access) => matches!(model.vars[access.var].ty.scalar(), ScalarType::Pid(of) if of == family),
        _ => false,
    }
}

/// Whether a variable holds process ids and starts with one value in all its cells.
fn starts_with_a_process(model: &Model, family: FamilyId, var: VarId) -> bool {
    let var = &model.vars[var];
    let holds = matches!(var.ty, Type::Scalar(ScalarType::Pid(of) | ScalarType::PidOrNone(of)) if of == family);
    holds && var.role == Role::Declared
}

/// Whether a place is within the initial value of a variable that holds a process id.
fn is_initial(model: &Model, span: Span) -> bool {
    model.vars.iter().any(|var| match &var.init {
        crate::variable::Init::Fill(value) => {
            value.span == span && matches!(var.ty, Type::Scalar(ScalarType::Pid(_) | ScalarType::PidOrNone(_)))
        }
        _ => false,
    })
}

/// A reason against symmetry, with the process or number that it is about.
fn words(model: &Model, why: &AsymmetryKind, span: Span) -> String {
    let mut named = None;
    each_text(model, &mut |expr| {
        each_part(expr, &mut |part| {
            if part.span != span || named.is_some() {
                return;
            }
            named = match &part.kind {
                ExprKind::Const(Value::Process(id)) => Some(model.processes[*id].name.clone()),
                ExprKind::ToProcess(family, inner) if depends_on_parameters(inner) => {
                    Some(format!("{}[{}]", model.families[*family].name, print::expr(model, inner)))
                }
                _ => None,
            };
        });
    });
    match (why, named) {
        (AsymmetryKind::Constant | AsymmetryKind::FromNumber, Some(name)) => {
            format!("`{name}` is named: it is not like the others")
        }
        (AsymmetryKind::Number, _) => {
            "the index of a process is used as a number: its neighbours are not like the others".to_owned()
        }
        (why, _) => why.describe(model),
    }
}

/// Where the text of a process uses the size as a number.
fn size_as_number(model: &Model, parameter: ParameterId) -> Vec<FragmentReason> {
    let name = &model.parameters[parameter].name;
    let mut reasons = Vec::new();
    each_text(model, &mut |expr| {
        each_part(expr, &mut |part| {
            if matches!(part.kind, ExprKind::Parameter(id) if id == parameter) {
                reasons.push(FragmentReason::new(part.span, format!("`{name}` is used as a number")));
            }
        });
    });
    reasons
}

/// The variables whose values, or whose number of elements beside those of the processes, are bounded by the size.
fn bounded_by(model: &Model, parameter: ParameterId) -> Vec<FragmentReason> {
    let name = &model.parameters[parameter].name;
    let mut reasons = Vec::new();
    for (&var, bounds) in &model.forms.bounds {
        if parameters_of(&bounds.least).contains(&parameter) || parameters_of(&bounds.greatest).contains(&parameter) {
            let declared = &model.vars[var];
            reasons.push(FragmentReason::new(
                declared.span,
                format!("the values of `{}` depend on `{name}`", declared.name),
            ));
        }
    }
    let sizes: Vec<_> = model.families.iter().filter_map(|family| family.size.linear()).collect();
    for (&(var, dimension), length) in &model.forms.lengths {
        let is_familys = model.length_form(var, dimension).is_some_and(|length| sizes.contains(&length));
        if parameters_of(length).contains(&parameter) && !is_familys {
            let declared = &model.vars[var];
            reasons.push(FragmentReason::new(
                declared.span,
                format!("the length of `{}` depends on `{name}`", declared.name),
            ));
        }
    }
    for counted in &model.loops {
        if let Domain::Range(lo, hi) = &counted.domain
            && [lo, hi].into_iter().any(|end| parameters_of(end).contains(&parameter))
        {
            reasons.push(FragmentReason::new(
                counted.span,
                format!("a loop counts up to a number that depends on `{name}`"),
            ));
        }
    }
    reasons
}
