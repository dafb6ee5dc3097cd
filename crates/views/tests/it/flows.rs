//! Flows beside views of cells: what is proved with sums modulo a number or as they are, and that edited sums are refused.

use base::SourceFile;
use evidence::fine::{FineContent, FineFlow, FineProof, FlowCell, FlowWeight};
use evidence::views::SharedColumn;
use model::Model;
use model::eval::State;
use model::value::Value;
use testkit::Product;
use testkit::choices::Choices;
use views::fine::project::Standing;
use views::layout::Layout;

use crate::fine::{Tally, accepts, compare, load, proof_of};

/// A reachable state, with the local states of its processes.
pub struct Seen<'a> {
    pub model: &'a Model,
    pub layout: &'a Layout,
    pub state: &'a State,
    pub standing: &'a [Standing],
}

impl Seen<'_> {
    /// Whether the sum of a flow is its constant here.
    pub fn has(&self, flow: &FineFlow) -> bool {
        let content = |cell: SharedColumn| match cell {
            SharedColumn::Cell(cell) => match self.state.cells[cell.index()] {
                Value::Process(id) if self.layout.is_member(self.model, id) => FineContent::Other,
                value => FineContent::Value(value),
            },
            SharedColumn::Control(process) => FineContent::Place(self.state.place(process)),
            SharedColumn::Taken(..) => panic!("no flow weighs whom a loop has taken"),
        };
        let mut sum = -flow.constant;
        for cell in &flow.cells {
            let content = content(cell.cell);
            sum += cell.weights.iter().filter(|one| one.content == content).map(|one| one.weight).sum::<i64>();
        }
        sum += self.standing.iter().map(|one| flow.states[one.state.unwrap() as usize]).sum::<i64>();
        if flow.modulus == 0 { sum == 0 } else { sum % flow.modulus == 0 }
    }
}

impl Tally {
    pub fn note_flows(&mut self, proof: &FineProof) {
        let any = |is: fn(i64) -> bool| usize::from(proof.flows.iter().any(|flow| is(flow.modulus)));
        self.by_flows += any(|_| true);
        self.modular += any(|modulus| modulus > 0);
        self.composite += any(|modulus| (2..modulus).any(|divisor| modulus % divisor == 0));
    }
}

/// Changes the modulus, the constant or a weight of a flow.
pub fn edit(flow: &mut FineFlow, choices: &mut Choices) {
    match choices.below(5) {
        0 => flow.constant += 1,
        1 => flow.modulus = *choices.pick(&[0, 2, 3, 5, 7]),
        2 if !flow.cells.is_empty() => {
            let n_cells = flow.cells.len();
            let weights = &mut flow.cells[choices.below(n_cells)].weights;
            let n_weights = weights.len();
            weights[choices.below(n_weights)].weight += 1;
        }
        3 if !flow.cells.is_empty() => drop(flow.cells.pop()),
        _ => {
            let n_states = flow.states.len();
            flow.states[choices.below(n_states)] += 1;
        }
    }
}

#[test]
fn tickets_modulo_n_are_proved_for_primes_and_others() {
    for n in [3, 4, 5, 6, 8] {
        let model = load("ticket", n);
        let proof = proof_of(&model, "mutex").unwrap_or_else(|| panic!("N = {n}"));
        assert!(proof.flows.iter().any(|flow| flow.modulus == n), "N = {n}");
        let without = FineProof { flows: Vec::new(), ..proof.clone() };
        assert!(accepts(&model, "mutex", &without).is_err(), "views by themselves are not closed: N = {n}");
    }
    assert!(proof_of(&load("ticket", 6), "unique").is_some());
}

/// The ticket lock with numbers modulo something.
fn tickets(n: i64, modulus: i64) -> Model {
    let text = format!(
        "program tickets(N: 2..) {{ shared next: 0..<{modulus}; shared serving: 0..<{modulus};
         process P[i in 0..<N] {{ local mine: 0..<{modulus};
         loop {{ noncrit: idle; take: mine, next = next, (next + 1) % {modulus}; wait: await serving == mine;
         crit: skip; leave: serving, mine = (serving + 1) % {modulus}, 0; }} }}
         invariant mutex: forall i != j: !(P[i]@crit && P[j]@crit); }}"
    );
    lang::load(&SourceFile::new("tickets.pw", &text), &[("N".to_owned(), n)]).unwrap().model
}

/// Cells that could hold more say nothing of the modulus: the equations do.
#[test]
fn the_modulus_is_found_in_wider_cells() {
    for (n, modulus, most) in [(3, 5, 9), (4, 6, 10), (5, 7, 30)] {
        let text = format!(
            "program wide(N: 2..) {{ shared next: 0..={most}; shared serving: 0..={most};
             process P[i in 0..<N] {{ local mine: 0..={most};
             loop {{ noncrit: idle; take: mine, next = next, (next + 1) % {modulus}; wait: await serving == mine;
             crit: skip; leave: serving, mine = (serving + 1) % {modulus}, 0; }} }}
             invariant mutex: forall i != j: !(P[i]@crit && P[j]@crit); }}"
        );
        let model = lang::load(&SourceFile::new("wide.pw", &text), &[("N".to_owned(), n)]).unwrap().model;
        let proof = proof_of(&model, "mutex").unwrap_or_else(|| panic!("{n} processes modulo {modulus}"));
        assert!(proof.flows.iter().any(|flow| flow.modulus == modulus), "{n} processes modulo {modulus}");
    }
}

/// Of two sums each could be made up by processes that are not seen, and not both.
#[test]
fn sums_go_together() {
    let text = "program both(N: 2..) { shared a: 0..=N = N; shared b: 0..=N;
        process P[i in 0..<N] { loop {
          one: a = a - 1; go: b = b + 1; two: b = b - 1; back: a = a + 1; } }
        invariant all: (forall i: P[i]@one || P[i]@two) => a + b == N;
        invariant more: (forall i: P[i]@one || P[i]@two) => a + b > N; }";
    for n in [4, 5, 6] {
        let model = lang::load(&SourceFile::new("both.pw", text), &[("N".to_owned(), n)]).unwrap().model;
        let proof = proof_of(&model, "all").unwrap_or_else(|| panic!("N = {n}"));
        assert!(accepts(&model, "all", &proof).is_ok());
        assert!(accepts(&model, "more", &proof).is_err());
        let without = FineProof { flows: Vec::new(), ..proof.clone() };
        assert!(accepts(&model, "all", &without).is_err(), "N = {n}");
        for at in 0..proof.flows.len() {
            let mut changed = proof.clone();
            changed.flows[at].constant += 1;
            assert!(accepts(&model, "all", &changed).is_err(), "N = {n}");
        }
    }
}

#[test]
fn too_few_tickets_are_not_proved() {
    for (n, modulus) in [(3, 2), (4, 3), (5, 4)] {
        assert!(proof_of(&tickets(n, modulus), "mutex").is_none(), "{modulus} tickets for {n}");
    }
    // The search finds two processes inside; with more tickets than processes there are none.
    let model = tickets(3, 2);
    let product = Product::explore(&model, 100_000).unwrap();
    let crit = model.places.entries().find(|(_, place)| place.labels.iter().any(|label| label == "crit")).unwrap().0;
    let inside = |state: &State| model.processes.ids().filter(|&process| state.place(process) == crit).count();
    assert!(product.states.iter().any(|state| inside(state) > 1));
    assert!([(3, 4), (4, 6), (4, 9)].into_iter().all(|(n, modulus)| proof_of(&tickets(n, modulus), "mutex").is_some()));
}

#[test]
fn a_proof_with_enough_tickets_says_nothing_of_too_few() {
    let proof = proof_of(&tickets(4, 4), "mutex").unwrap();
    assert!(accepts(&tickets(4, 4), "mutex", &proof).is_ok());
    // One process more than there are tickets: the same local states, cells and steps.
    assert!(accepts(&tickets(5, 4), "mutex", &proof).is_err());
}

#[test]
fn edited_flows_are_refused() {
    for n in [5, 6] {
        let model = load("ticket", n);
        let proof = proof_of(&model, "mutex").unwrap();
        let at = proof.flows.iter().position(|flow| flow.modulus == n).unwrap();
        let refuses = |what: &str, edit: &dyn Fn(&mut FineFlow)| {
            let mut edited = proof.clone();
            edit(&mut edited.flows[at]);
            assert!(accepts(&model, "mutex", &edited).is_err(), "N = {n}: {what}");
        };
        for modulus in [0, 1, -n, n - 1, n + 1, 2 * n, i64::MAX] {
            refuses("the modulus", &|flow| flow.modulus = modulus);
        }
        for constant in [1, n - 1, -1, i64::MIN] {
            refuses("the constant", &|flow| flow.constant = constant);
        }
        for state in 0..proof.states.len() {
            refuses("the weight of a local state", &|flow| flow.states[state] += 1);
        }
        for cell in 0..proof.flows[at].cells.len() {
            for weight in 0..proof.flows[at].cells[cell].weights.len() {
                refuses("the weight of a content", &|flow| flow.cells[cell].weights[weight].weight += 1);
            }
            refuses("a cell", &|flow| drop(flow.cells.remove(cell)));
            refuses("a cell twice", &|flow| flow.cells.push(flow.cells[cell].clone()));
            refuses("a content twice", &|flow| {
                let weight = flow.cells[cell].weights[0];
                flow.cells[cell].weights.push(weight);
            });
        }
        refuses("a local state without a weight", &|flow| flow.states.truncate(1));
        // A constant that is the same modulo the number is the same flow.
        let mut same = proof.clone();
        same.flows[at].constant = n;
        accepts(&model, "mutex", &same).unwrap();
    }
}

/// Portions of different sizes are taken from a store and put back: an exact sum, in which a process weighs by a number that it keeps.
#[test]
fn sums_as_they_are_count_what_processes_hold() {
    let text = |back: &str| {
        format!(
            "program store(N: 2..) {{ shared left: 0..=3 = 3;
             process P[i in 0..<N] {{ public has: 0..=2;
             loop {{ take: either {{ one: atomic {{ await left >= 1; left, has = left - 1, 1; }} }}
             or {{ two: atomic {{ await left >= 2; left, has = left - 2, 2; }} }} use: skip;
             back: left, has = {back}, 0; }} }}
             invariant whole: (forall i: P[i].has == 0) => left == 3;
             invariant spent: (forall i: P[i].has == 0) => left < 3; }}"
        )
    };
    let load = |text: String| lang::load(&SourceFile::new("store.pw", &text), &[("N".to_owned(), 3)]).unwrap().model;
    let model = load(text("left + has"));
    let proof = proof_of(&model, "whole").unwrap();
    assert!(proof.flows.iter().any(|flow| flow.modulus == 0), "{:?}", proof.flows);
    assert!(proof_of(&load(text("left + 1")), "whole").is_none());
    assert!(accepts(&model, "spent", &proof).is_err(), "nothing is spent initially, and the sum is right there");
}

/// What a cell held before it is overwritten may weigh anything.
#[test]
fn cells_that_are_overwritten_unread_change_sums() {
    let text = "program marks(N: 2..) { shared x: 0..=1; process P[i in 0..<N] { loop { set: x = 1; wipe: x = 0; } }
                invariant small: x < 2; invariant zero: x == 0; }";
    let model = lang::load(&SourceFile::new("marks.pw", text), &[("N".to_owned(), 3)]).unwrap().model;
    let proof = proof_of(&model, "small").unwrap();
    let x = model.cells.entries().find(|(_, cell)| cell.name == "x").unwrap().0;
    let weights = vec![FlowWeight { content: FineContent::Value(Value::Int(1)), weight: 1 }];
    let cells = vec![FlowCell { cell: SharedColumn::Cell(x), weights }];
    let forged = FineFlow { modulus: 0, constant: 0, states: vec![0; proof.states.len()], cells };
    let forged = FineProof { flows: vec![forged], ..proof };
    assert!(accepts(&model, "zero", &forged).is_err(), "x is 1 after a step");
}

/// Random programs that count, around and up and down.
struct Counters<'c> {
    choices: &'c mut Choices,
    modulus: i64,
    other: i64,
    n_labels: usize,
}

impl Counters<'_> {
    fn effect(&mut self) -> String {
        let (m, k, c) = (self.modulus, self.other, 1 + self.choices.below(3));
        match self.choices.below(9) {
            0 | 1 => format!("x = (x + {c}) % {m};"),
            2 => format!("y = (y + 1) % {k};"),
            3 => format!("x = (x + {m} - 1) % {m};"),
            4 => format!("a, x = x, (x + 1) % {m};"),
            5 => "b = !b;".to_owned(),
            6 => format!("y = (y + {}) % {k};", self.other - 1),
            7 => "a = 0;".to_owned(),
            _ => "f = !f;".to_owned(),
        }
    }

    fn guard(&mut self) -> String {
        let (c, d) = (self.choices.below(self.modulus as usize), self.choices.below(self.other as usize));
        match self.choices.below(7) {
            0 => format!("x == {c}"),
            1 => format!("y == {d}"),
            2 => "x == a".to_owned(),
            3 => "b".to_owned(),
            4 => "f".to_owned(),
            5 => format!("y % {} == a % {}", self.other, self.other),
            _ => format!("x != {c}"),
        }
    }

    fn statement(&mut self) -> String {
        let label = self.n_labels;
        self.n_labels += 1;
        match self.choices.below(8) {
            0 => format!("l{label}: await {};", self.guard()),
            1 => format!("l{label}: atomic {{ await {}; {} }}", self.guard(), self.effect()),
            2 => format!("l{label}: atomic {{ {} {} }}", self.effect(), self.effect()),
            3 => format!("l{label}: if {} {{ goto l0; }}", self.guard()),
            4 => format!("l{label}: atomic {{ await y > 0; y = y - 1; }}"),
            5 => format!("l{label}: atomic {{ await y < {}; y = y + 1; }}", self.other - 1),
            _ => format!("l{label}: {}", self.effect()),
        }
    }

    fn program(&mut self) -> String {
        let n = 3 + self.choices.below(2);
        let body: Vec<String> = (0..n).map(|_| self.statement()).collect();
        let (m, k) = (self.modulus, self.other);
        let mut text = format!(
            "program r(N: 2..) {{ shared x: 0..<{m}; shared y: 0..<{k}; shared f: bool;\n\
             process P[i in 0..<N] {{ public a: 0..<{m}; public b: bool; loop {{\n{}\n}} }}\n",
            body.join("\n")
        );
        let label = |choices: &mut Choices| choices.below(n);
        for at in 0..2 {
            let (one, other) = (label(self.choices), label(self.choices));
            text += &format!("  invariant v{at}: forall i != j: !(P[i]@l{one} && P[j]@l{other});\n");
        }
        let (one, c, d) = (label(self.choices), self.choices.below(m as usize), self.choices.below(k as usize));
        text += &format!("  invariant u: forall i != j: P[i]@l{one} && P[j]@l{one} => P[i].a != P[j].a;\n");
        text += &format!("  invariant w: x == {c} => y == {d} || exists i: !P[i]@l{one};\n");
        text += &format!("  invariant p: (forall i: P[i]@l0) => x != {};\n", 1 + self.choices.below(m as usize - 1));
        text += &format!("  invariant q: forall i: P[i]@l{one} => x != {c} || f;\n");
        text + &format!("  reachable z: x == {c} && forall i: P[i]@l{one};\n}}\n")
    }
}

#[test]
fn random_counters_agree_with_brute_force() {
    let factor: u64 = std::env::var("VIEWS_PROGRAMS").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let mut tally = Tally::default();
    for at in 0..25 * factor {
        let mut choices = Choices::from_seed(3_000_000 + at);
        let (modulus, other) = (*choices.pick(&[2, 3, 4, 6]), *choices.pick(&[2, 3, 4]));
        let text = Counters { choices: &mut choices, modulus, other, n_labels: 0 }.program();
        for n in 2..=4 {
            compare(&text, n, &mut tally, &mut choices);
        }
    }
    let Tally { programs, proved, by_flows, modular, composite, refused, missed, .. } = tally;
    println!(
        "{programs} programs, {proved} proved, {by_flows} of them by flows, {modular} modulo a number, {composite} modulo a composite one"
    );
    println!("{refused} edited flows refused, {missed} true and open");
    assert!(programs > 20 && by_flows > 5 && modular > 3 && composite > 1 && refused > 3);
}
