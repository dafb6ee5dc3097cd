//! Who takes part in a program of families of any size, and what one of them sees, as far as declarations say it.
//!
//! In: a Model and the cells that a proof counts. Out: the columns that views must have, and what cells hold at first; or why the text does not
//! mean the same for every size. What expressions and statements do is judged where they are evaluated.

use std::collections::{BTreeMap, BTreeSet};

use evidence::counting::{CountingItem, CountingProof, CountingRow, NamedEnds, ShownSign};
use evidence::views::{ElementArray, LocalColumn, SharedColumn};
use model::Model;
use model::expr::{Expr, ExprKind};
use model::process::{FamilyId, ProcessId};
use model::size::{Linear, ParameterId, Size};
use model::types::ScalarType;
use model::value::Value;
use model::variable::{CellId, Init, Storage, VarId};

use super::stage::FEW;
use super::{CertificateError, Outcome};
use crate::certificate::parameters::names_parameter;

/// Sums of a few numbers up to this are far within 64 bits.
pub(super) const GREATEST: i64 = 1 << 40;

/// The participants, and what they see.
pub(super) struct Cast<'m> {
    pub model: &'m Model,
    pub written: &'m Model,
    /// Families whose processes are interchangeable.
    pub crowds: Vec<FamilyId>,
    /// How many at the ends of families are not like the others.
    pub named: Vec<NamedEnds>,
    /// Processes of which there is one, and those that are named.
    pub singles: Vec<ProcessId>,
    /// Parameters that say how many processes there are.
    pub sizes: BTreeSet<ParameterId>,
    pub counted: BTreeSet<CellId>,
    pub shared: Vec<SharedColumn>,
    /// Sums of counted cells and sizes whose signs stand behind what is shared.
    pub signs: Vec<ShownSign>,
    pub local: BTreeMap<FamilyId, Vec<LocalColumn>>,
    /// Arrays with an element for each process of a family.
    pub rows: BTreeMap<VarId, (FamilyId, usize)>,
}

pub(super) fn refuse<T>(what: impl Into<String>) -> Outcome<T> {
    Err(CertificateError::NotSymmetric(what.into()))
}

impl<'m> Cast<'m> {
    pub fn new(model: &'m Model, proof: &CountingProof) -> Outcome<Cast<'m>> {
        let written = model.template.as_deref().unwrap_or(model);
        let mut cast = Cast {
            model,
            written,
            crowds: Vec::new(),
            named: proof.named.clone(),
            singles: Vec::new(),
            sizes: BTreeSet::new(),
            counted: proof.counted.iter().copied().collect(),
            shared: Vec::new(),
            signs: proof.signs.clone(),
            local: BTreeMap::new(),
            rows: BTreeMap::new(),
        };
        cast.members()?;
        cast.name()?;
        if !written.forms.opaque.is_disjoint(&cast.sizes) {
            return refuse("a constant has the value that it has at one size");
        }
        cast.find_rows(&proof.rows)?;
        cast.variables()?;
        cast.columns();
        cast.counted_are_numbers()?;
        cast.signs_are_of_sums()?;
        Ok(cast)
    }

    fn members(&mut self) -> Outcome<()> {
        let model = self.model;
        if !model.procedures.is_empty() || !model.channels.is_empty() {
            return refuse("there are procedures or channels");
        }
        if model.goes_on() || model.has_when_nobody() || model.has_patterns() {
            return refuse("a step may be a chain of several, or need that nobody else can move");
        }
        for (id, family) in self.written.families.entries() {
            let starts_at = family.index.as_ref().map_or(0, |index| index.first);
            if starts_at != 0 || self.written.forms.first_indices.contains_key(&id) {
                return refuse(format!("the indices of `{}` do not start at 0", family.name));
            }
            match family.size {
                Size::One => self.singles.extend(model.families[id].processes()),
                Size::Fixed(n) if n > 1 => self.crowds.push(id),
                Size::Parameter(parameter) if self.written.parameters[parameter].least > 0 => {
                    self.crowds.push(id);
                    self.sizes.insert(parameter);
                }
                _ => return refuse(format!("the size of `{}` is no parameter from 1 on", family.name)),
            }
        }
        match self.crowds.is_empty() {
            true => refuse("there is no family of several processes"),
            false => Ok(()),
        }
    }

    fn varies(&self, expr: &Expr) -> bool {
        names_parameter(expr, |parameter| self.sizes.contains(&parameter))
    }

    /// The arrays that have one element for each process of a family, as the proof says. That nothing else indexes that dimension is seen where accesses are evaluated.
    fn find_rows(&mut self, rows: &[CountingRow]) -> Outcome<()> {
        for &CountingRow { var, family, dimension } in rows {
            let Some(declared) = self.model.vars.get(var).filter(|_| self.crowds.contains(&family)) else {
                return refuse("a row is of no array, or of no family");
            };
            let length = self.written.forms.lengths.get(&(var, dimension));
            let has_one_each = match (self.written.families[family].size.clone(), length) {
                (Size::Parameter(size), Some(length)) => Linear::of(length) == Some(Linear::parameter(size)),
                (Size::Fixed(n), None) => declared.ty.dimensions().get(dimension) == Some(&n),
                _ => false,
            };
            let is_shared = declared.storage == Storage::Shared;
            if !has_one_each || !is_shared || self.rows.insert(var, (family, dimension)).is_some() {
                return refuse(format!("`{}` has not one element for each process", declared.name));
            }
        }
        Ok(())
    }

    fn variables(&self) -> Outcome<()> {
        for (&(var, dimension), length) in &self.written.forms.lengths {
            let is_row = matches!(self.rows.get(&var), Some((_, at)) if *at == dimension);
            if self.varies(length) && !is_row {
                return refuse(format!("the length of `{}` depends on the size", self.model.vars[var].name));
            }
        }
        for (&var, bounds) in &self.written.forms.bounds {
            let is_sum = Linear::of(&bounds.least).is_some() && Linear::of(&bounds.greatest).is_some();
            if !is_sum && (self.varies(&bounds.least) || self.varies(&bounds.greatest)) {
                return refuse(format!("the values of `{}` are no sums of sizes", self.model.vars[var].name));
            }
        }
        for (id, var) in self.written.vars.entries() {
            if !self.starts_within(id, &var.init) {
                return refuse(format!("`{}` has no value to start with at some sizes", var.name));
            }
            let is_alike = match &var.init {
                Init::First | Init::Any => true,
                Init::Fill(value) => self.is_start(id, value),
                Init::Elements(all) => {
                    let is_start = |one: &Init| matches!(one, Init::Fill(value) if self.is_start(id, value));
                    let is_of_many = self.rows.contains_key(&id)
                        || matches!(var.storage, Storage::Public(of) | Storage::Local(of) if self.crowds.contains(&of));
                    !is_of_many && all.iter().all(is_start)
                }
            };
            let (lo, hi) = match self.model.vars[id].ty.scalar() {
                ScalarType::Range { lo, hi } => (lo, hi),
                ScalarType::Semaphore { max } => (0, max),
                _ => (0, 0),
            };
            if !is_alike || lo < -GREATEST || hi > GREATEST {
                return refuse(format!("`{}` does not start alike for all, or is too large", var.name));
            }
        }
        Ok(())
    }

    /// Whether a number variable has values at every size, and starts with one of them.
    fn starts_within(&self, var: VarId, init: &Init) -> bool {
        let Some([least, most]) = self.bounds(var) else { return true };
        let is_between = |start: Linear| {
            let above = start.clone().plus(&least, -1);
            let below = most.clone().plus(&start, -1);
            [above, below].into_iter().all(|more| more.is_some_and(|more| self.is_never_negative(&more)))
        };
        match init {
            Init::First | Init::Any => is_between(least.clone()),
            Init::Fill(value) => Linear::of(value).is_none_or(is_between),
            Init::Elements(all) => all.iter().all(|one| self.starts_within(var, one)),
        }
    }

    /// Whether a sum is negative at no size.
    pub fn is_never_negative(&self, sum: &Linear) -> bool {
        let least = sum.multiples.iter().try_fold(sum.constant, |total, (id, &times)| {
            let declared = &self.written.parameters[*id];
            let value = match (self.sizes.contains(id), times > 0) {
                (false, _) => self.model.parameters[*id].value,
                (true, true) => declared.least,
                (true, false) => declared.greatest?,
            };
            total.checked_add(times.checked_mul(value)?)
        });
        least.is_some_and(|least| least >= 0)
    }

    /// Whether a variable may start with the value: a sum of constants and parameters, or something that no size changes.
    fn is_start(&self, var: VarId, value: &Expr) -> bool {
        if matches!(self.model.vars[var].ty.scalar(), ScalarType::Range { .. } | ScalarType::Semaphore { .. }) {
            return Linear::of(value).is_some();
        }
        let mut open = vec![value];
        while let Some(part) = open.pop() {
            match &part.kind {
                ExprKind::Const(Value::Process(_)) => return false,
                ExprKind::Const(_) => {}
                ExprKind::Parameter(id) if !self.sizes.contains(id) => {}
                ExprKind::Not(inner) | ExprKind::Negate(inner) => open.push(inner),
                ExprKind::Binary(_, left, right) => open.extend([&**left, &**right]),
                _ => return false,
            }
        }
        true
    }

    fn columns(&mut self) {
        for (id, cell) in self.model.cells.entries() {
            let is_of_many = cell.owner.or(self.has_element(id)).is_some_and(|owner| self.is_crowd(owner));
            if !is_of_many && !self.counted.contains(&id) {
                self.shared.push(SharedColumn::Cell(id));
            }
        }
        self.shared.extend(self.singles.iter().map(|&single| SharedColumn::Control(single)));
        for family in self.crowds.clone() {
            let mut columns = vec![LocalColumn::Control];
            columns.extend((0..self.model.families[family].n_cells).map(LocalColumn::Own));
            for (&var, _) in self.rows.iter().filter(|(_, (of, _))| *of == family) {
                let ty = &self.model.vars[var].ty;
                let dimension = self.rows[&var].1;
                let each = ty.n_cells() / ty.dimensions()[dimension].max(1);
                columns.extend((0..each).map(|at| LocalColumn::Element(ElementArray { var, owner: None }, at)));
            }
            columns.extend(self.marks(family));
            self.local.insert(family, columns);
        }
    }

    fn counted_are_numbers(&self) -> Outcome<()> {
        for &cell in &self.counted {
            let is_there = cell.index() < self.model.cells.len();
            let is_number = is_there && {
                let declared = &self.model.cells[cell];
                let owner = declared.owner.or(self.has_element(cell));
                self.bounds(declared.var).is_some() && !owner.is_some_and(|owner| self.is_crowd(owner))
            };
            if !is_number {
                return Err(CertificateError::Malformed("it counts in a cell that is no shared number".to_owned()));
            }
        }
        Ok(())
    }

    /// Signs are of sums of counted cells and sizes, which are the same for everybody; and so small that they are numbers.
    fn signs_are_of_sums(&self) -> Outcome<()> {
        const SMALL: i64 = 1 << 20;
        let is_small = |number: i64| (-SMALL..=SMALL).contains(&number);
        let is_sum = |sign: &ShownSign| {
            is_small(sign.constant)
                && sign.cells.iter().all(|(cell, times)| self.counted.contains(cell) && is_small(*times))
                && sign.sizes.iter().all(|(size, times)| self.sizes.contains(size) && is_small(*times))
        };
        match self.signs.iter().all(is_sum) {
            true => Ok(()),
            false => Err(CertificateError::Malformed("it shows the sign of something else than a sum".to_owned())),
        }
    }

    /// The signs behind what is shared.
    pub fn signs_on<'s>(&self, shared: &'s [CountingItem]) -> &'s [CountingItem] {
        shared.get(self.shared.len()..).unwrap_or_default()
    }

    pub fn is_crowd(&self, process: ProcessId) -> bool {
        self.crowds.contains(&self.model.processes[process].family) && !self.singles.contains(&process)
    }

    pub fn shared_at(&self, column: SharedColumn) -> Option<usize> {
        self.shared.iter().position(|&one| one == column)
    }

    pub fn local_at(&self, family: FamilyId, column: LocalColumn) -> Option<usize> {
        self.local[&family].iter().position(|&one| one == column)
    }

    /// The least and the greatest number that a variable may hold, as written; `None` where it holds no numbers.
    pub fn bounds(&self, var: VarId) -> Option<[Linear; 2]> {
        let written = self.written.forms.bounds.get(&var);
        if let Some(bounds) = written.filter(|bounds| self.varies(&bounds.least) || self.varies(&bounds.greatest)) {
            return Some([Linear::of(&bounds.least)?, Linear::of(&bounds.greatest)?]);
        }
        match self.model.vars[var].ty.scalar() {
            ScalarType::Range { lo, hi } => Some([Linear::number(lo), Linear::number(hi)]),
            ScalarType::Semaphore { max } => Some([Linear::number(0), Linear::number(max)]),
            _ => None,
        }
    }

    /// How many values a number variable has, where no size changes that.
    pub fn width(&self, var: VarId) -> Option<(i64, i64)> {
        let [lo, hi] = self.bounds(var)?;
        let is_fixed = |one: &Linear| one.multiples.keys().all(|parameter| !self.sizes.contains(parameter));
        match is_fixed(&lo) && is_fixed(&hi) {
            true => Some((lo.value(&self.model.parameters)?, hi.value(&self.model.parameters)?)),
            false => None,
        }
    }

    /// Whether a shared number may be shown by how far it is from a counted one, or not at all: then processes need not know the same of it.
    pub fn is_relative(&self, var: VarId) -> bool {
        self.bounds(var).is_some() && self.width(var).is_none_or(|(lo, hi)| hi - lo >= FEW)
    }

    /// The number that a number cell starts with; `None` where it may be any.
    pub fn start(&self, cell: CellId) -> Option<Linear> {
        let declared = &self.model.cells[cell];
        match &self.written.vars[declared.var].init {
            Init::First => self.bounds(declared.var).map(|[lo, _]| lo),
            Init::Any => None,
            Init::Fill(value) => Linear::of(value),
            Init::Elements(all) => {
                let at = self.model.cells_of(declared.var, declared.owner).position(|one| one == cell)?;
                match (all.get(at)?, self.model.vars[declared.var].ty.dimensions().len()) {
                    (Init::Fill(value), 1) => Linear::of(value),
                    _ => None,
                }
            }
        }
    }

    /// What is plain of a local state.
    pub fn class_of<'i>(items: impl IntoIterator<Item = &'i CountingItem>) -> Vec<CountingItem> {
        let plain = |item: &CountingItem| {
            matches!(
                item,
                CountingItem::Place(_) | CountingItem::Value(Value::Bool(_) | Value::Int(_) | Value::Enum(..))
            )
        };
        items.into_iter().map(|item| if plain(item) { *item } else { CountingItem::Any }).collect()
    }

    /// What is plain of a single process.
    pub fn class_of_single(&self, single: ProcessId, shared: &[CountingItem]) -> Vec<CountingItem> {
        let is_its = |column: &SharedColumn| match *column {
            SharedColumn::Cell(cell) => self.model.cells[cell].owner == Some(single),
            SharedColumn::Control(process) => process == single,
            SharedColumn::Taken(..) => false,
        };
        Cast::class_of(self.shared.iter().zip(shared).filter(|(column, _)| is_its(column)).map(|(_, item)| item))
    }
}
