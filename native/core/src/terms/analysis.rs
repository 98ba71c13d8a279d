//! Words to terms: stems of the text's own language, without accents. [`super::surface_forms`] finds the words.

use std::borrow::Cow;

use rust_stemmers::Stemmer;
use unicode_normalization::UnicodeNormalization;

use super::language::{DEFAULT, Language};
use super::surface_forms::{Form, TERM_BYTES_MAX, Word};
use crate::text::characters::start_of;
use crate::text::letters::bare;

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
            Form::Spaced | Form::Whole => {
                let word = self.without_elision(&word.text);
                let stem = self.stemmer.as_ref().map_or(Cow::Borrowed(word), |stemmer| stemmer.stem(word));
                start_of(&bare_word(&stem), TERM_BYTES_MAX).to_owned()
            }
        }
    }

    pub fn is_stop_word(&self, word: &Word) -> bool {
        let is_listed = |word: &str| self.language.is_stop_word(word);
        matches!(word.form, Form::Spaced) && (is_listed(&word.text) || is_listed(self.without_elision(&word.text)))
    }

    /// Further terms of a word, for the other ways in which it may be written: a date; and umlauts: "Möbius" is "Moebius"
    /// in any text, and "Moebius" is "Möbius" where umlauts are usual. In another language "poet" is not "pöt".
    pub fn transcribed(&self, word: &Word) -> Vec<String> {
        if word.form == Form::Whole && word.parts == 3 {
            return dates(&word.text);
        }
        if word.form != Form::Spaced {
            return vec![];
        }
        let mut written = vec![];
        if !word.text.is_ascii() {
            written.push(without_umlauts(&word.text));
        }
        if self.language.has_umlauts() {
            written.push(with_umlauts(&word.text));
        }
        written.retain(|text| *text != word.text);
        written.into_iter().map(|text| self.term(&Word { text, ..word.clone() })).collect()
    }

    /// The term of a name's possessive, in texts that name something English: "Blake's". English stems have none.
    pub fn possessive(&self, word: &Word) -> Option<String> {
        (self.language != DEFAULT && is_plain(word)).then(|| self.with(word, "", "'s"))
    }

    /// The terms of a word behind what an apostrophe joins to it, in texts of languages without elisions: "raison d'être",
    /// "O'Brien"; and of a name with an apostrophe without it, or the other way round: "OBrien".
    pub fn elided(&self, word: &Word) -> Vec<String> {
        if self.language.elision_letters() > 0 || word.form != Form::Spaced || word.parts != 1 {
            return vec![];
        }
        let term = |text: String| self.term(&Word { text, ..word.clone() });
        if word.text.contains('\'') {
            return vec![term(word.text.replace('\'', ""))];
        }
        if !is_plain(word) {
            return vec![];
        }
        let name = word.text.split_at_checked(1).filter(|(first, _)| ["d", "l", "o"].contains(first));
        let behind = ["d'", "l'", "o'"].iter().map(|before| format!("{before}{}", word.text));
        behind.chain(name.map(|(first, rest)| format!("{first}'{rest}"))).map(term).collect()
    }

    fn with(&self, word: &Word, before: &str, behind: &str) -> String {
        self.term(&Word { text: format!("{before}{}{behind}", word.text), ..word.clone() })
    }

    /// "l'eau" → "eau": the article is not part of the word. "Blake's" is no article with a word "s".
    fn without_elision<'a>(&self, word: &'a str) -> &'a str {
        let letters = self.language.elision_letters();
        match word.split_once('\'') {
            Some((article, rest)) if !matches!(rest, "" | "s") && article.chars().count() <= letters => rest,
            _ => word,
        }
    }
}

fn is_plain(word: &Word) -> bool {
    word.form == Form::Spaced && word.parts == 1 && word.text.chars().all(char::is_alphabetic)
}

/// The other ways to write a date: "20260312" (a whole without its hyphens), "12.03.2026" and "12.3.2026".
fn dates(whole: &str) -> Vec<String> {
    let numbers: Option<Vec<u32>> = match whole.len() {
        8 if !whole.contains('.') => [&whole.get(..4), &whole.get(4..6), &whole.get(6..)]
            .map(|part| part.and_then(|part| part.parse().ok()))
            .into_iter()
            .collect(),
        _ => whole.rsplit('.').map(|part| part.parse().ok()).collect(),
    };
    let Some([year @ 1000..=9999, month @ 1..=12, day @ 1..=31]) = numbers.as_deref() else { return vec![] };
    let ways =
        [format!("{year}{month:02}{day:02}"), format!("{day:02}.{month:02}.{year}"), format!("{day}.{month}.{year}")];
    ways.into_iter().filter(|way| way != whole).collect()
}

/// "möbius" → "moebius".
fn without_umlauts(word: &str) -> String {
    let mut out = String::with_capacity(word.len() + 2);
    for letter in word.chars() {
        match letter {
            'ä' => out.push_str("ae"),
            'ö' | 'ø' => out.push_str("oe"),
            'ü' => out.push_str("ue"),
            'å' => out.push_str("aa"),
            _ => out.push(letter),
        }
    }
    out
}

/// "moebius" → "möbius". A vowel or q before "ue" is part of another sound: "neue", "Quelle" (as in Snowball's German2).
pub fn with_umlauts(word: &str) -> String {
    let mut out = String::with_capacity(word.len());
    let mut letters = word.chars().peekable();
    let mut before = ' ';
    while let Some(letter) = letters.next() {
        let umlaut = match letter {
            'a' => 'ä',
            'o' => 'ö',
            'u' if !matches!(before, 'a' | 'e' | 'i' | 'o' | 'q') => 'ü',
            _ => ' ',
        };
        before = letter;
        if umlaut != ' ' && letters.next_if_eq(&'e').is_some() {
            out.push(umlaut);
            before = 'e';
        } else {
            out.push(letter);
        }
    }
    out
}

/// A word in lower case without accents and marks.
pub fn bare_word(word: &str) -> String {
    bare(folded(word)).into_owned()
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
    use super::super::surface_forms::words;
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
    fn umlauts_meet_their_transcriptions() {
        let of = |code: &str, text: &str| {
            let analyser = Terms::of(Language::by_code(code).unwrap());
            let word = &words(text)[0];
            [vec![analyser.term(word)], analyser.transcribed(word)].concat()
        };
        assert_eq!(of("eng", "Möbius"), ["mobius", "moebius"]);
        assert_eq!(of("deu", "Moebius"), ["moebius", "mobius"]);
        assert_eq!(of("eng", "poet"), ["poet"]);
        assert_eq!(of("deu", "neue"), ["neu"]);
        assert_eq!(of("deu", "Quelle").len(), 1);
        assert_eq!(terms("deu", "Strasse"), terms("deu", "Straße"));
        assert_eq!(terms("eng", "ﬁsh Ærø"), ["fish", "aero"]);
    }

    #[test]
    fn very_long_words_are_cut_at_a_character() {
        let long = "é".repeat(500);
        assert!(terms("eng", &long)[0].len() <= TERM_BYTES_MAX);
        assert_eq!(words("").len(), 0);
    }
}
