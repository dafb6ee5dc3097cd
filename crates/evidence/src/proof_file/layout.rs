//! Line breaks for proofs: what people look for has lines of its own, rows of numbers stay together.

use std::io;

use serde_json::ser::Formatter;

/// What is spread over lines: records and lists under these keys.
const SPREAD: [&str; 22] = [
    "facts",
    "implies",
    "processes",
    "points",
    "exposed",
    "members",
    "columns",
    "states",
    "rows",
    "diagram",
    "nodes",
    "parameters",
    "foci",
    "trees",
    "pushdown",
    "cells",
    "tops",
    "waiting",
    "activations",
    "guarantee",
    "automaton",
    "marks",
];
/// The lists whose elements are spread, too.
const SPREAD_ELEMENTS: [&str; 4] = ["facts", "processes", "members", "foci"];

/// A formatter that knows the keys of the document.
#[derive(Clone, Debug, Default)]
pub(super) struct ProofFormatter {
    /// The lists and records that are open.
    open: Vec<OpenRecord>,
    /// The key that was written last.
    key: String,
    /// Whether a key is being written.
    in_key: bool,
}

/// A list or record that is being written.
#[derive(Clone, Debug)]
struct OpenRecord {
    /// Whether its elements have lines of their own.
    spread: bool,
    /// Whether its elements are spread themselves.
    spread_elements: bool,
    is_empty: bool,
}

impl ProofFormatter {
    fn open<W: ?Sized + io::Write>(&mut self, writer: &mut W, bracket: &[u8]) -> io::Result<()> {
        // An element of a list has no key of its own: then the list decides its layout.
        let (spread, spread_elements) = match self.open.last() {
            None => (true, false),
            Some(around) if !self.key.is_empty() => {
                let listed = |keys: &[&str]| around.spread && keys.contains(&self.key.as_str());
                (listed(&SPREAD), listed(&SPREAD_ELEMENTS))
            }
            Some(around) => (around.spread_elements, false),
        };
        self.key.clear();
        self.open.push(OpenRecord { spread, spread_elements, is_empty: true });
        writer.write_all(bracket)
    }

    fn close<W: ?Sized + io::Write>(&mut self, writer: &mut W, bracket: &[u8]) -> io::Result<()> {
        if let Some(OpenRecord { spread: true, is_empty: false, .. }) = self.open.pop() {
            self.new_line(writer)?;
        }
        writer.write_all(bracket)
    }

    fn begin<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        let Some(open) = self.open.last_mut() else { return Ok(()) };
        open.is_empty = false;
        let spread = open.spread;
        writer.write_all(match (first, spread) {
            (true, _) => b"",
            (false, true) => b",",
            (false, false) => b", ",
        })?;
        if spread { self.new_line(writer) } else { Ok(()) }
    }

    fn new_line<W: ?Sized + io::Write>(&self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b"\n")?;
        self.open.iter().try_for_each(|_| writer.write_all(b" "))
    }
}

impl Formatter for ProofFormatter {
    fn begin_array<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.open(writer, b"[")
    }

    fn end_array<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.close(writer, b"]")
    }

    fn begin_array_value<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.begin(writer, first)
    }

    fn begin_object<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.open(writer, b"{")
    }

    fn end_object<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.close(writer, b"}")
    }

    fn begin_object_key<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.key.clear();
        self.in_key = true;
        self.begin(writer, first)
    }

    fn end_object_key<W: ?Sized + io::Write>(&mut self, _writer: &mut W) -> io::Result<()> {
        self.in_key = false;
        Ok(())
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }

    fn end_object_value<W: ?Sized + io::Write>(&mut self, _writer: &mut W) -> io::Result<()> {
        self.key.clear();
        Ok(())
    }

    fn write_string_fragment<W: ?Sized + io::Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        if self.in_key {
            self.key.push_str(fragment);
        }
        writer.write_all(fragment.as_bytes())
    }
}
