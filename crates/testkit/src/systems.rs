//! Random small systems of several processes that see different parts of the store, as DVE texts.
//!
//! In: a seed. Out: a text of two to four processes with two or three places each, over a few global variables of which each
//! process mentions some, with rendezvous in some of them, and with places of others asked for in some. Guards and effects are
//! simple, so that much is reachable and little is not.

use std::fmt::Write;

use crate::choices::Choices;

/// What systems may have beside shared variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Features {
    /// Channels.
    pub rendezvous: bool,
    /// Guards that read the control locations of others.
    pub watching: bool,
}

/// The text of a random system.
pub fn text(seed: u64, features: Features) -> String {
    let mut choices = Choices::from_seed(seed);
    let n_processes = 2 + choices.below(3);
    let n_globals = 1 + choices.below(3);
    let mut out = String::new();
    for at in 0..n_globals {
        writeln!(out, "byte g{at};").expect("texts can be written");
    }
    let has_channel = features.rendezvous && choices.chance(70);
    if has_channel {
        out.push_str("channel c;\n");
    }
    let places: Vec<usize> = (0..n_processes).map(|_| 2 + choices.below(2)).collect();
    for me in 0..n_processes {
        let mentioned: Vec<usize> = (0..n_globals).filter(|_| choices.chance(60)).collect();
        let mut process =
            SystemProcess { choices: &mut choices, me, places: &places, mentioned, features, has_channel };
        let text = process.text();
        out.push_str(&text);
    }
    out.push_str("system async;\n");
    out
}

struct SystemProcess<'c> {
    choices: &'c mut Choices,
    me: usize,
    places: &'c [usize],
    mentioned: Vec<usize>,
    features: Features,
    has_channel: bool,
}

impl SystemProcess<'_> {
    fn text(&mut self) -> String {
        let n_places = self.places[self.me];
        let names: Vec<String> = (0..n_places).map(|at| format!("l{at}")).collect();
        let mut transitions = Vec::new();
        for from in 0..n_places {
            for _ in 0..1 + self.choices.below(2) {
                transitions.push(self.transition(from, n_places));
            }
        }
        let (me, states) = (self.me, names.join(", "));
        let local = if self.choices.chance(30) { "byte v;" } else { "" };
        let body = transitions.join(",\n    ");
        let body = if local.is_empty() { body.replace("v = 1", "").replace("effect ;", "") } else { body };
        format!("process P{me} {{ {local} state {states}; init l0;\n  trans {body}; }}\n")
    }

    fn transition(&mut self, from: usize, n_places: usize) -> String {
        let to = self.choices.below(n_places);
        let mut parts = Vec::new();
        let mut tests = Vec::new();
        if !self.mentioned.is_empty() && self.choices.chance(60) {
            let global = *self.choices.pick(&self.mentioned);
            let relation = *self.choices.pick(&["==", "!="]);
            tests.push(format!("g{global} {relation} {}", self.choices.below(3)));
        }
        if self.features.watching && self.choices.chance(20) {
            let other = (self.me + 1) % self.places.len();
            tests.push(format!("P{other}.l{}", self.choices.below(self.places[other])));
        }
        if !tests.is_empty() {
            parts.push(format!("guard {};", tests.join(" && ")));
        }
        if self.has_channel && self.choices.chance(40) {
            let sends = self.choices.chance(50);
            let target = self.mentioned.first().map(|at| format!("g{at}"));
            match (sends, target) {
                (true, _) => parts.push(format!("sync c!{};", self.choices.below(3))),
                (false, Some(target)) => parts.push(format!("sync c?{target};")),
                (false, None) => {}
            }
        }
        if !self.mentioned.is_empty() && self.choices.chance(60) {
            let effects: Vec<String> = (0..1 + self.choices.below(2))
                .map(|_| format!("g{} = {}", self.choices.pick(&self.mentioned), self.choices.below(3)))
                .collect();
            parts.push(format!("effect {};", effects.join(", ")));
        } else if self.choices.chance(10) {
            parts.push("effect v = 1;".to_string());
        }
        format!("l{from} -> l{to} {{ {} }}", parts.join(" "))
    }
}
