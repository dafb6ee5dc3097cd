//! True evidence is accepted; evidence that was changed anywhere is refused, unless brute force says that it is still true.

use audit::{AuditError, Recount, Recounted, complete, recount, replay};
use base::Id;
use evidence::itf::{ItfTrace, MoveHint};
use evidence::{Exploration, Trace, TraceEnd};
use model::Model;
use model::control::{ActionId, PlaceId};
use model::eval::{Control, Frame, Move, State, Turn, evaluate, race};
use model::process::ProcessId;
use model::property::{Property, PropertyKind};
use model::value::Value;
use testkit::Product;
use testkit::samples::everything;

const LIMIT: usize = 5000;

/// A shortest trace for each property of the sample that is decided by one.
fn decided(model: &Model, product: &Product) -> Vec<(Id<Property>, Trace)> {
    let mut found = Vec::new();
    for (id, property) in model.properties.entries() {
        let end_at = |at: usize| end_for(model, product, at, &property.kind);
        if let Some((at, end)) = (0..product.states.len()).find_map(|at| Some((at, end_at(at)?))) {
            let (states, moves) = product.run_to(at);
            found.push((id, Trace::finite(states, moves, end)));
        }
    }
    found
}

/// What the state shows about the property, by brute force.
fn end_for(model: &Model, product: &Product, at: usize, kind: &PropertyKind) -> Option<TraceEnd> {
    let state = &product.states[at];
    let is = |expr, wanted| evaluate(model, state, expr, None) == Ok(Value::Bool(wanted));
    match kind {
        PropertyKind::Invariant(expr) => is(expr, false).then_some(TraceEnd::State),
        PropertyKind::Reachable(expr) => is(expr, true).then_some(TraceEnd::State),
        PropertyKind::NoErrors => {
            product.faults[at].first().map(|(by, fault)| TraceEnd::Fault { by: by.clone(), fault: fault.clone() })
        }
        PropertyKind::DeadlockFree => product.deadlocks.contains(&at).then_some(TraceEnd::Deadlock),
        PropertyKind::RaceFree(var) => race(model, state, *var).map(TraceEnd::Race),
        PropertyKind::Temporal(_) => None,
    }
}

/// Whether brute force knows the run: its states, and steps by these statements between them.
fn is_run(model: &Model, product: &Product, trace: &Trace) -> bool {
    let index = |state: &State| product.states.iter().position(|known| known == state);
    let statement = |by: &Move| {
        let known = |action: ActionId| model.actions.get(action).map(|action| action.statement);
        (by.process, known(by.action), by.partner.map(|(process, action)| (process, known(action))))
    };
    let Some(path) = trace.states.iter().map(index).collect::<Option<Vec<usize>>>() else { return false };
    let starts = path.first().is_some_and(|&at| product.depths[at] == 0);
    let joined = trace.turns.len() + 1 == path.len()
        && path.windows(2).zip(&trace.turns).all(|(pair, turn)| {
            let Turn::Step(by) = turn else { return false };
            product.edges[pair[0]].iter().any(|(known, to)| *to == pair[1] && statement(known) == statement(by))
        });
    starts && joined
}

fn step_of(trace: &mut Trace, at: usize) -> &mut Move {
    match &mut trace.turns[at] {
        Turn::Step(by) => by,
        Turn::StandStill(_) => unreachable!("finite runs have steps"),
    }
}

fn setting() -> (Model, Product) {
    let model = everything();
    let product = Product::explore(&model, LIMIT).expect("the sample is small");
    (model, product)
}

#[test]
fn true_traces_are_accepted() {
    let (model, product) = setting();
    let decided = decided(&model, &product);
    assert_eq!(decided.len(), 5, "the sample has a trace for each of its properties");
    for (property, trace) in decided {
        assert_eq!(replay(&model, property, &trace), Ok(()));
    }
}

/// Every trace that differs from this one in one place.
fn mutants(model: &Model, trace: &Trace) -> Vec<Trace> {
    let mut mutants = Vec::new();
    let mut add = |change: &dyn Fn(&mut Trace)| {
        let mut mutant = trace.clone();
        change(&mut mutant);
        mutants.push(mutant);
    };
    for at in 0..trace.states.len() {
        for (id, cell) in model.cells.entries() {
            let other =
                cell.ty.values(model.type_context()).take(4).find(|&value| value != trace.states[at].cells[id.index()]);
            let foreign = [Value::Int(77), Value::None, Value::Process(ProcessId::new(9)), Value::Bool(true)];
            for value in other.into_iter().chain(foreign) {
                add(&|mutant| mutant.states[at].cells[id.index()] = value);
            }
        }
        for process in 0..model.processes.len() {
            for place in model.places.ids().chain([PlaceId::new(999)]) {
                let control = Control::At(place);
                add(&|mutant| {
                    mutant.states[at].stacks[process].last_mut().expect("no stack is empty").control = control
                });
            }
            for action in model.actions.ids().chain([ActionId::new(999)]) {
                let frame = Frame { control: Control::Calling(action), slots: vec![] };
                add(&|mutant| mutant.states[at].stacks[process].insert(0, frame.clone()));
                add(&|mutant| mutant.states[at].stacks[process].push(frame.clone()));
            }
            add(&|mutant| {
                mutant.states[at].stacks[process].last_mut().expect("no stack is empty").slots.push(Value::Int(0))
            });
            add(&|mutant| drop(mutant.states[at].stacks[process].pop()));
        }
        add(&|mutant| mutant.states[at].cells.truncate(1));
        add(&|mutant| drop(mutant.states[at].stacks.pop()));
        add(&|mutant| drop(mutant.states.remove(at)));
        add(&|mutant| mutant.states.insert(at, mutant.states[at].clone()));
        add(&|mutant| mutant.loop_from = Some(at));
    }
    for at in 0..trace.turns.len() {
        for process in (0..=model.processes.len()).map(ProcessId::new) {
            add(&|mutant| step_of(mutant, at).process = process);
            add(&|mutant| mutant.turns[at] = Turn::StandStill(process));
            add(&|mutant| {
                step_of(mutant, at).partner =
                    Some((process, trace.turns[at].step().expect("finite runs have steps").action))
            });
        }
        for action in model.actions.ids().chain([ActionId::new(999)]) {
            add(&|mutant| step_of(mutant, at).action = action);
        }
        add(&|mutant| step_of(mutant, at).partner = None);
        add(&|mutant| mutant.turns.truncate(at));
        add(&|mutant| {
            mutant.turns.remove(at);
            mutant.states.remove(at);
        });
    }
    mutants.retain(|mutant| mutant != trace);
    mutants
}

#[test]
fn traces_changed_anywhere_are_refused() {
    let (model, product) = setting();
    let (mut n_mutants, mut n_true) = (0, 0);
    for (property, trace) in decided(&model, &product) {
        for mutant in mutants(&model, &trace) {
            n_mutants += 1;
            if replay(&model, property, &mutant).is_ok() {
                n_true += 1;
                assert!(is_run(&model, &product, &mutant), "a run that is none was accepted: {mutant:?}");
                let last = product.states.iter().position(|state| Some(state) == mutant.states.last()).unwrap();
                let end = end_for(&model, &product, last, &model.properties[property].kind);
                assert!(end.is_some(), "an end that shows nothing was accepted");
                assert_eq!(mutant.loop_from, None, "a loop was accepted where a finite run is claimed");
            }
        }
    }
    assert!(n_mutants > 1000 && n_true * 50 < n_mutants, "{n_true} of {n_mutants} mutants are runs");
}

#[test]
fn ends_that_show_something_else_are_refused() {
    let (model, product) = setting();
    let decided = decided(&model, &product);
    let refused = |property: Id<Property>, trace: &Trace, end: TraceEnd| {
        let trace = Trace { end, ..trace.clone() };
        replay(&model, property, &trace).unwrap_err()
    };
    for (property, trace) in &decided {
        for (_, other) in &decided {
            if std::mem::discriminant(&trace.end) != std::mem::discriminant(&other.end) {
                refused(*property, trace, other.end.clone());
            }
        }
        match &trace.end {
            TraceEnd::Fault { by, fault } => {
                let mut fault = fault.clone();
                fault.fault = model::value::Fault::Overflow;
                let error = refused(*property, trace, TraceEnd::Fault { by: by.clone(), fault });
                assert!(error.to_string().contains("these steps are: "), "{error}");
            }
            TraceEnd::Loop => unreachable!("the sample has finite runs only"),
            TraceEnd::Race(race) => {
                for change in 0..5 {
                    let mut race = race.clone();
                    match change {
                        0 => race.cell = model.cells.ids().next().unwrap(),
                        1 => race.contenders[0].process = race.contenders[1].process,
                        2 => race.contenders.iter_mut().for_each(|side| side.writes = false),
                        3 => race.contenders[1].action = ActionId::new(999),
                        _ => race.contenders[1].process = ProcessId::new(2),
                    }
                    refused(*property, trace, TraceEnd::Race(race));
                }
            }
            TraceEnd::State | TraceEnd::Deadlock => {
                let (states, moves) = product.run_to(0);
                let short = Trace::finite(states, moves, trace.end.clone());
                replay(&model, *property, &short).unwrap_err();
            }
        }
    }
}

#[test]
fn both_sides_are_said() {
    let (model, product) = setting();
    let (property, trace) = decided(&model, &product).pop().unwrap();
    let said = |change: &dyn Fn(&mut Trace)| {
        let mut mutant = trace.clone();
        change(&mut mutant);
        replay(&model, property, &mutant).unwrap_err().to_string()
    };
    let sides = said(&|mutant| mutant.states[1].cells[6] = Value::Int(3));
    assert!(
        sides.starts_with("state 0: the evidence claims that P[0] by `flag[0][1] = true` leads to the next state")
            && sides.ends_with("the reference semantics says that `huge` becomes 9223372036854775807, not 3"),
        "{sides}"
    );
    let empty = said(&|mutant| mutant.states.clear());
    assert!(empty.contains("a run without states"), "{empty}");
}

#[test]
fn what_a_file_leaves_open_is_found() {
    let (model, product) = setting();
    for (property, trace) in decided(&model, &product) {
        let open = ItfTrace {
            property: None,
            states: trace.states.clone(),
            moves: trace.turns.iter().map(|by| MoveHint::By(by.process())).collect(),
            end: None,
            loop_from: None,
        };
        let found = complete(&model, property, &open).unwrap();
        assert_eq!(replay(&model, property, &found), Ok(()));
        let anybody = ItfTrace { moves: vec![MoveHint::Any; trace.turns.len()], ..open.clone() };
        assert_eq!(replay(&model, property, &complete(&model, property, &anybody).unwrap()), Ok(()));
        if trace.n_steps() > 1 {
            let mut gap = anybody;
            gap.states.remove(1);
            gap.moves.remove(1);
            let error = complete(&model, property, &gap).unwrap_err();
            assert!(error.to_string().contains("no step of somebody does"), "{error}");
        }
    }
}

#[test]
fn small_searches_are_counted_again() {
    let (mut model, product) = setting();
    let holds = testkit::samples::add_property(&mut model, "true", PropertyKind::Invariant(testkit::expr::truth(true)));
    let never =
        testkit::samples::add_property(&mut model, "false", PropertyKind::Reachable(testkit::expr::truth(false)));
    let right = Exploration {
        states: product.states.len() as u64,
        transitions: product.n_transitions() as u64,
        deadlocks: product.deadlocks.len() as u64,
        errors: product.n_faults() as u64,
        depth: product.depth() as u64,
        complete: true,
    };
    assert_eq!(recount(&model, holds, &right, LIMIT), Ok(Recounted::Agrees));
    assert_eq!(recount(&model, never, &right, LIMIT), Ok(Recounted::Agrees));
    assert_eq!(recount(&model, holds, &right, 10), Ok(Recounted::TooLarge));
    let changes: [fn(&mut Exploration); 6] = [
        |seen| seen.states -= 1,
        |seen| seen.transitions += 1,
        |seen| seen.deadlocks = 0,
        |seen| seen.errors += 1,
        |seen| seen.depth -= 1,
        |seen| seen.complete = false,
    ];
    for change in changes {
        let mut wrong = right.clone();
        change(&mut wrong);
        recount(&model, holds, &wrong, LIMIT).unwrap_err();
    }
    let again = Recount::of(&model, LIMIT).unwrap();
    assert_eq!(again.counted(), &right);
    for (property, declared) in model.properties.entries().take(5) {
        let error: AuditError = again.check(property, &right).unwrap_err();
        assert_eq!(error.claim, format!("nothing decides `{}` otherwise", declared.name));
    }
    let few = Exploration { states: 3, ..right };
    assert!(recount(&model, holds, &few, 5).unwrap_err().to_string().contains("there are more than 5"));
}
