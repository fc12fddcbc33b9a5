//! The cores of `--jobs`, lent to the stages of jobs: the job with the most work ahead first.
//!
//! In: what a stage can use and what its job has ahead. Out: [`Lease`]s. I/O: none.
//!
//! # Invariants
//! - No more cores are lent than there are, and each stage has at least one.
//! - While a stage that wants quiet holds a core, nothing else holds one but stages that want the same.
//! - A share depends on how many jobs still run, never on who asked first.
//!
//! Work comes in tides: as long as ordinary stages run or wait, stages that want quiet wait, and then all of those come,
//! one core each, before ordinary ones go on. So a machine of two cores is quiet for two of them at once, and no core
//! idles because another job cannot be disturbed.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

/// What a stage asks for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ask {
    /// The most cores that it can use; at least one.
    pub most: u32,
    /// Whether the machine has to be quiet: a timeout that load made does not come back then.
    pub quiet: bool,
    /// Seconds that its job is expected to need from here on, on one core.
    pub ahead: f64,
}

/// The cores of a run.
#[derive(Debug, Clone)]
pub struct Schedule(Arc<Mutex<Book>>);

/// Some cores, given back when dropped.
#[derive(Debug)]
pub struct Lease {
    schedule: Schedule,
    count: u32,
}

#[derive(Debug)]
struct Book {
    total: u32,
    free: u32,
    /// Jobs that have not ended.
    jobs: u32,
    /// Whether quiet stages have the machine.
    quiet: bool,
    waiting: Vec<Waiter>,
    tickets: u64,
}

#[derive(Debug)]
struct Waiter {
    ask: Ask,
    ticket: u64,
    wake: oneshot::Sender<Lease>,
}

impl Schedule {
    /// `total` cores for `jobs` jobs.
    pub fn new(total: u32, jobs: u32) -> Self {
        let total = total.max(1);
        let book = Book { total, free: total, jobs, quiet: false, waiting: Vec::new(), tickets: 0 };
        Self(Arc::new(Mutex::new(book)))
    }

    /// How many cores there are.
    pub fn total(&self) -> u32 {
        self.book().total
    }

    /// One job less shares the cores.
    pub fn job_ended(&self) {
        let mut book = self.book();
        book.jobs = book.jobs.saturating_sub(1);
    }

    /// Waits for cores. A quiet stage gets one; any other its fair share among the jobs that still run, at most.
    pub async fn take(&self, ask: Ask) -> Lease {
        let (wake, woken) = oneshot::channel();
        {
            let mut book = self.book();
            book.tickets += 1;
            let ticket = book.tickets;
            book.waiting.push(Waiter { ask, ticket, wake });
        }
        self.lend();
        // A schedule answers everyone that still waits. Were it not so, the work goes on without a share rather than
        // not at all.
        woken.await.unwrap_or_else(|_| Lease { schedule: self.clone(), count: 0 })
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes everyone whose turn it is.
    fn lend(&self) {
        loop {
            let granted = self.book().next();
            let Some((waiter, count)) = granted else { return };
            // Whoever went away while it waited drops its lease, and the cores come back.
            let _ = waiter.wake.send(Lease { schedule: self.clone(), count });
        }
    }
}

impl Book {
    /// The next stage and its cores; `None` while nobody's turn has come.
    fn next(&mut self) -> Option<(Waiter, u32)> {
        self.waiting.retain(|waiter| !waiter.wake.is_closed());
        if self.free == self.total && !self.waiting.iter().any(|waiter| waiter.ask.quiet == self.quiet) {
            self.quiet = !self.quiet;
        }
        let turn = self
            .waiting
            .iter()
            .enumerate()
            .filter(|(_, waiter)| waiter.ask.quiet == self.quiet)
            .max_by(|(_, one), (_, other)| {
                one.ask.ahead.total_cmp(&other.ask.ahead).then(other.ticket.cmp(&one.ticket))
            })
            .map(|(at, waiter)| (at, self.share(waiter.ask)))?;
        let (at, count) = turn;
        if count > self.free {
            return None;
        }
        self.free -= count;
        Some((self.waiting.swap_remove(at), count))
    }

    fn share(&self, ask: Ask) -> u32 {
        if ask.quiet {
            return 1;
        }
        (self.total / self.jobs.max(1)).clamp(1, ask.most.max(1))
    }
}

impl Lease {
    /// How many cores.
    pub fn count(&self) -> u32 {
        self.count.max(1)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.schedule.book().free += self.count;
        self.schedule.lend();
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use futures::FutureExt as _;
    use futures::future::BoxFuture;

    use super::*;

    const fn work(ahead: f64) -> Ask {
        Ask { most: u32::MAX, quiet: false, ahead }
    }

    const fn alone(ahead: f64) -> Ask {
        Ask { most: u32::MAX, quiet: true, ahead }
    }

    /// A waiting stage that can be asked whether it was let in.
    struct Waiting(Option<BoxFuture<'static, Lease>>);

    impl Waiting {
        /// Takes its place in the queue at once.
        fn on(schedule: &Schedule, ask: Ask) -> Self {
            let schedule = schedule.clone();
            let mut waiting = Self(Some(async move { schedule.take(ask).await }.boxed()));
            if let Some(lease) = waiting.let_in() {
                waiting.0 = Some(futures::future::ready(lease).boxed());
            }
            waiting
        }

        /// Its lease, the first time that there is one.
        fn let_in(&mut self) -> Option<Lease> {
            let lease = self.0.as_mut()?.now_or_never()?;
            self.0 = None;
            Some(lease)
        }
    }

    #[test]
    fn the_job_with_the_most_ahead_comes_first_and_the_budget_holds() {
        let schedule = Schedule::new(1, 4);
        let mut held = Waiting::on(&schedule, work(1.0)).let_in();
        let mut waiting: VecDeque<(f64, Waiting)> =
            [2.0, 9.0, 5.0].map(|ahead| (ahead, Waiting::on(&schedule, work(ahead)))).into();
        for wanted in [9.0, 5.0, 2.0] {
            assert!(waiting.iter_mut().all(|(_, one)| one.let_in().is_none()));
            drop(held.take());
            let mut order = Vec::new();
            waiting.retain_mut(|(ahead, one)| match one.let_in() {
                Some(lease) => {
                    order.push(*ahead);
                    held = Some(lease);
                    false
                }
                None => true,
            });
            assert_eq!(order, [wanted]);
        }
    }

    #[test]
    fn quiet_stages_wait_for_all_work_and_then_share_the_machine_among_themselves() {
        let schedule = Schedule::new(2, 4);
        let first = Waiting::on(&schedule, work(9.0)).let_in().unwrap();
        let mut quiet: Vec<Waiting> = (0..3).map(|_| Waiting::on(&schedule, alone(1.0))).collect();
        assert!(quiet.iter_mut().all(|one| one.let_in().is_none()));
        let second = Waiting::on(&schedule, work(1.0)).let_in().expect("work goes on beside work");
        drop((first, second));
        let leases: Vec<Lease> = quiet.iter_mut().filter_map(Waiting::let_in).collect();
        assert_eq!(leases.len(), 2, "one core each");
        let mut late = Waiting::on(&schedule, work(99.0));
        assert!(late.let_in().is_none());
        drop(leases);
        assert!(late.let_in().is_none(), "all quiet stages come first");
        let last: Vec<Lease> = quiet.iter_mut().filter_map(Waiting::let_in).collect();
        assert_eq!(last.len(), 1);
        drop(last);
        assert!(late.let_in().is_some());
    }

    #[test]
    fn shares_grow_as_jobs_end_and_never_beyond_the_wish() {
        let schedule = Schedule::new(8, 3);
        let two = Waiting::on(&schedule, work(1.0)).let_in().unwrap();
        assert_eq!(two.count(), 2);
        schedule.job_ended();
        schedule.job_ended();
        let one = Waiting::on(&schedule, Ask { most: 1, ..work(1.0) }).let_in().unwrap();
        assert_eq!(one.count(), 1);
        drop((one, two));
        assert_eq!(Waiting::on(&schedule, work(1.0)).let_in().unwrap().count(), 8);
    }

    #[test]
    fn who_stops_waiting_keeps_nobody_waiting() {
        let schedule = Schedule::new(1, 3);
        let held = Waiting::on(&schedule, work(1.0)).let_in().unwrap();
        let gone = Waiting::on(&schedule, work(9.0));
        let mut next = Waiting::on(&schedule, work(2.0));
        drop(gone);
        drop(held);
        assert!(next.let_in().is_some());
    }
}
