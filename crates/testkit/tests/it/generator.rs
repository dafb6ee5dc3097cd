//! The generator makes every feature, and the oracle can explore what it makes.

use std::collections::BTreeMap;
use std::sync::Mutex;

use model::Model;
use model::control::{ActionKind, Stmt, StmtKind};
use model::eval::{initial_faults, n_initial_states};
use testkit::{Product, RandomFeatures, for_each_program};

#[test]
fn every_feature_occurs_and_products_are_small() {
    let seen: Mutex<BTreeMap<&str, usize>> = Mutex::default();
    for_each_program(400, RandomFeatures::everything(), |_, model| {
        let mut seen = seen.lock().map_err(|error| error.to_string())?;
        let mut note = |feature| *seen.entry(feature).or_default() += 1;
        if !initial_faults(model).is_empty() {
            return Err(format!("faulty start: {:?}", initial_faults(model)));
        }
        features(model).into_iter().for_each(&mut note);
        if n_initial_states(model) > 1 {
            note("several initial states");
        }
        let Some(product) = Product::explore(model, 1000) else {
            note("large");
            return Ok(());
        };
        note(if product.states.len() > 20 { "middle" } else { "tiny" });
        for (feature, occurs) in [
            ("deadlock", !product.deadlocks.is_empty()),
            ("fault", product.n_faults() > 0),
            ("stack", product.states.iter().any(|state| state.stacks.iter().any(|stack| stack.len() > 2))),
            ("meeting", product.edges.iter().flatten().any(|(by, _)| by.partner.is_some())),
        ] {
            if occurs {
                note(feature);
            }
        }
        Ok(())
    });
    let seen = seen.into_inner().unwrap();
    println!("{seen:?}");
    let wanted = [
        "any",
        "any in range",
        "assert",
        "assign",
        "assign two",
        "atomic either",
        "atomic for",
        "atomic if",
        "await",
        "acquire",
        "release",
        "call",
        "deadlock",
        "fault",
        "guard",
        "idle",
        "loop",
        "meeting",
        "middle",
        "return",
        "several initial states",
        "stack",
        "tiny",
    ];
    for feature in wanted {
        assert!(seen.get(feature).is_some_and(|&count| count >= 5), "too few with `{feature}`: {seen:?}");
    }
    assert!(seen.get("large").is_none_or(|&count| count < 80), "too many large products: {seen:?}");
    assert!(seen["middle"] > 100, "too few products of some size: {seen:?}");
}

fn features(model: &Model) -> Vec<&'static str> {
    let mut found = Vec::new();
    for action in &model.actions {
        found.push(match action.kind {
            ActionKind::Plain => "plain",
            ActionKind::Idle => "idle",
            ActionKind::Call { .. } => "call",
            ActionKind::Return { .. } => "return",
        });
        if action.guard.is_some() {
            found.push("guard");
        }
        body_features(&action.body, &mut found);
    }
    found.extend(model.loops.iter().map(|_| "loop"));
    found
}

fn body_features(body: &[Stmt], found: &mut Vec<&'static str>) {
    for stmt in body {
        found.push(match &stmt.kind {
            StmtKind::Assign(pairs) if pairs.len() > 1 => "assign two",
            StmtKind::Assign(_) => "assign",
            StmtKind::AssignAny(_, None) => "any",
            StmtKind::AssignAny(_, Some(_)) => "any in range",
            StmtKind::Await(_) => "await",
            StmtKind::Assert(_) => "assert",
            StmtKind::Acquire(_) => "acquire",
            StmtKind::Release(_) => "release",
            StmtKind::If(..) => "atomic if",
            StmtKind::Either(_) => "atomic either",
            StmtKind::For(..) => "atomic for",
        });
        match &stmt.kind {
            StmtKind::If(_, yes, no) => {
                body_features(yes, found);
                body_features(no, found);
            }
            StmtKind::Either(blocks) => blocks.iter().for_each(|block| body_features(block, found)),
            StmtKind::For(_, block) => body_features(block, found),
            _ => {}
        }
    }
}

#[test]
fn a_failing_program_is_made_small_and_told_with_its_seed() {
    let has_idle = |model: &Model| model.actions.iter().any(|action| matches!(action.kind, ActionKind::Idle));
    let failure = std::panic::catch_unwind(|| {
        for_each_program(100, RandomFeatures::everything(), |_, model| {
            if has_idle(model) { Err("it idles".to_string()) } else { Ok(()) }
        });
    });
    let message = failure.unwrap_err().downcast_ref::<String>().cloned().unwrap();
    let expected = "it idles\n\nprogram random {\n  shared s0: bool;\n  process P[i in 0..<2] {\n    idle;\n  }\n}\n";
    assert!(message.starts_with(expected) && message.contains("PIECEWISE_SEED="), "{message}");
}
