//! `docs/benchmarks.md`: one section for each benchmark, each written by its own run.
//!
//! A section is between two comments that name its benchmark, so that one can be measured again without the others.

use std::path::Path;
use std::process::ExitCode;

/// Prints the section that a benchmark measured, and writes it down if asked to; says why where that failed.
pub fn finish(root: &Path, benchmark: &str, measured: Result<String, String>, writes: bool) -> ExitCode {
    let done = measured.and_then(|text| {
        println!("\n{text}");
        if writes { write(root, benchmark, &text) } else { Ok(()) }
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The document with its section for a benchmark replaced.
pub fn write(root: &Path, benchmark: &str, section: &str) -> Result<(), String> {
    let path = root.join("docs/benchmarks.md");
    let failed = |error: std::io::Error| format!("docs/benchmarks.md: {error}");
    let text = std::fs::read_to_string(&path).map_err(failed)?;
    std::fs::write(&path, replaced(&text, benchmark, section)?).map_err(failed)
}

fn replaced(text: &str, benchmark: &str, section: &str) -> Result<String, String> {
    let (begin, end) = (format!("<!-- bench {benchmark} -->\n"), format!("<!-- end of bench {benchmark} -->\n"));
    let missing = || format!("docs/benchmarks.md has no section between `{}` and `{}`", begin.trim(), end.trim());
    let (head, rest) = text.split_once(&begin).ok_or_else(missing)?;
    let (_, tail) = rest.split_once(&end).ok_or_else(missing)?;
    Ok(format!("{head}{begin}{}\n{end}{tail}", section.trim_end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_section_changes() {
        let text =
            "top\n<!-- bench a -->\nold\n<!-- end of bench a -->\nmiddle\n<!-- bench b -->\n<!-- end of bench b -->\n";
        let new = replaced(text, "a", "new\n\n").unwrap();
        assert_eq!(new, text.replace("old", "new"));
        assert!(replaced(text, "c", "new").is_err());
    }
}
