//! `explore`: how large the whole product of a program is.

use std::path::Path;

use driver::check::Program;
use driver::explore::{Explored, explore};
use driver::load::{self, Loaded};
use lang::promela::Reading;
use report::explore as view;
use serde_json::{Value as Json, json};

use crate::failure::Failure;
use crate::options::{DisplayOptions, ExploreOptions, Format};
use crate::output::Output;
use crate::progress::Progress;
use crate::status::ExitStatus;
use crate::{instance, limits, messages};

/// Explores the instances of a program.
pub fn run(options: &ExploreOptions, display: &DisplayOptions) -> Result<ExitStatus, Failure> {
    let request = instance::request(&options.instance)?;
    let reading = Reading { like_spin: options.like_spin, ..request.reading().clone() };
    let request = request.with_reading(reading);
    let output = Output::new(options.output.output.as_deref(), display)?;
    let (limits, guard) = limits::of(&options.limits);
    let batch = load::load(std::slice::from_ref(&options.file), &request)?;
    guard.allow_for(batch.items.len());
    messages::batch(&batch, "nothing was explored", display);
    let progress = Progress::new(options.output.progress, display.quiet);
    let mut explored = Vec::new();
    for item in batch.items {
        let Loaded::Program(program) = item else { return Err(Failure::Told) };
        let watcher = progress.watch(&program.model, 0, limits.time);
        let mut seen = explore(&program.model, &limits, &watcher);
        drop(watcher);
        if options.like_spin && is_promela(&program) {
            // SPIN counts what `init` did before others could move, and the way to the first state.
            seen.exploration.states += program.n_before;
            seen.exploration.transitions += program.n_before + 1;
        }
        explored.push((program, seen));
    }
    show(&explored, options.output.format, &output)?;
    let is_whole = explored.iter().all(|(_, seen)| seen.stopped.is_none());
    Ok(if is_whole { ExitStatus::AsExpected } else { ExitStatus::Undecided })
}

fn is_promela(program: &Program) -> bool {
    let suffix = Path::new(program.source.name()).extension().and_then(|suffix| suffix.to_str());
    suffix.is_some_and(|suffix| lang::PROMELA_SUFFIXES.contains(&suffix))
}

fn show(explored: &[(Box<Program>, Explored)], format: Format, output: &Output) -> Result<(), Failure> {
    let views = explored.iter().map(|(program, seen)| view::Explored {
        source: &program.source,
        model: &program.model,
        exploration: &seen.exploration,
        time: seen.statistics.time,
        peak_memory_bytes: seen.statistics.peak_memory_bytes,
        stopped: seen.stopped.as_ref(),
    });
    match format {
        Format::Human => {
            let texts: Vec<String> = views.map(|one| view::text(&one, &output.style)).collect();
            output.write(&texts.join("\n"))
        }
        Format::Json => {
            let mut documents: Vec<Json> = views.map(|one| view::document(&one)).collect();
            match documents.len() {
                1 => output.write_json(&documents.remove(0)),
                _ => output.write_json(&json!({"schema": "piecewise-explore/1", "runs": documents})),
            }
        }
    }
}
