use farthing_core::encoder::encoding::threads::{self, Use};
use farthing_core::encoder::forward::scratch::Scratch;
use farthing_core::error::catch_panic;
use napi::bindgen_prelude::{Object, ToNapiValue};
use napi::{Env, JsDeferred, Result};

use crate::error::js_error;

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
    if let Err(error) = threads::run(of, task) {
        refused.reject(js_error(error));
    }
    Ok(promise)
}
