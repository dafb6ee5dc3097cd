//! A little more time, when the budget is used up, to show what was found.

use std::time::{Duration, Instant};

use base::StopReason;

/// How long a counterexample may take that the budget has no time for.
const GRACE: Duration = Duration::from_secs(2);

/// Time that is left after a limit was reached.
pub struct Patience {
    end: Instant,
    reason: StopReason,
    n_steps: u64,
}

impl Patience {
    /// A grace period from now on; after it `pass` returns `reason`.
    pub fn new(reason: StopReason) -> Self {
        Patience { end: Instant::now() + GRACE, reason, n_steps: 0 }
    }

    /// Looks at the clock now and then.
    pub fn pass(&mut self) -> Result<(), StopReason> {
        self.n_steps += 1;
        let is_over = self.n_steps.is_multiple_of(64) && self.is_over();
        if is_over { Err(self.reason.clone()) } else { Ok(()) }
    }

    /// Why the limit was reached.
    pub fn reason(&self) -> StopReason {
        self.reason.clone()
    }

    /// Whether no time is left.
    pub fn is_over(&self) -> bool {
        Instant::now() >= self.end
    }
}
