//! `fmt`: programs in the usual layout, in place, on the standard output, or only looked at.
//!
//! A file with errors is never written, and a file that is formatted already is not touched.

use std::io;
use std::path::{Path, PathBuf};

use driver::files;
use driver::load::Refusal;
use lang::pw;

use crate::failure::Failure;
use crate::files::Target;
use crate::messages;
use crate::options::{DisplayOptions, FmtOptions};
use crate::status::ExitStatus;
use crate::terminal;

/// The name of the standard input among the files, and what messages call it.
const STDIN: (&str, &str) = ("-", "<stdin>");

/// Formats, or looks whether everything is formatted.
pub fn run(options: &FmtOptions, display: &DisplayOptions) -> Result<ExitStatus, Failure> {
    let (streams, paths): (Vec<PathBuf>, Vec<PathBuf>) =
        options.files.iter().cloned().partition(|path| path == Path::new(STDIN.0));
    let mut statuses = Vec::new();
    if !streams.is_empty() {
        statuses.push(format_stdin(options.check, display)?);
    }
    for path in files::find(&paths)? {
        // Directories have files in other languages, too; a file that is named is refused in words.
        if is_foreign(&path) && !paths.contains(&path) {
            continue;
        }
        statuses.push(format_file(&path, options.check, display)?);
    }
    Ok(ExitStatus::of_all(statuses))
}

/// Whether the file is in a language that has no usual layout here.
fn is_foreign(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "dve" || ending == "pds")
}

fn format_stdin(check: bool, display: &DisplayOptions) -> Result<ExitStatus, Failure> {
    let bytes = files::read_stream(io::stdin().lock()).map_err(|error| format!("{}: {error}", STDIN.1))?;
    let bytes = bytes.ok_or_else(|| format!("{}: {}", STDIN.1, files::too_large()))?;
    let Some(layout) = layout(STDIN.1, bytes, display) else { return Ok(ExitStatus::BadInput) };
    if check {
        return Ok(tell_unformatted(STDIN.1, &layout)?);
    }
    terminal::print(&layout.after)?;
    Ok(ExitStatus::AsExpected)
}

fn format_file(path: &Path, check: bool, display: &DisplayOptions) -> Result<ExitStatus, Failure> {
    let name = path.display().to_string();
    if is_foreign(path) {
        return Err(format!("{name}: only programs in the Piecewise language are formatted").into());
    }
    let Some(layout) = layout(&name, files::read(path)?, display) else { return Ok(ExitStatus::BadInput) };
    if check {
        return Ok(tell_unformatted(&name, &layout)?);
    }
    if layout.before != layout.after {
        Target::new(path)?.write(&layout.after)?;
    }
    Ok(ExitStatus::AsExpected)
}

/// A text before and after.
struct Layout {
    before: String,
    after: String,
}

/// Formats a text; where it is no program, says why on the standard error.
fn layout(name: &str, bytes: Vec<u8>, display: &DisplayOptions) -> Option<Layout> {
    let refused = match pw::decode(name, bytes) {
        Err(undecodable) => Refusal { source: undecodable.file, diagnostics: vec![undecodable.diagnostic] },
        Ok(source) => match pw::format(&source) {
            Ok(after) => return Some(Layout { before: source.text().to_owned(), after }),
            Err(diagnostics) => Refusal { source, diagnostics },
        },
    };
    messages::refusal(&refused, "nothing was written", display);
    None
}

/// Lists the file where it is not formatted.
fn tell_unformatted(name: &str, layout: &Layout) -> io::Result<ExitStatus> {
    if layout.before == layout.after {
        return Ok(ExitStatus::AsExpected);
    }
    terminal::print(&format!("{name}\n"))?;
    Ok(ExitStatus::NotAsExpected)
}
