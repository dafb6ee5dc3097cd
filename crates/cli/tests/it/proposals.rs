//! What is proposed works when it is pasted: every command that `check` prints for one example in [`STRIDE`] is run by a shell.
//!
//! Of commands that look the same but for names and numbers a few are run, those of different examples.

use std::collections::HashMap;
use std::process::Command;

use crate::support::{Place, Told, examples};

/// One example in so many is asked; that all of them are checked as their authors expect is tested in `verdicts`.
const STRIDE: usize = 3;

/// So many commands of each look are run.
const EACH: usize = 3;

/// The commands after `next:`, without what they are for.
fn proposed(out: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut is_after = false;
    for line in out.lines() {
        let line = match line.trim_start().strip_prefix("next:") {
            Some(rest) => {
                is_after = true;
                rest
            }
            None => line,
        };
        let text = line.trim_start();
        is_after &= line.starts_with("  ") && !text.is_empty();
        if is_after && text.starts_with("piecewise ") {
            found.push(text.split("   ").next().unwrap_or(text).to_owned());
        }
    }
    found
}

/// What a command looks like without names and numbers.
fn look(command: &str) -> String {
    let word = |word: &str| match word {
        _ if word.starts_with('-') => word.to_owned(),
        "piecewise" | "check" | "sim" | "replay" | "proof" | "no_errors" | "deadlock_free" | "'race_free" => {
            word.to_owned()
        }
        _ => "…".to_owned(),
    };
    command.split_whitespace().map(word).collect::<Vec<_>>().join(" ")
}

/// Runs a command as a shell does.
fn paste(place: &Place, command: &str) -> Told {
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_piecewise"));
    let folder = program.parent().expect("a program lies in a folder");
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap_or_default());
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).current_dir(place.path()).env("PATH", path).stdin(std::process::Stdio::null());
    Told::new(&shell.output().expect("there is a shell"))
}

#[test]
fn every_kind_of_command_that_is_proposed_for_the_examples_works() {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut n_run = 0;
    for path in examples().iter().step_by(STRIDE) {
        let name = path.file_name().and_then(|name| name.to_str()).expect("an example has a name").to_owned();
        let place = Place::with(&name, &std::fs::read_to_string(path).expect("an example can be read"));
        let mut calls = vec![format!("piecewise check {name}")];
        // What a call proposes may propose more: a trace that was kept, to be replayed.
        for depth in 0..2 {
            let mut more = Vec::new();
            for call in std::mem::take(&mut calls) {
                let told = paste(&place, &call);
                assert!(matches!(told.status, 0 | 1), "{call}: status {}\n{}{}", told.status, told.out, told.err);

                n_run += usize::from(depth > 0);
                more.extend(proposed(&told.out));
            }
            for command in more {
                let count = seen.entry(look(&command)).or_default();
                *count += 1;
                if *count <= EACH {
                    calls.push(command.replace("DIR", "out"));
                }
            }
        }
        for call in calls {
            let told = paste(&place, &call);
            assert!(matches!(told.status, 0 | 1), "{call}: status {}\n{}{}", told.status, told.out, told.err);
            n_run += 1;
        }
    }
    println!("{n_run} commands of {} kinds", seen.len());
    assert!(seen.len() >= 8 && n_run >= 24, "{n_run} commands: {seen:?}");
}
