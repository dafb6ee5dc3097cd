//! `cargo xtask bench safety`: proofs and refutations one process at a time, beside our own whole-product methods, SPIN, and
//! the tables of the papers.
//!
//! In: the released binary and the questions below. Out: for each question a table, one row for each size and one column for
//! each tool, of seconds and memory from start to end; with `--write` in `docs/benchmarks.md`. A verdict that is not the
//! expected one, or evidence that was not audited, ends the benchmark. A method that did not answer is not asked at larger sizes.

use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

use super::binary::{Binary, Call, Ran};
use super::papers::Papers;
use super::spin::{Reduction, Spin};
use super::{Case, document, machine};

/// A question that is asked at several sizes, of several methods.
struct Question {
    model: &'static str,
    property: &'static str,
    verdict: &'static str,
    /// What else the program is told.
    parameters: &'static [&'static str],
    sizes: &'static [u32],
    methods: &'static [&'static str],
    /// The table of the paper on local proofs that has the same protocol.
    paper: Option<&'static str>,
    /// The twins that SPIN searches.
    spin: &'static [Case],
}

/// After so many seconds a run is given up.
const PATIENCE_SECONDS: u32 = 10;

const QUESTIONS: [Question; 6] = [
    Question {
        model: "mux_sem",
        property: "mutex",
        verdict: "holds",
        parameters: &[],
        sizes: &[2, 5, 10, 20, 50, 100, 200, 500],
        methods: &["auto", "pairwise", "completion", "forward", "backward", "mono"],
        paper: None,
        spin: &[Case { model: "mux_sem", size: 10, depth: 100_000, table_bits: 16 }],
    },
    Question {
        model: "mux_sem_try",
        property: "mutex",
        verdict: "violated",
        parameters: &[],
        sizes: &[2, 5, 10, 20, 50, 100],
        methods: &["auto", "pairwise", "completion", "forward", "backward", "mono"],
        paper: Some("mux-sem-try"),
        spin: &[],
    },
    Question {
        model: "szymanski",
        property: "mutex",
        verdict: "holds",
        parameters: &[],
        sizes: &[2, 4, 6, 8, 12, 16, 20],
        methods: &["auto", "pairwise", "forward", "mono"],
        paper: None,
        spin: &[Case { model: "szymanski", size: 6, depth: 10_000, table_bits: 20 }],
    },
    Question {
        model: "bakery_atomic",
        property: "mutex",
        verdict: "holds",
        parameters: &[],
        sizes: &[2, 3, 4, 5, 6, 7, 8],
        methods: &["auto", "tmmc", "split", "forward", "mono"],
        paper: None,
        spin: &[],
    },
    Question {
        model: "philosophers",
        property: "neighbours",
        verdict: "holds",
        parameters: &[],
        sizes: &[2, 5, 10, 20, 50, 100, 200],
        methods: &["auto", "tmmc", "split", "completion", "forward", "mono"],
        paper: None,
        spin: &[Case { model: "philosophers", size: 5, depth: 300_000, table_bits: 19 }],
    },
    Question {
        model: "filter",
        property: "mutex",
        verdict: "holds",
        parameters: &[],
        sizes: &[2, 3, 4, 5, 6, 7],
        methods: &["auto", "completion", "forward", "mono"],
        paper: Some("peterson"),
        spin: &[Case { model: "filter", size: 5, depth: 100_000, table_bits: 20 }],
    },
];

/// Runs the benchmark, prints its tables, and writes them down if asked to.
pub fn run(root: &Path, writes: bool) -> ExitCode {
    let done = measure_all(root).and_then(|text| {
        println!("\n{text}");
        if writes { document::write(root, "safety", &text) } else { Ok(()) }
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn measure_all(root: &Path) -> Result<String, String> {
    let binary = Binary::build(root)?;
    let spin = Spin::find(root);
    if let Err(missing) = &spin {
        eprintln!("bench: {missing}; Piecewise is measured alone");
    }
    let papers = Papers::read(root);
    if let Err(missing) = &papers {
        eprintln!("bench: {missing}; the papers' figures are left out");
    }
    let mut text = String::from(HEAD);
    for question in &QUESTIONS {
        let mut table = Table::new(question);
        table.ours(&binary)?;
        if let Ok(spin) = &spin {
            table.spin(spin)?;
        }
        if let (Ok(papers), Some(protocol)) = (&papers, question.paper) {
            table.paper(papers, protocol);
        }
        // Writing to a string does not fail.
        let _ = write!(text, "\n### `{}`, `{}`\n\n{}", question.model, question.property, table.text());
    }
    let _ = write!(text, "\nMeasured on a machine with {}.\n{NOTES}", machine::describe());
    Ok(text)
}

/// One table in the making.
struct Table<'q> {
    question: &'q Question,
    columns: Vec<Column>,
}

struct Column {
    name: String,
    /// For each size of the question what stands there.
    cells: Vec<String>,
}

impl<'q> Table<'q> {
    fn new(question: &'q Question) -> Self {
        Table { question, columns: Vec::new() }
    }

    fn ours(&mut self, binary: &Binary) -> Result<(), String> {
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
                let ran = binary.run(&Call { model, property, method, parameters, seconds: PATIENCE_SECONDS })?;
                gave_up = ran.verdict == "unknown";
                cells.push(
                    cell(&ran, asked.verdict).map_err(|wrong| format!("{model} N = {size} by {method}: {wrong}"))?,
                );
            }
            self.columns.push(Column { name: format!("`{method}`"), cells });
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
                self.columns.push(Column { name: name.to_owned(), cells });
            }
        }
        Ok(())
    }

    fn paper(&mut self, papers: &Papers, protocol: &str) {
        for method in ["completion", "forward"] {
            let seconds = |&size: &u32| papers.seconds("cav07", protocol, method, size).unwrap_or_default();
            let cells = self.question.sizes.iter().map(seconds).collect();
            self.columns.push(Column { name: format!("CAV'07, {method}"), cells });
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

/// What stands in the table for a run of ours; what is wrong with it otherwise.
fn cell(ran: &Ran, expected: &str) -> Result<String, String> {
    if ran.verdict == "unknown" {
        let reason = ran.reason.as_deref().unwrap_or_default();
        let short = if reason.contains("time") {
            format!("> {PATIENCE_SECONDS} s")
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

const HEAD: &str = "## Safety, one process at a time

Made by `cargo xtask bench safety --write`. Seconds are on the clock, of the whole command `piecewise check … --method M -N n` from its start to
its end: reading, checking, the independent check of the proof or the replay of the run, printing. Memory is the most that the process had.
";

const NOTES: &str = "
- `auto` stands first: what a user gets who names no method. A method that answered `unknown` is not asked at larger sizes (empty cells).
  *too coarse* means that the method's invariants, which are the strongest of their kind, do not prove the property.
- `*`: the whole product has too many states to be searched again by the reference semantics; all proofs by local methods are checked.
- SPIN searches twins of the programs (`benches/spin/`) without any property, compiled with `-O2`: with its partial-order reduction, which a
  property would weaken, and without. Its time is that of the search, without generating and compiling it.
- The papers' seconds are those printed in 2007, on the machines of their time; their Peterson is our filter lock, though the figures for
  10 and 20 processes must be of another model (the split invariant of this one grows five- to sixfold with each process).
";

#[cfg(test)]
mod tests {
    use super::*;

    fn ran(verdict: &str, reason: Option<&str>) -> Ran {
        let reason = reason.map(str::to_owned);
        Ran { verdict: verdict.to_owned(), reason, audited: true, seconds: 0.25, peak_bytes: Some(3 << 20) }
    }

    #[test]
    fn cells_are_short_and_wrong_verdicts_refused() {
        assert_eq!(cell(&ran("holds", None), "holds"), Ok("0.25 s, 3 MB".to_owned()));
        assert_eq!(cell(&Ran { audited: false, ..ran("holds", None) }, "holds"), Ok("0.25 s, 3 MB *".to_owned()));
        assert_eq!(cell(&ran("unknown", Some("the time limit of 10 s was reached")), "holds"), Ok("> 10 s".to_owned()));
        assert_eq!(cell(&ran("unknown", Some("one process cannot tell")), "holds"), Ok("too coarse".to_owned()));
        assert!(cell(&ran("violated", None), "holds").is_err());
    }
}
