//! The space-time diagram of a trace: time from left to right, a lane for each process and for each variable that
//! changes.
//!
//! In: a [`Film`]. Out: two SVG drawings of the same height, the names and the lanes, so that the names stay in view
//! while the lanes are scrolled. Column `k` is the state after step `k`; the lane `turn` says whose step led there,
//! so that context switches are the ends of its bars; a loop has a bracket over its columns. Everything that colour
//! says is also said by a mark or a word.

use explain::bundle;
use explain::steps::StepView;
use model::variable::CellId;

use super::escape::escaped;
use super::film::{Bar, Film, Kind, Lane};
use crate::style::Style;
use crate::text::{cut, width};

/// How wide a character of the drawing is.
const LETTER: f64 = 7.3;
/// The height of the rows above the lanes.
const HEAD: f64 = 24.0;
const PROCESS_ROW: f64 = 38.0;
const VARIABLE_ROW: f64 = 28.0;
const LEAST_COLUMN: f64 = 46.0;
const MOST_COLUMN: f64 = 150.0;
/// What a short run may take.
const ROOMY: f64 = 780.0;

/// A drawing, and what a script has to know about it.
pub struct Drawing {
    /// HTML of both parts.
    pub html: String,
    /// How wide a column is.
    pub column: f64,
    /// How many lanes are not drawn.
    pub n_left_out: usize,
}

/// Draws a film; `title` tells those who do not see it what it is.
pub fn draw(film: &Film<'_>, title: &str) -> Drawing {
    let (lanes, n_left_out) = film.drawn_lanes();
    let column = column_width(film, &lanes);
    let has_loop = film.loop_from().is_some();
    let head = if has_loop { 2.0 * HEAD } else { HEAD };
    let mut canvas =
        Canvas { film, column, head, names: String::new(), body: String::new(), y: head, centres: Vec::new() };
    canvas.axis();
    canvas.turns();
    for lane in &lanes {
        canvas.lane(lane);
    }
    let (links, ends) = canvas.links(&lanes);
    let (height, columns) = (canvas.y + 6.0, film.n_states() as f64 * column + 8.0);
    let name_columns = lanes.iter().map(|lane| width(&lane.name) + indent(lane)).max().unwrap_or(4).clamp(4, 18);
    let names = name_columns as f64 * LETTER + 18.0;
    let html = format!(
        "<div class=\"chart\">\n<svg class=\"names\" aria-hidden=\"true\" viewBox=\"0 0 {names:.0} {height:.0}\" \
         width=\"{names:.0}\" height=\"{height:.0}\">{}</svg>\n\
         <div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{title}\">\
         <svg class=\"lanes\" role=\"img\" aria-label=\"{title}; the table of all steps says the same\" viewBox=\"0 0 \
         {columns:.0} {height:.0}\" width=\"{columns:.0}\" height=\"{height:.0}\">\
         <rect class=\"cursor\" x=\"0\" y=\"0\" width=\"{column:.1}\" height=\"{height:.0}\" rx=\"6\"/>{links}{}</svg>\
         </div>\n</div>\n",
        canvas.names,
        canvas.body + &ends,
        title = escaped(title),
    );
    Drawing { html, column, n_left_out }
}

/// Wide enough for what stands in one column only.
fn column_width(film: &Film<'_>, lanes: &[Lane]) -> f64 {
    let bars = lanes.iter().flat_map(|lane| &lane.bars);
    let needs = bars.map(|bar| (width(&bar.text) as f64 * LETTER + 22.0) / (bar.to - bar.from + 1) as f64);
    let names = film.steps.iter().map(|step| width(film.name(step.process)) as f64 * LETTER + 16.0);
    // A short run fills the page.
    let least = (ROOMY / film.n_states() as f64).clamp(LEAST_COLUMN, 112.0);
    needs.chain(names).fold(least, f64::max).min(MOST_COLUMN)
}

fn indent(lane: &Lane) -> usize {
    if matches!(lane.kind, Kind::Own(..)) { 2 } else { 0 }
}

struct Canvas<'a> {
    film: &'a Film<'a>,
    column: f64,
    /// The height above the lanes.
    head: f64,
    names: String,
    body: String,
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
        let base = self.head - 8.0;
        self.names.push_str(&format!("<text class=\"axis\" x=\"0\" y=\"{base:.0}\">step</text>"));
        for state in 0..n_states {
            let x = self.x(state) + self.column / 2.0;
            let number = self.film.first + state;
            self.body.push_str(&format!("<text class=\"axis\" x=\"{x:.1}\" y=\"{base:.0}\">{number}</text>"));
        }
        let Some(from) = self.film.loop_from() else { return };
        let (left, right) = (self.x(from + 1) + 4.0, self.x(n_states) - 4.0);
        self.body.push_str(&format!(
            "<path class=\"loop\" d=\"M{left:.1} 24 V8 H{right:.1} V24\"/><path class=\"loop-head\" d=\"M{:.1} 18 l4 \
             8 l4 -8 z\"/>",
            left - 4.0
        ));
        let middle = (left + right) / 2.0;
        let words = format!("↺ for ever: back to step {}", self.film.trace.loop_from.unwrap_or(0));
        let room = width(&words) as f64 * LETTER + 14.0;
        let words = if right - left > room + 20.0 { words } else { "↺".to_owned() };
        let room = width(&words) as f64 * LETTER + 14.0;
        self.body.push_str(&format!(
            "<rect class=\"loop-back\" x=\"{:.1}\" y=\"0\" width=\"{room:.1}\" height=\"17\"/>\
             <text class=\"loop-text\" x=\"{middle:.1}\" y=\"13\">{words}</text>",
            middle - room / 2.0
        ));
    }

    /// Whose turns led to the states.
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
        self.names.push_str(&format!("<text class=\"axis\" x=\"0\" y=\"{:.1}\">turn</text>", y + 15.0));
        for bar in &bars {
            self.bar(bar, "turn", [y + 2.0, 20.0]);
        }
        self.y += 28.0;
    }

    fn lane(&mut self, lane: &Lane) {
        let (class, row) = match lane.kind {
            Kind::Process(_) => ("stay", PROCESS_ROW),
            Kind::Own(..) => ("value own", VARIABLE_ROW),
            Kind::Shared(_) => ("value", VARIABLE_ROW),
        };
        let (y, inset) = (self.y, if class == "stay" { 5.0 } else { 3.0 });
        let centre = y + row / 2.0;
        let style = Style::default();
        let name = cut(&lane.name, 18 - indent(lane), &style);
        let kind = if class == "stay" { "process" } else { "variable" };
        self.names.push_str(&format!(
            "<text class=\"{kind}\" x=\"{:.0}\" y=\"{:.1}\">{}</text>",
            indent(lane) as f64 * LETTER,
            centre + 4.0,
            escaped(&name)
        ));
        for bar in &lane.bars {
            self.bar(bar, class, [y + inset, row - 2.0 * inset]);
        }
        if let Kind::Process(process) = lane.kind {
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
        let text = escaped(&cut(&bar.text, letters, &Style::default()));
        let (from, to) = (self.film.first + bar.from, self.film.first + bar.to);
        let when = if from == to { format!("step {from}") } else { format!("steps {from} to {to}") };
        self.body.push_str(&format!(
            "<g class=\"{class}\"><title>{} ({when})</title><rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{room:.1}\" \
             height=\"{height:.1}\" rx=\"5\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\">{text}</text></g>",
            escaped(&bar.text),
            x + 9.0,
            y + height / 2.0 + 4.0,
        ));
    }

    /// The dot of a step, where the process goes on; hollow where it only stands still.
    fn step(&mut self, at: usize, step: &StepView, centre: f64) {
        let x = self.x(at + 1);
        let class = if step.stands_still { "dot still" } else { "dot" };
        let words = format!("step {}: {} {}", self.film.first + at + 1, self.film.name(step.process), step.statement);
        self.body.push_str(&format!(
            "<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{centre:.1}\" r=\"4\"><title>{}</title></circle>",
            escaped(&words)
        ));
    }

    /// Lines from a step to what it changes, dashed to what it only reads, and between context switches.
    fn links(&self, lanes: &[Lane]) -> (String, String) {
        let (mut out, mut ends) = (String::new(), String::new());
        let foot = self.y;
        for (at, step) in self.film.steps.iter().enumerate() {
            let x = self.x(at + 1);
            if at > 0 && self.film.steps[at - 1].process != step.process {
                out.push_str(&format!(
                    "<line class=\"switch\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{:.1}\" y2=\"{foot:.1}\"/>",
                    self.head
                ));
            }
            let centre_of = |wanted: Kind| lanes.iter().position(|lane| lane.kind == wanted).map(|at| self.centres[at]);
            let Some(from) = centre_of(Kind::Process(step.process)) else { continue };
            for (lane, &to) in lanes.iter().zip(&self.centres) {
                let (Kind::Shared(variable) | Kind::Own(_, variable)) = lane.kind else { continue };
                let values = &self.film.variables[variable].values;
                let class = match (values[at] != values[at + 1], self.reads(step, variable)) {
                    (true, _) => "writes",
                    (false, true) => "reads",
                    (false, false) => continue,
                };
                out.push_str(&format!(
                    "<line class=\"{class}\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{from:.1}\" y2=\"{to:.1}\"/>"
                ));
                let tip = match (class, to > from) {
                    ("reads", _) => format!("<circle class=\"read\" cx=\"{x:.1}\" cy=\"{to:.1}\" r=\"3\"/>"),
                    (_, true) => format!("<path class=\"wrote\" d=\"M{:.1} {:.1} h8 l-4 7 z\"/>", x - 4.0, to - 4.0),
                    (_, false) => format!("<path class=\"wrote\" d=\"M{:.1} {:.1} h8 l-4 -7 z\"/>", x - 4.0, to + 4.0),
                };
                ends.push_str(&tip);
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
