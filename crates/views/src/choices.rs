//! All ways through a computation with choices, one after the other: each way is computed anew with the next choices.

/// The choices of one way.
#[derive(Clone, Debug, Default)]
pub struct Choices {
    /// What was chosen, out of how many.
    taken: Vec<(usize, usize)>,
    at: usize,
}

impl Choices {
    /// A number below `n`; 0 where there is nothing to choose.
    pub fn choose(&mut self, n: usize) -> usize {
        if n < 2 {
            return 0;
        }
        if self.at == self.taken.len() {
            self.taken.push((0, n));
        }
        self.at += 1;
        self.taken[self.at - 1].0
    }

    /// Goes on to the next way; whether there is one.
    pub fn advance(&mut self) -> bool {
        self.at = 0;
        while let Some((chosen, n)) = self.taken.pop() {
            if chosen + 1 < n {
                self.taken.push((chosen + 1, n));
                return true;
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_is_taken_once() {
        let mut choices = Choices::default();
        let mut ways = Vec::new();
        loop {
            let first = choices.choose(3);
            ways.push((first, if first == 1 { choices.choose(2) } else { 9 }));
            if !choices.advance() {
                break;
            }
        }
        assert_eq!(ways, [(0, 9), (1, 0), (1, 1), (2, 9)]);
    }
}
