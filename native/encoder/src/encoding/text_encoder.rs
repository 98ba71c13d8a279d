//! Texts to vectors: tokenised, packed into runs, and encoded.

use std::path::Path;
use std::sync::Arc;

use super::clock::thread_milliseconds;
use super::model::Model;
use crate::bert::matched::Description;
use crate::forward::network::encode;
use crate::forward::scratch::Scratch;
use crate::onnx::refusal::{Matched, Refusal, require};
use crate::text::tokenize::{TextTokenizer, TokenRules};

/// A run takes texts until it has this many tokens: with more, a product gains nothing, and its values leave the second
/// cache. A text with more tokens is a run by itself.
const RUN_TOKENS: usize = 256;

/// A model with its tokenizer. Cheap to clone; safe to use from several threads.
#[derive(Clone)]
pub struct TextEncoder {
    model: Arc<Model>,
    tokenizer: TextTokenizer,
}

/// The vectors of some texts.
#[derive(Debug, Default)]
pub struct Encoded {
    /// One vector of unit length for each text, one after the other.
    pub vectors: Vec<f32>,
    pub runs: u32,
    pub tokens: u32,
    /// Milliseconds of the thread; 0 where the system does not tell.
    pub milliseconds: f64,
}

impl TextEncoder {
    /// Opens a model and its `tokenizer.json`.
    ///
    /// # Errors
    /// Why this encoder does not run them, for the operator.
    pub fn open(model: &Path, description: &Description, tokenizer: &Path, rules: TokenRules) -> Matched<Self> {
        let limit = rules.limit;
        let tokenizer = TextTokenizer::open(tokenizer, rules).map_err(Refusal)?;
        let model = Model::open(model, description)?;
        let most = model.packed.tokens_max();
        require(limit <= most, || format!("its texts have up to {limit} tokens, and its positions end at {most}"))?;
        Ok(Self { model, tokenizer })
    }

    /// Name of the kernel that runs it.
    pub fn kernel(&self) -> &'static str {
        self.model.kernel.name
    }

    /// Elements of a vector.
    pub fn dimensions(&self) -> usize {
        self.model.packed.hidden
    }

    /// Most tokens that it takes of a text.
    pub fn limit(&self) -> usize {
        self.tokenizer.limit()
    }

    /// Encodes texts, each after the prefix and cut to the limit.
    ///
    /// # Errors
    /// Tokens that are not the model's.
    pub fn encode(&self, texts: &[impl AsRef<str>], prefix: &str, scratch: &mut Scratch) -> Result<Encoded, String> {
        let begun = thread_milliseconds();
        let ids = texts.iter().map(|text| self.tokens(text.as_ref(), prefix)).collect::<Result<Vec<_>, _>>()?;
        let width = self.dimensions();
        let mut encoded = Encoded { vectors: vec![0.0; texts.len() * width], ..Encoded::default() };
        let mut start = 0;
        while start < ids.len() {
            let run: Vec<&[u32]> = run_of(&ids[start..]).iter().map(Vec::as_slice).collect();
            let end = start + run.len();
            encode(
                self.model.kernel,
                &self.model.packed,
                &run,
                scratch,
                &mut encoded.vectors[start * width..end * width],
            );
            encoded.runs += 1;
            encoded.tokens += run.iter().map(|text| text.len() as u32).sum::<u32>();
            start = end;
        }
        if let (Some(begun), Some(ended)) = (begun, thread_milliseconds()) {
            encoded.milliseconds = ended - begun;
        }
        Ok(encoded)
    }

    fn tokens(&self, text: &str, prefix: &str) -> Result<Vec<u32>, String> {
        let ids = match prefix {
            "" => self.tokenizer.encode(text),
            _ => self.tokenizer.encode(&format!("{prefix}{text}")),
        };
        let words = self.model.packed.words();
        if ids.is_empty() || ids.iter().any(|id| *id as usize >= words) {
            return Err("The tokens of a text are not those of its model.".into());
        }
        Ok(ids)
    }
}

/// The texts that go into one run: the first, and more while they have few tokens.
fn run_of(ids: &[Vec<u32>]) -> &[Vec<u32>] {
    let mut tokens = 0;
    let fitting = ids.iter().take_while(|text| {
        tokens += text.len();
        tokens <= RUN_TOKENS
    });
    let count = fitting.count().max(1);
    &ids[..count]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_texts_share_runs_and_long_ones_have_their_own() {
        let runs = |lengths: &[usize]| {
            let ids: Vec<Vec<u32>> = lengths.iter().map(|length| vec![1; *length]).collect();
            let (mut left, mut counts) = (&ids[..], Vec::new());
            while !left.is_empty() {
                let run = run_of(left);
                counts.push(run.len());
                left = &left[run.len()..];
            }
            counts
        };
        assert_eq!(runs(&[10; 30]), [25, 5]);
        assert_eq!(runs(&[256, 256, 200, 56, 1]), [1, 1, 2, 1]);
        assert_eq!(runs(&[]), [0; 0]);
    }
}
