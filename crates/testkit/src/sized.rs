//! Random programs of any size, as texts of the `.pw` language: what proofs for every size are about.
//!
//! In: [`Choices`] and a [`SizedKind`]. Out: a text with one parameter `N`, one statement and one property a line. Most kinds are made of random
//! statements: rings, chains and trees, whose processes read their neighbours, parents and children, and crowds, whose processes are interchangeable. In `numbers.rs` their indices and numbers get into data. Others begin with a
//! protocol that works (`protocols.rs`) and change a few of its words (`changes.rs`), so that most of what is asked is nearly true.

mod numbers;
mod properties;
mod protocols;
mod statements;

use crate::changes;
use crate::choices::Choices;

/// What a program is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SizedKind {
    /// Random statements; the last process and the first are neighbours.
    Rings,
    /// Random statements; they are not.
    Chains,
    /// Random statements; neighbours are parents and children in a binary tree.
    Trees,
    /// Random statements of interchangeable processes.
    Crowds,
    /// Interchangeable clients, and a process that serves them, in random statements.
    Broadcasts,
    /// Interchangeable processes whose indices, ids and numbers get into data.
    Numbers,
    /// A protocol with a few words changed.
    Protocols,
}

impl SizedKind {
    /// All of them.
    pub const ALL: [SizedKind; 7] = [
        SizedKind::Rings,
        SizedKind::Chains,
        SizedKind::Trees,
        SizedKind::Crowds,
        SizedKind::Broadcasts,
        SizedKind::Numbers,
        SizedKind::Protocols,
    ];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            SizedKind::Rings => "rings",
            SizedKind::Chains => "chains",
            SizedKind::Trees => "trees",
            SizedKind::Crowds => "crowds",
            SizedKind::Broadcasts => "broadcasts",
            SizedKind::Numbers => "numbers",
            SizedKind::Protocols => "protocols",
        }
    }
}

/// A random program of this kind.
pub fn text(choices: &mut Choices, kind: SizedKind) -> String {
    let mut writer = SizedWriter { choices, kind, lines: Vec::new(), n_labels: 0, has: Has::default() };
    match kind {
        SizedKind::Protocols => writer.protocol(),
        SizedKind::Numbers => writer.numbers(),
        _ => writer.statements(),
    }
    writer.finish()
}

/// What a program has beside its family `P` and the array `c`.
#[derive(Clone, Copy, Debug, Default)]
struct Has {
    /// `public x` of each process.
    x: bool,
    /// A shared number `g`.
    g: bool,
    /// A shared `p: pid(P)?`.
    p: bool,
    /// A shared `q: pid(P)`.
    q: bool,
    /// A shared lock, or one for each process.
    m: bool,
    /// A shared array `d` with two elements for each process.
    d: bool,
    /// A shared set `w` of processes.
    w: bool,
    /// A single process `S`, whose labels are `h0`, `h1`.
    home: bool,
}

/// A program while it is written.
struct SizedWriter<'c> {
    choices: &'c mut Choices,
    kind: SizedKind,
    lines: Vec<String>,
    n_labels: usize,
    has: Has,
}

impl SizedWriter<'_> {
    fn line(&mut self, text: impl Into<String>) {
        self.lines.push(text.into());
    }

    fn pick(&mut self, items: &[&str]) -> String {
        (*self.choices.pick(items)).to_owned()
    }

    fn is_in_order(&self) -> bool {
        matches!(self.kind, SizedKind::Rings | SizedKind::Chains | SizedKind::Trees)
    }

    /// A protocol of which up to three words are others, with random properties beside its own.
    fn protocol(&mut self) {
        let protocol = self.choices.pick(&protocols::PROTOCOLS);
        self.has = Has {
            x: protocol.has.contains('x'),
            g: protocol.has.contains('g'),
            p: protocol.has.contains('p'),
            ..Has::default()
        };
        self.n_labels = protocol.n_labels;
        let mut text = protocol.text.trim().to_owned();
        for _ in 0..self.choices.below(4) {
            text = changes::program(&text, self.choices).unwrap_or(text);
        }
        self.lines = text.lines().map(str::to_owned).collect();
        self.random_properties(2);
    }

    fn finish(self) -> String {
        format!("{}\n}}\n", self.lines.join("\n"))
    }
}
