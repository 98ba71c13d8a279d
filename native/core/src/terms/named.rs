//! Names in a query: identifiers, addresses, numbers, dates, names of persons and places. A text that answers may have
//! other words than the query, but it has the same names.

use std::collections::HashSet;

use unicode_segmentation::UnicodeSegmentation;

use super::language::Language;
use super::surface_forms::{Form, Word, lowered, normalised};

/// Letters and digits from which on a number, or a part of a whole, is told from chance.
pub const TELLING_LETTERS: usize = 3;
/// Letters from which on a word with a capital is taken for a name.
const NAME_LETTERS: usize = 4;

/// Something that is named, in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// It as written in one, where it has several parts, in all forms that the index has of it.
    pub wholes: Vec<String>,
    /// Its parts in order: one for a number or a name.
    pub parts: Vec<Word>,
    /// Wholes within it: `example.org` of a mail address.
    pub inner: Vec<String>,
    pub kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Written in one, or a number alone.
    Code,
    /// Numbers beside each other: of a telephone, an account.
    Numbers,
    /// A word with a capital inside the sentence.
    Name,
    /// The same where all nouns have one: a name if nobody knows the word.
    Noun,
}

/// The names in a query, and the nouns that may be names. `words`: its words. `language`: its language.
pub fn named(text: &str, words: &[Word], language: Language) -> Vec<Named> {
    let (names, of_capital) = (names(text), if language.has_capital_nouns() { Kind::Noun } else { Kind::Name });
    let mut all: Vec<Named> = vec![];
    let mut numbers: Vec<(Word, Vec<String>)> = vec![];
    for group in words.chunk_by(|left, right| left.group == right.group) {
        let spaced: Vec<Word> = group.iter().filter(|word| word.form == Form::Spaced).cloned().collect();
        if let [number] = &spaced[..]
            && has_digit(&number.text)
        {
            let wholes = group.iter().filter(|word| word.form == Form::Whole && word.parts == 1);
            numbers.push((number.clone(), wholes.map(|word| word.text.clone()).collect()));
            continue;
        }
        all.extend(of_numbers(std::mem::take(&mut numbers)));
        if group.iter().any(|word| word.form == Form::Whole && word.counts) {
            let is_whole = |word: &&Word| word.counts || word.parts == 1;
            let (wholes, inner): (Vec<&Word>, Vec<&Word>) =
                group.iter().filter(|word| word.form == Form::Whole).partition(is_whole);
            let texts = |words: Vec<&Word>| words.into_iter().map(|word| word.text.clone()).collect();
            all.push(Named { wholes: texts(wholes), parts: spaced, inner: texts(inner), kind: Kind::Code });
            continue;
        }
        let names = spaced.into_iter().filter(|word| names.contains(&word.text));
        all.extend(names.map(|name| Named { wholes: vec![], parts: vec![name], inner: vec![], kind: of_capital }));
    }
    all.extend(of_numbers(numbers));
    all
}

/// Numbers that follow each other, if one of them is long enough to tell something. Each with what it may be together with those
/// behind it.
fn of_numbers(numbers: Vec<(Word, Vec<String>)>) -> Option<Named> {
    let kind = if numbers.len() > 1 { Kind::Numbers } else { Kind::Code };
    let tells = numbers.iter().any(|(number, _)| is_telling(&number.text));
    let (parts, wholes): (Vec<Word>, Vec<Vec<String>>) = numbers.into_iter().unzip();
    tells.then_some(Named { wholes: wholes.concat(), parts, inner: vec![], kind })
}

pub fn has_digit(word: &str) -> bool {
    word.chars().any(char::is_numeric)
}

/// Whether a part is long enough that it is not found by chance.
pub fn is_telling(word: &str) -> bool {
    word.chars().count() >= TELLING_LETTERS
}

/// The words, in lower case, that have a capital and do not begin a sentence. None if all words have one, as in a title.
fn names(text: &str) -> HashSet<String> {
    let text = normalised(text);
    let (mut names, mut has_small, mut end) = (HashSet::new(), false, 0);
    for (at, word) in text.unicode_word_indices() {
        let before = text[end..at].trim_end();
        let inside = end > 0 && (before.is_empty() || before.ends_with([',', ';']));
        let mut letters = word.chars();
        let has_capital = letters.next().is_some_and(char::is_uppercase);
        has_small |= inside && !has_capital;
        if inside && has_capital && word.chars().count() >= NAME_LETTERS && letters.all(char::is_lowercase) {
            names.insert(lowered(word));
        }
        end = at + word.len();
    }
    if has_small { names } else { HashSet::new() }
}

#[cfg(test)]
mod tests {
    use super::super::surface_forms::words;
    use super::*;

    fn of(code: &str, text: &str) -> Vec<String> {
        let shown = |named: Named| {
            let parts: Vec<&str> = named.parts.iter().map(|part| part.text.as_str()).collect();
            let mark = match named.kind {
                Kind::Name => "!",
                Kind::Noun => "?",
                _ => "",
            };
            format!("{}:{}{mark}", named.wholes.join("|"), parts.join("|"))
        };
        named(text, &words(text), Language::by_code(code).unwrap()).into_iter().map(shown).collect()
    }

    #[test]
    fn identifiers_addresses_numbers_and_dates_are_named() {
        for (text, expected) in [
            ("pump XK-300 price", vec!["xk300:xk|300"]),
            ("invoice RE-2026-0499", vec!["re20260499:re|2026|0499"]),
            ("mail from halvorsen@example.org", vec!["halvorsen@example.org:halvorsen|example|org"]),
            ("read_config 1,234,567", vec!["read_config:read|config", "1,234,567|1234567:1|234|567"]),
            ("2026-03-14 or 0499, C++", vec!["20260314:2026|03|14", ":0499", "c++:c"]),
            ("IL-6 and an e-mail", vec!["il6:il|6"]),
            ("call +49 431 5567788, or 12 or 305", vec!["4315567788:49|431|5567788", ":305"]),
            ("1 204 bricks of 02079460018", vec!["1204:1|204", "2079460018:02079460018"]),
            ("5 well-known words and/or 12", vec![]),
        ] {
            assert_eq!(of("eng", text), expected, "{text}");
        }
    }

    #[test]
    fn names_have_a_capital_inside_a_sentence_where_nouns_have_none() {
        assert_eq!(of("eng", "How tall is the Eiffel tower?"), [":eiffel!"]);
        assert_eq!(of("eng", "where was Anna Kowalska born. Then what"), [":anna!", ":kowalska!"]);
        assert_eq!(of("eng", "Annual Report Summary"), [""; 0]);
        assert_eq!(of("eng", "the DNA of mRNA"), [""; 0]);
        assert_eq!(of("deu", "wo schläft die Katze"), [":katze?"]);
    }
}
