//! The strongest invariants of `k` processes each (Namjoshi, VMCAI 2007; Cohen and Namjoshi, CAV 2007; Hoenicke, Majumdar and
//! Podelski, POPL 2017).
//!
//! In: a backend and `k`. Out: for each group of `k` processes the least set that contains the initial states as the group sees
//! them and is closed under steps: of members of the group, from the group's own set; of others, from every combination of the
//! group with the mover of which each `k` processes are in their set (the `(k + 1)`-witness rule). For `k = 1` these are split
//! invariants, which are also what thread-modular checking computes (Flanagan and Qadeer); for `k = 2` the pairwise ones. Every
//! reachable state projects into them, whatever the order of the steps here.
//!
//! Where processes can be permuted, only groups of first processes are computed; the groups that their rules need beside are
//! their images, kept by rules of their own, and so is that a group's set is the same for all symmetric groups.

use std::collections::BTreeSet;

use base::{Budget, Coarse, StopReason};
use evidence::implied::Implied;
use model::process::ProcessId;
use model::property::PropertyKind;
use model::variable::CellId;

use crate::backend::{Answered, Backend, Movers};
use crate::implied::{ConcernedProcesses, implied};
use crate::question::{Pattern, Question};
use crate::symmetry::{Permutation, Symmetry};

/// The invariants of all groups of `k` processes.
#[derive(Clone, Debug)]
pub struct Invariants<S> {
    /// How many processes each speaks of.
    pub k: usize,
    /// The groups, in lexicographic order; where processes can be permuted, those that represent all, and then images of them.
    pub groups: Vec<Vec<ProcessId>>,
    /// The set of each group.
    pub sets: Vec<S>,
    /// How many of the groups represent all.
    pub n_representatives: usize,
}

impl<S: Clone> Invariants<S> {
    /// The sets of all groups, or of those that represent all.
    pub fn join(&self) -> Vec<(&[ProcessId], &S)> {
        self.groups.iter().map(Vec::as_slice).zip(&self.sets).take(self.n_representatives).collect()
    }

    /// The set of a group, renamed from one that represents it if need be.
    pub(crate) fn set_of<B: Backend<Set = S>>(
        &self,
        backend: &mut B,
        group: &[ProcessId],
        symmetry: Option<&Symmetry<'_>>,
    ) -> Result<S, StopReason> {
        if let Some(at) = self.groups.iter().position(|known| known == group) {
            return Ok(self.sets[at].clone());
        }
        let symmetry = symmetry.expect("without permutations all groups are there");
        let representative = symmetry.representative(group);
        let at =
            self.groups.iter().position(|known| *known == representative).expect("every choice of families is listed");
        backend.renamed(&self.sets[at], &representative, (symmetry, &symmetry.permutation(&representative, group)))
    }

    /// How the invariants imply a property whose questions [`decide`] answered.
    pub fn implied<B: Backend<Set = S>>(
        &self,
        backend: &B,
        asked: (&PropertyKind, &[Question]),
        symmetry: Option<&Symmetry<'_>>,
    ) -> Vec<Implied> {
        let model = backend.model();
        let by = |processes: &[ProcessId], cells: &BTreeSet<CellId>| {
            self.concerned(backend, processes, cells.iter().copied())
        };
        let all_processes: Vec<ProcessId> = model.processes.ids().collect();
        let in_deadlock = groups_in_deadlock(&all_processes, self.k);
        implied(model, asked, symmetry, ConcernedProcesses { by: &by, in_deadlock })
    }

    /// The processes given and further ones: so many that there are `k`, and such that see the cells.
    fn concerned<B: Backend<Set = S>>(
        &self,
        backend: &B,
        processes: &[ProcessId],
        cells: impl IntoIterator<Item = CellId>,
    ) -> Vec<ProcessId> {
        let all_processes: Vec<ProcessId> = backend.model().processes.ids().collect();
        let mut concerned = processes.to_vec();
        concerned.sort_unstable();
        concerned.dedup();
        for &other in &all_processes {
            if concerned.len() < self.k && !concerned.contains(&other) {
                concerned.push(other);
            }
        }
        for cell in cells {
            // A cell that none of them sees may have any value.
            if !backend.sees(&concerned, cell)
                && let Some(&watcher) = all_processes.iter().find(|&&process| backend.sees(&[process], cell))
            {
                concerned.push(watcher);
            }
        }
        concerned.sort_unstable();
        concerned.dedup();
        concerned
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

/// The budget is checked after so many groups or rules.
const CHECK_EVERY: u64 = 256;

/// Counts the groups and rules of a plan while it is made: with a hundred processes there are millions.
struct Counter<'a> {
    budget: &'a Budget,
    n_made: u64,
    bytes: u64,
}

impl Counter<'_> {
    /// One more list of `len` numbers.
    fn count(&mut self, len: usize) -> Result<(), StopReason> {
        self.n_made += 1;
        self.bytes += (size_of::<ClosureRule>() + len * size_of::<usize>()) as u64;
        if self.n_made.is_multiple_of(CHECK_EVERY) { self.budget.check(self.bytes) } else { Ok(()) }
    }

    /// The groups of `k` of the processes, as [`groups`] lists them.
    fn groups(&mut self, processes: &[ProcessId], k: usize) -> Result<Vec<Vec<ProcessId>>, StopReason> {
        let (mut found, mut chosen) = (Vec::new(), Vec::with_capacity(k));
        self.choose(processes, k, &mut chosen, &mut found)?;
        Ok(found)
    }

    fn choose(
        &mut self,
        processes: &[ProcessId],
        k: usize,
        chosen: &mut Vec<ProcessId>,
        found: &mut Vec<Vec<ProcessId>>,
    ) -> Result<(), StopReason> {
        if k == 0 {
            found.push(chosen.clone());
            return self.count(chosen.len());
        }
        for (at, &first) in processes.iter().enumerate() {
            chosen.push(first);
            self.choose(&processes[at + 1..], k - 1, chosen, found)?;
            chosen.pop();
        }
        Ok(())
    }
}

/// What the sets have to be closed under.
#[derive(Clone, Debug)]
pub enum ClosureRule {
    /// Movers can change what a group sees.
    Step {
        /// The group, by its position.
        group: usize,
        /// The processes that step.
        movers: Movers,
        /// The groups of `k` among the group and the movers, by their positions: whose sets the combination must be in.
        witnesses: Vec<usize>,
    },
    /// A group's set, renamed, is part of another's, or of its own.
    Image {
        /// The group that is renamed, by its position.
        from: usize,
        /// The group that it becomes.
        to: usize,
        /// The renaming.
        permutation: Permutation,
    },
}

impl ClosureRule {
    /// The groups whose sets the rule reads.
    pub fn sources(&self) -> &[usize] {
        match self {
            ClosureRule::Step { witnesses, .. } => witnesses,
            ClosureRule::Image { from, .. } => std::slice::from_ref(from),
        }
    }

    /// The group whose set the rule lets grow.
    pub fn target(&self) -> usize {
        match self {
            ClosureRule::Step { group, .. } => *group,
            ClosureRule::Image { to, .. } => *to,
        }
    }
}

/// Groups and rules.
#[derive(Clone, Debug)]
pub struct KIndexPlan<'m> {
    /// How many processes each group has.
    pub k: usize,
    /// The groups.
    pub groups: Vec<Vec<ProcessId>>,
    /// How many of the groups represent all.
    pub n_representatives: usize,
    /// The rules.
    pub rules: Vec<ClosureRule>,
    /// The permutations, where some groups represent others.
    pub symmetry: Option<Symmetry<'m>>,
}

impl<'m> KIndexPlan<'m> {
    /// Every group, and every mover that can interfere with it.
    ///
    /// # Errors
    /// A limit that was reached.
    pub fn of_all<B: Backend>(backend: &B, k: usize, budget: &Budget) -> Result<Self, StopReason> {
        let all: Vec<ProcessId> = backend.model().processes.ids().collect();
        let mut counter = Counter { budget, n_made: 0, bytes: 0 };
        let groups = counter.groups(&all, k)?;
        let mut plan = KIndexPlan { k, n_representatives: groups.len(), groups, rules: Vec::new(), symmetry: None };
        for movers in backend.movers() {
            for at in 0..plan.groups.len() {
                let n_witnesses = plan.add_step(backend, at, movers);
                counter.count(n_witnesses)?;
            }
        }
        Ok(plan)
    }

    /// One group for each choice of families, one mover of those that are symmetric for it, and the images that the rules need.
    ///
    /// # Errors
    /// A limit that was reached.
    pub fn of_first<B: Backend>(
        backend: &B,
        k: usize,
        symmetry: Symmetry<'m>,
        budget: &Budget,
    ) -> Result<Self, StopReason> {
        let mut counter = Counter { budget, n_made: 0, bytes: 0 };
        let groups = counter.groups(&symmetry.first_processes(k), k)?;
        let is_representative = |group: &Vec<ProcessId>| symmetry.representative(group) == *group;
        let groups: Vec<Vec<ProcessId>> = groups.into_iter().filter(is_representative).collect();
        let mut plan = KIndexPlan {
            k,
            n_representatives: groups.len(),
            groups,
            rules: Vec::new(),
            symmetry: Some(symmetry.clone()),
        };
        for at in 0..plan.n_representatives {
            let group = plan.groups[at].clone();
            for movers in backend.movers() {
                let is_first = symmetry.is_first(&movers.processes().collect::<Vec<ProcessId>>(), &group);
                let n_witnesses = if is_first { plan.add_step(backend, at, movers) } else { 0 };
                counter.count(n_witnesses)?;
            }
            for permutation in symmetry.keeping(&plan.groups[at]) {
                plan.rules.push(ClosureRule::Image { from: at, to: at, permutation });
            }
        }
        for to in plan.n_representatives..plan.groups.len() {
            let representative = symmetry.representative(&plan.groups[to]);
            let from = plan.groups.iter().position(|group| *group == representative).expect("every choice is listed");
            let permutation = symmetry.permutation(&representative, &plan.groups[to]);
            counter.count(backend.model().processes.len())?;
            plan.rules.push(ClosureRule::Image { from, to, permutation });
        }
        Ok(plan)
    }

    /// Adds the rule of movers that can change what a group sees. How many witnesses it has.
    fn add_step<B: Backend>(&mut self, backend: &B, at: usize, movers: Movers) -> usize {
        if !backend.interferes(movers, &self.groups[at]) {
            return 0;
        }
        let mut together = self.groups[at].clone();
        together.extend(movers.processes().filter(|process| !self.groups[at].contains(process)));
        together.sort_unstable();
        let witnesses: Vec<usize> = groups(&together, self.k).into_iter().map(|group| self.position(group)).collect();
        let n_witnesses = witnesses.len();
        self.rules.push(ClosureRule::Step { group: at, movers, witnesses });
        n_witnesses
    }

    fn position(&mut self, group: Vec<ProcessId>) -> usize {
        let known = match self.symmetry {
            None => self.groups.binary_search(&group).ok(),
            Some(_) => self.groups.iter().position(|known| *known == group),
        };
        known.unwrap_or_else(|| {
            self.groups.push(group);
            self.groups.len() - 1
        })
    }
}

/// The fixpoint, which can be taken stage by stage.
pub struct Fixpoint<'m, S> {
    /// The invariants so far.
    pub invariants: Invariants<S>,
    /// What they have to be closed under.
    plan: KIndexPlan<'m>,
    /// For each group how often its set has grown.
    versions: Vec<usize>,
    /// For each rule the versions of its sources when it was last applied.
    applied: Vec<Option<Vec<usize>>>,
    /// How many stages were taken.
    pub n_stages: usize,
}

impl<'m, S: Clone> Fixpoint<'m, S> {
    /// The initial stage, for all groups and without limits.
    pub fn new<B: Backend<Set = S>>(backend: &mut B, k: usize) -> Result<Self, StopReason> {
        let budget = Budget::unlimited();
        let plan = KIndexPlan::of_all(backend, k, &budget)?;
        Fixpoint::of_plan(backend, plan, &budget)
    }

    /// The initial stage of a plan.
    pub fn of_plan<B: Backend<Set = S>>(
        backend: &mut B,
        plan: KIndexPlan<'m>,
        budget: &Budget,
    ) -> Result<Self, StopReason> {
        let mut sets = Vec::with_capacity(plan.groups.len());
        for group in &plan.groups {
            sets.push(backend.initial(group)?);
            budget.check(backend.memory_bytes())?;
        }
        let (versions, applied) = (vec![0; plan.groups.len()], vec![None; plan.rules.len()]);
        let (k, groups, n_representatives) = (plan.k, plan.groups.clone(), plan.n_representatives);
        let invariants = Invariants { k, groups, sets, n_representatives };
        Ok(Fixpoint { invariants, plan, versions, applied, n_stages: 0 })
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
        for (at, rule) in self.plan.rules.iter().enumerate() {
            let (sets, versions) = before.as_ref().map_or((&self.invariants.sets, &self.versions), |(s, v)| (s, v));
            let seen: Vec<usize> = rule.sources().iter().map(|&source| versions[source]).collect();
            if self.applied[at].as_ref() == Some(&seen) {
                continue;
            }
            let target = rule.target();
            let after = self.apply(backend, rule, sets)?;
            let new = backend.minus(&after, &self.invariants.sets[target])?;
            self.applied[at] = Some(seen);
            if !backend.is_empty(&new) {
                self.invariants.sets[target] = backend.union(&self.invariants.sets[target], &new)?;
                self.versions[target] += 1;
                grown = true;
            }
            budget.check(backend.memory_bytes())?;
        }
        Ok(grown)
    }

    fn apply<B: Backend<Set = S>>(&self, backend: &mut B, rule: &ClosureRule, sets: &[S]) -> Result<S, StopReason> {
        let groups = &self.plan.groups;
        match rule {
            ClosureRule::Step { group, movers, witnesses } => {
                let join: Vec<(&[ProcessId], &S)> =
                    witnesses.iter().map(|&witness| (groups[witness].as_slice(), &sets[witness])).collect();
                backend.post(*movers, &join, &groups[*group])
            }
            ClosureRule::Image { from, permutation, .. } => {
                let symmetry = self.plan.symmetry.as_ref().expect("images are made by permutations");
                backend.renamed(&sets[*from], &groups[*from], (symmetry, permutation))
            }
        }
    }

    /// Takes stages until nothing is new, or lets the backend go there in its own way.
    pub fn close<B: Backend<Set = S>>(&mut self, backend: &mut B, budget: &Budget) -> Result<(), StopReason> {
        if backend.close(&self.plan, &mut self.invariants.sets, budget)? {
            return Ok(());
        }
        while self.stage(backend, budget, true)? {}
        Ok(())
    }
}

/// A question is put to no more groups at once.
const MOST_GROUPS: usize = 2000;

/// The reason to stop where a question is about too many processes at once.
pub fn too_many_at_once() -> StopReason {
    Coarse::LargeQuestion.into()
}

/// The groups of `k` among the processes concerned. Where there are too many, a deadlock is searched for with neighbours only: they
/// leave more combinations, but cover all processes.
fn groups_of_question(
    question: &Question,
    concerned: &[ProcessId],
    k: usize,
) -> Result<Vec<Vec<ProcessId>>, StopReason> {
    match question.pattern {
        Pattern::Deadlock => Ok(groups_in_deadlock(concerned, k)),
        _ if n_groups(concerned.len(), k) <= MOST_GROUPS => Ok(groups(concerned, k)),
        _ => Err(too_many_at_once()),
    }
}

/// The groups of `k` processes that are asked for a deadlock.
fn groups_in_deadlock(all_processes: &[ProcessId], k: usize) -> Vec<Vec<ProcessId>> {
    match n_groups(all_processes.len(), k) <= MOST_GROUPS {
        true => groups(all_processes, k),
        false => all_processes.windows(k).map(<[ProcessId]>::to_vec).collect(),
    }
}

/// How many groups of `k` there are among so many processes.
fn n_groups(n_processes: usize, k: usize) -> usize {
    (0..k).fold(1, |n: usize, at| n.saturating_mul(n_processes.saturating_sub(at)) / (at + 1))
}

/// What the invariants say about a property's questions.
pub enum InvariantDecision {
    /// No question has a positive answer: proved.
    Proved,
    /// This question may have one.
    Open(Question),
    /// This question may itself be a fault.
    Fault(Question),
}

/// Puts the questions, up to the first one that is open, to the join of the sets of the processes that each concerns.
pub fn decide<'q, B: Backend>(
    backend: &mut B,
    invariants: &Invariants<B::Set>,
    questions: impl IntoIterator<Item = &'q Question>,
    (symmetry, budget): (Option<&Symmetry<'_>>, &Budget),
) -> Result<InvariantDecision, StopReason> {
    for question in questions {
        let cells = question.cells.iter().copied();
        let concerned = invariants.concerned(backend, &question.processes, cells);
        let groups = groups_of_question(question, &concerned, invariants.k)?;
        let sets = groups.iter().map(|group| invariants.set_of(backend, group, symmetry));
        let sets = sets.collect::<Result<Vec<B::Set>, _>>()?;
        let join: Vec<(&[ProcessId], &B::Set)> = groups.iter().map(Vec::as_slice).zip(&sets).collect();
        match backend.answers(question, &join)? {
            Answered::No => {}
            Answered::Maybe => return Ok(InvariantDecision::Open(question.clone())),
            Answered::Fault(_) => return Ok(InvariantDecision::Fault(question.clone())),
        }
        budget.check(backend.memory_bytes())?;
    }
    Ok(InvariantDecision::Proved)
}
