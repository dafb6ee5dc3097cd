//! One round: path edges with some facts exposed, and what they say about questions.
//!
//! In: a compiled program and facts. Out: whether path edges exclude all that a property forbids; where they do not, local states that
//! together answer one of its questions, and a proof where they do.

use std::rc::Rc;

use base::{Budget, StopReason};
use compose::k_index::{InvariantDecision, Invariants, decide};
use compose::question::{Pattern, Question, questions, questions_up_to};
use compose::symmetry::Symmetry;
use engine::SharedView;
use evidence::implied::Implied;
use evidence::pushdown::{ExposedFact, PushdownProof};
use model::control::TextOwner;
use model::eval::Viewpoint;
use model::process::ProcessId;
use model::property::PropertyKind;

use crate::certify;
use crate::exposed::ExposedBits;
use crate::saturate::Saturation;
use crate::thread::{LocalStateId, Thread};
use local::sets::{LocalSets, Rows};
use packed::machine::Machine;
use packed::packing::Packed;
use packed::stacks::WaitingFrame;
use packed::words::{add, and, or};

/// Path edges, and the local states of each process as sets.
pub struct SaturatedRound<'a, const W: usize> {
    /// The path edges.
    pub saturation: Saturation<'a, W>,
    sets: LocalSets<'a, W>,
    facts: Vec<ExposedFact>,
    /// The local states, with any frame below the top one.
    local: Invariants<Rc<Rows<W>>>,
    budget: &'a Budget,
}

/// What path edges say about a property.
pub enum PathEdgeVerdict {
    /// They exclude it.
    Never,
    /// They do not; these local states answer one of its questions together, as far as they are known.
    Open(Vec<(usize, LocalStateId)>),
    /// A question is itself a fault.
    Fault,
}

impl<'a, const W: usize> SaturatedRound<'a, W> {
    /// Computes the path edges.
    ///
    /// # Errors
    /// A limit that was reached.
    pub fn new(
        machine: &'a Machine<'a>,
        mut sets: LocalSets<'a, W>,
        facts: Vec<ExposedFact>,
        budget: &'a Budget,
    ) -> Result<Self, StopReason> {
        let exposed = ExposedBits::new(machine.codec, &facts);
        let mut bits = [0; W];
        exposed.add_to(&mut bits);
        let mut saturation = Saturation::new(machine, &sets.sight, exposed, budget);
        saturation.run()?;
        sets.sight.add_for_all(&bits);
        let rows = saturation.threads.iter().map(|thread| Rc::new(with_some_frame(machine, thread)));
        let groups: Vec<Vec<ProcessId>> = machine.codec.model.processes.ids().map(|process| vec![process]).collect();
        let local = Invariants { k: 1, n_representatives: groups.len(), groups, sets: rows.collect() };
        Ok(SaturatedRound { saturation, sets, facts, local, budget })
    }

    /// What the path edges say about a property.
    ///
    /// # Errors
    /// A limit that was reached, or a question about too much at once.
    pub fn ask(&mut self, property: &PropertyKind) -> Result<PathEdgeVerdict, StopReason> {
        if matches!(property, PropertyKind::NoErrors) {
            let faults = self.saturation.threads.iter().enumerate();
            let first = faults.flat_map(|(at, thread)| thread.faults.iter().map(move |&(state, _)| (at, state))).next();
            return Ok(first.map_or(PathEdgeVerdict::Never, |fault| PathEdgeVerdict::Open(vec![fault])));
        }
        let model = self.saturation.machine.codec.model;
        // Where processes can be permuted their local states are images of each other, and one question represents its images.
        let is_plain = model.procedures.is_empty() && self.facts.is_empty();
        let symmetry = if is_plain { Symmetry::of(model) } else { None };
        let asked = questions_up_to(model, property, symmetry.as_ref()).unwrap_or_default();
        let framed;
        let local = match property {
            PropertyKind::RaceFree(_) => {
                framed = self.with_callers_frames();
                &framed
            }
            _ => &self.local,
        };
        Ok(match decide(&mut self.sets, local, &asked, (None, self.budget))? {
            InvariantDecision::Proved => PathEdgeVerdict::Never,
            InvariantDecision::Fault(_) => PathEdgeVerdict::Fault,
            InvariantDecision::Open(question) => PathEdgeVerdict::Open(self.witnesses(&question)?),
        })
    }

    /// The path edges as a proof.
    ///
    /// # Errors
    /// Where they are too many.
    pub fn proof(&self) -> Result<PushdownProof, StopReason> {
        certify::proof(&self.saturation, &self.sets.sight, &self.facts)
    }

    /// How the local states imply a property.
    pub fn implied(&self, property: &PropertyKind) -> Vec<Implied> {
        let model = self.saturation.machine.codec.model;
        match property {
            PropertyKind::Invariant(_) | PropertyKind::Reachable(_) => {
                let all = questions(model, property).unwrap_or_default();
                self.local.implied(&self.sets, (property, &all), None)
            }
            _ => Vec::new(),
        }
    }

    /// What each process saw.
    pub fn views(&self) -> SharedView {
        self.sets.sight.views
    }

    /// Local states with each of the frames to which they can return: a return stores its result there.
    fn with_callers_frames(&self) -> Invariants<Rc<Rows<W>>> {
        let codec = self.saturation.machine.codec;
        let sets = self.saturation.threads.iter().map(|thread| {
            let mut rows = Rows::default();
            for state in 0..thread.states.len() {
                let row = thread.row(LocalStateId::new(state));
                if thread.flags[state].exit_view.is_none() {
                    rows.insert(below(self.saturation.machine, thread, row));
                    continue;
                }
                let frames = codec.layout.frames[thread.process.index()].as_ref().expect("only procedures return");
                for activation in thread.reachable_in[state].iter() {
                    for caller in &thread.callers[activation.index()] {
                        let mut row = row;
                        frames.stack.put(&mut row, i64::from(caller.frame));
                        rows.insert(row);
                    }
                }
            }
            Rc::new(rows)
        });
        Invariants { sets: sets.collect(), ..self.local.clone() }
    }

    /// Local states that answer a question together; none where that is not worked out.
    fn witnesses(&self, question: &Question) -> Result<Vec<(usize, LocalStateId)>, StopReason> {
        let (machine, sight) = (self.saturation.machine, &self.sets.sight);
        let layout = &machine.codec.layout;
        let mut needed = [0; W];
        match &question.pattern {
            Pattern::Truth { .. } => {
                question.processes.iter().for_each(|process| add(&mut needed, layout.control[process.index()]));
                question.cells.iter().for_each(|cell| add(&mut needed, layout.locations[cell.index()].0));
            }
            Pattern::Race(..) => needed = sight.mask(&question.processes),
            Pattern::Deadlock | Pattern::Fault(_) => return Ok(Vec::new()),
        }
        let join: Vec<(&[ProcessId], &Rc<Rows<W>>)> = self.local.join();
        let concerned: Vec<(&[ProcessId], &Rc<Rows<W>>)> = join
            .into_iter()
            .filter(|(group, _)| {
                question.processes.contains(&group[0])
                    || question.cells.iter().any(|&cell| sight.sees(machine.codec.model, group, cell))
            })
            .collect();
        let answers = |row: &Packed<W>| match &question.pattern {
            Pattern::Truth { expr, bound, wanted } => {
                let state = machine.codec.unpack(row);
                let mut view = Viewpoint::new(machine.codec.model, &state, None);
                view.bound.clone_from(bound);
                view.truth(expr) == Ok(*wanted)
            }
            _ => true,
        };
        let combinations = self.sets.combinations(&concerned, &needed)?;
        let Some(row) = combinations.iter().find(|row| answers(row)) else { return Ok(Vec::new()) };
        let matching = |process: &ProcessId| {
            let thread = &self.saturation.threads[process.index()];
            let mask = and(&needed, &or(&thread.store_mask, &thread.local_mask));
            let fits = |state: &LocalStateId| and(&thread.row(*state), &mask) == and(row, &mask);
            (0..thread.states.len()).map(LocalStateId::new).find(fits).map(|state| (process.index(), state))
        };
        let mut asked = question.processes.clone();
        if asked.is_empty() {
            asked.extend(concerned.first().map(|(group, _)| group[0]));
        }
        Ok(asked.iter().filter_map(matching).collect())
    }
}

/// The local states of a process, each above some frame where it is in a procedure.
fn with_some_frame<const W: usize>(machine: &Machine<'_>, thread: &Thread<W>) -> Rows<W> {
    let mut rows = Rows::default();
    for state in 0..thread.states.len() {
        rows.insert(below(machine, thread, thread.row(LocalStateId::new(state))));
    }
    rows
}

/// A local state above a frame of the process's own text, if it is in a procedure: whole states have one below.
fn below<const W: usize>(machine: &Machine<'_>, thread: &Thread<W>, mut row: Packed<W>) -> Packed<W> {
    let (codec, process) = (machine.codec, thread.process);
    let place = |point: u32| codec.plan.points[process.index()].point(point).place;
    let in_own_text = |place| matches!(codec.model.places[place].scope, TextOwner::Family(_));
    let Some(frames) = &codec.layout.frames[process.index()] else { return row };
    if in_own_text(place(codec.layout.control[process.index()].raw(&row) as u32)) {
        return row;
    }
    let mut sites = codec.layout.sites.iter().enumerate();
    let from_own_text = sites.find(|(_, site)| site.process == process && in_own_text(place(site.point)));
    let (site, _) = from_own_text.expect("the first call is from the process's own text");
    let slots = frames.room.iter().map(|_| 0).collect();
    if let Some(stack) = codec.stacks[process.index()].number(WaitingFrame { site: site as u32, slots, below: 0 }) {
        frames.stack.put(&mut row, i64::from(stack));
    }
    row
}
