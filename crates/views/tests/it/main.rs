//! The tests of views, as one program.

mod examples;
mod random;
