//! Source text: files, byte spans, lines and columns.
//!
//! A program is one file, so a [`Span`] is a pair of byte offsets into it. [`SourceFile`] turns offsets into the lines and
//! columns that people count (from 1, columns in characters).

/// A half-open range of byte offsets in one source file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset after the last byte.
    pub end: u32,
}

impl Span {
    /// The range `start..end`.
    pub fn new(start: usize, end: usize) -> Self {
        let cut = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
        Span { start: cut(start), end: cut(end) }
    }

    /// The smallest span that covers both.
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// The range as indices into the text.
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Whether the span covers no byte.
    pub fn is_empty(self) -> bool {
        self.start >= self.end
    }
}

/// A line and a column, both counted from 1; the column counts characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LineCol {
    /// The line, from 1.
    pub line: u32,
    /// The character in the line, from 1.
    pub col: u32,
}

/// A named text with an index of its lines.
#[derive(Clone, Debug)]
pub struct SourceFile {
    name: String,
    text: String,
    /// Offset of the first byte of each line; the first is 0.
    line_starts: Vec<u32>,
}

impl SourceFile {
    /// A text with the name to show for it.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        let text = text.into();
        let line_starts = std::iter::once(0)
            .chain(text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n').map(|(at, _)| at as u32 + 1))
            .collect();
        SourceFile { name: name.into(), text, line_starts }
    }

    /// The name to show, usually the path as the user gave it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// How many lines there are; an empty text has one.
    pub fn n_lines(&self) -> usize {
        self.line_starts.len()
    }

    /// The text of a line (from 1) without its line end; empty if there is no such line.
    pub fn line(&self, line: u32) -> &str {
        let index = line.saturating_sub(1) as usize;
        let Some(&start) = self.line_starts.get(index) else { return "" };
        let end = self.line_starts.get(index + 1).map_or(self.text.len(), |&next| next as usize);
        self.text[start as usize..end].trim_end_matches(['\n', '\r'])
    }

    /// Line and column of a byte offset; an offset past the end is the end.
    pub fn line_col(&self, offset: u32) -> LineCol {
        let mut offset = (offset as usize).min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let line = self.line_starts.partition_point(|&start| start as usize <= offset);
        let start = self.line_starts[line - 1] as usize;
        let col = self.text[start..offset].chars().count() + 1;
        LineCol { line: line as u32, col: col as u32 }
    }

    /// The text of a span; empty where the span does not lie in the text.
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.range()).unwrap_or("")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_count_from_one_in_characters() {
        let file = SourceFile::new("t", "ab\nüx\n");
        let at = |offset| (file.line_col(offset).line, file.line_col(offset).col);
        assert_eq!(at(0), (1, 1));
        assert_eq!(at(3), (2, 1));
        assert_eq!(at(5), (2, 2));
        assert_eq!(at(99), (3, 1));
        assert_eq!((file.line(2), file.line(3), file.line(9)), ("üx", "", ""));
    }
}
