//! How text is dressed: colour or none, Unicode or ASCII, how wide.
//!
//! Colour only repeats what the words and marks already say. All drawing asks [`Style`] for its marks, so that one switch
//! makes a whole page ASCII.

/// How text is dressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Whether ANSI colours are used.
    pub color: bool,
    /// Whether lines and marks are drawn in ASCII.
    pub ascii: bool,
    /// How many columns there are.
    pub width: usize,
}

impl Default for Style {
    /// No colour, Unicode, 80 columns.
    fn default() -> Self {
        Style { color: false, ascii: false, width: 80 }
    }
}

/// What a piece of text is, for its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    /// Good news.
    Good,
    /// Bad news, errors.
    Bad,
    /// Doubt, warnings.
    Doubt,
    /// What the eye should find: names, headings.
    Strong,
    /// Lines, line numbers, advice.
    Line,
    /// What may be skipped: times and counts.
    Dim,
}

impl Ink {
    fn code(self) -> &'static str {
        match self {
            Ink::Good => "1;32",
            Ink::Bad => "1;31",
            Ink::Doubt => "1;33",
            Ink::Strong => "1",
            Ink::Line => "36",
            Ink::Dim => "2",
        }
    }
}

/// The marks that have an ASCII spelling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// A property that holds.
    Holds,
    /// A property that is violated.
    Violated,
    /// A property that is not decided.
    Unknown,
    /// Something to look at.
    Warning,
    /// From a place to the next.
    Arrow,
    /// From an old value to the new one.
    Becomes,
    /// A process that takes no step.
    Rest,
    /// A step that reads shared variables.
    Reads,
    /// A step that writes shared variables.
    Writes,
    /// A cycle.
    Cycle,
    /// Text was cut here.
    Cut,
    /// A vertical line.
    Bar,
    /// A horizontal line, one column.
    Dash,
    /// The head of a source excerpt.
    Excerpt,
    /// The first state of a loop.
    LoopStart,
    /// A step inside a loop.
    LoopBody,
    /// The last step of a loop.
    LoopEnd,
    /// A verdict that no independent code checked.
    Unaudited,
    /// Between things in a row.
    Dot,
}

impl Style {
    /// The spelling of a mark.
    pub fn mark(&self, mark: Mark) -> &'static str {
        let (unicode, ascii) = match mark {
            Mark::Holds => ("✔", "+"),
            Mark::Violated => ("✘", "X"),
            Mark::Unknown => ("?", "?"),
            Mark::Warning => ("⚠", "!"),
            Mark::Arrow => ("→", "->"),
            Mark::Becomes => ("⇒", "=>"),
            Mark::Rest => ("·", "."),
            Mark::Reads => ("◀reads", "<reads"),
            Mark::Writes => ("writes▶", "writes>"),
            Mark::Cycle => ("↺", "@"),
            Mark::Cut => ("…", "..."),
            Mark::Bar => ("│", "|"),
            Mark::Dash => ("─", "-"),
            Mark::Excerpt => ("┌─", "-->"),
            Mark::LoopStart => ("┌▶", ",>"),
            Mark::LoopBody => ("│ ", "| "),
            Mark::LoopEnd => ("└─", "`-"),
            Mark::Unaudited => ("°", "~"),
            Mark::Dot => ("·", "-"),
        };
        if self.ascii { ascii } else { unicode }
    }

    /// The text, its signs of comparison in ASCII where everything is.
    pub fn plain(&self, text: String) -> String {
        if self.ascii { text.replace('≥', ">=").replace('≤', "<=") } else { text }
    }

    /// A text of our own, all of it in ASCII where everything is: letters lose their accents, and a sign without a spelling is `?`.
    pub fn spelled(&self, text: &str) -> String {
        if !self.ascii {
            return text.to_owned();
        }
        let spelling = |letter: char| match letter {
            '…' => "...".to_owned(),
            '–' => "-".to_owned(),
            '≥' => ">=".to_owned(),
            '≤' => "<=".to_owned(),
            'á' | 'à' | 'ä' => "a".to_owned(),
            'é' | 'è' => "e".to_owned(),
            'í' => "i".to_owned(),
            'ó' | 'ö' => "o".to_owned(),
            'ü' => "u".to_owned(),
            letter if letter.is_ascii() => letter.to_string(),
            _ => "?".to_owned(),
        };
        text.chars().map(spelling).collect()
    }

    /// The text in its colour, if there are colours.
    pub fn paint(&self, ink: Ink, text: &str) -> String {
        if self.color && !text.is_empty() { format!("\x1b[{}m{text}\x1b[0m", ink.code()) } else { text.to_owned() }
    }

    /// A painted mark.
    pub fn painted(&self, ink: Ink, mark: Mark) -> String {
        self.paint(ink, self.mark(mark))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ascii_marks_are_ascii_and_colour_is_optional() {
        let plain = Style { ascii: true, ..Style::default() };
        assert!(plain.mark(Mark::Holds).is_ascii() && plain.mark(Mark::LoopStart).is_ascii());
        assert_eq!(plain.paint(Ink::Bad, "x"), "x");
        let coloured = Style { color: true, ..Style::default() };
        assert_eq!(coloured.paint(Ink::Bad, "x"), "\x1b[1;31mx\x1b[0m");
    }
}
