//! Words as sentences have them: text from outside made harmless, counted things.
//!
//! In: names and texts of the user's, numbers. Out: text for one line, in which tabs are spaces and control and direction characters are
//! visible; numbers with thin groups and the word that fits them.

use unicode_width::UnicodeWidthChar;

/// How many columns a tab takes at most.
const TAB: usize = 4;

/// The character as it may be shown: no controls, no changes of direction.
pub fn shown(character: char) -> char {
    match character {
        '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{200E}' | '\u{200F}' => char::REPLACEMENT_CHARACTER,
        control if control.is_control() => char::REPLACEMENT_CHARACTER,
        other => other,
    }
}

/// The text as it may be shown on one line: tabs expanded from column 0, everything unprintable replaced.
pub fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut column = 0;
    for character in text.chars() {
        push_clean(&mut out, &mut column, character);
    }
    out
}

/// Appends one character, as it may be shown, to a line that has come to `column`.
pub fn push_clean(line: &mut String, column: &mut usize, character: char) {
    if character == '\t' {
        let spaces = TAB - *column % TAB;
        line.extend(std::iter::repeat_n(' ', spaces));
        *column += spaces;
    } else {
        let character = shown(character);
        line.push(character);
        *column += character.width().unwrap_or(0);
    }
}

/// `1234567` as `1 234 567`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(' ');
        }
        out.push(digit);
    }
    out
}

/// `3 states`, `1 state`: the count and the word that fits it.
pub fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_change_a_terminal_is_visible() {
        assert_eq!(clean("a\tb\u{7}\u{202E}"), "a   b\u{FFFD}\u{FFFD}");
    }
}
