//! Which assumptions would exclude the runs that violate a temporal property: tried, the weakest first.
//!
//! In: a property and a run that violates it. Out: assumptions of the usual forms that exclude the run, and what becomes of the
//! property under them. First all of them are assumed together; if that does not help nothing does. Then fewer are tried. An assumption
//! that a known run satisfies cannot help; that is looked up on the loop of the run, which is cheap. What no known run satisfies is
//! tried with the engine: then the property holds, or there is another run to exclude.

use engine::Verdict;
use engine::insight::{AssumedOutcome, Remedy};
use engine::run::PropertyResult;
use evidence::{Evidence, Trace};
use model::eval::{able_by, is_true_of};
use model::fairness::{Assumptions, EdgePredicate, FairnessId, FairnessPair, StatePredicate};
use model::process::{FamilyId, ProcessId};

use super::needs::written;
use super::{SimilarQuestions, loop_turns};
use crate::mistake::Mistake;

/// So many sets of assumptions are tried at most.
const MOST_TRIES: usize = 12;
/// At most so many assumptions are put together.
const MOST_TOGETHER: usize = 3;

/// An assumption of a usual form.
#[derive(Clone, Debug)]
struct Candidate {
    text: String,
    pairs: Vec<FairnessPair>,
}

/// The forms of assumptions about processes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AssumptionForm {
    Every,
    Weak,
    Strong,
}

/// Tries assumptions until one helps or the time is over.
pub(super) fn look(
    asking: &SimilarQuestions<'_>,
    result: &PropertyResult,
    trace: &Trace,
) -> Result<Vec<Remedy>, Box<Mistake>> {
    if trace.loop_from.is_none() {
        return Ok(Vec::new());
    }
    let mut search = RemedySearch { asking, result, loops: vec![trace.clone()], tried: Vec::new(), helped: Vec::new() };
    if asking.is_over() {
        return Ok(Vec::new());
    }
    if !search.all_help()? {
        return Ok(search.tried);
    }
    for _ in 0..MOST_TRIES {
        let Some(chosen) = search.next() else { break };
        if asking.is_over() {
            break;
        }
        search.attempt(chosen)?;
        if !matches!(search.tried.last(), Some(Remedy { outcome: AssumedOutcome::Violated(_), .. })) {
            break;
        }
    }
    search.leave_out()?;
    Ok(search.found())
}

struct RemedySearch<'s> {
    asking: &'s SimilarQuestions<'s>,
    result: &'s PropertyResult,
    /// Runs that violate the property: the first one, and those found under more assumptions.
    loops: Vec<Trace>,
    tried: Vec<Remedy>,
    /// The last assumptions that helped.
    helped: Vec<Candidate>,
}

impl RemedySearch<'_> {
    /// Whether all assumptions together help. That they do not is said only of a run that neglects no labelled step: what a run neglects is
    /// assumed, too, and asked again.
    fn all_help(&mut self) -> Result<bool, Box<Mistake>> {
        for _ in 0..MOST_TRIES {
            self.tried.clear();
            // The other forms follow from these.
            let steps = self.of_steps();
            let n_steps = steps.len();
            self.attempt([self.all(AssumptionForm::Every), self.all(AssumptionForm::Strong), steps].concat())?;
            match self.tried[0].outcome {
                AssumedOutcome::Holds => return Ok(true),
                AssumedOutcome::Violated(_) if self.of_steps().len() == n_steps => return Ok(false),
                AssumedOutcome::Violated(_) | AssumedOutcome::Unknown => {}
            }
            if self.tried[0].outcome == AssumedOutcome::Unknown || self.asking.is_over() {
                break;
            }
        }
        self.tried.clear();
        Ok(false)
    }

    /// The next set of assumptions that excludes all known runs.
    fn next(&self) -> Option<Vec<Candidate>> {
        let pool = self.usual();
        let excludes: Vec<Vec<bool>> = pool.iter().map(|candidate| self.excludes(candidate)).collect();
        let helps = |chosen: &Vec<usize>| (0..self.loops.len()).all(|nth| chosen.iter().any(|&at| excludes[at][nth]));
        let mut sets = (1..=MOST_TOGETHER).flat_map(|size| subsets(pool.len(), size));
        match sets.find(helps) {
            Some(chosen) => Some(chosen.into_iter().map(|at| pool[at].clone()).collect()),
            // More than a few, but less than all: strong fairness of every process.
            None => {
                let strong = self.all(AssumptionForm::Strong);
                let excluded: Vec<Vec<bool>> = strong.iter().map(|candidate| self.excludes(candidate)).collect();
                let helps = (0..self.loops.len()).all(|nth| excluded.iter().any(|of| of[nth]));
                helps.then_some(strong)
            }
        }
    }

    /// Which of the known runs an assumption excludes.
    fn excludes(&self, candidate: &Candidate) -> Vec<bool> {
        let satisfied = |trace: &Trace| {
            let is = |pair| audit::satisfies(self.asking.model, trace, pair).unwrap_or(true);
            candidate.pairs.iter().all(is)
        };
        self.loops.iter().map(|trace| !satisfied(trace)).collect()
    }

    /// Asks the property under more assumptions.
    fn attempt(&mut self, chosen: Vec<Candidate>) -> Result<(), Box<Mistake>> {
        let property = self.result.property;
        let mut model = self.asking.variant();
        let new: Vec<FairnessId> = chosen
            .iter()
            .flat_map(|candidate| &candidate.pairs)
            .map(|pair| model.fairness.push(pair.clone()))
            .collect();
        let under = &self.asking.model.properties[property].under;
        let with = |set: &Vec<FairnessId>| set.iter().chain(&new).copied().collect();
        model.properties[property].under = Assumptions { any_of: under.any_of.iter().map(with).collect() };
        let verdict = self.asking.ask(&model, property)?;
        let outcome = match (&verdict, loop_turns(&verdict)) {
            (Verdict::Holds(_), _) => AssumedOutcome::Holds,
            (_, Some(turns)) => AssumedOutcome::Violated(turns),
            _ => AssumedOutcome::Unknown,
        };
        let added: Vec<String> = chosen.iter().map(|candidate| candidate.text.clone()).collect();
        if outcome == AssumedOutcome::Holds {
            self.helped = chosen;
        }
        self.tried.push(Remedy { under: self.under(&added), added, outcome });
        if let Verdict::Violated(Evidence::Trace(trace)) = verdict {
            self.loops.push(trace);
        }
        Ok(())
    }

    /// Leaves out one assumption after the other that is not needed, as long as there is time: an assumption that is not needed is not proposed.
    fn leave_out(&mut self) -> Result<(), Box<Mistake>> {
        let mut at = 0;
        while at < self.helped.len() && self.helped.len() > 1 && !self.asking.is_over() {
            let mut fewer = self.helped.clone();
            fewer.remove(at);
            let excluded: Vec<Vec<bool>> = fewer.iter().map(|candidate| self.excludes(candidate)).collect();
            let excludes_all = (0..self.loops.len()).all(|nth| excluded.iter().any(|of| of[nth]));
            let n_before = self.helped.len();
            if excludes_all {
                self.attempt(fewer)?;
            }
            if self.helped.len() == n_before {
                at += 1;
            }
        }
        Ok(())
    }

    /// What is assumed together with new assumptions, as it would be written.
    fn under(&self, added: &[String]) -> String {
        let model = self.asking.model;
        let under = &model.properties[self.result.property].under;
        let texts = |sets: &[Vec<FairnessId>]| {
            let part = written(model, &Assumptions { any_of: sets.to_vec() });
            part.into_iter().map(|written| written.text).collect::<Vec<String>>()
        };
        let mut all = match &under.any_of[..] {
            [_] => texts(&under.any_of),
            several => {
                let set = |set: &Vec<FairnessId>| format!("({})", texts(std::slice::from_ref(set)).join(", "));
                vec![format!("({})", several.iter().map(set).collect::<Vec<String>>().join(" or "))]
            }
        };
        all.extend(added.iter().cloned());
        all.join(", ")
    }

    /// The remedies: what helps with the fewest assumptions first.
    fn found(mut self) -> Vec<Remedy> {
        // All together were tried first, and help.
        if let Some(at) = self.tried.iter().rposition(|remedy| remedy.outcome == AssumedOutcome::Holds) {
            self.tried.swap(0, at);
        }
        self.tried
    }

    /// The usual assumptions, the weakest first; about steps only those that some process could have taken in a known run and did not.
    fn usual(&self) -> Vec<Candidate> {
        let mut pool = self.all(AssumptionForm::Weak);
        pool.extend(self.of_steps());
        pool.extend(self.all(AssumptionForm::Every));
        pool.push(progress());
        pool
    }

    /// Strong fairness of each step that some process neglects.
    fn of_steps(&self) -> Vec<Candidate> {
        self.neglected()
            .iter()
            .map(|(family, label)| self.about(AssumptionForm::Strong, *family, Some(label)))
            .collect()
    }

    /// An assumption about each family, without labels.
    fn all(&self, form: AssumptionForm) -> Vec<Candidate> {
        self.asking.model.families.ids().map(|family| self.about(form, family, None)).collect()
    }

    /// The labels of steps that some process could take in a known loop and does not, with the families.
    fn neglected(&self) -> Vec<(FamilyId, String)> {
        let model = self.asking.model;
        let mut found: Vec<(FamilyId, String)> = Vec::new();
        for trace in &self.loops {
            let Some(from) = trace.loop_from else { continue };
            let states = &trace.states[from..trace.states.len() - 1];
            for process in model.processes.ids() {
                let family = model.processes[process].family;
                let places = states.iter().map(|state| state.place(process));
                let actions = places.flat_map(|place| &model.places[place].actions);
                let mut labels: Vec<&String> = actions.flat_map(|&action| &model.actions[action].labels).collect();
                labels.sort_unstable();
                labels.dedup();
                for label in labels {
                    let one = std::slice::from_ref(label);
                    let moves = EdgePredicate::Moves(process, Some(one.to_vec()));
                    let is_taken = states
                        .iter()
                        .zip(&trace.turns[from..])
                        .any(|(state, turn)| is_true_of(model, state, turn, &moves).unwrap_or(false));
                    let is_new = !found.contains(&(family, label.clone()));
                    if is_new && !is_taken && states.iter().any(|state| able_by(model, state, process, one)) {
                        found.push((family, label.clone()));
                    }
                }
            }
        }
        found
    }

    /// An assumption about all processes of a family.
    fn about(&self, form: AssumptionForm, family: FamilyId, label: Option<&str>) -> Candidate {
        let model = self.asking.model;
        let word = match form {
            AssumptionForm::Every => "every",
            AssumptionForm::Weak => "weak",
            AssumptionForm::Strong => "strong",
        };
        let at = label.map_or(String::new(), |label| format!("@{label}"));
        let declared = &model.families[family];
        let pattern = if declared.index.is_some() { format!("{}[*]", declared.name) } else { declared.name.clone() };
        let labels = label.map(|label| vec![label.to_owned()]);
        let pair = |process: ProcessId| {
            let unable = StatePredicate::Unable(process, labels.clone());
            let moves = EdgePredicate::Moves(process, labels.clone());
            let (always, often) = match form {
                AssumptionForm::Every => (None, vec![EdgePredicate::Scheduled(process)]),
                AssumptionForm::Weak => (None, vec![EdgePredicate::Before(unable), moves]),
                AssumptionForm::Strong => (Some(unable), vec![moves]),
            };
            let name = format!("{word} {}{at}", model.processes[process].name);
            FairnessPair { owner: Some(process), always, often, name, span: base::Span::default() }
        };
        Candidate { text: format!("{word} {pattern}{at}"), pairs: declared.processes().map(pair).collect() }
    }
}

fn progress() -> Candidate {
    let nobody = EdgePredicate::Before(StatePredicate::NobodyAble);
    let often = vec![nobody, EdgePredicate::SomebodyMoves];
    let name = "progress".to_owned();
    let pair = FairnessPair { owner: None, always: None, often, name: name.clone(), span: base::Span::default() };
    Candidate { text: name, pairs: vec![pair] }
}

/// All subsets of so many numbers below `n`, in lexicographic order.
fn subsets(n: usize, size: usize) -> Vec<Vec<usize>> {
    match size {
        0 => vec![Vec::new()],
        _ => {
            let smaller = subsets(n, size - 1);
            let longer = |set: &Vec<usize>| {
                let first = set.last().map_or(0, |last| last + 1);
                (first..n).map(|next| [&set[..], &[next]].concat()).collect::<Vec<_>>()
            };
            smaller.iter().flat_map(longer).collect()
        }
    }
}
