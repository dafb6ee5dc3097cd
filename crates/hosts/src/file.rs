//! The host file: which hosts there are, and what each may use.
//!
//! In: a text with one host on each line: `node1:2101 threads=8 memory=60G`. Out: a [`Host`] for each, or a sentence for each line that is wrong.
//! `local` is this machine. A `#` begins a comment. Processes listen on the loopback address unless their line names another one.

use std::fmt;

/// The port of the first process where its line names none; the others follow.
pub const FIRST_PORT: u16 = 2101;

/// The name of this machine in a host file.
pub const LOCAL: &str = "local";

/// The most hosts of a file.
const MOST_HOSTS: usize = 4096;

/// The most threads or slots of a host.
const MOST_THREADS: usize = 1024;

/// A host, as a line of the file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// Its name, as ssh and the network know it; `local` for this machine.
    pub name: String,
    /// Where its process of a search listens.
    pub port: u16,
    /// How many threads it may use; all cores where it does not say.
    pub threads: Option<usize>,
    /// How much memory it may use, in bytes.
    pub memory_bytes: Option<u64>,
    /// How many questions of a farm it answers at once.
    pub slots: usize,
    /// The address to listen on, where that is not the one of its name.
    pub listen: Option<String>,
    /// The program on that host.
    pub program: Option<String>,
}

impl Host {
    /// Whether it is this machine.
    pub fn is_local(&self) -> bool {
        self.name == LOCAL
    }

    /// The name or address under which others reach it.
    pub fn address(&self) -> &str {
        if self.is_local() { "127.0.0.1" } else { &self.name }
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name)
    }
}

/// Reads a host file.
///
/// # Errors
/// A sentence for each line that is wrong, or that there is no host.
pub fn parse(text: &str) -> Result<Vec<Host>, Vec<String>> {
    let (mut hosts, mut wrong) = (Vec::new(), Vec::new());
    for (nth, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        match host(line, hosts.len()) {
            Ok(host) => hosts.push(host),
            Err(why) => wrong.push(format!("line {}: {why}", nth + 1)),
        }
    }
    if hosts.is_empty() && wrong.is_empty() {
        wrong.push("there is no host in it; write one on each line, as `local` or `node1:2101 threads=8`".to_owned());
    }
    if hosts.len() > MOST_HOSTS {
        wrong.push(format!("{} hosts; at most {MOST_HOSTS}", hosts.len()));
    }
    for (nth, host) in hosts.iter().enumerate() {
        if hosts[..nth].iter().any(|other| other.address() == host.address() && other.port == host.port) {
            wrong.push(format!("port {} of {} is used twice", host.port, host.name));
        }
    }
    if wrong.is_empty() { Ok(hosts) } else { Err(wrong) }
}

fn host(line: &str, nth: usize) -> Result<Host, String> {
    let mut words = line.split_whitespace();
    let place = words.next().unwrap_or_default();
    let (name, port) = match place.rsplit_once(':') {
        // An address of version 6 stands in brackets where a port follows.
        Some((name, port)) if !name.contains(':') || name.ends_with(']') => {
            let port = port.parse().ok().filter(|&port| port > 0);
            (name, port.ok_or_else(|| format!("`{place}` has no port from 1 to 65535"))?)
        }
        _ => (place, FIRST_PORT.saturating_add(u16::try_from(nth).unwrap_or(u16::MAX))),
    };
    let name = name.trim_start_matches('[').trim_end_matches(']');
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "._-@:%".contains(letter);
    // A name that begins with a dash would be an option of ssh.
    if name.is_empty() || name.starts_with('-') || !name.chars().all(is_plain) {
        return Err(format!("`{place}` is not the name of a host"));
    }
    let mut host =
        Host { name: name.to_owned(), port, threads: None, memory_bytes: None, slots: 1, listen: None, program: None };
    for word in words {
        let (key, value) = word.split_once('=').ok_or_else(|| format!("`{word}` is not of the form NAME=VALUE"))?;
        match key {
            "threads" => host.threads = Some(count(key, value)?),
            "slots" => host.slots = count(key, value)?,
            "memory" => host.memory_bytes = Some(size(value)?),
            "listen" => host.listen = Some(value.to_owned()),
            "program" => host.program = Some(value.to_owned()),
            _ => {
                return Err(format!(
                    "there is no setting `{key}` of a host; there are threads, slots, memory, listen, program"
                ));
            }
        }
    }
    Ok(host)
}

fn count(key: &str, value: &str) -> Result<usize, String> {
    let number = value.parse().ok().filter(|number| (1..=MOST_THREADS).contains(number));
    number.ok_or_else(|| format!("`{key}` is a number from 1 to {MOST_THREADS}"))
}

fn size(value: &str) -> Result<u64, String> {
    let letters = value.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let shift = match letters.to_ascii_uppercase().as_str() {
        "" => 0,
        "K" => 10,
        "M" => 20,
        "G" => 30,
        "T" => 40,
        _ => return Err("`memory` is a size such as 512M or 60G".to_owned()),
    };
    let number: Option<u64> = value[..value.len() - letters.len()].parse().ok();
    let bytes = number.filter(|&number| number > 0).and_then(|number| number.checked_mul(1 << shift));
    bytes.ok_or_else(|| "`memory` is a size such as 512M or 60G".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_host_with_what_it_may_use() {
        let text = "# two machines\nnode1:2101 threads=8 memory=60G\n\nuser@node2 slots=4 program=/opt/piecewise # fast\nlocal\n[fe80::1]:7\n";
        let hosts = parse(text).unwrap();
        assert_eq!(hosts.len(), 4);
        assert_eq!((hosts[0].name.as_str(), hosts[0].port, hosts[0].threads), ("node1", 2101, Some(8)));
        assert_eq!(hosts[0].memory_bytes, Some(60 << 30));
        assert_eq!((hosts[1].port, hosts[1].slots, hosts[1].program.as_deref()), (2102, 4, Some("/opt/piecewise")));
        assert!(hosts[2].is_local() && hosts[2].address() == "127.0.0.1");
        assert_eq!((hosts[3].name.as_str(), hosts[3].port), ("fe80::1", 7));
    }

    #[test]
    fn what_is_wrong_is_said_line_by_line() {
        let wrong = |text: &str| parse(text).unwrap_err().join("; ");
        assert!(wrong("").starts_with("there is no host in it"));
        assert!(wrong("-oProxyCommand=x").contains("line 1: `-oProxyCommand=x` is not the name of a host"));
        assert_eq!(wrong("a;b"), "line 1: `a;b` is not the name of a host");
        assert_eq!(
            wrong("local:0\nlocal thread=8"),
            "line 1: `local:0` has no port from 1 to 65535; line 2: there is no setting `thread` of a host; there are threads, slots, memory, listen, program"
        );
        assert_eq!(wrong("local:7\n127.0.0.1:7"), "port 7 of 127.0.0.1 is used twice");
        assert!(wrong("local memory=much").contains("a size such as"));
    }
}
