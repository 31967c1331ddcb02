//! The command `floor`: the minimal client on epoll, and what it costs.

fn main() -> anyhow::Result<()> {
    pgdyno_benches::floor::command::main(pgdyno_benches::floor::run)
}
