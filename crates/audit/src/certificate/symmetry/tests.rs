//! Permutations that are accepted take reachable states to reachable states and steps to steps, and an accepted property is as
//! true of a state as of its image: on random programs with random dimensions stated, by brute force.

use std::cell::Cell;
use std::collections::{BTreeSet, HashSet};

use evidence::certificate::{self, ProcessDimension};
use model::Model;
use model::eval::{State, Viewpoint, steps};
use model::expr::{Domain, Expr, Quantifier};
use model::process::{Family, FamilyId, ProcessId};
use model::property::PropertyKind;
use model::types::ScalarType;
use model::value::Value;
use model::variable::{Storage, VarId};
use testkit::choices::Choices;
use testkit::expr::{bound, constant, element, equal, index_of, int, of, quantified, read, shared};
use testkit::permutation::permuted;
use testkit::{Product, RandomFeatures, for_each_program};

use super::Symmetry;

/// Some of the dimensions that have as many elements as a family has processes.
fn some_dimensions(model: &Model, choices: &mut Choices) -> certificate::ClaimedSymmetry {
    let mut dimensions = Vec::new();
    for (var, declared) in model.vars.entries() {
        for (dimension, len) in declared.ty.dimensions().into_iter().enumerate() {
            let fits = |&family: &FamilyId| model.families[family].count() == len && len > 1;
            let families: Vec<FamilyId> = model.families.ids().filter(fits).collect();
            if !families.is_empty() && choices.chance(60) {
                let family = families[choices.below(families.len())];
                dimensions.push(ProcessDimension { var, dimension, family });
            }
        }
    }
    certificate::ClaimedSymmetry { dimensions }
}

/// Properties that index arrays by processes and by numbers.
fn properties(model: &Model) -> Vec<Expr> {
    let mut found = Vec::new();
    for (var, declared) in model.vars.entries() {
        let Some(first) = declared.ty.scalar().first_value(model.type_context()) else { continue };
        let n_dimensions = declared.ty.dimensions().len();
        if matches!(declared.ty.scalar(), ScalarType::Lock) || n_dimensions == 0 {
            continue;
        }
        for (family, members) in model.families.entries().filter(|(_, family)| family.index.is_some()) {
            let whose = |who: Expr| match declared.storage {
                Storage::Shared => Some(shared(var)),
                Storage::Public(owner) if owner == family => Some(of(var, who)),
                Storage::Public(_) | Storage::Local(_) | Storage::Frame(_) => None,
            };
            let (Some(any), Some(one)) = (whose(bound(0)), whose(constant(Value::Process(members.first)))) else {
                continue;
            };
            let by = |access, index: Expr| (0..n_dimensions).fold(access, |access, _| element(access, index.clone()));
            let is_first = |access| equal(read(access), constant(first));
            let all = |body| quantified(Quantifier::Forall, 0, Domain::Family(family), body);
            found.push(all(is_first(by(any.clone(), index_of(bound(0))))));
            found.push(all(is_first(by(any, int(0)))));
            found.push(is_first(by(one, int(1))));
        }
    }
    found
}

struct Case<'m> {
    model: &'m Model,
    symmetry: Symmetry<'m>,
    product: Product,
}

impl Case<'_> {
    fn image(&self, permutation: &super::Permutation, state: &State) -> State {
        permuted(self.model, &self.symmetry.dimensions, |process| permutation.of(process), state)
    }

    fn generators(&self) -> Vec<super::Permutation> {
        let all_of = |family: &Family| self.symmetry.all_of(&family.processes().collect::<Vec<_>>());
        self.model.families.iter().flat_map(all_of).collect()
    }

    fn steps_go_to_steps(&self) -> Result<(), String> {
        let known: HashSet<&State> = self.product.states.iter().collect();
        let outcomes = |state: &State, map: &dyn Fn(&State) -> State| -> (BTreeSet<State>, usize) {
            let steps = steps(self.model, state);
            let n_faults = steps.iter().filter(|step| step.result.is_err()).count();
            (steps.iter().filter_map(|step| step.result.as_ref().ok()).map(map).collect(), n_faults)
        };
        for permutation in self.generators() {
            for state in &self.product.states {
                let image = self.image(&permutation, state);
                if !known.contains(&image) {
                    return Err("the image of a reachable state is not reachable".to_owned());
                }
                let there = outcomes(state, &|next| self.image(&permutation, next));
                if there != outcomes(&image, &State::clone) {
                    return Err("the image of a state has other steps".to_owned());
                }
            }
        }
        Ok(())
    }

    fn truth_is_the_same(&self, expr: &Expr) -> Result<(), String> {
        for permutation in self.generators() {
            for state in &self.product.states {
                let truth = |state: &State| Viewpoint::new(self.model, state, None).truth(expr).map_err(|_| ());
                if truth(state) != truth(&self.image(&permutation, state)) {
                    return Err(format!("{expr:?} is not as true of the image of a state"));
                }
            }
        }
        Ok(())
    }
}

#[test]
fn accepted_permutations_take_steps_to_steps() {
    let (n_accepted, n_refused, n_alike) = (Cell::new(0), Cell::new(0), Cell::new(0));
    let seeds = Cell::new(0);
    for_each_program(900, RandomFeatures { procedures: false, ..RandomFeatures::everything() }, |_, model| {
        if model.families.iter().all(|family| family.count() < 2) {
            return Ok(());
        }
        seeds.set(seeds.get() + 1);
        let mut choices = Choices::from_seed(seeds.get());
        for _ in 0..3 {
            let stated = some_dimensions(model, &mut choices);
            let Ok(symmetry) = Symmetry::stated(model, &PropertyKind::NoErrors, &stated) else {
                n_refused.set(n_refused.get() + 1);
                continue;
            };
            let Some(product) = Product::explore(model, 150) else { return Ok(()) };
            n_accepted.set(n_accepted.get() + 1);
            let case = Case { model, symmetry, product };
            case.steps_go_to_steps()?;
            for expr in properties(model) {
                let kind = PropertyKind::Invariant(expr.clone());
                if Symmetry::stated(model, &kind, &stated).is_ok_and(|found| found.property_alike) {
                    n_alike.set(n_alike.get() + 1);
                    case.truth_is_the_same(&expr)?;
                }
            }
        }
        Ok(())
    });
    let counts = (n_accepted.get(), n_refused.get(), n_alike.get());
    assert!(counts.0 > 60 && counts.1 > 60 && counts.2 > 20, "accepted, refused, alike: {counts:?}");
}

/// The program of issue 12: the text indexes `a` by numbers, the property by processes.
#[test]
fn issue_0012_the_stated_dimensions_decide() {
    let text =
        "program s(N: 2..) { shared a: [bool; N]; process P[i in 0..<N] { loop { s: a[1] = true; c: a[0] = false; } }
                invariant p: forall i: !(P[i]@c && a[i]); }";
    let loaded = lang::load(&base::SourceFile::new("s.pw", text), &[]).expect("it is a program");
    let model = &loaded.model;
    let kind = &model.properties.iter().find(|one| one.name == "p").expect("it asks `p`").kind;
    let nothing = certificate::ClaimedSymmetry::default();
    let fixed = Symmetry::stated(model, kind, &nothing).expect("the program is its own image if `a` stays");
    assert!(!fixed.property_alike, "the property is not");
    let dimension = ProcessDimension { var: VarId::new(0), dimension: 0, family: FamilyId::new(0) };
    let moved = certificate::ClaimedSymmetry { dimensions: vec![dimension] };
    let why = Symmetry::stated(model, kind, &moved).err().expect("the program is not its own image if `a` moves");
    assert!(why.contains("one process, or the element of one process, is named in `a[1] = true`"), "{why}");
}

/// Only processes of one family are permuted.
#[test]
fn swaps_of_two_families_are_refused() {
    let text = "program two { process P[i in 0..<2] { skip; } process Q[j in 0..<2] { skip; } }";
    let model = lang::load(&base::SourceFile::new("two.pw", text), &[]).map_err(|_| "a program").unwrap().model;
    let stated = certificate::ClaimedSymmetry::default();
    let symmetry = Symmetry::stated(&model, &PropertyKind::NoErrors, &stated).unwrap();
    let [p, other, q] = [0, 1, 2].map(ProcessId::new);
    assert!(symmetry.swapped(&[[p, other]]).is_ok());
    for wrong in [[p, q], [q, p], [p, ProcessId::new(9)], [ProcessId::new(9), p]] {
        let refusal = symmetry.swapped(&[[p, other], wrong]).err().unwrap();
        assert!(refusal.contains("not of one family"), "{refusal}");
    }
}
