//! The sides of rendezvous, as they are.
//!
//! In: the actions of a process that send or receive. Out: transitions with `sync`. DVE's meaning is the Model's: guards, values and
//! indices in the old state, then the values, the receiver's effects, the sender's. So effects are printed in their
//! order, each over the state that it finds, and only what DVE itself checks may fail in them.

use base::Span;
use model::control::{Action, ActionKind, ReceivePattern, StmtKind, SyncSide};
use model::process::ProcessId;

use super::{BYTE, DveWriter, INT};
use crate::ExportRefusal;
use crate::flat::{StepPart, TermEvaluator};
use crate::layout::step_words;
use crate::term::{NodeNo, Term};

impl DveWriter<'_> {
    /// The transitions of a process that need a partner.
    pub fn halves(&mut self, process: ProcessId) -> Vec<(String, String)> {
        let (model, flat) = (self.model, self.flat);
        let mut found = Vec::new();
        for (source, node) in flat.nodes[process.index()].entries() {
            for &id in &model.places[node.place].actions {
                let action = &model.actions[id];
                let Some(sync) = &action.sync else { continue };
                let channel = self.channels[sync.channel.index()].clone();
                let span = model.statements[action.statement].span;
                let Some(target) = flat.leads_to(model, (process, source), id) else {
                    self.problems.push(ExportRefusal::new(span, "this side of a rendezvous leads nowhere"));
                    continue;
                };
                let side = HalfStep { process, source, span };
                let guard = self.guard(&side, action);
                let passed = match &sync.side {
                    SyncSide::Send(values) => {
                        let values: Vec<String> = values.iter().map(|value| self.value(&side, value)).collect();
                        format!("{channel}!{}", listed(&values))
                    }
                    SyncSide::Receive(patterns) => {
                        let targets: Vec<String> = patterns
                            .iter()
                            .map(|pattern| match pattern {
                                ReceivePattern::Into(access) => self.target(&side, access),
                                ReceivePattern::Equal(_) | ReceivePattern::Ignored => {
                                    let why = "this receives certain values only, or leaves one out";
                                    self.problems.push(ExportRefusal::new(span, why));
                                    String::new()
                                }
                            })
                            .collect();
                        format!("{channel}?{}", listed(&targets))
                    }
                };
                let effects = self.effects(&side, action);
                let (from, to) = (self.layout.node(process, source), self.layout.node(process, target));
                let movers = [StepPart { process, source, target, action: id }];
                let words = step_words(model, self.source, &movers);
                found.push((words, format!("{from} -> {to} {{{guard} sync {passed};{effects} }}")));
            }
        }
        found
    }

    fn evaluator(&self, side: &HalfStep) -> TermEvaluator<'_> {
        TermEvaluator::new(self.model, self.flat, &[]).at_node(side.process, side.source)
    }

    fn guard(&mut self, side: &HalfStep, action: &Action) -> String {
        let Some(guard) = &action.guard else { return String::new() };
        let value = self.evaluator(side).value(guard);
        let whole = value.fault.negation().and(&value.term);
        if whole.is(true) { String::new() } else { format!(" guard {};", self.print_for(&whole, side.span)) }
    }

    fn value(&mut self, side: &HalfStep, expr: &model::expr::Expr) -> String {
        let mut eval = self.evaluator(side);
        let value = eval.value(expr);
        let problems = eval.into_problems();
        self.problems.extend(problems);
        self.print_for(&value.term, side.span)
    }

    fn target(&mut self, side: &HalfStep, access: &model::expr::Access) -> String {
        let found = self.evaluator(side).only_element(access);
        let Some((var, index)) = found else {
            self.problems.push(ExportRefusal::new(access.span, "this writes a variable that is not known beforehand"));
            return String::new();
        };
        let bounds = self.flat.vars[var].bounds;
        if bounds != BYTE && bounds != INT {
            let why = format!(
                "a value outside `{}` would not be noticed in a rendezvous of DVE, whose types are byte and int",
                self.flat.vars[var].display
            );
            self.problems.push(ExportRefusal::new(access.span, why));
        }
        let index: Vec<String> = index.iter().map(|index: &Term| self.print_for(index, side.span)).collect();
        format!("{}{}", self.layout.var(var), self.flat_index(var, &index))
    }

    fn effects(&mut self, side: &HalfStep, action: &Action) -> String {
        let mut effects = Vec::new();
        if !matches!(action.kind, ActionKind::Plain) {
            self.problems.push(ExportRefusal::new(side.span, "this side of a rendezvous is a call or a return"));
        }
        for stmt in &action.body {
            match &stmt.kind {
                StmtKind::Assign(pairs) if pairs.len() == 1 => {
                    let (access, value) = &pairs[0];
                    effects.push(format!("{} = {}", self.target(side, access), self.value(side, value)));
                }
                _ => {
                    let why = "beside a rendezvous, DVE has single assignments only";
                    self.problems.push(ExportRefusal::new(stmt.span, why));
                }
            }
        }
        if effects.is_empty() { String::new() } else { format!(" effect {};", effects.join(", ")) }
    }
}

/// One side.
struct HalfStep {
    process: ProcessId,
    source: NodeNo,
    span: Span,
}

fn listed(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [only] => only.clone(),
        several => format!("{{{}}}", several.join(", ")),
    }
}
