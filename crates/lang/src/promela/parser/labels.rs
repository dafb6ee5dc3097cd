//! Labels with one name: which of them a `goto` means.
//!
//! SPIN keeps labels apart by the block that they stand in, so that an `inline` with a label can be called several times in one proctype. A
//! name is taken for the one that was met before in a block around it; otherwise it is a new one of its own block. A `goto` leads to the label
//! of its name if there is one, else to the oldest one of a block around it, else to the newest anywhere. The first label of a name keeps
//! it, and that is the one that `P@l` means; others are called `l.2`, `l.3` and so on.

use std::collections::HashMap;

use base::Diagnostic;

use super::super::ast::{Name, Stmt, StmtKind};
use crate::codes::promela as code;
use crate::log::Log;

/// Stands between a label and the number of its name while a body is read.
const MARK: char = '\0';

/// The labels that were met in the body that is read.
#[derive(Default)]
pub(super) struct LabelScopes {
    /// The blocks around the place that is read, outermost first.
    open: Vec<usize>,
    n_blocks: usize,
    names: Vec<ScopedName>,
    /// The positions of all names of one text.
    positions: HashMap<String, Vec<usize>>,
}

/// A name in a block.
struct ScopedName {
    text: String,
    /// The blocks around it, outermost first.
    blocks: Vec<usize>,
}

impl LabelScopes {
    pub fn enter(&mut self) {
        self.n_blocks += 1;
        self.open.push(self.n_blocks);
    }

    pub fn leave(&mut self) {
        self.open.pop();
    }

    /// A label, or the target of a `goto`, with the number of its name.
    pub fn meet(&mut self, name: Name) -> Name {
        let positions = self.positions.entry(name.text.clone()).or_default();
        let is_it = |at: &usize| self.open.starts_with(&self.names[*at].blocks);
        let known = positions.iter().rev().copied().find(is_it);
        let at = known.unwrap_or_else(|| {
            positions.push(self.names.len());
            self.names.push(ScopedName { text: name.text.clone(), blocks: self.open.clone() });
            self.names.len() - 1
        });
        Name { text: format!("{}{MARK}{at}", name.text), ..name }
    }

    /// Gives all labels of a whole body names of their own.
    pub fn settle(&mut self, body: &mut [Stmt], log: &mut Log) {
        self.positions.clear();
        let mut labels = Labels { names: std::mem::take(&mut self.names), known: HashMap::new() };
        labels.declare(body, log);
        labels.lead(body);
    }
}

/// The labels of a body.
struct Labels {
    names: Vec<ScopedName>,
    /// By their text, in the order in which their statements end.
    known: HashMap<String, Vec<Label>>,
}

struct Label {
    /// The position of its name.
    name: usize,
    text: String,
}

impl Labels {
    /// The position of a name that was met.
    fn position(name: &Name) -> Option<usize> {
        name.text.split_once(MARK)?.1.parse().ok()
    }

    fn declare(&mut self, body: &mut [Stmt], log: &mut Log) {
        for statement in body {
            each_body(&mut statement.kind, &mut |inner| self.declare(inner, log));
            for label in &mut statement.labels {
                let Some(name) = Labels::position(label) else { continue };
                let plain = self.names[name].text.clone();
                let known = self.known.entry(plain.clone()).or_default();
                if known.iter().any(|known| known.name == name) {
                    let message = format!("`{plain}` is a label already");
                    log.add(Diagnostic::error(code::LABEL, label.span, message));
                }
                let text = if known.is_empty() { plain } else { format!("{plain}.{}", known.len() + 1) };
                label.text.clone_from(&text);
                known.push(Label { name, text });
            }
        }
    }

    fn lead(&self, body: &mut [Stmt]) {
        for statement in body {
            each_body(&mut statement.kind, &mut |inner| self.lead(inner));
            if let StmtKind::Goto(target) = &mut statement.kind
                && let Some(name) = Labels::position(target)
            {
                target.text = self.target(&self.names[name]);
            }
        }
    }

    fn target(&self, wanted: &ScopedName) -> String {
        let mut found: Option<&Label> = None;
        for label in self.known.get(&wanted.text).into_iter().flatten().rev() {
            let blocks = &self.names[label.name].blocks;
            if *blocks == wanted.blocks {
                return label.text.clone();
            }
            if found.is_none() || wanted.blocks.starts_with(blocks) {
                found = Some(label);
            }
        }
        found.map_or_else(|| wanted.text.clone(), |label| label.text.clone())
    }
}

/// Calls `visit` for the bodies within a statement.
fn each_body(kind: &mut StmtKind, visit: &mut impl FnMut(&mut [Stmt])) {
    match kind {
        StmtKind::If(options) | StmtKind::Do(options) => options.iter_mut().for_each(|option| visit(option)),
        StmtKind::Atomic(inner) | StmtKind::DStep(inner) | StmtKind::Block(inner) => visit(inner),
        StmtKind::ForIn { body, .. } => visit(body),
        StmtKind::Unless(main, escape) => {
            visit(main);
            visit(escape);
        }
        _ => {}
    }
}
