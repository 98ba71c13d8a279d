//! How fast all threads together answer queries.

use std::time::Instant;

/// Assumed before anything is measured: one query of a small model on a slow processor.
const FIRST_GUESS_MS: f64 = 10.0;
/// Number of recent queries that the pace reflects, about.
const MEMORY: f64 = 64.0;

/// Milliseconds for each query, of the time in which any thread was busy. It cannot be derived from one thread's time, because threads
/// share processors with each other and with others.
pub struct QueryPace {
    ms: f64,
    queries: f64,
    running: usize,
    counted_to: Instant,
}

impl QueryPace {
    pub fn new(now: Instant) -> Self {
        Self { ms: FIRST_GUESS_MS * MEMORY, queries: MEMORY, running: 0, counted_to: now }
    }

    pub fn milliseconds(&self) -> f64 {
        self.ms / self.queries
    }

    /// A task begins.
    pub fn begin(&mut self, now: Instant) {
        if self.running == 0 {
            self.counted_to = now;
        }
        self.running += 1;
    }

    /// A task ends that has answered so many queries.
    pub fn end(&mut self, now: Instant, queries: usize) {
        self.running -= 1;
        let kept = (1.0 - 1.0 / MEMORY).powi(queries as i32);
        self.ms = self.ms * kept + now.saturating_duration_since(self.counted_to).as_secs_f64() * 1e3;
        self.queries = self.queries * kept + queries as f64;
        self.counted_to = now;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn it_is_the_time_of_all_threads_together() {
        let began = Instant::now();
        let at = |ms: u64| began + Duration::from_millis(ms);
        let mut pace = QueryPace::new(began);
        assert_eq!(pace.milliseconds(), FIRST_GUESS_MS);
        // Two threads, each with a query of four milliseconds at the same time.
        for turn in 0..1000 {
            pace.begin(at(8 * turn));
            pace.begin(at(8 * turn));
            pace.end(at(8 * turn + 4), 1);
            pace.end(at(8 * turn + 4), 1);
        }
        assert!((pace.milliseconds() - 2.0).abs() < 0.1, "{}", pace.milliseconds());
    }
}
