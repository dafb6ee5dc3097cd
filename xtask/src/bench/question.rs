//! Questions that are asked at several sizes and of several methods, as tables.
//!
//! In: the released binary and a list of questions. Out: for each question a table, one row for each size and one column for
//! each tool, of seconds and memory from start to end. A verdict that is not the expected one ends the benchmark. A method that did
//! not answer is not asked at larger sizes.

use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

use super::aims::{self, AimedGroup};
use super::binary::{Binary, BinaryCall, Ran};
use super::papers::Papers;
use super::spin::{Reduction, Spin};
use super::{BenchCase, document, machine};

/// A question that is asked at several sizes, of several methods.
pub struct BenchQuestion {
    /// The example.
    pub model: &'static str,
    /// The property.
    pub property: &'static str,
    /// The expected verdict.
    pub verdict: &'static str,
    /// Further parameters of the program.
    pub parameters: &'static [&'static str],
    /// The numbers of processes.
    pub sizes: &'static [u32],
    /// The methods.
    pub methods: &'static [&'static str],
    /// The rows of a paper's table that are about the same protocol.
    pub paper: Option<PaperRows>,
    /// The twins that SPIN searches.
    pub spin: &'static [BenchCase],
}

/// Rows of a paper's table.
pub struct PaperRows {
    /// The paper, as the list of tables names it.
    pub paper: &'static str,
    /// How the paper is cited.
    pub cited: &'static str,
    /// The protocol.
    pub protocol: &'static str,
    /// What was assumed, as the list of tables says it; any where it is empty.
    pub fairness: &'static str,
    /// The paper's methods.
    pub methods: &'static [&'static str],
}

/// A benchmark: its name, what is said before and after its tables, and the questions.
pub struct Benchmark {
    /// The name of its part of the document.
    pub name: &'static str,
    /// What is said first.
    pub head: &'static str,
    /// What is said last.
    pub notes: &'static str,
    /// Questions with an aim, which stand first.
    pub aimed: &'static [AimedGroup],
    /// The questions.
    pub questions: &'static [BenchQuestion],
    /// How much each answer tells.
    pub detail: BenchDetail,
    /// After so many seconds a run is given up.
    pub patience_seconds: f64,
}

/// How much each answer of a benchmark tells.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum BenchDetail {
    /// All that it teaches.
    Everything,
    /// The verdict.
    Verdicts,
}

/// Runs the benchmark, prints its tables, and writes them down if asked to.
pub fn run(benchmark: &Benchmark, root: &Path, writes: bool) -> ExitCode {
    document::finish(root, benchmark.name, measure_all(benchmark, root), writes)
}

fn measure_all(benchmark: &Benchmark, root: &Path) -> Result<String, String> {
    let binary = Binary::build(root)?;
    let spin = Spin::find(root);
    if let Err(missing) = &spin {
        eprintln!("bench: {missing}; Piecewise is measured alone");
    }
    let papers = Papers::read(root);
    if let Err(missing) = &papers {
        eprintln!("bench: {missing}; the papers' figures are left out");
    }
    let mut text = String::from(benchmark.head);
    if !benchmark.aimed.is_empty() {
        // Writing to a string does not fail.
        let _ = write!(text, "\n{}", aims::table(&binary, spin.as_ref().ok(), benchmark.aimed)?);
    }
    for question in benchmark.questions {
        let mut table = BenchTable::new(question);
        table.ours(&binary, benchmark)?;
        if let Ok(spin) = &spin {
            table.spin(spin)?;
        }
        if let (Ok(papers), Some(rows)) = (&papers, &question.paper) {
            table.paper(papers, rows);
        }
        // Writing to a string does not fail.
        let told: String = question.parameters.iter().map(|one| format!(", `{one}`")).collect();
        let _ = write!(text, "\n### `{}`, `{}`{told}\n\n{}", question.model, question.property, table.text());
    }
    let _ = write!(text, "\nMeasured on a machine with {}.\n{}", machine::describe(), benchmark.notes);
    Ok(text)
}

/// One table in the making.
struct BenchTable<'q> {
    question: &'q BenchQuestion,
    columns: Vec<BenchColumn>,
}

struct BenchColumn {
    name: String,
    /// For each size of the question its cell.
    cells: Vec<String>,
}

impl<'q> BenchTable<'q> {
    fn new(question: &'q BenchQuestion) -> Self {
        BenchTable { question, columns: Vec::new() }
    }

    fn ours(&mut self, binary: &Binary, benchmark: &Benchmark) -> Result<(), String> {
        let asked = self.question;
        for method in asked.methods {
            let mut cells = Vec::new();
            let mut gave_up = false;
            for size in asked.sizes {
                if gave_up {
                    cells.push(String::new());
                    continue;
                }
                eprintln!("bench: {} {} N = {size} by {method}", asked.model, asked.property);
                let mut parameters = vec![format!("-N={size}")];
                parameters.extend(asked.parameters.iter().map(|&parameter| parameter.to_owned()));
                let (model, property) = (asked.model, asked.property);
                let seconds = benchmark.patience_seconds;
                let call = BinaryCall { file: format!("examples/{model}.pw"), property, method, parameters, seconds };
                let ran = match benchmark.detail {
                    BenchDetail::Everything => binary.run(&call)?,
                    BenchDetail::Verdicts => binary.run_quietly(&call)?,
                };
                gave_up = ran.verdict == "unknown";
                let filled = cell(&ran, asked.verdict, seconds);
                cells.push(filled.map_err(|wrong| format!("{model} N = {size} by {method}: {wrong}"))?);
            }
            self.columns.push(BenchColumn { name: format!("`{method}`"), cells });
        }
        Ok(())
    }

    fn spin(&mut self, spin: &Spin) -> Result<(), String> {
        for (name, reduction) in [("SPIN", Reduction::PartialOrder), ("SPIN, unreduced", Reduction::None)] {
            let mut cells = vec![String::new(); self.question.sizes.len()];
            for case in self.question.spin {
                eprintln!("bench: {} N = {} by {name}", case.model, case.size);
                let at = self.question.sizes.iter().position(|&size| size == case.size);
                let at = at.ok_or_else(|| format!("{}: SPIN has a size of its own", case.model))?;
                let measured = spin.measure(case, reduction)?;
                cells[at] = figures(measured.seconds, Some(measured.bytes));
            }
            if !self.question.spin.is_empty() {
                self.columns.push(BenchColumn { name: name.to_owned(), cells });
            }
        }
        Ok(())
    }

    fn paper(&mut self, papers: &Papers, rows: &PaperRows) {
        for method in rows.methods {
            let seconds = |&size: &u32| papers.seconds(rows, method, size).unwrap_or_default();
            let cells = self.question.sizes.iter().map(seconds).collect();
            self.columns.push(BenchColumn { name: format!("{}, {method}", rows.cited), cells });
        }
    }

    fn text(&self) -> String {
        let names: Vec<&str> = self.columns.iter().map(|column| column.name.as_str()).collect();
        let mut text = format!("| N | {} |\n|--:|{}\n", names.join(" | "), "--:|".repeat(names.len()));
        for (at, size) in self.question.sizes.iter().enumerate() {
            let cells: Vec<&str> = self.columns.iter().map(|column| column.cells[at].as_str()).collect();
            // Writing to a string does not fail.
            let _ = writeln!(text, "| {size} | {} |", cells.join(" | "));
        }
        text
    }
}

/// The cell of the table for a run of ours; what is wrong with it otherwise.
fn cell(ran: &Ran, expected: &str, patience_seconds: f64) -> Result<String, String> {
    if ran.verdict == "unknown" {
        let reason = ran.reason.as_deref().unwrap_or_default();
        let short = if reason.contains("time") {
            format!("> {patience_seconds} s")
        } else if reason.contains("memory") || reason.contains("nodes") {
            String::from("> 4 GB")
        } else {
            String::from("too coarse")
        };
        return Ok(short);
    }
    if ran.verdict != expected {
        return Err(format!("the verdict is {}, not {expected}", ran.verdict));
    }
    let unaudited = if ran.audited { "" } else { " *" };
    Ok(format!("{}{unaudited}", figures(ran.seconds, ran.peak_bytes)))
}

fn figures(seconds: f64, bytes: Option<u64>) -> String {
    let time = match seconds {
        short if short < 0.1 => format!("{seconds:.3} s"),
        middle if middle < 10.0 => format!("{seconds:.2} s"),
        _ => format!("{seconds:.0} s"),
    };
    let memory = bytes.map_or(String::new(), |bytes| format!(", {} MB", bytes.div_ceil(1 << 20)));
    format!("{time}{memory}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ran(verdict: &str, reason: Option<&str>) -> Ran {
        let reason = reason.map(str::to_owned);
        Ran {
            verdict: verdict.to_owned(),
            method: "mono".to_owned(),
            reason,
            audited: true,
            seconds: 0.25,
            cpu_seconds: 0.25,
            peak_bytes: Some(3 << 20),
        }
    }

    #[test]
    fn cells_are_short_and_wrong_verdicts_refused() {
        assert_eq!(cell(&ran("holds", None), "holds", 10.0), Ok("0.25 s, 3 MB".to_owned()));
        assert_eq!(cell(&Ran { audited: false, ..ran("holds", None) }, "holds", 10.0), Ok("0.25 s, 3 MB *".to_owned()));
        assert_eq!(
            cell(&ran("unknown", Some("the time limit of 10 s was reached")), "holds", 10.0),
            Ok("> 10 s".to_owned())
        );
        assert_eq!(cell(&ran("unknown", Some("one process cannot tell")), "holds", 10.0), Ok("too coarse".to_owned()));
        assert!(cell(&ran("violated", None), "holds", 10.0).is_err());
    }
}
