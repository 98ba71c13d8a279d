//! Token ids to vectors.

use super::norm::normalise;
use super::packed::Packed;
use super::places::Places;
use super::quantised::Quantised;
use crate::lanes::isa::{Isa, Line};

/// Writes the vector of each token, and its bytes. The ids are those of [`Places::add`]'s texts, in order.
#[inline(always)]
pub fn embed<I: Isa>(
    isa: I,
    model: &Packed,
    ids: &[u32],
    places: &Places,
    vectors: &mut [Line],
    bytes: &mut Quantised,
) {
    let width = model.hidden;
    for text in &places.texts {
        for position in 0..text.tokens {
            let token = text.start + position;
            let vector = vectors.as_flattened_mut()[token * width..][..width].as_mut();
            model.embedding.words.copy_row(ids[token] as usize, vector);
            for (element, added) in vector.iter_mut().zip(&model.embedding.positions[position * width..][..width]) {
                *element += added;
            }
        }
        normalise(isa, &model.embedding_norm, text.start..text.start + text.tokens, vectors, bytes);
    }
}
