use std::path::Path;

use super::matched::{DescribedPooling, Description, matched};
use super::pattern::Inputs;
use super::weights::{Bert, Pooling};
use crate::encoder::onnx::refusal::Matched;

const MINILM: &str = "models/all-MiniLM-L6-v2/model_int8.onnx";

pub fn description() -> Description {
    let inputs = Inputs { ids: "input_ids".into(), mask: Some("attention_mask".into()), types: None };
    Description { inputs, output: "sentence_embedding".into(), pooling: DescribedPooling::InGraph }
}

/// The shipped model's file: these tests are compiled in two packages of the tree.
pub fn shipped() -> Vec<u8> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let file = package.ancestors().map(|folder| folder.join(MINILM)).find(|file| file.exists());
    std::fs::read(file.expect("the shipped model is in the tree")).expect("it can be read")
}

/// The shipped model with each of some bytes replaced by others of the same length.
fn with(from: &str, to: &str) -> Matched<Bert> {
    assert_eq!(from.len(), to.len());
    let mut file = shipped();
    let places: Vec<usize> =
        file.windows(from.len()).enumerate().filter(|(_, bytes)| *bytes == from.as_bytes()).map(|(at, _)| at).collect();
    assert!(!places.is_empty(), "{from} is in the file");
    for at in places {
        file[at..at + to.len()].copy_from_slice(to.as_bytes());
    }
    matched(&file, &description())
}

fn reason(found: Matched<Bert>) -> String {
    found.expect_err("the model is refused").to_string()
}

#[test]
fn the_shipped_model_is_matched_with_its_sizes() {
    let bert = matched(&shipped(), &description()).unwrap();
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
        let reason = reason(with(operator, other));
        assert!(reason.contains(other), "{operator}: {reason}");
    }
}

#[test]
fn other_names_and_other_poolings_are_refused() {
    let other = |change: fn(&mut Description)| {
        let mut description = description();
        change(&mut description);
        reason(matched(&shipped(), &description))
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
        assert!(matched(&file[..length], &description()).is_err(), "{length} bytes");
    }
    assert!(matched(b"{\"model\": 1}", &description()).is_err());
}

#[test]
fn weights_that_are_not_finite_are_refused() {
    let mut file = shipped();
    let bias = matched(&file, &description()).unwrap().layers[0].attention.query.bias[0].to_le_bytes();
    let at = file.windows(4).position(|bytes| bytes == bias).unwrap();
    file[at..at + 4].copy_from_slice(&f32::NAN.to_le_bytes());
    assert!(reason(matched(&file, &description())).contains("not finite"));
}
