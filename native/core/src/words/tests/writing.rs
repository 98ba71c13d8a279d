//! One thing written in several ways.

use super::{block, relaxed, segments};
use crate::terms::surface_forms::{Form, words};

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
    assert_eq!(relaxed(&value, "\"2026-03-14\" \"2026-03-12\""), ["2026-03-14"]);
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
fn umlauts_are_found_by_their_transcriptions_and_the_other_way_round() {
    let german = "Das Möbiusband ist eine Fläche, die nur eine Kante und nur eine Seite hat.";
    let value = block(0, &[german, "Moebius described this strip in the year 1858."]);
    assert_eq!(segments(&[&value], "Moebiusband"), [0]);
    assert_eq!(segments(&[&value], "Flaeche"), [0]);
    assert_eq!(segments(&[&value], "Möbius"), [1]);
}
