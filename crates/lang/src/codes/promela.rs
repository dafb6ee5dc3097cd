//! Codes of the front-end of Promela (09).

use super::{Code, promela_row};

/// Something else was expected here.
pub const UNEXPECTED: &str = "E0901";
/// A bracket, block, comment or `#if` has no end.
pub const UNCLOSED: &str = "E0902";
/// A directive of the preprocessor that is wrong.
pub const DIRECTIVE: &str = "E0903";
/// A file that is missing or includes itself.
pub const INCLUDE: &str = "E0904";
/// A name that nothing declares.
pub const UNKNOWN_NAME: &str = "E0905";
/// A name is declared twice.
pub const DECLARED_TWICE: &str = "E0906";
/// A wrong number of fields, arguments or indices.
pub const WRONG_NUMBER: &str = "E0907";
/// Something that is no channel where one is needed.
pub const NOT_A_CHANNEL: &str = "E0908";
/// A label that is missing or there twice, or a jump that cannot be.
pub const LABEL: &str = "E0909";
/// Something that must be known before the program runs.
pub const NOT_CONSTANT: &str = "E0910";
/// How many processes there are is not known.
pub const INSTANCES: &str = "E0911";
/// A part of Promela that is not read.
pub const NOT_READ: &str = "E0912";
/// A limit.
pub const TOO_LARGE: &str = "E0913";
/// A program without processes.
pub const NO_PROCESS: &str = "E0914";
/// `else` where it cannot stand.
pub const ELSE: &str = "E0915";
/// A claim that changes something.
pub const CLAIM: &str = "E0916";
/// A channel that cannot be found out.
pub const UNKNOWN_CHANNEL: &str = "E0917";
/// A separator is missing.
pub const SEPARATOR: &str = "W0901";
/// The call gives a macro another value than the text.
pub const GIVEN_MACRO: &str = "W0902";
/// A hidden variable.
pub const HIDDEN: &str = "W0903";
/// A value that is cut to its type.
pub const CUT: &str = "W0904";
/// `else` beside channel operations.
pub const ELSE_BESIDE_CHANNELS: &str = "W0905";
/// A statement that is never reached.
pub const UNREACHABLE: &str = "W0906";

/// A start value that SPIN ignores.
pub const IGNORED_START: &str = "W0907";

/// The rows of this stage.
pub const CODES: &[Code] = &[
    promela_row!(
        "E0901",
        "something else was expected",
        "The message says what could stand here. Statements are separated by `;` or `->`, which mean the same; options of `if` and `do` begin with `::`."
    ),
    promela_row!(
        "E0902",
        "something has no end",
        "A bracket, a block, `if`, `do`, a comment, a text in quotes or an `#if` is opened and never closed."
    ),
    promela_row!(
        "E0903",
        "a directive that is not understood",
        "Directives are `#define`, `#undef`, `#if`, `#ifdef`, `#ifndef`, `#elif`, `#else`, `#endif`, `#include`, `#error` and `#warning`. Conditions are expressions over whole numbers, macros and `defined`."
    ),
    promela_row!(
        "E0904",
        "a file to include that cannot be read",
        "`#include \"file\"` reads a file beside the one that includes it. A file may not include itself, neither directly nor through others."
    ),
    promela_row!(
        "E0905",
        "a name that nothing declares",
        "Variables, types, proctypes and names of messages are declared before they are used. Variables of a block in braces are known within it only."
    ),
    promela_row!(
        "E0906",
        "a name is declared twice",
        "In one block a name has one meaning. The note shows the first declaration."
    ),
    promela_row!(
        "E0907",
        "a wrong number of fields, arguments or indices",
        "A send or receive gives as many values as the messages of its channel have fields, a `run` as many as its proctype has parameters, and an array has one index. Without an index, `P@label` means the only process of that proctype."
    ),
    promela_row!("E0908", "not a channel", "Only variables of type `chan` can be sent to and received from."),
    promela_row!(
        "E0909",
        "a label or jump that cannot be",
        "A `goto` leads to a label of the same process, each label stands once, `break` stands within `do`, and no jump leads into a `d_step`."
    ),
    promela_row!(
        "E0910",
        "something that must be known before the program runs",
        "Lengths of arrays, capacities of channels, numbers of active processes and start values are numbers, names of messages and operators on them; start values may also read what is declared before."
    ),
    promela_row!(
        "E0911",
        "how many processes there will be is not known",
        "A `run` in a loop may start any number of processes. Where the loop counts with variables of the process that are known, the number is found; otherwise say how many there may be at once: `--instances P=4`."
    ),
    promela_row!(
        "E0912",
        "a part of Promela that is not read",
        "Embedded C and `float` are not read; nor are a few combinations that the message names. Nothing is read in another sense than SPIN's: what cannot be read is refused."
    ),
    promela_row!(
        "E0913",
        "a limit",
        "There are limits for the sizes of arrays and buffers, for how deep macros, files and blocks are nested, and for how much macros and inlines expand to."
    ),
    promela_row!(
        "E0914",
        "a program without processes",
        "A program has at least one `active proctype`, or `init`, which starts others by `run`."
    ),
    promela_row!(
        "E0915",
        "`else` where it cannot stand",
        "`else` is the first statement of an option of `if` or `do`: it can be taken where no other option can."
    ),
    promela_row!(
        "E0916",
        "a claim that changes something",
        "`never` and `ltl` look at states. They neither assign, send, receive nor start processes."
    ),
    promela_row!(
        "E0917",
        "which channel it is cannot be found out",
        "Channels are constants of the model: for each variable of type `chan` the channels that it may hold are found out before the program runs. That is possible where channels are passed in variables of type `chan`, in messages with such fields and as arguments."
    ),
    promela_row!(
        "W0901",
        "a separator is missing",
        "Statements are separated by `;` or `->`. After `}`, `fi` and `od` and at the end of a line it may be missing."
    ),
    promela_row!("W0902", "the call gives a macro another value", "`-D N=2` replaces what the text defines for `N`."),
    promela_row!(
        "W0903",
        "a hidden variable is part of the state",
        "SPIN leaves a `hidden` variable out of the state. Here it is an ordinary variable, so that nothing depends on what was visited before."
    ),
    promela_row!(
        "W0904",
        "a value is cut to its type",
        "What is stored in a variable is cut to its type: 300 in a `byte` is 44."
    ),
    promela_row!(
        "W0905",
        "`else` beside a send or receive",
        "SPIN calls this dubious. `else` can be taken where no other option can: where the buffer is full or empty, or no message matches."
    ),
    promela_row!("W0906", "a statement that is never reached", "No way through the process leads here."),
    promela_row!(
        "W0907",
        "a start value that SPIN ignores",
        "A variable of a `typedef` starts with what the declarations of its parts say; a start value for the whole has no effect in SPIN, and so has none here."
    ),
];
