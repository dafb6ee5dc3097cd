//! Certificates written by hand: the papers' invariants of known protocols, right ones and wrong ones.

use std::collections::BTreeSet;
use std::time::Duration;

use audit::certificate::{CertificateError, Means, check, check_by};
use base::{Budget, CancelToken, SourceFile, StopReason};
use evidence::Certificate;
use evidence::certificate::{Claim, Column, Fact, SplitInvariant, StateSet};
use model::Model;
use model::control::{PlaceId, TextOwner};
use model::points::Points;
use model::process::ProcessId;
use model::property::Property;
use model::value::Value;
use testkit::local::{Combination, DefinedSets, Expose, LocalDefinition, ViewPart, subsets};

fn load(text: &str, n: i64) -> Model {
    let source = SourceFile::new("test.pw", text);
    let parameters = if text.contains("(N:") { vec![("N".to_string(), n)] } else { vec![] };
    lang::load(&source, &parameters).expect("the program is right").model
}

fn named<'m>(model: &'m Model, name: &str) -> &'m Property {
    model.properties.iter().find(|property| property.name == name).expect("the program has the property")
}

/// A view state while it is decided whether it belongs to an invariant.
struct View<'a> {
    model: &'a Model,
    /// The processes that the invariant is about.
    of: Vec<ProcessId>,
    state: &'a Combination,
}

impl View<'_> {
    /// Whether the nth process of the invariant stands at one of the labels.
    fn at(&self, nth: usize, labels: &[&str]) -> bool {
        let Some(ViewPart::Point(point)) = self.state.get(&Column::Control(self.of[nth])) else { return false };
        self.model.places[point.place].labels.iter().any(|label| labels.contains(&label.as_str()))
    }

    /// The value of a variable.
    fn value(&self, name: &str) -> Value {
        let cell = self.model.cells.entries().find(|(_, cell)| cell.name == name).expect("there is the cell").0;
        match &self.state[&Column::Cell(cell)] {
            ViewPart::Value(value) => *value,
            other => panic!("{other:?} is no value"),
        }
    }

    fn is(&self, name: &str, number: i64) -> bool {
        self.value(name) == Value::Int(number)
    }

    /// Whether the (only) exposed fact about a process holds.
    fn exposes(&self, process: ProcessId) -> bool {
        self.state[&Column::Exposed(process)] == ViewPart::Block(vec![true])
    }
}

/// The invariants that a formula describes, with the places at one of these labels exposed.
fn written(model: &Model, k: usize, exposed: &[&str], formula: impl Fn(&View<'_>) -> bool) -> (Certificate, usize) {
    let mut local = LocalDefinition::new(model, k);
    for process in model.processes.ids().filter(|_| !exposed.is_empty()) {
        local.exposed[process.index()].push(Expose::At(labelled(model, process, exposed)));
    }
    let everybody: Vec<ProcessId> = model.processes.ids().collect();
    let mut sets = DefinedSets::new();
    for member in subsets(&everybody, k) {
        let mut states = vec![Combination::new()];
        for column in local.columns(&member) {
            let parts = parts(model, column, exposed);
            let longer = states.iter().flat_map(|state| {
                parts.iter().map(|part| {
                    let mut state = state.clone();
                    state.insert(column, part.clone());
                    state
                })
            });
            states = longer.collect();
        }
        // What a process exposes is a fact about where it stands.
        let consistent = |state: &Combination| {
            let whole = local.fill(state);
            let own = |column: &&Column| matches!(column, Column::Exposed(process) if member.contains(process));
            let own: Vec<Column> = state.keys().filter(own).copied().collect();
            local.project(&whole, &own).iter().all(|(column, part)| state[column] == *part)
        };
        let belongs = |state: &Combination| formula(&View { model, of: member.clone(), state });
        let set: BTreeSet<Combination> =
            states.into_iter().filter(|state| consistent(state) && belongs(state)).collect();
        sets.insert(member, set);
    }
    let n_states = sets.values().map(BTreeSet::len).sum();
    (local.certificate(&sets, ""), n_states)
}

fn labelled(model: &Model, process: ProcessId, labels: &[&str]) -> Vec<PlaceId> {
    let scope = TextOwner::Family(model.processes[process].family);
    let places = model.places.entries().filter(|(_, place)| place.scope == scope);
    let there = places.filter(|(_, place)| place.labels.iter().any(|label| labels.contains(&label.as_str())));
    there.map(|(id, _)| id).collect()
}

fn parts(model: &Model, column: Column, exposed: &[&str]) -> Vec<ViewPart> {
    match column {
        Column::Cell(cell) => model.cells[cell].ty.values(model.type_context()).map(ViewPart::Value).collect(),
        Column::Control(process) => {
            let points = Points::of(model, process, 100).expect("there are few points");
            let point = |at: &model::points::Point| {
                let state = LocalDefinition::new(model, 1).fill(&Combination::new());
                let mut point = testkit::local::point(model, &state, process);
                point.place = at.place;
                ViewPart::Point(point)
            };
            points.points.iter().map(point).collect()
        }
        Column::Exposed(_) => {
            assert!(!exposed.is_empty());
            vec![ViewPart::Block(vec![false]), ViewPart::Block(vec![true])]
        }
    }
}

/// Checks the certificate for a property by both means: "accepted", or why not.
fn judge(model: &Model, property: &str, certificate: &Certificate) -> String {
    let k = certificate.invariant().map_or(1, |invariant| invariant.k);
    let implies = LocalDefinition::new(model, k).implies(&named(model, property).kind);
    let certificate = Certificate { property: property.to_string(), implies, ..certificate.clone() };
    let property = named(model, property);
    let shown = |means| match check_by(means, model, property, &certificate) {
        Ok(_) => "accepted".to_string(),
        Err(error) => error.to_string(),
    };
    let (listed, drawn) = (shown(Means::Listing), shown(Means::Diagrams));
    assert_eq!(listed == "accepted", drawn == "accepted", "{listed}; {drawn}");
    listed
}

const MUX_SEM_LAST: &str = "program mux_sem_last(N: 2..) {
  shared x:    sem = 1;
  shared last: pid? = none;
  process P[i in 0..<N] {
    loop {
      noncrit: idle;
      trying:  atomic { acquire x; last = i; }
      crit:    assert last == i;
      leave:   release x;
    }
  }
  invariant mutex: forall i != j: !(P[i]@crit && P[j]@crit);
  invariant owner: forall i: P[i]@{crit, leave} => x == 0 && last == i;
  invariant one:   count(i: P[i]@{crit, leave}) <= 1;
  reachable two:   exists i != j: P[i]@crit && P[j]@leave expect violated;
  race_free last;
}";

/// The formula printed with Figure 1(b).
fn last_formula(view: &View<'_>) -> bool {
    let inside = view.at(0, &["crit", "leave"]);
    inside == (view.is("x", 0) && view.value("last") == Value::Process(view.of[0]))
}

#[test]
fn the_owner_variable_lets_one_process_prove_mutual_exclusion() {
    for n in 2..=4 {
        let model = load(MUX_SEM_LAST, n);
        let (certificate, _) = written(&model, 1, &[], last_formula);
        for property in ["mutex", "owner", "one", "two", "no_errors"] {
            assert_eq!(judge(&model, property, &certificate), "accepted", "{property}");
        }
        // The printed formula is not the strongest one: it does not exclude that nobody took the semaphore.
        assert!(judge(&model, "deadlock_free", &certificate).contains("nobody can move and somebody is stuck"));
        let taken = |view: &View<'_>| !view.is("x", 0) || view.value("last") != Value::None;
        let strongest = written(&model, 1, &[], |view| last_formula(view) && taken(view)).0;
        assert_eq!(judge(&model, "deadlock_free", &strongest), "accepted");
        // Two that are trying race for `last`, which the semaphore guards only together with the step.
        assert!(judge(&model, "race_free last", &certificate).contains("may not access `last` at once"));
        let weaker = written(&model, 1, &[], |view| !view.at(0, &["crit"]) || view.is("x", 0)).0;
        let found = judge(&model, "mutex", &weaker);
        assert!(found.contains("every step has to keep the invariant of P[0]"), "{found}");
    }
}

const THREE_PLACES: &str = "program mux_sem(N: 2..) {
  shared x: sem = 1;
  process P[i in 0..<N] {
    loop {
      noncrit: skip;
      trying:  acquire x;
      crit:    release x;
    }
  }
  invariant mutex: forall i != j: !(P[i]@crit && P[j]@crit);
}";

const FOUR_PLACES: &str = "program mux_sem(N: 2..) {
  shared x: sem = 1;
  process P[i in 0..<N] {
    loop {
      noncrit: skip;
      trying:  acquire x;
      crit:    skip;
      leave:   release x;
    }
  }
  invariant mutex: forall i != j: !(P[i]@crit && P[j]@crit);
}";

/// The solution printed for pairs: `(x => (I_i or T_i) and not C_j) and (not x and C_i => not C_j)`, both ways round.
fn pairwise_formula(view: &View<'_>) -> bool {
    let one_way = |i: usize, j: usize| {
        let free = view.is("x", 1);
        let outside = view.at(i, &["noncrit", "trying"]);
        let (inside, other) = (view.at(i, &["crit"]), view.at(j, &["crit"]));
        (!free || (outside && !other)) && (free || !inside || !other)
    };
    one_way(0, 1) && one_way(1, 0)
}

#[test]
fn the_printed_pairwise_invariant_holds_for_three_places_only() {
    for n in 2..=4 {
        let model = load(THREE_PLACES, n);
        assert_eq!(judge(&model, "mutex", &written(&model, 2, &[], pairwise_formula).0), "accepted");
        let model = load(FOUR_PLACES, n);
        let found = judge(&model, "mutex", &written(&model, 2, &[], pairwise_formula).0);
        assert!(found.contains("every step has to keep the invariant of P[0], P[1]"), "{found}");
        assert!(found.contains("the step `release x` of P[0] leads from x = 0, P[0]@leave, P[1]@crit"), "{found}");
        let corrected = |view: &View<'_>| {
            let inside = (0..2).filter(|&nth| view.at(nth, &["crit", "leave"])).count();
            inside <= 1 && (inside == 0 || view.is("x", 0))
        };
        assert_eq!(judge(&model, "mutex", &written(&model, 2, &[], corrected).0), "accepted");
    }
}

const PETERSON: &str = "program peterson {
  shared turn: pid;
  process P[i in 0..<2] {
    public flag: bool;
    loop {
      noncrit: idle;
      want:    flag = true;
      give:    turn = 1 - i;
      wait:    await !P[1 - i].flag || turn == i;
      crit:    skip;
      leave:   flag = false;
    }
  }
  invariant mutex: !(P[0]@crit && P[1]@crit);
}";

fn peterson_formula(view: &View<'_>, sees_give: bool) -> bool {
    let (me, other) = (view.of[0], ProcessId::new(1 - view.of[0].index()));
    let flag = |process: ProcessId| view.value(&format!("P[{}].flag", process.index())) == Value::Bool(true);
    let giving = sees_give && view.exposes(other);
    let wants = view.at(0, &["give", "wait", "crit", "leave"]);
    let first = !flag(other) || view.value("turn") == Value::Process(me) || giving;
    flag(me) == wants && (!view.at(0, &["crit", "leave"]) || first)
}

#[test]
fn petersons_lock_needs_one_exposed_place() {
    let model = load(PETERSON, 2);
    let right = written(&model, 1, &["give"], |view| peterson_formula(view, true)).0;
    for property in ["mutex", "no_errors"] {
        assert_eq!(judge(&model, property, &right), "accepted");
    }
    let blind = written(&model, 1, &["give"], |view| peterson_formula(view, false)).0;
    let found = judge(&model, "mutex", &blind);
    assert!(found.contains("the step `flag = true` of P[1]"), "{found}");
}

#[test]
fn what_does_not_follow_is_refused_with_a_view_state() {
    let model = load(FOUR_PLACES, 2);
    let (everything, n_states) = written(&model, 1, &[], |_| true);
    assert_eq!(n_states, 2 * 2 * 4);
    let found = judge(&model, "mutex", &everything);
    assert!(found.contains("has to follow from the invariants of P[0], P[1]"), "{found}");
    assert!(found.contains("it is false in P[0]@crit, P[1]@crit"), "{found}");
    let found = judge(&model, "no_errors", &everything);
    assert!(found.contains("the step `release x` of P[0] fails (`x` is released over its bound)"), "{found}");
    let found = judge(&model, "deadlock_free", &everything);
    assert!(found.contains("nobody can move and somebody is stuck"), "{found}");
    let nothing = written(&model, 1, &[], |_| false).0;
    let found = judge(&model, "mutex", &nothing);
    assert!(found.contains("P[0] starts at a control point that is not listed"), "{found}");
}

#[test]
fn what_is_malformed_is_refused_in_words() {
    let model = load(FOUR_PLACES, 2);
    let right = written(&model, 2, &["crit"], pairwise_formula).0;
    let check = |edit: &dyn Fn(&mut SplitInvariant), expected: &str| {
        let mut edited = right.clone();
        let claim = edited.facts[0].claim.split_invariant_mut().unwrap();
        edit(claim);
        let found = judge(&model, "mutex", &edited);
        assert!(found.starts_with("the proof does not fit the program: ") && found.contains(expected), "{found}");
    };
    fn rows(claim: &mut SplitInvariant) -> &mut Vec<Vec<u32>> {
        match &mut claim.members[0].states {
            StateSet::Rows(rows) => rows,
            StateSet::Diagram { .. } => panic!("the states are listed"),
        }
    }
    let diagram = |order: Vec<(usize, u32)>, nodes: Vec<(u32, u32, u32)>| {
        move |claim: &mut SplitInvariant| {
            claim.members[0].states = StateSet::Diagram { order: order.clone(), nodes: nodes.clone() };
        }
    };
    let all_bits = vec![(0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (3, 0), (4, 0)];
    check(&|it| it.k = 0, "speak of 0 processes each");
    check(&|it| it.k = 4, "speak of 4 processes each");
    check(&|it| it.k = 3, "speak of 3 processes each; the program has 2");
    check(&|it| it.k = 1, "speaks of 2 processes, not of 1");
    check(&|it| it.members.clear(), "there is no invariant of P[0], P[1]");
    check(&|it| it.members.push(it.members[0].clone()), "there are two invariants of P[0], P[1]");
    check(&|it| it.members[0].processes.swap(0, 1), "ascending order");
    check(&|it| it.members[0].processes[1] = ProcessId::new(7), "there is no process number 7");
    check(&|it| it.members[0].columns[0] = Column::Cell(model::variable::CellId::new(9)), "does not have");
    check(&|it| it.members[0].columns[0] = it.members[0].columns[1], "is listed twice");
    check(&|it| it.members[0].columns[1] = Column::Exposed(ProcessId::new(0)), "is listed twice");
    check(&|it| drop(it.points.pop()), "control points of 1 processes; the program has 2");
    check(&|it| drop(it.exposed.pop()), "exposed facts of 1 processes; the program has 2");
    check(&|it| it.points[1][0] = it.points[1][1].clone(), "P[1]: control point 1 is listed twice");
    check(&|it| it.points[1][0].place = PlaceId::new(99), "P[1]: place number 99 is not in its text");
    check(&|it| it.exposed[0].blocks[0] = vec![], "tells of 0 facts where there are 1");
    check(&|it| it.exposed[0].blocks[0] = it.exposed[0].blocks[1].clone(), "the blocks are no partition");
    check(&|it| rows(it)[3][1] = 7, "row 3: 7 is out of range for the control of P[0], which has 4");
    check(&|it| rows(it)[3].truncate(4), "row 3 has 4 numbers for 5 columns");
    check(&|it| rows(it).swap(2, 3), "does not come after row 2");
    check(&diagram(vec![(0, 0)], vec![]), "orders 1 bits where there are 7");
    check(&diagram(vec![(0, 1)], vec![]), "bit 1 of column 0, which there is not");
    check(&diagram(vec![(0, 0), (0, 0)], vec![]), "twice");
    check(&diagram(all_bits.clone(), vec![(9, 0, 1)]), "looks at position 9 of 7");
    check(&diagram(all_bits.clone(), vec![(1, 0, 5)]), "has a child that is not below it");
    check(&diagram(all_bits.clone(), vec![(1, 0, 1), (1, 0, 2)]), "has a child that is not below it");
    check(&diagram(all_bits.clone(), vec![(1, 1, 1)]), "the diagram is not reduced");
    check(&diagram(all_bits, vec![(1, 0, 1), (1, 0, 1)]), "the diagram is not reduced");
    let all = evidence::Scope::AllSizes { parameter: "N".to_string(), from: 3, checked: vec![2] };
    let all = Certificate { scope: all, ..right.clone() };
    let found = judge(&model, "mutex", &all);
    assert!(found.contains("it claims every N ≥ 2"), "{found}");
    assert!(found.contains("there is no checker yet for claims of that kind"), "{found}");
    let facts = Certificate { facts: Vec::new(), ..right.clone() };
    assert!(judge(&model, "mutex", &facts).contains("it states no invariant"));
    // A fact after the invariant, and nobody asks whether the property follows.
    let mut beside = right.clone();
    beside.facts.push(Fact { claim: Claim::Sights(evidence::propagation::Sights::default()), uses: Vec::new() });
    assert!(judge(&model, "mutex", &beside).contains("its last fact does not imply `mutex`"));
    let mut circular = right.clone();
    circular.facts[0].uses.push(0);
    assert!(judge(&model, "mutex", &circular).contains("fact 0 uses fact 0"));
}

#[test]
fn a_column_that_a_step_needs_must_be_there() {
    let model = load(FOUR_PLACES, 2);
    let mut blind = written(&model, 1, &[], |_| true).0;
    let claim = blind.facts[0].claim.split_invariant_mut().unwrap();
    for member in &mut claim.members {
        member.columns.remove(0);
        if let StateSet::Rows(rows) = &mut member.states {
            rows.iter_mut().for_each(|row| {
                row.remove(0);
            });
            rows.sort_unstable();
            rows.dedup();
        }
    }
    let found = judge(&model, "mutex", &blind);
    assert!(found.contains("the view of P[0] has to have `x`"), "{found}");
    assert!(found.contains("a step of P[0] touches it from P[0]@trying"), "{found}");
}

#[test]
fn limits_end_the_check_with_their_reason() {
    let model = load(MUX_SEM_LAST, 3);
    let implies = LocalDefinition::new(&model, 1).implies(&named(&model, "mutex").kind);
    let certificate = Certificate { property: "mutex".to_string(), implies, ..written(&model, 1, &[], last_formula).0 };
    let cancel = CancelToken::default();
    cancel.cancel();
    let stopped = |budget: Budget| match check(&model, named(&model, "mutex"), &certificate, &budget) {
        Err(CertificateError::Stopped(reason)) => Some(reason),
        _ => None,
    };
    assert_eq!(stopped(Budget::new(None, None, cancel)), Some(StopReason::Cancelled));
    let late = Budget::new(Some(Duration::ZERO), None, CancelToken::default());
    assert_eq!(stopped(late), Some(StopReason::TimeLimit(Duration::ZERO)));
    assert_eq!(stopped(Budget::unlimited()), None);
}

#[test]
fn what_local_invariants_know_nothing_of_is_said() {
    let model = load(
        "program calls { shared x: bool; proc f() { skip; } process P { call f(); } property later: eventually x; }",
        0,
    );
    let nothing = SplitInvariant { k: 1, points: vec![], exposed: vec![], members: vec![], symmetry: None };
    let fact = Fact { claim: Claim::SplitInvariant(nothing), uses: Vec::new() };
    let certificate = Certificate {
        property: "no_errors".to_string(),
        scope: evidence::Scope::Instance,
        facts: vec![fact],
        implies: Vec::new(),
    };
    let found = check_by(Means::Listing, &model, named(&model, "no_errors"), &certificate).expect_err("refused");
    assert!(found.to_string().contains("the program calls procedures"), "{found}");
    let model = load("program later { shared x: bool; process P { x = true; } property later: eventually x; }", 0);
    let certificate = Certificate {
        property: "later".to_string(),
        scope: evidence::Scope::Instance,
        facts: Vec::new(),
        implies: Vec::new(),
    };
    let found = check_by(Means::Listing, &model, named(&model, "later"), &certificate).expect_err("refused");
    assert!(found.to_string().contains("nothing is said about runs that violate it"), "{found}");
}
