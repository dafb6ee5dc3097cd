//! Claims for every size of temporal properties that are false, each with one thing in it that is not so: the checker refuses it for that.

use audit::certificate::{self, CertificateError};
use base::{Budget, SourceFile};
use engine::{Engine, PropertyId, Silent, Task, Verdict};
use evidence::certificate::{Claim, Fact};
use evidence::crowd::{Branch, CrowdRefutation, CrowdSum, Lasting};
use evidence::views::{Item, SharedColumn, View, ViewsProof};
use evidence::{Certificate, Evidence, plain};
use model::Model;
use model::property::PropertyKind;
use model::value::Value;
use propagate::Propagate;
use testkit::Product;

/// A program with a property `p` that is false at its least size, and a property `t` that is true for every size.
struct Forged {
    /// What the checker would not see.
    leaves_out: &'static str,
    /// Declarations, processes, and `p` without what it assumes.
    program: &'static str,
    under: &'static str,
    claimed: Claimed,
}

/// What is claimed of `p`.
enum Claimed {
    /// That no component is fair.
    Nothing,
    /// That every component is excluded by this, where `n` is the number of views.
    Because(fn(n: usize) -> (Vec<CrowdSum>, Lasting)),
    /// That a sum has these sides at each view: by the place of the process, and whether the first shared cell is what it starts with.
    Sum(fn(place: &str, is_first: bool) -> (i64, i64)),
}

const SEMAPHORE: &str = "shared x: sem = 1; process P[i in 0..<N] { loop { a: acquire x; c: release x; } }
    property p: forall i in P: P[i]@a ~> P[i]@c";

const NOBODY: &str = "shared o: pid(P)? = none; process P[i in 0..<N] { a: await o == i; c: skip; }
    property p: forall i in P: P[i]@a ~> P[i]@c";

const SWITCH: &str = "shared x: bool = true;
    process P[i in 0..<N] { loop { a: await x; c: skip; } }
    process S { loop { s: x = false; t: x = true; } }
    property p: forall i in P: P[i]@a ~> P[i]@c";

const FORGED: [Forged; 21] = [
    Forged {
        leaves_out: "that it is assumed of one process",
        program: SEMAPHORE,
        under: "strong P[0]",
        claimed: Claimed::Sum(|place, is_first| (i64::from(!is_first), i64::from(place == "c"))),
    },
    Forged {
        leaves_out: "that nothing is assumed of others than the first process",
        program: "shared x: sem = 1; process P[i in 0..<N] { loop { a: acquire x; c: release x; } }
             property p: P[0]@a ~> P[0]@c",
        under: "strong P[0]",
        claimed: Claimed::Sum(|place, is_first| (i64::from(!is_first), i64::from(place == "c"))),
    },
    Forged {
        leaves_out: "that a sum depends on what is shared only",
        program: SEMAPHORE,
        under: "weak P[*]",
        claimed: Claimed::Sum(|place, is_first| if place == "a" && !is_first { (-1, 0) } else { (0, 0) }),
    },
    Forged {
        leaves_out: "what sums are in the beginning",
        program: NOBODY,
        under: "weak P[*]",
        claimed: Claimed::Because(|n| {
            let sum = CrowdSum { left: vec![1; n], right: vec![0; n] };
            (vec![sum], Lasting::Holder { sum: 0, branches: Vec::new() })
        }),
    },
    Forged {
        leaves_out: "that nobody adds less than nothing",
        program: SEMAPHORE,
        under: "weak P[*]",
        claimed: Claimed::Sum(|place, is_first| (-i64::from(!is_first), -i64::from(place == "c"))),
    },
    Forged {
        leaves_out: "that a process changes both sides alike",
        program: SEMAPHORE,
        under: "weak P[*]",
        claimed: Claimed::Sum(|_, is_first| (-i64::from(!is_first), 0)),
    },
    Forged {
        leaves_out: "that others do not change what a process adds",
        program: SEMAPHORE,
        under: "weak P[*]",
        claimed: Claimed::Sum(|place, is_first| (0, i64::from(place == "a" && !is_first))),
    },
    Forged {
        leaves_out: "that processes of other families change neither side",
        program: SWITCH,
        under: "weak P[*]",
        claimed: Claimed::Sum(|_, is_first| (-i64::from(!is_first), 0)),
    },
    Forged { leaves_out: "turns of other families", program: SWITCH, under: "weak P[*]", claimed: Claimed::Nothing },
    Forged {
        leaves_out: "that one may stay at `idle`, when it has its turn",
        program: "process P[i in 0..<N] { loop { a: idle; c: skip; } } property p: forall i in P: P[i]@a ~> P[i]@c",
        under: "every P[*]",
        claimed: Claimed::Nothing,
    },
    Forged {
        leaves_out: "that leaving `idle` is no ability",
        program: "process P[i in 0..<N] { loop { a: idle; c: skip; } } property p: forall i in P: P[i]@a ~> P[i]@c",
        under: "strong P[*]",
        claimed: Claimed::Nothing,
    },
    Forged {
        leaves_out: "that somebody who is not seen decides whether one is able",
        program: "process P[i in 0..<N] { public f: bool;
             either { g: f = true; h: await false; } or { s: skip; a: await forall k in P: k == i || !P[k].f; c: skip; } }
             property p: forall i in P: P[i]@a ~> P[i]@c",
        under: "weak P[*]",
        claimed: Claimed::Nothing,
    },
    Forged {
        leaves_out: "that there may be nobody else to name",
        program: "shared o: pid(P)? = none; process P[i in 0..<N] { local w: pid(P);
             either { g: atomic { await o == none; o = i; } h: await false; }
             or { s: skip; a: atomic { w = any; await w != i && w != o; } c: skip; } }
             property p: forall i in P: P[i]@a ~> P[i]@c",
        under: "weak P[*]",
        claimed: Claimed::Nothing,
    },
    Forged {
        leaves_out: "that a loop inside a step may wait for somebody who is not seen",
        program: "process P[i in 0..<N] { public f: bool;
             either { g: f = true; h: await false; }
             or { s: skip; a: atomic { for k in P { await k == i || !P[k].f; } } c: skip; } }
             property p: forall i in P: P[i]@a ~> P[i]@c",
        under: "weak P[*]",
        claimed: Claimed::Nothing,
    },
    Forged {
        leaves_out: "that a cell has to name somebody",
        program: NOBODY,
        under: "weak P[*]",
        claimed: Claimed::Because(|_| (Vec::new(), Lasting::Named { column: 0, branches: Vec::new() })),
    },
    Forged {
        leaves_out: "what whoever is named does",
        program: "shared o: pid(P)? = none; process P[i in 0..<N] { a: atomic { await o == none; o = i; } c: await false; }
             property p: forall i in P: P[i]@a ~> P[i]@c",
        under: "strong P[*]",
        claimed: Claimed::Because(|_| (Vec::new(), Lasting::Named { column: 0, branches: Vec::new() })),
    },
    Forged {
        leaves_out: "that somebody has to add something to a sum",
        program: NOBODY,
        under: "weak P[*]",
        claimed: Claimed::Because(|n| {
            let sum = CrowdSum { left: vec![0; n], right: vec![0; n] };
            (vec![sum], Lasting::Holder { sum: 0, branches: Vec::new() })
        }),
    },
    Forged {
        leaves_out: "that a step is possible because of somebody who is not seen",
        program: "process P[i in 0..<N] { public f: bool;
             a: either { x: await exists k in P: k != i && P[k].f; bad: await false; } or { y: f = true; } c: skip; }
             property p: forall i in P: P[i]@a ~> P[i]@c",
        under: "weak P[*]",
        claimed: Claimed::Nothing,
    },
    Forged {
        leaves_out: "that a step looks at somebody whom a cell names",
        program: "shared o: pid(P); process P[i in 0..<N] { public f: bool;
             a: either { x: await o != i && P[o].f; bad: await false; } or { y: f = true; } c: skip; }
             property p: forall i in P: P[i]@a ~> P[i]@c",
        under: "weak P[*]",
        claimed: Claimed::Nothing,
    },
    Forged {
        leaves_out: "that others may stand still",
        program: "shared g: bool; process P[i in 0..<N] { a: await g; c: skip; }
             property p: forall i in P: P[i]@a ~> P[i]@c",
        under: "every P[*]",
        claimed: Claimed::Because(|_| (Vec::new(), Lasting::Others(Vec::new()))),
    },
    Forged {
        leaves_out: "that others move",
        program: "shared x: bool = true; process P[i in 0..<N] { loop { a: await x; c: x = false; d: x = true; } }
             property p: forall i in P: P[i]@a ~> P[i]@c",
        under: "weak P[*]",
        claimed: Claimed::Nothing,
    },
];

fn load(text: &str) -> Model {
    let source = SourceFile::new("forged.pw", text);
    lang::load(&source, &[]).unwrap_or_else(|wrong| panic!("{wrong:?}\n{text}")).model
}

fn named(model: &Model, property: &str) -> PropertyId {
    model.properties.entries().find(|(_, one)| one.name == property).unwrap().0
}

/// The views of the proof of a property for every size.
fn views(model: &Model, property: &str) -> Certificate {
    let task = Task { model, properties: vec![named(model, property)], budget: Budget::unlimited(), n_threads: 1 };
    match Propagate::for_every_size().run(&task, &Silent).unwrap().remove(0).verdict {
        Verdict::Holds(Evidence::Certificate(proof)) => *proof,
        other => panic!("{property}: {other:?}"),
    }
}

/// By view: the place of the process, and whether the first shared cell is what it starts with.
fn shown(model: &Model, proof: &ViewsProof, view: &View) -> (String, bool) {
    let Some(Some(Item::Place(place))) = view.slots.iter().flatten().next().map(|local| local.first().copied()) else {
        panic!("a view shows a process")
    };
    let starts = match proof.shared.first() {
        Some(SharedColumn::Cell(cell)) => model::eval::initial_states(model).next().unwrap().cells[cell.index()],
        _ => Value::None,
    };
    (model.places[place].name.clone(), view.shared.first() == Some(&Item::Value(starts)))
}

/// The claim as it is forged.
fn forged(model: &Model, claimed: &Claimed) -> Certificate {
    let mut certificate = views(model, "t");
    certificate.facts.truncate(1);
    certificate.property = "p".to_owned();
    let Claim::Views(proof) = &certificate.facts[0].claim else { panic!("no views") };
    let n = proof.views.len();
    let (sums, because) = match claimed {
        Claimed::Nothing => (Vec::new(), None),
        Claimed::Because(make) => {
            let (sums, because) = make(n);
            (sums, Some(because))
        }
        Claimed::Sum(sides) => {
            let sides = proof.views.iter().map(|view| {
                let (place, is_first) = shown(model, proof, view);
                sides(&place, is_first)
            });
            let (left, right) = sides.unzip();
            (vec![CrowdSum { left, right }], Some(Lasting::Holder { sum: 0, branches: Vec::new() }))
        }
    };
    let property = &model.properties[named(model, "p")];
    let PropertyKind::Temporal(formula) = &property.kind else { panic!("it is about runs") };
    for violation in plain::violations(model, property, formula).unwrap() {
        let branch = |because: Lasting| Branch { view: 0, state: Some(0), views: Vec::new(), because };
        let branches = because.clone().map(branch).into_iter().collect();
        let (violation, automaton) = (violation.name(model), violation.automaton.names(model));
        let claim = CrowdRefutation { violation, automaton, sums: sums.clone(), branches };
        certificate.facts.push(Fact { claim: Claim::Crowd(claim), uses: vec![0] });
    }
    certificate
}

/// Each claim is about a property that is false, and is refused because something is not so.
#[test]
fn what_is_not_so_of_runs_is_refused() {
    for Forged { leaves_out, program, under, claimed } in FORGED {
        let text = format!(
            "program f(N: 2..) {{ {program} under {under}; property t: forall i in P: P[i]@a ~> P[i]@a; allow deadlock; }}"
        );
        let model = load(&text);
        let property = &model.properties[named(&model, "p")];
        let PropertyKind::Temporal(formula) = &property.kind else { panic!("it is about runs") };
        let product = Product::explore(&model, 5_000).unwrap();
        let truth = audit::temporal::is_violated(&model, &product.states, formula, &property.under);
        assert!(matches!(truth, Ok(Some(true))), "{leaves_out}: `p` is not false: {truth:?}");
        let certificate = forged(&model, &claimed);
        let checked = certificate::check(&model, property, &certificate, &Budget::unlimited());
        assert!(matches!(checked, Err(CertificateError::Refused(_))), "{leaves_out}: {checked:?}");
    }
}

/// There is always somebody inside once one was, though never the same for ever: whoever leaves is one of two, and another one may come in meanwhile.
const RELAY: &str = "program f(N: 3..) { shared n: 0..=2;
    process P[i in 0..<N] { loop { a: atomic { await n < 2; n += 1; } c: atomic { await n == 2; n -= 1; } } }
    property p: forall i in P: P[i]@a ~> P[i]@c under weak P[*]@a, strong P[*]@c;
    property t: forall i in P: P[i]@a ~> P[i]@a; allow deadlock; }";

/// Who adds to a sum for ever is one of those who do; if others begin to, it is nobody in particular.
#[test]
fn somebody_adds_to_a_sum_for_ever_only_if_nobody_begins_to() {
    let model = load(RELAY);
    let property = &model.properties[named(&model, "p")];
    let PropertyKind::Temporal(formula) = &property.kind else { panic!("it is about runs") };
    let product = Product::explore(&model, 5_000).unwrap();
    let truth = audit::temporal::is_violated(&model, &product.states, formula, &property.under);
    assert!(matches!(truth, Ok(Some(true))), "`p` is not false: {truth:?}");
    let stays = Branch { view: 0, state: None, views: Vec::new(), because: Lasting::Others(Vec::new()) };
    let mut certificate = forged(&model, &Claimed::Nothing);
    let Claim::Views(proof) = &certificate.facts[0].claim else { panic!("no views") };
    let sides = proof.views.iter().map(|view| {
        let Some(Item::Value(Value::Int(n))) = view.shared.first() else { panic!("`n` is shown") };
        (*n, i64::from(shown(&model, proof, view).0 == "c"))
    });
    let (left, right) = sides.unzip();
    let sum = CrowdSum { left, right };
    for fact in &mut certificate.facts {
        let Claim::Crowd(claim) = &mut fact.claim else { continue };
        claim.sums = vec![sum.clone()];
        let because = Lasting::Holder { sum: 0, branches: vec![stays.clone()] };
        claim.branches = vec![Branch { view: 0, state: Some(0), views: Vec::new(), because }];
    }
    let checked = certificate::check(&model, property, &certificate, &Budget::unlimited());
    assert!(matches!(checked, Err(CertificateError::Refused(_))), "{checked:?}");
}
