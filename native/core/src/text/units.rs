//! Bytes of a text as UTF-16 units, in which JavaScript counts.

/// Bytes between two counts that are kept.
const STEP: usize = 64;

/// Converts between bytes of a text and UTF-16 units.
pub struct Units<'a> {
    text: &'a str,
    /// Units before each 64th byte. Empty if bytes and units are the same.
    before: Vec<u32>,
}

impl<'a> Units<'a> {
    pub fn of(text: &'a str) -> Self {
        let mut before = vec![];
        if !text.is_ascii() {
            let mut units = 0;
            before.extend(text.as_bytes().chunks(STEP).map(|bytes| {
                let first = units;
                units += units_of(bytes);
                first
            }));
        }
        Self { text, before }
    }

    /// Units before a byte that is the first of a character, or before the text's end.
    pub fn at(&self, byte: usize) -> usize {
        let Some(last) = self.before.len().checked_sub(1) else { return byte };
        let step = last.min(byte / STEP);
        (self.before[step] + units_of(&self.text.as_bytes()[step * STEP..byte])) as usize
    }

    /// Start of the character that has a unit, or the text's end. Never between the halves of a character.
    pub fn byte(&self, unit: usize) -> usize {
        let Some(step) = self.before.partition_point(|before| *before as usize <= unit).checked_sub(1) else {
            return unit.min(self.text.len());
        };
        let mut units = self.before[step] as usize;
        let mut bytes = self.text.bytes().enumerate().skip(step * STEP);
        let mut has_unit = |first: u8| {
            units += units_of_first(first) as usize;
            units > unit
        };
        bytes.find(|(_, first)| has_unit(*first)).map_or(self.text.len(), |(byte, _)| byte)
    }
}

fn units_of(bytes: &[u8]) -> u32 {
    bytes.iter().map(|byte| units_of_first(*byte)).sum()
}

/// The units of the character that starts with a byte; 0 for a byte within a character.
fn units_of_first(byte: u8) -> u32 {
    u32::from(byte & 0xC0 != 0x80) + u32::from(byte >= 0xF0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn bytes_and_units_are_each_others(parts in prop::collection::vec(prop_oneof!["[ -~]{0,80}", "[é鳥😀𝒜]{0,40}"], 0..6)) {
            let text = parts.concat();
            let units = Units::of(&text);
            let mut before = 0;
            for (byte, letter) in text.char_indices() {
                prop_assert_eq!(units.at(byte), before);
                for unit in before..before + letter.len_utf16() {
                    prop_assert_eq!(units.byte(unit), byte);
                }
                before += letter.len_utf16();
            }
            prop_assert_eq!(units.at(text.len()), before);
            prop_assert_eq!(units.byte(before), text.len());
            prop_assert_eq!(units.byte(before + 100), text.len());
        }
    }
}
