//! The log of a refutation for every size, told step by step: what one process would do for ever, which processes that forces to do something for ever, and so on.
//!
//! In: the views, and branches that list the views of what lasts. Out: a story. What is said of something that lasts is true in all views that are listed for it,
//! which the checker compared with the component; the judge evaluates every such sentence.

use base::Budget;
use evidence::crowd::{Branch, CrowdRefutation, CrowdSum, Lasting};
use evidence::views::{Item, ViewsProof};
use model::Model;

use super::super::formula::{Letter, NamedProcess, PlaceName, SentenceFormula};
use super::super::member::letters;
use super::super::render;
use super::super::scene::{CertificateScene, SceneEntry, Shown, in_order, is_true, relettered};
use super::sums::{counted, tally};
use super::{Picture, Story, StoryLine};

/// Longer stories are cut.
const MOST_LINES: usize = 40;

/// The story; `None` where the views are too many, or not given.
pub(super) fn story(model: &Model, views: &ViewsProof, claims: &[&CrowdRefutation], budget: &Budget) -> Option<Story> {
    let scene = in_order(model, views)?;
    if scene.rows.len() != views.views.len() {
        return None;
    }
    let names = letters(model, &[model.families[views.family].first]).letters;
    let mut out = Story::default();
    let mut explanation: Vec<(Vec<CrowdSum>, Vec<Branch>)> = Vec::new();
    for claim in claims {
        // Ways that differ by assumptions only are often excluded in the same way.
        let known = (claim.sums.clone(), claim.branches.clone());
        if explanation.contains(&known) {
            continue;
        }
        let mut teller =
            CrowdStory { model, views, scene: &scene, names: &names, sums: &claim.sums, budget, out: &mut out };
        teller.first(claim)?;
        explanation.push(known);
    }
    if out.lines.len() > MOST_LINES {
        out.lines.truncate(MOST_LINES);
        out.lines.push(StoryLine { depth: 0, text: "and so on: the proof file has all of it".to_owned() });
    }
    Some(out)
}

struct CrowdStory<'a> {
    model: &'a Model,
    views: &'a ViewsProof,
    scene: &'a CertificateScene,
    names: &'a [String],
    sums: &'a [CrowdSum],
    budget: &'a Budget,
    out: &'a mut Story,
}

impl CrowdStory<'_> {
    fn first(&mut self, claim: &CrowdRefutation) -> Option<()> {
        let who = self.process(0);
        if claim.branches.is_empty() {
            self.say(0, format!("no fair run of any process {} goes on so that it is violated", self.names[0]));
            return Some(());
        }
        for branch in &claim.branches {
            let what = self.lasting(&branch.views, 0)?;
            let suppose = match claim.violation.instance.is_empty() {
                true => format!(
                    "suppose that a fair run violates it; then from some step on, for a process {}: {what}",
                    self.names[0]
                ),
                false => format!("suppose that a fair run violates it for {who}; then from some step on: {what}"),
            };
            let at = self.draw(&branch.views, 0);
            self.say(0, suppose);
            self.because(branch, (0, 1), at)?;
        }
        Some(())
    }

    /// Why a component does not last. `letter` is the process that it is about, `depth` how far the line is set in.
    fn because(&mut self, branch: &Branch, (letter, depth): (usize, usize), at: usize) -> Option<()> {
        let who = self.process(letter);
        match &branch.because {
            Lasting::Others(branches) if branches.is_empty() => {
                self.say(depth, "but no other process can do for ever what goes together with that".to_owned());
                self.end(at, "no fair others");
            }
            Lasting::Others(branches) => {
                for inner in branches {
                    let (before, after) = (self.lasting(&branch.views, letter)?, self.lasting(&inner.views, letter)?);
                    if before != after {
                        self.say(depth, format!("with what others do meanwhile, only this is left: {after}"));
                    }
                    self.because(inner, (letter, depth), at)?;
                }
            }
            Lasting::Named { column, branches } => {
                let cell = self.shared(*column)?;
                let next = letter + 1;
                let other = self.process(next);
                let is_me = |row: usize| self.views.views[row].shared.get(*column) == Some(&Item::Slot(0));
                let rows: Vec<usize> = (0..self.scene.rows.len()).filter(|&row| is_me(row)).collect();
                let there = self.stands(&rows, next);
                self.say(
                    depth,
                    format!("{cell} names one and the same other process all the time, {other}, for whom {who} waits"),
                );
                if let Some(there) = there {
                    self.say(depth, format!("whoever {cell} names {there}"));
                }
                self.onward(branches, (&rows, next, depth), (at, &cell))?;
            }
            Lasting::Holder { sum, branches } => {
                let sum = self.sums.get(*sum)?;
                let next = letter + 1;
                let other = self.process(next);
                let said =
                    tally(self.model, self.views, sum).map(|formula| render::text(self.model, self.names, &formula));
                let family = self.views.family;
                let body =
                    counted(self.scene, NamedProcess::Letter(Letter { at: next, family }), &|row| sum.right[row] > 0);
                let holds = body.map(|body| render::text(self.model, self.names, &body));
                let rows: Vec<usize> = (0..self.scene.rows.len()).filter(|&row| sum.right[row] > 0).collect();
                let why = said.unwrap_or_else(|| "a sum over all processes".to_owned());
                let is_so = holds.unwrap_or_else(|| format!("{other} adds to it"));
                self.say(
                    depth,
                    format!("{why}: another process is counted all the time, and nobody begins to be, so for one {} all the time: {is_so}", self.names[next]),
                );
                self.onward(branches, (&rows, next, depth), (at, &is_so))?;
            }
        }
        Some(())
    }

    /// What follows for the process that comes next: it would stay within these views.
    fn onward(
        &mut self,
        branches: &[Branch],
        (rows, letter, depth): (&[usize], usize, usize),
        (from, words): (usize, &str),
    ) -> Option<()> {
        let other = self.process(letter);
        let at = self.draw(rows, letter);
        self.out.picture.arrows.push((from, at, words.to_owned()));
        if branches.is_empty() {
            self.say(
                depth,
                format!(
                    "but no fair run keeps {other} there: fair turns lead away, so {who} does not wait for ever",
                    who = self.process(0)
                ),
            );
            self.end(at, "moves on");
        }
        for branch in branches {
            let what = self.lasting(&branch.views, letter)?;
            self.say(depth, format!("then from some step on: {what}"));
            self.because(branch, (letter, depth + 1), at)?;
        }
        Some(())
    }

    fn say(&mut self, depth: usize, text: String) {
        let line = StoryLine { depth, text };
        if self.out.lines.last() != Some(&line) {
            self.out.lines.push(line);
        }
    }

    /// `P[i]`.
    fn process(&self, letter: usize) -> String {
        let family = &self.model.families[self.views.family];
        format!("{}[{}]", crate::text::clean(&family.name), self.names[letter])
    }

    fn shared(&self, column: usize) -> Option<String> {
        match self.views.shared.get(column)? {
            evidence::views::SharedColumn::Cell(cell) => Some(crate::text::clean(&self.model.cells[*cell].name)),
            _ => None,
        }
    }

    /// The places of the process of these views: `stands at crit, leave`.
    fn stands(&self, rows: &[usize], _letter: usize) -> Option<String> {
        let spots = self.spots(rows);
        let all = self.spots(&(0..self.scene.rows.len()).collect::<Vec<_>>());
        if spots.is_empty() || spots.len() == all.len() {
            return None;
        }
        Some(format!("stands at {}", self.place_names(&spots)))
    }

    fn spots(&self, rows: &[usize]) -> Vec<PlaceName> {
        let control = self.scene.columns.iter().position(|shown| *shown == Shown::Place(self.scene.letter(0)));
        let Some(control) = control else { return Vec::new() };
        let mut found: Vec<PlaceName> = Vec::new();
        for &row in rows {
            if let SceneEntry::Place(place) = self.scene.rows[row][control] {
                let spot = PlaceName { place, counters: None };
                if !found.contains(&spot) {
                    found.push(spot);
                }
            }
        }
        found.sort();
        found
    }

    fn place_names(&self, spots: &[PlaceName]) -> String {
        let names: Vec<String> = spots.iter().map(|spot| render::place_name(self.model, spot.place)).collect();
        names.join(", ")
    }

    /// What is so in all of these views and not in all others, of the process of a letter: `P[i]@trying && x == 0`.
    fn lasting(&self, views: &[usize], letter: usize) -> Option<String> {
        if views.is_empty() || views.iter().any(|view| *view >= self.scene.rows.len()) {
            return None;
        }
        let mut parts: Vec<SentenceFormula> = Vec::new();
        let part = CertificateScene {
            rows: views.iter().map(|&view| self.scene.rows[view].clone()).collect(),
            ..self.scene.clone()
        };
        for column in 0..self.scene.columns.len() {
            let of = |rows: &[Vec<SceneEntry>]| {
                let mut found: Vec<SceneEntry> = rows.iter().map(|row| row[column]).collect();
                found.sort_unstable();
                found.dedup();
                found
            };
            let (here, anywhere) = (of(&part.rows), of(&self.scene.rows));
            let outside: Vec<SceneEntry> = anywhere.iter().filter(|entry| !here.contains(entry)).copied().collect();
            if outside.is_empty() || here.contains(&SceneEntry::Hidden) {
                continue;
            }
            parts.extend(self.scene.says(column, &here, &outside));
        }
        parts.retain(|formula| is_true(&part, formula, self.budget));
        if parts.is_empty() {
            return Some(format!("{} goes on somehow", self.process(letter)));
        }
        // Its places for ever are said so, whether or not most places are meant.
        let formula = SentenceFormula::all(parts);
        Some(render::text(self.model, self.names, &relettered(&formula, &|at| if at == 0 { letter } else { at })))
    }

    /// A box for what lasts.
    fn draw(&mut self, views: &[usize], letter: usize) -> usize {
        let mut rows = vec![self.process(letter)];
        let spots = self.spots(views);
        rows.push(format!("at {}", self.place_names(&spots)));
        self.out.picture.boxes.push(rows);
        self.out.picture.boxes.len() - 1
    }

    fn end(&mut self, at: usize, words: &str) {
        let Picture { boxes, arrows, ends } = &mut self.out.picture;
        boxes.push(vec![words.to_owned()]);
        ends.push(boxes.len() - 1);
        arrows.push((at, boxes.len() - 1, "fairness".to_owned()));
    }
}
