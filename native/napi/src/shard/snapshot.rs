use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};

use farthing_core::error::{ShardError, catch_panic};
use farthing_core::ranking::options::{SearchOptions, Stop};
use farthing_core::ranking::top_k::Ranking;
use farthing_core::shard::hits::hits;
use farthing_core::shard::query::{Conditional, Query};
use farthing_core::shard::snapshot::Snapshot;
use farthing_core::threads::scan_pool;
use farthing_core::write::input::digest_of_hex;
use napi::bindgen_prelude::{Buffer, Float32Array, Float32ArraySlice, Object, Uint32Array, Uint32ArraySlice};
use napi::{Env, JsDeferred, Result};
use napi_derive::napi;

use super::off_thread::off_thread;
use super::query::NativeQuery;
use crate::error::{internal, js_error};

/// Cancels the searches that it was passed to, also while they run.
#[napi]
#[derive(Default)]
pub struct SearchStop {
    pub(crate) inner: Stop,
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

/// A JSON array of hits.
#[napi(object)]
pub struct HitsJson {
    pub json: Buffer,
    pub count: u32,
}

/// Some Items as a JSON array, and the sequence number after the last of them.
#[napi(object)]
pub struct ItemsPage {
    pub json: String,
    pub next: f64,
}

/// A snapshot that may be closed while another thread is searching it.
pub(crate) struct Shared {
    snapshot: Mutex<Option<Snapshot>>,
    closed: AtomicBool,
}

impl Shared {
    fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
        self.drop_if_closed();
    }

    /// Called after the snapshot was closed, and after each use: one of them finds the lock free.
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

    fn answer(&self, query: &Conditional, options: &SearchOptions) -> Result<Ranking> {
        self.search(&options.stop, |snapshot| snapshot.answer_if(query, options))
    }

    /// Searches the open snapshot. A panic becomes an error, so that the caller gets an answer.
    pub(crate) fn search<T>(
        &self,
        stop: &Stop,
        work: impl FnOnce(&Snapshot) -> farthing_core::error::Result<T>,
    ) -> Result<T> {
        let outcome = {
            let snapshot = self.snapshot.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            let closed = || ShardError::new("interrupted", "The snapshot was closed before it was searched.");
            let open = stop.check().and_then(|()| snapshot.as_ref().ok_or_else(closed));
            open.and_then(|snapshot| catch_panic(|| work(snapshot))).map_err(js_error)
        };
        self.drop_if_closed();
        outcome
    }
}

/// A reader's view. Close it soon: an open snapshot keeps old pages from being reused.
#[napi]
pub struct NativeSnapshot {
    shared: Arc<Shared>,
}

impl NativeSnapshot {
    pub fn new(snapshot: Snapshot) -> Self {
        Self { shared: Arc::new(Shared { snapshot: Mutex::new(Some(snapshot)), closed: AtomicBool::new(false) }) }
    }

    pub(crate) fn shared(&self) -> Arc<Shared> {
        self.shared.clone()
    }

    /// Runs `read` with the open snapshot. Fails if another thread is searching it.
    pub(crate) fn read<T>(&self, read: impl FnOnce(&Snapshot) -> farthing_core::error::Result<T>) -> Result<T> {
        let guard: MutexGuard<'_, Option<Snapshot>> = match self.shared.snapshot.try_lock() {
            Ok(guard) => guard,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return Err(internal("The snapshot is being searched.")),
        };
        read(guard.as_ref().ok_or_else(|| internal("The snapshot is closed."))?).map_err(js_error)
    }
}

#[napi]
impl NativeSnapshot {
    /// Fills the caller's arrays, best first, and returns the number of hits; null where places are asked for and that would hold up
    /// the caller for too long. `by_places`: `k` counts places. `exact`: prove the answer. `facts`: exact (0 or 1), scanned, and the
    /// method.
    #[napi(catch_unwind)]
    #[allow(clippy::too_many_arguments, reason = "an object of them costs ten times as much to cross the boundary")]
    pub fn answer(
        &self,
        query: &NativeQuery,
        k: u32,
        by_places: bool,
        exact: bool,
        mut segments: Uint32ArraySlice,
        mut scores: Float32ArraySlice,
        mut facts: Uint32ArraySlice,
    ) -> Result<Option<u32>> {
        let options = SearchOptions { k: k as usize, places: by_places, exact, ..SearchOptions::default() };
        let ranking = self.read(|snapshot| {
            let is_long = by_places && query.inner.is_long(snapshot.totals()?.segments);
            if is_long { Ok(None) } else { snapshot.answer_if(&query.inner, &options).map(Some) }
        })?;
        let Some(ranking) = ranking else { return Ok(None) };
        // Safety: the arrays belong to the calling thread, which runs nothing else until this returns.
        unsafe { Ok(Some(fill(&ranking, segments.as_mut(), scores.as_mut(), facts.as_mut()))) }
    }

    /// As `answer`, on another thread: the arrays are filled when the promise resolves. Until then the snapshot may be
    /// closed, but not used.
    #[napi(catch_unwind, ts_return_type = "Promise<number>")]
    #[allow(clippy::too_many_arguments, reason = "an object of them costs ten times as much to cross the boundary")]
    pub fn answer_off_thread<'env>(
        &self,
        env: &'env Env,
        query: &NativeQuery,
        k: u32,
        by_places: bool,
        exact: bool,
        stop: &SearchStop,
        mut segments: Uint32Array,
        mut scores: Float32Array,
        mut facts: Uint32Array,
    ) -> Result<Object<'env>> {
        type Resolve = Box<dyn FnOnce(Env) -> Result<u32> + Send>;
        let (deferred, promise): (JsDeferred<u32, Resolve>, _) = env.create_deferred()?;
        let (shared, query) = (self.shared.clone(), query.inner.clone());
        let options = SearchOptions {
            k: k as usize,
            places: by_places,
            exact,
            stop: stop.inner.clone(),
            ..SearchOptions::default()
        };
        let refused = deferred.clone();
        let work = move || {
            let outcome = shared.answer(&query, &options);
            // The arrays belong to the calling thread: they are filled and released there.
            deferred.resolve(Box::new(move |_| {
                let ranking = outcome?;
                // Safety: this is the thread of the arrays, which runs nothing else until this returns.
                unsafe { Ok(fill(&ranking, segments.as_mut(), scores.as_mut(), facts.as_mut())) }
            }));
        };
        if let Err(error) = scan_pool::run(work) {
            refused.reject(js_error(error));
        }
        Ok(promise)
    }

    /// Measures the recall of the unproved search for a query by vector, on another thread: hits of the proved best k,
    /// and how many of them it finds. [0, 0] if it is a proof, too.
    #[napi(catch_unwind, ts_return_type = "Promise<[expected: number, found: number]>")]
    pub fn probe_off_thread<'env>(
        &self,
        env: &'env Env,
        query: &NativeQuery,
        k: u32,
        stop: &SearchStop,
    ) -> Result<Object<'env>> {
        let (shared, query) = (self.shared.clone(), query.inner.clone());
        let options = SearchOptions { k: k as usize, stop: stop.inner.clone(), ..SearchOptions::default() };
        let work = move || {
            shared.search(&options.stop, |snapshot| match &query.query {
                Query::Vector { space, vector } => snapshot.probe_vector(space, vector, &options),
                _ => Ok((0, 0)),
            })
        };
        off_thread(env, work, |(expected, found)| vec![saturated(expected), saturated(found)])
    }

    /// Texts of hits for some segments: see `farthing_core::shard::hits`. `expires_at`: when the Items end.
    #[napi(catch_unwind)]
    pub fn hits(&self, segments: &[u32], query: Option<String>, expires_at: Option<String>) -> Result<HitsJson> {
        let written = self.read(|snapshot| hits(snapshot, segments, query.as_deref(), expires_at.as_deref(), None))?;
        Ok(HitsJson { json: written.json.into(), count: written.count })
    }

    /// An Item's record as JSON.
    #[napi(catch_unwind)]
    pub fn item(&self, id: String) -> Result<Option<String>> {
        self.read(|snapshot| Ok(snapshot.item(&id)?.map(str::to_owned)))
    }

    /// Number of an Item's first Segment, and how many it has. Null if there is no such Item.
    #[napi(catch_unwind, ts_return_type = "[first: number, count: number] | null")]
    pub fn segments_of_item(&self, id: String) -> Result<Option<Vec<u32>>> {
        let found = self.read(|snapshot| snapshot.segments_of_item(&id))?;
        Ok(found.map(|(first, count)| vec![first, count]))
    }

    /// Records of the Items, pending or searchable, whose file has this SHA-256 (hexadecimal), as one JSON array.
    #[napi(catch_unwind)]
    pub fn items_by_digest(&self, sha256: String) -> Result<String> {
        match digest_of_hex(&sha256) {
            Some(digest) => self.read(|snapshot| snapshot.items_by_digest(&digest)),
            None => Ok("[]".into()),
        }
    }

    /// Records of the Items, in any state, that were given a key, in order of insertion, as one JSON array.
    #[napi(catch_unwind)]
    pub fn items_by_key(&self, key: String) -> Result<String> {
        self.read(|snapshot| snapshot.items_by_key(&key))
    }

    /// Records of Items in order of insertion, as one JSON array.
    #[napi(catch_unwind)]
    pub fn items(&self, after: Option<String>, limit: u32) -> Result<String> {
        self.read(|snapshot| snapshot.items(after.as_deref(), limit as usize))
    }

    /// Records of Items in order of insertion, from a sequence number on, and the number after the last.
    #[napi(catch_unwind)]
    pub fn items_from(&self, from: f64, limit: u32) -> Result<ItemsPage> {
        let (json, next) = self.read(|snapshot| snapshot.items_from(from as u64, limit as usize))?;
        Ok(ItemsPage { json, next: next as f64 })
    }

    /// Searchable Items, their Segments, and the bytes of their files.
    #[napi(catch_unwind)]
    pub fn counts(&self) -> Result<Vec<f64>> {
        let totals = self.read(Snapshot::totals)?;
        Ok(vec![totals.items as f64, totals.segments as f64, totals.bytes as f64])
    }

    /// Number of rows of each block, of all families.
    #[napi(catch_unwind)]
    pub fn blocks(&self) -> Result<Vec<u32>> {
        self.read(|snapshot| Ok(snapshot.blocks()?.into_iter().map(|(_, rows)| rows).collect()))
    }

    /// Returns at once. A search on another thread keeps the snapshot until it ends.
    #[napi(catch_unwind)]
    pub fn close(&self) {
        self.shared.close();
    }
}

fn fill(ranking: &Ranking, segments: &mut [u32], scores: &mut [f32], facts: &mut [u32]) -> u32 {
    let hits = ranking.hits.len().min(segments.len()).min(scores.len());
    for ((hit, segment), score) in ranking.hits.iter().zip(segments).zip(scores) {
        *segment = hit.segment;
        *score = hit.score;
    }
    let values = [u32::from(ranking.exact), saturated(ranking.scanned), u32::from(ranking.method as u8)];
    for (fact, value) in facts.iter_mut().zip(values) {
        *fact = value;
    }
    hits as u32
}

fn saturated(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
