//! A number that distinguishes programs by what they do: comments, layout and other properties do not matter.
//!
//! In: a Model, and the name of the property that a proof is about. Out: FNV-1a over the canonical text of both
//! ([`model::canonical`]). Two programs that share it may still differ; a proof is checked against the program at hand.

use model::Model;

/// The fingerprint of a program together with one of its properties.
pub(super) fn fingerprint(model: &Model, property: &str) -> String {
    let text = model::canonical::text(model, property);
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    format!("{:016x}", text.bytes().fold(0xcbf2_9ce4_8422_2325, step))
}
