//! What all texts share: the names of variables, processes and nodes, and places in the source.

use base::{SourceFile, Span};
use model::Model;
use model::fairness::FairnessId;
use model::process::ProcessId;
use model::property::Property;
use model::types::ScalarType;

use crate::flat::{ControlNode, Flat, StepPart};
use crate::names::NameTable;
use crate::term::{NodeNo, VarNo};

/// The names in one text.
#[derive(Clone, Debug)]
pub struct TextNames {
    /// Of the processes.
    pub processes: Vec<String>,
    /// Of the variables for the control location of each process.
    pub control: Vec<String>,
    /// Of the nodes of each process.
    pub nodes: Vec<Vec<String>>,
    /// Whether a process has the node names of its family's first one.
    pub shares_nodes: Vec<bool>,
    /// Of the variables.
    pub vars: Vec<String>,
    /// Of the values of each enumeration.
    pub words: Vec<Vec<String>>,
    /// Of no process.
    pub none: String,
}

impl TextNames {
    /// Gives everything its name.
    pub fn new(model: &Model, flat: &Flat, names: &mut NameTable) -> TextNames {
        let vars = flat.vars.iter().map(|var| names.fresh(&var.display)).collect();
        let processes: Vec<String> = model.processes.iter().map(|process| names.fresh(&process.name)).collect();
        let control = processes.iter().map(|name| names.fresh(&format!("{name}_at"))).collect();
        let words =
            model.enums.iter().map(|words| words.values.iter().map(|word| names.fresh(word)).collect()).collect();
        let none = names.fresh("none");
        let mut nodes: Vec<Vec<String>> = Vec::new();
        let mut shares_nodes = Vec::new();
        for process in model.processes.ids() {
            let family = &model.families[model.processes[process].family];
            let (first, here) = (family.first.index(), &flat.nodes[process.index()]);
            let is_same = process != family.first && same_nodes(&flat.nodes[first], here);
            let all_same = family.processes().all(|other| same_nodes(&flat.nodes[other.index()], here));
            shares_nodes.push(is_same);
            if is_same {
                nodes.push(nodes[first].clone());
                continue;
            }
            let prefix = if all_same { &family.name } else { &model.processes[process].name };
            let named = here.iter().map(|node| names.fresh(&format!("{prefix}_{}", node_name(model, here, node))));
            nodes.push(named.collect());
        }
        TextNames { processes, control, nodes, shares_nodes, vars, words, none }
    }

    /// The name of a variable.
    pub fn var(&self, var: VarNo) -> &str {
        &self.vars[var.index()]
    }

    /// The name of a node.
    pub fn node(&self, process: ProcessId, node: NodeNo) -> &str {
        &self.nodes[process.index()][node.index()]
    }

    /// The name of the variable for the control location of a process.
    pub fn control(&self, process: ProcessId) -> &str {
        &self.control[process.index()]
    }

    /// A constant of a type, by its name where it has one.
    pub fn constant(&self, number: i64, ty: Option<ScalarType>) -> String {
        let none = self.processes.len() as i64;
        match ty {
            Some(ScalarType::Enum(id)) => self.words[id.index()][number as usize].clone(),
            Some(ScalarType::PidOrNone(_) | ScalarType::Lock) if number == none => self.none.clone(),
            _ => number.to_string(),
        }
    }
}

fn same_nodes(one: &base::IdVec<ControlNode>, other: &base::IdVec<ControlNode>) -> bool {
    let key = |node: &ControlNode| (node.place, node.counters.clone(), node.callers.clone());
    one.len() == other.len() && one.iter().zip(other.iter()).all(|(a, b)| key(a) == key(b))
}

/// `trying`, `line_14`, `f_inner_k1`: the label or line, the procedure before it, and the round behind it where there are several.
fn node_name(model: &Model, nodes: &base::IdVec<ControlNode>, node: &ControlNode) -> String {
    let place = &model.places[node.place];
    let mut name = match place.labels.first() {
        Some(label) => label.clone(),
        None if node.is_end => "end".to_string(),
        None if place.name.starts_with(|first: char| first.is_ascii_digit()) => format!("line_{}", place.name),
        None => place.name.clone(),
    };
    if let model::control::TextOwner::Procedure(procedure) = place.scope {
        name = format!("{}_{name}", model.procedures[procedure].name);
    }
    if nodes.iter().filter(|other| other.place == node.place).count() > 1 {
        for (var, value) in &node.counters {
            name += &format!("_{}{}", model.vars[*var].name, crate::flat::number_of(model, *value));
        }
    }
    name
}

/// Where the text of a span begins: `mux_sem.pw:12`.
pub fn line(source: &SourceFile, span: Span) -> u32 {
    source.line_col(span.start).line
}

/// What a step does, in the user's words: `line 8: trying: acquire x`.
pub fn step_words(model: &Model, source: &SourceFile, movers: &[StepPart]) -> String {
    let one = |mover: &StepPart| {
        let action = &model.actions[mover.action];
        let statement = &model.statements[action.statement];
        let label = action.labels.first().map_or(String::new(), |label| format!("{label}: "));
        format!("line {}: {label}{}", line(source, statement.span), one_line(&statement.text))
    };
    movers.iter().map(one).collect::<Vec<_>>().join(" | ")
}

/// A text that fits into a comment of any of the languages.
pub fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").replace("*/", "* /").replace("/*", "/ *").replace('\\', "/")
}

/// A property in the user's words, with its line and what it assumes.
pub fn property_words(model: &Model, source: &SourceFile, property: &Property) -> String {
    let place =
        if property.span.is_empty() { String::new() } else { format!("line {}: ", line(source, property.span)) };
    let keyword = property.kind.keyword();
    let is_named = property.name.starts_with(keyword);
    let shown = if is_named { property.name.clone() } else { format!("{keyword} {}", property.name) };
    let text = if property.text.is_empty() { String::new() } else { format!(": {}", property.text) };
    let set = |set: &Vec<FairnessId>| {
        let names: Vec<&str> = set.iter().map(|&id| model.fairness[id].name.as_str()).collect();
        names.join(", ")
    };
    let under = match &property.under.any_of[..] {
        [only] if only.is_empty() => String::new(),
        sets => format!(" under {}", sets.iter().map(set).collect::<Vec<_>>().join(" or ")),
    };
    format!("{place}{shown}{text}{under}")
}

/// The program and its parameters: `mux_sem, N = 2`.
pub fn title(model: &Model) -> String {
    let parameters = model.numbers().map(|(name, value)| format!(", {name} = {value}"));
    std::iter::once(model.name.clone()).chain(parameters).collect()
}
