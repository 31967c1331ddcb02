//! What terminals draw at their seats: tests only.
//!
//! A terminal is asked through the trait that the engine uses; what it has
//! drawn is read from what it tells.

use std::sync::mpsc::{Receiver, channel};
use std::thread;

use pgdyno_script::Names;

use super::deck::Kind;
use super::input::{Input, Who};
use super::random::Constants;
use super::terminal::{COUNTERS, TpccTerminals};
use super::{Params, answer::Answer};
use crate::procedure::{Seat, Terminal, Terminals, TransactionEnd, Turn};

const CLIENTS: u32 = 6;
const SEED: u64 = 42;
const C_LAST_LOAD: u64 = 100;

/// How a server may answer.
#[derive(Debug, Clone, Copy)]
enum Server {
    /// Everything at once.
    Kind,
    /// Every transaction after some tries, or never.
    Moody,
}

struct Seated {
    terminal: Box<dyn Terminal>,
    answers: Receiver<Answer>,
    counters: Vec<u64>,
}

impl Seated {
    fn new(params: Params, client: u32, seed: u64) -> Self {
        let (teller, answers) = channel();
        let terminals = TpccTerminals::new(params, 3, C_LAST_LOAD).telling(teller);
        let names = Names::new();
        let terminal = terminals.terminal(&Seat { client, clients: CLIENTS, seed, names: &names });
        Self { terminal, answers, counters: vec![0; COUNTERS.len()] }
    }

    /// One transaction; its inputs where the terminal tells them.
    fn run(&mut self, tries: usize, end: TransactionEnd) -> (Turn, Option<Input>) {
        let turn = self.terminal.next();
        (0..tries).for_each(|_| self.terminal.begin());
        self.terminal.ended(end, &mut self.counters);
        (turn, self.answers.try_iter().last().map(|answer| answer.input))
    }

    /// The first so many transactions, as a text of all that was drawn.
    fn stream(mut self, count: usize, server: Server) -> Vec<String> {
        (0..count)
            .map(|number| {
                let (tries, end) = match (server, number % 7) {
                    (Server::Kind, _) => (1, TransactionEnd::RolledBack),
                    (Server::Moody, 3) => (9, TransactionEnd::Failed),
                    (Server::Moody, 5) => (1, TransactionEnd::Unknown),
                    (Server::Moody, other) => (other + 1, TransactionEnd::RolledBack),
                };
                format!("{:?}", self.run(tries, end))
            })
            .collect()
    }
}

fn stream(params: Params, client: u32, seed: u64, server: Server) -> Vec<String> {
    Seated::new(params, client, seed).stream(1000, server)
}

/// Assertion 15: the first thousand inputs of each terminal, with the pauses
/// before them, are the same on one thread and on many, in whatever order the
/// terminals are made; other seeds and other terminals have others.
#[test]
fn a15_streams_do_not_depend_on_threads() {
    let params = Params { think: true, ..Params::default() };
    let one: Vec<Vec<String>> =
        (0..CLIENTS).map(|client| stream(params, client, SEED, Server::Kind)).collect();
    let threads: Vec<_> = (0..CLIENTS)
        .rev()
        .map(|client| thread::spawn(move || stream(params, client, SEED, Server::Kind)))
        .collect();
    let many: Vec<Vec<String>> =
        threads.into_iter().rev().map(|thread| thread.join().unwrap()).collect();
    assert_eq!(one, many);
    for (client, inputs) in (0..).zip(&one) {
        assert_ne!(*inputs, stream(params, client, SEED + 1, Server::Kind));
        assert!(one.iter().filter(|other| *other == inputs).count() == 1, "{client}");
    }
}

/// Assertion 15: tries, failures and unknown outcomes draw nothing.
#[test]
fn a15_streams_do_not_depend_on_the_server() {
    for params in [Params::default(), Params { procs: true, think: true, ..Params::default() }] {
        for client in 0..CLIENTS {
            let kind = stream(params, client, SEED, Server::Kind);
            let moody = stream(params, client, SEED, Server::Moody);
            for (number, (kind, moody)) in kind.iter().zip(&moody).enumerate() {
                // Of a transaction that failed nobody is told.
                if !matches!(number % 7, 3 | 5) {
                    assert_eq!(kind, moody, "{client} {number}");
                }
            }
        }
    }
}

/// Assertion 10: all terminals of a run draw with the same three constants,
/// which follow from its seed and the load's: the values that are hottest with
/// these are as hot as they must be, at each of them.
#[test]
fn a10_terminals_share_their_constants() {
    let constants = Constants::of_run(SEED, C_LAST_LOAD);
    // The hottest values of a field have all low bits set, and are moved by C.
    let is_hot = |value: u64, block: u64, range: u64, first: u64, c: u64| {
        (1..=range / block).any(|k| (k * block - 1 + c) % range + first == value)
    };
    for client in 0..CLIENTS {
        let mut seated = Seated::new(Params::default(), client, SEED);
        // Names, customers, items: how many, and how many are among the hottest.
        let mut counts = [(0u64, 0u64); 3];
        let mut add = |at: usize, is_hot: bool| {
            counts[at].0 += 1;
            counts[at].1 += u64::from(is_hot);
        };
        for _ in 0..40_000 {
            match seated.run(1, TransactionEnd::RolledBack).1.unwrap() {
                Input::NewOrder(order) => {
                    let customer = order.customer as u64;
                    add(1, is_hot(customer, 1024, 3000, 1, constants.c_id));
                    let lines = &order.lines()[..order.count - 1];
                    for item in lines.iter().map(|line| line.item as u64) {
                        add(2, is_hot(item, 8192, 100_000, 1, constants.ol_i_id));
                    }
                }
                Input::Payment(payment) => match payment.who {
                    Who::Name(name) => add(0, is_hot(name.into(), 256, 1000, 0, constants.c_last)),
                    Who::Number(number) => {
                        add(1, is_hot(number as u64, 1024, 3000, 1, constants.c_id));
                    }
                },
                other => assert_ne!(other.kind(), Kind::NewOrder),
            }
        }
        // 3^k ways of 2^k times the range, and so many that are as hot.
        for ((all, hot), share) in counts.into_iter().zip([
            3.0 * 6561.0 / 256_000.0,
            2.0 * 59_049.0 / 3_072_000.0,
            12.0 * 1_594_323.0 / 819_200_000.0,
        ]) {
            let (all, found) = (all as f64, hot as f64);
            let sigma = (all * share * (1.0 - share)).sqrt();
            assert!(
                (found - all * share).abs() < 4.0 * sigma,
                "{client}: {found} of {all}, {share}"
            );
        }
    }
}
