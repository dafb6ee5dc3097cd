//! What to do next: commands that exist, with the user's own file and names.

use base::StopReason;
use engine::Verdict;
use engine::methods::METHODS;
use engine::run::{PropertyResult, Run};
use evidence::{Evidence, Scope};
use model::property::PropertyKind;

use super::Context;
use crate::style::{Ink, Style};
use crate::text::{clean, hang, width};

/// The lines under a verdict; empty where nothing is left to do.
pub fn next(run: &Run, result: &PropertyResult, context: &Context, style: &Style) -> String {
    let commands = commands(run, result, context);
    let room = style.width.min(80).saturating_sub(9);
    let mut out = String::new();
    for (nth, (what, why)) in commands.iter().enumerate() {
        let lead = if nth == 0 { "  next:  " } else { "         " };
        let one_line = format!("{what}   {why}");
        // A command is not wrapped: it is there to be copied.
        let lines = match (why.is_empty(), width(&one_line) <= room) {
            (true, _) => hang(lead, what, style.width.min(80)),
            (false, true) => format!("{lead}{one_line}\n"),
            (false, false) => format!("{lead}{what}\n             {why}\n"),
        };
        out.push_str(&lines.replacen("next:", &style.paint(Ink::Line, "next:"), 1));
    }
    out
}

/// Commands, each with what it is for; where that is empty, the words are no command.
pub(crate) fn commands(run: &Run, result: &PropertyResult, context: &Context) -> Vec<(String, &'static str)> {
    match &result.verdict {
        Verdict::Holds(Evidence::Trace(_)) | Verdict::Violated(Evidence::Trace(_)) => for_trace(run, result, context),
        Verdict::Holds(Evidence::Certificate(_)) | Verdict::Violated(Evidence::Certificate(_)) => {
            for_proof(run, result, context)
        }
        Verdict::Holds(_) | Verdict::Violated(_) => Vec::new(),
        Verdict::Unknown(reason) => for_unknown(run, result, reason),
    }
}

/// The command that shows a result in full.
pub(crate) fn show(run: &Run, result: &PropertyResult) -> String {
    let property = quoted(&run.model.properties[result.property].name);
    format!("piecewise check {} --property {property}{}", instance(run), method(run))
}

/// The command that asks the same again.
fn again(run: &Run) -> String {
    let asks_all = run.results.len() == run.model.properties.len();
    let named = run.results.iter().filter(|_| !asks_all).map(|result| {
        let property = &run.model.properties[result.property];
        format!(" --property {}", quoted(&property.name))
    });
    let every_size = if is_about_every_size(run) { " --all-n" } else { "" };
    format!("piecewise check {}{every_size}{}{}", instance(run), named.collect::<String>(), method(run))
}

/// Whether the call asked for every size: no size is given, and something is proved for all.
fn is_about_every_size(run: &Run) -> bool {
    run.results.iter().any(|result| match result.verdict.scope() {
        Scope::AllSizes { parameter, .. } => {
            !run.model.parameters.iter().any(|known| known.name == parameter && known.given)
        }
        Scope::Instance => false,
    })
}

/// The method, where the call names one.
fn method(run: &Run) -> String {
    let is_named = run.method != "auto" && METHODS.iter().any(|known| known.name == run.method);
    if is_named { format!(" --method {}", run.method) } else { String::new() }
}

/// The arguments that name this file and this instance again.
fn instance(run: &Run) -> String {
    let mut words = vec![file(run)];
    let is_given = |name: &str| !run.model.parameters.iter().any(|one| one.name == name && !one.given);
    for (name, value) in run.model.numbers().filter(|(name, _)| is_given(name)) {
        match name {
            "N" => words.push(format!("-N {value}")),
            name => words.push(format!("-D {name}={value}")),
        }
    }
    words.join(" ")
}

/// The file as the call names it.
fn file(run: &Run) -> String {
    match run.source.name() {
        "<stdin>" => "-".to_owned(),
        name => quoted(name),
    }
}

/// A word of a command line, in quotes where a shell needs them.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "._-/+:,@%=".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", clean(word).replace('\'', "'\\''"))
    }
}

fn for_trace(run: &Run, result: &PropertyResult, context: &Context) -> Vec<(String, &'static str)> {
    let instance = instance(run);
    let name = quoted(&run.model.properties[result.property].name);
    let look_closer = match context.files.traces.get(&result.property) {
        Some(file) => (format!("piecewise replay {} {instance}", quoted(file)), "step through it"),
        None => (format!("{} --trace DIR", show(run, result)), "keep the trace, to replay it"),
    };
    let mut commands = vec![look_closer];
    // A simulated run ends, and shows nothing about endless ones.
    let is_temporal = matches!(run.model.properties[result.property].kind, PropertyKind::Temporal(_));
    if matches!(result.verdict, Verdict::Violated(_)) && !is_temporal {
        commands.push((format!("piecewise sim {instance} --until {name}"), "find other examples"));
    }
    commands
}

/// Where a proof was written, how to check it again; otherwise how to keep it, said once.
fn for_proof(run: &Run, result: &PropertyResult, context: &Context) -> Vec<(String, &'static str)> {
    let is_proof = |result: &&PropertyResult| {
        let (Verdict::Holds(evidence) | Verdict::Violated(evidence)) = &result.verdict else { return false };
        matches!(evidence, Evidence::Certificate(_))
    };
    match context.files.proofs.get(&result.property) {
        Some(file) => {
            let command = format!("piecewise proof check {} {}", quoted(file), self::file(run));
            vec![(command, "check the proof again")]
        }
        None if run.results.iter().rfind(is_proof).is_some_and(|last| last.property == result.property) => {
            vec![(format!("{} --proof DIR", again(run)), "keep the proofs")]
        }
        None => Vec::new(),
    }
}

fn for_unknown(run: &Run, result: &PropertyResult, reason: &StopReason) -> Vec<(String, &'static str)> {
    let words = |text: &str| vec![(text.to_owned(), "")];
    match reason {
        StopReason::TimeLimit(_) => vec![(choices(&["a longer --timeout", mono_alone(result), &smaller(run)]), "")],
        StopReason::MemoryLimit(_) | StopReason::NodeLimit(_) => {
            vec![(choices(&["a larger --memory", &smaller(run)]), "")]
        }
        StopReason::AutomatonLimit(_) => words("a simpler formula, or several properties instead of one"),
        StopReason::PropertyError(_) => words("guard the expression, so that it has a value in every reachable state"),
        StopReason::OnHost { .. } => words("more hosts, or more memory for each in the host file"),
        StopReason::Disk(_) => words("a larger --memory, or `--disk DIR` with a directory that has room"),
        StopReason::HostLost { .. } => words("`--checkpoint DIR`, so that the search goes on where it was"),
        StopReason::Cancelled
        | StopReason::FailFast
        | StopReason::TooCoarse(_)
        | StopReason::Left(_)
        | StopReason::Allowed(_)
        | StopReason::NotSupported(_) => Vec::new(),
    }
}

/// What may be tried, those that are not empty.
fn choices(these: &[&str]) -> String {
    let these: Vec<&str> = these.iter().copied().filter(|one| !one.is_empty()).collect();
    match these.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, others)) => format!("{}, or {last}", others.join(", ")),
        None => String::new(),
    }
}

/// Where methods take turns, the search of the whole product has a part of the time only.
fn mono_alone(result: &PropertyResult) -> &'static str {
    if result.method == "auto" { "--method mono" } else { "" }
}

/// A parameter that is not at its least value.
fn smaller(run: &Run) -> String {
    let mut large = run.model.parameters.iter().filter(|parameter| parameter.value > parameter.least);
    let first = large.clone().find(|parameter| parameter.name == "N");
    match first.or_else(|| large.next()) {
        Some(parameter) if parameter.name == "N" => "a smaller -N".to_owned(),
        Some(parameter) => format!("a smaller -D {}", parameter.name),
        None => String::new(),
    }
}
