//! Numbers of messages as they were written.
//!
//! The Model knows the number of messages of a channel as a variable, `mail.len`. In: the text of an expression of the Model. Out: the same with the
//! user's words, `len(mail)`, and `empty(mail)` where it is compared with 0.

use model::Model;
use model::variable::VariableLook;

/// What may stand before a comparison, and after it.
const BEFORE: [&str; 6] = ["(", "&& ", "|| ", "=> ", ": ", "!"];
const AFTER: [&str; 6] = [")", " &&", " ||", " =>", " <=>", ","];

/// The text with `len(c)` and `empty(c)` where these were written.
pub fn lengths_as_written(model: &Model, text: &str) -> String {
    let mut out = text.to_owned();
    for var in model.vars.iter() {
        if let VariableLook::ChannelLength(channel) = &var.look {
            out = with_length(&out, &var.name, channel);
        }
    }
    out
}

/// The text in which the variable of a channel's length is called by the channel.
fn with_length(text: &str, variable: &str, channel: &str) -> String {
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '.';
    let (mut done, mut rest) = (String::new(), text.to_owned());
    while let Some(at) = rest.find(variable) {
        let (before, after) = (&rest[..at], &rest[at + variable.len()..]);
        done += before;
        if done.ends_with(is_word) || after.starts_with(is_word) {
            done += variable;
            rest = after.to_owned();
            continue;
        }
        let indices = &after[..end_of_indices(after)];
        let after = &after[indices.len()..];
        let is_whole = done.is_empty() || BEFORE.iter().any(|sign| done.ends_with(sign));
        let compared = after
            .strip_prefix(" == 0")
            .filter(|after| is_whole && (after.is_empty() || AFTER.iter().any(|sign| after.starts_with(sign))));
        rest = match compared {
            None => {
                done += &format!("len({channel}{indices})");
                after.to_owned()
            }
            Some(after) => {
                // `!(c.len == 0)` needs no parentheses any more.
                let is_negated = done.ends_with("!(") && after.starts_with(')');
                done.truncate(done.len() - usize::from(is_negated));
                done += &format!("empty({channel}{indices})");
                after[usize::from(is_negated)..].to_owned()
            }
        };
    }
    done + &rest
}

/// Where the indices end that a text begins with.
fn end_of_indices(text: &str) -> usize {
    let (mut depth, mut end) = (0_usize, 0);
    for (at, letter) in text.char_indices() {
        match letter {
            '[' => depth += 1,
            ']' => {
                depth = depth.saturating_sub(1);
                end = at + 1;
            }
            _ if depth == 0 => break,
            _ => {}
        }
    }
    end
}

#[cfg(test)]
mod tests {
    use super::with_length;

    #[test]
    fn lengths_are_those_of_channels() {
        for (text, expected) in [
            ("!(box.len[i] == 0) => i in s", "!empty(box[i]) => i in s"),
            ("box.len[next[k]] <= 2", "len(box[next[k]]) <= 2"),
            ("a + box.len[0] == 0", "a + len(box[0]) == 0"),
            ("box.len[0] == 0 || b", "empty(box[0]) || b"),
            ("box.len[0] == 01", "len(box[0]) == 01"),
            ("my_box.len[0] == 0 && box.length", "my_box.len[0] == 0 && box.length"),
            ("!(box.len[0] == 0 && b)", "!(empty(box[0]) && b)"),
        ] {
            assert_eq!(with_length(text, "box.len", "box"), expected);
        }
    }
}
