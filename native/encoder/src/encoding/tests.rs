use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use super::model::Model;
use super::query_queue::{Query, QueryQueue, QueueBounds, Task};
use super::text_encoder::TextEncoder;
use super::threads::{Use, run, running};
use crate::bert::matched::{DescribedPooling, Description};
use crate::bert::pattern::Inputs;
use crate::forward::scratch::Scratch;
use crate::text::tokenize::TokenRules;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/all-MiniLM-L6-v2");

fn description() -> Description {
    let inputs = Inputs { ids: "input_ids".into(), mask: Some("attention_mask".into()), types: None };
    Description { inputs, output: "sentence_embedding".into(), pooling: DescribedPooling::InGraph }
}

fn open(limit: usize) -> Result<TextEncoder, String> {
    let folder = Path::new(FOLDER);
    let rules = TokenRules { limit, special_tokens: true, dropped: vec![] };
    TextEncoder::open(&folder.join("model_int8.onnx"), &description(), &folder.join("tokenizer.json"), rules)
        .map_err(|refusal| refusal.to_string())
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

#[test]
fn near_texts_have_near_vectors() {
    let texts = texts(&["How do cats purr?", "The purring of a cat", "Interest rates of central banks"]);
    let encoded = open(256).unwrap().encode(&texts, "", &mut Scratch::default()).unwrap();
    let rows: Vec<&[f32]> = encoded.vectors.chunks_exact(384).collect();
    let cosine = |a: usize, b: usize| rows[a].iter().zip(rows[b]).map(|(a, b)| a * b).sum::<f32>();
    assert!(cosine(0, 1) > 0.7 && cosine(0, 2) < 0.2, "{} {}", cosine(0, 1), cosine(0, 2));
    assert_eq!(encoded.runs, 1);
    #[cfg(target_os = "linux")]
    assert!(encoded.milliseconds > 0.0);
}

#[test]
fn a_prefix_is_part_of_each_text() {
    let encoder = open(256).unwrap();
    let encode = |text: &str, prefix: &str| encoder.encode(&texts(&[text]), prefix, &mut Scratch::default()).unwrap();
    assert_eq!(encode("cat", "query: ").vectors, encode("query: cat", "").vectors);
}

#[test]
fn a_model_that_is_open_already_is_shared() {
    let path = Path::new(FOLDER).join("model_int8.onnx");
    let one = Model::open(&path, &description()).unwrap();
    assert!(Arc::ptr_eq(&one, &Model::open(&path, &description()).unwrap()));
}

#[test]
fn what_cannot_be_opened_says_why() {
    assert!(open(1000).err().unwrap().contains("positions end at 512"));
    let refusal = Model::open(Path::new("/nonexistent/model.onnx"), &description()).err().unwrap();
    assert!(refusal.to_string().contains("/nonexistent/model.onnx"));
}

#[test]
fn the_threads_give_the_bits_of_the_caller() {
    let encoder = open(256).unwrap();
    let texts = texts(&["one text", "and another, somewhat longer text about nothing much"]);
    let expected = encoder.encode(&texts, "", &mut Scratch::default()).unwrap();
    let (sender, receiver) = channel();
    for of in [Use::Query, Use::Passage, Use::Query] {
        let (encoder, texts, sender) = (encoder.clone(), texts.clone(), sender.clone());
        assert!(run(of, move |scratch| sender.send(encoder.encode(&texts, "", scratch)).unwrap()));
    }
    for _ in 0..3 {
        assert_eq!(receiver.recv().unwrap().unwrap().vectors, expected.vectors);
    }
}

/// A query that says when it is answered, and then waits for its gate.
struct Held(&'static str, Sender<&'static str>, Option<Receiver<()>>);

impl Query for Held {
    fn text(&self) -> Option<&str> {
        None
    }

    fn ends_early(&mut self) -> bool {
        false
    }

    fn answer(self, _outcome: Result<&[f32], &str>, _task: &Task) {
        self.1.send(self.0).unwrap();
        self.2.map(|gate| gate.recv());
    }
}

#[test]
fn a_query_is_taken_though_only_a_helper_still_runs() {
    let bounds =
        QueueBounds { waiting_max: 99, wait_max: None, threads: 1, helpers: 1, batch_queries: 1, batch_tokens: 99 };
    let queue = QueryQueue::new(open(256).unwrap(), String::new(), bounds);
    let (answered, answers) = channel();
    let enter = |name, gate| {
        queue.enter("owner", Held(name, answered.clone(), gate), Duration::MAX).unwrap();
        queue.pump();
    };
    let next = || answers.recv_timeout(Duration::from_secs(20)).expect("it is answered");
    let (open_first, first) = channel();
    let (open_helped, helped) = channel();
    enter("first", Some(first));
    assert_eq!(next(), "first");
    enter("helped", Some(helped));
    for name in ["second", "third", "fourth"] {
        enter(name, None);
    }
    // Where passages are encoded, by another test, nobody helps.
    let is_helped = answers.recv_timeout(Duration::from_secs(1)).is_ok();
    open_first.send(()).unwrap();
    if !is_helped {
        open_helped.send(()).unwrap();
    }
    for _ in 0..if is_helped { 3 } else { 4 } {
        next();
    }
    while running(Use::Query) > 1 {
        std::thread::yield_now();
    }
    enter("last", None);
    assert_eq!(next(), "last");
    drop(open_helped);
}
