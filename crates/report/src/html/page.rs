//! The frame of the report: what it is about and how it went, then a section for each run, then the documents inside.
//!
//! Sections and panels are ordinary parts of the page with addresses of their own; a script shows one at a time, and
//! on paper all are there.

use base::{Diagnostic, SourceFile};
use engine::run::Run;
use explain::names::{parameters, parameters_with_origin, property_title};
use maud::{Markup, PreEscaped, html};
use serde_json::{Map, Value as Json, json};

use super::escape::{code, script_json, visible};
use super::property::{self, label};
use super::results::{MANY, overview, programs};
use super::table::left_out;
use super::{Checked, Entry, graph};
use crate::human::tally;
use crate::item::{self, Item};
use crate::json as document;
use crate::numbers::{counted, duration};
use crate::style::{Ink, Style};

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// Details of runs are shown until the page has this size; of the rest the table says the verdicts.
const MOST_BYTES: usize = 24_000_000;
/// A larger result document is put into the page without the steps of traces and the sentences of proofs.
const MOST_DOCUMENT_BYTES: usize = 16_000_000;

/// The whole report.
pub fn page(entries: &[Entry<'_>]) -> String {
    let mut traces = Map::new();
    let mut sections = Vec::new();
    let mut n_bytes = 0;
    for (at, entry) in entries.iter().enumerate() {
        let section = match entry {
            Entry::Refused { source, diagnostics } => refused(source, diagnostics, at),
            Entry::Checked(checked) if n_bytes > MOST_BYTES => too_many(checked, at),
            Entry::Checked(checked) => section(checked, at, &mut traces),
        };
        n_bytes += section.0.len();
        sections.push(section);
    }
    let title = title(entries);
    let (result, shortened) = result_document(entries);
    visible(html! {
        (PreEscaped("<!doctype html>\n"))
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="generator" content={ "piecewise " (env!("CARGO_PKG_VERSION")) };
                title { (title) " · Piecewise" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                a.skip href="#main" { "Skip to the results" }
                (markers())
                (head(entries, &title))
                (instances(entries))
                main id="main" tabindex="-1" {
                    @if shortened {
                        (left_out(html! {
                            "The result document is too large for this page: here it is without the steps of traces and \
                             the sentences of proofs; " code { "--format json" } " writes all of it."
                        }))
                    }
                    (overview(entries))
                    @for section in &sections { (section) }
                }
                (foot())
                script type="application/json" id="result" { (script_json(&result)) }
                script type="application/json" id="page" { (script_json(&json!({ "traces": traces }))) }
                script { (PreEscaped(SCRIPT)) }
            }
        }
        "\n"
    })
}

/// What the page may do: show itself, and run the script inside it.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";

/// The tips of arrows, for all drawings.
fn markers() -> Markup {
    html! {
        svg.defs width="0" height="0" aria-hidden="true" {
            defs {
                marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7"
                    orient="auto-start-reverse" { path.tip d="M0 0 L8 4 L0 8 z" {} }
            }
        }
    }
}

fn checked_runs<'e, 'a>(entries: &'e [Entry<'a>]) -> impl Iterator<Item = &'e Checked<'a>> {
    entries.iter().filter_map(|entry| if let Entry::Checked(checked) = entry { Some(checked) } else { None })
}

/// What the report is about: a program and its instance, or how many.
fn title(entries: &[Entry<'_>]) -> String {
    match (entries, &programs(entries)[..]) {
        ([Entry::Checked(one)], _) => {
            let instance = parameters(&one.run.model);
            let name = &one.run.model.name;
            if instance.is_empty() { name.clone() } else { format!("{name}, {instance}") }
        }
        (_, [(name, _)]) => checked_runs(entries).next().map_or((*name).to_owned(), |one| one.run.model.name.clone()),
        (_, several) => counted(several.len() as u64, "program", "programs"),
    }
}

/// The verdict over everything, and what can be done with the page.
fn head(entries: &[Entry<'_>], title: &str) -> Markup {
    let tally = tally(checked_runs(entries).map(|one| &**one.run));
    let (mark, ink) = tally.mark();
    let n_refused = entries.len() - checked_runs(entries).count();
    let mut words = match tally.total() {
        0 => "nothing was checked".to_owned(),
        total => format!("{}: {}", counted(total, "property", "properties"), tally.words()),
    };
    let (mut tone, mut sign) = (
        match ink {
            Ink::Good => "tone-good",
            Ink::Bad => "tone-bad",
            _ => "tone-doubt",
        },
        Style::default().mark(mark),
    );
    if n_refused > 0 {
        words.push_str(&format!("; {} refused", counted(n_refused as u64, "file", "files")));
        (tone, sign) = ("tone-bad", "✘");
    }
    let time = duration(checked_runs(entries).map(|one| one.run.time).sum());
    html! {
        header.top {
            div.about {
                p.brand { "Piecewise" }
                h1 { (title) }
                p class={ "sum " (tone) } {
                    span aria-hidden="true" { (sign) } " " (words) " " span.dim { (time) }
                }
            }
            div.tools hidden {
                a data-file="result" download="result.json" href="#" { "↓ JSON" }
                button type="button" id="theme" { "theme: auto" }
            }
        }
    }
}

/// More sections have no links of their own: the table of many programs or instances has a link to each.
const MOST_TABS: usize = 8;

/// Links to the sections, where there are several.
fn instances(entries: &[Entry<'_>]) -> Markup {
    if entries.len() < 2 {
        return Markup::default();
    }
    let groups = programs(entries);
    let has_tabs = groups.len() < MANY && entries.len() <= MOST_TABS;
    html! {
        nav.instances aria-label="instances" {
            a href="#overview" { "Overview" }
            @for (name, instances) in groups.iter().filter(|_| has_tabs) {
                @let is_sweep = instances.len() > 1;
                @if groups.len() > 1 && is_sweep { span.file { (name) } }
                @for &at in instances {
                    a href={ "#r" (at) } { (tab_title(entries, at, is_sweep)) }
                }
            }
        }
    }
}

fn tab_title(entries: &[Entry<'_>], at: usize, is_sweep: bool) -> String {
    match &entries[at] {
        Entry::Refused { source, .. } => format!("{} (refused)", source.name()),
        Entry::Checked(checked) => {
            let instance = parameters(&checked.run.model).replace(" = ", "=");
            let by_method = checked_runs(entries).any(|one| one.run.method != checked.run.method);
            let method = if by_method { format!(" {}", checked.run.method) } else { String::new() };
            let name = if is_sweep { String::new() } else { format!("{} ", checked.run.model.name) };
            format!("{name}{instance}{method}").trim_end().to_owned()
        }
    }
}

/// Everything about one run.
fn section(checked: &Checked<'_>, at: usize, traces: &mut Map<String, Json>) -> Markup {
    let run = checked.run;
    let graphs = checked.graphs.map(|(method, found)| graph::html(&run.model, method, found)).unwrap_or_default();
    let mut panels = Vec::new();
    for nth in 0..run.results.len() {
        let panel = property::panel(checked, at, nth);
        panels.push(panel.html);
        if let Some(trace) = panel.trace {
            traces.insert(property::id(at, nth), trace);
        }
    }
    html! {
        section.run id={ "r" (at) } aria-labelledby={ "r" (at) "-h" } {
            (run_heading(run, at))
            div.columns {
                nav.properties aria-label="properties" { ul { (links(run, at, !graphs.0.is_empty())) } }
                div.panels {
                    @if run.results.is_empty() { p { "Nothing was asked: no property matches." } }
                    @for panel in &panels { (panel) }
                    @if !graphs.0.is_empty() { (side_panel(&format!("r{at}-graphs"), "Local states", graphs)) }
                    @if !run.warnings.is_empty() {
                        (side_panel(&format!("r{at}-warnings"), "Warnings", messages(&run.source, &run.warnings)))
                    }
                }
            }
        }
    }
}

/// A panel that is not about a property.
fn side_panel(id: &str, title: &str, inner: Markup) -> Markup {
    html! {
        article.panel id=(id) aria-labelledby={ (id) "-h" } tabindex="-1" {
            h3 id={ (id) "-h" } { (title) }
            (inner)
        }
    }
}

fn run_heading(run: &Run, at: usize) -> Markup {
    let instance = parameters_with_origin(&run.model);
    let mut paragraphs = run.model.doc.split("\n\n").map(str::trim).filter(|paragraph| !paragraph.is_empty());
    let first = paragraphs.next();
    let rest: Vec<&str> = paragraphs.collect();
    html! {
        h2 id={ "r" (at) "-h" } {
            (run.model.name)
            @if !instance.is_empty() { " " span.instance { (instance) } }
            " " span.file { (run.source.name()) }
        }
        @if let Some(first) = first { p.doc { (first) } }
        @if !rest.is_empty() {
            details.doc {
                summary { "about this program" }
                @for paragraph in rest { p { (paragraph) } }
            }
        }
    }
}

fn links(run: &Run, at: usize, has_graphs: bool) -> Markup {
    let link = |to: &str, tone: Option<&str>, mark: &str, words: Markup| {
        html! { li { a href={ "#" (to) } class=[tone] { span.mark aria-hidden="true" { (mark) } (words) } } }
    };
    html! {
        @for (nth, result) in run.results.iter().enumerate() {
            @let (tone, mark, word) = label(run, result);
            @let words = html! {
                span.name {
                    (property_title(&run.model, result.property))
                    @if result.as_expected(&run.model) == Some(false) { " !" }
                }
                span.word { (word.to_lowercase()) }
            };
            (link(&property::id(at, nth), Some(tone.class()), mark, words))
        }
        @if has_graphs { (link(&format!("r{at}-graphs"), None, "◇", html! { span.name { "Local states" } })) }
        @if !run.warnings.is_empty() {
            @let words = counted(run.warnings.len() as u64, "warning", "warnings");
            (link(&format!("r{at}-warnings"), Some("tone-doubt"), "⚠", html! { span.name { (words) } }))
        }
    }
}

/// A run of which only the verdicts are said.
fn too_many(checked: &Checked<'_>, at: usize) -> Markup {
    let run = checked.run;
    html! {
        section.run id={ "r" (at) } aria-labelledby={ "r" (at) "-h" } {
            (run_heading(run, at))
            ul {
                @for result in &run.results {
                    @let (tone, mark, word) = label(run, result);
                    li class=(tone.class()) {
                        (mark) " " (word.to_lowercase()) " " strong { (property_title(&run.model, result.property)) }
                    }
                }
            }
            (left_out("The page would be too large with more about it; a report on this program alone has everything."))
        }
    }
}

/// A program that was refused: why.
fn refused(source: &SourceFile, diagnostics: &[Diagnostic], at: usize) -> Markup {
    html! {
        section.run id={ "r" (at) } aria-labelledby={ "r" (at) "-h" } {
            h2 id={ "r" (at) "-h" } { (source.name()) }
            p.tone-bad { strong { "✘ It was refused; nothing was checked." } }
            (messages(source, diagnostics))
        }
    }
}

fn messages(source: &SourceFile, diagnostics: &[Diagnostic]) -> Markup {
    html! {
        ul.messages {
            @for one in diagnostics.iter().take(200) {
                @let at = source.line_col(one.primary.span.start);
                li {
                    strong { (if one.is_error() { "error" } else { "warning" }) " " (one.code) }
                    ", line " (at.line) ": " (one.message)
                    @for help in &one.helps { br; "help: " (help.text) }
                    br;
                    (code(source.line(at.line).trim()))
                }
            }
        }
    }
}

fn foot() -> Markup {
    html! {
        footer {
            p {
                "piecewise " (env!("CARGO_PKG_VERSION")) " · this page is one file and fetches nothing · keys: "
                kbd { "←" } " " kbd { "→" } " step, " kbd { "Home" } " " kbd { "End" } " first and last, "
                kbd { "space" } " plays"
            }
        }
    }
}

/// The result document, as `--format json` writes it; without its longest parts where it is too large, which is said.
fn result_document(entries: &[Entry<'_>]) -> (Json, bool) {
    let items: Vec<Item<'_>> = entries.iter().map(Entry::item).collect();
    let mut result = document::value_of(&document::document(&items, item::status(&items)));
    let is_large = result.to_string().len() > MOST_DOCUMENT_BYTES;
    if is_large {
        shorten(&mut result);
        result["shortened"] = json!(true);
    }
    (result, is_large)
}

fn shorten(result: &mut Json) {
    for run in result["runs"].as_array_mut().into_iter().flatten() {
        shorten(run);
    }
    for one in result["results"].as_array_mut().into_iter().flatten() {
        for key in ["counterexample", "witness", "guarantees"] {
            one[key] = Json::Null;
        }
        one["invariants"] = json!([]);
    }
}
