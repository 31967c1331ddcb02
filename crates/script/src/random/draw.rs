//! The distributions. Parameters are checked where expressions are evaluated;
//! here a range is valid: `lo <= hi` and `hi - lo + 1` fits 63 bits.

use std::f64::consts::TAU;

use super::Prng;

impl Prng {
    /// Evenly from `lo` to `hi`, both included.
    #[inline]
    pub fn uniform(&mut self, lo: i64, hi: i64) -> i64 {
        lo.wrapping_add(self.bounded(hi.wrapping_sub(lo) as u64) as i64)
    }

    /// Standard normal (Box and Muller's sine branch; nothing is kept for the next call).
    pub fn normal(&mut self) -> f64 {
        let u1 = 1.0 - self.double();
        let u2 = 1.0 - self.double();
        (-2.0 * u1.ln()).sqrt() * (TAU * u2).sin()
    }

    /// Exponential with parameter `param` > 0, cut to the range; low values are frequent.
    pub fn exponential(&mut self, lo: i64, hi: i64, param: f64) -> i64 {
        let cut = (-param).exp();
        let u = 1.0 - self.double();
        let part = -(cut + (1.0 - cut) * u).ln() / param;
        spread(lo, hi, part)
    }

    /// Gaussian with the ends of the range at `param` >= 2 deviations.
    pub fn gaussian(&mut self, lo: i64, hi: i64, param: f64) -> i64 {
        let mut z = self.normal();
        // Written so that a parameter that is not a number ends the loop.
        while z < -param || z >= param {
            z = self.normal();
        }
        spread(lo, hi, (z + param) / (param * 2.0))
    }

    /// Zipfian with parameter 1.001 to 1000 (Devroye's rejection method).
    pub fn zipfian(&mut self, lo: i64, hi: i64, param: f64) -> i64 {
        let n = hi.wrapping_sub(lo).wrapping_add(1);
        if n <= 1 {
            return lo;
        }
        let b = 2.0_f64.powf(param - 1.0);
        loop {
            let u = self.double();
            let v = self.double();
            let x = u.powf(-1.0 / (param - 1.0)).floor();
            let t = (1.0 + 1.0 / x).powf(param - 1.0);
            if v * x * (t - 1.0) / (b - 1.0) <= t / b && x <= n as f64 {
                return lo.wrapping_sub(1).wrapping_add(x as i64);
            }
        }
    }

    /// Time to the next start under a rate, in us, for a mean of `mean_us`.
    pub fn throttle_delay_us(&mut self, mean_us: f64) -> i64 {
        let u = 1.0 - self.double();
        (-u.ln() * mean_us + 0.5) as i64
    }
}

/// `lo` plus the whole part of the range times `part`.
fn spread(lo: i64, hi: i64, part: f64) -> i64 {
    let size = hi.wrapping_sub(lo).wrapping_add(1);
    let offset = size as f64 * part;
    // Only a parameter that is no finite number gives NaN; the usual processors make this of it.
    lo.wrapping_add(if offset.is_nan() { i64::MIN } else { offset as i64 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Every distribution stays within its range, also at the ends of 64 bits.
        #[test]
        fn ranges(seed: u64, lo: i64, width in 0_i64..i64::MAX - 1, param in 2.0_f64..20.0) {
            let hi = lo.saturating_add(width);
            let mut stream = Prng::new(seed);
            for drawn in [
                stream.uniform(lo, hi),
                stream.zipfian(lo, hi, param),
            ] {
                prop_assert!((lo..=hi).contains(&drawn), "{drawn} not in {lo}..={hi}");
            }
            let (lo, hi) = (lo >> 16, (lo >> 16) + (width >> 16));
            for drawn in [stream.exponential(lo, hi, param), stream.gaussian(lo, hi, param)] {
                prop_assert!((lo..=hi).contains(&drawn), "{drawn} not in {lo}..={hi}");
            }
        }
    }
}
