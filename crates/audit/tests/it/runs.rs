//! Proofs of temporal properties: those that brute force writes are accepted, and no change makes one of what is false.

use std::cell::Cell;

use audit::certificate::{CertificateError, check};
use audit::temporal::is_violated;
use base::Budget;
use evidence::Certificate;
use evidence::certificate::{Claim, LocalFact, NoFairRun, RankReason, RankTree, StateSet, Variant};
use evidence::proof_file;
use model::Model;
use model::eval::State;
use model::fairness::Assumptions;
use model::process::ProcessId;
use model::property::{Formula, Property, PropertyKind};
use testkit::choices::Choices;
use testkit::local::{Expose, LocalDefinition};
use testkit::runs::Prover;
use testkit::temporal::with_temporal;
use testkit::{Product, RandomFeatures, for_each_program};

/// Everything about local states, or some of it.
fn exposures(model: &Model, process: ProcessId, percent: usize, choices: &mut Choices) -> Vec<Expose> {
    let scope = model::control::TextOwner::Family(model.processes[process].family);
    let places = model.places.entries().filter(|(_, place)| place.scope == scope);
    let mut facts: Vec<Expose> = places.map(|(place, _)| Expose::At(vec![place])).collect();
    let is_local = |var: &model::variable::Var| matches!(var.storage, model::variable::Storage::Local(_));
    let own = model.cells.entries().filter(|(_, cell)| cell.owner == Some(process));
    for (id, cell) in own.filter(|(_, cell)| is_local(&model.vars[cell.var])) {
        facts.extend(cell.ty.values(model.type_context()).take(8).map(|value| Expose::Cell(id, value)));
    }
    facts.retain(|_| choices.chance(percent));
    facts
}

fn truth(model: &Model, states: &[State], property: &Property) -> Option<bool> {
    let PropertyKind::Temporal(formula) = &property.kind else { return None };
    is_violated(model, states, formula, &property.under).ok().flatten().map(|violated| !violated)
}

/// Which random programs are asked about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Programs {
    /// Without channels.
    Alone,
    /// With channels.
    Rendezvous,
}

/// Calls a check with random programs that ranks can speak about, their states, and temporal properties.
fn for_each_question(
    (n_programs, programs): (u64, Programs),
    check: impl Fn(&Model, &Product, u64) -> Result<(), String>,
) {
    let rendezvous = programs == Programs::Rendezvous;
    let shape = RandomFeatures { procedures: false, rendezvous, n_statements: 3, ..RandomFeatures::everything() };
    for_each_program(n_programs, shape, |_, model| {
        if model.channels.is_empty() == rendezvous {
            return Ok(());
        }
        let Some(product) = Product::explore(model, 25) else { return Ok(()) };
        if model::footprint::watcher(model).is_some() {
            return Ok(());
        }
        let seed = product.states.len() as u64 * 7 + model.places.len() as u64;
        check(&with_temporal(model, seed, 3), &product, seed)
    });
}

/// Provers that see all, and some that see less.
fn provers<'m>(model: &'m Model, seed: u64) -> Vec<(bool, Prover<'m>)> {
    let mut choices = Choices::from_seed(seed ^ 0xfac7);
    let mut found = Vec::new();
    for percent in [100, 50, 20] {
        let exposed = model.processes.ids().map(|process| exposures(model, process, percent, &mut choices)).collect();
        let local = LocalDefinition { exposed, limit: 40, ..LocalDefinition::new(model, 1) };
        found.extend(Prover::new(local).map(|prover| (percent == 100, prover)));
    }
    found
}

#[test]
fn what_brute_force_proves_is_accepted_and_true() {
    accepts_what_brute_force_proves(150, Programs::Alone);
}

#[test]
fn what_brute_force_proves_of_rendezvous_is_accepted_and_true() {
    accepts_what_brute_force_proves(900, Programs::Rendezvous);
}

fn accepts_what_brute_force_proves(n_programs: u64, programs: Programs) {
    let (n_accepted, n_partial, n_violated) = (Cell::new(0), Cell::new(0), Cell::new(0));
    for_each_question((n_programs, programs), |model, product, seed| {
        for (sees_all, prover) in provers(model, seed) {
            for property in &model.properties {
                let Some(holds) = truth(model, &product.states, property) else { continue };
                let Some(certificate) = prover.certificate(property) else {
                    // What sees everything proves everything that is true.
                    if holds && sees_all && product.n_faults() == 0 {
                        return Err(format!("{} has no proof", property.name));
                    }
                    n_violated.set(n_violated.get() + u32::from(!holds));
                    continue;
                };
                if !holds {
                    return Err(format!("{} is violated, and has a proof", property.name));
                }
                check(model, property, &certificate, &Budget::unlimited()).map_err(|error| error.to_string())?;
                let text = proof_file::to_text(model, &certificate, "fll-a");
                if proof_file::read(text.as_bytes(), model) != Ok(certificate) {
                    return Err(format!("reads back differently:\n{text}"));
                }
                n_accepted.set(n_accepted.get() + 1);
                n_partial.set(n_partial.get() + u32::from(!sees_all));
            }
        }
        Ok(())
    });
    let counts = (n_accepted.get(), n_partial.get(), n_violated.get());
    assert!(counts.0 > 300 && counts.1 > 100 && counts.2 > 300, "{counts:?}");
}

/// The tree with something changed.
fn changed_tree(tree: &mut RankTree, choices: &mut Choices) {
    if tree.ranks.is_empty() || tree.reasons.is_empty() {
        return;
    }
    let (node, rank) = (choices.below(tree.ranks.len()), choices.below(tree.reasons.len()));
    match (choices.below(7), &mut tree.reasons[rank]) {
        (0 | 1, _) => tree.ranks[node] = choices.below(tree.reasons.len() + 1) as u32,
        (2, reason) => *reason = RankReason::Trivial,
        (3, reason) => *reason = RankReason::Missing(choices.below(4)),
        (4, reason) => *reason = RankReason::Own,
        (5, RankReason::Pair(pair, _)) => *pair = choices.below(4),
        (_, RankReason::Pair(_, below)) => changed_tree(below, choices),
        _ => drop(tree.ranks.pop()),
    }
}

/// A certificate with something changed in the way it is attacked: a claim about runs, or the invariant below it.
fn changed(certificate: &Certificate, choices: &mut Choices) -> Certificate {
    let mut changed = certificate.clone();
    if changed.facts.is_empty() {
        return changed;
    }
    let at = choices.below(changed.facts.len());
    match &mut changed.facts[at].claim {
        Claim::NoFairRun(claim) if choices.chance(80) => changed_claim(claim, choices),
        Claim::NoFairRun(_) => match choices.below(2) {
            0 => drop(changed.facts.remove(at)),
            _ => changed.facts[at].uses = vec![choices.below(3)],
        },
        Claim::Pushdown(_)
        | Claim::Sights(_)
        | Claim::Refutation(_)
        | Claim::Views(_)
        | Claim::Rings(_)
        | Claim::Fine(_)
        | Claim::Counting(_)
        | Claim::Exchanged(_)
        | Claim::Crowd(_) => {}
        Claim::SplitInvariant(invariant) => {
            let process = choices.below(invariant.members.len());
            match choices.below(4) {
                0 => {
                    let StateSet::Rows(rows) = &mut invariant.members[process].states else { return changed };
                    if !rows.is_empty() {
                        rows.remove(choices.below(rows.len()));
                    }
                }
                1 => {
                    let StateSet::Rows(rows) = &mut invariant.members[process].states else { return changed };
                    if let Some(mut row) = rows.first().cloned() {
                        let column = choices.below(row.len());
                        row[column] = choices.below(3) as u32;
                        rows.push(row);
                        rows.sort();
                        rows.dedup();
                    }
                }
                2 => match invariant.exposed[process].facts.first_mut() {
                    Some(fact) => *fact = LocalFact::OneOf(vec![vec![fact.clone()], vec![LocalFact::Control(vec![0])]]),
                    None => invariant.exposed[process].blocks.clear(),
                },
                _ => {
                    let exposed = &mut invariant.exposed[process];
                    exposed.facts.pop();
                    exposed.blocks.iter_mut().for_each(|block| block.truncate(exposed.facts.len()));
                }
            }
        }
    }
    changed
}

fn changed_claim(claim: &mut NoFairRun, choices: &mut Choices) {
    if claim.foci.is_empty() {
        return;
    }
    let focus = choices.below(claim.foci.len());
    match choices.below(11) {
        0 => {
            let name = &mut claim.violation;
            match choices.below(3) {
                0 => drop(name.fairness.pop()),
                1 => drop(name.instance.pop()),
                _ => name.part = vec![choices.below(2)],
            }
        }
        1 => claim.variant = Variant::OneProcess,
        2 => claim.variant = Variant::EveryProcess { mark: (!choices.chance(30)).then(|| choices.below(3)) },
        3 => drop(claim.foci.remove(focus)),
        4 => claim.foci[focus].process = ProcessId::new(choices.below(3)),
        5 => {
            let focus = &mut claim.foci[focus];
            if !focus.nodes.is_empty() {
                let node = choices.below(focus.nodes.len());
                focus.nodes.remove(node);
                if choices.chance(70) && node < focus.ranks.ranks.len() {
                    focus.ranks.ranks.remove(node);
                }
            }
        }
        6 => {
            let nodes = &mut claim.foci[focus].nodes;
            if !nodes.is_empty() {
                let node = choices.below(nodes.len());
                nodes[node] = (choices.below(nodes.len()) as u32, choices.below(3) as u32);
            }
        }
        7 | 8 => changed_table(claim, choices),
        _ => changed_tree(&mut claim.foci[focus].ranks, choices),
    }
}

/// Other names for the states and marks of the automaton.
fn changed_table(claim: &mut NoFairRun, choices: &mut Choices) {
    let table = &mut claim.automaton;
    if table.states.is_empty() {
        return;
    }
    let (one, other) = (choices.below(table.states.len()), choices.below(table.states.len()));
    match choices.below(5) {
        0 => table.states.swap(one, other),
        1 => drop(table.states.remove(one)),
        2 => table.states[one] = table.states[other].clone(),
        3 => table.marks.reverse(),
        _ => drop(table.marks.pop()),
    }
}

/// The same claim with the names of its table in another order.
fn with_names_reversed(claim: &NoFairRun) -> NoFairRun {
    fn marks(tree: &mut RankTree, n_marks: usize) {
        for reason in &mut tree.reasons {
            match reason {
                RankReason::Missing(mark) => *mark = n_marks - 1 - *mark,
                RankReason::Pair(_, below) => marks(below, n_marks),
                RankReason::Trivial | RankReason::Own => {}
            }
        }
    }
    let mut claim = claim.clone();
    let (n_states, n_marks) = (claim.automaton.states.len(), claim.automaton.marks.len());
    claim.automaton.states.reverse();
    claim.automaton.marks.reverse();
    if let Variant::EveryProcess { mark: Some(mark) } = &mut claim.variant {
        *mark = n_marks - 1 - *mark;
    }
    for focus in &mut claim.foci {
        focus.nodes.iter_mut().for_each(|(_, state)| *state = n_states as u32 - 1 - *state);
        marks(&mut focus.ranks, n_marks);
    }
    claim
}

/// Names may stand in any order, and names that a claim does not use may be left out.
#[test]
fn names_of_states_may_stand_in_any_order() {
    let (n_accepted, n_left_out) = (Cell::new(0), Cell::new(0));
    for_each_question((60, Programs::Alone), |model, _, seed| {
        for (_, prover) in provers(model, seed) {
            for property in &model.properties {
                let Some(mut certificate) = prover.certificate(property) else { continue };
                for reverses in [true, false] {
                    for fact in &mut certificate.facts {
                        let Claim::NoFairRun(claim) = &mut fact.claim else { continue };
                        let n_names = claim.automaton.states.len() + claim.automaton.marks.len();
                        *claim = match reverses {
                            true => with_names_reversed(claim),
                            false => claim.clone().with_names_of(&claim.automaton),
                        };
                        let n_used = claim.automaton.states.len() + claim.automaton.marks.len();
                        n_left_out.set(n_left_out.get() + n_names - n_used);
                    }
                    check(model, property, &certificate, &Budget::unlimited()).map_err(|error| error.to_string())?;
                    n_accepted.set(n_accepted.get() + 1);
                }
            }
        }
        Ok(())
    });
    assert!(n_accepted.get() > 100 && n_left_out.get() > 20, "{n_accepted:?} accepted, {n_left_out:?} left out");
}

/// The question with something changed: its formula, or what it assumes.
fn other_questions(model: &Model, property: &Property) -> Vec<(Model, Property)> {
    let mut found = vec![(model.clone(), property.clone())];
    let mut ask = |model: Model, kind: PropertyKind, under: Assumptions| {
        found.push((model, Property { kind, under, ..property.clone() }));
    };
    let PropertyKind::Temporal(formula) = &property.kind else { return found };
    ask(model.clone(), PropertyKind::Temporal(Formula::Not(Box::new(formula.clone()))), property.under.clone());
    ask(model.clone(), property.kind.clone(), Assumptions::none());
    for other in &model.properties {
        ask(model.clone(), other.kind.clone(), other.under.clone());
        ask(model.clone(), other.kind.clone(), property.under.clone());
    }
    // The same pairs mean something else.
    let mut unfair = model.clone();
    for id in model.fairness.ids() {
        let other = (id.index() + 1) % model.fairness.len();
        unfair.fairness[id].often = model.fairness[model::fairness::FairnessId::new(other)].often.clone();
    }
    ask(unfair, property.kind.clone(), property.under.clone());
    found
}

#[test]
fn thousands_of_changed_proofs_prove_nothing_that_is_false() {
    refuses_changed_proofs(50, Programs::Alone);
}

#[test]
fn thousands_of_changed_proofs_about_rendezvous_prove_nothing_that_is_false() {
    refuses_changed_proofs(300, Programs::Rendezvous);
}

fn refuses_changed_proofs(n_programs: u64, programs: Programs) {
    let (n_false, n_refused, n_accepted) = (Cell::new(0), Cell::new(0), Cell::new(0));
    for_each_question((n_programs, programs), |model, product, seed| {
        let mut choices = Choices::from_seed(seed ^ 0xbad);
        let provers = provers(model, seed);
        for property in &model.properties {
            let certificates = provers.iter().filter_map(|(_, prover)| prover.certificate(property));
            let certificates: Vec<Certificate> = certificates.collect();
            if certificates.is_empty() {
                continue;
            }
            for (model, property) in other_questions(model, property) {
                let Some(holds) = truth(&model, &product.states, &property) else { continue };
                for certificate in &certificates {
                    for nth in 0..8 {
                        let mut tried = certificate.clone();
                        (0..nth.min(2)).for_each(|_| tried = changed(&tried, &mut choices));
                        let judged = check(&model, &property, &tried, &Budget::unlimited());
                        match (&judged, holds) {
                            (Ok(_), false) => return Err(format!("{} is violated: {tried:?}", property.name)),
                            (Ok(_), true) => n_accepted.set(n_accepted.get() + 1),
                            (Err(_), true) => n_refused.set(n_refused.get() + 1),
                            (Err(CertificateError::Stopped(why)), false) => return Err(why.to_string()),
                            (Err(error), false) => {
                                assert!(!error.to_string().is_empty());
                                n_false.set(n_false.get() + 1);
                            }
                        }
                    }
                }
            }
        }
        Ok(())
    });
    let counts = (n_false.get(), n_refused.get(), n_accepted.get());
    assert!(counts.0 > 2_000 && counts.1 > 2_000, "false and refused, true and refused, accepted: {counts:?}");
}
