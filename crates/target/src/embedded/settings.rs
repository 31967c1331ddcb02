//! What the throw-away server is configured with.

use super::EmbeddedConfig;

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;
/// Where the system does not say how much memory there is.
const MEMORY_UNKNOWN: u64 = 2 * GIB;

/// Who may connect, and how: everybody with a SCRAM password, and only from
/// this machine.
pub(crate) const PG_HBA: &str = "\
# type  database  user  address        method
local   all       all                  scram-sha-256
host    all       all   127.0.0.1/32   scram-sha-256
host    all       all   ::1/128        scram-sha-256
";

/// The settings, name and value, ready for postgresql.conf.
///
/// Memory follows the PostgreSQL manual's advice (a quarter for
/// `shared_buffers`), with caps, because driver and server share the machine.
pub(crate) fn settings(
    config: &EmbeddedConfig,
    memory_bytes: Option<u64>,
    disk_free_bytes: Option<u64>,
    socket_dir: &str,
) -> Vec<(String, String)> {
    let memory = memory_bytes.unwrap_or(MEMORY_UNKNOWN);
    let shared = (memory / 4).clamp(128 * MIB, 8 * GIB);
    let maintenance = (memory / 16).clamp(64 * MIB, GIB);
    // Enough for a benchmark to run between checkpoints, but never the disk.
    let wal_max = disk_free_bytes.map_or(2 * GIB, |free| free / 10).clamp(256 * MIB, 4 * GIB);
    let megabytes = |bytes: u64| format!("{}MB", bytes / MIB);
    let durable = if config.no_fsync { "off" } else { "on" };
    let own = [
        ("listen_addresses", "127.0.0.1".to_owned()),
        ("unix_socket_directories", socket_dir.to_owned()),
        ("unix_socket_permissions", "0777".to_owned()),
        ("max_connections", config.max_connections.to_string()),
        ("password_encryption", "scram-sha-256".to_owned()),
        ("shared_buffers", megabytes(shared)),
        ("effective_cache_size", megabytes((memory / 2).max(shared))),
        ("maintenance_work_mem", megabytes(maintenance)),
        ("work_mem", "16MB".to_owned()),
        ("max_wal_size", megabytes(wal_max)),
        ("min_wal_size", megabytes((wal_max / 4).max(128 * MIB))),
        ("checkpoint_timeout", "15min".to_owned()),
        ("fsync", durable.to_owned()),
        ("synchronous_commit", durable.to_owned()),
        ("full_page_writes", durable.to_owned()),
        ("logging_collector", "off".to_owned()),
        ("log_destination", "stderr".to_owned()),
        ("log_line_prefix", "%m [%p] ".to_owned()),
        ("lc_messages", "C".to_owned()),
    ];
    let mut all: Vec<(String, String)> =
        own.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    // The last mention of a setting counts.
    all.extend(config.settings.iter().cloned());
    all
}

/// The settings in postgresql.conf's language.
pub(crate) fn as_conf(settings: &[(String, String)]) -> String {
    let mut text = String::from("\n# pgdyno's settings\n");
    for (name, value) in settings {
        // A quote is doubled and a backslash escapes inside quotes.
        let quoted = value.replace('\\', "\\\\").replace('\'', "''");
        text.push_str(&format!("{name} = '{quoted}'\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn get(settings: &[(String, String)], name: &str) -> String {
        settings.iter().rev().find(|(n, _)| n == name).map(|(_, v)| v.clone()).unwrap_or_default()
    }

    /// Durability is on unless it was turned off in so many words.
    #[test]
    fn durable_by_default() {
        let names = ["fsync", "synchronous_commit", "full_page_writes"];
        let on = settings(&EmbeddedConfig::default(), None, None, "/s");
        let no_fsync = EmbeddedConfig { no_fsync: true, ..EmbeddedConfig::default() };
        let off = settings(&no_fsync, None, None, "/s");
        for name in names {
            assert_eq!((get(&on, name), get(&off, name)), ("on".into(), "off".into()), "{name}");
        }
    }

    /// Memory settings stay inside the machine, from a tiny one to a huge one.
    #[test]
    fn memory_stays_in_bounds() {
        for (memory, shared) in [(GIB / 2, "128MB"), (8 * GIB, "2048MB"), (1 << 40, "8192MB")] {
            let all = settings(&EmbeddedConfig::default(), Some(memory), Some(GIB), "/s");
            assert_eq!(get(&all, "shared_buffers"), shared);
            assert_eq!(get(&all, "max_wal_size"), "256MB");
        }
    }

    /// A caller's setting wins, and no value breaks out of its quotes.
    #[test]
    fn callers_win_and_quotes_hold() {
        let config = EmbeddedConfig {
            settings: vec![("work_mem".into(), "1MB'\\".into())],
            ..EmbeddedConfig::default()
        };
        let all = settings(&config, None, None, "/s");
        assert_eq!(get(&all, "work_mem"), "1MB'\\");
        assert!(as_conf(&all).ends_with("work_mem = '1MB''\\\\'\n"));
    }
}
