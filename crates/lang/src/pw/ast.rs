//! The syntax tree of a `.pw` program, as written: nothing is resolved, typed or evaluated.
//!
//! Every node has the span of its text; the span of a parenthesised expression includes its parentheses. What the
//! parser can say in simpler nodes it does say there: `shared a, b: bool;` is two declarations, `else if` is an `else`
//! block that holds one `if`, `if *` is an `either`, and `forall i in A, j in B: e` is two quantifiers. Names are plain
//! words: whether `P[i]` is a process or an array element, and whether `turn` is a variable or an enum value, is for
//! the checker to find out. State and temporal formulas share one expression grammar.

mod expression;
mod property;
mod statement;

pub use expression::*;
pub use property::*;
pub use statement::*;

use base::Span;
use model::variable::VariableLook;

/// A word that the user wrote as a name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ident {
    /// The word.
    pub name: String,
    /// Where it stands.
    pub span: Span,
}

/// The `///` lines before a declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doc {
    /// The lines without their slashes and the blank that follows these, joined by line ends.
    pub text: String,
    /// From the first line's slashes to the end of the last line.
    pub span: Span,
}

/// `program name(N: 2..) { … }`: a whole file.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// What the user says about it.
    pub doc: Option<Doc>,
    /// Its name.
    pub name: Ident,
    /// Its parameters, in the order of the text.
    pub parameters: Vec<Parameter>,
    /// Everything between the braces, in the order of the text.
    pub items: Vec<Item>,
    /// From `program` to the closing brace.
    pub span: Span,
}

/// `N: 2..`, `N: 2..=8` or `N: 2..<9`: a parameter of the program.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Its name.
    pub name: Ident,
    /// The least value, which it takes if the call gives none.
    pub least: Expr,
    /// How far it may go, if that is limited.
    pub limit: Option<Limit>,
    /// The value that it takes if the call gives none, where that is not the least one.
    pub default: Option<Expr>,
    /// The whole of it.
    pub span: Span,
}

/// Whether a range contains its upper end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RangeEnd {
    /// `..<`
    Excluded,
    /// `..=`
    Included,
}

/// The upper end of a parameter's range.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    /// Whether `value` itself is allowed.
    pub end: RangeEnd,
    /// The value.
    pub value: Expr,
}

/// `low..<high` or `low..=high`.
#[derive(Clone, Debug, PartialEq)]
pub struct Range {
    /// The first value.
    pub low: Expr,
    /// The value after the last one, or the last one.
    pub high: Expr,
    /// Which of the two `high` is.
    pub end: RangeEnd,
    /// The whole of it.
    pub span: Span,
}

/// What may stand in a program.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// `const K = 3;`
    Const(ConstDecl),
    /// `enum Vote { yes, no }`
    Enum(EnumDecl),
    /// `struct Msg { kind: Kind, from: pid }`
    Struct(StructDecl),
    /// `type Level = 0..<N;`
    Alias(AliasDecl),
    /// `chan c: [2] of (Kind, pid);`
    Channel(ChannelDecl),
    /// `define busy(k) = …;`
    Define(DefineDecl),
    /// `shared x: bool;`, with class [`StorageClass::Shared`]
    Variable(VariableDecl),
    /// `process P[i in 0..<N] { … }`
    Process(ProcessDecl),
    /// `proc f(a: bool) { … }`
    Procedure(ProcedureDecl),
    /// `invariant`, `property`, `reachable`, `race_free`, `no_errors`, `deadlock_free`
    Property(PropertyDecl),
    /// `fairness name { … }`
    Fairness(FairnessDecl),
    /// `hint expose P[*]@crit;`
    Hint(HintDecl),
    /// `allow deadlock;`
    AllowDeadlock(Span),
    /// `check sizes N in {2, 5};`
    Sizes(SizesDecl),
    /// `initially forall i != j: id[i] != id[j];`
    Initially(Expr),
}

/// `check sizes N in {2, 5};`: the values of a parameter that are checked where the call gives none.
#[derive(Clone, Debug, PartialEq)]
pub struct SizesDecl {
    /// The parameter.
    pub parameter: Ident,
    /// The values, or the ends of a range of values.
    pub values: Members,
    /// The whole of it.
    pub span: Span,
}

/// `const K = 3;` or `const K: 0..=7 = 3;`
#[derive(Clone, Debug, PartialEq)]
pub struct ConstDecl {
    /// What the user says about it.
    pub doc: Option<Doc>,
    /// Its name.
    pub name: Ident,
    /// Its type, if it is written.
    pub ty: Option<Type>,
    /// Its value.
    pub value: Expr,
    /// The whole of it.
    pub span: Span,
}

/// `enum Vote { yes, no }`
#[derive(Clone, Debug, PartialEq)]
pub struct EnumDecl {
    /// What the user says about it.
    pub doc: Option<Doc>,
    /// Its name.
    pub name: Ident,
    /// Its values; `none` may be one. May be empty, which the checker refuses.
    pub values: Vec<Ident>,
    /// The whole of it.
    pub span: Span,
}

/// `struct Msg { kind: Kind, from: pid }`
#[derive(Clone, Debug, PartialEq)]
pub struct StructDecl {
    /// What the user says about it.
    pub doc: Option<Doc>,
    /// Its name.
    pub name: Ident,
    /// Its fields, in the order of the text.
    pub fields: Vec<ProcedureParameter>,
    /// The whole of it.
    pub span: Span,
}

/// `type Level = 0..<N;`
#[derive(Clone, Debug, PartialEq)]
pub struct AliasDecl {
    /// What the user says about it.
    pub doc: Option<Doc>,
    /// Its name.
    pub name: Ident,
    /// What it stands for.
    pub ty: Type,
    /// The whole of it.
    pub span: Span,
}

/// `chan c: [2] of (Kind, pid);`, `chan c[N]: lossy [1] of (bool);`
#[derive(Clone, Debug, PartialEq)]
pub struct ChannelDecl {
    /// What the user says about it.
    pub doc: Option<Doc>,
    /// Its name.
    pub name: Ident,
    /// The lengths of an array of channels.
    pub lengths: Vec<Expr>,
    /// What may happen to messages.
    pub kind: ChannelKind,
    /// How many messages it holds; none for a rendezvous.
    pub capacity: Expr,
    /// The types of the parts of a message.
    pub parts: Vec<Type>,
    /// The whole of it.
    pub span: Span,
}

/// What may happen to messages on their way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelKind {
    /// They arrive in the order in which they were sent.
    Ordered,
    /// `lossy`: each may be lost; a message for a full channel is.
    Lossy,
    /// `unordered`: any of them may arrive next.
    Unordered,
}

/// `define name = e;` or `define name(x, y) = e;`
#[derive(Clone, Debug, PartialEq)]
pub struct DefineDecl {
    /// What the user says about it.
    pub doc: Option<Doc>,
    /// Its name.
    pub name: Ident,
    /// Its parameters; empty for both `define name = e;` and `define name() = e;`.
    pub parameters: Vec<Ident>,
    /// What it stands for.
    pub body: Expr,
    /// The whole of it.
    pub span: Span,
}

/// Who reads and who writes a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StorageClass {
    /// All read, all write.
    Shared,
    /// All read, its process writes.
    Public,
    /// Its process or procedure reads and writes.
    Local,
}

/// `shared x: sem = 1;`: one variable of any storage class.
#[derive(Clone, Debug, PartialEq)]
pub struct VariableDecl {
    /// What the user says about it.
    pub doc: Option<Doc>,
    /// The word that it is declared with.
    pub class: StorageClass,
    /// Its name.
    pub name: Ident,
    /// Its type.
    pub ty: Type,
    /// Its initial value, if it is written.
    pub initial: Option<Assigned>,
    /// How it is shown; what is written is plain, what elaboration makes of sets and channels is not.
    pub look: VariableLook,
    /// Of a field of structs in arrays: see [`model::variable::Var::indices_after`].
    pub indices_after: Vec<usize>,
    /// The whole of the declaration.
    pub span: Span,
}

/// What is stored: by an assignment, or at the start.
#[derive(Clone, Debug, PartialEq)]
pub enum Assigned {
    /// The value of an expression.
    Value(Expr),
    /// The first value of the type. Not written: the slots of a channel that hold no message have it.
    First(Span),
    /// `any`, or `any 0..=3`: any value of the type, or of the range.
    Any {
        /// The range, if it is written.
        range: Option<Range>,
        /// From `any` to the end of the range.
        span: Span,
    },
}

/// A type as written.
#[derive(Clone, Debug, PartialEq)]
pub struct Type {
    /// Which one.
    pub kind: TypeKind,
    /// Where it stands.
    pub span: Span,
}

/// The kinds of types.
#[derive(Clone, Debug, PartialEq)]
pub enum TypeKind {
    /// `bool`
    Bool,
    /// `0..<N`, `0..=7`
    Range(Box<Range>),
    /// The name of an enum.
    Named(Ident),
    /// `pid`, `pid(P)`, `pid?`, `pid(P)?`
    Pid {
        /// The family, if it is written.
        family: Option<Ident>,
        /// Whether `none` is a value, too.
        optional: bool,
    },
    /// `sem`, `sem(k)`
    Sem {
        /// The greatest value, if it is written; else it is 1.
        bound: Option<Box<Expr>>,
    },
    /// `lock`
    Lock,
    /// `set of T`
    Set(Box<Type>),
    /// `[T; n]`
    Array {
        /// The type of the elements.
        element: Box<Type>,
        /// How many there are.
        length: Box<Expr>,
    },
}

/// `process P[i in 0..<N] { … }` or `process Monitor { … }`
#[derive(Clone, Debug, PartialEq)]
pub struct ProcessDecl {
    /// What the user says about it.
    pub doc: Option<Doc>,
    /// Its name.
    pub name: Ident,
    /// The index of a family; a single process has none.
    pub index: Option<ProcessIndex>,
    /// Its `public` and `local` variables. They may stand anywhere between its outermost statements; all start with it.
    pub variables: Vec<VariableDecl>,
    /// Its statements.
    pub body: Block,
    /// The whole of it.
    pub span: Span,
}

/// `i in 0..<N`: the index of a process family.
#[derive(Clone, Debug, PartialEq)]
pub struct ProcessIndex {
    /// Its name.
    pub name: Ident,
    /// Its values.
    pub range: Range,
}

/// `proc f(a: bool) -> 0..=3 { … }`
#[derive(Clone, Debug, PartialEq)]
pub struct ProcedureDecl {
    /// What the user says about it.
    pub doc: Option<Doc>,
    /// Its name.
    pub name: Ident,
    /// Its parameters.
    pub parameters: Vec<ProcedureParameter>,
    /// The type of its result, if it has one.
    pub result: Option<Type>,
    /// Its `local` variables.
    pub variables: Vec<VariableDecl>,
    /// Its statements.
    pub body: Block,
    /// The whole of it.
    pub span: Span,
}

/// `a: bool`: a parameter of a procedure.
#[derive(Clone, Debug, PartialEq)]
pub struct ProcedureParameter {
    /// Its name.
    pub name: Ident,
    /// Its type.
    pub ty: Type,
}
