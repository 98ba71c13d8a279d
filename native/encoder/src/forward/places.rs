//! Where the tokens of a run's texts stand.

use crate::lanes::tile::COLUMNS;

/// A text of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Text {
    /// Its first token among those of the run.
    pub start: usize,
    pub tokens: usize,
    /// The same with every text rounded up to whole blocks of 32 keys.
    pub padded_start: usize,
}

impl Text {
    /// Tokens, rounded up to whole blocks of keys.
    pub fn padded(&self) -> usize {
        self.tokens.next_multiple_of(COLUMNS)
    }
}

/// The texts of a run, back to back.
#[derive(Debug, Default)]
pub struct Places {
    pub texts: Vec<Text>,
    /// Text of each token.
    pub of_token: Vec<u32>,
    pub padded_tokens: usize,
}

impl Places {
    pub fn clear(&mut self) {
        self.texts.clear();
        self.of_token.clear();
        self.padded_tokens = 0;
    }

    pub fn add(&mut self, tokens: usize) {
        let text = Text { start: self.of_token.len(), tokens, padded_start: self.padded_tokens };
        self.of_token.resize(text.start + tokens, self.texts.len() as u32);
        self.padded_tokens += text.padded();
        self.texts.push(text);
    }

    pub fn tokens(&self) -> usize {
        self.of_token.len()
    }
}
