//! The same program with another number of processes.
//!
//! In: a program with one family, whose size is a parameter, and a size. Out: the program at that size, made from its template; `None` where
//! the size shows in more than the number of processes and the lengths of arrays: in bounds of values, in lists of initial values, in
//! processes that are named; and where a process could not start at that size. Fairness assumptions and hints name processes of the size at hand and are left out.

use base::IdVec;

use crate::Model;
use crate::eval::initial_faults;
use crate::expr::{Expr, ExprKind};
use crate::instance::static_value;
use crate::process::Process;
use crate::size::{ParameterId, Size, parameters_of};
use crate::types::Type;
use crate::value::Value;
use crate::variable::{Init, VarId};
use crate::visit::{each_expr_mut, each_part};

impl Model {
    /// This program with another value of the parameter that is the size of its one family.
    pub fn resized(&self, parameter: ParameterId, size: i64) -> Option<Model> {
        let mut model = self.template().clone();
        let count = usize::try_from(size).ok().filter(|&count| count > 0)?;
        model.hints.clear();
        model.fairness = IdVec::new();
        if model.forms.opaque.contains(&parameter)
            || !is_resizable(&mut model, parameter, count)
            || !model.parameters[parameter].allows(size)
        {
            return None;
        }
        model.parameters[parameter].value = size;
        let lengths: Vec<(VarId, usize)> = model.forms.lengths.keys().copied().collect();
        for (var, dimension) in lengths {
            let length = static_value(&model, &model.forms.lengths[&(var, dimension)], None).ok()?;
            let Value::Int(length) = length else { return None };
            stretch(&mut model.vars[var].ty, dimension, usize::try_from(length).ok()?)?;
        }
        let family = model.families.iter_mut().next()?;
        let index = family.index.as_mut()?;
        index.count = count;
        let (first, name) = (index.first, family.name.clone());
        let of = model.families.ids().next()?;
        let member = |at: usize| {
            let index = first + at as i64;
            Process { family: of, index, name: format!("{name}[{index}]"), first_cell: 0 }
        };
        model.processes = (0..count).map(member).collect();
        model.lay_out();
        // What one process starts with may be no value, and that process may not be there at the size at hand.
        Some(model.at_size()).filter(|model| initial_faults(model).is_empty())
    }
}

/// Whether nothing but the number of processes and lengths depends on the parameter, and every process that is named is there.
fn is_resizable(model: &mut Model, parameter: ParameterId, count: usize) -> bool {
    let one = model.families.len() == 1
        && model.families.iter().all(|family| matches!(family.size, Size::Parameter(id) if id == parameter));
    let depends = |expr: &Expr| parameters_of(expr).contains(&parameter);
    let bounded = model.forms.bounds.values().any(|bounds| depends(&bounds.least) || depends(&bounds.greatest));
    let listed = model.vars.iter().any(|var| matches!(var.init, Init::Elements(_)));
    let mut names = false;
    each_expr_mut(model, &mut |expr| {
        each_part(expr, &mut |part| {
            names |= matches!(part.kind, ExprKind::Const(Value::Process(id)) if id.index() >= count);
        });
    });
    one && !bounded
        && !listed
        && !names
        && model.procedures.is_empty()
        && model.channels.is_empty()
        && model.forms.first_indices.is_empty()
}

/// Gives a dimension of an array another length.
fn stretch(ty: &mut Type, dimension: usize, length: usize) -> Option<()> {
    match (ty, dimension) {
        (Type::Array { len, .. }, 0) => {
            *len = length;
            Some(())
        }
        (Type::Array { element, .. }, _) => stretch(element, dimension - 1, length),
        (Type::Scalar(_), _) => None,
    }
}
