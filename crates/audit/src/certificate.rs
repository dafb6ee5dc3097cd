//! Certificates checked: every obligation of a local proof, recomputed from the Model and `eval` alone.
//!
//! In: a Model, a property, a certificate (whose rule is on top of `evidence::certificate`). Out: what was checked, or why
//! the certificate is refused. Small sets are explicit and every step is taken by `eval` itself (`listing`); sets too large
//! for that are decision diagrams of a library that no engine uses, with a translation of the program of their own
//! (`diagrams`). What is to be checked is said once, in `obligations`, for both.
//!
//! That no fair run violates a temporal property is claimed by ranks over such sets, which `runs` compares with the runs themselves.
//! Path edges of programs with procedures have a sweep of their own (`pushdown`).
//!
//! Nothing that a certificate says about the program is believed: views are verified by refusing any step that reads, or
//! changes, a cell that the processes concerned are not said to see; exposed blocks are recomputed from local states.

mod assumed;
mod chains;
mod claimed;
mod clause;
mod counting;
mod counts;
mod coverage;
mod defined;
mod diagrams;
mod exchanged;
mod fine;
mod initial;
mod listing;
mod movers;
mod named;
mod numbering;
mod obligations;
mod pace;
mod parameters;
mod propagation;
mod pushdown;
mod races;
mod relative;
mod rings;
mod runs;
mod symmetry;
mod views;
mod words;

use std::collections::BTreeMap;
use std::fmt;

use base::{Budget, StopReason};
use evidence::Certificate;
use evidence::certificate::{Claim, Exchanged, Fact, NoFairRun, Refutation, SplitInvariant, StateSet};
use evidence::crowd::CrowdRefutation;
use evidence::implied::Implied;
use evidence::plain::{self, ReferenceViolation};
use evidence::ranks::ViolationName;
use evidence::views::ViewsProof;
use model::Model;
use model::control::ActionKind;
use model::property::{Formula, Property, PropertyKind};

use claimed::Claimed;
use diagrams::Diagrams;
use exchanged::Exchanges;
use listing::Listing;
use obligations::Obligations;
use propagation::{Earlier, Scene};
use relative::Relative;

/// Sets with more view states than this, all together, are checked as decision diagrams.
const MOST_LISTED: usize = 200_000;

/// Sets that come as lists are checked as lists up to this size.
const MOST_ROWS: usize = 1_000_000;

/// What was checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// How many processes each invariant of the last fact speaks of.
    pub k: usize,
    /// How many invariants it has; with symmetry, each represents its images.
    pub n_members: usize,
    /// How many obligations were discharged, over all facts.
    pub obligations: evidence::certificate::DischargedObligations,
    /// By which means the last fact was checked.
    pub means: Means,
}

/// Of a temporal property that nothing violates: its quantifier has no instance.
const NOTHING_TO_SHOW: Checked = Checked {
    k: 1,
    n_members: 0,
    obligations: evidence::certificate::DischargedObligations {
        symmetry: 0,
        initiality: 0,
        step: 0,
        non_interference: 0,
        implication: 0,
        ranks: 0,
    },
    means: Means::Listing,
};

/// A step that can be taken in more ways than this is not taken in all of them, one by one.
const MOST_ATTEMPTS: usize = 1 << 16;

/// By which means obligations are discharged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Means {
    /// View states one by one, on `eval`.
    Listing,
    /// Decision diagrams.
    Diagrams,
}

/// Why a certificate is not accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CertificateError {
    /// It is not a certificate of this property of this program.
    Malformed(String),
    /// It is one, and does not prove the property.
    Refused(Refusal),
    /// It takes processes for symmetric, and the program does not let the checker believe that.
    NotSymmetric(String),
    /// The checker cannot judge it; the sentence says why.
    NotSupported(String),
    /// A limit was reached before it was judged.
    Stopped(StopReason),
}

/// An obligation that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What has to be so.
    pub obligation: String,
    /// What is the case instead.
    pub finding: String,
}

impl fmt::Display for CertificateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CertificateError::Malformed(what) => write!(f, "the proof does not fit the program: {what}"),
            CertificateError::Refused(Refusal { obligation, finding }) => {
                write!(f, "the proof does not hold: {obligation}, but {finding}")
            }
            CertificateError::NotSymmetric(what) => write!(f, "the proof takes processes for alike, but {what}"),
            CertificateError::NotSupported(what) => write!(f, "the proof cannot be checked: {what}"),
            CertificateError::Stopped(reason) => write!(f, "the proof was not checked to the end: {reason}"),
        }
    }
}

impl std::error::Error for CertificateError {}

impl From<StopReason> for CertificateError {
    fn from(reason: StopReason) -> Self {
        CertificateError::Stopped(reason)
    }
}

/// What an obligation, or a part of the way to it, comes to.
type Outcome<T> = Result<T, CertificateError>;

/// Checks every obligation of a certificate: it proves that an `invariant`, `no_errors`, `deadlock_free`, `race_free` or temporal
/// property holds, or that a `reachable` is violated.
pub fn check(
    model: &Model,
    property: &Property,
    certificate: &Certificate,
    budget: &Budget,
) -> Result<Checked, CertificateError> {
    follows_starts(model)?;
    Audit { model, property, budget, means: None }.check(certificate)
}

/// Obligations about starts are about one part of a state at a time, which `initially` does not allow.
fn follows_starts(model: &Model) -> Result<(), CertificateError> {
    match model.initially.is_empty() {
        true => Ok(()),
        false => Err(CertificateError::NotSupported("`initially` relates what several cells start with".to_owned())),
    }
}

/// As [`check`], by the given means: for tests that compare them.
pub fn check_by(
    means: Means,
    model: &Model,
    property: &Property,
    certificate: &Certificate,
) -> Result<Checked, CertificateError> {
    follows_starts(model)?;
    Audit { model, property, budget: &Budget::unlimited(), means: Some(means) }.check(certificate)
}

/// Whether a claim can imply a property of states.
fn is_about_states(claim: &Claim) -> bool {
    match claim {
        Claim::SplitInvariant(_)
        | Claim::Pushdown(_)
        | Claim::Views(_)
        | Claim::Rings(_)
        | Claim::Fine(_)
        | Claim::Counting(_) => true,
        Claim::NoFairRun(_) | Claim::Sights(_) | Claim::Refutation(_) | Claim::Exchanged(_) | Claim::Crowd(_) => false,
    }
}

/// The way to violate a property that a claim is about.
fn way(claim: &Claim) -> Option<&ViolationName> {
    match claim {
        Claim::NoFairRun(claim) => Some(&claim.violation),
        Claim::Refutation(claim) => Some(&claim.violation),
        Claim::Exchanged(claim) => Some(&claim.violation),
        _ => None,
    }
}

/// One question to the checker.
struct Audit<'a> {
    model: &'a Model,
    property: &'a Property,
    budget: &'a Budget,
    /// The means that were asked for; otherwise what suits the size.
    means: Option<Means>,
}

impl Audit<'_> {
    fn check(&self, certificate: &Certificate) -> Outcome<Checked> {
        let malformed = |what: String| Err(CertificateError::Malformed(what));
        if certificate.property != self.property.name {
            return malformed(format!("it is about `{}`, not about `{}`", certificate.property, self.property.name));
        }
        self.names_parts_of_states_only(certificate)?;
        if let (PropertyKind::Temporal(_), Some(Claim::Rings(proof))) =
            (&self.property.kind, certificate.facts.first().map(|fact| &fact.claim))
        {
            return self.check_runs_of_ring(proof, certificate);
        }
        if let Some(views) = certificate.crowd() {
            return self.check_crowd(views, certificate);
        }
        let is_views = matches!(&certificate.facts[..], [fact] if matches!(fact.claim, Claim::Views(_) | Claim::Rings(_) | Claim::Counting(_)));
        if !certificate.scope.is_instance() && !is_views {
            let what = format!("it claims {}, and there is no checker yet for claims of that kind", certificate.scope);
            return Err(CertificateError::NotSupported(what));
        }
        self.supported()?;
        let mut violations = self.violations(certificate)?;
        let mut scenes: BTreeMap<usize, Scene<'_>> = BTreeMap::new();
        let mut refuted: BTreeMap<usize, Refuted> = BTreeMap::new();
        let mut exchanges = Exchanges::default();
        let mut checked = None;
        let implies = certificate.facts.last().is_none_or(|fact| is_about_states(&fact.claim));
        if violations.is_none() && !implies {
            return malformed(format!("its last fact does not imply `{}`, which is about states", self.property.name));
        }
        let mut obligations = evidence::certificate::DischargedObligations::default();
        for (at, fact) in certificate.facts.iter().enumerate() {
            if let Some(later) = fact.uses.iter().find(|&&used| used >= at) {
                return malformed(format!("fact {at} uses fact {later}, which does not come before it"));
            }
            match &fact.claim {
                // Of earlier facts, sums are of use; otherwise it is checked on its own strength, which is the stronger demand.
                Claim::SplitInvariant(claimed) => {
                    self.calls_nothing()?;
                    let implies = at + 1 == certificate.facts.len() && violations.is_none();
                    let relative = sums_used(fact, certificate)?;
                    let fact = self.check_fact(claimed, &relative, implies.then_some(&certificate.implies[..]))?;
                    obligations = obligations.with(fact.obligations);
                    checked = Some(fact);
                }
                Claim::Pushdown(proof) => {
                    let implies = at + 1 == certificate.facts.len();
                    let fact = self.check_pushdown(proof, implies.then_some(&certificate.implies[..]))?;
                    obligations = obligations.with(fact.obligations);
                    checked = Some(fact);
                }
                Claim::Sights(sights) => {
                    let (scene, fact) = self.check_sights(sights)?;
                    obligations = obligations.with(fact.obligations);
                    checked = Some(fact);
                    scenes.insert(at, scene);
                }
                Claim::Refutation(claim) => {
                    let open = self.about_runs(at, &mut violations)?;
                    let (sights, earlier) = used(at, fact, &refuted)?;
                    let scene = scenes.get(&sights).ok_or_else(|| unsaid(at))?;
                    let (n_steps, violation) = self.check_refutation(claim, (scene, &earlier), open)?;
                    obligations.ranks += n_steps;
                    refuted.insert(at, Refuted { sights: Some(sights), violation });
                }
                Claim::Exchanged(claim) => {
                    let open = self.about_runs(at, &mut violations)?;
                    let from = followed(at, fact, &refuted)?;
                    let violation = self.check_exchanged(claim, (&mut exchanges, from.violation), open)?;
                    obligations.symmetry += 1;
                    refuted.insert(at, Refuted { violation, ..from });
                }
                Claim::Crowd(_) => return malformed("a refutation for every size stands with views alone".to_owned()),
                Claim::Views(_) | Claim::Rings(_) | Claim::Counting(_) if !is_views => {
                    return malformed("views stand alone".to_owned());
                }
                Claim::Views(_) | Claim::Rings(_) | Claim::Counting(_) => {
                    let fact = self.check_every_size(&fact.claim, certificate)?;
                    obligations = obligations.with(fact.obligations);
                    checked = Some(fact);
                }
                Claim::Fine(proof) => {
                    let fact = self.check_fine(proof)?;
                    obligations = obligations.with(fact.obligations);
                    checked = Some(fact);
                }
                Claim::NoFairRun(claim) => {
                    let open = self.about_runs(at, &mut violations)?;
                    let (n_foci, violation) = self.check_runs(claim, &fact.uses, certificate, open)?;
                    obligations.ranks += n_foci;
                    refuted.insert(at, Refuted { sights: None, violation });
                }
            }
        }
        violations.as_ref().map_or(Ok(()), |all| all_closed(self.model, all))?;
        match checked {
            Some(last) => Ok(Checked { obligations, ..last }),
            None if violations.is_some_and(|all| all.is_empty()) => Ok(NOTHING_TO_SHOW),
            None => malformed("it states no invariant".to_owned()),
        }
    }

    /// Parts of a property are named only where invariants of few processes, or path edges, imply it.
    fn names_parts_of_states_only(&self, certificate: &Certificate) -> Outcome<()> {
        let by_parts = |claim: &Claim| matches!(claim, Claim::SplitInvariant(_) | Claim::Pushdown(_));
        let is_whole = |fact: &Fact| is_about_states(&fact.claim) && !by_parts(&fact.claim);
        let is_temporal = matches!(self.property.kind, PropertyKind::Temporal(_));
        if !certificate.implies.is_empty() && (is_temporal || certificate.facts.last().is_some_and(is_whole)) {
            let what = "its last fact implies the property whole, and it names parts";
            return Err(CertificateError::Malformed(what.to_owned()));
        }
        Ok(())
    }

    /// Views of cells.
    fn check_fine(&self, proof: &evidence::fine::FineProof) -> Outcome<Checked> {
        let obligations = fine::check(self.model, &self.property.kind, proof, self.budget)?;
        Ok(Checked { k: 2, n_members: proof.views.len(), obligations, means: Means::Listing })
    }

    /// Path edges; what they imply is checked in the last fact.
    fn check_pushdown(
        &self,
        proof: &evidence::pushdown::PushdownProof,
        implies: Option<&[Implied]>,
    ) -> Outcome<Checked> {
        self.has_plain_steps()?;
        let property = implies.map(|implies| (&self.property.kind, implies));
        let obligations = pushdown::check(self.model, property, proof, self.budget)?;
        Ok(Checked { k: 1, n_members: proof.threads.len(), obligations, means: Means::Listing })
    }

    /// What processes see.
    fn check_sights(&self, sights: &evidence::propagation::Sights) -> Outcome<(Scene<'_>, Checked)> {
        let scene = Scene::new(self.model, sights, self.budget)?;
        let obligations = evidence::certificate::DischargedObligations { step: scene.n_rows(), ..Default::default() };
        let n_members = self.model.processes.len();
        Ok((scene, Checked { k: 1, n_members, obligations, means: Means::Listing }))
    }

    /// Windows of a ring that claim a temporal property for every size.
    fn check_runs_of_ring(&self, proof: &evidence::rings::RingsProof, certificate: &Certificate) -> Outcome<Checked> {
        self.supported()?;
        // At other sizes the assumptions are read from the program.
        let is_the_programs = |one: &Property| one.name == self.property.name && one.under == self.property.under;
        if certificate.facts.len() > 1 || !self.model.properties.iter().any(is_the_programs) {
            let what = "it is about assumptions that the program does not make, or its windows do not stand alone";
            return Err(CertificateError::Malformed(what.to_owned()));
        }
        let asked = (self.property.name.as_str(), &self.property.kind);
        let obligations = rings::check(self.model, asked, (&certificate.scope, proof), self.budget)?;
        Ok(Checked { k: proof.width, n_members: proof.windows.len(), obligations, means: Means::Listing })
    }

    /// Views, or windows of a ring: what they show stands by itself.
    fn check_every_size(&self, claim: &Claim, certificate: &Certificate) -> Outcome<Checked> {
        let property = (self.property.name.as_str(), &self.property.kind);
        let (found, k, n_members) = match claim {
            Claim::Views(proof) => {
                (views::check(self.model, property, (&certificate.scope, proof), self.budget)?, proof.k, 1)
            }
            Claim::Rings(proof) => {
                let found = rings::check(self.model, property, (&certificate.scope, proof), self.budget)?;
                (found, proof.width, proof.windows.len())
            }
            Claim::Counting(proof) => {
                (counting::check(self.model, property, (&certificate.scope, proof), self.budget)?, 1, 1)
            }
            _ => return Err(CertificateError::Malformed("it is not about every size".to_owned())),
        };
        Ok(Checked { k, n_members, obligations: found, means: Means::Listing })
    }

    /// The ways to violate a temporal property, none of them excluded yet; `None` for other properties.
    fn violations(&self, certificate: &Certificate) -> Outcome<Option<Vec<Open>>> {
        let PropertyKind::Temporal(formula) = &self.property.kind else { return Ok(None) };
        let own = self.violations_of(formula)?;
        // Where a proof speaks of others than these, it may be one of a formula that implies the property.
        let names = certificate.facts.iter().filter_map(|fact| way(&fact.claim));
        let names: Vec<&ViolationName> = names.collect();
        let speaks_of_own = names.iter().all(|&name| own.iter().any(|one| one.name == *name));
        match formula.stronger() {
            Some(stronger) if !speaks_of_own => Ok(Some(self.violations_of(&stronger)?)),
            _ => Ok(Some(own)),
        }
    }

    /// The ways to violate a formula under the property's assumptions.
    fn violations_of(&self, formula: &Formula) -> Outcome<Vec<Open>> {
        let found = plain::violations(self.model, self.property, formula).map_err(|stop| match stop {
            StopReason::NotSupported(missing) => CertificateError::NotSupported(missing.to_string()),
            other => CertificateError::Stopped(other),
        })?;
        let open =
            |violation: ReferenceViolation| Open { name: violation.name(self.model), violation, is_excluded: false };
        Ok(found.into_iter().map(open).collect())
    }

    /// Checks that no run violates the property in one way, over an invariant that was checked before.
    fn check_runs(
        &self,
        claim: &NoFairRun,
        uses: &[usize],
        certificate: &Certificate,
        violations: &mut [Open],
    ) -> Outcome<(usize, usize)> {
        let malformed = |what: String| Err(CertificateError::Malformed(what));
        if chains::have_rendezvous(self.model) {
            let what = "a step goes on before or after a rendezvous, of which ranks know nothing";
            return Err(CertificateError::NotSupported(what.to_owned()));
        }
        let [used] = uses else { return malformed("a claim about runs has to use one invariant".to_owned()) };
        let Some(invariant) = certificate.facts[*used].claim.split_invariant() else {
            return malformed(format!("a claim about runs uses fact {used}, which is no invariant"));
        };
        let meant = self.named(violations, &claim.violation)?;
        let claimed = Claimed::new(self.model, &self.property.kind, invariant)?;
        let is_relative = !sums_used(&certificate.facts[*used], certificate)?.is_empty();
        let over = runs::Over { claimed: &claimed, is_relative };
        let n_foci = runs::check(over, &violations[meant].violation, claim, self.budget)?;
        exclude(violations, &claim.violation);
        Ok((n_foci, meant))
    }

    /// Checks that one way to violate the property is the image of another; which one.
    fn check_exchanged<'m>(
        &'m self,
        claim: &Exchanged,
        (exchanges, from): (&mut Exchanges<'m>, usize),
        violations: &mut [Open],
    ) -> Outcome<usize> {
        let to = self.named(violations, &claim.violation)?;
        exchanges.check(self.model, claim, [&violations[from].violation, &violations[to].violation])?;
        exclude(violations, &claim.violation);
        Ok(to)
    }

    /// The ways to violate the property, for a fact about runs.
    fn about_runs<'o>(&self, at: usize, violations: &'o mut Option<Vec<Open>>) -> Outcome<&'o mut Vec<Open>> {
        let property = &self.property.name;
        let wrong = || CertificateError::Malformed(format!("fact {at} is about runs, and `{property}` is not"));
        violations.as_mut().ok_or_else(wrong)
    }

    /// The way to violate the property that has this name.
    fn named(&self, violations: &[Open], name: &ViolationName) -> Outcome<usize> {
        violations.iter().position(|open| open.name == *name).ok_or_else(|| {
            let property = &self.property.name;
            CertificateError::Malformed(format!("it names a way to violate `{property}` that there is not"))
        })
    }

    /// Checks that no run violates the property in one way, by the views of processes.
    fn check_refutation(
        &self,
        claim: &Refutation,
        (scene, earlier): (&Scene<'_>, &[(usize, Refuted)]),
        violations: &mut [Open],
    ) -> Outcome<(usize, usize)> {
        let meant = self.named(violations, &claim.violation)?;
        let earlier: Vec<Earlier<'_>> = { earlier.iter() }
            .map(|&(fact, refuted)| Earlier { fact, violation: &violations[refuted.violation].violation })
            .collect();
        let n_steps = scene.check(&violations[meant].violation, claim, &earlier)?;
        exclude(violations, &claim.violation);
        Ok((n_steps, meant))
    }

    /// Checks a refutation for every size: views of one process, and what follows from them for runs.
    fn check_crowd(&self, views: &ViewsProof, certificate: &Certificate) -> Outcome<Checked> {
        self.supported()?;
        let claim = |fact: &Fact| match &fact.claim {
            Claim::Crowd(claim) if fact.uses == [0] => Ok(claim.clone()),
            _ => Err(CertificateError::Malformed("a refutation for every size is about views alone".to_owned())),
        };
        let claims = certificate.facts[1..].iter().map(claim).collect::<Outcome<Vec<CrowdRefutation>>>()?;
        let claims: Vec<&CrowdRefutation> = claims.iter().collect();
        let claimed = (&certificate.scope, views, &claims[..]);
        let (n_views, n_branches) = views::lasting::check(self.model, self.property, claimed, self.budget)?;
        let obligations =
            evidence::certificate::DischargedObligations { step: n_views, ranks: n_branches, ..Default::default() };
        Ok(Checked { k: 1, n_members: 1, obligations, means: Means::Listing })
    }

    /// A split invariant; what it implies, if that is said, too.
    fn check_fact(
        &self,
        claimed: &SplitInvariant,
        relative: &Relative<'_>,
        implies: Option<&[Implied]>,
    ) -> Outcome<Checked> {
        let claimed = Claimed::new(self.model, &self.property.kind, claimed)?;
        if !relative.is_empty() && claimed.symmetry.is_some() {
            let what = "sums may weigh processes differently, and it takes processes for alike beside sums";
            return Err(CertificateError::Malformed(what.to_owned()));
        }
        let all_rows = claimed.listed.values().all(|member| matches!(member.states, StateSet::Rows(_)));
        let few_values =
            |cell: &model::variable::Cell| cell.ty.n_values(self.model.type_context()) <= MOST_ATTEMPTS as u128;
        let small = claimed.n_states(if all_rows { MOST_ROWS } else { MOST_LISTED }).is_some()
            && self.model.cells.iter().all(few_values);
        let means = self.means.unwrap_or(if small { Means::Listing } else { Means::Diagrams });
        let property = implies.is_some().then_some(self.property);
        let obligations = Obligations::new(&claimed, implies.unwrap_or_default(), self.budget);
        let obligations = match means {
            Means::Listing => obligations.discharge(&mut Listing::new(&claimed, relative, self.budget), property),
            Means::Diagrams if !relative.is_empty() => {
                let why = "an invariant that rests on sums is too large to be checked state by state";
                return Err(CertificateError::NotSupported(why.to_owned()));
            }
            Means::Diagrams if self.model.goes_on() => {
                let why =
                    "a step goes on over several actions, and the proof is too large to be checked state by state";
                return Err(CertificateError::NotSupported(why.to_owned()));
            }
            Means::Diagrams => {
                obligations.discharge(&mut Diagrams::new(&claimed, self.property, self.budget)?, property)
            }
        }?;
        Ok(Checked { k: claimed.k, n_members: claimed.listed.len(), obligations, means })
    }

    /// Whether proofs of this kind can speak about the program and the property at all.
    fn supported(&self) -> Outcome<()> {
        let refuse = |what: &str| Err(CertificateError::NotSupported(what.to_owned()));
        if matches!(self.property.kind, PropertyKind::Temporal(_)) && self.model.has_when_nobody() {
            return refuse("an action waits until nobody can move, of which ranks know nothing");
        }
        chains::objection(self.model, &self.property.kind).map_or(Ok(()), refuse)
    }

    /// Whether every step is one action, enabled by what its process sees: what other proofs than invariants are about.
    fn has_plain_steps(&self) -> Outcome<()> {
        let model = self.model;
        let asks_for_ends = matches!(self.property.kind, PropertyKind::DeadlockFree) && model.has_end_places();
        match model.goes_on() || model.has_when_nobody() || asks_for_ends {
            true => {
                let why = "steps go on, or wait for others, of which proofs of this kind know nothing";
                Err(CertificateError::NotSupported(why.to_owned()))
            }
            false => Ok(()),
        }
    }

    /// Whether invariants without stacks can speak about the program.
    fn calls_nothing(&self) -> Outcome<()> {
        match self.model.actions.iter().any(|action| matches!(action.kind, ActionKind::Call { .. })) {
            true => {
                let why = "the program calls procedures, of which local invariants know nothing";
                Err(CertificateError::NotSupported(why.to_owned()))
            }
            false => Ok(()),
        }
    }
}

/// The sums of the facts that a split invariant uses; those facts were checked before.
fn sums_used<'c>(fact: &Fact, certificate: &'c Certificate) -> Outcome<Relative<'c>> {
    let mut sums = Vec::new();
    for &used in &fact.uses {
        let Claim::Sights(sights) = &certificate.facts[used].claim else { continue };
        if !sights.crowds.is_empty() {
            let what = format!("an invariant uses fact {used}, whose processes are a crowd");
            return Err(CertificateError::Malformed(what));
        }
        sums.extend(&sights.additive);
    }
    Ok(Relative::new(sums))
}

/// A way to violate the property that a fact excludes: which, and by what is said about what processes see.
#[derive(Clone, Copy)]
struct Refuted {
    /// The fact about what processes see, where it was shown by that.
    sights: Option<usize>,
    violation: usize,
}

fn unsaid(at: usize) -> CertificateError {
    CertificateError::Malformed(format!("fact {at} has to use what is said about what processes see"))
}

/// What a refutation uses: what is said about what processes see, and earlier refutations by the same.
fn used(at: usize, fact: &Fact, refuted: &BTreeMap<usize, Refuted>) -> Outcome<(usize, Vec<(usize, Refuted)>)> {
    let malformed = |what: String| CertificateError::Malformed(what);
    let Some((&sights, earlier)) = fact.uses.split_first() else {
        return Err(unsaid(at));
    };
    let earlier =
        earlier.iter().map(|used| Some((*used, *refuted.get(used).filter(|one| one.sights == Some(sights))?)));
    let earlier = earlier.collect::<Option<Vec<(usize, Refuted)>>>();
    let wrong = || malformed(format!("fact {at} uses a fact that is no refutation by the same views"));
    Ok((sights, earlier.ok_or_else(wrong)?))
}

/// What a fact shows from which another one follows alone.
fn followed(at: usize, fact: &Fact, refuted: &BTreeMap<usize, Refuted>) -> Outcome<Refuted> {
    let [used] = fact.uses[..] else {
        return Err(CertificateError::Malformed(format!("fact {at} has to use the one fact that it follows from")));
    };
    let none = || format!("fact {at} uses fact {used}, which excludes no way to violate the property");
    refuted.get(&used).copied().ok_or_else(|| CertificateError::Malformed(none()))
}

/// A way to violate the property.
struct Open {
    violation: ReferenceViolation,
    name: ViolationName,
    /// Whether it was shown that no fair run does.
    is_excluded: bool,
}

/// Notes that no fair run violates the property in a way; what a property says twice has one name, and is the same way.
fn exclude(violations: &mut [Open], name: &ViolationName) {
    violations.iter_mut().filter(|open| open.name == *name).for_each(|open| open.is_excluded = true);
}

/// Every way to violate the property is excluded.
fn all_closed(model: &Model, violations: &[Open]) -> Outcome<()> {
    let Some(open) = violations.iter().find(|open| !open.is_excluded) else { return Ok(()) };
    let value = |(name, value): &(String, _)| format!("{name} = {}", model::print::value(model, *value));
    let instance: Vec<String> = open.violation.instance.iter().map(value).collect();
    let instance = if instance.is_empty() { String::new() } else { format!(" for {}", instance.join(", ")) };
    let names: Vec<&str> = open.violation.fairness.iter().map(|&pair| model.fairness[pair].name.as_str()).collect();
    let fairness = if names.is_empty() { String::new() } else { format!(" under {}", names.join(", ")) };
    words::refused(
        "every way to violate the property has to be excluded",
        format!("nothing is said about runs that violate it{instance}{fairness}"),
    )
}
