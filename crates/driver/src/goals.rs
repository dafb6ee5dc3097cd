//! Goals: what is to be reached, said beside a program and not in it.
//!
//! In: the words of the call (`--goal 'P.crit && x == 3'`, `--goal FILE.reach`), and files beside a program: `MODEL.reach` and
//! `MODEL.NAME.reach` beside `MODEL.dve`; for a pushdown system `MODEL.init` and `MODEL.spec` beside `MODEL.pds`. Out: goals as the front-end reads them. What the call says replaces the files.

use std::fs;
use std::path::{Path, PathBuf};

use base::SourceFile;
use lang::dve::Goal;
use lang::pds;

use crate::files::{self, FileError};

/// The ending of files with goals.
const ENDING: &str = "reach";

/// The name of a goal that has no other, and of the text in messages.
const NAME: &str = "goal";

/// The goals for a program: those of the call, or else those in files beside it.
///
/// # Errors
/// Files that cannot be read, and goals for a program in a language that has its own.
pub fn goals_for(program: &Path, asked: &[String]) -> Result<Vec<Goal>, FileError> {
    if program.extension().is_some_and(|ending| ending == "pds") {
        return beside_pushdown_system(program, asked);
    }
    let has_goals = program.extension().is_some_and(|ending| ending == "dve");
    match (has_goals, asked) {
        (true, []) => files_beside(program)?.iter().map(|(name, path)| read_goal(name.clone(), path)).collect(),
        (true, asked) => asked.iter().map(|one| asked_goal(one)).collect(),
        (false, []) => Ok(Vec::new()),
        (false, _) => {
            let why = "goals are for files in DVE; in this program write `reachable goal: …;`";
            Err(FileError::new(program, why))
        }
    }
}

/// Where a pushdown system starts, and what is bad: what the call says, or else the file beside it.
fn beside_pushdown_system(program: &Path, asked: &[String]) -> Result<Vec<Goal>, FileError> {
    let beside = |name: &str| {
        let path = program.with_extension(name);
        path.is_file().then(|| read_goal(name.to_owned(), &path)).transpose()
    };
    let mut texts: Vec<Goal> = beside(pds::INIT)?.into_iter().collect();
    if asked.is_empty() {
        texts.extend(beside(pds::SPEC)?);
    }
    for (at, one) in asked.iter().enumerate() {
        let path = Path::new(one.trim());
        let name = if at == 0 { pds::SPEC.to_owned() } else { format!("{} {}", pds::SPEC, at + 1) };
        texts.push(match path.extension().is_some_and(|ending| ending == pds::SPEC) {
            true => read_goal(name, path)?,
            false => Goal { name, source: SourceFile::new("--goal", one) },
        });
    }
    Ok(texts)
}

fn asked_goal(asked: &str) -> Result<Goal, FileError> {
    let path = Path::new(asked.trim());
    if path.extension().is_some_and(|ending| ending == ENDING) {
        return read_goal(name_of(path, None), path);
    }
    Ok(Goal { name: NAME.to_owned(), source: SourceFile::new("--goal", asked) })
}

fn read_goal(name: String, path: &Path) -> Result<Goal, FileError> {
    let text = String::from_utf8(files::read(path)?).map_err(|_| FileError::new(path, "the text is not UTF-8"))?;
    Ok(Goal { name, source: SourceFile::new(path.display().to_string(), text) })
}

/// The files with goals beside a program, with their names, in the order of these.
fn files_beside(program: &Path) -> Result<Vec<(String, PathBuf)>, FileError> {
    let Some(stem) = program.file_stem().and_then(|stem| stem.to_str()) else { return Ok(Vec::new()) };
    let folder = match program.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    // A folder that cannot be listed has no goals to show; the program itself can still be read.
    let Ok(entries) = fs::read_dir(folder) else { return Ok(Vec::new()) };
    let mut found: Vec<(String, PathBuf)> = Vec::new();
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let rest = name.strip_prefix(stem).and_then(|rest| rest.strip_prefix('.'));
        if let Some(rest) = rest.filter(|rest| *rest == ENDING || rest.ends_with(&format!(".{ENDING}"))) {
            // `peterson.1.prop1.reach` belongs to `peterson.1.dve`, not to a `peterson.dve` beside it.
            let goal = rest.strip_suffix(ENDING).unwrap_or(rest).trim_end_matches('.');
            if !goal.contains('.') {
                found.push((name_of(Path::new(&name), Some(goal)), program.with_file_name(&name)));
            }
        }
    }
    found.sort();
    Ok(found)
}

/// `prop1` of `peterson.1.prop1.reach`; `goal` where there is no such word.
fn name_of(path: &Path, word: Option<&str>) -> String {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let word = word.unwrap_or_else(|| stem.rsplit_once('.').map_or("", |(_, last)| last));
    let is_name = word.starts_with(|first: char| first.is_alphabetic());
    if is_name { word.to_owned() } else { NAME.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(program: &Path, asked: &[&str]) -> Vec<String> {
        let asked: Vec<String> = asked.iter().map(|one| (*one).to_owned()).collect();
        let goals = goals_for(program, &asked).unwrap();
        goals.iter().map(|goal| format!("{}: {}", goal.name, goal.source.text())).collect()
    }

    #[test]
    fn goals_lie_beside_their_program_or_are_asked() {
        let scratch = tempfile::tempdir().unwrap();
        for (name, text) in [
            ("p.1.dve", ""),
            ("p.1.prop2.reach", "b"),
            ("p.1.prop1.reach", "a"),
            ("p.1.reach", "c"),
            ("p.reach", "d"),
            ("p.10.prop1.reach", "e"),
            ("q.prop1.reach", "f"),
        ] {
            fs::write(scratch.path().join(name), text).unwrap();
        }
        let program = scratch.path().join("p.1.dve");
        assert_eq!(names(&program, &[]), ["goal: c", "prop1: a", "prop2: b"]);
        assert_eq!(names(&program, &["x == 1"]), ["goal: x == 1"]);
        let file = scratch.path().join("q.prop1.reach");
        assert_eq!(names(&program, &[file.to_str().unwrap()]), ["prop1: f"]);
        assert!(goals_for(&program, &["none.reach".into()]).is_err());
    }

    #[test]
    fn a_program_in_another_language_has_its_own_goals() {
        assert!(goals_for(Path::new("lock.pw"), &[]).unwrap().is_empty());
        let error = goals_for(Path::new("lock.pw"), &["x".into()]).unwrap_err();
        assert!(error.why.contains("reachable"), "{error}");
    }
}
