//! Alternatives for words that the index has not as they are written, and the names that a text lacks.

use super::{block, relaxed, segments};
use crate::blocks::dead::Dead;
use crate::ranking::options::SearchOptions;
use crate::ranking::rating::Rating;
use crate::terms::spelt_right::SpeltRight;
use crate::words::block::WordsBlock;
use crate::words::postings::PostingsView;
use crate::words::rank::{ResolvedQuery, search, search_telling};
use crate::words::rating::rate;

/// The hits of a misspelt query, and the query as it was understood.
fn understood(texts: &[&str], query: &str) -> (Vec<u32>, Option<String>) {
    let value = block(0, texts);
    let views = [WordsBlock { view: PostingsView::read(&value).unwrap(), dead: Dead::default() }];
    let ranking = search(&views, query, None, &SearchOptions::best(100)).unwrap();
    (ranking.hits.iter().map(|hit| hit.segment).collect(), ranking.corrected)
}

#[test]
fn what_is_spelt_right_is_no_slip() {
    let value = block(0, &["the snow melts", "spare parts"]);
    let views = [WordsBlock { view: PostingsView::read(&value).unwrap(), dead: Dead::default() }];
    let corrected = |query: &str, spelt_right: &[&str]| {
        let spelt_right: Vec<String> = spelt_right.iter().map(ToString::to_string).collect();
        let spelt_right = SpeltRight::by(move |word, _| Ok(spelt_right.iter().any(|right| right == word)));
        let asked = ResolvedQuery::new(query, None, spelt_right);
        search_telling(&views, &asked, &SearchOptions::best(10), &|_| Ok(None)).unwrap().corrected
    };
    assert_eq!(corrected("Space snwo", &[]), Some("spare snwo".into()));
    assert_eq!(corrected("Space", &["space"]), None);
    assert_eq!(corrected("Meeting", &["meeting"]), None);
    assert_eq!(corrected("Space spaer", &["space"]), Some("Space spare".into()));
}

#[test]
fn a_word_that_stands_nowhere_by_itself_is_found_in_compounds() {
    let texts = [
        "Die Wasserversorgungsanlage im Keller ist neu und sie läuft ohne Störung",
        "Die Haftpflichtversicherung ist nicht für den Mietwagen",
        "Er hat sich an dem Schenkel und an der Ferse verletzt, die Anleitung ist weg",
    ];
    let value = block(0, &texts);
    let views = [WordsBlock { view: PostingsView::read(&value).unwrap(), dead: Dead::default() }];
    let found = |query: &str| -> Vec<u32> {
        let knows = |word: &str, _: &[String]| Ok(["wasser", "an"].contains(&word));
        let asked = ResolvedQuery::new(query, None, SpeltRight::by(knows));
        let ranking = search_telling(&views, &asked, &SearchOptions::best(10), &|_| Ok(None)).unwrap();
        assert_eq!(ranking.corrected, None, "{query}");
        ranking.hits.iter().map(|hit| hit.segment).collect()
    };
    assert_eq!(found("Versorgung"), [0], "behind a word that is known");
    assert_eq!(found("Haftpflicht"), [1], "at its beginning");
    assert_eq!(found("Versicherung"), [1], "at its end, behind a long word");
    assert_eq!(found("Wasser"), [0], "although its stem is short");
    assert_eq!(found("Enkel"), [] as [u32; 0], "behind letters that are no word");
    assert_eq!(found("Leitung"), [] as [u32; 0], "behind a preposition");
    let english = block(0, &["the bookkeeping of the harbour was in order and it was neat"]);
    let views = [WordsBlock { view: PostingsView::read(&english).unwrap(), dead: Dead::default() }];
    assert!(search(&views, "Keeping", None, &SearchOptions::best(10)).unwrap().hits.is_empty());
}

#[test]
fn names_are_found_with_and_without_their_apostrophe() {
    let texts = ["Mr O'Halloran signed the lease", "and OBrien was there", "d’Arcy was not"];
    for (query, found) in
        [("Halloran", 0), ("OHalloran", 0), ("O’Halloran", 0), ("O'Brien", 1), ("DArcy", 2), ("Arcy", 2)]
    {
        assert_eq!(understood(&texts, query).0, [found], "{query}");
    }
}

#[test]
fn a_pictograph_is_a_word_where_a_query_has_no_others() {
    let texts = ["the zoo posted 🦩, its sign", "harvest 🌙🌾", "a sign of the harvest"];
    assert_eq!(understood(&texts, "🦩").0, [0]);
    assert_eq!(understood(&texts, "🌾 🌙").0, [1]);
    assert_eq!(understood(&texts, "🦩 harvest").0, understood(&texts, "harvest").0);
    assert_eq!(understood(&texts, "\"posted its\"").0, [0], "it has no place among words");
}

#[test]
fn of_words_that_are_as_near_and_as_frequent_the_first_is_meant() {
    let texts = ["new boots", "some bolts", "two boats", "three bouts"];
    for _ in 0..8 {
        assert_eq!(understood(&texts, "boqts").1.as_deref(), Some("boat"));
    }
}

#[test]
fn slips_in_words_are_forgiven_where_nothing_is_written_like_that() {
    let texts = [
        "the Fibonacci numbers count rabbits",
        "blood pressure of adults",
        "an owl at night",
        "order 4711234",
        "two boats were taken by men",
    ];
    for (query, found, corrected) in [
        ("Fibbonaci rabits", vec![0], Some("fibonacci rabbit")),
        ("blood presure", vec![1], Some("blood pressur")),
        ("bloood pressrue", vec![1], Some("blood pressur")),
        ("blood pressure", vec![1], None),
        ("baots", vec![4], Some("boat")),
        ("tkaen", vec![4], Some("taken")),
        ("metting", vec![], None),
        ("olw", vec![], None),
        ("4711235", vec![], None),
        ("\"blood presure\"", vec![1], None),
        ("\"presure\"", vec![], None),
    ] {
        let (segments, shown) = understood(&texts, query);
        assert_eq!(segments, found, "{query}");
        assert_eq!(shown.as_deref(), corrected, "{query}");
    }
}

#[test]
fn a_word_that_stands_anywhere_is_never_changed() {
    let long = "filler ".repeat(30);
    let rare = format!("{long} Smithu");
    let mut texts = vec!["Smith Smith Smith"; 60];
    texts.push(&rare);
    assert_eq!(understood(&texts, "Smithu"), (vec![60], None));
}

#[test]
fn a_slip_keeps_the_first_letter_and_is_one_as_the_words_are_written() {
    let texts = [
        "man darf dort im Gras liegen und der See liegt unten",
        "der Termin bei Halvorsen ist um neun und nicht um zehn",
    ];
    assert_eq!(understood(&texts, "darf ich fliegen").1, None);
    assert_eq!(understood(&texts, "Termin bei Ahlvorsen").1.as_deref(), Some("Termin bei halvors"), "swapped letters");
    let value = block(0, &["alle Kinder sind da und spielen mit dem Ball im Garten"]);
    let views = [WordsBlock { view: PostingsView::read(&value).unwrap(), dead: Dead::default() }];
    let corrected = |written: &'static str| {
        let asked = ResolvedQuery::new("wo sind die Kindre", None, SpeltRight::default());
        search_telling(&views, &asked, &SearchOptions::best(10), &|_| Ok(Some(written.into()))).unwrap().corrected
    };
    assert_eq!(corrected("kinder").as_deref(), Some("wo sind die kinder"));
    assert_eq!(corrected("kinderlein"), None, "only the stems are alike");
}

#[test]
fn a_phrase_that_stands_nowhere_is_relaxed_to_its_words() {
    let texts = ["the annual report of the harbour", "a report, annual or not", "the harbour keeper"];
    let value = block(0, &texts);
    let views = [WordsBlock { view: PostingsView::read(&value).unwrap(), dead: Dead::default() }];
    let found = |query: &str| {
        let ranking = search(&views, query, None, &SearchOptions::best(10)).unwrap();
        let mut segments: Vec<u32> = ranking.hits.iter().map(|hit| hit.segment).collect();
        segments.sort_unstable();
        (segments, ranking.relaxed)
    };
    assert_eq!(found("\"annual report\""), (vec![0], vec![]));
    assert_eq!(found("\"report annual keeper\""), (vec![0, 1, 2], vec!["report annual keeper".to_owned()]));
    assert_eq!(found("\"harbour keeper\" \"keeper harbour\""), (vec![2], vec!["keeper harbour".to_owned()]));
    assert_eq!(found("\"annual report\" \"harbour keeper\""), (vec![], vec![]), "each stands somewhere");
}

#[test]
fn a_language_without_stemmer_is_found_by_its_words_as_they_are() {
    let polish = "Rząd przedstawił wczoraj nową ustawę, która ma być ochroną dla przyrody, ale nie tylko tam.";
    let value = block(0, &[polish, "The government presented a new law for the protection of nature yesterday."]);
    assert_eq!(segments(&[&value], "ustawę o ochroną przyrody"), [0]);
    assert_eq!(segments(&[&value], "laws protecting nature"), [1]);
}

#[test]
fn scripts_without_spaces_are_found_by_pairs_and_by_single_characters() {
    let value = block(0, &["東京都に住む黒猫", "京都の寺", "白い犬"]);
    assert_eq!(segments(&[&value], "東京"), [0]);
    assert_eq!(segments(&[&value], "猫"), [0]);
    assert_eq!(segments(&[&value], "\"京都の寺\""), [1]);
}

#[test]
fn odd_queries_find_nothing() {
    let value = block(0, &["plain text"]);
    for query in ["", "\"", "\"\"\"", "   ", "!!!", "\u{0}", &"\"a ".repeat(5_000), &"x".repeat(200_000)] {
        assert_eq!(segments(&[&value], query), [] as [u32; 0]);
    }
    assert_eq!(segments(&[], "text"), [] as [u32; 0]);
}

/// Whether each text lacks something that the query names.
fn lack(texts: &[&str], query: &str) -> Vec<bool> {
    lacked(texts, query).into_iter().map(|lacks| lacks > 0.0).collect()
}

/// The share of the query's information that is in what it names and that each text lacks.
fn lacked(texts: &[&str], query: &str) -> Vec<f32> {
    let rating = rated(texts, query, SpeltRight::default());
    assert!(rating.lacks.iter().all(|lacks| (0.0..=1.0).contains(lacks)), "{query}");
    rating.lacks
}

fn rated(texts: &[&str], query: &str, spelt_right: SpeltRight) -> Rating {
    let bytes = block(0, texts);
    let blocks = [WordsBlock { view: PostingsView::read(&bytes).unwrap(), dead: Dead::default() }];
    let segments: Vec<u32> = (0..texts.len() as u32).collect();
    let query = ResolvedQuery::new(query, None, spelt_right);
    rate(&blocks, &query, (&segments, None), |_, _| Ok(None), &|_| Ok(None)).unwrap()
}

#[test]
fn known_words_of_a_query_stand_in_texts_of_another_language_by_coincidence() {
    let spanish = [
        "El capital de la empresa no se ha usado para los gastos de este mes, que era lo que se dijo en la junta.",
        "La orden de libpthread para que los hilos del proceso no se bloqueen es la que se usa en el sistema.",
        "El plan de Valencia es el que se hizo con la ayuda de todos los que viven en la ciudad y en el campo.",
        "El valor de INVALID no se usa para los datos que se leen de un fichero que no es el de la orden.",
    ];
    let english = "The capital of the company was not used for the plan that we made with them in the city.";
    let known = |words: &'static [&'static str]| SpeltRight::by(move |word, _| Ok(words.contains(&word)));
    let shares = |texts: &[&str], query: &str| {
        rated(texts, query, known(&["capital", "plan", "valencia", "invalid", "where", "thread"])).coincidental
    };
    for (query, expected) in [
        ("where is the capital of it", [1.0, 0.0, 0.0, 0.0]),
        ("where is the libpthread of this", [0.0; 4]),
        ("where is the town of Valencia in it", [0.0; 4]),
        ("what is the valencia of it", [0.0, 0.0, 1.0, 0.0]),
        ("what is the INVALID of it", [0.0; 4]),
        ("capital", [0.0; 4]),
        ("cuál es el capital de la empresa", [0.0; 4]),
    ] {
        assert_eq!(shares(&spanish, query), expected, "{query}");
    }
    let share = shares(&spanish, "where is the plan of Valencia")[2];
    assert!(share > 0.0 && share < 1.0, "the name is none: {share}");
    let mixed = |of: usize| [&spanish[..2], &vec![english; of]].concat();
    assert_eq!(shares(&mixed(1), "where is the capital of it")[0], 1.0);
    assert_eq!(shares(&mixed(2), "where is the capital of it"), [0.0; 4], "half of the texts are in its language");
}

#[test]
fn where_something_that_is_nowhere_is_all_that_is_asked_everything_is_lacking() {
    let texts = ["Invoice 4473 of Brandt Roofing", "a letter"];
    for query in ["invoice 4472", "4472", "the Roofing invoice 4472"] {
        assert_eq!(lacked(&texts, query), [1.0, 1.0], "{query}");
    }
    assert_eq!(lacked(&["part XK-200", "200 of XK"], "part XK-300"), [1.0, 1.0]);
    assert_eq!(lacked(&texts, "invoice 4473"), [0.0, lacked(&texts, "invoice 4473")[1]]);
    assert_eq!(lacked(&texts, "a letter of Halvorsen"), [1.0, 1.0]);
    let question = "which slates did the roofing firm send to Halvorsen in the autumn";
    assert_eq!(lacked(&texts, question), [1.0, 1.0], "a name found nowhere leaves the question unanswered");
    let query = "which roofing firm sent Brandt an invoice 4472 for the slates";
    assert!(lacked(&texts, query)[0] < 1.0, "more is asked");
    assert!(lacked(&["invoice 4473", "4472 metres"], "invoice 4472")[0] < 1.0, "it is somewhere else");
}

#[test]
fn a_relative_of_what_is_named_lacks_it() {
    let text = "Invoice RE-2026-0417 of 2026-03-12 for XK-200-B, v2.3.0, 192.168.1.7, to nordin@example.org, plan_2024.pdf, \
                phone +49 431 5567788, 3f2b8c1e-9a4d-4e5f-8b6a-7c2d1e0f9a8b, 8 of 1 in 31 days";
    for query in [
        "XK-300",
        "price of the pump XK-300",
        "RE-2026-0499",
        "halvorsen@example.org",
        "2026-03-14",
        "v2.3.1",
        "192.168.1.8",
        "plan_2025.pdf",
        "5567799",
        "+49 431 5567799",
        "3f2b8c1e-9a4d-4e5f-8b6a-111111111111",
    ] {
        assert_eq!(lack(&[text], query), [true], "{query}");
    }
    for query in [
        "XK-200-B",
        "xk200b",
        "XK 200 B",
        "the invoice RE-2026-0417",
        "0417",
        "nordin@example.org",
        "2026-03-12",
        "12.03.2026",
        "v2.3.0",
        "plan_2024.pdf",
        "5567788",
        "+49 431 5567788",
        "0431 5567788",
        "3f2b8c1e-9a4d-4e5f-8b6a-7c2d1e0f9a8b",
    ] {
        assert_eq!(lack(&[text], query), [false], "{query}");
    }
}

#[test]
fn parts_in_order_are_the_whole_and_scattered_short_ones_are_not() {
    assert_eq!(lack(&["IL 6 rises", "6 of 9, il", "IL-6"], "IL-6"), [false, true, false]);
    assert_eq!(lack(&["about node js", "js node"], "node.js"), [false, true]);
    assert_eq!(lack(&["the final report 2025", "the final report 2024"], "report-2025"), [false, true]);
}

#[test]
fn a_text_lacks_a_name_that_it_has_not_nor_a_word_that_begins_with_it() {
    let query = "how tall is the Eiffel tower";
    assert_eq!(lack(&["a tower of granite", "the Eiffel tower"], query), [true, false]);
    assert_eq!(lack(&["a tower of granite", "der Eiffelturm"], query), [true, false]);
    assert_eq!(lack(&["the Eifel tower"], query), [false], "a slip");
    assert_eq!(lack(&["gulls at dawn"], "who watches birds in the morning"), [false], "nothing is named");
    let german = ["der Hund bekommt morgens das Futter und ist dann nicht mehr da"];
    assert_eq!(lack(&german, "wie viel Futter bekommt Rasputin morgens"), [true], "a noun of no language");
    assert_eq!(lack(&german, "wie viel Futter bekommt der Hund morgens"), [false]);
}

#[test]
fn a_date_is_found_in_the_other_ways_of_writing_it() {
    let texts = ["on 2026-03-12", "on 12.03.2026", "on 12.3.2026", "on 2026-12-03", "on 2026-03-13"];
    for query in &texts[..3] {
        let found = segments(&[&block(0, &texts)], query);
        assert_eq!(
            found[..3].iter().copied().collect::<std::collections::BTreeSet<u32>>(),
            [0, 1, 2].into(),
            "{query}"
        );
    }
}

#[test]
fn words_are_found_as_they_are_joined_and_apart() {
    let texts = ["a scatterplot of heights", "the scatter plot of weights", "a plot and a scatter", "a car, my pet"];
    assert_eq!(segments(&[&block(0, &texts[..1])], "scatter plot"), [0]);
    let mut apart = segments(&[&block(0, &texts[1..3])], "scatterplot");
    apart.sort_unstable();
    assert_eq!(apart, [0, 1]);
    assert_eq!(
        segments(&[&block(0, &texts[3..])], "carpet"),
        [0u32; 0],
        "halves that are nowhere side by side are chance"
    );
}

#[test]
fn a_word_is_found_in_its_possessive_and_behind_an_article_of_another_language() {
    let italian =
        "Il poeta inglese visse a Londra e la casa di Blake's Hotel era nella strada dei pittori; Ursula's Farm no.";
    assert_eq!(segments(&[&block(0, &[italian])], "Blake"), [0]);
    assert_eq!(segments(&[&block(0, &[italian])], "Ursula"), [0]);
    let texts = ["the raison d'etre of this house", "l'eau"];
    assert_eq!(segments(&[&block(0, &texts)], "etre"), [0]);
    assert_eq!(relaxed(&block(0, &texts), "\"etre of this\""), ["etre of this"], "a phrase is as it is written");
    let both = ["the raison d'etre of this house", "etre ou ne pas etre in an English text"];
    assert_eq!(segments(&[&block(0, &both)], "etre"), [1], "what has the word itself is meant");
}
