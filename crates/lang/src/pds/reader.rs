//! Lines to rules, and texts such as `0|1,9,1` to configurations.
//!
//! A `#` begins a comment. The first line is the number of shared states. `PDA a b` begins a thread whose stack symbols are `a` to
//! `b`; its rules follow, one on a line: `q x -> q' w`, with `w` as `-` (pop), one symbol (overwrite) or two (push, the new top first).
//! A rule whose `x` is `-` is for the empty stack. Published files use symbols outside the range of their thread, and the tools of the
//! format read them: so they are read here, too, with a warning.

use std::ops::RangeInclusive;

use base::{Diagnostic, SourceFile, Span};

use crate::codes::pds as code;
use crate::log::Log;

/// Larger numbers are refused.
const MOST: u64 = 1 << 24;

/// A concurrent pushdown system.
#[derive(Default)]
pub(super) struct System {
    /// How many shared states there are.
    pub n_states: u32,
    pub threads: Vec<Thread>,
}

/// A thread.
pub(super) struct Thread {
    /// The first and the last of its stack symbols, as written.
    pub first: u32,
    pub last: u32,
    pub rules: Vec<Rule>,
    /// The comment lines before it.
    pub doc: String,
    /// Its line.
    pub span: Span,
}

impl Thread {
    /// The stack symbols that its line declares.
    fn range(&self) -> RangeInclusive<u32> {
        self.first..=self.last
    }

    /// Whether a stack symbol is declared, or stands in a rule.
    fn knows(&self, symbol: u32) -> bool {
        let in_rule = |rule: &Rule| {
            rule.top == Some(symbol)
                || match rule.word {
                    Word::Pop => false,
                    Word::One(top) => top == symbol,
                    Word::Two(top, below) => top == symbol || below == symbol,
                }
        };
        self.range().contains(&symbol) || self.rules.iter().any(in_rule)
    }
}

/// A rule; a symbol that is `None` is the empty stack.
pub(super) struct Rule {
    pub state: u32,
    pub top: Option<u32>,
    pub next_state: u32,
    pub word: Word,
    /// The rule as written, on one line, without the comment.
    pub text: String,
    pub span: Span,
}

/// What stands in place of the top symbol.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Word {
    Pop,
    One(u32),
    /// The new top, and the symbol below it.
    Two(u32, u32),
}

/// A shared state and a stack for each thread, the top first.
pub(super) struct Configuration {
    /// `None` is any state.
    pub state: Option<u32>,
    /// `None` is any stack.
    pub stacks: Vec<Option<Vec<u32>>>,
    /// As written.
    pub text: String,
}

/// A word of a line, and where it stands.
type Token<'t> = (&'t str, Span);

/// Reads a system; what is wrong goes to the log.
pub(super) fn system(source: &SourceFile, log: &mut Log) -> System {
    let mut reader = Reader { log, system: System::default(), has_count: false, doc: Vec::new(), warned: false };
    let mut offset = 0;
    for line in source.text().split_inclusive('\n') {
        reader.line(line, offset);
        offset += line.len();
    }
    if !reader.has_count {
        let message = "the file does not say how many shared states there are";
        reader
            .log
            .add(Diagnostic::error(code::NO_SYSTEM, Span::new(0, 0), message).help("the first line is that number"));
    } else if reader.system.threads.is_empty() {
        let end = source.text().len();
        let message = "there is no thread";
        let help = "a thread begins with `PDA a b`, the range of its stack symbols";
        reader.log.add(Diagnostic::error(code::NO_SYSTEM, Span::new(end, end), message).help(help));
    }
    reader.system
}

struct Reader<'l> {
    log: &'l mut Log,
    system: System,
    has_count: bool,
    /// Comment lines since the last rule.
    doc: Vec<String>,
    /// Whether it was said of the thread at hand that it goes beyond its range.
    warned: bool,
}

impl Reader<'_> {
    fn line(&mut self, line: &str, offset: usize) {
        let code = line.split('#').next().unwrap_or_default();
        let words = words(code, offset);
        let Some(&(first, span)) = words.first() else {
            let comment = line.trim().trim_matches('#').trim();
            if !comment.is_empty() {
                self.doc.push(comment.to_owned());
            }
            return;
        };
        let whole = Span::new(span.start as usize, words.last().map_or(span, |last| last.1).end as usize);
        match words.as_slice() {
            _ if first == "PDA" => self.thread(&words, whole),
            [word] if !self.has_count => self.count(*word),
            _ if words.iter().any(|(word, _)| *word == "->") || code.contains("->") => self.rule(code, offset, whole),
            _ => {
                let message = if self.has_count {
                    "this is neither a rule nor a thread"
                } else {
                    "this is no number of shared states"
                };
                let help = "a rule is `q x -> q' w`, a thread begins with `PDA a b`, and the first line is the number of shared states";
                self.log.add(Diagnostic::error(code::SYNTAX, whole, message).help(help));
            }
        }
        if first != "PDA" {
            self.doc.clear();
        }
    }

    fn count(&mut self, word: Token<'_>) {
        self.has_count = true;
        if let Some(number) = self.number(word, "number of shared states") {
            if number == 0 {
                self.log.add(Diagnostic::error(code::RANGE, word.1, "there is at least one shared state"));
            }
            self.system.n_states = number;
        }
    }

    fn thread(&mut self, words: &[Token<'_>], span: Span) {
        if !self.has_count {
            self.has_count = true;
            let message = "the number of shared states stands before the first thread";
            self.log.add(Diagnostic::error(code::NO_SYSTEM, span, message).help("write it on a line of its own"));
        }
        let doc = std::mem::take(&mut self.doc).join(" ");
        let mut thread = Thread { first: 0, last: 0, rules: Vec::new(), doc, span };
        match words {
            [_, first, last] => {
                if let (Some(a), Some(b)) = (self.number(*first, "stack symbol"), self.number(*last, "stack symbol")) {
                    (thread.first, thread.last) = (a, b);
                    if a > b {
                        let message = format!("the range from {a} to {b} is empty");
                        self.log.add(Diagnostic::error(code::RANGE, first.1.to(last.1), message));
                        thread.last = a;
                    }
                }
            }
            _ => {
                let message = "a thread has the first and the last of its stack symbols";
                self.log.add(Diagnostic::error(code::SYNTAX, span, message).help("write `PDA 0 5`"));
            }
        }
        self.warned = false;
        self.system.threads.push(thread);
    }

    fn rule(&mut self, code_part: &str, offset: usize, span: Span) {
        let (left, right) = code_part.split_once("->").unwrap_or((code_part, ""));
        let right_words = words(right, offset + left.len() + 2);
        let left_words = words(left, offset);
        let [state, top] = left_words.as_slice() else {
            let message =
                format!("a rule has a shared state and a stack symbol before `->`, not {}", counted(left_words.len()));
            return self.log.add(Diagnostic::error(code::SYNTAX, span, message).help("write `q x -> q' w`"));
        };
        let Some((next_state, word)) = right_words.split_first().filter(|(_, word)| (1..=2).contains(&word.len()))
        else {
            let message = format!(
                "a rule has a shared state and `-`, one or two stack symbols after `->`, not {}",
                counted(right_words.len())
            );
            return self
                .log
                .add(Diagnostic::error(code::SYNTAX, span, message).help("to pop the symbol write `q x -> q' -`"));
        };
        if self.system.threads.is_empty() {
            let message = "this rule belongs to no thread";
            return self.log.add(Diagnostic::error(code::SYNTAX, span, message).help("write `PDA a b` before it"));
        }
        let state = self.shared_state(*state);
        let top = if top.0 == "-" { Some(None) } else { self.symbol(*top).map(Some) };
        let next_state = self.shared_state(*next_state);
        let word = match word {
            [("-", _)] => Some(Word::Pop),
            [one] => self.symbol(*one).map(Word::One),
            [new_top, below] => {
                let (new_top, below) = (self.symbol(*new_top), self.symbol(*below));
                new_top.zip(below).map(|(new_top, below)| Word::Two(new_top, below))
            }
            _ => None,
        };
        let (Some(state), Some(top), Some(next_state), Some(word)) = (state, top, next_state, word) else { return };
        let text = code_part.split_whitespace().collect::<Vec<_>>().join(" ");
        if let Some(thread) = self.system.threads.last_mut() {
            thread.rules.push(Rule { state, top, next_state, word, text, span });
        }
    }

    fn number(&mut self, (text, span): Token<'_>, what: &str) -> Option<u32> {
        match text.parse::<u64>() {
            Ok(number) if number <= MOST => Some(number as u32),
            Ok(_) => {
                self.log.add(Diagnostic::error(code::RANGE, span, format!("`{text}` is more than {MOST}")));
                None
            }
            Err(_) => {
                self.log.add(Diagnostic::error(code::SYNTAX, span, format!("`{}` is no {what}", shown(text))));
                None
            }
        }
    }

    fn shared_state(&mut self, word: Token<'_>) -> Option<u32> {
        let number = self.number(word, "shared state")?;
        let n_states = self.system.n_states;
        // Where the number of states could not be read, nothing is compared with it.
        if n_states > 0 && number >= n_states {
            let message =
                format!("there is no shared state {number}: there are {n_states}, from 0 to {}", n_states - 1);
            self.log.add(Diagnostic::error(code::RANGE, word.1, message));
            return None;
        }
        Some(number)
    }

    /// A stack symbol; one outside the range of the thread is read as one more, and said once for each thread.
    fn symbol(&mut self, word: Token<'_>) -> Option<u32> {
        let number = self.number(word, "stack symbol")?;
        let thread = self.system.threads.last()?;
        if !thread.range().contains(&number) && !std::mem::replace(&mut self.warned, true) {
            let (first, last) = (thread.first, thread.last);
            let message = format!(
                "stack symbol {number} is not in the range of the thread, from {first} to {last}; it is read as one more"
            );
            self.log
                .add(Diagnostic::warning(code::BEYOND, word.1, message).note(thread.span, "the range of the thread"));
        }
        Some(number)
    }
}

/// Reads a configuration; what is wrong goes to the log. Where `-` is an empty stack it is no stack at all otherwise.
pub(super) fn configuration(
    source: &SourceFile,
    (system, dash_is_empty): (Option<&System>, bool),
    log: &mut Log,
) -> Option<Configuration> {
    let mut found = None;
    let mut offset = 0;
    for line in source.text().split_inclusive('\n') {
        let text = line.split('#').next().unwrap_or_default();
        let start = offset + (text.len() - text.trim_start().len());
        let span = Span::new(start, start + text.trim().len());
        offset += line.len();
        if text.trim().is_empty() {
            continue;
        }
        if found.is_some() {
            log.add(Diagnostic::error(code::CONFIGURATION, span, "there is one state only"));
            continue;
        }
        found = Some((text.trim().to_owned(), span));
    }
    let Some((text, span)) = found else {
        log.add(Diagnostic::error(code::CONFIGURATION, Span::new(0, 0), "there is no state here").help(SHAPE));
        return None;
    };
    let errors_before = log.n_errors();
    let Some((state, stacks)) = text.split_once('|') else {
        log.add(
            Diagnostic::error(code::CONFIGURATION, span, "a state has a `|` between the shared state and the stacks")
                .help(SHAPE),
        );
        return None;
    };
    let at = span.start as usize;
    let state = match state.trim() {
        "-" if !dash_is_empty => None,
        word => read_state(word, Span::new(at, at + state.len()), system, log),
    };
    let mut read = Vec::new();
    let mut stack_at = at + text.find('|').unwrap_or(0) + 1;
    for (number, stack) in stacks.split(',').enumerate() {
        let span = Span::new(stack_at, stack_at + stack.len());
        stack_at += stack.len() + 1;
        let thread = system.and_then(|system| system.threads.get(number));
        read.push(read_stack(stack, span, (thread, dash_is_empty), log));
    }
    if let Some(system) = system
        && read.len() != system.threads.len()
    {
        let message = format!("there are {} stacks here and {} threads", read.len(), system.threads.len());
        log.add(Diagnostic::error(code::CONFIGURATION, span, message).help(SHAPE));
    }
    (log.n_errors() == errors_before).then_some(Configuration { state, stacks: read, text })
}

/// How a configuration is written.
const SHAPE: &str = "write the shared state and one stack for each thread: `0|1,9,1`; symbols of a stack are joined by `.`, the top first";

fn read_state(word: &str, span: Span, system: Option<&System>, log: &mut Log) -> Option<u32> {
    match (word.parse::<u32>(), system) {
        (Ok(state), Some(system)) if state >= system.n_states => {
            let message = format!("there is no shared state {state}: there are {}", system.n_states);
            log.add(Diagnostic::error(code::CONFIGURATION, span, message));
            None
        }
        (Ok(state), _) => Some(state),
        (Err(_), _) => {
            log.add(
                Diagnostic::error(code::CONFIGURATION, span, format!("`{}` is no shared state", shown(word)))
                    .help(SHAPE),
            );
            None
        }
    }
}

fn read_stack(
    text: &str,
    span: Span,
    (thread, dash_is_empty): (Option<&Thread>, bool),
    log: &mut Log,
) -> Option<Vec<u32>> {
    if text.trim() == "-" {
        return dash_is_empty.then(Vec::new);
    }
    let mut symbols = Vec::new();
    let mut at = span.start as usize;
    for word in text.split('.') {
        let span = Span::new(at, at + word.len());
        at += word.len() + 1;
        match word.trim().parse::<u32>() {
            Ok(symbol) => {
                if let Some(thread) = thread.filter(|thread| !thread.knows(symbol)) {
                    let (first, last) = (thread.first, thread.last);
                    let message = format!(
                        "stack symbol {symbol} is not in the range of the thread, from {first} to {last}, and in none of its rules"
                    );
                    log.add(Diagnostic::warning(code::BEYOND, span, message));
                }
                symbols.push(symbol);
            }
            Err(_) => {
                let message = format!("`{}` is no stack symbol", shown(word.trim()));
                log.add(Diagnostic::error(code::CONFIGURATION, span, message).help(SHAPE));
            }
        }
    }
    Some(symbols)
}

/// The words of a part of a line.
fn words(text: &str, offset: usize) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    let mut at = 0;
    for word in text.split(char::is_whitespace) {
        if !word.is_empty() {
            found.push((word, Span::new(offset + at, offset + at + word.len())));
        }
        // Every separator is one character, but not always one byte.
        at += word.len() + text[at + word.len()..].chars().next().map_or(0, char::len_utf8);
    }
    found
}

fn counted(n_words: usize) -> String {
    match n_words {
        0 => "nothing".to_owned(),
        1 => "one word".to_owned(),
        n => format!("{n} words"),
    }
}

/// A word, short enough for a message.
fn shown(word: &str) -> String {
    word.chars().take(20).collect()
}
