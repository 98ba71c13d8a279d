//! Which language a text is in, by the stop words in it: cheap, sure for running text, and, unlike statistics of
//! letters, not misled by foreign names. Where a text has too few, what else is in the index decides.

use unicode_segmentation::UnicodeSegmentation;

use super::language::{COUNT, DEFAULT, Language, stop_word_of};

/// Words that are read.
const WORDS_MAX: usize = 1000;
/// How much likelier a language gets by one of its stop words, as a natural logarithm: a stop word makes up about .2 %
/// of a text in its language, and .02 % of one in another.
const LOG_RATIO: f64 = 2.3;
/// A passage is in another language than its Item if it has this many more of its stop words, …
const DEVIATION_MIN: u32 = 4;
/// … and this many times as many.
const DEVIATION_RATIO: u32 = 3;

/// How many Segments are in each language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prior([u32; COUNT]);

impl Default for Prior {
    fn default() -> Self {
        Self([0; COUNT])
    }
}

impl Prior {
    pub fn add(&mut self, language: Language, segments: u32) {
        if let Some(count) = self.0.get_mut(usize::from(language.0)) {
            *count = count.saturating_add(segments);
        }
    }
}

/// The stop words of each language in some texts.
#[derive(Debug)]
pub struct Evidence {
    found: [u32; COUNT],
    words: usize,
}

impl Default for Evidence {
    fn default() -> Self {
        Self { found: [0; COUNT], words: 0 }
    }
}

impl Evidence {
    pub fn of(text: &str) -> Self {
        let mut evidence = Self::default();
        evidence.add(text);
        evidence
    }

    /// Adds a text. False once enough has been read.
    pub fn add(&mut self, text: &str) -> bool {
        for word in text.unicode_words().take(WORDS_MAX - self.words.min(WORDS_MAX)) {
            self.words += 1;
            let word = word.to_lowercase();
            let before_apostrophe = word.find(['\'', '’']).map(|at| stop_word_of(&word[..at]));
            // Single letters are formulas and initials as often as words.
            let languages = if word.len() == 1 { 0 } else { stop_word_of(&word) | before_apostrophe.unwrap_or(0) };
            for language in Language::of_bits(languages) {
                self.found[usize::from(language.0)] += 1;
            }
        }
        self.words < WORDS_MAX
    }

    /// The likeliest language, given what else is in the index (naive Bayes).
    pub fn language(&self, prior: &Prior) -> Language {
        let total = prior.0.iter().map(|count| f64::from(*count)).sum::<f64>() + COUNT as f64;
        let likelihood =
            |at: &usize| f64::from(self.found[*at]) * LOG_RATIO + ((f64::from(prior.0[*at]) + 1.0) / total).ln();
        // The first of equals: `max_by` would take the last.
        let best = (0..COUNT).rev().max_by(|left, right| likelihood(left).total_cmp(&likelihood(right)));
        best.map_or(DEFAULT, |at| Language(at as u8))
    }

    /// The language of a passage of an Item in `item`: another one only on strong evidence.
    pub fn language_within(&self, item: Language) -> Language {
        let of = |language: Language| self.found.get(usize::from(language.0)).copied().unwrap_or(0);
        let other = self.language(&Prior::default());
        let strong = of(other) >= of(item) + DEVIATION_MIN && of(other) >= of(item) * DEVIATION_RATIO;
        if strong { other } else { item }
    }

    /// Whether the text has any stop word.
    pub fn has_any(&self) -> bool {
        self.found.iter().any(|found| *found > 0)
    }
}

/// The language of an Item's texts together.
pub fn language_of<'a>(mut texts: impl Iterator<Item = &'a str>, prior: &Prior) -> Language {
    let mut evidence = Evidence::default();
    while let Some(text) = texts.next()
        && evidence.add(text)
    {}
    evidence.language(prior)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(code: &str) -> Language {
        Language::by_code(code).unwrap()
    }

    #[test]
    fn running_text_is_judged_by_its_stop_words_also_among_foreign_names() {
        for (language, text) in [
            ("eng", "The government presented a new law for the protection of the environment yesterday."),
            ("deu", "Die Regierung hat gestern ein neues Gesetz über den Schutz der Umwelt beschlossen."),
            ("spa", "El gobierno presentó ayer una nueva ley para la protección del medio ambiente."),
            ("ita", "Nel 1897 Arthur Schuster e Frederick Abel lavorarono con Kelvin alla Royal Society di Londra."),
            ("pol", "Rząd przedstawił wczoraj nową ustawę, która ma być ochroną dla przyrody, ale nie tylko."),
            ("rus", "Вчера правительство приняло новый закон об охране природы, который вступит в силу."),
        ] {
            assert_eq!(Evidence::of(text).language(&Prior::default()), code(language), "{text}");
        }
    }

    #[test]
    fn a_text_without_stop_words_is_in_the_language_of_the_index() {
        let title = "Algebra lineare numerica";
        assert_eq!(Evidence::of(title).language(&Prior::default()), DEFAULT);
        let mut prior = Prior::default();
        prior.add(code("ita"), 10);
        assert_eq!(Evidence::of(title).language(&prior), code("ita"));
        let english = "The rest of this is not in the language that was expected";
        assert_eq!(Evidence::of(english).language(&prior), code("eng"), "evidence outweighs the index");
    }

    #[test]
    fn a_passage_deviates_from_its_item_only_on_strong_evidence() {
        let names = Evidence::of("La Salle, Los Angeles, San Juan de la Cruz: a list of names");
        assert_eq!(names.language_within(code("eng")), code("eng"));
        let spanish = Evidence::of("El gobierno presentó ayer una nueva ley para la protección del medio ambiente.");
        assert_eq!(spanish.language_within(code("eng")), code("spa"));
        assert_eq!(Evidence::of("").language_within(code("fra")), code("fra"));
    }

    #[test]
    fn an_item_is_judged_by_its_texts_together() {
        let texts = ["Zürich", "Inhalt", "Das ist der Text, in dem die meisten Wörter stehen."];
        assert_eq!(language_of(texts.into_iter(), &Prior::default()), code("deu"));
    }
}
