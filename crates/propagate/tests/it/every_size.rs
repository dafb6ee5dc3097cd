//! Proofs for every size: what is proved and checked, and that false twins are not.

use audit::certificate;
use base::{Budget, SourceFile};
use engine::{Engine, PropertyId, Silent, Task, Verdict};
use evidence::certificate::Claim;
use evidence::crowd::{Branch, Lasting};
use evidence::{Certificate, Evidence, Scope};
use model::Model;
use propagate::Propagate;

fn program(text: &str, size: i64) -> Model {
    let source = SourceFile::new("test.pw", text);
    lang::load(&source, &[("N".to_owned(), size)]).unwrap_or_else(|wrong| panic!("{wrong:?}")).model
}

fn example(name: &str) -> Model {
    let path = format!("{}/../../examples/{name}.pw", env!("CARGO_MANIFEST_DIR"));
    program(&std::fs::read_to_string(&path).expect("the example is there"), 2)
}

fn named(model: &Model, property: &str) -> PropertyId {
    model.properties.entries().find(|(_, one)| one.name == property).expect("the property is there").0
}

/// The proof for every size, which is checked.
fn proof(model: &Model, property: &str) -> Result<Certificate, String> {
    let id = named(model, property);
    let task = Task { model, properties: vec![id], budget: Budget::unlimited(), n_threads: 1 };
    match Propagate::for_every_size().run(&task, &Silent).unwrap().remove(0).verdict {
        Verdict::Holds(Evidence::Certificate(proof)) => {
            certificate::check(model, &model.properties[id], &proof, &Budget::unlimited())
                .unwrap_or_else(|wrong| panic!("{property}: {wrong}"));
            assert!(matches!(proof.scope, Scope::AllSizes { from: 2, .. }));
            Ok(*proof)
        }
        Verdict::Unknown(reason) => Err(reason.to_string()),
        other => panic!("{property}: {other:?}"),
    }
}

fn is_proved(model: &Model, property: &str) -> bool {
    proof(model, property).is_ok()
}

#[test]
fn semaphores_and_locks_are_given_to_everybody() {
    let model = example("mux_sem");
    assert_eq!(["live", "busy", "unfair"].map(|name| is_proved(&model, name)), [true, true, false]);
    let model = example("mux_sem_nondet");
    let proved = ["live", "squat", "printed"].map(|name| is_proved(&model, name));
    assert_eq!(proved, [true, false, false]);
    assert!(is_proved(&example("mux_sem_last"), "live"));
}

/// A lock that says who has it, in a cell of its own; whoever leaves hands it to somebody who waits, if there is one.
const LOCKS: &str = "
program locks(N: 2..) {
  shared m: lock;
  shared owner: pid? = none;

  process P[i in 0..<N] {
    loop {
      think: idle;
      want:  acquire m;
      mine:  owner = i;
      crit:  skip;
      free:  owner = none;
      leave: release m;
    }
  }

  property live:    forall i: P[i]@want ~> P[i]@crit under every P[*], strong P[*]@want;
  property again:   forall i: P[i]@crit ~> P[i]@think under every P[*];
  property weakly:  forall i: P[i]@want ~> P[i]@crit under every P[*], weak P[*]@want;
  property nobody:  forall i: P[i]@want ~> P[i]@crit under strong P[*]@want;
  property freed:   always eventually m.owner == none under every P[*];
}";

#[test]
fn a_lock_that_names_its_owner_is_given_to_everybody() {
    let model = program(LOCKS, 2);
    let proved = ["live", "again", "weakly", "nobody", "freed"].map(|name| is_proved(&model, name));
    assert_eq!(proved, [true, true, false, false, true]);
}

#[test]
fn reasons_are_given_where_the_property_is_about_more() {
    let model = program(
        "program two(N: 2..) {
           shared x: 0..=3;
           process P[i in 0..<N] { loop { a: idle; b: x = (x + 1) % 4; } }
           property pair:  forall i, j: P[i]@b ~> P[j]@a under every P[*];
           property size:  always (x < N || x >= 0);
           property first: P[0]@b ~> P[0]@a under every P[*];
           property all:   always eventually (forall i: P[i]@a) under every P[*];
           property one:   forall i: P[i]@b ~> P[i]@a under every P[*];
         }",
        2,
    );
    for name in ["pair", "size", "all"] {
        assert!(proof(&model, name).is_err(), "{name}");
    }
    assert!(is_proved(&model, "one") && is_proved(&model, "first"));
}

fn change(branches: &mut Vec<Branch>, at: &mut usize) -> bool {
    for number in 0..branches.len() {
        if *at == 0 {
            branches.remove(number);
            return true;
        }
        *at -= 1;
        let inner = match &mut branches[number].because {
            Lasting::Others(inner) => inner,
            Lasting::Named { branches, .. } | Lasting::Holder { branches, .. } => branches,
        };
        if change(inner, at) {
            return true;
        }
    }
    false
}

#[test]
fn what_is_not_a_proof_is_refused() {
    let model = example("mux_sem");
    let (id, proof) = (named(&model, "live"), proof(&model, "live").unwrap());
    let property = &model.properties[id];
    let accepts = |proof: &Certificate| certificate::check(&model, property, proof, &Budget::unlimited()).is_ok();
    let with = |change: &dyn Fn(&mut evidence::crowd::CrowdRefutation)| {
        let mut changed = proof.clone();
        for fact in &mut changed.facts {
            if let Claim::Crowd(claim) = &mut fact.claim {
                change(claim);
            }
        }
        changed
    };
    assert!(accepts(&proof));
    // Without one of the branches, without a sum, with another sum.
    let mut n_refused = 0;
    loop {
        let mut is_changed = false;
        let changed = with(&|claim| _ = change(&mut claim.branches, &mut n_refused.clone()));
        is_changed |= changed != proof;
        if !is_changed {
            break;
        }
        assert!(!accepts(&changed), "without branch {n_refused}");
        n_refused += 1;
    }
    assert!(n_refused > 0);
    assert!(!accepts(&with(&|claim| claim.sums.clear())));
    assert!(!accepts(&with(&|claim| claim.sums.iter_mut().for_each(|sum| sum.right[0] += 1))));
    assert!(!accepts(&with(&|claim| claim
        .sums
        .iter_mut()
        .for_each(|sum| sum.left.iter_mut().for_each(|one| *one = 1)))));
    // Of views that are too few, of another property, for sizes that it says nothing about.
    let mut fewer = proof.clone();
    if let Claim::Views(views) = &mut fewer.facts[0].claim {
        views.views.pop();
    }
    assert!(!accepts(&fewer));
    let unfair = &model.properties[named(&model, "unfair")];
    let mut other = proof.clone();
    other.property.clone_from(&unfair.name);
    assert!(certificate::check(&model, unfair, &other, &Budget::unlimited()).is_err());
    let mut smaller = proof.clone();
    smaller.scope = Scope::AllSizes { parameter: "N".to_owned(), from: 1, checked: Vec::new() };
    assert!(!accepts(&smaller));
}

/// What a component lives in is listed for people; a list that leaves out a view would let them be told what is not so.
#[test]
fn a_list_of_views_that_leaves_one_out_is_refused() {
    let model = program(LOCKS, 2);
    let names = model.properties.iter().filter(|one| is_proved(&model, &one.name)).map(|one| one.name.clone());
    let mut n_refused = 0;
    for name in names.collect::<Vec<_>>() {
        let whole = proof(&model, &name).unwrap();
        let mut changed = whole.clone();
        let mut n_lists = 0;
        for fact in &mut changed.facts {
            let Claim::Crowd(claim) = &mut fact.claim else { continue };
            for branch in &mut claim.branches {
                n_lists += 1;
                assert!(branch.views.contains(&branch.view));
                branch.views.retain(|view| *view != branch.view);
                // An empty list says nothing.
                branch.views.push(usize::MAX);
            }
        }
        if n_lists > 0 {
            let property = &model.properties[named(&model, &name)];
            assert!(certificate::check(&model, property, &changed, &Budget::unlimited()).is_err(), "{name}");
            n_refused += 1;
        }
    }
    assert!(n_refused > 0);
}
