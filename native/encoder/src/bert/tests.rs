use std::path::Path;

use super::matched::{DescribedPooling, Description, matched};
use super::pattern::Inputs;
use super::weights::{Bert, Pooling, Values};
use crate::onnx::file::ModelFile;
use crate::onnx::refusal::Matched;

const MINILM: &str = "models/all-MiniLM-L6-v2/model_int8.onnx";
/// A small model of blocks: see `make.py` beside it.
const BLOCKS: &str = "native/encoder/fixtures/blocks/model.onnx";

pub fn description() -> Description {
    let inputs = Inputs { ids: "input_ids".into(), mask: Some("attention_mask".into()), types: None };
    Description { inputs, output: "sentence_embedding".into(), pooling: DescribedPooling::InGraph }
}

/// A file of the tree, if it is there.
pub fn in_tree(path: &str) -> Option<Vec<u8>> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)).ok()
}

/// The shipped model's file.
pub fn shipped() -> Vec<u8> {
    in_tree(MINILM).expect("the shipped model is in the tree")
}

pub fn blocks() -> Vec<u8> {
    in_tree(BLOCKS).expect("the model of blocks is in the tree")
}

fn of(file: Vec<u8>) -> Matched<Bert> {
    matched(&ModelFile::from(file), &description())
}

/// A model with each of some bytes replaced by others of the same length.
fn with(mut file: Vec<u8>, from: &str, to: &str) -> Matched<Bert> {
    assert_eq!(from.len(), to.len());
    let places: Vec<usize> =
        file.windows(from.len()).enumerate().filter(|(_, bytes)| *bytes == from.as_bytes()).map(|(at, _)| at).collect();
    assert!(!places.is_empty(), "{from} is in the file");
    for at in places {
        file[at..at + to.len()].copy_from_slice(to.as_bytes());
    }
    of(file)
}

fn reason(found: Matched<Bert>) -> String {
    found.err().expect("the model is refused").to_string()
}

#[test]
fn the_shipped_model_is_matched_with_its_sizes() {
    let bert = of(shipped()).unwrap();
    assert_eq!((bert.hidden, bert.layers.len(), bert.pooling), (384, 6, Pooling::Mean));
    assert_eq!((bert.embedding.words.rows, bert.embedding.positions.len()), (30_522, 512 * 384));
    let layer = &bert.layers[0];
    assert_eq!((layer.attention.heads, layer.up.outputs), (12, 1536));
    assert!((layer.attention.scale - 1.0 / 32f32.sqrt()).abs() < 1e-7);
    assert!((layer.attention.query.bias[0] + 0.173_707_53).abs() < 1e-7);
    assert!((layer.output_norm.epsilon - 1e-12).abs() < 1e-15);
}

#[test]
fn another_operator_anywhere_refuses_the_model_and_is_named() {
    for (operator, other) in [
        ("Erf", "Sin"),
        ("Softmax", "Hardmax"),
        ("MatMulInteger", "MatMulIntegex"),
        ("LpNormalization", "XpNormalization"),
        ("DequantizeLinear", "DequantizeLinexr"),
        ("LayerNormalization", "GroupNormalization"),
        ("ReduceSum", "ReduceMax"),
        ("Transpose", "Transpole"),
    ] {
        let reason = reason(with(shipped(), operator, other));
        assert!(reason.contains(other), "{operator}: {reason}");
    }
}

#[test]
fn other_names_and_other_poolings_are_refused() {
    let other = |change: fn(&mut Description)| {
        let mut description = description();
        change(&mut description);
        reason(matched(&shipped().into(), &description))
    };
    assert!(other(|description| description.output = "logits".into()).contains("no output logits"));
    assert!(other(|description| description.inputs.ids = "tokens".into()).contains("no input tokens"));
    assert!(!other(|description| description.inputs.mask = None).is_empty());
    assert!(!other(|description| description.pooling = DescribedPooling::First).is_empty());
}

#[test]
fn a_file_that_is_no_model_or_ends_early_is_refused_and_never_panics() {
    let file = shipped();
    for length in [0, 1, 100, 4_000, 1_000_000, file.len() - 1] {
        assert!(of(file[..length].to_vec()).is_err(), "{length} bytes");
    }
    assert!(of(b"{\"model\": 1}".to_vec()).is_err());
}

#[test]
fn weights_that_are_not_finite_are_refused() {
    let mut file = shipped();
    let bias = of(file.clone()).unwrap().layers[0].attention.query.bias[0].to_le_bytes();
    let at = file.windows(4).position(|bytes| bytes == bias).unwrap();
    file[at..at + 4].copy_from_slice(&f32::NAN.to_le_bytes());
    assert!(reason(of(file)).contains("not finite"));
}

#[test]
fn a_model_of_blocks_is_matched_and_its_words_stay_in_the_file() {
    let file = ModelFile::from(blocks());
    let bert = matched(&file, &description()).unwrap();
    let layer = &bert.layers[0];
    assert_eq!((bert.hidden, bert.layers.len(), layer.attention.heads, layer.up.outputs), (64, 2, 2, 96));
    let words = &bert.embedding.words;
    let Values::Blocks { nibbles, scales, block: 32 } = &words.values else { panic!("words in blocks of 32") };
    assert_eq!((words.rows, nibbles.len(), scales.len()), (50, 50 * 32, 50 * 2 * 2));
    assert!(file.as_ptr_range().contains(&nibbles.as_ptr()));
}

#[test]
fn other_blocks_than_these_are_refused_with_the_reason() {
    // In the file an attribute's name is followed by its number, one byte each, and its value.
    let value = |name: &str, value: u8| format!("{name}\u{18}{}", char::from(value));
    for (from, to, expected) in [
        (value("bits", 4), value("bits", 8), "8 bits"),
        (value("block_size", 32), value("block_size", 64), "blocks"),
        (value("block_size", 32), value("block_size", 0), "blocks of 0"),
        (value("N", 96), value("N", 64), "rows"),
        (value("quantize_axis", 1), value("quantize_axis", 0), "another axis"),
        ("com.microsoft".into(), "com.nicrosoft".into(), "com.nicrosoft"),
        ("MatMulNBits".into(), "MatMulNBytz".into(), "MatMulNBytz"),
    ] {
        let reason = reason(with(blocks(), &from, &to));
        assert!(reason.contains(expected), "{from:?} → {to:?}: {reason}");
    }
}

#[test]
fn scales_of_blocks_that_are_not_finite_are_refused() {
    let file = blocks();
    let bert = of(file.clone()).unwrap();
    let Values::Blocks { scales, .. } = &bert.embedding.words.values else { panic!("words in blocks") };
    let at = file.windows(scales.len()).position(|bytes| bytes == &scales[..]).unwrap();
    let mut damaged = file;
    damaged[at..at + 2].copy_from_slice(&0x7c00u16.to_le_bytes());
    assert!(reason(of(damaged)).contains("not finite"));
}
