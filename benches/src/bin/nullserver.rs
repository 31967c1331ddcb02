//! The command `nullserver`: a PostgreSQL front that answers at once, or after
//! a known time.

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::Parser;
use nix::sys::signal::{SigSet, Signal};
use pgdyno_benches::null::{Config, NullServer};

/// Answers any sync of a PostgreSQL client at once. Keeps no data.
#[derive(Debug, Parser)]
#[command(version)]
struct Typed {
    /// Address for TCP; an empty one does not listen on TCP.
    #[arg(long, default_value = "127.0.0.1")]
    host: String,
    /// Port; 0 takes a free one.
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Folder for the Unix socket.
    #[arg(long)]
    socket_dir: Option<PathBuf>,
    /// Worker threads.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: u16,
    /// Time between a request and its answer, such as 1ms, 250us, 2s.
    #[arg(long, default_value = "0", value_parser = duration)]
    delay: Duration,
    /// A stall begins after each such time, counted from the first session's
    /// opening.
    #[arg(long, default_value = "0", value_parser = duration, requires = "stall")]
    stall_every: Duration,
    /// How long a stall lasts.
    #[arg(long, default_value = "0", value_parser = duration, requires = "stall_every")]
    stall: Duration,
    /// What `select count(*) from pgbench_branches` says.
    #[arg(long, default_value_t = 1)]
    scale: u32,
}

fn main() -> Result<()> {
    let typed = Typed::parse();
    if typed.stall > typed.stall_every {
        bail!("--stall must not be longer than --stall-every");
    }
    // Before the threads exist, so that none of them takes the signal.
    let mut signals = SigSet::empty();
    signals.add(Signal::SIGINT);
    signals.add(Signal::SIGTERM);
    signals.thread_block().context("could not block signals")?;
    let server = NullServer::start(&Config {
        host: Some(typed.host).filter(|host| !host.is_empty()),
        port: typed.port,
        socket_dir: typed.socket_dir,
        threads: usize::from(typed.threads),
        delay: typed.delay,
        stall_every: typed.stall_every,
        stall: typed.stall,
        scale: typed.scale,
    })
    .context("could not listen")?;
    say(&ready_line(&server))?;
    signals.wait().context("could not wait for a signal")?;
    let end = server.stop().context("a worker failed")?;
    if end.answers > 0 {
        say(&format!(
            "held answers: {}, late by {:.1} us on average, {:.1} us at most",
            end.answers,
            end.late_us_mean(),
            end.late_ns_max as f64 / 1e3
        ))?;
    }
    Ok(())
}

fn ready_line(server: &NullServer) -> String {
    let mut line = format!("listening on port {}", server.port());
    if let Some(address) = server.tcp() {
        line += &format!(", tcp {address}");
    }
    if let Some(path) = server.unix() {
        line += &format!(", unix {}", path.display());
    }
    line
}

/// Who started it may have closed the pipe; that is no reason to fail.
fn say(line: &str) -> Result<()> {
    let mut out = std::io::stdout();
    match writeln!(out, "{line}").and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(error).context("could not write to standard output")
        }
        _ => Ok(()),
    }
}

/// A whole number with a unit; a bare number counts milliseconds.
fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let number: u64 =
        digits.parse().map_err(|_| format!("\"{text}\" is not a time such as 1ms, 250us, 2s"))?;
    match &text[digits.len()..] {
        "us" => Ok(Duration::from_micros(number)),
        "ms" | "" => Ok(Duration::from_millis(number)),
        "s" => Ok(Duration::from_secs(number)),
        unit => Err(format!("unit \"{unit}\" is not one of us, ms, s")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Times with and without a unit mean what they say; others are refused.
    #[test]
    fn durations() {
        assert_eq!(duration("250us"), Ok(Duration::from_micros(250)));
        assert_eq!(duration("1ms"), Ok(Duration::from_millis(1)));
        assert_eq!(duration("7"), Ok(Duration::from_millis(7)));
        assert_eq!(duration("2s"), Ok(Duration::from_secs(2)));
        assert!(duration("1h").is_err());
        assert!(duration("ms").is_err());
    }
}
