//! The space-time diagram of a trace: time from left to right, a lane for each process and for each variable that
//! changes.
//!
//! In: a [`Film`]. Out: two SVG drawings of the same height, the names and the lanes, so that the names stay in view
//! while the lanes are scrolled. Column `k` is the state after step `k`; the lane `turn` says which process's step led there,
//! so that context switches are the ends of its bars; a loop has a bracket over its columns. Everything that colour
//! says is also said by a mark or a word.

use explain::bundle;
use explain::steps::StepView;
use maud::{Markup, html};
use model::variable::CellId;

use super::film::{Bar, Film, Lane, LaneKind};
use crate::style::Style;
use crate::text::{cut, width};

/// How wide a character of the drawing is.
const LETTER: f64 = 7.3;
/// The height of the rows above the lanes.
const HEAD: f64 = 24.0;
const PROCESS_ROW: f64 = 38.0;
const VARIABLE_ROW: f64 = 28.0;
const LEAST_COLUMN: f64 = 46.0;
const MOST_COLUMN: f64 = 170.0;
/// How far the bar of a lane keeps from the edges of its row.
const PROCESS_INSET: f64 = 5.0;
const VARIABLE_INSET: f64 = 3.0;
/// What a short run may take.
const ROOMY: f64 = 780.0;

/// A drawing, and what a script has to know about it.
pub struct Drawing {
    /// HTML of both parts.
    pub html: Markup,
    /// How wide a column is.
    pub column: f64,
    /// How many lanes are not drawn.
    pub n_left_out: usize,
}

/// Draws a film; `title` says what it is to readers who do not see it.
pub fn draw(film: &Film<'_>, title: &str) -> Drawing {
    let (lanes, n_left_out) = film.drawn_lanes();
    let column = column_width(film, &lanes);
    let has_loop = film.loop_from().is_some();
    let head = if has_loop { 2.0 * HEAD } else { HEAD };
    let mut canvas = Canvas { film, column, head, names: Vec::new(), body: Vec::new(), y: head, centres: Vec::new() };
    canvas.axis();
    canvas.turns();
    for lane in &lanes {
        canvas.lane(lane);
    }
    let (links, ends) = canvas.links(&lanes);
    let (height, columns) = (rounded(canvas.y + 6.0), rounded(film.n_states() as f64 * column + 8.0));
    let name_columns = lanes.iter().map(|lane| width(&lane.name) + indent(lane)).max().unwrap_or(4).clamp(4, 18);
    let names = rounded(name_columns as f64 * LETTER + 18.0);
    let html = html! {
        div.chart {
            svg.names aria-hidden="true" viewBox={ "0 0 " (names) " " (height) } width=(names) height=(height) {
                @for name in &canvas.names { (name) }
            }
            div.scroll tabindex="0" role="region" aria-label=(title) {
                svg.lanes role="img" aria-label={ (title) "; the table of all steps says the same" }
                    viewBox={ "0 0 " (columns) " " (height) } width=(columns) height=(height) {
                    rect.cursor x="0" y="0" width=(tenths(column)) height=(height) rx="6" {}
                    @for part in links.iter().chain(&canvas.body).chain(&ends) { (part) }
                }
            }
        }
    };
    Drawing { html, column, n_left_out }
}

/// A length of the drawing.
fn tenths(length: f64) -> String {
    format!("{length:.1}")
}

/// A length of the drawing, where parts of it do not matter.
fn rounded(length: f64) -> String {
    format!("{length:.0}")
}

/// Wide enough for the content of one column only.
fn column_width(film: &Film<'_>, lanes: &[Lane]) -> f64 {
    let bars = lanes.iter().flat_map(|lane| &lane.bars);
    let needs = bars.map(|bar| (width(&bar.text) as f64 * LETTER + 22.0) / (bar.to - bar.from + 1) as f64);
    let names = film.steps.iter().map(|step| width(film.name(step.process)) as f64 * LETTER + 16.0);
    // A short run fills the page.
    let least = (ROOMY / film.n_states() as f64).clamp(LEAST_COLUMN, 112.0);
    needs.chain(names).fold(least, f64::max).min(MOST_COLUMN)
}

fn indent(lane: &Lane) -> usize {
    if matches!(lane.kind, LaneKind::Own(..)) { 2 } else { 0 }
}

struct Canvas<'a> {
    film: &'a Film<'a>,
    column: f64,
    /// The height above the lanes.
    head: f64,
    names: Vec<Markup>,
    body: Vec<Markup>,
    /// Where the next row begins.
    y: f64,
    /// The middle of each lane.
    centres: Vec<f64>,
}

impl Canvas<'_> {
    fn x(&self, state: usize) -> f64 {
        state as f64 * self.column
    }

    /// The numbers of the states, and the bracket of a loop.
    fn axis(&mut self) {
        let n_states = self.film.n_states();
        let base = rounded(self.head - 8.0);
        self.names.push(html! { text.axis x="0" y=(base) { "step" } });
        for state in 0..n_states {
            let x = tenths(self.x(state) + self.column / 2.0);
            self.body.push(html! { text.axis x=(x) y=(base) { (self.film.first + state) } });
        }
        let Some(from) = self.film.loop_from() else { return };
        let (left, right) = (self.x(from + 1) + 4.0, self.x(n_states) - 4.0);
        let middle = (left + right) / 2.0;
        let words = format!("↺ for ever: back to step {}", self.film.trace.loop_from.unwrap_or(0));
        let room = width(&words) as f64 * LETTER + 14.0;
        let words = if right - left > room + 20.0 { words } else { "↺".to_owned() };
        let room = width(&words) as f64 * LETTER + 14.0;
        self.body.push(html! {
            path.loop d=(format_args!("M{left:.1} 24 V8 H{right:.1} V24")) {}
            path.loop-head d=(format_args!("M{:.1} 18 l4 8 l4 -8 z", left - 4.0)) {}
            rect.loop-back x=(tenths(middle - room / 2.0)) y="0" width=(tenths(room)) height="17" {}
            text.loop-text x=(tenths(middle)) y="13" { (words) }
        });
    }

    /// The processes whose turns led to the states.
    fn turns(&mut self) {
        let mut bars: Vec<Bar> = Vec::new();
        for (at, step) in self.film.steps.iter().enumerate() {
            let name = self.film.name(step.process);
            match bars.last_mut() {
                Some(bar) if bar.text == name => bar.to = at + 1,
                _ => bars.push(Bar { from: at + 1, to: at + 1, text: name.to_owned() }),
            }
        }
        let y = self.y;
        self.names.push(html! { text.axis x="0" y=(tenths(y + 15.0)) { "turn" } });
        for bar in &bars {
            self.bar(bar, "turn", [y + 2.0, 20.0]);
        }
        self.y += 28.0;
    }

    fn lane(&mut self, lane: &Lane) {
        let (class, row) = match lane.kind {
            LaneKind::Process(_) => ("stay", PROCESS_ROW),
            LaneKind::Own(..) => ("value own", VARIABLE_ROW),
            LaneKind::Shared(_) => ("value", VARIABLE_ROW),
        };
        let (y, inset) = (self.y, if class == "stay" { PROCESS_INSET } else { VARIABLE_INSET });
        let centre = y + row / 2.0;
        let style = Style::default();
        let name = cut(&lane.name, 18 - indent(lane), &style);
        let kind = if class == "stay" { "process" } else { "variable" };
        self.names.push(html! {
            text class=(kind) x=(rounded(indent(lane) as f64 * LETTER)) y=(tenths(centre + 4.0)) { (name) }
        });
        for bar in &lane.bars {
            self.bar(bar, class, [y + inset, row - 2.0 * inset]);
        }
        if let LaneKind::Process(process) = lane.kind {
            for (at, step) in self.film.steps.iter().enumerate() {
                if step.moved.iter().any(|moved| moved.process == process) {
                    self.step(at, step, centre);
                }
            }
        }
        self.centres.push(centre);
        self.y += row;
    }

    fn bar(&mut self, bar: &Bar, class: &str, [y, height]: [f64; 2]) {
        let (x, room) = (self.x(bar.from) + 2.0, (bar.to - bar.from + 1) as f64 * self.column - 4.0);
        let letters = ((room - 14.0) / LETTER).max(1.0) as usize;
        let (from, to) = (self.film.first + bar.from, self.film.first + bar.to);
        let when = if from == to { format!("step {from}") } else { format!("steps {from} to {to}") };
        self.body.push(html! {
            g class=(class) {
                title { (bar.text) " (" (when) ")" }
                rect x=(tenths(x)) y=(tenths(y)) width=(tenths(room)) height=(tenths(height)) rx="5" {}
                text x=(tenths(x + 9.0)) y=(tenths(y + height / 2.0 + 4.0)) {
                    (cut(&bar.text, letters, &Style::default()))
                }
            }
        });
    }

    /// The dot of a step, where the process goes on; hollow where it only stutters, on the edge of the bar, which goes on
    /// and whose words it must not cover.
    fn step(&mut self, at: usize, step: &StepView, centre: f64) {
        let x = self.x(at + 1);
        let (class, y) = match step.stands_still {
            true => ("dot still", centre - PROCESS_ROW / 2.0 + PROCESS_INSET),
            false => ("dot", centre),
        };
        let number = self.film.first + at + 1;
        self.body.push(html! {
            circle class=(class) cx=(tenths(x)) cy=(tenths(y)) r="4" {
                title { "step " (number) ": " (self.film.name(step.process)) " " (step.statement) }
            }
        });
    }

    /// Lines from a step to what it changes, dashed to what it only reads, and between context switches; then their ends.
    fn links(&self, lanes: &[Lane]) -> (Vec<Markup>, Vec<Markup>) {
        let (mut out, mut ends) = (Vec::new(), Vec::new());
        let upright = |class: &str, x: f64, [from, to]: [f64; 2]| {
            html! { line class=(class) x1=(tenths(x)) x2=(tenths(x)) y1=(tenths(from)) y2=(tenths(to)) {} }
        };
        for (at, step) in self.film.steps.iter().enumerate() {
            let x = self.x(at + 1);
            if at > 0 && self.film.steps[at - 1].process != step.process {
                out.push(upright("switch", x, [self.head, self.y]));
            }
            let centre_of =
                |wanted: LaneKind| lanes.iter().position(|lane| lane.kind == wanted).map(|at| self.centres[at]);
            let Some(from) = centre_of(LaneKind::Process(step.process)) else { continue };
            for (lane, &to) in lanes.iter().zip(&self.centres) {
                let (LaneKind::Shared(variable) | LaneKind::Own(_, variable)) = lane.kind else { continue };
                let values = &self.film.variables[variable].values;
                let class = match (values[at] != values[at + 1], self.reads(step, variable)) {
                    (true, _) => "writes",
                    (false, true) => "reads",
                    (false, false) => continue,
                };
                out.push(upright(class, x, [from, to]));
                // A value that is read goes on: the mark is on the edge of its bar, beside the words.
                let half = VARIABLE_ROW / 2.0 - VARIABLE_INSET;
                let edge = if to > from { to - half } else { to + half };
                ends.push(match (class, to > from) {
                    ("reads", _) => html! { circle.read cx=(tenths(x)) cy=(tenths(edge)) r="3" {} },
                    (_, true) => html! { path.wrote d=(format_args!("M{:.1} {:.1} h8 l-4 7 z", x - 4.0, to - 4.0)) {} },
                    (_, false) => {
                        html! { path.wrote d=(format_args!("M{:.1} {:.1} h8 l-4 -7 z", x - 4.0, to + 4.0)) {} }
                    }
                });
            }
        }
        (out, ends)
    }

    fn reads(&self, step: &StepView, variable: usize) -> bool {
        let model = &self.film.run.model;
        let wanted = &self.film.variables[variable];
        step.reads.iter().any(|&cell: &CellId| {
            let declared = &model.cells[cell];
            declared.owner == wanted.owner && bundle::variable_name(model, declared.var) == wanted.name
        })
    }
}
