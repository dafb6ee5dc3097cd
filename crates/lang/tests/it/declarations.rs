//! What declarations and statements become in the tree, in short.

use base::SourceFile;
use lang::pw::ast::{
    Assumptions, FairnessKind, Item, PatternIndex, Places, ProcessPattern, Program, StatementKind, Under,
};
use lang::pw::{parse, printer};

fn program(text: &str) -> Program {
    let parsed = parse(&SourceFile::new("t", text));
    assert!(!parsed.has_errors(), "{:?}", parsed.diagnostics);
    parsed.program.expect("a program without errors")
}

/// Parses `under` assumptions in a program with a family P and a process Monitor, and shows their tree.
fn check_under(text: &str, expected: &str) {
    let text = format!(
        "program t {{ process P[i in 0..<2] {{ l: skip; }} process Monitor {{ skip; }} property p: x under {text}; }}"
    );
    let program = program(&text);
    let Some(Item::Property(property)) = program.items.last() else { panic!("no property") };
    let under = property.under.as_ref().expect("assumptions");
    assert_eq!(show_under(under), expected, "in {text}");
}

fn show_under(under: &Under) -> String {
    under.assumptions.as_ref().map_or("none".to_string(), show)
}

fn show(assumptions: &Assumptions) -> String {
    let join = |parts: &[Assumptions], word: &str| parts.iter().map(show).collect::<Vec<_>>().join(word);
    let steps = |process: &ProcessPattern, places: &Option<Places>| {
        let labels = places.iter().flat_map(|places| &places.labels);
        labels.fold(pattern(process), |text, label| format!("{text}@{}", label.name))
    };
    match assumptions {
        Assumptions::All(parts) => format!("all({})", join(parts, ", ")),
        Assumptions::Either(parts) => format!("either({})", join(parts, ", ")),
        Assumptions::One(item) => match &item.kind {
            FairnessKind::Progress => "progress".to_string(),
            FairnessKind::Every(process) => format!("every {}", pattern(process)),
            FairnessKind::Weak { process, places } => format!("weak {}", steps(process, places)),
            FairnessKind::Strong { process, places } => format!("strong {}", steps(process, places)),
            FairnessKind::WeakPredicate(predicate) => format!("GF {}", printer::expr_to_string(predicate)),
            FairnessKind::StrongPredicates { condition, response } => {
                let [condition, response] = [condition, response].map(printer::expr_to_string);
                format!("GF {condition} => GF {response}")
            }
            FairnessKind::Set(name) => format!("set {}", name.name),
        },
    }
}

fn pattern(process: &ProcessPattern) -> String {
    match &process.index {
        None => process.name.name.clone(),
        Some(PatternIndex::All) => format!("{}[*]", process.name.name),
        Some(PatternIndex::One(index)) => format!("{}[{}]", process.name.name, printer::expr_to_string(index)),
    }
}

#[test]
fn commas_join_and_or_binds_tighter() {
    check_under("a, b or c", "all(set a, either(set b, set c))");
    check_under("(a, c) or b", "either(all(set a, set c), set b)");
    check_under("a", "set a");
    check_under("none", "none");
    check_under("weak x or weak y == 1, progress", "all(either(GF x, GF y == 1), progress)");
    check_under("weak (x or y)", "GF x || y");
    check_under("weak x || y", "GF x || y");
}

#[test]
fn steps_and_predicates_are_told_apart() {
    check_under("weak P[*]", "weak P[*]");
    check_under("weak P[0]@l", "weak P[0]@l");
    check_under("weak (P[0]@l)", "GF P[0]@l");
    check_under("weak P[0]@l && x", "GF P[0]@l && x");
    check_under("weak Monitor, strong P[*]@{l, m}", "all(weak Monitor, strong P[*]@l@m)");
    check_under("weak flag[0]", "GF flag[0]");
    check_under("strong P[0]@l => x", "GF P[0]@l => GF x");
    check_under("strong (x => y)", "GF x => GF y");
    check_under("strong P[*]", "strong P[*]");
    check_under("every Monitor, every P[1 + 1]", "all(every Monitor, every P[1 + 1])");
    check_under("justice P[*], compassion P[*]@l", "all(weak P[*], strong P[*]@l)");
}

#[test]
fn documentation_is_kept_with_what_follows_it() {
    let program = program(
        "/// One.\n///  Two.\nprogram t { // no\n/// Three.\nshared a, b: bool; //// four\nprocess A { skip; } }",
    );
    assert_eq!(program.doc.map(|doc| doc.text).as_deref(), Some("One.\n Two."));
    let docs: Vec<Option<&str>> = program
        .items
        .iter()
        .map(|item| match item {
            Item::Variable(variable) => variable.doc.as_ref().map(|doc| doc.text.as_str()),
            Item::Process(process) => process.doc.as_ref().map(|doc| doc.text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(docs, [Some("Three."), Some("Three."), None]);
}

#[test]
fn choices_become_branches_and_else_if_nests() {
    let program = program(
        "program t { process A { local k: bool; l: if * { skip; } if a { } else if * { } else if b { } m: n: skip; public p: bool; } }",
    );
    let [Item::Process(process)] = program.items.as_slice() else { panic!("one process") };
    assert_eq!(process.variables.len(), 2);
    let [first, second, third] = process.body.statements.as_slice() else { panic!("three statements") };
    let StatementKind::Either { branches } = &first.kind else { panic!("`if *` is a choice") };
    assert_eq!((branches.len(), branches[1].statements.len()), (2, 0));
    let StatementKind::If { otherwise: Some(otherwise), .. } = &second.kind else { panic!("an `if` with `else`") };
    let StatementKind::Either { branches } = &otherwise.statements[0].kind else { panic!("`else if *` is a choice") };
    assert!(matches!(branches[1].statements[0].kind, StatementKind::If { otherwise: None, .. }));
    let labels: Vec<&str> = third.labels.iter().map(|label| label.name.as_str()).collect();
    assert_eq!(labels, ["m", "n"]);
}
