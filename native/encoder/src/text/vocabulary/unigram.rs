//! Unigrams: a text is cut into the words whose logarithmic likelihoods have the largest sum (Kudo 2018, arXiv:1804.10959).

use serde::Deserialize;
use serde_json::json;

use super::aligned::{Aligned, characters};
use super::charsmap::Charsmap;
use super::file::{TokenizerFile, rules};
use super::words::Words;

/// What an unknown character costs below the least likely word (SentencePiece's `kUnkPenalty`).
const UNKNOWN_PENALTY: f64 = 10.0;
/// Before each word.
const SPACE: char = '\u{2581}';

#[derive(Deserialize)]
struct Model {
    unk_id: Option<usize>,
    vocab: Vec<(String, f64)>,
    #[serde(default)]
    byte_fallback: bool,
}

pub struct Unigram {
    words: Words,
    scores: Vec<f64>,
    unknown: u32,
    unknown_score: f64,
    normalizer: Vec<Rule>,
}

enum Rule {
    Replace(String, String),
    Charsmap(Charsmap),
}

/// The best way to an end: where its last word begins, and which one it is.
#[derive(Clone, Copy)]
struct Best {
    score: f64,
    begin: usize,
    id: u32,
}

impl Unigram {
    pub fn new(file: &TokenizerFile) -> Result<Self, String> {
        let by_spaces = rules(&file.pre_tokenizer, "pretokenizers");
        let is_metaspace = |rule: &serde_json::Value| {
            rule["type"] == "Metaspace"
                && rule["replacement"] == json!(SPACE)
                && rule.get("add_prefix_space").is_none_or(|prefix| *prefix == true)
                && rule.get("prepend_scheme").is_none_or(|scheme| scheme == "always")
                && rule.get("split").is_none_or(|split| *split == true)
        };
        if !matches!(&by_spaces[..], [first, second] if first["type"] == "WhitespaceSplit" && is_metaspace(second)) {
            return Err(format!("its words are parted by {}", file.pre_tokenizer));
        }
        let normalizer = rules(&file.normalizer, "normalizers").iter().map(Rule::new).collect::<Result<_, _>>()?;
        let model: Model = serde_json::from_str(file.model.get()).map_err(|error| error.to_string())?;
        Self::of(model, normalizer)
    }

    fn of(Model { unk_id, vocab, byte_fallback }: Model, normalizer: Vec<Rule>) -> Result<Self, String> {
        if byte_fallback {
            return Err("it has bytes in the place of an unknown word".into());
        }
        let unknown = unk_id.filter(|id| *id < vocab.len()).ok_or("it has no unknown word")? as u32;
        let words = Words::new(vocab.iter().zip(0..).map(|((word, _), id)| (word.as_str(), id)))?;
        let scores: Vec<f64> = vocab.iter().map(|(_, score)| *score).collect();
        let unknown_score = scores.iter().copied().fold(f64::INFINITY, f64::min) - UNKNOWN_PENALTY;
        Ok(Self { words, scores, unknown, unknown_score, normalizer })
    }

    /// Calls `found` with each token and where it ends.
    pub fn each(&self, text: &str, found: &mut impl FnMut(u32, usize)) {
        let mut normal = Aligned::default();
        characters(text).for_each(|(character, end)| normal.push(character, end));
        for rule in &self.normalizer {
            normal = rule.applied(&normal);
        }
        let mut word = Aligned::default();
        let mut is_inside = false;
        for (character, end) in characters(normal.text()) {
            let is_space = character.is_whitespace();
            if is_space || character == SPACE {
                self.cut(&word, found);
                word.clear();
            } else if !is_inside {
                word.push(SPACE, normal.end(end));
            }
            is_inside = !is_space;
            if is_inside {
                word.push(character, normal.end(end));
            }
        }
        self.cut(&word, found);
    }

    fn cut(&self, word: &Aligned, found: &mut impl FnMut(u32, usize)) {
        for (begin, end, id) in self.words_of(word.text()) {
            // Unknown characters together may be a word that is not reached one by one.
            let whole = if id == self.unknown { self.words.id(&word.text()[begin..end]) } else { None };
            found(whole.unwrap_or(id), word.end(end));
        }
    }

    /// Where words begin and end, with their ids; unknown characters beside each other are one word.
    fn words_of(&self, text: &str) -> Vec<(usize, usize, u32)> {
        let mut best: Vec<Option<Best>> = vec![None; text.len() + 1];
        for (begin, character) in text.char_indices() {
            let before = best[begin].map_or(0.0, |way| way.score);
            let mut knows_character = false;
            for (id, length) in self.words.beginning(&text.as_bytes()[begin..]) {
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
}

/// Equal ways leave the first.
fn reach(end: &mut Option<Best>, way: Best) {
    if end.is_none_or(|known| way.score > known.score) {
        *end = Some(way);
    }
}

impl Rule {
    fn new(given: &serde_json::Value) -> Result<Self, String> {
        let refused = || format!("its text is changed by {}", given["type"]);
        match given["type"].as_str() {
            Some("Replace") => {
                let (old, new) = (given["pattern"]["String"].as_str(), given["content"].as_str());
                Ok(Self::Replace(old.ok_or_else(refused)?.into(), new.ok_or_else(refused)?.into()))
            }
            Some("Precompiled") => given["precompiled_charsmap"]
                .as_str()
                .and_then(Charsmap::new)
                .map(Self::Charsmap)
                .ok_or_else(|| "its table of characters is damaged".into()),
            _ => Err(refused()),
        }
    }

    fn applied(&self, text: &Aligned) -> Aligned {
        let (old, new) = match self {
            Self::Charsmap(map) => return map.replaced(text),
            Self::Replace(old, new) => (old, new),
        };
        let mut replaced = Aligned::default();
        let mut reached = 0;
        let found: Vec<usize> = text.text().match_indices(old.as_str()).map(|(at, _)| at).collect();
        for at in found.into_iter().chain([text.text().len()]) {
            for (character, end) in characters(&text.text()[reached..at]) {
                replaced.push(character, text.end(reached + end));
            }
            reached = at;
            if at < text.text().len() {
                reached += old.len();
                new.chars().for_each(|character| replaced.push(character, text.end(reached)));
            }
        }
        replaced
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(unk_id: Option<usize>, byte_fallback: bool) -> Model {
        Model { unk_id, vocab: vec![("<unk>".to_owned(), 0.0), ("a".to_owned(), -1.0)], byte_fallback }
    }

    #[test]
    fn a_model_of_another_kind_is_refused() {
        assert!(Unigram::of(model(Some(0), false), vec![]).is_ok());
        for (unk_id, byte_fallback) in [(None, false), (Some(2), false), (Some(0), true)] {
            assert!(Unigram::of(model(unk_id, byte_fallback), vec![]).is_err());
        }
    }
}
