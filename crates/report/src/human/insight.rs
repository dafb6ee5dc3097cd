//! What else was found out about an answer, for people: assumptions that a property needs, or that would mend it, and whether what
//! it speaks of ever happens.

use engine::Verdict;
use engine::insight::{AssumedOutcome, Insight, Need, OtherSizes, Reached, Trigger};
use engine::run::{PropertyResult, Run};
use evidence::{Evidence, Scope};
use explain::names::line as line_of;

use super::verdict::claimed;
use super::{Context, Verbosity};
use crate::numbers::counted;
use crate::style::{Ink, Mark, Style};
use crate::text::{clean, hang, pad, width};

/// How wide a column of assumptions may be.
const WIDEST: usize = 34;

/// The lines under a property that holds.
pub fn of_holding(run: &Run, result: &PropertyResult, context: &Context, style: &Style) -> String {
    let insight = &result.insight;
    let is_proof = matches!(&result.verdict, Verdict::Holds(Evidence::Certificate(_)));
    // Under a proof the headings are in its column.
    let heading = if is_proof { 18 } else { 11 };
    let mut out = assumptions(insight, heading, style);
    let is_vacuous = insight.is_vacuous() == Some(true);
    let in_full = is_proof || !insight.assumptions.is_empty() || context.verbosity == Verbosity::Verbose;
    for trigger in &insight.triggers {
        // Of a property that says nothing, no part is called "not vacuous".
        out.push_str(&reached(trigger, (heading, in_full && !is_vacuous), style));
    }
    out.push_str(&every_size(run, insight, heading, style));
    out
}

/// That it was proved for every size beside the one that was asked for.
fn every_size(run: &Run, insight: &Insight, room: usize, style: &Style) -> String {
    let Some(scope @ Scope::AllSizes { parameter, .. }) = &insight.every_size else { return String::new() };
    let (lead, columns) = (format!("  {:<room$}   ", format!("Every {parameter}")), style.width.min(80));
    let proved = clean(&format!("proved for {}", claimed(scope, &run.model)));
    let whole = format!("{proved}; --all-n shows the proof");
    let is_short = width(&lead) + width(&whole) <= columns;
    hang(&lead, if is_short { &whole } else { &proved }, columns)
}

/// Larger sizes that are proved by the same invariants.
pub fn other_sizes(insight: &Insight, style: &Style) -> String {
    let Some(OtherSizes { parameter, same_for }) = &insight.other_sizes else { return String::new() };
    let sizes: Vec<String> = same_for.iter().map(|size| format!("{parameter} = {size}")).collect();
    let text = format!(
        "the same invariants prove it for {} (an observation, not a proof for all {parameter})",
        sizes.join(" and ")
    );
    hang(&format!("  {:<18}   ", format!("Other {parameter}")), &clean(&text), style.width.min(80))
}

fn assumptions(insight: &Insight, room: usize, style: &Style) -> String {
    let mut out = String::new();
    let texts: Vec<String> = insight.assumptions.iter().map(|assumption| clean(&assumption.text)).collect();
    let widest = texts.iter().map(|text| width(text)).max().unwrap_or(0).min(WIDEST);
    for (nth, (assumption, text)) in insight.assumptions.iter().zip(&texts).enumerate() {
        let need = match assumption.need {
            Need::Needed(turns) => format!("needed (else a loop of {})", counted_turns(turns)),
            Need::NotNeeded => "not needed".to_owned(),
            Need::Unknown => "not tried: it would take too long".to_owned(),
        };
        let heading = if nth == 0 { "Assumptions" } else { "" };
        let lead = format!("  {heading:<room$}   {}   ", pad(text, widest));
        out.push_str(&hang(&lead, &need, style.width.min(80)));
    }
    out
}

/// Whether a condition is ever true; where it is for all values, only if everything is to be said.
fn reached(trigger: &Trigger, (room, in_full): (usize, bool), style: &Style) -> String {
    let (text, every) = (clean(&trigger.text), clean(&trigger.variables.join(", ")));
    let row = |heading: &str, what: String| hang(&format!("  {heading:<room$}   "), &what, style.width.min(80));
    match trigger.reached {
        Reached::Always if in_full && every.is_empty() => row("Not vacuous", format!("{text} is reachable")),
        Reached::Always if in_full => row("Not vacuous", format!("{text} is reachable for every {every}")),
        Reached::AtLeastOnce if in_full => row("Not vacuous", format!("{text} is reachable for some {every}")),
        Reached::Sometimes => {
            row("Not for all", format!("{text} is reachable for some {every}, not for every {every}"))
        }
        Reached::Always | Reached::AtLeastOnce | Reached::Never | Reached::NoInstance | Reached::Unknown => {
            String::new()
        }
    }
}

/// The lines under a run that violates a temporal property.
pub fn of_violated(run: &Run, result: &PropertyResult, style: &Style) -> String {
    let Some(first) = result.insight.remedies.first() else { return String::new() };
    let columns = style.width.min(80);
    let assumes = run.model.properties[result.property].under.any_of.iter().any(|set| !set.is_empty());
    let allowed = match assumes {
        true => "This run is allowed by what is assumed.",
        false => "This run is allowed: nothing is assumed about who has a turn.",
    };
    match first.outcome {
        AssumedOutcome::Holds => {}
        AssumedOutcome::Violated(turns) => {
            let text = format!(
                "{allowed} Fairness alone does not help: even where everybody has turns and takes each labelled step that it can \
                 take again and again, there is a run that violates it, with a loop of {}.",
                counted_turns(turns)
            );
            return hang("  ", &text, columns);
        }
        AssumedOutcome::Unknown => return String::new(),
    }
    let mut out = hang("  ", &format!("{allowed} It would be excluded by"), columns);
    let widest = first.added.iter().map(|text| width(text)).max().unwrap_or(0).min(WIDEST);
    for text in &first.added {
        out.push_str(&hang(&format!("      {}   ", pad(&clean(text), widest)), meaning(text), columns));
    }
    let name = clean(&run.model.properties[result.property].name);
    let with = if first.added.len() == 1 { "it" } else { "them" };
    let tried = format!("{} Tried for you: with {with}, {name} holds.", style.mark(Mark::Holds));
    out.push_str(&format!("    {}\n", style.paint(Ink::Good, &tried)));
    let line = line_of(&run.source, run.model.properties[result.property].span);
    out.push_str(&hang(&format!("      line {line}   "), &format!("under {};", clean(&first.under)), columns));
    out
}

pub(crate) fn counted_turns(turns: usize) -> String {
    counted(turns as u64, "turn", "turns")
}

/// What an assumption says, in words.
pub(crate) fn meaning(assumption: &str) -> &'static str {
    let has_label = assumption.contains('@');
    match assumption.split(' ').next() {
        Some("weak") => "who can always move, moves",
        Some("strong") if has_label => "a step that can be taken again and again is taken",
        Some("strong") => "who can move again and again, moves",
        Some("every") => "everybody has a turn again and again",
        _ => "somebody moves, as long as anybody can",
    }
}

#[cfg(test)]
mod tests {
    use engine::insight::{Assumption, Remedy};

    use super::*;
    use crate::human::run as shown;
    use crate::testing::{explained, mux_sem};

    /// The text of a run whose property has this insight.
    fn text(property: &str, insight: Insight) -> String {
        let mut run = mux_sem(2);
        let id = run.model.properties.entries().find(|(_, one)| one.name == property).unwrap().0;
        run.results.retain(|result| result.property == id);
        run.results[0].insight = insight;
        shown(&explained(&run), &Context::default(), &Style::default())
    }

    fn trigger(reached: Reached) -> Vec<Trigger> {
        vec![Trigger { text: "P[i]@crit".to_owned(), variables: vec!["i".to_owned()], reached }]
    }

    #[test]
    fn a_vacuous_property_does_not_look_good() {
        let found = text("mutex", Insight { triggers: trigger(Reached::Never), ..Insight::default() });
        assert!(
            found.contains("VACUOUS   invariant mutex       holds only because P[i]@crit never happens"),
            "{found}"
        );
        assert!(!found.contains("HOLDS"), "{found}");
    }

    #[test]
    fn what_is_as_it_should_be_is_not_said_at_length() {
        let found = text("mutex", Insight { triggers: trigger(Reached::Always), ..Insight::default() });
        assert!(found.contains("HOLDS") && !found.contains("vacuous"), "{found}");
        let found = text("mutex", Insight { triggers: trigger(Reached::Sometimes), ..Insight::default() });
        assert!(found.contains("Not for all   P[i]@crit is reachable for some i, not for every i"), "{found}");
    }

    #[test]
    fn assumptions_stand_in_a_column() {
        let assumption = |text: &str, need| Assumption { text: text.to_owned(), need };
        let assumptions = vec![
            assumption("strong P[*]@trying", Need::Needed(4)),
            assumption("weak P[*]", Need::NotNeeded),
            assumption("progress", Need::Unknown),
        ];
        let found = text("mutex", Insight { assumptions, triggers: trigger(Reached::Always), ..Insight::default() });
        for line in [
            "  Assumptions   strong P[*]@trying   needed (else a loop of 4 turns)\n",
            "                weak P[*]            not needed\n",
            "                progress             not tried: it would take too long\n",
            "  Not vacuous   P[i]@crit is reachable for every i\n",
        ] {
            assert!(found.contains(line), "{found}");
        }
    }

    #[test]
    fn a_remedy_says_what_to_write() {
        let mut run = mux_sem(2);
        let remedy = |outcome| Remedy {
            added: vec!["weak P[*]".to_owned(), "strong P[*]@trying".to_owned()],
            under: "weak P[*], strong P[*]@trying".to_owned(),
            outcome,
        };
        let mut text = |outcome| {
            run.results[0].insight.remedies = vec![remedy(outcome)];
            of_violated(&run, &run.results[0], &Style::default())
        };
        let found = text(AssumedOutcome::Holds);
        assert!(
            found.contains("It would be\n  excluded by\n      weak P[*]            who can always move, moves\n"),
            "{found}"
        );
        assert!(found.contains("strong P[*]@trying   a step that can be taken again and again is taken\n"), "{found}");
        assert!(found.contains("under weak P[*], strong P[*]@trying;\n"), "{found}");
        let found = text(AssumedOutcome::Violated(3));
        assert!(found.split_whitespace().collect::<Vec<_>>().join(" ").ends_with("with a loop of 3 turns."), "{found}");
        assert_eq!(text(AssumedOutcome::Unknown), "");
    }
}
