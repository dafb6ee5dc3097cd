//! Steps of one process where nothing else is known: statements, loops over the family, the move of control.
//!
//! In: an [`Eval`] at the start of an action. Out: what the process and the shared columns hold after it. A loop over the family takes any process that
//! it has not taken yet, in any order; whom it has taken is for views to say, here is only whether it takes one, and whether that was the last.

use base::Span;
use model::control::{ActionId, LoopId, Next, Stmt, StmtKind};
use model::expr::Access;
use model::types::ScalarType;
use model::value::Value;
use model::variable::CellId;

use super::datum::{Datum, Stop};
use super::eval::{Eval, Evaluated, Location, Mover};
use crate::layout::{LocalColumn, SharedColumn, holds_members, is_over};

/// Control moves through at most so many ends of loops in one step.
const MOST_MOVES: usize = 10_000;

/// What a step does to what a loop over the family has taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scan {
    /// Nothing.
    Same,
    /// It begins: nobody is taken yet.
    Begins,
    /// It takes the process that it is at, and goes on with another one.
    Takes,
    /// It takes the process that it is at, the last one.
    Ends,
    /// The same, and another one begins.
    EndsAndBegins,
    /// It is left.
    Left,
}

impl<'m> Eval<'m> {
    /// Takes the action from its guard to its end.
    pub fn act(&mut self, id: ActionId) -> Evaluated<Scan> {
        let action = &self.ground.model.actions[id];
        if let Some(guard) = &action.guard
            && !self.truth(guard)?
        {
            return Err(Stop::Blocked);
        }
        self.run(&action.body)?;
        self.follow(&action.next)
    }

    fn run(&mut self, body: &'m [Stmt]) -> Evaluated<()> {
        body.iter().try_for_each(|statement| self.statement(statement))
    }

    fn statement(&mut self, statement: &'m Stmt) -> Evaluated<()> {
        match &statement.kind {
            StmtKind::Assign(pairs) => {
                let mut stores = Vec::with_capacity(pairs.len());
                for (access, value) in pairs {
                    stores.push((self.locate(access)?, self.value(value)?, access));
                }
                stores.into_iter().try_for_each(|(location, value, access)| self.store(location, value, access))
            }
            StmtKind::AssignAny(access, None) => {
                let location = self.locate(access)?;
                let values = self.values(self.type_of(access), Datum::Someone, access.span)?;
                let at = self.guess(values.len())?;
                self.store(location, values[at], access)
            }
            StmtKind::AssignAny(access, Some((lo, hi))) => {
                let location = self.locate(access)?;
                let (lo, hi) = (self.number(lo)?, self.number(hi)?);
                if !matches!(self.type_of(access), ScalarType::Range { .. }) || hi.saturating_sub(lo) > 1024 {
                    return Err(Stop::Outside(access.span));
                }
                if lo > hi {
                    return Err(Stop::Blocked);
                }
                let at = self.guess((hi - lo + 1) as usize)?;
                self.store(location, Datum::int(lo + at as i64), access)
            }
            StmtKind::Await(test) => match self.truth(test)? {
                true => Ok(()),
                false => Err(Stop::Blocked),
            },
            StmtKind::Assert(test) => match self.truth(test)? {
                true => Ok(()),
                false => Err(Stop::Fault),
            },
            StmtKind::Acquire(access) => self.acquire(access),
            StmtKind::Release(access) => self.release(access),
            StmtKind::If(test, yes, no) => match self.truth(test)? {
                true => self.run(yes),
                false => self.run(no),
            },
            StmtKind::Either(blocks) => {
                let at = self.guess(blocks.len())?;
                blocks.get(at).map_or(Err(Stop::Blocked), |block| self.run(block))
            }
            StmtKind::For(binding, block) => {
                if is_over(&binding.domain, self.ground.layout.family) {
                    return Err(Stop::Outside(statement.span));
                }
                self.domain(&binding.domain)?.into_iter().try_for_each(|value| {
                    self.bind(binding, value);
                    self.run(block)
                })
            }
        }
    }

    fn acquire(&mut self, access: &'m Access) -> Evaluated<()> {
        let location = self.locate(access)?;
        let ty = self.type_of(access);
        let taken = match (ty, self.load(location, ty, access.span)?) {
            (ScalarType::Lock, Datum::Value(Value::None)) => self.myself(access.span)?,
            (ScalarType::Semaphore { .. }, Datum::Value(Value::Int(n))) if n > 0 => Datum::int(n - 1),
            _ => return Err(Stop::Blocked),
        };
        self.store(location, taken, access)
    }

    fn release(&mut self, access: &'m Access) -> Evaluated<()> {
        let location = self.locate(access)?;
        let ty = self.type_of(access);
        let held = self.load(location, ty, access.span)?;
        let free = match (ty, held) {
            (ScalarType::Semaphore { max }, Datum::Value(Value::Int(n))) => (n < max).then(|| Datum::int(n + 1)),
            _ => {
                let me = self.myself(access.span)?;
                self.equal(held, me, access.span)?.then_some(Datum::Value(Value::None))
            }
        };
        self.store(location, free.ok_or(Stop::Fault)?, access)
    }

    fn store(&mut self, location: Location, value: Datum, access: &'m Access) -> Evaluated<()> {
        let ty = self.type_of(access);
        let fits = match value {
            Datum::Value(value) => ty.contains(value, self.ground.model.type_context()),
            Datum::Place(_) => false,
            _ if holds_members(ty, self.ground.layout.family) => true,
            // As a number it depends on which process it is.
            _ => return Err(Stop::Outside(access.span)),
        };
        if !fits {
            return Err(Stop::Fault);
        }
        match location {
            Location::Shared(column) => {
                self.written.retain(|(written, _)| *written != column);
                self.written.push((column, value));
            }
            Location::Mine(column) => {
                self.local[column] = match value {
                    Datum::Bound(_) | Datum::Stranger(_) => Datum::Another,
                    Datum::Someone if self.guess(2)? == 1 => Datum::Me,
                    Datum::Someone => Datum::Another,
                    other => other,
                };
            }
            // What belongs to others is written by themselves only.
            Location::Of(..) | Location::Lost => return Err(Stop::Outside(access.span)),
        }
        Ok(())
    }

    fn type_of(&self, access: &Access) -> ScalarType {
        self.ground.model.vars[access.var].ty.scalar()
    }

    /// Moves control to where `next` leads.
    pub fn follow(&mut self, mut next: &'m Next) -> Evaluated<Scan> {
        let model = self.ground.model;
        let mut scan = Scan::Same;
        for _ in 0..MOST_MOVES {
            next = match next {
                Next::To(place) => {
                    self.stand(Datum::Place(*place))?;
                    return Ok(scan);
                }
                Next::Enter { enter, .. } if self.is_scan(*enter) => {
                    self.under_way(*enter, true)?;
                    scan = match scan {
                        Scan::Same | Scan::Left => Scan::Begins,
                        Scan::Ends => Scan::EndsAndBegins,
                        _ => return Err(Stop::Outside(model.loops[*enter].span)),
                    };
                    &model.loops[*enter].body
                }
                Next::Enter { enter, skip } => match self.domain(&model.loops[*enter].domain)?.first().copied() {
                    Some(value) => {
                        self.count(*enter, value)?;
                        &model.loops[*enter].body
                    }
                    None => skip,
                },
                Next::Again { again, done } if self.is_scan(*again) => {
                    // Each step takes one process at most, in the loop that is under way.
                    if scan != Scan::Same || !self.is_under_way(*again) {
                        return Err(Stop::Outside(model.loops[*again].span));
                    }
                    self.target()?;
                    if self.guess(2)? == 0 {
                        scan = Scan::Takes;
                        &model.loops[*again].body
                    } else {
                        scan = Scan::Ends;
                        self.under_way(*again, false)?;
                        done
                    }
                }
                Next::Again { again, done } => {
                    let values = self.domain(&model.loops[*again].domain)?;
                    let counter = self.counter(*again)?;
                    let ty = model.vars[model.loops[*again].counter].ty.scalar();
                    let current = self.load(counter, ty, Span::default())?;
                    let at = values.iter().position(|&value| value == current);
                    match at.and_then(|at| values.get(at + 1)) {
                        Some(&value) => {
                            self.count(*again, value)?;
                            &model.loops[*again].body
                        }
                        None => {
                            self.reset(*again)?;
                            done
                        }
                    }
                }
                Next::Leave { loops, then } => {
                    for &left in loops {
                        if self.is_scan(left) {
                            self.under_way(left, false)?;
                            scan = if scan == Scan::Same { Scan::Left } else { scan };
                        } else {
                            self.reset(left)?;
                        }
                    }
                    then
                }
            };
        }
        Err(Stop::Outside(Span::default()))
    }

    fn is_scan(&self, id: LoopId) -> bool {
        is_over(&self.ground.model.loops[id].domain, self.ground.layout.family)
    }

    /// Whether a loop over the family was entered before its first step.
    fn is_under_way(&self, id: LoopId) -> bool {
        let column = self.ground.layout.local_column(LocalColumn::Taken(id)).filter(|_| self.mover == Mover::Member);
        column.is_some_and(|column| self.local[column] == Datum::truth(true))
    }

    /// Notes whether a loop over the family is under way; one at a time.
    fn under_way(&mut self, id: LoopId, is_under_way: bool) -> Evaluated<()> {
        let layout = self.ground.layout;
        let column = layout.local_column(LocalColumn::Taken(id)).filter(|_| self.mover == Mover::Member);
        let column = column.ok_or(Stop::Outside(self.ground.model.loops[id].span))?;
        let others = layout.scans.iter().any(|scan| self.local[scan.taken] == Datum::truth(true));
        if is_under_way && others {
            return Err(Stop::Outside(self.ground.model.loops[id].span));
        }
        self.local[column] = Datum::truth(is_under_way);
        Ok(())
    }

    fn stand(&mut self, place: Datum) -> Evaluated<()> {
        match self.mover {
            Mover::Member => self.local[0] = place,
            Mover::Outsider(id) => {
                let column = self.ground.layout.shared_column(SharedColumn::Control(id));
                let column = column.ok_or(Stop::Outside(Span::default()))?;
                self.written.retain(|(written, _)| *written != column);
                self.written.push((column, place));
            }
            Mover::Nobody => return Err(Stop::Outside(Span::default())),
        }
        Ok(())
    }

    fn reset(&mut self, id: LoopId) -> Evaluated<()> {
        let model = self.ground.model;
        let ty = model.vars[model.loops[id].counter].ty.scalar();
        let first = ty.first_value(model.type_context()).ok_or(Stop::Outside(Span::default()))?;
        self.count(id, Datum::Value(first))
    }

    fn count(&mut self, id: LoopId, value: Datum) -> Evaluated<()> {
        match self.counter(id)? {
            Location::Mine(column) => self.local[column] = value,
            Location::Shared(column) => {
                self.written.retain(|(written, _)| *written != column);
                self.written.push((column, value));
            }
            Location::Of(..) | Location::Lost => return Err(Stop::Outside(Span::default())),
        }
        Ok(())
    }

    fn counter(&self, id: LoopId) -> Evaluated<Location> {
        let model = self.ground.model;
        let offset = model.vars[model.loops[id].counter].offset;
        let location = match self.mover {
            Mover::Member => self.ground.layout.local_column(LocalColumn::Own(offset)).map(Location::Mine),
            Mover::Outsider(process) => {
                let cell = CellId::new(model.processes[process].first_cell + offset);
                self.ground.layout.shared_column(SharedColumn::Cell(cell)).map(Location::Shared)
            }
            Mover::Nobody => None,
        };
        location.ok_or(Stop::Outside(model.loops[id].span))
    }
}
