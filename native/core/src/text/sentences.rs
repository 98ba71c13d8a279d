//! Parts of a text that begin and end with a sentence.

use unicode_segmentation::UnicodeSegmentation;

/// Least length, in letters, of the longest line of a text whose lines are taken for wrapped.
const WRAPPED_MIN: usize = 40;

/// Whole sentences of a text, of at most so many UTF-16 units together, without the space around them: its beginning, or, if that
/// ends before the byte `wanted`, the sentence there with those behind it, and those before it as far as there is room.
/// Empty if no sentence fits. A heading alone is none.
pub fn whole_sentences(text: &str, units_max: usize, wanted: usize) -> &str {
    let bounds: Vec<usize> = std::iter::once(0).chain(sentence_ends(text)).collect();
    let beginning = longest(text, units_max, bounds[1..].iter().copied());
    if wanted < beginning.len() {
        return beginning;
    }
    let at = bounds.partition_point(|bound| *bound <= wanted).saturating_sub(1);
    let from = bounds[at] + text[bounds[at]..].len() - text[bounds[at]..].trim_start().len();
    let wanted = longest(&text[from..], units_max, bounds[at + 1..].iter().map(|end| end - from));
    if wanted.is_empty() {
        return beginning;
    }
    let (mut start, mut units) = (from, units_of(wanted));
    for bound in bounds[..at].iter().rev() {
        units += units_of(&text[*bound..start]);
        if units > units_max {
            break;
        }
        start = *bound;
    }
    text[start..from + wanted.len()].trim_start()
}

/// The longest beginning of at most so many UTF-16 units that ends with a word (UAX #29), without the space behind.
pub fn whole_words(text: &str, units_max: usize) -> &str {
    longest(text, units_max, text.split_word_bound_indices().map(|(at, word)| at + word.len()))
}

/// `ends`: ascending byte offsets.
fn longest(text: &str, units_max: usize, ends: impl Iterator<Item = usize>) -> &str {
    let (mut units, mut from, mut longest) = (0, 0, "");
    for end in ends {
        let beginning = text[..end].trim_end();
        if units + units_of(text[from..end].trim_end()) > units_max {
            break;
        }
        units += units_of(&text[from..end]);
        (from, longest) = (end, beginning);
    }
    longest
}

fn units_of(text: &str) -> usize {
    text.encode_utf16().count()
}

/// Where sentences end (UAX #29), but neither within a line that goes on in the next one, nor within an address, nor behind a
/// heading at the beginning.
fn sentence_ends(text: &str) -> impl Iterator<Item = usize> {
    let width = text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
    let ends = text.split_sentence_bound_indices().map(|(at, sentence)| at + sentence.len());
    ends.filter(move |end| {
        let (before, behind) = text.split_at(*end);
        if behind.trim().is_empty() {
            return true;
        }
        let line = before.trim_end();
        let is_heading = !line.contains('\n') && !is_closed(line) && before.trim_end_matches(' ').ends_with('\n');
        let is_within = before.ends_with(|last: char| last.is_ascii() && !last.is_ascii_whitespace());
        !is_heading && !is_within && !goes_on(line, &text[line.len()..], width)
    })
}

/// Whether a line that ends without a mark was wrapped: what is behind it belongs to its sentence.
fn goes_on(before: &str, behind: &str, width: usize) -> bool {
    let Some(next) = behind.trim_start_matches([' ', '\t', '\r']).strip_prefix('\n') else { return false };
    let next = next.lines().next().unwrap_or_default().trim_start();
    if is_closed(before) || next.is_empty() || begins_anew(next) {
        return false;
    }
    let line = before.rsplit('\n').next().unwrap_or_default();
    let word = next.split_whitespace().next().unwrap_or_default();
    // The next word had no room.
    let is_full = width >= WRAPPED_MIN && line.chars().count() + 1 + word.chars().count() > width;
    is_full || next.starts_with(char::is_lowercase)
}

/// Whether a line's end is marked: by a sentence's end, a table's row, a list's introduction or code.
fn is_closed(line: &str) -> bool {
    let line = line.trim_end_matches(['"', '\'', ')', ']', '”', '’', '»', '*', '_', '`']);
    line.ends_with(['.', '!', '?', '…', ':', ';', '|', '{', '}', '。', '！', '？', '।', '؟'])
}

/// Whether a line begins an item of a list, a row or a heading.
fn begins_anew(line: &str) -> bool {
    let after_number = line.trim_start_matches(|letter: char| letter.is_ascii_digit());
    line.starts_with(['|', '-', '*', '#', '>', '•', '–', '+'])
        || (after_number.len() < line.len() && after_number.starts_with([')', '.']))
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
            assert_eq!(whole_sentences(text, units, 0), sentences);
            assert_eq!(whole_words(text, units), words);
        }
    }

    #[test]
    fn a_wrapped_line_is_no_sentence() {
        let text = "A scan grows with its rows (9.4 ms for a\nmillion, VNNI), a graph hardly does.\nFARTHING_RECALL is the share\nof hits.";
        for (units, expected) in [
            (60, ""),
            (77, "A scan grows with its rows (9.4 ms for a\nmillion, VNNI), a graph hardly does."),
            (110, "A scan grows with its rows (9.4 ms for a\nmillion, VNNI), a graph hardly does."),
        ] {
            assert_eq!(whole_sentences(text, units, 0), expected, "{units}");
        }
        assert_eq!(
            whole_sentences("See `/items/{id}/text?from=` there. More.", 36, 0),
            "See `/items/{id}/text?from=` there."
        );
        // The lines are as long as they may be, and the second begins with a capital.
        let names = "The keepers of the lighthouse were the brothers\nAnton and Emil, who stayed there for many years.\nThey left.";
        assert_eq!(whole_sentences(names, 60, 0), "");
    }

    #[test]
    fn rows_items_and_lines_that_end_early_are_wholes() {
        let table = "| tide | hour |\n|---|---|\n| low | 4 |\n| high | 10 |";
        assert_eq!(whole_sentences(table, 40, 0), "| tide | hour |\n|---|---|\n| low | 4 |");
        assert_eq!(whole_sentences("Take:\n- salt\n- flour\n- water", 22, 0), "Take:\n- salt\n- flour");
        assert_eq!(whole_sentences("Dose 5 mg\nEvery morning\nWith water", 24, 0), "Dose 5 mg\nEvery morning");
        assert_eq!(whole_sentences("1867年に来た。翌年に去った。", 9, 0), "1867年に来た。");
    }

    #[test]
    fn a_heading_alone_is_not_shown() {
        assert_eq!(whole_sentences("Restore\n\nStop the server. Copy the folder.", 20, 0), "");
        assert_eq!(
            whole_sentences("Restore\n\nStop the server. Copy the folder.", 30, 0),
            "Restore\n\nStop the server."
        );
    }

    #[test]
    fn the_sentence_that_is_wanted_is_shown_with_those_around_it() {
        let text = "Gulls fly. Terns dive. Both eat fish. None sings.";
        for (units, word, expected) in [
            (22, "Terns", "Gulls fly. Terns dive."),
            (14, "fish", "Both eat fish."),
            (28, "fish", "Both eat fish. None sings."),
            (38, "None", "Terns dive. Both eat fish. None sings."),
            (9, "fish", ""),
            (10, "fish", "Gulls fly."),
        ] {
            assert_eq!(whole_sentences(text, units, text.find(word).unwrap()), expected, "{units} {word}");
        }
    }
}
