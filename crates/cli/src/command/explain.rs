//! `explain`: more about an error code, with a program that draws it and the same program put right; or about a method, with what it
//! does not follow and its settings.

use driver::methods;
use engine::methods::Declaration;
use engine::settings::Setting;
use lang::codes::{self, Code};
use report::style::{Ink, Style};
use report::text::{hang, wrap};

use crate::failure::Failure;
use crate::options::{DisplayOptions, ExplainOptions};
use crate::status::ExitStatus;
use crate::terminal;

/// How many near codes are named for one that does not exist.
const MOST_NEAR: usize = 3;

/// Prints what there is to say about a code.
pub fn run(options: &ExplainOptions, display: &DisplayOptions) -> Result<ExitStatus, Failure> {
    let style = terminal::style_for_stdout(display);
    let text = match methods::available().find(|declared| declared.name == options.what.trim()) {
        Some(declared) => method_page(declared, &style),
        None => page(codes::find(options.what.trim()).ok_or_else(|| unknown(&options.what))?, &style),
    };
    terminal::print(&style.spelled(&text))?;
    Ok(ExitStatus::AsExpected)
}

/// What a method declares about itself, and what a user may set.
fn method_page(declared: &Declaration, style: &Style) -> String {
    let heading = |words: &str| style.paint(Ink::Strong, words);
    let row = |title: &str, words: &str| hang(&format!("  {title:<18}"), words, style.width.min(80));
    let lacks = |is_size: bool| {
        let titles = declared.lacks.iter().filter(|feature| feature.is_size() == is_size);
        titles.map(|feature| feature.title()).collect::<Vec<_>>().join("; ")
    };
    let decides =
        if declared.is_complete { "always, given time and memory" } else { "not always: it may answer `unknown`" };
    let mut text = format!("{}: {}\n\n", heading(declared.name), declared.answers);
    text += &row("decides", decides);
    for (title, words) in [("does not follow", lacks(false)), ("has no room for", lacks(true))] {
        if !words.is_empty() {
            text += &row(title, &words);
        }
    }
    text += &row("described by", declared.paper);
    let settings = methods::settings(declared.method);
    if !settings.is_empty() {
        text += &format!("\n{} (`--set NAME=VALUE`)\n\n", heading("settings"));
    }
    for Setting { name, about, value } in settings {
        text += &format!("  {name}={value}\n{}", hang("      ", &about, style.width.min(80)));
    }
    text
}

fn page(row: &Code, style: &Style) -> String {
    let heading = |words: &str| style.paint(Ink::Strong, words);
    let mut text = format!("{}: {}\n\n", heading(row.code), row.title);
    for line in wrap(row.explanation, style.width.min(80)) {
        text += &format!("{line}\n");
    }
    text += &format!("\n{}\n\n{}", heading("wrong"), indented(row.wrong));
    text += &format!("\n{}\n\n{}", heading("right"), indented(row.right));
    text
}

fn indented(program: &str) -> String {
    let indent = |line: &str| if line.is_empty() { "\n".to_owned() } else { format!("    {line}\n") };
    program.trim_end().lines().map(indent).collect()
}

/// Numbers are given by theme, so the codes with the nearest numbers are the near ones.
fn unknown(code: &str) -> Failure {
    let wanted = code.trim().to_ascii_uppercase();
    let number = |code: &str| code.get(1..).and_then(|digits| digits.parse::<i64>().ok());
    let mut near: Vec<&str> = codes::all().map(|row| row.code).filter(|code| wanted.starts_with(&code[..1])).collect();
    let advice = match number(&wanted) {
        Some(wanted) if !near.is_empty() => {
            near.sort_by_key(|code| number(code).map(|known| known.abs_diff(wanted)));
            near.truncate(MOST_NEAR);
            near.sort_unstable();
            format!("near codes are {}", near.join(", "))
        }
        _ => "codes look like E0103; each error message shows its own".to_owned(),
    };
    format!("there is no code `{}`; {advice}", report::text::clean(code)).into()
}
