//! What one thread has worked, by the system's count of its processor time; and what time on the clock is worth where threads are not counted.
//!
//! In: the thread, which says that it is there. Out: its processor time, for the race that gives it turns. On a busy machine a thread that has a turn on the
//! clock may have done nothing; what it worked does not depend on other programs. `None` where the system does not count it.

use std::cell::Cell;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Time on the clock is never worth less, lest a method whose thread is not counted has turns without end.
const LEAST_PACE: f64 = 0.02;

/// Less than this on the clock says nothing about how busy the machine is.
const GLIMPSE: Duration = Duration::from_millis(2);

/// Linux's account of the thread that opens it: nanoseconds on a processor come first.
const ACCOUNT: &str = "/proc/thread-self/schedstat";

/// The processor time of a thread.
#[derive(Debug, Default)]
pub struct ThreadTime(Mutex<Account>);

#[derive(Debug, Default)]
struct Account {
    /// Whether the thread has begun.
    has_begun: bool,
    /// Open as soon as the thread has begun.
    file: Option<File>,
    /// What it had worked at the last question: the account is gone when the thread ends.
    last: Duration,
}

impl ThreadTime {
    /// Counts the thread that calls this.
    pub fn count_this_thread(&self) {
        let mut account = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        account.has_begun = true;
        account.file = File::open(ACCOUNT).ok();
    }

    /// What the thread has worked so far: nothing before it has begun, however long the system lets it wait; `None` where the system does not count.
    pub fn worked(&self) -> Option<Duration> {
        let mut account = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Account { has_begun, file, last } = &mut *account;
        if !*has_begun {
            return Some(Duration::ZERO);
        }
        let file = file.as_mut()?;
        if let Some(now) = read(file) {
            *last = now.max(*last);
        }
        Some(*last)
    }
}

/// How much of its time on the clock a thread that has a turn is on a processor: 1 where nothing else runs.
#[derive(Debug, Default)]
pub struct Pace {
    /// Turns of threads that are counted: on a processor, and on the clock.
    processor: Cell<Duration>,
    clock: Cell<Duration>,
}

impl Pace {
    /// A turn in which a thread worked so long took so long.
    pub fn note(&self, worked: Duration, clock: Duration) {
        self.processor.set(self.processor.get() + worked);
        self.clock.set(self.clock.get() + clock);
    }

    /// What time on the clock is worth in processor time.
    pub fn worth(&self, clock: Duration) -> Duration {
        if self.clock.get() < GLIMPSE {
            return clock;
        }
        let pace = self.processor.get().as_secs_f64() / self.clock.get().as_secs_f64();
        clock.mul_f64(pace.clamp(LEAST_PACE, 1.0))
    }
}

fn read(file: &mut File) -> Option<Duration> {
    let mut text = [0; 64];
    file.seek(SeekFrom::Start(0)).ok()?;
    let length = file.read(&mut text).ok()?;
    let first = std::str::from_utf8(&text[..length]).ok()?.split_whitespace().next()?;
    Some(Duration::from_nanos(first.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Instant;

    use super::*;

    #[test]
    fn time_on_the_clock_is_worth_less_on_a_busy_machine() {
        let (pace, second) = (Pace::default(), Duration::from_secs(1));
        assert_eq!(pace.worth(second), second);
        pace.note(Duration::from_millis(10), Duration::from_millis(40));
        assert_eq!(pace.worth(second), Duration::from_millis(250));
        pace.note(Duration::ZERO, 100 * second);
        assert_eq!(pace.worth(second), Duration::from_millis(20));
    }

    #[test]
    fn work_is_counted_and_waiting_is_not() {
        let time = Arc::new(ThreadTime::default());
        assert_eq!(time.worked(), Some(Duration::ZERO), "it has not begun");
        let counted = Arc::clone(&time);
        let work = std::thread::spawn(move || {
            counted.count_this_thread();
            let begun = counted.worked();
            std::thread::sleep(Duration::from_millis(30));
            let rested = counted.worked();
            let since = Instant::now();
            while since.elapsed() < Duration::from_secs(20) && counted.worked() < rested.map(|time| time * 2) {}
            [begun, rested, counted.worked()]
        });
        let [Some(begun), Some(rested), Some(worked)] = work.join().unwrap() else { return };
        assert!(rested < begun + Duration::from_millis(20), "{begun:?} {rested:?}");
        assert!(worked >= rested * 2, "{rested:?} {worked:?}");
        assert!(time.worked() >= Some(rested), "it is still known after its end");
    }
}
