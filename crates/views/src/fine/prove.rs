//! From coarse views to fine ones, until they exclude a violation or there is nothing finer to try.
//!
//! In: a program of one size, and questions. Out: for each a proof, or why there is none. The first rung has one view for each cell that names
//! processes (with all data cells, where these have few values), by signature; the next ones tell more local states apart, then all of them;
//! the last one has all cells in one view.

use std::cell::RefCell;
use std::rc::Rc;

use base::{Budget, StopReason};
use evidence::fine::{FineProof, FineView, LocalItem};
use model::Model;
use model::process::FamilyId;

use super::bits::Bits;
use super::closure::{Closed, close};
use super::datum::Datum;
use super::partition::{Fineness, shape};
use super::pattern::patterns;
use super::search::{Joint, Pattern};
use super::skeleton::{Refusal, Skeleton, skeleton};
use crate::fragment::Question;
use crate::layout::{Layout, SharedColumn, holds_members};
use crate::sight::Ground;

/// Data cells stand in every view where they have so many values together at most.
const MOST_VALUES: u128 = 256;

/// With more local states than this they are not all told apart.
const MOST_FULL: usize = 100;

/// With more local states than this nothing is proved: the checker goes through them two by two.
const MOST_LISTED: usize = 1_200;

/// With more local states than this cells are not merged into one view; and so many cells at most.
const MOST_MERGED: usize = 64;
const MOST_CELLS: usize = 4;

/// A rung of the ladder.
#[derive(Clone, Copy)]
struct Rung {
    fineness: Fineness,
    /// Whether the partition keeps to what the property says of local states.
    keeps: bool,
    /// Whether all cells are in one view.
    is_merged: bool,
}

/// The family that proofs are about: the largest one.
pub fn family(model: &Model) -> Option<FamilyId> {
    let largest = model.families.entries().max_by_key(|(_, family)| family.count())?;
    (largest.1.count() >= 2).then_some(largest.0)
}

/// A program, listed, with which questions are asked.
pub struct Fine<'m> {
    ground: Ground<'m>,
    skeleton: Skeleton,
    /// The columns that steps touch: those that name processes, and those that do not.
    naming: Vec<usize>,
    data: Vec<usize>,
    budget: &'m Budget,
    /// The views of rungs that do not depend on the property.
    known: RefCell<Vec<Option<Rc<Vec<Closed>>>>>,
}

/// What came of a question.
pub enum Outcome {
    /// A proof, and how many states its views have.
    Proved(Box<FineProof>, usize),
    /// Views do not exclude a violation.
    Open,
}

impl<'m> Fine<'m> {
    /// Lists a program.
    ///
    /// # Errors
    /// Why it cannot be listed.
    pub fn new(ground: Ground<'m>, budget: &'m Budget) -> Result<Fine<'m>, Refusal> {
        let skeleton = skeleton(ground, budget)?;
        if skeleton.states.len() > MOST_LISTED {
            return Err(Refusal::TooMany);
        }
        let touched = |column: &usize| {
            let touches = |list: &[(usize, Datum)]| list.iter().any(|(one, _)| one == column);
            skeleton.edges.iter().any(|edge| touches(&edge.guards) || touches(&edge.writes))
        };
        let names = |column: &usize| match ground.layout.shared[*column] {
            SharedColumn::Cell(cell) => holds_members(ground.model.cells[cell].ty, ground.layout.family),
            SharedColumn::Control(_) | SharedColumn::Taken(..) => false,
        };
        let touched: Vec<usize> = (0..ground.layout.shared.len()).filter(touched).collect();
        let (naming, data) = touched.into_iter().partition(names);
        Ok(Fine { ground, skeleton, naming, data, budget, known: RefCell::default() })
    }

    /// Whether no step of a listed local state is a fault, whatever the rest of the state is.
    pub fn is_faultless(&self) -> bool {
        !self.skeleton.may_fault
    }

    /// The local states and steps.
    pub fn skeleton(&self) -> &Skeleton {
        &self.skeleton
    }

    /// Looks for a proof.
    ///
    /// # Errors
    /// A limit, or why the question is not followed.
    pub fn prove(&self, question: &Question) -> Result<Outcome, Refusal> {
        let (expr, value) = match question {
            Question::Never { expr, value, .. } => (expr, value),
            Question::NoFault if self.is_faultless() => {
                return Ok(Outcome::Proved(Box::new(self.certified(&[])), 0));
            }
            Question::NoFault | Question::NoDeadlock => return Ok(Outcome::Open),
        };
        let patterns = patterns(self.ground, &self.skeleton, (expr, *value))?;
        for (at, rung) in self.rungs().into_iter().enumerate() {
            let views = self.rung(at, &rung, &patterns).map_err(Refusal::Stopped)?;
            let joint = Joint::new(&self.skeleton, &views, self.budget);
            let mut is_excluded = true;
            for pattern in &patterns {
                is_excluded &= joint.excludes(pattern).map_err(Refusal::Stopped)?;
                if !is_excluded {
                    break;
                }
            }
            if is_excluded {
                let n_states = views.iter().map(|view| view.theta.len()).sum();
                return Ok(Outcome::Proved(Box::new(self.certified(&views)), n_states));
            }
        }
        Ok(Outcome::Open)
    }

    fn rung(&self, at: usize, rung: &Rung, patterns: &[Pattern]) -> Result<Rc<Vec<Closed>>, StopReason> {
        if rung.keeps {
            return self.views(rung, patterns).map(Rc::new);
        }
        let known = self.known.borrow().get(at).cloned().flatten();
        if let Some(known) = known {
            return Ok(known);
        }
        let found = Rc::new(self.views(rung, &[])?);
        let mut all = self.known.borrow_mut();
        let n = all.len().max(at + 1);
        all.resize(n, None);
        all[at] = Some(Rc::clone(&found));
        Ok(found)
    }

    /// The views of every rung, for tests.
    ///
    /// # Errors
    /// A limit.
    pub fn ladder(&self) -> Result<Vec<Vec<Closed>>, StopReason> {
        let rungs = self.rungs();
        let all = rungs.iter().enumerate().map(|(at, rung)| Ok(self.rung(at, rung, &[])?.to_vec()));
        all.collect()
    }

    fn rungs(&self) -> Vec<Rung> {
        let n_states = self.skeleton.states.len();
        let rung = |fineness, keeps, is_merged| Rung { fineness, keeps, is_merged };
        let mut rungs = vec![rung(Fineness::Rounds(0), false, false), rung(Fineness::Rounds(1), true, false)];
        if n_states <= MOST_FULL {
            rungs.push(rung(Fineness::Full, false, false));
        }
        if n_states <= MOST_MERGED && self.naming.len() > 1 && self.naming.len() + self.data.len() <= MOST_CELLS {
            rungs.push(rung(Fineness::Full, false, true));
        }
        rungs
    }

    /// The cells of each view.
    fn groups(&self, rung: &Rung) -> Vec<Vec<usize>> {
        let context = self.ground.model.type_context();
        let size = |&column: &usize| match self.ground.layout.shared[column] {
            SharedColumn::Cell(cell) => self.ground.model.cells[cell].ty.n_values(context),
            SharedColumn::Control(_) | SharedColumn::Taken(..) => 16,
        };
        let n_values = self.data.iter().map(size).fold(1, u128::saturating_mul);
        let is_small = n_values <= MOST_VALUES || rung.is_merged;
        let mut groups: Vec<Vec<usize>> = match (rung.is_merged, is_small) {
            (true, _) => vec![[&self.naming[..], &self.data[..]].concat()],
            (_, true) => self.naming.iter().map(|&column| [&[column], &self.data[..]].concat()).collect(),
            (_, false) => self.naming.iter().chain(&self.data).map(|&column| vec![column]).collect(),
        };
        if groups.is_empty() {
            groups.push(self.data.clone());
        }
        groups
    }

    fn views(&self, rung: &Rung, patterns: &[Pattern]) -> Result<Vec<Closed>, StopReason> {
        let keep: Vec<Bits> = match rung.keeps {
            true => patterns
                .iter()
                .flat_map(|pattern| pattern.processes.iter().chain([&pattern.everyone]))
                .cloned()
                .collect(),
            false => Vec::new(),
        };
        let mut views = Vec::new();
        for cells in self.groups(rung) {
            let shape = shape(self.ground, &self.skeleton, (&cells, 2), &keep, rung.fineness);
            views.extend(close(self.ground, &self.skeleton, shape, self.budget)?);
        }
        Ok(views)
    }

    /// Views as a claim.
    fn certified(&self, views: &[Closed]) -> FineProof {
        let Ground { layout, .. } = self.ground;
        let item = |datum: &Datum| match datum {
            Datum::Value(value) => LocalItem::Value(*value),
            Datum::Place(place) => LocalItem::Place(*place),
            Datum::Me => LocalItem::Itself,
            _ => LocalItem::Another,
        };
        let view = |view: &Closed| {
            let mut theta: Vec<_> = view.theta.iter().cloned().collect();
            theta.sort();
            let cells = view.shape.cells.iter().map(|&column| layout.shared[column]).collect();
            FineView { cells, k: view.shape.k, blocks: view.shape.blocks.clone(), theta }
        };
        FineProof {
            family: layout.family,
            local: layout.local.clone(),
            states: self.skeleton.states.iter().map(|state| state.iter().map(item).collect()).collect(),
            views: views.iter().map(view).collect(),
        }
    }
}

/// The layout of a program of one size.
pub fn layout(model: &Model) -> Option<Layout> {
    Some(Layout::new(model, family(model)?, false))
}
