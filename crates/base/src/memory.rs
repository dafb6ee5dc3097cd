//! The resident size of the process, watched by a thread of its own.
//!
//! In: what the system says of this process, a few hundred times a second. Out: a number that every [`Budget`](crate::Budget) compares
//! with its limit, so that what no ledger counted (a set-up, an allocator that keeps what was freed) stops in time, too. Where the
//! system does not say it, nothing is watched, and limits are kept by what the work says that it holds.

use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::thread;
use std::time::Duration;

/// What the program takes by itself, with a small search by each method. A smaller limit is one of what searches hold alone, as they count it.
pub const FLOOR: u64 = 64 << 20;

/// The size is read so often, and so often where it comes near the limit: a program with very many cells is read and laid out at some megabytes a
/// millisecond.
const GLANCE: Duration = Duration::from_millis(4);
const NEAR_GLANCE: Duration = Duration::from_millis(1);

/// From this part of a limit on, in hundredths, the size is read more often.
const CLOSE: u64 = 60;

/// From this part of a limit on, in hundredths, the work that holds most gives way.
const NEAR: u64 = 86;

/// From this part of a limit on, in hundredths, all work stops: the answer is still to be written.
const AT: u64 = 94;

/// The resident size of the process, as it was last read; 0 where no thread watches it.
#[derive(Clone, Debug, Default)]
pub struct Resident(Arc<AtomicU64>);

impl Resident {
    /// Watches the process in a thread, which ends when the last other handle is dropped; more often where the size comes near this limit.
    pub fn watch(&self, limit: u64) {
        let seen = Arc::downgrade(&self.0);
        if let Some(bytes) = resident_bytes() {
            self.note(bytes);
            // Without a thread there is no watch, as on systems that do not report the size.
            thread::Builder::new().name(String::from("memory")).spawn(move || keep_looking(&seen, limit)).ok();
        }
    }

    /// Notes a size.
    pub fn note(&self, bytes: u64) {
        self.0.store(bytes, Ordering::Relaxed);
    }

    /// What was last seen.
    pub fn bytes(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Whether the size has come so close to the limit that it is to be looked at often.
    pub fn is_close(&self, limit: u64) -> bool {
        self.bytes() > limit.max(FLOOR) / 100 * CLOSE
    }

    /// Whether some of the work has to give way.
    pub fn is_near(&self, limit: u64) -> bool {
        self.bytes() > limit.max(FLOOR) / 100 * NEAR
    }

    /// Whether all work has to stop.
    pub fn is_at(&self, limit: u64) -> bool {
        self.bytes() > limit.max(FLOOR) / 100 * AT
    }

    /// Whether so many bytes more would be too many.
    pub fn would_pass(&self, limit: u64, more_bytes: u64) -> bool {
        self.bytes() > 0 && self.bytes() + more_bytes > limit.max(FLOOR)
    }
}

fn keep_looking(seen: &Weak<AtomicU64>, limit: u64) {
    while let Some(seen) = seen.upgrade().map(Resident) {
        if let Some(bytes) = resident_bytes() {
            seen.note(bytes);
        }
        let glance = if seen.is_close(limit) { NEAR_GLANCE } else { GLANCE };
        drop(seen);
        thread::sleep(glance);
    }
}

/// The resident size of this process, if the system reports it.
pub fn resident_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kilobytes << 10)
}

/// `64 MB`, `1.5 KB`: the largest unit of which there is at least one.
pub fn in_words(bytes: u64) -> String {
    let units = [(40, "TB"), (30, "GB"), (20, "MB"), (10, "KB")];
    match units.into_iter().find(|(shift, _)| bytes >> shift > 0) {
        None => format!("{bytes} bytes"),
        Some((shift, unit)) => {
            let tenths = (u128::from(bytes) * 10) >> shift;
            match tenths % 10 {
                0 => format!("{} {unit}", tenths / 10),
                rest => format!("{}.{rest} {unit}", tenths / 10),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_in_words_are_never_nought() {
        let said = |bytes| in_words(bytes);
        assert_eq!(said(1), "1 bytes");
        assert_eq!(said(1 << 10), "1 KB");
        assert_eq!(said(50 << 20), "50 MB");
        assert_eq!(said((3 << 30) / 2), "1.5 GB");
        assert_eq!(said(u64::MAX), "16777215.9 TB");
    }

    #[test]
    fn the_size_is_seen_where_the_system_tells_it() {
        let resident = Resident::default();
        resident.watch(u64::MAX);
        match resident_bytes() {
            Some(_) => assert!(resident.bytes() > 100 << 10),
            None => assert_eq!(resident.bytes(), 0),
        }
        assert!(!resident.would_pass(1 << 40, 1));
    }
}
