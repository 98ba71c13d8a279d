//! Text to token ids by a model's `tokenizer.json`. Padding and truncation of the file are off; texts are cut to the
//! model's limit, which includes special tokens.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::vocabulary::bert::Bert;
use super::vocabulary::clip::Clip;
use super::vocabulary::file::{Around, TokenizerFile};
use super::vocabulary::unigram::Unigram;

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
}

/// A `tokenizer.json`, opened.
struct Tokenizer {
    vocabulary: Vocabulary,
    around: Around,
}

enum Vocabulary {
    Bert(Bert),
    Unigram(Unigram),
    Clip(Box<Clip>),
}

impl TextTokenizer {
    /// Opens a `tokenizer.json`. A file that was opened before under the same path is shared.
    pub fn open(path: &Path, rules: TokenRules) -> Result<Self, String> {
        let opened = Self { tokenizer: shared(path)?, rules };
        let (limit, added) = (opened.limit(), opened.added());
        if limit <= added {
            return Err(format!("a limit of {limit} tokens leaves no room beside {added} special tokens"));
        }
        Ok(opened)
    }

    /// Most tokens of a text, with special tokens.
    pub fn limit(&self) -> usize {
        self.rules.limit
    }

    /// Number of special tokens that every text gets.
    pub fn added(&self) -> usize {
        let Around { before, after } = &self.tokenizer.around;
        if self.rules.special_tokens { before.len() + after.len() } else { 0 }
    }

    /// Token ids of a text, cut to the limit. Special tokens stay.
    pub fn encode(&self, text: &str) -> Vec<u32> {
        let ids = self.all_ids(text);
        if self.rules.dropped.is_empty() {
            return ids;
        }
        let kept: Vec<u32> = ids.iter().copied().filter(|id| !self.rules.dropped.contains(id)).collect();
        // A text of unknown words alone keeps them: an empty row has no direction.
        if kept.is_empty() { ids } else { kept }
    }

    fn all_ids(&self, text: &str) -> Vec<u32> {
        let mut ids = vec![];
        let Around { before, after } = &self.tokenizer.around;
        let special = self.rules.special_tokens;
        if special {
            ids.extend(before);
        }
        self.tokenizer.vocabulary.each(text, |id, _| ids.push(id));
        if special {
            ids.truncate(self.rules.limit - after.len());
            ids.extend(after);
        } else {
            ids.truncate(self.rules.limit);
        }
        ids
    }

    /// Number of tokens of a whole text, with special tokens.
    pub fn count(&self, text: &str) -> usize {
        let mut count = self.added();
        self.tokenizer.vocabulary.each(text, |_, _| count += 1);
        count
    }

    /// Byte offsets at which the tokens of a text end, in order, each between characters.
    pub fn ends(&self, text: &str) -> Vec<usize> {
        let mut ends = vec![];
        self.tokenizer.vocabulary.each(text, |_, end| ends.push(end));
        ends
    }
}

impl Vocabulary {
    /// Calls `found` with each token of a text, without special tokens, and the byte at which it ends. "[SEP]" in a text is text.
    fn each(&self, text: &str, mut found: impl FnMut(u32, usize)) {
        match self {
            Self::Bert(bert) => bert.each(text, &mut found),
            Self::Unigram(unigram) => unigram.each(text, &mut found),
            Self::Clip(clip) => clip.each(text, &mut found),
        }
    }
}

/// The tokenizer of a file: one copy in the process, for any number of threads.
fn shared(path: &Path) -> Result<Arc<Tokenizer>, String> {
    type Opened = Mutex<HashMap<PathBuf, Arc<Tokenizer>>>;
    static OPENED: OnceLock<Opened> = OnceLock::new();
    let explained = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let path = path.canonicalize().map_err(|error| explained(&error))?;
    let mut opened = OPENED.get_or_init(Default::default).lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(tokenizer) = opened.get(&path) {
        return Ok(tokenizer.clone());
    }
    let json = std::fs::read_to_string(&path).map_err(|error| explained(&error))?;
    let tokenizer = Arc::new(read(&json).map_err(|error| explained(&error))?);
    opened.insert(path, tokenizer.clone());
    Ok(tokenizer)
}

fn read(json: &str) -> Result<Tokenizer, String> {
    let file: TokenizerFile = serde_json::from_str(json).map_err(|error| error.to_string())?;
    let vocabulary = match file.kind().as_deref() {
        Some("WordPiece") => Vocabulary::Bert(Bert::new(&file)?),
        Some("Unigram") => Vocabulary::Unigram(Unigram::new(&file)?),
        Some("BPE") => Vocabulary::Clip(Box::new(Clip::new(&file)?)),
        other => return Err(format!("its model is {}", other.unwrap_or("not named"))),
    };
    file.refuse_plain_tokens()?;
    Ok(Tokenizer { vocabulary, around: file.around()? })
}

#[cfg(test)]
mod tests {
    use unicode_normalization::is_nfc;

    use super::super::vocabulary::whole_words::whole_words;
    use super::*;

    const MINILM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/all-MiniLM-L6-v2/tokenizer.json");
    const XLM_R: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/multilingual-e5-small/tokenizer.json");
    /// CLIP's rules with the first 600 of its merges.
    const CLIP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/tokens/clip.json");
    const GOLDEN: &str = include_str!("../../fixtures/tokens/golden.json");

    fn rules(limit: usize) -> TokenRules {
        TokenRules { limit, special_tokens: true, dropped: vec![] }
    }

    fn open(limit: usize) -> TextTokenizer {
        TextTokenizer::open(Path::new(MINILM), rules(limit)).unwrap()
    }

    /// A text, its tokens, and where each ends in bytes.
    type GoldenText = (String, Vec<u32>, Vec<usize>);

    /// Texts with the tokens of the tokenizers crate 0.22.2, and where they end. Of 60,000 random texts more, most characters alone and
    /// in words among them, none had other tokens in the shipped vocabularies; in CLIP's 54 had, with characters younger than Unicode 13.
    #[test]
    fn tokens_and_their_ends_are_those_of_the_reference() {
        let golden: HashMap<String, Vec<GoldenText>> = serde_json::from_str(GOLDEN).unwrap();
        for (name, path) in [("minilm", MINILM), ("e5", XLM_R), ("clip-small", CLIP)] {
            if !Path::new(path).exists() {
                eprintln!("not run: {path} is not here");
                continue;
            }
            let tokenizer = TextTokenizer::open(Path::new(path), rules(1000)).unwrap();
            for (text, ids, ends) in &golden[name] {
                assert_eq!(tokenizer.encode(text), *ids, "{name}: {text:?}");
                // The crate ends a composed letter before its marks.
                if name != "clip-small" || is_nfc(text) {
                    assert_eq!(tokenizer.ends(text), *ends, "{name}: {text:?}");
                }
                assert_eq!(tokenizer.count(text), ids.len(), "{name}: {text:?}");
            }
        }
    }

    #[test]
    fn the_padding_and_truncation_of_the_file_are_off() {
        assert_eq!(open(256).encode("a tabby cat"), [101, 1037, 21628, 3762, 4937, 102]);
        assert_eq!(open(256).encode(&"cat ".repeat(200)).len(), 202);
    }

    #[test]
    fn a_long_text_is_cut_to_the_limit_and_keeps_its_special_tokens() {
        let ids = open(16).encode(&"cat ".repeat(500));
        assert_eq!((ids.len(), ids[0], ids[15]), (16, 101, 102));
    }

    #[test]
    fn tokens_may_be_left_out_but_not_all() {
        let rules = TokenRules { limit: 16, special_tokens: false, dropped: vec![100] };
        let tokenizer = TextTokenizer::open(Path::new(MINILM), rules).unwrap();
        assert_eq!(tokenizer.encode("cat \u{1f6b2}"), [4937]);
        assert_eq!(tokenizer.encode("\u{1f6b2}"), [100]);
    }

    #[test]
    fn the_whole_words_of_a_vocabulary_are_no_pieces_of_words() {
        let words = whole_words(Path::new(MINILM)).unwrap();
        let has = ["space", "meeting", "presure", "rabits", "##ing", "[SEP]", ""]
            .map(|word| words.iter().any(|own| own == word));
        assert_eq!(has, [true, true, false, false, false, false, false]);
        assert!(whole_words(Path::new("/nonexistent/tokenizer.json")).is_err());
    }

    #[test]
    fn unreadable_files_and_impossible_limits_are_errors() {
        assert!(TextTokenizer::open(Path::new("/nonexistent/tokenizer.json"), rules(256)).is_err());
        assert!(TextTokenizer::open(Path::new(MINILM), rules(2)).is_err());
    }

    #[test]
    fn files_of_another_kind_are_refused_with_the_reason() {
        let bytes = std::fs::read_to_string(CLIP).unwrap();
        for (old, new, reason) in [
            ("\"BPE\"", "\"WordLevel\"", "its model is WordLevel"),
            ("\"Lowercase\"", "\"NFD\"", "other rules than CLIP's"),
            ("\"RobertaProcessing\"", "\"ByteLevel\"", "its post-processor"),
            ("\"special\":true", "\"special\":false", "not special"),
        ] {
            assert!(bytes.contains(old), "{old}");
            assert!(read(&bytes.replace(old, new)).err().unwrap().contains(reason), "{reason}");
        }
    }
}
