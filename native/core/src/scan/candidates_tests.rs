//! The best rows found by bits, against all rows scored.

use std::cell::Cell;

use proptest::prelude::*;

use super::bits_tests::{DIMENSIONS, vector};
use super::candidates::{Candidates, CodesBlock};
use crate::blocks::bits::{self, BitsView};
use crate::blocks::dead::Dead;
use crate::blocks::vectors::{self, CodesView, EncodedVectors, RowsView, VectorRows};
use crate::kernels::bits::GROUP;
use crate::kernels::kernel::{CodedQuery, Kernel};
use crate::kernels::scalar;
use crate::ranking::options::SearchOptions;
use crate::ranking::top_k::{Scored, TopK};
use crate::store::methods::Methods;

/// So many that no row is lost by chance.
const DEVIATIONS: f32 = 6.0;

thread_local! {
    static READ: Cell<usize> = const { Cell::new(0) };
}

/// Counts the rows whose codes are read.
static COUNTING: Kernel = Kernel { dots_i8: counted, ..scalar::KERNEL };

fn counted(query: &CodedQuery, codes: &[i8], out: &mut [i32]) {
    READ.set(READ.get() + out.len());
    (scalar::KERNEL.dots_i8)(query, codes, out);
}

/// A bit for each segment that is chosen, 64 in a group.
fn masks(segments: &[u32], chosen: impl Fn(u32) -> bool) -> Vec<u64> {
    let mask = |group: &[u32]| group.iter().rev().fold(0, |mask, segment| mask << 1 | u64::from(chosen(*segment)));
    segments.chunks(GROUP).map(mask).collect()
}

/// The values of a block.
struct Stored {
    encoded: EncodedVectors,
    bits: Vec<u8>,
    dead: Vec<u8>,
    allowed: Vec<u64>,
}

impl Stored {
    fn block(&self, index: usize) -> CodesBlock<'_> {
        let view = CodesView::read(&self.encoded.codes).unwrap();
        CodesBlock { index: index as u32, view, dead: Dead(&self.dead) }
    }

    fn score(&self, query: &[f32], row: usize) -> Scored {
        let score = (scalar::KERNEL.dot_f32)(query, RowsView::read(&self.encoded.rows).unwrap().row(row));
        Scored { score, segment: self.block(0).view.segments.get(row) }
    }
}

/// Blocks of so many rows; their vectors repeat, so that rows tie.
struct Case {
    sizes: Vec<usize>,
    distinct: u64,
    dead: fn(u32) -> bool,
    allowed: fn(u32) -> bool,
}

impl Case {
    fn stored(&self) -> Vec<Stored> {
        let mut next = 0;
        let blocks = self.sizes.iter().map(|size| {
            let segments: Vec<u32> = (next..next + *size as u32).collect();
            next += *size as u32;
            let values: Vec<f32> =
                segments.iter().flat_map(|segment| vector(u64::from(*segment) % self.distinct)).collect();
            let dead = masks(&segments, self.dead).into_iter().flat_map(u64::to_le_bytes).collect();
            let allowed = masks(&segments, self.allowed);
            let encoded = vectors::encode(&VectorRows { segments, values }, DIMENSIONS, [1; 32]);
            Stored { bits: bits::encode(&RowsView::read(&encoded.rows).unwrap()), encoded, dead, allowed }
        });
        blocks.collect()
    }

    /// The best k by exact scores: of the candidates, and of all rows; and how many codes were read.
    fn best(&self, query: &[f32], k: usize, deviations: f32) -> (Vec<Scored>, Vec<Scored>, usize) {
        let stored = self.stored();
        let blocks: Vec<CodesBlock<'_>> = stored.iter().enumerate().map(|(at, stored)| stored.block(at)).collect();
        let options = SearchOptions::best(k);
        let mut candidates = Candidates::new(&COUNTING, query, &options);
        let rotated = candidates.rotated(query, deviations);
        READ.set(0);
        for (block, Stored { bits, allowed, .. }) in blocks.iter().zip(&stored) {
            candidates.add_by_bits(block, (&rotated, &BitsView::read(bits).unwrap()), Some(allowed)).unwrap();
        }
        let (mut found, mut all) = (TopK::new(k), TopK::new(k));
        for row in candidates.into_sorted().unwrap() {
            found.offer(stored[row.block as usize].score(query, row.row as usize));
        }
        for (stored, size) in stored.iter().zip(&self.sizes) {
            let rows = (0..*size).map(|row| stored.score(query, row));
            rows.filter(|row| !(self.dead)(row.segment) && (self.allowed)(row.segment)).for_each(|row| all.offer(row));
        }
        (found.into_sorted(), all.into_sorted(), READ.get())
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn the_best_rows_by_bits_are_those_of_all_rows(
        sizes in proptest::collection::vec(1..2500usize, 1..4),
        distinct in prop_oneof![Just(1u64), 2..50u64, Just(u64::MAX)],
        dead in proptest::sample::select(vec![|_| false, |segment| segment % 3 == 1]),
        allowed in proptest::sample::select(vec![|_| true, |segment| segment / 90 % 2 == 0, |segment| segment % 5 == 2]),
        k in prop_oneof![1..40usize, 100..400usize, Just(9000)],
        asked in 0..1000u64,
    ) {
        let (found, all, _) = Case { sizes, distinct, dead, allowed }.best(&vector(1_000_000 + asked), k, DEVIATIONS);
        prop_assert_eq!(found, all);
    }
}

#[test]
fn rows_that_pass_wait_for_better_ones() {
    let case = Case { sizes: vec![4000; 5], distinct: u64::MAX, dead: |_| false, allowed: |_| true };
    let (_, _, read) = case.best(&vector(1_000_000), 100, Methods::MEASURED.bits_deviations);
    // If each were read once it passes: 2,976.
    assert!(read < 2_200, "{read} codes read");
}
