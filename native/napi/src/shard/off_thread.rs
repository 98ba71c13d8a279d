use farthing_core::threads::scan_pool;
use napi::bindgen_prelude::{Object, ToNapiValue};
use napi::{Env, JsDeferred, Result};

use crate::error::js_error;

/// A promise of what `work` finds on a thread for scans, as `shown` makes it a value of JavaScript.
pub(crate) fn off_thread<'env, Found, Shown>(
    env: &'env Env,
    work: impl FnOnce() -> Result<Found> + Send + 'static,
    shown: impl FnOnce(Found) -> Shown + Send + 'static,
) -> Result<Object<'env>>
where
    Found: Send + 'static,
    Shown: ToNapiValue + 'static,
{
    type Resolve<Shown> = Box<dyn FnOnce(Env) -> Result<Shown> + Send>;
    let (deferred, promise): (JsDeferred<Shown, Resolve<Shown>>, _) = env.create_deferred()?;
    let refused = deferred.clone();
    let work = move || match work() {
        Ok(found) => deferred.resolve(Box::new(move |_| Ok(shown(found)))),
        Err(error) => deferred.reject(error),
    };
    if let Err(error) = scan_pool::run(work) {
        refused.reject(js_error(error));
    }
    Ok(promise)
}
