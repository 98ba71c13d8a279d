//! Queries of a model, and the searches that go on with their vectors: one call begins each, and one callback ends it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};

use farthing_core::error::{Result, ShardError, catch_panic};
use farthing_core::ranking::options::Stop;
use farthing_core::search::task::inputs::SearchInputs;
use farthing_core::search::task::pending::{PendingAnswer, PendingSearch};
use farthing_core::terms::spelt_right::SpeltRight;
use farthing_encoder::encoding::query_queue::{Query, QueryQueue as Queue, QueueBounds, Task};
use napi::Env;
use napi::bindgen_prelude::{ClassInstance, Float32Array, FnArgs, Function};
use napi_derive::napi;

use super::listener::{Listener, News};
use super::text_encoder::NativeTextEncoder;
use crate::error::{internal, js_error};
use crate::search::native_search::{SearchedHits, TextExtent, searched, wanted};
use crate::search::planned_index::PlannedIndex;
use crate::text::vocabulary::Vocabulary;

/// Bounds of what waits and of what runs.
#[napi(object)]
pub struct QueryBounds {
    /// Queries that may wait.
    pub waiting_max: u32,
    /// A query whose estimated wait is longer is refused. Absent: no limit.
    pub wait_ms_max: Option<f64>,
    /// Batches at a time, and how many more where queries fall behind: threads for passages that have nothing to do.
    pub threads: u32,
    pub helpers: u32,
    /// Of one batch.
    pub batch_queries: u32,
    pub batch_tokens: u32,
}

/// Queues by their names.
static NAMED: Mutex<Option<HashMap<String, Weak<Queue<Asked>>>>> = Mutex::new(None);

/// The queue of a name while any thread has it, or a new one.
fn named(name: String, make: impl FnOnce() -> Arc<Queue<Asked>>) -> Arc<Queue<Asked>> {
    let mut all = NAMED.lock().unwrap_or_else(PoisonError::into_inner);
    let all = all.get_or_insert_default();
    if let Some(queue) = all.get(&name).and_then(Weak::upgrade) {
        return queue;
    }
    let queue = make();
    all.retain(|_, former| former.strong_count() > 0);
    all.insert(name, Arc::downgrade(&queue));
    queue
}

/// Queries of a model, fair among owners. JavaScript threads share one by its name; each has a listener.
#[napi]
pub struct QueryQueue {
    inner: Arc<Queue<Asked>>,
    listener: OnceLock<Listener<Answered>>,
    stops: Arc<Stops>,
    spelt_right: SpeltRight,
}

/// How to stop the searches of one listener, by their calls.
#[derive(Default)]
struct Stops(Mutex<HashMap<u32, Stop>>);

impl Stops {
    fn with<T>(&self, work: impl FnOnce(&mut HashMap<u32, Stop>) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[napi]
impl QueryQueue {
    /// `prefix`: before every text. Words that `vocabulary` has are no slips. `name`: of a queue that other threads have, too; the first
    /// of them says its bounds.
    #[napi(constructor, catch_unwind)]
    pub fn new(
        encoder: &NativeTextEncoder,
        prefix: String,
        bounds: QueryBounds,
        vocabulary: Option<ClassInstance<'_, Vocabulary>>,
        name: Option<String>,
    ) -> Self {
        let bounds = QueueBounds {
            waiting_max: bounds.waiting_max as usize,
            wait_max: bounds.wait_ms_max.map(milliseconds),
            threads: bounds.threads as usize,
            helpers: bounds.helpers as usize,
            batch_queries: bounds.batch_queries as usize,
            batch_tokens: bounds.batch_tokens as usize,
        };
        let make = || Queue::new(encoder.inner.clone(), prefix, bounds);
        let inner = match name {
            None => make(),
            Some(name) => named(name, make),
        };
        let spelt_right = vocabulary.map(|vocabulary| vocabulary.spelt_right.clone()).unwrap_or_default();
        Self { inner, listener: OnceLock::new(), stops: Arc::default(), spelt_right }
    }

    /// Sets the listener, once. It is told of each call under its number: an error's message; the facts of the batch; the vector, where
    /// there is no search, or it has no answer, or a list of it is not proved; and the search's answer. The facts: queries, milliseconds that
    /// the first of them waited, milliseconds of encoding, runs, tokens, failures, whether this is the batch's first news (0 or 1), milliseconds
    /// from this query's coming until it was encoded, and whether its index was empty (0 or 1).
    #[napi(catch_unwind)]
    pub fn listen(
        &self,
        #[napi(
            ts_arg_type = "(call: number, error: string | null, facts: number[], vector: Float32Array | null, answer: SearchedHits | null) => void"
        )]
        listener: Function<Arguments, ()>,
    ) -> napi::Result<()> {
        self.listener.set(Listener::of(listener)?).map_err(|_| internal("somebody listens already"))
    }

    /// A text waits to be encoded, until `pump`. `wait_ms_max`: longest estimated wait of one that may wait for longer than others. Returns 0,
    /// or, of a query that is refused, after how many seconds to try again.
    #[napi(catch_unwind)]
    pub fn encode(&self, env: &Env, call: u32, owner: String, wait_ms_max: f64, text: String) -> napi::Result<u32> {
        self.enter(env, call, &owner, wait_ms_max, Some(text), None)
    }

    /// As `encode`, for a search whose words are the text: they are encoded where the plan has lists of vectors. The rest as in
    /// `NativeSearch`.
    #[napi(catch_unwind)]
    #[allow(clippy::too_many_arguments, reason = "an object of them costs ten times as much to cross the boundary")]
    pub fn search(
        &self,
        env: &Env,
        call: u32,
        owner: String,
        wait_ms_max: f64,
        index: &PlannedIndex,
        words: String,
        asks: bool,
        k: u32,
        depth: u32,
        exact: bool,
        min_confidence: f64,
        explain: bool,
        expires_at: Option<String>,
        filter: Option<String>,
        extent: Option<TextExtent>,
        order: Option<String>,
    ) -> napi::Result<u32> {
        let wanted = wanted(k, depth, exact, min_confidence, explain, expires_at, filter, extent, order)?;
        let text = Some(&words).filter(|_| !index.lists.is_empty()).cloned();
        let mut inputs = SearchInputs::new(index.plan.clone(), wanted);
        inputs.ask_words(words, self.spelt_right.clone(), asks);
        let (shard, lists) = (index.shard.clone(), index.lists.clone());
        let pending = PendingSearch { shard, inputs, lists, stop: Stop::default(), made: Instant::now() };
        self.enter(env, call, &owner, wait_ms_max, text, Some(pending))
    }

    /// Has threads begin with what waits: to be called once all questions of one search wait, so that they are one batch.
    #[napi(catch_unwind)]
    pub fn pump(&self) {
        self.inner.pump();
    }

    /// Gives up a call. Its listener may still be told of it.
    #[napi(catch_unwind)]
    pub fn cancel(&self, env: &Env, call: u32) {
        let stop = self.stops.with(|stops| stops.remove(&call));
        if let Some(stop) = stop {
            stop.stop();
        }
        let is_meant = |asked: &Asked| asked.call == call && Arc::ptr_eq(&asked.stops, &self.stops);
        if self.inner.withdraw(is_meant).is_some()
            && let Some(listener) = self.listener.get()
        {
            listener.end(env);
        }
    }

    /// Returns 0, or, of a query that could not wait now, after how many seconds to try again.
    #[napi(catch_unwind)]
    pub fn refusal(&self, owner: String, wait_ms_max: f64) -> u32 {
        self.inner.admit(&owner, milliseconds(wait_ms_max)).map_or_else(|refusal| refusal.retry_after_s as u32, |()| 0)
    }

    /// Queries that wait.
    #[napi(catch_unwind)]
    pub fn depth(&self) -> u32 {
        self.inner.depth() as u32
    }

    /// Whether a query has no answer yet, or had one within this time.
    #[napi(catch_unwind)]
    pub fn was_asked_within(&self, ms: f64) -> bool {
        self.inner.was_asked_within(milliseconds(ms))
    }
}

impl QueryQueue {
    fn enter(
        &self,
        env: &Env,
        call: u32,
        owner: &str,
        wait_ms_max: f64,
        text: Option<String>,
        search: Option<PendingSearch>,
    ) -> napi::Result<u32> {
        let listener = self.listener.get().ok_or_else(|| internal("no listener is set"))?.clone();
        let stop = search.as_ref().map(|search| search.stop.clone()).unwrap_or_default();
        let stops = self.stops.clone();
        let asked = Asked { call, text, search, made: Instant::now(), early: None, stops, listener: listener.clone() };
        self.stops.with(|stops| stops.insert(call, stop));
        if let Err(refusal) = self.inner.enter(owner, asked, milliseconds(wait_ms_max)) {
            self.stops.with(|stops| stops.remove(&call));
            return Ok(refusal.retry_after_s as u32);
        }
        listener.begin(env);
        Ok(0)
    }
}

/// A query of a listener.
struct Asked {
    call: u32,
    /// None: nothing is encoded.
    text: Option<String>,
    search: Option<PendingSearch>,
    made: Instant,
    /// Why it ends before anything is encoded.
    early: Option<Result<Early>>,
    stops: Arc<Stops>,
    listener: Listener<Answered>,
}

enum Early {
    /// There is nothing to search.
    Empty,
    /// Its index was closed.
    Closed,
}

impl Query for Asked {
    fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    fn ends_early(&mut self) -> bool {
        let Some(search) = &self.search else { return false };
        self.early = match catch_panic(|| search.has_content()) {
            Ok(Some(true)) => None,
            Ok(Some(false)) => Some(Ok(Early::Empty)),
            Ok(None) => Some(Ok(Early::Closed)),
            Err(error) => Some(Err(error)),
        };
        self.early.is_some()
    }

    fn answer(self, outcome: std::result::Result<&[f32], &str>, task: &Task) {
        let Self { call, search, made, early, stops, listener, .. } = self;
        let encoded = made.elapsed();
        let is_empty = matches!(early, Some(Ok(Early::Empty)));
        let told = match (early, outcome) {
            (Some(early), _) => early.map(|_| (None, None)),
            (None, Err(error)) => Err(ShardError::internal(error)),
            (None, Ok(vector)) => match &search {
                None => Ok((Some(vector.to_vec()), None)),
                Some(search) => catch_panic(|| search.answer(vector)).map(|PendingAnswer { answer, .. }| {
                    let is_proved = answer.as_ref().is_some_and(|answer| answer.scans.iter().all(|scan| scan.exact));
                    (Some(vector).filter(|vector| !is_proved && !vector.is_empty()).map(<[f32]>::to_vec), answer)
                }),
            },
        };
        stops.with(|stops| stops.remove(&call));
        let (error, vector, answer) = match told {
            Ok((vector, answer)) => (None, vector, answer.map(searched)),
            Err(error) => (Some(js_error(error).reason.to_string()), None, None),
        };
        let Task { queries, waited, took, runs, tokens, is_first, failures } = *task;
        let facts = [
            queries as f64,
            waited.as_secs_f64() * 1e3,
            took.as_secs_f64() * 1e3,
            f64::from(runs),
            f64::from(tokens),
            f64::from(failures),
            f64::from(u8::from(is_first)),
            encoded.as_secs_f64() * 1e3,
            f64::from(u8::from(is_empty)),
        ];
        listener.tell(Answered { call, error, facts, vector, answer });
    }
}

/// What came of a call.
struct Answered {
    call: u32,
    error: Option<String>,
    facts: [f64; 9],
    vector: Option<Vec<f32>>,
    answer: Option<SearchedHits>,
}

type Arguments = FnArgs<(u32, Option<String>, Vec<f64>, Option<Float32Array>, Option<SearchedHits>)>;

impl News for Answered {
    type Arguments = Arguments;

    fn arguments(self) -> Arguments {
        let Self { call, error, facts, vector, answer } = self;
        FnArgs::from((call, error, facts.to_vec(), vector.map(Float32Array::from), answer))
    }
}

fn milliseconds(ms: f64) -> Duration {
    Duration::try_from_secs_f64(ms.max(0.0) / 1e3).unwrap_or(Duration::MAX)
}
