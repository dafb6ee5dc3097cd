//! Ctrl-C: the first asks the work to end with what it has, the second ends the process at once.

use std::sync::atomic::{AtomicBool, Ordering};

use base::CancelToken;

use crate::{files, terminal};

/// What a shell reports for a process that SIGINT ended.
const ENDED_BY_INTERRUPT: i32 = 130;

/// Makes Ctrl-C (and a polite request to end, SIGTERM) cancel the token.
///
/// Where no handler can be set, the system's own behaviour stays: the process just ends.
pub fn cancel_on_interrupt(token: &CancelToken) {
    let token = token.clone();
    let asked = AtomicBool::new(false);
    let handler = move || {
        if asked.swap(true, Ordering::SeqCst) {
            files::exit_at_once(ENDED_BY_INTERRUPT);
        }
        token.cancel();
        terminal::complain("\ninterrupted: ending with what is done; press Ctrl-C again to end at once\n");
    };
    ctrlc::set_handler(handler).ok();
}
