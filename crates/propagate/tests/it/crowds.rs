//! Crowds: one process stands for all that are alike, however many there are; the checker looks for itself whether they are, and what the others need is not forgotten.

use audit::certificate;
use audit::temporal::TurnGraph;
use base::{Budget, SourceFile};
use engine::{Engine, Silent, Task, Verdict};
use evidence::certificate::{Claim, Fact, ViolationName};
use evidence::plain::AutomatonNames;
use evidence::propagation::{EdgeOwner, ProcessSight, Refutation, RefutationStep, Sights};
use evidence::{Certificate, Evidence, Scope};
use model::Model;
use model::process::ProcessId;
use model::property::{Property, PropertyKind};
use propagate::Propagate;
use testkit::Product;

fn load(text: &str) -> Model {
    lang::load(&SourceFile::new("crowd.pw", text), &[]).unwrap_or_else(|wrong| panic!("{wrong:?}\n{text}")).model
}

/// Readers and writers behind a turnstile.
fn turnstile(n: usize) -> Model {
    load(&turnstile_text(n))
}

fn turnstile_text(n: usize) -> String {
    format!(
        "program turnstile {{
  shared gate: sem = 1;
  shared room: sem = 1;
  shared readers: 0..={n};
  process Reader[r in 0..<{n}] {{
    loop {{
      outside: idle;
      queue:   acquire gate;
      enter:   atomic {{ if readers == 0 {{ acquire room; }} readers = readers + 1; }}
      pass:    release gate;
      read:    skip;
      leave:   atomic {{ readers = readers - 1; if readers == 0 {{ release room; }} }}
    }}
  }}
  process Writer[w in 0..<{n}] {{
    loop {{
      outside: idle;
      queue:   acquire gate;
      enter:   acquire room;
      write:   skip;
      leave:   release room;
      pass:    release gate;
    }}
  }}
  property reads:  forall r in 0..<{n}: Reader[r]@queue ~> Reader[r]@read
    under weak Reader[*], weak Writer[*], strong Reader[*]@queue, strong Writer[*]@queue;
  property writes: forall w in 0..<{n}: Writer[w]@queue ~> Writer[w]@write
    under weak Reader[*], weak Writer[*], strong Reader[*]@queue, strong Writer[*]@queue;
}}"
    )
}

/// A semaphore for six processes; what one of them does inside, and their question.
fn semaphore(inside: &str, property: &str) -> Model {
    load(&format!(
        "program semaphore {{
  shared s: sem = 1;
  shared d: 0..=2;
  process P[i in 0..<6] {{
    public a: bool;
    loop {{
      a: skip;
      t: acquire s;
      c: {inside};
      l: release s;
    }}
  }}
  property live: {property};
}}"
    ))
}

const LIVE: &str = "forall i: P[i]@t ~> P[i]@c under strong P[*]@t, every P[*]";

fn asked<'m>(model: &'m Model, name: &str) -> &'m Property {
    model.properties.iter().find(|property| property.name == name).expect("the property is there")
}

/// The proof of one size; what is proved for every size has other proofs.
fn proof(model: &Model, name: &str) -> Option<Certificate> {
    let (id, _) = model.properties.entries().find(|(_, property)| property.name == name)?;
    let task = Task { model, properties: vec![id], budget: Budget::unlimited(), n_threads: 1 };
    match Propagate::default().run(&task, &Silent).unwrap().remove(0).verdict {
        Verdict::Holds(Evidence::Certificate(proof)) => Some(*proof),
        _ => None,
    }
}

fn sights(proof: &mut Certificate) -> &mut Sights {
    match &mut proof.facts[0].claim {
        Claim::Sights(sights) => sights,
        other => panic!("{other:?}"),
    }
}

fn is_accepted(model: &Model, name: &str, proof: &Certificate) -> bool {
    certificate::check(model, asked(model, name), proof, &Budget::unlimited()).is_ok()
}

#[test]
fn the_work_does_not_grow_with_the_number_of_processes() {
    for name in ["reads", "writes"] {
        let n_steps = [6, 9].map(|n| {
            let model = turnstile(n);
            let mut proof = proof(&model, name).unwrap_or_else(|| panic!("{name} is proved with {n} of each"));
            assert!(is_accepted(&model, name, &proof), "{name} {n}");
            assert_eq!(sights(&mut proof).crowds.len(), 2, "{name}: readers and writers");
            let Claim::Refutation(claim) = &proof.facts[1].claim else { panic!("a refutation follows") };
            count(&claim.steps)
        });
        assert!(n_steps[1] <= n_steps[0] + 4 * 9, "{name}: {n_steps:?}");
    }
}

fn count(steps: &[RefutationStep]) -> usize {
    let of = |step: &RefutationStep| match step {
        RefutationStep::Split { cases, .. } => cases.iter().map(|case| count(&case.steps)).sum(),
        RefutationStep::Holder { cases, .. } | RefutationStep::Scheduled(cases) => {
            cases.iter().map(|case| count(&case.steps)).sum::<usize>()
        }
        _ => 0,
    };
    steps.iter().map(|step| 1 + of(step)).sum()
}

/// What the whole product says.
fn holds(model: &Model, name: &str) -> bool {
    let product = Product::explore(model, 60_000).expect("it is small");
    let property = asked(model, name);
    let PropertyKind::Temporal(formula) = &property.kind else { panic!("{name} is temporal") };
    let graph = TurnGraph::new(model, &product.states);
    !graph.is_violated((model, &product.states), formula, &property.under).unwrap().expect("it is decided")
}

#[test]
fn assumptions_about_one_process_and_questions_about_one_are_not_about_all() {
    // What is inside, the question, and whether it is proved.
    let rows = [
        ("d = 1", LIVE, true),
        ("d = 1", "forall i: P[i]@t ~> P[i]@c under strong P[0]@t, every P[*]", false),
        ("d = 1", "P[0]@t ~> P[0]@c under strong P[0]@t, every P[*]", true),
        ("d = 1", "P[1]@t ~> P[1]@c under strong P[0]@t, every P[*]", false),
        ("d = 1", "P[5]@t ~> P[5]@c under strong P[5]@t, every P[*]", true),
        ("d = 1", "P[5]@t ~> P[5]@c under strong P[*]@t, every P[0]", false),
        (
            "d = 1",
            "P[2]@t ~> P[2]@c under strong P[2]@t, every P[0], every P[1], every P[2], every P[3], every P[4]",
            false,
        ),
        ("d = 1", "forall i: P[i]@t ~> P[i]@c under every P[*]", false),
        ("d = 1", "forall i: P[i]@t ~> P[i]@c under strong P[*]@t", false),
        ("await d == 0 || d < 2", LIVE, true),
        ("if i == 4 { await d == 2; }", LIVE, false),
        ("if i == 4 { await d == 0; }", LIVE, true),
        ("await forall k != i: !P[k].a", LIVE, true),
        ("await forall k in 0..<6: P[k].a || k == i", LIVE, false),
        ("await P[3].a", LIVE, false),
    ];
    for (inside, question, is_true) in rows {
        let model = semaphore(inside, question);
        let about = format!("{inside}; {question}");
        assert_eq!(holds(&model, "live"), is_true, "{about}");
        if let Some(proof) = proof(&model, "live") {
            assert!(is_true, "{about}");
            assert!(is_accepted(&model, "live", &proof), "{about}");
        }
    }
}

#[test]
fn somebody_of_a_crowd_is_not_always_the_same() {
    // One of two permits is out all the time, but nobody has one for ever.
    let text = |question: &str| {
        format!(
            "program relay {{
  shared d: 0..=2;
  process P[i in 0..<5] {{
    loop {{
      a: atomic {{ await d < 2; d = d + 1; }}
      b: atomic {{ await d == 2; d = d - 1; }}
    }}
  }}
  process W {{
    loop {{
      w: await d == 0;
      x: skip;
    }}
  }}
  property served: {question};
}}"
        )
    };
    for question in [
        "W@w ~> W@x under strong P[*], strong W",
        "always eventually d == 0 under strong P[*], strong W",
        "always eventually P[1]@b under weak P[*]",
    ] {
        let model = load(&text(question));
        assert!(!holds(&model, "served"), "{question}");
        assert_eq!(proof(&model, "served"), None, "{question}");
    }
    let model = load(&text("always eventually d == 2 under weak P[*]"));
    assert!(holds(&model, "served"));
}

/// A proof with a crowd, which no proof for every size replaces.
fn with_crowd() -> (Model, Certificate) {
    let model = turnstile(6);
    let mut proof = proof(&model, "reads").expect("it is proved");
    assert!(!sights(&mut proof).crowds.is_empty());
    (model, proof)
}

#[test]
fn changed_crowds_are_refused() {
    let (model, proof) = with_crowd();
    type Change = fn(&mut Sights);
    let changes: [(&str, Change); 8] = [
        ("the one that is asked about is in the crowd", |sights| sights.crowds[0].push(ProcessId::new(0))),
        ("two are a crowd", |sights| sights.crowds[0].truncate(2)),
        ("one is in it twice", |sights| {
            let one = sights.crowds[0][1];
            sights.crowds[0].push(one);
        }),
        ("a writer is among the readers", |sights| {
            let one = sights.crowds[1].pop().expect("a writer");
            sights.crowds[0].push(one);
        }),
        ("a stranger is in it", |sights| sights.crowds[0].push(ProcessId::new(99))),
        ("one weighs something else", |sights| {
            let last = sights.additive[0].processes.last_mut().expect("a process weighs something");
            last.weights[0].weight += 1;
        }),
        ("one weighs nothing", |sights| _ = sights.additive[0].processes.pop()),
        ("one sees less", |sights| _ = sights.seen[5].cells.pop()),
    ];
    for (about, change) in changes {
        let mut changed = proof.clone();
        change(sights(&mut changed));
        assert!(!is_accepted(&model, "reads", &changed), "{about}");
    }
}

#[test]
fn a_crowd_of_processes_that_differ_is_refused() {
    let (_, proof) = with_crowd();
    let different = |from: &str, to: &str| {
        let text = turnstile_text(6).replace(from, to);
        assert!(text != turnstile_text(6), "{from}");
        load(&text)
    };
    assert!(is_accepted(&load(&turnstile_text(6)), "reads", &proof));
    for (from, to) in [
        ("read:    skip;", "read:    if r == 4 { await readers == 0; }"),
        (
            "pass:    release gate;\n      read",
            "pass:    if r != 4 { release gate; } else { await gate == 1; }\n      read",
        ),
        (
            "leave:   release room;\n      pass",
            "leave:   if w == 3 { await room == 1; } else { release room; }\n      pass",
        ),
    ] {
        let model = different(from, to);
        assert!(!is_accepted(&model, "reads", &proof), "{to}");
    }
}

#[test]
fn assumptions_that_are_missing_for_one_are_missing() {
    let (model, proof) = with_crowd();
    let property = asked(&model, "reads");
    let assumed = property.under.any_of[0].clone();
    // One of the last reader, who stands for nobody: without it he may hold the room for ever.
    for dropped in assumed {
        let (mut less, mut changed) = (property.clone(), proof.clone());
        less.under.any_of.iter_mut().for_each(|pairs| pairs.retain(|pair| *pair != dropped));
        for fact in &mut changed.facts {
            match &mut fact.claim {
                Claim::Refutation(claim) => claim.violation.fairness.retain(|pair| *pair != dropped),
                Claim::Exchanged(claim) => claim.violation.fairness.retain(|pair| *pair != dropped),
                _ => {}
            }
        }
        let found = certificate::check(&model, &less, &changed, &Budget::unlimited());
        assert!(found.is_err(), "without {}", model.fairness[dropped].name);
    }
}

#[test]
fn changed_steps_are_refused() {
    let (model, proof) = with_crowd();
    let Claim::Refutation(claim) = &proof.facts[1].claim else { panic!("a refutation follows") };
    let crowd = match &proof.facts[0].claim {
        Claim::Sights(sights) => sights.crowds[0].clone(),
        _ => panic!("what processes see comes first"),
    };
    let accepts = |steps: Vec<RefutationStep>| {
        let mut changed = proof.clone();
        let Claim::Refutation(claim) = &mut changed.facts[1].claim else { panic!("a refutation follows") };
        claim.steps = steps;
        is_accepted(&model, "reads", &changed)
    };
    let before = |step: RefutationStep| std::iter::once(step).chain(claim.steps.iter().cloned()).collect::<Vec<_>>();
    // Who leaves is there, is in a crowd, is not the one who stands for it, and three stay.
    assert!(!accepts(before(RefutationStep::Single(ProcessId::new(0)))));
    assert!(!accepts(before(RefutationStep::Single(crowd[0]))));
    assert!(!accepts(before(RefutationStep::Single(ProcessId::new(99)))));
    let all: Vec<RefutationStep> = crowd[1..].iter().map(|&one| RefutationStep::Single(one)).collect();
    assert!(!accepts(all.into_iter().chain(claim.steps.iter().cloned()).collect()));
    // Nobody speaks of one of a crowd who has not left it.
    let silent = evidence::propagation::EdgeOwner::Process(crowd[4]);
    assert!(!accepts(before(RefutationStep::Fair(silent))));
    // Every prefix leaves something.
    for n_kept in 0..claim.steps.len() {
        assert!(!accepts(claim.steps[..n_kept].to_vec()), "{n_kept} steps");
    }
}

/// A guessed sum may weigh processes of a crowd differently; it is not used where one of them stands for all.
#[test]
fn sums_weigh_all_of_a_crowd_alike() {
    let model = load(
        "program faults {
  shared x: sem(2) = 1;
  shared g: bool;
  shared n: 0..=2;
  shared ph: 0..=2;
  process P[i in 0..<4] {
    public f: bool;
    loop {
      release x;
      a: acquire x;
      c: ph = (ph + 1) % 3;
      release x;
      if g { skip; } else { f = true; }
    }
  }
  process Q[i in 0..<2] {
    public f: bool;
    loop {
      a: either { skip; } or { f = true; }
      c: await n == 0;
      await f;
    }
  }
  property back: !Q[1]@c ~> !Q[1]@c under weak Q[*]@c, strong Q[*], every P[*], every Q[*];
}",
    );
    let proof = proof(&model, "back").expect("what is so at once needs no run");
    assert!(is_accepted(&model, "back", &proof));
}

/// Processes of a crowd that see nothing of each other: what one of them does is no turn that the view of another one shows.
#[test]
fn nobody_of_a_crowd_stops_since_another_one_does_not_see_him() {
    let model = load(
        "program apart { shared x: bool;
         process P[i in 0..<5] { loop { a: skip; b: skip; } }
         process Q { q: await x; }
         property live: eventually x under weak P[*];
         allow deadlock; }",
    );
    assert!(!holds(&model, "live"));
    let fairness = asked(&model, "live").under.any_of[0].clone();
    let x = model.cells.ids().next().expect("there is a cell");
    let crowd: Vec<ProcessId> = model.processes.ids().take(5).collect();
    let seen = |process: ProcessId| ProcessSight {
        cells: if crowd.contains(&process) { Vec::new() } else { vec![x] },
        controls: Vec::new(),
    };
    let owner = |at: usize| EdgeOwner::Process(crowd[at]);
    let sights =
        Sights { seen: model.processes.ids().map(seen).collect(), additive: Vec::new(), crowds: vec![crowd.clone()] };
    for (one, other) in [(1, 0), (0, 1)] {
        let refutation = Refutation {
            violation: ViolationName { part: Vec::new(), instance: Vec::new(), fairness: fairness.clone() },
            automaton: AutomatonNames::default(),
            members: Vec::new(),
            cells: vec![x],
            controls: Vec::new(),
            steps: vec![
                RefutationStep::Single(crowd[1]),
                RefutationStep::Compatible { from: owner(one), to: owner(other) },
                RefutationStep::Fair(owner(other)),
            ],
        };
        let proof = Certificate {
            property: "live".to_owned(),
            scope: Scope::Instance,
            facts: vec![
                Fact { claim: Claim::Sights(sights.clone()), uses: Vec::new() },
                Fact { claim: Claim::Refutation(refutation), uses: vec![0] },
            ],
            implies: Vec::new(),
        };
        let found = certificate::check(&model, asked(&model, "live"), &proof, &Budget::unlimited());
        let refusal = found.expect_err("it is false").to_string();
        assert!(refusal.contains("edges are left"), "{refusal}");
    }
}
