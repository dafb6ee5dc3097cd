//! From a run of an abstract process to a run of the program (Cohen and Namjoshi, CAV 2008, Theorem 6).
//!
//! In: an abstract run all of whose turns by others are must transitions. Out: a run of the program with the same turns: each other process starts
//! in some local state that the first point allows, and takes a turn that makes the change of the store that is asked for. The
//! loop is gone round until the whole state at its head is one that was there before.

use base::{Budget, Feature, StopReason, Unsupported};
use model::Model;
use model::eval::{self, State, Turn};
use model::process::ProcessId;
use model::variable::{CellId, Storage};
use rustc_hash::FxHashMap;

use super::backend::{AbstractRun, FairBackend};
use super::conditions::Conditions;
use super::locals::Locals;

/// A run of the program.
#[derive(Clone, Debug)]
pub struct Unrolled {
    /// The states; the last one is that at `loop_from` again.
    pub states: Vec<State>,
    /// One for each state but the last.
    pub turns: Vec<Turn>,
    /// For each turn its position in the abstract run.
    pub positions: Vec<usize>,
    /// Where the loop begins.
    pub loop_from: usize,
}

/// The run of the program; `None` where a turn cannot be taken, which means that it was no must transition.
///
/// # Errors
/// A limit that was reached.
pub fn unroll<B: FairBackend>(
    backend: &B,
    (conditions, locals): (&Conditions<'_>, &Locals<'_>),
    run: &AbstractRun,
    budget: &Budget,
) -> Result<Option<Unrolled>, StopReason> {
    let Some(start) = initial(backend, locals, run)? else { return Ok(None) };
    let mut found = Unrolled { states: vec![start], turns: Vec::new(), positions: Vec::new(), loop_from: 0 };
    let mut heads: FxHashMap<State, usize> = FxHashMap::default();
    let mut at = 0;
    loop {
        let state = found.states.last().expect("a run has a state");
        if at == run.loop_from {
            if let Some(&head) = heads.get(state) {
                found.loop_from = head;
                return Ok(Some(found));
            }
            heads.insert(state.clone(), found.turns.len());
            budget.check(0)?;
        }
        let Some((turn, next)) = follow(backend, (conditions, locals), run, (at, state)) else { return Ok(None) };
        found.turns.push(turn);
        found.positions.push(at);
        found.states.push(next);
        at = run.after(at);
    }
}

/// An initial state that projects to the first point.
fn initial<B: FairBackend>(backend: &B, locals: &Locals<'_>, run: &AbstractRun) -> Result<Option<State>, StopReason> {
    let (model, first) = (locals.model, &run.points[0]);
    let free = eval::free_cells(model);
    let Some(mut state) = eval::initial_states(model).next() else { return Ok(None) };
    for cell in model.cells.ids().filter(|cell| free.contains(cell)) {
        let declared = &model.cells[cell];
        let is_local = matches!(model.vars[declared.var].storage, Storage::Local(_));
        if !is_local || declared.owner == Some(run.focus) {
            state.cells[cell.index()] = first.state.cells[cell.index()];
        }
    }
    for process in model.processes.ids().filter(|&process| process != run.focus) {
        let cells: Vec<CellId> = locals.cells(process).iter().copied().filter(|cell| free.contains(cell)).collect();
        let wanted = first.blocks[process.index()];
        let fits = |state: &State| backend.block_of(process, &locals.read(process, state)) == wanted;
        if !choose(model, (process, &cells), &mut state, &fits)? {
            return Ok(None);
        }
    }
    Ok(eval::is_initial(model, &state).then_some(state))
}

/// More ways to give values to the free cells of a process are not tried.
const MOST_CHOICES: usize = 1 << 16;

/// Gives values to the free cells of a process so that the state fits; whether there are such values.
///
/// # Errors
/// There are too many ways, and none of the first ones fits.
fn choose(
    model: &Model,
    (process, cells): (ProcessId, &[CellId]),
    state: &mut State,
    fits: &impl Fn(&State) -> bool,
) -> Result<bool, StopReason> {
    let mut n_left = MOST_CHOICES;
    match choose_from(model, cells, state, &mut |state| {
        n_left = n_left.saturating_sub(1);
        if fits(state) { Some(true) } else { (n_left == 0).then_some(false) }
    }) {
        Some(false) => Err(Unsupported::about(Feature::ManyBlocks, &model.processes[process].name).into()),
        found => Ok(found == Some(true)),
    }
}

/// Shows the state with each way to give values to cells, until there is an answer.
fn choose_from(
    model: &Model,
    cells: &[CellId],
    state: &mut State,
    show: &mut impl FnMut(&State) -> Option<bool>,
) -> Option<bool> {
    let Some((cell, rest)) = cells.split_first() else { return show(state) };
    let mut values = model.cells[*cell].ty.values(model.type_context());
    values.find_map(|value| {
        state.cells[cell.index()] = value;
        choose_from(model, rest, state, show)
    })
}

/// A turn like that of the abstract run, and the state after it.
fn follow<B: FairBackend>(
    backend: &B,
    (conditions, locals): (&Conditions<'_>, &Locals<'_>),
    run: &AbstractRun,
    (at, state): (usize, &State),
) -> Option<(Turn, State)> {
    let (wanted, next) = (&run.turns[at], &run.points[run.after(at)]);
    locals.turns_of(wanted.mover, state, Some(&next.state)).into_iter().find(|(turn, after)| {
        let partner = turn.step().and_then(|by| by.partner).map(|(partner, _)| partner);
        let is_asked_for = match &wanted.own {
            Some(own) => turn == own && locals.read(run.focus, after) == locals.read(run.focus, &next.state),
            None => partner == wanted.partner && conditions.satisfied_by(turn) == wanted.satisfied,
        };
        let is_in_block = |process: ProcessId| {
            backend.block_of(process, &locals.read(process, after)) == next.blocks[process.index()]
        };
        is_asked_for && turn.first_processes().all(is_in_block) && locals.same_store(after, &next.state)
    })
}
