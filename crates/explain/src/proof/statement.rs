//! What a proof says, in sentences that name neither the size of the program nor single processes; if it can be said so.
//!
//! In: a proof in words. Out: its sentences as one text, which is the same for two sizes if and only if the proofs read the same. A proof that speaks
//! of single processes (`P[0]`), or says different things of processes of one family, has no such text.

use model::Model;

use super::formula::NamedProcess;
use super::{LocalProof, MemberAssertion};

/// The sentences; `None` where they depend on the size, or not all of them are put into words.
pub fn statement(model: &Model, explanation: &LocalProof) -> Option<String> {
    let is_uniform = |part: &MemberAssertion| part.is_all && part.n_left_out == 0 && !names_a_process(model, part);
    if explanation.is_scene
        || !explanation.unexplained.is_empty()
        || explanation.parts.is_empty()
        || !explanation.parts.iter().all(is_uniform)
    {
        return None;
    }
    Some(explanation.parts.iter().map(sentences).collect())
}

/// All sentences, in one order.
fn sentences(part: &MemberAssertion) -> String {
    let always = part.always.iter().map(|one| format!("{}\n", one.text));
    let places = part.places.iter().map(|at| {
        let says: Vec<&str> = at.says.iter().map(|one| one.text.as_str()).collect();
        format!("at {}: {}\n", at.at.join(", "), says.join(", "))
    });
    let never = format!("never at {}\n", part.unreached.join(", "));
    format!("{}:\n{}{}{never}", part.letters, always.collect::<String>(), places.collect::<String>())
}

/// Whether a process of a family with an index is named.
fn names_a_process(model: &Model, part: &MemberAssertion) -> bool {
    let is_indexed = |who: &NamedProcess| match who {
        NamedProcess::Process(process) => model.families[model.processes[*process].family].index.is_some(),
        NamedProcess::Letter(_) | NamedProcess::After(..) | NamedProcess::TreePosition(..) => false,
    };
    part.claims().iter().any(|claim| claim.named().iter().any(is_indexed))
}
