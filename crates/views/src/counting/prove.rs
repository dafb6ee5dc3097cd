//! Proofs by counting: which cells are counted, and what views and sums exclude.
//!
//! In: a Model and questions. Out: for each question that is answered a proof. All numbers are counted that can be; those whose sums break are
//! shown instead, where they have few values.

use std::collections::{BTreeMap, BTreeSet};

use base::{Budget, StopReason};
use evidence::counting::{CountingProof, CountingRow, NamedEnds};
use model::Model;
use model::control::{Stmt, StmtKind};
use model::expr::{BinaryOp, Binding, Domain, Expr, ExprKind, Quantifier};
use model::property::PropertyKind;
use model::statements::statements;
use model::template::FragmentReason;
use model::types::ScalarType;
use model::variable::{CellId, VarId};
use model::visit::each_part;

use super::closure::{Closure, Failure, close};
use super::deadlock;
use super::ends;
use super::look::{Halt, Look, Scene, Val, Who};
use super::roster::{CountingView, MOST_SHOWN, Roster};
use super::signs;
use super::weigh::candidates;
use crate::choices::Choices;
use crate::config::Config;

/// A program that can be counted in.
pub struct Counting<'m> {
    roster: Roster<'m>,
    budget: &'m Budget,
    /// Whether signs are shown at each attempt, in turn.
    shows_signs: [bool; 2],
}

/// What came of the questions: a proof and how many views it has for each one that is answered.
pub type Proved = BTreeMap<usize, (CountingProof, usize)>;

impl<'m> Counting<'m> {
    /// Looks at a program.
    ///
    /// # Errors
    /// What stands in the way.
    pub fn new(model: &'m Model, budget: &'m Budget) -> Result<Counting<'m>, FragmentReason> {
        Ok(Counting { roster: Roster::new(model, Vec::new(), Config::default())?, budget, shows_signs: [false, true] })
    }

    /// The same, with other settings.
    #[must_use]
    pub fn within(mut self, config: Config) -> Counting<'m> {
        self.roster.config = config;
        self
    }

    /// The same, where signs are shown before it is tried without: proofs are larger, and more of them have signs.
    #[must_use]
    pub fn showing_signs_first(self) -> Counting<'m> {
        Counting { shows_signs: [true, false], ..self }
    }

    /// The parameter that is the size of the first family, if one is.
    pub fn parameter(&self) -> Option<model::size::ParameterId> {
        self.roster.many.iter().find_map(|&family| match self.roster.text.families[family].size {
            model::size::Size::Parameter(parameter) => Some(parameter),
            _ => None,
        })
    }

    /// Tries to prove the questions, which are properties as they were written.
    ///
    /// # Errors
    /// A limit.
    pub fn prove(&self, questions: &[&'m PropertyKind]) -> Result<Proved, StopReason> {
        let mut proved = Proved::new();
        let named = ends::mentioned(&self.roster, questions);
        let with_named =
            (!named.is_empty()).then(|| Roster::new(self.roster.model, named, self.roster.config).ok()).flatten();
        for roster in [Some(&self.roster), with_named.as_ref()].into_iter().flatten() {
            for shows_signs in self.shows_signs {
                if proved.len() < questions.len() {
                    self.prove_with(roster, shows_signs, (questions, &mut proved))?;
                }
            }
        }
        Ok(proved)
    }

    /// Tries to prove what is open.
    fn prove_with(
        &self,
        roster: &Roster<'m>,
        shows_signs: bool,
        (questions, proved): (&[&'m PropertyKind], &mut Proved),
    ) -> Result<(), StopReason> {
        let must: BTreeSet<CellId> = cells(roster, |cell| is_grown(roster, cell));
        let mut counted: BTreeSet<CellId> = cells(roster, |cell| is_grown(roster, cell) || is_counted(roster, cell));
        let base = roster;
        for _ in 0..3 {
            let mut roster = base.counting(counted.clone());
            if shows_signs {
                roster.signs = signs::tested(&roster);
                if roster.signs.is_empty() {
                    break;
                }
            }
            let broken = match self.attempt(&roster, questions, proved) {
                Ok(broken) => broken,
                Err(Failure::Stopped(reason)) => return Err(reason),
                Err(Failure::Outside(_) | Failure::TooMany) => counted.clone(),
            };
            let fewer: BTreeSet<CellId> =
                counted.iter().copied().filter(|cell| must.contains(cell) || !broken.contains(cell)).collect();
            if proved.len() == questions.len() || fewer == counted {
                break;
            }
            counted = fewer;
        }
        Ok(())
    }

    /// One closure, and the questions that it answers; which of the counted cells are no sums.
    fn attempt(
        &self,
        roster: &Roster<'m>,
        questions: &[&'m PropertyKind],
        proved: &mut Proved,
    ) -> Result<BTreeSet<CellId>, Failure> {
        let first = close(roster, Vec::new(), self.budget)?;
        let sums = candidates(&first);
        let found = close(roster, sums, self.budget)?;
        for (at, question) in questions.iter().enumerate() {
            if !proved.contains_key(&at) && excludes(&found, question)? {
                proved.insert(at, (claim(&found), found.views.len()));
            }
        }
        let is_broken = |cell: &&CellId| !found.sums.iter().any(|sum| sum.cells.iter().any(|(one, _)| one == *cell));
        Ok(roster.counted.iter().filter(is_broken).copied().collect())
    }
}

fn cells(roster: &Roster<'_>, is_meant: impl Fn(CellId) -> bool) -> BTreeSet<CellId> {
    roster.unowned().into_iter().filter(|&cell| is_meant(cell)).collect()
}

/// The least value of a parameter that a proof is about: there is a process beside those that it names.
pub fn least_size(model: &Model, parameter: model::size::ParameterId, proof: &CountingProof) -> i64 {
    let is_sized = |ends: &&NamedEnds| matches!(model.template().families[ends.family].size, model::size::Size::Parameter(of) if of == parameter);
    let n_named = proof.named.iter().filter(is_sized).map(|ends| (ends.first + ends.last) as i64).max();
    model.parameters[parameter].least.max(n_named.unwrap_or(0) + 1)
}

/// Whether the values of a cell depend on a size, so that it cannot be shown; a number that a single process only copies can.
fn is_grown(roster: &Roster<'_>, cell: CellId) -> bool {
    let declared = &roster.model.cells[cell];
    if !roster.is_unbounded(declared.var) && !is_wide(roster, declared.var) {
        return false;
    }
    declared.owner.is_none() || depends_on_itself(roster.text, declared.var)
}

fn is_wide(roster: &Roster<'_>, var: VarId) -> bool {
    let bounds = roster.bounds(var).and_then(|(lo, hi)| Some(hi.known()? - lo.known()?));
    bounds.is_some_and(|width| width >= MOST_SHOWN)
}

/// Whether a cell is a number of which processes take and give back, or to which they add.
fn is_counted(roster: &Roster<'_>, cell: CellId) -> bool {
    let declared = &roster.model.cells[cell];
    match declared.ty {
        ScalarType::Semaphore { .. } => true,
        ScalarType::Range { .. } => declared.owner.is_none() && depends_on_itself(roster.text, declared.var),
        _ => false,
    }
}

/// Whether a value that is stored into the variable is computed from it, perhaps by way of another variable.
fn depends_on_itself(text: &Model, var: VarId) -> bool {
    let mut sources = BTreeSet::from([var]);
    let mut is_found = false;
    for _ in 0..3 {
        for action in &text.actions {
            each_store(&action.body, &mut |target, value| {
                let mut reads = false;
                each_part(value, &mut |part| {
                    if let ExprKind::Read(access) = &part.kind {
                        reads |= sources.contains(&access.var);
                    }
                });
                if reads {
                    is_found |= target == var;
                    sources.insert(target);
                }
            });
        }
    }
    is_found
}

fn each_store(body: &[Stmt], visit: &mut dyn FnMut(VarId, &Expr)) {
    for statement in statements(body) {
        if let StmtKind::Assign(stores) = &statement.kind {
            stores.iter().for_each(|(target, value)| visit(target.var, value));
        }
    }
}

fn claim(found: &Closure<'_, '_>) -> CountingProof {
    let mut views = found.views.clone();
    views.sort();
    CountingProof {
        counted: found.roster.counted.iter().copied().collect(),
        rows: { found.roster.rows.iter() }
            .map(|(&var, &(family, dimension))| CountingRow { var, family, dimension })
            .collect(),
        views,
        sums: found.sums.iter().map(super::closure::Weighed::listed).collect(),
        signs: found.roster.signs.iter().map(signs::listed).collect(),
        named: found.roster.named.clone(),
    }
}

/// A part of a property: for all processes that its bindings take, the expression has not this value.
struct Part<'m> {
    bindings: Vec<&'m Binding>,
    filters: Vec<&'m Expr>,
    expr: &'m Expr,
    bad: bool,
}

/// Takes a property apart; what is left of it is violated by few processes.
fn parts<'m>(roster: &Roster<'m>, part: Part<'m>, found: &mut Vec<Part<'m>>) {
    let Part { bindings, filters, expr, bad } = part;
    let with = |expr: &'m Expr, bad: bool| Part { bindings: bindings.clone(), filters: filters.clone(), expr, bad };
    match &expr.kind {
        ExprKind::Not(inner) => parts(roster, with(inner, !bad), found),
        ExprKind::Binary(BinaryOp::And, left, right) if !bad => {
            parts(roster, with(left, bad), found);
            parts(roster, with(right, bad), found);
        }
        ExprKind::Binary(BinaryOp::Or, left, right) if bad => {
            parts(roster, with(left, bad), found);
            parts(roster, with(right, bad), found);
        }
        ExprKind::Quantified(quantified)
            if matches!((quantified.quantifier, bad), (Quantifier::Forall, false) | (Quantifier::Exists, true))
                && quantified.bindings.iter().all(|binding| is_many(roster, binding)) =>
        {
            let bindings = bindings.iter().copied().chain(&quantified.bindings).collect();
            let filters = filters.iter().copied().chain(&quantified.filter).collect();
            parts(roster, Part { bindings, filters, expr: &quantified.body, bad }, found);
        }
        _ => found.push(Part { bindings, filters, expr, bad }),
    }
}

fn is_many(roster: &Roster<'_>, binding: &Binding) -> bool {
    matches!(&binding.domain, Domain::Family(family) if roster.many.contains(family))
}

/// Whether views and sums exclude that a property is violated.
fn excludes<'m>(found: &Closure<'_, 'm>, question: &'m PropertyKind) -> Result<bool, Failure> {
    let (expr, bad) = match question {
        PropertyKind::NoErrors => return Ok(found.faults.is_empty()),
        PropertyKind::DeadlockFree => {
            return match deadlock::may_be(found) {
                Err(Failure::TooMany) => Ok(false),
                may_be => may_be.map(|may_be| !may_be),
            };
        }
        PropertyKind::Invariant(expr) => (expr, false),
        PropertyKind::Reachable(expr) => (expr, true),
        _ => return Ok(false),
    };
    let mut all = Vec::new();
    parts(found.roster, Part { bindings: Vec::new(), filters: Vec::new(), expr, bad }, &mut all);
    for part in &all {
        if part.bindings.len() > 3 || !is_excluded(found, part)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn is_excluded<'m>(found: &Closure<'_, 'm>, part: &Part<'m>) -> Result<bool, Failure> {
    for view in &found.views {
        // Every state has a process of each family; one of the family that is bound first, or of the first one.
        let family = match part.bindings.first().map(|binding| &binding.domain) {
            Some(Domain::Family(family)) => *family,
            _ => found.roster.many[0],
        };
        if view.family != family {
            continue;
        }
        // Beside a process that is like the others, a named one may be meant.
        let named = found.roster.named_of(family).into_iter().map(Val::Single);
        for first in named.filter(|_| !part.bindings.is_empty()).chain([Val::Slot(0)]) {
            if !look(found, part, &Scene::of(view), &[first])? {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// Goes through all processes that the remaining bindings may be.
fn look<'m>(found: &Closure<'_, 'm>, part: &Part<'m>, scene: &Scene, bound: &[Val]) -> Result<bool, Failure> {
    if part.bindings.len() <= bound.len() {
        return look_at(found, part, scene, &bound[..part.bindings.len()]);
    }
    let Domain::Family(family) = &part.bindings[bound.len()].domain else { return Ok(false) };
    let slots = scene.seen.iter().enumerate().filter(|(_, (of, _))| of == family);
    let named = found.roster.named_of(*family).into_iter().map(Val::Single);
    for one in slots.map(|(slot, _)| Val::Slot(slot as u8)).chain(named) {
        let with = [bound, &[one]].concat();
        if !look(found, part, scene, &with)? {
            return Ok(false);
        }
    }
    for at in found.unseen(scene) {
        let view = &found.views[at];
        let Some(more) = scene.with(view).filter(|_| view.family == *family) else { continue };
        let with = [bound, &[Val::Slot(scene.seen.len() as u8)]].concat();
        if !look(found, part, &more, &with)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn look_at<'m>(found: &Closure<'_, 'm>, part: &Part<'m>, scene: &Scene, bound: &[Val]) -> Result<bool, Failure> {
    let unseen = found.unseen(scene);
    let views: Vec<&CountingView> = unseen.iter().map(|&at| &found.views[at]).collect();
    let mut choices = Choices::default();
    loop {
        let mut look = Look {
            roster: found.roster,
            scene: scene.clone(),
            me: Who::Nobody,
            bound: bound.to_vec(),
            choices: &mut choices,
            unseen: &views,
            stored: BTreeMap::new(),
            facts: Vec::new(),
            counts: Vec::new(),
            is_inner: false,
            before: scene,
        };
        let is_bad = match violates(&mut look, part) {
            Ok(is_bad) => is_bad,
            Err(Halt::Blocked) => false,
            Err(Halt::Fault(_)) => true,
            Err(Halt::Outside(_)) => return Ok(false),
        };
        if is_bad && found.may_be((scene, &unseen), (&look.facts, &look.counts)) {
            return Ok(false);
        }
        if !choices.advance() {
            return Ok(true);
        }
    }
}

fn violates<'m>(look: &mut Look<'_, 'm>, part: &Part<'m>) -> Result<bool, Halt> {
    for filter in &part.filters {
        if !look.truth(filter)? {
            return Ok(false);
        }
    }
    Ok(look.truth(part.expr)? == part.bad)
}
