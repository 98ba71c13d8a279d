//! The function that is told of finished calls, and of the searches that followed. One serves all calls of an encoder: making one
//! for each cost more than the hop to a thread and back.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use farthing_core::error::Result;
use farthing_core::search::task::pending::PendingAnswer;
use farthing_encoder::encoding::text_encoder::Encoded;
use napi::bindgen_prelude::{Float32Array, FnArgs, Function};
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};
use napi::{Env, Status, sys};
use napi_derive::napi;

use crate::error::js_error;
use crate::search::pending::SearchedText;

#[napi(object)]
pub struct EncodedTexts {
    /// One vector of unit length for each text, one after the other.
    pub vectors: Float32Array,
    pub runs: u32,
    pub tokens: u32,
    /// Milliseconds of the thread that encoded them; 0 where the system does not tell.
    pub thread_ms: f64,
    /// Milliseconds since they were encoded.
    pub since_ms: f64,
}

/// News of a call: its texts are encoded, or a search of one of them has ended, or both.
pub struct News {
    pub call: u32,
    /// Outcome of the texts, and its time.
    pub encoded: Option<(Result<Encoded>, Instant)>,
    /// The text's number, and its search's outcome.
    pub searched: Option<(u32, Result<PendingAnswer>)>,
    /// How much of what was begun, texts as one and searches, ends with it.
    pub ended: usize,
}

/// Outcome of a text's search.
#[napi(object)]
pub struct TextSearched {
    /// The number of the text in its call.
    pub text: u32,
    pub searched: Option<SearchedText>,
    pub error: Option<String>,
}

/// The call's number, the outcome of its texts or an error's message, and that of a search.
pub type Arguments = FnArgs<(u32, Option<EncodedTexts>, Option<String>, Option<TextSearched>)>;

type Tell = ThreadsafeFunction<News, (), Arguments, Status, false, true>;

/// Cheap to clone. While calls run, it keeps the event loop of its thread from ending.
#[derive(Clone)]
pub struct Listener {
    tell: Arc<Tell>,
    running: Arc<Running>,
}

/// Calls and searches that run. All but `handle` belongs to the JavaScript thread.
#[derive(Default)]
struct Running {
    count: AtomicUsize,
    handle: OnceLock<Handle>,
}

struct Handle(sys::napi_threadsafe_function);

// Safety: Node-API allows a threadsafe function's handle to be passed between threads; it is used by the JavaScript thread.
unsafe impl Send for Handle {}
// Safety: as above.
unsafe impl Sync for Handle {}

impl Listener {
    /// `listener` must not hold its encoder: neither would ever be collected
    pub fn of(listener: Function<Arguments, ()>) -> napi::Result<Self> {
        let running = Arc::new(Running::default());
        let ending = running.clone();
        let tell: Tell =
            listener.build_threadsafe_function::<News>().callee_handled::<false>().weak::<true>().build_callback(
                move |context| {
                    let News { call, encoded, searched, ended } = context.value;
                    ending.end(&context.env, ended);
                    let encoded = encoded.map(|(outcome, at)| outcome.map(|encoded| shown(encoded, at)));
                    let (encoded, error) = parted(encoded);
                    let searched = searched.map(|(text, outcome)| {
                        let (searched, error) = parted(Some(outcome.map(SearchedText::from)));
                        TextSearched { text, searched, error }
                    });
                    Ok(FnArgs::from((call, encoded, error, searched)))
                },
            )?;
        let _ = running.handle.set(Handle(tell.raw()));
        Ok(Self { tell: Arc::new(tell), running })
    }

    /// Some of what it will be told of begins.
    pub fn begin(&self, env: &Env, count: usize) {
        self.running.begin(env, count);
    }

    /// As much ends that it is not told of.
    pub fn end(&self, env: &Env, count: usize) {
        self.running.end(env, count);
    }

    /// From any thread.
    pub fn tell(&self, news: News) {
        self.tell.call(news, ThreadsafeFunctionCallMode::NonBlocking);
    }
}

impl Running {
    fn begin(&self, env: &Env, count: usize) {
        if self.count.fetch_add(count, Ordering::Relaxed) == 0
            && let Some(Handle(handle)) = self.handle.get()
        {
            // Safety: called by the thread of `env`, for a function that lives as long as the listener.
            unsafe { sys::napi_ref_threadsafe_function(env.raw(), *handle) };
        }
    }

    fn end(&self, env: &Env, count: usize) {
        if self.count.fetch_sub(count, Ordering::Relaxed) == count
            && let Some(Handle(handle)) = self.handle.get()
        {
            // Safety: as above.
            unsafe { sys::napi_unref_threadsafe_function(env.raw(), *handle) };
        }
    }
}

/// The hits, or the message of the error.
fn parted<T>(outcome: Option<Result<T>>) -> (Option<T>, Option<String>) {
    match outcome {
        None => (None, None),
        Some(Ok(found)) => (Some(found), None),
        Some(Err(error)) => (None, Some(js_error(error).reason.to_string())),
    }
}

fn shown(Encoded { vectors, runs, tokens, milliseconds }: Encoded, at: Instant) -> EncodedTexts {
    let since_ms = at.elapsed().as_secs_f64() * 1e3;
    EncodedTexts { vectors: vectors.into(), runs, tokens, thread_ms: milliseconds, since_ms }
}
