//! SentencePiece's table of characters and what stands for them: the length of a double array, the array, and texts that end with NUL.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use unicode_segmentation::UnicodeSegmentation;
use yada::DoubleArray;

use super::aligned::Aligned;

/// Units of 4 bytes in a block of a double array.
const BLOCK: usize = 256 * 4;
/// Bytes of the longest cluster that is looked up whole.
const CLUSTER_BYTES: usize = 5;

pub struct Charsmap {
    places: DoubleArray<Vec<u8>>,
    texts: String,
}

impl Charsmap {
    /// `encoded` in Base64. None for something else.
    pub fn new(encoded: &str) -> Option<Self> {
        let bytes = STANDARD.decode(encoded).ok()?;
        let (length, rest) = bytes.split_first_chunk::<4>()?;
        let (units, texts) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        let mut units = units.to_vec();
        units.resize(units.len().next_multiple_of(BLOCK), 0);
        Some(Self { places: DoubleArray::new(units).ok()?, texts: str::from_utf8(texts).ok()?.to_owned() })
    }

    /// What stands for the shortest beginning that the table has.
    fn found(&self, text: &str) -> Option<&str> {
        let (place, _) = self.places.common_prefix_search(text).next()?;
        self.texts.get(place as usize..)?.split('\0').next()
    }

    /// A text by the table: clusters of few bytes whole, or else each of their characters.
    pub fn replaced(&self, text: &Aligned) -> Aligned {
        let mut replaced = Aligned::default();
        for (at, cluster) in text.text().grapheme_indices(true) {
            match self.found(cluster).filter(|_| cluster.len() <= CLUSTER_BYTES) {
                Some(found) => put(&mut replaced, found, text, at, cluster),
                None => {
                    for (within, character) in cluster.char_indices() {
                        let part = &cluster[within..within + character.len_utf8()];
                        put(&mut replaced, self.found(part).unwrap_or(part), text, at + within, part);
                    }
                }
            }
        }
        replaced
    }
}

/// Puts what stands for a part: each character ends where the part's does, and more than the part has where its last one does.
fn put(replaced: &mut Aligned, found: &str, text: &Aligned, at: usize, part: &str) {
    let mut ends = part.char_indices().map(|(within, character)| text.end(at + within + character.len_utf8()));
    let mut end = 0;
    for character in found.chars() {
        end = ends.next().unwrap_or(end);
        replaced.push(character, end);
    }
}
