//! Sweeps on the page: plots over a parameter, in words how figures grow, and the figures themselves.
//!
//! In: runs of one program at several sizes. Out: where one method was asked, plots of times, local and global states with a line for each property; where
//! several were, a plot for each property, in which the methods lie over each other. A property, or a method, has one colour throughout.

use engine::Verdict;
use engine::run::Run;
use explain::names::property_title;
use maud::{Markup, html};

use super::Checked;
use super::plot::{self, PlotLine, PlotPoint};
use super::property::label;
use super::results::{methods, swatch, titles};
use super::table::{folded, heads, row, table, wide};
use crate::numbers::count;
use crate::style::Style;
use crate::sweep::{self, Sweep};

/// More properties have no plot of their own.
const MOST_PLOTS: usize = 12;

/// The plots of a sweep and the figures behind them; nothing where no parameter varies.
pub fn sweep(checked: &[(usize, &Checked<'_>)]) -> Markup {
    let runs: Vec<&Run> = checked.iter().map(|(_, one)| &**one.run).collect();
    let Some(name) = varying(&runs) else { return Markup::default() };
    let names = [name, "property", "asked", "verdict", "decided by", "seconds", "local states", "global states"];
    let figures = wide("figures of the sweep", table(None, heads(&names), figures(&runs, name)));
    html! {
        div.plots {
            @if methods(&runs).len() > 1 {
                (of_methods(&runs, name))
            } @else {
                (of_properties(&runs, name))
            }
        }
        (growth(&runs))
        (folded("The figures as a table", figures))
    }
}

/// A line for each property, whichever method answered at a size: the table has the methods.
fn of_properties(runs: &[&Run], name: &str) -> Markup {
    let titles = titles(runs);
    let (mut times, mut locals, mut globals) = (Lines::default(), Lines::default(), Lines::default());
    for run in runs {
        let x = size(run, name) as f64;
        for result in &run.results {
            let title = property_title(&run.model, result.property);
            let hue = titles.iter().position(|known| *known == title).unwrap_or(0);
            let decided = !matches!(result.verdict, Verdict::Unknown(_));
            times.add(title.clone(), hue, PlotPoint { x, y: result.statistics.time.as_secs_f64(), decided });
            let (local, global) = sizes_of(result);
            let add = |lines: &mut Lines, size: Option<u64>| {
                if let Some(size) = size {
                    lines.add(title.clone(), hue, PlotPoint { x, y: size as f64, decided });
                }
            };
            add(&mut locals, local);
            add(&mut globals, global);
        }
    }
    let plots =
        [("Time in seconds", times), ("Local states, all processes together", locals), ("Global states", globals)];
    html! { @for (title, lines) in plots { (plot::draw(title, name, lines.0)) } }
}

/// A plot for each property that some method decides, with a line for each method.
fn of_methods(runs: &[&Run], name: &str) -> Markup {
    let methods = methods(runs);
    let mut plots = Vec::new();
    for title in titles(runs).into_iter().take(MOST_PLOTS) {
        let (mut times, mut is_decided) = (Lines::default(), false);
        for run in runs {
            let x = size(run, name) as f64;
            let found = run.results.iter().find(|result| property_title(&run.model, result.property) == title);
            let Some(result) = found else { continue };
            let decided = !matches!(result.verdict, Verdict::Unknown(_));
            is_decided |= decided;
            let hue = methods.iter().position(|known| *known == run.method).unwrap_or(0);
            if decided {
                times.add(
                    run.method.to_owned(),
                    hue,
                    PlotPoint { x, y: result.statistics.time.as_secs_f64(), decided },
                );
            }
        }
        if is_decided {
            plots.push(plot::draw(&format!("{title}: time in seconds"), name, times.0));
        }
    }
    html! { @for plot in &plots { (plot) } }
}

/// Lines by their names.
#[derive(Default)]
struct Lines(Vec<PlotLine>);

impl Lines {
    fn add(&mut self, name: String, hue: usize, point: PlotPoint) {
        match self.0.iter_mut().find(|line| line.name == name) {
            Some(line) => line.points.push(point),
            None => self.0.push(PlotLine { name, hue, points: vec![point] }),
        }
    }
}

/// The local states of a result, all members together, and those of the product that were stored.
fn sizes_of(result: &engine::run::PropertyResult) -> (Option<u64>, Option<u64>) {
    let local = result.statistics.local_states.as_ref().and_then(|all| all.iter().copied().sum());
    (local, result.statistics.global_states)
}

fn figures(runs: &[&Run], name: &str) -> Markup {
    let number = |value: Option<u64>| value.map_or("–".to_owned(), count);
    html! {
        @for run in runs {
            @for result in &run.results {
                @let (local, global) = sizes_of(result);
                @let (tone, mark, word) = label(run, result);
                @let verdict = html! { span class=(tone.class()) { (mark) " " (word.to_lowercase()) } };
                (row(size(run, name), &[
                    &property_title(&run.model, result.property),
                    &run.method,
                    &verdict,
                    &result.method,
                    &format_args!("{:.3}", result.statistics.time.as_secs_f64()),
                    &number(local),
                    &number(global),
                ]))
            }
        }
    }
}

/// How each property grows with the size, in words.
fn growth(runs: &[&Run]) -> Markup {
    let Some(sweep) = Sweep::of(runs) else { return Markup::default() };
    let remark = |row: &sweep::SweepRow<'_>| sweep::remarks(&sweep, row, &Style::default()).join("; ");
    let items = html! {
        @for (hue, row) in sweep.rows.iter().enumerate() {
            @let remarks = remark(row);
            @if !remarks.is_empty() { li { (swatch(hue)) strong { (row.property) } ": " (remarks) } }
        }
    };
    html! { @if !items.0.is_empty() { ul.growth { (items) } } }
}

/// The size of a run; each of a sweep has one.
fn size(run: &Run, name: &str) -> i64 {
    run.model.number(name).unwrap_or_default()
}

/// The first parameter that is not the same in all runs.
fn varying<'r>(runs: &[&'r Run]) -> Option<&'r str> {
    let first = runs.first()?;
    let varies = |name: &&str| runs.iter().any(|run| run.model.number(name) != first.model.number(name));
    first.model.numbers().map(|(name, _)| name).find(varies)
}
