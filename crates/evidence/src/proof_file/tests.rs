//! Edits that keep the digest right, which only this crate can make.

use base::Span;
use model::Model;
use model::control::{Place, PlaceId, TextOwner};
use model::process::{Family, FamilyId, IndexRange, Process, ProcessId};

use super::read;
use super::record::ProofDocument;
use crate::Certificate;
use crate::certificate::{Claim, Column, ControlPoint, Exposed, Fact, Member, SplitInvariant, StateSet};

/// Two processes that have ended.
fn ended() -> Model {
    let mut model = Model { name: "ended".to_string(), ..Model::default() };
    let family = FamilyId::new(0);
    let span = Span::default();
    let end = model.places.push(Place {
        scope: TextOwner::Family(family),
        labels: Vec::new(),
        name: "end".to_string(),
        actions: Vec::new(),
        may_end: false,
        span,
    });
    model.families.push(Family {
        name: "P".to_string(),
        index: Some(IndexRange { name: "i".to_string(), first: 0, count: 2 }),
        size: model::size::Size::Fixed(2),
        vars: Vec::new(),
        entry: model::control::Next::To(end),
        end,
        first: ProcessId::new(0),
        n_cells: 0,
        doc: String::new(),
        span,
    });
    for index in 0..2 {
        model.processes.push(Process { family, index, name: format!("P[{index}]"), first_cell: 0 });
    }
    model.properties.push(model::property::Property {
        name: "mutex".to_string(),
        kind: model::property::PropertyKind::NoErrors,
        under: model::fairness::Assumptions::none(),
        expected: model::property::Expected::Holds,
        text: String::new(),
        doc: String::new(),
        span,
    });
    model.lay_out();
    model
}

fn certificate(model: &Model) -> Certificate {
    let point = ControlPoint { place: PlaceId::new(0), counters: Vec::new() };
    let member = |process| Member {
        processes: vec![process],
        columns: vec![Column::Control(process)],
        states: StateSet::Rows(vec![vec![0]]),
    };
    let claim = SplitInvariant {
        k: 1,
        points: vec![vec![point]; 2],
        exposed: vec![Exposed::default(); 2],
        members: model.processes.ids().map(member).collect(),
        symmetry: None,
    };
    let facts = vec![Fact { claim: Claim::SplitInvariant(claim), uses: Vec::new() }];
    Certificate { property: "mutex".to_string(), scope: crate::Scope::Instance, facts, implies: Vec::new() }
}

fn processes(document: &mut ProofDocument) -> &mut Vec<super::record::ProcessRecord> {
    document.facts[0].processes.as_mut().unwrap()
}

#[test]
fn an_edit_under_a_right_digest_is_refused_where_names_and_ids_disagree() {
    let model = ended();
    let certificate = certificate(&model);
    let check = |edit: &dyn Fn(&mut ProofDocument), expected: &str| {
        let mut document = ProofDocument::new(&model, &certificate, "split");
        edit(&mut document);
        document.digest = Some(document.digest_of_claims());
        let written = serde_json::to_vec(&document).unwrap();
        let found = read(&written, &model).unwrap_err().to_string();
        assert!(found.contains(expected), "{found}, not {expected}");
    };
    check(&|it| processes(it)[1].process.0 = 0, "process 0 is P[0], not \"P[1]\"");
    check(&|it| processes(it).swap(0, 1), "not in the order of the program");
    check(&|it| processes(it)[0].points[0].place.0 = 1 << 40, "there is no place 1099511627776");
    check(&|it| drop(processes(it).pop()), "it lists 1 processes, the program has 2");
    check(&|it| it.facts[0].members.as_mut().unwrap()[0].of[0].1 = "Q".repeat(1000), "process 0 is P[0], not \"QQQQ");
}
