//! The tests of views, as one program.

#![allow(clippy::unwrap_used)]

mod counting;
mod deadlock;
mod examples;
mod fine;
mod flows;
mod hidden;
mod limits;
mod named;
mod random;
mod sentences;
