//! A random program with its whole product, and what brute force says about its properties.
//!
//! In: a profile and a seed, or a text. Out: a [`Case`]: the Model, its product by `testkit::Product`, for each property which verdicts
//! are right, and which of the properties are asked. Programs whose product is large are left out.

use std::panic::{AssertUnwindSafe, catch_unwind};

use base::SourceFile;
use driver::load::{self, Loaded};
use engine::PropertyId;
use model::Model;
use model::eval::{evaluate, initial_faults, n_initial_states, race};
use model::expr::Expr;
use model::property::{Property, PropertyKind};
use model::value::Value;
use testkit::Product;
use testkit::choices::Choices;
use testkit::program::{self, PROFILES, Profile};

use super::drafts;

/// Products with more states are left out.
const MOST_STATES: usize = 300;

/// Programs with more initial states are left out.
const MOST_INITIAL: u128 = 32;

/// Claims about every size are looked at up to this size, and products of other sizes up to so many states.
const GREATEST_SIZE: i64 = 5;
const MOST_STATES_OF_A_SIZE: usize = 3000;

/// So many invariants that hold are asked, and so many that do not.
const N_TRUE: usize = 2;
const N_FALSE: usize = 3;

/// Where programs come from.
#[derive(Clone, Copy, Debug)]
pub enum Source {
    /// Texts of a profile.
    Text(&'static Profile),
    /// Models that the language cannot write.
    Drafts(drafts::Kind),
}

impl Source {
    pub fn all() -> Vec<Source> {
        PROFILES.iter().map(Source::Text).chain(drafts::Kind::ALL.map(Source::Drafts)).collect()
    }

    pub fn find(name: &str) -> Result<Source, String> {
        if let Some(kind) = drafts::Kind::ALL.into_iter().find(|kind| kind.name() == name) {
            return Ok(Source::Drafts(kind));
        }
        program::profile::find(name).map(Source::Text).ok_or_else(|| format!("there is no profile `{name}`"))
    }

    pub fn name(&self) -> &'static str {
        match self {
            Source::Text(profile) => profile.name,
            Source::Drafts(kind) => kind.name(),
        }
    }
}

/// Why a program is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LeftOut {
    /// The front-end refuses the text.
    Refused,
    /// The whole product is too large for brute force.
    Large,
}

/// A program and what is true of it.
pub struct Case {
    /// The program in the language; of a draft what is nearest to it.
    pub text: String,
    /// Whether [`Case::text`] loads.
    pub is_text: bool,
    pub model: Model,
    /// For each property which verdicts are right.
    pub right: Vec<Right>,
    /// The properties that methods are asked about.
    pub questions: Vec<PropertyId>,
}

/// Which verdicts are right. Both are where brute force cannot tell; none is where the property has no value in some state, and no
/// other state decides it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Right {
    pub holds: bool,
    pub violated: bool,
}

impl Case {
    /// The program of a seed.
    pub fn make(source: &Source, seed: u64) -> Result<Case, LeftOut> {
        match source {
            Source::Text(profile) => Case::of_text(program::text(&mut Choices::from_seed(seed), profile)),
            Source::Drafts(kind) => {
                let (text, model) = drafts::program(*kind, seed);
                Case::of_model(model, text, false)
            }
        }
    }

    /// A text as a program.
    pub fn of_text(text: String) -> Result<Case, LeftOut> {
        let model = model_of(&text).ok_or(LeftOut::Refused)?;
        Case::of_model(model, text, true)
    }

    /// A Model as a program.
    pub fn of_model(model: Model, text: String, is_text: bool) -> Result<Case, LeftOut> {
        if !initial_faults(&model).is_empty() {
            return Err(LeftOut::Refused);
        }
        if n_initial_states(&model) > MOST_INITIAL {
            return Err(LeftOut::Large);
        }
        // A step with very many successors may not come to an end within memory; none of the profiles has one.
        let product = catch_unwind(AssertUnwindSafe(|| Product::explore(&model, MOST_STATES)));
        let product = product.ok().flatten().ok_or(LeftOut::Large)?;
        let right: Vec<Right> = model.properties.iter().map(|property| right(&model, &product, property)).collect();
        let questions = questions(&model, &right);
        Ok(Case { text, is_text, model, right, questions })
    }
}

/// Sizes of a program with what brute force says about its properties at each.
pub struct Sizes(Vec<(i64, Vec<Right>)>);

impl Sizes {
    /// The sizes of a program's parameter from the least on, as far as brute force goes.
    pub fn of(text: &str, parameter: &str, from: i64) -> Sizes {
        let mut sizes = Vec::new();
        for size in from..=GREATEST_SIZE {
            let given = [(parameter.to_owned(), size)];
            let Some(model) = instance_of(text, &given) else { break };
            let explored = catch_unwind(AssertUnwindSafe(|| Product::explore(&model, MOST_STATES_OF_A_SIZE)));
            let Some(product) = explored.ok().flatten() else { break };
            let is_temporal = |property: &Property| matches!(property.kind, PropertyKind::Temporal(_));
            let unknown = Right { holds: true, violated: true };
            let judged = model.properties.iter().map(|property| match is_temporal(property) {
                true => unknown,
                false => right(&model, &product, property),
            });
            sizes.push((size, judged.collect()));
        }
        Sizes(sizes)
    }

    /// The least size at which the property is not what was proved.
    pub fn counterexample(&self, property: usize, is_right: impl Fn(Right) -> bool) -> Option<i64> {
        self.0.iter().find(|(_, judged)| judged.get(property).is_some_and(|&one| !is_right(one))).map(|(size, _)| *size)
    }
}

/// The Model of a text, if the front-end does not refuse it.
pub fn model_of(text: &str) -> Option<Model> {
    instance_of(text, &[])
}

fn instance_of(text: &str, given: &[(String, i64)]) -> Option<Model> {
    match catch_unwind(|| load::instance(&SourceFile::new("random.pw", text), given)) {
        Ok(Loaded::Program(program)) => Some(program.model),
        Ok(Loaded::Refused(_)) | Err(_) => None,
    }
}

/// The properties to ask: of the invariants a few that hold and a few that do not, and all others.
fn questions(model: &Model, right: &[Right]) -> Vec<PropertyId> {
    let (mut n_true, mut n_false) = (0, 0);
    let is_asked = |(id, property): (PropertyId, &Property)| {
        let is_invariant = matches!(property.kind, PropertyKind::Invariant(_));
        let (count, most) = if right[id.index()].holds { (&mut n_true, N_TRUE) } else { (&mut n_false, N_FALSE) };
        let is_asked = !is_invariant || *count < most;
        *count += usize::from(is_invariant);
        is_asked.then_some(id)
    };
    model.properties.entries().filter_map(is_asked).collect()
}

/// What brute force says.
pub fn right(model: &Model, product: &Product, property: &Property) -> Right {
    let decided = |is_violated: bool| Right { holds: !is_violated, violated: is_violated };
    match &property.kind {
        PropertyKind::Invariant(expr) => {
            let seen = Seen::of(model, product, expr);
            Right { holds: !seen.is_false && !seen.has_no_value, violated: seen.is_false }
        }
        PropertyKind::Reachable(expr) => {
            let seen = Seen::of(model, product, expr);
            Right { holds: seen.is_true, violated: !seen.is_true && !seen.has_no_value }
        }
        PropertyKind::NoErrors => decided(product.n_faults() > 0),
        PropertyKind::DeadlockFree => decided(!product.deadlocks.is_empty()),
        PropertyKind::RaceFree(var) => decided(product.states.iter().any(|state| race(model, state, *var).is_some())),
        PropertyKind::Temporal(formula) => {
            match audit::temporal::is_violated(model, &product.states, formula, &property.under) {
                Ok(Some(is_violated)) => decided(is_violated),
                Ok(None) => Right { holds: true, violated: true },
                // A run that never comes to the state without a value may violate it; that run is replayed.
                Err(_) => Right { holds: false, violated: true },
            }
        }
    }
}

/// What an expression is in the reachable states.
struct Seen {
    is_true: bool,
    is_false: bool,
    has_no_value: bool,
}

impl Seen {
    fn of(model: &Model, product: &Product, expr: &Expr) -> Seen {
        let mut seen = Seen { is_true: false, is_false: false, has_no_value: false };
        for state in &product.states {
            match evaluate(model, state, expr, None) {
                Ok(Value::Bool(true)) => seen.is_true = true,
                Ok(_) => seen.is_false = true,
                Err(_) => seen.has_no_value = true,
            }
        }
        seen
    }
}
