use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::text::tokenize::{TextTokenizer, TokenRules};

fn model(limit: usize) -> Measure {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/all-MiniLM-L6-v2/tokenizer.json");
    let rules = TokenRules { limit, special_tokens: true, dropped: vec![] };
    Measure::Model { tokenizer: TextTokenizer::open(Path::new(path), rules).unwrap(), prefix: String::new() }
}

fn block(text: &str, page: Option<u32>, heading: Option<&str>) -> Block {
    Block { text: text.to_owned(), start: 0, page, heading: heading.map(str::to_owned) }
}

fn utf16_slice(text: &str, start: u32, end: u32) -> String {
    let units: Vec<u16> = text.encode_utf16().collect();
    String::from_utf16(&units[start as usize..end as usize]).unwrap()
}

fn without_space(text: &str) -> String {
    text.chars().filter(|character| !character.is_whitespace()).collect()
}

#[test]
fn a_short_text_is_one_passage_with_its_title() {
    let passages = cut(&model(256), Some(" The  title "), &[block("  One sentence.  ", None, None)]);
    assert_eq!(passages.len(), 1);
    assert_eq!(passages[0].words, "The title\nOne sentence.");
    assert_eq!((passages[0].char_start, passages[0].char_end), (2, 15));
}

#[test]
fn passages_end_at_sentences_and_have_nearly_equal_lengths() {
    let text = "The cat sat on the mat and looked at the moon. ".repeat(40);
    let passages = cut(&model(256), None, &[block(&text, None, None)]);
    assert_eq!(passages.len(), 2);
    assert!(passages.iter().all(|passage| passage.text.ends_with("moon.")));
    assert!(passages[0].text.len().abs_diff(passages[1].text.len()) < 100);
}

#[test]
fn a_wrapped_line_does_not_end_a_sentence_and_a_list_entry_does() {
    let wrapped = "The cat sat on\nthe mat and looked\nat the moon. ".repeat(20);
    let passages = cut(&model(64), None, &[block(&wrapped, None, None)]);
    assert!(passages.iter().all(|passage| passage.text.ends_with("moon.")));
    let list = "- the first of all the entries\n".repeat(30);
    let passages = cut(&model(64), None, &[block(&list, None, None)]);
    assert!(passages.iter().all(|passage| passage.text.starts_with("- the")));
}

#[test]
fn passages_never_span_pages_and_offsets_count_from_the_page() {
    let more = Block { start: 13, ..block("More of it.", Some(1), Some("Two")) };
    let blocks = [block("First page.", Some(1), None), more, block("Next page.", Some(2), None)];
    let passages = cut(&model(256), Some("T"), &blocks);
    let places: Vec<_> = passages.iter().map(|passage| (passage.page, passage.char_start)).collect();
    assert_eq!(places, [(Some(1), 0), (Some(1), 13), (Some(2), 0)]);
    assert_eq!(passages[1].heading.as_deref(), Some("Two"));
}

#[test]
fn a_sentence_over_the_limit_is_cut_between_words_and_a_word_over_it_between_tokens() {
    let sentence = "unbelievable miscommunication ".repeat(200);
    let measure = model(64);
    let passages = cut(&measure, None, &[block(&sentence, None, None)]);
    for passage in &passages {
        assert!(measure.fits(&passage.words));
        assert!(passage.text.split_whitespace().all(|word| ["unbelievable", "miscommunication"].contains(&word)));
    }
    let word = "x1".repeat(40_000);
    let passages = cut(&measure, None, &[block(&word, None, None)]);
    assert_eq!(passages.iter().map(|passage| passage.text.as_str()).collect::<String>(), word);
    assert!(passages.iter().all(|passage| measure.fits(&passage.words) && passage.text.len() <= 1024));
}

#[test]
fn a_title_takes_at_most_a_quarter() {
    let title = "A very long title indeed ".repeat(100);
    let measure = model(64);
    let passages = cut(&measure, Some(&title), &[block(&"Some words here. ".repeat(40), None, None)]);
    assert!(passages.iter().all(|passage| measure.fits(&passage.words)));
    let head = passages[0].words.split('\n').next().unwrap();
    assert!(measure.tokens(head) <= 16 && head.ends_with(|character: char| character.is_alphabetic()));
}

#[test]
fn words_are_counted_if_no_model_is_installed() {
    let passages = cut(&Measure::Words { limit: 20 }, None, &[block(&"One two three four. ".repeat(20), None, None)]);
    assert!(passages.len() >= 5 && passages.iter().all(|passage| passage.text.ends_with("four.")));
}

#[test]
fn an_empty_document_has_no_passages() {
    assert!(cut(&model(256), Some("Title"), &[]).is_empty());
    assert!(cut(&model(256), Some("Title"), &[block(" \n\n ", Some(1), None)]).is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
    #[test]
    fn passages_cover_the_whole_text_in_order_within_the_limit(
        words in prop::collection::vec("[a-zäöü]{1,14}|[A-Z][a-z]{1,5}\\.|\\n\\n|\\n- |東京都。|🙂|\u{7}|é\u{301}|[0-9.,!?]{1,5}|[^\u{0}]{1,3}", 0..300),
        title in prop::option::of("[A-Za-z ]{0,60}"),
        limit in 16usize..80,
        by_words in any::<bool>(),
    ) {
        let text = words.join(" ");
        let measure = if by_words { Measure::Words { limit } } else { model(limit) };
        let passages = cut(&measure, title.as_deref(), &[block(&text, None, Some("H"))]);
        let mut reached = 0;
        let mut all = String::new();
        for passage in &passages {
            prop_assert!(measure.fits(&passage.words), "over the limit: {:?}", passage.words);
            prop_assert!(passage.char_start >= reached && passage.char_end > passage.char_start);
            prop_assert_eq!(&utf16_slice(&text, passage.char_start, passage.char_end), &passage.text);
            prop_assert!(passage.words.ends_with(&passage.text));
            reached = passage.char_end;
            all.push_str(&passage.text);
        }
        prop_assert_eq!(without_space(&all), without_space(&text));
    }
}
