//! The standard output and the standard error, and how text looks there.
//!
//! Results go to the standard output, messages to the standard error. A reader that goes away (`piecewise … | head`) is no
//! error: the rest is not written, and the exit status is still the answer's.

use std::env;
use std::io::{self, IsTerminal, Write};

use console::Term;
use report::Style;

use crate::options::{DisplayOptions, When};

/// Below this width tables cannot be drawn; the terminal wraps them.
const NARROWEST: usize = 60;

/// Beyond this width the eye loses the line.
const WIDEST: usize = 120;

/// Writes results to the standard output. A closed pipe is quiet.
///
/// # Errors
/// Anything else that the system says, a full disk say.
pub fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// Writes a message to the standard error; if nobody can read it, there is nobody to tell.
pub fn complain(text: &str) {
    let mut out = io::stderr().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).ok();
}

/// Writes `error: …` and a line end to the standard error.
pub fn error(message: impl std::fmt::Display) {
    complain(&format!("error: {message}\n"));
}

/// How text on the standard output is dressed.
pub fn style_for_stdout(display: &DisplayOptions) -> Style {
    style(display, io::stdout().is_terminal(), &Term::stdout())
}

/// How text on the standard error is dressed.
pub fn style_for_stderr(display: &DisplayOptions) -> Style {
    style(display, io::stderr().is_terminal(), &Term::stderr())
}

/// How text in a file is dressed: as on a terminal of the usual width, with colour only where it is insisted on.
pub fn style_for_file(display: &DisplayOptions) -> Style {
    Style { color: display.color == When::Always, ascii: is_ascii(display), ..Style::default() }
}

/// Whether only ASCII is written: where the user says so, and where the locale is one that has no other letters.
fn is_ascii(display: &DisplayOptions) -> bool {
    // The first that is set counts; where none is, nobody said anything about letters.
    let set = ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .find_map(|name| env::var(name).ok().filter(|value| !value.is_empty()));
    display.ascii || set.is_some_and(|locale| ["C", "POSIX"].contains(&locale.as_str()))
}

fn style(display: &DisplayOptions, is_terminal: bool, terminal: &Term) -> Style {
    let usual = Style::default();
    let width = match terminal.size_checked() {
        Some((_, columns)) if is_terminal => usize::from(columns).clamp(NARROWEST, WIDEST),
        // Who pipes the text somewhere may know how wide that is.
        _ => match env::var("COLUMNS").ok().and_then(|columns| columns.trim().parse::<usize>().ok()) {
            Some(columns) if columns > 0 => columns.clamp(NARROWEST, WIDEST),
            _ => usual.width,
        },
    };
    Style { color: colors(display.color, is_terminal), ascii: is_ascii(display), width }
}

fn colors(when: When, is_terminal: bool) -> bool {
    let is_set = |name| env::var_os(name).is_some_and(|value| !value.is_empty());
    match when {
        When::Always => true,
        When::Never => false,
        When::Auto => is_terminal && !is_set("NO_COLOR") && env::var_os("TERM").is_none_or(|term| term != "dumb"),
    }
}
