//! Codes of the front-end of DVE: syntax (06), names, values and limits (07).

use super::{Code, dve_row};

/// Something else was expected here.
pub const UNEXPECTED: &str = "E0601";
/// A brace, bracket, parenthesis or comment has no end.
pub const UNCLOSED: &str = "E0602";
/// A character that means nothing here.
pub const UNKNOWN_CHARACTER: &str = "E0603";
/// A number that cannot be read.
pub const BAD_NUMBER: &str = "E0604";
/// A keyword where a name stands.
pub const RESERVED_WORD: &str = "E0605";
/// An expression that is too deep.
pub const TOO_DEEP: &str = "E0606";
/// No `system` line, or two.
pub const NO_SYSTEM: &str = "E0607";
/// The first transition without its source.
pub const NO_SOURCE: &str = "E0608";
/// `guard`, `sync` and `effect` in the wrong order.
pub const PART_ORDER: &str = "E0609";
/// A name is declared twice.
pub const DECLARED_TWICE: &str = "E0701";
/// A name that nothing declares.
pub const UNKNOWN_NAME: &str = "E0702";
/// Something that is no value stands where a value is needed.
pub const NO_VALUE: &str = "E0703";
/// Something that cannot be assigned.
pub const NOT_ASSIGNABLE: &str = "E0704";
/// An array, a buffer or a state that is too large, or an array without elements.
pub const BAD_SIZE: &str = "E0705";
/// A constant or initial value that cannot be computed, or that its variable cannot have.
pub const BAD_CONSTANT: &str = "E0706";
/// A channel used with different numbers of values.
pub const WRONG_ARITY: &str = "E0707";
/// `sync` on something else than a channel.
pub const NOT_A_CHANNEL: &str = "E0708";
/// A variable of another process read by a process.
pub const FOREIGN_VARIABLE: &str = "E0709";
/// A process without an initial location, or with two.
pub const NO_INIT: &str = "E0710";
/// A file without processes.
pub const NO_PROCESS: &str = "E0711";
/// A part of DVE that is not read.
pub const NOT_SUPPORTED: &str = "E0712";
/// Operators whose order is read differently by DIVINE's grammar and by its manual.
pub const MIXED_OPERATORS: &str = "W0601";
/// More initial values than elements.
pub const SURPLUS_VALUES: &str = "W0701";
/// A variable of a process that hides something outside.
pub const HIDDEN_NAME: &str = "W0702";
/// An array where one of its elements is meant.
pub const WHOLE_ARRAY: &str = "W0703";

/// The rows of this stage.
pub const CODES: &[Code] = &[
    dve_row!(
        "E0601",
        "something else was expected",
        "A DVE file has variables and channels, then processes, then one `system` line. A process has variables, `state`, \
         `init`, and then `commit`, `accept`, `assert` and `trans`."
    ),
    dve_row!(
        "E0602",
        "a bracket or comment without its end",
        "Every `(`, `[`, `{` and `/*` has its partner. Comments do not nest, as in C."
    ),
    dve_row!("E0603", "a character that means nothing", "DVE is written in ASCII letters, digits and a few signs."),
    dve_row!("E0604", "a number that cannot be read", "Numbers are decimal digits and have at most 31 bits."),
    dve_row!(
        "E0605",
        "a keyword where a name stands",
        "Words such as `state`, `trans` and `effect` have a meaning in DVE and name nothing."
    ),
    dve_row!(
        "E0606",
        "an expression that is too deep",
        "An expression may be nested two hundred deep and have five hundred operators in a row."
    ),
    dve_row!(
        "E0607",
        "not exactly one `system` line",
        "The last line of a file says how its processes move: `system async;`, or `system async property P;` with the \
         process that checks the others."
    ),
    dve_row!(
        "E0608",
        "the first transition without its source",
        "`-> b {…}` takes its source from the transition before it, and the first one has none before it."
    ),
    dve_row!(
        "E0609",
        "parts of a transition in the wrong order",
        "A transition has at most one `guard`, then at most one `sync`, then at most one `effect`. Several assignments of \
         one `effect` are separated by commas."
    ),
    dve_row!(
        "E0701",
        "a name that is declared twice",
        "Variables, channels and processes of a file have different names, and so have the variables of a process, and its \
         locations. Two processes may use the same names."
    ),
    dve_row!("E0702", "a name that nothing declares", "The name is not declared here; often it is mistyped."),
    dve_row!(
        "E0703",
        "something that is no value",
        "A variable that is no array has no index, and locations, processes and channels are no \
         values. Whether process `P` stands at `l` is written `P.l`."
    ),
    dve_row!("E0704", "something that cannot be assigned", "Only variables can be assigned and receive values."),
    dve_row!(
        "E0705",
        "a size that cannot be",
        "An array has at least one element, and every state holds all of them. A million cells are too many to explore \
         anything; a buffer has at most a thousand messages."
    ),
    dve_row!(
        "E0706",
        "an initial value or constant that cannot be",
        "Initial values and sizes are computed before the first step, from numbers, constants, and what was declared \
         before. A `byte` is 0 to 255, an `int` -32768 to 32767."
    ),
    dve_row!(
        "E0707",
        "a channel with different numbers of values",
        "Every message of a channel has the same number of values; for a typed channel its declaration says how many."
    ),
    dve_row!("E0708", "`sync` on something that is no channel", "Processes send and receive on channels only."),
    dve_row!(
        "E0709",
        "a variable of another process",
        "`P->x` is for the property process and for goals. What processes share is declared outside of them."
    ),
    dve_row!("E0710", "not exactly one initial location", "Every process says by `init` where it starts."),
    dve_row!("E0711", "a file without processes", "Besides the property process there must be one that moves."),
    dve_row!(
        "E0712",
        "a part of DVE that is not read",
        "Systems in which all processes move at once (`system sync`), acceptance other than Büchi's, and property processes \
         with variables, effects or channels are not read."
    ),
    dve_row!(
        "W0601",
        "operators that are read differently",
        "DIVINE's grammar has `||` and `&&` on one level, and `|`, `&` and `^` on another, from left to right; its manual \
         has them as C does, and so has Piecewise. Where it makes a difference, write parentheses."
    ),
    dve_row!(
        "W0701",
        "more initial values than elements",
        "The values that have no element are dropped, as DIVINE does. Elements without a value start with 0."
    ),
    dve_row!(
        "W0702",
        "a name that hides another one",
        "A variable of a process has the name of something outside of it, which cannot be reached by that name inside."
    ),
    dve_row!(
        "W0703",
        "an array without an index",
        "An array stands where a number is meant. DIVINE takes its first element, and so does Piecewise; some of the BEEM \
         models are written so."
    ),
];
