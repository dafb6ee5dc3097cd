//! Whether a program means the same for every number of its processes, as far as its declarations show it, and what its states consist of.
//!
//! In: a Model and the family that a proof is about. Out: the columns that configurations must have. What expressions and statements do is
//! judged where they are evaluated: they are those of the template, where the number of processes is no number, and whatever takes a
//! process of the family for something else than one among equals is refused there.

use std::collections::BTreeMap;

use evidence::views::{ElementArray, Hiding, Item, LocalColumn, Presence, SharedColumn, View, ViewsProof};
use model::Model;
use model::control::TextOwner;
use model::expr::{Access, Domain, Expr, ExprKind, Whose};
use model::process::{FamilyId, ProcessId};
use model::size::{ParameterId, Size};
use model::types::ScalarType;
use model::value::Value;
use model::variable::{CellId, Init, Storage, VarId};

use crate::certificate::symmetry::AnySize;
use crate::certificate::{CertificateError, Outcome};

/// A program of interchangeable processes, and what configurations of it consist of.
pub(super) struct Text<'m> {
    /// The instance: types, layout, initial values.
    pub model: &'m Model,
    /// The program as it was written.
    pub written: &'m Model,
    pub family: FamilyId,
    /// The number of processes.
    pub size: ParameterId,
    pub is_ordered: bool,
    /// The arrays with an element for each process, and the dimension that has them.
    pub rows: BTreeMap<VarId, usize>,
    pub shared: Vec<SharedColumn>,
    pub local: Vec<LocalColumn>,
    /// What views do not show.
    pub hidden: Vec<Hiding>,
    /// So many processes of the family, the first ones, are named: their slots stand after the columns of the shared part.
    pub n_named: usize,
    /// What views say of all processes, after the slots of the named ones.
    pub present: Vec<Presence>,
}

/// Most named processes.
const MOST_NAMED: usize = 4;

fn refuse<T>(what: impl Into<String>) -> Outcome<T> {
    Err(CertificateError::NotSymmetric(what.into()))
}

impl<'m> Text<'m> {
    /// Reads the declarations, and compares the columns of a proof with what they have to be.
    pub fn new(model: &'m Model, proof: &ViewsProof) -> Outcome<Text<'m>> {
        let Some(written) = model.template.as_deref() else { return refuse("the program has no parameter") };
        if proof.family.index() >= model.families.len() {
            return Err(CertificateError::Malformed("it names a family that there is not".to_owned()));
        }
        let family = proof.family;
        let Size::Parameter(size) = written.families[family].size else {
            return refuse(format!("the size of `{}` is no parameter", model.families[family].name));
        };
        if written.forms.opaque.contains(&size) {
            return refuse("a constant has the value that it has at one size");
        }
        let rows = BTreeMap::new();
        let is_ordered = proof.is_ordered;
        let (shared, local) = (Vec::new(), Vec::new());
        let (hidden, present) = (proof.hidden.clone(), proof.present.clone());
        let n_named = proof.named.len();
        let mut text = Text { model, written, family, size, is_ordered, rows, shared, local, hidden, n_named, present };
        let first = model.families[family].processes().take(n_named);
        if n_named > MOST_NAMED || !first.eq(proof.named.iter().copied()) {
            return Err(CertificateError::Malformed(
                "the named processes are not the first of their family".to_owned(),
            ));
        }
        text.families()?;
        text.variables()?;
        text.columns();
        if proof.shared != text.shared || proof.local != text.local {
            return Err(CertificateError::Malformed("its views do not consist of what there is to be seen".to_owned()));
        }
        super::veil::check(&text)?;
        super::present::check(&text)?;
        Ok(text)
    }

    /// The processes of the first family, and nothing that views show.
    #[cfg(test)]
    pub fn of_first_family(model: &'m Model) -> Text<'m> {
        let written = model.template.as_deref().expect("the program has a parameter");
        let family = FamilyId::new(0);
        let Size::Parameter(size) = written.families[family].size else { panic!("the size is a parameter") };
        let (rows, shared, local) = (BTreeMap::new(), Vec::new(), Vec::new());
        let (hidden, present) = (Vec::new(), Vec::new());
        Text { model, written, family, size, is_ordered: false, rows, shared, local, hidden, n_named: 0, present }
    }

    /// What may be said of it whatever the number of processes is.
    pub fn any_size(&self) -> AnySize<'_> {
        AnySize { family: self.family, size: self.size, rows: &self.rows, n_first: self.n_named }
    }

    fn families(&self) -> Outcome<()> {
        if self.model.families[self.family].count() < 2 {
            return refuse("there is only one process");
        }
        for (id, family) in self.written.families.entries() {
            let depends = match &family.size {
                Size::One | Size::Fixed(_) => false,
                Size::Parameter(parameter) => *parameter == self.size && id != self.family,
                Size::Linear(sum) => sum.multiples.contains_key(&self.size),
                Size::Computed(count) => self.counts(count),
            };
            let first = family.index.as_ref().map_or(0, |range| range.first);
            if depends || self.written.forms.first_indices.contains_key(&id) || id == self.family && first != 0 {
                return refuse(format!("the indices of `{}` depend on more than the number of processes", family.name));
            }
        }
        if self.model.goes_on() || self.model.has_when_nobody() {
            return refuse("a step may be a chain of several, or need that nobody else can move");
        }
        match (self.model.procedures.is_empty(), self.model.channels.is_empty()) {
            (true, true) => Ok(()),
            _ => refuse("there are procedures or channels"),
        }
    }

    /// Whether the number of processes occurs in an expression.
    fn counts(&self, expr: &Expr) -> bool {
        parts(expr).iter().any(|part| matches!(part.kind, ExprKind::Parameter(id) if id == self.size))
    }

    fn variables(&mut self) -> Outcome<()> {
        let forms = &self.written.forms;
        for (&var, bounds) in &forms.bounds {
            if self.counts(&bounds.least) || self.counts(&bounds.greatest) {
                return refuse(format!(
                    "the values of `{}` depend on the number of processes",
                    self.model.vars[var].name
                ));
            }
        }
        for (&(var, dimension), length) in &forms.lengths {
            if !self.counts(length) {
                continue;
            }
            let declared = &self.model.vars[var];
            let is_own = matches!(declared.storage, Storage::Public(of) | Storage::Local(of) if of == self.family);
            let is_size = matches!(length.kind, ExprKind::Parameter(_));
            if is_own || !is_size || self.rows.insert(var, dimension).is_some() {
                return refuse(format!("`{}` has not one element for each process", declared.name));
            }
        }
        for (id, var) in self.written.vars.entries() {
            let is_computed = matches!(&var.init, Init::Fill(start) if self.asks_who(id, start));
            let is_another = matches!(var.storage, Storage::Public(of) | Storage::Local(of) if of != self.family);
            if !is_computed && !self.starts_alike(&var.init, (self.rows.contains_key(&id), is_another)) {
                return refuse(format!("`{}` does not start alike for all sizes", var.name));
            }
        }
        Ok(())
    }

    /// Whether an initial value depends neither on the size nor on who of the family starts with it. Processes of other families are what they are at every size.
    fn starts_alike(&self, init: &Init, (is_row, is_another): (bool, bool)) -> bool {
        match init {
            Init::First | Init::Any => true,
            Init::Elements(elements) => {
                !is_row && elements.iter().all(|element| self.starts_alike(element, (false, is_another)))
            }
            Init::Fill(value) => {
                // A particular process, or the one that starts with it, is taken for any.
                let is_process = match &value.kind {
                    ExprKind::Const(Value::Process(_)) | ExprKind::Myself => true,
                    ExprKind::ToProcess(family, inner) => match &inner.kind {
                        ExprKind::Const(_) => true,
                        ExprKind::IndexOf(who) => *family == self.family && who.kind == ExprKind::Myself,
                        _ => *family == self.family && inner.kind == ExprKind::Myself,
                    },
                    _ => false,
                };
                is_process
                    || parts(value).iter().all(|part| match &part.kind {
                        ExprKind::Parameter(id) => *id != self.size,
                        ExprKind::Myself => is_another,
                        ExprKind::IndexOf(who) => is_another && who.kind == ExprKind::Myself,
                        ExprKind::Const(Value::Process(id)) => is_another && !self.is_member(*id),
                        ExprKind::ToProcess(of, _) => is_another && *of != self.family,
                        ExprKind::Bound(_) | ExprKind::Read(_) | ExprKind::At { .. } | ExprKind::Quantified(_) => false,
                        _ => true,
                    })
            }
        }
    }

    /// Whether what a variable of the family starts with is computed from whose it is, and from nothing else.
    pub fn asks_who(&self, var: VarId, start: &Expr) -> bool {
        let is_own =
            matches!(self.model.vars[var].storage, Storage::Public(of) | Storage::Local(of) if of == self.family);
        let is_plain = |part: &&Expr| {
            !matches!(part.kind, ExprKind::Read(_) | ExprKind::At { .. } | ExprKind::Quantified(_) | ExprKind::Bound(_))
        };
        let parts = parts(start);
        self.n_named > 0
            && is_own
            && parts.iter().any(|part| part.kind == ExprKind::Myself)
            && parts.iter().all(is_plain)
    }

    /// The position, in the shared part, of the slot of a named process.
    pub fn named_at(&self, index: i64) -> Option<usize> {
        (0..self.n_named as i64).contains(&index).then(|| self.shared.len() + index as usize)
    }

    /// The position, in the shared part, of what is said of a presence.
    pub fn said_at(&self, presence: usize) -> usize {
        self.shared.len() + self.n_named + presence
    }

    /// Whether the named processes of a view are different ones; the first of all, where order matters.
    fn names(&self, view: &View) -> bool {
        let named = &view.shared[self.shared.len()..self.shared.len() + self.n_named];
        named.iter().enumerate().all(|(at, item)| match item {
            Item::Slot(slot) if self.is_ordered => usize::from(*slot) == at,
            Item::Slot(slot) => (*slot as usize) < view.slots.len() && !named[..at].contains(item),
            _ => false,
        })
    }

    fn columns(&mut self) {
        let model = self.model;
        let others: Vec<ProcessId> =
            model.processes.ids().filter(|&process| model.processes[process].family != self.family).collect();
        let mut elements = Vec::new();
        let mut listed: Vec<ElementArray> = Vec::new();
        for (id, cell) in model.cells.entries() {
            let is_own = cell.owner.is_some_and(|owner| model.processes[owner].family == self.family);
            match self.rows.get(&cell.var) {
                _ if is_own => {}
                None => self.shared.push(SharedColumn::Cell(id)),
                Some(&dimension) => {
                    let row = ElementArray { var: cell.var, owner: cell.owner };
                    if !listed.contains(&row) {
                        listed.push(row);
                        let ty = &model.vars[cell.var].ty;
                        let n_each = ty.n_cells() / ty.dimensions()[dimension];
                        elements.extend((0..n_each).map(|at| LocalColumn::Element(row, at)));
                    }
                }
            }
        }
        self.shared.extend(others.iter().map(|&process| SharedColumn::Control(process)));
        self.local.push(LocalColumn::Control);
        self.local.extend((0..model.families[self.family].n_cells).map(LocalColumn::Own));
        self.local.extend(elements);
        for (id, counted) in model.loops.entries() {
            let TextOwner::Family(of) = counted.scope else { continue };
            if !self.is_all(&counted.domain) {
                continue;
            }
            if of == self.family {
                self.local.push(LocalColumn::Taken(id));
            } else {
                let of_family = others.iter().filter(|&&process| model.processes[process].family == of);
                self.shared.extend(of_family.map(|&process| SharedColumn::Taken(process, id)));
            }
        }
    }

    /// Whether every item of a view is of the kind that its column shows.
    pub fn fits(&self, view: &View) -> bool {
        let n_slots = view.slots.len();
        let is_value = |item: &Item, ty: ScalarType| match item {
            Item::Slot(slot) => (*slot as usize) < n_slots,
            // A counter of a loop over the family that is not under way is nobody.
            Item::Value(Value::None) => {
                !matches!(ty, ScalarType::Bool | ScalarType::Range { .. } | ScalarType::Enum(_))
            }
            Item::Value(Value::Process(id)) => id.index() < self.model.processes.len() && !self.is_member(*id),
            Item::Value(value) => ty.contains(*value, self.model.type_context()),
            // Whether a rule hides it is looked at elsewhere.
            Item::Hidden => true,
            Item::Place(_) | Item::Taken(_) => false,
        };
        let is_place = |item: &Item| matches!(item, Item::Place(place) if place.index() < self.model.places.len());
        let is_taken = |item: &Item| matches!(item, Item::Taken(_));
        let shared = view.shared.iter().zip(&self.shared).all(|(item, column)| match column {
            SharedColumn::Cell(cell) => is_value(item, self.model.cells[*cell].ty),
            SharedColumn::Control(_) => is_place(item),
            SharedColumn::Taken(..) => is_taken(item),
        });
        let first = self.model.families[self.family].first;
        let local = |(item, column): (&Item, &LocalColumn)| match (column, self.cell_of(first, *column)) {
            (LocalColumn::Control, _) => is_place(item),
            (LocalColumn::Taken(_), _) | (_, None) => is_taken(item),
            (_, Some(cell)) => is_value(item, self.model.cells[cell].ty),
        };
        shared && self.names(view) && view.slots.iter().flatten().all(|one| one.iter().zip(&self.local).all(local))
    }

    /// Whether a domain is the processes of the family.
    pub fn is_all(&self, domain: &Domain) -> bool {
        matches!(domain, Domain::Family(of) if *of == self.family)
    }

    pub fn is_member(&self, process: ProcessId) -> bool {
        self.model.processes[process].family == self.family
    }

    pub fn shared_at(&self, column: SharedColumn) -> Option<usize> {
        self.shared.iter().position(|one| *one == column)
    }

    pub fn local_at(&self, column: LocalColumn) -> Option<usize> {
        self.local.iter().position(|one| *one == column)
    }

    /// The cell of the instance that a column shows of a process of the family.
    pub fn cell_of(&self, process: ProcessId, column: LocalColumn) -> Option<CellId> {
        match column {
            LocalColumn::Control | LocalColumn::Taken(_) => None,
            LocalColumn::Own(at) => Some(CellId::new(self.model.processes[process].first_cell + at)),
            LocalColumn::Element(row, at) => {
                let var = &self.model.vars[row.var];
                let lengths = var.ty.dimensions();
                let dimension = self.rows[&row.var];
                let after: usize = lengths[dimension + 1..].iter().product();
                let index = self.model.processes[process].index as usize;
                let offset = (at / after) * lengths[dimension] * after + index * after + at % after;
                let first = row.owner.map_or(0, |owner| self.model.processes[owner].first_cell);
                Some(CellId::new(first + var.offset + offset))
            }
        }
    }
}

/// Every part of an expression, itself included.
pub(super) fn parts(expr: &Expr) -> Vec<&Expr> {
    let mut found = vec![expr];
    let mut at = 0;
    while at < found.len() {
        match &found[at].kind {
            ExprKind::Const(_) | ExprKind::Parameter(_) | ExprKind::Myself | ExprKind::Bound(_) => {}
            ExprKind::Read(access) => found.extend(access_parts(access)),
            ExprKind::At { who, .. } => found.push(who),
            ExprKind::Not(inner)
            | ExprKind::Negate(inner)
            | ExprKind::IndexOf(inner)
            | ExprKind::ToProcess(_, inner) => {
                found.push(inner);
            }
            ExprKind::Binary(_, left, right) => found.extend([&**left, &**right]),
            ExprKind::If(test, yes, no) => found.extend([&**test, &**yes, &**no]),
            ExprKind::Quantified(quantified) => {
                for binding in &quantified.bindings {
                    if let Domain::Range(lo, hi) = &binding.domain {
                        found.extend([&**lo, &**hi]);
                    }
                }
                found.extend(&quantified.filter);
                found.push(&quantified.body);
            }
        }
        at += 1;
    }
    found
}

pub(super) fn access_parts(access: &Access) -> Vec<&Expr> {
    let whose = match &access.whose {
        Whose::Of(who) => Some(&**who),
        Whose::Shared | Whose::Mine | Whose::Frame => None,
    };
    whose.into_iter().chain(&access.indices).collect()
}
