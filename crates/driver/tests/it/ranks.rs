//! Ranks of a process that no run is said to keep to, claimed of temporal properties that are false: in each claim one thing is not so, and the
//! checker refuses it for that.

use base::{Budget, SourceFile};
use driver::methods;
use engine::{Silent, Task, Verdict};
use evidence::Evidence;
use evidence::certificate::{
    Certificate, Claim, Column, Fact, Focus, NoFairRun, RankReason, RankTree, SplitInvariant, StateSet, Variant,
};
use evidence::plain;
use model::Model;
use model::process::ProcessId;
use model::property::PropertyKind;

/// A program whose first process is `P`, with a property `p` that is false and one, `t`, that is true; and what is claimed of `p`.
struct Ranked {
    /// What the checker would not see.
    leaves_out: &'static str,
    program: &'static str,
    /// The nodes of `P`, each with the first state of the automaton: where it stands, and what `g` is.
    nodes: &'static [(&'static str, bool)],
    /// The rank of each node, and the reason for each rank.
    ranks: &'static [u32],
    reasons: fn() -> Vec<RankReason>,
}

const RANKED: [Ranked; 14] = [
    Ranked {
        leaves_out: "turns of others",
        program: "shared g: bool = true; process P { a: await g; c: skip; } process S { loop { s: g = !g; } }
            property p: eventually P@c under weak P;",
        nodes: &[("a", true), ("c", true)],
        ranks: &[1, 0],
        reasons: || vec![RankReason::Trivial, RankReason::Trivial],
    },
    Ranked {
        leaves_out: "where others may stand",
        program: "shared g: bool; process P { loop { a: skip; } } process S { b: skip; c: skip; }
            property p: eventually S@c;",
        nodes: &[("a", false)],
        ranks: &[0],
        reasons: || vec![RankReason::Trivial],
    },
    Ranked {
        leaves_out: "that nothing says that the process has turns",
        program: "shared g: bool; process P { a: skip; c: skip; } process S { loop { s: skip; } }
            property p: eventually P@c;",
        nodes: &[("a", false), ("c", false)],
        ranks: &[1, 0],
        reasons: || vec![RankReason::Trivial, RankReason::Own],
    },
    Ranked {
        leaves_out: "that what is assumed is so before a turn",
        program: "shared g: bool = true; process P { a: await !g; c: skip; }
            property p: eventually P@c under weak g;",
        nodes: &[("a", true)],
        ranks: &[0],
        reasons: || vec![RankReason::Pair(0, Box::default())],
    },
    Ranked {
        leaves_out: "that a rank rises",
        program: "shared g: bool; process P { loop { a: skip; b: skip; } } property p: eventually g;",
        nodes: &[("a", false), ("b", false)],
        ranks: &[1, 0],
        reasons: || vec![RankReason::Trivial, RankReason::Trivial],
    },
    Ranked {
        leaves_out: "turns that keep to a rank",
        program: "shared g: bool; process P { loop { a: skip; b: skip; } } property p: eventually g;",
        nodes: &[("a", false), ("b", false)],
        ranks: &[0, 0],
        reasons: || vec![RankReason::Trivial],
    },
    Ranked {
        leaves_out: "nodes that are free of an assumption",
        program: "shared g: bool; process P { a: await g; c: skip; } property p: eventually P@c under strong P;",
        nodes: &[("a", false)],
        ranks: &[0],
        reasons: || vec![RankReason::Pair(0, Box::default())],
    },
    Ranked {
        leaves_out: "that there is no such mark",
        program: "shared g: bool; process P { a: await g; c: skip; } property p: eventually P@c;",
        nodes: &[("a", false)],
        ranks: &[0],
        reasons: || vec![RankReason::Missing(99)],
    },
    Ranked {
        leaves_out: "that a process may stand still",
        program: "shared g: bool; process P { a: await g; c: skip; } property p: eventually P@c under every P;",
        nodes: &[("a", false)],
        ranks: &[0],
        reasons: || vec![RankReason::Trivial],
    },
    Ranked {
        leaves_out: "that a process may stay at `idle`",
        program: "shared g: bool; process P { a: idle; c: skip; } property p: eventually P@c under every P;",
        nodes: &[("a", false), ("c", false)],
        ranks: &[1, 0],
        reasons: || vec![RankReason::Trivial, RankReason::Trivial],
    },
    Ranked {
        leaves_out: "a rendezvous of the process itself",
        program: "shared g: bool; chan c: [0] of (); process P { a: send c(); b: skip; }
            process S { loop { s: receive c(); } } property p: eventually g;",
        nodes: &[("a", false)],
        ranks: &[0],
        reasons: || vec![RankReason::Trivial],
    },
    Ranked {
        leaves_out: "a rendezvous of two others",
        program: "shared g: bool; chan c: [0] of (bool); process P { a: await !g; c: skip; }
            process S { loop { s: send c(true); r: send c(false); } } process R { loop { l: receive c(g); } }
            property p: eventually P@c under weak P;",
        nodes: &[("a", false), ("c", false)],
        ranks: &[1, 0],
        reasons: || vec![RankReason::Trivial, RankReason::Trivial],
    },
    Ranked {
        leaves_out: "that a process stutters while its partner is elsewhere",
        program: "shared g: bool; chan c: [0] of (); process P { a: send c(); b: skip; }
            process S { loop { s: skip; r: receive c(); } } property p: eventually P@b under every P;",
        nodes: &[("a", false), ("b", false)],
        ranks: &[1, 0],
        reasons: || vec![RankReason::Trivial, RankReason::Pair(0, Box::default())],
    },
    Ranked {
        leaves_out: "that a process is not enabled while its partner is elsewhere",
        program: "shared g: bool; chan c: [0] of (); process P { a: send c(); b: skip; }
            process S { loop { s: skip; r: receive c(); } } property p: eventually P@b under weak P;",
        nodes: &[("a", false), ("b", false)],
        ranks: &[1, 0],
        reasons: || vec![RankReason::Trivial, RankReason::Pair(0, Box::default())],
    },
];

fn load(text: &str) -> Model {
    match lang::load(&SourceFile::new("ranks.pw", text), &[]) {
        Ok(loaded) => loaded.model,
        Err(diagnostics) => panic!("{diagnostics:?}\n{text}"),
    }
}

fn ask(method: &str, model: &Model, property: &str) -> Verdict {
    let properties = vec![driver::select::find(model, property).unwrap()];
    let task = Task { model, properties, budget: Budget::unlimited(), n_threads: 1 };
    methods::checker(methods::find(method).unwrap()).check(&task, &Silent).unwrap().remove(0).verdict
}

/// The row of the first process in which it stands there, and `g` is this.
fn row(model: &Model, invariant: &SplitInvariant, (label, g): (&str, bool)) -> u32 {
    let member = &invariant.members[0];
    let StateSet::Rows(rows) = &member.states else { panic!("rows are listed") };
    let is_it = |row: &Vec<u32>| {
        member.columns.iter().zip(row).all(|(column, &number)| match column {
            Column::Cell(cell) => model.cells[*cell].name != "g" || number == u32::from(g),
            Column::Control(_) => model.places[invariant.points[0][number as usize].place].name == label,
            Column::Exposed(_) => true,
        })
    };
    rows.iter().position(is_it).unwrap_or_else(|| panic!("{label} where g is {g}")) as u32
}

/// The invariant of a proof of `t`, with ranks for `p` over it.
fn forged(model: &Model, Ranked { nodes, ranks, reasons, .. }: &Ranked) -> Certificate {
    let mut certificate = match ask("fll-b", model, "t") {
        Verdict::Holds(Evidence::Certificate(certificate)) => *certificate,
        other => panic!("{other:?}"),
    };
    certificate.facts.truncate(1);
    certificate.property = "p".to_owned();
    let Claim::SplitInvariant(invariant) = &certificate.facts[0].claim else { panic!("no invariant") };
    let nodes = nodes.iter().map(|&node| (row(model, invariant, node), 0)).collect();
    let focus =
        Focus { process: ProcessId::new(0), nodes, ranks: RankTree { ranks: ranks.to_vec(), reasons: reasons() } };
    let property = &model.properties[driver::select::find(model, "p").unwrap()];
    let PropertyKind::Temporal(formula) = &property.kind else { panic!("it is about runs") };
    for violation in plain::violations(model, property, formula).unwrap() {
        let (violation, automaton) = (violation.name(model), violation.automaton.names(model));
        let claim = NoFairRun { violation, automaton, variant: Variant::OneProcess, foci: vec![focus.clone()] };
        certificate.facts.push(Fact { claim: Claim::NoFairRun(claim), uses: vec![0] });
    }
    certificate
}

/// A property of every two processes, where there is one: nothing violates it, and nothing has to be shown.
#[test]
fn a_property_without_instances_holds_without_a_fact() {
    let model = load(
        "program r { shared x: 0..=2; process P[i in 0..<1] { loop { a: x = 1; b: x = 0; } }
         property p: forall i != j: eventually (P[i]@b && 6 / x > 1) under every P[*];
         property q: forall i: eventually (P[i]@b && x == 2) under every P[*]; }",
    );
    let asked = |name: &str| &model.properties[driver::select::find(&model, name).unwrap()];
    for method in ["ll", "fll-a", "fll-b", "propagate"] {
        let Verdict::Holds(Evidence::Certificate(mut proof)) = ask(method, &model, "p") else { panic!("{method}") };
        audit::certificate::check(&model, asked("p"), &proof, &Budget::unlimited()).unwrap();
        let text = evidence::proof_file::to_text(&model, &proof, method);
        assert_eq!(evidence::proof_file::read(text.as_bytes(), &model).as_ref(), Ok(&*proof), "{text}");
        proof.property = "q".to_owned();
        assert!(audit::certificate::check(&model, asked("q"), &proof, &Budget::unlimited()).is_err(), "{method}");
    }
}

#[test]
fn ranks_that_leave_something_out_are_refused() {
    for ranked in RANKED {
        let Ranked { leaves_out, program, .. } = &ranked;
        let model = load(&format!("program r {{ {program} property t: P@a ~> P@a; allow deadlock; }}"));
        let truth = ask("mono", &model, "p");
        assert!(matches!(truth, Verdict::Violated(_)), "{leaves_out}: {truth:?}");
        let certificate = forged(&model, &ranked);
        let id = driver::select::find(&model, "p").unwrap();
        let checked = audit::certificate::check(&model, &model.properties[id], &certificate, &Budget::unlimited());
        assert!(checked.is_err(), "the checker does not see {leaves_out}: {checked:?}");
    }
}
