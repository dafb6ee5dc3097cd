//! SPIN's search for fair runs that violate a property: `pan -a -f` on what `piecewise export` writes.
//!
//! In: a program, its instance and a property. Out: how long the search took, or why there is none. The commands are those that stand at the
//! top of the exported text, with the memory bounded; of a property with a claim for each process the first claim is searched alone.

use std::io::{Read, Seek};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::binary::Binary;
use super::clock::{ClockOwner, Stopwatch};
use super::spin::Spin;

/// What came of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FairSearch {
    /// There is no such run; the seconds of the search, without generating and compiling it.
    Seconds(f64),
    /// It did not end in time or memory, or its stack was too small.
    TooLong,
    /// The program cannot be said in Promela with this property.
    Refused,
}

/// What is asked of SPIN.
pub struct FairQuestion<'a> {
    /// The program, from the root.
    pub file: &'a str,
    /// The property.
    pub property: &'a str,
    /// Parameters, as on the command line.
    pub parameters: &'a [String],
    /// After so many seconds the search is given up.
    pub seconds: f64,
}

/// Writing, generating and compiling take so many seconds each at most.
const MAKING: Duration = Duration::from_secs(60);

/// Asks SPIN.
pub fn search(spin: &Spin, binary: &Binary, question: &FairQuestion<'_>) -> Result<FairSearch, String> {
    let text = spin.directory().join("model.pml");
    let mut export = Command::new(binary.path());
    export.arg("export").arg(binary.root().join(question.file)).args(question.parameters);
    export.args(["--to", "promela", "--output"]).arg(&text);
    let Some(exported) = Bounded::run(&mut export, spin.directory(), MAKING)? else { return Ok(FairSearch::TooLong) };
    if !exported.is_success {
        return Ok(FairSearch::Refused);
    }
    let written = std::fs::read_to_string(&text).map_err(|error| format!("{}: {error}", text.display()))?;
    let commands = Commands::of(&written, question.property)
        .ok_or_else(|| format!("the text for SPIN has no claim for `{}`", question.property))?;
    let generating = Bounded::run(Command::new("spin").args(commands.generate), spin.directory(), MAKING)?;
    if generating.is_none_or(|ran| !ran.is_success) {
        return Ok(FairSearch::TooLong);
    }
    let compile = ["-O2", "-w", "-DNOREDUCE", "-DMEMLIM=4096", "-o", "pan", "pan.c"];
    if Bounded::run(Command::new("cc").args(compile).args(commands.fair), spin.directory(), MAKING)?
        .is_none_or(|ran| !ran.is_success)
    {
        return Ok(FairSearch::TooLong);
    }
    let patience = Duration::from_secs_f64(question.seconds);
    let stopwatch = Stopwatch::start(ClockOwner::Children);
    let mut pan = Command::new(spin.directory().join("pan"));
    let searched = Bounded::run(pan.args(commands.search), spin.directory(), patience)?;
    let (_, seconds) = stopwatch.stop(ClockOwner::Children);
    searched.map_or(Ok(FairSearch::TooLong), |ran| found(&ran.printed, seconds))
}

/// What the printed report says.
fn found(printed: &str, seconds: f64) -> Result<FairSearch, String> {
    let is_cut = ["Search not completed", "max search depth too small", "memory limit", "out of memory"];
    if is_cut.iter().any(|words| printed.contains(words)) {
        return Ok(FairSearch::TooLong);
    }
    match printed.contains("errors: 0") {
        true => Ok(FairSearch::Seconds(seconds)),
        false => Err(format!("SPIN does not say that the property holds:\n{printed}")),
    }
}

/// The arguments of the commands for a claim.
#[derive(Debug, PartialEq)]
struct Commands<'t> {
    generate: Vec<&'t str>,
    /// For how many processes `pan -f` is compiled, where it says so.
    fair: Option<&'t str>,
    search: Vec<&'t str>,
}

impl<'t> Commands<'t> {
    /// From the top of an exported text: those of the first claim of a property.
    fn of(text: &'t str, property: &str) -> Option<Self> {
        let words = |line: &'t str| line.trim_start_matches(" *").split_whitespace().collect::<Vec<&str>>();
        let lines: Vec<Vec<&str>> = text.lines().take_while(|line| *line != " */").map(words).collect();
        let is_number = |text: Option<&str>| text.is_some_and(|text| text.parse::<u32>().is_ok());
        let is_of_property = |search: &[&str]| {
            let claim = search.last().and_then(|claim| claim.strip_prefix(property));
            search.first() == Some(&"./pan")
                && claim.is_some_and(|rest| rest.is_empty() || is_number(rest.strip_prefix('_')))
        };
        let pair = lines.windows(2).find(|pair| is_of_property(&pair[1]))?;
        let generate = pair[0].iter().skip(1).take_while(|word| **word != "&&").copied().collect();
        let fair = pair[0].iter().find(|word| word.starts_with("-DNFAIR=")).copied();
        Some(Commands { generate, fair, search: pair[1][1..].to_vec() })
    }
}

/// What a command printed, and whether it ended as it should.
struct Bounded {
    printed: String,
    is_success: bool,
}

impl Bounded {
    /// Runs a command in a directory; nothing where it did not end in time.
    fn run(command: &mut Command, directory: &Path, patience: Duration) -> Result<Option<Self>, String> {
        let name = command.get_program().to_string_lossy().into_owned();
        let failed = |error: std::io::Error| format!("{name}: {error}");
        // A file takes all that is printed while it is not read.
        let mut printed = tempfile::tempfile().map_err(failed)?;
        let copy = printed.try_clone().map_err(failed)?;
        command.current_dir(directory).stdin(Stdio::null()).stdout(copy).stderr(Stdio::null());
        let started = Instant::now();
        let mut child = command.spawn().map_err(failed)?;
        loop {
            if let Some(status) = child.try_wait().map_err(failed)? {
                let mut text = Vec::new();
                printed.rewind().and_then(|()| printed.read_to_end(&mut text)).map_err(failed)?;
                let printed = String::from_utf8_lossy(&text).into_owned();
                return Ok(Some(Bounded { printed, is_success: status.success() }));
            }
            if started.elapsed() > patience {
                child.kill().map_err(failed)?;
                child.wait().map_err(failed)?;
                return Ok(None);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "/* lock, N = 2
 *   line 9: property lives: …
 *     spin -DRUNS -a model.pml && gcc -O2 -DNOREDUCE -DNFAIR=3 -o pan pan.c
 *     ./pan -a -f -m1000000 -N lives_1
 *
 *   line 10: property live: …
 *     spin -DRUNS -DTURNS -a model.pml && gcc -O2 -DNOREDUCE -o pan pan.c
 *     ./pan -a -m1000000 -N live_1
 */
";

    #[test]
    fn the_commands_of_a_claim_are_found() {
        let commands = Commands::of(TEXT, "live").unwrap();
        assert_eq!(commands.generate, ["-DRUNS", "-DTURNS", "-a", "model.pml"]);
        assert_eq!(commands.search, ["-a", "-m1000000", "-N", "live_1"]);
        assert_eq!(Commands::of(TEXT, "lives").unwrap().search.last(), Some(&"lives_1"));
        assert_eq!((Commands::of(TEXT, "lives").unwrap().fair, commands.fair), (Some("-DNFAIR=3"), None));
        assert_eq!(Commands::of(TEXT, "safe"), None);
    }

    #[test]
    fn only_a_whole_search_without_errors_counts() {
        assert_eq!(found("State-vector 20 byte, depth reached 9, errors: 0", 0.5), Ok(FairSearch::Seconds(0.5)));
        assert_eq!(found("error: max search depth too small\nerrors: 0", 0.5), Ok(FairSearch::TooLong));
        assert!(found("acceptance cycle\nerrors: 1", 0.5).is_err());
    }
}
