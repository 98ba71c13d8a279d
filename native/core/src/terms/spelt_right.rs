//! Words that are no slips, whatever an index has.

use std::fmt;
use std::sync::Arc;

use super::analysis::bare_word;

/// Letters of a stem by which a word is known, and how many more a word of the vocabulary with that stem may have.
const STEM_LETTERS_MIN: usize = 4;
const ENDING_LETTERS_MAX: usize = 3;

/// Tells, or says why it cannot.
type Tells = dyn Fn(&str, &[String]) -> Result<bool, String> + Send + Sync;

/// Tells of a word in lower case whether it is spelt right: it, or another form of it, by its stems in the languages that it may be of.
/// It is asked of absent words alone. Cheap to clone; by default of no word.
#[derive(Clone, Default)]
pub struct SpeltRight(Option<Arc<Tells>>);

impl SpeltRight {
    pub fn by(tells: impl Fn(&str, &[String]) -> Result<bool, String> + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(tells)))
    }

    pub fn has(&self, word: &str, stems: &[String]) -> Result<bool, String> {
        self.0.as_ref().map_or(Ok(false), |tells| tells(word, stems))
    }

    /// Whether two are clones of one.
    pub fn is(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(own), Some(other)) => Arc::ptr_eq(own, other),
            (own, other) => own.is_none() && other.is_none(),
        }
    }
}

impl fmt::Debug for SpeltRight {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(if self.0.is_some() { "SpeltRight" } else { "SpeltRight(none)" })
    }
}

/// The words of models' vocabularies, in lower case and without accents. A slip of the keys seldom makes another such word.
pub struct KnownWords(Vec<Box<str>>);

impl KnownWords {
    pub fn of(words: impl Iterator<Item = String>) -> Self {
        let mut known: Vec<Box<str>> = words.map(|word| bare_word(&word.to_lowercase()).into()).collect();
        known.sort_unstable();
        known.dedup();
        Self(known)
    }

    /// Whether a word is known, or another with one of its stems.
    pub fn has(&self, word: &str, stems: &[String]) -> bool {
        let word = bare_word(word);
        self.0.binary_search_by(|known| (**known).cmp(&word)).is_ok() || stems.iter().any(|stem| self.has_form(stem))
    }

    fn has_form(&self, stem: &str) -> bool {
        let letters = stem.chars().count();
        let from = self.0.partition_point(|known| **known < *stem);
        let forms = self.0[from..].iter().take_while(|known| known.starts_with(stem));
        letters >= STEM_LETTERS_MIN
            && forms.into_iter().any(|form| form.chars().count() <= letters + ENDING_LETTERS_MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_known_by_itself_or_by_another_with_its_stem() {
        let known = KnownWords::of(["Fliegen", "bezahlt", "été", "bezahlungsmittel"].map(String::from).into_iter());
        let stems = |stem: &str| vec![stem.to_owned()];
        assert!(known.has("fliegen", &[]) && known.has("ete", &[]) && known.has("été", &[]));
        assert!(known.has("bezahle", &stems("bezahl")) && !known.has("bezahle", &[]));
        assert!(!known.has("etes", &stems("ete")), "a short stem is that of other words");
        assert!(!known.has("bezahlungen", &stems("bezahlungs")), "a longer word is another");
    }
}
