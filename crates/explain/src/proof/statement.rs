//! What a proof says, in sentences that name neither the size of the program nor single processes; if it can be said so.
//!
//! In: a proof in words. Out: its sentences as one text, which is the same for two sizes if and only if the proofs read the same. A proof that speaks
//! of single processes (`P[0]`), or says different things of processes of one family, has no such text.

use model::Model;

use super::{LocalProof, Part};

/// The sentences; `None` where they depend on the size, or are too large to be put into words.
pub fn statement(model: &Model, told: &LocalProof) -> Option<String> {
    let is_uniform = told.parts.iter().all(|part| part.is_all || told.k == 1 && is_family(model, part));
    if !told.untold.is_empty() || told.parts.is_empty() || !is_uniform {
        return None;
    }
    let text: String = told.parts.iter().map(sentences).collect();
    (!names_a_process(model, &text)).then_some(text)
}

/// Whether the part is about all processes of a family, and no others.
fn is_family(model: &Model, part: &Part) -> bool {
    model.families.ids().any(|family| {
        let members = model.processes.iter().filter(|process| process.family == family).map(|process| &process.name);
        members.eq(&part.members)
    })
}

/// Everything that is said, in one order.
fn sentences(part: &Part) -> String {
    let always = part.always.iter().map(|text| format!("{text}\n"));
    let places = part.places.iter().map(|(at, texts)| format!("at {}: {}\n", at.join(", "), texts.join(", ")));
    let never = format!("never at {}\n", part.unreached.join(", "));
    format!("{}:\n{}{}{never}", part.letters, always.collect::<String>(), places.collect::<String>())
}

/// Whether a process of a family with several is named.
fn names_a_process(model: &Model, text: &str) -> bool {
    model.processes.iter().any(|process| process.name.ends_with(']') && text.contains(process.name.as_str()))
}
