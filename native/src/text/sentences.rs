//! The beginning of a text that ends with a sentence.

use unicode_segmentation::UnicodeSegmentation;

/// The longest beginning of at most so many UTF-16 units that ends with a sentence (UAX #29), without the space behind.
/// Empty if the first sentence is longer.
pub fn whole_sentences(text: &str, units_max: usize) -> &str {
    longest(text, units_max, text.split_sentence_bound_indices().map(|(at, sentence)| at + sentence.len()))
}

/// The same, ending with a word.
pub fn whole_words(text: &str, units_max: usize) -> &str {
    longest(text, units_max, text.split_word_bound_indices().map(|(at, word)| at + word.len()))
}

/// `ends`: ascending byte offsets.
fn longest(text: &str, units_max: usize, ends: impl Iterator<Item = usize>) -> &str {
    let (mut units, mut from, mut longest) = (0, 0, "");
    for end in ends {
        let beginning = text[..end].trim_end();
        let within = units + text[from..end].trim_end().encode_utf16().count();
        if within > units_max {
            break;
        }
        units += text[from..end].encode_utf16().count();
        (from, longest) = (end, beginning);
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_behind_a_sentence_or_a_word() {
        let text = "Gulls fly. Terns dive 😀! Both eat fish.";
        for (units, sentences, words) in [
            (0, "", ""),
            (5, "", "Gulls"),
            (10, "Gulls fly.", "Gulls fly."),
            (24, "Gulls fly.", "Gulls fly. Terns dive 😀"),
            (25, "Gulls fly. Terns dive 😀!", "Gulls fly. Terns dive 😀!"),
            (99, text, text),
        ] {
            assert_eq!(whole_sentences(text, units), sentences);
            assert_eq!(whole_words(text, units), words);
        }
    }
}
