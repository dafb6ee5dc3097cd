//! Codes of the checker: names and types (02), control (03), properties (04), parameters and limits (05).

use super::Code;

/// A name is declared twice.
pub const DECLARED_TWICE: &str = "E0201";
/// A name that nothing declares.
pub const UNKNOWN_NAME: &str = "E0202";
/// A value of the wrong type.
pub const WRONG_TYPE: &str = "E0203";
/// A number variable where a process id is stored.
pub const NUMBER_FOR_PID: &str = "E0204";
/// Two values that cannot be compared.
pub const INCOMPARABLE: &str = "E0205";
/// A value that several enumerations have.
pub const AMBIGUOUS_VALUE: &str = "E0206";
/// Something that is no value stands where a value is needed.
pub const NO_VALUE: &str = "E0207";
/// An index on something that has none.
pub const NOT_INDEXED: &str = "E0208";
/// A field that does not exist.
pub const UNKNOWN_FIELD: &str = "E0209";
/// A constant is needed.
pub const NOT_CONSTANT: &str = "E0210";
/// A family needs an index, a single process has none.
pub const WHICH_PROCESS: &str = "E0211";
/// A process that does not exist.
pub const NO_SUCH_PROCESS: &str = "E0212";
/// A definition with the wrong number of arguments.
pub const DEFINE_ARGUMENTS: &str = "E0213";
/// A definition or constant that is defined by itself.
pub const DEFINED_BY_ITSELF: &str = "E0214";
/// A quantifier that does not say what it ranges over.
pub const WHICH_DOMAIN: &str = "E0215";
/// A range whose bounds change as the program runs.
pub const MOVING_BOUND: &str = "E0216";
/// Something that cannot be assigned.
pub const NOT_ASSIGNABLE: &str = "E0217";
/// A whole array where an element is needed.
pub const WHOLE_ARRAY: &str = "E0218";
/// An initial value that its variable cannot have.
pub const BAD_INITIAL_VALUE: &str = "E0219";
/// An enumeration without values.
pub const EMPTY_ENUM: &str = "E0220";
/// A type that does not exist.
pub const UNKNOWN_TYPE: &str = "E0221";
/// `pid` without saying of which family.
pub const WHICH_PID: &str = "E0222";
/// A parameter or result that cannot be passed.
pub const NOT_PASSED: &str = "E0223";
/// `any` beside values that depend on it.
pub const TANGLED_ANY: &str = "E0224";
/// A public variable written by another process.
pub const FOREIGN_PUBLIC_WRITTEN: &str = "E0230";
/// A local variable read by another process.
pub const FOREIGN_LOCAL_READ: &str = "E0231";
/// A place of another process tested in program text.
pub const FOREIGN_PLACE_READ: &str = "E0232";
/// A lock or semaphore assigned.
pub const LOCK_ASSIGNED: &str = "E0233";
/// `acquire` or `release` of something else.
pub const NOT_A_LOCK: &str = "E0234";
/// `@label` where no process stands.
pub const PLACE_OF_NOBODY: &str = "E0235";
/// A variable of a process without saying whose.
pub const WHOSE_VARIABLE: &str = "E0236";
/// A lock used as a value.
pub const LOCK_READ: &str = "E0237";
/// A procedure that uses a variable which a caller does not have.
pub const CALLER_WITHOUT_VARIABLE: &str = "E0238";
/// A label that stands twice in one text.
pub const LABEL_TWICE: &str = "E0301";
/// `goto` to a label that does not exist.
pub const UNKNOWN_GOTO: &str = "E0302";
/// `break` or `continue` outside any loop.
pub const OUTSIDE_LOOP: &str = "E0304";
/// `return` outside any procedure.
pub const OUTSIDE_PROCEDURE: &str = "E0305";
/// `goto` into a `for`.
pub const INTO_FOR: &str = "E0306";
/// A loop that may never take a step.
pub const STEPLESS_LOOP: &str = "E0307";
/// A statement that cannot stand inside `atomic`.
pub const NOT_IN_ATOMIC: &str = "E0308";
/// A call of a procedure that does not exist.
pub const UNKNOWN_PROCEDURE: &str = "E0309";
/// A call or `return` that does not fit its procedure.
pub const CALL_MISMATCH: &str = "E0310";
/// A label that the process does not have.
pub const UNKNOWN_LABEL: &str = "E0311";
/// A temporal operator where only the present state counts.
pub const MISPLACED_TEMPORAL: &str = "E0401";
/// A fairness set that does not exist.
pub const UNKNOWN_FAIRNESS: &str = "E0402";
/// A fairness set that contains itself.
pub const FAIRNESS_IN_ITSELF: &str = "E0403";
/// `race_free` of something that it does not apply to.
pub const NOT_RACED: &str = "E0404";
/// Two properties of one name.
pub const PROPERTY_TWICE: &str = "E0405";
/// A hint about no process.
pub const EMPTY_HINT: &str = "E0406";
/// A parameter outside its range.
pub const PARAMETER_RANGE: &str = "E0501";
/// A value for a parameter that does not exist.
pub const UNKNOWN_PARAMETER: &str = "E0502";
/// A range that is empty or too large.
pub const BAD_RANGE: &str = "E0503";
/// An array without elements, or with too many.
pub const BAD_ARRAY_LENGTH: &str = "E0504";
/// A family without processes, or with too many.
pub const BAD_FAMILY_SIZE: &str = "E0505";
/// A state that is too large.
pub const TOO_MANY_CELLS: &str = "E0506";
/// An expression that is too deep or too large.
pub const EXPRESSION_TOO_LARGE: &str = "E0507";
/// Too many copies.
pub const TOO_MANY_COPIES: &str = "E0508";
/// A file in a language that is not read.
pub const UNKNOWN_LANGUAGE: &str = "E0509";
/// A name that hides another one.
pub const HIDDEN_NAME: &str = "W0201";
/// A statement that is never reached.
pub const UNREACHED: &str = "W0301";
/// A procedure that may end without its result.
pub const MISSING_RETURN: &str = "W0302";
/// A `for` without statements.
pub const EMPTY_FOR: &str = "W0303";

/// The rows, in the order of their numbers.
pub static CODES: &[Code] = &[];
