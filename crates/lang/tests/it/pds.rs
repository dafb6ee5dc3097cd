//! Pushdown systems: everything that is wrong is told at once, each with its place, and no text is too strange.

use base::{Diagnostic, SourceFile};
use lang::dve::Goal;

fn goal(name: &str, text: &str) -> Goal {
    Goal { name: name.to_owned(), source: SourceFile::new(format!("s.{name}"), text) }
}

/// The errors of a system with its texts beside it: file, line, message.
fn errors(text: &str, init: &str, spec: &str) -> Vec<String> {
    let beside = [goal("init", init), goal("spec", spec)];
    match lang::load_with_goals(&SourceFile::new("s.pds", text), &[], &beside) {
        Ok(_) => Vec::new(),
        Err(refused) => { refused.iter() }
            .flat_map(|one| {
                let shown = |found: &Diagnostic| {
                    let line = one.source.line_col(found.primary.span.start).line;
                    format!("{}:{line}: {}", one.source.name(), found.message)
                };
                one.diagnostics.iter().filter(|found| found.is_error()).map(shown).collect::<Vec<_>>()
            })
            .collect(),
    }
}

#[test]
fn all_errors_are_told_at_once() {
    let text =
        "2\nPDA 0 1\n0 0 -> 2 1\n5 0 -> 0 -\n0 9 -> 0 1 7\n0 0 ->\n0 -> 1 1\nhello\n0 0 -> 0 1 1 1\nPDA 4\nPDA 5 3\n";
    let found = errors(text, "0|0,4,5", "0|-,-,-");
    let lines: Vec<&str> = found.iter().map(|one| one.split(": ").next().unwrap()).collect();
    let expected = ["s.pds:3", "s.pds:4", "s.pds:6", "s.pds:7", "s.pds:8", "s.pds:9", "s.pds:10", "s.pds:11"];
    assert_eq!(lines, expected, "{found:?}");
}

#[test]
fn texts_beside_have_errors_of_their_own() {
    let text = "2\nPDA 0 1\n0 0 -> 1 1\nPDA 4 5\n1 4 -> 0 -\n";
    assert_eq!(errors(text, "0|0,4", "1|1,-"), Vec::<String>::new());
    assert_eq!(errors(text, "0|0,4\n", "1|1,5 # bad\n"), Vec::<String>::new());
    for (init, spec, expected) in [
        ("", "1|1,-", "s.init:1: there is no state here"),
        ("0,0|4", "1|1,-", "s.init:1: `0,0` is no shared state"),
        ("0|0", "1|1,-", "s.init:1: there are 1 stacks here and 2 threads"),
        ("0|0.x,4", "1|1,-", "s.init:1: `x` is no stack symbol"),
        ("0|0,4", "7|1,-", "s.spec:1: there is no shared state 7: there are 2"),
        ("0|0,4", "1|1,-\n0|0,4", "s.spec:2: there is one state only"),
        ("0|0,4", "nothing", "s.spec:1: a state has a `|` between the shared state and the stacks"),
    ] {
        assert_eq!(errors(text, init, spec).first().map(String::as_str), Some(expected), "{init:?} {spec:?}");
    }
}

#[test]
fn a_symbol_outside_the_range_is_read_with_a_warning() {
    let load = |symbol: u32| {
        let text = format!("2\nPDA 2 5\n0 2 -> 1 {symbol}\n");
        lang::load_with_goals(&SourceFile::new("s.pds", text), &[], &[goal("init", "0|2"), goal("spec", "1|-")])
    };
    assert!(load(5).unwrap().warnings.is_empty());
    for outside in [0, 1, 6, 7, 900] {
        let loaded = load(outside).unwrap();
        let codes: Vec<&str> = loaded.warnings.iter().map(|warning| warning.code).collect();
        assert_eq!(codes, ["W0801"], "{outside}");
    }
}

#[test]
fn parameters_are_refused() {
    let source = SourceFile::new("s.pds", "1\nPDA 0 1\n");
    let wrong = lang::load(&source, &[("N".to_owned(), 3)]).unwrap_err();
    assert!(wrong[0].message.contains("no parameter `N`"));
}

/// Bytes without sense never end in a panic.
#[test]
fn no_text_is_too_strange() {
    let mut random = 5_u64;
    let mut below = |n: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % n
    };
    let words = [
        "0",
        "1",
        "->",
        "-",
        "PDA",
        "#",
        "|",
        ",",
        ".",
        "\n",
        " ",
        "99999999999999999999",
        "é",
        "\t",
        "2\nPDA 0 1\n",
        "\u{2003}",
        "\0",
    ];
    for _ in 0..3000 {
        let mut text = |n: u64| (0..below(n)).map(|_| words[below(words.len() as u64) as usize]).collect::<String>();
        let (system, init, spec) = (text(40), text(8), text(8));
        let beside = [goal("init", &init), goal("spec", &spec)];
        if let Err(refused) = lang::load_with_goals(&SourceFile::new("s.pds", system), &[], &beside) {
            assert!(refused.iter().all(|one| one.diagnostics.iter().any(Diagnostic::is_error)));
        }
    }
}

/// A state of the Model is a configuration: the shared state and the stacks of symbols, counted by a search of its own.
#[test]
fn states_are_configurations() {
    let mut random = 9_u64;
    let mut below = |n: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % n
    };
    let mut n_compared = 0;
    for _ in 0..300 {
        let mut text = "2\n".to_owned();
        let mut threads = Vec::new();
        for _ in 0..2 {
            text += "PDA 0 2\n";
            let mut rules = Vec::new();
            for _ in 0..4 + below(4) {
                let word: Vec<u64> = (0..[1, 0, 2, 1, 0][below(5) as usize]).map(|_| below(3)).collect();
                let rule = (below(2), below(3), below(2), word);
                let shown: Vec<String> = rule.3.iter().map(u64::to_string).collect();
                let shown = if shown.is_empty() { "-".to_owned() } else { shown.join(" ") };
                text += &format!("{} {} -> {} {shown}\n", rule.0, rule.1, rule.2);
                rules.push(rule);
            }
            threads.push(rules);
        }
        let start = (0, vec![vec![below(3)], vec![below(3)]]);
        let init = format!("0|{},{}", start.1[0][0], start.1[1][0]);
        let mut known = std::collections::HashSet::from([start.clone()]);
        let mut open = vec![start];
        while let Some((state, stacks)) = open.pop().filter(|_| known.len() <= 200) {
            for (thread, rules) in threads.iter().enumerate() {
                for (from, top, next, word) in rules {
                    if *from == state && stacks[thread].first() == Some(top) {
                        let mut stacks = stacks.clone();
                        stacks[thread].splice(..1, word.iter().copied());
                        if known.insert((*next, stacks.clone())) {
                            open.push((*next, stacks));
                        }
                    }
                }
            }
        }
        if known.len() > 200 {
            continue;
        }
        let beside = [goal("init", &init), goal("spec", "1|-,-")];
        let model = lang::load_with_goals(&SourceFile::new("s.pds", text.clone()), &[], &beside).unwrap().model;
        let product = testkit::Product::explore(&model, 1000).expect("there are few states");
        assert_eq!(product.states.len(), known.len(), "{init}\n{text}");
        n_compared += u64::from(known.len() > 4);
    }
    assert!(n_compared > 60, "{n_compared}");
}
