//! The views of a proof as small graphs: which steps lead from which to which.
//!
//! In: a proof for every size. Out: its views, as boxes, and the steps between them that the program takes with one process more than a view shows. The boxes are the
//! certificate's; the steps are those of one size, found by searching it.

use std::collections::{HashMap, VecDeque};

use base::Budget;
use engine::graph::{Drawing, DrawnEdge, DrawnState};
use evidence::Certificate;
use model::Model;
use model::eval::{State, initial_states, steps_up_to};
use model::process::ProcessId;

use super::super::member::letters;
use super::super::render;
use super::super::scene::{CertificateScene, Only, SceneEntry, Shown, orders, scenes};
use super::ground::Ground;
use super::{ViewGraph, size_parameter};
use crate::text::clean;

/// Larger graphs are not drawn.
const MOST_VIEWS: usize = 40;
/// More states are not searched for steps.
const MOST_STATES: usize = 4_000;
/// More types are not drawn.
const MOST_GRAPHS: usize = 4;

/// The graphs.
pub(super) fn graphs(model: &Model, certificate: &Certificate, budget: &Budget) -> Vec<ViewGraph> {
    found(model, certificate, budget).unwrap_or_default()
}

fn found(model: &Model, certificate: &Certificate, budget: &Budget) -> Option<Vec<ViewGraph>> {
    let (parameter, from) = size_parameter(model, certificate)?;
    let n_named = certificate.views().map_or(0, |views| views.named.len());
    // Two processes are drawn as the first two, which they may be only where processes are interchangeable. Whether there are further processes is not drawn.
    let is_drawn = |scene: &CertificateScene| n_named == 0 || scene.n_letters == 1;
    let drawn = scenes(model, certificate)?.into_iter().filter(is_drawn);
    let is_plain = |scene: &CertificateScene, column: usize| !matches!(scene.columns[column], Shown::Somebody(_));
    let scenes: Vec<CertificateScene> =
        drawn.map(|scene| scene.clone().with(|column| is_plain(&scene, column))).collect();
    let k = scenes.first()?.n_letters as i64;
    let is_network = certificate.rings().is_some();
    let size = if is_network { from.max(3) } else { (k + 1 + n_named as i64).max(model.parameters[parameter].least) };
    let ground = Ground::new(model.resized(parameter, size)?)?;
    let names = letters(model, &[model.families[scenes[0].family].first]).letters;
    let search = SizeSearch::new(&ground.model, budget)?;
    let drawn =
        scenes.iter().take(MOST_GRAPHS).filter_map(|scene| one(model, &ground, scene, &names, &search, size as usize));
    Some(drawn.collect())
}

/// All states of the size, with their steps.
struct SizeSearch {
    states: Vec<State>,
    steps: Vec<(usize, usize, ProcessId, String)>,
    n_initial: usize,
}

impl SizeSearch {
    fn new(model: &Model, budget: &Budget) -> Option<SizeSearch> {
        let mut found = SizeSearch { states: Vec::new(), steps: Vec::new(), n_initial: 0 };
        let mut numbers: HashMap<State, usize> = HashMap::new();
        let mut open: VecDeque<usize> = VecDeque::new();
        let mut number = |state: State, states: &mut Vec<State>, open: &mut VecDeque<usize>| {
            *numbers.entry(state.clone()).or_insert_with(|| {
                states.push(state);
                open.push_back(states.len() - 1);
                states.len() - 1
            })
        };
        for state in initial_states(model).take(MOST_STATES) {
            number(state, &mut found.states, &mut open);
        }
        found.n_initial = found.states.len();
        while let Some(at) = open.pop_front() {
            budget.check(0).ok()?;
            // What was found so far has steps enough to show.
            if found.states.len() > MOST_STATES {
                break;
            }
            for step in steps_up_to(model, &found.states[at].clone(), 1_000)? {
                let Ok(after) = step.result else { continue };
                let to = number(after, &mut found.states, &mut open);
                let statement = &model.statements[model.actions[step.by.action].statement];
                found.steps.push((at, to, step.by.process, clean(&statement.text)));
            }
        }
        Some(found)
    }
}

fn one(
    model: &Model,
    ground: &Ground,
    scene: &CertificateScene,
    names: &[String],
    search: &SizeSearch,
    size: usize,
) -> Option<ViewGraph> {
    let mut views: Vec<Vec<SceneEntry>> = scene.rows.iter().map(|row| least(scene, row)).collect();
    views.sort_unstable();
    views.dedup();
    if views.len() > MOST_VIEWS || scene.columns.iter().any(|shown| matches!(shown, Shown::Block(..))) {
        return None;
    }
    let all = ground.processes(scene.family);
    let first = { all.iter().enumerate() }.find(|(at, _)| scene.only.admits(*at, all.len())).map(|(at, _)| at)?;
    let own: Vec<ProcessId> = match scene.n_letters {
        1 => vec![all[first]],
        k => all.iter().copied().take(k).collect(),
    };
    let seen: Vec<Option<usize>> = search
        .states
        .iter()
        .map(|state| {
            let row = least(scene, &ground.row(scene, state, &own)?);
            views.iter().position(|view| shows(view, &row))
        })
        .collect();
    let initial: Vec<usize> = seen.iter().take(search.n_initial).flatten().copied().collect();
    // Initial views come first.
    let mut order: Vec<usize> = (0..views.len()).collect();
    order.sort_by_key(|view| !initial.contains(view));
    let place = |view: usize| order.iter().position(|one| *one == view).unwrap_or(0) as u32;
    let mut edges: Vec<DrawnEdge> = Vec::new();
    for (from, to, mover, text) in &search.steps {
        let (Some(before), Some(after)) = (seen.get(*from).copied().flatten(), seen.get(*to).copied().flatten()) else {
            continue;
        };
        let is_own = own.contains(mover);
        if before == after && !is_own {
            continue;
        }
        // A process in view steps like the first one, a process outside of it like another.
        let mover = if is_own { own[0] } else { *all.iter().find(|process| !own.contains(process))? };
        let edge = DrawnEdge { from: place(before), to: place(after), movers: vec![mover], text: text.clone() };
        if !edges.contains(&edge) {
            edges.push(edge);
        }
    }
    edges.sort();
    let n_initial = order.iter().filter(|view| initial.contains(view)).count();
    let met: Vec<bool> = (0..views.len()).map(|view| seen.contains(&Some(view))).collect();
    let drawing = Drawing {
        states: order.iter().map(|&view| drawn(model, scene, names, &views[view])).collect(),
        edges,
        n_initial,
    };
    let letter = &names[0];
    let size_name = render::size_name(model, scene.family);
    let whom = match (&scene.only, scene.n_letters) {
        (Only::All, 1) => format!("any process {letter}"),
        (Only::All, k) => format!("any {k} processes {}", names[..k].join(", ")),
        (only, _) => match only.condition(letter, &size_name) {
            Some(condition) => format!("process {letter}, where {condition}"),
            None => format!("any process {letter}"),
        },
    };
    let n_unmet = met.iter().filter(|met| !**met).count();
    Some(ViewGraph { whom, process: own[0], drawing, size, n_unmet })
}

/// Whether a row is one that a view shows; what is hidden may be anything.
fn shows(view: &[SceneEntry], row: &[SceneEntry]) -> bool {
    view.iter().zip(row).all(|(shown, is)| *shown == SceneEntry::Hidden || shown == is)
}

/// The least of the rows that differ from this one by a permutation of the processes that are seen.
fn least(scene: &CertificateScene, row: &[SceneEntry]) -> Vec<SceneEntry> {
    let images = orders(scene.n_letters).into_iter().filter_map(|order| scene.permuted(row, &order));
    images.min().unwrap_or_else(|| row.to_vec())
}

fn drawn(model: &Model, scene: &CertificateScene, names: &[String], row: &[SceneEntry]) -> DrawnState {
    let mut places: Vec<String> = Vec::new();
    let mut cells: Vec<(String, String)> = Vec::new();
    for (shown, entry) in scene.columns.iter().zip(row) {
        match (shown, entry) {
            (Shown::Place(super::super::formula::NamedProcess::Process(process)), SceneEntry::Place(place)) => {
                cells.push((clean(&model.processes[*process].name), render::place_name(model, *place)));
            }
            (Shown::Place(_), SceneEntry::Place(place)) => places.push(render::place_name(model, *place)),
            (Shown::Cell(term, _), entry) => {
                let value = match entry {
                    SceneEntry::Hidden => "anything".to_owned(),
                    SceneEntry::Another => "another".to_owned(),
                    entry => entry.value().map(|value| render::value(model, names, &value)).unwrap_or_default(),
                };
                cells.push((render::cell(model, names, term), value));
            }
            _ => {}
        }
    }
    DrawnState { place: places.join(" · "), cells }
}
