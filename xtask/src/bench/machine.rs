//! The machine on which something was measured, in general terms.

/// Cores, memory, system.
pub fn describe() -> String {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let memory = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| total_gigabytes(&text));
    let memory = memory.map_or(String::new(), |gigabytes| format!(", {gigabytes} GB of memory"));
    format!("{cores} cores{memory}, {} on {}", std::env::consts::OS, std::env::consts::ARCH)
}

fn total_gigabytes(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kilobytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some((kilobytes + (1 << 19)) >> 20)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_rounded_to_gigabytes() {
        assert_eq!(total_gigabytes("MemTotal:       25165824 kB\nMemFree: 1 kB\n"), Some(24));
        assert_eq!(total_gigabytes("MemFree: 1 kB\n"), None);
    }
}
