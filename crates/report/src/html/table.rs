//! Tables on a page: a row of heads, rows with a head of their own, and a box that scrolls where a table is too wide.

use maud::{Markup, Render, html};

/// A row of heads.
pub fn heads(names: &[&str]) -> Markup {
    html! { @for name in names { th scope="col" { (name) } } }
}

/// A row: its head and its cells.
pub fn row(head: impl Render, cells: &[&dyn Render]) -> Markup {
    html! {
        tr {
            th scope="row" { (head) }
            @for cell in cells { td { (cell) } }
        }
    }
}

/// A table of these rows; without heads where there are none.
pub fn table(class: Option<&str>, heads: Markup, rows: Markup) -> Markup {
    html! {
        table class=[class] {
            @if !heads.0.is_empty() { thead { tr { (heads) } } }
            tbody { (rows) }
        }
    }
}

/// A box that scrolls sideways; with a title, a focusable ARIA region.
pub fn wide(title: &str, inner: Markup) -> Markup {
    match title {
        "" => html! { div.wide { (inner) } },
        title => html! { div.wide tabindex="0" role="region" aria-label=(title) { (inner) } },
    }
}

/// A part that is folded away.
pub fn folded(summary: impl Render, inner: Markup) -> Markup {
    html! { details { summary { (summary) } (inner) } }
}

/// What is said where something is not shown.
pub fn left_out(words: impl Render) -> Markup {
    html! { p.left-out { (words) } }
}
