//! A fair queue by cost, as `src/queues/fair-queue.ts` is one for JavaScript's work. It has no bound: its users ask [`has_room`].

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// Accounts that are remembered before idle ones are forgotten.
const REMEMBERED_MAX: usize = 4096;
/// How fast room becomes scarce for those who hold some.
const SCARCITY: i32 = 4;

struct Waiting<T> {
    entry: T,
    cost: f64,
}

/// The owner that is served next has had the least. Entries of one owner stay in order.
pub struct FairQueue<T> {
    /// By owner, in the order of their turns; none is empty.
    owners: Vec<(Arc<str>, VecDeque<Waiting<T>>)>,
    /// What each owner has had, in costs. An owner that comes back starts no lower than those that are served.
    used: HashMap<Arc<str>, f64>,
    /// A quicker entry than this begins before those of owners that have had a little less.
    quick: f64,
    size: usize,
    /// What the last entry's owner had had, when it was taken.
    level: f64,
    prune_above: usize,
}

impl<T> FairQueue<T> {
    pub fn new(quick: f64) -> Self {
        Self { owners: vec![], used: HashMap::new(), quick, size: 0, level: 0.0, prune_above: REMEMBERED_MAX }
    }

    /// Entries that wait.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Entries of an owner that wait.
    pub fn waiting_of(&self, owner: &str) -> usize {
        self.owners.iter().find(|(known, _)| **known == *owner).map_or(0, |(_, waiting)| waiting.len())
    }

    /// Entries that would be taken before the next one of an owner, at most, where all have had as much.
    pub fn waiting_before(&self, owner: &str) -> usize {
        let own = self.waiting_of(owner);
        let before = |(other, waiting): &(Arc<str>, VecDeque<Waiting<T>>)| {
            if **other == *owner { own } else { waiting.len().min(own + 1) }
        };
        self.owners.iter().map(before).sum()
    }

    /// `cost`: of any unit, the same for all entries.
    pub fn enter(&mut self, owner: &str, entry: T, cost: f64) {
        self.size += 1;
        if let Some((_, waiting)) = self.owners.iter_mut().find(|(known, _)| **known == *owner) {
            waiting.push_back(Waiting { entry, cost });
            return;
        }
        let level = self.level;
        let name = match self.used.get_key_value(owner) {
            Some((name, _)) => name.clone(),
            None => {
                self.forget_idle();
                Arc::from(owner)
            }
        };
        let used = self.used.entry(name.clone()).or_insert(level);
        *used = used.max(level);
        self.owners.push((name, VecDeque::from([Waiting { entry, cost }])));
    }

    /// The first entry of the owner that has had the least, or, among equal ones, has waited longest for its turn. An owner whose first
    /// entry does not suit is passed over and keeps its turn.
    pub fn take(&mut self, suits: impl Fn(&T) -> bool) -> Option<T> {
        let mut next: Option<(usize, f64)> = None;
        for (at, (owner, waiting)) in self.owners.iter().enumerate() {
            let (used, first) = (self.used[owner], waiting.front()?);
            let turn = used + first.cost.min(self.quick);
            if next.is_none_or(|(_, best)| turn < best) && suits(&first.entry) {
                next = Some((at, turn));
            }
        }
        let (owner, mut waiting) = self.owners.remove(next?.0);
        let Waiting { entry, cost } = waiting.pop_front()?;
        self.size -= 1;
        if let Some(used) = self.used.get_mut(&owner) {
            self.level = *used;
            *used += cost;
        }
        // Behind those who have had as much.
        if !waiting.is_empty() {
            self.owners.push((owner, waiting));
        }
        Some(entry)
    }

    /// Removes the first entry that waits for which `is_meant` is true.
    pub fn leave(&mut self, is_meant: impl Fn(&T) -> bool) -> Option<T> {
        let found = self.owners.iter().enumerate().find_map(|(owner, (_, waiting))| {
            waiting.iter().position(|each| is_meant(&each.entry)).map(|place| (owner, place))
        });
        let (owner, place) = found?;
        let left = self.owners[owner].1.remove(place)?;
        self.size -= 1;
        if self.owners[owner].1.is_empty() {
            self.owners.remove(owner);
        }
        Some(left.entry)
    }

    /// An owner that has had no more than others is as good as a new one. The next pass waits until the number has doubled.
    fn forget_idle(&mut self) {
        if self.used.len() < self.prune_above {
            return;
        }
        let Self { owners, used, level, .. } = self;
        used.retain(|owner, had| *had > *level || owners.iter().any(|(waiting, _)| waiting == owner));
        self.prune_above = REMEMBERED_MAX.max(2 * self.used.len());
    }
}

/// Whether an owner that holds so much of what all may hold gets one more: the fuller it is, the less the next have. `hasRoom` of
/// `src/queues/fair-queue.ts` is the same rule, and says what follows from it.
pub fn has_room(held: usize, held_in_all: usize, most: usize) -> bool {
    let half = most as f64 / 2.0;
    let free = most.saturating_sub(held_in_all) as f64;
    free > 0.0 && (held as f64) < half * (free / half).powi(SCARCITY)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(queue: &mut FairQueue<&'static str>) -> Vec<&'static str> {
        std::iter::from_fn(|| queue.take(|_| true)).collect()
    }

    #[test]
    fn a_heavy_owner_delays_another_by_one_entry() {
        let mut queue = FairQueue::new(128.0);
        for entry in ["a1", "a2", "a3", "a4"] {
            queue.enter("a", entry, 100.0);
        }
        queue.enter("b", "b1", 10.0);
        queue.enter("b", "b2", 10.0);
        assert_eq!(
            (queue.size(), queue.waiting_of("a"), queue.waiting_before("b"), queue.waiting_before("c")),
            (6, 4, 5, 2)
        );
        assert_eq!(taken(&mut queue), ["b1", "b2", "a1", "a2", "a3", "a4"]);
        // Who was served a lot waits for who comes new, and nobody comes back with an advantage.
        queue.enter("a", "a5", 10.0);
        queue.enter("c", "c1", 10.0);
        queue.enter("c", "c2", 10.0);
        assert_eq!(taken(&mut queue), ["c1", "c2", "a5"]);
    }

    #[test]
    fn who_does_not_suit_keeps_its_turn_and_who_leaves_is_not_taken() {
        let mut queue = FairQueue::new(128.0);
        for (owner, entry) in [("a", "long"), ("a", "a2"), ("b", "b1"), ("c", "c1")] {
            queue.enter(owner, entry, 10.0);
        }
        assert_eq!(queue.take(|entry| *entry != "long"), Some("b1"));
        assert_eq!(queue.leave(|entry| *entry == "c1"), Some("c1"));
        assert_eq!(queue.leave(|entry| *entry == "c1"), None);
        assert_eq!(queue.size(), 2);
        assert_eq!(taken(&mut queue), ["long", "a2"]);
    }

    #[test]
    fn one_owner_has_half_and_the_last_places_are_for_first_entries() {
        let held_alone = (0..).find(|held| !has_room(*held, *held, 512)).unwrap();
        assert_eq!(held_alone, 256);
        assert!(has_room(0, 511, 512) && !has_room(0, 512, 512) && !has_room(1, 480, 512));
    }

    #[test]
    fn idle_accounts_are_forgotten() {
        let mut queue = FairQueue::new(1.0);
        for number in 0..3 * REMEMBERED_MAX {
            queue.enter(&number.to_string(), "", 0.0);
            assert!(queue.take(|_| true).is_some());
        }
        assert!(queue.used.len() <= REMEMBERED_MAX);
    }
}
