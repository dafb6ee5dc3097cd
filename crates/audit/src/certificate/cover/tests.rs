//! A property that is said to follow is true wherever all that is stated is: on random properties, stated in random parts of which
//! some are lost or changed, in random states and all their images.

use base::{Budget, SourceFile};
use evidence::certificate::{self, ProcessDimension};
use evidence::implication::{Clause as StatedClause, Demand, Part};
use model::Model;
use model::eval::{Control, Frame, State, Viewpoint, initial_states};
use model::expr::{BinaryOp, Expr, ExprKind, Quantifier};
use model::process::{FamilyId, ProcessId};
use model::property::PropertyKind;
use model::variable::VarId;
use testkit::choices::Choices;
use testkit::permutation::{Dimensions, permuted};

use super::super::clause::Clause;
use super::super::listing::implication::evaluate;
use super::super::symmetry::Symmetry;
use super::super::terms::Terms;
use super::Cover;

/// Writes random properties of the program below; `x` may be 0 or too large for an index, so that parts have no value.
struct Writer<'c> {
    choices: &'c mut Choices,
    n_bound: usize,
}

impl Writer<'_> {
    fn truth(&mut self, depth: usize, processes: &[String], numbers: &[String]) -> String {
        if depth == 0 {
            return self.atom(processes, numbers);
        }
        let inner = |writer: &mut Self| writer.truth(depth - 1, processes, numbers);
        match self.choices.below(11) {
            0 => format!("!({})", inner(self)),
            at @ 1..=4 => {
                let op = ["&&", "||", "=>", "<=>"][at - 1];
                format!("(({}) {op} ({}))", inner(self), inner(self))
            }
            5 => format!("(if {} then {} else {})", inner(self), inner(self), inner(self)),
            at @ 6..=9 => {
                self.n_bound += 1;
                let name = format!("v{}", self.n_bound);
                let over_processes = self.choices.chance(70);
                let domain = if over_processes { "P" } else { *self.choices.pick(&["0..=2", "0..<2", "1..=1"]) };
                let (mut processes, mut numbers) = (processes.to_vec(), numbers.to_vec());
                if over_processes { &mut processes } else { &mut numbers }.push(name.clone());
                let other = processes.len().checked_sub(2).map(|at| processes[at].clone());
                let body = self.truth(depth - 1, &processes, &numbers);
                let body = match other.filter(|_| over_processes && self.choices.chance(40)) {
                    Some(other) => format!("({name} != {other} => ({body}))"),
                    None => body,
                };
                match at {
                    6 | 7 => format!("(forall {name} in {domain}: {body})"),
                    8 => format!("(exists {name} in {domain}: {body})"),
                    _ => {
                        let most = self.choices.below(3);
                        let op = self.choices.pick(&["<=", "<", ">="]);
                        format!("(count({name} in {domain}: {body}) {op} {most})")
                    }
                }
            }
            _ => inner(self),
        }
    }

    fn atom(&mut self, processes: &[String], numbers: &[String]) -> String {
        let process = match processes.is_empty() || self.choices.chance(4) {
            true => "0".to_owned(),
            false => self.choices.pick(processes).clone(),
        };
        let number = match numbers.is_empty() {
            true => "x".to_owned(),
            false => self.choices.pick(numbers).clone(),
        };
        match self.choices.below(9) {
            0 | 1 => format!("a[{process}]"),
            2 => format!("P[{process}].b"),
            3 => format!("P[{process}]@l"),
            4 => format!("t == P[{process}]"),
            5 => format!("c[{number}]"),
            6 => "6 / x > 2".to_owned(),
            7 => format!("x == {number}"),
            _ => "x <= 1".to_owned(),
        }
    }
}

fn load(property: &str) -> Option<Model> {
    let text = format!(
        "program s(N: 3..) {{ shared a: [bool; N]; shared c: [bool; 3]; shared x: 0..=3; shared t: pid(P) = any;
         process P[i in 0..<N] {{ public b: bool; loop {{ l: a[i] = !a[i]; m: b = !b; n: t = i; }} }}
         process Q[k in 0..<2] {{ loop {{ r: x = 0; s: x = 3; }} }}
         invariant p: {property}; }}"
    );
    lang::load(&SourceFile::new("s.pw", text), &[]).ok().map(|loaded| loaded.model)
}

/// Turns `forall i: f => e` and `exists i: f && e` into quantifiers with a filter, now and then: the language has only some.
fn with_filters(expr: &mut Expr, choices: &mut Choices) {
    match &mut expr.kind {
        ExprKind::Not(inner) => with_filters(inner, choices),
        ExprKind::Binary(_, a, b) => [a, b].into_iter().for_each(|part| with_filters(part, choices)),
        ExprKind::If(test, yes, no) => [test, yes, no].into_iter().for_each(|part| with_filters(part, choices)),
        ExprKind::Quantified(quantified) => {
            with_filters(&mut quantified.body, choices);
            let wanted = match quantified.quantifier {
                Quantifier::Forall => BinaryOp::Implies,
                Quantifier::Exists | Quantifier::Count => BinaryOp::And,
            };
            if let ExprKind::Binary(op, a, b) = &quantified.body.kind
                && *op == wanted
                && quantified.filter.is_none()
                && choices.chance(50)
            {
                let (filter, body) = ((**a).clone(), (**b).clone());
                (quantified.filter, quantified.body) = (Some(filter), body);
            }
        }
        _ => {}
    }
}

fn any_state(model: &Model, choices: &mut Choices) -> State {
    let mut state = initial_states(model).next().unwrap();
    for (id, cell) in model.cells.entries() {
        let values: Vec<_> = cell.ty.values(model.type_context()).collect();
        state.cells[id.index()] = *choices.pick(&values);
    }
    for (id, process) in model.processes.entries() {
        let scope = model::control::Scope::Family(process.family);
        let places: Vec<_> = model.places.entries().filter(|(_, place)| place.scope == scope).collect();
        let control = Control::At(choices.pick(&places).0);
        state.stacks[id.index()] = vec![Frame { control, slots: Vec::new() }];
    }
    state
}

/// The images of a state under all permutations of the first family.
fn images(model: &Model, dimensions: &Dimensions, state: &State) -> Vec<State> {
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    let goes = |order: [usize; 3]| {
        move |process: ProcessId| order.get(process.index()).map_or(process, |&to| ProcessId::new(to))
    };
    orders.iter().map(|&order| permuted(model, dimensions, goes(order), state)).collect()
}

/// Loses or changes something that is stated.
fn change(stated: &mut Vec<StatedClause>, choices: &mut Choices) {
    if stated.is_empty() {
        return;
    }
    let at = choices.below(stated.len());
    let clause = &mut stated[at];
    let n_conditions = clause.conditions.len();
    match choices.below(7) {
        0 | 1 => drop(stated.remove(at)),
        2 if n_conditions > 0 => drop(clause.conditions.remove(choices.below(n_conditions))),
        3 => clause.conditions.push(clause.claim.clone()),
        4 => {
            let literal = match n_conditions > 0 && choices.chance(50) {
                true => &mut clause.conditions[choices.below(n_conditions)],
                false => &mut clause.claim,
            };
            literal.demand = *choices.pick(&[Demand::True, Demand::False, Demand::HasValue]);
        }
        5 => {
            let bound = clause.conditions.iter_mut().chain([&mut clause.claim]).flat_map(|literal| &mut literal.bound);
            let bound: Vec<&mut String> = bound.collect();
            let which = choices.below(bound.len().max(1));
            if let Some(value) = bound.into_iter().nth(which) {
                *value = choices.pick(&["0", "1", "2", "P[0]", "P[1]", "P[2]"]).to_string();
            }
        }
        _ => {
            clause.claim.path.pop();
        }
    }
}

/// Whether the clauses hold in all states.
fn all_hold(model: &Model, clauses: &[Clause<'_>], states: &[State]) -> bool {
    states.iter().all(|state| clauses.iter().all(|clause| evaluate(model, state, clause).is_none()))
}

#[test]
fn what_follows_is_true_wherever_all_that_is_stated_is() {
    let (mut n_alike, mut n_accepted, mut n_refused, mut n_premises) = (0, 0, 0, 0);
    for seed in 0..1200 {
        let mut choices = Choices::from_seed(seed);
        let depth = 1 + choices.below(4);
        let text = Writer { choices: &mut choices, n_bound: 0 }.truth(depth, &[], &[]);
        // Two comparisons in a row, or a quantifier that the reader may take otherwise, are no property.
        let Some(mut model) = load(&text) else { continue };
        let id = model.properties.entries().find(|(_, one)| one.name == "p").unwrap().0;
        if let PropertyKind::Invariant(expr) = &mut model.properties[id].kind {
            with_filters(expr, &mut choices);
        }
        let (kind, budget, terms) = (&model.properties[id].kind, Budget::unlimited(), Terms::new(&model));
        let PropertyKind::Invariant(expr) = kind else { panic!("it is an invariant") };
        let dimension = ProcessDimension { var: VarId::new(0), dimension: 0, family: FamilyId::new(0) };
        let dimensions = Dimensions::from([((dimension.var, 0), dimension.family)]);
        let symmetry = Symmetry::stated(&model, kind, &certificate::Symmetry { dimensions: vec![dimension] }).unwrap();
        let alike = Some(&symmetry).filter(|symmetry| symmetry.property_alike());
        n_alike += usize::from(alike.is_some());
        let whole: Vec<StatedClause> = testkit::implication::some(&model, kind, &mut choices)
            .into_iter()
            .filter_map(|implied| match implied.part {
                Part::Clause(clause) => Some(clause),
                _ => None,
            })
            .collect();
        let states: Vec<State> = (0..6).map(|_| any_state(&model, &mut choices)).collect();
        for round in 0..8 {
            let mut stated = whole.clone();
            (0..round.min(3)).for_each(|_| change(&mut stated, &mut choices));
            let found = stated.iter().map(|clause| Clause::stated(&terms, expr, clause)).collect::<Result<Vec<_>, _>>();
            let Ok(clauses) = found else { continue };
            for symmetry in [None, alike] {
                let found = Cover::new(&terms, &clauses, symmetry, &budget).check(expr, Demand::True);
                assert!(round > 0 || found.is_ok(), "`{text}` does not follow from {stated:#?}: {found:?}");
                match found {
                    Ok(()) => n_accepted += 1,
                    Err(_) => {
                        n_refused += 1;
                        continue;
                    }
                }
                for state in &states {
                    let all = if symmetry.is_some() { images(&model, &dimensions, state) } else { vec![state.clone()] };
                    if all_hold(&model, &clauses, &all) {
                        n_premises += 1;
                        let is_true = |state| Viewpoint::new(&model, state, None).truth(expr) == Ok(true);
                        assert!(all.iter().all(is_true), "seed {seed}: `{text}` is said to follow from {stated:#?}");
                    }
                }
            }
        }
    }
    let counts = (n_alike, n_accepted, n_refused, n_premises);
    assert!(counts.0 > 200 && counts.1 > 2000 && counts.2 > 2000 && counts.3 > 2000, "{counts:?}");
}

/// Of clauses that are images of each other, one is enough where the property is its own image.
#[test]
fn one_clause_stands_for_its_images() {
    let model = load("forall i in P: forall j in P: i != j => !(P[i]@l && P[j]@l)").unwrap();
    let property = model.properties.iter().find(|one| one.name == "p").unwrap();
    let PropertyKind::Invariant(expr) = &property.kind else { panic!("it is an invariant") };
    let dimension = ProcessDimension { var: VarId::new(0), dimension: 0, family: FamilyId::new(0) };
    let stated = certificate::Symmetry { dimensions: vec![dimension] };
    let symmetry = Symmetry::stated(&model, &property.kind, &stated).unwrap();
    let (terms, budget) = (Terms::new(&model), Budget::unlimited());
    let clause = |i: &str, j: &str| {
        let literal = |path: &[usize]| evidence::implication::Literal {
            path: path.to_vec(),
            bound: vec![i.to_owned(), j.to_owned()],
            demand: Demand::True,
        };
        let stated = StatedClause { conditions: vec![literal(&[0, 0, 0])], claim: literal(&[0, 0, 1]) };
        Clause::stated(&terms, expr, &stated).unwrap()
    };
    let follows = |clauses: &[Clause<'_>], symmetry| {
        Cover::new(&terms, clauses, symmetry, &budget).check(expr, Demand::True).is_ok()
    };
    let (one, same) = (clause("P[1]", "P[2]"), clause("P[1]", "P[1]"));
    assert!(follows(&[one.clone(), same.clone()], Some(&symmetry)));
    assert!(
        !follows(std::slice::from_ref(&one), Some(&symmetry)) && !follows(std::slice::from_ref(&same), Some(&symmetry))
    );
    assert!(!follows(&[one, same], None));
}
