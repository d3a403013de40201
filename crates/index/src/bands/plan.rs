//! How many bands of how many rows: the shape of the S-curve.

use crate::IndexError;

/// Most positions of a signature, as `MinHash` makes them.
const MAX_POSITIONS: usize = 1024;

/// Bands of rows: a signature of `bands * rows` positions or more is cut into `bands` keys of `rows` positions each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BandPlan {
    /// Bands, at least 1. More find more, at about nine bytes per document each.
    pub bands: usize,
    /// Positions per band, at least 1. More find less, and less that is not similar.
    pub rows: usize,
}

impl BandPlan {
    /// A plan of these bands and rows.
    ///
    /// # Errors
    /// [`IndexError::Bands`] unless both are at least 1 and their product is at most 1024.
    pub fn new(bands: usize, rows: usize) -> Result<Self, IndexError> {
        let plan = Self { bands, rows };
        plan.check()?;
        Ok(plan)
    }

    pub(crate) fn check(self) -> Result<(), IndexError> {
        for (name, given) in [("bands", self.bands), ("rows", self.rows)] {
            if !(1..=MAX_POSITIONS).contains(&given) {
                return Err(out_of_range(name, given, "an integer from 1 to 1024"));
            }
        }
        if self.hashes() > MAX_POSITIONS {
            return Err(out_of_range("bands * rows", self.hashes(), "at most 1024"));
        }
        Ok(())
    }

    /// Positions of a signature that the bands cover.
    pub fn hashes(self) -> usize {
        self.bands * self.rows
    }

    /// The probability that two sets of this similarity share a band: `1 - (1 - s^rows)^bands`.
    pub fn probability(self, similarity: f64) -> f64 {
        let band = power(similarity.clamp(0.0, 1.0), self.rows);
        // ln and exp near 0, where 1 - x would round.
        -((-band).ln_1p() * self.bands as f64).exp_m1()
    }

    /// The similarity at which two sets share a band with this probability: `(1 - (1 - p)^(1 / bands))^(1 / rows)`.
    pub fn similarity(self, probability: f64) -> f64 {
        let band = -((-probability.clamp(0.0, 1.0)).ln_1p() / self.bands as f64).exp_m1();
        band.powf(1.0 / self.rows as f64)
    }

    /// The most selective plan that finds pairs at `threshold` with probability `recall` or more, within `hashes` positions:
    /// the most rows for which the bands that the recall needs fit, and no more bands than it needs.
    ///
    /// # Errors
    /// [`IndexError::Bands`] for a threshold outside (0, 1], a recall outside (0, 1), `hashes` outside 1 to 1024, and where no plan
    /// of so few positions reaches the recall.
    pub fn for_recall(threshold: f64, recall: f64, hashes: usize) -> Result<Self, IndexError> {
        check_threshold(threshold)?;
        check_hashes(hashes)?;
        if !(recall > 0.0 && recall < 1.0) {
            return Err(out_of_range("recall", recall, "above 0 and below 1"));
        }
        let needed = |rows: usize, most: usize| {
            let missed = 1.0 - power(threshold, rows);
            let mut all_missed = 1.0;
            (1..=most).find(|_| {
                all_missed *= missed;
                1.0 - all_missed >= recall
            })
        };
        let plan = (1..=hashes)
            .rev()
            .find_map(|rows| Some(Self { bands: needed(rows, hashes / rows)?, rows }));
        plan.ok_or_else(|| {
            out_of_range(
                "hashes",
                hashes,
                "more for this recall at this threshold, or a lower recall or a higher threshold",
            )
        })
    }

    /// The plan with the least weighted error within `hashes` positions: `false_positive` times the area under the S-curve
    /// below the threshold plus `false_negative` times the area above it beyond the threshold (the rule of datasketch).
    /// Says nothing about the recall at the threshold itself: look at [`BandPlan::probability`].
    ///
    /// # Errors
    /// [`IndexError::Bands`] for a threshold outside (0, 1], weights that are negative, not finite or both 0, or `hashes`
    /// outside 1 to 1024.
    pub fn for_weights(
        threshold: f64,
        false_positive: f64,
        false_negative: f64,
        hashes: usize,
    ) -> Result<Self, IndexError> {
        check_threshold(threshold)?;
        check_hashes(hashes)?;
        for (name, weight) in
            [("weights.false_positive", false_positive), ("weights.false_negative", false_negative)]
        {
            if !(weight >= 0.0 && weight.is_finite()) {
                return Err(out_of_range(name, weight, "0 or more"));
            }
        }
        if false_positive + false_negative <= 0.0 {
            return Err(out_of_range("weights", 0.0, "not both 0"));
        }
        let below = |step: usize| threshold * (step as f64 + 0.5) / STEPS as f64;
        let above =
            |step: usize| threshold + (1.0 - threshold) * (step as f64 + 0.5) / STEPS as f64;
        let mut best: Option<(f64, Self)> = None;
        for rows in 1..=hashes {
            let miss = |similarity: f64| 1.0 - power(similarity, rows);
            let (under, over): (Vec<f64>, Vec<f64>) =
                (0..STEPS).map(|step| (miss(below(step)), miss(above(step)))).unzip();
            let (mut missed_under, mut missed_over) = ([1.0; STEPS], [1.0; STEPS]);
            for bands in 1..=hashes / rows {
                missed_under.iter_mut().zip(&under).for_each(|(all, one)| *all *= one);
                missed_over.iter_mut().zip(&over).for_each(|(all, one)| *all *= one);
                let found: f64 = missed_under.iter().map(|missed| 1.0 - missed).sum();
                let lost: f64 = missed_over.iter().sum();
                let error = (false_positive * threshold * found
                    + false_negative * (1.0 - threshold) * lost)
                    / STEPS as f64;
                if best.is_none_or(|(least, _)| error < least) {
                    best = Some((error, Self { bands, rows }));
                }
            }
        }
        Ok(best.map_or(Self { bands: 1, rows: 1 }, |(_, plan)| plan))
    }
}

/// Midpoints on each side of the threshold: the areas are then exact to four digits.
const STEPS: usize = 100;

/// By multiplication alone, which is the same on every platform: a plan must not depend on a library's `pow`.
fn power(base: f64, exponent: usize) -> f64 {
    (0..exponent).fold(1.0, |product, _| product * base)
}

fn check_threshold(threshold: f64) -> Result<(), IndexError> {
    if threshold > 0.0 && threshold <= 1.0 {
        return Ok(());
    }
    Err(out_of_range("threshold", threshold, "above 0 and at most 1"))
}

fn check_hashes(hashes: usize) -> Result<(), IndexError> {
    if (1..=MAX_POSITIONS).contains(&hashes) {
        return Ok(());
    }
    Err(out_of_range("hashes", hashes, "an integer from 1 to 1024"))
}

pub(super) fn out_of_range(
    name: &'static str,
    given: impl std::fmt::Display,
    range: &'static str,
) -> IndexError {
    IndexError::Bands { name, given: given.to_string(), range }
}

#[cfg(test)]
mod tests {
    use super::BandPlan;

    fn near(a: f64, b: f64, slack: f64) -> bool {
        (a - b).abs() <= slack
    }

    /// Published operating points: bands, rows, and the probability at 0.5, 0.7, 0.8 and 0.9.
    #[test]
    fn the_curve_is_that_of_known_plans() {
        for (bands, rows, at) in [
            (50, 4, [0.960, 1.0, 1.0, 1.0]),
            (20, 5, [0.470, 0.975, 1.0, 1.0]),
            (16, 8, [0.061, 0.613, 0.947, 1.0]),
            (14, 8, [0.053, 0.565, 0.924, 1.0]),
            (25, 10, [0.024, 0.511, 0.942, 1.0]),
            (20, 13, [0.002, 0.177, 0.677, 0.997]),
            (8, 16, [0.0, 0.026, 0.204, 0.806]),
        ] {
            let plan = BandPlan::new(bands, rows).unwrap();
            for (similarity, expected) in [0.5, 0.7, 0.8, 0.9].into_iter().zip(at) {
                let found = plan.probability(similarity);
                assert!(near(found, expected, 0.0006), "{plan:?} at {similarity}: {found}");
                // Where the curve is flat, rounding decides.
                let back = plan.similarity(found);
                assert!(found > 0.9999 || near(back, similarity, 1e-6), "{plan:?}: {back}");
            }
            assert!(near(plan.probability(0.0), 0.0, 0.0) && near(plan.probability(1.0), 1.0, 0.0));
        }
    }

    #[test]
    fn more_bands_find_more_and_more_rows_find_less() {
        for bands in 1..30 {
            for rows in 1..20 {
                let of = |bands, rows| BandPlan::new(bands, rows).unwrap().probability(0.7);
                assert!(of(bands + 1, rows) > of(bands, rows));
                assert!(of(bands, rows + 1) < of(bands, rows));
            }
        }
    }

    #[test]
    fn a_plan_for_a_recall_reaches_it_with_as_many_rows_and_as_few_bands_as_can_be() {
        for (threshold, recall, hashes) in
            [(0.8, 0.95, 128), (0.8, 0.99, 128), (0.5, 0.99, 256), (0.9, 0.5, 16), (1.0, 0.9, 128)]
        {
            let plan = BandPlan::for_recall(threshold, recall, hashes).unwrap();
            assert!(plan.hashes() <= hashes && plan.probability(threshold) >= recall);
            let fewer = BandPlan { bands: plan.bands - 1, ..plan };
            assert!(plan.bands == 1 || fewer.probability(threshold) < recall);
            for rows in plan.rows + 1..=hashes {
                let other = BandPlan { bands: hashes / rows, rows };
                assert!(other.probability(threshold) < recall, "{plan:?} {other:?}");
            }
        }
        let known = BandPlan::for_recall(0.8, 0.99, 128).unwrap();
        assert_eq!(known, BandPlan { bands: 16, rows: 6 });
        let error = BandPlan::for_recall(0.1, 0.999, 8).unwrap_err();
        assert!(error.to_string().starts_with("hashes is 8; it must be more for"), "{error}");
    }

    #[test]
    fn a_plan_for_weights_has_the_least_error_and_follows_the_weights() {
        let area = |plan: BandPlan, fp: f64, fnw: f64| -> f64 {
            (0..2000)
                .map(|step| (f64::from(step) + 0.5) / 2000.0)
                .map(|s| {
                    let p = plan.probability(s);
                    if s < 0.8 { fp * p } else { fnw * (1.0 - p) }
                })
                .sum()
        };
        let mut rows = Vec::new();
        for (fp, fnw) in [(0.1, 0.9), (0.5, 0.5), (0.9, 0.1)] {
            let plan = BandPlan::for_weights(0.8, fp, fnw, 64).unwrap();
            let best = area(plan, fp, fnw);
            for rows in 1..=64 {
                for bands in 1..=64 / rows {
                    let other = area(BandPlan { bands, rows }, fp, fnw);
                    assert!(best <= other * 1.001, "{plan:?} {bands}x{rows}: {best} {other}");
                }
            }
            rows.push(plan.rows);
        }
        assert!(rows.is_sorted() && rows[0] < rows[2], "{rows:?}");
    }

    #[test]
    fn plans_that_cannot_be_are_refused() {
        for error in [
            BandPlan::new(0, 4).unwrap_err(),
            BandPlan::new(4, 0).unwrap_err(),
            BandPlan::new(33, 32).unwrap_err(),
            BandPlan::for_recall(0.0, 0.9, 128).unwrap_err(),
            BandPlan::for_recall(f64::NAN, 0.9, 128).unwrap_err(),
            BandPlan::for_recall(0.8, 1.0, 128).unwrap_err(),
            BandPlan::for_recall(0.8, 0.9, 0).unwrap_err(),
            BandPlan::for_weights(0.8, -1.0, 1.0, 128).unwrap_err(),
            BandPlan::for_weights(0.8, 0.0, 0.0, 128).unwrap_err(),
            BandPlan::for_weights(1.1, 0.5, 0.5, 128).unwrap_err(),
        ] {
            assert!(matches!(error, crate::IndexError::Bands { .. }), "{error}");
        }
    }
}
