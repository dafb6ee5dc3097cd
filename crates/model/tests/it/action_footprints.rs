//! Footprints of actions, for all states, are checked claims: by hand on small texts, and on random programs by scrambling what is
//! outside them.

use std::collections::BTreeSet;

use crate::common::{Bench, bench};
use model::Model;
use model::control::{ActionId, StmtKind, TextOwner};
use model::eval::{Control, Counters, Move, State, Step, evaluate, steps_of, touched_by};
use model::expr::{BinaryOp, Domain, Quantifier};
use model::footprint::{Footprint, disjuncts, footprint, view};
use model::points::{PointTarget, Points};
use model::process::ProcessId;
use model::types::ScalarType;
use model::value::Value;
use model::variable::{CellId, Role};
use testkit::choices::Choices;
use testkit::expr::*;
use testkit::text::*;
use testkit::{Product, RandomFeatures, for_each_program};

fn names(model: &Model, cells: &BTreeSet<CellId>) -> String {
    let names: Vec<&str> = cells.iter().map(|&cell| model.cells[cell].name.as_str()).collect();
    names.join(" ")
}

/// The footprints of the actions of `P[0]` where it starts, as `guard / reads / writes`.
fn check(make: impl FnOnce(&mut Bench) -> TextStatement, expected: &str) {
    let mut bench = bench();
    let text = make(&mut bench);
    let model = bench.model(vec![text]);
    let process = ProcessId::new(0);
    let points = Points::of(&model, process, 100).expect("few points");
    let PointTarget::Point(entry) = points.entry else { panic!("the text starts somewhere") };
    let point = &points.points[entry];
    let shown: Vec<String> = point
        .exits
        .iter()
        .map(|exit| footprint(&model, process, exit.action, &point.counters))
        .map(|found| {
            let sets = [&found.guard_reads, &found.reads, &found.writes];
            sets.map(|set| names(&model, set)).join(" / ")
        })
        .collect();
    assert_eq!(shown.join(" | "), expected);
}

#[test]
fn constant_indices_are_resolved() {
    let mine_of_a = |b: &Bench| element(shared(b.a), index_of(me()));
    check(|b| assign(mine_of_a(b), add(read(mine_of_a(b)), int(1))), " / a[0] / a[0]");
    check(|b| assign(element(shared(b.a), int(1)), int(0)), " /  / a[1]");
    // x is in 0..=3, clipped to the array; x - 3 is in -3..=0.
    check(|b| assign(element(shared(b.a), read(shared(b.x))), int(0)), " / x / a[0] a[1]");
    let low = |b: &Bench| binary(BinaryOp::Subtract, read(shared(b.x)), int(3));
    check(|b| assign(element(shared(b.a), low(b)), int(0)), " / x / a[0]");
    check(|b| assign(shared(b.y), read(of(b.level, read(shared(b.turn))))), " / turn P[0].level P[1].level / y");
    check(|b| assign(shared(b.y), read(of(b.level, to_process(b.p, int(1))))), " / P[1].level / y");
    check(
        |b| assign(element(element(shared(b.g), index_of(me())), index_of(read(shared(b.turn)))), int(0)),
        " / turn / g[0][0] g[0][1]",
    );
}

#[test]
fn a_quantifier_reads_only_the_instances_that_its_filter_leaves() {
    let others = |b: &Bench| {
        let body = equal(read(element(shared(b.a), index_of(bound(0)))), int(0));
        let filter = binary(BinaryOp::NotEqual, bound(0), me());
        filtered(Quantifier::Forall, vec![binding(0, Domain::Family(b.p))], Some(filter), body)
    };
    check(|b| assign(shared(b.x), int(0)).when(others(b)), "a[1] / a[1] / x");
    check(|b| wait(binary(BinaryOp::Or, truth(true), others(b))), " /  / ");
    check(|b| wait(binary(BinaryOp::And, truth(true), others(b))), "a[1] / a[1] / ");
}

#[test]
fn a_counter_is_control_and_makes_indices_constant() {
    check(
        |b| {
            let (id, k) = b.draft.counter(TextOwner::Family(b.p), "k", range(1, 1), ScalarType::Range { lo: 0, hi: 1 });
            TextStatement::For(id, vec![assign(element(shared(b.a), read(mine(k))), int(1))])
        },
        " /  / a[1]",
    );
    let body = |b: &Bench| vec![set(element(shared(b.a), bound(0)), int(0))];
    check(|b| atomic(vec![stmt(StmtKind::For(binding(0, range(0, 0)), body(b)))]), " /  / a[0]");
}

#[test]
fn statements_read_and_write_what_they_should() {
    check(|b| atomic(vec![stmt(StmtKind::Acquire(shared(b.m)))]), " / m / m");
    check(|b| atomic(vec![stmt(StmtKind::AssignAny(shared(b.x), None))]), " /  / x");
    check(
        |b| {
            let test = equal(read(shared(b.b)), truth(true));
            atomic(vec![stmt(StmtKind::If(test, vec![set(shared(b.x), int(0))], vec![set(shared(b.y), int(0))]))])
        },
        " / b / x y",
    );
    check(|b| TextStatement::If(None, equal(read(shared(b.x)), int(0)), vec![], vec![skip()]), "x / x /  | x / x / ");
}

#[test]
fn a_return_includes_the_store_of_the_result() {
    let mut b = bench();
    let (f, _) = b.draft.procedure("f", &[], Some(ScalarType::Range { lo: 0, hi: 3 }));
    b.draft.procedure_text(f, vec![give(Some(read(shared(b.y))))]);
    let into = element(shared(b.a), read(shared(b.x)));
    let model = b.model(vec![call(f, vec![], Some(into))]);
    let points = Points::of_procedure(&model, ProcessId::new(0), f, 10).unwrap();
    let exit = &points.points.iter().next().unwrap().exits[0];
    assert_eq!(exit.target, PointTarget::Return);
    let found = footprint(&model, ProcessId::new(0), exit.action, &Counters::new());
    assert_eq!(names(&model, &found.reads), "x y");
    assert_eq!(names(&model, &found.writes), "a[0] a[1]");
    assert_eq!(names(&model, &view(&model, ProcessId::new(0))), "x y a[0] a[1]");
}

#[test]
fn disjuncts_have_footprints_of_their_own() {
    let b = bench();
    let is_zero = |var| equal(read(shared(var)), int(0));
    let guard = binary(BinaryOp::Or, binary(BinaryOp::Or, is_zero(b.x), is_zero(b.y)), read(shared(b.b)));
    let model = b.model(vec![wait(guard)]);
    let action = model.actions.ids().next().unwrap();
    let parts: Vec<String> = disjuncts(&model, ProcessId::new(0), action, &Counters::new())
        .iter()
        .map(|(part, found)| format!("{}: {}", model::print::expr(&model, part), names(&model, &found.guard_reads)))
        .collect();
    assert_eq!(parts, ["x == 0: x", "y == 0: y", "b: b"]);
}

#[test]
fn a_process_sees_the_shared_and_public_cells_that_it_mentions() {
    let b = bench();
    let next = binary(BinaryOp::Remainder, add(index_of(me()), int(1)), int(2));
    let text = vec![
        assign(element(shared(b.a), index_of(me())), int(1)),
        wait(equal(read(of(b.level, to_process(b.p, next))), int(0))),
        assign(mine(b.l), int(1)),
    ];
    let model = b.model(text);
    let views: Vec<String> = model.processes.ids().map(|process| names(&model, &view(&model, process))).collect();
    assert_eq!(views, ["a[0] P[1].level", "a[1] P[0].level"]);
}

#[test]
fn points_are_places_with_counters() {
    let mut b = bench();
    let (outer, j) = b.draft.counter(TextOwner::Family(b.p), "j", range(0, 2), ScalarType::Range { lo: 0, hi: 2 });
    let inner_range = Domain::Range(Box::new(int(1)), Box::new(read(mine(j))));
    let (inner, _) = b.draft.counter(TextOwner::Family(b.p), "k", inner_range, ScalarType::Range { lo: 0, hi: 2 });
    let model = b.model(vec![
        TextStatement::For(outer, vec![TextStatement::For(inner, vec![skip().label("in")])]),
        skip().label("out"),
    ]);
    let points = Points::of(&model, ProcessId::new(0), 100).unwrap();
    // j = 1: k = 1; j = 2: k = 1, 2; then `out` and the end.
    let shown: Vec<String> = points
        .points
        .iter()
        .map(|point| {
            let counters: Vec<String> =
                point.counters.values().map(|&value| model::print::value(&model, value)).collect();
            format!("{} {}", model.places[point.place].name, counters.join(" "))
        })
        .collect();
    assert_eq!(shown, ["in 1 1", "in 2 1", "in 2 2", "out 0 0", "end 0 0"]);
    assert!(Points::of(&model, ProcessId::new(0), 4).is_none());
}

/// The counters of the text in which a process stands.
fn counters_at(model: &Model, state: &State, process: ProcessId) -> Counters {
    let scope = model.places[state.place(process)].scope;
    let in_scope = model.loops.iter().filter(|counted| counted.scope == scope);
    in_scope
        .map(|counted| {
            let value = match scope {
                TextOwner::Family(_) => {
                    state.cells
                        [model.cells_of(counted.counter, Some(process)).next().expect("a counter is a cell").index()]
                }
                TextOwner::Procedure(_) => state.top(process).slots[model.vars[counted.counter].offset],
            };
            (counted.counter, value)
        })
        .collect()
}

/// The footprint of a step: of both sides, if there are two.
fn footprint_of(model: &Model, state: &State, by: &Move) -> Footprint {
    let side = |process, action| footprint(model, process, action, &counters_at(model, state, process));
    let own = side(by.process, by.action);
    by.partner.map_or(own.clone(), |(partner, theirs)| own.union(&side(partner, theirs)))
}

/// Gives every cell outside the footprint, and every process's place that is not looked at, some other value.
fn scramble(model: &Model, state: &State, kept: &Footprint, movers: &[ProcessId], choices: &mut Choices) -> State {
    let mut scrambled = state.clone();
    let cells = kept.cells();
    for (id, cell) in model.cells.entries() {
        let counts = matches!(model.vars[cell.var].role, Role::Counter(_));
        if !cells.contains(&id) && !counts {
            let values: Vec<Value> = cell.ty.values(model.type_context()).collect();
            scrambled.cells[id.index()] = *choices.pick(&values);
        }
    }
    for process in model.processes.ids().filter(|id| !movers.contains(id) && !kept.looks_at.contains(id)) {
        let own = TextOwner::Family(model.processes[process].family);
        let places: Vec<_> = model.places.entries().filter(|(_, place)| place.scope == own).map(|(id, _)| id).collect();
        let stack = &mut scrambled.stacks[process.index()];
        stack.truncate(1);
        stack[0].control = Control::At(*choices.pick(&places));
    }
    scrambled
}

/// The footprint's cells afterwards, the movers' control, and their slots or the fault.
type Effect = (Vec<Value>, Vec<Control>, String);

/// What the steps by this move do to the footprint and to the movers' stacks; what they do outside must be nothing.
fn effects(model: &Model, state: &State, by: &Move, kept: &Footprint) -> Result<Vec<Effect>, String> {
    let cells = kept.cells();
    let movers: Vec<ProcessId> = [by.process].into_iter().chain(by.partner.map(|(partner, _)| partner)).collect();
    let counts = |cell: CellId| matches!(model.vars[model.cells[cell].var].role, Role::Counter(_));
    let mut found = Vec::new();
    for Step { by: other, result } in steps_of(model, state, by.process) {
        if other != *by {
            continue;
        }
        let after = match result {
            Ok(after) => after,
            Err(fault) => {
                found.push((Vec::new(), Vec::new(), format!("{fault:?}")));
                continue;
            }
        };
        for cell in model.cells.ids().filter(|cell| !cells.contains(cell) && !counts(*cell)) {
            if after.cells[cell.index()] != state.cells[cell.index()] {
                return Err(format!("`{}` is written outside the footprint", model.cells[cell].name));
            }
        }
        let values = cells.iter().map(|cell| after.cells[cell.index()]).collect();
        let stacks = movers.iter().flat_map(|mover| &after.stacks[mover.index()]);
        let (controls, slots): (Vec<Control>, Vec<&[Value]>) =
            stacks.map(|frame| (frame.control, frame.slots.as_slice())).unzip();
        found.push((values, controls, format!("{slots:?}")));
    }
    found.sort();
    Ok(found)
}

#[test]
fn what_is_outside_a_footprint_neither_changes_nor_matters() {
    for_each_program(400, RandomFeatures::everything(), |_, model| {
        let Some(product) = Product::explore(model, 400) else { return Ok(()) };
        let mut choices = Choices::from_seed(product.states.len() as u64);
        for state in product.states.iter().step_by(1 + product.states.len() / 40) {
            for (step, touched) in touched_by(model, state) {
                let kept = footprint_of(model, state, &step.by);
                for touch in touched {
                    let allowed = if touch.writes { &kept.writes } else { &kept.reads };
                    let counts = matches!(model.vars[model.cells[touch.cell].var].role, Role::Counter(_));
                    if !allowed.contains(&touch.cell) && !counts {
                        return Err(format!("`{}` is touched outside", model.cells[touch.cell].name));
                    }
                }
                let movers: Vec<ProcessId> =
                    [step.by.process].into_iter().chain(step.by.partner.map(|(partner, _)| partner)).collect();
                let expected = effects(model, state, &step.by, &kept)?;
                for _ in 0..3 {
                    let scrambled = scramble(model, state, &kept, &movers, &mut choices);
                    if effects(model, &scrambled, &step.by, &kept)? != expected {
                        return Err(format!("{:?} depends on more than its footprint", step.by));
                    }
                }
            }
            guards_depend_on_their_reads(model, state, &mut choices)?;
        }
        Ok(())
    });
}

/// A false guard, too, must stay false when all but its reads change.
fn guards_depend_on_their_reads(model: &Model, state: &State, choices: &mut Choices) -> Result<(), String> {
    for process in model.processes.ids() {
        let actions: &[ActionId] = &model.places[state.place(process)].actions;
        for &action in actions {
            let Some(guard) = &model.actions[action].guard else { continue };
            let found = footprint(model, process, action, &counters_at(model, state, process));
            let kept = Footprint { reads: found.guard_reads.clone(), looks_at: found.looks_at, ..Footprint::default() };
            let scrambled = scramble(model, state, &kept, &[process], choices);
            let truth = |state: &State| evaluate(model, state, guard, Some(process));
            if truth(state) != truth(&scrambled) {
                return Err(format!("a guard of {process:?} depends on more than it reads"));
            }
        }
    }
    Ok(())
}
