//! All tests of `testkit` in one binary, which is linked once; one file for each subject.

mod generator;
mod language;
mod programs;
