//! `graph`, local state graphs behind `check`, and reduction, from the outside.

use crate::support::Place;

const PHILOSOPHERS: &str = "program phil(N: 2..) {
    shared taken: [bool; N];
    process P[i in 0..<N] {
        loop {
            left:  atomic { await !taken[i]; taken[i] = true; }
            right: atomic { await !taken[(i + 1) % N]; taken[(i + 1) % N] = true; }
            eaten: taken[i] = false;
            leave: taken[(i + 1) % N] = false;
        }
    }
    invariant apart: forall i: !(P[i]@eaten && P[(i + 1) % N]@eaten);
    property live: always eventually P[0]@eaten;
}
";

const LOCK: &str = "byte turn;
process P { state idle, busy; init idle;
  trans idle -> busy { guard turn == 0; }, busy -> idle { effect turn = 1; }; }
process Q { state idle, busy; init idle;
  trans idle -> busy { guard turn == 1; }, busy -> idle { effect turn = 0; }; }
system async;
";

#[test]
fn sizes_for_people_and_scripts() {
    let place = Place::with("phil.pw", PHILOSOPHERS);
    for (method, states) in [("mono", 9), ("ls3+", 9), ("ls3", 9), ("tmmc", 16)] {
        let json = place.run(&format!("graph phil.pw -N 4 --method {method} --format json")).exits(0).json();
        assert_eq!((json["schema"].as_str(), json["method"].as_str()), (Some("piecewise-graph/1"), Some(method)));
        assert_eq!(json["complete"], true);
        let processes = json["processes"].as_array().unwrap();
        assert_eq!(processes.len(), 4);
        assert!(processes.iter().all(|one| one["states"] == states), "{method}: {json}");
        assert_eq!(processes[0]["name"], "P[0]");
    }
    place.run("graph phil.pw -N 4").exits(0).prints("P[3]").prints("joint states of two processes");
    let told = place.run("graph phil.pw -N 4 --process P[1]").exits(0).prints("P[1]");
    assert!(!told.out.contains("P[0]"));
}

#[test]
fn a_drawing_has_own_steps_and_those_of_others() {
    let place = Place::with("phil.pw", PHILOSOPHERS);
    let told = place.run("graph phil.pw -N 3 --process P[0] --format dot -o graph.dot").exits(0);
    assert_eq!(told.out, "");
    let dot = std::fs::read_to_string(place.path().join("graph.dot")).unwrap();
    assert!(dot.starts_with("digraph \"phil\" {") && dot.ends_with("}\n"), "{dot}");
    assert_eq!((dot.matches(" -> ").count(), dot.matches("style=dashed").count()), (18, 12), "{dot}");
    assert!(dot.contains("taken[0] = true") && dot.contains("P[1]: taken[i] = false"), "{dot}");
}

#[test]
fn wrong_calls_are_refused_in_words() {
    let place = Place::with("phil.pw", PHILOSOPHERS);
    place.run("graph phil.pw --process Q[0]").exits(2).complains("there is no process `Q[0]`");
    place.run("graph phil.pw --method ls4").exits(2).complains("did you mean `ls3`?");
    place.run("graph phil.pw -N 2..4").exits(2).complains("is a sweep");
    place.write("calls.pw", "program calls { shared x: 0..=1; proc f() { x = 1; } process P { call f(); } }");
    place.run("graph calls.pw").exits(2).complains("procedures have stacks");
    let told = place.run("graph phil.pw -N 200 --method mono --timeout 1ms --format json").exits(3);
    assert_eq!(told.json()["complete"], false);
}

#[test]
fn reduction_finds_deadlocks_and_refuses_what_it_does_not_keep() {
    let place = Place::with("phil.pw", PHILOSOPHERS);
    let told = place.run("check phil.pw -N 8 --method stubborn --property deadlock_free --format json").exits(1);
    let json = told.json();
    assert_eq!(json["runs"][0]["results"][0]["verdict"], "violated");
    assert_eq!(json["runs"][0]["results"][0]["audited"], true);
    assert!(json["runs"][0]["results"][0]["global_states"].as_u64().unwrap() <= 170, "{json}");
    let told = place.run("check phil.pw -N 4 --method stubborn --property apart").exits(0);
    told.prints("of the reachable ones were enough").prints("decided on the reduced whole product (stubborn)");
    let json = place.run("check phil.pw --method stubborn --property live --format json").exits(3).json();
    assert_eq!(json["runs"][0]["results"][0]["reason"]["code"], "not-supported");
    place.run("check phil.pw --method stubborn --property live").exits(3).prints("temporal properties");
}

#[test]
fn local_graphs_prove_and_say_where() {
    let place = Place::with("phil.pw", PHILOSOPHERS);
    for method in ["ls3", "ls3+"] {
        let call = format!("check phil.pw -N 6 --method {method} --property apart --format json");
        let json = place.run(&call).exits(0).json();
        assert_eq!(
            (&json["runs"][0]["results"][0]["verdict"], &json["runs"][0]["results"][0]["audited"]),
            (&"holds".into(), &true.into())
        );
        assert_eq!(json["runs"][0]["results"][0]["method"], method);
        place.run(&format!("check phil.pw -N 6 --method {method} --property apart --proof out")).exits(0);
        place.run("proof check out/phil.apart.proof.json phil.pw").exits(0);
    }
    place.write("lock.dve", LOCK);
    place.run("check lock.dve --goal P.busy&&Q.busy").exits(1).prints("decided locally (tmmc)");
    place.run("check lock.dve --goal P.busy&&turn==0 --property goal").exits(0).prints("REACHED");
}
