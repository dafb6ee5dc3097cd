//! Figures over a parameter as an SVG plot: one line for each property, with a marker of its own.
//!
//! In: lines of points. Out: a figure with axes, a key and what is not shown. The vertical axis is logarithmic where
//! values differ much; an undecided point is hollow. Colour only repeats what markers and dashes say.

use maud::{Markup, html};

use super::table::left_out;
use crate::numbers::count;

/// One line of a plot.
#[derive(Clone, Debug)]
pub struct PlotLine {
    /// What it is.
    pub name: String,
    /// Which colour, marker and dashes it has.
    pub hue: usize,
    /// Its points, in the order of the parameter.
    pub points: Vec<PlotPoint>,
}

/// One point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlotPoint {
    /// The parameter.
    pub x: f64,
    /// The figure.
    pub y: f64,
    /// Whether the question was decided there.
    pub decided: bool,
}

/// More lines are not drawn: those with the largest figures are.
const MOST_LINES: usize = 8;

/// So many colours, markers and kinds of dashes there are.
pub const N_HUES: usize = 8;

const WIDTH: f64 = 460.0;
const HEIGHT: f64 = 250.0;
const LEFT: f64 = 62.0;
const BOTTOM: f64 = 36.0;
const TOP: f64 = 12.0;
const RIGHT: f64 = 14.0;

/// Draws the plot.
pub fn draw(title: &str, parameter: &str, mut lines: Vec<PlotLine>) -> Markup {
    let largest = |line: &PlotLine| line.points.iter().map(|point| point.y).fold(0.0, f64::max);
    lines = merged(lines);
    let n_hidden = lines.len().saturating_sub(MOST_LINES);
    lines.sort_by(|one, other| largest(other).total_cmp(&largest(one)));
    lines.truncate(MOST_LINES);
    let points: Vec<PlotPoint> = lines.iter().flat_map(|line| line.points.iter().copied()).collect();
    if points.is_empty() {
        return Markup::default();
    }
    let scale = Scale::of(&points);
    html! {
        figure.plot {
            figcaption { (title) @if scale.is_log { ", logarithmic" } }
            svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="img"
                aria-label={ (title) " over " (parameter) "; the table has the figures" } {
                (scale.axes(parameter))
                @for line in &lines { (drawn(line, &scale, parameter)) }
            }
            ul.key-list { @for line in &lines { li { (key(line)) } } }
            @if n_hidden > 0 {
                (left_out(format_args!("{n_hidden} more with smaller figures are in the table only")))
            }
        }
    }
}

/// A line with its markers.
fn drawn(line: &PlotLine, scale: &Scale, parameter: &str) -> Markup {
    let nth = line.hue % N_HUES;
    let places = line.points.iter().map(|&point| scale.place(point));
    let path: Vec<String> = places.map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
    html! {
        path class={ "line s" (nth) } d={ "M" (path.join(" L")) } {}
        @for &point in &line.points {
            @let (x, y) = scale.place(point);
            path class={ "marker s" (nth) @if !point.decided { " hollow" } } d=(marker(nth, x, y)) {
                title { (line.name) ": " (figure(point.y)) " at " (parameter) " = " (point.x) }
            }
        }
    }
}

/// What a line looks like, and what it is.
fn key(line: &PlotLine) -> Markup {
    let nth = line.hue % N_HUES;
    html! {
        svg width="34" height="14" aria-hidden="true" {
            path class={ "line s" (nth) } d="M0 7 H34" {}
            path class={ "marker s" (nth) } d=(marker(nth, 17.0, 7.0)) {}
        }
        " " (line.name)
    }
}

/// Lines that are the same become one, with all names.
fn merged(lines: Vec<PlotLine>) -> Vec<PlotLine> {
    let mut out: Vec<PlotLine> = Vec::new();
    for line in lines {
        match out.iter_mut().find(|known| known.points == line.points) {
            Some(known) => known.name = format!("{}, {}", known.name, line.name),
            None => out.push(line),
        }
    }
    out
}

/// How figures become places.
struct Scale {
    x: [f64; 2],
    /// The ends of the vertical axis; their logarithms where it is logarithmic.
    y: [f64; 2],
    is_log: bool,
}

impl Scale {
    fn of(points: &[PlotPoint]) -> Self {
        let fold =
            |values: &mut dyn Iterator<Item = f64>, pick: fn(f64, f64) -> f64, start: f64| values.fold(start, pick);
        let x = [
            fold(&mut points.iter().map(|point| point.x), f64::min, f64::INFINITY),
            fold(&mut points.iter().map(|point| point.x), f64::max, f64::NEG_INFINITY),
        ];
        let most = fold(&mut points.iter().map(|point| point.y), f64::max, 0.0);
        let positive = &mut points.iter().map(|point| point.y).filter(|&y| y > 0.0);
        let least = fold(positive, f64::min, f64::INFINITY);
        let is_log = least.is_finite() && most / least > 20.0;
        let y = if is_log {
            [least.log10().floor(), most.log10().ceil()]
        } else {
            [0.0, nice(if most > 0.0 { most } else { 1.0 })]
        };
        Scale { x, y, is_log }
    }

    fn place(&self, point: PlotPoint) -> (f64, f64) {
        let part = |value: f64, [from, to]: [f64; 2]| if to > from { (value - from) / (to - from) } else { 0.5 };
        let y = if self.is_log { point.y.max(10_f64.powf(self.y[0])).log10() } else { point.y };
        let x = LEFT + part(point.x, self.x) * (WIDTH - LEFT - RIGHT);
        (x, HEIGHT - BOTTOM - part(y, self.y) * (HEIGHT - BOTTOM - TOP))
    }

    fn axes(&self, parameter: &str) -> Markup {
        let ticks: Vec<f64> = if self.is_log {
            let (low, high) = (self.y[0] as i32, self.y[1] as i32);
            let stride = ((high - low) / 6 + 1) as usize;
            (low..=high).step_by(stride).map(|power| 10_f64.powi(power)).collect()
        } else {
            (0..=4).map(|nth| self.y[1] * f64::from(nth) / 4.0).collect()
        };
        let span = (self.x[1] - self.x[0]).max(0.0);
        let stride = (span / 10.0).ceil().max(1.0);
        let steps = (0..=(span / stride) as usize).map(|nth| self.x[0] + nth as f64 * stride);
        html! {
            @for tick in ticks {
                @let (_, y) = self.place(PlotPoint { x: self.x[0], y: tick, decided: true });
                line.grid x1=(LEFT) x2=(WIDTH - RIGHT) y1=(format_args!("{y:.1}")) y2=(format_args!("{y:.1}")) {}
                text.tick-y x=(LEFT - 8.0) y=(format_args!("{:.1}", y + 4.0)) { (figure(tick)) }
            }
            @for tick in steps {
                @let (x, _) = self.place(PlotPoint { x: tick, y: 0.0, decided: true });
                text.tick-x x=(format_args!("{x:.1}")) y=(format_args!("{:.1}", HEIGHT - BOTTOM + 16.0)) { (tick) }
            }
            text class="tick-x name" x=(format_args!("{:.1}", (LEFT + WIDTH - RIGHT) / 2.0))
                y=(format_args!("{:.1}", HEIGHT - 4.0)) { (parameter) }
        }
    }
}

/// The next of 1, 2, 2.5, 5, 10, … that is not smaller.
fn nice(value: f64) -> f64 {
    let power = 10_f64.powf(value.log10().floor());
    let steps = [1.0, 2.0, 2.5, 5.0, 10.0];
    steps.iter().map(|step| step * power).find(|&step| step >= value).unwrap_or(10.0 * power)
}

/// A figure on an axis.
fn figure(value: f64) -> String {
    match value {
        0.0 => "0".to_owned(),
        v if v >= 1e6 => format!("{}M", trimmed(v / 1e6)),
        v if v >= 1.0 && v.fract() == 0.0 => count(v as u64),
        v if v >= 0.001 => trimmed(v),
        v => format!("{}µ", trimmed(v * 1e6)),
    }
}

fn trimmed(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A marker with its centre here; neighbours have different shapes.
fn marker(nth: usize, x: f64, y: f64) -> String {
    let polygon = |corners: &[(f64, f64)]| {
        let corners: Vec<String> = corners.iter().map(|(dx, dy)| format!("{:.1} {:.1}", x + dx, y + dy)).collect();
        format!("M{} Z", corners.join(" L"))
    };
    match nth {
        0 => format!("M{:.1} {y:.1} a4 4 0 1 0 8 0 a4 4 0 1 0 -8 0 Z", x - 4.0),
        1 => polygon(&[(-4.0, -4.0), (4.0, -4.0), (4.0, 4.0), (-4.0, 4.0)]),
        2 => polygon(&[(0.0, -5.0), (5.0, 4.0), (-5.0, 4.0)]),
        3 => polygon(&[(0.0, -5.5), (5.5, 0.0), (0.0, 5.5), (-5.5, 0.0)]),
        4 => polygon(&[(0.0, 5.0), (5.0, -4.0), (-5.0, -4.0)]),
        5 => polygon(&[
            (-5.0, -1.5),
            (-1.5, -1.5),
            (-1.5, -5.0),
            (1.5, -5.0),
            (1.5, -1.5),
            (5.0, -1.5),
            (5.0, 1.5),
            (1.5, 1.5),
            (1.5, 5.0),
            (-1.5, 5.0),
            (-1.5, 1.5),
            (-5.0, 1.5),
        ]),
        6 => polygon(&[(-5.0, -2.0), (5.0, -2.0), (5.0, 2.0), (-5.0, 2.0)]),
        _ => polygon(&[(-2.0, -5.0), (2.0, -5.0), (2.0, 5.0), (-2.0, 5.0)]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(name: &str, figures: &[f64]) -> PlotLine {
        let point = |(at, &y): (usize, &f64)| PlotPoint { x: (at + 2) as f64, y, decided: at != 1 };
        PlotLine { name: name.to_owned(), hue: 0, points: figures.iter().enumerate().map(point).collect() }
    }

    #[test]
    fn points_stay_inside_and_grow_upwards() {
        for figures in [vec![0.0, 0.0, 0.0], vec![1.0, 2.0, 3.0], vec![0.0, 1.0, 1e6], vec![5.0], vec![1e-6, 3e-4]] {
            let points = line("a", &figures).points;
            let scale = Scale::of(&points);
            let places: Vec<(f64, f64)> = points.iter().map(|&point| scale.place(point)).collect();
            for (x, y) in &places {
                assert!(
                    (LEFT..=WIDTH - RIGHT).contains(x) && (TOP - 0.1..=HEIGHT - BOTTOM + 0.1).contains(y),
                    "{x} {y}"
                );
            }
            let falls = |pair: &[(f64, f64)]| pair[1].1 > pair[0].1 + 1e-9;
            assert!(!places.windows(2).any(falls), "{places:?}");
        }
    }

    #[test]
    fn each_line_has_its_marker_a_key_and_a_title_and_many_are_cut() {
        let lines: Vec<PlotLine> = (0..10).map(|nth| line(&format!("p{nth}<"), &[1.0, 2.0 + f64::from(nth)])).collect();
        let html = draw("Time", "N", lines).0;
        assert_eq!(html.matches("<li>").count(), MOST_LINES);
        assert!(html.contains("2 more with smaller figures"), "{html}");
        assert!(html.contains("p9&lt;") && !html.contains("p9<"), "{html}");
        assert!(html.contains("hollow"));
        let markers: Vec<String> = (0..N_HUES).map(|nth| marker(nth, 0.0, 0.0)).collect();
        for (at, one) in markers.iter().enumerate() {
            assert!(!markers[..at].contains(one));
        }
        assert_eq!(draw("Time", "N", Vec::new()).0, "");
        let same = merged(vec![line("a", &[1.0]), line("b", &[2.0]), line("c", &[1.0])]);
        assert_eq!(same.iter().map(|line| line.name.as_str()).collect::<Vec<_>>(), ["a, c", "b"]);
    }

    #[test]
    fn figures_read_well() {
        assert_eq!([0.0, 0.25, 3.0, 1234.0, 2.5e6, 5e-5].map(figure), ["0", "0.25", "3", "1 234", "2.5M", "50µ"]);
        assert_eq!([nice(3.0), nice(0.04), nice(10.0), nice(0.9)], [5.0, 0.05, 10.0, 1.0]);
    }
}
