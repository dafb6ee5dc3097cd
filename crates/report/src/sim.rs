//! What `sim` says: the present state, the steps that can be taken, the step that was taken.

use explain::names;
use explain::steps::{StepView, statements_of, step as step_view};
use model::Model;
use model::eval::{State, Step};

use crate::Page;
use crate::numbers::counted;
use crate::style::{Ink, Mark, Style};
use crate::text::{clean, cut, hang, pad, width};

/// The whole state on one line, cut where it does not fit.
pub fn state_line(model: &Model, state: &State, style: &Style) -> String {
    format!("{}\n", cut(&clean(&names::state_line(model, state)), style.width, style))
}

/// A numbered list of the steps that can be taken: process, statement, target, what changes.
pub fn choices(page: Page<'_>, state: &State, steps: &[Step]) -> String {
    let style = page.style;
    let rows: Vec<[String; 3]> = steps.iter().map(|step| choice(page, state, step)).collect();
    let column = |nth: usize| rows.iter().map(|row| width(&row[nth])).max().unwrap_or(0).min(36);
    let number = steps.len().to_string().len();
    let mut out = String::new();
    for (nth, row) in rows.iter().enumerate() {
        let lead = format!("  {:>number$}  {}  ", nth + 1, pad(&row[0], column(0)));
        let text = format!("{}  {}", pad(&cut(&row[1], column(1), style), column(1)), row[2]);
        out.push_str(&line_or_lines(&lead, &text, style));
    }
    if steps.is_empty() {
        out.push_str("  nobody can move\n");
    }
    out
}

/// One line for a step that was taken from a state: its number, process and statement, what changed.
pub fn step_line(page: Page<'_>, nth: usize, before: &State, step: &Step) -> String {
    let row = choice(page, before, step);
    line_or_lines(&format!("{nth:>5}  {}  ", row[0]), &format!("{}   {}", row[1], row[2]), page.style)
}

fn line_or_lines(lead: &str, text: &str, style: &Style) -> String {
    let line = format!("{lead}{}", text.trim_end());
    if width(&line) <= style.width { line + "\n" } else { hang(lead, text, style.width) }
}

/// The process of a step, its line and statement, and what comes of it.
fn choice(page: Page<'_>, before: &State, step: &Step) -> [String; 3] {
    let Page { model, source, style } = page;
    let who = clean(&model.processes[step.by.process].name);
    let statement = &model.statements[model.actions[step.by.action].statement];
    let what = format!("{}: {}", names::line(source, statement.span), clean(&statements_of(model, &step.by)));
    let effect = match &step.result {
        Ok(after) => {
            effects(page, &step_view(model, source, &model::eval::Turn::Step(step.by.clone()), [before, after]))
        }
        Err(fault) => format!("{} error: {}", style.mark(Mark::Violated), fault.fault),
    };
    [who, what, clean(&effect)]
}

fn effects(page: Page<'_>, view: &StepView) -> String {
    let Page { model, style, .. } = page;
    let arrow = style.mark(Mark::Arrow);
    let moves = view.moved.iter().map(|moved| {
        let name = if moved.process == view.process { "" } else { &model.processes[moved.process].name };
        format!("{name} {arrow} {}", moved.to).trim_start().to_owned()
    });
    let changed = view.shown.iter().map(|change| crate::human::change_text(change, &change.name, style));
    moves.chain(changed).collect::<Vec<_>>().join(", ")
}

/// Steps that were taken at random.
#[derive(Clone, Copy, Debug)]
pub struct RandomSteps {
    /// The seed that repeats them.
    pub seed: u64,
    /// How many steps of a given run come before.
    pub n_before: usize,
    /// How many there are.
    pub n_taken: usize,
}

/// How a random simulation ended: the seed to repeat it, and how many steps were taken.
pub fn seed_line(steps: RandomSteps, why: &str, style: &Style) -> String {
    let RandomSteps { seed, n_before, n_taken } = steps;
    let after = if n_before == 0 { String::new() } else { format!(" after the {n_before} that were given") };
    let text = format!("{} taken with --seed {seed}{after}; {why}", counted(n_taken as u64, "step", "steps"));
    style.paint(Ink::Dim, &text) + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::counter;
    use model::eval::{initial_states, steps};

    #[test]
    fn choices_and_steps() {
        let run = counter();
        let (model, style) = (&run.model, Style::default());
        let page = Page { model, source: &run.source, style: &style };
        let mut state = initial_states(model).next().unwrap();
        let mut out = String::new();
        for nth in 1..=5 {
            let choices = steps(model, &state);
            out.push_str(&state_line(model, &state, &style));
            out.push_str(&super::choices(page, &state, &choices));
            let Some(step) = choices.into_iter().find(|step| step.result.is_ok()) else { break };
            let next = step.result.clone().unwrap();
            out.push_str(&step_line(page, nth, &state, &step));
            state = next;
        }
        out.push_str(&seed_line(RandomSteps { seed: 7, n_before: 0, n_taken: 5 }, "all steps were taken", &style));
        crate::testing::assert_shown("sim__choices_and_steps", &out);
    }
}
