//! Names in another language: the user's where that is possible, changed where a word is taken or a character is not allowed.

use std::collections::HashSet;

/// The names of one text.
#[derive(Clone, Debug)]
pub struct NameTable {
    /// Reserved words and names given so far.
    taken: HashSet<String>,
    /// Whether names in capitals only may mean something else.
    avoids_capitals: bool,
}

impl NameTable {
    /// Knows the words that cannot be names.
    pub fn new(reserved: &[&str]) -> Self {
        NameTable { taken: reserved.iter().map(ToString::to_string).collect(), avoids_capitals: false }
    }

    /// Changes names of several capitals, which may be macros elsewhere.
    pub fn avoiding_capitals(mut self) -> Self {
        self.avoids_capitals = true;
        self
    }

    /// The name for what the user calls `wanted`, different from all others.
    pub fn fresh(&mut self, wanted: &str) -> String {
        let mut base = identifier(wanted);
        let n_capitals = base.bytes().filter(u8::is_ascii_uppercase).count();
        if self.avoids_capitals && n_capitals > 1 && !base.contains(|letter: char| letter.is_ascii_lowercase()) {
            base += "_v";
        }
        let mut name = base.clone();
        let mut attempt = 2;
        while self.taken.contains(&name) {
            name = format!("{base}_{attempt}");
            attempt += 1;
        }
        self.taken.insert(name.clone());
        name
    }
}

/// Letters, digits and single underscores: `P[0].level` is `P_0_level`.
pub fn identifier(wanted: &str) -> String {
    let mut name = String::new();
    for letter in wanted.chars() {
        let fits = letter.is_ascii_alphanumeric();
        match letter {
            _ if fits => name.push(letter),
            '_' => name.push('_'),
            // Letters of other alphabets stay apart from each other.
            _ if letter.is_alphanumeric() => name.push_str(&format!("u{:x}", u32::from(letter))),
            ']' => {}
            _ if !name.is_empty() && !name.ends_with('_') => name.push('_'),
            _ => {}
        }
    }
    let name = name.trim_end_matches('_').to_string();
    match name.chars().next() {
        Some(first) if first.is_ascii_alphabetic() => name,
        _ => format!("v{name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_readable_and_apart() {
        let mut names = NameTable::new(&["do"]);
        let given = ["P[0].level", "P_0_level", "do", "_x", "größe", "14:5"].map(|name| names.fresh(name));
        assert_eq!(
            given,
            ["P_0_level", "P_0_level_2", "do_2", "v_x", "gru00f6u00dfe", "v14_5"]
                .map(String::from)
                .map(|n| n.replace("u00f6u00df", "uf6udf"))
        );
    }
}
