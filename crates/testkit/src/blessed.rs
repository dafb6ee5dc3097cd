//! Texts that a person has read once and a test compares for ever.
//!
//! In: a file and the text that is made now. A test fails where they differ; with `BLESS=1` the file is written anew, and the
//! difference is read before it is committed. Line ends and empty lines at the end of a file do not count.

use std::fs;
use std::path::Path;

/// Whether files are to be written anew (`BLESS=1`).
pub fn is_on() -> bool {
    std::env::var_os("BLESS").is_some()
}

/// Compares a text with a file, or writes the file.
///
/// # Panics
/// Where they differ, with the first line that does.
#[track_caller]
pub fn assert_same(path: &Path, text: &str) {
    let text = format!("{}\n", text.trim_end());
    if is_on() {
        fs::create_dir_all(path.parent().expect("a file stands in a folder")).expect("the folder can be made");
        fs::write(path, &text).expect("the file can be written");
        return;
    }
    let blessed = fs::read_to_string(path).unwrap_or_default().replace("\r\n", "\n");
    if blessed.trim_end() == text.trim_end() {
        return;
    }
    let differs = blessed.lines().zip(text.lines()).position(|(old, new)| old != new);
    let line = differs.unwrap_or_else(|| blessed.lines().count().min(text.lines().count())) + 1;
    panic!("{}:{line} differs; BLESS=1 writes it anew. Now:\n{text}", path.display());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_line_ends_at_the_end_do_not_count() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/blessed.rs");
        let own = fs::read_to_string(&path).expect("this file is here");
        if is_on() {
            return;
        }
        assert_same(&path, &format!("{own}\n\n"));
        let changed = std::panic::catch_unwind(|| assert_same(&path, &own.replacen("Texts", "texts", 1)));
        assert!(changed.is_err());
    }
}
