//! Steps of control points.

use model::Model;
use model::control::{ActionId, ActionKind, ReceivePattern, Stmt, StmtKind, SyncSide, TextOwner};
use model::process::ProcessId;

use super::expression::AccessLocation;
use super::{CompileContext, Compiler};
use crate::code::{
    CompiledEffect, CompiledStep, Instruction, PointSteps, ReceiveTarget, StoreTarget, SyncStep, WordWrite,
};
use crate::points::PackedPoint;
use crate::term::{TermId, WordTest};

impl Compiler<'_, '_> {
    /// The steps of all processes at all their points.
    pub(super) fn all_steps(&mut self) {
        for process in self.model.processes.ids() {
            self.codec.pause();
            let points = &self.codec.plan.points[process.index()];
            let steps =
                points.iter().enumerate().map(|(number, point)| self.point_steps(process, number as u32, point));
            let steps = steps.collect();
            self.points.push(steps);
        }
    }

    fn point_steps(&mut self, process: ProcessId, number: u32, point: &PackedPoint) -> PointSteps {
        let first = self.steps.len();
        let mut may_repeat = false;
        let mut conditions: Vec<(ActionId, TermId)> = Vec::new();
        for &action in &self.model.places[point.place].actions {
            self.n_unrolled = 0;
            let mut context = CompileContext::of_process(process, point.counters.clone());
            let start = self.label() as usize;
            let condition = self.step_code(action, number, &mut context);
            may_repeat |= self.paths_may_be_equal(start);
            may_repeat |= conditions.iter().any(|&(other, other_condition)| {
                self.model.actions[other].statement == self.model.actions[action].statement
                    && self.terms.not(other_condition) != condition
            });
            conditions.push((action, condition));
            self.add_step(action, condition, start, &mut context);
        }
        let place = &self.model.places[point.place];
        let is_end = match place.scope {
            TextOwner::Family(family) => self.model.families[family].end == point.place,
            TextOwner::Procedure(_) => false,
        };
        let is_idle = |&action: &ActionId| matches!(self.model.actions[action].kind, ActionKind::Idle);
        let has_sync = self.steps[first..].iter().any(|step| step.sync.is_some());
        // Of a rendezvous the receiver's action says whether the step goes on, and either side may have the mark.
        let partners = if has_sync { Partners::of(self.model) } else { Partners::default() };
        let actions = place.actions.iter().map(|&action| &self.model.actions[action]);
        PointSteps {
            chains: partners.go_on || actions.clone().any(|action| action.goes_on),
            marks: partners.have_marks || actions.clone().any(|action| action.when_nobody),
            first: first as u32,
            end: self.steps.len() as u32,
            // They are known when all steps are.
            first_move: 0,
            end_move: 0,
            end_marked: 0,
            may_repeat: may_repeat || has_sync && self.meetings_may_repeat,
            has_sync,
            waits: !is_end && !place.may_end && !place.actions.iter().any(is_idle),
        }
    }

    /// Emits an action's body and move; its guard.
    fn step_code(&mut self, id: ActionId, point: u32, context: &mut CompileContext) -> TermId {
        let action = &self.model.actions[id];
        let guard = match &action.guard {
            None => self.terms.truth(true),
            Some(guard) => self.expression(guard, context),
        };
        self.body(&action.body, context);
        self.move_on(id, point, context);
        guard
    }

    /// Makes a step of a condition and the code from `start`, and drops the code where the step needs none.
    fn add_step(&mut self, id: ActionId, guard: TermId, start: usize, context: &mut CompileContext) {
        let action = &self.model.actions[id];
        let sync = self.sync_step(id, context);
        let (condition, code_start) = match sync {
            // What a body awaits is evaluated when the values have been passed.
            Some(_) => (guard, start),
            None => self.take_requirements(guard, start),
        };
        if self.terms.as_constant(condition) == Some(0) {
            return self.instructions.truncate(start);
        }
        let (tests, condition) = self.terms.split_guard(condition);
        let effect = match self.only_writes(code_start) {
            Some(writes) if sync.is_none() => {
                self.instructions.truncate(start);
                CompiledEffect::Writes(writes[0], writes[1..].into())
            }
            _ => CompiledEffect::Code(code_start as u32),
        };
        self.steps.push(CompiledStep {
            test: tests.first().copied().unwrap_or(WordTest::TRUE),
            more_tests: tests.get(1..).unwrap_or(&[]).into(),
            condition,
            effect,
            action: id,
            statement: action.statement,
            sync: sync.map(Box::new),
            when_nobody: action.when_nobody,
        });
    }

    /// The guard together with what the code awaits first, and where the code goes on behind that.
    fn take_requirements(&mut self, guard: TermId, start: usize) -> (TermId, usize) {
        let awaited = self.instructions[start..].iter().map_while(|instruction| match instruction {
            Instruction::Require(test) => Some(*test),
            _ => None,
        });
        let conditions: Vec<TermId> = std::iter::once(guard).chain(awaited).collect();
        (self.terms.and(&conditions), start + conditions.len() - 1)
    }

    /// The changes of words that the code from an address to its end is, if it is nothing else.
    fn only_writes(&self, start: usize) -> Option<Vec<WordWrite>> {
        let (done, writes) = self.instructions[start..].split_last()?;
        let as_write = |instruction: &Instruction| match instruction {
            Instruction::Write(write) => Some(*write),
            _ => None,
        };
        let writes: Option<Vec<WordWrite>> = writes.iter().map(as_write).collect();
        writes.filter(|writes| *done == Instruction::Done && !writes.is_empty())
    }

    fn sync_step(&mut self, id: ActionId, context: &mut CompileContext) -> Option<SyncStep> {
        let sync = self.model.actions[id].sync.as_ref()?;
        Some(match &sync.side {
            SyncSide::Send(values) => {
                SyncStep::Send(sync.channel, values.iter().map(|value| self.expression(value, context)).collect())
            }
            SyncSide::Receive(patterns) => {
                let receive = |pattern: &ReceivePattern| {
                    let access = match pattern {
                        ReceivePattern::Into(access) => access,
                        ReceivePattern::Equal(wanted) => return ReceiveTarget::Equal(self.expression(wanted, context)),
                        ReceivePattern::Ignored => return ReceiveTarget::Ignored,
                    };
                    let numbers = self.numbers_of(self.model.vars[access.var].ty.scalar());
                    match self.locate(access, context) {
                        AccessLocation::Fixed(location) => ReceiveTarget::Field(self.field_at(location), numbers),
                        AccessLocation::Computed(locator) => ReceiveTarget::Computed(locator, numbers),
                        AccessLocation::Fault => ReceiveTarget::Fault,
                    }
                };
                SyncStep::Receive(sync.channel, patterns.iter().map(receive).collect())
            }
        })
    }

    /// Whether two paths through the code from an address on may end in one state.
    ///
    /// They do not where the code is straight, and each choice of a number is the last to write its field.
    fn paths_may_be_equal(&self, start: usize) -> bool {
        let mut chosen: Vec<WordWrite> = Vec::new();
        for instruction in &self.instructions[start..] {
            let written = match instruction {
                Instruction::Fork(_) => return true,
                // Without a choice before, one path leads through branches and loops.
                Instruction::Unless(..) | Instruction::Enter(..) | Instruction::Again(..) | Instruction::Jump(_) => {
                    if !chosen.is_empty() {
                        return true;
                    }
                    continue;
                }
                Instruction::Any(choice) => match self.choices[*choice as usize].target {
                    StoreTarget::Field(field) => WordWrite::new(field, field.zero),
                    StoreTarget::Located(_) => return true,
                },
                Instruction::Put(StoreTarget::Field(field), _)
                | Instruction::Store(StoreTarget::Field(field), _, _) => WordWrite::new(*field, field.zero),
                Instruction::Put(StoreTarget::Located(_), _) | Instruction::Store(StoreTarget::Located(_), _, _) => {
                    if !chosen.is_empty() {
                        return true;
                    }
                    continue;
                }
                Instruction::Write(write) => *write,
                Instruction::Copy(copy) => WordWrite { word: copy.to, keep: !copy.written, set: 0 },
                Instruction::Add(change) => {
                    WordWrite { word: change.word, keep: !(u64::from(change.mask) << change.shift), set: 0 }
                }
                Instruction::Push(..) | Instruction::Pop(_) if !chosen.is_empty() => return true,
                _ => continue,
            };
            let overlaps = |other: &WordWrite| other.word == written.word && !other.keep & !written.keep != 0;
            if chosen.iter().any(overlaps) {
                return true;
            }
            if matches!(instruction, Instruction::Any(_)) {
                chosen.push(written);
            }
        }
        false
    }
}

/// What receivers do to the steps of senders.
#[derive(Clone, Copy, Default)]
pub(super) struct Partners {
    go_on: bool,
    /// Whether some are only for where no process is enabled otherwise.
    pub have_marks: bool,
}

impl Partners {
    pub fn of(model: &Model) -> Self {
        let mut receivers = model
            .actions
            .iter()
            .filter(|action| action.sync.as_ref().is_some_and(|sync| matches!(sync.side, SyncSide::Receive(_))));
        let all: Vec<_> = receivers.by_ref().collect();
        Partners {
            go_on: all.iter().any(|action| action.goes_on),
            have_marks: all.iter().any(|action| action.when_nobody),
        }
    }
}

/// Whether a sender may reach one state with one receiver in two ways: the receivers of a place share a statement, or one has
/// a choice of its own.
pub(super) fn meetings_may_repeat(model: &Model) -> bool {
    let actions = &model.actions;
    let receives =
        |id: &ActionId| actions[*id].sync.as_ref().is_some_and(|sync| matches!(sync.side, SyncSide::Receive(_)));
    model.places.iter().any(|place| {
        let receivers: Vec<ActionId> = place.actions.iter().copied().filter(receives).collect();
        let is_plain = |id: &ActionId| {
            let is_straight = |stmt: &Stmt| matches!(stmt.kind, StmtKind::Assign(_));
            matches!(actions[*id].kind, ActionKind::Plain) && actions[*id].body.iter().all(is_straight)
        };
        let mut statements: Vec<_> = receivers.iter().map(|&id| actions[id].statement).collect();
        statements.sort_unstable();
        statements.dedup();
        statements.len() < receivers.len() || !receivers.iter().all(is_plain)
    })
}
