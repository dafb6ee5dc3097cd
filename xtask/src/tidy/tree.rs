//! The texts of the project: paths from the root, with forward slashes, and what is in the files.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

/// Folders that hold no text of ours.
const SKIPPED: [&str; 5] = [".git", "target", "fuzz/target", "fuzz/corpus", "fuzz/artifacts"];

/// Endings of the files that rules read.
const ENDINGS: [&str; 7] = [".rs", ".md", ".toml", ".pw", ".dve", ".pds", ".pml"];

/// All texts, by path.
#[derive(Clone, Debug, Default)]
pub struct TextTree {
    files: BTreeMap<String, String>,
}

impl TextTree {
    /// Reads the texts below a folder.
    pub fn read(root: &Path) -> io::Result<Self> {
        let mut tree = TextTree::default();
        tree.read_folder(root, "")?;
        Ok(tree)
    }

    /// A made-up project, for tests of rules.
    #[cfg(test)]
    pub fn of(files: &[(&str, &str)]) -> Self {
        TextTree { files: files.iter().map(|&(path, text)| (path.to_owned(), text.to_owned())).collect() }
    }

    /// The text of a file, if there is such a file.
    pub fn get(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(String::as_str)
    }

    /// Every path with its text.
    pub fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// The Rust sources.
    pub fn rust_files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files().filter(|(path, _)| path.ends_with(".rs"))
    }

    /// What people read: the documents at the top, and those in `docs`.
    pub fn documents(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files().filter(|(path, _)| path.ends_with(".md") && (!path.contains('/') || path.starts_with("docs/")))
    }

    fn read_folder(&mut self, folder: &Path, prefix: &str) -> io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = format!("{prefix}{name}");
            if entry.file_type()?.is_dir() {
                if !SKIPPED.contains(&path.as_str()) {
                    self.read_folder(&entry.path(), &format!("{path}/"))?;
                }
            } else if ENDINGS.iter().any(|ending| name.ends_with(ending)) {
                // Fixtures of bad input may be no text at all; no rule reads those.
                let bytes = fs::read(entry.path())?;
                self.files.insert(path, String::from_utf8_lossy(&bytes).into_owned());
            }
        }
        Ok(())
    }
}
