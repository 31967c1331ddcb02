//! How values of options are read: times, sizes, shares, numbers.

use std::time::Duration;

use crate::bounds;

/// Waiting between tries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BackoffArg(pub(crate) Option<(Duration, Duration)>);

pub(crate) fn key_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("expected NAME=VALUE".to_owned()),
    }
}

pub(super) fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() && number > 0.0 => Ok(number),
        _ => Err("expected a number above 0".to_owned()),
    }
}

/// A limit in ms: whole µs, as latencies are recorded, hence at least one.
pub(super) fn limit_of_ms(text: &str) -> Result<Duration, String> {
    Duration::try_from_secs_f64(positive(text)? / 1000.0)
        .ok()
        .filter(|limit| limit.as_micros() > 0 && *limit <= bounds::TIME_MAX)
        .ok_or_else(|| "expected a number of ms from 0.001 up to ten years".to_owned())
}

/// The longest wait that `--timer-slack` may ask for: more than any answer of a
/// database that is measured for its latency.
const TIMER_SLACK_MAX: Duration = Duration::from_secs(1);

/// A time by which starts may wait for each other.
pub(crate) fn timer_slack(text: &str) -> Result<Duration, String> {
    match duration(text)? {
        slack if slack > TIMER_SLACK_MAX => Err("it cannot be longer than 1s".to_owned()),
        slack => Ok(slack),
    }
}

/// The longest way to a cluster and back: beyond it clients take a server for
/// gone.
const ROUND_TRIP_MAX: Duration = Duration::from_secs(10);

/// A time by which answers may be held back.
pub(crate) fn round_trip(text: &str) -> Result<Duration, String> {
    match duration(text)? {
        time if time > ROUND_TRIP_MAX => Err("it cannot be longer than 10s".to_owned()),
        time => Ok(time),
    }
}

/// A number with a unit: `us`, `ms`, `s`, `m`, `h`; seconds without one.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let seconds_per_unit = match &text[digits.len()..] {
        "" | "s" => 1.0,
        "us" => 1e-6,
        "ms" => 1e-3,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        unit => return Err(format!("\"{unit}\" is no unit of time; there are: us, ms, s, m, h")),
    };
    let number: f64 = digits.parse().map_err(|_| "expected a time such as 60, 90s or 5m")?;
    Duration::try_from_secs_f64(number * seconds_per_unit)
        .ok()
        .filter(|time| *time <= bounds::TIME_MAX)
        .ok_or_else(|| "expected a time from 0 up to ten years".to_owned())
}

pub(super) fn backoff(text: &str) -> Result<BackoffArg, String> {
    if text == "none" {
        return Ok(BackoffArg(None));
    }
    let (first, max) = text.split_once("..").unwrap_or((text, "1s"));
    let (first, max) = (duration(first)?, duration(max)?);
    if first.is_zero() || first > max {
        return Err("expected none, or FIRST..MAX with 0 < FIRST <= MAX".to_owned());
    }
    Ok(BackoffArg(Some((first, max))))
}

/// A number with a unit of 1024: kB, MB, GB, TB, PB, also as KiB and so on.
pub(super) fn memory(text: &str) -> Result<u64, String> {
    const EXPECTED: &str = "expected a size such as 512MB, 128GB or 1.5TB";
    let text = text.trim();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = text[digits.len()..].to_ascii_lowercase();
    let power = match unit.replace("ib", "b").as_str() {
        "kb" => 1,
        "mb" => 2,
        "gb" => 3,
        "tb" => 4,
        "pb" => 5,
        _ => return Err(EXPECTED.to_owned()),
    };
    let number: f64 = digits.trim().parse().map_err(|_| EXPECTED)?;
    let bytes = number * 1024f64.powi(power);
    if !(1.0..9e18).contains(&bytes) {
        return Err(EXPECTED.to_owned());
    }
    Ok(bytes as u64)
}

/// A share above 0 and up to 100 percent; gives it as a part of 1.
pub(super) fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches('%').trim().parse::<f64>();
    match number {
        Ok(percent) if percent > 0.0 && percent <= 100.0 => Ok(percent / 100.0),
        _ => Err("expected a percentage above 0% and up to 100%".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Times are read with and without unit, and nonsense is refused.
    #[test]
    fn durations() {
        assert_eq!(duration("10"), Ok(Duration::from_secs(10)));
        assert_eq!(duration("1.5s"), Ok(Duration::from_millis(1500)));
        assert_eq!(duration("5m"), Ok(Duration::from_secs(300)));
        assert_eq!(duration("250us"), Ok(Duration::from_micros(250)));
        for bad in ["", "s", "-1", "1 week", "1d", "nan", "1e999", "1e12"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }

    /// Starts may wait for a part of a second; more is refused.
    #[test]
    fn timer_slacks() {
        assert_eq!(timer_slack("0"), Ok(Duration::ZERO));
        assert_eq!(timer_slack("1ms"), Ok(Duration::from_millis(1)));
        for bad in ["1001ms", "-1ms", ""] {
            assert!(timer_slack(bad).is_err(), "{bad}");
        }
    }

    /// A limit that no clock can count is refused, as is one below what is recorded.
    #[test]
    fn latency_limits() {
        assert_eq!(limit_of_ms("1.5"), Ok(Duration::from_micros(1500)));
        for bad in ["0", "-1", "1e-9", "1e12", "1e30", "inf", "nan", "x"] {
            assert!(limit_of_ms(bad).is_err(), "{bad}");
        }
    }

    /// A way to a cluster has an end.
    #[test]
    fn round_trips() {
        assert_eq!(round_trip("20ms"), Ok(Duration::from_millis(20)));
        assert_eq!(round_trip("10s"), Ok(ROUND_TRIP_MAX));
        assert!(round_trip("10.1s").is_err() && round_trip("1h").is_err());
    }

    /// A backoff needs two times in order.
    #[test]
    fn backoffs() {
        let ten_to_thousand = (Duration::from_millis(10), Duration::from_secs(1));
        assert_eq!(backoff("10ms..1s"), Ok(BackoffArg(Some(ten_to_thousand))));
        assert_eq!(backoff("10ms"), Ok(BackoffArg(Some(ten_to_thousand))));
        assert_eq!(backoff("none"), Ok(BackoffArg(None)));
        assert!(backoff("2s..1s").is_err() && backoff("0..1s").is_err());
    }

    /// Sizes have PostgreSQL's units, and nonsense is refused.
    #[test]
    fn memory_sizes() {
        assert_eq!(memory("128GB"), Ok(128 << 30));
        assert_eq!(memory("1.5 TB"), Ok(3 << 39));
        assert_eq!(memory("512MiB"), Ok(512 << 20));
        for bad in ["", "128", "GB", "-1GB", "0GB", "1e30PB", "nanGB", "5 parsec"] {
            assert!(memory(bad).is_err(), "{bad}");
        }
    }

    /// Shares are percentages above nothing and up to all.
    #[test]
    fn percentages() {
        assert_eq!(percent("30%"), Ok(0.3));
        assert_eq!(percent(" 100 "), Ok(1.0));
        for bad in ["", "0", "101%", "-5", "nan", "x"] {
            assert!(percent(bad).is_err(), "{bad}");
        }
    }
}
