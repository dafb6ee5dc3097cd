//! If the tool itself is wrong: a message, a request to report it, and exit status 4.
//!
//! Any panic in any thread ends the process here. A backtrace is shown only where `RUST_BACKTRACE` asks for one.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::panic::{self, PanicHookInfo};
use std::process;

use crate::status::ExitStatus;
use crate::terminal;

/// Makes every panic an orderly internal error.
pub fn exit_on_panic() {
    panic::set_hook(Box::new(|info| {
        // Where a host is lost, timely's threads panic; the search says it in words.
        #[cfg(feature = "search")]
        if hosts::search::explains_panic() {
            return;
        }
        terminal::complain(&message(info));
        process::exit(ExitStatus::Internal.code().into());
    }));
}

fn message(info: &PanicHookInfo<'_>) -> String {
    let what = info.payload_as_str().unwrap_or("unknown");
    let place = info.location().map(|place| format!(" ({}:{})", place.file(), place.line())).unwrap_or_default();
    let backtrace = Backtrace::capture();
    let backtrace = match backtrace.status() {
        BacktraceStatus::Captured => format!("{backtrace}\n"),
        _ => String::new(),
    };
    format!("\n{}{backtrace}", internal_error(&format!("{what}{place}")))
}

/// The words for an error of ours.
pub fn internal_error(what: &str) -> String {
    format!(
        "internal error: {what}\n\
         This is a bug in piecewise {}, not in your program; no verdict was reached. Please report it with the program\n\
         and the command that you ran.\n",
        env!("CARGO_PKG_VERSION")
    )
}
