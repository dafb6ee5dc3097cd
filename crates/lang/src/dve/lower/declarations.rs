//! Variables, processes and their locations.

use std::collections::BTreeMap;

use base::{Diagnostic, Span};
use model::control::{Next, Place, PlaceId, TextOwner};
use model::process::{Family, FamilyId, Process};
use model::size::Size;
use model::types::{ScalarType, Type};
use model::variable::{Init, Role, Storage, Var, VarId};

use super::super::ast::{self, Name};
use super::symbols::{ProcessSymbols, Scope as Names, Symbol, Variable};
use super::{Lowering, number};
use crate::codes::dve as code;

/// How many cells a state may have; one that has more cannot be explored anyway.
pub(super) const MAX_CELLS: usize = 1_000_000;

/// The numbers that a type has.
pub(super) fn range_of(ty: ast::Type) -> (i64, i64) {
    match ty {
        ast::Type::Byte => (0, 255),
        ast::Type::Int => (i64::from(i16::MIN), i64::from(i16::MAX)),
    }
}

impl Lowering<'_> {
    /// Declares everything: variables, channels, processes with their locations and variables.
    pub fn declare(&mut self) {
        let file = self.file;
        for variable in &file.variables {
            self.variable(variable, None, Storage::Shared);
        }
        for channel in &file.channels {
            self.channel(channel);
        }
        for (position, process) in file.processes.iter().enumerate() {
            self.define(None, &process.name, Symbol::Process(position));
        }
        self.check_system();
        for (position, process) in file.processes.iter().enumerate() {
            self.symbols.processes.push(ProcessSymbols { id: None, scope: Names::default() });
            if !self.is_property(process) {
                self.process(position, process);
            }
        }
    }

    fn check_system(&mut self) {
        let Some(system) = &self.file.system else { return };
        if !system.is_async {
            let message = "systems whose processes all move at once are not read";
            let diagnostic = Diagnostic::error(code::NOT_SUPPORTED, system.span, message);
            self.report(diagnostic.help("write `system async;`, in which one process moves at a time"));
        }
        if let Some(property) = &system.property {
            self.process_named(property);
        }
        let n_processes = self.file.processes.iter().filter(|process| !self.is_property(process)).count();
        if n_processes == 0 {
            self.report(Diagnostic::error(code::NO_PROCESS, system.span, "there is no process that could move"));
        }
    }

    /// A process: its family of one, its locations, its variables, where it starts.
    fn process(&mut self, position: usize, process: &ast::Process) {
        let family: FamilyId = self.model.families.next_id();
        let id =
            self.model.processes.push(Process { family, index: 0, name: process.name.text.clone(), first_cell: 0 });
        self.symbols.processes[position].id = Some(id);
        let vars = process
            .variables
            .iter()
            .filter_map(|variable| self.variable(variable, Some(position), Storage::Local(family)))
            .collect();
        let places: Vec<PlaceId> = process.locations.iter().map(|name| self.place(family, name)).collect();
        for (name, &place) in process.locations.iter().zip(&places) {
            self.define_location(position, name, place);
        }
        // Control never runs off the end of a DVE process: this place has no way in.
        let end = self.place(family, &Name { text: "end".into(), span: process.name.span });
        self.model.places[end].labels.clear();
        let entry = self.initial_location(position, process).unwrap_or(end);
        let committed: Vec<PlaceId> =
            process.committed.iter().filter_map(|name| self.location(position, name)).collect();
        if !committed.is_empty() {
            self.committed.push((id, committed));
        }
        self.model.families.push(Family {
            name: process.name.text.clone(),
            index: None,
            size: Size::One,
            vars,
            entry: Next::To(entry),
            end,
            first: id,
            n_cells: 0,
            doc: String::new(),
            span: process.span,
        });
    }

    fn place(&mut self, family: FamilyId, name: &Name) -> PlaceId {
        self.model.places.push(Place {
            scope: TextOwner::Family(family),
            labels: vec![name.text.clone()],
            name: name.text.clone(),
            actions: Vec::new(),
            may_end: false,
            span: name.span,
        })
    }

    /// The one `init` of a process that has locations.
    pub fn initial_location(&mut self, position: usize, process: &ast::Process) -> Option<PlaceId> {
        self.the_initial(process).and_then(|name| self.location(position, name))
    }

    /// The name after the one `init`.
    pub fn the_initial<'p>(&mut self, process: &'p ast::Process) -> Option<&'p Name> {
        let owner = &process.name;
        match &process.initial[..] {
            [] => {
                let message = format!("process `{}` has no initial location", owner.text);
                self.report(Diagnostic::error(code::NO_INIT, owner.span, message).help("write `init` and a location"));
                None
            }
            [only] => Some(only),
            [first, second, ..] => {
                let message = format!("process `{}` has two initial locations", owner.text);
                self.report(Diagnostic::error(code::NO_INIT, second.span, message).note(first.span, "the first one"));
                None
            }
        }
    }

    /// A variable or constant; the Model has no constants that are no arrays.
    fn variable(&mut self, declared: &ast::Variable, process: Option<usize>, storage: Storage) -> Option<VarId> {
        let Some((len, values)) = self.len_and_values(declared, process) else {
            self.define(process, &declared.name, Symbol::Broken);
            return None;
        };
        if declared.is_const && len.is_none() {
            self.define(process, &declared.name, Symbol::Constant(values[0]));
            return None;
        }
        let (lo, hi) = match declared.is_const {
            // A constant takes no more room than it must.
            true => (values.iter().copied().min().unwrap_or(0), values.iter().copied().max().unwrap_or(0)),
            false => range_of(declared.ty),
        };
        let span = declared.name.span;
        let var = self.add_var(&declared.name.text, (storage, span), (lo, hi), len, &values);
        let symbol = Variable { var, len, is_const: declared.is_const, initial: values };
        self.define(process, &declared.name, Symbol::Variable(symbol));
        Some(var)
    }

    /// Adds a variable to the Model.
    pub fn add_var(
        &mut self,
        name: &str,
        (storage, span): (Storage, Span),
        (lo, hi): (i64, i64),
        len: Option<usize>,
        values: &[i64],
    ) -> VarId {
        let scalar = Type::Scalar(ScalarType::Range { lo, hi });
        let fill = |&value: &i64| Init::Fill(number(value, span));
        let is_uniform = values.iter().all(|value| *value == values[0]);
        let (ty, init) = match len {
            None => (scalar, fill(&values[0])),
            Some(len) => {
                let init =
                    if is_uniform { fill(&values[0]) } else { Init::Elements(values.iter().map(fill).collect()) };
                (Type::Array { element: Box::new(scalar), len }, init)
            }
        };
        let (name, role, shown, doc) = (name.to_string(), Role::Declared, BTreeMap::new(), String::new());
        let look = model::variable::VariableLook::Plain;
        self.model.vars.push(Var {
            name,
            storage,
            role,
            ty,
            init,
            offset: 0,
            shown,
            look,
            indices_after: Vec::new(),
            doc,
            span,
        })
    }

    /// The length of an array, and what each cell starts with; `None` where something is wrong.
    fn len_and_values(
        &mut self,
        declared: &ast::Variable,
        process: Option<usize>,
    ) -> Option<(Option<usize>, Vec<i64>)> {
        let len = match &declared.size {
            None => None,
            Some(size) => Some(self.size(size, process, (1, MAX_CELLS))?),
        };
        self.count_cells(len.unwrap_or(1), declared.name.span)?;
        let mut values = vec![0; len.unwrap_or(1)];
        match (&declared.init, len) {
            (None, _) => {}
            (Some(ast::Init::Value(value)), None) => values[0] = self.initial_value(value, declared, process)?,
            (Some(ast::Init::List(list, span)), Some(len)) => {
                let mut fine = true;
                for (at, value) in list.iter().take(len).enumerate() {
                    match self.initial_value(value, declared, process) {
                        Some(value) => values[at] = value,
                        None => fine = false,
                    }
                }
                if list.len() > len {
                    let message = format!("{} values for {len} elements; the last ones are dropped", list.len());
                    self.report(Diagnostic::warning(code::SURPLUS_VALUES, *span, message));
                }
                fine.then_some(())?;
            }
            (Some(ast::Init::Value(value)), Some(_)) => {
                let message = "an array starts with a list of values";
                let diagnostic = Diagnostic::error(code::BAD_CONSTANT, value.span, message);
                self.report(diagnostic.help("write `{…}`; elements that it does not give are 0"));
                return None;
            }
            (Some(ast::Init::List(_, span)), None) => {
                self.report(Diagnostic::error(code::BAD_CONSTANT, *span, "a list of values is for an array"));
                return None;
            }
        }
        Some((len, values))
    }

    fn initial_value(&mut self, expr: &ast::Expr, declared: &ast::Variable, process: Option<usize>) -> Option<i64> {
        let value = self.constant(expr, process).ok()?;
        let (lo, hi) = range_of(declared.ty);
        if (lo..=hi).contains(&value) {
            return Some(value);
        }
        let message = format!("`{}` cannot start with {value}", declared.name.text);
        let diagnostic = Diagnostic::error(code::BAD_CONSTANT, expr.span, message);
        self.report(diagnostic.at(format!("its values are {lo} to {hi}")));
        None
    }

    /// The length of an array or a buffer.
    pub fn size(&mut self, expr: &ast::Expr, process: Option<usize>, (least, most): (usize, usize)) -> Option<usize> {
        let value = self.constant(expr, process).ok()?;
        match usize::try_from(value) {
            Ok(size) if (least..=most).contains(&size) => Some(size),
            _ => {
                let message = format!("a size from {least} to {most} stands here, not {value}");
                self.report(Diagnostic::error(code::BAD_SIZE, expr.span, message));
                None
            }
        }
    }

    /// Counts more cells; a state that is too large is reported once.
    pub fn count_cells(&mut self, n_more: usize, span: Span) -> Option<()> {
        let before = self.n_cells;
        self.n_cells = before.saturating_add(n_more);
        if self.n_cells <= MAX_CELLS {
            return Some(());
        }
        if before <= MAX_CELLS {
            let message = format!("with this, a state has more than {MAX_CELLS} cells");
            self.report(Diagnostic::error(code::BAD_SIZE, span, message));
        }
        None
    }
}
