//! One property of one run in a sentence, with the place to point at: for tools that gather findings.
//!
//! In: a run and one of its results. Out: a [`Finding`]: whether there is something to do, what is to be said, and where. SARIF,
//! JUnit and GitHub's annotations all say the same.

use base::Span;
use engine::Verdict;
use engine::insight::{Insight, Reached, Trigger};
use engine::methods::in_words;
use engine::run::{PropertyResult, Run};
use evidence::{Evidence, Trace, TraceEnd};
use model::property::{Expected, PropertyKind};
use model::value::Fault;

use crate::explained::{Explained, trace};
use crate::names::{bound, line, parameters, property_title};
use crate::text::{clean, counted};

/// Whether there is something to do about an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Urgency {
    /// The verdict is the expected one.
    AsExpected,
    /// It is, but only because what the property speaks of never happens.
    Vacuous,
    /// It is not decided.
    Undecided,
    /// The verdict is another one than expected.
    NotAsExpected,
}

/// A property, what came of it, and where to look.
#[derive(Clone, Debug)]
pub struct Finding {
    /// Whether there is something to do.
    pub standing: Urgency,
    /// `invariant mutex`
    pub title: String,
    /// What came of it, after the title: `is violated after 6 steps: …`.
    pub sentence: String,
    /// `N = 4`; empty where the program has no parameters.
    pub instance: String,
    /// Where to look: the property, or where the program goes wrong where the property is not written down; may be empty.
    pub span: Span,
    /// Its line; 1 where it has no place in the text.
    pub line: u32,
}

impl Finding {
    /// What is to be said about a result.
    pub(crate) fn of(run: &Explained, result: &PropertyResult) -> Self {
        let property = &run.model.properties[result.property];
        let standing = match result.as_expected(&run.model) {
            None => Urgency::Undecided,
            Some(false) => Urgency::NotAsExpected,
            Some(true) if vacuous(&result.insight).is_some() => Urgency::Vacuous,
            Some(true) => Urgency::AsExpected,
        };
        let span = match (property.span.is_empty(), trace(result)) {
            (true, Some(trace)) => end_span(run, result, trace).unwrap_or(property.span),
            _ => property.span,
        };
        Finding {
            standing,
            title: property_title(&run.model, result.property),
            sentence: sentence(run, result) + &denied(result),
            instance: parameters(&run.model),
            span,
            line: if span.is_empty() { 1 } else { line(&run.source, span) },
        }
    }

    /// The title, the sentence and the instance.
    pub fn message(&self) -> String {
        let instance = if self.instance.is_empty() { String::new() } else { format!(" ({})", self.instance) };
        format!("{} {}{instance}", self.title, self.sentence)
    }
}

/// Where a run goes wrong, where that is a place of the text.
fn end_span(run: &Explained, result: &PropertyResult, trace: &Trace) -> Option<Span> {
    let statement = |action| run.model.statements[run.model.actions[action].statement].span;
    match &trace.end {
        TraceEnd::Fault { by, fault } if fault.span.is_empty() => Some(statement(by.action)),
        TraceEnd::Fault { fault, .. } => Some(fault.span),
        TraceEnd::Race(race) => Some(statement(race.contenders[0].action)),
        TraceEnd::Deadlock => {
            let stuck = run.trace(result)?.waits.first().map(|wait| wait.process)?;
            Some(run.model.places[trace.states.last()?.place(stuck)].span)
        }
        TraceEnd::State | TraceEnd::Loop => None,
    }
}

fn sentence(run: &Explained, result: &PropertyResult) -> String {
    let property = &run.model.properties[result.property];
    let is_violated_expected = property.expected == Expected::Violated;
    let although = || format!(", although line {} says `expect violated`", line(&run.source, property.span));
    match (&result.verdict, &property.kind) {
        (Verdict::Unknown(reason), _) => {
            format!("is not decided: {}", clean(&in_words(reason, &run.model, result.property)))
        }
        (Verdict::Holds(_), _) if vacuous(&result.insight).is_some() => vacuous(&result.insight).unwrap_or_default(),
        (Verdict::Holds(Evidence::Trace(trace)), _) => {
            let reached = format!("is reached {}", after(trace));
            if is_violated_expected { reached + &although() } else { reached }
        }
        (Verdict::Holds(_), _) if is_violated_expected => format!("holds{}{}", unaudited(result), although()),
        (Verdict::Holds(_), _) => format!("holds{}", unaudited(result)),
        (Verdict::Violated(_), _) if is_violated_expected => "is violated, as expected".to_owned(),
        (Verdict::Violated(Evidence::Trace(trace)), _) => violated(run, result, trace),
        (Verdict::Violated(_), PropertyKind::Reachable(_)) => format!("is never reached{}", unaudited(result)),
        (Verdict::Violated(_), _) => "is violated".to_owned(),
    }
}

/// What the user refuses about it.
fn denied(result: &PropertyResult) -> String {
    let names: Vec<&str> = result.denied.iter().map(|kind| kind.name()).collect();
    if names.is_empty() { String::new() } else { format!(", which `--deny {}` does not accept", names.join(",")) }
}

/// That only the method itself vouches for it, and why.
fn unaudited(result: &PropertyResult) -> String {
    result.unaudited().map_or(String::new(), |why| format!(" (unaudited: {})", clean(&why.to_string())))
}

/// What a counterexample shows, in one sentence.
fn violated(run: &Explained, result: &PropertyResult, trace: &Trace) -> String {
    let model = &run.model;
    let name = |process| clean(&model.processes[process].name);
    let after = after(trace);
    match (&trace.end, &model.properties[result.property].kind) {
        (TraceEnd::State, PropertyKind::Invariant(_)) => {
            let parts = run.trace(result).map_or(&[][..], |shown| &shown.why);
            let parts = parts.iter().map(|part| {
                let bindings = part.bindings.iter().map(|(name, value)| format!("{name} = {}", bound(model, *value)));
                let bindings = bindings.collect::<Vec<_>>().join(", ");
                let whom = if bindings.is_empty() { String::new() } else { format!(" for {bindings}") };
                format!("{} is {}{whom}", clean(&part.text), part.truth)
            });
            format!("is violated {after}: {}", parts.collect::<Vec<_>>().join(", and "))
        }
        (TraceEnd::Fault { by, fault }, _) => {
            format!("is violated {after}: {} errs, {}", name(by.process), clean(&described(run, &fault.fault)))
        }
        (TraceEnd::Deadlock, _) => format!("is violated {after}: nobody can move"),
        (TraceEnd::Race(race), _) => {
            let [one, other] = &race.contenders;
            let cell = clean(&model.cells[race.cell].name);
            format!("is violated {after}: {} and {} can access {cell} at once", name(one.process), name(other.process))
        }
        (TraceEnd::Loop, _) => {
            let n_turns = trace.n_steps() - trace.loop_from.unwrap_or(0);
            format!(
                "is violated by a run that goes round for ever, in a loop of {}",
                counted(n_turns as u64, "turn", "turns")
            )
        }
        (TraceEnd::State, _) => format!("is violated {after}"),
    }
}

/// `after 6 steps`
fn after(trace: &Trace) -> String {
    match trace.n_steps() {
        0 => "in an initial state".to_owned(),
        n_steps => format!("after {}", counted(n_steps as u64, "step", "steps")),
    }
}

/// The fault, with the type's range where a value is outside it.
pub fn described(run: &Run, fault: &Fault) -> String {
    let Fault::OutOfRange { target, .. } = fault else { return fault.to_string() };
    let cell = run.model.cells.iter().find(|cell| cell.name == *target);
    let ty = cell.map(|cell| model::print::ty(&run.model, &model::types::Type::Scalar(cell.ty)));
    match ty {
        Some(ty) => format!("{fault}, which is {ty}"),
        None => fault.to_string(),
    }
}

/// What a property that holds only because its condition never happens is said to rest on.
pub fn vacuous(insight: &Insight) -> Option<String> {
    let reason = |trigger: &Trigger| match trigger.reached {
        Reached::Never => Some(format!("holds only because {} never happens", clean(&trigger.text))),
        Reached::NoInstance => Some(format!("holds only because there is no such {}", trigger.variables.join(", "))),
        _ => None,
    };
    insight.triggers.iter().find_map(reason)
}
