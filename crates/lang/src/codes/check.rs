//! Codes of the checker: names and types (02), control (03), properties (04), parameters and limits (05).

use super::{Code, row};

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
pub const OUTSIDE_LOOP: &str = "E0303";
/// `return` outside any procedure.
pub const OUTSIDE_PROCEDURE: &str = "E0304";
/// `goto` into a `for`.
pub const INTO_FOR: &str = "E0305";
/// A loop that may never take a step.
pub const STEPLESS_LOOP: &str = "E0306";
/// A statement that cannot stand inside `atomic`.
pub const NOT_IN_ATOMIC: &str = "E0307";
/// A call of a procedure that does not exist.
pub const UNKNOWN_PROCEDURE: &str = "E0308";
/// A call or `return` that does not fit its procedure.
pub const CALL_MISMATCH: &str = "E0309";
/// A label that the process does not have.
pub const UNKNOWN_LABEL: &str = "E0310";
/// A struct where one value is needed, or values that do not fit its fields.
pub const BAD_STRUCT: &str = "E0311";
/// A set of something that has no sets, or something else where a set is needed.
pub const BAD_SET: &str = "E0312";
/// A channel that is not declared.
pub const NO_CHANNEL: &str = "E0313";
/// A message that does not fit its channel.
pub const BAD_MESSAGE: &str = "E0314";
/// An `else` of a choice whose other branches do not say when they can begin.
pub const BAD_ELSE: &str = "E0315";
/// A `let` whose value changes, or outside `atomic`.
pub const BAD_LET: &str = "E0316";
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
/// Something that is declared and not used, only stored, or never stored.
pub const UNUSED: &str = "W0202";
/// A statement that is never reached.
pub const UNREACHED: &str = "W0301";
/// A procedure that may end without its result.
pub const MISSING_RETURN: &str = "W0302";
/// A `for` without statements.
pub const EMPTY_FOR: &str = "W0303";

/// The rows, in the order of their numbers.
pub static CODES: &[Code] = &[
    row!(
        "E0201",
        "a name is declared twice",
        "Parameters, constants, enumerations and their values, definitions, shared variables, processes and \
         procedures of a program have different names, and so have the variables of one process or procedure. Two \
         enumerations may share a value; a variable of a process may have the name of something further out, which \
         it then hides."
    ),
    row!(
        "E0202",
        "a name that nothing declares",
        "The name is neither declared in this process or procedure nor in the program, and no enumeration has it. \
         If one that is declared is spelled nearly the same, it is suggested. Labels are no values: where a process \
         stands is asked with `@`."
    ),
    row!(
        "E0203",
        "a value of the wrong type",
        "Truth values, numbers, values of enumerations and processes are different things and never stand for each \
         other; only a process is also a number (its index) where a number is needed. A condition is a truth value: \
         a number is compared with something first."
    ),
    row!(
        "E0204",
        "a number variable where a process id is stored",
        "A variable of type `pid` holds a process. A number variable whose type has other values, too, may be a \
         slip of the pen; if every value that it can have here is an index of the family, say so with `as pid`, \
         which the step checks. Arithmetic such as `(i + 1) % N` is taken as it is, and checked likewise."
    ),
    row!(
        "E0205",
        "two values that cannot be compared",
        "Both sides of `==` and `!=` are of one type. A process is compared with a process of the same family, with \
         `none`, or with a number, which then means the process with that index."
    ),
    row!(
        "E0206",
        "a value that several enumerations have",
        "Values of enumerations are known in the whole program. Where two enumerations have a value of one name, \
         the type of what it is compared with or assigned to decides which is meant. Where nothing decides, write \
         the enumeration before it."
    ),
    row!(
        "E0207",
        "something that is no value stands where a value is needed",
        "The name of an enumeration or of a procedure is no value, an array by its elements stands only as an \
         initial value, and `P[*]` only in hints, fairness and `race_free`."
    ),
    row!(
        "E0208",
        "an index on something that has none",
        "Arrays have one index for each dimension, process families have one, and nothing else has any."
    ),
    row!(
        "E0209",
        "a field that does not exist",
        "After a dot stands a variable of the process before it, the `owner` of a lock, or a value of the \
         enumeration before it."
    ),
    row!(
        "E0210",
        "a constant is needed",
        "Sizes, bounds of types, parameters and initial values are known before the program runs: they are made of \
         numbers, parameters and constants; initial values of a process's variables also of its own index. A \
         constant that has no value (a division by zero, a number beyond 64 bits) is refused, too."
    ),
    row!(
        "E0211",
        "a family needs an index, a single process has none",
        "`process P[i in 0..<N]` declares a family: its processes are `P[0]`, `P[1]` and so on, and all of them \
         together are `P[*]` in fairness assumptions. `process Monitor` declares one process, which is named \
         without an index."
    ),
    row!(
        "E0212",
        "a process that does not exist",
        "The index lies outside the family's range in this instance. A property that names processes by constants \
         holds only for instances that have them: give the parameter a least value that fits."
    ),
    row!(
        "E0213",
        "a definition with the wrong number of arguments",
        "A definition is used with one argument for each of its parameters, and without parentheses if it has none."
    ),
    row!(
        "E0214",
        "a definition or constant that is defined by itself",
        "A definition is an abbreviation: it is written out wherever it is used, so it cannot use itself, neither \
         directly nor through others. What is recursive is a procedure."
    ),
    row!(
        "E0215",
        "a quantifier that does not say what it ranges over",
        "Without `in`, a quantifier ranges over the program's one process family. Where there are several, or none, \
         say what is meant: `in P`, or a range, or an enumeration."
    ),
    row!(
        "E0216",
        "a range whose bounds change as the program runs",
        "The bounds of `for` and of quantifiers are made of constants, the process's own index, and the variables \
         of loops and quantifiers around. Let the range cover all values that are possible, and test inside which \
         of them are meant; for a loop that runs as long as the state says, there is `while`."
    ),
    row!(
        "E0217",
        "something that cannot be assigned",
        "Only variables are assigned. The index of a process, the variable of a `for`, parameters of the program \
         and constants keep their values; and one step does not assign a variable twice."
    ),
    row!(
        "E0218",
        "a whole array where an element is needed",
        "Values are scalar: an array is read and written element by element. To set all elements in one step, write \
         `atomic { for k in 0..<N { a[k] = …; } }`; to compare all, use `forall`. Only an initial value fills a \
         whole array."
    ),
    row!(
        "E0219",
        "an initial value that its variable cannot have",
        "An initial value belongs to the variable's type, and an array by its elements has as many as the array. `= \
         any` starts a variable anywhere in its type."
    ),
    row!(
        "E0220",
        "an enumeration without values",
        "A variable of the type would have no value. Write at least one name in the braces."
    ),
    row!(
        "E0221",
        "a type that does not exist",
        "Types are `bool`, ranges such as `0..=7` and `0..<N`, the program's enumerations, `pid` and `pid?`, `sem`, \
         `sem(k)`, `lock`, and arrays `[T; n]`. All types are finite: there is no `int`; give the range that the \
         variable really needs."
    ),
    row!(
        "E0222",
        "`pid` without saying of which family",
        "`pid` is an index of the program's one process family. Where there are several, write `pid(P)`; where \
         there is none, use a range."
    ),
    row!(
        "E0223",
        "a parameter or result that cannot be passed",
        "Parameters and results are single values that are copied. A lock is not copied, and neither is an array: \
         pass an index into a shared array of them."
    ),
    row!(
        "E0224",
        "`any` beside values that depend on it",
        "A simultaneous assignment computes all indices and values first. With `any` among the values and indices \
         that read what the others write, that order cannot be kept; say in an `atomic` block what happens first."
    ),
    row!(
        "E0230",
        "a public variable written by another process",
        "All processes read a `public` variable, and only its own process writes it: that is what makes it cheap in \
         proofs. A variable that several processes write is `shared`."
    ),
    row!(
        "E0231",
        "a local variable read by another process",
        "A `local` variable is seen by its own process only; properties, fairness and hints may speak of it. A \
         variable that others read in their program text is `public` (they still cannot write it)."
    ),
    row!(
        "E0232",
        "a place of another process tested in program text",
        "Where another process stands is not visible to a process; properties may speak of all places. Let the \
         other process tell by a `public` variable."
    ),
    row!(
        "E0233",
        "a lock or semaphore assigned",
        "Locks and semaphores change by `acquire` and `release` only, so that who holds them is always known."
    ),
    row!(
        "E0234",
        "`acquire` or `release` of something else",
        "Only variables of type `lock`, `sem` and `sem(k)`, or elements of arrays of them, are acquired and \
         released."
    ),
    row!(
        "E0235",
        "`@label` where no process stands",
        "`@crit` alone speaks of the process in whose text it stands. In a property say which process is meant: \
         `P[i]@crit`."
    ),
    row!(
        "E0236",
        "a variable of a process without saying whose",
        "Each process has its own copy of the variables that are declared in it. Outside its text, say whose copy \
         is meant: `P[i].level`."
    ),
    row!(
        "E0237",
        "a lock used as a value",
        "A lock is free or held by a process; `m.owner` tells which: `none`, or the holder. A semaphore reads as a \
         number."
    ),
    row!(
        "E0238",
        "a procedure that uses a variable which a caller does not have",
        "A procedure may use a public variable by its bare name if only processes that have it call the procedure: \
         it then means the caller's own. Otherwise pass what is needed as an argument."
    ),
    row!(
        "E0301",
        "a label that stands twice in one text",
        "In the text of a process or procedure a label names one place. Different processes and procedures may use \
         the same labels; a process that has called a procedure stands at the labels of the procedure."
    ),
    row!("E0302", "`goto` to a label that does not exist", "`goto` leads to a label of the same process or procedure."),
    row!(
        "E0303",
        "`break` or `continue` outside any loop",
        "`break` leaves the innermost `loop`, `while` or `for` around it, and `continue` goes on with its next \
         round. Outside a loop there is `goto`."
    ),
    row!("E0304", "`return` outside any procedure", "Only a procedure returns. A process ends by running off its end."),
    row!(
        "E0305",
        "`goto` into a `for`",
        "Inside a `for` its variable has a value; coming from outside it would have none. Go to a label on the \
         `for` itself, which starts it anew, or write a `while` with a counter of your own."
    ),
    row!(
        "E0306",
        "a loop that may never take a step",
        "`loop`, `for`, `goto`, `break` and `continue` take no step of their own. A circle made of them alone would \
         never end and never do anything. Put a step into it: `skip`, an `await`, or what the loop is there for."
    ),
    row!(
        "E0307",
        "a statement that cannot stand inside `atomic`",
        "`atomic` is one step. It may hold assignments, `await`, `assert`, `acquire`, `release`, `if`, `either`, \
         `for` and `atomic`, and outside of its `for`s jumps, with which the step ends; not labels, calls, `idle`, or loops that might not end."
    ),
    row!(
        "E0308",
        "a call of a procedure that does not exist",
        "`call f(…)` calls a procedure that the program declares with `proc f(…)`. A definition is no procedure: it \
         is used in expressions, without `call`."
    ),
    row!(
        "E0309",
        "a call or `return` that does not fit its procedure",
        "A call has one argument for each parameter; `x = call f()` needs a procedure with a result, declared by \
         `-> T`; in such a procedure every `return` gives a value, and in others none does."
    ),
    row!(
        "E0310",
        "a label that the process does not have",
        "After `@` stands a label in the text of that process, or in a procedure that it may have called."
    ),
    row!(
        "E0311",
        "a struct that does not fit",
        "A struct is a bundle of variables, one for each field. It is assigned, sent and compared as a whole, made from \
         one value for each field in order (`Msg(ack, i)`), and otherwise used field by field. It cannot hold itself."
    ),
    row!(
        "E0312",
        "something else where a set is needed, or a set of what has none",
        "A set has its elements among the processes of a family (`set of pid`) or among numbers from 0 on (`set of 0..<N`). \
         `k in s` asks, `insert s(k);` and `remove s(k);` change it, `s = {};` empties it, `size(s)` counts."
    ),
    row!(
        "E0313",
        "a channel that is not declared",
        "`send`, `receive` and `peek` name a channel that the program declares: `chan c: [2] of (bool, pid);`."
    ),
    row!(
        "E0314",
        "a message that does not fit its channel",
        "A message has as many parts as its channel says, each a single value. A receiver gives each part a place: a \
         variable that takes it, `= e` if it must be equal to something, or `_`. A channel without a buffer (`[0]`) holds nothing."
    ),
    row!(
        "E0315",
        "an `else` that does not know when it happens",
        "`either { … } or { … } else { … }` takes the last branch where no other one can begin. So each of the others begins \
         with something that says when it can: `await`, `acquire`, `send`, `receive` on a channel with a buffer, or an `atomic` that begins so."
    ),
    row!(
        "E0316",
        "a `let` whose value does not stay",
        "`let x = e;` inside `atomic` is a name for the value of `e` to the end of its block. Where something in `e` changes before \
         that, `e` has to be a single variable, `let old = x;`, to compute with, or a test, `let first = empty(s);`."
    ),
    row!(
        "E0401",
        "a temporal operator where only the present state counts",
        "`always`, `eventually`, `until` and their kin speak of runs, and stand in a `property` only: not in an \
         `invariant` (which already speaks of every state), not in the program text, and not inside a comparison or \
         `count`."
    ),
    row!(
        "E0402",
        "a fairness set that does not exist",
        "After `under` stand fairness assumptions, or names of sets that the program declares: `fairness scheduler \
         { weak P[*]; }`."
    ),
    row!(
        "E0403",
        "a fairness set that contains itself",
        "A fairness set may name other sets; written out, it must come to an end."
    ),
    row!(
        "E0404",
        "`race_free` of something that it does not apply to",
        "`race_free x;` asks whether two processes can be about to access the same cell of `x`, one of them \
         writing. It names a whole variable: a shared one, or `P[*].level` for a public one. Locks and semaphores \
         are there to be raced for."
    ),
    row!(
        "E0405",
        "two properties of one name",
        "Results are shown, chosen and written to files by the names of properties, so each has its own. `no_errors` and \
         `deadlock_free` are the names of questions that are asked of every program."
    ),
    row!(
        "E0406",
        "a hint about no process",
        "`hint expose P[*]@crit;` offers proofs a fact about a process's place or locals. What is shared or public \
         can be seen anyway and needs no hint."
    ),
    row!(
        "E0501",
        "a parameter outside its range",
        "`N: 2..` says that N is at least 2, and `N: 2..=8` that it is also at most 8. The value comes from the \
         command line; if none is given, it is the least one."
    ),
    row!(
        "E0502",
        "a value for a parameter that does not exist",
        "The command line gives a value to a name that the program does not have as a parameter. Parameters stand \
         in parentheses after the program's name: `program mutex(N: 2..) { … }`."
    ),
    row!(
        "E0503",
        "a range that is empty or too large",
        "A type has at least one value. Since states are explored one by one, a type with billions of values is \
         nearly always a mistake: the smallest range that shows the behaviour is the best."
    ),
    row!(
        "E0504",
        "an array without elements, or with too many",
        "An array has at least one element, and every state holds all of them."
    ),
    row!(
        "E0505",
        "a family without processes, or with too many",
        "A family has at least one process, and a program at most ten thousand."
    ),
    row!(
        "E0506",
        "a state that is too large",
        "A state holds every element of every array, and every variable of every process. A million of these are \
         too many to explore anything."
    ),
    row!(
        "E0507",
        "an expression that is too deep or too large",
        "Definitions are written out wherever they are used. Definitions that use others several times each grow \
         very large."
    ),
    row!(
        "E0508",
        "too many copies",
        "Quantifiers look at each of their instances, a `for` stands for a copy of its body for each value, and \
         alternatives of fairness sets are multiplied out. What is written shortly can so become very large; choose \
         smaller ranges."
    ),
    row!(
        "E0509",
        "a file in a language that is not read",
        "Which language a file is in, its suffix says. Programs in the Piecewise language end in `.pw`, those in DVE in `.dve`."
    ),
    row!(
        "W0201",
        "a name that hides another one",
        "A bound variable, a `for` or a variable of a process has the name of something further out, which cannot \
         be reached by that name inside. Often another name was meant: inside `process P[i in …]`, `forall j != i` \
         binds `j` only, but `forall i != j` binds a new `i`."
    ),
    row!(
        "W0202",
        "something that is declared and not used",
        "Nothing names it, or it is stored and never looked at, or looked at and never stored. Often another name was meant. A variable that \
         nothing looks at still multiplies the states; one that nothing changes should be a `const`, or start with `any` value. Where it is meant so, begin its \
         name with `_`."
    ),
    row!(
        "W0301",
        "a statement that is never reached",
        "What follows `goto`, `break`, `continue`, `return`, or a `loop` that nothing leaves, is never executed."
    ),
    row!(
        "W0302",
        "a procedure that may end without its result",
        "A procedure with a result returns a value on every path. Running off its end is an error of the program, \
         which violates `no_errors` if it happens."
    ),
    row!(
        "W0303",
        "a `for` without statements",
        "A `for` takes no step of its own, so one with an empty body does nothing at all."
    ),
];
