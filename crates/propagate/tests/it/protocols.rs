//! Known protocols: what is proved, for how many processes, and that their false twins are not.

use audit::certificate;
use base::{Budget, SourceFile};
use engine::{Engine, Silent, Task, Verdict};
use evidence::certificate::{Claim, Fact};
use evidence::propagation::{NodePoint, RefutationCase, RefutationStep};
use evidence::{Certificate, Evidence};
use model::Model;
use propagate::Propagate;

fn example(name: &str, parameters: &[(&str, i64)]) -> Model {
    let path = format!("{}/../../examples/{name}.pw", env!("CARGO_MANIFEST_DIR"));
    let source = SourceFile::new(&path, std::fs::read_to_string(&path).expect("the example is there"));
    let parameters: Vec<(String, i64)> = parameters.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    lang::load(&source, &parameters).unwrap_or_else(|wrong| panic!("{name}: {wrong:?}")).model
}

/// Whether a property is proved; the proof is checked.
fn is_proved(model: &Model, property: &str) -> bool {
    let (id, asked) = model.properties.entries().find(|(_, one)| one.name == property).expect("the property is there");
    let engine = Propagate::default();
    assert_eq!(engine.supports(model, id), Ok(()), "{property}");
    let task = Task { model, properties: vec![id], budget: Budget::unlimited(), n_threads: 1 };
    let answer = engine.run(&task, &Silent).unwrap().remove(0);
    match &answer.verdict {
        Verdict::Holds(Evidence::Certificate(proof)) => {
            certificate::check(model, asked, proof, &Budget::unlimited()).unwrap_or_else(|wrong| panic!("{wrong}"));
            true
        }
        Verdict::Unknown(_) => false,
        other => panic!("{property}: {other:?}"),
    }
}

#[test]
fn hungry_philosophers_eat_under_strong_fairness_and_starve_without() {
    for n in [2, 3, 6, 20] {
        let model = example("philosophers", &[("N", n)]);
        assert!(is_proved(&model, "live"), "N = {n}");
        assert!(!is_proved(&model, "snatched"), "N = {n}");
    }
}

#[test]
fn a_semaphore_is_given_to_everybody_who_is_strongly_fair() {
    for n in [2, 3, 8, 20] {
        let model = example("mux_sem", &[("N", n)]);
        assert!(is_proved(&model, "live") && is_proved(&model, "busy"), "N = {n}");
        assert!(!is_proved(&model, "unfair"), "N = {n}");
        let nondet = example("mux_sem_nondet", &[("N", n)]);
        let proved = ["live", "squat", "printed", "one"].map(|name| is_proved(&nondet, name));
        assert_eq!(proved, [true, false, false, true], "N = {n}");
    }
}

/// The proof of a property.
fn proof(model: &Model, property: &str) -> Certificate {
    let (id, _) = model.properties.entries().find(|(_, one)| one.name == property).expect("the property is there");
    let task = Task { model, properties: vec![id], budget: Budget::unlimited(), n_threads: 1 };
    match Propagate::default().run(&task, &Silent).unwrap().remove(0).verdict {
        Verdict::Holds(Evidence::Certificate(proof)) => *proof,
        other => panic!("{property}: {other:?}"),
    }
}

fn n_steps(proof: &Certificate) -> usize {
    let steps = |fact: &Fact| if let Claim::Refutation(claim) = &fact.claim { claim.steps.len() } else { 0 };
    proof.facts.iter().map(steps).sum()
}

/// Whoever waits for the next one uses what was shown of it, so that nobody goes round the table again.
#[test]
fn the_proof_for_philosophers_grows_with_their_number_only() {
    let steps = [20, 40, 80].map(|n| n_steps(&proof(&example("philosophers", &[("N", n)]), "live")));
    assert!(steps[1] <= 2 * steps[0] && steps[2] <= 2 * steps[1], "{steps:?}");
    assert!(steps[2] <= 80 * 8, "{steps:?}");
}

/// A proof that rests on what was shown of neighbours is none without it, nor in another order.
#[test]
fn lemmas_are_used_where_they_are_named_and_after_they_are_shown() {
    let model = example("philosophers", &[("N", 5)]);
    let (_, asked) = model.properties.entries().find(|(_, one)| one.name == "live").unwrap();
    let proof = proof(&model, "live");
    let check = |proof: &Certificate| certificate::check(&model, asked, proof, &Budget::unlimited());
    assert!(check(&proof).is_ok());
    let using: Vec<usize> = (0..proof.facts.len()).filter(|&at| proof.facts[at].uses.len() > 1).collect();
    assert!(!using.is_empty(), "some fact uses another one");
    let is_needed = |at: usize| {
        let mut changed = proof.clone();
        changed.facts[at].uses.truncate(1);
        check(&changed).is_err()
    };
    assert!(using.iter().any(|&at| is_needed(at)), "some fact needs what it uses");
    for &at in &using {
        let mut changed = proof.clone();
        changed.facts.swap(at, 1);
        assert!(check(&changed).is_err(), "fact {at} stands after what it uses");
    }
    let mut changed = proof.clone();
    changed.facts.pop();
    assert!(check(&changed).is_err(), "each way to violate the property has to be refuted");
}

/// A token that goes to and fro between two cells: that there is one is a sum over both cells and both processes, which no guess about one cell finds.
#[test]
fn a_sum_over_different_cells_is_found_by_linear_algebra() {
    let text = |starts: &str| {
        format!(
            "program to_and_fro {{
               shared here: bool = {starts};
               shared there: bool;
               process P {{ loop {{ take: atomic {{ await here; here = false; }} put: there = true; }} }}
               process Q {{ loop {{ take: atomic {{ await there; there = false; }} put: here = true; }} }}
               property served: always eventually P@put under weak P, weak Q;
             }}"
        )
    };
    let load = |starts: &str| lang::load(&SourceFile::new("p.pw", text(starts)), &[]).unwrap().model;
    assert!(is_proved(&load("true"), "served"));
    assert!(!is_proved(&load("false"), "served"), "without a token nobody is served");
    let found = proof(&load("true"), "served");
    let Claim::Sights(sights) = &found.facts[0].claim else { panic!("what processes see comes first") };
    assert!(sights.additive.iter().any(|sum| sum.cells.len() == 2), "{:?}", sights.additive);
}

/// What is left says where whom a violating run would leave for ever.
#[test]
fn what_is_left_is_put_in_words() {
    let model = example("mux_sem_first", &[("N", 3)]);
    let (id, _) = model.properties.entries().find(|(_, one)| one.name == "unfair").expect("the property is there");
    let task = Task { model: &model, properties: vec![id], budget: Budget::unlimited(), n_threads: 1 };
    match Propagate::default().run(&task, &Silent).unwrap().remove(0).verdict {
        Verdict::Unknown(reason) => {
            let text = reason.to_string();
            assert!(text.starts_with("what one process sees does not exclude a violation"), "{text}");
            assert!(text.contains("P[0] stays at trying"), "{text}");
        }
        other => panic!("{other:?}"),
    }
}

/// A lock whose state is in two cells together: it is taken where they differ. No sum over one of them says so.
#[test]
fn cells_are_weighed_together_where_one_alone_says_nothing() {
    let text = |takes: &str| {
        format!(
            "program parity_lock(N: 2..) {{
               shared x: bool;
               shared y: bool;
               process P[i in 0..<N] {{
                 loop {{
                   out:   idle;
                   want:  atomic {{ {takes} x = !x; }}
                   crit:  skip;
                   leave: y = !y;
                 }}
               }}
               property live: forall i: P[i]@want ~> P[i]@crit under weak P[*], strong P[*]@want;
               property passed: forall i: P[i]@want ~> P[i]@crit under weak P[*];
             }}"
        )
    };
    let load = |takes: &str| {
        let source = SourceFile::new("p.pw", text(takes));
        lang::load(&source, &[("N".to_owned(), 3)]).unwrap_or_else(|wrong| panic!("{wrong:?}")).model
    };
    let model = load("await x == y;");
    assert!(is_proved(&model, "live"));
    assert!(!is_proved(&model, "passed"));
    assert!(!is_proved(&load("await x == y && !x;"), "live"), "after one round nobody gets in any more");
    let Claim::Sights(sights) = &proof(&model, "live").facts[0].claim else { return };
    assert!(sights.additive.iter().any(|sum| !sum.groups.is_empty()), "{:?}", sights.additive);
}

/// Who holds which ticket is a sum in which some weigh less than nothing, and no two hold the same one.
#[test]
fn tickets_are_served_one_after_the_other() {
    for n in [2, 3, 4, 6] {
        assert!(is_proved(&example("ticket", &[("N", n)]), "live"), "N = {n}");
    }
}

/// The cases of the first distinction by components in a proof.
fn cases(proof: &mut Certificate) -> &mut Vec<RefutationCase> {
    let steps = proof.facts.iter_mut().find_map(|fact| match &mut fact.claim {
        Claim::Refutation(claim) => Some(&mut claim.steps),
        _ => None,
    });
    let split = steps.expect("there is a refutation").iter_mut().find_map(|step| match step {
        RefutationStep::Split { cases, .. } => Some(cases),
        _ => None,
    });
    split.expect("components are distinguished")
}

/// Who waits behind whom does not matter: all components in which the same ticket is served are one case. A component that is left out, or stands
/// where other steps follow, is noticed.
#[test]
fn components_are_refuted_together_where_one_sum_says_who_holds_what_they_wait_for() {
    let model = example("ticket", &[("N", 5)]);
    let (_, asked) = model.properties.entries().find(|(_, one)| one.name == "live").expect("the property is there");
    let check = |proof: &Certificate| certificate::check(&model, asked, proof, &Budget::unlimited());
    let mut proof = proof(&model, "live");
    assert!(check(&proof).is_ok());
    let sizes: Vec<usize> = cases(&mut proof).iter().map(|case| case.points.len()).collect();
    assert!(sizes.len() <= 5 && sizes.iter().sum::<usize>() >= 5 * 4, "{sizes:?}");
    let changes: [fn(&mut Vec<RefutationCase>); 5] = [
        |cases| _ = cases.pop(),
        |cases| _ = cases[0].points.pop(),
        |cases| cases[1].points.clear(),
        |cases| {
            let moved: Vec<NodePoint> = cases.drain(1..).flat_map(|case| case.points).collect();
            cases[0].points.extend(moved);
        },
        |cases| {
            let moved = cases[1].points.pop();
            cases[0].points.extend(moved);
        },
    ];
    for (at, change) in changes.iter().enumerate() {
        let mut changed = proof.clone();
        change(cases(&mut changed));
        assert!(check(&changed).is_err(), "change {at}");
    }
}

/// Whoever leaves without a word to the next one, or is not scheduled fairly, lets others wait for ever.
#[test]
fn tickets_that_are_not_handed_on_are_not_served() {
    let text = |leaves: &str, fair: &str| {
        format!(
            "program tickets {{
               shared next: 0..<4;
               shared serving: 0..<4;
               process P[i in 0..<4] {{
                 local mine: 0..<4;
                 loop {{
                   take:  mine, next = next, (next + 1) % 4;
                   wait:  await serving == mine;
                   crit:  skip;
                   leave: {leaves}
                 }}
               }}
               property live: forall i: P[i]@wait ~> P[i]@crit under {fair};
             }}"
        )
    };
    let load = |leaves: &str, fair: &str| {
        let source = SourceFile::new("p.pw", text(leaves, fair));
        lang::load(&source, &[]).unwrap_or_else(|wrong| panic!("{wrong:?}")).model
    };
    let good = load("serving, mine = (serving + 1) % 4, 0;", "weak P[*]");
    let found = proof(&good, "live");
    let twins = [
        load("either { serving, mine = (serving + 1) % 4, 0; } or { mine = 0; }", "weak P[*]"),
        load("serving, mine = (serving + 2) % 4, 0;", "weak P[*]"),
        load("serving, mine = (serving + 1) % 4, 0;", "weak P[0], weak P[1], weak P[2]"),
    ];
    for (at, twin) in twins.iter().enumerate() {
        assert!(!is_proved(twin, "live"), "twin {at}");
        let (_, asked) = twin.properties.entries().next().expect("there is a property");
        assert!(certificate::check(twin, asked, &found, &Budget::unlimited()).is_err(), "twin {at}");
    }
}

/// Whoever holds the gate waits for those inside: a holder of one sum for ever, and within that case one of another.
#[test]
fn readers_and_writers_pass_a_turnstile() {
    for (readers, writers) in [(2, 2), (4, 3)] {
        let model = example("turnstile", &[("R", readers), ("W", writers)]);
        assert!(is_proved(&model, "reads") && is_proved(&model, "writes"), "{readers} + {writers}");
    }
}

/// That there is one token is a sum over all links, of which each station sees two.
#[test]
fn a_token_on_links_comes_to_every_station() {
    for n in [2, 3, 10, 30] {
        assert!(is_proved(&example("token_links", &[("N", n)]), "served"), "N = {n}");
    }
}
