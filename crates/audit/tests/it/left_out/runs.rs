//! Which states are reachable without some steps.
//!
//! In: a program with its product, and choices. Out: for each state whether it is still reachable where all steps are left out that look like one of them in some
//! respects: what is done, by whom, what cells hold before and after, names being relative to whoever steps, and where the others are. What is left out means the
//! same at every size.

use model::Model;
use model::eval::{Move, State};
use model::process::ProcessId;
use model::value::Value;
use testkit::Product;
use testkit::choices::Choices;

/// What a step looks like in one respect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    Number(usize),
    Value(Value),
    Mover,
    Another,
    /// A process of another family.
    Outside,
}

/// What is left out of the runs of a program.
#[derive(Clone, Debug)]
pub enum Omission {
    /// Nothing.
    Nothing,
    /// Starts in which the shared cell of this position holds this.
    Start(usize, Value),
    /// Starts in which a process of the first family has this in the cell of this position.
    OwnStart(usize, Value),
    /// Steps that look like this at these positions.
    Steps(Vec<(usize, Look)>),
}

impl Omission {
    /// Something that some run of the program does.
    pub fn random(model: &Model, product: &Product, choices: &mut Choices) -> Omission {
        let starts: Vec<&State> = { product.states.iter().zip(&product.depths) }
            .filter_map(|(state, depth)| (*depth == 0).then_some(state))
            .collect();
        if starts.len() > 1 && choices.chance(20) {
            let start = starts[choices.below(starts.len())];
            let (shared, family) = (shared_cells(model), &model.families.iter().next().expect("there is one"));
            let own = model.processes[family.first].first_cell;
            return match choices.chance(50) {
                true => {
                    let at = choices.below(shared.len());
                    Omission::Start(at, start.cells[shared[at]])
                }
                false => {
                    let at = choices.below(family.n_cells);
                    Omission::OwnStart(at, start.cells[own + at])
                }
            };
        }
        let all = (0..product.edges.len()).flat_map(|from| (0..product.edges[from].len()).map(move |at| (from, at)));
        let steps: Vec<(usize, usize)> = all.collect();
        if steps.is_empty() {
            return Omission::Nothing;
        }
        let (from, at) = *choices.pick(&steps);
        let (by, to) = &product.edges[from][at];
        let percent = *choices.pick(&[0, 10, 30, 60, 100]);
        // What is done is always said: so the other positions mean the same.
        let chosen = looks(model, [&product.states[from], &product.states[*to]], by).into_iter().enumerate().filter(
            |(at, _)| match at {
                0 => true,
                1 => choices.chance(15),
                _ => choices.chance(percent),
            },
        );
        Omission::Steps(chosen.collect())
    }

    /// Which states are still reachable.
    pub fn kept(&self, model: &Model, product: &Product) -> Vec<bool> {
        let is_left = |state: &State| match self {
            Omission::Start(at, value) => state.cells[shared_cells(model)[*at]] != *value,
            Omission::OwnStart(at, value) => {
                let first = |process: ProcessId| model.processes[process].first_cell;
                let members = model.families.iter().next().into_iter().flat_map(|family| family.processes());
                { members }.all(|process| state.cells[first(process) + at] != *value)
            }
            Omission::Nothing | Omission::Steps(_) => true,
        };
        let is_start = |at: usize| product.depths[at] == 0 && is_left(&product.states[at]);
        let mut kept: Vec<bool> = (0..product.states.len()).map(is_start).collect();
        let mut open: Vec<usize> = (0..kept.len()).filter(|&at| kept[at]).collect();
        while let Some(from) = open.pop() {
            for (by, to) in &product.edges[from] {
                if !kept[*to] && !self.leaves_out(model, [&product.states[from], &product.states[*to]], by) {
                    kept[*to] = true;
                    open.push(*to);
                }
            }
        }
        kept
    }

    fn leaves_out(&self, model: &Model, states: [&State; 2], by: &Move) -> bool {
        let Omission::Steps(wanted) = self else { return false };
        if wanted.first().is_some_and(|(_, look)| *look != Look::Number(by.action.index())) {
            return false;
        }
        let looks = looks(model, states, by);
        wanted.iter().all(|(at, look)| looks.get(*at) == Some(look))
    }
}

/// The shared cells that every size has.
fn shared_cells(model: &Model) -> Vec<usize> {
    (0..model.n_shared_cells).filter(|&cell| !is_row(model, cell)).collect()
}

/// Whether a cell belongs to the array with an element for each process.
fn is_row(model: &Model, cell: usize) -> bool {
    model.vars[model.cells[model::variable::CellId::new(cell)].var].name == "row"
}

/// What a step looks like: its action, who takes it, shared cells and the mover's own ones before and after, how many others are at each place.
fn looks(model: &Model, [before, after]: [&State; 2], by: &Move) -> Vec<Look> {
    let mover = by.process;
    let family = model.processes[mover].family;
    let seen = |value: Value| match value {
        Value::Process(id) if id == mover => Look::Mover,
        Value::Process(id) if model.processes[id].family == family => Look::Another,
        Value::Process(_) => Look::Outside,
        value => Look::Value(value),
    };
    let mut found = vec![Look::Number(by.action.index()), Look::Number(mover.index())];
    let own = model.processes[mover].first_cell..model.processes[mover].first_cell + model.families[family].n_cells;
    let index = usize::try_from(model.processes[mover].index).unwrap_or(0);
    let element = (0..model.n_shared_cells).filter(|&cell| is_row(model, cell)).nth(index);
    for cell in shared_cells(model).into_iter().chain(element).chain(own) {
        found.extend([seen(before.cells[cell]), seen(after.cells[cell])]);
    }
    let others: Vec<ProcessId> = model.processes.ids().filter(|&other| other != mover).collect();
    for place in model.places.ids() {
        let n_there = others.iter().filter(|&&other| before.place(other) == place).count();
        found.push(Look::Number(n_there.min(2)));
    }
    found
}
