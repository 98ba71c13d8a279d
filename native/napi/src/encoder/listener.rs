//! The function that is told of what ended. One serves all calls of an encoder or a queue: making one for each cost more than the hop
//! to a thread and back.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use napi::bindgen_prelude::{Function, JsValuesTupleIntoVec};
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};
use napi::{Env, Status, sys};

/// News of a call, and what JavaScript is told of it.
pub trait News: Send + 'static {
    type Arguments: JsValuesTupleIntoVec + 'static;

    fn arguments(self) -> Self::Arguments;
}

type Tell<N> = ThreadsafeFunction<N, (), <N as News>::Arguments, Status, false, true>;

/// Cheap to clone. While calls run, it keeps the event loop of its thread from ending.
pub struct Listener<N: News> {
    tell: Arc<Tell<N>>,
    running: Arc<Running>,
}

impl<N: News> Clone for Listener<N> {
    fn clone(&self) -> Self {
        Self { tell: self.tell.clone(), running: self.running.clone() }
    }
}

/// Calls that run. All but `handle` belongs to the JavaScript thread.
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

impl<N: News> Listener<N> {
    /// `listener` must not hold its encoder: neither would ever be collected
    pub fn of(listener: Function<N::Arguments, ()>) -> napi::Result<Self> {
        let running = Arc::new(Running::default());
        let ending = running.clone();
        let tell: Tell<N> =
            listener.build_threadsafe_function::<N>().callee_handled::<false>().weak::<true>().build_callback(
                move |context| {
                    ending.end(&context.env);
                    Ok(context.value.arguments())
                },
            )?;
        let _ = running.handle.set(Handle(tell.raw()));
        Ok(Self { tell: Arc::new(tell), running })
    }

    /// A call begins, of whose end it will be told.
    pub fn begin(&self, env: &Env) {
        self.running.begin(env);
    }

    /// A call ends of which it is not told.
    pub fn end(&self, env: &Env) {
        self.running.end(env);
    }

    /// From any thread.
    pub fn tell(&self, news: N) {
        self.tell.call(news, ThreadsafeFunctionCallMode::NonBlocking);
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
