//! Memory of one thread. It grows to the largest run, and is never read before it is written in the same run.

use super::aligned::Aligned;
use super::attention::Shares;
use super::feed_forward::Inner;
use super::packed::Packed;
use super::places::Places;
use super::projection::Heads;
use super::quantised::Quantised;
use crate::lanes::isa::{Isa, LANES, Line};

#[derive(Default)]
pub struct Scratch {
    pub places: Places,
    pub ids: Vec<u32>,
    pub vectors: Aligned<Line>,
    pub activations: Quantised,
    pub heads: Heads,
    pub shares: Shares,
    pub inner: Inner,
    pub pooled: Aligned<Line>,
}

impl Scratch {
    /// Takes the texts of a run.
    pub fn prepare(&mut self, texts: &[&[u32]]) {
        self.places.clear();
        self.ids.clear();
        for text in texts {
            self.places.add(text.len());
            self.ids.extend_from_slice(text);
        }
    }

    /// Makes room for the run, as the instruction set needs it.
    pub fn resize<I: Isa>(&mut self, model: &Packed) {
        let tokens = self.places.tokens();
        let lines = model.hidden / LANES;
        self.vectors.resize(tokens * lines);
        self.pooled.resize(lines);
        self.activations.resize::<I>(tokens, model.hidden);
        self.heads.resize::<I>(model, &self.places);
        self.inner.resize::<I>(tokens, model.inner());
    }
}
