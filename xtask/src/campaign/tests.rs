//! A small campaign of each profile, with every method; and that a campaign finds what is wrong.

use super::*;
use judge::FindingKind;

/// So many programs of each profile; `PIECEWISE_CASES` sets another number.
const N_PROGRAMS: u64 = 4;

fn campaign(source: ProgramSource) -> CampaignTally {
    let n_programs = std::env::var("PIECEWISE_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(N_PROGRAMS);
    let settings = CampaignSettings {
        n_programs,
        first_seed: 0,
        sources: vec![source],
        methods: Respondent::methods().into_iter().chain(Respondent::every_size()).collect(),
        n_drawn: None,
        longest: None,
    };
    let folder = std::env::temp_dir().join("piecewise-campaign");
    Campaign { settings: &settings, folder, tally: CampaignTally::default() }.run()
}

#[test]
fn every_method_agrees_with_brute_force() {
    let (mut n_claims, mut n_sizes) = (0, 0);
    for source in ProgramSource::all() {
        let tally = campaign(source);
        println!("{}:\n{tally}", source.name());
        assert_eq!(tally.n_wrong(), 0, "{}:\n{tally}", source.name());
        assert_eq!(tally.n_sized, if source.is_sized() { tally.n_programs } else { 0 });
        n_claims += tally.n_every_size;
        n_sizes += tally.n_sizes;
    }
    // What is proved for every size is compared at several.
    assert!(n_claims > 20 && n_sizes > 2 * n_claims, "{n_claims} claims about every size, compared at {n_sizes} sizes");
}

/// Every method gets its share of the programs.
#[test]
fn methods_are_drawn_evenly() {
    let settings = CampaignSettings::parse(&[]).ok().unwrap();
    let plain = ProgramSource::find("plain").unwrap();
    let mut counts = std::collections::BTreeMap::new();
    for one in (0..1000).flat_map(|seed| settings.asked(&plain, seed)) {
        *counts.entry(one.name()).or_insert(0) += 1;
    }
    assert_eq!(counts.len(), Respondent::methods().len());
    assert!(counts.values().all(|&count| count > 1000 * N_DRAWN / counts.len() / 2), "{counts:?}");
}

/// The false proof of version 0.1: texts index `a` by numbers, the property by a process.
const FALSE_PROOF: &str = "program s(N: 2..) {
  shared a: [bool; N];
  process P[i in 0..<N] {
    loop {
      s: a[1] = true;
      c: a[0] = false;
    }
  }
  invariant p: forall i: !(P[i]@c && a[i]);
}
";

#[test]
fn brute_force_contradicts_a_verdict_that_is_not_true() {
    let case = CampaignCase::of_text(FALSE_PROOF.to_owned()).map_err(|why| format!("{why:?}")).unwrap();
    let property = driver::select::find(&case.model, "p").unwrap();
    let right = case.right[property.index()];
    assert!(right.violated && !right.holds);
    let mono = Respondent::find("mono").unwrap();
    let mut results = judge::ask_about(mono, &case, &[property]).map_err(|finding| finding.to_string()).unwrap();
    assert!(judge::wrong(&case, mono, &results[0]).is_none());
    let exploration =
        evidence::Exploration { states: 1, transitions: 0, deadlocks: 0, errors: 0, depth: 0, complete: true };
    results[0].verdict = engine::Verdict::Holds(evidence::Evidence::Exploration(exploration));
    let found = judge::wrong(&case, mono, &results[0]).unwrap();
    assert_eq!((found.kind, found.property.as_deref()), (FindingKind::WrongVerdict, Some("p")));
}

#[test]
fn settings_are_read_or_refused() {
    let settings = |line: &str| CampaignSettings::parse(&line.split_whitespace().collect::<Vec<_>>());
    let parsed = settings("--programs 7 --seed 9 --profile plain,rendezvous --method mono --seconds 3").ok().unwrap();
    assert_eq!((parsed.n_programs, parsed.first_seed, parsed.sources.len(), parsed.methods.len()), (7, 9, 2, 1));
    let all = Respondent::methods().len() + Respondent::every_size().len();
    assert_eq!(settings("--profile all --method all").ok().unwrap().methods.len(), all);
    for wrong in ["--programs", "--programs x", "--profile nothing", "--method nothing", "--fast 1"] {
        assert!(settings(wrong).is_err(), "{wrong}");
    }
}
