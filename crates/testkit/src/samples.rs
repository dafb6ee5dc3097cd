//! Small programs made by hand, for tests that need something of everything.

use model::Model;
use model::control::{ProcedureId, StmtKind};
use model::expr::{BinaryOp, Domain, Expr, Quantifier};
use model::fairness::Assumptions;
use model::process::{FamilyId, ProcessId};
use model::property::{Expected, Property, PropertyKind};
use model::types::{ScalarType, Type};
use model::value::Value;
use model::variable::Init;

use crate::draft::{Draft, array_type, range_type};
use crate::expr::*;
use crate::text::*;

/// A program with every type of variable, calls (recursive ones too), a loop, a rendezvous, faults, deadlocks and a race.
/// Its properties are one of each kind but temporal ones: `small` (an invariant that fails), `high` (a state that is
/// reached), `race_free flag`, `no_errors`, `deadlock_free`.
pub fn everything() -> Model {
    let mut draft = Draft::new();
    let color = draft.enumeration("Color", &["red", "green"]);
    let p = draft.family("P", 2);
    let monitor = draft.single("Monitor");
    let scalar = Type::Scalar;
    let semaphore = draft.shared("s", scalar(ScalarType::Semaphore { max: 1 }), Init::Fill(int(1)));
    let lock = draft.shared("m", scalar(ScalarType::Lock), Init::First);
    let flag = draft.shared("flag", array_type(array_type(scalar(ScalarType::Bool), 2), 1), Init::First);
    let turn = draft.shared("turn", scalar(ScalarType::PidOrNone(p)), Init::Any);
    let last = draft.shared("last", scalar(ScalarType::Pid(p)), Init::First);
    let huge = draft.shared("huge", range_type(i64::MIN, i64::MAX), Init::Fill(int(i64::MAX)));
    let light = draft.public(p, "light", scalar(ScalarType::Enum(color)), Init::First);
    let level = draft.local(p, "level", range_type(0, 2), Init::First);
    let channel = draft.channel("c");
    let step = recursive_procedure(&mut draft);
    let green = constant(Value::Enum(color, 1));
    let first_flag = element(element(shared(flag), int(0)), int(1));
    let level_up = |by: i64| assign(mine(level), add(read(mine(level)), int(by)));
    let acquire = |access| atomic(vec![stmt(StmtKind::Acquire(access))]);
    let release = |access| atomic(vec![stmt(StmtKind::Release(access))]);
    draft.text(
        p,
        vec![
            assign(first_flag, truth(true)).label("raise"),
            acquire(shared(semaphore)).label("enter"),
            call(step, vec![int(1)], Some(mine(level))).label("climb"),
            TextStatement::Either(vec![
                vec![assign(mine(light), green)],
                vec![assign(shared(last), me()), level_up(1)],
            ]),
            acquire(shared(lock)).label("lock"),
            send(channel, vec![read(mine(level))], vec![set(shared(turn), me())]).label("tell"),
            level_up(1),
            release(shared(lock)),
            release(shared(semaphore)).label("leave"),
        ],
    );
    let heard = draft.local(monitor, "heard", range_type(0, 2), Init::First);
    draft.text(
        monitor,
        vec![
            receive(channel, vec![mine(heard)], vec![]).label("listen"),
            assign(shared(huge), add(read(shared(huge)), int(-1))),
            wait(binary(BinaryOp::Greater, read(mine(heard)), int(0))).label("check"),
        ],
    );
    let mut model = draft.finish();
    model.name = "everything".to_owned();
    add_properties(&mut model, p, (turn, level, flag));
    model
}

/// `proc climb(a: 0..=2) -> 0..=2 { if a == 0 { return 1; } local b = call climb(a - 1); return b; }`
fn recursive_procedure(draft: &mut Draft) -> ProcedureId {
    let number = ScalarType::Range { lo: 0, hi: 2 };
    let (id, parameters) = draft.procedure("climb", &[("a", number)], Some(number));
    let b = draft.frame_local(id, "b", Type::Scalar(number), Init::First);
    let a = || read(frame(parameters[0]));
    let recurse = call(id, vec![binary(BinaryOp::Subtract, a(), int(1))], Some(frame(b)));
    let text = vec![
        TextStatement::If(Some("test".to_owned()), equal(a(), int(0)), vec![give(Some(int(1)))], vec![]),
        recurse.label("deeper"),
        give(Some(read(frame(b)))),
    ];
    draft.procedure_text(id, text);
    id
}

type Vars = (model::variable::VarId, model::variable::VarId, model::variable::VarId);

fn add_properties(model: &mut Model, p: FamilyId, (turn, level, flag): Vars) {
    let first = model.families[p].first;
    let of_first = |var| read(of(var, constant(Value::Process(first))));
    let high = binary(BinaryOp::Equal, of_first(level), int(2));
    let body = binary(
        BinaryOp::And,
        binary(BinaryOp::LessEqual, read(of(level, bound(0))), int(1)),
        binary(BinaryOp::NotEqual, read(shared(turn)), bound(0)),
    );
    let small = quantified(Quantifier::Forall, 0, Domain::Family(p), body);
    let kinds: [(&str, PropertyKind); 5] = [
        ("small", PropertyKind::Invariant(small)),
        ("high", PropertyKind::Reachable(high)),
        ("race_free flag", PropertyKind::RaceFree(flag)),
        ("no_errors", PropertyKind::NoErrors),
        ("deadlock_free", PropertyKind::DeadlockFree),
    ];
    for (name, kind) in kinds {
        add_property(model, name, kind);
    }
}

/// Adds a property that is expected to hold.
pub fn add_property(model: &mut Model, name: &str, kind: PropertyKind) -> base::Id<Property> {
    model.properties.push(Property {
        name: name.to_owned(),
        kind,
        under: Assumptions::none(),
        expected: Expected::Holds,
        text: String::new(),
        doc: String::new(),
        span: base::Span::default(),
    })
}

/// Names the process with this index among all.
pub fn process(index: usize) -> ProcessId {
    ProcessId::new(index)
}

/// A constant expression that names a process.
pub fn process_named(index: usize) -> Expr {
    constant(Value::Process(process(index)))
}
