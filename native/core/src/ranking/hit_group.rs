//! Places of Segments, each known by its first Segment: a page or a section of an Item, or the whole of a recording, which has a
//! moment for each shot.

/// Where a Segment belongs. Outside recordings place and moment are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct HitGroup {
    /// The first Segment of what is one hit.
    pub place: u32,
    /// The shot of a recording.
    pub moment: u32,
    /// Segments of the recording; 0 elsewhere.
    pub size: u32,
    /// Whether the Segment's text is about the file and not in it (a date, a file name, a camera), or may be misheard.
    pub note: bool,
}
