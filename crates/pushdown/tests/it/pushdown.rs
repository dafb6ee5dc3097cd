//! Path edges on random programs with procedures: above every reachable state, equal to brute force with whole stacks where these are
//! finite, equal to the local sets of `tmmc` where nobody calls; what is proved is true and passes the independent checker, which refuses
//! every proof with a part missing; what is violated is a run.

use std::cell::Cell;
use std::collections::{BTreeSet, HashSet, VecDeque};

use base::{Budget, SourceFile, Span};
use engine::{Answer, Engine, Silent, Task, Verdict};
use evidence::certificate::Claim;
use evidence::pushdown::{PushdownProof, ThreadProof};
use evidence::{Certificate, Evidence};
use local::ExplicitKIndex;
use model::Model;
use model::control::{ActionKind, TextOwner};
use model::eval::{self, Frame, State};
use model::expr::BinaryOp;
use model::fairness::Assumptions;
use model::process::ProcessId;
use model::property::{Expected, Property, PropertyKind};
use model::types::ScalarType;
use model::value::Value;
use model::variable::{CellId, Role, Storage};
use pushdown::Pushdown;
use testkit::choices::Choices;
use testkit::expr::{binary, constant, not, standing};
use testkit::{Beyond, RandomFeatures, for_each_program};

const STACKS: RandomFeatures = RandomFeatures {
    procedures: true,
    rendezvous: false,
    any_initial: true,
    faults: true,
    n_statements: 4,
    beyond: Beyond::NOTHING,
};

fn program(text: &str, parameters: &[(&str, i64)]) -> Model {
    let given: Vec<(String, i64)> = parameters.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    lang::load(&SourceFile::new("p.pw", text), &given).unwrap_or_else(|wrong| panic!("{wrong:?}")).model
}

fn example(name: &str, parameters: &[(&str, i64)]) -> Model {
    let path = format!("{}/../../examples/{name}.pw", env!("CARGO_MANIFEST_DIR"));
    program(&std::fs::read_to_string(path).unwrap(), parameters)
}

fn answers(engine: &dyn Engine, model: &Model) -> Vec<Answer> {
    answers_within(engine, model, 30)
}

fn answers_within(engine: &dyn Engine, model: &Model, seconds: u64) -> Vec<Answer> {
    let asked = model.properties.ids().filter(|&id| engine.supports(model, id).is_ok());
    let budget = Budget::unlimited().slice(std::time::Duration::from_secs(seconds));
    let task = Task { model, properties: asked.collect(), budget, n_threads: 1 };
    if task.properties.is_empty() { Vec::new() } else { engine.run(&task, &Silent).unwrap() }
}

fn certificate(answer: &Answer) -> Option<&Certificate> {
    match &answer.verdict {
        Verdict::Holds(Evidence::Certificate(found)) | Verdict::Violated(Evidence::Certificate(found)) => Some(found),
        _ => None,
    }
}

fn proof(answer: &Answer) -> Option<&PushdownProof> {
    certificate(answer)?.pushdown()
}

/// A local state in values: the cells that the process sees, and its top frame.
type Seen = (Vec<Value>, Frame);

fn seen(model: &Model, process: ProcessId, cells: &[CellId], state: &State) -> Seen {
    let top = state.top(process).clone();
    let in_own_text = state.stacks[process.index()].len() == 1;
    let value = |&cell: &CellId| {
        let declared = &model.cells[cell];
        let waits = !in_own_text && declared.owner == Some(process) && is_counter(model, cell);
        match waits {
            true => declared.ty.first_value(model.type_context()).unwrap(),
            false => state.cells[cell.index()],
        }
    };
    (cells.iter().map(value).collect(), top)
}

fn is_counter(model: &Model, cell: CellId) -> bool {
    matches!(model.vars[model.cells[cell].var].role, Role::Counter(_))
}

fn listed(model: &Model, thread: &ThreadProof) -> BTreeSet<Seen> {
    let row = |row: &evidence::pushdown::LocalRow| {
        let value = |(&cell, &number): (&CellId, &u32)| {
            model.cells[cell].ty.values(model.type_context()).nth(number as usize).unwrap()
        };
        (thread.cells.iter().zip(&row.cells).map(value).collect(), thread.tops[row.top as usize].clone())
    };
    thread.states.iter().map(row).collect()
}

/// Programs that can start in more states are not compared.
const MOST_STARTS: u128 = 5000;

/// Thread-modular sets with whole stacks, by definition; `None` where they do not end soon.
fn by_definition(model: &Model, threads: &[ThreadProof]) -> Option<Vec<BTreeSet<Seen>>> {
    // A local state here: the cells that the process sees, and its whole stack.
    type Whole = (Vec<Value>, Vec<Frame>);
    let project = |process: ProcessId, state: &State| -> Whole {
        let cells = &threads[process.index()].cells;
        (cells.iter().map(|cell| state.cells[cell.index()]).collect(), state.stacks[process.index()].clone())
    };
    if eval::n_initial_states(model) > MOST_STARTS {
        return None;
    }
    let mut blank = eval::initial_states(model).next()?;
    for process in model.processes.ids() {
        let end = model.families[model.processes[process].family].end;
        blank.stacks[process.index()] = vec![Frame { control: eval::Control::At(end), slots: Vec::new() }];
    }
    let everybody: Vec<ProcessId> = model.processes.ids().collect();
    let mut known: Vec<HashSet<Whole>> = vec![HashSet::new(); everybody.len()];
    for state in eval::initial_states(model) {
        for &process in &everybody {
            known[process.index()].insert(project(process, &state));
        }
    }
    loop {
        let before: usize = known.iter().map(HashSet::len).sum();
        if before > 400 {
            return None;
        }
        // By process: how its steps change the cells that it sees.
        let mut changes: Vec<HashSet<(Vec<Value>, Vec<Value>)>> = Vec::new();
        for &process in &everybody {
            let cells = &threads[process.index()].cells;
            let mut mine = HashSet::new();
            for (values, stack) in known[process.index()].clone() {
                let mut state = blank.clone();
                cells.iter().zip(&values).for_each(|(cell, &value)| state.cells[cell.index()] = value);
                state.stacks[process.index()] = stack;
                for step in eval::steps_of(model, &state, process) {
                    if let Ok(next) = step.result {
                        let after = project(process, &next);
                        mine.insert((values.clone(), after.0.clone()));
                        known[process.index()].insert(after);
                    }
                }
            }
            changes.push(mine);
        }
        for &process in &everybody {
            let cells = &threads[process.index()].cells;
            for &other in everybody.iter().filter(|&&other| other != process) {
                let theirs = &threads[other.index()].cells;
                let common: Vec<(usize, usize)> = (cells.iter().enumerate())
                    .filter_map(|(at, cell)| Some((at, theirs.iter().position(|their| their == cell)?)))
                    .collect();
                let moves: HashSet<(Vec<Value>, Vec<Value>)> = (changes[other.index()].iter())
                    .map(|(old, new)| {
                        let part = |row: &Vec<Value>| common.iter().map(|&(_, at)| row[at]).collect::<Vec<_>>();
                        (part(old), part(new))
                    })
                    .filter(|(old, new)| old != new)
                    .collect();
                for (values, stack) in known[process.index()].clone() {
                    let part: Vec<Value> = common.iter().map(|&(at, _)| values[at]).collect();
                    for (_, new) in moves.iter().filter(|(old, _)| *old == part) {
                        let mut values = values.clone();
                        common.iter().zip(new).for_each(|(&(at, _), &value)| values[at] = value);
                        known[process.index()].insert((values, stack.clone()));
                    }
                }
            }
        }
        if known.iter().map(HashSet::len).sum::<usize>() == before {
            break;
        }
    }
    let whole = |(process, set): (&ProcessId, &HashSet<Whole>)| {
        let cells = &threads[process.index()].cells;
        let one = |(values, stack): &Whole| {
            let mut state = blank.clone();
            cells.iter().zip(values).for_each(|(cell, &value)| state.cells[cell.index()] = value);
            state.stacks[process.index()] = stack.clone();
            seen(model, *process, cells, &state)
        };
        set.iter().map(one).collect()
    };
    Some(everybody.iter().zip(&known).map(whole).collect())
}

/// Reachable states in breadth-first order, a few.
fn some_states(model: &Model, most: usize) -> Vec<State> {
    let mut found: Vec<State> = Vec::new();
    let mut known: HashSet<State> = HashSet::new();
    let mut open: VecDeque<State> = eval::initial_states(model).take(200).collect();
    while let Some(state) = open.pop_front() {
        if found.len() >= most || !known.insert(state.clone()) {
            continue;
        }
        open.extend(eval::steps(model, &state).into_iter().filter_map(|step| step.result.ok()));
        found.push(state);
    }
    found
}

/// Whether a state, or a step from it, decides a property the other way than a proof says.
fn contradicts(model: &Model, property: &PropertyKind, state: &State) -> bool {
    match property {
        PropertyKind::Invariant(expr) => eval::evaluate(model, state, expr, None) == Ok(Value::Bool(false)),
        PropertyKind::Reachable(expr) => eval::evaluate(model, state, expr, None) == Ok(Value::Bool(true)),
        PropertyKind::NoErrors => eval::steps(model, state).iter().any(|step| step.result.is_err()),
        PropertyKind::DeadlockFree => eval::is_deadlock(model, state),
        PropertyKind::RaceFree(var) => eval::race(model, state, *var).is_some(),
        PropertyKind::Temporal(_) => false,
    }
}

/// Checks all answers about a program; how many were proofs, runs and open.
fn check_answers(model: &Model, most_states: usize) -> [usize; 3] {
    check_these(model, most_states, answers(&Pushdown::default(), model))
}

fn check_these(model: &Model, most_states: usize, answered: Vec<Answer>) -> [usize; 3] {
    let mut counts = [0; 3];
    let states = some_states(model, most_states);
    for answer in answered {
        let property = &model.properties[answer.property];
        match &answer.verdict {
            Verdict::Unknown(_) => counts[2] += 1,
            Verdict::Holds(Evidence::Trace(trace)) | Verdict::Violated(Evidence::Trace(trace)) => {
                counts[1] += 1;
                audit::replay(model, answer.property, trace)
                    .unwrap_or_else(|error| panic!("{}: {error}", property.name));
            }
            _ => {
                counts[0] += 1;
                let found = certificate(&answer).expect("a proof");
                let checked = audit::certificate::check(model, property, found, &Budget::unlimited());
                checked.unwrap_or_else(|error| panic!("{}: {error}", property.name));
                let wrong = states.iter().find(|state| contradicts(model, &property.kind, state));
                assert!(wrong.is_none(), "{} is proved and false in {wrong:?}", property.name);
                let threads = &found.pushdown().expect("path edges").threads;
                for (process, thread) in model.processes.ids().zip(threads) {
                    let all = listed(model, thread);
                    let missing = states
                        .iter()
                        .map(|state| seen(model, process, &thread.cells, state))
                        .find(|one| !all.contains(one));
                    assert!(missing.is_none(), "{missing:?} is reachable");
                }
            }
        }
    }
    counts
}

/// Asks a random program about places of two processes, about errors, deadlocks and races.
fn with_questions(model: &Model, choices: &mut Choices) -> Model {
    let mut model = model.clone();
    let mut at = || {
        let process = ProcessId::new(choices.below(model.processes.len()));
        let own = TextOwner::Family(model.processes[process].family);
        let is_mine = |scope: TextOwner| scope == own || matches!(scope, TextOwner::Procedure(_));
        let places: Vec<_> = model.places.ids().filter(|&place| is_mine(model.places[place].scope)).collect();
        standing(constant(Value::Process(process)), vec![*choices.pick(&places)], &["l"])
    };
    let both = binary(BinaryOp::And, at(), at());
    let one = at();
    let shared = model.vars.entries().find(|(_, var)| var.storage == Storage::Shared && !is_lock(var.ty.scalar()));
    let race = shared.map(|(id, _)| PropertyKind::RaceFree(id));
    let mut add = |name: &str, kind: PropertyKind| {
        let (under, expected) = (Assumptions::none(), Expected::Holds);
        let (text, doc, span) = (String::new(), String::new(), Span::default());
        model.properties.push(Property { name: name.to_string(), kind, under, expected, text, doc, span });
    };
    add("apart", PropertyKind::Invariant(not(both)));
    add("there", PropertyKind::Reachable(one));
    add("no_errors", PropertyKind::NoErrors);
    add("deadlock_free", PropertyKind::DeadlockFree);
    race.into_iter().for_each(|race| add("race_free", race));
    model
}

fn is_lock(ty: ScalarType) -> bool {
    matches!(ty, ScalarType::Lock | ScalarType::Semaphore { .. })
}

#[test]
fn random_programs_with_procedures_are_answered_truly() {
    let (counts, n_equal) = (Cell::new([0; 3]), Cell::new(0));
    for_each_program(150, STACKS, |_, model| {
        let model = &with_questions(model, &mut Choices::from_seed(model.actions.len() as u64));
        if Pushdown::default().supports(model, model.properties.ids().next().expect("there is a question")).is_err() {
            return Ok(());
        }
        let answered = answers_within(&Pushdown::default(), model, 1);
        let more = check_these(model, 200, answered.clone());
        counts.set([0, 1, 2].map(|at| counts.get()[at] + more[at]));
        let Some(found) = answered.iter().find_map(proof).filter(|found| found.exposed.is_empty()) else {
            return Ok(());
        };
        if let Some(sets) = by_definition(model, &found.threads) {
            let listed: Vec<BTreeSet<Seen>> = found.threads.iter().map(|thread| listed(model, thread)).collect();
            assert_eq!(listed, sets);
            n_equal.set(n_equal.get() + 1);
        }
        Ok(())
    });
    let (counts, n_equal) = (counts.get(), n_equal.get());
    println!("proofs, runs, open: {counts:?}; compared: {n_equal}");
    assert!(counts[0] > 0, "proofs, runs, open: {counts:?}; compared: {n_equal}");
}

/// Without calls path edges are the sets of `tmmc`.
#[test]
fn without_calls_there_are_the_sets_of_tmmc() {
    let n_compared = Cell::new(0);
    for_each_program(30, RandomFeatures { procedures: false, ..STACKS }, |_, model| {
        let model = &with_questions(model, &mut Choices::from_seed(1));
        let calls = model.actions.iter().any(|action| matches!(action.kind, ActionKind::Call { .. }));
        if calls || ExplicitKIndex::new(1).supports(model, model.properties.ids().next().expect("a question")).is_err()
        {
            return Ok(());
        }
        let sizes = |engine: &dyn Engine| {
            let answered = answers(engine, model);
            let first = answered.iter().filter(|answer| answer.statistics.refinements.is_none_or(|n| n == 0));
            { first }.find_map(|answer| answer.statistics.local_states.clone())
        };
        if let (Some(ours), Some(theirs)) = (sizes(&Pushdown::default()), sizes(&ExplicitKIndex::new(1))) {
            // Where processes are alike, `tmmc` lists one of them.
            let distinct = |list: Vec<Option<u64>>| list.into_iter().flatten().collect::<BTreeSet<u64>>();
            assert_eq!(distinct(ours), distinct(theirs));
            n_compared.set(n_compared.get() + 1);
        }
        Ok(())
    });
    assert!(n_compared.get() > 8, "{}", n_compared.get());
}

/// The numbers of the paper's section 1.1, and their growth.
#[test]
fn simple_has_ten_and_fourteen_local_states_and_grows_linearly() {
    for n in [2, 3, 10, 60] {
        let model = example("simple", &[("N", n)]);
        let answered = answers(&Pushdown::default(), &model);
        assert!(answered.iter().all(|answer| matches!(answer.verdict, Verdict::Holds(_))), "N = {n}");
        let expected = vec![Some(4 * n as u64 + 2); n as usize];
        assert_eq!(answered[0].statistics.local_states, Some(expected), "N = {n}");
        let found = proof(&answered[0]).expect("a proof");
        assert_eq!(found.n_path_edges(), (n * (4 * n + 2)) as usize);
        // Four changes each: take, clear, bump, give back.
        assert!(found.threads.iter().all(|thread| thread.guarantee.len() == 4));
    }
}

/// A stack without bound, and still a proof.
#[test]
fn recursion_without_end_is_proved() {
    let text = "program p {
        shared m: lock; shared x: 0..=2;
        proc walk(d: bool) -> 0..=1 {
            local r: 0..=1;
            if * { r = call walk(!d); } else { skip; }
            in_: acquire m;
            x = x + 1; x = x - 1;
            out: release m;
            return if d then 1 else 0;
        }
        process P[i in 0..<2] { local got: 0..=1; got = call walk(false); assert got == 0; }
        invariant small: x <= 1;
        race_free x;
        reachable never: x == 2;
        reachable deep: x == 1;
    }";
    let model = program(text, &[]);
    let verdicts: Vec<(String, bool)> = answers(&Pushdown::default(), &model)
        .iter()
        .map(|answer| (model.properties[answer.property].name.clone(), matches!(answer.verdict, Verdict::Holds(_))))
        .collect();
    let holds: Vec<&str> = verdicts.iter().filter(|(_, holds)| *holds).map(|(name, _)| name.as_str()).collect();
    assert_eq!(holds, ["no_errors", "deadlock_free", "small", "race_free x", "deep"]);
    assert!(check_answers(&model, 3000)[2] == 0);
}

/// What is refined: a lock that does not know its owner.
#[test]
fn facts_are_exposed_where_the_store_says_too_little() {
    let text = "program p {
        shared x: sem = 1;
        proc inside() { crit: skip; if * { call inside(); } }
        process P[i in 0..<2] { loop { trying: acquire x; call inside(); leave: release x; } }
        invariant mutex: forall i != j: !(P[i]@crit && P[j]@crit);
    }";
    let model = program(text, &[]);
    let answered = answers(&Pushdown::default(), &model);
    let mutex = answered.iter().find(|answer| model.properties[answer.property].name == "mutex").unwrap();
    let found = proof(mutex).unwrap_or_else(|| panic!("{:?}", mutex.verdict));
    assert!(!found.exposed.is_empty());
    assert!(mutex.statistics.refinements.is_some_and(|n| n > 0));
    assert_eq!(check_answers(&model, 2000)[2], 0);
}

/// A return that looks at the frame that it drops is followed from every local state, one that does not from one of those that differ in it alone.
#[test]
fn returns_lead_to_all_that_their_frames_say() {
    let text = |result: &str| {
        format!(
            "program p {{
                shared seen: 0..=3;
                proc pick() -> 0..=3 {{ local l: 0..=3; l = any; return {result}; }}
                process P {{ local got: 0..=3; got = call pick(); seen = got; }}
                invariant low: seen < 3;
            }}"
        )
    };
    for (result, is_low) in [("l", false), ("if l > 2 then 3 else 0", false), ("2", true), ("seen", true)] {
        let model = program(&text(result), &[]);
        let answered = answers(&Pushdown::default(), &model);
        let low = answered.iter().find(|answer| model.properties[answer.property].name == "low").unwrap();
        assert_eq!(matches!(low.verdict, Verdict::Holds(_)), is_low, "{result}: {:?}", low.verdict);
        assert_eq!(matches!(low.verdict, Verdict::Violated(_)), !is_low, "{result}: {:?}", low.verdict);
    }
}

/// Every path edge, caller and guarantee of a least proof is needed.
#[test]
fn a_proof_with_anything_missing_is_refused() {
    let mut n_changed = 0;
    for (name, parameters) in
        [("simple", vec![("N", 2)]), ("recursive_lock", vec![("N", 2), ("Depth", 2)]), ("parity", vec![])]
    {
        let model = example(name, &parameters);
        let answered = answers(&Pushdown::default(), &model);
        let answer = answered.iter().find(|answer| proof(answer).is_some()).expect("something is proved");
        let property = &model.properties[answer.property];
        let whole = certificate(answer).expect("a proof");
        let accepted =
            |changed: &Certificate| audit::certificate::check(&model, property, changed, &Budget::unlimited()).is_ok();
        assert!(accepted(whole));
        let mut try_without = |remove: &dyn Fn(&mut PushdownProof) -> bool| {
            let mut changed = whole.clone();
            let Claim::Pushdown(found) = &mut changed.facts[0].claim else { panic!("path edges") };
            if remove(found) {
                n_changed += 1;
                assert!(!accepted(&changed), "{name}: {changed:?}");
            }
        };
        let threads = proof(answer).expect("a proof").threads.len();
        for thread in 0..threads {
            let of = &proof(answer).expect("a proof").threads[thread];
            let step = 1 + of.states.len() / 60;
            for (at, activation) in of.activations.iter().enumerate() {
                for state in (0..activation.states.len()).step_by(step) {
                    try_without(&|found| {
                        found.threads[thread].activations[at].states.remove(state);
                        true
                    });
                }
                for caller in 0..activation.callers.len() {
                    try_without(&|found| {
                        found.threads[thread].activations[at].callers.remove(caller);
                        true
                    });
                }
            }
            for change in 0..of.guarantee.len() {
                try_without(&|found| {
                    found.threads[thread].guarantee.remove(change);
                    true
                });
            }
        }
    }
    assert!(n_changed > 200, "{n_changed}");
}

/// A proof of something true is no proof of something false.
#[test]
fn a_proof_under_another_name_is_refused() {
    let text = "program p { shared x: 0..=3; proc f(n: 0..=3) { if n > 0 { x = n; call f(n - 1); } }
        process P { call f(3); } process Q { await x == 2; seen: skip; }
        invariant fine: x <= 3; invariant wrong: !Q@seen; reachable two: x == 2; }";
    let model = program(text, &[]);
    let answered = answers(&Pushdown::default(), &model);
    let named = |name: &str| model.properties.entries().find(|(_, property)| property.name == name).unwrap().0;
    let fine = answered.iter().find(|answer| answer.property == named("fine")).unwrap();
    let found = certificate(fine).expect("a proof");
    for name in ["wrong", "two"] {
        let property = &model.properties[named(name)];
        let renamed = Certificate { property: name.to_owned(), ..found.clone() };
        assert!(audit::certificate::check(&model, property, &renamed, &Budget::unlimited()).is_err(), "{name}");
    }
}

/// What is written and read again is the same proof.
#[test]
fn proof_files_keep_everything() {
    let model = example("recursive_lock", &[("N", 2), ("Depth", 2)]);
    for answer in answers(&Pushdown::default(), &model) {
        if let Some(found) = certificate(&answer) {
            let text = evidence::proof_file::to_text(&model, found, "pushdown");
            assert_eq!(evidence::proof_file::read(text.as_bytes(), &model).as_ref(), Ok(found));
        }
    }
}
