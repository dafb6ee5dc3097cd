//! A proof for people: what each process may rely on, why the property follows, what the proof examined.
//!
//! By default the invariants and a few lines about them; with `-v` everything, obligations included. A proof that is too large to be
//! read says so.

use engine::insight::ProductSize;
use engine::run::{Audit, PropertyResult};
use evidence::Certificate;
use explain::Explained;
use explain::proof::story::WaitLine;
use explain::proof::{LocalProof, MemberAssertion, Story};

use super::{Context, Verbosity, insight};
use crate::numbers::{bytes, count, counted, duration};
use crate::proof_check::obligation_words;
use crate::style::{Ink, Mark, Style};
use crate::text::{clean, hang, pad, width};

/// How many lines of invariants are shown without `-v`.
const MOST_LINES: usize = 12;
/// How wide the column of places may be.
const PLACES: usize = 24;

/// Everything about a proof, under its verdict.
pub fn block(
    run: &Explained,
    (result, proof): (&PropertyResult, &Certificate),
    context: &Context,
    style: &Style,
) -> String {
    let is_verbose = context.verbosity == Verbosity::Verbose;
    let mut out = String::new();
    if let Some(earlier) = run.earlier(result) {
        let text = format!("by the same invariants as {}", clean(&run.model.properties[earlier.property].name));
        out.push_str(&hang("  ", &text, style.width.min(80)));
    } else if let Some(explanation) = run.proof(result) {
        let page = Page { style, columns: style.width.min(80), most: if is_verbose { usize::MAX } else { MOST_LINES } };
        out.push_str(&page.invariants(explanation));
        if let Some(why) = explain::proof::why(&run.model, result.property, explanation) {
            out.push_str(&page.row("Why it follows", &why));
        }
        out.push_str(&page.exposed(explanation, result.statistics.refinements, is_verbose));
        if is_verbose {
            for (nth, round) in result.statistics.exposures.iter().enumerate() {
                let text = explain::proof::round(&run.model, proof, round);
                out.push_str(&page.row(&format!("  round {}", nth + 1), &clean(&text)));
            }
        }
        out.push_str(&page.interfering_steps(explanation, result, is_verbose));
        out.push_str(&page.lines(explanation));
        out.push_str(&insight::other_sizes(&result.insight, style));
    }
    if let Some(story) = run.story(result) {
        let page = Page { style, columns: style.width.min(80), most: if is_verbose { usize::MAX } else { MOST_LINES } };
        out.push_str(&page.story(story));
    }
    if let Some(proof) = proof.pushdown() {
        let page = Page { style, columns: style.width.min(80), most: usize::MAX };
        let mut facts: Vec<String> = Vec::new();
        for fact in &proof.exposed {
            let (process, text) = crate::guarantees::exposed(&run.model, fact);
            let separator = if text.starts_with('@') { "" } else { "." };
            facts.push(clean(&format!("{process}{separator}{text}")));
        }
        let n_more = facts.len().saturating_sub(MOST_LINES);
        if n_more > 0 && !is_verbose {
            facts.truncate(MOST_LINES);
            facts.push(format!("and {n_more} more"));
        }
        if !facts.is_empty() {
            out.push_str(&page.row("Exposed", &facts.join(", ")));
        }
    }
    out.push_str(&insight::of_holding(run, result, context, style));
    out.push_str(&sizes(result, is_verbose, style));
    out.push_str(&checked(result, is_verbose, style));
    out
}

struct Page<'a> {
    style: &'a Style,
    columns: usize,
    /// The most lines of invariants.
    most: usize,
}

impl Page<'_> {
    /// A line with its heading.
    fn row(&self, heading: &str, text: &str) -> String {
        hang(&format!("  {heading:<18}   "), text, self.columns)
    }

    fn invariants(&self, explanation: &LocalProof) -> String {
        let mut out = String::new();
        for (nth, part) in explanation.parts.iter().enumerate() {
            // Beyond the first few, processes that are all different are counted.
            if nth > 0 && out.lines().count() > self.most {
                let left: usize = explanation.parts[nth..].iter().map(|part| part.members.len()).sum();
                let more = counted(left as u64, "more invariant", "more invariants");
                out.push_str(&format!("  {} {more} of other processes: -v shows them\n", self.style.mark(Mark::Cut)));
                break;
            }
            out.push_str(&self.part(part));
        }
        if explanation.is_ring && explanation.names_neighbours() {
            let text = match explanation.is_scene {
                true => "i + 1 and i - 1 are the neighbours of i",
                false => "i + 1 and i - 1 are the neighbours of i in the ring of processes",
            };
            out.push_str(&hang("    ", text, self.columns));
        }
        if !explanation.unexplained.is_empty() {
            let text = "The sets of this proof are too large to be put into words. A smaller N may be readable; the proof file has them all.";
            out.push_str(&hang("  ", text, self.columns));
        }
        out
    }

    /// What is said of one member, or of all that read the same.
    fn part(&self, part: &MemberAssertion) -> String {
        let mut out = format!("  {}\n", self.style.paint(Ink::Strong, &title(part)));
        let mut lines = String::new();
        for (nth, one) in part.always.iter().enumerate() {
            lines.push_str(&hang(&format!("    I{:<3} ", nth + 1), &one.text, self.columns));
        }
        let informative = part.places.iter().filter(|at| !at.says.is_empty()).count();
        if informative > 0 {
            let widest = part.places.iter().map(|at| width(&at.at.join(", "))).max().unwrap_or(0).min(PLACES);
            for at in &part.places {
                let nothing = if part.always.is_empty() { "nothing" } else { "nothing more" };
                let texts: Vec<&str> = at.says.iter().map(|one| one.text.as_str()).collect();
                let text = if texts.is_empty() { nothing.to_owned() } else { texts.join(",  ") };
                lines.push_str(&self.at_places(&at.at.join(", "), &text, widest));
            }
        }
        if part.n_left_out > 0 {
            let left_out = counted(part.n_left_out as u64, "sentence was", "sentences were");
            lines.push_str(&hang("    ", &format!("{left_out} not checked and left out"), self.columns));
        } else if part.is_cut {
            lines.push_str("    and more, which is not said shortly\n");
        } else if part.always.is_empty() && informative == 0 {
            lines.push_str("    nothing: any combination of values will do\n");
        }
        if !part.unreached.is_empty() {
            lines.push_str(&hang("    never at   ", &part.unreached.join(", "), self.columns));
        }
        let n_lines = lines.lines().count();
        let shown: Vec<&str> = lines.lines().take(self.most).collect();
        out.extend(shown.iter().map(|line| format!("{line}\n")));
        if n_lines > self.most {
            let more = counted((n_lines - self.most) as u64, "more line", "more lines");
            out.push_str(&format!("    {} {more}: -v shows them\n", self.style.mark(Mark::Cut)));
        }
        out
    }

    fn at_places(&self, places: &str, text: &str, widest: usize) -> String {
        let lead = format!("    at {}   ", pad(places, widest));
        if width(places) <= widest {
            return hang(&lead, text, self.columns);
        }
        let below = " ".repeat(width(&lead));
        format!("{}{}", hang("    at ", places, self.columns), hang(&below, text, self.columns))
    }

    /// Which process waits for which, and why that ends.
    fn story(&self, story: &Story) -> String {
        let mut lines = String::new();
        let mut who = "";
        let widest = story.waits.iter().map(|wait| width(&wait.at)).max().unwrap_or(0).min(PLACES);
        for wait in &story.waits {
            if wait.who != who {
                who = &wait.who;
                lines.push_str(&hang("    ", who, self.columns));
            }
            lines.push_str(&hang(&format!("      at {}   ", pad(&wait.at, widest)), &wait_text(wait), self.columns));
        }
        for line in &story.lines {
            let lead = format!("    {}{} ", "  ".repeat(line.depth), self.style.mark(Mark::Dot));
            lines.push_str(&hang(&lead, &line.text, self.columns));
        }
        if lines.is_empty() {
            return lines;
        }
        let title = story_title(story);
        let mut out = format!("  {}\n", self.style.paint(Ink::Strong, title));
        let n_lines = lines.lines().count();
        let most = self.most.saturating_mul(2);
        out.extend(lines.lines().take(most).map(|line| format!("{line}\n")));
        if n_lines > most {
            let more = counted((n_lines - most) as u64, "more line", "more lines");
            out.push_str(&format!("    {} {more}: -v shows them\n", self.style.mark(Mark::Cut)));
        }
        out
    }

    /// The exposed facts that the proof used.
    fn exposed(&self, explanation: &LocalProof, rounds: Option<u64>, is_verbose: bool) -> String {
        if explanation.exposed.is_empty() {
            return String::new();
        }
        let n_facts = counted(explanation.exposed.len() as u64, "fact", "facts");
        let rounds = rounds.filter(|&rounds| rounds > 0).map(|rounds| counted(rounds, "round", "rounds"));
        let after = rounds.map(|rounds| format!(" in {rounds} of refinement")).unwrap_or_default();
        let few = if is_verbose { usize::MAX } else { 6 };
        let mut facts: Vec<String> = explanation.exposed.iter().take(few).map(|fact| fact.text.clone()).collect();
        if explanation.exposed.len() > few {
            facts.push(self.style.mark(Mark::Cut).to_owned());
        }
        self.row("Looked into others", &format!("{n_facts} exposed{after}: {}", facts.join(", ")))
    }

    /// Which steps of others touch what a process relies on, and that they keep it.
    fn interfering_steps(&self, explanation: &LocalProof, result: &PropertyResult, is_verbose: bool) -> String {
        let few = if is_verbose { usize::MAX } else { 4 };
        let ok = self.style.mark(Mark::Holds);
        let mut steps: Vec<String> = explanation
            .interfering_steps
            .iter()
            .take(few)
            .map(|step| format!("`{}` (line {})", step.statement, step.line))
            .collect();
        if explanation.interfering_steps.len() > few {
            steps.push(format!("{} more", explanation.interfering_steps.len() - few));
        }
        if steps.is_empty() {
            return String::new();
        }
        let verb = if explanation.interfering_steps.len() == 1 { "keeps" } else { "keep" };
        // That they keep it is what the checker of the proof finds out.
        match result.audit.is_accepted() {
            true => self.row("Steps of others", &format!("{} {verb} all of this {ok}", steps.join(", "))),
            false => self.row("Steps of others", &format!("{} touch this", steps.join(", "))),
        }
    }

    fn lines(&self, explanation: &LocalProof) -> String {
        let list = |lines: &std::collections::BTreeSet<u32>| {
            let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
            let word = if lines.len() == 1 { "line" } else { "lines" };
            format!("{word} {}", lines.join(", "))
        };
        match (explanation.used_lines.is_empty(), explanation.unused_lines.is_empty()) {
            (true, _) => String::new(),
            (false, true) => self.row("Used by the proof", &list(&explanation.used_lines)),
            (false, false) => {
                let text =
                    format!("{}; not needed: {}", list(&explanation.used_lines), list(&explanation.unused_lines));
                self.row("Used by the proof", &text)
            }
        }
    }
}

/// The title of a story.
pub(crate) fn story_title(story: &Story) -> &'static str {
    match (story.waits.is_empty(), story.lines.is_empty()) {
        (true, _) => "Why it ends",
        (false, true) => "Who waits for whom",
        (false, false) => "Who waits for whom, and why it ends",
    }
}

/// What a process waits for.
pub(crate) fn wait_text(wait: &WaitLine) -> String {
    let holds = if wait.holds.is_empty() { "waits".to_owned() } else { format!("waits while {}", wait.holds) };
    match wait.whom.is_empty() {
        true => holds,
        false => format!("{holds}: for {}", wait.whom.join("; or for ")),
    }
}

/// Whose invariants follow.
pub(crate) fn title(part: &MemberAssertion) -> String {
    format!("What may be relied on by {}", part.whom)
}

/// Sizes and time, dim.
fn sizes(result: &PropertyResult, is_verbose: bool, style: &Style) -> String {
    let statistics = &result.statistics;
    let mut parts = vec![format!("method {}", result.method)];
    if let Some(local) = &statistics.local_states {
        let known: Vec<u64> = local.iter().flatten().copied().collect();
        match (known.iter().min(), known.iter().max()) {
            (Some(least), Some(most)) if known.len() == local.len() && least == most => {
                parts.push(format!("{} each", counted(*most, "local state", "local states")));
            }
            (Some(least), Some(most)) if known.len() == local.len() => {
                parts.push(format!("{} to {} local states each", count(*least), count(*most)));
            }
            _ => parts.push("local sets too large to count".to_owned()),
        }
    }
    if let Some(product) = &result.insight.product {
        parts.push(product_words(product));
    }
    if let Some(nodes) = statistics.peak_nodes.filter(|_| is_verbose) {
        parts.push(counted(nodes, "node", "nodes"));
    }
    if let Some(memory) = statistics.peak_memory_bytes.filter(|_| is_verbose) {
        parts.push(bytes(memory));
    }
    parts.push(duration(statistics.time));
    if result.audit.is_accepted() {
        parts.push("proof checked".to_owned());
    }
    let text = parts.join(&format!(" {} ", style.mark(Mark::Dot)));
    // On a usual terminal it is one line, if a little longer than the others.
    let lines = if style.width < 80 { hang("  ", &text, style.width) } else { format!("  {text}\n") };
    lines.lines().map(|line| style.paint(Ink::Dim, line) + "\n").collect()
}

/// How large the product is, beside the sizes of a proof.
pub(crate) fn product_words(product: &ProductSize) -> String {
    let more = if product.is_whole { "" } else { "over " };
    format!("{more}{} in the product", count(product.states))
}

/// What the independent checker says of the proof.
fn checked(result: &PropertyResult, is_verbose: bool, style: &Style) -> String {
    let columns = style.width.min(80);
    match &result.audit {
        Audit::Proof(obligations) if is_verbose => {
            hang("  Obligations          ", &obligation_words(obligations), columns)
        }
        Audit::Stopped(reason) => {
            let text = format!("not checked by independent code: {}", clean(&reason.to_string()));
            hang(&format!("  {} ", style.mark(Mark::Warning)), &text, columns)
        }
        Audit::Proof(_) | Audit::Accepted | Audit::NotDone => String::new(),
    }
}

#[cfg(test)]
mod tests;
