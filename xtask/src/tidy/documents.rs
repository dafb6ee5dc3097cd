//! Documents name only crates, commands and flags that exist.
//!
//! In: the documents that people read, the crates of the workspace, the table of the command line. Out: a finding for each
//! `crates/x` and `piecewise-x` that is not there, for each flag or command of `piecewise` that the table does not have, and
//! for each relative link that leads nowhere. Flags are searched in code only (between back-ticks or in fenced blocks); those of other
//! programs (`cargo test --workspace`) are not ours to judge.

use std::collections::BTreeSet;

use super::TidyFinding;
use super::tree::TextTree;

/// Names that begin with `piecewise-` and are no crates: formats, and files made from them.
const NOT_CRATES: [&str; 4] = ["piecewise-report", "piecewise-explore", "piecewise-graph", "piecewise-proof"];

/// Checks every document.
pub fn check(tree: &TextTree, table: &clap::Command) -> Vec<TidyFinding> {
    let facts = DocumentFacts::new(tree, table);
    tree.documents().flat_map(|(path, text)| document(path, text, &facts)).collect()
}

/// What documents may name.
struct DocumentFacts<'a> {
    tree: &'a TextTree,
    /// `crates/x`
    folders: BTreeSet<String>,
    /// `piecewise-x`
    packages: BTreeSet<String>,
    commands: BTreeSet<String>,
    /// `--flag` and `-f`
    flags: BTreeSet<String>,
}

impl<'a> DocumentFacts<'a> {
    fn new(tree: &'a TextTree, table: &clap::Command) -> Self {
        let mut table = table.clone();
        table.build();
        let commands = table.get_subcommands().map(|command| command.get_name().to_owned()).collect();
        let mut flags = BTreeSet::new();
        for command in std::iter::once(&table).chain(table.get_subcommands()) {
            for argument in command.get_arguments() {
                flags.extend(argument.get_long().map(|long| format!("--{long}")));
                flags.extend(argument.get_short().map(|short| format!("-{short}")));
            }
        }
        let folders: BTreeSet<String> = tree
            .files()
            .filter_map(|(path, _)| path.strip_prefix("crates/")?.strip_suffix("/Cargo.toml").map(str::to_owned))
            .collect();
        let packages = folders.iter().map(|name| format!("piecewise-{name}")).collect();
        DocumentFacts { tree, folders, packages, commands, flags }
    }
}

/// Checks one document.
fn document(path: &str, text: &str, facts: &DocumentFacts<'_>) -> Vec<TidyFinding> {
    let mut findings = Vec::new();
    let mut in_fence = false;
    for (index, line) in text.lines().enumerate() {
        let mut report = |what: String| findings.push(TidyFinding::new(path, index + 1, what));
        names(line, "crates/", &facts.folders)
            .into_iter()
            .for_each(|name| report(format!("there is no `crates/{name}`")));
        names(line, "piecewise-", &BTreeSet::new())
            .into_iter()
            .map(|rest| format!("piecewise-{rest}"))
            .filter(|name| !facts.packages.contains(name) && !NOT_CRATES.contains(&name.as_str()))
            .for_each(|name| report(format!("there is no package `{name}`")));
        if line.trim_start().starts_with("```") {
            in_fence = !in_fence;
            continue;
        }
        if in_fence {
            call(line, facts).into_iter().for_each(&mut report);
        } else {
            line.split('`').skip(1).step_by(2).flat_map(|code| call(code, facts)).for_each(&mut report);
            links(line).filter(|link| !leads_somewhere(path, link, facts.tree)).for_each(|link| {
                report(format!("the link to `{link}` leads nowhere"));
            });
        }
    }
    findings
}

/// The words after `prefix` in the line that are not among `known`.
fn names(line: &str, prefix: &str, known: &BTreeSet<String>) -> Vec<String> {
    line.match_indices(prefix)
        .filter(|(at, _)| !line[..*at].ends_with(|before: char| before.is_alphanumeric() || "-_/.".contains(before)))
        .map(|(at, _)| line[at + prefix.len()..].chars().take_while(|c| c.is_ascii_lowercase() || *c == '_').collect())
        .filter(|name: &String| !name.is_empty() && !known.contains(name))
        .collect()
}

/// What is wrong with a piece of code, if it is a call of ours.
fn call(code: &str, facts: &DocumentFacts<'_>) -> Vec<String> {
    let code = code.trim().trim_start_matches("$ ");
    let ours = match code.split_once("cargo run") {
        Some((_, rest)) => rest.split_once(" -- ").map(|(_, ours)| ours),
        None => code.strip_prefix("piecewise ").or_else(|| code.starts_with('-').then_some(code)),
    };
    let Some(ours) = ours else { return Vec::new() };
    let ours = ours.split(['|', '>', '#', ';', '&']).next().unwrap_or_default();
    let mut wrong = Vec::new();
    let words: Vec<&str> =
        ours.split_whitespace().map(|word| word.trim_matches(['[', ']', '(', ')', ',', '…'])).collect();
    let command = words.first().filter(|first| code.starts_with("piecewise ") && is_command_like(first));
    if let Some(command) = command.filter(|command| !facts.commands.contains(**command)) {
        wrong.push(format!("there is no command `piecewise {command}`"));
    }
    for word in words {
        let flag = word.split('=').next().unwrap_or_default();
        // `--BODY--` belongs to a format, not to us.
        let is_long = flag.starts_with("--") && flag.len() > 2 && !flag.ends_with("--");
        let is_short =
            flag.len() == 2 && flag.starts_with('-') && flag.ends_with(|letter: char| letter.is_alphabetic());
        if (is_long || is_short) && !facts.flags.contains(flag) {
            wrong.push(format!("there is no flag `{flag}`"));
        }
    }
    wrong
}

/// A lower-case word without a dot is meant as a command, not as a file.
fn is_command_like(word: &str) -> bool {
    !word.is_empty() && word.chars().all(|letter| letter.is_ascii_lowercase())
}

/// The targets of `[text](target)` in a line.
fn links(line: &str) -> impl Iterator<Item = &str> {
    line.split("](").skip(1).filter_map(|rest| rest.split(')').next())
}

/// Whether a relative link leads to a file of the project.
fn leads_somewhere(from: &str, link: &str, tree: &TextTree) -> bool {
    if link.contains("://") || link.starts_with('#') || link.starts_with("mailto:") {
        return true;
    }
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in link.split('#').next().unwrap_or_default().split('/') {
        match part {
            "." | "" => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    let target = parts.join("/");
    let is_text = [".md", ".rs", ".toml", ".pw"].iter().any(|ending| target.ends_with(ending));
    // Other files are not in the tree; a folder is there if a file is below it.
    tree.get(&target).is_some()
        || !is_text
            && (target.rsplit('/').next().is_some_and(|name| name.contains('.') || name.starts_with("LICENSE"))
                || tree.files().any(|(path, _)| path.starts_with(&format!("{target}/"))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(text: &str) -> Vec<String> {
        let tree = TextTree::of(&[("README.md", text), ("crates/base/Cargo.toml", ""), ("docs/semantics.md", "")]);
        let table = clap::Command::new("piecewise")
            .subcommand(clap::Command::new("check").arg(clap::Arg::new("N").short('N')))
            .subcommand(clap::Command::new("fmt").arg(clap::Arg::new("check").long("check")));
        check(&tree, &table).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn crates_and_packages_must_exist() {
        assert!(findings("see crates/base, `piecewise-base` and schema piecewise-report/1").is_empty());
        assert_eq!(findings("\nsee crates/bsae"), ["README.md:2: there is no `crates/bsae`"]);
        assert_eq!(findings("the `piecewise-bsae` crate"), ["README.md:1: there is no package `piecewise-bsae`"]);
    }

    #[test]
    fn flags_and_commands_must_exist() {
        assert!(
            findings("```\n$ piecewise check x.pw -N 4\n```\n`piecewise fmt --check`, `piecewise x.pw`").is_empty()
        );
        assert_eq!(findings("`piecewise fmt --chek`"), ["README.md:1: there is no flag `--chek`"]);
        assert_eq!(findings("use `--chek`"), ["README.md:1: there is no flag `--chek`"]);
        assert_eq!(findings("```\npiecewise chekc x.pw -M 4\n```").len(), 2);
        assert_eq!(findings("`cargo run --release -- check --chek x.pw`"), ["README.md:1: there is no flag `--chek`"]);
    }

    #[test]
    fn flags_of_others_are_not_ours() {
        assert!(findings("`cargo test --workspace`, and a dash -- here, `git log --oneline`").is_empty());
        assert!(findings("`piecewise check x.pw | grep -q ok`").is_empty());
    }

    #[test]
    fn links_lead_somewhere() {
        assert!(findings("[a](docs/semantics.md), [b](https://x.org), [c](docs)").is_empty());
        assert_eq!(findings("[a](docs/semantic.md)"), ["README.md:1: the link to `docs/semantic.md` leads nowhere"]);
    }
}
