//! The steps of the checker where some processes are seen.
//!
//! In: a [`Look`] before an action. Out: the scene after it. A loop over the family, inside a step or over places, takes the seen processes in
//! whichever order, each once, and unseen ones as often as it likes, which may hold anything.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use base::Span;
use evidence::views::{Item, LocalColumn, SharedColumn};
use model::control::{Action, ActionKind, LoopId, Next, Stmt, StmtKind, TextOwner};
use model::expr::{Access, Binding, Expr, ExprKind, Whose};
use model::types::ScalarType;
use model::value::Value;
use model::variable::CellId;

use super::apart::keep_apart;
use super::look::{Decisions, End, Look, Looked, Looker, Spot};
use super::scene::{Columns, Scene, Slot};
use super::text::Text;

/// Cells with more values are not said to have any of them, one by one.
pub(super) const MOST_VALUES: i64 = 1 << 20;

impl<'m> Look<'_, 'm> {
    pub fn take(&mut self, action: &'m Action) -> Looked<()> {
        if action.sync.is_some() || !matches!(action.kind, ActionKind::Plain | ActionKind::Idle) {
            return Err(End::Uneven(Span::default()));
        }
        if let Some(guard) = &action.guard
            && !self.holds(guard)?
        {
            return Err(End::No);
        }
        self.block(&action.body)?;
        self.go(&action.next)
    }

    fn block(&mut self, block: &'m [Stmt]) -> Looked<()> {
        for statement in block {
            self.one(statement)?;
        }
        Ok(())
    }

    fn one(&mut self, statement: &'m Stmt) -> Looked<()> {
        match &statement.kind {
            StmtKind::Assign(stores) => {
                let mut found = Vec::new();
                for (target, value) in stores {
                    let spot = self.spot(target)?;
                    found.push((spot, self.value(value)?, target));
                }
                found.into_iter().try_for_each(|(spot, value, target)| self.set(spot, value, target))
            }
            StmtKind::AssignAny(target, range) => self.set_any(target, range.as_ref()),
            StmtKind::Await(test) => {
                if self.holds(test)? {
                    Ok(())
                } else {
                    Err(End::No)
                }
            }
            StmtKind::Assert(test) => {
                if self.holds(test)? {
                    Ok(())
                } else {
                    Err(End::Fault)
                }
            }
            StmtKind::Acquire(target) => {
                let (spot, held) = self.held(target)?;
                match (self.text.model.vars[target.var].ty.scalar(), held) {
                    (ScalarType::Lock, Item::Value(Value::None)) => {
                        let me = self.me(target.span)?;
                        self.put(spot, me);
                    }
                    (ScalarType::Semaphore { .. }, Item::Value(Value::Int(n))) if n >= 1 => {
                        self.put(spot, Item::Value(Value::Int(n - 1)));
                    }
                    _ => return Err(End::No),
                }
                Ok(())
            }
            StmtKind::Release(target) => {
                let (spot, held) = self.held(target)?;
                let me = self.me(target.span)?;
                match (self.text.model.vars[target.var].ty.scalar(), held) {
                    (ScalarType::Semaphore { max }, Item::Value(Value::Int(n))) if n < max => {
                        self.put(spot, Item::Value(Value::Int(n + 1)));
                    }
                    (ScalarType::Lock, held) if held == me => self.put(spot, Item::Value(Value::None)),
                    _ => return Err(End::Fault),
                }
                Ok(())
            }
            StmtKind::If(test, yes, no) => {
                let block = if self.holds(test)? { yes } else { no };
                self.block(block)
            }
            StmtKind::Either(blocks) => {
                let taken = self.way.decide(blocks.len());
                blocks.get(taken).map_or(Err(End::No), |block| self.block(block))
            }
            StmtKind::For(binding, block) => self.each(binding, block),
        }
    }

    fn held(&mut self, target: &'m Access) -> Looked<(Spot, Item)> {
        let spot = self.spot(target)?;
        self.note(spot, target);
        let held = self.content(spot, self.text.model.vars[target.var].ty.scalar())?;
        Ok((spot, held))
    }

    fn set(&mut self, spot: Spot, value: Item, target: &Access) -> Looked<()> {
        let ty = self.text.model.vars[target.var].ty.scalar();
        let fits = match value {
            // As a number, it depends on which process it is.
            Item::Slot(_) if !self.names_members(ty) => return Err(End::Uneven(target.span)),
            Item::Slot(_) => true,
            Item::Value(value) => ty.contains(value, self.text.model.type_context()),
            Item::Place(_) | Item::Taken(_) | Item::Hidden => false,
        };
        if !fits {
            return Err(End::Fault);
        }
        self.put(spot, value);
        Ok(())
    }

    /// What an unseen process holds afterwards is forgotten.
    fn put(&mut self, spot: Spot, value: Item) {
        match spot {
            Spot::Shared(column) => self.scene.shared[column] = value,
            Spot::Of(slot, column) => match &mut self.scene.slots[slot as usize] {
                Some(local) => Rc::make_mut(local)[column] = value,
                None => self.wrote_unseen = true,
            },
        }
    }

    fn set_any(&mut self, target: &'m Access, range: Option<&'m (Expr, Expr)>) -> Looked<()> {
        let spot = self.spot(target)?;
        let ty = self.text.model.vars[target.var].ty.scalar();
        let Some((lo, hi)) = range else {
            let value = self.anything(ty)?;
            self.put(spot, value);
            return Ok(());
        };
        if self.names_members(ty) {
            return Err(End::Uneven(target.span));
        }
        let (lo, hi) = (self.int(lo)?, self.int(hi)?);
        let context = self.text.model.type_context();
        let model = self.text.model;
        let amount = |value: Value| match value {
            Value::Int(number) => Some(number),
            Value::Process(id) => Some(model.processes[id].index),
            Value::Bool(_) | Value::Enum(..) | Value::None => None,
        };
        let (values, has): (Vec<Value>, [bool; 2]) = match ty {
            // The values of a wide range are not gone through.
            ScalarType::Range { lo: least, hi: greatest } => {
                let numbers = lo.max(least)..=hi.min(greatest);
                if hi.min(greatest).saturating_sub(lo.max(least)) > MOST_VALUES {
                    return Err(End::Uneven(target.span));
                }
                (numbers.map(Value::Int).collect(), [lo, hi].map(|end| (least..=greatest).contains(&end)))
            }
            _ => {
                let is_meant = |value: &Value| amount(*value).is_some_and(|n| lo <= n && n <= hi);
                let has = |end: i64| ty.values(context).any(|value| amount(value) == Some(end));
                (ty.values(context).filter(is_meant).collect(), [has(lo), has(hi)])
            }
        };
        let has_fault = lo <= hi && has.contains(&false);
        let taken = self.way.decide(values.len() + usize::from(has_fault));
        match values.get(taken) {
            Some(&value) => self.put(spot, Item::Value(value)),
            None if has_fault => return Err(End::Fault),
            None => return Err(End::No),
        }
        Ok(())
    }

    /// A loop inside a step.
    fn each(&mut self, binding: &'m Binding, block: &'m [Stmt]) -> Looked<()> {
        if self.text.is_all(&binding.domain) {
            self.wrote_unseen = true;
            // What its rounds read is not noted one by one.
            self.read = Columns::MAX;
            let before = (std::ptr::from_ref(binding).addr(), self.scene.clone(), self.bound.clone());
            let ends = match self.way.after_loops.get(&before) {
                Some(ends) => Rc::clone(ends),
                None => {
                    let ends = match keep_apart(self.text, binding, block) {
                        true => self.after_each(binding, block)?,
                        false => self.after_all(binding, block)?,
                    };
                    let ends = Rc::new(ends.into_iter().collect::<Vec<_>>());
                    self.way.after_loops.insert(before, Rc::clone(&ends));
                    ends
                }
            };
            let taken = self.way.decide(ends.len());
            return match ends.get(taken) {
                None => Err(End::No),
                Some(None) => Err(End::Fault),
                Some(Some(scene)) => {
                    self.scene = scene.clone();
                    Ok(())
                }
            };
        }
        let values = self.members_of(&binding.domain)?;
        let before = std::mem::replace(&mut self.guess_witnesses, true);
        for value in values {
            self.bind(binding, value);
            self.block(block)?;
        }
        self.guess_witnesses = before;
        Ok(())
    }

    /// Everything that a loop over the family can lead to whose rounds keep apart; `None` is a fault. Any process, seen or not, may be the first
    /// that it takes, and be a fault; what is left behind is made by one round for each process that is seen.
    fn after_each(&self, binding: &'m Binding, block: &'m [Stmt]) -> Looked<BTreeSet<Option<Scene>>> {
        let n_slots = self.scene.slots.len();
        let mut ends = BTreeSet::new();
        for take in 0..=n_slots {
            if self.after_one(&self.scene, take, binding, block)?.contains(&None) {
                ends.insert(None);
            }
        }
        let mut scenes = BTreeSet::from([self.scene.clone()]);
        for slot in self.scene.seen() {
            let mut after = BTreeSet::new();
            for scene in &scenes {
                let found = self.after_one(scene, slot as usize, binding, block)?.into_iter().flatten();
                after.extend(found.map(|scene| without_unnamed(scene, n_slots)));
            }
            scenes = after;
        }
        ends.extend(scenes.into_iter().map(Some));
        Ok(ends)
    }

    /// Everything that a loop over the family can lead to; `None` is a fault.
    fn after_all(&self, binding: &'m Binding, block: &'m [Stmt]) -> Looked<BTreeSet<Option<Scene>>> {
        let seen = self.scene.seen();
        let n_slots = self.scene.slots.len();
        let mut ends = BTreeSet::new();
        let mut known: BTreeSet<(Scene, Vec<Slot>)> = BTreeSet::new();
        let mut open = vec![(self.scene.clone(), seen.clone())];
        // Whom a loop takes leads to the same, whoever is left.
        let mut rounds: BTreeMap<(Scene, usize), BTreeSet<Option<Scene>>> = BTreeMap::new();
        while let Some((scene, left)) = open.pop() {
            if !known.insert((scene.clone(), left.clone())) {
                continue;
            }
            if left.is_empty() {
                ends.insert(Some(scene.clone()));
            }
            // The seen ones that are left, those that are only named, and one without a slot.
            let named = (0..scene.slots.len()).filter(|&slot| scene.slots[slot].is_none());
            let takes: Vec<usize> =
                left.iter().map(|&slot| slot as usize).chain(named).chain([scene.slots.len()]).collect();
            for take in takes {
                let round = (scene.clone(), take);
                if !rounds.contains_key(&round) {
                    let found = self.after_one(&scene, take, binding, block)?.into_iter();
                    let found = found.map(|after| after.map(|after| without_unnamed(after, n_slots))).collect();
                    rounds.insert(round.clone(), found);
                }
                for after in rounds.get(&round).into_iter().flatten() {
                    match after {
                        None => drop(ends.insert(None)),
                        Some(after) => {
                            let left = left.iter().copied().filter(|&slot| slot as usize != take).collect();
                            open.push((after.clone(), left));
                        }
                    }
                }
            }
        }
        Ok(ends)
    }

    /// Everything that one round of a loop can lead to.
    fn after_one(
        &self,
        scene: &Scene,
        take: usize,
        binding: &'m Binding,
        block: &'m [Stmt],
    ) -> Looked<Vec<Option<Scene>>> {
        let mut found = Vec::new();
        let mut next = Some(Decisions::default());
        while let Some(mut way) = next {
            let mut look = Look {
                text: self.text,
                scene: scene.clone(),
                looker: self.looker,
                bound: self.bound.clone(),
                way: &mut way,
                guess_contents: true,
                guess_witnesses: true,
                has_most_witnesses: true,
                n_decided: 0,
                is_open: false,
                named: BTreeSet::new(),
                depth: 0,
                wrote_unseen: false,
                watched: None,
                read: 0,
            };
            let done = look.member(take).and_then(|slot| {
                look.bind(binding, Item::Slot(slot));
                look.block(block)
            });
            match done {
                Ok(()) => found.push(Some(look.scene)),
                Err(End::No) => {}
                Err(End::Fault) => found.push(None),
                Err(end) => return Err(end),
            }
            next = way.following();
        }
        Ok(found)
    }

    /// Moves control.
    pub fn go(&mut self, next: &'m Next) -> Looked<()> {
        let mut next = next;
        loop {
            match next {
                Next::To(place) => {
                    let spot = match self.looker {
                        Looker::Slot(slot) => Some(Spot::Of(slot, 0)),
                        Looker::Other(id) => self.text.shared_at(SharedColumn::Control(id)).map(Spot::Shared),
                        Looker::Nobody => None,
                    };
                    self.put(spot.ok_or(End::Uneven(Span::default()))?, Item::Place(*place));
                    return Ok(());
                }
                Next::Enter { enter, skip } => {
                    let counted = &self.text.written.loops[*enter];
                    let first = if self.text.is_all(&counted.domain) {
                        self.put_taken(*enter, 0)?;
                        let number = self.way.decide(self.scene.slots.len() + 1);
                        Some(Item::Slot(self.member(number)?))
                    } else {
                        self.members_of(&counted.domain)?.into_iter().next()
                    };
                    next = match first {
                        Some(first) => {
                            self.put(self.counter(*enter)?, first);
                            &counted.body
                        }
                        None => skip,
                    };
                }
                Next::Again { again, done } => {
                    let following = self.following(*again)?;
                    next = match following {
                        Some(value) => {
                            self.put(self.counter(*again)?, value);
                            &self.text.written.loops[*again].body
                        }
                        None => {
                            self.clear(*again)?;
                            done
                        }
                    };
                }
                Next::Leave { loops, then } => {
                    for &left in loops {
                        self.clear(left)?;
                    }
                    next = then;
                }
            }
        }
    }

    /// What a loop takes after what it takes now.
    fn following(&mut self, id: LoopId) -> Looked<Option<Item>> {
        let domain = &self.text.written.loops[id].domain;
        let now = self.content(self.counter(id)?, ScalarType::Bool)?;
        if !self.text.is_all(domain) {
            let values = self.members_of(domain)?;
            return Ok(values.iter().skip_while(|&&value| value != now).nth(1).copied());
        }
        let Item::Slot(now) = now else { return Err(End::Uneven(Span::default())) };
        let Item::Taken(taken) = self.content(self.taken(id)?, ScalarType::Bool)? else {
            return Err(End::Uneven(Span::default()));
        };
        let taken = taken | 1 << now;
        self.put_taken(id, taken)?;
        let is_possible = |&slot: &usize| match self.scene.slots[slot] {
            Some(_) => taken & 1 << slot == 0,
            None => slot != now as usize,
        };
        let mut options: Vec<usize> = (0..self.scene.slots.len()).filter(is_possible).collect();
        let is_through = options.iter().all(|&slot| self.scene.slots[slot].is_none());
        options.push(self.scene.slots.len());
        let chosen = self.way.decide(options.len() + usize::from(is_through));
        match options.get(chosen) {
            Some(&slot) => self.member(slot).map(|slot| Some(Item::Slot(slot))),
            None => Ok(None),
        }
    }

    /// A loop that is left: its counter is nobody, or at its first value.
    pub fn clear(&mut self, id: LoopId) -> Looked<()> {
        let counted = &self.text.written.loops[id];
        let rest = if self.text.is_all(&counted.domain) {
            self.put_taken(id, 0)?;
            Some(Value::None)
        } else {
            self.text.model.vars[counted.counter].ty.scalar().first_value(self.text.model.type_context())
        };
        let counter = self.counter(id)?;
        self.put(counter, Item::Value(rest.ok_or(End::Uneven(Span::default()))?));
        Ok(())
    }

    fn counter(&self, id: LoopId) -> Looked<Spot> {
        let offset = self.text.model.vars[self.text.model.loops[id].counter].offset;
        let spot = match self.looker {
            Looker::Slot(slot) => self.text.local_at(LocalColumn::Own(offset)).map(|column| Spot::Of(slot, column)),
            Looker::Other(process) => {
                let cell = CellId::new(self.text.model.processes[process].first_cell + offset);
                self.text.shared_at(SharedColumn::Cell(cell)).map(Spot::Shared)
            }
            Looker::Nobody => None,
        };
        spot.ok_or(End::Uneven(Span::default()))
    }

    fn taken(&self, id: LoopId) -> Looked<Spot> {
        let spot = match self.looker {
            Looker::Slot(slot) => self.text.local_at(LocalColumn::Taken(id)).map(|column| Spot::Of(slot, column)),
            Looker::Other(process) => self.text.shared_at(SharedColumn::Taken(process, id)).map(Spot::Shared),
            Looker::Nobody => None,
        };
        spot.ok_or(End::Uneven(Span::default()))
    }

    fn put_taken(&mut self, id: LoopId, taken: u32) -> Looked<()> {
        let spot = self.taken(id)?;
        self.put(spot, Item::Taken(taken));
        Ok(())
    }
}

/// Without slots beyond the first ones that nobody names.
fn without_unnamed(mut scene: Scene, n_slots: usize) -> Scene {
    while scene.slots.len() > n_slots {
        let last = scene.slots.len() - 1;
        let names = |item: &Item| *item == Item::Slot(last as Slot);
        if scene.slots[last].is_some()
            || scene.shared.iter().chain(scene.slots.iter().flatten().flat_map(|local| local.iter())).any(names)
        {
            break;
        }
        scene.slots.pop();
        if let Some(rank) = scene.ranks.pop() {
            scene.ranks.iter_mut().filter(|one| **one > rank).for_each(|one| *one -= 1);
        }
    }
    scene
}

/// Whether a loop over the family stands in a block.
pub(super) fn goes_round(text: &Text<'_>, block: &[Stmt]) -> bool {
    block.iter().any(|statement| match &statement.kind {
        StmtKind::For(binding, inner) => text.is_all(&binding.domain) || goes_round(text, inner),
        StmtKind::If(_, yes, no) => goes_round(text, yes) || goes_round(text, no),
        StmtKind::Either(blocks) => blocks.iter().any(|inner| goes_round(text, inner)),
        _ => false,
    })
}

/// Whether an action writes nothing but what belongs to the process that takes it: its own cells, and elements that arrays have for it.
pub(super) fn keeps_to_itself(text: &Text<'_>, action: &Action) -> bool {
    action.scope == TextOwner::Family(text.family) && block_keeps_to_itself(text, &action.body)
}

fn block_keeps_to_itself(text: &Text<'_>, block: &[Stmt]) -> bool {
    let is_mine = |target: &Access| {
        match &target.whose {
        Whose::Mine => true,
        Whose::Of(who) => who.kind == ExprKind::Myself,
        Whose::Shared => text.rows.get(&target.var).is_some_and(|&dimension| {
            matches!(&target.indices[dimension].kind, ExprKind::IndexOf(who) if who.kind == ExprKind::Myself)
        }),
        Whose::Frame => false,
    }
    };
    block.iter().all(|statement| match &statement.kind {
        StmtKind::Assign(stores) => stores.iter().all(|(target, _)| is_mine(target)),
        StmtKind::AssignAny(target, _) | StmtKind::Acquire(target) | StmtKind::Release(target) => is_mine(target),
        StmtKind::Await(_) | StmtKind::Assert(_) => true,
        StmtKind::If(_, yes, no) => block_keeps_to_itself(text, yes) && block_keeps_to_itself(text, no),
        StmtKind::Either(blocks) => blocks.iter().all(|block| block_keeps_to_itself(text, block)),
        StmtKind::For(_, block) => block_keeps_to_itself(text, block),
    })
}
