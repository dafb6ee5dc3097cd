//! What a proof by views says about its own form: rules that hide columns, what views say of all processes, the shape of a view. No method makes the wrong
//! ones below; each is refused for what is wrong with it, in the words of the check that is there for it.

use base::{Budget, SourceFile};
use driver::methods;
use engine::{Silent, Task, Verdict};
use evidence::Evidence;
use evidence::certificate::{Certificate, Claim};
use evidence::views::{Hiding, Item, LocalColumn, Presence, SharedColumn, ViewColumn, ViewsProof};
use model::Model;
use model::process::ProcessId;
use model::value::Value;

/// A lock, a cell that names a process, and a number of each process.
const PROGRAM: &str = "program rules(N: 2..) {
  shared x: 0..=1 = 1;
  shared cur: pid(P)? = none;
  process P[i in 0..<N] {
    local a: 0..=1;
    local w: pid(P)?;
    loop {
      n: atomic { await x == 1; x = 0; cur = i; }
      c: atomic { a = 1 - a; w = cur; }
      l: atomic { x = 1; cur = none; }
    }
  }
  invariant p: forall i != j: !(P[i]@c && P[j]@c);
}";

fn load() -> Model {
    match lang::load(&SourceFile::new("rules.pw", PROGRAM), &[]) {
        Ok(loaded) => loaded.model,
        Err(diagnostics) => panic!("{diagnostics:?}"),
    }
}

fn proof(model: &Model) -> Certificate {
    let properties = vec![driver::select::find(model, "p").unwrap()];
    let task = Task { model, properties, budget: Budget::unlimited(), n_threads: 1 };
    let verdict = methods::checker(methods::find("views").unwrap()).check(&task, &Silent).unwrap().remove(0).verdict;
    match verdict {
        Verdict::Holds(Evidence::Certificate(certificate)) => *certificate,
        other => panic!("{other:?}"),
    }
}

/// The views of a proof.
fn views(certificate: &mut Certificate) -> &mut ViewsProof {
    match certificate.facts.last_mut().map(|fact| &mut fact.claim) {
        Some(Claim::Views(proof)) => proof,
        _ => panic!("no views"),
    }
}

/// Columns of the views, by what they show.
struct Columns {
    /// The number that all see, and the process that is named.
    x: usize,
    cur: usize,
    /// Where a process is, its number, and whom it remembers.
    control: usize,
    a: usize,
    w: usize,
}

impl Columns {
    fn of(model: &Model, proof: &ViewsProof) -> Columns {
        let name = |cell: model::variable::CellId| model.vars[model.cells[cell].var].name.as_str();
        let shared = |wanted: &str| {
            let is_it = |column: &SharedColumn| matches!(column, SharedColumn::Cell(cell) if name(*cell) == wanted);
            proof.shared.iter().position(is_it).unwrap_or_else(|| panic!("`{wanted}` is not shown"))
        };
        let local = |wanted: LocalColumn| {
            let found = proof.local.iter().position(|column| *column == wanted);
            found.unwrap_or_else(|| panic!("{wanted:?} is not shown"))
        };
        let [control, a, w] = [LocalColumn::Control, LocalColumn::Own(0), LocalColumn::Own(1)].map(local);
        Columns { x: shared("x"), cur: shared("cur"), control, a, w }
    }
}

/// An edit of a proof, and what the checker says of it.
type Edit = (fn(&mut ViewsProof, &Columns), &'static str);

fn check(edits: &[Edit]) {
    let model = load();
    let id = driver::select::find(&model, "p").unwrap();
    let whole = proof(&model);
    for (at, (edit, said)) in edits.iter().enumerate() {
        let mut certificate = whole.clone();
        let proof = views(&mut certificate);
        proof.hidden.clear();
        let columns = Columns::of(&model, proof);
        edit(proof, &columns);
        let checked = audit::certificate::check(&model, &model.properties[id], &certificate, &Budget::unlimited());
        let refusal = checked.expect_err("it is refused").to_string();
        assert!(refusal.contains(said), "edit {at}: {refusal}, not {said}");
    }
}

fn number(value: i64) -> Item {
    Item::Value(Value::Int(value))
}

const NO_COLUMN: &str = "a rule hides, or looks at, a column that there is not";
const MAY_BE_HIDDEN: &str = "a rule looks at what may be hidden";
const CONTROL: &str = "control and loops are not hidden";
const WHO_LOOKS: &str = "what is shared does not depend on who looks";
const APART: &str = "a rule tells processes apart";
const SHOWN: &str = "a view shows what is hidden, or hides what is shown";
const NOT_SHOWN_OF_ONE: &str = "it says of all processes what views do not show of one";
const NO_SHAPE: &str = "a view has not the shape of a view";

#[test]
fn rules_that_hide_are_rules() {
    check(&[
        (
            |proof, at| {
                proof.hidden.push(Hiding {
                    what: ViewColumn::Shared(99),
                    when: Some(ViewColumn::Shared(at.x)),
                    is: vec![],
                })
            },
            NO_COLUMN,
        ),
        (
            |proof, at| {
                proof.hidden.push(Hiding {
                    what: ViewColumn::Local(99),
                    when: Some(ViewColumn::Shared(at.x)),
                    is: vec![],
                })
            },
            NO_COLUMN,
        ),
        (
            |proof, at| {
                proof.hidden.push(Hiding {
                    what: ViewColumn::Local(at.a),
                    when: Some(ViewColumn::Local(99)),
                    is: vec![],
                })
            },
            NO_COLUMN,
        ),
        (
            |proof, at| {
                let (a, w, x) = (ViewColumn::Local(at.a), ViewColumn::Local(at.w), ViewColumn::Shared(at.x));
                proof.hidden.push(Hiding { what: w, when: Some(a), is: vec![number(0)] });
                proof.hidden.push(Hiding { what: a, when: Some(x), is: vec![number(0)] });
            },
            MAY_BE_HIDDEN,
        ),
        (
            |proof, at| {
                let (what, when) = (ViewColumn::Local(at.control), ViewColumn::Shared(at.x));
                proof.hidden.push(Hiding { what, when: Some(when), is: vec![number(0)] });
            },
            CONTROL,
        ),
        (
            |proof, at| {
                let (what, when) = (ViewColumn::Shared(at.x), ViewColumn::Local(at.a));
                proof.hidden.push(Hiding { what, when: Some(when), is: vec![number(0)] });
            },
            WHO_LOOKS,
        ),
        (
            |proof, at| {
                let (what, when) = (ViewColumn::Local(at.a), ViewColumn::Shared(at.cur));
                proof.hidden.push(Hiding { what, when: Some(when), is: vec![Item::Slot(0)] });
            },
            APART,
        ),
        (
            |proof, at| {
                let first = Item::Value(Value::Process(ProcessId::new(0)));
                let (what, when) = (ViewColumn::Local(at.a), ViewColumn::Shared(at.cur));
                proof.hidden.push(Hiding { what, when: Some(when), is: vec![first] });
            },
            APART,
        ),
    ]);
}

#[test]
fn views_hide_what_rules_hide_and_nothing_else() {
    check(&[
        (
            |proof, at| {
                let (what, when) = (ViewColumn::Local(at.a), ViewColumn::Shared(at.x));
                proof.hidden.push(Hiding { what, when: Some(when), is: vec![number(0)] });
            },
            SHOWN,
        ),
        (
            |proof, at| {
                let local = proof.views[0].slots.iter_mut().flatten().next().unwrap();
                local[at.a] = Item::Hidden;
            },
            SHOWN,
        ),
        (|proof, at| proof.views[0].shared[at.x] = Item::Hidden, SHOWN),
    ]);
}

#[test]
fn what_is_said_of_all_is_shown_of_one() {
    check(&[
        (|proof, _| proof.present.push(Presence { column: 99, is: vec![number(1)] }), NOT_SHOWN_OF_ONE),
        (|proof, at| proof.present.push(Presence { column: at.control, is: vec![number(1)] }), NOT_SHOWN_OF_ONE),
        (|proof, at| proof.present.push(Presence { column: at.a, is: vec![Item::Slot(0)] }), NOT_SHOWN_OF_ONE),
        (
            |proof, at| {
                let first = Item::Value(Value::Process(ProcessId::new(0)));
                proof.present.push(Presence { column: at.w, is: vec![first] });
            },
            NOT_SHOWN_OF_ONE,
        ),
        (
            |proof, at| {
                let (what, when) = (ViewColumn::Local(at.a), ViewColumn::Shared(at.x));
                proof.hidden.push(Hiding { what, when: Some(when), is: vec![number(0)] });
                proof.present.push(Presence { column: at.a, is: vec![number(1)] });
            },
            NOT_SHOWN_OF_ONE,
        ),
        // Nothing is said where something is to be said, and something that is no truth value.
        (|proof, at| proof.present.push(Presence { column: at.a, is: vec![number(1)] }), NO_SHAPE),
        (
            |proof, at| {
                proof.present.push(Presence { column: at.a, is: vec![number(1)] });
                proof.views.iter_mut().for_each(|view| view.shared.push(number(1)));
            },
            NO_SHAPE,
        ),
        (|proof, _| proof.views[0].shared.push(number(1)), NO_SHAPE),
        (|proof, _| proof.views[0].slots.iter_mut().flatten().next().unwrap().truncate(1), NO_SHAPE),
    ]);
}
