//! `export` from the outside: what it writes, and what it refuses.

use crate::support::Place;

const LOCK: &str = "program lock(N: 2..) {
    shared free: bool = true;
    process P[i in 0..<N] {
        loop {
            trying: atomic { await free; free = false; }
            crit:   free = true;
        }
    }
    invariant mutex: forall i != j: !(P[i]@crit && P[j]@crit);
    property  live:  P[0]@trying ~> P[0]@crit under strong P[*]@trying, every P[*];
}
";

const DEEP: &str = "program deep(N: 1..) {
    shared n: 0..=3;
    proc down(left: 0..=3) { if left > 0 { call down(left - 1); } }
    proc again(left: 0..=3) { call other(left); }
    proc other(left: 0..=3) { call again(left); }
    process P[i in 0..<N] { call down(3); call again(1); }
}
";

#[test]
fn every_language_says_where_its_text_comes_from() {
    let place = Place::with("lock.pw", LOCK);
    for (language, part) in [
        ("promela", "ltl mutex { [] ("),
        ("smv", "INVARSPEC NAME mutex := "),
        ("dve", "system async;"),
        ("dot", "digraph \"lock\""),
    ] {
        let told = place.run(&format!("export lock.pw -N 3 --to {language}")).exits(0);
        let title = format!("made from lock.pw by piecewise export --to {language}");
        assert!(told.out.contains(&title) && told.out.contains(part), "{}", told.out);
        assert!(told.out.contains("N = 3"), "{}", told.out);
    }
    place.run("export lock.pw --to promela").exits(0).prints("line 5: trying: atomic").prints("-DRUNS -DTURNS");
}

#[test]
fn a_file_is_written_whole_or_not_at_all() {
    let place = Place::with("lock.pw", LOCK);
    let told = place.run("export lock.pw --to smv -o lock.smv").exits(0);
    assert_eq!(told.out, "");
    let text = std::fs::read_to_string(place.path().join("lock.smv")).unwrap();
    assert!(text.contains("MODULE main") && text.contains("COMPASSION("), "{text}");
    assert!(!text.contains("\nIVAR"), "{text}");
    place.run("export lock.pw --to smv -o no/such/lock.smv").exits(2);
    place.run("export lock.pw --to smv -o ./lock.pw").exits(2);
    assert_eq!(std::fs::read_to_string(place.path().join("lock.pw")).unwrap(), LOCK);
}

#[test]
fn everything_that_stands_in_the_way_is_said_at_once() {
    let place = Place::with("deep.pw", DEEP);
    for language in ["promela", "smv", "dve"] {
        let told = place.run(&format!("export deep.pw --to {language} -o out")).exits(2);
        assert!(told.err.contains("deep.pw:3:") && told.err.contains("`down` may call itself"), "{}", told.err);
        assert!(told.err.contains("`again` may call itself"), "{}", told.err);
        assert!(!place.path().join("out").exists());
    }
    // A drawing of control has no stack.
    place.run("export deep.pw --to dot").exits(0).prints("proc down");
}

#[test]
fn a_call_that_makes_no_sense_is_refused() {
    let place = Place::with("lock.pw", LOCK);
    place.run("export lock.pw").exits(2);
    place.run("export lock.pw --to tla").exits(2);
    place.run("export lock.pw -N 2..4 --to promela").exits(2);
}

#[test]
fn a_program_in_dve_comes_back_with_as_many_states() {
    let place = Place::with("lock.pw", LOCK);
    place.run("export lock.pw -N 3 --to dve -o lock.dve").exits(0);
    let count = |file: &str| {
        let json = &place.run(&format!("explore {file} --format json")).exits(0).json()["runs"][0];
        (json["states"].clone(), json["transitions"].clone(), json["deadlocks"].clone())
    };
    assert_eq!(count("lock.pw -N 3"), count("lock.dve"));
}
