//! The text of a trail: what `spin -t -p` or `pan -r` printed, as steps.
//!
//! In: the text. Out: the printed steps of processes, where a cycle begins, and what the text says of the end. Steps of claims are left out. `pan -r`
//! counts the claim as process 0, prints a whole `d_step` as one line, and of statements that it takes together only the first.

use std::collections::HashMap;

/// What a line shows that stands for a statement of a block, not for one of the text.
const JUMPS: [&str; 9] = [".(goto)", "break", "DO", "IF", "ATOMIC", "D_STEP", "NON_ATOMIC", "sub-sequence", "UNLESS"];

/// One printed step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Printed {
    /// Its position in the printed text, from 1.
    pub at: usize,
    /// The number that is printed before it; several lines of one step have the same.
    pub number: u64,
    /// The pid.
    pub pid: i64,
    /// The proctype; where a process ends, that which the pid had last.
    pub proctype: Option<String>,
    /// The line of the program, and of which file.
    pub line: Option<(String, u32)>,
    /// The statement as SPIN writes it; empty where the process ends.
    pub statement: String,
}

/// What the text says of the end of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SaidEnd {
    /// A failed assertion, an index out of bounds: an error of the program, or of a claim, with its text.
    Error(String),
    /// Processes stand where they may not end.
    EndState,
    /// A claim comes to its end.
    Claim,
    /// A cycle, which the text calls so.
    Cycle,
}

/// A printed trail.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trail {
    /// Its steps, without those of claims.
    pub steps: Vec<Printed>,
    /// The steps before a cycle, if there is one.
    pub cycle: Option<usize>,
    /// What is said of the end.
    pub says: Option<SaidEnd>,
    /// Whether a claim moves.
    pub has_claim: bool,
    /// Whether statements may be left out, as by `pan -r`, which then gives lines of other statements.
    pub merges: bool,
    /// What global variables hold at the end, as far as it is printed: a name and a value.
    pub globals: Vec<(String, String)>,
}

impl Printed {
    /// Whether the process ends.
    pub fn ends(&self) -> bool {
        self.statement.is_empty()
    }

    /// Whether it is a jump, or the head of a block, which need not be a step.
    pub fn is_jump(&self) -> bool {
        is_jump(&self.statement)
    }

    /// Whether it stands for a whole `d_step`.
    pub fn is_d_step(&self) -> bool {
        let number = self.statement.strip_prefix("D_STEP");
        number.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
    }
}

/// Whether a statement is a jump, or the head of a block.
pub fn is_jump(statement: &str) -> bool {
    statement.starts_with("goto ") || JUMPS.contains(&statement)
}

/// Reads a printed trail; `is_proctype` says whether a name is one of the program, and not of a claim. `None` where the text is no trail.
pub fn read(text: &str, is_proctype: impl Fn(&str) -> bool) -> Option<Trail> {
    let mut trail = Trail::default();
    let mut names: HashMap<i64, String> = HashMap::new();
    let mut claim_counts = false;
    let (mut is_trail, mut ends_invalid) = (false, false);
    // The step that fails, which stands behind what is said of it.
    let mut failing = None;
    for (at, line) in text.lines().enumerate() {
        let trimmed = line.trim();
        trail.has_claim |= trimmed.starts_with("Never claim moves");
        if trimmed.starts_with("<<<<<START OF CYCLE") {
            trail.cycle = Some(trail.steps.len());
            is_trail = true;
        } else if let Some(said) = said(trimmed) {
            failing = matches!(said, SaidEnd::Error(_)).then_some(trail.steps.len());
            trail.says = Some(said);
            trail.merges |= trimmed.contains("pan:");
        } else if trimmed.contains("spin: trail ends after") {
            is_trail = true;
            // What follows are the places and variables of the last state; `pan -r` has said before what is wrong there.
            let rest = text.lines().skip(at + 1).take_while(|line| !line.starts_with("local vars"));
            trail.globals = rest.filter_map(global).collect();
            ends_invalid = text.lines().skip(at + 1).any(|line| line.contains("(invalid end state)"));
            break;
        } else if let Some(Line { printed, is_merged }) = printed(at + 1, line) {
            trail.merges |= is_merged;
            match &printed.proctype {
                Some(name) if !is_proctype(name) => {
                    trail.has_claim = true;
                    claim_counts |= is_merged && printed.pid == 0;
                }
                _ => trail.steps.push(printed),
            }
        }
    }
    if !is_trail && trail.steps.is_empty() {
        return None;
    }
    // `spin` goes on to the end of the step in which an assertion fails; where other steps follow, it was passed over.
    if let Some(at) = failing.filter(|_| !trail.merges)
        && let (Some(step), Some(last)) = (trail.steps.get(at), trail.steps.last())
    {
        match step.number == last.number {
            true => trail.steps.truncate(at + 1),
            false => trail.says = None,
        }
    }
    // `pan -r` says of an invalid end state nothing else than which processes stand there.
    if ends_invalid && !claim_counts && trail.cycle.is_none() {
        trail.says = trail.says.or(Some(SaidEnd::EndState));
    }
    for step in &mut trail.steps {
        step.pid -= i64::from(claim_counts);
        match &step.proctype {
            Some(name) => drop(names.insert(step.pid, name.clone())),
            None => step.proctype = names.get(&step.pid).cloned(),
        }
    }
    Some(trail)
}

/// What a line says of the end.
fn said(line: &str) -> Option<SaidEnd> {
    let behind = |word: &str| line.split_once(word).map(|(_, rest)| rest);
    let error = behind("spin: ").and_then(|rest| rest.split_once("Error: ")).map(|(_, what)| what);
    let found = behind("pan:").and_then(|rest| rest.split_once(':')).map(|(_, what)| what.trim());
    let what = error.or(found)?;
    let what = what.split(" (at depth").next().unwrap_or(what).trim();
    Some(match what {
        _ if what.starts_with("invalid end state") => SaidEnd::EndState,
        _ if what.ends_with("cycle") => SaidEnd::Cycle,
        _ if what.starts_with("claim violated") || what.starts_with("end state in claim") => SaidEnd::Claim,
        // What the reduction of SPIN relies on.
        _ if what.starts_with("xr assertion")
            || what.starts_with("xs assertion")
            || what.starts_with("error, partial") =>
        {
            return None;
        }
        // A warning.
        _ if what.contains("truncated in assignment") => return None,
        _ if what.starts_with("wrote ") || what.starts_with("elapsed") => return None,
        // The claim that SPIN makes of `[] p` is an assertion.
        _ if line.contains("_spin_nvr.tmp") => SaidEnd::Claim,
        _ => SaidEnd::Error(what.to_owned()),
    })
}

/// A variable of the last state: `x = 1` as `spin` prints it, or `byte   x: 1` as `pan` does. Those of processes stand behind `P(1):`.
fn global(line: &str) -> Option<(String, String)> {
    let line = line.trim();
    let is_name = |name: &str| {
        let mut parts = name.chars();
        parts.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
            && parts.all(|one| one.is_ascii_alphanumeric() || matches!(one, '_' | '.' | '[' | ']'))
    };
    let (name, value) = match line.split_once(" = ") {
        Some(pair) => pair,
        None => {
            let (declared, value) = line.split_once(":\t")?;
            (declared.split_whitespace().nth(1)?, value)
        }
    };
    is_name(name).then(|| (name.to_owned(), value.trim().to_owned()))
}

/// A step, and whether it is printed as by `pan -r`.
struct Line {
    printed: Printed,
    is_merged: bool,
}

fn printed(at: usize, line: &str) -> Option<Line> {
    // What the program prints without an end of line stands before it.
    line.match_indices("proc").find_map(|(position, _)| {
        let before = line[..position].trim_end().strip_suffix(':')?;
        let digits = before.len() - before.trim_end_matches(|last: char| last.is_ascii_digit()).len();
        let number = before[before.len() - digits..].parse().ok()?;
        step((at, number), &line[position + "proc".len()..])
    })
}

/// What stands behind `12: proc`.
fn step((at, number): (usize, u64), rest: &str) -> Option<Line> {
    let rest = rest.trim_start();
    let (pid, rest) = rest.split_once(char::is_whitespace)?;
    let pid = pid.parse().ok()?;
    let rest = rest.trim_start();
    let ended = |proctype| Printed { at, number, pid, proctype, line: None, statement: String::new() };
    if rest.starts_with("terminates") {
        return Some(Line { printed: ended(None), is_merged: false });
    }
    let (name, rest) = rest.strip_prefix('(')?.split_once(')')?;
    // `:init::1` and `W:1`; `pan -r` writes no number.
    let (proctype, is_merged) = match name.rsplit_once(':') {
        Some((name, number)) if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) => (name, false),
        _ => (name, true),
    };
    let proctype = Some(proctype.trim_matches(':').to_owned());
    if rest.trim_start().starts_with("terminates") {
        return Some(Line { printed: ended(proctype), is_merged });
    }
    let (place, rest) = rest.trim_start().split_once(" (state")?;
    let (_, statement) = rest.split_once('[')?;
    let statement = statement[..statement.rfind(']')?].trim().to_owned();
    // What is sent or received, printed besides its statement.
    if statement.starts_with("values: ") {
        return None;
    }
    if statement == "-end-" {
        return Some(Line { printed: ended(proctype), is_merged });
    }
    let line = place.rsplit_once(':').and_then(|(file, line)| Some((file.to_owned(), line.trim().parse().ok()?)));
    Some(Line { printed: Printed { at, number, pid, proctype, line, statement }, is_merged })
}

/// A statement without blanks and parentheses, and with `x++` written out.
pub fn bare(statement: &str) -> String {
    let kept = |one: &char| !one.is_whitespace() && !matches!(one, '(' | ')' | '\\');
    let quoted = |one: char| if one == '\'' { '"' } else { one };
    let text: String = statement.chars().filter(kept).map(quoted).collect();
    let counted = |sign: &str, op: &str| text.strip_suffix(sign).map(|name| format!("{name}={name}{op}1"));
    match &*text {
        "skip" | "true" => "1".into(),
        "false" => "0".into(),
        _ => counted("++", "+").or_else(|| counted("--", "-")).unwrap_or(text),
    }
}
