//! Codes of the checker: names, types, places.

use super::Code;

/// The rows, in the order of their numbers.
pub static CODES: &[Code] = &[];
