//! The figures of a campaign.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use engine::Verdict;
use engine::run::PropertyResult;

use super::case::LeftOut;
use super::judge::{CampaignFinding, FindingKind};

/// What was counted.
#[derive(Default)]
pub struct CampaignTally {
    pub n_programs: u64,
    /// Those of profiles that are asked about every size.
    pub n_sized: u64,
    pub n_properties: u64,
    /// Certificates that methods gave and the checker accepted.
    pub n_certificates: u64,
    /// Claims about every size, and how many sizes they were compared at.
    pub n_every_size: u64,
    pub n_sizes: u64,
    pub n_mutants_accepted: u64,
    pub n_mutants_refused: u64,
    pub time: Duration,
    /// What changing certificates and programs took, and brute force.
    pub mutants_time: Duration,
    pub brute_force_time: Duration,
    left_out: BTreeMap<LeftOut, u64>,
    methods: BTreeMap<&'static str, Verdicts>,
    findings: BTreeMap<(FindingKind, &'static str), usize>,
}

/// What one method answered.
#[derive(Default)]
struct Verdicts {
    n_holds: u64,
    n_violated: u64,
    n_unknown: u64,
    n_programs: u64,
    time: Duration,
}

impl CampaignTally {
    /// Counts a program that is not asked about.
    pub fn left_out(&mut self, why: LeftOut) {
        *self.left_out.entry(why).or_default() += 1;
    }

    /// Counts a verdict.
    pub fn note_verdict(&mut self, method: &'static str, result: &PropertyResult) {
        let verdicts = self.methods.entry(method).or_default();
        match result.verdict {
            Verdict::Holds(_) => verdicts.n_holds += 1,
            Verdict::Violated(_) => verdicts.n_violated += 1,
            Verdict::Unknown(_) => verdicts.n_unknown += 1,
        }
    }

    /// Counts the time that a method took for one program.
    pub fn note_time(&mut self, method: &'static str, time: Duration) {
        let verdicts = self.methods.entry(method).or_default();
        verdicts.n_programs += 1;
        verdicts.time += time;
    }

    /// Counts a finding, and says how many of its kind and method there are.
    pub fn note_finding(&mut self, finding: &CampaignFinding) -> usize {
        let count = self.findings.entry((finding.kind, finding.method)).or_default();
        *count += 1;
        *count
    }

    /// How many findings there are.
    pub fn n_wrong(&self) -> usize {
        self.findings.values().sum()
    }
}

impl fmt::Display for CampaignTally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = |why| self.left_out.get(&why).copied().unwrap_or(0);
        writeln!(
            f,
            "{} programs, {} properties, in {} s ({} more too large for brute force, {} refused by the front-end)",
            self.n_programs,
            self.n_properties,
            self.time.as_secs(),
            count(LeftOut::Large),
            count(LeftOut::Refused)
        )?;
        writeln!(
            f,
            "{:<22} {:>9} {:>9} {:>9} {:>9} {:>12}",
            "method", "programs", "holds", "violated", "unknown", "programs/s"
        )?;
        for (name, verdicts) in &self.methods {
            let Verdicts { n_holds, n_violated, n_unknown, n_programs, time } = verdicts;
            let rate = *n_programs as f64 / time.as_secs_f64().max(1e-9);
            writeln!(f, "{name:<22} {n_programs:>9} {n_holds:>9} {n_violated:>9} {n_unknown:>9} {rate:>12.0}")?;
        }
        writeln!(
            f,
            "certificates checked: {}; changed certificates and programs: {} refused, {} accepted",
            self.n_certificates, self.n_mutants_refused, self.n_mutants_accepted
        )?;
        writeln!(
            f,
            "{} programs of profiles that are asked about every size; claims about every size: {}, compared at {} sizes",
            self.n_sized, self.n_every_size, self.n_sizes
        )?;
        let (brute_force, mutants) = (self.brute_force_time.as_secs(), self.mutants_time.as_secs());
        writeln!(f, "brute force took {brute_force} s, changed certificates and programs {mutants} s")?;
        for ((kind, method), count) in &self.findings {
            writeln!(f, "{} {} {}", kind.word(), method, count)?;
        }
        writeln!(f, "wrong: {}", self.n_wrong())
    }
}
