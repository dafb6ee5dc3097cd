//! The words of a call as options, with what may be left out.
//!
//! In: the words. Out: the table of [`crate::options`] filled in. `piecewise FILE` is a check, `check --method NAME --help` asks about the method,
//! `--progress` without a way to show it asks for progress.

use std::ffi::OsString;
use std::path::Path;

use clap::{FromArgMatches, ValueEnum};

use crate::options::{Cli, ProgressMode, command};

/// What `--version` prints.
pub const VERSION: &str = concat!("piecewise ", env!("CARGO_PKG_VERSION"), "\n");

/// Whether the call asks for the version and nothing else, for which the table of options need not be built.
pub fn asks_for_version(arguments: &[OsString]) -> bool {
    matches!(arguments, [_, word] if word == "--version" || word == "-V")
}

/// Reads the command line; `piecewise FILE` means `piecewise check FILE`.
///
/// # Errors
/// What is wrong with the call, or the text of `--help` and `--version`.
pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Cli, clap::Error> {
    // To build the table takes most of the time of a short call: once is enough.
    let mut table = command();
    let arguments = with_method_page(with_progress(with_command(&table, arguments.into_iter().collect())));
    let mut matches = table.try_get_matches_from_mut(arguments)?;
    Cli::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut table))
}

/// `check --method NAME --help` asks about the method: what it answers, what it does not follow, its settings.
fn with_method_page(arguments: Vec<OsString>) -> Vec<OsString> {
    let words: Vec<&str> = arguments.iter().map_while(|word| word.to_str().filter(|&word| word != "--")).collect();
    let asks = words.get(1) == Some(&"check") && words.iter().any(|word| ["--help", "-h"].contains(word));
    let value = |position: usize| match words[position] {
        "--method" => words.get(position + 1).copied(),
        word => word.strip_prefix("--method="),
    };
    let named = (0..words.len()).find_map(value).filter(|_| asks);
    match named.filter(|name| driver::methods::available().any(|declared| declared.name == *name)) {
        Some(name) => vec![arguments[0].clone(), "explain".into(), name.into()],
        None => arguments,
    }
}

/// `--progress` without a way to show it asks for progress, as SPIN's users do.
fn with_progress(mut arguments: Vec<OsString>) -> Vec<OsString> {
    for position in 0..arguments.len() {
        if arguments[position] == "--" {
            break;
        }
        let shows = arguments.get(position + 1).and_then(|word| word.to_str());
        let is_way = shows.is_some_and(|word| ProgressMode::from_str(word, true).is_ok());
        let names_file = shows.is_some_and(|word| Path::new(word).extension().is_some());
        let asks = shows.is_none() || names_file || shows.is_some_and(|word| word.starts_with('-'));
        if arguments[position] == "--progress" && !is_way && asks {
            arguments[position] = "--progress-cycles".into();
        }
    }
    arguments
}

/// Inserts `check` where no command is named.
fn with_command(table: &clap::Command, mut arguments: Vec<OsString>) -> Vec<OsString> {
    let is_command = |word: &str| table.get_subcommands().any(|command| command.get_name() == word);
    let mut position = 1;
    while let Some(word) = arguments.get(position) {
        let word = word.to_string_lossy().into_owned();
        let needs_value = word == "--color";
        let is_global = needs_value || word.starts_with("--color=") || is_global_flag(&word);
        if !is_global {
            let asks_help = ["-h", "--help", "-V", "--version"].contains(&word.as_str());
            if !is_command(&word) && !asks_help {
                arguments.insert(position, "check".into());
            }
            return arguments;
        }
        position += if needs_value { 2 } else { 1 };
    }
    arguments
}

/// Flags that stand before a command as well as after it.
fn is_global_flag(word: &str) -> bool {
    ["-v", "--verbose", "-q", "--quiet", "--ascii"].contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split_whitespace().map(OsString::from).collect()
    }

    #[test]
    fn the_version_is_that_of_the_table() {
        assert_eq!(VERSION, command().render_version());
        for (line, asks) in [("piecewise --version", true), ("piecewise -V", true), ("piecewise check -V", false)] {
            assert_eq!(asks_for_version(&words(line)), asks, "{line}");
        }
    }

    #[test]
    fn help_for_a_method_is_its_page() {
        let page = |line: &str| with_method_page(words(line)).join(std::ffi::OsStr::new(" "));
        assert_eq!(page("piecewise check --method views --help"), "piecewise explain views");
        assert_eq!(page("piecewise check a.pw --method=ls3+ -h"), "piecewise explain ls3+");
        for other in
            ["piecewise check --help", "piecewise check --method none --help", "piecewise graph --method ls3 --help"]
        {
            assert_eq!(page(other), other);
        }
        assert_eq!(page("piecewise check --method views a.pw"), "piecewise check --method views a.pw");
    }

    #[test]
    fn a_call_without_a_command_is_a_check() {
        let inserted =
            |line| with_command(&command(), words(line)) == words(&line.replacen("piecewise", "piecewise check", 1));
        assert!(inserted("piecewise lock.pw"));
        assert!(inserted("piecewise -N 4 lock.pw"));
        assert!(inserted("piecewise lock.pw fmt"));
        assert!(inserted("piecewise --format json lock.pw"));
        let kept = |line| with_command(&command(), words(line)) == words(line);
        for line in ["piecewise", "piecewise fmt x", "piecewise -v check x", "piecewise --color always explain E0001"] {
            assert!(kept(line), "{line}");
        }
        assert!(kept("piecewise --help") && kept("piecewise -V") && kept("piecewise -q"));
        assert_eq!(with_command(&command(), words("piecewise -q lock.pw")), words("piecewise -q check lock.pw"));
    }
}
