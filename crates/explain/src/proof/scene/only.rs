//! Which processes of a family something is said of, where they differ by their position.

use evidence::rings::{Distances, Network, ProcessType};

/// Some processes of a family.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Only {
    /// All of them.
    All,
    /// Those of these types, side by side.
    Line(Distances, Vec<ProcessType>),
    /// Those of these types, in a binary tree.
    Tree(Vec<ProcessType>),
}

impl Only {
    /// The processes of a type.
    pub(super) fn of_type(network: Network, distances: Distances, of: ProcessType) -> Only {
        match network {
            Network::Line if distances == (Distances { left: 0, right: 0, modulus: 1 }) => Only::All,
            Network::Line => Only::Line(distances, vec![of]),
            Network::Tree => Only::Tree(vec![of]),
        }
    }

    /// Adds the types of the other.
    pub(in super::super) fn extend(&mut self, other: &Only) {
        match (self, other) {
            (Only::Line(_, types), Only::Line(_, more)) | (Only::Tree(types), Only::Tree(more)) => {
                types.extend(more.iter().filter(|of| !types.contains(of)).copied().collect::<Vec<_>>());
            }
            _ => {}
        }
    }

    /// Whether it is said of the process at a position, of so many.
    pub fn admits(&self, position: usize, count: usize) -> bool {
        match self {
            Only::All => true,
            Only::Line(distances, types) => types.contains(&distances.type_of(position, count)),
            Only::Tree(types) => {
                let children = count.saturating_sub(2 * position + 1).min(2);
                types.contains(&ProcessType { left: position.min(1), right: children, residue: position % 2 })
            }
        }
    }

    /// The condition on an index, of which `first` is the least; `None` where it is said of all. For some sets of types the words are
    /// a list of what each of them is.
    pub fn condition(&self, letter: &str, size: &str) -> Option<String> {
        match self {
            Only::All => None,
            Only::Line(distances, types) => line(*distances, types, letter, size),
            Only::Tree(types) => tree(types, letter, size),
        }
    }
}

/// All types that processes side by side can have.
fn all_types(distances: Distances) -> Vec<ProcessType> {
    let size = distances.left + distances.right + 3 * distances.modulus.max(1) + 2;
    let mut found: Vec<ProcessType> = Vec::new();
    for count in size..size + distances.modulus.max(1) {
        found.extend((0..count).map(|index| distances.type_of(index, count)));
    }
    found.sort_unstable();
    found.dedup();
    found
}

fn line(distances: Distances, types: &[ProcessType], letter: &str, size: &str) -> Option<String> {
    let all = all_types(distances);
    let left_out: Vec<ProcessType> = all.iter().filter(|of| !types.contains(of)).copied().collect();
    if left_out.is_empty() {
        return None;
    }
    let one = |of: &ProcessType| {
        let mut parts = Vec::new();
        match of.left {
            at if at < distances.left => parts.push(format!("{letter} == {at}")),
            at if at > 0 => parts.push(format!("{letter} >= {at}")),
            _ => {}
        }
        match of.right {
            at if at < distances.right => parts.push(format!("{letter} == {size} - {}", at + 1)),
            at if at > 0 => parts.push(format!("{letter} < {size} - {at}")),
            _ => {}
        }
        if distances.modulus > 1 {
            parts.push(format!("{letter} % {} == {}", distances.modulus, of.residue));
        }
        parts.join(" && ")
    };
    // Where one dimension alone says it, it is said shortly.
    let of_residues = |of: &ProcessType| types.iter().any(|other| other.residue == of.residue);
    if distances.modulus > 1 && all.iter().all(|of| types.contains(of) == of_residues(of)) {
        let mut residues: Vec<usize> = types.iter().map(|of| of.residue).collect();
        residues.sort_unstable();
        residues.dedup();
        let each: Vec<String> =
            residues.iter().map(|residue| format!("{letter} % {} == {residue}", distances.modulus)).collect();
        return Some(each.join(" || "));
    }
    if distances.modulus <= 1 && distances.right == 0 {
        return Some(ends(types.iter().map(|of| of.left).collect(), distances.left, letter));
    }
    let each: Vec<String> = types.iter().map(one).collect();
    Some(each.join(" || "))
}

/// Distances from the first process.
fn ends(mut at: Vec<usize>, most: usize, letter: &str) -> String {
    at.sort_unstable();
    at.dedup();
    let first = at[0];
    let is_upward = at.contains(&most) && at.len() == most + 1 - first;
    match is_upward {
        true if first == 1 => format!("{letter} > 0"),
        true => format!("{letter} >= {first}"),
        false => {
            let one = |at: &usize| if *at < most { format!("{letter} == {at}") } else { format!("{letter} >= {at}") };
            at.iter().map(one).collect::<Vec<_>>().join(" || ")
        }
    }
}

/// The types of processes in trees, by conditions that depend on nothing else.
fn tree(types: &[ProcessType], letter: &str, size: &str) -> Option<String> {
    type Test = (String, fn(&ProcessType) -> bool);
    let tests: [Test; 8] = [
        (format!("{letter} == 0"), |of| of.left == 0),
        (format!("{letter} > 0"), |of| of.left > 0),
        (format!("2 * {letter} + 1 < {size}"), |of| of.right > 0),
        (format!("2 * {letter} + 1 >= {size}"), |of| of.right == 0),
        (format!("2 * {letter} + 2 < {size}"), |of| of.right == 2),
        (format!("2 * {letter} + 2 == {size}"), |of| of.right == 1),
        (format!("{letter} % 2 == 1"), |of| of.residue == 1),
        (format!("{letter} > 0 && {letter} % 2 == 0"), |of| of.left > 0 && of.residue == 0),
    ];
    let mut all: Vec<ProcessType> = Vec::new();
    for right in 0..3 {
        all.push(ProcessType { left: 0, right, residue: 0 });
        all.extend([0, 1].map(|residue| ProcessType { left: 1, right, residue }));
    }
    if all.iter().all(|of| types.contains(of)) {
        return None;
    }
    let says = |chosen: &[usize]| all.iter().all(|of| types.contains(of) == chosen.iter().all(|&at| tests[at].1(of)));
    let texts = |chosen: &[usize]| chosen.iter().map(|&at| tests[at].0.clone()).collect::<Vec<_>>().join(" && ");
    let n = tests.len();
    let singles = (0..n).map(|one| vec![one]);
    let pairs = (0..n).flat_map(|one| (one + 1..n).map(move |other| vec![one, other]));
    let triples = (0..n)
        .flat_map(|one| (one + 1..n).flat_map(move |other| (other + 1..n).map(move |third| vec![one, other, third])));
    let found = singles.chain(pairs).chain(triples).find(|chosen| says(chosen));
    let each = || {
        let one = |of: &ProcessType| {
            tree(std::slice::from_ref(of), letter, size).map_or_else(|| "true".to_owned(), |text| format!("({text})"))
        };
        types.iter().map(one).collect::<Vec<_>>().join(" || ")
    };
    Some(match found {
        Some(chosen) => texts(&chosen),
        None if types.len() > 1 => each(),
        None => "true".to_owned(),
    })
}
