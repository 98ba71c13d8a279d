//! Words that are no slips, whatever an index has.

use std::fmt;
use std::sync::Arc;

use super::analysis::{Terms, bare_word};
use super::language::Language;
use super::surface_forms::{Form, Word};

/// Letters of a stem by which a word is known, and how many more a word of the vocabulary with that stem may have.
const STEM_LETTERS_MIN: usize = 4;
const ENDING_LETTERS_MAX: usize = 3;

/// Tells, or says why it cannot.
type Tells = dyn Fn(&str, &[Language]) -> Result<bool, String> + Send + Sync;

/// Tells of a word in lower case whether it is spelt right: it, or another form of it in one of some languages.
/// It is asked of absent words alone. Cheap to clone; by default of no word.
#[derive(Clone, Default)]
pub struct SpeltRight(Option<Arc<Tells>>);

impl SpeltRight {
    pub fn by(tells: impl Fn(&str, &[Language]) -> Result<bool, String> + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(tells)))
    }

    pub fn has(&self, word: &str, languages: &[Language]) -> Result<bool, String> {
        self.0.as_ref().map_or(Ok(false), |tells| tells(word, languages))
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

/// The words of models' vocabularies. A slip of the keys seldom makes another such word.
pub struct KnownWords(Vec<KnownWord>);

struct KnownWord {
    /// In lower case and without accents.
    bare: Box<str>,
    /// In lower case, where that is another.
    written: Option<Box<str>>,
}

impl KnownWords {
    pub fn of(words: impl Iterator<Item = String>) -> Self {
        let known = |word: String| {
            let written = word.to_lowercase();
            let bare = bare_word(&written);
            KnownWord { written: (bare != written).then(|| written.into()), bare: bare.into() }
        };
        let mut known: Vec<KnownWord> = words.map(known).collect();
        known.sort_unstable_by(|one, other| (&one.bare, &one.written).cmp(&(&other.bare, &other.written)));
        known.dedup_by(|later, kept| (&later.bare, &later.written) == (&kept.bare, &kept.written));
        Self(known)
    }

    /// Whether a word is known, or another form of it in one of the languages.
    pub fn has(&self, word: &str, languages: &[Language]) -> bool {
        let bare = bare_word(word);
        self.beginning(&bare).next().is_some_and(|known| *known.bare == *bare)
            || languages.iter().any(|language| self.has_form(word, &Terms::of(*language)))
    }

    /// Whether a word with the same stem is known.
    fn has_form(&self, word: &str, terms: &Terms) -> bool {
        let term = |word: &str| terms.term(&spaced(word));
        let stem = term(word);
        let letters = stem.chars().count();
        letters >= STEM_LETTERS_MIN
            && self
                .beginning(&stem)
                .filter(|known| known.bare.chars().count() <= letters + ENDING_LETTERS_MAX)
                .any(|known| term(known.written.as_ref().unwrap_or(&known.bare)) == stem)
    }

    /// Words that begin alike, ascending.
    fn beginning(&self, bare: &str) -> impl Iterator<Item = &KnownWord> {
        let from = self.0.partition_point(|known| *known.bare < *bare);
        self.0[from..].iter().take_while(move |known| known.bare.starts_with(bare))
    }
}

fn spaced(word: &str) -> Word {
    Word { text: word.to_owned(), position: 0, form: Form::Spaced, counts: true, parts: 1, group: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_known_by_itself_or_by_another_with_its_stem() {
        let known = KnownWords::of(["Fliegen", "bezahlt", "été", "Mutluluk", "chanté"].map(String::from).into_iter());
        let of = |code: &str| [Language::by_code(code).unwrap()];
        assert!(known.has("fliegen", &[]) && known.has("ete", &[]) && known.has("été", &[]));
        assert!(known.has("bezahle", &of("deu")) && !known.has("bezahle", &[]));
        assert!(known.has("chantons", &of("fra")));
        assert!(!known.has("mutlis", &of("fra")), "another word begins like it");
        assert!(!known.has("bezhalt", &of("deu")));
    }
}
