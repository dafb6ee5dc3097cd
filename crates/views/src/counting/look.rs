//! Values of expressions where few processes are seen and the others are counted.
//!
//! In: a scene (shared part and the local states of a few processes), who evaluates, and the views that unseen processes may have. Out: a value,
//! and what has to be so for it ([`Fact`]s). Where a value is open, every one is taken in turn. A quantifier over a family is a number: how many
//! of its processes satisfy something, seen ones and unseen ones.

use base::Span;
use evidence::views::{ElementArray, LocalColumn, SharedColumn};
use model::control::PlaceId;
use model::expr::{Access, BinaryOp, Binding, Domain, Expr, ExprKind, Quantified, Quantifier, Whose};
use model::process::{FamilyId, ProcessId};
use model::size::parameters_of;
use model::types::{EnumId, ScalarType};
use model::value::Value;
use model::variable::{CellId, Storage};
use std::collections::BTreeMap;

use super::form::{Fact, Form, Term};
use super::roster::{CountingItem, CountingView, Roster};
use super::signs::is_comparison;
use crate::choices::Choices;
use crate::sight::arithmetic;

/// At most so many values are gone through where one is open.
const MOST_OPEN: usize = 24;

/// Why a computation does not come to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halt {
    /// It is a fault of the program.
    Fault(Span),
    /// It cannot be done here.
    Blocked,
    /// It is not followed here.
    Outside(Span),
}

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Val {
    /// A truth value.
    Truth(bool),
    /// A number.
    Number(Form),
    /// A number of which nothing is known.
    Unknown,
    /// A value of an enumeration.
    Name(EnumId, u32),
    /// No process.
    Nobody,
    /// A single process.
    Single(ProcessId),
    /// A process that is seen.
    Slot(u8),
    /// A process of the family that is not seen.
    Unseen(FamilyId),
    /// A process of the family other than the one in the slot.
    Someone(FamilyId, u8),
}

/// Who evaluates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// A process that is seen.
    Slot(u8),
    /// A single process.
    Single(ProcessId),
    /// Nobody: a property.
    Nobody,
}

/// What is known of a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scene {
    /// The shared part.
    pub shared: Vec<CountingItem>,
    /// The families and local states of the seen processes.
    pub seen: Vec<(FamilyId, Vec<CountingItem>)>,
}

impl Scene {
    /// The scene of one view.
    pub fn of(view: &CountingView) -> Scene {
        Scene { shared: view.shared.clone(), seen: vec![(view.family, view.local.clone())] }
    }

    /// The same with the process of one more view; `None` where both are no parts of one state.
    pub fn with(&self, view: &CountingView) -> Option<Scene> {
        let slot = self.seen.len() as u8;
        let mut shared = Vec::with_capacity(self.shared.len());
        for (&mine, &theirs) in self.shared.iter().zip(&view.shared) {
            shared.push(match (mine, theirs) {
                (CountingItem::Slot(at), CountingItem::Other(family)) if self.seen[at as usize].0 == family => mine,
                (CountingItem::Other(family), CountingItem::Slot(0)) if family == view.family => {
                    CountingItem::Slot(slot)
                }
                (CountingItem::Slot(_), _) | (_, CountingItem::Slot(_)) => return None,
                _ if may_be_one(mine, theirs) => mine,
                _ => return None,
            });
        }
        // The ids in a local state name others than the process itself; which, is not known.
        let local =
            view.local.iter().map(|&item| if item == CountingItem::Slot(0) { CountingItem::Slot(slot) } else { item });
        let mut seen = self.seen.clone();
        seen.push((view.family, local.collect()));
        Some(Scene { shared, seen })
    }
}

/// Whether two processes may see the same content of a cell so. One of them may know a number of which the other one knows less: how far it is
/// from another number, or nothing.
fn may_be_one(mine: CountingItem, theirs: CountingItem) -> bool {
    match (mine, theirs) {
        (CountingItem::Offset(cell, _), CountingItem::Offset(other, _)) if cell == other => mine == theirs,
        (
            CountingItem::Any | CountingItem::Offset(..),
            CountingItem::Any | CountingItem::Offset(..) | CountingItem::Value(Value::Int(_)),
        )
        | (CountingItem::Value(Value::Int(_)), CountingItem::Any | CountingItem::Offset(..)) => true,
        _ => mine == theirs,
    }
}

/// Where a scalar part of a variable is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Location {
    /// In the shared part.
    Shared(usize),
    /// A counted cell.
    Counted(CellId),
    /// In the local state of a seen process.
    Local(u8, usize),
    /// Of a process that is not seen.
    Elsewhere,
}

/// A computation in a scene.
pub struct Look<'a, 'm> {
    /// What views consist of.
    pub roster: &'a Roster<'m>,
    /// What is known of the state.
    pub scene: Scene,
    /// Who evaluates.
    pub me: Who,
    /// The values of bound variables, outermost first.
    pub bound: Vec<Val>,
    /// The choices on the way.
    pub choices: &'a mut Choices,
    /// The views that unseen processes may have.
    pub unseen: &'a [&'a CountingView],
    /// What counted cells hold after stores on the way; `None` where it is not known.
    pub stored: BTreeMap<CellId, Option<Form>>,
    /// What has to be so.
    pub facts: Vec<Fact>,
    /// For each count of unseen processes what each view adds to it.
    pub counts: Vec<Vec<i64>>,
    /// Whether it evaluates for one process among those of a quantifier.
    pub is_inner: bool,
    /// The scene before the step, of which the views of unseen processes are about.
    pub before: &'a Scene,
}

/// A value, or why there is none.
pub type Looked<T> = Result<T, Halt>;

impl<'m> Look<'_, 'm> {
    /// The value of an expression.
    pub fn value(&mut self, expr: &'m Expr) -> Looked<Val> {
        let outside = Err(Halt::Outside(expr.span));
        match &expr.kind {
            ExprKind::Const(value) => self.constant(*value, expr.span),
            ExprKind::Parameter(id) => Ok(Val::Number(self.roster.parameter(*id))),
            ExprKind::Myself => self.myself(expr.span),
            ExprKind::Bound(var) => self.bound.get(var.0 as usize).cloned().ok_or(Halt::Outside(expr.span)),
            ExprKind::Read(access) => {
                let location = self.locate(access)?;
                self.load(location, access)
            }
            ExprKind::At { who, places, .. } => {
                let who = self.value(who)?;
                self.stands(&who, places, expr.span)
            }
            ExprKind::Not(inner) => Ok(Val::Truth(!self.truth(inner)?)),
            ExprKind::Negate(inner) => match self.value(inner)? {
                Val::Number(form) => match (form.known(), Form::default().plus(&form, -1)) {
                    (Some(_), negative) => negative.map(Val::Number).ok_or(Halt::Fault(expr.span)),
                    (None, Some(negative)) if negative.is_small() => Ok(Val::Number(negative)),
                    _ => outside,
                },
                _ => outside,
            },
            ExprKind::Binary(op, left, right) => self.binary(*op, left, right, expr.span),
            ExprKind::If(test, yes, no) => match self.truth(test)? {
                true => self.value(yes),
                false => self.value(no),
            },
            ExprKind::Quantified(quantified) => self.quantified(quantified, expr.span),
            ExprKind::IndexOf(inner) => match self.value(inner)? {
                Val::Single(id) => self.roster.index_of(id).map(Val::Number).ok_or(Halt::Outside(expr.span)),
                Val::Nobody => Err(Halt::Fault(inner.span)),
                process @ (Val::Slot(_) | Val::Unseen(_) | Val::Someone(..)) => Ok(process),
                _ => outside,
            },
            ExprKind::ToProcess(family, inner) => {
                if let Some(named) = self.roster.written_process(*family, inner) {
                    return Ok(Val::Single(named));
                }
                let value = self.value(inner)?;
                match self.family_of(&value) {
                    Some(of) if of == *family => return Ok(value),
                    Some(_) if matches!(value, Val::Single(_)) => return Err(Halt::Fault(inner.span)),
                    // By its index, of which nothing is known.
                    Some(_) => return outside,
                    None => {}
                }
                match value {
                    Val::Nobody => Ok(value),
                    Val::Number(form) if !self.roster.many.contains(family) => {
                        let index = form.known().ok_or(Halt::Outside(expr.span))?;
                        let process = self.roster.model.families[*family].process_at(index);
                        process.map(Val::Single).ok_or(Halt::Fault(inner.span))
                    }
                    _ => outside,
                }
            }
        }
    }

    fn constant(&self, value: Value, span: Span) -> Looked<Val> {
        match value {
            Value::Process(id) if !self.roster.is_named_constant(id) => Err(Halt::Outside(span)),
            value => Ok(plain(value)),
        }
    }

    fn family_of(&self, value: &Val) -> Option<FamilyId> {
        match value {
            Val::Single(id) => Some(self.roster.model.processes[*id].family),
            Val::Slot(slot) => Some(self.scene.seen[*slot as usize].0),
            Val::Unseen(family) | Val::Someone(family, _) => Some(*family),
            _ => None,
        }
    }

    /// The value of a boolean expression.
    pub fn truth(&mut self, expr: &'m Expr) -> Looked<bool> {
        match self.value(expr)? {
            Val::Truth(truth) => Ok(truth),
            _ => Err(Halt::Outside(expr.span)),
        }
    }

    /// A number that is the same in every state.
    pub fn known(&mut self, expr: &'m Expr) -> Looked<i64> {
        match self.value(expr)? {
            Val::Number(form) => form.known().ok_or(Halt::Outside(expr.span)),
            _ => Err(Halt::Outside(expr.span)),
        }
    }

    /// The process that evaluates.
    pub fn myself(&self, span: Span) -> Looked<Val> {
        match self.me {
            Who::Slot(slot) => Ok(Val::Slot(slot)),
            Who::Single(id) => Ok(Val::Single(id)),
            Who::Nobody => Err(Halt::Outside(span)),
        }
    }

    fn stands(&mut self, who: &Val, places: &[PlaceId], span: Span) -> Looked<Val> {
        let place = match who {
            Val::Slot(slot) => self.scene.seen[*slot as usize].1[0],
            Val::Single(id) => {
                let column = self.roster.shared_column(SharedColumn::Control(*id));
                self.scene.shared[column.ok_or(Halt::Outside(span))?]
            }
            Val::Unseen(_) | Val::Someone(..) => return Ok(Val::Truth(self.choose(2) == 1)),
            Val::Nobody => return Err(Halt::Fault(span)),
            _ => return Err(Halt::Outside(span)),
        };
        Ok(Val::Truth(places.iter().any(|&one| place == CountingItem::Place(one))))
    }

    /// One of `n`, each in turn.
    pub fn choose(&mut self, n: usize) -> usize {
        self.choices.choose(n)
    }

    /// Where an access leads.
    pub fn locate(&mut self, access: &'m Access) -> Looked<Location> {
        let roster = self.roster;
        let outside = Halt::Outside(access.span);
        let owner = match &access.whose {
            Whose::Shared => None,
            Whose::Frame => return Err(outside),
            Whose::Mine => Some(self.myself(access.span)?),
            Whose::Of(who) => Some(self.value(who)?),
        };
        let var = &roster.model.vars[access.var];
        let row = roster.rows.get(&access.var).copied();
        let (mut offset, mut element) = (0, None);
        for (dimension, (index, len)) in access.indices.iter().zip(var.ty.dimensions()).enumerate() {
            let of_processes = row.filter(|(_, at)| *at == dimension);
            let value = match of_processes.and_then(|(family, _)| roster.written_process(family, index)) {
                Some(named) => Val::Single(named),
                // The process itself says more than its index.
                None => match (&index.kind, of_processes) {
                    (ExprKind::IndexOf(who), Some(_)) => self.value(who)?,
                    _ => self.value(index)?,
                },
            };
            match (&value, row) {
                (Val::Nobody, _) => return Err(Halt::Fault(index.span)),
                (_, Some((family, at))) if at == dimension => {
                    if self.family_of(&value) != Some(family) {
                        return Err(Halt::Outside(index.span));
                    }
                    element = Some(value);
                }
                (Val::Number(form), _) => {
                    let number = form.known().ok_or(Halt::Outside(index.span))?;
                    let position = usize::try_from(number).ok().filter(|&position| position < len);
                    offset = offset * len + position.ok_or(Halt::Fault(index.span))?;
                }
                _ => return Err(Halt::Outside(index.span)),
            }
        }
        match (owner, element) {
            (None, Some(Val::Slot(slot))) => {
                let column = LocalColumn::Element(ElementArray { var: access.var, owner: None }, offset);
                let family = self.scene.seen[slot as usize].0;
                roster.local_column(family, column).map(|column| Location::Local(slot, column)).ok_or(outside)
            }
            (Some(Val::Slot(slot)), None) => {
                let family = self.scene.seen[slot as usize].0;
                let is_own = matches!(var.storage, Storage::Public(of) | Storage::Local(of) if of == family);
                let column = roster.local_column(family, LocalColumn::Own(var.offset + offset)).filter(|_| is_own);
                column.map(|column| Location::Local(slot, column)).ok_or(outside)
            }
            (None, Some(Val::Single(id))) => {
                roster.element_of(id, access.var, offset).and_then(|cell| self.cell(cell)).ok_or(outside)
            }
            (None, Some(_)) | (Some(Val::Unseen(_) | Val::Someone(..)), None) => Ok(Location::Elsewhere),
            (Some(Val::Nobody), _) => Err(Halt::Fault(access.span)),
            (None, None) => self.cell(CellId::new(var.offset + offset)).ok_or(outside),
            (Some(Val::Single(id)), None) => {
                let cell = CellId::new(roster.model.processes[id].first_cell + var.offset + offset);
                self.cell(cell).ok_or(outside)
            }
            _ => Err(outside),
        }
    }

    fn cell(&self, cell: CellId) -> Option<Location> {
        if self.roster.counted.contains(&cell) {
            return Some(Location::Counted(cell));
        }
        self.roster.shared_column(SharedColumn::Cell(cell)).map(Location::Shared)
    }

    /// The content of a location.
    pub fn load(&mut self, location: Location, access: &Access) -> Looked<Val> {
        let (item, owner) = match location {
            Location::Shared(column) if self.takes_nobody(column) => return Err(Halt::Outside(access.span)),
            Location::Shared(column) => (self.scene.shared[column], None),
            Location::Local(slot, column) => (self.scene.seen[slot as usize].1[column], Some(slot)),
            Location::Counted(cell) => {
                return Ok(match self.stored.get(&cell) {
                    Some(Some(form)) => Val::Number(form.clone()),
                    Some(None) => Val::Unknown,
                    None => Val::Number(Form::term(Term::Cell(cell))),
                });
            }
            Location::Elsewhere => {
                let ty = self.roster.model.vars[access.var].ty.scalar();
                return match self.roster.is_unbounded(access.var) {
                    true => Ok(Val::Unknown),
                    false => self.any(ty, access.span),
                };
            }
        };
        Ok(match item {
            CountingItem::Value(value) => plain(value),
            CountingItem::Slot(slot) => Val::Slot(slot),
            CountingItem::Other(family) => owner.map_or(Val::Unseen(family), |owner| Val::Someone(family, owner)),
            CountingItem::Offset(cell, by) => Val::Number(Form { constant: by, ..Form::term(Term::Cell(cell)) }),
            CountingItem::Any => Val::Unknown,
            CountingItem::Place(_) => return Err(Halt::Outside(access.span)),
        })
    }

    /// Any value of a type.
    pub fn any(&mut self, ty: ScalarType, span: Span) -> Looked<Val> {
        let model = self.roster.model;
        let mut values: Vec<Val> = Vec::new();
        match ty {
            ScalarType::Range { .. } | ScalarType::Semaphore { .. }
                if ty.n_values(model.type_context()) > MOST_OPEN as u128 =>
            {
                return Ok(Val::Unknown);
            }
            ScalarType::Pid(_) | ScalarType::PidOrNone(_) | ScalarType::Lock => {
                let families: Vec<FamilyId> = match ty {
                    ScalarType::Pid(family) | ScalarType::PidOrNone(family) => vec![family],
                    _ => model.families.ids().collect(),
                };
                if !matches!(ty, ScalarType::Pid(_)) {
                    values.push(Val::Nobody);
                }
                for family in families {
                    if self.roster.many.contains(&family) {
                        let slots = self.scene.seen.iter().enumerate().filter(|(_, (of, _))| *of == family);
                        values.extend(slots.map(|(slot, _)| Val::Slot(slot as u8)));
                        values.push(Val::Unseen(family));
                        values.extend(self.roster.named_of(family).into_iter().map(Val::Single));
                    } else {
                        values.extend(model.families[family].processes().map(Val::Single));
                    }
                }
            }
            _ => values.extend(ty.values(model.type_context()).take(MOST_OPEN + 1).map(plain)),
        }
        if values.len() > MOST_OPEN {
            return Err(Halt::Outside(span));
        }
        let chosen = self.choose(values.len());
        values.into_iter().nth(chosen).ok_or(Halt::Blocked)
    }

    fn binary(&mut self, op: BinaryOp, left: &'m Expr, right: &'m Expr, span: Span) -> Looked<Val> {
        match op {
            BinaryOp::And => return Ok(Val::Truth(self.truth(left)? && self.truth(right)?)),
            BinaryOp::Or => return Ok(Val::Truth(self.truth(left)? || self.truth(right)?)),
            BinaryOp::Implies => return Ok(Val::Truth(!self.truth(left)? || self.truth(right)?)),
            BinaryOp::Iff => return Ok(Val::Truth(self.truth(left)? == self.truth(right)?)),
            _ => {}
        }
        for (op, index, number) in [(op, left, right), (turned(op), right, left)] {
            if let Some(truth) = self.compare_index(op, index, number)? {
                return Ok(Val::Truth(truth));
            }
        }
        let (left, right) = (self.value(left)?, self.value(right)?);
        let is_number = |value: &Val| matches!(value, Val::Number(_) | Val::Unknown);
        match (is_number(&left), is_number(&right)) {
            (true, true) => self.numbers(op, left, right, span),
            (false, false) if matches!(op, BinaryOp::Equal | BinaryOp::NotEqual) => {
                Ok(Val::Truth(self.same(&left, &right) == (op == BinaryOp::Equal)))
            }
            _ => Err(Halt::Outside(span)),
        }
    }

    /// The index of the process itself, or of one that is bound, compared with a number that is written down; `None` where it is something else.
    fn compare_index(&self, op: BinaryOp, index: &'m Expr, number: &'m Expr) -> Looked<Option<bool>> {
        let ExprKind::IndexOf(who) = &index.kind else { return Ok(None) };
        let who = match &who.kind {
            ExprKind::Myself => Some(self.myself(who.span)?),
            ExprKind::Bound(var) => self.bound.get(var.0 as usize).cloned(),
            _ => None,
        };
        let Some((who, form)) = who.zip(self.roster.form(number)) else { return Ok(None) };
        match who {
            Val::Slot(slot) if is_comparison(op) => {
                let family = self.scene.seen[slot as usize].0;
                let truth = self.roster.compare_index(family, op, &form);
                truth.map(Some).ok_or(Halt::Outside(index.span))
            }
            _ => Ok(None),
        }
    }

    fn numbers(&mut self, op: BinaryOp, left: Val, right: Val, span: Span) -> Looked<Val> {
        use BinaryOp::{Add, Equal, Greater, GreaterEqual, Less, LessEqual, Max, Min, Multiply, NotEqual, Subtract};
        let is_test = matches!(op, Equal | NotEqual | Less | LessEqual | Greater | GreaterEqual);
        let (Val::Number(left), Val::Number(right)) = (left, right) else {
            return match is_test {
                true => Ok(Val::Truth(self.choose(2) == 1)),
                // Whatever is computed of an unknown number may be beyond 64 bits.
                false if self.choose(2) == 1 => Err(Halt::Fault(span)),
                false => Ok(Val::Unknown),
            };
        };
        let left_and_right_known = left.known().is_some() && right.known().is_some();
        let times = |form: &Form, times: i64| Form::default().plus(form, times);
        let number = match (op, left.known(), right.known()) {
            (_, Some(left), Some(right)) if !is_test => arithmetic(op, left, right).map(Form::number),
            (Add, ..) => left.plus(&right, 1),
            (Subtract, ..) => left.plus(&right, -1),
            (Multiply, Some(left), _) => times(&right, left),
            (Multiply, _, Some(right)) => times(&left, right),
            (Min | Max, ..) => {
                let is_less = self.compare(&left, &right, span)? == std::cmp::Ordering::Less;
                Some(if is_less == (op == Min) { left } else { right })
            }
            _ if is_test => {
                let order = self.compare(&left, &right, span)?;
                return Ok(Val::Truth(match op {
                    Equal => order.is_eq(),
                    NotEqual => order.is_ne(),
                    Less => order.is_lt(),
                    LessEqual => order.is_le(),
                    Greater => order.is_gt(),
                    _ => order.is_ge(),
                }));
            }
            _ => return Err(Halt::Outside(span)),
        };
        match number {
            Some(number) if number.known().is_some() || number.is_small() => Ok(Val::Number(number)),
            None if left_and_right_known => Err(Halt::Fault(span)),
            _ => Err(Halt::Outside(span)),
        }
    }

    /// How two numbers compare, each possible answer in turn, with what has to be so.
    pub fn compare(&mut self, left: &Form, right: &Form, span: Span) -> Looked<std::cmp::Ordering> {
        use std::cmp::Ordering;
        let difference = left.plus(right, -1).ok_or(Halt::Outside(span))?;
        if let Some(known) = difference.known() {
            return Ok(known.cmp(&0));
        }
        if self.is_inner {
            return Err(Halt::Outside(span));
        }
        let order = [Ordering::Less, Ordering::Equal, Ordering::Greater][self.choose(3)];
        let one = Form::number(1);
        let fact = match order {
            Ordering::Equal => Some(Fact { form: difference, is_zero: true }),
            Ordering::Greater => difference.plus(&one, -1).map(|form| Fact { form, is_zero: false }),
            Ordering::Less => {
                let less = right.plus(left, -1).and_then(|form| form.plus(&one, -1));
                less.map(|form| Fact { form, is_zero: false })
            }
        };
        self.facts.push(fact.ok_or(Halt::Outside(span))?);
        Ok(order)
    }

    /// Whether two values that are no numbers are the same.
    pub fn same(&mut self, left: &Val, right: &Val) -> bool {
        let is_open = match (left, right) {
            (Val::Unseen(one), Val::Unseen(other)) => one == other,
            (Val::Someone(family, not), Val::Slot(slot)) | (Val::Slot(slot), Val::Someone(family, not)) => {
                slot != not && self.scene.seen[*slot as usize].0 == *family
            }
            (Val::Someone(one, _), Val::Someone(other, _) | Val::Unseen(other))
            | (Val::Unseen(other), Val::Someone(one, _)) => one == other,
            _ => return left == right,
        };
        is_open && self.choose(2) == 1
    }

    /// The values of a bound variable that is not over a family of many.
    pub fn domain(&mut self, domain: &'m Domain) -> Looked<Vec<Val>> {
        let model = self.roster.model;
        Ok(match domain {
            Domain::Family(family) if self.roster.many.contains(family) => {
                return Err(Halt::Outside(model.families[*family].span));
            }
            Domain::Family(family) => model.families[*family].processes().map(Val::Single).collect(),
            Domain::Range(lo, hi) => {
                // What a size bounds, as the levels of a sum, was found out for one size.
                let names_size = |end: &Expr| !parameters_of(end).is_disjoint(&self.roster.sizes);
                if names_size(lo) || names_size(hi) {
                    return Err(Halt::Outside(lo.span));
                }
                let (lo, hi) = (self.known(lo)?, self.known(hi)?);
                if hi.saturating_sub(lo) > 1024 {
                    return Err(Halt::Outside(Span::default()));
                }
                (lo..=hi).map(|number| Val::Number(Form::number(number))).collect()
            }
            Domain::Enum(id) => {
                let n_values = model.enums[*id].values.len() as u32;
                (0..n_values).map(|at| Val::Name(*id, at)).collect()
            }
        })
    }

    /// Gives a bound variable a value.
    pub fn bind(&mut self, binding: &Binding, value: Val) {
        self.bound.truncate(binding.var.0 as usize);
        self.bound.push(value);
    }

    fn quantified(&mut self, quantified: &'m Quantified, span: Span) -> Looked<Val> {
        let families = quantified.bindings.iter().filter_map(|binding| match &binding.domain {
            Domain::Family(family) if self.roster.many.contains(family) => Some(*family),
            _ => None,
        });
        let families: Vec<FamilyId> = families.collect();
        if families.len() > 1 || self.is_inner && !families.is_empty() {
            return Err(Halt::Outside(span));
        }
        let outer = self.bound.clone();
        let was_inner = std::mem::replace(&mut self.is_inner, true);
        // It stops at the first instance that decides, which may be one of an unseen process: a fault may be passed by.
        let without_faults = |halt: Halt| if let Halt::Fault(span) = halt { Halt::Outside(span) } else { halt };
        // What decides: instances that fail, that hold, and for a count those that hold.
        let wanted = quantified.quantifier != Quantifier::Forall;
        let seen = self.instances(quantified, &quantified.bindings, wanted);
        self.bound.clone_from(&outer);
        let mut total = Form::number(seen.map_err(without_faults)?);
        if let [family] = families[..] {
            let mut weights = Vec::with_capacity(self.unseen.len());
            for at in 0..self.unseen.len() {
                weights.push(match self.unseen[at].family == family {
                    true => self.weight(quantified, wanted, self.unseen[at], span).map_err(without_faults)?,
                    false => 0,
                });
            }
            if weights.iter().any(|&weight| weight != 0) {
                total.terms.insert(Term::Unseen(self.counts.len()), 1);
                self.counts.push(weights);
            }
        }
        self.is_inner = was_inner;
        if quantified.quantifier == Quantifier::Count {
            return Ok(Val::Number(total));
        }
        let some = self.compare(&total, &Form::default(), span)?.is_gt();
        Ok(Val::Truth(some == wanted))
    }

    /// How many instances of seen processes are as wanted.
    fn instances(&mut self, quantified: &'m Quantified, bindings: &'m [Binding], wanted: bool) -> Looked<i64> {
        let Some((binding, inner)) = bindings.split_first() else {
            let is_meant = match &quantified.filter {
                None => true,
                Some(filter) => self.truth(filter)?,
            };
            return Ok(i64::from(is_meant && self.truth(&quantified.body)? == wanted));
        };
        let values = match &binding.domain {
            Domain::Family(family) if self.roster.many.contains(family) => {
                let slots = self.scene.seen.iter().enumerate().filter(|(_, (of, _))| of == family);
                let named = self.roster.named_of(*family).into_iter().map(Val::Single);
                slots.map(|(slot, _)| Val::Slot(slot as u8)).chain(named).collect()
            }
            other => self.domain(other)?,
        };
        let mut total = 0;
        for value in values {
            self.bind(binding, value);
            total += self.instances(quantified, inner, wanted)?;
        }
        Ok(total)
    }

    /// How many instances with an unseen process of this view are as wanted.
    fn weight(&mut self, quantified: &'m Quantified, wanted: bool, view: &CountingView, span: Span) -> Looked<i64> {
        let scene = self.joined(view, span)?;
        let mut choices = Choices::default();
        let mut inner = Look {
            roster: self.roster,
            scene,
            me: self.me,
            bound: self.bound.clone(),
            choices: &mut choices,
            unseen: &[],
            stored: self.stored.clone(),
            facts: Vec::new(),
            counts: Vec::new(),
            is_inner: true,
            before: self.before,
        };
        let slot = Val::Slot((inner.scene.seen.len() - 1) as u8);
        let weight = inner.instances_of(quantified, &quantified.bindings, (wanted, &slot))?;
        // What depends on a choice is no weight.
        match choices.advance() {
            true => Err(Halt::Outside(span)),
            false => Ok(weight),
        }
    }

    /// The scene as it is now, with an unseen process, which has done nothing in this step.
    fn joined(&self, view: &CountingView, span: Span) -> Looked<Scene> {
        let before = self.before.with(view).ok_or(Halt::Outside(span))?;
        let mut scene = self.scene.clone();
        for (at, item) in scene.shared.iter_mut().enumerate() {
            if *item == self.before.shared[at] {
                *item = before.shared[at];
            } else if *item == CountingItem::Other(view.family) {
                return Err(Halt::Outside(span));
            }
        }
        scene.seen.extend(before.seen.into_iter().skip(scene.seen.len()));
        Ok(scene)
    }

    fn instances_of(
        &mut self,
        quantified: &'m Quantified,
        bindings: &'m [Binding],
        (wanted, slot): (bool, &Val),
    ) -> Looked<i64> {
        let Some((binding, inner)) = bindings.split_first() else {
            return self.instances(quantified, &[], wanted);
        };
        let values = match &binding.domain {
            Domain::Family(family) if self.roster.many.contains(family) => vec![slot.clone()],
            other => self.domain(other)?,
        };
        let mut total = 0;
        for value in values {
            self.bind(binding, value);
            total += self.instances_of(quantified, inner, (wanted, slot))?;
        }
        Ok(total)
    }
}

/// The comparison with its sides exchanged.
pub fn turned(op: BinaryOp) -> BinaryOp {
    match op {
        BinaryOp::Less => BinaryOp::Greater,
        BinaryOp::LessEqual => BinaryOp::GreaterEqual,
        BinaryOp::Greater => BinaryOp::Less,
        BinaryOp::GreaterEqual => BinaryOp::LessEqual,
        other => other,
    }
}

/// A value that names no process of a family of many.
pub fn plain(value: Value) -> Val {
    match value {
        Value::Bool(truth) => Val::Truth(truth),
        Value::Int(number) => Val::Number(Form::number(number)),
        Value::Enum(id, at) => Val::Name(id, at),
        Value::None => Val::Nobody,
        Value::Process(id) => Val::Single(id),
    }
}
