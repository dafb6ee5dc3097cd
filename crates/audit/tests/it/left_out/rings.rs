//! Windows of neighbours of rings and chains of which steps or starts are left out, at the sizes whose states are listed.

use std::collections::{BTreeMap, BTreeSet};

use audit::certificate;
use base::{Budget, SourceFile};
use evidence::Scope;
use evidence::certificate::{Certificate, Claim, Fact};
use evidence::rings::{Distances, NeighbourTypes, Network, RingItem, RingValue, RingsProof, WindowSet};
use model::Model;
use model::eval::State;
use model::process::{FamilyId, ProcessId};
use model::property::PropertyKind;
use model::variable::{CellId, Storage, VarId};
use testkit::Product;
use testkit::choices::Choices;

use super::runs::Omission;
use super::{Batch, Tally, is_violated};

/// Larger products are passed over; at so many sizes, from the least one on, states are listed.
const MOST_STATES: usize = 4_000;
const N_SIZES: i64 = 2;

/// Writes programs of neighbours.
struct Writer<'c> {
    choices: &'c mut Choices,
    /// Whether neighbours to the left are looked at.
    has_left: bool,
    /// Whether the first and the last process are told apart.
    has_ends: bool,
}

impl Writer<'_> {
    fn test(&mut self) -> String {
        let c = self.choices.below(2);
        let truth = ["!", ""][c];
        match self.choices.below(9) {
            0 | 1 => format!("{truth}row[i]"),
            2 | 3 => format!("{truth}row[(i + 1) % N]"),
            4 => format!("P[(i + 1) % N].x == {c}"),
            5 if self.has_left => format!("P[(i + N - 1) % N].x == {c}"),
            6 if self.has_left => format!("{truth}row[(i + N - 1) % N]"),
            7 if self.has_ends => ["i == 0", "i != N - 1"][c].to_owned(),
            8 => format!("g == {c}"),
            _ => format!("x == {c}"),
        }
    }

    fn effect(&mut self) -> String {
        let truth = *self.choices.pick(&["true", "false"]);
        let c = self.choices.below(2);
        match self.choices.below(7) {
            0 => format!("row[i] = {truth};"),
            1 => format!("row[(i + 1) % N] = {truth};"),
            2 if self.has_left => format!("row[(i + N - 1) % N] = {truth};"),
            3 => format!("g = {c};"),
            4 => "x = any;".to_owned(),
            5 => format!("either {{ x = {c}; }} or {{ row[i] = {truth}; }}"),
            _ => format!("x = {c};"),
        }
    }

    fn program(&mut self) -> String {
        let (start, own) =
            (*self.choices.pick(&["", " = true", " = any"]), *self.choices.pick(&["", " = 1", " = any"]));
        let statement = |writer: &mut Self, label: usize| {
            format!("l{label}: atomic {{ await {}; {} {} }}", writer.test(), writer.effect(), writer.effect())
        };
        let body: Vec<String> = (0..1 + self.choices.below(2)).map(|label| statement(self, label)).collect();
        let mut text = format!(
            "program r(N: 2..) {{ shared g: 0..=1; shared row: [bool; N]{start};\nprocess P[i in 0..<N] {{ public x: 0..=1{own}; loop {{\n{}\n}} }}\n",
            body.join("\n")
        );
        text += "  invariant sure: forall i: P[i].x <= 1;\n  allow deadlock;\n";
        for at in 0..3 {
            let c = self.choices.below(2);
            let one = match self.choices.below(3) {
                0 => "row[i]".to_owned(),
                1 => format!("P[i].x == {c}"),
                _ => "P[i]@l0".to_owned(),
            };
            let other = ["row[(i + 1) % N]", "!row[(i + 1) % N]", "P[(i + 1) % N]@l0"][self.choices.below(3)];
            text += &format!("  invariant v{at}: forall i: !({one} && {other});\n");
        }
        text + "  invariant w: forall i: !row[i];\n  invariant u: forall i: P[i].x == 0;\n}\n"
    }
}

/// The program at one size.
struct Sized {
    model: Model,
    product: Product,
    count: usize,
}

impl Sized {
    fn row(&self) -> VarId {
        self.model.vars.entries().find(|(_, var)| var.name == "row").expect("it is declared").0
    }

    fn position(&self, at: usize, distance: i64) -> usize {
        (at as i64 + distance).rem_euclid(self.count as i64) as usize
    }

    /// What a window at a place sees.
    fn read(&self, state: &State, items: &[RingItem], at: usize) -> Vec<RingValue> {
        let cell = |cell: CellId| RingValue::Value(state.cells[cell.index()]);
        let one = |item: &RingItem| match *item {
            RingItem::Control(distance) => RingValue::Place(state.place(ProcessId::new(self.position(at, distance)))),
            RingItem::Own(distance, own) => {
                let process = &self.model.processes[ProcessId::new(self.position(at, distance))];
                cell(CellId::new(process.first_cell + own))
            }
            RingItem::Element(var, distance, _) => {
                cell(self.model.cells_of(var, None).nth(self.position(at, distance)).expect("there are as many"))
            }
            RingItem::Shared(var, element) => {
                cell(self.model.cells_of(var, None).nth(element).expect("there are as many"))
            }
        };
        items.iter().map(one).collect()
    }
}

/// What windows show.
struct Design {
    distances: Distances,
    width: usize,
    least: i64,
    greatest: i64,
}

impl Design {
    fn random(writer: &Writer<'_>, choices: &mut Choices) -> Design {
        let ends = usize::from(writer.has_ends || choices.chance(10));
        let modulus = if choices.chance(15) { 2 } else { 1 };
        let least = if writer.has_left { -1 } else { 0 };
        Design {
            distances: Distances { left: ends, right: ends, modulus },
            width: 1 + usize::from(!writer.has_left && choices.chance(40)),
            least,
            greatest: 1,
        }
    }

    /// The least size, and how many sizes show words.
    fn sizes(&self) -> (i64, i64) {
        let from = self.width as i64 + 2 * (self.greatest - self.least);
        let told = self.distances.left + self.distances.right + 3 * self.distances.modulus;
        (from, told as i64 + 2 * from)
    }

    fn word(&self, count: usize, at: usize) -> NeighbourTypes {
        (0..self.width).map(|place| self.distances.type_of((at + place) % count, count)).collect()
    }

    fn items(&self, sized: &Sized, choices: &mut Choices) -> Vec<RingItem> {
        let last = self.width as i64 + self.greatest;
        let mut items: BTreeSet<RingItem> = BTreeSet::new();
        for at in self.least..last {
            let is_inside = (0..self.width as i64).contains(&at);
            items.extend(is_inside.then_some(RingItem::Control(at)));
            if is_inside || choices.chance(90) {
                items.insert(RingItem::Own(at, 0));
            }
            if is_inside || choices.chance(95) {
                items.insert(RingItem::Element(sized.row(), at, 0));
            }
        }
        let shared =
            sized.model.vars.entries().filter(|(id, var)| var.storage == Storage::Shared && *id != sized.row());
        items.extend(shared.map(|(id, _)| RingItem::Shared(id, 0)));
        items.into_iter().collect()
    }
}

fn compare(text: &str, design: &Design, tally: &mut Tally, choices: &mut Choices) {
    let at_size = |n: i64| {
        let model = lang::load(&SourceFile::new("r.pw", text), &[("N".to_owned(), n)]).ok()?.model;
        let product = Product::explore(&model, MOST_STATES)?;
        Some(Sized { model, product, count: n as usize })
    };
    let (from, last) = design.sizes();
    let Some(sizes) = (from..from + N_SIZES).map(at_size).collect::<Option<Vec<Sized>>>() else { return };
    tally.programs += 1;
    for round in 0..8 {
        let of = &sizes[choices.below(sizes.len())];
        let omission = if round < 2 { Omission::Nothing } else { Omission::random(&of.model, &of.product, choices) };
        let items = design.items(&sizes[0], choices);
        // Every word that occurs has a window.
        let words = (from..=last).flat_map(|n| (0..n).map(move |at| design.word(n as usize, at as usize)));
        let mut windows: BTreeMap<NeighbourTypes, BTreeSet<Vec<RingValue>>> =
            words.map(|word| (word, BTreeSet::new())).collect();
        let mut all = windows.clone();
        for sized in &sizes {
            let kept = omission.kept(&sized.model, &sized.product);
            for (state, kept) in sized.product.states.iter().zip(kept) {
                for at in 0..sized.count {
                    let (word, seen) = (design.word(sized.count, at), sized.read(state, &items, at));
                    if kept {
                        windows.get_mut(&word).expect("it occurs").insert(seen.clone());
                    }
                    all.get_mut(&word).expect("it occurs").insert(seen);
                }
            }
        }
        let is_whole = windows == all;
        let set = |(word, states): (NeighbourTypes, BTreeSet<Vec<RingValue>>)| WindowSet {
            word,
            items: items.clone(),
            states: states.into_iter().collect(),
        };
        let proof = RingsProof {
            family: FamilyId::new(0),
            network: Network::Line,
            distances: design.distances,
            least: design.least,
            greatest: design.greatest,
            width: design.width,
            windows: windows.into_iter().map(set).collect(),
            flows: Vec::new(),
        };
        let model = &sizes[0].model;
        let check = |property: &str| {
            let facts = vec![Fact { claim: Claim::Rings(proof.clone()), uses: Vec::new() }];
            let scope = Scope::AllSizes { parameter: "N".to_owned(), from, checked: Vec::new() };
            let proof = Certificate { property: property.to_owned(), scope, facts, implies: Vec::new() };
            let asked = model.properties.iter().find(|one| one.name == property).expect("it is asked");
            certificate::check(model, asked, &proof, &Budget::unlimited().with_looks(20_000))
        };
        let accepted = check("sure");
        tally.note(accepted.is_ok(), is_whole);
        assert!(accepted.is_err() || is_whole, "what {omission:?} leaves out is not seen: {proof:?}\n{text}");
        for (at, property) in model.properties.iter().enumerate().filter(|_| accepted.is_ok()) {
            let is_violated = |sized: &Sized| {
                let property = sized.model.properties.iter().nth(at).expect("every size has the same ones");
                is_violated(&sized.model, &sized.product, &property.kind)
            };
            if matches!(property.kind, PropertyKind::Invariant(_)) && sizes.iter().any(is_violated) {
                tally.false_refused += 1;
                assert!(check(&property.name).is_err(), "{} is violated: {proof:?}\n{text}", property.name);
            }
        }
    }
}

#[test]
fn what_windows_leave_out_is_seen() {
    let mut tally = Tally::default();
    for seed in Batch::of(60).seeds() {
        let mut choices = Choices::from_seed(seed);
        let (has_left, has_ends) = (choices.chance(30), choices.chance(30));
        let mut writer = Writer { choices: &mut choices, has_left, has_ends };
        let text = writer.program();
        let mut shape = Choices::from_seed(seed + 1);
        let design = Design::random(&writer, &mut shape);
        compare(&text, &design, &mut tally, &mut choices);
    }
    println!("{tally:?}");
    assert!(
        tally.programs > 10 && tally.whole_accepted > 10 && tally.partial_refused > 50 && tally.false_refused > 10,
        "{tally:?}"
    );
}
