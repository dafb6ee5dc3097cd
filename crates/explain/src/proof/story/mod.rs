//! Why waiting ends: which process waits for which, and why no fair run waits for ever, where a proof is about runs of every size, or refutes runs of one.
//!
//! In: a certificate. Out: a [`Story`]: sentences in an order in which people read them, and a picture. `crowd` tells what the log of a refutation
//! says, step by step, about the views that it lists; `waits` examines the windows of rings, chains and trees: at which places a process is blocked, what it waits
//! for, which processes have that and their places, and whether such a chain can go round; `refutation` tells the log of a refutation at one size. What could not be
//! found out is left out.

mod chains;
mod crowd;
mod ground;
mod refutation;
mod sums;
mod views_graph;
mod waits;

use base::Budget;
use engine::graph::Drawing;
use evidence::Certificate;
use evidence::certificate::Claim;
use evidence::scope::Scope;
use model::Model;
use model::process::ProcessId;
use model::property::PropertyKind;

use super::formula::SentenceFormula;

/// What lasts, and why it does not last for ever.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Story {
    /// Which process waits where, and for which.
    pub waits: Vec<WaitLine>,
    /// The argument, line by line.
    pub lines: Vec<StoryLine>,
    /// The same as a picture.
    pub picture: Picture,
}

/// Where a process waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitLine {
    /// The processes: `Phil[i], i > 0`.
    pub who: String,
    /// At which place.
    pub at: String,
    /// While what is so; empty where that is not said in one sentence.
    pub holds: String,
    /// For which processes, and their places meanwhile.
    pub whom: Vec<String>,
}

/// A sentence of the argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoryLine {
    /// How far it is set in: what follows from the line before it.
    pub depth: usize,
    /// The sentence.
    pub text: String,
}

/// Boxes and arrows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Picture {
    /// The boxes: lines of text each.
    pub boxes: Vec<Vec<String>>,
    /// From which box to which, with words.
    pub arrows: Vec<(usize, usize, String)>,
    /// The boxes at which it ends.
    pub ends: Vec<usize>,
}

/// The views of a proof as a graph.
#[derive(Clone, Debug)]
pub struct ViewGraph {
    /// Whose views these are: `process i, for every i`.
    pub whom: String,
    /// The process that is examined in the drawing.
    pub process: ProcessId,
    /// The views, and the steps between them.
    pub drawing: Drawing,
    /// How many processes there were when the steps were taken.
    pub size: usize,
    /// Views that are not reachable at this size.
    pub n_unmet: usize,
}

/// The story of a proof about runs; `None` where there is none.
pub fn story(model: &Model, certificate: &Certificate, budget: &Budget) -> Option<Story> {
    let is_temporal = |property: &model::property::Property| {
        property.name == certificate.property && matches!(property.kind, PropertyKind::Temporal(_))
    };
    if !model.properties.iter().any(is_temporal) {
        return None;
    }
    let story = match certificate.crowd() {
        Some(views) => {
            let claims = certificate.facts.iter().filter_map(|fact| match &fact.claim {
                Claim::Crowd(claim) => Some(claim),
                _ => None,
            });
            crowd::story(model, views, &claims.collect::<Vec<_>>(), budget)?
        }
        None => match refutation::story(model, certificate) {
            Some(story) => story,
            None => waits::story(model, certificate, budget)?,
        },
    };
    (!story.waits.is_empty() || !story.lines.is_empty()).then_some(story)
}

/// Sums over processes that a proof rests on.
pub(super) fn sums(model: &Model, certificate: &Certificate) -> Vec<SentenceFormula> {
    if let Some(proof) = certificate.rings() {
        return proof.flows.iter().filter_map(|flow| sums::flow(model, proof, flow)).collect();
    }
    if let Some(proof) = certificate.fine() {
        return proof.flows.iter().filter_map(|flow| sums::fine(model, proof, flow)).collect();
    }
    if certificate.invariant().is_some() {
        let sights = certificate.facts.iter().filter_map(|fact| match &fact.claim {
            Claim::Sights(sights) => Some(sights),
            _ => None,
        });
        let mut found: Vec<SentenceFormula> = Vec::new();
        for formula in sights.flat_map(|sights| &sights.additive).filter_map(|sum| sums::additive(model, sum)) {
            if !found.contains(&formula) {
                found.push(formula);
            }
        }
        return found;
    }
    if let Some(proof) = certificate.counting() {
        return proof.sums.iter().filter_map(|sum| sums::counting(model, proof, sum)).collect();
    }
    let Some(views) = certificate.crowd() else { return Vec::new() };
    let mut found: Vec<SentenceFormula> = Vec::new();
    for fact in &certificate.facts {
        let Claim::Crowd(claim) = &fact.claim else { continue };
        for sum in &claim.sums {
            if let Some(formula) = sums::tally(model, views, sum)
                && !found.contains(&formula)
            {
                found.push(formula);
            }
        }
    }
    found
}

/// The views of a proof for every size as graphs, where they are few.
pub fn view_graphs(model: &Model, certificate: &Certificate, budget: &Budget) -> Vec<ViewGraph> {
    views_graph::graphs(model, certificate, budget)
}

/// The parameter that is the number of processes, where a proof is about every size.
fn size_parameter(model: &Model, certificate: &Certificate) -> Option<(model::size::ParameterId, i64)> {
    let Scope::AllSizes { parameter, from, .. } = &certificate.scope else { return None };
    let id = model.parameters.entries().find(|(_, declared)| declared.name == *parameter).map(|(id, _)| id)?;
    Some((id, *from))
}
