//! The languages that are told apart: their stemmers and stop words.

use std::collections::HashMap;
use std::sync::OnceLock;

use rust_stemmers::{Algorithm, Stemmer};

/// Index into [`LANGUAGES`]. It is stored in blocks, so the order of that table never changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Language(pub u8);

/// The language of texts whose language is uncertain.
pub const DEFAULT: Language = Language(0);

struct Entry {
    /// ISO 639-3, as the detector reports it.
    code: &'static str,
    /// ISO 639-1, as the lists of stop words are keyed.
    short: &'static str,
    /// Snowball's stemmer, if there is one.
    algorithm: Option<Algorithm>,
}

const fn stemmed(code: &'static str, short: &'static str, algorithm: Algorithm) -> Entry {
    Entry { code, short, algorithm: Some(algorithm) }
}

const fn unstemmed(code: &'static str, short: &'static str) -> Entry {
    Entry { code, short, algorithm: None }
}

/// Append only: the index of a language is stored.
const LANGUAGES: [Entry; 33] = [
    stemmed("eng", "en", Algorithm::English),
    stemmed("ara", "ar", Algorithm::Arabic),
    stemmed("dan", "da", Algorithm::Danish),
    stemmed("nld", "nl", Algorithm::Dutch),
    stemmed("fin", "fi", Algorithm::Finnish),
    stemmed("fra", "fr", Algorithm::French),
    stemmed("deu", "de", Algorithm::German),
    stemmed("ell", "el", Algorithm::Greek),
    stemmed("hun", "hu", Algorithm::Hungarian),
    stemmed("ita", "it", Algorithm::Italian),
    stemmed("nob", "no", Algorithm::Norwegian),
    stemmed("por", "pt", Algorithm::Portuguese),
    stemmed("ron", "ro", Algorithm::Romanian),
    stemmed("rus", "ru", Algorithm::Russian),
    stemmed("spa", "es", Algorithm::Spanish),
    stemmed("swe", "sv", Algorithm::Swedish),
    stemmed("tam", "ta", Algorithm::Tamil),
    stemmed("tur", "tr", Algorithm::Turkish),
    unstemmed("pol", "pl"),
    unstemmed("ces", "cs"),
    unstemmed("cat", "ca"),
    unstemmed("hrv", "hr"),
    unstemmed("slk", "sk"),
    unstemmed("slv", "sl"),
    unstemmed("vie", "vi"),
    unstemmed("ind", "id"),
    unstemmed("ukr", "uk"),
    unstemmed("bul", "bg"),
    unstemmed("pes", "fa"),
    unstemmed("urd", "ur"),
    unstemmed("hin", "hi"),
    unstemmed("mar", "mr"),
    unstemmed("heb", "he"),
];

/// Number of languages that are told apart.
pub const COUNT: usize = LANGUAGES.len();

impl Language {
    /// By ISO 639-3 code.
    pub fn by_code(code: &str) -> Option<Self> {
        LANGUAGES.iter().position(|entry| entry.code == code).map(|at| Self(at as u8))
    }

    pub fn bit(self) -> u64 {
        1 << (self.0 % 64)
    }

    /// The languages of a set of [`Language::bit`]s that this version knows.
    pub fn of_bits(bits: u64) -> impl Iterator<Item = Self> {
        (0..LANGUAGES.len() as u8).map(Self).filter(move |language| bits & language.bit() != 0)
    }

    /// None if the language's words are indexed as they are.
    pub fn stemmer(self) -> Option<Stemmer> {
        self.entry().algorithm.map(Stemmer::create)
    }

    pub fn is_stop_word(self, word: &str) -> bool {
        stop_word_of(word) & self.bit() != 0
    }

    /// Letters of the longest article or preposition that an apostrophe joins to the next word.
    pub fn elision_letters(self) -> usize {
        match self.entry().short {
            "fr" | "ca" => 2,
            "it" => 5,
            _ => 0,
        }
    }

    /// Whether ä, ö and ü are written ae, oe and ue where they are missing.
    pub fn has_umlauts(self) -> bool {
        matches!(self.entry().short, "de" | "sv" | "fi" | "da" | "no" | "hu" | "tr")
    }

    /// Whether words are joined to new ones as they are needed: `Wasserversorgung`.
    pub fn has_compounds(self) -> bool {
        matches!(self.entry().short, "de" | "nl" | "sv" | "da" | "no" | "fi" | "hu")
    }

    /// Whether all nouns are written with a capital, so that it tells nothing of names.
    pub fn has_capital_nouns(self) -> bool {
        self.entry().short == "de"
    }

    fn entry(self) -> &'static Entry {
        &LANGUAGES[usize::from(self.0) % LANGUAGES.len()]
    }
}

/// The languages of which a word in lower case is a stop word, as a set of [`Language::bit`]s. The lists are NLTK's,
/// and Stopwords ISO's for languages that NLTK has none for.
pub fn stop_word_of(word: &str) -> u64 {
    static LANGUAGES_OF: OnceLock<HashMap<&'static str, u64>> = OnceLock::new();
    let known = LANGUAGES_OF.get_or_init(|| {
        let mut known = HashMap::new();
        for (language, entry) in (0..).map(Language).zip(&LANGUAGES) {
            for word in stop_words::lookup(entry.short).into_iter().flatten() {
                *known.entry(*word).or_default() |= language.bit();
            }
        }
        known
    });
    known.get(word).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_language_has_stop_words_and_its_own_place() {
        for language in Language::of_bits(u64::MAX) {
            assert!(!stop_words::lookup(language.entry().short).unwrap_or_default().is_empty(), "{language:?}");
            assert_eq!(Language::by_code(language.entry().code), Some(language));
        }
        let german = Language::by_code("deu").unwrap();
        assert!(german.is_stop_word("der") && !german.is_stop_word("umwelt"));
        assert!(DEFAULT.is_stop_word("the") && !DEFAULT.is_stop_word("die"));
    }

    #[test]
    fn every_language_of_a_set_comes_back() {
        let all = u64::MAX;
        assert_eq!(Language::of_bits(all).count(), LANGUAGES.len());
        assert_eq!(Language::of_bits(DEFAULT.bit()).collect::<Vec<_>>(), [DEFAULT]);
    }
}
