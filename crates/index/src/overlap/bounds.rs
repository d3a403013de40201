//! What a threshold demands, in whole numbers.

use crate::IndexError;

/// The comparison that decides, and the bounds that follow from it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    threshold: f64,
}

impl Bounds {
    pub(super) fn new(threshold: f64) -> Result<Self, IndexError> {
        if threshold > 0.0 && threshold <= 1.0 {
            Ok(Self { threshold })
        } else {
            Err(IndexError::Threshold { given: threshold.to_string() })
        }
    }

    fn reached(self, part: usize, whole: usize) -> bool {
        part as f64 / whole as f64 >= self.threshold
    }

    /// The smallest number from 1 to `most` that `enough` accepts, near `guess`; `most` if none does. A larger number is
    /// accepted whenever a smaller one is.
    fn least(guess: f64, most: usize, enough: impl Fn(usize) -> bool) -> usize {
        #[expect(clippy::cast_sign_loss, reason = "a saturating cast of a positive number")]
        let mut least = (guess as usize).clamp(1, most.max(1));
        while least > 1 && enough(least - 1) {
            least -= 1;
        }
        while least < most && !enough(least) {
            least += 1;
        }
        least
    }

    /// Fewest common members of two sets with `sum` members together that reach the threshold; more than the smaller one
    /// has where they cannot.
    pub(super) fn overlap(self, sum: usize) -> usize {
        let guess = (self.threshold / (1.0 + self.threshold) * sum as f64).ceil();
        // More than half of the sum in common would be a similarity above 1.
        Self::least(guess, sum / 2 + 1, |common| self.reached(common, sum - common))
    }

    /// Size of the smallest set that can reach the threshold with one of `size` members. That is also the fewest common
    /// members with any set: a larger partner needs more.
    pub(super) fn smallest(self, size: usize) -> usize {
        Self::least((self.threshold * size as f64).ceil(), size, |part| self.reached(part, size))
    }

    /// Length of the prefix that meets the prefix of every partner, whatever its size.
    pub(super) fn prefix(self, size: usize) -> usize {
        if size == 0 { 0 } else { size - self.smallest(size) + 1 }
    }

    /// Length of the prefix that meets the (full) prefix of every partner that is not smaller.
    pub(super) fn prefix_for_larger(self, size: usize) -> usize {
        if size == 0 { 0 } else { size - self.overlap(2 * size) + 1 }
    }

    /// The similarity of two sets with so many common members and members together.
    pub(super) fn similarity(common: usize, sum: usize) -> f64 {
        common as f64 / (sum - common) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::Bounds;

    #[test]
    fn bounds_are_those_of_trying_every_number() {
        for threshold in [1e-9, 0.1, 1.0 / 3.0, 0.5, 0.6, 0.7, 0.8, 0.8_f64.next_up(), 0.9, 1.0] {
            let bounds = Bounds::new(threshold).unwrap();
            for x in 1..60_usize {
                let mut smallest = x;
                for y in 1..60_usize {
                    let enough =
                        (1..=x.min(y)).find(|&c| c as f64 / (x + y - c) as f64 >= threshold);
                    if let Some(common) = enough {
                        assert_eq!(bounds.overlap(x + y), common, "{threshold} {x} {y}");
                        smallest = smallest.min(y);
                    } else {
                        assert!(bounds.overlap(x + y) > x.min(y), "{threshold} {x} {y}");
                    }
                }
                assert_eq!(bounds.smallest(x), smallest, "{threshold} {x}");
            }
        }
    }

    #[test]
    fn thresholds_outside_their_range_are_refused() {
        for wrong in [0.0, -0.5, 1.0_f64.next_up(), f64::NAN, f64::INFINITY] {
            assert!(matches!(Bounds::new(wrong), Err(crate::IndexError::Threshold { .. })));
        }
    }
}
