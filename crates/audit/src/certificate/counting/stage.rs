//! Values and steps of the checker where a few processes are on stage and the others are counted.
//!
//! In: a stage, who acts, and the views of those behind it. Out: what an expression is, or the stage after a step; with demands on how many
//! processes there are of each view. Where something is open, each possibility is a way of its own.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use evidence::counting::{CountingItem, CountingView};
use evidence::views::{ElementArray, LocalColumn, SharedColumn};
use model::expr::{Access, BinaryOp, Binding, Domain, Expr, ExprKind, Quantified, Quantifier, Whose};
use model::process::{FamilyId, ProcessId};
use model::size::{Linear, ParameterId, Size};
use model::types::{EnumId, ScalarType};
use model::value::Value;
use model::variable::{CellId, Storage};

use super::cast::Cast;
use super::system::{Demand, Lin, Unknown, at_least, exactly};

/// At most so many values are gone through one by one.
pub(super) const FEW: i64 = 24;

/// Why there is no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// The program is at fault.
    Fault,
    /// This way is none.
    Never,
    /// This checker does not follow it.
    Lost(base::Span),
}

pub(super) type Told<T> = Result<T, Stop>;

/// One way through what is open.
#[derive(Default)]
pub(super) struct Path {
    picked: Vec<(usize, usize)>,
    next: usize,
}

impl Path {
    pub fn pick(&mut self, n: usize) -> usize {
        if n <= 1 {
            return 0;
        }
        if self.next == self.picked.len() {
            self.picked.push((0, n));
        }
        self.next += 1;
        self.picked[self.next - 1].0
    }

    /// The path after this one.
    pub fn turn(mut self) -> Option<Path> {
        loop {
            let (at, n) = self.picked.pop()?;
            if at + 1 < n {
                self.picked.push((at + 1, n));
                return Some(Path { next: 0, ..self });
            }
        }
    }
}

/// What is seen of a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stage {
    pub shared: Vec<CountingItem>,
    pub actors: Vec<(FamilyId, Vec<CountingItem>)>,
}

impl Stage {
    /// The stage of no process of a crowd, to which views are added.
    pub fn alone(view: &CountingView) -> Stage {
        Stage { shared: view.shared.clone(), actors: vec![(view.family, view.local.clone())] }
    }

    /// With one more process on stage, if both can be parts of one state.
    pub fn joined(&self, view: &CountingView) -> Option<Stage> {
        let number = u8::try_from(self.actors.len()).ok()?;
        let agreed = |(here, there): (&CountingItem, &CountingItem)| match (*here, *there) {
            (CountingItem::Other(family), CountingItem::Slot(_)) => {
                (family == view.family).then_some(CountingItem::Slot(number))
            }
            (CountingItem::Slot(at), CountingItem::Other(family)) => {
                (self.actors[at as usize].0 == family).then_some(*here)
            }
            (CountingItem::Slot(_), _) => None,
            // The first to be on stage is believed; what another one knows besides is left open.
            (CountingItem::Any, CountingItem::Any | CountingItem::Offset(..) | CountingItem::Value(Value::Int(_)))
            | (CountingItem::Offset(..) | CountingItem::Value(Value::Int(_)), CountingItem::Any)
            | (CountingItem::Offset(..), CountingItem::Value(Value::Int(_)))
            | (CountingItem::Value(Value::Int(_)), CountingItem::Offset(..)) => Some(*here),
            (CountingItem::Offset(cell, _), CountingItem::Offset(other, _)) if cell != other => Some(*here),
            _ => (here == there).then_some(*here),
        };
        let shared = self.shared.iter().zip(&view.shared).map(agreed).collect::<Option<Vec<CountingItem>>>()?;
        let mut actors = self.actors.clone();
        let itself = |item: &CountingItem| {
            if matches!(item, CountingItem::Slot(_)) { CountingItem::Slot(number) } else { *item }
        };
        actors.push((view.family, view.local.iter().map(itself).collect()));
        Some(Stage { shared, actors })
    }
}

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Thing {
    Bool(bool),
    Number(Lin),
    /// Some number.
    Vague,
    Name(EnumId, u32),
    Nobody,
    Single(ProcessId),
    Actor(usize),
    /// A process of the family that is not on stage.
    Behind(FamilyId),
    /// A process of the family, but not this actor.
    Not(FamilyId, usize),
}

/// Who acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Actor(usize),
    Single(ProcessId),
    Nobody,
}

/// Where a value is.
#[derive(Clone, Copy)]
pub(super) enum Spot {
    Shared(usize),
    Counted(CellId),
    Of(usize, usize),
    Behind,
}

/// A process that reads and acts.
pub(super) struct Player<'a, 'm> {
    pub cast: &'a Cast<'m>,
    pub before: &'a Stage,
    pub stage: Stage,
    pub role: Role,
    pub bound: Vec<Thing>,
    pub path: &'a mut Path,
    pub views: &'a [CountingView],
    /// The views of those behind the stage.
    pub behind: &'a [usize],
    /// Counted cells that were written; `None`: with some number.
    pub written: BTreeMap<CellId, Option<Lin>>,
    pub demands: Vec<Demand>,
    /// Whether it is inside a quantifier.
    pub within: bool,
}

impl<'m> Player<'_, 'm> {
    pub fn is(&mut self, expr: &'m Expr) -> Told<bool> {
        match self.value(expr)? {
            Thing::Bool(is) => Ok(is),
            _ => Err(Stop::Lost(expr.span)),
        }
    }

    fn settled(&mut self, expr: &'m Expr) -> Told<i64> {
        match self.value(expr)? {
            Thing::Number(lin) => lin.settled().ok_or(Stop::Lost(expr.span)),
            _ => Err(Stop::Lost(expr.span)),
        }
    }

    pub fn me(&self) -> Option<Thing> {
        match self.role {
            Role::Actor(at) => Some(Thing::Actor(at)),
            Role::Single(id) => Some(Thing::Single(id)),
            Role::Nobody => None,
        }
    }

    /// How many processes the parameter says there are.
    fn parameter(&self, id: ParameterId) -> Option<Lin> {
        if !self.cast.sizes.contains(&id) {
            return Some(Lin::just(self.cast.model.parameters[id].value));
        }
        if self.within {
            return None;
        }
        let is_sized =
            |family: &&FamilyId| matches!(self.cast.written.families[**family].size, Size::Parameter(of) if of == id);
        let family = self.cast.crowds.iter().find(is_sized)?;
        let like_others = how_many(*family, &self.stage, self.views, self.behind);
        like_others.and(1, &Lin::just(self.cast.n_named(*family)))
    }

    /// A sum of parameters as a number.
    pub fn linear(&self, linear: &Linear) -> Option<Lin> {
        linear
            .multiples
            .iter()
            .try_fold(Lin::just(linear.constant), |sum, (&id, &times)| sum.and(times, &self.parameter(id)?))
    }

    pub fn value(&mut self, expr: &'m Expr) -> Told<Thing> {
        let lost = Stop::Lost(expr.span);
        match &expr.kind {
            ExprKind::Const(Value::Process(id)) if !self.cast.is_constant(*id) => Err(lost),
            ExprKind::Const(value) => Ok(thing(*value)),
            ExprKind::Parameter(id) => self.parameter(*id).map(Thing::Number).ok_or(lost),
            ExprKind::Myself => self.me().ok_or(lost),
            ExprKind::Bound(var) => self.bound.get(var.0 as usize).cloned().ok_or(lost),
            ExprKind::Read(access) => {
                let spot = self.spot(access)?;
                self.content(spot, access)
            }
            ExprKind::At { who, places, .. } => {
                let place = match self.value(who)? {
                    Thing::Actor(at) => self.stage.actors[at].1[0],
                    Thing::Single(id) => {
                        let at = self.cast.shared_at(SharedColumn::Control(id)).ok_or(lost)?;
                        self.stage.shared[at]
                    }
                    Thing::Behind(_) | Thing::Not(..) => return Ok(Thing::Bool(self.path.pick(2) == 0)),
                    Thing::Nobody => return Err(Stop::Fault),
                    _ => return Err(lost),
                };
                Ok(Thing::Bool(places.iter().any(|one| CountingItem::Place(*one) == place)))
            }
            ExprKind::Not(inner) => Ok(Thing::Bool(!self.is(inner)?)),
            ExprKind::Negate(inner) => match self.value(inner)? {
                Thing::Number(lin) => within_bounds(Lin::default().and(-1, &lin), lin.settled().is_some(), lost),
                _ => Err(lost),
            },
            ExprKind::If(test, yes, no) => {
                let branch = if self.is(test)? { yes } else { no };
                self.value(branch)
            }
            ExprKind::Binary(op, left, right) => self.operation(*op, left, right, expr.span),
            ExprKind::Quantified(quantified) => {
                let outer = (self.bound.clone(), self.within);
                let found = self.quantifier(quantified, expr.span);
                self.bound = outer.0;
                self.within = outer.1;
                self.decide(quantified, found?, expr.span)
            }
            ExprKind::IndexOf(who) => match self.value(who)? {
                Thing::Single(id) => {
                    let index = self.cast.index(id).and_then(|index| self.linear(&index));
                    index.map(Thing::Number).ok_or(lost)
                }
                Thing::Nobody => Err(Stop::Fault),
                one @ (Thing::Actor(_) | Thing::Behind(_) | Thing::Not(..)) => Ok(one),
                _ => Err(lost),
            },
            ExprKind::ToProcess(family, inner) => {
                if let Some(named) = self.cast.written_process(*family, inner) {
                    return Ok(Thing::Single(named));
                }
                let one = self.value(inner)?;
                match (self.family(&one), one) {
                    (_, Thing::Nobody) => Ok(Thing::Nobody),
                    (Some(of), one) if of == *family => Ok(one),
                    (Some(_), Thing::Single(_)) => Err(Stop::Fault),
                    // One of a crowd means its index, too, which a process of the other family may have.
                    (Some(_), _) => Err(lost),
                    (None, Thing::Number(lin)) if !self.cast.crowds.contains(family) => {
                        let index = lin.settled().ok_or(lost)?;
                        let process = self.cast.model.families[*family].process_at(index);
                        process.map(Thing::Single).ok_or(Stop::Fault)
                    }
                    _ => Err(lost),
                }
            }
        }
    }

    pub fn family(&self, one: &Thing) -> Option<FamilyId> {
        match one {
            Thing::Single(id) => Some(self.cast.model.processes[*id].family),
            Thing::Actor(at) => Some(self.stage.actors[*at].0),
            Thing::Behind(family) | Thing::Not(family, _) => Some(*family),
            _ => None,
        }
    }

    pub fn spot(&mut self, access: &'m Access) -> Told<Spot> {
        let lost = Stop::Lost(access.span);
        let cast = self.cast;
        let var = &cast.model.vars[access.var];
        let owner = match &access.whose {
            Whose::Shared => None,
            Whose::Mine => Some(self.me().ok_or(lost)?),
            Whose::Of(who) => Some(self.value(who)?),
            Whose::Frame => return Err(lost),
        };
        let dimensions = var.ty.dimensions();
        let mut position = 0;
        let mut of = None;
        for (at, index) in access.indices.iter().enumerate() {
            let row = cast.rows.get(&access.var).filter(|(_, row)| *row == at);
            let named = row.and_then(|(family, _)| cast.written_process(*family, index));
            let index = match named {
                Some(named) => Thing::Single(named),
                None => match &index.kind {
                    ExprKind::IndexOf(who) if row.is_some() => self.value(who)?,
                    _ => self.value(index)?,
                },
            };
            match (cast.rows.get(&access.var), index) {
                (_, Thing::Nobody) => return Err(Stop::Fault),
                (Some((family, row)), one) if *row == at => {
                    if self.family(&one) != Some(*family) {
                        return Err(lost);
                    }
                    of = Some(one);
                }
                (_, Thing::Number(lin)) => {
                    let index = lin.settled().ok_or(lost)?;
                    if index < 0 || index >= dimensions[at] as i64 {
                        return Err(Stop::Fault);
                    }
                    position = position * dimensions[at] + index as usize;
                }
                _ => return Err(lost),
            }
        }
        let (one, column) = match (owner, of) {
            (Some(Thing::Nobody), _) => return Err(Stop::Fault),
            (Some(Thing::Single(id)), None) => {
                let first = cast.model.processes[id].first_cell;
                return self.cell(CellId::new(first + var.offset + position)).ok_or(lost);
            }
            (None, None) => return self.cell(CellId::new(var.offset + position)).ok_or(lost),
            (Some(one), None) => {
                let family = self.family(&one).ok_or(lost)?;
                if !matches!(var.storage, Storage::Public(of) | Storage::Local(of) if of == family) {
                    return Err(lost);
                }
                (one, LocalColumn::Own(var.offset + position))
            }
            (None, Some(Thing::Single(id))) => {
                let cell = cast.elements(id, access.var).get(position).copied();
                return cell.and_then(|cell| self.cell(cell)).ok_or(lost);
            }
            (None, Some(one)) => (one, LocalColumn::Element(ElementArray { var: access.var, owner: None }, position)),
            (Some(_), Some(_)) => return Err(lost),
        };
        match one {
            Thing::Actor(at) => {
                let column = cast.local_at(self.stage.actors[at].0, column).ok_or(lost)?;
                Ok(Spot::Of(at, column))
            }
            _ => Ok(Spot::Behind),
        }
    }

    fn cell(&self, cell: CellId) -> Option<Spot> {
        if self.cast.counted.contains(&cell) {
            return Some(Spot::Counted(cell));
        }
        self.cast.shared_at(SharedColumn::Cell(cell)).map(Spot::Shared)
    }

    pub fn content(&mut self, spot: Spot, access: &Access) -> Told<Thing> {
        let (item, of) = match spot {
            Spot::Behind => return self.whatever(access),
            Spot::Counted(cell) => {
                return Ok(match self.written.get(&cell) {
                    None => Thing::Number(Lin::unknown(Unknown::Cell(cell))),
                    Some(None) => Thing::Vague,
                    Some(Some(lin)) => Thing::Number(lin.clone()),
                });
            }
            Spot::Shared(at) if self.is_out_of_turn(at) => return Err(Stop::Lost(access.span)),
            Spot::Shared(at) => (self.stage.shared[at], None),
            Spot::Of(at, column) => (self.stage.actors[at].1[column], Some(at)),
        };
        match (item, of) {
            (CountingItem::Value(value), _) => Ok(thing(value)),
            (CountingItem::Slot(at), _) => Ok(Thing::Actor(at as usize)),
            (CountingItem::Other(family), None) => Ok(Thing::Behind(family)),
            (CountingItem::Other(family), Some(at)) => Ok(Thing::Not(family, at)),
            (CountingItem::Offset(cell, by), _) => {
                let lin = Lin::unknown(Unknown::Cell(cell)).and(1, &Lin::just(by));
                lin.map(Thing::Number).ok_or(Stop::Lost(access.span))
            }
            (CountingItem::Any, _) => Ok(Thing::Vague),
            (CountingItem::Place(_), _) => Err(Stop::Lost(access.span)),
        }
    }

    /// Anything that a variable may hold.
    pub fn whatever(&mut self, access: &Access) -> Told<Thing> {
        let cast = self.cast;
        let ty = cast.model.vars[access.var].ty.scalar();
        if cast.bounds(access.var).is_some() {
            return Ok(match cast.width(access.var) {
                Some((lo, hi)) if hi - lo < FEW => {
                    Thing::Number(Lin::just(lo + self.path.pick((hi - lo + 1) as usize) as i64))
                }
                _ => Thing::Vague,
            });
        }
        self.any_of(ty).ok_or(Stop::Lost(access.span))
    }

    /// Any value of a type that is no number.
    pub fn any_of(&mut self, ty: ScalarType) -> Option<Thing> {
        let model = self.cast.model;
        let mut all: Vec<Thing> = Vec::new();
        let of = match ty {
            ScalarType::Bool => {
                all.extend([Thing::Bool(false), Thing::Bool(true)]);
                Vec::new()
            }
            ScalarType::Enum(id) => {
                all.extend((0..model.enums[id].values.len() as u32).map(|at| Thing::Name(id, at)));
                Vec::new()
            }
            ScalarType::Pid(family) | ScalarType::PidOrNone(family) => vec![family],
            ScalarType::Lock => model.families.ids().collect(),
            ScalarType::Range { .. } | ScalarType::Semaphore { .. } => return None,
        };
        if matches!(ty, ScalarType::PidOrNone(_) | ScalarType::Lock) {
            all.push(Thing::Nobody);
        }
        for family in of {
            if self.cast.crowds.contains(&family) {
                let on_stage = (0..self.stage.actors.len()).filter(|&at| self.stage.actors[at].0 == family);
                all.extend(on_stage.map(Thing::Actor));
                all.push(Thing::Behind(family));
                all.extend(self.cast.named_in(family).into_iter().map(Thing::Single));
            } else {
                all.extend(model.families[family].processes().map(Thing::Single));
            }
        }
        if all.len() as i64 > FEW {
            return None;
        }
        let at = self.path.pick(all.len());
        all.into_iter().nth(at)
    }

    fn operation(&mut self, op: BinaryOp, left: &'m Expr, right: &'m Expr, span: base::Span) -> Told<Thing> {
        match op {
            BinaryOp::And => return Ok(Thing::Bool(self.is(left)? && self.is(right)?)),
            BinaryOp::Or => return Ok(Thing::Bool(self.is(left)? || self.is(right)?)),
            BinaryOp::Implies => return Ok(Thing::Bool(!self.is(left)? || self.is(right)?)),
            BinaryOp::Iff => return Ok(Thing::Bool(self.is(left)? == self.is(right)?)),
            _ => {}
        }
        let test: Option<fn(Ordering) -> bool> = match op {
            BinaryOp::Equal => Some(Ordering::is_eq),
            BinaryOp::NotEqual => Some(Ordering::is_ne),
            BinaryOp::Less => Some(Ordering::is_lt),
            BinaryOp::LessEqual => Some(Ordering::is_le),
            BinaryOp::Greater => Some(Ordering::is_gt),
            BinaryOp::GreaterEqual => Some(Ordering::is_ge),
            _ => None,
        };
        if test.is_some()
            && let Some(decided) = self.by_index((op, left, right), span)?
        {
            return Ok(Thing::Bool(decided));
        }
        match (self.value(left)?, self.value(right)?, test) {
            (Thing::Number(left), Thing::Number(right), Some(test)) => {
                Ok(Thing::Bool(test(self.order(&left, &right, span)?)))
            }
            (Thing::Number(left), Thing::Number(right), None) => self.arithmetic(op, left, right, span),
            (Thing::Number(_) | Thing::Vague, Thing::Number(_) | Thing::Vague, Some(_)) => {
                Ok(Thing::Bool(self.path.pick(2) == 0))
            }
            // Nothing says that the result has 64 bits.
            (Thing::Number(_) | Thing::Vague, Thing::Number(_) | Thing::Vague, None) => match self.path.pick(2) {
                0 => Ok(Thing::Vague),
                _ => Err(Stop::Fault),
            },
            (Thing::Number(_) | Thing::Vague, _, _) | (_, Thing::Number(_) | Thing::Vague, _) => Err(Stop::Lost(span)),
            (one, other, Some(test)) if matches!(op, BinaryOp::Equal | BinaryOp::NotEqual) => {
                // Processes of two families differ, but their indices may be the same.
                let is_index = |expr: &Expr| matches!(expr.kind, ExprKind::IndexOf(_) | ExprKind::If(..));
                if (is_index(left) || is_index(right)) && self.family(&one) != self.family(&other) {
                    return Err(Stop::Lost(span));
                }
                let order = if self.alike(&one, &other) { Ordering::Equal } else { Ordering::Less };
                Ok(Thing::Bool(test(order)))
            }
            _ => Err(Stop::Lost(span)),
        }
    }

    /// What a comparison of an index with a number that is written down is, where the process is like the others of its family. Whose index it
    /// is, is a value without anything open: the process itself, or one that is bound.
    fn by_index(&mut self, (op, left, right): (BinaryOp, &'m Expr, &'m Expr), span: base::Span) -> Told<Option<bool>> {
        let turned = match op {
            BinaryOp::Less => BinaryOp::Greater,
            BinaryOp::Greater => BinaryOp::Less,
            BinaryOp::LessEqual => BinaryOp::GreaterEqual,
            BinaryOp::GreaterEqual => BinaryOp::LessEqual,
            other => other,
        };
        for (op, index, number) in [(op, left, right), (turned, right, left)] {
            let ExprKind::IndexOf(who) = &index.kind else { continue };
            if Linear::of(number).is_none() || !matches!(who.kind, ExprKind::Myself | ExprKind::Bound(_)) {
                continue;
            }
            match self.value(who)? {
                Thing::Actor(at) => {
                    let family = self.stage.actors[at].0;
                    return self.cast.all_compare(family, op, number).map(Some).ok_or(Stop::Lost(span));
                }
                // How it compares may be known although the size is not.
                Thing::Single(id) => {
                    if let Some(decided) = self.cast.one_compares(id, op, number) {
                        return Ok(Some(decided));
                    }
                }
                _ => {}
            }
        }
        Ok(None)
    }

    fn arithmetic(&mut self, op: BinaryOp, left: Lin, right: Lin, span: base::Span) -> Told<Thing> {
        let are_settled = left.settled().is_some() && right.settled().is_some();
        let lin = match (op, left.settled(), right.settled()) {
            (BinaryOp::Add, ..) => left.and(1, &right),
            (BinaryOp::Subtract, ..) => left.and(-1, &right),
            (BinaryOp::Multiply, Some(times), _) => Lin::default().and(times, &right),
            (BinaryOp::Multiply, _, Some(times)) => Lin::default().and(times, &left),
            (BinaryOp::Divide, Some(a), Some(b)) => a.checked_div_euclid(b).map(Lin::just),
            (BinaryOp::Remainder, Some(_), Some(-1)) => Some(Lin::just(0)),
            (BinaryOp::Remainder, Some(a), Some(b)) => a.checked_rem_euclid(b).map(Lin::just),
            (BinaryOp::Machine(op), Some(a), Some(b)) => op.apply(a, b).ok().map(Lin::just),
            (BinaryOp::Min | BinaryOp::Max, ..) => {
                let is_less = self.order(&left, &right, span)?.is_lt();
                Some(if is_less == (op == BinaryOp::Min) { left } else { right })
            }
            _ => return Err(Stop::Lost(span)),
        };
        within_bounds(lin, are_settled, Stop::Lost(span))
    }

    /// How numbers compare, and what that demands.
    pub fn order(&mut self, left: &Lin, right: &Lin, span: base::Span) -> Told<Ordering> {
        let lost = Stop::Lost(span);
        let more = left.clone().and(-1, right).ok_or(lost)?;
        if let Some(number) = more.settled() {
            return Ok(number.cmp(&0));
        }
        if self.within {
            return Err(lost);
        }
        let less = right.clone().and(-1, left).ok_or(lost)?;
        let beyond = |lin: Lin| lin.and(-1, &Lin::just(1)).map(at_least).ok_or(lost);
        let (order, demand) = match self.path.pick(3) {
            0 => (Ordering::Greater, beyond(more)?),
            1 => (Ordering::Less, beyond(less)?),
            _ => (Ordering::Equal, exactly(more)),
        };
        self.demands.push(demand);
        Ok(order)
    }

    /// Whether two values are the same, where that is known.
    pub fn alike(&mut self, left: &Thing, right: &Thing) -> bool {
        match (left, right) {
            (Thing::Not(_, not), Thing::Actor(at)) | (Thing::Actor(at), Thing::Not(_, not)) if at == not => false,
            (Thing::Not(..) | Thing::Behind(_), Thing::Not(..) | Thing::Behind(_))
            | (Thing::Not(..), Thing::Actor(_))
            | (Thing::Actor(_), Thing::Not(..)) => self.family(left) == self.family(right) && self.path.pick(2) == 0,
            _ => left == right,
        }
    }

    pub fn range(&mut self, domain: &'m Domain, span: base::Span) -> Told<Vec<Thing>> {
        match domain {
            Domain::Family(family) if self.cast.crowds.contains(family) => Err(Stop::Lost(span)),
            Domain::Family(family) => Ok(self.cast.model.families[*family].processes().map(Thing::Single).collect()),
            Domain::Enum(id) => {
                let n = self.cast.model.enums[*id].values.len() as u32;
                Ok((0..n).map(|at| Thing::Name(*id, at)).collect())
            }
            Domain::Range(lo, hi) => {
                let (lo, hi) = (self.settled(lo)?, self.settled(hi)?);
                if hi.saturating_sub(lo) > 1024 {
                    return Err(Stop::Lost(span));
                }
                Ok((lo..=hi).map(|number| Thing::Number(Lin::just(number))).collect())
            }
        }
    }

    pub fn bind(&mut self, binding: &Binding, one: Thing) {
        self.bound.truncate(binding.var.0 as usize);
        self.bound.push(one);
    }

    /// How many instances decide the quantifier, on stage and behind it.
    fn quantifier(&mut self, quantified: &'m Quantified, span: base::Span) -> Told<Lin> {
        let crowds = quantified.bindings.iter().filter_map(|binding| self.crowd(binding));
        let crowds: Vec<FamilyId> = crowds.collect();
        if crowds.len() > 1 || self.within && !crowds.is_empty() {
            return Err(Stop::Lost(span));
        }
        // It may stop before it comes to a fault.
        let sure = |stop: Stop| if stop == Stop::Fault { Stop::Lost(span) } else { stop };
        self.within = true;
        let outer = self.bound.clone();
        let mut total = Lin::just(self.deciding(quantified, 0, None).map_err(sure)?);
        for &view in self.behind.iter().filter(|_| !crowds.is_empty()) {
            if self.views[view].family != crowds[0] {
                continue;
            }
            let mut path = Path::default();
            let mut other = Player {
                cast: self.cast,
                before: self.before,
                stage: self.with(view).ok_or(Stop::Lost(span))?,
                role: self.role,
                bound: outer.clone(),
                path: &mut path,
                views: self.views,
                behind: &[],
                written: self.written.clone(),
                demands: Vec::new(),
                within: true,
            };
            let newest = other.stage.actors.len() - 1;
            let n = other.deciding(quantified, 0, Some(newest)).map_err(sure)?;
            if path.turn().is_some() {
                return Err(Stop::Lost(span));
            }
            total = total.and(n, &Lin::unknown(Unknown::Views(view))).ok_or(Stop::Lost(span))?;
        }
        Ok(total)
    }

    fn crowd(&self, binding: &Binding) -> Option<FamilyId> {
        match &binding.domain {
            Domain::Family(family) if self.cast.crowds.contains(family) => Some(*family),
            _ => None,
        }
    }

    /// The stage as it is now with one from behind it.
    fn with(&self, view: usize) -> Option<Stage> {
        let view = &self.views[view];
        let joined = self.before.joined(view)?;
        let mut stage = self.stage.clone();
        for at in 0..stage.shared.len() {
            let is_kept = stage.shared[at] == self.before.shared[at];
            match stage.shared[at] {
                _ if is_kept => stage.shared[at] = joined.shared[at],
                CountingItem::Other(family) if family == view.family => return None,
                _ => {}
            }
        }
        stage.actors.push(joined.actors.last()?.clone());
        Some(stage)
    }

    /// How many instances are false, of `forall`, or true; of those on stage, or of one process.
    fn deciding(&mut self, quantified: &'m Quantified, at: usize, only: Option<usize>) -> Told<i64> {
        let Some(binding) = quantified.bindings.get(at) else {
            if let Some(filter) = &quantified.filter
                && !self.is(filter)?
            {
                return Ok(0);
            }
            let is = self.is(&quantified.body)?;
            return Ok(i64::from(is != (quantified.quantifier == Quantifier::Forall)));
        };
        let all = match (self.crowd(binding), only) {
            (Some(_), Some(actor)) => vec![Thing::Actor(actor)],
            (Some(family), None) => {
                let on_stage = (0..self.stage.actors.len()).filter(|&at| self.stage.actors[at].0 == family);
                let named = self.cast.named_in(family).into_iter().map(Thing::Single);
                on_stage.map(Thing::Actor).chain(named).collect()
            }
            (None, _) => self.range(&binding.domain, quantified.body.span)?,
        };
        let mut total = 0;
        for one in all {
            self.bind(binding, one);
            total += self.deciding(quantified, at + 1, only)?;
        }
        Ok(total)
    }

    fn decide(&mut self, quantified: &Quantified, total: Lin, span: base::Span) -> Told<Thing> {
        if quantified.quantifier == Quantifier::Count {
            return Ok(Thing::Number(total));
        }
        let is_none = self.order(&total, &Lin::default(), span)?.is_le();
        Ok(Thing::Bool(is_none == (quantified.quantifier == Quantifier::Forall)))
    }
}

/// A number that is computed: a fault where known ones lead beyond 64 bits; unknown ones have to stay far within them.
fn within_bounds(lin: Option<Lin>, are_settled: bool, lost: Stop) -> Told<Thing> {
    const FAR_WITHIN: i64 = 1 << 20;
    let is_small = |number: &i64| (-FAR_WITHIN..=FAR_WITHIN).contains(number);
    match lin {
        None if are_settled => Err(Stop::Fault),
        Some(lin) if lin.settled().is_some() || is_small(&lin.constant) && lin.of.values().all(is_small) => {
            Ok(Thing::Number(lin))
        }
        _ => Err(lost),
    }
}

/// How many processes of a family there are.
pub(super) fn how_many(family: FamilyId, stage: &Stage, views: &[CountingView], behind: &[usize]) -> Lin {
    let on_stage = stage.actors.iter().filter(|(of, _)| *of == family).count();
    let behind = behind.iter().filter(|&&view| views[view].family == family);
    Lin { constant: on_stage as i64, of: behind.map(|&view| (Unknown::Views(view), 1)).collect() }
}

pub(super) fn thing(value: Value) -> Thing {
    match value {
        Value::Bool(is) => Thing::Bool(is),
        Value::Int(number) => Thing::Number(Lin::just(number)),
        Value::Enum(id, at) => Thing::Name(id, at),
        Value::None => Thing::Nobody,
        Value::Process(id) => Thing::Single(id),
    }
}
