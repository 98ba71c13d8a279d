//! The structure of an index's file, checked before LMDB maps it.
//!
//! LMDB trusts its pages. A damaged page number or offset would make it read outside the file, and end the process. So
//! every branch and leaf page of the last commit is first read with ordinary reads (version 1 of the format, `mdb.c`).
//! Pages must lie in the file, belong to one tree only, and not be free. Nodes must lie in their pages, and keys
//! ascend. The numbers of pages and entries must be those that the trees state. Values have checksums of their own.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::blocks::columns::{u32_at, u64_at};
use crate::error::{Result, ShardError};

const MAGIC: u32 = 0xBEEF_C0DE;
const VERSION: u32 = 1;
const HEADER: usize = 16;
const NODE_HEADER: usize = 8;
const KEY_MAX: usize = 511;
const DEPTH_MAX: u16 = 32;
const NO_PAGE: u64 = u64::MAX;
/// Bytes of a tree's record: flags, depth, three page counts, number of entries, root.
const TREE: usize = 48;

const BRANCH: u16 = 1;
const LEAF: u16 = 2;
const OVERFLOW: u16 = 4;
const META: u16 = 8;
const BIG_DATA: u16 = 1;
const SUB_TREE: u16 = 2;
const INTEGER_KEY: u16 = 8;

fn damaged(what: &str) -> ShardError {
    ShardError::corrupt(format!("The index file is damaged: {what}."))
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

/// A B+ tree, as its parent describes it.
#[derive(Clone, Copy)]
struct Tree {
    flags: u16,
    depth: u16,
    branches: u64,
    leaves: u64,
    overflows: u64,
    entries: u64,
    root: u64,
}

impl Tree {
    fn read(bytes: &[u8]) -> Self {
        Self {
            flags: u16_at(bytes, 4),
            depth: u16_at(bytes, 6),
            branches: u64_at(bytes, 8),
            leaves: u64_at(bytes, 16),
            overflows: u64_at(bytes, 24),
            entries: u64_at(bytes, 32),
            root: u64_at(bytes, 40),
        }
    }
}

/// State of a walk through a tree: its counts, and the last key.
#[derive(Default)]
struct Walk {
    branches: u64,
    leaves: u64,
    overflows: u64,
    entries: u64,
    last_key: Option<Vec<u8>>,
    /// The next key must not be lower.
    least: Vec<u8>,
}

/// Kind of the values of a tree.
#[derive(Clone, Copy, PartialEq)]
enum Values {
    Trees,
    Plain,
    FreePages,
}

struct Checker {
    file: File,
    page_bytes: usize,
    pages: u64,
    used: Vec<u64>,
    trees: Vec<Tree>,
    free: Vec<u64>,
}

/// Checks the file of an index that is not open.
pub fn check(path: &Path, map_bytes: u64) -> Result<()> {
    let file = File::open(path)?;
    let mut head = [0; HEADER + 136];
    file.read_exact_at(&mut head, 0).map_err(|_| damaged("it is cut short"))?;
    let page_bytes = meta(&head)?.page_bytes;
    let mut second = [0; HEADER + 136];
    file.read_exact_at(&mut second, page_bytes as u64).map_err(|_| damaged("it is cut short"))?;
    let (first, second) = (meta(&head)?, meta(&second)?);
    if second.page_bytes != page_bytes {
        return Err(damaged("its two heads disagree"));
    }
    let newest = if first.transaction < second.transaction { second } else { first };
    if newest.last_page < 1 || newest.last_page >= map_bytes / page_bytes as u64 {
        return Err(damaged("it says that it is larger than it can be"));
    }
    let pages = newest.last_page + 1;
    let mut checker =
        Checker { file, page_bytes, pages, used: vec![0; pages.div_ceil(64) as usize], trees: vec![], free: vec![] };
    checker.used[0] = 0b11;
    checker.tree(newest.main, Values::Trees)?;
    for tree in std::mem::take(&mut checker.trees) {
        checker.tree(tree, Values::Plain)?;
    }
    checker.tree(newest.free, Values::FreePages)?;
    for page in std::mem::take(&mut checker.free) {
        checker.take(page, 1)?;
    }
    Ok(())
}

struct Meta {
    page_bytes: usize,
    free: Tree,
    main: Tree,
    last_page: u64,
    transaction: u64,
}

fn meta(page: &[u8]) -> Result<Meta> {
    let body = &page[HEADER..];
    if u16_at(page, 10) & META == 0 || u32_at(body, 0) != MAGIC {
        return Err(damaged("it does not begin like one"));
    }
    if u32_at(body, 4) != VERSION {
        return Err(damaged("it has another version than this one reads"));
    }
    let page_bytes = u32_at(body, 24) as usize;
    if !page_bytes.is_power_of_two() || !(512..=32_768).contains(&page_bytes) {
        return Err(damaged("its page size is none"));
    }
    let free = Tree::read(&body[24..]);
    Ok(Meta {
        page_bytes,
        // This record also holds the flags of the environment.
        free: Tree { flags: INTEGER_KEY, ..free },
        main: Tree::read(&body[24 + TREE..]),
        last_page: u64_at(body, 24 + 2 * TREE),
        transaction: u64_at(body, 32 + 2 * TREE),
    })
}

impl Checker {
    /// Marks pages as used. Each may have one owner only.
    fn take(&mut self, page: u64, count: u64) -> Result<()> {
        let end = page
            .checked_add(count)
            .filter(|end| *end <= self.pages)
            .ok_or_else(|| damaged("a page lies beyond its end"))?;
        for page in page..end {
            let (word, bit) = (&mut self.used[(page / 64) as usize], 1u64 << (page % 64));
            if *word & bit != 0 {
                return Err(damaged("a page has two owners"));
            }
            *word |= bit;
        }
        Ok(())
    }

    fn page(&mut self, number: u64, bytes: usize) -> Result<Vec<u8>> {
        let mut page = vec![0; bytes];
        let at = number.checked_mul(self.page_bytes as u64).ok_or_else(|| damaged("a page lies beyond its end"))?;
        self.file.read_exact_at(&mut page, at).map_err(|_| damaged("it is cut short"))?;
        if u64_at(&page, 0) != number {
            return Err(damaged("a page is not the one it should be"));
        }
        Ok(page)
    }

    fn tree(&mut self, tree: Tree, values: Values) -> Result<()> {
        let expected_flags = if values == Values::FreePages { INTEGER_KEY } else { 0 };
        if tree.flags != expected_flags || tree.depth > DEPTH_MAX {
            return Err(damaged("a tree is of an unknown kind"));
        }
        let mut walk = Walk::default();
        if tree.root != NO_PAGE {
            self.subtree(tree.root, tree.depth, values, &mut walk)?;
        } else if tree.depth != 0 {
            return Err(damaged("a tree has no root"));
        }
        let counted = (walk.branches, walk.leaves, walk.overflows, walk.entries);
        if counted != (tree.branches, tree.leaves, tree.overflows, tree.entries) {
            return Err(damaged("a tree is not as large as it says"));
        }
        Ok(())
    }

    fn subtree(&mut self, number: u64, levels: u16, values: Values, walk: &mut Walk) -> Result<()> {
        self.take(number, 1)?;
        let page = self.page(number, self.page_bytes)?;
        let expected = if levels == 1 { LEAF } else { BRANCH };
        if levels == 0 || u16_at(&page, 10) != expected {
            return Err(damaged("a page is of the wrong kind"));
        }
        let (lower, upper) = (usize::from(u16_at(&page, 12)), usize::from(u16_at(&page, 14)));
        if lower <= HEADER || lower % 2 != 0 || lower > upper || upper > self.page_bytes {
            return Err(damaged("a page's free space is not inside it"));
        }
        if levels == 1 {
            walk.leaves += 1
        } else {
            walk.branches += 1
        }
        for (index, pointer) in page[HEADER..lower].chunks_exact(2).enumerate() {
            let node = usize::from(u16_at(pointer, 0));
            if node < upper || node + NODE_HEADER > self.page_bytes {
                return Err(damaged("an entry lies outside its page"));
            }
            let node = &page[node..];
            let key_bytes = usize::from(u16_at(node, 6));
            let key = node.get(NODE_HEADER..NODE_HEADER + key_bytes).filter(|_| key_bytes <= KEY_MAX);
            let key = key.ok_or_else(|| damaged("a key lies outside its page"))?;
            if levels > 1 {
                self.branch(index, node, key, levels, values, walk)?;
            } else {
                self.leaf(node, key, values, walk)?;
            }
        }
        Ok(())
    }

    fn branch(
        &mut self,
        index: usize,
        node: &[u8],
        key: &[u8],
        levels: u16,
        values: Values,
        walk: &mut Walk,
    ) -> Result<()> {
        let child = u64::from(u32_at(node, 0)) | u64::from(u16_at(node, 4)) << 32;
        if index > 0 {
            let key = ordered(key, values)?;
            if walk.last_key.as_ref().is_some_and(|last| *last >= key) {
                return Err(damaged("keys are out of order"));
            }
            walk.least = key;
        }
        self.subtree(child, levels - 1, values, walk)
    }

    fn leaf(&mut self, node: &[u8], key: &[u8], values: Values, walk: &mut Walk) -> Result<()> {
        let key_order = ordered(key, values)?;
        if key_order < walk.least || walk.last_key.as_ref().is_some_and(|last| *last >= key_order) {
            return Err(damaged("keys are out of order"));
        }
        walk.last_key = Some(key_order);
        walk.entries += 1;
        let (bytes, flags) = (u32_at(node, 0) as usize, u16_at(node, 4));
        let from = NODE_HEADER + key.len();
        let held = node.get(from..from + if flags & BIG_DATA != 0 { 8 } else { bytes });
        let held = held.ok_or_else(|| damaged("a value lies outside its page"))?;
        match (flags, values) {
            (SUB_TREE, Values::Trees) if bytes == TREE => self.trees.push(Tree::read(held)),
            (0, Values::Plain) => {}
            (0, Values::FreePages) => self.free_pages(held)?,
            (BIG_DATA, Values::Plain | Values::FreePages) => {
                let count = (bytes + HEADER - 1) / self.page_bytes + 1;
                let first = u64_at(held, 0);
                self.take(first, count as u64)?;
                walk.overflows += count as u64;
                let whole = if values == Values::FreePages { HEADER + bytes } else { HEADER };
                let page = self.page(first, whole)?;
                if u16_at(&page, 10) != OVERFLOW || u32_at(&page, 12) as usize != count {
                    return Err(damaged("a large value's pages are of the wrong kind"));
                }
                // The last byte must exist, too, or reading it would end the process.
                let end = first * self.page_bytes as u64 + (HEADER + bytes) as u64 - 1;
                self.file.read_exact_at(&mut [0], end).map_err(|_| damaged("it is cut short"))?;
                if values == Values::FreePages {
                    self.free_pages(&page[HEADER..])?;
                }
            }
            _ => return Err(damaged("an entry is of an unknown kind")),
        }
        Ok(())
    }

    /// A list of free pages: their count, then each, descending.
    fn free_pages(&mut self, list: &[u8]) -> Result<()> {
        let unreadable = || damaged("a list of free pages cannot be read");
        let count = list.get(..8).map(|bytes| u64_at(bytes, 0)).ok_or_else(unreadable)?;
        let pages = usize::try_from(count).ok().and_then(|count| list.get(8..count.checked_mul(8)?.checked_add(8)?));
        let pages: Vec<u64> = pages.ok_or_else(unreadable)?.chunks_exact(8).map(|page| u64_at(page, 0)).collect();
        if pages.iter().any(|page| *page < 2) || !pages.is_sorted_by(|left, right| left > right) {
            return Err(unreadable());
        }
        self.free.extend(pages);
        Ok(())
    }
}

/// A key in a form that sorts as in LMDB.
fn ordered(key: &[u8], values: Values) -> Result<Vec<u8>> {
    if values != Values::FreePages {
        return Ok(key.to_vec());
    }
    let number: [u8; 8] = key.try_into().map_err(|_| damaged("a key has a wrong length"))?;
    Ok(u64::from_le_bytes(number).to_be_bytes().to_vec())
}
