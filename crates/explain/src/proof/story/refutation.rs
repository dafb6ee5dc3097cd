//! The story of a refutation at one size: what follows for whom, step by step, until nothing is left that a fair run could do for ever.
//!
//! In: a certificate with refutations, as `propagate` makes them. Out: sentences. The log says whose edges are looked at and what becomes smaller; here it is
//! told who does what together with whom, which cases there are, and where each of them ends. Of several ways to violate the property the first is told.

use std::collections::BTreeSet;

use evidence::Certificate;
use evidence::certificate::Claim;
use evidence::propagation::{Additive, EdgeOwner, HolderCase, NodePoint, Refutation, RefutationStep, Sights};
use model::Model;
use model::control::PlaceId;
use model::print;
use model::process::ProcessId;
use model::property::PropertyKind;
use model::value::Value;
use model::variable::CellId;

use super::{Story, StoryLine};

/// More lines are left out.
const MOST_LINES: usize = 24;

/// Values of larger types are not counted up to.
const MOST_VALUES: u128 = 4_096;

/// More view states of cases in which the same follows are not named.
const MOST_POINTS: usize = 3;

/// More cells of a view state are not named.
const MOST_CELLS: usize = 3;

/// The story; `None` where the certificate has no refutation.
pub(super) fn story(model: &Model, certificate: &Certificate) -> Option<Story> {
    let sights = certificate.facts.iter().find_map(|fact| match &fact.claim {
        Claim::Sights(sights) => Some(sights),
        _ => None,
    })?;
    let refutations = certificate.facts.iter().filter_map(|fact| match &fact.claim {
        Claim::Refutation(refutation) => Some(refutation),
        _ => None,
    });
    let refutations: Vec<&Refutation> = refutations.collect();
    let refutation = *refutations.first()?;
    let asked = model.properties.iter().find(|one| one.name == certificate.property);
    let is_of_each = asked.is_some_and(|asked| match &asked.kind {
        PropertyKind::Temporal(formula) => formula.stronger().is_some(),
        _ => false,
    });
    let teller = RefutationStory { model, sights, refutation, is_of_each };
    let mut out = Story { lines: vec![line(0, teller.supposed())], ..Story::default() };
    out.lines.extend(set_in(teller.steps(&refutation.steps)));
    let n_more = refutations.len() - 1;
    let n_images = certificate.facts.iter().filter(|fact| matches!(fact.claim, Claim::Exchanged(_))).count();
    if out.lines.len() > MOST_LINES {
        out.lines.truncate(MOST_LINES);
        out.lines.push(line(0, "and so on: the proof file has all of it".to_owned()));
    }
    if n_images > 0 {
        let text = "the same is so for the others: exchanging processes makes one of the other".to_owned();
        out.lines.push(line(0, text));
    }
    if n_more > 0 {
        let text =
            format!("{n_more} other ways to violate it are excluded one after the other, with what was found so far");
        out.lines.push(line(0, text));
    }
    Some(out)
}

struct RefutationStory<'a> {
    model: &'a Model,
    sights: &'a Sights,
    refutation: &'a Refutation,
    /// Whether it may be shown of each part of the property that it is true from some point on.
    is_of_each: bool,
}

fn line(depth: usize, text: String) -> StoryLine {
    StoryLine { depth, text }
}

/// What follows from a line.
fn set_in(lines: Vec<StoryLine>) -> impl Iterator<Item = StoryLine> {
    lines.into_iter().map(|inner| line(inner.depth + 1, inner.text))
}

/// Cases with what follows in each; those in which the same follows, together.
fn together(cases: Vec<(String, Vec<StoryLine>)>) -> Vec<(Vec<String>, Vec<StoryLine>)> {
    let mut found: Vec<(Vec<String>, Vec<StoryLine>)> = Vec::new();
    for (name, lines) in cases {
        match found.iter_mut().find(|(_, known)| *known == lines) {
            Some((names, _)) => names.push(name),
            None => found.push((vec![name], lines)),
        }
    }
    found
}

impl RefutationStory<'_> {
    fn supposed(&self) -> String {
        let instance: Vec<String> =
            self.refutation.violation.instance.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        match instance.is_empty() {
            true => "suppose that a fair run violates it".to_owned(),
            false if self.is_of_each => {
                format!("suppose that a fair run does not keep to it in the end for {}", instance.join(", "))
            }
            false => format!("suppose that a fair run violates it for {}", instance.join(", ")),
        }
    }

    fn process(&self, process: ProcessId) -> &str {
        &self.model.processes[process].name
    }

    /// Those whose edges are looked at.
    fn who(&self, of: EdgeOwner) -> String {
        match of {
            EdgeOwner::Process(process) => self.process(process).to_owned(),
            EdgeOwner::Property => match &self.refutation.members[..] {
                [] => "the run".to_owned(),
                members => members.iter().map(|&one| self.process(one)).collect::<Vec<_>>().join(" and "),
            },
        }
    }

    fn steps(&self, steps: &[RefutationStep]) -> Vec<StoryLine> {
        let mut lines = Vec::new();
        let mut chain: Vec<String> = Vec::new();
        for (at, step) in steps.iter().enumerate() {
            let is_last = at + 1 == steps.len();
            if let RefutationStep::Compatible { from, to } = step
                && !is_last
            {
                chain.push(format!("{} → {}", self.who(*from), self.who(*to)));
                continue;
            }
            // What it leaves is said by what follows.
            if !is_last && matches!(step, RefutationStep::Fair(_) | RefutationStep::Single(_)) {
                continue;
            }
            if !chain.is_empty() {
                let who = std::mem::take(&mut chain).join(", ");
                let text = format!("meanwhile each does only what goes together with what the one before does: {who}");
                lines.push(line(0, text));
            }
            match step {
                RefutationStep::Fair(of) => {
                    lines.push(line(0, format!("but no fair run keeps {} there: fair turns lead away", self.who(*of))));
                }
                RefutationStep::Single(_) => {}
                RefutationStep::Compatible { from, to } => {
                    let (from, to) = (self.who(*from), self.who(*to));
                    let text = format!("but {to} can do nothing for ever that goes together with what {from} does");
                    lines.push(line(0, text));
                }
                RefutationStep::Split { of, cases } => {
                    let told = cases.iter().map(|case| (self.points(*of, &case.points), self.steps(&case.steps)));
                    for (points, inner) in together(told.collect()) {
                        let more = if points.len() > MOST_POINTS { ", or around others" } else { "" };
                        let shown = points[..points.len().min(MOST_POINTS)].join(", or around ");
                        lines.push(line(0, format!("it goes on around {shown}{more}:")));
                        lines.extend(set_in(inner));
                    }
                }
                RefutationStep::Holder { of, invariant, cases } => {
                    let who = self.who(*of);
                    let sum = self.sum(*invariant, cases.first().map(|case| case.process));
                    lines.push(line(0, format!(
                        "{who} waits for another process: {sum} add up, and nobody else comes there, so one stays for ever"
                    )));
                    lines.extend(self.cases(cases));
                }
                RefutationStep::Scheduled(cases) => {
                    lines.push(line(0, "somebody has a turn again and again".to_owned()));
                    lines.extend(self.cases(cases));
                }
                RefutationStep::Unequal(invariant) => {
                    lines.push(line(0, format!("but then {} do not add up", self.sum(*invariant, None))));
                }
            }
        }
        lines
    }

    /// A case for each process, in which it is *it*.
    fn cases(&self, cases: &[HolderCase]) -> Vec<StoryLine> {
        let of_case = |case: &HolderCase| {
            let name = self.process(case.process);
            let lines = self.steps(&case.steps).into_iter();
            let lines = lines
                .map(|inner| line(inner.depth, inner.text.replace(&format!("keeps {name} there"), "keeps it there")));
            (name.to_owned(), lines.collect())
        };
        let mut lines = Vec::new();
        for (names, inner) in together(cases.iter().map(of_case).collect()) {
            lines.push(line(0, format!("if it is {}:", names.join(" or "))));
            lines.extend(set_in(inner));
        }
        lines
    }

    /// What an additive invariant adds up: cells, and processes by the places at which they count.
    fn sum(&self, invariant: usize, of: Option<ProcessId>) -> String {
        let Some(Additive { cells, groups, processes, .. }) = self.sights.additive.get(invariant) else {
            return "numbers".to_owned();
        };
        let mut cells: BTreeSet<CellId> = cells.iter().map(|one| one.cell).collect();
        cells.extend(groups.iter().flat_map(|group| &group.cells));
        let mut parts: Vec<String> = cells.iter().take(MOST_CELLS).map(|&cell| self.cell(cell)).collect();
        if cells.len() > MOST_CELLS {
            parts.push(format!("{} more cells", cells.len() - MOST_CELLS));
        }
        let counted = processes.iter().find(|one| of.is_none_or(|of| one.process == of)).or(processes.first());
        if let Some(counted) = counted {
            let places: BTreeSet<PlaceId> =
                counted.weights.iter().filter(|one| one.weight > 0).map(|one| one.place).collect();
            let depends = counted.weights.iter().any(|one| one.weight <= 0 && places.contains(&one.place));
            let names: Vec<&str> = places.iter().map(|&place| self.place(place)).collect();
            let kind = if depends { "some of the processes" } else { "the processes" };
            parts.push(match names.is_empty() {
                true => "processes".to_owned(),
                false => format!("{kind} at {}", names.join(", ")),
            });
        }
        parts.join(" and ")
    }

    fn cell(&self, cell: CellId) -> String {
        self.model.cells[cell].name.clone()
    }

    fn place(&self, place: PlaceId) -> &str {
        &self.model.places[place].name
    }

    /// Where the view of a case is: its processes' places, and what some shared cells hold.
    fn points(&self, of: EdgeOwner, points: &[NodePoint]) -> String {
        let members = match of {
            EdgeOwner::Process(process) => vec![process],
            EdgeOwner::Property => self.refutation.members.clone(),
        };
        let (mut cells, mut controls): (BTreeSet<CellId>, BTreeSet<ProcessId>) = Default::default();
        let mut own: BTreeSet<CellId> = BTreeSet::new();
        for &member in &members {
            let process = &self.model.processes[member];
            let n_cells = self.model.families[process.family].n_cells;
            own.extend((process.first_cell..process.first_cell + n_cells).map(CellId::new));
            controls.insert(member);
            if let Some(sight) = self.sights.seen.get(member.index()) {
                cells.extend(&sight.cells);
                controls.extend(&sight.controls);
            }
        }
        cells.extend(&own);
        if of == EdgeOwner::Property {
            cells.extend(&self.refutation.cells);
            controls.extend(&self.refutation.controls);
        }
        let Some(point) = points.first().filter(|point| point.row.len() == cells.len() + controls.len()) else {
            return "some view state".to_owned();
        };
        let (of_cells, of_controls) = point.row.split_at(cells.len());
        let stands = controls.iter().zip(of_controls).filter(|(process, _)| members.contains(process));
        let mut parts: Vec<String> = Vec::new();
        for (&process, &place) in stands {
            let place = PlaceId::new(place as usize);
            if self.model.places.get(place).is_some() {
                parts.push(format!("{}@{}", self.process(process), self.place(place)));
            }
        }
        let shared = cells.iter().zip(of_cells).filter(|(cell, _)| !own.contains(cell));
        let is_cut = cells.len() - own.len() > MOST_CELLS;
        for (&cell, &number) in shared.take(MOST_CELLS) {
            let ty = self.model.cells[cell].ty;
            let context = self.model.type_context();
            let is_small = ty.n_values(context) <= MOST_VALUES;
            let value = is_small.then(|| ty.values(context).nth(number as usize)).flatten();
            let content = |value: Value| match value {
                Value::Process(process) => self.process(process).to_owned(),
                value => print::cell_content(self.model, cell, value),
            };
            parts.extend(value.map(|value| format!("{} == {}", self.cell(cell), content(value))));
        }
        let more = match points.len() {
            0 | 1 => String::new(),
            n => format!(" (and {} more like it)", n - 1),
        };
        let open = if is_cut { ", …" } else { "" };
        format!("{}{open}{more}", parts.join(" && "))
    }
}
