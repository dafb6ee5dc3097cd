//! Steps of the checker: statements, and where control goes.
//!
//! In: a [`Player`] before an action. Out: the stage after it, and what counted cells hold then. Only the process that acts changes what belongs
//! to a process of a crowd.

use base::Span;
use evidence::counting::CountingItem;
use evidence::views::{LocalColumn, SharedColumn};
use model::control::{Action, ActionKind, LoopId, Next, Stmt, StmtKind};
use model::expr::Access;
use model::types::ScalarType;
use model::value::Value;
use model::variable::CellId;

use super::stage::{FEW, Player, Role, Spot, Stop, Thing, Told, thing};
use super::system::{Lin, Unknown};

impl<'m> Player<'_, 'm> {
    pub fn take(&mut self, action: &'m Action) -> Told<()> {
        if action.sync.is_some() || !matches!(action.kind, ActionKind::Plain | ActionKind::Idle) {
            return Err(Stop::Lost(Span::default()));
        }
        if let Some(guard) = &action.guard {
            self.pass(guard, Stop::Never)?;
        }
        self.all(&action.body)?;
        self.go(&action.next)
    }

    fn pass(&mut self, test: &'m model::expr::Expr, otherwise: Stop) -> Told<()> {
        if self.is(test)? { Ok(()) } else { Err(otherwise) }
    }

    fn all(&mut self, statements: &'m [Stmt]) -> Told<()> {
        for statement in statements {
            match &statement.kind {
                StmtKind::Await(test) => self.pass(test, Stop::Never)?,
                StmtKind::Assert(test) => self.pass(test, Stop::Fault)?,
                StmtKind::Assign(stores) => {
                    let mut found = Vec::new();
                    for (target, value) in stores {
                        let spot = self.spot(target)?;
                        found.push((spot, self.value(value)?, target));
                    }
                    for (spot, value, target) in found {
                        self.assign(spot, value, target)?;
                    }
                }
                StmtKind::AssignAny(target, None) if !self.is_sized(target) => {
                    let spot = self.spot(target)?;
                    let value = self.whatever(target)?;
                    self.assign(spot, value, target)?;
                }
                StmtKind::AssignAny(target, _) => return Err(Stop::Lost(target.span)),
                StmtKind::Acquire(target) => self.acquire(target)?,
                StmtKind::Release(target) => self.release(target)?,
                StmtKind::If(test, yes, no) => {
                    let block = if self.is(test)? { yes } else { no };
                    self.all(block)?;
                }
                StmtKind::Either(blocks) => {
                    let at = self.path.pick(blocks.len());
                    self.all(blocks.get(at).ok_or(Stop::Never)?)?;
                }
                StmtKind::For(binding, block) => {
                    for one in self.range(&binding.domain, statement.span)? {
                        self.bind(binding, one);
                        self.all(block)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn ty(&self, target: &Access) -> ScalarType {
        self.cast.model.vars[target.var].ty.scalar()
    }

    /// Whether a number variable has bounds that depend on a size.
    fn is_sized(&self, target: &Access) -> bool {
        self.cast.bounds(target.var).is_some() && self.cast.width(target.var).is_none()
    }

    fn acquire(&mut self, target: &'m Access) -> Told<()> {
        let lost = Stop::Lost(target.span);
        let spot = self.spot(target)?;
        match (self.ty(target), self.content(spot, target)?) {
            (ScalarType::Lock, Thing::Nobody) => {
                let me = self.me().ok_or(lost)?;
                self.keep(spot, me, target)
            }
            (ScalarType::Lock, Thing::Not(..)) => Err(lost),
            (ScalarType::Lock, _) => Err(Stop::Never),
            (ScalarType::Semaphore { .. }, Thing::Number(lin)) => {
                if self.order(&lin, &Lin::default(), target.span)?.is_le() {
                    return Err(Stop::Never);
                }
                self.keep_number(spot, lin.and(-1, &Lin::just(1)).ok_or(lost)?, target)
            }
            _ => Err(lost),
        }
    }

    fn release(&mut self, target: &'m Access) -> Told<()> {
        let lost = Stop::Lost(target.span);
        let spot = self.spot(target)?;
        match (self.ty(target), self.content(spot, target)?) {
            (ScalarType::Semaphore { .. }, Thing::Number(lin)) => {
                let [_, most] = self.cast.bounds(target.var).ok_or(lost)?;
                let most = self.linear(&most).ok_or(lost)?;
                if self.order(&lin, &most, target.span)?.is_ge() {
                    return Err(Stop::Fault);
                }
                self.keep_number(spot, lin.and(1, &Lin::just(1)).ok_or(lost)?, target)
            }
            (ScalarType::Lock, held) => {
                let me = self.me().ok_or(lost)?;
                if !self.alike(&held, &me) {
                    return Err(Stop::Fault);
                }
                self.keep(spot, Thing::Nobody, target)
            }
            _ => Err(lost),
        }
    }

    /// Stores what may not fit.
    fn assign(&mut self, spot: Spot, value: Thing, target: &'m Access) -> Told<()> {
        let lost = Stop::Lost(target.span);
        if let Some([least, most]) = self.cast.bounds(target.var) {
            return match value {
                Thing::Number(lin) => {
                    let (least, most) = (self.linear(&least).ok_or(lost)?, self.linear(&most).ok_or(lost)?);
                    if self.order(&lin, &most, target.span)?.is_gt() || self.order(&lin, &least, target.span)?.is_lt() {
                        return Err(Stop::Fault);
                    }
                    self.keep_number(spot, lin, target)
                }
                Thing::Vague if self.path.pick(2) == 1 => Err(Stop::Fault),
                Thing::Vague => self.keep_vague(spot, target),
                _ => Err(lost),
            };
        }
        let fits = match (self.ty(target), &value) {
            (_, Thing::Number(_) | Thing::Vague) => return Err(lost),
            (ScalarType::Bool, Thing::Bool(_)) | (ScalarType::PidOrNone(_), Thing::Nobody) => true,
            (ScalarType::Enum(id), Thing::Name(of, _)) => id == *of,
            (ScalarType::Pid(family) | ScalarType::PidOrNone(family), Thing::Single(id)) => {
                self.cast.model.processes[*id].family == family
            }
            (ScalarType::Pid(family) | ScalarType::PidOrNone(family), one) => match self.family(one) {
                // An index, perhaps, which a process of the other family may have.
                Some(of) if of != family => return Err(lost),
                of => of.is_some(),
            },
            _ => return Err(lost),
        };
        if !fits {
            return Err(Stop::Fault);
        }
        self.keep(spot, value, target)
    }

    /// Whether a place that is not counted may show a number by how far it is from a counted one.
    fn is_relative(&self, spot: Spot, target: &Access) -> bool {
        match spot {
            Spot::Of(..) => true,
            Spot::Shared(_) => self.cast.is_relative(target.var),
            Spot::Counted(_) | Spot::Behind => false,
        }
    }

    fn keep_number(&mut self, spot: Spot, lin: Lin, target: &Access) -> Told<()> {
        if let Spot::Counted(cell) = spot {
            self.written.insert(cell, Some(lin));
            return Ok(());
        }
        let lost = Stop::Lost(target.span);
        if let Some(number) = lin.settled() {
            return self.show(spot, CountingItem::Value(Value::Int(number)), target);
        }
        if self.is_relative(spot, target) {
            let item = match lin.of.iter().next() {
                Some((Unknown::Cell(cell), 1)) if lin.of.len() == 1 => CountingItem::Offset(*cell, lin.constant),
                _ => CountingItem::Any,
            };
            return self.show(spot, item, target);
        }
        // One of few numbers; which, is a demand.
        let (lo, hi) = self.cast.width(target.var).filter(|(lo, hi)| hi - lo < FEW).ok_or(lost)?;
        let number = lo + self.path.pick((hi - lo + 1) as usize) as i64;
        if !self.order(&lin, &Lin::just(number), target.span)?.is_eq() {
            return Err(Stop::Never);
        }
        self.show(spot, CountingItem::Value(Value::Int(number)), target)
    }

    fn keep_vague(&mut self, spot: Spot, target: &Access) -> Told<()> {
        match spot {
            Spot::Counted(cell) => {
                self.written.insert(cell, None);
                Ok(())
            }
            _ if self.is_relative(spot, target) => self.show(spot, CountingItem::Any, target),
            _ => match self.whatever(target)? {
                Thing::Number(lin) => self.keep_number(spot, lin, target),
                _ => Err(Stop::Lost(target.span)),
            },
        }
    }

    /// Stores what is no number.
    fn keep(&mut self, spot: Spot, value: Thing, target: &Access) -> Told<()> {
        let item = match value {
            Thing::Bool(is) => CountingItem::Value(Value::Bool(is)),
            Thing::Name(id, at) => CountingItem::Value(Value::Enum(id, at)),
            Thing::Nobody => CountingItem::Value(Value::None),
            Thing::Single(id) => CountingItem::Value(Value::Process(id)),
            Thing::Actor(at) => CountingItem::Slot(at as u8),
            Thing::Behind(family) => CountingItem::Other(family),
            Thing::Not(family, not) if matches!(spot, Spot::Of(at, _) if at == not) => CountingItem::Other(family),
            Thing::Not(family, not) => {
                let others = (0..self.stage.actors.len()).filter(|&at| at != not && self.stage.actors[at].0 == family);
                let others: Vec<CountingItem> =
                    others.map(|at| CountingItem::Slot(at as u8)).chain([CountingItem::Other(family)]).collect();
                others[self.path.pick(others.len())]
            }
            Thing::Number(_) | Thing::Vague => return Err(Stop::Lost(target.span)),
        };
        self.show(spot, item, target)
    }

    fn show(&mut self, spot: Spot, item: CountingItem, target: &Access) -> Told<()> {
        match spot {
            Spot::Shared(at) => {
                // A single process alone changes what is its own.
                let owner = match self.cast.shared[at] {
                    SharedColumn::Cell(cell) => self.cast.model.cells[cell].owner,
                    _ => return Err(Stop::Lost(target.span)),
                };
                if owner.is_some_and(|owner| self.role != Role::Single(owner)) {
                    return Err(Stop::Lost(target.span));
                }
                self.stage.shared[at] = item;
            }
            Spot::Of(at, column) if self.role == Role::Actor(at) => self.stage.actors[at].1[column] = item,
            _ => return Err(Stop::Lost(target.span)),
        }
        Ok(())
    }

    /// Moves control.
    pub fn go(&mut self, next: &'m Next) -> Told<()> {
        let written = self.cast.written;
        match next {
            Next::To(place) => {
                let spot = match self.role {
                    Role::Actor(at) => Some(Spot::Of(at, 0)),
                    Role::Single(id) => self.cast.shared_at(SharedColumn::Control(id)).map(Spot::Shared),
                    Role::Nobody => None,
                };
                self.set(spot, CountingItem::Place(*place))
            }
            Next::Enter { enter, .. } if self.cast.goes_round(*enter).is_some() => {
                self.first_round(*enter)?;
                self.go(&written.loops[*enter].body)
            }
            Next::Again { again, done } if self.cast.goes_round(*again).is_some() => {
                let next = if self.next_round(*again)? { &written.loops[*again].body } else { &**done };
                self.go(next)
            }
            Next::Enter { enter, skip } => {
                let counted = &written.loops[*enter];
                match self.range(&counted.domain, counted.span)?.first() {
                    None => self.go(skip),
                    Some(first) => {
                        self.set(self.counter(*enter), shown(first)?)?;
                        self.go(&counted.body)
                    }
                }
            }
            Next::Again { again, done } => {
                let counted = &written.loops[*again];
                let now = match self.counter(*again) {
                    Some(Spot::Shared(at)) => self.stage.shared[at],
                    Some(Spot::Of(at, column)) => self.stage.actors[at].1[column],
                    _ => return Err(Stop::Lost(counted.span)),
                };
                let mut rest = self.range(&counted.domain, counted.span)?.into_iter();
                let is_there = rest.any(|one| shown(&one) == Ok(now));
                match rest.next().filter(|_| is_there) {
                    Some(following) => {
                        self.set(self.counter(*again), shown(&following)?)?;
                        self.go(&counted.body)
                    }
                    None => {
                        self.clear(*again)?;
                        self.go(done)
                    }
                }
            }
            Next::Leave { loops, then } => {
                loops.iter().try_for_each(|&left| self.clear(left))?;
                self.go(then)
            }
        }
    }

    fn set(&mut self, spot: Option<Spot>, item: CountingItem) -> Told<()> {
        match spot {
            Some(Spot::Shared(at)) => self.stage.shared[at] = item,
            Some(Spot::Of(at, column)) => self.stage.actors[at].1[column] = item,
            _ => return Err(Stop::Lost(Span::default())),
        }
        Ok(())
    }

    fn clear(&mut self, id: LoopId) -> Told<()> {
        if self.cast.goes_round(id).is_some() {
            return self.leave_round(id);
        }
        let counted = &self.cast.written.loops[id];
        self.range(&counted.domain, counted.span)?;
        let model = self.cast.model;
        let first = model.vars[model.loops[id].counter].ty.scalar().first_value(model.type_context());
        let first = first.ok_or(Stop::Lost(counted.span))?;
        self.set(self.counter(id), shown(&thing(first))?)
    }

    fn counter(&self, id: LoopId) -> Option<Spot> {
        let model = self.cast.model;
        let offset = model.vars[model.loops[id].counter].offset;
        match self.role {
            Role::Actor(at) => {
                let column = self.cast.local_at(self.stage.actors[at].0, LocalColumn::Own(offset))?;
                Some(Spot::Of(at, column))
            }
            Role::Single(single) => {
                let cell = CellId::new(model.processes[single].first_cell + offset);
                self.cast.shared_at(SharedColumn::Cell(cell)).map(Spot::Shared)
            }
            Role::Nobody => None,
        }
    }
}

/// A plain value as it is shown.
pub(super) fn shown(one: &Thing) -> Told<CountingItem> {
    let value = match one {
        Thing::Bool(is) => Value::Bool(*is),
        Thing::Number(lin) => Value::Int(lin.settled().ok_or(Stop::Lost(Span::default()))?),
        Thing::Name(id, at) => Value::Enum(*id, *at),
        Thing::Nobody => Value::None,
        Thing::Single(id) => Value::Process(*id),
        Thing::Vague | Thing::Actor(_) | Thing::Behind(_) | Thing::Not(..) => {
            return Err(Stop::Lost(Span::default()));
        }
    };
    Ok(CountingItem::Value(value))
}
