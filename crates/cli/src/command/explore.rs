//! `explore`: how large the whole product of a program is.

use std::path::Path;
use std::time::Instant;

use base::Budget;
use driver::check::{CheckLimits, Program};
use driver::coverage::{Coverage, coverage};
use driver::explore::{Explored as Searched, explore};
use driver::load::{self, Loaded};
use lang::promela::Reading;
use report::coverage::{self as covered, Covered};
use report::explore as view;
use report::json;

use super::search::{self, Part};
use crate::failed::DocumentKind;
use crate::failure::Failure;
use crate::files::Target;
use crate::options::{DisplayOptions, ExploreOptions, Format};
use crate::output::Output;
use crate::progress::Progress;
use crate::status::ExitStatus;
use crate::{instance, limits, messages};

/// Graphs with more states are not drawn.
const MOST_DRAWN: usize = 500;

/// Explores the instances of a program.
pub fn run(options: &ExploreOptions, display: &DisplayOptions) -> Result<ExitStatus, Failure> {
    let document = (options.output.format == Format::Json).then_some(DocumentKind::Explore);
    let output = Output::new(options.output.output.as_deref(), display)?.for_document(document);
    output.ended(explore_all(options, display, &output))
}

fn explore_all(options: &ExploreOptions, display: &DisplayOptions, output: &Output) -> Result<ExitStatus, Failure> {
    let request = instance::request(&options.instance)?;
    let reading = Reading { like_spin: options.like_spin, ..request.reading().clone() };
    let request = request.with_reading(reading);
    let (limits, guard) = limits::of(&options.limits);
    guard.leaves(output.last_document(), None);
    if options.hosts.secret.is_some() {
        guard.tells(search::tell_limit);
    }
    let limits = CheckLimits { disk: options.disk.disk.clone(), ..limits };
    let batch = load::load(std::slice::from_ref(&options.file), &request)?;
    guard.allow_for(batch.items.len());
    messages::batch(&batch, "nothing was explored", display);
    let progress = Progress::new(options.output.progress, display.quiet);
    if options.dot.is_some() && batch.items.len() > 1 {
        return Err("--dot draws one instance".to_owned().into());
    }
    if options.hosts.are_about_one_search() && batch.items.len() > 1 {
        return Err("`--process`, `--checkpoint`, `--resume` and `--tunnel` are about one instance".to_owned().into());
    }
    let drawing = options.dot.as_deref().map(Target::new).transpose()?;
    let mut explored = Vec::new();
    for item in batch.items {
        let program = match item {
            Loaded::Program(program) => program,
            Loaded::Refused(refusal) => return Err(Failure::Told(messages::lines(&refusal))),
        };
        let begun = Instant::now();
        let watcher = progress.watch(&program.model, 0, limits.time);
        let seen = match search::is_asked_to_explore(&options.hosts) {
            true => search::explore(options, &program, &limits, &watcher)?,
            false => Part::Whole(Explored { searched: explore(&program.model, &limits, &watcher), hosts: Vec::new() }),
        };
        drop(watcher);
        let mut seen = match seen {
            Part::Whole(seen) => seen,
            Part::Member(status) => return Ok(status),
        };
        if options.like_spin && is_promela(&program) {
            // SPIN counts what `init` did before others could move, and the way to the first state.
            seen.searched.exploration.states += program.n_before;
            seen.searched.exploration.transitions += program.n_before + 1;
        }
        let left = || {
            let time = limits.time.map(|time| time.saturating_sub(begun.elapsed()));
            CheckLimits { time, ..limits.clone() }.budget()
        };
        if let Some(target) = &drawing {
            draw(&program, &left(), target)?;
        }
        let covered = options.coverage.then(|| coverage(&program.model, 0, &left()));
        explored.push(ExploredInstance { program, seen, covered });
    }
    let is_whole = explored.iter().all(|one| one.seen.searched.stopped.is_none());
    let status = if is_whole { ExitStatus::AsExpected } else { ExitStatus::Undecided };
    show(&explored, (options.output.format, status), output)?;
    Ok(status)
}

fn is_promela(program: &Program) -> bool {
    let suffix = Path::new(program.source.name()).extension().and_then(|suffix| suffix.to_str());
    suffix.is_some_and(|suffix| lang::PROMELA_SUFFIXES.contains(&suffix))
}

/// What was explored, and by whom.
pub struct Explored {
    /// What was seen.
    pub searched: Searched,
    /// What each host took part with; none where it was this process alone.
    pub hosts: Vec<view::Host>,
}

/// What was seen of one instance.
struct ExploredInstance {
    program: Box<Program>,
    seen: Explored,
    /// What was counted statement by statement, where that is asked for.
    covered: Option<Coverage>,
}

/// Draws the graph of all states.
fn draw(program: &Program, budget: &Budget, target: &Target) -> Result<(), Failure> {
    let found = coverage(&program.model, MOST_DRAWN, budget);
    let name = program.source.name();
    if let Some(reason) = found.stopped.as_ref().filter(|_| found.states.len() <= MOST_DRAWN) {
        return Err(format!("{name}: nothing is drawn, since {reason}").into());
    }
    if found.states.len() > MOST_DRAWN {
        return Err(
            format!("{name}: there are more than {MOST_DRAWN} states, which nobody could read as a drawing").into()
        );
    }
    let steps = found.steps.into_iter().map(|step| (step.from, step.to, step.by));
    Ok(target.write(&covered::dot(&program.model, &found.states, steps))?)
}

fn show(explored: &[ExploredInstance], (format, status): (Format, ExitStatus), output: &Output) -> Result<(), Failure> {
    let views = explored.iter().map(|ExploredInstance { program, seen, covered }| {
        let counted = view::Explored {
            source: &program.source,
            model: &program.model,
            exploration: &seen.searched.exploration,
            time: seen.searched.statistics.time,
            peak_memory_bytes: seen.searched.statistics.peak_memory_bytes,
            stopped: seen.searched.stopped.as_ref(),
            hosts: &seen.hosts,
        };
        let covered = covered.as_ref().map(|found| Covered {
            source: &program.source,
            model: &program.model,
            states: &found.states,
            statements: &found.statements,
            constant: &found.constant,
            stopped: found.stopped.as_ref(),
        });
        (counted, covered)
    });
    match format {
        Format::Human => {
            let text = |(counted, covered): (view::Explored<'_>, Option<Covered<'_>>)| {
                let covered = covered.map(|covered| covered::text(&covered, &output.style)).unwrap_or_default();
                view::text(&counted, &output.style) + &covered
            };
            output.write(&views.map(text).collect::<Vec<_>>().join("\n"))
        }
        Format::Json => {
            let run = |(counted, covered): (view::Explored<'_>, Option<Covered<'_>>)| {
                view::run(&counted, covered.map(|covered| covered::document(&covered)))
            };
            output.write_json(&json::value_of(&view::document(views.map(run).collect(), status.code())))
        }
    }
}
