//! The command `pgdyno-bench`: runs the comparisons and sums them up.

fn main() -> anyhow::Result<()> {
    pgdyno_benches::bench::command::main()
}
