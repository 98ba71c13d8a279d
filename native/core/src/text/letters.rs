//! One way to write letters and digits that scripts have several ways for, where NFKC (UAX #15) keeps them apart.

use std::borrow::Cow;
use std::sync::OnceLock;

/// Zero width space: a line may be broken here. It joins the parts of a word that is also found whole.
pub const SEAM: char = '\u{200b}';
/// Zero width non-joiner: in Persian the seam within a word, elsewhere a matter of looks.
const NON_JOINER: char = '\u{200c}';

/// The zeros of the decimal digits that living scripts write; their ones to nines follow.
const ZEROS: [char; 20] =
    ['٠', '۰', '߀', '०', '০', '੦', '૦', '୦', '௦', '౦', '೦', '൦', '෦', '๐', '໐', '༠', '၀', '႐', '០', '᠐'];

/// See the file's head for its source.
const HAN_VARIANTS: &str = include_str!("han_variants.txt");
const HAN_FIRST: u32 = 0x4E00;
const HAN_LAST: u32 = 0x9FFF;

/// Whether a character within a word shows nothing, or only stretches it: soft hyphens, joiners, marks of direction,
/// selectors of variants, tatweel.
pub fn is_ignorable(letter: char) -> bool {
    matches!(letter as u32,
        0xAD | 0x034F | 0x061C | 0x0640 | 0x180B..=0x180F | 0x200C..=0x200F | 0x202A..=0x202E | 0x2060..=0x206F
        | 0xFE00..=0xFE0F | 0xFEFF | 0xE0000..=0xE0FFF)
}

/// The value of a decimal digit of any script.
pub fn digit(letter: char) -> Option<u32> {
    if letter.is_ascii() {
        return letter.to_digit(10);
    }
    let behind = |zero: &char| (letter as u32).checked_sub(*zero as u32).filter(|value| *value < 10);
    ZEROS.iter().find_map(behind)
}

/// Text as words are read of it: digits in ASCII, Han in its simplified form, without what is ignorable.
pub fn plain(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let (mut out, mut before) = (String::with_capacity(text.len()), ' ');
    for letter in text.chars() {
        match letter {
            '\0'..='\x7f' => out.push(letter),
            NON_JOINER if is_arabic(before) => out.push(SEAM),
            _ if is_ignorable(letter) => continue,
            _ => out.push(alike(letter)),
        }
        before = letter;
    }
    Cow::Owned(out)
}

/// The letter as [`plain`] writes it.
pub fn alike(letter: char) -> char {
    match letter as u32 {
        0x0600..=0x1819 => digit(letter).map_or(letter, |value| (b'0' + value as u8) as char),
        HAN_FIRST..=HAN_LAST => simplified(letter),
        _ => letter,
    }
}

/// A term in which letters that are written in one another's place are one: those of Arabic, Persian and Urdu (the rules of
/// Lucene's ArabicNormalizer and PersianNormalizer), and of Hindi (of its HindiNormalizer: nukta, chandrabindu, `हिन्दी` as `हिंदी`).
/// `term` has no Arabic vowel marks.
pub fn bare(term: Cow<'_, str>) -> Cow<'_, str> {
    let varies = |letter: char| matches!(letter as u32, 0x0629..=0x06D5 | 0x0901..=0x094D);
    if term.is_ascii() || !term.contains(varies) {
        return term;
    }
    let (mut out, mut letters) = (String::with_capacity(term.len()), term.chars().peekable());
    while let Some(letter) = letters.next() {
        match letter {
            '\u{93c}' => {}
            'न' if letters.next_if_eq(&'\u{94d}').is_some() => out.push('\u{902}'),
            _ => out.push(bare_letter(letter)),
        }
    }
    Cow::Owned(out)
}

/// See [`bare`].
pub fn bare_letter(letter: char) -> char {
    match letter {
        'ى' | 'ی' | 'ے' => 'ي',
        'ک' => 'ك',
        'ة' | 'ہ' | 'ە' | 'ۃ' => 'ه',
        'ٱ' => 'ا',
        '\u{901}' => '\u{902}',
        _ => letter,
    }
}

fn is_arabic(letter: char) -> bool {
    matches!(letter as u32, 0x0600..=0x06FF | 0x0750..=0x077F | 0x08A0..=0x08FF)
}

fn simplified(letter: char) -> char {
    static SIMPLIFIED: OnceLock<Vec<u16>> = OnceLock::new();
    let table = SIMPLIFIED.get_or_init(|| {
        let mut table: Vec<u16> = (HAN_FIRST..=HAN_LAST).map(|code| code as u16).collect();
        let lines = HAN_VARIANTS.lines().filter(|line| !line.starts_with('#'));
        let letters: Vec<u32> = lines.flat_map(str::chars).map(u32::from).collect();
        for pair in letters.chunks_exact(2) {
            table[(pair[0] - HAN_FIRST) as usize] = pair[1] as u16;
        }
        table
    });
    char::from_u32(u32::from(table[(letter as u32 - HAN_FIRST) as usize])).unwrap_or(letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_of_all_scripts_have_their_values() {
        for (text, expected) in [("٤٧٣١", "4731"), ("۸۸۲۶", "8826"), ("१२३०", "1230"), ("๒๕๖๗", "2567"), ("៩០", "90")]
        {
            assert_eq!(plain(text), expected);
        }
        let all = (0..=0x10FFFF).filter_map(char::from_u32).filter(|letter| digit(*letter).is_some());
        assert!(all.clone().all(char::is_numeric));
        assert_eq!(all.count(), 210);
    }

    #[test]
    fn what_shows_nothing_is_left_out_and_seams_stay() {
        assert_eq!(plain("Unter\u{ad}neh\u{2060}mens\u{feff}"), "Unternehmens");
        assert_eq!(plain("المكتـــبة"), "المكتبة");
        assert_eq!(plain("کتاب\u{200c}ها \u{200c}क्\u{200d}ष"), "کتاب\u{200b}ها क्ष");
    }

    #[test]
    fn han_is_read_in_its_simplified_form() {
        assert_eq!(plain("臺灣的圖書館"), plain("台湾的图书馆"));
        assert_eq!(plain("図書館"), plain("圖書館"));
        assert_eq!(plain("灯台の修理"), "灯台の修理");
        let once = |code| char::from_u32(code).map(simplified);
        assert!((HAN_FIRST..=HAN_LAST).filter_map(once).all(|letter| alike(letter) == letter), "in one step");
    }

    #[test]
    fn letters_in_one_anothers_place_are_one() {
        for (left, right) in
            [("کتابی", "كتابى"), ("مكتبة", "مكتبه"), ("हिन्दी", "हिंदी"), ("ज\u{93c}मीन", "जमीन"), ("चाँद", "चांद")]
        {
            assert_eq!(bare(left.into()), bare(right.into()));
        }
        assert_eq!(bare("mobius".into()), "mobius");
    }
}
