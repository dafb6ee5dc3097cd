//! The body of a step: statements taken in sequence, along every path.
//!
//! In: a [`StepPath`], which is a state in the middle of a step. Out: all paths through the statements, in the order of the
//! text, one after the other: `any` can choose from more values than can be stored. A path whose `await` or `acquire` is not
//! possible is no path and disappears; a path with a fault stays where it is, with the fault.

use std::cell::RefCell;

use super::choice::Choosing;
use super::expression::{ScalarLocation, Viewpoint, bind};
use super::{Footprint, State, StepFault, Touch};
use crate::Model;
use crate::control::{Stmt, StmtKind};
use crate::expr::{Access, Expr};
use crate::layout::element_names;
use crate::print;
use crate::process::ProcessId;
use crate::types::ScalarType;
use crate::value::{Fault, Value};

/// A state in the middle of a step.
#[derive(Clone, Debug)]
pub(super) struct StepPath {
    /// The state, with the changes made so far.
    pub state: State,
    /// The values of the `for` variables inside `atomic`, outermost first.
    pub bound: Vec<Value>,
    /// What was read and written so far.
    pub touched: Vec<Touch>,
    /// The fault that ended the path.
    pub fault: Option<StepFault>,
}

/// Paths, one after the other.
pub(super) type Paths<'m> = Box<dyn Iterator<Item = StepPath> + 'm>;

/// The process that takes a step, and its program.
#[derive(Clone, Copy)]
pub(super) struct Mover<'m> {
    pub model: &'m Model,
    pub me: ProcessId,
    /// Where everything that is read or written is noted, if the caller asks for footprints.
    pub watch: Option<&'m RefCell<Footprint>>,
    /// What `any` chooses from.
    pub choosing: Choosing<'m>,
}

impl StepPath {
    /// The start of a step.
    pub fn new(state: &State) -> Self {
        StepPath { state: state.clone(), bound: Vec::new(), touched: Vec::new(), fault: None }
    }

    /// Goes on with what `attempt` makes of the path, or ends it with the fault.
    pub fn attempt<'m>(mut self, attempt: impl FnOnce(&mut StepPath) -> Result<Paths<'m>, StepFault>) -> Paths<'m> {
        if self.fault.is_some() {
            return self.alone();
        }
        attempt(&mut self).unwrap_or_else(|fault| {
            self.fault = Some(fault);
            self.alone()
        })
    }

    /// This path and no other.
    pub fn alone<'m>(self) -> Paths<'m> {
        Box::new(std::iter::once(self))
    }
}

impl<'m> Mover<'m> {
    /// A mover for which `any` means all values.
    pub fn new(model: &'m Model, me: ProcessId) -> Self {
        Mover { model, me, watch: None, choosing: Choosing::All }
    }

    /// All paths through the statements.
    pub fn run(self, body: &'m [Stmt], path: StepPath) -> Paths<'m> {
        body.iter().fold(path.alone(), |paths, stmt| {
            Box::new(paths.flat_map(move |path| path.attempt(|path| self.statement(stmt, path))))
        })
    }

    /// Evaluates in the path's state; what is read is noted in the path, fault or not.
    pub fn look<T>(
        self,
        path: &mut StepPath,
        look: impl FnOnce(&mut Viewpoint<'_>) -> Result<T, StepFault>,
    ) -> Result<T, StepFault> {
        let mut view = Viewpoint::new(self.model, &path.state, Some(self.me));
        view.bound.clone_from(&path.bound);
        let result = look(&mut view);
        let (touched, places) = (view.touched, view.places);
        if let Some(watch) = self.watch {
            let mut watch = watch.borrow_mut();
            watch.cells.extend(touched.iter().map(|touch| touch.cell));
            watch.places.extend(places);
        }
        path.touched.extend(touched);
        result
    }

    fn statement(self, stmt: &'m Stmt, path: &mut StepPath) -> Result<Paths<'m>, StepFault> {
        let one = |path: &StepPath| Ok(path.clone().alone());
        match &stmt.kind {
            StmtKind::Assign(pairs) => {
                let stores = self.look(path, |view| {
                    pairs
                        .iter()
                        .map(|(access, value)| Ok((view.locate(access)?, view.value(value)?)))
                        .collect::<Result<Vec<_>, _>>()
                })?;
                for ((location, value), (access, _)) in stores.into_iter().zip(pairs) {
                    self.store(path, location, value, access)?;
                }
                one(path)
            }
            StmtKind::AssignAny(access, range) => self.assign_any(access, range.as_ref(), path),
            StmtKind::Await(test) => {
                let open = self.look(path, |view| view.truth(test))?;
                Ok(Box::new(open.then(|| path.clone()).into_iter()))
            }
            StmtKind::Assert(test) => match self.look(path, |view| view.truth(test))? {
                true => one(path),
                false => Err(StepFault { fault: Fault::AssertFailed, span: stmt.span }),
            },
            StmtKind::Acquire(access) => self.acquire(access, path),
            StmtKind::Release(access) => {
                self.release(access, path)?;
                one(path)
            }
            StmtKind::If(test, yes, no) => {
                let block = if self.look(path, |view| view.truth(test))? { yes } else { no };
                Ok(self.run(block, path.clone()))
            }
            StmtKind::Either(blocks) => {
                let path = path.clone();
                Ok(Box::new(blocks.iter().flat_map(move |block| self.run(block, path.clone()))))
            }
            StmtKind::For(binding, block) => {
                let values = self.look(path, |view| view.domain(&binding.domain))?;
                let last = values.fold(vec![path.clone()], |paths, value| {
                    let round = |mut path: StepPath| {
                        bind(&mut path.bound, binding, value);
                        self.run(block, path)
                    };
                    paths.into_iter().flat_map(|path| path.attempt(|path| Ok(round(path.clone())))).collect()
                });
                Ok(Box::new(last.into_iter()))
            }
        }
    }

    fn assign_any(
        self,
        access: &'m Access,
        range: Option<&(Expr, Expr)>,
        path: &mut StepPath,
    ) -> Result<Paths<'m>, StepFault> {
        let (location, bounds) = self.look(path, |view| {
            let location = view.locate(access)?;
            let bounds = range.map(|(lo, hi)| Ok((view.value(lo)?, view.value(hi)?))).transpose()?;
            Ok((location, bounds.map(|(lo, hi)| (self.as_number(lo), self.as_number(hi)))))
        })?;
        let ty = self.type_of(access);
        // A range that reaches beyond the type is one fault, not one for each value outside.
        let beyond = bounds.filter(|(lo, hi)| lo <= hi).and_then(|(lo, hi)| {
            let outside = [lo, hi].into_iter().find(|&end| !self.belongs(end, ty))?;
            let fault = self.out_of_range(access, location, &outside.to_string());
            Some(StepPath { fault: Some(StepFault { fault, span: access.span }), ..path.clone() })
        });
        let values = self.values_within(ty, bounds, &path.state);
        let path = path.clone();
        let take = move |value| {
            let mut path = path.clone();
            self.put(&mut path, location, value);
            path
        };
        Ok(Box::new(values.map(take).chain(beyond)))
    }

    /// The values of a type from which `any` chooses, those with a number between the bounds where there are some.
    pub fn values_within(
        self,
        ty: ScalarType,
        bounds: Option<(i64, i64)>,
        state: &State,
    ) -> impl Iterator<Item = Value> + use<'m> {
        // Of a type with many values only those within the range are gone through.
        let within = match (ty, bounds) {
            (ScalarType::Range { lo, hi }, Some((first, last))) => {
                ScalarType::Range { lo: lo.max(first), hi: hi.min(last) }
            }
            _ => ty,
        };
        let wanted = move |value: &Value| match bounds {
            None => true,
            Some((lo, hi)) => *value != Value::None && (lo..=hi).contains(&self.as_number(*value)),
        };
        let likely = self.choosing.likely(self.model, within, state);
        let all = likely.is_none().then(|| within.values(self.model.type_context()));
        likely.into_iter().flatten().chain(all.into_iter().flatten()).filter(wanted)
    }

    /// Whether the number, or the process with this index, is a value of the type.
    fn belongs(self, number: i64, ty: ScalarType) -> bool {
        match ty {
            ScalarType::Pid(family) | ScalarType::PidOrNone(family) => {
                self.model.families[family].process_at(number).is_some()
            }
            _ => ty.contains(Value::Int(number), self.model.type_context()),
        }
    }

    /// A number, or the index of a process.
    fn as_number(self, value: Value) -> i64 {
        match value {
            Value::Int(number) => number,
            Value::Process(id) => self.model.processes[id].index,
            other => unreachable!("front-ends check types: `any` ranges over numbers, not {other:?}"),
        }
    }

    fn acquire(self, access: &Access, path: &mut StepPath) -> Result<Paths<'m>, StepFault> {
        let location = self.look(path, |view| view.locate(access))?;
        let held = self.look(path, |view| Ok(view.load(location)))?;
        let taken = match (self.type_of(access), held) {
            (ScalarType::Lock, Value::None) => Value::Process(self.me),
            (ScalarType::Semaphore { .. }, Value::Int(n)) if n > 0 => Value::Int(n - 1),
            _ => return Ok(Box::new(std::iter::empty())),
        };
        self.put(path, location, taken);
        Ok(path.clone().alone())
    }

    fn release(self, access: &Access, path: &mut StepPath) -> Result<(), StepFault> {
        let location = self.look(path, |view| view.locate(access))?;
        let held = self.look(path, |view| Ok(view.load(location)))?;
        let name = self.name(access, location);
        let (free, fault) = match (self.type_of(access), held) {
            (ScalarType::Semaphore { max }, Value::Int(n)) => {
                ((n < max).then(|| Value::Int(n + 1)), Fault::SemaphoreFull { semaphore: name })
            }
            _ => ((held == Value::Process(self.me)).then_some(Value::None), Fault::NotHeld { lock: name }),
        };
        match free {
            Some(value) => {
                self.put(path, location, value);
                Ok(())
            }
            None => Err(StepFault { fault, span: access.span }),
        }
    }

    /// Stores a value if the location's type has it.
    pub fn store(
        self,
        path: &mut StepPath,
        location: ScalarLocation,
        value: Value,
        access: &Access,
    ) -> Result<(), StepFault> {
        if !self.type_of(access).contains(value, self.model.type_context()) {
            let fault = self.out_of_range(access, location, &print::content(self.model, access.var, value));
            return Err(StepFault { fault, span: access.span });
        }
        self.put(path, location, value);
        Ok(())
    }

    fn put(self, path: &mut StepPath, location: ScalarLocation, value: Value) {
        match location {
            ScalarLocation::Cell(cell) => {
                path.touched.push(Touch { process: self.me, cell, writes: true });
                if let Some(watch) = self.watch {
                    watch.borrow_mut().cells.insert(cell);
                }
                path.state.cells[cell.index()] = value;
            }
            ScalarLocation::Slot(slot) => path.state.top_mut(self.me).slots[slot] = value,
        }
    }

    fn type_of(self, access: &Access) -> ScalarType {
        self.model.vars[access.var].ty.scalar()
    }

    fn out_of_range(self, access: &Access, location: ScalarLocation, value: &str) -> Fault {
        Fault::OutOfRange { target: self.name(access, location), value: value.to_string() }
    }

    /// The scalar as the user writes it, its indices evaluated.
    fn name(self, access: &Access, location: ScalarLocation) -> String {
        match location {
            ScalarLocation::Cell(cell) => self.model.cells[cell].name.clone(),
            ScalarLocation::Slot(slot) => {
                let var = &self.model.vars[access.var];
                element_names(var).swap_remove(slot - var.offset)
            }
        }
    }
}
