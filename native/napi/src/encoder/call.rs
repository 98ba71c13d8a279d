//! Texts that are encoded together, and the searches that go on with their vectors.

use std::sync::Arc;
use std::time::Instant;

use farthing_core::error::{Result, ShardError, catch_panic};
use farthing_core::search::task::pending::{PendingAnswer, PendingSearch};
use farthing_encoder::encoding::text_encoder::{Encoded, TextEncoder};
use farthing_encoder::forward::scratch::Scratch;

use super::listener::{Listener, News};

pub struct Call {
    pub call: u32,
    pub texts: Vec<String>,
    pub prefix: String,
    /// By the number of their text.
    pub searches: Vec<(u32, Arc<PendingSearch>)>,
    pub listener: Listener,
}

impl Call {
    /// How much the listener is told of: the texts as one, and each search.
    pub fn count(&self) -> usize {
        1 + self.searches.len()
    }

    pub fn perform(self, encoder: &TextEncoder, scratch: &mut Scratch) {
        let count = self.count();
        let Self { call, texts, prefix, searches, listener } = self;
        let outcome = catch_panic(|| encoder.encode(&texts, &prefix, scratch).map_err(ShardError::internal));
        let at = Instant::now();
        match outcome {
            Ok(encoded) => {
                let width = encoder.dimensions();
                let vector = |text: u32| encoded.vectors[text as usize * width..][..width].to_vec();
                let searches = searches.into_iter().map(|(text, search)| (text, search, vector(text))).collect();
                answer(&Telling { call, listener }, searches, (encoded, at));
            }
            Err(error) => {
                listener.tell(News { call, encoded: Some((Err(error), at)), searched: None, ended: count });
            }
        }
    }
}

/// The listener, and the call.
struct Telling {
    call: u32,
    listener: Listener,
}

impl Telling {
    fn tell(&self, encoded: Option<(Encoded, Instant)>, searched: Option<(u32, Result<PendingAnswer>)>) {
        let ended = usize::from(encoded.is_some()) + usize::from(searched.is_some());
        let encoded = encoded.map(|(encoded, at)| (Ok(encoded), at));
        self.listener.tell(News { call: self.call, encoded, searched, ended });
    }
}

/// Answers the searches one after the other. The vectors and the first answer wake the event loop once.
fn answer(telling: &Telling, searches: Vec<(u32, Arc<PendingSearch>, Vec<f32>)>, encoded: (Encoded, Instant)) {
    let mut encoded = Some(encoded);
    for (text, search, vector) in searches {
        let outcome = catch_panic(|| search.answer(&vector));
        telling.tell(encoded.take(), Some((text, outcome)));
    }
    if encoded.is_some() {
        telling.tell(encoded, None);
    }
}
