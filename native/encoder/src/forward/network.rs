//! The whole forward pass.

use super::attention::attend;
use super::embedding::embed;
use super::feed_forward::feed_forward;
use super::linear::{AddTo, multiply};
use super::norm::normalise;
use super::packed::{Packed, PackedLayer};
use super::pooling::pool;
use super::projection::Project;
use super::scratch::Scratch;
use crate::lanes::isa::{Isa, LANES, Pass};
use crate::lanes::kernel::Kernel;

/// Encodes the texts of one run together.
///
/// `texts` are token ids with their special tokens; `out` gets `texts.len()` vectors of the model's width, of unit
/// length, one after the other.
///
/// # Panics
/// If a text is empty or longer than the model's positions, an id is not below its words, or `out` has another size.
pub fn encode(kernel: Kernel, model: &Packed, texts: &[&[u32]], scratch: &mut Scratch, out: &mut [f32]) {
    assert_eq!(out.len(), texts.len() * model.hidden, "one vector for each text");
    for text in texts {
        assert!((1..=model.tokens_max()).contains(&text.len()), "a text has 1 to {} tokens", model.tokens_max());
        assert!(text.iter().all(|id| (*id as usize) < model.words()), "ids are below {}", model.words());
    }
    if texts.is_empty() {
        return;
    }
    scratch.prepare(texts);
    kernel.run(Network { model, scratch, out });
}

struct Network<'a> {
    model: &'a Packed,
    scratch: &'a mut Scratch,
    out: &'a mut [f32],
}

impl Pass for Network<'_> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let Self { model, scratch, out } = self;
        scratch.resize::<I>(model);
        let Scratch { places, ids, vectors, activations, .. } = &mut *scratch;
        embed(isa, model, ids, places, vectors, activations);
        for layer in &model.layers {
            through(isa, model, layer, scratch);
        }
        for (text, out) in scratch.places.texts.iter().zip(out.chunks_exact_mut(model.hidden)) {
            pool(isa, model.pooling, text, &scratch.vectors, &mut scratch.pooled);
            out.copy_from_slice(scratch.pooled.as_flattened());
        }
    }
}

/// One layer: the tokens' vectors and bytes become those after it.
#[inline(always)]
fn through<I: Isa>(isa: I, model: &Packed, layer: &PackedLayer, scratch: &mut Scratch) {
    let Scratch { places, vectors, activations, heads, shares, inner, .. } = scratch;
    let (tokens, lines) = (places.tokens(), model.hidden / LANES);
    let mut project = Project { heads: model.heads, scale: layer.scale, places, into: heads };
    multiply(isa, 0..tokens, activations, &model.panels, &layer.projections, &mut project);
    attend(isa, model, places, heads, shares, activations);
    multiply(isa, 0..tokens, activations, &model.panels, &layer.attention_output, &mut AddTo { vectors, lines });
    normalise(isa, &layer.attention_norm, 0..tokens, vectors, activations);
    feed_forward(isa, &model.panels, layer, 0..tokens, activations, inner, vectors);
    normalise(isa, &layer.output_norm, 0..tokens, vectors, activations);
}
