//! Two ways from statements to a Model, that of drafts and that of the `.pw` front-end, give the same whole product.

use std::collections::BTreeSet;

use base::SourceFile;
use model::Model;
use model::control::TextOwner;
use model::eval::{Move, State, StepFault};
use model::print;
use model::variable::{Role, VarId};
use testkit::{Product, RandomFeatures, for_each_program, write};

/// What can be told apart without knowing how places and cells are numbered.
#[derive(Debug, PartialEq)]
struct Shown {
    n_states: usize,
    n_transitions: usize,
    n_deadlocks: usize,
    depth: usize,
    /// Cells by name, and of each process the depth of its stack, its slots and the labels that hold; but no counters, whose
    /// values outside their loops are nobody's business.
    states: BTreeSet<String>,
    /// The state before, who moves, the labels that the step carries, and the state after.
    steps: BTreeSet<(String, String, Vec<String>, String)>,
    /// The state before, and who fails. What the fault is includes a place in the text, which a draft does not have.
    faults: BTreeSet<(String, String)>,
}

fn shown(model: &Model) -> Option<Shown> {
    let product = Product::explore(model, 300)?;
    let names: Vec<String> = product.states.iter().map(|state| state_text(model, state)).collect();
    let mover = |by: &Move| model.processes[by.process].name.clone();
    let from = |(at, edges): (usize, &Vec<(Move, usize)>)| -> Vec<_> {
        let step = |(by, target): &(Move, usize)| {
            (names[at].clone(), mover(by), model.actions[by.action].labels.clone(), names[*target].clone())
        };
        edges.iter().map(step).collect()
    };
    let failing = |(at, faults): (usize, &Vec<(Move, StepFault)>)| -> Vec<_> {
        faults.iter().map(|(by, _)| (names[at].clone(), mover(by))).collect()
    };
    Some(Shown {
        n_states: product.states.len(),
        n_transitions: product.n_transitions(),
        n_deadlocks: product.deadlocks.len(),
        depth: product.depth(),
        steps: product.edges.iter().enumerate().flat_map(from).collect(),
        faults: product.faults.iter().enumerate().flat_map(failing).collect(),
        states: names.into_iter().collect(),
    })
}

fn state_text(model: &Model, state: &State) -> String {
    let counts = |var: VarId| matches!(model.vars[var].role, Role::Counter(_));
    let cells: BTreeSet<String> = model
        .cells
        .entries()
        .filter(|(_, cell)| !counts(cell.var))
        .map(|(id, cell)| format!("{} = {}", cell.name, print::value(model, state.cells[id.index()])))
        .collect();
    let stacks: Vec<String> = model
        .processes
        .ids()
        .map(|process| {
            let (depth, top) = (state.stacks[process.index()].len(), state.top(process));
            let labels: BTreeSet<&String> = model.places[state.place(process)].labels.iter().collect();
            let vars: &[VarId] = match model.places[state.place(process)].scope {
                TextOwner::Procedure(procedure) => &model.procedures[procedure].vars,
                TextOwner::Family(_) => &[],
            };
            let kept = vars.iter().filter(|&&var| !counts(var)).map(|&var| &model.vars[var]);
            let slots: Vec<String> = kept
                .flat_map(|var| &top.slots[var.offset..var.offset + var.ty.n_cells()])
                .map(|&slot| print::value(model, slot))
                .collect();
            format!("{depth} {labels:?} {slots:?}")
        })
        .collect();
    format!("{cells:?} {stacks:?}")
}

#[test]
fn a_draft_and_its_text_have_the_same_product() {
    for_each_program(200, RandomFeatures::language(), |draft, model| {
        let text = write::program(draft);
        let loaded = lang::load(&SourceFile::new("random.pw", text), &[]).map_err(|diagnostics| {
            let shown: Vec<String> = diagnostics
                .iter()
                .filter(|diagnostic| diagnostic.is_error())
                .map(|diagnostic| format!("{} {}", diagnostic.code, diagnostic.message))
                .collect();
            format!("the text is refused: {}", shown.join("; "))
        })?;
        let (drafted, loaded) = (shown(model), shown(&loaded.model));
        if drafted == loaded { Ok(()) } else { Err(format!("draft {drafted:#?}\n\ntext {loaded:#?}")) }
    });
}
