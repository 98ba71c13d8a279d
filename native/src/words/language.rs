//! The languages whose words are stemmed, and their stop words.

use std::collections::HashSet;
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
    algorithm: Algorithm,
}

/// Snowball's stemmers. Append only: the index of a language is stored.
const LANGUAGES: [Entry; 18] = [
    Entry { code: "eng", short: "en", algorithm: Algorithm::English },
    Entry { code: "ara", short: "ar", algorithm: Algorithm::Arabic },
    Entry { code: "dan", short: "da", algorithm: Algorithm::Danish },
    Entry { code: "nld", short: "nl", algorithm: Algorithm::Dutch },
    Entry { code: "fin", short: "fi", algorithm: Algorithm::Finnish },
    Entry { code: "fra", short: "fr", algorithm: Algorithm::French },
    Entry { code: "deu", short: "de", algorithm: Algorithm::German },
    Entry { code: "ell", short: "el", algorithm: Algorithm::Greek },
    Entry { code: "hun", short: "hu", algorithm: Algorithm::Hungarian },
    Entry { code: "ita", short: "it", algorithm: Algorithm::Italian },
    Entry { code: "nob", short: "no", algorithm: Algorithm::Norwegian },
    Entry { code: "por", short: "pt", algorithm: Algorithm::Portuguese },
    Entry { code: "ron", short: "ro", algorithm: Algorithm::Romanian },
    Entry { code: "rus", short: "ru", algorithm: Algorithm::Russian },
    Entry { code: "spa", short: "es", algorithm: Algorithm::Spanish },
    Entry { code: "swe", short: "sv", algorithm: Algorithm::Swedish },
    Entry { code: "tam", short: "ta", algorithm: Algorithm::Tamil },
    Entry { code: "tur", short: "tr", algorithm: Algorithm::Turkish },
];

impl Language {
    /// Language of a text, if the guess is reliable and there is a stemmer for it.
    pub fn detect(text: &str) -> Option<Self> {
        let (code, reliable) = crate::text::language::detect(text)?;
        reliable.then(|| Self::by_code(code)).flatten()
    }

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

    pub fn stemmer(self) -> Stemmer {
        Stemmer::create(self.entry().algorithm)
    }

    pub fn is_stop_word(self, word: &str) -> bool {
        static STOP_WORDS: OnceLock<Vec<HashSet<&'static str>>> = OnceLock::new();
        let sets = STOP_WORDS.get_or_init(|| LANGUAGES.iter().map(stop_words).collect());
        sets[usize::from(self.0) % LANGUAGES.len()].contains(word)
    }

    /// Letters of the longest article or preposition that an apostrophe joins to the next word.
    pub fn elision_letters(self) -> usize {
        match self.entry().short {
            "fr" => 2,
            "it" => 5,
            _ => 0,
        }
    }

    fn entry(self) -> &'static Entry {
        &LANGUAGES[usize::from(self.0) % LANGUAGES.len()]
    }
}

fn stop_words(entry: &Entry) -> HashSet<&'static str> {
    stop_words::lookup(entry.short).into_iter().flatten().copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_detected_and_their_stop_words_known() {
        let german =
            Language::detect("Die Regierung hat gestern ein neues Gesetz über den Schutz der Umwelt beschlossen.")
                .unwrap();
        assert_eq!(Language::by_code("deu"), Some(german));
        assert!(german.is_stop_word("der") && !german.is_stop_word("umwelt"));
        assert!(DEFAULT.is_stop_word("the") && !DEFAULT.is_stop_word("die"));
        assert_eq!(Language::detect(""), None);
    }

    #[test]
    fn every_language_of_a_set_comes_back() {
        let all = u64::MAX;
        assert_eq!(Language::of_bits(all).count(), LANGUAGES.len());
        assert_eq!(Language::of_bits(DEFAULT.bit()).collect::<Vec<_>>(), [DEFAULT]);
    }
}
