//! What `cargo xtask bench auto` is called with: whether its table is written down, and whether a sample is enough.
//!
//! In: the arguments. Out: settings. A sample is drawn by its seed alone, so that the same questions are asked before and after a change.

use testkit::choices::Choices;

/// The seed where none is given.
const FIRST_SEED: u64 = 1;

/// What is asked of the benchmark.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AutoSettings {
    /// Whether the table is written into the documents.
    pub writes: bool,
    /// Some of the questions; `None` for all.
    pub sample: Option<Sample>,
}

/// Some questions, by chance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// So many that some method answers in time.
    pub n_questions: usize,
    /// Equal seeds, equal questions.
    pub seed: u64,
}

impl AutoSettings {
    /// From the words behind `bench auto`.
    pub fn parse(arguments: &[&str]) -> Result<Self, String> {
        let (mut settings, mut n_questions, mut seed) = (AutoSettings::default(), None, None);
        let mut rest = arguments.iter();
        while let Some(&option) = rest.next() {
            let mut number = || {
                let value = rest.next().ok_or_else(|| format!("`{option}` needs a number"))?;
                value.parse::<u64>().map_err(|_| format!("`{option} {value}`: a number is needed"))
            };
            match option {
                "--write" => settings.writes = true,
                "--sample" => n_questions = Some(number()? as usize),
                "--seed" => seed = Some(number()?),
                _ => return Err(format!("there is no option `{option}`; there are --sample, --seed and --write")),
            }
        }
        settings.sample = match (n_questions, seed) {
            (None, Some(_)) => return Err(String::from("`--seed` is for a sample: `--sample 60 --seed 1`")),
            (n_questions, seed) => {
                n_questions.map(|n_questions| Sample { n_questions, seed: seed.unwrap_or(FIRST_SEED) })
            }
        };
        Ok(settings)
    }
}

impl Sample {
    /// All of them, in the order in which this sample takes them.
    pub fn order<T>(self, mut left: Vec<T>) -> Vec<T> {
        let mut choices = Choices::from_seed(self.seed);
        (0..left.len()).map(|_| left.swap_remove(choices.below(left.len()))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_read_and_wrong_ones_refused() {
        let sample = |n_questions, seed| Some(Sample { n_questions, seed });
        assert_eq!(AutoSettings::parse(&[]), Ok(AutoSettings { writes: false, sample: None }));
        assert_eq!(
            AutoSettings::parse(&["--sample", "60", "--seed", "7", "--write"]),
            Ok(AutoSettings { writes: true, sample: sample(60, 7) })
        );
        assert_eq!(AutoSettings::parse(&["--sample", "9"]).unwrap().sample, sample(9, FIRST_SEED));
        for wrong in [&["--sample"][..], &["--sample", "many"], &["--seed", "3"], &["--all"]] {
            assert!(AutoSettings::parse(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn a_sample_depends_on_its_seed_alone() {
        let order = |seed| Sample { n_questions: 5, seed }.order((0..100).collect::<Vec<u32>>());
        assert_eq!(order(1), order(1));
        assert_ne!(order(1), order(2));
        let mut sorted = order(3);
        sorted.sort_unstable();
        assert_eq!(sorted, (0..100).collect::<Vec<u32>>());
    }
}
