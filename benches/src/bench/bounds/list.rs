//! The bounds themselves: which figure of which tool in which case, against
//! what, and how far it may go.

use super::{Bound, Figure, Limit, Side};
use crate::bench::case::{CLIENTS_POLLERS, Case, Protocol, ServerKind, Suite, Tool, Transport};

/// The bounds, in the order of the table.
pub(super) fn bounds() -> Vec<Bound> {
    let mut all = Vec::new();
    request_path(&mut all);
    growth_and_memory(&mut all);
    rate(&mut all);
    real_server(&mut all);
    pollers(&mut all);
    connecting(&mut all);
    loading(&mut all);
    all
}

const fn case(
    suite: Suite,
    server: ServerKind,
    transport: Transport,
    protocol: Protocol,
    clients: u32,
) -> Case {
    Case { suite, server, transport, protocol, clients }
}

pub(super) const fn select(transport: Transport, clients: u32) -> Case {
    case(Suite::Select, ServerKind::Null, transport, Protocol::Prepared, clients)
}

/// At most `limit` times the other tool in the same case.
const fn against(figure: Figure, tool: Tool, other: Tool, case: Case, limit: f64) -> Bound {
    let (of, over) = (Side { tool, case }, Some(Side { tool: other, case }));
    Bound { figure, of, over, limit: Limit::AtMost(limit) }
}

/// At most `limit` times pgdyno's own with fewer clients.
const fn grown(figure: Figure, many: Case, few: u32, limit: f64) -> Bound {
    let of = Side { tool: Tool::Pgdyno, case: many };
    let over = Some(Side { tool: Tool::Pgdyno, case: Case { clients: few, ..many } });
    Bound { figure, of, over, limit: Limit::AtMost(limit) }
}

/// By transport: of the floor at every count; of pgbench by count.
type PathBounds = (Transport, f64, [(u32, f64); 4]);
const REQUEST_PATH: [PathBounds; 2] = [
    (Transport::Tcp, 1.08, [(16, 0.92), (64, 0.92), (256, 0.80), (1000, 0.80)]),
    (Transport::Unix, 1.15, [(16, 0.85), (64, 0.70), (256, 0.70), (1000, 0.55)]),
];
const CLIENTS_MOST: u32 = 4000;

fn request_path(all: &mut Vec<Bound>) {
    for (transport, of_floor, of_pgbench) in REQUEST_PATH {
        let counts = of_pgbench.iter().map(|(clients, _)| *clients).chain([CLIENTS_MOST]);
        all.extend(counts.map(|clients| {
            let case = select(transport, clients);
            against(Figure::Cpu, Tool::Pgdyno, Tool::Floor, case, of_floor)
        }));
        all.extend(of_pgbench.map(|(clients, limit)| {
            let case = select(transport, clients);
            against(Figure::Cpu, Tool::Pgdyno, Tool::Pgbench, case, limit)
        }));
    }
}

/// KiB of memory for each of 4,000 clients.
const MEMORY_KIB: f64 = 12.0;

fn growth_and_memory(all: &mut Vec<Bound>) {
    for transport in [Transport::Tcp, Transport::Unix] {
        all.push(grown(Figure::Cpu, select(transport, 1000), 64, 1.1));
    }
    for transport in [Transport::Tcp, Transport::Unix] {
        let of = Side { tool: Tool::Pgdyno, case: select(transport, CLIENTS_MOST) };
        let (figure, limit) = (Figure::Memory, Limit::AtMost(MEMORY_KIB));
        all.push(Bound { figure, of, over: None, limit });
    }
}

fn rate(all: &mut Vec<Bound>) {
    let many = case(Suite::Rate, ServerKind::Null, Transport::Tcp, Protocol::Prepared, 1000);
    all.push(against(Figure::Cpu, Tool::Pgdyno, Tool::Pgbench, many, 0.2));
    all.push(against(Figure::Cpu, Tool::PgdynoSlack, Tool::Pgbench, many, 0.2));
    all.push(grown(Figure::Cpu, many, 64, 1.5));
}

fn real_server(all: &mut Vec<Bound>) {
    for (transport, limit) in [(Transport::Unix, 0.75), (Transport::Tcp, 0.88)] {
        for protocol in [Protocol::Simple, Protocol::Prepared] {
            let case = case(Suite::Tpcb, ServerKind::Postgres, transport, protocol, 16);
            all.push(against(Figure::Cpu, Tool::Pgdyno, Tool::Pgbench, case, limit));
        }
    }
    for transport in [Transport::Tcp, Transport::Unix] {
        let case = case(Suite::Shared, ServerKind::Postgres, transport, Protocol::Prepared, 16);
        let bound = against(Figure::Tps, Tool::Pgdyno, Tool::Pgbench, case, 1.0);
        all.push(Bound { limit: Limit::AtLeast(1.0), ..bound });
    }
}

/// Of epoll's CPU: with less gain a second poller is not worth its code. Where
/// the driver has a core of its own it is preempted by nobody and there is
/// little to gain, so that is told and not bounded.
const POLLER: f64 = 0.95;

fn pollers(all: &mut Vec<Bound>) {
    for (suite, limit) in [(Suite::Shared, Limit::AtMost(POLLER)), (Suite::Select, Limit::Told)] {
        for transport in [Transport::Tcp, Transport::Unix] {
            let (postgres, prepared) = (ServerKind::Postgres, Protocol::Prepared);
            let case = case(suite, postgres, transport, prepared, CLIENTS_POLLERS);
            let bound = against(Figure::Cpu, Tool::Pgdyno, Tool::PgdynoEpoll, case, POLLER);
            all.push(Bound { limit, ..bound });
        }
    }
}

fn connecting(all: &mut Vec<Bound>) {
    for (transport, cpu, time) in [(Transport::Tcp, 0.25, 0.6), (Transport::Tls, 0.33, 0.6)] {
        let postgres = ServerKind::Postgres;
        let case = case(Suite::Connect, postgres, transport, Protocol::Prepared, 1000);
        all.push(against(Figure::ConnectCpu, Tool::Pgdyno, Tool::Pgbench, case, cpu));
        all.push(against(Figure::ConnectTime, Tool::Pgdyno, Tool::Pgbench, case, time));
    }
}

fn loading(all: &mut Vec<Bound>) {
    let load = case(Suite::Load, ServerKind::Postgres, Transport::Unix, Protocol::Prepared, 1);
    all.push(against(Figure::Cpu, Tool::Pgdyno, Tool::Pgbench, load, 0.25));
    all.push(against(Figure::FillTime, Tool::Pgdyno, Tool::Pgbench, load, 0.7));
    all.push(against(Figure::FillTime, Tool::PgdynoJobs2, Tool::Pgbench, load, 0.45));
}
