//! Methods `ls3` and `ls3+`: safety from local state graphs and the joint states of two processes at a time.
//!
//! In: a task. Out: an answer for each property, with a run or a certificate. A question is put to the local states of the processes
//! that it concerns, and to the joint states of every two of them that share something. Where no combination answers it, the
//! joint states are a proof: they contain the initial states, and every step from a combination of three processes that are joint two by two
//! leads into them again, since the rules by which they were found ask for less. So the certificate is that of
//! two-index invariants; two processes that share nothing may be in any two of their local states, which is a product and kept
//! as a diagram.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::Instant;

use base::{Coarse, StopReason};
use compose::backend::Answered;
use compose::few_movers;
use compose::implied::{ConcernedProcesses, implied};
use compose::method::{self, MOST_WITHOUT_VALUE, PropertyAttempt};
use compose::question::{Question, questions};
use engine::{Answer, Engine, EngineError, Method, Observer, PropertyId, SharedView, Statistics, Task};
use evidence::certificate::SplitInvariant;
use evidence::implied::Implied;
use model::process::ProcessId;
use model::property::PropertyKind;
use model::variable::CellId;

use crate::graphs::{Actions, Joint, Rounds};
use crate::sets::engine::compiled;
use crate::sets::{LocalSets, Rows};
use engine::meter::Meter;
use packed::codec::{Codec, UnrollLimits};
use packed::machine::Machine;
use packed::width::{ForWidth, with_coarse_width};
use packed::words::or;

/// Local state graphs by joint search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ls3 {
    /// Whether what third processes do needs a witness (LS3+).
    pub with_witness: bool,
    /// Searches with more joint states of two processes are given up.
    pub most_pairs: u64,
}

impl Engine for Ls3 {
    fn method(&self) -> Method {
        if self.with_witness { Method::Ls3Plus } else { Method::Ls3 }
    }

    fn run(&self, task: &Task<'_>, observer: &dyn Observer) -> Result<Vec<Answer>, EngineError> {
        let codec = Codec::within(task.model, UnrollLimits::default(), &task.budget);
        let work = Ls3Work { method: *self, codec: &codec, task, observer };
        Ok(with_coarse_width(codec.layout.n_words, work).unwrap_or_else(|stop| task.undecided(&stop)))
    }
}

struct Ls3Work<'w> {
    method: Ls3,
    codec: &'w Codec<'w>,
    task: &'w Task<'w>,
    observer: &'w dyn Observer,
}

impl ForWidth for Ls3Work<'_> {
    type Output = Vec<Answer>;

    fn run<const W: usize>(self) -> Vec<Answer> {
        let Ls3Work { method, codec, task, observer } = self;
        let races = task.properties.iter().filter_map(|&id| match task.model.properties[id].kind {
            PropertyKind::RaceFree(var) => Some(var),
            _ => None,
        });
        let (machine, races) = compiled(codec, races);
        let mut since = Instant::now();
        let meter = Meter::new(&task.budget, observer);
        let proof = JointProof::<W>::find(&machine, &meter, (method, task));
        let mut sets = LocalSets::<W>::new(&machine, SharedView::Mentioned, (&task.budget, u64::MAX));
        sets.races = races;
        let mut answers = Vec::new();
        for &id in &task.properties {
            let outcome = match &proof {
                Ok(proof) => proof.attempt(&sets, task, id),
                Err(stop) => Err(stop.clone()),
            };
            // The first question pays for the graphs.
            let time = std::mem::replace(&mut since, Instant::now()).elapsed();
            let statistics = Statistics {
                time,
                peak_memory_bytes: Some(meter.peak_bytes()),
                local_states: proof.as_ref().ok().map(JointProof::sizes),
                views: Some(SharedView::Mentioned),
                ..Statistics::default()
            };
            let outcome = outcome.unwrap_or_else(PropertyAttempt::Open);
            answers.push(method::answer((task, observer), id, outcome, statistics));
        }
        answers
    }
}

/// A group of one or two processes, and their states.
type Ls3Group<const W: usize> = (Vec<ProcessId>, Rc<Rows<W>>);

/// What the joint searches found.
struct JointProof<const W: usize> {
    /// The local states of each process.
    singles: Vec<Ls3Group<W>>,
    /// The joint states of processes that share something.
    pairs: Vec<Ls3Group<W>>,
    /// The same as a certificate, once it was asked for.
    certificate: RefCell<Option<SplitInvariant>>,
}

impl<const W: usize> JointProof<W> {
    fn find(machine: &Machine<'_>, meter: &Meter<'_>, (method, task): (Ls3, &Task<'_>)) -> Result<Self, StopReason> {
        let actions = Actions::<W>::new(machine);
        let rounds = Rounds::new(machine, &actions, meter).at_most(method.most_pairs);
        let rounds = rounds.run(method.with_witness, task.n_threads);
        if let Some(reason) = meter.reason() {
            return Err(reason);
        }
        let single = |graph: &crate::graphs::ProcessGraph<W>| (vec![graph.process], Rc::new(graph.states.clone()));
        let pair = |joint: &Joint<W>| {
            let [one, other] = joint.processes.map(|process| &rounds.graphs[process]);
            let mut rows = Rows::default();
            for (ours, theirs) in joint.pairs() {
                rows.insert(or(one.states.row(ours), other.states.row(theirs)));
            }
            (vec![one.process, other.process], Rc::new(rows))
        };
        let singles: Vec<Ls3Group<W>> = rounds.graphs.iter().map(single).collect();
        let pairs: Vec<Ls3Group<W>> = rounds.joints.iter().map(pair).collect();
        let bytes = singles.iter().chain(&pairs).map(|(_, rows)| rows.bytes()).sum();
        meter.reserve(bytes)?;
        Ok(JointProof { singles, pairs, certificate: RefCell::new(None) })
    }

    fn sizes(&self) -> Vec<Option<u64>> {
        self.singles.iter().map(|(_, rows)| Some(rows.len() as u64)).collect()
    }

    fn attempt(&self, sets: &LocalSets<'_, W>, task: &Task<'_>, id: PropertyId) -> Result<PropertyAttempt, StopReason> {
        let property = &task.model.properties[id].kind;
        let asked = questions(task.model, property).unwrap_or_default();
        let mut n_without_value = 0;
        for question in &asked {
            let answered = sets.answer(question, &self.join(sets, question))?;
            if answered != Answered::No {
                if let Some(run) = few_movers::find_run(task.model, property, question, &task.budget)? {
                    return Ok(PropertyAttempt::Run(run));
                }
                if answered == Answered::Maybe {
                    let open = if n_without_value == 0 { Coarse::LocalGraphs } else { Coarse::NoValue };
                    return Ok(PropertyAttempt::Open(open.into()));
                }
                // Another question may be answered where this one has no value.
                n_without_value += 1;
                if n_without_value > MOST_WITHOUT_VALUE {
                    break;
                }
            }
            task.budget.check(0)?;
        }
        if n_without_value > 0 {
            return Ok(PropertyAttempt::Open(Coarse::NoValue.into()));
        }
        Ok(PropertyAttempt::Never(self.certified(sets)?, self.implied(sets, (property, &asked))))
    }

    /// How the joint states imply the property.
    fn implied(&self, sets: &LocalSets<'_, W>, asked: (&PropertyKind, &[Question])) -> Vec<Implied> {
        let model = sets.model();
        let all_processes: Vec<ProcessId> = model.processes.ids().collect();
        let k = all_processes.len().min(2);
        // The certificate has pairs: where one process is concerned, another one goes with it.
        let by = |processes: &[ProcessId], cells: &BTreeSet<CellId>| {
            let mut concerned = concerned(sets, processes, cells);
            let others = all_processes.iter().filter(|one| !concerned.contains(one));
            let missing: Vec<ProcessId> = others.copied().take(k.saturating_sub(concerned.len())).collect();
            concerned.extend(missing);
            concerned.sort_unstable();
            concerned.dedup();
            concerned
        };
        // Pairs that share something, and neighbours, so that all processes are covered.
        let pairs = self.pairs.iter().map(|(pair, _)| pair.clone());
        let in_deadlock: BTreeSet<Vec<ProcessId>> = pairs.chain(all_processes.windows(k).map(<[_]>::to_vec)).collect();
        let in_deadlock = in_deadlock.into_iter().collect();
        implied(model, asked, None, ConcernedProcesses { by: &by, in_deadlock })
    }

    /// The local states of the processes that a question concerns, and the joint states among them.
    fn join<'s>(&'s self, sets: &LocalSets<'_, W>, question: &Question) -> Vec<(&'s [ProcessId], &'s Rc<Rows<W>>)> {
        let concerned = concerned(sets, &question.processes, &question.cells);
        let within = |(group, _): &&Ls3Group<W>| group.iter().all(|process| concerned.contains(process));
        let groups = self.singles.iter().chain(&self.pairs).filter(within);
        groups.map(|(group, rows)| (group.as_slice(), rows)).collect()
    }

    fn certified(&self, sets: &LocalSets<'_, W>) -> Result<SplitInvariant, StopReason> {
        if let Some(known) = &*self.certificate.borrow() {
            return Ok(known.clone());
        }
        let found = sets.invariant_of_pairs(&self.singles, &self.pairs)?;
        *self.certificate.borrow_mut() = Some(found.clone());
        Ok(found)
    }
}

/// The processes given, and such that see the cells.
fn concerned<const W: usize>(
    sets: &LocalSets<'_, W>,
    processes: &[ProcessId],
    cells: &BTreeSet<CellId>,
) -> Vec<ProcessId> {
    let model = sets.model();
    let mut concerned = processes.to_vec();
    for &cell in cells {
        // A cell that none of them sees may have any value.
        if !sets.sight.sees(model, &concerned, cell)
            && let Some(watcher) = model.processes.ids().find(|&process| sets.sight.sees(model, &[process], cell))
        {
            concerned.push(watcher);
        }
    }
    concerned
}
