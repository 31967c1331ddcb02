//! Numbers for people: thousands separators, durations, shares, bytes.
//!
//! Three significant digits where a figure was measured; whole numbers where
//! things were counted.

/// A count with separators: `1,234,567`.
#[must_use]
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count and its word: `1 client`, `2 clients`.
#[must_use]
pub fn counted(number: u64, word: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {word}{plural}", count(number))
}

/// Something per second: `4,312`, `43.1`, `4.31`, `0.431`; `0` for none.
#[must_use]
pub fn rate(per_second: f64) -> String {
    if per_second.is_nan() || per_second <= 0.0 {
        return "0".to_owned();
    }
    if per_second >= 99.95 {
        // Saturates at the largest integer, which no rate reaches.
        return count(per_second.round() as u64);
    }
    three_digits(per_second)
}

/// A duration given in µs: `812 µs`, `1.83 ms`, `18.3 ms`, `183 ms`, `1.83 s`,
/// `2 min 5 s`, `1 h 2 min`. Without `unicode`, `us` stands for `µs`.
#[must_use]
pub fn duration_us(us: f64, unicode: bool) -> String {
    let us = if us.is_finite() { us.max(0.0) } else { 0.0 };
    if us < 999.5 {
        let unit = if unicode { "µs" } else { "us" };
        // The clock ticks in µs; only means have a fraction worth showing.
        let digits = if us.fract() == 0.0 { format!("{us:.0}") } else { three_digits(us) };
        return format!("{digits} {unit}");
    }
    if us < 999_500.0 {
        return format!("{} ms", three_digits(us / 1e3));
    }
    if us < 59_950_000.0 {
        return format!("{} s", three_digits(us / 1e6));
    }
    let seconds = (us / 1e6).round() as u64;
    if seconds < 3_600 {
        return joined(seconds / 60, "min", seconds % 60, "s");
    }
    let minutes = seconds / 60;
    joined(minutes / 60, "h", minutes % 60, "min")
}

/// A duration given in s, as [`duration_us`].
#[must_use]
pub fn duration_s(seconds: f64, unicode: bool) -> String {
    duration_us(seconds * 1e6, unicode)
}

/// A share (0..=1) in percent: `0 %`, `0.03 %`, `4.8 %`, `95 %`. What is not
/// nothing never reads as `0 %`, and what is not all never as `100 %`.
#[must_use]
pub fn share(share: f64) -> String {
    let percent = share * 100.0;
    if percent.is_nan() || percent <= 0.0 {
        "0 %".to_owned()
    } else if percent < 0.005 {
        "<0.01 %".to_owned()
    } else if percent < 0.995 {
        format!("{percent:.2} %")
    } else if percent < 9.95 {
        format!("{percent:.1} %")
    } else if percent < 99.5 {
        format!("{percent:.0} %")
    } else if percent < 99.95 {
        format!("{percent:.1} %")
    } else if percent < 100.0 {
        ">99.9 %".to_owned()
    } else {
        format!("{percent:.0} %")
    }
}

/// Bytes: `512 B`, `9.00 MiB`.
#[must_use]
pub fn bytes(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    if bytes < 1_024 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64 / 1_024.0;
    let mut unit = UNITS[0];
    for larger in &UNITS[1..] {
        if value < 999.5 {
            break;
        }
        value /= 1_024.0;
        unit = larger;
    }
    format!("{} {unit}", three_digits(value))
}

/// Three significant digits of a number from 0 to 999.
fn three_digits(value: f64) -> String {
    if value < 0.0995 {
        format!("{value:.3}")
    } else if value < 9.995 {
        format!("{value:.2}")
    } else if value < 99.95 {
        format!("{value:.1}")
    } else {
        format!("{value:.0}")
    }
}

fn joined(large: u64, large_unit: &str, small: u64, small_unit: &str) -> String {
    match small {
        0 => format!("{} {large_unit}", count(large)),
        small => format!("{} {large_unit} {small} {small_unit}", count(large)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Separators stand between groups of three and nowhere else.
    #[test]
    fn counts() {
        for (number, text) in [
            (0, "0"),
            (999, "999"),
            (1_000, "1,000"),
            (12_345, "12,345"),
            (u64::MAX, "18,446,744,073,709,551,615"),
        ] {
            assert_eq!(count(number), text);
        }
        assert_eq!(
            (counted(1, "client"), counted(0, "client")),
            ("1 client".into(), "0 clients".into())
        );
    }

    /// A unit changes before a number would need a fourth digit.
    #[test]
    fn durations() {
        for (us, text) in [
            (0.0, "0 µs"),
            (1.0, "1 µs"),
            (2.5, "2.50 µs"),
            (999.0, "999 µs"),
            (999.6, "1.00 ms"),
            (1_830.0, "1.83 ms"),
            (9_996.0, "10.0 ms"),
            (18_340.0, "18.3 ms"),
            (183_400.0, "183 ms"),
            (999_600.0, "1.00 s"),
            (59_900_000.0, "59.9 s"),
            (59_960_000.0, "1 min"),
            (125_000_000.0, "2 min 5 s"),
            (3_720_000_000.0, "1 h 2 min"),
            (f64::NAN, "0 µs"),
        ] {
            assert_eq!(duration_us(us, true), text);
        }
        assert_eq!(duration_us(12.0, false), "12 us");
        assert_eq!(duration_s(0.041, true), "41.0 ms");
    }

    /// A small share is not nothing and a large one is not all.
    #[test]
    fn shares() {
        for (value, text) in [
            (0.0, "0 %"),
            (0.000_01, "<0.01 %"),
            (0.000_3, "0.03 %"),
            (0.048, "4.8 %"),
            (0.952, "95 %"),
            (0.9984, "99.8 %"),
            (0.99999, ">99.9 %"),
            (1.0, "100 %"),
        ] {
            assert_eq!(share(value), text);
        }
    }

    /// Rates and bytes keep three digits.
    #[test]
    fn rates_and_bytes() {
        for (value, text) in
            [(0.0, "0"), (0.4312, "0.43"), (43.12, "43.1"), (99.97, "100"), (4_311.6, "4,312")]
        {
            assert_eq!(rate(value), text);
        }
        for (value, text) in [(1_023, "1023 B"), (9_437_184, "9.00 MiB"), (1 << 50, "1.00 PiB")] {
            assert_eq!(bytes(value), text);
        }
    }
}
