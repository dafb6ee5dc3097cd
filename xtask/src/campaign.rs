//! `cargo xtask campaign`: every method on random programs against brute force, and the checker on changed proofs and programs.
//!
//! In: how many programs, from which seed on, of which profiles, by which methods, for how long at most. Out: how many verdicts each
//! method gave, how many certificates the checker accepted, how many changed ones it refused, and what was wrong; each finding is
//! made small and written to `target/campaign` as a program with its seed and method. Everything runs in this process, on one thread.
//!
//! [`case`]: a program with what brute force says. [`asked`]: methods, and provers for every size. [`judge`]: their answers compared with it. [`mutants`]: changed certificates and programs.
//! [`shrink`]: findings made small. [`drafts`]: programs that the language cannot write. [`tally`]: the figures.

mod asked;
mod case;
mod drafts;
mod judge;
mod mutants;
mod shrink;
mod tally;
#[cfg(test)]
mod tests;

use std::panic;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use testkit::program::PROFILES;
use testkit::sized;

use asked::Respondent;
use case::{CampaignCase, ProgramSource};
use judge::{CampaignFinding, CampaignJudge};
use tally::CampaignTally;

/// How many programs there are by default.
const N_PROGRAMS: u64 = 10_000;

/// So many methods are drawn for each program by default; of a program of any size, beside the provers for every size.
const N_DRAWN: usize = 4;
const N_DRAWN_BESIDE: usize = 2;

/// So many findings of a kind are made small and written; the others are counted.
const MOST_WRITTEN: usize = 3;

/// How often progress is printed.
const PROGRESS: Duration = Duration::from_secs(20);

/// What a campaign runs.
struct CampaignSettings {
    n_programs: u64,
    first_seed: u64,
    sources: Vec<ProgramSource>,
    methods: Vec<Respondent>,
    /// How many of the methods are drawn for each program; `None`: as many as usual, `usize::MAX` for all.
    n_drawn: Option<usize>,
    longest: Option<Duration>,
}

impl CampaignSettings {
    fn parse(arguments: &[&str]) -> Result<Self, String> {
        let mut settings = CampaignSettings {
            n_programs: N_PROGRAMS,
            first_seed: 0,
            sources: ProgramSource::all(),
            methods: Respondent::methods().into_iter().chain(Respondent::every_size()).collect(),
            n_drawn: None,
            longest: None,
        };
        let mut rest = arguments.iter();
        while let Some(&option) = rest.next() {
            let value = *rest.next().ok_or_else(|| format!("`{option}` needs a value"))?;
            let number = || value.parse::<u64>().map_err(|_| format!("`{option} {value}`: a number is needed"));
            match option {
                "--programs" => settings.n_programs = number()?,
                "--seed" => settings.first_seed = number()?,
                "--seconds" => settings.longest = Some(Duration::from_secs(number()?)),
                "--profile" if value == "all" => {}
                "--profile" => {
                    settings.sources = value.split(',').map(ProgramSource::find).collect::<Result<_, _>>()?
                }
                "--method" if value == "all" => {}
                "--method" => {
                    settings.methods = value.split(',').map(Respondent::find).collect::<Result<_, String>>()?;
                }
                "--drawn" if value == "all" => settings.n_drawn = Some(usize::MAX),
                "--drawn" => settings.n_drawn = Some(number()? as usize),
                _ => return Err(format!("there is no option `{option}`")),
            }
        }
        Ok(settings)
    }

    /// The program with this number among all.
    fn source(&self, number: u64) -> &ProgramSource {
        &self.sources[(number % self.sources.len() as u64) as usize]
    }

    /// The methods and provers that are run on the program of a seed.
    fn asked(&self, source: &ProgramSource, seed: u64) -> Vec<Respondent> {
        let is_method = |one: &Respondent| matches!(one, Respondent::Method(_));
        let (methods, provers): (Vec<Respondent>, Vec<Respondent>) = self.methods.iter().copied().partition(is_method);
        let usual = if source.is_sized() { N_DRAWN_BESIDE } else { N_DRAWN };
        let mut drawn = asked::draw(&methods, self.n_drawn.unwrap_or(usual), seed);
        if source.is_sized() {
            drawn.extend(provers);
        }
        drawn
    }
}

/// Runs a campaign.
pub fn run(root: &Path, arguments: &[&str]) -> ExitCode {
    let settings = match CampaignSettings::parse(arguments) {
        Ok(settings) => settings,
        Err(error) => {
            let names: Vec<&str> = PROFILES.iter().map(|profile| profile.name).collect();
            eprintln!("campaign: {error}");
            eprintln!(
                "usage: cargo xtask campaign [--programs N] [--seed S] [--profile all|NAME,…] [--method all|NAME,…] [--drawn all|N] [--seconds T]"
            );
            let (sized, drafts) = (
                sized::SizedKind::ALL.map(sized::SizedKind::name),
                drafts::DraftKind::ALL.map(drafts::DraftKind::name),
            );
            eprintln!("profiles: {}, {}, {}", names.join(", "), sized.join(", "), drafts.join(", "));
            return ExitCode::from(2);
        }
    };
    // A panic of a method is a finding with its message; its backtrace would drown the figures.
    panic::set_hook(Box::new(judge::note_panic));
    let folder = root.join("target/campaign");
    let tally = Campaign { settings: &settings, folder, tally: CampaignTally::default() }.run();
    print!("{tally}");
    if tally.n_wrong() == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

struct Campaign<'s> {
    settings: &'s CampaignSettings,
    /// Where findings are written.
    folder: PathBuf,
    tally: CampaignTally,
}

impl Campaign<'_> {
    fn run(mut self) -> CampaignTally {
        let (started, mut said) = (Instant::now(), Instant::now());
        for number in 0..self.settings.n_programs {
            if self.settings.longest.is_some_and(|longest| started.elapsed() >= longest) {
                break;
            }
            let (seed, source) = (self.settings.first_seed + number, self.settings.source(number));
            self.one(source, seed);
            if said.elapsed() >= PROGRESS {
                said = Instant::now();
                eprintln!(
                    "campaign: {} programs, {} wrong, {} s",
                    number + 1,
                    self.tally.n_wrong(),
                    started.elapsed().as_secs()
                );
            }
        }
        self.tally.time = started.elapsed();
        self.tally
    }

    fn one(&mut self, source: &ProgramSource, seed: u64) {
        let started = Instant::now();
        let made = CampaignCase::make(source, seed);
        self.tally.brute_force_time += started.elapsed();
        let case = match made {
            Ok(case) => case,
            Err(why) => return self.tally.left_out(why),
        };
        self.tally.n_programs += 1;
        self.tally.n_sized += u64::from(source.is_sized());
        let methods = self.settings.asked(source, seed);
        let findings = CampaignJudge { methods: &methods, tally: &mut self.tally }.judge(&case, seed);
        for finding in findings {
            self.report(source, &case, seed, finding);
        }
    }

    /// Counts a finding; the first ones of its kind are made small, printed and written.
    fn report(&mut self, source: &ProgramSource, case: &CampaignCase, seed: u64, finding: CampaignFinding) {
        if self.tally.note_finding(&finding) > MOST_WRITTEN {
            return;
        }
        let (text, finding) = shrink::smallest(case, seed, finding);
        let head =
            format!("// {finding}\n// cargo xtask campaign --profile {} --seed {seed} --programs 1\n", source.name());
        eprintln!("\n{head}{text}");
        let name = format!("{}-{}-{}-{seed}.pw", finding.kind.word(), file_name(finding.method), source.name());
        let written = std::fs::create_dir_all(&self.folder)
            .and_then(|()| std::fs::write(self.folder.join(name), format!("{head}{text}")));
        if let Err(error) = written {
            eprintln!("campaign: {}: {error}", self.folder.display());
        }
    }
}

/// A method's name as a part of a file's.
fn file_name(method: &str) -> String {
    method.replace('+', "-plus").replace(" --", "-").replace(' ', "-")
}
