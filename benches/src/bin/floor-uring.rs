//! The command `floor-uring`: the minimal client on `io_uring`, and what it
//! costs.

fn main() -> anyhow::Result<()> {
    pgdyno_benches::floor::command::main(pgdyno_benches::floor_uring::run)
}
