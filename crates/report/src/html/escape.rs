//! Text from outside made harmless for a page.
//!
//! In: names, statements, comments and values as the user wrote them, which may contain anything. Out: text that a
//! browser shows as itself, between tags and inside quoted attributes; JSON that cannot end the element which it
//! stands in.

use serde_json::Value as Json;

use crate::text::shown;

/// The text, for between tags and for attributes in quotes; controls and changes of direction become visible.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(' '),
            other => out.push(shown(other)),
        }
    }
    out
}

/// The text in the type of code.
pub fn code(text: &str) -> String {
    format!("<code>{}</code>", escaped(text))
}

/// A document for inside a `script` element: the same value, and no `<` with which the element could be ended.
pub fn script_json(document: &Json) -> String {
    document.to_string().replace('<', "\\u003c")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nothing_from_outside_becomes_a_tag_or_leaves_its_attribute() {
        assert_eq!(escaped("<b a=\"1\" c='2'>&"), "&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;");
        assert_eq!(escaped("a\u{202e}b\u{7}c\nd"), "a\u{fffd}b\u{fffd}c d");
        assert_eq!(code("a<b"), "<code>a&lt;b</code>");
    }

    #[test]
    fn a_document_cannot_end_its_element_and_stays_the_same() {
        let document = json!({ "</script><!--": ["<script>", "\u{2028}", "\"'&"] });
        let text = script_json(&document);
        assert!(!text.contains('<'));
        assert_eq!(serde_json::from_str::<Json>(&text).unwrap(), document);
    }
}
