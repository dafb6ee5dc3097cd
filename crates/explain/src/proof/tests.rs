//! Sentences say exactly what the sets say, each is true in every reachable state, and can be read back as an invariant.

use base::{Budget, SourceFile};
use evidence::Certificate;
use evidence::certificate::{Claim, ClaimedSymmetry, ProcessDimension, StateSet};
use model::Model;
use model::eval::{State, evaluate};
use model::property::PropertyKind;
use model::symmetry::{asymmetries, process_dimensions};
use model::value::Value;
use testkit::local::{Expose, LocalDefinition};
use testkit::{Product, RandomFeatures, for_each_program};

use super::check::{MemberSentence, SentenceJudge};
use super::formula::{LetterMeaning, SentenceFormula};
use super::member::ClassRows;
use super::truth::{WholeState, truth};
use super::words::InvariantWords;
use super::{LocalProof, MemberAssertion};

/// Proofs of a random program: invariants of one and of two processes, with the end of each process exposed.
fn proofs(model: &Model, limit: usize) -> Vec<Certificate> {
    let mut found = Vec::new();
    for k in 1..=model.processes.len().min(2) {
        let mut local = LocalDefinition { limit, ..LocalDefinition::new(model, k) };
        for (process, exposed) in model.processes.ids().zip(&mut local.exposed) {
            let end = model.families[model.processes[process].family].end;
            exposed.push(Expose::At(vec![end]));
        }
        let Some(sets) = local.invariant() else { continue };
        let certificate = local.certificate(&sets, "p");
        found.extend(by_symmetry(model, &certificate));
        found.push(certificate);
    }
    found
}

/// The same proof by one member for each choice of families, where the program is symmetric.
fn by_symmetry(model: &Model, certificate: &Certificate) -> Option<Certificate> {
    let is_alike = model.families.ids().all(|family| asymmetries(model, family).is_empty());
    let has_several = model.families.iter().any(|family| family.count() > 1);
    (is_alike && has_several).then_some(())?;
    let mut certificate = certificate.clone();
    let Claim::SplitInvariant(invariant) = &mut certificate.facts[0].claim else { return None };
    let mut seen = Vec::new();
    invariant.members.retain(|member| {
        let families: Vec<_> = member.processes.iter().map(|&process| model.processes[process].family).collect();
        let is_new = !seen.contains(&families);
        seen.push(families);
        is_new
    });
    let several = model.families.ids().filter(|family| model.families[*family].count() > 1);
    let dimensions = several.flat_map(|family| {
        let dimensions = process_dimensions(model, family).into_iter();
        dimensions.map(move |(var, dimension)| ProcessDimension { var, dimension, family })
    });
    invariant.symmetry = Some(ClaimedSymmetry { dimensions: dimensions.collect() });
    Some(certificate)
}

fn explanation(model: &Model, certificate: &Certificate) -> LocalProof {
    let source = SourceFile::new("random.pw", "");
    LocalProof::of(model, &source, certificate, &Budget::unlimited()).unwrap()
}

#[test]
fn sentences_say_exactly_what_the_set_says() {
    let n_explained = std::cell::Cell::new(0);
    for_each_program(40, RandomFeatures { procedures: false, ..RandomFeatures::everything() }, |_, model| {
        for certificate in proofs(model, 300) {
            let invariant = certificate.invariant().unwrap();
            let words = InvariantWords::new(model, invariant);
            for member in &invariant.members {
                if matches!(&member.states, StateSet::Rows(rows) if rows.is_empty()) {
                    continue;
                }
                let Some(rows) = ClassRows::new(&words, member) else { continue };
                if let Some(wrong) = rows.wrong() {
                    return Err(format!("k = {}, {:?}: {wrong}", invariant.k, member.processes));
                }
                n_explained.set(n_explained.get() + 1);
            }
        }
        Ok(())
    });
    assert!(n_explained.get() > 30, "{}", n_explained.get());
}

/// A claim of a part that is false in a reachable state, for a choice of processes.
fn false_claim(model: &Model, part: &MemberAssertion, states: &[State]) -> Option<String> {
    let choices = part.choices(model);
    for claim in part.claims() {
        for choice in &choices {
            let meaning = LetterMeaning::new(model, choice);
            if let Some(state) = states.iter().find(|state| truth(&meaning, &claim, &WholeState(state)) != Some(true)) {
                return Some(format!("{} for {choice:?}: {claim:?} in {state:?}", part.whom));
            }
        }
    }
    None
}

/// A sentence that, written into the program as an invariant, is refused or violated.
fn false_text(text: &str, proof: &LocalProof) -> Result<usize, String> {
    let sentences = proof.parts.iter().flat_map(|part| part.sentences());
    let expressions: Vec<&String> = sentences.filter_map(|(_, one)| one.expression.as_ref()).collect();
    let body = text.trim_end().strip_suffix('}').ok_or("the text does not end")?;
    let invariants = (0..).zip(&expressions).map(|(nth, text)| format!("invariant said_{nth}: {text};\n"));
    let source = SourceFile::new("said.pw", format!("{body}{}}}", invariants.collect::<String>()));
    let loaded = lang::load(&source, &[]).map_err(|refused| format!("{:?}\n{}", refused[0], source.text()))?;
    let states = Product::explore(&loaded.model, 10_000).ok_or("it is larger than before")?.states;
    for property in loaded.model.properties.iter().filter(|property| property.name.starts_with("said_")) {
        let PropertyKind::Invariant(expr) = &property.kind else { return Err("no invariant".to_owned()) };
        let is_true = |state: &&State| evaluate(&loaded.model, state, expr, None) == Ok(Value::Bool(true));
        if let Some(state) = states.iter().find(|state| !is_true(state)) {
            return Err(format!("`{}` is not true in {state:?}", property.text));
        }
    }
    Ok(expressions.len())
}

#[test]
fn every_sentence_is_true_in_every_reachable_state_and_can_be_read_back() {
    let counts = std::cell::Cell::new([0; 4]);
    let shape = RandomFeatures { procedures: false, ..RandomFeatures::language() };
    for_each_program(300, shape, |draft, model| {
        let Some(product) = Product::explore(model, 3000) else { return Ok(()) };
        let mut n = counts.get();
        for certificate in proofs(model, 200) {
            let proof = explanation(model, &certificate);
            let has_symmetry = certificate.invariant().unwrap().symmetry.is_some();
            for part in &proof.parts {
                if let Some(wrong) = false_claim(model, part, &product.states) {
                    return Err(wrong);
                }
                n[0] += part.claims().len();
                n[1] += if has_symmetry { part.claims().len() } else { 0 };
                n[2] += part.n_left_out;
            }
            n[3] += false_text(&testkit::write::program(draft), &proof)?;
        }
        counts.set(n);
        Ok(())
    });
    let [n_claims, n_by_symmetry, n_left_out, n_read_back] = counts.get();
    println!("{n_claims} claims, {n_by_symmetry} by symmetry, {n_left_out} left out, {n_read_back} read back");
    assert!(n_claims > 1000 && n_by_symmetry > 100 && n_read_back > 500, "{:?}", counts.get());
    assert_eq!(n_left_out, 0);
}

#[test]
fn the_judge_accepts_what_is_true_in_every_view_state_listed_or_drawn() {
    let counts = std::cell::Cell::new([0; 2]);
    for_each_program(60, RandomFeatures { procedures: false, ..RandomFeatures::everything() }, |_, model| {
        for certificate in proofs(model, 60) {
            let invariant = certificate.invariant().unwrap();
            if invariant.symmetry.is_some() {
                continue;
            }
            // What is said of one member is asked of all, as it is and the other way round.
            let mut claims: Vec<SentenceFormula> =
                explanation(model, &certificate).parts.iter().flat_map(MemberAssertion::claims).collect();
            claims.extend(claims.clone().into_iter().map(SentenceFormula::negated));
            let mut drawn = invariant.clone();
            for member in &mut drawn.members {
                let sizes = member.columns.iter().map(|&column| InvariantWords::new(model, invariant).size(column));
                let Some(sizes) = sizes.map(|size| size.map(|size| size as usize)).collect::<Option<Vec<_>>>() else {
                    return Ok(());
                };
                let StateSet::Rows(rows) = &member.states else { continue };
                let order: Vec<usize> = (0..sizes.len()).rev().collect();
                member.states = testkit::local::meaning::drawn(&sizes, rows, &order);
            }
            for (at, member) in invariant.members.iter().enumerate() {
                let said = MemberSentence { member: at, own: member.processes.clone() };
                for claim in claims.iter().take(40) {
                    let slow = slow_truth(model, invariant, (at, &said), claim);
                    for invariant in [invariant, &drawn] {
                        let judge = SentenceJudge { model, invariant, budget: &Budget::unlimited() };
                        if judge.accepts(std::slice::from_ref(claim), std::slice::from_ref(&said)) != [slow] {
                            return Err(format!("{claim:?} of {:?}: {slow}", member.processes));
                        }
                    }
                    let mut n = counts.get();
                    n[usize::from(slow)] += 1;
                    counts.set(n);
                }
            }
        }
        Ok(())
    });
    assert!(counts.get().iter().all(|&n| n > 300), "{:?}", counts.get());
}

/// Whether a claim is true in each view state of a member, row by row.
fn slow_truth(
    model: &Model,
    invariant: &evidence::certificate::SplitInvariant,
    (at, said): (usize, &MemberSentence),
    claim: &SentenceFormula,
) -> bool {
    use super::view_state::{MemberView, PartialViewState, ProcessRenaming};
    let member = &invariant.members[at];
    let view = MemberView::new(model, invariant, member, &ProcessRenaming::taking(model, &[], &[])).unwrap();
    let StateSet::Rows(rows) = &member.states else { panic!("the sets are listed") };
    rows.iter().all(|row| {
        let row: Vec<Option<u32>> = row.iter().copied().map(Some).collect();
        truth(&LetterMeaning::new(model, &said.own), claim, &PartialViewState::new(&view, &row)) == Some(true)
    })
}

/// Two numbers that go together are said to have a sum or a difference; the sentences are true, say exactly the set, and can be read back.
#[test]
fn numbers_that_go_together_are_said_as_sums_and_differences() {
    let moves = "program moves(N: 2..) { shared a: [0..=4; 2] = 2; process P[i in 0..<N] { local k: 0..=1; loop {
        pick: k = any; go: atomic { await a[k] > 0; a[k] -= 1; a[1 - k] += 1; } } }";
    let follows = "program follows { shared head: 0..=6; shared tail: 0..=6;
        process P { loop { put: await head < 6; up: head += 1; } }
        process Q { loop { get: await tail < head; down: tail += 1; } }
        process R { loop { back: atomic { await head == 6 && tail == 6; head = 0; tail = 0; } } }";
    let behind = "program behind { shared x: 0..=5; shared y: 0..=5;
        process P { loop { one: await x < 5; two: x += 1; three: y += 1; } }";
    for (text, wanted) in [(moves, "a[0] + a[1] == 4"), (follows, "head >= tail"), (behind, "x == y + 1")] {
        let text = format!("{text} }}");
        let source = SourceFile::new("sums.pw", text.clone());
        let model = lang::load(&source, &[]).unwrap().model;
        let product = Product::explore(&model, 3000).unwrap();
        let mut said = Vec::new();
        for certificate in proofs(&model, 2000) {
            let proof = explanation(&model, &certificate);
            for part in &proof.parts {
                assert_eq!(false_claim(&model, part, &product.states), None);
                said.extend(part.sentences().into_iter().map(|(_, one)| one.text.clone()));
            }
            false_text(&text, &proof).unwrap();
            let invariant = certificate.invariant().unwrap();
            let words = InvariantWords::new(&model, invariant);
            for member in &invariant.members {
                assert_eq!(ClassRows::new(&words, member).unwrap().wrong(), None);
            }
        }
        assert!(said.iter().any(|one| one.contains(wanted)), "{wanted}: {said:#?}");
    }
}

/// What is said of a process without an index and all processes of a family, of messages with several parts, and of numbers near the ends of 64 bits can be read back.
#[test]
fn single_processes_parts_of_messages_and_far_numbers_can_be_read_back() {
    let single = "program single { shared a: [0..=1; 2] = 1;
        process P { one: atomic { for k in Q { a[k] = 0; } } }
        process Q[i in 0..<2] { two: await a[i] == 0; three: await forall k: a[k] == 0; } }";
    let parts = "program parts { chan c: [2] of (0..=1, bool);
        process P { loop { one: send c(0, true); } }
        process Q { local x: 0..=1; loop { two: receive c(x, _); } } }";
    let far = "program far { shared x: 9223372036854775800..=9223372036854775807; shared y: 9223372036854775800..=9223372036854775807;
        process P { loop { one: await x < 9223372036854775807 && x - y < 3; two: x = x + 1; } }
        process Q { loop { three: await y < x; four: y = y + 1; } } }";
    let wanted = ["forall k: P@end <=> a[k] == 0", "c.1[0] == 0", "x != y + 3"];
    for (text, wanted) in [single, parts, far].into_iter().zip(wanted) {
        let model = lang::load(&SourceFile::new("read.pw", text.to_owned()), &[]).unwrap().model;
        let mut said = Vec::new();
        for certificate in proofs(&model, 2000) {
            let proof = explanation(&model, &certificate);
            false_text(text, &proof).unwrap();
            let other = SourceFile::new("read.pml", "");
            let elsewhere = LocalProof::of(&model, &other, &certificate, &Budget::unlimited()).unwrap();
            let mut sentences = elsewhere.parts.iter().flat_map(|part| part.sentences());
            assert!(sentences.all(|(_, one)| one.expression.is_none()), "Promela has no invariants");
            said.extend(proof.parts.iter().flat_map(|part| part.sentences()).map(|(_, one)| one.text.clone()));
        }
        assert!(said.iter().any(|one| one.contains(wanted)), "{wanted}: {said:#?}");
    }
}
