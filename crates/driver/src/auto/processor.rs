//! What one thread has worked, by the system's count of its processor time.
//!
//! In: the thread, which says that it is there. Out: its processor time, for whoever gives it turns. On a busy machine a thread that has a turn on the
//! clock may have done nothing; what it worked does not depend on who else is there. `None` where the system does not count it.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Linux's account of the thread that opens it: nanoseconds on a processor come first.
const ACCOUNT: &str = "/proc/thread-self/schedstat";

/// The processor time of a thread.
#[derive(Debug, Default)]
pub struct ThreadTime(Mutex<Account>);

#[derive(Debug, Default)]
struct Account {
    /// Open as soon as the thread has begun.
    file: Option<File>,
    /// What it had worked when somebody asked last: the account is gone when the thread ends.
    last: Duration,
}

impl ThreadTime {
    /// Counts the thread that calls this.
    pub fn count_this_thread(&self) {
        let mut account = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        account.file = File::open(ACCOUNT).ok();
    }

    /// What the thread has worked so far; `None` where it has not begun or the system does not count.
    pub fn worked(&self) -> Option<Duration> {
        let mut account = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Account { file, last } = &mut *account;
        let file = file.as_mut()?;
        if let Some(now) = read(file) {
            *last = now.max(*last);
        }
        Some(*last)
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
    fn work_is_counted_and_waiting_is_not() {
        let time = Arc::new(ThreadTime::default());
        assert_eq!(time.worked(), None);
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
