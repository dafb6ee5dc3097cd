//! Bytes to text.
//!
//! In: the bytes of a file. Out: a source file, or the reason why the bytes are no text together with as much of the
//! text as can be shown.

use crate::codes::syntax as code;
use base::{Diagnostic, SourceFile, Span};

/// Bytes that are not UTF-8.
#[derive(Clone, Debug)]
pub struct Undecodable {
    /// The text up to the first bad byte, against which the diagnostic can be drawn.
    pub file: SourceFile,
    /// What is wrong.
    pub diagnostic: Diagnostic,
}

/// Decodes the bytes of a file.
pub fn decode(name: &str, bytes: Vec<u8>) -> Result<SourceFile, Box<Undecodable>> {
    let error = match String::from_utf8(bytes) {
        Ok(text) => return Ok(SourceFile::new(name, text)),
        Err(error) => error,
    };
    let n_good = error.utf8_error().valid_up_to();
    let good = String::from_utf8_lossy(&error.as_bytes()[..n_good]).into_owned();
    let is_utf16 = matches!(error.as_bytes(), [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..]);
    let message = format!("byte {n_good} is not UTF-8");
    let advice = if is_utf16 { "this looks like UTF-16; save the file as UTF-8" } else { "save the file as UTF-8" };
    let diagnostic = Diagnostic::error(code::NOT_UTF8, Span::new(n_good, n_good), message).help(advice);
    Err(Box::new(Undecodable { file: SourceFile::new(name, good), diagnostic }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_bytes_are_refused_where_they_stand() {
        let error = decode("t", b"ab\n\xFFc".to_vec()).expect_err("0xFF is never part of UTF-8");
        assert_eq!(error.diagnostic.message, "byte 3 is not UTF-8");
        assert_eq!(error.file.line_col(error.diagnostic.primary.span.start).line, 2);
        assert!(decode("t", b"ok".to_vec()).is_ok());
    }
}
