//! The symmetry check: by hand on small texts, and on random programs by exchanging two processes.

use std::collections::HashSet;

use crate::common::{Bench, bench};
use model::Model;
use model::control::{StmtKind, TextOwner};
use model::eval::{State, steps};
use model::expr::{BinaryOp, Domain, Quantifier};
use model::process::{FamilyId, ProcessId};
use model::symmetry::{asymmetries, expr_asymmetries, process_dimensions};
use model::types::ScalarType;
use model::value::Value;
use model::variable::Init;
use model::view::{View, project};
use testkit::expr::*;
use testkit::permutation::permuted;
use testkit::text::*;
use testkit::{Product, RandomFeatures, for_each_program};

/// The reasons against exchanging `P[0]` and `P[1]`, without the bench's own (`turn` starts with a process).
fn check(make: impl FnOnce(&mut Bench) -> Vec<TextStatement>, expected: &[&str]) {
    let mut bench = bench();
    bench.draft.model.vars[bench.turn].init = Init::Any;
    let text = make(&mut bench);
    let p = bench.p;
    let model = bench.model(text);
    let reasons: Vec<String> = asymmetries(&model, p).iter().map(|reason| reason.why.describe(&model)).collect();
    assert_eq!(reasons, expected);
}

#[test]
fn processes_may_be_compared_stored_and_used_as_index() {
    check(|b| vec![assign(shared(b.turn), me()), wait(equal(read(shared(b.turn)), me()))], &[]);
    check(|b| vec![assign(element(shared(b.a), index_of(me())), int(1))], &[]);
    check(|b| vec![assign(element(shared(b.a), index_of(read(shared(b.turn)))), int(1))], &[]);
    check(|b| vec![assign(shared(b.y), read(of(b.level, read(shared(b.turn)))))], &[]);
    check(|b| vec![atomic(vec![stmt(StmtKind::Acquire(shared(b.m)))]), wait(equal(read(shared(b.m)), me()))], &[]);
    let others = |b: &Bench| {
        let body = equal(read(element(shared(b.a), index_of(bound(0)))), int(0));
        let filter = binary(BinaryOp::NotEqual, bound(0), me());
        filtered(Quantifier::Forall, vec![binding(0, Domain::Family(b.p))], Some(filter), body)
    };
    check(|b| vec![wait(others(b))], &[]);
    check(|b| vec![assign(element(shared(b.a), int(1)), int(1))], &[]);
}

#[test]
fn everything_else_is_a_reason() {
    let number = "the index of a process is used as a number";
    check(|b| vec![assign(shared(b.turn), to_process(b.p, int(0)))], &["a number is used as a process"]);
    let first = constant(Value::Process(ProcessId::new(0)));
    check(|_| vec![wait(equal(me(), first))], &["one particular process is named"]);
    check(|_| vec![wait(binary(BinaryOp::Less, index_of(me()), int(1)))], &[number]);
    check(|b| vec![assign(shared(b.x), index_of(me()))], &[number]);
    check(
        |b| {
            let mixed = assign(element(shared(b.a), index_of(me())), int(1));
            vec![mixed, assign(element(shared(b.a), int(0)), int(1))]
        },
        &["`a` is indexed by processes elsewhere, and by a number here"],
    );
    check(
        |b| {
            let domain = Domain::Family(b.p);
            let (id, _) = b.draft.counter(TextOwner::Family(b.p), "k", domain, ScalarType::Pid(b.p));
            vec![TextStatement::For(id, vec![skip()])]
        },
        &["a loop takes the processes in their order"],
    );
    check(
        |b| {
            let body = equal(read(of(b.level, read(shared(b.last)))), int(0));
            vec![wait(quantified(Quantifier::Exists, 0, Domain::Family(b.p), body))]
        },
        &["a quantifier stops at the first process that decides, and another could fail"],
    );
    check(
        |b| {
            b.draft.model.vars[b.a].init = Init::Elements(vec![Init::Fill(int(0)), Init::Fill(int(1))]);
            vec![assign(element(shared(b.a), index_of(me())), int(1))]
        },
        &["`a` does not start alike for all processes"],
    );
    check(
        |b| {
            b.draft.model.vars[b.turn].init = Init::First;
            vec![skip()]
        },
        &["`turn` does not start alike for all processes"],
    );
}

#[test]
fn properties_are_asked_about_on_their_own() {
    let b = bench();
    let (a, p) = (b.a, b.p);
    let model = b.model(vec![assign(element(shared(a), index_of(me())), int(1))]);
    let some = |index| equal(read(element(shared(a), index)), int(0));
    let all = quantified(Quantifier::Forall, 0, Domain::Family(p), some(index_of(bound(0))));
    assert_eq!(expr_asymmetries(&model, p, &all), []);
    assert_eq!(expr_asymmetries(&model, p, &some(int(0))).len(), 1);
}

/// The state in which two processes have changed their roles.
fn exchange(model: &Model, family: FamilyId, state: &State, (one, other): (ProcessId, ProcessId)) -> State {
    let dimensions = process_dimensions(model, family).into_iter().map(|dimension| (dimension, family)).collect();
    let swap = |id: ProcessId| match id {
        id if id == one => other,
        id if id == other => one,
        id => id,
    };
    permuted(model, &dimensions, swap, state)
}

#[test]
fn processes_of_a_symmetric_program_can_be_exchanged() {
    let symmetric = std::sync::Mutex::new(0);
    // Arrays in frames would have to be exchanged, too; they are left out here.
    for_each_program(1500, RandomFeatures { procedures: false, ..RandomFeatures::everything() }, |_, model| {
        for (family, members) in model.families.entries() {
            if members.count() < 2 || !asymmetries(model, family).is_empty() {
                continue;
            }
            let Some(product) = Product::explore(model, 150) else { continue };
            if product.states.len() > 3 {
                *symmetric.lock().map_err(|error| error.to_string())? += 1;
            }
            let known: HashSet<&State> = product.states.iter().collect();
            let members: Vec<ProcessId> = members.processes().collect();
            for pair in members.windows(2) {
                let other_side = |state: &State| exchange(model, family, state, (pair[0], pair[1]));
                for state in &product.states {
                    let mirror = other_side(state);
                    if !known.contains(&mirror) {
                        return Err("the exchanged state is not reachable".to_string());
                    }
                    let outcomes = |state: &State, map: &dyn Fn(&State) -> State| -> (HashSet<State>, usize) {
                        let steps = steps(model, state);
                        let n_faults = steps.iter().filter(|step| step.result.is_err()).count();
                        (steps.iter().filter_map(|step| step.result.as_ref().ok()).map(map).collect(), n_faults)
                    };
                    if outcomes(state, &other_side) != outcomes(&mirror, &State::clone) {
                        return Err("the exchanged state has other steps".to_string());
                    }
                }
            }
        }
        Ok(())
    });
    let symmetric = symmetric.into_inner().unwrap();
    assert!(symmetric > 30 || std::env::var("PIECEWISE_SEED").is_ok(), "only {symmetric} symmetric programs");
}

#[test]
fn views_show_what_they_name() {
    let b = bench();
    let (x, l) = (b.x, b.l);
    let model = b.model(vec![assign(shared(x), int(0)).label("here"), assign(mine(l), int(1))]);
    let product = Product::explore(&model, 1000).unwrap();
    let processes: Vec<ProcessId> = model.processes.ids().collect();
    let seen = |view: &View| {
        let chosen = view.processes().unwrap();
        product.states.iter().map(|state| project(&model, state, view, &chosen)).collect::<HashSet<_>>().len()
    };
    assert_eq!(product.states.len(), seen(&View::everything(&model)));
    // P[0] at its three places, x at 1 or 0 at the first of them.
    assert_eq!(seen(&View::mentioned(&model, &processes[..1])), 4);
    assert_eq!(View::mentioned(&model, &processes[..1]).cells.len(), 1);
    assert_eq!(seen(&View::split(&model, processes[1])), 4);
    let facts = vec![equal(read(mine(l)), int(1))];
    let family = model.processes[processes[0]].family;
    let blocks = View::mentioned(&model, &processes).with_facts(family, facts);
    assert_eq!(seen(&blocks), 5);
}

#[test]
fn views_of_a_family_show_ids_by_their_relation_to_the_members() {
    use model::types::{ScalarType, Type};
    use model::value::Value;
    use model::variable::Init;
    use model::view::CellContent;
    let mut draft = testkit::Draft::new();
    let p = draft.family("P", 3);
    let turn = draft.shared("turn", Type::Scalar(ScalarType::PidOrNone(p)), Init::Any);
    draft.text(p, vec![testkit::text::skip()]);
    let model = draft.finish();
    let cells = model.cells_of(turn, None).collect();
    let view = View::of_family(cells, p, 2);
    let of = |index: usize| ProcessId::new(index);
    assert!(view.admits(&model, &[of(2), of(0)]) && !view.admits(&model, &[of(1), of(1)]));
    assert_eq!((view.k(), view.processes()), (2, None));
    let shown: HashSet<CellContent> = model::eval::initial_states(&model)
        .map(|state| project(&model, &state, &view, &[of(2), of(0)]).cells[0])
        .collect();
    assert_eq!(
        shown,
        HashSet::from([
            CellContent::Value(Value::None),
            CellContent::Member(0),
            CellContent::Member(1),
            CellContent::Other
        ])
    );
}
