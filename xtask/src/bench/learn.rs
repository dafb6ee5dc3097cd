//! `cargo xtask bench auto --learn`: what each method takes on examples of many sizes, and the shares of `auto` that follow.
//!
//! In: questions about the examples. Out: `crates/driver/src/auto/measured.txt`, a line for each question with the processor seconds of each
//! method that answered it in time, and `table.txt` beside it, made of that. Where methods with times `t` share the work in parts `s`, the answer
//! takes the least `t / s`; the shares of a class make the mean logarithm of that, over the best `t`, as small as it gets: each question is counted for the method
//! that answers it first under the present shares, the new shares are these counts, and so on until they stay (a mixture, fitted by hard assignment).
//! Every method keeps a small share, since there are programs that were not measured.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

use base::SourceFile;
use model::property::PropertyKind;

use super::auto::single_methods;
use super::binary::{Binary, BinaryCall};

/// Beside the present shares, from the root.
const FOLDER: &str = "crates/driver/src/auto";

/// A method that takes longer is given up.
const PATIENCE_SECONDS: f64 = 2.0;

/// Differences below this are of no interest: every call takes some milliseconds.
const MOMENT_SECONDS: f64 = 0.02;

/// What a class has in all; a method that never was first keeps 1.
const PARTS: f64 = 40.0;

/// So often shares are made anew at most.
const MOST_ROUNDS: usize = 50;

/// Questions: a program, a property, and sizes.
const QUESTIONS: [(&str, &str, &[u32]); 34] = [
    ("mux_sem", "mutex", &[4, 10, 20, 50, 100, 300]),
    ("mux_sem", "live", &[4, 8, 16, 50, 100]),
    ("mux_sem", "busy", &[6, 20]),
    ("mux_sem_try", "mutex", &[8, 20, 60]),
    ("mux_sem_counter", "busy", &[5, 10, 20, 50]),
    ("mux_sem_first", "live", &[5, 10, 20, 50]),
    ("mux_sem_first", "unfair", &[5, 10, 20, 50]),
    ("mux_sem_nondet", "live", &[4, 8, 12, 16]),
    ("szymanski", "mutex", &[3, 4, 6, 8, 12, 16]),
    ("szymanski_atomic", "mutex", &[4, 8, 12]),
    ("dijkstra", "mutex", &[3, 4, 6, 8, 10]),
    ("bakery_atomic", "mutex", &[3, 4, 5, 6, 7]),
    ("bakery_atomic", "live", &[3, 4, 5, 6]),
    ("filter", "mutex", &[3, 4, 5]),
    ("burns", "mutex", &[3, 5, 8]),
    ("philosophers", "neighbours", &[4, 6, 8, 10, 20, 50, 100, 200]),
    ("philosophers", "live", &[3, 4, 5, 6, 8, 10]),
    ("philosophers", "deadlock_free", &[4, 6, 8, 10, 14]),
    ("philosophers_broken", "deadlock_free", &[4, 8, 12]),
    ("token_ring", "mutex", &[4, 8, 12, 20, 50, 100]),
    ("token_ring", "served", &[4, 6, 8, 10]),
    ("leader_election", "unique", &[3, 4, 6, 10, 30, 60]),
    ("two_phase_commit", "agreement", &[3, 4, 5, 6, 8]),
    ("cond_term", "ends", &[3, 4, 5, 6]),
    ("barrier", "together", &[3, 4, 6]),
    ("german", "coherent", &[2, 3]),
    ("mesi", "coherent", &[3, 5, 8]),
    ("mcs", "mutex", &[2, 3, 4]),
    ("clh", "mutex", &[2, 3, 4]),
    ("anderson", "mutex", &[3, 4, 6]),
    ("ticket_bounded", "mutex", &[3, 4, 6]),
    ("readers_writers", "exclusive", &[3, 5, 8]),
    ("lamport_fast", "mutex", &[2, 3, 4]),
    ("work_queue", "alone", &[2, 3, 4]),
];

/// What the methods took for one question: those that answered it.
type Times = BTreeMap<String, f64>;

/// Measures, and writes both files.
pub fn run(root: &Path) -> ExitCode {
    let done = measure_all(root).and_then(|measured| {
        let write = |name: &str, text: &str| {
            let path = root.join(FOLDER).join(name);
            std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))
        };
        write("measured.txt", &measured)?;
        let path = root.join(FOLDER).join("table.txt");
        let before = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        write("table.txt", &table(&measured, &before))
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn measure_all(root: &Path) -> Result<String, String> {
    let binary = Binary::build(root)?;
    let mut text = format!(
        "# Processor seconds of the whole command by method, where it answered within {PATIENCE_SECONDS} s; made by `cargo xtask bench auto --learn`.\n"
    );
    for (name, property, sizes) in QUESTIONS {
        let file = format!("examples/{name}.pw");
        let source = std::fs::read_to_string(root.join(&file)).map_err(|error| format!("{file}: {error}"))?;
        for size in sizes {
            let size_given = [(String::from("N"), i64::from(*size))];
            let loaded = lang::load(&SourceFile::new(&file, &source), &size_given);
            let Ok(loaded) = loaded else { continue };
            let asked = loaded.model.properties.iter().find(|one| one.name == property);
            let Some(asked) = asked else {
                eprintln!("bench: {name} has no property {property}");
                break;
            };
            let kind = if matches!(asked.kind, PropertyKind::Temporal(_)) { "temporal" } else { "safety" };
            let class = driver::auto::class(&loaded.model, kind);
            eprintln!("bench: {name} {property} N = {size}: {class}");
            let mut line = format!("{class}: {name} {property} {size}:");
            for method in single_methods() {
                let parameters = vec![String::from("-q"), format!("-N{size}"), String::from("-j1")];
                let call = BinaryCall { file: file.clone(), property, method, parameters, seconds: PATIENCE_SECONDS };
                let ran = binary.run_once(&call)?;
                if ran.verdict != "unknown" {
                    // Writing to a string does not fail.
                    let _ = write!(line, " {method}={:.2}", ran.cpu_seconds);
                }
            }
            text.push_str(&line);
            text.push('\n');
        }
    }
    Ok(text)
}

/// The table of shares that follows from the measurements; classes that were not measured keep the shares that they had before.
fn table(measured: &str, before: &str) -> String {
    let mut classes: BTreeMap<String, Vec<Times>> = BTreeMap::new();
    for line in measured.lines().filter(|line| !line.starts_with('#')) {
        let mut parts = line.splitn(3, ':');
        let (Some(class), Some(_), Some(times)) = (parts.next(), parts.next(), parts.next()) else { continue };
        let time = |word: &str| {
            let (method, seconds) = word.split_once('=')?;
            Some((method.to_owned(), seconds.parse::<f64>().ok()?.max(MOMENT_SECONDS)))
        };
        let times: Times = times.split_whitespace().filter_map(time).collect();
        if !times.is_empty() {
            classes.entry(class.to_owned()).or_default().push(times);
        }
    }
    let text = String::from(
        "# Shares of methods in `auto`, by class of program; plan.rs says what the classes are. A method that is not named has no share.\n\
         # Made of measured.txt by `cargo xtask bench auto --learn`.\n",
    );
    let mut lines: Vec<String> = Vec::new();
    for (class, questions) in &classes {
        let mut shares = shares(questions);
        shares.sort_by(|one, other| other.1.total_cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
        let shares: Vec<String> = shares.iter().map(|(name, share)| format!("{name}={share:.0}")).collect();
        lines.push(format!("{class}: {}", shares.join(" ")));
    }
    let is_kept = |line: &&str| {
        let class = line.split_once(':').map(|(class, _)| class);
        !line.starts_with('#') && class.is_some_and(|class| !classes.contains_key(class))
    };
    lines.extend(before.lines().filter(is_kept).map(str::to_owned));
    lines.sort_unstable();
    text + &lines.join("\n") + "\n"
}

/// The shares that make the answers of a class come soonest, on the whole.
fn shares(questions: &[Times]) -> Vec<(String, f64)> {
    let mut shares: BTreeMap<String, f64> =
        questions.iter().flat_map(BTreeMap::keys).map(|name| (name.clone(), 1.0)).collect();
    for _ in 0..MOST_ROUNDS {
        let mut counts: BTreeMap<String, f64> = shares.keys().map(|name| (name.clone(), 0.0)).collect();
        for times in questions {
            let after = |name: &String| times[name] / shares[name];
            let first = times.keys().min_by(|one, other| after(one).total_cmp(&after(other)));
            if let Some(count) = first.and_then(|first| counts.get_mut(first)) {
                *count += 1.0;
            }
        }
        let of = |count: f64| (count * PARTS / questions.len() as f64).round().max(1.0);
        let next = counts.into_iter().map(|(name, count)| (name, of(count))).collect();
        if next == shares {
            break;
        }
        shares = next;
    }
    shares.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_follow_who_is_first() {
        let measured = "# seconds\n\
            safety few alike: lock mutex 3: mono=0.10 forward=0.90\n\
            safety few alike: lock mutex 4: mono=0.20 forward=1.90 tmmc=0.50\n\
            safety crowd alike: lock mutex 99: pairwise=0.3\n\
            safety crowd alike: lock mutex 999:\n";
        let before = "# shares\nsafety few alike: tmmc=1\ntemporal few alike: mono=1\n";
        let text = table(measured, before);
        assert!(text.contains("\nsafety few alike: mono=40 forward=1 tmmc=1\n"), "{text}");
        assert!(text.contains("\nsafety crowd alike: pairwise=40\n"), "{text}");
        assert!(text.ends_with("\ntemporal few alike: mono=1\n"), "{text}");
    }
}
