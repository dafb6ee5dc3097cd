//! Views for every size of programs of which steps or starts are left out, at each of the sizes whose states are listed.

use std::collections::{BTreeMap, BTreeSet};

use audit::certificate;
use base::{Budget, SourceFile};
use evidence::Scope;
use evidence::certificate::{Certificate, Claim, Fact};
use evidence::views::{Hiding, Item, LocalColumn, Presence, SharedColumn, View, ViewColumn, ViewsProof};
use model::Model;
use model::eval::State;
use model::process::{FamilyId, ProcessId};
use model::value::Value;
use model::variable::VarId;
use testkit::Product;
use testkit::choices::Choices;

use super::columns::{Columns, Held};
use super::runs::Omission;
use super::writer::{Words, Writer};
use super::{Batch, Tally, is_violated};

/// Larger products are passed over, and sizes beyond this one.
const MOST_STATES: usize = 700;
const LARGEST: i64 = 4;

/// What views show.
struct Design {
    k: usize,
    is_ordered: bool,
    n_named: usize,
    hidden: Vec<Hiding>,
    present: Vec<Presence>,
}

/// An item before its processes have slots.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Raw {
    Plain(Item),
    Process(ProcessId),
    Taken(Vec<ProcessId>),
}

struct Sized {
    model: Model,
    product: Product,
}

/// A program at one of its sizes, as views show it.
struct Shown<'d, 'm> {
    columns: Columns<'m>,
    product: &'m Product,
    design: &'d Design,
}

impl Shown<'_, '_> {
    fn raw(&self, held: Held) -> Raw {
        match held {
            Held::Place(place) => Raw::Plain(Item::Place(place)),
            Held::Value(Value::Process(id)) if self.columns.is_member(id) => Raw::Process(id),
            Held::Value(value) => Raw::Plain(Item::Value(value)),
            Held::Taken(taken) => Raw::Taken(taken.unwrap_or_default()),
        }
    }

    fn shared(&self, state: &State) -> Vec<Raw> {
        self.columns.shared.iter().map(|&column| self.raw(self.columns.shared_held(state, column))).collect()
    }

    fn local(&self, state: &State, process: ProcessId) -> Vec<Raw> {
        let columns = &self.columns;
        columns.local.iter().map(|&column| self.raw(columns.local_held(state, process, column))).collect()
    }

    fn hide(&self, shared: &mut [Raw], local: &mut [Raw]) {
        let (all_shared, all_local) = (shared.to_vec(), local.to_vec());
        for rule in &self.design.hidden {
            let when = match rule.when {
                None => true,
                Some(ViewColumn::Shared(at)) => rule.is.iter().any(|item| all_shared[at] == Raw::Plain(*item)),
                Some(ViewColumn::Local(at)) => rule.is.iter().any(|item| all_local.get(at) == Some(&Raw::Plain(*item))),
            };
            match rule.what {
                ViewColumn::Shared(at) if when => shared[at] = Raw::Plain(Item::Hidden),
                ViewColumn::Local(at) if when && !local.is_empty() => local[at] = Raw::Plain(Item::Hidden),
                _ => {}
            }
        }
    }

    /// What some processes look like, in this order.
    fn view(&self, state: &State, seen: &[ProcessId]) -> View {
        let design = self.design;
        let unveiled = self.shared(state);
        let mut shared = unveiled.clone();
        self.hide(&mut shared, &mut []);
        let mut locals = Vec::new();
        for &process in seen {
            let mut local = self.local(state, process);
            self.hide(&mut unveiled.clone(), &mut local);
            locals.push(local);
        }
        let named: Vec<ProcessId> = self.columns.members().into_iter().take(design.n_named).collect();
        shared.extend(named.iter().map(|&process| Raw::Process(process)));
        let mut slots = seen.to_vec();
        for raw in shared.iter().chain(locals.iter().flatten()) {
            if let Raw::Process(process) = raw
                && !slots.contains(process)
            {
                slots.push(*process);
            }
        }
        if design.is_ordered {
            slots.sort_unstable();
        }
        let slot = |process: &ProcessId| slots.iter().position(|one| one == process).expect("it has a slot");
        let item = |raw: &Raw| match raw {
            Raw::Plain(item) => *item,
            Raw::Process(process) => Item::Slot(slot(process) as u8),
            Raw::Taken(taken) => {
                Item::Taken(taken.iter().filter(|one| seen.contains(one)).map(|one| 1 << slot(one)).sum())
            }
        };
        let mut shown: Vec<Item> = shared.iter().map(item).collect();
        for presence in &design.present {
            let is_one = |process: ProcessId| {
                let raw = self.raw(self.columns.local_held(state, process, self.columns.local[presence.column]));
                presence.is.iter().any(|item| raw == Raw::Plain(*item))
            };
            let is_somebody = self.columns.members().into_iter().any(is_one);
            shown.push(Item::Value(Value::Bool(is_somebody)));
        }
        let local = |process: &ProcessId| {
            let at = seen.iter().position(|one| one == process)?;
            Some(locals[at].iter().map(item).collect())
        };
        View { shared: shown, slots: slots.iter().map(local).collect() }
    }

    fn views(&self, state: &State) -> Vec<View> {
        let members = self.columns.members();
        let mut chosen: Vec<Vec<ProcessId>> = vec![Vec::new()];
        for _ in 0..self.design.k {
            let longer = |chosen: &Vec<ProcessId>| -> Vec<Vec<ProcessId>> {
                let others = members.iter().filter(|one| !chosen.contains(one));
                others.map(|&one| [&chosen[..], &[one]].concat()).collect()
            };
            chosen = chosen.iter().flat_map(longer).collect();
        }
        chosen.iter().map(|seen| self.view(state, seen)).collect()
    }
}

/// Arrays with one element for each process.
fn rows(model: &Model) -> BTreeMap<VarId, usize> {
    model.vars.entries().filter(|(_, var)| var.name == "row").map(|(id, _)| (id, 0)).collect()
}

impl Design {
    fn random(columns: &Columns<'_>, product: &Product, n_named: usize, choices: &mut Choices) -> Design {
        let state = &product.states[choices.below(product.states.len())];
        let process = columns.members()[0];
        let plain = |held: Held| match held {
            Held::Place(place) => Some(Item::Place(place)),
            Held::Value(Value::Process(_)) | Held::Taken(_) => None,
            Held::Value(value) => Some(Item::Value(value)),
        };
        let shared_cell = |choices: &mut Choices| {
            let cells: Vec<usize> =
                (0..columns.shared.len()).filter(|&at| matches!(columns.shared[at], SharedColumn::Cell(_))).collect();
            *choices.pick(&cells)
        };
        let is_own = |at: &usize| {
            matches!(columns.local[*at], LocalColumn::Own(_) | LocalColumn::Element(..))
                && !columns.is_counter(columns.local[*at])
        };
        let own: Vec<usize> = (0..columns.local.len()).filter(is_own).collect();
        let mut hidden = Vec::new();
        if choices.chance(45) {
            let what = if choices.chance(30) {
                ViewColumn::Shared(shared_cell(choices))
            } else {
                ViewColumn::Local(*choices.pick(&own))
            };
            let when = match what {
                _ if choices.chance(30) => None,
                ViewColumn::Local(_) if choices.chance(60) => {
                    Some(ViewColumn::Local(choices.below(columns.local.len())))
                }
                _ => Some(ViewColumn::Shared(choices.below(columns.shared.len()))),
            };
            let is = match when {
                None => Some(None),
                Some(ViewColumn::Local(at)) => plain(columns.local_held(state, process, columns.local[at])).map(Some),
                Some(ViewColumn::Shared(at)) => plain(columns.shared_held(state, columns.shared[at])).map(Some),
            };
            hidden.extend(is.map(|is| Hiding { what, when, is: is.into_iter().collect() }));
        }
        let mut present = Vec::new();
        if choices.chance(30) {
            let column = *choices.pick(&own);
            let is = plain(columns.local_held(state, process, columns.local[column]));
            present.extend(is.map(|is| Presence { column, is: vec![is] }));
        }
        Design {
            k: if choices.chance(50) { 2 } else { 1 },
            is_ordered: choices.chance(30),
            n_named: if choices.chance(20) { 1 } else { n_named },
            hidden,
            present,
        }
    }
}

fn compare(text: &str, n_named: usize, tally: &mut Tally, choices: &mut Choices) {
    let at_size = |n: i64| {
        let model = lang::load(&SourceFile::new("r.pw", text), &[("N".to_owned(), n)]).ok()?.model;
        let product = Product::explore(&model, MOST_STATES)?;
        Some(Sized { model, product })
    };
    let sizes: Vec<Sized> = (2..=LARGEST).map_while(at_size).collect();
    if sizes.len() < 2 {
        return;
    }
    let family = FamilyId::new(0);
    let columns = |sized: &'_ Sized| Columns::new(&sized.model, family, rows(&sized.model)).is_some();
    if !sizes.iter().all(columns) {
        return;
    }
    tally.programs += 1;
    for round in 0..10 {
        let of = &sizes[choices.below(sizes.len())];
        let omission = if round < 2 { Omission::Nothing } else { Omission::random(&of.model, &of.product, choices) };
        let base = &sizes[0];
        let known = Columns::new(&base.model, family, rows(&base.model)).expect("there are columns");
        let design = Design::random(&known, &base.product, n_named, choices);
        let from = design.k.max(design.n_named).max(2);
        let shown: Vec<Shown<'_, '_>> = { sizes[from - 2..].iter() }
            .map(|sized| {
                let columns = Columns::new(&sized.model, family, rows(&sized.model)).expect("there are columns");
                Shown { columns, product: &sized.product, design: &design }
            })
            .collect();
        let (mut views, mut all): (BTreeSet<View>, BTreeSet<View>) = Default::default();
        for (shown, sized) in shown.iter().zip(&sizes[from - 2..]) {
            let kept = omission.kept(&sized.model, &sized.product);
            for (state, kept) in shown.product.states.iter().zip(kept) {
                let looks = shown.views(state);
                if kept {
                    views.extend(looks.iter().cloned());
                }
                all.extend(looks);
            }
        }
        let is_whole = views.len() == all.len();
        let proof = ViewsProof {
            family,
            k: design.k,
            is_ordered: design.is_ordered,
            shared: known.shared.clone(),
            local: known.local.clone(),
            hidden: design.hidden.clone(),
            named: known.members().into_iter().take(design.n_named).collect(),
            present: design.present.clone(),
            views: views.into_iter().collect(),
        };
        let at = &sizes[from - 2];
        let check = |property: &str| {
            let facts = vec![Fact { claim: Claim::Views(proof.clone()), uses: Vec::new() }];
            let scope = Scope::AllSizes { parameter: "N".to_owned(), from: from as i64, checked: Vec::new() };
            let proof = Certificate { property: property.to_owned(), scope, facts, implies: Vec::new() };
            let asked = at.model.properties.iter().find(|one| one.name == property).expect("it is asked");
            certificate::check(&at.model, asked, &proof, &Budget::unlimited().with_looks(3_000))
        };
        let accepted = check("sure");
        tally.note(accepted.is_ok(), is_whole);
        assert!(accepted.is_err() || is_whole, "what {omission:?} leaves out is not seen: {proof:?}\n{text}");
        if accepted.is_ok() {
            for (at, property) in at.model.properties.iter().enumerate() {
                let is_violated = |sized: &Sized| {
                    let property = sized.model.properties.iter().nth(at).expect("every size has the same ones");
                    is_violated(&sized.model, &sized.product, &property.kind)
                };
                if sizes[from - 2..].iter().any(is_violated) {
                    tally.false_refused += 1;
                    assert!(check(&property.name).is_err(), "{} is violated: {proof:?}\n{text}", property.name);
                }
            }
        }
    }
}

#[test]
fn what_views_for_every_size_leave_out_is_seen() {
    let mut tally = Tally::default();
    for seed in Batch::of(150).seeds() {
        let mut choices = Choices::from_seed(seed);
        let words = Words { names: choices.chance(50), loops: choices.chance(40), numbered: choices.chance(20) };
        let text = Writer { choices: &mut choices, words, n_labels: 0 }.program();
        compare(&text, usize::from(words.numbered), &mut tally, &mut choices);
    }
    println!("{tally:?}");
    assert!(
        tally.programs > 20 && tally.whole_accepted > 10 && tally.partial_refused > 100 && tally.false_refused > 10,
        "{tally:?}"
    );
}
