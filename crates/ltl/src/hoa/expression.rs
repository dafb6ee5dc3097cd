//! Labels and acceptance conditions.
//!
//! In: tokens. Out: a diagram for a label; for a condition the sets that must be visited infinitely often. Nesting is limited.

use base::Span;

use super::header::Header;
use super::lexer::HoaTokenKind;
use super::reader::{HoaReader, Parsed};
use crate::diagram::{Diagram, DiagramResult, Diagrams};

/// How deep parentheses and negations may be nested.
const MAX_DEPTH: usize = 500;

/// Reads a label.
pub fn label(reader: &mut HoaReader<'_>, header: &Header) -> Parsed<Diagram> {
    Labels { reader, header, depth: 0 }.either()
}

struct Labels<'a, 'r> {
    reader: &'a mut HoaReader<'r>,
    header: &'a Header,
    depth: usize,
}

impl Labels<'_, '_> {
    fn either(&mut self) -> Parsed<Diagram> {
        let mut either = self.both()?;
        while self.reader.take(HoaTokenKind::Sign('|')).is_some() {
            let more = self.both()?;
            either = self.made(|diagrams| diagrams.or(either, more))?;
        }
        Ok(either)
    }

    fn both(&mut self) -> Parsed<Diagram> {
        let mut both = self.factor()?;
        while self.reader.take(HoaTokenKind::Sign('&')).is_some() {
            let more = self.factor()?;
            both = self.made(|diagrams| diagrams.and(both, more))?;
        }
        Ok(both)
    }

    fn factor(&mut self) -> Parsed<Diagram> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let span = self.reader.here();
            return Err(self.reader.error(span, format!("this label is nested more than {MAX_DEPTH} deep")));
        }
        let label = self.factor_within()?;
        self.depth -= 1;
        Ok(label)
    }

    fn factor_within(&mut self) -> Parsed<Diagram> {
        if self.reader.take(HoaTokenKind::Sign('!')).is_some() {
            let label = self.factor()?;
            return self.made(|diagrams| diagrams.not(label));
        }
        if self.reader.take(HoaTokenKind::Sign('(')).is_some() {
            let label = self.either()?;
            self.reader.expect(HoaTokenKind::Sign(')'), "`)`")?;
            return Ok(label);
        }
        let span = self.reader.here();
        if let Some(alias) = self.reader.take(HoaTokenKind::Alias) {
            let known = self.header.aliases.get(self.reader.text(alias)).copied();
            return known.ok_or_else(|| self.reader.error(span, "this alias has no meaning"));
        }
        if let Some(value) = constant(self.reader) {
            return Ok(if value { Diagrams::TRUE } else { Diagrams::FALSE });
        }
        let atom = self.reader.number("an atom's number, `t`, `f`, an alias, `!` or `(`")?;
        if atom as usize >= self.header.atoms.len() {
            return Err(self.reader.error(span, format!("there is no atom number {atom}")));
        }
        self.made(|diagrams| diagrams.literal(atom, true))
    }

    fn made(&mut self, make: impl FnOnce(&mut Diagrams) -> DiagramResult<Diagram>) -> Parsed<Diagram> {
        make(&mut self.reader.diagrams).map_err(|reason| {
            let span = self.reader.here();
            self.reader.error(span, format!("the labels are too large: {reason}"))
        })
    }
}

/// `t` or `f`.
fn constant(reader: &mut HoaReader<'_>) -> Option<bool> {
    let token = reader.peek().filter(|token| token.kind == HoaTokenKind::Word)?;
    let value = match reader.text(token) {
        "t" => true,
        "f" => false,
        _ => return None,
    };
    reader.skip();
    Some(value)
}

/// Reads an acceptance condition that is a conjunction of `Inf`.
pub fn acceptance(reader: &mut HoaReader<'_>, n_sets: u32) -> Parsed<Vec<(u32, bool)>> {
    let mut sets = Vec::new();
    let mut n_open = 0;
    loop {
        while reader.take(HoaTokenKind::Sign('(')).is_some() {
            n_open += 1;
        }
        one_set(reader, n_sets, &mut sets)?;
        while n_open > 0 && reader.take(HoaTokenKind::Sign(')')).is_some() {
            n_open -= 1;
        }
        if let Some(sign) = reader.take(HoaTokenKind::Sign('|')) {
            return Err(not_buchi(reader, sign.span));
        }
        if reader.take(HoaTokenKind::Sign('&')).is_none() {
            break;
        }
    }
    if n_open > 0 {
        return Err(reader.unexpected("`)`"));
    }
    sets.sort_unstable();
    sets.dedup();
    Ok(sets)
}

fn one_set(reader: &mut HoaReader<'_>, n_sets: u32, sets: &mut Vec<(u32, bool)>) -> Parsed<()> {
    let span = reader.here();
    match constant(reader) {
        Some(true) => return Ok(()),
        Some(false) => return Err(not_buchi(reader, span)),
        None => {}
    }
    let word = reader.expect(HoaTokenKind::Word, "`Inf(…)` or `t`")?;
    match reader.text(word) {
        "Inf" => {}
        "Fin" => return Err(not_buchi(reader, span)),
        _ => return Err(reader.error(span, "expected `Inf(…)` or `t`")),
    }
    reader.expect(HoaTokenKind::Sign('('), "`(`")?;
    let is_left = reader.take(HoaTokenKind::Sign('!')).is_some();
    let set_span = reader.here();
    let set = reader.number("the number of a set")?;
    reader.expect(HoaTokenKind::Sign(')'), "`)`")?;
    if set >= n_sets {
        return Err(reader.error(set_span, format!("there is no acceptance set {set}")));
    }
    sets.push((set, is_left));
    Ok(())
}

fn not_buchi(reader: &mut HoaReader<'_>, span: Span) -> super::reader::Reported {
    reader.error(span, "only generalised Büchi conditions are read: `t`, or sets as `Inf(0) & Inf(1)`")
}
