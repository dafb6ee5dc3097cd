//! Edits that keep the digest right, which only this crate can make.

use base::Span;
use model::Model;
use model::control::{Place, PlaceId, Scope};
use model::process::{Family, FamilyId, IndexRange, Process, ProcessId};

use super::read;
use super::record::{Document, digest};
use crate::Certificate;
use crate::certificate::{Claim, Column, ControlPoint, Exposed, Fact, Member, SplitInvariant, StateSet};
use crate::implication::{Clause, Demand, Implied, Literal, Part};

/// Two processes that have ended.
fn ended() -> Model {
    let mut model = Model { name: "ended".to_string(), ..Model::default() };
    let family = FamilyId::new(0);
    let span = Span::default();
    let end = model.places.push(Place {
        scope: Scope::Family(family),
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
    let (property, scope) = ("mutex".to_string(), crate::Scope::Instance);
    let claim = Literal { path: vec![0, 1], bound: vec!["P[0]".to_string()], demand: Demand::True };
    let condition = Literal { demand: Demand::False, ..claim.clone() };
    let from: Vec<_> = model.processes.ids().collect();
    let parts = [
        Part::Clause(Clause { conditions: vec![condition], claim }),
        Part::NoFault(from.clone()),
        Part::NoRace(vec![from[0]], vec![from[1]]),
        Part::NoDeadlock,
    ];
    let implication = parts.map(|part| Implied { part, from: from.clone() }).to_vec();
    Certificate { property, scope, facts, implication }
}

fn processes(document: &mut Document) -> &mut Vec<super::record::ProcessRecord> {
    document.facts[0].processes.as_mut().unwrap()
}

#[test]
fn every_part_of_a_property_reads_back_as_it_was_written() {
    let model = ended();
    let certificate = certificate(&model);
    let text = super::to_text(&model, &certificate, "split");
    assert_eq!(read(text.as_bytes(), &model).unwrap(), certificate);
    assert!(text.contains(r#""if": [{"path": [0, 1], "bound": ["P[0]"], "demand": "false"}]"#), "{text}");
}

#[test]
fn an_edit_under_a_right_digest_is_refused_where_names_and_ids_disagree() {
    let model = ended();
    let certificate = certificate(&model);
    let check = |edit: &dyn Fn(&mut Document), expected: &str| {
        let mut document = Document::new(&model, &certificate, "split");
        edit(&mut document);
        document.digest = Some(digest(&document));
        let written = serde_json::to_vec(&document).unwrap();
        let found = read(&written, &model).unwrap_err().to_string();
        assert!(found.contains(expected), "{found}, not {expected}");
    };
    check(&|it| processes(it)[1].process.0 = 0, "process 0 is P[0], not \"P[1]\"");
    check(&|it| processes(it).swap(0, 1), "not in the order of the program");
    check(&|it| processes(it)[0].points[0].place.0 = 1 << 40, "there is no place 1099511627776");
    check(&|it| it.implication[1].from[1].0 = 0, "process 0 is P[0], not \"P[1]\"");
    check(&|it| drop(processes(it).pop()), "it lists 1 processes, the program has 2");
    check(&|it| it.facts[0].members.as_mut().unwrap()[0].of[0].1 = "Q".repeat(1000), "process 0 is P[0], not \"QQQQ");
}
