//! Snippets: the part of a passage that shows why it was found, with the words of the query in it.

use serde::Serialize;

use super::letters::{alike, bare_letter, digit};
use super::numbers::numbers;
use super::units::Units;
use super::word_bounds::{WordBounds, shows_nothing};

/// Length of a snippet in UTF-16 units: enough to show why a passage was found.
const LENGTH: usize = 320;
/// UTF-16 units before the first word that was found.
const LEAD: usize = 60;
/// Words of a query that are searched for; below, highlights of a snippet.
const WORDS_MAX: usize = 64;
const HIGHLIGHTS_MAX: usize = 64;
/// Cells with names that a row of a table has, at least.
const CELLS_MIN: usize = 2;
/// A word is also found with another ending: least number of equal letters; below, most other letters.
const SAME_LETTERS_MIN: usize = 4;
const OTHER_LETTERS_MAX: usize = 3;
const LETTERS: usize = 32;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snippet {
    pub text: String,
    /// Start and end of each word of the query in `text`, in UTF-16 units, ascending.
    pub highlights: Vec<(u32, u32)>,
    /// The row of the passage with the most words of the query, if that is of a table whose columns have names.
    pub row: Option<TableRow>,
}

/// A row of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TableRow {
    /// The name of each cell's column; empty where it has none.
    pub columns: Vec<String>,
    pub row: Vec<String>,
}

impl TableRow {
    /// Of a line as readers write the rows of tables: `| Item: Kettle | Price: 42`. None for other lines.
    fn of(line: &str) -> Option<Self> {
        let cells = line.strip_prefix("| ")?.split(" | ").map(|cell| cell.split_once(": ").unwrap_or(("", cell)));
        let (columns, row): (Vec<String>, Vec<String>) =
            cells.map(|(name, value)| (name.to_owned(), value.to_owned())).unzip();
        let named = columns.iter().filter(|name| !name.is_empty()).count();
        (named >= CELLS_MIN && 2 * named >= columns.len()).then_some(Self { columns, row })
    }
}

/// The words of a query, prepared for any number of passages.
#[derive(Debug, Default)]
pub struct QueryWords {
    words: Vec<Vec<char>>,
    /// Numbers of words by their first letter, so that a word of a passage is compared with few.
    by_letter: [Vec<usize>; LETTERS],
    /// By the first letter: a bit for each second one, if both are ASCII. Most words of a passage are passed over by it.
    pairs: [u32; LETTERS],
    /// Whether there is a digit among them.
    has_numbers: bool,
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
        let bounds = WordBounds::of(query);
        for start in bounds.starts() {
            query_words.add(&query[start..bounds.end(start)], &wanted);
        }
        query_words.has_numbers = query.chars().any(|letter| digit(letter).is_some());
        for form in numbers(query).into_iter().flat_map(|number| number.forms) {
            query_words.add(&form, &wanted);
        }
        query_words
    }

    fn add(&mut self, word: &str, wanted: impl Fn(&str) -> bool) {
        let word: Vec<char> = compared(word).collect();
        if word.is_empty()
            || self.words.len() == WORDS_MAX
            || self.words.contains(&word)
            || !wanted(&word.iter().collect::<String>())
        {
            return;
        }
        let first = letter_group(word[0]);
        self.by_letter[first].push(self.words.len());
        self.pairs[first] |= match word.get(1) {
            Some(second) => 1 << letter_group(*second),
            None => u32::MAX,
        };
        self.words.push(word);
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
            row: row(passage, &found),
        }
    }

    /// Byte at which the part of a passage with the most words of the query begins; 0 if it has none.
    pub fn place_in(&self, passage: &str) -> usize {
        self.densest(&Units::of(passage), &self.find(passage))
    }

    fn find(&self, passage: &str) -> Vec<Found> {
        let mut found = vec![];
        if self.words.is_empty() {
            return found;
        }
        if self.has_numbers {
            found = self.find_numbers(passage);
        }
        let numbers = found.len();
        let bounds = WordBounds::of(passage);
        for start in bounds.starts().filter(|start| self.may_be_at(passage, *start)) {
            let end = bounds.end(start);
            let text = &passage[start..end];
            let alike = compared(text).next().map_or(&[][..], |first| &self.by_letter[letter_group(first)]);
            if let Some(word) = alike.iter().copied().find(|word| is_same_word(&self.words[*word], text)) {
                found.push(Found { word, start, end });
            }
        }
        if numbers > 0 {
            let of_numbers = found[..numbers].to_vec();
            let is_apart = |word: &Found| of_numbers.iter().all(|of| word.end <= of.start || of.end <= word.start);
            let apart: Vec<Found> = found[numbers..].iter().filter(|word| is_apart(word)).copied().collect();
            found = [of_numbers, apart].concat();
            found.sort_unstable_by_key(|found| found.start);
        }
        found
    }

    /// The numbers of a passage that the query has, though with other marks within them.
    fn find_numbers(&self, passage: &str) -> Vec<Found> {
        let has = |form: &String| self.words.iter().position(|word| word.iter().copied().eq(form.chars()));
        let of = numbers(passage).into_iter();
        let found = of.filter_map(|number| Some((number.forms.iter().find_map(has)?, number.start, number.end)));
        found.take(HIGHLIGHTS_MAX).map(|(word, start, end)| Found { word, start, end }).collect()
    }

    /// False if by its first two bytes the word at `start` is none of these.
    fn may_be_at(&self, passage: &str, start: usize) -> bool {
        let is_pair =
            |first: u8, second: u8| self.pairs[first as usize % LETTERS] >> (second as usize % LETTERS) & 1 == 1;
        match passage.as_bytes()[start..] {
            [first, second, ..] if first.is_ascii() && second.is_ascii() => is_pair(first, second),
            _ => true,
        }
    }

    /// Byte of the first word in the window with the most distinct words.
    fn densest(&self, units: &Units, found: &[Found]) -> usize {
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
        best
    }

    /// Byte at which a snippet begins: a little before the window with the most distinct words, at the start of a word.
    fn start(&self, passage: &str, units: &Units, found: &[Found]) -> usize {
        let best = self.densest(units, found);
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

/// The row of a table with the most distinct words in its cells; the first of equal ones.
fn row(passage: &str, found: &[Found]) -> Option<TableRow> {
    let (mut from, mut most, mut best) = (0, 0, None);
    for line in passage.split_inclusive('\n') {
        let end = from + line.len();
        if line.starts_with("| ") {
            let is_in_cell = |found: &&Found| {
                (from..end).contains(&found.start) && !names_column(&line[found.end.min(end) - from..])
            };
            let seen = found.iter().filter(is_in_cell).fold(0u64, |seen, found| seen | 1 << found.word);
            let words = seen.count_ones();
            if words > most
                && let Some(row) = TableRow::of(line.trim_end())
            {
                (most, best) = (words, Some(row));
            }
        }
        from = end;
    }
    best
}

/// Whether what stands before this in the line of a row is of the name of a column.
fn names_column(rest: &str) -> bool {
    rest.split(" | ").next().is_some_and(|cell| cell.contains(": "))
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

/// The letters by which words are compared: the index finds them whatever else is written.
fn compared(word: &str) -> impl Iterator<Item = char> {
    let is_vowel_mark = |letter: char| matches!(letter as u32, 0x064B..=0x065F | 0x0670 | 0x093C);
    word.chars().filter(move |letter| letter.is_ascii() || !(shows_nothing(*letter) || is_vowel_mark(*letter))).map(
        |letter| if letter.is_ascii() { letter.to_ascii_lowercase() } else { bare_letter(alike(lowercase(letter))) },
    )
}

fn is_same_word(wanted: &[char], word: &str) -> bool {
    let mut letters = compared(word);
    let same = wanted.iter().take_while(|letter| letters.next() == Some(**letter)).count();
    if same < SAME_LETTERS_MIN.min(wanted.len()) {
        return false;
    }
    let longer = wanted.len().max(compared(word).count());
    same == longer || (same >= SAME_LETTERS_MIN && longer - same <= OTHER_LETTERS_MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn marked(passage: &str, query: &str) -> Vec<String> {
        let Snippet { text, highlights, .. } = QueryWords::new(query, |_| false).snippet(passage);
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
    fn what_is_written_in_another_way_is_highlighted_as_it_is_written() {
        for (passage, query, expected) in [
            ("Die Unter\u{ad}nehmens\u{ad}gründung", "Unternehmensgründung", "Unter\u{ad}nehmens\u{ad}gründung"),
            ("the Bram\u{200b}ble hedge", "bramble", "Bram\u{200b}ble"),
            ("المكتـــبة مغلقة", "المكتبة", "المكتـــبة"),
            ("رقم ٤٧٣١", "4731", "٤٧٣١"),
            ("臺灣", "台", "臺"),
            ("costs €1,299.00 or", "1299", "1,299.00"),
            ("costs 1299 or", "1,299", "1299"),
            ("has 1\u{a0}204\u{a0}500 bricks", "1204500", "1\u{a0}204\u{a0}500"),
            ("at +44 20 7946 0018 now", "02079460018", "44 20 7946 0018"),
            ("at 02079460018 now", "+44 20 7946 0018", "02079460018"),
        ] {
            assert_eq!(marked(passage, query), [expected], "{passage}");
        }
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

    #[test]
    fn the_row_with_the_most_words_is_shown_with_its_columns() {
        let table = "| Item | Colour | Price\n| Item: Lantern | Colour: green | Price: 88\n| Item: Kettle | Colour: red: dark | 42";
        let row = |passage: &str, query: &str| {
            let row = QueryWords::new(query, |_| false).snippet(passage).row;
            row.map(|TableRow { columns, row }| (columns.join("/"), row.join("/")))
        };
        let shown = |columns: &str, row: &str| Some((columns.to_owned(), row.to_owned()));
        assert_eq!(row(table, "price of the kettle"), shown("Item/Colour/", "Kettle/red: dark/42"));
        assert_eq!(row(table, "Price"), None, "each row has the names of its columns");
        assert_eq!(row(table, "zebra"), None);
        assert_eq!(row("| kettle | lantern", "kettle"), None, "its columns have no names");
        assert_eq!(row("kettle | price: 3 | colour: red", "kettle"), None, "no row of a table");
    }

    proptest! {
        #[test]
        fn any_text_has_a_snippet_of_bounded_length_with_its_highlights_inside(passage in any::<String>(), fill in 0usize..60, query in any::<String>()) {
            let passage = format!("{}{passage}", "word 灯 😀 é 1,299.00 wo\u{ad}rd 0200 7946 0018 ".repeat(fill));
            let Snippet { text, highlights, .. } = QueryWords::new(&format!("word 灯 1299 2007946 {query}"), |_| false).snippet(&passage);
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
