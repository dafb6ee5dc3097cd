//! What random Promela programs ask: formulas and `never` claims over shared variables, labels and variables of processes.

use super::parts::PromelaMaker;

impl PromelaMaker<'_> {
    /// A test that a claim may make.
    pub(super) fn shared_test(&mut self) -> String {
        let locals = std::mem::take(&mut self.locals);
        let channels = self.channels.clone();
        self.channels.truncate(self.n_shared_channels);
        let test = self.test(1);
        self.locals = locals;
        self.channels = channels;
        test
    }

    /// A test that only a claim may make: where a process is, what it keeps, which process stepped last.
    fn claimed_test(&mut self) -> String {
        match self.choices.below(10) {
            0..=2 if !self.watched.is_empty() => {
                let place = self.choices.pick(&self.watched).clone();
                if self.choices.chance(25) { format!("!({place})") } else { format!("({place})") }
            }
            3 if !self.kept.is_empty() => {
                format!("({} == {})", self.choices.pick(&self.kept).clone(), self.choices.below(3))
            }
            4 if self.choices.chance(30) => format!("(_last == {})", self.choices.below(3)),
            _ => self.shared_test(),
        }
    }

    pub(super) fn formula(&mut self) -> String {
        let (a, b) = (self.claimed_test(), self.claimed_test());
        match self.choices.below(16) {
            0 => format!("[] {a}"),
            1 => format!("<> {a}"),
            2 | 3 => format!("[]<> {a}"),
            4 => format!("<>[] {a}"),
            5 => format!("[]({a} -> <> {b})"),
            6 => format!("({a}) U ({b})"),
            7 => format!("([]<> {a}) -> ([]<> {b})"),
            8 => format!("([]<> {a}) -> (<> {b})"),
            9 => format!("always (({a}) implies (eventually ({b})))"),
            10 => format!("[](({a} && !({b})) -> (({a}) U ({b})))"),
            11 => format!("({a}) W ({b})"),
            12 => format!("({a}) V ({b})"),
            13 => format!("!(<>[] ({a}) && []<> ({b}))"),
            14 => format!("(<> ({a})) || ([] ({b} -> (({a}) U ({b}))))"),
            _ => format!("(<> ({a})) <-> ([]<> ({b}))"),
        }
    }

    pub(super) fn never(&mut self) -> String {
        let (a, b) = (self.claimed_test(), self.claimed_test());
        match self.choices.below(8) {
            0 => format!("do :: {a} -> break :: else od; accept_all: do :: {b} od"),
            1 => {
                format!("T0: if :: {a} -> goto accept_S :: true -> goto T0 fi; accept_S: if :: {b} -> goto accept_S fi")
            }
            2 => format!("do :: {a} :: {b} -> break od"),
            3 => format!("do :: assert({a}) od"),
            4 => format!("do :: true :: atomic {{ ({a}) -> assert(!({a})) }} od; accept_all: skip"),
            5 => format!("{a}; {b}; accept_here: do :: {a} :: else -> {b} od"),
            6 => format!("do :: {a} -> if :: {b} -> goto accept_T :: else fi :: else od; accept_T: {a}; goto accept_T"),
            _ => format!("accept_F: {a}; T: if :: {b} -> goto accept_F :: else -> goto T :: {a} -> skip fi"),
        }
    }
}
