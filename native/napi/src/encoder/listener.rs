//! The function that is told of finished calls. One serves all calls of an encoder: making one for each cost more than the
//! hop to a thread and back.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use farthing_core::encoder::encoding::text_encoder::Encoded;
use farthing_core::error::Result;
use napi::bindgen_prelude::{Float32Array, FnArgs, Function};
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};
use napi::{Env, Status, sys};
use napi_derive::napi;

use crate::error::js_error;

#[napi(object)]
pub struct EncodedTexts {
    /// One vector of unit length for each text, one after the other.
    pub vectors: Float32Array,
    pub runs: u32,
    pub tokens: u32,
    /// Milliseconds of the thread that encoded them; 0 where the system does not tell.
    pub thread_ms: f64,
}

/// A call that a thread has finished.
pub struct Finished {
    pub call: u32,
    pub outcome: Result<Encoded>,
}

/// The call's number, and what came of it, or an error's message.
pub type Arguments = FnArgs<(u32, Option<EncodedTexts>, Option<String>)>;

type Tell = ThreadsafeFunction<Finished, (), Arguments, Status, false, true>;

/// Cheap to clone. While calls run, it keeps the event loop of its thread from ending.
#[derive(Clone)]
pub struct Listener {
    tell: Arc<Tell>,
    running: Arc<Running>,
}

/// Calls that run. All but `handle` belongs to the JavaScript thread.
#[derive(Default)]
struct Running {
    count: AtomicU32,
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
            listener.build_threadsafe_function::<Finished>().callee_handled::<false>().weak::<true>().build_callback(
                move |context| {
                    ending.end(&context.env);
                    let Finished { call, outcome } = context.value;
                    Ok(FnArgs::from(match outcome {
                        Ok(encoded) => (call, Some(encoded.into()), None),
                        Err(error) => (call, None, Some(js_error(error).reason.to_string())),
                    }))
                },
            )?;
        let _ = running.handle.set(Handle(tell.raw()));
        Ok(Self { tell: Arc::new(tell), running })
    }

    /// A call begins.
    pub fn begin(&self, env: &Env) {
        self.running.begin(env);
    }

    /// A call ends that nobody is told of.
    pub fn end(&self, env: &Env) {
        self.running.end(env);
    }

    /// From any thread.
    pub fn tell(&self, finished: Finished) {
        self.tell.call(finished, ThreadsafeFunctionCallMode::NonBlocking);
    }
}

impl Running {
    fn begin(&self, env: &Env) {
        if self.count.fetch_add(1, Ordering::Relaxed) == 0
            && let Some(Handle(handle)) = self.handle.get()
        {
            // Safety: called by the thread of `env`, for a function that lives as long as the listener.
            unsafe { sys::napi_ref_threadsafe_function(env.raw(), *handle) };
        }
    }

    fn end(&self, env: &Env) {
        if self.count.fetch_sub(1, Ordering::Relaxed) == 1
            && let Some(Handle(handle)) = self.handle.get()
        {
            // Safety: as above.
            unsafe { sys::napi_unref_threadsafe_function(env.raw(), *handle) };
        }
    }
}

impl From<Encoded> for EncodedTexts {
    fn from(Encoded { vectors, runs, tokens, milliseconds }: Encoded) -> Self {
        Self { vectors: vectors.into(), runs, tokens, thread_ms: milliseconds }
    }
}
