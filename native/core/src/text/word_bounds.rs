//! Where the words of a text are. Words are letters, digits and marks in a row, also where between them is what shows nothing,
//! such as a soft hyphen; in scripts without spaces each character is a word, and so is a pictograph.

use unicode_normalization::char::is_combining_mark;

use super::characters::{is_sign, is_unspaced};
use super::letters::{SEAM, is_ignorable};

/// Bytes that one number has a bit for.
const BLOCK: usize = 64;

/// A bit for each byte of a text: whether it is in a word, and whether a word starts there.
pub struct WordBounds {
    inside: Vec<u64>,
    starts: Vec<u64>,
    bytes: usize,
}

impl WordBounds {
    pub fn of(text: &str) -> Self {
        let (blocks, rest) = text.as_bytes().as_chunks();
        let mut inside: Vec<u64> = Vec::with_capacity(blocks.len() + 1);
        inside.extend(blocks.iter().map(words_of_ascii));
        if !rest.is_empty() {
            let mut block = [0; BLOCK];
            block[..rest.len()].copy_from_slice(rest);
            inside.push(words_of_ascii(&block));
        }
        let mut starts = vec![0; inside.len()];
        if !text.is_ascii() {
            add_others(text, &mut inside, &mut starts);
        }
        let mut before = 0;
        for (inside, start) in inside.iter().zip(&mut starts) {
            *start = inside & (*start | !(inside << 1 | before));
            before = inside >> (BLOCK - 1);
        }
        Self { inside, starts, bytes: text.len() }
    }

    /// The bytes at which words start, ascending.
    pub fn starts(&self) -> impl Iterator<Item = usize> {
        let mut blocks = self.starts.iter();
        let (mut bits, mut next) = (0u64, 0);
        std::iter::from_fn(move || {
            while bits == 0 {
                bits = *blocks.next()?;
                next += BLOCK;
            }
            let bit = bits.trailing_zeros() as usize;
            bits &= bits - 1;
            Some(next - BLOCK + bit)
        })
    }

    /// The byte after a word that starts at a byte.
    pub fn end(&self, start: usize) -> usize {
        let next = start + 1;
        for block in next / BLOCK..self.inside.len() {
            let from = if block == next / BLOCK { u64::MAX << (next % BLOCK) } else { u64::MAX };
            let ends = (!self.inside[block] | self.starts[block]) & from;
            if ends != 0 {
                return self.bytes.min(block * BLOCK + ends.trailing_zeros() as usize);
            }
        }
        self.bytes
    }
}

/// Which bytes are letters or digits of ASCII.
fn words_of_ascii(block: &[u8; BLOCK]) -> u64 {
    // In two steps; compilers vectorise the first.
    let is_in_word =
        block.map(|byte| u8::from((byte | 0x20).wrapping_sub(b'a') < 26) | u8::from(byte.wrapping_sub(b'0') < 10));
    let eights = is_in_word.as_chunks::<8>().0.iter().enumerate();
    eights.map(|(at, eight)| gathered(u64::from_le_bytes(*eight)) << (8 * at)).sum()
}

/// The lowest bits of eight bytes, whose other bits are 0, beside each other.
fn gathered(bytes: u64) -> u64 {
    // Each factor carries one bit to the highest byte.
    bytes.wrapping_mul(0x0102_0408_1020_4080) >> 56
}

/// Adds the characters beyond ASCII. Where a word starts although the byte before is in one, its bit is set in `starts`.
fn add_others(text: &str, inside: &mut [u64], starts: &mut [u64]) {
    let set = |bits: &mut [u64], byte: usize| {
        if let Some(block) = bits.get_mut(byte / BLOCK) {
            *block |= 1 << (byte % BLOCK);
        }
    };
    for (start, letter) in text.char_indices().filter(|(_, letter)| !letter.is_ascii()) {
        let end = start + letter.len_utf8();
        let is_in_word = if shows_nothing(letter) {
            is_within_word(&text[..start], &text[end..])
        } else {
            letter.is_alphanumeric() || is_combining_mark(letter) || is_sign(letter)
        };
        if !is_in_word {
            continue;
        }
        (start..end).for_each(|byte| set(inside, byte));
        if is_unspaced(letter) || is_sign(letter) {
            set(starts, start);
            set(starts, end);
        }
    }
}

/// Whether a letter within a word is no part of how it is written.
pub fn shows_nothing(letter: char) -> bool {
    letter == SEAM || is_ignorable(letter)
}

/// Characters that show nothing in a row, which are looked at.
const UNSHOWN_MAX: usize = 8;

fn is_within_word(before: &str, after: &str) -> bool {
    let is_of_word = |letter: Option<char>| {
        letter.is_some_and(|letter| (letter.is_alphanumeric() || is_combining_mark(letter)) && !is_unspaced(letter))
    };
    is_of_word(before.chars().rev().take(UNSHOWN_MAX).find(|letter| !shows_nothing(*letter)))
        && is_of_word(after.chars().take(UNSHOWN_MAX).find(|letter| !shows_nothing(*letter)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(text: &str) -> Vec<&str> {
        let bounds = WordBounds::of(text);
        bounds.starts().map(|start| &text[start..bounds.end(start)]).collect()
    }

    /// The same by one character after the other.
    fn words_by_character(text: &str) -> Vec<&str> {
        let mut words = vec![];
        let mut open = None;
        for (at, letter) in text.char_indices().chain([(text.len(), ' ')]) {
            let in_word = if shows_nothing(letter) {
                is_within_word(&text[..at], &text[at + letter.len_utf8()..])
            } else {
                letter.is_ascii_alphanumeric()
                    || !letter.is_ascii() && (letter.is_alphanumeric() || is_combining_mark(letter) || is_sign(letter))
            };
            let own = in_word && (is_unspaced(letter) || is_sign(letter));
            if (!in_word || own)
                && let Some(start) = open.take()
            {
                words.push(&text[start..at]);
            }
            match own {
                true => words.push(&text[at..at + letter.len_utf8()]),
                false if in_word => _ = open.get_or_insert(at),
                false => {}
            }
        }
        words
    }

    #[test]
    fn a_word_is_letters_digits_and_marks_in_a_row() {
        assert_eq!(words("x-ray, 3rd naïve_cafe\u{301}s!"), ["x", "ray", "3rd", "naïve", "cafe\u{301}s"]);
        assert_eq!(words("tower灯台beam 鳥"), ["tower", "灯", "台", "beam", "鳥"]);
        assert_eq!(words("a 🦩🌙sign"), ["a", "🦩", "🌙", "sign"]);
        assert_eq!(words("Unter\u{ad}nehmen\u{ad} \u{200b}a"), ["Unter\u{ad}nehmen", "a"]);
        assert_eq!(words("@[`{/:\u{7f}\0"), Vec::<&str>::new());
        assert_eq!(words(""), Vec::<&str>::new());
    }

    #[test]
    fn every_byte_of_ascii_is_told_at_every_place() {
        for byte in 0..128u8 {
            for at in 0..70 {
                let text = format!("{}{}{}", "-".repeat(at), byte as char, "-".repeat(70 - at));
                let expected = if byte.is_ascii_alphanumeric() { vec![(byte as char).to_string()] } else { vec![] };
                assert_eq!(words(&text), expected);
            }
        }
    }

    proptest! {
        #[test]
        fn words_are_those_found_by_one_character_after_the_other(
            parts in prop::collection::vec(prop_oneof!["[a-zA-Z0-9]{1,80}", "[ -~]{0,9}", "[é灯台鳥ก\u{301}😀𝒜 \u{ad}\u{200b}a]{0,40}", any::<String>()], 0..12),
        ) {
            let text = parts.concat();
            prop_assert_eq!(words(&text), words_by_character(&text));
        }
    }
}
