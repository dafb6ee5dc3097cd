//! A number that tells programs apart by what they do: comments, layout and other properties do not matter.
//!
//! In: a Model, and the name of the property that a proof is about. Out: FNV-1a over everything that `eval` looks at, without the
//! places in the text. Two programs that share it may still differ; a proof is checked against the program at hand.

use std::fmt::Debug;

use model::Model;
use model::property::PropertyKind;

/// The fingerprint of a program together with one of its properties.
pub(super) fn fingerprint(model: &Model, property: &str) -> String {
    let mut hash = Hash(0xcbf2_9ce4_8422_2325);
    model.enums.iter().for_each(|one| hash.feed(&one.values));
    model.vars.iter().for_each(|var| hash.feed(&(&var.name, var.storage, var.role, &var.ty, &var.init, var.offset)));
    model.cells.iter().for_each(|cell| hash.feed(&(&cell.name, cell.ty)));
    model.families.iter().for_each(|family| hash.feed(&(&family.name, &family.index, &family.entry, family.end)));
    model.processes.iter().for_each(|process| hash.feed(&process.name));
    model.procedures.iter().for_each(|procedure| {
        hash.feed(&(&procedure.name, &procedure.vars, procedure.n_parameters, procedure.result, &procedure.entry));
    });
    model.places.iter().for_each(|place| hash.feed(&(place.scope, &place.labels, &place.actions)));
    for action in &model.actions {
        hash.feed(&(action.scope, action.source, &action.labels, &action.guard));
        hash.feed(&(&action.sync, &action.body, &action.kind, &action.next));
    }
    model.loops.iter().for_each(|one| hash.feed(&(one.scope, one.counter, &one.domain, &one.body)));
    model.channels.iter().for_each(|channel| hash.feed(&channel.name));
    for one in model.properties.iter().filter(|one| one.name == property) {
        hash.feed(&(&one.name, &one.kind));
        // Only temporal properties are about fair runs.
        if matches!(one.kind, PropertyKind::Temporal(_)) {
            for set in &one.under.any_of {
                let pairs: Vec<_> = set.iter().map(|&pair| &model.fairness[pair]).collect();
                hash.feed(&pairs.iter().map(|pair| (&pair.always, &pair.often)).collect::<Vec<_>>());
            }
        }
    }
    format!("{:016x}", hash.0)
}

struct Hash(u64);

impl Hash {
    fn feed(&mut self, part: &impl Debug) {
        let text = format!("{part:?}");
        for byte in without_spans(&text).bytes().chain([0]) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

/// The text without the places of the program's text that it names.
fn without_spans(text: &str) -> String {
    const SPAN: &str = "Span {";
    let mut parts = text.split(SPAN);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str(part.split_once('}').map_or("", |(_, rest)| rest));
    }
    out
}

#[cfg(test)]
mod tests {
    use base::Span;

    use super::*;

    #[test]
    fn places_in_the_text_are_left_out_and_nothing_else() {
        let text = |start, name| format!("{:?}", (Span::new(start, start + 2), name, Span::new(0, start)));
        assert_eq!(without_spans(&text(3, "x")), without_spans(&text(7, "x")));
        assert_ne!(without_spans(&text(3, "x")), without_spans(&text(3, "y")));
        assert_eq!(without_spans("plain"), "plain");
    }
}
