//! Language detection, cheap enough for the thread that serves requests.

use std::sync::OnceLock;

use whatlang::{Detector, Lang, Script};

/// Characters of a text that are read: more do not make the guess better.
const CHARACTERS_MAX: usize = 200;
/// Fewer letters of the Latin script never give a reliable guess.
const LATIN_LETTERS_MIN: usize = 12;

/// Words that hardly any other language has; below, words that English shares with some.
const ENGLISH_ALONE: &[&str] = &[
    "the", "and", "with", "which", "that", "this", "from", "are", "were", "have", "has", "been", "what", "how", "does",
    "who", "when", "where", "than", "their", "these", "between", "through",
];
const ENGLISH_TOO: &[&str] =
    &["of", "in", "is", "by", "for", "to", "a", "an", "on", "as", "at", "be", "or", "not", "can", "was"];

/// ISO 639-3 code of a text's language, and whether the guess is reliable. None if the text is too short for a guess.
pub fn detect(text: &str) -> Option<(&'static str, bool)> {
    let end = text.char_indices().nth(CHARACTERS_MAX).map_or(text.len(), |(at, _)| at);
    let text = &text[..end];
    if plainly_english(text) {
        return Some((Lang::Eng.code(), true));
    }
    let latin = whatlang::detect_script(text) == Some(Script::Latin);
    if latin
        && text.chars().filter(|character| character.is_alphabetic()).take(LATIN_LETTERS_MIN).count()
            < LATIN_LETTERS_MIN
    {
        return None;
    }
    detector().detect(text).map(|info| (info.lang().code(), info.is_reliable()))
}

/// Whether a text is in a script that none of some languages (ISO 639-3) is written in. However short it is.
pub fn is_in_other_script(text: &str, languages: &[String]) -> bool {
    let is_written =
        |script: Script| script.langs().iter().any(|lang| languages.iter().any(|code| code == lang.code()));
    whatlang::detect_script(text).is_some_and(|script| !is_written(script))
}

/// Whether an ASCII text has two of English's commonest words, one of them hardly used in other languages.
fn plainly_english(text: &str) -> bool {
    if !text.is_ascii() {
        return false;
    }
    let (mut exclusive, mut all) = (0, 0);
    for word in text
        .split(|character: char| !character.is_ascii_alphabetic())
        .filter(|word| !word.is_empty() && word.len() <= 7)
    {
        let alone = ENGLISH_ALONE.iter().any(|known| word.eq_ignore_ascii_case(known));
        exclusive += usize::from(alone);
        all += usize::from(alone || ENGLISH_TOO.iter().any(|known| word.eq_ignore_ascii_case(known)));
        if exclusive >= 1 && all >= 2 {
            return true;
        }
    }
    false
}

/// The languages with the most readers. Each further one costs time, and makes guesses for short texts less reliable.
fn detector() -> &'static Detector {
    use Lang::*;
    static DETECTOR: OnceLock<Detector> = OnceLock::new();
    DETECTOR.get_or_init(|| {
        Detector::with_allowlist(vec![
            Eng, Deu, Fra, Spa, Ita, Por, Nld, Swe, Dan, Nob, Fin, Hun, Ron, Tur, Pol, Ces, Cat, Hrv, Slk, Vie,
            Ind, // Latin
            Rus, Ukr, Bul, Srp, // Cyrillic
            Ara, Pes, Urd, Hin, Mar, Heb, Yid, // several languages in one script
            Ell, Tam, Tel, Kan, Mal, Guj, Pan, Ben, Tha, Kat, Hye, Kor, Jpn, Cmn, Amh, Mya, Khm,
            Sin, // languages with their own script
        ])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_english_is_detected_by_its_words() {
        assert_eq!(detect("How does the weather change in winter?"), Some(("eng", true)));
        assert_eq!(detect("Aspirin inhibits the production of PGE2."), Some(("eng", true)));
    }

    #[test]
    fn one_english_word_does_not_make_a_text_english() {
        let german = "Wer hat den Roman The Hobbit geschrieben und wann wurde er ins Deutsche übersetzt?";
        assert_eq!(detect(german), Some(("deu", true)));
    }

    #[test]
    fn other_languages_are_detected() {
        for (language, text) in [
            ("deu", "Die Regierung hat gestern ein neues Gesetz zum Schutz der Umwelt beschlossen."),
            ("fra", "Le gouvernement a présenté hier une nouvelle loi sur la protection de la nature."),
            ("spa", "El gobierno presentó ayer una nueva ley para la protección del medio ambiente."),
            (
                "rus",
                "Вчера правительство страны приняло новый закон об охране природы, который вступит в силу с начала следующего года.",
            ),
            ("jpn", "政府は昨日、環境を守るための新しい法律を決めました。"),
        ] {
            assert_eq!(detect(text), Some((language, true)), "{text}");
        }
    }

    #[test]
    fn the_language_of_short_texts_is_not_guessed() {
        assert_eq!(detect("a cat"), None);
        assert_eq!(detect(""), None);
        assert_eq!(detect("12345 --- 678"), None);
        assert!(!detect("agent payment protocol").is_some_and(|(language, reliable)| reliable && language != "eng"));
    }
}
