//! Which endpoint a client connects to, and which ones are avoided.
//!
//! Each worker finds out for itself which endpoints take connections. One that
//! refused is left alone for a while that doubles; then a single client tries
//! it, and the others follow once it was let in.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pgdyno_script::random::Prng;

use crate::connect::Balance;
use crate::plan::RunPlan;

/// An endpoint that refused is tried again after this long, at first.
const BACKOFF_FIRST_NS: u64 = 100_000_000;

/// And after this long at most: a restarted node has its clients back within
/// moments, and a dead one costs an attempt of one client in this time.
const BACKOFF_MAX_NS: u64 = 2_000_000_000;

/// Where a client may connect now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Choice {
    /// To this endpoint. `away_until_ns`: it is not the client's own, which
    /// can be tried again then.
    Use { endpoint: usize, away_until_ns: Option<u64> },
    /// None takes connections; one may be tried then.
    Wait { until_ns: u64 },
}

#[derive(Debug, Clone)]
struct Endpoint {
    /// Index of its first host among the endpoints that are counted.
    first_slot: u32,
    /// Failed attempts in a row.
    failures: u32,
    /// Not tried before; only where there are failures.
    down_until_ns: u64,
    /// A client tries it, and no other does until then, unless that one hears
    /// sooner: a host that is gone answers nothing, and each attempt at it
    /// costs a client all of its `connect_timeout`. 0 without a trial.
    trial_until_ns: u64,
    /// How long an attempt may take; 0 where nothing is said.
    attempt_max_ns: u64,
}

impl Endpoint {
    fn new(first_slot: u32, attempt_max_ns: u64) -> Self {
        Self { first_slot, failures: 0, down_until_ns: 0, trial_until_ns: 0, attempt_max_ns }
    }

    /// When to ask for it again; not after `now_ns` where it may be tried. A
    /// trial may end well at any moment, so that its longest time is not
    /// waited for.
    fn ask_at_ns(&self, now_ns: u64) -> u64 {
        if now_ns >= self.down_until_ns && now_ns < self.trial_until_ns {
            return self.trial_until_ns.min(now_ns + backoff_ns(self.failures));
        }
        self.down_until_ns
    }
}

/// The endpoints as one worker knows them.
#[derive(Debug, Clone)]
pub(super) struct Endpoints {
    each: Vec<Endpoint>,
    balance: Balance,
    /// For each endpoint, whether people know that it is down; all workers' own.
    told: Arc<[AtomicBool]>,
}

/// Flags for [`Endpoints::new`], one set for all workers.
pub(crate) fn told_flags(plan: &RunPlan) -> Arc<[AtomicBool]> {
    plan.endpoints.iter().map(|_| AtomicBool::new(false)).collect()
}

impl Endpoints {
    pub(super) fn new(plan: &RunPlan, told: &Arc<[AtomicBool]>) -> Self {
        let mut first_slot = 0;
        let mut each = Vec::with_capacity(plan.endpoints.len());
        for context in &plan.endpoints {
            let hosts = context.options().hosts.len() as u32;
            let attempt_max = context.options().connect_timeout.unwrap_or_default() * hosts;
            each.push(Endpoint::new(first_slot, attempt_max.as_nanos() as u64));
            first_slot += hosts;
        }
        Self { each, balance: plan.connect.balance, told: Arc::clone(told) }
    }

    /// The index under which a host of an endpoint is counted.
    pub(super) fn slot(&self, endpoint: u32, host: usize) -> u32 {
        self.each.get(endpoint as usize).map_or(0, |one| one.first_slot + host as u32)
    }

    /// Chooses for client `id`. An endpoint that failed before is given to one
    /// client at a time.
    pub(super) fn choose(&mut self, id: u32, random: &mut Prng, now_ns: u64) -> Choice {
        let count = self.each.len();
        let own = match self.balance {
            _ if count < 2 => 0,
            Balance::Even => id as usize % count,
            Balance::Random => random.bounded(count as u64 - 1) as usize,
            Balance::Ordered => 0,
        };
        if self.may_use(own, now_ns) {
            return Choice::Use { endpoint: own, away_until_ns: None };
        }
        let up = self.each.iter().filter(|one| one.failures == 0).count();
        if up > 0 {
            // Those of a dead endpoint are dealt over all others.
            let nth = if self.balance == Balance::Ordered { 0 } else { id as usize / count % up };
            let mut alive = self.each.iter().enumerate().filter(|(_, one)| one.failures == 0);
            let endpoint = alive.nth(nth).map_or(own, |(index, _)| index);
            return Choice::Use { endpoint, away_until_ns: Some(self.each[own].ask_at_ns(now_ns)) };
        }
        let due = (0..count).find(|index| self.may_use(*index, now_ns));
        let until_ns = self.each.iter().map(|one| one.ask_at_ns(now_ns)).min().unwrap_or(now_ns);
        let away_until_ns = Some(self.each[own].ask_at_ns(now_ns));
        due.map_or(Choice::Wait { until_ns }, |endpoint| Choice::Use { endpoint, away_until_ns })
    }

    /// True where it may be tried; marks a trial, so that others wait for its end.
    fn may_use(&mut self, endpoint: usize, now_ns: u64) -> bool {
        let Some(one) = self.each.get_mut(endpoint) else { return false };
        if one.failures == 0 {
            return true;
        }
        if now_ns < one.down_until_ns.max(one.trial_until_ns) {
            return false;
        }
        one.down_until_ns = now_ns + backoff_ns(one.failures);
        one.trial_until_ns = one.down_until_ns.max(now_ns.saturating_add(one.attempt_max_ns));
        true
    }

    /// An attempt at it failed. True where nobody was told yet.
    pub(super) fn failed(&mut self, endpoint: u32, now_ns: u64) -> bool {
        let index = endpoint as usize;
        let Some(one) = self.each.get_mut(index) else { return false };
        // Attempts that were under way together are one failure; a trial is one
        // of its own, however soon it ends.
        let was_tried = std::mem::take(&mut one.trial_until_ns) > 0;
        if one.failures == 0 || was_tried || now_ns >= one.down_until_ns {
            one.failures = one.failures.saturating_add(1);
        } else {
            one.failures = one.failures.max(1);
        }
        one.down_until_ns = now_ns + backoff_ns(one.failures);
        !self.told[index].swap(true, Ordering::Relaxed)
    }

    /// It gave a session. True where people believe that it is down.
    pub(super) fn connected(&mut self, endpoint: u32) -> bool {
        let index = endpoint as usize;
        let Some(one) = self.each.get_mut(index) else { return false };
        one.failures = 0;
        one.down_until_ns = 0;
        one.trial_until_ns = 0;
        self.told[index].load(Ordering::Relaxed) && self.told[index].swap(false, Ordering::Relaxed)
    }

    /// When a client that is away from its own endpoint may go back: `None` is
    /// at once.
    pub(super) fn back_at_ns(&self, id: u32, now_ns: u64) -> Option<u64> {
        let own = match self.balance {
            Balance::Even => id as usize % self.each.len().max(1),
            Balance::Ordered => 0,
            // Drawn anew; any that is back will do.
            Balance::Random => {
                let down = self.each.iter().filter(|one| one.failures > 0);
                let until = down.map(|one| one.ask_at_ns(now_ns)).max();
                return until.filter(|until| *until > now_ns);
            }
        };
        let one = self.each.get(own)?;
        let until_ns = one.ask_at_ns(now_ns);
        (one.failures > 0 && until_ns > now_ns).then_some(until_ns)
    }
}

fn backoff_ns(failures: u32) -> u64 {
    BACKOFF_FIRST_NS.saturating_mul(1 << failures.saturating_sub(1).min(20)).min(BACKOFF_MAX_NS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoints(count: usize, balance: Balance) -> Endpoints {
        let each = (0..count as u32).map(|first_slot| Endpoint::new(first_slot, 0)).collect();
        let told = (0..count).map(|_| AtomicBool::new(false)).collect();
        Endpoints { each, balance, told }
    }

    fn dealt(endpoints: &mut Endpoints, clients: u32, now_ns: u64) -> Vec<u32> {
        let mut counts = vec![0; endpoints.each.len()];
        let mut random = Prng::new(1);
        for id in 0..clients {
            if let Choice::Use { endpoint, .. } = endpoints.choose(id, &mut random, now_ns) {
                counts[endpoint] += 1;
            }
        }
        counts
    }

    /// Even dealing differs by one client at most, also when one endpoint is
    /// down; random dealing leaves none out; ordered dealing takes the first.
    #[test]
    fn dealing() {
        let mut even = endpoints(3, Balance::Even);
        assert_eq!(dealt(&mut even, 10, 0), [4, 3, 3]);
        assert!(even.failed(1, 0));
        assert_eq!(dealt(&mut even, 12, 1), [6, 0, 6]);
        let mut random = endpoints(3, Balance::Random);
        assert!(dealt(&mut random, 300, 0).iter().all(|count| *count > 50));
        let mut ordered = endpoints(3, Balance::Ordered);
        assert_eq!(dealt(&mut ordered, 10, 0), [10, 0, 0]);
        ordered.failed(0, 0);
        assert_eq!(dealt(&mut ordered, 10, 1), [0, 10, 0]);
    }

    /// A dead endpoint gets one client each time that its back-off is over, and
    /// the back-off grows to its limit and no further.
    #[test]
    fn one_client_tries() {
        let mut two = endpoints(2, Balance::Even);
        let mut now_ns = 0;
        let mut waits = Vec::new();
        for _ in 0..8 {
            two.failed(1, now_ns);
            let until_ns = two.back_at_ns(1, now_ns).unwrap();
            waits.push((until_ns - now_ns) / 1_000_000);
            assert_eq!(dealt(&mut two, 10, until_ns - 1), [10, 0]);
            assert_eq!(dealt(&mut two, 10, until_ns), [9, 1]);
            now_ns = two.back_at_ns(1, until_ns).unwrap();
        }
        assert_eq!(waits, [100, 200, 400, 800, 1600, 2000, 2000, 2000]);
        two.connected(1);
        assert_eq!(dealt(&mut two, 10, now_ns), [5, 5]);
    }

    /// While a host that answers nothing is tried, nobody else tries it; whoever
    /// is away from it asks again and again, and follows once it was let in.
    #[test]
    fn a_long_trial_is_one() {
        const ATTEMPT_NS: u64 = 10_000_000_000;
        let mut two = endpoints(2, Balance::Even);
        two.each[1].attempt_max_ns = ATTEMPT_NS;
        two.failed(1, 0);
        let begin_ns = two.back_at_ns(1, 0).unwrap();
        assert_eq!(dealt(&mut two, 10, begin_ns), [9, 1]);
        let mut now_ns = begin_ns;
        while let Some(until_ns) = two.back_at_ns(1, now_ns) {
            assert!(until_ns - now_ns <= BACKOFF_MAX_NS);
            assert_eq!(dealt(&mut two, 10, until_ns - 1), [10, 0]);
            now_ns = until_ns;
        }
        assert_eq!(now_ns, begin_ns + ATTEMPT_NS);
        assert_eq!(dealt(&mut two, 10, now_ns), [9, 1]);
        two.connected(1);
        assert_eq!(two.back_at_ns(1, now_ns), None);
        assert_eq!(dealt(&mut two, 10, now_ns), [5, 5]);
    }

    /// With all endpoints down clients wait for the first that may be tried,
    /// and attempts that fail together are one failure.
    #[test]
    fn all_down() {
        let mut two = endpoints(2, Balance::Even);
        assert!(two.failed(0, 10));
        assert!(!two.failed(0, 11));
        two.failed(1, 20);
        let mut random = Prng::new(1);
        let until_ns = BACKOFF_FIRST_NS + 11;
        assert_eq!(two.choose(1, &mut random, 30), Choice::Wait { until_ns });
        let use_first = two.choose(1, &mut random, until_ns);
        assert!(matches!(use_first, Choice::Use { endpoint: 0, away_until_ns: Some(_) }));
        assert!(two.connected(0) && !two.connected(0));
    }
}
