//! What the front-end says about programs, on the standard error.

use base::Diagnostic;
use driver::check::Program;
use driver::load::{Batch, LoadError, Loaded, Refusal};
use report::diagnostics;

use crate::failure::Failure;
use crate::options::{self, DisplayOptions};
use crate::terminal;

/// Says why a program is refused.
pub fn refusal(refusal: &Refusal, outcome: &str, display: &DisplayOptions) {
    let style = terminal::style_for_stderr(display);
    terminal::complain(&diagnostics::draw_with_summary(&refusal.source, &refusal.diagnostics, outcome, &style));
}

/// Why a program is refused, a line for each error.
pub fn lines(refusal: &Refusal) -> Vec<String> {
    let Refusal { source, diagnostics } = refusal;
    let line = |diagnostic: &Diagnostic| {
        let at = source.line_col(diagnostic.primary.span.start);
        format!("{}:{}:{}: {}: {}", source.name(), at.line, at.col, diagnostic.code, diagnostic.message)
    };
    diagnostics.iter().filter(|diagnostic| diagnostic.is_error()).map(line).collect()
}

/// Says what looks unintended in a program; nothing where the user wants quiet.
pub fn warnings(program: &Program, display: &DisplayOptions) {
    if !display.quiet && !program.warnings.is_empty() {
        let style = terminal::style_for_stderr(display);
        terminal::complain(&diagnostics::draw(&program.source, &program.warnings, &style));
    }
}

/// Says everything about a batch: refusals, warnings (once for each file), what was left out.
pub fn batch(batch: &Batch, outcome: &str, display: &DisplayOptions) {
    let mut warned: Option<&str> = None;
    for item in &batch.items {
        match item {
            Loaded::Refused(refused) => refusal(refused, outcome, display),
            Loaded::Program(program) if warned != Some(program.source.name()) => {
                warnings(program, display);
                warned = Some(program.source.name());
            }
            Loaded::Program(_) => {}
        }
    }
    if !display.quiet {
        batch.notes.iter().for_each(|note| terminal::complain(&format!("note: {note}\n")));
    }
}

impl From<LoadError> for Failure {
    fn from(error: LoadError) -> Self {
        match error {
            LoadError::Parameters(messages) => Failure::Input(messages),
            LoadError::Files(errors) => {
                let message = |error: &driver::files::FileError| {
                    let near = near_command(error).map(|near| format!("; did you mean the command `{near}`?"));
                    format!("{error}{}", near.unwrap_or_default())
                };
                Failure::Input(errors.iter().map(message).collect())
            }
        }
    }
}

/// `piecewise chekc lock.pw` asks for a file `chekc`; a command may have been meant.
fn near_command(error: &driver::files::FileError) -> Option<String> {
    let word = error.path.to_str().filter(|_| !error.path.exists())?;
    let table = options::command();
    let names = table.get_subcommands().map(clap::Command::get_name);
    base::diagnostic::nearest_name(word, names).map(str::to_owned)
}
