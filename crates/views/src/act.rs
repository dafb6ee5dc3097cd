//! Steps where only some processes are seen: statements, loops over the family, the move of control.
//!
//! In: a [`Sight`] at the start of an action. Out: the configuration after it, one for each way through its choices. What an unseen
//! process holds after the step is not kept. A loop over the family inside a step takes the seen processes in any order, with any
//! number of unseen ones in between, whose contents are guessed; a loop over places remembers which seen processes it has taken, and
//! may take unseen ones in between: both have more ways than the program, which takes processes by their order.

use std::collections::BTreeSet;
use std::rc::Rc;

use base::Span;
use model::control::{ActionId, LoopId, Next, Stmt, StmtKind};
use model::expr::{Access, Binding, Domain, Expr, ExprKind};
use model::types::ScalarType;
use model::value::Value;
use model::variable::CellId;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::alike::Columns;
use crate::choices::{Choices, Ends, LoopEnds, LoopEntry};
use crate::configuration::{Configuration, Item, Slot};
use crate::hiding::ViewColumn;
use crate::layout::{LocalColumn, SharedColumn, holds_members, is_over};
use crate::pointwise::is_pointwise;
use crate::sight::{Guessing, Halt, Location, Needs, Sight, Who};

type Done = Result<(), Halt>;

/// How far a loop inside a step has come: what is known of the state, and which seen processes were taken.
type Round = (Configuration, BTreeSet<Slot>);

impl<'m> Sight<'_, 'm> {
    /// Takes the action from its guard to its end.
    pub fn act(&mut self, id: ActionId) -> Done {
        let action = &self.ground.model.actions[id];
        if let Some(guard) = &action.guard
            && !self.truth(guard)?
        {
            return Err(Halt::Blocked);
        }
        self.run(&action.body)?;
        self.follow(&action.next)
    }

    fn run(&mut self, body: &'m [Stmt]) -> Done {
        body.iter().try_for_each(|statement| self.statement(statement))
    }

    fn statement(&mut self, statement: &'m Stmt) -> Done {
        match &statement.kind {
            StmtKind::Assign(pairs) => {
                let mut stores = Vec::with_capacity(pairs.len());
                for (access, value) in pairs {
                    let location = self.locate(access)?;
                    let value = match self.is_copied_unseen(location, (access, value))? {
                        true => Item::Hidden,
                        false => self.value(value)?,
                    };
                    stores.push((location, value, access));
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
            StmtKind::Either(blocks) => match blocks.get(self.choices.choose(blocks.len())) {
                Some(block) => self.run(block),
                None => Err(Halt::Blocked),
            },
            StmtKind::For(binding, block) => self.repeat(binding, block),
        }
    }

    /// Whether a variable's content is copied to where views never show it, and fits there: then it does not matter what it is.
    fn is_copied_unseen(&mut self, target: Location, (access, value): (&'m Access, &'m Expr)) -> Result<bool, Halt> {
        let ExprKind::Read(source) = &value.kind else { return Ok(false) };
        let column = match target {
            Location::Shared(column) => ViewColumn::Shared(column),
            Location::Local(_, column) => ViewColumn::Local(column),
        };
        let is_same = self.type_of(access) == self.type_of(source);
        if !is_same || !self.ground.layout.is_never_shown(column) {
            return Ok(false);
        }
        self.locate(source)?;
        Ok(true)
    }

    fn assign_any(&mut self, access: &'m Access, range: Option<&'m (model::expr::Expr, model::expr::Expr)>) -> Done {
        let location = self.locate(access)?;
        let ty = self.type_of(access);
        let here = |halt: Halt| if let Halt::Outside(_) = halt { Halt::Outside(access.span) } else { halt };
        let Some((lo, hi)) = range else {
            let value = self.any(ty).map_err(here)?;
            self.put(location, value);
            return Ok(());
        };
        if holds_members(ty, self.ground.layout.family) {
            return Err(Halt::Outside(access.span));
        }
        let (lo, hi) = (self.number(lo)?, self.number(hi)?);
        if lo > hi {
            return Err(Halt::Blocked);
        }
        let context = self.ground.model.type_context();
        let model = self.ground.model;
        if let ScalarType::Range { lo: least, hi: greatest } = ty {
            let reaches_beyond = lo < least || hi > greatest;
            if reaches_beyond && self.choices.choose(2) == 1 {
                return Err(Halt::Fault(access.span));
            }
            let number = self.any_number(lo.max(least), hi.min(greatest)).map_err(here)?;
            self.put(location, Item::Value(Value::Int(number)));
            return Ok(());
        }
        let as_number = |value: &Value| match value {
            Value::Int(number) => Some(*number),
            Value::Process(id) => Some(model.processes[*id].index),
            _ => None,
        };
        let wanted: Vec<Value> = ty
            .values(context)
            .filter(|value| as_number(value).is_some_and(|number| (lo..=hi).contains(&number)))
            .collect();
        let belongs = |end: i64| ty.values(context).any(|value| as_number(&value) == Some(end));
        let faulty = usize::from(!belongs(lo) || !belongs(hi));
        match wanted.get(self.choices.choose(wanted.len() + faulty)) {
            Some(&value) => self.put(location, Item::Value(value)),
            None => return Err(Halt::Fault(access.span)),
        }
        Ok(())
    }

    fn acquire(&mut self, access: &'m Access) -> Done {
        let location = self.locate(access)?;
        let ty = self.type_of(access);
        let taken = match (ty, self.load(location, ty)?) {
            (ScalarType::Lock, Item::Value(Value::None)) => self.myself(access.span)?,
            (ScalarType::Semaphore { .. }, Item::Value(Value::Int(n))) if n > 0 => Item::Value(Value::Int(n - 1)),
            _ => return Err(Halt::Blocked),
        };
        self.put(location, taken);
        Ok(())
    }

    fn release(&mut self, access: &'m Access) -> Done {
        let location = self.locate(access)?;
        let ty = self.type_of(access);
        let held = self.load(location, ty)?;
        let free = match (ty, held) {
            (ScalarType::Semaphore { max }, Item::Value(Value::Int(n))) => {
                (n < max).then_some(Item::Value(Value::Int(n + 1)))
            }
            _ => (held == self.myself(access.span)?).then_some(Item::Value(Value::None)),
        };
        self.put(location, free.ok_or(Halt::Fault(access.span))?);
        Ok(())
    }

    fn store(&mut self, location: Location, value: Item, access: &'m Access) -> Done {
        let ty = self.type_of(access);
        let fits = match value {
            Item::Slot(_) => holds_members(ty, self.ground.layout.family),
            Item::Value(value) => ty.contains(value, self.ground.model.type_context()),
            // What is copied to where it is not shown.
            Item::Hidden => true,
            Item::Place(_) | Item::Taken(_) => false,
        };
        if !fits {
            return Err(Halt::Fault(access.span));
        }
        self.put(location, value);
        Ok(())
    }

    /// What an unseen process holds is not kept.
    fn put(&mut self, location: Location, value: Item) {
        match location {
            Location::Shared(column) => self.config.shared[column] = value,
            Location::Local(slot, column) => match &mut self.config.slots[slot as usize] {
                Some(local) => local[column] = value,
                None => self.needs.wrote_unseen = true,
            },
        }
    }

    fn type_of(&self, access: &Access) -> ScalarType {
        self.ground.model.vars[access.var].ty.scalar()
    }

    /// A loop inside a step.
    fn repeat(&mut self, binding: &'m Binding, block: &'m [Stmt]) -> Done {
        if !is_over(&binding.domain, self.ground.layout.family) {
            // A quantifier in a loop may need another witness each time.
            let outer = std::mem::replace(&mut self.guessing.witnesses, true);
            let values = self.domain(&binding.domain)?;
            let done = values.into_iter().try_for_each(|value| {
                self.bind(binding, value);
                self.run(block)
            });
            self.guessing.witnesses = outer;
            return done;
        }
        self.needs.wrote_unseen = true;
        // What its rounds read is not noted one by one.
        self.choices.read = Columns::MAX;
        let found = self.ends(binding, block)?;
        found.hidden.iter().for_each(|&column| self.needs.note(column));
        let ends = &found.ends;
        match ends.get(self.choices.choose(ends.len())) {
            Some(Ok(config)) => self.config = config.clone(),
            Some(Err(halt)) => return Err(*halt),
            None => return Err(Halt::Blocked),
        }
        Ok(())
    }

    /// All ends of a loop over the family, worked out once for all ways that come to it with the same values.
    fn ends(&mut self, binding: &'m Binding, block: &'m [Stmt]) -> Result<Rc<LoopEnds>, Halt> {
        let text = std::ptr::from_ref(binding).addr();
        let entry = LoopEntry { text, config: self.config.clone(), bound: self.bound.clone() };
        if let Some(ends) = self.choices.ends.get(&entry) {
            return Ok(Rc::clone(ends));
        }
        let before = std::mem::take(&mut self.needs.hidden);
        let ends = match is_pointwise(self.ground.layout, binding.var, block) {
            true => self.separate_rounds(binding, block)?,
            false => self.all_rounds(binding, block)?,
        };
        let hidden = std::mem::replace(&mut self.needs.hidden, before);
        let found = Rc::new(LoopEnds { ends, hidden });
        self.choices.ends.insert(entry, Rc::clone(&found));
        Ok(found)
    }

    /// All ends of a loop whose rounds have nothing to do with each other: one round for each seen process. An unseen one may only be a fault.
    fn separate_rounds(&mut self, binding: &'m Binding, block: &'m [Stmt]) -> Result<Ends, Halt> {
        let start = self.config.clone();
        let n_slots = start.slots.len();
        let mut faults: Ends = Vec::new();
        let mut ends: BTreeSet<Configuration> = BTreeSet::from([start.clone()]);
        for candidate in (0..n_slots as Slot).map(Some).chain([None]) {
            // A process may be taken before another one blocks the step.
            for result in self.rounds(&start, binding, block, candidate)? {
                if result.is_err() && !faults.contains(&result) {
                    faults.push(result);
                }
            }
            if !candidate.is_some_and(|slot| start.is_seen(slot)) {
                continue;
            }
            let mut after = BTreeSet::new();
            for config in &ends {
                let results = self.rounds(config, binding, block, candidate)?;
                after.extend(results.into_iter().flatten().map(|mut config| {
                    config.forget_unnamed(n_slots);
                    config
                }));
            }
            ends = after;
        }
        Ok(ends.into_iter().map(Ok).chain(faults).collect())
    }

    /// All ends of a loop that takes the processes of the family.
    fn all_rounds(&mut self, binding: &'m Binding, block: &'m [Stmt]) -> Result<Ends, Halt> {
        let seen: BTreeSet<Slot> = self.config.seen().collect();
        let n_slots = self.config.slots.len();
        let mut ends: Ends = Vec::new();
        let mut known: FxHashSet<Round> = FxHashSet::from_iter([(self.config.clone(), BTreeSet::new())]);
        let mut open: Vec<Round> = known.iter().cloned().collect();
        // One round does not depend on who was taken before it.
        let mut rounds: FxHashMap<Configuration, FxHashMap<Option<Slot>, Rc<Ends>>> = FxHashMap::default();
        while let Some((config, taken)) = open.pop() {
            if taken == seen {
                ends.push(Ok(config.clone()));
            }
            let unseen = (0..config.slots.len() as Slot).filter(|&slot| !config.is_seen(slot)).map(Some);
            let candidates = seen.difference(&taken).copied().map(Some).chain(unseen).chain([None]);
            for candidate in candidates.collect::<Vec<_>>() {
                let found = rounds.get(&config).and_then(|of| of.get(&candidate)).cloned();
                let found = match found {
                    Some(found) => found,
                    None => {
                        let found = Rc::new(self.distinct_rounds(&config, binding, block, (candidate, n_slots))?);
                        rounds.entry(config.clone()).or_default().insert(candidate, Rc::clone(&found));
                        found
                    }
                };
                for result in found.iter() {
                    match result {
                        Err(halt) if !ends.contains(&Err(*halt)) => ends.push(Err(*halt)),
                        Err(_) => {}
                        Ok(config) => {
                            let taken = taken.iter().copied().chain(candidate.filter(|slot| seen.contains(slot)));
                            let round = (config.clone(), taken.collect());
                            if known.insert(round.clone()) {
                                open.push(round);
                            }
                        }
                    }
                }
            }
        }
        Ok(ends)
    }

    /// The different ends of one round, without slots that it made and left unnamed.
    fn distinct_rounds(
        &mut self,
        config: &Configuration,
        binding: &'m Binding,
        block: &'m [Stmt],
        (candidate, n_slots): (Option<Slot>, usize),
    ) -> Result<Ends, Halt> {
        let mut known: FxHashSet<Result<Configuration, Halt>> = FxHashSet::default();
        let mut ends = Vec::new();
        for mut end in self.rounds(config, binding, block, candidate)? {
            if let Ok(config) = &mut end {
                config.forget_unnamed(n_slots);
            }
            if known.insert(end.clone()) {
                ends.push(end);
            }
        }
        Ok(ends)
    }

    /// All ways through one round, with this process or an unseen one.
    fn rounds(
        &mut self,
        config: &Configuration,
        binding: &'m Binding,
        block: &'m [Stmt],
        candidate: Option<Slot>,
    ) -> Result<Ends, Halt> {
        let mut choices = Choices::default();
        let mut results = Vec::new();
        loop {
            let mut inner = Sight {
                ground: self.ground,
                config: config.clone(),
                me: self.me,
                bound: self.bound.clone(),
                guessing: Guessing { contents: true, witnesses: true },
                choices: &mut choices,
                needs: Needs::default(),
            };
            let slot = match candidate {
                Some(slot) => Ok(slot),
                None => inner.new_slot(),
            };
            let done = slot.and_then(|slot| {
                inner.bind(binding, Item::Slot(slot));
                inner.run(block)
            });
            let (after, needs) = (inner.config, inner.needs);
            needs.hidden.into_iter().for_each(|column| self.needs.note(column));
            match done {
                Ok(()) => results.push(Ok(after)),
                Err(Halt::Blocked) => {}
                Err(fault @ Halt::Fault(_)) => results.push(Err(fault)),
                Err(other) => return Err(other),
            }
            if !choices.advance() {
                return Ok(results);
            }
        }
    }

    /// Moves control to where `next` leads.
    pub fn follow(&mut self, mut next: &'m Next) -> Done {
        let model = self.ground.model;
        loop {
            next = match next {
                Next::To(place) => return self.stand(Item::Place(*place)),
                Next::Enter { enter, skip } => match self.first_of(*enter)? {
                    Some(value) => {
                        self.count(*enter, value)?;
                        &model.loops[*enter].body
                    }
                    None => skip,
                },
                Next::Again { again, done } => match self.next_of(*again)? {
                    Some(value) => {
                        self.count(*again, value)?;
                        &model.loops[*again].body
                    }
                    None => {
                        self.reset(*again)?;
                        done
                    }
                },
                Next::Leave { loops, then } => {
                    loops.iter().try_for_each(|&left| self.reset(left))?;
                    then
                }
            };
        }
    }

    fn stand(&mut self, place: Item) -> Done {
        let location = match self.me {
            Who::Slot(slot) => Location::Local(slot, 0),
            Who::Other(id) => {
                let column = self.ground.layout.shared_column(SharedColumn::Control(id));
                Location::Shared(column.ok_or(Halt::Outside(Span::default()))?)
            }
            Who::Nobody => return Err(Halt::Outside(Span::default())),
        };
        self.put(location, place);
        Ok(())
    }

    /// The first value of a loop's counter; `None` where there is none.
    fn first_of(&mut self, id: LoopId) -> Result<Option<Item>, Halt> {
        let domain = &self.ground.model.loops[id].domain;
        if self.is_scan(domain) {
            self.note_taken(id, 0)?;
            return self.any_member().map(|slot| Some(Item::Slot(slot)));
        }
        Ok(self.domain(domain)?.first().copied())
    }

    /// The value of a loop's counter after the present one; `None` at the end.
    fn next_of(&mut self, id: LoopId) -> Result<Option<Item>, Halt> {
        let domain = &self.ground.model.loops[id].domain;
        let counter = self.counter(id)?;
        let current = self.load(counter, ScalarType::Bool)?;
        if !self.is_scan(domain) {
            let values = self.domain(domain)?;
            let at = values.iter().position(|&value| value == current);
            return Ok(at.and_then(|at| values.get(at + 1)).copied());
        }
        let Item::Slot(current) = current else { return Err(Halt::Outside(Span::default())) };
        let taken = self.taken(id)? | 1 << current;
        self.note_taken(id, taken)?;
        let rest: Vec<Slot> = self.config.seen().filter(|slot| taken & 1 << slot == 0).collect();
        let unseen: Vec<Slot> = (0..self.config.slots.len() as Slot)
            .filter(|&slot| !self.config.is_seen(slot) && slot != current)
            .collect();
        let options = [&rest[..], &unseen[..]].concat();
        // One of these, another unseen one, or the end where every seen one was taken.
        match self.choices.choose(options.len() + 1 + usize::from(rest.is_empty())) {
            chosen if chosen < options.len() => Ok(Some(Item::Slot(options[chosen]))),
            chosen if chosen == options.len() => self.new_slot().map(|slot| Some(Item::Slot(slot))),
            _ => Ok(None),
        }
    }

    fn is_scan(&self, domain: &Domain) -> bool {
        is_over(domain, self.ground.layout.family)
    }

    fn count(&mut self, id: LoopId, value: Item) -> Done {
        let counter = self.counter(id)?;
        self.put(counter, value);
        Ok(())
    }

    /// A loop over the family that is not under way has no counter; others go back to their first value.
    pub(crate) fn reset(&mut self, id: LoopId) -> Done {
        let model = self.ground.model;
        let first = if self.is_scan(&model.loops[id].domain) {
            self.note_taken(id, 0)?;
            Value::None
        } else {
            let ty = model.vars[model.loops[id].counter].ty.scalar();
            ty.first_value(model.type_context()).ok_or(Halt::Outside(Span::default()))?
        };
        self.count(id, Item::Value(first))
    }

    fn counter(&self, id: LoopId) -> Result<Location, Halt> {
        let model = self.ground.model;
        let offset = model.vars[model.loops[id].counter].offset;
        let location = match self.me {
            Who::Slot(slot) => {
                let column = self.ground.layout.local_column(LocalColumn::Own(offset));
                column.map(|column| Location::Local(slot, column))
            }
            Who::Other(process) => {
                let cell = CellId::new(model.processes[process].first_cell + offset);
                self.ground.layout.shared_column(SharedColumn::Cell(cell)).map(Location::Shared)
            }
            Who::Nobody => None,
        };
        location.ok_or(Halt::Outside(Span::default()))
    }

    fn taken_at(&self, id: LoopId) -> Result<Location, Halt> {
        let layout = self.ground.layout;
        let location = match self.me {
            Who::Slot(slot) => layout.local_column(LocalColumn::Taken(id)).map(|column| Location::Local(slot, column)),
            Who::Other(process) => layout.shared_column(SharedColumn::Taken(process, id)).map(Location::Shared),
            Who::Nobody => None,
        };
        location.ok_or(Halt::Outside(Span::default()))
    }

    fn taken(&mut self, id: LoopId) -> Result<u32, Halt> {
        let location = self.taken_at(id)?;
        match self.load(location, ScalarType::Bool)? {
            Item::Taken(bits) => Ok(bits),
            _ => Err(Halt::Outside(Span::default())),
        }
    }

    fn note_taken(&mut self, id: LoopId, taken: u32) -> Done {
        let location = self.taken_at(id)?;
        self.put(location, Item::Taken(taken));
        Ok(())
    }
}
