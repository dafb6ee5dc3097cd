//! What a computation meets where nothing is known of a state but one process: data, and questions about the rest.
//!
//! In: nothing. Out: [`Datum`], a value or a process by its role in a step, and [`Unknown`], what may be asked about the state. A computation that
//! comes to something unknown stops and asks ([`Need`]); it is started again once for each answer, so that one way through it is a list of
//! answers, which are the conditions of that way.

use base::Span;
use model::control::PlaceId;
use model::value::Value;

/// A value, or a process of the family by its role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Datum {
    /// A value that names no process of the family.
    Value(Value),
    /// A place.
    Place(PlaceId),
    /// The process that moves.
    Me,
    /// A process that a quantifier binds, another one than `Me` and than every other bound one; or, where a process of the family moves, number 0: the
    /// one that a loop over the family takes now, another one than `Me`, which a quantifier may bind, too.
    Bound(u8),
    /// The process that this shared column names: another one than `Me`.
    Stranger(usize),
    /// Another process than `Me`; nothing else is known.
    Another,
    /// A process; nothing else is known.
    Someone,
}

impl Datum {
    /// Whether it is a process of the family.
    pub fn is_process(self) -> bool {
        !matches!(self, Datum::Value(_) | Datum::Place(_))
    }

    /// A truth value.
    pub fn truth(truth: bool) -> Datum {
        Datum::Value(Value::Bool(truth))
    }

    /// A number.
    pub fn int(number: i64) -> Datum {
        Datum::Value(Value::Int(number))
    }
}

/// What may be asked about a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Unknown {
    /// What a shared column holds before the step.
    Shared(usize),
    /// What a column of a bound process holds.
    Column(u8, usize),
    /// Whom the loop over the family takes now: `Me` or another one.
    Target,
    /// Which of the bound processes a shared column names.
    Who(usize),
    /// The truth of a quantifier, by its turn in the computation.
    Quantified(u32),
    /// Anything else, by its turn at this depth of quantifiers.
    Guess(u8, u32),
}

/// For columns of a process what they hold, all of them together.
pub type Conjunction = Vec<(usize, Datum)>;

/// What an answer about a quantifier says.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum QuantifierFact {
    /// Every other process satisfies one of these.
    All(Vec<Conjunction>),
    /// Some processes show one of these.
    Some(Vec<Witnesses>),
}

/// Processes that show the value of a quantifier.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Witnesses {
    /// Different processes, each with what is known of it.
    pub processes: Vec<Conjunction>,
    /// For shared columns the process among these that it names, or none of these.
    pub names: Vec<(usize, Option<u8>)>,
}

/// A possible answer.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The answer.
    pub datum: Datum,
    /// What it says besides.
    pub told: Option<QuantifierFact>,
}

impl From<Datum> for Choice {
    fn from(datum: Datum) -> Choice {
        Choice { datum, told: None }
    }
}

/// A question with all its answers.
#[derive(Clone, Debug)]
pub struct Need {
    /// What is asked.
    pub unknown: Unknown,
    /// The answers.
    pub choices: Vec<Choice>,
}

/// Why a computation does not come to its end.
#[derive(Clone, Debug)]
pub enum Stop {
    /// It has to know something.
    Need(Box<Need>),
    /// It is a fault of the program.
    Fault,
    /// It cannot be done here.
    Blocked,
    /// It does what interchangeable processes do not do, or what is not followed here.
    Outside(Span),
}

/// The answers so far.
pub type Answers = Vec<(Unknown, Datum)>;
