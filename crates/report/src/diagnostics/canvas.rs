//! A row of a drawing: characters put at display columns, each with its colour.

use unicode_width::UnicodeWidthChar;

use crate::style::{Ink, Style};

/// One row. A wide character takes its column and the next, which then holds nothing.
#[derive(Default)]
pub struct CanvasRow {
    cells: Vec<(Option<char>, Option<Ink>)>,
}

impl CanvasRow {
    /// Writes the text from the column on, over what is there.
    pub fn put(&mut self, column: usize, text: &str, ink: Option<Ink>) {
        let mut at = column;
        for character in text.chars() {
            let columns = character.width().unwrap_or(0);
            if columns == 0 {
                continue;
            }
            while self.cells.len() < at + columns {
                self.cells.push((Some(' '), None));
            }
            self.cells[at] = (Some(character), ink);
            for rest in 1..columns {
                self.cells[at + rest] = (None, ink);
            }
            at += columns;
        }
    }

    /// How many columns are in use.
    pub fn width(&self) -> usize {
        self.cells.len()
    }

    /// The row as text, runs of one colour painted together, without trailing spaces.
    pub fn draw(&self, style: &Style) -> String {
        let used = self.cells.iter().rposition(|&(c, _)| c != Some(' ')).map_or(0, |last| last + 1);
        let mut out = String::new();
        for run in self.cells[..used].chunk_by(|a, b| a.1 == b.1) {
            let text: String = run.iter().filter_map(|&(character, _)| character).collect();
            match run[0].1 {
                Some(ink) => out.push_str(&style.paint(ink, &text)),
                None => out.push_str(&text),
            }
        }
        out
    }
}
