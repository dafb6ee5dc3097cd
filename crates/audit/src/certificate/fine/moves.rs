//! Every step from every listed local state, as the checker takes it.
//!
//! In: a plan. Out: the moves: from which local state to which, what shared columns held and hold, what all others are in, whom a loop over the family
//! takes. A move to a local state that is not listed is an objection to the proof.

use evidence::fine::LocalItem;
use evidence::views::{LocalColumn, SharedColumn};
use model::control::{Action, LoopId, Next, Stmt, StmtKind};
use model::expr::{Access, Domain};
use model::types::ScalarType;
use model::value::Value;
use model::variable::CellId;
use rustc_hash::FxHashMap;

use super::look::{Decisions, End, Look, Seen, Spot, Thing, Who, int, is_in};
use super::plan::Plan;
use crate::certificate::{CertificateError, Outcome, words};

/// Most moves, and ends of loops in one step.
const MOST_MOVES: usize = 1 << 19;
const MOST_TURNS: usize = 1 << 14;

/// What becomes of a loop over the family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Round {
    /// It takes the process that it is at.
    pub takes: bool,
    /// That was the last one.
    pub ends: bool,
    /// A loop begins, with no process taken.
    pub begins: bool,
    /// It is left before its end.
    pub is_left: bool,
}

const NO_ROUND: Round = Round { takes: false, ends: false, begins: false, is_left: false };

/// Whom a loop takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Whom {
    Nobody,
    Mover,
    Other,
}

/// A move, but for the local state of whom a loop takes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Move {
    pub from: Option<usize>,
    pub to: Option<usize>,
    pub before: Vec<(usize, Thing)>,
    pub after: Vec<(usize, Thing)>,
    /// Numbers of sets.
    pub all: Vec<usize>,
    pub whom: Whom,
    pub round: Round,
}

/// All moves, and the sets of local states that they ask for.
pub(super) struct Moves {
    /// Each with the local states of whom a loop takes.
    pub moves: Vec<(Move, Vec<bool>)>,
    pub sets: Vec<Vec<bool>>,
    pub can_fault: bool,
}

pub(super) fn moves(plan: &Plan<'_>) -> Outcome<Moves> {
    let (found, numbers) = Default::default();
    let mut maker = Maker { plan, found, sets: Vec::new(), numbers, can_fault: false };
    let model = plan.model;
    for state in 0..plan.states.len() {
        plan.pace.look()?;
        let LocalItem::Place(place) = plan.states[state][0] else { continue };
        for &action in &model.places[place].actions {
            maker.action(Who::Member, Some(state), &model.actions[action])?;
        }
    }
    for process in model.processes.ids().filter(|&id| !plan.is_member(id)) {
        let its = |action: &&Action| is_in(action.scope, model.processes[process].family);
        for action in model.actions.iter().filter(its) {
            maker.action(Who::Outsider(process), None, action)?;
        }
    }
    Ok(Moves { moves: maker.found.into_iter().collect(), sets: maker.sets, can_fault: maker.can_fault })
}

struct Maker<'a, 'm> {
    plan: &'a Plan<'m>,
    found: FxHashMap<Move, Vec<bool>>,
    sets: Vec<Vec<bool>>,
    numbers: FxHashMap<Vec<bool>, usize>,
    can_fault: bool,
}

impl<'m> Maker<'_, 'm> {
    fn action(&mut self, who: Who, from: Option<usize>, action: &'m Action) -> Outcome<()> {
        let plan = self.plan;
        let mine: &[LocalItem] = from.map_or(&[], |state| &plan.states[state]);
        let mut decisions = Decisions::default();
        loop {
            plan.pace.did_one()?;
            let mut look = Look::new(plan, who, mine, decisions);
            if let Who::Outsider(process) = who {
                let Some(column) = plan.shared_at(SharedColumn::Control(process)) else { return self.refuse(action) };
                look.found.push((column, Thing::Place(action.source)));
            }
            let end = look.take(action);
            self.can_fault |= look.may_fault || end == Err(End::Fault);
            match end {
                Ok(round) => self.note(&look, from, (action, round))?,
                Err(End::No | End::Fault) => {}
                Err(End::Refused) => return self.refuse(action),
                Err(End::Stopped(reason)) => return Err((*reason).into()),
            }
            decisions = look.decisions;
            if !decisions.turn() {
                return Ok(());
            }
        }
    }

    fn refuse<T>(&self, action: &Action) -> Outcome<T> {
        let text = &self.plan.model.statements[action.statement].text;
        Err(CertificateError::NotSymmetric(format!("`{text}` tells processes apart, or does what is not followed")))
    }

    fn note(&mut self, look: &Look<'_, 'm>, from: Option<usize>, (action, round): (&Action, Round)) -> Outcome<()> {
        let to = match from {
            None => None,
            Some(_) => match look.plan.number(&look.mine) {
                None => {
                    let text = &look.plan.model.statements[action.statement].text;
                    let what = format!("one by `{text}` leads to another");
                    return words::refused("every step leads to a local state that is listed", what);
                }
                to => to,
            },
        };
        let mut all: Vec<usize> = look.all.iter().map(|set| self.number(set)).collect();
        all.sort_unstable();
        all.dedup();
        let whom = match look.takes_mover {
            None => Whom::Nobody,
            Some(true) => Whom::Mover,
            Some(false) => Whom::Other,
        };
        let sorted = |list: &[(usize, Thing)]| {
            let mut list = list.to_vec();
            list.sort_unstable();
            list
        };
        let one = Move { from, to, before: sorted(&look.found), after: sorted(&look.wrote), all, whom, round };
        let n_states = look.plan.states.len();
        let targets = self.found.entry(one).or_insert_with(|| vec![false; n_states]);
        match look.target {
            Some(target) => targets[target] = true,
            None => targets.fill(true),
        }
        if self.found.len() > MOST_MOVES {
            return Err(CertificateError::NotSupported("there are too many steps".to_owned()));
        }
        Ok(())
    }

    fn number(&mut self, set: &[bool]) -> usize {
        if let Some(&number) = self.numbers.get(set) {
            return number;
        }
        self.numbers.insert(set.to_vec(), self.sets.len());
        self.sets.push(set.to_vec());
        self.sets.len() - 1
    }
}

impl<'m> Look<'_, 'm> {
    fn take(&mut self, action: &'m Action) -> Seen<Round> {
        if let Some(guard) = &action.guard
            && !self.holds(guard)?
        {
            return Err(End::No);
        }
        self.all_of(&action.body)?;
        self.go(&action.next)
    }

    fn all_of(&mut self, body: &'m [Stmt]) -> Seen<()> {
        for statement in body {
            self.one_of(statement)?;
        }
        Ok(())
    }

    fn one_of(&mut self, statement: &'m Stmt) -> Seen<()> {
        match &statement.kind {
            StmtKind::Assign(pairs) => {
                let mut ready = Vec::new();
                for (access, value) in pairs {
                    let spot = self.spot(access)?;
                    ready.push((spot, self.value(value)?, self.ty(access)));
                }
                for (spot, value, ty) in ready {
                    self.store(spot, value, ty)?;
                }
                Ok(())
            }
            StmtKind::AssignAny(access, range) => {
                let spot = self.spot(access)?;
                let ty = self.ty(access);
                let value = match range {
                    None => {
                        let contents = self.contents(ty, Thing::Anybody)?;
                        contents[self.decide(contents.len())?]
                    }
                    Some((lo, hi)) => {
                        let (lo, hi) = (self.number(lo)?, self.number(hi)?);
                        // In a cell of another type a number of the range means something else.
                        if !matches!(ty, ScalarType::Range { .. }) || hi.saturating_sub(lo) > 1 << 12 {
                            return Err(End::Refused);
                        }
                        let n = usize::try_from(hi.saturating_sub(lo).saturating_add(1)).unwrap_or(0);
                        int(lo + self.decide(n)? as i64)
                    }
                };
                self.store(spot, value, ty)
            }
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
            StmtKind::Acquire(access) => {
                let spot = self.spot(access)?;
                let ty = self.ty(access);
                let held = self.read(spot, ty)?;
                let value = match (ty, held) {
                    (ScalarType::Lock, Thing::Value(Value::None)) => self.mover()?,
                    (ScalarType::Semaphore { .. }, Thing::Value(Value::Int(units))) if units >= 1 => int(units - 1),
                    _ => return Err(End::No),
                };
                self.store(spot, value, ty)
            }
            StmtKind::Release(access) => {
                let spot = self.spot(access)?;
                let ty = self.ty(access);
                let held = self.read(spot, ty)?;
                let value = match (ty, held) {
                    (ScalarType::Semaphore { max }, Thing::Value(Value::Int(units))) if units < max => int(units + 1),
                    (ScalarType::Semaphore { .. }, _) => return Err(End::Fault),
                    _ => {
                        let mover = self.mover()?;
                        if !self.same(held, mover)? {
                            return Err(End::Fault);
                        }
                        Thing::Value(Value::None)
                    }
                };
                self.store(spot, value, ty)
            }
            StmtKind::If(test, yes, no) => {
                let block = if self.holds(test)? { yes } else { no };
                self.all_of(block)
            }
            StmtKind::Either(blocks) => {
                let at = self.decide(blocks.len())?;
                self.all_of(&blocks[at])
            }
            StmtKind::For(binding, block) => {
                for thing in self.domain(&binding.domain)? {
                    self.bind(binding, thing);
                    self.all_of(block)?;
                }
                Ok(())
            }
        }
    }

    fn ty(&self, access: &Access) -> ScalarType {
        self.plan.model.vars[access.var].ty.scalar()
    }

    fn store(&mut self, spot: Spot, value: Thing, ty: ScalarType) -> Seen<()> {
        let is_of_type = match value {
            Thing::Value(value) => ty.contains(value, self.plan.model.type_context()),
            Thing::Place(_) => false,
            // Elsewhere the process means its index, which may be of the type.
            _ if !self.plan.names_members(ty) => return Err(End::Refused),
            _ => true,
        };
        if !is_of_type {
            return Err(End::Fault);
        }
        match spot {
            Spot::Shared(column) => self.put(column, value),
            Spot::Mine(column) => {
                self.mine[column] = match value {
                    Thing::Value(value) => LocalItem::Value(value),
                    Thing::Place(place) => LocalItem::Place(place),
                    Thing::Mover => LocalItem::Itself,
                    Thing::Anybody if self.decide(2)? == 0 => LocalItem::Itself,
                    _ => LocalItem::Another,
                };
            }
            Spot::Of(..) => return Err(End::Refused),
        }
        Ok(())
    }

    fn put(&mut self, column: usize, value: Thing) {
        self.wrote.retain(|(one, _)| *one != column);
        self.wrote.push((column, value));
    }

    /// Control moves on.
    pub fn go(&mut self, mut next: &'m Next) -> Seen<Round> {
        let model = self.plan.model;
        let mut round = NO_ROUND;
        for _ in 0..MOST_TURNS {
            match next {
                Next::To(place) => {
                    match self.who {
                        Who::Member => self.mine[0] = LocalItem::Place(*place),
                        Who::Outsider(id) => {
                            let column = self.plan.shared_at(SharedColumn::Control(id)).ok_or(End::Refused)?;
                            self.put(column, Thing::Place(*place));
                        }
                        Who::Nobody => return Err(End::Refused),
                    }
                    return Ok(round);
                }
                Next::Enter { enter, skip } => {
                    if self.is_over_family(*enter) {
                        if round.begins || round.takes && !round.ends {
                            return Err(End::Refused);
                        }
                        self.set_under_way(*enter, true)?;
                        round.begins = true;
                        next = &model.loops[*enter].body;
                    } else {
                        let first = self.domain(&model.loops[*enter].domain)?.first().copied();
                        next = match first {
                            None => skip,
                            Some(thing) => {
                                self.set_counter(*enter, thing)?;
                                &model.loops[*enter].body
                            }
                        };
                    }
                }
                Next::Again { again, done } => {
                    if self.is_over_family(*again) {
                        let column = self.plan.local_at(LocalColumn::Taken(*again));
                        if round != NO_ROUND || !column.is_some_and(|taken| self.is_scanning(taken)) {
                            return Err(End::Refused);
                        }
                        self.taken_now()?;
                        round.takes = true;
                        round.ends = self.decide(2)? == 1;
                        if round.ends {
                            self.set_under_way(*again, false)?;
                        }
                        next = if round.ends { done } else { &model.loops[*again].body };
                    } else {
                        let values = self.domain(&model.loops[*again].domain)?;
                        let spot = self.counter(*again)?;
                        let now = self.read(spot, model.vars[model.loops[*again].counter].ty.scalar())?;
                        let following = values.iter().skip_while(|&&value| value != now).nth(1).copied();
                        next = match following {
                            Some(thing) => {
                                self.set_counter(*again, thing)?;
                                &model.loops[*again].body
                            }
                            None => {
                                self.forget(*again)?;
                                done
                            }
                        };
                    }
                }
                Next::Leave { loops, then } => {
                    for &id in loops {
                        if self.is_over_family(id) {
                            self.set_under_way(id, false)?;
                            round.is_left = true;
                        } else {
                            self.forget(id)?;
                        }
                    }
                    next = then;
                }
            }
        }
        Err(End::Refused)
    }

    fn is_over_family(&self, id: LoopId) -> bool {
        matches!(&self.plan.model.loops[id].domain, Domain::Family(of) if *of == self.plan.family)
    }

    fn set_under_way(&mut self, id: LoopId, is_under_way: bool) -> Seen<()> {
        let column = self.plan.local_at(LocalColumn::Taken(id)).filter(|_| self.who == Who::Member);
        let column = column.ok_or(End::Refused)?;
        let is_taken = |(column, item): (&LocalColumn, &LocalItem)| {
            matches!(column, LocalColumn::Taken(_)) && *item == LocalItem::Value(Value::Bool(true))
        };
        if is_under_way && self.plan.local.iter().zip(&self.mine).any(is_taken) {
            return Err(End::Refused);
        }
        self.mine[column] = LocalItem::Value(Value::Bool(is_under_way));
        Ok(())
    }

    fn counter(&self, id: LoopId) -> Seen<Spot> {
        let model = self.plan.model;
        let offset = model.vars[model.loops[id].counter].offset;
        let spot = match self.who {
            Who::Member => self.plan.local_at(LocalColumn::Own(offset)).map(Spot::Mine),
            Who::Outsider(process) => {
                let cell = CellId::new(model.processes[process].first_cell + offset);
                self.plan.shared_at(SharedColumn::Cell(cell)).map(Spot::Shared)
            }
            Who::Nobody => None,
        };
        spot.ok_or(End::Refused)
    }

    fn set_counter(&mut self, id: LoopId, thing: Thing) -> Seen<()> {
        let item = match thing {
            Thing::Value(value) => LocalItem::Value(value),
            _ => return Err(End::Refused),
        };
        match self.counter(id)? {
            Spot::Mine(column) => self.mine[column] = item,
            Spot::Shared(column) => self.put(column, thing),
            Spot::Of(..) => return Err(End::Refused),
        }
        Ok(())
    }

    fn forget(&mut self, id: LoopId) -> Seen<()> {
        let model = self.plan.model;
        let ty = model.vars[model.loops[id].counter].ty.scalar();
        let first = ty.first_value(model.type_context()).ok_or(End::Refused)?;
        self.set_counter(id, Thing::Value(first))
    }
}
