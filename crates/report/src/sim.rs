//! What `sim` says: the present state, the steps that can be taken, the step that was taken.

use base::SourceFile;
use model::Model;
use model::eval::{State, Step};

use crate::names;
use crate::numbers::counted;
use crate::style::{Ink, Mark, Style};
use crate::text::{clean, cut, hang, pad, width};
use crate::view::step as step_view;

/// The whole state on one line, cut where it does not fit.
pub fn state_line(model: &Model, state: &State, style: &Style) -> String {
    format!("{}\n", cut(&clean(&names::state_line(model, state)), style.width, style))
}

/// A numbered list of the steps that can be taken: who, by which statement, where to, what changes.
pub fn choices(model: &Model, source: &SourceFile, state: &State, steps: &[Step], style: &Style) -> String {
    let rows: Vec<[String; 3]> = steps.iter().map(|step| choice(model, source, state, step, style)).collect();
    let column = |nth: usize| rows.iter().map(|row| width(&row[nth])).max().unwrap_or(0).min(36);
    let number = steps.len().to_string().len();
    let mut out = String::new();
    for (nth, row) in rows.iter().enumerate() {
        let lead = format!("  {:>number$}  {}  ", nth + 1, pad(&row[0], column(0)));
        let text = format!("{}  {}", pad(&cut(&row[1], column(1), style), column(1)), row[2]);
        let line = format!("{lead}{}", text.trim_end());
        if width(&line) <= style.width {
            out.push_str(&format!("{line}\n"));
        } else {
            out.push_str(&hang(&lead, &text, style.width));
        }
    }
    if steps.is_empty() {
        out.push_str("  nobody can move\n");
    }
    out
}

fn choice(model: &Model, source: &SourceFile, state: &State, step: &Step, style: &Style) -> [String; 3] {
    let who = clean(&model.processes[step.by.process].name);
    let statement = &model.statements[model.actions[step.by.action].statement];
    let what = format!("{}: {}", names::line(source, statement.span), clean(&statement.text));
    let effect = match &step.result {
        Ok(after) => effects(model, source, state, step, after, style),
        Err(fault) => format!("{} error: {}", style.mark(Mark::Violated), fault.fault),
    };
    [who, what, clean(&effect)]
}

fn effects(model: &Model, source: &SourceFile, before: &State, step: &Step, after: &State, style: &Style) -> String {
    let view = step_view(model, source, &step.by, [before, after]);
    let arrow = style.mark(Mark::Arrow);
    let moves = view.moved.iter().map(|moved| {
        let name = if moved.process == step.by.process { "" } else { &model.processes[moved.process].name };
        format!("{name} {arrow} {}", moved.to).trim_start().to_owned()
    });
    let changed = view.changes.iter().filter(|change| !change.resets);
    let changed = changed.map(|change| crate::human::change_text(model, change, &change.name, style));
    moves.chain(changed).collect::<Vec<_>>().join(", ")
}

/// One line for a step that was taken between two states: its number, who, by what, what changed.
pub fn step_line(
    model: &Model,
    source: &SourceFile,
    nth: usize,
    states: [&State; 2],
    step: &Step,
    style: &Style,
) -> String {
    let row = choice(model, source, states[0], step, style);
    let lead = format!("{nth:>5}  {}  ", row[0]);
    let line = format!("{lead}{}   {}", row[1], row[2]);
    if width(&line) <= style.width { line + "\n" } else { hang(&lead, &format!("{} {}", row[1], row[2]), style.width) }
}

/// How a random simulation ended: the seed to repeat it, and how many steps were taken.
pub fn seed_line(seed: u64, n_steps: usize, why: &str, style: &Style) -> String {
    let text = format!("{} taken with --seed {seed}; {why}", counted(n_steps as u64, "step", "steps"));
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
        let (model, source, style) = (&run.model, &run.source, Style::default());
        let mut state = initial_states(model).next().unwrap();
        let mut out = String::new();
        for nth in 1..=5 {
            let choices = steps(model, &state);
            out.push_str(&state_line(model, &state, &style));
            out.push_str(&super::choices(model, source, &state, &choices, &style));
            let Some(step) = choices.into_iter().find(|step| step.result.is_ok()) else { break };
            let next = step.result.clone().unwrap();
            out.push_str(&step_line(model, source, nth, [&state, &next], &step, &style));
            state = next;
        }
        out.push_str(&seed_line(7, 5, "all steps were taken", &style));
        insta::assert_snapshot!(out);
    }
}
