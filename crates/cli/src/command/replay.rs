//! `replay`: a trace from a file, replayed on the reference semantics and shown step by step; or what SPIN printed of a run, followed.
//!
//! The file says for which program, which parameters and which property it was written; a trace of another tool may say
//! less, and the call then has to. Exit status 1 says that the trace is no run of the program, 2 that it is no trace of it.

use std::path::Path;

use driver::check::Program;
use driver::files;
use driver::replay::{ReplayError, replay};
use driver::trail::{self, Shown, TrailError};
use evidence::Trace;
use evidence::itf;
use lang::promela::Reading;
use report::{Page, replay as view};

use crate::failure::Failure;
use crate::options::{DisplayOptions, ReplayOptions};
use crate::status::ExitStatus;
use crate::{instance, limits, terminal};

/// Replays a trace.
pub fn run(options: &ReplayOptions, display: &DisplayOptions) -> Result<ExitStatus, Failure> {
    let _guarded = limits::of_call(options.limits);
    let file = match (&options.trail, &options.file) {
        (Some(trail), None) => return follow(trail, options, display),
        (Some(_), Some(_)) => {
            return Err("with --trail there is no trace: replay MODEL --trail FILE".to_owned().into());
        }
        (None, file) => file.as_deref().unwrap_or(&options.trace),
    };
    let name = options.trace.display();
    let text = String::from_utf8(files::read(&options.trace)?)
        .map_err(|_| format!("{name}: not a JSON file: the text is not UTF-8"))?;
    let request = instance::request(&options.instance)?.with_goals(&options.goal.goals);
    let mut given = instance::single(&request)?;
    for (parameter, value) in itf::parameters(&text).map_err(|error| format!("{name}: {error}"))? {
        if !given.iter().any(|(name, _)| *name == parameter) {
            given.push((parameter, value));
        }
    }
    let program = instance::load(file, &given, &request, display)?;
    let style = terminal::style_for_stdout(display);
    match replay(&text, &program.model, options.property.as_deref()) {
        Ok((property, trace)) => {
            let shown = if display.quiet { String::new() } else { steps(&program, &trace, display) };
            let property = property.map(|property| program.model.properties[property].name.as_str());
            terminal::print(&(shown + &view::accepted(&program.model, property, &trace, &style)))?;
            Ok(ExitStatus::AsExpected)
        }
        Err(error @ (ReplayError::Refused(_) | ReplayError::NoRun(_))) => {
            terminal::print(&view::refused(&program.model, &error.to_string(), &style))?;
            Ok(ExitStatus::NotAsExpected)
        }
        Err(error) => Err(format!("{name}: {error}").into()),
    }
}

/// Follows what SPIN printed of a run.
fn follow(printed: &Path, options: &ReplayOptions, display: &DisplayOptions) -> Result<ExitStatus, Failure> {
    let text = String::from_utf8_lossy(&files::read(printed)?).into_owned();
    let request = instance::request(&options.instance)?;
    let mut reading = Reading { single_steps: true, ..request.reading().clone() };
    reading.progress |= trail::may_ask_for_progress(&text);
    let request = request.with_reading(reading);
    let program = instance::load(&options.trace, &instance::single(&request)?, &request, display)?;
    let (model, style) = (&program.model, terminal::style_for_stdout(display));
    match trail::follow(model, &program.source, &text) {
        Ok(Shown { trace, decides, changes_in_cycle }) => {
            let shown = if display.quiet { String::new() } else { steps(&program, &trace, display) };
            terminal::print(&(shown + &view::followed(model, (&decides, &changes_in_cycle), &trace, &style)))?;
            Ok(ExitStatus::AsExpected)
        }
        Err(error @ (TrailError::Empty | TrailError::Raw | TrailError::NotReplayed)) => {
            Err(format!("{}: {error}", printed.display()).into())
        }
        Err(error) => {
            terminal::print(&view::refused(model, &error.to_string(), &style))?;
            Ok(ExitStatus::NotAsExpected)
        }
    }
}

/// The trace by process; with `-v` also every state in full.
fn steps(program: &Program, trace: &Trace, display: &DisplayOptions) -> String {
    let Program { model, source, .. } = program;
    let style = terminal::style_for_stdout(display);
    let page = Page { model, source, style: &style };
    let mut text = view::text(page, trace) + "\n";
    if display.verbose {
        let states = (0..trace.states.len()).map(|nth| view::state(page, trace, nth) + "\n");
        text += &states.collect::<String>();
    }
    text
}
