//! What `spin -t -p` or `pan -r` printed, followed in a program.
//!
//! In: the printed text, and a Model in which every statement is an action of its own (`Reading::single_steps`). Out: the run, as a trace of the
//! reference semantics. A printed step names a process by its pid and proctype, a line and a statement. Steps of the Model are tried that are of that
//! process; the line and the statement, whose spelling differs, decide between several. The search takes the cheapest run first and may go back.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};
use std::fmt;

use audit::AuditError;
use base::SourceFile;
use evidence::{Trace, TraceEnd};
use model::Model;
use model::control::ActionId;
use model::eval::{self, Move, State, StepFault};
use model::process::ProcessId;

/// More states than this are not tried.
const MOST_TRIED: usize = 300_000;
/// What a line that is another one costs.
const OTHER_LINE: usize = 2;
/// What a statement that is spelled otherwise costs, or a jump that is no step here.
const OTHER_TEXT: usize = 1;

/// One printed step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Printed {
    /// Its position in the printed text, from 1.
    pub at: usize,
    /// The pid.
    pub pid: i64,
    /// The proctype; none where a process ends.
    pub proctype: Option<String>,
    /// The line of the program, and of which file.
    pub line: Option<(String, u32)>,
    /// The statement as SPIN writes it; empty where the process ends.
    pub statement: String,
}

/// Why a trail is not followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TrailError {
    /// There is no printed step, and no end of a trail.
    Empty,
    /// No run of the program has this step.
    Refused(Box<Printed>),
    /// Too many runs were tried.
    TooMany,
}

impl fmt::Display for TrailError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TrailError::Empty => f.write_str(
                "no step of a trail is found; `spin -t -p` prints lines such as `3: proc 1 (P:1) m.pml:7 (state 2) [x = 1]`",
            ),
            TrailError::Refused(step) => {
                let what = if step.statement.is_empty() { "terminates" } else { &step.statement };
                write!(f, "line {} of the trail: process {} cannot take this step here: {what}", step.at, step.pid)
            }
            TrailError::TooMany => write!(f, "more than {MOST_TRIED} states were tried to follow the trail"),
        }
    }
}

/// The steps of a printed trail; those of claims are left out.
///
/// # Errors
/// A text that is no trail.
pub fn read(text: &str) -> Result<Vec<Printed>, TrailError> {
    let steps: Vec<Printed> = text.lines().enumerate().filter_map(|(at, line)| printed(at + 1, line)).collect();
    // A trail to the first state has no steps.
    let is_trail = !steps.is_empty() || text.contains("trail ends after");
    if is_trail { Ok(steps) } else { Err(TrailError::Empty) }
}

fn printed(at: usize, line: &str) -> Option<Printed> {
    let (number, rest) = line.trim_start().split_once(':')?;
    number.parse::<u64>().ok()?;
    let rest = rest.trim_start().strip_prefix("proc")?.trim_start();
    let (pid, rest) = rest.split_once(char::is_whitespace)?;
    let pid = pid.parse().ok()?;
    let rest = rest.trim_start();
    if rest.starts_with("terminates") {
        return Some(Printed { at, pid, proctype: None, line: None, statement: String::new() });
    }
    let (proctype, rest) = rest.strip_prefix('(')?.split_once(')')?;
    // `:init::1` and `W:1`, or without the number.
    let proctype = match proctype.rsplit_once(':') {
        Some((name, number)) if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => proctype,
    };
    let proctype = Some(proctype.trim_matches(':').to_owned());
    let (place, rest) = rest.trim_start().split_once(" (state")?;
    let statement = rest.split_once('[')?.1.trim_end().strip_suffix(']')?.to_owned();
    if statement == "-end-" {
        return Some(Printed { at, pid, proctype, line: None, statement: String::new() });
    }
    let line = place.rsplit_once(':').and_then(|(file, line)| Some((file.to_owned(), line.trim().parse().ok()?)));
    Some(Printed { at, pid, proctype, line, statement })
}

/// The run of a trail; where it ends in a fault or where no process is enabled, its end says so.
///
/// # Errors
/// Why there is no such run.
pub fn follow(model: &Model, source: &SourceFile, steps: &[Printed]) -> Result<Trace, TrailError> {
    let mut search = TrailSearch { model, source, steps, nodes: Vec::new(), open: BinaryHeap::new(), furthest: 0 };
    for state in eval::initial_states(model) {
        search.push(TrailNode { state, by: None, parent: None, position: 0, cost: 0 });
    }
    search.run()
}

/// The property that a trail decides, replayed: that there are no errors, or no invalid end states.
///
/// # Errors
/// What is wrong with the run, which is a mistake of this program.
pub fn decided(model: &Model, trace: &Trace) -> Result<Option<&'static str>, AuditError> {
    let name = match trace.end {
        TraceEnd::Fault { .. } => "no_errors",
        TraceEnd::Deadlock => "deadlock_free",
        _ => return Ok(None),
    };
    let Some((property, _)) = model.properties.entries().find(|(_, property)| property.name == name) else {
        return Ok(None);
    };
    audit::replay(model, property, trace).map(|()| Some(name))
}

/// A state on the way.
struct TrailNode {
    state: State,
    /// The step that led to it, and where from.
    by: Option<Move>,
    parent: Option<usize>,
    /// How many printed steps were followed.
    position: usize,
    cost: usize,
}

struct TrailSearch<'m> {
    model: &'m Model,
    source: &'m SourceFile,
    steps: &'m [Printed],
    nodes: Vec<TrailNode>,
    /// The cheapest first, then the longest.
    open: BinaryHeap<(Reverse<usize>, usize, Reverse<usize>)>,
    furthest: usize,
}

impl TrailSearch<'_> {
    fn push(&mut self, node: TrailNode) {
        self.furthest = self.furthest.max(node.position);
        self.open.push((Reverse(node.cost), node.position, Reverse(self.nodes.len())));
        self.nodes.push(node);
    }

    fn run(mut self) -> Result<Trace, TrailError> {
        let mut seen: HashSet<(usize, State)> = HashSet::new();
        while let Some((_, _, Reverse(at))) = self.open.pop() {
            let (position, cost) = (self.nodes[at].position, self.nodes[at].cost);
            if position == self.steps.len() {
                return Ok(self.trace(at, None));
            }
            let state = self.nodes[at].state.clone();
            if !seen.insert((position, state.clone())) {
                continue;
            }
            if self.nodes.len() > MOST_TRIED {
                return Err(TrailError::TooMany);
            }
            for step in eval::steps(self.model, &state) {
                let Some((length, more)) = self.matched(&step.by, position) else { continue };
                match step.result {
                    Ok(next) => {
                        let node = TrailNode {
                            state: next,
                            by: Some(step.by),
                            parent: Some(at),
                            position: position + length,
                            cost: cost + more,
                        };
                        self.push(node);
                    }
                    Err(fault) if position + length == self.steps.len() => {
                        return Ok(self.trace(at, Some((step.by, fault))));
                    }
                    Err(_) => {}
                }
            }
            // A jump that is no step here.
            if is_jump(&self.steps[position].statement) {
                let node =
                    TrailNode { state, by: None, parent: Some(at), position: position + 1, cost: cost + OTHER_TEXT };
                self.push(node);
            }
        }
        match self.steps.get(self.furthest).or(self.steps.last()) {
            Some(step) => Err(TrailError::Refused(Box::new(step.clone()))),
            None => Err(TrailError::Empty),
        }
    }

    /// How many printed steps a step of the Model is, and what differs.
    fn matched(&self, by: &Move, position: usize) -> Option<(usize, usize)> {
        let (mut length, mut cost) = (0, 0);
        for link in by.links() {
            for (process, action) in std::iter::once((link.process, link.action)).chain(link.partner) {
                let text = self.text(action);
                // A process that is started does nothing that is printed, and the end of a block is no statement.
                if text.starts_with("start ") || text == "end of block" {
                    continue;
                }
                let Some(printed) = self.steps.get(position + length) else { return Some((length, cost)) };
                cost += self.differs(printed, process, action)?;
                length += 1;
            }
        }
        Some((length, cost))
    }

    fn text(&self, action: ActionId) -> &str {
        &self.model.statements[self.model.actions[action].statement].text
    }

    /// What differs between a printed step and an action of a process; none where it is of another process.
    fn differs(&self, printed: &Printed, process: ProcessId, action: ActionId) -> Option<usize> {
        let name = &self.model.processes[process].name;
        let (proctype, pid) = match name.strip_suffix(']').and_then(|name| name.rsplit_once('[')) {
            Some((proctype, pid)) => (proctype, pid.parse::<i64>().ok()),
            None => (&**name, None),
        };
        let is_it = printed.proctype.as_deref().is_none_or(|one| one == proctype);
        if !is_it || pid.is_some_and(|pid| pid != printed.pid) {
            return None;
        }
        let text = self.text(action);
        let ends = text == "-end-";
        if ends || printed.statement.is_empty() {
            return (ends && printed.statement.is_empty()).then_some(0);
        }
        let span = self.model.statements[self.model.actions[action].statement].span;
        let is_main = |file: &str| self.source.name().ends_with(file) || file.ends_with(self.source.name());
        let line = self.source.line_col(span.start).line;
        let other_line = printed.line.as_ref().is_some_and(|(file, number)| is_main(file) && *number != line);
        let other_text = bare(text) != bare(&printed.statement);
        Some(usize::from(other_line) * OTHER_LINE + usize::from(other_text) * OTHER_TEXT)
    }

    fn trace(&self, last: usize, fault: Option<(Move, StepFault)>) -> Trace {
        let (mut states, mut steps) = (vec![self.nodes[last].state.clone()], Vec::new());
        let mut at = last;
        while let Some(parent) = self.nodes[at].parent {
            if let Some(by) = &self.nodes[at].by {
                steps.push(by.clone());
                states.push(self.nodes[parent].state.clone());
            }
            at = parent;
        }
        states.reverse();
        steps.reverse();
        let end = match fault {
            Some((by, fault)) => TraceEnd::Fault { by, fault },
            None if eval::is_deadlock(self.model, &self.nodes[last].state) => TraceEnd::Deadlock,
            None => TraceEnd::State,
        };
        Trace::finite(states, steps, end)
    }
}

fn is_jump(statement: &str) -> bool {
    statement.starts_with("goto ") || statement.starts_with(".(goto)") || statement == "break" || statement == "(1)"
}

/// A statement without blanks and parentheses, and with `x++` written out.
fn bare(statement: &str) -> String {
    let text: String = statement.chars().filter(|one| !one.is_whitespace() && !matches!(one, '(' | ')')).collect();
    let counted = |sign: &str, op: &str| text.strip_suffix(sign).map(|name| format!("{name}={name}{op}1"));
    match &*text {
        "skip" | "true" => "1".into(),
        "false" => "0".into(),
        _ => counted("++", "+").or_else(|| counted("--", "-")).unwrap_or(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lang::promela::{Reading, load};

    const PROGRAM: &str = "chan r = [0] of { byte };\nbyte n;\nproctype W(byte k) { byte v; atomic { r?v; n = n + v }; n = k }\n\
        init { atomic { run W(3); run W(4) };\n r!1;\n r!2;\n n == 4;\n assert(n == 3) }\n";

    fn followed(trail: &str) -> Result<Trace, TrailError> {
        let source = SourceFile::new("m.pml", PROGRAM);
        let reading = Reading { single_steps: true, ..Reading::default() };
        let model = load(&source, &[], &reading).unwrap_or_else(|_| panic!("{PROGRAM}")).model;
        follow(&model, &source, &read(trail)?)
    }

    /// As `spin -t -p` prints it, with what it prints besides.
    const TRAIL: &str = "Starting W with pid 1\n  1:\tproc  0 (:init::1) m.pml:4 (state 1)\t[(run W(3))]\n\
        Starting W with pid 2\n  2:\tproc  0 (:init::1) m.pml:4 (state 2)\t[(run W(4))]\n\
        \x20 3:\tproc  0 (:init::1) m.pml:5 (state 4)\t[r!1]\n  4:\tproc  2 (W:1) m.pml:3 (state 1)\t[r?v]\n\
        \x20 5:\tproc  2 (W:1) m.pml:3 (state 2)\t[n = (n+v)]\n  6:\tproc  0 (:init::1) m.pml:6 (state 5)\t[r!2]\n\
        \x20 7:\tproc  1 (W:1) m.pml:3 (state 1)\t[r?v]\n  8:\tproc  1 (W:1) m.pml:3 (state 2)\t[n = (n+v)]\n\
        \x20 9:\tproc  1 (W:1) m.pml:3 (state 4)\t[n = k]\n 10:\tproc  2 (W:1) m.pml:3 (state 4)\t[n = k]\n\
        \x2011: proc 2 terminates\n 12:\tproc  0 (:init::1) m.pml:7 (state 6)\t[((n==4))]\n\
        spin: m.pml:8, Error: assertion violated\n 13:\tproc  0 (:init::1) m.pml:8 (state 7)\t[assert((n==3))]\n";

    #[test]
    fn a_trail_is_followed_to_its_error() {
        let trace = followed(TRAIL).unwrap_or_else(|error| panic!("{error}"));
        assert!(matches!(trace.end, TraceEnd::Fault { .. }), "{:?}", trace.end);
        // The first atomic is one step, and so is each meeting with what goes on behind it.
        assert_eq!(trace.n_steps(), 7);
    }

    #[test]
    fn what_is_no_run_is_refused_at_its_line() {
        let other = TRAIL.replace("  9:\tproc  1", "  9:\tproc  0");
        let error = followed(&other).expect_err("nobody can do this").to_string();
        assert!(error.starts_with("line 11 of the trail: process 0"), "{error}");
        assert_eq!(followed("pan: elapsed time 0 seconds\n"), Err(TrailError::Empty));
        let earlier = TRAIL.replace("[(run W(4))]\n", "[(run W(4))]\n  3: proc 2 terminates\n");
        assert!(followed(&earlier).is_err());
    }
}
