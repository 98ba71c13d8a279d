//! Words with their numbers, in a double array: 18 MiB for the 250,000 of multilingual-e5-small, where hash maps took 280.

use yada::DoubleArray;
use yada::builder::DoubleArrayBuilder;

pub struct Words(DoubleArray<Vec<u8>>);

impl Words {
    /// Of equal words the last counts.
    pub fn new<'a>(words: impl Iterator<Item = (&'a str, u32)>) -> Result<Self, String> {
        let mut sorted: Vec<(&[u8], u32)> =
            words.filter(|(word, _)| !word.is_empty()).map(|(word, id)| (word.as_bytes(), id)).collect();
        sorted.sort_by(|(a, id), (b, other)| a.cmp(b).then(other.cmp(id)));
        sorted.dedup_by_key(|(word, _)| *word);
        if sorted.iter().any(|(word, _)| word.contains(&0)) {
            return Err("a word has a character NUL".into());
        }
        if sorted.is_empty() {
            return Err("it has no words".into());
        }
        let bytes = DoubleArrayBuilder::build(&sorted).map_err(|error| error.to_string())?;
        Ok(Self(DoubleArray::new(bytes).map_err(|error| error.to_string())?))
    }

    /// The words that a text begins with, shorter ones first, each with its length in bytes.
    pub fn beginning<'a>(&'a self, text: &'a [u8]) -> impl Iterator<Item = (u32, usize)> + 'a {
        self.0.common_prefix_search(text)
    }

    pub fn id(&self, word: &str) -> Option<u32> {
        if word.as_bytes().contains(&0) { None } else { self.0.exact_match_search(word) }
    }
}
