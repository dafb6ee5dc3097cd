//! The program's text on a page: numbered lines, modest colour, notes between the lines.
//!
//! In: a run, which lines, and what is said before or after some of them. Out: HTML with one row for each line;
//! scripts find a row by its number and put there which process is on it.

use std::collections::BTreeMap;

use base::SourceFile;
use engine::run::Run;
use explain::names::line;
use explain::proof::{LocalProof, MemberAssertion};
use maud::{Markup, html};
use model::control::{Place, TextOwner};
use model::process::{FamilyId, ProcessId};
use model::variable::{Role, Storage};

use super::escape::{code, joined};
use super::highlight::Highlighter;
use super::table::left_out;

/// Longer texts are shown in part.
const MOST_LINES: u32 = 1500;

/// More sentences stand above the text, and are named there by their numbers.
const MOST_SENTENCES: usize = 8;

/// Of more parts about processes of one family, these are shown between the lines.
const MOST_OF_A_FAMILY: usize = 2;

/// Something said between two lines.
pub struct Note {
    /// The processes of which it is said, where these are not all.
    pub whose: String,
    /// What is said; numbered sentences by their number only.
    pub facts: Vec<String>,
}

/// What is shown of a text.
pub struct Listing<'a> {
    /// The text.
    pub source: &'a SourceFile,
    /// The first and the last line.
    pub lines: [u32; 2],
    /// What is said before a line.
    pub before: BTreeMap<u32, Vec<Note>>,
    /// A mark beside a line, with what it means.
    pub marks: BTreeMap<u32, (&'static str, &'static str)>,
    /// What the listing is, for readers who do not see it.
    pub title: String,
}

impl Listing<'_> {
    /// The listing as HTML.
    pub fn html(&self) -> Markup {
        let [first, last] = self.lines;
        let shown = last.min(first + MOST_LINES - 1);
        let mut highlighter = Highlighter::default();
        (1..first).for_each(|number| {
            highlighter.line(self.source.line(number));
        });
        html! {
            div.code role="region" tabindex="0" aria-label=(self.title) {
                @for number in first..=shown { (self.row(number, &mut highlighter)) }
                @if shown < last { (left_out(format_args!("{} more lines are not shown", last - shown))) }
            }
        }
    }

    /// A line, with what is said before it.
    fn row(&self, number: u32, highlighter: &mut Highlighter) -> Markup {
        let text = self.source.line(number);
        let indent = text.len() - text.trim_start().len();
        html! {
            @for note in self.before.get(&number).into_iter().flatten() { (note.html(indent)) }
            div.row data-line=(number) {
                span.no { (number) }
                @if let Some((mark, meaning)) = self.marks.get(&number) {
                    span.use title=(meaning) { (mark) }
                } @else if !self.marks.is_empty() {
                    span.use {}
                }
                code { (highlighter.line(text)) }
            }
        }
    }
}

impl Note {
    fn html(&self, indent: usize) -> Markup {
        let facts: Vec<Markup> = self.facts.iter().map(|fact| code(fact)).collect();
        html! {
            div.note {
                span.no {}
                span.facts style={ "--indent:" (indent.min(24)) } {
                    @if !self.whose.is_empty() { span.whose { (self.whose) } " " }
                    (joined(&facts, html! { span.and { " · " } }))
                }
            }
        }
    }
}

/// All lines, without the comment that the text begins with.
pub fn whole(source: &SourceFile) -> [u32; 2] {
    let last = u32::try_from(source.n_lines()).unwrap_or(u32::MAX).max(1);
    let says_something = |number: &u32| {
        let text = source.line(*number).trim();
        !text.is_empty() && !text.starts_with("//")
    };
    let last = (1..=last).rev().find(says_something).unwrap_or(last);
    [(1..=last).find(says_something).unwrap_or(1), last]
}

/// The lines on which some process can be, with the declarations before them.
pub fn steps(run: &Run) -> [u32; 2] {
    let model = &run.model;
    let declared = model.vars.iter().filter(|var| var.storage == Storage::Shared && var.role == Role::Declared);
    let declared = declared.map(|var| var.span).chain(model.families.iter().map(|family| family.span));
    let starts = declared.filter(|span| !span.is_empty()).map(|span| line(&run.source, span));
    let places = model.places.iter().filter(|place| !place.span.is_empty());
    let stands: Vec<u32> = places.map(|place| line(&run.source, place.span)).collect();
    let whole = whole(&run.source);
    let first = starts.chain(stands.iter().copied()).min().unwrap_or(whole[0]);
    let last = stands.iter().copied().max().unwrap_or(whole[1]);
    [first, last.min(whole[1]).max(first)]
}

/// What a proof says, before the lines of which it says it.
pub fn notes(run: &Run, explanation: &LocalProof) -> BTreeMap<u32, Vec<Note>> {
    let mut out: BTreeMap<u32, Vec<Note>> = BTreeMap::new();
    let mut n_of_family: BTreeMap<FamilyId, usize> = BTreeMap::new();
    for part in &explanation.parts {
        let process = process_of(run, part);
        let family = process.map_or(FamilyId::new(0), |process| run.model.processes[process].family);
        let Some(declared) = run.model.families.as_slice().get(family.index()) else { continue };
        let of_family = |other: &&MemberAssertion| {
            process_of(run, other).is_some_and(|id| run.model.processes[id].family == family)
        };
        // Processes of one text that rely on different things are told of above; between the lines there is room for few.
        let n_before = n_of_family.entry(family).or_default();
        *n_before += 1;
        if *n_before > MOST_OF_A_FAMILY {
            continue;
        }
        let whose = if explanation.k == 1 && explanation.parts.iter().filter(of_family).count() < 2 {
            String::new()
        } else if part.is_all {
            part.whom.clone()
        } else if part.members.len() <= 3 {
            part.members.join("; ")
        } else {
            format!("{} and {} others", part.members[0], part.members.len() - 1)
        };
        let ids: Vec<String> = (1..=part.always.len()).map(|nth| format!("I{nth}")).collect();
        if !part.always.is_empty() {
            let facts = match &ids[..] {
                [first, .., last] if ids.len() > MOST_SENTENCES => vec![format!("{first} to {last}")],
                _ => ids.iter().zip(&part.always).map(|(id, one)| format!("{id}  {}", one.text)).collect(),
            };
            let at = body(run, family).unwrap_or_else(|| line(&run.source, declared.span));
            out.entry(at).or_default().push(Note { whose: whose.clone(), facts });
        }
        for place in run.model.places.iter().filter(|place| place.scope == TextOwner::Family(family)) {
            let stands = |names: &[String]| names.iter().any(|name| is_called(place, name));
            let said = part.places.iter().find(|at| stands(&at.at));
            // What holds everywhere is said once, where the text of the process begins.
            let facts: Vec<String> = match said {
                Some(at) => at.says.iter().map(|one| one.text.clone()).collect(),
                None if stands(&part.unreached) => vec!["never here".to_owned()],
                None => continue,
            };
            if facts.is_empty() {
                continue;
            }
            let notes = out.entry(line(&run.source, place.span)).or_default();
            let note = Note { whose: whose.clone(), facts };
            if !notes.iter().any(|known| known.whose == note.whose && known.facts == note.facts) {
                notes.push(note);
            }
        }
    }
    out
}

/// The process of which a part speaks; of several, the first.
fn process_of(run: &Run, part: &MemberAssertion) -> Option<ProcessId> {
    let first = part.members.first()?.split(" and ").next()?.split(", ").next()?;
    run.model.processes.entries().find(|(_, process)| process.name == first).map(|(id, _)| id)
}

/// The line after the one on which a family is declared.
fn body(run: &Run, family: FamilyId) -> Option<u32> {
    let declared = &run.model.families[family];
    let next = line(&run.source, declared.span) + 1;
    (!declared.span.is_empty() && next as usize <= run.source.n_lines()).then_some(next)
}

fn is_called(place: &Place, name: &str) -> bool {
    place.name == name || place.labels.iter().any(|label| label == name)
}
