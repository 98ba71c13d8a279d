//! Merging blocks of postings.

use super::postings::{Document, PostingsView};
use super::writer::TermWriter;
use crate::blocks::block;
use crate::blocks::dead::Dead;
use crate::error::Result;

/// Merges the living segments of several blocks into one. `None` if none lives.
pub fn merge(sources: &[(&[u8], Dead<'_>)]) -> Result<Option<Vec<u8>>> {
    let mut views = vec![];
    let mut living: Vec<(u32, usize, usize)> = vec![];
    for (source, (value, dead)) in sources.iter().enumerate() {
        let view = PostingsView::read(value)?;
        block::verify(value)?;
        let rows = (0..view.rows() as usize).filter(|row| !dead.has(*row));
        living.extend(rows.map(|row| (view.segments.get(row), source, row)));
        views.push(view);
    }
    if living.is_empty() {
        return Ok(None);
    }
    living.sort_unstable();
    let mut new_row: Vec<Vec<u32>> = views.iter().map(|view| vec![u32::MAX; view.rows() as usize]).collect();
    for (row, (_, source, old)) in living.iter().enumerate() {
        new_row[*source][*old] = row as u32;
    }
    let mut terms: Vec<(&[u8], usize, usize)> = vec![];
    for (source, view) in views.iter().enumerate() {
        for at in 0..view.terms() {
            terms.push((view.term(at)?, source, at));
        }
    }
    terms.sort_unstable();
    let documents: Vec<Document> = living.iter().map(|(_, source, row)| views[*source].document(*row)).collect();
    let mut writer = TermWriter::new(documents.iter().map(|document| document.language).collect());
    let mut postings: Vec<(u32, u32, &[u8])> = vec![];
    for group in terms.chunk_by(|left, right| left.0 == right.0) {
        postings.clear();
        for (_, source, at) in group {
            let view = &views[*source];
            view.term_postings(*at)?.for_each_with_positions(|document, count, positions| {
                let row = new_row[*source][document as usize];
                if row != u32::MAX {
                    postings.push((row, count, positions));
                }
            })?;
        }
        postings.sort_unstable_by_key(|posting| posting.0);
        writer.term(group[0].0, &postings);
    }
    Ok(Some(writer.seal(&documents)))
}
