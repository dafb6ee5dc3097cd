//! Files as other tools name them: relative to the directory of the call where they are below it.

use std::path::{Component, Path, PathBuf};

/// Where a file is, seen from the directory of the call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Located {
    /// Below it: the way down, with `/` between the parts.
    Below(String),
    /// Elsewhere: the whole path.
    Elsewhere(String),
}

impl Located {
    /// Reads a path as the user gave it, without the file system.
    pub fn of(name: &str, directory: &Path) -> Self {
        let whole = normal(&directory.join(name));
        match whole.strip_prefix(normal(directory)) {
            Ok(below) => Located::Below(slashed(below)),
            Err(_) => Located::Elsewhere(slashed(&whole)),
        }
    }

    /// The path.
    pub fn path(&self) -> &str {
        match self {
            Located::Below(path) | Located::Elsewhere(path) => path,
        }
    }

    /// The URI: relative, or absolute with `file:`.
    pub fn uri(&self) -> String {
        match self {
            Located::Below(path) => encoded(path),
            Located::Elsewhere(path) => absolute(path),
        }
    }
}

/// The URI of a directory, with a slash at its end.
pub fn directory(path: &Path) -> String {
    let uri = absolute(&slashed(&normal(path)));
    if uri.ends_with('/') { uri } else { uri + "/" }
}

fn absolute(path: &str) -> String {
    let rooted = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
    format!("file://{}", encoded(&rooted))
}

/// The path without `.` and `..`.
fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(out.pop()),
            part => out.push(part),
        }
    }
    out
}

fn slashed(path: &Path) -> String {
    let parts = path.components().filter(|part| !matches!(part, Component::RootDir));
    let parts: Vec<_> = parts.map(|part| part.as_os_str().to_string_lossy()).collect();
    let root = if path.has_root() { "/" } else { "" };
    format!("{root}{}", parts.join("/"))
}

/// Percent-encodes everything but letters, digits and what never has a meaning in a URI.
fn encoded(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'/' | b'-' | b'.' | b'_' | b'~' => out.push(char::from(byte)),
            byte if byte.is_ascii_alphanumeric() => out.push(char::from(byte)),
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_from_the_directory_of_the_call() {
        let uri = |name| Located::of(name, Path::new("/home/me/lock")).uri();
        assert_eq!(uri("a.pw"), "a.pw");
        assert_eq!(uri("./sub/../a b.pw"), "a%20b.pw");
        assert_eq!(uri("/home/me/lock/sub/ä:1.pw"), "sub/%C3%A4%3A1.pw");
        assert_eq!(uri("../other/a.pw"), "file:///home/me/other/a.pw");
        assert_eq!(uri("/elsewhere/a.pw"), "file:///elsewhere/a.pw");
        assert_eq!(directory(Path::new("/home/me/lock")), "file:///home/me/lock/");
        assert_eq!(Located::of("../x/a b.pw", Path::new("/home/me")).path(), "/home/x/a b.pw");
    }
}
