//! Footprints are checked claims: what an attempt to step does not depend on is scrambled, and nothing else may change.

use model::Model;
use model::eval::{Footprint, State, Step, Touch, attempts_of, receptions_of, steps, touched_by_process};
use model::process::ProcessId;
use model::variable::{CellId, Role};
use testkit::{Beyond, Product, RandomFeatures, for_each_program};

#[test]
fn steps_depend_on_their_footprint_and_change_nothing_else() {
    for_each_program(150, RandomFeatures::everything(), |_, model| {
        let Some(product) = Product::explore(model, 60) else { return Ok(()) };
        product
            .states
            .iter()
            .step_by(3)
            .try_for_each(|state| model.processes.ids().try_for_each(|process| scramble(model, state, process)))
    });
}

/// The receptions are those of the steps of others, and depend on nothing but what is noted, and on where partners are.
#[test]
fn receptions_are_the_other_sides_of_steps() {
    let n_met = std::cell::Cell::new(0);
    let beyond = Beyond { chains: true, patterns: true, ..Beyond::NOTHING };
    let features = RandomFeatures { procedures: false, faults: false, beyond, ..RandomFeatures::everything() };
    for_each_program(600, features, |_, model| {
        let explored = if model.channels.is_empty() { None } else { Product::explore(model, 200) };
        let Some(product) = explored else { return Ok(()) };
        for state in product.states.iter().step_by(3) {
            let partners: Vec<_> = steps(model, state).iter().filter_map(|step| step.by.partner).collect();
            n_met.set(n_met.get() + partners.len());
            for process in model.processes.ids() {
                let found = receptions_of(model, state, process);
                let expected = partners.iter().filter(|(one, _)| *one == process).map(|(_, action)| *action);
                let expected: std::collections::BTreeSet<_> = expected.collect();
                if found.0.iter().copied().collect::<std::collections::BTreeSet<_>>() != expected {
                    return Err(format!("{process:?} can receive by {expected:?}, found {:?}", found.0));
                }
                scramble_around(model, state, (process, &found))?;
            }
        }
        Ok(())
    });
    assert!(n_met.get() > 100, "{n_met:?}");
}

/// Moves a process that is no partner, and gives each cell that nobody looked at another value.
fn scramble_around(
    model: &Model,
    state: &State,
    (process, found): (ProcessId, &(Vec<model::control::ActionId>, Footprint)),
) -> Result<(), String> {
    let is_kept = |cell: &CellId| {
        let (role, owner) = (model.vars[model.cells[*cell].var].role, model.cells[*cell].owner);
        let is_control = owner.is_some_and(|owner| owner == process || found.1.partners.contains(&owner));
        found.1.cells.contains(cell) || (is_control && matches!(role, Role::Counter(_)))
    };
    for cell in model.cells.ids().filter(|cell| !is_kept(cell)) {
        for value in model.cells[cell].ty.values(model.type_context()) {
            let mut other = state.clone();
            other.cells[cell.index()] = value;
            if receptions_of(model, &other, process) != *found {
                return Err(format!("receiving depends on `{}`, which was not looked at", model.cells[cell].name));
            }
        }
    }
    let is_free = |one: &ProcessId| *one != process && !found.1.partners.contains(one) && !found.1.places.contains(one);
    for other in model.processes.ids().filter(is_free) {
        let mut moved = state.clone();
        moved.stacks[other.index()].truncate(1);
        let end = model.families[model.processes[other].family].end;
        moved.stacks[other.index()][0].control = model::eval::Control::At(end);
        if receptions_of(model, &moved, process) != *found {
            return Err(format!("receiving depends on where {other:?} is, which is no partner"));
        }
    }
    Ok(())
}

/// Gives each cell outside the footprint another value.
fn scramble(model: &Model, state: &State, process: ProcessId) -> Result<(), String> {
    let (steps, footprint) = attempts_of(model, state, process);
    if steps != touched_by_process(model, state, process) {
        return Err("watching a step changes it".to_string());
    }
    let untouched = |cell: &CellId| {
        let role = model.vars[model.cells[*cell].var].role;
        !footprint.cells.contains(cell) && !matches!(role, Role::Counter(_))
    };
    for cell in model.cells.ids().filter(untouched) {
        for value in model.cells[cell].ty.values(model.type_context()) {
            let mut other = state.clone();
            other.cells[cell.index()] = value;
            let again = attempts_of(model, &other, process);
            if again != expected(&steps, &footprint, |after| after.cells[cell.index()] = value) {
                return Err(format!("{process:?} depends on `{}`, which it did not touch", model.cells[cell].name));
            }
        }
    }
    Ok(())
}

/// The same steps from a scrambled state.
fn expected(
    steps: &[(Step, Vec<Touch>)],
    footprint: &Footprint,
    change: impl Fn(&mut State),
) -> (Vec<(Step, Vec<Touch>)>, Footprint) {
    let mut steps = steps.to_vec();
    steps.iter_mut().filter_map(|(step, _)| step.result.as_mut().ok()).for_each(change);
    (steps, footprint.clone())
}

#[test]
fn a_closed_guard_leaves_a_footprint() {
    use model::variable::Init;
    use testkit::draft::range_type;
    use testkit::expr::{equal, int, read, shared, standing};
    use testkit::text::{assign, wait};
    let mut draft = testkit::Draft::new();
    let p = draft.family("P", 2);
    let x = draft.shared("x", range_type(0, 3), Init::First);
    let y = draft.shared("y", range_type(0, 3), Init::First);
    let other = ProcessId::new(1);
    let elsewhere = standing(testkit::expr::constant(model::value::Value::Process(other)), vec![], &[]);
    draft.text(p, vec![wait(equal(read(shared(x)), int(1))), assign(shared(y), int(2)).when(elsewhere)]);
    let model = draft.finish();
    let mut state = model::eval::initial_states(&model).next().unwrap();
    let footprint = |state: &State| {
        let (steps, Footprint { cells, places, .. }) = attempts_of(&model, state, ProcessId::new(0));
        let cells: Vec<usize> = cells.into_iter().map(CellId::index).collect();
        (steps.len(), cells, places.into_iter().map(ProcessId::index).collect::<Vec<_>>())
    };
    assert_eq!(footprint(&state), (0, vec![0], vec![]));
    state.cells[0] = model::value::Value::Int(1);
    let step = attempts_of(&model, &state, ProcessId::new(0)).0.remove(0).0;
    assert_eq!(footprint(&step.result.unwrap()), (0, vec![], vec![1]));
}
