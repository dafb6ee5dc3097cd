//! Temporal properties of programs as linear-time formulas over atoms.
//!
//! In: a Model and the formula of one of its properties. Out: a [`Question`]: the same formula with numbered atoms, and for each atom
//! the expression that it stands for. Quantifiers over temporal formulas become conjunctions and disjunctions of their instances;
//! quantifiers inside an expression stay there. What automata read is [`Question::letter`]: the atoms that are true in a state. This is
//! the one bridge between `ltl`, which knows no Models, and engines, which know both.

mod equal;

use base::StopReason;
use ltl::{Atoms, Binary, Bits, FormulaId, Formulas, Letter, Unary};
use model::Model;
use model::eval::{State, StepFault, Viewpoint};
use model::expr::{Binding, Expr, ExprKind, Quantifier};
use model::print::Printer;
use model::property::{BinaryTemporal, BooleanOp, Formula, UnaryTemporal};
use model::value::Value;

/// What an atom stands for: an expression, in one instance of the quantifiers around it.
#[derive(Clone, Debug)]
pub struct Meaning {
    /// A boolean expression of nobody in particular.
    pub expr: Expr,
    /// The values of the variables that are bound around it, outermost first.
    pub bound: Vec<Value>,
}

impl Meaning {
    /// Whether the expression is true in a state.
    ///
    /// # Errors
    /// An error inside the expression.
    pub fn holds(&self, model: &Model, state: &State) -> Result<bool, StepFault> {
        Viewpoint::of_instance(model, state, &self.bound).truth(&self.expr)
    }
}

/// A temporal property as a formula over atoms.
#[derive(Clone, Debug)]
pub struct Question {
    /// The store of the formula.
    pub formulas: Formulas,
    /// The formula itself.
    pub root: FormulaId,
    /// The atoms by name: the expressions as the user would write them.
    pub atoms: Atoms,
    /// What each atom stands for, in the order of the atoms.
    pub meanings: Vec<Meaning>,
}

/// The most instances of quantifiers that are written out.
const MAX_INSTANCES: usize = 100_000;

impl Question {
    /// The formula of a property. `somewhere` is any state of the program: bounds of quantifiers are constants, and any state tells them.
    ///
    /// # Errors
    /// The bounds of a quantifier, or its condition, have no value; or there are too many instances.
    pub fn new(model: &Model, formula: &Formula, somewhere: &State) -> Result<Self, StopReason> {
        let mut builder = Builder {
            model,
            somewhere,
            formulas: Formulas::new(),
            atoms: Atoms::new(),
            meanings: Vec::new(),
            bound: Vec::new(),
            n_instances: 0,
        };
        let root = builder.formula(formula)?;
        let Builder { formulas, atoms, meanings, .. } = builder;
        Ok(Question { formulas, root, atoms, meanings })
    }

    /// The atoms that are true in a state.
    ///
    /// # Errors
    /// An error inside an expression of the property, which makes the property `unknown`.
    pub fn letter(&self, model: &Model, state: &State) -> Result<Letter, StepFault> {
        let mut letter = Bits::new();
        for (atom, meaning) in self.meanings.iter().enumerate() {
            if meaning.holds(model, state)? {
                letter.insert(atom);
            }
        }
        Ok(letter)
    }
}

struct Builder<'a> {
    model: &'a Model,
    somewhere: &'a State,
    formulas: Formulas,
    atoms: Atoms,
    meanings: Vec<Meaning>,
    /// The values of the variables that are bound here, outermost first.
    bound: Vec<Value>,
    n_instances: usize,
}

impl Builder<'_> {
    fn formula(&mut self, formula: &Formula) -> Result<FormulaId, StopReason> {
        Ok(match formula {
            Formula::Now(expr) => self.now(expr),
            Formula::Not(part) => {
                let part = self.formula(part)?;
                self.formulas.unary(Unary::Not, part)
            }
            Formula::Boolean(operator, left, right) => {
                let (left, right) = (self.formula(left)?, self.formula(right)?);
                match operator {
                    BooleanOp::And => self.formulas.and([left, right]),
                    BooleanOp::Or => self.formulas.or([left, right]),
                    BooleanOp::Implies => self.formulas.binary(Binary::Implies, left, right),
                    BooleanOp::Iff => self.formulas.binary(Binary::Iff, left, right),
                }
            }
            Formula::Unary(operator, part) => {
                let part = self.formula(part)?;
                let operator = match operator {
                    UnaryTemporal::Next => Unary::Next,
                    UnaryTemporal::Always => Unary::Always,
                    UnaryTemporal::Eventually => Unary::Eventually,
                };
                self.formulas.unary(operator, part)
            }
            Formula::Binary(operator, left, right) => {
                let (left, right) = (self.formula(left)?, self.formula(right)?);
                let operator = match operator {
                    BinaryTemporal::Until => Binary::Until,
                    BinaryTemporal::WeakUntil => Binary::WeakUntil,
                    BinaryTemporal::Releases => Binary::Releases,
                    BinaryTemporal::StrongReleases => Binary::StrongReleases,
                    BinaryTemporal::LeadsTo => Binary::LeadsTo,
                };
                self.formulas.binary(operator, left, right)
            }
            // No formula need say what an automaton says.
            Formula::Refused(automaton) => {
                let why = format!("`{}` is an automaton, and this method reads formulas", automaton.name);
                return Err(StopReason::NotSupported(why));
            }
            Formula::Quantified { quantifier, bindings, filter, body } => {
                let mut instances = Vec::new();
                self.instances(bindings, (filter.as_ref(), body), &mut instances)?;
                match quantifier {
                    Quantifier::Exists => self.formulas.or(instances),
                    Quantifier::Forall | Quantifier::Count => self.formulas.and(instances),
                }
            }
        })
    }

    /// The body in all instances of the bindings that satisfy the filter.
    fn instances(
        &mut self,
        bindings: &[Binding],
        (filter, body): (Option<&Expr>, &Formula),
        instances: &mut Vec<FormulaId>,
    ) -> Result<(), StopReason> {
        let Some((first, rest)) = bindings.split_first() else {
            let is_wanted = filter.map(|filter| self.somewhere().truth(filter)).transpose();
            if is_wanted.map_err(error)?.unwrap_or(true) {
                self.n_instances += 1;
                if self.n_instances > MAX_INSTANCES {
                    let why = format!("the property's quantifiers have more than {MAX_INSTANCES} instances");
                    return Err(StopReason::NotSupported(why));
                }
                instances.push(self.formula(body)?);
            }
            return Ok(());
        };
        let values: Vec<Value> = self.somewhere().domain(&first.domain).map_err(error)?.collect();
        for value in values {
            self.bound.push(value);
            let result = self.instances(rest, (filter, body), instances);
            self.bound.pop();
            result?;
        }
        Ok(())
    }

    fn somewhere(&self) -> Viewpoint<'_> {
        Viewpoint::of_instance(self.model, self.somewhere, &self.bound)
    }

    /// An expression about the present: an atom, after negations and constants. The parts of `a && b` stay together, since `b` may
    /// have no value where `a` is false.
    fn now(&mut self, expr: &Expr) -> FormulaId {
        match &expr.kind {
            ExprKind::Const(Value::Bool(value)) => self.formulas.constant(*value),
            ExprKind::Not(inner) => {
                let inner = self.now(inner);
                self.formulas.unary(Unary::Not, inner)
            }
            _ => self.atom(expr),
        }
    }

    fn atom(&mut self, expr: &Expr) -> FormulaId {
        let is_same = |known: &Meaning| equal::in_instances((&known.expr, &known.bound), (expr, &self.bound));
        let known = self.meanings.iter().position(is_same);
        let index = known.unwrap_or_else(|| self.new_atom(expr));
        self.formulas.atom(ltl::AtomId::new(index))
    }

    fn new_atom(&mut self, expr: &Expr) -> usize {
        let printer = self.bound.iter().fold(Printer::new(self.model), |printer, &value| printer.bind_value(value));
        let text = { printer }.expr(expr);
        // Different expressions may look alike; their atoms must not be one.
        let mut name = text.clone();
        let mut copy = 1;
        while self.atoms.find(&name).is_some() {
            copy += 1;
            name = format!("{text} ({copy})");
        }
        let atom = self.atoms.named(&name);
        self.meanings.push(Meaning { expr: expr.clone(), bound: self.bound.clone() });
        atom.index()
    }
}

fn error(fault: StepFault) -> StopReason {
    StopReason::PropertyError(fault.fault.to_string())
}
