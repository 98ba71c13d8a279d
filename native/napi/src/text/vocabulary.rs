use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use farthing_core::terms::spelt_right::{KnownWords, SpeltRight};
use farthing_encoder::text::vocabulary::whole_words::whole_words;
use napi_derive::napi;

/// Words of some tokenizers, once they are read.
type Known = Arc<OnceLock<Result<KnownWords, String>>>;

/// All threads of the process have the same words of the same files.
fn known_of(paths: &[PathBuf]) -> Known {
    static ALL: Mutex<Option<HashMap<Vec<PathBuf>, Known>>> = Mutex::new(None);
    let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
    all.get_or_insert_default().entry(paths.to_vec()).or_default().clone()
}

/// The whole words of models' tokenizers together: they are spelt right.
#[napi]
pub struct Vocabulary {
    pub(crate) spelt_right: SpeltRight,
}

#[napi]
impl Vocabulary {
    /// `paths`: files of tokenizers. They are read on another thread; who asks before that waits.
    #[napi(constructor, catch_unwind)]
    pub fn new(paths: Vec<String>) -> Self {
        let paths: Vec<PathBuf> = paths.into_iter().map(PathBuf::from).collect();
        let known = known_of(&paths);
        let read =
            move || known.get_or_init(|| read_all(&paths)).as_ref().map_err(String::clone).map(|_| known.clone());
        let ahead = read.clone();
        std::thread::spawn(move || drop(ahead()));
        let has = move |word: &str, stems: &[String]| {
            let known = read()?;
            Ok(known.get().and_then(|known| known.as_ref().ok()).is_some_and(|known| known.has(word, stems)))
        };
        Self { spelt_right: SpeltRight::by(has) }
    }
}

fn read_all(paths: &[PathBuf]) -> Result<KnownWords, String> {
    let mut words = vec![];
    for path in paths {
        words.extend(whole_words(path)?);
    }
    Ok(KnownWords::of(words.into_iter()))
}
