//! The rules of thread-modular checking (Flanagan and Qadeer, SPIN 2003) as a Datalog program, against `tmmc`'s sets.
//!
//! `reached(t, g, l)`: process `t` can be at the local state `l` while the shared store is `g`; `guarantee(t, g, h)`: some step
//! of `t` takes the store from `g` to `h`. The rules are
//!
//! - `reached(t, g, l)` where a run begins there;
//! - `reached(t, h, m)` and `guarantee(t, g, h)` from `reached(t, g, l)`, where a step of `t` leads from `g`, `l` to `h`, `m`;
//! - `reached(t, h, l)` from `reached(t, g, l)` and `guarantee(u, g, h)`, where `u` is another process.
//!
//! Steps are those of `model::eval`; the rules are applied to each fact when it is new, and to all that are known of the same store.

use std::collections::{BTreeMap, BTreeSet};

use base::Budget;
use compose::backend::Backend;
use compose::k_index::Fixpoint;
use engine::SharedView;
use evidence::certificate::Column;
use local::sets::LocalSets;
use model::Model;
use model::eval::{initial_states, n_initial_states};
use model::process::ProcessId;
use model::variable::Storage;
use packed::codec::{Codec, UnrollLimits};
use packed::compile::Compiler;
use packed::machine::Machine;
use testkit::local::meaning::meaning;
use testkit::local::{Combination, DefinedSets, LocalDefinition};
use testkit::{Beyond, RandomFeatures, for_each_program};

const ONE_AT_A_TIME: RandomFeatures = RandomFeatures {
    procedures: false,
    rendezvous: false,
    any_initial: true,
    faults: true,
    n_statements: 4,
    beyond: Beyond::NOTHING,
};

/// What a process sees of the store, and what is its own.
fn parted(model: &Model, state: Combination) -> (Combination, Combination) {
    state.into_iter().partition(|(column, _)| match column {
        Column::Cell(cell) => !matches!(model.vars[model.cells[*cell].var].storage, Storage::Local(_)),
        Column::Control(_) | Column::Exposed(_) => false,
    })
}

/// The facts about one store.
#[derive(Default)]
struct KnownOfStore {
    /// Who is at which local state.
    reached: BTreeSet<(ProcessId, Combination)>,
    /// Whose step leads to which store.
    guarantee: BTreeSet<(ProcessId, Combination)>,
}

fn by_rules(model: &Model) -> DefinedSets {
    let local = LocalDefinition::new(model, 1);
    let step = |process: ProcessId, store: &Combination, own: &Combination| -> Vec<(Combination, Combination)> {
        let state: Combination = store.iter().chain(own).map(|(column, part)| (*column, part.clone())).collect();
        let after = local.successors(&state, &[process], &local.columns(&[process]));
        after.into_iter().map(|state| parted(model, state)).collect()
    };
    let start: Vec<(ProcessId, Combination, Combination)> = initial_states(model)
        .flat_map(|state| {
            let local = &local;
            model.processes.ids().map(move |process| {
                let (store, own) = parted(model, local.project(&state, &local.columns(&[process])));
                (process, store, own)
            })
        })
        .collect();
    let mut known: BTreeMap<Combination, KnownOfStore> = BTreeMap::new();
    let mut open = start;
    while let Some((t, g, l)) = open.pop() {
        let here = known.entry(g.clone()).or_default();
        if !here.reached.insert((t, l.clone())) {
            continue;
        }
        open.extend(here.guarantee.iter().filter(|(u, _)| *u != t).map(|(_, h)| (t, h.clone(), l.clone())));
        for (h, m) in step(t, &g, &l) {
            if here.guarantee.insert((t, h.clone())) {
                open.extend(here.reached.iter().filter(|(u, _)| *u != t).map(|(u, own)| (*u, h.clone(), own.clone())));
            }
            open.push((t, h, m));
        }
    }
    let mut sets: DefinedSets = model.processes.ids().map(|process| (vec![process], BTreeSet::new())).collect();
    for (store, here) in known {
        for (process, own) in here.reached {
            let state: BTreeMap<_, _> = store.clone().into_iter().chain(own).collect();
            sets.get_mut([process].as_slice()).expect("every process is there").insert(state);
        }
    }
    sets
}

fn by_tmmc(model: &Model) -> DefinedSets {
    let codec = Codec::new(model, UnrollLimits::default());
    let machine = Machine { codec: &codec, code: Compiler::new(&codec).finish() };
    let budget = Budget::unlimited();
    let mut sets = LocalSets::<4>::new(&machine, SharedView::Whole, (&budget, u64::MAX));
    let mut fixpoint = Fixpoint::new(&mut sets, 1).expect("no limits");
    fixpoint.close(&mut sets, &budget).expect("no limits");
    meaning(model, &sets.certify(1, &fixpoint.invariants.join()).expect("no limits"))
}

/// The counters of control points are listed in different orders.
fn shown(sets: &DefinedSets) -> BTreeSet<String> {
    let states = sets.iter().flat_map(|(group, set)| set.iter().map(move |state| (group, state)));
    states
        .map(|(group, state)| {
            let parts = state.iter().map(|(column, part)| {
                let mut text = format!("{part:?}");
                if let testkit::local::ViewPart::Point(point) = part {
                    let counters: BTreeSet<_> = point.counters.iter().collect();
                    text = format!("{:?} {counters:?}", point.place);
                }
                format!("{column:?} {text}")
            });
            format!("{group:?} {:?}", parts.collect::<Vec<_>>())
        })
        .collect()
}

#[test]
fn the_rules_of_assume_guarantee_derive_the_same_sets() {
    for_each_program(250, ONE_AT_A_TIME, |_, model| {
        if n_initial_states(model) > 200 {
            return Ok(());
        }
        let ours = by_tmmc(model);
        if ours.values().map(BTreeSet::len).sum::<usize>() > 2000 {
            return Ok(());
        }
        let theirs = by_rules(model);
        match shown(&ours) == shown(&theirs) {
            true => Ok(()),
            false => Err(format!("tmmc has {ours:?}\nthe rules have {theirs:?}")),
        }
    });
}
