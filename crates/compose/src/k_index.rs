//! The strongest invariants of `k` processes each (Namjoshi, VMCAI 2007; Cohen and Namjoshi, CAV 2007; Hoenicke, Majumdar and
//! Podelski, POPL 2017).
//!
//! In: a backend and `k`. Out: for each group of `k` processes the least set that contains the initial states as the group sees
//! them and is closed under steps: of members of the group, from the group's own set; of others, from every combination of the
//! group with the mover of which each `k` processes are in their set (the `(k + 1)`-witness rule). For `k = 1` these are split
//! invariants, which are also what thread-modular checking computes (Flanagan and Qadeer); for `k = 2` the pairwise ones. Every
//! reachable state projects into them, whatever the order of the steps here.

use base::{Budget, StopReason};
use model::process::ProcessId;

use crate::backend::{Answered, Backend, Join, Movers};
use crate::question::Question;

/// The invariants of all groups of `k` processes.
#[derive(Clone, Debug)]
pub struct Invariants<S> {
    /// How many processes each speaks of.
    pub k: usize,
    /// The groups, in lexicographic order.
    pub groups: Vec<Vec<ProcessId>>,
    /// The set of each group.
    pub sets: Vec<S>,
}

impl<S> Invariants<S> {
    /// The sets of all groups.
    pub fn join(&self) -> Vec<(&[ProcessId], &S)> {
        self.groups.iter().map(Vec::as_slice).zip(&self.sets).collect()
    }

    /// The sets of the groups within some processes; of groups that contain all of them where they are fewer than `k`.
    pub fn within(&self, processes: &[ProcessId]) -> Vec<(&[ProcessId], &S)> {
        let inside = |group: &[ProcessId]| match processes.len() < self.k {
            true => processes.iter().all(|process| group.contains(process)),
            false => group.iter().all(|process| processes.contains(process)),
        };
        self.join().into_iter().filter(|(group, _)| inside(group)).collect()
    }
}

/// All groups of `k` of the processes, ascending.
pub fn groups(processes: &[ProcessId], k: usize) -> Vec<Vec<ProcessId>> {
    if k == 0 {
        return vec![Vec::new()];
    }
    let mut found = Vec::new();
    for (at, &first) in processes.iter().enumerate() {
        for mut rest in groups(&processes[at + 1..], k - 1) {
            rest.insert(0, first);
            found.push(rest);
        }
    }
    found
}

/// Who can change what a group sees, and whose sets the combination must be in.
struct Rule {
    /// The group, by its position.
    group: usize,
    movers: Movers,
    /// The groups of `k` among the group and the movers, by their positions.
    witnesses: Vec<usize>,
}

/// The fixpoint, which can be taken stage by stage.
pub struct Fixpoint<S> {
    /// The invariants so far.
    pub invariants: Invariants<S>,
    rules: Vec<Rule>,
    /// For each group how often its set has grown.
    versions: Vec<usize>,
    /// For each rule the versions of its witnesses when it was last applied.
    applied: Vec<Option<Vec<usize>>>,
    /// How many stages were taken.
    pub n_stages: usize,
}

impl<S: Clone> Fixpoint<S> {
    /// The initial stage.
    pub fn new<B: Backend<Set = S>>(backend: &mut B, k: usize) -> Result<Self, StopReason> {
        let all: Vec<ProcessId> = backend.model().processes.ids().collect();
        let groups = groups(&all, k);
        let sets = groups.iter().map(|group| backend.initial(group)).collect::<Result<Vec<S>, _>>()?;
        let rules = rules(backend, &groups, k);
        let (versions, applied) = (vec![0; groups.len()], vec![None; rules.len()]);
        Ok(Fixpoint { invariants: Invariants { k, groups, sets }, rules, versions, applied, n_stages: 0 })
    }

    /// Applies every rule once; whether anything was new. `at_once` makes what is new visible to later rules of the same stage;
    /// otherwise all rules see the sets as they were, which are the stages of the papers.
    pub fn stage<B: Backend<Set = S>>(
        &mut self,
        backend: &mut B,
        budget: &Budget,
        at_once: bool,
    ) -> Result<bool, StopReason> {
        self.n_stages += 1;
        let before = (!at_once).then(|| (self.invariants.sets.clone(), self.versions.clone()));
        let mut grown = false;
        for at in 0..self.rules.len() {
            let rule = &self.rules[at];
            let (sets, versions) = before.as_ref().map_or((&self.invariants.sets, &self.versions), |(s, v)| (s, v));
            let seen: Vec<usize> = rule.witnesses.iter().map(|&witness| versions[witness]).collect();
            if self.applied[at].as_ref() == Some(&seen) {
                continue;
            }
            let join: Vec<(&[ProcessId], &S)> = (rule.witnesses.iter())
                .map(|&witness| (self.invariants.groups[witness].as_slice(), &sets[witness]))
                .collect();
            let after = backend.post(rule.movers, &join, &self.invariants.groups[rule.group])?;
            let new = backend.minus(&after, &self.invariants.sets[rule.group])?;
            self.applied[at] = Some(seen);
            if !backend.is_empty(&new) {
                let group = self.rules[at].group;
                self.invariants.sets[group] = backend.union(&self.invariants.sets[group], &new)?;
                self.versions[group] += 1;
                grown = true;
            }
            budget.check(backend.memory_bytes())?;
        }
        Ok(grown)
    }

    /// Takes stages until nothing is new.
    pub fn close<B: Backend<Set = S>>(&mut self, backend: &mut B, budget: &Budget) -> Result<(), StopReason> {
        while self.stage(backend, budget, true)? {}
        Ok(())
    }
}

fn rules<B: Backend>(backend: &B, groups: &[Vec<ProcessId>], k: usize) -> Vec<Rule> {
    let position = |group: &Vec<ProcessId>| groups.binary_search(group).expect("groups are listed in order");
    let mut rules = Vec::new();
    for movers in backend.movers() {
        for (at, group) in groups.iter().enumerate() {
            if !backend.disturbs(movers, group) {
                continue;
            }
            let mut together = group.clone();
            together.extend(movers.processes().filter(|process| !group.contains(process)));
            together.sort_unstable();
            let witnesses = self::groups(&together, k).iter().map(position).collect();
            rules.push(Rule { group: at, movers, witnesses });
        }
    }
    rules
}

/// What the invariants say about a property's questions.
pub enum Decision {
    /// No question has a positive answer: proved.
    Proved,
    /// This question may have one.
    Open(Question),
    /// A question is itself a fault, in these words.
    Fault(String),
}

/// Puts the questions to the join of the sets of the processes that each looks at.
pub fn decide<B: Backend>(
    backend: &mut B,
    invariants: &Invariants<B::Set>,
    questions: &[Question],
    budget: &Budget,
) -> Result<Decision, StopReason> {
    for question in questions {
        let within = invariants.within(&question.processes);
        let join: Join<'_, B::Set> = &within;
        match backend.answers(question, join)? {
            Answered::No => {}
            Answered::Maybe => return Ok(Decision::Open(question.clone())),
            Answered::Fault(words) => return Ok(Decision::Fault(words)),
        }
        budget.check(backend.memory_bytes())?;
    }
    Ok(Decision::Proved)
}
