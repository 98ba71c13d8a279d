use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};

use farthing_core::error::{ShardError, guarded};
use farthing_core::ranking::options::{Stop, Want};
use farthing_core::ranking::top_k::Ranking;
use farthing_core::shard::hits::hits;
use farthing_core::shard::query::Question;
use farthing_core::shard::snapshot::Snapshot;
use farthing_core::threads::scan_pool;
use farthing_core::write::input::digest_of_hex;
use napi::bindgen_prelude::{Float32Array, Float32ArraySlice, Object, Uint32Array, Uint32ArraySlice};
use napi::{Env, JsDeferred, Result};
use napi_derive::napi;

use super::query::NativeQuestion;
use crate::error::{crossing, internal};

/// Gives up the searches that it was handed to, also while they run.
#[napi]
#[derive(Default)]
pub struct SearchStop {
    inner: Stop,
}

#[napi]
impl SearchStop {
    #[napi(constructor)]
    pub fn new() -> Self {
        Self::default()
    }

    #[napi(catch_unwind)]
    pub fn stop(&self) {
        self.inner.stop();
    }
}

/// A snapshot that a thread of its own may be searching while the caller closes it.
struct Shared {
    snapshot: Mutex<Option<Snapshot>>,
    closed: AtomicBool,
}

impl Shared {
    fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
        self.drop_if_closed();
    }

    /// Whoever has the lock at the time of closing comes here after giving it back.
    fn drop_if_closed(&self) {
        if !self.closed.load(Ordering::SeqCst) {
            return;
        }
        match self.snapshot.try_lock() {
            Ok(mut snapshot) => *snapshot = None,
            Err(TryLockError::Poisoned(poisoned)) => *poisoned.into_inner() = None,
            Err(TryLockError::WouldBlock) => {}
        }
    }

    fn answer(&self, question: &Question, want: &Want) -> Result<Ranking> {
        self.search(&want.stop, |snapshot| snapshot.answer(question, want))
    }

    /// A panic is an error of the search: whoever waits for it must be told.
    fn search<T>(&self, stop: &Stop, work: impl FnOnce(&Snapshot) -> farthing_core::error::Result<T>) -> Result<T> {
        let outcome = {
            let snapshot = self.snapshot.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            let closed = || ShardError::new("interrupted", "The snapshot was closed before it was searched.");
            let open = stop.check().and_then(|()| snapshot.as_ref().ok_or_else(closed));
            open.and_then(|snapshot| guarded(|| work(snapshot))).map_err(crossing)
        };
        self.drop_if_closed();
        outcome
    }
}

/// What a reader sees. Close it soon: an open one keeps old pages from being used again.
#[napi]
pub struct NativeSnapshot {
    shared: Arc<Shared>,
}

impl NativeSnapshot {
    pub fn new(snapshot: Snapshot) -> Self {
        Self { shared: Arc::new(Shared { snapshot: Mutex::new(Some(snapshot)), closed: AtomicBool::new(false) }) }
    }

    /// Runs `read` with the open snapshot, which must not be searched by another thread just now.
    pub(crate) fn read<T>(&self, read: impl FnOnce(&Snapshot) -> farthing_core::error::Result<T>) -> Result<T> {
        let guard: MutexGuard<'_, Option<Snapshot>> = match self.shared.snapshot.try_lock() {
            Ok(guard) => guard,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return Err(internal("The snapshot is being searched.")),
        };
        read(guard.as_ref().ok_or_else(|| internal("The snapshot is closed."))?).map_err(crossing)
    }
}

#[napi]
impl NativeSnapshot {
    /// Fills the caller's arrays, best first; the number of hits. `by_places`: `k` counts places, and `places` gets the first
    /// Segment in the place of each hit. `exact`: the answer is to be proved. `facts`: exact (0 or 1), scanned, rescored, the
    /// bits of the ceiling as f32, and the method.
    #[napi(catch_unwind)]
    #[allow(clippy::too_many_arguments, reason = "an object of them costs ten times as much to cross the boundary")]
    pub fn answer(
        &self,
        question: &NativeQuestion,
        k: u32,
        by_places: bool,
        exact: bool,
        mut segments: Uint32ArraySlice,
        mut scores: Float32ArraySlice,
        mut places: Uint32ArraySlice,
        mut facts: Uint32ArraySlice,
    ) -> Result<u32> {
        let want = Want { k: k as usize, places: by_places, exact, stop: Stop::default() };
        let ranking = self.read(|snapshot| snapshot.answer(&question.inner, &want))?;
        // Safety: the caller's arrays are its own thread's, and nothing else runs there until this returns.
        unsafe { Ok(fill(&ranking, segments.as_mut(), scores.as_mut(), places.as_mut(), facts.as_mut())) }
    }

    /// As `answer`, on a thread of its own: the arrays are filled when the promise resolves. Nothing else may be asked of
    /// the snapshot until then; closing it is allowed.
    #[napi(catch_unwind, ts_return_type = "Promise<number>")]
    #[allow(clippy::too_many_arguments, reason = "an object of them costs ten times as much to cross the boundary")]
    pub fn answer_apart<'env>(
        &self,
        env: &'env Env,
        question: &NativeQuestion,
        k: u32,
        by_places: bool,
        exact: bool,
        stop: &SearchStop,
        mut segments: Uint32Array,
        mut scores: Float32Array,
        mut places: Uint32Array,
        mut facts: Uint32Array,
    ) -> Result<Object<'env>> {
        type Resolve = Box<dyn FnOnce(Env) -> Result<u32> + Send>;
        let (deferred, promise): (JsDeferred<u32, Resolve>, _) = env.create_deferred()?;
        let (shared, question) = (self.shared.clone(), question.inner.clone());
        let want = Want { k: k as usize, places: by_places, exact, stop: stop.inner.clone() };
        let refused = deferred.clone();
        let work = move || {
            let outcome = shared.answer(&question, &want);
            // The arrays are the calling thread's: filled, and let go, there.
            deferred.resolve(Box::new(move |_| {
                let ranking = outcome?;
                // Safety: on the thread of the arrays' owner, which runs nothing else until this returns.
                unsafe { Ok(fill(&ranking, segments.as_mut(), scores.as_mut(), places.as_mut(), facts.as_mut())) }
            }));
        };
        if let Err(error) = scan_pool::run(work) {
            refused.reject(crossing(error));
        }
        Ok(promise)
    }

    /// On a thread of its own: of the proved best k of a question about vectors how many there are, and how many the quick way
    /// finds; nothing where that one proves, too.
    #[napi(catch_unwind, ts_return_type = "Promise<[expected: number, found: number]>")]
    pub fn probe_apart<'env>(
        &self,
        env: &'env Env,
        question: &NativeQuestion,
        k: u32,
        stop: &SearchStop,
    ) -> Result<Object<'env>> {
        type Resolve = Box<dyn FnOnce(Env) -> Result<Vec<u32>> + Send>;
        let (deferred, promise): (JsDeferred<Vec<u32>, Resolve>, _) = env.create_deferred()?;
        let (shared, question) = (self.shared.clone(), question.inner.clone());
        let want = Want { k: k as usize, stop: stop.inner.clone(), ..Want::default() };
        let refused = deferred.clone();
        let work = move || {
            let outcome = shared.search(&want.stop, |snapshot| match &*question {
                Question::Vector { space, vector } => snapshot.probe_vector(space, vector, &want),
                _ => Ok((0, 0)),
            });
            deferred.resolve(Box::new(move |_| {
                let (expected, found) = outcome?;
                Ok(vec![saturated(expected), saturated(found)])
            }));
        };
        if let Err(error) = scan_pool::run(work) {
            refused.reject(crossing(error));
        }
        Ok(promise)
    }

    /// What the hits of a search show, as one JSON text: see `farthing_core::shard::hits`.
    #[napi(catch_unwind)]
    pub fn hits(&self, segments: &[u32], query: Option<String>) -> Result<String> {
        self.read(|snapshot| hits(snapshot, segments, query.as_deref()))
    }

    /// An Item's record as JSON.
    #[napi(catch_unwind)]
    pub fn item(&self, id: String) -> Result<Option<String>> {
        self.read(|snapshot| Ok(snapshot.item(&id)?.map(str::to_owned)))
    }

    /// Record of the first Item, pending or searchable, whose file has this SHA-256 (hexadecimal).
    #[napi(catch_unwind)]
    pub fn item_by_digest(&self, sha256: String) -> Result<Option<String>> {
        match digest_of_hex(&sha256) {
            Some(digest) => self.read(|snapshot| Ok(snapshot.item_by_digest(&digest)?.map(str::to_owned))),
            None => Ok(None),
        }
    }

    /// Records of Items in order of insertion, as one JSON array.
    #[napi(catch_unwind)]
    pub fn items(&self, after: Option<String>, limit: u32) -> Result<String> {
        self.read(|snapshot| snapshot.items(after.as_deref(), limit as usize))
    }

    /// Searchable Items, their Segments, and the bytes of their files.
    #[napi(catch_unwind)]
    pub fn counts(&self) -> Result<Vec<f64>> {
        let totals = self.read(Snapshot::totals)?;
        Ok(vec![totals.items as f64, totals.segments as f64, totals.bytes as f64])
    }

    /// Rows of each block, of all families: what merges have made of the index.
    #[napi(catch_unwind)]
    pub fn blocks(&self) -> Result<Vec<u32>> {
        self.read(|snapshot| Ok(snapshot.blocks()?.into_iter().map(|(_, rows)| rows).collect()))
    }

    /// Waits for nothing: a search on another thread keeps what it needs until it ends.
    #[napi(catch_unwind)]
    pub fn close(&self) {
        self.shared.close();
    }
}

fn fill(ranking: &Ranking, segments: &mut [u32], scores: &mut [f32], places: &mut [u32], facts: &mut [u32]) -> u32 {
    let hits = ranking.hits.len().min(segments.len()).min(scores.len());
    for ((hit, segment), score) in ranking.hits.iter().zip(segments).zip(scores) {
        *segment = hit.segment;
        *score = hit.score;
    }
    for (place, found) in places.iter_mut().zip(&ranking.places) {
        *place = *found;
    }
    let told = [
        u32::from(ranking.exact),
        saturated(ranking.scanned),
        saturated(ranking.rescored),
        ranking.ceiling.to_bits(),
        u32::from(ranking.method as u8),
    ];
    for (fact, value) in facts.iter_mut().zip(told) {
        *fact = value;
    }
    hits as u32
}

fn saturated(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
