//! `cargo xtask promela trails`: trails that SPIN prints of random programs, each followed to its end.
//!
//! In: how many programs, and a seed; or names of files. SPIN searches for a failed assertion, an invalid end state and what the program asks, and `spin -t -p`
//! and `pan -r` print what is found. Out: status 1 if a trail is called no run, or does not show what `pan` found. Such programs and trails
//! are written to `target/promela/`.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use base::SourceFile;
use driver::trail;
use lang::promela::{Includes, Reading};
use testkit::choices::Choices;
use testkit::promela::Promela;

use super::random::{asked_by, load, questions};
use super::spin::{self, PrintedTrail, SpinProgram, SpinQuestion};

/// What came of the trails of some programs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Followed {
    pub fine: usize,
    pub wrong: usize,
}

/// Follows trails of random programs: `COUNT`, `SEED`; or of the programs of files.
pub fn run(root: &Path, arguments: &[&str]) -> ExitCode {
    if !spin::is_installed() {
        eprintln!("promela trails: SPIN and a C compiler are needed");
        return ExitCode::from(2);
    }
    let folder = root.join("target/promela");
    if let Err(error) = fs::create_dir_all(&folder) {
        eprintln!("promela trails: {error}");
        return ExitCode::from(2);
    }
    let mut followed = Followed::default();
    let keep = |name: &str, text: &str, wrong: &[(PrintedTrail, String)]| {
        for (at, (trail, why)) in wrong.iter().enumerate() {
            println!("{name}: {}: {why}", trail.what);
            let written = fs::write(folder.join(format!("{name}.pml")), text)
                .and_then(|()| fs::write(folder.join(format!("{name}-{at}.txt")), &trail.text));
            if let Err(error) = written {
                eprintln!("promela trails: {error}");
            }
        }
    };
    if arguments.first().is_some_and(|word| word.parse::<u64>().is_err()) {
        for name in arguments {
            let path = Path::new(name);
            let Ok(text) = fs::read_to_string(path) else {
                eprintln!("promela trails: `{name}` is not there");
                return ExitCode::from(2);
            };
            let includes = driver::files::included(path, &text);
            let given = SpinProgram { text: &text, includes: &includes, flags: &[] };
            let asks = load(given, &Reading { progress: true, ..Reading::default() })
                .map_or(Vec::new(), |loaded| questions(&loaded.model, &text));
            let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            keep(&stem, &text, &follow(given, &asks, &mut followed));
        }
    } else {
        let number =
            |at: usize, otherwise: u64| arguments.get(at).and_then(|word| word.parse().ok()).unwrap_or(otherwise);
        let (count, first) = (number(0, 100), number(1, 1));
        for seed in first..first + count {
            let program = Promela::random(&mut Choices::from_seed(seed));
            keep(&seed.to_string(), &program.text(), &follow_random(&program, &mut followed));
        }
    }
    println!("promela trails: {} followed to what they show, {} not", followed.fine, followed.wrong);
    ExitCode::from(u8::from(followed.wrong > 0))
}

/// The trails of a random program that are not followed as they should be, with the reasons.
pub fn follow_random(program: &Promela, followed: &mut Followed) -> Vec<(PrintedTrail, String)> {
    let given = SpinProgram { text: &program.text(), includes: &Includes::new(), flags: &[] };
    follow(given, &asked_by(program), followed)
}

fn follow(
    given: SpinProgram<'_>,
    asks: &[(String, SpinQuestion)],
    followed: &mut Followed,
) -> Vec<(PrintedTrail, String)> {
    // What SPIN does not accept, or does not finish, has no trails.
    let Ok(trails) = spin::trails(given, asks) else { return Vec::new() };
    let mut wrong = Vec::new();
    for printed in trails {
        match follow_one(given, &printed) {
            Ok(()) => followed.fine += 1,
            Err(why) => {
                followed.wrong += 1;
                wrong.push((printed, why));
            }
        }
    }
    wrong
}

fn follow_one(given: SpinProgram<'_>, printed: &PrintedTrail) -> Result<(), String> {
    let progress = trail::may_ask_for_progress(&printed.text);
    let reading = Reading { single_steps: true, progress, ..Reading::default() };
    // What is not read is told elsewhere.
    let Ok(loaded) = load(given, &reading) else { return Ok(()) };
    let source = SourceFile::new("m.pml", given.text);
    let shown = trail::follow(&loaded.model, &source, &printed.text).map_err(|error| error.to_string())?;
    // A variable that SPIN leaves out may change in each round.
    let is_open = !shown.changes_in_cycle.is_empty();
    // Where the last step is an assertion that is passed over, nothing says whether the run ends in it.
    let passed_over = printed.shows == "deadlock_free" && printed.text.contains("assertion violated");
    match shown.decides.contains(&printed.shows) || is_open || passed_over {
        true => Ok(()),
        false => Err(format!("it should show {}, and shows {:?}", printed.shows, shown.decides)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A small batch; `cargo xtask promela trails` follows many.
    #[test]
    fn trails_of_random_programs_are_followed_to_their_ends() {
        if !spin::is_installed() {
            eprintln!("SPIN is not installed");
            return;
        }
        let mut followed = Followed::default();
        for seed in 1..=4 {
            let program = Promela::random(&mut Choices::from_seed(seed));
            let wrong = follow_random(&program, &mut followed);
            assert!(wrong.is_empty(), "{wrong:?}\n{}", program.text());
        }
        assert!(followed.fine > 0);
    }
}
