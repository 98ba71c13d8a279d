//! Memory of one thread. It grows to the largest run, and is never read before it is written in the same run.

use super::attention::Shares;
use super::feed_forward::Inner;
use super::packed::Packed;
use super::places::Places;
use super::projection::Heads;
use super::quantised::Quantised;
use crate::encoder::lanes::isa::{LANES, Line};

#[derive(Default)]
pub struct Scratch {
    pub places: Places,
    pub ids: Vec<u32>,
    pub vectors: Vec<Line>,
    pub activations: Quantised,
    pub heads: Heads,
    pub shares: Shares,
    pub context: Vec<Line>,
    pub inner: Inner,
    pub pooled: Vec<Line>,
}

impl Scratch {
    /// Takes the texts of a run.
    pub fn prepare(&mut self, model: &Packed, texts: &[&[u32]]) {
        self.places.clear();
        self.ids.clear();
        for text in texts {
            self.places.add(text.len());
            self.ids.extend_from_slice(text);
        }
        let tokens = self.places.tokens();
        let lines = model.hidden / LANES;
        self.vectors.resize(tokens * lines, [0.0; LANES]);
        self.context.resize(tokens * lines, [0.0; LANES]);
        self.pooled.resize(lines, [0.0; LANES]);
        self.activations.resize(tokens, model.hidden);
        self.heads.resize(model, &self.places);
        self.inner.resize(tokens, model.inner());
    }
}
