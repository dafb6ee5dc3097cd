//! Programs aimed at what the checker could overlook, and edited proofs of them: nothing that the whole product contradicts is said
//! by a method or accepted from a proof.
//!
//! Each program is taken for several sizes. The truth is that of `mono`. Every method, audited, says the same or does not know. Then
//! proofs are edited: parts of the property are lost or changed, members, rows, columns, points and stated permutations are; and what was
//! proved of one property is offered as a proof of the others, with parts of those. The checker may accept only what is true.

use std::time::Duration;

use base::{Budget, CancelToken, SourceFile};
use driver::check::{Check, Limits};
use driver::methods;
use engine::{Silent, Verdict};
use evidence::certificate::{Claim, ProcessDimension, StateSet, Symmetry};
use evidence::implication::{Demand, Part};
use evidence::{Certificate, Evidence};
use model::Model;
use model::process::{FamilyId, ProcessId};
use model::property::PropertyKind;
use model::variable::VarId;
use testkit::choices::Choices;

/// Programs; a text that names no parameter is taken once.
const PROGRAMS: [&str; 30] = [
    // Indexed by processes in the text, by numbers in properties; one of them breaks the symmetry.
    "program a1(N: 2..) { shared a: [bool; N]; process P[i in 0..<N] { s: a[i] = true; c: skip; }
     invariant p: forall i: P[i]@c => a[i]; invariant q: forall k in 0..<N: a[k] => !P[0]@s; invariant r: !a[N - 1]; }",
    // Indexed by numbers everywhere, as long as the family.
    "program a2(N: 2..) { shared a: [0..=2; N]; process P[i in 0..<N] { loop { s: a[0] = 1; c: a[N - 1] = 2; } }
     invariant p: forall i: a[i] <= 2; invariant q: forall i: P[i]@s => a[i] != 2; invariant r: a[0] != 2; }",
    // One constant breaks the symmetry of the text.
    "program a3(N: 2..) { shared t: 0..<N; process P[i in 0..<N] { loop { w: await t == i; c: t = 0; } }
     invariant p: forall i: P[i]@c => t == i; invariant q: forall i: !P[i]@c || i == 0; invariant r: forall i: !P[i]@c; }",
    // The same by a process.
    "program a4(N: 2..) { shared t: pid(P); process P[i in 0..<N] { loop { w: await t == i; c: t = P[0]; } }
     invariant p: count(i: P[i]@c) <= 1; invariant q: forall i: !P[i]@c; invariant r: !P[1]@c; }",
    // Two families over one array.
    "program b1(N: 2..) { shared a: [bool; N]; process P[i in 0..<N] { s: a[i] = true; c: skip; }
     process Q[j in 0..<N] { s: await a[j]; d: skip; }
     invariant p: forall j in Q: Q[j]@d => a[j]; invariant q: forall i in P, j in Q: Q[j]@d => !P[i]@s;
     invariant r: forall i in P, j in Q: P[i]@c || !Q[j]@d || i + 0 != j; }",
    // Two families that name each other.
    "program b2(N: 2..) { shared o: pid(P)?; process P[i in 0..<N] { loop { w: atomic { await o == none; o = i; } c: o = none; } }
     process Q[j in 0..<2] { public s: pid(P)?; loop { r: s = o; d: skip; } }
     invariant p: count(i in P: P[i]@c) <= 1; invariant q: forall j in Q: Q[j].s == none || Q[j]@d;
     invariant r: forall i in P, j in Q: Q[j].s == i && Q[j]@d => P[i]@c; }",
    // Public arrays by processes and by numbers.
    "program c1(N: 2..) { process P[i in 0..<N] { public r: [bool; N]; loop { s: r[i] = true; c: r[0] = false; } }
     invariant p: forall i: P[i]@c => P[i].r[i]; invariant q: forall i != j: !P[i].r[j]; invariant u: !P[0].r[1]; }",
    "program c2(N: 2..) { process P[i in 0..<N] { public r: [bool; N]; local k: pid; loop { s: k = any; r[k] = true; c: r[k] = false; } }
     invariant p: forall i: count(j: P[i].r[j]) <= 1; invariant q: forall i, j: P[i].r[j] => P[i]@c;
     invariant u: forall i: !P[i].r[i]; }",
    // Rows of an array.
    "program d1(N: 2..) { shared m: [[bool; N]; N]; process P[i in 0..<N] { loop { s: m[i][0] = true; c: m[0][i] = false; } }
     invariant p: forall i != j: !m[i][j] || j == 0; invariant q: forall i: !m[i][i]; invariant r: forall i: P[i]@c => m[i][0]; }",
    "program d2(N: 2..) { shared m: [[bool; 2]; N]; process P[i in 0..<N] { loop { s: m[i][0] = true; c: m[i][1] = true; e: m[i][0] = false; } }
     invariant p: forall i: P[i]@c => m[i][0]; invariant q: forall i: m[i][0] => !m[i][1]; invariant r: !m[1][1]; }",
    // Faults in properties.
    "program e1(N: 2..) { shared x: 0..=2; process P[i in 0..<N] { loop { s: x = 1; c: x = 2; } }
     invariant p: x > 0 => 6 / x > 2; invariant q: 6 / x > 2; invariant r: x == 0 || 6 / x >= 3 && x <= 2; }",
    "program e2(N: 2..) { shared a: [bool; 2]; shared x: 0..=3; process P[i in 0..<N] { loop { s: x = 1; c: x = 3; } }
     invariant p: x < 2 => !a[x]; invariant q: exists i: P[i]@s || a[x]; invariant r: forall i: P[i]@c || x == 3 || !a[x]; }",
    "program e3(N: 2..) { shared o: pid?; process P[i in 0..<N] { public v: bool; loop { w: await o == none; s: o = i; v = true; c: v = false; o = none; } }
     invariant p: o != none => P[o].v || !P[o].v; invariant q: P[o].v; invariant r: o != none && P[o]@w => !P[o].v; }",
    // Cells that nobody writes or mentions.
    "program f1(N: 2..) { shared x: 0..=1; shared y: bool = any; process P[i in 0..<N] { loop { s: skip; c: skip; } }
     invariant p: x == 0; invariant q: y; invariant r: y || !y; invariant u: forall i: P[i]@c => x != 1; }",
    "program f2(N: 2..) { shared a: [bool; N] = any; process P[i in 0..<N] { s: await a[i]; c: skip; }
     invariant p: forall i: P[i]@c => a[i]; invariant q: forall i: a[i]; invariant r: exists i: a[i] || P[i]@s || P[i]@c; }",
    // At most, exists, nested quantifiers.
    "program g1(N: 2..) { shared l: lock; process P[i in 0..<N] { loop { w: acquire l; c: skip; u: release l; } }
     invariant p: count(i: P[i]@c) <= 1; invariant q: count(i: P[i]@c || P[i]@u) < 2; invariant r: count(i: P[i]@c) < 1; }",
    "program g2(N: 2..) { shared s: sem(2) = 2; process P[i in 0..<N] { loop { w: acquire s; c: skip; u: release s; } }
     invariant p: count(i: P[i]@c) <= 2; invariant q: count(i: P[i]@c) <= 1; }",
    "program g3(N: 2..) { shared t: pid = any; process P[i in 0..<N] { loop { s: t = i; c: skip; } }
     invariant p: exists i: t == i; invariant q: (exists i: P[i]@c) => exists i: t == i && P[i]@c;
     invariant r: (forall i: P[i]@s) || (exists i: P[i]@c); }",
    "program g4(N: 2..) { shared x: 0..=2; process P[i in 0..<N] { public b: bool; loop { s: b = true; c: b = false; } }
     invariant p: forall i: exists j: P[i].b => P[j].b; invariant q: forall i: forall j: i == j || !(P[i].b && P[j].b);
     invariant r: !(exists i: exists j: P[i].b && P[j]@s && i == j && P[j].b && P[i]@c); }",
    "program g5(N: 2..) { shared x: 0..=3; process P[i in 0..<N] { loop { s: atomic { await x < 3; x = x + 1; } c: x = x - 1; } }
     invariant p: if x == 0 then forall i: P[i]@s else exists i: P[i]@c; invariant q: x <= count(i: P[i]@c);
     invariant r: (x == 0) <=> (forall i: P[i]@s); }",
    // Guards with faults, and faults in steps.
    "program h1(N: 2..) { shared x: 0..=2; process P[i in 0..<N] { loop { w: await x > 0 => 2 / x == 2; s: x = 1; c: skip; } }
     invariant p: x <= 1; invariant q: forall i: P[i]@c => x == 1; invariant r: x == 0; no_errors; }",
    "program h2(N: 2..) { shared a: [bool; 2]; shared x: 0..=2; process P[i in 0..<N] { loop { s: await a[x] || x == 0; c: x = x + 1; } }
     invariant p: x <= 1; no_errors; }",
    // Wide ranges.
    "program w1(N: 2..) { shared x: 0..=4294967295; process P[i in 0..<N] { loop { s: x = 7; c: x = 9; } }
     invariant p: x == 0 || x == 7 || x == 9; invariant q: x != 9; invariant r: forall i: P[i]@c => x >= 7; }",
    "program w2(N: 2..) { shared x: -1000000..=1000000; process P[i in 0..<N] { public y: 0..=1000000; loop { s: y = 5; c: x = -y; } }
     invariant p: x == 0 || x == -5; invariant q: x == 0; invariant r: forall i: P[i].y == 5 || P[i]@s; }",
    // Procedures.
    "program k1(N: 2..) { shared l: lock; shared x: 0..=1; proc f() { a: acquire l; x = 1; b: x = 0; release l; }
     process P[i in 0..<N] { loop { s: call f(); c: skip; } }
     invariant p: x <= 1; invariant q: x == 0; invariant r: count(i: P[i]@b) <= 1; no_errors; }",
    // Races and deadlocks.
    "program r1(N: 2..) { shared l: lock; shared x: 0..=1; shared y: bool; process P[i in 0..<N] { loop { w: acquire l; c: x = 1 - x; u: release l; e: y = true; } }
     race_free x; race_free y; deadlock_free; invariant p: count(i: P[i]@c) <= 1; }",
    "program r2(N: 2..) { shared f: [bool; N]; process P[i in 0..<N] { w: atomic { await forall j: j == i || !f[j]; f[i] = true; } c: await exists j: j != i && f[j]; }
     deadlock_free; invariant p: forall i != j: !(f[i] && f[j]); invariant q: forall i: !f[i] || P[i]@c; }",
    // A loop over processes in their order, and the next one round.
    "program n1(N: 2..) { shared t: 0..<N; process P[i in 0..<N] { loop { w: await t == i; c: t = (t + 1) % N; } }
     invariant p: count(i: P[i]@c) <= 1; invariant q: forall i: P[i]@c => t == i; invariant r: forall i: P[i]@c => i == 0; }",
    "program n2(N: 2..) { shared a: [bool; N]; process P[i in 0..<N] { for j in 0..<N { s: a[j] = true; } c: skip; }
     invariant p: forall i, j: P[i]@c => a[j]; invariant q: !(a[1] && !a[0]); invariant r: forall i: !a[i]; }",
    // Temporal properties: instances and fairness.
    "program t1(N: 2..) { shared t: pid; process P[i in 0..<N] { loop { w: await t == i; c: t = any; } }
     property p: forall i: always (P[i]@c => t == i); property q: forall i: P[i]@w ~> P[i]@c under weak P[*];
     property r: always eventually exists i: P[i]@c under weak P[*]; property u: eventually P[1]@c under weak P[*]; }",
];

fn load(text: &str, size: i64) -> Model {
    match lang::load(&SourceFile::new("attack.pw", text), &[("N".to_owned(), size)]) {
        Ok(loaded) => loaded.model,
        Err(diagnostics) => panic!("{diagnostics:?}\n{text}"),
    }
}

/// What a method says about a property.
struct Said {
    mark: char,
    certificate: Option<Certificate>,
}

fn ask(model: &Model, method: &str) -> Result<Vec<Said>, String> {
    let limits = Limits {
        time: Some(Duration::from_secs(2)),
        memory_bytes: Some(1 << 30),
        n_threads: 1,
        cancel: CancelToken::default(),
    };
    let questions: Vec<_> = model.properties.ids().collect();
    let checker = methods::checker(methods::find(method).unwrap());
    let check = Check { model, questions: &questions, checker: &*checker, limits: &limits };
    let checked = check.run(&Silent).map_err(|failure| failure.to_string())?;
    let said = |verdict: &Verdict| {
        let (mark, evidence) = match verdict {
            Verdict::Holds(evidence) => ('+', Some(evidence)),
            Verdict::Violated(evidence) => ('-', Some(evidence)),
            Verdict::Unknown(_) => ('?', None),
        };
        let certificate = match evidence {
            Some(Evidence::Certificate(certificate)) => Some((**certificate).clone()),
            _ => None,
        };
        Said { mark, certificate }
    };
    Ok(checked.results.iter().map(|result| said(&result.verdict)).collect())
}

/// Edits what is stated about the property.
fn edit_parts(certificate: &mut Certificate, n_processes: usize, choices: &mut Choices) {
    let parts = &mut certificate.implication;
    if parts.is_empty() {
        return;
    }
    let at = choices.below(parts.len());
    let any = ProcessId::new(choices.below(n_processes));
    match (choices.below(7), &mut parts[at].part) {
        (0 | 1, _) => drop(parts.remove(at)),
        (2, _) => {
            let lost = choices.below(parts[at].from.len().max(1));
            parts[at].from =
                parts[at].from.iter().enumerate().filter(|(at, _)| *at != lost).map(|(_, one)| *one).collect();
        }
        (3, _) => parts[at].from = vec![any],
        (4, Part::Clause(clause)) => drop(clause.conditions.pop()),
        (5, Part::Clause(clause)) => {
            let value = *choices.pick(&["0", "1", "2", "P[0]", "P[1]", "Q[1]"]);
            clause.claim.bound.last_mut().into_iter().for_each(|bound| *bound = value.to_owned());
        }
        (_, Part::Clause(clause)) => match choices.chance(50) {
            true => clause.claim.demand = *choices.pick(&[Demand::True, Demand::False, Demand::HasValue]),
            false => drop(clause.claim.path.pop()),
        },
        (_, Part::NoFault(movers) | Part::NoRace(movers, _)) => movers[0] = any,
        (_, Part::NoDeadlock) => {}
    }
}

/// Edits the sets, or which of them stand for others.
fn edit_sets(certificate: &mut Certificate, model: &Model, choices: &mut Choices) {
    let Some(Claim::SplitInvariant(claim)) = certificate.facts.last_mut().map(|fact| &mut fact.claim) else { return };
    match choices.below(6) {
        0 => claim.symmetry = None,
        1 => {
            let mut symmetry = claim.symmetry.take().unwrap_or_default();
            let var = VarId::new(choices.below(model.vars.len()));
            let family = FamilyId::new(choices.below(model.families.len()));
            if symmetry.dimensions.pop().is_none() {
                symmetry.dimensions.push(ProcessDimension { var, dimension: choices.below(2), family });
            }
            claim.symmetry = Some(symmetry);
        }
        2 => {
            claim.symmetry.get_or_insert_with(Symmetry::default);
            let mut seen = std::collections::HashSet::new();
            let families = |processes: &[ProcessId]| {
                processes.iter().map(|&process| model.processes[process].family).collect::<Vec<_>>()
            };
            claim.members.retain(|member| seen.insert(families(&member.processes)));
        }
        way => {
            let n_members = claim.members.len().max(1);
            let Some(member) = claim.members.get_mut(choices.below(n_members)) else { return };
            if let StateSet::Rows(rows) = &mut member.states
                && !rows.is_empty()
            {
                let row = choices.below(rows.len());
                match way {
                    3 => drop(rows.remove(row)),
                    4 if !rows[row].is_empty() => {
                        let column = choices.below(rows[row].len());
                        rows[row][column] = choices.below(3) as u32;
                        rows.sort_unstable();
                        rows.dedup();
                    }
                    _ => drop(rows.split_off(row)),
                }
            }
        }
    }
}

/// The accepted proofs among edited ones of something that is false, in words.
fn accepted_wrongly(model: &Model, truth: &str, proofs: &[Certificate], seed: u64) -> Vec<String> {
    let mut choices = Choices::from_seed(seed);
    let mut wrong = Vec::new();
    for proof in proofs {
        for (property, mark) in model.properties.iter().zip(truth.chars()) {
            let proved = if matches!(property.kind, PropertyKind::Reachable(_)) { '-' } else { '+' };
            for round in 0..3 {
                let mut edited = Certificate { property: property.name.clone(), ..proof.clone() };
                if proof.property != property.name || round == 2 {
                    edited.implication = testkit::implication::some(model, &property.kind, &mut choices);
                }
                if round > 0 || proof.property == property.name {
                    (0..=choices.below(2)).for_each(|_| edit_parts(&mut edited, model.processes.len(), &mut choices));
                }
                if choices.chance(40) {
                    edit_sets(&mut edited, model, &mut choices);
                }
                let budget = Budget::new(Some(Duration::from_millis(300)), Some(1 << 28), CancelToken::default());
                if audit::certificate::check(model, property, &edited, &budget).is_ok() && mark != proved {
                    wrong.push(format!("`{}` is accepted: {:?}", property.name, edited.implication));
                }
            }
        }
    }
    wrong
}

/// Tries the programs whose position leaves this rest, so that several tests share them.
fn attack(rest: usize) {
    let mut wrong = Vec::new();
    for (at, text) in PROGRAMS.iter().enumerate().filter(|(at, _)| at % 3 == rest) {
        for size in 2..=4 {
            let model = load(text, size);
            let marks = |said: &[Said]| said.iter().map(|one| one.mark).collect::<String>();
            let truth = marks(&ask(&model, "mono").unwrap());
            let mut proofs = Vec::new();
            for method in methods::available() {
                match ask(&model, method.name) {
                    Ok(said) => {
                        let agrees = |(one, truth): (char, char)| one == '?' || truth == '?' || one == truth;
                        if !marks(&said).chars().zip(truth.chars()).all(agrees) {
                            wrong.push(format!(
                                "{}: {} N = {size}: {}, not {truth}",
                                method.name,
                                model.name,
                                marks(&said)
                            ));
                        }
                        proofs.extend(said.into_iter().filter_map(|one| one.certificate).take(2));
                    }
                    Err(failure) => wrong.push(format!("{}: {} N = {size}: {failure}", method.name, model.name)),
                }
            }
            for accepted in accepted_wrongly(&model, &truth, &proofs, at as u64 * 8 + size as u64) {
                wrong.push(format!("{} N = {size}: {accepted}", model.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn no_edited_proof_of_the_first_programs_proves_what_is_false() {
    attack(0);
}

#[test]
fn no_edited_proof_of_the_second_programs_proves_what_is_false() {
    attack(1);
}

#[test]
fn no_edited_proof_of_the_third_programs_proves_what_is_false() {
    attack(2);
}
