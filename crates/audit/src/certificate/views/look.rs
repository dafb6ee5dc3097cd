//! What expressions come to where some processes are seen, as the checker reads them.
//!
//! In: a scene, who looks, the text as it was written. Out: a value, one for each way through what is open; or that an unseen process
//! has to be seen first. Processes of the family are slots: they are compared, stored, and used to index what belongs to processes; all else
//! is refused, as is the number of processes.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use base::Span;
use evidence::views::{ElementArray, Item, LocalColumn, SharedColumn};
use model::control::TextOwner;
use model::expr::{Access, BinaryOp, Binding, Domain, Expr, ExprKind, Quantified, Quantifier, Whose};
use model::process::{FamilyId, ProcessId};
use model::types::ScalarType;
use model::value::Value;
use model::variable::{CellId, Storage};

use super::MOST_WITNESSES;
use super::scene::{Columns, SLOTS, Scene, Slot};
use super::steps::MOST_VALUES;
use super::text::Text;
use crate::certificate::symmetry::surely_has_value;

/// Where the text of a loop is, and the scene and the bound values before it.
type BeforeLoop = (usize, Scene, Vec<Item>);

/// The decisions of one way: which was taken, out of how many.
#[derive(Clone, Debug, Default)]
pub(super) struct Decisions {
    decisions: Vec<(usize, usize)>,
    next: usize,
    /// What loops inside the step lead to. All else that it depends on (who looks, the text) is the same for all ways of a step.
    pub after_loops: BTreeMap<BeforeLoop, Rc<Vec<Option<Scene>>>>,
}

impl Decisions {
    pub fn decide(&mut self, n: usize) -> usize {
        if n <= 1 {
            return 0;
        }
        if let Some(&(taken, _)) = self.decisions.get(self.next) {
            self.next += 1;
            return taken;
        }
        self.decisions.push((0, n));
        self.next += 1;
        0
    }

    /// The way after this one.
    pub fn following(mut self) -> Option<Decisions> {
        self.next = 0;
        loop {
            let (taken, n) = self.decisions.pop()?;
            if taken + 1 < n {
                self.decisions.push((taken + 1, n));
                return Some(self);
            }
        }
    }
}

/// Why a way ends early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// A fault of the program.
    Fault,
    /// No step.
    No,
    /// The process in this slot has to be seen.
    Unseen(Slot),
    /// The text distinguishes processes, or counts them.
    Uneven(Span),
}

/// Who looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Looker {
    Slot(Slot),
    Other(ProcessId),
    Nobody,
}

/// Somebody's look at a scene, in the course of one way.
pub(super) struct Look<'a, 'm> {
    pub text: &'a Text<'m>,
    pub scene: Scene,
    pub looker: Looker,
    pub bound: Vec<Item>,
    pub way: &'a mut Decisions,
    /// Whether what is unseen may be anything, because no more can be added.
    pub guess_contents: bool,
    pub guess_witnesses: bool,
    /// Whether as many processes were added for quantifiers as are at most: what needs more may be decided by one that is unseen.
    pub has_most_witnesses: bool,
    /// How many processes the quantifiers met so far may be decided by, and whether one of these may be unseen.
    pub n_decided: usize,
    pub is_open: bool,
    /// The processes whose contents were read by name.
    pub named: BTreeSet<Slot>,
    /// Within a quantifier or a loop.
    pub depth: usize,
    /// Whether something was written that belongs to a process which is not seen.
    pub wrote_unseen: bool,
    /// Of this process it is noted which columns were read.
    pub watched: Option<Slot>,
    pub read: Columns,
}

/// Where something is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Spot {
    Shared(usize),
    Of(Slot, usize),
}

pub(super) type Looked<T> = Result<T, End>;

impl<'m> Look<'_, 'm> {
    pub fn value(&mut self, expr: &'m Expr) -> Looked<Item> {
        let uneven = End::Uneven(expr.span);
        match &expr.kind {
            ExprKind::Const(Value::Process(id)) if self.text.is_member(*id) => {
                self.named_process(self.text.model.processes[*id].index).map(Item::Slot).ok_or(uneven)
            }
            ExprKind::Const(value) => Ok(Item::Value(*value)),
            ExprKind::Parameter(id) if *id == self.text.size => Err(uneven),
            ExprKind::Parameter(id) => Ok(number(self.text.model.parameters[*id].value)),
            ExprKind::Myself => self.me(expr.span),
            ExprKind::Bound(var) => self.bound.get(var.0 as usize).copied().ok_or(uneven),
            ExprKind::Read(access) => {
                let spot = self.spot(access)?;
                self.note(spot, access);
                let ty = self.text.model.vars[access.var].ty.scalar();
                match self.content(spot, ty)? {
                    // A loop over all processes that is not under way has no counter, whatever the text has in it.
                    Item::Value(Value::None) if !matches!(ty, ScalarType::PidOrNone(_) | ScalarType::Lock) => {
                        Err(uneven)
                    }
                    item => Ok(item),
                }
            }
            ExprKind::At { who, places, .. } => {
                self.stands(who, |place| places.iter().any(|&one| place == Item::Place(one)))
            }
            ExprKind::Not(inner) => Ok(boolean(!self.holds(inner)?)),
            ExprKind::Negate(inner) => self.int(inner)?.checked_neg().map(number).ok_or(End::Fault),
            ExprKind::Binary(op, left, right) => self.operator(*op, left, right, expr.span),
            ExprKind::If(test, yes, no) => {
                let part = if self.holds(test)? { yes } else { no };
                self.value(part)
            }
            ExprKind::Quantified(quantified) => self.quantifier(quantified, expr),
            // The index of a process of the family: the slot stands for it, and is refused wherever a number is needed.
            ExprKind::IndexOf(inner) => match self.value(inner)? {
                Item::Value(Value::Process(id)) => Ok(number(self.text.model.processes[id].index)),
                Item::Value(Value::None) => Err(End::Fault),
                value => Ok(value),
            },
            ExprKind::ToProcess(family, inner) => match self.value(inner)? {
                Item::Slot(slot) if *family == self.text.family => Ok(Item::Slot(slot)),
                Item::Value(Value::None) => Ok(Item::Value(Value::None)),
                Item::Value(Value::Process(id)) if self.text.model.processes[id].family == *family => {
                    Ok(Item::Value(Value::Process(id)))
                }
                Item::Value(Value::Int(index)) if *family != self.text.family => {
                    let found = self.text.model.families[*family].process_at(index);
                    found.map(|id| Item::Value(Value::Process(id))).ok_or(End::Fault)
                }
                Item::Value(Value::Int(index)) => self.named_process(index).map(Item::Slot).ok_or(uneven),
                Item::Value(Value::Process(_)) => Err(End::Fault),
                // A slot stands for an index, too, and some processes of the other family may have it.
                _ => Err(uneven),
            },
        }
    }

    /// The slot of a named process.
    fn named_process(&self, index: i64) -> Option<Slot> {
        match self.scene.shared[self.text.named_at(index)?] {
            Item::Slot(slot) => Some(slot),
            _ => None,
        }
    }

    /// An index compared with a number: of a named process it is known, of any other it is at least the number of these. `None` where that does
    /// not decide.
    fn compare_index(&self, op: BinaryOp, slot: Slot, number: i64) -> Option<bool> {
        let n_named = self.text.n_named as i64;
        let of = |index: i64| match op {
            BinaryOp::Equal => Some(index == number),
            BinaryOp::NotEqual => Some(index != number),
            _ => compare(op, index, number),
        };
        if let Some(index) = (0..n_named).find(|&index| self.named_process(index) == Some(slot)) {
            return of(index);
        }
        // What is so of the least index that it may have, of the next, and of an index beyond the number is so of all.
        let (least, far) = (of(n_named)?, of(n_named.max(number).checked_add(1)?)?);
        let between = number < n_named || of(number)? == least && of(number.saturating_sub(1).max(n_named))? == least;
        (least == far && between).then_some(least)
    }

    fn stands(&mut self, who: &'m Expr, is_there: impl Fn(Item) -> bool) -> Looked<Item> {
        let place = match self.value(who)? {
            Item::Slot(slot) => {
                if !self.is_at_hand(who, slot) {
                    self.named.insert(slot);
                }
                self.watch(slot, 0);
                match &self.scene.slots[slot as usize] {
                    Some(local) => local[0],
                    None if self.guess_contents => return Ok(boolean(self.way.decide(2) == 0)),
                    None => return Err(End::Unseen(slot)),
                }
            }
            Item::Value(Value::Process(id)) => {
                let at = self.text.shared_at(SharedColumn::Control(id)).ok_or(End::Uneven(who.span))?;
                self.scene.shared[at]
            }
            Item::Value(Value::None) => return Err(End::Fault),
            _ => return Err(End::Uneven(who.span)),
        };
        Ok(boolean(is_there(place)))
    }

    pub fn holds(&mut self, expr: &'m Expr) -> Looked<bool> {
        match self.value(expr)? {
            Item::Value(Value::Bool(holds)) => Ok(holds),
            _ => Err(End::Uneven(expr.span)),
        }
    }

    pub fn int(&mut self, expr: &'m Expr) -> Looked<i64> {
        match self.value(expr)? {
            Item::Value(Value::Int(number)) => Ok(number),
            Item::Value(Value::None) => Err(End::Fault),
            _ => Err(End::Uneven(expr.span)),
        }
    }

    pub fn me(&self, span: Span) -> Looked<Item> {
        match self.looker {
            Looker::Slot(slot) => Ok(Item::Slot(slot)),
            Looker::Other(id) => Ok(Item::Value(Value::Process(id))),
            Looker::Nobody => Err(End::Uneven(span)),
        }
    }

    /// Where an access leads.
    pub fn spot(&mut self, access: &'m Access) -> Looked<Spot> {
        let uneven = End::Uneven(access.span);
        let text = self.text;
        let owner = match &access.whose {
            Whose::Shared => None,
            Whose::Mine => Some(self.me(access.span)?),
            Whose::Of(who) => Some(self.value(who)?),
            Whose::Frame => return Err(uneven),
        };
        let var = &text.model.vars[access.var];
        let mut position = 0;
        let mut element_of = None;
        for (at, index) in access.indices.iter().enumerate() {
            let len = var.ty.dimensions()[at];
            match (self.value(index)?, text.rows.get(&access.var) == Some(&at)) {
                (Item::Slot(slot), true) => element_of = Some(slot),
                (Item::Value(Value::Int(number)), true) => match self.named_process(number) {
                    Some(slot) => element_of = Some(slot),
                    None => return Err(End::Uneven(index.span)),
                },
                (Item::Value(Value::Int(index)), false) if (0..len as i64).contains(&index) => {
                    position = position * len + index as usize;
                }
                (Item::Value(Value::Int(_)), false) | (Item::Value(Value::None), _) => return Err(End::Fault),
                _ => return Err(End::Uneven(index.span)),
            }
        }
        let owner = match owner {
            Some(Item::Slot(slot)) => {
                let is_own = matches!(var.storage, Storage::Public(of) | Storage::Local(of) if of == text.family);
                let column = text.local_at(LocalColumn::Own(var.offset + position)).filter(|_| is_own);
                return column.map(|column| Spot::Of(slot, column)).ok_or(uneven);
            }
            Some(Item::Value(Value::Process(id))) => Some(id),
            Some(Item::Value(Value::None)) => return Err(End::Fault),
            Some(_) => return Err(uneven),
            None => None,
        };
        let found = match element_of {
            Some(slot) => {
                let column = LocalColumn::Element(ElementArray { var: access.var, owner }, position);
                text.local_at(column).map(|column| Spot::Of(slot, column))
            }
            None => {
                let first = owner.map_or(0, |id| text.model.processes[id].first_cell);
                let cell = CellId::new(first + var.offset + position);
                text.shared_at(SharedColumn::Cell(cell)).map(Spot::Shared)
            }
        };
        found.ok_or(uneven)
    }

    /// Remembers whose contents are read, if a cell named the process: as the owner, or as the index of an element.
    pub fn note(&mut self, spot: Spot, access: &Access) {
        let Spot::Of(slot, _) = spot else { return };
        let by_hand = match (self.text.rows.get(&access.var), &access.whose) {
            (Some(&dimension), _) => {
                matches!(&access.indices[dimension].kind, ExprKind::IndexOf(who) if self.is_at_hand(who, slot))
            }
            (None, Whose::Of(who)) => self.is_at_hand(who, slot),
            (None, Whose::Mine | Whose::Shared | Whose::Frame) => true,
        };
        if !by_hand {
            self.named.insert(slot);
        }
    }

    /// Whether an expression is the process that looks, or one that a quantifier takes, and is in this slot. The index of a process of another family may be that of a named one.
    fn is_at_hand(&self, who: &Expr, slot: Slot) -> bool {
        match who.kind {
            ExprKind::Myself => matches!(self.looker, Looker::Slot(own) if own == slot),
            ExprKind::Bound(var) => self.bound.get(var.0 as usize) == Some(&Item::Slot(slot)),
            _ => false,
        }
    }

    /// Notes what is read of the process that is watched.
    fn watch(&mut self, slot: Slot, column: usize) {
        if self.watched == Some(slot) {
            self.read |= 1 << column;
        }
    }

    pub fn content(&mut self, spot: Spot, ty: ScalarType) -> Looked<Item> {
        if let Spot::Of(slot, column) = spot {
            self.watch(slot, column);
        }
        let shown = match spot {
            Spot::Shared(column) => Some(self.scene.shared[column]),
            Spot::Of(slot, column) => self.scene.slots[slot as usize].as_ref().map(|local| local[column]),
        };
        match (shown, spot) {
            (Some(Item::Hidden), _) => self.anything(ty),
            (Some(shown), _) => Ok(shown),
            (None, Spot::Of(slot, _)) if !self.guess_contents => Err(End::Unseen(slot)),
            (None, _) => self.anything(ty),
        }
    }

    /// Whether cells of a type may hold processes of the family.
    pub fn names_members(&self, ty: ScalarType) -> bool {
        match ty {
            ScalarType::Pid(of) | ScalarType::PidOrNone(of) => of == self.text.family,
            ScalarType::Lock => true,
            _ => false,
        }
    }

    pub fn anything(&mut self, ty: ScalarType) -> Looked<Item> {
        if ty.n_values(self.text.model.type_context()) > MOST_VALUES as u128 {
            return Err(End::Uneven(Span::default()));
        }
        let is_other = |value: &Value| !matches!(value, Value::Process(id) if self.text.is_member(*id));
        let values: Vec<Value> = ty.values(self.text.model.type_context()).filter(is_other).collect();
        let n_members = if self.names_members(ty) { self.scene.slots.len() + 1 } else { 0 };
        let taken = self.way.decide(values.len() + n_members);
        match values.get(taken) {
            Some(value) => Ok(Item::Value(*value)),
            None if n_members == 0 => Err(End::No),
            None => self.member(taken - values.len()).map(Item::Slot),
        }
    }

    /// The process in the slot of this number; the number after the last is a process without a slot.
    pub fn member(&mut self, number: usize) -> Looked<Slot> {
        if number < self.scene.slots.len() {
            return Ok(number as Slot);
        }
        if self.scene.slots.len() >= SLOTS {
            return Err(End::Uneven(Span::default()));
        }
        let n_slots = self.scene.slots.len();
        // Named processes come before all others.
        let n_named = self.text.n_named;
        let rank = if self.text.is_ordered { Some(n_named + self.way.decide(n_slots + 1 - n_named)) } else { None };
        Ok(self.scene.add(rank))
    }

    fn operator(&mut self, op: BinaryOp, left: &'m Expr, right: &'m Expr, span: Span) -> Looked<Item> {
        match op {
            BinaryOp::And => return Ok(boolean(self.holds(left)? && self.holds(right)?)),
            BinaryOp::Or => return Ok(boolean(self.holds(left)? || self.holds(right)?)),
            BinaryOp::Implies => return Ok(boolean(!self.holds(left)? || self.holds(right)?)),
            _ => {}
        }
        let (a, b) = (self.value(left)?, self.value(right)?);
        let decided = match (a, b) {
            (Item::Slot(slot), Item::Value(Value::Int(number))) => self.compare_index(op, slot, number),
            (Item::Value(Value::Int(number)), Item::Slot(slot)) => self.compare_index(exchanged(op), slot, number),
            _ => None,
        };
        if let Some(decided) = decided {
            return Ok(boolean(decided));
        }
        let is_index = |item: Item| matches!(item, Item::Slot(_));
        match op {
            BinaryOp::Iff => return Ok(boolean(a == b)),
            // Processes are compared with processes, numbers with numbers.
            BinaryOp::Equal | BinaryOp::NotEqual => {
                if matches!(
                    (a, b),
                    (Item::Slot(_), Item::Value(Value::Int(_))) | (Item::Value(Value::Int(_)), Item::Slot(_))
                ) {
                    return Err(End::Uneven(span));
                }
                return Ok(boolean((a == b) == (op == BinaryOp::Equal)));
            }
            _ => {}
        }
        if is_index(a) || is_index(b) {
            return match (a, b) {
                (Item::Slot(a), Item::Slot(b)) if self.text.is_ordered => {
                    let (a, b) = (self.scene.ranks[a as usize] as i64, self.scene.ranks[b as usize] as i64);
                    compare(op, a, b).map(boolean).ok_or(End::Uneven(span))
                }
                (_, Item::Value(Value::None)) | (Item::Value(Value::None), _) => Err(End::Fault),
                _ => Err(End::Uneven(span)),
            };
        }
        let (a, b) = match (a, b) {
            (Item::Value(Value::Int(a)), Item::Value(Value::Int(b))) => (a, b),
            (Item::Value(Value::None), _) | (_, Item::Value(Value::None)) => return Err(End::Fault),
            _ => return Err(End::Uneven(span)),
        };
        match compare(op, a, b) {
            Some(holds) => Ok(boolean(holds)),
            None => compute(op, a, b).map(number).ok_or(End::Fault),
        }
    }

    fn quantifier(&mut self, quantified: &'m Quantified, expr: &'m Expr) -> Looked<Item> {
        let span = expr.span;
        let over = quantified.bindings.iter().filter(|binding| self.text.is_all(&binding.domain)).count();
        let is_mixed = over > 0 && over < quantified.bindings.len();
        if over > 0
            && (self.depth > 0 && !self.guess_witnesses || is_mixed || quantified.quantifier == Quantifier::Count)
        {
            return Err(End::Uneven(span));
        }
        // It stops at the first process that decides; another one, unseen perhaps, could be a fault before.
        if over > 0 && !self.surely_has_value(expr) {
            return Err(End::Uneven(span));
        }
        let outer = self.bound.clone();
        self.depth += 1;
        let mut instances: Vec<Vec<Item>> = vec![outer.clone()];
        for binding in &quantified.bindings {
            let mut longer = Vec::new();
            for instance in instances {
                self.bound = instance.clone();
                for value in self.members_of(&binding.domain)? {
                    let mut bound = instance.clone();
                    bound.truncate(binding.var.0 as usize);
                    bound.push(value);
                    longer.push(bound);
                }
            }
            instances = longer;
        }
        let mut n_true = 0;
        let decides = quantified.quantifier == Quantifier::Exists;
        let mut is_decided = false;
        for instance in instances {
            self.bound = instance;
            let holds = match self.instance(quantified) {
                Ok(Some(holds)) => holds,
                Ok(None) => continue,
                Err(end) => return Err(end),
            };
            n_true += i64::from(holds);
            if quantified.quantifier != Quantifier::Count && holds == decides {
                is_decided = true;
                break;
            }
        }
        self.bound = outer;
        self.depth -= 1;
        if quantified.quantifier == Quantifier::Count {
            return Ok(number(n_true));
        }
        if over > 0 {
            self.n_decided += over;
            let is_beyond = self.has_most_witnesses && self.n_decided > MOST_WITNESSES;
            if !is_decided && (self.guess_witnesses || is_beyond) {
                is_decided = self.way.decide(2) == 1;
            } else if !is_decided {
                self.is_open = true;
            }
        }
        Ok(boolean(is_decided == decides))
    }

    /// Whether an expression is a fault in no state.
    fn surely_has_value(&self, expr: &Expr) -> bool {
        let scope = match self.looker {
            Looker::Slot(_) => Some(self.text.family),
            Looker::Other(process) => Some(self.text.model.processes[process].family),
            Looker::Nobody => None,
        };
        let family = |item: &Item| match item {
            Item::Slot(_) => Some(self.text.family),
            Item::Value(Value::Process(id)) => Some(self.text.model.processes[*id].family),
            Item::Value(_) | Item::Place(_) | Item::Taken(_) | Item::Hidden => None,
        };
        let bound: Vec<Option<FamilyId>> = self.bound.iter().map(family).collect();
        surely_has_value(self.text.model, self.text.any_size(), expr, scope.map(TextOwner::Family), &bound)
    }

    /// Whether the body holds for the bound values; `None` where the filter leaves them out.
    fn instance(&mut self, quantified: &'m Quantified) -> Looked<Option<bool>> {
        match &quantified.filter {
            Some(filter) if !self.holds(filter)? => Ok(None),
            _ => self.holds(&quantified.body).map(Some),
        }
    }

    /// The values of a bound variable, unseen processes left out.
    pub fn members_of(&mut self, domain: &'m Domain) -> Looked<Vec<Item>> {
        match domain {
            Domain::Family(of) if *of == self.text.family => {
                Ok(self.scene.seen().into_iter().map(Item::Slot).collect())
            }
            Domain::Family(of) => {
                let processes = self.text.model.families[*of].processes();
                Ok(processes.map(|id| Item::Value(Value::Process(id))).collect())
            }
            Domain::Enum(id) => {
                let n_values = self.text.model.enums[*id].values.len() as u32;
                Ok((0..n_values).map(|at| Item::Value(Value::Enum(*id, at))).collect())
            }
            Domain::Range(lo, hi) => {
                let (lo, hi) = (self.int(lo)?, self.int(hi)?);
                Ok((lo..=hi).map(number).collect())
            }
        }
    }

    pub fn bind(&mut self, binding: &Binding, value: Item) {
        self.bound.truncate(binding.var.0 as usize);
        self.bound.push(value);
    }
}

pub(super) fn boolean(holds: bool) -> Item {
    Item::Value(Value::Bool(holds))
}

pub(super) fn number(number: i64) -> Item {
    Item::Value(Value::Int(number))
}

fn compare(op: BinaryOp, a: i64, b: i64) -> Option<bool> {
    match op {
        BinaryOp::Less => Some(a < b),
        BinaryOp::LessEqual => Some(a <= b),
        BinaryOp::Greater => Some(a > b),
        BinaryOp::GreaterEqual => Some(a >= b),
        _ => None,
    }
}

/// The comparison with its sides swapped.
fn exchanged(op: BinaryOp) -> BinaryOp {
    match op {
        BinaryOp::Less => BinaryOp::Greater,
        BinaryOp::Greater => BinaryOp::Less,
        BinaryOp::LessEqual => BinaryOp::GreaterEqual,
        BinaryOp::GreaterEqual => BinaryOp::LessEqual,
        other => other,
    }
}

/// Arithmetic as `eval` has it; `None` is a fault.
fn compute(op: BinaryOp, a: i64, b: i64) -> Option<i64> {
    match op {
        BinaryOp::Add => a.checked_add(b),
        BinaryOp::Subtract => a.checked_sub(b),
        BinaryOp::Multiply => a.checked_mul(b),
        BinaryOp::Divide => a.checked_div_euclid(b),
        // The one overflow, i64::MIN % -1, is 0.
        BinaryOp::Remainder if b == -1 => Some(0),
        BinaryOp::Remainder => a.checked_rem_euclid(b),
        BinaryOp::Min => Some(a.min(b)),
        BinaryOp::Max => Some(a.max(b)),
        BinaryOp::Machine(op) => op.apply(a, b).ok(),
        _ => None,
    }
}
