//! Names and what they mean: one table for the file, one for each process, and one for the locations of each process.
//!
//! A variable of a process that has the name of something outside hides that, with a warning. Locations stand where nothing else can,
//! so they may have any names: BEEM has a variable and a location `done` in one process.

use std::collections::HashMap;

use base::diagnostic::nearest_name;
use base::{Diagnostic, Span};
use model::control::PlaceId;
use model::process::ProcessId;
use model::variable::VarId;

use super::super::ast::Name;
use super::Lowering;
use crate::codes::dve as code;

/// What a name means.
#[derive(Clone, Debug)]
pub(super) enum Symbol {
    /// A constant that is no array.
    Constant(i64),
    /// A variable, or an array of constants.
    Variable(Variable),
    /// A channel, by its position.
    Channel(usize),
    /// A process, by its position in the file.
    Process(usize),
    /// Something that is declared wrongly; that has been reported.
    Broken,
}

impl Symbol {
    fn kind(&self) -> &'static str {
        match self {
            Symbol::Constant(_) => "a constant",
            Symbol::Variable(_) => "a variable",
            Symbol::Channel(_) => "a channel",
            Symbol::Process(_) => "a process",
            Symbol::Broken => "something else",
        }
    }
}

/// A variable, or an array of constants.
#[derive(Clone, Debug)]
pub(super) struct Variable {
    pub var: VarId,
    /// The length of an array.
    pub len: Option<usize>,
    pub is_const: bool,
    /// What its cells start with.
    pub initial: Vec<i64>,
}

/// A table of names.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    names: HashMap<String, (Symbol, Span)>,
    locations: HashMap<String, (PlaceId, Span)>,
}

/// What is known about a process.
#[derive(Clone, Debug)]
pub(super) struct ProcessSymbols {
    /// The process; `None` for the one that checks the others.
    pub id: Option<ProcessId>,
    pub scope: Scope,
}

/// All names of a file.
#[derive(Clone, Debug, Default)]
pub(super) struct Symbols {
    pub file: Scope,
    /// In the order of the file.
    pub processes: Vec<ProcessSymbols>,
}

impl Scope {
    pub fn get(&self, name: &str) -> Option<&Symbol> {
        self.names.get(name).map(|(symbol, _)| symbol)
    }

    fn all(&self) -> impl Iterator<Item = &str> {
        self.names.keys().map(String::as_str)
    }
}

impl Lowering<'_> {
    /// Gives a name its meaning: in the file, or in a process.
    pub fn define(&mut self, process: Option<usize>, name: &Name, symbol: Symbol) {
        let scope = match process {
            None => &mut self.symbols.file,
            Some(process) => &mut self.symbols.processes[process].scope,
        };
        if let Some((known, first)) = scope.names.get(&name.text) {
            let message = format!("`{}` is {} already", name.text, known.kind());
            let diagnostic = Diagnostic::error(code::DECLARED_TWICE, name.span, message).note(*first, "declared here");
            return self.report(diagnostic);
        }
        scope.names.insert(name.text.clone(), (symbol, name.span));
        let hidden = process.and_then(|_| self.symbols.file.names.get(&name.text));
        if let Some((hidden, first)) = hidden {
            let message = format!("`{}` hides {} of the same name", name.text, hidden.kind());
            let diagnostic = Diagnostic::warning(code::HIDDEN_NAME, name.span, message).note(*first, "declared here");
            self.report(diagnostic);
        }
    }

    /// Gives a location of a process its name.
    pub fn define_location(&mut self, process: usize, name: &Name, place: PlaceId) {
        let locations = &mut self.symbols.processes[process].scope.locations;
        if let Some((_, first)) = locations.get(&name.text) {
            let message = format!("`{}` is a location already", name.text);
            let diagnostic = Diagnostic::error(code::DECLARED_TWICE, name.span, message).note(*first, "declared here");
            return self.report(diagnostic);
        }
        locations.insert(name.text.clone(), (place, name.span));
    }

    /// Whether a process has a location of this name.
    pub fn is_location(&self, process: Option<usize>, name: &str) -> bool {
        process.is_some_and(|process| self.symbols.processes[process].scope.locations.contains_key(name))
    }

    /// What a name means within a process, or outside all of them; reports a name that nothing declares.
    pub fn look_up(&mut self, process: Option<usize>, name: &Name) -> Symbol {
        let own = process.map(|process| &self.symbols.processes[process].scope);
        let found = own.and_then(|scope| scope.get(&name.text)).or_else(|| self.symbols.file.get(&name.text));
        if let Some(symbol) = found {
            return symbol.clone();
        }
        if self.is_location(process, &name.text) {
            let message = format!("`{}` is a location, not a value", name.text);
            let diagnostic = Diagnostic::error(code::NO_VALUE, name.span, message);
            self.report(diagnostic.help("write the process before it, as in `P.l`"));
            return Symbol::Broken;
        }
        let names = own.into_iter().flat_map(Scope::all).chain(self.symbols.file.all());
        let near = nearest_name(&name.text, names).map(str::to_owned);
        self.unknown(name, format!("there is no `{}`", name.text), near);
        Symbol::Broken
    }

    /// The position of the process of this name.
    pub fn process_named(&mut self, name: &Name) -> Option<usize> {
        match self.symbols.file.get(&name.text) {
            Some(Symbol::Process(process)) => return Some(*process),
            Some(Symbol::Broken) => return None,
            _ => {}
        }
        let is_process = |name: &&str| matches!(self.symbols.file.get(name), Some(Symbol::Process(_)));
        let near = nearest_name(&name.text, self.symbols.file.all().filter(is_process)).map(str::to_owned);
        self.unknown(name, format!("there is no process `{}`", name.text), near);
        None
    }

    /// The location of this name in a process.
    pub fn location(&mut self, process: usize, name: &Name) -> Option<PlaceId> {
        let scope = &self.symbols.processes[process].scope;
        if let Some((place, _)) = scope.locations.get(&name.text) {
            return Some(*place);
        }
        let near = nearest_name(&name.text, scope.locations.keys().map(String::as_str)).map(str::to_owned);
        let owner = &self.file.processes[process].name.text;
        self.unknown(name, format!("process `{owner}` has no location `{}`", name.text), near);
        None
    }

    pub fn unknown(&mut self, name: &Name, message: String, near: Option<String>) {
        let mut diagnostic = Diagnostic::error(code::UNKNOWN_NAME, name.span, message);
        if let Some(near) = near {
            diagnostic = diagnostic.suggest(format!("did you mean `{near}`?"), name.span, near);
        }
        self.report(diagnostic);
    }
}
