use std::path::PathBuf;
use std::sync::OnceLock;

use farthing_core::error::ShardError;
use farthing_encoder::bert::matched::{DescribedPooling, Description};
use farthing_encoder::bert::pattern::Inputs;
use farthing_encoder::encoding::clock::thread_milliseconds;
use farthing_encoder::encoding::model::ARITHMETIC;
use farthing_encoder::encoding::text_encoder::TextEncoder;
use farthing_encoder::encoding::threads::{self, Use};
use farthing_encoder::forward::scratch::Scratch;
use farthing_encoder::lanes::kernel;
use napi::bindgen_prelude::{Function, Object};
use napi::{Env, Result};
use napi_derive::napi;

use super::call::{Arguments, Call, Outcome};
use super::listener::Listener;
use super::off_thread::{off_thread, overloaded};
use crate::error::{internal, js_error};
use crate::text::tokenize::TokenizerRules;

/// A model's graph, as its manifest describes it.
#[napi(object)]
pub struct EncoderGraph {
    pub ids: String,
    pub mask: Option<String>,
    pub types: Option<String>,
    pub output: String,
    #[napi(ts_type = "'none' | 'mean' | 'cls' | 'last'")]
    pub pooling: String,
}

impl TryFrom<EncoderGraph> for Description {
    type Error = ShardError;

    fn try_from(graph: EncoderGraph) -> std::result::Result<Self, ShardError> {
        let pooling = match graph.pooling.as_str() {
            "none" => DescribedPooling::InGraph,
            "mean" => DescribedPooling::Mean,
            "cls" => DescribedPooling::First,
            "last" => DescribedPooling::Last,
            other => return Err(ShardError::internal(format!("no pooling is called {other}"))),
        };
        let inputs = Inputs { ids: graph.ids, mask: graph.mask, types: graph.types };
        Ok(Self { inputs, output: graph.output, pooling })
    }
}

/// A text model on the encoder's own threads. All that open the same file share its weights.
#[napi]
pub struct NativeTextEncoder {
    pub(super) inner: TextEncoder,
    listener: OnceLock<Listener<Outcome>>,
}

#[napi]
impl NativeTextEncoder {
    /// Opens a model and its `tokenizer.json`, on one of the threads. Rejects with `models_invalid` and why this encoder
    /// does not run the model.
    #[napi(catch_unwind, ts_return_type = "Promise<NativeTextEncoder>")]
    pub fn open<'env>(
        env: &'env Env,
        model: String,
        graph: EncoderGraph,
        tokenizer: String,
        rules: TokenizerRules,
    ) -> Result<Object<'env>> {
        let (model, tokenizer) = (PathBuf::from(model), PathBuf::from(tokenizer));
        let description = Description::try_from(graph).map_err(js_error)?;
        off_thread(
            env,
            Use::Query,
            move |_| {
                let opened = TextEncoder::open(&model, &description, &tokenizer, rules.into());
                opened.map_err(|refusal| ShardError::new("models_invalid", refusal.to_string()))
            },
            |inner| Ok(Self { inner, listener: OnceLock::new() }),
        )
    }

    /// Sets the listener of calls, once: it gets their number, and the vectors or the error's message.
    #[napi(catch_unwind)]
    pub fn listen(
        &self,
        #[napi(ts_arg_type = "(call: number, encoded: EncodedTexts | null, error: string | null) => void")]
        listener: Function<Arguments, ()>,
    ) -> Result<()> {
        self.listener.set(Listener::of(listener)?).map_err(|_| internal("somebody listens already"))
    }

    /// Begins to encode texts, each after the prefix and cut to the limit: on the threads for queries, or on those for
    /// passages, which have a lower priority. The listener is told under the number `call`.
    #[napi(catch_unwind)]
    pub fn encode(
        &self,
        env: &Env,
        call: u32,
        texts: Vec<String>,
        prefix: String,
        #[napi(ts_arg_type = "'query' | 'ingest'")] of: String,
    ) -> Result<()> {
        let listener = self.listener.get().ok_or_else(|| internal("no listener is set"))?.clone();
        let of = if of == "query" { Use::Query } else { Use::Passage };
        let work = Call { call, texts, prefix, listener: listener.clone() };
        listener.begin(env);
        let encoder = self.inner.clone();
        if !threads::run(of, move |scratch: &mut Scratch| work.perform(&encoder, scratch)) {
            listener.end(env);
            return Err(overloaded());
        }
        Ok(())
    }

    /// Elements of a vector.
    #[napi(getter)]
    pub fn dimensions(&self) -> u32 {
        self.inner.dimensions() as u32
    }

    /// Name of the instruction set that runs it.
    #[napi(getter)]
    pub fn kernel(&self) -> &'static str {
        self.inner.kernel()
    }
}

/// Name of this encoder's vectors in the identity of the spaces that they fill.
#[napi(catch_unwind)]
pub fn encoder_arithmetic() -> &'static str {
    ARITHMETIC
}

/// Milliseconds that the calling thread has run. Null where the system does not tell.
#[napi(catch_unwind)]
pub fn thread_ms() -> Option<f64> {
    thread_milliseconds()
}

/// Why the system refuses the processor's AMX tiles, so that another instruction set is used. Null where it does not, and where
/// there are none.
#[napi(catch_unwind)]
pub fn encoder_tiles_refused() -> Option<&'static str> {
    kernel::refused_tiles()
}

/// Name of the instruction set that this process encodes with: the best of the machine, or the one that is forced.
#[napi(catch_unwind)]
pub fn encoder_kernel_name() -> Result<&'static str> {
    kernel::chosen().map(|kernel| kernel.name).map_err(internal)
}
