//! Mirror images among sentences about two processes of one family.
//!
//! In: sentences that are said for every choice of two different processes. Out: which of them say the same as an earlier one with the two
//! exchanged; these need not be said. Sentences are compared as clauses: an implication is read as a choice of parts, in any order.

use std::collections::BTreeSet;

use super::formula::{CellTerm, IndexName, Letter, NamedProcess, PlaceName, SentenceFormula, Test, ValueTerm};

/// For each sentence whether it is the mirror image of an earlier one.
pub(super) fn mirrored(sentences: &[&SentenceFormula]) -> Vec<bool> {
    let mut said: BTreeSet<Clause> = BTreeSet::new();
    let mut is_mirrored = Vec::with_capacity(sentences.len());
    for sentence in sentences {
        let image = exchanged(sentence).map(|image| clause(&image));
        is_mirrored.push(image.is_some_and(|image| said.contains(&image)));
        said.insert(clause(sentence));
    }
    is_mirrored
}

/// The parts of which one is true, each with whether it is said or denied.
type Clause = BTreeSet<(bool, SentenceFormula)>;

fn clause(sentence: &SentenceFormula) -> Clause {
    let mut parts = Clause::new();
    collect(sentence, true, &mut parts);
    parts
}

fn collect(sentence: &SentenceFormula, is_said: bool, parts: &mut Clause) {
    match sentence {
        SentenceFormula::Not(inner) => collect(inner, !is_said, parts),
        SentenceFormula::Implies(one, other) if is_said => {
            collect(one, false, parts);
            collect(other, true, parts);
        }
        SentenceFormula::Any(several) if is_said => several.iter().for_each(|one| collect(one, true, parts)),
        SentenceFormula::All(several) if !is_said => several.iter().for_each(|one| collect(one, false, parts)),
        SentenceFormula::Cell(term, Test::In(values)) => {
            parts.insert((is_said, SentenceFormula::Cell(term.clone(), Test::In(sorted(values)))));
        }
        SentenceFormula::Cell(term, Test::NotIn(values)) => {
            parts.insert((!is_said, SentenceFormula::Cell(term.clone(), Test::In(sorted(values)))));
        }
        SentenceFormula::At(who, spots) => {
            parts.insert((is_said, SentenceFormula::At(*who, sorted(spots))));
        }
        SentenceFormula::Sum(terms, Test::NotIn(values)) => {
            parts.insert((!is_said, SentenceFormula::Sum(sorted(terms), Test::In(sorted(values)))));
        }
        SentenceFormula::Sum(terms, test) => {
            parts.insert((is_said, SentenceFormula::Sum(sorted(terms), test.clone())));
        }
        SentenceFormula::Iff(one, other) => {
            let (one, other) = if one <= other { (one, other) } else { (other, one) };
            parts.insert((is_said, SentenceFormula::Iff(one.clone(), other.clone())));
        }
        other => {
            parts.insert((is_said, other.clone()));
        }
    }
}

fn sorted<T: Clone + Ord>(several: &[T]) -> Vec<T> {
    let mut several = several.to_vec();
    several.sort();
    several
}

/// The sentence with the first two letters exchanged; none for one with letters of its own, which is said as it is.
fn exchanged(sentence: &SentenceFormula) -> Option<SentenceFormula> {
    let both =
        |one: &SentenceFormula, other: &SentenceFormula| Some((Box::new(exchanged(one)?), Box::new(exchanged(other)?)));
    let all = |several: &[SentenceFormula]| several.iter().map(exchanged).collect::<Option<Vec<_>>>();
    Some(match sentence {
        SentenceFormula::Constant(truth) => SentenceFormula::Constant(*truth),
        SentenceFormula::Cell(term, test) => SentenceFormula::Cell(exchanged_cell(term), exchanged_test(test)),
        SentenceFormula::At(who, spots) => {
            SentenceFormula::At(other_one(*who), spots.iter().map(exchanged_place).collect())
        }
        SentenceFormula::Not(inner) => SentenceFormula::Not(Box::new(exchanged(inner)?)),
        SentenceFormula::All(several) => SentenceFormula::All(all(several)?),
        SentenceFormula::Any(several) => SentenceFormula::Any(all(several)?),
        SentenceFormula::Implies(one, other) => {
            let (one, other) = both(one, other)?;
            SentenceFormula::Implies(one, other)
        }
        SentenceFormula::Iff(one, other) => {
            let (one, other) = both(one, other)?;
            SentenceFormula::Iff(one, other)
        }
        SentenceFormula::Sum(terms, test) => {
            let terms = terms.iter().map(|(times, term)| (*times, exchanged_cell(term))).collect();
            SentenceFormula::Sum(terms, exchanged_test(test))
        }
        SentenceFormula::Quantified(_) | SentenceFormula::Tally(_) => return None,
    })
}

fn other_one(who: NamedProcess) -> NamedProcess {
    let other = |letter: Letter| Letter { at: if letter.at < 2 { 1 - letter.at } else { letter.at }, ..letter };
    match who {
        NamedProcess::Process(_) => who,
        NamedProcess::Letter(letter) => NamedProcess::Letter(other(letter)),
        NamedProcess::After(letter, distance) => NamedProcess::After(other(letter), distance),
        NamedProcess::TreePosition(letter, position) => NamedProcess::TreePosition(other(letter), position),
    }
}

fn exchanged_cell(term: &CellTerm) -> CellTerm {
    let index = |index: &IndexName| match index {
        IndexName::Of(who) => IndexName::Of(other_one(*who)),
        IndexName::Number(_) => *index,
    };
    CellTerm { var: term.var, owner: term.owner.map(other_one), indices: term.indices.iter().map(index).collect() }
}

fn exchanged_value(value: &ValueTerm) -> ValueTerm {
    match value {
        ValueTerm::Process(who) => ValueTerm::Process(other_one(*who)),
        ValueTerm::Plain(_) => *value,
    }
}

fn exchanged_test(test: &Test) -> Test {
    match test {
        Test::In(values) => Test::In(values.iter().map(exchanged_value).collect()),
        Test::NotIn(values) => Test::NotIn(values.iter().map(exchanged_value).collect()),
        Test::AtMost(_) | Test::AtLeast(_) => test.clone(),
    }
}

fn exchanged_place(spot: &PlaceName) -> PlaceName {
    let counters = spot.counters.as_ref();
    let counters =
        counters.map(|counters| counters.iter().map(|(var, value)| (*var, exchanged_value(value))).collect());
    PlaceName { place: spot.place, counters }
}

#[cfg(test)]
mod tests {
    use model::process::FamilyId;
    use model::value::Value;
    use model::variable::VarId;

    use super::*;

    fn cell(letter: usize, value: i64) -> SentenceFormula {
        let who = NamedProcess::Letter(Letter { at: letter, family: FamilyId::new(0) });
        let term = CellTerm { var: VarId::new(0), owner: Some(who), indices: Vec::new() };
        SentenceFormula::Cell(term, Test::In(vec![ValueTerm::Plain(Value::Int(value))]))
    }

    fn implies(one: SentenceFormula, other: SentenceFormula) -> SentenceFormula {
        SentenceFormula::Implies(Box::new(one), Box::new(other))
    }

    fn check(sentences: &[SentenceFormula], expected: &[bool]) {
        assert_eq!(mirrored(&sentences.iter().collect::<Vec<_>>()), expected, "{sentences:?}");
    }

    #[test]
    fn what_says_the_same_of_the_two_exchanged_is_a_mirror_image() {
        check(&[cell(0, 1), cell(1, 1), cell(1, 2)], &[false, true, false]);
        // x_i == 1 => x_j == 2, and x_i != 2 => x_j != 1, which is the same turned round.
        let turned = implies(cell(0, 2).negated(), cell(1, 1).negated());
        check(&[implies(cell(0, 1), cell(1, 2)), turned], &[false, true]);
        check(&[implies(cell(0, 1), cell(1, 2)), implies(cell(0, 2), cell(1, 1))], &[false, false]);
        // What is its own mirror image is said once.
        let own = implies(cell(0, 1), cell(1, 1).negated());
        check(&[own], &[false]);
    }

    #[test]
    fn order_does_not_count() {
        let both = |first: SentenceFormula, second: SentenceFormula, then: SentenceFormula| {
            implies(SentenceFormula::All(vec![first, second]), then)
        };
        check(&[both(cell(0, 1), cell(1, 2), cell(0, 3)), both(cell(0, 2), cell(1, 1), cell(1, 3))], &[false, true]);
        check(&[both(cell(0, 1), cell(1, 2), cell(0, 3)), both(cell(0, 2), cell(1, 1), cell(0, 3))], &[false, false]);
    }
}
