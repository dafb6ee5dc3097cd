//! `sim`: one run of a program, chosen at random from a seed or by a person.
//!
//! The exit status is that of a check: 1 where the run shows a verdict that is not the expected one, 3 where `--until` was
//! asked for and no run decided the property.

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base::{Budget, StopReason};
use driver::check::{Checked, Program};
use driver::files;
use driver::simulation::{self, Ending, Simulation};
use engine::PropertyId;
use evidence::{Trace, itf};
use explain::Explained;
use model::Model;
use model::property::PropertyKind;
use report::human::{self, Context};
use report::numbers::counted;
use report::{Page, Style, replay, sim};

use crate::command::stepper::{self, Session};
use crate::failure::Failure;
use crate::files::Target;
use crate::options::{DisplayOptions, SimOptions};
use crate::status::ExitStatus;
use crate::{instance, limits, terminal};

/// Seeds from the clock stay small enough to be typed.
const CLOCK_SEEDS: u128 = 1_000_000;

/// Simulates.
pub fn run(options: &SimOptions, display: &DisplayOptions) -> Result<ExitStatus, Failure> {
    let (budget, _guard) = limits::of_call(options.limits);
    let request = instance::request(&options.instance)?.with_goals(&options.goal.goals);
    let mut given = instance::single(&request)?;
    if let Some(path) = &options.from {
        // The parameters come from the run, where the call does not give them.
        let text = String::from_utf8_lossy(&files::read(path)?).into_owned();
        for (parameter, value) in itf::parameters(&text).map_err(|error| format!("{}: {error}", path.display()))? {
            if !given.iter().any(|(name, _)| *name == parameter) {
                given.push((parameter, value));
            }
        }
    }
    let program = instance::load(&options.file, &given, &request, display)?;
    let kept = options.trace.as_deref().map(|path| kept_at(path, &program)).transpose()?;
    let begun = options.from.as_deref().map(|path| begin(path, &program.model)).transpose()?;
    if options.interactive {
        return stepper::run(&program, Session { begun, seed: seed(options), kept }, display);
    }
    let style = terminal::style_for_stdout(display);
    let walk = match &options.until {
        None => {
            let watched = simulation::watched_by_default(&program.model);
            let seed = seed(options);
            match begun {
                None => Walk::random(&program, &watched, seed, options.steps),
                Some(begun) => {
                    let n_before = begun.n_steps();
                    let (trace, ending) = simulation::random_run_from(begun, &watched, seed, options.steps);
                    Walk { seed, n_before, trace, ending }
                }
            }
        }
        Some(name) => match until(&program, name, (options, &budget))? {
            Tried::Decided(walk) => walk,
            Tried::Open { n_runs, stopped } => {
                let runs = counted(n_runs as u64, "run", "runs");
                let steps = counted(options.steps as u64, "step", "steps");
                let why = stopped.map_or(String::new(), |reason| format!("; {reason}"));
                terminal::print(&format!("{runs} of at most {steps} did not decide {name}{why}\n"))?;
                return Ok(ExitStatus::Undecided);
            }
        },
    };
    if let Some(target) = &kept {
        target.write(&itf_text(&program, &walk.trace, &walk.ending))?;
    }
    let (text, status) = show(program, walk, &style)?;
    terminal::print(&text)?;
    Ok(status)
}

/// The file that a run is written to: in a directory it is named after the program.
fn kept_at(path: &Path, program: &Program) -> Result<Target, Failure> {
    let stem = Path::new(program.source.name()).file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let path = if path.is_dir() { path.join(format!("{stem}.sim.itf.json")) } else { path.to_owned() };
    Ok(Target::new(&path)?)
}

/// The run so far as ITF; the property is the one that it decides, if it does.
fn itf_text(program: &Program, trace: &Trace, ending: &Ending) -> String {
    let property = match ending {
        Ending::Decided(property) => program.model.properties[*property].name.as_str(),
        _ => "",
    };
    itf::to_text(&itf::to_itf(&program.model, &program.source, property, trace))
}

/// The run of a file, to go on from its end.
fn begin<'m>(path: &Path, model: &'m Model) -> Result<Simulation<'m>, Failure> {
    let name = path.display();
    let text =
        String::from_utf8(files::read(path)?).map_err(|_| format!("{name}: not a JSON file: the text is not UTF-8"))?;
    let read = itf::read(&text, model).map_err(|error| format!("{name}: {error}"))?;
    let trace = read.exact().ok_or_else(|| format!("{name}: the trace does not say who moves in each step"))?;
    Ok(Simulation::along(model, &trace).map_err(|error| format!("{name}: {error}"))?)
}

/// One random run.
struct Walk {
    seed: u64,
    /// The steps of the run that it goes on with.
    n_before: usize,
    trace: Trace,
    ending: Ending,
}

impl Walk {
    fn random(program: &Program, watched: &[PropertyId], seed: u64, n_steps: usize) -> Self {
        let (trace, ending) = simulation::random_run(&program.model, watched, seed, n_steps);
        Walk { seed, n_before: 0, trace, ending }
    }
}

/// What came of trying one run after another.
enum Tried {
    /// A run decides the property.
    Decided(Walk),
    /// None of so many does, and a limit may be why there were no more.
    Open { n_runs: usize, stopped: Option<StopReason> },
}

/// The first random run that decides the property; its own seed leads to it at once.
fn until(program: &Program, name: &str, (options, budget): (&SimOptions, &Budget)) -> Result<Tried, Failure> {
    let property = driver::select::find(&program.model, name)?;
    if let PropertyKind::Temporal(_) = program.model.properties[property].kind {
        return Err(
            format!("`{name}` speaks of endless runs, and a simulated run ends; it decides no such property (`piecewise check --property {name} --trace DIR` finds one, if there is one, and `sim --from` goes along it)").into()
        );
    }
    let first = seed(options);
    for nth in 0..options.runs {
        if let Err(reason) = budget.check(0) {
            return Ok(Tried::Open { n_runs: nth, stopped: Some(reason) });
        }
        let walk = Walk::random(program, &[property], first.wrapping_add(nth as u64), options.steps);
        if matches!(walk.ending, Ending::Decided(_) | Ending::PropertyError(..)) {
            return Ok(Tried::Decided(walk));
        }
    }
    Ok(Tried::Open { n_runs: options.runs, stopped: None })
}

fn seed(options: &SimOptions) -> u64 {
    options.seed.unwrap_or_else(|| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        (now.as_nanos() / 1000 % CLOCK_SEEDS) as u64
    })
}

/// The run as text, and what it says about the program.
fn show(program: Program, walk: Walk, style: &Style) -> Result<(String, ExitStatus), Failure> {
    let Walk { seed, n_before, trace, ending } = walk;
    let steps = sim::RandomSteps { seed, n_before, n_taken: trace.n_steps() - n_before };
    let plain = |why: &str| {
        let seed = sim::seed_line(steps, why, style);
        replay::text(Page { model: &program.model, source: &program.source, style }, &trace) + &seed
    };
    match ending {
        Ending::Steps => Ok((plain("more with --steps"), ExitStatus::AsExpected)),
        Ending::NobodyMoves => Ok((plain("nobody can move"), ExitStatus::AsExpected)),
        Ending::PropertyError(property, reason) => {
            let name = &program.model.properties[property].name;
            Ok((plain(&format!("{name} has no value here: {reason}")), ExitStatus::Undecided))
        }
        Ending::Decided(property) => {
            let name = program.model.properties[property].name.clone();
            let result = simulation::answer(&program.model, property, trace)
                .map_err(|error| Failure::Internal(format!("a simulated run is refused: {error}")))?;
            let status = ExitStatus::of_answer(result.as_expected(&program.model));
            let checked = Checked { results: vec![result], time: Duration::ZERO, processor_time: None, method: "sim" };
            let run = Explained::new(program.into_run(checked), &Budget::unlimited());
            let decided = sim::seed_line(steps, &format!("{name} is decided"), style);
            Ok((human::run(&run, &Context::default(), style) + &decided, status))
        }
    }
}
