//! `pgdyno init --resume` after crashes: nothing is lost, nothing is doubled.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use pgdyno_wire::Connection;

use crate::server::Server;

/// Loads that are broken off, as many of each way.
const KILLS: usize = 20;

/// The seed of the points at which loads are broken off: the one that a failure
/// has printed, or `random`.
const SEED_VARIABLE: &str = "PGDYNO_TEST_SEED";

/// The same points each time; `make test-long` draws others.
const SEED_DEFAULT: u64 = 20_261_121;

/// Far beyond what the test takes on the slowest machine.
const DEADLINE: Duration = Duration::from_secs(600);

/// A way to load.
struct Way {
    options: &'static str,
    /// Transactions that leave a mark, about.
    chunks: u64,
    /// The first way that leaves the same rows and keys.
    like: usize,
}

/// Many small transactions; small COPYs as a database takes them whose keys and
/// marks cannot share a transaction; large COPYs; rows made by the server, in
/// portions that are small enough for kills among them.
const WAYS: [Way; 4] = [
    Way { options: "-j 3 --load-method insert --dialect postgres", chunks: 200, like: 0 },
    Way { options: "-j 2 --dialect aurora-dsql", chunks: 50, like: 1 },
    Way { options: "-j 3 --load-method copy --dialect postgres", chunks: 4, like: 0 },
    Way { options: "-j 2 --load-method server --dialect aurora-dsql", chunks: 50, like: 1 },
];

/// Kills of each way.
const SHARE: usize = KILLS / WAYS.len();

/// Everything that a load leaves: every column of every row, without an order,
/// and the keys.
pub(crate) const CHECKSUM: &str = "SELECT concat_ws(' ', \
    (SELECT count(*) || ':' || sum(hashtextextended(t::text, 0)::numeric) FROM pgbench_branches t), \
    (SELECT count(*) || ':' || sum(hashtextextended(t::text, 0)::numeric) FROM pgbench_tellers t), \
    (SELECT count(*) || ':' || sum(hashtextextended(t::text, 0)::numeric) FROM pgbench_accounts t), \
    (SELECT count(*) FROM pgbench_history), \
    (SELECT string_agg(indexrelid::regclass::text, ',' ORDER BY indexrelid::regclass::text) \
     FROM pg_index WHERE indisprimary AND indisvalid AND indrelid::regclass::text LIKE 'pgbench%'), \
    coalesce(to_regclass('pgdyno_load')::text, 'no marks'))";

/// Steele, Lea, Flood: "Fast splittable pseudorandom number generators".
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound
    }
}

fn first_seed() -> u64 {
    match std::env::var(SEED_VARIABLE).as_deref() {
        Ok("random") => {
            SystemTime::UNIX_EPOCH.elapsed().map_or(1, |time| u64::from(time.subsec_nanos()))
        }
        Ok(seed) => seed.parse().unwrap(),
        Err(_) => SEED_DEFAULT,
    }
}

/// When a load is broken off: as soon as this query answers true, and a little
/// later.
struct Point {
    query: String,
    delay: Duration,
}

fn draw_point(random: &mut Random, chunks: u64) -> Point {
    let active = |words: &str| {
        format!(
            "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE state = 'active' AND pid <> \
             pg_backend_pid() AND query LIKE '{words}%')"
        )
    };
    let query = match random.below(8) {
        0 => "SELECT true".to_owned(),
        1 => active("ALTER TABLE"),
        2 => "SELECT EXISTS (SELECT FROM pgdyno_load WHERE part = 'key')".to_owned(),
        3 => active("%ANALYZE"),
        _ => {
            let chunks = random.below((chunks * 3).div_ceil(4));
            format!("SELECT count(*) >= {chunks} FROM pgdyno_load WHERE part = 'chunk'")
        }
    };
    Point { query, delay: Duration::from_micros(random.below(30_000)) }
}

fn init(server: &Server, way: &str, resume: bool) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pgdyno"));
    command
        .args(["-q", "init", &server.words(), "--seed", "5"])
        .args(way.split_whitespace())
        .args(resume.then_some("--resume"))
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

/// True once the point is reached; false where the load ended before.
fn reached(server: &Server, load: &mut Child, point: &Point) -> bool {
    let mut watcher: Option<Connection> = None;
    let begun = Instant::now();
    loop {
        assert!(begun.elapsed() < DEADLINE, "the load neither ends nor comes to {}", point.query);
        if load.try_wait().unwrap().is_some() {
            return false;
        }
        if watcher.is_none() {
            watcher = server.try_connect().ok();
        }
        // Before the table of marks is there, the question is an error.
        let answer = watcher.as_mut().and_then(|session| session.query_one_text(&point.query).ok());
        if answer.flatten().as_deref() == Some("t") {
            std::thread::sleep(point.delay);
            return load.try_wait().unwrap().is_none();
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Breaks the load off: its process, or the server under it.
fn break_off(server: &mut Server, mut load: Child, kill: usize) {
    if kill % 2 == 1 {
        server.crash();
    } else {
        // SIGKILL. The server's sessions learn of it by and by.
        load.kill().unwrap();
    }
    load.wait().unwrap();
}

pub(crate) fn checksum(server: &Server) -> String {
    server.try_connect().unwrap().query_one_text(CHECKSUM).unwrap().unwrap()
}

pub(crate) fn finish(server: &Server, way: &str, resume: bool) {
    let output = init(server, way, resume).stderr(Stdio::piped()).output().unwrap();
    assert!(output.status.success(), "{way}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Loads that are killed at random, with their server or alone, once or more
/// often in a row, are gone on with until every row of every table is there
/// once, as after an undisturbed load.
#[test]
fn no_row_is_lost_or_doubled() {
    let seed = first_seed();
    eprintln!("{SEED_VARIABLE}={seed}");
    let mut random = Random(seed);
    let mut server = Server::start();
    let expected = [0, 1].map(|number| {
        finish(&server, WAYS[number].options, false);
        checksum(&server)
    });
    let begun = Instant::now();
    let mut kills = 0;
    while kills < KILLS {
        assert!(begun.elapsed() < DEADLINE, "{kills} kills");
        let Way { options: way, chunks, like } = WAYS[kills / SHARE];
        let mut resume = false;
        loop {
            // What it says in failing fits into the pipe.
            let mut load = init(&server, way, resume).stderr(Stdio::piped()).spawn().unwrap();
            let point = draw_point(&mut random, chunks);
            if !reached(&server, &mut load, &point) {
                let output = load.wait_with_output().unwrap();
                let told = String::from_utf8_lossy(&output.stderr);
                assert!(output.status.success(), "{way}: {told}");
                break;
            }
            break_off(&mut server, load, kills);
            eprintln!("kill {kills} at {} and {:?}: {way}", point.query, point.delay);
            kills += 1;
            resume = true;
            // Every other time the load that goes on is broken off as well.
            if kills % SHARE == 0 || random.below(2) > 0 {
                finish(&server, way, true);
                break;
            }
        }
        assert_eq!(checksum(&server), expected[like], "{way}, {kills} kills");
    }
}
