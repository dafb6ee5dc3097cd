//! What lies between steps: the points that control passes without stopping.
//!
//! In: the points of a text. Out: where control lands from a point, the first steps of a choice, the points that are reached at all, and whether
//! control could run in circles without ever taking a step, which is refused.

use std::collections::HashSet;

use base::Diagnostic;

use super::points::{Graph, PointId, PointKind};
use crate::codes::check as code;
use crate::pw::ast::{Statement, StatementKind};

/// A first step of what follows a place.
pub(super) struct Leaf<'a> {
    /// Which step.
    pub step: LeafStep<'a>,
    /// The labels that it carries.
    pub labels: Vec<&'a str>,
}

/// The kinds of first steps.
pub(super) enum LeafStep<'a> {
    /// The statement, or the test, at this point.
    At(PointId<'a>),
    /// A step without effect, after which control goes on from this point: a branch that begins with no step of its own.
    Silent(PointId<'a>),
    /// The branch of this choice that has no statements.
    Empty(PointId<'a>),
}

impl<'a> Graph<'a> {
    /// Where control may go from a point without a step, directly.
    fn passes_to(&self, id: PointId<'a>) -> Vec<PointId<'a>> {
        let point = &self.points[id];
        match &point.kind {
            PointKind::Loop(body) => vec![*body],
            PointKind::For(inner) if inner.is_nonempty => vec![inner.body],
            PointKind::For(inner) => vec![inner.body, point.after],
            PointKind::Again(_, body) => vec![*body, point.after],
            PointKind::Jump(_, target) => target.iter().copied().collect(),
            PointKind::Step(_) | PointKind::Test { .. } | PointKind::Either(_) | PointKind::End => Vec::new(),
        }
    }

    /// Whether a process can stand at the point.
    pub fn is_standing(&self, id: PointId<'a>) -> bool {
        let kind = &self.points[id].kind;
        matches!(kind, PointKind::Step(_) | PointKind::Test { .. } | PointKind::Either(_) | PointKind::End)
    }

    /// The points at which control may stop on its way from a point.
    pub fn landing(&self, from: PointId<'a>) -> Vec<PointId<'a>> {
        let (mut open, mut seen, mut found) = (vec![from], HashSet::new(), Vec::new());
        while let Some(id) = open.pop() {
            if !seen.insert(id) {
                continue;
            }
            if self.is_standing(id) {
                found.push(id);
            }
            open.extend(self.passes_to(id).into_iter().rev());
        }
        found
    }

    /// The first steps of what follows a point at which a process stands.
    pub fn leaves(&self, id: PointId<'a>) -> Vec<Leaf<'a>> {
        let mut found = Vec::new();
        self.collect_leaves(id, &[], &mut found);
        found
    }

    fn collect_leaves(&self, id: PointId<'a>, outer: &[&'a str], found: &mut Vec<Leaf<'a>>) {
        let point = &self.points[id];
        let labels: Vec<&'a str> = outer.iter().chain(&point.labels).copied().collect();
        match &point.kind {
            PointKind::Step(_) | PointKind::Test { .. } => found.push(Leaf { step: LeafStep::At(id), labels }),
            PointKind::Either(branches) => {
                for branch in branches {
                    match branch {
                        Some(first) => self.collect_leaves(*first, &labels, found),
                        None => found.push(Leaf { step: LeafStep::Empty(id), labels: labels.clone() }),
                    }
                }
            }
            PointKind::Loop(body) => self.collect_leaves(*body, outer, found),
            // Outside the loop its counter has its type's first value; if that is the first value of the loop, too, the
            // first step inside can be taken from outside as it is.
            PointKind::For(inner) if inner.is_nonempty && inner.starts_least => {
                self.collect_leaves(inner.body, outer, found);
            }
            PointKind::For(_) | PointKind::Jump(..) | PointKind::Again(..) => {
                found.push(Leaf { step: LeafStep::Silent(id), labels: outer.to_vec() });
            }
            PointKind::End => {}
        }
    }

    /// Where control goes after the step at a point, one after the other.
    pub fn continuations(&self, id: PointId<'a>) -> Vec<PointId<'a>> {
        let point = &self.points[id];
        match &point.kind {
            PointKind::Step(Statement { kind: StatementKind::Return(_), .. }) => Vec::new(),
            PointKind::Test { yes, no, .. } => vec![*yes, *no],
            _ => vec![point.after],
        }
    }

    /// All points that control reaches or passes from some point.
    pub fn reached(&self, from: impl IntoIterator<Item = PointId<'a>>) -> HashSet<PointId<'a>> {
        let mut open: Vec<PointId<'a>> = from.into_iter().collect();
        let mut seen = HashSet::new();
        while let Some(id) = open.pop() {
            if !seen.insert(id) {
                continue;
            }
            match &self.points[id].kind {
                PointKind::Step(_) | PointKind::Test { .. } => open.extend(self.continuations(id)),
                PointKind::Either(branches) => {
                    open.extend(branches.iter().map(|branch| branch.unwrap_or(self.points[id].after)));
                }
                _ => open.extend(self.passes_to(id)),
            }
        }
        seen
    }

    /// The points at which processes stand: those that control stops at from the start and from labels.
    pub fn standing_points(&self) -> Vec<PointId<'a>> {
        let mut seen = HashSet::new();
        let mut open = self.landing(self.entry);
        let mut covered: HashSet<PointId<'a>> = HashSet::new();
        self.stop_at(&mut open, &mut seen, &mut covered);
        // Code that is never reached keeps its labels; one whose step is taken from a choice has its place there.
        let mut labelled: Vec<PointId<'a>> =
            self.points.ids().filter(|&id| !self.points[id].labels.is_empty()).collect();
        labelled.sort_by_key(|&id| self.points[id].span);
        for id in labelled {
            if !seen.contains(&id) && !covered.contains(&id) {
                open.push(id);
                self.stop_at(&mut open, &mut seen, &mut covered);
            }
        }
        seen.insert(self.end);
        let mut standing: Vec<PointId<'a>> = seen.into_iter().collect();
        standing.sort_by_key(|&id| (self.points[id].span, id));
        standing
    }

    fn stop_at(
        &self,
        open: &mut Vec<PointId<'a>>,
        seen: &mut HashSet<PointId<'a>>,
        covered: &mut HashSet<PointId<'a>>,
    ) {
        while let Some(id) = open.pop() {
            if !seen.insert(id) {
                continue;
            }
            for leaf in self.leaves(id) {
                match leaf.step {
                    LeafStep::At(step) => {
                        covered.insert(step);
                        let landings = self.continuations(step).into_iter().flat_map(|next| self.landing(next));
                        open.extend(landings);
                    }
                    LeafStep::Silent(from) => open.extend(self.landing(from)),
                    LeafStep::Empty(choice) => open.extend(self.landing(self.points[choice].after)),
                }
            }
            if let PointKind::Either(_) = self.points[id].kind {
                covered.extend(self.inner_choices(id));
            }
        }
    }

    /// The choices with which branches of a choice begin: they have no place of their own.
    fn inner_choices(&self, id: PointId<'a>) -> Vec<PointId<'a>> {
        let mut found = Vec::new();
        let mut open = vec![id];
        while let Some(id) = open.pop() {
            found.push(id);
            match &self.points[id].kind {
                PointKind::Either(branches) => open.extend(branches.iter().flatten()),
                PointKind::Loop(body) => open.push(*body),
                PointKind::For(inner) if inner.is_nonempty && inner.starts_least => open.push(inner.body),
                _ => {}
            }
        }
        found
    }

    /// What is wrong if control could run in circles without a step. From a `for` to its next value is no circle: there are
    /// finitely many; so `Again` leads only onwards here. To enter the loop anew would be one.
    pub fn stepless_circle(&self) -> Option<Diagnostic> {
        #[derive(Clone, Copy, PartialEq)]
        enum Mark {
            New,
            Open,
            Done,
        }
        let mut marks = vec![Mark::New; self.points.len()];
        for start in self.points.ids() {
            let mut stack = vec![(start, false)];
            while let Some((id, is_left)) = stack.pop() {
                if is_left {
                    marks[id.index()] = Mark::Done;
                    continue;
                }
                match marks[id.index()] {
                    Mark::Done => continue,
                    Mark::Open => return Some(self.circle_at(id)),
                    Mark::New => {}
                }
                marks[id.index()] = Mark::Open;
                stack.push((id, true));
                let onwards = match &self.points[id].kind {
                    PointKind::Again(..) => vec![self.points[id].after],
                    _ => self.passes_to(id),
                };
                stack.extend(onwards.into_iter().map(|next| (next, false)));
            }
        }
        None
    }

    fn circle_at(&self, id: PointId<'a>) -> Diagnostic {
        let message = "control may run in circles here without ever taking a step";
        let help = "put a step into the loop that is always taken: a `skip;`, or what it waits for";
        Diagnostic::error(code::STEPLESS_LOOP, self.points[id].span, message).help(help)
    }

    /// The first statement of each block that is never reached.
    pub fn unreached(&self) -> Vec<PointId<'a>> {
        let reached = self.reached([self.entry]);
        let is_statement = |id: &PointId<'a>| !matches!(self.points[*id].kind, PointKind::End | PointKind::Again(..));
        let mut missed: Vec<PointId<'a>> =
            self.points.ids().filter(|id| !reached.contains(id)).filter(is_statement).collect();
        missed.sort_by_key(|&id| (self.points[id].span.start, std::cmp::Reverse(self.points[id].span.end)));
        let mut told: Vec<PointId<'a>> = Vec::new();
        for id in missed {
            let (span, block) = (self.points[id].span, self.points[id].block);
            let is_told = told.last().is_some_and(|&last| {
                let last = &self.points[last];
                last.block == block || last.block.start <= span.start && span.end <= last.block.end
            });
            if !is_told {
                told.push(id);
            }
        }
        told
    }
}
