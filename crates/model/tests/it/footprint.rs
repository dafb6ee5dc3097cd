//! Footprints are checked claims: what an attempt to step does not depend on is scrambled, and nothing else may change.

use model::Model;
use model::eval::{Footprint, State, Step, Touch, attempts_of, touched_by_process};
use model::process::ProcessId;
use model::variable::{CellId, Role};
use testkit::{Product, RandomFeatures, for_each_program};

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
        let (steps, Footprint { cells, places }) = attempts_of(&model, state, ProcessId::new(0));
        let cells: Vec<usize> = cells.into_iter().map(CellId::index).collect();
        (steps.len(), cells, places.into_iter().map(ProcessId::index).collect::<Vec<_>>())
    };
    assert_eq!(footprint(&state), (0, vec![0], vec![]));
    state.cells[0] = model::value::Value::Int(1);
    let step = attempts_of(&model, &state, ProcessId::new(0)).0.remove(0).0;
    assert_eq!(footprint(&step.result.unwrap()), (0, vec![], vec![1]));
}
