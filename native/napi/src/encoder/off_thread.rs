use farthing_core::error::{ShardError, catch_panic};
use farthing_encoder::encoding::threads::{self, Use};
use farthing_encoder::forward::scratch::Scratch;
use napi::bindgen_prelude::{Object, ToNapiValue};
use napi::{Env, Error, JsDeferred, Result};

use crate::error::js_error;

/// Too much work waits.
pub fn overloaded() -> Error {
    js_error(ShardError::new("overloaded", "Too many texts are waiting to be encoded."))
}

/// Runs work on one of the encoder's threads, and turns what it gives into JavaScript's on the caller's. A panic becomes an
/// error, so that the promise is always settled.
pub fn off_thread<'env, T: Send + 'static, J: ToNapiValue + 'static>(
    env: &'env Env,
    of: Use,
    work: impl FnOnce(&mut Scratch) -> farthing_core::error::Result<T> + Send + 'static,
    convert: fn(T) -> Result<J>,
) -> Result<Object<'env>> {
    type Resolve<J> = Box<dyn FnOnce(Env) -> Result<J> + Send>;
    let (deferred, promise): (JsDeferred<J, Resolve<J>>, _) = env.create_deferred()?;
    let refused = deferred.clone();
    let task = move |scratch: &mut Scratch| match catch_panic(|| work(scratch)) {
        Ok(found) => deferred.resolve(Box::new(move |_| convert(found))),
        Err(error) => deferred.reject(js_error(error)),
    };
    if !threads::run(of, task) {
        refused.reject(overloaded());
    }
    Ok(promise)
}
