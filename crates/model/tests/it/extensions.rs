//! Steps that go on, actions for where nobody can move, receivers of certain values, places to end at.

use model::Model;
use model::control::{ReceivePattern, SyncSide};
use model::eval::{self, State, able, is_deadlock, steps, stuck_processes};
use model::expr::BinaryOp;
use model::process::ProcessId;
use model::value::{Fault, Value};
use model::variable::{Init, VarId};
use testkit::Draft;
use testkit::draft::range_type;
use testkit::expr::*;
use testkit::show;
use testkit::text::*;

/// A program of single processes with the shared numbers `x` and `y` from 0 to 3; actions whose labels say so are marked.
fn program(make: impl FnOnce(&mut Draft, VarId, VarId) -> Vec<(&'static str, Vec<TextStatement>)>) -> Model {
    let mut draft = Draft::new();
    let number = range_type(0, 3);
    let (x, y) = (draft.shared("x", number.clone(), Init::First), draft.shared("y", number, Init::First));
    for (name, text) in make(&mut draft, x, y) {
        let family = draft.single(name);
        draft.text(family, text);
    }
    let mut model = draft.finish();
    for action in model.actions.iter_mut() {
        let has = |mark: &str| action.labels.iter().any(|label| label.starts_with(mark));
        (action.goes_on, action.when_nobody) = (has("on"), has("nobody"));
    }
    for place in model.places.iter_mut() {
        place.may_end = place.labels.iter().any(|label| label.starts_with("rest"));
    }
    model
}

fn start(model: &Model) -> State {
    eval::initial_states(model).next().expect("a program has an initial state")
}

fn shown(model: &Model) -> String {
    show::all_steps(model, &start(model))
}

fn less(var: VarId, bound: i64) -> model::expr::Expr {
    binary(BinaryOp::Less, read(shared(var)), int(bound))
}

#[test]
fn a_step_goes_on_until_nothing_is_enabled() {
    let model = program(|_, x, y| {
        let chain = vec![
            assign(shared(x), int(1)).label("on1"),
            assign(shared(y), add(read(shared(x)), int(1))).label("on2"),
            wait(equal(read(shared(x)), int(3))).label("blocked"),
        ];
        vec![("P", chain), ("Q", vec![assign(shared(x), int(3)).label("q")])]
    });
    assert_eq!(shown(&model), "P: x 0 => 1, y 0 => 2, P@blocked | Q: x 0 => 3, Q@end");
    let step = &steps(&model, &start(&model))[0];
    let taken: Vec<usize> = step.by.links().map(|link| link.process.index()).collect();
    assert_eq!((taken, step.by.then.len()), (vec![0, 0], 1));
}

#[test]
fn every_way_on_is_a_step() {
    let model = program(|_, x, _| {
        let branches = TextStatement::Either(vec![vec![assign(shared(x), int(1))], vec![assign(shared(x), int(2))]]);
        vec![("P", vec![skip().label("on"), branches])]
    });
    assert_eq!(shown(&model), "P: x 0 => 1, P@end | P: x 0 => 2, P@end");
}

#[test]
fn a_step_that_comes_back_to_where_it_was_is_endless() {
    let model = program(|_, x, _| {
        let turn = assign(shared(x), binary(BinaryOp::Subtract, int(1), read(shared(x)))).label("on");
        vec![("P", vec![TextStatement::Loop(vec![turn])])]
    });
    let found = steps(&model, &start(&model));
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].result.as_ref().map_err(|fault| &fault.fault), Err(&Fault::Endless));
    // A loop that counts comes to its end.
    let model = program(|_, x, _| {
        let count = assign(shared(x), add(read(shared(x)), int(1))).when(less(x, 3)).label("on");
        vec![("P", vec![TextStatement::Loop(vec![count])])]
    });
    assert_eq!(shown(&model), "P: x 0 => 3");
}

#[test]
fn a_receiver_that_goes_on_takes_the_turn() {
    let both = |sends: &'static str, receives: &'static str| {
        let model = program(|draft, x, y| {
            let c = draft.channel("c");
            let sender = vec![send(c, vec![int(2)], vec![]).label(sends), assign(shared(x), int(1)).label("s")];
            let receiver =
                vec![receive(c, vec![shared(y)], vec![]).label(receives), assign(shared(x), int(3)).label("r")];
            vec![("S", sender), ("R", receiver)]
        });
        let state = start(&model);
        (shown(&model), [0, 1].map(|at| able(&model, &state, ProcessId::new(at))))
    };
    assert_eq!(both("on", "on2"), ("S: x 0 => 3, y 0 => 2, S@s, R@end".to_string(), [true; 2]));
    assert_eq!(both("a", "on").0, "S: x 0 => 3, y 0 => 2, S@s, R@end");
    // Where the receiver does not go on, the sender does, if its action says so.
    assert_eq!(both("on", "b").0, "S: x 0 => 1, y 0 => 2, S@end, R@r");
}

#[test]
fn some_actions_are_for_where_nobody_can_move() {
    let waits = |y_allows: i64| {
        let model = program(|_, x, y| {
            let late = assign(shared(x), int(1)).label("nobody");
            vec![("P", vec![late]), ("Q", vec![wait(equal(read(shared(y)), int(y_allows)))])]
        });
        let state = start(&model);
        assert!(!is_deadlock(&model, &state));
        (shown(&model), able(&model, &state, ProcessId::new(0)))
    };
    assert_eq!(waits(1), ("P: x 0 => 1, P@end".to_string(), true));
    assert_eq!(waits(0), ("Q: Q@end".to_string(), false));
    // It begins a step and does not go on with one.
    let model = program(|_, x, y| {
        vec![("P", vec![assign(shared(x), int(1)).label("on"), assign(shared(y), int(1)).label("nobody")])]
    });
    assert_eq!(shown(&model), "P: x 0 => 1, P@nobody");
}

#[test]
fn receivers_choose_by_values() {
    let meets = |value: i64, patterns: fn(VarId) -> Vec<ReceivePattern>| {
        let mut model = program(|draft, x, y| {
            let c = draft.channel("c");
            vec![
                ("S", vec![send(c, vec![int(value), int(3)], vec![])]),
                ("R", vec![receive(c, vec![shared(x), shared(y)], vec![])]),
            ]
        });
        let y = VarId::new(1);
        for action in model.actions.iter_mut() {
            if let Some(SyncSide::Receive(into)) = action.sync.as_mut().map(|sync| &mut sync.side) {
                *into = patterns(y);
            }
        }
        shown(&model)
    };
    let wanted = |y: VarId| vec![ReceivePattern::Equal(int(2)), ReceivePattern::Into(shared(y))];
    assert_eq!(meets(2, wanted), "S: y 0 => 3, S@end, R@end");
    assert_eq!(meets(1, wanted), "nothing");
    assert_eq!(meets(1, |_| vec![ReceivePattern::Ignored, ReceivePattern::Ignored]), "S: S@end, R@end");
    // What is stored is stored only where all is equal; what cannot be evaluated before that is a fault.
    let zero = || binary(BinaryOp::Divide, int(1), int(0));
    let late =
        |_: VarId| vec![ReceivePattern::Equal(int(2)), ReceivePattern::Equal(binary(BinaryOp::Divide, int(1), int(0)))];
    assert_eq!((meets(1, late).as_str(), meets(2, late).as_str()), ("nothing", "S fails: division by zero"));
    assert!(eval::evaluate(&program(|_, _, _| vec![]), &start(&program(|_, _, _| vec![])), &zero(), None).is_err());
}

#[test]
fn who_may_end_is_not_stuck() {
    let model = program(|_, x, _| {
        let never = || wait(equal(read(shared(x)), int(9)));
        vec![("P", vec![never().label("rest")]), ("Q", vec![never().label("wait")])]
    });
    let state = start(&model);
    assert_eq!(stuck_processes(&model, &state), [ProcessId::new(1)]);
    assert!(is_deadlock(&model, &state));
    let model = program(|_, x, _| vec![("P", vec![wait(equal(read(shared(x)), int(9))).label("rest")])]);
    assert!(!is_deadlock(&model, &start(&model)));
    assert_eq!(start(&model).cells[0], Value::Int(0));
}
