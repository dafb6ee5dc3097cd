//! The line of one property: mark, verdict, name, and on what it rests.

use base::StopReason;
use engine::Verdict;
use engine::methods::in_words;
use engine::run::{PropertyResult, Run};
use evidence::certificate::Claim;
use evidence::{Certificate, Evidence, Exploration, Scope, SymbolicSearch, TraceEnd};
use explain::finding::vacuous;
use explain::names::{line as line_of, parameters_with_origin, property_title};
use model::Model;
use model::property::{Expected, PropertyKind};

use crate::numbers::{bytes, count, counted, duration, rate};
use crate::style::{Ink, Mark, Style};
use crate::text::{clean, hang, pad, spread, width};

/// What a verdict is called: in the words of its question.
pub(crate) struct Wording {
    /// The mark before it.
    pub mark: Mark,
    /// Good or bad news.
    pub ink: Ink,
    /// The word.
    pub word: &'static str,
    /// On what it rests, or where to look.
    pub rest: String,
}

/// The line of one property.
pub fn line(run: &Run, result: &PropertyResult, style: &Style) -> String {
    let wording = wording(run, result);
    let title = property_title(&run.model, result.property);
    let expected = if result.has_expected_verdict(&run.model) == Some(true) && is_expected_violated(run, result) {
        " (as expected)"
    } else {
        ""
    };
    let unaudited = unaudited(result);
    let head = format!("{} {:<8}  {title}{expected}{unaudited}", style.mark(wording.mark), wording.word);
    let place = place(run, result);
    let columns = style.width.min(80);
    let plain = if place.is_empty() {
        let line = format!("{}{}", pad(&head, 34 - 3) + "   ", wording.rest);
        if width(&line) <= columns { line } else { format!("{head}\n{}", hang("  ", &wording.rest, columns)) }
    } else {
        // What follows says after how many steps a state decides it.
        let rest = if decided_by_state(result) { "" } else { &wording.rest };
        let left = format!("{head}   {rest}");
        let file = format!("{}:", clean(run.source.name()));
        let fits = width(left.trim_end()) + 2 + width(&file) + width(&place) <= columns;
        let place = if fits { format!("{file}{place}") } else { format!("line {place}") };
        spread(left.trim_end(), &place, columns)
    };
    let verdict = format!("{} {}", style.mark(wording.mark), wording.word);
    plain.trim_end().replacen(&verdict, &style.paint(wording.ink, &verdict), 1) + "\n"
}

/// The line of one property where nothing else is said: also which program and instance it is about.
pub fn quiet_line(run: &Run, result: &PropertyResult, style: &Style) -> String {
    let wording = wording(run, result);
    let unexpected = match result.has_expected_verdict(&run.model) {
        Some(true) if is_expected_violated(run, result) => " (as expected)",
        Some(false) if is_expected_violated(run, result) => " (not as expected)",
        _ => "",
    };
    let title = property_title(&run.model, result.property);
    let verdict = format!("{} {:<8}", style.mark(wording.mark), wording.word);
    let instance = format!("{} {}", clean(&run.model.name), parameters_with_origin(&run.model));
    // A verdict that holds by exploration says all there is to say; others tell where to look.
    let rest = if wording.word == "HOLDS" { String::new() } else { format!("   {}", wording.rest) };
    let unaudited = unaudited(result);
    let denied = denied(result).map_or(String::new(), |denied| format!(" ({denied})"));
    let line = format!("  {}  {title}{unexpected}{unaudited}{denied}{rest}", instance.trim_end());
    format!("{}{line}\n", style.paint(wording.ink, &verdict))
}

/// A line that stands out where the verdict is not the expected one although it may look good.
pub fn expectation(run: &Run, result: &PropertyResult, style: &Style) -> String {
    let warned = |text: String| {
        let text = format!("{} {text}", style.mark(Mark::Warning));
        format!("  {}\n", style.paint(Ink::Bad, &text))
    };
    let mut out = String::new();
    if result.has_expected_verdict(&run.model) == Some(false) && is_expected_violated(run, result) {
        let line = line_of(&run.source, run.model.properties[result.property].span);
        out.push_str(&warned(format!("not as expected: line {line} says `expect violated`")));
    }
    out + &denied(result).map(warned).unwrap_or_default()
}

/// What the user refuses about it: `not accepted: --deny unaudited`.
pub(crate) fn denied(result: &PropertyResult) -> Option<String> {
    let names: Vec<&str> = result.denied.iter().map(|kind| kind.name()).collect();
    (!names.is_empty()).then(|| format!("not accepted: --deny {}", names.join(",")))
}

/// That no independent code checked the verdict, in the same line.
pub(crate) fn unaudited(result: &PropertyResult) -> &'static str {
    if result.unaudited().is_some() { " (unaudited)" } else { "" }
}

/// Whether the author expects a violation.
pub(crate) fn is_expected_violated(run: &Run, result: &PropertyResult) -> bool {
    run.model.properties[result.property].expected == Expected::Violated
}

/// The verdict in the words of its question.
pub(crate) fn wording(run: &Run, result: &PropertyResult) -> Wording {
    let kind = &run.model.properties[result.property].kind;
    let as_expected = result.as_expected(&run.model);
    let ink = match as_expected {
        Some(true) => Ink::Good,
        Some(false) => Ink::Bad,
        None => Ink::Doubt,
    };
    let (mark, word, rest) = match (&result.verdict, kind) {
        (Verdict::Holds(Evidence::Trace(trace)), _) => {
            (Mark::Holds, "REACHED", counted_steps("after", trace.n_steps() as u64))
        }
        (Verdict::Holds(Evidence::Exploration(seen)), _) => (Mark::Holds, "HOLDS", all_checked(seen)),
        (Verdict::Holds(Evidence::Symbolic(seen)), _) => (Mark::Holds, "HOLDS", all_searched(seen)),
        (Verdict::Violated(Evidence::Symbolic(seen)), _) => (Mark::Violated, "NEVER", all_searched(seen)),
        (Verdict::Violated(Evidence::Exploration(seen)), PropertyKind::Reachable(_)) => {
            (Mark::Violated, "NEVER", format!("in none of the {}", reachable_states(seen)))
        }
        (Verdict::Violated(Evidence::Exploration(seen)), _) => (Mark::Violated, "VIOLATED", all_checked(seen)),
        (Verdict::Holds(Evidence::Reduced(seen)), _) => (Mark::Holds, "HOLDS", enough_checked(seen)),
        (Verdict::Violated(Evidence::Reduced(seen)), _) => (Mark::Violated, "NEVER", enough_checked(seen)),
        (Verdict::Holds(Evidence::Certificate(proof)), _) => (Mark::Holds, "PROVED", locally(proof)),
        (Verdict::Violated(Evidence::Certificate(proof)), _) => (Mark::Violated, "NEVER", locally(proof)),
        (Verdict::Violated(Evidence::Trace(trace)), PropertyKind::DeadlockFree) => {
            (Mark::Violated, "DEADLOCK", counted_steps("after", trace.n_steps() as u64))
        }
        (Verdict::Violated(Evidence::Trace(trace)), _) => {
            (Mark::Violated, "VIOLATED", counted_steps("after", trace.n_steps() as u64))
        }
        (Verdict::Unknown(reason), _) => {
            (Mark::Unknown, "UNKNOWN", clean(&in_words(reason, &run.model, result.property)))
        }
    };
    if let Some(why) = vacuous(&result.insight) {
        return Wording { mark: Mark::Warning, ink: Ink::Doubt, word: "VACUOUS", rest: why };
    }
    let rest = match result.verdict.scope() {
        Scope::Instance => rest,
        scope => format!("for {}; {rest}", claimed(&scope, &run.model)),
    };
    Wording { mark, ink, word, rest }
}

/// The sizes that a verdict is about; the other parameters are those of this instance, and named: `every N ≥ 2 with Tasks = 2`.
pub(crate) fn claimed(scope: &Scope, model: &Model) -> String {
    let Scope::AllSizes { parameter, .. } = scope else { return scope.to_string() };
    let others = model.numbers().filter(|(name, _)| name != parameter);
    let fixed: Vec<String> = others.map(|(name, value)| format!("{name} = {value}")).collect();
    if fixed.is_empty() { scope.to_string() } else { format!("{scope} with {}", fixed.join(", ")) }
}

fn counted_steps(lead: &str, n_steps: u64) -> String {
    if n_steps == 0 {
        "in an initial state".to_owned()
    } else {
        format!("{lead} {}", counted(n_steps, "step", "steps"))
    }
}

fn reachable_states(seen: &Exploration) -> String {
    counted(seen.states, "reachable state", "reachable states")
}

/// How many processes a local proof joins.
fn locally(proof: &Certificate) -> String {
    if proof.pushdown().is_some() {
        return "for every run, one process at a time, however deep its stack".to_owned();
    }
    if proof.facts.iter().any(|fact| matches!(fact.claim, Claim::Refutation(_))) {
        return "for every run, one process after the other".to_owned();
    }
    if let Some(rings) = proof.rings() {
        return match rings.width {
            1 => "one of them and what it touches at a time".to_owned(),
            2 => "two neighbours at a time".to_owned(),
            width => format!("{width} neighbours at a time"),
        };
    }
    if proof.crowd().is_some() {
        return "one process after the other".to_owned();
    }
    if let Some(views) = proof.views() {
        return match views.k {
            1 => "one of them at a time".to_owned(),
            2 => "two of them at a time".to_owned(),
            k => format!("{k} of them at a time"),
        };
    }
    if proof.counting().is_some() {
        return match proof.scope.is_instance() {
            true => "for every run, one process at a time, the others counted".to_owned(),
            false => "one of them at a time, the others counted".to_owned(),
        };
    }
    if proof.fine().is_some() {
        return "for every run, one or few cells and two processes at a time".to_owned();
    }
    let Some(invariant) = proof.invariant() else { return String::new() };
    match invariant.k {
        1 => "for every run, one process at a time".to_owned(),
        k if k == invariant.points.len() => "for every run, all processes together".to_owned(),
        2 => "for every run, two processes at a time".to_owned(),
        k => format!("for every run, {k} processes at a time"),
    }
}

/// What an exploration saw, named for what it is.
fn all_checked(seen: &Exploration) -> String {
    match seen.states {
        1 => "the one reachable state was checked".to_owned(),
        _ => format!("all {} were checked", reachable_states(seen)),
    }
}

/// What a search with diagrams saw.
fn all_searched(seen: &SymbolicSearch) -> String {
    match *seen {
        SymbolicSearch::Whole { states: Some(1) } => "the one reachable state was checked".to_owned(),
        SymbolicSearch::Whole { states: Some(states) } => {
            format!("all {} were checked", counted(states, "reachable state", "reachable states"))
        }
        SymbolicSearch::Whole { states: None } => "all reachable states were checked".to_owned(),
        SymbolicSearch::Local => "for every run, one process at a time".to_owned(),
    }
}

/// What a reduced search saw: the others differ from these in the order of independent steps.
fn enough_checked(seen: &Exploration) -> String {
    format!("{} of the reachable ones were enough", counted(seen.states, "state", "states"))
}

fn decided_by_state(result: &PropertyResult) -> bool {
    match &result.verdict {
        Verdict::Holds(Evidence::Trace(trace)) | Verdict::Violated(Evidence::Trace(trace)) => {
            trace.end == TraceEnd::State
        }
        _ => false,
    }
}

/// The line of a property for which there is more to see.
fn place(run: &Run, result: &PropertyResult) -> String {
    let property = &run.model.properties[result.property];
    let has_block = match &result.verdict {
        Verdict::Holds(evidence) | Verdict::Violated(evidence) => matches!(evidence, Evidence::Trace(_)),
        Verdict::Unknown(_) => false,
    };
    if !has_block || property.span.is_empty() {
        return String::new();
    }
    line_of(&run.source, property.span).to_string()
}

/// Why a property is not decided, and what was done.
pub fn undecided(run: &Run, result: &PropertyResult, reason: &StopReason, style: &Style) -> String {
    let mut out = String::new();
    let statistics = &result.statistics;
    if let Some(states) = statistics.global_states.filter(|&states| states > 0) {
        let mut done = format!("until then: {}", counted(states, "state", "states"));
        if let Some(depth) = statistics.depth {
            done.push_str(&format!(", {} deep", counted(depth, "step", "steps")));
        }
        done.push_str(&format!(", {}", duration(statistics.time)));
        let without = match run.model.properties[result.property].kind {
            PropertyKind::Reachable(_) => "; it was not reached so far",
            _ => "; no violation was found so far",
        };
        done.push_str(without);
        out.push_str(&hang("  ", &done, style.width.min(80)));
    }
    if matches!(reason, StopReason::PropertyError(_)) {
        let property = &run.model.properties[result.property];
        let lead = format!("  line {}: ", line_of(&run.source, property.span));
        out.push_str(&hang(&lead, &clean(&property.text), style.width.min(80)));
    }
    out
}

/// Times and counts on one dim line.
pub fn statistics(result: &PropertyResult, style: &Style) -> String {
    let statistics = &result.statistics;
    let mut parts = vec![format!("method {}", result.method)];
    if let Some(states) = statistics.global_states {
        parts.push(counted(states, "state", "states"));
    }
    if let Some(transitions) = statistics.global_transitions {
        parts.push(counted(transitions, "transition", "transitions"));
    }
    if let Some(depth) = statistics.depth {
        parts.push(format!("depth {}", count(depth)));
    }
    if let Some(memory) = statistics.peak_memory_bytes {
        parts.push(bytes(memory));
    }
    parts.push(duration(statistics.time));
    let seconds = statistics.time.as_secs_f64();
    if let Some(states) = statistics.global_states.filter(|_| seconds >= 0.05) {
        parts.push(rate(states as f64 / seconds));
    }
    match &result.verdict {
        Verdict::Unknown(_) => {}
        _ => match result.unaudited() {
            None => parts.push("audited".to_owned()),
            Some(why) => parts.push(format!("unaudited: {}", clean(&why.to_string()))),
        },
    }
    let text = parts.join(&format!(" {} ", style.mark(Mark::Dot)));
    let lines: String = hang("  ", &text, style.width.min(80));
    lines.lines().map(|line| style.paint(Ink::Dim, line) + "\n").collect()
}
