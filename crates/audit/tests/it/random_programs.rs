//! On random programs: every run that brute force finds is accepted, completed where moves are left out, read back from its
//! file, and refused once a value in it is changed; every count agrees with brute force.

use audit::{Recounted, complete, recount, replay};
use base::SourceFile;
use evidence::itf::{MoveHint, from_itf, read, to_itf, to_text};
use evidence::{Exploration, Trace, TraceEnd};
use model::Model;
use model::property::PropertyKind;
use testkit::expr::truth;
use testkit::samples::add_property;
use testkit::{Product, RandomFeatures, for_each_program};

const LIMIT: usize = 400;

fn ensure(holds: bool, what: impl Fn() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what()) }
}

/// The program with the questions of this test, and its product where that is small.
fn with_questions(model: &Model) -> Option<(Model, Product)> {
    let mut model = model.clone();
    add_property(&mut model, "reached", PropertyKind::Reachable(truth(true)));
    add_property(&mut model, "no_errors", PropertyKind::NoErrors);
    add_property(&mut model, "deadlock_free", PropertyKind::DeadlockFree);
    let product = Product::explore(&model, LIMIT)?;
    Some((model, product))
}

/// A trace to a state, with the property that its end decides.
fn traces(product: &Product) -> Vec<(usize, Trace)> {
    let to = |at: usize, end: TraceEnd| {
        let (states, moves) = product.run_to(at);
        Trace::finite(states, moves, end)
    };
    let last = product.states.len() - 1;
    let mut traces = vec![(0, to(last, TraceEnd::State)), (0, to(last / 2, TraceEnd::State))];
    traces.extend(product.deadlocks.first().map(|&at| (2, to(at, TraceEnd::Deadlock))));
    let faulty = product.faults.iter().position(|faults| !faults.is_empty());
    traces.extend(faulty.map(|at| {
        let (by, fault) = product.faults[at][0].clone();
        (1, to(at, TraceEnd::Fault { by, fault }))
    }));
    traces
}

#[test]
fn runs_are_accepted_and_read_back_and_changed_ones_refused() {
    let source = SourceFile::new("random.pw", "");
    for_each_program(150, RandomFeatures::everything(), |_, model| {
        let Some((model, product)) = with_questions(model) else { return Ok(()) };
        for (nth, trace) in traces(&product) {
            let property = model.properties.ids().nth(nth).expect("there are three");
            replay(&model, property, &trace).map_err(|error| format!("a run was refused: {error}"))?;
            let document = to_itf(&model, &source, "reached", &trace);
            let back = from_itf(&to_text(&document), &model).map_err(|error| error.to_string())?;
            ensure(back.1 == trace, || "the trace does not read back as it was written".to_owned())?;
            let mut open = read(&to_text(&document), &model).map_err(|error| error.to_string())?;
            open.moves.iter_mut().for_each(|hint| *hint = MoveHint::Any);
            let found = complete(&model, property, &open).map_err(|error| error.to_string())?;
            replay(&model, property, &found).map_err(|error| format!("a completed run was refused: {error}"))?;
            changed_values_are_refused(&model, &product, property, &trace)?;
        }
        Ok(())
    });
}

fn changed_values_are_refused(
    model: &Model,
    product: &Product,
    property: base::Id<model::property::Property>,
    trace: &Trace,
) -> Result<(), String> {
    let index = |state: &model::eval::State| product.states.iter().position(|known| known == state);
    for position in 0..trace.states.len() {
        for (id, cell) in model.cells.entries() {
            let mut mutant = trace.clone();
            let content = &mut mutant.states[position].cells[id.index()];
            let Some(other) = cell.ty.values(model.type_context()).take(3).find(|value| value != content) else {
                continue;
            };
            *content = other;
            if replay(model, property, &mutant).is_err() {
                continue;
            }
            let path: Option<Vec<usize>> = mutant.states.iter().map(index).collect();
            let path = path.ok_or("an unreachable state was accepted")?;
            let joined = path.windows(2).all(|pair| product.edges[pair[0]].iter().any(|edge| edge.1 == pair[1]));
            ensure(joined && product.depths[path[0]] == 0, || "a run that is none was accepted".to_owned())?;
        }
    }
    Ok(())
}

#[test]
fn counts_agree_with_brute_force() {
    for_each_program(150, RandomFeatures::everything(), |_, model| {
        let Some((mut model, product)) = with_questions(model) else { return Ok(()) };
        let always = add_property(&mut model, "always", PropertyKind::Invariant(truth(true)));
        let seen = Exploration {
            states: product.states.len() as u64,
            transitions: product.n_transitions() as u64,
            deadlocks: product.deadlocks.len() as u64,
            errors: product.n_faults() as u64,
            depth: product.depth() as u64,
            complete: true,
        };
        let agrees = recount(&model, always, &seen, LIMIT).map_err(|error| error.to_string())?;
        ensure(agrees == Recounted::Agrees, || "too large".to_owned())?;
        for (nth, number) in [(1, seen.errors), (2, seen.deadlocks)] {
            let property = model.properties.ids().nth(nth).expect("there are three");
            let holds = recount(&model, property, &seen, LIMIT).is_ok();
            ensure(holds == (number == 0), || format!("property {nth} is decided wrongly"))?;
        }
        Ok(())
    });
}

/// Marsaglia's xorshift: the same damage on every machine.
struct Damage(u64);

impl Damage {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n.max(1) as u64) as usize
    }

    /// A few bytes changed, cut out, or repeated.
    fn of(&mut self, text: &str) -> String {
        let mut bytes = text.as_bytes().to_vec();
        for _ in 0..=self.below(3) {
            let (at, other) = (self.below(bytes.len()), self.below(bytes.len()));
            match self.below(4) {
                0 => bytes[at] = b"0123456789\"[]{},:-tfn#"[self.below(22)],
                1 => drop(bytes.drain(at..(at + 1 + self.below(30)).min(bytes.len()))),
                2 => bytes.insert(at, bytes[other]),
                _ => bytes.swap(at, other),
            }
            if bytes.is_empty() {
                bytes.push(b'{');
            }
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

#[test]
fn damaged_files_are_refused_in_words_or_replayed() {
    let model = testkit::samples::everything();
    let product = Product::explore(&model, 5000).expect("the sample is small");
    let source = SourceFile::new("everything.pw", "");
    let mut damage = Damage(0x9e37_79b9_7f4a_7c15);
    let (mut n_read, mut n_true) = (0, 0);
    let ends: [(usize, TraceEnd); 2] = [(1, TraceEnd::State), (4, TraceEnd::Deadlock)];
    for (nth, end) in ends {
        let property = model.properties.ids().nth(nth).expect("there are five");
        let at = *product.deadlocks.last().expect("there is a deadlock");
        let (states, moves) = product.run_to(at);
        let text = to_text(&to_itf(&model, &source, "high", &Trace::finite(states, moves, end)));
        for _ in 0..1500 {
            let Ok(damaged) = read(&damage.of(&text), &model) else { continue };
            n_read += 1;
            if let Ok(trace) = complete(&model, property, &damaged) {
                n_true += usize::from(replay(&model, property, &trace).is_ok());
            }
        }
    }
    assert!(n_read > 50 && n_true > 0, "{n_read} of 3000 damaged files were read, {n_true} are still right");
}
