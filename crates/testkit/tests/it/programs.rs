//! Random texts are programs: of every profile nearly all load, and most products are small enough for brute force.

use std::collections::BTreeMap;

use base::SourceFile;
use model::Model;
use model::eval::{initial_faults, n_initial_states};
use testkit::Product;
use testkit::choices::Choices;
use testkit::program::{self, PROFILES, Profile};
use testkit::sized;

const N_PROGRAMS: u64 = 150;

fn load(text: &str) -> Result<Model, String> {
    match lang::load(&SourceFile::new("random.pw", text), &[]) {
        Ok(loaded) => Ok(loaded.model),
        Err(diagnostics) => {
            let error = diagnostics.iter().find(|diagnostic| diagnostic.is_error());
            Err(error.map_or(String::new(), |error| format!("{} {}", error.code, error.message)))
        }
    }
}

fn is_small(model: &Model) -> bool {
    initial_faults(model).is_empty() && n_initial_states(model) <= 16 && Product::explore(model, 400).is_some()
}

fn programs(profile: &'static Profile) -> impl Iterator<Item = (u64, String)> {
    (0..N_PROGRAMS).map(|seed| (seed, program::text(&mut Choices::from_seed(seed), profile)))
}

#[test]
fn nearly_all_texts_are_programs_with_small_products() {
    for profile in &PROFILES {
        let (mut n_small, mut refused) = (0, BTreeMap::<String, (u64, usize)>::new());
        for (seed, text) in programs(profile) {
            match load(&text) {
                Ok(model) => n_small += usize::from(is_small(&model)),
                Err(error) => refused.entry(error).or_insert((seed, 0)).1 += 1,
            }
        }
        let n_refused: usize = refused.values().map(|(_, count)| count).sum();
        println!("{}: {n_small} small, {n_refused} refused {refused:?}", profile.name);
        assert!(n_refused * 20 <= N_PROGRAMS as usize, "{}: {n_refused} refused: {refused:?}", profile.name);
        assert!(n_small * 2 >= N_PROGRAMS as usize, "{}: only {n_small} small", profile.name);
    }
}

/// The words that a profile's texts have to contain, some of them in many texts.
#[test]
fn each_profile_makes_what_it_aims_at() {
    for (profile, words) in [
        ("plain", &["shared", "invariant", "race_free", "property", "await"][..]),
        ("indices", &["[0] =", "[i] =", "[q]"]),
        ("dimensions", &["[[", "][i]", "][q]"]),
        ("symmetry", &["N: 2..", "N: 3..", "[i]"]),
        ("families", &["process Q[k in", "process S {", "Q[", "pid(Q)"]),
        ("public", &["public p0: [", "P[i].p0", "P[q].p0"]),
        ("faults", &["6 / ", "5 % ", "9223372036854775807 +"]),
        ("wide", &["4294967295", "9223372036854775807", "-2147483648"]),
        ("locks", &["acquire m", "release m", "lock", "sem(1)", "m.owner"]),
        ("loops", &["for c0 in 0..<", "atomic {", "for c1 in"]),
        ("procedures", &["proc f(", "= call f(", "return"]),
        (
            "words",
            &[
                "mail(M(=",
                "= true",
                "peek mail(M(",
                "f: = ",
                "if cas(rec, ",
                "set of Hue",
                "insert hues(",
                "Hue.cold",
                "some c in Hue",
                "some c in hues",
                "for c in ",
                "for z in tags",
                "initially",
                "end l",
                "goto here0",
                "let old",
                "hues == {",
                "exists h in hues",
                "sum(y in tags",
            ],
        ),
        ("meetings", &["chan bell: [0]", "send bell(", "receive bell(rec.f", "receive bell(= "]),
        ("fairness", &["next", " or ", "strong P[*]@", "weak (", "strong (", "every", "progress", "fairness fair {"]),
    ] {
        let profile = program::profile::find(profile).expect("the profile is in the table");
        let texts: Vec<String> = programs(profile).map(|(_, text)| text).collect();
        for word in words {
            let n_with = texts.iter().filter(|text| text.contains(word)).count();
            assert!(n_with >= 5, "{}: only {n_with} texts with `{word}`", profile.name);
        }
    }
}

/// Programs of any size in which indices and numbers of processes get into data: each way occurs, nearly all load, many have a small product.
#[test]
fn indices_ids_and_numbers_of_processes_get_into_data() {
    const N_TEXTS: u64 = 600;
    let texts: Vec<String> =
        (0..N_TEXTS).map(|seed| sized::text(&mut Choices::from_seed(seed), sized::SizedKind::Numbers)).collect();
    let (mut n_small, mut refused) = (0, BTreeMap::<String, (usize, usize)>::new());
    for (seed, text) in texts.iter().enumerate() {
        match load(text) {
            Ok(model) => n_small += usize::from(is_small(&model)),
            Err(error) => refused.entry(error).or_insert((seed, 0)).1 += 1,
        }
    }
    let n_refused: usize = refused.values().map(|(_, count)| count).sum();
    assert!(n_refused * 20 <= N_TEXTS as usize, "{n_refused} refused: {refused:?}");
    assert!(n_small * 3 >= N_TEXTS as usize, "only {n_small} small");
    for word in [
        "n = i;",
        "n == i",
        "Q[i].f",
        "c[0] = 1;",
        "i != P[0]",
        "t += 1;",
        "t == count(",
        "r = R(i, 1);",
        "insert w(i);",
        "send mail(i);",
        "lossy",
        "cas(p, none, i)",
        "some k in P",
        "some k in w",
        "sum(k in",
        "max(k in P",
        "initially",
        "= [k: ",
        "let old",
        "v = P[q].y;",
        "seen[k]",
        "Q[j in 0..<N]",
    ] {
        let n_with = texts.iter().filter(|text| text.contains(word)).count();
        assert!(n_with >= 5, "only {n_with} texts with `{word}`");
    }
}

/// Texts of every kind but those whose words are changed at random are programs.
#[test]
fn texts_of_any_size_are_programs() {
    for kind in sized::SizedKind::ALL.into_iter().filter(|kind| *kind != sized::SizedKind::Protocols) {
        let texts = (0..N_PROGRAMS).map(|seed| sized::text(&mut Choices::from_seed(seed), kind));
        let refused: Vec<String> = texts.filter_map(|text| load(&text).err()).collect();
        assert!(refused.len() * 20 <= N_PROGRAMS as usize, "{}: {} refused: {refused:?}", kind.name(), refused.len());
    }
}
