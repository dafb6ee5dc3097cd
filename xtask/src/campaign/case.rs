//! A random program with its whole product, and what brute force says about its properties.
//!
//! In: a profile and a seed, or a text. Out: a [`CampaignCase`]: the Model, its product by `testkit::Product`, for each property which verdicts
//! are right, and which of the properties are asked. Programs whose product is large are left out.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use audit::temporal::TurnGraph;
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
use testkit::sized;

use super::drafts;

/// Products with more states are left out.
const MOST_STATES: usize = 300;

/// Programs with more initial states are left out.
const MOST_INITIAL: u128 = 32;

/// Claims about every size are compared up to this size, and products of other sizes up to so many states; of one program in a few, drawn by
/// its text, up to more.
const GREATEST_SIZE: i64 = 6;
const MOST_STATES_OF_A_SIZE: usize = 500;
const MANY_STATES_OF_A_SIZE: usize = 3000;
const ONE_OF: usize = 10;

/// So many invariants that hold are asked, and so many that do not.
const N_TRUE: usize = 2;
const N_FALSE: usize = 3;

/// Where programs come from.
#[derive(Clone, Copy, Debug)]
pub enum ProgramSource {
    /// Texts of a profile.
    Text(&'static Profile),
    /// Texts that are asked about every size.
    Sized(sized::SizedKind),
    /// Models that the language cannot write.
    Drafts(drafts::DraftKind),
}

impl ProgramSource {
    pub fn all() -> Vec<ProgramSource> {
        let texts = PROFILES.iter().map(ProgramSource::Text).chain(sized::SizedKind::ALL.map(ProgramSource::Sized));
        texts.chain(drafts::DraftKind::ALL.map(ProgramSource::Drafts)).collect()
    }

    pub fn find(name: &str) -> Result<ProgramSource, String> {
        if let Some(kind) = drafts::DraftKind::ALL.into_iter().find(|kind| kind.name() == name) {
            return Ok(ProgramSource::Drafts(kind));
        }
        if let Some(kind) = sized::SizedKind::ALL.into_iter().find(|kind| kind.name() == name) {
            return Ok(ProgramSource::Sized(kind));
        }
        program::profile::find(name).map(ProgramSource::Text).ok_or_else(|| format!("there is no profile `{name}`"))
    }

    pub fn name(&self) -> &'static str {
        match self {
            ProgramSource::Text(profile) => profile.name,
            ProgramSource::Sized(kind) => kind.name(),
            ProgramSource::Drafts(kind) => kind.name(),
        }
    }

    /// Whether its programs are asked about every size.
    pub fn is_sized(&self) -> bool {
        matches!(self, ProgramSource::Sized(_))
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
pub struct CampaignCase {
    /// The program in the language; of a draft what is nearest to it.
    pub text: String,
    /// Whether [`CampaignCase::text`] loads.
    pub is_text: bool,
    pub model: Model,
    /// For each property which verdicts are right.
    pub right: Vec<Right>,
    /// The properties that methods are asked about.
    pub questions: Vec<PropertyId>,
    /// What brute force found at other sizes, by the parameter that says the size.
    sizes: RefCell<HashMap<String, Rc<CampaignSizes>>>,
}

/// Which verdicts are right. Both are where brute force cannot decide; none is where the property has no value in some state, and no
/// other state decides it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Right {
    pub holds: bool,
    pub violated: bool,
}

impl CampaignCase {
    /// The program of a seed.
    pub fn make(source: &ProgramSource, seed: u64) -> Result<CampaignCase, LeftOut> {
        match source {
            ProgramSource::Text(profile) => {
                CampaignCase::of_text(program::text(&mut Choices::from_seed(seed), profile))
            }
            ProgramSource::Sized(kind) => CampaignCase::of_text(sized::text(&mut Choices::from_seed(seed), *kind)),
            ProgramSource::Drafts(kind) => {
                let (text, model) = drafts::program(*kind, seed);
                CampaignCase::of_model(model, text, false)
            }
        }
    }

    /// A text as a program.
    pub fn of_text(text: String) -> Result<CampaignCase, LeftOut> {
        let model = model_of(&text).ok_or(LeftOut::Refused)?;
        CampaignCase::of_model(model, text, true)
    }

    /// A Model as a program.
    pub fn of_model(model: Model, text: String, is_text: bool) -> Result<CampaignCase, LeftOut> {
        if !initial_faults(&model).is_empty() {
            return Err(LeftOut::Refused);
        }
        if n_initial_states(&model) > MOST_INITIAL {
            return Err(LeftOut::Large);
        }
        // A step with very many successors may not come to an end within memory; none of the profiles has one.
        let product = catch_unwind(AssertUnwindSafe(|| Product::explore(&model, MOST_STATES)));
        let product = product.ok().flatten().ok_or(LeftOut::Large)?;
        let right = rights(&model, &product);
        let questions = questions(&model, &right);
        Ok(CampaignCase { text, is_text, model, right, questions, sizes: RefCell::default() })
    }

    /// Sizes of the program, searched once.
    pub fn sizes(&self, parameter: &str) -> Rc<CampaignSizes> {
        let mut known = self.sizes.borrow_mut();
        let sizes = known.entry(parameter.to_owned()).or_insert_with(|| Rc::new(CampaignSizes::of(self, parameter)));
        Rc::clone(sizes)
    }
}

/// Sizes of a program with what brute force says about its properties at each, found out when it is asked for.
pub struct CampaignSizes(Vec<SizeTruth>);

struct SizeTruth {
    size: i64,
    model: Model,
    product: Product,
    /// Its turns, once they were needed for a temporal property.
    turns: OnceCell<TurnGraph>,
    /// What is known of the properties so far.
    rights: RefCell<HashMap<usize, Right>>,
}

impl CampaignSizes {
    /// The sizes of a program's parameter from the least on, as far as brute force goes.
    fn of(case: &CampaignCase, parameter: &str) -> CampaignSizes {
        let mut sizes = Vec::new();
        let Some(declared) = case.model.parameters.iter().find(|one| one.name == parameter) else {
            return CampaignSizes(sizes);
        };
        let drawn = case.text.bytes().map(usize::from).sum::<usize>();
        let limit = if drawn.is_multiple_of(ONE_OF) { MANY_STATES_OF_A_SIZE } else { MOST_STATES_OF_A_SIZE };
        for size in declared.least..=GREATEST_SIZE {
            let given = [(parameter.to_owned(), size)];
            let Some(model) = instance_of(&case.text, &given) else { break };
            let explored = catch_unwind(AssertUnwindSafe(|| Product::explore(&model, limit)));
            let Some(product) = explored.ok().flatten() else { break };
            sizes.push(SizeTruth { size, model, product, turns: OnceCell::new(), rights: RefCell::default() });
        }
        CampaignSizes(sizes)
    }

    /// How many sizes there are, from this one on.
    pub fn count_from(&self, from: i64) -> usize {
        self.0.iter().filter(|one| one.size >= from).count()
    }

    /// The least size from this one on at which the property is not what was proved.
    pub fn counterexample(&self, from: i64, property: usize, is_right: impl Fn(Right) -> bool) -> Option<i64> {
        let differs = |one: &&SizeTruth| one.size >= from && one.right(property).is_some_and(|right| !is_right(right));
        self.0.iter().find(differs).map(|one| one.size)
    }
}

impl SizeTruth {
    /// `None` for a property that there is not at this size.
    fn right(&self, property: usize) -> Option<Right> {
        if let Some(known) = self.rights.borrow().get(&property) {
            return Some(*known);
        }
        let asked = self.model.properties.iter().nth(property)?;
        let found = right(&self.model, &self.product, asked, &self.turns);
        self.rights.borrow_mut().insert(property, found);
        Some(found)
    }
}

/// What brute force says about all properties; its turns are computed once for all temporal ones.
fn rights(model: &Model, product: &Product) -> Vec<Right> {
    let turns = OnceCell::new();
    model.properties.iter().map(|property| right(model, product, property, &turns)).collect()
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

/// What brute force says; the turns are those of the product, once they were needed.
fn right(model: &Model, product: &Product, property: &Property, turns: &OnceCell<TurnGraph>) -> Right {
    let decided = |is_violated: bool| Right { holds: !is_violated, violated: is_violated };
    match &property.kind {
        PropertyKind::Invariant(expr) => {
            let seen = ExpressionValues::of(model, product, expr);
            Right { holds: !seen.is_false && !seen.has_no_value, violated: seen.is_false }
        }
        PropertyKind::Reachable(expr) => {
            let seen = ExpressionValues::of(model, product, expr);
            Right { holds: seen.is_true, violated: !seen.is_true && !seen.has_no_value }
        }
        PropertyKind::NoErrors => decided(product.n_faults() > 0),
        PropertyKind::DeadlockFree => decided(!product.deadlocks.is_empty()),
        PropertyKind::RaceFree(var) => decided(product.states.iter().any(|state| race(model, state, *var).is_some())),
        PropertyKind::Temporal(formula) => {
            let turns = turns.get_or_init(|| TurnGraph::new(model, &product.states));
            match turns.is_violated((model, &product.states), formula, &property.under) {
                Ok(Some(is_violated)) => decided(is_violated),
                Ok(None) => Right { holds: true, violated: true },
                // A run that never comes to the state without a value may violate it; that run is replayed.
                Err(_) => Right { holds: false, violated: true },
            }
        }
    }
}

/// What an expression is in the reachable states.
struct ExpressionValues {
    is_true: bool,
    is_false: bool,
    has_no_value: bool,
}

impl ExpressionValues {
    fn of(model: &Model, product: &Product, expr: &Expr) -> ExpressionValues {
        let mut seen = ExpressionValues { is_true: false, is_false: false, has_no_value: false };
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
