//! Work on independent parts, by all threads.

use std::sync::{Mutex, PoisonError};
use std::thread;

use packed::machine::Flow;

/// Works on each of the parts, with at most so many threads; each thread has a context of its own. Ends early where some work
/// says so.
pub fn each<T: Send, C>(
    parts: Vec<T>,
    n_threads: usize,
    context: impl Fn() -> C + Sync,
    work: impl Fn(T, &C) -> Flow + Sync,
) -> Flow {
    let n_threads = n_threads.min(parts.len());
    if n_threads <= 1 {
        let own = context();
        return parts.into_iter().try_for_each(|part| work(part, &own));
    }
    let left = Mutex::new(parts.into_iter());
    let take = || left.lock().unwrap_or_else(PoisonError::into_inner).next();
    let run = || {
        let own = context();
        while let Some(part) = take() {
            work(part, &own)?;
        }
        Flow::Continue(())
    };
    thread::scope(|scope| {
        let others: Vec<_> = (1..n_threads).map(|_| scope.spawn(run)).collect();
        let mut flow = run();
        for other in others {
            match other.join() {
                Ok(ended) => flow = if flow.is_break() { flow } else { ended },
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        flow
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_parts_are_worked_on_once_by_any_number_of_threads() {
        for n_threads in 1..5 {
            let mut numbers = vec![0; 100];
            let flow = each(
                numbers.iter_mut().collect(),
                n_threads,
                || 1,
                |number, one| {
                    *number += one;
                    Flow::Continue(())
                },
            );
            assert!(flow.is_continue());
            assert_eq!(numbers, [1; 100]);
        }
    }

    #[test]
    fn work_that_ends_ends_all() {
        for n_threads in 1..4 {
            let parts: Vec<u32> = (0..100).collect();
            let flow =
                each(parts, n_threads, || (), |part, ()| if part == 3 { Flow::Break(()) } else { Flow::Continue(()) });
            assert!(flow.is_break());
        }
    }
}
