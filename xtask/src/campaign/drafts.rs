//! Programs that the language cannot write: drafts of Models with rendezvous, and with marks beyond texts, with properties about places and values.
//!
//! In: a seed. Out: a Model with its properties, and a text for people, which does not load.

use model::Model;
use model::expr::{BinaryOp, Expr};
use model::property::PropertyKind;
use model::types::ScalarType;
use model::value::Value;
use model::variable::{Storage, VarId};
use testkit::choices::Choices;
use testkit::expr::{binary, constant, equal, not, read, shared, standing};
use testkit::samples::{add_property, process_named};
use testkit::temporal::with_temporal;
use testkit::{Beyond, Draft, RandomFeatures, beyond, random, write};

/// Which drafts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DraftKind {
    /// With rendezvous.
    Rendezvous,
    /// Also with steps that go on, actions for where no process is enabled otherwise, receivers of certain values and places to end at.
    Beyond,
}

impl DraftKind {
    /// Both.
    pub const ALL: [DraftKind; 2] = [DraftKind::Rendezvous, DraftKind::Beyond];

    /// The profile's name.
    pub fn name(self) -> &'static str {
        match self {
            DraftKind::Rendezvous => "rendezvous",
            DraftKind::Beyond => "beyond",
        }
    }

    fn marks(self) -> Beyond {
        match self {
            DraftKind::Rendezvous => Beyond::NOTHING,
            DraftKind::Beyond => Beyond::everything(),
        }
    }
}

/// So many drafts are tried for one with a channel.
const MOST_TRIES: usize = 12;

/// The program of a seed.
pub fn program(kind: DraftKind, seed: u64) -> (String, Model) {
    let mut choices = Choices::from_seed(seed);
    let mut draft = random::draft(&mut choices, shape());
    for _ in 1..MOST_TRIES {
        if has_meeting(&draft) {
            break;
        }
        draft = random::draft(&mut choices, shape());
    }
    let mut model = draft.finish();
    beyond::mark(&mut choices, kind.marks(), &mut model);
    add_properties(&mut model, &mut choices);
    let text = format!("{}\n// {}\n", write::program(&draft), beyond::show(&model).replace('\n', "\n// "));
    (text, with_temporal(&model, seed, 1))
}

fn shape() -> RandomFeatures {
    RandomFeatures { procedures: false, n_statements: 3, ..RandomFeatures::everything() }
}

fn has_meeting(draft: &Draft) -> bool {
    !draft.model.channels.is_empty()
}

fn add_properties(model: &mut Model, choices: &mut Choices) {
    add_property(model, "no_errors", PropertyKind::NoErrors);
    add_property(model, "deadlock_free", PropertyKind::DeadlockFree);
    for at in 0..6 {
        let (one, other) = (atom(model, choices), atom(model, choices));
        let both = binary(BinaryOp::And, one, other);
        add_property(model, &format!("i{at}"), PropertyKind::Invariant(not(both)));
    }
    let goal = atom(model, choices);
    add_property(model, "r0", PropertyKind::Reachable(goal));
    // Of steps that go on no text asks this.
    if model.goes_on() || model.has_when_nobody() {
        return;
    }
    let is_asked = |id: &VarId| {
        let var = &model.vars[*id];
        var.storage == Storage::Shared && !matches!(var.ty.scalar(), ScalarType::Lock | ScalarType::Semaphore { .. })
    };
    for id in model.vars.ids().filter(is_asked).collect::<Vec<_>>() {
        let name = format!("race_free {}", model.vars[id].name);
        add_property(model, &name, PropertyKind::RaceFree(id));
    }
}

/// The place of a process, or the value of a shared cell.
fn atom(model: &Model, choices: &mut Choices) -> Expr {
    let is_plain = |ty: ScalarType| matches!(ty, ScalarType::Bool | ScalarType::Range { .. });
    let vars: Vec<_> = model
        .vars
        .entries()
        .filter(|(_, var)| var.storage == Storage::Shared && var.ty.n_cells() == 1 && is_plain(var.ty.scalar()))
        .filter(|(_, var)| var.ty.dimensions().is_empty())
        .map(|(id, var)| (id, var.ty.scalar()))
        .collect();
    if !vars.is_empty() && choices.chance(40) {
        let (id, ty) = *choices.pick(&vars);
        let values: Vec<Value> = ty.values(model.type_context()).take(4).collect();
        return equal(read(shared(id)), constant(*choices.pick(&values)));
    }
    let who = choices.below(model.processes.len());
    let family = model.processes[testkit::samples::process(who)].family;
    let scope = model::control::TextOwner::Family(family);
    let places: Vec<_> = model.places.entries().filter(|(_, place)| place.scope == scope).map(|(id, _)| id).collect();
    standing(process_named(who), vec![*choices.pick(&places)], &["l"])
}
