//! Which lines a proof needs, and which steps of others touch what a process relies on.
//!
//! In: the sentences about each member. A step **matters** if it touches a variable that some sentence speaks of, or leads between
//! places of which different things are said, by the process itself or, through exposed facts, by others. A line is *not needed* if none of its
//! steps matters: taken out, every obligation of the proof would still be the same. A step **interferes** with another process if it writes a variable, or
//! changes an exposed fact, that a sentence of the other one speaks of.

use std::collections::{BTreeMap, BTreeSet};

use base::SourceFile;
use evidence::certificate::Column;
use model::control::ActionId;
use model::eval::Counters;
use model::footprint::footprint;
use model::points::{PointTarget, Points};
use model::process::ProcessId;
use model::variable::{CellId, Role};

use super::member::MemberSentences;
use super::words::{InvariantWords, holds_at};
use super::{ExplainedMember, LocalProof, MemberAssertion, cells};
use crate::names::line;
use crate::text::clean;

/// More points than this are not examined.
const MOST_POINTS: usize = 5_000;

/// A step of the program.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourceStep {
    /// The line of its statement.
    pub line: u32,
    /// The statement.
    pub statement: String,
}

/// Fills in the lines and interference of an explanation.
pub(super) fn fill(
    words: &InvariantWords<'_>,
    source: &SourceFile,
    members: &[ExplainedMember<'_>],
    out: &mut LocalProof,
) {
    let model = words.model;
    let mut steps: BTreeSet<SourceStep> = BTreeSet::new();
    let mut all_lines = BTreeSet::new();
    // Where members represent their images, so do processes beside those of the member: with three of each family, every pair is examined.
    let is_examined = |process: &ProcessId| {
        let first = model.families[model.processes[*process].family].first;
        words.invariant.symmetry.is_none() || process.index() - first.index() < 4
    };
    let is_exact = out.parts.iter().all(|part| part.n_left_out == 0);
    for process in model.processes.ids().filter(is_examined) {
        let Some(points) = Points::of(model, process, MOST_POINTS) else { return };
        let examiner = StepExaminer { words, process, members };
        for (at, point) in points.points.iter().enumerate() {
            for exit in &point.exits {
                let statement = &model.statements[model.actions[exit.action].statement];
                let number = line(source, statement.span);
                all_lines.insert(number);
                let target = match exit.target {
                    PointTarget::Point(id) => Some(id.index()),
                    PointTarget::Return | PointTarget::Fault(_) => None,
                };
                let counters = &point.counters;
                if examiner.matters(exit.action, counters, (at, target), &points) {
                    out.used_lines.insert(number);
                }
                if examiner.interferes(exit.action, counters, (at, target), &points) {
                    let step = SourceStep { line: number, statement: clean(&statement.text) };
                    let written = footprint(model, process, exit.action, counters).writes;
                    for part in &mut out.parts {
                        examiner.note_touched(part, &step, &written, &|sentences| {
                            examiner.changes_block(sentences, (at, target), &points)
                        });
                    }
                    steps.insert(step);
                }
            }
        }
    }
    // Only where the sentences say all that the sets say is a line not needed of which they do not speak.
    if is_exact {
        out.unused_lines = all_lines.difference(&out.used_lines).copied().collect();
    }
    let spoken: BTreeSet<_> = members.iter().flat_map(|one| cells(&one.sentences.columns)).collect();
    for cell in spoken {
        let var = &model.vars[model.cells[cell].var];
        if var.role == Role::Declared {
            out.used_lines.insert(line(source, var.span));
        }
    }
    out.interfering_steps = steps.into_iter().collect();
}

/// Examines the steps of one process.
struct StepExaminer<'a> {
    words: &'a InvariantWords<'a>,
    process: ProcessId,
    members: &'a [ExplainedMember<'a>],
}

impl StepExaminer<'_> {
    /// Whether a step touches what some sentence speaks of, or changes what is said.
    fn matters(&self, action: ActionId, counters: &Counters, ends: (usize, Option<usize>), points: &Points) -> bool {
        let touched = footprint(self.words.model, self.process, action, counters).cells();
        let touches = self.members.iter().any(|one| !cells(&one.sentences.columns).is_disjoint(&touched));
        touches || self.moves_within_sentences(ends, points) || self.interferes(action, counters, ends, points)
    }

    /// Whether a step writes what a sentence of another process speaks of, or changes a fact that it reads.
    fn interferes(&self, action: ActionId, counters: &Counters, ends: (usize, Option<usize>), points: &Points) -> bool {
        let written = footprint(self.words.model, self.process, action, counters).writes;
        let others = self.members.iter().filter(|one| one.member.processes != [self.process]);
        { others }.any(|one| {
            !cells(&one.sentences.columns).is_disjoint(&written) || self.changes_block(&one.sentences, ends, points)
        })
    }

    /// Notes the step beside each sentence of the part that speaks of what it writes or, through exposed facts, of what it changes.
    fn note_touched(
        &self,
        part: &mut MemberAssertion,
        step: &SourceStep,
        written: &BTreeSet<CellId>,
        changes: &dyn Fn(&MemberSentences) -> bool,
    ) {
        part.touched_by.resize(part.sentences().len(), Vec::new());
        for (nth, said) in part.said.iter().enumerate() {
            let ExplainedMember { member, sentences } = &self.members[said.member];
            if member.processes.contains(&self.process) {
                continue;
            }
            let changes_fact = changes(sentences);
            let columns: Vec<&Vec<Column>> = part
                .always
                .iter()
                .chain(part.places.iter().flat_map(|at| &at.says))
                .map(|one| &one.columns[nth])
                .collect();
            for (columns, touched) in columns.into_iter().zip(&mut part.touched_by) {
                let looks_at_mover = columns.contains(&Column::Exposed(self.process)) && changes_fact;
                if (looks_at_mover || !cells(columns).is_disjoint(written)) && !touched.contains(step) {
                    touched.push(step.clone());
                }
            }
        }
    }

    /// Whether a step leads to a place of which something else is said.
    fn moves_within_sentences(&self, (from, to): (usize, Option<usize>), points: &Points) -> bool {
        let Some(to) = to else { return true };
        let (Some(from), Some(to)) = (self.number(from, points), self.number(to, points)) else { return true };
        self.members.iter().filter(|one| one.member.processes.contains(&self.process)).any(
            |ExplainedMember { sentences, .. }| {
                let class = |point: usize| {
                    let classes = sentences.classes_of(Column::Control(self.process))?;
                    classes.iter().position(|class| class.contains(&(point as u32)))
                };
                let place = |point: usize| sentences.places.iter().position(|at| at.points.contains(&(point as u32)));
                place(from) != place(to) || class(from) != class(to)
            },
        )
    }

    /// Whether a step changes what the process exposes, as far as sentences distinguish that.
    fn changes_block(&self, sentences: &MemberSentences, (from, to): (usize, Option<usize>), points: &Points) -> bool {
        let Some(classes) = sentences.classes_of(Column::Exposed(self.process)) else { return false };
        let Some(to) = to else { return true };
        let (Some(from), Some(to)) = (self.number(from, points), self.number(to, points)) else { return true };
        match (self.class_at(classes, from), self.class_at(classes, to)) {
            (Some(from), Some(to)) => from != to,
            // Facts about variables are exposed, too; any step may change them.
            _ => true,
        }
    }

    /// The class of the block at a point, where blocks depend on places only.
    fn class_at(&self, classes: &[Vec<u32>], point: usize) -> Option<usize> {
        let exposed = &self.words.invariant.exposed[self.process.index()];
        let facts = exposed.facts.iter().map(|fact| holds_at(fact, point)).collect::<Option<Vec<bool>>>()?;
        let block = exposed.blocks.iter().position(|block| *block == facts)?;
        classes.iter().position(|class| class.contains(&(block as u32)))
    }

    /// The number of a point in the certificate.
    fn number(&self, point: usize, points: &Points) -> Option<usize> {
        let point = points.points.as_slice().get(point)?;
        let counters: BTreeMap<_, _> = point.counters.clone().into_iter().collect();
        self.words.invariant.points[self.process.index()].iter().position(|known| {
            known.place == point.place
                && known
                    .counters
                    .iter()
                    .all(|(cell, value)| counters.get(&self.words.model.cells[*cell].var) == Some(value))
        })
    }
}
