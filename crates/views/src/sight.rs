//! The value of an expression where only some processes are seen.
//!
//! In: a configuration, who evaluates, the values of bound variables. Out: a value, or why there is none. What is not seen is either
//! asked for ([`Needs`]: see that process, too, and try again) or guessed: any value that it may have. A quantifier over the
//! family looks at the seen processes; that an unseen one decides it needs one more to be seen, too, or is guessed.
//! Values follow `model::eval` in everything else.

use std::iter::successors;

use base::Span;
use model::Model;
use model::expr::{Access, BinaryOp, Binding, Domain, Expr, ExprKind, Quantified, Quantifier, Whose};
use model::process::ProcessId;
use model::types::ScalarType;
use model::value::Value;
use model::variable::{CellId, Storage};

use crate::choices::Choices;
use crate::config::{Config, USUAL};
use crate::configuration::{Configuration, Item, MOST_SLOTS, Slot};
use crate::hiding::ViewColumn;
use crate::layout::{ElementArray, Layout, LocalColumn, SharedColumn, holds_members, is_over};

/// So many numbers a choice may have: each is a configuration of its own.
const MOST_NUMBERS: i128 = 1 << 16;

/// Why a computation does not come to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Halt {
    /// It is a fault of the program.
    Fault(Span),
    /// It cannot be done here.
    Blocked,
    /// It looks at a process that is not seen.
    Unseen,
    /// It does what interchangeable processes do not do.
    Outside(Span),
}

/// What would have to be seen to know more.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// The process in this slot.
    pub slot: Option<Slot>,
    /// One more process, which decides a quantifier.
    pub witness: bool,
    /// Nothing, but what unseen processes hold may have changed.
    pub wrote_unseen: bool,
    /// Nothing, but these columns are hidden, and were read.
    pub hidden: Vec<ViewColumn>,
}

impl Needs {
    /// Notes that a hidden column was read.
    pub(crate) fn note(&mut self, hidden: ViewColumn) {
        if !self.hidden.contains(&hidden) {
            self.hidden.push(hidden);
        }
    }
}

/// Who evaluates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Who {
    /// A process of the family.
    Slot(Slot),
    /// A process of another family.
    Other(ProcessId),
    /// Nobody: a property.
    Nobody,
}

/// A program, and what configurations of it consist of.
#[derive(Clone, Copy)]
pub struct Ground<'m> {
    /// The program.
    pub model: &'m Model,
    /// What its configurations consist of.
    pub layout: &'m Layout,
    /// How far everything goes.
    pub config: &'m Config,
}

impl<'m> Ground<'m> {
    /// A program, with the usual settings.
    pub fn new(model: &'m Model, layout: &'m Layout) -> Ground<'m> {
        Ground { model, layout, config: &USUAL }
    }
}

/// How what is not seen is treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guessing {
    /// The content of an unseen process is any; otherwise it is asked for.
    pub contents: bool,
    /// Whether an unseen process decides a quantifier is open; otherwise one is asked for.
    pub witnesses: bool,
}

/// A computation in a configuration.
pub struct Sight<'a, 'm> {
    /// The program.
    pub ground: Ground<'m>,
    /// What is known of the state.
    pub config: Configuration,
    /// Who evaluates.
    pub me: Who,
    /// The values of bound variables, outermost first.
    pub bound: Vec<Item>,
    /// How what is not seen is treated.
    pub guessing: Guessing,
    /// The choices on the way.
    pub choices: &'a mut Choices,
    /// What would have to be seen to know more.
    pub needs: Needs,
}

/// Where a scalar part of a variable is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Location {
    /// In the shared part.
    Shared(usize),
    /// In a local state.
    Local(Slot, usize),
}

type Evaluated<T> = Result<T, Halt>;

impl<'m> Sight<'_, 'm> {
    /// The value of an expression.
    pub fn value(&mut self, expr: &'m Expr) -> Evaluated<Item> {
        match &expr.kind {
            ExprKind::Const(value) => self.constant(*value, expr.span),
            ExprKind::Parameter(id) => Ok(Item::Value(Value::Int(self.ground.model.parameters[*id].value))),
            ExprKind::Myself => self.myself(expr.span),
            ExprKind::Bound(var) => self.bound.get(var.0 as usize).copied().ok_or(Halt::Outside(expr.span)),
            ExprKind::Read(access) => {
                let location = self.locate(access)?;
                let ty = self.ground.model.vars[access.var].ty.scalar();
                match self.load(location, ty)? {
                    // The first step of a loop over the family may be taken from outside, where views keep no counter.
                    Item::Value(Value::None) if !matches!(ty, ScalarType::PidOrNone(_) | ScalarType::Lock) => {
                        Err(Halt::Outside(expr.span))
                    }
                    item => Ok(item),
                }
            }
            ExprKind::At { who, places, .. } => {
                let place = match self.process(who)? {
                    Item::Slot(slot) if !self.config.is_seen(slot) => return self.unseen_truth(slot),
                    Item::Slot(slot) => self.load(Location::Local(slot, 0), ScalarType::Bool)?,
                    Item::Value(Value::Process(id)) => {
                        let column = self.ground.layout.shared_column(SharedColumn::Control(id));
                        self.config.shared[column.ok_or(Halt::Outside(expr.span))?]
                    }
                    _ => return Err(Halt::Outside(expr.span)),
                };
                Ok(truth(places.iter().any(|&one| place == Item::Place(one))))
            }
            ExprKind::Not(inner) => Ok(truth(!self.truth(inner)?)),
            ExprKind::Negate(inner) => {
                let number = self.number(inner)?;
                number.checked_neg().map(int).ok_or(Halt::Fault(expr.span))
            }
            ExprKind::Binary(op, left, right) => self.binary(*op, left, right, expr.span),
            ExprKind::If(test, yes, no) => match self.truth(test)? {
                true => self.value(yes),
                false => self.value(no),
            },
            ExprKind::Quantified(quantified) => self.quantified(quantified, expr.span),
            ExprKind::IndexOf(inner) => match self.value(inner)? {
                Item::Value(Value::Process(id)) => Ok(int(self.ground.model.processes[id].index)),
                Item::Value(Value::None) => Err(Halt::Fault(inner.span)),
                // The index of a process of the family is only compared, or used as an index: the slot stands for it.
                other => Ok(other),
            },
            ExprKind::ToProcess(family, inner) => {
                let value = self.value(inner)?;
                self.to_process(*family, value, inner.span)
            }
        }
    }

    fn constant(&self, value: Value, span: Span) -> Evaluated<Item> {
        match value {
            Value::Process(id) if self.ground.layout.is_member(self.ground.model, id) => {
                self.named(self.ground.model.processes[id].index).ok_or(Halt::Outside(span))
            }
            _ => Ok(Item::Value(value)),
        }
    }

    /// The slot of a named process.
    fn named(&self, index: i64) -> Option<Item> {
        let column = self.ground.layout.named_column(index)?;
        Some(self.config.shared[column])
    }

    /// How the index of a process of the family compares with a number, as far as that is the same for all processes that are not named.
    fn compare_index(&self, op: BinaryOp, slot: Slot, number: i64) -> Option<bool> {
        let n_named = self.ground.layout.named.len() as i64;
        let index = (0..n_named).find(|&index| self.named(index) == Some(Item::Slot(slot)));
        // One that is not named has an index behind those.
        let (index, is_decided) = match (index, op) {
            (Some(index), _) => (index, true),
            (None, BinaryOp::Less | BinaryOp::GreaterEqual) => (n_named, number <= n_named),
            (None, _) => (n_named, number < n_named),
        };
        let holds = match op {
            BinaryOp::Equal => index == number,
            BinaryOp::NotEqual => index != number,
            BinaryOp::Less => index < number,
            BinaryOp::LessEqual => index <= number,
            BinaryOp::Greater => index > number,
            BinaryOp::GreaterEqual => index >= number,
            _ => return None,
        };
        is_decided.then_some(holds)
    }

    /// The value of a boolean expression.
    pub fn truth(&mut self, expr: &'m Expr) -> Evaluated<bool> {
        match self.value(expr)? {
            Item::Value(Value::Bool(truth)) => Ok(truth),
            _ => Err(Halt::Outside(expr.span)),
        }
    }

    /// The value of a numeric expression.
    pub(crate) fn number(&mut self, expr: &'m Expr) -> Evaluated<i64> {
        match self.value(expr)? {
            Item::Value(Value::Int(number)) => Ok(number),
            Item::Value(Value::None) => Err(Halt::Fault(expr.span)),
            _ => Err(Halt::Outside(expr.span)),
        }
    }

    pub(crate) fn myself(&self, span: Span) -> Evaluated<Item> {
        match self.me {
            Who::Slot(slot) => Ok(Item::Slot(slot)),
            Who::Other(id) => Ok(Item::Value(Value::Process(id))),
            Who::Nobody => Err(Halt::Outside(span)),
        }
    }

    /// A process: of the family, or another one. `none` is a fault.
    fn process(&mut self, who: &'m Expr) -> Evaluated<Item> {
        match self.value(who)? {
            process @ (Item::Slot(_) | Item::Value(Value::Process(_))) => Ok(process),
            Item::Value(Value::None) => Err(Halt::Fault(who.span)),
            _ => Err(Halt::Outside(who.span)),
        }
    }

    fn to_process(&self, family: model::process::FamilyId, value: Item, span: Span) -> Evaluated<Item> {
        let model = self.ground.model;
        match value {
            Item::Slot(_) if family == self.ground.layout.family => Ok(value),
            // Its index, perhaps, which a process of the other family may have, too.
            Item::Slot(_) => Err(Halt::Outside(span)),
            Item::Value(Value::None) => Ok(value),
            Item::Value(Value::Process(id)) if model.processes[id].family == family => Ok(value),
            Item::Value(Value::Process(_)) => Err(Halt::Fault(span)),
            Item::Value(Value::Int(index)) if family == self.ground.layout.family => {
                self.named(index).ok_or(Halt::Outside(span))
            }
            Item::Value(Value::Int(index)) => {
                let process = model.families[family].process_at(index).ok_or(Halt::Fault(span))?;
                Ok(Item::Value(Value::Process(process)))
            }
            _ => Err(Halt::Outside(span)),
        }
    }

    /// Where an access leads, its indices checked.
    pub(crate) fn locate(&mut self, access: &'m Access) -> Evaluated<Location> {
        let Ground { model, layout, .. } = self.ground;
        let owner = match &access.whose {
            Whose::Shared => None,
            Whose::Frame => return Err(Halt::Outside(access.span)),
            Whose::Mine => Some(self.myself(access.span)?),
            Whose::Of(who) => Some(self.process(who)?),
        };
        let var = &model.vars[access.var];
        let row = layout.rows.get(&access.var).copied();
        let mut offset = 0;
        let mut row_of = None;
        for (dimension, (index, len)) in access.indices.iter().zip(var.ty.dimensions()).enumerate() {
            match self.value(index)? {
                Item::Slot(slot) if row == Some(dimension) => row_of = Some(slot),
                Item::Value(Value::Int(number)) if row == Some(dimension) => match self.named(number) {
                    Some(Item::Slot(slot)) => row_of = Some(slot),
                    _ => return Err(Halt::Outside(index.span)),
                },
                Item::Value(Value::Int(number)) if row != Some(dimension) => match usize::try_from(number) {
                    Ok(position) if position < len => offset = offset * len + position,
                    _ => return Err(Halt::Fault(index.span)),
                },
                Item::Value(Value::None) => return Err(Halt::Fault(index.span)),
                _ => return Err(Halt::Outside(index.span)),
            }
        }
        self.location(access, owner, (row_of, offset)).ok_or(Halt::Outside(access.span))
    }

    fn location(&self, access: &Access, owner: Option<Item>, place: (Option<Slot>, usize)) -> Option<Location> {
        let Ground { model, layout, .. } = self.ground;
        let var = &model.vars[access.var];
        let id = match owner {
            Some(Item::Slot(slot)) => {
                let is_own = matches!(var.storage, Storage::Public(of) | Storage::Local(of) if of == layout.family);
                let column = layout.local_column(LocalColumn::Own(var.offset + place.1)).filter(|_| is_own)?;
                return Some(Location::Local(slot, column));
            }
            Some(Item::Value(Value::Process(id))) => Some(id),
            Some(_) => return None,
            None => None,
        };
        match place {
            (Some(slot), offset) => {
                let column = LocalColumn::Element(ElementArray { var: access.var, owner: id }, offset);
                Some(Location::Local(slot, layout.local_column(column)?))
            }
            (None, offset) => {
                let first = id.map_or(0, |id| model.processes[id].first_cell) + var.offset;
                Some(Location::Shared(layout.shared_column(SharedColumn::Cell(CellId::new(first + offset)))?))
            }
        }
    }

    /// The content of a location; of an unseen process, what is asked for or guessed.
    pub(crate) fn load(&mut self, location: Location, ty: ScalarType) -> Evaluated<Item> {
        if let Location::Local(slot, column) = location {
            self.choices.watch(slot, column);
        }
        match location {
            Location::Shared(column) => match self.config.shared[column] {
                Item::Hidden => {
                    self.needs.note(ViewColumn::Shared(column));
                    self.any(ty)
                }
                item => Ok(item),
            },
            Location::Local(slot, column) => match &self.config.slots[slot as usize] {
                Some(local) if local[column] == Item::Hidden => {
                    self.needs.note(ViewColumn::Local(column));
                    self.any(ty)
                }
                Some(local) => Ok(local[column]),
                None if self.guessing.contents => self.any(ty),
                None => {
                    self.needs.slot = Some(slot);
                    Err(Halt::Unseen)
                }
            },
        }
    }

    fn unseen_truth(&mut self, slot: Slot) -> Evaluated<Item> {
        if self.guessing.contents {
            return Ok(truth(self.choices.choose(2) == 1));
        }
        self.needs.slot = Some(slot);
        Err(Halt::Unseen)
    }

    /// Any value of a type.
    pub(crate) fn any(&mut self, ty: ScalarType) -> Evaluated<Item> {
        let model = self.ground.model;
        let layout = self.ground.layout;
        match ty {
            ScalarType::Range { lo, hi } => {
                return self.any_number(lo, hi).map(|number| Item::Value(Value::Int(number)));
            }
            ScalarType::Semaphore { max } => {
                return self.any_number(0, max).map(|number| Item::Value(Value::Int(number)));
            }
            _ => {}
        }
        let others: Vec<Value> = match ty {
            ScalarType::Pid(family) if family == layout.family => Vec::new(),
            ScalarType::PidOrNone(family) if family == layout.family => vec![Value::None],
            _ => {
                let is_other = |value: &Value| !matches!(value, Value::Process(id) if layout.is_member(model, *id));
                ty.values(model.type_context()).filter(is_other).collect()
            }
        };
        if !holds_members(ty, layout.family) {
            let chosen = self.choices.choose(others.len());
            return others.get(chosen).map(|&value| Item::Value(value)).ok_or(Halt::Blocked);
        }
        let n_slots = self.config.slots.len();
        let chosen = self.choices.choose(others.len() + n_slots + 1);
        match others.get(chosen) {
            Some(&value) => Ok(Item::Value(value)),
            None if chosen < others.len() + n_slots => Ok(Item::Slot((chosen - others.len()) as Slot)),
            None => self.new_slot().map(Item::Slot),
        }
    }

    /// Any number of a range, which is not gone through.
    pub(crate) fn any_number(&mut self, lo: i64, hi: i64) -> Evaluated<i64> {
        if i128::from(hi) - i128::from(lo) >= MOST_NUMBERS {
            return Err(Halt::Outside(Span::default()));
        }
        if lo > hi {
            return Err(Halt::Blocked);
        }
        Ok(lo + self.choices.choose((hi - lo + 1) as usize) as i64)
    }

    /// Any process of the family.
    pub(crate) fn any_member(&mut self) -> Evaluated<Slot> {
        let n_slots = self.config.slots.len();
        match self.choices.choose(n_slots + 1) {
            chosen if chosen < n_slots => Ok(chosen as Slot),
            _ => self.new_slot(),
        }
    }

    /// A process of the family that has no slot yet.
    pub(crate) fn new_slot(&mut self) -> Evaluated<Slot> {
        if self.config.slots.len() >= MOST_SLOTS {
            return Err(Halt::Outside(Span::default()));
        }
        // The named processes are the first ones.
        let n_named = self.ground.layout.named.len();
        let position = { self.ground.layout.is_ordered }
            .then(|| n_named + self.choices.choose(self.config.order.len() + 1 - n_named));
        Ok(self.config.push(position))
    }

    fn binary(&mut self, op: BinaryOp, left: &'m Expr, right: &'m Expr, span: Span) -> Evaluated<Item> {
        use BinaryOp::{And, Equal, Greater, GreaterEqual, Iff, Implies, Less, LessEqual, NotEqual, Or};
        Ok(match op {
            And => truth(self.truth(left)? && self.truth(right)?),
            Or => truth(self.truth(left)? || self.truth(right)?),
            Implies => truth(!self.truth(left)? || self.truth(right)?),
            Iff => truth(self.truth(left)? == self.truth(right)?),
            Equal | NotEqual | Less | LessEqual | Greater | GreaterEqual => {
                let (left, right) = (self.value(left)?, self.value(right)?);
                truth(self.compare(op, (left, right), span)?)
            }
            _ => int(arithmetic(op, self.number(left)?, self.number(right)?).ok_or(Halt::Fault(span))?),
        })
    }

    /// A process of the family is compared with processes, and with numbers as far as these tell named processes apart.
    fn compare(&self, op: BinaryOp, (left, right): (Item, Item), span: Span) -> Evaluated<bool> {
        match (left, right) {
            (Item::Slot(slot), Item::Value(Value::Int(number))) => {
                return self.compare_index(op, slot, number).ok_or(Halt::Outside(span));
            }
            (Item::Value(Value::Int(number)), Item::Slot(slot)) => {
                return self.compare_index(op.mirrored(), slot, number).ok_or(Halt::Outside(span));
            }
            _ => {}
        }
        match op {
            BinaryOp::Equal => return Ok(left == right),
            BinaryOp::NotEqual => return Ok(left != right),
            _ => {}
        }
        let (left, right) = self.comparable(left, right, span)?;
        Ok(match op {
            BinaryOp::Less => left < right,
            BinaryOp::LessEqual => left <= right,
            BinaryOp::Greater => left > right,
            _ => left >= right,
        })
    }

    /// Two numbers, or the places of two processes in their order.
    fn comparable(&self, left: Item, right: Item, span: Span) -> Evaluated<(i64, i64)> {
        let rank = |slot| self.config.rank(slot).map(|rank| rank as i64).ok_or(Halt::Outside(span));
        match (left, right) {
            (Item::Value(Value::Int(left)), Item::Value(Value::Int(right))) => Ok((left, right)),
            (Item::Slot(left), Item::Slot(right)) => Ok((rank(left)?, rank(right)?)),
            (Item::Value(Value::None), _) | (_, Item::Value(Value::None)) => Err(Halt::Fault(span)),
            _ => Err(Halt::Outside(span)),
        }
    }

    /// The values that a bound variable takes; of the family, the seen processes.
    pub(crate) fn domain(&mut self, domain: &'m Domain) -> Evaluated<Vec<Item>> {
        let model = self.ground.model;
        Ok(match domain {
            Domain::Family(family) if *family == self.ground.layout.family => {
                self.config.seen().map(Item::Slot).collect()
            }
            Domain::Family(family) => {
                model.families[*family].processes().map(|id| Item::Value(Value::Process(id))).collect()
            }
            Domain::Range(lo, hi) => {
                let (lo, hi) = (self.number(lo)?, self.number(hi)?);
                successors(Some(lo), |&at| at.checked_add(1)).take_while(|&at| at <= hi).map(int).collect()
            }
            Domain::Enum(id) => {
                let n_values = model.enums[*id].values.len() as u32;
                (0..n_values).map(|at| Item::Value(Value::Enum(*id, at))).collect()
            }
        })
    }

    pub(crate) fn bind(&mut self, binding: &Binding, value: Item) {
        self.bound.truncate(binding.var.0 as usize);
        self.bound.push(value);
    }

    fn quantified(&mut self, quantified: &'m Quantified, span: Span) -> Evaluated<Item> {
        let over = quantified.bindings.iter().any(|binding| is_over(&binding.domain, self.ground.layout.family));
        let n_outer = self.bound.len();
        let stop_at = match quantified.quantifier {
            Quantifier::Forall => Some(false),
            Quantifier::Exists => Some(true),
            Quantifier::Count if over => return Err(Halt::Outside(span)),
            Quantifier::Count => None,
        };
        let mut count = 0;
        let stopped = self.instances(quantified, &quantified.bindings, &mut |holds| {
            count += i64::from(holds);
            Some(holds) == stop_at
        })?;
        self.bound.truncate(n_outer);
        let decided = match stop_at {
            None => return Ok(int(count)),
            Some(at) if stopped => return Ok(truth(at)),
            Some(at) => at,
        };
        if over && self.guessing.witnesses && self.choices.choose(2) == 1 {
            return Ok(truth(decided));
        }
        self.needs.witness |= over && !self.guessing.witnesses;
        Ok(truth(!decided))
    }

    fn instances(
        &mut self,
        quantified: &'m Quantified,
        bindings: &'m [Binding],
        stop: &mut dyn FnMut(bool) -> bool,
    ) -> Evaluated<bool> {
        let Some((binding, inner)) = bindings.split_first() else {
            let meant = match &quantified.filter {
                None => true,
                Some(filter) => self.truth(filter)?,
            };
            return Ok(meant && stop(self.truth(&quantified.body)?));
        };
        if is_over(&binding.domain, self.ground.layout.family) {
            for slot in 0..self.config.slots.len() {
                if self.config.slots[slot].is_none() {
                    continue;
                }
                self.bind(binding, Item::Slot(slot as Slot));
                if self.instances(quantified, inner, stop)? {
                    return Ok(true);
                }
            }
            return Ok(false);
        }
        for value in self.domain(&binding.domain)? {
            self.bind(binding, value);
            if self.instances(quantified, inner, stop)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

pub(crate) fn truth(truth: bool) -> Item {
    Item::Value(Value::Bool(truth))
}

pub(crate) fn int(number: i64) -> Item {
    Item::Value(Value::Int(number))
}

/// Exact arithmetic, as in `model::eval`.
pub(crate) fn arithmetic(op: BinaryOp, a: i64, b: i64) -> Option<i64> {
    match op {
        BinaryOp::Add => a.checked_add(b),
        BinaryOp::Subtract => a.checked_sub(b),
        BinaryOp::Multiply => a.checked_mul(b),
        BinaryOp::Divide | BinaryOp::Remainder if b == 0 => None,
        BinaryOp::Divide => a.checked_div_euclid(b),
        BinaryOp::Remainder => Some(a.wrapping_rem_euclid(b)),
        BinaryOp::Min => Some(a.min(b)),
        BinaryOp::Max => Some(a.max(b)),
        BinaryOp::Machine(op) => op.apply(a, b).ok(),
        _ => None,
    }
}
