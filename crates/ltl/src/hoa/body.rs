//! The body of an automaton: its states and edges.
//!
//! In: tokens and the header. Out: the automaton. Labels and marks of a state go to its edges. States may have any numbers; several initial
//! states become one new state with all their edges.

use rustc_hash::FxHashMap;

use base::{Diagnostic, Span};

use super::expression;
use super::header::Header;
use super::lexer::{HoaTokenKind, UNEXPECTED};
use super::reader::{HoaReader, Parsed};
use crate::automaton::Automaton;
use crate::bits::Bits;
use crate::diagram::{Diagram, Diagrams};
use crate::graph::{Arc, AutomatonGraph};

/// The most atoms for implicit labels, which list all letters.
const MAX_IMPLICIT_ATOMS: usize = 16;

/// Reads the states up to `--END--`.
pub fn read(reader: &mut HoaReader<'_>, header: &Header) -> Option<Automaton> {
    let mut body = Body { header, numbers: FxHashMap::default(), states: Vec::new(), is_defined: Vec::new() };
    loop {
        match reader.peek_kind() {
            Some(HoaTokenKind::End) => {
                reader.skip();
                break;
            }
            Some(HoaTokenKind::HeaderName) if reader.peek().is_some_and(|token| reader.text(token) == "State:") => {
                reader.skip();
                // The error has been reported; go on with the next state.
                if body.state(reader).is_err() {
                    skip_to_state(reader);
                }
            }
            kind => {
                match kind {
                    Some(HoaTokenKind::Abort) => reader.error(reader.here(), "the automaton was given up: `--ABORT--`"),
                    _ => reader.unexpected("`State:` or `--END--`"),
                };
                reader.skip();
                skip_to_state(reader);
                reader.peek()?;
            }
        }
    }
    if reader.peek().is_some() {
        let span = reader.here();
        reader.error(span, "nothing may stand after the first automaton");
    }
    if !reader.diagnostics.is_empty() {
        return None;
    }
    let graph = body.into_graph();
    match graph.into_automaton(&mut reader.diagrams) {
        Ok(automaton) => Some(automaton),
        Err(reason) => {
            let message = format!("the labels are too large: {reason}");
            reader.diagnostics.push(Diagnostic::error(UNEXPECTED, Span::new(0, 0), message));
            None
        }
    }
}

fn skip_to_state(reader: &mut HoaReader<'_>) {
    while !matches!(reader.peek_kind(), None | Some(HoaTokenKind::HeaderName | HoaTokenKind::End)) {
        reader.skip();
    }
}

struct Body<'a> {
    header: &'a Header,
    /// The places of states in `states`, by their numbers in the text.
    numbers: FxHashMap<u32, usize>,
    states: Vec<Vec<Arc>>,
    /// Whether a state was described.
    is_defined: Vec<bool>,
}

impl Body<'_> {
    /// The place of a state.
    fn number(&mut self, state: u32) -> usize {
        let fresh = self.states.len();
        let number = *self.numbers.entry(state).or_insert(fresh);
        if number == fresh {
            self.states.push(Vec::new());
            self.is_defined.push(false);
        }
        number
    }

    fn state_number(&mut self, reader: &mut HoaReader<'_>, what: &str) -> Parsed<usize> {
        let span = reader.here();
        let state = reader.number(what)?;
        match self.header.n_states {
            Some(n_states) if state >= n_states => {
                Err(reader.error(span, format!("there is no state {state}: the header says `States: {n_states}`")))
            }
            _ => Ok(self.number(state)),
        }
    }

    fn state(&mut self, reader: &mut HoaReader<'_>) -> Parsed<()> {
        let state_label = self.label(reader)?;
        let span = reader.here();
        let state = self.state_number(reader, "the number of a state")?;
        if std::mem::replace(&mut self.is_defined[state], true) {
            return Err(reader.error(span, "this state stands here for the second time"));
        }
        if reader.peek_kind() == Some(HoaTokenKind::Text) {
            reader.quoted("a name")?;
        }
        let state_sets = self.sets(reader)?;
        let mut arcs: Vec<(Option<Diagram>, Arc, Span)> = Vec::new();
        while matches!(reader.peek_kind(), Some(HoaTokenKind::Sign('[') | HoaTokenKind::Number)) {
            let span = reader.here();
            let label = self.label(reader)?;
            if label.is_some() && state_label.is_some() {
                return Err(reader.error(span, "the state has a label already, so its edges have none"));
            }
            let target = self.state_number(reader, "the target of the edge")?;
            if let Some(sign) = reader.take(HoaTokenKind::Sign('&')) {
                return Err(reader.error(sign.span, "alternating automata are not read"));
            }
            let sets = self.sets(reader)?.union(&state_sets);
            let marks = self.marks(&sets);
            arcs.push((label.or(state_label), Arc { label: Diagrams::TRUE, marks, target }, span));
        }
        let arcs = self.labelled(reader, arcs)?;
        self.states[state] = arcs.into_iter().filter(|arc| arc.label != Diagrams::FALSE).collect();
        Ok(())
    }

    /// Gives edges their labels: their own ones, or one letter each, in order.
    fn labelled(&self, reader: &mut HoaReader<'_>, arcs: Vec<(Option<Diagram>, Arc, Span)>) -> Parsed<Vec<Arc>> {
        if let Some(labels) = arcs.iter().map(|(label, ..)| *label).collect::<Option<Vec<Diagram>>>() {
            return Ok(labels.into_iter().zip(arcs).map(|(label, (_, arc, _))| Arc { label, ..arc }).collect());
        }
        if let Some((_, _, span)) = arcs.iter().find(|(label, ..)| label.is_some()) {
            return Err(reader.error(*span, "some edges of this state have labels and others have not"));
        }
        let (n_atoms, span) = (self.header.atoms.len(), arcs[0].2);
        if n_atoms > MAX_IMPLICIT_ATOMS || arcs.len() != 1 << n_atoms {
            let message = format!(
                "edges without labels list all letters: there must be 2^{n_atoms}, and there are {}",
                arcs.len()
            );
            return Err(reader.error(span, message));
        }
        let mut labelled = Vec::new();
        for (letter, (_, arc, span)) in arcs.into_iter().enumerate() {
            let literals: Vec<(u32, bool)> = (0..n_atoms as u32).map(|atom| (atom, letter >> atom & 1 == 1)).collect();
            let label = reader.diagrams.cube(&literals).map_err(|reason| reader.error(span, reason.to_string()))?;
            labelled.push(Arc { label, ..arc });
        }
        Ok(labelled)
    }

    fn label(&self, reader: &mut HoaReader<'_>) -> Parsed<Option<Diagram>> {
        if reader.take(HoaTokenKind::Sign('[')).is_none() {
            return Ok(None);
        }
        let label = expression::label(reader, self.header)?;
        reader.expect(HoaTokenKind::Sign(']'), "`]`")?;
        Ok(Some(label))
    }

    /// `{0 1}`, if it comes next.
    fn sets(&self, reader: &mut HoaReader<'_>) -> Parsed<Bits> {
        let mut sets = Bits::new();
        if reader.take(HoaTokenKind::Sign('{')).is_none() {
            return Ok(sets);
        }
        while reader.peek_kind() == Some(HoaTokenKind::Number) {
            let span = reader.here();
            let set = reader.number("the number of a set")?;
            if set >= self.header.n_sets {
                return Err(reader.error(span, format!("there is no acceptance set {set}")));
            }
            sets.insert(set as usize);
        }
        reader.expect(HoaTokenKind::Sign('}'), "the number of a set or `}`")?;
        Ok(sets)
    }

    /// The marks of an edge in these sets: one for each part of the condition.
    fn marks(&self, sets: &Bits) -> Bits {
        let conditions = self.header.infinitely_often.iter().enumerate();
        conditions
            .filter(|(_, (set, is_left))| sets.contains(*set as usize) != *is_left)
            .map(|(mark, _)| mark)
            .collect()
    }

    fn into_graph(mut self) -> AutomatonGraph {
        let starts: Vec<usize> = self.header.starts.iter().map(|&state| self.number(state)).collect();
        let n_marks = self.header.infinitely_often.len();
        let initial = match starts[..] {
            [] => return AutomatonGraph::empty(),
            [only] => only,
            _ => {
                let arcs = starts.iter().flat_map(|&state| self.states[state].clone()).collect();
                self.states.push(arcs);
                self.states.len() - 1
            }
        };
        AutomatonGraph { states: self.states, initial, n_marks }
    }
}
