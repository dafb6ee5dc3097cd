//! Nodes: everywhere control of a process can be, along the text and through calls.
//!
//! In: a Model. Out: the nodes of each process and where each starts. The method is a search along the text, whatever the data. Calls are
//! written out, so a procedure that may call itself has no end of nodes, and is refused.

use std::collections::{BTreeSet, HashMap};

use base::{IdVec, Span};
use model::Model;
use model::control::{ActionId, ActionKind, Next, PlaceId, ProcedureId, TextOwner};
use model::eval::{Counters, StepFault, control_after};
use model::process::ProcessId;

use super::{ControlNode, Flat};
use crate::ExportRefusal;
use crate::term::NodeNo;

/// More nodes than this in one process are no text for people.
const MOST_NODES: usize = 20_000;

/// What distinguishes nodes.
type NodeKey = (PlaceId, Counters, Vec<(ActionId, Counters)>);

impl Flat {
    pub(super) fn find_nodes(&mut self, model: &Model) -> Result<(), Vec<ExportRefusal>> {
        let recursive = recursion(model);
        if !recursive.is_empty() {
            return Err(recursive);
        }
        for process in model.processes.ids() {
            let mut search = NodeSearch { model, process, nodes: IdVec::new(), known: HashMap::new() };
            let family = &model.families[model.processes[process].family];
            let scope = TextOwner::Family(model.processes[process].family);
            let (place, counters) = control_after(model, process, (scope, &Counters::new()), &family.entry)
                .map_err(|fault| vec![ExportRefusal::new(fault.span, fault.fault.to_string())])?;
            let entry = search.node((place, counters, Vec::new()));
            let mut at = 0;
            while at < search.nodes.len() {
                if search.nodes.len() > MOST_NODES {
                    let why = format!("{} has more than {MOST_NODES} points of control", model.processes[process].name);
                    return Err(vec![ExportRefusal::new(family.span, why)]);
                }
                let node = search.nodes[NodeNo::new(at)].clone();
                for &action in &model.places[node.place].actions {
                    if let Ok(key) = after(model, process, &node, action) {
                        search.node(key);
                    }
                }
                at += 1;
            }
            self.entries.push(entry);
            self.nodes.push(search.nodes);
        }
        Ok(())
    }

    /// The node to which an action leads, if a loop's bounds let it.
    pub fn leads_to(&self, model: &Model, from: (ProcessId, NodeNo), action: ActionId) -> Option<NodeNo> {
        self.target(model, from, action).ok()
    }

    /// The node to which an action leads, or the fault of a loop's bounds.
    pub(super) fn target(
        &self,
        model: &Model,
        (process, source): (ProcessId, NodeNo),
        action: ActionId,
    ) -> Result<NodeNo, StepFault> {
        let nodes = &self.nodes[process.index()];
        let (place, counters, callers) = after(model, process, &nodes[source], action)?;
        let same = |node: &ControlNode| node.place == place && node.counters == counters && node.callers == callers;
        Ok(nodes.entries().find(|(_, node)| same(node)).expect("the search found every node").0)
    }
}

struct NodeSearch<'m> {
    model: &'m Model,
    process: ProcessId,
    nodes: IdVec<ControlNode>,
    known: HashMap<NodeKey, NodeNo>,
}

impl NodeSearch<'_> {
    fn node(&mut self, key: NodeKey) -> NodeNo {
        if let Some(&known) = self.known.get(&key) {
            return known;
        }
        let (place, counters, callers) = key.clone();
        let end = self.model.families[self.model.processes[self.process].family].end;
        let is_end = callers.is_empty() && place == end;
        let is_idle = self.model.places[place].actions.iter().any(|&action| super::is_idle(self.model, action));
        let may_end = self.model.places[place].may_end;
        let number = self.nodes.push(ControlNode { place, counters, callers, is_end, is_idle, may_end });
        self.known.insert(key, number);
        number
    }
}

/// Where control is after an action.
fn after(model: &Model, process: ProcessId, node: &ControlNode, action: ActionId) -> Result<NodeKey, StepFault> {
    let acted = &model.actions[action];
    let follow =
        |scope: TextOwner, counters: &Counters, next: &Next| control_after(model, process, (scope, counters), next);
    match &acted.kind {
        ActionKind::Plain | ActionKind::Idle => {
            let (place, counters) = follow(acted.scope, &node.counters, &acted.next)?;
            Ok((place, counters, node.callers.clone()))
        }
        ActionKind::Call { procedure, entry, .. } => {
            let entry = entry.as_ref().unwrap_or(&model.procedures[*procedure].entry);
            let (place, counters) = follow(TextOwner::Procedure(*procedure), &Counters::new(), entry)?;
            let callers = [node.callers.clone(), vec![(action, node.counters.clone())]].concat();
            Ok((place, counters, callers))
        }
        ActionKind::Return { .. } => {
            let mut callers = node.callers.clone();
            let (call, counters) = callers.pop().expect("a return stands in a procedure that was called");
            let call = &model.actions[call];
            let (place, counters) = follow(call.scope, &counters, &call.next)?;
            Ok((place, counters, callers))
        }
    }
}

/// The procedures that may call themselves, each with a call on the way.
fn recursion(model: &Model) -> Vec<ExportRefusal> {
    let calls = |from: ProcedureId| {
        model.actions.iter().filter(move |action| action.scope == TextOwner::Procedure(from)).filter_map(|action| {
            match action.kind {
                ActionKind::Call { procedure, .. } => Some((procedure, model.statements[action.statement].span)),
                _ => None,
            }
        })
    };
    let leads_to = |from: ProcedureId, wanted: ProcedureId| {
        let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
        while let Some(one) = open.pop() {
            if one == wanted {
                return true;
            }
            if seen.insert(one) {
                open.extend(calls(one).map(|(callee, _)| callee));
            }
        }
        false
    };
    let of_one = |(id, procedure): (ProcedureId, &model::control::Procedure)| {
        let back: Option<(ProcedureId, Span)> = calls(id).find(|&(callee, _)| leads_to(callee, id));
        back.map(|(_, span)| {
            let why =
                format!("`{}` may call itself, and its stack has no bound that can be written down", procedure.name);
            ExportRefusal::new(span, why)
        })
    };
    model.procedures.entries().filter_map(of_one).collect()
}
