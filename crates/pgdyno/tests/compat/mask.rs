//! What is taken out of outputs before they are compared: times, and in marked
//! cases what depends on times.
//!
//! Only lines that are known to carry times are touched, so that a number in a
//! message is compared as it is.

use crate::case::{Case, Mask};

/// Beginnings of lines that carry times (and nothing else with a decimal point
/// that is worth comparing).
const TIMED: [&str; 12] = [
    "latency average",
    "latency stddev",
    " - latency",
    "rate limit schedule lag",
    "average connection time",
    "initial connection time",
    "tps = ",
    "done in ",
    "progress: ",
    " - number of transactions actually processed",
    "pgbench: client ",
    "number of transactions above",
];

/// Beginnings of lines that carry numbers of transactions.
const COUNTED: [&str; 8] = [
    "number of ",
    "total number of ",
    " - ",
    "progress: ",
    "pgbench: client ",
    "latency average",
    "tps",
    "duration",
];

/// stdout or stderr, ready to be compared.
pub(crate) fn output(text: &str, case: &Case, is_stderr: bool) -> String {
    let mut lines: Vec<String> = text
        .split_inclusive(['\n', '\r'])
        .filter(|line| !left_out(line, case))
        .map(|line| mask_line(line, case))
        .collect();
    if case.mask.contains(&Mask::Counts) {
        lines.dedup();
    }
    // How often a program looks for a reply before it is complete depends on packets.
    lines.dedup_by(|next, line| next == line && line.ends_with(" receiving\n"));
    if is_stderr && case.mask.contains(&Mask::SortStderr) {
        lines.sort();
    }
    lines.concat()
}

fn left_out(line: &str, case: &Case) -> bool {
    let allowed = case.allowed.iter().flat_map(|allowed| &allowed.lines);
    let debug = case.mask.contains(&Mask::NoDebugNotices)
        && (line.starts_with("DEBUG:") || line.starts_with("LOG:"));
    debug || allowed.into_iter().any(|start| line.starts_with(start.as_str()))
}

fn mask_line(line: &str, case: &Case) -> String {
    let mut line = line.to_owned();
    if line.contains("% of the maximum time of tries") {
        line = mask_percentages(&line);
    }
    if is_statement_row(&line) {
        line = mask_row(&line);
    } else if TIMED.iter().any(|start| line.starts_with(start)) || line.contains(" tuples (") {
        line = mask_decimals(&line);
    }
    if case.mask.contains(&Mask::Counts) && COUNTED.iter().any(|start| line.starts_with(start)) {
        line = mask_numbers(&mask_percentages(&line));
    }
    if case.mask.contains(&Mask::Pid) {
        line = mask_pid(&line);
    }
    if case.mask.contains(&Mask::ClientNumber) {
        line = mask_numbers(&line);
    }
    line
}

/// `         0.123           0 SELECT 1;`
fn is_statement_row(line: &str) -> bool {
    let number = line.trim_start();
    line.starts_with("   ")
        && number.split(' ').next().is_some_and(|word| {
            word.contains('.') && word.chars().all(|c| c.is_ascii_digit() || c == '.')
        })
}

/// The time of a row becomes its width, so that the columns are compared.
fn mask_row(line: &str) -> String {
    let blanks = line.len() - line.trim_start().len();
    let end = line[blanks..].find(' ').map_or(line.len(), |at| blanks + at);
    format!("<{end}>{}", &line[end..])
}

/// Numbers with a decimal point, except percentages.
fn mask_decimals(line: &str) -> String {
    replace_numbers(line, |number, rest| {
        (number.contains('.') && !rest.starts_with('%')).then_some("F")
    })
}

fn mask_percentages(line: &str) -> String {
    replace_numbers(line, |_, rest| rest.starts_with('%').then_some("P"))
}

fn mask_numbers(line: &str) -> String {
    replace_numbers(line, |_, _| Some("N"))
}

/// The first number behind a point; what follows it is a thread's.
fn mask_pid(line: &str) -> String {
    let is_digit = |c: char| c.is_ascii_digit();
    let starts = line.match_indices('.').map(|(at, _)| at + 1);
    let Some(start) = { starts }.find(|start| line[*start..].starts_with(is_digit)) else {
        return line.to_owned();
    };
    let rest = line[start..].trim_start_matches(is_digit);
    format!("{}PID{rest}", &line[..start])
}

/// Replaces what `choose` wants replaced of all runs of digits and points.
fn replace_numbers(line: &str, choose: impl Fn(&str, &str) -> Option<&'static str>) -> String {
    let (mut out, mut rest) = (String::new(), line);
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        // A point before the digits belongs to them; so does a sign of a small exponent not.
        let start = if rest[..start].ends_with('.') { start - 1 } else { start };
        out.push_str(&rest[..start]);
        let length = rest[start..]
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(rest.len() - start);
        let mut number = &rest[start..start + length];
        // The point at the end of a sentence is none of a number.
        if number.len() > 1 {
            number = number.trim_end_matches('.');
        }
        let after = &rest[start + number.len()..];
        out.push_str(choose(number, after).unwrap_or(number));
        rest = after;
    }
    out.push_str(rest);
    out
}

/// A log file's name without the process id, and its lines without times, sorted,
/// because clients finish in any order.
pub(crate) fn log(name: &str, text: &str, case: &Case) -> (String, String) {
    let name = mask_pid(name);
    let counts = case.mask.contains(&Mask::Counts);
    let mut lines: Vec<String> = text.lines().map(|line| log_line(line, case, counts)).collect();
    lines.sort();
    if counts {
        lines.dedup();
    }
    (name, lines.join("\n"))
}

fn log_line(line: &str, case: &Case, counts: bool) -> String {
    let words = case.words();
    let fields: Vec<&str> = line.split(' ').collect();
    if words.iter().any(|word| word.starts_with("--aggregate-interval")) {
        let aligned = fields.iter().all(|field| field.parse::<u64>().is_ok());
        return format!("{} fields, all numbers: {aligned}", fields.len());
    }
    let with_lag = words.iter().any(|word| word.starts_with("-R"));
    let masked =
        fields.iter().enumerate().map(|(index, field)| match (index, field.parse::<u64>()) {
            (1, Ok(_)) if counts => "N",
            (2, Ok(_)) => "TIME",
            (4, Ok(_)) => "EPOCH",
            (5, Ok(_)) => "US",
            // Transactions that were skipped or failed have a lag of 0, which is compared.
            (6, Ok(_)) if with_lag && fields[2].parse::<u64>().is_ok() => "LAG",
            _ => field,
        });
    masked.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Times go, everything that is worth comparing stays.
    #[test]
    fn masks_touch_times_only() {
        assert_eq!(mask_decimals("tps = 12.345 (without)"), "tps = F (without)");
        assert_eq!(mask_decimals("0 (0.000%), 1.5 s."), "0 (0.000%), F s.");
        assert_eq!(mask_row("         0.123           0 BEGIN;"), "<14>           0 BEGIN;");
        assert!(is_statement_row("         0.123           0 BEGIN;"));
        assert!(!is_statement_row("pgbench: error: 2.000"));
        assert_eq!(mask_pid("log.1234.1"), "log.PID.1");
    }
}
