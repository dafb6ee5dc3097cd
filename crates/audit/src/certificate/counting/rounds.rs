//! Rounds of a single process: loops over all processes of a crowd, as the checker sees them.
//!
//! In: a [`Player`] where control comes to such a loop, or to the end of one of its rounds. Out: the stage with the next process in turn, or past the loop. The order is not looked at: any process
//! that had no turn may be next. Who had a turn is marked on it with the single process, until the loop is left; nobody is left where everybody on stage is
//! marked, or is the one whose turn ends, and there is no process with another view behind the stage.

use evidence::counting::CountingItem;
use evidence::views::{LocalColumn, SharedColumn};
use model::control::{LoopId, TextOwner};
use model::expr::Domain;
use model::process::{FamilyId, ProcessId};
use model::value::Value;
use model::variable::CellId;

use super::cast::Cast;
use super::stage::{Player, Role, Stop, Told};
use super::system::{Lin, Unknown, at_least, exactly};

/// The mark of whoever had no turn, and the counter of a loop outside of its rounds.
pub(super) const UNMARKED: CountingItem = CountingItem::Value(Value::None);

impl Cast<'_> {
    /// The single process that goes round a crowd by a loop.
    pub fn goes_round(&self, id: LoopId) -> Option<(ProcessId, FamilyId)> {
        let (TextOwner::Family(text), Domain::Family(crowd)) =
            (self.written.loops[id].scope, &self.written.loops[id].domain)
        else {
            return None;
        };
        // A family of which some have names is gone round by several, and has members without marks.
        let is_whole = |family: FamilyId| self.named_in(family).is_empty();
        let mut going = self.singles.iter().filter(|&&one| self.model.processes[one].family == text);
        match (going.next(), going.next()) {
            (Some(&one), None) if !self.crowds.contains(&text) => {
                (self.crowds.contains(crowd) && is_whole(*crowd)).then_some((one, *crowd))
            }
            _ => None,
        }
    }

    /// The marks that processes of a crowd may have.
    pub fn marks(&self, crowd: FamilyId) -> Vec<LocalColumn> {
        let is_round = |id: &LoopId| self.goes_round(*id).is_some_and(|(_, of)| of == crowd);
        self.written.loops.ids().filter(is_round).map(LocalColumn::Taken).collect()
    }

    /// Whether an item is the mark of a loop, or none.
    pub fn is_mark(&self, id: LoopId, item: CountingItem) -> bool {
        let marked = self.goes_round(id).map(|(one, _)| CountingItem::Value(Value::Process(one)));
        item == UNMARKED || Some(item) == marked
    }

    /// Whether a cell says whose turn it is.
    pub fn says_turn(&self, cell: CellId) -> bool {
        let var = self.model.cells[cell].var;
        let mut loops = self.written.loops.entries();
        loops.any(|(id, one)| one.counter == var && self.goes_round(id).is_some())
    }
}

/// Where a loop shows.
struct Round {
    crowd: FamilyId,
    mark: usize,
    turn: usize,
    marked: CountingItem,
}

impl Player<'_, '_> {
    /// Whether a column says whose turn it is, and nobody is shown to have it. That is so outside of the rounds, where the counter in truth has the first process: a branch of
    /// `either` may begin with a loop, whose first round then begins without the loop being entered.
    pub fn is_out_of_turn(&self, column: usize) -> bool {
        let says_turn =
            matches!(self.cast.shared.get(column), Some(SharedColumn::Cell(cell)) if self.cast.says_turn(*cell));
        says_turn && self.stage.shared[column] == UNMARKED
    }

    fn round(&self, id: LoopId) -> Told<Round> {
        let cast = self.cast;
        let found = || {
            let (one, crowd) = cast.goes_round(id).filter(|(one, _)| self.role == Role::Single(*one))?;
            let counter = &cast.model.vars[cast.model.loops[id].counter];
            let cell = CellId::new(cast.model.processes[one].first_cell + counter.offset);
            let turn = cast.shared_at(SharedColumn::Cell(cell))?;
            let mark = cast.local_at(crowd, LocalColumn::Taken(id))?;
            Some(Round { crowd, mark, turn, marked: CountingItem::Value(Value::Process(one)) })
        };
        found().ok_or(Stop::Lost(cast.written.loops[id].span))
    }

    /// Somebody has the first turn.
    pub fn first_round(&mut self, id: LoopId) -> Told<()> {
        let (round, span) = (self.round(id)?, self.cast.written.loops[id].span);
        let on_stage = self.stage.actors.len();
        let actors = (0..on_stage).filter(|&at| self.stage.actors[at].0 == round.crowd);
        let mut turns: Vec<CountingItem> = actors.map(|at| CountingItem::Slot(at as u8)).collect();
        let is_there = |view: &&usize| self.views[**view].family == round.crowd;
        let others = self.behind.iter().filter(is_there).try_fold(Lin::default(), |others, &view| {
            others.and(1, &Lin::unknown(Unknown::Views(view))).ok_or(Stop::Lost(span))
        })?;
        // Before the program starts nothing is known of those behind the stage.
        if self.within || !others.of.is_empty() {
            turns.push(CountingItem::Other(round.crowd));
        }
        if turns.is_empty() {
            return Err(Stop::Never);
        }
        let turn = turns[self.path.pick(turns.len())];
        if matches!(turn, CountingItem::Other(_)) && !self.within {
            self.demands.push(at_least(others.and(-1, &Lin::just(1)).ok_or(Stop::Lost(span))?));
        }
        self.stage.shared[round.turn] = turn;
        Ok(())
    }

    /// The turn of one process is over; whether somebody else has the next one.
    pub fn next_round(&mut self, id: LoopId) -> Told<bool> {
        let (round, span) = (self.round(id)?, self.cast.written.loops[id].span);
        if self.is_out_of_turn(round.turn) {
            return Err(Stop::Lost(span));
        }
        if let CountingItem::Slot(at) = self.stage.shared[round.turn] {
            self.stage.actors[at as usize].1[round.mark] = round.marked;
        }
        let mut waiting = Lin::default();
        for &view in self.behind {
            let seen = &self.views[view];
            let has_turn = matches!(seen.shared[round.turn], CountingItem::Slot(_));
            if seen.family == round.crowd && seen.local[round.mark] == UNMARKED && !has_turn {
                waiting = waiting.and(1, &Lin::unknown(Unknown::Views(view))).ok_or(Stop::Lost(span))?;
            }
        }
        let is_waiting = |at: &usize| {
            let (family, local) = &self.stage.actors[*at];
            *family == round.crowd && local[round.mark] == UNMARKED
        };
        let on_stage: Vec<usize> = (0..self.stage.actors.len()).filter(is_waiting).collect();
        // Each actor that waits; then somebody behind the stage, if anybody waits there; nobody, if nobody on stage does.
        let mut turns: Vec<Option<CountingItem>> =
            on_stage.iter().map(|&at| Some(CountingItem::Slot(at as u8))).collect();
        if !waiting.of.is_empty() {
            turns.push(Some(CountingItem::Other(round.crowd)));
        }
        if on_stage.is_empty() {
            turns.push(None);
        }
        match turns[self.path.pick(turns.len())] {
            None => {
                self.demands.push(exactly(waiting));
                self.leave_round(id)?;
                Ok(false)
            }
            Some(turn) => {
                if matches!(turn, CountingItem::Other(_)) {
                    self.demands.push(at_least(waiting.and(-1, &Lin::just(1)).ok_or(Stop::Lost(span))?));
                }
                self.stage.shared[round.turn] = turn;
                Ok(true)
            }
        }
    }

    /// Nobody is in turn any more, and nobody is marked.
    pub fn leave_round(&mut self, id: LoopId) -> Told<()> {
        let round = self.round(id)?;
        for (family, local) in &mut self.stage.actors {
            if *family == round.crowd {
                local[round.mark] = UNMARKED;
            }
        }
        self.stage.shared[round.turn] = UNMARKED;
        Ok(())
    }
}
