//! Sums, minima and maxima as they were written.
//!
//! The Model knows counts only: the front-end makes `sum(k: e)` of `count(# …, k: # < e)`, and `max(k: e)` of `lo + count(# …: exists k: e > #)`.
//! In: the text of an expression of the Model. Out: the same with the user's words; a text without `#` is left as it is.

/// The text with `sum`, `min` and `max` where these were written.
pub fn as_written(text: &str) -> String {
    let mut out = text.to_owned();
    // The innermost is the last one that begins.
    while let Some(start) = out.rfind("count(# in ") {
        let Some(written) = rewritten(&out, start) else { break };
        out = written;
    }
    out
}

fn rewritten(text: &str, start: usize) -> Option<String> {
    let inner = start + "count(".len();
    let end = inner + closing(&text[inner..])?;
    let body = &text[inner..end];
    if let Some((binders, value)) = body.split_once(": # < ") {
        let (_, bound) = binders.split_once(", ")?;
        return Some(format!("{}sum({bound}: {value}){}", &text[..start], &text[end + 1..]));
    }
    let (_, quantified) = body.split_once(": ")?;
    let (word, rest) = match quantified.split_once(' ')? {
        ("exists", rest) => ("max", rest),
        ("forall", rest) => ("min", rest),
        _ => return None,
    };
    let value = rest.strip_suffix(" > #")?;
    // The lower bound comes before the count.
    let before = text[..start].strip_suffix(" + ")?;
    let before = before.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '-');
    Some(format!("{before}{word}({value}){}", &text[end + 1..]))
}

/// Where the parenthesis is that closes what has been opened before the text.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0_i32;
    for (at, letter) in text.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' if depth == 0 => return Some(at),
            ')' => depth -= 1,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::as_written;

    #[test]
    fn counts_of_levels_are_sums_and_extremes() {
        let cases = [
            ("count(# in 0..=0, i: # < x[i]) <= 2", "sum(i: x[i]) <= 2"),
            ("0 + count(# in 0..=1: exists k in 0..=1: x > #) <= 1", "max(k in 0..=1: x) <= 1"),
            ("-2 + count(# in -2..=1: forall i: P[i].y > #) < count(i: a)", "min(i: P[i].y) < count(i: a)"),
            ("count(# in 0..=3, k: # < sum(x)) == 3", "sum(k: sum(x)) == 3"),
            ("count(i: P[i]@crit) <= 1", "count(i: P[i]@crit) <= 1"),
        ];
        for (text, expected) in cases {
            assert_eq!(as_written(text), expected);
        }
    }
}
