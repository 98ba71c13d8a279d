//! One thing written in several ways, and blocks from before each was known.

use std::collections::HashMap;

use super::{block, segments};
use crate::blocks::dead::Dead;
use crate::terms::analysis::Terms;
use crate::terms::language::DEFAULT;
use crate::terms::written::{Form, former_words, undivided_words, words};
use crate::words::build::{AnalysedText, encode};
use crate::words::merge::merge;

#[test]
fn what_is_written_as_one_is_found_first_and_by_its_parts() {
    let long = "word ".repeat(40);
    for (whole, parts) in [
        ("commons.wikimedia.org", vec!["commons", "wikimedia", "org"]),
        ("read_file_name", vec!["read", "file", "name"]),
        ("parseHttpRequest", vec!["parse", "http", "request"]),
        ("https://example.org/a/report-2024.pdf", vec!["example.org", "report", "2024", "pdf"]),
        ("ann.lee@example.org", vec!["ann", "lee", "example", "example.org"]),
        ("2024-05-17", vec!["2024", "05", "17"]),
        ("12,345,678", vec!["12345678", "345"]),
        ("AB-4711-X", vec!["ab", "4711", "AB4711X"]),
    ] {
        let scattered: Vec<String> =
            words(whole).into_iter().rev().filter(|word| word.form == Form::Spaced).map(|word| word.text).collect();
        let scattered = scattered.join(" , ");
        let value = block(0, &[&scattered, &scattered, &format!("{long} {whole} {long}"), "another text"]);
        assert_eq!(segments(&[&value], whole)[0], 2, "{whole}");
        for part in parts {
            assert!(segments(&[&value], part).contains(&2), "{part} of {whole}");
        }
    }
}

#[test]
fn a_moment_is_found_by_its_date_and_by_its_time() {
    let texts =
        ["started 2026-03-12T08:30:15.250Z", "at 2026-03-13T09:45:00+01:00", "it is 20260314T101500Z now", "none"];
    let value = block(0, &texts);
    for (query, row) in [
        ("2026-03-12", 0),
        ("\"2026-03-12\"", 0),
        ("12.03.2026", 0),
        ("08:30:15", 0),
        ("2026-03-12T08:30:15.250Z", 0),
        ("2026-03-13", 1),
        ("09:45", 1),
        ("20260314", 2),
    ] {
        assert_eq!(segments(&[&value], query).first(), Some(&row), "{query}");
    }
    assert_eq!(segments(&[&value], "\"2026-03-14\" \"2026-03-12\""), [] as [u32; 0]);
}

/// A block as it was written before wholes had parts.
fn undivided_block(first: u32, texts: &[&str]) -> Vec<u8> {
    let analyser = Terms::of(DEFAULT);
    let analysed = texts.iter().map(|text| {
        let words = undivided_words(text);
        let length = words.len() as u32;
        let mut terms: HashMap<String, Vec<u32>> = HashMap::new();
        words.iter().for_each(|word| terms.entry(analyser.term(word)).or_default().push(word.position));
        AnalysedText { language: DEFAULT, length, terms: terms.into_iter().collect() }
    });
    encode(&(first..).zip(analysed).collect::<Vec<_>>())
}

#[test]
fn blocks_from_before_letters_were_written_in_one_way_are_searched_as_they_were() {
    let texts = ["وصلت السفينة رقم ٤٧٣١", "کتاب قدیمی", "臺灣的圖書館", "Unter\u{ad}nehmen in Kyritz"];
    let analyser = Terms::of(DEFAULT);
    let analysed = texts.iter().map(|text| {
        let words = former_words(text).unwrap_or_else(|| words(text));
        let mut terms: HashMap<String, Vec<u32>> = HashMap::new();
        for word in &words {
            let term = analyser.former_term(word).unwrap_or_else(|| analyser.term(word));
            terms.entry(term).or_default().push(word.position);
        }
        AnalysedText { language: DEFAULT, length: words.len() as u32, terms: terms.into_iter().collect() }
    });
    let former = encode(&(0..).zip(analysed).collect::<Vec<_>>());
    let latter = block(4, &texts);
    let former: [&[u8]; 1] = [&former];
    for (query, found_before, found_now) in [
        ("٤٧٣١", vec![0], vec![4]),
        ("4731", vec![], vec![4]),
        ("کتاب", vec![1], vec![5]),
        ("كتاب", vec![], vec![5]),
        ("圖書館", vec![2], vec![6]),
        ("\"圖書館\"", vec![2], vec![6]),
        ("\"图书馆\"", vec![], vec![6]),
        // As a slip of one letter.
        ("Unternehmen", vec![3], vec![7]),
    ] {
        assert_eq!(segments(&former, query), found_before, "{query}");
        assert_eq!(segments(&[&latter], query), found_now, "{query}");
    }
}

#[test]
fn a_number_is_found_by_any_way_to_write_it() {
    for (text, queries) in [
        ("the quilt costs €1,299.00 here", vec!["1299", "1,299", "1.299,00", "1299.00", "\"1,299.00\""]),
        ("has 1\u{a0}204\u{a0}500 bricks", vec!["1204500", "1,204,500", "1 204 500", "1.204.500,00"]),
        (
            "answers at 02079460018 all day",
            vec!["020 7946 0018", "+44 20 7946 0018", "(020) 7946-0018", "0044 (0)20 79460018"],
        ),
        (
            "answers at +49 30 5557 0142 until two",
            vec!["030 55570142", "+493055570142", "030/5557-0142", "0049 30 55570142"],
        ),
    ] {
        let value = block(0, &["another text of 7 words and 12", text, "yet another of 49 and 20"]);
        for query in queries {
            assert_eq!(segments(&[&value], query).first(), Some(&1), "{query}");
        }
    }
}

#[test]
fn blocks_from_before_wholes_had_parts_are_searched_as_they_were_also_once_merged() {
    let texts = ["see commons.wikimedia.org for the pictures", "the function readFile of snake_case", "Node.js 1,234"];
    let former = undivided_block(0, &texts);
    let latter = block(3, &texts);
    let both: [(&[u8], Dead<'_>); 2] = [(&former, Dead::default()), (&latter, Dead::default())];
    let merged = merge(&both).unwrap().unwrap();
    for (query, expected) in [
        ("commons.wikimedia.org", vec![0, 3]),
        ("wikimedia", vec![3]),
        ("readFile", vec![1, 4]),
        ("Node.js", vec![2, 5]),
        ("1,234", vec![2, 5]),
        ("\"see commons.wikimedia.org for the pictures\"", vec![0, 3]),
        ("\"function readFile of\"", vec![1, 4]),
        ("\"commons wikimedia\"", vec![3]),
    ] {
        let mut apart = segments(&[&former, &latter], query);
        assert_eq!(segments(&[&merged], query), apart, "{query}");
        apart.sort_unstable();
        assert_eq!(apart, expected, "{query}");
    }
}

#[test]
fn umlauts_are_found_by_their_transcriptions_and_the_other_way_round() {
    let german = "Das Möbiusband ist eine Fläche, die nur eine Kante und nur eine Seite hat.";
    let value = block(0, &[german, "Moebius described this strip in the year 1858."]);
    assert_eq!(segments(&[&value], "Moebiusband"), [0]);
    assert_eq!(segments(&[&value], "Flaeche"), [0]);
    assert_eq!(segments(&[&value], "Möbius"), [1]);
}
