//! Refutations for every size replayed: the rule of `evidence::crowd`, each step by its definition.
//!
//! In: views of one process each, which are checked like any others; and for each way to violate a temporal property the branches of its refutation. Out:
//! that no component is left, or which is. The view graph is made here, from the text as it was written; whether two edges are one turn is decided
//! by putting together who is who in both, before and after.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use base::Budget;
use evidence::crowd::{Branch, CrowdRefutation, CrowdSum, Lasting};
use evidence::plain::{ReferenceViolation, StateCondition};
use evidence::scope::Scope;
use evidence::views::{Item, SharedColumn, ViewsProof};
use model::Model;
use model::control::{ActionId, ActionKind, Stmt, StmtKind};
use model::expr::{BoundVar, Domain, Expr, ExprKind};
use model::fairness::{EdgePredicate, FairnessId, StatePredicate};
use model::process::ProcessId;
use model::property::{Formula, Property, PropertyKind};
use model::value::Value;
use model::visit::each_child_mut;

use super::look::{Decisions, End, Look, Looker};
use super::same::{Turn, are_one};
use super::scene::{Scene, Slot};
use super::text::{Text, parts};
use super::{Checker, MOST_LOOKED_AT, MOST_WITNESSES, Taken, check_scope, nameless};
use crate::certificate::assumed::check_values;
use crate::certificate::named::Named;
use crate::certificate::propagation::edges::{Condition, fair_components};
use crate::certificate::{CertificateError, Outcome, words};

/// The process whose view it is.
const ME: Slot = 0;

/// Checks a proof of a temporal property for every size; how many views, and how many branches.
pub(in crate::certificate) fn check(
    model: &Model,
    property: &Property,
    (scope, proof, claims): (&Scope, &ViewsProof, &[&CrowdRefutation]),
    budget: &Budget,
) -> Outcome<(usize, usize)> {
    let text = Text::new(model, proof)?;
    if proof.k != 1
        || proof.is_ordered
        || !proof.hidden.is_empty()
        || !proof.present.is_empty()
        || !proof.named.is_empty()
    {
        return Err(CertificateError::Malformed(
            "a refutation for every size is about views of one process".to_owned(),
        ));
    }
    check_scope(&text, scope, 2)?;
    let position = model.properties.iter().position(|one| one.name == property.name);
    let written = position.map(|at| &text.written.properties[base::Id::new(at)].kind);
    let (PropertyKind::Temporal(formula), Some(PropertyKind::Temporal(written))) = (&property.kind, written) else {
        return Err(CertificateError::Malformed(format!("it is about runs, and `{}` is not", property.name)));
    };
    let violations = |formula: &Formula| {
        evidence::plain::violations(model, property, formula)
            .map_err(|stop| CertificateError::NotSupported(stop.to_string()))
    };
    let mut shown = violations(formula)?;
    let speaks_of_own = claims.iter().all(|claim| shown.iter().any(|one| claim.violation == one.name(model)));
    // Where the claims are about other ways than those to violate the property, they may be about a formula that implies it.
    match (formula.stronger(), written.stronger()) {
        (Some(stronger), Some(as_written)) if !speaks_of_own => {
            says_the_same(&text, &as_written)?;
            shown = violations(&stronger)?;
        }
        _ => says_the_same(&text, written)?,
    }
    let mut checker = Checker::new(&text, proof, budget)?;
    checker.initiality()?;
    checker.steps()?;
    let mut stage = Stage::new(checker)?;
    for violation in &shown {
        if !is_first(&text, violation)? {
            continue;
        }
        let name = violation.name(model);
        let Some(claim) = claims.iter().find(|claim| claim.violation == name) else {
            return words::refused("every way to violate the property has to be excluded", "one is not");
        };
        stage.replay(violation, claim)?;
    }
    Ok((stage.views.len(), stage.n_branches))
}

/// Whether a formula, as it was written, says the same whatever the size is.
fn says_the_same(text: &Text<'_>, formula: &Formula) -> Outcome<()> {
    let refuse = |what: &str| Err(CertificateError::NotSymmetric(what.to_owned()));
    let look_at = |expr: &Expr| {
        let is_bad = |part: &&Expr| match &part.kind {
            ExprKind::Parameter(id) => *id == text.size,
            ExprKind::Quantified(inner) => inner.bindings.iter().any(|binding| text.is_all(&binding.domain)),
            _ => false,
        };
        if parts(expr).iter().any(is_bad) { refuse("the property is about the number of processes") } else { Ok(()) }
    };
    match formula {
        Formula::Now(expr) => look_at(expr),
        Formula::Not(inner) | Formula::Unary(_, inner) => says_the_same(text, inner),
        Formula::Boolean(_, left, right) | Formula::Binary(_, left, right) => {
            says_the_same(text, left)?;
            says_the_same(text, right)
        }
        Formula::Quantified { bindings, filter, body, .. } => {
            if filter.is_some() && bindings.iter().any(|binding| text.is_all(&binding.domain)) {
                return refuse("the property leaves processes out");
            }
            filter.iter().try_for_each(look_at)?;
            for binding in bindings {
                if let Domain::Range(lo, hi) = &binding.domain {
                    look_at(lo)?;
                    look_at(hi)?;
                }
            }
            says_the_same(text, body)
        }
        Formula::NeverAccepts(_) => refuse("the property is an automaton"),
    }
}

/// Whether a violation is about the first process, or about none; others are its images.
fn is_first(text: &Text<'_>, violation: &ReferenceViolation) -> Outcome<bool> {
    let first = text.model.families[text.family].first;
    let members: Vec<ProcessId> = { violation.instance.iter() }
        .filter_map(|(_, value)| if let Value::Process(id) = value { Some(*id) } else { None })
        .filter(|&id| text.is_member(id))
        .collect();
    match members[..] {
        [] => Ok(true),
        [one] => Ok(one == first),
        _ => Err(CertificateError::NotSupported("the property is about several processes at once".to_owned())),
    }
}

/// An edge of the view graph.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Edge {
    from: usize,
    to: usize,
    turn: Turn,
}

/// What edges share: the items before and after, and the action.
type Shared = (Vec<Item>, Vec<Item>, Option<ActionId>);

/// The view graph.
struct Stage<'a, 'm> {
    checker: Checker<'a, 'm>,
    views: Vec<Scene>,
    starts: Vec<usize>,
    edges: Vec<Edge>,
    ends: Vec<(usize, usize)>,
    /// What is surely enabled, of the process and of processes of other families: leaving `idle` aside.
    able: BTreeMap<Option<ProcessId>, Vec<BTreeSet<ActionId>>>,
    /// Edges by what they share, names aside.
    alike: HashMap<Shared, Vec<usize>>,
    n_branches: usize,
}

impl<'a, 'm> Stage<'a, 'm> {
    fn new(checker: Checker<'a, 'm>) -> Outcome<Self> {
        let views = checker.views.clone();
        let numbers: HashMap<Scene, usize> = views.iter().cloned().zip(0..).collect();
        let starts = super::starts::starts(checker.text, 1, checker.budget)?.map_err(|end| checker.uneven(end))?;
        let starts = starts.iter().filter_map(|start| numbers.get(start).copied()).collect();
        let mut stage = Stage {
            checker,
            views,
            starts,
            edges: Vec::new(),
            ends: Vec::new(),
            able: BTreeMap::new(),
            alike: HashMap::new(),
            n_branches: 0,
        };
        let mut found = BTreeSet::new();
        for at in 0..stage.views.len() {
            stage.edges_at(at, &numbers, &mut found)?;
        }
        stage.edges = found.into_iter().collect();
        stage.ends = stage.edges.iter().map(|edge| (edge.from, edge.to)).collect();
        for (number, edge) in stage.edges.iter().enumerate() {
            let key = (nameless(&stage.views[edge.from]), nameless(&stage.views[edge.to]), edge.turn.action);
            stage.alike.entry(key).or_default().push(number);
        }
        Ok(stage)
    }

    fn edges_at(&mut self, at: usize, numbers: &HashMap<Scene, usize>, found: &mut BTreeSet<Edge>) -> Outcome<()> {
        let view = self.views[at].clone();
        let text = self.checker.text;
        let others = text.shared.iter().filter_map(|column| match column {
            SharedColumn::Control(process) => Some(*process),
            _ => None,
        });
        for outsider in std::iter::once(None).chain(others.map(Some)) {
            let looker = outsider.map_or(Looker::Slot(ME), Looker::Other);
            let actions = self.checker.actions(&view, looker);
            let is_idle = |action: &ActionId| matches!(text.model.actions[*action].kind, ActionKind::Idle);
            let mut able: BTreeSet<ActionId> = BTreeSet::new();
            for &action in &actions {
                if self.is_sure(&view, looker, action)? {
                    able.insert(action);
                }
            }
            for &action in &actions {
                for after in self.ways(&view, looker, action)? {
                    found.insert(edge((at, &view), (looker, action), &after, numbers)?);
                }
            }
            if able.is_empty() || actions.iter().any(is_idle) {
                found.insert(Edge { from: at, to: at, turn: Turn::still(view.slots.len(), Some(ME), outsider) });
            }
            able.retain(|action| !is_idle(action));
            self.able.entry(outsider).or_default().push(able);
        }
        // Any other process may stutter.
        for slot in (1..view.slots.len()).map(|slot| Some(slot as Slot)).chain([None]) {
            found.insert(Edge { from: at, to: at, turn: Turn::still(view.slots.len(), slot, None) });
        }
        for (scene, newest) in self.checker.joined(&view, None, |_| true)? {
            let looker = Looker::Slot(newest);
            for action in self.checker.actions(&scene, looker) {
                for after in self.ways(&scene, looker, action)? {
                    found.insert(edge((at, &view), (looker, action), &after, numbers)?);
                }
            }
        }
        Ok(())
    }

    /// All scenes after an action.
    fn ways(&mut self, scene: &Scene, looker: Looker, action: ActionId) -> Outcome<BTreeSet<Scene>> {
        let mut found = BTreeSet::new();
        let step = Taken { keep: &[ME], looker, action, n_witnesses: 0, n_looked_at: 0 };
        self.collect(scene, step, &mut found)?;
        Ok(found)
    }

    fn collect(&mut self, scene: &Scene, step: Taken<'_>, found: &mut BTreeSet<Scene>) -> Outcome<()> {
        let text = self.checker.text;
        let mut wanted: BTreeSet<Option<Slot>> = BTreeSet::new();
        let mut wants_witness = false;
        let mut next = Some(Decisions::default());
        while let Some(mut way) = next {
            self.checker.pace()?;
            let mut look = look(text, scene, step.looker, &mut way);
            look.guess_contents = step.n_looked_at >= MOST_LOOKED_AT;
            look.has_most_witnesses = step.n_witnesses >= MOST_WITNESSES;
            let end = look.take(&text.written.actions[step.action]);
            wants_witness |= look.is_open && step.n_witnesses < look.n_decided;
            match end {
                Ok(()) => drop(found.insert(look.scene)),
                Err(End::No | End::Fault) => {}
                Err(End::Unseen(slot)) => {
                    if step.n_looked_at < look.named.len() {
                        wanted.insert(Some(slot).filter(|&slot| (slot as usize) < scene.slots.len()));
                    }
                }
                Err(end @ End::Uneven(_)) => return Err(self.checker.uneven(end)),
            }
            next = way.following();
        }
        for slot in wanted {
            for (joined, _) in self.checker.joined(scene, slot, |_| true)? {
                self.collect(&joined, Taken { n_looked_at: step.n_looked_at + 1, ..step }, found)?;
            }
        }
        if wants_witness {
            for (joined, _) in self.checker.joined(scene, None, |_| true)? {
                self.collect(&joined, Taken { n_witnesses: step.n_witnesses + 1, ..step }, found)?;
            }
        }
        Ok(())
    }

    /// Whether an action is enabled, whatever is unseen.
    fn is_sure(&mut self, scene: &Scene, looker: Looker, action: ActionId) -> Outcome<bool> {
        let text = self.checker.text;
        let action = &text.written.actions[action];
        if loops(&action.body) {
            return Ok(false);
        }
        let mut next = Some(Decisions::default());
        while let Some(mut way) = next {
            self.checker.pace()?;
            let mut look = look(text, scene, looker, &mut way);
            let end = look.take(action);
            let is_end = matches!(end, Ok(()) | Err(End::Fault));
            if is_end && !look.is_open && look.scene.slots.len() == scene.slots.len() {
                return Ok(true);
            }
            next = way.following();
        }
        Ok(false)
    }

    /// The edges of another process that are one turn with an edge of a set.
    fn compatible(&self, set: &[bool], sums: &[CrowdSum]) -> Vec<bool> {
        let mut kept = vec![false; self.edges.len()];
        for alike in self.alike.values() {
            for &other in alike {
                kept[other] = alike.iter().any(|&one| set[one] && self.is_one_turn(one, other, sums));
            }
        }
        kept
    }

    fn is_one_turn(&self, one: usize, other: usize, sums: &[CrowdSum]) -> bool {
        let (one, other) = (&self.edges[one], &self.edges[other]);
        let fits = |a: usize, b: usize| sums.iter().all(|sum| sum.left[a] >= sum.right[a] + sum.right[b]);
        let scenes = |edge: &Edge| (self.views[edge.from].clone(), self.views[edge.to].clone());
        fits(one.from, other.from)
            && fits(one.to, other.to)
            && are_one((&scenes(one), &one.turn), (&scenes(other), &other.turn))
    }

    fn replay(&mut self, violation: &ReferenceViolation, claim: &CrowdRefutation) -> Outcome<()> {
        check_values(self.checker.text.model, &violation.fairness)?;
        self.check_sums(&claim.sums)?;
        let fairness = self.fairness(violation)?;
        // A property that is not about each process may be about the first one, and make assumptions about it alone.
        let is_of_first = !violation.instance.iter().any(|(_, value)| self.is_one_of_all(*value));
        let mut of_first = fairness.clone();
        if is_of_first {
            of_first.extend(self.fairness_of_first(violation));
        }
        let product = self.product(violation, &of_first, is_of_first)?;
        let possible = |view: usize| claim.sums.iter().all(|sum| sum.left[view] >= sum.right[view]);
        let within: Vec<bool> = { product.ends.iter() }
            .map(|&(from, to)| possible(product.nodes[from].0) && possible(product.nodes[to].0))
            .collect();
        let named = Named::new(self.checker.text.model, &violation.automaton, &claim.automaton)?;
        let replay = Replay { stage: self, named, sums: &claim.sums, fairness: &fairness };
        let mut n_branches = 0;
        replay.tree(Some(&product), &within, &claim.branches, &mut n_branches)?;
        self.n_branches += n_branches;
        Ok(())
    }

    /// Sums hold in the beginning, and every edge changes both sides by the same amount.
    fn check_sums(&self, sums: &[CrowdSum]) -> Outcome<()> {
        let n_views = self.views.len();
        for sum in sums {
            if sum.left.len() != n_views || sum.right.len() != n_views {
                return Err(CertificateError::Malformed("a sum does not say something of each view".to_owned()));
            }
            let mut shown: HashMap<Vec<Item>, i64> = HashMap::new();
            let depends = { self.views.iter().zip(&sum.left) }
                .any(|(view, &left)| *shown.entry(nameless(view)).or_insert(left) != left);
            let begins = self.starts.iter().all(|&view| sum.left[view] == 0 && sum.right[view] == 0);
            let is_small = |weight: &i64| weight.unsigned_abs() < 1 << 40;
            let weighs = sum.right.iter().all(|&weight| weight >= 0) && sum.left.iter().chain(&sum.right).all(is_small);
            if depends || !begins || !weighs {
                return words::refused("both sides of a sum have to be 0 in the beginning", "they are not");
            }
        }
        let possible = |view: usize| sums.iter().all(|sum| sum.left[view] >= sum.right[view]);
        for edge in self.edges.iter().filter(|edge| possible(edge.from)) {
            for sum in sums {
                let left = sum.left[edge.to] - sum.left[edge.from];
                let right = sum.right[edge.to] - sum.right[edge.from];
                let is_kept = match edge.turn {
                    Turn { outsider: Some(_), .. } => left == 0 && right == 0,
                    Turn { mover: Some(ME), .. } => left == right,
                    _ => right == 0,
                };
                if !is_kept {
                    return words::refused("every turn has to change both sides of a sum alike", "one does not");
                }
            }
        }
        Ok(())
    }

    /// What was assumed of each process, and of processes of other families.
    fn fairness(&self, violation: &ReferenceViolation) -> Outcome<Vec<Condition>> {
        let text = self.checker.text;
        let first = text.model.families[text.family].first;
        let mut found = Vec::new();
        for &id in &violation.fairness {
            let Some(owner) = text.model.fairness[id].owner else { continue };
            if text.is_member(owner) && (owner != first || !self.is_of_each(id, violation)) {
                continue;
            }
            let outsider = Some(owner).filter(|&owner| !text.is_member(owner));
            found.extend(self.condition(id, owner, outsider));
        }
        Ok(found)
    }

    fn is_one_of_all(&self, value: Value) -> bool {
        matches!(value, Value::Process(id) if self.checker.text.is_member(id))
    }

    /// What was assumed of the first process and was not written for each.
    fn fairness_of_first(&self, violation: &ReferenceViolation) -> Vec<Condition> {
        let text = self.checker.text;
        let first = text.model.families[text.family].first;
        let is_alone = |id: &&FairnessId| {
            text.model.fairness[**id].owner == Some(first) && !text.written.forms.for_each.contains(*id)
        };
        violation.fairness.iter().filter(is_alone).filter_map(|&id| self.condition(id, first, None)).collect()
    }

    /// Whether a fairness assumption of the first process was written for each, and is made for each.
    fn is_of_each(&self, id: FairnessId, violation: &ReferenceViolation) -> bool {
        let text = self.checker.text;
        let of_each = &text.written.forms.for_each;
        let model = text.model;
        let first = &model.processes[model.families[text.family].first].name;
        of_each.contains(&id)
            && model.families[text.family].processes().all(|process| {
                let name = model.fairness[id].name.replace(first.as_str(), &model.processes[process].name);
                let is_it = |other: &&FairnessId| {
                    let pair = &model.fairness[**other];
                    pair.owner == Some(process) && pair.name == name && of_each.contains(*other)
                };
                violation.fairness.iter().any(|other| is_it(&other))
            })
    }

    fn condition(&self, id: FairnessId, owner: ProcessId, outsider: Option<ProcessId>) -> Option<Condition> {
        let model = self.checker.text.model;
        let pair = &model.fairness[id];
        let carries = |action: ActionId, labels: &Option<Vec<String>>| {
            labels.as_ref().is_none_or(|labels| model.actions[action].labels.iter().any(|one| labels.contains(one)))
        };
        let unable = |predicate: &StatePredicate| match predicate {
            StatePredicate::Unable(process, labels) if *process == owner => {
                let able = self.able.get(&outsider)?;
                Some(able.iter().map(|able| !able.iter().any(|&one| carries(one, labels))).collect::<Vec<bool>>())
            }
            _ => None,
        };
        let moves = |edge: &Edge| match outsider {
            None => edge.turn.outsider.is_none() && edge.turn.mover == Some(ME),
            Some(_) => edge.turn.outsider == outsider,
        };
        let mut often = vec![false; self.edges.len()];
        for predicate in &pair.often {
            let met: Vec<bool> = match predicate {
                EdgePredicate::Before(predicate) => {
                    let unable = unable(predicate)?;
                    self.edges.iter().map(|edge| unable[edge.from]).collect()
                }
                EdgePredicate::Scheduled(process) if *process == owner => self.edges.iter().map(moves).collect(),
                EdgePredicate::Moves(process, labels) if *process == owner => {
                    let is_move = |edge: &Edge| moves(edge) && edge.turn.action.is_some_and(|one| carries(one, labels));
                    self.edges.iter().map(is_move).collect()
                }
                _ => return None,
            };
            often.iter_mut().zip(met).for_each(|(often, met)| *often |= met);
        }
        let stays = match &pair.always {
            None => None,
            Some(predicate) => Some(unable(predicate)?),
        };
        Some(Condition { stays, often })
    }

    /// The product with the automaton of a violation, for the process that it is about.
    fn product(&self, violation: &ReferenceViolation, fairness: &[Condition], is_of_first: bool) -> Outcome<Product> {
        let atoms = violation.automaton.atoms.iter();
        let truths = atoms.map(|atom| self.truths(atom, is_of_first)).collect::<Outcome<Vec<_>>>()?;
        let mut leaving: Vec<Vec<usize>> = vec![Vec::new(); self.views.len()];
        self.edges.iter().enumerate().for_each(|(number, edge)| leaving[edge.from].push(number));
        let mut nodes: Vec<(usize, usize)> = self.starts.iter().map(|&view| (view, 0)).collect();
        let mut numbers: HashMap<(usize, usize), usize> = nodes.iter().copied().zip(0..).collect();
        let (mut ends, mut base, mut marks) = (Vec::new(), Vec::new(), Vec::new());
        let mut at = 0;
        while let Some(&(view, state)) = nodes.get(at) {
            let readings = violation.automaton.states[state].iter();
            for reading in readings.filter(|one| one.literals.iter().all(|&(atom, is)| truths[atom][view] == is)) {
                for &edge in &leaving[view] {
                    let target = (self.edges[edge].to, reading.target);
                    let to = *numbers.entry(target).or_insert_with(|| {
                        nodes.push(target);
                        nodes.len() - 1
                    });
                    ends.push((at, to));
                    base.push(edge);
                    marks.push(reading.marks.clone());
                }
            }
            at += 1;
        }
        let lifted = |one: &Condition| Condition {
            stays: one.stays.as_ref().map(|stays| nodes.iter().map(|node| stays[node.0]).collect()),
            often: base.iter().map(|&edge| one.often[edge]).collect(),
        };
        let marked = |mark| Condition { stays: None, often: marks.iter().map(|marks| marks.contains(&mark)).collect() };
        let conditions = fairness.iter().map(lifted).chain((0..violation.automaton.n_marks).map(marked)).collect();
        Ok(Product { nodes, ends, base, conditions })
    }

    /// The truth of an atom at each view, of the process whose view it is: the first one, where the atom may name that.
    fn truths(&self, atom: &StateCondition, is_of_first: bool) -> Outcome<Vec<bool>> {
        let text = self.checker.text;
        let first = text.model.families[text.family].first;
        let several = || CertificateError::NotSupported("the property looks at more than one process".to_owned());
        let bound = |value: &Value| match value {
            Value::Process(id) if *id == first => Ok(Item::Slot(ME)),
            Value::Process(id) if text.is_member(*id) => Err(several()),
            other => Ok(Item::Value(*other)),
        };
        let mut bound = atom.bound.iter().map(bound).collect::<Outcome<Vec<Item>>>()?;
        let mut expr = atom.expr.clone();
        let binds = parts(&expr).iter().any(|part| matches!(part.kind, ExprKind::Quantified(_)));
        if is_of_first && !binds {
            with_first_bound(text, &mut expr, bound.len() as u32);
            bound.push(Item::Slot(ME));
        }
        let mut found = Vec::new();
        for view in &self.views {
            let mut way = Decisions::default();
            let mut look = look(text, view, Looker::Nobody, &mut way);
            look.bound.clone_from(&bound);
            let holds = look.holds(&expr);
            let is_sure = !look.is_open && look.n_decided == 0;
            match holds {
                Ok(holds) if is_sure && way.following().is_none() => found.push(holds),
                _ => return Err(several()),
            }
        }
        Ok(found)
    }
}

/// Puts a variable where an expression names the first process of the family by a constant.
fn with_first_bound(text: &Text<'_>, expr: &mut Expr, variable: u32) {
    let family = &text.model.families[text.family];
    let names_it = match &expr.kind {
        ExprKind::Const(Value::Process(id)) => *id == family.first,
        ExprKind::ToProcess(of, index) => {
            let number = if let ExprKind::Const(Value::Int(number)) = index.kind { Some(number) } else { None };
            *of == text.family && number.is_some_and(|number| family.process_at(number) == Some(family.first))
        }
        _ => false,
    };
    if names_it {
        expr.kind = ExprKind::Bound(BoundVar(variable));
    } else {
        each_child_mut(expr, &mut |part| with_first_bound(text, part, variable));
    }
}

/// The product of the view graph with an automaton.
struct Product {
    nodes: Vec<(usize, usize)>,
    ends: Vec<(usize, usize)>,
    base: Vec<usize>,
    conditions: Vec<Condition>,
}

/// A refutation that is replayed.
struct Replay<'r, 'a, 'm> {
    stage: &'r Stage<'a, 'm>,
    named: Named,
    sums: &'r [CrowdSum],
    fairness: &'r [Condition],
}

impl Replay<'_, '_, '_> {
    /// Each fair component of a set of edges, of the product or of the graph, has a branch that holds.
    fn tree(&self, product: Option<&Product>, within: &[bool], branches: &[Branch], n: &mut usize) -> Outcome<()> {
        let (ends, conditions) = match product {
            Some(product) => (&product.ends, &product.conditions[..]),
            None => (&self.stage.ends, self.fairness),
        };
        let is_unknown = |branch: &Branch| branch.state.and_then(|state| self.named.state(state)).is_none();
        if product.is_some() && branches.iter().any(is_unknown) {
            return Err(CertificateError::Malformed("a branch names no state of the automaton".to_owned()));
        }
        for component in fair_components(ends, within, conditions) {
            self.stage.checker.budget.check(0)?;
            let is_at = |branch: &Branch| {
                let state = branch.state.and_then(|state| self.named.state(state));
                component.iter().any(|&edge| match product {
                    Some(product) => state.is_some_and(|at| product.nodes[product.ends[edge].0] == (branch.view, at)),
                    None => self.stage.edges[edge].from == branch.view,
                })
            };
            let (here, elsewhere): (Vec<&Branch>, Vec<&Branch>) = branches.iter().partition(|branch| is_at(branch));
            let mut outcome = words::refused("each fair component has to have a branch", "one has none");
            for branch in here.into_iter().chain(elsewhere) {
                outcome = self.branch(product, &component, branch, n);
                // Where a limit ends one, another that fails says nothing.
                if matches!(outcome, Ok(()) | Err(CertificateError::Stopped(_))) {
                    break;
                }
            }
            outcome?;
        }
        Ok(())
    }

    fn branch(&self, product: Option<&Product>, component: &[usize], branch: &Branch, n: &mut usize) -> Outcome<()> {
        *n += 1;
        let stage = self.stage;
        let base = |edge: usize| product.map_or(edge, |product| product.base[edge]);
        let mut set = vec![false; stage.edges.len()];
        component.iter().for_each(|&edge| set[base(edge)] = true);
        let is_listed = |&edge: &usize| branch.views.contains(&stage.edges[base(edge)].from);
        if !branch.views.is_empty() && !component.iter().all(is_listed) {
            return words::refused("all views of a component have to be listed, where some are", "one is not");
        }
        let compatible = stage.compatible(&set, self.sums);
        match &branch.because {
            Lasting::Others(branches) => {
                let others = self.fair(&compatible);
                let n_edges = product.map_or(stage.edges.len(), |product| product.ends.len());
                let mut left = vec![false; n_edges];
                component.iter().for_each(|&edge| left[edge] = self.is_explained(base(edge), &others));
                if component.iter().all(|&edge| left[edge]) {
                    return words::refused("what others do has to exclude something", "it excludes nothing");
                }
                self.tree(product, &left, branches, n)
            }
            Lasting::Named { column, branches } => {
                let named = |view: usize| match stage.views[view].shared.get(*column) {
                    Some(Item::Slot(slot)) => Some(*slot),
                    _ => None,
                };
                let stays = |edge: &Edge| match (named(edge.from), named(edge.to)) {
                    (Some(before), Some(after)) => {
                        before != ME && after != ME && edge.turn.kept[before as usize] == Some(after)
                    }
                    _ => false,
                };
                if !stage.edges.iter().zip(&set).all(|(edge, &is_in)| !is_in || stays(edge)) {
                    return words::refused("the cell has to name one other process for ever", "it does not");
                }
                let is_it = |edge: &Edge| named(edge.from) == Some(ME) && named(edge.to) == Some(ME);
                let kept: Vec<bool> =
                    stage.edges.iter().zip(&compatible).map(|(edge, &is_in)| is_in && is_it(edge)).collect();
                self.tree(None, &kept, branches, n)
            }
            Lasting::Holder { sum, branches } => {
                let Some(sum) = self.sums.get(*sum) else {
                    return Err(CertificateError::Malformed("it names a sum that there is not".to_owned()));
                };
                let others = self.fair(&compatible);
                let somebody = |view: usize| sum.left[view] > sum.right[view];
                let all = stage
                    .edges
                    .iter()
                    .zip(&set)
                    .all(|(edge, &is_in)| !is_in || somebody(edge.from) && somebody(edge.to));
                let begins = |edge: &Edge| sum.right[edge.from] == 0 && sum.right[edge.to] > 0;
                if !all || stage.edges.iter().zip(&others).any(|(edge, &is_in)| is_in && begins(edge)) {
                    return words::refused("somebody else has to add to the sum for ever", "it is not so");
                }
                let adds = |edge: &Edge| sum.right[edge.from] > 0 && sum.right[edge.to] > 0;
                let kept: Vec<bool> =
                    stage.edges.iter().zip(&others).map(|(edge, &is_in)| is_in && adds(edge)).collect();
                self.tree(None, &kept, branches, n)
            }
        }
    }

    /// The fair components of a set, together.
    fn fair(&self, within: &[bool]) -> Vec<bool> {
        let mut kept = vec![false; within.len()];
        for component in fair_components(&self.stage.ends, within, self.fairness) {
            component.into_iter().for_each(|edge| kept[edge] = true);
        }
        kept
    }

    /// Whether an edge is one turn with what another process does: the mover, where another process moves.
    fn is_explained(&self, edge: usize, others: &[bool]) -> bool {
        let stage = self.stage;
        let here = &stage.edges[edge];
        let by_another = here.turn.outsider.is_none() && here.turn.mover != Some(ME);
        let key = (nameless(&stage.views[here.from]), nameless(&stage.views[here.to]), here.turn.action);
        let is_own =
            |other: usize| stage.edges[other].turn.outsider.is_none() && stage.edges[other].turn.mover == Some(ME);
        stage
            .alike
            .get(&key)
            .into_iter()
            .flatten()
            .any(|&other| others[other] && (!by_another || is_own(other)) && stage.is_one_turn(edge, other, self.sums))
    }
}

fn look<'l, 'm>(text: &'l Text<'m>, scene: &Scene, looker: Looker, way: &'l mut Decisions) -> Look<'l, 'm> {
    Look {
        text,
        scene: scene.clone(),
        looker,
        bound: Vec::new(),
        way,
        guess_contents: false,
        guess_witnesses: false,
        has_most_witnesses: false,
        n_decided: 0,
        is_open: false,
        named: BTreeSet::new(),
        depth: 0,
        wrote_unseen: false,
        watched: None,
        read: 0,
    }
}

fn loops(block: &[Stmt]) -> bool {
    block.iter().any(|statement| match &statement.kind {
        StmtKind::For(..) => true,
        StmtKind::If(_, yes, no) => loops(yes) || loops(no),
        StmtKind::Either(blocks) => blocks.iter().any(|block| loops(block)),
        _ => false,
    })
}

/// The edge of a step, from the scene after it, in which slots have their numbers still.
fn edge(
    (at, view): (usize, &Scene),
    (looker, action): (Looker, ActionId),
    after: &Scene,
    numbers: &HashMap<Scene, usize>,
) -> Outcome<Edge> {
    let Some(&to) = numbers.get(&after.part(&[ME], false)) else {
        return words::refused("every step leads to a view again", "one does not");
    };
    let mut order = vec![ME];
    for item in after.shared.iter().chain(after.slots[ME as usize].iter().flat_map(|local| local.iter())) {
        if let Item::Slot(slot) = item
            && !order.contains(slot)
        {
            order.push(*slot);
        }
    }
    let place = |slot: Slot| order.iter().position(|&one| one == slot).map(|place| place as Slot);
    let kept = (0..view.slots.len() as Slot).map(place).collect();
    let known = |slot: Slot| Some(slot).filter(|&slot| (slot as usize) < view.slots.len());
    let turn = match looker {
        Looker::Slot(slot) => {
            Turn { mover: known(slot), mover_after: place(slot), outsider: None, action: Some(action), kept }
        }
        Looker::Other(process) => {
            Turn { mover: None, mover_after: None, outsider: Some(process), action: Some(action), kept }
        }
        Looker::Nobody => return Err(CertificateError::Malformed("nobody moves".to_owned())),
    };
    Ok(Edge { from: at, to, turn })
}
