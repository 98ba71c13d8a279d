//! Queries that wait for the encoder's threads: bounded, fair among owners, and taken in batches. One queue of a model serves all
//! threads of the process that ask.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use farthing_threads::fair_queue::{FairQueue, has_room};

use super::query_pace::QueryPace;
use super::text_encoder::{Encoded, TextEncoder};
use super::threads::{self, Use};
use crate::forward::scratch::Scratch;

/// A sentence or two, in tokens: a few milliseconds.
const QUICK: f64 = 128.0;
/// This many queries may always wait: some tens of milliseconds on a processor.
const WAITING_ANYWAY: usize = 8;
/// Threads of passages help when more queries than this wait.
const NOT_HELPED: usize = 2;
/// Characters of a token, about: estimates the size of a text before it is tokenised.
const TOKEN_CHARACTERS: usize = 4;
/// Nearly no token is longer: characters beyond this many for each token of the limit are over every limit.
const TOKEN_CHARACTERS_MAX: usize = 16;

/// Bounds of what waits and of what runs.
#[derive(Debug, Clone, Copy)]
pub struct QueueBounds {
    /// Queries that may wait.
    pub waiting_max: usize,
    /// A query whose estimated wait is longer is refused.
    pub wait_max: Option<Duration>,
    /// Batches that run at a time, and how many more where queries fall behind: as many as there are threads for passages without work.
    pub threads: usize,
    pub helpers: usize,
    /// Of one batch.
    pub batch_queries: usize,
    pub batch_tokens: usize,
}

/// A query that waits, and what is done with its vector.
pub trait Query: Send + 'static {
    /// The text to encode; none for a search without vectors.
    fn text(&self) -> Option<&str>;
    /// Whether it ends before anything is encoded. It is not asked again.
    fn ends_early(&mut self) -> bool;
    /// Called once, on the thread that encoded, or that found that it ends early.
    fn answer(self, outcome: Result<&[f32], &str>, task: &Task);
}

/// A batch, as it was measured.
#[derive(Debug, Clone, Copy)]
pub struct Task {
    pub queries: usize,
    /// From the first of its queries' coming until it began.
    pub waited: Duration,
    pub took: Duration,
    pub runs: u32,
    pub tokens: u32,
    /// True for exactly one query of a batch, so that a batch is counted once.
    pub is_first: bool,
    /// Attempts that have failed: each text is tried alone after that.
    pub failures: u32,
}

/// A query is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refusal {
    /// Queries that wait.
    pub waiting: usize,
    pub retry_after_s: u64,
}

struct Waiting<Q> {
    query: Q,
    /// In tokens, about.
    size: usize,
    since: Instant,
}

struct State<Q> {
    queue: FairQueue<Waiting<Q>>,
    pace: QueryPace,
    running: usize,
    /// Of them, those that leave the last queries to the others.
    helping: usize,
    /// Of the others, those that have taken nothing yet.
    starting: usize,
    /// Queries that were taken and have no answer yet.
    taken: usize,
    answered_at: Option<Instant>,
}

pub struct QueryQueue<Q> {
    encoder: TextEncoder,
    prefix: String,
    bounds: QueueBounds,
    state: Mutex<State<Q>>,
}

impl<Q: Query> QueryQueue<Q> {
    /// `prefix`: before every text.
    pub fn new(encoder: TextEncoder, prefix: String, bounds: QueueBounds) -> Arc<Self> {
        let pace = QueryPace::new(Instant::now());
        let queue = FairQueue::new(QUICK);
        let state = State { queue, pace, running: 0, helping: 0, starting: 0, taken: 0, answered_at: None };
        Arc::new(Self { encoder, prefix, bounds, state: Mutex::new(state) })
    }

    /// Queries that wait.
    pub fn depth(&self) -> usize {
        self.lock().queue.size()
    }

    /// Whether a query has no answer yet, or had one within this time.
    pub fn was_asked_within(&self, time: Duration) -> bool {
        let state = self.lock();
        state.taken > 0 || state.queue.size() > 0 || state.answered_at.is_some_and(|at| at.elapsed() <= time)
    }

    /// `wait_max`: longest estimated wait of a query that may wait for longer than others.
    ///
    /// # Errors
    /// The refusal of a query that could not wait now.
    pub fn admit(&self, owner: &str, wait_max: Duration) -> Result<(), Refusal> {
        self.admit_to(&self.lock(), owner, wait_max)
    }

    /// A query waits until [`Self::pump`] finds a thread for it.
    ///
    /// # Errors
    /// As [`Self::admit`].
    pub fn enter(&self, owner: &str, query: Q, wait_max: Duration) -> Result<(), Refusal> {
        let mut state = self.lock();
        self.admit_to(&state, owner, wait_max)?;
        let characters = query.text().map_or(0, |text| text.chars().count());
        let size = self.encoder.limit().min(2 + characters.div_ceil(TOKEN_CHARACTERS));
        state.queue.enter(owner, Waiting { query, size, since: Instant::now() }, size as f64);
        Ok(())
    }

    /// Takes back a query that waits.
    pub fn withdraw(&self, is_meant: impl Fn(&Q) -> bool) -> Option<Q> {
        self.lock().queue.leave(|waiting| is_meant(&waiting.query)).map(|waiting| waiting.query)
    }

    /// Has as many threads begin as what waits may have. Who is through takes what has come since, so this is called for what came new.
    pub fn pump(self: &Arc<Self>) {
        let QueueBounds { threads, helpers, batch_queries, .. } = self.bounds;
        let mut state = self.lock();
        loop {
            let left = state.queue.size().saturating_sub(state.starting * batch_queries);
            let helps = state.running - state.helping >= threads;
            let may_help =
                || left > NOT_HELPED && state.helping < helpers.saturating_sub(threads::running(Use::Passage));
            if left == 0 || (helps && !may_help()) {
                return;
            }
            let queue = self.clone();
            if !threads::run(Use::Query, move |scratch| queue.serve(helps, scratch)) {
                return;
            }
            state.running += 1;
            state.helping += usize::from(helps);
            state.starting += usize::from(!helps);
        }
    }

    /// Takes batches until there are none. A helper takes one query at a time, and leaves the last ones to the others.
    fn serve(&self, helps: bool, scratch: &mut Scratch) {
        let mut state = self.lock();
        state.starting -= usize::from(!helps);
        loop {
            let batch = match helps {
                true if state.queue.size() <= NOT_HELPED => vec![],
                true => self.take(&mut state, 1),
                false => self.take(&mut state, self.bounds.batch_queries),
            };
            if batch.is_empty() {
                state.running -= 1;
                state.helping -= usize::from(helps);
                return;
            }
            let count = batch.len();
            state.pace.begin(Instant::now());
            drop(state);
            self.perform(batch, scratch);
            state = self.lock();
            let now = Instant::now();
            state.pace.end(now, count);
            state.taken -= count;
            state.answered_at = Some(now);
        }
    }

    fn take(&self, state: &mut State<Q>, most: usize) -> Vec<Waiting<Q>> {
        let mut batch: Vec<Waiting<Q>> = vec![];
        let mut tokens = 0;
        while batch.len() < most {
            let fits = |next: &Waiting<Q>| batch.is_empty() || tokens + next.size <= self.bounds.batch_tokens;
            let Some(next) = state.queue.take(fits) else { break };
            tokens += next.size;
            batch.push(next);
        }
        state.taken += batch.len();
        batch
    }

    fn perform(&self, batch: Vec<Waiting<Q>>, scratch: &mut Scratch) {
        let began = Instant::now();
        let since = batch.iter().map(|waiting| waiting.since).min().unwrap_or(began);
        let (queries, waited) = (batch.len(), began.saturating_duration_since(since));
        let (mut early, mut asking) = (vec![], vec![]);
        for Waiting { mut query, .. } in batch {
            if query.ends_early() { early.push(query) } else { asking.push(query) }
        }
        let texts: Vec<&str> = asking.iter().filter_map(|query| query.text()).map(|text| self.cut(text)).collect();
        let (Encoded { vectors, runs, tokens, .. }, errors, failures) = self.encode(&texts, scratch);
        let mut task = Task { queries, waited, took: began.elapsed(), runs, tokens, is_first: true, failures };
        let width = self.encoder.dimensions();
        let mut row = 0;
        for query in early {
            query.answer(Ok(&[]), &task);
            task.is_first = false;
        }
        for query in asking {
            let outcome = match query.text() {
                None => Ok(&[][..]),
                Some(_) => {
                    row += 1;
                    errors[row - 1].as_deref().map_or(Ok(&vectors[(row - 1) * width..row * width]), Err)
                }
            };
            query.answer(outcome, &task);
            task.is_first = false;
        }
    }

    /// All texts together, or each alone once that has failed: only what is at fault fails.
    fn encode(&self, texts: &[&str], scratch: &mut Scratch) -> (Encoded, Vec<Option<String>>, u32) {
        if texts.is_empty() {
            return (Encoded::default(), vec![], 0);
        }
        let mut attempt = |texts: &[&str]| {
            let guarded = std::panic::AssertUnwindSafe(|| self.encoder.encode(texts, &self.prefix, scratch));
            std::panic::catch_unwind(guarded).unwrap_or_else(|_| Err("The encoder failed.".into()))
        };
        if let Ok(encoded) = attempt(texts) {
            return (encoded, vec![None; texts.len()], 0);
        }
        let width = self.encoder.dimensions();
        let (mut all, mut errors, mut failures) = (Encoded::default(), vec![], 1);
        for text in texts {
            match attempt(&[text]) {
                Ok(Encoded { vectors, runs, tokens, .. }) => {
                    all.vectors.extend(vectors);
                    (all.runs, all.tokens) = (all.runs + runs, all.tokens + tokens);
                    errors.push(None);
                }
                Err(error) => {
                    all.vectors.extend(std::iter::repeat_n(0.0, width));
                    errors.push(Some(error));
                    failures += 1;
                }
            }
        }
        (all, errors, failures)
    }

    /// What the tokenizer would cut anyway.
    fn cut<'text>(&self, text: &'text str) -> &'text str {
        let most = self.encoder.limit() * TOKEN_CHARACTERS_MAX;
        text.char_indices().nth(most).map_or(text, |(end, _)| &text[..end])
    }

    fn admit_to(&self, State { queue, pace, .. }: &State<Q>, owner: &str, wait_max: Duration) -> Result<(), Refusal> {
        let before = queue.waiting_before(owner);
        let wait = Duration::from_secs_f64(before as f64 * pace.milliseconds() / 1e3);
        // A few may always wait, however slow the last queries were.
        let is_long = self.bounds.wait_max.is_some_and(|most| wait > most.max(wait_max)) && before > WAITING_ANYWAY;
        if has_room(queue.waiting_of(owner), queue.size(), self.bounds.waiting_max) && !is_long {
            return Ok(());
        }
        Err(Refusal { waiting: queue.size(), retry_after_s: (wait.as_secs_f64().ceil() as u64).max(1) })
    }

    fn lock(&self) -> MutexGuard<'_, State<Q>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
