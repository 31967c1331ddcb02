//! What `pgdyno init` asks once the tables are loaded: the catalog, and with
//! `--audit full` every condition.

use assert_cmd::Command;
use pgdyno_target::EmbeddedServer;

use crate::{connect, server};

/// Damages done by the server itself in the middle of a load, where no check of
/// rows and keys sees them: a stock that is one more, and an index that is gone
/// when the next one is there.
const DAMAGES: &str = "\
    CREATE FUNCTION damage() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN \
      IF EXISTS (SELECT FROM pg_event_trigger_ddl_commands() \
          WHERE object_identity = 'public.stock' AND command_tag = 'ALTER TABLE') THEN \
        UPDATE stock SET s_quantity = s_quantity + 1 WHERE s_i_id = \
          (SELECT min(s_i_id) FROM stock WHERE s_quantity < 100); \
      END IF; \
      IF current_setting('damage.indexes', true) = 'on' AND EXISTS \
          (SELECT FROM pg_event_trigger_ddl_commands() \
          WHERE object_identity = 'public.orders_by_customer') THEN \
        DROP INDEX customer_by_name; \
      END IF; \
    END $$; \
    CREATE EVENT TRIGGER damage ON ddl_command_end EXECUTE FUNCTION damage()";

/// Exit code and standard error of a load.
fn init(server: &EmbeddedServer, user: &str, password: &str, words: &str) -> (i32, String) {
    let host = &server.options_tcp().hosts[0];
    let target = format!("postgresql://{user}@127.0.0.1:{}/postgres", host.port);
    let output = Command::cargo_bin("pgdyno")
        .unwrap()
        .args(["init", &target, "--jobs", "1"])
        .args(words.split_whitespace())
        .env("PGPASSWORD", password)
        .output()
        .unwrap();
    (output.status.code().unwrap(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// A load is told with its indexes and statistics. `--audit full` finds what the
/// load's own checks do not; an index that is missing fails the load by its
/// name; and a catalog that may not be read is a warning.
#[test]
fn init_asks_catalog_and_conditions() {
    let server = server("PGDYNO_TEST_PG15_BIN");
    let options = server.options_tcp();
    let password = options.hosts[0].password.as_ref().unwrap().reveal();
    let mut session = connect(&server.options_unix());
    session.simple_query(DAMAGES).unwrap();
    let words = "--workload tpcc --audit full";
    let (code, err) = init(&server, &options.user, password, words);
    assert_ne!(code, 0, "{err}");
    assert!(err.contains("11 indexes there and valid; statistics of 10 tables"), "{err}");
    assert!(err.contains("Asking 1 condition that the load left out"), "{err}");
    assert!(err.contains("tpcc stock since the load: ") && err.contains("load them anew"), "{err}");

    let words = "--workload tpcc --set damage.indexes=on";
    let (code, err) = init(&server, &options.user, password, words);
    assert_ne!(code, 0, "{err}");
    assert!(err.contains("index customer_by_name is not there"), "{err}");

    session
        .simple_query(
            "DROP EVENT TRIGGER damage; DROP TABLE IF EXISTS district CASCADE; \
             CREATE ROLE guest LOGIN PASSWORD 'guest'; GRANT ALL ON SCHEMA public TO guest; \
             REVOKE SELECT ON pg_catalog.pg_index FROM public",
        )
        .unwrap();
    let (code, err) = init(&server, "guest", "guest", "--workload tpcb");
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("could not be asked: "), "{err}");
    assert!(err.contains("permission denied") && err.contains("statistics of 3 tables"), "{err}");
    drop(session);
    server.stop().unwrap();
}
