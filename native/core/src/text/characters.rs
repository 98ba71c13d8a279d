//! Scripts of characters, and cutting text between them.

/// Whether the letter's script has no spaces between words.
pub fn is_unspaced(letter: char) -> bool {
    matches!(letter as u32,
        0x0E00..=0x0EFF // Thai, Lao
        | 0x1000..=0x109F // Burmese
        | 0x1100..=0x11FF // Hangul letters
        | 0x1780..=0x17FF // Khmer
        | 0x3005..=0x3007 | 0x3040..=0x30FF | 0x3130..=0x318F | 0x31F0..=0x31FF // Kana
        | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF // Han
        | 0xAC00..=0xD7AF // Hangul
        | 0x20000..=0x3FFFF) // Han beyond the first plane
}

/// Whether a character is a pictograph, as emoji are: such a one is a word.
pub fn is_sign(letter: char) -> bool {
    matches!(letter, '\u{2600}'..='\u{27BF}' | '\u{1F300}'..='\u{1FAFF}')
}

/// The start of a text: at most `bytes` bytes, cut between characters.
pub fn start_of(text: &str, bytes: usize) -> &str {
    let mut end = bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
