//! What a property asks of windows.
//!
//! In: a property. Out: what a violating state would show, at one process or at two different ones, as expressions over what these touch; or
//! why windows cannot say it. `forall i: …` is violated at one process, `forall i != j: !(A(i) && B(j))` at two, whatever their positions.

use std::collections::BTreeSet;

use base::Span;
use evidence::rings::Network;
use model::Model;
use model::eval::{State, Viewpoint};
use model::expr::{Access, BinaryOp, Domain, Expr, ExprKind, Quantified, Quantifier, Whose};
use model::process::ProcessId;
use model::property::{Formula, PropertyKind};
use model::template::{FragmentReason, Neighbours, Sized, sized_family, told_of_neighbours, told_of_tree};
use model::value::Value;
use model::variable::CellId;
use model::visit::{each_child_mut, each_part};

use crate::instance::{Instance, Part};
use crate::named::NamedIndices;
use crate::windows::{Shape, Windows};

/// What a property asks.
#[derive(Clone, Debug)]
pub enum Question {
    /// No step is a fault.
    NoFault,
    /// There is no state in which no process is enabled and some process waits.
    NoDeadlock,
    /// There is no state that shows all signs, each at another process.
    Never(Vec<Sign>),
    /// No fair run violates a temporal property of each process.
    Runs,
}

/// What a process must show: where each expression is found in the property, and the value that it has.
#[derive(Clone, Debug, Default)]
pub struct Sign {
    /// The expressions, by the way from the body to them, with the value that each has.
    parts: Vec<(Vec<bool>, bool)>,
    /// Whether it is the body as a whole.
    is_whole: bool,
}

/// What a property asks, with the tests that it makes.
#[derive(Debug)]
pub struct RingQuestion {
    /// What it asks.
    pub question: Question,
    /// What it says about a process.
    pub told: Vec<Neighbours>,
}

/// What a property asks of windows.
///
/// # Errors
/// Why windows cannot say it.
pub fn asked((model, network): (&Model, Network), kind: &PropertyKind) -> Result<RingQuestion, FragmentReason> {
    let expr = match kind {
        PropertyKind::NoErrors => return Ok(RingQuestion { question: Question::NoFault, told: Vec::new() }),
        PropertyKind::DeadlockFree => return Ok(RingQuestion { question: Question::NoDeadlock, told: Vec::new() }),
        PropertyKind::Invariant(expr) => expr,
        PropertyKind::Reachable(_) => return Err(plain("what can be reached is for a search")),
        PropertyKind::RaceFree(_) => return Err(plain("it is no question about states")),
        PropertyKind::Temporal(formula) => return asked_of_runs((model, network), formula),
    };
    let sized = sized_family(model).map_err(|reasons| {
        reasons.into_iter().next().unwrap_or_else(|| plain("no family has a parameter for its size"))
    })?;
    let (n_bound, filter, body) = quantified(sized, expr)?;
    if filter.is_none() && n_bound == 2 {
        return Err(at(expr.span, "two processes that may be the same are compared"));
    }
    let mut signs: Vec<Sign> = (0..n_bound.max(1)).map(|_| Sign { is_whole: n_bound < 2, ..Sign::default() }).collect();
    let parts = match n_bound {
        2 => conjuncts(body, false),
        _ => vec![(Vec::new(), false)],
    };
    let mut told = Vec::new();
    for (way, value) in parts {
        let part = follow(body, &way).ok_or_else(|| plain("it is outside the fragment"))?;
        about_neighbours(sized, part, n_bound)?;
        let bound = bound_in(part);
        if bound.len() > 1 || bound.iter().any(|&one| one >= n_bound.max(1)) {
            return Err(at(part.span, "it says something about two processes at once"));
        }
        let binding = bound.first().copied().unwrap_or(0);
        told.extend(told_of((model, network), sized, part)?);
        signs[binding].parts.push((way, value));
    }
    if n_bound == 2 && signs.iter().any(|sign| sign.parts.is_empty()) {
        signs.retain(|sign| !sign.parts.is_empty());
    }
    Ok(RingQuestion { question: Question::Never(signs), told })
}

/// What a temporal property asks, where it is about each process.
fn asked_of_runs((model, network): (&Model, Network), formula: &Formula) -> Result<RingQuestion, FragmentReason> {
    let sized = sized_family(model).map_err(|reasons| {
        reasons.into_iter().next().unwrap_or_else(|| plain("no family has a parameter for its size"))
    })?;
    let Formula::Quantified { quantifier: Quantifier::Forall, bindings, filter: None, body } = formula else {
        return Err(not_of_each());
    };
    if !matches!(&bindings[..], [one] if matches!(one.domain, Domain::Family(of) if of == sized.family)) {
        return Err(not_of_each());
    }
    let mut told = Vec::new();
    of_each((model, network), sized, body, &mut told)?;
    Ok(RingQuestion { question: Question::Runs, told })
}

fn not_of_each() -> FragmentReason {
    plain("the property is not about each process by itself, as `forall i: …` is")
}

/// What a formula says about a process.
fn of_each(
    model: (&Model, Network),
    sized: Sized,
    formula: &Formula,
    told: &mut Vec<Neighbours>,
) -> Result<(), FragmentReason> {
    match formula {
        Formula::Now(expr) => {
            about_neighbours(sized, expr, 1)?;
            if bound_in(expr).iter().any(|&one| one > 0) {
                return Err(at(expr.span, "it says something about two processes at once"));
            }
            told.extend(told_of(model, sized, expr)?);
            Ok(())
        }
        Formula::Not(inner) | Formula::Unary(_, inner) => of_each(model, sized, inner, told),
        Formula::Boolean(_, left, right) | Formula::Binary(_, left, right) => {
            of_each(model, sized, left, told)?;
            of_each(model, sized, right, told)
        }
        Formula::Quantified { .. } => Err(plain("the property looks at all processes from one of them")),
        Formula::NeverAccepts(_) => Err(plain("the property is an automaton")),
    }
}

/// How many processes it is about, how they differ, and what it says.
fn quantified(sized: Sized, expr: &Expr) -> Result<(usize, Option<&Expr>, &Expr), FragmentReason> {
    let ExprKind::Quantified(found) = &expr.kind else { return Ok((0, None, expr)) };
    let Quantified { quantifier, bindings, filter, body } = &**found;
    let over_all = bindings.iter().all(|one| matches!(one.domain, Domain::Family(of) if of == sized.family));
    if *quantifier != Quantifier::Forall || !over_all || bindings.len() > 2 {
        return Err(at(expr.span, "it is not about each process, or each two"));
    }
    match filter {
        Some(filter) if bindings.len() == 2 && is_different(filter) => Ok((2, Some(filter), body)),
        None => Ok((bindings.len(), None, body)),
        Some(filter) => Err(at(filter.span, "processes are left out by something else than that they differ")),
    }
}

fn is_different(filter: &Expr) -> bool {
    let ExprKind::Binary(BinaryOp::NotEqual, left, right) = &filter.kind else { return false };
    let bound = |side: &Expr| match &side.kind {
        ExprKind::Bound(var) => Some(var.0),
        ExprKind::IndexOf(inner) => match inner.kind {
            ExprKind::Bound(var) => Some(var.0),
            _ => None,
        },
        _ => None,
    };
    matches!((bound(left), bound(right)), (Some(0), Some(1)) | (Some(1), Some(0)))
}

/// The parts that have to have these values for the whole to have the value; each by the way to it.
fn conjuncts(expr: &Expr, value: bool) -> Vec<(Vec<bool>, bool)> {
    let under = |side: bool, inner: &Expr, value: bool| {
        conjuncts(inner, value).into_iter().map(move |(way, value)| ([&[side], &way[..]].concat(), value))
    };
    match (&expr.kind, value) {
        (ExprKind::Not(inner), _) => under(false, inner, !value).collect(),
        (ExprKind::Binary(BinaryOp::And, left, right), true) | (ExprKind::Binary(BinaryOp::Or, left, right), false) => {
            under(false, left, value).chain(under(true, right, value)).collect()
        }
        (ExprKind::Binary(BinaryOp::Implies, left, right), false) => {
            under(false, left, true).chain(under(true, right, false)).collect()
        }
        _ => vec![(Vec::new(), value)],
    }
}

/// The part at the end of a way.
fn follow<'e>(expr: &'e Expr, way: &[bool]) -> Option<&'e Expr> {
    let Some((&side, rest)) = way.split_first() else { return Some(expr) };
    match &expr.kind {
        ExprKind::Not(inner) => follow(inner, rest),
        ExprKind::Binary(_, left, right) => follow(if side { right } else { left }, rest),
        _ => None,
    }
}

fn bound_in(expr: &Expr) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    each_part(expr, &mut |part| {
        if let ExprKind::Bound(var) = part.kind {
            found.insert(var.0 as usize);
        }
    });
    found
}

/// The tests and distances of what is said about a process, where processes are side by side.
fn told_of(
    (model, network): (&Model, Network),
    sized: Sized,
    part: &Expr,
) -> Result<Option<Neighbours>, FragmentReason> {
    let mut about = part.clone();
    name_myself(&mut about);
    if network == Network::Line {
        let mut named = NamedIndices::new(model, sized);
        named.look(&about);
        if let Some(reason) = named.objection {
            return Err(reason);
        }
    }
    let told = match network {
        Network::Line => told_of_neighbours(model, sized, &about).map(Some),
        Network::Tree => told_of_tree(model, sized, &about).map(|()| None),
    };
    told.map_err(|reasons| reasons.into_iter().next().unwrap_or_else(|| plain("it is outside the fragment")))
}

/// That what is said about so many processes has no quantifier: it would be about more than neighbours.
fn about_neighbours(sized: Sized, part: &Expr, n_bound: usize) -> Result<(), FragmentReason> {
    let mut found = Ok(());
    each_part(part, &mut |inner| {
        let ExprKind::Quantified(quantified) = &inner.kind else { return };
        let over_all = quantified.bindings.iter().any(|one| one.domain == Domain::Family(sized.family));
        let why = match (over_all, quantified.quantifier, n_bound) {
            (false, ..) => "it has a quantifier of its own",
            (true, Quantifier::Count, _) => "it counts, and windows show no more than neighbours",
            (true, _, 0) => "it looks at all processes, and windows show no more than neighbours",
            (true, ..) => "it looks at all processes from one of them",
        };
        if found.is_ok() {
            found = Err(at(inner.span, why));
        }
    });
    found
}

/// The bound variable becomes the process itself.
fn name_myself(expr: &mut Expr) {
    if matches!(expr.kind, ExprKind::Bound(_)) {
        expr.kind = ExprKind::Myself;
        return;
    }
    each_child_mut(expr, &mut |part| name_myself(part));
}

fn plain(text: impl Into<String>) -> FragmentReason {
    FragmentReason { text: text.into(), span: Span::default() }
}

fn at(span: Span, text: impl Into<String>) -> FragmentReason {
    FragmentReason { text: text.into(), span }
}

/// For each sign and each window the states that show it at the process in one place of the window, which is the same for all signs and windows:
/// then different windows are about different processes. `None` where windows are too narrow to see them, or one has no value.
pub fn shown(windows: &Windows<'_>, property: usize, signs: &[Sign]) -> Option<Vec<Vec<Vec<bool>>>> {
    (0..windows.sizes.width)
        .find_map(|place| signs.iter().map(|sign| shown_at(windows, property, (sign, place))).collect())
}

fn shown_at(windows: &Windows<'_>, property: usize, (sign, place): (&Sign, usize)) -> Option<Vec<Vec<bool>>> {
    let mut found = Vec::new();
    for (shape, set) in windows.shapes.iter().zip(&windows.theta) {
        let instance = &windows.sizes.instances[shape.instance];
        let process = (shape.stand.at + place) % instance.size;
        let parts = parts_of(instance, property, sign)?;
        let bound = vec![Value::Process(ProcessId::new(process)); 2];
        let touched: Option<Vec<BTreeSet<Part>>> =
            parts.iter().map(|(expr, _)| touched(instance, expr, &bound)).collect();
        if !touched?.iter().flatten().all(|part| shape.parts.contains(part)) {
            return None;
        }
        let shows = set.states.iter().map(|state| shows(instance, shape, (&parts, &bound, sign.is_whole), state));
        found.push(shows.collect::<Option<Vec<bool>>>()?);
    }
    Some(found)
}

/// The expressions of a sign in the program at one size.
fn parts_of<'i>(instance: &'i Instance, property: usize, sign: &Sign) -> Option<Vec<(&'i Expr, bool)>> {
    let kind = &instance.model.properties[base::Id::new(property)].kind;
    let PropertyKind::Invariant(expr) = kind else { return None };
    let body = match &expr.kind {
        ExprKind::Quantified(quantified) => &quantified.body,
        _ => expr,
    };
    sign.parts.iter().map(|(way, value)| Some((follow(body, way)?, *value))).collect()
}

/// Whether a state shows a sign. What has no value by itself is not excluded; where several parts are evaluated one by one, it decides nothing.
fn shows(
    instance: &Instance,
    shape: &Shape,
    (parts, bound, is_whole): (&[(&Expr, bool)], &[Value], bool),
    state: &[evidence::rings::RingValue],
) -> Option<bool> {
    let whole = instance.filled(&shape.parts, state, shape.stand);
    let mut shows = true;
    for (expr, value) in parts {
        match Viewpoint::of_instance(&instance.model, &whole, bound).truth(expr) {
            Ok(truth) => shows &= truth == *value,
            Err(_) if is_whole => {}
            Err(_) => return None,
        }
    }
    Some(shows)
}

/// All that the value of an expression may depend on.
pub(crate) fn touched(instance: &Instance, expr: &Expr, bound: &[Value]) -> Option<BTreeSet<Part>> {
    let mut found = Some(BTreeSet::new());
    each_part(expr, &mut |part| {
        let parts = match &part.kind {
            ExprKind::Binary(_, left, right) => {
                let named = [(left, right), (right, left)].map(|(cell, who)| named(instance, (cell, who), bound));
                Some(named.into_iter().flatten().collect())
            }
            // Only compared with a process, which is looked at with the comparison.
            ExprKind::Read(access) if naming(instance, access).is_some() => return,
            ExprKind::Read(access) => {
                cells(instance, access, bound).map(|cells| cells.into_iter().map(Part::Cell).collect::<Vec<Part>>())
            }
            ExprKind::At { who, .. } => match closed(instance, who, bound) {
                Some(Ok(Value::Process(process))) => Some(vec![Part::Control(process)]),
                Some(_) => Some(Vec::new()),
                None => None,
            },
            _ => return,
        };
        match (parts, &mut found) {
            (Some(parts), Some(found)) => found.extend(parts),
            _ => found = None,
        }
    });
    found
}

/// The cell that an access leads to, if that names a process.
fn naming(instance: &Instance, access: &Access) -> Option<CellId> {
    if access.whose != Whose::Shared {
        return None;
    }
    instance.model.cells_of(access.var, None).next().filter(|&cell| instance.is_naming(cell))
}

/// That a cell names a process, where the two are compared.
fn named(instance: &Instance, (cell, who): (&Expr, &Expr), bound: &[Value]) -> Option<Part> {
    let ExprKind::Read(access) = &cell.kind else { return None };
    let cell = naming(instance, access)?;
    match closed(instance, who, bound) {
        Some(Ok(Value::Process(process))) => Some(Part::Named(cell, process.index())),
        _ => None,
    }
}

/// The value of an expression that reads nothing; `None` where it does.
fn closed(instance: &Instance, expr: &Expr, bound: &[Value]) -> Option<Result<Value, ()>> {
    let mut reads = false;
    each_part(expr, &mut |part| reads |= matches!(part.kind, ExprKind::Read(_) | ExprKind::At { .. }));
    let nothing = State { cells: Vec::new(), stacks: Vec::new() };
    (!reads).then(|| Viewpoint::of_instance(&instance.model, &nothing, bound).value(expr).map_err(|_| ()))
}

/// The cells that an access may lead to.
fn cells(instance: &Instance, access: &Access, bound: &[Value]) -> Option<Vec<CellId>> {
    let owner = match &access.whose {
        Whose::Shared => None,
        Whose::Of(who) => match closed(instance, who, bound)? {
            Ok(Value::Process(process)) => Some(process),
            _ => return Some(Vec::new()),
        },
        Whose::Mine | Whose::Frame => return None,
    };
    let all: Vec<CellId> = instance.model.cells_of(access.var, owner).collect();
    let dimensions = instance.model.vars[access.var].ty.dimensions();
    let mut wanted: Vec<usize> = vec![0];
    for (index, length) in access.indices.iter().zip(dimensions) {
        let places: Vec<usize> = match closed(instance, index, bound) {
            None => (0..length).collect(),
            Some(Ok(Value::Int(place))) => usize::try_from(place).ok().filter(|&at| at < length).into_iter().collect(),
            Some(Ok(Value::Process(process))) => vec![process.index()],
            Some(_) => Vec::new(),
        };
        wanted = wanted.iter().flat_map(|&at| places.iter().map(move |&place| at * length + place)).collect();
    }
    wanted.into_iter().map(|at| all.get(at).copied()).collect()
}
