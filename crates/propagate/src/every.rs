//! Temporal properties for every size: interchangeable processes, any number of them.
//!
//! In: a program of the fragment of `::views`, and a temporal property that speaks of one process at most. Out: a certificate whose scope is
//! every size, or why there is none. [`edges`]: the view graph of one process. [`pairs`]: which edges of two processes can be one turn.
//! [`mod@sums`]: sums over all processes. [`refute`]: the rules.

pub mod edges;
pub mod pairs;
pub mod refute;
pub mod sums;

use std::collections::BTreeSet;

use ::views::choices::Choices;
use ::views::configuration::Item;
use ::views::engine::certified;
use ::views::fragment::Fragment;
use ::views::sight::{Ground, Guessing, Needs, Sight, Who};
use ::views::words::in_words;
use base::{Budget, Coarse, Feature, StopReason, Unsupported};
use engine::{Halt, PropertyId};
use evidence::certificate::{Claim, Fact};
use evidence::crowd::CrowdRefutation;
use evidence::plain::{self, ReferenceViolation, StateCondition};
use evidence::{Certificate, Scope};
use model::Model;
use model::control::ActionId;
use model::eval::{State, Viewpoint};
use model::expr::{BoundVar, Domain, Expr, ExprKind};
use model::fairness::{EdgePredicate, FairnessId, FairnessPair, StatePredicate};
use model::process::ProcessId;
use model::property::{Formula, PropertyKind};
use model::size::parameters_of;
use model::value::Value;
use model::visit::each_child_mut;
use streett::{EdgeBits, StreettPair};

use crate::conditions::{Product, Reader};
use crate::engine::Config;
use edges::{Crowd, Edge, ME, Mover};
use refute::{Matter, Refuter};
use sums::{Sum, sums};

/// Of what is left, so many views are told.
const MOST_SHOWN: usize = 3;

/// Proves properties of one program for every size.
pub struct EverySize<'m> {
    fragment: &'m Fragment,
    crowd: Crowd<'m>,
    sums: Vec<Sum>,
    budget: &'m Budget,
    config: Config,
}

fn outside(text: impl Into<String>) -> Halt {
    StopReason::from(Unsupported::about(Feature::Sizes, text)).into()
}

impl<'m> EverySize<'m> {
    /// The view graph of a program in the fragment, with sums.
    ///
    /// # Errors
    /// A limit, or what is outside of the fragment.
    pub fn new(model: &'m Model, fragment: &'m Fragment, budget: &'m Budget, config: Config) -> Result<Self, Halt> {
        let ground = Ground::new(model, &fragment.layout);
        let crowd = Crowd::new(ground, budget, config.edges)?;
        let sums = sums(&crowd);
        Ok(EverySize { fragment, crowd, sums, budget, config })
    }

    /// How many views there are.
    pub fn n_views(&self) -> usize {
        self.crowd.views.len()
    }

    /// A proof of a property for every size.
    ///
    /// # Errors
    /// A limit, what is outside of the fragment, or that something is left.
    pub fn certificate(&self, property: PropertyId) -> Result<Certificate, Halt> {
        let model = self.crowd.ground.model;
        let asked = &model.properties[property];
        let kinds = (&asked.kind, &model.template().properties[property].kind);
        let (PropertyKind::Temporal(formula), PropertyKind::Temporal(written)) = kinds else {
            return Err(outside("it is no question about runs"));
        };
        let (formula, written) = match (formula.stronger(), written.stronger()) {
            // That all do something together eventually is shown of each one by itself.
            (Some(stronger), Some(as_written)) if self.look(written).is_err() => (stronger, as_written),
            _ => (formula.clone(), written.clone()),
        };
        self.look(&written)?;
        let can_fault = |&pair: &FairnessId| model.fairness[pair].can_fault_at_some_size();
        if asked.under.any_of.iter().flatten().any(can_fault) {
            return Err(outside("a fairness assumption may have no value"));
        }
        let views = certified(self.crowd.ground, &self.crowd.closed);
        let mut facts = vec![Fact { claim: Claim::Views(views), uses: Vec::new() }];
        for violation in self.representatives(plain::violations(model, asked, &formula)?)? {
            facts.push(Fact { claim: Claim::Crowd(self.refutation(&violation)?), uses: vec![0] });
        }
        let parameter = &model.parameters[self.fragment.parameter];
        let from = parameter.least.max(2);
        let scope = Scope::AllSizes { parameter: parameter.name.clone(), from, checked: Vec::new() };
        Ok(Certificate { property: asked.name.clone(), scope, facts, implies: Vec::new() })
    }

    /// Whether a formula, as it was written, says the same for every size.
    fn look(&self, formula: &Formula) -> Result<(), Halt> {
        match formula {
            Formula::Now(expr) => self.look_at(expr),
            Formula::Not(inner) | Formula::Unary(_, inner) => self.look(inner),
            Formula::Boolean(_, left, right) | Formula::Binary(_, left, right) => {
                self.look(left)?;
                self.look(right)
            }
            Formula::Quantified { bindings, filter, body, .. } => {
                let over = bindings.iter().any(|binding| self.is_family(&binding.domain));
                if over && filter.is_some() {
                    return Err(outside("the property leaves some processes out"));
                }
                for binding in bindings {
                    if let Domain::Range(lo, hi) = &binding.domain {
                        self.look_at(lo)?;
                        self.look_at(hi)?;
                    }
                }
                filter.as_ref().map_or(Ok(()), |filter| self.look_at(filter))?;
                self.look(body)
            }
            Formula::NeverAccepts(_) => Err(outside("the property is an automaton")),
        }
    }

    fn look_at(&self, expr: &Expr) -> Result<(), Halt> {
        let model = self.crowd.ground.model;
        if parameters_of(expr).contains(&self.fragment.parameter) {
            let name = &model.parameters[self.fragment.parameter].name;
            return Err(outside(format!("the property uses `{name}` as a number")));
        }
        let mut counts = false;
        model::visit::each_part(expr, &mut |part| {
            if let ExprKind::Quantified(quantified) = &part.kind {
                counts |= quantified.bindings.iter().any(|binding| self.is_family(&binding.domain));
            }
        });
        if counts { Err(outside("the property is about all processes at once")) } else { Ok(()) }
    }

    fn is_family(&self, domain: &Domain) -> bool {
        matches!(domain, Domain::Family(family) if *family == self.fragment.layout.family)
    }

    fn is_member(&self, value: Value) -> bool {
        matches!(value, Value::Process(id) if self.fragment.layout.is_member(self.crowd.ground.model, id))
    }

    fn first(&self) -> ProcessId {
        self.crowd.ground.model.families[self.fragment.layout.family].first
    }

    /// Of the ways to violate the property that are images of each other under permutations of processes, the one of the first process.
    fn representatives(&self, violations: Vec<ReferenceViolation>) -> Result<Vec<ReferenceViolation>, Halt> {
        let mut found = Vec::new();
        for violation in violations {
            let members = violation.instance.iter().filter(|(_, value)| self.is_member(*value));
            let members: Vec<Value> = members.map(|(_, value)| *value).collect();
            if members.len() > 1 {
                return Err(outside("the property is about several processes at once"));
            }
            let first = Value::Process(self.first());
            if members.first().is_none_or(|&member| member == first) {
                found.push(violation);
            }
        }
        Ok(found)
    }

    /// Why no fair run violates the property in one way.
    fn refutation(&self, violation: &ReferenceViolation) -> Result<CrowdRefutation, Halt> {
        let conditions = self.conditions(violation);
        let names_first = !violation.instance.iter().any(|(_, value)| self.is_member(*value));
        let truths = self.truths(&violation.automaton.atoms, names_first)?;
        let reader = Reader::with_atoms(&violation.automaton, &truths, self.n_views());
        // Where the property is not about each process, its process is the first one, of which more may be assumed.
        let mut of_first = conditions.clone();
        if names_first {
            of_first.extend(self.conditions_of_first(violation));
        }
        let initial: Vec<u32> = self.crowd.initial.iter().map(|&view| view as u32).collect();
        let product = Product::new((&initial, &self.crowd.graph), &reader, &of_first, self.config.edges)?;
        let matter = Matter { crowd: &self.crowd, sums: &self.sums, conditions: &conditions, product: &product };
        let mut refuter = Refuter::new(matter, self.budget, (self.config.depth, self.config.tests));
        match refuter.refute()? {
            None => Err(self.staying(refuter.left.as_deref().unwrap_or_default()).into()),
            Some(branches) => {
                let model = self.crowd.ground.model;
                let (violation, automaton) = (violation.name(model), &violation.automaton);
                let claim = CrowdRefutation {
                    violation,
                    automaton: plain::AutomatonNames::default(),
                    sums: self.sums.clone(),
                    branches,
                };
                Ok(claim.with_names_of(&automaton.names(model)))
            }
        }
    }

    /// Where a run may stay for ever, by the views of a component that nothing was found against.
    fn staying(&self, views: &[usize]) -> StopReason {
        let ground = self.crowd.ground;
        let words: BTreeSet<String> = views.iter().map(|&view| in_words(ground, &self.crowd.views[view])).collect();
        if words.is_empty() {
            return Coarse::Views.into();
        }
        let shown: Vec<String> = words.iter().take(MOST_SHOWN).cloned().collect();
        let more = if words.len() > MOST_SHOWN { ", or elsewhere" } else { "" };
        StopReason::Allowed(format!("a run may stay for ever where {}{more}", shown.join(", or where ")))
    }

    /// The truth of atoms at each view, of the process whose view it is; that is the first one, where atoms may name it.
    fn truths(&self, atoms: &[StateCondition], names_first: bool) -> Result<Vec<Vec<bool>>, Halt> {
        let ground = self.crowd.ground;
        let mut found = Vec::new();
        for atom in atoms {
            let mut bound = Vec::new();
            for &value in &atom.bound {
                bound.push(match value {
                    Value::Process(id) if id == self.first() => Item::Slot(ME),
                    value if self.is_member(value) => return Err(outside("the property is about several processes")),
                    value => Item::Value(value),
                });
            }
            let mut expr = atom.expr.clone();
            // A variable that is bound within would have the same number.
            let mut binds = false;
            model::visit::each_part(&expr, &mut |part| binds |= matches!(part.kind, ExprKind::Quantified(_)));
            if names_first && !binds {
                self.name_first(&mut expr, BoundVar(bound.len() as u32));
                bound.push(Item::Slot(ME));
            }
            let mut truths = Vec::new();
            for view in &self.crowd.views {
                let mut choices = Choices::default();
                let mut sight = Sight {
                    ground: Ground { ..ground },
                    config: view.clone(),
                    me: Who::Nobody,
                    bound: bound.clone(),
                    guessing: Guessing { contents: false, witnesses: false },
                    choices: &mut choices,
                    needs: Needs::default(),
                };
                let truth = sight.truth(&expr);
                let is_sure = sight.needs == Needs::default();
                match truth {
                    Ok(truth) if is_sure && !choices.advance() => truths.push(truth),
                    _ => return Err(outside("the property looks at more than one process, or names one")),
                }
            }
            found.push(truths);
        }
        Ok(found)
    }

    /// Where an expression names the first process by its index, a variable replaces it.
    fn name_first(&self, expr: &mut Expr, variable: BoundVar) {
        let (model, nothing) = (self.crowd.ground.model, State { cells: Vec::new(), stacks: Vec::new() });
        let is_first = match &expr.kind {
            ExprKind::Const(value) => *value == Value::Process(self.first()),
            ExprKind::ToProcess(_, inner) if matches!(inner.kind, ExprKind::Const(_)) => {
                Viewpoint::of_instance(model, &nothing, &[]).value(expr) == Ok(Value::Process(self.first()))
            }
            _ => false,
        };
        match is_first {
            true => expr.kind = ExprKind::Bound(variable),
            false => each_child_mut(expr, &mut |part| self.name_first(part, variable)),
        }
    }

    /// What was assumed of the first process alone.
    fn conditions_of_first(&self, violation: &ReferenceViolation) -> Vec<StreettPair> {
        let model = self.crowd.ground.model;
        let is_meant = |id: &&FairnessId| {
            model.fairness[**id].owner == Some(self.first()) && !model.template().forms.for_each.contains(*id)
        };
        let pairs = violation.fairness.iter().filter(is_meant).map(|&id| &model.fairness[id]);
        pairs.filter_map(|pair| self.condition(pair, Whose::Mine)).collect()
    }

    /// What fairness demands of the edges of each process: what was assumed of every one, and of processes of other families. What else was
    /// assumed is not made use of.
    fn conditions(&self, violation: &ReferenceViolation) -> Vec<StreettPair> {
        let model = self.crowd.ground.model;
        let mut found = Vec::new();
        for &id in &violation.fairness {
            let pair = &model.fairness[id];
            let whose = match pair.owner {
                Some(owner) if owner == self.first() && self.is_for_each(id, violation) => Whose::Mine,
                Some(owner) if !self.is_member(Value::Process(owner)) => Whose::Of(owner),
                _ => continue,
            };
            if let Some(condition) = self.condition(pair, whose) {
                found.push(condition);
            }
        }
        found
    }

    /// Whether an assumption about the first process was made in the same way for each: another property may name one of them.
    fn is_for_each(&self, id: FairnessId, violation: &ReferenceViolation) -> bool {
        let model = self.crowd.ground.model;
        let for_each = &model.template().forms.for_each;
        let first = model.processes[self.first()].name.as_str();
        let is_assumed = |process: ProcessId| {
            let name = model.fairness[id].name.replace(first, &model.processes[process].name);
            let made = violation.fairness.iter().filter(|&other| for_each.contains(other));
            made.map(|&other| &model.fairness[other]).any(|other| other.owner == Some(process) && other.name == name)
        };
        for_each.contains(&id) && model.families[self.fragment.layout.family].processes().all(is_assumed)
    }

    fn condition(&self, pair: &FairnessPair, whose: Whose) -> Option<StreettPair> {
        let owner = pair.owner?;
        let stays = match &pair.always {
            None => None,
            Some(predicate) => Some(self.may_be(predicate, owner, whose)?),
        };
        let mut often = EdgeBits::none(self.crowd.edges.len());
        for predicate in &pair.often {
            let before = match predicate {
                EdgePredicate::Before(predicate) => Some(self.may_be(predicate, owner, whose)?),
                _ => None,
            };
            for (number, edge) in self.crowd.edges.iter().enumerate() {
                let is_met = match predicate {
                    EdgePredicate::Before(_) => before.as_ref().is_some_and(|before| before[edge.from]),
                    EdgePredicate::Scheduled(process) if *process == owner => whose.moves(edge),
                    EdgePredicate::Moves(process, labels) if *process == owner => {
                        let action = edge.action.filter(|_| whose.moves(edge));
                        action.is_some_and(|action| self.carries(action, labels.as_deref()))
                    }
                    _ => return None,
                };
                if is_met {
                    often.insert(number);
                }
            }
        }
        Some(StreettPair { stays, often })
    }

    /// At which views a predicate may hold; `None` where it is not about what its owner can do.
    fn may_be(&self, predicate: &StatePredicate, owner: ProcessId, whose: Whose) -> Option<Vec<bool>> {
        let StatePredicate::Unable(process, labels) = predicate else { return None };
        if *process != owner {
            return None;
        }
        let able = match whose {
            Whose::Mine => &self.crowd.able,
            Whose::Of(process) => self.crowd.outside_able.get(&process)?,
        };
        let unable = able.iter().map(|able| !able.iter().any(|&action| self.carries(action, labels.as_deref())));
        Some(unable.collect())
    }

    fn carries(&self, action: ActionId, labels: Option<&[String]>) -> bool {
        let carried = &self.crowd.ground.model.actions[action].labels;
        labels.is_none_or(|labels| carried.iter().any(|label| labels.contains(label)))
    }
}

/// Whose fairness it is.
#[derive(Clone, Copy)]
enum Whose {
    /// Of the process whose view it is.
    Mine,
    /// Of a process of another family.
    Of(ProcessId),
}

impl Whose {
    fn moves(self, edge: &Edge) -> bool {
        match self {
            Whose::Mine => edge.mover == Mover::Me,
            Whose::Of(process) => edge.mover == Mover::Outside(process),
        }
    }
}
