//! The command line: arguments in, text and an exit status out.
//!
//! [`options`] is the table of commands and options; each command is a file of `command`.

pub mod formats;
pub mod options;
pub mod status;
pub mod values;

mod arguments;
mod command;
mod crash;
mod decided;
mod failed;
mod failure;
mod farm_progress;
mod files;
mod host_options;
mod instance;
mod interrupt;
mod kept;
mod limits;
mod live;
mod messages;
mod output;
mod progress;
mod promela_options;
mod proof_options;
mod report_page;
mod terminal;

use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;
use std::thread;

pub use crash::exit_on_panic;
use options::Cli;
use status::ExitStatus;

/// Deeply nested programs are walked by recursion; the parser bounds their depth, and this is ample for that.
const STACK_BYTES: usize = 256 << 20;

/// Runs one call of the tool.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    crash::exit_on_panic();
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    if arguments::asks_for_version(&arguments) {
        // Nobody reads the text where it cannot be written.
        std::io::stdout().write_all(arguments::VERSION.as_bytes()).ok();
        return ExitCode::SUCCESS;
    }
    match arguments::parse(arguments) {
        Ok(cli) => run(cli).into(),
        Err(error) => {
            // Nobody reads the text where it cannot be written.
            error.print().ok();
            ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(ExitStatus::BadInput.code()))
        }
    }
}

/// Carries out the call on a thread with a large stack.
fn run(cli: Cli) -> ExitStatus {
    let work = move || command::run(&cli).unwrap_or_else(|failure| failure.tell());
    match thread::Builder::new().stack_size(STACK_BYTES).spawn(work) {
        // A panic has ended the process before anybody can join.
        Ok(thread) => thread.join().unwrap_or(ExitStatus::Internal),
        Err(error) => {
            terminal::error(format!("no thread could be started: {error}"));
            ExitStatus::Internal
        }
    }
}
