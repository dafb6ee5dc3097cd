//! Views of cells of programs of which steps or starts are left out.

use std::collections::{BTreeMap, BTreeSet};

use audit::certificate;
use base::{Budget, SourceFile};
use evidence::Scope;
use evidence::certificate::{Certificate, Claim, Fact};
use evidence::fine::{FineContent, FineProof, FineState, FineView, LocalItem};
use evidence::views::{LocalColumn, SharedColumn};
use model::Model;
use model::eval::State;
use model::process::{FamilyId, ProcessId};
use model::types::ScalarType;
use model::value::Value;
use model::variable::{Storage, VarId};
use testkit::Product;
use testkit::choices::Choices;

use super::columns::{Columns, Held};
use super::runs::Omission;
use super::sums::{Counted, sums};
use super::writer::{Words, Writer};
use super::{Batch, Tally, is_violated};

/// Larger products are passed over.
const MOST_STATES: usize = 800;

/// What a view shows.
struct Shown {
    /// Which shared columns.
    cells: Vec<usize>,
    k: usize,
    /// A local column by which local states are not told apart.
    blurred: Option<usize>,
}

/// Views, before there are states in them.
struct Design {
    views: Vec<Shown>,
    is_joint: bool,
}

impl Design {
    fn random(columns: &Columns<'_>, choices: &mut Choices) -> Design {
        let n_views = 1 + choices.below(3);
        let view = |choices: &mut Choices| {
            let percent = *choices.pick(&[40, 70, 100]);
            let cells = (0..columns.shared.len()).filter(|_| choices.chance(percent)).collect();
            let blurred = choices.chance(30).then(|| choices.below(columns.local.len()));
            Shown { cells, k: if choices.chance(75) { 2 } else { 1 }, blurred }
        };
        let views = (0..n_views).map(|_| view(choices)).collect();
        Design { views, is_joint: choices.chance(50) }
    }
}

/// What a process has, as views of cells say it.
fn local_state(columns: &Columns<'_>, state: &State, process: ProcessId) -> Vec<LocalItem> {
    let item = |&column: &LocalColumn| match columns.local_held(state, process, column) {
        _ if columns.is_counter(column) => LocalItem::Value(Value::None),
        Held::Place(place) => LocalItem::Place(place),
        Held::Taken(taken) => LocalItem::Value(Value::Bool(taken.is_some())),
        Held::Value(Value::Process(id)) if id == process => LocalItem::Itself,
        Held::Value(Value::Process(id)) if columns.is_member(id) => LocalItem::Another,
        Held::Value(value) => LocalItem::Value(value),
    };
    columns.local.iter().map(item).collect()
}

/// Views with their states, and what of the program they are about.
struct Made<'c, 'm> {
    columns: &'c Columns<'m>,
    numbers: BTreeMap<Vec<LocalItem>, usize>,
    proof: FineProof,
    /// For each view the blocks inside a loop.
    tracked: Vec<Vec<bool>>,
    shown: Vec<Vec<usize>>,
}

impl<'c, 'm> Made<'c, 'm> {
    fn new(columns: &'c Columns<'m>, design: &Design, states: &[&State]) -> Made<'c, 'm> {
        let members = columns.members();
        let each = |state: &&State| members.iter().map(|&one| local_state(columns, state, one)).collect::<Vec<_>>();
        let all: BTreeSet<Vec<LocalItem>> = states.iter().flat_map(each).collect();
        let states_listed: Vec<Vec<LocalItem>> = all.into_iter().collect();
        let numbers = states_listed.iter().cloned().zip(0..).collect();
        let is_inside = |local: &Vec<LocalItem>| {
            columns.local.iter().zip(local).any(|(column, item)| {
                matches!(column, LocalColumn::Taken(_)) && *item == LocalItem::Value(Value::Bool(true))
            })
        };
        let (mut views, mut tracked) = (Vec::new(), Vec::new());
        for shown in &design.views {
            let mut keys: Vec<Vec<LocalItem>> = Vec::new();
            let mut blocks = Vec::new();
            for local in &states_listed {
                let mut key = local.clone();
                if let Some(column) = shown.blurred {
                    key[column] = LocalItem::Itself;
                }
                let at = keys.iter().position(|one| *one == key).unwrap_or_else(|| {
                    keys.push(key);
                    keys.len() - 1
                });
                blocks.push(at as u32);
            }
            let all_inside =
                |block: u32| blocks.iter().zip(&states_listed).all(|(&one, local)| one != block || is_inside(local));
            tracked.push((0..keys.len() as u32).map(all_inside).collect());
            let cells = shown.cells.iter().map(|&at| columns.shared[at]).collect();
            views.push(FineView { cells, k: shown.k, blocks, theta: Vec::new() });
        }
        let proof = FineProof {
            family: columns.family,
            local: columns.local.clone(),
            states: states_listed,
            views,
            is_joint: design.is_joint,
            flows: Vec::new(),
        };
        let shown = design.views.iter().map(|shown| shown.cells.clone()).collect();
        let mut made = Made { columns, numbers, proof, tracked, shown };
        for view in 0..design.views.len() {
            let looks: BTreeSet<FineState> =
                states.iter().flat_map(|state| made.looks(view, state)).collect::<Option<_>>().expect("all are listed");
            made.proof.views[view].theta = looks.into_iter().collect();
        }
        made
    }

    /// What each choice of processes looks like in a view; nothing for local states that are not listed.
    fn looks(&self, view: usize, state: &State) -> Vec<Option<FineState>> {
        let members = self.columns.members();
        let choices: Vec<Vec<ProcessId>> = match self.proof.views[view].k {
            1 => members.iter().map(|&one| vec![one]).collect(),
            _ => {
                let pairs = members.iter().flat_map(|&one| members.iter().map(move |&other| vec![one, other]));
                pairs.filter(|pair| pair[0] != pair[1]).collect()
            }
        };
        choices.iter().map(|processes| self.look(view, state, processes)).collect()
    }

    fn look(&self, view: usize, state: &State, processes: &[ProcessId]) -> Option<FineState> {
        let columns = self.columns;
        let content = |&at: &usize| match columns.shared_held(state, columns.shared[at]) {
            Held::Place(place) => FineContent::Place(place),
            Held::Value(Value::Process(id)) if columns.is_member(id) => {
                let slot = processes.iter().position(|&one| one == id);
                slot.map_or(FineContent::Other, |slot| FineContent::Slot(slot as u8))
            }
            Held::Value(value) => FineContent::Value(value),
            Held::Taken(_) => FineContent::Value(Value::Bool(false)),
        };
        let block = |&process: &ProcessId| {
            let number = self.numbers.get(&local_state(columns, state, process))?;
            Some(self.proof.views[view].blocks[*number])
        };
        let blocks = processes.iter().map(block).collect::<Option<Vec<u32>>>()?;
        let taken = |at: usize| match processes {
            [one, other] => {
                let (holder, about) = if at == 0 { (*one, *other) } else { (*other, *one) };
                self.tracked[view][blocks[at] as usize]
                    && columns.taken_now(state, holder).is_some_and(|now| about < now)
            }
            _ => false,
        };
        let taken = (0..processes.len()).map(taken).collect();
        Some(FineState { cells: self.shown[view].iter().map(content).collect(), blocks, taken })
    }

    /// Whether the views say how some state looks.
    fn has(&self, state: &State) -> bool {
        let listed = self
            .columns
            .members()
            .into_iter()
            .all(|one| self.numbers.contains_key(&local_state(self.columns, state, one)));
        listed
            && (0..self.proof.views.len()).all(|view| {
                let theta = &self.proof.views[view].theta;
                self.looks(view, state).iter().all(|look| look.as_ref().is_some_and(|look| theta.contains(look)))
            })
    }

    /// Sums over all processes and cells that are the same in these states.
    fn add_flows(&mut self, states: &[&State], modulus: i64, n_flows: usize) {
        let columns = self.columns;
        let plain = |at: usize, state: &State| match columns.shared_held(state, columns.shared[at]) {
            Held::Value(Value::Process(id)) if columns.is_member(id) => FineContent::Other,
            Held::Value(value) => FineContent::Value(value),
            Held::Place(place) => FineContent::Place(place),
            Held::Taken(_) => FineContent::Value(Value::Bool(false)),
        };
        let counted = |state: &&State| -> Counted<(usize, Option<FineContent>)> {
            let mut found = Counted::default();
            for process in columns.members() {
                *found.entry((self.numbers[&local_state(columns, state, process)], None)).or_insert(0) += 1;
            }
            for at in (0..columns.shared.len()).filter(|&at| !matches!(columns.shared[at], SharedColumn::Taken(..))) {
                *found.entry((at, Some(plain(at, state)))).or_insert(0) += 1;
            }
            found
        };
        let counted: Vec<_> = states.iter().map(counted).collect();
        for sum in sums(&counted, modulus, n_flows) {
            self.proof.flows.push(sum.flow(columns, self.proof.states.len()));
        }
    }
}

/// Arrays with one element for each process of the family.
fn rows(model: &Model, family: FamilyId) -> BTreeMap<VarId, usize> {
    let n = model.families[family].count();
    let of = |(id, var): (VarId, &model::variable::Var)| {
        let dimensions = var.ty.dimensions();
        let fitting: Vec<usize> = (0..dimensions.len()).filter(|&at| dimensions[at] == n).collect();
        let is_row =
            var.storage == Storage::Shared && var.name == "row" && !matches!(var.ty.scalar(), ScalarType::Lock);
        (is_row && fitting.len() == 1).then(|| (id, fitting[0]))
    };
    model.vars.entries().filter_map(of).collect()
}

fn compare(text: &str, n: i64, tally: &mut Tally, choices: &mut Choices) {
    let Ok(loaded) = lang::load(&SourceFile::new("r.pw", text), &[("N".to_owned(), n)]) else { return };
    let model = &loaded.model;
    let Some(product) = Product::explore(model, MOST_STATES) else { return };
    let family = FamilyId::new(0);
    let Some(columns) = Columns::new(model, family, rows(model, family)) else { return };
    tally.programs += 1;
    for round in 0..12 {
        let omission = if round == 0 { Omission::Nothing } else { Omission::random(model, &product, choices) };
        let kept = omission.kept(model, &product);
        let states: Vec<&State> =
            product.states.iter().zip(&kept).filter_map(|(state, kept)| kept.then_some(state)).collect();
        if states.is_empty() {
            continue;
        }
        for _ in 0..3 {
            let design = Design::random(&columns, choices);
            let mut made = Made::new(&columns, &design, &states);
            if choices.chance(40) {
                let modulus = *choices.pick(&[0, 0, 2, 3]);
                made.add_flows(&states, modulus, 1 + choices.below(3));
            }
            let is_whole = product.states.iter().all(|state| made.has(state));
            let check = |property: &str| {
                let facts = vec![Fact { claim: Claim::Fine(made.proof.clone()), uses: Vec::new() }];
                let proof =
                    Certificate { property: property.to_owned(), scope: Scope::Instance, facts, implies: Vec::new() };
                let asked = model.properties.iter().find(|one| one.name == property).expect("it is asked");
                certificate::check(model, asked, &proof, &Budget::unlimited().with_looks(20_000))
            };
            let accepted = check("sure");
            tally.note(accepted.is_ok(), is_whole);
            let proof = &made.proof;
            assert!(accepted.is_err() || is_whole, "N = {n}: what was left out is not seen: {proof:?}\n{text}");
            if accepted.is_ok() {
                for property in model.properties.iter().filter(|one| is_violated(model, &product, &one.kind)) {
                    tally.false_refused += 1;
                    assert!(
                        check(&property.name).is_err(),
                        "N = {n}: {} is violated: {proof:?}\n{text}",
                        property.name
                    );
                }
            }
        }
    }
}

/// Programs of few words: loops over all processes, elements of others, indices as numbers, another family.
fn narrow(choices: &mut Choices) -> String {
    let c = choices.below(2);
    let test = |choices: &mut Choices, who: &str| {
        let tests = [
            format!("P[{who}].a == {c}"),
            format!("{who} != i"),
            format!("{who} == i || P[{who}].a == {c}"),
            format!("p == {who} || d == {c}"),
            format!("row[{who}] == {c}"),
            format!("d == {c}"),
            format!("{who} < i"),
        ];
        choices.pick(&tests).clone()
    };
    let effect = |choices: &mut Choices, who: &str| {
        let effects = [
            format!("a = {c};"),
            "a = 1;".to_owned(),
            format!("d = {c};"),
            "d = 1;".to_owned(),
            format!("p = {who};"),
            "p = i;".to_owned(),
            "p = none;".to_owned(),
            "row[i] = 1;".to_owned(),
            if choices.chance(30) { format!("row[{who}] = 1;") } else { "d = 1 - d;".to_owned() },
            if choices.chance(30) { "d = i;".to_owned() } else { "skip;".to_owned() },
            if choices.chance(30) { "p = any 0..=1;".to_owned() } else { "a = 1 - a;".to_owned() },
            if choices.chance(30) { "if Q[i].f == 0 { d = 1; }".to_owned() } else { "p = any;".to_owned() },
        ];
        choices.pick(&effects).clone()
    };
    let mut body = String::new();
    for at in 0..1 + choices.below(2) {
        let (one, does, more) = (test(choices, "k"), effect(choices, "k"), effect(choices, "k"));
        body += &match choices.below(7) {
            0 => format!("for k in P {{ l{at}: await {one}; }} m{at}: {}\n", effect(choices, "i")),
            1 => format!("for k in P {{ l{at}: await {one}; m{at}: {does} }}\n"),
            2 => format!(
                "for k in P {{ l{at}: if {one} {{ {does} }} else {{ break; }} }} m{at}: {}\n",
                effect(choices, "i")
            ),
            3 => format!("for k in P {{ l{at}: atomic {{ await {one}; {does} {more} }} }}\n"),
            4 => format!(
                "for k in P {{ l{at}: {does} for j in P {{ m{at}: await {} || k != j; }} }}\n",
                test(choices, "j")
            ),
            5 => format!(
                "either {{ for k in P {{ l{at}: if {one} {{ {does} }} }} }} or {{ m{at}: {} }}\n",
                effect(choices, "i")
            ),
            _ => {
                let (one, does, more) = (test(choices, "i"), effect(choices, "i"), effect(choices, "i"));
                format!("l{at}: atomic {{ await {one}; {does} {more} }} m{at}: skip;\n")
            }
        };
    }
    let body = if choices.chance(50) { format!("loop {{ {body} }}") } else { body };
    let start = *choices.pick(&["", " = none", " = any"]);
    format!(
        "program r(N: 2..) {{ shared d: 0..=1; shared p: pid(P)?{start}; shared row: [0..=1; N];
         process P[i in 0..<N] {{ public a: 0..=1; {body} }} process Q[j in 0..<2] {{ public f: 0..=1; }}
         invariant sure: d <= 1; allow deadlock;
         invariant u: forall i in P: !P[i]@l0; invariant v: forall i in P: P[i].a == 0; invariant w: d == 0;
         invariant x: forall i, j in P: !(P[i]@l0 && P[j].a == 1); invariant y: forall i in P: p == i => P[i].a == 0;
         invariant z: p == none || exists i in P: P[i].a == {c}; invariant f: d == 1 || 6 / (d - 1) < 0;
         invariant g: d == 0 || 6 / (d - 1) < 0; invariant h: forall i in P: P[i].a == 0 || 6 / (P[i].a - 1) < 0; }}\n"
    )
}

#[test]
fn what_views_of_cells_leave_out_is_seen() {
    let mut tally = Tally::default();
    for seed in Batch::of(100).seeds() {
        let mut choices = Choices::from_seed(seed);
        let words = Words { names: choices.chance(60), loops: choices.chance(50), numbered: false };
        let text = match choices.chance(50) {
            true => narrow(&mut choices),
            false => Writer { choices: &mut choices, words, n_labels: 0 }.program(),
        };
        for n in 2..=3 {
            compare(&text, n, &mut tally, &mut choices);
        }
    }
    println!("{tally:?}");
    assert!(
        tally.programs > 20 && tally.whole_accepted > 20 && tally.partial_refused > 200 && tally.false_refused > 20,
        "{tally:?}"
    );
}
