//! Views: proofs for every size, and proofs of one size by views finer than a process.
//!
//! In: programs of `examples/`, some of them wrong. Out: a table of what is proved, by how many states of views, and the processor time of the proof and
//! of its check together. A program that is wrong must not be proved, or the benchmark fails.

use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use base::{Budget, SourceFile};
use driver::checker::Checker;
use driver::methods;
use engine::methods::Method;
use engine::{Silent, Task, Verdict};
use evidence::{Evidence, Scope};

use super::clock::{ClockOwner, Stopwatch};
use super::{document, machine, neighbours};

/// A question about an example.
struct ViewsCase {
    name: &'static str,
    property: &'static str,
    parameters: &'static [(&'static str, i64)],
    is_wrong: bool,
}

const fn case(name: &'static str, property: &'static str, parameters: &'static [(&'static str, i64)]) -> ViewsCase {
    ViewsCase { name, property, parameters, is_wrong: false }
}

const fn wrong(name: &'static str, property: &'static str, parameters: &'static [(&'static str, i64)]) -> ViewsCase {
    ViewsCase { name, property, parameters, is_wrong: true }
}

const CASES: &[ViewsCase] = &[
    case("filter", "mutex", &[("N", 8)]),
    case("filter", "mutex", &[("N", 20)]),
    case("filter", "mutex", &[("N", 50)]),
    case("filter", "mutex", &[("N", 100)]),
    case("filter_scan", "mutex", &[("N", 8)]),
    case("filter_scan", "mutex", &[("N", 20)]),
    case("filter_scan", "mutex", &[("N", 100)]),
    wrong("filter_broken", "mutex", &[("N", 8)]),
    case("mux_sem", "mutex", &[("N", 3)]),
    case("szymanski", "mutex", &[("N", 3)]),
    case("szymanski_atomic", "mutex", &[("N", 3)]),
    wrong("szymanski_broken", "mutex", &[("N", 3)]),
    case("burns", "mutex", &[("N", 3)]),
    wrong("burns_broken", "mutex", &[("N", 3)]),
    case("mesi", "coherent", &[("N", 3)]),
    wrong("mesi_broken", "coherent", &[("N", 3)]),
    case("dijkstra", "mutex", &[("N", 3)]),
    case("flag_readers", "alone", &[("N", 3)]),
    wrong("flag_readers_broken", "alone", &[("N", 3)]),
    case("lamport_fast", "mutex", &[("N", 3)]),
    case("german", "coherent", &[("N", 3)]),
    wrong("german_broken", "coherent", &[("N", 3)]),
    case("german_data", "coherent", &[("N", 3)]),
    case("german_data", "current", &[("N", 3)]),
    wrong("german_data_broken", "current", &[("N", 3)]),
    case("adders", "total", &[("N", 100)]),
    wrong("adders_broken", "total", &[("N", 100)]),
    case("permits", "sum", &[("N", 100), ("K", 10)]),
    case("readers_writers", "exclusive", &[("R", 20), ("W", 20)]),
    wrong("readers_writers_broken", "exclusive", &[("R", 20), ("W", 20)]),
    case("bounded_buffer", "bounds", &[("Size", 5), ("Producers", 20), ("Consumers", 20)]),
    case("ticket_bounded", "mutex", &[("N", 3), ("M", 20)]),
    case("bakery_choosing", "mutex", &[("N", 3), ("M", 20)]),
    wrong("bakery_choosing_broken", "mutex", &[("N", 3), ("M", 5)]),
    case("mcs", "mutex", &[("N", 3)]),
    case("mux_sem", "deadlock_free", &[("N", 3)]),
    case("lamport_fast", "deadlock_free", &[("N", 3)]),
    case("burns", "deadlock_free", &[("N", 3)]),
    case("readers_writers", "deadlock_free", &[("R", 20), ("W", 20)]),
    wrong("mcs_broken", "deadlock_free", &[("N", 3)]),
];

/// A question has so much time.
const LIMIT: Duration = Duration::from_secs(30);

/// Runs the benchmark, prints its table, and writes it down if asked to.
pub fn run(root: &Path, writes: bool) -> ExitCode {
    document::finish(root, "views", measure_all(root), writes)
}

fn measure_all(root: &Path) -> Result<String, String> {
    let mut out = String::from("## Views of interchangeable processes\n\n");
    let _ = writeln!(
        out,
        "`cargo xtask bench views --write`, on {}; processor time of one thread, of the proof and its check together, at most {} s. Where the proof is \
         about every N, sizes below its own are not in the time. The twins that are wrong are not proved.\n",
        machine::describe(),
        LIMIT.as_secs()
    );
    out.push_str("| | | proved | states of views | seconds |\n|---|---|---|--:|--:|\n");
    for case in CASES {
        eprintln!("bench: {} {:?}", case.name, case.parameters);
        let _ = writeln!(out, "{}", measure(root, case)?);
    }
    out += &neighbours::table(root)?;
    Ok(out)
}

fn measure(root: &Path, case: &ViewsCase) -> Result<String, String> {
    let path = format!("examples/{}.pw", case.name);
    let text = std::fs::read_to_string(root.join(&path)).map_err(|error| format!("{path}: {error}"))?;
    let given: Vec<(String, i64)> = case.parameters.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    let loaded = lang::load(&SourceFile::new(&path, &text), &given);
    let model = loaded.map_err(|wrong| format!("{path}: {}", wrong[0].message))?.model;
    let property = model.properties.entries().find(|(_, one)| one.name == case.property).map(|(id, _)| id);
    let property = property.ok_or_else(|| format!("{path} has no `{}`", case.property))?;
    let budget = Budget::new(Some(LIMIT), None, Default::default());
    let task = Task { model: &model, properties: vec![property], budget, n_threads: 1 };
    let checker: Box<dyn Checker> = methods::checker(Method::Views);
    let watch = Stopwatch::start(ClockOwner::Ours);
    let results = checker.check(&task, &Silent).map_err(|mistake| mistake.to_string())?;
    let seconds = watch.stop(ClockOwner::Ours).0;
    let result = results.first().ok_or("there is no answer")?;
    let scope = match &result.verdict {
        Verdict::Holds(Evidence::Certificate(proof)) => match &proof.scope {
            Scope::Instance => "this N".to_owned(),
            scope => scope.to_string(),
        },
        Verdict::Unknown(_) => "no".to_owned(),
        _ => return Err(format!("{path}: views answered what they do not")),
    };
    if case.is_wrong && scope != "no" {
        return Err(format!("{path} is wrong, and was proved"));
    }
    let states = result.statistics.local_states.iter().flatten().flatten().sum::<u64>();
    let states = if states == 0 { String::new() } else { states.to_string() };
    let size: Vec<String> = case.parameters.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    let note = if case.is_wrong { " (wrong)" } else { "" };
    let (name, property, size) = (case.name, case.property, size.join(", "));
    Ok(format!("| {name}.{property}{note} | {size} | {scope} | {states} | {seconds:.2} |"))
}
