//! The figures that the papers print, where their list is beside the project.

use std::path::Path;

use super::question::PaperRows;

/// The rows of `paper_tables.csv`.
pub struct Papers {
    rows: Vec<Vec<String>>,
}

impl Papers {
    /// Reads the list; what is missing otherwise.
    pub fn read(root: &Path) -> Result<Self, String> {
        let path = root.join("../shared/bench/paper_tables.csv");
        let text = std::fs::read_to_string(path).map_err(|_| String::from("the papers' tables are not here"))?;
        Ok(Papers { rows: text.lines().skip(1).map(fields).collect() })
    }

    /// The seconds of a method at a size, as printed.
    pub fn seconds(&self, rows: &PaperRows, method: &str, n_processes: u32) -> Option<String> {
        let size = n_processes.to_string();
        let is_it = |row: &&Vec<String>| {
            let field = |at: usize| row.get(at).map(String::as_str);
            let same = [field(0), field(2), field(6), field(7)]
                == [Some(rows.paper), Some(rows.protocol), Some(method), Some(size.as_str())];
            same && (rows.fairness.is_empty() || field(4) == Some(rows.fairness))
        };
        let seconds = self.rows.iter().find(is_it)?.get(10)?;
        Some(format!("{seconds} s"))
    }
}

/// The fields of a line; a field in quotation marks may contain commas.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    for letter in line.chars() {
        match letter {
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            _ => fields.last_mut().expect("there is a field from the start on").push(letter),
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_in_quotation_marks_do_not_part_fields() {
        assert_eq!(fields("a,\"(1, 2)\",,b"), ["a", "(1, 2)", "", "b"]);
    }

    #[test]
    fn figures_are_found_by_protocol_method_and_size() {
        let papers = Papers { rows: vec![fields("cav07,1,peterson,mutex,none,holds,forward,20,1.8M,30M,127,,,")] };
        let rows = |fairness| PaperRows { paper: "cav07", cited: "", protocol: "peterson", fairness, methods: &[] };
        assert_eq!(papers.seconds(&rows(""), "forward", 20), Some("127 s".to_owned()));
        assert_eq!(papers.seconds(&rows("none"), "forward", 20), Some("127 s".to_owned()));
        assert_eq!(papers.seconds(&rows("strong for all"), "forward", 20), None);
        assert_eq!(papers.seconds(&rows(""), "forward", 2), None);
    }
}
