//! What a step changes, in a few words: the old and the new value; of a long channel or set only what it gains and loses.

use explain::bundle::ShownChange;

use crate::style::{Mark, Style};
use crate::text::width;

/// Changes that take more columns say what is gained and lost, where that is all.
const LONG: usize = 36;

/// `level: 0 ⇒ 1`; `a = 3` for one that comes with a call; `mail gains (ask, 0)` where the whole would be long.
pub fn change_text(change: &ShownChange, name: &str, style: &Style) -> String {
    let Some(old) = &change.old else { return format!("{name} = {}", change.new) };
    let whole = format!("{name}: {old} {} {}", style.mark(Mark::Becomes), change.new);
    match width(&whole) > LONG {
        true => difference(old, &change.new).map_or(whole, |difference| format!("{name} {difference}")),
        false => whole,
    }
}

/// What the content of a channel or a set gains and loses; `None` where that does not say all, or is no shorter.
fn difference(old: &str, new: &str) -> Option<String> {
    let (before, after) = (elements(old)?, elements(new)?);
    // An array keeps its length, and which element is which.
    if old.starts_with('[') && before.len() == after.len() {
        return None;
    }
    let lost = without(&before, &after);
    let gained = without(&after, &before);
    let stay = |all: &[&str], gone: &[&str]| without(all, gone).join(", ");
    // The others have to keep their order.
    if stay(&before, &lost) != stay(&after, &gained) {
        return None;
    }
    let part = |verb: &str, these: &[&str]| (!these.is_empty()).then(|| format!("{verb} {}", these.join(", ")));
    let parts: Vec<String> = [part("loses", &lost), part("gains", &gained)].into_iter().flatten().collect();
    let difference = parts.join(", ");
    (!parts.is_empty() && width(&difference) < width(old) + width(new)).then_some(difference)
}

/// The elements in the brackets `[…]` or `{…}`.
fn elements(text: &str) -> Option<Vec<&str>> {
    let inner = match (text.chars().next()?, text.chars().last()?) {
        ('[', ']') | ('{', '}') => &text[1..text.len() - 1],
        _ => return None,
    };
    let (mut depth, mut from, mut found) = (0_usize, 0, Vec::new());
    for (at, letter) in inner.char_indices() {
        match letter {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.checked_sub(1)?,
            ',' if depth == 0 => {
                found.push(inner[from..at].trim());
                from = at + 1;
            }
            _ => {}
        }
    }
    let last = inner[from..].trim();
    found.extend((!last.is_empty()).then_some(last));
    Some(found)
}

/// The first elements but those, each as often as it is among the others, the first ones first.
fn without<'a>(all: &[&'a str], others: &[&str]) -> Vec<&'a str> {
    let mut others = others.to_vec();
    let mut left = Vec::new();
    for one in all {
        match others.iter().position(|other| other == one) {
            Some(at) => drop(others.remove(at)),
            None => left.push(*one),
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use super::difference;

    #[test]
    fn long_channels_and_sets_say_what_comes_and_goes() {
        let said = |old, new| difference(old, new).unwrap_or_default();
        assert_eq!(said("[(1, 0), (1, 1)]", "[(1, 0), (1, 1), (2, 0)]"), "gains (2, 0)");
        assert_eq!(said("{0, 2}", "{0, 1, 2}"), "gains 1");
        assert_eq!(said("{red, green, blue}", "{blue, white}"), "loses red, green, gains white");
        assert_eq!(said("[a, b, c]", "[b, c]"), "loses a");
        assert_eq!(said("[a, b, a]", "[b, a]"), "loses a");
    }

    /// An array has places, and messages have an order.
    #[test]
    fn what_does_not_say_all_is_shown_whole() {
        assert_eq!(difference("[0, 1, 2]", "[0, 2, 2]"), None);
        assert_eq!(difference("[a, b]", "[b, a, c]"), None);
        assert_eq!(difference("3", "4"), None);
    }
}
