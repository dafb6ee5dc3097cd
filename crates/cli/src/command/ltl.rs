//! `ltl`: the automaton of a formula.
//!
//! The formula stands in the call, or comes from the standard input. What is wrong with it is shown like the errors of a program.

use std::io;

use base::{Budget, SourceFile, StopReason};
use driver::files;
use driver::load::Refusal;
use ltl::syntax::{self, Style};
use ltl::{Atoms, Automaton, FormulaId, Formulas, Simplifier, Translation, Unary, dot, hoa};

use crate::failure::Failure;
use crate::files::Target;
use crate::options::{Acceptance, AutomatonFormat, DisplayOptions, LtlOptions};
use crate::status::ExitStatus;
use crate::{interrupt, limits, messages, terminal};

/// What stands for the standard input in the place of a formula.
const STDIN: &str = "-";

/// Translates a formula.
pub fn run(options: &LtlOptions, display: &DisplayOptions) -> Result<ExitStatus, Failure> {
    let _guard = limits::Guard::new((options.timeout, None), Default::default());
    let target = options.output.as_deref().map(Target::new).transpose()?;
    let source = source(&options.formula)?;
    let (mut formulas, mut atoms) = (Formulas::new(), Atoms::new());
    let mut root = match syntax::parse(&source, &mut formulas, &mut atoms) {
        Ok(root) => root,
        Err(diagnostics) => {
            messages::refusal(&Refusal { source, diagnostics }, "there is no automaton", display);
            return Ok(ExitStatus::BadInput);
        }
    };
    if options.negate {
        root = formulas.unary(Unary::Not, root);
    }
    let cancel = base::CancelToken::default();
    interrupt::cancel_on_interrupt(&cancel);
    let budget = Budget::new(options.timeout, None, cancel);
    let automaton = match ltl::translate(&mut formulas, root, &translation(options), &budget) {
        Ok(automaton) => automaton,
        Err(reason) => return Ok(undecided(&reason)),
    };
    let name = syntax::print(&formulas, &atoms, root, Style::Keywords);
    let text = match options.format {
        AutomatonFormat::Hoa => hoa::write(&automaton, &atoms, &name),
        AutomatonFormat::Dot => dot::write(&automaton, &atoms, &name),
        AutomatonFormat::Human => page(&mut formulas, &atoms, root, &automaton),
    };
    match target {
        Some(target) => target.write(&text)?,
        None => terminal::print(&text)?,
    }
    Ok(ExitStatus::AsExpected)
}

fn source(formula: &str) -> Result<SourceFile, Failure> {
    if formula != STDIN {
        return Ok(SourceFile::new("<formula>", formula));
    }
    let bytes = files::read_stream(io::stdin().lock()).map_err(|error| format!("<stdin>: {error}"))?;
    let bytes = bytes.ok_or_else(|| format!("<stdin>: {}", files::too_large()))?;
    let text = String::from_utf8(bytes).map_err(|_| "<stdin>: the formula is not UTF-8".to_owned())?;
    Ok(SourceFile::new("<stdin>", text))
}

fn translation(options: &LtlOptions) -> Translation {
    let acceptance = match options.acceptance {
        Acceptance::Generalised => ltl::Acceptance::Generalised,
        Acceptance::Buchi => ltl::Acceptance::Buchi,
        Acceptance::State => ltl::Acceptance::StateBuchi,
    };
    Translation { acceptance, ..Translation::default() }
}

fn undecided(reason: &StopReason) -> ExitStatus {
    terminal::error(format!("there is no automaton: {reason}"));
    ExitStatus::Undecided
}

/// The automaton for people: how the formula was read, and every edge.
fn page(formulas: &mut Formulas, atoms: &Atoms, root: FormulaId, automaton: &Automaton) -> String {
    let counted = |count: usize, one: &str, many: &str| report::numbers::counted(count as u64, one, many);
    let simple = Simplifier::new(formulas).simplify(root);
    let mut text = String::new();
    text += &format!("formula     {}\n", syntax::print(formulas, atoms, root, Style::Keywords));
    text += &format!("simplified  {}\n", syntax::print(formulas, atoms, simple, Style::Keywords));
    text += &format!("Spot        {}\n", syntax::print(formulas, atoms, root, Style::Spot));
    text += &format!("SPIN        {}\n", syntax::print(formulas, atoms, root, Style::Spin));
    let sizes = [
        counted(automaton.states.len(), "state", "states"),
        counted(automaton.n_edges(), "edge", "edges"),
        counted(automaton.n_marks, "mark", "marks"),
    ];
    text += &format!("automaton   {}\n", sizes.join(", "));
    for (id, state) in automaton.states.entries() {
        let start = if id == automaton.initial { "  (initial)" } else { "" };
        text += &format!("\nstate {}{start}\n", id.index());
        for edge in &state.edges {
            let marks: String = edge.marks.iter().map(|mark| format!(" {{{mark}}}")).collect();
            text += &format!("  to {}{marks}  if {}\n", edge.target.index(), dot::label_text(&edge.label, atoms));
        }
    }
    text
}
