//! The header of an automaton: what comes before its states.
//!
//! In: tokens. Out: atoms, aliases, initial states and the acceptance condition. Lines that begin with a small letter and are not known
//! say nothing about the language and are skipped; unknown ones with a capital could change it and are refused.

use rustc_hash::FxHashMap;

use base::Span;

use super::expression;
use super::lexer::{HoaToken, HoaTokenKind};
use super::reader::{HoaReader, Parsed};
use crate::diagram::Diagram;
use crate::formula::Atoms;

/// What a header says.
#[derive(Debug, Default)]
pub struct Header {
    /// The name of the automaton; may be empty.
    pub name: String,
    /// The atoms, numbered as in the text.
    pub atoms: Atoms,
    /// The labels that have names.
    pub aliases: FxHashMap<String, Diagram>,
    /// How many states there are, if the header says it.
    pub n_states: Option<u32>,
    /// The initial states.
    pub starts: Vec<u32>,
    /// How many acceptance sets there are.
    pub n_sets: u32,
    /// The sets that must be visited infinitely often; or, with `true` beside them, that must be left infinitely often.
    pub infinitely_often: Vec<(u32, bool)>,
}

/// Reads a header, up to and with `--BODY--`.
pub fn read(reader: &mut HoaReader<'_>) -> Header {
    let mut header = Header::default();
    let mut seen: Vec<String> = Vec::new();
    check_version(reader);
    loop {
        match reader.peek_kind() {
            Some(HoaTokenKind::Body) => {
                reader.skip();
                break;
            }
            Some(HoaTokenKind::HeaderName) => {
                let token = reader.peek().expect("it was peeked at");
                reader.skip();
                let name = reader.text(token).to_owned();
                if !["Start:", "Alias:", "properties:"].contains(&name.as_str())
                    && seen.contains(&name)
                    && is_known(&name)
                {
                    reader.error(token.span, format!("`{name}` stands here for the second time"));
                }
                // The error has been reported; go on with the next line.
                let _ = item(reader, &mut header, &name, token.span);
                skip_to_next(reader);
                seen.push(name);
            }
            None | Some(_) => {
                reader.unexpected("a line of the header, or `--BODY--`");
                skip_to_next(reader);
                if reader.peek().is_none() {
                    break;
                }
            }
        }
    }
    if !seen.iter().any(|name| name == "Acceptance:") {
        reader.error(Span::new(0, 0), "the header has no `Acceptance:`");
    }
    header
}

fn is_known(name: &str) -> bool {
    ["States:", "AP:", "Acceptance:", "name:", "acc-name:"].contains(&name)
}

fn check_version(reader: &mut HoaReader<'_>) {
    let is_hoa = reader.peek().is_some_and(|token| reader.text(token) == "HOA:");
    if !is_hoa {
        reader.unexpected("`HOA: v1`");
        return;
    }
    reader.skip();
    match reader.peek() {
        Some(token) if reader.text(token) == "v1" => reader.skip(),
        _ => {
            reader.unexpected("the version `v1`");
        }
    }
}

/// Goes to the next line of the header, or to the body.
fn skip_to_next(reader: &mut HoaReader<'_>) {
    while !matches!(reader.peek_kind(), None | Some(HoaTokenKind::HeaderName | HoaTokenKind::Body)) {
        reader.skip();
    }
}

fn item(reader: &mut HoaReader<'_>, header: &mut Header, name: &str, span: Span) -> Parsed<()> {
    match name {
        "States:" => header.n_states = Some(reader.number("the number of states")?),
        "Start:" => start(reader, header)?,
        "AP:" => atoms(reader, header)?,
        "Alias:" => {
            let alias = reader.expect(HoaTokenKind::Alias, "a name that begins with `@`")?;
            let label = expression::label(reader, header)?;
            let name = reader.text(alias).to_owned();
            if header.aliases.insert(name, label).is_some() {
                return Err(reader.error(alias.span, "this alias has a meaning already"));
            }
        }
        "Acceptance:" => {
            header.n_sets = reader.number("the number of acceptance sets")?;
            header.infinitely_often = expression::acceptance(reader, header.n_sets)?;
        }
        "name:" => header.name = reader.quoted("a name in quotes")?,
        "HOA:" => return Err(reader.error(span, "a second automaton begins here, before the first one has ended")),
        "acc-name:" | "tool:" | "properties:" => properties(reader)?,
        _ if name.starts_with(|c: char| c.is_ascii_uppercase()) => {
            let message = format!("`{name}` is not known, and may change what the automaton means");
            return Err(reader.error(span, message));
        }
        _ => {
            // It says nothing about the language.
            while !matches!(reader.peek_kind(), None | Some(HoaTokenKind::HeaderName | HoaTokenKind::Body)) {
                reader.skip();
            }
        }
    }
    match reader.peek_kind() {
        None | Some(HoaTokenKind::HeaderName | HoaTokenKind::Body) => Ok(()),
        Some(_) => Err(reader.unexpected("the next line of the header, or `--BODY--`")),
    }
}

fn start(reader: &mut HoaReader<'_>, header: &mut Header) -> Parsed<()> {
    header.starts.push(reader.number("a state")?);
    match reader.take(HoaTokenKind::Sign('&')) {
        Some(sign) => Err(reader.error(sign.span, "alternating automata are not read")),
        None => Ok(()),
    }
}

fn atoms(reader: &mut HoaReader<'_>, header: &mut Header) -> Parsed<()> {
    let count = reader.number("the number of atoms")?;
    let mut last: Option<HoaToken> = None;
    while reader.peek_kind() == Some(HoaTokenKind::Text) {
        last = reader.peek();
        let name = reader.quoted("the name of an atom in quotes")?;
        if header.atoms.find(&name).is_some() {
            let span = last.map_or(reader.here(), |token| token.span);
            return Err(reader.error(span, "this atom stands here for the second time"));
        }
        header.atoms.named(&name);
    }
    if header.atoms.len() as u64 != u64::from(count) {
        let span = last.map_or(reader.here(), |token| token.span);
        return Err(reader.error(span, format!("{count} atoms were announced, and there are {}", header.atoms.len())));
    }
    Ok(())
}

fn properties(reader: &mut HoaReader<'_>) -> Parsed<()> {
    while let Some(HoaTokenKind::Word | HoaTokenKind::Text | HoaTokenKind::Number) = reader.peek_kind() {
        let token = reader.peek().expect("it was peeked at");
        if ["univ-branch"].contains(&reader.text(token)) {
            return Err(reader.error(token.span, "alternating automata are not read"));
        }
        reader.skip();
    }
    Ok(())
}
