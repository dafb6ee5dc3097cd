//! How a measured number grows with the size of an instance.
//!
//! In: pairs of a size and a number. Out: whether the number stays the same, grows by a constant, like a power of the size, or by a factor for
//! each step. A power and a factor are distinguished by which of the two straight lines (logarithm over logarithm, logarithm over size) fits the
//! larger half of the sizes better, in the least-squares sense. It describes what was measured and promises nothing.

/// How a number grows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Growth {
    /// It is the same for every size.
    Same,
    /// By so much for each step.
    By(f64),
    /// Like this power of the size.
    Power(f64),
    /// By this factor for each step.
    Factor(f64),
}

/// Numbers that grow less than this from the first size to the last do not grow in a way that is worth a word.
const WORTH_SAYING: f64 = 1.2;

/// Higher powers are not reported.
const HIGHEST_POWER: f64 = 5.0;

/// How the numbers grow; `None` for fewer than three, and where they go up and down.
pub fn growth(points: &[(i64, f64)]) -> Option<Growth> {
    let (&(first_size, first), &(_, last)) = (points.first()?, points.last()?);
    if points.len() < 3 || points.windows(2).any(|pair| pair[1].0 <= pair[0].0) {
        return None;
    }
    if points.iter().all(|&(_, value)| value == first) {
        return Some(Growth::Same);
    }
    let slope = |pair: &[(i64, f64)]| (pair[1].1 - pair[0].1) / (pair[1].0 - pair[0].0) as f64;
    let slopes: Vec<f64> = points.windows(2).map(slope).collect();
    if slopes.iter().all(|&slope| slope == slopes[0]) {
        return Some(Growth::By(slopes[0]));
    }
    if first <= 0.0 || first_size <= 0 || last < first * WORTH_SAYING {
        return None;
    }
    let tail = &points[(points.len() / 2).min(points.len() - 3)..];
    if tail.first()?.1 <= 0.0 || tail.last()?.1 <= tail.first()?.1 {
        return None;
    }
    let logarithms =
        |of: fn(f64) -> f64| tail.iter().map(|&(size, value)| (of(size as f64), value.ln())).collect::<Vec<_>>();
    let (by_factor, by_power) = (line(&logarithms(|size| size)), line(&logarithms(f64::ln)));
    Some(match by_factor.error < by_power.error || by_power.slope > HIGHEST_POWER {
        true => Growth::Factor(by_factor.slope.exp()),
        false => Growth::Power(by_power.slope),
    })
}

/// A straight line through points, and how far they are from it.
struct Line {
    slope: f64,
    error: f64,
}

fn line(points: &[(f64, f64)]) -> Line {
    let n = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / n;
    let (x, y) = (mean(|point| point.0), mean(|point| point.1));
    let along: f64 = points.iter().map(|point| (point.0 - x).powi(2)).sum();
    let slope = points.iter().map(|point| (point.0 - x) * (point.1 - y)).sum::<f64>() / along;
    let error = points.iter().map(|point| (point.1 - y - slope * (point.0 - x)).powi(2)).sum();
    Line { slope, error }
}

impl Growth {
    /// What grows, and how: `time grows about ×1.3 per process`.
    pub fn words(self, what: &str, (parameter, step): (&str, &str), ascii: bool) -> String {
        let times = if ascii { "x" } else { "×" };
        match self {
            Growth::Same => format!("{what} the same for every {parameter}"),
            Growth::By(slope) if slope < 0.0 => format!("{what} shrinks by {} per {step}", shown(-slope)),
            Growth::By(slope) => format!("{what} grows by {} per {step}", shown(slope)),
            Growth::Power(power) => format!("{what} grows about as {parameter}^{power:.1}"),
            Growth::Factor(factor) => format!("{what} grows about {times}{} per {step}", shown(factor)),
        }
    }
}

/// A factor with two digits that count.
fn shown(number: f64) -> String {
    if number >= 10.0 || number.fract() == 0.0 {
        crate::numbers::count(number.round() as u64)
    } else if number < 1.1 {
        format!("{number:.2}")
    } else {
        format!("{number:.1}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(value: impl Fn(f64) -> f64) -> Option<Growth> {
        growth(&(2..=12).map(|size| (size, value(size as f64))).collect::<Vec<_>>())
    }

    #[test]
    fn growth_is_recognised_by_its_shape() {
        assert_eq!(of(|_| 10.0), Some(Growth::Same));
        assert_eq!(of(|size| 8.0 * size - 3.0), Some(Growth::By(8.0)));
        let Some(Growth::Factor(factor)) = of(|size| 3.0 * 1.7f64.powf(size) + size) else { panic!("a factor") };
        assert!((factor - 1.7).abs() < 0.05, "{factor}");
        let Some(Growth::Power(power)) = of(|size| size.powi(3) + 2.0 * size) else { panic!("a power") };
        assert!((power - 3.0).abs() < 0.1, "{power}");
        assert_eq!(of(|size| if size as i64 % 2 == 0 { 1.0 } else { 1.1 }), None);
        assert_eq!(growth(&[(2, 1.0), (3, 2.0)]), None);
    }

    #[test]
    fn growth_has_words() {
        assert_eq!(
            Growth::Same.words("local states are", ("N", "process"), false),
            "local states are the same for every N"
        );
        assert_eq!(Growth::Factor(1.34).words("time", ("N", "process"), false), "time grows about ×1.3 per process");
        assert_eq!(Growth::Factor(1.04).words("time", ("N", "process"), true), "time grows about x1.04 per process");
        assert_eq!(Growth::Power(2.04).words("time", ("N", "process"), false), "time grows about as N^2.0");
        assert_eq!(Growth::By(12.0).words("size", ("N", "process"), false), "size grows by 12 per process");
    }
}
