//! What statements write: stores, choices, locks and semaphores, on every path of a step.
//!
//! In: a cell and what it gets. Out: the paths on which it has it, and those on which the value is none of its type. A number of many
//! bits that goes to a cell of few values is split by them; one that goes to a cell of many stays what it is. `any` for a cell
//! of many values is a number in variables of its own, which are taken away when the step is complete.

use biodivine_lib_bdd::Bdd;
use evidence::certificate::Column;
use model::expr::{Access, Expr};
use model::process::ProcessId;
use model::types::ScalarType;
use model::value::{Fault, Value};
use model::variable::CellId;

use super::content::{Content, as_number, plain};
use super::step::{Follower, Path};
use super::value::Scene;
use super::variables::MOST_LISTED;
use super::word::Word;
use crate::certificate::{CertificateError, Outcome};

/// Taking from, or giving back to, a lock or a semaphore.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Passing {
    Acquire,
    Release,
}

/// Where `any` chooses from.
struct Range {
    lo: Content,
    hi: Content,
}

impl<'a> Follower<'_, 'a> {
    /// Stores a content if the cell's type has it.
    pub fn store(&mut self, me: ProcessId, cell: CellId, content: Content, mut path: Path) -> Outcome<Vec<Path>> {
        let model = self.evaluator.model();
        let ty = model.cells[cell].ty;
        let word = match content {
            Content::Value(value) if ty.contains(value, model.type_context()) => {
                self.put(me, cell, Content::Value(value), &mut path)?;
                return Ok(vec![path]);
            }
            Content::Value(value) => {
                path.fault = Some(self.out_of_range(cell, model::print::value(model, value)));
                return Ok(vec![path]);
            }
            Content::Word(word) => word,
        };
        let (mut found, rest) = match self.has_many_values(cell) {
            true => {
                let inside = self.within_type(&word, ty)?;
                let kept = self.evaluator.algebra.and(&path.states, &inside)?;
                let rest = self.evaluator.algebra.and_not(&path.states, &inside)?;
                let mut kept = Path { states: kept, ..path.clone() };
                self.put(me, cell, Content::Word(word.clone()), &mut kept)?;
                (vec![kept], rest)
            }
            false => {
                let numbers = ty.values(model.type_context()).filter_map(|value| as_number(value).ok());
                let (split, rest) = self.evaluator.split_word(&word, &path.states, numbers)?;
                let mut found = Vec::new();
                for (number, states) in split {
                    let mut path = Path { states, ..path.clone() };
                    self.put(me, cell, Content::Value(Value::Int(number)), &mut path)?;
                    found.push(path);
                }
                (found, rest)
            }
        };
        if let Some(number) = self.evaluator.example(&word, &rest) {
            let fault = Some(self.out_of_range(cell, number.to_string()));
            found.push(Path { states: rest, fault, ..path });
        }
        found.retain(|path| !path.states.is_false());
        Ok(found)
    }

    /// `x = any` and `x = any lo..=hi`.
    pub fn assign_any(
        &mut self,
        me: ProcessId,
        access: &'a Access,
        range: Option<&'a (Expr, Expr)>,
        path: Path,
    ) -> Outcome<Vec<Path>> {
        let mut found = Vec::new();
        for (cell, path) in self.locate(me, access, path, &mut found)? {
            let mut ranges: Vec<(Option<Range>, Path)> = Vec::new();
            match range {
                None => ranges.push((None, path)),
                Some((lo, hi)) => {
                    for (lo, path) in self.value(me, lo, path, &mut found)? {
                        for (hi, path) in self.value(me, hi, path, &mut found)? {
                            ranges.push((Some(Range { lo: lo.clone(), hi }), path));
                        }
                    }
                }
            }
            for (range, path) in ranges {
                let chosen = match self.has_many_values(cell) {
                    true => self.choose(me, cell, range.as_ref(), &path)?.into_iter().collect(),
                    false => self.take_each(me, cell, range.as_ref(), &path)?,
                };
                found.extend(chosen);
                if let Some(range) = &range {
                    found.extend(self.beyond(cell, range, &path)?);
                }
            }
        }
        Ok(found)
    }

    /// One path for each value.
    fn take_each(&mut self, me: ProcessId, cell: CellId, range: Option<&Range>, path: &Path) -> Outcome<Vec<Path>> {
        let model = self.evaluator.model();
        let words = self.evaluator.words();
        let mut found = Vec::new();
        for value in model.cells[cell].ty.values(model.type_context()) {
            let mut path = path.clone();
            if let Some(range) = range {
                if value == Value::None {
                    continue;
                }
                let (lo, hi) = (self.evaluator.as_word(&range.lo), self.evaluator.as_word(&range.hi));
                let inside = words.between(&self.evaluator.as_word(&Content::Value(value)), &lo, &hi)?;
                path.states = self.evaluator.algebra.and(&path.states, &inside)?;
            }
            if !path.states.is_false() {
                self.put(me, cell, Content::Value(value), &mut path)?;
                found.push(path);
            }
        }
        Ok(found)
    }

    /// One path for all values of a cell that has many.
    fn choose(&mut self, me: ProcessId, cell: CellId, range: Option<&Range>, path: &Path) -> Outcome<Option<Path>> {
        let column = Column::Cell(cell);
        let (variables, algebra, words) = (self.evaluator.variables, self.evaluator.algebra, self.evaluator.words());
        let mut path = path.clone();
        if !variables.has(column) {
            let what = "a step gives any value to a variable of many values that no view shows";
            return Err(CertificateError::NotSupported(what.to_owned()));
        }
        if !path.chosen.insert(cell) {
            self.forget_choice(cell, &mut path)?;
        }
        let word = words.above(self.evaluator.least(cell), variables.choice(column))?;
        let mut inside = variables.valid_choice(column, algebra)?;
        if let Some(range) = range {
            let (lo, hi) = (self.evaluator.as_word(&range.lo), self.evaluator.as_word(&range.hi));
            inside = algebra.and(&inside, &words.between(&word, &lo, &hi)?)?;
        }
        path.states = algebra.and(&path.states, &inside)?;
        if path.states.is_false() {
            return Ok(None);
        }
        self.put(me, cell, Content::Word(word), &mut path)?;
        Ok(Some(path))
    }

    /// An earlier choice for a cell is overwritten; another cell may not hold what was chosen.
    fn forget_choice(&self, cell: CellId, path: &mut Path) -> Outcome<()> {
        let choice = self.evaluator.variables.choice(Column::Cell(cell));
        let holds = |content: &Content| matches!(content, Content::Word(word) if word.depends_on(choice));
        if path.scene.cells.iter().any(|(other, content)| *other != cell && holds(content)) {
            let what = "a step chooses twice for one variable of many values, and both choices count";
            return Err(CertificateError::NotSupported(what.to_owned()));
        }
        path.states = self.evaluator.algebra.exists(&path.states, choice)?;
        Ok(())
    }

    /// The fault of a range that is not empty and has an end outside the type.
    fn beyond(&self, cell: CellId, range: &Range, path: &Path) -> Outcome<Option<Path>> {
        let (algebra, words) = (self.evaluator.algebra, self.evaluator.words());
        let ty = self.evaluator.model().cells[cell].ty;
        let (lo, hi) = (self.evaluator.as_word(&range.lo), self.evaluator.as_word(&range.hi));
        let empty = words.less(&hi, &lo)?;
        let inside = algebra.and(&self.within_type(&lo, ty)?, &self.within_type(&hi, ty)?)?;
        let states = algebra.and_not(&algebra.and_not(&path.states, &empty)?, &inside)?;
        let example = self.evaluator.example(&lo, &states);
        Ok(example.map(|number| {
            let fault = Some(self.out_of_range(cell, number.to_string()));
            Path { states, fault, ..path.clone() }
        }))
    }

    /// Where a number is one of a type, or the index of one of its processes.
    fn within_type(&self, word: &Word, ty: ScalarType) -> Outcome<Bdd> {
        let words = self.evaluator.words();
        let model = self.evaluator.model();
        let constant = |number: i64| words.constant(i128::from(number));
        let between = |first: i64, last: i64| words.between(word, &constant(first), &constant(last));
        match ty {
            ScalarType::Range { lo, hi } => between(lo, hi),
            ScalarType::Semaphore { max } => between(0, max),
            ScalarType::Pid(family) | ScalarType::PidOrNone(family) => {
                let indices = model.families[family].processes().map(|process| model.processes[process].index);
                { indices }.try_fold(self.evaluator.variables.empty(), |all, index| {
                    self.evaluator.algebra.or(&all, &words.equal(word, &constant(index))?)
                })
            }
            ScalarType::Bool | ScalarType::Enum(_) | ScalarType::Lock => Ok(self.evaluator.variables.empty()),
        }
    }

    /// `acquire` and `release`: gives a cell a content that depends on its old one; a path on which nothing can be taken is none.
    pub fn change(&mut self, me: ProcessId, access: &'a Access, path: Path, way: Passing) -> Outcome<Vec<Path>> {
        let mut found = Vec::new();
        for (cell, path) in self.locate(me, access, path, &mut found)? {
            let scene = Scene { me: Some(me), ..path.scene.clone() };
            let loaded = self.evaluator.load(cell, &scene, &path.states)?;
            let touched = std::mem::take(&mut self.evaluator.touched);
            for (held, states) in loaded {
                let path = Path { states, touched: [path.touched.as_slice(), &touched].concat(), ..path.clone() };
                match held {
                    Content::Word(held) => found.extend(self.pass_units(me, (cell, &held), path, way)?),
                    held => found.extend(self.pass_unit(me, (cell, plain(held)), path, way)?),
                }
            }
        }
        Ok(found)
    }

    fn pass_unit(
        &mut self,
        me: ProcessId,
        (cell, held): (CellId, Value),
        mut path: Path,
        way: Passing,
    ) -> Outcome<Option<Path>> {
        let ty = self.evaluator.model().cells[cell].ty;
        let after = match (way, ty, held) {
            (Passing::Acquire, ScalarType::Lock, Value::None) => Ok(Value::Process(me)),
            (Passing::Acquire, ScalarType::Semaphore { .. }, Value::Int(n)) if n > 0 => Ok(Value::Int(n - 1)),
            (Passing::Acquire, ..) => return Ok(None),
            (Passing::Release, ScalarType::Semaphore { max }, Value::Int(n)) if n < max => Ok(Value::Int(n + 1)),
            (Passing::Release, ScalarType::Semaphore { .. }, _) => Err(self.full(cell)),
            (Passing::Release, _, held) if held == Value::Process(me) => Ok(Value::None),
            (Passing::Release, ..) => Err(Fault::NotHeld { lock: String::new() }),
        };
        match after {
            Ok(value) => self.put(me, cell, Content::Value(value), &mut path)?,
            Err(fault) => path.fault = Some(fault),
        }
        Ok(Some(path))
    }

    /// The same for a semaphore with many units.
    fn pass_units(
        &mut self,
        me: ProcessId,
        (cell, held): (CellId, &Word),
        path: Path,
        way: Passing,
    ) -> Outcome<Vec<Path>> {
        let (algebra, words) = (self.evaluator.algebra, self.evaluator.words());
        let ScalarType::Semaphore { max } = self.evaluator.model().cells[cell].ty else {
            unreachable!("front-ends check types: only semaphores have units")
        };
        let (end, step) = if way == Passing::Acquire { (0, -1) } else { (i128::from(max), 1) };
        let at_end = words.equal(held, &words.constant(end))?;
        let mut moved = Path { states: algebra.and_not(&path.states, &at_end)?, ..path.clone() };
        self.put(me, cell, Content::Word(words.add(held, &words.constant(step))?), &mut moved)?;
        let stuck = algebra.and(&path.states, &at_end)?;
        let failed = (way == Passing::Release).then(|| Path { states: stuck, fault: Some(self.full(cell)), ..path });
        let mut found: Vec<Path> = [moved].into_iter().chain(failed).collect();
        found.retain(|path| !path.states.is_false());
        Ok(found)
    }

    fn put(&mut self, me: ProcessId, cell: CellId, content: Content, path: &mut Path) -> Outcome<()> {
        let scene = Scene { me: Some(me), ..Scene::default() };
        self.evaluator.touch(cell, true, &scene, &path.states)?;
        path.touched.append(&mut self.evaluator.touched);
        path.scene.cells.insert(cell, content);
        Ok(())
    }

    fn has_many_values(&self, cell: CellId) -> bool {
        let ty = self.evaluator.model().cells[cell].ty;
        let is_number = matches!(ty, ScalarType::Range { .. } | ScalarType::Semaphore { .. });
        is_number && self.evaluator.numbering.n_values(Column::Cell(cell)) > MOST_LISTED
    }

    fn full(&self, cell: CellId) -> Fault {
        Fault::SemaphoreFull { semaphore: self.evaluator.model().cells[cell].name.clone() }
    }

    fn out_of_range(&self, cell: CellId, value: String) -> Fault {
        Fault::OutOfRange { target: self.evaluator.model().cells[cell].name.clone(), value }
    }
}
