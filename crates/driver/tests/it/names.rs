//! Claims about runs have a table of the names of states and marks of the automaton that they speak of: a table with a name that there is not, with one
//! that stands there twice, with one left out, or with two exchanged, is refused, whichever method wrote the claim.

use audit::certificate::{CertificateError, check};
use base::{Budget, SourceFile};
use driver::methods;
use engine::{Engine, Silent, Task, Verdict};
use evidence::Evidence;
use evidence::certificate::{Certificate, Claim};
use evidence::plain::AutomatonNames;
use model::Model;
use propagate::Propagate;

const MUX: &str = "program m(N: 2..) { shared x: sem = 1;
    process P[i in 0..<N] { loop { t: acquire x; c: skip; l: release x; } }
    property live: forall i in P: P[i]@t ~> P[i]@c under strong P[*]@t, every P[*];
    property again: (always eventually P[0]@c) => (always eventually P[0]@t) under strong P[*]@t, every P[*];
    property twice: eventually (P[0]@c && eventually P[0]@c) under strong P[*]@t, every P[*]; }";

fn load(text: &str) -> Model {
    match lang::load(&SourceFile::new("names.pw", text), &[]) {
        Ok(loaded) => loaded.model,
        Err(diagnostics) => panic!("{diagnostics:?}\n{text}"),
    }
}

/// What a method proves of a property; where it is none of the table, for every size.
fn proof(method: Option<&str>, model: &Model, property: &str) -> Certificate {
    let properties = vec![driver::select::find(model, property).unwrap()];
    let task = Task { model, properties, budget: Budget::unlimited(), n_threads: 1 };
    let verdict = match method {
        Some(method) => {
            methods::checker(methods::find(method).unwrap()).check(&task, &Silent).unwrap().remove(0).verdict
        }
        None => Propagate::for_every_size().run(&task, &Silent).unwrap().remove(0).verdict,
    };
    match verdict {
        Verdict::Holds(Evidence::Certificate(proof)) => *proof,
        other => panic!("{property} by {method:?}: {other:?}"),
    }
}

fn table(claim: &mut Claim) -> Option<&mut AutomatonNames> {
    match claim {
        Claim::NoFairRun(claim) => Some(&mut claim.automaton),
        Claim::Refutation(claim) => Some(&mut claim.automaton),
        Claim::Crowd(claim) => Some(&mut claim.automaton),
        _ => None,
    }
}

/// Ranks, refutations at one size, refutations at every size.
fn kind(claim: &Claim) -> usize {
    match claim {
        Claim::NoFairRun(_) => 0,
        Claim::Refutation(_) => 1,
        _ => 2,
    }
}

/// Changes of a table that has a state.
type Edit = fn(&mut AutomatonNames);

/// After which a table is none of the automaton's.
const WRONG: [(&str, Edit); 5] = [
    ("an unknown state", |table| table.states[0].extend(["always [P[7]@c]".to_owned()])),
    ("a state twice", |table| table.states.push(table.states[0].clone())),
    ("a state in other words", |table| {
        table.states[0] = table.states[0].iter().map(|name| format!("({name})")).collect()
    }),
    ("an unknown mark", |table| table.marks.push("eventually [P[7]@c]".to_owned())),
    ("a mark twice", |table| table.marks = vec!["eventually [P[0]@c]".to_owned(); 2]),
];

#[test]
fn tables_of_names_are_those_of_the_automaton() {
    let (mut n_tables, mut n_pairs) = ([0; 3], 0);
    let ticket = std::fs::read_to_string("../../examples/ticket.pw").unwrap();
    let whole = (load(MUX), &["live", "again", "twice"][..], &[Some("fll-a"), Some("fll-b"), None][..]);
    for (model, properties, methods) in [whole, (load(&ticket), &["live"], &[Some("propagate")])] {
        for (&method, &property) in methods.iter().flat_map(|method| properties.iter().map(move |one| (method, one))) {
            let asked = &model.properties[driver::select::find(&model, property).unwrap()];
            let proof = proof(method, &model, property);
            let checked = |proof: &Certificate| check(&model, asked, proof, &Budget::unlimited());
            let text = evidence::proof_file::to_text(&model, &proof, "some");
            let read = evidence::proof_file::read(text.as_bytes(), &model).unwrap();
            assert_eq!(read, proof, "{text}");
            checked(&read).unwrap();
            for at in 0..proof.facts.len() {
                let edited = |edit: &dyn Fn(&mut AutomatonNames)| {
                    let mut edited = proof.clone();
                    table(&mut edited.facts[at].claim).map(edit).map(|()| checked(&edited))
                };
                let n_names = |names: &AutomatonNames| [names.states.len(), names.marks.len()];
                let Some(used) = table(&mut proof.clone().facts[at].claim).map(|table| n_names(table)) else {
                    continue;
                };
                if used[0] == 0 {
                    continue;
                }
                n_tables[kind(&proof.facts[at].claim)] += 1;
                for (what, wrong) in WRONG {
                    let outcome = edited(&wrong).unwrap();
                    let is_refused = matches!(outcome, Err(CertificateError::Malformed(_)));
                    assert!(is_refused, "{property} by {method:?}, {what}: {outcome:?}\n{text}");
                }
                let outcome = edited(&|table| drop(table.states.pop())).unwrap();
                assert!(outcome.is_err(), "{property} by {method:?}, a state is missing: {outcome:?}");
                // Points in components of which the same follows may be exchanged.
                if used[0] > 1 && matches!(proof.facts[at].claim, Claim::NoFairRun(_)) {
                    n_pairs += 1;
                    let outcome = edited(&|table| table.states.swap(0, 1)).unwrap();
                    assert!(outcome.is_err(), "{property} by {method:?}, two are exchanged: {outcome:?}\n{text}");
                }
            }
        }
    }
    assert!(n_tables.iter().all(|&n| n > 0) && n_pairs >= 3, "{n_tables:?} tables, {n_pairs} pairs");
}

/// What stands twice in a property is one atom of its automaton, and a process by its number is not one by a variable.
#[test]
fn atoms_are_told_apart_by_what_they_say() {
    let model = load(
        "program m { shared x: [bool; 2]; process P[i in 0..<2] { loop { a: x[i] = !x[i]; b: skip; } }
         property same: eventually (P[0]@b && eventually P[0]@b);
         property other: forall i in P: eventually (P[i]@b && eventually P[0]@b); }",
    );
    let names = |property: &str| {
        let asked = &model.properties[driver::select::find(&model, property).unwrap()];
        let model::property::PropertyKind::Temporal(formula) = &asked.kind else { panic!("it is about runs") };
        let list = evidence::plain::violations(&model, asked, formula).unwrap();
        list.iter().map(|one| (one.automaton.atoms.len(), one.automaton.names(&model))).collect::<Vec<_>>()
    };
    let [(1, same)] = &names("same")[..] else { panic!("{:?}", names("same")) };
    assert!(same.states.iter().flatten().any(|name| name == "always ![P[0]@b]"), "{same:?}");
    let [(2, first), (2, second)] = &names("other")[..] else { panic!("{:?}", names("other")) };
    for names in [first, second] {
        let mut states = names.states.clone();
        states.sort();
        states.dedup();
        assert_eq!(states.len(), names.states.len(), "{names:?}");
    }
    assert!(second.states.iter().flatten().any(|name| name.contains("[P[1]@b]")), "{second:?}");
}
