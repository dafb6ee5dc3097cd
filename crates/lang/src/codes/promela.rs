//! Codes of the front-end of Promela (09).

use super::{Code, promela_row};

/// Something else was expected here.
pub const UNEXPECTED: &str = "E0901";
/// A bracket, block, comment or `#if` has no end.
pub const UNCLOSED: &str = "E0902";
/// A directive of the preprocessor that is wrong.
pub const DIRECTIVE: &str = "E0903";
/// A file that is missing or includes itself.
pub const INCLUDE: &str = "E0904";
/// A name that nothing declares.
pub const UNKNOWN_NAME: &str = "E0905";
/// A name is declared twice.
pub const DECLARED_TWICE: &str = "E0906";
/// A wrong number of fields, arguments or indices.
pub const WRONG_NUMBER: &str = "E0907";
/// Something that is no channel where one is needed.
pub const NOT_A_CHANNEL: &str = "E0908";
/// A label that is missing or there twice, or a jump that cannot be.
pub const LABEL: &str = "E0909";
/// Something that must be known before the program runs.
pub const NOT_CONSTANT: &str = "E0910";
/// How many processes there are is not known.
pub const INSTANCES: &str = "E0911";
/// A part of Promela that is not read.
pub const NOT_READ: &str = "E0912";
/// A limit.
pub const TOO_LARGE: &str = "E0913";
/// A program without processes.
pub const NO_PROCESS: &str = "E0914";
/// `else` where it cannot stand.
pub const ELSE: &str = "E0915";
/// A claim that changes something.
pub const CLAIM: &str = "E0916";
/// A channel that cannot be found out.
pub const UNKNOWN_CHANNEL: &str = "E0917";
/// A separator is missing.
pub const SEPARATOR: &str = "W0901";
/// The call gives a macro another value than the text.
pub const GIVEN_MACRO: &str = "W0902";
/// A hidden variable.
pub const HIDDEN: &str = "W0903";
/// A value that is cut to its type.
pub const CUT: &str = "W0904";
/// `else` beside channel operations.
pub const ELSE_BESIDE_CHANNELS: &str = "W0905";
/// A statement that is never reached.
pub const UNREACHABLE: &str = "W0906";

/// The rows of this stage.
pub const CODES: &[Code] = &[];
