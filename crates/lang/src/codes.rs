//! The table of all codes that the front-ends give: what `piecewise explain CODE` prints.
//!
//! In: a code such as `E0103`. Out: its title, a longer explanation, a wrong program and the same program put right.
//! Each stage keeps its own slice ([`syntax`], [`check`], [`dve`], [`pds`], [`promela`]); [`all`] joins them. The programs are files in
//! `tests/errors/`, and a test makes sure that each wrong one draws its code, drawn exactly as the file beside it says,
//! and that the right one draws no error at all.

pub mod check;
pub mod dve;
pub mod pds;
pub mod promela;
pub mod syntax;

/// What there is to say about one code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code {
    /// The code: `E` for an error, `W` for a warning, and four digits.
    pub code: &'static str,
    /// The rule that was broken, in one line.
    pub title: &'static str,
    /// Why the rule exists and what to do, in a few sentences.
    pub explanation: &'static str,
    /// A program that draws the code.
    pub wrong: &'static str,
    /// The same program put right.
    pub right: &'static str,
    /// The language of both, as the suffix of a file: `pw`, `dve`, `pds`, `pml`.
    pub language: &'static str,
}

/// One row of a slice: the examples are the files `tests/errors/CODE.pw` and `tests/errors/CODE.fixed.pw`.
macro_rules! row {
    ($code:literal, $title:literal, $explanation:literal) => {
        $crate::codes::Code {
            code: $code,
            title: $title,
            explanation: $explanation,
            wrong: include_str!(concat!("../../tests/errors/", $code, ".pw")),
            right: include_str!(concat!("../../tests/errors/", $code, ".fixed.pw")),
            language: "pw",
        }
    };
}
pub(crate) use row;

/// The same for programs in DVE.
macro_rules! dve_row {
    ($code:literal, $title:literal, $explanation:literal) => {
        $crate::codes::Code {
            code: $code,
            title: $title,
            explanation: $explanation,
            wrong: include_str!(concat!("../../tests/errors/", $code, ".dve")),
            right: include_str!(concat!("../../tests/errors/", $code, ".fixed.dve")),
            language: "dve",
        }
    };
}
pub(crate) use dve_row;

/// The same for pushdown systems.
macro_rules! pds_row {
    ($code:literal, $title:literal, $explanation:literal) => {
        $crate::codes::Code {
            code: $code,
            title: $title,
            explanation: $explanation,
            wrong: include_str!(concat!("../../tests/errors/", $code, ".pds")),
            right: include_str!(concat!("../../tests/errors/", $code, ".fixed.pds")),
            language: "pds",
        }
    };
}
pub(crate) use pds_row;

/// The same for programs in Promela.
macro_rules! promela_row {
    ($code:literal, $title:literal, $explanation:literal) => {
        $crate::codes::Code {
            code: $code,
            title: $title,
            explanation: $explanation,
            wrong: include_str!(concat!("../../tests/errors/", $code, ".pml")),
            right: include_str!(concat!("../../tests/errors/", $code, ".fixed.pml")),
            language: "pml",
        }
    };
}
pub(crate) use promela_row;

/// All codes, in the order of their numbers within each stage.
pub fn all() -> impl Iterator<Item = &'static Code> {
    syntax::CODES.iter().chain(check::CODES).chain(dve::CODES).chain(pds::CODES).chain(promela::CODES)
}

/// The row of a code; upper and lower case are the same.
pub fn find(code: &str) -> Option<&'static Code> {
    all().find(|row| row.code.eq_ignore_ascii_case(code))
}
