//! What HammerDB and BenchBase read instead of arguments: a Tcl script of its
//! commands, and an XML file.

use super::contender::{Contender, Stage};
use super::{CLIENTS, LOAD_CONNECTIONS, WAREHOUSES};

/// HammerDB's user; it makes it itself. Passwords of a throw-away server that
/// takes everybody.
pub(super) const HAMMERDB_USER: &str = "hammerdb_user";
const HAMMERDB_PASSWORD: &str = "bench";

/// Minutes of a HammerDB run; it takes whole ones only.
pub(super) const HAMMERDB_MINUTES: u32 = 1;

/// The script of `hammerdbcli tcl auto`. Routines called by CALL, as in the
/// scripts that HammerDB ships.
pub(super) fn hammerdb(stage: Stage, port: u16) -> String {
    let database = Contender::Hammerdb.database();
    let head = format!(
        "dbset db pg\n\
         dbset bm TPC-C\n\
         diset connection pg_host 127.0.0.1\n\
         diset connection pg_port {port}\n\
         diset connection pg_sslmode disable\n\
         diset tpcc pg_superuser postgres\n\
         diset tpcc pg_superuserpass {HAMMERDB_PASSWORD}\n\
         diset tpcc pg_defaultdbase postgres\n\
         diset tpcc pg_user {HAMMERDB_USER}\n\
         diset tpcc pg_pass {HAMMERDB_PASSWORD}\n\
         diset tpcc pg_dbase {database}\n\
         diset tpcc pg_storedprocs true\n"
    );
    let rest = match stage {
        Stage::Load => format!(
            "diset tpcc pg_count_ware {WAREHOUSES}\n\
             diset tpcc pg_num_vu {LOAD_CONNECTIONS}\n\
             buildschema\n"
        ),
        Stage::Short | Stage::Steady => format!(
            "diset tpcc pg_driver timed\n\
             diset tpcc pg_rampup 0\n\
             diset tpcc pg_duration {HAMMERDB_MINUTES}\n\
             diset tpcc pg_allwarehouse false\n\
             loadscript\n\
             vuset vu {CLIENTS}\n\
             vucreate\n\
             vurun\n\
             vudestroy\n"
        ),
    };
    head + &rest
}

/// BenchBase's configuration: its sample for PostgreSQL, but read committed,
/// as all others, and without a limit of the rate.
pub(super) fn benchbase(port: u16, seconds: u32) -> String {
    let database = Contender::Benchbase.database();
    let types = ["NewOrder", "Payment", "OrderStatus", "Delivery", "StockLevel"]
        .map(|name| format!("<transactiontype><name>{name}</name></transactiontype>\n"))
        .concat();
    format!(
        "<?xml version=\"1.0\"?>\n<parameters>\n\
         <type>POSTGRES</type>\n\
         <driver>org.postgresql.Driver</driver>\n\
         <url>jdbc:postgresql://127.0.0.1:{port}/{database}?sslmode=disable&amp;\
         ApplicationName=tpcc&amp;reWriteBatchedInserts=true</url>\n\
         <username>postgres</username>\n\
         <password></password>\n\
         <reconnectOnConnectionFailure>true</reconnectOnConnectionFailure>\n\
         <isolation>TRANSACTION_READ_COMMITTED</isolation>\n\
         <batchsize>128</batchsize>\n\
         <scalefactor>{WAREHOUSES}</scalefactor>\n\
         <loaderThreads>{LOAD_CONNECTIONS}</loaderThreads>\n\
         <terminals>{CLIENTS}</terminals>\n\
         <works><work><time>{seconds}</time><rate>unlimited</rate>\
         <weights>45,43,4,4,4</weights></work></works>\n\
         <transactiontypes>\n{types}</transactiontypes>\n\
         </parameters>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both name the port, the size and the connections of this suite.
    #[test]
    fn settings_name_what_is_measured() {
        let build = hammerdb(Stage::Load, 7);
        assert!(build.contains("pg_port 7\n") && build.ends_with("buildschema\n"), "{build}");
        assert!(build.contains(&format!("pg_count_ware {WAREHOUSES}\n")), "{build}");
        let run = hammerdb(Stage::Steady, 7);
        assert!(run.contains(&format!("vuset vu {CLIENTS}\n")) && !run.contains("buildschema"));
        let config = benchbase(7, 30);
        assert!(config.contains(":7/benchbase?") && config.contains("<time>30</time>"));
        assert!(config.contains(&format!("<terminals>{CLIENTS}</terminals>")), "{config}");
    }
}
