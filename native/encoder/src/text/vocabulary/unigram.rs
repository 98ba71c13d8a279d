//! A unigram model's words in a double array. The tokenizers crate keeps them in a tree of hash maps: 280 MiB for the 250,000
//! words of multilingual-e5-small, 17 here.

use tokenizers::models::TrainerWrapper;
use tokenizers::models::unigram::Unigram;
use tokenizers::{Model, ModelWrapper, Token};
use yada::DoubleArray;
use yada::builder::DoubleArrayBuilder;

/// What an unknown character costs below the least likely word (SentencePiece's `kUnkPenalty`).
const UNKNOWN_PENALTY: f64 = 10.0;

/// The model of a `tokenizer.json`, as far as it is kept here.
#[derive(serde::Deserialize)]
pub struct UnigramFile {
    unk_id: Option<usize>,
    vocab: Vec<(String, f64)>,
    #[serde(default)]
    byte_fallback: bool,
}

/// Cuts a text into the words whose logarithmic likelihoods have the largest sum (Kudo 2018, arXiv:1804.10959).
pub struct CompactUnigram {
    words: DoubleArray<Vec<u8>>,
    /// All words one after the other, and where each begins.
    letters: String,
    begins: Vec<u32>,
    scores: Vec<f64>,
    unknown: u32,
    unknown_score: f64,
}

/// The best way to an end: where its last word begins, and which one it is.
#[derive(Clone, Copy)]
struct Best {
    score: f64,
    begin: usize,
    id: u32,
}

impl CompactUnigram {
    /// None for a model of another kind: without an unknown word, or with bytes in its place.
    pub fn new(file: &UnigramFile) -> Option<Self> {
        let UnigramFile { unk_id, vocab, byte_fallback } = file;
        let unknown = unk_id.filter(|id| *id < vocab.len() && !byte_fallback)? as u32;
        let mut sorted: Vec<(&[u8], u32)> = vocab
            .iter()
            .zip(0..)
            .map(|((word, _), id)| (word.as_bytes(), id))
            .filter(|(word, _)| !word.is_empty())
            .collect();
        // Of equal words the last counts.
        sorted.sort_by(|(a, id), (b, other)| a.cmp(b).then(other.cmp(id)));
        sorted.dedup_by_key(|(word, _)| *word);
        if sorted.iter().any(|(word, _)| word.contains(&0)) {
            return None;
        }
        let words = DoubleArray::new(DoubleArrayBuilder::build(&sorted).ok()?).ok()?;
        let mut letters = String::with_capacity(vocab.iter().map(|(word, _)| word.len()).sum());
        let mut begins = Vec::with_capacity(vocab.len() + 1);
        for (word, _) in vocab {
            begins.push(letters.len() as u32);
            letters.push_str(word);
        }
        begins.push(letters.len() as u32);
        let scores: Vec<f64> = vocab.iter().map(|(_, score)| *score).collect();
        let unknown_score = scores.iter().copied().fold(f64::INFINITY, f64::min) - UNKNOWN_PENALTY;
        Some(Self { words, letters, begins, scores, unknown, unknown_score })
    }

    /// Where words begin and end, with their ids; unknown characters beside each other are one word.
    fn cut(&self, text: &str) -> Vec<(usize, usize, u32)> {
        let mut best: Vec<Option<Best>> = vec![None; text.len() + 1];
        for (begin, character) in text.char_indices() {
            let before = best[begin].map_or(0.0, |way| way.score);
            let mut knows_character = false;
            for (id, length) in self.words.common_prefix_search(&text.as_bytes()[begin..]) {
                let score = self.scores[id as usize] + before;
                reach(&mut best[begin + length], Best { score, begin, id });
                knows_character |= length == character.len_utf8();
            }
            if !knows_character {
                let score = self.unknown_score + before;
                reach(&mut best[begin + character.len_utf8()], Best { score, begin, id: self.unknown });
            }
        }
        let mut words: Vec<(usize, usize, u32)> = vec![];
        let mut end = text.len();
        while end > 0 {
            let Some(Best { begin, id, .. }) = best[end] else { break };
            match words.last_mut() {
                Some(after) if id == self.unknown && after.2 == self.unknown => after.0 = begin,
                _ => words.push((begin, end, id)),
            }
            end = begin;
        }
        words.reverse();
        words
    }

    fn id(&self, word: &str) -> Option<u32> {
        if word.is_empty() || word.as_bytes().contains(&0) {
            return None;
        }
        self.words.exact_match_search(word)
    }

    fn word(&self, id: u32) -> Option<&str> {
        let (begin, end) = (self.begins.get(id as usize)?, self.begins.get(id as usize + 1)?);
        self.letters.get(*begin as usize..*end as usize)
    }
}

/// Of equal ways the first stays.
fn reach(end: &mut Option<Best>, way: Best) {
    if end.is_none_or(|known| way.score > known.score) {
        *end = Some(way);
    }
}

impl Model for CompactUnigram {
    type Trainer = TrainerWrapper;

    fn tokenize(&self, text: &str) -> tokenizers::Result<Vec<Token>> {
        let tokens = self.cut(text).into_iter().map(|(begin, end, id)| {
            let word = &text[begin..end];
            // Unknown characters together may be a word that is not reached one by one.
            let id = if id == self.unknown { self.id(word).unwrap_or(id) } else { id };
            Token::new(id, word.to_owned(), (begin, end))
        });
        Ok(tokens.collect())
    }

    fn token_to_id(&self, token: &str) -> Option<u32> {
        self.id(token)
    }

    fn id_to_token(&self, id: u32) -> Option<String> {
        self.word(id).map(str::to_owned)
    }

    fn get_vocab(&self) -> std::collections::HashMap<String, u32> {
        (0..self.scores.len() as u32).filter_map(|id| Some((self.word(id)?.to_owned(), id))).collect()
    }

    fn get_vocab_size(&self) -> usize {
        self.scores.len()
    }

    fn save(&self, _: &std::path::Path, _: Option<&str>) -> tokenizers::Result<Vec<std::path::PathBuf>> {
        Err("a compact model is only read".into())
    }

    fn get_trainer(&self) -> Self::Trainer {
        ModelWrapper::Unigram(Unigram::default()).get_trainer()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn beside(vocab: Vec<(String, f64)>) -> (CompactUnigram, Unigram) {
        let file = UnigramFile { unk_id: Some(0), vocab: vocab.clone(), byte_fallback: false };
        (CompactUnigram::new(&file).unwrap(), Unigram::from(vocab, Some(0), false).unwrap())
    }

    proptest! {
        #[test]
        fn words_are_those_of_the_reference(
            words in prop::collection::vec(("[abé東]{1,4}", -9.0..-0.5f64), 0..40),
            ties in any::<bool>(),
            texts in prop::collection::vec("[abcé東▁]{0,24}", 1..8),
        ) {
            let mut vocab = vec![("<unk>".to_owned(), 0.0)];
            vocab.extend(words.into_iter().map(|(word, score)| (word, if ties { score.round() } else { score })));
            let (compact, reference) = beside(vocab);
            for text in texts {
                prop_assert_eq!(compact.tokenize(&text).unwrap(), reference.tokenize(&text).unwrap());
            }
            for (word, id) in reference.get_vocab() {
                prop_assert_eq!(compact.token_to_id(&word), Some(id));
                prop_assert_eq!(compact.id_to_token(id), reference.id_to_token(id));
            }
        }
    }

    #[test]
    fn words_of_the_shipped_vocabulary_are_those_of_the_reference() {
        const SHIPPED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../models/multilingual-e5-small/tokenizer.json");
        let Ok(json) = std::fs::read_to_string(SHIPPED) else { return eprintln!("not run: {SHIPPED} is not here") };
        #[derive(serde::Deserialize)]
        struct File {
            model: UnigramFile,
        }
        let File { model } = serde_json::from_str(&json).unwrap();
        let reference = Unigram::from(model.vocab.clone(), model.unk_id, model.byte_fallback).unwrap();
        let compact = CompactUnigram::new(&model).unwrap();
        // Words in each other's place: every word, beside others that begin or end as it does.
        for (at, (word, _)) in model.vocab.iter().enumerate().step_by(61) {
            let other = &model.vocab[(at * 31) % model.vocab.len()].0;
            let text = format!("{word}{other}\u{10fffd}{}", &word[word.ceil_char_boundary(word.len() / 2)..]);
            assert_eq!(compact.tokenize(&text).unwrap(), reference.tokenize(&text).unwrap(), "{text}");
        }
    }

    #[test]
    fn a_model_of_another_kind_is_left_to_the_reference() {
        let vocab = vec![("<unk>".to_owned(), 0.0), ("a".to_owned(), -1.0)];
        for (unk_id, byte_fallback) in [(None, false), (Some(2), false), (Some(0), true)] {
            assert!(CompactUnigram::new(&UnigramFile { unk_id, vocab: vocab.clone(), byte_fallback }).is_none());
        }
    }
}
