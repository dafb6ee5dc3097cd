//! Text from outside made harmless for a page.
//!
//! In: names, statements, comments and values as the user wrote them, which may contain anything. Out: markup. `maud`
//! escapes every text that is not [`Markup`] already; what is left for here is what a browser would not show, and JSON
//! that cannot end the element that contains it.

use maud::{Markup, PreEscaped, Render, html};
use serde_json::Value as Json;

use crate::text::shown;

/// The text in the type of code.
pub fn code(text: &str) -> Markup {
    html! { code { (text) } }
}

/// A sentence in which text between backticks is code.
pub fn sentence(text: &str) -> Markup {
    let parts: Vec<&str> = text.split('`').collect();
    // A backtick that is not closed is one of the text.
    if parts.len().is_multiple_of(2) {
        return html! { (text) };
    }
    html! { @for (nth, part) in parts.iter().enumerate() { @if nth % 2 == 1 { (code(part)) } @else { (part) } } }
}

/// The parts with this text between them.
pub fn joined(parts: &[Markup], between: impl Render) -> Markup {
    html! {
        @for (nth, part) in parts.iter().enumerate() {
            @if nth > 0 { (between) }
            (part)
        }
    }
}

/// The page with controls and changes of direction made visible, wherever they came from; lines and columns
/// stay.
pub fn visible(page: Markup) -> String {
    let harmless = |letter: char| matches!(letter, '\n' | '\t') || shown(letter) == letter;
    if page.0.chars().all(harmless) {
        return page.0;
    }
    page.0.chars().map(|letter| if harmless(letter) { letter } else { shown(letter) }).collect()
}

/// A document for inside a `script` element: see [`script_text`].
pub fn script_json(document: &Json) -> Markup {
    script_text(&document.to_string())
}

/// The text of a document for inside a `script` element: the same value, no `<` with which the element could be ended,
/// and nothing that a browser would not show.
pub fn script_text(document: &str) -> Markup {
    let mut out = String::with_capacity(document.len());
    for letter in document.chars() {
        match letter {
            '\n' | '\t' => out.push(letter),
            '<' => out.push_str("\\u003c"),
            letter if shown(letter) == letter => out.push(letter),
            hidden => out.extend(hidden.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}"))),
        }
    }
    PreEscaped(out)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nothing_from_outside_becomes_a_tag_or_leaves_its_attribute() {
        let hostile = "<b a=\"1\" c='2'>&\u{202e}\u{7}\n";
        let page = visible(html! { p title=(hostile) { (hostile) (code("a<b")) } });
        let text = "&lt;b a=&quot;1&quot; c='2'&gt;&amp;\u{fffd}\u{fffd}\n";
        assert_eq!(page, format!("<p title=\"{text}\">{text}<code>a&lt;b</code></p>"));
    }

    #[test]
    fn a_document_cannot_end_its_element_and_stays_the_same() {
        let document = json!({ "</script><!--": ["<script>", "\u{2028}\u{202e}\u{7}\n\t", "\"'&"] });
        let text = visible(script_json(&document));
        assert!(!text.contains('<') && !text.contains('\u{202e}'));
        assert_eq!(serde_json::from_str::<Json>(&text).unwrap(), document);
    }

    #[test]
    fn backticks_are_code() {
        assert_eq!(sentence("outside the type of `a<b>`").0, "outside the type of <code>a&lt;b&gt;</code>");
        assert_eq!(sentence("one ` alone").0, "one ` alone");
    }

    #[test]
    fn parts_are_joined() {
        assert_eq!(joined(&[code("a"), code("b")], " < ").0, "<code>a</code> &lt; <code>b</code>");
        assert_eq!(joined(&[], ", ").0, "");
    }
}
