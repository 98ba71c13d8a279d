//! Snippets: the part of a passage that shows why it was found, with the words of the query in it.

use unicode_normalization::char::is_combining_mark;

use super::characters::{is_unspaced, start_of};

/// Length of a snippet in UTF-16 units: enough to show why a passage was found.
const LENGTH: usize = 320;
/// UTF-16 units before the first word that was found.
const LEAD: usize = 60;
/// Words of a query that are searched for; below, highlights of a snippet.
const WORDS_MAX: usize = 64;
const HIGHLIGHTS_MAX: usize = 64;
/// A word is also found with another ending: least number of equal letters; below, most other letters.
const SAME_LETTERS_MIN: usize = 4;
const OTHER_LETTERS_MAX: usize = 3;
const LETTERS: usize = 32;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snippet {
    pub text: String,
    /// Start and end of each word of the query in `text`, in UTF-16 units, ascending.
    pub highlights: Vec<(u32, u32)>,
}

/// The words of a query, prepared for any number of passages.
#[derive(Debug, Default)]
pub struct QueryWords {
    words: Vec<Vec<char>>,
    /// Numbers of words by their first letter, so that a word of a passage is compared with few.
    by_letter: [Vec<usize>; LETTERS],
}

/// A word of the query in a passage: its number, and its place in bytes.
#[derive(Debug, Clone, Copy)]
struct Found {
    word: usize,
    start: usize,
    end: usize,
}

impl QueryWords {
    /// Stop words are left out, unless the query has nothing else.
    pub fn new(query: &str, is_stop_word: impl Fn(&str) -> bool) -> Self {
        let without = Self::of(query, |word| !is_stop_word(word));
        if without.words.is_empty() { Self::of(query, |_| true) } else { without }
    }

    fn of(query: &str, wanted: impl Fn(&str) -> bool) -> Self {
        let mut query_words = Self::default();
        let mut at = 0;
        while query_words.words.len() < WORDS_MAX
            && let Some((start, end)) = next_word(query, at)
        {
            let word: Vec<char> = query[start..end].chars().map(lowercase).collect();
            if !query_words.words.contains(&word) && wanted(&word.iter().collect::<String>()) {
                query_words.by_letter[letter_group(word[0])].push(query_words.words.len());
                query_words.words.push(word);
            }
            at = end;
        }
        query_words
    }

    /// The part of `passage` with the most words of the query. Its beginning if there is none.
    pub fn snippet(&self, passage: &str) -> Snippet {
        let units = Units::of(passage);
        let found = self.find(passage);
        let length = units.at(passage.len());
        let start = if length <= LENGTH { 0 } else { self.start(passage, &units, &found) };
        let end = units.byte(units.at(start) + LENGTH);
        let body = passage[start..end].trim_end();
        let lead = if start > 0 { "…" } else { "" };
        let shift = |byte: usize| (units.at(byte) - units.at(start) + lead.chars().count()) as u32;
        let highlights = found.iter().filter(|found| found.start >= start && found.end <= start + body.len());
        Snippet {
            highlights: highlights.take(HIGHLIGHTS_MAX).map(|found| (shift(found.start), shift(found.end))).collect(),
            text: format!("{lead}{body}{}", if end < passage.len() { "…" } else { "" }),
        }
    }

    fn find(&self, passage: &str) -> Vec<Found> {
        let mut found = vec![];
        if self.words.is_empty() {
            return found;
        }
        let mut at = 0;
        while let Some((start, end)) = next_word(passage, at) {
            let text = &passage[start..end];
            let alike = text.chars().next().map_or(&[][..], |first| &self.by_letter[letter_group(lowercase(first))]);
            if let Some(word) = alike.iter().copied().find(|word| is_same_word(&self.words[*word], text)) {
                found.push(Found { word, start, end });
            }
            at = end;
        }
        found
    }

    /// Byte at which the window with the most distinct words begins: a little before the first, at the start of a word.
    fn start(&self, passage: &str, units: &Units, found: &[Found]) -> usize {
        let (mut most, mut best) = (0, 0);
        for (first, from) in found.iter().enumerate() {
            let window = units.at(from.start) + LENGTH - LEAD;
            let mut seen = 0u64;
            for found in found[first..].iter().take_while(|found| units.at(found.end) <= window) {
                seen |= 1 << found.word;
            }
            if seen.count_ones() > most {
                (most, best) = (seen.count_ones(), from.start);
            }
        }
        if units.at(best) <= LEAD {
            return 0;
        }
        let latest = units.at(passage.len()) - LENGTH;
        let wanted = units.byte((units.at(best) - LEAD).min(latest));
        let mut letters = passage[wanted..best.max(wanted)].char_indices().peekable();
        while let Some((_, letter)) = letters.next() {
            if let Some((at, next)) = letters.peek()
                && letter.is_whitespace()
                && !next.is_whitespace()
            {
                return wanted + at;
            }
        }
        wanted.min(best)
    }
}

/// The group of a letter. Each letter of ASCII has its own.
fn letter_group(letter: char) -> usize {
    letter as usize % LETTERS
}

/// The letter in lower case, if that is a single letter: offsets must stay those of the text.
fn lowercase(letter: char) -> char {
    if letter.is_ascii() {
        return letter.to_ascii_lowercase();
    }
    let mut lower = letter.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(only), None) => only,
        _ => letter,
    }
}

fn is_same_word(wanted: &[char], word: &str) -> bool {
    // Of words of one first letter most differ in the second.
    if let (Some(second), Some(byte)) = (wanted.get(1), word.as_bytes().get(1))
        && byte.is_ascii()
        && word.as_bytes()[0].is_ascii()
        && byte.to_ascii_lowercase() as char != *second
    {
        return false;
    }
    let mut letters = word.chars().map(lowercase);
    let same = wanted.iter().take_while(|letter| letters.next() == Some(**letter)).count();
    if same < SAME_LETTERS_MIN.min(wanted.len()) {
        return false;
    }
    let longer = wanted.len().max(word.chars().count());
    same == longer || (same >= SAME_LETTERS_MIN && longer - same <= OTHER_LETTERS_MAX)
}

/// Bytes that are letters and digits of ASCII: by a table, because most of a hit's time is spent here.
static IN_WORD: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 128 {
        table[byte] = (byte as u8).is_ascii_alphanumeric();
        byte += 1;
    }
    table
};

/// Start and end, in bytes, of the first word from a byte on. In scripts without spaces each character is a word.
fn next_word(text: &str, from: usize) -> Option<(usize, usize)> {
    let bytes = text.as_bytes();
    let mut start = from;
    loop {
        start += bytes.get(start..)?.iter().take_while(|byte| byte.is_ascii() && !IN_WORD[**byte as usize]).count();
        if bytes.get(start)?.is_ascii() {
            break;
        }
        let letter = letter_at(text, start)?;
        if in_word(letter) {
            if is_unspaced(letter) {
                return Some((start, start + letter.len_utf8()));
            }
            break;
        }
        start += letter.len_utf8();
    }
    let mut end = start;
    loop {
        end += bytes[end..].iter().take_while(|byte| IN_WORD[**byte as usize]).count();
        match bytes.get(end) {
            Some(byte) if !byte.is_ascii() => {
                let letter = letter_at(text, end)?;
                if !in_word(letter) || is_unspaced(letter) {
                    break;
                }
                end += letter.len_utf8();
            }
            _ => break,
        }
    }
    Some((start, end))
}

fn letter_at(text: &str, byte: usize) -> Option<char> {
    text.get(byte..)?.chars().next()
}

fn in_word(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || (!letter.is_ascii() && (letter.is_alphanumeric() || is_combining_mark(letter)))
}

/// Converts between bytes of a text and UTF-16 units.
struct Units<'a> {
    text: &'a str,
    /// Unit at each byte. Empty if both are the same.
    of_byte: Vec<u32>,
}

impl<'a> Units<'a> {
    fn of(text: &'a str) -> Self {
        let mut of_byte = vec![];
        if !text.is_ascii() {
            of_byte.reserve(text.len() + 1);
            let mut unit = 0;
            for letter in text.chars() {
                for _ in 0..letter.len_utf8() {
                    of_byte.push(unit);
                }
                unit += letter.len_utf16() as u32;
            }
            of_byte.push(unit);
        }
        Self { text, of_byte }
    }

    fn at(&self, byte: usize) -> usize {
        self.of_byte.get(byte).map_or(byte, |unit| *unit as usize)
    }

    /// Start of the character that has a unit, or the text's end. Never between the halves of a character.
    fn byte(&self, unit: usize) -> usize {
        if self.of_byte.is_empty() {
            return unit.min(self.text.len());
        }
        let after = self.of_byte.partition_point(|at| *at as usize <= unit);
        start_of(self.text, after.saturating_sub(1)).len()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn marked(passage: &str, query: &str) -> Vec<String> {
        let Snippet { text, highlights } = QueryWords::new(query, |_| false).snippet(passage);
        let units: Vec<u16> = text.encode_utf16().collect();
        highlights
            .iter()
            .map(|(start, end)| String::from_utf16(&units[*start as usize..*end as usize]).unwrap())
            .collect()
    }

    #[test]
    fn words_of_the_query_are_highlighted_also_in_capitals_and_with_other_endings() {
        let passage = "The Keepers counted gulls; a gull was counted twice.";
        assert_eq!(marked(passage, "keeper counts GULL"), ["Keepers", "counted", "gulls", "gull", "counted"]);
        assert!(marked("Reading is fun", "readability").is_empty(), "a shared start alone is not enough");
        assert_eq!(marked("Others gather; the other, there.", "the"), ["the"]);
        assert_eq!(marked("x-ray, naïve cafés, NAÏVETÉ", "naïve café ray"), ["ray", "naïve", "cafés", "NAÏVETÉ"]);
        assert_eq!(marked("İstanbul has ferries", "ferries"), ["ferries"]);
        assert_eq!(marked("!?", "!? ,"), Vec::<String>::new());
    }

    #[test]
    fn stop_words_are_highlighted_only_if_the_query_has_nothing_else() {
        let query = |words| QueryWords::new(words, |word| ["the", "who"].contains(&word));
        let highlights = |words| query(words).snippet("The Who played in the harbour").highlights;
        assert_eq!(highlights("the harbour"), [(22, 29)]);
        assert_eq!(highlights("The Who"), [(0, 3), (4, 7), (18, 21)]);
    }

    #[test]
    fn a_long_passage_is_shown_where_most_of_the_words_are() {
        let passage = format!(
            "{}The tide turned at noon and the boats came home. {}",
            "Nothing of interest here. ".repeat(30),
            "More of it. ".repeat(40)
        );
        let Snippet { text, .. } =
            QueryWords::new("when did the tide turn and boats come home", |_| false).snippet(&passage);
        assert!(text.starts_with('…') && text.ends_with('…') && text.contains("tide turned at noon"), "{text}");
        assert_eq!(marked(&passage, "tide boats"), ["tide", "boats"]);
        let unfound = QueryWords::new("zebra", |_| false).snippet(&passage).text;
        assert!(unfound.starts_with("Nothing of interest"), "its beginning where no word is");
    }

    #[test]
    fn scripts_without_spaces_are_highlighted_by_character() {
        assert_eq!(marked("灯台守は鳥を数える", "鳥"), ["鳥"]);
        assert_eq!(marked("tower灯台 beam", "灯 tower beam"), ["tower", "灯", "beam"]);
        assert_eq!(marked("𝒜lpha b𝒜lpha", "𝒜lpha"), ["𝒜lpha"]);
    }

    proptest! {
        #[test]
        fn any_text_has_a_snippet_of_bounded_length_with_its_highlights_inside(passage in any::<String>(), fill in 0usize..60, query in any::<String>()) {
            let passage = format!("{}{passage}", "word 灯 😀 é ".repeat(fill));
            let Snippet { text, highlights } = QueryWords::new(&format!("word 灯 {query}"), |_| false).snippet(&passage);
            let units = text.encode_utf16().count();
            prop_assert!(units <= LENGTH + 2);
            prop_assert!(passage.contains(text.trim_start_matches('…').trim_end_matches('…')) || passage.contains('…'));
            let mut last = 0;
            for (start, end) in highlights {
                prop_assert!(last <= start && start < end && end as usize <= units);
                last = end;
            }
        }
    }
}
