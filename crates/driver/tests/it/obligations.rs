//! Proofs say which part of a property follows from which processes, and the checker refuses those that leave a part out, name it for the
//! wrong processes, or name one that there is not.
//!
//! Each proof is one that a method gave; of the changed ones none may be accepted, but those that say the same in other words.

use base::{Budget, SourceFile};
use driver::methods;
use engine::{Silent, Task, Verdict};
use evidence::implied::{Cut, Implied};
use evidence::{Certificate, Evidence};
use model::Model;
use model::process::ProcessId;

/// A lock that knows its owner; the first process may also break in, so that processes are not alike where `N` is told so.
const LOCK: &str = "program lock {
  shared owner: pid(P)? = none;
  shared n: 0..=3 = 0;
  process P[i in 0..<3] {
    loop {
      a: atomic { await owner == none; owner = i; n = n + 1; }
      c: skip;
      d: atomic { owner = none; n = n - 1; }
    }
  }
  invariant both: (forall i: P[i]@c => owner == i) && n <= 1;
  invariant some: (exists i: P[i]@c) => owner != none;
  invariant iff: forall i: P[i]@{c, d} <=> owner == i;
  invariant few: count(i: P[i]@c) <= 1;
  invariant chosen: forall i: if P[i]@c then owner == i else owner != i || P[i]@d;
  invariant mutex: forall i != j: !(P[i]@c && P[j]@c);
  reachable broken: exists i: exists j: i != j && P[i]@c && P[j]@c;
}";

fn load(text: &str) -> Model {
    match lang::load(&SourceFile::new("obligations.pw", text), &[]) {
        Ok(loaded) => loaded.model,
        Err(diagnostics) => panic!("{diagnostics:?}\n{text}"),
    }
}

/// The proof that a method gives, if it gives one.
fn proof(model: &Model, property: &str, method: &str) -> Option<Certificate> {
    let properties = vec![driver::select::find(model, property).unwrap()];
    let task = Task { model, properties, budget: Budget::unlimited(), n_threads: 1 };
    let answers = methods::checker(methods::find(method).unwrap()).check(&task, &Silent);
    let answers = answers.unwrap_or_else(|mistake| panic!("{method}, {property}: {mistake}"));
    match answers.into_iter().next().map(|answer| answer.verdict) {
        Some(Verdict::Holds(Evidence::Certificate(proof)) | Verdict::Violated(Evidence::Certificate(proof))) => {
            Some(*proof)
        }
        _ => None,
    }
}

/// Why the checker refuses a proof, if it does.
fn refusal(model: &Model, certificate: &Certificate) -> Option<String> {
    let id = driver::select::find(model, &certificate.property).unwrap();
    let checked = audit::certificate::check(model, &model.properties[id], certificate, &Budget::unlimited());
    checked.err().map(|error| error.to_string())
}

const METHODS: [&str; 9] =
    ["tmmc", "split", "pairwise", "triple", "completion", "ls3", "forward", "backward", "pushdown"];

/// Every proof of the properties by every method that gives one by parts.
fn for_each_proof(model: &Model, mut show: impl FnMut(&str, &Certificate)) -> usize {
    let mut n_proofs = 0;
    for method in METHODS {
        for property in &model.properties {
            let Some(certificate) = proof(model, &property.name, method) else { continue };
            if !certificate.implies.is_empty() {
                n_proofs += 1;
                show(&format!("{method}, {}", property.name), &certificate);
            }
        }
    }
    n_proofs
}

/// Another program with the same text in which the first process is not like the others.
fn with_one_apart() -> Model {
    load(&LOCK.replace("c: skip;", "c: if P[i] == P[0] { skip; } else { skip; }"))
}

#[test]
fn a_part_that_is_left_out_is_missed() {
    for model in [load(LOCK), with_one_apart()] {
        let n_proofs = for_each_proof(&model, |what, proof| {
            assert_eq!(refusal(&model, proof), None, "{what}");
            for at in 0..proof.implies.len() {
                let mut fewer = proof.clone();
                let part = fewer.implies.remove(at);
                let why = refusal(&model, &fewer).unwrap_or_else(|| panic!("{what}: {part:?} was not missed"));
                assert!(
                    ["nothing is said", "does not say", "implies the property"].iter().any(|said| why.contains(said)),
                    "{what}: {why}"
                );
            }
        });
        assert!(n_proofs > 25, "{n_proofs}");
    }
}

#[test]
fn a_part_has_to_follow_from_those_whom_it_is_about() {
    let model = load(LOCK);
    for_each_proof(&model, |what, proof| {
        for (at, part) in proof.implies.iter().enumerate() {
            let from = match part {
                Implied::Clause { from, .. } | Implied::NoFault { from, .. } | Implied::NoRace { from, .. } => from,
                Implied::NoDeadlock { .. } => continue,
            };
            let mut wrong: Vec<Vec<ProcessId>> =
                vec![Vec::new(), vec![ProcessId::new(7)], [from.as_slice(), from].concat()];
            // Nobody but the last process, where the part is about others, too.
            if from.len() > 1 {
                wrong.push(vec![ProcessId::new(2)]);
            }
            for other in wrong {
                let mut changed = proof.clone();
                match &mut changed.implies[at] {
                    Implied::Clause { from, .. } | Implied::NoFault { from, .. } | Implied::NoRace { from, .. } => {
                        *from = other.clone();
                    }
                    Implied::NoDeadlock { .. } => {}
                }
                assert!(refusal(&model, &changed).is_some(), "{what}: {part:?} from {other:?}");
            }
        }
    });
}

/// What another cut may stand for one: a side for the other, an instance that the filter leaves out, or that there is not.
fn other_cuts(cut: &Cut) -> Vec<Cut> {
    let renamed = |choice: &[(String, String)], value: &str| -> Vec<(String, String)> {
        choice.iter().map(|(name, _)| (name.clone(), value.to_owned())).collect()
    };
    let unknown = |choice: &[(String, String)]| -> Vec<(String, String)> {
        choice.iter().map(|(_, value)| ("nobody".to_owned(), value.clone())).collect()
    };
    match cut {
        Cut::Left => vec![Cut::Right, Cut::Then],
        Cut::Right | Cut::RightUnderLeft => vec![Cut::Left, Cut::Then],
        Cut::Then => vec![Cut::Left, Cut::Instance(Vec::new())],
        Cut::Instance(choice) => {
            vec![
                Cut::Instance(renamed(choice, "9")),
                Cut::Instance(unknown(choice)),
                Cut::Case(choice.clone()),
                Cut::HasValue(choice.clone()),
            ]
        }
        Cut::Case(choice) => vec![Cut::Case(renamed(choice, "9")), Cut::Instance(choice.clone())],
        Cut::HasValue(choice) => vec![Cut::HasValue(renamed(choice, "9")), Cut::Instance(choice.clone())],
        Cut::NotAll(chosen) => vec![
            Cut::NotAll(vec![chosen[0].clone(); chosen.len()]),
            Cut::NotAll(chosen[1..].to_vec()),
            Cut::NotAll(chosen.iter().map(|choice| renamed(choice, "9")).collect()),
        ],
    }
}

#[test]
fn a_part_that_there_is_not_is_refused() {
    let model = load(LOCK);
    let mut n_changed = 0;
    for_each_proof(&model, |what, proof| {
        for at in 0..proof.implies.len() {
            let Implied::Clause { cuts, .. } = &proof.implies[at] else { continue };
            for (step, cut) in cuts.iter().enumerate() {
                for other in other_cuts(cut) {
                    let mut changed = proof.clone();
                    if let Implied::Clause { cuts, .. } = &mut changed.implies[at] {
                        cuts[step] = other.clone();
                    }
                    n_changed += 1;
                    assert!(refusal(&model, &changed).is_some(), "{what}: {cut:?} as {other:?}");
                }
            }
            let mut longer = proof.clone();
            if let Implied::Clause { cuts, .. } = &mut longer.implies[at] {
                cuts.push(Cut::Left);
            }
            assert!(refusal(&model, &longer).is_some(), "{what}: one step more");
        }
    });
    assert!(n_changed > 100, "{n_changed}");
}

#[test]
fn parts_of_another_kind_are_refused() {
    let model = load(LOCK);
    let [first, last] = [ProcessId::new(0), ProcessId::new(2)];
    let others = [
        Implied::Clause { cuts: Vec::new(), from: vec![first] },
        Implied::NoFault { movers: vec![first], from: vec![first] },
        Implied::NoFault { movers: vec![first, last], from: vec![first, last] },
        Implied::NoRace { movers: [vec![first], vec![last]], from: vec![first, last] },
        Implied::NoDeadlock { from: vec![vec![first]] },
    ];
    for (property, n_right) in [("no_errors", 1), ("deadlock_free", 0), ("mutex", 0)] {
        let certificate = proof(&model, property, "tmmc").unwrap();
        let accepted = others.iter().filter(|&other| {
            let mut more = certificate.clone();
            more.implies.push(other.clone());
            refusal(&model, &more).is_none()
        });
        assert_eq!(accepted.count(), n_right, "{property}");
    }
    // A property of runs is not implied by parts.
    let live =
        load(&LOCK.replace("reachable", "property live: forall i: P[i]@c ~> P[i]@a under weak P[*];\n  reachable"));
    for method in ["ll", "fll-b", "propagate"] {
        let Some(mut certificate) = proof(&live, "live", method) else { continue };
        assert_eq!(refusal(&live, &certificate), None, "{method}");
        certificate.implies.push(others[0].clone());
        assert!(refusal(&live, &certificate).is_some(), "{method}");
    }
}

/// Where processes are alike, another instance may stand for the first one; where they are not, none may.
#[test]
fn an_image_stands_for_an_instance_where_processes_are_alike() {
    let swap = |certificate: &Certificate| {
        let mut other = certificate.clone();
        for part in &mut other.implies {
            let Implied::Clause { cuts, from } = part else { panic!("a clause was asked for") };
            for cut in cuts.iter_mut() {
                if let Cut::Instance(choice) = cut {
                    choice.iter_mut().for_each(|(_, value)| *value = if value == "0" { "2" } else { "1" }.to_owned());
                }
            }
            *from = [1, 2].map(ProcessId::new).to_vec();
        }
        other
    };
    let alike = load(LOCK);
    let certificate = proof(&alike, "mutex", "tmmc").unwrap();
    assert_eq!(certificate.implies.len(), 1, "{:?}", certificate.implies);
    assert_eq!(refusal(&alike, &swap(&certificate)), None);
    let apart = with_one_apart();
    let certificate = proof(&apart, "mutex", "tmmc").unwrap();
    assert_eq!(certificate.implies.len(), 6, "{:?}", certificate.implies);
    let mut one_for_all = certificate.clone();
    one_for_all.implies.truncate(1);
    assert!(refusal(&apart, &swap(&one_for_all)).is_some_and(|why| why.contains("nothing is said")));
    // The proof of processes that are alike names too few.
    let few = Certificate { implies: proof(&alike, "mutex", "tmmc").unwrap().implies, ..certificate };
    assert!(refusal(&apart, &few).is_some_and(|why| why.contains("nothing is said")));
}

/// A false property whose true part alone is named.
#[test]
fn a_false_clause_cannot_be_hidden() {
    for (right, wrong) in [
        ("n <= 1", "n <= 1 && n == 0"),
        ("n <= 1", "n == 0 && n <= 1"),
        ("forall i: P[i]@c => owner == i", "forall i: (P[i]@c => owner == i) && !P[i]@d"),
        ("forall i in P: i != P[2] || n <= 1", "forall i in P: (i != P[2] || n <= 1) && (i == P[2] || n == 0)"),
    ] {
        let text = |invariant: &str| LOCK.replace("reachable", &format!("invariant asked: {invariant};\n  reachable"));
        let (model, changed) = (load(&text(right)), load(&text(wrong)));
        let certificate = proof(&model, "asked", "pairwise").unwrap();
        assert_eq!(refusal(&model, &certificate), None, "{right}");
        for way in [vec![], vec![Cut::Left], vec![Cut::Right], vec![Cut::RightUnderLeft]] {
            let mut forged = certificate.clone();
            for part in &mut forged.implies {
                if let Implied::Clause { cuts, .. } = part {
                    let n_instances = cuts.iter().take_while(|cut| matches!(cut, Cut::Instance(_))).count();
                    cuts.splice(n_instances..n_instances, way.clone());
                }
            }
            assert!(refusal(&changed, &forged).is_some(), "{wrong} by {way:?}");
        }
    }
}
