//! What `graph` says: the sizes of local state graphs, or a drawing for Graphviz.

use std::collections::BTreeMap;

use base::SourceFile;
use engine::graph::{Drawing, DrawnState, LocalGraph, LocalGraphs};
use explain::names::parameters_with_origin;
use model::Model;
use model::process::ProcessId;
use schemars::{JsonSchema, Schema, schema_for};
use serde::Serialize;

use crate::document::{Reason, Tool};
use crate::json;
use crate::numbers::{bytes, count, duration};
use crate::style::{Ink, Mark, Style};
use crate::text::{clean, pad, pad_left, spread, width};

/// Local state graphs, and where they come from.
#[derive(Clone, Copy, Debug)]
pub struct Graphs<'a> {
    /// The text.
    pub source: &'a SourceFile,
    /// The program.
    pub model: &'a Model,
    /// How they were found.
    pub method: &'a str,
    /// The processes to show.
    pub shown: &'a [ProcessId],
    /// The graphs.
    pub found: &'a LocalGraphs,
}

impl Graphs<'_> {
    fn graphs(&self) -> impl Iterator<Item = &LocalGraph> {
        self.found.graphs.iter().filter(|graph| self.shown.contains(&graph.process))
    }

    fn name(&self, process: ProcessId) -> &str {
        &self.model.processes[process].name
    }
}

/// The sizes for people.
pub fn text(graphs: &Graphs<'_>, style: &Style) -> String {
    let least = parameters_with_origin(graphs.model);
    let name = clean(&graphs.model.name);
    let left = if least.is_empty() { name.clone() } else { format!("{name}  {least}") };
    let head = spread(&left, &clean(graphs.source.name()), style.width.min(80));
    let mut out = head.replacen(&name, &style.paint(Ink::Strong, &name), 1) + "\n";
    let found = graphs.found;
    let what = match graphs.method {
        "mono" => "local states of the whole product: exactly what is reachable",
        _ => "local states, found process by process: all that is reachable, maybe more",
    };
    out.push_str(&match &found.stopped {
        None => style.paint(Ink::Good, &format!("{} complete: {what}", style.mark(Mark::Holds))),
        Some(reason) => style
            .paint(Ink::Doubt, &format!("{} not complete: {}", style.mark(Mark::Unknown), clean(&reason.to_string()))),
    });
    out.push('\n');
    let rows: Vec<[String; 3]> = std::iter::once(["process", "states", "transitions"].map(String::from))
        .chain(
            graphs
                .graphs()
                .map(|graph| [clean(graphs.name(graph.process)), count(graph.n_states), count(graph.n_transitions)]),
        )
        .collect();
    let columns: Vec<usize> = (0..3).map(|at| rows.iter().map(|row| width(&row[at])).max().unwrap_or(0)).collect();
    for [process, states, transitions] in &rows {
        let (states, transitions) = (pad_left(states, columns[1]), pad_left(transitions, columns[2]));
        out.push_str(&format!("  {}  {states}  {transitions}\n", pad(process, columns[0])));
    }
    let mut facts = vec![format!("method {}", graphs.method), duration(found.time), bytes(found.peak_memory_bytes)];
    if let Some(pairs) = found.joint_states {
        facts.insert(1, format!("{} joint states of two processes", count(pairs)));
    }
    let facts = facts.join(&format!(" {} ", style.mark(Mark::Dot)));
    out.push_str(&format!("  {}\n", style.paint(Ink::Dim, &facts)));
    out
}

/// The name of the document's shape.
pub const SCHEMA: &str = "piecewise-graph/1";

/// The JSON schema of the document.
pub fn json_schema() -> Schema {
    schema_for!(GraphDocument)
}

/// Everything that came of a call.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct GraphDocument {
    /// `piecewise-graph/1`.
    pub schema: String,
    /// The exit status of the call: 0 the graphs are complete, 2 wrong input, 3 a limit was reached, 4 an internal error.
    pub status: u8,
    /// Who wrote it.
    pub tool: Tool,
    /// What is wrong with the call or the program; empty where it could be done.
    pub errors: Vec<String>,
    /// The file, as the call names it; null, as all that follows, where the call could not be done.
    pub model: Option<String>,
    /// The parameters of the instance.
    pub parameters: Option<BTreeMap<String, i64>>,
    /// How the graphs were found.
    pub method: Option<String>,
    /// The graphs.
    pub processes: Option<Vec<ProcessGraph>>,
    /// How many joint states of two processes were seen, where the method looks at such.
    pub joint_states: Option<u64>,
    /// Whether the graphs have everything reachable.
    pub complete: Option<bool>,
    /// Why not.
    pub reason: Option<Reason>,
    /// How long it took.
    pub seconds: Option<f64>,
    /// The most memory that the method's data took.
    pub peak_memory_bytes: Option<u64>,
}

/// The local state graph of a process.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ProcessGraph {
    /// The process.
    pub name: String,
    /// Its local states.
    pub states: u64,
    /// The transitions between them.
    pub transitions: u64,
}

/// The document of `graph --format json`, whose call ends with this status.
pub fn document(graphs: &Graphs<'_>, status: u8) -> GraphDocument {
    let found = graphs.found;
    let process = |graph: &LocalGraph| ProcessGraph {
        name: graphs.name(graph.process).to_owned(),
        states: graph.n_states,
        transitions: graph.n_transitions,
    };
    GraphDocument {
        model: Some(graphs.source.name().to_owned()),
        parameters: Some(json::parameter_map(graphs.model)),
        method: Some(graphs.method.to_owned()),
        processes: Some(graphs.graphs().map(process).collect()),
        joint_states: found.joint_states,
        complete: Some(found.stopped.is_none()),
        reason: found.stopped.as_ref().map(json::reason),
        seconds: Some(found.time.as_secs_f64()),
        peak_memory_bytes: Some(found.peak_memory_bytes),
        ..failed(&[], status)
    }
}

/// The document of a call that could not be done.
pub fn failed(errors: &[String], status: u8) -> GraphDocument {
    GraphDocument {
        schema: SCHEMA.to_owned(),
        status,
        tool: json::tool(),
        errors: errors.to_vec(),
        model: None,
        parameters: None,
        method: None,
        processes: None,
        joint_states: None,
        complete: None,
        reason: None,
        seconds: None,
        peak_memory_bytes: None,
    }
}

/// The graphs for Graphviz, one below the other: own steps are drawn through, those of others dashed.
pub fn dot(graphs: &Graphs<'_>) -> String {
    let mut out = format!("digraph {} {{\n", quoted(&graphs.model.name));
    if let Some(reason) = &graphs.found.stopped {
        out.push_str(&format!("  // not complete: {}\n", clean(&reason.to_string())));
    }
    out.push_str("  node [shape=box, style=rounded];\n");
    for graph in graphs.graphs() {
        let Some(drawing) = &graph.drawing else { continue };
        let at = graph.process.index();
        out.push_str(&format!("  subgraph cluster_{at} {{\n"));
        out.push_str(&format!("    label={};\n", quoted(graphs.name(graph.process))));
        draw(graphs, graph.process, drawing, &mut out);
        out.push_str("  }\n");
    }
    out.push_str("}\n");
    out
}

fn draw(graphs: &Graphs<'_>, process: ProcessId, drawing: &Drawing, out: &mut String) {
    let node = |state: u32| format!("p{}s{state}", process.index());
    for (state, drawn) in drawing.states.iter().enumerate() {
        let start = if state < drawing.n_initial { ", penwidth=2" } else { "" };
        out.push_str(&format!("    {} [label={}{start}];\n", node(state as u32), quoted(&label(drawn))));
    }
    for edge in &drawing.edges {
        let is_own = edge.movers.contains(&process);
        let names: Vec<&str> = edge.movers.iter().map(|&mover| graphs.name(mover)).collect();
        let who = if is_own && edge.movers.len() == 1 { String::new() } else { format!("{}: ", names.join(", ")) };
        let text = quoted(&format!("{who}{}", clean(&edge.text)));
        let style = if is_own { "" } else { ", style=dashed" };
        out.push_str(&format!("    {} -> {} [label={text}{style}];\n", node(edge.from), node(edge.to)));
    }
}

fn label(state: &DrawnState) -> String {
    let cells = state.cells.iter().map(|(name, value)| format!("{name} = {value}"));
    std::iter::once(state.place.clone()).chain(cells).collect::<Vec<String>>().join("\n")
}

/// A text between quotes, as Graphviz reads it.
fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("\"{escaped}\"")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use base::StopReason;
    use engine::graph::DrawnEdge;

    use super::*;
    use crate::testing::philosophers;

    fn found(stopped: Option<StopReason>) -> LocalGraphs {
        let state = |place: &str| DrawnState { place: place.into(), cells: vec![("fork[0]".into(), "none".into())] };
        let edge = |mover: usize, text: &str| DrawnEdge {
            from: 0,
            to: 1,
            movers: vec![ProcessId::new(mover)],
            text: text.into(),
        };
        let edges = vec![edge(0, "acquire \"it\""), edge(1, "release")];
        let drawing = Drawing { states: vec![state("think"), state("half")], edges, n_initial: 1 };
        let graph = |at: usize| LocalGraph {
            process: ProcessId::new(at),
            n_states: 12_345,
            n_transitions: 3,
            drawing: (at == 0).then(|| drawing.clone()),
        };
        LocalGraphs {
            graphs: (0..3).map(graph).collect(),
            stopped,
            joint_states: Some(81),
            time: Duration::from_millis(20),
            peak_memory_bytes: 5000,
        }
    }

    #[test]
    fn sizes_for_people_and_scripts_and_a_drawing() {
        let run = philosophers(3);
        let all: Vec<ProcessId> = run.model.processes.ids().collect();
        let (whole, part) = (found(None), found(Some(StopReason::Cancelled)));
        let graphs = Graphs { source: &run.source, model: &run.model, method: "ls3", shown: &all, found: &whole };
        let whole = document(&graphs, 0);
        assert_eq!((&whole.schema[..], whole.complete), ("piecewise-graph/1", Some(true)));
        assert_eq!(whole.processes.map(|all| all.len()), Some(3));
        let stopped = Graphs { shown: &all[..1], found: &part, ..graphs };
        assert_eq!(document(&stopped, 3).complete, Some(false));
        let style = Style::default();
        crate::testing::assert_shown(
            "graph__sizes_for_people_and_scripts_and_a_drawing",
            &format!("{}\n{}\n{}", text(&graphs, &style), text(&stopped, &style), dot(&graphs)),
        );
    }
}
