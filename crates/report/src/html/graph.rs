//! Local state graphs on a page: a drawing of each that is small, one for processes of a family with equal graphs, and a
//! table that says the same.

use engine::graph::{Drawing, DrawnState, LocalGraph, LocalGraphs};
use explain::proof::story::{Picture, ViewGraph};
use maud::{Markup, html};
use model::Model;
use model::process::ProcessId;
use model::variable::{VariableLook, element_name};

use super::MOST_STATES_DRAWN;
use super::escape::code;
use super::layout::{self, Diagram, Placement};
use super::table::{folded, heads, left_out, row, table, wide};
use crate::human::trace::group_names;
use crate::numbers::counted;
use crate::style::Style;
use crate::text::{cut, width};

const LETTER: f64 = 7.0;
const ROW: f64 = 16.0;
/// More variables of a state are not written into its node.
const MOST_CELLS: usize = 5;
/// Graphs with more edges have no words on them.
const MOST_WORDS: usize = 60;
/// Longer words are cut.
const LONGEST: usize = 26;

/// An edge of the drawing: all transitions between two states by the process itself, or all by others.
#[derive(Debug, PartialEq, Eq)]
struct Arrow {
    from: usize,
    to: usize,
    is_own: bool,
    texts: Vec<String>,
    movers: Vec<ProcessId>,
}

/// The graphs of a run, as HTML; nothing where none is small enough.
pub fn html(model: &Model, method: &str, found: &LocalGraphs) -> Markup {
    let mut shown: Vec<(&LocalGraph, Vec<ProcessId>)> = Vec::new();
    for graph in &found.graphs {
        let family = model.processes[graph.process].family;
        let alike = |other: &&mut (&LocalGraph, Vec<ProcessId>)| {
            let first = other.0;
            model.processes[first.process].family == family
                && [first.n_states, first.n_transitions] == [graph.n_states, graph.n_transitions]
        };
        match shown.iter_mut().find(alike) {
            Some((_, processes)) => processes.push(graph.process),
            None => shown.push((graph, vec![graph.process])),
        }
    }
    let is_drawn = |graph: &LocalGraph| graph.drawing.is_some() && graph.n_states <= MOST_STATES_DRAWN;
    if !shown.iter().any(|(graph, _)| is_drawn(graph)) {
        return Markup::default();
    }
    let what = match (method, &found.stopped) {
        (_, Some(_)) => "The search for them was stopped; there may be more.",
        ("mono", None) => "They are exactly what is reachable.",
        _ => "They were found process by process: all that is reachable, maybe more.",
    };
    let too_large = shown.iter().filter(|(graph, _)| graph.n_states > MOST_STATES_DRAWN);
    let too_large: Vec<String> = too_large
        .map(|(graph, processes)| {
            format!("{} ({})", group_names(model, processes), counted(graph.n_states, "state", "states"))
        })
        .collect();
    html! {
        p {
            "What each process can see happen: where it stands, its own variables, and the shared ones that it mentions. "
            (what)
        }
        @for (graph, processes) in &shown {
            @if let (true, Some(drawing)) = (is_drawn(graph), &graph.drawing) { (one(model, processes, drawing)) }
        }
        @if !too_large.is_empty() { (left_out(format_args!("Too large to be drawn: {}.", too_large.join(", ")))) }
        (legend("own step"))
    }
}

fn legend(own: &str) -> Markup {
    html! {
        p.legend {
            span { i class="key own" {} (own) }
            span { i class="key other" {} "step of another process" }
            span { i class="key start" {} "start" }
        }
    }
}

fn one(model: &Model, processes: &[ProcessId], drawing: &Drawing) -> Markup {
    let names = group_names(model, processes);
    let edges = edges(processes[0], drawing);
    let nodes: Vec<Vec<String>> = drawing.states.iter().map(|state| rows(state, explanation(model, state))).collect();
    html! {
        h4 { (names) @if processes.len() > 1 { " " span.aside { "alike" } } }
        p.dim {
            (counted(drawing.states.len() as u64, "local state", "local states")) ", "
            (counted(drawing.edges.len() as u64, "transition", "transitions"))
        }
        (picture(
            [&format!("local states of {names}"), &format!("local state graph of {names}; the table says the same")],
            (&nodes, &edges),
            drawing.n_initial,
        ))
        (transitions(model, drawing, &edges))
    }
}

/// The views of a proof for every size: the reachable views of few processes and all that is shared, and the steps that lead from one to the next.
pub fn of_views(found: &ViewGraph) -> Markup {
    let drawing = &found.drawing;
    let edges = edges(found.process, drawing);
    let plain = |state: &DrawnState| state.cells.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    let nodes: Vec<Vec<String>> = drawing.states.iter().map(|state| rows(state, plain(state))).collect();
    let name = format!("views of {}", found.whom);
    let unmet = match found.n_unmet {
        0 => String::new(),
        1 => " One view was not met at this size.".to_owned(),
        more => format!(" {more} views were not met at this size."),
    };
    let line = |edge: &Arrow| {
        let mover = if edge.is_own { "itself" } else { "another" };
        row(nodes[edge.from].join(", "), &[&mover, &code(&edge.texts.join(", ")), &nodes[edge.to].join(", ")])
    };
    let shown =
        table(None, heads(&["from", "who moves", "step", "to"]), html! { @for edge in &edges { (line(edge)) } });
    html! {
        h4 { "What " (found.whom) " can look like" }
        p.dim {
            (counted(drawing.states.len() as u64, "view", "views"))
            ", whatever the size is; the steps are those of " (found.size) " processes." (unmet)
        }
        (picture([&name, &name], (&nodes, &edges), drawing.n_initial))
        (legend("step of a process that is seen"))
        (folded("The graph as a table", wide("transitions", shown)))
    }
}

/// Which process waits for which, as boxes and arrows.
pub fn of_story(waits: &Picture) -> Markup {
    let nodes: Vec<Vec<String>> = { waits.boxes.iter() }
        .map(|rows| rows.iter().map(|row| cut(row, LONGEST + 8, &Style::default())).collect())
        .collect();
    let edge = |(from, to, text): &(usize, usize, String)| Arrow {
        from: *from,
        to: *to,
        is_own: !waits.ends.contains(to),
        texts: vec![text.clone()],
        movers: Vec::new(),
    };
    let edges: Vec<Arrow> = waits.arrows.iter().map(edge).collect();
    picture(["who waits for whom"; 2], (&nodes, &edges), 1)
}

/// Boxes and arrows in a box that scrolls; the titles are those of the box and of the drawing.
fn picture(titles: [&str; 2], (nodes, edges): (&[Vec<String>], &[Arrow]), n_initial: usize) -> Markup {
    let sizes = nodes.iter().map(|rows| {
        let letters = rows.iter().map(|row| width(row)).max().unwrap_or(1);
        [letters as f64 * LETTER + 22.0, rows.len() as f64 * ROW + 12.0]
    });
    let graph = Diagram {
        sizes: sizes.collect(),
        edges: edges.iter().map(|edge| [edge.from, edge.to]).collect(),
        n_initial: n_initial.max(1),
    };
    let layout = layout::place(&graph);
    let [columns, height] = layout.size.map(|length| format!("{length:.0}"));
    html! {
        div class="scroll graph" tabindex="0" role="region" aria-label=(titles[0]) {
            svg.states role="img" aria-label=(titles[1]) viewBox={ "0 0 " (columns) " " (height) }
                width=(columns) height=(height) { (draw(&graph, &layout, (nodes, edges), n_initial)) }
        }
    }
}

/// What a process sees, as the program says it: sets as sets, and nothing that a step chooses and forgets.
fn explanation(model: &Model, state: &DrawnState) -> Vec<String> {
    let is_of = |name: &str, var: &str| name == var || name.strip_suffix(var).is_some_and(|owner| owner.ends_with('.'));
    let look_of = |name: &str| {
        let var = model.vars.iter().find(|var| is_of(name.split('[').next().unwrap_or(name), &var.name));
        var.or_else(|| model.vars.iter().find(|var| is_of(name, &var.name))).map(|var| &var.look)
    };
    let mut out: Vec<String> = Vec::new();
    let mut set: Option<(&str, Vec<String>)> = None;
    let close = |set: Option<(&str, Vec<String>)>, out: &mut Vec<String>| {
        out.extend(set.map(|(name, elements)| format!("{name} = {{{}}}", elements.join(", "))));
    };
    for (name, value) in &state.cells {
        let (base, index) = name.strip_suffix(']').and_then(|name| name.rsplit_once('[')).unwrap_or((name, ""));
        let look = look_of(name).or_else(|| look_of(base));
        match (look, index.parse::<usize>()) {
            (Some(VariableLook::Hidden), _) => {}
            (Some(VariableLook::Set(names)), Ok(at)) => {
                if set.as_ref().is_none_or(|(known, _)| *known != base) {
                    close(set.take(), &mut out);
                    set = Some((base, Vec::new()));
                }
                if let Some((_, elements)) = set.as_mut().filter(|_| value == "true") {
                    elements.push(element_name(names, at));
                }
            }
            _ => {
                close(set.take(), &mut out);
                out.push(format!("{name} = {value}"));
            }
        }
    }
    close(set, &mut out);
    out
}

fn rows(state: &DrawnState, cells: Vec<String>) -> Vec<String> {
    let mut rows: Vec<String> = std::iter::once(state.place.clone()).chain(cells).collect();
    if rows.len() > MOST_CELLS + 1 {
        rows.truncate(MOST_CELLS);
        rows.push("…".to_owned());
    }
    rows.iter().map(|row| cut(row, 30, &Style::default())).collect()
}

/// All transitions between the same states by the process itself together, and all by others.
fn edges(process: ProcessId, drawing: &Drawing) -> Vec<Arrow> {
    let mut out: Vec<Arrow> = Vec::new();
    for drawn in &drawing.edges {
        let (from, to) = (drawn.from as usize, drawn.to as usize);
        let is_own = drawn.movers.contains(&process);
        let known = out.iter_mut().find(|edge| (edge.from, edge.to, edge.is_own) == (from, to, is_own));
        let edge = match known {
            Some(edge) => edge,
            None => {
                out.push(Arrow { from, to, is_own, texts: Vec::new(), movers: Vec::new() });
                out.last_mut().expect("it was just put there")
            }
        };
        if !edge.texts.contains(&drawn.text) {
            edge.texts.push(drawn.text.clone());
        }
        for mover in &drawn.movers {
            if !edge.movers.contains(mover) {
                edge.movers.push(*mover);
            }
        }
    }
    out
}

fn draw(graph: &Diagram, layout: &Placement, (nodes, edges): (&[Vec<String>], &[Arrow]), n_initial: usize) -> Markup {
    let mut words = Words { taken: boxes(graph, layout), placed: Vec::new() };
    let mut arrows = Vec::new();
    for (edge, points) in edges.iter().zip(&layout.edges) {
        let class = if edge.is_own { "edge own" } else { "edge other" };
        let text = edge.texts.join(", ");
        let (path, middles) = curve(graph, layout, [edge.from, edge.to], points);
        arrows.push(html! { path class=(class) d=(path) marker-end="url(#tip)" { title { (text) } } });
        if edges.len() <= MOST_WORDS {
            words.put(&cut(&text, LONGEST, &Style::default()), &middles, edge.is_own);
        }
    }
    html! {
        @for arrow in &arrows { (arrow) }
        @for (at, (rows, &[x, y])) in nodes.iter().zip(&layout.nodes).enumerate() {
            (node(rows, [x, y], graph.sizes[at], at < n_initial))
        }
        @for word in &words.placed { (word) }
    }
}

fn node(rows: &[String], [x, y]: [f64; 2], [w, h]: [f64; 2], is_initial: bool) -> Markup {
    let (left, top) = (x - w / 2.0, y - h / 2.0);
    html! {
        g class=(if is_initial { "node start" } else { "node" }) {
            rect x=(tenths(left)) y=(tenths(top)) width=(tenths(w)) height=(tenths(h)) rx="7" {}
            @for (nth, row) in rows.iter().enumerate() {
                @let line = top + 6.0 + ROW * (nth as f64 + 0.75);
                text class=(if nth == 0 { "place" } else { "cell" }) x=(tenths(x)) y=(tenths(line)) { (row) }
            }
        }
    }
}

/// A length of a drawing.
fn tenths(length: f64) -> String {
    format!("{length:.1}")
}

fn boxes(graph: &Diagram, layout: &Placement) -> Vec<[f64; 4]> {
    let nodes = layout.nodes.iter().zip(&graph.sizes);
    nodes.map(|(&[x, y], &[w, h])| [x - w / 2.0, y - h / 2.0, x + w / 2.0, y + h / 2.0]).collect()
}

/// Words beside edges, where there is room.
struct Words {
    /// What is taken: left, top, right, bottom.
    taken: Vec<[f64; 4]>,
    placed: Vec<Markup>,
}

impl Words {
    fn put(&mut self, text: &str, places: &[[f64; 2]], is_own: bool) {
        let half = width(text) as f64 * 6.4 / 2.0 + 2.0;
        let around = |&[x, y]: &[f64; 2]| [x - half, y - 8.0, x + half, y + 7.0];
        let is_free = |one: &[f64; 4]| {
            !self.taken.iter().any(|two| one[0] < two[2] && two[0] < one[2] && one[1] < two[3] && two[1] < one[3])
        };
        let Some(at) = places.iter().find(|place| place[0] > half && is_free(&around(place))) else { return };
        self.taken.push(around(at));
        let class = if is_own { "on own" } else { "on" };
        self.placed.push(html! { text class=(class) x=(tenths(at[0])) y=(tenths(at[1] + 4.0)) { (text) } });
    }
}

/// A smooth way through the points, and places on it for words, the best first.
fn curve(graph: &Diagram, layout: &Placement, [from, to]: [usize; 2], points: &[[f64; 2]]) -> (String, Vec<[f64; 2]>) {
    if from == to {
        let ([x, y], [w, _]) = (layout.nodes[from], graph.sizes[from]);
        let x = x + w / 2.0;
        let path = format!(
            "M{x:.1} {:.1} C{:.1} {:.1} {:.1} {:.1} {x:.1} {:.1}",
            y - 6.0,
            x + 24.0,
            y - 16.0,
            x + 24.0,
            y + 16.0,
            y + 6.0
        );
        return (path, vec![[x + 40.0, y], [x + 30.0, y - 18.0]]);
    }
    let mut path = format!("M{:.1} {:.1}", points[0][0], points[0][1]);
    let mut middles = Vec::new();
    let layer = layout.nodes[from][1];
    let is_within = (layout.nodes[to][1] - layer).abs() < 1.0;
    for pair in points.windows(2) {
        let ([x, y], [u, v]) = (pair[0], pair[1]);
        // Within a layer the edge hangs below it, and below the tallest of its nodes.
        let ends = match is_within {
            true => [foot(graph, layout, layer) + 34.0; 2],
            false => [(y + v) / 2.0; 2],
        };
        path.push_str(&format!(" C{x:.1} {:.1} {u:.1} {:.1} {u:.1} {v:.1}", ends[0], ends[1]));
        for part in [0.5_f64, 0.36, 0.64, 0.24, 0.76] {
            let rest = 1.0 - part;
            let bezier = |a: f64, b: f64, c: f64, d: f64| {
                rest.powi(3) * a + 3.0 * rest * rest * part * b + 3.0 * rest * part * part * c + part.powi(3) * d
            };
            middles.push([bezier(x, x, u, u), bezier(y, ends[0], ends[1], v)]);
        }
    }
    (path, middles)
}

/// Where the tallest node of a layer ends, whose nodes have their middle at this height.
fn foot(graph: &Diagram, layout: &Placement, layer: f64) -> f64 {
    let nodes = layout.nodes.iter().zip(&graph.sizes).filter(|([_, y], _)| (y - layer).abs() < 1.0);
    nodes.map(|([_, y], [_, height])| y + height / 2.0).fold(layer, f64::max)
}

fn transitions(model: &Model, drawing: &Drawing, edges: &[Arrow]) -> Markup {
    let state = |at: usize| {
        let drawn = &drawing.states[at];
        std::iter::once(drawn.place.clone()).chain(explanation(model, drawn)).collect::<Vec<_>>().join(", ")
    };
    let line = |edge: &Arrow| {
        let movers = group_names(model, &edge.movers);
        row(state(edge.from), &[&movers, &code(&edge.texts.join(", ")), &state(edge.to)])
    };
    let rows = html! { @for edge in edges { (line(edge)) } };
    folded("The graph as a table", wide("transitions", table(None, heads(&["from", "who moves", "step", "to"]), rows)))
}

#[cfg(test)]
mod tests {
    use engine::graph::DrawnEdge;

    use super::*;
    use crate::testing::philosophers;

    #[test]
    fn transitions_between_the_same_states_are_one_edge_of_each_kind() {
        let run = philosophers(3);
        let process = ProcessId::new(0);
        let edge = |mover: usize, text: &str| DrawnEdge {
            from: 0,
            to: 1,
            movers: vec![ProcessId::new(mover)],
            text: text.to_owned(),
        };
        let state =
            |place: &str| DrawnState { place: place.to_owned(), cells: vec![("a<b".to_owned(), "\"1\"".to_owned())] };
        let drawing = Drawing {
            states: vec![state("<think>"), state("half")],
            edges: vec![edge(0, "take"), edge(1, "give"), edge(2, "give"), edge(0, "grab")],
            n_initial: 1,
        };
        let merged = edges(process, &drawing);
        assert_eq!(merged.len(), 2);
        assert_eq!(merged[0].texts, ["take", "grab"]);
        let html = one(&run.model, &[process, ProcessId::new(1)], &drawing).0;
        for part in
            ["&lt;think&gt;", "a&lt;b = &quot;1&quot;", "take, grab", "Phil[0], Phil[1]", "edge other", "node start"]
        {
            assert!(html.contains(part), "no {part} in {html}");
        }
        assert!(!html.contains("<think>"));
    }

    /// Sets are told as sets, of processes too, and what a step chooses and forgets is not told.
    #[test]
    fn local_states_are_told_as_the_program_is_written() {
        let text = "program p {
            enum Way { north, east }
            shared calls: set of 0..<3;
            process P[i in 0..<2] {
                local ways: set of Way;
                loop { some k in 0..<3 where !(k in calls) { insert calls(k); } insert ways(east); }
            }
        }";
        let model = lang::load(&base::SourceFile::new("p.pw", text), &[]).unwrap().model;
        let hidden = model.vars.iter().find(|var| var.look == VariableLook::Hidden).unwrap().name.clone();
        let cell = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let cells = vec![
            cell("calls[0]", "true"),
            cell("calls[1]", "false"),
            cell("calls[2]", "true"),
            cell("P[0].ways[0]", "false"),
            cell("P[0].ways[1]", "true"),
            cell(&format!("P[0].{hidden}"), "0"),
        ];
        let state = DrawnState { place: "start".to_owned(), cells };
        assert_eq!(explanation(&model, &state), ["calls = {0, 2}", "P[0].ways = {east}"]);
    }

    #[test]
    fn who_waits_for_whom_is_boxes_and_arrows_and_no_markup() {
        let picture = Picture {
            boxes: vec![vec!["P[i]".to_owned(), "at <wait>".to_owned()], vec!["moves on".to_owned()]],
            arrows: vec![(0, 1, "x < 1".to_owned()), (0, 0, "i + 1".to_owned())],
            ends: vec![1],
        };
        let html = of_story(&picture).0;
        for part in ["at &lt;wait&gt;", "x &lt; 1", "moves on", "i + 1", "node start", "edge other", "edge own"] {
            assert!(html.contains(part), "no {part} in {html}");
        }
        assert!(!html.contains("<wait>"));
        assert_eq!(html.matches("class=\"node").count(), 2);
    }

    #[test]
    fn an_edge_within_a_layer_hangs_below_its_tallest_node() {
        let graph = Diagram {
            sizes: vec![[60.0, 30.0], [60.0, 80.0], [60.0, 50.0]],
            edges: vec![[0, 1], [0, 2], [1, 2]],
            n_initial: 1,
        };
        let layout = layout::place(&graph);
        let (_, middles) = curve(&graph, &layout, [1, 2], &layout.edges[2]);
        let [_, lowest] = middles[0];
        assert!(lowest > layout.nodes[1][1] + 40.0 && lowest < layout.size[1], "{middles:?} in {layout:?}");
    }

    #[test]
    fn words_keep_apart_from_nodes_and_from_each_other() {
        let mut words = Words { taken: vec![[0.0, 0.0, 100.0, 30.0]], placed: Vec::new() };
        words.put("inside", &[[50.0, 10.0]], true);
        assert!(words.placed.is_empty());
        words.put("beside", &[[50.0, 10.0], [50.0, 60.0]], true);
        words.put("again", &[[52.0, 62.0]], true);
        let [only] = &words.placed[..] else { panic!("one of them has room") };
        assert!(only.0.contains("beside"));
    }
}
