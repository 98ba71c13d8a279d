//! The character set of text that names none.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::Encoding;
use whatlang::Lang::*;

/// Bytes that say the language, from some before the first letter beyond ASCII: fewer are guessed wrong in tables.
const LANGUAGE_BYTES: usize = 16 * 1024;
const BEFORE_BYTES: usize = 128;

/// The likeliest character set, by its name in the Encoding Standard of the web. Any bytes have one, so whether they are text
/// is for the caller to judge.
///
/// `is_whole` is false for the start of a longer text, whose last letter may be cut in two.
pub fn guess(bytes: &[u8], is_whole: bool) -> &'static str {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(bytes, is_whole);
    let first = detector.guess(None, Utf8Detection::Deny).name();
    match country_of(bytes, first).map_or(first, |country| detector.guess(Some(country), Utf8Detection::Deny).name()) {
        // Detected in texts of few letters beyond ASCII. Nobody writes in it.
        "ISO-8859-4" => "windows-1252",
        name => name,
    }
}

/// A country whose language this is, for languages that share too many letters with others for the detector: most letters are
/// ASCII whatever the character set, and say the language.
fn country_of(bytes: &[u8], charset: &str) -> Option<&'static [u8]> {
    let from = bytes.iter().position(|byte| !byte.is_ascii())?.saturating_sub(BEFORE_BYTES);
    let some = &bytes[from..bytes.len().min(from + LANGUAGE_BYTES)];
    let (text, _) = Encoding::for_label(charset.as_bytes())?.decode_without_bom_handling(some);
    Some(match whatlang::detect_lang(&text)? {
        Deu => b"de",
        Fra => b"fr",
        Spa => b"es",
        Ita => b"it",
        Por => b"pt",
        Nld => b"nl",
        Swe => b"se",
        Dan => b"dk",
        Nob => b"no",
        Fin => b"fi",
        Hun => b"hu",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::guess;

    #[test]
    fn a_letter_that_the_end_cuts_in_two_changes_no_guess() {
        let shift_jis = b"\x8d\xf0\x93\xfa\x82\xcc\x97[\x95\xfb\x81A\x8dH\x8f\xea\x82\xc5\x8e\xb5";
        assert_eq!(guess(shift_jis, true), "Shift_JIS");
        assert_eq!(guess(&shift_jis[..shift_jis.len() - 1], false), "Shift_JIS");
    }

    #[test]
    fn escapes_between_letters_of_ascii_are_a_character_set() {
        assert_eq!(guess(b"\x1b$B@hF|$NM<J}\x1b(B", true), "ISO-2022-JP");
    }

    #[test]
    fn the_language_decides_where_letters_do_not() {
        assert_eq!(guess(b"La R\xe9publique fran\xe7aise et la Gr\xe8ce sont tr\xe8s belles", true), "windows-1252");
        assert_eq!(
            guess(b"Az \xf6reg moln\xe1r v\xe9g\xfcl a t\xfbz mellett \xf5rizte a gyerekeket", true),
            "ISO-8859-2"
        );
    }
}
