//! The options that say where clients connect, and how fast.

use std::time::Duration;

use clap::{Args, ValueEnum};
use pgdyno_engine::plan::ConnectRate;

use super::values::duration;

/// Where clients connect, and how fast.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct EndpointArgs {
    /// How clients are dealt over several endpoints [default: even]
    #[arg(long, value_enum)]
    pub(crate) balance: Option<BalanceArg>,
    /// Keep to the endpoints given, and do not ask the target for others
    #[arg(long)]
    pub(crate) no_discover: bool,
    /// A client that loses its connection makes another; always so with several endpoints
    #[arg(long)]
    pub(crate) reconnect_lost: bool,
    /// New connections a second, and how many at once before that counts
    /// [default: 90 % of what the target allows]
    #[arg(long, value_name = "none|RATE[/BURST]", value_parser = connect_rate)]
    pub(crate) connect_rate: Option<RateArg>,
    /// Age at which the target ends a session; clients leave theirs before
    /// [default: as the target is known for]
    #[arg(long, value_name = "none|TIME", value_parser = session_age)]
    pub(crate) session_age: Option<AgeArg>,
}

/// How clients are dealt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum BalanceArg {
    /// The same number of clients for each
    Even,
    /// Each connection to one by chance
    Random,
    /// All to the one with the shortest round trip
    Nearest,
    /// All to the first that takes connections, as libpq
    First,
}

impl BalanceArg {
    /// As it is typed.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Even => "even",
            Self::Random => "random",
            Self::Nearest => "nearest",
            Self::First => "first",
        }
    }
}

/// `--connect-rate`; `None` is as fast as possible.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct RateArg(pub(crate) Option<ConnectRate>);

/// `--session-age`; `None` is for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AgeArg(pub(crate) Option<Duration>);

fn connect_rate(text: &str) -> Result<RateArg, String> {
    if text == "none" {
        return Ok(RateArg(None));
    }
    let wrong = || "expected none, or RATE[/BURST] with a rate above 0, such as 90/900".to_owned();
    let (rate, burst) = text.split_once('/').unwrap_or((text, "1"));
    let per_second: f64 = rate.parse().map_err(|_| wrong())?;
    let burst: u32 = burst.parse().map_err(|_| wrong())?;
    if !per_second.is_finite() || per_second < 0.001 || burst == 0 {
        return Err(wrong());
    }
    Ok(RateArg(Some(ConnectRate { per_second, burst })))
}

fn session_age(text: &str) -> Result<AgeArg, String> {
    if text == "none" {
        return Ok(AgeArg(None));
    }
    let age = duration(text)?;
    if age < Duration::from_secs(1) {
        return Err("expected none, or a time of 1 s or more".to_owned());
    }
    Ok(AgeArg(Some(age)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rates and ages are read, and nonsense is refused.
    #[test]
    fn limits_are_read() {
        let rate = |per_second, burst| Ok(RateArg(Some(ConnectRate { per_second, burst })));
        assert_eq!(connect_rate("90/900"), rate(90.0, 900));
        assert_eq!(connect_rate("0.5"), rate(0.5, 1));
        assert_eq!(connect_rate("none"), Ok(RateArg(None)));
        for bad in ["", "0", "-1", "nan", "inf", "1/0", "1/x", "/5", "1e-9"] {
            assert!(connect_rate(bad).is_err(), "{bad}");
        }
        assert_eq!(session_age("55m"), Ok(AgeArg(Some(Duration::from_secs(3300)))));
        assert_eq!(session_age("none"), Ok(AgeArg(None)));
        assert!(session_age("10ms").is_err() && session_age("soon").is_err());
    }
}
