use farthing_core::store::spaces::{SpaceSpec, position};
use farthing_core::write::input::{PictureInput, SegmentInput};
use napi::Result;
use napi::bindgen_prelude::{Float32Array, Uint8Array};
use napi_derive::napi;

use crate::error::{internal, js_error};

/// The Segments of one Item to be appended. They are added one by one, so that a large Item does not block the event
/// loop.
#[napi]
pub struct SegmentBatch {
    pub(super) spaces: Vec<SpaceSpec>,
    pub(super) segments: Vec<SegmentInput>,
}

#[napi]
impl SegmentBatch {
    /// Copies one Segment: its record (JSON), its place, its words, the picture's fingerprint and digest (both or
    /// neither), and one vector for each named space.
    #[napi(catch_unwind)]
    #[allow(clippy::too_many_arguments, reason = "an object of them costs ten times as much to cross the boundary")]
    pub fn add(
        &mut self,
        record: String,
        place: u32,
        words: Option<String>,
        fingerprint: Option<Uint8Array>,
        digest: Option<Uint8Array>,
        spaces: Vec<String>,
        vectors: Vec<Float32Array>,
    ) -> Result<()> {
        let picture = match (fingerprint, digest) {
            (None, None) => None,
            (fingerprint, digest) => Some(PictureInput {
                digest: digest
                    .as_deref()
                    .unwrap_or_default()
                    .try_into()
                    .map_err(|_| internal("A digest has 32 bytes."))?,
                fingerprint: fingerprint.map(|bytes| bytes.to_vec()).unwrap_or_default(),
            }),
        };
        let vectors = spaces
            .iter()
            .zip(vectors)
            .map(|(name, vector)| Ok((position(&self.spaces, name).map_err(js_error)?, vector.to_vec())))
            .collect::<Result<_>>()?;
        let segment = SegmentInput { record, place, words, picture, vectors };
        segment.check(&self.spaces).map_err(js_error)?;
        self.segments.push(segment);
        Ok(())
    }
}
