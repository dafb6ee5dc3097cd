//! Replay: a trace is what it claims to be, by the reference semantics alone.
//!
//! In: a Model, the property that is answered, the trace. Checked in turn: every state is one of the Model; the first is
//! initial; each step is a step of `eval`; the last state (or a step from it) shows what the trace's end says, which is what
//! the property asks about; a loop returns to an equal state, is fair, and the formula is false on it (`lasso.rs`).

use base::Id;
use evidence::{Trace, TraceEnd};
use model::Model;
use model::eval::{
    Contender, Link, Move, Race, State, Step, StepFault, Turn, able, evaluate, is_deadlock, is_idle, is_initial,
    likely_steps_of, likely_touched_along, likely_touched_by,
};
use model::expr::Expr;
use model::print;
use model::process::ProcessId;
use model::property::{Property, PropertyKind};
use model::value::Value;
use model::variable::VarId;

use crate::AuditError;
use crate::lasso;
use crate::shape::{check_move, check_state};

/// Checks that the trace is a run of the Model and decides the property in the way that its end says.
pub fn replay(model: &Model, property: Id<Property>, trace: &Trace) -> Result<(), AuditError> {
    let Some(last) = trace.states.last() else {
        return Err(AuditError::new("there is a run without states", "a run has a first state"));
    };
    if trace.turns.len() + 1 != trace.states.len() {
        let claim = format!("{} steps join {} states", trace.turns.len(), trace.states.len());
        return Err(AuditError::new(claim, "a run has one step fewer than states"));
    }
    for (position, state) in trace.states.iter().enumerate() {
        check_state(model, state).map_err(|what| AuditError::at(position, "this is a state of the program", what))?;
    }
    if !is_initial(model, &trace.states[0]) {
        return Err(AuditError::at(0, "the run starts here", "this is no initial state"));
    }
    for (position, turn) in trace.turns.iter().enumerate() {
        let (before, after) = (&trace.states[position], &trace.states[position + 1]);
        let checked = match turn {
            Turn::Step(by) => check_step(model, before, by, after),
            Turn::StandStill(_) if trace.loop_from.is_none() => {
                disagree("a process stands still", "a finite run has steps")
            }
            Turn::StandStill(process) => check_stand_still(model, before, *process, after),
        };
        checked.map_err(|(claim, finding)| AuditError::at(position, claim, finding))?;
    }
    check_loop(trace)?;
    check_end(model, property, trace, last)
        .map_err(|(claim, finding)| AuditError::at(trace.states.len() - 1, claim, finding))
}

/// What is claimed and what is found, in words.
type Disagreement = (String, String);

fn disagree<T>(claim: impl Into<String>, finding: impl Into<String>) -> Result<T, Disagreement> {
    Err((claim.into(), finding.into()))
}

fn check_loop(trace: &Trace) -> Result<(), AuditError> {
    let Some(from) = trace.loop_from else { return Ok(()) };
    let last = trace.states.len() - 1;
    if from >= last {
        let claim = format!("the run returns from state {last} to state {from}");
        return Err(AuditError::new(claim, "a loop returns to an earlier state"));
    }
    if trace.states[from] != trace.states[last] {
        let claim = format!("the last state is state {from} again");
        return Err(AuditError::at(last, claim, "they differ"));
    }
    Ok(())
}

/// One step: `eval` knows a step of the same process and statement (and partner) with the same successor. Two actions of
/// one statement that lead to one state are the same step.
fn check_step(model: &Model, before: &State, by: &Move, after: &State) -> Result<(), Disagreement> {
    let claim = |what: String| format!("{what} leads to the next state");
    check_move(model, by).map_err(|what| (claim("a move".to_owned()), what))?;
    let same = likely_touched_along(model, before, by, Some(after));
    if same.iter().any(|(step, _)| step.result.as_ref() == Ok(after)) {
        return Ok(());
    }
    let known = likely_steps_of(model, before, by.process, Some(after));
    if known.iter().any(|step| same_move(model, &step.by, by) && step.result.as_ref() == Ok(after)) {
        return Ok(());
    }
    disagree(claim(describe_move(model, by)), describe_steps(model, by, &known, after))
}

/// A process stands still where it has no enabled step, faulty ones included, or stands at `idle`.
fn check_stand_still(model: &Model, before: &State, process: ProcessId, after: &State) -> Result<(), Disagreement> {
    let Some(known) = model.processes.get(process) else {
        return disagree("a process stands still", format!("there is no process number {}", process.index()));
    };
    let claim = format!("{} stands still", known.name);
    if before != after {
        return disagree(claim, "the states before and after differ");
    }
    if is_idle(model, before, process) || !(able(model, before, process) || meets_somebody(model, before, process)) {
        return Ok(());
    }
    disagree(claim, "it has a step to take")
}

/// Whether a step of another process, which is a rendezvous, can begin with this one.
fn meets_somebody(model: &Model, state: &State, process: ProcessId) -> bool {
    let others = || model.processes.ids().filter(|&other| other != process);
    let meets = |step: &Step| step.by.first().action_of(process).is_some();
    !model.channels.is_empty() && others().any(|other| likely_steps_of(model, state, other, None).iter().any(meets))
}

/// Whether both are steps of the same processes by the same statements.
pub(crate) fn same_move(model: &Model, one: &Move, other: &Move) -> bool {
    let statements = |by: Link| {
        let partner = by.partner.map(|(process, action)| (process, model.actions[action].statement));
        (by.process, model.actions[by.action].statement, partner)
    };
    one.links().map(statements).eq(other.links().map(statements))
}

fn check_end(model: &Model, property: Id<Property>, trace: &Trace, last: &State) -> Result<(), Disagreement> {
    let Some(property) = model.properties.get(property) else {
        return disagree("a property of the program is decided", "the program has no such property");
    };
    if trace.loop_from.is_some() != (trace.end == TraceEnd::Loop) {
        return disagree("the run has an end", "only a loop goes round for ever");
    }
    match (&property.kind, &trace.end) {
        (PropertyKind::Invariant(expr), TraceEnd::State) => check_value(model, last, expr, false),
        (PropertyKind::Reachable(expr), TraceEnd::State) => check_value(model, last, expr, true),
        (PropertyKind::NoErrors, TraceEnd::Fault { by, fault }) => check_fault(model, last, by, fault),
        (PropertyKind::DeadlockFree, TraceEnd::Deadlock) if is_deadlock(model, last) => Ok(()),
        (PropertyKind::DeadlockFree, TraceEnd::Deadlock) => {
            disagree("this is a deadlock", "somebody can move, or nobody is stuck")
        }
        (PropertyKind::RaceFree(var), TraceEnd::Race(race)) => check_race(model, last, *var, race),
        (PropertyKind::Temporal(formula), TraceEnd::Loop) => lasso::check(model, property, formula, trace),
        (kind, end) => {
            let claim = format!("its end ({}) decides `{}`", end_words(end), property.name);
            disagree(claim, format!("the end of a run decides no `{}` in that way", kind.keyword()))
        }
    }
}

fn end_words(end: &TraceEnd) -> &'static str {
    match end {
        TraceEnd::State => "a state",
        TraceEnd::Fault { .. } => "a faulty step",
        TraceEnd::Deadlock => "a deadlock",
        TraceEnd::Race(_) => "a race",
        TraceEnd::Loop => "a loop",
    }
}

fn check_value(model: &Model, state: &State, expr: &Expr, wanted: bool) -> Result<(), Disagreement> {
    match evaluate(model, state, expr, None) {
        Ok(Value::Bool(truth)) if truth == wanted => Ok(()),
        Ok(value) => {
            disagree(format!("the property is {wanted} here"), format!("it is {}", print::value(model, value)))
        }
        Err(fault) => disagree(format!("the property is {wanted} here"), format!("it has no value: {}", fault.fault)),
    }
}

fn check_fault(model: &Model, state: &State, by: &Move, fault: &StepFault) -> Result<(), Disagreement> {
    let claim = |what: String| format!("{what} is an error: {}", fault.fault);
    check_move(model, by).map_err(|what| (claim("a move".to_owned()), what))?;
    let same = likely_touched_along(model, state, by, None);
    if same.iter().any(|(step, _)| step.result.as_ref() == Err(fault)) {
        return Ok(());
    }
    let known = likely_steps_of(model, state, by.process, None);
    if known.iter().any(|step| same_move(model, &step.by, by) && step.result.as_ref() == Err(fault)) {
        return Ok(());
    }
    let faults: Vec<String> = known
        .iter()
        .filter_map(|step| Some(format!("{}: {}", describe_move(model, &step.by), step.result.as_ref().err()?.fault)))
        .collect();
    let finding = if faults.is_empty() {
        "no step of that process is an error here".to_owned()
    } else {
        format!("these steps are: {}", faults.join("; "))
    };
    disagree(claim(describe_move(model, by)), finding)
}

/// A race: the two contenders have each an enabled step that touches the cell as claimed, not the two sides of one
/// rendezvous, and one of them writes.
fn check_race(model: &Model, state: &State, var: VarId, race: &Race) -> Result<(), Disagreement> {
    let name = model.cells.get(race.cell).map_or("no cell", |cell| &cell.name);
    let claim = format!("two processes can access `{name}` at once, one writing");
    if model.cells.get(race.cell).is_none_or(|cell| cell.var != var) {
        return disagree(claim, format!("the question is about `{}`", model.vars[var].name));
    }
    let [one, other] = &race.contenders;
    if one.process == other.process || !(one.writes || other.writes) {
        return disagree(claim, "a race has two processes, one of which writes");
    }
    for side in [one, other] {
        let by = Move::alone(side.process, side.action);
        check_move(model, &by).map_err(|what| (claim.clone(), what))?;
    }
    let touched: Vec<_> =
        model.processes.ids().flat_map(|process| likely_touched_by(model, state, process, None)).collect();
    let steps_that_touch = |side: &Contender| -> Vec<usize> {
        let touches = |(step, touched): &(Step, Vec<_>)| {
            takes_part(model, &step.by, side)
                && touched.iter().any(|touch: &model::eval::Touch| {
                    (touch.process, touch.cell, touch.writes) == (side.process, race.cell, side.writes)
                })
        };
        (0..touched.len()).filter(|&at| touches(&touched[at])).collect()
    };
    let (ones, others) = (steps_that_touch(one), steps_that_touch(other));
    match ones.iter().any(|a| others.iter().any(|b| a != b)) {
        true => Ok(()),
        false => {
            disagree(claim, format!("{} such steps of one and {} of the other are enabled", ones.len(), others.len()))
        }
    }
}

/// Whether the contender's statement is a side of the move.
fn takes_part(model: &Model, by: &Move, side: &Contender) -> bool {
    let statement = |action| model.actions[action].statement;
    by.actions_of(side.process).any(|action| statement(action) == statement(side.action))
}

/// ``P[0] by `acquire x` ``.
pub(crate) fn describe_move(model: &Model, by: &Move) -> String {
    let side = |process, action| {
        let action: &model::control::Action = &model.actions[action];
        format!("{} by `{}`", model.processes[process].name, model.statements[action.statement].text)
    };
    let link = |by: Link| match by.partner {
        None => side(by.process, by.action),
        Some((partner, theirs)) => format!("{} with {}", side(by.process, by.action), side(partner, theirs)),
    };
    by.links().map(link).collect::<Vec<String>>().join(", then ")
}

/// What the process of the move can do instead, and how the nearest successor differs.
fn describe_steps(model: &Model, by: &Move, known: &[Step], claimed: &State) -> String {
    let name = &model.processes[by.process].name;
    if known.is_empty() {
        return format!("{name} cannot move here");
    }
    let similar = known.iter().filter(|step| same_move(model, &step.by, by));
    let differences = similar.map(|step| match &step.result {
        Ok(state) => difference(model, state, claimed),
        Err(fault) => format!("the step is an error: {}", fault.fault),
    });
    match differences.min_by_key(String::len) {
        Some(difference) => difference,
        None => {
            let steps: Vec<String> = known.iter().take(4).map(|step| describe_move(model, &step.by)).collect();
            format!("{name} has other steps here: {}", steps.join("; "))
        }
    }
}

/// Where two well-formed states differ, found against claimed.
fn difference(model: &Model, found: &State, claimed: &State) -> String {
    let cells = model.cells.entries().filter(|(id, _)| found.cells[id.index()] != claimed.cells[id.index()]).map(
        |(id, cell)| {
            let [is, said] = [found, claimed].map(|state| print::value(model, state.cells[id.index()]));
            format!("`{}` becomes {is}, not {said}", cell.name)
        },
    );
    let stacks =
        model.processes.ids().filter(|process| found.stacks[process.index()] != claimed.stacks[process.index()]).map(
            |process| {
                let [is, said] = [found, claimed].map(|state| &model.places[state.place(process)].name);
                format!("{} comes to {is}, not {said}", model.processes[process].name)
            },
        );
    cells.chain(stacks).take(4).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use model::eval::{self, Turn};
    use testkit::{Product, RandomFeatures, for_each_program};

    use super::check_stand_still;

    /// Who may stand still is asked of one process here; `eval` says it of all at once.
    #[test]
    fn a_process_may_stand_still_where_eval_says_so() {
        let (n_still, n_able) = (std::cell::Cell::new(0), std::cell::Cell::new(0));
        for shape in [RandomFeatures::everything(), RandomFeatures::beyond_texts()] {
            for_each_program(100, RandomFeatures { n_statements: 3, ..shape }, |_, model| {
                let Some(product) = Product::explore(model, 60) else { return Ok(()) };
                for state in &product.states {
                    let turns = eval::turns(model, state);
                    for process in model.processes.ids() {
                        let expected = turns.iter().any(|(turn, _)| *turn == Turn::StandStill(process));
                        let found = check_stand_still(model, state, process, state).is_ok();
                        if expected != found {
                            return Err(format!("{}: {expected} by eval, {found} here", model.processes[process].name));
                        }
                        let count = if found { &n_still } else { &n_able };
                        count.set(count.get() + 1);
                    }
                }
                Ok(())
            });
        }
        assert!(n_still.get() > 500 && n_able.get() > 500, "{n_still:?} stand still, {n_able:?} cannot");
    }
}
