//! Local proofs, written once over a backend.
//!
//! [`backend`]: what an explicit or a symbolic representation of local sets must offer. [`k_index`]: the strongest invariants of
//! `k` processes each, of which split invariants are `k = 1` and pairwise ones `k = 2`. [`question`]: properties as patterns over
//! few processes. [`completion`]: refinement by exposed facts until there is a proof or a real run.

pub mod backend;
pub mod completion;
pub mod k_index;
pub mod question;
