//! Round trips, and files that are not what they should be.

use base::SourceFile;
use model::Model;
use model::eval::{Race, race};
use model::property::PropertyKind;
use serde_json::{Value as Json, json};
use testkit::Product;
use testkit::samples::everything;

use super::*;

fn source() -> SourceFile {
    SourceFile::new("everything.pw", "program everything {\n}\n")
}

/// Traces to all kinds of states and ends.
fn traces(model: &Model) -> Vec<Trace> {
    let product = Product::explore(model, 5000).unwrap();
    let to = |at: usize, end: TraceEnd| {
        let (states, moves) = product.run_to(at);
        Trace::finite(states, moves, end)
    };
    let mut traces: Vec<Trace> = (0..product.states.len()).step_by(7).map(|at| to(at, TraceEnd::State)).collect();
    traces.extend(product.deadlocks.iter().map(|&at| to(at, TraceEnd::Deadlock)));
    for (at, faults) in product.faults.iter().enumerate() {
        traces
            .extend(faults.iter().map(|(by, fault)| to(at, TraceEnd::Fault { by: by.clone(), fault: fault.clone() })));
    }
    let PropertyKind::RaceFree(var) = model.properties.iter().nth(2).unwrap().kind else {
        panic!("the third is race_free")
    };
    let race_at = |at: usize| -> Option<(usize, Race)> { Some((at, race(model, &product.states[at], var)?)) };
    traces.extend((0..product.states.len()).filter_map(race_at).map(|(at, race)| to(at, TraceEnd::Race(race))));
    traces
}

#[test]
fn every_trace_reads_back_as_it_was_written() {
    let model = everything();
    let traces = traces(&model);
    let has = |wanted: fn(&TraceEnd) -> bool| traces.iter().any(|trace| wanted(&trace.end));
    assert!(has(|end| matches!(end, TraceEnd::Fault { .. })) && has(|end| matches!(end, TraceEnd::Deadlock)));
    assert!(has(|end| matches!(end, TraceEnd::Race(_))));
    assert!(traces.iter().any(|trace| trace.states.iter().any(|state| state.stacks[0].len() == 3)));
    assert!(
        traces.iter().any(|trace| trace.turns.iter().any(|turn| turn.step().is_some_and(|by| by.partner.is_some())))
    );
    for trace in traces {
        let text = to_text(&to_itf(&model, &source(), "small", &trace));
        assert_eq!(from_itf(&text, &model), Ok(("small".to_owned(), trace)), "{text}");
    }
}

#[test]
fn loops_read_back_and_must_point_at_a_state() {
    let model = everything();
    let mut trace = traces(&model).pop().unwrap();
    trace.loop_from = Some(0);
    let mut document = to_itf(&model, &source(), "small", &trace);
    assert_eq!(from_itf(&to_text(&document), &model).unwrap().1, trace);
    document["loop"] = json!(trace.states.len());
    let refused = read(&to_text(&document), &model).unwrap_err();
    assert!(matches!(refused, ItfError::NotATrace(_)), "{refused}");
}

#[test]
fn the_document_has_what_other_tools_look_for() {
    let model = everything();
    let trace = traces(&model).into_iter().find(|trace| trace.n_steps() >= 3).unwrap();
    let document = to_itf(&model, &source(), "small", &trace);
    let states = document["states"].as_array().unwrap();
    assert_eq!(states.len(), trace.n_steps() + 1);
    assert_eq!(states[0]["mbt::actionTaken"], json!("init"));
    assert_eq!(states[1]["#meta"]["index"], json!(1));
    assert_eq!(states[1]["mbt::nondetPicks"]["process"]["tag"], json!("Some"));
    assert_eq!(states[3]["huge"], json!({ "#bigint": i64::MAX.to_string() }));
    assert!(states.iter().all(|state| {
        document["vars"].as_array().unwrap().iter().all(|var| !state[var.as_str().unwrap()].is_null())
    }));
}

fn edited(edit: impl FnOnce(&mut Json)) -> Result<ItfTrace, ItfError> {
    let model = everything();
    let trace = traces(&model).into_iter().find(|trace| trace.n_steps() >= 4).unwrap();
    let mut document = to_itf(&model, &source(), "small", &trace);
    edit(&mut document);
    read(&to_text(&document), &model)
}

#[test]
fn another_program_or_instance_is_refused_in_words() {
    let another = |key: &str, value: Json| {
        edited(|document| document["#meta"]["piecewise"][key] = value).unwrap_err().to_string()
    };
    assert_eq!(
        another("program", json!("peterson")),
        "the trace belongs to another program: it was written for \"peterson\", this is everything"
    );
    assert!(another("fingerprint", json!("00")).contains("has changed since it was written"));
    assert!(another("version", json!(7)).contains("its version is 7"));
    let mut model = everything();
    let size = model::Parameter { name: "N".to_owned(), value: 2, least: 1, greatest: None, given: true };
    let size = model.parameters.push(size);
    let trace = traces(&model).pop().unwrap();
    let text = to_text(&to_itf(&model, &source(), "small", &trace));
    model.parameters[size].value = 3;
    let refused = read(&text, &model).unwrap_err().to_string();
    assert!(refused.ends_with("it was written for N = 2, this is N = 3; give -D N=2"), "{refused}");
}

#[test]
fn moves_may_be_left_open() {
    let strip = |keys: &'static [&'static str]| {
        edited(move |document| {
            for state in document["states"].as_array_mut().unwrap() {
                let meta = state["#meta"].as_object_mut().unwrap();
                keys.iter().for_each(|key| drop(meta.remove(*key)));
            }
        })
    };
    assert!(strip(&["action"]).unwrap().moves.iter().all(|hint| matches!(hint, MoveHint::By(_))));
    assert!(strip(&["action", "process"]).unwrap().moves.iter().all(|hint| *hint == MoveHint::Any));
    assert_eq!(strip(&["action"]).unwrap().exact(), None);
}

#[test]
fn what_does_not_fit_is_named() {
    let misfit = |pointer: &str, value: Json| {
        let pointer = pointer.to_owned();
        edited(|document| *document.pointer_mut(&pointer).unwrap() = value).unwrap_err().to_string()
    };
    let at = "state 2 does not fit the program: ";
    assert_eq!(misfit("/states/2/s", json!(2)), format!("{at}`s`: 2 is no value of the variable's type"));
    assert_eq!(
        misfit("/states/2/flag", json!([true])),
        format!("{at}`flag`: true where a list of 2 elements is needed")
    );
    assert_eq!(misfit("/states/2/m", json!("Q")), format!("{at}`m`: \"Q\" is no value of the variable's type"));
    assert_eq!(misfit("/states/2/P/#map/0", json!([5])), format!("{at}`P`: there is no entry for 0"));
    assert_eq!(
        misfit("/states/2/Monitor/at", json!("nowhere")),
        format!("{at}`Monitor`: there is no place \"nowhere\"")
    );
    assert_eq!(misfit("/states/2/#meta/process", json!("X")), format!("{at}there is no process \"X\""));
    assert_eq!(misfit("/states/2/#meta/action", json!(99_999)), format!("{at}there is no action 99999"));
}

#[test]
fn any_bytes_are_refused_in_words() {
    let model = everything();
    let deep = "[".repeat(100_000);
    let cases = ["", "{", "[]", "7", "{}", r#"{"states": 3}"#, r#"{"states": []}"#, r#"{"states": [7]}"#, &deep];
    for text in cases {
        let refused = read(text, &model).unwrap_err();
        assert!(!refused.to_string().is_empty());
    }
    assert!(read(&deep, &model).unwrap_err().to_string().contains("recursion limit"));
    assert_eq!(read(&" ".repeat(MOST_BYTES + 1), &model), Err(ItfError::TooLarge(MOST_BYTES + 1)));
}
