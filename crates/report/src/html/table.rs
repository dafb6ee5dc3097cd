//! Tables on a page: a row of heads, rows with a head of their own, and a box that scrolls where a table is too wide.
//!
//! All texts are HTML already.

use super::escape::escaped;

/// A row of heads.
pub fn heads(names: &[&str]) -> String {
    names.iter().map(|name| format!("<th scope=\"col\">{name}</th>")).collect()
}

/// A row: its head and its cells.
pub fn row(head: &str, cells: &[&str]) -> String {
    let cells: String = cells.iter().map(|cell| format!("<td>{cell}</td>")).collect();
    format!("<tr><th scope=\"row\">{head}</th>{cells}</tr>\n")
}

/// A table of these rows; without heads where there are none.
pub fn table(class: &str, heads: &str, rows: &str) -> String {
    let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
    let heads = if heads.is_empty() { String::new() } else { format!("<thead><tr>{heads}</tr></thead>") };
    format!("<table{class}>{heads}<tbody>\n{rows}</tbody></table>")
}

/// A box that scrolls sideways; with a title, a focusable ARIA region.
pub fn wide(title: &str, inner: &str) -> String {
    match title {
        "" => format!("<div class=\"wide\">{inner}</div>\n"),
        title => format!(
            "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"{}\">{inner}</div>\n",
            escaped(title)
        ),
    }
}

/// A part that is folded away.
pub fn folded(summary: &str, inner: &str) -> String {
    format!("<details><summary>{summary}</summary>\n{inner}</details>\n")
}
