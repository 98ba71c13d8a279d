//! Text to token ids by a model's `tokenizer.json`. Padding and truncation of the file are off; texts are cut to the
//! model's limit, which includes special tokens.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock};

use tokenizers::utils::truncation::TruncationDirection;
use tokenizers::{ModelWrapper, NormalizerWrapper, PostProcessor, PreTokenizerWrapper};

use crate::text::vocabulary::plain_words::PlainWords;
use crate::text::vocabulary::words_model::{Tokenizer, WordsModel};

/// How a model wants its text. The vocabulary is not part of it: all users of a file share that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenRules {
    /// Most tokens of a text, with special tokens.
    pub limit: usize,
    /// Whether the file's post-processor adds its special tokens.
    pub special_tokens: bool,
    /// Token ids that are left out, such as the unknown token of a static model.
    pub dropped: Vec<u32>,
}

/// A tokenizer with its rules. Cheap to clone; safe to use from several threads.
#[derive(Clone)]
pub struct TextTokenizer {
    tokenizer: Arc<Tokenizer>,
    rules: TokenRules,
    added: usize,
    keeps_plain_words: bool,
    plain: Option<Plain>,
}

/// Rules by which most words need not go through the tokenizers crate, and the special tokens around a text.
#[derive(Clone)]
struct Plain {
    words: PlainWords,
    before: Vec<u32>,
    after: Vec<u32>,
}

impl TextTokenizer {
    /// Opens a `tokenizer.json`. A file that was opened before under the same path is shared.
    pub fn open(path: &Path, rules: TokenRules) -> Result<Self, String> {
        let tokenizer = shared(path)?;
        let added = match (rules.special_tokens, tokenizer.get_post_processor()) {
            (true, Some(processor)) => processor.added_tokens(false),
            _ => 0,
        };
        if rules.limit <= added {
            return Err(format!("a limit of {} tokens leaves no room beside {added} special tokens", rules.limit));
        }
        let keeps_plain_words = keeps_plain_words(&tokenizer);
        let plain = plain(&tokenizer, rules.special_tokens)?;
        Ok(Self { tokenizer, rules, added, keeps_plain_words, plain })
    }

    /// Most tokens of a text, with special tokens.
    pub fn limit(&self) -> usize {
        self.rules.limit
    }

    /// Number of special tokens that every text gets.
    pub fn added(&self) -> usize {
        self.added
    }

    /// Token ids of a text, cut to the limit. Special tokens stay.
    pub fn encode(&self, text: &str) -> Result<Vec<u32>, String> {
        let ids = self.all_ids(text)?;
        if self.rules.dropped.is_empty() {
            return Ok(ids);
        }
        let kept: Vec<u32> = ids.iter().copied().filter(|id| !self.rules.dropped.contains(id)).collect();
        // A text of unknown words alone keeps them: an empty row has no direction.
        Ok(if kept.is_empty() { ids } else { kept })
    }

    fn all_ids(&self, text: &str) -> Result<Vec<u32>, String> {
        if let Some(Plain { words, before, after }) = &self.plain {
            let mut ids = before.clone();
            words.each(&self.tokenizer, text, &mut |id, _| ids.push(id))?;
            ids.truncate(self.rules.limit - after.len());
            ids.extend(after);
            return Ok(ids);
        }
        let fast = self.tokenizer.encode_fast(text, self.rules.special_tokens).map_err(|error| error.to_string())?;
        if fast.get_ids().len() > self.rules.limit { self.truncated(text) } else { Ok(fast.get_ids().to_vec()) }
    }

    fn truncated(&self, text: &str) -> Result<Vec<u32>, String> {
        let mut encoding = self.tokenizer.encode_fast(text, false).map_err(|error| error.to_string())?;
        encoding.truncate(self.rules.limit - self.added, 0, TruncationDirection::Right);
        let whole = self
            .tokenizer
            .post_process(encoding, None, self.rules.special_tokens)
            .map_err(|error| error.to_string())?;
        Ok(whole.get_ids().to_vec())
    }

    /// Whether the vocabulary has a word, in lower case, whole: a slip of the keys seldom makes another such word (of 5,900
    /// slips in the words of SciFact's queries 1.1 %).
    pub fn has_whole(&self, word: &str) -> Result<bool, String> {
        if self.keeps_plain_words && !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase()) {
            return Ok(self.tokenizer.token_to_id(word).is_some());
        }
        let encoding = self.tokenizer.encode_fast(word, false).map_err(|error| error.to_string())?;
        let [id] = encoding.get_ids() else { return Ok(false) };
        Ok(self.tokenizer.id_to_token(*id).is_some_and(|token| !self.is_special(&token)))
    }

    fn is_special(&self, token: &str) -> bool {
        is_special(&self.tokenizer, token)
    }

    /// Number of tokens of a whole text, with special tokens.
    pub fn count(&self, text: &str) -> Result<usize, String> {
        if let Some(plain) = &self.plain {
            let mut count = self.added;
            plain.words.each(&self.tokenizer, text, &mut |_, _| count += 1)?;
            return Ok(count);
        }
        let encoding = self.tokenizer.encode_fast(text, false).map_err(|error| error.to_string())?;
        Ok(encoding.get_ids().len() + self.added)
    }

    /// Byte offsets at which the tokens of a text end, in order, each between characters.
    pub fn ends(&self, text: &str) -> Result<Vec<usize>, String> {
        let mut ends = Vec::new();
        let mut last = 0;
        let mut found = |end: usize| {
            let mut end = end.min(text.len());
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            last = last.max(end);
            ends.push(last);
        };
        match &self.plain {
            Some(plain) => plain.words.each(&self.tokenizer, text, &mut |_, end| found(end))?,
            None => {
                let encoding = self.tokenizer.encode(text, false).map_err(|error| error.to_string())?;
                encoding.get_offsets().iter().for_each(|&(_, end)| found(end));
            }
        }
        Ok(ends)
    }
}

/// The tokenizer of a file: one copy in the process, for any number of threads.
fn shared(path: &Path) -> Result<Arc<Tokenizer>, String> {
    type Opened = Mutex<HashMap<std::path::PathBuf, Arc<Tokenizer>>>;
    static OPENED: OnceLock<Opened> = OnceLock::new();
    let path = path.canonicalize().map_err(|error| format!("{}: {error}", path.display()))?;
    let mut opened = OPENED.get_or_init(Default::default).lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    if let Some(tokenizer) = opened.get(&path) {
        return Ok(tokenizer.clone());
    }
    let mut tokenizer = Tokenizer::from_file(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    tokenizer.with_padding(None);
    tokenizer.with_truncation(None).map_err(|error| error.to_string())?;
    // "[SEP]" in a user's text is text.
    tokenizer.set_encode_special_tokens(true);
    let tokenizer = Arc::new(tokenizer);
    opened.insert(path, tokenizer.clone());
    Ok(tokenizer)
}

/// None where the file has other rules than BERT's, or puts something else around a text than tokens before and behind it.
fn plain(tokenizer: &Tokenizer, special_tokens: bool) -> Result<Option<Plain>, String> {
    let Some(words) = PlainWords::of(tokenizer) else { return Ok(None) };
    let ids = |special| -> Result<Vec<u32>, String> {
        let encoding = tokenizer.encode_fast("a", special).map_err(|error| error.to_string())?;
        Ok(encoding.get_ids().to_vec())
    };
    let (alone, whole) = (ids(false)?, ids(special_tokens)?);
    let place = whole.windows(alone.len().max(1)).position(|part| part == alone);
    Ok(place.map(|place| Plain {
        words,
        before: whole[..place].to_vec(),
        after: whole[place + alone.len()..].to_vec(),
    }))
}

fn is_special(tokenizer: &Tokenizer, token: &str) -> bool {
    tokenizer.get_added_vocabulary().is_special_token(token)
}

/// Whether a word of ASCII letters in lower case is one token if, and only if, the vocabulary has it: BERT's rules neither change nor
/// divide it, and an unknown one is a special token. To encode it takes fifty times as long as to look it up.
fn keeps_plain_words(tokenizer: &Tokenizer) -> bool {
    let WordsModel::Given(ModelWrapper::WordPiece(model)) = tokenizer.get_model() else { return false };
    matches!(tokenizer.get_normalizer(), Some(NormalizerWrapper::BertNormalizer(_)))
        && matches!(tokenizer.get_pre_tokenizer(), Some(PreTokenizerWrapper::BertPreTokenizer(_)))
        && is_special(tokenizer, &model.unk_token)
        && tokenizer
            .get_added_vocabulary()
            .get_vocab()
            .keys()
            .all(|token| token.bytes().any(|byte| !byte.is_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINILM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../models/all-MiniLM-L6-v2/tokenizer.json");

    fn open(limit: usize) -> TextTokenizer {
        TextTokenizer::open(Path::new(MINILM), TokenRules { limit, special_tokens: true, dropped: vec![] }).unwrap()
    }

    /// Ids of Python's tokenizers 0.23.3. Of 17,110 texts in many scripts none had others (2.8 million tokens).
    #[test]
    fn a_multilingual_vocabulary_gives_the_ids_of_the_reference() {
        const XLM_R: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../models/multilingual-e5-small/tokenizer.json");
        if !Path::new(XLM_R).exists() {
            return eprintln!("not run: {XLM_R} is not here");
        }
        let rules = TokenRules { limit: 256, special_tokens: true, dropped: vec![] };
        let tokenizer = TextTokenizer::open(Path::new(XLM_R), rules).unwrap();
        let cases: [(&str, &[u32]); 11] = [
            ("query: How do cats purr?", &[0, 41, 1294, 12, 11249, 54, 7515, 7, 7398, 42, 32, 2]),
            ("passage: Die Größe der Straßenbahn", &[0, 46692, 12, 622, 66461, 122, 93240, 64658, 2]),
            ("¿Dónde duerme el gato?", &[0, 3936, 397, 5800, 112, 115, 56, 282, 88, 125583, 32, 2]),
            ("Москва — столица России", &[0, 25611, 292, 187656, 8568, 2]),
            ("東京は日本の首都です。", &[0, 6, 22888, 342, 44554, 84206, 1453, 30, 2]),
            ("我喜欢吃苹果", &[0, 13129, 14999, 4011, 64046, 2]),
            ("Η Αθήνα", &[0, 1700, 49094, 2]),
            ("القاهرة", &[0, 73267, 2]),
            ("ﬁnance ½ Ⅷ ｆｕｌｌ", &[0, 82466, 78660, 32896, 4393, 2]),
            ("a\t b\n c  ", &[0, 10, 876, 501, 2]),
            ("👩\u{200d}💻 codes", &[0, 6, 244785, 6, 246382, 18151, 7, 2]),
        ];
        for (text, ids) in cases {
            assert_eq!(tokenizer.encode(text).unwrap(), ids, "{text}");
            assert_eq!(*tokenizer.ends(text).unwrap().last().unwrap(), text.trim_end().len(), "{text}");
        }
    }

    #[test]
    fn the_padding_and_truncation_of_the_file_are_off() {
        assert_eq!(open(256).encode("a tabby cat").unwrap(), [101, 1037, 21628, 3762, 4937, 102]);
        assert_eq!(open(256).encode(&"cat ".repeat(200)).unwrap().len(), 202);
    }

    #[test]
    fn a_long_text_is_cut_to_the_limit_and_keeps_its_special_tokens() {
        let ids = open(16).encode(&"cat ".repeat(500)).unwrap();
        assert_eq!((ids.len(), ids[0], ids[15]), (16, 101, 102));
    }

    #[test]
    fn a_word_is_whole_or_in_pieces() {
        let whole = ["space", "meeting", "presure", "rabits", "\u{1f6b2}", "\u{10900}", "[SEP]", ""];
        assert_eq!(
            whole.map(|word| open(256).has_whole(word).unwrap()),
            [true, true, false, false, false, false, false, false]
        );
    }

    #[test]
    fn a_plain_word_is_whole_exactly_if_it_is_encoded_so() {
        let looking_up = open(256);
        assert!(looking_up.keeps_plain_words);
        let encoding = TextTokenizer { keeps_plain_words: false, ..looking_up.clone() };
        for (word, id) in looking_up.tokenizer.get_vocab(true) {
            let halves = word.split_at(word.floor_char_boundary(word.len() / 2));
            let words =
                [word.as_str(), halves.0, halves.1, &format!("{word}{word}"), &format!("{}{}", halves.1, halves.0)];
            for word in words.into_iter().take(if id % 7 == 0 { 5 } else { 1 }) {
                assert_eq!(looking_up.has_whole(word), encoding.has_whole(word), "{word}");
            }
        }
    }

    /// Of a text of many kinds of characters, the tokens and their ends with and without the shorter way.
    #[test]
    fn plain_words_have_the_tokens_of_the_tokenizers_crate() {
        let plain = open(64);
        assert!(plain.plain.is_some());
        let given = TextTokenizer { plain: None, ..plain.clone() };
        let mut texts: Vec<String> = [
            "",
            " ",
            "\t\n",
            "Plain words, 3.14 and don't-stop: (yes)!",
            "UPPER lower mIxEd",
            "a\u{b}b c\u{7f}d \u{0}e",
            "naïve café β-catenin 東京 tower x\u{a0}y \u{301}z",
            "[CLS] [SEP] [MASK]",
            "🚲 <>=+~^`|$ ﬁnance İstanbul ΣΊΣΥΦΟΣ",
            "ends with foreign é",
            "a\r\nb\rc",
        ]
        .map(str::to_owned)
        .into();
        texts.extend([99, 100, 101, 300].map(|length| format!("b {} c", "x".repeat(length))));
        let alphabet: Vec<char> =
            "aeinrstzqAEX019 .,-'#@\t\n\r\u{b}\u{7f}\u{a0}éßñ\u{301}β東ｆﬁ🚲\u{200b}".chars().collect();
        let mut state = 20_26u64;
        for length in 0..2_000 {
            let text = (0..length % 90).map(|_| {
                // Numbers of Knuth's MMIX.
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                alphabet[(state >> 33) as usize % alphabet.len()]
            });
            texts.push(text.collect());
        }
        for text in &texts {
            assert_eq!(plain.encode(text).unwrap(), given.encode(text).unwrap(), "{text:?}");
            assert_eq!(plain.count(text).unwrap(), given.count(text).unwrap(), "{text:?}");
            assert_eq!(plain.ends(text).unwrap(), given.ends(text).unwrap(), "{text:?}");
        }
    }

    #[test]
    fn special_tokens_in_the_text_are_text() {
        assert_eq!(open(256).encode("[SEP]").unwrap().iter().filter(|&&id| id == 102).count(), 1);
    }

    #[test]
    fn token_ends_rise_and_reach_the_end_of_the_text() {
        let text = "Ümlauts, naïve cafés — and 東京 too";
        let ends = open(256).ends(text).unwrap();
        assert!(ends.windows(2).all(|pair| pair[0] <= pair[1]));
        assert_eq!(*ends.last().unwrap(), text.len());
        assert_eq!(ends.len() + 2, open(256).count(text).unwrap());
    }

    #[test]
    fn unreadable_files_and_impossible_limits_are_errors() {
        let rules = |limit| TokenRules { limit, special_tokens: true, dropped: vec![] };
        assert!(TextTokenizer::open(Path::new("/nonexistent/tokenizer.json"), rules(256)).is_err());
        assert!(TextTokenizer::open(Path::new(MINILM), rules(2)).is_err());
    }
}
