//! What a search may use, from the options; Ctrl-C is one of the limits.

use std::thread;

use base::CancelToken;
use driver::check::Limits;

use crate::interrupt;
use crate::options::LimitOptions;

/// The limits of this call. From now on Ctrl-C asks the search to end.
pub fn of(options: &LimitOptions) -> Limits {
    let cancel = CancelToken::default();
    interrupt::cancel_on_interrupt(&cancel);
    let n_cores = || thread::available_parallelism().map_or(1, |cores| cores.get());
    Limits {
        time: options.timeout,
        memory_bytes: options.memory,
        n_threads: options.threads.unwrap_or_else(n_cores),
        cancel,
    }
}
