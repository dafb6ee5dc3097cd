//! Control: places, actions, loops, procedures.
//!
//! The text of a family or procedure is a graph. Its nodes are **places**, where a process can be between steps; its
//! edges are **actions**, guarded commands that are taken as one step. A `for` loop is kept as one copy of its body with a
//! counter; [`Next`] says how control moves through it. An `if` or `while` is two actions of one statement, with the test
//! and its negation as guards; an `either` is a place with the first actions of all branches.

use base::{Id, Span};

use crate::expr::{Access, Domain, Expr};
use crate::process::FamilyId;
use crate::types::ScalarType;
use crate::variable::VarId;

/// Whose text a place, action or loop belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TextOwner {
    /// The text of a family.
    Family(FamilyId),
    /// The text of a procedure.
    Procedure(ProcedureId),
}

/// A control location of a process between two steps, counters aside.
#[derive(Clone, Debug)]
pub struct Place {
    /// Whose text it is in.
    pub scope: TextOwner,
    /// The labels that are true here.
    pub labels: Vec<String>,
    /// What to show for it: its first label, or line and column.
    pub name: String,
    /// The actions that leave it, in the order of the text.
    pub actions: Vec<ActionId>,
    /// Whether a process may wait here for ever without being stuck.
    pub may_end: bool,
    /// The statement that follows it, or the closing brace.
    pub span: Span,
}

/// Names a place of any scope.
pub type PlaceId = Id<Place>;

/// A statement of the text; several actions may come from one (`if`, a first step of an `either` in two places).
#[derive(Clone, Debug)]
pub struct Statement {
    /// As the user wrote it, on one line, shortened for blocks: `acquire x`, `if level[i] > 0`.
    pub text: String,
    /// Its span in the text.
    pub span: Span,
}

/// Names a statement.
pub type StatementId = Id<Statement>;

/// A guarded command, taken as one step.
#[derive(Clone, Debug)]
pub struct Action {
    /// Whose text it is in.
    pub scope: TextOwner,
    /// The place that it leaves.
    pub source: PlaceId,
    /// The statement that it comes from.
    pub statement: StatementId,
    /// The labels that the step carries, for fairness by step and for display.
    pub labels: Vec<String>,
    /// Evaluated in the state before the step; `None` is true.
    pub guard: Option<Expr>,
    /// The rendezvous that it needs, if it does.
    pub sync: Option<Sync>,
    /// What is done in sequence; an `await` or `acquire` in it can still disable the step.
    pub body: Vec<Stmt>,
    /// What kind of step it is.
    pub kind: ActionKind,
    /// Where control goes.
    pub next: Next,
    /// Whether the process goes on with one of its enabled actions in the same step; where it has none, the step ends. Of a
    /// rendezvous the receiver goes on, if its action does; otherwise the sender, if its action does.
    pub goes_on: bool,
    /// Whether it is enabled only where no action without this mark is, of any process. It begins a step, and never goes on with one.
    pub when_nobody: bool,
}

impl Action {
    /// Whether it receives certain values only, or ignores one.
    pub fn has_patterns(&self) -> bool {
        match self.sync.as_ref().map(|sync| &sync.side) {
            Some(SyncSide::Receive(patterns)) => patterns.iter().any(|pattern| pattern.target().is_none()),
            Some(SyncSide::Send(_)) | None => false,
        }
    }
}

/// Names an action of any scope.
pub type ActionId = Id<Action>;

/// What kind of step an action is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ActionKind {
    /// An ordinary step.
    Plain,
    /// Leaving `idle`: the process may also stay for ever.
    Idle,
    /// Pushes a frame; `next` is where the caller goes when the call returns.
    Call {
        /// The procedure.
        procedure: ProcedureId,
        /// Evaluated and checked against the parameters' types at the call.
        arguments: Vec<Expr>,
        /// Where the result goes; evaluated in the return step, in the caller's frame.
        result: Option<Access>,
        /// Where the procedure's text is entered; `None`: at the procedure's own entry.
        entry: Option<Next>,
        /// The call by whose name the caller waits, where several calls of one text go on in the same way and so are one site;
        /// `None`: by its own. Both call the same procedure, from a text
        /// without loops, and have the same `result` and `next`.
        site: Option<ActionId>,
    },
    /// Pops the frame; `next` is not used.
    Return {
        /// The result; `None` in a procedure without one, or where it runs off its end.
        value: Option<Expr>,
    },
}

/// Where control goes after an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// To a place.
    To(PlaceId),
    /// Into a loop: its counter at the first value and to [`Loop::body`], or past it where there is none.
    Enter {
        /// The loop.
        enter: LoopId,
        /// What follows the loop.
        skip: Box<Next>,
    },
    /// At the end of a loop's body: the next value and back to [`Loop::body`], or on, where there is none; then the counter
    /// goes back to its type's first value.
    Again {
        /// The loop.
        again: LoopId,
        /// What follows the loop.
        done: Box<Next>,
    },
    /// Out of loops by `break` or `goto`: their counters go back to their types' first values.
    Leave {
        /// The loops.
        loops: Vec<LoopId>,
        /// Where to.
        then: Box<Next>,
    },
}

/// A `for` loop over places (not one inside `atomic`).
#[derive(Clone, Debug)]
pub struct Loop {
    /// Whose text it is in.
    pub scope: TextOwner,
    /// The hidden variable that counts.
    pub counter: VarId,
    /// The values that it takes, one after the other.
    pub domain: Domain,
    /// Where its body starts. Kept here and not in [`Next`], since a body that begins with a loop which may be empty
    /// leads back to itself without a place in between.
    pub body: Next,
    /// Its span in the text.
    pub span: Span,
}

/// Names a loop.
pub type LoopId = Id<Loop>;

/// A procedure, which any process may call.
#[derive(Clone, Debug)]
pub struct Procedure {
    /// The name.
    pub name: String,
    /// Parameters, then locals and loop counters, in layout order.
    pub vars: Vec<VarId>,
    /// How many of `vars` are parameters.
    pub n_parameters: usize,
    /// The type of the result, if there is one.
    pub result: Option<ScalarType>,
    /// Where control starts: a place, or into a loop.
    pub entry: Next,
    /// How many slots a frame has.
    pub n_slots: usize,
    /// What the user wrote about it (`///`).
    pub doc: String,
    /// Where it is declared.
    pub span: Span,
}

/// Names a procedure.
pub type ProcedureId = Id<Procedure>;

/// A channel on which two processes take a step together.
#[derive(Clone, Debug)]
pub struct Channel {
    /// The name.
    pub name: String,
    /// Where it is declared.
    pub span: Span,
}

/// Names a channel.
pub type ChannelId = Id<Channel>;

/// One side of a rendezvous. Both guards are evaluated in the old state, as are the values sent and then, one after another, what
/// receives them: the indices of cells and the values to be equal to. Where one differs there is no rendezvous. Then the values are
/// stored, then the receiver's body runs, then the sender's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sync {
    /// The channel.
    pub channel: ChannelId,
    /// Which side.
    pub side: SyncSide,
}

/// The side of a rendezvous, with one expression or cell for each value that is passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SyncSide {
    /// Sends these values.
    Send(Vec<Expr>),
    /// Receives them so.
    Receive(Vec<ReceivePattern>),
}

/// What a receiver does with one of the values that are passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReceivePattern {
    /// Stores it.
    Into(Access),
    /// Takes part only where it is equal to this, which the receiver evaluates.
    Equal(Expr),
    /// Nothing.
    Ignored,
}

impl ReceivePattern {
    /// The cell that it stores into.
    pub fn target(&self) -> Option<&Access> {
        match self {
            ReceivePattern::Into(access) => Some(access),
            ReceivePattern::Equal(_) | ReceivePattern::Ignored => None,
        }
    }
}

/// A statement within one step. Two statements are equal if they do the same, whatever their spans.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// What it is.
    pub kind: StmtKind,
    /// Its span in the text.
    pub span: Span,
}

impl PartialEq for Stmt {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind
    }
}

impl Eq for Stmt {}

/// The shapes of statements within one step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StmtKind {
    /// All indices and values first, then the stores.
    Assign(Vec<(Access, Expr)>),
    /// Any value of the cell's type, or of the range (both ends included).
    AssignAny(Access, Option<(Expr, Expr)>),
    /// A path on which it is false is no path.
    Await(Expr),
    /// A fault where it is false.
    Assert(Expr),
    /// Takes a lock, or a unit of a semaphore; a path on which there is none is no path.
    Acquire(Access),
    /// Gives it back.
    Release(Access),
    /// One of two blocks.
    If(Expr, Vec<Stmt>, Vec<Stmt>),
    /// Any of the blocks.
    Either(Vec<Vec<Stmt>>),
    /// The block for each value, one after the other.
    For(crate::expr::Binding, Vec<Stmt>),
}
