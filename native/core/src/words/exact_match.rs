//! Which segments hold the words of a query as they are written, and not only words with the same stems: a name or a code
//! stands before them.

use std::collections::HashSet;

use super::block::WordsBlock;
use super::occurrences::Found;
use crate::error::Result;
use crate::ranking::segment_filter::SegmentFilter;
use crate::terms::surface_forms::{lowered, normalised, words};

/// Segments with the stems of all words that are looked at. More, and the words are too common.
const READ_MAX: usize = 1_000;
/// Segments that may have all the words as they are written: more, and the words are not rare.
pub const RARE_MAX: usize = 10;

/// The segments, ascending, that have every word of a query as it is written, if they are few. `found`: the query's words.
/// `within`: the segments that may be found; None: all.
/// `text_of`: the words of a segment; it may say None where nothing that is stored of them may have the words.
pub fn exact_matches(
    blocks: &[WordsBlock<'_>],
    query: &str,
    found: &[Found<'_>],
    within: Option<&SegmentFilter>,
    mut text_of: impl FnMut(u32, &Runs) -> Result<Option<String>>,
) -> Result<Vec<u32>> {
    let mut sought: Vec<&Found<'_>> = found.iter().filter(|word| word.written.is_some()).collect();
    sought.sort_by_key(|word| word.frequency);
    let Some((rarest, others)) = sought.split_first() else { return Ok(vec![]) };
    if rarest.frequency == 0 || rarest.frequency > READ_MAX as u64 {
        return Ok(vec![]);
    }
    let mut segments = vec![];
    for (at, block) in blocks.iter().enumerate() {
        let mut rows = rows_with(block, at, rarest)?;
        for word in others {
            rows = rows_with_too(block, at, word, &rows)?;
        }
        let with_all = rows.iter().map(|row| block.view.segments.get(*row as usize));
        segments.extend(with_all.filter(|segment| within.is_none_or(|within| within.has(*segment))));
    }
    segments.sort_unstable();
    let of_query = lowered(&normalised(query));
    let words: Vec<Written<'_>> = sought
        .iter()
        .filter_map(|word| word.written.as_deref())
        .map(|text| Written { text, literal: of_query.contains(text) })
        .collect();
    let runs = Runs::of(words.iter().filter(|word| word.literal).map(|word| word.text));
    let mut written = vec![];
    for segment in segments {
        if text_of(segment, &runs)?.is_some_and(|text| has_all(&text, &words)) {
            written.push(segment);
        }
        if written.len() > RARE_MAX {
            return Ok(vec![]);
        }
    }
    Ok(written)
}

/// The longest run of ASCII letters and digits of each word. A stored text that has not all of them has not all of the words, which is
/// told a hundred times sooner than by normalising it.
#[derive(Default)]
pub struct Runs(Vec<String>);

impl Runs {
    fn of<'a>(words: impl Iterator<Item = &'a str>) -> Self {
        let longest = |word: &'a str| {
            word.split(|letter: char| !letter.is_ascii_alphanumeric()).max_by_key(|run| run.len()).unwrap_or_default()
        };
        Self(words.map(|word| longest(word).to_owned()).filter(|run| !run.is_empty()).collect())
    }

    /// Whether texts, each as it is stored, may have all words. One with a letter that may become an ASCII one may.
    pub fn may_be_in(&self, texts: &[&str]) -> bool {
        let is_in = |run: &String| texts.iter().any(|text| has_run(text.as_bytes(), run.as_bytes()));
        self.0.iter().all(is_in) || texts.iter().any(|text| !text.is_ascii() && text.chars().any(may_become_ascii))
    }
}

/// `run` is in lower case and not empty.
fn has_run(text: &[u8], run: &[u8]) -> bool {
    text.windows(run.len()).any(|part| part[0].to_ascii_lowercase() == run[0] && part.eq_ignore_ascii_case(run))
}

/// By NFKC or in lower case. Letters with accents and dashes and quotes do not.
fn may_become_ascii(letter: char) -> bool {
    match letter {
        '\u{0}'..='\u{7f}' => false,
        'Ĳ' | 'ĳ' | 'Ŀ' | 'ŀ' | 'ŉ' | 'ſ' | 'İ' => true,
        'À'..='ž' | '‐'..='”' => false,
        _ => true,
    }
}

/// The living rows of a block that have a word, ascending.
fn rows_with(block: &WordsBlock<'_>, at: usize, word: &Found<'_>) -> Result<Vec<u32>> {
    let mut rows = vec![];
    for (postings, languages) in word.lists.of(at) {
        postings.for_each(|row, _| {
            if block.view.language(row).bit() & languages != 0 && !block.dead.has(row as usize) {
                rows.push(row);
            }
        })?;
    }
    rows.sort_unstable();
    rows.dedup();
    Ok(rows)
}

/// Those of some rows that have a word.
fn rows_with_too(block: &WordsBlock<'_>, at: usize, word: &Found<'_>, rows: &[u32]) -> Result<Vec<u32>> {
    let mut has = vec![false; rows.len()];
    for (postings, languages) in word.lists.of(at) {
        let visit = |index: usize, _| has[index] |= block.view.language(rows[index]).bit() & languages != 0;
        postings.for_each_of(rows.len(), |index| rows[index], visit)?;
    }
    Ok(rows.iter().zip(has).filter(|row| row.1).map(|row| *row.0).collect())
}

/// A word of a query. Literal: as it stands there, not joined of parts (`IL-6` is found by `IL6`).
struct Written<'a> {
    text: &'a str,
    literal: bool,
}

fn has_all(text: &str, sought: &[Written<'_>]) -> bool {
    let text = normalised(text);
    let lower = lowered(&text);
    if sought.iter().any(|word| word.literal && !lower.contains(word.text)) {
        return false;
    }
    if sought.iter().all(|word| stands_alone(&lower, word.text)) {
        return true;
    }
    let all: HashSet<String> = words(&text).into_iter().map(|word| word.text).collect();
    sought.iter().all(|word| all.contains(word.text))
}

/// Whether a word is in a text without letters or digits beside it.
fn stands_alone(text: &str, word: &str) -> bool {
    let is_other = |letter: Option<char>| letter.is_none_or(|letter| !letter.is_alphanumeric());
    text.match_indices(word)
        .any(|(at, _)| is_other(text[..at].chars().next_back()) && is_other(text[at + word.len()..].chars().next()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has(text: &str, query: &str) -> bool {
        let parsed = words(query);
        let whole = parsed.iter().filter(|word| word.parts > 0);
        let of_query = lowered(query);
        let sought: Vec<Written<'_>> =
            whole.map(|word| Written { text: &word.text, literal: of_query.contains(&word.text) }).collect();
        has_all(text, &sought)
    }

    #[test]
    fn words_with_the_same_stem_are_no_exact_match() {
        assert!(has("The Bridges of", "bridges") && has("bridges, names", "Bridges"));
        assert!(!has("a bridge, bridged", "bridges"));
        assert!(has("Anna Bridges", "Anna Bridges") && !has("Anna bridged", "Anna Bridges"));
        assert!(has("\u{fb01}sh, GRÖSSE", "größe".to_uppercase().as_str()));
    }

    #[test]
    fn an_exact_match_is_never_ruled_out_by_its_letters() {
        let may = |texts: &[&str], words: &[&str]| Runs::of(words.iter().copied()).may_be_in(texts);
        for (text, query) in [
            ("The Bridges of", "bridges"),
            ("\u{fb01}sh, GRÖSSE", "größe"),
            ("Ｆｕｌｌ", "full"),
            ("273 \u{212a}elvin", "kelvin"),
            ("mo\u{308}bius", "möbius"),
            ("Straße – “Laser”", "laser"),
        ] {
            let word = lowered(&normalised(query));
            assert!(!has(text, query) || may(&[text], &[&word]), "{text}");
        }
        assert!(may(&["an item", "its title"], &["title", "item"]));
        assert!(!may(&["El láser – “lasers”"], &["laserdisc"]) && !may(&["lettre d’été"], &["ete"]));
    }

    #[test]
    fn parts_of_wholes_match_exactly_and_joined_parts_do_not() {
        assert!(has("https://commons.wikimedia.org/wiki", "wikimedia") && !has("wikimedias", "wikimedia"));
        assert!(has("fileName here", "name"));
        assert!(has("IL6", "IL-6") && has("IL-6 levels", "IL-6"));
        assert!(has("UCP3", "UCP3") && !has("UCP-3", "UCP3"));
        assert!(has("1100 pages", "1100") && !has("1,100 pages", "1100"));
    }
}
