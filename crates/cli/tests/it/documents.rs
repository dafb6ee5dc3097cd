//! Every command in the documents is run, and what the documents say that it prints is what it prints.
//!
//! A fenced block after `<!-- file: NAME -->` is a file; a `console` block holds calls (`$ piecewise …`) and their output.
//! Figures that differ from run to run (times, sizes) are not compared. With `BLESS=1` the documents are written
//! anew instead.

use std::fs;
use std::path::Path;

use crate::support::{Place, Told, root};

#[test]
fn readme() {
    check("README.md");
}

#[test]
fn tutorial() {
    check("docs/tutorial.md");
}

#[test]
fn language() {
    check("docs/language.md");
}

#[test]
fn patterns() {
    check("docs/patterns.md");
}

#[test]
fn proofs() {
    check("docs/proofs.md");
}

#[test]
fn linear_time() {
    check("docs/ltl.md");
}

#[test]
fn exchange() {
    check("docs/exchange.md");
}

#[test]
fn fairness() {
    check("docs/fairness.md");
}

#[test]
fn dve() {
    check("docs/dve.md");
}

#[test]
fn promela() {
    check("docs/promela.md");
}

#[test]
fn pushdown() {
    check("docs/pushdown.md");
}

#[test]
fn every_n() {
    check("docs/every-n.md");
}

#[test]
fn methods() {
    check("docs/methods.md");
}

#[test]
fn every_method_has_its_page() {
    let text = fs::read_to_string(root().join("docs/methods.md")).unwrap();
    for method in driver::methods::available() {
        let is_heading =
            |line: &str| line.starts_with('#') && line.split(['#', ',', ' ']).any(|word| word == method.name);
        let is_called = method.name == "auto" || text.contains(&format!("--method {} ", method.name));
        assert!(text.lines().any(is_heading) && is_called, "docs/methods.md does not tell about `{}`", method.name);
    }
}

/// The table of methods is made from what they declare; `BLESS` writes it anew.
#[test]
fn the_table_of_methods_is_what_they_declare() {
    const START: &str = "| method | answers | decides | does not follow | described by |\n|---|---|---|---|---|\n";
    let path = root().join("docs/methods.md");
    let text = fs::read_to_string(&path).unwrap();
    let start = text.find(START).expect("docs/methods.md has the table of methods") + START.len();
    let end = start + text[start..].find("\n\n").expect("something follows the table") + 1;
    let declared: String = driver::methods::available().map(row_of).collect();
    if testkit::blessed::is_on() && text[start..end] != declared {
        fs::write(&path, format!("{}{declared}{}", &text[..start], &text[end..])).unwrap();
        return;
    }
    assert_eq!(text[start..end], declared, "BLESS=1 cargo test --test it documents writes it anew");
}

fn row_of(declared: &engine::methods::Declaration) -> String {
    let lacks: Vec<&str> =
        declared.lacks.iter().filter(|feature| !feature.is_size()).map(|feature| feature.title()).collect();
    let decides = if declared.is_complete { "always" } else { "or answers `unknown`" };
    let lacks = if lacks.is_empty() { "–".to_owned() } else { lacks.join("; ") };
    format!("| `{}` | {} | {decides} | {lacks} | {} |\n", declared.name, declared.kinds.title(), declared.paper)
}

/// Runs the calls of a document in order, in one directory that has the examples.
fn check(name: &str) {
    let path = root().join(name);
    let text = fs::read_to_string(&path).unwrap();
    let place = Place::new();
    copy_examples(&place);
    let rewritten = rewrite(&text, &place);
    if testkit::blessed::is_on() {
        if steady(&text) != steady(&rewritten) {
            fs::write(&path, rewritten).unwrap();
        }
        return;
    }
    for (index, (said, told)) in steady(&text).lines().zip(steady(&rewritten).lines()).enumerate() {
        let line = index + 1;
        assert_eq!(said, told, "{name}:{line} differs; BLESS=1 cargo test --test documents writes it anew");
    }
    assert_eq!(text.lines().count(), rewritten.lines().count(), "{name}: the output is longer or shorter");
}

fn copy_examples(place: &Place) {
    for path in crate::support::examples() {
        let name = path.file_name().unwrap().to_str().unwrap();
        place.write(&format!("examples/{name}"), fs::read(&path).unwrap());
    }
}

/// The document with the output of every call as it is today.
fn rewrite(text: &str, place: &Place) -> String {
    let mut out = String::new();
    let mut lines = text.lines();
    let mut file: Option<String> = None;
    while let Some(line) = lines.next() {
        out += &format!("{line}\n");
        if let Some(name) = line.strip_prefix("<!-- file: ").and_then(|rest| rest.strip_suffix(" -->")) {
            file = Some(name.to_owned());
        } else if line.starts_with("```") {
            let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            match (line, file.take()) {
                ("```console", _) => out += &session(&block, place),
                (_, name) => {
                    let content: String = block.iter().map(|line| format!("{line}\n")).collect();
                    if let Some(name) = name {
                        place.write(&name, &content);
                    }
                    out += &content;
                }
            }
            out += "```\n";
        }
    }
    out
}

/// The calls of a block, each followed by what it prints now.
fn session(block: &[&str], place: &Place) -> String {
    let mut out = String::new();
    let mut status = 0;
    for call in block.iter().filter_map(|line| line.strip_prefix("$ ")) {
        out += &format!("$ {call}\n");
        if call == "echo $?" {
            out += &format!("{status}\n");
            continue;
        }
        let words = call
            .strip_prefix("piecewise ")
            .or_else(|| call.strip_prefix("cargo run --release -- "))
            .unwrap_or_else(|| panic!("documents call piecewise only, not `{call}`"));
        let told = Told::new(&place.command(split(words)).output().unwrap());
        status = told.status;
        out += &told.out;
        out += &told.err;
    }
    out
}

/// The words of a call; what stands between quotes of the shell is one word.
fn split(call: &str) -> Vec<&str> {
    let pieces = call.split('\'').enumerate();
    pieces
        .flat_map(|(index, piece)| if index % 2 == 1 { vec![piece] } else { piece.split_whitespace().collect() })
        .collect()
}

/// The text without what differs from run to run: numbers before a unit of time or size.
fn steady(text: &str) -> String {
    text.lines().map(|line| steady_line(line) + "\n").collect()
}

fn steady_line(line: &str) -> String {
    let words: Vec<&str> = line.split(' ').collect();
    let is_figure = |word: &str| word.starts_with(|first: char| first.is_ascii_digit()) && word.parse::<f64>().is_ok();
    let is_unit =
        |word: &&str| ["s", "ms", "B", "kB", "MB", "GB"].contains(&word.trim_end_matches([',', ')', ';', '.']));
    let mut out = Vec::new();
    for (index, word) in words.iter().enumerate() {
        let followed = words.get(index + 1).is_some_and(is_unit);
        out.push(if is_figure(word.trim_start_matches('(')) && followed { "#" } else { word });
    }
    // The figure's width decides how many spaces stand before it at a right margin.
    out.join(" ").split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn figures_are_not_compared_and_all_else_is() {
    assert_eq!(steady_line("  80 states   0.01 s"), steady_line("  80 states   1.25 s"));
    assert_ne!(steady_line("80 states"), steady_line("81 states"));
    assert!(Path::new(env!("CARGO_BIN_EXE_piecewise")).exists());
}
