//! Proofs read back as written; everything else is refused in words.

use evidence::Certificate;
use evidence::certificate::StateSet;
use evidence::proof_file::{ProofError, read, to_text};
use model::Model;
use model::process::ProcessId;
use testkit::local::{Expose, LocalDefinition};
use testkit::{Draft, RandomFeatures, for_each_program};

/// The smallest invariant with one exposed place, one member drawn as a diagram.
fn certificate(model: &Model, k: usize) -> Option<Certificate> {
    let mut local = LocalDefinition { limit: 200, ..LocalDefinition::new(model, k) };
    let end = model.families[model.processes[ProcessId::new(0)].family].end;
    local.exposed[0].push(Expose::At(vec![end]));
    let sets = local.invariant()?;
    let mut certificate = local.certificate(&sets, "no_errors");
    let invariant = certificate.facts[0].claim.split_invariant_mut()?;
    let drawn = {
        let member = &invariant.members[0];
        let sizes = testkit::local::meaning::sizes(model, invariant, member);
        let StateSet::Rows(rows) = &member.states else { return None };
        testkit::local::meaning::drawn(&sizes, rows, &(0..sizes.len()).collect::<Vec<_>>())
    };
    invariant.members[0].states = drawn;
    Some(certificate)
}

/// The program, with the property that the proofs are about.
fn asking(model: &Model) -> Model {
    let mut model = model.clone();
    testkit::samples::add_property(&mut model, "no_errors", model::property::PropertyKind::NoErrors);
    model
}

#[test]
fn proofs_read_back_as_written() {
    for_each_program(25, RandomFeatures { procedures: false, ..RandomFeatures::everything() }, |_, model| {
        let model = &asking(model);
        for k in 1..=model.processes.len().min(2) {
            let Some(certificate) = certificate(model, k) else { continue };
            let text = to_text(model, &certificate, "split");
            if read(text.as_bytes(), model) != Ok(certificate) {
                return Err(format!("reads back differently:\n{text}"));
            }
        }
        Ok(())
    });
}

/// Two processes that count to two.
fn counting(name: &str) -> Model {
    use testkit::expr::{add, int, read, shared};
    use testkit::text::assign;
    let mut draft = Draft::new();
    draft.model.name = "counting".to_string();
    let size = model::Parameter { name: "N".to_string(), value: 2, least: 1, greatest: None, given: true };
    draft.model.parameters = [size].into_iter().collect();
    let p = draft.family("P", 2);
    let x = draft.shared(name, testkit::draft::range_type(0, 2), model::variable::Init::First);
    draft.text(p, vec![assign(shared(x), add(read(shared(x)), int(1))).label("step")]);
    asking(&draft.finish())
}

fn refusal(bytes: &[u8], model: &Model) -> String {
    read(bytes, model).expect_err("the file is refused").to_string()
}

#[test]
fn what_is_no_proof_of_the_program_is_refused_in_words() {
    let model = counting("x");
    let text = to_text(&model, &certificate(&model, 1).unwrap(), "split");
    let check = |edit: &dyn Fn(&str) -> String, expected: &str| {
        let found = refusal(edit(&text).as_bytes(), &model);
        assert!(found.contains(expected), "{found}, not {expected}");
    };
    let replaced = |from: &'static str, to: &'static str| {
        move |text: &str| {
            assert!(text.contains(from), "{text}");
            text.replacen(from, to, 1)
        }
    };
    check(&|_| String::new(), "not a JSON file: it ends too early");
    check(&|text| text[..text.len() / 2].to_string(), "it ends too early");
    check(&|_| "{}".to_string(), "not a proof in the format piecewise-proof/5: missing field `format`");
    check(&|_| "[1, 2]".to_string(), "not a proof in the format");
    check(&|_| "[".repeat(100_000), "not a proof in the format");
    check(&replaced("piecewise-proof/5", "piecewise-proof/9"), "its format is \"piecewise-proof/9\"");
    check(&replaced("\"counting\"", "\"other\""), "it was written for \"other\", this is counting");
    check(&replaced("\"N\": 2", "\"N\": 3"), "it was written for N = 3, this is N = 2; give -D N=3");
    check(&replaced("\"N\": 2", "\"M\": 2"), "it was written without N");
    check(&replaced("\"uses\"", "\"misuses\""), "unknown field `misuses`");
    check(&replaced("\"k\": 1", "\"k\": 2"), "its digest does not match");
    for older in ["piecewise-proof/1", "piecewise-proof/2", "piecewise-proof/3", "piecewise-proof/4"] {
        check(&replaced("piecewise-proof/5", older), &format!("the older format {older}"));
    }
    let scope = "\"scope\": {\"kind\": \"all\", \"parameter\": \"N\", \"from\": 2, \"checked\": []}, \"facts\"";
    check(&replaced("\"facts\"", scope), "its digest does not match");
    assert!(refusal(b"\xff\xfe{}", &model).contains("not a JSON file"));
    let other = counting("y");
    assert!(refusal(text.as_bytes(), &other).contains("what counting does, or what `no_errors` says, has changed"));
    assert!(read(text.as_bytes(), &model).is_ok());
}

#[test]
fn the_sizes_that_a_proof_is_for_are_kept() {
    let model = counting("x");
    let found = certificate(&model, 1).unwrap();
    let scope = evidence::Scope::AllSizes { parameter: "N".to_string(), from: 4, checked: vec![2, 3] };
    let all = Certificate { scope: scope.clone(), ..found };
    let text = to_text(&model, &all, "split");
    assert_eq!(read(text.as_bytes(), &model).unwrap().scope, scope);
    assert_eq!(evidence::proof_file::ProofFile::parse(text.as_bytes()).unwrap().scope(), &scope);
    assert_eq!(refusal(text.replace("\"from\": 4", "\"from\": 2").as_bytes(), &model), ProofError::Edited.to_string());
}

#[test]
fn any_damage_is_refused_or_changes_nothing() {
    let model = counting("x");
    let certificate = certificate(&model, 1).unwrap();
    let text = to_text(&model, &certificate, "split").into_bytes();
    for at in (0..text.len()).step_by(5) {
        for byte in [b'0', b'[', b'"', b' ', 0xff, text[at] ^ 1] {
            let mut damaged = text.clone();
            damaged[at] = byte;
            match read(&damaged, &model) {
                Ok(read) => assert!(read == Certificate { property: read.property.clone(), ..certificate.clone() }),
                Err(ProofError::TooLarge(_)) => panic!("the size did not change"),
                Err(error) => assert!(!error.to_string().is_empty()),
            }
        }
    }
}
