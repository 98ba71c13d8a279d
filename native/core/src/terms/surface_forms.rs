//! The words of a text as they are written: by UAX #29, NFKC, in lower case.
//!
//! **Wholes.** An identifier, address, path, number, date or part number is found whole and by each of its parts:
//! `commons.wikimedia.org`, and `commons`, `wikimedia`, `org`. It counts as one word of the text. A hyphen within a whole
//! is left out, so that `IL-6` and `IL6` are one. Words that are merely joined (`well-known`, `and/or`) stay words; the
//! hyphened ones are also found in one (`e-mail`, `email`), and so are those that a zero width space divides. The `T` of
//! `2026-03-12T08:30` stands between two wholes.
//!
//! **Letters and numbers in several ways.** [`crate::text::letters`] says which characters are left out or are one, and
//! [`crate::text::numbers`] which rows of digits are one number, found as if it had no marks within it.
//!
//! Scripts without spaces between words (Han, Kana, Hangul, Thai, Lao, Khmer, Burmese) become overlapping pairs of
//! characters. Single characters are kept beside them, so that a query of one character finds its text. So are pictographs (emoji).

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;
use unicode_segmentation::UnicodeSegmentation;

use crate::text::characters::{is_sign, is_unspaced, start_of};
use crate::text::letters::{SEAM, plain};
use crate::text::numbers::{Number, numbers};

/// Longest term in bytes. Longer ones are cut, in texts and queries alike.
pub const TERM_BYTES_MAX: usize = 96;
/// Parts that one whole is counted to have at most.
const PARTS_MAX: usize = 8;

/// A word of a text before stemming.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    pub text: String,
    /// Number of the word in the text. Pairs have the number of their first character, wholes that of their first part.
    pub position: u32,
    pub form: Form,
    /// Whether it counts for the text's length.
    pub counts: bool,
    /// How many parts a whole has. 1 for other words, and 0 for the parts of a whole that is not natural language.
    pub parts: u8,
    /// The same for words that are written together.
    pub group: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A word that is stemmed.
    Spaced,
    /// Several words as they are written together.
    Whole,
    /// Two characters of a script without spaces.
    Pair,
    /// One character of such a script, whose pairs count for a text's length, or a pictograph, which does not.
    Single,
}

/// The words of a text, in order; wholes before their parts.
pub fn words(text: &str) -> Vec<Word> {
    let text = &*normalised(text);
    let numbers = numbers(text).into_iter().peekable();
    let mut reader =
        Reader { text, words: vec![], position: 0, run: vec![], group: vec![], row: None, numbers, groups: 0 };
    let mut end = 0;
    for (at, word) in text.unicode_word_indices() {
        let unspaced = word.chars().next().is_some_and(is_unspaced);
        if at != end || !unspaced {
            reader.end_run();
        }
        let goes_on = reader.row.as_ref().is_some_and(|row| at < row.end);
        if !goes_on && (unspaced || reader.row.is_some() || !joins(&text[end..at])) {
            reader.end_group();
        }
        reader.push_signs(&text[end..at]);
        if let Some(row) =
            reader.numbers.next_if(|number| number.is_certain && number.is_from(at) && number.end > at + word.len())
        {
            reader.end_group();
            reader.row = Some(row);
        }
        if unspaced {
            reader.run.extend(word.chars());
        } else {
            reader.group.push((at, word));
        }
        end = at + word.len();
    }
    reader.end_run();
    reader.end_group();
    reader.push_signs(&text[end..]);
    reader.words
}

struct Reader<'a> {
    text: &'a str,
    words: Vec<Word>,
    position: u32,
    /// Characters of a script without spaces that follow each other.
    run: Vec<char>,
    /// Words of UAX #29 that are written together, each with the byte at which it begins.
    group: Vec<(usize, &'a str)>,
    /// The number that the group is, where its digits are in several words.
    row: Option<Number>,
    /// Those that follow.
    numbers: std::iter::Peekable<std::vec::IntoIter<Number>>,
    /// Number of groups before.
    groups: u32,
}

impl<'a> Reader<'a> {
    fn end_run(&mut self) {
        let run = std::mem::take(&mut self.run);
        for (at, position) in (0..run.len()).zip(self.position..) {
            self.push(run[at].to_string(), position, Form::Single, false, 1);
            if let Some(next) = run.get(at + 1) {
                self.push([run[at], *next].iter().collect(), position, Form::Pair, true, 1);
            }
        }
        self.position += run.len() as u32;
        self.groups += 1;
    }

    /// The signs between two words, which take no place among them.
    fn push_signs(&mut self, gap: &str) {
        if !gap.is_ascii() {
            for sign in gap.chars().filter(|letter| is_sign(*letter)) {
                self.push(sign.to_string(), self.position, Form::Single, false, 1);
            }
        }
    }

    fn end_group(&mut self) {
        let group = std::mem::take(&mut self.group);
        if let Some(row) = self.row.take() {
            return self.end_row(&row, &group);
        }
        let (Some((begin, _)), Some((last, word))) = (group.first(), group.last()) else { return };
        let end = last + word.len();
        let joints: Vec<&str> =
            group.windows(2).map(|pair| &self.text[pair[0].0 + pair[0].1.len()..pair[1].0]).collect();
        let parts: Vec<Vec<&str>> = group.iter().map(|(_, word)| parts_of(word)).collect();
        let count = parts.iter().map(Vec::len).sum::<usize>().min(PARTS_MAX) as u8;
        let plain = parts.iter().zip(&group).all(|(parts, (_, word))| parts[..] == [*word]);
        let natural = plain && is_natural(&group, &joints);
        let sign = if natural { sign_after(&self.text[end..]) } else { "" };
        if natural && sign.is_empty() {
            let is_one = joints == ["-"] || (!joints.is_empty() && joints.iter().all(|joint| is_seam(joint)));
            if is_one {
                self.push(without_hyphens(&self.text[*begin..end]), self.position, Form::Whole, false, 1);
            }
        } else if group.len() > 1 || !sign.is_empty() {
            let whole = without_hyphens(&self.text[*begin..end + sign.len()]);
            self.push(whole, self.position, Form::Whole, true, count);
        }
        for (parts, (at, word)) in parts.iter().zip(&group) {
            self.push_parts(parts, (*at, word), natural && sign.is_empty(), group.len() == 1);
        }
        self.groups += 1;
    }

    /// A number of several words, and they.
    fn end_row(&mut self, row: &Number, group: &[(usize, &str)]) {
        let count = group.len().min(PARTS_MAX) as u8;
        for (at, form) in row.forms.iter().enumerate() {
            let (counts, parts) = if at == 0 { (true, count) } else { (false, 1) };
            self.push(form.clone(), self.position, Form::Whole, counts, parts);
        }
        let written = &self.text[row.start..row.end];
        let whole = without_hyphens(written);
        if !written.contains([' ', '(']) && !row.forms.contains(&whole) {
            self.push(whole, self.position, Form::Whole, false, 1);
        }
        for word in group {
            self.push_parts(&parts_of(word.1), *word, false, false);
        }
        self.groups += 1;
    }

    /// One word of UAX #29 and its parts. `alone`: it is not part of a larger whole.
    fn push_parts(&mut self, parts: &[&str], (at, word): (usize, &str), natural: bool, alone: bool) {
        if parts[..] != [word] {
            let count = parts.len().min(PARTS_MAX) as u8;
            self.push(lowered(word), self.position, Form::Whole, alone, count);
            if is_abbreviation(parts) && !word.contains('_') {
                self.push(lowered(&parts.concat()), self.position, Form::Whole, false, 1);
            }
        }
        while let Some(number) = self.numbers.next_if(|number| number.start < at + word.len()) {
            for form in number.forms.into_iter().filter(|form| form != word) {
                self.push(form, self.position, Form::Whole, false, 1);
            }
        }
        for part in parts {
            self.push(lowered(part), self.position, Form::Spaced, natural, u8::from(natural));
            self.position += 1;
        }
    }

    fn push(&mut self, text: String, position: u32, form: Form, counts: bool, parts: u8) {
        let text = if text.len() > TERM_BYTES_MAX { start_of(&text, TERM_BYTES_MAX).to_owned() } else { text };
        self.words.push(Word { text, position, form, counts, parts, group: self.groups });
    }
}

/// Whether what stands between two words joins them to something that is written as one.
fn joins(gap: &str) -> bool {
    let is_joint = |letter: u8| b"._-/\\:@#+&=?~".contains(&letter);
    let is_of_address = |letter: u8| b"/\\@#=?&".contains(&letter);
    !gap.is_empty()
        && gap.len() <= 4
        && (gap.bytes().all(is_joint) || is_seam(gap))
        && (gap.len() == 1 || is_seam(gap) || gap == "::" || gap.bytes().any(is_of_address))
}

fn is_seam(gap: &str) -> bool {
    let mut letters = gap.chars();
    letters.next() == Some(SEAM) && letters.next().is_none()
}

/// Whether words that are joined are words of a language, not of an identifier, address or number.
fn is_natural(group: &[(usize, &str)], joints: &[&str]) -> bool {
    let slashes = joints.iter().filter(|joint| **joint == "/").count();
    let of_language = |word: &str| word.chars().all(|letter| !letter.is_numeric());
    group.len() == 1
        || (slashes <= 1
            && joints.iter().all(|joint| matches!(*joint, "-" | "/") || is_seam(joint))
            && group.iter().all(|(_, word)| of_language(word)))
}

/// The signs of `C++` and `C#`, which are not part of a word by UAX #29.
fn sign_after(text: &str) -> &str {
    let length = if text.starts_with("++") {
        2
    } else if text.starts_with('#') {
        1
    } else {
        return "";
    };
    let ends = text[length..].chars().next().is_none_or(|letter| !letter.is_alphanumeric());
    if ends { &text[..length] } else { "" }
}

/// The parts of a word: between points, underscores, colons and commas, and where capitals show them (`camelCase`,
/// `HTTPServer`). A single small letter before a capital is none: `iPhone`, `mRNA`.
fn parts_of(word: &str) -> Vec<&str> {
    let is_number = word.bytes().all(|letter| letter.is_ascii_digit() || matches!(letter, b'\'' | b'.' | b','));
    let is_joint = |letter: char| match letter {
        '.' | '_' | ':' | ',' | ';' | '·' | '‧' | '‿' | '⁀' => true,
        '\'' => is_number,
        _ => false,
    };
    let mut parts: Vec<&str> = vec![];
    for part in word.split(is_joint).filter(|part| !part.is_empty()) {
        let mut from = 0;
        let letters: Vec<(usize, char)> = part.char_indices().collect();
        for at in 1..letters.len() {
            let [(_, before), (byte, letter)] = [letters[at - 1], letters[at]];
            let small = |at: usize| letters.get(at).is_some_and(|letter| letter.1.is_lowercase());
            let begins = letter.is_uppercase()
                && (if before.is_lowercase() {
                    byte - from > before.len_utf8()
                } else {
                    before.is_uppercase() && small(at + 1) && small(at + 2)
                });
            if begins {
                parts.push(&part[from..byte]);
                from = byte;
            }
        }
        parts.push(&part[from..]);
    }
    if parts.is_empty() { vec![word] } else { parts }
}

/// `U.S.A`: it is also found without its points.
fn is_abbreviation(parts: &[&str]) -> bool {
    parts.len() > 1 && parts.iter().all(|part| part.chars().count() == 1 && part.chars().all(char::is_alphabetic))
}

fn without_hyphens(whole: &str) -> String {
    lowered(&whole.replace(['-', SEAM], ""))
}

/// A text as its words are read: as [`composed`], with letters in one way, and date and time apart.
pub fn normalised(text: &str) -> Cow<'_, str> {
    let text = match composed(text) {
        Cow::Borrowed(text) => plain(text),
        Cow::Owned(text) => Cow::Owned(plain(&text).into_owned()),
    };
    let bytes = text.as_bytes();
    let mut divided: Option<String> = None;
    for (at, _) in text.match_indices(['T', 't']).filter(|(at, _)| divides_moment(bytes, *at)) {
        divided.get_or_insert_with(|| text.to_string()).replace_range(at..=at, "|");
    }
    divided.map_or(text, Cow::Owned)
}

/// Whether a letter stands between the date and the time of a moment (ISO 8601): `2026-03-12T08:30`, `20260312T083000Z`.
fn divides_moment(text: &[u8], at: usize) -> bool {
    let has = |from: usize, shape: &str| {
        text.get(from..from + shape.len()).is_some_and(|part| {
            part.iter()
                .zip(shape.bytes())
                .all(|(byte, of)| if of == b'0' { byte.is_ascii_digit() } else { *byte == of })
        })
    };
    let follows = |date: &str| {
        at.checked_sub(date.len())
            .is_some_and(|from| has(from, date) && (from == 0 || !text[from - 1].is_ascii_digit()))
    };
    (follows("0000-00-00") && has(at + 1, "00:00")) || (follows("00000000") && has(at + 1, "0000"))
}

/// NFKC, with one form of the apostrophe. The mark of a footnote is no part of the word before it: `Marajà³`, but not `km²`.
fn composed(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let marked =
        if text.contains(is_footnote_mark) { Cow::Owned(without_footnotes(text)) } else { Cow::Borrowed(text) };
    Cow::Owned(marked.nfkc().map(|letter| if letter == '\u{2019}' { '\'' } else { letter }).collect())
}

/// Letters of a word from which on a raised digit behind it is the mark of a footnote, and no power of a unit.
const NOTED_LETTERS: usize = 4;

fn is_footnote_mark(letter: char) -> bool {
    matches!(letter, '¹' | '²' | '³' | '⁰' | '⁴'..='⁹')
}

fn without_footnotes(text: &str) -> String {
    let (mut out, mut letters) = (String::with_capacity(text.len()), 0);
    for letter in text.chars() {
        let is_mark = is_footnote_mark(letter) && letters >= NOTED_LETTERS;
        out.push(if is_mark { ' ' } else { letter });
        // Two digits are one mark.
        letters = if letter.is_alphabetic() {
            letters + 1
        } else if is_mark {
            letters
        } else {
            0
        };
    }
    out
}

pub fn lowered(word: &str) -> String {
    if word.is_ascii() { word.to_ascii_lowercase() } else { word.to_lowercase().nfc().collect() }
}

#[cfg(test)]
#[path = "surface_forms_tests.rs"]
mod tests;
