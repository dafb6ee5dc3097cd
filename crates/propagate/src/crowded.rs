//! Proofs in which one process represents all symmetric ones: the work does not grow with their number.
//!
//! In: a temporal property. Out: a certificate with crowds, or nothing where there are none, or where something is left; then all processes are treated one by one.

use std::collections::BTreeSet;

use ::engine::{Halt, PropertyId, Task};
use base::StopReason;
use evidence::certificate::{Claim, Fact};
use evidence::propagation::Additive;
use evidence::{Certificate, Scope};
use model::process::ProcessId;
use temporal::exchange::Exchanges;

use crate::additive::{Source, pruned};
use crate::conditions::property_view;
use crate::crowds::{Crowd, are_kept, crowds, stand_ins, weighs_alike};
use crate::engine::{Attempted, Config, Proving, Shows, Violating, refutation, violations, with_ways};
use crate::refute::Effort;
use crate::together::Company;
use crate::views::Limits;
use crate::workshop::Workshop;

/// So many tests are done for one way to violate the property.
const MOST_TESTS: usize = 1_000;

/// A proof, and how many view states each process has.
pub(crate) struct CrowdedProof {
    pub certificate: Certificate,
    pub sizes: Vec<Option<u64>>,
}

/// A proof of a property with crowds.
///
/// # Errors
/// A limit from outside, or a contradiction.
pub(crate) fn proof(
    task: &Task<'_>,
    config: Config,
    exchanges: &Exchanges<'_>,
    (property, shows): (PropertyId, Shows),
) -> Result<Option<CrowdedProof>, Halt> {
    let violations = violations(task, (property, shows))?;
    with_ways(&violations, |ways| {
        let plain: Vec<_> = ways.iter().map(|way| way.plain).collect();
        let images = exchanges.images(&plain);
        let own: Vec<Violating<'_>> =
            ways.iter().zip(&images).filter(|(_, image)| image.is_none()).map(|(way, _)| *way).collect();
        let mut named: BTreeSet<ProcessId> = BTreeSet::new();
        for way in &own {
            match property_view(task.model, &way.plain.automaton.atoms) {
                Some(looked_at) => named.extend(looked_at.members),
                None => return Ok(None),
            }
        }
        let crowds = crowds(task.model, exchanges, &named);
        let is_kept = |way: &Violating<'_>| are_kept(task.model, exchanges, &crowds, &way.plain.fairness);
        if crowds.is_empty() || !own.iter().all(is_kept) {
            return Ok(None);
        }
        for source in [Source::Guesses, Source::Alike] {
            match by_source(task, config, (&own, &crowds), source) {
                Ok(Some((mut facts, sizes))) => {
                    for (of, claim) in images.iter().flatten() {
                        let shown = 1 + images[..*of].iter().filter(|one| one.is_none()).count();
                        facts.push(Fact { claim: Claim::Exchanged(claim.clone()), uses: vec![shown] });
                    }
                    let property = task.model.properties[property].name.clone();
                    let certificate = Certificate { property, scope: Scope::Instance, facts, implies: Vec::new() };
                    return Ok(Some(CrowdedProof { certificate, sizes }));
                }
                Ok(None) => {}
                Err(Halt::Stopped(reason)) if !is_from_outside(&reason) => {}
                Err(halt) => return Err(halt),
            }
        }
        Ok(None)
    })
}

fn is_from_outside(reason: &StopReason) -> bool {
    crate::refute::stopped(reason)
}

/// Facts that refute all ways, and how many view states each process has.
type Found = (Vec<Fact>, Vec<Option<u64>>);

fn by_source(
    task: &Task<'_>,
    config: Config,
    (ways, crowds): (&[Violating<'_>], &[Crowd]),
    source: Source,
) -> Result<Option<Found>, Halt> {
    let limits = Limits { budget: &task.budget, most_rows: config.rows, most_edges: config.edges };
    let is_alike = |sum: &Additive| weighs_alike(task.model, crowds, sum);
    let (views, invariants) = pruned(task.model, stand_ins(task.model, crowds), limits, (source, &is_alike))?;
    let mut proving = Proving { shop: Workshop::new(views, config.edges), invariants };
    let mut sights = proving.sights();
    sights.crowds = crowds.iter().map(|crowd| crowd.processes.clone()).collect();
    let mut facts = vec![Fact { claim: Claim::Sights(sights), uses: Vec::new() }];
    let most_tests = config.tests.min(MOST_TESTS);
    for &way in ways {
        let effort = Effort { budget: &task.budget, most_tests, most_depth: config.depth };
        match refutation(&mut proving.shop, (way, Company::default()), crowds, (effort, config.edges))? {
            Attempted::Refuted(_, claim) => facts.push(Fact { claim: Claim::Refutation(claim), uses: vec![0] }),
            Attempted::Left { .. } => return Ok(None),
        }
    }
    let views = &proving.shop.views;
    let size = |process: ProcessId| Some(views.list[views.stand_in(process).index()].rows.len() as u64);
    Ok(Some((facts, task.model.processes.ids().map(size).collect())))
}
