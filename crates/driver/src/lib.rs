//! Text in, results out: loads programs, picks methods, audits every verdict. Nothing here prints.
//!
//! [`files`]: from paths to bytes. [`goals`]: what is to be reached. [`instances`]: which parameter values. [`load`]: from files to programs. [`select`]: which
//! properties. [`methods`]: how. [`check()`](check::Check::run): the answers, audited. [`checker`]: where they come from, one engine or a race of several (method `auto`). [`auditor`]: the audit. [`confrontation`]: claims beside a few runs. [`replay()`](replay::replay): traces
//! from files. [`trail`]: what SPIN printed of a run. [`simulation`]: one run at a time. [`explore()`](explore::explore): the size of the whole product. [`coverage()`](coverage::coverage): what is ever done. [`graph`]: local
//! state graphs. [`teach()`](teach::teach): what else is worth knowing about an answer.

pub mod auditor;
pub mod auto;
pub mod check;
pub mod checker;
pub mod confrontation;
pub mod coverage;
pub mod every_n;
mod explicit_then_symbolic;
pub mod explore;
pub mod files;
pub mod goals;
pub mod graph;
mod in_turn;
pub mod instances;
pub mod load;
pub mod methods;
pub mod mistake;
mod parts;
pub mod proof;
mod propagating;
pub mod replay;
pub mod select;
mod set_up;
pub mod simulation;
pub mod teach;
pub mod trail;
mod viewing;
mod watchdog;
mod with_sums;
