//! The move of control at the end of a step: along `Next`, into a call, out of one.
//!
//! Where all counters are folded, control goes to one point, and the move is the change of one field. A counter that is
//! not folded is counted by instructions.

use std::collections::HashMap;

use model::control::{Action, ActionId, ActionKind, LoopId, Next, ProcedureId, TextOwner};
use model::expr::Expr;
use model::process::ProcessId;
use model::types::Type;
use model::variable::{Init, Storage};

use super::expression::AccessLocation;
use super::{CompileContext, Compiler};
use crate::code::{Address, Instruction, RESULT, StoreTarget, WordWrite};
use crate::packing::{Field, encode};
use crate::points::{FoldedCounters, PackedPoint, counters_at_rest, following, rest_value, set_counter};
use crate::term::ArithmeticOp;

impl<'m> Compiler<'_, 'm> {
    /// Moves control as the action says, and ends the program.
    pub(super) fn move_on(&mut self, id: ActionId, point: u32, context: &mut CompileContext) {
        let action = &self.model.actions[id];
        match &action.kind {
            ActionKind::Plain | ActionKind::Idle => self.follow(&action.next, context),
            ActionKind::Call { procedure, arguments, entry, .. } => {
                let site = self.codec.layout.site(context.myself(), point, id);
                let entry = entry.as_ref().unwrap_or(&self.model.procedures[*procedure].entry);
                self.call((*procedure, entry), arguments, site, context);
            }
            ActionKind::Return { value } => self.give_back(action, value.as_ref(), context),
        }
    }

    /// By site: code that stores the result and moves the caller on.
    pub(super) fn all_continuations(&mut self) {
        for site in &self.codec.layout.sites {
            let point = self.codec.plan.points[site.process.index()].point(site.point);
            let mut context = CompileContext::of_process(site.process, point.counters.clone());
            let start = self.label();
            self.continuations.push(start);
            let action = &self.model.actions[site.action];
            if let ActionKind::Call { result: Some(access), .. } = &action.kind {
                self.n_unrolled = 0;
                let location = self.locate(access, &mut context);
                let value = self.terms.register(RESULT);
                self.store(location, value, self.model.vars[access.var].ty.scalar(), &mut context);
            }
            self.follow(&action.next, &mut context);
        }
    }

    fn follow(&mut self, next: &'m Next, context: &mut CompileContext) {
        let mut open = HashMap::new();
        self.follow_from(next, context, &mut open);
    }

    /// Emits the way along `next` to its end. `open` has where each part of it begins that may be reached again: a loop that is
    /// not folded and has an empty body leads back to itself.
    fn follow_from(
        &mut self,
        next: &'m Next,
        context: &mut CompileContext,
        open: &mut HashMap<(*const Next, FoldedCounters), Address>,
    ) {
        match next {
            Next::To(place) => {
                let me = context.myself();
                let point = PackedPoint { place: *place, counters: context.counters.clone() };
                let number = self.codec.plan.points[me.index()].id(&point).expect("points are closed under control");
                self.emit_write(WordWrite::new(self.codec.layout.control[me.index()], i64::from(number)));
                self.emit(Instruction::Done);
            }
            Next::Leave { loops, then } => {
                for &left in loops {
                    self.reset(left, context);
                }
                self.follow_from(then, context, open);
            }
            Next::Enter { enter, skip } if self.is_folded(*enter) => {
                match self.bounds.ends(context.myself(), *enter, &context.counters) {
                    Err(_) => self.emit(Instruction::Fail),
                    Ok(None) => self.follow_from(skip, context, open),
                    Ok(Some((first, _))) => {
                        set_counter(&mut context.counters, *enter, first);
                        self.follow_from(&self.model.loops[*enter].body, context, open);
                    }
                }
            }
            Next::Again { again, done } if self.is_folded(*again) => {
                let ends = self.bounds.ends(context.myself(), *again, &context.counters);
                let current = context.counters.iter().find(|(id, _)| id == again).map(|&(_, value)| value);
                match (ends, current) {
                    (Err(_), _) => self.emit(Instruction::Fail),
                    (Ok(Some((_, last))), Some(current)) if current != last => {
                        set_counter(&mut context.counters, *again, following(current));
                        self.follow_from(&self.model.loops[*again].body, context, open);
                    }
                    _ => {
                        self.reset(*again, context);
                        self.follow_from(done, context, open);
                    }
                }
            }
            Next::Enter { enter: id, skip: past } | Next::Again { again: id, done: past } => {
                let key = (std::ptr::from_ref(next), context.counters.clone());
                if let Some(&address) = open.get(&key) {
                    return self.emit(Instruction::Jump(address));
                }
                let here = self.label();
                open.insert(key, here);
                let counts_on = matches!(next, Next::Again { .. });
                self.count_on(*id, counts_on, past, context, open);
            }
        }
    }

    /// A loop that is not folded: to the first or the next number and the body, or past it.
    fn count_on(
        &mut self,
        id: LoopId,
        counts_on: bool,
        past: &'m Next,
        context: &mut CompileContext,
        open: &mut HashMap<(*const Next, FoldedCounters), Address>,
    ) {
        let counter = self.counter_field(id, context.myself());
        let (first, last, _) = self.domain_ends(&self.model.loops[id].domain, context);
        let is_empty = self.terms.arithmetic(ArithmeticOp::Less, last, first);
        let current = self.terms.read(counter);
        let goes_on = if counts_on {
            let is_last = self.terms.arithmetic(ArithmeticOp::Equal, current, last);
            let ends = self.terms.or(&[is_empty, is_last]);
            self.terms.not(ends)
        } else {
            self.terms.not(is_empty)
        };
        let unless = self.instructions.len();
        self.emit(Instruction::Unless(goes_on, 0));
        self.label();
        let one = self.terms.constant(1);
        let number = if counts_on { self.terms.arithmetic(ArithmeticOp::Add, current, one) } else { first };
        self.emit(Instruction::Put(StoreTarget::Field(counter), number));
        self.follow_from(&self.model.loops[id].body, &mut context.clone(), open);
        let otherwise = self.label();
        self.instructions[unless] = Instruction::Unless(goes_on, otherwise);
        if counts_on {
            self.reset(id, context);
        }
        self.follow_from(past, context, open);
    }

    fn is_folded(&self, id: LoopId) -> bool {
        self.codec.plan.folded[id.index()]
    }

    fn reset(&mut self, id: LoopId, context: &mut CompileContext) {
        let rest = rest_value(self.model, id);
        if self.is_folded(id) {
            set_counter(&mut context.counters, id, rest);
        } else {
            self.emit_write(WordWrite::new(self.counter_field(id, context.myself()), encode(rest)));
        }
    }

    fn counter_field(&self, id: LoopId, me: ProcessId) -> Field {
        let counter = self.model.loops[id].counter;
        let var = &self.model.vars[counter];
        match var.storage {
            Storage::Frame(procedure) => self.field_at(self.first_slot(me, procedure) + var.offset as u32),
            _ => {
                let mut cells = self.model.cells_of(counter, Some(me));
                self.field_at(cells.next().expect("a counter is one cell").index() as u32)
            }
        }
    }

    fn first_slot(&self, me: ProcessId, procedure: ProcedureId) -> u32 {
        let frames = self.codec.layout.frames[me.index()].as_ref();
        frames.expect("a procedure runs only where it is called").first_slot[&procedure]
    }

    /// Checks the arguments, leaves the caller waiting, and starts the procedure with its variables anew.
    fn call(
        &mut self,
        (procedure, entry): (ProcedureId, &'m Next),
        arguments: &[Expr],
        site: u32,
        context: &mut CompileContext,
    ) {
        let callee = &self.model.procedures[procedure];
        let me = context.myself();
        let mut location = self.first_slot(me, procedure);
        let mut parameters = Vec::new();
        for (argument, &parameter) in arguments.iter().zip(&callee.vars) {
            let value = self.expression(argument, context);
            let register = self.take_register(context);
            self.emit(Instruction::Let(register, value));
            let numbers = self.numbers_of(self.model.vars[parameter].ty.scalar());
            self.emit(Instruction::CheckRange(register, numbers));
            parameters.push((location, register));
            location += 1;
        }
        self.emit(Instruction::Push(me.index() as u32, site));
        self.label();
        for (location, register) in parameters {
            let value = self.terms.register(register);
            self.emit(Instruction::Put(StoreTarget::Field(self.field_at(location)), value));
        }
        let rest = counters_at_rest(self.model, &self.codec.plan.folded, TextOwner::Procedure(procedure));
        let mut inside = CompileContext { counters: rest, ..CompileContext::of_process(me, Vec::new()) };
        for var in callee.vars[callee.n_parameters..].iter().map(|&local| &self.model.vars[local]) {
            for init in leaf_inits(&var.init, &var.ty) {
                let ty = var.ty.scalar();
                match init {
                    // The room was cleared, and the first value of a type is packed as 0.
                    Init::First | Init::Elements(_) => {}
                    Init::Any => self.choose(StoreTarget::Field(self.field_at(location)), ty, None, &inside),
                    Init::Fill(expr) => {
                        let value = self.expression(expr, &mut inside);
                        self.store(AccessLocation::Fixed(location), value, ty, &mut inside);
                    }
                }
                location += 1;
            }
        }
        self.follow(entry, &mut inside);
    }

    /// Checks the result, drops the frame, and goes on where the caller waits.
    fn give_back(&mut self, action: &Action, value: Option<&Expr>, context: &mut CompileContext) {
        let TextOwner::Procedure(procedure) = action.scope else {
            unreachable!("front-ends keep `return` in procedures")
        };
        if let Some(value) = value {
            let value = self.expression(value, context);
            self.emit(Instruction::Let(RESULT, value));
        }
        match (self.model.procedures[procedure].result, value) {
            (Some(_), None) => return self.emit(Instruction::Fail),
            (Some(ty), Some(_)) => {
                let numbers = self.numbers_of(ty);
                self.emit(Instruction::CheckRange(RESULT, numbers));
            }
            (None, _) => {}
        }
        self.emit(Instruction::Pop(context.myself().index() as u32));
    }
}

/// What each scalar part of a variable starts with, in layout order.
pub(crate) fn leaf_inits<'a>(init: &'a Init, ty: &Type) -> Vec<&'a Init> {
    match (init, ty) {
        (Init::Elements(inits), Type::Array { element, len }) => {
            (0..*len).flat_map(|at| leaf_inits(inits.get(at).unwrap_or(&Init::First), element)).collect()
        }
        _ => vec![init; ty.n_cells()],
    }
}
