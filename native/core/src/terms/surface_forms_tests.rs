use proptest::prelude::*;

use super::*;

/// Wholes in brackets.
fn written(text: &str) -> Vec<String> {
    let shown = |word: &Word| if word.form == Form::Whole { format!("[{}]", word.text) } else { word.text.clone() };
    words(text).iter().map(shown).collect()
}

fn length(text: &str) -> usize {
    words(text).iter().filter(|word| word.counts).count()
}

#[test]
fn identifiers_and_addresses_are_found_whole_and_by_their_parts() {
    for (text, expected) in [
        ("snake_case_name", vec!["[snake_case_name]", "snake", "case", "name"]),
        ("camelCase", vec!["[camelcase]", "camel", "case"]),
        ("HTTPServer", vec!["[httpserver]", "http", "server"]),
        ("mRNA iPhone DNAs", vec!["mrna", "iphone", "dnas"]),
        ("commons.wikimedia.org", vec!["[commons.wikimedia.org]", "commons", "wikimedia", "org"]),
        ("see Node.js.", vec!["see", "[node.js]", "node", "js"]),
        ("ann@b.org", vec!["[ann@b.org]", "ann", "[b.org]", "b", "org"]),
        ("/usr/local/bin", vec!["[usr/local/bin]", "usr", "local", "bin"]),
        ("std::env", vec!["[std::env]", "std", "env"]),
        ("C++ and C#, F# C+", vec!["[c++]", "c", "and", "[c#]", "c", "[f#]", "f", "c"]),
    ] {
        assert_eq!(written(text), expected, "{text}");
    }
    let address = written("(https://a.b.org/wiki/File:Red_fox.jpg?x=1)");
    assert_eq!(address[0], "[https://a.b.org/wiki/file:red_fox.jpg?x=1]");
    for part in ["a", "b", "org", "wiki", "file", "red", "fox", "jpg", "[a.b.org]"] {
        assert!(address.contains(&part.to_owned()), "{part}");
    }
}

#[test]
fn numbers_dates_and_part_numbers_are_found_whole_and_by_their_parts() {
    for (text, expected) in [
        ("1,234,567", vec!["[1,234,567]", "[1234567]", "1", "234", "567"]),
        ("3.14", vec!["[3.14]", "3", "14"]),
        ("2024-05-17", vec!["[20240517]", "2024", "05", "17"]),
        ("17.05.2024", vec!["[17.05.2024]", "17", "05", "2024"]),
        ("XK-200-B", vec!["[xk200b]", "xk", "200", "b"]),
        ("10:30", vec!["[10:30]", "10", "30"]),
        ("2026-03-12T08:30", vec!["[20260312]", "2026", "03", "12", "[08:30]", "08", "30"]),
        ("20260312t083000", vec!["20260312", "083000"]),
        ("120260312T0830", vec!["120260312t0830"]),
        ("U.S.A", vec!["[u.s.a]", "[usa]", "u", "s", "a"]),
    ] {
        assert_eq!(written(text), expected, "{text}");
    }
}

#[test]
fn a_number_is_found_whatever_its_marks_and_its_parts_count_once() {
    for (text, expected) in [
        ("€1,299.00", vec!["[1,299.00]", "[1299]", "[1299.00]", "1", "299", "00"]),
        ("has 1 204 bricks", vec!["has", "[1204]", "1", "204", "bricks"]),
        ("1'204'500", vec!["[1'204'500]", "[1204500]", "1", "204", "500"]),
        ("1\u{a0}204\u{a0}500", vec!["[1204500]", "1", "204", "500"]),
        ("call +44 20 7946 0018 now", vec!["call", "[2079460018]", "44", "20", "7946", "0018", "now"]),
        ("at 02079460018", vec!["at", "[2079460018]", "02079460018"]),
        ("٤٧٣١", vec!["4731"]),
    ] {
        assert_eq!(written(text), expected, "{text}");
    }
    assert_eq!(length("call +44 20 7946 0018 now"), 3);
}

#[test]
fn what_shows_nothing_is_no_part_of_a_word_and_a_seam_divides_and_joins() {
    assert_eq!(written("Unter\u{ad}nehmens\u{2060}gründer"), ["unternehmensgründer"]);
    assert_eq!(written("Bram\u{200b}ble"), ["[bramble]", "bram", "ble"]);
    assert_eq!(written("کتاب\u{200c}های"), ["[کتابهای]", "کتاب", "های"]);
}

#[test]
fn words_that_are_merely_joined_stay_words() {
    assert_eq!(written("a well-known e-mail"), ["a", "[wellknown]", "well", "known", "[email]", "e", "mail"]);
    assert_eq!(
        written("and/or, end -- begin, wait...what, it's"),
        ["and", "or", "end", "begin", "wait", "what", "it's"]
    );
    assert_eq!(written("state-of-the-art"), ["state", "of", "the", "art"]);
}

#[test]
fn a_whole_counts_once_for_the_length_of_its_text() {
    assert_eq!(length("https://commons.wikimedia.org/wiki/File:Red_fox.jpg"), 1);
    assert_eq!(length("snake_case 2024-05-17 1,234 C++"), 4);
    assert_eq!(length("a well-known word"), 4);
    assert_eq!(length("東京都"), 2);
}

#[test]
fn the_mark_of_a_footnote_is_no_part_of_a_word_and_a_power_is() {
    assert_eq!(
        written("Maraj\u{e0}³ Walberswick¹², 40 km² of CO₂"),
        ["maraj\u{e0}", "walberswick", "40", "km2", "of", "co2"]
    );
}

#[test]
fn text_without_spaces_becomes_pairs_and_singles() {
    let of = |text: &str| words(text).into_iter().map(|word| (word.text, word.position)).collect::<Vec<_>>();
    let expected = [("东", 0), ("东京", 0), ("京", 1), ("京都", 1), ("都", 2)];
    assert_eq!(of("東京都"), expected.map(|(text, at)| (text.to_owned(), at)));
    assert_eq!(of("ab 猫 cd"), [("ab", 0), ("猫", 1), ("cd", 2)].map(|(text, at)| (text.to_owned(), at)));
    assert_eq!(of("猫、犬").len(), 2);
}

proptest! {
    #[test]
    fn positions_never_fall_and_parts_take_one_each(text in "[a-zA-Z0-9._/:@#+ 東京-]{0,60}|[0-9 .,'()/+\u{200b}\u{a0}-]{0,40}|\\PC{0,40}") {
        let mut last = 0;
        for word in words(&text) {
            prop_assert!(word.position >= last && word.text.len() <= TERM_BYTES_MAX && !word.text.is_empty());
            last = word.position;
        }
    }
}
