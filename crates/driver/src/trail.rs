//! What `spin -t -p` or `pan -r` printed, followed in a program.
//!
//! In: the printed text, and a Model in which every statement is an action of its own (`Reading::single_steps`). Out: the run, as a trace of the
//! reference semantics, and what it shows at its end. `printed.rs` reads the text, `search.rs` finds the run, `ending.rs` says which
//! properties it decides. A cycle is followed for some rounds, until a state comes again: what `pan` takes for the same may hold other values
//! in variables that nobody reads any more.

mod ending;
mod printed;
mod search;

use std::fmt;

use base::SourceFile;
use model::Model;

pub use ending::Shown;
pub use printed::{Printed, SaidEnd, Trail};
use search::{Following, TrailSearch};

/// How many rounds of a cycle are followed.
const MOST_ROUNDS: usize = 4;

/// Why a trail is not followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TrailError {
    /// There is no printed step, and no end of a trail.
    Empty,
    /// What `pan` keeps for itself, not what it prints.
    Raw,
    /// `pan -r` has not found the steps itself, as those of non-progress cycles.
    NotReplayed,
    /// No run of the program has this step.
    Refused(Box<Printed>),
    /// All steps are there, but the run does not end as the text says.
    OtherEnd(SaidEnd),
    /// Too many runs were tried: so many states.
    TooMany(usize),
}

impl fmt::Display for TrailError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TrailError::Empty => f.write_str(
                "no step of a trail is found; `spin -t -p` prints lines such as `3: proc 1 (P:1) m.pml:7 (state 2) [x = 1]`",
            ),
            TrailError::Raw => {
                f.write_str("these are the numbers that `pan` writes for itself; give what `spin -t -p` or `./pan -r` prints of them")
            }
            TrailError::NotReplayed => {
                f.write_str("`pan -r` did not find the steps of the trail itself; give what `spin -t -p` prints")
            }
            TrailError::Refused(step) => {
                let what = if step.ends() { "terminates" } else { &step.statement };
                write!(f, "line {} of the trail: process {} cannot take this step here: {what}", step.at, step.pid)
            }
            TrailError::OtherEnd(said) => match said {
                SaidEnd::Error(what) => write!(f, "all steps can be taken, but the run does not end in this error: {what}"),
                SaidEnd::EndState => f.write_str("all steps can be taken, but the last state is no invalid end state"),
                SaidEnd::Claim => f.write_str("all steps can be taken, but no claim is violated"),
                SaidEnd::Cycle => f.write_str("all steps can be taken, but they are no cycle that violates what is asked"),
            },
            TrailError::TooMany(most) => write!(f, "more than {most} states were tried to follow the trail"),
        }
    }
}

/// Whether a trail may be one of progress, which is asked about only where the call says so: a cycle without a claim.
pub fn may_ask_for_progress(text: &str) -> bool {
    let is_of_claim = text.contains("Never claim moves") || text.contains("(never");
    text.contains("(:np_:") || (text.contains("<<<<<START OF CYCLE") && !is_of_claim)
}

/// Follows a printed trail: the run, and what it shows.
///
/// # Errors
/// Why there is no such run.
pub fn follow(model: &Model, source: &SourceFile, text: &str) -> Result<Shown, TrailError> {
    let is_proctype = |name: &str| {
        let is_it = |process: &model::process::Process| {
            process.name.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('['))
        };
        model.processes.iter().any(is_it)
    };
    let Some(trail) = printed::read(text, is_proctype) else {
        return Err(if is_raw(text) { TrailError::Raw } else { TrailError::Empty });
    };
    if text.contains("pan: Error, proc ") {
        return Err(TrailError::NotReplayed);
    }
    let start = trail.cycle.unwrap_or(trail.steps.len());
    let round = &trail.steps[start..];
    let rounds = if round.is_empty() { 1..=1 } else { 1..=MOST_ROUNDS };
    let mut last = Err(TrailError::Empty);
    let mut round_before = None;
    for n_rounds in rounds {
        let mut steps = trail.steps[..start].to_vec();
        (0..n_rounds).for_each(|_| steps.extend_from_slice(round));
        let following = Following { model, source, steps: &steps, trail: &trail, round: round.len() };
        last = TrailSearch::new(following).run();
        match &last {
            Ok(trace) if trace.loop_from.is_none() && trail.cycle.is_some() && n_rounds < MOST_ROUNDS => {
                round_before = trace.states.last().cloned();
            }
            _ => break,
        }
    }
    let trace = last?;
    let open = match (&round_before, trace.states.last()) {
        (Some(before), Some(after)) if trace.loop_from.is_none() => ending::changed(model, before, after),
        _ => Vec::new(),
    };
    if !open.is_empty() {
        return Ok(Shown { trace, decides: Vec::new(), changes_in_cycle: open });
    }
    let (shown, is_all) = ending::shown(model, trace, &trail);
    let said = trail.says.or(trail.cycle.map(|_| SaidEnd::Cycle));
    match said {
        Some(said) if shown.decides.is_empty() && is_all => Err(TrailError::OtherEnd(said)),
        _ => Ok(shown),
    }
}

/// Whether a text is a file of `pan`: three numbers on each line.
fn is_raw(text: &str) -> bool {
    let is_row = |line: &str| line.split(':').filter(|part| part.parse::<i64>().is_ok()).count() == 3;
    text.lines().next().is_some_and(is_row)
}

#[cfg(test)]
mod tests {
    use super::*;
    use evidence::TraceEnd;
    use lang::promela::{Reading, load};

    const PROGRAM: &str = "chan r = [0] of { byte };\nbyte n;\nproctype W(byte k) { byte v; atomic { r?v; n = n + v }; n = k }\n\
        init { atomic { run W(3); run W(4) };\n r!1;\n r!2;\n n == 4;\n assert(n == 3) }\n";

    fn followed(trail: &str) -> Result<Shown, TrailError> {
        let source = SourceFile::new("m.pml", PROGRAM);
        let reading = Reading { single_steps: true, ..Reading::default() };
        let model = load(&source, &[], &reading).unwrap_or_else(|_| panic!("{PROGRAM}")).model;
        follow(&model, &source, trail)
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
        let Shown { trace, decides, .. } = followed(TRAIL).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(decides, ["no_errors"]);
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

    const CHOOSING: &str = "byte x; chan q = [0] of { byte };\nltl p { [] (x < 3) }\nactive proctype A() { byte i;\n select (i : 1 .. 3);\n\
        d_step { do :: i > 0 -> i--; x++ :: else -> break od };\n\
        atomic { q!x; x = 0; do :: x < 2 -> x++ :: else -> break od }\n printf(\"at %d\", x)\n assert(x != 2) }\n\
        active proctype B() { byte v; q?v; if :: v == 1 -> goto l :: else -> skip fi; l: v = 4 }\n";

    fn shown(program: &str, trail: &str) -> Result<Shown, TrailError> {
        let source = SourceFile::new("m.pml", program);
        let progress = may_ask_for_progress(trail);
        let reading = Reading { single_steps: true, progress, ..Reading::default() };
        let model = load(&source, &[], &reading).unwrap_or_else(|_| panic!("{program}")).model;
        follow(&model, &source, trail)
    }

    /// As `spin -t -p` prints it: all statements of a `d_step`, jumps, and a text without an end of its line.
    #[test]
    fn a_choice_is_followed_with_its_value_and_a_loop_by_its_lines() {
        let trail = "  1:\tproc  0 (A:1) m.pml:4 (state 1)\t[i = 1]\n\
            \x20 2:\tproc  0 (A:1) m.pml:5 (state 14)\t[.(goto)]\n  2:\tproc  0 (A:1) m.pml:5 (state 11)\t[DO]\n\
            \x20 2:\tproc  0 (A:1) m.pml:5 (state 7)\t[i = (i-1)]\n  2:\tproc  0 (A:1) m.pml:5 (state 8)\t[x = (x+1)]\n\
            \x20 2:\tproc  0 (A:1) m.pml:5 (state 10)\t[goto :b0]\n  2:\tproc  0 (A:1) m.pml:5 (state 13)\t[break]\n\
            \x20 3:\tproc  0 (A:1) m.pml:6 (state 15)\t[q!x]\n  4:\tproc  1 (B:1) m.pml:9 (state 1)\t[q?v]\n\
            \x20 5:\tproc  1 (B:1) m.pml:9 (state 2)\t[((v==1))]\n  6:\tproc  1 (B:1) m.pml:9 (state 8)\t[v = 4]\n\
            \x20 7: proc 1 terminates\n  8:\tproc  0 (A:1) m.pml:6 (state 16)\t[x = 0]\n\
            \x20 9:\tproc  0 (A:1) m.pml:6 (state 17)\t[((x<2))]\n  9:\tproc  0 (A:1) m.pml:6 (state 18)\t[x = (x+1)]\n\
            \x2010:\tproc  0 (A:1) m.pml:6 (state 17)\t[((x<2))]\n 10:\tproc  0 (A:1) m.pml:6 (state 18)\t[x = (x+1)]\n\
            \x2011:\tproc  0 (A:1) m.pml:6 (state 19)\t[else]\n 12:\tproc  0 (A:1) m.pml:6 (state 20)\t[goto :b1]\n\
            \x2013:\tproc  0 (A:1) m.pml:6 (state 23)\t[break]\n\
            \x20     at 2 14:\tproc  0 (A:1) m.pml:7 (state 25)\t[printf('at %d',x)]\n\
            spin: m.pml:8, Error: assertion violated\nspin: text of failed assertion: assert((x!=2))\n\
            \x2015:\tproc  0 (A:1) m.pml:8 (state 26)\t[assert((x!=2))]\nspin: trail ends after 15 steps\n#processes: 1\n\t\tx = 2\n";
        let found = shown(CHOOSING, trail).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(found.decides, ["no_errors"]);
        // One step for the choice, the `d_step`, the meeting, two of B and its death, the rest of the `atomic`, and the text.
        assert_eq!(found.trace.n_steps(), 8);
        let other = trail.replace("proc  1 (B:1) m.pml:9 (state 2)", "proc  0 (A:1) m.pml:9 (state 2)");
        assert!(shown(CHOOSING, &other).is_err_and(|error| error.to_string().contains("cannot take this step")));
    }

    /// As `pan -r` prints it: the claim is process 0, a `d_step` is one line, of statements taken together the first one is printed, and the step that
    /// fails is not.
    #[test]
    fn a_trail_of_pan_with_a_claim_is_followed() {
        let claim = |number: u32| format!("{number:>3}:\tproc  0 (p) m.pml:2 (state 6)\t[(1)]\n");
        let trail = format!(
            "MSC: ~G 3\n{}  2:\tproc  1 (A) m.pml:4 (state 4)\t[i = 1]\n{}  4:\tproc  1 (A) m.pml:5 (state 14)\t[D_STEP5]\n\
            \x20 6:\tproc  1 (A) m.pml:6 (state 24)\t[q!x]\n  7:\tproc  2 (B) m.pml:9 (state 1)\t[q?v]\n\
            \x20 9:\tproc  2 (B) m.pml:9 (state 6)\t[((v==1))]\n 11:\tproc  2 (B) m.pml:9 (state 8)\t[v = 4]\n\
            \x2013:\tproc  2 (B) -:0 (state 0)\t[-end-]\n 15:\tproc  1 (A) m.pml:6 (state 16)\t[x = 0]\n\
            \x2016:\tproc  1 (A) m.pml:6 (state 21)\t[((x<2))]\n 17:\tproc  1 (A) m.pml:6 (state 21)\t[((x<2))]\n\
            \x2018:\tproc  1 (A) m.pml:6 (state 21)\t[else]\n 19:\tproc  1 (A) m.pml:6 (state 20)\t[goto :b1]\n\
            \x2020:\tproc  1 (A) m.pml:6 (state 23)\t[break]\nat 2 22:\tproc  1 (A) m.pml:7 (state 25)\t[printf('at %d',x)]\n\
            pan:1: assertion violated (x!=2) (at depth 24)\nspin: trail ends after 24 steps\n",
            claim(1),
            claim(3)
        );
        let found = shown(CHOOSING, &trail).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((found.decides, found.trace.n_steps()), (vec!["no_errors".to_owned()], 8));
    }

    #[test]
    fn a_cycle_is_followed_until_a_state_comes_again() {
        let program = "bit flag, finish;\nltl p { <> finish }\nactive proctype R() { byte n;\n do\n :: flag = 1;\n flag = 0\n :: n < 200 -> n++\n od }\n";
        let head = "ltl p: <> (finish)\nstarting claim 1\n";
        let round = "  <<<<<START OF CYCLE>>>>>\nNever claim moves to line 4\t[(!(finish))]\n\
            \x20 4:\tproc  0 (R:1) m.pml:5 (state 1)\t[flag = 1]\n  6:\tproc  0 (R:1) m.pml:6 (state 2)\t[flag = 0]\nspin: trail ends after 6 steps\n";
        let counting =
            "  2:\tproc  0 (R:1) m.pml:7 (state 3)\t[((n<200))]\n  2:\tproc  0 (R:1) m.pml:7 (state 4)\t[n = (n+1)]\n";
        let found = shown(program, &format!("{head}{counting}{round}")).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((found.decides, found.trace.loop_from), (vec!["p".to_owned()], Some(2)));
        // What changes in each round is named.
        let round = round.replace("spin: trail", &format!("{counting}spin: trail"));
        let found = shown(program, &format!("{head}{round}")).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((found.decides.len(), found.changes_in_cycle), (0, vec!["R.n".to_owned()]));
    }

    #[test]
    fn what_the_text_says_of_the_end_must_be_so() {
        let says = |end: &str| {
            format!("  1:\tproc  0 (R) m.pml:1 (state 1)\t[x = 1]\n{end}\nspin: trail ends after 1 steps\n")
        };
        let program = "byte x; active proctype R() { x = 1; x == 1; x = 2 }";
        for (end, words) in [
            ("pan:1: assertion violated (x==3) (at depth 1)", "does not end in this error: assertion violated"),
            ("pan:1: invalid end state (at depth 1)", "no invalid end state"),
            ("<<<<<START OF CYCLE>>>>>", "no cycle"),
        ] {
            let refused = shown(program, &says(end)).expect_err(end).to_string();
            assert!(refused.contains(words), "{refused}");
        }
        assert_eq!(shown(program, "-4:-4:-4\n1:0:3\n"), Err(TrailError::Raw));
        let blocked = "byte x; active proctype R() { x = 1; x == 2; x = 2 }";
        let found =
            shown(blocked, &says("pan:1: invalid end state (at depth 1)")).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(found.decides, ["deadlock_free"]);
    }
}
