//! Codes of the syntax: what the lexer and the parser refuse or warn about.

use super::{Code, row};

/// There are more errors than are shown.
pub const MORE_ERRORS: &str = "E0100";
/// Something else was expected here.
pub const UNEXPECTED: &str = "E0101";
/// A semicolon is missing.
pub const MISSING_SEMICOLON: &str = "E0102";
/// `=` where a comparison stands.
pub const ASSIGNMENT_IN_EXPRESSION: &str = "E0103";
/// A brace, bracket or parenthesis has no partner.
pub const UNCLOSED: &str = "E0104";
/// A word that begins no statement.
pub const UNKNOWN_STATEMENT: &str = "E0105";
/// A word that begins no declaration.
pub const UNKNOWN_ITEM: &str = "E0106";
/// `a => b => c`, or a mixture of `=>`, `<=>` and `~>`.
pub const IMPLICATION_CHAIN: &str = "E0107";
/// `a until b until c`.
pub const UNTIL_CHAIN: &str = "E0108";
/// `a < b < c`.
pub const COMPARISON_CHAIN: &str = "E0109";
/// A keyword where a name stands.
pub const RESERVED_WORD: &str = "E0110";
/// A range that does not say whether it includes its end.
pub const BARE_RANGE: &str = "E0111";
/// A label on a statement that is no place.
pub const LABEL_WITHOUT_PLACE: &str = "E0112";
/// `loop {}`.
pub const EMPTY_LOOP: &str = "E0113";
/// A declaration where it may not stand.
pub const MISPLACED_DECLARATION: &str = "E0114";
/// An assignment whose sides do not fit together.
pub const BAD_ASSIGNMENT: &str = "E0115";
/// An operator of another language.
pub const FOREIGN_OPERATOR: &str = "E0116";
/// `-->`, which means two things.
pub const AMBIGUOUS_ARROW: &str = "E0117";
/// A number that cannot be read.
pub const BAD_NUMBER: &str = "E0118";
/// A character that means nothing here.
pub const UNKNOWN_CHARACTER: &str = "E0119";
/// `under` where fairness plays no part.
pub const FAIRNESS_WITHOUT_USE: &str = "E0120";
/// A fairness assumption of the wrong shape.
pub const BAD_FAIRNESS: &str = "E0121";
/// `expect` without `holds` or `violated`.
pub const BAD_EXPECTATION: &str = "E0122";
/// A property without a name.
pub const UNNAMED_PROPERTY: &str = "E0123";
/// A file that is not one program.
pub const NOT_ONE_PROGRAM: &str = "E0124";
/// `*` as an index where no pattern stands.
pub const MISPLACED_STAR: &str = "E0125";
/// A parameter without its least value.
pub const BAD_PARAMETER: &str = "E0126";
/// A condition of a free choice where there is none.
pub const FREE_CONDITION: &str = "E0127";
/// A file that is too long.
pub const FILE_TOO_LONG: &str = "E0130";
/// Things nested too deeply.
pub const TOO_DEEP: &str = "E0131";
/// Bytes that are not UTF-8.
pub const NOT_UTF8: &str = "E0132";
/// A temporal operator that binds tighter than it may seem.
pub const TIGHT_TEMPORAL_OPERATOR: &str = "W0101";
/// `next` in a property.
pub const NEXT: &str = "W0102";

/// The rows, in the order of their numbers.
pub static CODES: &[Code] = &[
    row!(
        "E0100",
        "there are more errors than are shown",
        "Only the first errors of a file are shown, since later ones often follow from them. Repair these and run \
         again."
    ),
    row!(
        "E0101",
        "something else was expected",
        "The text does not follow the grammar at this place. The message says what could stand here and what was \
         found; the mistake is there or just before."
    ),
    row!(
        "E0102",
        "a semicolon is missing",
        "Every simple statement and every declaration without braces ends with `;`. The next line began something \
         new before a `;` came."
    ),
    row!(
        "E0103",
        "`=` where values are compared",
        "`=` assigns, and only a statement can assign. In a condition, or anywhere else in an expression, `==` \
         compares."
    ),
    row!(
        "E0104",
        "a brace, bracket or parenthesis without its partner",
        "Something was opened and never closed, or closed and never opened. For braces the indentation tells which \
         one is meant: the message points at the first brace whose partner is indented differently."
    ),
    row!(
        "E0105",
        "a word that begins no statement",
        "A statement is an assignment or begins with one of the words `skip`, `idle`, `await`, `assert`, \
         `acquire`, `release`, `call`, `return`, `goto`, `break`, `continue`, `if`, `while`, `loop`, `for`, \
         `either`, `atomic`. A procedure is called with `call`."
    ),
    row!(
        "E0106",
        "a word that begins no declaration",
        "A program consists of `const`, `enum`, `define`, `shared`, `process`, `proc`, `fairness`, `hint`, `allow \
         deadlock`, and its properties: `invariant`, `property`, `reachable`, `race_free`, `no_errors`, \
         `deadlock_free`. Statements stand in a process or a procedure."
    ),
    row!(
        "E0107",
        "`=>`, `<=>` and `~>` do not chain",
        "`a => b => c` is `(a => b) => c` in some tools and `a => (b => c)` in others, so it is refused; so is any \
         mixture of `=>`, `<=>` and `~>`. Put parentheses around what belongs together."
    ),
    row!(
        "E0108",
        "`until` and its kin do not chain",
        "`a until b until c` is read from the left by SPIN and from the right by Spot, and the two differ. Put \
         parentheses around what belongs together. The same holds for `weakuntil`, `releases` and `M`."
    ),
    row!(
        "E0109",
        "comparisons do not chain",
        "`0 < a < b` would compare a truth value with a number. Write two comparisons and join them with `&&`."
    ),
    row!(
        "E0110",
        "a keyword where a name stands",
        "A few words are never names: `and as const define either else enum exists false for forall if in local \
         loop not or proc process program public shared then true while`. All other keywords may be names. A label \
         may be any word."
    ),
    row!(
        "E0111",
        "a range does not say whether it includes its end",
        "`0..N` includes N in some languages and not in others. Write `0..<N` for 0 to N - 1, as is usual for \
         process ids, or `0..=N` to include N."
    ),
    row!(
        "E0112",
        "a label that names no place",
        "A label names the place before a step, and `goto`, `break` and `continue` take no step of their own. A \
         label at the end of a block names nothing either. Put a `skip;` there if the place matters."
    ),
    row!(
        "E0113",
        "an empty loop",
        "`loop {}` has no step, so the process could neither move nor stand still in it. Write `loop { skip; }` to \
         go round for ever, or `await false;` to stop."
    ),
    row!(
        "E0114",
        "a declaration where it may not stand",
        "`shared` variables belong to the program, `public` and `local` ones to a process, `local` ones to a \
         procedure. They are declared among the outermost statements, since they exist from the start of the \
         process or the call, whichever way its control goes. Processes, procedures and properties belong to the \
         program."
    ),
    row!(
        "E0115",
        "an assignment whose sides do not fit",
        "On the left stand variables, elements of arrays or fields; on the right as many values as there are \
         variables on the left. `a, b = b, a;` assigns at once, after both values have been computed. `x = call \
         f(…);` has exactly one variable."
    ),
    row!(
        "E0116",
        "an operator of another language",
        "Assignments are written with `=` and the whole new value: `x = x + 1;`. `==` compares, and a comparison \
         by itself is no statement; to wait for it write `await`. `!=` means unequal."
    ),
    row!(
        "E0117",
        "`-->` means different things to different people",
        "UPPAAL's `-->` is \"leads to\", which is `~>` here; Spot's `-->` is implication, which is `=>` here."
    ),
    row!(
        "E0118",
        "a number that cannot be read",
        "Numbers are written with decimal digits, with `_` between them if you like, and go up to 9223372036854775807."
    ),
    row!(
        "E0119",
        "a character that means nothing",
        "The character belongs to no word, number or operator of the language. Comments begin with `//`; there are \
         no texts in quotes."
    ),
    row!(
        "E0120",
        "fairness where it plays no part",
        "An invariant speaks of every state that can be reached, and `reachable`, `race_free`, `no_errors` and \
         `deadlock_free` likewise: which runs are fair makes no difference. Only a `property` can be claimed \
         `under` assumptions."
    ),
    row!(
        "E0121",
        "a fairness assumption of the wrong shape",
        "The forms are `progress`; `every P[*]`; `weak P[*]` and `strong P[*]`, both also with a label, as in \
         `weak P[*]@l`; `weak p` for a predicate that holds again and again; `strong p => q` for a pair of \
         predicates; and names of `fairness` sets. `or` separates alternatives in `under` only; in a predicate \
         write `||`. `under none` stands alone."
    ),
    row!(
        "E0122",
        "an expectation that is neither `holds` nor `violated`",
        "`expect violated` says that a property is known to fail, as in the broken twin of a lock; then the run \
         succeeds only if it does fail. `expect holds` is what is expected without saying so."
    ),
    row!(
        "E0123",
        "a property without a name",
        "Verdicts, proofs and traces are reported under the property's name, so each `invariant`, `property` and \
         `reachable` has one: `invariant NAME: e;`."
    ),
    row!(
        "E0124",
        "a file that is not one program",
        "A file consists of one `program name(…) { … }`, and everything else stands between its braces."
    ),
    row!(
        "E0125",
        "`[*]` outside patterns",
        "`P[*]` stands for all processes of a family in fairness assumptions, hints and `race_free`. In a formula, \
         say with a quantifier whether you mean all or some: `forall i: P[i]@crit`, `exists i: P[i]@crit`."
    ),
    row!(
        "E0126",
        "a parameter without its least value",
        "`N: 2..` is a parameter of at least 2, `N: 2..=8` one that also ends at 8. Without `-N` on the command \
         line a parameter takes its least value."
    ),
    row!(
        "E0127",
        "a free choice as a loop's condition",
        "`if *` and `either` choose freely, without a step of their own. A `while` tests, and its test is a step. \
         To leave a loop at any time write `loop { either { … } or { break; } }`."
    ),
    row!(
        "E0130",
        "a file that is too long",
        "Files of more than 8 MB are not read: no program for people to read is that long. If a tool made it, let \
         it use arrays, families of processes and `for`."
    ),
    row!(
        "E0131",
        "things nested too deeply",
        "Blocks, parentheses and operators before operands may be nested 200 deep, and 500 operators may follow \
         each other without parentheses. Give parts a name with `define` or `proc`."
    ),
    Code {
        code: "E0132",
        title: "a file that is not UTF-8",
        explanation: "Programs are text in UTF-8. The file is in another encoding, or is no text at all.",
        wrong: "program t {\n  // Caf\u{FFFD} (an é as Latin-1 writes it)\n  process A { skip; }\n}\n",
        right: include_str!("../../tests/errors/E0132.fixed.pw"),
        language: "pw",
    },
    row!(
        "W0101",
        "a temporal operator that binds tighter than it may seem",
        "Operators before an operand bind tighter than those between operands, so `always a => b` is `(always a) \
         => b`: if a holds for ever, then b holds at the start. Mostly `always (a => b)` is meant. Put parentheses \
         to say which."
    ),
    row!(
        "W0102",
        "`next` in a property",
        "`next p` speaks of the next point of the run, whoever is scheduled there, even if he stands still. Such a \
         property can change its truth value when a step is split in two or another process is added."
    ),
];
