//! Text on a terminal: display widths, padding, cutting, wrapping.
//!
//! Widths are columns, not bytes or characters: `中` takes two, a combining accent none. Text from outside is made harmless
//! first ([`clean`]): tabs become spaces, control and direction characters become visible.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

pub use explain::text::{clean, push_clean, shown};

use crate::style::{Mark, Style};

/// How many columns the text takes.
pub fn width(text: &str) -> usize {
    text.width()
}

/// The text with spaces after it, up to the width.
pub fn pad(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

/// The text with spaces before it, up to the width.
pub fn pad_left(text: &str, columns: usize) -> String {
    format!("{}{text}", " ".repeat(columns.saturating_sub(width(text))))
}

/// The text, its end cut off and marked where it is wider than `columns`.
pub fn cut(text: &str, columns: usize, style: &Style) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mark = style.mark(Mark::Cut);
    let room = columns.saturating_sub(width(mark));
    let mut out = String::new();
    let mut used = 0;
    for character in text.chars() {
        used += character.width().unwrap_or(0);
        if used > room {
            break;
        }
        out.push(character);
    }
    out.push_str(mark);
    out
}

/// The text, its middle cut out and marked where it is wider than `columns`.
pub fn cut_middle(text: &str, columns: usize, style: &Style) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mark = style.mark(Mark::Cut);
    let room = columns.saturating_sub(width(mark));
    let head_room = room - room / 3;
    let mut head = String::new();
    let mut used = 0;
    for character in text.chars() {
        used += character.width().unwrap_or(0);
        if used > head_room {
            break;
        }
        head.push(character);
    }
    let mut tail: Vec<char> = Vec::new();
    let mut used = 0;
    for character in text.chars().rev() {
        used += character.width().unwrap_or(0);
        if used > room / 3 {
            break;
        }
        tail.push(character);
    }
    format!("{head}{mark}{}", tail.iter().rev().collect::<String>())
}

/// The words of the text in lines of at most `columns`; a longer word is a line of its own, broken where it must be.
pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(8);
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is always a line");
        if line.is_empty() {
            line.push_str(word);
        } else if width(line) + 1 + width(word) <= columns {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
        while width(lines.last().expect("there is always a line")) > columns {
            let long = lines.pop().expect("there is always a line");
            let at = break_point(&long, columns);
            lines.push(long[..at].to_owned());
            lines.push(long[at..].to_owned());
        }
    }
    lines
}

/// The byte at which the first `columns` columns end; after the first character at least.
fn break_point(text: &str, columns: usize) -> usize {
    let mut used = 0;
    for (at, character) in text.char_indices() {
        used += character.width().unwrap_or(0);
        if used > columns && at > 0 {
            return at;
        }
    }
    text.len()
}

/// `lead` and the wrapped text, its later lines under its first; each line ends with a newline.
pub fn hang(lead: &str, text: &str, columns: usize) -> String {
    let indent = width(lead);
    let mut out = String::new();
    for (nth, line) in wrap(text, columns.saturating_sub(indent)).iter().enumerate() {
        let start = if nth == 0 { lead.to_owned() } else { " ".repeat(indent) };
        out.push_str(format!("{start}{line}").trim_end());
        out.push('\n');
    }
    out
}

/// `left`, and `right` at the right margin, or after two spaces where they do not fit.
pub fn spread(left: &str, right: &str, columns: usize) -> String {
    if right.is_empty() {
        return left.to_owned();
    }
    let gap = columns.saturating_sub(width(left) + width(right)).max(2);
    format!("{left}{}{right}", " ".repeat(gap))
}

/// As [`spread`], with `left` cut where they do not fit.
pub fn spread_cut(left: &str, right: &str, columns: usize, style: &Style) -> String {
    spread(&cut(left, columns.saturating_sub(width(right) + 2), style), right, columns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_columns() {
        assert_eq!(pad("中", 4), "中  ");
    }

    #[test]
    fn long_text_is_cut_and_wrapped_within_its_columns() {
        let style = Style::default();
        assert_eq!(cut("abcdefgh", 5, &style), "abcd…");
        assert_eq!(cut_middle("abcdefghij", 7, &style), "abcd…ij");
        assert_eq!(wrap("one two three", 8), ["one two", "three"]);
        assert_eq!(wrap("abcdefghijkl", 8), ["abcdefgh", "ijkl"]);
        assert_eq!(hang("  help: ", "aaa bbb ccc", 16), "  help: aaa bbb\n        ccc\n");
    }
}
