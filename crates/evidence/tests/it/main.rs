//! All tests of `evidence` in one binary, which is linked once; one file for each subject.

mod proof_file;
