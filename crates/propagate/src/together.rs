//! Several processes looked at at once, where what each one sees by itself leaves something.
//!
//! In: the processes of which a refutation excluded something before nothing changed any more. Out: which of them the view of the property shows besides its own
//! processes, in the next attempts. What two processes know together may exclude what neither knows: that not both wait for the other. A view of all processes is the
//! whole product, so that little is left open of small programs; which processes a refutation looks at together is part of it, and the checker makes the same view.

use model::process::ProcessId;

/// So many processes are tried one by one.
const MOST_TRIED: usize = 4;

/// Up to so many processes are looked at all together.
const MOST_TOGETHER: usize = 6;

/// So many times the view states of one attempt may be made for a property.
const ATTEMPTS: usize = 3;

/// The processes that the view of a property shows besides its own.
#[derive(Clone, Copy, Debug, Default)]
pub struct Company<'c> {
    /// The processes.
    pub with: &'c [ProcessId],
    /// The view has at most so many view states; 0 for no bound of its own.
    pub most_rows: usize,
    /// Whether the view shows what a violation begins with, and each process what it shows of the rest.
    pub is_partly_shown: bool,
}

impl Company<'static> {
    /// No process of which the property speaks all the time.
    pub const PARTLY: Company<'static> = Company { with: &[], most_rows: 0, is_partly_shown: true };
}

/// What may be spent on such views.
#[derive(Clone, Copy, Debug, Default)]
pub struct Together {
    most_rows: usize,
    spare_rows: usize,
}

impl Together {
    /// Views of at most so many view states each.
    pub fn of(most_rows: usize) -> Self {
        Together { most_rows, spare_rows: ATTEMPTS * most_rows }
    }

    /// How many view states the next view may have.
    pub fn most_rows(&self) -> usize {
        self.most_rows.min(self.spare_rows)
    }

    /// So many were made in vain.
    pub fn spend(&mut self, n_rows: usize) {
        self.spare_rows = self.spare_rows.saturating_sub(n_rows);
    }

    /// The processes to add in the next attempts, where these are near, first the nearest.
    pub fn choices(&self, near: &[ProcessId], n_processes: usize) -> Vec<Vec<ProcessId>> {
        if self.most_rows() == 0 {
            return Vec::new();
        }
        let mut choices: Vec<Vec<ProcessId>> = near.iter().take(MOST_TRIED).map(|&one| vec![one]).collect();
        if near.len() > 2 {
            choices.push(near[..2].to_vec());
        }
        if n_processes <= MOST_TOGETHER {
            let all: Vec<ProcessId> = (0..n_processes).map(ProcessId::new).collect();
            choices.push(all);
        }
        choices
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_by_one_then_two_then_all_of_few() {
        let named = |numbers: &[usize]| numbers.iter().copied().map(ProcessId::new).collect::<Vec<ProcessId>>();
        let choices = |near: &[usize], n| Together::of(10).choices(&named(near), n);
        assert_eq!(choices(&[2, 1], 3), [named(&[2]), named(&[1]), named(&[0, 1, 2])]);
        assert_eq!(choices(&[5, 7, 1], 9), [named(&[5]), named(&[7]), named(&[1]), named(&[5, 7])]);
        assert_eq!(Together::default().choices(&named(&[1]), 3), Vec::<Vec<ProcessId>>::new());
    }

    #[test]
    fn what_was_made_in_vain_is_not_made_again() {
        let mut together = Together::of(10);
        together.spend(25);
        assert_eq!(together.most_rows(), 5);
        together.spend(10);
        assert_eq!((together.most_rows(), together.choices(&[ProcessId::new(1)], 2).len()), (0, 0));
    }
}
