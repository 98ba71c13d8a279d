//! Text to terms: words by UAX #29, NFKC, lower case, stems of the text's own language, without accents.
//!
//! Scripts without spaces between words (Han, Kana, Hangul, Thai, Lao, Khmer, Burmese) become overlapping pairs of
//! characters. Single characters are kept beside them, so that a query of one character finds its text.

use std::borrow::Cow;

use rust_stemmers::Stemmer;
use unicode_normalization::UnicodeNormalization;
use unicode_segmentation::UnicodeSegmentation;

use super::language::Language;
use crate::text::characters::{is_unspaced, start_of};

/// Longest term in bytes. Longer ones are cut, in texts and queries alike.
pub const TERM_BYTES_MAX: usize = 96;

/// A word of a text before stemming.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    pub text: String,
    /// Number of the word in the text. Pairs have the number of their first character.
    pub position: u32,
    pub form: Form,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A word that is stemmed.
    Spaced,
    /// Two characters of a script without spaces.
    Pair,
    /// One character of such a script. It does not count for a text's length: its pairs do.
    Single,
}

/// The words of a text, in order.
pub fn words(text: &str) -> Vec<Word> {
    let text = normalised(text);
    let mut words = vec![];
    let mut position = 0;
    let mut run: Vec<char> = vec![];
    let mut run_end = 0;
    for (at, word) in text.unicode_word_indices() {
        if word.chars().next().is_some_and(is_unspaced) {
            if at != run_end {
                position = end_run(&mut run, position, &mut words);
            }
            run.extend(word.chars());
            run_end = at + word.len();
            continue;
        }
        position = end_run(&mut run, position, &mut words);
        words.push(Word { text: start_of(word, TERM_BYTES_MAX).to_owned(), position, form: Form::Spaced });
        position += 1;
    }
    end_run(&mut run, position, &mut words);
    words
}

/// Adds the singles and pairs of a run of characters. Returns the position after it.
fn end_run(run: &mut Vec<char>, from: u32, words: &mut Vec<Word>) -> u32 {
    let positions = from..;
    for (at, position) in (0..run.len()).zip(positions) {
        words.push(Word { text: run[at].to_string(), position, form: Form::Single });
        if let Some(next) = run.get(at + 1) {
            words.push(Word { text: [run[at], *next].iter().collect(), position, form: Form::Pair });
        }
    }
    let end = from + run.len() as u32;
    run.clear();
    end
}

fn normalised(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Owned(text.to_ascii_lowercase());
    }
    let composed: String = text.nfkc().map(|letter| if letter == '\u{2019}' { '\'' } else { letter }).collect();
    Cow::Owned(composed.to_lowercase().nfc().collect())
}

/// Turns words of one language into terms.
pub struct Terms {
    language: Language,
    stemmer: Option<Stemmer>,
}

impl Terms {
    pub fn of(language: Language) -> Self {
        Self { language, stemmer: language.stemmer() }
    }

    /// The term of a word, which is what the index holds.
    pub fn term(&self, word: &Word) -> String {
        match word.form {
            Form::Pair | Form::Single => word.text.clone(),
            Form::Spaced => {
                let word = self.without_elision(&word.text);
                let stem = self.stemmer.as_ref().map_or(Cow::Borrowed(word), |stemmer| stemmer.stem(word));
                let folded = folded(&stem);
                start_of(&folded, TERM_BYTES_MAX).to_owned()
            }
        }
    }

    pub fn is_stop_word(&self, word: &Word) -> bool {
        let is_listed = |word: &str| self.language.is_stop_word(word);
        word.form == Form::Spaced && (is_listed(&word.text) || is_listed(self.without_elision(&word.text)))
    }

    /// "l'eau" → "eau": the article is not part of the word.
    fn without_elision<'a>(&self, word: &'a str) -> &'a str {
        let letters = self.language.elision_letters();
        match word.split_once('\'') {
            Some((article, rest)) if !rest.is_empty() && article.chars().count() <= letters => rest,
            _ => word,
        }
    }
}

/// Without accents (Latin, Greek, Cyrillic), Hebrew points and Arabic vowel marks.
fn folded(stem: &str) -> Cow<'_, str> {
    if stem.is_ascii() {
        return Cow::Borrowed(stem);
    }
    let mut out = String::with_capacity(stem.len());
    for letter in stem.nfd() {
        match letter as u32 {
            0x0300..=0x036F | 0x0591..=0x05C7 | 0x064B..=0x065F | 0x0670 => {}
            _ => match letter {
                'ß' => out.push_str("ss"),
                'æ' => out.push_str("ae"),
                'œ' => out.push_str("oe"),
                'ø' => out.push('o'),
                'đ' => out.push('d'),
                'ł' => out.push('l'),
                'ı' => out.push('i'),
                _ => out.push(letter),
            },
        }
    }
    Cow::Owned(out.nfc().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(code: &str, text: &str) -> Vec<String> {
        let analyser = Terms::of(Language::by_code(code).unwrap());
        words(text).iter().map(|word| analyser.term(word)).collect()
    }

    #[test]
    fn words_are_stemmed_in_their_language_and_lose_case_and_accents() {
        assert_eq!(terms("eng", "Running CATS, running!"), ["run", "cat", "run"]);
        assert_eq!(terms("deu", "Häuser Straße"), ["haus", "strass"]);
        assert_eq!(terms("fra", "l’école des élèves"), terms("fra", "école des eleves"));
        assert_eq!(terms("eng", "ﬁne Ｆｕｌｌ naïve"), ["fine", "full", "naiv"]);
    }

    #[test]
    fn text_without_spaces_becomes_pairs_and_singles() {
        let of = |text: &str| words(text).into_iter().map(|word| (word.text, word.position)).collect::<Vec<_>>();
        let expected = [("東", 0), ("東京", 0), ("京", 1), ("京都", 1), ("都", 2)];
        assert_eq!(of("東京都"), expected.map(|(text, at)| (text.to_owned(), at)));
        assert_eq!(of("ab 猫 cd"), [("ab", 0), ("猫", 1), ("cd", 2)].map(|(text, at)| (text.to_owned(), at)));
        assert_eq!(of("猫、犬").len(), 2);
    }

    #[test]
    fn very_long_words_are_cut_at_a_character() {
        let long = "é".repeat(500);
        assert!(terms("eng", &long)[0].len() <= TERM_BYTES_MAX);
        assert_eq!(words("").len(), 0);
    }
}
