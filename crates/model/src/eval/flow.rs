//! The move of control at the end of a step: along `Next`, into a call, out of one.
//!
//! In: a path on which the action's body has run. Out: the same path with control where it goes; a call whose locals start
//! with `= any` has one path for each of their values.

use std::collections::BTreeMap;

use super::body::{Mover, Paths, StepPath};
use super::expression::{ScalarLocation, following};
use super::initial::{blank, leaf_inits};
use super::{Control, Frame, StepFault};
use crate::Model;
use crate::control::{Action, ActionId, ActionKind, LoopId, Next, PlaceId, Procedure, TextOwner};
use crate::expr::{Access, Expr};
use crate::print;
use crate::process::ProcessId;
use crate::types::Type;
use crate::value::{Fault, Value};
use crate::variable::{Init, Storage, Var, VarId};

/// The counters of the loops of one text, with their values.
pub type Counters = BTreeMap<VarId, Value>;

/// Where `next` leads a process in the text of `scope` whose counters have these values; see [`ControlFlow`], which is for
/// callers that ask more than once.
///
/// # Errors
/// A loop's bounds that have no value.
pub fn control_after(
    model: &Model,
    process: ProcessId,
    (scope, counters): (TextOwner, &Counters),
    next: &Next,
) -> Result<(PlaceId, Counters), StepFault> {
    ControlFlow::new(model, process, scope).after(counters, next)
}

/// Follows control of one process through one text, guards and data aside: only counters, constants and the process's own
/// index decide where `Next` leads.
pub struct ControlFlow<'m> {
    mover: Mover<'m>,
    /// Each loop of the text with its counter.
    loops: Vec<(LoopId, VarId)>,
    /// A state in which nothing but the counters of the text matters; made once, since it has the cells of all processes, and not at all
    /// where no loop asks for it: with a state for each of a thousand processes set-up would be quadratic.
    path: Option<StepPath>,
    scope: TextOwner,
}

impl<'m> ControlFlow<'m> {
    /// For the text of `scope` as the process runs it.
    pub fn new(model: &'m Model, process: ProcessId, scope: TextOwner) -> Self {
        let in_scope = model.loops.entries().filter(|(_, counted)| counted.scope == scope);
        let loops = in_scope.map(|(id, counted)| (id, counted.counter)).collect();
        ControlFlow { mover: Mover::new(model, process), loops, path: None, scope }
    }

    /// Where `next` leads where the counters have these values, and the counters there. A counter without a value has its
    /// type's first one.
    ///
    /// # Errors
    /// A loop's bounds that have no value.
    pub fn after(&mut self, counters: &Counters, next: &'m Next) -> Result<(PlaceId, Counters), StepFault> {
        if let Next::To(place) = next
            && self.loops.is_empty()
        {
            return Ok((*place, Counters::new()));
        }
        let (mover, scope) = (self.mover, self.scope);
        let path = self.path.get_or_insert_with(|| blank_path(mover.model, mover.me, scope));
        for &(id, counter) in &self.loops {
            match counters.get(&counter) {
                Some(&value) => mover.count(id, value, path),
                None => mover.reset(id, path),
            }
        }
        path.touched.clear();
        mover.follow(next, path)?;
        let after = self.loops.iter().map(|&(id, counter)| (counter, mover.counter(id, path)));
        Ok((path.state.place(mover.me), after.collect()))
    }
}

/// A path in the text of `scope`, every cell and slot at its type's first value.
fn blank_path(model: &Model, process: ProcessId, scope: TextOwner) -> StepPath {
    let mut path = StepPath::new(&blank(model));
    if let TextOwner::Procedure(id) = scope {
        let vars = model.procedures[id].vars.iter().map(|&var| &model.vars[var].ty);
        let first = |ty: &Type| ty.scalar().first_value(model.type_context()).expect("types have values");
        let slots = vars.flat_map(|ty| vec![first(ty); ty.n_cells()]).collect();
        let control = path.state.top(process).control;
        path.state.stacks[process.index()].push(Frame { control, slots });
    }
    path
}

/// What is called, and where its text is entered.
#[derive(Clone, Copy)]
struct Callee<'m> {
    procedure: &'m Procedure,
    entry: &'m Next,
}

impl<'m> Mover<'m> {
    /// Moves control as the action says.
    pub fn finish(self, id: ActionId, path: StepPath) -> Paths<'m> {
        let action = &self.model.actions[id];
        path.attempt(|path| {
            match &action.kind {
                ActionKind::Plain | ActionKind::Idle => self.follow(&action.next, path)?,
                ActionKind::Call { procedure, arguments, entry, site, .. } => {
                    let callee = &self.model.procedures[*procedure];
                    let callee = Callee { procedure: callee, entry: entry.as_ref().unwrap_or(&callee.entry) };
                    return self.call(site.unwrap_or(id), callee, arguments, path);
                }
                ActionKind::Return { value } => self.give_back(action, value.as_ref(), path)?,
            }
            Ok(path.clone().alone())
        })
    }

    /// Moves control of the top frame to where `next` leads.
    pub fn follow(self, mut next: &'m Next, path: &mut StepPath) -> Result<(), StepFault> {
        loop {
            next = match next {
                Next::To(place) => {
                    path.state.top_mut(self.me).control = Control::At(*place);
                    return Ok(());
                }
                Next::Enter { enter, skip } => {
                    let ends = self.look(path, |view| view.domain_ends(&self.model.loops[*enter].domain))?;
                    match ends {
                        Some((first, _)) => {
                            self.count(*enter, first, path);
                            &self.model.loops[*enter].body
                        }
                        None => skip,
                    }
                }
                Next::Again { again, done } => {
                    let ends = self.look(path, |view| view.domain_ends(&self.model.loops[*again].domain))?;
                    let current = self.counter(*again, path);
                    match ends {
                        Some((_, last)) if current != last => {
                            self.count(*again, following(current), path);
                            &self.model.loops[*again].body
                        }
                        _ => {
                            self.reset(*again, path);
                            done
                        }
                    }
                }
                Next::Leave { loops, then } => {
                    for &left in loops {
                        self.reset(left, path);
                    }
                    then
                }
            };
        }
    }

    fn counter(self, id: LoopId, path: &StepPath) -> Value {
        match self.counter_location(id) {
            ScalarLocation::Cell(cell) => path.state.cells[cell.index()],
            ScalarLocation::Slot(slot) => path.state.top(self.me).slots[slot],
        }
    }

    fn count(self, id: LoopId, value: Value, path: &mut StepPath) {
        match self.counter_location(id) {
            ScalarLocation::Cell(cell) => path.state.cells[cell.index()] = value,
            ScalarLocation::Slot(slot) => path.state.top_mut(self.me).slots[slot] = value,
        }
    }

    fn reset(self, id: LoopId, path: &mut StepPath) {
        let ty = self.model.vars[self.model.loops[id].counter].ty.scalar();
        let first = ty.first_value(self.model.type_context()).expect("a counter's type has a value");
        self.count(id, first, path);
    }

    fn counter_location(self, id: LoopId) -> ScalarLocation {
        let counter = self.model.loops[id].counter;
        let var = &self.model.vars[counter];
        match var.storage {
            Storage::Frame(_) => ScalarLocation::Slot(var.offset),
            _ => {
                let mut cells = self.model.cells_of(counter, Some(self.me));
                ScalarLocation::Cell(cells.next().expect("a counter is one cell"))
            }
        }
    }

    /// Checks the arguments, leaves the caller waiting, and starts the procedure's text with its locals anew.
    fn call(
        self,
        site: ActionId,
        Callee { procedure: callee, entry }: Callee<'m>,
        arguments: &[Expr],
        path: &mut StepPath,
    ) -> Result<Paths<'m>, StepFault> {
        let mut slots = Vec::with_capacity(callee.n_slots);
        for (argument, &parameter) in arguments.iter().zip(&callee.vars) {
            let value = self.look(path, |view| view.value(argument))?;
            let var = &self.model.vars[parameter];
            if !var.ty.scalar().contains(value, self.model.type_context()) {
                let fault = Fault::OutOfRange { target: var.name.clone(), value: print::value(self.model, value) };
                return Err(StepFault { fault, span: argument.span });
            }
            slots.push(value);
        }
        path.state.top_mut(self.me).control = Control::Calling(site);
        path.state.stacks[self.me.index()].push(Frame { control: Control::Calling(site), slots });
        let mut paths = path.clone().alone();
        for var in callee.vars[callee.n_parameters..].iter().map(|&local| &self.model.vars[local]) {
            for init in leaf_inits(&var.init, &var.ty) {
                let start = move |path: StepPath| path.attempt(|path| self.start_slot(var, init, path));
                paths = Box::new(paths.flat_map(start));
            }
        }
        let enter = move |path: &mut StepPath| self.follow(entry, path).map(|()| path.clone().alone());
        Ok(Box::new(paths.flat_map(move |path| path.attempt(enter))))
    }

    /// Gives the next slot of the new frame the value, or each of the values, that it starts with.
    fn start_slot(self, var: &Var, init: &Init, path: &mut StepPath) -> Result<Paths<'m>, StepFault> {
        let ty = var.ty.scalar();
        let starts: Box<dyn Iterator<Item = Value> + 'm> = match init {
            Init::Any => Box::new(self.values_within(ty, None, &path.state)),
            Init::Fill(expr) => {
                let value = self.look(path, |view| view.value(expr))?;
                if !ty.contains(value, self.model.type_context()) {
                    let fault = Fault::OutOfRange { target: var.name.clone(), value: print::value(self.model, value) };
                    return Err(StepFault { fault, span: expr.span });
                }
                Box::new(std::iter::once(value))
            }
            Init::First | Init::Elements(_) => Box::new(ty.first_value(self.model.type_context()).into_iter()),
        };
        let path = path.clone();
        Ok(Box::new(starts.map(move |value| {
            let mut path = path.clone();
            path.state.top_mut(self.me).slots.push(value);
            path
        })))
    }

    /// Pops the frame, stores the result for the caller, and moves the caller on.
    fn give_back(self, action: &Action, value: Option<&Expr>, path: &mut StepPath) -> Result<(), StepFault> {
        let TextOwner::Procedure(procedure) = action.scope else {
            unreachable!("front-ends keep `return` in procedures")
        };
        let callee = &self.model.procedures[procedure];
        let span = value.map_or(self.model.statements[action.statement].span, |value| value.span);
        let result = value.map(|value| self.look(path, |view| view.value(value))).transpose()?;
        match (callee.result, result) {
            (Some(_), None) => {
                return Err(StepFault { fault: Fault::NoResult { procedure: callee.name.clone() }, span });
            }
            (Some(ty), Some(value)) if !ty.contains(value, self.model.type_context()) => {
                let target = format!("{}()", callee.name);
                let fault = Fault::OutOfRange { target, value: print::value(self.model, value) };
                return Err(StepFault { fault, span });
            }
            _ => {}
        }
        path.state.stacks[self.me.index()].pop();
        let Control::Calling(call) = path.state.top(self.me).control else {
            unreachable!("below the top frame stands the caller, waiting")
        };
        let call = &self.model.actions[call];
        if let (ActionKind::Call { result: Some(access), .. }, Some(value)) = (&call.kind, result) {
            self.store_result(access, value, path)?;
        }
        self.follow(&call.next, path)
    }

    fn store_result(self, access: &Access, value: Value, path: &mut StepPath) -> Result<(), StepFault> {
        let location = self.look(path, |view| view.locate(access))?;
        self.store(path, location, value, access)
    }
}
