//! The vectors of a text's tokens to one, of unit length.

use super::norm::sum_of;
use super::places::Text;
use crate::bert::weights::Pooling;
use crate::lanes::isa::{Isa, LANES, Line};

/// Writes the text's vector. One without a direction becomes a fixed one.
#[inline(always)]
pub fn pool<I: Isa>(isa: I, pooling: Pooling, text: &Text, vectors: &[Line], to: &mut [Line]) {
    let lines = to.len();
    let tokens = match pooling {
        Pooling::Mean => text.start..text.start + text.tokens,
        Pooling::First => text.start..text.start + 1,
        Pooling::Last => text.start + text.tokens - 1..text.start + text.tokens,
    };
    for (line, to) in to.iter_mut().enumerate() {
        let mut sum = isa.splat(0.0);
        for token in tokens.clone() {
            sum = isa.add(sum, isa.load(&vectors[token * lines + line]));
        }
        // Scaling to unit length cancels the mean's divisor.
        isa.store(sum, to);
    }
    let squares = sum_of(
        isa,
        to,
        #[inline(always)]
        |sum, line| isa.fma(line, line, sum),
    );
    let length = isa.sum(squares).sqrt();
    if length == 0.0 {
        to.as_flattened_mut().fill(1.0 / ((lines * LANES) as f32).sqrt());
        return;
    }
    let length = isa.splat(1.0 / length);
    for line in to {
        isa.store(isa.mul(isa.load(line), length), line);
    }
}
