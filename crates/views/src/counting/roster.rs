//! What views consist of: which families have interchangeable processes, which processes are single, which cells are shown and which counted.
//!
//! In: a Model, and the cells that are not shown. Out: the columns of views, the bounds of numbers as they were written, the initial views; or
//! what stands in the way.

use std::collections::{BTreeMap, BTreeSet};

use base::Span;
use evidence::counting::NamedEnds;
pub use evidence::counting::{ClassMember, CountingItem, CountingView};
use evidence::views::{ElementArray, LocalColumn, SharedColumn};
use model::Model;
use model::expr::{Expr, ExprKind};
use model::process::{FamilyId, ProcessId};
use model::size::{Linear, ParameterId, Size, parameters_of};
use model::symmetry::process_dimensions;
use model::template::FragmentReason;
use model::types::ScalarType;
use model::value::Value;
use model::variable::{CellId, Init, Storage, VarId};

use super::form::{Form, Term};
use crate::config::Config;

/// Cells with more values are not shown.
pub const MOST_SHOWN: i64 = 24;

/// Numbers beyond this are not counted.
const LARGEST: u64 = 1 << 40;

/// What views of a program consist of.
#[derive(Clone, Debug)]
pub struct Roster<'m> {
    /// The instance: ids, types of cells, layout.
    pub model: &'m Model,
    /// The program as it was written.
    pub text: &'m Model,
    /// How far everything goes.
    pub config: Config,
    /// The families of interchangeable processes.
    pub many: Vec<FamilyId>,
    /// The processes of these families that are not like the others.
    pub named: Vec<NamedEnds>,
    /// The other processes, the named ones among them.
    pub singles: Vec<ProcessId>,
    /// The parameters that are sizes of such families.
    pub sizes: BTreeSet<ParameterId>,
    /// What is not shown.
    pub counted: BTreeSet<CellId>,
    /// The columns of the shared part.
    pub shared: Vec<SharedColumn>,
    /// The sums of counted cells and sizes whose signs are shown, after the columns of the shared part.
    pub signs: Vec<Form>,
    /// The columns of local states.
    pub local: BTreeMap<FamilyId, Vec<LocalColumn>>,
    /// Arrays with an element for each process of a family, and the dimension that has them.
    pub rows: BTreeMap<VarId, (FamilyId, usize)>,
}

fn reason(span: Span, text: impl Into<String>) -> FragmentReason {
    FragmentReason { text: text.into(), span }
}

impl<'m> Roster<'m> {
    /// The roster with nothing counted yet, where these processes are not like the others of their families.
    ///
    /// # Errors
    /// What stands in the way.
    pub fn new(model: &'m Model, named: Vec<NamedEnds>, config: Config) -> Result<Roster<'m>, FragmentReason> {
        let text = model.template();
        let mut roster = Roster {
            model,
            text,
            config,
            many: Vec::new(),
            named,
            singles: Vec::new(),
            sizes: BTreeSet::new(),
            counted: BTreeSet::new(),
            shared: Vec::new(),
            signs: Vec::new(),
            local: BTreeMap::new(),
            rows: BTreeMap::new(),
        };
        roster.numbers_fit()?;
        roster.families()?;
        roster.name()?;
        if let Some(&id) = text.forms.opaque.intersection(&roster.sizes).next() {
            let name = &text.parameters[id].name;
            let why = format!("a constant is computed from `{name}` in a way that is not followed");
            return Err(reason(Span::default(), why));
        }
        roster.arrays()?;
        roster.starts_alike()?;
        roster.local_columns();
        Ok(roster)
    }

    /// Sums of a few numbers stay far within 64 bits.
    fn numbers_fit(&self) -> Result<(), FragmentReason> {
        for var in &self.model.vars {
            let (lo, hi) = match var.ty.scalar() {
                ScalarType::Range { lo, hi } => (lo, hi),
                ScalarType::Semaphore { max } => (0, max),
                _ => continue,
            };
            if lo.unsigned_abs().max(hi.unsigned_abs()) > LARGEST {
                return Err(reason(var.span, format!("the values of `{}` are too large", var.name)));
            }
        }
        Ok(())
    }

    fn families(&mut self) -> Result<(), FragmentReason> {
        let plain = |text: &str| reason(Span::default(), text);
        if let Some(procedure) = self.text.procedures.iter().next() {
            return Err(reason(procedure.span, format!("there are procedures, such as `{}`", procedure.name)));
        }
        if let Some(channel) = self.text.channels.iter().next() {
            return Err(reason(channel.span, format!("`{}` is a channel", channel.name)));
        }
        if self.model.goes_on() || self.model.has_when_nobody() || self.model.has_patterns() {
            return Err(plain("a step may be a chain of several, or need that nobody else can move"));
        }
        for (id, family) in self.text.families.entries() {
            let first = family.index.as_ref().map_or(0, |index| index.first);
            match &family.size {
                Size::One => self.singles.extend(self.model.families[id].processes()),
                Size::Parameter(_) | Size::Fixed(2..)
                    if first == 0 && !self.text.forms.first_indices.contains_key(&id) =>
                {
                    self.many.push(id);
                }
                _ => {
                    let name = &family.name;
                    return Err(reason(
                        family.span,
                        format!("the size of `{name}` is neither a number nor a parameter"),
                    ));
                }
            }
            if let Size::Parameter(parameter) = family.size {
                if self.text.parameters[parameter].least < 1 {
                    return Err(reason(family.span, format!("there may be no process of `{}`", family.name)));
                }
                self.sizes.insert(parameter);
            }
        }
        if self.many.is_empty() {
            return Err(plain("no family has more than one process"));
        }
        Ok(())
    }

    fn arrays(&mut self) -> Result<(), FragmentReason> {
        for &family in &self.many {
            for (var, dimension) in process_dimensions(self.model, family) {
                let declared = &self.model.vars[var];
                let is_row = matches!(declared.storage, Storage::Shared) && declared.ty.dimensions().len() > dimension;
                if !is_row || self.rows.insert(var, (family, dimension)).is_some() {
                    let name = &declared.name;
                    return Err(reason(declared.span, format!("`{name}` has not one element for each process")));
                }
            }
        }
        for (&(var, dimension), length) in &self.text.forms.lengths {
            let is_row = self.rows.get(&var).is_some_and(|&(family, at)| {
                let size = &self.text.families[family].size;
                at == dimension && size.linear() == Linear::of(length)
            });
            if !is_row && !parameters_of(length).is_disjoint(&self.sizes) {
                let declared = &self.model.vars[var];
                return Err(reason(declared.span, format!("the length of `{}` depends on a size", declared.name)));
            }
        }
        // An array of fixed length that is indexed by processes has one element for each of a fixed number.
        for (var, (family, dimension)) in &self.rows {
            let declared = &self.model.vars[*var];
            let len = declared.ty.dimensions()[*dimension];
            let is_sized = self.text.forms.lengths.contains_key(&(*var, *dimension));
            let is_fixed = matches!(self.text.families[*family].size, Size::Fixed(n) if n == len);
            if !is_sized && !is_fixed {
                return Err(reason(declared.span, format!("`{}` has not one element for each process", declared.name)));
            }
        }
        Ok(())
    }

    /// Initial values are the same for all processes of a family, whatever the size.
    fn starts_alike(&self) -> Result<(), FragmentReason> {
        for (id, var) in self.text.vars.entries() {
            let is_members = self.is_members(id);
            if !self.has_start(id, &var.init) {
                let why = format!("at some sizes `{}` has no values, or starts with another one", var.name);
                return Err(reason(var.span, why));
            }
            let is_alike = match &var.init {
                Init::First | Init::Any => true,
                Init::Fill(value) => self.is_closed(id, value),
                Init::Elements(elements) => {
                    let is_closed = |init: &Init| matches!(init, Init::Fill(value) if self.is_closed(id, value));
                    !is_members && elements.iter().all(is_closed)
                }
            };
            if !is_alike {
                return Err(reason(var.span, format!("`{}` does not start alike for all processes", var.name)));
            }
        }
        Ok(())
    }

    /// Whether a variable has a value to start with whatever the sizes are: a number lies within bounds that are sums.
    fn has_start(&self, var: VarId, init: &Init) -> bool {
        let has_numbers =
            matches!(self.model.vars[var].ty.scalar(), ScalarType::Range { .. } | ScalarType::Semaphore { .. });
        let Some((lo, hi)) = self.bounds(var) else { return !has_numbers };
        let fits = |start: &Form| {
            let room = [start.plus(&lo, -1), hi.plus(start, -1)];
            room.iter().all(|form| form.as_ref().is_some_and(|form| self.is_never_below_zero(form)))
        };
        match init {
            Init::First | Init::Any => fits(&lo),
            Init::Fill(value) => self.form(value).is_none_or(|start| fits(&start)),
            Init::Elements(elements) => elements.iter().all(|element| self.has_start(var, element)),
        }
    }

    /// Whether a sum of sizes is at least 0 for all that they may be.
    pub fn is_never_below_zero(&self, form: &Form) -> bool {
        let mut least = Some(form.constant);
        for (term, &times) in &form.terms {
            let Term::Size(id) = term else { return false };
            let parameter = &self.model.parameters[*id];
            let end = if times > 0 { Some(parameter.least) } else { parameter.greatest };
            least = least.zip(end).and_then(|(sum, end)| sum.checked_add(times.checked_mul(end)?));
        }
        least.is_some_and(|least| least >= 0)
    }

    /// Whether an initial value is a sum of constants and parameters, or the same for every size.
    fn is_closed(&self, var: VarId, value: &Expr) -> bool {
        let is_number = self.bounds(var).is_some();
        match is_number {
            true => self.form(value).is_some(),
            false => is_closed(value) && parameters_of(value).is_disjoint(&self.sizes),
        }
    }

    /// Whether a variable has a copy or an element for each process of a family of many.
    fn is_members(&self, var: VarId) -> bool {
        match self.text.vars[var].storage {
            Storage::Public(of) | Storage::Local(of) => self.many.contains(&of),
            Storage::Shared => self.rows.contains_key(&var),
            Storage::Frame(_) => false,
        }
    }

    fn local_columns(&mut self) {
        for &family in &self.many {
            let mut columns = vec![LocalColumn::Control];
            columns.extend((0..self.model.families[family].n_cells).map(LocalColumn::Own));
            for (&var, &(of, dimension)) in self.rows.iter().filter(|(_, (of, _))| *of == family) {
                debug_assert_eq!(of, family);
                let ty = &self.model.vars[var].ty;
                let n_elements = ty.n_cells() / ty.dimensions()[dimension].max(1);
                let row = ElementArray { var, owner: None };
                columns.extend((0..n_elements).map(|at| LocalColumn::Element(row, at)));
            }
            columns.extend(self.taken_columns(family));
            self.local.insert(family, columns);
        }
    }

    /// The same with these cells counted, and no signs shown.
    pub fn counting(&self, counted: BTreeSet<CellId>) -> Roster<'m> {
        let mut roster = Roster { counted, signs: Vec::new(), ..self.clone() };
        let cells = self.unowned().into_iter().filter(|cell| !roster.counted.contains(cell));
        roster.shared = cells.map(SharedColumn::Cell).collect();
        roster.shared.extend(self.singles.iter().map(|&process| SharedColumn::Control(process)));
        roster
    }

    /// The cells that belong to no process of a family of many, but for named ones.
    pub fn unowned(&self) -> Vec<CellId> {
        let is_unowned = |id: &CellId| {
            let cell = &self.model.cells[*id];
            let owner = cell.owner.or_else(|| self.element_owner(*id));
            !owner.is_some_and(|owner| self.is_member(owner))
        };
        self.model.cells.ids().filter(is_unowned).collect()
    }

    /// Whether a process belongs to a family of many, and is like the others there.
    pub fn is_member(&self, process: ProcessId) -> bool {
        self.many.contains(&self.model.processes[process].family) && !self.singles.contains(&process)
    }

    /// The position of a column of the shared part.
    pub fn shared_column(&self, column: SharedColumn) -> Option<usize> {
        self.shared.iter().position(|one| *one == column)
    }

    /// The position of a column of a local state.
    pub fn local_column(&self, family: FamilyId, column: LocalColumn) -> Option<usize> {
        self.local.get(&family)?.iter().position(|one| *one == column)
    }

    /// The least and the greatest value of a number variable; `None` where there is none, or they are no sums.
    pub fn bounds(&self, var: VarId) -> Option<(Form, Form)> {
        let is_sized = |expr: &Expr| !parameters_of(expr).is_disjoint(&self.sizes);
        let written = self.text.forms.bounds.get(&var);
        if let Some(bounds) = written.filter(|bounds| is_sized(&bounds.least) || is_sized(&bounds.greatest)) {
            return Some((self.form(&bounds.least)?, self.form(&bounds.greatest)?));
        }
        match self.model.vars[var].ty.scalar() {
            ScalarType::Range { lo, hi } => Some((Form::number(lo), Form::number(hi))),
            ScalarType::Semaphore { max } => Some((Form::number(0), Form::number(max))),
            _ => None,
        }
    }

    /// Whether a variable has numbers, and so many of them that one may be shown by how far it is from another one, or not at all.
    pub fn may_be_far(&self, var: VarId) -> bool {
        self.bounds(var).is_some_and(|(lo, hi)| {
            hi.plus(&lo, -1).and_then(|width| width.known()).is_none_or(|width| width >= MOST_SHOWN)
        })
    }

    /// Whether the bounds of a variable depend on a size.
    pub fn is_unbounded(&self, var: VarId) -> bool {
        self.text.forms.bounds.get(&var).is_some_and(|bounds| {
            let parameters = [&bounds.least, &bounds.greatest].into_iter().flat_map(parameters_of);
            parameters.into_iter().any(|parameter| self.sizes.contains(&parameter))
        })
    }

    /// The number that an expression of constants and parameters is.
    pub fn form(&self, expr: &Expr) -> Option<Form> {
        let linear = Linear::of(expr)?;
        linear
            .multiples
            .iter()
            .try_fold(Form::number(linear.constant), |sum, (&id, &times)| sum.plus(&self.parameter(id), times))
    }

    /// A parameter as a number.
    pub fn parameter(&self, id: ParameterId) -> Form {
        match self.sizes.contains(&id) {
            true => Form::term(Term::Size(id)),
            false => Form::number(self.model.parameters[id].value),
        }
    }

    /// The number that a cell starts with; `None` where it starts anywhere, or with something else.
    pub fn first_number(&self, cell: CellId) -> Option<Form> {
        let var = self.model.cells[cell].var;
        match &self.text.vars[var].init {
            Init::First => Some(self.bounds(var)?.0),
            Init::Fill(value) => self.form(value),
            Init::Elements(elements) => {
                let owner = self.model.cells[cell].owner;
                let at = self.model.cells_of(var, owner).position(|one| one == cell)?;
                match elements.get(at)? {
                    Init::Fill(value) if self.model.vars[var].ty.dimensions().len() == 1 => self.form(value),
                    _ => None,
                }
            }
            Init::Any => None,
        }
    }

    /// The cell of a process that a column shows.
    pub fn local_cell(&self, process: ProcessId, column: LocalColumn) -> Option<CellId> {
        match column {
            LocalColumn::Control | LocalColumn::Taken(_) => None,
            LocalColumn::Own(at) => Some(CellId::new(self.model.processes[process].first_cell + at)),
            LocalColumn::Element(row, at) => {
                let var = &self.model.vars[row.var];
                let dimension = self.rows.get(&row.var)?.1;
                let dimensions = var.ty.dimensions();
                let inner: usize = dimensions[dimension + 1..].iter().product();
                let index = usize::try_from(self.model.processes[process].index).ok()?;
                let offset = (at / inner * dimensions[dimension] + index) * inner + at % inner;
                Some(CellId::new(var.offset + offset))
            }
        }
    }

    /// The class of a process of a family: control and plain values.
    pub fn class(local: &[CountingItem]) -> Vec<CountingItem> {
        local
            .iter()
            .map(|item| match item {
                CountingItem::Place(_) | CountingItem::Value(Value::Bool(_) | Value::Int(_) | Value::Enum(..)) => *item,
                CountingItem::Value(_)
                | CountingItem::Slot(_)
                | CountingItem::Other(_)
                | CountingItem::Offset(..)
                | CountingItem::Any => CountingItem::Any,
            })
            .collect()
    }

    /// The class of a single process: where it is, and its own cells that are shown.
    pub fn single_class(&self, process: ProcessId, shared: &[CountingItem]) -> Vec<CountingItem> {
        let columns = self.shared.iter().zip(shared).filter(|(column, _)| match column {
            SharedColumn::Control(of) => *of == process,
            SharedColumn::Cell(cell) => self.model.cells[*cell].owner == Some(process),
            SharedColumn::Taken(..) => false,
        });
        Roster::class(&columns.map(|(_, item)| *item).collect::<Vec<_>>())
    }
}

/// Whether an expression is made of constants and parameters.
fn is_closed(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Const(Value::Process(_)) => false,
        ExprKind::Const(_) | ExprKind::Parameter(_) => true,
        ExprKind::Not(part) | ExprKind::Negate(part) => is_closed(part),
        ExprKind::Binary(_, left, right) => is_closed(left) && is_closed(right),
        _ => false,
    }
}
