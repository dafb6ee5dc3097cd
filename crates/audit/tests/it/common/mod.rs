//! Random programs with the smallest invariants of several kinds, and properties to ask of them.

#![allow(dead_code)]

use std::collections::BTreeSet;

use base::Span;
use evidence::Certificate;
use evidence::certificate::SplitInvariant;
use model::Model;
use model::eval::{evaluate, race};
use model::expr::{BinaryOp, Expr};
use model::fairness::Assumptions;
use model::footprint;
use model::process::ProcessId;
use model::property::{Expected, Property, PropertyKind};
use model::types::ScalarType;
use model::value::Value;
use model::variable::{CellId, Storage};
use testkit::Product;
use testkit::expr::{binary, constant, equal, not, read, shared, standing};
use testkit::local::{DefinedSets, Expose, LocalDefinition};

/// The smallest invariant of some kind.
pub struct Prepared<'m> {
    pub local: LocalDefinition<'m>,
    pub sets: DefinedSets,
}

impl Prepared<'_> {
    pub fn certificate(&self, property: &Property) -> Certificate {
        let implies = self.local.implies(&property.kind);
        Certificate { implies, ..self.local.certificate(&self.sets, &property.name) }
    }

    pub fn invariant<'c>(&self, certificate: &'c Certificate) -> &'c SplitInvariant {
        certificate.invariant().expect("it states one")
    }

    /// Whether a clause about some processes is implied by all processes only if it is implied by these: all are these.
    pub fn is_exact(&self, property: &Property) -> bool {
        self.local.model.processes.len() == 1 || matches!(property.kind, PropertyKind::DeadlockFree)
    }
}

/// The smallest invariants of all kinds, as far as they are small.
pub fn prepared(model: &Model) -> Vec<Prepared<'_>> {
    let mut found = Vec::new();
    for k in 1..=model.processes.len().min(3) {
        let all = LocalDefinition { limit: 120, ..LocalDefinition::new(model, k) };
        let seen: Vec<BTreeSet<CellId>> =
            model.processes.ids().map(|process| footprint::view(model, process)).collect();
        let exposed: Vec<Vec<Expose>> = model.processes.ids().map(|process| exposures(model, process)).collect();
        let views = LocalDefinition { views: seen.clone(), ..all.clone() };
        let both = LocalDefinition { exposed: exposed.clone(), ..views.clone() };
        for local in [LocalDefinition { exposed, ..all.clone() }, all, views, both] {
            if let Some(sets) = local.invariant() {
                found.push(Prepared { local, sets });
            }
        }
    }
    found
}

/// Two facts about each process.
fn exposures(model: &Model, process: ProcessId) -> Vec<Expose> {
    let family = model.processes[process].family;
    let mut facts = Vec::new();
    let scope = model::control::TextOwner::Family(family);
    let mut busy = model.places.entries().filter(|(_, place)| place.scope == scope && !place.actions.is_empty());
    if let Some((place, _)) = busy.next_back() {
        facts.push(Expose::At(vec![place]));
    }
    let own = model.cells.entries().rfind(|(_, cell)| cell.owner == Some(process));
    if let Some((cell, declared)) = own {
        let value = declared.ty.first_value(model.type_context()).expect("types have values");
        facts.push(Expose::Cell(cell, value));
    }
    facts
}

/// The built-in questions, races on shared variables, and invariants about places and values.
pub fn properties(model: &Model) -> Vec<Property> {
    let mut kinds = vec![PropertyKind::NoErrors, PropertyKind::DeadlockFree];
    for (id, var) in model.vars.entries().filter(|(_, var)| var.storage == Storage::Shared) {
        if !matches!(var.ty.scalar(), ScalarType::Lock | ScalarType::Semaphore { .. }) {
            kinds.push(PropertyKind::RaceFree(id));
        }
    }
    let processes: Vec<ProcessId> = model.processes.ids().collect();
    let at = |process: ProcessId, nth: usize| -> Option<Expr> {
        let scope = model::control::TextOwner::Family(model.processes[process].family);
        let places: Vec<_> =
            model.places.entries().filter(|(_, place)| place.scope == scope).map(|(id, _)| id).collect();
        let who = constant(Value::Process(process));
        places.get(nth).map(|&place| standing(who, vec![place], &["l"]))
    };
    for nth in 0..3 {
        if let (Some(one), Some(other)) = (at(processes[0], nth), at(processes[processes.len() - 1], nth + 1)) {
            kinds.push(PropertyKind::Invariant(not(binary(BinaryOp::And, one, other))));
        }
    }
    if let Some((id, var)) =
        model.vars.entries().find(|(_, var)| var.storage == Storage::Shared && var.ty.n_cells() == 1)
    {
        let values: Vec<Value> = var.ty.scalar().values(model.type_context()).take(4).collect();
        let is = |value: Value| equal(read(shared(id)), constant(value));
        if let Some(&last) = values.last() {
            kinds.push(PropertyKind::Reachable(is(last)));
            if let Some(place) = at(processes[0], 1) {
                kinds.push(PropertyKind::Invariant(binary(BinaryOp::Implies, place, is(last))));
            }
        }
    }
    kinds.into_iter().zip(0..).map(|(kind, nth)| property(kind, nth)).collect()
}

pub fn property(kind: PropertyKind, nth: usize) -> Property {
    Property {
        name: format!("{} {nth}", kind.keyword()),
        kind,
        under: Assumptions::none(),
        expected: Expected::Holds,
        text: String::new(),
        doc: String::new(),
        span: Span::default(),
    }
}

/// Whether what a certificate proves is true of all reachable states.
pub fn holds(model: &Model, product: &Product, property: &Property) -> bool {
    let is = |expr: &Expr, truth: bool| {
        product.states.iter().all(|state| evaluate(model, state, expr, None) == Ok(Value::Bool(truth)))
    };
    match &property.kind {
        PropertyKind::Invariant(expr) => is(expr, true),
        PropertyKind::Reachable(expr) => is(expr, false),
        PropertyKind::NoErrors => product.n_faults() == 0,
        PropertyKind::DeadlockFree => product.deadlocks.is_empty(),
        PropertyKind::RaceFree(var) => product.states.iter().all(|state| race(model, state, *var).is_none()),
        PropertyKind::Temporal(_) => false,
    }
}
