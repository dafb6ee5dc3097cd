//! Questions with an aim: what one method takes for an instance or for every size, beside what was aimed at and beside other methods.
//!
//! In: the released binary, SPIN, and groups of questions about one program each. Out: a table with a row for each question. What `global`, `mono` and SPIN
//! take is shown once for each group, at the largest of the listed instances that they answer within some seconds.

use std::fmt::Write as _;

use super::binary::{Binary, BinaryCall};
use super::fair_spin::{self, FairQuestion, FairSearch};
use super::spin::Spin;

/// A program, what is asked about it with which aim, and at which instances others are asked.
pub struct AimedGroup {
    /// The example.
    pub model: &'static str,
    /// The property.
    pub property: &'static str,
    /// The rows.
    pub rows: &'static [AimedRow],
    /// Instances for the other methods, ascending, as arguments that spaces separate.
    pub others: &'static [&'static str],
}

/// An instance, or every size, and its aim.
pub struct AimedRow {
    /// Arguments that spaces separate.
    pub instance: &'static str,
    /// The method.
    pub method: &'static str,
    /// Seconds.
    pub aim: f64,
}

/// After so many seconds a method that stands beside is given up.
const PATIENCE_SECONDS: f64 = 5.0;

/// After so many seconds what has an aim is given up.
const MOST_SECONDS: f64 = 20.0;

/// The methods of our own that stand beside.
const OTHERS: [&str; 2] = ["global", "mono"];

/// Measures all groups.
///
/// # Errors
/// A wrong verdict, or a program that cannot be run.
pub fn table(binary: &Binary, spin: Option<&Spin>, groups: &[AimedGroup]) -> Result<String, String> {
    let mut text = String::from(
        "| program | property | instance | method | seconds | aim | `global` | `mono` | `pan -a -f` |\n|---|---|---|---|--:|--:|--:|--:|--:|\n",
    );
    for group in groups {
        let mut beside: Vec<String> = Vec::new();
        for method in OTHERS {
            beside.push(farthest(group, method, |instance| ours(binary, group, instance, (method, PATIENCE_SECONDS)))?);
        }
        beside.push(match spin {
            None => String::new(),
            Some(spin) => farthest(group, "SPIN", |instance| theirs(spin, binary, group, instance))?,
        });
        for row in group.rows {
            let taken = ours(binary, group, row.instance, (row.method, MOST_SECONDS))?;
            let seconds = taken.map_or_else(|| "not proved".to_owned(), shown);
            let is_missed = if taken.is_some_and(|taken| taken <= row.aim) { "" } else { ", missed" };
            let (program, property) = (group.model, group.property);
            // Writing to a string does not fail.
            let _ = writeln!(
                text,
                "| `{program}` | `{property}` | {} | `{}` | {seconds} | {} s{is_missed} | {} |",
                named(row.instance),
                row.method,
                row.aim,
                beside.join(" | ")
            );
            beside.iter_mut().for_each(String::clear);
        }
    }
    Ok(text)
}

/// The largest instance that is answered, and in how many seconds.
fn farthest(
    group: &AimedGroup,
    who: &str,
    mut ask: impl FnMut(&str) -> Result<Option<f64>, String>,
) -> Result<String, String> {
    let mut cell = String::new();
    for instance in group.others {
        eprintln!("bench: {} {} {instance} by {who}", group.model, group.property);
        match ask(instance)? {
            Some(seconds) => cell = format!("{}: {}", named(instance), shown(seconds)),
            None => break,
        }
    }
    Ok(if cell.is_empty() && !group.others.is_empty() { "–".to_owned() } else { cell })
}

/// The seconds in which a method of ours proves the property; nothing where it does not.
fn ours(
    binary: &Binary,
    group: &AimedGroup,
    instance: &str,
    (method, seconds): (&str, f64),
) -> Result<Option<f64>, String> {
    eprintln!("bench: {} {} {instance} by {method}", group.model, group.property);
    let parameters = instance.split_whitespace().chain(["-j", "1"]).map(str::to_owned).collect();
    let file = format!("examples/{}.pw", group.model);
    let ran = binary.run_quietly(&BinaryCall { file, property: group.property, method, parameters, seconds })?;
    match ran.verdict.as_str() {
        "holds" => Ok(Some(ran.seconds)),
        "unknown" => Ok(None),
        other => Err(format!("{} {instance} by {method}: the verdict is {other}, not holds", group.model)),
    }
}

/// The same for SPIN.
fn theirs(spin: &Spin, binary: &Binary, group: &AimedGroup, instance: &str) -> Result<Option<f64>, String> {
    let parameters: Vec<String> = instance.split_whitespace().map(str::to_owned).collect();
    let file = format!("examples/{}.pw", group.model);
    let question =
        FairQuestion { file: &file, property: group.property, parameters: &parameters, seconds: PATIENCE_SECONDS };
    match fair_spin::search(spin, binary, &question)? {
        FairSearch::Seconds(seconds) => Ok(Some(seconds)),
        FairSearch::TooLong | FairSearch::Refused => Ok(None),
    }
}

/// `-N=20` as `N = 20`.
fn named(instance: &str) -> String {
    if instance == "--all-n" {
        return "every N".to_owned();
    }
    let name = |word: &str| {
        let word = word.strip_prefix("-D").or_else(|| word.strip_prefix('-')).unwrap_or(word);
        word.replacen('=', " = ", 1)
    };
    instance.split_whitespace().map(name).collect::<Vec<_>>().join(", ")
}

fn shown(seconds: f64) -> String {
    match seconds {
        short if short < 0.1 => format!("{seconds:.3} s"),
        _ => format!("{seconds:.2} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instances_have_names() {
        assert_eq!(named("-N=20"), "N = 20");
        assert_eq!(named("-DR=10 -DW=10"), "R = 10, W = 10");
        assert_eq!(named("--all-n"), "every N");
    }

    #[test]
    fn the_largest_answered_instance_is_shown() {
        let group = AimedGroup { model: "m", property: "p", rows: &[], others: &["-N=2", "-N=4", "-N=6"] };
        let answered = |instance: &str| Ok((instance != "-N=6").then_some(0.25));
        assert_eq!(farthest(&group, "mono", answered), Ok("N = 4: 0.25 s".to_owned()));
        assert_eq!(farthest(&group, "mono", |_| Ok(None)), Ok("–".to_owned()));
    }
}
