//! Numbers for people: counts with thin groups, durations, sizes.

use std::time::Duration;

pub use explain::text::{count, counted};

/// `0.01 s`, `2.4 s`, `35 s`, `4 min 02 s`, `3 h 20 min`.
pub fn duration(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    let whole = time.as_secs();
    match seconds {
        s if s < 0.995 => format!("{s:.2} s"),
        s if s < 9.95 => format!("{s:.1} s"),
        s if s < 119.5 => format!("{s:.0} s"),
        s if s < 7200.0 => format!("{} min {:02} s", whole / 60, whole % 60),
        _ => format!("{} h {:02} min", whole / 3600, whole / 60 % 60),
    }
}

/// `512 B`, `3.4 kB`, `212 MB`, `1.5 GB`; thousands, not 1024s.
pub fn bytes(size: u64) -> String {
    let units = ["kB", "MB", "GB", "TB", "PB", "EB"];
    if size < 1000 {
        return format!("{size} B");
    }
    let mut value = size as f64;
    let mut unit = "B";
    for next in units {
        if value < 999.5 {
            break;
        }
        value /= 1000.0;
        unit = next;
    }
    if value < 9.95 { format!("{value:.1} {unit}") } else { format!("{value:.0} {unit}") }
}

/// `950/s`, `31k/s`, `2.1M/s`.
pub fn rate(per_second: f64) -> String {
    match per_second {
        r if r < 9_950.0 => format!("{}/s", count(r.max(0.0).round() as u64)),
        r if r < 999_500.0 => format!("{:.0}k/s", r / 1e3),
        r => format!("{:.1}M/s", r / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!([count(7), count(1234), count(1_234_567)], ["7", "1 234", "1 234 567"]);
        assert_eq!(counted(1, "state", "states"), "1 state");
        let times = [0.004, 0.5, 2.44, 35.2, 242.0, 12_000.0].map(|s| duration(Duration::from_secs_f64(s)));
        assert_eq!(times, ["0.00 s", "0.50 s", "2.4 s", "35 s", "4 min 02 s", "3 h 20 min"]);
        assert_eq!([bytes(12), bytes(3_400), bytes(212_000_000)], ["12 B", "3.4 kB", "212 MB"]);
        assert_eq!([rate(950.2), rate(31_000.0), rate(2_100_000.0)], ["950/s", "31k/s", "2.1M/s"]);
    }
}
