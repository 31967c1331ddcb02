//! What is measured: the cases and their matrix.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// A kind of measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(super) enum Suite {
    /// Select-only, as fast as it goes.
    Select,
    /// Select-only at 5,000 transactions a second.
    Rate,
    /// TPC-B-like.
    Tpcb,
    /// Connecting alone: by trust, and by SCRAM over TLS.
    Connect,
    /// Select-only with client and server on the same cores.
    Shared,
    /// Filling the tables.
    Load,
    /// Derived from TPC-C, against tools that have it; no part of the matrix.
    Tpcc,
}

/// Who answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(super) enum ServerKind {
    /// The null server.
    Null,
    /// A real PostgreSQL.
    Postgres,
}

/// The way to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(super) enum Transport {
    /// Loopback TCP, by trust.
    Tcp,
    /// A Unix socket, by trust.
    Unix,
    /// Loopback TCP with TLS and SCRAM-SHA-256.
    Tls,
}

/// How statements are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(super) enum Protocol {
    /// Query messages.
    Simple,
    /// Statements prepared once.
    Prepared,
}

/// Who is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(super) enum Tool {
    /// The minimal client.
    Floor,
    /// pgdyno with pgbench's arguments; on `io_uring` where that is to be had.
    Pgdyno,
    /// The same with `--poller epoll`; unless named only with 64 clients on the real server.
    PgdynoEpoll,
    /// The installed pgbench.
    Pgbench,
    /// The installed sysbench.
    Sysbench,
    /// `pgdyno init --jobs 2`.
    PgdynoJobs2,
    /// `pgdyno run --timer-slack 1ms`.
    PgdynoSlack,
}

/// Which half of a measurement a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Phase {
    /// One transaction for each client: what connecting costs.
    Connect,
    /// Some seconds.
    Steady,
}

/// One cell of the matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Case {
    pub(super) suite: Suite,
    pub(super) server: ServerKind,
    pub(super) transport: Transport,
    pub(super) protocol: Protocol,
    pub(super) clients: u32,
}

/// Transactions a second in the rate suite.
pub(super) const RATE_TPS: u32 = 5000;
/// Clients where the question is not how many, or only few against many.
const CLIENTS_TPCB: [u32; 2] = [16, 64];
const CLIENTS_RATE: [u32; 2] = [64, 1000];
const CLIENTS_SHARED: [u32; 2] = [16, CLIENTS_POLLERS];
const CLIENTS_CONNECT: u32 = 1000;
/// Where pollers are compared. With fewer clients a turn has few answers, and
/// there is little that one system call could do for all of them.
pub(super) const CLIENTS_POLLERS: u32 = 64;

/// What the command line asked for.
#[derive(Debug, Clone)]
pub(super) struct Selection {
    pub(super) suites: Vec<Suite>,
    pub(super) servers: Vec<ServerKind>,
    pub(super) transports: Vec<Transport>,
    pub(super) protocols: Vec<Protocol>,
    /// For the select suite; also for others where it was given.
    pub(super) clients: Vec<u32>,
    /// The counts were named by the person, not by default.
    pub(super) clients_named: bool,
}

impl Selection {
    /// The cases, in the order in which they run.
    pub(super) fn cases(&self) -> Vec<Case> {
        let mut cases: Vec<Case> =
            self.suites.iter().flat_map(|suite| self.cases_of(*suite)).collect();
        cases.dedup();
        cases
    }

    fn cases_of(&self, suite: Suite) -> Vec<Case> {
        use ServerKind::{Null, Postgres};
        use Transport::{Tcp, Tls, Unix};
        let (servers, transports, clients): (&[_], &[_], &[u32]) = match suite {
            Suite::Select => (&[Null, Postgres], &[Tcp, Unix], &self.clients),
            Suite::Rate => (&[Null, Postgres], &[Tcp], &CLIENTS_RATE),
            Suite::Tpcb => (&[Postgres], &[Tcp, Unix], &CLIENTS_TPCB),
            Suite::Connect => (&[Null, Postgres], &[Tcp, Tls], &[CLIENTS_CONNECT]),
            Suite::Shared => (&[Postgres], &[Tcp, Unix], &CLIENTS_SHARED),
            Suite::Load => (&[Postgres], &[Unix], &[1]),
            Suite::Tpcc => return Vec::new(),
        };
        let clients =
            if self.clients_named && suite != Suite::Load { &self.clients } else { clients };
        // Where the protocol is not the question, prepared stands for both.
        let both = matches!(suite, Suite::Select | Suite::Tpcb);
        let mut cases = Vec::new();
        for server in servers.iter().filter(|server| self.servers.contains(server)) {
            for transport in transports.iter().filter(|way| self.transports.contains(way)) {
                if *transport == Tls && *server == Null {
                    continue;
                }
                for protocol in &self.protocols {
                    if !both && *protocol != Protocol::Prepared {
                        continue;
                    }
                    cases.extend(clients.iter().map(|clients| Case {
                        suite,
                        server: *server,
                        transport: *transport,
                        protocol: *protocol,
                        clients: *clients,
                    }));
                }
            }
        }
        cases
    }
}

impl Case {
    /// Whether a tool can do this at all.
    pub(super) fn suits(&self, tool: Tool) -> bool {
        match tool {
            Tool::Pgdyno | Tool::Pgbench => true,
            Tool::Floor => match self.suite {
                Suite::Select | Suite::Shared | Suite::Rate => true,
                Suite::Connect => self.transport != Transport::Tls,
                Suite::Tpcb | Suite::Load | Suite::Tpcc => false,
            },
            // A thread for each client: beyond some hundred it measures the
            // scheduler.
            Tool::Sysbench => self.suite == Suite::Select && self.clients <= 256,
            Tool::PgdynoEpoll => matches!(self.suite, Suite::Select | Suite::Shared),
            Tool::PgdynoJobs2 => self.suite == Suite::Load,
            Tool::PgdynoSlack => self.suite == Suite::Rate,
        }
    }

    /// Whether a tool runs in it where nobody named the tools: the pollers are
    /// compared where their choice matters, and not in the whole matrix.
    pub(super) fn asks(&self, tool: Tool) -> bool {
        let compares = self.server == ServerKind::Postgres
            && self.protocol == Protocol::Prepared
            && self.clients == CLIENTS_POLLERS;
        self.suits(tool) && (tool != Tool::PgdynoEpoll || compares)
    }

    /// Whether client and server each have a core of their own. Not where the
    /// question is how much the server does at a time: opening a thousand
    /// sessions, or filling tables over two connections.
    pub(super) fn is_bound(&self) -> bool {
        match self.suite {
            Suite::Shared | Suite::Load => false,
            Suite::Connect => self.server == ServerKind::Null,
            Suite::Select | Suite::Rate | Suite::Tpcb | Suite::Tpcc => true,
        }
    }

    /// For people.
    pub(super) fn title(&self) -> String {
        format!(
            "{} {} {} {} {} clients",
            name(self.suite),
            name(self.server),
            name(self.transport),
            name(self.protocol),
            self.clients
        )
    }
}

/// The name of a value as it is written on the command line.
pub(super) fn name<T: ValueEnum + Copy>(value: T) -> String {
    value.to_possible_value().map(|known| known.get_name().to_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> Selection {
        Selection {
            suites: Suite::value_variants().to_vec(),
            servers: ServerKind::value_variants().to_vec(),
            transports: Transport::value_variants().to_vec(),
            protocols: Protocol::value_variants().to_vec(),
            clients: vec![1, 16],
            clients_named: false,
        }
    }

    /// The whole matrix has each case once, and nothing impossible.
    #[test]
    fn matrix_is_sound() {
        let cases = all().cases();
        let mut unique = cases.clone();
        unique.sort_unstable();
        unique.dedup();
        assert_eq!(unique.len(), cases.len());
        assert!(cases.iter().filter(|case| case.suite == Suite::Select).count() == 16);
        assert!(!cases.iter().any(|case| case.server == ServerKind::Null
            && (case.transport == Transport::Tls || case.suite == Suite::Tpcb)));
    }

    /// Where nobody names the tools, the pollers are compared on the real server
    /// alone, on each way, with cores of their own and without; else the tools
    /// that can are the tools that run.
    #[test]
    fn pollers_are_compared_in_few_cases() {
        let selection = Selection { clients: vec![16, 64, 256], ..all() };
        let cases = selection.cases();
        let asked: Vec<&Case> = cases.iter().filter(|case| case.asks(Tool::PgdynoEpoll)).collect();
        for (transport, is_bound) in [
            (Transport::Tcp, true),
            (Transport::Unix, true),
            (Transport::Tcp, false),
            (Transport::Unix, false),
        ] {
            let here = |case: &&&Case| case.transport == transport && case.is_bound() == is_bound;
            assert_eq!(asked.iter().filter(here).count(), 1, "{transport:?} {is_bound}");
        }
        assert_eq!(asked.len(), 4);
        for case in &cases {
            for tool in Tool::value_variants() {
                assert!(!case.asks(*tool) || case.suits(*tool), "{case:?}");
                let others = *tool != Tool::PgdynoEpoll;
                assert!(!others || case.asks(*tool) == case.suits(*tool), "{case:?}");
            }
        }
    }

    /// A selection narrows; counts that were named reach the other suites.
    #[test]
    fn selection_narrows() {
        let some = Selection {
            suites: vec![Suite::Rate],
            servers: vec![ServerKind::Null],
            clients: vec![7],
            clients_named: true,
            ..all()
        };
        let cases = some.cases();
        assert_eq!(cases.len(), 1);
        assert_eq!(cases[0].clients, 7);
    }
}
