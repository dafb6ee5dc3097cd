//! Steps where few processes are seen and the others are counted: statements, stores, the move of control.
//!
//! In: a [`Look`] before an action. Out: the scene after it, what counted cells hold, and what has to be so for that. A process changes its own
//! local state and what is shared; a step that changes another process's local state is not followed.

use base::Span;
use evidence::views::{LocalColumn, SharedColumn};
use model::control::{Action, ActionKind, LoopId, Next, Stmt, StmtKind};
use model::expr::{Access, Domain, Expr};
use model::types::ScalarType;
use model::value::Value;
use model::variable::CellId;

use super::form::Form;
use super::look::{Halt, Location, Look, Looked, Val, Who};
use super::roster::{CountingItem, MOST_SHOWN};

/// Numbers of local states are shown as differences to counted cells up to this far.
const FARTHEST: i64 = 2;

impl<'m> Look<'_, 'm> {
    /// Takes the action from its guard to its end.
    pub fn act(&mut self, action: &'m Action) -> Looked<()> {
        if action.sync.is_some() || !matches!(action.kind, ActionKind::Plain | ActionKind::Idle) {
            return Err(Halt::Outside(Span::default()));
        }
        if let Some(guard) = &action.guard
            && !self.truth(guard)?
        {
            return Err(Halt::Blocked);
        }
        self.run(&action.body)?;
        self.follow(&action.next)
    }

    fn run(&mut self, body: &'m [Stmt]) -> Looked<()> {
        body.iter().try_for_each(|statement| self.statement(statement))
    }

    fn statement(&mut self, statement: &'m Stmt) -> Looked<()> {
        match &statement.kind {
            StmtKind::Assign(pairs) => {
                let mut stores = Vec::with_capacity(pairs.len());
                for (access, value) in pairs {
                    stores.push((self.locate(access)?, self.value(value)?, access));
                }
                stores.into_iter().try_for_each(|(location, value, access)| self.store(location, value, access))
            }
            StmtKind::AssignAny(access, range) => self.assign_any(access, range.as_ref()),
            StmtKind::Await(test) => match self.truth(test)? {
                true => Ok(()),
                false => Err(Halt::Blocked),
            },
            StmtKind::Assert(test) => match self.truth(test)? {
                true => Ok(()),
                false => Err(Halt::Fault(statement.span)),
            },
            StmtKind::Acquire(access) => self.acquire(access),
            StmtKind::Release(access) => self.release(access),
            StmtKind::If(test, yes, no) => match self.truth(test)? {
                true => self.run(yes),
                false => self.run(no),
            },
            StmtKind::Either(blocks) => match blocks.get(self.choose(blocks.len())) {
                Some(block) => self.run(block),
                None => Err(Halt::Blocked),
            },
            StmtKind::For(binding, block) => {
                for value in self.domain(&binding.domain)? {
                    self.bind(binding, value);
                    self.run(block)?;
                }
                Ok(())
            }
        }
    }

    fn assign_any(&mut self, access: &'m Access, range: Option<&'m (Expr, Expr)>) -> Looked<()> {
        let location = self.locate(access)?;
        if range.is_some() || self.roster.is_unbounded(access.var) {
            return Err(Halt::Outside(access.span));
        }
        let value = self.any(self.type_of(access), access.span)?;
        self.store(location, value, access)
    }

    fn type_of(&self, access: &Access) -> ScalarType {
        self.roster.model.vars[access.var].ty.scalar()
    }

    fn acquire(&mut self, access: &'m Access) -> Looked<()> {
        let location = self.locate(access)?;
        let held = self.load(location, access)?;
        let taken = match (self.type_of(access), held) {
            (ScalarType::Lock, Val::Nobody) => self.myself(access.span)?,
            (ScalarType::Lock, Val::Someone(..)) => return Err(Halt::Outside(access.span)),
            (ScalarType::Semaphore { .. }, Val::Number(form)) => {
                if !self.compare(&form, &Form::default(), access.span)?.is_gt() {
                    return Err(Halt::Blocked);
                }
                let less = form.plus(&Form::number(1), -1);
                return self.put_number(location, less.ok_or(Halt::Outside(access.span))?, access);
            }
            (ScalarType::Semaphore { .. }, _) => return Err(Halt::Outside(access.span)),
            _ => return Err(Halt::Blocked),
        };
        self.put(location, &taken, access)
    }

    fn release(&mut self, access: &'m Access) -> Looked<()> {
        let location = self.locate(access)?;
        let held = self.load(location, access)?;
        if let (ScalarType::Semaphore { .. }, held) = (self.type_of(access), &held) {
            let Val::Number(form) = held else { return Err(Halt::Outside(access.span)) };
            let (_, most) = self.roster.bounds(access.var).ok_or(Halt::Outside(access.span))?;
            if !self.compare(form, &most, access.span)?.is_lt() {
                return Err(Halt::Fault(access.span));
            }
            let more = form.plus(&Form::number(1), 1);
            return self.put_number(location, more.ok_or(Halt::Outside(access.span))?, access);
        }
        let me = self.myself(access.span)?;
        match self.same(&held, &me) {
            true => self.put(location, &Val::Nobody, access),
            false => Err(Halt::Fault(access.span)),
        }
    }

    /// Stores a value that may be outside of the type.
    fn store(&mut self, location: Location, value: Val, access: &'m Access) -> Looked<()> {
        let model = self.roster.model;
        let ty = self.type_of(access);
        let is_number = matches!(ty, ScalarType::Range { .. } | ScalarType::Semaphore { .. });
        match value {
            Val::Number(form) if is_number => {
                let (lo, hi) = self.roster.bounds(access.var).ok_or(Halt::Outside(access.span))?;
                if self.compare(&form, &lo, access.span)?.is_lt() || self.compare(&form, &hi, access.span)?.is_gt() {
                    return Err(Halt::Fault(access.span));
                }
                self.put_number(location, form, access)
            }
            Val::Unknown if is_number => match self.choose(2) {
                0 => self.put_unknown(location, access),
                _ => Err(Halt::Fault(access.span)),
            },
            Val::Number(_) | Val::Unknown => Err(Halt::Outside(access.span)),
            value => {
                let family = match &value {
                    Val::Slot(slot) => Some(self.scene.seen[*slot as usize].0),
                    Val::Unseen(family) | Val::Someone(family, _) => Some(*family),
                    Val::Single(id) => Some(model.processes[*id].family),
                    _ => None,
                };
                let fits = match (ty, &value) {
                    (ScalarType::Bool, Val::Truth(_)) | (ScalarType::PidOrNone(_), Val::Nobody) => true,
                    (ScalarType::Enum(id), Val::Name(of, _)) => id == *of,
                    (ScalarType::Pid(of) | ScalarType::PidOrNone(of), _) => family == Some(of),
                    _ => return Err(Halt::Outside(access.span)),
                };
                match fits {
                    true => self.put(location, &value, access),
                    false => Err(Halt::Fault(access.span)),
                }
            }
        }
    }

    /// Stores a number that fits.
    fn put_number(&mut self, location: Location, form: Form, access: &Access) -> Looked<()> {
        match location {
            Location::Counted(cell) => drop(self.stored.insert(cell, Some(form))),
            Location::Local(..) | Location::Shared(_) if self.shows_offsets(location, access) => {
                let item = match (form.known(), form.offset()) {
                    (Some(number), _) => CountingItem::Value(Value::Int(number)),
                    (None, Some((cell, by))) => CountingItem::Offset(cell, by),
                    (None, None) => CountingItem::Any,
                };
                return self.put_item(location, item, access);
            }
            Location::Shared(_) => {
                let number = match form.known() {
                    Some(number) => number,
                    None => self.one_of(&form, access)?,
                };
                return self.put_item(location, CountingItem::Value(Value::Int(number)), access);
            }
            Location::Local(..) | Location::Elsewhere => return Err(Halt::Outside(access.span)),
        }
        Ok(())
    }

    /// Whether a location may show a number as a difference to a counted cell: in local states, and cells of single processes with many values.
    fn shows_offsets(&self, location: Location, access: &Access) -> bool {
        matches!(location, Location::Local(..))
            || matches!(location, Location::Shared(_)) && self.roster.may_be_far(access.var)
    }

    /// The values of a cell that a number may be, each in turn.
    fn one_of(&mut self, form: &Form, access: &Access) -> Looked<i64> {
        let bounds = self.roster.bounds(access.var);
        let bounds = bounds.and_then(|(lo, hi)| Some((lo.known()?, hi.known()?)));
        let (lo, hi) = bounds.filter(|(lo, hi)| hi - lo < MOST_SHOWN).ok_or(Halt::Outside(access.span))?;
        let number = lo + self.choose((hi - lo + 1) as usize) as i64;
        match self.compare(form, &Form::number(number), access.span)?.is_eq() {
            true => Ok(number),
            false => Err(Halt::Blocked),
        }
    }

    fn put_unknown(&mut self, location: Location, access: &Access) -> Looked<()> {
        match location {
            Location::Counted(cell) => drop(self.stored.insert(cell, None)),
            _ if self.shows_offsets(location, access) => return self.put_item(location, CountingItem::Any, access),
            Location::Shared(_) => match self.any(self.type_of(access), access.span)? {
                Val::Number(form) if form.known().is_some() => return self.put_number(location, form, access),
                _ => return Err(Halt::Outside(access.span)),
            },
            Location::Local(..) | Location::Elsewhere => return Err(Halt::Outside(access.span)),
        }
        Ok(())
    }

    /// Stores a value that is no number and fits.
    fn put(&mut self, location: Location, value: &Val, access: &Access) -> Looked<()> {
        let item = match value {
            Val::Truth(truth) => CountingItem::Value(Value::Bool(*truth)),
            Val::Name(id, at) => CountingItem::Value(Value::Enum(*id, *at)),
            Val::Nobody => CountingItem::Value(Value::None),
            Val::Single(id) => CountingItem::Value(Value::Process(*id)),
            Val::Slot(slot) => CountingItem::Slot(*slot),
            Val::Unseen(family) => CountingItem::Other(*family),
            Val::Someone(family, not) => match location {
                Location::Local(slot, _) if slot == *not => CountingItem::Other(*family),
                _ => {
                    // Any of the others, seen or not.
                    let seen = self.scene.seen.iter().enumerate();
                    let mut slots: Vec<CountingItem> = seen
                        .filter(|(slot, (of, _))| of == family && *slot != *not as usize)
                        .map(|(slot, _)| CountingItem::Slot(slot as u8))
                        .collect();
                    slots.push(CountingItem::Other(*family));
                    slots[self.choose(slots.len())]
                }
            },
            Val::Number(_) | Val::Unknown => return Err(Halt::Outside(access.span)),
        };
        self.put_item(location, item, access)
    }

    fn put_item(&mut self, location: Location, item: CountingItem, access: &Access) -> Looked<()> {
        match location {
            // What belongs to a single process is part of its class.
            Location::Shared(column) if !self.is_anothers(column) => self.scene.shared[column] = item,
            Location::Local(slot, column) if self.me == Who::Slot(slot) => {
                self.scene.seen[slot as usize].1[column] = item;
            }
            _ => return Err(Halt::Outside(access.span)),
        }
        Ok(())
    }

    /// Whether a column shows a cell of a single process other than the one that moves.
    fn is_anothers(&self, column: usize) -> bool {
        let SharedColumn::Cell(cell) = self.roster.shared[column] else { return true };
        let owner = self.roster.model.cells[cell].owner;
        owner.is_some_and(|owner| self.me != Who::Single(owner))
    }

    /// Moves control to where `next` leads.
    pub fn follow(&mut self, mut next: &'m Next) -> Looked<()> {
        let text = self.roster.text;
        loop {
            next =
                match next {
                    Next::To(place) => {
                        let item = CountingItem::Place(*place);
                        match self.me {
                            Who::Slot(slot) => self.scene.seen[slot as usize].1[0] = item,
                            Who::Single(id) => {
                                let column = self.roster.shared_column(SharedColumn::Control(id));
                                self.scene.shared[column.ok_or(Halt::Outside(Span::default()))?] = item;
                            }
                            Who::Nobody => return Err(Halt::Outside(Span::default())),
                        }
                        return Ok(());
                    }
                    Next::Enter { enter, .. } if self.roster.walked(*enter).is_some() => {
                        self.begin_walk(*enter)?;
                        &text.loops[*enter].body
                    }
                    Next::Again { again, done } if self.roster.walked(*again).is_some() => {
                        if self.continue_walk(*again)? { &text.loops[*again].body } else { done }
                    }
                    Next::Enter { enter, skip } => match self.domain(&text.loops[*enter].domain)?.into_iter().next() {
                        Some(first) => {
                            self.count(*enter, &first)?;
                            &text.loops[*enter].body
                        }
                        None => skip,
                    },
                    Next::Again { again, done } => {
                        let now = self.counter(*again)?;
                        let values = self.domain(&text.loops[*again].domain)?;
                        let at = values.iter().position(|value| item_of(value) == Some(now));
                        match at.and_then(|at| values.get(at + 1)) {
                            Some(value) => {
                                self.count(*again, value)?;
                                &text.loops[*again].body
                            }
                            None => {
                                self.reset(*again)?;
                                done
                            }
                        }
                    }
                    Next::Leave { loops, then } => {
                        loops.iter().try_for_each(|&left| self.reset(left))?;
                        then
                    }
                };
        }
    }

    fn reset(&mut self, id: LoopId) -> Looked<()> {
        let text = self.roster.text;
        if self.roster.walked(id).is_some() {
            return self.end_walk(id);
        }
        if let Domain::Family(family) = &text.loops[id].domain
            && self.roster.many.contains(family)
        {
            return Err(Halt::Outside(text.loops[id].span));
        }
        let model = self.roster.model;
        let first = model.vars[model.loops[id].counter].ty.scalar().first_value(model.type_context());
        self.count(id, &super::look::plain(first.ok_or(Halt::Outside(Span::default()))?))
    }

    fn counter_at(&self, id: LoopId) -> Option<Location> {
        let model = self.roster.model;
        let offset = model.vars[model.loops[id].counter].offset;
        match self.me {
            Who::Slot(slot) => {
                let family = self.scene.seen[slot as usize].0;
                let column = self.roster.local_column(family, LocalColumn::Own(offset))?;
                Some(Location::Local(slot, column))
            }
            Who::Single(process) => {
                let cell = CellId::new(model.processes[process].first_cell + offset);
                self.roster.shared_column(SharedColumn::Cell(cell)).map(Location::Shared)
            }
            Who::Nobody => None,
        }
    }

    fn counter(&self, id: LoopId) -> Looked<CountingItem> {
        match self.counter_at(id) {
            Some(Location::Shared(column)) => Ok(self.scene.shared[column]),
            Some(Location::Local(slot, column)) => Ok(self.scene.seen[slot as usize].1[column]),
            _ => Err(Halt::Outside(self.roster.text.loops[id].span)),
        }
    }

    fn count(&mut self, id: LoopId, value: &Val) -> Looked<()> {
        let outside = Halt::Outside(self.roster.text.loops[id].span);
        let item = item_of(value).ok_or(outside)?;
        match self.counter_at(id).ok_or(outside)? {
            Location::Shared(column) => self.scene.shared[column] = item,
            Location::Local(slot, column) => self.scene.seen[slot as usize].1[column] = item,
            Location::Counted(_) | Location::Elsewhere => return Err(outside),
        }
        Ok(())
    }

    /// How much a counted cell changes, where that is the same in every state.
    pub fn change(&self, cell: CellId) -> Option<i64> {
        match self.stored.get(&cell) {
            None => Some(0),
            Some(form) => form.as_ref()?.plus(&Form::term(super::form::Term::Cell(cell)), -1)?.known(),
        }
    }
}

/// A plain value as a component of a view.
fn item_of(value: &Val) -> Option<CountingItem> {
    Some(CountingItem::Value(match value {
        Val::Truth(truth) => Value::Bool(*truth),
        Val::Number(form) => Value::Int(form.known()?),
        Val::Name(id, at) => Value::Enum(*id, *at),
        Val::Nobody => Value::None,
        Val::Single(id) => Value::Process(*id),
        Val::Unknown | Val::Slot(_) | Val::Unseen(_) | Val::Someone(..) => return None,
    }))
}

/// A component of a view after a counted cell has changed, if it is known by how much.
pub fn shifted(item: CountingItem, change: impl Fn(CellId) -> Option<i64>) -> CountingItem {
    let CountingItem::Offset(cell, by) = item else { return item };
    match change(cell).and_then(|change| by.checked_sub(change)) {
        Some(by) if by.abs() <= FARTHEST => CountingItem::Offset(cell, by),
        _ => CountingItem::Any,
    }
}
