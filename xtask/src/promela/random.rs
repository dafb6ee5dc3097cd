//! `cargo xtask promela random`: random programs, each run by SPIN and by the library, compared.
//!
//! In: how many, and a seed. Out: status 1 if states, transitions or a verdict differ; each difference is made small and written to
//! `target/promela/`. What is refused here, or by SPIN, and what is too large is counted with the reasons.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use base::{Budget, CancelToken, SourceFile};
use engine::Silent;
use lang::promela::{Decide, Includes, Reading};
use model::Model;
use model::fairness::EdgePredicate;
use model::property::PropertyKind;
use testkit::choices::Choices;
use testkit::promela::{Promela, PromelaQuestion};

use super::spin::{self, PanReport, Silence, SpinCounts, SpinProgram, SpinQuestion};
use super::verdict::verdict;

/// The longest time for one search.
const MOST_SECONDS: u64 = 8;
/// Larger programs are not compared.
const MOST_STATES: u64 = 40_000;
/// A search that takes more has found more states than that.
const MOST_BYTES: u64 = 3 << 20;
/// SPIN's flag for channels that lose what is sent to them when they are full.
const LOSSY: &str = "-m";
/// How often a difference is tried to be made smaller.
const MOST_ATTEMPTS: usize = 150;

/// What came of one program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Compared {
    Equal,
    /// What differs, by kind.
    Differs(Vec<String>),
    /// Not read here.
    Refused(String),
    /// Not accepted by SPIN.
    Invalid(String),
    TooLarge,
}

impl Compared {
    fn word(&self) -> &'static str {
        match self {
            Compared::Equal => "equal",
            Compared::Differs(_) => "DIFFERS",
            Compared::Refused(_) => "refused",
            Compared::Invalid(_) => "not accepted by SPIN",
            Compared::TooLarge => "too large",
        }
    }
}

/// Compares random programs: `COUNT`, `SEED`; or the programs of files.
pub fn run(root: &Path, arguments: &[&str]) -> ExitCode {
    if !spin::is_installed() {
        eprintln!("promela random: SPIN and a C compiler are needed");
        return ExitCode::from(2);
    }
    if arguments.first().is_some_and(|word| word.parse::<u64>().is_err()) {
        return files(arguments);
    }
    let number = |at: usize, otherwise: u64| arguments.get(at).and_then(|word| word.parse().ok()).unwrap_or(otherwise);
    let (count, first) = (number(0, 100), number(1, 1));
    let folder = root.join("target/promela");
    if let Err(error) = fs::create_dir_all(&folder) {
        eprintln!("promela random: {error}");
        return ExitCode::from(2);
    }
    let mut tally: BTreeMap<&'static str, u64> = BTreeMap::new();
    let mut reasons: BTreeMap<String, u64> = BTreeMap::new();
    for seed in first..first + count {
        let program = Promela::random(&mut Choices::from_seed(seed));
        let compared = compare(&program);
        *tally.entry(compared.word()).or_default() += 1;
        match &compared {
            Compared::Refused(why) => *reasons.entry(format!("refused: {why}")).or_default() += 1,
            Compared::Invalid(why) => *reasons.entry(format!("SPIN: {why}")).or_default() += 1,
            Compared::Differs(what) => {
                println!("seed {seed} DIFFERS: {}", what.join("; "));
                let whole = folder.join(format!("{seed}-whole.pml"));
                let _ = fs::write(whole, program.text());
                let small = shrink(program, what);
                let what = match compare(&small) {
                    Compared::Differs(what) => what.join("\n// "),
                    other => format!("{other:?}"),
                };
                let file = folder.join(format!("{seed}.pml"));
                let text = format!("// {what}\n{}", small.text());
                match fs::write(&file, text) {
                    Ok(()) => println!("  made small: {}", file.display()),
                    Err(error) => eprintln!("promela random: {}: {error}", file.display()),
                }
            }
            _ => {}
        }
    }
    for (why, n_times) in &reasons {
        println!("{n_times:>6} {why}");
    }
    let line: Vec<String> = tally.iter().map(|(word, n_times)| format!("{n_times} {word}")).collect();
    println!("promela random: {count} programs from seed {first}: {}", line.join(", "));
    ExitCode::from(u8::from(tally.contains_key("DIFFERS")))
}

/// The kind of a difference: the text before the colon.
fn kind(what: &str) -> &str {
    what.split(':').next().unwrap_or(what)
}

fn shrink(program: Promela, what: &[String]) -> Promela {
    let wanted: Vec<&str> = what.iter().map(|one| kind(one)).collect();
    let mut best = program;
    let mut n_attempts = 0;
    'again: loop {
        for candidate in best.smaller() {
            n_attempts += 1;
            if n_attempts > MOST_ATTEMPTS {
                return best;
            }
            if let Compared::Differs(found) = compare(&candidate)
                && found.iter().any(|one| wanted.contains(&kind(one)))
            {
                best = candidate;
                continue 'again;
            }
        }
        return best;
    }
}

/// Compares programs that are there, with everything that they ask. `-DNAME=VALUE` gives a macro to all of them, and with `-m` what is sent to a full
/// channel is lost.
fn files(words: &[&str]) -> ExitCode {
    let (flags, names): (Vec<&str>, Vec<&str>) =
        words.iter().copied().partition(|word| word.starts_with("-D") || *word == LOSSY);
    let flags: Vec<String> = flags.into_iter().map(str::to_owned).collect();
    let mut tally: BTreeMap<&'static str, u64> = BTreeMap::new();
    for name in names {
        let path = Path::new(name);
        let Ok(text) = fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()) else {
            eprintln!("promela random: `{name}` is not there");
            return ExitCode::from(2);
        };
        let includes = driver::files::included(path, &text);
        let given = SpinProgram { text: &text, includes: &includes, flags: &flags };
        let compared = match load(given, &Reading { progress: true, ..Reading::default() }) {
            Ok(loaded) => compare_given(given, &questions(&loaded.model, &text)),
            Err(_) => compare_given(given, &[]),
        };
        println!("{name}: {compared:?}");
        *tally.entry(compared.word()).or_default() += 1;
    }
    let line: Vec<String> = tally.iter().map(|(word, n_times)| format!("{n_times} {word}")).collect();
    println!("promela random: {}", line.join(", "));
    ExitCode::from(u8::from(tally.contains_key("DIFFERS")))
}

/// What a program asks, with the names of its properties here.
pub fn questions(model: &Model, text: &str) -> Vec<(String, SpinQuestion)> {
    let is_claim = |kind: &PropertyKind| matches!(kind, PropertyKind::Temporal(_) | PropertyKind::Invariant(_));
    let temporal = model.properties.iter().filter(|property| is_claim(&property.kind));
    let names: Vec<String> = temporal.map(|property| property.name.clone()).collect();
    let is_label = |name: &str| matches!(name, "no_acceptance_cycle" | "no_non_progress_cycle");
    let n_claims = names.iter().filter(|name| !is_label(name)).count();
    let question = |name: String| match &*name {
        "no_acceptance_cycle" => Some((name, SpinQuestion::Acceptance)),
        "no_non_progress_cycle" => text.contains("progress").then_some((name, SpinQuestion::Progress)),
        _ if n_claims == 1 => Some((name, SpinQuestion::Claim(None))),
        _ => Some((name.clone(), SpinQuestion::Claim(Some(name)))),
    };
    names.into_iter().filter_map(question).collect()
}

/// What a random program asks, with the names of its properties here.
pub fn asked_by(program: &Promela) -> Vec<(String, SpinQuestion)> {
    let name = |asked: &PromelaQuestion| match asked {
        PromelaQuestion::Ltl(_) => "p",
        PromelaQuestion::Never(_) => "never",
        PromelaQuestion::Acceptance => "no_acceptance_cycle",
        PromelaQuestion::Progress => "no_non_progress_cycle",
    };
    program.asked.iter().map(|asked| (name(asked).to_owned(), asked.into())).collect()
}

/// Compares one program.
pub fn compare(program: &Promela) -> Compared {
    let asks = asked_by(program);
    compare_given(SpinProgram { text: &program.text(), includes: &Includes::new(), flags: &[] }, &asks)
}

fn compare_given(given: SpinProgram<'_>, asks: &[(String, SpinQuestion)]) -> Compared {
    let questions: Vec<SpinQuestion> = asks.iter().map(|(_, question)| question.clone()).collect();
    let like_spin = match load(given, &Reading { like_spin: true, ..Reading::default() }) {
        Ok(loaded) => loaded,
        Err(why) => {
            return match spin::ask(given, &[]) {
                Err(Silence::Refused(theirs)) => Compared::Invalid(theirs),
                _ => Compared::Refused(why),
            };
        }
    };
    let Some(found) = counts(&like_spin) else { return Compared::TooLarge };
    let said = match spin::ask(given, &questions) {
        Ok(said) => said,
        Err(Silence::Refused(why)) => return Compared::Invalid(why),
        Err(Silence::NotCompleted) => return Compared::TooLarge,
    };
    let mut differences = Vec::new();
    if let Some(counts) = said.counts {
        if counts.states != found.states {
            differences.push(format!("states: {} here, SPIN {}", found.states, counts.states));
        }
        if counts.transitions != found.transitions {
            differences.push(format!("transitions: {} here, SPIN {}", found.transitions, counts.transitions));
        }
    }
    let mut expect = |what: &str, found: &str, is_violated: bool| {
        let expected = if is_violated { "violated" } else { "holds" };
        if found != expected {
            differences.push(format!("{what}: {found} here, SPIN {expected}"));
        }
    };
    let plain = match load(given, &Reading::default()) {
        Ok(loaded) => loaded,
        Err(why) => return Compared::Refused(why),
    };
    expect("assertions", verdict(&plain.model, "no_errors"), said.errors);
    if said.counts.is_some() {
        expect("end states", verdict(&like_spin.model, "deadlock_free"), said.end_states);
        expect("end states as asked", verdict(&plain.model, "deadlock_free"), said.end_states);
    }
    for (ask, violated) in asks.iter().zip(&said.asked) {
        asked(given, (ask, *violated), &said, &mut expect);
    }
    if differences.is_empty() { Compared::Equal } else { Compared::Differs(differences) }
}

/// Compares the verdicts of what a program asks for itself.
fn asked(
    given: SpinProgram<'_>,
    ((name, question), violated): (&(String, SpinQuestion), [bool; 2]),
    said: &PanReport,
    expect: &mut dyn FnMut(&str, &str, bool),
) {
    // A failed assertion of the program would be found first, and SPIN counts its claim among the processes.
    if said.counts.is_none() || said.errors || given.text.contains("_nr_pr") {
        return;
    }
    for (at, is_violated) in violated.into_iter().enumerate() {
        if at == 1 && !is_fairness_exact(given, question, violated) {
            continue;
        }
        let reading = Reading { is_fair: at == 1, progress: *question == SpinQuestion::Progress, ..Reading::default() };
        let Ok(mut loaded) = load(given, &reading) else { continue };
        let mut found = verdict(&loaded.model, name);
        if at == 1 && found == "violated" && !is_violated {
            // With `-f` SPIN does not see all that goes on for ever where no process is enabled: such runs are not compared.
            for pair in loaded.model.fairness.iter_mut().filter(|pair| pair.owner.is_none()) {
                pair.often.retain(|one| matches!(one, EdgePredicate::SomebodyMoves));
            }
            found = verdict(&loaded.model, name);
        }
        if found != "not asked" {
            let kind = if at == 1 { "fair" } else { "claim" };
            let what = if name == "p" { kind.to_owned() } else { format!("{kind} {name}") };
            expect(&what, found, is_violated);
        }
    }
}

/// Whether what SPIN says with `-f` can be compared. It does not take a process whose `provided` is false for one that is blocked, sometimes
/// finds a cycle that it does not find without fairness, which cannot be one, and misses cycles through `accept` labels: of
/// `active proctype P() { y = 1 } active proctype Q() { accept: do :: x = 1 :: break od }` that in which Q goes on.
fn is_fairness_exact(given: SpinProgram<'_>, question: &SpinQuestion, violated: [bool; 2]) -> bool {
    let misses = *question == SpinQuestion::Acceptance && violated == [true, false];
    !given.text.contains("provided") && violated != [false, true] && !misses
}

pub fn load(given: SpinProgram<'_>, reading: &Reading) -> Result<lang::Loaded, String> {
    let decide = Some(Decide(driver::load::decide));
    let is_lossy = given.flags.iter().any(|flag| flag == LOSSY);
    let reading = Reading { includes: given.includes.clone(), decide, is_lossy, ..reading.clone() };
    let macros = super::given(&given.flags.join(" "));
    lang::promela::load(&SourceFile::new("m.pml", given.text), &macros, &reading).map_err(|refused| {
        let diagnostics = refused.iter().flat_map(|one| &one.diagnostics);
        let first = diagnostics.into_iter().find(|diagnostic| diagnostic.is_error());
        first.map_or_else(String::new, |diagnostic| format!("{} {}", diagnostic.code, diagnostic.message))
    })
}

/// States and transitions as SPIN counts them.
fn counts(loaded: &lang::Loaded) -> Option<SpinCounts> {
    let model: &Model = &loaded.model;
    let budget = Budget::new(Some(Duration::from_secs(MOST_SECONDS)), Some(MOST_BYTES), CancelToken::default());
    let (seen, _, stopped) = product::explore(model, &budget, 1, &Silent);
    if stopped.is_some() || seen.states > MOST_STATES {
        return None;
    }
    let (states, transitions) = (seen.states + loaded.n_before, seen.transitions + loaded.n_before + 1);
    Some(SpinCounts { states, transitions })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A small batch; `cargo xtask promela random` runs many.
    #[test]
    fn random_programs_are_what_spin_says_they_are() {
        if !spin::is_installed() {
            eprintln!("SPIN is not installed");
            return;
        }
        for seed in 1..=6 {
            let program = Promela::random(&mut Choices::from_seed(seed));
            let compared = compare(&program);
            assert!(!matches!(compared, Compared::Differs(_)), "{compared:?}\n{}", program.text());
        }
    }
}
