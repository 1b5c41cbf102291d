//! [`Cost`]: a linear cost model, a fixed time and a time per unit, fitted to measurements by least squares.

/// Sizes that [`Samples`] keeps.
const MAX_SIZES: usize = 16;

/// Times that [`Samples`] keeps of each size.
const MAX_TIMES: usize = 4;

/// Time of work of some size: `fixed_ns + ns_per_unit * size`. Neither part is negative.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Cost {
    pub fixed_ns: f64,
    pub ns_per_unit: f64,
}

impl Cost {
    /// Expected nanoseconds for a size.
    pub(crate) fn ns(self, size: f64) -> f64 {
        self.fixed_ns + self.ns_per_unit * size
    }

    /// The cost with the least sum of squared relative errors over `samples` of `[size, ns]`; relative, so that the
    /// small sizes determine the fixed part. If the unconstrained fit has a negative part, that part is zero and the other
    /// one fitted alone. Samples of one size cannot separate the parts: all of the time then counts by unit. `None`
    /// without a sample of a positive size and time.
    pub(crate) fn fit(samples: &[[f64; 2]]) -> Option<Self> {
        let usable = samples.iter().filter(|[size, ns]| *size > 0.0 && *ns > 0.0);
        // With a = 1 / ns and b = size / ns, each sample asks for fixed * a + unit * b = 1.
        let [mut aa, mut ab, mut bb, mut a1, mut b1] = [0.0; 5];
        for [size, ns] in usable {
            let (a, b) = (1.0 / ns, size / ns);
            aa += a * a;
            ab += a * b;
            bb += b * b;
            a1 += a;
            b1 += b;
        }
        if bb == 0.0 {
            return None;
        }
        let by_unit = Self {
            fixed_ns: 0.0,
            ns_per_unit: b1 / bb,
        };
        let determinant = aa * bb - ab * ab;
        if determinant <= 1e-9 * aa * bb {
            return Some(by_unit);
        }
        let fixed_ns = (a1 * bb - b1 * ab) / determinant;
        let ns_per_unit = (b1 * aa - a1 * ab) / determinant;
        Some(match (fixed_ns < 0.0, ns_per_unit < 0.0) {
            (true, _) => by_unit,
            (_, true) => Self {
                fixed_ns: a1 / aa,
                ns_per_unit: 0.0,
            },
            _ => Self {
                fixed_ns,
                ns_per_unit,
            },
        })
    }
}

/// The last times of a few sizes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Samples(Vec<(u64, Vec<u64>)>);

impl Samples {
    /// Adds what work of a size took. Of the sizes, the one that was measured longest ago makes room.
    pub(crate) fn add(&mut self, size: u64, ns: u64) {
        let at = self.0.iter().position(|(known, _)| *known == size);
        let mut sample = match at {
            Some(at) => self.0.remove(at),
            None => (size, Vec::new()),
        };
        if self.0.len() == MAX_SIZES {
            self.0.remove(0);
        }
        if sample.1.len() == MAX_TIMES {
            sample.1.remove(0);
        }
        sample.1.push(ns);
        self.0.push(sample);
    }

    /// The cost that fits the least time of each size: other programs only add to times.
    pub(crate) fn cost(&self) -> Option<Cost> {
        let least = |(size, times): &(u64, Vec<u64>)| {
            let ns = times.iter().min().copied().unwrap_or(0);
            [*size as f64, ns as f64]
        };
        Cost::fit(&self.0.iter().map(least).collect::<Vec<_>>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_near(found: Cost, fixed_ns: f64, ns_per_unit: f64) {
        let off = |found: f64, exact: f64| (found - exact).abs() / exact.max(1.0);
        assert!(off(found.fixed_ns, fixed_ns) < 1e-6, "{found:?}");
        assert!(off(found.ns_per_unit, ns_per_unit) < 1e-6, "{found:?}");
    }

    #[test]
    fn exact_measurements_give_both_parts() {
        let samples = [1.0, 16.0, 1000.0, 50_000.0].map(|n| [n, 120_000.0 + 70.0 * n]);
        assert_near(Cost::fit(&samples).unwrap(), 120_000.0, 70.0);
        assert_near(Cost::fit(&samples[1..3]).unwrap(), 120_000.0, 70.0);
        assert_eq!(
            Cost {
                fixed_ns: 5.0,
                ns_per_unit: 2.0
            }
            .ns(10.0),
            25.0
        );
    }

    #[test]
    fn parts_are_never_negative() {
        assert_eq!(Cost::fit(&[]), None);
        assert_eq!(Cost::fit(&[[0.0, 10.0], [10.0, 0.0]]), None);
        // One size: all by unit.
        assert_near(
            Cost::fit(&[[10.0, 500.0], [10.0, 500.0]]).unwrap(),
            0.0,
            50.0,
        );
        // More a unit for more units.
        let bent = Cost::fit(&[[10.0, 100.0], [1000.0, 50_000.0]]).unwrap();
        assert!(bent.fixed_ns == 0.0 && bent.ns_per_unit > 10.0 && bent.ns_per_unit < 50.0);
        // Less time for more units.
        let flat = Cost::fit(&[[10.0, 1000.0], [1000.0, 900.0]]).unwrap();
        assert!(flat.ns_per_unit == 0.0 && flat.fixed_ns > 900.0 && flat.fixed_ns < 1000.0);
    }

    #[test]
    fn noise_of_a_tenth_moves_the_fit_little() {
        let noisy: Vec<[f64; 2]> = (0..12)
            .map(|i| {
                let n = f64::from(1 << i);
                let noise = 1.0 + 0.1 * f64::from(i % 3 - 1);
                [n, (20_000.0 + 300.0 * n) * noise]
            })
            .collect();
        let found = Cost::fit(&noisy).unwrap();
        assert!((found.fixed_ns / 20_000.0 - 1.0).abs() < 0.15, "{found:?}");
        assert!((found.ns_per_unit / 300.0 - 1.0).abs() < 0.15, "{found:?}");
    }

    #[test]
    fn the_least_time_of_each_size_counts_and_old_ones_go() {
        let mut samples = Samples::default();
        assert_eq!(samples.cost(), None);
        for slow in [5, 1, 3] {
            samples.add(10, 1000 + 10 * slow * 100);
            samples.add(100, 1000 + 100 * slow * 100);
        }
        assert_near(samples.cost().unwrap(), 1000.0, 100.0);
        // The device became slower: its fast times are forgotten.
        for _ in 0..MAX_TIMES {
            samples.add(10, 6000);
            samples.add(100, 51_000);
        }
        assert_near(samples.cost().unwrap(), 1000.0, 500.0);
        for size in 0..100 {
            samples.add(1000 + size, 1 + size);
        }
        assert_eq!(samples.0.len(), MAX_SIZES);
    }
}
