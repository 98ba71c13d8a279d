use farthing_core::text::language;
use napi_derive::napi;

#[napi(object)]
pub struct DetectedLanguage {
    /// ISO 639-3.
    pub language: String,
    pub reliable: bool,
}

/// Language of a query. Null if it is too short for a guess. Reads at most 200 characters: some microseconds for plain
/// English, about a tenth of a millisecond otherwise.
#[napi(catch_unwind)]
pub fn detect_language(text: String) -> Option<DetectedLanguage> {
    language::detect(&text).map(|(language, reliable)| DetectedLanguage { language: language.to_owned(), reliable })
}
