//! DOT, for Graphviz: the control of each family and procedure.
//!
//! In: a Model. Out: a drawing with one box for each text, its places as nodes and its actions as edges, in the user's words with
//! their lines. It is made from the Model itself, so a `for` loop is one round with a way back, and recursion is no problem.

use std::collections::BTreeSet;
use std::fmt::Write;

use base::SourceFile;
use model::Model;
use model::control::{Action, ActionKind, LoopId, Next, PlaceId, TextOwner};

use crate::layout::{line, title};

/// The drawing.
pub fn text(model: &Model, source: &SourceFile) -> String {
    let mut out = format!("// made from {} by piecewise export --to dot\n", source.name().replace('\n', " "));
    let _ = writeln!(out, "digraph {} {{", quoted(&model.name));
    let _ = writeln!(out, "  label={};\n  node [shape=box, style=rounded];", quoted(&title(model)));
    let families = model.families.entries().map(|(id, family)| {
        let index = family.index.as_ref().map_or(String::new(), |range| {
            format!("[{} in {}..={}]", range.name, range.first, range.first + range.count as i64 - 1)
        });
        (TextOwner::Family(id), format!("process {}{index}", family.name), &family.entry, Some(family.end))
    });
    let procedures = model
        .procedures
        .entries()
        .map(|(id, one)| (TextOwner::Procedure(id), format!("proc {}", one.name), &one.entry, None));
    for (at, (scope, name, entry, end)) in families.chain(procedures).enumerate() {
        let _ = writeln!(out, "  subgraph cluster_{at} {{\n    label={};", quoted(&name));
        let starts = reached(model, entry);
        for (id, place) in model.places.entries().filter(|(_, place)| place.scope == scope) {
            let is_entered = starts.contains(&id) || !place.actions.is_empty() || is_reached(model, id);
            if !is_entered {
                continue;
            }
            let shape = match () {
                () if starts.contains(&id) => ", penwidth=2",
                () if end == Some(id) => ", shape=doublecircle",
                () => "",
            };
            let name = if end == Some(id) && place.labels.is_empty() { "end" } else { &place.name };
            let _ = writeln!(out, "    {} [label={}{shape}];", node(id), quoted(name));
        }
        for action in model.actions.iter().filter(|action| action.scope == scope) {
            draw(model, source, action, &mut out);
        }
        let _ = writeln!(out, "  }}");
    }
    out + "}\n"
}

fn draw(model: &Model, source: &SourceFile, action: &Action, out: &mut String) {
    let statement = &model.statements[action.statement];
    let guard = action.guard.as_ref().map_or(String::new(), |guard| {
        let text = model::print::expr(model, guard);
        // A test is in the statement already; what is left is its outcome.
        format!("[{text}]\n")
    });
    let label = quoted(&format!("{guard}{}\nline {}", statement.text, line(source, statement.span)));
    if let ActionKind::Return { .. } = action.kind {
        let back = format!("return_{}_{}", action.source.index(), action.statement.index());
        let _ = writeln!(out, "    {back} [label=\"return\", shape=plaintext];");
        let _ = writeln!(out, "    {} -> {back} [label={label}];", node(action.source));
        return;
    }
    for target in reached(model, &action.next) {
        let _ = writeln!(out, "    {} -> {} [label={label}];", node(action.source), node(target));
    }
}

fn node(place: PlaceId) -> String {
    format!("place_{}", place.index())
}

fn is_reached(model: &Model, place: PlaceId) -> bool {
    model.actions.iter().any(|action| reached(model, &action.next).contains(&place))
}

/// The places to which control can go, whatever the bounds of loops.
fn reached(model: &Model, next: &Next) -> BTreeSet<PlaceId> {
    let (mut found, mut loops) = (BTreeSet::new(), BTreeSet::<LoopId>::new());
    let mut open = vec![next];
    while let Some(next) = open.pop() {
        match next {
            Next::To(place) => {
                found.insert(*place);
            }
            Next::Enter { enter: round, skip: after } | Next::Again { again: round, done: after } => {
                open.push(after);
                if loops.insert(*round) {
                    open.push(&model.loops[*round].body);
                }
            }
            Next::Leave { then, .. } => open.push(then),
        }
    }
    found
}

/// A text between quotes, as Graphviz reads it.
fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("\"{escaped}\"")
}
