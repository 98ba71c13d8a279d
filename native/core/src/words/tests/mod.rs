//! BM25 and phrases against a naive reference over the same words.

mod meaning;
mod writing;

use std::collections::HashMap;

use proptest::prelude::*;

use crate::blocks::dead::Dead;
use crate::ranking::options::{SearchOptions, Stop};
use crate::terms::language::DEFAULT;
use crate::words::block::WordsBlock;
use crate::words::build::{analyse, encode};
use crate::words::merge::merge;
use crate::words::phrases::documents_with_all;
use crate::words::postings::PostingsView;
use crate::words::query::{PHRASE_WORDS_MAX, PHRASES_MAX, parse};
use crate::words::rank::search;

fn block(first: u32, texts: &[&str]) -> Vec<u8> {
    let mut terms = HashMap::new();
    let analysed: Vec<_> = (first..).zip(texts.iter().map(|text| analyse(text, DEFAULT, &mut terms))).collect();
    encode(&analysed)
}

fn found(blocks: &[(&[u8], Dead<'_>)], query: &str) -> Vec<(u32, f32)> {
    let blocks: Vec<WordsBlock<'_>> = blocks
        .iter()
        .map(|(value, dead)| WordsBlock { view: PostingsView::read(value).unwrap(), dead: *dead })
        .collect();
    search(&blocks, query, None, &SearchOptions::best(100))
        .unwrap()
        .hits
        .iter()
        .map(|hit| (hit.segment, hit.score))
        .collect()
}

fn segments(blocks: &[&[u8]], query: &str) -> Vec<u32> {
    let blocks: Vec<_> = blocks.iter().map(|value| (*value, Dead::default())).collect();
    found(&blocks, query).into_iter().map(|hit| hit.0).collect()
}

/// The quoted phrases of a query that stand nowhere.
fn relaxed(block: &[u8], query: &str) -> Vec<String> {
    let views = [WordsBlock { view: PostingsView::read(block).unwrap(), dead: Dead::default() }];
    search(&views, query, None, &SearchOptions::best(100)).unwrap().relaxed
}

const VOCABULARY: [&str; 6] = ["zebra", "yacht", "xylem", "walnut", "velvet", "umbrella"];

/// The formula, word for word, over texts of the vocabulary.
fn naive(texts: &[(u32, Vec<usize>)], query: &[usize]) -> Vec<(u32, f32)> {
    let count = texts.len() as f64;
    let mean = texts.iter().map(|text| text.1.len()).sum::<usize>() as f64 / count;
    let mut hits: Vec<(u32, f32)> = vec![];
    for (segment, text) in texts {
        let mut score = 0f64;
        for word in query {
            let with = texts.iter().filter(|text| text.1.contains(word)).count() as f64;
            let idf = (1.0 + (count - with + 0.5) / (with + 0.5)).ln();
            let frequency = text.iter().filter(|other| *other == word).count() as f64;
            score += idf * frequency * 2.2 / (frequency + 1.2 * (0.25 + 0.75 * text.len() as f64 / mean));
        }
        if score > 0.0 {
            hits.push((*segment, score as f32));
        }
    }
    hits
}

proptest! {
    #[test]
    fn scores_follow_the_formula_for_any_blocks(
        texts in proptest::collection::vec(proptest::collection::vec(0..6usize, 1..12), 1..30),
        dead in proptest::collection::vec(any::<bool>(), 30),
        cut in 0..30usize,
        query in proptest::collection::vec(0..6usize, 1..5),
    ) {
        let written: Vec<String> =
            texts.iter().map(|words| words.iter().map(|word| VOCABULARY[*word]).collect::<Vec<_>>().join(" ")).collect();
        let written: Vec<&str> = written.iter().map(String::as_str).collect();
        let cut = cut.min(texts.len());
        let blocks = [block(0, &written[..cut]), block(cut as u32, &written[cut..])];
        let bits = |rows: std::ops::Range<usize>| {
            let mut bytes = vec![0u8; rows.len().div_ceil(8)];
            for (at, row) in rows.enumerate().filter(|(_, row)| dead[*row]) {
                let _ = row;
                bytes[at / 8] |= 1 << (at % 8);
            }
            bytes
        };
        let dead_bits = [bits(0..cut), bits(cut..texts.len())];
        let sources: Vec<(&[u8], Dead<'_>)> =
            blocks.iter().zip(&dead_bits).map(|(value, dead)| (value.as_slice(), Dead(dead))).collect();
        let alive: Vec<(u32, Vec<usize>)> =
            texts.iter().enumerate().filter(|(row, _)| !dead[*row]).map(|(row, text)| (row as u32, text.clone())).collect();
        let text = query.iter().map(|word| VOCABULARY[*word]).collect::<Vec<_>>().join(" ");
        let mut hits = found(&sources, &text);
        let mut expected = if alive.is_empty() { vec![] } else { naive(&alive, &query) };
        let merged = merge(&sources).unwrap();
        let of_merged = merged.map(|value| found(&[(value.as_slice(), Dead::default())], &text)).unwrap_or_default();
        prop_assert_eq!(&of_merged, &hits);
        hits.sort_by_key(|hit| hit.0);
        expected.sort_by_key(|hit| hit.0);
        prop_assert_eq!(hits.len(), expected.len());
        for (hit, expected) in hits.iter().zip(&expected) {
            prop_assert_eq!(hit.0, expected.0);
            prop_assert!((hit.1 - expected.1).abs() <= 1e-4 * expected.1, "{:?} {:?}", hit, expected);
        }
    }
}

/// A random number that follows from another (SplitMix64: Steele et al. 2014).
fn mixed(seed: u64) -> u64 {
    let mut mixed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// Texts in which the first words of the vocabulary are frequent and the last ones rare.
fn skewed_texts(count: usize, seed: u64) -> Vec<String> {
    let word = |number: u64| VOCABULARY[(mixed(number).leading_zeros() as usize).min(VOCABULARY.len() - 1)];
    (0..count as u64)
        .map(|text| {
            let start = seed.wrapping_add(text << 8);
            let words: Vec<&str> = (0..1 + mixed(start) % 9).map(|at| word(start + at + 1)).collect();
            words.join(" ")
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// With as many hits wanted as there are segments nothing can be passed over: the reference.
    #[test]
    fn skipping_segments_changes_neither_hits_nor_scores_nor_their_order(
        seed in any::<u64>(),
        sizes in proptest::collection::vec(prop_oneof![1..40usize, 250..1_500usize], 1..4),
        dead_share in prop_oneof![Just(0u64), Just(3), Just(40)],
        query in proptest::collection::vec(0..6usize, 1..6),
        quoted in any::<bool>(),
        k in prop_oneof![1..5usize, 5..200usize],
    ) {
        let (mut first, mut blocks) = (0, vec![]);
        for size in sizes {
            let texts = skewed_texts(size, mixed(seed ^ u64::from(first)));
            blocks.push(block(first, &texts.iter().map(String::as_str).collect::<Vec<_>>()));
            first += size as u32;
        }
        let dead: Vec<Vec<u8>> = blocks
            .iter()
            .map(|value| {
                let rows = PostingsView::read(value).unwrap().rows() as usize;
                let mut bits = vec![0u8; if dead_share == 0 { 0 } else { rows.div_ceil(8) }];
                for row in (0..rows).filter(|row| dead_share > 0 && mixed(seed + *row as u64) % 100 < dead_share) {
                    bits[row / 8] |= 1 << (row % 8);
                }
                bits
            })
            .collect();
        let views: Vec<WordsBlock<'_>> = blocks
            .iter()
            .zip(&dead)
            .map(|(value, dead)| WordsBlock { view: PostingsView::read(value).unwrap(), dead: Dead(dead) })
            .collect();
        let mut text: String = query.iter().map(|word| VOCABULARY[*word]).collect::<Vec<_>>().join(" ");
        if quoted {
            text.push_str(" \"zebra yacht\"");
        }
        let all = search(&views, &text, None, &SearchOptions::best(first as usize + 1)).unwrap();
        let best = search(&views, &text, None, &SearchOptions::best(k)).unwrap();
        prop_assert_eq!(&best.hits[..], &all.hits[..k.min(all.hits.len())]);
        prop_assert!(best.scanned <= all.scanned);
        prop_assert!(best.exact && best.ceiling == all.ceiling);
    }
}

#[test]
fn documents_that_cannot_be_among_the_best_are_not_scored() {
    let texts = skewed_texts(20_000, 9);
    let value = block(0, &texts.iter().map(String::as_str).collect::<Vec<_>>());
    let views = [WordsBlock { view: PostingsView::read(&value).unwrap(), dead: Dead::default() }];
    let scanned = |k| search(&views, &VOCABULARY.join(" "), None, &SearchOptions::best(k)).unwrap().scanned;
    assert!(scanned(10) * 2 < scanned(20_000), "{} of {}", scanned(10), scanned(20_000));
}

#[test]
fn quoted_phrases_match_in_order_stop_words_included() {
    let value = block(0, &["the cat of the house", "the house of the cat", "cat house", "to be or not to be"]);
    assert_eq!(segments(&[&value], "\"house of the cat\""), [1]);
    assert_eq!(segments(&[&value], "“cat house”"), [2]);
    assert_eq!(relaxed(&value, "\"cat zebra\""), ["cat zebra"]);
    assert_eq!(segments(&[&value], "\"to be or not to be\""), [3]);
    assert_eq!(segments(&[&value], "cat house").len(), 3);
}

/// The words of each phrase of a query.
fn phrases(query: &str) -> Vec<Vec<String>> {
    let of_word = |word: &(u32, Vec<super::query_word::Variant>)| word.1[0].term.clone();
    let phrases = parse(query, None, &[DEFAULT]).phrases;
    phrases.iter().map(|phrase| phrase.iter().map(of_word).collect()).collect()
}

#[test]
fn inch_marks_and_unclosed_quotes_are_not_phrases() {
    let none: [&str; 8] = [
        "5\" disk drive",
        "27\" monitor vs 32\" monitor",
        "5½\" or 3.5\" disk",
        "the \"cat house",
        "the “cat house",
        "a \"cat\" alone",
        "\"cat house\"boat",
        "measures 5\" \"wide",
    ];
    for query in none {
        assert_eq!(phrases(query), [] as [Vec<String>; 0], "{query}");
    }
    let one = ["\"cat dog\"", "(\"cat dog\")", "a \"cat dog\", b", "27\" „cat dog“ 5\" disk", "«cat dog», 3\" x"];
    for query in one {
        assert_eq!(phrases(query), [["cat", "dog"]], "{query}");
    }
    assert_eq!(phrases("\"cat dog\" 5\" \"red fox\""), [["cat", "dog"], ["red", "fox"]]);
    assert_eq!(phrases("東京\"京都の寺\"と").len(), 1, "no space stands around the words of such scripts");
    let value = block(0, &["a 32 inch monitor", "the drive of a 5 inch disk"]);
    assert_eq!(segments(&[&value], "5\" disk drive"), [1]);
    assert_eq!(segments(&[&value], "27\" monitor vs 32\" monitor"), [0]);
}

#[test]
fn phrases_are_limited_and_distinct_and_further_ones_become_words() {
    assert_eq!(phrases(&"\"cat dog\" ".repeat(1_000)).len(), 1);
    let many: String = (0..40).map(|number| format!("\"word{number} next{number}\" ")).collect();
    assert_eq!(phrases(&many).len(), PHRASES_MAX);
    assert_eq!(parse(&many, None, &[DEFAULT]).words.len(), 80);
    let long: String = (0..5).map(|at| format!("\"{at} {}\" ", "cat ".repeat(100))).collect();
    assert_eq!(phrases(&long).iter().map(Vec::len).sum::<usize>(), PHRASE_WORDS_MAX);
}

#[test]
fn a_cancelled_search_ends_within_its_phrases() {
    let value = block(0, &["cat dog"]);
    let view = WordsBlock { view: PostingsView::read(&value).unwrap(), dead: Dead::default() };
    let stop = Stop::default();
    let query = parse("\"cat dog\"", None, &[DEFAULT]);
    assert_eq!(documents_with_all(&view, &query.phrases, &stop).unwrap(), Some(vec![true]));
    stop.stop();
    assert_eq!(documents_with_all(&view, &query.phrases, &stop).unwrap_err().code, "interrupted");
}

#[test]
fn a_phrase_is_found_in_each_language_by_its_terms_there() {
    let german = "Die Regierung hat gestern neue Häuser für viele Familien in der Stadt gebaut und eröffnet.";
    let english = "The government opened many new houses for families in the city and the people were happy.";
    let value =
        block(0, &[german, english, "Die neuen Häuser der Stadt sind für alle Familien da und kosten wenig Geld."]);
    assert_eq!(segments(&[&value], "\"neue Häuser\""), [2, 0]);
    assert_eq!(segments(&[&value], "\"new house\""), [1]);
    assert_eq!(segments(&[&value], "\"new house\" \"neue Häuser\""), [] as [u32; 0]);
}

#[test]
fn each_word_of_a_phrase_may_be_any_of_its_terms() {
    let german = "Die Behörde prüft die Größe des Käfigs und gibt die Fläche in der Urkunde zurück.";
    let english = "The Moebius band has one side, and the government was happy with the Möbius band.";
    // In English and in German one writes "fläche" as "flaech", and only German knows "flach".
    let value = block(0, &[german, english]);
    for query in ["\"die Größe des Käfigs\"", "\"Fläche in der\"", "\"die Groesse des\"", "\"gibt die Flaeche\""] {
        assert_eq!(segments(&[&value], query), [0], "{query}");
    }
    assert_eq!(segments(&[&value], "\"the Möbius band has\" \"the Möbius band\""), [1], "written in both ways");
    assert_eq!(relaxed(&value, "\"Größe die\""), ["Größe die"]);
}

#[test]
fn each_text_is_matched_in_its_own_language() {
    let german = "Die Regierung hat gestern neue Häuser für viele Familien in der Stadt gebaut und eröffnet.";
    let english = "The government opened many new houses for families in the city and the people were happy.";
    let value = block(0, &[german, english]);
    assert_eq!(segments(&[&value], "Haus Regierungen"), [0]);
    assert_eq!(segments(&[&value], "housing family"), [1]);
    assert_eq!(segments(&[&value], "die Häuser"), [0], "a stop word of a text's language is not looked up in it");
}

#[test]
fn a_word_weighs_by_all_segments_also_by_those_where_it_is_a_stop_word() {
    let german = "Die Regierung hat gestern neue Häuser für viele Familien in der Stadt gebaut und eröffnet.";
    let mut texts = vec![german; 20];
    texts.extend(["the die was made of steel in this workshop", "the parts were cast in this other workshop"]);
    let value = block(0, &texts);
    assert_eq!(segments(&[&value], "the parts that were cast with this die"), [21, 20]);
    let weight = |query| found(&[(&value, Dead::default())], query)[0].1;
    assert!(weight("the die which was used") * 5.0 < weight("what was cast in it"));
}
