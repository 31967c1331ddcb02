//! `pgdyno emulate` as a person meets it: it says how to connect, serves, and
//! leaves nothing behind.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use pgdyno_wire::conninfo::{MapEnv, resolve};
use pgdyno_wire::{ConnectContext, Connection};

/// Ends the program also where a test fails.
struct Running(Child);

impl Running {
    fn interrupt(&mut self) -> i32 {
        let pid = Pid::from_raw(i32::try_from(self.0.id()).unwrap());
        kill(pid, Signal::SIGINT).unwrap();
        self.0.wait().unwrap().code().unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Standard output is one line, a URI that works as it is; after Ctrl-C the
/// exit code is 0 and the certificate is gone.
#[test]
fn says_how_to_connect_and_ends() {
    let mut running = Running(
        Command::new(env!("CARGO_BIN_EXE_pgdyno"))
            .args(["-q", "emulate", "aurora-dsql", "--listen", "127.0.0.1:0", "--any-password"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap(),
    );
    let mut uri = String::new();
    BufReader::new(running.0.stdout.take().unwrap()).read_line(&mut uri).unwrap();
    let uri = uri.trim();
    let certificate = PathBuf::from(uri.split("sslrootcert=").nth(1).unwrap());
    assert!(certificate.exists(), "{uri}");
    let with_password = uri.replace("admin@", "admin:x@");
    let resolved = resolve(Some(&with_password), &[], &MapEnv::default()).unwrap().options;
    let mut connection = Connection::connect(&ConnectContext::new(&resolved).unwrap()).unwrap();
    assert_eq!(connection.query_one_i64("SELECT sys.dsql_major_version()").unwrap(), 1);
    let refusal = connection.execute("TRUNCATE t").unwrap_err();
    assert_eq!(refusal.server().unwrap().message, "unsupported statement: Truncate");
    assert_eq!(running.interrupt(), 0);
    assert!(!certificate.exists(), "{}", certificate.display());
}
