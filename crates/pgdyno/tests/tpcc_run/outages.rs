//! What `pgdyno run` says of a run in which the server was away: its record and
//! its summary name the outage, and the audits hold all the same.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use assert_cmd::cargo::CommandCargoExt;
use pgdyno_wire::Connection;
use pgdyno_wire::options::Options;
use serde_json::Value;

use crate::disturbed::{COME_BACK_MAX, come_back};
use crate::failover::{Control, NEW_ORDERS};
use crate::{audits_passed, connect};

/// Some at work while others are ended.
const CLIENTS: u32 = 4;

/// So long a stopped server stays away: any such time has a second of the
/// timeline in it from its beginning to its end.
const AWAY_MIN: Duration = Duration::from_secs(3);

/// A run that goes on until it is interrupted.
struct Going(Option<Child>);

impl Going {
    fn start(folder: &Path, options: &Options, form: &str) -> Self {
        let host = &options.hosts[0];
        let target = format!(
            "host={} port={} user={} dbname={}",
            host.name, host.port, options.user, options.dbname
        );
        let log = |name: &str| Stdio::from(std::fs::File::create(folder.join(name)).unwrap());
        let mut command = Command::cargo_bin("pgdyno").unwrap();
        if let Some(password) = &host.password {
            command.env("PGPASSWORD", password.reveal());
        }
        command
            .current_dir(folder)
            .args(["run", &target, "--workload", "tpcc", "--reconnect-lost", "--max-tries", "0"])
            .args(["--clients", &CLIENTS.to_string(), "--time", "600", "--json", "run.json"])
            .args(["--param", form])
            .stdout(log("out"))
            .stderr(log("err"));
        Self(Some(command.spawn().unwrap()))
    }

    /// Ends it as a person does; gives its exit code.
    fn end(mut self) -> i32 {
        let mut child = self.0.take().unwrap();
        let told = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        assert!(told.success(), "the run had ended by itself");
        child.wait().unwrap().code().unwrap()
    }
}

impl Drop for Going {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// What a run said that was disturbed after it had shown that it works, and
/// went on afterwards.
struct Said {
    record: Value,
    out: String,
    err: String,
}

impl Said {
    fn of(options: &Options, form: &str, disturb: impl FnOnce(Connection)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let going = Going::start(folder.path(), options, form);
        wait_for_orders(options);
        disturb(connect(options));
        wait_for_orders(options);
        let code = going.end();
        let text = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
        let (out, err) = (text("out"), text("err"));
        assert_eq!(code, 2, "{out}\n{err}");
        let record = serde_json::from_str(&text("run.json")).unwrap();
        Self { record, out, err }
    }

    /// The summary without its lines' ends.
    fn words(&self) -> String {
        self.out.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// The verdict stands in record and summary, where the headline speaks of it,
    /// with as many lost connections as were counted; nothing is missing.
    fn names_the_outage(&self) -> &Value {
        let (record, out) = (&self.record, &self.out);
        let lost = record["connections"]["lost"].as_u64().unwrap();
        assert!(lost > 0, "{out}");
        let verdicts = record["verdicts"].as_array().unwrap();
        let trouble = |one: &&Value| one["verdict"]["is"] == "endpoint_trouble";
        let said = verdicts.iter().find(trouble).unwrap();
        assert_eq!(
            (&said["severity"], &said["verdict"]["lost"]),
            (&"warning".into(), &lost.into())
        );
        let were = if lost == 1 { "connection was" } else { "connections were" };
        assert!(self.words().contains(&format!("! {lost} {were} lost, and made anew")), "{out}");
        let words = self.words();
        let (headline, _) = words.split_once("tpcc scale 1").unwrap();
        assert!(headline.contains("trouble with endpoints"), "{headline}");
        assert!(self.words().contains("see the timeline and the server's log"), "{out}");
        audits_passed(record);
        said
    }
}

/// Assertion 25, what is told: sessions that are ended, a crash, and a server
/// that is stopped and started again; of the last the time without a commit is
/// told as well. The server is away when this ends.
pub(crate) fn are_named(options: &Options, control: &Control) {
    let ended = Said::of(options, "procs=0", |mut session| end_all(&mut session));
    ended.names_the_outage();
    let crashed = Said::of(options, "procs=1", crash);
    crashed.names_the_outage();
    let stopped = Said::of(options, "procs=0", |session| {
        drop(session);
        assert!(control.stop(), "the server was not stopped");
        std::thread::sleep(AWAY_MIN);
        assert!(control.start(), "the server was not started");
    });
    let said = stopped.names_the_outage();
    let silent = |name: &str| said["verdict"]["silent"][name].as_u64().unwrap();
    assert!(silent("seconds") >= 1 && silent("to_s") > silent("from_s"), "{said}");
    let text = said["text"].as_str().unwrap();
    assert!(text.contains("; nothing was committed "), "{text}");
    assert!(stopped.words().contains(text), "{}", stopped.out);
    for words in ["takes no connection and is avoided for now", "takes connections again"] {
        assert!(stopped.err.contains(words), "{words}\n{}", stopped.err);
    }
}

/// Waits until so many orders more are committed than at the first look, over
/// a session for each look: a server may be on its way down.
fn wait_for_orders(options: &Options) {
    let begin = Instant::now();
    let mut first = None;
    loop {
        let found = come_back(options).query_one_i64("select sum(d_next_o_id) from district");
        if let Ok(found) = found
            && found >= *first.get_or_insert(found) + NEW_ORDERS
        {
            return;
        }
        assert!(begin.elapsed() < COME_BACK_MAX, "the run does not go on");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Ends all sessions but this one; each is gone when this returns.
fn end_all(session: &mut Connection) {
    session
        .simple_query(
            "select pg_terminate_backend(pid, 60000) from pg_stat_activity \
             where pid <> pg_backend_pid() and backend_type = 'client backend'",
        )
        .unwrap();
}

/// Kills a server process of a client, the oldest: a younger one may be ending
/// by itself. This session is thrown out like all others, and that is waited for.
fn crash(mut session: Connection) {
    let pid = session
        .query_one_i64(
            "select pid from pg_stat_activity \
             where pid <> pg_backend_pid() and backend_type = 'client backend' \
             order by backend_start limit 1",
        )
        .unwrap();
    let killed = Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap();
    assert!(killed.success(), "nothing was killed");
    let begin = Instant::now();
    while session.simple_query("select 1").is_ok() {
        assert!(begin.elapsed() < COME_BACK_MAX, "the server goes on");
        std::thread::sleep(Duration::from_millis(5));
    }
}
