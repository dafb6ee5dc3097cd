//! Examples that are rings, chains and trees: what is proved for every size, with windows of how many processes; and what is wrong is not.

use base::{Budget, SourceFile};
use engine::{Engine, Silent, Task, Verdict};
use evidence::Evidence;
use model::Model;
use rings::ByRings;

fn load_at(name: &str, given: &[(String, i64)]) -> Model {
    let path = format!("{}/../../examples/{name}.pw", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap();
    lang::load(&SourceFile::new(&path, &text), given).unwrap_or_else(|wrong| panic!("{name}: {wrong:?}")).model
}

/// How many processes a window of the proof of a property has, if there is a proof, which the checker accepts.
fn proved(name: &str, asked: &str) -> Option<usize> {
    let model = load_at(name, &[]);
    let property = model.properties.entries().find(|(_, one)| one.name == asked).unwrap().0;
    let task = Task { model: &model, properties: vec![property], budget: Budget::unlimited(), n_threads: 1 };
    match ByRings::for_every_size().run(&task, &Silent).unwrap().remove(0).verdict {
        Verdict::Holds(Evidence::Certificate(proof)) => {
            audit::certificate::check(&model, &model.properties[property], &proof, &Budget::unlimited())
                .unwrap_or_else(|error| panic!("{name}.{asked}: {error}"));
            proof.rings().map(|rings| rings.width)
        }
        Verdict::Unknown(_) => None,
        other => panic!("{name}.{asked}: {other:?}"),
    }
}

#[test]
fn rings_and_chains_are_proved_for_every_size() {
    for (name, property, width) in [
        ("philosophers", "neighbours", 2),
        ("philosophers", "own_forks", 1),
        ("philosophers", "no_errors", 1),
        ("philosophers", "deadlock_free", 1),
        ("token_links", "mutex", 1),
        ("token_links", "one_place", 1),
        ("token_links", "holder", 1),
        ("token_links", "deadlock_free", 1),
        ("token_ring", "mutex", 1),
        ("token_ring", "holder", 1),
        ("token_ring", "deadlock_free", 1),
        ("token_ring", "visits", 1),
        ("token_ring", "served", 1),
        ("dijkstra_ring", "deadlock_free", 1),
        ("pipeline", "deadlock_free", 1),
        ("pipeline", "holds_one", 1),
        ("pipeline", "first", 1),
        ("mux_sem", "deadlock_free", 1),
        ("mux_sem", "mutex", 1),
        ("philosophers_odd", "deadlock_free", 1),
        ("philosophers_line", "neighbours", 2),
        ("philosophers_line", "live", 1),
        ("philosophers_bits", "neighbours", 2),
        ("milner", "one_token", 1),
        ("milner", "again", 1),
        ("handshake", "deadlock_free", 1),
        ("handshake", "flows", 1),
        ("request_chain", "granted", 1),
        ("traffic", "deadlock_free", 1),
        ("traffic", "moves", 1),
    ] {
        assert_eq!(proved(name, property), Some(width), "{name}.{property}");
    }
}

#[test]
fn trees_are_proved_for_every_size() {
    for (name, property) in [
        ("tree_arbiter", "no_errors"),
        ("tree_arbiter", "deadlock_free"),
        ("tree_arbiter", "mutex"),
        ("tree_arbiter", "let"),
        ("tree_arbiter", "live"),
        ("philosophers_tree", "deadlock_free"),
        ("philosophers_tree", "own_forks"),
        ("philosophers_tree", "live"),
    ] {
        assert_eq!(proved(name, property), Some(1), "{name}.{property}");
    }
}

#[test]
fn what_is_wrong_is_not_proved() {
    for (name, property) in [
        ("tree_arbiter", "asleep"),
        ("tree_arbiter_broken", "mutex"),
        ("tree_arbiter_broken", "live"),
        ("philosophers_tree", "snatched"),
        ("milner_broken", "deadlock_free"),
        ("handshake_broken", "flows"),
        ("traffic_broken", "deadlock_free"),
        ("philosophers_broken", "deadlock_free"),
        ("token_links_broken", "mutex"),
        ("pipeline_broken", "deadlock_free"),
    ] {
        assert_eq!(proved(name, property), None, "{name}.{property}");
    }
}

/// A program at another size is the program that the front-end makes at that size.
#[test]
fn a_resized_program_is_the_program_at_that_size() {
    for name in ["philosophers", "token_links", "pipeline", "dijkstra_ring", "mux_sem", "permits", "tree_arbiter"] {
        for (from, to) in [(3, 6), (6, 4), (4, 4)] {
            let at = |n: i64| load_at(name, &[("N".to_owned(), n)]);
            let small = at(from);
            let size = model::template::sized_family(&small).unwrap().parameter;
            let (resized, loaded) = (small.resized(size, to).unwrap(), at(to));
            assert_eq!(text_of(&resized), text_of(&loaded), "{name} from {from} to {to}");
        }
    }
}

/// All of a program that steps and properties of states depend on.
fn text_of(model: &Model) -> String {
    let properties: Vec<_> = model.properties.iter().map(|one| (&one.name, &one.kind)).collect();
    format!(
        "{:?}",
        (
            (&model.vars, &model.cells, model.n_shared_cells, &model.families, &model.processes),
            (&model.places, &model.actions, &model.loops, &model.enums),
            (&model.forms.lengths, &model.forms.bounds, properties),
        )
    )
}

/// A property of another shape is refused for what it does: it counts, it looks at all, or one process looks at all others.
#[test]
fn a_property_about_more_than_neighbours_is_refused_for_what_it_does() {
    for (property, why) in [
        ("count(i: P[i]@b) <= 1", "it counts, and windows show no more than neighbours"),
        ("!(exists i: P[i]@b)", "it looks at all processes, and windows show no more than neighbours"),
        ("forall i: P[i]@b => exists j: P[j]@a", "it looks at all processes from one of them"),
        ("forall i: exists v in 0..=1: v == 1 && x[i]", "it has a quantifier of its own"),
    ] {
        let text = format!(
            "program t(N: 2..) {{ shared x: [bool; N]; \
             process P[i in 0..<N] {{ loop {{ a: await x[i]; b: x[(i + 1) % N] = true; }} }} invariant v: {property}; }}"
        );
        let model = crate::random::load(&text, 3).unwrap();
        let asked = model.properties.entries().find(|(_, one)| one.name == "v").unwrap().0;
        assert_eq!(rings::engine::obstacle(&model, asked).unwrap().text, why, "{property}");
    }
}
