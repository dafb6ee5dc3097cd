//! A program whose number of processes is a parameter: a Model with a template.
//!
//! In: a program, and how to make its Model with other values of macros. Out: the Model in which a macro is a parameter, or what stands in the
//! way, macro by macro. The uses of the macro in the text are looked at (`sizes.rs`): it is the number of processes of one proctype, and the
//! length of arrays with an element for each of them, and nothing else. Besides, the Models of two sizes are compared: they must not differ
//! in anything but these numbers.

use base::{SourceFile, Span};
use model::Model;
use model::control::TextOwner;
use model::expr::{BinaryOp, Expr, ExprKind};
use model::process::FamilyId;
use model::size::{Parameter, Size};
use model::types::Type;
use model::value::Value;
use model::variable::{Storage, Var, VarId};
use model::visit::{each_child_mut, each_expr_mut, each_part, each_text};

use super::preprocessor::{preprocess, preprocess_with};
use super::sizes::{self, Obstacle, Uses};
use super::{Reading, parser};

/// Why no macro is a parameter: for each one that could be, what stands in the way.
pub(super) struct NoParameter(pub Vec<(String, Vec<Obstacle>)>);

/// The program with the macro that is the number of processes for a parameter; `other` makes the Model with other values of macros.
///
/// # Errors
/// What stands in the way.
pub(super) fn parametric(
    model: &Model,
    (source, reading): (&SourceFile, &Reading),
    given: &[(String, i64)],
    other: impl Fn(&[(String, i64)]) -> Option<Model>,
) -> Result<Model, NoParameter> {
    let mut obstacles = Vec::new();
    for (name, value) in candidates(source, reading, given) {
        let uses = match uses_of((source, reading), given, (&name, value)) {
            Ok(uses) => uses,
            Err(found) => {
                obstacles.push((name, found));
                continue;
            }
        };
        let is_given = given.iter().any(|(known, _)| *known == name);
        match with_parameter(model, &uses, Named { name: &name, value, is_given }) {
            Ok(parametric) => {
                let mut larger: Vec<(String, i64)> =
                    given.iter().filter(|(known, _)| *known != name).cloned().collect();
                larger.push((name.clone(), value + 1));
                if other(&larger).is_some_and(|larger| is_same_text((model, &larger), &uses)) {
                    return Ok(parametric.at_size());
                }
                let text = format!("with one more process the program differs in more than `{name}`");
                obstacles.push((name, vec![Obstacle::new(Span::default(), text)]));
            }
            Err(obstacle) => obstacles.push((name, vec![obstacle])),
        }
    }
    Err(NoParameter(obstacles))
}

/// The macros that are numbers, with their values.
fn candidates(source: &SourceFile, reading: &Reading, given: &[(String, i64)]) -> Vec<(String, i64)> {
    let numbers = preprocess(source, reading, &[]).numbers;
    let value = |name: &str| given.iter().find(|(known, _)| known == name).map(|(_, value)| *value);
    numbers.into_iter().map(|(name, own)| (name.clone(), value(&name).unwrap_or(own))).collect()
}

fn uses_of(
    (source, reading): (&SourceFile, &Reading),
    given: &[(String, i64)],
    (name, value): (&str, i64),
) -> Result<Uses, Vec<Obstacle>> {
    let numbers = preprocess(source, reading, given);
    let names = preprocess_with(source, reading, (given, Some(name)));
    let obstacle = |text: String, span: Span| Err(vec![Obstacle::new(span, text)]);
    if let Some(span) = names.decides {
        return obstacle(format!("`{name}` decides which text is read"), span);
    }
    if !sizes::differ_in_name_only(&numbers.tokens, &names.tokens, (name, value)) {
        return obstacle(format!("`{name}` is part of other words"), Span::default());
    }
    let (file, diagnostics) = parser::parse(names.tokens, &names.map);
    if let Some(wrong) = diagnostics.iter().find(|one| one.is_error()) {
        return obstacle(format!("`{name}` is used as a number"), wrong.primary.span);
    }
    sizes::uses(&file, name)
}

/// The macro.
struct Named<'n> {
    name: &'n str,
    value: i64,
    is_given: bool,
}

/// The Model with the parameter, before it is made an instance again.
fn with_parameter(model: &Model, uses: &Uses, macro_: Named<'_>) -> Result<Model, Obstacle> {
    let Named { name, value, is_given } = macro_;
    let obstacle = |text: String, span: Span| Obstacle::new(span, text);
    if value < 2 {
        return Err(obstacle(
            format!("`{name}` is {value} here; give 2 or more, as in `-D {name}=2`"),
            Span::default(),
        ));
    }
    let families: Vec<FamilyId> =
        model.families.entries().filter(|(_, family)| family.name == uses.proctype).map(|(id, _)| id).collect();
    let family = match families[..] {
        [id] if matches!(model.families[id].size, Size::Fixed(count) if count as i64 == value) => id,
        _ => return Err(obstacle(format!("the processes `{}` are not alike", uses.proctype), Span::default())),
    };
    let first = model.families[family].index.as_ref().map_or(0, |index| index.first);
    let span = model.families[family].span;
    if first != 0 && uses.uses_pid {
        return Err(obstacle(format!("the pids of `{}` do not start at 0", uses.proctype), span));
    }
    if model.vars.iter().any(|var| var.name == "_nr_pr")
        || model.channels.iter().any(|one| one.name.starts_with("start "))
    {
        return Err(obstacle(
            "processes are created, or their pids are looked at, while the program runs".into(),
            span,
        ));
    }
    if let Some(span) = names_member(model, family) {
        return Err(obstacle(format!("all `{}` are looked at", uses.proctype), span));
    }
    let mut parametric = model.clone();
    let id = parametric.parameters.push(Parameter {
        name: name.to_owned(),
        value,
        least: 1,
        greatest: None,
        given: is_given,
    });
    let length = Expr { kind: ExprKind::Parameter(id), span };
    parametric.families[family].size = Size::Parameter(id);
    if let Some(index) = &mut parametric.families[family].index {
        index.first = 0;
    }
    for process in parametric.processes.iter_mut().filter(|process| process.family == family) {
        process.index -= first;
    }
    if uses.uses_parameter && !counted_from_zero(&mut parametric, -first) {
        return Err(obstacle(format!("the numbers of `{}` are not their pids", uses.proctype), span));
    }
    for (var, _) in model.vars.entries().filter(|(_, var)| is_sized(var, uses)) {
        parametric.forms.lengths.insert((var, 0), length.clone());
    }
    for (pair, declared) in model.fairness.entries() {
        if declared.owner.is_some_and(|owner| model.processes[owner].family == family) {
            parametric.forms.for_each.insert(pair);
        }
    }
    Ok(parametric)
}

/// Makes the index of a process of what was its pid and a difference; whether the index is used in no other way.
fn counted_from_zero(model: &mut Model, difference: i64) -> bool {
    let (mut n_indices, mut n_counted) = (0usize, 0usize);
    let is_index = |expr: &Expr| match &expr.kind {
        ExprKind::IndexOf(who) => matches!(who.kind, ExprKind::Myself),
        _ => false,
    };
    each_expr_mut(model, &mut |expr| {
        each_part(expr, &mut |part| n_indices += usize::from(is_index(part)));
        replace(expr, &mut |part| {
            let ExprKind::Binary(BinaryOp::Add, left, right) = &part.kind else { return };
            if is_index(left) && right.kind == ExprKind::Const(Value::Int(difference)) {
                n_counted += 1;
                *part = (**left).clone();
            }
        });
    });
    n_indices == n_counted
}

/// Changes an expression and all its parts, the inner ones first.
fn replace(expr: &mut Expr, change: &mut dyn FnMut(&mut Expr)) {
    each_child_mut(expr, &mut |part| replace(part, change));
    change(expr);
}

/// Whether a variable is an array, or a part of the elements of one, with an element for each process.
fn is_sized(var: &Var, uses: &Uses) -> bool {
    let is_part = |array: &String| var.name.strip_prefix(array.as_str()).is_some_and(|rest| rest.starts_with('.'));
    uses.arrays.iter().any(|array| var.name == *array || is_part(array))
}

/// Where the text of a process names one of the family.
fn names_member(model: &Model, family: FamilyId) -> Option<Span> {
    let mut found = None;
    each_text(model, &mut |expr| {
        each_part(expr, &mut |part| {
            if let ExprKind::Const(Value::Process(id)) = part.kind
                && model.processes[id].family == family
            {
                found = found.or(Some(part.span));
            }
        });
    });
    found
}

/// Whether two sizes of a program have the same text: actions, places, variables and questions.
fn is_same_text((one, larger): (&Model, &Model), uses: &Uses) -> bool {
    let text = |model: &Model| {
        let mut vars: Vec<String> = Vec::new();
        for (id, var) in model.vars.entries().filter(|(_, var)| is_used(model, var)) {
            let mut ty = var.ty.clone();
            if let (true, Type::Array { len, .. }) = (is_sized(var, uses), &mut ty) {
                *len = 0;
            }
            vars.push(declared(id, var, &ty));
        }
        let families: Vec<String> = model
            .families
            .iter()
            .map(|family| format!("{} {:?} {:?} {:?}", family.name, family.vars, family.entry, family.end))
            .collect();
        let kinds: Vec<String> = model.properties.iter().map(|one| format!("{} {:?}", one.name, one.kind)).collect();
        format!(
            "{vars:?} {families:?} {:?} {:?} {:?} {:?} {:?} {kinds:?}",
            model.places, model.actions, model.loops, model.channels, model.initially
        )
    };
    text(one) == text(larger)
}

/// Whether a variable may be read or written: one of a process that does nothing, as `init` that has started the others, is not.
fn is_used(model: &Model, var: &Var) -> bool {
    match var.storage {
        Storage::Local(family) => model.actions.iter().any(|action| action.scope == TextOwner::Family(family)),
        _ => true,
    }
}

fn declared(id: VarId, var: &Var, ty: &Type) -> String {
    format!("{id:?} {} {:?} {ty:?} {:?}", var.name, var.storage, var.init)
}
