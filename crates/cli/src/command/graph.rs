//! `graph`: the local state graphs of a program, counted or drawn.

use driver::graph;
use model::process::ProcessId;
use report::graph as view;
use report::json::value_of;

use crate::failed::DocumentKind;
use crate::failure::Failure;
use crate::options::{DisplayOptions, GraphFormat, GraphOptions};
use crate::output::Output;
use crate::progress::Progress;
use crate::status::ExitStatus;
use crate::{instance, limits};

/// Finds the local state graphs of one instance of a program.
pub fn run(options: &GraphOptions, display: &DisplayOptions) -> Result<ExitStatus, Failure> {
    let document = (options.format == GraphFormat::Json).then_some(DocumentKind::Graph);
    let output = Output::new(options.output.as_deref(), display)?.for_document(document);
    output.ended(find(options, display, &output))
}

fn find(options: &GraphOptions, display: &DisplayOptions, output: &Output) -> Result<ExitStatus, Failure> {
    let request = instance::request(&options.instance)?;
    let way = graph::way(&options.method)?;
    let (limits, guard) = limits::of(&options.limits);
    guard.leaves(output.last_document(), None);
    let program = instance::load(&options.file, &instance::single(&request)?, &request, display)?;
    let asked = options.processes.iter().map(|name| graph::process(&program.model, name));
    let asked = asked.collect::<Result<Vec<ProcessId>, String>>()?;
    let shown: Vec<ProcessId> = if asked.is_empty() { program.model.processes.ids().collect() } else { asked };
    let drawn = if options.format == GraphFormat::Dot { shown.as_slice() } else { &[] };
    let watcher = Progress::new(options.progress, display.quiet).watch(&program.model, 0, limits.time);
    let found = graph::graphs(&program.model, (way, drawn), &limits, &watcher);
    drop(watcher);
    let found = match found {
        Ok(found) => found,
        Err(reason) => {
            return Err(format!("{}: {reason}", program.source.name()).into());
        }
    };
    let one = view::Graphs {
        source: &program.source,
        model: &program.model,
        method: way.name(),
        shown: &shown,
        found: &found,
    };
    let status = if found.stopped.is_none() { ExitStatus::AsExpected } else { ExitStatus::Undecided };
    match options.format {
        GraphFormat::Human => output.write(&view::text(&one, &output.style))?,
        GraphFormat::Json => output.write_json(&value_of(&view::document(&one, status.code())))?,
        GraphFormat::Dot => output.write(&view::dot(&one))?,
    }
    Ok(status)
}
