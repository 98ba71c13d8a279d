//! Write queues whose merges take long, or fail.

use std::sync::mpsc::{Receiver, Sender, channel};

use super::*;
use crate::shard::open_shard::Shard;
use crate::store::spaces::SpaceSpec;
use crate::write::input::{ItemRecord, SegmentInput};
use crate::write::queue_state::COMMITS_BEFORE_RETRY;

fn open(folder: &std::path::Path) -> Shard {
    Shard::open(folder, vec![SpaceSpec { name: "meaning".into(), dimensions: 4, model: [1; 32] }]).unwrap()
}

fn append(number: usize) -> WriteOp {
    let json = format!(r#"{{"id":"i{number}","sha256":"{number:064x}","state":"searchable","bytes":1}}"#);
    let segment = SegmentInput { record: "{}".into(), vectors: vec![(0, vec![0.5; 4])], ..SegmentInput::default() };
    WriteOp::Append { item: ItemRecord::parse(&json).unwrap(), segments: vec![segment], replaces: vec![] }
}

fn failure(code: &'static str) -> Result<()> {
    Err(ShardError::new(code, "a test"))
}

/// Holds every thread for long work until the sender is dropped. One test at a time.
fn hold_long_work() -> (Sender<()>, MutexGuard<'static, ()>) {
    static ONE: Mutex<()> = Mutex::new(());
    let one = ONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let (arrived, has_arrived) = channel();
    let (held, holds): (Sender<()>, Receiver<()>) = channel();
    let holds = Arc::new(Mutex::new(holds));
    for _ in 0..write_pool::THREADS {
        let (arrived, holds) = (arrived.clone(), holds.clone());
        write_pool::run(Length::Long, move || {
            arrived.send(()).unwrap();
            let _ended = holds.lock().unwrap().recv();
        });
    }
    (0..write_pool::THREADS).for_each(|_| has_arrived.recv().unwrap());
    (held, one)
}

/// Writes until the index waits for its merge.
fn write_until_parked(shard: &Shard) {
    let queue = shard.queue().unwrap();
    for number in 0.. {
        shard.write(append(number)).unwrap();
        // A turn ends a little after its writes.
        while queue.lock().scheduled && !queue.lock().parked {
            std::thread::yield_now();
        }
        if queue.lock().parked {
            return;
        }
    }
}

#[test]
fn indexes_that_wait_for_their_merges_hold_up_no_other() {
    let folders: Vec<_> = (0..=write_pool::THREADS).map(|_| tempfile::tempdir().unwrap()).collect();
    let shards: Vec<_> = folders.iter().map(|folder| open(folder.path())).collect();
    let (other, busy) = shards.split_last().unwrap();
    let held = hold_long_work();
    busy.iter().for_each(write_until_parked);
    let waiting: Vec<_> = busy
        .iter()
        .map(|shard| {
            let (send, receive) = channel();
            shard.submit(append(1_000_000), Box::new(move |result| drop(send.send(result))));
            receive
        })
        .collect();
    assert_eq!(other.write(append(0)), Ok(true), "while each of the others waits");
    assert!(busy.iter().all(|shard| shard.queue().unwrap().lock().waiting.len() == 1));
    drop(held);
    assert!(waiting.into_iter().all(|receive| receive.recv().unwrap() == Ok(true)));
    for shard in busy {
        shard.when_idle().unwrap();
        assert!(shard.snapshot().unwrap().blocks().unwrap().len() < 2 * merge::FAN_IN);
    }
}

#[test]
fn an_index_that_waits_for_its_merge_can_be_closed() {
    let folder = tempfile::tempdir().unwrap();
    let shard = open(folder.path());
    let _held = hold_long_work();
    write_until_parked(&shard);
    shard.close().unwrap();
}

#[test]
fn merging_is_retried_after_a_temporary_failure_and_not_after_damage() {
    for (code, merges) in [("storage_full", true), ("shard_corrupt", false), ("shard_model_mismatch", false)] {
        let folder = tempfile::tempdir().unwrap();
        let shard = open(folder.path());
        let queue = shard.queue().unwrap();
        queue.lock().merge_ended(failure(code));
        assert_eq!(shard.take_merge_failure().unwrap().code, code);
        assert_eq!(shard.take_merge_failure(), None, "reported once");
        for number in 0..COMMITS_BEFORE_RETRY - 1 {
            shard.write(append(number)).unwrap();
        }
        shard.when_idle().unwrap();
        assert_eq!(shard.snapshot().unwrap().blocks().unwrap().len(), COMMITS_BEFORE_RETRY - 1);
        for number in COMMITS_BEFORE_RETRY..2 * COMMITS_BEFORE_RETRY {
            shard.write(append(number)).unwrap();
            shard.when_idle().unwrap();
        }
        let blocks = shard.snapshot().unwrap().blocks().unwrap().len();
        assert_eq!(blocks < COMMITS_BEFORE_RETRY, merges, "{blocks} blocks after {code}");
    }
}

#[test]
fn deriving_is_retried_after_a_temporary_failure_and_at_once_after_an_overload() {
    for (code, commits) in [("storage_full", COMMITS_BEFORE_RETRY), ("overloaded", 0)] {
        let folder = tempfile::tempdir().unwrap();
        let shard = open(folder.path());
        let queue = shard.queue().unwrap();
        assert!(!queue.derived(0, failure(code)));
        for number in 0..commits {
            // A merged block may come with a commit of its own.
            assert!(number > merge::FAN_IN || !queue.lock().deriving[0].begins(), "{number} commits after {code}");
            shard.write(append(number)).unwrap();
            shard.when_idle().unwrap();
        }
        assert!(queue.lock().deriving[0].begins());
        assert!(!queue.derived(0, Ok(())));
    }
    let folder = tempfile::tempdir().unwrap();
    let queue = open(folder.path()).queue().unwrap();
    queue.derived(0, failure("shard_corrupt"));
    assert_eq!(queue.lock().deriving[0].backoff, Backoff::FOREVER);
}
