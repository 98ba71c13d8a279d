//! A text that a model's rules have changed, and where each part of it ends in the text as it was.

#[derive(Default)]
pub struct Aligned {
    text: String,
    /// For each byte, where the character that it comes from ends.
    ends: Vec<usize>,
}

impl Aligned {
    pub fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
    }

    pub fn push(&mut self, character: char, end: usize) {
        self.text.push(character);
        self.ends.resize(self.text.len(), end);
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// Where what stands before a byte ends in the text as it was.
    pub fn end(&self, byte: usize) -> usize {
        byte.checked_sub(1).map_or(0, |last| self.ends[last])
    }
}

/// Each character of a text, with the byte at which it ends.
pub fn characters(text: &str) -> impl Iterator<Item = (char, usize)> {
    text.char_indices().map(|(at, character)| (character, at + character.len_utf8()))
}
