//! Text in, results out: loads programs, picks methods, audits every verdict. Nothing here prints.
//!
//! [`files`]: from paths to texts. [`instances`]: which parameter values. [`select`]: which properties. [`methods`]: how.

pub mod files;
pub mod instances;
pub mod methods;
pub mod select;
