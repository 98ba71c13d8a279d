//! BM25 (Robertson and Zaragoza 2009, "The Probabilistic Relevance Framework"), k1 1.2 and b .75.

use super::block::WordsBlock;
use crate::terms::language::Language;

const K1: f32 = 1.2;
const B: f32 = 0.75;

/// Statistics of the living segments of all blocks.
pub struct Collection {
    pub documents: u64,
    pub languages: Vec<Language>,
    length_mean: f32,
}

impl Collection {
    /// `dead`: the dead rows of each block.
    pub fn of(blocks: &[WordsBlock<'_>], dead: &[Vec<u32>]) -> Self {
        let (mut documents, mut length, mut languages) = (0u64, 0u64, 0u64);
        for (WordsBlock { view, .. }, dead) in blocks.iter().zip(dead) {
            documents += u64::from(view.rows());
            length += view.header.sum;
            languages |= view.header.languages;
            for row in dead {
                documents -= 1;
                length -= u64::from(view.lengths.get(*row as usize));
            }
        }
        let length_mean = if length == 0 { 1.0 } else { (length as f64 / documents.max(1) as f64) as f32 };
        Self { documents, length_mean, languages: Language::of_bits(languages).collect() }
    }

    /// Inverse document frequency of a word that `frequency` living segments have. Never negative.
    pub fn idf(&self, frequency: u64) -> f32 {
        // Two words for the same are counted twice where a segment has both.
        let (all, with) = (self.documents as f64, frequency.min(self.documents) as f64);
        (1.0 + (all - with + 0.5) / (with + 0.5)).ln() as f32
    }

    pub fn formula(&self) -> Formula {
        Formula { constant: K1 * (1.0 - B), per_length: K1 * B / self.length_mean }
    }
}

/// BM25's formula for one collection.
#[derive(Debug, Clone, Copy)]
pub struct Formula {
    constant: f32,
    per_length: f32,
}

impl Formula {
    /// The impact of a word on the score of a segment of this length that has it `count` times. It grows with the count and
    /// falls with the length.
    #[inline(always)]
    pub fn impact(self, weight: f32, count: u32, length: u32) -> f32 {
        let count = count as f32;
        weight * count * (K1 + 1.0) / (count + self.constant + self.per_length * length as f32)
    }

    /// Upper bound of [`Self::impact`] for any count and length.
    pub fn impact_max(weight: f32) -> f32 {
        weight * (K1 + 1.0)
    }
}
