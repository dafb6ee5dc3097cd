//! Cells that no process writes keep what they start with, and proofs say so.

use base::{Budget, SourceFile};
use engine::Verdict;
use evidence::Evidence;
use model::property::PropertyKind;
use symbolic::engines::Symbolic;

use crate::faults::{METHODS, verdict, words};

#[test]
fn issue_0012_a_cell_that_nobody_mentions_has_its_initial_value() {
    let text = "program s { shared x: 0..=3 = 1; shared y: bool; process P[i in 0..<2] { loop { s: y = !y; } }
                invariant p: x == 1; }";
    assert_eq!(words(text), ["holds"; 5]);
    assert_eq!(words(&text.replace("x == 1", "x == 2")), ["violated"; 5]);
}

#[test]
fn cells_that_start_anywhere_are_not_equal_although_nobody_writes_them() {
    let text = "program s { shared x: 0..=3 = any; shared y: 0..=3 = any; shared z: bool;
                process P[i in 0..<2] { loop { s: z = !z; } } invariant p: x == y; }";
    assert_eq!(words(text), ["violated"; 5]);
    assert_eq!(words(&text.replace("x == y", "x + y <= 6")), ["holds"; 5]);
}

#[test]
fn a_cell_that_is_read_only_keeps_its_value_for_all() {
    let text = "program s { shared x: 0..=3 = 2; shared y: 0..=3;
                process P { loop { s: y = x; } } process Q { loop { t: y = 0; } } invariant p: y == 0 || y == 2; }";
    assert_eq!(words(text), ["holds"; 5]);
}

#[test]
fn arrays_and_publics_that_nobody_writes() {
    let text = "program s { shared a: [0..=3; 3] = [1, 2, 3]; shared z: bool;
                process P[i in 0..<2] { public r: [0..=3; 2] = [3, 1]; loop { s: z = !z; } }
                invariant p: forall k in 0..=1: a[k] < a[k + 1] && P[k].r[0] + P[k].r[1] == 4; }";
    assert_eq!(words(text), ["holds"; 5]);
}

/// The relation of `x` and `y` is kept by a handshake: the process that sees one does not see the other.
#[test]
fn completion_goes_on_with_the_whole_store_where_nothing_is_left_to_expose() {
    let text = "program s { shared x: bool; shared y: bool; shared turn: bool;
                process P { loop { a: atomic { await !turn; turn = true; x = !x; } } }
                process Q { loop { b: atomic { await turn; turn = false; y = !y; } } }
                invariant p: turn || x == y; }";
    assert_eq!(words(text)[4], "holds");
}

/// A proof that a cell keeps its value is refused for a program in which a process writes it.
#[test]
fn the_checker_refuses_the_proof_where_a_process_writes_the_cell() {
    let text = "program s { shared x: 0..=3 = 1; shared y: bool; process P { loop { s: y = !y; } }
                invariant p: x == 1; }";
    let load = |text: &str| lang::load(&SourceFile::new("test.pw", text), &[]).expect("the program is right").model;
    let (model, changed) = (load(text), load(&text.replace("s: y = !y;", "s: x = 2;")));
    for method in METHODS.into_iter().filter(|&method| method != Symbolic::KIndex(2)) {
        let is_asked = |id: &engine::PropertyId| matches!(model.properties[*id].kind, PropertyKind::Invariant(_));
        let id = model.properties.ids().find(is_asked).expect("there is one");
        let Verdict::Holds(Evidence::Certificate(proof)) = verdict(&method, &model, id) else { panic!("{method:?}") };
        let checked = |model| audit::certificate::check(model, &model.properties[id], &proof, &Budget::unlimited());
        assert!(checked(&model).is_ok(), "{method:?}");
        assert!(checked(&changed).is_err(), "{method:?}");
    }
}
