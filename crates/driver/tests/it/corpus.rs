//! One table for all engines: every example, at small sizes, by every method.
//!
//! `tests/corpus.txt` has a block for each instance (an example with the values of its parameters), in it a row for each property and
//! a column for each method:
//!
//! - `+` holds, `-` violated, `?` the method does not decide it;
//! - `.` the method is not for it;
//! - `~` not run here, since it takes more than a moment;
//! - `!` a mistake of ours that is known: the checker refuses the method's evidence, and the user gets no verdict.
//!
//! What the methods say, audited, must be what the table says (they may decide more than it says), and no row may contradict itself. `BLESS=1` writes the table anew: it
//! then is decided by the processor's time what is run and what is not; the tests themselves look at no clock.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use base::{Budget, CancelToken, SourceFile, StopReason};
use driver::load::{Loaded, instance};
use driver::methods;
use engine::methods::Declaration;
use engine::{PropertyId, Silent, Task, Verdict};
use model::Model;

const TABLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/corpus.txt");

/// What takes longer by a method on an instance, in seconds of the processor, is not run in the tests.
const MOMENT: f64 = 0.25;

/// An instance that takes so long by all methods together has no larger one.
const SMALL: f64 = 0.15;

/// No method gets more seconds while the table is written.
const LONGEST: u64 = 1;

/// By property, in their order: its name, and what each method says.
type Block = Vec<(String, Vec<char>)>;

/// Instances by their headings, such as `bakery N=2`.
type Table = BTreeMap<String, Block>;

fn examples() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let all = fs::read_dir(folder).expect("the examples are there").map(|entry| entry.unwrap().path());
    let mut programs: Vec<PathBuf> = all.filter(|path| path.extension().is_some_and(|end| end == "pw")).collect();
    programs.sort();
    programs
}

fn name_of(path: &Path) -> String {
    path.file_stem().unwrap().to_string_lossy().into_owned()
}

fn load(path: &Path, given: &[(String, i64)]) -> Option<Model> {
    let source = SourceFile::new(path.to_string_lossy(), fs::read_to_string(path).unwrap());
    match instance(&source, given) {
        Loaded::Program(program) => Some(program.model),
        Loaded::Refused(_) => None,
    }
}

fn heading(name: &str, model: &Model) -> String {
    let values = model.parameters.iter().map(|parameter| format!(" {}={}", parameter.name, parameter.value));
    format!("{name}{}", values.collect::<String>())
}

/// The values in a heading.
fn values_in(heading: &str) -> Vec<(String, i64)> {
    let value = |word: &str| {
        let (name, value) = word.split_once('=').expect("a parameter has a value");
        (name.to_owned(), value.parse().expect("values are numbers"))
    };
    heading.split_whitespace().skip(1).map(value).collect()
}

/// What a method says about some properties. Time that ran out is `~`: the table says nothing about it.
fn verdicts(model: &Model, method: &Declaration, asked: &[PropertyId], seconds: u64) -> Vec<char> {
    let budget = Budget::new(Some(Duration::from_secs(seconds)), Some(1 << 30), CancelToken::default());
    let task = Task { model, properties: asked.to_vec(), budget, n_threads: 1 };
    let symbol = |verdict: &Verdict| match verdict {
        Verdict::Holds(_) => '+',
        Verdict::Violated(_) => '-',
        Verdict::Unknown(StopReason::TimeLimit(_)) => '~',
        Verdict::Unknown(StopReason::NotSupported(_)) => '.',
        Verdict::Unknown(_) => '?',
    };
    match (methods::checker(method.method).check(&task, &Silent), asked) {
        (Ok(found), _) => found.iter().map(|result| symbol(&result.verdict)).collect(),
        (Err(mistake), [_]) => {
            println!("{}: a mistake of ours: {mistake}", method.name);
            vec!['!']
        }
        // One mistake ends everything; the others are asked by themselves.
        (Err(_), _) => asked.iter().flat_map(|&one| verdicts(model, method, &[one], seconds)).collect(),
    }
}

/// Two methods of which one says that a property holds, and the other that it does not.
fn contradiction(row: &[char]) -> Option<(&'static str, &'static str)> {
    let first = |wanted: char| row.iter().position(|&said| said == wanted);
    let name = |at: usize| methods::available().nth(at).map_or("?", |method| method.name);
    Some((name(first('+')?), name(first('-')?)))
}

#[test]
fn every_method_says_what_the_table_says() {
    if testkit::blessed::is_on() {
        fs::write(TABLE, written(&recorded())).expect("the table can be written");
    }
    let table = read(&fs::read_to_string(TABLE).expect("the table is there"));
    for path in examples() {
        let model = load(&path, &[]).unwrap_or_else(|| panic!("{} is a program", path.display()));
        let heading = heading(&name_of(&path), &model);
        assert!(table.contains_key(&heading), "`{heading}` is not in the table; BLESS=1 writes it anew");
    }
    let (blocks, next): (Vec<_>, _) = (table.iter().collect(), AtomicUsize::new(0));
    let complaints: Mutex<Vec<String>> = Mutex::default();
    let work = || {
        while let Some((heading, block)) = blocks.get(next.fetch_add(1, Ordering::Relaxed)) {
            let found = compare(heading, block);
            complaints.lock().unwrap().extend(found);
        }
    };
    std::thread::scope(|scope| {
        let n_threads = std::thread::available_parallelism().map_or(1, usize::from);
        (0..n_threads).for_each(|_| drop(scope.spawn(work)));
    });
    let complaints = complaints.into_inner().unwrap();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// Runs what a block says is run; what is not as it says.
fn compare(heading: &str, block: &Block) -> Vec<String> {
    let name = heading.split_whitespace().next().expect("a heading has a name");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../examples/{name}.pw"));
    let Some(model) = load(&path, &values_in(heading)) else {
        return vec![format!("{heading}: there is no such program")];
    };
    let names: Vec<&str> = model.properties.iter().map(|property| property.name.as_str()).collect();
    if names != block.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>() {
        return vec![format!("{heading} has other properties: {names:?}; BLESS=1 writes the table anew")];
    }
    let mut complaints = Vec::new();
    let mut found: Vec<Vec<char>> = vec![Vec::new(); names.len()];
    for (column, method) in methods::available().enumerate() {
        let is_asked = |id: &PropertyId| !matches!(block[id.index()].1.get(column), None | Some('~' | '.'));
        let asked: Vec<PropertyId> = model.properties.ids().filter(is_asked).collect();
        for (id, said) in asked.iter().zip(verdicts(&model, method, &asked, 600)) {
            let expected = block[id.index()].1[column];
            let is_more = matches!(expected, '?' | '!') && matches!(said, '+' | '-');
            if said != expected && said != '~' && !is_more {
                complaints.push(format!("{heading}: {} by {}: {said}, not {expected}", names[id.index()], method.name));
            }
            found[id.index()].push(said);
        }
    }
    for ((name, row), found) in block.iter().zip(found) {
        let wrong = contradiction(row).map(|(a, b)| format!("{heading}: {name} holds by {a}, and is violated by {b}"));
        let said = |symbol: char| found.contains(&symbol) || row.contains(&symbol);
        if wrong.is_none() && said('+') && said('-') {
            complaints.push(format!("{heading}: the methods contradict each other about {name}"));
        }
        complaints.extend(wrong);
    }
    complaints
}

/// Every example at its least size, and at the next one where the least is small.
fn recorded() -> Table {
    let mut table = Table::new();
    for path in examples() {
        let mut given: Vec<(String, i64)> = Vec::new();
        for _ in 0..2 {
            let Some(model) = load(&path, &given) else { break };
            let heading = heading(&name_of(&path), &model);
            let begun = processor_seconds();
            table.insert(heading.clone(), recorded_block(&model));
            let took = processor_seconds() - begun;
            println!("{heading}: {took:.2} s");
            let Some(size) = model.parameters.iter().find(|parameter| parameter.name == "N") else { break };
            if took > SMALL {
                break;
            }
            given = vec![("N".to_owned(), size.value + 1)];
        }
    }
    table
}

fn recorded_block(model: &Model) -> Block {
    let ids: Vec<PropertyId> = model.properties.ids().collect();
    let mut block: Block = model.properties.iter().map(|property| (property.name.clone(), Vec::new())).collect();
    for method in methods::available() {
        let begun = processor_seconds();
        let said = verdicts(model, method, &ids, LONGEST);
        let is_long = processor_seconds() - begun > MOMENT;
        for ((_, row), said) in block.iter_mut().zip(said) {
            row.push(if is_long && said != '.' { '~' } else { said });
        }
    }
    block
}

/// Time of the processor that this process has used. A clock would count what others do on the machine.
fn processor_seconds() -> f64 {
    let text = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = text.rsplit(')').next().unwrap_or_default();
    let ticks: u64 = after_name.split_whitespace().skip(11).take(2).filter_map(|word| word.parse::<u64>().ok()).sum();
    ticks as f64 / 100.0
}

/// The text of a table: the names of the methods, and under each what it says.
fn written(table: &Table) -> String {
    let width = table.values().flatten().map(|(name, _)| name.len()).max().unwrap_or(0) + 2;
    let mut text = String::from(
        "# What every method says about every example at small sizes; see `it/corpus.rs`.\n\
         # + holds   - violated   ? not decided   . not for this method   ~ not run here: more than a moment\n\
         # ! a known mistake: the checker refuses the evidence\n\n",
    );
    let names: Vec<&str> = methods::available().map(|method| method.name).collect();
    writeln!(text, "{:width$} {}", "", names.join(" ")).expect("texts can be written");
    for (heading, block) in table {
        writeln!(text, "\n{heading}").expect("texts can be written");
        for (name, row) in block {
            let cells = row.iter().zip(&names).map(|(said, name)| format!("{said:width$}", width = name.len()));
            let row = format!("  {name:0$}{1}", width - 1, cells.collect::<Vec<_>>().join(" "));
            writeln!(text, "{}", row.trim_end()).expect("texts can be written");
        }
    }
    text
}

fn read(text: &str) -> Table {
    let mut table = Table::new();
    let mut at = String::new();
    let mut lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let n_methods = lines.next().map_or(0, |names| names.split_whitespace().count());
    for line in lines {
        if !line.starts_with(' ') {
            at = line.to_owned();
            table.insert(at.clone(), Block::new());
            continue;
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        let (name, row) = words.split_at(words.len().saturating_sub(n_methods));
        let row = row.iter().filter_map(|word| word.chars().next()).collect();
        table.get_mut(&at).expect("a row is in a block").push((name.join(" "), row));
    }
    table
}
