//! Jobs side by side within a budget of cores: longest first, each with at least one core.
//!
//! In: what each job costs and can use. Out: [`Lease`]s. I/O: none.
//!
//! A job starts with one core. At each stage it asks again and gets its fair share among the jobs that are not
//! finished, as far as cores are free that no waiting job needs; so the last job's late stages use the whole machine.
//! A share depends on costs, wishes and on who has finished, never on who asked first.

use std::collections::BTreeSet;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use futures::StreamExt as _;
use futures::stream::FuturesUnordered;

/// What a job would like.
#[derive(Debug, Clone, PartialEq)]
pub struct Want {
    /// Its name; decides between jobs of equal cost.
    pub name: String,
    /// How long it is expected to take on one core, in seconds.
    pub cost: f64,
    /// The most cores that it can use.
    pub cores: u32,
    /// Names of things that it must not share with a job running beside it (`postgres`).
    pub exclusive: Vec<String>,
}

/// A started job's place in the budget; dropping it ends the job and frees its cores.
#[derive(Debug)]
pub struct Lease {
    pool: Arc<Pool>,
    index: usize,
}

/// Runs every job, longest first, as many side by side as there are cores. Results are in the order of `wants`.
pub async fn run_all<T, F, R>(cores: u32, wants: &[Want], run: F) -> Vec<T>
where
    F: Fn(usize, Lease) -> R,
    R: Future<Output = T>,
{
    let pool = Arc::new(Pool::new(cores, wants));
    let mut waiting = longest_first(wants);
    let mut running = FuturesUnordered::new();
    let mut results: Vec<(usize, T)> = Vec::new();
    loop {
        while let Some(at) = waiting.iter().position(|index| pool.start(*index)) {
            let index = waiting.remove(at);
            let job = run(index, Lease { pool: Arc::clone(&pool), index });
            running.push(async move { (index, job.await) });
        }
        match running.next().await {
            Some(result) => results.push(result),
            None => break,
        }
    }
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}

/// The order in which jobs start.
pub fn longest_first(wants: &[Want]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..wants.len()).collect();
    order.sort_by(|a, b| {
        let (a, b) = (&wants[*a], &wants[*b]);
        b.cost.total_cmp(&a.cost).then_with(|| a.name.cmp(&b.name))
    });
    order
}

impl Lease {
    /// How many cores the job may use from now on, until it asks again: to be asked at the start of each stage.
    pub fn cores(&self) -> u32 {
        self.pool.share(self.index)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.pool.places()[self.index] = Place::Done;
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Waiting,
    Runs(u32),
    Done,
}

#[derive(Debug)]
struct Pool {
    cores: u32,
    wants: Vec<Want>,
    places: Mutex<Vec<Place>>,
}

impl Pool {
    fn new(cores: u32, wants: &[Want]) -> Self {
        let places = Mutex::new(vec![Place::Waiting; wants.len()]);
        Self { cores: cores.max(1), wants: wants.to_vec(), places }
    }

    fn places(&self) -> std::sync::MutexGuard<'_, Vec<Place>> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives a waiting job its first core, when one is free and nothing that it must not share is in use.
    fn start(&self, index: usize) -> bool {
        let mut places = self.places();
        let may = self.cores > held(&places) && !self.is_blocked(index, &places);
        if may {
            places[index] = Place::Runs(1);
        }
        may
    }

    /// The fair share of a running job, as far as cores are free.
    fn share(&self, index: usize) -> u32 {
        let mut places = self.places();
        let own = match places[index] {
            Place::Runs(own) => own,
            Place::Waiting | Place::Done => return 1,
        };
        let waiting = (0..places.len())
            .filter(|other| places[*other] == Place::Waiting && !self.is_blocked(*other, &places))
            .count();
        let waiting = u32::try_from(waiting).unwrap_or(u32::MAX);
        let free = (self.cores - held(&places).min(self.cores)).saturating_sub(waiting);
        let share = self.fair(index, &places).min(own + free).max(1);
        places[index] = Place::Runs(share);
        share
    }

    /// One core for each job that is not finished; what is left goes, core by core, to the job with the most work per
    /// core that can use one more.
    fn fair(&self, index: usize, places: &[Place]) -> u32 {
        let open: Vec<usize> =
            longest_first(&self.wants).into_iter().filter(|job| places[*job] != Place::Done).collect();
        let mut shares = vec![1_u32; open.len()];
        let spent = u32::try_from(open.len()).unwrap_or(u32::MAX);
        for _ in 0..self.cores.saturating_sub(spent) {
            let mut best: Option<(usize, f64)> = None;
            for (at, job) in open.iter().enumerate() {
                let per_core = self.wants[*job].cost / f64::from(shares[at]);
                if shares[at] < self.wants[*job].cores && best.is_none_or(|(_, most)| per_core > most) {
                    best = Some((at, per_core));
                }
            }
            let Some((at, _)) = best else { break };
            shares[at] += 1;
        }
        open.iter().position(|job| *job == index).map_or(1, |at| shares[at])
    }

    fn is_blocked(&self, index: usize, places: &[Place]) -> bool {
        let in_use: BTreeSet<&str> = places
            .iter()
            .zip(&self.wants)
            .filter(|(place, _)| matches!(place, Place::Runs(_)))
            .flat_map(|(_, want)| want.exclusive.iter().map(String::as_str))
            .collect();
        self.wants[index].exclusive.iter().any(|name| in_use.contains(name.as_str()))
    }
}

fn held(places: &[Place]) -> u32 {
    places
        .iter()
        .map(|place| match place {
            Place::Runs(cores) => *cores,
            Place::Waiting | Place::Done => 0,
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn want(name: &str, cost: f64, cores: u32) -> Want {
        Want { name: name.to_owned(), cost, cores, exclusive: Vec::new() }
    }

    /// Runs jobs of some turns each and tells who ran beside whom.
    async fn beside(cores: u32, wants: &[Want], turns: usize) -> (Vec<String>, usize) {
        let log = Mutex::new((Vec::new(), 0_usize, 0_usize));
        run_all(cores, wants, |index, lease| {
            let log = &log;
            async move {
                {
                    let mut log = log.lock().unwrap();
                    log.0.push(wants[index].name.clone());
                    log.1 += 1;
                    log.2 = log.2.max(log.1);
                }
                for _ in 0..turns {
                    tokio::task::yield_now().await;
                }
                log.lock().unwrap().1 -= 1;
                drop(lease);
            }
        })
        .await;
        let (order, _, most) = log.into_inner().unwrap();
        (order, most)
    }

    #[tokio::test]
    async fn the_longest_job_starts_first_and_the_budget_holds() {
        let wants = [want("a", 1.0, 1), want("b", 9.0, 1), want("c", 5.0, 1), want("d", 5.0, 1)];
        let (order, most) = beside(2, &wants, 3).await;
        assert_eq!(order, ["b", "c", "d", "a"]);
        assert_eq!(most, 2);
    }

    #[tokio::test]
    async fn results_come_in_the_order_that_was_asked_for() {
        let wants = [want("a", 1.0, 1), want("b", 9.0, 1), want("c", 5.0, 1)];
        let got = run_all(3, &wants, |index, _lease| async move { index * 10 }).await;
        assert_eq!(got, [0, 10, 20]);
    }

    #[tokio::test]
    async fn jobs_that_must_not_share_something_run_one_after_another() {
        let mut wants = [want("a", 3.0, 1), want("b", 2.0, 1), want("c", 1.0, 1)];
        wants[0].exclusive = vec!["postgres".to_owned()];
        wants[1].exclusive = vec!["postgres".to_owned()];
        let (order, most) = beside(3, &wants, 3).await;
        assert_eq!(order, ["a", "c", "b"]);
        assert_eq!(most, 2);
    }

    #[test]
    fn spare_cores_go_where_most_work_is_and_never_beyond_the_wish() {
        let pool = Pool::new(8, &[want("long", 60.0, 16), want("short", 20.0, 16), want("one", 90.0, 1)]);
        assert!((0..3).all(|index| pool.start(index)));
        assert_eq!(pool.share(2), 1);
        assert_eq!(pool.share(0), 5);
        assert_eq!(pool.share(1), 2);
    }

    #[test]
    fn cores_of_finished_jobs_are_shared_anew_but_waiting_jobs_come_first() {
        let pool = Arc::new(Pool::new(2, &[want("a", 9.0, 4), want("b", 5.0, 4), want("c", 1.0, 4)]));
        assert!(pool.start(0) && pool.start(1) && !pool.start(2));
        assert_eq!(pool.share(0), 1);
        drop(Lease { pool: Arc::clone(&pool), index: 1 });
        assert_eq!(pool.share(0), 1, "the freed core belongs to the waiting job");
        assert!(pool.start(2));
        drop(Lease { pool: Arc::clone(&pool), index: 2 });
        assert_eq!(pool.share(0), 2);
    }
}
