//! The live line: what the last second was like.

use pgdyno_record::Point;

use crate::format::{count, duration_us, rate};
use crate::style::{Style, Tone};

/// One line, without its end, about a point that covers `width_s` seconds, as
/// in `12 s   4,312 tps   p50 1.80 ms   p99 6.20 ms   0 failed`. What did not
/// happen (retries, skipped, unknown) is left out, except failures: their
/// absence is worth seeing.
#[must_use]
pub fn progress(point: &Point, width_s: u64, style: &Style) -> String {
    let tps = point.commits as f64 / width_s.max(1) as f64;
    // A second in which nothing ended has no latency.
    let latency = |us: u64| match us {
        0 => "-".to_owned(),
        us => duration_us(us as f64, style.unicode),
    };
    let mut facts = vec![
        format!("{:>7} tps", rate(tps)),
        format!("p50 {:>7}", latency(point.p50_us)),
        format!("p99 {:>7}", latency(point.p99_us)),
    ];
    let failed = format!("{} failed", count(point.failed()));
    facts.push(match point.failed() {
        0 => failed,
        _ => style.paint(Tone::Warning, &failed),
    });
    for (number, word) in
        [(point.retried, "retried"), (point.skipped, "skipped"), (point.unknown, "unknown")]
    {
        if number > 0 {
            facts.push(format!("{} {word}", count(number)));
        }
    }
    let time = if point.second < 0 {
        style.paint(Tone::Quiet, "warm-up")
    } else {
        format!("{:>5} s", point.second.saturating_add_unsigned(width_s))
    };
    format!("{time}  {}", facts.join("   "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point() -> Point {
        Point { second: 11, commits: 4_312, p50_us: 1_800, p99_us: 6_200, ..Point::default() }
    }

    /// The usual line, and the same in the warm-up, line up.
    #[test]
    fn usual_line() {
        let style = Style::default();
        let line = progress(&point(), 1, &style);
        assert_eq!(line, "   12 s    4,312 tps   p50 1.80 ms   p99 6.20 ms   0 failed");
        let warm = progress(&Point { second: -2, ..point() }, 1, &style);
        assert_eq!(warm, "warm-up    4,312 tps   p50 1.80 ms   p99 6.20 ms   0 failed");
    }

    /// What happened besides is said, and a second without work is a line too.
    #[test]
    fn unusual_lines() {
        let style = Style { unicode: false, ..Style::default() };
        let mut busy = Point { retried: 1_200, skipped: 7, unknown: 1, p50_us: 80, ..point() };
        busy.failed_by_class.insert("40".parse().unwrap(), 3);
        assert_eq!(
            progress(&busy, 1, &style),
            "   12 s    4,312 tps   p50   80 us   p99 6.20 ms   3 failed   1,200 retried   \
             7 skipped   1 unknown"
        );
        let stalled = progress(&Point { second: 0, ..Point::default() }, 1, &style);
        assert_eq!(stalled, "    1 s        0 tps   p50       -   p99       -   0 failed");
    }

    /// Colour adds codes and nothing else.
    #[test]
    fn colour_changes_no_word() {
        let mut failing = point();
        failing.failed_by_class.insert("40".parse().unwrap(), 3);
        let plain = progress(&failing, 1, &Style::default());
        let colour = progress(&failing, 1, &Style { color: true, ..Style::default() });
        assert_eq!(colour.replace("\x1b[33m", "").replace("\x1b[0m", ""), plain);
        assert_ne!(colour, plain);
    }
}
